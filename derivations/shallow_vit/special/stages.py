r"""Stages of a class-level run, in units of s = eta t; here because the paper itself names no stages.

1. *gate sorting*: ends with the last time at which gates on queries of the own class (that of the sign of a_i) change
   at a rate of more than 1 percent per unit of s, the rate taken over half a unit;
2. *linear growth* of the neurons, values and logits still near their start: ends with :math:`\|v_1 - v_1(0)\| = 0.1`;
3. *joint growth* of W_O and W_V, and driven by them of the logits; ends with
4. the *hinge stop*: every training margin is reached, all gradients vanish, attention stays where it is.

Stopping variables: T_train, T_test (test loss below 1/1000) and T_att (mean relevant attention above a level); those
not reached are infinite. Stages overlap: in runs of finite width silent neurons come alive until late, so gates
are still being sorted while the others grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import setting
from ..setting import Case
from . import class_network, observables
from .class_network import Counts, Forces, State

SORTING, WINDOW = 0.01, 0.5  # gates changed per unit of s, and over how much of it that is measured
LINEAR = 0.1  # |v_1 - v_1(0)|
TESTED = 1e-3  # test loss of the paper's success


@dataclass
class Watch:
    """Recorder for `classes.train`: changes of gates, motion of the values, attention and test loss."""

    case: Case
    data: Counts
    p: np.ndarray
    first: np.ndarray  # the value of pattern 1 at the start
    fresh: Counts | None = None
    last: np.ndarray | None = field(default=None, repr=False)

    def __call__(self, state: State, made: Forces) -> dict[str, float]:
        own = np.sign(state.a)[None, None, :] == self.data.y[:, None, None]
        gates = (made.found.h > 0) & own
        count = own.sum() * self.data.counts.shape[1]
        changed = 0.0 if self.last is None else float((gates != self.last).sum() / count)
        self.last = gates
        out = {
            "changed": changed,
            "moved": float(np.linalg.norm(state.v[0] - self.first)),
            **observables.of_classes(state, made, self.data, self.p),
        }
        if self.fresh is not None:
            out["test_loss"] = class_network.forward(state, self.fresh).loss(self.case.margin)
        return out


@dataclass(frozen=True, eq=False)
class Stages:
    """Ends of the stages in s, and the run they were found in (its table has everything of `Watch`)."""

    sorting: float
    linear: float
    T_train: float
    T_test: float
    run: class_network.Run

    def T_att(self, level: float) -> float:
        """When the mean attention on label-relevant tokens first passes a level."""
        return _first(self.run, self.run.table["rel"] >= level)


def stages(case: Case, seed: Any = None, tests: int = 0, data: Counts | None = None) -> Stages:
    """Train and find the stages; with `tests` fresh samples the test loss is followed too."""
    samples = class_network.exact_data(case) if data is None else data
    chosen = case.seed if seed is None else seed
    fresh = None
    if tests:
        drawn = setting.draw_counts(case, np.random.default_rng([1, *_parts(chosen)]), tests + tests % 2)
        fresh = Counts(*drawn)
    begun, ideal = class_network.start(case, np.random.default_rng(chosen))
    watch = Watch(case, samples, ideal.p, begun.v[0], fresh)
    run = class_network.train(case, chosen, samples, observe=watch)
    width = max(1, round(WINDOW / case.eta))
    total = np.concatenate([np.zeros(width), np.cumsum(run.table["changed"])])
    busy = np.flatnonzero(total[width:] - total[:-width] > SORTING * WINDOW)
    sorting = case.eta * float(run.times[busy[-1]]) if busy.size else 0.0
    tested = _first(run, run.table["test_loss"] < TESTED) if tests else math.inf
    linear = _first(run, run.table["moved"] >= LINEAR)
    return Stages(sorting, linear, run.eta_T if run.fitted else math.inf, tested, run)


def events(found: Stages) -> list[dict[str, Any]]:
    """The stages that were reached, in the order of time."""
    ends = {
        "gates sorted": found.sorting,
        "linear growth": found.linear,
        "T_train": found.T_train,
        "T_test": found.T_test,
    }
    reached = sorted((time, name) for name, time in ends.items() if math.isfinite(time))
    return [{"name": name, "kind": "stage", "time": time} for time, name in reached]


def _first(run: class_network.Run, reached: Sequence[bool] | np.ndarray) -> float:
    places = np.flatnonzero(reached)
    return run.case.eta * float(run.times[places[0]]) if places.size else math.inf


def _parts(seed: Any) -> tuple[int, ...]:
    return tuple(seed) if isinstance(seed, (tuple, list)) else (int(seed),)
