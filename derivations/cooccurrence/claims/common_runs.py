r"""Points and runs that claims about networks share, and how an order is read off them.

Twenty random networks at each point of three paths inside Condition 1: the width m over three decades, the number of
neurons m1 and the start scale c0 over one and a half. An order is judged by the largest of the twenty. Every reading is compared
with a network trained in weight space. Times are tau = sigma_1^2 m m1 t; phase 1 ends at tau = 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from odesys import HOLDS, Measurement, Verdict, computed_once, measure, measured, with_high_probability

from .. import setting
from ..laboratory import Laboratory
from ..special.ensembles import Sampled, ensemble, gap_to_derived
from ..special.trained_network import trained_sample
from ..special.trajectories import Course
from .common_hypotheses import DELTA

N, L, M1, C0 = 30, 4, 16, 1e-3  # n / L^2 = 1.9; I4 is not at the margin from n = 26 on
T1 = 40.0  # C_T1: a free constant of Definition E.2; all margins are above 1 there
LAST = 1e3
EARLY = (0.0, 5.0, 10.0, 20.0, T1)
TAUS = (*EARLY, *np.geomspace(T1, LAST, 6)[1:].tolist())
SEEDS = 20
SAME = 1e-5
ROUTES = "both integrations have a relative tolerance of 1e-8 or less; differences of class sums lose two digits"
WHY_MEASURED = (
    "along trajectories of random networks: a validated enclosure of 8000 coupled variables was not tried; "
    "the planar limit, which has two, is enclosed"
)
Reader = Callable[[Course], Any]
Point = Mapping[str, Any]


def path(lab: Laboratory, name: str) -> list[dict[str, Any]]:
    """Four points along m, m1 or c0 inside Condition 1, the others held; a new draw shifts them."""
    held: dict[str, Any] = {"n": N, "L": L, "m": 10**16, "m1": M1, "c0": C0}
    ends = {"m": (1e15, 1e18), "m1": (4, 128), "c0": (3e-5, 1e-3)}[name]
    rest = {key: value for key, value in held.items() if key != name}
    if name == "c0":
        rest["m"] = 10**21
    points = lab.draw.along(name, *ends, 4, **rest)
    ordered = [{key: point[key] for key in held} for point in points]
    return [{**point, "m": round(point["m"]), "m1": round(point["m1"])} for point in ordered]


def base(lab: Laboratory) -> dict[str, Any]:
    """The point of smallest width."""
    return path(lab, "m")[0]


def scale_at(point: Point) -> setting.Scales:
    """Widths and standard deviations at a point."""
    return setting.condition_one(point["L"], float(point["m"]), point["m1"], point["c0"])  # type: ignore[arg-type]


def networks(lab: Laboratory, point: Point, start: int = 0, long: bool = False) -> list[Sampled]:
    """Twenty networks at a point, up to T_1 or with `long` up to tau = 10^3; along m all are long."""
    seeds = lab.draw.seeds(SEEDS, start)
    taus = TAUS if long or any(point == p for p in path(lab, "m")) else EARLY
    return ensemble(lab, point["n"], point["L"], scale_at(point), seeds, taus)


def cut(run: Any, keep: np.ndarray) -> Any:
    """The same run at some of its times; 0 stays, as the start that changes are counted from."""
    return replace(
        run,
        taus=run.taus[keep],
        states=run.states[keep],
        speeds=run.speeds[keep],
        pulls=tuple(pull[keep] for pull in run.pulls),
        changes={leaf: table[keep] for leaf, table in run.changes.items()},
    )


def phase_one(run: Any) -> Any:
    """The run up to T_1."""
    return cut(run, run.taus <= T1)


def phase_two(run: Any) -> Any:
    """The run from T_1 on, with the start in front."""
    return cut(run, (run.taus >= T1) | (run.taus == 0))


def logarithm(run: Course) -> float:
    """What a tilde hides here: log(2 n L d m m1 / delta)."""
    d = run.G.shape[1]
    return float(np.log(2 * run.n * run.L * d * run.scale.m * run.scale.m1 / DELTA))


def late(run: Course, column: np.ndarray) -> np.ndarray:
    """The part of a column of times from T_1 on."""
    return column[run.taus >= T1]


@computed_once
def _first(lab: Laboratory) -> tuple[Sampled, Course]:
    """A narrow network, in which everything moves, by the matrix form and trained in weight space."""
    scale, seed = setting.condition_one(L, 128, M1, 1.0), lab.draw.seeds(1)[0]
    (run,) = ensemble(lab, N, L, scale, (seed,), TAUS, 1e-9)
    return run, trained_sample(N, L, scale, seed, TAUS)


@computed_once
def _whole_gap(lab: Laboratory) -> float:
    """Largest relative gap of both routes over all path matrices and times, and of the matrix form to the derived field."""
    run, real = _first(lab)
    gaps = [gap_to_derived(run)]
    for leaf, change in run.changes.items():
        known = real.tables[leaf] - real.tables[leaf][0]
        gaps.append(float(np.abs(change - known).max() / np.abs(known).max()))
    return float(np.nan_to_num(max(gaps), nan=1e9, posinf=1e9))


def same_network(lab: Laboratory) -> Verdict:
    """The run of a narrow network is that of the network trained in weight space: all path matrices at all times."""
    gap = _whole_gap(lab)
    seen = {"gap of two routes": gap, "allowed": SAME}
    return measured(gap < SAME, seen, gap_to_trained=float(f"{gap:.2g}")).within(SAME, ROUTES)


def two_routes(lab: Laboratory, read: Reader, part: Callable[[Any], Any]) -> Verdict:
    """The run is that of the network itself, and so is the reading: a check of the program, at no point of the statement.

    A narrow network is followed by the matrix form, whose field is compared with the derived one, and trained in weight
    space: all path matrices agree, and what is read off both.
    """
    same = same_network(lab)
    if same.as_stated != HOLDS:
        return same
    run, real = _first(lab)
    found, known = np.asarray(read(part(run)), dtype=float), np.asarray(read(part(real)), dtype=float)
    size = float(np.abs(known).max())
    gap = float(np.abs(found - known).max()) / size if size else float(np.abs(found).max())
    gap = max(gap, _whole_gap(lab)) if np.isfinite(gap) else 1e9
    seen = {"gap of two routes": gap, "allowed": SAME}
    return measured(gap < SAME, seen, gap_to_trained=float(f"{gap:.2g}")).within(SAME, ROUTES)


def largest(
    lab: Laboratory, what: str, points: Sequence[Point], read: Reader, part: Callable[[Any], Any]
) -> Measurement:
    """The largest reading of twenty networks at each point."""
    return measure(what, points, lambda p: max(float(np.max(read(part(run)))) for run in networks(lab, p)))


def ordered(
    lab: Laboratory,
    what: str,
    read: Reader,
    kind: str = "O",
    along: Sequence[str] = ("m", "m1", "c0"),
    part: Callable[[Any], Any] = phase_one,
    tilde: bool = False,
) -> Verdict:
    """A ratio to a printed order has the exponent 0 (or, for O, less) along each path; its largest value is kept.

    With `tilde` the ratio is divided by `logarithm`. Networks of different m1 share no random numbers, and what is of
    the size of their fluctuations has no sharp exponent there: it stays below the order with the constant 1.
    """
    verdict, top = two_routes(lab, read, part), 0.0
    if verdict.as_stated != HOLDS:  # the reading is not that of the network: no order of it is of interest
        return verdict
    for name in along:
        seen = largest(lab, what, path(lab, name), read, part)
        if tilde and name == "m1":
            verdict = verdict & seen.between(0, 1, "constant 1 beside the logarithm that stands for the tilde")
        else:
            verdict = verdict & seen.order(name, 0, kind, "zero" if name == "c0" else "infinity")
        top = max(top, float(seen.values.max()))
    return verdict.with_constants(**{f"largest ratio of {what}": float(f"{top:.4g}")}).adding(why_measured=WHY_MEASURED)


def likely(
    lab: Laboratory, what: str, event: Callable[[Any], Any], read: Reader, part: Callable[[Any], Any]
) -> Verdict:
    """An event has high probability at the base point: seeds are doubled until the interval decides."""
    point, same = base(lab), two_routes(lab, read, part)
    if same.as_stated != HOLDS:
        return same

    def trial(seeds: tuple[int, ...]) -> list[bool]:
        runs = [ensemble(lab, N, L, scale_at(point), seeds[k : k + SEEDS], TAUS) for k in range(0, len(seeds), SEEDS)]
        return [bool(event(part(run))) for group in runs for run in group]

    seen = with_high_probability(what, point, trial, lab.draw)
    return (seen & same).adding(why_measured=WHY_MEASURED)


def always(
    lab: Laboratory,
    what: str,
    read: Reader,
    low: float,
    high: float,
    because: str,
    part: Callable[[Any], Any] = phase_two,
    along: Sequence[str] = ("m",),
) -> Verdict:
    """All readings of twenty networks at each point of the paths lie between two numbers that have a reason."""
    verdict = two_routes(lab, read, part)
    if verdict.as_stated != HOLDS:
        return verdict
    for name in along:
        points = path(lab, name)
        rows = [[np.asarray(read(part(run)), dtype=float) for run in networks(lab, point)] for point in points]
        ends = [[min(float(x.min()) for x in row), max(float(x.max()) for x in row)] for row in rows]
        for k, side in ((0, "smallest"), (1, "largest")):
            seen = Measurement(f"the {side} {what}", points, [end[k] for end in ends])
            verdict = verdict & seen.between(low, high, because)
    return verdict.adding(why_measured=WHY_MEASURED)
