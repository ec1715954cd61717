"""Appendix E, stages IV.b and IV.c, on watched runs: key and query flips, final alignment, the 1 : 2 : 4 law."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import flint
import numpy as np

from odesys import Verdict, between, everywhere, rounded

from ..laboratory import Laboratory
from ..special.mean_field import MeanField
from ..special.watched_runs import Record
from .book import FLOW, NUMBERS, at_most, ball, book, short
from .common_checks import RUNS, later, mean_field_of, never, on_both, theta_c, window


@book.claim(
    "IV.b",
    "Properties of Stage IV.b",
    kind="inequality",
    uses=["E.31-32", "E.33", "E.34-35"],
    statement=r"\mathcal A\text{-}\mathcal G(t),\ t\in[T_4^-,(1+\theta)T_4^-]:\ \text{aligned}\ q,k\ \text{and unaligned}\ q\ \text{monotone, unaligned}\ k\ \text{keeps its sign},\ q_{s\mu}\ \text{monotone},\ k_{s\mu}\ \text{keeps its sign, linear estimates}",
    reading=RUNS
    + "theta = 9/10; events of aligned and unaligned pairs and of the signals; linear estimates within 1 percent (R1) of t eta |xi_i|_1; "
    + FLOW,
)
def stage_four_b(lab: Laboratory) -> Verdict:
    """Events on [T_4^-, 1.9 T_4^-]."""

    def check(record: Record) -> Verdict:
        low, high, aligned = record.T4_minus, 1.9 * record.T4_minus, record.aligned(record.T3)
        verdict = (
            never("aligned turn", record.events["q"], low, high, aligned)
            & never("aligned turn", record.events["k"], low, high, aligned)
            & never("unaligned query turn", record.events["q"], low, high, ~aligned)
            & never("unaligned key zero", record.events["k zero"], low, high, ~aligned)
            & never("query signal turn", record.events["q_mu"], low, high)
            & never("key signal zero", record.events["k_mu zero"], low, high)
        )
        part = window(record, low, high)
        ratio = np.abs(record.run.q[part]) / (record.run.times[part, None, None] * record.start.l1)
        return verdict & between("|q| over law", ratio, 0.99, 1.01)

    return on_both(lab, check)


@book.claim(
    "IV.b-signs",
    "Signs printed in D(t) and F(t) of Stage IV.b",
    kind="identity",
    uses=["IV.b"],
    expect="fails",
    statement=r"\mathcal D(t):\ k_{si}=_{\rm sgn}k_{si}^{(T_4^-)}=_{\rm sgn}-q_{si}\ (i\notin E_s);\quad\mathcal F(t):\ k_{s\mu}=_{\rm sgn}k_{s\mu}^{(T_4^-)}=_{\rm sgn}-q_{si}",
    reading=RUNS
    + "at T_4^-, where queries and keys of every pair have one sign (IV.a F): unaligned pairs, and for F(t) all pairs; corrected: k_si = q_si in sign for unaligned pairs, k_smu against q_smu; "
    + FLOW,
)
def printed_signs(lab: Laboratory) -> Verdict:
    """Signs at T_4^-."""

    def printed(record: Record) -> Verdict:
        now, other = record.run.at(record.T4_minus), ~record.aligned(record.T3)
        return everywhere("D", (np.sign(now.k) == -np.sign(now.q))[other]) & everywhere(
            "F", np.sign(now.k_mu)[:, None] == -np.sign(now.q)
        )

    def fixed(record: Record) -> Verdict:
        now, other = record.run.at(record.T4_minus), ~record.aligned(record.T3)
        return everywhere("D", (np.sign(now.k) == np.sign(now.q))[other]) & everywhere(
            "F", np.sign(now.k_mu) == -np.sign(now.q_mu)
        )

    return on_both(lab, printed).correcting(
        r"\mathcal D:\ k_{si}=_{\rm sgn}q_{si}=_{\rm sgn}-q_{s\mu}\ (i\notin E_s);\quad\mathcal F:\ k_{s\mu}=_{\rm sgn}-q_{s\mu}",
        on_both(lab, fixed),
        "Stage IV.a ends with queries and keys of one sign",
    )


@book.claim(
    "E.28",
    "State at T_4^-",
    kind="order",
    uses=["IV.a-A", "E.26"],
    statement=r"t=T_4^-:\ q_{si},k_{si}=\pm t\eta\sqrt{2/\pi}\sigma_ps(1\pm\tilde O(s^{-1/2}))\ (+\ \text{iff}\ i\in E_s),\ q_{s\mu}=-k_{s\mu}=t\eta\|\mu\|(1\pm o(1))\ \text{for a positive vote}",
    reading=RUNS + "in the gauge of a positive vote, 1 percent for noise, 5 percent (R1) for signals; " + FLOW,
)
def state_at_t4(lab: Laboratory) -> Verdict:
    """All variables at T_4^- over their laws."""

    def check(record: Record) -> Verdict:
        place = record.run.index(record.T4_minus)
        now, t, vote = record.run.state(place), record.run.times[place], record.vote(record.T2)
        sign = np.where(record.aligned(record.T3), 1, -1) * vote[:, None]
        law = t * record.case.Lambda * record.case.mu
        return between("noise", np.stack([now.q, now.k]) * sign / law, 0.99, 1.01) & between(
            "signals", np.stack([now.q_mu, -now.k_mu]) * vote / (t * record.case.mu), 0.95, 1.05
        )

    return on_both(lab, check)


@book.claim(
    "E.29",
    "Keys after T_4^-",
    kind="inequality",
    uses=["E.28", "Eq.8-9"],
    statement=r"t\ge T_4^-:\ (2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps(1-\cdot)\le\mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le t\eta\sqrt{\tfrac2\pi}\sigma_ps(1+\cdot),\ k_{s\mu}\ \text{alike; signs kept to}\ (1+\theta)T_4^-",
    reading=RUNS
    + "all pairs, all later snapshots, with 1 percent of t for the small terms (5 percent for signals); theta = 9/10; "
    + FLOW,
)
def keys_after(lab: Laboratory) -> Verdict:
    """Both bounds, as fractions of t."""

    def check(record: Record) -> Verdict:
        part = later(record, record.T4_minus)
        t, at = record.run.times[part], record.run.at(record.T4_minus)
        lower = (2 * record.T4_minus - t) / t
        noise = record.run.k[part] * np.sign(at.k) / (t[:, None, None] * record.case.Lambda * record.case.mu)
        signal = record.run.k_mu[part] * np.sign(at.k_mu) / (t[:, None] * record.case.mu)
        return (
            between("above the lower bound", noise - lower[:, None, None], -0.01, np.inf)
            & between("noise", noise, -1.01, 1.01)
            & between("signal above", signal - lower[:, None], -0.05, np.inf)
            & between("signal", signal, -1.05, 1.05)
            & never("sign of k", record.events["k zero"], record.T4_minus, 1.9 * record.T4_minus)
            & never("sign of k_mu", record.events["k_mu zero"], record.T4_minus, 1.9 * record.T4_minus)
        )

    return on_both(lab, check)


@book.claim(
    "E.36",
    "Upper bound of T_4^+",
    kind="existence",
    uses=["Eq.44", "E.27", "E.21"],
    statement=r"0.99(1+\theta_c)-O(\theta_c/\sqrt{m_k})>1\ \Rightarrow\ T_4^+\le(1+\theta_c)T_4^-\ (43);\ (42)\ \text{on}\ [(1+\theta_c)T_4^-,(2-\theta_c)T_4^-]",
    reading=RUNS
    + "theta_c = 1/4 in R1, 1/10 in R2 (chosen after looking; the smallest possible are 0.23 and 0.09); two-sided: T_4^+ where the mean field of the sample with the smallest aligned fraction has Z = log 8 Lambda, within 2 percent; "
    + FLOW,
)
def upper_t4_plus(lab: Laboratory) -> Verdict:
    """T_4^+/T_4^-, condition (42) on the interval, and the law."""

    def check(record: Record) -> Verdict:
        c = theta_c(record)
        rows = record.series[
            (record.series[:, 0] >= (1 + c) * record.T4_minus) & (record.series[:, 0] <= (2 - c) * record.T4_minus)
        ]
        law = max(_reaches(field, log(8 * field.Lambda)) for field in mean_field_of(record))
        return (
            between("T4+/T4-", [record.T4_plus / record.T4_minus], 1, 1 + c)
            & between("(42)", rows[:, 3], -np.inf, 0)
            & between("T4+ over law", [record.T4_plus / law], 0.98, 1.02)
        )

    return on_both(lab, check)


def _reaches(field: MeanField, level: float) -> float:
    """First theta at which the noise logit of a mean field reaches a level."""
    from scipy.optimize import brentq

    return float(
        brentq(
            lambda t: float(field.logits(t)[0]) - level, 0.2 * field.tau_f * field.unit, 3 * field.tau_f * field.unit
        )
    )


@book.claim(
    "E.36-requirement",
    "How large sigma_p s has to be in E.36",
    kind="order",
    uses=["E.36"],
    insensitive=NUMBERS,
    statement=r"(1+\theta)T_4^-\eta\sqrt{\tfrac2\pi}\sigma_ps\Big(\frac{3\sqrt2n\|\mu\|}{\sigma_ps}\Big)^{0.99(1+\theta)-O(\theta/\sqrt{m_k})}\le\tfrac19(1+\theta)T_4^-\eta\|\mu\|\ \text{for small constant}\ \theta_c",
    reading="for d sufficiently large, which is sigma_p s >= (9 sqrt(2/pi))^(1/e) (3 sqrt2 n)^(1 + 1/e), e = 0.99(1 + theta) - 1 (O-term dropped): theta_c = 1/20, n = 100, balls just above and at n^5, where it is false; the bound tends to infinity as theta "
    "tends to 1/99, and for theta = 1/20 it is above n^26",
)
def hidden_requirement(lab: Laboratory) -> Verdict:
    """The inequality above the requirement and far below it."""
    n, e = ball(100), ball(Fraction(99, 100) * Fraction(21, 20) - 1)
    root = (2 / flint.arb.pi()).sqrt()

    def left(strength: Any) -> Any:
        return root * strength * (3 * flint.arb(2).sqrt() * n / strength) ** (1 + e)  # over (1+theta) T eta |mu|

    needed = (9 * root) ** (1 / e) * (3 * flint.arb(2).sqrt() * n) ** (1 + 1 / e)
    above = at_most(left(needed * ball(Fraction(101, 100))), ball(Fraction(1, 9)))
    below = at_most(ball(Fraction(1, 9)), left(n**5), sigma_p_s="n^5")
    return (above & below & at_most(n**26, needed)).with_constants(
        sufficiently_large=f"sigma_p s >= n^{short(needed.log() / n.log()):.3g} for theta_c = 1/20, n = 100"
    )


@book.claim(
    "4.6",
    "Key noise aligns with the signal",
    kind="existence",
    uses=["E.16-19", "E.36", "E.38"],
    statement=r"\exists\theta_c:\ \mathrm{sgn}\,\Delta k_{si}=\mathrm{sgn}\,k_{si}\ \text{on}\ [T_3,T_4^-];\quad\mathrm{sgn}\,\Delta k_{si}=\mathrm{sgn}\,q_{s\mu}^{(T_3)}\ \text{for}\ t\ge(1+\theta_c)T_4^-",
    reading=RUNS + "theta_c = 1/4 (R1), 1/10 (R2); every pair, every step to the end of the run; " + FLOW,
)
def keys_align(lab: Laboratory) -> Verdict:
    """Turns of keys, and their directions before and after."""

    def check(record: Record) -> Verdict:
        after = (1 + theta_c(record)) * record.T4_minus
        sign = np.sign(record.run.at(record.T3).q_mu)[:, None]
        return (
            never("turn", record.events["k"], record.T3, record.T4_minus)
            & everywhere("with its sign", record.directions("k", record.T3) == np.sign(record.run.at(record.T3).k))
            & never("turn later", record.events["k"], after, np.inf)
            & everywhere("with the signal", record.directions("k", after) == sign)
        )

    return on_both(lab, check)


@book.claim(
    "4.7",
    "Query noise aligns later",
    kind="existence",
    uses=["4.6", "E.39"],
    statement=r"\mathrm{sgn}\,\Delta q_{si}=\mathrm{sgn}\,q_{si}\ \text{on}\ [T_3,(2-\theta_c)T_4^-];\quad\mathrm{sgn}\,\Delta q_{si}=\mathrm{sgn}\,q_{s\mu}^{(T_3)}\ \text{for}\ t\ge(2+3\theta_c)T_4^-",
    reading=RUNS + "theta_c as in 4.6; every pair, every step to the end of the run; " + FLOW,
)
def queries_align(lab: Laboratory) -> Verdict:
    """Turns of queries, and their directions before and after."""

    def check(record: Record) -> Verdict:
        c = theta_c(record)
        before, after = (2 - c) * record.T4_minus, (2 + 3 * c) * record.T4_minus
        sign = np.sign(record.run.at(record.T3).q_mu)[:, None]
        return (
            never("turn", record.events["q"], record.T3, before)
            & everywhere("with its sign", record.directions("q", record.T3) == np.sign(record.run.at(record.T3).q))
            & never("turn later", record.events["q"], after, np.inf)
            & everywhere("with the signal", record.directions("q", after) == sign)
        )

    return on_both(lab, check)


@book.claim(
    "IV.c",
    "Properties of Stage IV.c",
    kind="inequality",
    uses=["E.36", "E.38", "4.6", "4.7"],
    statement=r"\mathcal A\text{-}\mathcal H(t),\ t\in[(1+\theta_c)T_4^-,T_4]:\ \text{aligned pairs, unaligned keys and both signals monotone, unaligned queries turn once},\ \mathcal H:(42)\ \text{persists}",
    reading=RUNS
    + "theta_c as in 4.6, C_3 = 2; events of aligned pairs, keys and signals, exactly one turn of every unaligned query, (42) at every step; "
    + FLOW,
)
def stage_four_c(lab: Laboratory) -> Verdict:
    """Events on [(1 + theta_c) T_4^-, T_4]."""

    def check(record: Record) -> Verdict:
        low, high, aligned = (1 + theta_c(record)) * record.T4_minus, record.T4, record.aligned(record.T3)
        verdict = never("aligned turn", record.events["q"], low, high, aligned) & never(
            "key turn", record.events["k"], low, high
        )
        for kind in ("q_mu", "k_mu", "q_mu zero", "k_mu zero"):
            verdict = verdict & never("signal turn or zero", record.events[kind], low, high)
        turns = np.zeros(aligned.shape, dtype=int)
        found = record.events["q"].within(low, high)
        np.add.at(turns, (found.neuron, found.sample), 1)
        rows = record.series[(record.series[:, 0] >= low) & (record.series[:, 0] <= high)]
        return verdict & everywhere("one turn", turns[~aligned] == 1) & between("(42)", rows[:, 3], -np.inf, 0)

    return on_both(lab, check)


@book.claim(
    "E.39",
    "Unaligned keys after the flip",
    kind="inequality",
    uses=["E.28", "E.38"],
    statement=r"t\ge(1+\theta_c)T_4^-,\ i\notin E_s:\ \mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le(2(1+\theta_c)T_4^--t)\eta\sqrt{2/\pi}\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading=RUNS
    + "theta_c as in 4.6, small term 1 percent of t; together with E.29 the keys are within 2 theta_c T_4^- of the reflected line; "
    + FLOW,
)
def unaligned_keys(lab: Laboratory) -> Verdict:
    """The gap over t."""

    def check(record: Record) -> Verdict:
        c, other = theta_c(record), ~record.aligned(record.T3)
        part = later(record, (1 + c) * record.T4_minus)
        t, at = record.run.times[part], record.run.at(record.T4_minus)
        keys = (record.run.k[part] * np.sign(at.k))[:, other] / (t[:, None] * record.case.Lambda * record.case.mu)
        return between("k minus bound", keys - ((2 * (1 + c) * record.T4_minus - t) / t)[:, None], -np.inf, 0.01)

    return on_both(lab, check)


@book.claim(
    "E.40",
    "Final alignment",
    kind="inequality",
    uses=["IV.c", "Beyond.cone"],
    statement=r"t=(4+7\theta_c)T_4^-:\ q_{si}=_{\rm sgn}k_{si}=_{\rm sgn}q_{s\mu};\quad t\ge T_4:\ \text{all grow with}\ q_{si},k_{si},q_{s\mu},-k_{s\mu}\ \text{of one sign}",
    reading=RUNS
    + "theta_c as in 4.6, C_3 = 2; signs at (4 + 7 theta_c) T_4^-, no turn and no zero from T_4 to the end of the run, for ever by the absorbing cone; "
    + FLOW,
)
def final_alignment(lab: Laboratory) -> Verdict:
    """Signs, and silence from T_4 on."""

    def check(record: Record) -> Verdict:
        now = record.run.at((4 + 7 * theta_c(record)) * record.T4_minus)
        sign = np.sign(now.q_mu)[:, None]
        verdict = everywhere("aligned", (np.sign(now.q) == sign) & (np.sign(now.k) == sign)) & everywhere(
            "signals opposite", now.q_mu * now.k_mu < 0
        )
        for kind in ("q", "k", "q zero", "k zero", "q_mu", "k_mu", "q_mu zero", "k_mu zero"):
            verdict = verdict & never("turn or zero", record.events[kind], record.T4, np.inf)
        return verdict

    return on_both(lab, check)


@book.claim(
    "4.8(1)",
    "Signs at the end of Stage IV",
    kind="inequality",
    uses=["E.40"],
    same_as="E.40",
    statement=r"t\ge T_4:\ \mathrm{sgn}\,q_{si}=\mathrm{sgn}\,q_{si}=\mathrm{sgn}\,q_{s\mu}",
    reading=RUNS
    + "one of the two first signs is meant to be that of the key; all pairs at all snapshots from T_4 (C_3 = 2) on; "
    + FLOW,
)
def end_signs(lab: Laboratory) -> Verdict:
    """Signs from T_4 on."""

    def check(record: Record) -> Verdict:
        part = later(record, record.T4)
        sign = np.sign(record.run.q_mu[part])[:, :, None]
        return everywhere("queries", np.sign(record.run.q[part]) == sign) & everywhere(
            "keys", np.sign(record.run.k[part]) == sign
        )

    return on_both(lab, check)


@book.claim(
    "4.8(2)",
    "The loss has not converged at T_4",
    kind="order",
    uses=["E.15"],
    statement=r"L_S(W^{(T_4)})=\Theta(1)",
    reading="with m_k >= (C_3 log(C_3 sigma_p s))^2, which polylog(d) allows: m_k = 1024, n = 3, s = 4 10^6, C_3 = 2 (31.8^2 = 1010): loss in [0.01, 0.7] and within 10 percent of the mean field; with m_k = 64 (R1) it is below 10^-4 already, so the power of the "
    "logarithm matters; " + FLOW,
)
def loss_at_t4(lab: Laboratory) -> Verdict:
    """Loss at T_4 in the wide run, and in R1 for comparison."""
    from ..special.mean_field import loss

    record, narrow = lab.record("wide"), lab.record("R1")
    place = record.run.index(record.T4)
    law = loss(mean_field_of(record), record.run.times[place])
    small = narrow.seen.loss[narrow.run.index(narrow.T4)]
    return (
        between("loss", [record.seen.loss[place]], 0.01, 0.7)
        & between("over mean field", [record.seen.loss[place] / float(law)], 0.9, 1.1)
    ).adding(R1_loss=rounded(small, 5))


@book.claim(
    "Beyond.1-2-4",
    "The 1 : 2 : 4 law of flips",
    kind="order",
    uses=["4.6", "4.7", "E.40"],
    origin="ours",
    statement=r"T_f=\sqrt{\log4\Lambda}\,(\eta\Lambda\sqrt{m_k})^{-1}:\ \text{unaligned keys turn at}\ T_f,\ \text{cross 0 at}\ 2T_f,\ \text{unaligned queries turn at}\ 2T_f,\ \text{cross 0 at}\ 4T_f",
    reading=RUNS
    + "every unaligned pair, within 2 percent of 1, 2, 2, 4; the noise logit against the mean field with every sample's own fraction, within 2 percent up to 5 T_f; "
    + FLOW,
)
def flip_law(lab: Laboratory) -> Verdict:
    """Times of all four events, and the logit."""

    def check(record: Record) -> Verdict:
        unit, verdict = record.case.flip_time(), None
        for kind, place in (("k", 1), ("k zero", 2), ("q", 2), ("q zero", 4)):
            found = record.events[kind].within(record.T3, np.inf).theta / unit / place
            part = between(f"{kind} over {place} T_f", found, 0.98, 1.02)
            verdict = part if verdict is None else verdict & part
        count = int((~record.aligned(record.T3)).sum())
        assert verdict is not None
        verdict = verdict & between(
            "turns per unaligned pair", [len(record.events["k"].within(record.T3, np.inf)) / count], 1, 1
        )
        for time in (0.5, 1, 1.5, 2, 3, 4, 5):
            place = record.run.index(time * unit)
            law = np.array([field.logits(record.run.times[place])[0] for field in mean_field_of(record)])
            verdict = verdict & between("logit over law", -record.seen.z21[place] / law, 0.98, 1.02)
        return verdict

    return on_both(lab, check)


@book.claim(
    "Beyond.flip-time",
    "Keys turn after T_4^-, at T_f",
    kind="order",
    uses=["4.6", "E.25"],
    origin="ours",
    statement=r"T_4^-<\hat T_4^-\ (38)<T_f=\sqrt{\log4\Lambda}\,(\eta\Lambda\sqrt{m_k})^{-1}<T_4^+",
    reading=RUNS
    + "all turns of unaligned keys within 1 percent of T_f, which is 5 to 20 percent after T_4^-, above (38) and below T_4^+; "
    + FLOW,
)
def flip_time(lab: Laboratory) -> Verdict:
    """Turns over T_f, and the order of four times."""

    def check(record: Record) -> Verdict:
        unit = record.case.flip_time()
        turns = record.events["k"].within(record.T3, np.inf).theta
        return (
            between("turn over T_f", turns / unit, 0.99, 1.01)
            & between("T_f over T4-", [unit / record.T4_minus], 1.05, 1.2)
            & between("T_f over (38)", [unit / record.formal.upper_T4_minus], 1, 1.1)
            & between("T_f over T4+", [unit / record.T4_plus], 0.9, 1)
        )

    return on_both(lab, check)
