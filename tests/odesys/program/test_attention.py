"""An AttentionModel says what its lines say, one by one: the same states, flow and step."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from odesys import AttentionModel, Dictionary, Distribution, Head, OdesysError, Sample, gradient_descent, gradient_flow
from odesys.model.attention import Neurons, Value
from tests.attention_oracle import network_outputs, random_network
from tests.toy_models import Toy, all_toys, two_mixture
from tests.toy_programs import program_flow


@pytest.mark.parametrize("toy", all_toys(), ids=lambda toy: toy.name)
@pytest.mark.parametrize("rule", [gradient_flow, gradient_descent])
def test_the_model_is_its_lines(toy: Toy, rule) -> None:
    short = rule(toy.model, toy.data, toy.loss, train=toy.train)
    lines = program_flow(toy.model, toy.data, toy.train, toy.loss, rule=rule)
    assert short.system.tex == lines.system.tex
    order = [short.system.names.index(name) for name in lines.system.names]
    given = {**toy.parameters, **({"eta": 0.3} if rule is gradient_descent else {})}
    x = np.random.default_rng(5).normal(size=short.system.dimension)
    found, known = short.system.compile(given)(0.0, x)[order], lines.system.compile(given)(0.0, x[order])
    assert np.abs(known - x[order] * (rule is gradient_descent)).max() > 1e-3
    assert np.abs(found - known).max() < 1e-12 * max(1.0, np.abs(known).max())


def test_the_heads_are_seen_along_runs() -> None:
    toy = two_mixture()
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    net = random_network(toy.model, 5, 4, toy.scales, 1, toy.parameters)
    seen = flow.system.compile(toy.parameters).observables(0.0, flow.initial_state(weights=net.images()))
    outputs = network_outputs(net, toy.data)
    for k in range(1, 5):
        heads = [max(0.0, seen[f"H_{label}_{k}"] + toy.parameters["b"]) for label in toy.model.head_labels]
        assert heads[0] - heads[1] == pytest.approx(outputs[k - 1], abs=1e-13)


def test_a_readout_by_position_counts_the_positions() -> None:
    value = Value(("W_O", "W_V"), Neurons(([1, 2], [3, 4])))
    model = AttentionModel(Dictionary(["a", "b"]), [Head()], value)
    derive = partial(gradient_flow, model, train=("W_O", "W_V"))
    assert derive(Distribution([Sample(["a", "b"], 1)])).system.dimension > 0
    with pytest.raises(OdesysError, match="has 2 positions but a sample has 3 tokens"):
        derive(Distribution([Sample(["a", "b", "b"], 1)]))
