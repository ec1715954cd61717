"""Functions on lanes are within one unit in the last place, and look at their own number alone."""

from __future__ import annotations

import ctypes
import math

import flint
import numpy as np
import pytest

from odesys.jit import llvm
from odesys.jit.lane_functions import FAR
from odesys.jit.lanes import lane_width, with_functions
from odesys.jit.llvm import LIBRARY

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")


def on_lanes(name: str, numbers: np.ndarray) -> np.ndarray:
    """The function of all numbers, as many at once as there are lanes."""
    width = lane_width()
    kind = f"<{width} x double>"
    called, which = (kind, "") if name[-1] not in "+-" else (f"{{{kind}, {kind}}}", "+-".index(name[-1]))
    taken = "" if called == kind else f"\n  %b = extractvalue {called} %c, {which}"
    body = f"""define void @function(double %t, ptr %x, ptr %p, ptr %g, ptr %out) {{
  %a = load {kind}, ptr %x, align 8
  {"%c" if taken else "%b"} = call {called} @lanes_{name.rstrip("+-")}({kind} %a){taken}
  store {kind} %b, ptr %out, align 8
  ret void
}}
"""
    address = llvm.compiled(with_functions(body, width), llvm.LOOPS).address("function")
    code = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(address)
    padded = np.zeros(-(-len(numbers) // width) * width)
    padded[: len(numbers)] = numbers
    out = np.empty(width)
    found = []
    for k in range(0, len(padded), width):
        given = padded[k : k + width].copy()
        code(0.0, given.ctypes.data, 0, 0, out.ctypes.data)
        found.append(out.copy())
    return np.concatenate(found)[: len(numbers)]


def units_off(name: str, number: float, found: float) -> float:
    """Error in units of the last place of the true value."""
    with flint.ctx.workprec(200):
        true = getattr(flint.arb(number), name)()
        return abs(float((flint.arb(found) - true) / flint.arb(math.ulp(float(true)))))


def samples(name: str) -> np.ndarray:
    drawn = np.random.default_rng(8)
    if name == "exp":
        return np.concatenate([drawn.uniform(-5, 5, 1500), drawn.uniform(-700, 700, 1500), drawn.normal(0, 1e-9, 200)])
    near = np.arange(-200, 200) * (math.pi / 2)
    close = np.concatenate([near, np.nextafter(near, 1e9), np.arange(1, 600_000, 1237) * (math.pi / 2)])
    return np.concatenate([close, drawn.uniform(-10, 10, 1500), drawn.uniform(-FAR, FAR, 1500), [1e-300, 1e-9, 3e22]])


@pytest.mark.parametrize("name", ["exp", "sin", "cos"])
def test_functions_are_within_one_unit_in_the_last_place(name: str) -> None:
    numbers = samples(name)
    worst = max(units_off(name, x, y) for x, y in zip(numbers.tolist(), on_lanes(name, numbers).tolist(), strict=True))
    assert worst < 1.0


def test_the_ends_of_the_exponential() -> None:
    numbers = np.array([0.0, -0.0, 709.782712893384, 709.79, 1e300, math.inf, -math.inf, -800.0, math.nan])
    found = on_lanes("exp", numbers)
    assert found[:2].tolist() == [1.0, 1.0] and math.isclose(found[2], math.exp(709.782712893384))
    assert found[3:6].tolist() == [math.inf] * 3 and found[6:8].tolist() == [0.0, 0.0] and math.isnan(found[8])
    for x in (-708.5, -720.0, -744.0):  # below the smallest normal number, to half of the smallest there is
        assert abs(float(on_lanes("exp", np.array([x]))[0]) - math.exp(x)) <= 5e-324


def test_both_exponentials_together_are_those_that_are_computed_alone() -> None:
    numbers = np.concatenate([samples("exp"), [0.0, 709.7, -709.7, -745.1, 745.1, -800.0, 800.0]])
    for name, sign in (("exp_both+", 1.0), ("exp_both-", -1.0)):
        assert np.array_equal(on_lanes(name, numbers), on_lanes("exp", sign * numbers))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_far_arguments_and_no_numbers(name: str) -> None:
    far = on_lanes(name, np.array([1e7, -3e15, math.inf, math.nan]))
    assert far[:2].tolist() == [getattr(math, name)(1e7), getattr(math, name)(-3e15)]
    assert np.isnan(far[2:]).all()


@pytest.mark.parametrize("name", sorted(set(LIBRARY) - {"pow", "nextafter"}))
def test_a_number_does_not_see_its_neighbours(name: str) -> None:
    numbers = np.array([0.3, 1e7, 0.5, math.nan, 0.9, math.inf, 0.1, -800.0])
    alone = np.array([on_lanes(name, np.array([x]))[0] for x in numbers])
    assert on_lanes(name, numbers).tobytes() == alone.tobytes()
    assert on_lanes(name, numbers[::-1])[::-1].tobytes() == alone.tobytes()


@pytest.mark.parametrize("name", sorted(set(LIBRARY) - {"pow", "nextafter", "exp", "sin", "cos"}))
def test_other_functions_are_those_of_the_library(name: str) -> None:
    numbers = np.array([0.1, 0.3, 0.5, 0.7, 0.9]) + (1 if name == "arccosh" else 0)
    function = getattr(math, LIBRARY[name])
    np.testing.assert_allclose(on_lanes(name, numbers), [function(x) for x in numbers.tolist()], rtol=4e-16)
