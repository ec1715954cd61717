r"""One record per elementary function: all that any back end knows about it stands here, once.

Callables are written for the numbers of their back end: floats, arrays of floats, balls (`flint.arb`), power series of
balls (`flint.arb_series`). The Taylor coefficients of a function without a `series` follow from its derivative,

.. math::  f(z) = f(z_0) + \int f'(z)\,z' .

Outside its domain a function is not a number. Powers are no functions: :math:`x^a = e^{a \log x}` for an exponent that
is not a number, and fractional powers, square and cube roots among them, are for positive bases too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from ..errors import EquationError, IntegrationError

Call = Callable[[str, Any], Any]  # a function, by its name, of an expression
HALF = Fraction(1, 2)
DERIVED = ("abs", "relu", "sqrt", "cbrt")  # written in gates and powers


@dataclass(frozen=True, kw_only=True)
class Function:
    """An elementary function of one real number.

    Attributes
    ----------
    derivative : as an expression of the argument, the value, and `call(name, argument)` for other functions.
    through : the function in terms of others, for proofs; None if it is an atom there.
    floats, arrays, balls, series : the function of a float, an array, a ball, a power series of balls.
    sympy : the name of the SymPy class, or how to write it with the module and the argument.
    library : its name in the C mathematical library; without one `assembly` defines it in LLVM.
    imports, helper : what a Python module takes from `math`, and the definition it needs besides.
    javascript : the function in that language.
    tex : how it is printed.
    domain : the open interval where it is real and smooth; inside it a tangent has poles.
    odd : whether f(-x) = -f(x).
    """

    name: str
    derivative: Callable[[Any, Any, Call], Any]
    floats: Callable[[float], float]
    arrays: Callable[[Any], Any]
    balls: Callable[[Any], Any]
    series: Callable[[Any], Any] | None
    sympy: str | Callable[[Any, Any], Any]
    library: str = ""
    assembly: str = ""
    imports: tuple[str, ...] = ()
    helper: str = ""
    javascript: str = ""
    tex: str = ""
    domain: tuple[float, float] = (-math.inf, math.inf)
    odd: bool = False
    through: Callable[[Any, Call], Any] | None = None


def _usual(name: str, derivative: Callable[[Any, Any, Call], Any], symbol: str = "", **more: Any) -> Function:
    """A function of the C library, by its `symbol` there; NumPy and SymPy know it too."""
    symbol = symbol or name

    def method(z: Any) -> Any:
        return getattr(z, symbol)()

    usual = {
        "floats": _total(getattr(math, symbol), more.get("domain", (-math.inf, math.inf))),
        "arrays": getattr(np, name, None),
        "balls": method,
        "series": method if hasattr(flint.arb_series, symbol) else None,
        "sympy": symbol,
        "library": symbol,
        "imports": (name if name == symbol else f"{symbol} as {name}",),
        "javascript": f"Math.{symbol}",
        "tex": f"\\{name}",
    }
    return Function(name=name, derivative=derivative, **{**usual, **more})


def _total(function: Callable[[float], float], domain: tuple[float, float]) -> Callable[[float], float]:
    """Not a number outside the domain and infinite where floats end, as machine code has it."""

    def total(z: float) -> float:
        try:
            return function(z)
        except OverflowError:
            return function(math.copysign(1.0, z)) * math.inf
        except ValueError:
            return {domain[0]: -math.inf, domain[1]: math.inf}.get(z, math.nan) if math.isfinite(z) else math.nan

    return total


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan if base else math.inf


FLOAT_ROOTS = {"sqrt": _total(math.sqrt, (0, math.inf)), "pow": _power}  # fractional powers in straight-line code


# ---- what is not in the libraries ----------------------------------------------------------------------------------

_EXP = """def exp(z):
    return inf if z > 709.782712893384 else _exp(z)"""
_SIGMOID = """def sigmoid(z):
    if z >= 0:
        return 1.0 / (1.0 + _exp(-z))
    return _exp(z) / (1.0 + _exp(z))"""
_SOFTPLUS = """def softplus(z):
    return max(z, 0.0) + log1p(_exp(-abs(z)))"""
_STEP = """def step(z):
    return 1.0 if z > 0 else 0.0"""
_SIGMOID_ASSEMBLY = """
define internal double @sigmoid(double %z) {
  %a = call double @llvm.fabs.f64(double %z)
  %m = fneg double %a
  %e = call double @lib_exp(double %m)
  %c = fcmp oge double %z, 0.0
  %p = select i1 %c, double 1.0, double %e
  %d = fadd double 1.0, %e
  %r = fdiv double %p, %d
  ret double %r
}"""
_SOFTPLUS_ASSEMBLY = """
define internal double @softplus(double %z) {
  %c = fcmp ogt double %z, 0.0
  %p = select i1 %c, double %z, double 0.0
  %a = call double @llvm.fabs.f64(double %z)
  %m = fneg double %a
  %e = call double @lib_exp(double %m)
  %l = call double @lib_log1p(double %e)
  %r = fadd double %p, %l
  ret double %r
}
"""
# a series without cancellation, and where that gets long the continued fraction of the rest
_ERF_JAVASCRIPT = """z => {
  const a = Math.abs(z), e = Math.exp(-z * z) / Math.sqrt(Math.PI);
  if (!(a < 6)) return z === z ? Math.sign(z) : z;
  if (a < 3) {
    let term = 2 * z, sum = term;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= 2 * z * z / (2 * n + 1);
    return e * sum;
  }
  let rest = a;
  for (let n = 60; n > 0; n--) rest = a + n / 2 / rest;
  return Math.sign(z) * (1 - e / rest);
}"""


def _defined(helper: str) -> Callable[[float], float]:
    """The function that a helper of exported modules defines."""
    namespace: dict[str, Any] = {"_exp": math.exp, "log1p": math.log1p}
    exec(helper, namespace)
    return namespace[helper.removeprefix("def ").partition("(")[0]]  # type: ignore[no-any-return]


def _array_sigmoid(z: Any) -> Any:
    small = np.exp(-np.abs(z))
    return np.where(np.asarray(z) >= 0, 1 / (1 + small), small / (1 + small))


def _ball_step(surface: Any) -> Any:
    """The gate of a ball: exact where the ball is on one side of zero (or is zero), else all of [0, 1]."""
    if surface > 0:
        return flint.arb(1)
    if surface <= 0:
        return flint.arb(0)
    return flint.arb(0).union(flint.arb(1)) if surface.is_finite() else surface


def not_a_number(value: Any) -> Any:
    """A ball or a series of the same length that is nowhere a number; the product of zero with such a ball is zero."""
    if isinstance(value, flint.arb):
        return flint.arb.nan()
    return flint.arb_series([flint.arb.nan()] * value.prec, prec=value.prec)


def series_inverse(value: Any) -> Any:
    """One over a series, or a ball; not a number where it may vanish, which flint refuses or answers with less."""
    first = value if isinstance(value, flint.arb) else value[0]
    return not_a_number(value) if first.contains(0) else 1 / value


def _series_step(surface: Any) -> Any:
    value = surface if isinstance(surface, flint.arb) else surface[0]
    if value > 0 or value < 0:
        return flint.arb(int(value > 0))
    raise IntegrationError(
        f"a gate is undecided: its surface lies in {value.str(6)}; gates count as constants, so "
        f"start or stop away from the switching surface",
        surface=value,
    )


def _ball_sigmoid(z: Any) -> Any:
    """By its ends where the ball is wide: the ball of an exponential then reaches far below zero."""
    if z.rad() < 1:
        return 1 / (1 + (-z).exp())
    return _ball_sigmoid(z.lower()).union(_ball_sigmoid(z.upper())) if z.is_finite() else not_a_number(z)


def _sigmoid(a: Any, f: Call) -> Any:
    if a.op == "add" and a.args[0][0] < 0:
        return (1 + f("exp", -a)) ** -1
    return f("exp", a) * (1 + f("exp", a)) ** -1


def _arccos(a: Any, f: Call) -> Any:
    return 2 * f("arctan", 1 + 0 * a) - f("arcsin", a)  # 1 + 0 a: the number one as an expression


def _tanh(a: Any, f: Call) -> Any:
    square = f("exp", 2 * a)
    return (square - 1) * (square + 1) ** -1


def _erf_slope(a: Any, y: Any, f: Call) -> Any:
    return f("exp", -(a * a)) * f("arctan", 1 + 0 * a) ** -HALF  # 2 / sqrt(pi) = arctan(1)^(-1/2)


# ---- the table -----------------------------------------------------------------------------------------------------

_AR = "\\operatorname{{ar{}}}".format
_TABLE = (
    _usual("exp", lambda a, y, f: y, imports=("exp as _exp", "inf"), helper=_EXP),
    _usual("log", lambda a, y, f: a**-1, domain=(0, math.inf)),
    Function(
        name="sigmoid",  # 1/(1+e^-a)
        derivative=lambda a, y, f: y * f("sigmoid", -a),
        floats=_defined(_SIGMOID),
        arrays=_array_sigmoid,
        balls=_ball_sigmoid,
        series=lambda z: series_inverse(1 + (-z).exp()),
        sympy=lambda sp, a: 1 / (1 + sp.exp(-a)),
        assembly=_SIGMOID_ASSEMBLY,
        imports=("exp as _exp",),
        helper=_SIGMOID,
        javascript="z => { const e = Math.exp(-Math.abs(z)); return (z < 0 ? e : 1) / (1 + e); }",
        through=_sigmoid,
    ),
    Function(
        name="softplus",  # log(1+e^a)
        derivative=lambda a, y, f: f("sigmoid", a),
        floats=_defined(_SOFTPLUS),
        arrays=lambda z: np.logaddexp(0.0, z),
        balls=lambda z: z.exp().log1p(),
        series=lambda z: (1 + z.exp()).log(),
        sympy=lambda sp, a: sp.log(1 + sp.exp(a)),
        assembly=_SOFTPLUS_ASSEMBLY,
        imports=("exp as _exp", "log1p"),
        helper=_SOFTPLUS,
        javascript="z => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)))",
        through=lambda a, f: f("log", 1 + f("exp", a)),
    ),
    Function(
        name="step",
        derivative=lambda a, y, f: 0 * a,
        floats=_defined(_STEP),
        arrays=lambda z: np.where(np.asarray(z) > 0, 1.0, 0.0),
        balls=_ball_step,
        series=_series_step,
        sympy=lambda sp, a: sp.Heaviside(a, 0),
        helper=_STEP,
        javascript="z => z > 0 ? 1 : 0",
    ),
    _usual("sin", lambda a, y, f: f("cos", a), odd=True),
    _usual("cos", lambda a, y, f: -f("sin", a)),
    _usual("tan", lambda a, y, f: 1 + y * y, odd=True, through=lambda a, f: f("sin", a) * f("cos", a) ** -1),
    _usual(
        "tanh",
        lambda a, y, f: 1 - y * y,
        odd=True,
        series=lambda z: 1 - 2 * series_inverse(1 + (2 * z).exp()),
        through=_tanh,
    ),
    _usual(
        "sinh",
        lambda a, y, f: f("cosh", a),
        odd=True,
        series=lambda z: (z.exp() - (-z).exp()) / 2,
        through=lambda a, f: (f("exp", a) - f("exp", -a)) / 2,
    ),
    _usual(
        "cosh",
        lambda a, y, f: f("sinh", a),
        series=lambda z: (z.exp() + (-z).exp()) / 2,
        through=lambda a, f: (f("exp", a) + f("exp", -a)) / 2,
    ),
    _usual("arctan", lambda a, y, f: (1 + a * a) ** -1, "atan", odd=True),
    _usual("arcsin", lambda a, y, f: (1 - a * a) ** -HALF, "asin", odd=True, domain=(-1, 1)),
    _usual("arccos", lambda a, y, f: -((1 - a * a) ** -HALF), "acos", domain=(-1, 1), through=_arccos),
    _usual("arcsinh", lambda a, y, f: (1 + a * a) ** -HALF, "asinh", odd=True, tex=_AR("sinh")),
    _usual("arccosh", lambda a, y, f: ((a - 1) * (a + 1)) ** -HALF, "acosh", domain=(1, math.inf), tex=_AR("cosh")),
    _usual("arctanh", lambda a, y, f: (1 - a * a) ** -1, "atanh", odd=True, domain=(-1, 1), tex=_AR("tanh")),
    _usual(
        "erf",
        _erf_slope,
        odd=True,
        arrays=np.vectorize(math.erf, otypes=[float]),
        javascript=_ERF_JAVASCRIPT,
        tex=r"\operatorname{erf}",
    ),
)
FUNCTIONS: dict[str, Function] = {record.name: record for record in _TABLE}


def unknown(name: str) -> EquationError:
    """What is said, everywhere, of a function without a record."""
    known = ", ".join(sorted({*FUNCTIONS, *DERIVED}))
    return EquationError(
        f"the function {name} is not known; use +, *, powers, Max, Min, sign, Heaviside or one of {known}",
        function=name,
    )
