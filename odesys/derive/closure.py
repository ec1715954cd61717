r"""Which paths the flow of a path needs: the closed set, or the first path that escapes.

Gradient flow of a weight that sits in a read path :math:`\phi = P W S` is :math:`\dot W = P^\top G_\phi S^\top`, so

.. math::  \frac{d}{dt}\,(Q W R) = (Q P^\top)\, G_\phi\, (S^\top R) + \dots

is made of paths between pinned vectors again. For a gradient step of size :math:`\eta` every letter is replaced by
:math:`W + \eta\,\dot W` and the product is multiplied out, which gives the exact higher-order terms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from ..errors import ClosureError
from ..expr.graph import ONE, ZERO, Node
from ..model.paths import Letter, Path
from ..shortening import shortened, some
from .motion import Rule, plain

Places = Mapping[str, Sequence[tuple[int, Path, int]]]  # map -> (number of the read path, path, place in it)
MANY = 4000  # terms


@dataclass(frozen=True)
class Force:
    """The matrix G = -dL/d(read path), possibly transposed."""

    read: int
    transposed: bool


@dataclass(frozen=True)
class Term:
    """A product of paths and forces with a factor; `moved` are the maps replaced, one per force."""

    factors: tuple[Path | Force, ...]
    moved: tuple[str, ...]
    coefficient: Node = ONE

    @property
    def order(self) -> int:
        """Number of forces, i.e. the power of the step size."""
        return len(self.moved)


@dataclass(frozen=True, repr=False)
class Closure:
    """A closed set of paths: the read ones first; `terms[path]` is its exact variation.

    A term of a step has the power `order` of the step size in front.
    """

    read: tuple[Path, ...]
    paths: tuple[Path, ...]
    terms: dict[Path, tuple[Term, ...]]
    trained: frozenset[str]
    exact_step: bool = False

    def __repr__(self) -> str:
        return shortened(f"<Closure of {some(map(str, self.read))}: {len(self.paths)} paths>")

    def canonical(self, path: Path) -> tuple[Path, bool]:
        """The stored orientation of a path, and whether it is the transpose of what was asked."""
        return (path, False) if path in self.terms else (path.T, True)


def close(
    read: Sequence[Path],
    trained: frozenset[str],
    exact_step: bool = False,
    limit: int | None = None,
    rule: Rule | None = None,
) -> Closure:
    """Collect all paths needed by the flow (or the exact gradient step) of the `read` paths.

    Parameters
    ----------
    read : the paths the loss depends on.
    trained : names of the maps that move.
    exact_step : close the map W -> W + eta dW instead of the flow.
    limit : longest path accepted, by default four times the longest read path. A longer one counts as an escape: the
        error then shows the chain of paths that led there, so that its growth can be read off.
    rule : how the maps move, by default along their forces; `trained` and `exact_step` must be its own.
    """
    if exact_step:  # a set that is closed under steps is closed under the flow, and first-order terms are few
        close(read, trained, limit=limit, rule=None if rule is None else Rule(rule.motions))
    rule = rule or plain(trained, exact_step)
    limit = limit if limit is not None else 4 * max(len(path.letters) for path in read)
    places = _places(read)
    variation = _all_orders if exact_step else _first_order
    terms: dict[Path, tuple[Term, ...]] = {}
    parent: dict[Path, Path | None] = {path: None for path in read}
    queue, work, unchecked = deque(read), 0, not exact_step
    while queue:
        if unchecked and work > MANY:  # a large closed set, or one that grows for ever? the longest paths tell soon
            unchecked = False
            _check_growth(read, trained, limit, places, rule)
        path = queue.popleft()
        if path in terms or path.T in terms:
            continue
        if len(path.letters) > limit:
            raise _escape(path, parent, read, trained)
        terms[path] = tuple(variation(path, places, rule))
        work += len(terms[path])
        for term in terms[path]:
            for factor in term.factors:
                if isinstance(factor, Path) and factor.letters and factor not in parent and factor.T not in parent:
                    parent[factor] = path
                    queue.append(factor)
    # read paths first, the rest by name: an order that does not depend on the search
    paths = tuple(read) + tuple(sorted((p for p in terms if p not in read), key=str))
    return Closure(tuple(read), paths, terms, trained, exact_step)


def _check_growth(
    read: Sequence[Path], trained: frozenset[str], limit: int, places: Places, rule: Rule, most: int = MANY
) -> None:
    """Follow the longest path first, by single moves, and raise if one escapes."""
    parent: dict[Path, Path | None] = {path: None for path in read}
    heap = [(-len(path.letters), number, path) for number, path in enumerate(read)]
    heapify(heap)
    for _ in range(most):
        if not heap:
            return
        _, _, path = heappop(heap)
        if len(path.letters) > limit:
            raise _escape(path, parent, read, trained)
        for term in _first_order(path, places, rule):
            for factor in term.factors:
                if isinstance(factor, Path) and factor.letters and factor not in parent and factor.T not in parent:
                    parent[factor] = path
                    heappush(heap, (-len(factor.letters), len(parent), factor))


def restricted(closure: Closure, rule: Rule) -> Closure:
    """The same paths under a rule that moves fewer maps."""
    places = _places(closure.read)
    variation = _all_orders if closure.exact_step else _first_order
    terms = {path: tuple(variation(path, places, rule)) for path in closure.terms}
    return replace(closure, terms=terms, trained=rule.moving)


def gradient_terms(closure: Closure, trained: frozenset[str]) -> dict[Path, tuple[Term, ...]]:
    """The plain first-order terms of the read paths: what each changes by along -dL/dW of all maps in `trained`."""
    places, rule = _places(closure.read), plain(trained, False)
    return {path: tuple(_first_order(path, places, rule)) for path in closure.read}


def _places(read: Sequence[Path]) -> Places:
    places: dict[str, list[tuple[int, Path, int]]] = {}
    for index, path in enumerate(read):
        for place, letter in enumerate(path.letters):
            places.setdefault(letter.map, []).append((index, path, place))
    return places


def _first_order(path: Path, places: Places, rule: Rule) -> Iterator[Term]:
    """The terms of `path` in which one letter moves."""
    for place, letter in enumerate(path.letters):
        motion = rule.motion(letter.map)
        for name, factor in motion.maps.items():
            letters = (*path.letters[:place], _letter(name, letter.transposed), *path.letters[place + 1 :])
            yield Term((Path(path.left, letters, path.right),), (letter.map,), factor)
        if motion.force is not ZERO:
            for before, force, after in _moves(letter, places, motion.on or letter.map):
                left = Path(path.left, path.letters[:place] + before.letters, before.right)
                right = Path(after.left, after.letters + path.letters[place + 1 :], path.right)
                yield Term((left, force, right), (letter.map,), motion.force)


def _letter(name: str, transposed: bool) -> Letter:
    stem, _, head = name.partition(".")
    return Letter(stem, transposed, head)


def _all_orders(path: Path, places: Places, rule: Rule) -> Iterator[Term]:
    """All terms of `path` after every map has moved, products of pieces: 2^length of them where every letter moves."""
    Partial = tuple[tuple[Path | Force, ...], str, tuple[Letter, ...], tuple[str, ...], Node]
    partial: list[Partial] = [((), path.left, (), (), ONE)]
    for letter in path.letters:
        motion, grown = rule.motion(letter.map), []
        for name, factor in motion.maps.items():
            other = _letter(name, letter.transposed)
            grown += [(done, start, (*open_, other), moved, c * factor) for done, start, open_, moved, c in partial]
        if motion.force is not ZERO:
            for done, start, open_, moved, c in partial:
                for before, force, after in _moves(letter, places, motion.on or letter.map):
                    closed = Path(start, open_ + before.letters, before.right)
                    grown.append(
                        ((*done, closed, force), after.left, after.letters, (*moved, letter.map), c * motion.force)
                    )
        partial = grown
    for done, start, open_, moved, c in partial:
        last = Path(start, open_, path.right)
        change = c - 1 if not done and last == path else c  # the path itself is where the step starts
        if change is not ZERO:
            yield Term((*done, last), moved, change)


def _moves(letter: Letter, places: Places, on: str) -> Iterator[tuple[Path, Force, Path]]:
    """The pieces of d(letter) = before . G . after, one for each place where the map `on` is read."""
    for index, path, place in places.get(on, ()):
        other = path.letters[place]
        head = Path(path.left, path.letters[:place], "")
        tail = Path("", path.letters[place + 1 :], path.right)
        if other.transposed == letter.transposed:  # P' G S'
            yield head.T, Force(index, False), tail.T
        else:  # (P' G S')' = S G' P
            yield tail, Force(index, True), head


def _escape(path: Path, parent: dict[Path, Path | None], read: Sequence[Path], trained: frozenset[str]) -> ClosureError:
    chain = [path]
    while parent[chain[-1]] is not None:
        chain.append(parent[chain[-1]])  # type: ignore[arg-type]
    chain.reverse()
    first = next((p for p in chain if len(p.letters) > max(len(r.letters) for r in read)), path)
    start = chain.index(first)
    needs = ", which needs ".join(map(str, chain[start : start + 3]))
    moving = sorted({letter.map for letter in chain[0].letters} & trained)
    message = (
        f"the flow of {chain[0]} does not close with {', '.join(moving)} all trained: it needs {needs}, and so on "
        f"(.path). Freeze the first or the last map, or list the axes between them, so that the weights are states: "
        f"Units instead of Space, and for a stream in the space of the words first maps('P', Units('d', n), words)."
    )
    return ClosureError(message, path=first, chain=tuple(chain))
