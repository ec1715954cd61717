"""Where the claims of the sign-descent paper are judged: points inside Condition 3.1, and what runs have to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import Any

import pytest

from derivations.signgd.claims import common_path as path
from derivations.signgd.claims.common_hypotheses import CONDITION, inside_point, power_of_n
from derivations.signgd.claims.common_path import ALIGNED, UNTIED
from derivations.signgd.claims.part_e_bounds import slow_starts
from derivations.signgd.laboratory import Laboratory
from derivations.signgd.setting import Case
from derivations.signgd.special import watched_runs
from derivations.signgd.special.watched_runs import Rules


def kappa(point: Mapping[str, float]) -> float:
    return point["sigma_0"] * point["sigma_p"] * point["s"] * sqrt(point["m_k"])


@pytest.mark.parametrize(
    "changed",
    [{}, {"power": 12}, {"m_k": 10**8}, {"m_v": 1e40}, {"sigma_p": 1e30}],
    ids=["own", "d", "m_k", "m_v", "noise"],
)
def test_points_inside_are_inside(changed: dict[str, Any]) -> None:
    point = inside_point(**changed)
    assert all(hypothesis.holds(point) for hypothesis in CONDITION) and kappa(point) == pytest.approx(0.05)
    assert not all(hypothesis.holds({**point, "sigma_0": 3 * point["sigma_0"]}) for hypothesis in CONDITION)


def test_a_width_that_no_tilde_hides_is_outside() -> None:
    point = inside_point()
    assert not power_of_n.holds({**point, "n": 300.0, "m_v": exp(300)})


@pytest.mark.parametrize("letter", ["n", "m_k"])
def test_slow_starts_are_inside_and_tend_to_zero(letter: str) -> None:
    points = slow_starts(letter)
    assert all(hypothesis.holds(point) for point in points for hypothesis in CONDITION)
    sizes = [kappa(point) for point in points]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < 0.8 * sizes[0]


def seen_as(monkeypatch: pytest.MonkeyPatch, answer: bool, event: bool) -> str:
    """The verdict on a check where every run gives one answer, and has or has not what is supposed."""

    def passed(rules: Rules, case: Case, seeds: Sequence[int]) -> tuple[Mapping[str, bool], ...]:
        return tuple({"check": answer, ALIGNED.hypothesis.name: event, UNTIED.hypothesis.name: True} for _ in seeds)

    monkeypatch.setattr(path, "passed", passed)
    found = path.along(Laboratory(), "check", "it was seen", supposing=[UNTIED, ALIGNED], limit=(0.1, "a reason"))
    assert found.tolerance is not None and found.details["runs"]
    return found.as_stated


def test_runs_without_what_is_supposed_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen_as(monkeypatch, True, True) == "holds" and seen_as(monkeypatch, False, True) == "fails"
    assert seen_as(monkeypatch, True, False) == seen_as(monkeypatch, False, False) == "undecided"


def test_runs_show_ties_and_small_shares() -> None:
    """Four samples tie often, five never; three neurons leave some of five samples with one aligned neuron or none."""
    seen: dict[int, list[tuple[bool, bool]]] = {}
    for n, m_k in ((4, 8), (5, 3)):
        case, _ = path._case(n, m_k, tuple(path.OWN.values()))
        runs = watched_runs.flows(case, range(6), 4 * case.flip_time())
        seen[n] = [(UNTIED.seen(run), ALIGNED.seen(run)) for run in runs if isinstance(run, watched_runs.Record)]
        assert len(seen[n]) == 6
    assert not all(untied for untied, _ in seen[4]) and all(untied for untied, _ in seen[5])
    assert {aligned for _, aligned in seen[5]} == {True, False}
