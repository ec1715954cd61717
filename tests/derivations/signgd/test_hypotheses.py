"""Where the claims of the sign-descent paper are judged: points inside Condition 3.1, and what runs have to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, exp, sqrt
from typing import Any

import numpy as np
import pytest

from derivations.signgd.claims import book, part_3_main, part_e_logic
from derivations.signgd.claims import common_path as path
from derivations.signgd.claims import part_b_experiments as experiments
from derivations.signgd.claims.common_checks import NOT_SUPPOSED
from derivations.signgd.claims.common_hypotheses import CONDITION, inside_point, power_of_n
from derivations.signgd.claims.common_path import ALIGNED, UNTIED
from derivations.signgd.claims.common_reasons import VANISHES
from derivations.signgd.claims.part_b_experiments import POINT, SETTING
from derivations.signgd.claims.part_e_iv_b_c import enough_for_theta
from derivations.signgd.claims.part_e_softmax import slow_starts
from derivations.signgd.laboratory import Laboratory
from derivations.signgd.setting import Case, published
from derivations.signgd.special import recursion, watched_runs
from derivations.signgd.special.conditions import CONDITION_3_1, beside, satisfying
from derivations.signgd.special.printed_tables import PRINTED
from derivations.signgd.special.watched_runs import Rules
from odesys.papers.draw import Draw
from odesys.papers.hypotheses import OutsideHypotheses, approach
from odesys.verdicts import Evidence, Verdict, measured
from tests.derivations.signgd.test_claims import EXPECTED


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

    def looked(rules: Rules, case: Case, seeds: Sequence[int], untied: bool) -> tuple[path.Looked, ...]:
        events = {ALIGNED.hypothesis.name: event, UNTIED.hypothesis.name: True}
        return tuple(path.Looked(events, {"check": answer}, {"check": {"size": (0.5, 1.0)}}, 0.4) for _ in seeds)

    monkeypatch.setattr(path, "looked", looked)
    found = path.along(Laboratory(), "check", "it was seen", supposing=[UNTIED, ALIGNED], limit=(0.1, "a reason"))
    assert found.tolerance is not None and found.details["runs"]
    return found.as_stated


def test_runs_without_what_is_supposed_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen_as(monkeypatch, True, True) == "holds" and seen_as(monkeypatch, False, True) == "fails"
    assert seen_as(monkeypatch, True, False) == seen_as(monkeypatch, False, False) == "undecided"


def _runs_that_see(monkeypatch: pytest.MonkeyPatch, small: Mapping[int, float]) -> None:
    """All checks are passed, and what is printed as o(1) has a size by n."""

    def looked(rules: Rules, case: Case, seeds: Sequence[int], untied: bool) -> tuple[path.Looked, ...]:
        size = small.get(case.n, 1 / case.n)
        seen = {name: {what: (-size, size / 2)} for name, what in VANISHES.items()}
        return tuple(
            path.Looked(dict.fromkeys(path.EVENTS, True), dict.fromkeys(path.CHECKS, True), seen, 0.4) for _ in seeds
        )

    monkeypatch.setattr(path, "looked", looked)


def test_what_is_printed_as_small_has_to_fall_along_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(VANISHES) <= set(path.CHECKS)
    (first, _), *_, (last, _) = path.SIZES
    for small, answer in (({}, "holds"), ({first: 0.01, last: 0.01}, "undecided"), ({last: 0.0}, "holds")):
        _runs_that_see(monkeypatch, small)
        found = path.along(Laboratory(), "E.20: (33)", "it was seen")
        assert found.as_stated == answer, small
    assert "over (33), minus 1" in found.details["vanishing"]


def _leaves(verdict: Verdict) -> list[Verdict]:
    return [leaf for part in verdict.parts.values() for leaf in _leaves(part)] or [verdict]


def test_no_claim_holds_on_runs_outside_the_condition_without_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that suppose Condition 3.1 and are measured say how far their path went, and the trend along it."""
    _runs_that_see(monkeypatch, {})
    asked = {hypothesis.name for hypothesis in CONDITION if hypothesis.asymptotic}
    ids = []
    for claim in book:
        runs = claim.check.__module__ == path.__name__ or claim.id in ("4.5", "E.3")
        if not runs:
            continue
        ids.append(claim.id)
        assert asked <= {hypothesis.name for hypothesis in claim.hypotheses}, claim.id
        for leaf in _leaves(book.run(claim).verdict):
            if leaf.evidence == Evidence.MEASUREMENT and leaf.as_stated == "holds":
                assert leaf.regime is not None and leaf.regime.where == "approached", claim.id
                assert set(leaf.regime.violated) == {"m_k >= log d", "n >= m_k^4"}, claim.id
                assert len(leaf.details["trend"]) == len(path.SIZES) >= 3, claim.id
                assert all("40 of 40 seeds, probability 0.8" in line for line in leaf.details["trend"]), claim.id
                assert len(leaf.details["ratios_of_condition"]) == len(CONDITION_3_1), claim.id
                assert leaf.tolerance is not None or claim.id == "E.3", claim.id
    assert len(ids) > 30


def test_what_is_measured_off_the_path_says_inside_of_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other measured claim that holds does not suppose Condition 3.1, says so, and has its table."""

    class Values:
        def between(self, *_: Any) -> Verdict:
            return measured(True, value=0.5)

    monkeypatch.setattr(experiments, "with_high_probability", lambda *_: measured(True, value=0.5))
    monkeypatch.setattr(experiments, "_first_ten", lambda seeds: [PRINTED["2"].counts + seed % 7 for seed in seeds])
    for module in (part_3_main, part_e_logic):
        monkeypatch.setattr(module, "over_seeds", lambda *_: Values())
    path_claims = {c.id for c in book if c.check.__module__ == path.__name__} | {"4.5", "E.3"}
    others = [c for c in book if EXPECTED[c.id] == ("holds", "measurement") and c.judged and c.id not in path_claims]
    assert {c.id for c in others} >= {"Tab.2", "Fig.2c", "Beyond.trap-share", "Beyond.finite-step"}
    asked = {hypothesis.name for hypothesis in CONDITION if hypothesis.asymptotic}
    for claim in others:
        assert not asked & {hypothesis.name for hypothesis in claim.hypotheses or ()}, claim.id
        found = claim.check(Laboratory())
        for leaf in found.values() if isinstance(found, dict) else [found]:
            assert leaf.regime is not None and NOT_SUPPOSED in leaf.regime.of, claim.id
            assert NOT_SUPPOSED in leaf.details["supposes"], claim.id
            assert len(leaf.details["condition_3_1"]) == len(CONDITION_3_1), claim.id
            assert NOT_SUPPOSED in leaf.as_json()["regime"]["of"], claim.id


def test_the_level_of_a_fall_is_that_of_all_arrangements() -> None:
    for first, last in (([3.0, 5.0, 6.0], [1.0, 4.0]), ([1.0, 2.0], [3.0, 4.0, 5.0]), ([4.0, 5.0], [1.0, 2.0])):
        seen = sum(y >= x for x in first for y in last)
        both, few = [*first, *last], 0
        chosen = list(combinations(range(len(both)), len(first)))
        for places in chosen:
            rest = [y for k, y in enumerate(both) if k not in places]
            few += sum(y >= both[k] for k in places for y in rest) <= seen
        assert path.by_chance(np.array(first), np.array(last)) == pytest.approx(few / len(chosen))
    assert path.by_chance(np.arange(40.0) + 40, np.arange(40.0)) == pytest.approx(1 / comb(80, 40))


def test_premises_that_no_point_decides_say_so() -> None:
    """A margin that does not read its point belongs to a premise that is taken, or to an event that runs show."""
    constant = {}
    for claim in book:
        for hypothesis in claim.hypotheses or ():
            try:
                constant[hypothesis.name, hypothesis.tex] = hypothesis.margin({}) == 1
            except KeyError:
                constant[hypothesis.name, hypothesis.tex] = False
    said = {key for key in constant if key[0].startswith("taken, not checked") or "looked at in each run" in key[1]}
    assert {key for key, value in constant.items() if value} == said and len(said) > 8


def test_experiments_list_their_setting_and_the_condition_beside_it() -> None:
    ids = ["App.B.7", "App.B.7-halts", "Sec.3.2-optimisers", "Fig.2c", "Tab.2", "Beyond.noise-levels"]
    assert all(SETTING in book[id].hypotheses for id in ids) and SETTING.holds(POINT)
    assert not SETTING.holds({**POINT, "m_k": POINT["m_k"] + 3})


def test_the_condition_is_told_beside_a_run() -> None:
    told = beside(published("a"), 1e-4)
    assert len(told) == len(CONDITION_3_1) and told["4 n >= m_k^4"] == "missed by a factor 5e+06"
    inside, eta = satisfying()
    assert all(line.startswith("holds") for line in beside(inside, eta).values())


def test_starts_without_ties_have_none() -> None:
    case, _ = path._case(4, 8, tuple(path.OWN.values()))
    for seed in range(5):
        plain, untied = (recursion.draw(case, seed, given).state for given in (False, True))
        votes = np.sign(untied.q + untied.k).sum(axis=1)
        kept = np.sign(plain.q + plain.k).sum(axis=1) != 0
        assert (votes != 0).all() and np.array_equal(untied.q[kept], plain.q[kept])
    odd, _ = path._case(5, 8, tuple(path.OWN.values()))
    assert np.array_equal(recursion.draw(odd, 1, True).state.pack(), recursion.draw(odd, 1).state.pack())


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


def test_only_claims_that_suppose_it_are_judged_on_starts_without_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, bool]] = []

    def looked(rules: Rules, case: Case, seeds: Sequence[int], untied: bool) -> tuple[path.Looked, ...]:
        asked.append((case.n, untied))
        return tuple(path.Looked(dict.fromkeys(path.EVENTS, True), {"check": True}, {}, 0.4) for _ in seeds)

    monkeypatch.setattr(path, "looked", looked)
    plain = path.along(Laboratory(), "check", "it was seen", printed=lambda case: 0.5)
    assert not any(untied for _, untied in asked) and "given" not in plain.details
    assert plain.details["printed_probability"] == "0.5 at n = 13, 0.5 at n = 34, 0.5 at n = 85"
    asked.clear()
    given = path.along(Laboratory(), "check", "it was seen", supposing=[UNTIED])
    assert {untied for n, untied in asked if n % 2 == 0} == {True} and not any(u for n, u in asked if n % 2)
    assert "probability 0.006 at n = 34" in given.details["given"]
    needed = {claim.id for claim in book if UNTIED.hypothesis in (claim.hypotheses or ())}
    assert {"E.20", "E.23-24", "Beyond.stage-four-a"} <= needed and not {"Thm.3.2", "4.2", "E.42"} & needed


def test_the_power_for_theta_c_is_a_real_predicate() -> None:
    """Met on the path at theta_c = 1/5, not where sigma_p s is a smaller power of n; 1/20 would not be met."""
    for point in path.points(Draw()):
        ratio = enough_for_theta.ratio_at(point)
        assert enough_for_theta.holds(point) and ratio * (1.05 / 1.2) ** 2 < 1
        assert not enough_for_theta.holds({**point, "sigma_p": 100 * point["n"] ** 2 / point["s"]})
    with pytest.raises(OutsideHypotheses):
        far = [{**point, "sigma_p": 100 * point["n"] ** 2 / point["s"]} for point in path.points(Draw())]
        approach(far, [enough_for_theta])
