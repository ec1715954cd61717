"""What a verdict carries, how it combines, and its JSON."""

from __future__ import annotations

import pytest

from odesys.verdicts import (
    EVERY,
    Evidence,
    Proof,
    Regime,
    Seeds,
    Shortfall,
    Tolerance,
    measured,
)


def test_every_limit_of_a_verdict_is_kept_once() -> None:
    program = measured(True).within(1e-5, "two routes")
    band = measured(True).within({"low": 0.5}, "half of the limit")
    both = program & band & program
    assert both.tolerance is not None and [each.value for each in both.tolerance.beside] == [{"low": 0.5}]
    assert both.as_json()["tolerance"]["beside"] == [
        {"value": {"low": 0.5}, "because": "half of the limit", "calibrated": False}
    ]
    assert "beside" not in band.as_json()["tolerance"]


def test_a_regime_says_what_is_violated_and_by_how_much() -> None:
    left = {"m is large": Shortfall(0.2, 4.0), "d is larger": Shortfall(0.5, float("inf"))}
    assert Regime("approached", left).as_json() == {
        "where": "approached",
        "violated": [
            {"name": "m is large", "by": 0.2, "factor": 4.0},
            {"name": "d is larger", "by": 0.5, "factor": None},
        ],
    }
    assert Regime(of="the paper's experiment").as_json()["of"] == "the paper's experiment"
    with pytest.raises(ValueError, match="inside, approached, outside"):
        Regime("near")


def test_a_proof_of_two_sizes_is_for_these_sizes() -> None:
    both = Proof(("one",), 2, {"K": EVERY, "L": "3"}, ("b > 0",)) & Proof(("one", "two"), 1, {"K": "2", "L": "3"})
    assert both.as_json() == {
        "steps": ["one", "two"],
        "residuals": 3,
        "sizes": {"K": "2", "L": "3"},
        "assumed": ["b > 0"],
    }


def test_the_part_of_lower_probability_speaks() -> None:
    first, second = Seeds((0, 1), 2, 0.7, 1.0), Seeds((1, 2), 1, 0.2, 0.9)
    assert (first & second) == (second & first) == Seeds((1, 2), 1, 0.2, 0.9, beside=(0, 1))


def test_limits_are_kept_beside_each_other_once_whichever_way_they_meet() -> None:
    a, b, c = (Tolerance(k, "why", (k,)) for k in range(3))
    for whole in (a & b & c, a & (b & c), a & b & (c & a & b)):
        assert (whole.value, whole.calibrated_on, whole.beside) == (0, (0,), (b, c))
    assert (a & a).beside == () and ((a & b) & b).beside == (b,)
    assert (a & b).as_json() == a.as_json() | {"beside": [b.as_json()]}
    assert a.as_json() == {"value": 0, "because": "why", "calibrated": True}


def test_seeds_of_parts_without_a_probability_are_kept_and_counted_once() -> None:
    plain, likely = Seeds((0, 1, 2)), Seeds((2, 3), 2, 0.9, 1.0, beside=(7,))
    for both in (plain & likely, likely & plain):
        assert both == Seeds((2, 3), 2, 0.9, 1.0, beside=(7, 0, 1, 2))
    assert (plain & Seeds((4,))) == Seeds((0, 1, 2), beside=(4,))
    assert likely.as_json() == {"count": 2, "passed": 2, "low": 0.9, "high": 1.0}
    assert (plain & likely & Seeds((3,), 1, 0.1, 1.0)).beside == (2, 3, 7, 0, 1)


def test_a_shortfall_without_a_finite_factor_says_none() -> None:
    assert Shortfall(0.2).as_json() == Shortfall(0.2, float("inf")).as_json() == {"by": 0.2, "factor": None}
    assert Shortfall(0.2, 3.0).as_json() == {"by": 0.2, "factor": 3.0}
    assert Regime().as_json() == {"where": "inside", "violated": []}


def test_a_size_that_one_part_leaves_out_is_that_of_the_other() -> None:
    every, two, three = (Proof(sizes={"K": size}) for size in (EVERY, "2", "3"))
    assert (every & every).sizes == (every & Proof()).sizes == (Proof() & every).sizes == {"K": EVERY}
    assert (two & three).sizes == {"K": "2, 3"} and (three & every & three).sizes == {"K": "3"}
    assert (Proof(sizes={"L": "1"}) & two).sizes == {"L": "1", "K": "2"}


def test_three_strengths_of_evidence_in_order_and_a_proof_of_nothing_yet() -> None:
    assert [str(each) for each in sorted(Evidence)] == ["measurement", "certificate", "proof"]
    assert Proof().as_json() == {"steps": [], "residuals": 0, "sizes": {}, "assumed": []}
    assert Seeds((1, 2)).as_json() == {"count": 2, "passed": None, "low": None, "high": None}
