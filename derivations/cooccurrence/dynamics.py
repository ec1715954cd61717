r"""The closed systems of the co-occurrence paper, level by level, each with its size; d is the number of words.

    level 0   per neuron, as in appendix C     m1 d + d^2 + m1 (m1 + 1) / 2 + 3 d (d + 1) / 2
    level 1   neurons only through W' a        1 + d + d^2 + 3 d (d + 1) / 2
    level 2   orbits of words                  113 for all n >= 12, L >= 5
    level 3   epsilon_2, 3, 4 -> 0             5, a logistic regression on bags of words
    level 4   n -> infinity                    2, without any parameter

Levels 0 and 1 are exact at every width, level 2 is the exact flow of the infinite-width start; 3 and 4 are limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    Data,
    Flow,
    Node,
    Quotient,
    ScalarField,
    State,
    System,
    collect_powers,
    gradient_descent,
    gradient_flow,
    graph,
    interpolate_reciprocal,
    leading_order,
    rescale_system,
    sym,
    vanishing_limit,
)

from . import setting
from .setting import TRAINED

LETTER = {"aWVa": "beta", "aWWa": "beta", "aWV": "G", "VV": "V", "KQ": "A", "KK": "K", "QQ": "Q"}
#: letters that mean something else in the paper: outputs F_i, class sums S_c, tokens L
PAPER_LETTERS = {"F": "F", "S": "S", "L": "L"}
SMALL = ("eps2", "eps3", "eps4")
_SWAPPED = {"1": "2", "2": "1", "r2": "r3", "r3": "r2"}


# ---- levels 0 and 1: exact at every width ------------------------------------------------------------------------


@cache
def gram_flow(n: int, L: int, d: int | None = None) -> Flow:
    """Level 1 on the training set of Assumption 2.3; `d` above the number of used words adds unused ones."""
    return flow_of(setting.data(n, L), d or setting.words_needed(n, L))


def over(d: int, dataset: Data) -> Data:
    """The same samples over d words."""
    return Data(setting.words(d), dataset.samples)


def flow_of(dataset: Data, d: int) -> Flow:
    """Level 1 on any data set: words may repeat."""
    return gradient_flow(setting.model(d), over(d, dataset), train=TRAINED)


def neuron_flow(dataset: Data, d: int, signs: tuple[int, ...]) -> Flow:
    """Level 0: every neuron by itself, with the signs a_j."""
    return gradient_flow(setting.model(d, signs), over(d, dataset), train=TRAINED)


@cache
def gram_descent(n: int, L: int) -> Flow:
    """The exact gradient-descent step on the scalars of level 1."""
    return descent_of(setting.data(n, L), setting.words_needed(n, L))


def descent_of(dataset: Data, d: int) -> Flow:
    """The exact gradient-descent step on any data set."""
    return gradient_descent(setting.model(d), over(d, dataset), train=TRAINED)


# ---- level 2: orbits ---------------------------------------------------------------------------------------------


@cache
def symmetric(n: int, L: int, swap: bool = True) -> Quotient:
    """Level 2: orbits of words inside a sample, samples inside a class and, with `swap`, mu1 <-> mu2 with I2 <-> I3."""
    return quotient_of(gram_flow(n, L), n, L, swap)


@cache
def symmetric_descent(n: int, L: int) -> Quotient:
    """The exact gradient-descent step on the 113 orbit variables."""
    return quotient_of(gram_descent(n, L), n, L)


def quotient_of(flow: Flow, n: int, L: int, swap: bool = True, generators: Sequence[Any] | None = None) -> Quotient:
    """The orbits of a level-1 flow on the training set of Assumption 2.3, under the symmetries found (or `generators`).

    Without `swap` only those generators are used that leave mu1 alone.
    """
    if swap:
        return named(flow.quotient(generators), n, L, swap)
    chosen = flow.symmetries().generators if generators is None else generators
    first = flow.layout.names.index("aWV_mu1")
    return named(flow.quotient([g for g in chosen if g.on_states(flow)[0][first] == first]), n, L, swap)


def named(quotient: Quotient, n: int, L: int, swap: bool) -> Quotient:
    """The quotient with its variables named after words: beta, G_1, A_12, V_1_r2, Q_r1_r1_sample, ...

    1, 2, 3 are mu1, mu2, mu3, and r1 .. r4 irrelevant words of a sample of I1 .. I4; of scores the key comes first. Two
    irrelevant words of one class end in _same (one word), _sample (of one sample) or _class (of two). One name stands
    for all that the symmetries exchange: with `swap` G_1 is G_2 too, A_12 is A_21, and G_r2 is G_r3.
    """
    dataset = setting.data(n, L)
    home = {
        t: (setting.class_of(s), i)
        for i, s in enumerate(dataset.samples)
        for t in s.tokens
        if t not in ("mu1", "mu2", "mu3")
    }
    states = quotient.system.structure.items()
    return quotient.rename({name: _orbit_name(state, home, swap) for name, state in states})


def letter(system: System, name: str) -> str:
    """The paper's letter of a state: beta, G, V, A, K or Q."""
    return LETTER[system.structure[name].path]


def _orbit_name(state: State, home: Mapping[str, tuple[int, int]], swap: bool) -> str:
    ends = [word for word in (state.left, state.right) if word and word != "a"]
    marks = [f"r{home[word][0]}" if word in home else word.removeprefix("mu") for word in ends]
    told = next((mark for mark in marks if mark in ("1", "2", "r2", "r3")), "")
    if swap and told in ("2", "r3"):  # the first of two that are exchanged stands for both
        marks = [_SWAPPED.get(mark, mark) for mark in marks]
    between = "" if all(mark in ("1", "2", "3") for mark in marks) else "_"
    parts = [LETTER[state.path], between.join(marks)]
    if len(ends) == 2 and marks[0] == marks[1] and ends[0] in home:
        same, sample = ends[0] == ends[1], home[ends[0]][1] == home[ends[1]][1]
        parts.append("same" if same else "sample" if sample else "class")
    return "_".join(part for part in parts if part)


# ---- dimensionless form and its limits ---------------------------------------------------------------------------


def unit_start(quotient: Quotient) -> dict[str, int]:
    """The infinite-width start in dimensionless form: beta = 1, V = K = Q = identity, G = S = 0, exactly."""
    start = quotient.initial_state(W=1, W_V=1, W_K=1, W_Q=1, m1=1)
    return {name: int(value) for name, value in zip(quotient.system.names, start, strict=True)}


def dimensionless(system: System) -> System:
    r"""Units B for beta, k0 for V, K, Q, sqrt(m) for A, 1/B for time: only eps2, eps3, eps4 are left.

    With eps2 = m1 k0 / B, eps3 = 1 / (k0 B), eps4 = k0 / (m B) solved for m, m1 and B, k0 drops out by itself.
    """
    B, k0 = sym("B"), sym("k0")
    unit = {"beta": B, "V": k0, "K": k0, "Q": k0, "A": graph.sqrt(sym("m"))}
    units = {name: unit[letter(system, name)] for name in system.names if letter(system, name) in unit}
    scaled = rescale_system(system, units, 1 / B)
    e2, e3, e4 = (sym(name) for name in SMALL)
    solved = scaled.substitute({"m1": e2 * B / k0, "m": k0 / (e4 * B)}).substitute({"B": 1 / (k0 * e3)})
    return collect_powers(solved, ["k0", *SMALL])


@cache
def mean_field(n: int, L: int, swap: bool = True) -> System:
    """Level 2 without dimensions: parameters eps2, eps3, eps4; scores in units of sqrt(m)."""
    return mean_field_of(symmetric(n, L, swap), n, L)


def mean_field_of(quotient: Quotient, n: int, L: int) -> System:
    """The dimensionless form of a level-2 system, with the loss and the class margins as observables."""
    return dimensionless(class_observables(quotient.system, n, L))


def class_observables(system: System, n: int, L: int) -> System:
    """The same system with the loss and one margin y F per class, margin_I1 .. margin_I4, as its only observables."""
    first = {c: int(places[0]) for c, places in setting.class_positions(setting.data(n, L)).items()}
    seen = {f"margin_I{c}": system.observables[f"margin_{k + 1}"] for c, k in first.items()}
    return replace(system, field=ScalarField(system.nodes, {"loss": system.observables["loss"], **seen}))


@cache
def kernel_ode(n: int, L: int, swap: bool = True) -> System:
    """Level 3: the limit eps2, eps3, eps4 -> 0, time tau = B t; 5 states G_1, G_3, G_r1, G_r2, G_r4."""
    return vanishing_limit(mean_field(n, L, swap), SMALL, unit_start(symmetric(n, L, swap)))


@cache
def score_rates(n: int, L: int) -> dict[str, Node]:
    """Leading order of the attention: d(A / sqrt(m)) / d tau divided by eps4, over the states of level 3."""
    return leading_order(mean_field(n, L), "eps4", SMALL, unit_start(symmetric(n, L)))


@cache
def every_n(L: int, swap: bool = True) -> System:
    """Level 3 for every n at once, the coefficients a + b / n found at n = 6, 12 and checked at 18."""
    return interpolate_reciprocal("n", {n: kernel_ode(n, L, swap) for n in (6, 12, 18)})


@cache
def planar_ode(L: int = 5) -> System:
    """Level 4: n -> infinity; states x = G(mu1) = G(mu2) and z = -G(mu3), started at 0."""
    return planar_of(every_n(L))


def planar_of(every: System) -> System:
    """The limit n -> infinity of level 3 for every n, in x = G_1 and z = -G_3."""
    return rescale_system(large_n_of(every), {"G_3": -1}, names={"G_1": "x", "G_3": "z"})


@cache
def large_n(L: int = 5, swap: bool = True) -> System:
    """Level 4 in G(mu1), G(mu2), G(mu3); without `swap` the three-variable form that lets mu1 and mu2 differ."""
    return large_n_of(every_n(L, swap))


def large_n_of(every: System) -> System:
    """The limit n -> infinity of level 3 for every n: irrelevant words stand still at zero."""
    return vanishing_limit(every.substitute({"n": 1 / sym("delta")}), ["delta"], dict.fromkeys(every.names, 0))


# ---- by name -----------------------------------------------------------------------------------------------------


def named_system(name: str, parameters: Mapping[str, Any]) -> System:
    """A system by the name the command line uses."""
    from .special import letters

    n, L = parameters["n"], parameters["L"]
    setting.check_sizes(n, L)
    table: dict[str, Any] = {
        "full": lambda: gram_flow(n, L).system,
        "quotient": lambda: symmetric(n, L).system,
        "mean_field": lambda: mean_field(n, L),
        "kernel": lambda: kernel_ode(n, L),
        "planar": lambda: planar_ode(L),
        "descent": lambda: symmetric_descent(n, L).system,
    }
    made: System = table[name]()
    return letters.explained(replace(made, tex={**made.tex, **PAPER_LETTERS}), name)


def gram_matrices(flow: Flow, state: np.ndarray) -> dict[str, np.ndarray]:
    """State vectors of level 1 as matrices beta, G, V, A, K, Q; works along the last axis of `state`."""
    return {LETTER[s.leaf]: np.asarray(state)[..., s.index] for s in flow.layout.segments}
