r"""Symmetries of a program: signed permutations of words, units and maps that leave its loss alone.

They are the automorphisms of one graph: the scalars of the loss on a signed double cover (`loss_graph`), tied to pinned
vectors and maps (`path_graph`). Each is checked again: put into the loss, it gives the same expression.

>>> from odesys import Data, Words, gradient_flow, logistic, maps
>>> words = Words("good bad the")
>>> w = maps("w", 1, words)
>>> data = Data(words, [("good the", +1), ("bad the", -1)])
>>> flow = gradient_flow(lambda X: (w @ X).sum(), data, logistic)
>>> group = flow.symmetries()
>>> group.order, group.describe(flow)
(2, ['good -> bad, bad -> good, w -> -w'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expr import gc_pause, graph
from ..model.paths import WORDS
from ..program.order import only_through_tokens
from ..program.program import program_output
from ..program.spaces import ONE_AXIS, Units
from .automorphism import Permutation, automorphisms
from .map_moves import MapMoves
from .path_graph import PathGraph
from .program_symmetry import LossCheck, ProgramSymmetry, is_program_symmetry, keeps_paths
from .symmetry import SymmetryGroup, checked_state
from .token_graph import has_signs, sample_moves

if TYPE_CHECKING:
    from ..derive.flow import Flow

LARGE = 2000  # operations in the loss from which on words, samples and maps are searched instead of the whole loss
MANY = 600  # scalars from which on that is done although there are units, which then stay where they are
MOST_GAUGES = 64  # elements that move no state, up to which all are tried for a shorter text


@gc_pause.paused()
def find_symmetries(flow: Flow, state: Any = None) -> SymmetryGroup[ProgramSymmetry]:
    """The symmetry group of a program, or its subgroup that fixes `state`; the order counts actions on states."""
    check = LossCheck(flow)
    units = any(isinstance(pin.side, Units) and pin.size > 1 for pin in flow.naming.pins.values())
    if len(check.nodes) > LARGE and (not units or len(check.used) > MANY):
        return _large(flow, state, check, units)
    tied = PathGraph(flow)
    _add_states(tied, flow, state)
    check.shapes.write(tied.build, flow.loss, tied.states)
    group = automorphisms(tied.build.coloured())
    gauge, size = _gauge(flow)
    found = [_simple(flow, _read_off(tied, permutation), gauge) for permutation in group.generators]
    kept = [element for element in found if keeps_paths(flow, element)]  # maps the loss does not read may go astray
    moving = _distinct(flow, kept)
    sound = tuple(g for g in moving if is_program_symmetry(flow, g, check))
    whole = len(kept) == len(found) and len(sound) == len(moving)
    order = group.order // size if whole else generated_order(flow, sound)
    return SymmetryGroup(sound, order, _beyond(flow))


def _beyond(flow: Flow) -> str:
    """What no search here tries, where the program has it: signs of one end of a map, and transposed maps."""
    letters = flow.naming.letters
    ends = Counter(_name(side) for expr in letters.values() for side in (expr.rows, expr.columns))
    shared = next((name for name, count in ends.items() if name and count > 1), "")
    square = next((name for name in flow.train if letters[name].rows == letters[name].columns), "")
    parts = []
    if shared:
        one = next(n for n, expr in letters.items() if shared in (_name(expr.rows), _name(expr.columns)))
        parts.append(f"the signs of the axes {shared} at one map alone, such as {one}, were not tried")
    if square:
        parts.append(f"{square} -> {square}^T was not tried")
    return "; ".join(parts)


def _name(side: Any) -> str:
    """The name of listed axes; empty for other sides."""
    return side.name if isinstance(side, Units) and side != ONE_AXIS else ""


def _large(flow: Flow, state: Any, check: LossCheck, units: bool) -> SymmetryGroup[ProgramSymmetry]:
    """The symmetries that map samples to samples; the order of tokens is kept if it matters."""
    beyond = _beyond(flow)
    rest = f"{beyond}; " if beyond else ""
    rest += f"the loss has {len(check.nodes)} operations, and above {LARGE} words move only as samples go to samples"
    rest += ", and units stay where they are" if units else ""
    moves = MapMoves.of(flow)
    if moves.cut:
        rest += "; heads stay where they are, since there are many"
    own = [each for each in moves.alike(ProgramSymmetry()) if is_program_symmetry(flow, each, check)]
    for ordered in (False, True):
        words = sample_moves(flow, None, ordered, flips=has_signs(flow))
        known = _through_tokens(flow, ordered)
        found = [
            element if known and sign > 0 else _extended(flow, moves, element, check)
            for element, sign in words.generators
        ]
        if None not in found:
            break
    moving = _distinct(flow, [*(each for each in found if each is not None), *own])
    order = words.order * (len(own) + 1)  # the identity is not in the list
    whole = SymmetryGroup(tuple(moving), order // 2 if words.negation and moves.undo_negation else order, rest)
    if None in found:
        whole = SymmetryGroup(tuple(moving), generated_order(flow, moving), rest)
    return whole if state is None else _fixing(flow, state, whole, check)


def _through_tokens(flow: Flow, ordered: bool) -> bool:
    """True if moves of words that map samples to samples are symmetries by the way the program is written."""
    if flow.batch is not None or flow.rule.turn is not None:
        return False
    data, lengths = flow.data, {len(sample.tokens) for sample in flow.data.samples}
    outputs = [program_output(flow.program.function, data, length) for length in lengths]
    return all(only_through_tokens(output, data.words, ordered) for output in outputs)


def _extended(flow: Flow, moves: MapMoves, element: ProgramSymmetry, check: LossCheck) -> ProgramSymmetry | None:
    """A move of words together with the first move of maps that makes it a symmetry; None if there is none."""
    return next((g for g in moves.alike(element) if is_program_symmetry(flow, g, check)), None)


def _fixing(
    flow: Flow, given: Any, whole: SymmetryGroup[ProgramSymmetry], check: LossCheck
) -> SymmetryGroup[ProgramSymmetry]:
    """What fixes a state: all if every generator does; else those generators, and the moves of words that do."""
    state, unit = checked_state(given, len(flow.layout.names))

    def fixes(element: ProgramSymmetry) -> bool:
        target, sign = element.on_states(flow)
        return bool((np.abs(state[target] - sign * state) <= unit).all())

    kept = tuple(element for element in whole.generators if fixes(element))
    if len(kept) == len(whole.generators):
        return whole
    for ordered in (False, True):
        words = sample_moves(flow, given, ordered, flips=False)
        proposed = [element for element, _ in words.generators]
        sound = [g for g in proposed if is_program_symmetry(flow, g, check)]
        if len(sound) == len(proposed):
            break
    extra = [element for element in kept if any(image != (name, 1) for name, image in element.maps)]
    group = tuple(_distinct(flow, [*sound, *extra]))
    rest = (
        f"{whole.unsearched}; the state breaks symmetries of the loss: of what keeps it, moves of words alone and "
        f"{len(kept)} of {len(whole.generators)} generators are here, other combinations were not tried"
    )
    if not extra and len(sound) == len(proposed):
        blind = all((p.left == p.right) or WORDS not in (p.left, p.right) for p in flow.closure.paths)
        return SymmetryGroup(group, words.order // 2 if words.negation and blind else words.order, rest)
    return SymmetryGroup(group, generated_order(flow, group), rest)


def _add_states(tied: PathGraph, flow: Flow, given: Any) -> None:
    """The scalars in the loss and, where a state is given, all whose value is not zero."""
    used = graph.symbols([flow.loss])
    size = len(flow.layout.names)
    state, unit = (np.zeros(size), 1.0) if given is None else checked_state(given, size)
    for path in flow.closure.paths:
        for (i, j), s in np.ndenumerate(flow.segment(path).index):
            value = round(state[s] / unit)
            if value or flow.layout.names[s] in used:
                tied.state(path, i, j, (value, -value))


def _read_off(tied: PathGraph, permutation: Permutation) -> ProgramSymmetry:
    keys = {number: key for key, number in tied.build.index.items()}

    def image(*key: Any) -> tuple[Any, ...]:
        return keys[permutation[tied.build.index[key]]]  # type: ignore[return-value]

    pins = []
    for name in tied.pins:
        size = tied.flow.naming.pins[name].size
        pins.append((name, tuple(image("pin", name, i, 1)[1:] for i in range(size))))
    maps = [(name, image("map", name, 1)[1:]) for name in tied.maps]
    return ProgramSymmetry(tuple(pins), tuple(maps))


def _gauge(flow: Flow) -> tuple[list[ProgramSymmetry], int]:
    """Elements that move no state, such as the sign of keys with that of queries (some, if many), and their number.

    The first row and the first column of every matrix are enough: what fixes them fixes every entry.
    """
    tied = PathGraph(flow)
    for path in flow.closure.paths:
        index = flow.segment(path).index
        places = [(0, j) for j in range(index.shape[1])] + [(i, 0) for i in range(1, index.shape[0])]
        for i, j in places:
            name = flow.layout.names[index[i, j]]
            tied.state(path, i, j, ((name, 1), (name, -1)))
    group = automorphisms(tied.build.coloured())
    if group.order > MOST_GAUGES:
        return [_read_off(tied, permutation) for permutation in group.generators], group.order
    return [_read_off(tied, permutation) for permutation in group.elements()], group.order


def _simple(flow: Flow, element: ProgramSymmetry, gauge: Sequence[ProgramSymmetry]) -> ProgramSymmetry:
    """The same action with fewer signs, by the elements that move no state."""
    return min([element, *(element.after(g) for g in gauge)], key=lambda g: _signs(flow, g))


def _signs(flow: Flow, element: ProgramSymmetry) -> int:
    """How many signs a reader sees; that of an axis without a name counts double, for a map can have it instead."""
    axes = [1 + (flow.naming.pins[name].labels == ("",)) for name, own in element.pins for *_, s in own if s < 0]
    return sum(axes) + sum(sign < 0 for _, (_, sign) in element.maps)


def _distinct(flow: Flow, elements: Sequence[ProgramSymmetry]) -> list[ProgramSymmetry]:
    """One element for each action on states, that with the fewest signs; none for the identity."""
    size = len(flow.layout.names)
    still = (np.arange(size).tobytes(), np.ones(size, dtype=int).tobytes())
    actions: dict[tuple[bytes, bytes], ProgramSymmetry] = {}
    for element in elements:
        target, sign = element.on_states(flow)
        action = target.tobytes(), sign.tobytes()
        if action != still and (action not in actions or _signs(flow, element) < _signs(flow, actions[action])):
            actions[action] = element
    return list(actions.values())


def generated_order(flow: Flow, elements: Sequence[ProgramSymmetry]) -> int:
    """The order of the group of states and their negatives that elements generate."""
    from sympy.combinatorics import Permutation as Cycles
    from sympy.combinatorics import PermutationGroup as Group

    if not elements:
        return 1
    cover = []
    for element in elements:
        target, sign = element.on_states(flow)
        size = len(target)
        plus, minus = target + size * (sign < 0), target + size * (sign > 0)
        cover.append(Cycles([*map(int, plus), *map(int, minus)]))
    return int(Group(*cover).order())
