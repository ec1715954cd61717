"""Lemmas 5.2-5.4 and appendix D: stage 1 is solved in closed form."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from odesys import (
    HOLDS,
    ZERO,
    EquationError,
    Hypothesis,
    LogisticDrive,
    Node,
    Verdict,
    Witness,
    equal,
    find_logistic_drive,
    from_sympy,
    graph,
    refuted,
    sym,
    to_sympy,
    undecided,
)

from ..laboratory import Laboratory
from ..special.closed_forms import StageOne, stage_one_of
from .book import (
    CONFLICTING,
    CONSISTENT,
    COQ,
    SAMPLES,
    SIGNS,
    WORDS,
    all_units_on,
    book,
    gates_on,
    name,
    scores_at_zero,
    zero_scores,
)
from .common_hypotheses import BIASED

EIGHTH = sp.Rational(1, 8)
BIAS = sp.Symbol("b", real=True)
HEADS = {"+ head": +1, "- head": -1}
HEAD = {+1: "p", -1: "m"}
SYMMETRIC = "on the symmetric states of Lemmas C.2 and C.4, at uniform attention (all scores zero)"
ALL_ON = f"{SYMMETRIC}, with every unit on"
AFTER = "units_off.v"  # what theorems on the second phase share
ONE_OFF = f"{SYMMETRIC}, with the units of X_{{k,-s,-s}} in head s off and all others on"

# at uniform attention H_s(X_{k,r,r'}) is n_c + s (r + r') n_v on symmetric states, which a test compares with the model
UNITS_ON = Hypothesis(
    "all units are on", r"H_\pm^{(t)}(X)>-b\ \forall X", lambda p: p["b"] + p["n_c"] - 2 * abs(p["n_v"]), strict=True
)
UNIT_OFF = Hypothesis(
    "a unit is off", r"H_s^{(t)}(X_{k,-s,-s})<-b\ \forall k", lambda p: 2 * p["n_v"] - p["n_c"] - p["b"], strict=True
)

OTHERS_ON = Hypothesis(
    "conflicting units are on", r"H_s^{(t)}(X_{k,r,-r})>-b", lambda p: p["n_c"] + p["b"], strict=True
)  # then so are those of X_{k,s,s}, since 2 n_v > n_c + b


def inside(*hypotheses: Hypothesis) -> Callable[[Sequence[str], int], Iterator[dict[str, Fraction]]]:
    """Where a witness is looked for: rational n_c, n_v, b at which the hypotheses hold, and whatever else is named."""

    def points(names: Sequence[str], seed: int) -> Iterator[dict[str, Fraction]]:
        rng = random.Random(seed)
        while True:
            found = {name: Fraction(rng.randint(1, 24), 8) for name in sorted({*names, "n_c", "n_v", "b"})}
            if all(hypothesis.holds(found) for hypothesis in hypotheses):
                yield found

    return points


# ---- stage 1 on symmetric states -------------------------------------------------------------------------------------


def _lifted(lab: Laboratory, nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Expressions in all states as expressions in the 22 variables, at uniform attention."""
    onto = {sym(n): lab.symmetric(n) for n in lab.names.layout.names}
    return zero_scores(dict(zip(nodes, graph.substitute(list(nodes.values()), onto), strict=True)))


def _neurons(lab: Laboratory, kind: str) -> dict[tuple[int, int], Node]:
    """The derived equation of w_s . kind_k for both heads s and both groups k, with its gates."""
    equations = lab.flow("stage1").system.equations
    places = {(s, k): str(lab.neuron(s, f"{kind}{k}").args[0]) for s in SIGNS for k in (1, 2)}
    rates = _lifted(lab, {state: equations[state] for state in places.values()})
    return {place: rates[state] for place, state in places.items()}


def _gated_margins(lab: Laboratory) -> dict[tuple[int, int, int], Node]:
    """y f on every sample at uniform attention, with its gates."""
    nodes = _lifted(lab, {name(*sample): lab.observable("margin", *sample) for sample in SAMPLES})
    return {sample: nodes[name(*sample)] for sample in SAMPLES}


def _margins(lab: Laboratory, off: tuple[Node, ...] = ()) -> dict[tuple[int, int, int], Node]:
    """y f on every sample at uniform attention, with the units in `off` inactive."""
    gated = _gated_margins(lab)
    given = gates_on(gated.values(), off)
    return dict(zip(gated, graph.substitute(list(gated.values()), given), strict=True))


def _units(lab: Laboratory) -> dict[tuple[int, tuple[int, int, int]], Node]:
    """H_s(X) + b of both heads on every sample at uniform attention."""
    places = {f"{s} {name(*x)}": (s, x) for s in SIGNS for x in SAMPLES}
    nodes = _lifted(lab, {key: lab.observable("H", *x, s) + sym("b") for key, (s, x) in places.items()})
    return {places[key]: node for key, node in nodes.items()}


def _g(margin: Node) -> Node:
    """g = 1 / (1 + exp(y f))."""
    return graph.call("sigmoid", -margin)


def _stages(lab: Laboratory) -> StageOne:
    return stage_one_of(lab.reduced("stage1").system)


def _switched(s: int, sample: tuple[int, int, int]) -> bool:
    """True for the units that D.3 is about: head s on X_{k,-s,-s}."""
    return sample[1:] == (-s, -s)


def _by_head(
    lab: Laboratory, kind: str, printed: Mapping[tuple[int, int], Node], off: tuple[Node, ...]
) -> dict[str, Verdict]:
    """Derived and printed equations of both groups, a verdict for each head."""
    derived, step = _neurons(lab, kind), ONE_OFF if off else ALL_ON
    given = gates_on(derived.values(), off)
    points = inside(UNIT_OFF, OTHERS_ON) if off else inside(UNITS_ON)
    return {
        head: equal(
            {f"w_{head[0]} {kind}_{k}": (derived[s, k], printed[s, k]) for k in (1, 2)}, points=points, given=given
        ).proving(step)
        for head, s in HEADS.items()
    }


def _moving(lab: Laboratory, stages: StageOne, after: bool, forms: Mapping[str, Node]) -> Verdict:
    """In one phase linear forms of the neurons move at their rates times g, by the derived equations."""
    system = lab.reduced("stage1").system
    rates = zero_scores({n: system.equations[n] for n in system.on_path("w")})
    drive = stages.second if after else stages.first
    pairs = {}
    for what, form in forms.items():
        along = ((c, rates[t.args[0]]) for c, t in graph.linear_terms(form) if t.op == "sym" and t.args[0] in rates)
        pairs[f"rate of {what}"] = graph.combine(along), drive.slope(form) * _g(drive.form)
    return equal(pairs, given=gates_on(rates.values(), (stages.surface,) if after else ()))


def _switching(stages: StageOne, forms: Mapping[str, Node]) -> Verdict:
    """Values of linear forms at T_0.5."""
    given = {sym(n): from_sympy(value) for n, value in stages.at_switch().items()}
    pairs = {f"{what} at T_0.5": (form, from_sympy(_at_switch(stages, form))) for what, form in forms.items()}
    return equal(pairs, given=given)


def _rates_told(lab: Laboratory) -> dict[str, tuple[tuple[str, ...], Node]]:
    """The derived rates of n_c and n_v with their gates, at uniform attention, by the names they have in theorems."""
    equations = lab.reduced("stage1").system.equations
    rates = zero_scores({n: equations[n] for n in ("n_c", "n_v")})
    return {f"orbit_{n}": (("n_c", "n_v", "b"), rate) for n, rate in rates.items()}


def _by_the_flow(
    lab: Laboratory, stages: StageOne, found: Verdict, theorems: str, told: Mapping[str, Node] | None = None
) -> Verdict:
    """The same by theorems on stage 1 from T_0.5 on: rates with their gates at uniform attention, and values at T_0.5."""
    there = stages.at_switch()
    named = _rates_told(lab) | {f"start_{n}": (("b",), from_sympy(there[n])) for n in ("n_c", "n_v")}
    named |= {n: (("n_c", "n_v", "b"), node) for n, node in (told or {}).items()}
    return found.by_theorems([COQ / "after_the_switch.v", COQ / theorems], named)


# ---- stage 1.1 -------------------------------------------------------------------------------------------------------


def classification_before(lab: Laboratory) -> dict[str, Verdict]:
    """The derived equations of w_s . v_k against the printed sum over the four consistent samples."""
    margins = _margins(lab)
    total = from_sympy(EIGHTH) * graph.add(_g(margins[sample]) for sample in CONSISTENT)
    found = _by_head(lab, "v", {(s, k): s * total for s in SIGNS for k in (1, 2)}, ())
    return _of_all_states(lab, found, "v", ["classification_neurons.v"])


def group_before(lab: Laboratory) -> dict[str, Verdict]:
    """The derived equations of w_s . c_k vanish."""
    found = _by_head(lab, "c", {(s, k): graph.ZERO for s in SIGNS for k in (1, 2)}, ())
    return _of_all_states(lab, found, "c", ["group_neurons.v"])


def _of_all_states(
    lab: Laboratory, found: Mapping[str, Verdict], kind: str, theorems: Sequence[str]
) -> dict[str, Verdict]:
    """The same by theorems that start from all eight neurons, before they are put on symmetric states, with the printed sum."""
    equations = lab.flow("stage1").system.equations
    nodes = {f"rate_{HEAD[s]}_{kind}{k}": equations[_neuron(lab, s, f"{kind}{k}")] for s in SIGNS for k in (1, 2)}
    nodes |= {f"unit_{HEAD[s]}_{_short(x)}": lab.observable("H", *x, s) + sym("b") for s in SIGNS for x in SAMPLES}
    if kind == "v" or AFTER in theorems:
        nodes |= {f"margin_{_short(x)}": lab.observable("margin", *x) for x in CONSISTENT}
    states = _neurons_and_bias(lab)
    rate = lab.reduced("stage1").system.equations[f"n_{kind}"]
    told: dict[str, tuple[tuple[str, ...], Node]] = {each: (states, node) for each, node in zero_scores(nodes).items()}
    told |= {f"orbit_n_{kind}": (("n_c", "n_v", "b"), zero_scores({"": rate})[""])}
    return {
        part: verdict.by_theorems([COQ / "stage_one.v", *(COQ / file for file in theorems)], told)
        if verdict.as_stated == HOLDS
        else verdict
        for part, verdict in found.items()
    }


def _neuron(lab: Laboratory, s: int, word: str) -> str:
    """The name of w_s . word."""
    return str(lab.neuron(s, word).args[0])


def _neurons_and_bias(lab: Laboratory) -> tuple[str, ...]:
    """The names of what f depends on where all scores are zero."""
    return (*(_neuron(lab, s, word) for s in SIGNS for word in WORDS), "b")


def _short(sample: tuple[int, int, int]) -> str:
    """X_{k,s,s'} as part of an identifier."""
    k, s, r = sample
    return f"{k}_{HEAD[s]}_{HEAD[r]}"


@book.claim(
    "D.1",
    "Classification neurons grow first",
    kind="identity",
    uses=["B.2", "C.3", "C.4"],
    where="Lemma D.1",
    parts=tuple(HEADS),
    hypotheses=(UNITS_ON,),
    statement=r"H_\pm^{(t)}(X)>-b\ \forall X\ \Rightarrow\ \frac{d w_\pm^{(t)\top}v_k}{dt}=\pm\tfrac18\sum_{k'\in[2],\,s=s'}g^{(t)}(X_{k',s,s'}),\ k\in\{1,2\}",
    reading="Definition 5.1 makes attention uniform in stage 1; on the symmetric states of Lemmas C.2 and C.4; all units are on, as the lemma supposes.",
)
def neurons_grow(lab: Laboratory) -> dict[str, Verdict]:
    """Both heads, both groups."""
    return classification_before(lab)


@book.claim(
    "D.2",
    "Group neurons wait",
    kind="identity",
    uses=["B.2", "C.5"],
    where="Lemma D.2",
    parts=tuple(HEADS),
    hypotheses=(UNITS_ON,),
    statement=r"H_\pm^{(t)}(X)>-b\ \forall X\ \Rightarrow\ \frac{d w_+^{(t)\top}c_k}{dt}=0,\ \frac{d w_-^{(t)\top}c_k}{dt}=0,\ k\in\{1,2\}",
    reading="Definition 5.1 makes attention uniform in stage 1; on the symmetric states of Lemmas C.2 and C.4; all units are on, as the lemma supposes.",
)
def group_neurons_wait(lab: Laboratory) -> dict[str, Verdict]:
    """Both heads, both groups."""
    return group_before(lab)


@book.claim(
    "5.2",
    "First phase of stage 1",
    kind="identity",
    uses=["D.1", "D.2"],
    same_as="D.1",
    where="Lemma 5.2",
    parts=("v, + head", "v, - head", "c, + head", "c, - head"),
    hypotheses=(UNITS_ON,),
    statement=r"H_\pm^{(t)}(X)>-b\ \forall X\in\mathcal D\ \Rightarrow\ \frac{d w_\pm^{(t)\top}v_k}{dt}=\pm\tfrac18\sum_{k'\in[2],\,s=s'}g^{(t)}(X_{k',s,s'}),\ \frac{d w_\pm^{(t)\top}c_k}{dt}=0",
    reading="As Lemmas D.1 and D.2: uniform attention, on the symmetric states of Lemmas C.2 and C.4, all units on.",
)
def first_phase(lab: Laboratory) -> dict[str, Verdict]:
    """Both lemmas."""
    both = {"v": classification_before(lab), "c": group_before(lab)}
    return {f"{kind}, {head}": verdict for kind, found in both.items() for head, verdict in found.items()}


@book.claim(
    "D.3",
    "A unit switches off",
    kind="existence",
    uses=["D.1", "D.2"],
    where="Corollary D.3",
    parts=("H < -b", "T_0.5 = Theta(1)"),
    hypotheses=(BIASED,),
    statement=r"\exists\,T_{0.5}=\Theta(1):\ H_s^{(T_{0.5})}(X_{k,-s,-s})<-b\ \text{for}\ s\in\{\pm1\}",
    reading="T_0.5 is any time after the crossing H = -b; Theta(1) means that it depends on the constant b alone.",
)
def unit_switches_off(lab: Laboratory) -> dict[str, Verdict]:
    """The crossing in closed form, and the unit keeps falling after it."""
    stages = _stages(lab)
    before, after = stages.first.slope(stages.surface), stages.second.slope(stages.surface)
    units = {f"head {s:+d} on {name(*x)}": node for (s, x), node in _units(lab).items() if _switched(s, x)}
    same = equal({key: (stages.surface, node) for key, node in units.items()})
    if not (before < 0 and after < 0):
        rising = Witness("the unit does not fall through its kink: a rate is not negative", {})
        return {"H < -b": refuted(rising), "T_0.5 = Theta(1)": undecided("no unit switches off")}
    unit = {"H + b": stages.surface}
    falls = (_moving(lab, stages, False, unit) & _moving(lab, stages, True, unit)).proving(
        f"H_s(X_{{k,-s,-s}}) + b is one expression for both heads and groups; its rate is {before} g before its zero "
        f"and {after} g after it, with g > 0: it crosses and stays below"
    )
    all_units = {f"unit_{HEAD[s]}_{_short(x)}": node for (s, x), node in _units(lab).items()}
    falls = _by_the_flow(lab, stages, falls, "pattern_persists.v", all_units)
    time = stages.switch_time()
    closed = (2 * BIAS + sp.exp(2 * BIAS) - 1) / 2
    told = _rates_told(lab) | {"T_half": (("b",), from_sympy(time))}
    same_time = equal({"T_0.5": (from_sympy(time), from_sympy(closed))})
    known = same_time.by_theorems(COQ / "before_the_switch.v", told).proving(
        "the crossing is at (2b + e^{2b} - 1)/2, which is positive and finite for every b > 0 and contains no other parameter"
    )
    numbers = {"crossing": str(time), "crossing at b = 1/2": f"{float(time.subs(BIAS, sp.Rational(1, 2))):.4g}"}
    return {"H < -b": same & falls, "T_0.5 = Theta(1)": known.with_constants(**numbers)}


# ---- stage 1.2 -------------------------------------------------------------------------------------------------------


def classification_after(lab: Laboratory) -> dict[str, Verdict]:
    """The derived equations of w_s . v_k with one unit off against the printed sums."""
    off = (_stages(lab).surface,)
    margins = _margins(lab, off)
    sums = {s: s * from_sympy(EIGHTH) * graph.add(_g(margins[k, s, s]) for k in (1, 2)) for s in SIGNS}
    found = _by_head(lab, "v", {(s, k): sums[s] for s in SIGNS for k in (1, 2)}, off)
    return _of_all_states(lab, found, "v", [AFTER, "classification_after.v"])


def group_after(lab: Laboratory) -> dict[str, Verdict]:
    """The derived equations of w_s . c_k with one unit off against the printed terms."""
    off = (_stages(lab).surface,)
    margins = _margins(lab, off)
    terms = {(s, k): from_sympy(EIGHTH) * _g(margins[k, s, s]) for s in SIGNS for k in (1, 2)}
    return _of_all_states(lab, _by_head(lab, "c", terms, off), "c", [AFTER, "group_after.v"])


@book.claim(
    "D.4",
    "Classification neurons after the switch",
    kind="identity",
    uses=["B.2", "C.3", "C.4", "D.6"],
    where="Lemma D.4",
    parts=tuple(HEADS),
    hypotheses=(UNIT_OFF, OTHERS_ON),
    statement=r"H_+^{(t)}(X_{k,-,-})<-b\ \forall k\Rightarrow\frac{d w_+^{(t)\top}v_k}{dt}=\tfrac18\sum_{k'\in[2]}g^{(t)}(X_{k',+,+});\quad H_-^{(t)}(X_{k,+,+})<-b\ \forall k\Rightarrow\frac{d w_-^{(t)\top}v_k}{dt}=-\tfrac18\sum_{k'\in[2]}g^{(t)}(X_{k',-,-})",
    reading="Where the conflicting units are on, n_c > -b: in stage 1 all other units are on whenever these are off (Corollary D.6).",
)
def after_the_switch(lab: Laboratory) -> dict[str, Verdict]:
    """Both heads, both groups."""
    return classification_after(lab)


@book.claim(
    "D.5",
    "Group neurons after the switch",
    kind="identity",
    uses=["B.2", "C.5", "D.6"],
    where="Lemma D.5",
    parts=tuple(HEADS),
    hypotheses=(UNIT_OFF, OTHERS_ON),
    statement=r"H_+^{(t)}(X_{k,-,-})<-b\Rightarrow\frac{d w_+^{(t)\top}c_k}{dt}=\tfrac18g^{(t)}(X_{k,+,+});\quad H_-^{(t)}(X_{k,+,+})<-b\Rightarrow\frac{d w_-^{(t)\top}c_k}{dt}=\tfrac18g^{(t)}(X_{k,-,-})",
    reading="Where the conflicting units are on, n_c > -b: in stage 1 all other units are on whenever these are off (Corollary D.6).",
)
def group_neurons_move(lab: Laboratory) -> dict[str, Verdict]:
    """Both heads, both groups."""
    return group_after(lab)


@book.claim(
    "5.3",
    "Second phase of stage 1",
    kind="identity",
    uses=["D.4", "D.5", "D.6", "D.7"],
    same_as="D.5",
    where="Lemma 5.3",
    parts=("w_+ c_k", "v_k keep aligning", "Theta(1) after stage 1"),
    hypotheses=(BIASED,),
    statement=r"H_+^{(t)}(X_{k,-,-})<-b\ \text{for}\ k\in\{1,2\}\Rightarrow\frac{d w_+^{(t)\top}c_k}{dt}=\tfrac18g^{(t)}(X_{k,+,+});\ "
    r"\text{the neurons keep aligning with the signed}\ v_k;\quad T_1=\Theta(1)\Rightarrow w_+^\top v_k=\Theta(1),\ w_+^\top c_k=\Theta(1)\ \text{after stage 1}",
    reading="As Lemmas D.4, D.5 for the + head and Corollary D.7; T_1 is any constant above T_0.5, Theta(1) means positive and free of omega.",
)
def second_phase(lab: Laboratory) -> dict[str, Verdict]:
    """The same equations, and what they lead to at the end of stage 1."""
    groups, classes = neurons_at_the_end(lab).values()
    return {
        "w_+ c_k": group_after(lab)["+ head"],
        "v_k keep aligning": classification_after(lab)["+ head"].proving(
            "its derivative is an eighth of a sum of g > 0, which is positive"
        ),
        "Theta(1) after stage 1": groups & classes,
    }


def _at_switch(stages: StageOne, unit: Node) -> sp.Expr:
    """The value of H + b at the switch, as an expression in b."""
    values = {sp.Symbol(n, real=True): value for n, value in stages.at_switch().items()}
    return sp.expand(to_sympy(unit).subs(values))


def _stays(stages: StageOne, unit: Node, off: bool) -> bool:
    """For every b > 0 the unit leaves the switch on the right side and never comes back."""
    share, rate = sp.cancel(_at_switch(stages, unit) / BIAS), stages.second.slope(unit)
    if not share.is_number:
        return False
    return bool(share == 0 and rate < 0) if off else bool(share > 0 and rate >= 0)


@book.claim(
    "D.6",
    "The pattern persists",
    kind="inequality",
    uses=["B.2", "C.3", "C.4", "D.3"],
    where="Corollary D.6",
    parts=("X_{k,-s,-s} is off", "all other units are on"),
    hypotheses=(BIASED,),
    statement=r"t\in[T_{0.5},T_1],\ s\in\{\pm1\},\ k\in[K]:\ \text{only}\ \dot\sigma_s^{(t)}(X_{k,-s,-s})=0\ \text{and all the rest of cases equal}\ 1",
    reading="K = 2, every b > 0 and every T_1: values at the crossing are multiples of b, rates exact multiples of g > 0.",
)
def pattern_persists(lab: Laboratory) -> dict[str, Verdict]:
    """The sixteen units of both heads: where each is at the switch and at which rate it moves after it."""
    stages, answers = _stages(lab), dict[str, Verdict]()
    all_units = {f"unit_{HEAD[s]}_{_short(x)}": node for (s, x), node in _units(lab).items()}
    for part, off in (("X_{k,-s,-s} is off", True), ("all other units are on", False)):
        units = {(s, x): node for (s, x), node in _units(lab).items() if _switched(s, x) == off}
        rows = {
            f"head {s:+d} on {name(*x)}": f"{_at_switch(stages, node)} at T_0.5, then at {stages.second.slope(node)} g"
            for (s, x), node in units.items()
        }
        wrong = [(s, x) for (s, x), node in units.items() if not _stays(stages, node, off)]
        if wrong:
            s, x = wrong[0]
            key = f"head {s:+d} on {name(*x)}"
            answers[part] = refuted(Witness(f"at b = 1/2 the unit H + b of {key} is {rows[key]}", {"b": "1/2"}))
        else:
            values = ", ".join(dict.fromkeys(rows.values()))
            step = f"all {len(units)} units by enumeration, H + b: {values}"
            named = {f"H + b of head {s:+d} on {name(*x)}": node for (s, x), node in units.items()}
            moved = _switching(stages, named) & _moving(lab, stages, True, named)
            moved = _by_the_flow(lab, stages, moved, "pattern_persists.v", all_units)
            answers[part] = moved.adding(units=len(units)).proving(step)
    return answers


@book.claim(
    "D.7",
    "Neurons at the end of stage 1",
    kind="order",
    uses=["D.3", "D.4", "D.5"],
    where="Corollary D.7",
    parts=("group signals", "classification signals"),
    hypotheses=(BIASED,),
    statement=r"\exists\,T_1=\Theta(1):\ w_+^{(T_1)\top}\mu=\Theta(1)\ \text{for all}\ \mu\in\mathcal V\cup\mathcal C",
    reading="Every constant T_1 > T_0.5 will do; Theta(1) means positive and free of omega.",
)
def neurons_at_the_end(lab: Laboratory) -> dict[str, Verdict]:
    """Positive rates after the switch, and a closed form in b and T1 alone."""
    stages, answers = _stages(lab), dict[str, Verdict]()
    speed, form = stages.second.speed, stages.second.form_at(stages.at_switch())
    for part, neuron in (("group signals", "n_c"), ("classification signals", "n_v")):
        start, rate = stages.at_switch()[neuron], stages.second.rates.get(neuron, Fraction(0))
        share = sp.cancel(start / BIAS)
        if not (share.is_number and share >= 0 and rate > 0 and speed > 0):
            sentence = f"at b = 1/2 the neuron starts stage 1.2 at {start} and then moves at {rate} g"
            answers[part] = refuted(Witness(sentence, {"b": "1/2"}))
            continue
        moved = _switching(stages, {neuron: sym(neuron)}) & _moving(lab, stages, True, {neuron: sym(neuron)})
        answers[part] = _by_the_flow(lab, stages, moved, "neurons_at_the_end.v").proving(
            f"it is {start} at T_0.5 and then grows at {rate} g with g > 0, so it is positive at every T_1 > T_0.5",
            f"g = 1/(1 + e^F) with F + e^F = {form} + e^({form}) + {speed} (T_1 - T_0.5): finite, and a function of b and "
            f"T_1 alone",
        )
    values = stages.neurons(20.0, 0.5)
    known = {f"{n} at T_1 = 20, b = 1/2": f"{value:.4g}" for n, value in values.items()}
    return {part: verdict.with_constants(**known) for part, verdict in answers.items()}


@book.claim(
    "D.8",
    "Margins at the end of stage 1",
    kind="order",
    main=True,
    uses=["C.4", "D.1", "D.4", "D.5", "D.6", "D.7"],
    where="Theorem D.8",
    parts=("consistent samples", "conflicting samples"),
    hypotheses=(BIASED,),
    statement=r"f^{(T_1)}(X_{k,s,s})=s\cdot\Omega(1),\quad f^{(T_1)}(X_{k,s,-s})=0",
    reading="Every b > 0 and every T_1 > T_0.5; the constant of Omega(1) is 2b.",
)
def margins_at_the_end(lab: Laboratory) -> dict[str, Verdict]:
    """Margins as expressions, with the pattern of D.6, and their growth after the switch."""
    stages = _stages(lab)
    gated, margins = _gated_margins(lab), _margins(lab, (stages.surface,))
    off = gates_on(gated.values(), (stages.surface,))
    conflicting = equal({name(*s): (gated[s], ZERO) for s in CONFLICTING}, given=off).proving(ONE_OFF)
    shares = {s: sp.cancel(_at_switch(stages, margins[s]) / BIAS) for s in CONSISTENT}
    rates = {s: stages.second.slope(margins[s]) for s in CONSISTENT}
    low = next((s for s in CONSISTENT if not (shares[s].is_number and shares[s] > 0 and rates[s] >= 0)), None)
    if low is not None:
        sentence = f"at b = 1/2 the margin of {name(*low)} is {shares[low]} b at T_0.5, then it moves at {rates[low]} g"
        return {
            "consistent samples": refuted(Witness(sentence, {"b": "1/2"})),
            "conflicting samples": conflicting,
        }
    least = min(shares.values())
    named = {f"y f on {name(*s)}": margins[s] for s in CONSISTENT}
    one_off = equal({f"y f on {name(*s)}": (gated[s], margins[s]) for s in CONSISTENT}, given=off)
    moved = one_off & _switching(stages, named) & _moving(lab, stages, True, named)
    told = {f"margin_{_short(s)}": node for s, node in gated.items()}
    consistent = _by_the_flow(lab, stages, moved, "margins_at_the_end.v", told).proving(
        f"{ONE_OFF}: y f is at least {least} b at T_0.5 on each of the four and grows at {min(rates.values())} g or more"
    )
    return {
        "consistent samples": consistent.with_constants(least_margin=f"{least} b"),
        "conflicting samples": conflicting,
    }


# ---- uniform attention cannot separate -------------------------------------------------------------------------------


@book.claim(
    "5.4",
    "Uniform attention can not separate",
    kind="existence",
    uses=["Eq.1"],
    where="Lemma 5.4",
    parts=("no neuron weights",),
    hypotheses=(),
    statement=r"\nexists\,w_\pm:\ y f(X)>0\ \text{for all}\ X\in\{X_{k,s,-s}\}_{k\in[2],s\in\{\pm1\}}\ \text{when the softmax attention is uniform}",
    reading="All w_+ and w_-, every b; sigma is monotone, as ReLU is.",
)
def not_separable(lab: Laboratory) -> Verdict:
    """The signed sum of head differences over conflicting samples vanishes identically."""
    terms, outputs = [], {}
    for sample in CONFLICTING:
        label = lab.label(*sample)
        plus, minus = (lab.observable("H", *sample, sign) for sign in SIGNS)
        terms.append(label * (plus - minus))
        f = graph.relu(plus + sym("b")) - graph.relu(minus + sym("b"))
        outputs[f"y f on {name(*sample)}"] = lab.observable("margin", *sample), label * f
    sides = [side for pair in outputs.values() for side in pair]
    output = equal(outputs, given=scores_at_zero(sides))
    if output.as_stated != "holds":
        return undecided("the output is not sigma(H_+ + b) - sigma(H_- + b): the argument says nothing about it")
    total = graph.add(terms)
    vanishes = equal({"sum": (total, ZERO)}, given=scores_at_zero([total])) & output
    if vanishes.as_stated == HOLDS:
        margins = {f"margin_{_short(x)}": lab.observable("margin", *x) for x in CONFLICTING}
        told = {each: (_neurons_and_bias(lab), node) for each, node in zero_scores(margins).items()}
        vanishes = vanishes.by_theorems(COQ / "uniform_attention.v", told)
    return vanishes.proving(
        "sigma is monotone: y f(X) > 0 gives y (H_+(X) - H_-(X)) > 0",
        "at uniform attention the sum of y (H_+ - H_-) over the four conflicting samples is 0 for all w: they cannot all be positive",
    )


def _first_phase(lab: Laboratory) -> LogisticDrive:
    """The neuron equations at uniform attention with every unit on, as one drive."""
    system = lab.reduced("stage1").system
    return find_logistic_drive(all_units_on(zero_scores({n: system.equations[n] for n in system.on_path("w")})))


@book.claim(
    "Beyond.T_half",
    "Both phases are one logistic drive",
    kind="identity",
    uses=["D.1", "D.5"],
    origin="ours",
    hypotheses=(),
    statement=r"\dot n=r\,g(F),\ F\ \text{linear},\ r=(0,\tfrac12)\ \text{then}\ (\tfrac18,\tfrac14)",
    reading="In each phase the equations of (n_c, n_v) are these multiples of one logistic factor of a linear form.",
)
def logistic_drives(lab: Laboratory) -> Verdict:
    """Both phases are recognised, with their exact rates."""
    try:
        first, second = _first_phase(lab), _stages(lab).second
    except EquationError as error:
        return refuted({"equations": str(error)})
    if first.rates != {"n_v": Fraction(1, 2)} or second.rates != {"n_c": Fraction(1, 8), "n_v": Fraction(1, 4)}:
        return refuted({"first": str(first.rates), "second": str(second.rates)})
    neurons = {n: sym(n) for n in ("n_c", "n_v")}
    found = _moving(lab, _stages(lab), False, neurons) & _moving(lab, _stages(lab), True, neurons)
    rates = {"first": first.rates, "second": second.rates}
    return found.adding(**{k: {n: str(v) for n, v in each.items()} for k, each in rates.items()}).proving(
        "the equations of both phases are divided by their common factor g(F); the quotients are numbers"
    )
