"""Lemma 2, Claim 1, and its proof: which neurons stay active, what drives them, and how far they grow."""

from __future__ import annotations

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    decided,
    entry_pairs,
    equal,
    graph,
    identity,
    leading_orders,
    rounded,
    say_witness,
    sym,
)

from ..laboratory import Laboratory
from .book import CONSTANTS, SHARED, THEOREM_1, before_margin, claim, tables
from .common_gradients import POSITIVE, gradient_o
from .common_motion import OVER_BATCH, OVER_ROOT, RIGHT_SIDES, STEPS, TIME, by_printed_steps, n, too_slow, unmoved
from .common_positions import POSITIONS, of_positions
from .common_runs import TILTED
from .common_seeds import (
    ELSEWHERE,
    PILOT,
    in_every_run,
    near_symmetric,
    of_elsewhere,
    of_main,
    of_tilted,
    over_batches,
)
from .common_start import closed_at_once, one_sided, wrong_sign

SIGNS = "(55) and (59) use the lucky sets as parts of K_+ and K_-; Definition 2 lacks that sign"
COPIES = (
    "copies of a sample do not average anything: the step, and so the run, is the same for every such batch. Two kinds of samples and B = N are inside "
    "the model; batches drawn at random differ from it by O(1/sqrt(B))"
)


@claim(
    "Def.2",
    "Lucky neurons",
    kind="definition",
    where="Definition 2",
    hypotheses=(),
    statement=r"\mathcal W_{l,n}(0)=\{i:W_{O(i,\cdot)}^{(0)}V_l^n(0)>0,\ l\in S_1^n\},\quad\mathcal U_{l,n}(0)=\{i:W_{O(i,\cdot)}^{(0)}V_l^n(0)>0,\ l\in S_2^n\}",
    reading="what becomes of the two sets, by the sign of a_i",
)
def lucky_neurons(lab: Laboratory) -> Verdict:
    """A definition is neither true nor false; living neurons of the right sign grow as in the symmetric system."""
    return near_symmetric(lab, "d1", "d2")


#: set after runs from other starts; from those of `PILOT` up to four percent of these neurons were switched off
SHARE = 0.95
ALMOST = r"\xi=\tfrac1{\sqrt m},\ a_{(l)}=a:\ \text{for at least 95 percent of }a_i>0\text{ in }\mathcal W,\ a_i<0\text{ in }\mathcal U"
ACTIVE = r":\ \mathbb 1[W_{O(i,\cdot)}^{(t)}V_l^n(t)>0]=1\text{ at every step}"
CALIBRATED = "set after runs from other starts, in which up to four percent were switched off"


def almost_all(lab: Laboratory, name: str, what: str) -> Verdict:
    """A share of lucky neurons with the right sign of a_i, at three pairs of fractions, in every run of the printed gradients."""
    found = by_printed_steps(
        lab, lambda: in_every_run(lab, what, lambda x: x[name] >= SHARE, of_elsewhere, ELSEWHERE[0])
    )
    return found.adding(fractions="(0.5, 0.05), (0.1, 0), (0.5, 0.3)").within({"share": SHARE}, CALIBRATED, PILOT)


@claim(
    "Lem.4",
    "Lucky neurons stay active",
    kind="inequality",
    uses=["Def.2"],
    expect="fails",
    same_as="Eq.93",
    where="Lemma 4, Eqs. (208), (209), and (93)",
    parts=["right sign", "sets as printed"],
    hypotheses=THEOREM_1,
    statement=r"\mathbb 1[W_{O(i,\cdot)}^{(t)}V_l^n(t)>0]=1,\ i\in\mathcal W_{l,n}(0),l\in S_1^n\ (\mathcal U,S_2^n)",
    reading="the first step, eta fixed, m to infinity, alpha_* = 1/10, alpha_# = 0, xi = 1/sqrt(m): kindly with the sign that Definition 2 lacks; and without it",
)
def stays_active(lab: Laboratory) -> dict[str, Verdict]:
    """Gates that the first step closes, of neurons with either sign of a_i; runs beside it, with one a_i and with a_(l) of (1)."""
    what = "all neurons that a label-relevant query activates at the start are active on it at T"
    ended = in_every_run(lab, what, lambda x: x["lucky at T"] == 1, of_positions, POSITIONS)
    what = "all lucky neurons with the right sign of a_i are active on their own query at every step"
    every = in_every_run(lab, what, lambda x: x["share kept"] == 1, of_elsewhere, ELSEWHERE[0])
    most = almost_all(lab, "share kept", "95 percent of them are active on their own query at every step")
    return {
        "right sign": closed_at_once(lab, 1)
        .correcting(
            ALMOST + ACTIVE,
            most,
            "some lucky neurons have w'V far below xi, against (210), and with few label-relevant tokens the first steps switch them off; with xi = 1/sqrt(M) more of them",
        )
        .adding(in_runs=_said(every))
        .blaming("false", "lucky-gates-close"),
        "sets as printed": closed_at_once(lab, -1)
        .correcting(ALMOST + ACTIVE, most, SIGNS)
        .adding(in_runs=_said(ended))
        .blaming("misprint", "sign-of-a"),
    }


def _said(seen: Verdict) -> str:
    """What runs show, beside a proof."""
    return say_witness(seen.witness) if seen.witness is not None else seen.as_stated


@claim(
    "Eq.31",
    "Coefficient of lucky neurons",
    kind="inequality",
    uses=["Def.2"],
    expect="fails",
    same_as="Eq.192",
    where="Lemma 2, Eq. (31)",
    parts=["sign"],
    hypotheses=SHARED,
    fault="misprint",
    cause="sign-of-a",
    statement=r"V_i(t)\lesssim-\tfrac1{2B}\sum_{n\in\mathcal B_+}\frac{|S_1^n|}{a|S^n|}p_n(t),\ i\in\mathcal W_{l,n}(0)",
    reading="V_i = -C_i1; some positive constant for all neurons of W, one a_i for all positions, at the start",
)
def coefficient_of_lucky(lab: Laboratory) -> Verdict:
    """A neuron of W with a_i < 0 at the start; with a_i > 0 the least ratio over neurons and steps is at least 1/2 for almost all."""
    every = in_every_run(lab, "V_i has the printed sign for all lucky neurons", lambda x: x["least C of W-"] > 0)
    right = almost_all(lab, "share with C_1", "the bound holds with constant 1/2 for 95 percent of W with a_i > 0")
    first = of_main(lab, lab.draw.seeds(1)[0])["least C of W+"]
    return (
        wrong_sign(lab, 1, "V_i = {0:.4f}/a, while the right side of (31) is negative for every positive constant")
        .correcting(
            r"\xi=\tfrac1{\sqrt m},\ a_{(l)}=a:\ \text{for at least 95 percent of }a_i>0\text{ in }\mathcal W:\ V_i\le-\tfrac1{4B}\sum_{n\in\mathcal B_+}\frac{|S_1^n|}{a|S^n|}p_n(t)",
            right,
            "y a_i decides the sign; " + SIGNS,
        )
        .adding(in_runs=_said(every))
        .with_constants(least_ratio=rounded(first, 4))
    )


@claim(
    "Eq.32",
    "Coefficient of lucky neurons of the other class",
    kind="inequality",
    uses=["Eq.31"],
    expect="fails",
    same_as="Eq.193",
    where="Lemma 2, Eq. (32)",
    parts=["sign"],
    hypotheses=SHARED,
    fault="misprint",
    cause="sign-of-V",
    statement=r"V_i(t)\gtrsim\tfrac1{2B}\sum_{n\in\mathcal B_b}\frac{|S_2^n|}{a|S^n|}p_n(t),\ i\in\mathcal U_{l,n}(0)",
    reading="neurons with a_i < 0, V_i the coefficient for pattern 1 as in (29), or for pattern 2 as in (52), at the start",
)
def coefficient_of_other(lab: Laboratory) -> Verdict:
    """A neuron of U with a_i < 0 at the start; with the sign of (31) the coefficient of pattern 2 has constant 1/2 for almost all."""
    every = in_every_run(
        lab,
        "one of the two coefficients has the printed sign for all of them",
        lambda x: max(x["least V_1 of U-"], x["least V_2 of U-"]) > 0,
    )
    right = almost_all(lab, "share with C_2", "the bound holds with constant 1/2 for 95 percent of U with a_i < 0")
    said = "V_i is {0:.4f}/a for pattern 1 and {1:.4f}/a for pattern 2, while the right side of (32) is positive for every positive constant"
    return (
        wrong_sign(lab, -1, said)
        .correcting(
            r"V_i\lesssim-\tfrac1{2B}\sum_{n\in\mathcal B_b}\frac{|S_2^n|}{a|S^n|}p_n,\quad V_i\text{ of pattern 2},\ \text{for at least 95 percent of }a_i<0",
            right,
            "y a_i > 0 for these neurons as for the others, so the sign is that of (31), as (52) needs it",
        )
        .adding(in_runs=_said(every))
    )


@claim(
    "Eq.33",
    "Coefficient of unlucky neurons",
    kind="inequality",
    uses=["Eq.31"],
    expect="fails",
    same_as="Eq.194",
    where="Lemma 2, Eq. (33), and (194)",
    parts=["bound"],
    hypotheses=THEOREM_1,
    fault="false",
    cause="one-over-sqrt-B",
    statement=r"|V_i(t)|\le\frac1{\sqrt{BaM}}\ (33),\qquad|V_i(t)|\lesssim\frac1{\sqrt Ba}\ (194)",
    reading="any constant and power of a and M (the root may reach too far in our text): the power of B, batches of copies, at the start",
)
def coefficient_of_unlucky(lab: Laboratory) -> Verdict:
    """An unlucky neuron that only nuisance queries of one class activate; a |V_i| is at most 1 for every neuron."""
    t = tables(lab.toy())
    sums = {f"query {k + 1}": graph.add(t.softmax(0, j, k) for j in range(3)) - 1 for k in range(3)}
    sums["shares"] = graph.add(t.fraction(0, k) for k in range(3)) - 1
    bound = identity(sums, positive=POSITIVE).proving("|V_i| is at most |a_i| times a mean of attention over queries")
    return one_sided(lab).correcting(r"|V_i|\le\frac1a", bound, COPIES)


@claim(
    "Eq.34",
    "Claim 1: growth of lucky neurons",
    kind="order",
    uses=["Lem.4", "Eq.94-98", "Eq.102-107"],
    expect="fails",
    same_as="Eq.108, Eq.115, Eq.122",
    where="Lemma 2, Claim 1, Eqs. (34), (38), (36), (40)",
    parts=["(34)", "(38)", "(36), (40)"],
    hypotheses=THEOREM_1,
    fault="false",
    cause="lost-eta",
    statement=r"W_{O(i,\cdot)}^{(t)}p_1\gtrsim\frac\xi{aB}\sum_n\frac{\eta t^2|S_1^n|}{|S^n|}\frac1{4B}\sum_n\frac{|S_1^n|m}{|S^n|a}p_n(t)+\xi,\quad b\in[T];\qquad\mathcal U:\ p_2\text{ for }p_1\ (38);\quad\|W_{O(i,\cdot)}^{(t)}\|^2\ge(\text{the same})^2\ (36),(40)",
    reading="b in [T] is read as t in [T]; at T of (10), any hidden constants, eta to 0 with all else fixed",
)
def growth_of_lucky(lab: Laboratory) -> dict[str, Verdict]:
    """The length of a neuron against eta T^2, for the neurons of both classes and for their norm."""
    return {"(34)": _growth(lab, "p_1"), "(38)": _growth(lab, "p_2"), "(36), (40)": _growth(lab, "")}


def _growth(lab: Laboratory, feature: str) -> Verdict:
    """A neuron is at most |w(0)| + e (|W_O| + |W_V|) eta T/sqrt(m) long, and the printed bound grows like eta T^2."""
    side = f"w'{feature} is at most its length, which" if feature else "the length of a neuron"
    sentence = (
        f"for every c and eta to 0 (all hypotheses hold), at T = c eta^(-3/5)/alpha_*: {side} stays below "
        "|w(0)| + O(eta^(2/5)), while the right side grows like eta T^2, that is eta^(-1/5); the more so at eta T = Theta(1), "
        "where the left side is bounded and the right one of the order 1/eta"
    )
    printed = too_slow(lab, 1 + TIME, STEPS**2 / n, sentence, RIGHT_SIDES, "growth_of_neurons.v")
    s, y0, b0, k, J = (sym(name) for name in ("s", "y0", "b0", "k", "J"))
    solution = graph.exp(k * s * s / 2) * (y0 + b0 * J)
    ds, dJ = graph.gradient(solution, [s, J])
    fixed = identity({"y' = b0 + k s y": ds + dJ * graph.exp(-k * s * s / 2) - b0 - k * s * solution})
    return printed.correcting(
        r"y(s)=e^{ks^2/2}\Big(y_0+b_0\int_0^se^{-ku^2/2}du\Big),\ s=\eta t,\ k=\tfrac{\alpha^2mp}{2a^2}:\ \text{the bound that (98) gives}",
        fixed,
        "one factor eta of (98) is lost in (102): (eta t)^2 takes the place of eta t^2",
    )


@claim(
    "Eq.35",
    "Claim 1: other directions",
    kind="inequality",
    uses=["Eq.34"],
    expect="fails",
    same_as="Eq.39, Eq.114, Eq.116",
    where="Lemma 2, Claim 1, Eqs. (35), (39)",
    parts=["(35)", "(39)"],
    hypotheses=(*THEOREM_1, CONSTANTS),
    fault="false",
    cause="one-over-sqrt-B",
    statement=r"W_{O(i,\cdot)}^{(t)}p\lesssim\frac1{\sqrt B}W_{O(i,\cdot)}^{(t)}p_1,\ p\in\mathcal P\setminus p_1,\ i\in\mathcal W\ (35);\qquad p\in\mathcal P\setminus p_2,\ i\in\mathcal U\ (39)",
    reading="any constant, every batch, all t up to T of (10), eta to 0; at the end of training, in runs; (39) also with p_2 on its right (116)",
)
def other_directions(lab: Laboratory) -> dict[str, Verdict]:
    """Lucky neurons of the start with components of one size; the ratio of those with a_i > 0 at the end."""
    what = "the ratio of nuisance components over the first one"
    ending, right = over_batches(lab, "nuisance over own", what, -0.5)
    sentence = (
        "for every constant C, sigma = delta = tau = 0, at every t up to T of (10), given B, N and m, for small eta (all hypotheses hold): a neuron, with either sign of a_i, whose components w'p_1, .., w'p_M are between xi "
        "and 2 xi at the start is in W and U, and w'p_3 is above w'p_1/3 and w'p_2/3 for every B, so above C w'p_1/sqrt(B) for B > 9 C^2; among m neurons there is one "
        "with a probability that tends to 1"
    )
    first, others, below, above = (sym(name) for name in ("A_1", "A_other", "below", "above"))
    own, nuisance = 2 - below, 1 + above  # w'p_1 and w'p_3 in units of xi: at most 2, and at least 1 for both
    lucky = always_positive(
        {"w'V": first + others * nuisance, "w'p_3 - w'p_1/3": nuisance - own / 3},
        positive=("A_1", "A_other"),
        nonnegative=("below", "above"),
    )
    printed = unmoved(
        lab,
        lucky,
        sentence,
        "V_l(0) is a mean of p_1, .., p_M with positive weights, attention: a neuron with positive components is lucky",
        "the components of a neuron are Gaussian, so that all of them are in such a box with a probability that is free of m, B and eta",
        file="others_of_the_start.v",
        right={"over_root_of_batch": ("least", OVER_ROOT)},
    )
    found = printed.correcting(
        r"w_i'p_k/w_i'p_1=\Theta(1)\text{ in }B,\ k\ge3,\ a_{(l)}=a",
        right & near_symmetric(lab, "d1", "dn", "A"),
        "at the start all components are of the size xi, and T of (10) is too short to change that; at eta T = Theta(1), in runs, a lucky neuron whose gates are sorted sees its own class only, and nuisance values come along; "
        + COPIES,
    ).adding(at_the_end_of_training=_said(ending))
    return {"(35)": found, "(39)": found}


@claim(
    "Eq.42",
    "Claim 1: unlucky neurons",
    kind="inequality",
    uses=["Eq.34"],
    expect="fails",
    same_as="Eq.44, Eq.121, Eq.124",
    where="Lemma 2, Claim 1, Eqs. (42), (44)",
    parts=["(42)", "(44)"],
    hypotheses=(*THEOREM_1, CONSTANTS),
    fault="false",
    cause="one-over-sqrt-B",
    statement=r"W_{O(i,\cdot)}p\le\tfrac1{\sqrt B}\min\{w_j'p_1,w_k'p_2\},\qquad\|w_i\|^2\le\tfrac1B\min\{\|w_j\|^2,\|w_k\|^2\}\quad(i\ \text{unlucky},j\in\mathcal W,k\in\mathcal U)",
    reading="any constant, every batch, all t up to T of (10), eta to 0; and at the end of training, in runs, means over lucky neurons for their minimum",
)
def unlucky_neurons(lab: Laboratory) -> dict[str, Verdict]:
    """Unlucky and lucky neurons of the start are of one size; at the end: largest component, and mean squares, for a_i > 0."""
    revived = "unlucky neurons start as long as lucky ones, and some are revived by the first steps; " + COPIES
    largest, stays = over_batches(
        lab,
        "unlucky component over lucky",
        "the largest component of unlucky over lucky neurons",
        -0.5,
    )
    what = "the mean squared norm of unlucky over lucky neurons"
    square, right = over_batches(lab, "unlucky over lucky", what, -1.0)
    two = (
        "for every constant C, sigma = delta = tau = 0, every sample with fractions 1/2 and 1/20, at every t up to T of (10), given B, N and m, for small eta (all hypotheses hold): w_i, with either sign of a_i, with w_i'p_1, w_i'p_2 between -3 xi and -2 xi, and its other "
        "components between xi/10 and xi/5, is unlucky, and w_j with components between xi and 2 xi is in W and U; "
    )
    small = _unlucky(lab)
    steps = (
        "label-relevant and confusion tokens are more than half of all, and their queries prefer their own pattern, so p_1 and p_2 have more than half of the weight in V_l(0)",
        "the components of neurons are Gaussian, so that among m some are in both boxes with a probability that tends to 1, for every B and eta",
    )
    file = "unlucky_of_the_start.v"
    both = {"over_root_of_batch": ("least", OVER_ROOT), "over_batch": ("square", OVER_BATCH)}
    return {
        "(42)": unmoved(
            lab,
            small,
            two + "w_i'p_3 >= xi/11 and w_j'p_1 <= 3 xi for every B, against (42) for B > (33 C)^2",
            *steps,
            file=file,
            right=both,
        )
        .correcting(
            r"\max_pw_i'p\ \text{(unlucky)}=\Theta(1)\cdot\text{mean}\,w_j'p_1\text{ in }B,\ a_{(l)}=a",
            stays & near_symmetric(lab, "d1"),
            revived,
        )
        .adding(at_the_end_of_training=_said(largest)),
        "(44)": unmoved(
            lab,
            small,
            two
            + "with m_a - M other components of w_j below xi, |w_i|^2/|w_j|^2 is above 1/(M + m_a) for every B, against (44) for B > C (M + m_a)",
            *steps,
            file=file,
            right=both,
        )
        .correcting(
            r"\text{mean}\,\|w_i\|^2\ \text{(unlucky)}=\Theta(1)\cdot\text{mean}\,\|w_j\|^2\text{ in }B,\ a_{(l)}=a",
            right & near_symmetric(lab, "d1"),
            revived,
        )
        .adding(at_the_end_of_training=_said(square)),
    }


def _unlucky(lab: Laboratory) -> Verdict:
    """-w'V for the unlucky neuron, with at least as much weight on p_1, p_2 as elsewhere; its length against that of the lucky one."""
    other, rest, M, more = (sym(name) for name in ("other", "rest", "M", "more"))  # m_a = M + more
    return always_positive(
        {
            "-w'V": 2 * (other + rest) - other / 5,
            "8 (M + m_a) - |w_j|^2": 8 * (2 * M + more)
            - (4 * M + more),  # in units of xi^2, where |w_i|^2 is 8 at least
        },
        positive=("other", "M"),
        nonnegative=("rest", "more"),
    )


@claim(
    "Eq.84-89",
    "Split of a step of w'p",
    kind="identity",
    uses=["Eq.83", "Eq.51-53"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 1, Eqs. (84)-(89)",
    parts=["split"],
    hypotheses=(),
    fault="misprint",
    cause="I4-without-its-sum",
    statement=r"\Delta\langle w_i,p_j\rangle=I_1+I_2+I_3+I_4+I_5,\quad I_4=\tfrac1B\sum_n\eta y^n\tfrac1{|S|}\sum_la_i\mathbb 1[\cdot]\sum_{k\in\mathcal W}V_k(t)w_k^\top p_j",
    reading="I_4 and I_5 as printed against the growth of the values in (81), powers of eta at a given t",
)
def split_of_step(lab: Laboratory) -> Verdict:
    """A step with v_j = p_j + z_j + grown_j is exactly the three sums; the grown part of (81) has a factor eta more than (84)."""
    t = tables(lab.toy())
    pieces = {name: [[sym(f"{name}{x}{j}") for j in range(3)] for x in range(2)] for name in ("p", "z", "g")}
    split = {t.V[x, j]: graph.add(pieces[name][x][j] for name in pieces) for x in range(2) for j in range(3)}
    rates = before_margin(lab.rates("O"))
    linear = gradient_o(t, False)
    same = equal(entry_pairs(rates, linear, "W_O"), positive=POSITIVE)
    gate = sym("D")  # weight and attention of one query: the rate is linear in the value
    parts = graph.add(gate * pieces[name][0][0] for name in pieces)
    sums = same & identity({"I_1 + I_2 + .. + I_5": gate * split[t.V[0, 0]] - parts})
    eta, V = sym("n") ** -1, sym("V")
    printed_power, true_power = (
        leading_orders([node], "n")[0][0] for node in (eta * V * gate, -eta * eta * sym("t") * V * gate)
    )
    sentence = (
        f"I_4 as printed is of the order eta^{-printed_power}, while the grown values of (81) give eta^{-true_power} at a "
        "fixed t, with the other sign"
    )
    shown = {"I_4 as printed, and by (81)": (eta * V * gate, "!=", -eta * eta * sym("t") * V * gate)}
    wrong = decided(printed_power == true_power, Witness(sentence, {}), Evidence.PROOF)
    return wrong.stating(shown, ("n", "V", "D", "t")).correcting(
        r"I_4=-\tfrac1B\sum_n\eta y^n\tfrac1{|S|}\sum_la_i\mathbb 1[\cdot]\ \eta\sum_{b<t}\sum_{k\in\mathcal W}V_k(b)w_k(b)^\top p_j",
        sums,
        "the values have grown by -eta times the sum over all earlier steps, as (81) has it and (96) uses it",
    )


@claim(
    "Eq.92",
    "Noise term of a step",
    kind="inequality",
    uses=["Eq.90", "Eq.91"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 1, Eq. (92)",
    parts=["noise term"],
    hypotheses=SHARED,
    fault="proof",
    cause="one-over-sqrt-B",
    statement=r"|I_1|\le\frac{\eta(\sigma+\tau)}a\sqrt{\frac{\log m\log B}B}",
    reading="any constant: errors shared by all tokens of a pattern, batches of copies of two samples",
)
def noise_term(lab: Laboratory) -> Verdict:
    """The largest I_1 of lucky neurons in the middle of runs with sigma = 0.1, in units eta sigma/a; sqrt(log B) is no power."""
    what = "the largest |I_1| over eta sigma/a"
    printed, right = over_batches(lab, "noise term", what, -0.5, of_tilted, TILTED)
    return printed.correcting(
        r"|I_1|=\Theta\Big(\frac{\eta(\sigma+\tau)}a\Big)\text{ in }B",
        right,
        "the error of a pattern does not average over tokens and samples; " + COPIES,
    )


@claim(
    "Eq.94-98",
    "Lower bound of a step",
    kind="inequality",
    uses=["Lem.4", "Eq.84-89"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 1, Eqs. (94)-(98)",
    parts=["sign"],
    hypotheses=SHARED,
    fault="misprint",
    cause="sign-of-a",
    statement=r"\Delta\langle w_i,p_1\rangle\gtrsim\frac\eta a\Big(\frac{|S_1|}{|S|}p_n-(\sigma+\tau)+\eta t\frac{|S_1|}{|S|}\frac{|S_1|m}{2|S|a}p_n\,w_i'p_1\Big),\ i\in\mathcal W",
    reading="some positive constant; sums over + samples, one a_i for all positions, the first step",
)
def lower_bound_of_step(lab: Laboratory) -> Verdict:
    """The first step of a neuron of W with a_i < 0; with a_i > 0 almost all steps are positive."""
    every = in_every_run(lab, "steps of all lucky neurons have the printed sign", lambda x: x["least step of W-"] > 0)
    right = almost_all(
        lab, "share of steps", "95 percent of W with a_i > 0 grow along p_1 at every step before a margin"
    )
    said = "the first step of w'p_1 is minus {0:.4f} eta/a, while the right side of (98) is positive for every positive constant"
    return (
        wrong_sign(lab, 1, said)
        .correcting(
            ALMOST + r":\ \Delta\langle w_i,p_1\rangle>0", right, "the constant depends on the fractions; " + SIGNS
        )
        .adding(in_runs=_said(every))
    )
