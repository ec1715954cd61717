"""Verdicts to JSON and back: the same verdict, or a refusal."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from odesys.papers.plain_verdicts import from_plain, to_plain
from odesys.verdicts import Seeds, Shortfall, Witness, certified, measured, proved, refuted, undecided


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
