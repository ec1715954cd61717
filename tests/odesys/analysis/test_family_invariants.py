"""Conserved numbers of a family: constant along its flow, and not along a broken one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from derivations.two_mixture import dynamics
from numerics.flows.integrate import integrate
from odesys import AttentionModel, Family, Head, SampleTemplate, family_flow
from odesys.analysis.family_invariants import _lax_matrices, family_drift
from odesys.reduce.family_gradient import FamilyFlow, path_layout
from odesys.reduce.family_slaving import STANDARD, TRIVIAL
from odesys.reduce.slaving import self_scores


def test_nothing_drifts_along_a_run_and_a_wrong_state_does() -> None:
    flow = dynamics.family()
    values = {"b": 0.5, "K": 3}
    run = integrate(flow.system, flow.initial_state(0.3), (0.0, 40.0), values, t_eval=np.linspace(0.0, 40.0, 9))
    assert np.abs(run.states[-1] - run.states[0]).max() > 1e-3  # it does move
    assert family_drift(flow, run.states, 3) < 1e-6
    broken = run.states.copy()
    broken[-1, flow.system.names.index("M_cv_same")] += 0.01
    assert family_drift(flow, broken, 3) > 1e-5


def test_the_number_of_groups_matters() -> None:
    """Read with another K the same states do not conserve anything."""
    flow = dynamics.family()
    run = integrate(flow.system, flow.initial_state(0.3), (0.0, 40.0), {"b": 0.5, "K": 3}, t_eval=[0.0, 40.0])
    assert family_drift(flow, run.states, 30) > 10 * family_drift(flow, run.states, 3)


def with_a_shared_word(scaled: bool) -> FamilyFlow:
    half = Fraction(1, 2)
    samples = [SampleTemplate(["c", "v", "the"], +1, half), SampleTemplate(["c", "-v"], -1, half)]
    data = Family(["c", "v"], samples, shared=["the"])
    return family_flow(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]), K=4, scaled=scaled)


def traces(matrix: np.ndarray) -> np.ndarray:
    return np.array([np.trace(np.linalg.matrix_power(matrix, q)) for q in (1, 2, 3, 4)])


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("make", [lambda scaled: dynamics.family(K=4, scaled=scaled), with_a_shared_word])
def test_the_spectrum_of_all_groups_is_that_of_the_sectors(make: Any, scaled: bool) -> None:
    """The matrix over all words of four groups has the trivial spectrum once and the standard one three times."""
    flow: FamilyFlow = make(scaled)
    row = np.random.default_rng(5).normal(size=flow.system.dimension)
    leaves = path_layout(flow.origin.naming_of(4), flow.closure)[0].unpack(np.asarray(flow.lift(row)))

    def whole(path: Any) -> np.ndarray:
        stored, turned = flow.closure.canonical(path)
        leaf: np.ndarray = leaves[flow.naming.leaf(stored)]
        return leaf.T if turned else leaf

    for pair in self_scores(flow):
        scores, keys, queries = map(whole, pair.paths)
        every = np.block([[keys, scores], [-scores.T, -queries]])
        one, other = (_lax_matrices(flow, row[None], pair, sector, 4)[0] for sector in (TRIVIAL, STANDARD))
        assert len(one) == 2 * len(flow.family.types) and len(other) == 2 * len(flow.family.words)
        np.testing.assert_allclose(traces(every), traces(one) + 3 * traces(other), rtol=1e-9, atol=1e-9)


def test_the_drift_is_relative_to_the_size_of_the_matrices() -> None:
    """A state that is scaled drifts as much; one that is zero everywhere does not drift."""
    flow = dynamics.family(K=4)
    rows = np.random.default_rng(6).normal(size=(2, flow.system.dimension))
    drift = family_drift(flow, rows)
    largest = 0.0
    for pair in self_scores(flow):
        for sector in (TRIVIAL, STANDARD):
            first, last = _lax_matrices(flow, rows, pair, sector, 4)
            for q in range(1, len(first) + 1):
                for of in (first, last):
                    norm = np.linalg.norm(of) ** q
                    change = np.trace(np.linalg.matrix_power(last if of is last else first, q))
                    start = np.trace(np.linalg.matrix_power(first, q))
                    largest = max(largest, abs(change - start) / norm)
    assert drift == pytest.approx(largest, rel=1e-9) and drift > 0.1
    assert family_drift(flow, 1e-6 * rows) == pytest.approx(drift, rel=1e-9)
    assert family_drift(flow, np.zeros((2, flow.system.dimension))) == 0.0
    assert family_drift(flow, rows[0]) == 0.0
