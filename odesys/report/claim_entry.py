"""The claims of a paper as its pages show them: each with its verdict in a word, a mark and a colour."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..papers.claims import Claim, Outcome
from ..verdicts import Verdict
from .content import Content

NOT_RUN, NOT_JUDGED = "not run", "not judged"
LETTERS = {"proof": "P", "certificate": "C", "measurement": "M"}
MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "untested": "–", NOT_RUN: "·", NOT_JUDGED: "="}
LEGEND = (
    ("proof", "P", "holds, by proof"),
    ("certificate", "C", "holds, by certificate"),
    ("measurement", "M", "holds, as measured"),
    ("fails", "✗", "fails as printed"),
    ("undecided", "?", "undecided"),
    ("untested", "–", "untested: no point inside the hypotheses is within reach"),
    ("unjudged", "=", "definition or condition"),
    ("unrun", "·", "not run at this level"),
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
    above: int = 0  # claims that rest on it, directly or not
    theorems: tuple[str, ...] = ()  # main theorems among these

    @property
    def verdict(self) -> Verdict | None:
        """What was found."""
        return self.outcome.verdict if self.outcome else None

    @property
    def word(self) -> str:
        """The verdict in a word; definitions and conditions have none."""
        if self.outcome is None:
            return NOT_RUN
        return self.outcome.verdict.as_stated if self.claim.judged else NOT_JUDGED

    @property
    def evidence(self) -> str:
        """The strength of the verdict; empty where there is none."""
        return str(self.outcome.verdict.evidence) if self.outcome and self.claim.judged else ""

    @property
    def mark(self) -> str:
        """The verdict as one character, for those who see no colour: what holds by the letter of its evidence."""
        return LETTERS[self.evidence] if self.word == "holds" else MARKS[self.word]

    @property
    def css_class(self) -> str:
        """The class that gives the verdict its colour on a page."""
        classes = {"holds": self.evidence, NOT_RUN: "unrun", NOT_JUDGED: "unjudged"}
        return f"v-{classes.get(self.word, self.word)}"

    @property
    def fault(self) -> str:
        """What kind of failure it is; empty where nothing fails, or the book does not say."""
        return self.outcome.verdict.fault if self.outcome else ""

    @property
    def summary(self) -> str:
        """The verdict with its evidence."""
        return f"{self.word}, {self.evidence}" if self.evidence else self.word

    @property
    def seal(self) -> str:
        """The file that the kernel of a proof assistant checked, in the folder of the paper; empty without one."""
        found = self.outcome.proof_check if self.outcome else None
        return found.file if found is not None and found.sealed else ""


def seal_count(entries: Iterable[ClaimEntry]) -> str:
    """How many proofs were checked by Coq, in a sentence; empty where none was exported.

    >>> seal_count([])
    ''
    """
    asked = [e for e in entries if e.outcome is not None and e.outcome.proof_check is not None]
    sealed = sum(bool(entry.seal) for entry in asked)
    return (
        f"{sealed} of {len(asked)} proofs are sealed: their statements were checked by the kernel of Coq"
        if asked
        else ""
    )


def claim_entries(content: Content) -> list[ClaimEntry]:
    """All claims of the book, in its order."""
    import networkx as nx

    if content.book is None:
        return []
    found, graph = {outcome.claim.id: outcome for outcome in content.outcomes}, content.book.proof_graph()
    mains = [claim.id for claim in content.book if claim.main]
    entries = []
    for claim in content.book:
        above = nx.descendants(graph, claim.id)
        used_by = tuple(other.id for other in content.book if claim.id in other.uses)
        theorems = tuple(id for id in mains if id in above)
        entries.append(ClaimEntry(claim, found.get(claim.id), used_by, len(above), theorems))
    return entries


def anchor(id: str) -> str:
    """The name of a claim inside the page; different claims have different names."""
    return "claim-" + re.sub(r"[^A-Za-z0-9.\-]", lambda found: f"_{ord(found.group()):x}_", id)
