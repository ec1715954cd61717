"""Lax families of programs: those of their models, rates, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, Space, Words, gradient_flow, integrate, logistic, maps, softmax
from tests import toy_models
from tests.toy_programs import program_flow

TOYS = toy_models.all_toys()[:10]


@pytest.mark.parametrize("toy", TOYS, ids=range(len(TOYS)))
def test_programs_have_the_families_of_their_models(toy):
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    program = program_flow(toy.model, toy.data, loss=toy.loss)
    new, old = program.invariants(), flow.invariants()
    assert sorted(f.size for f in new) == sorted(f.size for f in old)
    if program.system.names == flow.system.names:  # a frozen vector has another name
        assert {t for f in new for t in f.traces} == {t for f in old for t in f.traces}


def head(**more):
    words, m = Words("a b"), Space("m")
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words)
    data = Data(words, [("a b", 1), ("b b", -1)])
    return gradient_flow(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(), data, logistic, **more)


def test_the_numbers_stay_along_a_run():
    flow = head(rates={"W_K": 2, "W_Q": 2})
    (family,) = flow.invariants()
    run = integrate(flow.system, flow.initial_state(omega=0.5), (0.0, 3.0))
    values = family.values(run.states)
    assert np.abs(values - values[0]).max() < 1e-8


def test_different_rates_decay_and_frozen_maps_have_no_family():
    assert not head(rates={"W_K": 2}).invariants()
    assert not head(decay=Fraction(1, 10)).invariants()
    assert not head(train="w W_K").invariants()
