"""A run that is slow because it is stiff says so; one that is slow for another reason does not."""

from __future__ import annotations

import pytest

from odesys import System, integrate
from odesys.errors import IntegrationError

OSCILLATOR = System.from_strings({"x": "y", "y": "1000*(1 - x**2)*y - x"})


def test_a_stiff_run_names_methods_that_do_better() -> None:
    with pytest.raises(IntegrationError, match=r"the system is stiff.*Radau"):
        integrate(OSCILLATOR, [2.0, 0.0], (0.0, 500.0), method="DOP853", max_steps=5000)
    assert integrate(OSCILLATOR, [2.0, 0.0], (0.0, 500.0), method="Radau", rtol=1e-6).cost.steps < 500


def test_a_blow_up_or_a_fast_wave_is_not_called_stiff() -> None:
    with pytest.raises(IntegrationError) as blown:
        integrate(System.from_strings({"x": "x**2"}), [1.0], (0.0, 2.0))
    with pytest.raises(IntegrationError) as fast:
        integrate(System.from_strings({"x": "1000*y", "y": "-1000*x"}), [1.0, 0.0], (0.0, 100.0), max_steps=2000)
    assert "stiff" not in str(blown.value) + str(fast.value)
