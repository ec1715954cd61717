"""Appendix D and E along runs: parts of the output, what drives keys and queries, growth of other directions."""

from __future__ import annotations

from odesys import (
    Verdict,
    always_positive,
    graph,
    identity,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import CONSTANTS, COQ, SHARED, THEOREM_1, before_margin, claim, put
from .common_motion import RIGHT_SIDES, STEPS, TIME, n, too_slow
from .common_samples import PAIR, no_margin
from .common_seeds import (
    CONFUSED,
    either_way,
    in_every_run,
    near_symmetric,
    of_confused,
    over_batches,
    over_steps,
)
from .part_e_1_neurons import COPIES


def outgrown(lab: Laboratory, what: str, file: str) -> Verdict:
    """A display whose left side is bounded by lengths of weights, and whose right side has xi eta (t + 1)^2."""
    sentence = (
        f"for every c and eta to 0 (all hypotheses hold), at T = c eta^(-3/5)/alpha_*: {what} on the left is bounded by lengths of weights, "
        "while eta T^2 on the right grows like eta^(-1/5); at eta T = Theta(1) like 1/eta"
    )
    s, k = sym("s"), sym("k")
    return (
        too_slow(lab, graph.ONE, STEPS**2 / n, sentence, RIGHT_SIDES, file)
        .correcting(
            r"\text{the same with }(\eta t)^2\text{ for }\eta t^2:\ \text{a function of }\eta t",
            identity({"t = s/eta": k * s**2 - k * (sym("eta") * (s / sym("eta"))) ** 2}),
            "as for (34): a factor eta was lost",
        )
        .blaming("proof", "lost-eta")
    )


@claim(
    "Eq.55-59",
    "Parts of the output",
    kind="inequality",
    uses=["Eq.34", "Eq.42"],
    expect="fails",
    origin="proof",
    where="Proof of Theorem 1, Eqs. (56)-(59)",
    parts=["(56)", "(57)", "(58)", "(59)"],
    hypotheses=SHARED,
    statement=r"\text{lucky}\ge\tfrac{|S_1|m}{|S|a}\big(\tfrac{\xi\eta(t+1)^2|S_1|m}{|S|a^2}(\dots)+\dots\big)\ (56),\quad \text{rest of }\mathcal K_+\ge0\ (57),\quad\mathcal U\le\tfrac{|S_2|}{|S_1|}\text{lucky}\ (58),\quad\text{rest of }\mathcal K_-\lesssim\tfrac{|S_1|m}{|S|a}\tfrac1{\sqrt B}\,\text{lucky}\ (59)",
    reading="(56) up to T of (10), eta to 0; (58) at alpha_# = 1/20; lucky sets as in (24), with the sign of a_i; (59) for batches of copies",
)
def parts_of_output(lab: Laboratory) -> dict[str, Verdict]:
    """Sums of ReLUs over the groups, over that of lucky neurons."""
    second = in_every_run(lab, "(58) holds", lambda x: x["output of U"] <= 0.1)  # alpha_#/alpha_* of these runs
    printed, _ = over_batches(lab, "output of rest of K-", "the rest of K_- over the lucky part of the output", -0.5)
    both = in_every_run(
        lab, "U and the rest together are small", lambda x: x["output of U"] + x["output of rest of K-"] <= 0.1
    )
    w, a = sym("w"), sym("a")
    return {
        "(56)": outgrown(lab, "the lucky part of the output", "output_of_lucky.v"),
        "(57)": always_positive({"a Relu": a * graph.relu(w)}, positive=("a", "w"))
        .by_theorems(COQ / "units_are_not_negative.v", {"unit": (("a", "w"), a * graph.relu(w))}, alone=True)
        .proving("each summand is a positive number times a ReLU, which is not negative"),
        "(58)": second
        & near_symmetric(lab, "u1", "u2")
        & undecided(
            "at T, alpha_* = 1/2, alpha_# = 1/20, (58) holds over starts; at other fractions and times it is open"
        ),
        "(59)": printed.correcting(
            r"\mathcal U\text{ and the rest of }\mathcal K_-\text{ together}\le\tfrac{|S_2|}{|S_1|}\text{lucky}",
            both,
            "the rest is small because its gates close, not because labels average out; " + COPIES,
        ).blaming("proof", "one-over-sqrt-B"),
    }


@claim(
    "Eq.60",
    "Growth rate of the keys",
    kind="order",
    uses=["Eq.136-140"],
    expect="undecided",
    origin="proof",
    where="Proof of Theorem 1, Eq. (60)",
    source="damaged",
    parts=["growth rate"],
    hypotheses=SHARED,
    statement=r"K(t)\gtrsim\eta\,e^{-(\|q_1(t)\|^2-\epsilon\|q_1(t)\|)}\ \text{at the }T\text{-th iteration},\ \eta T=\Theta(1)",
    reading="if the lost left side is K = eta G_11: over eta at alpha_# = 1/20, then its sign at 0.4, which (8) allows",
)
def growth_rate(lab: Laboratory) -> Verdict:
    """K e^{|q_1|^2}/eta over a decade of eta, with |q_1|^2 = S_11; this eta T = Theta(1) is not the T of (10)."""
    seen = over_steps(lab, "K e^S", "K exp(|q_1|^2)/eta before the margin")
    found = seen.order("eta", 0, "Omega", towards="zero") & near_symmetric(lab, "K", "S11", "A")
    positive = in_every_run(
        lab,
        "the mean of K over the second half is positive for pattern 1 or 2",
        lambda x: x["K late"] > 0,
        of_confused,
        CONFUSED,
    )
    return found & either_way(positive)


@claim(
    "Eq.74-77",
    "Zero loss at T",
    kind="order",
    uses=["Eq.55-59"],
    expect="fails",
    origin="proof",
    where="Proof of Theorem 1, Eqs. (74)-(77)",
    parts=["every sample (74)-(77)"],
    hypotheses=(*THEOREM_1, CONSTANTS),
    statement=r"F(X)>1\ (y=1),\quad F(X)<-1\ (y=-1),\quad\mathrm{Loss}(X^n,y^n)=0\ \forall n,\quad\mathrm{Loss}=\mathbb E[\mathrm{Loss}(X^n,y^n)]=0",
    reading="the step from means over samples, (69), (70), to every sample, (74), (75), along |S^n| to infinity with all else fixed",
)
def zero_loss(lab: Laboratory) -> Verdict:
    """Two samples that differ in one token have no margin 1 on both; samples with the same fractions have, in runs."""
    sentence = (
        f"{PAIR}: for all large k no network of T steps has y F at least 1 on both; they are in one training set with probability at "
        "least 1 - 2 (1 - p/2)^N, against (74)-(76), and in the law, against (77)"
    )
    reached = in_every_run(lab, "all training margins are reached", lambda x: x["reached"] == 1)
    return (
        no_margin(lab, sentence)
        .correcting(
            r"F(X)\ge1\ (y=1),\ F(X)\le-1\ (y=-1)\text{ at the end of training, where all samples of a class have the same fractions}",
            reached & near_symmetric(lab, "A"),
            "(69) and (70) bound means over samples; (74) and (75) need the gap in every sample",
        )
        .blaming("proof", "gap-in-the-mean")
    )


@claim(
    "Eq.109-113",
    "Steps in other directions",
    kind="inequality",
    uses=["Eq.84-89"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 1, Eqs. (109)-(113)",
    parts=["bound"],
    hypotheses=SHARED,
    fault="proof",
    cause="one-over-sqrt-B",
    statement=r"|\Delta\langle w_i,p_j\rangle|\lesssim\frac\eta a\Big(\frac{|S_l|}{|S|}|S_l|\nu_n+\sigma+\tau+\dots\Big)\sqrt{\frac{\log m\log B}B},\ p_j\ne p_1",
    reading="any constant: mean step of lucky neurons on nuisance features, batches of copies of two samples",
)
def steps_elsewhere(lab: Laboratory) -> Verdict:
    """Mean step in the middle of runs, in units eta/a; sqrt(log B) is no power."""
    what = "a/eta times the mean step on nuisance features"
    printed, right = over_batches(lab, "step elsewhere", what, -0.5)
    return printed.correcting(
        r"\Delta\langle w_i,p_j\rangle=\Theta(\eta/a)\text{ in }B",
        right & near_symmetric(lab, "dn", "A"),
        "labels do not average out over the queries on which the neuron is active; " + COPIES,
    )


@claim(
    "Eq.117-120",
    "Steps of unlucky neurons",
    kind="inequality",
    uses=["Eq.42"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 1, Eqs. (117)-(120)",
    parts=["bound"],
    hypotheses=SHARED,
    fault="proof",
    cause="one-over-sqrt-B",
    statement=r"|I_2+I_3|\le\frac\eta a\sqrt{\frac{\log m\log B}B}\|p\|^2,\quad i\notin\mathcal W\cup\mathcal U",
    reading="any constant: largest step of unlucky neurons on p_1, batches of copies of two samples",
)
def steps_of_unlucky(lab: Laboratory) -> Verdict:
    """Largest step in the middle of runs, in units eta/a."""
    what = "a/eta times the largest step of unlucky neurons"
    printed, right = over_batches(lab, "step of unlucky", what, -0.5)
    return printed.correcting(
        r"\max_{i\notin\mathcal W\cup\mathcal U}|\Delta\langle w_i,p_1\rangle|=\Theta(\eta/a)\text{ in }B",
        right & near_symmetric(lab, "step1"),
        "revived neurons move like lucky ones; " + COPIES,
    )


@claim(
    "Eq.133-135",
    "Neurons on the values",
    kind="inequality",
    uses=["Eq.34", "Eq.42"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eqs. (133)-(135)",
    source="damaged",
    parts=["(133)", "(134)", "(135)"],
    hypotheses=SHARED,
    statement=r"w_i'W_Vx_s\,\mathrm{softmax}_s\gtrsim\tfrac{p_n}{|S_1|}\big(\tfrac{\xi\eta(t+1)^2|S_1|m}{|S|a^2}(\dots)+\dots\big)\ (s\in S_1),\qquad w_i'W_Vx_s\,\mathrm{softmax}_s\lesssim w_i'W_Vx_j\,\mathrm{softmax}_j\,\phi_n\frac{|S_1|}{p_n}\ (s\in S_2),\qquad\dots\frac{|S_1|}{\sqrt Bp_n}\phi_n\ (s\notin S_1\cup S_2)",
    reading="(133) has lost a factor; up to T of (10), eta to 0; lucky neurons with a_i > 0 at T, phi |S_1|/p the softmax ratio; batches of copies",
)
def neurons_on_values(lab: Laboratory) -> dict[str, Verdict]:
    """w'v of pattern 2 is at most that of pattern 1, at alpha_# = 0.05 and 0.4; that of nuisance patterns does not fall with B."""
    every = "w'v_2 is at most w'v_1 for every lucky neuron"
    what = "the ratio of w'v of nuisance patterns and of pattern 1"
    printed, right = over_batches(lab, "u nuisance over own", what, -0.5)
    return {
        "(133)": outgrown(lab, "a neuron on a value", "neurons_on_values.v"),
        "(134)": in_every_run(lab, every, lambda x: x["u other over own"] <= 1)
        & in_every_run(lab, every, lambda x: x["u other over own"] <= 1, of_confused, CONFUSED),
        "(135)": printed.correcting(
            r"w_i'v_k/w_i'v_1=\Theta(1)\text{ in }B,\ k\ge3",
            right & near_symmetric(lab, "un", "u2"),
            "as for (35); " + COPIES,
        ).blaming("proof", "one-over-sqrt-B"),
    }


@claim(
    "Eq.136-140",
    "What drives the query of pattern 1",
    kind="inequality",
    uses=["Eq.125", "Eq.133-135"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (136)",
    source="damaged",
    parts=["(136)"],
    hypotheses=THEOREM_1,
    fault="proof",
    cause="lost-eta",
    statement=r"\text{coefficient of }q_1\text{ of a lucky neuron}\ge p_n(t)\Big(\tfrac1B\sum_n\tfrac{\xi\eta(t+1)^2|S_1|m}{|S|a^2}\big(\tfrac1{4B}\sum_n\tfrac{|S_1|}{|S|}p_n-\sigma-\tau\big)+\dots\Big)\phi_n(|S|-|S_1|)\|q_1\|^2",
    reading="a factor and the number (136) are lost; up to T of (10), any hidden constants, eta to 0; (137)-(140) compare with it and are not judged",
)
def drives_query(lab: Laboratory) -> Verdict:
    """The left side is bounded by lengths of weights, the right side has eta T^2; what (145) draws from it is Beyond.force."""
    return outgrown(lab, "the coefficient", "drive_of_queries.v")


@claim(
    "Beyond.force",
    "Lucky neurons drive the query of pattern 1",
    kind="inequality",
    uses=["Eq.136-140"],
    origin="ours",
    hypotheses=SHARED,
    statement=r"\text{coefficient of }q_1:\ \text{lucky neurons on }S_1\text{ queries outweigh }\mathcal U,\ \text{unlucky neurons, and confusion queries}",
    reading="alpha_* = 0.5, alpha_# = 0.05; what (145) draws from (136)-(140), late in runs: the lucky part of G_11 exceeds the absolute values of all others",
)
def lucky_neurons_drive(lab: Laboratory) -> Verdict:
    """Parts of G_11 by group of neurons and class of the sample, at half and at 85 percent of the steps."""
    what = "the lucky part of the force outweighs all others together"
    return in_every_run(lab, what, lambda x: x["lucky force over others"] > 1) & near_symmetric(lab, "K", "S11")


@claim(
    "Eq.155-158",
    "Queries of nuisance patterns",
    kind="order",
    uses=["Eq.125"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eqs. (155), (158)",
    source="damaged",
    parts=["(155)", "(158)"],
    hypotheses=(),
    statement=r"\Big\langle\dots\Big\rangle\gtrsim\eta\tfrac1B\sum_n\tfrac{|S_1|m}{|S|a}p_n'\big(\tfrac{\xi\eta(t+1)^2|S_1|m}{|S|a^2}(\dots)+\dots\big)\dots\ (155),\quad \Big\langle-\eta\tfrac1B\sum_n\frac{\partial\mathrm{Loss}}{\partial W_Q}x_j,q_1\Big\rangle\gtrsim\Theta(1)\,K(t),\quad j\notin S_1\cup S_2",
    reading="along minus the gradient (the sign is not printed); (155) has lost a factor, eta to 0; (158) with a constant that may depend on M",
)
def queries_of_nuisance(lab: Laboratory) -> dict[str, Verdict]:
    """The rate of the query of pattern 3 has the factor |S_3|, that of pattern 1 does not; per share of queries it stays.

    With M - 2 nuisance patterns in equal parts the share is alpha_nd/(M - 2), which the constant of (158) may contain: M is not in
    its order. That the factor beside it is positive and of the order of K is not proved.
    """
    rates = before_margin(lab.rates("Q"))
    none = {sym("c3"): graph.ZERO, sym("e3"): graph.ZERO}
    third, first = put(rates[:, 2], none), put(rates[:, 0], none)
    still = identity({f"rate of entry {i + 1} of query 3": node for i, node in enumerate(third)})
    moves = identity({"rate of entry 1 of query 1": first[0]})
    known = still.as_stated == "holds" and moves.as_stated == "fails"
    left = undecided(
        "the step of a nuisance query is its share of the queries, alpha_nd/(M - 2) in equal parts, times a factor; that this is at least a constant times K is open",
        factor_is_the_share=known,
    )
    return {"(155)": outgrown(lab, "the step over eta", "nuisance_queries.v"), "(158)": left}


@claim(
    "Eq.195-197",
    "Growth of values seen by neurons",
    kind="order",
    uses=["Eq.34", "Eq.51-53"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 3, Eq. (195)",
    parts=["growth"],
    hypotheses=THEOREM_1,
    fault="proof",
    cause="lost-eta",
    statement=r"-\eta\sum_bw_i^{(b)}\sum_{j\in\mathcal W}V_jw_j^{(b)\top}\gtrsim\eta m\tfrac1{2B}\sum_b\sum_{n\in\mathcal B_+}\frac{|S_1|}{a|S|}p_n(b)\Big(\xi\frac{\eta(t+1)^2}4\frac{|S_1|^2m}{|S|^2a^2}p_n\Big)^2",
    reading="at T of (10), any hidden constants, eta to 0 with all else fixed",
)
def growth_seen(lab: Laboratory) -> Verdict:
    """The left side is at most eta T times bounded lengths; the right side has the square of eta T^2 beside it."""
    sentence = (
        "for every c and eta to 0 (all hypotheses hold), at T = c eta^(-3/5)/alpha_*: the left side is O(eta T), that is "
        "eta^(2/5), while the right side is eta T (eta T^2)^2, which tends to a constant"
    )
    s, k = sym("s"), sym("k")
    return too_slow(lab, TIME, TIME * (STEPS**2 / n) ** 2, sentence, RIGHT_SIDES, "growth_seen.v").correcting(
        r"\text{the same with }(\eta t)^2\text{ for }\eta t^2:\ \text{a function of }\eta t",
        identity({"t = s/eta": k * s**2 - k * (sym("eta") * (s / sym("eta"))) ** 2}),
        "as for (34)",
    )


@claim(
    "Eq.49-50",
    "Lengths of keys and queries",
    kind="existence",
    uses=["Eq.162-170"],
    expect="undecided",
    where="Lemma 2, Claim 2, Eqs. (49), (50)",
    parts=["growth for large t"],
    hypotheses=SHARED,
    statement=r"\exists K(t),Q(t)>0,\ t\text{ large enough}:\quad q_i(t)=\sqrt{\textstyle\prod_{l=0}^{t-1}(1+K(l))}\,q_i,\quad r_i(t)=\sqrt{\textstyle\prod_{l=0}^{t-1}(1+Q(l))}\,r_i,\ i=1,2",
    reading="q_i(t) the part of the key along q_i: longer for large t than at the start, alpha_# = 0.4, which (8) allows; a K(l) for each i",
)
def lengths(lab: Laboratory) -> dict[str, Verdict]:
    """A key grown by 1 + k per step has the length with 1 + K = (1 + k)^2, and K is positive where k is.

    With many confusion tokens and one a_i for all positions keys shrink: lucky neurons are active on pattern 1 queries of -
    samples, too, which pull the other way; with a_(l) drawn for
    each position training takes longer, and keys may grow. At the first steps k has either sign. K is read as that of its pattern. The
    K of (141), with which the same Lemma is proved, is another number: that is Eq.141.
    """
    k = sym("k")
    exact = identity({"(1 + k)^2 - (1 + K)": (1 + k) ** 2 - (1 + 2 * k + k * k)})
    sign = always_positive({"K": 2 * k + k * k}, positive=("k",))
    what = "both keys grow at every step of the second half"
    grown = in_every_run(lab, what, lambda x: x["least late growth of keys"] > 0)
    what = "the part of some key along its feature is longer in the second half than at the start"
    shrunk = in_every_run(lab, what, lambda x: x["longest late key"] >= 1, of_confused, CONFUSED)
    at_few = exact & sign & grown & near_symmetric(lab, "S11")
    return {"growth for large t": at_few & either_way(shrunk)}
