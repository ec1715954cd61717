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


SERIES = {  # solutions in closed form, by their coefficients 1, 2, ...
    "x**2": lambda k, x: x ** (k + 1),
    "3*x": lambda k, x: x * 3**k / math.factorial(k),
    "-x/7": lambda k, x: x * (-1 / 7) ** k / math.factorial(k),
    "exp(-x)": lambda k, x: -((-math.exp(-x)) ** k) / k,
    "1/x": lambda k, x: float(sp.binomial(sp.Rational(1, 2), k)) * 2**k * x ** (1 - 2 * k),
    "x**(1/3)": lambda k, x: float(sp.binomial(sp.Rational(3, 2), k)) * (2 / 3) ** k * x ** (1 - 2 * k / 3),
    "x**(-1/2)": lambda k, x: float(sp.binomial(sp.Rational(2, 3), k)) * 1.5**k * x ** (1 - 1.5 * k),
    "sqrt(x)": lambda k, x: {1: x**0.5, 2: 0.25}.get(k, 0.0),
    "1": lambda k, x: float(k == 1),
    "t": lambda k, x: {1: 0.7, 2: 0.5}.get(k, 0.0),
    "t**2": lambda k, x: {1: 0.49, 2: 0.7, 3: 1 / 3}.get(k, 0.0),
    "x**5": lambda k, x: float(sp.binomial(sp.Rational(-1, 4), k)) * (-4) ** k * x ** (1 + 4 * k),
    "x**9": lambda k, x: float(sp.binomial(sp.Rational(-1, 8), k)) * (-8) ** k * x ** (1 + 8 * k),
}


def run(system: System, order: int, x: list[float], p: tuple[float, ...] = (), t: float = 0.0) -> np.ndarray:
    """Coefficients 1 to an order, a row each."""
    out, given = np.full(order * system.dimension + 1, 7.0), [np.array(values, dtype=float) for values in (x, p, [1.0])]
    call = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(int(taylor.taylor_code(system, order)))
    call(t, *(a.ctypes.data for a in given), out.ctypes.data)
    assert out[-1] == 7.0
    return out[:-1].reshape(order, system.dimension)


@pytest.mark.parametrize("rate", SERIES)
def test_solutions_in_closed_form_have_their_coefficients(rate: str) -> None:
    """Up to order 11, from t = 0.7."""
    found = run(System.from_strings({"x": rate}), 11, [1.3], t=0.7)[:, 0]
    np.testing.assert_allclose(found, [SERIES[rate](k, 1.3) for k in range(1, 12)], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("power", range(2, 9))
def test_whole_powers_up_to_the_eighth_are_products(power: int) -> None:
    """Right at zero, where the next one divides by it; a square takes half the multiplications of a product."""
    system = System.from_strings({"x": "1", "y": f"x**{power}"})
    for x in (0.0, -0.5):
        found = run(system, power + 3, [x, 0.0])[:, 1]
        wanted = [
            math.comb(power, k - 1) * x ** (power + 1 - k) / k if k <= power + 1 else 0.0 for k in range(1, power + 4)
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    text = taylor.assembly(system, 4)
    assert "@lib_pow(" not in text[text.index("define") :] and "fdiv" not in text
    ninth = taylor.assembly(System.from_strings({"x": "1", "y": "x**9"}), 4)
    assert "@lib_pow(" in ninth[ninth.index("define") :]


@pytest.mark.parametrize(
    ("rates", "products", "sums"),
    [
        # each next order of x scales its sum by 1/(k + 1), but for the first
        ({"x": "k*x"}, [1, 2, 2, 2], [0, 0, 0, 0]),
        ({"x": "x + 3"}, [1, 1, 1, 1], [1, 0, 0, 0]),
        ({"x": "-x"}, [0, 1, 1, 1], [0, 0, 0, 0]),
        ({"x": "x - 1/2 * y", "y": "1"}, [1, 2, 1, 1], [1, 1, 0, 0]),
        ({"x": "x*y", "y": "x"}, [1, 4, 5, 6], [0, 1, 2, 3]),
        ({"x": "x**2"}, [1, 3, 4, 4], [0, 0, 1, 1]),
        ({"x": "t*x"}, [1, 2, 2, 2], [0, 1, 1, 1]),
    ],
)
def test_what_is_zero_or_one_leaves_no_instructions(
    rates: dict[str, str], products: list[int], sums: list[int]
) -> None:
    """Terms of a parameter beyond its first, products with the slope of time, halves of squares."""
    system, before = System.from_strings(rates), [0, 0]
    for order, (product, total) in enumerate(zip(products, sums, strict=True), start=1):
        text = taylor.assembly(system, order)
        now = [text.count("fmul contract"), text.count("fadd contract")]
        assert [now[0] - before[0], now[1] - before[1]] == [product, total], order
        before = now


def test_functions_and_their_slopes_are_called_once() -> None:
    """Sine and cosine of one argument for all orders; e^x, and e^-x by its exponent."""
    for rate, calls in (
        ("sin(x)*cos(x) + sin(x)", {"sin": 1, "cos": 1}),
        ("exp(x) + exp(x)*y + exp(-x)*y", {"exp": 2}),
    ):
        text = taylor.assembly(System.from_strings({"x": rate, "y": "x"}), 6)
        assert {name: text.count(f"call double @lib_{name}(") for name in calls} == calls


def test_gates_are_held_whichever_side_they_are_of() -> None:
    x = sym("x")
    system = System.from_equations({"x": graph.step(x - 1) * x + 5 * graph.step(1 - x)})
    (surface,) = system.surfaces
    for gate in (0.0, 0.25, 1.0):
        found = coefficients(system, [2.0], g=(gate,))[:, 0]
        share = gate if graph.step(surface) is graph.step(x - 1) else 1 - gate
        rate = 2.0 * share + 5.0 * (1 - share)
        wanted = [rate * share ** (k - 1) / math.factorial(k) for k in range(1, ORDER + 1)]
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-300)
    assert not taylor.has_branches(System.from_equations({"x": graph.step(graph.sqrt(1 + x * x) - 2) * x}))
    assert taylor.has_branches(System.from_equations({"x": graph.step(x) * graph.sqrt(1 + x * x)}))


def test_long_code_is_compiled_quickly_and_longer_code_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    system, asked = System.from_strings({"x": "x*y", "y": "x"}), list[str]()
    lengths: list[int] = []
    monkeypatch.setattr(
        taylor, "function_text", lambda name, lines: lengths.append(len(lines)) or "\n".join([f"@{name}", *lines])
    )
    text = taylor.assembly(system, 3)
    assert len(lengths) == 1
    for most, fits in ((lengths[0], True), (lengths[0] - 1, False)):
        monkeypatch.setattr(taylor, "MOST_INSTRUCTIONS", most)
        if fits:
            assert taylor.assembly(system, 3) == text
        else:
            with pytest.raises(EquationError, match="to order 3 of this system are more than"):
                taylor.assembly(system, 3)
    monkeypatch.undo()

    class Code:
        def address(self, name: str) -> str:
            return name

    monkeypatch.setattr(taylor, "compiled", lambda text, effort: asked.append(effort) or Code())
    lines = taylor.assembly(system, 3).count("\n")
    for most, effort in ((lines, llvm.STRAIGHT), (lines - 1, llvm.LONG)):
        monkeypatch.setattr(taylor, "QUICKLY", most)
        assert taylor.taylor_code(system, 3) == "function" and asked.pop() == effort
