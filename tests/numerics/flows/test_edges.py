"""Runs that come to the end of a domain say so, with a way out that works; others keep their own reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from odesys import IntegrationError, StopWhen, System, integrate

SUPER = {"x": "-1.5*sqrt(abs(x))*sign(x) + v", "v": "-1.1*sign(x)"}  # Levant's super-twisting controller


@pytest.mark.parametrize(
    ("equations", "says"),
    [
        (SUPER, "come to x = 0, where a root of it has no finite slope.*slide of second order"),
        ({"x": "-sqrt(x)", "v": "0"}, "come to x = 0, where a root.*equations that hold afterwards"),
        ({"x": "log(x) - 1", "v": "0"}, "the end of the domain of log"),
        ({"x": "-1/x", "v": "0"}, "come to x = 0, which is divided by"),
        ({"x": "(t - 1)/abs(t - 1)", "v": "0"}, "not finite at t = 1; it has come to 1 - t = 0, which is divided by"),
    ],
)
def test_the_end_of_a_domain_is_named(equations: dict[str, str], says: str) -> None:
    with pytest.raises(IntegrationError, match=says) as caught:
        integrate(System.from_strings(equations), [1.0, 0.0], (0.0, 10.0))
    assert "stiff" not in str(caught.value) and abs(caught.value.state[0]) < 1e-6  # type: ignore[attr-defined]


def test_the_ways_out_work() -> None:
    ended = integrate(
        System.from_strings(SUPER), [1.0, 0.0], (0.0, 10.0), events=[StopWhen("arrival", "x", level=1e-9)]
    )
    assert ended.stop == "event:arrival" and ended.end_state[1] == pytest.approx(-1.1 * ended.end_time)
    smooth = {"x": "-1.5*x/sqrt(abs(x) + 1e-6) + v", "v": "-1.1*x/(abs(x) + 1e-6)"}
    rest: Any = integrate(System.from_strings(smooth), [1.0, 0.0], (0.0, 10.0)).end_state
    assert np.abs(rest).max() < 1e-9


def test_a_blow_up_keeps_its_own_reason() -> None:
    with pytest.raises(IntegrationError) as caught:
        integrate(System.from_strings({"x": "x**2 + sqrt(x)"}), [1.0], (0.0, 10.0))
    assert "has come to" not in str(caught.value)
