"""Sections 2 to 4: assumptions, conditions, and the experiments' settings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np

from odesys import (
    ONE,
    Evidence,
    Verdict,
    Witness,
    always_positive,
    as_ball,
    certified,
    enumerate_all,
    graph,
    identity,
    measured,
    refuted,
    rounded,
    sym,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import network
from .book import COQ, LONGEST, NUMBERS, PRINTED, claim, value
from .common_runs import MAIN

NOISY = Case(
    M=5,
    alpha_s=0.5,
    alpha_c=0.04,
    L=50,
    N=20,
    d=10,
    m=100,
    m_a=10,
    m_b=10,
    sigma=0.1,
    delta=0.2,
    noise=0.01,
    unit=1,
    eta=0.2,
)


@claim(
    "Eq.5",
    "Token noise",
    kind="definition",
    insensitive="the generator draws the data law of the paper, whatever is trained on",
    where="Section 3.2, Eq. (5)",
    hypotheses=(),
    statement=r"\min_j\|x_l^n-\mu_j\|\le\tau<\kappa/4,\quad y^n=+1\iff|S_1^n|>|S_2^n|",
    reading="tokens of the experiments: each within tau of its own pattern, and the label is the majority",
)
def token_noise(lab: Laboratory) -> Verdict:
    """Every token of a draw.

    Orthonormal patterns (kappa = sqrt 2), noise c_0 = 0.01 in d = 10 and unit length: all 1000 tokens of 20 samples
    are nearest to their own pattern and within tau = 0.06 < kappa/4; the label is the majority in every sample,
    also with random counts (seed 3).
    """
    rng = np.random.default_rng(3)
    data = network.draw(NOISY, rng)
    distance = np.linalg.norm(data.X[:, :, None, :] - network.patterns(NOISY)[None, None], axis=3)
    counts = data.counts(NOISY.M)
    right = bool(
        (distance.argmin(axis=2) == data.pattern).all() and (np.sign(counts[:, 0] - counts[:, 1]) == data.y).all()
    )
    top = float(distance.min(axis=2).max())
    return measured(right and top < 0.06 < np.sqrt(2) / 4, {"largest distance": top}, tau=rounded(top), seed=3)


@claim(
    "Asm.1",
    "Initial model",
    kind="definition",
    where="Assumption 1",
    hypotheses=(),
    statement=r"\max(\|W_V\|,\|W_K\|,\|W_Q\|)\le1,\ \|W_V\mu_j-p_j\|\le\sigma,\ \|W_K\mu_j-q_j\|,\|W_Q\mu_j-r_j\|\le\delta,\ q_{1,2}=r_{1,2}",
    reading="the start of our runs, with sigma and delta measured after norms are scaled to 1",
)
def initial_model(lab: Laboratory) -> Verdict:
    """Norms and errors of ten starts.

    The start of the runs with sigma = 0.1, delta = 0.2, m_a = m_b = 10 (seeds 0..9): norms at most 1 (1e-12),
    orthonormal features; errors of that length are drawn orthogonal to the feature and then everything is divided
    by the norm, so that the errors are at most 1.3 sigma and 1.3 delta.
    """
    case = replace(MAIN, sigma=0.1, delta=0.2, m_a=10, m_b=10)
    worst = {"norm": 0.0, "sigma": 0.0, "delta": 0.0, "features": 0.0}
    for seed in range(10):
        state, ideal = lab.begin(case, seed)
        worst["norm"] = max(worst["norm"], *(float(np.linalg.norm(x, 2)) for x in (state.v, state.kappa, state.rho)))
        worst["sigma"] = max(worst["sigma"], float(np.linalg.norm(state.v - ideal.p, axis=1).max()))
        worst["delta"] = max(
            worst["delta"], *(float(np.linalg.norm(x - ideal.q, axis=1).max()) for x in (state.kappa, state.rho))
        )
        worst["features"] = max(
            worst["features"],
            float(np.abs(ideal.p @ ideal.p.T - np.eye(5)).max()),
            float(np.abs(ideal.q @ ideal.q.T - np.eye(5)).max()),
        )
    fine = (
        worst["norm"] <= 1 + 1e-12 and worst["sigma"] <= 0.13 and worst["delta"] <= 0.26 and worst["features"] < 1e-12
    )
    return measured(fine, rounded(worst), seeds="0..9", **rounded(worst))


@claim(
    "Asm.2",
    "Errors of tokens",
    kind="inequality",
    uses=["Asm.1", "Eq.5"],
    insensitive="triangle inequality at the start, before anything moves",
    origin="text",
    where="Appendix C, Assumption 2",
    parts=["error bounds"],
    hypotheses=(),
    statement=r"W_Vx_l=p_j+z,\ W_Kx_l=q_j+n,\ W_Qx_l=r_j+o,\quad\|z\|\le\sigma+\tau,\ \|n\|,\|o\|\le\delta+\tau",
    reading="that Assumption 1 and (5) give these error bounds by the triangle inequality, token by token",
)
def errors_of_tokens(lab: Laboratory) -> Verdict:
    """The error of a token is that of its pattern plus the image of its distance, and maps of norm at most 1 shorten."""
    W, x, mu, p = sym("W"), sym("x"), sym("mu"), sym("p")
    split = identity({"W x - p": W * x - p - ((W * mu - p) + W * (x - mu))})
    return split.by_theorems(COQ / "errors_of_tokens.v", LONGEST).proving(
        "linear in each entry of W, x, mu: W x - p = (W mu - p) + W (x - mu)",
        "|W mu - p| <= sigma (delta for keys and queries) by Assumption 1, |W (x - mu)| <= |W| |x - mu| <= tau by (5)",
    )


@claim(
    "Eq.7",
    "Width",
    kind="condition",
    insensitive=PRINTED,
    where="Theorem 1, Eq. (7)",
    hypotheses=(),
    statement=r"m\gtrsim M^2\log N,\quad2<M<m_a,m_b",
    reading="which of the paper's own experiments satisfy it with the constant 1",
)
def width(lab: Laboratory) -> Verdict:
    """Both conditions for every setting.

    Constant 1, the paper's own experiments: (M, m_a, m, N) = (5, 10, 1000, 200) of section 4 and (10, 20), (15,
    20), (20, 20) of appendix B with the same m and N: M = 5 and 10 meet it, the other two do not.
    """

    def fits(case: tuple[int, int]) -> bool:
        M, m_a = case
        with flint.ctx.workprec(64):
            return 2 < M < m_a and bool(as_ball(1000) >= M * M * as_ball(200).log())

    settings = [(5, 10), (10, 20), (15, 20), (20, 20)]
    with flint.ctx.workprec(64):
        needed = int((225 * as_ball(200).log()).ceil().unique_fmpz())
    met = enumerate_all(settings[:2], fits, "settings (M, m_a)")
    return met.adding(missed=f"M = 15 needs m >= {needed}, and M = 20 = m_a leaves no room for M < m_a")


@claim(
    "Sec.4-init",
    "Initial model of the experiments",
    kind="identity",
    uses=["Asm.1"],
    expect="fails",
    insensitive=PRINTED,
    origin="text",
    where="Section 4.1, first paragraph",
    source="damaged",
    parts=["norms"],
    hypotheses=(),
    fault="misprint",
    cause="scale-of-start",
    statement=r"W_Q^{(0)}=W_Q^{(0)}=\delta^2I/c_0^2,\quad W_V^{(0)}=\sigma^2U/c_0^2",
    reading="would fail if the scales are as extracted: at c_0 = 0.01, delta = 0.2, sigma = 0.1 norms are above 1, that of Assumption 1",
)
def initial_of_experiments(lab: Laboratory) -> Verdict:
    """Exact norms.

    C_0 = 0.01, delta = 0.2, sigma = 0.1 as in figures 1 and 4: the norms delta^2/c_0^2 and sigma^2/c_0^2 in exact
    arithmetic must be at most 1; corrected: they are for delta, sigma <= c_0.
    """
    c0 = Fraction(1, 100)
    norms = {"W_Q": Fraction(1, 5) ** 2 / c0**2, "W_V": Fraction(1, 10) ** 2 / c0**2}
    printed = (
        certified()
        if max(norms.values()) <= 1
        else refuted(
            Witness(
                f"at c_0 = 0.01, delta = 0.2, sigma = 0.1 the norm of W_Q is {norms['W_Q']} and that of W_V is {norms['W_V']}",
                {},
            ),
            Evidence.PROOF,
        )
    )
    sizes = {"delta": Fraction(1, 5), "sigma": Fraction(1, 10)}
    for name, matrix in (("delta", "W_Q"), ("sigma", "W_V")):
        size, c = sym(name), sym("c_0")
        printed = printed.stating({f"norm of {matrix}": (size**2 / c**2, ">", 1)}, at={size: sizes[name], c: c0})
    d, gap = sym("delta"), sym("gap")
    fixed = always_positive({"1 - norm at c_0 = delta + gap": ONE - d**2 / (d + gap) ** 2}, positive=("delta", "gap"))
    return printed.correcting(
        r"\delta^2/c_0^2\le1\iff\delta\le c_0",
        fixed,
        "with norm 400 every query attends to one token, and the gradients of W_K and W_Q vanish",
    )


@claim(
    "Sec.2-zeroed",
    "Removed tokens",
    kind="inequality",
    insensitive=NUMBERS,
    origin="ours",
    hypotheses=(),
    statement=r"\frac{ce^S}{ce^S+b+r}<\frac{ce^S}{ce^S+b}:\ \text{tokens set to zero dilute attention, tokens outside }S^n\text{ do not}",
    reading="one query, c kept tokens with logit S, b others with logit 0, r tokens set to zero: these still count 1 each",
)
def removed_tokens(lab: Laboratory) -> Verdict:
    """Attention on the kept tokens both ways; Section 2 says that tokens are set to zero, (15) sums over those that remain."""
    c, b, r, S = sym("c"), sym("b"), sym("r"), sym("S")
    kept, zeroed = c * graph.exp(S) / (c * graph.exp(S) + b), c * graph.exp(S) / (c * graph.exp(S) + b + r)
    return always_positive({"removal - zeroing": kept - zeroed}, positive=("c", "b", "r", "S"))


@claim(
    "P3",
    "Effect of removing tokens",
    kind="inequality",
    expect="fails",
    insensitive=NUMBERS,
    origin="text",
    where="Section 3.1, (P3)",
    parts=["direction"],
    hypotheses=(),
    fault="misprint",
    cause="words-of-P3",
    statement=r"\text{removing label-irrelevant tokens reduces }\alpha_*",
    reading="the fraction before and after r label-irrelevant tokens are removed",
)
def effect_of_removal(lab: Laboratory) -> Verdict:
    """Fractions before and after.

    Alpha_* = |S_*|/|S| before and after removing r label-irrelevant tokens, for all counts; (P3) also has sigma for
    the tau that removing noisy tokens reduces.
    """
    c, b, r = sym("c"), sym("b"), sym("r")  # b irrelevant tokens stay, r go
    before, after = c / (c + b + r), c / (c + b)
    shown = [value(node, c=5, b=3, r=2) for node in (before, after)]
    printed = always_positive({"before - after": before - after}, positive=("c", "b", "r")).witnessed(
        f"for all counts alpha_* grows: with 5 label-relevant tokens of 10 it is {shown[0]:g}, and {shown[1]:g} after two others are removed",
        {},
    )
    return printed.correcting(
        r"\text{it increases }\alpha_*",
        always_positive({"after - before": after - before}, positive=("c", "b", "r")),
        "the denominator shrinks",
    )


@claim(
    "Eq.1-positions",
    "Output weights of positions",
    kind="identity",
    insensitive=NUMBERS,
    origin="ours",
    hypotheses=(),
    statement=r"\mathbb E\big(\tfrac1L\textstyle\sum_la_{(l)i}\big)^2=\tfrac1{mL}\ \text{for }a_{(l)i}=\pm\tfrac1{\sqrt m}\text{ drawn for each position}",
    reading="mean square over all sign patterns of L positions of the mean of a_(l)i, L = 1 to 12",
)
def weights_of_positions(lab: Laboratory) -> Verdict:
    """Mean squares over all sign patterns: signs of positions cancel, so the effective output weight is smaller by sqrt(L)."""

    def mean_square(L: int) -> Fraction:
        return Fraction(sum((2 * bin(k).count("1") - L) ** 2 for k in range(2**L)), L * L * 2**L)

    return enumerate_all(range(1, 13), lambda L: mean_square(L) == Fraction(1, L), "numbers of positions L")
