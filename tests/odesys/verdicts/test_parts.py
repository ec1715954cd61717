"""What a verdict carries, how it combines, and its JSON."""

from __future__ import annotations

import pytest

from odesys.verdicts import (
    EVERY,
    Proof,
    Regime,
    Seeds,
    Shortfall,
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
