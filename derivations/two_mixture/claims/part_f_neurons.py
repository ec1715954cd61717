"""Lemmas F.1 and F.2: the neuron equations of stage 3 for every activation pattern, exactly, and their orders."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from odesys import (
    ONE,
    ZERO,
    Evidence,
    Node,
    Verdict,
    Witness,
    always_positive,
    combine_verdicts,
    equal,
    graph,
    measured,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from ..special.trajectories import BIAS, GRID, stage_three
from .book import SIGNS, attention, book, name, tokens
from .common_stage_three import RANGES, Point, along, at_T2, over_omega
from .common_stage_two import STAGE_3
from .part_e_trajectories import attention_at

CLASSES = tuple((s, r) for s in SIGNS for r in SIGNS)  # X_{k,s,s'} up to the group
PATTERNS: dict[str, frozenset[tuple[int, int]]] = {"all units on": frozenset(), "X_{k,-,-} off": frozenset({(-1, -1)})}
SLIDES = "slides along X_{k,-,-}"
DURATION, POINTS = 1e6, 160  # the loss is below 1e-5 then
RUNS = [{"omega": omega, "T1": T1, "b": BIAS, "x_star": 1.0} for omega, T1 in GRID]
ELSEWHERE = {"omega": (1e-3, 1e-1), **{name: RANGES[name] for name in ("T1", "b", "x_star")}}


# ---- the equations, exactly ----------------------------------------------------------------------------------------


def _unit(lab: Laboratory, s: int, r: int) -> Node:
    """H_+(X_{1,s,s'}) + b in the reduced variables."""
    return lab.observable("H", 1, s, r, +1, quotient=True) + sym("b")


def gates(lab: Laboratory, off: frozenset[tuple[int, int]]) -> dict[Node, Node]:
    """The gates of a pattern: the units of these classes off, all others on (both groups and both heads by symmetry)."""
    found: dict[Node, Node] = {}
    for s, r in CLASSES:
        unit, on = _unit(lab, s, r), ZERO if (s, r) in off else ONE
        found |= {graph.step(unit): on, graph.step(-unit): ONE - on}
    return found


def column(lab: Laboratory, sample: tuple[int, int, int], word: str) -> Node:
    """Sum over the queries of the weight of a word as a key, in the + head."""
    place = [w for w, _ in tokens(*sample)].index(word)
    return graph.add(row[place] for row in attention(lab, sample, +1, lifted=True))


def printed_coefficients(lab: Laboratory, gate: Node) -> dict[str, Node]:
    """The brackets of g_+ and g_- in the displays of F.1 and F.2; `gate` is that of X_{k,-,-}, the only one printed."""
    v, c = (lambda k, s, r: column(lab, (k, s, r), "v1")), (lambda s, r: column(lab, (1, s, r), "c1"))
    return {
        "v, consistent": v(1, 1, 1) + gate * v(1, -1, -1) + v(2, 1, 1) + gate * v(2, -1, -1),
        "v, conflicting": v(1, 1, -1) + v(1, -1, 1) - v(2, 1, -1) - v(2, -1, 1),
        "c, consistent": c(1, 1) - gate * c(-1, -1),
        "c, conflicting": c(1, -1) - c(-1, 1),
    }


def equation(lab: Laboratory, neuron: str) -> Verdict:
    """The derived equation of a neuron against (bracket g_+ + bracket g_-)/8, for every pattern."""
    system = lab.reduced("stage3").system
    rate = system.equations[f"n_{neuron}"]
    pairs = {}
    for text, off in PATTERNS.items():
        on = gates(lab, off)
        margins = [lab.observable("margin", 1, 1, r, quotient=True) for r in SIGNS]
        derived, plus, minus = graph.substitute([rate, *margins], on)
        g = {"consistent": graph.call("sigmoid", -plus), "conflicting": graph.call("sigmoid", -minus)}
        brackets = printed_coefficients(lab, ZERO if (-1, -1) in off else ONE)
        pairs[text] = (derived, graph.add(g[kind] * brackets[f"{neuron}, {kind}"] for kind in g) / 8)
    return equal(pairs)


def meets_on_the_surface(lab: Laboratory) -> Verdict:
    """Where the unit of X_{k,-,-} is at its kink both patterns have the same g, and the brackets are affine in its gate.

    Sliding along the kink is then the same equation with a gate between 0 and 1, and bounds of both ends hold for it.
    """
    unit, gate = _unit(lab, -1, -1), sym("gate")
    pairs: dict[str, tuple[Node, Node]] = {}
    for r, jump in ((1, unit), (-1, ZERO)):
        margin = lab.observable("margin", 1, 1, r, quotient=True)
        off, on = (
            graph.substitute([margin], gates(lab, PATTERNS[text]))[0] for text in ("X_{k,-,-} off", "all units on")
        )
        pairs[f"margin of {name(1, 1, r)}"] = (off - on, jump)
    between, ends = printed_coefficients(lab, gate), [printed_coefficients(lab, end) for end in (ZERO, ONE)]
    for key, node in between.items():
        pairs[f"bracket {key}"] = (node, (1 - gate) * ends[0][key] + gate * ends[1][key])
    return equal(pairs)


def bounded_bracket(lab: Laboratory) -> Verdict:
    """The bracket of g_+ in the equation of n_v lies in (0, 3) with the unit off and in (0, 6) with it on."""
    found: dict[str, Node] = {}
    for gate, most in ((ZERO, 3), (ONE, 6)):
        bracket = printed_coefficients(lab, gate)["v, consistent"]
        found |= {f"0 < bracket, at most {most}": bracket, f"bracket < {most}": most - bracket}
    return always_positive(found)


def classification_queries_cancel(lab: Laboratory) -> Verdict:
    """On the exact subspace of stage 2 only the query c_1 is left in the bracket of g_- in the equation of n_v."""
    bracket = printed_coefficients(lab, ONE)["v, conflicting"]
    rows = [attention(lab, (1, s, -s), +1, lifted=True)[0] for s in SIGNS]
    left = graph.add(row[1] - row[2] for row in rows)
    onto = {sym(f"{kind}_other"): -sym(f"{kind}_same") for kind in ("M_cv", "M_vv")}
    return equal({"bracket": (bracket, left)}, given=onto)


def positive_while_off(lab: Laboratory) -> Verdict:
    """With the unit of X_{k,-,-} off the bracket of g_+ in the equation of n_c is positive: it only helps."""
    return always_positive({"bracket": printed_coefficients(lab, ZERO)["c, consistent"]})


# ---- along trajectories --------------------------------------------------------------------------------------------


def _pattern(places: Mapping[tuple[int, int], str], values: Mapping[str, float], b: float) -> str:
    """The name of a pattern, or the samples whose units are off."""
    off = frozenset(place for place, unit in places.items() if values[unit] + b <= 0)
    return next(
        (text for text, known in PATTERNS.items() if known == off), ", ".join(name(1, s, r) for s, r in sorted(off))
    )


def _patterns_of(lab: Laboratory, p: Point) -> list[str]:
    """Which units of the + head are off along stage 3, on a grid of times after T2."""
    compiled = lab.reduced("stage3").system.compile(b=p["b"])
    places = {(s, r): f"H_{lab.head_name(+1)}_{lab.sample(1, s, r) + 1}" for s, r in CLASSES}
    run = stage_three(lab, p["omega"], p["T1"], p["x_star"], DURATION, p["b"])
    begin, order = run.times[0], list[str]()
    slides = [(e.name, e.time, e.detail.get("end") or run.end_time) for e in run.events if e.kind == "slide"]
    for t in begin + np.concatenate([[0.0], np.geomspace(1e-3, run.end_time - begin, POINTS)]):
        when = min(t, run.end_time)
        unit = next((unit for unit, start, stop in slides if start <= t <= stop), "")
        if unit:
            text = SLIDES if unit == places[-1, -1] else f"slides along {unit}"
        else:
            text = _pattern(places, compiled.observables(0.0, run.at(when)), p["b"])
        order += [] if order and order[-1] == text else [text]
    return order


def patterns_along(lab: Laboratory) -> Verdict:
    """Along stage 3 only the patterns above occur, or a slide between them."""
    points = lab.draw.points("patterns of stage 3", RUNS, ELSEWHERE, STAGE_3)
    seen = [(p, _patterns_of(lab, p)) for p in points]
    strange = [(p, order) for p, order in seen if not set(order) <= {*PATTERNS, SLIDES}]
    details = {f"omega={p['omega']:g}, T1={p['T1']:g}": order for p, order in seen}
    if strange:
        p, order = strange[0]
        sentence = (
            f"at omega = {p['omega']:.4g}, T1 = {p['T1']:.4g} the units that are off in stage 3 are: {', '.join(order)}"
        )
        found = refuted(Witness(sentence, p), Evidence.MEASUREMENT, patterns=details)
    else:
        found = measured(True, patterns=details, duration=DURATION)
    return found.at(*points).within(0, f"signs of H + b at {POINTS} times, evenly in the logarithm of t - T2")


def brackets_at(state: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The four brackets for every pattern at a state in floats; attention does not move in stage 3."""
    p = {(s, r): attention_at(dict(state), s, r) for s, r in CLASSES}
    found = {}
    for text, off in PATTERNS.items():
        on = {place: float(place not in off) for place in CLASSES}
        found[text] = {
            "v, consistent": float(sum(on[s, s] * p[s, s][:, 1:].sum() for s in SIGNS)),
            "v, conflicting": float(sum((p[s, -s][:, 1] - p[s, -s][:, 2]).sum() for s in SIGNS)),
            "c, consistent": float(p[1, 1][:, 0].sum() - on[-1, -1] * p[-1, -1][:, 0].sum()),
            "c, conflicting": float(p[1, -1][:, 0].sum() - p[-1, 1][:, 0].sum()),
        }
    return found


def bracket_order(lab: Laboratory, key: str, claimed: int, kind: str) -> Verdict:
    """The order of a bracket in omega in both patterns, at T2: attention does not move in stage 3."""
    orders = {}
    for text in PATTERNS:
        size = lambda state, p, text=text: abs(brackets_at(state)[text][key])  # noqa: E731
        orders[text] = along(lab, f"the bracket ({key}), {text},", over_omega(lab), at_T2, size).order(
            "omega", claimed, kind, "zero"
        )
    first, second = orders.values()
    return first & second


def small_while_on(lab: Laboratory) -> Verdict:
    """With all units on the bracket of g_+ in the equation of n_c is O~(omega)."""
    size = lambda state, p: abs(brackets_at(state)["all units on"]["c, consistent"])  # noqa: E731
    return along(lab, "the bracket of g_+, all units on,", over_omega(lab), at_T2, size).order("omega", 1, "O", "zero")


@book.claim(
    "F.1",
    "Classification neurons in stage 3",
    kind="order",
    uses=["B.2", "C.2", "C.4", "E.7"],
    where="Lemma F.1",
    parts=("the rate of w_+ v_k",),
    hypotheses=STAGE_3,
    statement=r"t\in[T_2,T_3],\ k\in[2]:\ \frac{d w_+^{(t)\top}v_k}{dt}=\Theta(g_+^{(t)})+\widetilde O(\omega g_-^{(t)})",
    reading="The rate is (r_+ g_+ + r_- g_-)/8 exactly, for each pattern of units that occurs; r_+ is Theta(1) and r_- is O~(omega).",
)
def classification_neurons(lab: Laboratory) -> Verdict:
    """Equation, exact bounds, patterns and orders."""
    return combine_verdicts(
        {
            "equation": equation(lab, "v"),
            "sliding": meets_on_the_surface(lab),
            "0 < r_+ < 6": bounded_bracket(lab),
            "v-queries cancel": classification_queries_cancel(lab),
            "patterns": patterns_along(lab),
            "r_+": bracket_order(lab, "v, consistent", 0, "Theta"),
            "orders": bracket_order(lab, "v, conflicting", 1, "O"),
        }
    )


@book.claim(
    "F.2",
    "Group neurons in stage 3",
    kind="order",
    uses=["B.2", "C.2", "C.4", "E.7"],
    where="Lemma F.2",
    parts=("the rate of w_+ c_k",),
    hypotheses=STAGE_3,
    statement=r"t\in[T_2,T_3],\ k\in[2]:\ \frac{d w_+^{(t)\top}c_k}{dt}\ge\Omega(g_-^{(t)})+\widetilde O(\omega g_+^{(t)})",
    reading="The rate is (Q g_- + q g_+)/8 exactly, for each pattern that occurs; Q is Omega(1), and q positive or O~(omega).",
)
def group_neurons(lab: Laboratory) -> Verdict:
    """Equation, exact sign, patterns and orders; Q is positive, so that its size is Q."""
    sign = lambda state, p: brackets_at(state)["all units on"]["c, conflicting"]  # noqa: E731
    positive = along(lab, "Q", over_omega(lab), at_T2, sign).between(1e-6, 3, "positive beyond the error of the solver")
    return combine_verdicts(
        {
            "equation": equation(lab, "c"),
            "sliding": meets_on_the_surface(lab),
            "q > 0 while off": positive_while_off(lab),
            "patterns": patterns_along(lab),
            "Q > 0": positive,
            "q": small_while_on(lab),
            "orders": bracket_order(lab, "c, conflicting", 0, "Omega"),
        }
    )
