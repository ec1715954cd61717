"""Does a statement hold as printed, on what evidence, where was that seen, and what holds instead.

Nouns: `Verdict` (the answer), `Evidence` (how strongly it was checked), `Witness` (where it fails).
May import: `odesys.stated`, `odesys.shortening`.

`as_stated` and `evidence` are kept apart, so that a plot never passes for a proof; `fails` carries a witness that can
be substituted by hand, `undecided` its residual, `untested` the reason why nothing can be said. What a book under the
verdict rule may do with a verdict is in `odesys.papers.rule`.

>>> measured(True).as_stated == HOLDS, refuted({"x": "1"}).as_stated == FAILS
(True, True)
>>> undecided("x is left").as_stated == UNDECIDED, untested("m must be huge").as_stated == UNTESTED
(True, True)
"""

from .making import certified, decided, measured, proved, refuted, undecided, untested
from .parts import (
    ANSWERS,
    APPROACHED,
    EVERY,
    FAILS,
    FAULTS,
    HOLDS,
    INSIDE,
    OUTSIDE,
    UNDECIDED,
    UNTESTED,
    WHERE,
    Evidence,
    Point,
    Proof,
    Regime,
    Seeds,
    Shortfall,
    Tolerance,
    Witness,
)
from .verdict import Corrected, Verdict, without_statements

__all__ = [
    "ANSWERS",
    "APPROACHED",
    "EVERY",
    "FAILS",
    "FAULTS",
    "HOLDS",
    "INSIDE",
    "OUTSIDE",
    "UNDECIDED",
    "UNTESTED",
    "WHERE",
    "Corrected",
    "Evidence",
    "Point",
    "Proof",
    "Regime",
    "Seeds",
    "Shortfall",
    "Tolerance",
    "Verdict",
    "Witness",
    "certified",
    "decided",
    "measured",
    "proved",
    "refuted",
    "undecided",
    "untested",
    "without_statements",
]
