r"""Clearance of a slide: how near the flow comes to another switching surface while it slides, without crossing it.

Steps of a finite size do not slide. Around a slide they go to and fro, moved by the fields :math:`F_\sigma` of its
sides, the patterns :math:`\sigma` of the gates that slide; one step of rate :math:`\eta` changes another surface by
:math:`\eta\,(\partial_t h_j + \nabla h_j \cdot F_\sigma)` to first order. So the other gate can turn, and with it the
branch of the flow, from the rate

.. math::  \eta_j = \frac{|h_j|}{\max_\sigma |\partial_t h_j + \nabla h_j \cdot F_\sigma|}

on, whatever units states and surfaces have. That is the criterion: a slide is close to another surface for steps of
rate :math:`\eta` if :math:`\eta_j \le \eta`. It says that steps may leave the branch, not that they do: run them.

Only points at which :math:`|h_j|` is least count: a surface that the run crosses, or slides along as well, is one of
its events there. Everything is read off the trajectory, so compiled and reference runs have it alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from odesys.analysis.switching import Switching

from .patterns import PatternTable
from .semantics import ONE_MOMENT, STEP_PARTS
from .trajectory import SlideInterval, StagedTrajectory, Trajectory


@dataclass(frozen=True)
class Clearance:
    """The point of a slide from which steps reach another surface most easily.

    surface, name : the other surface.
    time, value : when, and how far from zero the other surface is there, in its own units.
    distance, relative : the same in the units of the state, |h| / |grad h|, and that as part of |x|.
    rate : the smallest rate of descent at which one step can cross it, to first order.
    """

    slide: SlideInterval
    surface: int
    name: str
    time: float
    value: float
    distance: float
    relative: float
    rate: float

    def warning(self, rate: float) -> str:
        """What a reader of a run should know if steps of this rate can cross the other surface; else empty."""
        if self.rate > rate:
            return ""
        return (
            f"the slide along {self.slide.name} comes within {self.value:.2g} of the surface {self.name}, at t = "
            f"{self.time:.4g}; a step of rate {self.rate:.2g} can cross it: discrete steps or finite width may leave "
            f"this branch"
        )

    def as_json(self) -> dict[str, Any]:
        """All but the slide, by name."""
        names = ("name", "time", "value", "distance", "relative", "rate")
        return {name: getattr(self, name) for name in names}


def clearances(run: Trajectory) -> tuple[Clearance, ...]:
    """The clearance of each slide of a run that has another surface to miss, in the order of the slides.

    Parameters
    ----------
    run : Trajectory
        A run that may have slid along switching surfaces.

    Returns
    -------
    tuple[Clearance, ...]
        For each slide the surface it comes closest to, how close, and when.

    Examples
    --------
    >>> import sympy as sp
    >>> from odesys import System, integrate
    >>> x, y = sp.symbols("x y")
    >>> kinks = System.from_equations({x: 1 - 2 * sp.Heaviside(x), y: 1 - 2 * sp.Heaviside(x) + sp.Heaviside(y)})
    >>> (near,) = clearances(integrate(kinks, [1, 1.5], (0, 2)))
    >>> near.name, round(near.time, 9), round(near.value, 9), round(near.rate, 9)
    ('y', 1.0, 1.5, 0.75)
    """
    if isinstance(run, StagedTrajectory):
        return tuple(found for part in run.parts.values() for found in clearances(part))
    if not run.slides or run.solution is None:
        return ()
    parts = _Surroundings(run)
    near = [[c for c in parts.misses(slide) if np.isfinite(c.rate)] for slide in run.slides]
    return tuple(min(found, key=lambda c: c.rate) for found in near if found)


class _Surroundings:
    """The other surfaces along the slides of one run."""

    def __init__(self, run: Trajectory) -> None:
        self.run = run
        self.compiled = run.system.compile(run.parameters)
        self.switching = Switching(self.compiled)

    def misses(self, slide: SlideInterval) -> list[Clearance]:
        """All points of a slide at which another surface is nearest and not reached."""
        times = self._times(slide)
        values = np.array([self.compiled.surfaces(t, x) for t, x in zip(times, self.run.at(times), strict=True)])
        return [
            self._clearance(slide, int(i), t)
            for i in np.flatnonzero(self.switching.movable)
            for t in self._lowest(int(i), times, values[:, i])
        ]

    def _times(self, slide: SlideInterval) -> np.ndarray:
        """The steps of a slide, each in parts, as events are looked for."""
        assert self.run.solution is not None
        knots = self.run.solution.ts
        inside = knots[(knots > slide.start) & (knots < slide.end)]
        knots = np.unique([slide.start, *inside, slide.end])
        parts = knots[:-1, None] + np.diff(knots)[:, None] * np.arange(STEP_PARTS) / STEP_PARTS
        return np.unique(np.append(parts, knots))

    def _lowest(self, i: int, times: np.ndarray, values: np.ndarray) -> list[float]:
        """Times of the local minima of |h_i|, by dense output; those that are events, or starts on it, are left out."""

        def size(t: float) -> float:
            return float(abs(self.compiled.surfaces(t, self.run.at(t))[i]))

        padded = np.concatenate([[np.inf], np.abs(values), [np.inf]])
        found = []
        for k in np.flatnonzero((padded[1:-1] <= padded[:-2]) & (padded[1:-1] < padded[2:])).tolist():
            low, high = times[max(k - 1, 0)], times[min(k + 1, times.size - 1)]
            if values[k] == 0 or self._happens(i, low, high):
                continue
            inner = minimize_scalar(
                size, bounds=(low, high), method="bounded", options={"xatol": ONE_MOMENT * abs(high)}
            )
            found.append(float(inner.x) if inner.fun < abs(values[k]) else float(times[k]))
        return found

    def _happens(self, i: int, start: float, end: float) -> bool:
        """True if surface i is crossed, or slid along, in these parts of a step."""
        own = [e for e in self.run.events if e.detail.get("surface") == i]
        return any(e.time <= end and e.detail.get("end", e.time) >= start for e in own)

    def _clearance(self, slide: SlideInterval, i: int, t: float) -> Clearance:
        x = self.run.at(t)
        h = self.compiled.surfaces(t, x)
        gates, size = np.where(h > 0, 1.0, 0.0), float(np.linalg.norm(x))
        directions = np.vstack([np.zeros(x.size), np.eye(x.size)])
        slopes = self.switching.rates(t, x, gates, np.array([i]), directions)[0][:, 0]
        steep, fastest = float(np.linalg.norm(slopes[1:] - slopes[0])), self._fastest(i, t, x, gates)
        value = float(abs(h[i]))
        distance = value / steep if steep > 0 else np.inf
        relative, rate = distance / size if size > 0 else np.inf, value / fastest if fastest > 0 else np.inf
        return Clearance(slide, i, self.switching.names[i], t, value, distance, relative, rate)

    def _fastest(self, i: int, t: float, x: np.ndarray, gates: np.ndarray) -> float:
        """The largest rate of surface i under the fields on the sides of the surfaces that slide at this time."""
        which = np.unique([s.surface for s in self.run.slides if s.start <= t <= s.end])
        table = PatternTable(self.switching, t, x, gates, which)
        corners = np.eye(which.size).tolist() if table.affine else list(product((0.0, 1.0), repeat=which.size))
        fields = np.array([table.corner(corner) for corner in ([0.0] * which.size, *corners)])
        rates = self.switching.rates(t, x, gates, np.array([i]), fields)[0][:, 0]
        if not table.affine:
            return float(np.abs(rates).max())
        changes = rates[1:] - rates[0]  # the sum of those that raise it, and of those that lower it
        return float(max(abs(rates[0] + np.maximum(changes, 0).sum()), abs(rates[0] + np.minimum(changes, 0).sum())))
