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
