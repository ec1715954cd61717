"""Quotients: fields commute with them, wrong generators and starts are refused, orbits by hand."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.two_mixture import setting
from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
from odesys.derive.flow import Flow
from odesys.errors import SymmetryError
from odesys.reduce import program_symmetry
from odesys.reduce.program_symmetry import LossCheck
from odesys.reduce.quotient import signed_orbits
from odesys.reduce.symmetry import symmetry


def mixture(K: int, L: int = 3):
    return gradient_flow(setting.model(K), setting.data(K, L))


def small(words: list[str], samples: list[Sample], gram: object = None, **options: object):
    return gradient_flow(
        AttentionModel(Dictionary(words, gram), **options),
        Distribution.proportional(samples),
        train=options["value"].maps if "value" in options else ("w", "W_K", "W_Q"),
    )


@pytest.mark.parametrize("K", [2, 3])
def test_quotient_commutes_with_the_field(K: int) -> None:
    flow = mixture(K)
    quotient = flow.quotient()
    full, small = flow.system.compile(b=0.5), quotient.system.compile(b=0.5)
    rng = np.random.default_rng(8)
    for _ in range(4):
        z = rng.normal(size=quotient.system.dimension)
        assert np.abs(full(0, quotient.lift(z)) - quotient.lift(small(0, z))).max() < 1e-14
        assert np.abs(quotient.project(quotient.lift(z)) - z).max() < 1e-15


def test_wrong_generator_is_refused() -> None:
    flow = mixture(2)
    heads = {"p": "m", "m": "p"}
    forgot_signs, head_swap = (symmetry(flow, words, heads) for words in ({}, {"v1": "-v1", "v2": "-v2"}))
    with pytest.raises(SymmetryError, match="does not map the weighted samples"):
        flow.quotient(generators=[forgot_signs])
    assert flow.quotient(generators=[head_swap]).system.dimension == 40


def test_asymmetric_start_is_refused() -> None:
    quotient = mixture(2).quotient()
    rng = np.random.default_rng(0)
    weights = {"w": np.zeros((2, 4)), "W_K": rng.normal(size=(2, 5, 4)), "W_Q": rng.normal(size=(2, 5, 4))}
    with pytest.raises(SymmetryError, match="not symmetric"):
        quotient.initial_state(weights=weights)


def test_signed_orbits_by_hand() -> None:
    swap = (np.array([1, 0, 2, 3]), np.array([1, 1, -1, 1]))
    orbits = signed_orbits(4, [swap])
    assert orbits.representatives.tolist() == [0, 3] and orbits.sign.tolist() == [1, 1, 0, 1]
    assert orbits.lift([5.0, 7.0]).tolist() == [5.0, 5.0, 0.0, 7.0]


def test_orbits_that_all_vanish_project_to_nothing() -> None:
    orbits = signed_orbits(2, [(np.array([0, 1]), np.array([-1, -1]))])
    assert len(orbits.representatives) == 0
    assert orbits.project(np.ones(2)).shape == (0,) and orbits.project(np.ones((3, 2))).shape == (3, 0)


def test_what_all_generators_are_checked_by_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, made = mixture(3), []
    generators = flow.symmetries().generators

    class Counted(LossCheck):
        def __init__(self, flow: Flow) -> None:
            made.append(flow)
            super().__init__(flow)

    monkeypatch.setattr(program_symmetry, "LossCheck", Counted)
    monkeypatch.setattr("odesys.reduce.quotient.LossCheck", Counted)
    assert len(generators) > 1 and flow.quotient(generators).system.dimension == flow.quotient().system.dimension
    assert len(made) == 1
