"""Appendix E by bounded moves: how long the softmax stays at 1/2, and the loss at T_4; no runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise, product
from math import log
from operator import and_

from odesys import (
    Evidence,
    Hypothesis,
    Verdict,
    Witness,
    always_positive,
    graph,
    identity,
    num,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import book
from .common_hypotheses import CONDITION, inside_point
from .common_orders import (
    BETA_MU,
    BETA_XI,
    COQ,
    ETA,
    HALF,
    LEAST_SIGMA_P,
    M_K,
    MOVES,
    NORMS,
    QUARTER,
    STEP,
    T_3,
    T_4,
    VALUES,
    D,
    N,
    S,
    sizes_at_start,
    vanishing,
)
from .part_d_gradients import constant_moves
from .part_d_recursion import mean_value_moves, pair_moves


@book.claim(
    "E.14",
    "Softmax before T_4",
    kind="order",
    where="Lemma E.14",
    parts=["s_11", "s_21"],
    hypotheses=CONDITION,
    uses=["Eq.27-28", "C.13"],
    expect="fails",
    statement=r"s_{i,11}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_4,\quad s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_3^+",
    reading="for every start with sigma_0 = o(1/(sigma_p s m_k^(1/2))), as printed; the bound of the proof is log(12 m_k/delta) kappa^2, which need not tend to 0",
)
def softmax_before(lab: Laboratory) -> dict[str, Verdict]:
    """Logits are at most 2 m_k times squares of sizes; the noise logit at T_3^+ is that large."""
    moves = constant_moves(lab)
    first = vanishing("m_k |q_mu| |k_i| at T_4", M_K * T_4**2 * ETA * STEP)
    # -log s_21 is at least m_k (T_3^+ eta sigma_p s)^2 / 6 = C_2^2 log(12 m_k / delta) kappa^2 / 6, with delta = n^(-1/3)
    printed = _not_half(
        moves & one_sign_grows(lab),
        lambda p: (log(12 * p["m_k"]) + log(p["n"]) / 3) / 6,
        "n",
        "T_3^+",
        "-log s_21 over C_2^2, which is at least log(12 m_k/delta)/6 times the square of sigma_0 sigma_p s m_k^(1/2), delta = n^-1/3,",
    )
    return {
        "s_11": (moves & first).proving(MOVES, QUARTER),
        "s_21": printed.correcting(LOGARITHM, half_with_logarithm(lab), PAYS).blaming("constant", "log-of-start"),
    }


LOGARITHM = (
    r"s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \text{for}\ \sigma_0=o(\sigma_p^{-1}s^{-1}(m_k\log(12m_k/\delta))^{-1/2})"
)
PAYS = "T_3^+ has log(12 m_k/delta)^(1/2), which the condition on sigma_0 has to pay for"
WIDTHS = (240, 10**4, 10**6, 10**8)  # m_k of a path inside Condition 3.1: n = m_k^4, d = n^9


def slow_starts(letter: str) -> list[dict[str, float]]:
    """Points of the path with kappa = sigma_0 sigma_p s m_k^(1/2) = 0.05 (log x_0 / log x)^(1/4), x = n or m_k, x_0 its start."""
    points = [inside_point(m_k) for m_k in WIDTHS]
    return [
        {**p, "sigma_0": p["sigma_0"] * (log(points[0][letter]) / log(p[letter])) ** 0.25} for p in points
    ]  # kappa is 0.05 at every inside point


SHARE = (
    "take a sample with v_i > v_mu at the start, so for ever, as v_i - v_mu grows (Eq. (14), (15)): given v_mu samples are "
    "independent with a probability that tends to 1/2, so one of n has it",
    "at least 2/5 of its m_k independent pairs start with one sign and both sizes above 4 beta_mu (Hoeffding): the probability tends "
    "to 1/2, as beta_mu over sigma_0 sigma_p s^(1/2) is of the order n^-2",
    "if softmax outputs stay near 1/2, a_i < 2 b_i; then such a pair moves outwards in every step, so that both sizes are above "
    "t eta |xi_i|_1 >= t eta sigma_p s / sqrt2",
    "of any other pair: with opposite signs and sizes above 2 |q_mu| and |k_mu| both shrink, else one size is at most 2 (beta_mu + t "
    "eta |mu|), or one step; so its product is at least -(beta_xi + t eta sigma_p s)(2 beta_mu + 2 t eta |mu| + eta sigma_p s) or -beta_xi^2",
    "so -log s_21 is at least m_k (t eta sigma_p s)^2 (1/5 - o(1))",
)


def one_sign_grows(lab: Laboratory) -> Verdict:
    """Pairs of one sign move outwards and opposite ones inwards where noise outweighs the signals; large starts stay so."""
    pairs = reduce(and_, (pair_moves(lab, q, k) for q, k in product((1, -1), repeat=2)))
    B, m, t, x = sym("B"), sym("m"), sym("t"), sym("x")  # beta_mu, eta |mu|, and |xi_i|_1 = (2 + x)|mu| at least
    stays = always_positive({"noise - 2 signal": 4 * B + t * (2 + x) * m - 2 * (B + t * m)}, ("B", "m"), ("t", "x"))
    small = (
        vanishing("4 beta_mu over sigma_0 sigma_p s^(1/2)", BETA_MU / BETA_XI)
        & vanishing("beta_xi over T_3 eta sigma_p s", BETA_XI / (T_3 * STEP))
        & vanishing("(beta_mu + T_3 eta |mu|) over T_3 eta sigma_p s", BETA_MU / (T_3 * STEP))
        & vanishing(
            "one step over T_3, for eta = 1/d and sigma_0 sigma_p s m_k^(1/2), sigma_p at their bounds",
            LEAST_SIGMA_P * S * M_K**HALF / D,
        )
    )
    return pairs & mean_value_moves(lab) & stays & small


def _not_half(
    moves: Verdict, factor: Callable[[dict[str, float]], float], letter: str, time: str, what: str
) -> Verdict:
    """A logit factor(p) kappa^2 along the path that grows with the root of log n or log m_k: s_21 does not stay at 1/2.

    If it stayed there, pairs that start with one sign would grow in every step (`SHARE`): a contradiction, which takes no
    lemma about other pairs.
    """
    if moves.as_stated != "holds":
        return undecided("pairs of one sign do not grow as the argument needs")
    points = slow_starts(letter)
    logits = [factor(p) * p["m_k"] * (p["sigma_0"] * p["sigma_p"] * p["s"]) ** 2 for p in points]
    y, r = sym("y"), sym("r")  # roots of log x and log x_0: the factor is of order y^2, kappa^2 of order r/y
    grows = identity({"logit over the root of log x": y**2 * (r / y) - r * y})
    if grows.as_stated != "holds" or not all(late > early for early, late in pairwise(logits)):
        return undecided(f"the logit does not grow: {logits}")
    sentence = (
        (
            f"along n = m_k^4, d = n^9, sigma_0 sigma_p s m_k^(1/2) = 0.05 (log {letter}_0/log {letter})^(1/4), which tends to 0, if s_21 "
            f"stayed near 1/2 then at {time} {what} would be {logits[0]:.4g} at m_k = 240, {logits[-1]:.4g} at m_k = 10^8, and grow like "
            f"(log {letter})^(1/2)"
        )
        .replace("m_k_0", "240")
        .replace("n_0", "240^4")
    )
    return refuted(Witness(sentence, points[-1]), Evidence.CERTIFICATE).proving(*SHARE)


def half_with_logarithm(lab: Laboratory) -> Verdict:
    """|q|, |k| <= 2 C_2 log^(1/2) sigma_0 sigma_p s up to T_3^+: the logit is at most 8 C_2^2 log kappa^2."""
    moves, U, e = constant_moves(lab), sym("U"), sym("e")
    size = always_positive({"2 U - (start + U)": 2 * U - (U + U / (1 + e))}, ("U", "e"))
    start = vanishing("the start of noise over T_3^+ eta sigma_p s", BETA_XI / (T_3 * STEP))
    names = ("C_2", "log", "sigma_0", "eta", "size", "m")
    C, logs, sigma, eta, noise, m = (sym(name) for name in names)
    told = {
        "T_3_plus": (names[:4], C * graph.sqrt(logs) * sigma / eta),
        "closeness": (("m", "C_2", "log", "sigma_0", "size"), 4 * C**2 * logs * m * (sigma * noise) ** 2),
    }
    return (
        (moves & size & start)
        .by_theorems(COQ / "half_with_logarithm.v", told)
        .proving(
            MOVES,
            "up to T_3^+ noise is at most 2 C_2 log(12 m_k/delta)^(1/2) sigma_0 sigma_p s",
            "a noise logit is at most 2 m_k times its square, 8 C_2^2 log(12 m_k/delta) kappa^2",
            QUARTER,
        )
    )


@book.claim(
    "Beyond.log-scale",
    "Softmax stays at 1/2 in Stage III with a logarithm more",
    kind="order",
    hypotheses=[],
    origin="ours",
    uses=["Eq.27-28"],
    repairs=["E.14", "4.4(3)"],
    statement=r"\sigma_0=o(\sigma_p^{-1}s^{-1}(m_k\log(12m_k/\delta))^{-1/2}):\ s_{i,11}^{(t)},s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_3^+",
    reading="Lemma E.14 under the condition that its proof needs",
)
def log_scale(lab: Laboratory) -> Verdict:
    """As the corrected form of Lemma E.14."""
    return half_with_logarithm(lab)


@book.claim(
    "4.3(2)",
    "Softmax stays at 1/2 in Stage II",
    kind="order",
    main=True,
    where="Lemma 4.3 (2)",
    parts=["both"],
    hypotheses=CONDITION,
    uses=["Eq.8-9", "C.8"],
    statement=r"t\le T_2:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading="all samples and times; logits are at most 2 m_k (1 + 50 sqrt2 n)^2 beta_xi^2",
)
def half_in_stage_two(lab: Laboratory) -> Verdict:
    """Noise is at most beta_xi + T_2 eta sigma_p s = (1 + 50 sqrt2 n) beta_xi."""
    logit = vanishing("m_k n^2 beta_xi^2", M_K * N**2 * BETA_XI**2, made_of={"m_k": 1, "n": 2, "beta_xi": 2})
    n, beta, m = (sym(name) for name in ("n", "beta", "m"))
    within = m * (1 + 50 * graph.sqrt(num(2)) * n) ** 2 * beta**2
    told = sizes_at_start() | {"closeness": (("m", "n", "beta"), within)}
    theorems = [COQ / "large_samples.v", COQ / "half_in_stage_two.v"]
    found = (constant_moves(lab) & logit).by_theorems(theorems, told)
    return found.proving(MOVES, NORMS, QUARTER)


@book.claim(
    "4.4(3)",
    "Softmax stays at 1/2 in Stage III",
    kind="order",
    main=True,
    where="Lemma 4.4 (3)",
    parts=["s_11", "s_21"],
    hypotheses=CONDITION,
    uses=["E.14"],
    expect="fails",
    statement=r"t\in[T_2,T_3]:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading="for every start that the condition allows; beta_mu in T_3 is of the order (log m_k)^(1/2) sigma_0 |mu|",
)
def half_in_stage_three(lab: Laboratory) -> dict[str, Verdict]:
    """As in Lemma E.14, with T_3 for T_3^+."""
    found = softmax_before(lab)
    # beta_mu is at least (log m_k)^(1/2) sigma_0 |mu|, so T_3 eta sigma_p s at least 3 (log m_k)^(1/2) sigma_0 sigma_p s
    printed = _not_half(
        constant_moves(lab) & one_sign_grows(lab),
        lambda p: 9 / 6 * log(p["m_k"]),
        "m_k",
        "T_3",
        "-log s_21, which is at least 3/2 log m_k times the square of sigma_0 sigma_p s m_k^(1/2),",
    )
    fixed = printed.correcting(LOGARITHM, half_with_logarithm(lab), PAYS).blaming("constant", "log-of-start")
    return {"s_11": found["s_11"], "s_21": fixed}


@book.claim(
    "4.8(2)",
    "The loss has not converged at T_4",
    kind="order",
    main=True,
    where="Lemma 4.8 (2)",
    parts=["loss"],
    hypotheses=[
        *CONDITION,
        Hypothesis(
            "m_k >= log(sigma_p s)^2",
            r"m_k=\Omega(\mathrm{polylog}(d))\ \text{so that}\ m_k\ge\log^2(\sigma_ps/\|\mu\|)",
            lambda p: p["m_k"] - log(p["sigma_p"] * p["s"]) ** 2,
        ),
    ],
    uses=["Eq.14-15"],
    statement=r"L_S(W^{(T_4)})=\Theta(1)",
    reading="polylog(d) as a power of log d above log(sigma_p s)^2, as the proof of E.15 has it; with m_k = log d it would fail; constants depend on C_3",
)
def loss_at_t4(lab: Laboratory) -> Verdict:
    """A margin is at most 2 v_i <= 4 T_4 eta sigma_p s + 1 = 4 C_3 log(C_3 sigma_p s) m_k^-1/2 + 1."""
    C, x, e = sym("C"), sym("x"), sym("e")  # C = C_3 >= 1 as C = 1 + x; log(C_3 S) <= (1 + log C_3) log S <= C_3 log S
    margin = 4 * (1 + x) ** 2 / (1 + e) + 1
    bound = always_positive({"margin": 4 * (1 + x) ** 2 + 2 - margin}, (), ("x", "e"))
    least = always_positive({"loss": graph.exp(-C)}, ("C",))
    most, width, eta, size = (sym(name) for name in ("C_3", "m_k", "eta", "size"))
    told = {
        "T_4": (
            ("C_3", "m_k", "eta", "size"),
            most * graph.call("log", most * size) / graph.sqrt(width) / (eta * size),
        ),
        "margin": (("C_3",), 4 * most**2 + 2),
    }
    return (
        (mean_value_moves(lab) & bound & least)
        .by_theorems(COQ / "loss_at_t4.v", told)
        .proving(
            VALUES,
            NORMS,
            "margins at T_4 are between -1 and 4 C_3^2 + 2, so every share of the loss is between two positive constants",
        )
    )
