r"""Self-scores eliminated at infinite width: they are functions of the scores.

For a pair of trained score maps and orthonormal words, :math:`\mathsf L = J S` moves by conjugation, so the
infinite-width start :math:`\mathsf L(0)^2 = \omega^4 I` gives for all times

.. math::  A = (\omega^4 I + M M^\top)^{1/2}, \qquad B = (\omega^4 I + M^\top M)^{1/2} .

In the sectors of the symmetry group (`odesys.reduce.sectors`) the roots have closed forms up to size two; larger blocks
use a numerical root in the block back end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derive.flow import Flow
from ..derive.initial import positive
from ..errors import SlavingError
from ..expr import blocks, graph
from ..expr.field import BlockField, Layout, ScalarField
from ..expr.graph import Node, num, sym
from ..expr.system import System
from ..model.group_count import SYMBOL, whole_groups
from ..model.paths import Path
from .reduction import Reduction
from .sectors import Sector, find_sectors, orbit_matrices, to_flint, to_fraction

if TYPE_CHECKING:
    from .family_gradient import FamilyFlow
    from .quotient import Quotient

OMEGA = "omega"


@dataclass(frozen=True, eq=False, repr=False)
class Slaved(Reduction):
    """A system without self-scores: `system` has the remaining states and the parameter omega.

    It describes only starts with (J S)^2 = omega^4 I, as infinite width has them; the lift needs that omega (and K
    where it is a symbol): ``slaved.bind(omega=0.1).lift(z)``.

    Parameters
    ----------
    system : System
        Without self-scores, with omega as a parameter.
    origin : Flow | Quotient | FamilyFlow
        What was reduced.
    sizes : tuple[int, ...]
        Of the blocks that were eliminated.
    eliminated : Mapping[str, Node]
        By self-score, its expression in what is left.
    bound : Mapping[str, Any], optional
        Values that the lift needs.

    Examples
    --------
    >>> import numpy as np
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> slaved = flow.slaved()
    >>> flow.system.dimension, slaved.system.names
    (12, ('w_a', 'w_b', 'KQ_a_a', 'KQ_a_b', 'KQ_b_a', 'KQ_b_b'))
    >>> full = slaved.bind(omega=0.5).lift(slaved.initial_state(omega=0.5))
    >>> np.array_equal(full, flow.initial_state(omega=0.5))
    True
    """

    system: System
    origin: Flow | Quotient | FamilyFlow
    sizes: tuple[int, ...]
    eliminated: Mapping[str, Node]
    bound: Mapping[str, Any] = field(default_factory=dict)
    starts = "with (J S)^2 = omega^4 I"

    @property
    def source(self) -> System:  # type: ignore[override]
        """The system with self-scores."""
        return self.origin.system

    @property
    def needs(self) -> tuple[str, ...]:
        """omega, and K where closed forms contain it."""
        used = graph.symbols(self.eliminated.values())
        return tuple(name for name in (OMEGA, SYMBOL) if name in used or (name == OMEGA and not used))

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """omega is positive, K a whole number."""
        known = super().checked(values)
        return {n: whole_groups(v) if n == SYMBOL else positive(n, v) for n, v in known.items()}

    def initial_state(self, omega: float, **more: Any) -> np.ndarray:
        """Start values of the remaining states; a start that does not satisfy (J S)^2 = omega^4 I is refused."""
        start = self.origin.initial_state(omega, **more)
        groups = more.get(SYMBOL, self.bound.get(SYMBOL, 2))  # all scores are zero at infinite width, so any K will do
        values = {OMEGA: omega, SYMBOL: groups}
        kept = self.project(start)
        gap = np.abs(self.bind(**{name: values[name] for name in self.needs}).lift(kept) - start)
        if gap.max() > 1e-9 * np.abs(start).max():
            worst = self.source.names[int(gap.argmax())]
            raise SlavingError(
                f"this start does not satisfy (J S)^2 = omega^4 I with omega = {float(omega):g}: {worst} is off by "
                f"{gap.max():.3g}; only the infinite-width start does, a finite network does not",
                state=worst,
            )
        return kept

    @property
    def lifted(self) -> Mapping[str, Node] | None:
        """Self-scores by their closed forms; None where roots are taken numerically."""
        return {n: self.eliminated.get(n, sym(n)) for n in self.source.names} if self.eliminated else None

    def _project(self, values: np.ndarray) -> np.ndarray:
        return values[..., self._kept]

    def _lift(self, values: np.ndarray) -> np.ndarray:
        if self.eliminated:
            return super()._lift(values)
        full = np.zeros((*values.shape[:-1], self.source.dimension))
        full[..., self._kept] = values
        for row in full.reshape(-1, self.source.dimension):
            _fill_numerically(self.origin, row, float(self.given(OMEGA)))  # type: ignore[arg-type]
        return full

    @cached_property
    def _kept(self) -> list[int]:
        return [self.source.names.index(name) for name in self.system.names]


@dataclass(frozen=True)
class SelfScores:
    """A path of scores with the self-scores of its keys and queries, the names of their matrices, and their head."""

    head: str
    score: str
    left: str
    right: str
    paths: tuple[Path, Path, Path]


def self_scores(flow: Flow | FamilyFlow) -> list[SelfScores]:
    """All pairs of self-scores that can be eliminated; refuses a flow without any."""
    if flow.system.kind == "map":
        raise SlavingError("gradient steps do not conserve (J S)^2, so self-scores can not be eliminated; use the flow")
    if OMEGA in flow.system.parameters:
        raise SlavingError(f"there is a parameter called {OMEGA}, the name of the initial scale here; rename it")
    naming, used = flow.naming, Counter(letter.map for path in flow.closure.read for letter in path.letters)
    found, one_moves = [], ""
    for path in flow.closure.read:
        if len(path.letters) != 2 or any(used[letter.map] > 1 for letter in path.letters):
            continue
        first, second = path.letters
        left, right = Path(path.left, (first, first.T), path.left), Path(path.right, (second.T, second), path.right)
        unit = all(naming.gram(pin) is None for pin in (path.left, path.right))
        if not unit or not {left, right} <= set(flow.closure.paths):
            continue
        if not _move_alike(flow, first.map, second.map):
            one_moves = f"; {first.map} and {second.map} do not move at one rate, so (J S)^2 is not conserved"
            continue
        paths = (path, left, right)
        score, keys, queries = (naming.leaf(p) for p in paths)
        found.append(SelfScores(naming.head(path), score, keys, queries, paths))
    if not found:
        raise SlavingError(
            "slaving needs a path of two trained maps, such as W_K' W_Q, with orthonormal ends and one rate, whose "
            f"maps stand nowhere else; there is none here{one_moves}"
        )
    return found


def _move_alike(flow: Flow | FamilyFlow, first: str, second: str) -> bool:
    """Both maps rest, or both follow the plain gradient at one rate."""
    one, other = (flow.rule.motions.get(name) for name in (first, second))
    return one == other and (one is None or not (one.maps or one.on))


def _indices(flow: Flow) -> dict[str, np.ndarray]:
    return {segment.leaf: segment.index for segment in flow.layout.segments}


def check_start(flow: Flow, state: np.ndarray) -> float:
    """omega of a state with (J S)^2 = omega^4 I; refuses any other state."""
    index = _indices(flow)
    state = np.asarray(state, dtype=float)
    if state.shape != (flow.system.dimension,) or not np.isfinite(state).all():
        raise SlavingError(f"a start is a vector of {flow.system.dimension} finite numbers")
    omegas: list[float] = []
    for pair in self_scores(flow):
        m, a, b = (state[index[leaf]] for leaf in (pair.score, pair.left, pair.right))
        lax = np.block([[a, m], [-m.T, -b]])
        square = lax @ lax
        fourth = float(np.trace(square)) / len(square)
        gap = float(np.abs(square - fourth * np.eye(len(square))).max())
        rounding = 1e-13 * float(np.abs(lax).max()) ** 2  # L^2 cancels terms of this size along a trajectory
        if fourth <= 0 or gap > 1e-9 * fourth + rounding:
            raise SlavingError(
                f"the start does not satisfy (J S)^2 = omega^4 I in head {pair.head or 0}: it is "
                f"off by {gap:.3g}; only the infinite-width start does, a finite network does not"
            )
        omegas.append(fourth**0.25)
    if max(omegas) - min(omegas) > 1e-9 * max(omegas):
        raise SlavingError(f"the heads start at different scales omega: {min(omegas):g} and {max(omegas):g}")
    return omegas[0]


def slave_flow(flow: Flow, state: Any = None) -> Slaved:
    """Eliminate the self-scores of a full flow; matrix roots are taken numerically in the block back end."""
    pairs = self_scores(flow)
    if state is not None:
        check_start(flow, np.asarray(state, dtype=float))
    old = flow.system.field
    assert isinstance(old, BlockField)
    mapping: dict[str, blocks.Block] = {}
    scale = blocks.constant([[sym(OMEGA) ** 2]])
    index = _indices(flow)
    for pair in pairs:
        matrix = blocks.leaf(pair.score, index[pair.score].shape)
        mapping[pair.left] = blocks.gram_root(matrix, scale, "left")
        mapping[pair.right] = blocks.gram_root(matrix, scale, "right")
    kept = {leaf: block for leaf, block in old.rhs.items() if leaf not in mapping}
    rhs = dict(zip(kept, blocks.replace_leaves(list(kept.values()), mapping), strict=True))
    layout = _without(old.layout, set(mapping))
    new = BlockField(layout, rhs, old.observable_blocks)
    parameters = tuple(sorted({*flow.system.parameters, OMEGA}))
    structure = {name: state for name, state in flow.system.structure.items() if name in set(layout.names)}
    system = replace(flow.system, names=layout.names, field=new, parameters=parameters, structure=structure)
    return Slaved(system, flow, (len(index[pairs[0].score]),), {})


def _without(layout: Layout, leaves: set[str]) -> Layout:
    keep = [k for k, (leaf, *_) in enumerate(layout.places) if leaf not in leaves]
    number = {old: new for new, old in enumerate(keep)}
    segments = tuple(
        replace(s, index=np.vectorize(lambda k: number.get(int(k), 0))(s.index))
        for s in layout.segments
        if s.leaf not in leaves
    )
    return Layout(tuple(layout.names[k] for k in keep), tuple(layout.places[k] for k in keep), segments)


def _fill_numerically(flow: Flow, full: np.ndarray, omega: float) -> None:
    """Write the self-scores into a state vector."""
    index = _indices(flow)
    for pair in self_scores(flow):
        matrix = full[index[pair.score]]
        for leaf, side in ((pair.left, "left"), (pair.right, "right")):
            root = blocks.gram_root(blocks.leaf("M", matrix.shape), blocks.constant([[omega**2]]), side)
            full[index[leaf]] = blocks.evaluate([root], {"M": matrix}, {})[0]


def slave_quotient(quotient: Quotient, state: Any = None) -> Slaved:
    """Eliminate the self-scores of a quotient: closed forms in sectors of size one and two."""
    flow = quotient.flow
    if state is not None:
        check_start(flow, quotient.lift(np.asarray(state, dtype=float)))
    blocked = quotient.system.field
    assert isinstance(blocked, BlockField)
    segments = {segment.leaf: segment for segment in blocked.layout.segments}
    replaced: dict[str, Node] = {}
    sizes: tuple[int, ...] = ()
    for pair in self_scores(flow):
        score = segments[pair.score]
        if score.index.shape[0] != score.index.shape[1]:
            raise SlavingError(f"closed forms are for square matrices of scores, not {pair.score}; use flow.slaved()")
        sectors = _sectors_of(score, segments[pair.left], segments[pair.right])
        matrix = score.fill(np.array([sym(name) for name in quotient.system.names], dtype=object))
        matrix = np.asarray(np.frompyfunc(graph.as_node, 1, 1)(matrix), dtype=object)
        sizes = tuple(sector.size for sector in sectors)
        for leaf, transposed in ((pair.left, False), (pair.right, True)):
            segment = segments[leaf]
            roots = [closed_root(_in_sector(matrix.T if transposed else matrix, sector)) for sector in sectors]
            replaced |= _orbit_values(segment, sectors, roots, quotient.system.names)
    return Slaved(without(quotient.system, replaced), quotient, sizes, replaced)


def without(system: System, replaced: Mapping[str, Node]) -> System:
    """The system on the states that are not replaced by expressions in the others and omega."""
    keep = tuple(name for name in system.names if name not in replaced)
    mapping = {sym(name): node for name, node in replaced.items()}
    nodes = graph.substitute([system.equations[name] for name in keep], mapping)
    return replace(
        system,
        names=keep,
        field=ScalarField(tuple(nodes), dict(system.observables)),
        parameters=tuple(sorted({*system.parameters, OMEGA})),
        tex={**system.tex, OMEGA: r"\omega"},
        structure={name: state for name, state in system.structure.items() if name not in replaced},
    )


def _sectors_of(*segments: Any) -> list[Sector]:
    """Sectors of the algebra spanned by the orbit matrices of scores and self-scores of one head."""
    algebra = [e for s in segments for e in orbit_matrices(s.index, s.sign).values()]
    algebra += [e.T for e in algebra]
    sectors = find_sectors(algebra)
    if sectors is None:
        raise SlavingError("the sectors of this symmetry group are not rational; use flow.slaved() on the full flow")
    large = [s.size for s in sectors if s.size > 2]
    if large:
        raise SlavingError(f"a sector has size {large[0]}; closed forms stop at 2, use flow.slaved() on the full flow")
    return sectors


def _in_sector(matrix: np.ndarray, sector: Sector) -> np.ndarray:
    """The mu-by-mu matrix of an element of the algebra in the orthonormalised basis of a sector."""
    out = np.empty((sector.size, sector.size), dtype=object)
    for a in range(sector.size):
        for b in range(sector.size):
            terms = [
                (sector.basis[i, a] * sector.basis[j, b], matrix[i, j])
                for i in range(matrix.shape[0])
                for j in range(matrix.shape[1])
            ]
            norm = graph.power(num(sector.squares[a] * sector.squares[b]), Fraction(-1, 2))
            out[a, b] = graph.combine(terms) * norm
    return out


def closed_root(m: np.ndarray) -> np.ndarray:
    r"""Closed form of :math:`(\omega^4 I + M M^\top)^{1/2}` for a 1x1 or 2x2 matrix of nodes."""
    fourth = sym(OMEGA) ** 4
    gram = [[graph.add(m[a, k] * m[b, k] for k in range(len(m))) for b in range(len(m))] for a in range(len(m))]
    if len(m) == 1:
        return np.array([[graph.sqrt(fourth + gram[0][0])]], dtype=object)
    square = gram[0][0] + gram[1][1]
    det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    delta = graph.sqrt(fourth * fourth + fourth * square + det * det)
    tau = graph.sqrt(2 * fourth + square + 2 * delta)
    out = np.empty((2, 2), dtype=object)
    for a in range(2):
        for b in range(2):
            out[a, b] = (gram[a][b] + (fourth + delta if a == b else 0)) / tau
    return out


def _orbit_values(
    segment: Any, sectors: list[Sector], roots: list[np.ndarray], names: tuple[str, ...]
) -> dict[str, Node]:
    """Orbit variables of a symmetric matrix from its sector matrices, by exact linear algebra."""
    matrices = orbit_matrices(segment.index, segment.sign)
    unknown = sorted(matrices)
    rows: list[list[Any]] = []
    values: list[Node] = []
    for sector, root in zip(sectors, roots, strict=True):
        for a in range(sector.size):
            for b in range(a, sector.size):
                u, v = sector.basis[:, a], sector.basis[:, b]
                rows.append([u @ matrices[o] @ v for o in unknown])
                values.append(graph.sqrt(num(sector.squares[a] * sector.squares[b])) * root[a, b])
    if len(rows) != len(unknown):
        raise SlavingError(f"{len(unknown)} self-score orbits but {len(rows)} sector entries; the split is incomplete")
    inverse = to_flint(np.array(rows, dtype=object)).inv()
    out = {}
    for i, orbit in enumerate(unknown):
        pairs = [(to_fraction(inverse[i, k]), values[k]) for k in range(len(values))]
        out[names[orbit]] = graph.combine(pairs)
    return out
