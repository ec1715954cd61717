"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

A laboratory notes what a check reads of it, in `reads`: the ``output`` and the ``loss`` of the toy network, the
arguments of its sign ``steps`` per weight, the ``reduced`` arguments of the inner products and their ``signs`` with
softmax weights and slopes opaque, the ``start`` (the law of the inner products at time 0), and a ``run`` of the
recursion in some regime. With `changes` it compares a part with the paper's.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from odesys import BaseLaboratory, Node, graph, num, sym

from .setting import Case, regime
from .special import recursion
from .special import toy_network as toy
from .special import watched_runs as records
from .special.recursion import Advance, Start, State
from .special.toy_network import LABELS, Model, Toy
from .special.watched_runs import Record, Rules

MUTATIONS = {
    # model and loss: everything is derived from them
    "temperature": "logits count 4096 times in the softmax",
    "loss": "exponential instead of logistic loss",
    "shared": "both samples of the toy have the same support",
    # optimiser
    "ascent": "weights move up the gradient",
    "queries": "queries move backwards",
    "keys": "keys stand still",
    "values": "values move up the gradient",
    "noise": "weights on the noise coordinates move at a third of the step",
    "frozen": "derivatives of the softmax are taken at zero logits",
    # start
    "start": "all weights start eight times as large",
}
MODELS: dict[str, Model] = {
    "temperature": Model(temperature=num(4096)),
    "loss": Model(exponential=True),
    "shared": Model(shared=True),
    "ascent": Model(descent=-1),
    "queries": Model(query=-1),
    "keys": Model(key=0),
    "values": Model(values=-1),
    "frozen": Model(frozen_softmax=True),
}


RULES: dict[str, Rules] = {
    "temperature": Rules(temperature=4096.0),
    "ascent": Rules(descent=-1),
    "queries": Rules(query=-1),
    "keys": Rules(key=0),
    "values": Rules(values=-1),
    "noise": Rules(noise=1 / 3),
    "frozen": Rules(frozen=True),
}
#: regimes of the runs: sizes, seed, end in units of the flip time T_f
ALONE = Case(n=1, s=4 * 10**6, d=4 * 10**6 + 1, m_k=64, m_v=4096, sigma_p=1.0, sigma_0=0.02 / 3 / (4e6 * 8))
WIDE = Case(n=3, s=4 * 10**6, d=12 * 10**6 + 1, m_k=1024, m_v=10**6, sigma_p=1.0, sigma_0=0.02 / 3 / (4e6 * 32))
SPARSE = Case(n=11, s=10**16, d=11 * 10**16 + 1, m_k=32, m_v=10**8, sigma_p=1.0, sigma_0=1e-3 / (1e16 * 32**0.5))


def end_case(strength: float, m_k: int = 16) -> Case:
    """Five samples with sigma_p s = strength, for times up to the attention time."""
    s = round(strength)
    return Case(n=5, s=s, d=5 * s + 1, m_k=m_k, m_v=10**6, sigma_p=1.0, sigma_0=1e-3 / (s * m_k**0.5))


def _attention_end(case: Case) -> float:
    """Four times the mean field's theta at which s_11 = 1/10, in units of T_f."""
    return 4 * (case.Lambda * 2.2) ** 0.5 / (case.Lambda * case.m_k**0.5) / case.flip_time()


REGIMES: dict[str, tuple[Case, int, float, float]] = {
    "R1": (regime("R1"), 0, 60.0, 3e-3),
    "R2": (regime("R2"), 0, 12.0, 3e-3),
    "alone": (ALONE, 0, 2.0, 2e-3),
    "wide": (WIDE, 0, 7.0, 8e-3),
    "R3": (SPARSE, 0, 0.006, 6e-3),
}
for _name, _case in {
    "attn 1e4": end_case(1e4),
    "attn 1e5": end_case(1e5),
    "attn 1e6": end_case(1e6),
    "attn wide": end_case(1e5, 64),
}.items():
    REGIMES[_name] = _case, 0, _attention_end(_case), 5e-3
for _factor in (0.5, 5.0, 100.0):
    _case = Case(n=5, s=10**8, d=5 * 10**8 + 1, m_k=16, m_v=16, sigma_p=1.0, sigma_0=_factor * 1e-12 * 4)
    REGIMES[f"scale {_factor:g}"] = _case, 0, 4.6 / 1e8 * 1.1 / _case.flip_time(), 8e-3
STEPS = {"a": (Case(n=20, s=80, d=2000, m_k=100, m_v=20, sigma_0=0.1 / 2000**0.5), 0, 1e-4, 1200)}


class Laboratory(BaseLaboratory):
    """Toy network, sign arguments, start and runs, possibly mutated."""

    mutations = MUTATIONS

    def part(self, name: str) -> Any:
        """A part in a form that can be compared; None if there is nothing to compare."""
        return _part(self.mutation, name)

    def network(self) -> Toy:
        """The toy network: attention, heads and output as expressions of the weights."""
        self.reads.add("output")
        return toy.toy(_model(self.mutation))

    def slope(self, i: int, f: Node) -> Node:
        """Derivative of the share of sample i in the loss, times n, by its output f."""
        self.reads.add("loss")
        return len(LABELS) * graph.gradient(toy.toy(_model(self.mutation)).loss_of(i, f), [f])[0]

    def steps(self) -> tuple[Toy, dict[str, Node], dict[str, Node]]:
        """The toy, for every weight the argument of its sign step, and the length of the step over eta."""
        self.reads.add("steps")
        made = toy.toy(_model(self.mutation))
        return made, _arguments(self.mutation), _lengths(self.mutation)

    def arguments(self, opaque: bool = False) -> dict[str, Node]:
        """Sign arguments of the reduced state; supports are disjoint here whatever the mutation."""
        self.reads.add("signs" if opaque else "reduced")
        return _reduced(self.mutation, opaque)

    def variances(self) -> dict[str, Fraction]:
        """Variances of inner products at the start over sigma_0^2 |.|_2^2, for m_v = 2 rows; derived from the toy."""
        self.reads.add("start")
        return _variances(self.mutation)

    def record(self, name: str) -> Record:
        """A watched run: the sign flow in the regime R1, R2, ..., or sign descent at the published sizes (``a``)."""
        self.reads.add("run")
        return _record(self.mutation, name)

    def advance(self) -> Advance:
        """One step of sign descent with a finite step size."""
        self.reads.add("run")
        return RULES.get(self.mutation, Rules()).advance(recursion.step)

    def starts(self, case: Case, seed: int | tuple[int, ...]) -> Start:
        """A start of a case."""
        self.reads.add("start")
        start, factor = recursion.draw(case, seed), 8.0 if self.mutation == "start" else 1.0
        if factor == 1:
            return start
        state = State.unpack(factor * start.state.pack(), case.n, case.m_k)
        return replace(start, state=state, beta_xi=factor * start.beta_xi, beta_mu=factor * start.beta_mu)


def _model(mutation: str) -> Model:
    return MODELS.get(mutation, Model())


def _disjoint(mutation: str) -> Model:
    return Model() if mutation == "shared" else _model(mutation)


@cache
def _arguments(mutation: str) -> dict[str, Node]:
    return toy.toy(_model(mutation)).arguments()


def _lengths(mutation: str) -> dict[str, Node]:
    """Step of each weight over eta: 1, but less on the noise coordinates where that is broken."""
    slow = num(Fraction(1, 3 if mutation == "noise" else 1))
    return {name: num(1) if name.endswith("_0") else slow for name in _arguments("")}


@cache
def _reduced(mutation: str, opaque: bool) -> dict[str, Node]:
    return toy.reduced_arguments(_disjoint(mutation), opaque)


@lru_cache(maxsize=16)
def _record(mutation: str, name: str) -> Record:
    rules = RULES.get(mutation, Rules())
    if name in STEPS:
        case, seed, eta, steps = STEPS[name]
        return records.descent(case, seed, eta, steps, rules)
    case, seed, end, fraction = REGIMES[name]
    return records.flow(case, seed, end * case.flip_time(), rules, fraction=fraction)


@cache
def _variances(mutation: str) -> dict[str, Fraction]:
    """Sum of squared coefficients of an inner product in the weights, over the squared length of what it meets."""
    made = toy.toy(_disjoint(mutation))
    x = made.xi[0]
    rows = {kind: made.weights[kind] for kind in "QKPN"}
    mean = {kind: [graph.add(column) / toy.ROWS for column in zip(*rows[kind], strict=True)] for kind in "PN"}
    difference = [a - b for a, b in zip(mean["P"], mean["N"], strict=True)]
    out: dict[str, Fraction] = {}
    for name, w in {"q": rows["Q"][0], "k": rows["K"][0], "row": rows["P"][0], "v": difference}.items():
        for what, vector in (("mu", made.mu), ("xi", x)):
            slopes = graph.gradient(toy.dot(w, vector), list(made.all_weights().values()))
            square = graph.add([s * s for s in slopes]) / toy.dot(vector, vector)
            value = _number(square) * (64 if mutation == "start" else 1)
            out[f"{name}_{what}"] = value
    return out


def _number(node: Node) -> Fraction:
    """The value of a constant expression: evaluated at two exact points that agree."""
    points = [{name: Fraction(k + j, 3) for j, name in enumerate(sorted(graph.symbols([node])), 1)} for k in (1, 2)]
    first, second = (graph.evaluate([node], point, {})[0] for point in points)
    if first != second:
        raise ValueError(f"{node!r} is not a constant: {first} and {second}")
    return Fraction(first)


@cache
def _part(mutation: str, part: str) -> Any:
    """A part in a form that can be compared: equal expressions are the same object."""
    if part == "output":
        made = toy.toy(_model(mutation))
        return [*(made.output(i) for i in range(len(LABELS))), made.logit(0, 0, 0)]
    if part == "loss":
        return [toy.toy(_model(mutation)).loss_of(i, sym("f")) for i in range(len(LABELS))]
    if part == "steps":
        return _arguments(mutation), _lengths(mutation)
    if part in ("reduced", "signs"):
        return _reduced(mutation, part == "signs")
    if part == "start":
        return _variances(mutation)
    if part == "run":
        return RULES.get(mutation, Rules())
    return None
