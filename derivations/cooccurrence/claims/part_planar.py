"""The planar limit: crossing times certified, the trapping region of R, and the exact constants of balancing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import sympy as sp

from odesys import (
    Evidence,
    Verdict,
    certified,
    combine_verdicts,
    decided,
    equal,
    fit_power_law,
    from_sympy,
    graph,
    identity,
    integrate,
    measured,
    refuted,
    rounded,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from ..special.balancing import balance_correction, hard_margin
from ..special.enclosed import (
    G_BAR,
    HALF,
    HIGH,
    KAPPA,
    LAST,
    LOW,
    PEAK,
    RIGHT,
    TURN,
    at_end,
    planar,
    trapping,
    write_crossings,
    write_trapping,
)
from ..special.trajectories import class_sums, planar_run, values_along
from .book import book

LIMIT = "n -> infinity and epsilon -> 0: the planar flow from zero, tau = beta t"


def crossing_inside(found: tuple[Fraction, Fraction] | None, ends_printed: tuple[Fraction, ...]) -> Verdict:
    """A certified crossing time lies between two decimal numbers."""
    if found is None:
        return refuted({"crossing": "none"}, Evidence.CERTIFICATE)
    ends = {"low": f"{float(found[0]):.10f}", "high": f"{float(found[1]):.10f}"}
    inside = ends_printed[0] <= found[0] and found[1] <= ends_printed[1]
    return decided(inside, ends, Evidence.CERTIFICATE, **ends)


@book.claim(
    "Beyond.planar",
    "The universal planar flow",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.level1"],
    statement=r"x'=\tfrac12g(2x-z)-\tfrac16g(z-x),\quad z'=\tfrac13g(z-x)+\tfrac16g(z)-\tfrac12g(2x-z)",
    reading="The limits eps2, eps3, eps4 to 0, then n to infinity, taken by program at L = 4; level 3 at every n too.",
)
def planar_system(lab: Laboratory) -> Verdict:
    """Both limits against the typed equations."""
    return typed_limits(lab, 4)


@book.claim(
    "Beyond.planar/5",
    "The universal planar flow, longer samples",
    kind="identity",
    origin="ours",
    level="full",
    hypotheses=(),
    uses=["Beyond.planar"],
    statement=r"x'=\tfrac12g(2x-z)-\tfrac16g(z-x),\quad z'=\tfrac13g(z-x)+\tfrac16g(z)-\tfrac12g(2x-z)",
    reading="The same at L = 5.",
)
def planar_system_longer(lab: Laboratory) -> Verdict:
    """Both limits against the typed equations."""
    return typed_limits(lab, 5)


def typed_limits(lab: Laboratory, L: int) -> Verdict:
    """Levels 3 and 4 at one length against the typed equations."""
    x, z, n = sym("x"), sym("z"), sym("n")

    def g(node: graph.Node) -> graph.Node:
        return graph.call("sigmoid", -node)

    pairs: dict[str, tuple[graph.Node, graph.Node]] = {}
    system = lab.planar(L)
    printed = {"x": g(2 * x - z) / 2 - g(z - x) / 6, "z": g(z - x) / 3 + g(z) / 6 - g(2 * x - z) / 2}
    pairs |= {f"{name}, L={L}": (node, printed[name]) for name, node in system.equations.items()}
    every = lab.every_n(L)
    words = {name: sym(name) for name in every.names}
    first = g(2 * words["G_1"] + words["G_3"] + (L - 3) * words["G_r1"])
    second = g(-words["G_1"] - words["G_3"] - (L - 2) * words["G_r2"])
    fourth = g(-words["G_3"] - (L - 1) * words["G_r4"])
    printed = {
        "G_1": first / 2 - second / 6,
        "G_3": first / 2 - second / 3 - fourth / 6,
        "G_r1": first / n,
        "G_r2": -second / n,
        "G_r4": -fourth / n,
    }
    pairs |= {f"{name}, all n": (node, printed[name]) for name, node in every.equations.items()}
    return equal(pairs, positive=("n",))


@book.claim(
    "Beyond.turn",
    "One-target losses turn",
    kind="existence",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.planar"],
    statement=r"R=1\ \text{first at}\ \tau\in[3.56472,\,3.56473]",
    reading="On the planar limit from zero: R is below 1 before and above 1 after, up to tau = 100.",
)
def turn(lab: Laboratory) -> Verdict:
    """Crossing of z' = x', excluded before, positive after."""
    p = planar(lab)
    node = p.above(Fraction(1))
    before = p.early.certify(-node)
    found = p.late.crossing(node)
    return combine_verdicts({"before": before, "time": crossing_inside(found, TURN)})


@book.claim(
    "Beyond.trapped",
    "R stays between 1.2 and 1.54 for ever",
    kind="inequality",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.turn"],
    statement=r"R(\tau)\in[1.2,\,1.54]\ \text{for all}\ \tau\ge4.8855",
    reading="On the planar limit: an enclosure up to tau = 100, then a set whose boundary the flow crosses only inwards.",
)
def trapped(lab: Laboratory) -> Verdict:
    """Compact part by enclosure, the rest by the trapping region."""
    p = planar(lab)
    found = p.late.crossing(p.above(LOW))
    if found is None:
        return refuted({"R = 1.2": "never reached"}, Evidence.CERTIFICATE)
    peak = p.late.certify(-p.above(PEAK))
    passed = p.late.certify(-p.above(Fraction(15306, 10000)))
    g = {c: graph.call("sigmoid", -p.system.observables[f"margin_I{c}"]) for c in (1, 2, 4)}
    end = at_end(p.late, {"kappa": g[4] / g[2], "g2": g[2], "R": p.rates["z"] / p.rates["x"]})
    arrived = bool(end["kappa"] <= 0.05 and end["g2"] <= 0.24 and end["R"] > 1.2 and end["R"] < 1.54)
    parts = {
        "T_0.5": crossing_inside(found, HALF),
        "peak": peak,
        "stays above": _stays_above(lab, LOW, found[1]),
        "arrives": certified()
        if arrived
        else undecided(f"R = {end['R']}, kappa = {end['kappa']}", Evidence.CERTIFICATE),
        "never left": trapping(p.system, LOW, HIGH, KAPPA, G_BAR),
    }
    return combine_verdicts(parts).with_constants(
        peak_between="1.5306 and 1.5307" if passed.as_stated == "fails" else "below 1.5306",
        largest_C=float(1 - PEAK / 2),
    )


def _stays_above(lab: Laboratory, level: Fraction, since: Fraction) -> Verdict:
    """R is above `level` on every later step of the enclosure; on the step of the crossing it grows, so it is crossed once."""
    p = planar(lab)
    node = p.above(level)
    steps = [step for step in p.late.steps if step.t > since]
    rest = replace(p.late, steps=tuple(steps)).certify(node)
    growing = replace(p.late, steps=tuple(s for s in p.late.steps if s.t <= since < s.t + s.h)).certify(p.lie(node))
    return combine_verdicts({"grows": growing, "later": rest}).adding(
        since=str(float(steps[0].t)), until=str(float(LAST))
    )


@book.claim(
    "Beyond.classified",
    "All samples right",
    kind="existence",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.planar", "Beyond.trapped"],
    statement=r"\min_iy_iF_i>0\ \text{from}\ \tau\in[12.97941,\,12.97942]\ \text{on}",
    reading="On the planar limit: the one-target margin changes its sign once, the others are positive, and the trapping set keeps them so.",
)
def classified(lab: Laboratory) -> Verdict:
    """Signs of the three margins along the enclosures."""
    p = planar(lab)
    seen = p.system.observables
    parts = {
        "before": p.early.certify(-seen["margin_I2"]),
        "time": crossing_inside(p.late.crossing(seen["margin_I2"]), RIGHT),
    }
    for c in (1, 4):
        parts |= {
            f"I{c}, early": p.early.certify(seen[f"margin_I{c}"]),
            f"I{c}, late": p.late.certify(seen[f"margin_I{c}"]),
        }
    return combine_verdicts({**parts, "for ever": trapped(lab)})


@book.claim(
    "Beyond.growing",
    "R keeps growing where it passes 1, certified",
    kind="order",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.turn"],
    statement=r"\tfrac1n\partial_\tau\big(2S_1-2S_2-S_3-S_4\big)\in[-\tfrac1{10},-\tfrac1{200}]\ \text{on}\ \tau\in[1,5]",
    reading="On the planar limit: Equation (8) with its 1/n, around the crossing of Beyond.turn.",
)
def keeps_growing(lab: Laboratory) -> Verdict:
    """The derivative of the combination along the flow, bounded on both sides."""
    p = planar(lab)
    s = class_sums(p.system)
    rate = p.lie(2 * s[1] - 2 * s[2] - s[3] - s[4])
    lower, upper = Fraction(-1, 10), Fraction(-1, 200)
    turn = crossing_inside(p.late.crossing(p.above(Fraction(1))), TURN)
    return combine_verdicts(
        {
            "where": turn,
            "below": p.late.certify(upper - rate, until=Fraction(5)),
            "above": p.late.certify(rate - lower, until=Fraction(5)),
        }
    )


@book.claim(
    "Beyond.svm",
    "Balancing is the hard margin",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.planar"],
    statement=r"G\sim(2,2,-3)\ln\tau,\ S_1:S_2:S_3:S_4\to7:5:5:0,\ R\to\tfrac32,\ \hat{\mathcal L}\tau\to17,\ R=\tfrac32+\tfrac{70}{17\tau}+\dots",
    reading="Late-time conditions of a separable logistic flow, solved exactly on the derived planar equations.",
)
def hard_margin_constants(lab: Laboratory) -> Verdict:
    """Exact rational numbers from the equations."""
    found = hard_margin(lab.planar())
    theta1, R1 = balance_correction(lab.planar())
    seen = {
        "direction": [str(found.direction["x"]), str(found.direction["z"])],
        "class sums": [str(found.class_sums[c]) for c in (1, 2, 4)],
        "R": str(found.R),
        "loss tau": str(found.loss_times_tau),
        "theta1": str(theta1),
        "R1": str(R1),
    }
    printed = {
        "direction": ["2", "3"],
        "class sums": ["7", "5", "0"],
        "R": "3/2",
        "loss tau": "17",
        "theta1": "-56/255",
        "R1": "70/17",
    }
    step = "a_c and w solved exactly from w = K a, phi_c w = 1, with K and phi read off the derived equations"
    return (
        decided(seen == printed, seen, **seen)
        .arguing("late-time limits are not exported")
        .proving(step)
        .with_constants(loss_times_tau=str(found.loss_times_tau), R=str(found.R), R1=str(R1))
    )


@book.claim(
    "Beyond.svm-run",
    "The planar flow reaches the hard-margin constants",
    kind="order",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.svm"],
    statement=r"\hat{\mathcal L}\tau,\ R,\ S_1/S_2,\ (R-\tfrac32)\tau\to17,\ \tfrac32,\ \tfrac75,\ \tfrac{70}{17}",
    reading="The planar run to tau = 10^7 against the numbers of Beyond.svm.",
)
def reaches_hard_margin(lab: Laboratory) -> Verdict:
    """The run against the exact constants."""
    run = planar_run(lab)
    rhs = run.system.equations
    R = values_along(run, rhs["z"] / rhs["x"], [1e5, 1e6])
    loss = values_along(run, run.system.observables["loss"], [1e7])[0] * 1e7
    system = lab.large_n()
    start = {"G_1": 0.3, "G_2": -0.3, "G_3": 0.1}
    free = integrate(system, [start[n] for n in system.names], (0.0, 6000.0), rtol=1e-12, atol=1e-15, method="LSODA")
    taus = np.geomspace(200, 5000, 20)
    gap = np.abs(values_along(free, sym("G_1") - sym("G_2"), taus))
    slope = fit_power_law(taus.tolist(), gap.tolist()).value
    s = class_sums(run.system)
    seen = {
        "loss tau": loss,
        "R": R[0],
        "R1": (R[1] - 3 / 2) * 1e6,
        "S1/S2": values_along(run, s[1] / s[2], [1e5])[0],
        "slope": slope,
    }
    fine = (
        abs(loss - 17) < 1e-3
        and abs(R[0] - 3 / 2) < 1e-4
        and abs(seen["R1"] - 70 / 17) < 0.01
        and abs(seen["S1/S2"] - 7 / 5) < 1e-4
        and -5.1 < slope < -4.6
    )
    because = "the next orders are 1/tau, and ln(tau)/tau for the loss, at tau = 10^5 to 10^7"
    return measured(bool(fine), **rounded(seen)).at({"tau": 1e7}).within(1e-2, because)


@book.claim(
    "Beyond.finite_n",
    "Finite n in closed form",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.planar"],
    statement=r"R_\infty=\tfrac{3+2a-b}{2+b-a},\ \lim\hat{\mathcal L}\tau=\tfrac{17+2a+b}{\Delta},\ \tfrac{S_1}{S_2}\to\tfrac{7+b}{5+a},\ a=\tfrac{2(L-3)}n,\ b=\tfrac{6(L-2)}n,\ \Delta=1+3a+3b+ab",
    reading="For L = 4 and n a symbol, I_4 not at the margin: constants of the derived system.",
)
def finite_n(lab: Laboratory) -> Verdict:
    """Rational functions of n, compared exactly."""
    return closed_forms(lab, (4,))


@book.claim(
    "Beyond.finite_n/6",
    "Finite n in closed form, longer samples",
    kind="identity",
    origin="ours",
    level="full",
    hypotheses=(),
    uses=["Beyond.finite_n"],
    statement=r"R_\infty=\tfrac{3+2a-b}{2+b-a},\ \lim\hat{\mathcal L}\tau=\tfrac{17+2a+b}{\Delta},\ \tfrac{S_1}{S_2}\to\tfrac{7+b}{5+a},\ a=\tfrac{2(L-3)}n,\ b=\tfrac{6(L-2)}n,\ \Delta=1+3a+3b+ab",
    reading="The same for L = 5 and 6.",
)
def finite_n_longer(lab: Laboratory) -> Verdict:
    """Rational functions of n, compared exactly."""
    return closed_forms(lab, (5, 6))


def closed_forms(lab: Laboratory, lengths: tuple[int, ...]) -> Verdict:
    """Constants of the derived systems against the closed forms."""
    n = sp.Symbol("n", real=True)
    residuals: dict[str, graph.Node] = {}
    for L in lengths:
        found = hard_margin(lab.every_n(L), (1, 2))
        a, b = sp.Rational(2 * (L - 3)) / n, sp.Rational(6 * (L - 2)) / n
        delta = 1 + 3 * a + 3 * b + a * b
        test = found.test_exponents()
        pairs = {
            "R": (found.R, (3 + 2 * a - b) / (2 + b - a)),
            "loss": (found.loss_times_tau, (17 + 2 * a + b) / delta),
            "S1/S2": (found.class_sums[1] / found.class_sums[2], (7 + b) / (5 + a)),
            "I1": (test[1], (1 - 4 * a + 3 * b) / delta),
            "I2": (test[2], (1 + 3 * a - 2 * b) / delta),
            "R - 1": (found.R - 1, (1 + 3 * a - 2 * b) / (2 + b - a)),
            "I4 margin": (found.margins[4] - 1, (2 - a - 4 * b - a * b) / delta),
        }
        residuals |= {f"{name}, L={L}": from_sympy(sp.together(x - y)) for name, (x, y) in pairs.items()}
    return identity(residuals, positive=("n",)).proving("n is a symbol", n="every", L=", ".join(map(str, lengths)))


@book.claim(
    "Beyond.finite_n-run",
    "Finite n along a run",
    kind="order",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.finite_n"],
    statement=r"(n,L)=(60,4):\ R_\infty=1.3231,\ \hat{\mathcal L}\tau\to10.1172;\ \text{test loss}\sim\tau^{-0.4102}",
    reading="Level 3 at n = 60, L = 4 to tau = 10^9 against the closed forms of Beyond.finite_n.",
)
def finite_n_run(lab: Laboratory) -> Verdict:
    """A long run of level 3 at n = 60 against the closed forms of Beyond.finite_n."""
    n, L = 60, 4
    system = lab.every_n(L)
    a, b = Fraction(2 * (L - 3), n), Fraction(6 * (L - 2), n)
    delta = 1 + 3 * a + 3 * b + a * b
    R_limit, loss_limit = (3 + 2 * a - b) / (2 + b - a), (17 + 2 * a + b) / delta
    test = {1: (1 - 4 * a + 3 * b) / delta, 2: (1 + 3 * a - 2 * b) / delta, 4: (3 + 2 * a - b) / delta}
    run = integrate(system, np.zeros(5), (0.0, 1e9), {"n": n}, rtol=1e-10, atol=1e-13, method="LSODA")
    rhs = system.equations
    R = values_along(run, -rhs["G_3"] / rhs["G_1"], [1e9])[0]
    loss = values_along(run, system.observables["loss"], [1e9])[0] * 1e9
    s, c = sym("G_1"), sym("G_3")
    forms = {1: 2 * s + c, 2: -s - c, 4: -c}
    slopes = {k: float(np.diff(values_along(run, node, [1e7, 1e9]))[0] / np.log(100)) for k, node in forms.items()}
    fine = (
        abs(R - R_limit) < 1e-3
        and abs(loss - loss_limit) < 1e-3
        and all(abs(slopes[k] - test[k]) < 1e-3 for k in forms)
    )
    found = measured(
        bool(fine),
        rounded({"R": R, "loss tau": loss, **slopes}),
        R=float(R),
        loss_tau=float(loss),
        slopes=rounded(slopes),
    )
    placed = found.at({"n": n, "L": L, "tau": 1e9}).within(1e-3, "the next order is tau to a negative power below 1")
    return placed.with_constants(exact_R=str(R_limit), exact_loss_tau=str(loss_limit), exponent_I2=str(test[2]))


@book.certificate("planar_crossings.json", "Beyond.turn", "Beyond.trapped", "Beyond.classified")
def crossings_file(path: Path) -> None:
    """The planar flow on [0, 100] with its crossing times."""
    write_crossings(Laboratory(), path)


@book.certificate("planar_trapping.json", "Beyond.trapped", "Beyond.classified")
def trapping_file(path: Path) -> None:
    """The boundary of the set in which the flow stays after tau = 100."""
    write_trapping(Laboratory(), path)
