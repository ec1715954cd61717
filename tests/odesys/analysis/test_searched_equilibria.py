"""Equilibria in a box: zeros whose first box is wide."""

from __future__ import annotations

import pytest

from odesys import System
from odesys.analysis.equilibria import equilibria


@pytest.mark.parametrize("text", ["tanh(2*x) - x", "atan(2*x) - x", "x*exp(-x^2/50)", "erf(3*x) - x"])
def test_zero_is_named_where_newtons_method_runs_away(text: str) -> None:
    found = equilibria(System.from_strings({"x": text}))
    assert 0 in [e.point["x"] for e in found]
    widths = [float(e.enclosure["x"][1] - e.enclosure["x"][0]) for e in found]
    assert max(widths) < 1e-20
