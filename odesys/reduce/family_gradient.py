r"""Gradient flow of a family: the quotient by permutations of groups, for any K at once.

On states that S_K leaves alone the loss is a sum over sample orbits, and the force on one entry of an orbit of n pairs
is the derivative by the orbit variable divided by n:

.. math::  \mathcal L = \sum_o \pi_o(K)\,\ell(y_o f(X_o)), \qquad
           G_c = -\frac{1}{n_c(K)} \frac{\partial\mathcal L}{\partial \phi_c}, \qquad
           \frac{d}{dt}(Q W R)_c = \sum p_{ab}^c(K)\,(QP^\top)_a\,(G\,S^\top R)_b + \dots

Words of a few groups are enough to write one sample of each orbit, so nothing grows with K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derive.assembly import path_layout, path_leaves
from ..derive.closure import Closure, Force, Term
from ..derive.motion import STEP_SIZE, Rule
from ..errors import ModelError, ParameterError, SymmetryError
from ..expr import blocks, graph
from ..expr.blocks import Block
from ..expr.field import BlockField, Layout, Segment
from ..expr.graph import Node, sym
from ..expr.system import TIME, System
from ..keywords import keywords_said
from ..model.family import Family, Representatives
from ..model.family_symmetry import TypeSymmetry
from ..model.group_count import GROUPS, INFINITY, ONE_GROUP, SYMBOL, Groups, check_groups, whole_groups
from ..model.orbit_algebra import OrbitAlgebra, PairSpace, Pin
from ..model.paths import Path
from ..program.naming import Naming
from .family_layout import on_states, orbit_layout, pair_table, pin_of
from .family_origin import FamilyOrigin, Shape, Training, family_origin
from .quotient import OrbitReduction, Orbits, merged_states, renamed, signed_orbits

if TYPE_CHECKING:
    from ..jit.codegen import Compiled
    from .slaving import Slaved

Column = tuple[Block, PairSpace]
FAR = 1e-6  # losses near 1 differ by more: no rounding of some thousand additions does that


@dataclass(frozen=True, eq=False, repr=False)
class FamilyFlow(OrbitReduction):
    """The flow (or exact gradient step) of a family on its orbit variables, with the number of groups in `groups`.

    As a reduction its source is the enumerated flow of K groups, and it describes only the states that permutations of
    groups (and `symmetries`) leave alone. Where K is a symbol the lift needs it: ``flow.bind(K=3).lift(z)``. For K =
    infinity it is a limit, which the flow of K groups only comes close to: `law` can fail for every K that is bound.

    Parameters
    ----------
    family : Family
        The data.
    shape : Shape
        The program or model, as a function of words.
    origin : FamilyOrigin
        The program or model over the words of the few groups that samples are written in.
    train : tuple[str, ...]
        The maps that move.
    rule : Rule
        How maps move.
    training : Training
        What is trained, and how.
    closure : Closure
        The closed set of paths.
    groups : Groups
        A whole number, ``"symbol"`` (then K is a parameter of `system`), or ``"infinity"``.
    scaled : bool
        Whether an entry between other groups counts once for all its partners, and time is t / K.
    samples : Representatives
        One sample per kind.
    symmetries : tuple[TypeSymmetry, ...]
        Symmetries beyond the permutations of groups, already divided out.
    system : System
        On orbit variables.
    bound : Mapping[str, Any], optional
        Values that the lift needs.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Head, SampleTemplate
    >>> half = Fraction(1, 2)
    >>> data = Family(["c", "v"], [SampleTemplate(["c", "v"], +1, half), SampleTemplate(["c", "-v"], -1, half)])
    >>> flow = family_flow(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]))
    >>> flow.groups, flow.system.dimension, flow.variable("KQ_p", "c", "c", "other")
    ('symbol', 13, ('KQ_p_c_c_other', 1))
    """

    family: Family
    shape: Shape
    origin: FamilyOrigin
    train: tuple[str, ...]
    rule: Rule
    training: Training
    closure: Closure
    groups: Groups
    scaled: bool
    samples: Representatives
    symmetries: tuple[TypeSymmetry, ...]
    system: System
    bound: Mapping[str, Any] = field(default_factory=dict)
    starts = "that permutations of groups leave alone"

    @property
    def needs(self) -> tuple[str, ...]:
        """The number of groups; a flow that has its own takes no other."""
        return (SYMBOL,)

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """K is a whole number, that of the flow if it has its own."""
        return {name: self.whole(K) for name, K in super().checked(values).items()}

    def _source_said(self) -> str:
        if self.groups == INFINITY:
            return "those of infinitely many groups"
        count = self.bound.get(SYMBOL, self.groups)
        return f"those of {count if isinstance(count, int) else 'K'} groups"

    @property
    def _source_size(self) -> int:
        return len(self.orbits.sign)

    @property
    def speed(self) -> int:
        """Scaled variables have the time t / K."""
        return self.whole() if self.scaled else 1

    @cached_property
    def source(self) -> System:  # type: ignore[override]
        """The flow of K groups with all its words and samples."""
        return self.origin.enumerated(self.training, self.whole())

    @property
    def naming(self) -> Naming:
        """Pinned sets, maps and names over the words of the few groups that samples are written in."""
        return self.origin.naming

    @property
    def algebra(self) -> OrbitAlgebra:
        """How orbit columns multiply here."""
        return OrbitAlgebra(self.groups, self.scaled)

    @property
    def layout(self) -> Layout:
        """How states sit in the orbit columns."""
        assert isinstance(self.system.field, BlockField)
        return self.system.field.layout

    def space(self, path: Path) -> PairSpace:
        """Pair orbits of a path."""
        return _space(self.family, self.origin.naming, path)

    def segment(self, path: Path) -> Segment:
        """Where the orbit column of a stored path sits in the state vector."""
        leaf = self.naming.leaf(path)
        return next(s for s in self.layout.segments if s.leaf == leaf)

    def variable(self, path: str, left: str | None, right: str | None, relation: str = "") -> tuple[str, int]:
        """Orbit variable of a pair of word types under a path such as ``KQ_p``, and its sign."""
        named = [p for p in self.closure.paths if path == self.naming.leaf(p)]
        if not named:
            known = ", ".join(self.naming.leaf(p) for p in self._columns())
            raise ModelError(f"{path} is no matrix of this flow; there are {known}")
        (stored,) = named
        i, j = (0 if word is None else self.family.parse(word)[0] for word in (left, right))
        where = self.space(stored).index[i, j, relation]
        segment = self.segment(stored)
        return self.system.names[int(segment.index[where, 0])], int(self._signs(segment)[where, 0])

    # ---- states ------------------------------------------------------------------------------------------------------

    def initial_state(
        self, omega: Any = None, *, weights: Mapping[str, np.ndarray] | None = None, K: Any = None, **spread: Any
    ) -> np.ndarray:
        """Start values of the orbit variables: infinite width, or a network of K groups if that is symmetric."""
        if (weights is None) == (omega is None and not spread):
            raise ModelError("give either omega (the infinite-width start) or weights= (a finite network), not both")
        if weights is not None:
            size = self.whole(K)
            layout = path_layout(self.origin.naming_of(size), self.closure)[0]
            values = layout.pack(self.origin.network(self.closure, weights, size)).astype(float)
            return self.bind(**{SYMBOL: size}).project(values)
        # pairs of other groups start at zero, so the few groups of the window stand for any number of them
        layout = path_layout(self.origin.naming, self.closure)[0]
        few = layout.pack(self.origin.start(self.closure, omega, spread)).astype(float)
        return self._means(few, self.samples.window)

    def whole(self, K: Any = None) -> int:
        """The number of groups as a number: the flow's own, or `K` (else what is bound) where it leaves that open."""
        K = self.bound.get(SYMBOL) if K is None else K
        if K is None and not isinstance(self.groups, int):
            raise ParameterError("this flow is for every K; say how many groups the state has, with .bind(K=3)")
        size = whole_groups(self.groups if K is None else K)
        if isinstance(self.groups, int) and size != self.groups:
            raise ParameterError(f"this flow has K = {self.groups} groups, not {size}")
        return size

    @cached_property
    def orbits(self) -> Orbits:  # type: ignore[override]
        """Which orbit variable each state of the enumerated flow belongs to."""
        return self._orbits(self.whole())

    @property
    def lifted(self) -> Mapping[str, Node] | None:
        """Plus or minus an orbit variable, which in scaled variables stands for several entries."""
        units = [Fraction(1) / Fraction(unit) for unit in self._units(self.whole())]
        plain = {sym(name): sym(name) * unit for name, unit in zip(self.system.names, units, strict=True)}
        found = super().lifted or {}
        return dict(zip(found, graph.substitute(list(found.values()), plain), strict=True))

    def _lift(self, values: np.ndarray) -> np.ndarray:
        return self.orbits.lift(values / self._units(self.whole()))

    def _project(self, values: np.ndarray) -> np.ndarray:
        """Means over the orbits, times what each stands for; refuses a state that is not symmetric."""
        size = self.whole()
        means: np.ndarray = self._means(values, size) * self._units(size)
        return means

    def _means(self, values: np.ndarray, size: int) -> np.ndarray:
        """Signed means over the orbits of a symmetric state of `size` groups."""
        orbits = self._orbits(size)
        means = orbits.project(values)
        rest = np.abs(values - orbits.lift(means)).reshape(-1, orbits.sign.size).max(axis=0, initial=0)
        if rest.max() > 1e-12 * max(1e-300, float(np.abs(values).max(initial=0))):
            names = path_layout(self.origin.naming_of(size), self.closure)[0].names
            worst = int(rest.argmax())
            raise SymmetryError(
                f"this start breaks the symmetry of the family: {names[worst]} is off the mean of its orbit by "
                f"{rest[worst]:.3g}; only the full flow of these {size} groups describes it",
                state=names[worst],
            )
        return means

    def _units(self, size: int) -> np.ndarray:
        """How many entries one orbit variable stands for in scaled variables; else one."""
        out = np.ones(self.system.dimension)
        if self.scaled:
            for path in self._columns():
                where = self.segment(path).index[:, 0]
                out[where] = [float(count.at(size)) for count in self.space(path).partners()]
        return out

    def _signs(self, column: Segment) -> np.ndarray:
        """The sign with which each entry of a column is its orbit variable."""
        return column.fill(np.ones(self.system.dimension, dtype=int))

    def _columns(self) -> list[Path]:
        return self.origin.naming.tables(self.closure.paths)

    def _orbits(self, size: int) -> Orbits:
        """Orbit variable and sign of each state of the enumerated flow with `size` groups."""
        full = self.origin.naming_of(size)
        layout = path_layout(full, self.closure)[0]
        variable, sign = np.zeros(len(layout.names), dtype=int), np.zeros(len(layout.names), dtype=int)
        segments = {segment.leaf: segment for segment in layout.segments}
        for path in self._columns():
            orbit = pair_table(self.family, full, path, self.space(path), size)
            column = self.segment(path)
            index = segments[self.naming.leaf(path)].index
            variable[index] = column.index[orbit, 0]
            sign[index] = self._signs(column)[orbit, 0]
        return Orbits(variable, sign, np.arange(self.system.dimension))

    # ---- reductions and code -----------------------------------------------------------------------------------------

    def rename(self, names: Mapping[str, str]) -> FamilyFlow:
        """The same flow with orbit variables renamed."""
        return replace(self, system=renamed(self.system, names))

    def slaved(self) -> Slaved:
        """Self-scores eliminated by (J S)^2 = omega^4 I, valid from the infinite-width start."""
        from .family_slaving import slave_family

        return slave_family(self)

    def compile(self, K: Any = None, backend: str = "auto", **parameters: float) -> Compiled:
        """Fast callable with a checked whole number of groups and the other parameters bound."""
        if self.groups == "symbol":
            parameters[SYMBOL] = self.whole(K)
        return self.system.compile(parameters, backend)

    @cached_property
    def sample_names(self) -> list[str]:
        """One sample of each orbit as text, in the order of the observables margin_1, margin_2, ..."""
        return self.samples.names()


@keywords_said("family_flow")
def family_flow(
    family: Family,
    shape: Shape,
    train: Any = None,
    K: Any = "symbol",
    loss: Any = "logistic",
    carry: Iterable[str] | None = None,
    scaled: bool = False,
    symmetries: Sequence[TypeSymmetry] | None = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
) -> FamilyFlow:
    """Derive the gradient flow of a family on its orbit variables, without listing its words or samples.

    Parameters
    ----------
    family : Family
        The data.
    shape : Shape
        A function of its words that gives a program, a function of the tokens X.
    train : Any, optional
        Names of the maps that move, by default all.
    K : Any, optional
        A whole number of at least 2, ``"symbol"``, or ``"infinity"`` (the limit of the scaled flow).
    loss : Any, optional
        As in `gradient_flow`.
    carry : Iterable[str], optional
        Maps whose paths are kept as states; by default `train`.
    scaled : bool, optional
        Use the sums over all other groups instead of single entries, and time t / K.
    symmetries : Sequence[TypeSymmetry], optional
        Divide by these instead of all that are found (each is checked exactly).
    rates : Mapping[str, Any], optional
        Rates of single maps, as in `gradient_flow`.
    decay : Any, optional
        Weight decay; time t / K has none.

    Returns
    -------
    FamilyFlow
        The flow on orbit variables, with K a number, a symbol, or at infinity.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Head, SampleTemplate
    >>> half = Fraction(1, 2)
    >>> data = Family(["c", "v"], [SampleTemplate(["c", "v"], +1, half), SampleTemplate(["c", "-v"], -1, half)])
    >>> flow = family_flow(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]), train=["w"])
    >>> flow.system.parameters, flow.system.names
    (('K',), ('w_p_v', 'KQ_p_c_c_same', 'KQ_p_c_c_other', 'KQ_p_v_v_same', 'KQ_p_v_v_other'))
    >>> from odesys import maps
    >>> def linear(words):
    ...     w = maps("w", 1, words)
    ...     return lambda X: (w @ X).sum()
    >>> family_flow(data, linear).system.equations
    {'w_v': Node(1/(K*(exp(w_v) + 1)))}
    """
    return _derive(family, shape, Training(train, carry, rates, decay), K, loss, scaled, symmetries)


@keywords_said("family_descent")
def family_descent(
    family: Family,
    shape: Shape,
    train: Any = None,
    K: Any = "symbol",
    loss: Any = "logistic",
    carry: Iterable[str] | None = None,
    symmetries: Sequence[TypeSymmetry] | None = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
) -> FamilyFlow:
    """Derive the exact gradient step W -> W - eta dL/dW of a family on the same orbit variables.

    Parameters
    ----------
    family : Family
        The data.
    shape : Shape
        A function of its words that gives a program, a function of the tokens X.
    train : Any, optional
        Names of the maps that move, by default all.
    K : Any, optional
        A whole number of at least 2, ``"symbol"``, or ``"infinity"``.
    loss : Any, optional
        As in `gradient_flow`.
    carry : Iterable[str], optional
        Maps whose paths are kept as states; by default `train`.
    symmetries : Sequence[TypeSymmetry], optional
        Divide by these instead of all that are found (each is checked exactly).
    rates : Mapping[str, Any], optional
        Rates of single maps.
    decay : Any, optional
        Weight decay.

    Returns
    -------
    FamilyFlow
        The exact step on orbit variables.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Head, SampleTemplate
    >>> half = Fraction(1, 2)
    >>> data = Family(["c", "v"], [SampleTemplate(["c", "v"], +1, half), SampleTemplate(["c", "-v"], -1, half)])
    >>> step = family_descent(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]), train=["w"])
    >>> step.system.kind, step.system.parameters
    ('map', ('K', 'eta'))
    """
    return _derive(family, shape, Training(train, carry, rates, decay, step=True), K, loss, False, symmetries)


def _derive(
    family: Family,
    shape: Shape,
    training: Training,
    K: Any,
    loss: Any,
    scaled: bool,
    symmetries: Sequence[TypeSymmetry] | None,
) -> FamilyFlow:
    groups, step = check_groups(K), training.step
    if step and groups == INFINITY:
        raise ParameterError("a gradient step has no limit for many groups: the limit is in time t/K; use the flow")
    algebra = OrbitAlgebra(groups, scaled or groups == INFINITY)
    orbits = family.orbits(groups)
    samples = Representatives(family, orbits, groups, family.window(orbits))
    origin = family_origin(family, shape, samples, loss)
    naming = origin.naming
    trained, rule, closure = origin.closed(training)
    if algebra.scaled and any(motion.maps for motion in rule.motions.values()):
        raise ModelError(
            "in the time t / K of many groups weight decay acts K times as fast; take K a symbol, unscaled"
        )
    spaces = {path: _space(family, naming, path) for path in closure.paths}
    columns, windows = _leaves(family, naming, closure, spaces, algebra, samples.window)
    blanks = {name: blocks.leaf(f"window {name}", block.shape) for name, block in windows.items()}
    objective, observables = origin.blocks(blanks)
    rhs: dict[str, Block] = {}
    slopes = blocks.gradient(objective, [blanks[naming.leaf(path)] for path in closure.read])
    forces = [
        _force(slope, pair_table(family, naming, path, spaces[path], samples.window), spaces[path], algebra)
        for slope, path in zip(slopes, closure.read, strict=True)
    ]
    for path in closure.paths:
        name = naming.leaf(path)
        change = [_term(t, naming, closure, columns, forces, algebra) for t in closure.terms[path]]
        rhs[name] = blocks.add(*([columns[name][0]] if step else []), *change, blocks.zeros(spaces[path].shape))
    filled = {f"window {name}": block for name, block in windows.items()}
    done = blocks.replace_leaves([*rhs.values(), *observables.values()], filled)
    rhs = dict(zip(rhs, done, strict=False))
    observables = dict(zip(observables, done[len(rhs) :], strict=True))
    layout, tex, structure = orbit_layout(family, naming, closure, spaces, algebra, samples.window)
    action = partial(on_states, layout=layout, origin=origin, closure=closure, spaces=spaces)
    loss_is = _same_loss(observables["loss"], layout, action)

    def unchanged(element: TypeSymmetry) -> bool:
        return origin.keeps_rule(element, rule) and loss_is(element)

    given = symmetries or ()
    symmetries = origin.symmetries(unchanged) if symmetries is None else symmetries
    for element in given:
        if not origin.is_symmetry(element, unchanged):
            raise SymmetryError(
                f"{origin.describe(element)} does not map the samples, heads and rates of the family to themselves",
                witness=element,
            )
    merged = signed_orbits(len(layout.names), [action(element) for element in symmetries])
    if not len(merged.representatives):
        raise SymmetryError("every orbit variable is mapped to minus itself, so the symmetric flow stands still")
    names = tuple(layout.names[s] for s in merged.representatives)
    segments = tuple(Segment(s.leaf, merged.orbit[s.index], merged.sign[s.index]) for s in layout.segments)
    reduced = Layout(names, tuple(layout.places[s] for s in merged.representatives), segments)
    blocked = BlockField(reduced, rhs, observables)
    _check_parameters(origin.parameters | _parameters(rule), names, groups, step)
    kept_tex, kept = {name: tex[name] for name in names}, merged_states(layout.names, structure, merged)
    system = System(names, blocked, tuple(sorted(blocked.parameters)), "map" if step else "flow", kept_tex, kept)
    return FamilyFlow(
        family,
        shape,
        origin,
        trained,
        rule,
        training,
        closure,
        groups,
        algebra.scaled,
        samples,
        tuple(symmetries),
        system,
    )


def _parameters(rule: Rule) -> set[str]:
    """Names of the parameters that rates and decay bring."""
    motions = rule.motions.values()
    return graph.symbols([node for m in motions for node in (m.force, *m.maps.values())]) - {STEP_SIZE}


def _same_loss(
    loss: Block, layout: Layout, action: Callable[[TypeSymmetry], tuple[np.ndarray, np.ndarray]]
) -> Callable[[TypeSymmetry], bool]:
    """Whether the loss, as an expression of the orbit variables, is the same after a symmetry.

    Most candidates differ at the first point already, which is quick to see; only those that do not are compared as
    expressions.
    """
    rng = np.random.default_rng(0)
    point = rng.uniform(0.25, 1.0, len(layout.names))
    numbers = {name: rng.uniform(2.0, 3.0) for name in sorted(BlockField(layout, {}, {"loss": loss}).parameters)}
    symbols = np.array([sym(name) for name in layout.names], dtype=object)

    def at(values: np.ndarray, parameters: dict[str, float] | None) -> Any:
        return blocks.evaluate([loss], layout.unpack(values), parameters)[0].reshape(-1)[0]

    height = cache(lambda: at(point, numbers))
    expression = cache(lambda: at(symbols, None))

    def unchanged(element: TypeSymmetry) -> bool:
        target, sign = action(element)
        if abs(at(sign * point[target], numbers) - height()) > FAR * (1 + abs(height())):
            return False
        return at(sign * symbols[target], None) is expression()

    return unchanged


def _space(family: Family, naming: Naming, path: Path) -> PairSpace:
    return PairSpace(pin_of(family, naming, path.left), pin_of(family, naming, path.right))


def _check_parameters(parameters: set[str], names: Sequence[str], groups: Groups, step: bool) -> None:
    reserved = {*names, TIME, *([STEP_SIZE] if step else []), *([SYMBOL] if groups == "symbol" else [])}
    taken = sorted(parameters & reserved)
    if taken:
        raise ModelError(f"the parameter {taken[0]} of the model or the loss has another meaning here; rename it")


def _leaves(
    family: Family,
    naming: Naming,
    closure: Closure,
    spaces: Mapping[Path, PairSpace],
    algebra: OrbitAlgebra,
    size: int,
) -> tuple[dict[str, Column], dict[str, Block]]:
    """Orbit columns of all paths, and the matrices over a few groups that they fill."""
    columns: dict[str, Column] = {}
    windows: dict[str, Block] = {}
    path_leaves(naming, closure)  # refuses names that are taken twice
    for path in naming.tables(closure.paths):
        name, space = naming.leaf(path), spaces[path]
        columns[name] = blocks.leaf(name, space.shape), space
        table = pair_table(family, naming, path, space, size)
        entries = columns[name][0]
        if algebra.scaled:
            entries = blocks.multiply(algebra.constants([ONE_GROUP / unit for unit in algebra.scales(space)]), entries)
        windows[name] = blocks.take(entries, (table, np.zeros_like(table)))
    return columns, windows


def _force(slope: Block, table: np.ndarray, space: PairSpace, algebra: OrbitAlgebra) -> Column:
    """Force on one entry of each orbit: minus the sum of the slopes over the orbit, divided by its size."""
    if blocks.is_zero(slope):
        return blocks.zeros(space.shape), space
    total = blocks.scatter(slope, (table, np.zeros_like(table)), space.shape)
    speed = GROUPS if algebra.scaled else ONE_GROUP
    factors = [-1 * speed * unit / entries for unit, entries in zip(algebra.scales(space), space.sizes(), strict=True)]
    return blocks.multiply(algebra.constants(factors), total), space


def _term(
    term: Term,
    naming: Naming,
    closure: Closure,
    columns: Mapping[str, Column],
    forces: Sequence[Column],
    algebra: OrbitAlgebra,
) -> Block:
    factors: list[Column] = []
    scalars: list[Node] = [] if term.coefficient is graph.ONE else [term.coefficient]
    for factor in term.factors:
        if isinstance(factor, Force):
            column = forces[factor.read]
            factors.append(algebra.transpose(column) if factor.transposed else column)
        elif factor.letters:
            stored, turned = closure.canonical(factor)
            column = columns[naming.leaf(stored)]
            factors.append(algebra.transpose(column) if turned else column)
        else:
            gram = naming.gram(factor.left)
            if gram is not None and gram.size == 1:
                scalars.append(gram[0, 0])
            elif gram is not None:  # of vectors that belong to no group: words of the family are orthonormal
                plain = Pin((False,) * len(gram))
                factors.append((blocks.constant(gram.reshape(-1, 1)), PairSpace(plain, plain)))
    total = factors[0]
    for column in factors[1:]:
        total = algebra.product(total, column)
    if closure.exact_step:
        scalars.append(sym(STEP_SIZE) ** term.order)
    block = total[0]
    for scalar in scalars:
        block = blocks.multiply(blocks.constant([[scalar]]), block)
    return block


__all__ = ["FamilyFlow", "family_descent", "family_flow"]
