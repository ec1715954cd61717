"""Appendix E on votes: Lemma E.6 and E.27 by exact binomials, what ties cost, softmax and loss slopes before T_4."""

from __future__ import annotations

from fractions import Fraction
from math import comb, erfc, sqrt

import flint
import numpy as np

from odesys import (
    Evidence,
    Verdict,
    between,
    certified,
    combine_verdicts,
    decide_sign,
    decided,
    enumerate_all,
    measured,
    refuted,
    rounded,
    sym,
)

from ..laboratory import Laboratory
from ..special.mean_field import MeanField
from ..special.watched_runs import Record
from .book import FLOW, NUMBERS, at_most, ball, book, short
from .common_checks import RUNS, on_both, predicted, window

PROBABILITIES = [Fraction(k, 20) for k in range(1, 20)]


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
    uses=["C.14"],
    statement=r"X_{s,i}=\pm1\ \text{with probability}\ \tfrac12;\ P(|E_{s,+}|=|E_{s,-}|)=O(n^{-1/2});\ P(X_{s,i}>0,\textstyle\sum_iX_{s,i}>0)\ge\tfrac14-O(n^{-1/2})",
    reading="given mu_s = k_mu - q_mu votes are independent with probability p, and -mu_s gives 1 - p, so mu_s averages p and 1 - p; exactly for n <= 40 and p = 1/20, ..., 19/20: the tie is at most sqrt(2/(pi n)) (printed: 10/sqrt n), the "
    "average of the lucky probability at least 1/4, without any loss; (1) on drawn starts: exact 99.9 percent interval of + contains 1/2",
)
def vote_statistics(lab: Laboratory) -> Verdict:
    """Exact binomials averaged over the two signs of mu_s, and drawn votes."""

    def ties(case: tuple[int, Fraction]) -> bool:
        n, p = case
        return bool(ball((tie(n, p) + tie(n, 1 - p)) / 2) <= (2 / (flint.arb.pi() * n)).sqrt())

    def wins(case: tuple[int, Fraction]) -> bool:
        n, p = case
        return (lucky(n, p) + lucky(n, 1 - p)) / 2 >= Fraction(1, 4)

    cases = [(n, p) for n in range(1, 41) for p in PROBABILITIES]
    exact = enumerate_all(cases, ties, "pairs (n, p)") & enumerate_all(cases, wins, "pairs (n, p)")
    plus = on_both(lab, lambda record: _fair(record))
    return combine_verdicts({"2 and 3": exact, "1": plus}).with_constants(
        tie="C(n, n/2) 2^-n for even n, 0 for odd n (unbiased)",
        lucky="1/4 for even n, 1/4 + C(n-1, (n-1)/2) 2^(-n-1) for odd n (unbiased)",
    )


def _fair(record: Record) -> Verdict:
    """The share of + among the predicted outcomes of all pairs, neuron by neuron flips being independent."""
    # within a neuron votes share mu_s; its influence is rho, so pairs count as independent up to rho
    from scipy.stats import binomtest

    found = predicted(record) > 0
    interval = binomtest(int(found.sum()), found.size).proportion_ci(confidence_level=0.999, method="exact")
    return measured(
        bool(interval.low <= 0.5 <= interval.high), {"share of +": float(found.mean())}, share=rounded(found.mean(), 5)
    )


@book.claim(
    "Beyond.votes",
    "Exact vote statistics",
    kind="identity",
    uses=["E.6"],
    origin="ours",
    insensitive=NUMBERS,
    statement=r"P(X_i>0,\textstyle\sum X>0)=\tfrac14\ (n\ \text{even}),\ \tfrac14+\binom{n-1}{(n-1)/2}2^{-n-1}\ (n\ \text{odd});\quad E|E_i|/m_k=\tfrac12\ (\text{even}),\ \tfrac12+\binom{n-1}{(n-1)/2}2^{-n}\ (\text{odd})",
    reading="unbiased votes, all n up to 200, exact integers; enumeration of all 2^n votes for n <= 12 as a second route",
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
    uses=["E.6"],
    expect="fails",
    statement=r"\mu_s\sim N(0,\sigma_0^2\|\mu\|^2),\ \phi(\mu,\xi)=\int_{q>0,k<0,q+k>\mu}e^{-(q^2+k^2)/2\sigma_0^2\|\xi\|^2}dq\,dk,\ \sum_{k=\lfloor(n-1)/2\rfloor+1}^{n-1}\binom nkp_\mu^k(1-p_\mu)^{n-k}",
    reading="(a) the variance of mu_s = k_mu - q_mu, derived; (b) phi(0) with sigma_0|xi| = 1 against the 1/8 the proof uses; (c) the printed sum over all k of n - 1 votes at p = 1/2, n = 5, against 1; corrected: 2 sigma_0^2 |mu|^2, factor "
    "1/(2 pi sigma_0^2 |xi|^2), binomials of n - 1",
)
def proof_details(lab: Laboratory) -> Verdict:
    """Three exact comparisons, and their corrections."""
    variance = lab.variances()
    spread = variance["k_mu"] + variance["q_mu"]
    integral = (
        flint.arb.pi() / 4
    )  # the quarter {q > 0, k < 0} halved by q + k > 0: angle pi/4 times int r exp(-r^2/2) = 1
    total = sum((Fraction(comb(5, k), 2**5) for k in range(5)), Fraction(0))
    wrong = {
        "variance of mu_s over sigma_0^2 |mu|^2": str(spread),
        "phi(0)": short(integral),
        "printed binomials, all k": str(total),
    }
    differs = [spread != 1, not integral.overlaps(ball(Fraction(1, 8))), total != 1]
    printed = decided(not all(differs), wrong, Evidence.CERTIFICATE, **wrong)
    right = [
        spread == 2,
        (integral / (2 * flint.arb.pi())).overlaps(ball(Fraction(1, 8))),
        sum(Fraction(comb(4, k), 2**4) for k in range(5)) == 1,
    ]
    fixed = decided(all(right), {"right": right}, Evidence.CERTIFICATE)
    return printed.correcting(
        r"\mu_s\sim N(0,2\sigma_0^2\|\mu\|^2),\ \tfrac1{2\pi\sigma_0^2\|\xi\|^2}\int\ldots,\ \binom{n-1}kp^k(1-p)^{n-1-k}",
        fixed,
        "two independent rows, a normalised density, n - 1 other votes",
    )


@book.claim(
    "Beyond.bias",
    "Bias of votes by the signal",
    kind="probability",
    uses=["E.6"],
    origin="ours",
    statement=r"p_\mu=P(X_{s,i}=1\mid\mu_s)=\tfrac14+\Phi\Big(-\frac{\mu_s}{\sqrt2\sigma_0\|\xi_i\|}\Big)^2=\tfrac12-\frac{\mu_s}{2\sqrt\pi\sigma_0\|\xi_i\|}+O(\mu_s^2)\quad(\mu_s\ge0)",
    reading="X = 1 for both positive, or opposite signs and q + k > mu_s; in the rotated plane the probability is 1/4 plus an integral of 2 phi(u) Phi(-u) beyond mu_s/sqrt2, which balls integrate at mu_s = 1/10, 3/10, 1, 2 (sigma_0|xi_i| = 1); drawn pairs "
    "with the derived variances, 400000 at each of 1/10 and 3/10, within 4 standard errors",
)
def bias(lab: Laboratory) -> Verdict:
    """Balls against the closed form, and drawn pairs."""
    verdict = certified()
    for mu in (Fraction(1, 10), Fraction(3, 10), Fraction(1), Fraction(2)):
        low = ball(mu) / flint.arb(2).sqrt()
        integral = (
            flint.acb.integral(lambda z, _: (-z * z / 2).exp() * (z / flint.arb(2).sqrt()).erfc(), low, 12).real
            / (2 * flint.arb.pi()).sqrt()
        )
        closed = ((low / flint.arb(2).sqrt()).erfc() / 2) ** 2
        verdict = verdict & at_most(
            abs(integral - closed), ball(Fraction(1, 10**12)), mu=str(mu), p=short(ball(Fraction(1, 4)) + closed)
        )
    variance, rng, parts = lab.variances(), np.random.default_rng(6), {}
    for shift in (0.1, 0.3):
        q = sqrt(variance["q_xi"]) * rng.standard_normal(400_000)
        k = sqrt(variance["k_xi"]) * rng.standard_normal(400_000)
        plus = ((q > 0) & (k > 0)) | ((q * k < 0) & (q + k > shift))
        law = 0.25 + (erfc(shift / 2) / 2) ** 2
        parts[f"mu {shift}"] = between("deviation", [abs(plus.mean() - law)], 0, 4 * 0.5 / sqrt(400_000))
    return combine_verdicts({"integral": verdict, **parts}).adding(seed=6)


@book.claim(
    "E.27",
    "Half of the neurons are aligned",
    kind="probability",
    uses=["E.6"],
    statement=r"|E_i^{(T_3)}|\ge m_k/2-\tilde O(m_kn^{-1/2}+m_k^{1/2})\ \text{for all}\ i\ \text{with probability}\ 1-\delta",
    reading=RUNS
    + "with the constant sqrt(log(2n/delta)/2) of Hoeffding, delta = 1/10, and no n^(-1/2) term; two-sided: the mean over samples within 4 standard errors of the exact law 1/2 + C(n-1, (n-1)/2) 2^-n (n odd); "
    + FLOW,
)
def half_aligned(lab: Laboratory) -> Verdict:
    """Counts of aligned neurons for every sample."""

    def check(record: Record) -> Verdict:
        case = record.case
        share = record.aligned(record.T3).mean(axis=0)
        law = 0.5 + comb(case.n - 1, (case.n - 1) // 2) / 2**case.n
        room = sqrt(np.log(2 * case.n / 0.1) / (2 * case.m_k))
        return between("share", share, law - room, law + room) & between(
            "mean minus law", [share.mean() - law], -2 / sqrt(case.m_k * case.n), 2 / sqrt(case.m_k * case.n)
        )

    return on_both(lab, check)


@book.claim(
    "Thm.3.2-probability",
    "No neuron is tied with the theorem's probability",
    kind="probability",
    uses=["E.5", "E.6"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"n=\Omega(m_k^4)\ \Rightarrow\ P(\text{no neuron has a tied vote})\ge1-n^{-1/3}",
    reading="the event of Lemma E.5(2), which all later lemmas are conditioned on; even n = m_k^4 with m_k = 10, 30, 100, votes biased by at most 1/n (Condition 3.1 gives n^-2): exact probability of a tie; corrected 1 - m_k sqrt(2/(pi n)), which "
    "is 1 - O(n^-1/4); n^-1/3 needs n of order m_k^6; for odd n there are no ties",
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
    printed = at_most(some, bound, m_k=10, n=10**4, all={m: [short(x) for x in row] for m, row in found.items()})
    fixed = at_most(some, fixed_bound)
    for m in (30, 100):
        fixed = fixed & at_most(found[m][0], found[m][2], m_k=m)
    return printed.correcting(
        r"P\ge1-m_k\sqrt{2/(\pi n)}=1-O(n^{-1/4})\ \text{for}\ n=\Omega(m_k^4)",
        fixed,
        "a tie has probability C(n, n/2) 2^-n for each of m_k neurons",
    )


# ---- softmax and slopes ----------------------------------------------------------------------------------------------


@book.claim(
    "E.14",
    "Softmax before T_4",
    kind="order",
    uses=["Eq.27-28", "C.13"],
    statement=r"s_{i,11}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_4,\quad s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_3^+",
    reading=RUNS
    + "C_3 = 2, T_3^+ = 2 T_3; o(1) as 1/100; two-sided: 1/2 - s_21 at 2 T_3 is m_k (2 T_3 |xi_i|_1)^2/4 within 15 percent, of order kappa^2 log, and 1/2 - s_11 at T_4 is Y(T_4)/4 of the mean field within 15 percent, of order "
    "log^2/(sigma_p s); " + FLOW,
)
def softmax_bounds(lab: Laboratory) -> Verdict:
    """Deviations from 1/2 and their laws."""

    def check(record: Record) -> Verdict:
        case = record.case
        early, all_before = window(record, 0, 2 * record.T3), window(record, 0, record.T4)
        verdict = between("s21", record.seen.s21[early] - 0.5, -0.01, 0.01) & between(
            "s11", record.seen.s11[all_before] - 0.5, -0.01, 0.01
        )
        place = record.run.index(2 * record.T3)
        law = case.m_k * (record.run.times[place] * record.start.l1) ** 2 / 4
        last = record.run.index(record.T4)
        share = record.aligned(record.T3).mean(axis=0)
        Y = np.array(
            [
                MeanField(l / case.mu, p, case.m_k).logits(record.run.times[last])[1]
                for l, p in zip(record.start.l1, share, strict=True)
            ]
        )
        return (
            verdict
            & between("s21 over law", (0.5 - record.seen.s21[place]) / law, 0.85, 1.15)
            & between("s11 over law", (0.5 - record.seen.s11[last]) / (Y / 4), 0.85, 1.15)
        )

    return on_both(lab, check)


@book.claim(
    "Eq.27-28",
    "Sizes before T_4",
    kind="inequality",
    uses=["Eq.8-9"],
    statement=r"t\le T_4:\ |q_{si}|,|k_{si}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}),\ |q_{s\mu}|,|k_{s\mu}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}(\sigma_ps)^{-1}\|\mu\|)",
    reading=RUNS + "O-constant 1.01 C_3 with C_3 = 2, at all snapshots up to T_4; " + FLOW,
)
def sizes(lab: Laboratory) -> Verdict:
    """Sizes over the printed ones."""

    def check(record: Record) -> Verdict:
        part, case = window(record, 0, record.T4), record.case
        unit = np.log(2 * case.strength / case.mu) / sqrt(case.m_k)
        noise = max(np.abs(record.run.q[part]).max(), np.abs(record.run.k[part]).max()) / unit
        signal = (
            max(np.abs(record.run.q_mu[part]).max(), np.abs(record.run.k_mu[part]).max())
            / unit
            * case.strength
            / case.mu
        )
        return between("noise", [noise], 0, 2.02) & between("signal", [signal], 0, 2.02)

    return on_both(lab, check)


@book.claim(
    "E.15",
    "Loss slopes before T_4",
    kind="order",
    uses=["E.14", "E.8"],
    expect="fails",
    statement=r"\ell_i'^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_4",
    reading="(a) the sign: the derivative of the toy's loss by the margin is negative for all margins, so it is never near +1/2; (b) corrected: g_i = -l'_i with |g_i - 1/2| <= |margin|/4 <= C_3 log(C_3 sigma_p s)/sqrt(m_k) up to T_4: small only for m_k >> "
    "log^2; on R1, R2 and a run with m_k = 1024 the deviation at 4 T_f is that of the mean-field margin within 5 percent, and falls with m_k; "
    + FLOW,
)
def slopes(lab: Laboratory) -> Verdict:
    """Sign of the derivative, and the deviation in three runs."""
    answer = decide_sign(lab.slope(0, sym("f")))
    printed = (
        refuted({"sign of the derivative for y = 1": answer, "so": "l' = 1/2 is impossible"})
        if answer == "negative"
        else certified(sign=answer)
    )

    def check(record: Record) -> Verdict:
        last = record.run.index(4 * record.case.flip_time())
        margin = record.seen.margin[last]
        share = record.aligned(record.T3).mean(axis=0)
        law = np.array(
            [
                MeanField(l / record.case.mu, p, record.case.m_k).margin(record.run.times[last])
                for l, p in zip(record.start.l1, share, strict=True)
            ]
        )
        early = window(record, 0, record.T4)
        excess = np.abs(1 / (1 + np.exp(record.seen.margin[early])) - 0.5) - np.abs(record.seen.margin[early]) / 4
        size = (
            np.abs(record.seen.margin[early]).max() / 4 / (2 * np.log(2 * record.case.strength) / sqrt(record.case.m_k))
        )
        return (
            between("margin over mean field", margin / law, 0.95, 1.05)
            & between("|g - 1/2| - |margin|/4", excess, -np.inf, 1e-15)
            & between("size", [size], 0, 1)
        )

    fixed = on_both(lab, check, ("R1", "R2", "wide"))
    at = {name: lab.record(name) for name in ("R1", "wide")}
    deviation = {
        name: float((0.5 - 1 / (1 + np.exp(r.seen.margin[r.run.index(4 * r.case.flip_time())]))).max())
        for name, r in at.items()
    }
    falls = measured(
        deviation["wide"] < deviation["R1"],
        deviation,
        **{f"deviation {k}": rounded(v, 5) for k, v in deviation.items()},
    )
    return printed.correcting(
        r"\ell_i'^{(t)}=-\tfrac12\pm O(\log(C_3\sigma_ps)m_k^{-1/2})",
        fixed & falls,
        "the loss decreases; and the margin at 4 T_f is 12 sqrt(log 4 Lambda)/sqrt(m_k)",
    )


@book.claim(
    "E.20-order",
    "Smallness used in E.20 and E.36",
    kind="order",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"m_kT_4^2\eta^2\sigma_p^2s^2=o(1)",
    reading="by the definition of T_4 it is (C_3 log(C_3 sigma_p s))^2, here with C_3 = 2: above 1 for every sigma_p s >= 1 and growing; what is needed, m_k T_4^2 eta^2 sigma_p^2 s^(3/2), is that over sqrt s (sigma_p = 1): below 1/10 for s = 10^8 and falling",
)
def smallness(lab: Laboratory) -> Verdict:
    """Values for sigma_p s = 1, ..., 10^16 and with the right power."""
    values = [(2 * (2 * ball(10**k)).log()) for k in (0, 4, 8, 16)]
    squares = [v * v for v in values]
    printed = decided(
        not all(x > 1 for x in squares),
        {"sigma_p s": ["1", "10^4", "10^8", "10^16"], "value": [short(x) for x in squares]},
        Evidence.CERTIFICATE,
    )
    right = [squares[2] / ball(10**4), squares[3] / ball(10**8)]
    fixed = at_most(right[0], ball(Fraction(1, 5)), s="10^8") & at_most(right[1], right[0], s="10^16")
    return printed.correcting(
        r"m_kT_4^2\eta^2\sigma_p^2s^{3/2}=\tilde O(s^{-1/2})=o(1)",
        fixed,
        "the relative error s^(-1/2) of the exponent belongs inside",
    )
