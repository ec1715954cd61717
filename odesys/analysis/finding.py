"""One line of an answer about a system, with its evidence and what was searched."""

from __future__ import annotations

from dataclasses import dataclass

from .rest_words import rest_words

SECTIONS = ("structure", "conserved", "symmetries", "invariant sets", "equilibria", "run")


def heading(section: str, kind: str = "flow") -> str:
    """What stands above the lines of a section, for a flow or a map; its name in tables and JSON is that of `SECTIONS`.

    >>> heading("equilibria", "map")
    'fixed points'
    """
    return rest_words(kind).many if section == "equilibria" else section


@dataclass(frozen=True)
class Finding:
    """One line of an answer.

    Attributes
    ----------
    section : which part of the analysis it belongs to, one of `SECTIONS`.
    text : the line, in plain words and the names of the system.
    evidence : ``proof``, ``certificate``, ``measurement`` or ``undecided``.
    searched : among what this is complete, or what was tried; empty where the line says all.
    further : what would decide it, for a line that is undecided.
    """

    section: str
    text: str
    evidence: str
    searched: str = ""
    further: str = ""

    def as_json(self) -> dict[str, str]:
        """The fields by name."""
        return {
            "section": self.section,
            "text": self.text,
            "evidence": self.evidence,
            "searched": self.searched,
            "further": self.further,
        }
