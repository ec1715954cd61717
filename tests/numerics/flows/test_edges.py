"""Runs that come to the end of a domain say so, with a way out that works; others keep their own reason."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.flows.edges import with_edge_hint
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


def at_edge(equations: dict[str, str], state: list[float], gates: list[float] | None = None) -> str | None:
    """What is said of a run that stopped at a state."""
    system = System.from_strings(equations)
    mode = SimpleNamespace(gates=np.array(gates if gates is not None else [0.0] * len(system.surfaces)))
    run: Any = SimpleNamespace(compiled=system.compile({}), parameters={}, t=0.0, x=np.array(state), mode=mode)
    found = with_edge_hint(IntegrationError("It is stuck.", time=3.0), run)
    assert found is None or found.objects["time"] == 3.0
    return None if found is None else str(found)


def test_an_end_is_near_in_units_of_the_state() -> None:
    for state, near in (([0.9e-7, 0.0], True), ([1.1e-7, 0.0], False), ([1.1e-7, 1.0], True), ([1.9e-5, 200], True)):
        for sign in (1, -1):
            said = at_edge({"x": "log(x)", "y": "y"}, [sign * state[0], state[1]])
            assert (said is not None) == near
    assert at_edge({"x": "x"}, [0.0]) is None


def test_what_is_said_of_each_end() -> None:
    on = "End the run before with an event, or go on with the equations that hold afterwards"
    assert at_edge({"x": "log(x)"}, [0.0]) == f"It is stuck; it has come to x = 0, the end of the domain of log. {on}"
    assert at_edge({"x": "1/x"}, [0.0]) == f"It is stuck; it has come to x = 0, which is divided by. {on}"
    assert at_edge({"x": "sqrt(x)"}, [0.0]) == (
        f"It is stuck; it has come to x = 0, where a root of it has no finite slope, so that no step of any method "
        f"goes across. {on}"
    )
    for value in (1.0, -1.0):
        said = at_edge({"x": "asin(x)"}, [value])
        assert said is not None and f"come to x = {value:g}, the end of the domain of" in said
    assert at_edge({"x": "asin(x)"}, [0.5]) is None


def test_gates_are_shown_as_they_are_held() -> None:
    for gate, shown in ((1.0, "x"), (0.0, "-x")):
        said = at_edge({"x": "sqrt(abs(x))", "y": "1"}, [0.0, 1.0], [gate])
        assert said is not None and f"come to {shown} = 0, where a root" in said and "slide of second order" in said
