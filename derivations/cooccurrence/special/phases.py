r"""Definitions E.2 and F.1, and T_0.5, T_cls, T_1; here because the phases are sets of bounds, not single events.

The paper gives orders; the numbers that make them checkable are arguments with defaults, and every item reports the
ratio of what is there to what is allowed, so that other constants can be read off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .trajectories import Course

IRRELEVANT = slice(3, None)


@dataclass(frozen=True, eq=False)
class Predicate:
    """Items by name, each as used / allowed along the times of a course; an item holds where it is at most one."""

    taus: np.ndarray
    ratios: Mapping[str, np.ndarray]

    def holds(self, since: float = 0.0, without: tuple[str, ...] = ()) -> bool:
        """True if every item but those named holds at all times from `since` on."""
        later = self.taus >= since
        return all((ratio[later] <= 1).all() for name, ratio in self.ratios.items() if name not in without)

    def first_failure(self, since: float = 0.0) -> dict[str, float]:
        """The first time from `since` on at which each item fails, for those that do."""
        found = {}
        for name, ratio in self.ratios.items():
            bad = self.taus[(ratio > 1) & (self.taus >= since)]
            if bad.size:
                found[name] = float(bad[0])
        return found

    def at_end(self) -> dict[str, float]:
        """The ratios at the last time."""
        return {name: float(ratio[-1]) for name, ratio in self.ratios.items()}


@dataclass(frozen=True)
class PhaseOne:
    """Constants of Definition E.2: how large the changes of its four items may be."""

    neurons: float = 2.0  # R = C / m1 for mu1, mu2, mu3
    irrelevant: float = 4.0  # times R (1/n + 1/sqrt(m)) for the other words
    scores: float = 1.0  # times m^(-3/2)
    keys: float = 1.0  # times sigma_0^2 sqrt(m)


def phase_one(course: Course, constants: PhaseOne | None = None) -> Predicate:
    """Definition E.2 along a level-0 course: changes of neurons, scores, keys and queries within their radii."""
    c, s = constants or PhaseOne(), course.scale
    assert course.signs is not None, "Definition E.2 speaks of single neurons: use a level-0 course"
    change = np.abs(course.tables["WV"] - course.tables["WV"][0])
    radius = c.neurons / s.m1
    keys = c.keys * s.sigma0**2 * np.sqrt(s.m)
    return Predicate(
        course.taus,
        {
            "neurons": change[:, :, :3].max(axis=(1, 2)) / radius,
            "irrelevant": change[:, :, IRRELEVANT].max(axis=(1, 2))
            / (c.irrelevant * radius * (1 / course.n + s.m**-0.5)),
            "scores": course.moved("KQ") / (c.scores * s.m**-1.5),
            "keys": course.moved("KK") / keys,
            "queries": course.moved("QQ") / keys,
        },
    )


@dataclass(frozen=True)
class PhaseTwo:
    """Constants of Definition F.1, item by item."""

    keys: float = 1.0  # (a) times sigma_0^2 sqrt(m)
    attention: float = 1.0  # (b) times 1 / L^2
    beta: float = 2.0  # (c) times sigma_1^2 m m1
    inner: float = 0.1  # (d) times 1 / L
    softmax: float = 0.1  # (e)
    margin: float = 0.1  # (h)
    signals: float = 3.0  # (i) times log m
    irrelevant: float = 5.0  # (j)


def phase_two(course: Course, constants: PhaseTwo | None = None) -> Predicate:
    """Definition F.1 along a level-1 course, items (a) .. (j) in the paper's order."""
    c, s = constants or PhaseTwo(), course.scale
    keys, mean_g = c.keys * s.sigma0**2 * np.sqrt(s.m), course.g.mean(axis=1)
    S, xi = course.S, course.forces[0]
    inner = np.abs(s.m1 * np.einsum("kab,kb->ka", course.tables["VV"], xi)).max(axis=1)
    G = course.G[:, course.tokens]
    softmax = np.abs(np.einsum("knlh,knh->kn", course.attention_rate, G)).max(axis=1) * s.B
    irrelevant = np.where(course.tokens >= 3, G, 0.0)
    part = np.abs(np.einsum("knlh,knh->kn", course.attention, irrelevant)).max(axis=1)
    low, high = np.minimum(S[2], S[3]), np.maximum(S[2], S[3])
    order = np.max([S[4] / low, high / S[1], S[1] / (S[2] + S[3] + S[4])], axis=0)
    return Predicate(
        course.taus,
        {
            "a keys": np.maximum(course.moved("KK"), course.moved("QQ")) / keys,
            "b attention": np.abs(course.attention - course.attention[0]).max(axis=(1, 2, 3))
            * course.L**2
            / c.attention,
            "c beta": course.beta / (c.beta * s.B),
            "d inner": inner / course.beta / mean_g * course.L / c.inner,
            "e softmax": softmax / course.beta / mean_g / c.softmax,
            "f order": order,
            "g balance": high / low / 2,
            "h margin": c.margin / np.maximum(course.margins.min(axis=1), 1e-300),
            "i signals": np.abs(course.G[:, :3]).max(axis=1) / (c.signals * np.log(s.m)),
            "j irrelevant": part / c.irrelevant,
        },
    )


@dataclass(frozen=True)
class Times:
    """When the phases of a course change, in units of tau; NaN for what did not happen by its end."""

    half: float  # T_0.5: from here on R is above 1 + C
    classified: float  # T_cls: from here on all samples are classified
    margin: float  # from here on the smallest margin is above a constant


def phase_times(course: Course, C: float = 0.2, margin: float = 0.1) -> Times:
    """T_0.5, T_cls and the time of a given smallest margin, to the resolution of the course's grid."""
    smallest = course.margins.min(axis=1)
    return Times(
        _from_then_on(course.taus, course.R() > 1 + C),
        _from_then_on(course.taus, smallest > 0),
        _from_then_on(course.taus, smallest > margin),
    )


def _from_then_on(taus: np.ndarray, good: np.ndarray) -> float:
    bad = np.flatnonzero(~good)
    first = 0 if not bad.size else bad[-1] + 1
    return float(taus[first]) if first < len(taus) else float("nan")
