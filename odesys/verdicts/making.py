"""Making verdicts: one function per kind of answer and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .parts import FAILS, HOLDS, OUTSIDE, UNDECIDED, UNTESTED, Evidence, Regime, Shortfall, Witness
from .verdict import Verdict


def proved(**details: Any) -> Verdict:
    """Holds, by exact rewriting.

    Parameters
    ----------
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = proved(method="expansion")
    >>> verdict.as_stated, str(verdict.evidence)
    ('holds', 'proof')
    """
    return Verdict(HOLDS, Evidence.PROOF, details=details)


def certified(**details: Any) -> Verdict:
    """Holds, exhaustively or with outward rounding over the whole region.

    Parameters
    ----------
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = certified(enumerated="24 permutations").at({"omega": (0, 1)})
    >>> verdict.as_stated, str(verdict.evidence), verdict.scope
    ('holds', 'certificate', {'omega': [0, 1]})
    """
    return Verdict(HOLDS, Evidence.CERTIFICATE, details=details)


def measured(holds: bool, witness: Any = None, **details: Any) -> Verdict:
    """The outcome of a floating-point check: never more than a measurement.

    Parameters
    ----------
    holds : bool
        The outcome.
    witness : Any, optional
        Where it fails, if it does.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> measured(0.51 < 0.5, loss=0.51).witness
    {'loss': 0.51}
    """
    if holds:
        return Verdict(HOLDS, Evidence.MEASUREMENT, details=details)
    return Verdict(FAILS, Evidence.MEASUREMENT, witness=witness if witness is not None else details, details=details)


def decided(holds: bool, witness: Any, evidence: Evidence = Evidence.PROOF, /, **details: Any) -> Verdict:
    """The outcome of an exact check: it holds, with its details, or fails by the witness, on the same evidence.

    Parameters
    ----------
    holds : bool
        The outcome.
    witness : Any
        Where it fails, if it does.
    evidence : Evidence, optional
        Of the check.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> decided(1 + 1 == 3, {"1 + 1": 2}).witness
    {'1 + 1': 2}
    """
    return Verdict(HOLDS, evidence, details=details) if holds else refuted(witness, evidence)


def refuted(witness: Any, evidence: Evidence = Evidence.PROOF, **details: Any) -> Verdict:
    """Fails, with a witness; one that is a `Witness` brings its point along.

    Parameters
    ----------
    witness : Any
        Where it fails.
    evidence : Evidence, optional
        Of the check.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = refuted({"x": "1/2", "residual": "3/4"})
    >>> verdict.as_stated, verdict.witness["x"]
    ('fails', '1/2')
    """
    points = (witness.point,) if isinstance(witness, Witness) else ()
    return Verdict(FAILS, evidence, witness=witness, details=details, points=points)


def undecided(residual: str, evidence: Evidence = Evidence.MEASUREMENT, **details: Any) -> Verdict:
    """Not decided: what is left over, as text.

    Parameters
    ----------
    residual : str
        What is left over.
    evidence : Evidence, optional
        Of what was tried.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> undecided("x**2 - y**2 is left").residual
    'x**2 - y**2 is left'
    """
    return Verdict(UNDECIDED, evidence, residual=residual, details=details)


def untested(why: str, violated: Mapping[str, Shortfall] | None = None, **details: Any) -> Verdict:
    """Nothing can be said here: no point inside the hypotheses is within reach, and no path leads there.

    Parameters
    ----------
    why : str
        The reason.
    violated : Mapping[str, Shortfall], optional
        By hypothesis, how far it is from holding.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> untested("m must exceed 10^9").regime.where
    'outside'
    """
    return Verdict(
        UNTESTED, Evidence.MEASUREMENT, residual=why, details=details, regime=Regime(OUTSIDE, violated or {})
    )
