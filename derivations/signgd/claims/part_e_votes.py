"""Appendix E on votes: Lemma E.6 and E.27 by exact binomials, what ties cost, softmax and loss slopes before T_4."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, sqrt

import flint
import numpy as np

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    between,
    certified,
    decide_sign,
    decided,
    enumerate_all,
    graph,
    identity,
    num,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import NUMBERS, at_most, ball, book, short
from .common_hypotheses import CONDITION, at_least
from .common_orders import COQ
from .common_path import on_path
from .part_e_settling import fine_steps, settling, signs_of_starts

PROBABILITIES = [Fraction(k, 20) for k in range(1, 20)]
CASES = [(n, p) for n in range(1, 41) for p in PROBABILITIES]


def tie(n: int, p: Fraction) -> Fraction:
    """P(as many + as -) for n votes that are + with probability p."""
    return Fraction(0) if n % 2 else comb(n, n // 2) * p ** (n // 2) * (1 - p) ** (n // 2)


def lucky(n: int, p: Fraction) -> Fraction:
    """P(vote 1 is + and the majority is +)."""
    return p * sum((comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n) if 2 * (k + 1) > n), Fraction(0))


@book.claim(
    "E.6",
    "Statistics of votes",
    kind="probability",
    where="Lemma E.6",
    parts=["1. law of a vote", "2. ties", "3. lucky neurons"],
    hypotheses=[*CONDITION, fine_steps],
    uses=["C.1", "C.14", "E.6-proof", "E.2", "4.2", "App.E.1-times"],
    statement=r"X_{s,i}=\pm1\ \text{with probability}\ \tfrac12;\ P(|E_{s,+}|=|E_{s,-}|)=O(n^{-1/2});\ P(X_{s,i}>0,\textstyle\sum_iX_{s,i}>0)\ge\tfrac14-O(n^{-1/2})",
    reading="given mu_s votes are independent with one p (norms averaged), for -mu_s with 1 - p; 2. given the events of Appendix C, whose delta may exceed n^(-1/2)",
)
def vote_statistics(lab: Laboratory) -> dict[str, Verdict]:
    """A vote is odd in its neuron; exact binomials averaged over the two signs of mu_s."""

    def vote(q: int, k: int, larger: int) -> int:
        """X from the signs of q and k, and of q + q_mu - (k_mu - k), which decides where they differ."""
        return q if q == k else larger

    odd = enumerate_all(
        product((1, -1), repeat=3), lambda case: vote(*(-x for x in case)) == -vote(*case), "patterns of signs"
    )

    def majority(case: tuple[int, Fraction]) -> bool:
        """P(X_1 is the majority, no tie) is the mean of max(N_+, N_-)/n without ties."""
        n, p = case
        mean = sum(
            (comb(n, k) * p**k * (1 - p) ** (n - k) * max(k, n - k) / n for k in range(n + 1) if 2 * k != n),
            Fraction(0),
        )
        return lucky(n, p) + lucky(n, 1 - p) == mean

    half = always_positive({"larger part": (sym("h") + sym("x")) - sym("h") * (1 - sym("t"))}, ("h", "t"), ("x",))
    return {
        "1. law of a vote": odd.adding(because="start values are symmetric, so X and -X have one law"),
        "2. ties": ties_are_rare(lab).with_constants(tie="at most sqrt(2/(pi n)) for X, not 10/sqrt(n)"),
        "3. lucky neurons": (enumerate_all(CASES, majority, "pairs (n, p)") & half & _wallis())
        .with_constants(lucky="at least 1/4 - P(tie)/4 >= 1/4 - (8 pi n)^(-1/2)")
        .proving(
            "P(X_1 > 0, sum > 0) averaged over +-mu_s is half of P(X_1 is the sign of the sum, no tie)",
            "votes are exchangeable, so that is the mean of max(N_+, N_-)/n without ties, at least (1 - P(tie))/2; exact sums for n "
            "<= 40 beside it",
        ),
    }


def ties_are_rare(lab: Laboratory) -> Verdict:
    """Binomials for X, and signs at T_2 that are those of X, as every pair has settled with the sign of the larger."""

    def rare(case: tuple[int, Fraction]) -> bool:
        n, p = case
        return bool(ball((tie(n, p) + tie(n, 1 - p)) / 2) <= (2 / (flint.arb.pi() * n)).sqrt())

    return (enumerate_all(CASES, rare, "pairs (n, p)") & _wallis() & settling(lab) & signs_of_starts()).proving(
        "signs at T_2 are those of X: a pair settles with the sign of the larger of |q_i + q_mu| and |k_i - k_mu| (Lemma E.2, Lemma "
        "4.2 (1)), which is that of their sum where they differ",
        "what is added to P(tie of X), on the events of Appendix C, is the chance that some |v_i| is large at the start or some pair not "
        "decided: at most n^(-2) and o(n^(-1/2))",
    )


def _wallis() -> Verdict:
    """C(2m, m) 4^-m (pi m)^(1/2) grows (to 1, by Wallis), and p(1 - p) is 1/4 minus a square: ties for every even n and p."""
    m, p = sym("m"), sym("p")
    grows = identity({"square of the quotient": (2 * m + 1) ** 2 / (4 * m * (m + 1)) - 1 - 1 / (4 * m * (m + 1))})
    return grows & identity({"p(1 - p)": num(1) / 4 - p * (1 - p) - (num(1) / 2 - p) ** 2})


@book.claim(
    "Beyond.votes",
    "Exact vote statistics",
    kind="identity",
    hypotheses=[],
    uses=["E.6"],
    origin="ours",
    insensitive=NUMBERS,
    statement=r"P(X_i>0,\textstyle\sum X>0)=\tfrac14\ (n\ \text{even}),\ \tfrac14+\binom{n-1}{(n-1)/2}2^{-n-1}\ (n\ \text{odd});\quad E|E_i|/m_k=\tfrac12\ (\text{even}),\ \tfrac12+\binom{n-1}{(n-1)/2}2^{-n}\ (\text{odd})",
    reading="unbiased votes, all n up to 200, exact integers; all 2^n votes for n <= 12",
)
def exact_votes(lab: Laboratory) -> Verdict:
    """Closed forms against sums and against enumeration."""

    def closed(n: int) -> Fraction:
        return Fraction(1, 4) + (Fraction(comb(n - 1, (n - 1) // 2), 2 ** (n + 1)) if n % 2 else 0)

    sums = enumerate_all(range(1, 201), lambda n: lucky(n, Fraction(1, 2)) == closed(n), "values of n")

    def counted(n: int) -> bool:
        wins = sum(1 for votes in range(2**n) if votes & 1 and 2 * bin(votes).count("1") > n)
        aligned = sum(
            1
            for votes in range(2**n)
            if (2 * bin(votes).count("1") > n) == bool(votes & 1) and 2 * bin(votes).count("1") != n
        )
        return Fraction(wins, 2**n) == closed(n) and (n % 2 == 0 or Fraction(aligned, 2**n) == 2 * closed(n))

    return sums & enumerate_all(range(1, 13), counted, "values of n, all votes")


@book.claim(
    "E.6-proof",
    "Integrals and binomials in the proof of E.6",
    kind="identity",
    origin="proof",
    where="Proof of Lemma E.6: law of mu_s, first line of phi, displays of I_1 to I_4",
    parts=["law of mu_s", "phi", "binomials"],
    hypotheses=[],
    expect="fails",
    statement=r"\mu_s\sim N(0,\sigma_0^2\|\mu\|^2),\ \phi(\mu,\xi)=\int_{q>0,k<0,q+k>\mu}e^{-(q^2+k^2)/2\sigma_0^2\|\xi\|^2}dq\,dk,\ \sum_{k=\lfloor(n-1)/2\rfloor+1}^{n-1}\binom nkp_\mu^k(1-p_\mu)^{n-k}",
    reading="the variance of mu_s = k_mu - q_mu; phi(0) against the 1/8 that is used; the binomials of n - 1 votes, added up",
)
def proof_details(lab: Laboratory) -> dict[str, Verdict]:
    """Three exact comparisons, and their corrections."""
    variance = lab.variances()
    spread = variance["k_mu"] + variance["q_mu"]
    # the quarter {q > 0, k < 0} halved by q + k > 0: angle pi/4 times int r exp(-r^2/2) = 1
    integral = flint.arb.pi() / 4
    total = sum((Fraction(comb(5, k), 2**5) for k in range(5)), Fraction(0))
    normalised = (integral / (2 * flint.arb.pi())).overlaps(ball(Fraction(1, 8)))

    def part(wrong: bool, sentence: str, form: str, right: bool, why: str) -> Verdict:
        printed = decided(not wrong, Witness(sentence, {}), Evidence.CERTIFICATE)
        fixed = decided(right, {"right": right}, Evidence.CERTIFICATE, enumerated="one exact comparison")
        return printed.correcting(form, fixed, why).blaming("misprint", "votes-normalised")

    return {
        "law of mu_s": part(
            spread != 1,
            f"the variance of mu_s is {spread} times sigma_0^2 |mu|^2, as two independent rows are subtracted",
            r"\mu_s\sim N(0,2\sigma_0^2\|\mu\|^2)",
            spread == 2,
            "two independent rows",
        ),
        "phi": part(
            not integral.overlaps(ball(Fraction(1, 8))),
            "at mu = 0 and sigma_0 |xi_i| = 1 the integral is 0.7854, and 1/8 is used",
            r"\tfrac1{2\pi\sigma_0^2\|\xi\|^2}\int\ldots",
            normalised,
            "a density is normalised",
        ),
        "binomials": part(
            total != 1,
            f"at p = 1/2 and n = 5 the printed weights of the 4 other votes add up to {total}, not to 1",
            r"\binom{n-1}kp^k(1-p)^{n-1-k}",
            sum(Fraction(comb(4, k), 2**4) for k in range(5)) == 1,
            "n - 1 other votes",
        ),
    }


@book.claim(
    "Beyond.bias",
    "Bias of votes by the signal",
    kind="probability",
    hypotheses=[],
    uses=["E.6"],
    origin="ours",
    statement=r"p_\mu=P(X_{s,i}=1\mid\mu_s)=\tfrac14+\Phi\Big(-\frac{\mu_s}{\sqrt2\sigma_0\|\xi_i\|}\Big)^2=\tfrac12-\frac{\mu_s}{2\sqrt\pi\sigma_0\|\xi_i\|}+O(\mu_s^2)\quad(\mu_s\ge0)",
    reading="X = 1 for both positive, or opposite signs and q + k > mu_s; the integral over the rotated plane in balls at four values of mu_s",
)
def bias(lab: Laboratory) -> Verdict:
    """Balls against the closed form, for the derived variances of queries and keys."""
    variance = lab.variances()
    spread = ball(variance["q_xi"] + variance["k_xi"]).sqrt()  # of q + k, over sigma_0 |xi_i|
    verdict = certified()
    for mu in (Fraction(1, 10), Fraction(3, 10), Fraction(1), Fraction(2)):
        low, printed = ball(mu) / spread, ball(mu) / flint.arb(2).sqrt()
        integral = (
            flint.acb.integral(lambda z, _: (-z * z / 2).exp() * (z / flint.arb(2).sqrt()).erfc(), low, 12).real
            / (2 * flint.arb.pi()).sqrt()
        )
        closed = ((printed / flint.arb(2).sqrt()).erfc() / 2) ** 2
        verdict = verdict & at_most(
            abs(integral - closed), ball(Fraction(1, 10**12)), mu=str(mu), p=short(ball(Fraction(1, 4)) + closed)
        )
    return verdict


@book.claim(
    "Thm.3.2-probability",
    "No neuron is tied with the theorem's probability",
    kind="probability",
    hypotheses=[at_least("n >= m_k^4", r"n=\Omega(m_k^4)", lambda p: p["n"], lambda p: p["m_k"] ** 4)],
    origin="ours",
    uses=["E.5", "E.6"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"n=\Omega(m_k^4)\ \Rightarrow\ P(\text{no neuron has a tied vote})\ge1-n^{-1/3}",
    reading="the event of Lemma E.5 (2), on which all later lemmas rest; even n = m_k^4; for odd n there are no ties",
)
def tie_cost(lab: Laboratory) -> Verdict:
    """1 - (1 - tie)^m against n^(-1/3)."""
    found = {}
    for m in (10, 30, 100):
        n = m**4
        with flint.ctx.workprec(200):
            log_tie = (
                ball(n + 1).lgamma()
                - 2 * ball(n // 2 + 1).lgamma()
                + ball(n // 2) * (ball(Fraction(1, 4)) - ball(Fraction(1, n * n))).log()
            )
            some = 1 - (m * (1 - log_tie.exp()).log()).exp()
            found[m] = some, ball(n) ** (-ball(Fraction(1, 3))), m * (2 / (flint.arb.pi() * n)).sqrt()
    some, bound, fixed_bound = found[10]
    says = "at m_k = 10, n = 10^4 the probability that some neuron is tied"
    printed = at_most(some, bound, says, {"m_k": 10, "n": 10**4})
    fixed = at_most(some, fixed_bound)
    for m in (30, 100):
        fixed = fixed & at_most(found[m][0], found[m][2], m_k=m)
    return printed.correcting(
        r"P\ge1-m_k\sqrt{2/(\pi n)}=1-O(n^{-1/4})\ \text{for}\ n=\Omega(m_k^4)",
        fixed,
        "a tie has probability C(n, n/2) 2^-n for each of m_k neurons",
    )


# ---- softmax and slopes ----------------------------------------------------------------------------------------------


def _half_aligned(record: Record) -> Verdict:
    room = sqrt(record.case.m_k / 2 * np.log(2 * record.case.n / 0.1))
    return between("|E_i|", record.aligned(record.T3).sum(axis=0), record.case.m_k / 2 - room, np.inf)


on_path(
    "E.27",
    "Half of the neurons are aligned",
    {"bound": _half_aligned},
    where="Lemma E.27",
    printed=lambda case: 0.9,
    kind="probability",
    uses=["E.6"],
    statement=r"|E_i^{(T_3)}|\ge m_k/2-\tilde O(m_kn^{-1/2}+m_k^{1/2})\ \text{for all}\ i\ \text{with probability}\ 1-\delta",
    reading="with the constant of its proof (Hoeffding), delta = 1/10, and without the term in n",
)


@book.claim(
    "E.15",
    "Loss slopes before T_4",
    kind="order",
    where="Lemma E.15",
    parts=["slope"],
    hypotheses=[],
    uses=["E.14", "E.8"],
    expect="fails",
    statement=r"\ell_i'^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_4",
    reading="the sign as printed; its proof writes l' for -l'. With the sign it is small only for m_k >> log^2(sigma_p s)",
)
def slopes(lab: Laboratory) -> Verdict:
    """Sign of the derivative, and how far it is from -1/2 in terms of the margin."""
    answer = decide_sign(lab.slope(0, sym("f")))
    sentence = "at every margin, for y_i = 1, the derivative of the loss is negative; at margin 0 it is -1/2, not 1/2"
    below = {"derivative of the loss at every margin": (lab.slope(0, sym("f")), "<", 0)}
    printed = certified(sign=answer)
    if answer == "negative":
        told = {"slope": (("f",), lab.slope(0, sym("f")))}
        printed = refuted(Witness(sentence, {})).stating(below).by_theorems(COQ / "sign_of_slope.v", told)
    g = graph.call("sigmoid", sym("z"))
    slope = graph.gradient(g, [sym("z")])[0]
    (half,) = graph.substitute([lab.slope(0, sym("f"))], {sym("f"): num(0)})
    start = identity({"slope at margin 0": half + num(1) / 2})
    quarter = start & identity({"slope": num(1) / 4 - slope - (num(1) / 2 - g) ** 2}).proving(
        "|sigmoid(z) - 1/2| <= |z|/4, as its slope is 1/4 minus a square",
        "a margin is at most 2 max(v_i, v_mu), and v_i <= 2 T_4 eta sigma_p s (1 + o(1)) by (15) and Lemma C.4",
        "T_4 eta sigma_p s = C_3 log(C_3 sigma_p s / |mu|) m_k^-1/2",
    )
    return printed.correcting(
        r"\ell_i'^{(t)}=-\tfrac12\pm O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2})",
        quarter,
        "the loss decreases in the margin",
    ).blaming("misprint", "sign-of-slope")


@book.claim(
    "E.20-order",
    "Smallness used in E.20 and E.36",
    kind="order",
    hypotheses=[],
    parts=["order"],
    where="Proofs of Lemmas E.20 and E.36, fourth steps",
    origin="proof",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"m_kT_4^2\eta^2\sigma_p^2s^2=o(1)",
    reading="by the definition of T_4 it is (C_3 log(C_3 sigma_p s / |mu|))^2; what is needed has s^(3/2)",
)
def smallness(lab: Laboratory) -> Verdict:
    """Values for sigma_p s = 1, ..., 10^16 and with the right power."""
    values = [(2 * (2 * ball(10**k)).log()) for k in (0, 4, 8, 16)]
    squares = [v * v for v in values]
    sentence = (
        f"with C_3 = 2 the left side is {short(squares[0]):.4g} at sigma_p s = |mu| and {short(squares[2]):.4g} at "
        "sigma_p s = 10^8 |mu|, and it grows"
    )
    printed = decided(not all(x > 1 for x in squares), Witness(sentence, {}), Evidence.CERTIFICATE)
    right = [squares[2] / ball(10**4), squares[3] / ball(10**8)]
    fixed = at_most(right[0], ball(Fraction(1, 5)), s="10^8") & at_most(right[1], right[0], s="10^16")
    return printed.correcting(
        r"m_kT_4^2\eta^2\sigma_p^2s^{3/2}=\tilde O(s^{-1/2})=o(1)",
        fixed,
        "the relative error s^(-1/2) of the exponent belongs inside",
    ).blaming("misprint", "power-of-s")
