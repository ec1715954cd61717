"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

from odesys.claims import ClaimBook


def explain(book: ClaimBook) -> None:
    """State all reasons: mutations, claims, and why they keep their verdict."""
    book.harmless("keys", "Thm.4.1 Thm.4.2 5.4-time E.6 Eq.177 Prop.F-I D.10 Beyond.MF.stage1 Beyond.MF.lazy 5.4 Eq.73-76 Prop.N-Q Eq.55-59 Eq.102-105 Prop.J-M Eq.62-71 Eq.46-54 Beyond.MF.stage3 D.7 E.5 5.5 Beyond.MF.stage2 Eq.31-37 5.3",
                  "the mean field of this claim has its norms frozen, so the equations of the keys do not enter")
    book.harmless("repeat", "Thm.4.1 Thm.4.2 5.4-time E.6 Eq.177 Prop.F-I D.10 5.4 Eq.73-76 Prop.N-Q Eq.55-59 Eq.102-105 Prop.J-M Eq.62-71 Eq.46-54 Beyond.MF.stage3 D.7 E.5 5.5",
                  "a repeated signal changes constants of the attention, not the saturated law or the order")
    book.harmless("sign", "Thm.4.1 Thm.4.2 5.4-time E.6 Eq.177 Prop.F-I D.10 5.5",
                  "a minus in front of the output turns the sign of all values; margins, losses and times stay")
    book.harmless("noise", "Thm.4.1 5.4-time Prop.F-I D.10 5.4 Eq.73-76 Eq.55-59 Eq.102-105 Eq.62-71 Eq.46-54 D.7 5.5 Beyond.MF.stage2 Eq.31-37 5.3",
                  "the signal's own equations are untouched, and the statement is about them or has the noise values as symbols")
    book.harmless("values", "Thm.4.2 E.6 Eq.177 Prop.F-I D.10 5.4 Eq.73-76 Prop.N-Q Eq.55-59 Eq.102-105 Prop.J-M Eq.62-71 Eq.46-54 5.5 Beyond.MF.stage2 Eq.31-37",
                  "values that move twice as fast are a |w_O|^2 twice as large, for which the statement holds too")
    book.harmless("pool", "E.6 Eq.177 Prop.F-I Eq.55-59 Eq.102-105 Prop.J-M Eq.62-71 Eq.46-54 5.5",
                  "summed rows rescale the output by M: orders, signs and bounds with room stay")
    book.harmless("scale", "E.6 Eq.177 D.10 5.4 Eq.73-76 Prop.N-Q Eq.55-59 Eq.102-105 5.5",
                  "scores that count half double their growth time up to logarithms: orders, signs and bounds with room stay")
    book.harmless("flip", "Beyond.MF.stage1 Beyond.MF.lazy Beyond.MF.stage3",
                  "with the scores held, or with attention that does not follow the values, the statement is about the values alone")
    book.harmless("scale", "Beyond.MF.stage1 Beyond.MF.lazy",
                  "at zero scores their scale does not matter")
    book.harmless("flip", "Eq.55-59",
                  "the sum is of absolute values, whose order in d_h is the same for scores that move backwards")
    book.harmless("sign scale pool repeat weight", "Beyond.invariants",
                  "the traces are conserved for every model, loss and data")
    book.harmless("values noise", "Beyond.invariants",
                  "the traces do not contain the values, and are conserved whatever drives the scores")
    book.harmless("sign scale pool repeat weight flip keys values noise", "D.4 E.2",
                  "early in training norms and inner products have hardly moved from the start, whatever drives them")
    book.harmless("scale flip keys start", "D.3 E.1 D.6 E.4",
                  "the bounds on the changes of V hold for every attention")
    book.harmless("pool repeat values", "D.5 5.2",
                  "a common factor of all values, or more signal, keeps the order of the values and the inequality of the rates")
    book.harmless("repeat", "E.3",
                  "a common factor of all values, or more signal, keeps the order of the values and the inequality of the rates")
    book.harmless("scale flip keys start", "D.5 5.2 E.3",
                  "stage 1 has uniform attention, where scores hardly count")
    book.harmless("scale flip keys", "Eq.147",
                  "stage 1 has uniform attention, where scores hardly count")
    book.harmless("noise", "D.5 5.2",
                  "noise values that stand still are dominated all the more")
    book.harmless("scale pool repeat", "Prop.B-E F.4-signs F.12",
                  "constants of attention and output change, signs and dominance stay")
    book.harmless("start", "Prop.B-E F.4-signs F.12",
                  "keys twice as long keep signs and dominance")
    book.harmless("weight", "Prop.B-E F.4-signs F.12",
                  "each class keeps its signs, and the bounds have room for a factor 2")
    book.harmless("values", "Prop.B-E F.4-signs F.12",
                  "values that move twice as fast keep signs and dominance")
    book.harmless("noise", "Prop.B-E F.4-signs F.12",
                  "noise values that stand still leave the signal dominant")
    book.harmless("keys", "Prop.B-E F.4-signs F.12",
                  "norms move little, and the bounds have room for twice that")
    book.harmless("weight", "Def.3.1 Def.5.1 D.1",
                  "the weight of a sample enters neither its tokens nor its output")
    book.harmless("flip keys values noise", "Def.5.1 D.1",
                  "it reads the output of a sample, not how anything moves")
    book.harmless("flip keys", "Def.5.2 B.1 B.2 5.1/update",
                  "it reads the loss and the equations of the values, not those of scores and norms")
    book.harmless("keys", "Def.B.3 Eq.2 Sec.5.2-signs F.3-index F.4",
                  "it reads the equations of the scores, not those of the keys")
    book.harmless("values noise", "Def.B.3 Eq.2 Sec.5.2-signs F.3-index F.4 B.3",
                  "it reads the equations of the scores (and norms), not those of the values")
    book.harmless("keys values noise start", "F.3",
                  "the bound has room for this factor")
