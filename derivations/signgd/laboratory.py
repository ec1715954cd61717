"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Parts a check can read are one `sample` of any number, with sums over all others as symbols, and its `shares` of the
signs of reduced moves (also with softmax weights and slopes opaque), for every size; the `outputs` and the `losses` of
the toy network of two samples, the `moves` of its weights in a sign step and its `arguments`; the `variances` of the
inner products at the start, and the `rules` of the runs of the recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from odesys import BaseLaboratory, Mutation, Node, graph, laboratory_part, sym

from .setting import Case
from .special import one_sample, recursion, toy_network
from .special.one_sample import BOTH, OneSample
from .special.recursion import Advance, Start, State
from .special.toy_network import LABELS, Model, Toy
from .special.watched_runs import Rules

MUTATIONS = (
    # model and loss: everything is derived from them
    Mutation(
        "temperature", "logits count 4096 times in the softmax", model=lambda model: replace(model, temperature=4096)
    ),
    Mutation("loss", "exponential instead of logistic loss", model=lambda model: replace(model, exponential=True)),
    Mutation(
        "shared", "both samples of the toy have the same support", model=lambda model: replace(model, shared=True)
    ),
    # optimiser, which is part of the model too
    Mutation("ascent", "weights move up the gradient", model=lambda model: replace(model, descent=-1)),
    Mutation("queries", "queries move backwards", model=lambda model: replace(model, query=-1)),
    Mutation("keys", "keys stand still", model=lambda model: replace(model, key=0)),
    Mutation("values", "values move up the gradient", model=lambda model: replace(model, values=-1)),
    Mutation(
        "noise",
        "weights on the noise coordinates move at a third of the step",
        model=lambda model: replace(model, noise=Fraction(1, 3)),
    ),
    Mutation(
        "frozen",
        "derivatives of the softmax are taken at zero logits",
        model=lambda model: replace(model, frozen_softmax=True),
    ),
    # start
    Mutation("start", "all weights start eight times as large", start=lambda size: 8 * size),
)


class Laboratory(BaseLaboratory):
    """Toy network, sign arguments, start and runs, possibly mutated."""

    mutations = MUTATIONS

    @property
    def _model(self) -> Model:
        return self.mutation.model(Model())

    @property
    def _disjoint(self) -> Model:
        """The model on disjoint supports, whatever the mutation."""
        return replace(self._model, shared=False)

    @laboratory_part
    def values_of_a_sample(self) -> list[Node]:
        """Output and a logit of one sample of any number, for both labels."""
        made = [one_sample.sample(self._model, label) for label in BOTH]
        return [node for one in made for node in (one.output(), one.logit(0, 0))]

    @laboratory_part
    def slope_of_a_sample(self, label: int) -> Node:
        """g, which is positive where the loss falls with the margin, as a function of the output f."""
        return one_sample.sample(self._model, label).slope()

    def sample(self, label: int, place: str = "") -> OneSample:
        """One sample of any number at a coordinate; what it moves is in `moves_of_a_sample`."""
        self.read(Laboratory.values_of_a_sample)
        return one_sample.sample(self._model, label, place)

    @laboratory_part
    def moves_of_a_sample(self, label: int, place: str = "") -> dict[str, Node]:
        """What one sample adds to the argument of the step of a weight at a coordinate."""
        return one_sample.sample(self._model, label, place).arguments()

    @laboratory_part
    def lengths(self) -> dict[str, Node]:
        """Lengths of the steps of weights over eta."""
        return one_sample.step_lengths(self._model)

    @laboratory_part
    def shares(self, opaque: bool = False) -> Mapping[int, Mapping[str, Node]]:
        """By label, what a sample adds to the sign arguments of the reduced state; for every size."""
        return one_sample.shares(self._disjoint, opaque)

    def network(self) -> Toy:
        """The toy network: attention, heads and output as expressions of the weights."""
        self.read(Laboratory.outputs)
        return toy_network.toy(self._model)

    @laboratory_part
    def outputs(self) -> list[Node]:
        """The output on each sample, and a logit."""
        made = toy_network.toy(self._model)
        return [*(made.output(i) for i in range(len(LABELS))), made.logit(0, 0, 0)]

    @laboratory_part
    def losses(self) -> list[Node]:
        """The share of each sample in the loss, as a function of its output f."""
        return [toy_network.toy(self._model).loss_of(i, sym("f")) for i in range(len(LABELS))]

    def slope(self, i: int, f: Node) -> Node:
        """Derivative of the share of sample i in the loss, times n, by its output f."""
        self.read(Laboratory.losses)
        return len(LABELS) * graph.gradient(toy_network.toy(self._model).loss_of(i, f), [f])[0]

    @laboratory_part
    def moves(self) -> tuple[dict[str, Node], dict[str, Node]]:
        """For every weight the argument of its sign step, and the length of the step over eta."""
        made = toy_network.toy(self._model)
        return made.arguments(), made.lengths()

    def steps(self) -> tuple[Toy, dict[str, Node], dict[str, Node]]:
        """The toy with the moves of its weights."""
        return toy_network.toy(self._model), *self.moves()

    @laboratory_part
    def arguments(self, opaque: bool = False) -> dict[str, Node]:
        """Sign arguments of the reduced state; supports are disjoint here whatever the mutation."""
        return toy_network.reduced_arguments(self._disjoint, opaque)

    @laboratory_part
    def variances(self) -> dict[str, Fraction]:
        """Variances of inner products at the start over sigma_0^2 |.|_2^2, for m_v = 2 rows; derived from the toy."""
        size = self.mutation.start(1)
        return {name: size**2 * value for name, value in _variances(self._disjoint).items()}

    def starts(self, case: Case, seed: int | tuple[int, ...]) -> Start:
        """A start of a case."""
        self.read(Laboratory.variances)
        start, size = recursion.draw(case, seed), self.mutation.start(1)
        state = State.unpack(size * start.state.pack(), case.n, case.m_k)
        return replace(start, state=state, beta_xi=size * start.beta_xi, beta_mu=size * start.beta_mu)

    @laboratory_part
    def rules(self) -> Rules:
        """The model and optimiser as the runs of the recursion have them."""
        m = self._model
        return Rules(float(m.temperature), m.descent, m.query, m.key, m.values, float(m.noise), m.frozen_softmax)

    def advance(self) -> Advance:
        """One step of sign descent with a finite step size."""
        return self.rules().advance(recursion.step)


def _variances(model: Model) -> dict[str, Fraction]:
    """Sum of squared coefficients of an inner product in the weights, over the squared length of what it meets."""
    made = toy_network.toy(model)
    rows = {kind: made.weights[kind] for kind in "QKPN"}
    mean = {kind: [graph.add(column) / toy_network.ROWS for column in zip(*rows[kind], strict=True)] for kind in "PN"}
    difference = [a - b for a, b in zip(mean["P"], mean["N"], strict=True)]
    out: dict[str, Fraction] = {}
    for name, w in {"q": rows["Q"][0], "k": rows["K"][0], "row": rows["P"][0], "v": difference}.items():
        for what, vector in (("mu", made.mu), ("xi", made.xi[0])):
            slopes = graph.gradient(toy_network.dot(w, vector), list(made.all_weights().values()))
            out[f"{name}_{what}"] = _number(graph.add([s * s for s in slopes]) / toy_network.dot(vector, vector))
    return out


def _number(node: Node) -> Fraction:
    """The value of a constant expression: evaluated at two exact points that agree."""
    points = [{name: Fraction(k + j, 3) for j, name in enumerate(sorted(graph.symbols([node])), 1)} for k in (1, 2)]
    first, second = (graph.evaluate([node], point, {})[0] for point in points)
    if first != second:
        raise ValueError(f"{node!r} is not a constant: {first} and {second}")
    return Fraction(first)
