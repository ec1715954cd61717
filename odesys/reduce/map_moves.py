r"""Moves of the maps of a program that a move of its words may need: heads exchanged, signs of read paths.

Which of them leave the loss alone is first asked in floats, at one random state for all moves at once; what passes is
decided exactly elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derive.motion import velocity_name
from ..expr.tape import ARRAYS, Tape
from ..model.paths import WORDS
from .program_symmetry import ProgramSymmetry

if TYPE_CHECKING:
    from ..derive.flow import Flow

Maps = tuple[tuple[str, tuple[str, int]], ...]
MOST = 4096  # moves that are tried
SEED = 7


@dataclass(frozen=True, eq=False)
class MapMoves:
    """All moves of maps: permutations of heads with the same maps, times a sign for each path that is read.

    `undo_negation` says whether one of them undoes the sign of all words at once; `cut` that heads are too many.
    """

    flow: Flow
    moves: tuple[Maps, ...]
    undo_negation: bool
    cut: bool

    @classmethod
    def of(cls, flow: Flow) -> MapMoves:
        """The moves of a flow; that which moves nothing comes first."""
        letters = list(flow.naming.letters)
        used = Counter(letter.map for path in flow.closure.read for letter in path.letters)
        # of each path a map that is in no other: its sign is that of the path
        turns = [next((x.map for x in path.letters if used[x.map] == 1), "") for path in flow.closure.read]
        heads = list(dict.fromkeys(name.partition(".")[2] for name in letters))
        stems = {head: {n.partition(".")[0] for n in letters if n.partition(".")[2] == head} for head in heads}
        free = [name for name in turns if name]
        orders = list(permutations(heads)) if len(heads) <= 6 else [tuple(heads)]
        orders = [o for o in orders if all(stems[a] == stems[b] for a, b in zip(heads, o, strict=True))]
        cut = len(heads) > 6 or len(orders) * 2 ** len(free) > MOST
        orders = orders[:1] if cut else orders
        choices = product((1, -1), repeat=len(free)) if 2 ** len(free) <= MOST else [(1,) * len(free)]
        signs = [dict(zip(free, choice, strict=True)) for choice in choices]
        moves = []
        own = {velocity_name(name): name for name in letters}  # a velocity goes along with its map
        for order, sign in product(orders, signs):
            goal = dict(zip(heads, order, strict=True))
            moves.append(tuple((n, (_at(n, goal), sign.get(own.get(n, n), 1))) for n in letters))
        ends = [(path.left == WORDS) != (path.right == WORDS) for path in flow.closure.read]
        undo = all(name or not one for name, one in zip(turns, ends, strict=True))
        return cls(flow, tuple(moves), undo, cut)

    @cached_property
    def _loss(self) -> tuple[set[str], Any]:
        """The symbols of the loss, and the loss as a function of arrays."""
        tape = Tape.of([self.flow.loss])
        return {row[1] for row in tape.rows if row[0] == "sym"}, tape.over(ARRAYS)

    def alike(self, words: ProgramSymmetry) -> list[ProgramSymmetry]:
        """The moves that, together with one of the words, seem to leave the loss alone; not the identity."""
        flow = self.flow
        elements = [ProgramSymmetry(words.pins, maps) for maps in self.moves]
        rng, names = np.random.default_rng(SEED), flow.layout.names
        state = rng.normal(size=len(names))
        parameters = flow.system.parameters
        given = dict(zip(parameters, rng.uniform(0.5, 1.5, len(parameters)).tolist(), strict=True))
        rows = [state]
        for element in elements:
            target, sign = element.on_paths(flow, flow.closure.read)
            rows.append(sign * state[target])
        table = np.array(rows).T
        used, loss = self._loss
        values = {name: table[s] for s, name in enumerate(names) if name in used}
        losses = np.broadcast_to(loss({**given, **values})[0], len(rows))
        close = np.abs(losses[1:] - losses[0]) <= 1e-9 * max(1.0, abs(float(losses[0])))
        seem = zip(elements, close, self.moves, strict=True)
        return [element for element, same, maps in seem if same and (words.pins or not _rests(maps))]


def _at(name: str, goal: dict[str, str]) -> str:
    stem, dot, head = name.partition(".")
    return stem + dot + goal[head]


def _rests(maps: Maps) -> bool:
    return all(name == to and sign > 0 for name, (to, sign) in maps)
