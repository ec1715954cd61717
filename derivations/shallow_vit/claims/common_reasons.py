"""What was tried for a proof of each statement or step that stays a measurement, and why it did."""

from __future__ import annotations

from odesys import Evidence, Verdict

TRIED = {
    "Eq.92": "that no power of B can occur is exact; that the noise term is not zero in the middle of a run is generic and was measured",
    "Eq.55-59": "(56), (57) by proof; tried for (58): both sides are sums over neurons of their own gates, compared in runs; (59): that no power of B can occur is exact, that the part is not zero at T was seen in runs",
    "Eq.162-170": "K and Q are exact with any overlap; tried for a bound of the pull of other queries: nuisance queries turn to pattern 1 where the output rewards it, which is an "
    "average over samples whose sign at the first steps is random; later it was measured",
    "Eq.60": "tried: K = eta G_11 and G_11 is a covariance under attention, bounded above by proof (common_motion); the lower bound needs w'v_1 - w'v_j > 0 along the "
    "run, which the 21 equations give in numbers, not in closed form",
    "Eq.109-113": "that no power of B can occur is exact; that the mean step on nuisance features is not zero was measured, as its sign depends on sliding gates",
    "Eq.117-120": "that no power of B can occur is exact; that an unlucky neuron moves late in a run needs one that is revived, seen in runs",
    "Eq.133-135": "(133) is proved; tried for (134): w'v_2 <= w'v_1 holds at the start for lucky neurons in the mean, by symmetry; its growth follows the 21 equations in numbers; "
    "(135): no power of B, exactly, and a ratio that is not zero, in runs",
    "Eq.144-147": "tried for (147): the batch of (146) has no sample with tokens of patterns 1 and 2, so that K_e is 0 in it; samples that have both need alpha_# > 0, "
    "and another class moves the same component",
    "Eq.164-165": "tried for (165): the batch of (164), in which no sample has tokens of patterns 1 and 2, so that Q_e is 0",
    "Eq.155-158": "(155) by proof; tried for (158): the factor beside the share of the queries is a covariance under attention summed over samples of both classes and over neurons, "
    "whose sign at the first steps is random",
    "Eq.149-150": "tried for p_n(t) >= p_n(0): the sign of G_11 is that of a sum over random neurons at the first steps, and both signs occur; later it is that of the output, in runs",
    "Eq.47-48": "(47) by proof; tried for (48): attention on a confusion token rises where its logit grows by more than the mean under attention, which needs the forces of both classes late "
    "in a run; they follow the 21 equations in numbers, so that the sign was counted over starts",
    "Eq.49-50": "tried: k(l) is a mean of G_11 over samples, whose sign at the first steps is random; for large t it follows the output, which was measured",
    "Eq.214": "tried: the mean direction of lucky neurons is exact (Eq.210-218), and among many neurons some are nearly orthogonal to V; that one of them disagrees with the sum at "
    "m = 1000 is a probability, which was counted over starts",
    "Prop.2": "level: by certificate, given that training ends at eta T = Theta(1), which is measured: a lower bound of dF/dt needs the share of living neurons; all queries: proved; "
    "tried for the direction: G_11 is a sum over label-relevant and confusion queries of both classes, whose sign follows the gates along the run, and with output weights of "
    "positions also their signs; the 21 equations give it in numbers for one a_i",
}


def reasoned(id: str, verdict: Verdict) -> Verdict:
    """The same verdict with what was tried, where it is a measurement."""
    return (
        verdict.adding(why_measured=TRIED[id]) if id in TRIED and verdict.evidence == Evidence.MEASUREMENT else verdict
    )
