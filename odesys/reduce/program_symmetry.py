r"""One symmetry of a program: a signed permutation of pinned vectors and of maps, its text, its action, its check.

The flow commutes with it if the rule of training, the set of read paths, the Gram matrices and the loss stay as they
are: the closure is made of nothing else. Only mini-batches and turned forces are more than the loss; there every
equation is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from ..exact.zero import zero_test
from ..expr import graph
from ..expr.graph import Node, sym
from ..model.paths import Letter, Path
from ..program.spaces import ONE_AXIS
from .loss_graph import LossGraph

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from ..program.reading import Pin

Image = tuple[str, int, int]  # set of pinned vectors, number in it, sign
_SIGN = {1: "", -1: "-"}


@dataclass(frozen=True)
class ProgramSymmetry:
    """Where each pinned vector goes (set, number, sign), by set, and where each map goes (name, sign).

    What is not listed stays.

    Parameters
    ----------
    pins : tuple[tuple[str, tuple[Image, ...]], ...], optional
        By set of pinned vectors, where each goes: set, number, sign.
    maps : tuple[tuple[str, tuple[str, int]], ...], optional
        By map, where it goes: name, sign.

    Examples
    --------
    >>> from odesys import Data, ProgramSymmetry, Words, gradient_flow, maps, squared
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1), ("b", 1)]), squared)
    >>> swap = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, 1))),))  # exchange the two words
    >>> swap.describe(flow), flow.quotient([swap]).system.names
    ('a -> b, b -> a', ('w_a',))
    """

    pins: tuple[tuple[str, tuple[Image, ...]], ...] = ()
    maps: tuple[tuple[str, tuple[str, int]], ...] = ()

    def describe(self, flow: Flow) -> str:
        """Readable text, e.g. ``c1 -> c2, v1 -> -v1, maps .p <-> .m``."""
        known = flow.naming.pins
        parts = []
        for name, images in self.pins:
            for i, (other, j, s) in enumerate(images):
                if (other, j, s) != (name, i, 1):
                    own, image = _called(known[name], i), _called(known[other], j)
                    parts.append(f"{own} -> {_SIGN[s]}{image}")
        heads, single = _heads(dict(self.maps))
        parts += [
            f"maps .{a} <-> .{b}" if (b, a) in heads else f"maps .{a} -> .{b}"
            for a, b in heads
            if a < b or (b, a) not in heads
        ]
        parts += [f"{name} -> {_SIGN[s]}{image}" for name, (image, s) in single]
        return ", ".join(parts) or "identity"

    def on_states(self, flow: Flow) -> tuple[np.ndarray, np.ndarray]:
        """The action on state vectors: state s goes to `target[s]` with factor `sign[s]`."""
        return self.on_paths(flow, flow.closure.paths)

    def on_paths(self, flow: Flow, paths: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
        """The action on the states of some paths; all others are said to stay."""
        size = len(flow.layout.names)
        target, sign = np.arange(size), np.ones(size, dtype=int)
        pins = {name: self._pin(flow, name) for name in flow.naming.pins}
        for path in paths:
            image, factor = self.path(path)
            stored, turned = flow.closure.canonical(image)
            index = flow.segment(stored).index
            (li, ls), (ri, rs) = pins[path.left], pins[path.right]
            source = flow.segment(path).index
            target[source] = (index.T if turned else index)[np.ix_(li, ri)]
            sign[source] = factor * np.outer(ls, rs)
        return target, sign

    def path(self, path: Path) -> tuple[Path, int]:
        """The image of a path, and the product of the signs of its maps."""
        images, ends, sign, letters = dict(self.maps), dict(self.pins), 1, []
        for letter in path.letters:
            name, s = images.get(letter.map, (letter.map, 1))
            stem, _, head = name.partition(".")
            letters.append(Letter(stem, letter.transposed, head))
            sign *= s
        left, right = (ends[pin][0][0] if pin in ends else pin for pin in (path.left, path.right))
        return Path(left, tuple(letters), right), sign

    def after(self, other: ProgramSymmetry) -> ProgramSymmetry:
        """First `other`, then this one; both list everything."""
        own, images = dict(self.pins), dict(self.maps)
        pins, maps = [], []
        for name, vectors in other.pins:
            goals = [(own[pin][j], s) for pin, j, s in vectors]
            pins.append((name, tuple((pin, j, t * s) for (pin, j, t), s in goals)))
        for name, (image, s) in other.maps:
            maps.append((name, (images[image][0], images[image][1] * s)))
        return ProgramSymmetry(tuple(pins), tuple(maps))

    def _pin(self, flow: Flow, name: str) -> tuple[np.ndarray, np.ndarray]:
        images = dict(self.pins).get(name)
        if images is None:
            size = flow.naming.pins[name].size
            return np.arange(size), np.ones(size, dtype=int)
        return np.array([j for _, j, _ in images]), np.array([s for _, _, s in images])


def _called(pin: Pin, index: int) -> str:
    return pin.labels[index] or ("value" if pin.side == ONE_AXIS else pin.name)


def _heads(maps: Mapping[str, tuple[str, int]]) -> tuple[list[tuple[str, str]], list[tuple[str, tuple[str, int]]]]:
    """Heads that go to heads as a whole, and the maps that do something else."""
    of: dict[str, set[str]] = {}
    for name, (image, _) in maps.items():
        (stem, _, head), (other, _, goal) = name.partition("."), image.partition(".")
        of.setdefault(head, set()).add(goal if stem == other and head and goal else "")
    whole = {head: goals.copy().pop() for head, goals in of.items() if len(goals) == 1 and "" not in goals}
    moved = [(head, goal) for head, goal in whole.items() if head != goal]
    single = []
    for name, (image, sign) in maps.items():
        head = name.partition(".")[2]
        if sign < 0 or (image != name and head not in whole):
            single.append((name, (image, sign)))
    return moved, single


def is_program_symmetry(flow: Flow, element: ProgramSymmetry, check: LossCheck | None = None) -> bool:
    """Exact check that an element keeps rule, read paths, Gram matrices and loss; `check` is used again for many."""
    structure = _is_permutation(flow, element) and _keeps_rule(flow, element) and _keeps_grams(flow, element)
    if not (structure and keeps_paths(flow, element) and (check or LossCheck(flow)).holds(element)):
        return False
    return (flow.batch is None and flow.rule.turn is None) or _commutes(flow, element)


def _commutes(flow: Flow, element: ProgramSymmetry) -> bool:
    """Equation by equation: mini-batches see single samples, and what turns the forces may see anything."""
    from .state_symmetry import StateSymmetry, check_symmetry

    target, sign = element.on_states(flow)
    moved = StateSymmetry(flow.system.names, tuple(map(int, target)), tuple(map(int, sign)))
    return check_symmetry(flow.system, moved)[0] == "zero"


def _is_permutation(flow: Flow, element: ProgramSymmetry) -> bool:
    """Sets go to sets of their size, vectors to vectors, maps to maps, each one reached once."""
    pins = flow.naming.pins
    vectors = [(name, i) for name, images in element.pins for i in range(len(images))]
    goals = [(other, j) for _, images in element.pins for other, j, _ in images]
    alone = all(len({other for other, _, _ in images}) == 1 for _, images in element.pins)
    whole = all(name in pins and len(images) == pins[name].size for name, images in element.pins)
    names, images = [name for name, _ in element.maps], [image for _, (image, _) in element.maps]
    signs = [s for _, own in element.pins for *_, s in own] + [s for _, (_, s) in element.maps]
    return (
        alone
        and whole
        and len(set(vectors)) == len(vectors)
        and Counter(vectors) == Counter(goals)
        and len(set(names)) == len(names)
        and set(names) <= set(flow.naming.letters)
        and Counter(names) == Counter(images)
        and set(signs) <= {1, -1}
    )


def _keeps_rule(flow: Flow, element: ProgramSymmetry) -> bool:
    images = dict(element.maps)
    for name in flow.naming.letters:
        goal, sign = images.get(name, (name, 1))
        own, other = flow.rule.motion(name), flow.rule.motion(goal)
        if (name in flow.rule.moving) != (goal in flow.rule.moving) or own.force is not other.force:
            return False
        forced, pull = images.get(own.on or name, (own.on or name, 1))
        if own.force is not graph.ZERO and (forced, pull) != (other.on or goal, sign):
            return False
        moved = {}
        for source, factor in own.maps.items():
            to, s = images.get(source, (source, 1))
            moved[to] = factor * (s * sign)
        if moved != dict(other.maps):
            return False
    return True


def _keeps_grams(flow: Flow, element: ProgramSymmetry) -> bool:
    for name, images in element.pins:
        own, goal = flow.naming.pins[name].gram, images[0][0]
        other = own if goal == name else flow.naming.pins[goal].gram
        if own is None and other is None:
            continue
        if own is None or other is None:
            return False
        still = {i for i, image in enumerate(images) if image == (name, i, 1)}
        for i, (_, gi, si) in enumerate(images):
            for j, (_, gj, sj) in enumerate(images):
                if i in still and j in still:
                    continue
                if other[gi, gj] is not (own[i, j] if si == sj else -own[i, j]):
                    return False
    return True


def keeps_paths(flow: Flow, element: ProgramSymmetry) -> bool:
    """True if every path goes to a path of the flow."""
    for paths in (flow.closure.read, flow.closure.paths):
        known = {*paths, *(path.T for path in paths)}
        if any(element.path(path)[0] not in known for path in paths):
            return False
    return True


class LossCheck:
    """Whether elements leave the loss alone; only what lies above a scalar that is moved is written anew."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.nodes = graph.topological([flow.loss])
        place = {node: k for k, node in enumerate(self.nodes)}
        self.above: list[list[int]] = [[] for _ in self.nodes]
        for k, node in enumerate(self.nodes):
            for child in graph.children(node):
                self.above[place[child]].append(k)
        states = {name: s for s, name in enumerate(flow.layout.names)}
        self.leaves = {states[n.args[0]]: k for k, n in enumerate(self.nodes) if n.op == "sym" and n.args[0] in states}
        self.used = np.array(sorted(self.leaves), dtype=int)
        self.shapes = LossGraph(flow.layout.names)  # of all that was met so far

    def holds(self, element: ProgramSymmetry) -> bool:
        """True if the loss with its scalars moved is proved to be the same."""
        moved, loss = self._moved(element), self.flow.loss
        if moved is loss:
            return True
        shapes = self.shapes
        return shapes.scalar(moved) == shapes.scalar(loss) or zero_test(moved - loss).answer == "zero"

    def _moved(self, element: ProgramSymmetry) -> Node:
        names, (target, sign) = self.flow.layout.names, element.on_paths(self.flow, self.flow.closure.read)
        new: dict[Node, Node] = {}
        waiting: list[int] = []
        for s in self.used[(target[self.used] != self.used) | (sign[self.used] < 0)]:
            new[sym(names[s])] = sym(names[target[s]]) * int(sign[s])
            waiting += self.above[self.leaves[int(s)]]
        return self._rebuilt(new, waiting)

    def _rebuilt(self, new: dict[Node, Node], waiting: list[int]) -> Node:
        heapify(waiting)  # parts come before what they are part of
        last = -1
        while waiting:
            k = heappop(waiting)
            if k == last:
                continue
            last, node = k, self.nodes[k]
            image = graph.rebuild(node, lambda child: new.get(child, child))
            if image is not node:
                new[node] = image
                for above in self.above[k]:
                    heappush(waiting, above)
        return new.get(self.flow.loss, self.flow.loss)
