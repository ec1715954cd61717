"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

from odesys.claims import ClaimBook


def explain(book: ClaimBook) -> None:
    """State all reasons: mutations, claims, and why they keep their verdict."""
    small = "what is broken moves by orders of 1/m along these runs, less than the ten percent of room"
    book.harmless("keys flip values scale", "E.7 E.11 F.2 F.12 F.15", small)
    book.harmless("G", "E.7", "a ratio of two changes of the same run, in which the speed of G cancels")
    book.harmless("G", "E.11 F.2", "a faster G makes the g of all samples smaller, and the statement is an upper bound")
    book.harmless("labels", "E.11 F.12", "both labels give terms of the same size, and the statement is an upper bound")
    book.harmless("weight", "F.2 F.12 F.15", "samples of I4 that count twice are learnt sooner, and the statement is an upper bound")
    book.harmless("keys values weight", "F.17", "the rate of this score comes from the start values of keys and from I1 to I3")
    book.harmless("flip", "F.19", "keys and queries move by products of two scores or rates, in which the sign cancels")
    book.harmless("values", "F.19", "keys and queries do not depend on the value Gram matrix at leading order")
    book.harmless("labels weight G scale", "F.19", "keys and queries move less there, and the statement is an upper bound")
