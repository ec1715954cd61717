"""Three-word toys of the five papers' models, each with data that exercises what is special about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, FixedVector, Head, Neurons, Sample, Value

FLOAT_GRAM = [[1.5, 0.25, 0.0], [0.25, 0.7, 0.1], [0.0, 0.1, 1.1]]
GRAM = [[2, Fraction(1, 3), 0], [Fraction(1, 3), 1, Fraction(-1, 4)], [0, Fraction(-1, 4), Fraction(3, 2)]]


@dataclass(frozen=True)
class Toy:
    """A model with data, what is trained, its loss, parameter values, initial spreads and hidden sizes."""

    name: str
    model: AttentionModel
    data: Distribution
    train: tuple[str, ...]
    loss: object = "logistic"
    parameters: dict[str, float] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)


def words(gram: object = None) -> Dictionary:
    return Dictionary(["a", "b", "c"], gram)


def signed_samples() -> Distribution:
    """Repeated words, v together with -v, unequal weights and lengths."""
    return Distribution(
        [
            Sample(["a", "b", "-c"], +1, Fraction(1, 3)),
            Sample(["b", "-b", "c"], -1, Fraction(1, 6)),
            Sample(["a", "a", "-b"], +1, Fraction(1, 4)),
            Sample(["c", "-a"], -1, Fraction(1, 4)),
        ]
    )


def plain_samples() -> Distribution:
    return Distribution(
        [
            Sample(["a", "b", "c"], +1, Fraction(1, 2)),
            Sample(["a", "c", "c"], -1, Fraction(1, 4)),
            Sample(["b", "c", "b"], -1, Fraction(1, 4)),
        ]
    )


def two_mixture(gram: object = None) -> Toy:
    heads = [Head(+1, activation="relu", bias="b"), Head(-1, activation="relu", bias="b")]
    return Toy(
        "two_mixture",
        AttentionModel(words(gram), heads),
        signed_samples(),
        ("w", "W_K", "W_Q"),
        parameters={"b": 0.5},
        scales={"w": 0.8, "W_K": 0.6, "W_Q": 0.6},
    )


def cooccurrence(gram: object = None) -> Toy:
    value = Value(("W", "W_V"), output=FixedVector("a", square=7))
    model = AttentionModel(words(gram), [Head()], value=value, scale=1 / sp.sqrt(7))
    return Toy(
        "cooccurrence",
        model,
        plain_samples(),
        ("W", "W_V", "W_K", "W_Q"),
        scales={"W": 0.4, "W_V": 0.6, "W_K": 0.7, "W_Q": 0.7},
    )


def benign_overfitting(gram: object = GRAM) -> Toy:
    value = Value(("W_V",), output=FixedVector("wO", square=Fraction(3, 2)))
    model = AttentionModel(words(gram), [Head()], value=value, pooling="mean")
    return Toy(
        "benign_overfitting",
        model,
        signed_samples(),
        ("W_V", "W_K", "W_Q"),
        scales={"W_V": 0.6, "W_K": 0.6, "W_Q": 0.6},
    )


def signgd(gram: object = None) -> Toy:
    samples = [Sample(["a", "b"], +1, Fraction(1, 2)), Sample(["-a", "c"], -1, Fraction(1, 2))]
    value = Value(("W_V",), output=FixedVector("a", square=Fraction(2, 5)))
    model = AttentionModel(words(gram), [Head()], value=value)
    return Toy(
        "signgd", model, Distribution(samples), ("W_V", "W_K", "W_Q"), scales={"W_V": 0.7, "W_K": 0.5, "W_Q": 0.5}
    )


def shallow_vit(gram: object = None, per_position: bool = False) -> Toy:
    readout = (Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2))
    rows = tuple(tuple(x * s for x in readout) for s in (1, -1, 1)) if per_position else readout
    value = Value(("W_O", "W_V"), output=Neurons(rows, activation="relu"))
    model = AttentionModel(words(gram), [Head()], value=value, pooling="mean")
    return Toy(
        "shallow_vit" + ("_per_position" if per_position else ""),
        model,
        plain_samples(),
        ("W_O", "W_V", "W_K", "W_Q"),
        loss="hinge",
        scales={"W_O": 0.5, "W_V": 0.6, "W_K": 0.6, "W_Q": 0.6},
    )


def all_toys() -> list[Toy]:
    z = sp.Symbol("z", real=True)
    base = two_mixture()
    square = Toy(
        "own_loss",
        base.model,
        base.data,
        base.train,
        sp.Max(0, 1 - z) ** 2 + sp.exp(-z) / 5,
        base.parameters,
        base.scales,
    )
    kinked = sp.Abs(z - sp.Rational(1, 3)) + sp.exp(-z)
    kink = Toy("abs_loss", base.model, base.data, base.train, kinked, base.parameters, base.scales)
    return [
        two_mixture(),
        two_mixture(GRAM),
        two_mixture(FLOAT_GRAM),
        cooccurrence(),
        cooccurrence(GRAM),
        benign_overfitting(),
        signgd(),
        shallow_vit(),
        shallow_vit(per_position=True),
        shallow_vit(GRAM),
        kink,
        square,
    ]
