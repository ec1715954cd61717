"""Lemmas 5.2-5.4 and appendix D: stage 1 is solved in closed form."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from odesys import (
    EquationError,
    Node,
    Verdict,
    enumerate_all,
    equal,
    find_logistic_drive,
    from_sympy,
    graph,
    identity,
    proved,
    refuted,
    sym,
    to_sympy,
)

from ..laboratory import Laboratory
from ..special.closed_forms import StageOne, stage_one_of
from .book import CONFLICTING, CONSISTENT, SIGNS, all_units_on, book, name, zero_scores

EIGHTH = sp.Rational(1, 8)


def _uniform(lab: Laboratory, off: tuple[Node, ...] = ()) -> dict[str, Node]:
    """Neuron equations and margins of stage 1 at uniform attention with the units in `off` inactive."""
    system = lab.reduced("stage1").system
    nodes = {n: system.equations[n] for n in system.on_path("w")}
    for sample in (*CONSISTENT, *CONFLICTING):
        nodes[name(*sample)] = lab.observable("margin", *sample, quotient=True)
    return all_units_on(zero_scores(nodes), off)


def _g(margin: Node) -> Node:
    """g = 1 / (1 + exp(y f))."""
    return graph.call("sigmoid", -margin)


def _stages(lab: Laboratory) -> StageOne:
    return stage_one_of(lab.reduced("stage1").system)


@book.claim(
    "D.1",
    "Classification neurons grow first",
    kind="identity",
    uses=["C.3", "C.4", "C.5", "B.2"],
    statement=r"\dot n^\pm_{v_k}=\pm\tfrac18\sum_{k',s}g(X_{k',s,s})\quad(t\le T_{0.5})",
    reading="at uniform attention with all units active, as expressions in (n_c, n_v, b); the - head by C.4",
)
def neurons_grow(lab: Laboratory) -> Verdict:
    """The derived equation of n_v against the printed sum over the four consistent samples."""
    nodes = _uniform(lab)
    printed = from_sympy(EIGHTH) * graph.add(_g(nodes[name(*sample)]) for sample in CONSISTENT)
    return equal({"n_v": (nodes["n_v"], printed)})


@book.claim(
    "D.2",
    "Group neurons wait",
    kind="identity",
    uses=["C.3", "C.5", "B.2"],
    statement=r"\dot n^\pm_{c_k}=0\quad(t\le T_{0.5})",
    reading="at uniform attention with all units active the derived equation of n_c is zero",
)
def group_neurons_wait(lab: Laboratory) -> Verdict:
    """The derived equation of n_c vanishes."""
    return identity({"n_c": _uniform(lab)["n_c"]})


@book.claim(
    "5.2",
    "First phase of stage 1",
    kind="identity",
    uses=["D.1", "D.2"],
    same_as="D.1",
    statement=r"\dot n^\pm_{v_k}=\pm\tfrac18\sum g(X_{k',s,s}),\quad \dot n^\pm_{c_k}=0",
    reading="D.1 and D.2 together",
)
def first_phase(lab: Laboratory) -> Verdict:
    """Both lemmas."""
    return neurons_grow(lab) & group_neurons_wait(lab)


@book.claim(
    "D.3",
    "A unit switches off",
    kind="existence",
    uses=["D.1", "D.2"],
    statement=r"\exists\,T_{0.5}=\Theta(1):\ H_s(X_{k,-s,-s})=-b",
    reading="the switching time is computed from the derived equations and equals (2b + e^{2b} - 1)/2 for every b > 0; "
    "n_c = 0 and n_v = b/2 there",
)
def unit_switches_off(lab: Laboratory) -> Verdict:
    """Closed form of the switching time."""
    stages, b = _stages(lab), sp.Symbol("b", real=True)
    time = stages.switch_time()
    values = stages.at_switch()
    expected = (2 * b + sp.exp(2 * b) - 1) / 2
    unit = zero_scores({"H": lab.observable("H", 1, -1, -1, +1, quotient=True) + sym("b")})["H"]
    verdict = equal(
        {
            "T_0.5": (from_sympy(time), from_sympy(expected)),
            "n_v": (from_sympy(values["n_v"]), from_sympy(b / 2)),
            "n_c": (from_sympy(values["n_c"]), from_sympy(sp.Integer(0))),
            "the unit": (stages.surface, unit),
        }
    )
    return verdict.with_constants(T_half=str(time), T_half_at_b_one_half=str(sp.N(time.subs(b, sp.Rational(1, 2)), 12)))


@book.claim(
    "D.4",
    "Classification neurons after the switch",
    kind="identity",
    uses=["B.2", "C.4", "D.3"],
    statement=r"\dot n^+_{v_k}=\tfrac18\sum_{k'}g(X_{k',+,+}),\quad \dot n^-_{v_k}=-\tfrac18\sum_{k'}g(X_{k',-,-})",
    reading="with the unit of X_{k,-,-} in the + head off (and its mirror image); the - head by C.4",
)
def after_the_switch(lab: Laboratory) -> Verdict:
    """The derived equation of n_v with one unit off against the printed sum."""
    nodes = _uniform(lab, (_stages(lab).surface,))
    printed = from_sympy(EIGHTH) * graph.add(_g(nodes[name(k, 1, 1)]) for k in (1, 2))
    return equal({"n_v": (nodes["n_v"], printed)})


@book.claim(
    "D.5",
    "Group neurons after the switch",
    kind="identity",
    uses=["B.2", "C.4", "D.3"],
    statement=r"\dot n^+_{c_k}=\tfrac18 g(X_{k,+,+}),\quad \dot n^-_{c_k}=\tfrac18 g(X_{k,-,-})",
    reading="with the unit of X_{k,-,-} in the + head off (and its mirror image); the - head by C.4",
)
def group_neurons_move(lab: Laboratory) -> Verdict:
    """The derived equation of n_c with one unit off against the printed term."""
    nodes = _uniform(lab, (_stages(lab).surface,))
    return equal({"n_c": (nodes["n_c"], from_sympy(EIGHTH) * _g(nodes[name(1, 1, 1)]))})


@book.claim(
    "5.3",
    "Second phase of stage 1",
    kind="identity",
    uses=["D.5"],
    same_as="D.5",
    statement=r"H_+(X_{k,-,-})<-b\Rightarrow\dot n^+_{c_k}=\tfrac18g(X_{k,+,+})",
    reading="as D.5",
)
def second_phase(lab: Laboratory) -> Verdict:
    """The same equation."""
    return group_neurons_move(lab)


@book.claim(
    "D.6",
    "The pattern persists",
    kind="inequality",
    uses=["D.4", "D.5"],
    statement=r"\dot\sigma_s(X_{k,-s,-s})=0\ \text{and all other units active on}\ [T_{0.5},T_1]",
    reading="after the switch the surface of the unit that is off keeps falling; all others are positive at T_0.5 (b = 1/2) and "
    "rise or stay: their rates in units of g are exact numbers with these signs, for all times",
)
def pattern_persists(lab: Laboratory) -> Verdict:
    """Signs of the rates of all switching surfaces after T_0.5."""
    stages = _stages(lab)
    system = lab.reduced("stage1").system
    moving = {n: system.equations[n] for n in system.on_path("w")}
    surfaces = graph.surfaces(zero_scores(moving).values())
    rates = {repr(s): stages.second.slope(s) for s in surfaces}
    at_switch = {sp.Symbol(k, real=True): v for k, v in stages.at_switch().items()} | {
        sp.Symbol("b", real=True): EIGHTH * 4
    }

    def persists(surface: Node) -> bool:
        rate = stages.second.slope(surface)
        if surface is stages.surface:
            return rate < 0
        return rate >= 0 and bool(to_sympy(surface).subs(at_switch).subs(sp.Symbol("b", real=True), EIGHTH * 4) > 0)

    verdict = enumerate_all(surfaces, persists, "surfaces")
    return verdict.with_constants(rates={k: str(v) for k, v in rates.items()})


@book.claim(
    "D.7",
    "Neurons at the end of stage 1",
    kind="order",
    uses=["D.3", "D.4", "D.5"],
    statement=r"n_{v_k}(T_1),\,n_{c_k}(T_1)=\Theta(1)",
    reading="both grow strictly after T_0.5 (positive exact rates), so for every T1 > T_0.5 they are positive numbers "
    "given by F + e^F = 2b + e^{2b} + 5/8 (T1 - T_0.5); the - head has -n_v",
)
def neurons_at_the_end(lab: Laboratory) -> Verdict:
    """Positive rates, and the closed form solves the derived equations."""
    stages = _stages(lab)
    if not all(rate > 0 for rate in stages.second.rates.values()) or set(stages.second.rates) != {"n_c", "n_v"}:
        return refuted({"rates": {k: str(v) for k, v in stages.second.rates.items()}})
    form = stages.second.form_at(stages.at_switch())
    b = sp.Symbol("b", real=True)
    # F' = speed g(F) integrates to F + e^F = F_0 + e^F_0 + speed (t - T_0.5): the start and the speed are what can be wrong
    speed = sp.Rational(*stages.second.speed.as_integer_ratio())
    verdict = equal(
        {"start": (from_sympy(form), from_sympy(2 * b)), "speed": (from_sympy(speed), from_sympy(sp.Rational(5, 8)))}
    )
    values = stages.neurons(20.0, 0.5)
    return verdict.with_constants(n_v_at_20=values["n_v"], n_c_at_20=values["n_c"], speed=str(stages.second.speed))


@book.claim(
    "D.8",
    "Margins at the end of stage 1",
    kind="identity",
    uses=["D.6", "D.7"],
    statement=r"f(X_{k,s,s})=s\,\Omega(1),\quad f(X_{k,s,-s})=0\ \text{at}\ T_1",
    reading="at uniform attention with the pattern of D.6: y f = n_c + 2 n_v + b on consistent samples, which is positive, "
    "and exactly 0 on conflicting ones",
)
def margins_at_the_end(lab: Laboratory) -> Verdict:
    """Margins as expressions."""
    nodes = _uniform(lab, (_stages(lab).surface,))
    form = sym("n_c") + 2 * sym("n_v") + sym("b")
    pairs = {name(*s): (nodes[name(*s)], form) for s in CONSISTENT}
    return equal(pairs | {name(*s): (nodes[name(*s)], graph.ZERO) for s in CONFLICTING})


@book.claim(
    "5.4",
    "Uniform attention can not separate",
    kind="existence",
    uses=["Eq.1"],
    statement=r"\text{no } w_\pm \text{ gives } y f>0 \text{ on the four conflicting samples}",
    reading="at uniform attention sum_i y_i (H_+ - H_-)(X_i) = 0 over the conflicting samples for all w; since a monotone "
    "activation makes y f > 0 imply y (H_+ - H_-) > 0, the four can not all be positive, for every monotone "
    "activation and every b",
)
def not_separable(lab: Laboratory) -> Verdict:
    """The signed sum of head differences over conflicting samples vanishes identically."""
    terms = []
    for sample in CONFLICTING:
        label = lab.label(*sample)
        plus, minus = (lab.observable("H", *sample, sign) for sign in SIGNS)
        terms.append(label * (plus - minus))
    total = zero_scores({"sum": graph.add(terms)})
    return identity(total)


@book.claim(
    "Beyond.T_half",
    "Both phases are one logistic drive",
    kind="identity",
    uses=["D.1", "D.5"],
    origin="ours",
    statement=r"\dot n=r\,g(F),\ F\ \text{linear},\ r=(0,\tfrac12)\ \text{then}\ (\tfrac18,\tfrac14)",
    reading="in each phase the neuron equations are constant multiples of one logistic factor of a linear form, with these rates of "
    "(n_c, n_v)",
)
def logistic_drives(lab: Laboratory) -> Verdict:
    """Both phases are recognised, with their exact rates."""
    try:
        first = find_logistic_drive({n: _uniform(lab)[n] for n in lab.reduced("stage1").system.on_path("w")})
        second = _stages(lab).second
    except EquationError as error:
        return refuted({"equations": str(error)})
    if first.rates != {"n_v": Fraction(1, 2)} or second.rates != {"n_c": Fraction(1, 8), "n_v": Fraction(1, 4)}:
        return refuted({"first": str(first.rates), "second": str(second.rates)})
    return proved(
        first={k: str(v) for k, v in first.rates.items()}, second={k: str(v) for k, v in second.rates.items()}
    )
