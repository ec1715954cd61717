"""A system in new variables moves as the old one does, from every start that the new variables reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from odesys import EquationError, System, in_new_variables, sym

X, Y, S, D = (sym(name) for name in "xysd")
PREY = System.from_equations({"x": X - X * Y, "y": X * Y - sym("k") * Y}, ["k"], observables={"sum": X + Y})
SUM = {"s": X + Y, "d": X - Y}
BACK = {"x": (S + D) / 2, "y": (S - D) / 2}


def test_trajectories_are_the_same_with_another_unit_of_time() -> None:
    made = in_new_variables(PREY, SUM, BACK, time=3)
    start = np.array([1.0, 0.5])
    old = solve_ivp(PREY.compile(k=0.7), (0, 1.5), start, rtol=1e-10, atol=1e-12).y[:, -1]
    new = solve_ivp(made.system.compile(k=0.7), (0, 0.5), made.project(start), rtol=1e-10, atol=1e-12).y[:, -1]
    assert np.abs(made.lift(new) - old).max() < 1e-8
    assert made.law().as_stated == "holds" and made.system.observables["sum"] == S


def test_a_step_in_new_variables() -> None:
    step = System.from_equations({"x": X * X, "y": X + Y}, kind="map")
    made = in_new_variables(step, SUM, BACK)
    assert made.law().as_stated == "holds"
    z = np.array([1.7, -0.4])
    assert made.lift(made.system.compile()(0.0, z)) == pytest.approx(step.compile()(0.0, made.lift(z)), abs=1e-14)


def test_a_subspace_that_is_left_fails() -> None:
    stays = System.from_equations({"x": X * Y, "y": X * Y})
    found = in_new_variables(stays, {"s": X + Y}, {"x": S / 2, "y": S / 2})
    assert found.law().as_stated == "holds" and "only for starts that its new variables reach" in repr(found)
    law = in_new_variables(PREY.substitute({"k": 2}), {"s": X + Y}, {"x": S / 2, "y": S / 2}).law()
    assert law.as_stated == "fails" and law.witness


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        (SUM, {"x": S}, "every state, and no other name, an expression: y is not so"),
        (SUM, {**BACK, "z": S}, "every state, and no other name, an expression: z is not so"),
        ({"s": X + sym("k"), "d": Y}, BACK, "k is in an expression for one of s, d, and is no variable"),
        (SUM, {"x": S + D, "y": S - D}, "s does not come back"),
    ],
)
def test_mistakes(new: dict, old: dict, text: str) -> None:
    with pytest.raises(EquationError, match=text):
        in_new_variables(PREY, new, old)


def test_only_a_flow_without_t_gets_another_unit_of_time() -> None:
    driven = System.from_equations({"x": sym("t") * X})
    assert in_new_variables(driven, {"z": 2 * X}, {"x": sym("z") / 2}).law().as_stated == "holds"
    with pytest.raises(EquationError, match="another unit of time"):
        in_new_variables(driven, {"z": 2 * X}, {"x": sym("z") / 2}, time=2)


@pytest.mark.parametrize("time", [1, 2, 5])
def test_rates_of_new_variables_follow_the_chain_rule(time: int) -> None:
    """D new(old(z)) F(old(z)), times the unit of time; the observables are those of the old states."""
    made = in_new_variables(PREY, SUM, BACK, time=time)
    assert made.speed == time and made.system.names == ("s", "d") and made.system.parameters == ("k",)
    for z in ([0.4, 1.3], [-2.0, 0.7]):
        x = np.array([(z[0] + z[1]) / 2, (z[0] - z[1]) / 2])
        assert made.lift(z) == pytest.approx(x) and made.project(x) == pytest.approx(z)
        rate = PREY.compile(k=0.7)(0.0, x)
        wanted = time * np.array([rate[0] + rate[1], rate[0] - rate[1]])
        assert made.system.compile(k=0.7)(0.0, z) == pytest.approx(wanted)
    assert set(made.lifted) == {"x", "y"}


def test_nonlinear_variables_and_orders_of_states() -> None:
    cubic = System.from_equations({"x": -X, "y": X})
    made = in_new_variables(cubic, {"u": X, "v": Y - X**2}, {"y": sym("v") + sym("u") ** 2, "x": sym("u")})
    assert list(made.lifted) == ["x", "y"] and made.law().as_stated == "holds"
    assert made.system.compile()(0.0, [2.0, 1.0]) == pytest.approx([-2.0, 2.0 + 8.0])
    driven = System.from_equations({"x": sym("t") * X})
    step = System.from_equations({"x": X * X}, kind="map")
    for system in (driven, step):
        with pytest.raises(EquationError, match="only a flow that does not depend on t can have another unit of time"):
            in_new_variables(system, {"z": 2 * X}, {"x": sym("z") / 2}, time=2)
    with pytest.raises(EquationError, match="z is in an expression for one of x, and is no variable"):
        in_new_variables(System.from_equations({"x": X}), {"s": X}, {"x": sym("z")})
