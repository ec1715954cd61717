r"""Power laws with intervals, fitted to single values or to means over repeats.

.. math::  y \sim C\,x^{\alpha}, \qquad \alpha \text{ from a straight line in logarithms.}
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from odesys.errors import ParameterError


@dataclass(frozen=True)
class PowerLaw:
    """Fitted exponent with its 95 percent interval, and the prefactor.

    Parameters
    ----------
    value : float
        The exponent.
    low : float
        Lower end of its 95 percent interval.
    high : float
        Upper end.
    prefactor : float
        What multiplies the power.

    Examples
    --------
    >>> PowerLaw(value=-0.5, low=-0.75, high=-0.25, prefactor=3.0).half_width
    0.25
    """

    value: float
    low: float
    high: float
    prefactor: float

    @property
    def interval(self) -> tuple[float, float, float]:
        """Low end, value and high end."""
        return self.low, self.value, self.high

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


def fit_power_law(x: Collection[float], y: Collection[float]) -> PowerLaw:
    """Least-squares line through (log x, log y); the interval is Student's for the slope.

    Where a value is not positive, as in a run that is broken, the exponent is no number.

    Parameters
    ----------
    x : Collection[float]
        Positive numbers.
    y : Collection[float]
        Positive numbers, as many.

    Returns
    -------
    PowerLaw
        Exponent with its interval, and prefactor.

    Examples
    --------
    >>> law = fit_power_law([1, 2, 4], [3.0, 6.0, 12.0])
    >>> round(law.value, 10), round(law.prefactor, 10)
    (1.0, 3.0)

    >>> law = fit_power_law([1, 2, 4, 8], [3, 12, 48, 192])
    >>> round(law.value, 9), round(law.prefactor, 9)
    (2.0, 3.0)
    """
    if len(set(x)) < 2:
        raise ParameterError("an exponent needs at least two different widths")
    with np.errstate(all="ignore"):
        fit = stats.linregress(*(np.log(np.array(list(values), dtype=float)) for values in (x, y)))
    slope, prefactor = float(fit.slope), float(np.exp(fit.intercept))
    margin = float(stats.t.ppf(0.975, len(x) - 2)) * float(fit.stderr) if len(x) > 2 else float("inf")
    return PowerLaw(slope, slope - margin, slope + margin, prefactor)


def fit_power_law_of_means(x: Sequence[float], values: np.ndarray, draws: int = 2000, seed: int = 0) -> PowerLaw:
    """The power of x in the means of the rows of `values` (points, repeats); values may be zero, their means not.

    The interval is the 95 percent one of the bootstrap over repeats: whole columns are drawn again, so what the
    repeats share from point to point stays together.

    Parameters
    ----------
    x : Sequence[float]
        Positive numbers, one per row of `values`.
    values : np.ndarray
        Shape (points, repeats).
    draws : int, optional
        Of the bootstrap.
    seed : int, optional
        Of the bootstrap.

    Returns
    -------
    PowerLaw
        Exponent with its interval, and prefactor.

    Examples
    --------
    >>> import numpy as np
    >>> law = fit_power_law_of_means([1, 2, 4], np.array([[1.0, 3.0], [4.0, 4.0], [6.0, 10.0]]))
    >>> round(law.low, 3), round(law.value, 3), round(law.high, 3)
    (0.868, 1.0, 1.292)
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or len(table) != len(x) or len(set(x)) < 2:
        raise ParameterError(
            f"a power needs one row of values per point and two different points, not {table.shape} "
            f"values at {len(x)} points"
        )
    means = table.mean(axis=1)
    if not (means > 0).all():
        raise ParameterError(
            f"the mean at x = {x[int(np.argmin(means))]:g} is {means.min():g}; a power law needs positive means"
        )
    repeats = table.shape[1]
    picks = np.random.default_rng(seed).integers(repeats, size=(draws, repeats))
    drawn = table[:, picks].mean(axis=2)  # (points, draws)
    drawn = drawn[:, (drawn > 0).all(axis=0)]
    logs = np.log(np.asarray(x, dtype=float))
    weights = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()
    low, high = np.quantile(weights @ np.log(drawn), [0.025, 0.975]) if repeats > 1 else (-np.inf, np.inf)
    slope = float(weights @ np.log(means))
    return PowerLaw(slope, float(low), float(high), float(np.exp(np.log(means).mean() - slope * logs.mean())))
