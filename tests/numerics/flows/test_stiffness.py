"""A run that is slow because it is stiff says so; one that is slow for another reason does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.flows.stiffness import LARGEST, with_stiffness_hint
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


def stopped(rate: float, step: float, **more: Any) -> Any:
    """A run in the making whose state decays at a rate, and whose last step had a length."""
    compiled = SimpleNamespace(jacobian=lambda t, x, gates: np.diag([-rate, 5.0, -1.0]))
    made: dict[str, Any] = {
        "compiled": compiled,
        "method": "auto",
        "stiff_from": None,
        "slide": None,
        "x": np.ones(3),
        "last_step": step,
        "t": 0.0,
    }
    return SimpleNamespace(mode=SimpleNamespace(gates=None), **(made | more))


def test_steps_at_the_limit_of_stability_are_said_to_be_held_back() -> None:
    error = IntegrationError("it got stuck", time=2.0)
    for method, reach in (("auto", 6.0), ("DOP853", 6.0), ("Taylor", 6.0), ("RK45", 3.3), ("RK23", 2.5)):
        for part, told in ((0.29, False), (0.31, True)):
            found = with_stiffness_hint(error, stopped(1000.0, part * reach / 1000, method=method))
            assert ("stiff" in str(found)) == told, method
    found = with_stiffness_hint(error, stopped(2000.0, 0.0015))
    assert found.objects["time"] == 2.0 and str(found) == (
        "it got stuck; the system is stiff: something decays at rate 2e+03, which holds explicit steps at 0.0015; use "
        "method='Rodas5P', 'Radau', 'BDF' or 'LSODA'"
    )
    for other in (
        {"method": "Radau"},
        {"stiff_from": 0.0},
        {"slide": object()},
        {"x": np.ones(LARGEST + 1)},
        {"last_step": 0.0},
        {"last_step": np.nan},
        {"compiled": SimpleNamespace(jacobian=lambda *_: np.full((2, 2), np.inf))},
    ):
        assert with_stiffness_hint(error, stopped(1000.0, 1.0, **other)) is error
    assert "stiff" in str(with_stiffness_hint(error, stopped(1000.0, 1.0, x=np.ones(LARGEST))))
