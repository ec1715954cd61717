"""Appendix E, stages IV.b and IV.c, along the path: key and query flips, final alignment, the 1 : 2 : 4 law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import log, pi, sqrt
from typing import Any

import flint
import numpy as np

from odesys import Verdict, always_positive, between, everywhere, identity, sym

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import NUMBERS, at_most, ball, book, short
from .common_checks import later, never, window
from .common_hypotheses import CONDITION, at_least, inside_point
from .common_path import ALIGNED, STEP, UNTIED, on_path
from .common_reasons import SMALLEST_THETA_C, THETA_C
from .part_e_iii import tilde

POWER_FOR_THETA = 25  # of n in d, for theta_c = 1/5 in the third step of E.36
LATE = 1.9  # (1 + theta), theta a large constant in (0, 1)


def _stage_b(record: Record, *kinds: tuple[str, bool | None]) -> Verdict:
    """No such event on [T_4^-, (1 + theta) T_4^-]: of aligned pairs, of unaligned ones, or of signals (None)."""
    low, high, aligned = record.T4_minus, LATE * record.T4_minus, record.aligned(record.T3)
    pairs = {True: aligned, False: ~aligned, None: None}
    verdict: Verdict | None = None
    for kind, which in kinds:
        found = never(kind, record.events[kind], low, high, pairs[which])
        verdict = found if verdict is None else verdict & found
    assert verdict is not None
    return verdict


def _linear_b(record: Record) -> Verdict:
    return _linear(record, record.T4_minus, LATE * record.T4_minus, True)


def _linear(record: Record, low: float, high: float, unaligned: bool) -> Verdict:
    """Query noise, key noise of aligned pairs and query signals are linear in time, with their signs."""
    part, aligned = window(record, low, high), record.aligned(record.T3)
    sign = np.sign(record.run.at(record.T3).q_mu)
    times = record.run.times[part] * record.case.mu
    law = times * record.case.Lambda
    sides = np.where(aligned, 1, -1) * sign[:, None]
    pairs = np.ones_like(aligned) if unaligned else aligned
    query = (record.run.q[part] * sides)[:, pairs] / law[:, None]
    key = (record.run.k[part] * sides)[:, aligned] / law[:, None]
    return (
        between("query noise", (query - 1) / tilde(record), -1, 1)
        & between("key noise", (key - 1) / tilde(record), -1, 1)
        & between("query signal over its law, minus 1", record.run.q_mu[part] * sign / times[:, None] - 1, -0.05, 0.05)
    )


on_path(
    "IV.b",
    "Properties of Stage IV.b",
    {
        "A(t), B(t)": lambda record: _stage_b(record, ("q", True), ("k", True)),
        "C(t)": lambda record: _stage_b(record, ("q", False)),
        "D(t), F(t), signs kept": lambda record: _stage_b(record, ("k zero", False), ("k_mu zero", None)),
        "E(t)": lambda record: _stage_b(record, ("q_mu", None)),
        "G(t)": _linear_b,
    },
    supposing=[UNTIED],
    where="Appendix E.7.2, A(t) to G(t)",
    origin="proof",
    uses=["E.31-32", "E.33", "E.34-35"],
    statement=r"\mathcal A\text{-}\mathcal G(t),\ t\in[T_4^-,(1+\theta)T_4^-]:\ \text{aligned}\ q,k\ \text{and unaligned}\ q\ \text{monotone, unaligned}\ k\ \text{keeps its sign},\ q_{s\mu}\ \text{monotone},\ k_{s\mu}\ \text{keeps its sign, linear estimates}",
    reading="theta = 9/10; without the second equalities of D(t) and F(t), see IV.b-signs; deviations at most s^(-1/2) log d",
)


def _noise_at_t4(record: Record) -> Verdict:
    place = record.run.index(record.T4_minus)
    now, t, vote = record.run.state(place), record.run.times[place], record.vote(record.T2)
    sign = np.where(record.aligned(record.T3), 1, -1) * vote[:, None]
    law = t * record.case.Lambda * record.case.mu
    return between("noise", (np.stack([now.q, now.k]) * sign / law - 1) / tilde(record), -1, 1)


def _signals_at_t4(record: Record) -> Verdict:
    place = record.run.index(record.T4_minus)
    now, t, vote = record.run.state(place), record.run.times[place], record.vote(record.T2)
    ratio = np.stack([now.q_mu, -now.k_mu]) * vote / (t * record.case.mu)
    return between("signals over their law, minus 1", ratio - 1, -0.05, 0.05)


on_path(
    "E.28",
    "State at T_4^-",
    {"noise": _noise_at_t4, "signals": _signals_at_t4},
    supposing=[UNTIED],
    where="Remark E.28",
    kind="order",
    uses=["IV.a-A", "E.26"],
    statement=r"t=T_4^-:\ q_{si},k_{si}=\pm t\eta\sqrt{2/\pi}\sigma_ps(1\pm\tilde O(s^{-1/2}))\ (+\ \text{iff}\ i\in E_s),\ q_{s\mu}=-k_{s\mu}=t\eta\|\mu\|(1\pm o(1))\ \text{for a positive vote}",
    reading="with the sign of the vote put in; deviations at most s^(-1/2) log d for noise, o(1) as 1/20 for signals",
)


def _t4_plus(record: Record) -> Verdict:
    return between("T4+/T4-", [record.T4_plus / record.T4_minus], 1, STEP * (1 + SMALLEST_THETA_C))


def _condition_42(record: Record, theta_c: float, high: float) -> Verdict:
    low = STEP * (1 + theta_c) * record.T4_minus
    rows = record.series[(record.series[:, 0] >= low) & (record.series[:, 0] <= high)]
    return between("(42)", rows[:, 3], -np.inf, 0)


enough_for_theta = at_least(
    f"sigma_p s is a large enough power of n for theta_c = {SMALLEST_THETA_C:g}",
    r"(1+\theta_c)^2\log\frac{1.6\,\sigma_ps}{n\|\mu\|}\ge\log\frac{6.4\,\sigma_ps}{\|\mu\|},\ \text{that is}\ d\ge n^D\ \text{with}\ D\ \text{by}\ \theta_c",
    lambda p: (1 + SMALLEST_THETA_C) ** 2 * log(1.6 * p["sigma_p"] * p["s"] / p["n"]),
    lambda p: log(6.4 * p["sigma_p"] * p["s"]),
)  # T_4^- if the smallest vote is 1, and T_4^+, to leading order

on_path(
    "E.36",
    "Upper bound of T_4^+",
    {
        "(43)": _t4_plus,
        "(42) persists": lambda record: _condition_42(
            record, SMALLEST_THETA_C, (2 - SMALLEST_THETA_C) * record.T4_minus
        ),
    },
    supposing=[UNTIED, ALIGNED],
    also=[enough_for_theta],
    where="Lemma E.36",
    kind="existence",
    uses=["Eq.44", "E.27", "E.21", "E.36-requirement"],
    statement=r"0.99(1+\theta_c)-O(\theta_c/\sqrt{m_k})>1\ \Rightarrow\ T_4^+\le(1+\theta_c)T_4^-\ (43);\ (42)\ \text{on}\ [(1+\theta_c)T_4^-,(2-\theta_c)T_4^-]",
    reading="theta_c = 1/5, so every larger one; poly(n) a power by theta_c, a hypothesis: for theta_c = 1/20 d ~ n^10 is too small, T_4^+/T_4^- is near 1.1",
)


def _needed(theta_c: Fraction) -> Callable[[Mapping[str, float]], float]:
    """The logarithm of the least sigma_p s / |mu| for which the third step in E.36 follows, exponent 0.99 (1 + theta_c)."""
    e = float(Fraction(99, 100) * (1 + theta_c) - 1)
    return lambda p: log(9 * sqrt(2 / pi)) / e + (1 + 1 / e) * log(3 * sqrt(2) * p["n"])


enough_for_step = at_least(
    "sigma_p s is a large enough power of n for theta_c = 1/5",
    r"\sigma_ps/\|\mu\|\ge(9\sqrt{2/\pi})^{1/e}(3\sqrt2n)^{1+1/e},\ e=0.99(1+\theta_c)-1,\ \text{that is}\ d\ge n^D\ \text{with}\ D\ \text{by}\ \theta_c",
    lambda p: log(p["sigma_p"] * p["s"]),
    _needed(Fraction(1, 5)),
)


@book.claim(
    "E.36-requirement",
    "An exponent above 1 in E.36",
    kind="order",
    origin="proof",
    where="Proof of Lemma E.36, last display, third step",
    parts=["third step"],
    hypotheses=[*CONDITION, enough_for_step],
    insensitive=NUMBERS,
    statement=r"0.99(1+\theta)-O(\theta/\sqrt{m_k})>1\ \Rightarrow\ (1+\theta)T_4^-\eta\sqrt{\tfrac2\pi}\sigma_ps\Big(\frac{3\sqrt2n\|\mu\|}{\sigma_ps}\Big)^{0.99(1+\theta)-O(\theta/\sqrt{m_k})}\le\tfrac19(1+\theta)T_4^-\eta\|\mu\|",
    reading="d = Omega(poly(n)), a power by theta_c: with the exponent 1 + e it takes sigma_p s above n^(1 + 1/e) up to a constant",
)
def hidden_requirement(lab: Laboratory) -> Verdict:
    """In logarithms for every n and e; that less than the power is not enough; in balls at theta_c = 1/5 inside the condition."""
    a, b, x, N, D, r, y = (sym(name) for name in ("a", "b", "x", "N", "D", "r", "y"))
    # logarithms: a of 9 (2/pi)^(1/2), b of 3 sqrt2, N of n, (a + (1 + y)(b + N))/y + x of sigma_p s, with the exponent 1 + y
    enough = identity({"log of 9 left side": a + (1 + y) * (b + N) - y * ((a + (1 + y) * (b + N)) / y + x) + y * x})
    e = 1 / (D * (1 + r))  # sigma_p s = n^D and e <= 1/D
    too_small = always_positive({"log of 9 left side": a + (1 + e) * (b + N) - e * D * N}, ("a", "b", "N", "D"), ("r",))
    point = inside_point(power=POWER_FOR_THETA)
    root, exponent = (2 / flint.arb.pi()).sqrt(), ball(Fraction(99, 100) * Fraction(6, 5))
    scale, strength = 3 * flint.arb(2).sqrt() * ball(int(point["n"])), ball(point["sigma_p"]) * ball(int(point["s"]))
    ninth, needed = ball(Fraction(1, 9)), (9 * root) ** (1 / (exponent - 1)) * scale ** (1 + 1 / (exponent - 1))

    def left(strength: Any) -> Any:
        return root * strength * (scale / strength) ** exponent  # over (1 + theta) T_4^- eta |mu|

    here = at_most(left(strength), ninth, point=point)
    sharp = at_most(left(needed * ball(Fraction(101, 100))), ninth) & at_most(
        ninth, left(needed * ball(Fraction(99, 100)))
    )
    power = f"n^{short(needed.log() / ball(int(point['n'])).log()):.3g} at n = {point['n']:.3g}, theta_c = 1/5"
    return (
        (enough & too_small & here & sharp)
        .proving(
            "the left side over the right one falls as the e-th power of sigma_p s, and is at most 1 from that power of n on"
        )
        .with_constants(least_sigma_p_s=power, every_theta_c="no power serves all theta_c: e > 1/D for sigma_p s = n^D")
    )


def _keys_before(record: Record) -> Verdict:
    quiet = never("turn", record.events["k"], record.T3, record.T4_minus)
    at = record.run.at(record.T3)
    return quiet & everywhere("with its sign", record.directions("k", record.T3) == np.sign(at.k))


def _after(record: Record, name: str, low: float) -> Verdict:
    """From `low` on noise of a kind moves with the query signal of T_3."""
    sign = np.sign(record.run.at(record.T3).q_mu)[:, None]
    quiet = never("turn later", record.events[name], low, np.inf)
    return quiet & everywhere("with the signal", record.directions(name, low) == sign)


on_path(
    "4.6",
    "Key noise aligns with the signal",
    {
        "(1)": _keys_before,
        "(2)": lambda record: _after(record, "k", STEP * (1 + THETA_C) * record.T4_minus),
    },
    main=True,
    supposing=[UNTIED, ALIGNED],
    where="Lemma 4.6",
    kind="existence",
    uses=["E.16-19", "E.36", "E.38"],
    statement=r"\exists\theta_c:\ \mathrm{sgn}\,\Delta k_{si}=\mathrm{sgn}\,k_{si}\ \text{on}\ [T_3,T_4^-];\quad\mathrm{sgn}\,\Delta k_{si}=\mathrm{sgn}\,q_{s\mu}^{(T_3)}\ \text{for}\ t\ge(1+\theta_c)T_4^-",
    reading="theta_c = 1/4, every pair, every step of the integrator to the end of the run",
)


def _queries_before(record: Record) -> Verdict:
    quiet = never("turn", record.events["q"], record.T3, (2 - THETA_C) * record.T4_minus)
    at = record.run.at(record.T3)
    return quiet & everywhere("with its sign", record.directions("q", record.T3) == np.sign(at.q))


on_path(
    "4.7",
    "Query noise aligns later",
    {
        "(1)": _queries_before,
        "(2)": lambda record: _after(record, "q", (2 + 3 * THETA_C) * record.T4_minus),
    },
    main=True,
    supposing=[UNTIED, ALIGNED],
    where="Lemma 4.7",
    kind="existence",
    uses=["4.6", "E.39"],
    statement=r"\mathrm{sgn}\,\Delta q_{si}=\mathrm{sgn}\,q_{si}\ \text{on}\ [T_3,(2-\theta_c)T_4^-];\quad\mathrm{sgn}\,\Delta q_{si}=\mathrm{sgn}\,q_{s\mu}^{(T_3)}\ \text{for}\ t\ge(2+3\theta_c)T_4^-",
    reading="theta_c = 1/4, every pair, every step of the integrator to the end of the run",
)


def _stage_c(record: Record, kinds: dict[str, bool | None]) -> Verdict:
    """No such event on [(1 + theta_c) T_4^-, T_4]."""
    low, aligned = STEP * (1 + THETA_C) * record.T4_minus, record.aligned(record.T3)
    verdict: Verdict | None = None
    for kind, which in kinds.items():
        found = never(kind, record.events[kind], low, record.T4, aligned if which else None)
        verdict = found if verdict is None else verdict & found
    assert verdict is not None
    return verdict


on_path(
    "IV.c",
    "Properties of Stage IV.c",
    {
        "aligned pairs and keys": lambda record: (
            _stage_c(record, {"q": True, "k": None}) & _after(record, "k", STEP * (1 + THETA_C) * record.T4_minus)
        ),
        "C(t)": lambda record: _queries_before(record) & _after(record, "q", (2 + 3 * THETA_C) * record.T4_minus),
        "G(t)": lambda record: _linear(record, STEP * (1 + THETA_C) * record.T4_minus, record.T4, False),
        "signals": lambda record: _stage_c(record, dict.fromkeys(("q_mu", "k_mu", "q_mu zero", "k_mu zero"))),
        "H(t)": lambda record: _condition_42(record, THETA_C, record.T4),
    },
    supposing=[UNTIED, ALIGNED],
    where="Appendix E.7.3, A(t) to H(t)",
    origin="proof",
    uses=["E.36", "E.38", "4.6", "4.7"],
    statement=r"\mathcal A\text{-}\mathcal H(t),\ t\in[(1+\theta_c)T_4^-,T_4]:\ \text{aligned pairs, unaligned keys and both signals monotone},\ \mathcal H:(42)\ \text{persists}",
    reading="theta_c = 1/4, C_3 = 2, every step of the integrator",
)


def _signs_at_end(record: Record) -> Verdict:
    now = record.run.at((4 + 7 * THETA_C) * record.T4_minus)
    sign = np.sign(now.q_mu)[:, None]
    return everywhere("aligned", (np.sign(now.q) == sign) & (np.sign(now.k) == sign))


def _quiet_end(record: Record) -> Verdict:
    verdict: Verdict | None = None
    for kind in ("q", "k", "q zero", "k zero", "q_mu", "k_mu", "q_mu zero", "k_mu zero"):
        found = never("turn or zero", record.events[kind], record.T4, np.inf)
        verdict = found if verdict is None else verdict & found
    assert verdict is not None
    part = later(record, record.T4)
    return verdict & everywhere("signals opposite", record.run.q_mu[part] * record.run.k_mu[part] < 0)


on_path(
    "E.40",
    "Final alignment",
    {"signs": _signs_at_end, "from T_4 on": _quiet_end},
    supposing=[UNTIED, ALIGNED],
    where="Remark E.40",
    uses=["IV.c", "Beyond.cone"],
    statement=r"t=(4+7\theta_c)T_4^-:\ q_{si}=_{\rm sgn}k_{si}=_{\rm sgn}q_{s\mu};\quad t\ge T_4:\ \text{all grow with}\ q_{si},k_{si},q_{s\mu},-k_{s\mu}\ \text{of one sign}",
    reading="theta_c = 1/4, C_3 = 2, to the end of the run; for ever by the absorbing cone (Beyond.cone)",
)


def _end_signs(record: Record) -> Verdict:
    part = later(record, record.T4)
    sign = np.sign(record.run.q_mu[part])[:, :, None]
    return everywhere("signs", (np.sign(record.run.q[part]) == sign) & (np.sign(record.run.k[part]) == sign))


on_path(
    "4.8(1)",
    "Signs at the end of Stage IV",
    {"signs": _end_signs},
    main=True,
    supposing=[UNTIED, ALIGNED],
    where="Lemma 4.8 (1)",
    source="damaged",
    uses=["E.40"],
    statement=r"t\ge T_4:\ \mathrm{sgn}\,q_{si}=\mathrm{sgn}\,q_{si}=\mathrm{sgn}\,q_{s\mu}",
    reading="one of the two first signs is meant to be that of the key; C_3 = 2, to the end of the run",
)


def _flip_law(record: Record) -> Verdict:
    unit, verdict = record.case.flip_time(), None
    for kind, place in (("k", 1), ("k zero", 2), ("q", 2), ("q zero", 4)):
        found = record.events[kind].within(record.T3, np.inf).theta / unit / place
        part = between(f"{kind} over {place} T_f", found, 0.95, 1.05)
        verdict = part if verdict is None else verdict & part
    assert verdict is not None
    return verdict


on_path(
    "Beyond.1-2-4",
    "The 1 : 2 : 4 law of flips",
    {"law": _flip_law},
    supposing=[UNTIED, ALIGNED],
    where="",
    origin="ours",
    kind="order",
    uses=["4.6", "4.7", "E.40"],
    statement=r"T_f=\sqrt{\log4\Lambda}\,(\eta\Lambda\sqrt{m_k})^{-1}:\ \text{unaligned keys turn at}\ T_f,\ \text{cross 0 at}\ 2T_f,\ \text{unaligned queries turn at}\ 2T_f,\ \text{cross 0 at}\ 4T_f",
    reading="every unaligned pair, within 5 percent, two steps of the integrator",
)


def _flip_order(record: Record) -> Verdict:
    unit, turns = record.case.flip_time(), record.events["k"].within(record.T3, np.inf).theta
    return (
        between("turn over T_f", turns / unit, 0.95, 1.05)
        & between("T_f over (38)", [unit / record.formal.upper_T4_minus], 1, np.inf)
        & between("T_f over T4+", [unit / record.T4_plus], 0, 1)
    )


on_path(
    "Beyond.flip-time",
    "Keys turn after T_4^-, at T_f",
    {"order": _flip_order},
    supposing=[UNTIED, ALIGNED],
    where="",
    origin="ours",
    kind="order",
    uses=["4.6", "E.25"],
    statement=r"T_4^-<\hat T_4^-\ (38)<T_f=\sqrt{\log4\Lambda}\,(\eta\Lambda\sqrt{m_k})^{-1}<T_4^+",
    reading="all turns of unaligned keys within 5 percent of T_f, two steps of the integrator",
)
