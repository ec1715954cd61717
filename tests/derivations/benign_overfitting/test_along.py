"""Lemma 5.1 along training, and the tails of Lemmas D.8 and D.9: the derived runs against hand-written ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from derivations.benign_overfitting.claims import book, common_lemma_5_1, part_networks
from derivations.benign_overfitting.laboratory import Laboratory
from derivations.benign_overfitting.special import span_network
from derivations.benign_overfitting.special.descents import CASES
from odesys.verdicts import Evidence


@pytest.fixture(scope="module")
def runs():
    lab = Laboratory()
    return {name: common_lemma_5_1.of_run(lab.descent(name)) for name in CASES}


def test_the_printed_bound_can_fail_later_only(runs) -> None:
    crowded = runs["crowded"]
    assert crowded.inside, "the training set is one C.4 speaks of"
    assert crowded.largest[0] < 0.9 and crowded.largest.max() > 1.3
    assert crowded.steps[np.flatnonzero(crowded.largest > 1)[0]] == 160
    assert all(found.largest.max() < 0.6 for name, found in runs.items() if name != "crowded")


@pytest.mark.slow
def test_networks_say_the_same_in_every_step(runs) -> None:
    found = {name: common_lemma_5_1.of_network(name) for name in common_lemma_5_1.NETWORKS}
    first = {name: np.flatnonzero(x.largest > 1) for name, x in found.items()}
    at_once, later, never = first.values()
    assert at_once[0] == 0 and later[0] > 100 and never.size == 0
    for each in (*found.values(), *runs.values()):
        assert each.inside and each.corrected.max() <= 1
    # the wide network has the ratios of the wide recursion: own lengths over 2 m_2, whatever the seed
    assert abs(found["N = 6, d = 4000"].largest[0] / runs["benign"].largest[0] - 1) < 0.05


def test_the_crowded_run_is_that_of_hand_written_forces() -> None:
    """The recursion of B.3 with forces written by hand, from the same Gram matrices."""
    run = Laboratory().descent("crowded")
    made, values = run.made, run.made.values
    S, Q, K, V = (values[x] for x in "SQKV")
    for number in range(run.steps[20] + 1):
        if number in run.steps:
            at = int(np.flatnonzero(run.steps == number)[0])
            assert np.abs(V - run["V"][at]).max() < 1e-11 and np.abs(S - run["S"][at]).max() < 1e-11
        force = span_network.forces(S, V, made.places, made.y)
        A, B = run.eta * made.gram @ force.H, run.eta * made.gram @ force.H.T
        S, Q, K = (
            S + A @ K + Q @ B.T + A @ S.T @ B.T,
            Q + A @ S.T + S @ A.T + A @ K @ A.T,
            K + B @ S + S.T @ B.T + B @ Q @ B.T,
        )
        V = V + run.eta * run.case.w2 * made.gram @ force.h


def test_the_corrected_bound_is_proved_and_its_broken_twins_are_refuted() -> None:
    verdict = common_lemma_5_1.at_every_state(Laboratory())
    assert verdict.as_stated == "holds" and verdict.evidence is Evidence.PROOF
    for mutation in ("values", "pool", "sign"):
        assert common_lemma_5_1.at_every_state(Laboratory(mutation)).as_stated == "fails", mutation


@pytest.mark.slow
def test_verdict_along_the_run() -> None:
    verdict = book.run(book["5.1"]).verdict
    first = verdict.details["along"]["crowded"]["first step above 1"]
    assert verdict.as_stated == "fails" and verdict.witness["step"] > first > 0
    assert verdict.corrected.as_stated == "holds" and verdict.corrected.evidence is Evidence.PROOF


# ---- fresh samples ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def narrow() -> span_network.Descent:
    """A harmful network in few dimensions, where the events of D.8 and D.9 are not rare."""
    case = replace(part_networks.BENIGN, mu=2.5, d=100, d_h=60, kappa=0.0)
    return span_network.descend(span_network.draw(case, 11), 0.3 / case.largest, 0.05, 4000)


def test_tails_given_the_weights_are_those_of_fresh_samples(narrow) -> None:
    found = span_network.test_loss(narrow, 20_000, 3)
    assert np.allclose(part_networks.value_deviations(narrow), found.values.std(axis=0), rtol=0.02)
    often, tail = float((np.abs(found.values).max(axis=1) > 1).mean()), part_networks.value_tail(narrow)
    error = np.sqrt(often / 20_000)
    assert often - 4 * error <= tail <= often * 1.02 + 4 * error, "a union bound, and nearly equal"
    assert float((found.signal_attention < 1 / 6).mean()) <= part_networks.attention_tail(narrow) < 0.2


def test_the_level_is_that_of_the_statement_and_can_be_missed(narrow) -> None:
    N, M = part_networks.BENIGN.N, part_networks.BENIGN.M
    level = part_networks.LEVEL
    assert level == pytest.approx(0.1 / (2 * N**2 * M))
    assert part_networks.value_tail(narrow) > level and part_networks.attention_tail(narrow) > level


@pytest.mark.slow
@pytest.mark.parametrize("id", ["D.8", "D.9"])
def test_fresh_samples_at_the_level_of_the_statement(id: str) -> None:
    verdict = book.run(book[id]).verdict
    assert verdict.as_stated == "holds" and verdict.details["bound"] == part_networks.LEVEL
    assert verdict.details["interval_99.9"][1] < part_networks.LEVEL
    assert verdict.constants["largest_tail"] < 1e-10
