"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

from odesys.claims import ClaimBook


def explain(book: ClaimBook) -> None:
    """State all reasons: mutations, claims, and why they keep their verdict."""
    _of_the_toy(book)
    _of_the_runs(book)


def _of_the_toy(book: ClaimBook) -> None:
    """Identities and signs of the toy network."""
    book.harmless("ascent", "Eq.8-9 Sec.4-display Beyond.gauge Beyond.conservation",
                  "up or down the gradient a move has the same length, and symmetries and invariants stay")
    book.harmless("loss", "Eq.8-9 Sec.4-display Eq.14-15 Sec.E.2 Beyond.cone Beyond.gauge E.16-19 E.31-32 E.33 E.34-35 E.38 Beyond.saddle Beyond.signal-saddle Beyond.trap F.3 Beyond.conservation",
                  "every decreasing loss has a slope of one sign, and no more of the loss enters")
    book.harmless("loss", "E.15", "its slope is negative too, and the runs of the corrected form do not read the toy's loss")
    book.harmless("shared", "Eq.1 D.2 D.3 D.4 D.5 App.D-activation D.6 D.7 Eq.44 Eq.46-48 Eq.46-49-growth Beyond.sliding F.2a F.2b F.3-gradient F.3 F.4 Beyond.conservation",
                  "holds sample by sample for every data set; disjoint supports are not used")


def _of_the_runs(book: ClaimBook) -> None:
    """Statements about watched runs."""
    book.harmless("ascent", "E.42 Thm.3.2(4) Thm.3.2-order 4.1(3) E.3 4.3(3) E.7 4.3(4) E.10 E.11 4.4(1) E.12 E.13 4.4(2) 4.3(2) 4.4(3) App.E.1-sums E.22 Eq.37 E.23-24 E.25 Beyond.T4-minus E.26 4.8(1) E.6 E.27 E.14 Eq.27-28",
                  "values then fall, w_i < 0 for ever, and the reversed step turns the moves of queries and keys back into the paper's")
