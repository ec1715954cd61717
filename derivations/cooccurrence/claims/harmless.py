"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

from odesys.claims import ClaimBook


def explain(book: ClaimBook) -> None:
    """State all reasons: mutations, claims, and why they keep their verdict."""


    reason = "the formula holds for all labels"
    book.harmless("labels",
                  "Eq.1 Eq.2 B C.1 C.1/split C.2 C.3 C.4 Eq.7 Eq.4 E.18 Eq.5 Beyond.conserved "
                  "Beyond.level1 Beyond.dissipation Beyond.rigid F.13 4.6", reason)

    reason = "the forces are derivatives of the same loss, whatever multiplies the scores"
    book.harmless("scale unscaled",
                  "Eq.2 Beyond.conserved Beyond.level1 Beyond.dissipation F.13 4.6", reason)

    reason = "a multiple of zero is zero, and the second part does not read these equations"
    book.harmless("beta wide", "Beyond.rigid", reason)

    reason = "network and derived flow are made of the same data and model"
    book.harmless("labels weight scale unscaled", "E.1", reason)

    reason = "it is about rates of G at the start, where scores vanish or are small and Gram matrices have not moved"
    book.harmless("scale unscaled flip keys values beta wide", "4.1 E.4 E.4-proof E.6 4.2 E.16", reason)

    reason = "a run against the exact constants of the same system, which tends to its own hard margin"
    book.harmless("G", "Beyond.svm-run", reason)
    book.harmless("labels G", "Beyond.finite_n-run", reason)
    book.harmless("labels weight G", "F.11", reason)

    reason = "it is about orders in m, absolute values and signs, which a fixed factor or the sign of this equation leaves"
    book.harmless("scale flip", "E.3 E.23 E.24 F.18 F.19 Thm.3.3 Beyond.share", reason)
    book.harmless("values", "E.9", reason)
    book.harmless("beta", "E.12 E.13 F.9", reason)
    book.harmless("scale flip keys", "E.25", reason)
    book.harmless("scale flip keys values beta", "E.28 Thm.3.1", reason)
    book.harmless("scale", "F.16-signs F.16 4.7", reason)

    reason = "what is broken moves the outputs by orders of 1/m along these runs, less than the inequality has room"
    book.harmless("scale unscaled flip keys values beta wide",
                  "E.2 E.7 E.11 E.14 E.15 E.17 E.20 E.26 E.27 F.3", reason)
    book.harmless("keys values beta wide", "E.3 E.23 E.24 F.17 F.18 Thm.3.3", reason)
    book.harmless("scale unscaled flip keys beta", "E.9", reason)
    book.harmless("scale unscaled flip keys values beta", "E.10 F.1 F.2 F.12", reason)
    book.harmless("scale unscaled flip keys values", "E.12 E.13", reason)
    book.harmless("scale flip keys values beta", "E.19 4.3 F.5 4.4 F.6 4.5 F.7 F.8 F.14 F.15 F.20", reason)
    book.harmless("values beta", "E.25 F.19", reason)
    book.harmless("flip keys values", "F.4 F.10", reason)
    book.harmless("scale flip keys values", "F.9", reason)
    book.harmless("flip", "F.11", reason)
    book.harmless("keys values beta", "F.16 4.7 Beyond.share", reason)
    book.harmless("scale unscaled keys beta", "Thm.3.2", reason)
    book.harmless("scale flip keys", "Beyond.level3", reason)

    reason = "this task is learnt with the same orders in m, and bounds and ranges have room for it"
    book.harmless("labels",
                  "Eq.8 E.2 E.3 E.10 E.11 E.12 E.13 E.14 E.15 E.23 E.24 E.25 E.26 F.16-signs F.4 F.12 "
                  "F.18 F.19 Beyond.share", reason)

    reason = "I4 is not at the margin, so late constants do not depend on its weight; earlier orders, signs and ranges have room"
    book.harmless("weight",
                  "Eq.8 E.2 E.3 E.9 E.10 E.12 E.13 E.14 E.17 E.20 E.21 E.23 E.24 E.25 E.26 E.27 E.28 "
                  "Thm.3.1 F.16-signs F.1 F.3 F.2 F.4 F.5 4.4 F.7 F.12 F.14 F.15 F.16 4.7 F.17 F.18 "
                  "F.19 Thm.3.2 Thm.3.2/3 Thm.3.3 Thm.3.3/order Beyond.share Beyond.level3", reason)

    reason = "a factor in the speed of G changes times, not orders in m, signs and ratios, and bounds have room for it"
    book.harmless("G",
                  "E.3 4.2 E.16 E.7 E.9 E.10 E.11 E.12 E.13 E.20 E.21 E.23 E.24 E.25 E.27 E.28 Thm.3.1 "
                  "F.16-signs F.1 F.3 F.2 F.4 F.5 4.4 F.6 4.5 F.7 F.16 4.7 F.18 F.19 F.20 Thm.3.2 "
                  "Thm.3.2/3 Thm.3.3 Beyond.share", reason)
