"""The claims of a paper as its pages show them: each with its verdict in a word, a mark and a colour."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..papers.claims import Claim, Outcome
from ..verdicts import Verdict
from .content import Content

NOT_RUN = "not run"
MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "untested": "–", NOT_RUN: "·"}
LEGEND = (
    ("v-holds e-proof", "✓ holds, proof"),
    ("v-holds e-certificate", "✓ holds, certificate"),
    ("v-holds e-measurement", "✓ holds, measurement"),
    ("v-fails", "✗ fails as printed"),
    ("v-undecided", "? undecided"),
    ("v-untested", "– untested: no point inside the hypotheses is within reach"),
    ("v-unrun", "· not run at this level"),
)
EVIDENCE = {
    "proof": "exact rewriting down to zero",
    "certificate": "exhaustive, or outward-rounded arithmetic over the whole region",
    "measurement": "floating point: tolerance, margins and what was swept are in the details",
}


@dataclass(frozen=True)
class ClaimEntry:
    """A claim with what was found about it; `outcome` is None where the level of the report leaves it out."""

    claim: Claim
    outcome: Outcome | None
    used_by: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """What was found."""
        return self.outcome.verdict if self.outcome else None

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.outcome.verdict.as_stated if self.outcome else NOT_RUN

    @property
    def evidence(self) -> str:
        """The strength of the verdict; empty where there is none."""
        return str(self.outcome.verdict.evidence) if self.outcome else ""

    @property
    def mark(self) -> str:
        """The verdict as one character, for those who see no colour."""
        return MARKS[self.word]

    @property
    def css_class(self) -> str:
        """Classes that give the verdict its colour on a page."""
        return f"v-{self.word} e-{self.evidence}" if self.outcome else "v-unrun"

    @property
    def summary(self) -> str:
        """The verdict with its evidence."""
        return f"{self.word}, {self.evidence}" if self.outcome else self.word

    @property
    def searched(self) -> str:
        """The text that the search field of a page looks into."""
        claim = self.claim
        return f"{claim.id} {claim.title} {claim.kind} {claim.reading} {claim.statement}".lower()


def claim_entries(content: Content) -> list[ClaimEntry]:
    """All claims of the book, in its order."""
    found = {outcome.claim.id: outcome for outcome in content.outcomes}
    claims = list(content.book or ())
    return [
        ClaimEntry(claim, found.get(claim.id), tuple(other.id for other in claims if claim.id in other.uses))
        for claim in claims
    ]


def anchor(id: str) -> str:
    """The name of a claim inside the page; different claims have different names."""
    return "claim-" + re.sub(r"[^A-Za-z0-9.\-]", lambda found: f"_{ord(found.group()):x}_", id)
