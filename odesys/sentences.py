"""What verdicts say, as sentences for a reader: numbers of at most four digits, no data structures."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from .verdicts import FAILS, HOLDS, UNTESTED, Evidence, Point, Shortfall, Verdict, Witness

LONG = 10**9  # from here on a whole number is said with a power of ten


def say_number(value: Any) -> str:
    """At most four digits; whole numbers below 10^9 and fractions that are short stay as they are.

    Parameters
    ----------
    value : Any
        A number, a fraction, a pair, or text.

    Returns
    -------
    str
        The number as text.

    Examples
    --------
    >>> from fractions import Fraction
    >>> say_number(0.0123456), say_number(Fraction(1, 8)), say_number(2000), say_number(10**16)
    ('0.01235', '1/8', '2000', '1e+16')
    """
    if isinstance(value, str) or value is None:
        return str(value)
    if isinstance(value, (tuple, list)):
        return " .. ".join(map(say_number, value))
    if isinstance(value, (bool, int)) and not LONG <= abs(value) < 10**300:
        return str(value)
    if isinstance(value, Fraction) and len(str(value)) <= 7:
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return f"{number:.4g}" if isfinite(number) else str(value)


SHOWN = 6  # entries of a point in a sentence


def say_point(point: Point, most: int = SHOWN) -> str:
    """A point in words: ``omega = 0.1, T1 = 3``; long ones are cut, and say so.

    Parameters
    ----------
    point : Point
        A number, or a pair for a box, per symbol.
    most : int, optional
        How many entries are said.

    Returns
    -------
    str
        In words.

    Examples
    --------
    >>> say_point({"omega": 0.1, "T1": (3, 20)})
    'omega = 0.1, T1 = 3 .. 20'
    """
    shown = [f"{name} = {say_number(value)}" for name, value in list(point.items())[:most]]
    more = len(point) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def say_witness(witness: Any) -> str:
    """The sentence of a witness; older ones, which are plain data, entry by entry.

    Parameters
    ----------
    witness : Any
        A `Witness`, or plain data.

    Returns
    -------
    str
        In words.

    Examples
    --------
    >>> say_witness({"t": 0.5, "left": 0.89841})
    't = 0.5, left = 0.8984'
    """
    if isinstance(witness, Witness):
        return witness.sentence
    if isinstance(witness, Mapping):
        return ", ".join(f"{name} = {say_value(value)}" for name, value in witness.items())
    return say_value(witness)


def say_value(value: Any) -> str:
    """A constant or detail in one line.

    >>> say_value([0.123456, 2]), say_value({"b": 1})
    ('0.1235, 2', '(b = 1)')
    """
    if isinstance(value, Witness):
        return value.sentence
    if isinstance(value, Mapping):
        return f"({', '.join(f'{name} = {say_value(item)}' for name, item in value.items())})"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(say_value, value))
    return say_number(value)


def say_constants(constants: Mapping[str, Any]) -> str:
    """Constants as equations.

    >>> say_constants({"b": "0.999 kappa", "C": 1})
    'b = 0.999 kappa, C = 1'
    """
    return ", ".join(f"{name} = {say_value(value)}" for name, value in constants.items())


def say_proof(verdict: Verdict) -> str:
    """The steps of a proof, and the sizes it is for; empty where there is none."""
    proof = verdict.proof
    if proof is None:
        return ""
    sizes = [f"every {name}" if size == "every" else f"{name} = {size}" for name, size in proof.sizes.items()]
    counted = [f"{proof.residuals} residuals are zero"] if proof.residuals else []
    assumed = [f"with {', '.join(proof.assumed)}"] if proof.assumed else []
    return "; ".join([*proof.steps, *counted, *assumed, *([f"for {', '.join(sizes)}"] if sizes else [])])


def say_shortfall(short: Shortfall) -> str:
    """How far a hypothesis is from holding: a factor where both sides are positive, else the slack.

    >>> say_shortfall(Shortfall(0.75, 4.0)), say_shortfall(Shortfall(0.75)), say_shortfall(Shortfall(1.0, float("inf")))
    ('by a factor 4', 'by 0.75', 'whatever the constant')
    """
    if short.factor is None:
        return f"by {say_number(short.by)}"
    if not isfinite(short.factor):
        return "whatever the constant"
    plain = 1000 <= short.factor < 1e6
    return f"by a factor {float(f'{short.factor:.3g}'):,.0f}" if plain else f"by a factor {short.factor:.3g}"


def say_where(verdict: Verdict) -> str:
    """Where a verdict was seen: points, seeds, tolerance with its reason, and the regime where that was not reached."""
    said = [f"{name}: {say_value(values)}" for name, values in verdict.scope.items()]
    if verdict.seeds is not None:
        seeds = verdict.seeds
        if seeds.low is None or seeds.high is None:
            said.append(f"over {seeds.count} seeds")
        else:
            interval = f"99.9 percent interval {seeds.low:.3f} .. {seeds.high:.3f}"
            said.append(f"{seeds.passed} of {seeds.count} seeds pass, {interval}")
    if verdict.tolerance is not None and len(verdict.parts) < 2:  # each part has limits of its own
        for limit in (verdict.tolerance, *verdict.tolerance.beside):
            said.append(f"allowed {say_value(limit.value)}, because {limit.because}")
    if verdict.regime is not None and verdict.regime.where != "inside":
        left = [f"{name} violated {say_shortfall(short)}" for name, short in verdict.regime.violated.items()]
        said.append(f"hypotheses {verdict.regime.where}: {', '.join(left) or 'nothing is violated at the end'}")
    return "; ".join(said)


def say_parts(verdict: Verdict) -> list[str]:
    """Of a verdict in several parts a line for each: its answer, its evidence, and why."""
    if len(verdict.parts) < 2:
        return []
    return [f"{name}: {part.as_stated}, {part.evidence}: {say_answer(part)}" for name, part in verdict.parts.items()]


def say_answer(verdict: Verdict) -> str:
    """Why a verdict is what it is, in a sentence."""
    if verdict.as_stated == FAILS:
        return say_witness(verdict.witness)
    if verdict.as_stated == HOLDS:
        where = say_where(verdict) if verdict.evidence == Evidence.MEASUREMENT else ""  # a proof is not all of it then
        return "; ".join(filter(None, (say_proof(verdict), where))) or say_where(verdict)
    return f"{'not tested' if verdict.as_stated == UNTESTED else 'left open'}: {verdict.residual}"
