"""Switching surfaces along a run: how wide their zero is, the mode to go on with there, and a count of the work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from numerics.flows.patterns import PatternTable
from odesys.analysis.switching import Switching
from odesys.errors import IntegrationError
from odesys.jit.codegen import Compiled

from .modes import EDGE, Mode, Solution, modes, settle, undetermined, with_copies
from .semantics import STATE_ROUNDING, TIME_ROUNDING

OPEN_FIELD = 1e-6  # relative change of the field with gates the sliding condition leaves open
STATES_REMEMBERED = 256  # so that each is counted once; a state met again later counts again


@dataclass
class WorkMeter:
    """Work done: calls of the field, and states at which the field or any surface was computed, each state once."""

    fields: int = 0
    states: int = 0

    def __post_init__(self) -> None:
        self._recent: dict[tuple[float, bytes], None] = {}

    def visit(self, t: float, x: np.ndarray) -> None:
        """Count a state unless it is one of the last ones."""
        key = (float(t), x.tobytes())
        if key not in self._recent:
            self._recent[key] = None
            self.states += 1
            if len(self._recent) > STATES_REMEMBERED:
                del self._recent[next(iter(self._recent))]


@dataclass(frozen=True)
class ModeChoice:
    """The mode to go on with, which surfaces are at zero there, and how wide their zero is."""

    mode: Mode
    zero: np.ndarray
    width: np.ndarray


@cache
def rounding_signs(n: int) -> np.ndarray:
    """Directions in which a state is moved to see what rounding does: three rows of signs."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(3, n))
    signs.flags.writeable = False
    return signs


class Surfaces(Switching):
    """The surfaces of a compiled system along one run: work is counted, and modes are chosen where they are zero."""

    def __init__(self, compiled: Compiled, parameters: Mapping[str, float], tolerances: Mapping[str, Any]) -> None:
        super().__init__(compiled, parameters)
        self.meter, self.tolerances = WorkMeter(), tolerances
        self._signs = rounding_signs(compiled.system.dimension)

    def field(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """The field of an activation pattern, counted."""
        self.meter.fields += 1
        self.meter.visit(t, x)
        return super().field(t, x, gates)

    def values(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """All surfaces at one point; the state is counted."""
        if self.count:
            self.meter.visit(t, x)
        return super().values(t, x, gates)

    def start_mode(self, t: float, x: np.ndarray) -> Mode:
        """Gates that follow the signs of the surfaces, nothing slides."""
        self.meter.visit(t, x)
        first = self.compiled.surfaces(t, x)
        if np.isnan(first).any():
            name = self.names[int(np.isnan(first).argmax())]
            raise IntegrationError(f"the surface {name} has no value at the start, t = {t:g}", time=t, state=x)
        return Mode(np.where(first > 0, 1.0, 0.0), np.empty(0, dtype=int))

    def choose(
        self,
        t: float,
        x: np.ndarray,
        mode: Mode,
        step: float = 0.0,
        crossed: Sequence[int] = (),
        refused: Collection[tuple[int, ...]] = (),
        piling: bool = False,
    ) -> ModeChoice:
        """The mode to go on with from (t, x), where the surfaces `crossed` have reached zero.

        Where switches pile up, a corner that the tolerance of a step could move the state to is reached, if the flow
        can stay there.

        Surfaces along which the flow slides, and those within rounding of zero, are at zero as well; the gates of all
        others follow their sign.
        """
        there = np.zeros(self.count, dtype=bool)
        there[[*crossed, *mode.sliding]] = True
        width = np.zeros(self.count)
        for _ in range(8):  # a surface that contains other gates may jump with them
            h = self.values(t, x, mode.gates)
            width = np.maximum(width, self.width(t, x, mode.gates, step))  # a slide in a corner does not move at all
            width = np.where(there, np.maximum(width, np.abs(h)), width)  # what is left of those is rounding
            zero = there | (self.movable & (np.abs(h) <= width))
            corner = self._corner(t, x, mode, h, zero) if piling else None
            if corner is not None and corner.key not in refused:
                at = np.isin(np.arange(self.count), corner.sliding)
                return ModeChoice(corner, at, np.where(at, np.maximum(width, np.abs(h)), width))
            gates = np.where(zero, mode.gates, np.where(h > 0, 1.0, 0.0))
            try:
                new = self._mode(t, x, Mode(gates, mode.sliding, mode.affine), np.flatnonzero(zero), refused)
            except (
                IntegrationError
            ):  # a spiral has come so close to a corner that only the tolerance tells it is not there
                near = self._within_tolerance(t, x, mode, h) & ~zero
                if not near.any():
                    raise
                zero |= near
                width = np.where(near, np.maximum(width, np.abs(h)), width)
                new = self._mode(t, x, Mode(gates, mode.sliding, mode.affine), np.flatnonzero(zero), refused)
            if new.sliding.size:
                new = self._join_copies(t, x, new, h, zero)
            if new.key == mode.key:
                return ModeChoice(new, zero, width)
            mode = new
        return ModeChoice(mode, zero, width)

    def slide_along(self, t: float, x: np.ndarray, mode: Mode, i: int, zero: np.ndarray) -> Mode | None:
        """The mode that slides along surface i as well, if there is one; the surfaces `zero` are there too."""
        which = np.union1d(zero, [*mode.sliding, i])
        table = PatternTable(self, t, x, mode.gates, which)
        found = settle(table, np.where(which == i, 0.5, mode.gates[which]), np.isin(which, [*mode.sliding, i]))
        if found is None or not found.slides[which == i].all():
            return None
        return self._as_mode(mode.gates, which, table, found)

    def _mode(
        self, t: float, x: np.ndarray, mode: Mode, zero: np.ndarray, refused: Collection[tuple[int, ...]]
    ) -> Mode:
        if not zero.size:
            return mode
        g = mode.gates[zero]
        slides = np.isin(zero, mode.sliding) & (g > EDGE) & (g < 1 - EDGE)  # others are being released
        table = PatternTable(self, t, x, mode.gates, zero)
        for found in modes(table, np.where(slides, g, np.round(g)), slides):
            new = self._as_mode(mode.gates, zero, table, found)
            if new.key not in refused:
                return new
        names = ", ".join(self.names[i] for i in zero)
        raise IntegrationError(
            f"at t = {t:.9g} no choice of gates lets the flow go on from {names} = 0: the field may not be defined on "
            f"one of the sides",
            time=t,
            state=x,
            surfaces=zero.tolist(),
        )

    def _join_copies(self, t: float, x: np.ndarray, mode: Mode, h: np.ndarray, zero: np.ndarray) -> Mode:
        """Let surfaces slide along that are copies of those that do, and zero within the tolerance of the run."""
        near = self._within_tolerance(t, x, mode, h) & ~zero
        if not near.any():
            return mode
        which = np.union1d(mode.sliding, np.flatnonzero(near))
        table = PatternTable(self, t, x, mode.gates, which)
        found = self._as_mode(mode.gates, which, table, Solution(mode.gates[which], np.isin(which, mode.sliding)))
        zero[found.sliding] = True
        return found if found.sliding.size > mode.sliding.size else mode

    def _corner(self, t: float, x: np.ndarray, mode: Mode, h: np.ndarray, zero: np.ndarray) -> Mode | None:
        """The mode that slides along all surfaces within the tolerance, if there are several and the flow can."""
        which = np.flatnonzero(zero | self._within_tolerance(t, x, mode, h))
        if which.size < 2:
            return None
        table = PatternTable(self, t, x, mode.gates, which)
        found = settle(table, np.full(which.size, 0.5), np.ones(which.size, dtype=bool))
        if found is None or not found.slides.all():
            return None
        return self._as_mode(mode.gates, which, table, found)

    def _within_tolerance(self, t: float, x: np.ndarray, mode: Mode, h: np.ndarray) -> np.ndarray:
        """Which surfaces the error of a step could move to zero."""
        ends = [self.values(t, x + self.tolerance(x) * s, mode.gates) for s in self._signs]
        near: np.ndarray = self.movable & (np.abs(h) <= np.abs(np.array(ends) - h).max(axis=0))
        return near

    def _as_mode(self, gates: np.ndarray, which: np.ndarray, table: PatternTable, found: Solution) -> Mode:
        found, gates = with_copies(table, found), gates.copy()
        gates[which] = np.clip(found.g, 0, 1)
        if not found.slides.any():
            return Mode(gates, which[found.slides])
        changes = undetermined(table, found)
        loose = self.compiled.system.names[int(changes.argmax())] if changes.max() > OPEN_FIELD else ""
        return Mode(gates, which[found.slides], table.affine, loose)

    def tolerance(self, x: np.ndarray) -> np.ndarray:
        """The error that a step may make in each state: shape (n,)."""
        result: np.ndarray = self.tolerances["atol"] + self.tolerances["rtol"] * np.abs(x)
        return result

    def width(self, t: float, x: np.ndarray, gates: np.ndarray, step: float) -> np.ndarray:
        """How far from zero rounding can leave each surface: it moves with the last digits of state and time."""
        if not self.count:
            return np.zeros(0)
        return self.moved_by_rounding(lambda t, x: self.values(t, x, gates), t, x, gates, step)

    def moved_by_rounding(
        self,
        read: Callable[[float, np.ndarray], np.ndarray],
        t: float,
        x: np.ndarray,
        gates: np.ndarray,
        step: float,
        room: Any = 0.0,
    ) -> np.ndarray:
        """How far from zero rounding, and states moved by `room`, can leave values that are read at (t, x)."""
        late, moved = TIME_ROUNDING * max(abs(t), step), STATE_ROUNDING * x + room
        here, drift = read(t, x), late * self.field(t, x, gates)
        ends = [read(t + late, x + drift + moved * s) for s in self._signs]
        result: np.ndarray = 4 * np.abs(np.array(ends) - here).max(axis=0)
        return result
