r"""Measurements: an observable at parameter points and seeds, and what it says about a claim.

Limits are given with their reason before the run. An order is judged by the slope of logarithms with its 99.9 percent
interval; a probability by the exact 99.9 percent interval of the share of seeds that pass, with seeds doubled until it
lies on one side of the threshold. Values that were measured before, by the same code, are read (`kept_runs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats

from ..errors import OdesysError
from ..sentences import say_number, say_point
from ..verdicts import HOLDS, Evidence, Point, Seeds, Verdict, Witness, measured, refuted, undecided
from .draw import Draw
from .kept_runs import kept
from .rule import in_both

LEVEL = 0.999  # of all intervals that decide
WIDEST = 0.2  # an interval of an exponent that is wider decides nothing
ROUNDING = 1e-6  # an exponent this small is solver error: relative errors of 1e-6 at both ends of a decade
DECADE = np.log(10.0)
FIRST_SEEDS, MOST_SEEDS = 20, 640
LIKELY = 0.8  # what "with high probability" must exceed
ORDERS = ("Theta", "O", "Omega")


@dataclass(frozen=True)
class Exponent:
    """Slope of log(observable) against log(parameter), with its 99.9 percent interval and the decades covered.

    >>> Exponent(-0.5, -0.52, -0.48, 2.0).width
    0.04
    """

    value: float
    low: float
    high: float
    decades: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return round(self.high - self.low, 12)

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True, eq=False)
class Measurement:
    """Values of one observable: a row per point, a column per seed (one column where nothing is random).

    Parameters
    ----------
    what : str
        The observable, in words.
    points : Sequence[Point]
        Where it was measured.
    values : Any
        Shape (points, seeds).
    seeds : tuple[int, ...], optional
        Of the columns.

    Examples
    --------
    >>> seen = Measurement("T2 - T1", ({"omega": 0.1}, {"omega": 0.01}), [[90.2], [156.9]])
    >>> seen.between(0, 200, "twice the closed form").as_stated
    'holds'
    """

    what: str
    points: Sequence[Point]
    values: Any
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        table = np.asarray(self.values, dtype=float)
        table = table[:, None] if table.ndim == 1 else table
        if table.shape[0] != len(self.points) or not table.size or (self.seeds and table.shape[1] != len(self.seeds)):
            raise OdesysError(
                f"{self.what} has {table.shape} values for {len(self.points)} points and {len(self.seeds) or 1} seeds"
            )
        object.__setattr__(self, "values", table)

    @property
    def means(self) -> np.ndarray:
        """The mean over seeds at each point."""
        return np.asarray(self.values.mean(axis=1))

    def between(
        self, low: float, high: float, because: str, evidence: str = "", calibrated_on: Sequence[Any] = ()
    ) -> Verdict:
        """All values lie from low to high, ends included; the reason for the ends is part of the verdict."""
        if not (np.isfinite(low) or np.isfinite(high)) or not low <= high:
            raise OdesysError(
                f"{self.what} is asked to be from {low:g} to {high:g}, which no value, or every value, is; give an end "
                f"that a value can miss"
            )
        for item in in_both(calibrated_on, [*self.points, *self.seeds]):
            raise OdesysError(f"the limits of {self.what} were calibrated on {item}, on which it is judged too")
        inside = (self.values >= low) & (self.values <= high)  # a value that is no number is outside
        ends = [float(self.values.min()), float(self.values.max())]
        limits = {name: end for name, end in (("low", low), ("high", high)) if np.isfinite(end)}
        seen = {self.what: [float(f"{end:.5g}") for end in ends]}
        if inside.all():
            return self._seen(measured(True, **seen), inside).within(limits, because, calibrated_on)
        row, column = np.argwhere(~inside)[0]
        sentence = (
            f"at {say_point(self.points[row])} (all hypotheses hold) {self.what} is "
            f"{say_number(self.values[row, column])}, which is not in {say_number(low)} .. {say_number(high)}"
        )
        witness = Witness(sentence, dict(self.points[row]))
        return self._seen(refuted(witness, Evidence.MEASUREMENT, **seen), inside).within(limits, because, calibrated_on)

    def exponent(self, parameter: str, towards: str = "") -> Exponent:
        r"""The power of a parameter in the means over seeds, a straight line in logarithms.

        The interval is that of the fit. It is about scatter, and a run may have none: what it has is a slope that still
        changes on the way to the limit. So with `towards` (``infinity`` or ``zero``) the interval also contains the
        slope s of the half near the limit, and to both sides k times what the halves differ by. If a constant has a
        correction of one over the logarithm L of the parameter, s is :math:`r^2` times the other slope, where r is the
        quotient of the two mean L; so :math:`k=r^2/(1-r^2)` reaches a constant. The logarithm itself is at
        :math:`r/(1-r)`, more than twice as far, and k is taken :math:`\sqrt2` times as large, between the two.

        >>> points = [{"omega": 10.0**-k} for k in range(6)]
        >>> settling = Measurement("Q", points, [2 + p["omega"] for p in points])
        >>> settling.exponent("omega", "zero").low < 0 < settling.exponent("omega", "zero").high
        True
        """
        x = np.log([float(point[parameter]) for point in self.points])
        with np.errstate(all="ignore"):
            y = np.log(self.means)
        if len(x) < 4 or not np.isfinite(y).all():
            raise OdesysError(
                f"an exponent of {self.what} in {parameter} needs four points or more with positive values, "
                f"not {[say_number(v) for v in self.means]}"
            )
        fit = stats.linregress(x, y)
        spread = float(fit.stderr) if np.ptp(y) > 0 else 0.0  # equal values: the slope is 0, without an error
        margin = float(stats.t.ppf((1 + LEVEL) / 2, len(x) - 2)) * spread
        slope = float(fit.slope)
        ends = [slope - margin, slope + margin]
        if towards:
            far, near = self.slopes(parameter, towards)
            change = _reach(x, towards) * abs(near - far)
            ends += [near - change, near + change]
        return Exponent(slope, min(ends), max(ends), float((x.max() - x.min()) / DECADE))

    def slopes(self, parameter: str, towards: str) -> tuple[float, float]:
        """Slopes of the logarithms over the half of the points that is far from the limit, and over the one near it.

        >>> points = [{"m": 10.0**k} for k in range(4)]
        >>> [round(s, 9) for s in Measurement("gap", points, [p["m"] ** 2 for p in points]).slopes("m", "infinity")]
        [2.0, 2.0]
        """
        x, y = np.log([float(point[parameter]) for point in self.points]), np.log(self.means)
        far, near = (np.polyfit(x[part], y[part], 1)[0] for part in _halves(x, towards))
        return float(far), float(near)

    def order(
        self,
        parameter: str,
        claimed: float,
        kind: str = "Theta",
        towards: str = "infinity",
    ) -> Verdict:
        r"""The observable is of the order parameter^claimed: :math:`\Theta`, :math:`O` or :math:`\Omega`.

        `towards` says where the parameter goes, to ``infinity`` or to ``zero``. Confirmed over a decade or more,
        refuted over two or more, by the 99.9 percent interval of the exponent; one wider than 0.2 decides nothing,
        unless that of the fit, and the slope near the limit, lie on the side that :math:`O` or :math:`\Omega` allows.

        >>> points = tuple({"m": 10.0**k} for k in range(5))
        >>> Measurement("gap", points, [2 * p["m"] ** -0.5 for p in points]).order("m", -0.5).as_stated
        'holds'
        """
        if kind not in ORDERS or towards not in ("infinity", "zero"):
            raise OdesysError(f"an order is {', '.join(ORDERS)} as a parameter goes to infinity or zero, not {kind!r}")
        found, line = self.exponent(parameter, towards), self.exponent(parameter)
        sign = 1 if towards == "infinity" else -1
        drift = sorted((sign * (found.low - claimed), sign * (found.high - claimed)))  # of the ratio, in the limit
        above, below = drift[0] > ROUNDING, drift[1] < -ROUNDING
        bad = {"Theta": above or below, "O": above, "Omega": below}[kind]
        ends = [sign * (end - claimed) for end in (line.low, line.high, self.slopes(parameter, towards)[1])]
        clear = {"Theta": False, "O": max(ends) <= ROUNDING, "Omega": min(ends) >= -ROUNDING}[kind]
        seen: dict[str, Any] = {
            f"exponent of {parameter}": [float(f"{v:.4g}") for v in (found.low, found.value, found.high)]
        }
        moving = sorted({n for p in self.points for n in p if n != parameter and p[n] != self.points[0].get(n)})
        if moving:  # a path into a regime moves several at once, and the exponent is about all of them
            seen["moving along"] = moving
        if not (bad or clear or line.low <= claimed <= line.high):  # only the widened interval covers: both are shown
            seen[f"exponent of {parameter}, fit alone"] = [float(f"{v:.4g}") for v in (line.low, line.high)]
        because = f"the 99.9 percent interval of the exponent over {found.decades:.2g} decades"
        limits = {"claimed": claimed, "widest interval": WIDEST}
        if bad and found.decades >= 2 - 1e-9:
            sentence = (
                f"as {parameter} goes from {say_number(self.points[0][parameter])} to "
                f"{say_number(self.points[-1][parameter])} (all hypotheses hold) {self.what} has the exponent {found}, "
                f"not {say_number(claimed)}"
            )
            witness = Witness(sentence, dict(self.points[-1]))
            return self._seen(refuted(witness, Evidence.MEASUREMENT, **seen)).within(limits, because)
        if not bad and (clear or found.width <= WIDEST) and found.decades >= 1 - 1e-9:
            return self._seen(measured(True, **seen)).within(limits, because)
        left = f"{self.what} has the exponent {found} in {parameter}, over {found.decades:.2g} decades, not {claimed:g}"
        return self._seen(undecided(left).adding(**seen)).within(limits, because)

    def _seen(self, verdict: Verdict, inside: np.ndarray | None = None) -> Verdict:
        """The verdict with its points, and the seeds it is about; of a band how many are in it everywhere."""
        if 0 < len(self.seeds) < FIRST_SEEDS:
            raise OdesysError(
                f"{self.what} was measured over {len(self.seeds)} seeds; {FIRST_SEEDS} are the least that decide"
            )
        verdict = verdict.at(*(dict(point) for point in self.points))
        if not self.seeds:
            return verdict
        if inside is None:
            return replace(verdict, seeds=Seeds(self.seeds))
        passed = int(inside.all(axis=0).sum())
        return replace(verdict, seeds=Seeds(self.seeds, passed, *success_interval(passed, len(self.seeds))))


def _halves(x: np.ndarray, towards: str) -> tuple[np.ndarray, np.ndarray]:
    """Places of the points far from the limit, and of those near it."""
    order, half = np.argsort(x if towards == "infinity" else -x), len(x) // 2
    return order[: len(x) - half], order[half:]


def _reach(x: np.ndarray, towards: str) -> float:
    """How many times the change of slope between the halves may still come; 1 where the logarithm does not grow."""
    far, near = (abs(float(x[part].mean())) for part in _halves(x, towards))
    return float(np.sqrt(2) * far**2 / (near**2 - far**2)) if near > far else 1.0


def measure(what: str, points: Sequence[Point], observable: Callable[[Point], float]) -> Measurement:
    """An observable without randomness at each point.

    Parameters
    ----------
    what : str
        The observable, in words.
    points : Sequence[Point]
        Where to measure.
    observable : Callable[[Point], float]
        A number for a point.

    Returns
    -------
    Measurement
        One value per point.

    Examples
    --------
    >>> measure("square", [{"x": 2.0}], lambda p: p["x"] ** 2).values.tolist()
    [[4.0]]
    """
    return Measurement(what, tuple(points), kept(observable, points, lambda: [float(observable(p)) for p in points]))


def over_seeds(
    what: str, points: Sequence[Point], observable: Callable[[Point, tuple[int, ...]], Any], seeds: Sequence[int]
) -> Measurement:
    """An observable at each point for all seeds at once: `observable(point, seeds)` gives one value per seed.

    Parameters
    ----------
    what : str
        The observable, in words.
    points : Sequence[Point]
        Where to measure.
    observable : Callable[[Point, tuple[int, ...]], Any]
        One value per seed, for a point.
    seeds : Sequence[int]
        The seeds.

    Returns
    -------
    Measurement
        A row per point, a column per seed.

    Examples
    --------
    >>> over_seeds("sum", [{"x": 2.0}], lambda p, seeds: [p["x"] + s for s in seeds], (0, 1)).means.tolist()
    [2.5]
    """
    used = tuple(seeds)
    values = kept(observable, (points, used), lambda: [np.asarray(observable(point, used)) for point in points])
    return Measurement(what, tuple(points), values, used)


@cache
def success_interval(passed: int, count: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) 99.9 percent interval of a probability.

    >>> [round(end, 3) for end in success_interval(40, 40)]
    [0.827, 1.0]
    """
    interval = stats.binomtest(passed, count).proportion_ci(confidence_level=LEVEL, method="exact")
    return float(interval.low), float(interval.high)


def with_high_probability(
    what: str,
    point: Point,
    trial: Callable[[tuple[int, ...]], Sequence[bool]],
    draw: Draw,
    threshold: float = LIKELY,
    printed: float | None = None,
    most: int = MOST_SEEDS,
) -> Verdict:
    """An event has a probability above `threshold`, and not below the printed one, judged over seeds.

    `trial(seeds)` says for each seed whether the event was seen. It starts with 20 seeds and doubles them, to 640 at
    most, until the exact 99.9 percent interval lies on one side of the threshold.

    Parameters
    ----------
    what : str
        The event, in words.
    point : Point
        Where it is looked for.
    trial : Callable[[tuple[int, ...]], Sequence[bool]]
        For each seed, whether it was seen.
    draw : Draw
        Where the seeds come from.
    threshold : float, optional
        What "high" is.
    printed : float, optional
        The paper's own probability.
    most : int, optional
        At most so many seeds, 640 but for systems that are broken on purpose.

    Returns
    -------
    Verdict
        Holds, fails or undecided, with the number of seeds and the interval.

    Examples
    --------
    >>> verdict = with_high_probability("it is even", {}, lambda seeds: [True for s in seeds], Draw())
    >>> verdict.as_stated, verdict.seeds.count
    ('holds', 40)
    """
    results: list[bool] = []
    low, high = 0.0, 1.0
    count = FIRST_SEEDS
    while count <= most:
        seeds = draw.seeds(count - len(results), start=len(results))
        seen = kept(trial, (point, seeds), partial(trial, seeds))
        if len(seen) != len(seeds):
            raise OdesysError(f"a trial of {len(seeds)} seeds answers for {len(seen)}: whether {what}, for each seed")
        results += [bool(one) for one in seen]
        low, high = success_interval(sum(results), len(results))
        if low > threshold or high < threshold:
            break
        count *= 2
    used = Seeds(draw.seeds(len(results)), sum(results), low, high)
    return _judged(what, point, used, (low, high), threshold, printed)


def _judged(
    what: str, point: Point, used: Seeds, interval: tuple[float, float], threshold: float, printed: float | None
) -> Verdict:
    low, high = interval
    found: dict[str, Any] = {
        "passed": f"{used.passed} of {used.count} seeds",
        "interval_99.9": [round(low, 4), round(high, 4)],
    }
    floor = threshold if printed is None else max(threshold, printed)
    if low > threshold and (printed is None or high >= printed):
        verdict = measured(True, **found)
    elif high < floor:
        sentence = (
            f"at {say_point(point)} (all hypotheses hold) {what} for {used.passed} of {used.count} seeds; the "
            f"probability is at most {say_number(high)}, and {say_number(floor)} is needed"
        )
        verdict = refuted(Witness(sentence, dict(point)), Evidence.MEASUREMENT, **found)
    else:
        verdict = undecided(f"{what} for {used.passed} of {used.count} seeds, which decides nothing", **found)
    return replace(verdict.at(dict(point)), seeds=used)


def calibrated(values: Measurement, factor: float, judge: Callable[[float], Verdict], because: str) -> Verdict:
    """Judge with a limit taken from one measurement times a factor; its points and seeds may not be judged on again.

    Parameters
    ----------
    values : Measurement
        The measurement the limit comes from.
    factor : float
        Times its largest value.
    judge : Callable[[float], Verdict]
        Gives the verdict for a limit, at other points and seeds.
    because : str
        Why a limit of this kind is fair.

    Returns
    -------
    Verdict
        The verdict of `judge`, marked as calibrated.

    Examples
    --------
    >>> first = measure("gap", [{"x": 1.0}], lambda p: 2.0)
    >>> second = measure("gap", [{"x": 2.0}], lambda p: 2.1)
    >>> calibrated(first, 1.2, lambda top: second.between(0, top, ""), "20 percent above x = 1").as_stated
    'holds'
    """
    limit = factor * float(values.values.max())
    verdict = judge(limit)
    on = [*(dict(point) for point in values.points), *values.seeds]
    return verdict.within(limit, because, on) if verdict.as_stated == HOLDS or verdict.tolerance else verdict
