"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Mutations of the setting: ``labels`` (one target word is enough: I2 and I3 get the label +1), ``weight`` (the samples of
I4 count twice), ``scale`` (scores count half), ``unscaled`` (scores are not divided by the root of m). Mutations of the
derived equations: ``flip`` (scores move backwards), ``keys`` (key Gram matrix twice as fast), ``values`` (value Gram
matrix backwards), ``G`` (the sub-network moves twice as fast), ``beta`` (|W' a|^2 moves backwards), ``wide`` (the Gram
matrices of neurons, values, keys and queries move faster by the root of m, so that orders in m are wrong). All keep the
symmetries; where m is wrong, the limits of infinite width are refused, since they do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from odesys import AttentionModel, Distribution, Flow, Quotient, Sample, System, blocks, gradient_flow, graph
from odesys.errors import OdesysError
from odesys.field import BlockField
from odesys.graph import Node
from odesys.limits import leading_order, reciprocal_family, vanishing

from . import dynamics, setting

MUTATIONS = ("labels", "weight", "scale", "unscaled", "flip", "keys", "values", "G", "beta", "wide")
BROKEN: dict[str, tuple[tuple[str, ...], Any]] = {  # path matrices, also by their names neuron by neuron; factor
    "flip": (("KQ",), -1), "keys": (("KK",), 2), "values": (("VV",), -1), "G": (("aWV", "WV"), 2),
    "beta": (("aWWa", "WW"), -1), "wide": (("aWWa", "WW", "VV", "KK", "QQ"), graph.sqrt(graph.sym("m"))),
}


@dataclass(frozen=True)
class Laboratory:
    """Data, flows and reduced systems of any size, possibly mutated."""

    mutation: str = ""

    def __post_init__(self) -> None:
        if self.mutation and self.mutation not in MUTATIONS:
            raise OdesysError(f"the mutation {self.mutation!r} is not known; there are {', '.join(MUTATIONS)}")

    def mutate(self, dataset: Distribution) -> Distribution:
        """A data set with the mutation of the setting applied."""
        samples = []
        for s in dataset.samples:
            kind = setting.class_of(s)
            label = 1 if self.mutation == "labels" and kind in (2, 3) else s.label
            times = 2 if self.mutation == "weight" and kind == 4 else 1
            samples.append(Sample(s.tokens, label, s.weight * times, s.name))
        return Distribution.proportional(samples)

    def data(self, n: int, L: int) -> Distribution:
        """The training set of Assumption 2.3."""
        return self.mutate(setting.data(n, L))

    def model(self, d: int, signs: tuple[int, ...] | None = None) -> AttentionModel:
        """The model of Eq. (1)."""
        made = setting.model(d, signs)
        if self.mutation not in ("scale", "unscaled"):
            return made
        half = 1 / (2 * sp.sqrt(sp.Symbol("m", positive=True)))
        return AttentionModel(made.words, made.heads, made.value, scale=half if self.mutation == "scale" else 1)

    def flow(self, n: int, L: int) -> Flow:
        """Level 1."""
        return _flow(self.mutation, n, L)

    def flow_of(self, dataset: Distribution, d: int, signs: tuple[int, ...] | None = None) -> Flow:
        """Level 1 on any data set, or level 0 if the signs a_j are given."""
        flow = gradient_flow(self.model(d, signs), self.mutate(dataset), train=setting.TRAINED)
        if self.mutation not in BROKEN:
            return flow
        return _broken(flow, *BROKEN[self.mutation])

    def symmetric(self, n: int, L: int, swap: bool = True) -> Quotient:
        """Level 2."""
        return _symmetric(self.mutation, n, L, swap)

    def mean_field(self, n: int, L: int, swap: bool = True) -> System:
        """Level 2 without dimensions."""
        return _mean_field(self.mutation, n, L, swap)

    def kernel(self, n: int, L: int, swap: bool = True) -> System:
        """Level 3."""
        return _kernel(self.mutation, n, L, swap)

    def score_rates(self, n: int, L: int) -> dict[str, Node]:
        """Leading order of the attention over level 3."""
        return _score_rates(self.mutation, n, L)

    def family(self, L: int, swap: bool = True) -> System:
        """Level 3 for every n."""
        return _family(self.mutation, L, swap)

    def planar(self, L: int = 5) -> System:
        """Level 4 in x and z."""
        return dynamics.planar_of(self.family(L))

    def large_n(self, L: int = 5) -> System:
        """Level 4 in G(mu1), G(mu2), G(mu3)."""
        return dynamics.large_n_of(self.family(L, swap=False))


@cache
def _flow(mutation: str, n: int, L: int) -> Flow:
    return Laboratory(mutation).flow_of(setting.data(n, L), setting.words_needed(n, L))


def _broken(flow: Flow, leaves: tuple[str, ...], factor: Any) -> Flow:
    """The same flow with the equations of some path matrices multiplied by a number or a parameter."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    rhs = {name: blocks.multiply(blocks.constant([[factor]]), block) if name in leaves else block
           for name, block in field.rhs.items()}
    made = replace(field, rhs=rhs)
    return replace(flow, system=replace(flow.system, field=made, parameters=tuple(sorted(made.parameters))))


@cache
def _symmetric(mutation: str, n: int, L: int, swap: bool) -> Quotient:
    return dynamics.quotient_of(_flow(mutation, n, L), n, L, swap)


@cache
def _mean_field(mutation: str, n: int, L: int, swap: bool) -> System:
    return dynamics.mean_field_of(_symmetric(mutation, n, L, swap), n, L)


@cache
def _kernel(mutation: str, n: int, L: int, swap: bool) -> System:
    start = dynamics.unit_start(_symmetric(mutation, n, L, swap))
    return vanishing(_mean_field(mutation, n, L, swap), dynamics.SMALL, start)


@cache
def _score_rates(mutation: str, n: int, L: int) -> dict[str, Node]:
    start = dynamics.unit_start(_symmetric(mutation, n, L, True))
    return leading_order(_mean_field(mutation, n, L, True), "eps4", dynamics.SMALL, start)


@cache
def _family(mutation: str, L: int, swap: bool) -> System:
    return reciprocal_family("n", {n: _kernel(mutation, n, L, swap) for n in (6, 12, 18)})
