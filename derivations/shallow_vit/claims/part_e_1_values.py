"""Lemma 2, Claim 3 and what it says of mixed values and of errors."""

from __future__ import annotations

from dataclasses import replace

from odesys import (
    HOLDS,
    Evidence,
    Verdict,
    Witness,
    computed_once,
    decided,
    entry_pairs,
    equal,
    graph,
    identity,
    num,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import COQ, LONGEST, SHARED, THEOREM_1, Tables, before_margin, claim, tables
from .common_gradients import POSITIVE, gradient_v
from .common_motion import EXACT, n, too_slow
from .common_seeds import in_every_run

COUNTED = "argues in words: counts the steps that were made and the terms of a sum"


@computed_once
def own_sums(lab: Laboratory) -> Verdict:
    """The step of each value is the sum of C_ij w_i over all neurons, C_ij = -V_i of that pattern, entry by entry."""
    t = tables(lab.toy())
    return equal(entry_pairs(before_margin(lab.rates("V")), gradient_v(t, False), "W_V"), positive=POSITIVE)


def mixed(t: Tables, values: list[list[graph.Node]], axis: int) -> graph.Node:
    """One coordinate of the mixed value of a query of pattern 1, with expressions in place of the values."""
    return graph.add(t.softmax(0, j, 0) * values[j][axis] for j in range(3))


@claim(
    "Eq.28-29",
    "Mixed value of a query of pattern 1",
    kind="identity",
    uses=["Eq.51-53"],
    expect="fails",
    same_as="Eq.81",
    origin="proof",
    where="Lemma 2, Eq. (29), a display of its proof (We later show that)",
    parts=["(29)"],
    hypotheses=THEOREM_1,
    fault="proof",
    cause="log-T",
    statement=r"V_l^n(t)=\sum_{s\in S_1}\mathrm{softmax}_s\,p_1+z+\sum_{j\ne1}W_jp_j-\eta\sum_{b=1}^t\Big(\sum_{i\in\mathcal W}V_i(b)w_i^{(b)}+\lambda\sum_{i\notin\mathcal W}V_i(b)w_i^{(b)}\Big)",
    reading="as an equality, with the limits of (81); after (82) terms with W_j are left out as much smaller than Theta(1) for large t",
)
def mixed_value(lab: Laboratory) -> Verdict:
    """With v_j = p_j + z_j + grown_j the printed right side leaves out sum_j W_j (grown_j - grown_1), j other than 1.

    W_j does not become small: all logits are bounded free of eta while eta T is (Prop.2). With its own weight for each
    growth the equality is exact; lambda = 1.
    """
    t = tables(lab.toy())
    names = ("p", "z", "g")
    entry = {(name, j): sym(f"{name}{j}") for name in names for j in range(3)}
    values = [[graph.add(entry[name, j] for name in names)] for j in range(3)]
    W = [t.softmax(0, j, 0) for j in range(3)]
    start = graph.add(W[j] * (entry["p", j] + entry["z", j]) for j in range(3))
    rest = graph.add(W[j] * (entry["g", j] - entry["g", 0]) for j in (1, 2))
    left = identity({"rest": mixed(t, values, 0) - (start + entry["g", 0]) - rest}, positive=POSITIVE)
    weighted = start + graph.add(W[j] * entry["g", j] for j in range(3))
    exact = own_sums(lab) & identity({"own weights": mixed(t, values, 0) - weighted}, positive=POSITIVE).proving(
        "the growth of v_j is the sum of its own pattern with lambda = 1; z is the mean of the errors, no longer than sigma + tau"
    )
    what = "more than half of the growth of each nuisance value is not along that of v_1"
    apart = in_every_run(lab, what, lambda x: x["left by lambda"] > 0.5)
    if any(each.as_stated != HOLDS for each in (left, exact, apart)):
        return undecided("the values do not grow by their own sums, or all by the same")
    sentence = (
        "for eta to 0 (all hypotheses hold) and every t with bounded eta t, and after the end of training, logits are bounded free of eta, so that each W_j stays above "
        "a constant; the right side leaves out W_j times the difference of the growths of v_j and v_1, and more than half of the growth of a nuisance v_j is not along that of v_1"
    )
    found = too_slow(lab, graph.ONE, n, sentence)
    found = replace(found, evidence=min(found.evidence, Evidence.CERTIFICATE))
    return found.assuming(
        "values of nuisance patterns grow by other vectors than v_1: measured at T, over starts"
    ).correcting(
        r"V_l^n(t)=\sum_jA_j\Big(p_j+z_j-\eta\sum_{b=0}^{t-1}\sum_iV_i^{(j)}(b)w_i^{(b)}\Big),\quad A_j\text{ the attention on pattern }j",
        exact,
        "W_j is bounded below, free of eta (Prop.2), so its terms are as large as those that are kept",
    )


@claim(
    "Eq.51-53",
    "Claim 3: value vectors",
    kind="identity",
    uses=["Eq.189-191"],
    expect="fails",
    same_as="Eq.198-200",
    where="Lemma 2, Claim 3, Eqs. (51)-(53)",
    parts=["(51), (52)", "(53)"],
    hypotheses=SHARED,
    fault="misprint",
    cause="limits-of-sums",
    statement=r"W_V^{(t)}x_j=p_1-\eta\sum_{b=1}^t\Big(\sum_{\mathcal W}V_i(b)w_i^{(b)}+\lambda\sum_{\notin\mathcal W}V_i(b)w_i^{(b)}\Big)+z_j,\ j\in S_1\ (S_2:p_2,\mathcal U);\qquad W_V^{(t+1)}x_j=p_j-\eta\sum_{b=1}^t\sum_i\lambda V_i(b)w_i^{(b)}+z_j,\ j\notin S_1\cup S_2",
    reading="only the limits of the sums: with V_i the coefficient of the token's own pattern, as in (191), and lambda = 1, all three are exact; tau = 0",
)
def value_vectors(lab: Laboratory) -> dict[str, Verdict]:
    """Sums of each pattern are exact from b = 0 to t - 1, with the coefficient of the token's own pattern and lambda = 1.

    At t = 1 one step was made, with V_i(0) and W_O(0); the printed sum of (51) has V_i(1) and W_O(1), which have moved nothing yet.
    At t = 0 the left side of (53) has made a step and its sum is empty; (198)-(200) have as many terms as steps.
    """
    exact = own_sums(lab).proving("the printed sums over lucky and other neurons with lambda = 1 are all of them")
    if exact.as_stated != HOLDS:
        return dict.fromkeys(("(51), (52)", "(53)"), undecided("the values do not grow by their own sums"))
    early, late = sym("V_0") * sym("w_0"), sym("V_1") * sym("w_1")
    limits = identity({"t = 1: the step made less the printed term": early - late})
    sentence = (
        "at t = 1 (all hypotheses hold) W_V^(1) x_j - p_j - z_j is the step made from t = 0, eta sum_i C_i(0) w_i(0), while the printed sum from b = 1 to 1 has C_i(1) w_i(1) of "
        "the next step; (81) has b = 0 to t - 1"
    )
    still = identity({"the first step of a nuisance value": before_margin(lab.rates("V"))[0, 2]}, positive=POSITIVE)
    empty = (
        "at t = 0 (all hypotheses hold, no errors) the sum of (53) from b = 1 to 0 is empty, so that the right side is p_j, while W_V^(1) x_j has made one step, "
        "which is not zero; (200) has one term more"
    )
    return {
        "(51), (52)": decided(limits.as_stated == HOLDS, Witness(sentence, EXACT))
        .arguing(COUNTED)
        .correcting(r"\sum_{b=0}^{t-1},\ \lambda=1", exact, "as (81) has it: steps 0 to t - 1 have been made"),
        "(53)": decided(still.as_stated == HOLDS, Witness(empty, EXACT))
        .arguing(COUNTED)
        .correcting(
            r"W_V^{(t+1)}x_j=p_j-\eta\sum_{b=0}^{t}\sum_iV_i(b)w_i^{(b)}+z_j,\quad V_i\text{ the coefficient of the token's own pattern}",
            exact,
            "steps 0 to t have been made",
        ),
    }


@claim(
    "Eq.54",
    "Error of the values stays",
    kind="inequality",
    uses=["Eq.51-53", "Asm.2"],
    same_as="Eq.201",
    where="Lemma 2, Claim 3, Eq. (54)",
    parts=["error"],
    hypotheses=THEOREM_1,
    statement=r"\|z_j(t)\|\le\sigma+\tau",
    reading="z_j(t) is what the sums of Claim 3 leave, with coefficients of the own token (of its pattern for tau = 0)",
)
def error_stays(lab: Laboratory) -> Verdict:
    """One step moves a value by exactly its sum, so what the sums leave is the error of the start, which Assumption 2 bounds."""
    v, grown, step, p = sym("v"), sym("grown"), sym("step"), sym("p")
    stays = identity({"z(t + 1) - z(t)": (v + step - p - (grown + step)) - (v - p - grown)})
    return own_sums(lab) & stays.by_theorems(COQ / "error_stays.v", LONGEST).proving(
        "z_j(0) = W_V x_j - p_j is at most sigma + tau long by Asm.2, and z_j(t) = z_j(0)"
    )


@claim(
    "Eq.37",
    "Neurons on the noise",
    kind="inequality",
    uses=["Eq.54"],
    same_as="Eq.41, Eq.43, Eq.123",
    insensitive="Cauchy-Schwarz, given (54)",
    where="Lemma 2, Claim 1, Eqs. (37), (41), (43)",
    parts=["noise"],
    hypotheses=THEOREM_1,
    statement=r"\|W_{O(i,\cdot)}^{(t)}z_l(t)\|\le(\sigma+\tau)\|W_{O(i,\cdot)}^{(t)}\|",
    reading="any neuron and any error of length at most sigma + tau, as (54) has it",
)
def neurons_on_noise(lab: Laboratory) -> Verdict:
    """Cauchy-Schwarz by Lagrange's identity: in the plane of the two vectors two coordinates are enough."""
    (w0, w1), (z0, z1) = ([sym(f"{name}{i}") for i in range(2)] for name in "wz")
    left = (w0 * w0 + w1 * w1) * (z0 * z0 + z1 * z1) - (w0 * z0 + w1 * z1) ** 2
    plane = identity({"Lagrange": left - (w0 * z1 - w1 * z0) ** 2 * num(1)})
    return plane.by_theorems(COQ / "neurons_on_noise.v", LONGEST).proving(
        "w and z span a plane, in whose coordinates |w|^2 |z|^2 - (w'z)^2 is a square; |z| <= sigma + tau by (54)"
    )
