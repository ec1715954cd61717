"""Appendix E, the half-way time: when the common word overtakes the target words, and the proof of Theorem E.19."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from odesys import (
    FAILS,
    Measurement,
    StopWhen,
    Verdict,
    graph,
    identity,
    integrate,
    measure,
    over_seeds,
    sym,
)

from ..laboratory import Laboratory
from ..special.sample_sums import sampled_sums
from ..special.trained_network import word_weights
from ..special.trajectories import class_sums, values_along
from .book import book
from .common_hypotheses import MANY_WORDS, PHASES
from .common_limit import as_regression, level_three, whole_six
from .common_runs import ALL, SEEDS, likely, ordered, path, phase_one, scale_at
from .part_f1_algebra import opaque

HALF = 10.0  # T_0.5
SANDWICH = 0.1  # the constant C
HALF_OF_TRAP = "half of what R in [1.2, 1.54] allows, where Beyond.trapped has it for n to infinity; L/n takes from it"
RIGHT = {"low": 0.1}, "a fifth of the least margin at T_1 for m, n to infinity, 0.53 on I_2"
SLOWEST = (
    {"low": 0.02},
    "for m to infinity it is dG(mu1)/dtau, which falls; at T_1 from zero it is 0.0211 at the least n, 24, and more at other n",
)
GROWTH_TRIED = "tried: S_1 - S_2 > 0 is dG(mu1) > 0 for m to infinity, which the enclosure at n = 30, L = 4 gives up to T_1; for every n and L it was not bounded below"
TURN_TRIED = (
    "tried: with 1/n it is certified for n to infinity (Beyond.growing); at finite n the time t' was not enclosed"
)
SUMS_TRIED = "tried: the class sums over n are enclosed for n to infinity up to tau = 100 (Beyond.turn); at finite n the time t' was not enclosed"
ENCLOSED = (
    "tried: level 3 at n = 30, L = 4 is enclosed in balls up to tau = 40, from zero and from a box of starts of width 10^-3, so "
    "a certificate for one (n, L) is within reach; the network has a start for each of n samples, for which it was not tried"
)


def ratio_inside(run: Any) -> np.ndarray:
    """(1 + C) max(dG1, dG2) <= -dG3 <= (1 - C)(dG1 + dG2) at each time from T_0.5 on."""
    G = run.G_rate[run.taus >= HALF]
    low, high = (1 + SANDWICH) * G[:, :2].max(axis=1), (1 - SANDWICH) * G[:, :2].sum(axis=1)
    return (low <= -G[:, 2]) & (-G[:, 2] <= high)


def sandwich(lab: Laboratory) -> Verdict:
    """Both inequalities from T_0.5 = 10 to T_1 = 40 with high probability."""
    what = "(1 + C) max(dG1, dG2) <= -dG3 <= (1 - C)(dG1 + dG2) from tau = 10 to 40"
    return likely(
        lab,
        what,
        lambda run: ratio_inside(run).all(),
        lambda run: run.G_rate[:, :3],
        phase_one,
        ({"C": SANDWICH}, HALF_OF_TRAP),
        ALL,
        ENCLOSED,
    )


@book.claim(
    "E.19",
    "The half-way time",
    kind="existence",
    where="Theorem E.19",
    parts=("sandwich", "growth"),
    hypotheses=PHASES,
    uses=[
        "E.4",
        "E.14",
        "E.16",
        "E.17",
        "E.15",
        "Eq.8",
        "E.19-proof/b",
        "E.19-proof/c",
        "E.19-proof/d",
        "E.21",
        "E.24",
    ],
    statement=r"\exists T_{0.5}\le T_1,\,0<C<1:\ (1+C)\max\big(\dot G(\mu_1),\dot G(\mu_2)\big)\le-\dot G(\mu_3)\le(1-C)\big(\dot G(\mu_1)+\dot G(\mu_2)\big),\ \dot G(\mu_1),\dot G(\mu_2)\ge\Omega((\sigma_0^2+\sigma_1^2)mm_1)\ (T_{0.5}\le t\le T_1)",
    reading="C = 0.1, T_0.5 at tau = 10, T_1 at tau = 40; for n to infinity Beyond.trapped certifies R in [1.2, 1.54] for ever.",
)
def half_way(lab: Laboratory) -> dict[str, Verdict]:
    """The sandwich with high probability, and the order of the slowest growth."""

    def slowest(run: Any) -> np.ndarray:
        return 1 / (run.G_rate[run.taus >= HALF, :2].min(axis=1) / (1 + run.scale.sigma0**2 / run.scale.sigma1**2))

    return {
        "sandwich": sandwich(lab),
        "growth": ordered(
            lab,
            "(sigma_0^2 + sigma_1^2) m m_1 over the slowest growth",
            slowest,
            along=ALL,
            why=ENCLOSED,
            routes=lambda r: r.G_rate[:, :2],
        ),
    }


@book.claim(
    "4.3",
    "The half-way time (short)",
    kind="existence",
    where="Lemma 4.3",
    parts=("sandwich",),
    hypotheses=PHASES,
    same_as="E.19",
    uses=["E.19"],
    statement=r"\exists T_{0.5}\le T_1,C:\ (1+C)\max\big(\dot G(\mu_1),\dot G(\mu_2)\big)\le-\dot G(\mu_3)\le(1-C)\big(\dot G(\mu_1)+\dot G(\mu_2)\big)\ \forall t\in[T_{0.5},T_1]",
    reading="The first part of E.19.",
)
def half_way_again(lab: Laboratory) -> Verdict:
    """The same sandwich."""
    return sandwich(lab)


def first_right(lab: Laboratory, point: Any) -> float:
    """The first tau at which G(mu3) and what I_4 adds to it pass zero, at level 3 from G = (0, 0, F)."""
    system = lab.every_n(point["L"])
    start = {"G_3": float(point["F"])}
    stop = [StopWhen("zero", system.observables["margin_I4"], direction=1)]
    first = [start.get(name, 0.0) for name in system.names]
    run = integrate(system, first, (0.0, 50.0), {"n": point["n"]}, rtol=1e-10, atol=1e-13, events=stop)
    return float(run.end_time) if run.stop == "event:zero" else 1e9


@book.claim(
    "E.19-proof",
    "When samples without targets are right",
    kind="order",
    origin="proof",
    where="Proof of Theorem E.19, the sentence with t >= Theta(F/m), first half",
    parts=("I_4",),
    hypotheses=MANY_WORDS,
    uses=["Beyond.planar"],
    expect="fails",
    statement=r"\text{for}\ t\ge\Theta(\mathsf F/m):\ y_iF_i^{(t)}>0\ \forall i\in I_4,\quad\mathsf F=\max_i|F_i^{(0)}|",
    reading="For m to infinity, G = (0, 0, F), n = 100/F; nothing later uses this half. For bounded n it is true: irrelevant words move first.",
)
def no_target_time(lab: Laboratory) -> Verdict:
    """First time at which the margins of I_4 are positive over a range of starts, from one and from random ones."""
    points = [{"n": whole_six(100 / p["F"]), "L": 4, "F": p["F"]} for p in lab.draw.along("F", 1e-6, 1e-2, 9)]
    times = measure("the time at which I_4 is classified, in 1/beta,", points, lambda p: first_right(lab, p))
    zeros = [
        abs(word_weights((0.0, 0.0, p["F"]), (float(t),))[0, 2]) / p["F"]
        for p, t in zip(points, times.values[:, 0], strict=True)
        if t < 1e9
    ]
    same = Measurement("|G(mu3)|/F of the regression at these times", points[: len(zeros)], zeros or [1e9])
    drawn = random_starts(lab)
    right = (
        times.order("F", 0.5, "O", towards="zero")
        & drawn.between(0, 7, SIX_ROOTS)
        & same.between(0, 0.1, "n = 100/F adds a term L tau/(2n) to tau^2/36, a percent at F = 10^-2")
    )
    tried = "tried: G(mu3) = F - tau^2/36 + ... by Taylor's series; its remainder up to the zero was not bounded"
    printed = times.order("F", 1, "O", towards="zero").adding(why_measured=tried)
    first, last = (float(times.values[k, 0]) / points[k]["F"] for k in (0, -1))
    sentence = (
        f"at n = 100/F, L = 4 (all hypotheses hold) the time over F is {first:.4g} at F = {points[0]['F']:.3g} and {last:.3g} "
        f"at F = {points[-1]['F']:.3g}: it grows like 6/sqrt(F)"
    )
    if printed.as_stated == FAILS:
        printed = printed.witnessed(sentence, points[0])
    why = "dG(mu3)/dt vanishes at the start, G(mu3) = F - tau^2/36, so that 6 sqrt(F)/beta is enough"
    return printed.correcting(r"\text{for}\ t\ge C\sqrt{\mathsf F}/m", right, why).blaming("proof", "slow-start-of-mu3")


SIX_ROOTS = (
    "6 sqrt(F) by G(mu3) = F - tau^2/36 for each start; a sixth for the grid of times and the next order, 0.18 tau"
)


def random_starts(lab: Laboratory) -> Measurement:
    """The last time at which a sample of I_4 is wrong over sqrt(F), from forty random starts, n of order 1/sqrt(F)."""
    taus = (0.0, *np.geomspace(1e-2, 1.0, 50).tolist())  # steps of ten percent
    held = {"L": 4, "m": 10**16, "m1": 16}
    points = [{"n": whole_six(8 / p["c0"] ** 0.5), **held, "c0": p["c0"]} for p in lab.draw.along("c0", 3e-5, 3e-3, 4)]

    def late(p: Any, seeds: tuple[int, ...]) -> list[float]:
        found = []
        for run in sampled_sums(lab, p["n"], p["L"], scale_at(p), seeds, taus):
            wrong = np.flatnonzero((run.margins[:, run.classes[4]] <= 0).any(axis=1))
            end = run.taus[min(wrong[-1] + 1, len(taus) - 1)] if len(wrong) else 0.0
            found.append(float(end / np.abs(run.outputs[0]).max() ** 0.5))
        return found

    return over_seeds("the last time of a wrong sample over sqrt(F)", points, late, lab.draw.seeds(2 * SEEDS))


ORDER_TIME = "the mean of F over I_2 less that over I_4 is at least -2F at the start and grows at the rate 1/6 - O(F) for every n and L: 12 F, and ten percent for the grid of times"


@book.claim(
    "E.19-proof/d",
    "When the class sums are in order",
    kind="order",
    origin="proof",
    where="Proof of Theorem E.19, the sentence with t >= Theta(F/m), second half, and the one after it",
    parts=("S_4 < min(S_2, S_3)", "at t'"),
    hypotheses=PHASES,
    uses=["Beyond.turn", "Beyond.level3"],
    statement=r"\text{for}\ t\ge\Theta(\mathsf F/m):\ \sum_{I_4}g_i<\min\big(\sum_{I_2}g_i,\sum_{I_3}g_i\big);\quad\text{at}\ t':\ \min\big(\sum_{I_2}g_i,\sum_{I_3}g_i\big)-\sum_{I_4}g_i=\Omega(1)",
    reading="Networks of infinite width: the last time at which S_4 is not below both, over F; at t', near tau = 3.6, the difference is over n/100.",
)
def sums_in_order(lab: Laboratory) -> dict[str, Verdict]:
    """The last time at which the order fails against F, along c0; and the difference of sums while dG(mu1) >= -dG(mu3)."""
    taus = (0.0, *np.geomspace(1e-5, 10.0, 140).tolist())  # steps of ten percent
    tried = "tried: the mean of F over I_2 less that over I_4 is at least -2F and grows at the rate 1/6 - O(F), which gives 12 F; what is left is the second order of g, at most F^2"

    def runs(p: Any, seeds: tuple[int, ...]) -> list[Any]:
        return sampled_sums(lab, p["n"], p["L"], scale_at(p), seeds, taus)

    def latest(run: Any) -> float:
        bad = np.flatnonzero(run.S[4] >= np.minimum(run.S[2], run.S[3]))
        return (
            float(run.taus[min(bad[-1] + 1, len(run.taus) - 1)]) / float(np.abs(run.outputs[0]).max())
            if len(bad)
            else 0.0
        )

    def least(run: Any) -> float:
        turned = np.flatnonzero(run.G_rate[:, :2].max(axis=1) <= -run.G_rate[:, 2])
        return float((np.minimum(run.S[2], run.S[3]) - run.S[4])[turned[0]]) / run.n if len(turned) else 0.0

    points, many = path(lab, "c0"), lab.draw.seeds(2 * SEEDS)
    sizes = [*points, *path(lab, "n")[:6]]
    seen = over_seeds(
        "the last time of another order over F",
        [*sizes, *path(lab, "L")[:4]],
        lambda p, seeds: [latest(run) for run in runs(p, seeds)],
        many,
    )
    there = over_seeds(
        "(min(S_2, S_3) - S_4)/n at t'", sizes, lambda p, seeds: [least(run) for run in runs(p, seeds)], many
    )
    return {
        "S_4 < min(S_2, S_3)": seen.between(0, 13.2, ORDER_TIME).adding(why_measured=tried),
        "at t'": there.between(0.01, 1, "0.017 n along the planar limit of Beyond.planar").adding(
            why_measured=ENCLOSED
        ),
    }


@book.claim(
    "E.19-proof/b",
    "When the common word is slower than a target word",
    kind="inequality",
    origin="proof",
    where="Proof of Theorem E.19, after the chain of equivalences",
    source="damaged",
    parts=("implication", "with the minus"),
    hypotheses=PHASES,
    uses=["Beyond.planar"],
    statement=r"\dot G(\mu_1)\ge\dot G(\mu_3)\ \Rightarrow\ \sum_{I_1}g_i-\sum_{I_2}g_i=\Omega(1)\ \text{since}\ \sum_{I_3\cup I_4}g_i=\Omega(1)\ \text{for all}\ t\le T_1",
    reading="A minus or bars are lost before dG(mu3); the conclusion is true for all t <= T_1 all the same: (S_1 - S_2)/n is above 1/50.",
)
def slower_common_word(lab: Laboratory) -> dict[str, Verdict]:
    """The conclusion along networks; with the minus it follows from the derived rates, logistic factors as symbols."""
    system = lab.large_n()
    rhs, s = system.equations, class_sums(system)
    nodes = opaque(
        lab,
        [rhs["G_1"] - rhs["G_3"] - (s[3] + s[4]), rhs["G_1"] + rhs["G_3"] - (2 * (s[1] - s[2]) - (s[3] + s[4]))],
    )
    right = identity({"premise": nodes[0], "with the sign": nodes[1]}, positive=("g1", "g2", "g3", "g4"))

    def difference(run: Any) -> np.ndarray:
        return np.asarray((run.S[1] - run.S[2]) / run.n)

    what = "(S_1 - S_2)/n is above 1/50 up to T_1"
    seen = likely(lab, what, lambda r: difference(r).min() > 0.02, difference, phase_one, SLOWEST, ALL, GROWTH_TRIED)
    step = "for n to infinity dG(mu1) + dG(mu3) = 2(S_1 - S_2) - (S_3 + S_4), in beta/n"
    return {"implication": seen, "with the minus": right.proving(step)}


def turning(lab: Laboratory, point: Any) -> tuple[Any, float]:
    """Level 3 at a point, and the first time with dG(mu1) = -dG(mu3); 0 if there is none."""
    run = level_three(lab, point["n"], point["L"], 10.0)
    rhs, taus = run.system.equations, np.linspace(1, 10, 200)
    both = values_along(run, rhs["G_1"] + rhs["G_3"], taus)
    return run, float(np.interp(0.0, -both, taus)) if both[0] > 0 > both[-1] else 0.0


def sums_without_n(lab: Laboratory, extra: float = 0.0) -> Verdict:
    """The rate of S_1 - S_2 + (1 + extra)(S_1 - S_2 - S_3 - S_4) at the first time with dG(mu1) = -dG(mu3), over n."""

    def rate(point: Any) -> float:
        run, turn = turning(lab, point)
        if not turn:
            return 1e-9
        system, s = run.system, class_sums(run.system)
        total = s[1] - s[2] + (1 + Fraction(extra).limit_denominator(100)) * (s[1] - s[2] - s[3] - s[4])
        slopes = graph.gradient(total, [sym(name) for name in system.names])
        node = graph.add([a * b for a, b in zip(slopes, system.nodes, strict=True)])
        return max(-float(values_along(run, node, [turn])[0]), 1e-9)

    points = [{"n": whole_six(p["n"]), "L": 4} for p in lab.draw.along("n", 60, 60_000, 7)]
    mean = measure("-1/n times the rate of the sums at t'", points, rate)
    whole = Measurement(
        "minus the rate of the sums at t', in units of sigma_1^2 m m_1,",
        points,
        [v * p["n"] for v, p in zip(mean.values[:, 0], points, strict=True)],
    )
    right = mean.order("n", 0) & as_regression(lab, points[0], 10.0)
    ends = [float(whole.values[k, 0]) for k in (0, -1)]
    sentence = (
        f"at L = 4 (all hypotheses hold) minus the rate at t' is {ends[0]:.3g} sigma_1^2 m m_1 at n = {points[0]['n']} and "
        f"{ends[1]:.3g} sigma_1^2 m m_1 at n = {points[-1]['n']}: it grows like n"
    )
    found = whole.order("n", 0).adding(why_measured=TURN_TRIED)
    if found.as_stated == FAILS:
        found = found.witnessed(sentence, points[-1])
    return found.correcting(r"\tfrac1n\partial_t(\cdot)=-\Theta(\sigma_1^2mm_1)", right, "the sums lack 1/n").blaming(
        "misprint", "lost-1/n"
    )


@book.claim(
    "Eq.8",
    "R keeps growing where it passes 1",
    kind="order",
    origin="proof",
    where="Proof of Theorem E.19, Equation (8)",
    parts=("Eq. (8)",),
    hypotheses=MANY_WORDS,
    uses=["Beyond.turn"],
    expect="fails",
    statement=r"\partial_t\Big(2\sum_{I_1}g_i^{(t')}-2\sum_{I_2}g_i^{(t')}-\sum_{I_3\cup I_4}g_i^{(t')}\Big)=-\Theta(\sigma_1^2mm_1)\ \text{where}\ \dot G(\mu_1)=-\dot G(\mu_3)",
    reading="For m to infinity, L = 4; sums run over the samples of a class, as printed.",
)
def keeps_growing(lab: Laboratory) -> Verdict:
    """The order in n; with 1/n it is the printed one, and certified for n to infinity in Eq.8-limit."""
    return sums_without_n(lab)


@book.claim(
    "E.19-proof/c",
    "Class sums in the proof of E.19",
    kind="order",
    origin="proof",
    where="Proof of Theorem E.19, sums called Omega(1), and the display after Equation (8)",
    parts=("Omega(1)", "second Theta"),
    hypotheses=MANY_WORDS,
    uses=["Beyond.planar", "Eq.8"],
    expect="fails",
    statement=r"\sum_{I_3\cup I_4}g_i=\Omega(1),\ \sum_{I_1}g_i-\sum_{I_4}g_i=\Omega(1);\quad\partial_t\Big(\sum_{I_1}g_i-\sum_{I_2}g_i+(1+\mathsf L)\big(\sum_{I_1}g_i-\sum_{I_2\cup I_3\cup I_4}g_i\big)\Big)=-\Theta(\sigma_1^2mm_1)",
    reading="At t', for m to infinity: sums of order n are Omega(1); the Theta lacks 1/n as (8) does. The printed constant L is small.",
)
def sums_again(lab: Laboratory) -> dict[str, Verdict]:
    """Sums over n at t', and the rate of the second display, with 1/10 for its small constant."""
    points = [{"n": whole_six(p["n"]), "L": 4} for p in lab.draw.along("n", 60, 60_000, 7)]

    def least(p: Any) -> float:
        run, turn = turning(lab, p)
        s = {c: float(values_along(run, node, [turn])[0]) for c, node in class_sums(run.system).items()}
        return p["n"] * min(s[3] + s[4], s[1] - s[4])

    seen = measure("the smaller of both sums", points, least).order("n", 0, "Omega")
    return {
        "Omega(1)": (seen & as_regression(lab, points[0], 10.0)).adding(why_measured=SUMS_TRIED),
        "second Theta": sums_without_n(lab, 0.1),
    }
