"""An AttentionModel says what its lines say, one by one: the same states, flow and step."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from odesys import (
    AttentionModel,
    Data,
    Dictionary,
    Distribution,
    Head,
    OdesysError,
    Sample,
    gradient_descent,
    gradient_flow,
)
from odesys.expr.graph import ONE
from odesys.model.attention import FixedVector, Neurons, Value
from odesys.program.expressions import tokens
from odesys.program.program import read_program
from odesys.program.spaces import Words
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


PAIR = Dictionary(["a", "b"])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: AttentionModel(["a"]), "a model needs a Dictionary, got list"),
        (lambda: AttentionModel(PAIR, []), "a model needs at least one Head"),
        (lambda: AttentionModel(PAIR, [Head(), "h"]), "a model needs at least one Head"),
        (
            lambda: AttentionModel(PAIR, value=("W_K",)),
            "the map W_K stands in the value and in the score; each map once",
        ),
        (
            lambda: AttentionModel(PAIR, value=Value(("W",), output=FixedVector("W_Q"))),
            "W_Q is the output vector and a map; give one of them another name",
        ),
        (
            lambda: AttentionModel(PAIR, value=Value(("W",), output=FixedVector("W"))),
            "W is the output vector and a map; give one of them another name",
        ),
    ],
)
def test_models_that_say_two_things_are_refused(make, sentence: str) -> None:
    with pytest.raises(OdesysError, match=f"^{re.escape(sentence)}$"):
        make()


def test_heads_have_short_names() -> None:
    for signs, labels, shown in (
        ([1], ("",), ["H"]),
        ([-1], ("",), ["H"]),
        ([1, -1], ("p", "m"), ["H_p", "H_m"]),
        ([-1, 1], ("m", "p"), ["H_m", "H_p"]),
        ([1, 1], ("h1", "h2"), ["H_h1", "H_h2"]),
        ([1, -1, 1], ("h1", "h2", "h3"), ["H_h1", "H_h2", "H_h3"]),
    ):
        model = AttentionModel(PAIR, [Head(sign) for sign in signs])
        assert model.head_labels == labels and list(model.shown) == shown
    alone = AttentionModel(Words("a b"), Head(+1))
    assert alone.heads == (Head(+1),) and alone.words == PAIR and alone.scale == AttentionModel(PAIR).scale
    assert alone.weights == ("w", "W_K", "W_Q")


def test_every_shape_of_a_head_is_written_out() -> None:
    """Chains of several maps have free spaces between; a transposed map is the transpose of one between its ends."""
    X = tokens(Words("a b"), 2)
    two = AttentionModel(PAIR, value=("w", "V", "U"), score=("A'", "B", "C"))
    read = read_program(two, Data(Words("a b"), [("a b", 1)]), "squared").tables
    assert {str(path) for path in read} == {"w.V.U.E", "E'.A'.B.C.E"}
    assert two.weights == ("w", "V", "U", "A", "B", "C")
    mean = AttentionModel(PAIR, pooling="mean")
    assert "X.count" in str(mean(X)) and "X.count" not in str(AttentionModel(PAIR)(X))
    fixed = AttentionModel(PAIR, value=Value(("W",), output=FixedVector("o", square=2)))
    assert "words.all.T @ W" in str(fixed(X)) and list(fixed.readout) == [ONE]
    linear = AttentionModel(PAIR, value=Value(("W",), Neurons([1, 2], activation="linear")))
    bent = AttentionModel(PAIR, value=Value(("W",), Neurons([1, 2], activation="relu")))
    assert "relu" not in str(linear(X)) and str(bent(X)).count("relu") == 1 and bent.readout.shape == (2,)
    assert str(AttentionModel(PAIR, Head(+1, "relu"))(X)).count("relu") == 1
    by_place = AttentionModel(PAIR, value=Value(("W",), Neurons(([1, 2], [3, 4]))))
    assert by_place.readout.shape == (2, 2)
    with pytest.raises(OdesysError, match="the read-out has 2 positions but a sample has 1 tokens"):
        by_place(tokens(Words("a b"), 1))
