"""Appendix E by bounded moves: sizes of signals, sums and logits before T_4, from Eq. (8), (9) and the start; no runs."""

from __future__ import annotations

from fractions import Fraction
from math import log

import flint

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    graph,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from ..special.conditions import POWER
from .book import at_most, ball, book, short
from .common_hypotheses import CONDITION, inside_point
from .common_orders import (
    BETA_MU,
    BETA_XI,
    COQ,
    ETA,
    MOVES,
    NORMS,
    ONE,
    OVER_STEPS,
    SIGMA_0,
    STEP,
    T_2_PLUS,
    T_4_LEAST,
    N,
    S,
    settled,
    sizes_at_start,
    vanishing,
)
from .part_c_small_values import large_support
from .part_d_gradients import constant_moves
from .part_d_recursion import gauge

# ---- sizes before T_4 ------------------------------------------------------------------------------------------------


@book.claim(
    "E.13",
    "Upper bounds of signals for ever",
    kind="inequality",
    where="Remark E.13",
    parts=["queries", "keys"],
    hypotheses=[],
    uses=["Eq.8-9"],
    statement=r"t\ge T_3:\ \varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|,\ \varsigma_sk_{s\mu}\ge-\tfrac43t\eta\|\mu\|",
    reading="all neurons, all times from T_3 = 3 beta_mu / (eta |mu|) on",
)
def signals_bounded(lab: Laboratory) -> dict[str, Verdict]:
    """|q_mu| <= beta_mu + t eta |mu|, with t = T_3 + u and beta_mu = T_3 eta |mu| / 3."""
    T, u, r = sym("T_3"), sym("u"), sym("r")
    gap = always_positive({"4/3 t - (beta + t)": (T + u) / 3 - (T / 3 - r)}, ("T_3", "u"), ("r",))
    t, beta, eta, mu = (sym(name) for name in ("t", "beta", "eta", "mu"))
    told = {
        "T_3": (("beta", "eta", "mu"), 3 * beta / (eta * mu)),
        "bound": (("t", "eta", "mu"), Fraction(4, 3) * t * eta * mu),
    }
    both = (constant_moves(lab) & gap).by_theorems(COQ / "signals_bounded.v", told)
    both = both.proving(MOVES, "beta_mu is T_3 eta |mu| / 3")
    return {"queries": both, "keys": both}


def _near_start(lab: Laboratory) -> Verdict:
    """A signal moves by at most T_2^+ eta |mu|, and starts at least at sigma_0 n s^(-1/3) |mu| (Lemma C.12)."""
    q, e = sym("q"), sym("e")  # the start q, and moves of at most e q in all, e < 1
    small = e / (1 + e)
    kept = always_positive({"sign": q - small * q, "above": 2 * q - (q + small * q)}, ("q", "e"))
    ratio = vanishing(
        "T_2^+ eta over sigma_0 n s^(-1/3)",
        T_2_PLUS * ETA / (SIGMA_0 * N / S ** Fraction(1, 3)),
        made_of={"T_2_plus": 1, "eta": 1, "sigma_0": -1, "n": -1, "s": Fraction(1, 3)},
    )
    start, names = sym("sigma_0") * sym("n") / sym("s") ** Fraction(1, 3), ("sigma_0", "n", "s")
    told = sizes_at_start() | {"least": (names, start), "share": (("T", "eta", *names), sym("T") * sym("eta") / start)}
    later = (
        sym("C_1") * graph.sqrt(told["logarithm"][1]) * sym("sigma_0") * sym("n") / graph.sqrt(sym("s")) / sym("eta")
    )
    told["T_2_plus"] = (("C_1", "n", "m_k", "delta", "sigma_0", "s", "eta"), later)
    theorems = [COQ / "large_samples.v", COQ / "near_start.v"]
    found = (constant_moves(lab) & kept & ratio).by_theorems(theorems, told)
    return found.proving(MOVES, "on the event of Lemma C.12")


@book.claim(
    "E.7",
    "Signals stay near their start",
    kind="order",
    where="Lemma E.7",
    source="damaged",
    parts=["near the start", "signs"],
    hypotheses=[*CONDITION, large_support],
    uses=["C.12", "Eq.8-9"],
    statement=r"t\le T_2^+:\ |\langle w_{Q,s}^{(t)},\mu\rangle|=|\langle w_{Q,s}^{(0)},\mu\rangle|(1\pm o(1)),\ \text{signs kept; keys alike}",
    reading="the display is lost and read off its proof; on the event of Lemma C.12, whose s needs d of order n^14: poly(n) has to be such a power",
)
def signals_stay(lab: Laboratory) -> dict[str, Verdict]:
    """Both parts by the same bound."""
    found = _near_start(lab)
    return {"near the start": found, "signs": found}


@book.claim(
    "4.3(4)",
    "Signals stay near their start until T_2",
    kind="order",
    main=True,
    where="Lemma 4.3 (4)",
    parts=["near the start"],
    hypotheses=[*CONDITION, large_support],
    uses=["E.7"],
    same_as="E.7",
    statement=r"t\le T_2:\ \langle w_{Q,s}^{(t)},\mu\rangle=\langle w_{Q,s}^{(0)},\mu\rangle(1\pm o(1)),\ \langle w_{K,s}^{(t)},\mu\rangle\ \text{alike}",
    reading="for all neurons, on the event of Lemma C.12, whose s needs d of order n^14: poly(n) has to be such a power",
)
def signals_stay_to_the_end(lab: Laboratory) -> Verdict:
    """As Lemma E.7."""
    return _near_start(lab)


@book.claim(
    "App.E.1-sums",
    "Growth of sums in the overview",
    kind="inequality",
    where="Appendix E.1, query/key noise part i, last displays",
    parts=["queries", "keys"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["Beyond.gauge", "Eq.8-9"],
    expect="fails",
    statement=r"t\in[T_2,T_2^+],\ \forall s:\ \sum_iq_{si}^{(t+1)}\ge\sum_iq_{si}^{(t)}+\mathrm{sgn}\Big(\sum_iq_{si}^{(t)}\Big)\tfrac1{\sqrt2}\eta\sigma_ps,\ \text{keys alike}",
    reading="for all neurons, as printed: negative sums fall, and the right side is their smallest decrease, not their largest",
)
def overview_sums(lab: Laboratory) -> dict[str, Verdict]:
    """By the symmetry of a neuron the display has probability at most 2^(-m_k)."""
    found = constant_moves(lab) & gauge(lab)
    if found.as_stated != "holds":
        return dict.fromkeys(("queries", "keys"), undecided("a neuron and its negative do not run alike"))
    return {name: _negative_sums(found, word) for name, word in (("queries", "query"), ("keys", "key"))}


def _negative_sums(found: Verdict, word: str) -> Verdict:
    """The display for all neurons, against the same display after some of them are replaced by their negatives."""
    point = inside_point()
    sentence = (
        f"at m_k = {point['m_k']:.4g} (Condition 3.1 holds) the display holds for the {word} noise of all neurons with probability "
        f"at most 2^-{point['m_k']:.4g}: a neuron and its negative are equally likely, and for one of them the sum is negative and falls by more"
    )
    x, c, y = sym("x"), sym("c"), sym("y")  # |sum| = x, the vote is c + y at least, c = sigma_p s / sqrt2
    grows = always_positive({"gain + x": (x + c + y) - c}, ("x",), ("y",))
    return (
        refuted(Witness(sentence, point), Evidence.CERTIFICATE)
        .proving(
            "a neuron and its negative have one law, and the recursion of the negative start is the negative (Beyond.gauge)",
            "if the display holds for both, the sum moves by exactly sgn eta sigma_p s / sqrt2; moves are sums of +-eta |xi_i|_1 (Eq. "
            "(9)), and such a sum has that value with probability 0",
            "so the 2^m_k images of the event, one for each set of negated neurons, meet with probability 0",
        )
        .correcting(
            r"\Big|\sum_iq_{si}^{(t+1)}\Big|\ge\Big|\sum_iq_{si}^{(t)}\Big|+\tfrac1{\sqrt2}\eta\sigma_ps",
            grows.proving("a sum that moves with its own sign, by its vote (Lemma E.5)"),
            "negative sums fall",
        )
        .blaming("misprint", "sign-of-sums")
    )


@book.claim(
    "App.E.1-orders",
    "Orders of T_2 and T_2^+ in the overview",
    kind="order",
    where="Appendix E.1, list of times, T_2 and T_2^+",
    parts=["T_2", "T_2^+"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["C.8"],
    expect="fails",
    insensitive="an order in n does not depend on the scale of the start",
    statement=r"T_2=50\sqrt2n\beta_\xi\eta^{-1}\sigma_p^{-1}s^{-1}=\tilde O(\sigma_0s^{-1/2}\eta^{-1}),\ T_2^+=C_1\sqrt{\log(12m_kn/\delta)}\sigma_0ns^{-1/2}\eta^{-1}=\tilde O(\sigma_0s^{-1/2}\eta^{-1})",
    reading="a factor n is no logarithm; Section 4.2 has it",
)
def overview_orders(lab: Laboratory) -> dict[str, Verdict]:
    """T_2 over sigma_0 s^(-1/2) / eta is at least 50 sqrt2/4 n."""
    least = at_most(
        ball(17), 50 * flint.arb(2).sqrt() / 4, what="beta_xi is at least sigma_0 sigma_p s^(1/2) / 4 (C.8)"
    )
    point = inside_point()
    n = short(ball(int(point["n"])))
    sentence = (
        f"at n = {n:.4g} (all of Condition 3.1 holds) the left side over sigma_0 s^-1/2 / eta is at least 17 n, and n is "
        f"d^(1/9), no power of log d, which is {log(point['d']):.4g}"
    )
    fixed = settled(
        least, "beta_xi over sigma_0 sigma_p s^(1/2) is between 1/4 and 2 log(12 max(m_k, m_v) n/delta)^(1/2)"
    )
    printed = refuted(Witness(sentence, point), least.evidence).correcting(
        r"\tilde\Theta(n\sigma_0s^{-1/2}\eta^{-1})", fixed, "the factor n of the definitions is no logarithm"
    )
    both = printed.blaming("misprint", "factor-n")
    return {"T_2": both, "T_2^+": both}


def start_logarithm() -> Verdict:
    """log(12 m/delta)^(1/2) of beta_mu over log(sigma_p s) of T_4 is bounded: m <= n^9, delta = n^(-j), sigma_p s >= d^(1/4) n."""
    L, j = 4 + sym("x"), sym("j")  # log n, for n >= 55
    strength = (Fraction(POWER, 4) + 1) * L - Fraction(5, 2)  # a tenth of it is allowed, and log 10 < 5/2
    less = always_positive(
        {"(4 + j) log(sigma_p s) - log(12 m/delta)": (4 + j) * strength - (Fraction(5, 2) + POWER * L + j * L)},
        (),
        ("x", "j"),
    )
    numbers = at_most(ball(12).log(), ball(Fraction(5, 2)))
    return (less & numbers).proving(
        "log(12 max(m_k, m_v)/delta)^(1/2) of beta_mu is at most that logarithm, and it at most 4 + j times log(sigma_p s) of T_4, for "
        "delta = n^(-j)"
    )


@book.claim(
    "Eq.27-28",
    "Sizes before T_4",
    kind="order",
    where="Proof of Lemma E.14, Eq. (27) and (28)",
    parts=["(27)", "(28)"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["Eq.8-9", "C.8"],
    statement=r"t\le T_4:\ |q_{si}|,|k_{si}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}),\ |q_{s\mu}|,|k_{s\mu}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}(\sigma_ps)^{-1}\|\mu\|)",
    reading="the constant is 2 C_3: T_4 eta sigma_p s is C_3 log(C_3 sigma_p s/|mu|) m_k^(-1/2), and the start is smaller; delta a power of 1/n",
)
def sizes_before(lab: Laboratory) -> dict[str, Verdict]:
    """Start plus T_4 moves, in units of T_4 eta sigma_p s."""
    U, e = sym("U"), sym("e")
    bound = constant_moves(lab) & always_positive({"2 U - (U + start)": 2 * U - (U + U / (1 + e))}, ("U", "e"))
    noise = vanishing("the start of noise over T_4 eta sigma_p s", BETA_XI / (T_4_LEAST * STEP))
    signal = vanishing("the start of a signal over T_4 eta |mu|", BETA_MU / (T_4_LEAST * ETA), (ONE, start_logarithm()))
    found = {"(27)": (bound & noise).proving(MOVES, NORMS), "(28)": (bound & signal).proving(MOVES)}
    return {part: verdict.arguing(OVER_STEPS) for part, verdict in found.items()}
