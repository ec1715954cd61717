r"""Points and runs that claims about networks share, and how an order is read off them.

Twenty random networks at each point of five paths inside Condition 1: the width m over three decades, the number of
neurons m1 and the start scale c0 over one and a half, the number of samples n over 1.7 and the length L, with
n = 3/2 L^2, over a bit more than one. Along n and L they are networks of infinite width, whose runs and readings are compared with
path matrices at one point. An order is judged by the largest of the twenty. Irrelevant words add terms of order L/n to
the limit n to infinity, which has no parameter: a reading is of order one if its gap to that limit does not grow. Every reading is compared with a network trained in weight space. Times are tau = sigma_1^2 m m1 t;
phase 1 ends at tau = 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from odesys import (
    HOLDS,
    UNDECIDED,
    Measurement,
    Verdict,
    computed_once,
    measure,
    with_high_probability,
)

from .. import setting
from ..laboratory import Laboratory
from ..special.ensembles import ensemble, gap_to_derived
from ..special.sample_sums import Sums, limit_sums, sampled_sums, sums_of
from ..special.trained_network import trained_sample
from ..special.trajectories import Course
from .common_hypotheses import DELTA
from .common_limit import checked

N, L, M1, C0 = 30, 4, 16, 1e-3  # n / L^2 = 1.9
T1 = 40.0  # C_T1: a free constant of Definition E.2; all margins are above 1/2 there
LAST = 1e3
EARLY = (0.0, 2.0, 5.0, 10.0, 20.0, T1)
TAUS = (*EARLY, *np.geomspace(T1, LAST, 4)[1:].tolist())
SEEDS = 20
SAME = 1e-5
ROUTES = "both integrations have a relative tolerance of 1e-8 or less; differences of class sums lose two digits"
WIDEST = 1e-5
LIMIT = (
    "networks of m = 10^15 differ from infinite width by m^(-1/2), which differences of class sums raise by two digits"
)
SIGN = {"low": 0}, "a sign: no constant is asked for"
WHY_MEASURED = (
    "along trajectories of random networks; no bound of what they do up to T_1 or later was found in closed form"
)
Reader = Callable[[Any], Any]
Point = Mapping[str, Any]
SIZES = ("n", "L")  # paths of networks of infinite width
ALL = ("m", "m1", "c0", "n", "L")


def path(lab: Laboratory, name: str) -> list[dict[str, Any]]:
    """Points along m, m1, c0, n or L inside Condition 1, the others held (n is 3/2 L^2 along L); a new draw shifts them."""
    held: dict[str, Any] = {"n": N, "L": L, "m": 10**16, "m1": M1, "c0": C0}
    ends = {"m": (1e15, 1e18), "m1": (4, 128), "c0": (3e-5, 1e-3), "n": (24, 1200), "L": (4, 48)}[name]
    rest = {key: value for key, value in held.items() if key != name}
    if name == "c0":
        rest["m"] = 10**21
    if name in SIZES:
        rest |= {"m": 10**25, "c0": 3e-5}  # random starts are small beside L/n
    points = lab.draw.along(name, *ends, 8 if name in SIZES else 4, **rest)
    ordered = [{key: point[key] for key in held} for point in points]
    for point in ordered:
        point |= {"m": round(point["m"]), "m1": round(point["m1"]), "L": round(point["L"])}
        point["n"] = 6 * -(-3 * point["L"] ** 2 // 12) if name == "L" else max(24, 6 * round(point["n"] / 6))
    return ordered


def base(lab: Laboratory) -> dict[str, Any]:
    """The point of smallest width."""
    return path(lab, "m")[0]


def scale_at(point: Point) -> setting.Scales:
    """Widths and standard deviations at a point."""
    return setting.condition_one(point["L"], float(point["m"]), point["m1"], point["c0"])  # type: ignore[arg-type]


def networks(lab: Laboratory, point: Point, group: int = 0) -> list[Any]:
    """Twenty networks at a point, up to tau = 10^3; group 1 has the next twenty seeds."""
    seeds = lab.draw.seeds(SEEDS, SEEDS * group)
    if (point["n"], point["L"]) != (N, L) or point in path(lab, "n"):
        return sampled_sums(lab, point["n"], point["L"], scale_at(point), seeds, TAUS)
    return ensemble(lab, point["n"], point["L"], scale_at(point), seeds, TAUS)


def cut(run: Any, keep: slice) -> Any:
    """The same run at its first times: views, nothing is copied."""
    if isinstance(run, Sums):
        return run.kept(keep)
    return replace(
        run,
        taus=run.taus[keep],
        states=run.states[keep],
        speeds=run.speeds[keep],
        pulls=tuple(pull[keep] for pull in run.pulls),
        changes={leaf: table[keep] for leaf, table in run.changes.items()},
    )


_EARLY: WeakKeyDictionary[Any, Any] = (
    WeakKeyDictionary()
)  # so that what follows from a run's first times is computed once


def phase_one(run: Any) -> Any:
    """The run up to T_1."""
    if run not in _EARLY:
        _EARLY[run] = cut(run, slice(0, int((run.taus <= T1).sum())))
    return _EARLY[run]


def phase_two(run: Any) -> Any:
    """The run itself, since changes are counted from its start; what is read off is `late`."""
    return run


def logarithm(run: Course) -> float:
    """What a tilde hides here: log(2 n L d m m1 / delta)."""
    d = run.G.shape[1]
    return float(np.log(2 * run.n * run.L * d * run.scale.m * run.scale.m1 / DELTA))


def late(run: Any, column: np.ndarray) -> np.ndarray:
    """The part of a column of times from T_1 on."""
    return column[run.taus >= T1]


@computed_once
def _first(lab: Laboratory) -> tuple[Any, Any]:
    """A narrow network, in which everything moves, by the matrix form and trained in weight space."""
    scale, seed = setting.condition_one(L, 128, M1, 1.0), lab.draw.seeds(1)[0]
    (run,) = ensemble(lab, N, L, scale, (seed,), TAUS, 1e-9)
    return run, trained_sample(N, L, scale, seed, TAUS)


@computed_once
def _wide(lab: Laboratory) -> tuple[Any, Any]:
    """The first network of the base point, by quadratures and trained in weight space."""
    scale, seeds = scale_at(base(lab)), lab.draw.seeds(SEEDS)
    return ensemble(lab, N, L, scale, seeds, TAUS)[0], trained_sample(N, L, scale, seeds[0], TAUS)


@computed_once
def _whole_gap(lab: Laboratory) -> float:
    """Largest relative gap of both routes over all path matrices and times, and of the matrix form to the derived field."""
    gaps = [gap_to_derived(_first(lab)[0])]
    for run, real in (_first(lab), _wide(lab)):
        for leaf, change in run.changes.items():
            known = real.changes[leaf]
            gaps.append(float(np.abs(change - known).max() / np.abs(known).max()))
    return float(np.nan_to_num(max(gaps), nan=1e9, posinf=1e9))


@computed_once
def _sums(lab: Laboratory) -> tuple[Any, Sums]:
    """The first network of the base point, and the one of infinite width from the same start."""
    run = _wide(lab)[0]
    return run, sums_of(lab, run)


def same_limit(lab: Laboratory, read: Reader, part: Callable[[Any], Any]) -> Verdict:
    """A reading of networks of infinite width is that of wide networks from the same start."""
    found, known = (np.asarray(read(part(run)), dtype=float) for run in reversed(_sums(lab)))
    size = float(np.abs(known).max())
    gap = float(np.abs(found - known).max()) / size if found.shape == known.shape and size else 1e9
    return checked("gap to infinite width", gap, WIDEST, LIMIT)


def same_network(lab: Laboratory) -> Verdict:
    """The run of a narrow network is that of the network trained in weight space: all path matrices at all times."""
    return checked("gap of two routes", _whole_gap(lab), SAME, ROUTES)


def two_routes(lab: Laboratory, read: Reader, part: Callable[[Any], Any]) -> Verdict:
    """The run is that of the network itself, and so is the reading: a check of the program.

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
    return checked("gap of two routes", gap, SAME, ROUTES)


def along_paths(
    lab: Laboratory, what: str, names: Sequence[str], observable: Callable[[Point], float]
) -> dict[str, Measurement]:
    """An observable along several paths, measured (and kept) as one table."""
    points = {name: path(lab, name) for name in names}
    seen = measure(what, [point for name in names for point in points[name]], observable)
    cuts = np.cumsum([len(points[name]) for name in names])[:-1]
    parts = zip(names, np.split(seen.values[:, 0], cuts), strict=True)
    return {name: Measurement(what, points[name], values.tolist()) for name, values in parts}


def largest(
    lab: Laboratory, what: str, names: Sequence[str], read: Reader, part: Callable[[Any], Any]
) -> dict[str, Measurement]:
    """The largest reading of twenty networks at each point of the paths."""

    def top(p: Point) -> float:
        return max(float(np.max(read(part(run)))) for run in networks(lab, p))

    return along_paths(lab, what, names, top)


def settling(
    lab: Laboratory, what: str, points: Sequence[Point], read: Reader, part: Callable[[Any], Any]
) -> Measurement:
    """The largest relative gap of a reading of twenty networks to that of the limit n to infinity, at each point."""

    def gap(p: Point) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):  # at tau = 0 the limit is zero
            known = np.asarray(read(part(limit_sums(lab, p["L"], scale_at(p), TAUS))), dtype=float)
        found = [np.asarray(read(part(run)), dtype=float) for run in networks(lab, p)]
        return max(float(np.abs(one - known).max()) for one in found) / float(np.abs(known).max())

    return measure(f"the gap of {what} to its limit for n to infinity", points, gap)


def named(verdict: Verdict, what: str) -> Verdict:
    """The same verdict, whose exponents say what they are of."""
    said = {f"{key} in {what}" if key.startswith("exponent of") else key: v for key, v in verdict.details.items()}
    return replace(verdict, details=said)


def ordered(
    lab: Laboratory,
    what: str,
    read: Reader,
    kind: str = "O",
    along: Sequence[str] = ("m", "m1", "c0"),
    part: Callable[[Any], Any] = phase_one,
    why: str = WHY_MEASURED,
    routes: Reader | None = None,
) -> Verdict:
    """A ratio to a printed order has the exponent 0 (or, for O, less) along each path; its largest value is kept.

    For Theta the same is asked of its inverse. Along n and L, where terms of order L/n bend it at the edge of what is
    allowed, this may decide nothing: then its gap to the limit n to infinity has an exponent of 0 or less, which says
    the same with the limit taken out. What both routes are compared by is `routes`, where the reading is an inverse that a
    narrow network can make as large as it likes.
    """
    verdict, top = two_routes(lab, routes or read, part), {}
    if verdict.as_stated != HOLDS:  # the reading is not that of the network: no order of it is of interest
        return verdict
    for name, seen in largest(lab, what, along, read, part).items():
        top[f"largest ratio of {what}, along {name}"] = float(f"{seen.values.max():.4g}")
        if name in SIZES:
            verdict = verdict & same_limit(lab, read, part)
        found = named(seen.order(name, 0, kind, "zero" if name == "c0" else "infinity"), what)
        if name in SIZES and found.as_stated == UNDECIDED:
            gap = settling(lab, what, path(lab, name), read, part)
            found = named(gap.order(name, 0, "O"), gap.what)
        verdict = verdict & found.averaging(lab.draw.seeds(SEEDS))
    if kind == "Theta":
        turned = ordered(
            lab, f"1 over {what}", lambda r: 1 / np.asarray(read(r)), "O", along, part, why, routes or read
        )
        verdict = verdict & turned
    return verdict.with_constants(**{f"largest ratio of {what}": max(top.values())}).adding(why_measured=why, **top)


def likely(
    lab: Laboratory,
    what: str,
    event: Callable[[Any], Any],
    read: Reader,
    part: Callable[[Any], Any],
    limits: tuple[Any, str],
    along: Sequence[str] = (),
    why: str = WHY_MEASURED,
) -> Verdict:
    """An event has high probability at the base point: seeds are doubled until the interval decides.

    At each point of the paths `along` it is seen in all of twenty networks. `limits` are what the event compares with,
    and the reason for it.
    """
    point, verdict = base(lab), two_routes(lab, read, part)
    if verdict.as_stated != HOLDS:
        return verdict

    def trial(seeds: tuple[int, ...]) -> list[bool]:
        runs = [ensemble(lab, N, L, scale_at(point), seeds[k : k + SEEDS], TAUS) for k in range(0, len(seeds), SEEDS)]
        return [bool(event(part(run))) for group in runs for run in group]

    verdict = with_high_probability(what, point, trial, lab.draw).within(*limits) & verdict
    if set(along) & set(SIZES):
        verdict = verdict & same_limit(lab, read, part)

    def share(p: Point) -> float:
        return float(np.mean([bool(event(part(run))) for run in networks(lab, p)]))

    seen = along_paths(lab, f"the share of networks in which {what}", along, share) if along else {}
    for name, one in seen.items():
        one = Measurement(f"{one.what}, along {name}", one.points, one.values)
        verdict = verdict & one.between(0.95, 1, "at most one of twenty networks is an exception")
    return verdict.adding(why_measured=why)


def always(
    lab: Laboratory,
    what: str,
    read: Reader,
    low: float,
    high: float,
    because: str,
    part: Callable[[Any], Any] = phase_two,
    along: Sequence[str] = ("m",),
    why: str = WHY_MEASURED,
) -> Verdict:
    """All readings lie between two numbers that have a reason.

    Of forty networks at the first point, of which 40 of 40 decide, and of twenty at each point of the paths.
    """
    verdict = two_routes(lab, read, part)
    if verdict.as_stated != HOLDS:
        return verdict

    def ends(point: Point, group: int = 0) -> list[list[float]]:
        rows = [np.asarray(read(part(run)), dtype=float) for run in networks(lab, point, group)]
        return [[float(row.min()) for row in rows], [float(row.max()) for row in rows]]

    first = path(lab, along[0])[0]
    groups = [ends(first, group) for group in range(2)]
    seeds = lab.draw.seeds(2 * SEEDS)
    for k, side in enumerate(("smallest", "largest")):
        many = Measurement(f"the {side} {what}, 40 networks", [first], [[*groups[0][k], *groups[1][k]]], seeds)
        verdict = verdict & many.between(low, high, because)
    for name in along:
        if name in SIZES:
            verdict = verdict & same_limit(lab, read, part)
        points = path(lab, name)
        found = [ends(point) for point in points]
        for k, (side, most) in enumerate((("smallest", min), ("largest", max))):
            seen = Measurement(f"the {side} {what}, along {name}", points, [most(end[k]) for end in found])
            verdict = verdict & seen.between(low, high, because)
    return verdict.adding(why_measured=why)
