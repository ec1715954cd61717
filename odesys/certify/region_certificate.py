r"""Stored certificates of linear lower bounds on a region, for `tools/check_region.py`.

The file states :math:`F_S(x) \ge b\,A\,x_S` on a region, and holds one table of rows for :math:`F_S` in which two kinds
of rows only point at what the proof does with the expression; read as what they point at, the table is the model:

- ``["role", s]`` is the state s where it is used as linear, :math:`F_i = c_0(z) + \sum_s c_s(z)\,s`: there it takes the
  values of the vertices v of the region (one per ray, where :math:`c_0 = 0`);
- ``["sum", [name, row]]`` is another row, whose range over a box stands for it there.

Per state of the block and per v the file holds the level :math:`b\,(A v)_i` and every box that was looked at: split
(its upper part follows, then its lower one), proved (with the ranges of sums), or left empty by the conditions; and the
same for the gates of the table that have one value on the region. All numbers are rational. A box is the part of its
parent on one side of the split, cut down three times by the conditions, so that no end can be changed alone. A change
that is accepted leaves a proof of what the file then states: a condition not needed, a range of a sum with room.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import EquationError
from ..exact.balls import exact_tape
from ..expr import graph
from ..expr.graph import Node
from ..expr.tape import TapeRow
from ..files import write_text
from .affine_rows import Corners, extents, generators_of, role, with_roles
from .box_search import NARROW, Objective, prove_at_least
from .hidden_sums import separate
from .region import Ranges, Region, exact

if TYPE_CHECKING:
    from .comparison import BoundResult

FORMAT, VERSION = "odesys-region-bound", 1
SMALLEST_MARGIN = Fraction(1, 2**40)  # from which on a switching surface counts as having a sign


def write_region_certificate(result: BoundResult, path: Path | str) -> None:
    """Write the certificate of a bound that was found with ``keep_boxes=True``; the file appears whole or not at all.

    Parameters
    ----------
    result : BoundResult
        A bound found with ``keep_boxes=True``.
    path : Path | str
        File to write.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from pathlib import Path
    >>> import json
    >>> import tempfile
    >>> import sympy as sp
    >>> from odesys import System, lower_linear_bound, sym
    >>> x, one, box = sym("x"), sp.eye(1), {"x": (0, Fraction(1, 4))}
    >>> bound = lower_linear_bound(System.from_equations({"x": x * (1 - x)}), ["x"], one, box, keep_boxes=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_region_certificate(bound, Path(folder, "logistic.json"))
    ...     json.loads(Path(folder, "logistic.json").read_text(encoding="utf-8"))["rate"]
    '3/4'
    """
    if result.certificate is None:
        raise EquationError(
            f"there is no certificate to write: the bound has answer {result.answer} with evidence "
            f"{result.evidence}; ask for keep_boxes=True where the answer holds by ball arithmetic"
        )
    write_text(path, json.dumps(result.certificate, indent=1) + "\n")


def certificate_of(
    model: Mapping[str, Node],
    parameters: Mapping[str, Any],
    weights: Sequence[Mapping[str, Fraction]],
    region: Region,
    corners: Corners,
    rate: Fraction,
    boxes: int,
) -> dict[str, Any]:
    """The certificate as plain data; every box is found once more, at the rate that the file states.

    `model` are the right-hand sides of the block with parameters as symbols, `weights` the rows of the matrix.
    """
    numbers = {name: exact(value, name) for name, value in parameters.items()}
    start = {**region.box, **extents(corners)}
    writer = _Writer(region, start, numbers, boxes)
    marked = [with_roles(node, corners, row) for node, row in zip(model.values(), weights, strict=True)]
    roots = writer.hide(marked)
    writer.tabulate(roots)
    gates = writer.settle(roots)
    rows = []
    for state, root, row in zip(model, roots, weights, strict=True):
        seen = graph.symbols([writer.at(root, {})])
        used = {s for s in start if role(s).args[0] in seen} | set(row)
        linear = writer.at(root, dict.fromkeys(used, Fraction(0))) is graph.ZERO
        vertices, rays = generators_of(state, used, linear, region, corners)
        proofs = []
        for vertex in ({s: v[s] for s in sorted(used)} for v in vertices):
            level = rate * sum((a * vertex[s] for s, a in row.items()), Fraction(0))
            proofs.append({"generator": vertex, "level": level, "boxes": writer.prove(root, vertex, level, state)})
        rows.append({"root": writer.index[root], "rays": rays, "proofs": proofs})
    forms = [{"constant": form.constant, "slopes": form.slopes} for form in region.forms]
    plain: dict[str, Any] = _plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "rate": rate,
            "block": list(model),
            "matrix": [[row.get(s, Fraction(0)) for s in model] for row in weights],
            "parameters": numbers,
            "region": {"box": region.box, "conditions": forms},
            "nodes": writer.table,
            "gates": gates,
            "rows": rows,
        }
    )
    return plain


class _Writer:
    """The table of the model with its hidden sums, and proofs about expressions of it."""

    def __init__(self, region: Region, start: Ranges, numbers: Mapping[str, Fraction], boxes: int) -> None:
        self.region, self.start, self.boxes = region, start, boxes
        self.known = {graph.sym(name): graph.num(value) for name, value in numbers.items()}
        self.parts: dict[str, Node] = {}  # hidden sums by name, each after those it uses
        self.table: list[TapeRow] = []
        self.index: Mapping[Node, int] = {}

    def hide(self, nodes: Sequence[Node]) -> list[Node]:
        """Hide sums inside the arguments of gates, which are proved by themselves, and then in the expressions."""
        surfaces = {node.args[0] for node in graph.topological(nodes) if node.op == "step"}
        return [self._hide(n) for n in graph.substitute(nodes, {h: self._hide(h) for h in sorted(surfaces)})]

    def _hide(self, node: Node) -> Node:
        wide = {name for name, (low, high) in self.start.items() if high - low > NARROW}
        outer, parts = separate(node, graph.symbols([node]) - wide)
        fresh = {name: f"sum_{len(self.parts) + k}" for k, name in enumerate(parts, 1)}  # `separate` starts at 1 again
        mapping = {graph.sym(name): graph.sym(new) for name, new in fresh.items()}
        self.parts |= {fresh[name]: graph.substitute([part], mapping)[0] for name, part in parts.items()}
        return graph.substitute([outer], mapping)[0]

    def tabulate(self, roots: Sequence[Node]) -> None:
        """Write the table: sums before what hides them."""
        tape = exact_tape([*self.parts.values(), *roots])
        self.table, self.index = list(tape.rows), tape.index
        roles = {role(s).args[0]: s for s in self.start}
        for k, (op, name) in enumerate(self.table):
            if op == "sym" and name in self.parts:
                self.table[k] = "sum", (name, self.index[self.parts[name]])
            elif op == "sym" and name in roles:
                self.table[k] = "role", roles[name]

    def settle(self, roots: Sequence[Node]) -> list[dict[str, Any]]:
        """The gates that have one value on the region, deepest first, with proofs; known from here on."""
        found = []
        for gate in (n for n in graph.topological([*self.parts.values(), *roots]) if n.op == "step"):
            for sign in (1, -1):
                boxes = self._boxes(gate.args[0] * sign, {}, SMALLEST_MARGIN)
                if boxes is not None:
                    found.append({"row": self.index[gate], "sign": sign, "level": SMALLEST_MARGIN, "boxes": boxes})
                    self.known[gate] = graph.as_node(int(sign > 0))
                    break
        return found

    def at(self, node: Node, vertex: Mapping[str, Fraction], hidden: Collection[str] = ()) -> Node:
        """An expression with all that is known put in, at a vertex, and all sums put back except the hidden ones."""
        known = {**self.known, **{role(s): graph.num(x) for s, x in vertex.items()}}
        node = graph.substitute([node], known)[0]
        for name in (name for name in reversed(self.parts) if name not in hidden):
            node = graph.substitute([node], {graph.sym(name): graph.substitute([self.parts[name]], known)[0]})[0]
        return node

    def prove(self, node: Node, vertex: Mapping[str, Fraction], level: Fraction, state: str) -> list[dict[str, Any]]:
        """The boxes of a proof that an expression is >= level at a vertex."""
        boxes = self._boxes(node, vertex, level)
        if boxes is None:
            raise EquationError(
                f"the certificate of {state} needs more than {self.boxes} boxes at one vertex; raise "
                f"boxes=..., or tolerance=...",
                vertex=vertex,
            )
        return boxes

    def _boxes(self, node: Node, vertex: Mapping[str, Fraction], level: Fraction) -> list[dict[str, Any]] | None:
        total = self.at(node, vertex)
        if total.op == "num":  # compared exactly
            return [{"box": {}, "hidden": {}}] if total.args[0] >= level else None
        # not every sum of the table is worth hiding here
        worth = {part.node for part in Objective(total, self.start).parts.values()}
        parts = {name: self.at(part, vertex) for name, part in self.parts.items()}
        parts = {name: part for name, part in parts.items() if part in worth}
        objective = Objective(total, self.start, hiding=(self.at(node, vertex, parts), parts))
        trail: list[dict[str, Any]] = []
        return trail if prove_at_least(objective, level, self.region, self.boxes, trail=trail) else None


def _plain(value: Any) -> Any:
    """Fractions as text, at every depth."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
