r"""Random networks of infinite width up to times poly(m), and what is read off them.

Statements about :math:`[T_1,T_2]` with :math:`T_2=\mathrm{poly}(m)` are looked at up to :math:`\tau=m^2`, that is
:math:`t=m`, from random starts of size c_0: n, L, c_0, the seed and the time enter. What is left out is of relative size
:math:`m^{-1/2}`; that it is so is compared with path matrices (`common_runs.same_limit`), and from zero the runs are those
of the derived limit and of the regression on bags of words (`as_derived`). Beyond tau = 10^3, where path matrices end, it
is an argument: what is left out is a force of that relative size on a flow that contracts. One run serves all m, which
says where it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odesys import Measurement, Verdict, computed_once, measure

from ..laboratory import Laboratory
from ..setting import Scales
from ..special.sample_sums import Sums, limit_sums, run_sums, sampled_sums
from .common_hypotheses import DELTA
from .common_limit import SAME, TWO_RUNS, as_regression, checked, level_three, seen_at, whole_six
from .common_runs import C0, M1, SEEDS, T1, L, scale_at

LAST_TIME = 1e36  # after the time of loss = 1/m^2 at m = 10^17
LATE = (0.0, *np.geomspace(1e-2, T1, 12).tolist(), *np.geomspace(T1, LAST_TIME, 91)[1:].tolist())
Point = Mapping[str, Any]
Reader = Callable[[Any], Any]


def tied_points(lab: Laboratory, count: int = 5, length: int = L) -> list[dict[str, Any]]:
    """m over two decades, with n at least L^2 log m: the logarithm under the tilde of n >= L^2 that times poly(m) need.

    All m share the same runs, which m only ends: they are no independent tests.
    """
    n = whole_six(length**2 * np.log(1e17) + 6)
    points = lab.draw.along("m", 1e15, 1e17, count)
    return [{"n": n, "L": length, "m": round(p["m"]), "m1": M1, "c0": C0} for p in points]


def late_networks(lab: Laboratory, point: Point, seeds: tuple[int, ...] = ()) -> list[Sums]:
    """Twenty networks at n, L and c_0 of a point, up to poly(m); m and m_1 do not enter."""
    scale = scale_at({"L": point["L"], "m": 10**15, "m1": M1, "c0": point["c0"]})
    return sampled_sums(lab, point["n"], point["L"], scale, seeds or lab.draw.seeds(SEEDS), LATE)


def at_time(run: Sums, column: np.ndarray, tau: float) -> float:
    """A column of the times from T_1 on at one of them, linear in log(tau)."""
    return float(np.interp(np.log(tau), np.log(run.taus[run.taus >= T1]), column))


def integral(run: Sums, rates: np.ndarray, tau: float) -> np.ndarray:
    """The integral of rates over the time from the first recorded one to tau, trapezoids in log(tau)."""
    taus = run.taus[1:]
    logs, rows = np.log(taus), rates[1:] * taus.reshape(-1, *[1] * (rates.ndim - 1))
    steps = np.diff(logs).reshape(-1, *[1] * (rates.ndim - 1)) * (rows[1:] + rows[:-1]) / 2
    k = int(np.clip(np.searchsorted(logs, np.log(tau)) - 1, 0, len(steps) - 1))
    part = (np.log(tau) - logs[k]) / (logs[k + 1] - logs[k])
    last = rows[k] + part * (rows[k + 1] - rows[k])
    return np.asarray(steps[:k].sum(axis=0) + (np.log(tau) - logs[k]) * (rows[k] + last) / 2)


def hitting_time(run: Sums, m: Any) -> float:
    """The tau at which the loss is 1/m^2."""
    late = run.taus >= T1
    return float(np.exp(np.interp(2 * np.log(float(m)), -np.log(run.loss[late]), np.log(run.taus[late]))))


def over_networks(
    lab: Laboratory, what: str, points: Sequence[Point], read: Callable[[Sums, Point], float]
) -> Measurement:
    """A reading of forty networks at each point, one column per seed: of 40 of 40 the interval begins above 0.8."""
    seeds = [lab.draw.seeds(SEEDS, SEEDS * k) for k in range(2)]
    rows = [[float(read(run, p)) for group in seeds for run in late_networks(lab, p, group)] for p in points]
    return Measurement(what, points, rows, tuple(seed for group in seeds for seed in group))


def at_hitting(lab: Laboratory, what: str, read: Callable[[Sums, Point], float]) -> Measurement:
    """A reading of forty networks over m at L = 4 and the n that goes with it, n >= L^2 log m."""
    return over_networks(lab, what, tied_points(lab), read)


def longer(lab: Laboratory, what: str, read: Callable[[Sums, Point], float]) -> Measurement:
    """The same reading along L, at m = 10^17 and n = L^2 log m, of the network from zero: its samples move alike.

    No L is the worst for all readings: the irrelevant part is largest at L = 4 on I_2, like (L - 2)/L^2, and at L = 6
    on I_1, like (L - 3)/L^2; over (L/n) log(tau) it grows with L, to 30 (L - 2)/L at most.
    """
    points = []
    for length in (round(p["L"]) for p in lab.draw.along("L", 6, 32, 3)):
        points.append({**tied_points(lab, length=length)[0], "m": 10**17, "c0": 8e-4})

    def one(p: Point) -> float:
        return float(read(limit_sums(lab, p["L"], scale_at(p), LATE, p["n"]), p))

    return measure(f"{what} along L", points, one)


def in_time(lab: Laboratory, what: str, read: Reader, kind: str = "O", since: float = T1) -> Verdict:
    """A reading does not grow with the time: tau up to m^2, at n >= L^2 log m, L = 4."""
    points = time_points(lab, since)
    seen = over_networks(lab, what, points, lambda run, p: at_time(run, np.asarray(read(run)), p["tau"]))
    return seen.order("tau", 0, kind) & as_derived(lab, points[0])


def time_points(lab: Laboratory, since: float = T1) -> list[dict[str, Any]]:
    """tau from T_1 (or later) to m^2, all in phase 2: n >= L^2 log m keeps item (j) of F.1 below its constant (F.20)."""
    held = tied_points(lab)[0]
    return [{**held, "tau": p["tau"]} for p in lab.draw.along("tau", since, float(held["m"]) ** 2, 7)]


def as_derived(lab: Laboratory, point: Point, tau: float = 1e9) -> Verdict:
    """From zero the sums are the derived limit m to infinity, which is the regression on bags of words."""
    gap = _gap_to_derived(lab, point["n"], point["L"], tau)
    place = {key: point[key] for key in ("n", "L", "m", "m1", "c0") if key in point}
    return checked("gap of the sums to the derived limit", gap, SAME, TWO_RUNS) & as_regression(lab, place, tau)


@computed_once
def _gap_to_derived(lab: Laboratory, n: int, length: int, tau: float) -> float:
    scale = scale_at({"L": length, "m": 10**15, "m1": M1, "c0": C0})
    run = run_sums(lab, n, length, scale, np.zeros((1, 3 + n)), (0.0, tau))[0]
    first = [3 + int(run.classes[c][0]) for c in (1, 2, 4)]
    own, known = run.G[-1, [0, 2, *first]], level_three(lab, n, length, tau).at(tau)
    return float(np.abs(own - known).max() / np.abs(known).max())


def derived_scores(lab: Laboratory) -> Verdict:
    """Rates of scores between special words, as the sums have them, are the derived ones of leading order: at n = 12, L = 4."""
    scale = scale_at({"L": L, "m": 10**15, "m1": M1, "c0": C0})
    run = run_sums(lab, 12, L, scale, np.zeros((1, 15)), (0.0, T1))[0]
    own = run.rate("KQ")[-1] * np.sqrt(scale.m) * scale.B / scale.k0
    rates, known = lab.score_rates(12, L), level_three(lab, 12, L, T1)
    gaps = [
        abs(float(own[place]) / seen_at(known, rates[name], T1) - 1)
        for name, place in (("A_12", (0, 1)), ("A_31", (2, 0)))
    ]
    gap = float(np.nan_to_num(max(gaps), nan=1e9, posinf=1e9))
    return checked("gap to the derived rates of scores", gap, SAME, TWO_RUNS)


def irrelevant_part(run: Sums) -> np.ndarray:
    """The largest sum of G over the irrelevant words of a sample, (k,)."""
    return np.asarray(np.abs(run.rest).max(axis=1))


def small_items(run: Sums, s: Scales, until: float) -> dict[str, float]:
    r"""Items (a)-(e) of Definition F.1 up to a time, used over allowed, by bounds of leading order in 1/m.

    A row of D is at most :math:`2\max|G|\,\bar g/\sqrt m` in sum, scores and off-diagonal values start below
    :math:`\sigma_0^2\sqrt m\sqrt{2\log(2d^2/\delta)}`, beta gains :math:`m_1\Delta|G|^2/\beta`.
    """
    keep, m, size = run.taus <= until, float(s.m), np.abs(run.G).max(axis=1)
    d = run.n / run.own * run.L
    noise = np.sqrt(2 * np.log(2 * d**2 / DELTA))
    row = 2 * size * run.g.mean(axis=1) / np.sqrt(m)
    E = float(np.trapezoid((row * run.taus)[keep][1:], np.log(run.taus[keep][1:]))) / s.B
    top = float(size[keep].max())
    gain = 1 + s.m1 * float(run.squares[keep].max()) / s.B**2
    values = s.k0 + 2 * top**2 / s.B + run.L * s.sigma0**2 * np.sqrt(m) * noise
    return {
        "a": 2 * E * noise,
        "b": run.L**2 * 2 / run.L * 4 * s.k0 * E / np.sqrt(m),
        "c": gain / 2,
        "d": s.m1 * values / s.B * run.L / 0.1,
        "e": run.L * top * 2 * 8 * s.k0 * top / m / s.B / 0.1,
    }
