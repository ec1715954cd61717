r"""The closed system of a program: paths, forces and rule of training put together.

.. math::  G_\phi = -\partial\mathcal L/\partial\phi, \qquad
           \tfrac{d}{dt}(Q W R) = c\,(Q P^\top) G_\phi (S^\top R) + \dots
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ModelError
from ..expr import blocks, gc_pause
from ..expr.blocks import Block
from ..expr.field import BlockField, Layout, Segment
from ..expr.graph import Node, as_node, num, sym, symbols
from ..expr.system import TIME, System
from ..model.dictionary import exact_number
from ..model.paths import Path
from ..program.data import Data
from ..program.naming import Naming
from ..program.program import Program
from ..shortening import shortened
from .assembly import path_layout, path_leaves, term_block
from .closure import Closure, close, gradient_terms, restricted
from .initial import gram_parameters, infinite_width, unit_gram, weight_values
from .minibatch import Batches, forces_of
from .motion import (
    FRICTION,
    STEP_SIZE,
    Forces,
    Rule,
    Turn,
    check_turn,
    check_velocities,
    heavy_ball,
    plain,
    velocity_name,
)

if TYPE_CHECKING:
    from odesys import ProgramNetwork

    from ..analysis.lax import ConservedSpectrum
    from ..reduce.program_symmetry import ProgramSymmetry
    from ..reduce.quotient import Quotient
    from ..reduce.slaving import Slaved
    from ..reduce.symmetry import SymmetryGroup


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """A derived flow (or step) of a program: what is trained, the closed set of paths, and the system on them.

    Parameters
    ----------
    program : Program
        The function as it was read, with its data and loss.
    rule : Rule
        How the maps move.
    train : tuple[str, ...]
        The maps that move.
    closure : Closure
        The closed set of paths.
    system : System
        The equations.
    batch : int, optional
        Samples of a mini-batch, where the step is the mean over batches.

    Examples
    --------
    >>> from odesys import Data, Flow, Words, gradient_flow, logistic, maps, softmax
    >>> words = Words("good bad the")
    >>> w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", words, words)
    >>> data = Data(words, [("good the", +1), ("bad the", -1)])
    >>> flow = gradient_flow(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(), data, logistic)
    >>> isinstance(flow, Flow), flow.system.dimension, flow.train
    (True, 24, ('w', 'W_K', 'W_Q'))
    >>> float(flow.initial_state(omega=0.5)[flow.system.names.index("KK_the_the")])
    0.25
    """

    program: Program
    rule: Rule
    train: tuple[str, ...]
    closure: Closure
    system: System
    batch: int | None = None  # samples of a mini-batch, where the step is the mean over batches

    def __repr__(self) -> str:
        maps, moving = ", ".join(self.program.maps), ", ".join(self.train)
        return shortened(f"Flow({self.system.dimension} states of {maps}; trained {moving})")

    def _repr_html_(self) -> str:
        from ..report.cards import flow_card

        return flow_card(self)

    @property
    def layout(self) -> Layout:
        """How states sit in the matrices of path scalars."""
        assert isinstance(self.system.field, BlockField)
        return self.system.field.layout

    @property
    def naming(self) -> Naming:
        """Pinned sets, maps and names of the program."""
        return self.program.naming

    @property
    def data(self) -> Data:
        """What it is trained on."""
        return self.program.data

    @property
    def model(self) -> Any:
        """The function that was written down."""
        return self.program.function

    def pin_gram(self, pin: str) -> np.ndarray:
        """Inner products of a pinned set, as nodes.

        Parameters
        ----------
        pin : str
            Name of the set, ``E`` for the words.

        Returns
        -------
        np.ndarray
            Square, entries are nodes.
        """
        known = self.naming.pins[pin]
        return unit_gram(known.size) if known.gram is None else known.gram

    def segment(self, path: Path) -> Segment:
        """Where the matrix of a stored path sits in the state vector.

        Parameters
        ----------
        path : Path
            A path of the closure.

        Returns
        -------
        Segment
            Its leaf and the places of its entries.
        """
        leaf = self.naming.leaf(path)
        return next(s for s in self.layout.segments if s.leaf == leaf)

    def initial_state(
        self,
        omega: Any = None,
        *,
        values: Mapping[str, Any] | None = None,
        weights: Mapping[str, Any] | None = None,
        **spread: Any,
    ) -> np.ndarray:
        r"""Start values of all states.

        Parameters
        ----------
        omega : Any, optional
            The infinite-width start: :math:`W^\top W \to \omega^2 I` for every map, everything unpaired at zero, and
            velocities at rest.
        values : Mapping[str, Any], optional
            Matrices of path scalars by name, e.g. ``{"Y": table}``, put in place of the infinite-width ones.
        weights : Mapping[str, Any], optional
            Matrices of all maps instead, of a finite network; axes along words are the words, so that W E is given. A
            name without a head stands for all heads, which are then the first axis.
        **spread : Any
            The number s in :math:`W^\top W \to s I` for a map by name, e.g. ``W_V=0.01``, or the value of a parameter
            of a Gram matrix, e.g. ``m1=32``.

        Returns
        -------
        np.ndarray
            One number per state, in the order of ``system.names``.
        """
        if weights is not None:
            if omega is not None or spread or values:
                raise ModelError(
                    "give either omega (the infinite-width start) or weights= (a finite network), not both"
                )
            leaves = weight_values(self.naming, self.closure, weights)
        else:
            leaves = infinite_width(self.naming, self.closure, omega, spread, values or {}, self.rule.velocities)
        return self.layout.pack(leaves).astype(float)

    def network(self, width: int | None = None, seed: Any = 0, omega: Any = None, **options: Any) -> ProgramNetwork:
        """The same program with weights that really move; options as in `odesys.program_network`.

        Parameters
        ----------
        width : int, optional
            Dimension of every `Space`.
        seed : Any, optional
            Of words and weights.
        omega : Any, optional
            Scale of the maps at the start.
        **options : Any
            As in `program_network`.

        Returns
        -------
        ProgramNetwork
            The program with weights.
        """
        import odesys  # the public names are a door to numerics

        return odesys.program_network(self, width, seed, omega, **options)

    def networks(self, seeds: Iterable[Any], width: int | None = None, **options: Any) -> ProgramNetwork:
        """Networks of several seeds as one more axis in front of all arrays; options as in `network`.

        Parameters
        ----------
        seeds : Iterable[Any]
            One network each.
        width : int, optional
            Dimension of every `Space`.
        **options : Any
            As in `program_network`.

        Returns
        -------
        ProgramNetwork
            All of them side by side.
        """
        import odesys

        return odesys.program_networks(self, seeds, width=width, **options)

    def symmetries(self, state: Any = None) -> SymmetryGroup[ProgramSymmetry]:
        """The group of signed permutations of words, units and maps that leaves the loss alone (and `state`).

        Parameters
        ----------
        state : Any, optional
            A start that the symmetries must leave alone too.

        Returns
        -------
        SymmetryGroup[ProgramSymmetry]
            Generators, order, and what was not searched.
        """
        from ..reduce.symmetry_search import find_symmetries

        return find_symmetries(self, state)

    def quotient(self, generators: Sequence[Any] | None = None, state: Any = None) -> Quotient:
        """One variable per orbit under the group found (or under `generators`), with `lift` and `project`.

        Parameters
        ----------
        generators : Sequence[Any], optional
            Symmetries to divide by; by default all that are found.
        state : Any, optional
            A start that they must leave alone.

        Returns
        -------
        Quotient
            The smaller system with `lift`, `project` and `initial_state`.
        """
        from ..reduce.quotient import quotient

        return quotient(self, generators, state)

    def slaved(self, state: Any = None) -> Slaved:
        """The flow with self-scores eliminated; a `state` to start from must satisfy (J S)^2 = omega^4 I.

        Parameters
        ----------
        state : Any, optional
            A start; by default that of infinite width.

        Returns
        -------
        Slaved
            The system without self-scores.
        """
        from ..reduce.slaving import slave_flow

        return slave_flow(self, state)

    def invariants(self) -> list[ConservedSpectrum]:
        """Conserved families tr L^q of pairs of trained maps, proved from the closure; see `odesys.analysis.lax`.

        Returns
        -------
        list[ConservedSpectrum]
            One family per pair of trained maps.
        """
        from ..analysis.lax import lax_integrals

        return lax_integrals(self)

    @cached_property
    @gc_pause.paused()
    def loss(self) -> Node:
        """The loss as one expression of the path scalars."""
        assert isinstance(self.system.field, BlockField)
        names = np.array(self.layout.names, dtype=object)
        read = {self.naming.leaf(path): self.segment(path).index for path in self.closure.read}
        leaves = {leaf: np.asarray(np.frompyfunc(sym, 1, 1)(names[index])) for leaf, index in read.items()}
        (value,) = blocks.evaluate([self.system.field.observable_blocks["loss"]], leaves)
        node: Node = value.reshape(-1)[0]
        return node

    @cached_property
    def matrices(self) -> dict[str, np.ndarray]:
        """For each matrix of path scalars the array of its state names."""
        names = np.array(self.layout.names, dtype=object)
        return {segment.leaf: names[segment.index] for segment in self.layout.segments}


def derive_flow(
    program: Program,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    friction: Any = None,
    step: bool = False,
    carry: Any = None,
    turn: Turn | None = None,
    batch: Any = None,
) -> Flow:
    """The flow of a program, or its exact gradient step; `friction` adds a velocity to every map.

    `turn` is what is done with the forces first; with `batch` the step is the mean over batches of so many samples.
    """
    trained, carried = carried_maps(program, train, carry)
    speeds, pull = speeds_of(program, rates, decay, trained)
    if friction is not None:
        check_velocities(program.maps, carried)

    def rule_of(maps: Iterable[str]) -> Rule:
        if friction is None:
            return replace(plain(frozenset(maps), step, speeds, pull), turn=turn)
        return heavy_ball(frozenset(maps), step, _number(friction, "the friction"), speeds, pull)

    rule = rule_of(trained)
    closure = close(tuple(program.tables), frozenset(carried), step, rule=rule_of(carried))
    if carried != trained:
        closure = restricted(closure, rule)
    if turn is not None:
        check_turn(turn, program.naming, closure.read, rule)
    brought = {STEP_SIZE: "the step size"} if step else {}
    if friction is not None and FRICTION in symbols([_number(friction, "the friction")]):
        brought[FRICTION] = "the friction"
    return _assembled(program, rule, trained, closure, step, batch, brought)


def _assembled(
    program: Program,
    rule: Rule,
    trained: tuple[str, ...],
    closure: Closure,
    step: bool,
    batch: Any,
    brought: Mapping[str, str],
) -> Flow:
    naming = program.naming
    if rule.moving - set(naming.letters):  # velocities have the ends of their maps
        own = {velocity_name(name): naming.letters[name] for name in trained}
        naming = Naming(naming.pins, {**naming.letters, **own})
    leaves = path_leaves(naming, closure)
    renamed = {program.tables[path].data: leaves[naming.leaf(path)] for path in closure.read}
    roots = blocks.replace_leaves([program.loss, *program.observables.values()], renamed)
    objective, observables = roots[0], dict(zip(program.observables, roots[1:], strict=True))
    read_leaves = [leaves[naming.leaf(path)] for path in closure.read]
    forces: Forces = forces_of(objective, read_leaves)
    batches = None if batch is None else Batches.of(program, batch, forces, renamed, read_leaves)
    if rule.turn is not None:
        forces = rule.turn.change(forces, partial(_gradient_size, rule.moving, naming, closure, leaves, forces))
    rhs: dict[str, Block] = {}
    for path in closure.paths:
        leaf, change = naming.leaf(path), []
        for term in closure.terms[path]:
            build = partial(term_block, term, naming, closure, leaves)
            change.append(build(forces) if batches is None else batches.mean(term.order, build))
        if step:
            change = [leaves[leaf], *change]
        rhs[leaf] = blocks.add(*change) if change else blocks.zeros(leaves[leaf].shape)
    layout, tex, structure = path_layout(naming, closure)
    field = BlockField(layout, rhs, observables)
    _check_parameters(field, naming, BlockField(layout, {}, observables).parameters, brought)
    parameters = tuple(sorted(field.parameters))
    system = System(layout.names, field, parameters, "map" if step else "flow", tex, structure)
    return Flow(replace(program, naming=naming), rule, trained, closure, system, batch)


def _gradient_size(
    moving: frozenset[str], naming: Naming, closure: Closure, leaves: Mapping[str, Block], forces: Forces
) -> Block:
    r"""The squared size of the gradient by all maps that move, shape (1, 1).

    Minus the rate of the loss along its own gradient flow, so it is made of path scalars at any width:
    :math:`\sum_W |\partial\mathcal L/\partial W|^2 = \sum_\phi \langle G_\phi, \dot\phi\rangle`.
    """
    parts, first_order = [], replace(closure, exact_step=False)
    for terms, force in zip(gradient_terms(closure, moving).values(), forces, strict=True):
        for term in terms:
            change = term_block(term, naming, first_order, leaves, forces)
            parts.append(blocks.sum_axis(blocks.sum_axis(blocks.multiply(force, change), 0), 1))
    return blocks.add(*parts)


class HasMaps(Protocol):
    """What has maps by name: a program."""

    @property
    def maps(self) -> tuple[str, ...]:
        """Names of all maps, e.g. ``W_K.p``."""
        ...


def carried_maps(program: HasMaps, train: Any, carry: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The maps that move, and those whose paths are kept as states."""
    trained = trained_maps(program, train, "train")
    carried = trained if carry is None else trained_maps(program, carry, "carry")
    missing = [name for name in trained if name not in carried]
    if missing:
        raise ModelError(f"{missing[0]} is trained but not carried; carry must contain everything that moves")
    return trained, carried


def trained_maps(program: HasMaps, given: Any, what: str) -> tuple[str, ...]:
    """The maps meant by names separated by blanks or a sequence; a name without a head means all heads."""
    if given is None:
        return program.maps
    if isinstance(given, Mapping) or (not isinstance(given, str) and not hasattr(given, "__iter__")):
        raise ModelError(f"{what}={given!r} is not a list of maps: write {what}='{' '.join(program.maps[:2])}'")
    names = given.split() if isinstance(given, str) else list(given)
    out: list[str] = []
    for name in names:
        found = [m for m in program.maps if isinstance(name, str) and name in (m, m.partition(".")[0])]
        if not found:
            raise ModelError(
                f"{what}={name!r}: the program has no such map; it has {', '.join(program.maps)}", name=name
            )
        out += [m for m in found if m not in out]
    if not out:
        raise ModelError(f"nothing is trained; choose some of {', '.join(program.maps)}")
    return tuple(m for m in program.maps if m in out)


def speeds_of(
    program: HasMaps, rates: Mapping[str, Any] | None, decay: Any, trained: Sequence[str]
) -> tuple[dict[str, Node], Node]:
    """The rates of single maps and the weight decay as nodes."""
    return _rates(program, rates or {}, trained), _number(decay, "the weight decay")


def _rates(program: HasMaps, rates: Mapping[str, Any], trained: Sequence[str]) -> dict[str, Node]:
    if not isinstance(rates, Mapping):
        raise ModelError(f"rates={rates!r} is a mapping from maps to their rates, such as {{'Z': Fraction(1, 10)}}")
    out: dict[str, Node] = {}
    for name, value in rates.items():
        meant = [each for each in trained_maps(program, [name], "rates") if each in trained]
        if not meant:
            raise ModelError(f"rates gives a rate to {name}, which is not trained; trained are {', '.join(trained)}")
        out |= {each: _number(value, f"the rate of {each}") for each in meant}
    return out


def _number(value: Any, what: str) -> Node:
    if isinstance(value, (str, Node)) or getattr(value, "free_symbols", None):
        return as_node(value)
    return num(exact_number(value, what, ModelError))


def _check_parameters(field: BlockField, naming: Naming, read: frozenset[str], brought: Mapping[str, str]) -> None:
    """Refuse parameters of the program whose names are taken, among them those `brought` by the rule."""
    own = read.union(*(gram_parameters(pin) for pin in naming.pins.values()))  # without what the rule brings
    taken = sorted(field.parameters & {*field.layout.names, TIME} | own & set(brought))
    if taken:
        what = {TIME: "time", **brought}.get(taken[0], "a path scalar")
        raise ModelError(f"the parameter {taken[0]} of the program is the name of {what}; rename it")
