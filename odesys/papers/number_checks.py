"""Numbers seen in runs against limits, with what was seen beside what is allowed: the checks of books without the rule.

A verdict of these says neither where it was seen nor why its limit is what it is, so a book under the verdict rule does
not take it as it is. There `odesys.papers.measurement` replaces `between` (by `Measurement.between`), `everywhere` and
`agrees` (a share or a gap, measured, then `between`) and `has_exponent` (by `Measurement.order`); parts that a check
returns by name replace `in_turn`. `rounded` and `relative_gap` serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..errors import IntegrationError
from ..verdicts import HOLDS, Verdict, measured
from .claims import combine_verdicts


class FittedPower(Protocol):
    """An exponent with its interval, however it was fitted."""

    @property
    def interval(self) -> tuple[float, float, float]:
        """Low end, value and high end."""
        ...


def rounded(values: Any, digits: int = 6) -> Any:
    """Numbers with a few digits, for details and witnesses; tables keep their shape, texts and fractions stay.

    Parameters
    ----------
    values : Any
        Numbers, tables, texts.
    digits : int, optional
        How many.

    Returns
    -------
    Any
        The same structure with rounded numbers.

    Examples
    --------
    >>> rounded({"a": [1 / 3, 2.0], "b": "two"}, 3)
    {'a': [0.333, 2.0], 'b': 'two'}
    """
    if isinstance(values, Mapping):
        return {str(key): rounded(value, digits) for key, value in values.items()}
    if isinstance(values, (list, tuple, np.ndarray)):
        return [rounded(value, digits) for value in values]
    if isinstance(values, (str, bool, Fraction)):
        return values
    return float(f"{float(values):.{digits}g}")


def between(what: str, values: Any, low: float, high: float, digits: int = 5) -> Verdict:
    """All values lie in the interval from low to high, ends included; the range seen is kept.

    A value that is no number is outside. Without values there is nothing to measure, which is refused.

    Parameters
    ----------
    what : str
        The values, in words.
    values : Any
        A number or an array.
    low : float
        Lower end, included.
    high : float
        Upper end, included.
    digits : int, optional
        Of the range that is kept.

    Returns
    -------
    Verdict
        Holds or fails, as a measurement.

    Examples
    --------
    >>> between("ratio", [0.9, 1.1], 0.5, 1.0).witness
    {'ratio': [0.9, 1.1], 'allowed': [0.5, 1.0]}
    """
    seen = _some(what, values).astype(float)
    finite = seen[~np.isnan(seen)]
    ends = [float(finite.min()), float(finite.max())] if finite.size else [np.nan, np.nan]
    right = bool(finite.size == seen.size and low <= ends[0] and ends[1] <= high)
    span = rounded(ends, digits)
    return measured(right, {what: span, "allowed": rounded([low, high], digits)}, **{what: span})


def everywhere(what: str, right: Any) -> Verdict:
    """A condition holds in every place of an array; the share of the places is kept.

    Parameters
    ----------
    what : str
        The condition, in words.
    right : Any
        Truth values.

    Returns
    -------
    Verdict
        Holds or fails, as a measurement.

    Examples
    --------
    >>> everywhere("positive", [True, False]).witness
    {'positive': 'in 0.5000 of 2 places'}
    """
    found = _some(what, right)
    share = f"{float(found.mean()):.4f} of {found.size}"
    return measured(bool(found.all()), {what: f"in {share} places"}, **{what: share})


def _some(what: str, values: Any) -> np.ndarray:
    found = np.asarray(values).ravel()
    if not found.size:
        raise IntegrationError(f"{what}: nothing of the kind happens in this run", time=0.0)
    return found


def relative_gap(found: Any, known: Any) -> float:
    """Largest |found - known| relative to the largest |known|, name by name; infinite where that is no number.

    >>> relative_gap({"x": [1.0, 2.5]}, {"x": [1.0, 2.0]})
    0.25
    """
    if isinstance(known, Mapping):
        return max(relative_gap(found[name], known[name]) for name in known)
    x, y = np.asarray(found, dtype=float), np.asarray(known, dtype=float)
    size = float(np.abs(y).max())
    worst = float(np.abs(x - y).max()) / size if size > 0 else float(np.abs(x).max())
    return worst if np.isfinite(worst) else np.inf


def agrees(found: Any, known: Any, tolerance: float = 1e-6, route: str = "trained") -> Verdict:
    """Two routes give the same numbers: their `relative_gap` is below a tolerance; `route` names the second one.

    Parameters
    ----------
    found : Any
        By the first route.
    known : Any
        By the second route.
    tolerance : float, optional
        Largest relative gap.
    route : str, optional
        What the second route is called.

    Returns
    -------
    Verdict
        Holds or fails, as a measurement.

    Examples
    --------
    >>> agrees([1.0, 2.0], [1.0, 2.0]).details
    {'gap_to_trained': 0.0}
    """
    worst = relative_gap(found, known)
    seen = {f"gap to {route}": worst, "allowed": tolerance}
    return measured(worst < tolerance, seen, **{f"gap_to_{route}": rounded(worst, 2)})


def has_exponent(law: FittedPower, expected: float, width: float) -> Verdict:
    """The interval of a fitted exponent contains the expected one and is shorter than `width`.

    Parameters
    ----------
    law : FittedPower
        A fitted power law.
    expected : float
        The exponent that is claimed.
    width : float
        How long the interval may be.

    Returns
    -------
    Verdict
        Holds or fails, as a measurement.

    Examples
    --------
    >>> from odesys import fit_power_law
    >>> has_exponent(fit_power_law([1, 2, 4, 8], [1.0, 2.0, 4.0, 8.1]), 1.0, width=0.1).as_stated
    'holds'
    """
    low, _, high = law.interval
    seen = rounded(law.interval, 4)
    fine = low <= expected <= high and high - low < width
    return measured(fine, {"exponent": seen}, exponent=seen, expected=expected)


def in_turn(parts: Mapping[str, Callable[[], Verdict]]) -> Verdict:
    """Parts of a claim one after the other, up to the first that does not hold; the rest is not computed.

    Parameters
    ----------
    parts : Mapping[str, Callable[[], Verdict]]
        By name, functions that give a verdict.

    Returns
    -------
    Verdict
        The first that does not hold, or all together.

    Examples
    --------
    >>> from odesys import proved, refuted
    >>> verdict = in_turn({"first": proved, "second": lambda: refuted({"x": "1"}), "third": lambda: 1 / 0})
    >>> verdict.as_stated, list(verdict.details["parts"])
    ('fails', ['first', 'second'])
    """
    seen: dict[str, Verdict] = {}
    for name, check in parts.items():
        seen[name] = check()
        if seen[name].as_stated != HOLDS:
            break
    return combine_verdicts(seen)
