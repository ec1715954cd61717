"""Families without self-scores: words that groups share are slaved too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import AttentionModel, FixedVector, Head, Neurons, Value, gradient_flow
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.reduce.family_gradient import FamilyFlow, family_flow
from odesys.reduce.slaving import check_start

HALF = Fraction(1, 2)
SEED = 20


def states(dimension: int, count: int = 6) -> np.ndarray:
    """Random states, large enough that gates are on and off."""
    return np.random.default_rng(SEED).normal(size=(count, dimension)) * np.linspace(0.2, 2.0, count)[:, None]


SHAPES = {
    "two heads": lambda words: AttentionModel(words, [Head(1, "relu", "b"), Head(-1, "relu", "b")]),
    "linear": lambda words: AttentionModel(words, [Head()], pooling="mean", scale=2),
    "output": lambda words: AttentionModel(words, [Head()], Value(("W", "W_V"), FixedVector("a", 3))),
    "neurons": lambda words: AttentionModel(words, [Head(1, "linear", HALF)], Value(("W_V",), Neurons((1, -2)))),
}


def test_shared_words_are_slaved_too() -> None:
    templates = [SampleTemplate(["c", OtherGroups(["c"]), "the"], 1, HALF), SampleTemplate(["c", "-the"], -1, HALF)]
    family = Family(["c"], templates, shared=["the"])
    flow: FamilyFlow = family_flow(family, SHAPES["linear"])
    slaved = flow.slaved()
    listed = gradient_flow(SHAPES["linear"](family.dictionary(3)), family.distribution(3))
    z = states(slaved.system.dimension, 1)[0]
    full = flow.bind(K=3).then(slaved.bind(K=3, omega=0.4)).lift(z)
    assert check_start(listed, full) == pytest.approx(0.4, rel=1e-9)
