"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

A laboratory notes what a check reads of it, in `reads`. Systems of finite width are made of the ``model``, the
``samples of I1`` .. ``I4`` and the equations of path matrices (``equations of KQ``), so these are their parts; which
scalars occur (``closed sets``) and the limits of infinite width (``level 3``, with level 4 and all n, and ``score
rates``) are parts by themselves, compared by program with those of the paper at the smallest size, n = 6 and L = 4.
All mutations keep the symmetries; where orders in m are wrong, the limits are refused, since they do not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import sympy as sp

from odesys import (
    AttentionModel,
    BaseLaboratory,
    BlockField,
    Distribution,
    Flow,
    Node,
    OdesysError,
    Quotient,
    Sample,
    System,
    blocks,
    gradient_flow,
    graph,
    leading_order,
    reciprocal_family,
    vanishing_limit,
)

from . import dynamics, setting

__all__ = ["BROKEN", "MUTATIONS", "Equations", "Laboratory"]

MUTATIONS = {
    # data and model: everything is derived from them
    "labels": "one target word is enough: samples of I2 and I3 get the label +1",
    "weight": "the samples of I4 count twice",
    "scale": "scores count half",
    "unscaled": "scores are not divided by the root of m",
    # derived equations
    "flip": "scores move backwards",
    "keys": "the key Gram matrix moves twice as fast",
    "values": "the value Gram matrix moves backwards",
    "G": "the sub-network moves twice as fast",
    "beta": "|W'a|^2 and the correlations of neurons move backwards",
    "wide": "the Gram matrices of neurons, values, keys and queries move faster by the root of m",
}
BROKEN: dict[str, tuple[tuple[str, ...], Any]] = {  # path matrices, also by their names neuron by neuron; factor
    "flip": (("KQ",), -1),
    "keys": (("KK",), 2),
    "values": (("VV",), -1),
    "G": (("aWV", "WV"), 2),
    "beta": (("aWWa", "WW"), -1),
    "wide": (("aWWa", "WW", "VV", "KK", "QQ"), graph.sqrt(graph.sym("m"))),
}
LEVEL_0, LEVEL_1 = ("WV", "WW", "VV", "KQ", "KK", "QQ"), ("aWV", "aWWa", "VV", "KQ", "KK", "QQ")
SMALLEST = (6, 4)  # n, L at which limits are compared


class Laboratory(BaseLaboratory):
    """Data, flows and reduced systems of any size, possibly mutated."""

    mutations = MUTATIONS

    def part(self, name: str) -> Any:
        """A part in a form that can be compared: equal expressions are the same object."""
        return _part(self.mutation, name)

    def mutate(self, dataset: Distribution) -> Distribution:
        """A data set with the mutation of the setting applied."""
        self.reads |= {f"samples of I{setting.class_of(s)}" for s in dataset.samples}
        return _mutated(self.mutation, dataset)

    def data(self, n: int, L: int) -> Distribution:
        """The training set of Assumption 2.3."""
        return self.mutate(setting.data(n, L))

    def model(self, d: int, signs: tuple[int, ...] | None = None) -> AttentionModel:
        """The model of Eq. (1)."""
        self.reads.add("model")
        return _model(self.mutation, d, signs)

    def flow(self, n: int, L: int) -> Flow:
        """Level 1."""
        self._all_of(setting.data(n, L), LEVEL_1)
        return _flow(self.mutation, n, L)

    def flow_of(self, dataset: Distribution, d: int, signs: tuple[int, ...] | None = None) -> Flow:
        """Level 1 on any data set, or level 0 if the signs a_j are given."""
        self._all_of(dataset, LEVEL_1 if signs is None else LEVEL_0)
        return _flow_of(self.mutation, dataset, d, signs)

    def outputs_of(self, dataset: Distribution, d: int, signs: tuple[int, ...] | None = None) -> Flow:
        """The same flow to ask for margins and loss; equations are read with `equations`."""
        self._all_of(dataset, ())
        return _flow_of(self.mutation, dataset, d, signs)

    def equations(self, flow: Flow) -> Equations:
        """Right-hand sides by state name; what is looked up counts as read."""
        return Equations(self, flow)

    def names(self, n: int, L: int) -> Flow:
        """Level 1 to ask for names and start values; that reads no equation."""
        return _flow(self.mutation, n, L)

    def _all_of(self, dataset: Distribution, leaves: tuple[str, ...]) -> None:
        self.model(3)
        self.mutate(dataset)
        self.reads |= {f"equations of {leaf}" for leaf in leaves}

    def symmetric(self, n: int, L: int, swap: bool = True) -> Quotient:
        """Level 2."""
        self._all_of(setting.data(n, L), LEVEL_1)
        return _symmetric(self.mutation, n, L, swap)

    def mean_field(self, n: int, L: int, swap: bool = True) -> System:
        """Level 2 without dimensions."""
        self._all_of(setting.data(n, L), LEVEL_1)
        return _mean_field(self.mutation, n, L, swap)

    def unit_rates(self, n: int, L: int) -> dict[str, Node]:
        """Rates of G at the infinite-width start in units of B, exactly; of the equations only those of G are read."""
        self._all_of(setting.data(n, L), ("aWV",))
        return _unit_rates(self.mutation, n, L)

    def closed_sets(self, n: int, L: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the states of level 1 and of level 2: which scalars occur, not how they move."""
        self.reads.add("closed sets")
        return tuple(_flow(self.mutation, n, L).system.names), tuple(_symmetric(self.mutation, n, L, True).system.names)

    def kernel(self, n: int, L: int, swap: bool = True) -> System:
        """Level 3."""
        self.reads.add("level 3")
        return _kernel(self.mutation, n, L, swap)

    def score_rates(self, n: int, L: int) -> dict[str, Node]:
        """Leading order of the attention over level 3."""
        self.reads.add("score rates")
        return _score_rates(self.mutation, n, L)

    def family(self, L: int, swap: bool = True) -> System:
        """Level 3 for every n."""
        self.reads.add("level 3")
        return _family(self.mutation, L, swap)

    def planar(self, L: int = 5) -> System:
        """Level 4 in x and z."""
        return dynamics.planar_of(self.family(L))

    def large_n(self, L: int = 5) -> System:
        """Level 4 in G(mu1), G(mu2), G(mu3)."""
        return dynamics.large_n_of(self.family(L, swap=False))


class Equations(Mapping[str, Node]):
    """Right-hand sides of a flow by state name, that note in a laboratory which path matrix was looked up."""

    def __init__(self, lab: Laboratory, flow: Flow) -> None:
        self._lab, self._nodes = lab, flow.system.equations
        self._leaf = {str(name): leaf for leaf, names in flow.matrices.items() for name in names.ravel()}

    def __getitem__(self, name: str) -> Node:
        self._lab.reads.add(f"equations of {self._leaf[name]}")
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


@cache
def _part(mutation: str, name: str) -> Any:
    if name == "model":
        return _model(mutation, 3, None)
    what, _, which = name.rpartition(" of ")
    if what == "samples":
        kind = int(which[1:])
        return _label(mutation, kind), _weight(mutation, kind)
    if what == "equations":
        leaves, factor = BROKEN.get(mutation, ((), 1))
        return graph.as_node(factor if which in leaves else 1)
    if name == "closed sets":
        return tuple(_flow(mutation, *SMALLEST).system.names), tuple(_symmetric(mutation, *SMALLEST, True).system.names)
    try:
        if name == "level 3":
            system = _kernel(mutation, *SMALLEST, True)
            return system.names, system.nodes, dict(system.observables)
        return _score_rates(mutation, *SMALLEST) if name == "score rates" else None
    except OdesysError:  # refused: nothing to compare
        return None


def _label(mutation: str, kind: int) -> int:
    return 1 if mutation == "labels" and kind in (2, 3) else setting.LABEL[kind]


def _weight(mutation: str, kind: int) -> int:
    return 2 if mutation == "weight" and kind == 4 else 1


def _mutated(mutation: str, dataset: Distribution) -> Distribution:
    samples = []
    for s in dataset.samples:
        kind = setting.class_of(s)
        label = 1 if mutation == "labels" and kind in (2, 3) else s.label
        samples.append(Sample(s.tokens, label, s.weight * _weight(mutation, kind), s.name))
    return Distribution.proportional(samples)


@cache
def _model(mutation: str, d: int, signs: tuple[int, ...] | None) -> AttentionModel:
    made = setting.model(d, signs)
    if mutation not in ("scale", "unscaled"):
        return made
    half = 1 / (2 * sp.sqrt(sp.Symbol("m", positive=True)))
    return AttentionModel(made.words, made.heads, made.value, scale=half if mutation == "scale" else 1)


@cache
def _flow_of(mutation: str, dataset: Distribution, d: int, signs: tuple[int, ...] | None) -> Flow:
    flow = gradient_flow(_model(mutation, d, signs), _mutated(mutation, dataset), train=setting.TRAINED)
    return _broken(flow, *BROKEN[mutation]) if mutation in BROKEN else flow


@cache
def _flow(mutation: str, n: int, L: int) -> Flow:
    return _flow_of(mutation, setting.data(n, L), setting.words_needed(n, L), None)


def _broken(flow: Flow, leaves: tuple[str, ...], factor: Any) -> Flow:
    """The same flow with the equations of some path matrices multiplied by a number or a parameter."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    rhs = {
        name: blocks.multiply(blocks.constant([[factor]]), block) if name in leaves else block
        for name, block in field.rhs.items()
    }
    made = replace(field, rhs=rhs)
    return replace(flow, system=replace(flow.system, field=made, parameters=tuple(sorted(made.parameters))))


@cache
def _symmetric(mutation: str, n: int, L: int, swap: bool) -> Quotient:
    return dynamics.quotient_of(_flow(mutation, n, L), n, L, swap)


@cache
def _mean_field(mutation: str, n: int, L: int, swap: bool) -> System:
    return dynamics.mean_field_of(_symmetric(mutation, n, L, swap), n, L)


@cache
def _unit_rates(mutation: str, n: int, L: int) -> dict[str, Node]:
    start = dynamics.unit_start(_symmetric(mutation, n, L, True))
    system = _mean_field(mutation, n, L, True)
    rows = {name: node for name, node in system.equations.items() if name.startswith("G_")}
    values = graph.substitute(list(rows.values()), {graph.sym(k): graph.num(v) for k, v in start.items()})
    return dict(zip(rows, values, strict=True))


@cache
def _kernel(mutation: str, n: int, L: int, swap: bool) -> System:
    start = dynamics.unit_start(_symmetric(mutation, n, L, swap))
    return vanishing_limit(_mean_field(mutation, n, L, swap), dynamics.SMALL, start)


@cache
def _score_rates(mutation: str, n: int, L: int) -> dict[str, Node]:
    start = dynamics.unit_start(_symmetric(mutation, n, L, True))
    return leading_order(_mean_field(mutation, n, L, True), "eps4", dynamics.SMALL, start)


@cache
def _family(mutation: str, L: int, swap: bool) -> System:
    return reciprocal_family("n", {n: _kernel(mutation, n, L, swap) for n in (6, 12, 18)})
