"""Groups of symmetries of a flow, and a symmetry written down by names of words, heads and maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ..errors import SymmetryError
from ..model.paths import WORDS
from .program_symmetry import ProgramSymmetry

if TYPE_CHECKING:
    from ..derive.flow import Flow


class Element(Protocol):
    """A symmetry of a flow: its text, and how it acts on states."""

    def describe(self, flow: Any) -> str: ...

    def on_states(self, flow: Any) -> tuple[np.ndarray, np.ndarray]: ...


E = TypeVar("E", bound=Element)


@dataclass(frozen=True, repr=False)
class SymmetryGroup(Generic[E]):
    """Generators of the group, and its exact order; `unsearched` says in words where more could be."""

    generators: tuple[E, ...]
    order: int
    unsearched: str = ""

    def __repr__(self) -> str:
        return f"<SymmetryGroup: order {self.order}, {len(self.generators)} generators>"

    def describe(self, flow: Any) -> list[str]:
        """One line per generator."""
        return [g.describe(flow) for g in self.generators]


def symmetry(
    flow: Flow, words: Mapping[str, str], heads: Mapping[str, str] | None = None, maps: Mapping[str, str] | None = None
) -> ProgramSymmetry:
    """A signed permutation by names: what is not named stays where it is. `flow.quotient` checks it exactly.

    Parameters
    ----------
    flow : Flow
        The derived flow.
    words : Mapping[str, str]
        Where words go, e.g. ``{"c1": "c2", "c2": "c1", "v1": "-v1"}``.
    heads : Mapping[str, str], optional
        Where heads go with all their maps, e.g. ``{"p": "m", "m": "p"}``.
    maps : Mapping[str, str], optional
        Where single maps go, e.g. ``{"w": "-w"}``.

    Returns
    -------
    ProgramSymmetry
        For ``flow.quotient([...])``.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, logistic, maps, symmetry
    >>> words = Words("good bad")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [("good", +1), ("bad", -1)]), logistic)
    >>> flow.quotient([symmetry(flow, {"good": "-bad", "bad": "-good"})]).system.names
    ('w_good',)
    """
    pin = flow.naming.pins[WORDS]
    images = []
    for word in pin.labels:
        place, sign = flow.data.words.pinned.parse(words.get(word, word))
        images.append((WORDS, place, sign))
    _known(words, pin.labels, "word")
    letters = flow.naming.letters
    _known(maps or {}, letters, "map")
    _known(heads or {}, {name.partition(".")[2] for name in letters}, "head")
    goals = {}
    for name in letters:
        stem, dot, head = name.partition(".")
        goal = (maps or {}).get(name, stem + dot + (heads or {}).get(head, head))
        goals[name] = (goal.removeprefix("-"), -1 if goal.startswith("-") else 1)
    return ProgramSymmetry(((WORDS, tuple(images)),), tuple(goals.items()))


def _known(given: Mapping[str, str], names: Any, what: str) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise SymmetryError(f"there is no {what} {unknown[0]!r}; there are {', '.join(sorted(names))}")


def checked_state(given: Any, size: int) -> tuple[np.ndarray, float]:
    """A state as a vector of floats, and the resolution at which its values are told apart."""
    try:
        state = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise SymmetryError("the state is not a vector of numbers") from None
    if state.shape != (size,):
        raise SymmetryError(f"the state has shape {state.shape}; this flow has {size} states")
    if not np.isfinite(state).all():
        raise SymmetryError("the state has an entry that is not finite")
    return state, 1e-11 * max(1e-300, float(np.abs(state).max()))
