"""Verdicts to JSON and back: the same verdict, or a refusal."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from odesys.papers.plain_verdicts import from_plain, to_plain
from odesys.verdicts import Evidence, Seeds, Shortfall, Witness, certified, measured, proved, refuted, undecided


def test_a_verdict_comes_back_whole() -> None:
    fixed = (
        refuted(Witness("at x = 1/2", {"x": Fraction(1, 2)}))
        .correcting("a = b", proved(), "because")
        .blaming("constant", "c")
    )
    rich = (fixed & measured(True, loss=0.1, wide=float("inf"))).at({"x": (0, 1)}).within(1e-6, "solver", (1, 2))
    for verdict in (
        rich,
        undecided("x"),
        certified(n=3).proving("step", K="every").approaching({"m": Shortfall(0.2, 1.25)}),
    ):
        again = from_plain(json.loads(json.dumps(to_plain(verdict))))
        assert again == verdict and type(again.evidence) is type(verdict.evidence)
    assert from_plain(to_plain(Seeds((0, 1), 2, 0.1, 1.0))) == Seeds((0, 1), 2, 0.1, 1.0)


def test_numbers_of_arrays_are_plain_and_objects_are_refused() -> None:
    assert to_plain([np.float64(0.5), np.arange(2)]) == [0.5, [0, 1]]
    with pytest.raises(ValueError, match="can not be kept"):
        to_plain({"x": object()})


VALUES = [
    *(None, True, False, 0, -3, 2.5, "text", "~", [], [1, [2.5, None]], (), (1, ("a", [2])), {}, {"~": 1, "of": 2}),
    *(Fraction(-1, 3), {1: "a", (0, 1): {"b": (2,)}}, float("inf"), float("-inf"), Witness("s", {"x": Fraction(1, 2)})),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_every_kind_of_value_comes_back_as_itself(value: Any) -> None:
    again = from_plain(json.loads(json.dumps(to_plain(value))))
    assert again == value and type(again) is type(value) and repr(again) == repr(value)


def test_strength_and_no_number_come_back() -> None:
    for evidence in Evidence:
        assert from_plain(json.loads(json.dumps(to_plain(evidence)))) is evidence
    assert np.isnan(from_plain(json.loads(json.dumps(to_plain(float("nan"))))))


def test_a_class_that_only_has_the_name_of_a_record_is_refused() -> None:
    with pytest.raises(ValueError, match="a Seeds can not be kept"):
        to_plain(type("Seeds", (), {})())


def test_what_an_export_of_proofs_needs_is_not_kept() -> None:
    assert "stated" not in to_plain(proved())["of"] and to_plain(proved())["of"].keys() >= {"as_stated", "evidence"}
