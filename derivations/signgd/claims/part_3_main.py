"""Section 3 and the end of training: Condition 3.1, Theorem 3.2, Lemmas E.41 and E.42, exponents of loss and attention."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log, sqrt

import flint
import numpy as np

from odesys import (
    Evidence,
    OdesysError,
    Verdict,
    Witness,
    always_positive,
    between,
    equal,
    graph,
    measured,
    num,
    over_seeds,
    refuted,
    rounded,
    sym,
    violated,
    with_high_probability,
)

from ..laboratory import Laboratory
from ..setting import Case, published
from ..special import stages, watched_runs
from ..special.conditions import CONDITION_3_1, condition_point, satisfying
from ..special.mean_field import MeanField, loss
from ..special.toy_network import on_section
from ..special.watched_runs import Record
from .book import SIZES, at_most, ball, book, on_the_toy
from .common_checks import later, not_supposed
from .common_hypotheses import CONDITION, at_least
from .common_orders import T_1, T_2, T_2_PLUS, T_3, given, vanishing
from .common_path import ALIGNED, UNTIED, on_path
from .part_d_recursion import mean_value_moves


def end_time(record: Record, epsilon: float, factor: float = 2.0) -> float:
    """T = factor log(1/epsilon)/(sigma_p s), in theta."""
    return factor * log(1 / epsilon) / record.case.strength


@book.claim(
    "Cond.3.1",
    "Condition 3.1 can be met",
    kind="condition",
    where="Condition 3.1",
    hypotheses=[],
    insensitive=SIZES,
    statement=r"d=\Omega(\mathrm{poly}(n)),\ s=\Theta(d^{1/2}n^{-2});\ \sigma_p=\Omega(d^{-1/4}n^3);\ m_k,m_v=\Omega(\mathrm{polylog}\,d),\ \sigma_0=o(\sigma_p^{-1}s^{-1}m_k^{-1/2});\ n=\Omega(m_k^4);\ \eta=O(\mathrm{poly}(d^{-1}))",
    reading="constants 1, poly(n) = n^9, polylog = log, o(1) = 1/10 at a point; not in it: m_v <= n^9, supposed everywhere, and the width that C.11 needs",
)
def condition(lab: Laboratory) -> Verdict:
    """Every inequality at the point, and its sizes."""
    case, eta = satisfying()
    point = condition_point(case, eta)
    table = {f"{c.number} {c.name}": c.ratio_at(point) for c in CONDITION_3_1}
    worst = min(table, key=lambda name: table[name])
    return measured(
        all(c.holds(point) for c in CONDITION_3_1),
        {"violated": worst, "ratio": table[worst]},
        n=case.n,
        m_k=case.m_k,
        log10_d=rounded(log(case.d) / log(10), 5),
        ratios=rounded(table, 5),
    )


@book.claim(
    "Cond.3.1-experiments",
    "The published sizes with constants 1",
    kind="existence",
    origin="ours",
    hypotheses=[],
    expect="fails",
    statement=r"(d,n,s,\sigma_p,m_k,\sigma_0)=(2000,20,80,0.22,100,0.0022)\ \text{satisfies Condition 3.1 with constants 1}",
    reading="setting (a), a factor 10 for Theta; so the experiments illustrate the dynamics outside the theory; corrected: the order of the formal times there",
)
def experiments(lab: Laboratory) -> Verdict:
    """Violated inequalities, and the order of the formal times over seeds."""
    case = published("a")
    broken = violated(CONDITION_3_1, condition_point(case, 1e-4))
    point = {"n": case.n, "m_k": case.m_k, "d": case.d, "s": case.s}
    sentence = (
        f"at n = {case.n}, m_k = {case.m_k}, d = {case.d} the quotient n / m_k^4 is {case.n / case.m_k**4:.1g}; "
        f"{len(broken)} of {len(CONDITION_3_1)} inequalities are missed"
    )
    printed = refuted(Witness(sentence, point), Evidence.CERTIFICATE, missed=broken)

    def overlapping(seeds: Sequence[int]) -> list[bool]:
        out = []
        for seed in seeds:
            t = stages.formal_times(lab.starts(case, seed), 1e-4)
            out.append(t.T1 < t.T2_sgn < t.upper_T4_minus < t.T3 < t.T2)
        return out

    kept = with_high_probability("the stages overlap in this order", point, overlapping, lab.draw)
    return printed.correcting(
        r"T_1<T_2^{\rm SGN}<(38)<T_3<T_2\ \text{there: the stages overlap}",
        kept,
        "n s^(-1/2) = 2.2 and sigma_p s = 18 are far from their limits",
    )


# ---- the order of the times -------------------------------------------------------------------------------------------


small_delta = at_least(
    "for T_3 < T_3^+ alone: delta <= n^(-1/3), as in Theorem 3.2",
    r"\text{for}\ T_3<T_3^+:\ \delta\le n^{-1/3}",
    lambda p: 1 / p["delta"],
    lambda p: p["n"] ** (1 / 3),
)  # for a fixed delta, m_k = log d and m_v = n^9 no constant C_2 does


@book.claim(
    "App.E.1-times",
    "Order of the times up to T_3^+",
    kind="order",
    where="Appendix E.1, display of the order among the times",
    parts=["T_1 << T_2", "T_2 < T_2^+", "T_2^+ << T_3", "T_3 < T_3^+"],
    origin="proof",
    hypotheses=[*CONDITION, small_delta],
    uses=["C.8", "Eq.2-3"],
    insensitive="quotients of the times that the paper defines",
    statement=r"T_1\ll T_2<T_2^+\ll T_3<T_3^+",
    reading="C_1, C_2 any large constants; beta_xi, beta_mu with the rows of values, m_v at most n^9; T_3 < T_3^+ for delta <= n^(-1/3), false for a fixed one",
)
def order_of_times(lab: Laboratory) -> dict[str, Verdict]:
    """Quotients of neighbours by their orders; logarithms of 12, n, m_k and 1/delta as symbols."""
    twelve, n, m, delta = (sym(f"log_{x}") for x in ("12", "n", "m", "delta"))
    names = ("log_12", "log_n", "log_m", "log_delta")
    # log(12 n^9 n/delta) <= 10 log(12 m_k n/delta), and log(12 n^9/delta) <= 28 log(12 m_k/delta) with delta <= n^(-1/3)
    ten = always_positive({"ten times": 10 * (twelve + m + n + delta) - (twelve + 10 * n + delta)}, names)
    small = n / 3 + sym("z")  # log(1/delta)
    more = always_positive({"28 times": 28 * (twelve + m + small) - (twelve + 9 * n + small)}, names[:3], ("z",))
    first = at_most(100 * flint.arb(20).sqrt(), ball(448), what="50 sqrt2 * 2 * sqrt10 against C_1")
    third = at_most(3 * flint.arb(56).sqrt(), ball(23), what="3 * sqrt2 * sqrt28 against C_2")
    step = "beta_xi <= 2 log(12 max(m_k, m_v) n/delta)^(1/2) sigma_0 sigma_p s^(1/2), beta_mu <= (2 log(12 max(m_k, m_v)/delta))^(1/2) sigma_0 |mu|"
    return {
        "T_1 << T_2": vanishing("T_1/T_2", T_1 / T_2),
        "T_2 < T_2^+": (ten & first).proving(step).with_constants(C_1="448 is large enough"),
        "T_2^+ << T_3": vanishing("T_2^+/T_3", T_2_PLUS / T_3),
        "T_3 < T_3^+": (more & third)
        .proving(step)
        .with_constants(C_2="23 is large enough at every point; runs (E.9 to E.11) have T_3^+ = 2 T_3"),
    }


def _long_before(lab: Laboratory) -> Verdict:
    """T_3^+ over the bound (34) of T_4^-; log 12 <= 5/2 and log(3 sqrt2) <= 3/2, log n = 2 + x."""
    x = sym("x")  # the logarithm of T_3^+ is at most twice that of (34)
    logs = always_positive(
        {"twice (34)": 2 * (Fraction(9, 4) * (2 + x) - Fraction(3, 2)) - (Fraction(5, 2) + Fraction(7, 12) * (2 + x))},
        (),
        ("x",),
    )
    numbers = at_most(ball(12).log(), ball(Fraction(5, 2))) & at_most(
        (3 * flint.arb(2).sqrt()).log(), ball(Fraction(3, 2))
    )
    last = (logs & numbers).proving(
        "T_3^+ over (34) is C_2 kappa (log(12 m_k/delta) / log(sigma_p s / (3 sqrt2 n)))^(1/2) up to a constant",
        "m_k <= n^(1/4), delta = n^(-1/3) and sigma_p s / n >= d^(1/4) >= n^9/4: the quotient of the logarithms is at most 2, and "
        "kappa = sigma_0 sigma_p s m_k^(1/2) tends to 0",
    )
    return given(last, "Eq. (34) of Lemma E.21").assuming("delta = n^(-1/3), as in Theorem 3.2")


def _last_times(record: Record) -> Verdict:
    ratios = [record.T4_minus / record.T4_plus, record.T4_plus / record.T4]
    return between("quotients", ratios, 0, 1) & between("T_4^- over T_3", [record.T4_minus / record.T3], 1, np.inf)


on_path(
    "App.E.1-times-IV",
    "Order of the times from T_3^+ on",
    {"T_4^- < T_4^+ < T_4": _last_times},
    proved={"T_3^+ << T_4^-": _long_before},
    supposing=[UNTIED, ALIGNED],
    where="Appendix E.1, display of the order among the times",
    origin="proof",
    uses=["E.21", "E.25", "E.36"],
    statement=r"T_3^+\ll T_4^-<T_4^+<T_4",
    reading="T_4^- and T_4^+ from their definitions, at steps of 2 percent; C_3 = 2; the overview prints (1 + theta_c) T_2^- for (1 + theta_c) T_4^-",
)


def fresh_margins(record: Record, place: int, count: int, seed: int) -> np.ndarray:
    """y f of fresh samples with supports disjoint from the training set: their inner products are those of the start."""
    rng, case, now = np.random.default_rng(seed), record.case, record.seen.state(place)
    length = case.sigma_0 * case.sigma_p * sqrt(case.s)
    c = float(np.median(np.abs(record.seen.q_mu[0]) / np.abs(record.run.q_mu[0])))
    q, k = (c * length * rng.standard_normal((case.m_k, count)) for _ in range(2))
    v = length * sqrt(2 / case.m_v) * rng.standard_normal(count)
    gap = now.k_mu[:, None] - k
    s11, s21 = (
        1 / (1 + np.exp(-np.einsum("ri,ri->i", np.broadcast_to(x, q.shape), gap))) for x in (now.q_mu[:, None], q)
    )
    return (s11 + s21) * now.v_mu + (2 - s11 - s21) * v


# ---- the end of training, along the path ------------------------------------------------------------------------------

PATH_EPSILONS = (1e-1, 1e-2)


def _losses(record: Record) -> Verdict:
    found = [record.seen.loss[record.run.index(end_time(record, e))] / e for e in PATH_EPSILONS]
    return between("loss over eps", found, 0, 1)


def _fresh_losses(record: Record, low: float, high: float) -> Verdict:
    place = record.run.index(end_time(record, PATH_EPSILONS[-1]))
    margins = fresh_margins(record, place, 2000, 32)
    return between("test loss", [float(np.logaddexp(0, -margins).mean())], low, high)


on_path(
    "Thm.3.2(1)",
    "Training loss",
    {"training loss": _losses},
    where="Theorem 3.2 (1)",
    main=True,
    printed=lambda case: 1 - case.n ** (-1 / 3),
    uses=["E.41"],
    statement=r"\exists T=O(\log(\epsilon^{-1})\eta^{-1}\sigma_p^{-1}s^{-1}):\ L_S(W^{(T)})\le\epsilon",
    reading="T with the constant 2 of Lemma E.41, epsilon = 1/10 and 1/100; the printed probability is 1 - n^(-1/3)",
)


def _noise_weights(record: Record) -> Verdict:
    place = record.run.index(end_time(record, PATH_EPSILONS[-1]))
    s12, s22 = 1 - record.seen.s11[place], 1 - record.seen.s21[place]
    return between("s_12", s12, 0, 1) & between("s_22", s22, 0.9, 1)


on_path(
    "E.41",
    "Training and test loss at T",
    {
        "training loss": _losses,
        "test loss": lambda record: _fresh_losses(record, 0.1, np.inf),
        "noise weights": _noise_weights,
    },
    where="Lemma E.41, and s_12 >= 0, s_22 >= 0.9 of its proof",
    uses=["E.8", "E.40", "C.1", "E.41-value"],
    statement=r"T=2\log(\epsilon^{-1})\eta^{-1}\sigma_p^{-1}s^{-1}:\ L_S\le\epsilon,\ L_{\mathcal D}\ge0.1,\ s_{i,12}\ge0,\ s_{i,22}\ge0.9",
    reading="epsilon = 1/10 and 1/100; 2000 fresh samples whose supports miss those of training",
)


# ---- attention time --------------------------------------------------------------------------------------------------


def _attends(record: Record, name: str) -> Verdict:
    """-log s from T_attn on: to leading order (2/pi)^(1/2) log^2(sigma_p s) for s_11 and 2/pi sigma_p s log^2(sigma_p s) for s_21."""
    logits, ratio = getattr(record.seen, f"z{name[1:]}"), record.case.strength / record.case.mu
    what, scale = {"s11": ("log^2(sigma_p s)", 1.0), "s21": ("sigma_p s log^2(sigma_p s)", ratio)}[name]
    found = np.logaddexp(0, -logits[later(record, record.formal.T_attn)]) / (scale * log(ratio) ** 2)
    return between(f"-log {name} over {what}", found, 0.5, np.inf)


ATTENTION = {"s_11": lambda record: _attends(record, "s11"), "s_21": lambda record: _attends(record, "s21")}
on_path(
    "E.42",
    "Signal-signal softmax vanishes",
    ATTENTION,
    where="Lemma E.42",
    kind="order",
    uses=["E.40", "E.27"],
    statement=r"T_{\rm attn}=\Theta(\log(\sigma_ps/\|\mu\|)\eta^{-1}(m_k\sigma_ps\|\mu\|)^{-1/2}):\ s_{i,11}^{(T_{\rm attn})},s_{i,21}^{(T_{\rm attn})}=o(1)",
    reading="T_attn with the constant 1; o(1) as exp(-log^2(sigma_p s)/2), for s_21 with sigma_p s in it; all samples, to the end of the run",
)
on_path(
    "Thm.3.2(4)",
    "Attention memorises the noise",
    ATTENTION,
    printed=lambda case: 1 - case.n ** (-1 / 3),
    where="Theorem 3.2 (4)",
    kind="order",
    main=True,
    uses=["E.42"],
    same_as="E.42",
    statement=r"s_{i,11}^{(T_{\rm attn})},s_{i,21}^{(T_{\rm attn})}=o(1),\quad T_{\rm attn}=\tilde O(\eta^{-1}m_k^{-1/2}\sigma_p^{-1/2}s^{-1/2}\|\mu\|^{-1/2})",
    reading="T_attn of Lemma E.42 with the constant 1, o(1) as there, all samples; the printed probability is 1 - n^(-1/3)",
)


def _values_at_T(record: Record) -> Verdict:
    """(3) with the constants of Thm.3.2(3), at T for epsilon = 1/100: over log(1/eps) at least 1 and at most 5/(sigma_p s)."""
    now, level = record.run.state(record.run.index(end_time(record, PATH_EPSILONS[-1]))), log(1 / PATH_EPSILONS[-1])
    signal = abs(now.v_mu) * record.case.strength / record.case.mu / level
    return between("<v, xi_i> over log(1/eps)", now.v / level, 1, np.inf) & between(
        "<v, mu> sigma_p s over log(1/eps)", [signal], 0, 5
    )


def _whole_theorem(record: Record) -> Verdict:
    return (
        _losses(record)
        & _fresh_losses(record, 0.1, 2)
        & _values_at_T(record)
        & _attends(record, "s11")
        & _attends(record, "s21")
    )


on_path(
    "Thm.3.2",
    "All of Theorem 3.2 in one run",
    {"(1) to (4) together": _whole_theorem},
    printed=lambda case: 1 - case.n ** (-1 / 3),
    where="Theorem 3.2, probability of its four statements together",
    kind="probability",
    main=True,
    uses=["Thm.3.2(1)", "Thm.3.2(2)", "Thm.3.2(3)", "Thm.3.2(4)"],
    statement=r"P\big((1),(2),(3),(4)\big)\ge1-n^{-1/3}",
    reading="one run has all: losses at T for epsilon = 1/10, 1/100, test loss in [0.1, 2], values as in Thm.3.2(3), attention as in E.42",
)


def _still_half(record: Record) -> Verdict:
    place = record.run.index(end_time(record, PATH_EPSILONS[-1]))
    return between("s11", record.seen.s11[place], 0.49, 0.5) & between("s21", record.seen.s21[place], 0, 0.01)


on_path(
    "Thm.3.2-order",
    "T is reached long before T_attn",
    {"softmax at T": _still_half},
    where="",
    origin="ours",
    kind="order",
    uses=["Thm.3.2(1)", "Thm.3.2(4)"],
    statement=r"T_{\rm attn}/T\sim\sqrt{\sigma_ps/m_k}/\log(1/\epsilon):\ \text{at}\ T\ \text{the signal-signal softmax is still}\ \tfrac12",
    reading="epsilon = 1/100: s_11 in [0.49, 0.5] at T, s_21 below 1/100; the theorem lists both times without saying so",
)


# ---- beyond the paper -------------------------------------------------------------------------------------------------


@book.claim(
    "Beyond.exponents",
    "Loss exponents 2, 3, 4",
    kind="order",
    hypotheses=[],
    uses=["Eq.14-15", "E.14", "E.42"],
    origin="ours",
    statement=r"\text{margin}=\beta\,\eta t\Lambda:\ \beta=2\ (t\ll T_f),\ 3\ (T_f\ll t\ll T_{\rm attn}),\ 4\ (t\gg T_{\rm attn})",
    reading="up to 1/Lambda, for values 2 eta t Lambda and 2 eta t, and softmax outputs s_11, s_21 at (1/2, 1/2), (1/2, 0), (0, 0)",
)
def exponents(lab: Laboratory) -> Verdict:
    """The derived output with values that have grown, over eta t Lambda."""
    made, L = lab.network(), sym("L")
    (f,) = on_section({"f": made.output(0)}).values()
    s = on_section({f"{l}{a}": made.attention(0)[l][a] for l in range(2) for a in range(2)})
    pairs = {}
    for beta, (first, second) in {2: (1, 1), 3: (1, 0), 4: (0, 0)}.items():
        half = {
            s["00"]: num(first) / 2,
            s["01"]: 1 - num(first) / 2,
            s["10"]: num(second) / 2,
            s["11"]: 1 - num(second) / 2,
        }
        (value,) = graph.substitute(graph.substitute([f], half), {sym("v_1"): 2 * L, sym("v_mu"): num(2)})
        pairs[str(beta)] = value / L, num(beta) + (4 - beta) / L
    return on_the_toy(equal(pairs)) & mean_value_moves(lab)


@book.claim(
    "Beyond.crossing",
    "Exact end of Stage I",
    kind="identity",
    hypotheses=[],
    uses=["Eq.14-15"],
    origin="ours",
    statement=r"\mathrm{sgn}(v_i-v_\mu)\ \text{changes once, at}\ t_i^\times=\max\Big\{0,\frac{v_\mu^{(0)}-v_i^{(0)}}{2\eta(\|\xi_i\|_1-\|\mu\|)}\Big\}",
    reading="for |xi_i|_1 > |mu|, by the constant moves of both values",
)
def crossing(lab: Laboratory) -> Verdict:
    """A linear function of t with a positive slope has one zero."""
    w, slope = sym("w"), 2 * (sym("l") - sym("m"))
    zero = equal({"zero": (w + slope * (-w / slope), num(0))})
    return (mean_value_moves(lab) & zero).proving("v_i - v_mu grows by 2 eta (|xi_i|_1 - |mu|) in each step")


FINITE = {"n": 20, "s": 80, "m_k": 100, "d": 2000, "eta": 1e-4}


@book.claim(
    "Beyond.finite-step",
    "Published sizes with disjoint supports",
    kind="order",
    level="full",
    hypotheses=[],
    uses=["Beyond.1-2-4", "Beyond.trap"],
    origin="ours",
    statement=r"\eta=10^{-4},\ n=20,\ s=80,\ m_k=100:\ \text{flips of unaligned pairs at the mean-field times},\ \text{loss of the mean field}",
    reading="median times of turns and zeros of keys and queries, and the loss at six times to t = 600, each relative to the mean field",
)
def finite_step(lab: Laboratory) -> Verdict:
    """The largest relative deviation of each run."""
    rules, eta = lab.rules(), FINITE["eta"]
    case = Case(n=20, s=80, d=2000, m_k=100, m_v=20, sigma_0=0.1 / 2000**0.5)

    def deviation(record: Record | OdesysError) -> float:
        if isinstance(record, OdesysError):
            return np.inf
        share = np.sign(record.run.at(60 * eta).q) == record.vote(60 * eta)[:, None]
        field = MeanField(float(record.start.l1.mean() / case.mu), float(share.mean()), case.m_k)
        fields = [
            MeanField(float(l / case.mu), float(p), case.m_k)
            for l, p in zip(record.start.l1, share.mean(axis=0), strict=True)
        ]
        found = []
        for kind, name in (("k", "key_flip"), ("k zero", "key_zero"), ("q", "query_flip"), ("q zero", "query_zero")):
            events = record.events[kind].within(100 * eta, np.inf)
            theta = events.theta[~share[events.neuron, events.sample]]
            found.append(np.median(theta) / field.times[name] if theta.size else np.inf)
        for t in (40, 100, 200, 300, 450, 600):
            found.append(record.seen.loss[t] / float(loss(fields, np.array(t * eta))))
        return float(np.abs(np.array(found) - 1).max())

    def runs(point: object, seeds: Sequence[int]) -> list[float]:
        return [deviation(record) for record in watched_runs.descents(case, seeds, eta, 700, rules)]

    found = over_seeds("largest relative deviation", [FINITE], runs, lab.draw.seeds(20)).between(
        0, 0.1, "the mean field replaces m_k = 100 neurons by their mean: one over the root of m_k"
    )
    return not_supposed(found, case, eta, "published sizes with disjoint supports")
