"""Samples with counts: a token that stands for several equal ones, by number or by parameter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, Head, Neurons, Sample, Value, gradient_flow
from odesys.errors import DistributionError, ModelError
from odesys.expr.graph import num, sym
from tests import toy_models
from tests.attention_oracle import network_outputs, random_network

HALF = Fraction(1, 2)


def model(pooling: str = "mean", readout=(1, -1)) -> AttentionModel:
    value = Value(("W_O", "W_V"), Neurons(readout))
    return AttentionModel(Dictionary(["a", "b", "c"]), [Head()], value, pooling=pooling)


def listed() -> Distribution:
    return Distribution([Sample(["a", "a", "-b", "c", "c", "c"], 1, HALF), Sample(["b", "b", "a"], -1, HALF)])


def counted(three=3) -> Distribution:
    return Distribution(
        [Sample(["a", "-b", "c"], 1, HALF, counts=[2, 1, three]), Sample(["b", "a"], -1, HALF, counts=[2, 1])]
    )


TRAIN = ("W_O", "W_V", "W_K", "W_Q")


@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_counts_say_the_same_as_a_list_of_tokens(pooling: str) -> None:
    one, two, three = (
        gradient_flow(model(pooling), data, train=TRAIN, loss="hinge") for data in (listed(), counted(), counted("n"))
    )
    x = np.random.default_rng(0).standard_normal(one.system.dimension)
    want = one.system.compile()(0.0, x)
    assert np.abs(want).max() > 0.1
    assert two.system.compile()(0.0, x) == pytest.approx(want, rel=1e-12, abs=1e-13)
    assert three.system.parameters == ("n",)
    assert three.system.compile({"n": 3})(0.0, x) == pytest.approx(want, rel=1e-12, abs=1e-13)
    assert np.abs(three.system.compile({"n": 4})(0.0, x) - want).max() > 1e-3
    assert two.system.compile(backend="block")(0.0, x) == pytest.approx(want, rel=1e-12, abs=1e-13)


def test_the_mean_sees_only_ratios_of_counts() -> None:
    scaled = Distribution(
        [Sample(s.tokens, s.label, s.weight, counts=[c / 6 for c in s.counts]) for s in counted().samples]
    )
    x = np.random.default_rng(1).standard_normal(gradient_flow(model(), scaled, train=TRAIN).system.dimension)
    one, two = (gradient_flow(model(), data, train=TRAIN).system.compile()(0.0, x) for data in (counted(), scaled))
    assert one == pytest.approx(two, rel=1e-12)


def test_networks_read_counts_too() -> None:
    net = random_network(model(), 4, 3, dict.fromkeys(TRAIN, 1.0), np.random.default_rng(2), {"n": 3.0})
    want = network_outputs(net, listed())
    assert network_outputs(net, counted()) == pytest.approx(want) and network_outputs(
        net, counted("n")
    ) == pytest.approx(want)


def test_symmetries_respect_counts() -> None:
    def group(first, second):
        data = Distribution(
            [Sample(["a", "b", "c"], 1, HALF, counts=first), Sample(["a", "b", "c"], -1, HALF, counts=second)]
        )
        return gradient_flow(model(), data, train=TRAIN).symmetries().order

    same, other = group(["p", "q", 1], ["q", "p", 1]), group(["p", "q", 1], ["q", "q", 1])
    assert same > other == 1
    assert (
        gradient_flow(model(), listed(), train=TRAIN).symmetries().order
        == gradient_flow(model(), counted(), train=TRAIN).symmetries().order
    )


def test_wrong_counts_get_a_sentence() -> None:
    with pytest.raises(DistributionError, match="needs 2 counts"):
        Sample(["a", "b"], 1, counts=[1])
    with pytest.raises(DistributionError, match="counts are positive"):
        Sample(["a", "b"], 1, counts=[1, 0])
    rows = tuple((1, -1) for _ in range(3))
    three = counted().condition(lambda sample: sample.label > 0)
    with pytest.raises(ModelError, match="has no position of its own"):
        gradient_flow(model(readout=rows), three, train=TRAIN)
    with pytest.raises(ModelError, match="has no positions"):
        network_outputs(
            random_network(model(readout=rows), 4, 3, dict.fromkeys(TRAIN, 1.0), np.random.default_rng(0)), counted()
        )
    with pytest.raises(ModelError, match="is the name of a path scalar"):
        gradient_flow(model(), counted("KQ_a_a"), train=TRAIN)


def test_conditioning_keeps_counts() -> None:
    kept = counted("n").condition(lambda sample: sample.label > 0)
    assert kept.samples[0].counts == counted("n").samples[0].counts and kept.parameters == {"n"}
    assert toy_models.plain_samples().parameters == set()


def sample(weight: object = Fraction(1), label: object = 1, tokens: object = ("a", "-b")) -> Sample:
    return Sample(tokens, label, weight)  # type: ignore[arg-type]


def test_weights_stay_exact_and_conditioning_rescales() -> None:
    data = Distribution([sample(Fraction(1, 3)), sample(Fraction(1, 6), -1), sample(sp.Rational(1, 2), 1, ("b",))])
    assert data.expectation(lambda s: s.label) == Fraction(2, 3)
    kept = data.condition(lambda s: len(s.tokens) == 2)
    assert [s.weight for s in kept.samples] == [Fraction(2, 3), Fraction(1, 3)]


def test_encoding_groups_by_length_and_keeps_signs_and_repetitions() -> None:
    words = Dictionary(["a", "b"])
    data = Distribution([Sample(["a", "-a", "a"], 1, Fraction(1, 2)), Sample(["-b"], -1, Fraction(1, 2))])
    short, long = data.encode(words)
    assert short.words.tolist() == [[1]] and short.signs.tolist() == [[-1]] and short.positions == (1,)
    assert long.words.tolist() == [[0, 0, 0]] and long.signs.tolist() == [[1, -1, 1]]


def test_what_a_sample_is_made_of() -> None:
    plain = Sample(["a", "-b"], -1)
    assert (plain.tokens, plain.label, plain.weight, plain.counts) == (("a", "-b"), -1, Fraction(1), None)
    assert plain.name == "(a, -b)" and Sample(["a"], 1, name="first").name == "first"
    assert type(plain.weight) is Fraction and type(sample(np.int64(1)).weight) is Fraction
    assert sample(2).weight == 2 and sample(sp.Rational(2, 3)).weight == Fraction(2, 3)
    made = Sample(["a", "b"], 1, counts=["n", Fraction(1, 2)])
    assert made.counts == (sym("n"), num(HALF)) and Sample(["a"], 1, counts=[sp.Integer(2)]).counts == (num(2),)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sample([], 1), r"needs a list of at least one token, got \[\]"),
        (lambda: Sample(7, 1), "needs a list of at least one token, got 7"),  # type: ignore[arg-type]
        (lambda: sample(True), "has the weight True; weights are exact"),
        (lambda: sample(0), "has the weight 0; weights are positive"),
        (lambda: sample(None), "has the weight None; weights are exact"),
        (lambda: Sample(["a", "b"], 1, counts="nm"), "has 2 tokens, so it needs 2 counts, not 'nm'"),
        (lambda: Sample(["a"], 1, counts=[-1]), r"the sample \(a\) has the count -1"),
        (lambda: Sample(["a"], 1, counts=[True]), "a count has the entry True"),
        (lambda: Distribution(7), "a distribution is made of a list of samples, not of 7"),  # type: ignore[arg-type]
        (lambda: Distribution(None), "at least one sample"),  # type: ignore[arg-type]
        (lambda: Distribution([3]), "3 is not a Sample"),  # type: ignore[list-item]
        (lambda: Distribution([sample(label=np.array([1]))]), "a label is"),
        (lambda: Distribution.proportional([3]), "made of Sample objects"),  # type: ignore[list-item]
    ],
)
def test_other_mistakes_get_a_sentence(make, words: str) -> None:
    with pytest.raises(DistributionError, match=words):
        make()


def test_proportional_weights_and_exact_means() -> None:
    data = Distribution.proportional(
        [Sample(["a"], 1, 2, "one", counts=[3]), Sample(["b"], -1, 3, "two"), Sample(["c"], 1, 5)]
    )
    assert [s.weight for s in data.samples] == [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)] and len(data) == 3
    assert [s.name for s in data.samples] == ["one", "two", "(c)"] and data.samples[0].counts is not None
    assert data.expectation(lambda s: s.label) == Fraction(2, 5)
    assert data.expectation(lambda s: np.array([1, s.label])).tolist() == [1, Fraction(2, 5)]
    assert data.condition(lambda s: s.label < 0).samples[0].weight == 1


def test_encoded_arrays_are_the_samples() -> None:
    words = Dictionary(["a", "b", "c"])
    given = [
        Sample(["a", "-c"], 1, Fraction(1, 8)),
        Sample(["b"], -1, Fraction(1, 4)),
        Sample(["b", "c"], -1, Fraction(1, 8), counts=[2, "n"]),
        Sample(["-b", "a"], -1, Fraction(1, 2)),
    ]
    found = {}
    parts = Distribution(given).encode(words)
    assert [(p.length, p.counts is not None) for p in parts] == [(1, False), (2, False), (2, True)]
    for part in parts:
        for k, place in enumerate(part.positions):
            tokens = [
                f"{'-' if s < 0 else ''}{words.words[i]}" for i, s in zip(part.words[k], part.signs[k], strict=True)
            ]
            counts = None if part.counts is None else tuple(part.counts[k])
            found[place] = Sample(tokens, int(part.labels[k]), part.weights[k], counts=counts)
    assert [found[k] for k in range(4)] == given
