r"""The natural domain of a flow: states are path values of a network, so self-scores are Gram matrices.

.. math::  \begin{pmatrix} E^\top W_K^\top W_K E & E^\top W_K^\top W_Q E \\
                           E^\top W_Q^\top W_K E & E^\top W_Q^\top W_Q E \end{pmatrix} \succeq 0

and likewise for any maps that meet in one hidden layer. A quotient averages over orbits with signs,
which keeps this. `natural_points` draws exact points inside, for zero tests; `natural_margin` says how far inside a
point is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import networkx as nx
import numpy as np

from ..derive.assembly import path_layout
from ..derive.closure import Closure
from ..derive.flow import Flow
from ..derive.initial import gram_floats, gram_parameters, path_products
from ..errors import ModelError, ParameterError
from ..exact.zero import POINTS, Points
from ..expr.field import Layout
from ..expr.graph import linear_terms, sym
from ..model.group_count import SYMBOL
from ..model.paths import Path
from ..program.naming import Naming
from .family_gradient import FamilyFlow
from .quotient import Quotient

Source = Flow | Quotient | FamilyFlow
Domain = str | int  # of a symbol that is no state: a key of DOMAINS, or the least of the whole numbers it may be
DOMAINS: Mapping[str, Callable[[random.Random], Fraction]] = {
    "positive": lambda rng: Fraction(rng.randint(1, 24), 8),
    "unit": lambda rng: Fraction(rng.randint(1, 15), 16),  # (0, 1)
    "real": lambda rng: Fraction(rng.randint(-24, 24), 8),
}
TOLERANCE = 1e-12  # of an eigenvalue of a matrix of floats, against its largest entry


# ---- points --------------------------------------------------------------------------------------------------------


def natural_points(source: Source, domains: Mapping[str, Domain] | None = None) -> Points:
    """Exact points inside the natural domain, for ``zero_test(..., points=)``, `identity` and `equal`.

    Parameters
    ----------
    source : Source
        Whose states are drawn, as the path values of networks of several widths with small rational weights.
    domains : Mapping[str, Domain], optional
        For every other symbol ``"positive"``, ``"unit"`` (between 0 and 1), ``"real"``, or the least of the whole
        numbers it may be. The number of groups K of a family is a whole number from 2 on if nothing else is said.

    Returns
    -------
    Points
        A function of names and a seed that gives points, for ``points=``.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], 1)]))
    >>> point = next(iter(natural_points(flow, {"omega": "positive"})(["KK_a_a", "KK_a_b", "KK_b_b", "omega"], 0)))
    >>> point["KK_a_a"] * point["KK_b_b"] >= point["KK_a_b"] ** 2, natural_margin(flow, point) >= 0
    (True, True)
    """
    known = dict(domains or {})
    wrong = [name for name, domain in known.items() if domain not in DOMAINS and not isinstance(domain, int)]
    if wrong:
        raise ParameterError(f"the domain {known[wrong[0]]!r} of {wrong[0]} is not known; {_CHOICES}", name=wrong[0])
    if isinstance(source, FamilyFlow) and source.groups == "symbol":
        known.setdefault(SYMBOL, 2)

    def points(names: Sequence[str], seed: int) -> Iterator[dict[str, Fraction]]:
        states = set(source.system.names)
        others = [name for name in names if name not in states]
        unknown = [name for name in others if name not in known]
        if unknown:
            text = f"{unknown[0]} is no state, and nothing says which values it may have; add it to domains: {_CHOICES}"
            raise ParameterError(text, name=unknown[0])
        rng = random.Random(seed)
        for k in range(POINTS):
            drawn = {name: _draw(domain, rng) for name, domain in known.items()}
            if isinstance(source, FamilyFlow) and SYMBOL in source.bound:
                drawn[SYMBOL] = Fraction(source.bound[SYMBOL])
            lifted = _lifted(source, drawn.get(SYMBOL))
            drawn |= lifted.project(_network(lifted, k, rng))
            yield {name: drawn[name] for name in names}

    return points


_CHOICES = 'choose "positive", "unit", "real", or the least whole number, such as 2'


def _draw(domain: Domain, rng: random.Random) -> Fraction:
    return Fraction(domain + rng.randrange(3)) if isinstance(domain, int) else DOMAINS[domain](rng)


def natural_margin(source: Source, point: Mapping[str, Any]) -> float:
    """The least eigenvalue of the Gram matrices of a point: >= 0 inside the natural domain, < 0 outside.

    Exact numbers (also as text, as in a witness) are decided exactly; with floats an eigenvalue within rounding of zero
    counts as zero. States that are not given are free, so only the minors that are given count; infinite if there are
    none. A family needs the number of groups, as K in the point or bound.

    Parameters
    ----------
    source : Source
        A flow or a reduction of one.
    point : Mapping[str, Any]
        Values by state.

    Returns
    -------
    float
        Not negative inside the natural domain.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], 1)]))
    >>> natural_margin(flow, {"KK_a_a": 1, "KK_b_b": 1, "KK_a_b": -1})
    0.0
    >>> natural_margin(flow, {"KK_a_a": 1, "KK_b_b": 1, "KK_a_b": -2})  # A_aa A_bb < A_ab^2
    -1.0
    """
    lifted = _lifted(source, point.get(SYMBOL))
    leaves = lifted.leaves(point)
    worst = math.inf
    entries = dict(_gram_entries(lifted, leaves))
    known = nx.Graph()
    known.add_nodes_from(u for u, v in entries if u == v)
    known.add_edges_from((u, v) for u, v in entries if u != v and u in known and v in known)
    for chosen in nx.find_cliques(known):
        order = sorted(chosen)
        matrix = [[entries.get((u, v), entries.get((v, u))) for v in order] for u in order]
        worst = min(worst, least_eigenvalue(matrix))
    return worst


def least_eigenvalue(matrix: Sequence[Sequence[Any]]) -> float:
    """Of a symmetric matrix, in floats; its sign is exact if the entries are.

    >>> least_eigenvalue([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1)]])
    0.0
    >>> least_eigenvalue([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]])
    -1.0
    """
    value = float(np.linalg.eigvalsh(np.array(matrix, dtype=float))[0])
    if all(isinstance(x, (int, Fraction)) for row in matrix for x in row):
        return max(value, 0.0) if _is_semidefinite(matrix) else min(value, -math.ulp(0.0))
    size = max(abs(float(x)) for row in matrix for x in row)
    return 0.0 if abs(value) <= TOLERANCE * size else value


def _is_semidefinite(matrix: Sequence[Sequence[Any]]) -> bool:
    """By elimination in exact numbers: no pivot is negative, and a zero pivot has a zero row."""
    rows = [[Fraction(x) for x in row] for row in matrix]
    for k, row in enumerate(rows):
        if row[k] < 0 or (row[k] == 0 and any(row[k:])):
            return False
        for other in rows[k + 1 :] if row[k] else ():
            factor = other[k] / row[k]
            other[k:] = [x - factor * y for x, y in zip(other[k:], row[k:], strict=True)]
    return True


# ---- from states to path values and back ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lifted:
    """The path values behind the states: state s of the full flow is `factor` times a variable, or zero."""

    naming: Naming
    closure: Closure
    layout: Layout
    lift: tuple[tuple[Fraction, str], ...]

    def leaves(self, point: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The matrices of path values of a point; None where a state is not given."""
        values = np.empty(len(self.lift), dtype=object)
        for s, (factor, name) in enumerate(self.lift):
            given = point.get(name) if factor else 0
            values[s] = None if given is None else _times(given, factor)
        return self.layout.unpack(values)

    def project(self, leaves: Mapping[str, np.ndarray]) -> dict[str, Fraction]:
        """The mean over each orbit."""
        found: dict[str, list[Fraction]] = {}
        for value, (factor, name) in zip(self.layout.pack(leaves), self.lift, strict=True):
            if factor:
                found.setdefault(name, []).append(value / factor)
        return {name: sum(values, Fraction(0)) / len(values) for name, values in found.items()}


def _times(value: Any, factor: Fraction) -> Any:
    """Exact for exact numbers, also for those written as text, as in a witness."""
    return Fraction(value) * factor if isinstance(value, (int, Fraction, str)) else float(value) * float(factor)


@lru_cache(maxsize=32)
def _lifted(source: Source, groups: Fraction | None = None) -> _Lifted:
    lifted: Mapping[str, Any] | None
    if isinstance(source, FamilyFlow):
        size = source.whole(None if groups is None else _whole(groups))
        naming, closure = source.origin.naming_of(size), source.closure
        layout, lifted = path_layout(naming, closure)[0], source.bind(**{SYMBOL: size}).lifted
    else:
        flow = source.flow if isinstance(source, Quotient) else source
        naming, closure, layout = flow.naming, flow.closure, flow.layout
        lifted = source.lifted if isinstance(source, Quotient) else {name: sym(name) for name in layout.names}
    for pin in naming.pins.values():
        if not gram_parameters(pin) and np.linalg.matrix_rank(gram_floats(pin)) < pin.size:
            raise ModelError(
                "the words are linearly dependent, so their images are not free; no domain is known for them"
            )
    assert lifted is not None
    lift = []
    for name in layout.names:
        ((factor, term),) = linear_terms(lifted[name])
        lift.append((Fraction(factor), str(term.args[0])))
    return _Lifted(naming, closure, layout, tuple(lift))


def _whole(groups: Any) -> int:
    if groups != int(groups):
        raise ParameterError(f"K = {groups} is no number of groups; it must be whole", name=SYMBOL)
    return int(groups)


def _network(lifted: _Lifted, number: int, rng: random.Random) -> dict[str, np.ndarray]:
    """Path values of a network with small rational weights; the width and the scale depend on its number."""
    naming, vectors = lifted.naming, max(pin.size for pin in lifted.naming.pins.values())
    width = (2 * vectors, vectors, 2, 1)[number % 4]
    largest, steps = (4, 3, 6)[number // 4 % 3], 2 * math.isqrt(width) + 1
    weights = {}
    for name, expr in naming.letters.items():
        shape = [naming.pins[side.name].size if side.name in naming.pins else width for side in _sides(expr)]
        entries = [Fraction(rng.randint(-largest, largest), steps) for _ in range(math.prod(shape))]
        weights[name] = np.array(entries, dtype=object).reshape(shape)
    return path_products(naming, lifted.closure, weights, {})


def _sides(expr: Any) -> tuple[Any, Any]:
    return expr.rows, expr.columns


Vector = tuple[int, int]  # which half of a path, which pinned vector


def _gram_entries(lifted: _Lifted, leaves: Mapping[str, np.ndarray]) -> Iterator[tuple[tuple[Vector, Vector], Any]]:
    """Scalar products between images of pinned vectors in hidden layers, as far as they are path values and given."""
    closure, naming = lifted.closure, lifted.naming
    symmetric = [path for path in closure.paths if path.symmetric]
    halves = [Path(path.left, path.letters[: len(path.letters) // 2], "") for path in symmetric]
    for a, left in enumerate(halves):
        for b in range(a, len(halves)):
            product = Path(left.left, left.letters + halves[b].T.letters, halves[b].left)
            stored, turned = closure.canonical(product)
            if stored not in closure.terms:
                continue
            table = leaves[naming.leaf(stored)]
            for (i, j), value in np.ndenumerate(table.T if turned else table):
                if value is not None and (a < b or i <= j):
                    yield ((a, i), (b, j)), value
