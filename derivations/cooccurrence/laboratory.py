"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Systems of finite width are made of the `model`, the `samples_of` the classes I1 .. I4 and the equations of path
matrices, told apart by their `speed`, so these are their parts. Which scalars occur (`all_names`) and the limits of
infinite width (`level_three`, with level 4 and all n, and `leading_scores`) are parts by themselves, compared with
those of the paper at the smallest size, n = 6 and L = 4. All mutations keep the symmetries; where orders in m are
wrong, the limits are refused, since they do not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import sympy as sp

from odesys import (
    BaseLaboratory,
    Data,
    Flow,
    Mutation,
    Node,
    PathSpeeds,
    Quotient,
    Sample,
    System,
    computed_once,
    each_sample,
    gradient_flow,
    graph,
    interpolate_reciprocal,
    laboratory_part,
    leading_order,
    vanishing_limit,
)

from . import dynamics, setting

__all__ = ["MUTATIONS", "Equations", "Laboratory"]

HALF = 1 / (2 * sp.sqrt(sp.Symbol("m", positive=True)))
MUTATIONS = (
    # data and model: everything is derived from them
    Mutation(
        "labels",
        "one target word is enough: samples of I2 and I3 get the label +1",
        data=each_sample(lambda s: replace(s, label=1) if setting.class_of(s) in (2, 3) else s),
    ),
    Mutation(
        "weight",
        "the samples of I4 count twice",
        data=each_sample(lambda s: replace(s, weight=2 * s.weight) if setting.class_of(s) == 4 else s),
    ),
    Mutation("scale", "scores count half", model=lambda model: replace(model, scale=HALF)),
    Mutation("unscaled", "scores are not divided by the root of m", model=lambda model: replace(model, scale=1)),
    # derived equations, of path matrices also by their names neuron by neuron
    Mutation("flip", "scores move backwards", equations=PathSpeeds({"KQ": -1})),
    Mutation("keys", "the key Gram matrix moves twice as fast", equations=PathSpeeds({"KK": 2})),
    Mutation("values", "the value Gram matrix moves backwards", equations=PathSpeeds({"VV": -1})),
    Mutation("G", "the sub-network moves twice as fast", equations=PathSpeeds({"aWV": 2, "WV": 2})),
    Mutation(
        "beta",
        "|W'a|^2 and the correlations of neurons move backwards",
        equations=PathSpeeds({"aWWa": -1, "WW": -1}),
    ),
    Mutation(
        "wide",
        "the Gram matrices of neurons, values, keys and queries move faster by the root of m",
        equations=PathSpeeds(dict.fromkeys(("aWWa", "WW", "VV", "KK", "QQ"), graph.sqrt(graph.sym("m")))),
    ),
)
LEVEL_0, LEVEL_1 = ("WV", "WW", "VV", "KQ", "KK", "QQ"), ("aWV", "aWWa", "VV", "KQ", "KK", "QQ")
SMALLEST = (6, 4)  # n, L at which limits are compared
SWAP = {"G_1": "G_2", "G_2": "G_1", "G_r2": "G_r3", "G_r3": "G_r2"}


class Laboratory(BaseLaboratory):
    """Data, flows and reduced systems of any size, possibly mutated."""

    mutations = MUTATIONS

    # ---- what systems of finite width are made of

    @laboratory_part
    def model(self, d: int, signs: tuple[int, ...] | None = None) -> setting.Network:
        """The model of Eq. (1)."""
        return self.mutation.model(setting.model(d, signs))

    @laboratory_part
    def samples_of(self, kind: int) -> list[Sample]:
        """The samples of I1, I2, I3 or I4 at the smallest size, with weights relative to the paper's."""
        return self.mutation.data([s for s in setting.data(*SMALLEST).samples if setting.class_of(s) == kind])

    @laboratory_part
    def speed(self, leaf: str) -> Node:
        """The factor in the equations of a path matrix."""
        return graph.as_node(self.speeds.of(leaf))

    def _read_all(self, dataset: Data, leaves: tuple[str, ...]) -> None:
        self.read(Laboratory.model, 3, None)
        self.mutate(dataset)
        for leaf in leaves:
            self.read(Laboratory.speed, leaf)

    def mutate(self, dataset: Data) -> Data:
        """A data set with the mutation of the setting applied."""
        for kind in {setting.class_of(s) for s in dataset.samples}:
            self.read(Laboratory.samples_of, kind)
        return Data.proportional(dataset.words, self.mutation.data(dataset.samples))

    def data(self, n: int, L: int) -> Data:
        """The training set of Assumption 2.3."""
        return self.mutate(setting.data(n, L))

    # ---- finite width: levels 1 and 2

    def flow(self, n: int, L: int) -> Flow:
        """Level 1; unbroken, it is derived once for the systems, the runs and the checks."""
        if not self.mutation.name:
            self._read_all(setting.data(n, L), LEVEL_1)
            return dynamics.gram_flow(n, L)
        return self.flow_of(setting.data(n, L), setting.words_needed(n, L))

    def flow_of(self, dataset: Data, d: int, signs: tuple[int, ...] | None = None) -> Flow:
        """Level 1 on any data set, or level 0 if the signs a_j are given."""
        self._read_all(dataset, LEVEL_1 if signs is None else LEVEL_0)
        return self.unrecorded()._flow(dataset, d, signs)

    def outputs_of(self, dataset: Data, d: int, signs: tuple[int, ...] | None = None) -> Flow:
        """The same flow to ask for margins and loss; equations are read with `equations`."""
        self._read_all(dataset, ())
        return self.unrecorded()._flow(dataset, d, signs)

    @computed_once
    def _flow(self, dataset: Data, d: int, signs: tuple[int, ...] | None) -> Flow:
        return self.mutation.equations(
            gradient_flow(self.model(d, signs), self.mutate(dynamics.over(d, dataset)), train=setting.TRAINED)
        )

    def equations(self, flow: Flow) -> Equations:
        """Right-hand sides by state name; what is looked up counts as read."""
        return Equations(self, flow)

    def names(self, n: int, L: int) -> Flow:
        """Level 1 to ask for names and start values; that reads no equation."""
        return self.unrecorded().flow(n, L)

    @computed_once
    def symmetric(self, n: int, L: int, swap: bool = True) -> Quotient:
        """Level 2."""
        flow = self.flow(n, L)
        if not self.mutation.name and swap:
            return dynamics.symmetric(n, L)
        return dynamics.quotient_of(flow, n, L, swap, self._symmetries(n, L))

    @computed_once
    def _symmetries(self, n: int, L: int) -> tuple[Any, ...]:
        return self.flow(n, L).symmetries().generators

    @computed_once
    def mean_field(self, n: int, L: int, swap: bool = True) -> System:
        """Level 2 without dimensions."""
        quotient = self.symmetric(n, L, swap)
        return dynamics.mean_field(n, L) if not self.mutation.name and swap else dynamics.mean_field_of(quotient, n, L)

    def unit_rates(self, n: int, L: int) -> dict[str, Node]:
        """Rates of G at the infinite-width start in units of B, exactly; of the equations only those of G are read."""
        self._read_all(setting.data(n, L), ("aWV",))
        return self.unrecorded()._unit_rates(n, L)

    @computed_once
    def _unit_rates(self, n: int, L: int) -> dict[str, Node]:
        start = dynamics.unit_start(self.symmetric(n, L))
        system = self.mean_field(n, L)
        rows = {name: system.equations[name] for name in system.on_path("aWV")}
        values = graph.substitute(list(rows.values()), {graph.sym(k): graph.num(v) for k, v in start.items()})
        return dict(zip(rows, values, strict=True))

    # ---- which scalars occur, and limits of infinite width: parts by themselves, at the smallest size

    @laboratory_part
    def all_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The closed sets at the smallest size."""
        return self.closed_sets(*SMALLEST)

    @laboratory_part
    def level_three(self) -> System:
        """Level 3 at the smallest size."""
        return self._kernel(*SMALLEST, True)

    @laboratory_part
    def leading_scores(self) -> dict[str, Node]:
        """Leading order of the attention at the smallest size."""
        return self._score_rates(*SMALLEST)

    def closed_sets(self, n: int, L: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the states of level 1 and of level 2: which scalars occur, not how they move."""
        self.read(Laboratory.all_names)
        hidden = self.unrecorded()
        return hidden.flow(n, L).system.names, hidden.symmetric(n, L).system.names

    def kernel(self, n: int, L: int, swap: bool = True) -> System:
        """Level 3."""
        self.read(Laboratory.level_three)
        return self.unrecorded()._kernel(n, L, swap)

    @computed_once
    def _kernel(self, n: int, L: int, swap: bool) -> System:
        start = dynamics.unit_start(self.symmetric(n, L, swap))
        return vanishing_limit(self.mean_field(n, L, swap), dynamics.SMALL, start)

    def score_rates(self, n: int, L: int) -> dict[str, Node]:
        """Leading order of the attention over level 3."""
        self.read(Laboratory.leading_scores)
        return self.unrecorded()._score_rates(n, L)

    @computed_once
    def _score_rates(self, n: int, L: int) -> dict[str, Node]:
        start = dynamics.unit_start(self.symmetric(n, L))
        return leading_order(self.mean_field(n, L), "eps4", dynamics.SMALL, start)

    @computed_once
    def every_n(self, L: int, swap: bool = True) -> System:
        """Level 3 for every n; with `swap` as the orbits of mu1 <-> mu2, I_2 <-> I_3 on the form without it."""
        if swap:
            return cast(System, self.every_n(L, swap=False).quotient([SWAP]).system)
        return interpolate_reciprocal("n", {n: self.kernel(n, L, swap=False) for n in (6, 12, 18)})

    def planar(self, L: int = 4) -> System:
        """Level 4 in x and z."""
        return dynamics.planar_of(self.every_n(L))

    def large_n(self, L: int = 4) -> System:
        """Level 4 in G(mu1), G(mu2), G(mu3)."""
        return dynamics.large_n_of(self.every_n(L, swap=False))


class Equations(Mapping[str, Node]):
    """Right-hand sides of a flow by state name, that note in a laboratory which path matrix was looked up."""

    def __init__(self, lab: Laboratory, flow: Flow) -> None:
        self._lab, self._nodes = lab, flow.system.equations
        self._leaf = {str(name): leaf for leaf, names in flow.matrices.items() for name in names.ravel()}

    def __getitem__(self, name: str) -> Node:
        self._lab.read(Laboratory.speed, self._leaf[name])
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)
