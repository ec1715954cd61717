"""Taylor coefficients of solutions: against repeated derivatives by SymPy, for every function of the table."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
import sympy as sp

from odesys import System, sym
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.functions import FUNCTIONS
from odesys.expr.sympy_bridge import to_sympy
from odesys.jit import llvm, taylor

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite is not installed")
ORDER = 5
START = {"x": 0.4, "y": 1.3}
NAMES = [name for name in FUNCTIONS if name not in ("step", "arccosh", "erf")]


def coefficients(
    system: System, x: list[float], p: tuple[float, ...] = (0.0,), g: tuple[float, ...] = (0.0,), t: float = 0.0
) -> np.ndarray:
    """Coefficients 1 to ORDER, a row each."""
    code = taylor.taylor_code(system, ORDER)
    out = np.full(ORDER * system.dimension, np.nan)
    given = [np.array(values, dtype=float) for values in (x, p, g)]
    call = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(int(code))
    call(t, *(a.ctypes.data for a in given), out.ctypes.data)
    return out.reshape(ORDER, system.dimension)


def by_sympy(system: System, start: dict[str, float], t: float = 0.0) -> np.ndarray:
    """The same by differentiating along the field, exactly, and putting numbers in at the end."""
    clock = sp.Symbol("t", real=True)
    letters = {name: sp.Symbol(name, real=True) for name in system.names}
    field = {letters[name]: to_sympy(node) for name, node in system.equations.items()}
    values = {letters[name]: sp.Float(start[name], 40) for name in system.names} | {clock: sp.Float(t, 40)}
    rows, now = [], dict(zip(letters.values(), letters.values(), strict=True))
    for k in range(1, ORDER + 1):
        now = {x: sum(sp.diff(e, z) * f for z, f in field.items()) + sp.diff(e, clock) for x, e in now.items()}
        rows.append([float(e.subs(values)) / math.factorial(k) for e in now.values()])
    return np.array(rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_of_the_table(name: str) -> None:
    x, y = sym("x"), sym("y")
    argument = (x + 1) / 3 if name in ("arccos", "arcsin", "arctanh") else x
    system = System.from_equations({"x": y / 2, "y": graph.call(name, argument) - x / 5})
    found, wanted = coefficients(system, list(START.values())), by_sympy(system, START)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "rate", ["x*y**3 - y", "x**2*y/(1 + x**2)", "sqrt(x + y)", "(x + 2)**(-3/2)", "exp(-3*x)*y", "x**9", "1/(x*y)"]
)
def test_products_and_powers(rate: str) -> None:
    system = System.from_strings({"x": "y - x", "y": rate})
    np.testing.assert_allclose(coefficients(system, [0.4, 1.3]), by_sympy(system, START), rtol=1e-11, atol=1e-13)


def test_fields_that_depend_on_time_parameters_and_gates() -> None:
    forced = System.from_strings({"x": "-x + cos(t)*t"})
    np.testing.assert_allclose(
        coefficients(forced, [0.4], t=0.7), by_sympy(forced, {"x": 0.4}, t=0.7), rtol=1e-11, atol=1e-13
    )
    growth = System.from_strings({"x": "k*x"}, ["k"])
    assert coefficients(growth, [2.0], (3.0,))[:, 0] == pytest.approx(
        [2 * 3**k / math.factorial(k) for k in range(1, ORDER + 1)]
    )
    gated = System.from_strings({"x": "Heaviside(x - 1)*x"})
    assert coefficients(gated, [2.0], g=(0.0,))[:, 0] == pytest.approx(np.zeros(ORDER))
    assert coefficients(gated, [2.0], g=(1.0,))[:3, 0] == pytest.approx([2.0, 1.0, 1 / 3])


def test_whole_powers_are_right_where_the_base_is_zero() -> None:
    system = System.from_strings({"x": "1", "y": "x**3"})
    found = coefficients(system, [0.0, 0.0])
    assert found[:, 1] == pytest.approx([0, 0, 0, 0.25, 0])


def test_what_would_be_too_long_is_refused() -> None:
    names = [f"x{i}" for i in range(60)]
    coupled = {a: "*".join(names[i : i + 8]) for i, a in enumerate(names[:50])} | {a: "1" for a in names[50:]}
    with pytest.raises(EquationError, match="operations; use method='DOP853'"):
        taylor.assembly(System.from_strings(coupled), 40)


@pytest.mark.parametrize(
    ("text", "branches"),
    [
        ("x**3 - 1/x", False),
        ("exp(x) + sin(x)*tanh(x)", False),
        ("sqrt(x)", True),
        ("1 + y*x**(-3/2)", True),
        ("log(x) + y", True),
        ("arcsin(x)", True),
        ("x*heav(x)", False),
    ],
)
def test_roots_and_logarithms_have_branches(text: str, branches: bool) -> None:
    assert taylor.has_branches(System.from_strings({"x": text, "y": "x"})) is branches
