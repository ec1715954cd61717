"""What was tried for a proof of each claim that stays a measurement, and why it did."""

from __future__ import annotations

from typing import overload

from odesys import Verdict

REASONS_TO_MEASURE = {
    "5.1": "tried: bound less step at every state (common_bounds) leaves own attention against 4N(l/d)^(1/2) times all other attention; that needs a lower "
    "bound of the attention of a noise token, which only propositions E and I give, and they are measured",
    "F.4-signs": "the part of the own token is proved for every M (the correction of F.4); tokens of other samples add N M C_p^2 (l/d)^(1/2) times the largest "
    "quotient of two forces, which only E(t) and I(t) bound, and they are measured",
    "F.12": "tried: rows of alpha add up to zero (Beyond.I1-I3), so the rest is at most max|<k_+, k_n,i>|/|k_+|^2 given the signs and C(t); both are "
    "measured along trajectories, so this is too, at the size that C.3 gives it",
    "Eq.62-71": "given Lemma 5.3 at T_2 it is one line, attention at most e^(-Lambda) (Eq.62-T2); that the growth of Lemma 5.3 goes on until the T_2 without "
    "logarithm, where values are not o(1), has no closed form that was found",
    "Eq.102-105": "given F(t), (64) and (65) the largest summand times T_3 is the printed order, as in Eq.55-59; but (64) and (65) are measured (Eq.62-71), "
    "and they are for a T_2 without logarithm, where this sum begins earlier",
    "5.3": "gaps: given C(t), attention and F.12 they are Eq.31-37 and Eq.38-N, by certificate, with the constant that is used here; F.12 and C(t) are measured "
    "along trajectories, so this is too",
    "Prop.B-E": "values: the bounds (22)-(30) are those of D.5 at every state, and Eq.26; norms and sizes of other products follow from sums of coefficients, which "
    "are proved given B and D (Eq.55-59); signs need F.12, and the induction over four propositions at once was not closed with constants",
    "Prop.J-M": "the paper refers to the benign proof; tried: values as in E.3 at every state, gaps by Eq.152-157 given the rest; at L = 90 scores at T_1 are not small "
    "yet (Beyond.stage-one), so that attention near 1/M, which both need, is not there to start from",
    "5.4": "given attention of at least 2/3 on the signal it is proved (Eq.77-85); that attention is so large from T_2 on is measured (Prop.F-I)",
    "Prop.F-I": "values: proved given attention of at least 2/3 (Eq.73-76, Eq.77-85); own scores: Eq.93-101 given F.12; norms and other scores need the sums of "
    "Eq.102-105, which are measured, and the four propositions were not closed together with constants",
    "Prop.N-Q": "as Prop.F-I with the first noise token; the paper gives no proof of its own, and the benign one needs N SNR^2 bounded below in (102)",
    "D.7": "that the loss is epsilon by T follows from Eq.77-85 and (73) given the attention; that T is not smaller, the other half of Theta, needs "
    "f <= V_+ and the sharp -l', and was measured; both need the attention of Prop.F-I",
    "E.5-time": "as D.7, with the first noise token",
    "Thm.4.1": "D.7, D.8, D.9 and D.10 give it given Prop.F-I, which is measured; beside them T and the test loss were measured themselves",
    "Thm.4.2": "E.6 gives the test loss given N(t), and E.5-time the training loss, both from Prop.N-Q, which is measured; T and the test loss were measured themselves",
}


@overload
def reasoned(id: str, answer: Verdict) -> Verdict: ...
@overload
def reasoned(id: str, answer: dict[str, Verdict]) -> dict[str, Verdict]: ...
def reasoned(id: str, answer: Verdict | dict[str, Verdict]) -> Verdict | dict[str, Verdict]:
    """The same verdicts with the reason why they are measured."""
    why = REASONS_TO_MEASURE[id]
    if isinstance(answer, dict):
        return {part: verdict.adding(why_measured=why) for part, verdict in answer.items()}
    return answer.adding(why_measured=why)
