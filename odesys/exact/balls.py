"""Expressions over balls and over power series of balls; balls from and to rational numbers; all rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint

from ..errors import ParameterError
from ..expr import graph
from ..expr.functions import FUNCTIONS, Function, not_a_number, series_inverse
from ..expr.graph import Node, Number
from ..expr.system import TIME
from ..expr.tape import Arithmetic, Tape

Interval = tuple[Fraction, Fraction]
Program = Callable[[Mapping[str, Any]], list[Any]]
_FLOAT_ERROR = 2.0**-50
MOST_BITS = 2**20  # of an endpoint that is written out, before or after its point


@contextmanager
def ball_context(precision: int, length: int) -> Iterator[None]:
    """Work with `precision` bits and series of up to `length` coefficients."""
    before = flint.ctx.cap
    flint.ctx.cap = length
    try:
        with flint.ctx.workprec(precision):
            yield
    finally:
        flint.ctx.cap = before


# ---- balls ---------------------------------------------------------------------------------------------------------


def exact(value: Any) -> Fraction:
    """An exact number as a Fraction; floats are refused."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        raise ParameterError(f"the float {value!r} is not exact; write a Fraction, or a ball that holds the value")
    try:
        return Fraction(value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{value!r} is not an exact number; write a Fraction, or a ball around the value"
        ) from None


def as_ball(value: Any) -> Any:
    """The smallest ball at hand around an exact number; balls pass.

    Parameters
    ----------
    value : Any
        A whole number, a fraction, or a ball.

    Returns
    -------
    flint.arb
        A ball that holds the number.

    Examples
    --------
    >>> from fractions import Fraction
    >>> 1 in 3 * as_ball(Fraction(1, 3))
    True
    """
    if isinstance(value, flint.arb):
        return value
    value = exact(value)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def ball_around(low: Any, high: Any) -> Any:
    """A ball around an interval.

    Parameters
    ----------
    low : Any
        Lower end, exact.
    high : Any
        Upper end, exact.

    Returns
    -------
    flint.arb
        A ball that holds the interval.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ball = ball_around(Fraction(1, 4), Fraction(3, 4))
    >>> 0.5 in ball, 1 in ball
    (True, False)
    """
    first, last = as_ball(low), as_ball(high)
    if first > last:
        raise ParameterError(f"the range ({low}, {high}) is empty: its first end is above its last")
    return first.union(last)


def has_endpoints(value: Any) -> bool:
    """True if the endpoints of a ball are numbers that can be written out; 2 to the power 10^18 is finite, too.

    >>> has_endpoints(as_ball(2) ** 1000), has_endpoints(as_ball(2) ** 10**18), has_endpoints(as_ball(0) ** -1)
    (True, False, False)
    """
    return bool(value.is_finite()) and all(
        abs(int(end.man_exp()[1])) <= MOST_BITS for end in (value.mid(), value.rad()) if end
    )


def ball_endpoints(value: Any) -> Interval:
    """The exact endpoints of a ball.

    Parameters
    ----------
    value : Any
        A ball.

    Returns
    -------
    Interval
        Two fractions; an OverflowError where they would fill the memory.

    Examples
    --------
    >>> from fractions import Fraction
    >>> low, high = ball_endpoints(ball_around(Fraction(1, 4), Fraction(3, 4)))  # rounded outward
    >>> low < Fraction(1, 4), high - low < Fraction(1, 2) + Fraction(1, 10**8)
    (True, True)
    """
    if not has_endpoints(value):  # FLINT ends the process on some of them
        raise OverflowError("the endpoints of a ball are no numbers that can be written out")
    middle, radius = (Fraction(int(q.p), int(q.q)) for q in (value.mid().fmpq(), value.rad().fmpq()))
    return middle - radius, middle + radius


def dyadic(value: Fraction) -> Fraction:
    """A nearby number with few binary digits, for step sizes."""
    scale = 2 ** max(0, 12 - (value.numerator.bit_length() - value.denominator.bit_length()))
    return Fraction(round(value * scale), scale)


def ball_number(value: Number) -> Any:
    """The ball of a number: exact ones as they are, a float with the error that floats stand for."""
    return flint.arb(value, _FLOAT_ERROR * max(1.0, abs(value))) if isinstance(value, float) else as_ball(value)


def exact_tape(roots: Sequence[Node]) -> Tape:
    """The tape of expressions without floats, for files that are to be checked elsewhere."""
    tape = Tape.of(roots)
    for op, what in tape.rows:
        for value in [what] if op == "num" else [c for c, _ in what] if op == "add" else ():
            exact(value)
    return tape


# ---- expressions over balls ----------------------------------------------------------------------------------------


def _ball_power(value: Any, exponent: int | Fraction) -> Any:
    if isinstance(exponent, int):
        if exponent > 0 and value.mid() == 0:  # flint has no value for powers of a ball around zero itself
            return _whole_power(value, exponent)
        return value**exponent
    return value.root(exponent.denominator) ** exponent.numerator


BALLS = Arithmetic({name: record.balls for name, record in FUNCTIONS.items()}, ball_number, _ball_power)


def ball_program(nodes: Sequence[Node], precision: int) -> Program:
    """Enclosing balls of `nodes` as a function of the balls of the symbols, with `precision` bits.

    >>> x = graph.sym("x")
    >>> value, = ball_program([x * x - x], 64)({"x": flint.arb(3)})
    >>> value == 6
    True
    """
    with flint.ctx.workprec(precision):
        run = Tape.of(nodes).over(BALLS)

    def program(env: Mapping[str, Any]) -> list[Any]:
        with flint.ctx.workprec(precision):
            return run(env)

    return program


def ball_evaluate(nodes: Sequence[Node], env: Mapping[str, Any], prec: int) -> list[Any]:
    """Enclosing balls of `nodes` where the symbols lie in the balls of `env`, with `prec` bits.

    Parameters
    ----------
    nodes : Sequence[Node]
        The expressions.
    env : Mapping[str, Any]
        A ball for each symbol.
    prec : int
        Bits of the arithmetic.

    Returns
    -------
    list[flint.arb]
        One ball per expression.

    Examples
    --------
    >>> import flint
    >>> x = graph.sym("x")
    >>> (ball,) = ball_evaluate([graph.exp(x) - x], {"x": flint.arb(1)}, 64)
    >>> ball.str(12, radius=False)
    '1.71828182846'
    """
    return ball_program(nodes, prec)(env)


# ---- expressions over power series ---------------------------------------------------------------------------------


def _series_power(value: Any, exponent: int | Fraction) -> Any:
    if isinstance(exponent, int):
        return _whole_power(value if exponent > 0 else series_inverse(value), abs(exponent))
    if isinstance(value, flint.arb):
        return _ball_power(value, exponent)
    if not value[0] > 0:
        return not_a_number(value)
    if exponent.denominator == 2:
        return _whole_power(value.sqrt() if exponent > 0 else value.rsqrt(), abs(exponent.numerator))
    return (value.log() * as_ball(exponent)).exp()


def _whole_power(value: Any, n: int) -> Any:
    """A positive power by squaring; flint's own power of a series goes through a logarithm."""
    half = value if n < 2 else _whole_power(value, n // 2)
    return value if n == 1 else half * half * value if n % 2 else half * half


def _series_function(record: Function) -> Callable[[Any], Any]:
    """A function of a series, or of a ball where only parameters enter."""
    if record.name == "step":
        return record.series  # type: ignore[return-value]
    low, high = (flint.arb(end) for end in record.domain)
    everywhere, run = not (low.is_finite() or high.is_finite()), record.series or _by_derivative(record)

    def function(z: Any) -> Any:
        if isinstance(z, flint.arb):
            return record.balls(z)
        return run(z) if everywhere or low < z[0] < high else not_a_number(z)

    return function


def _by_derivative(record: Function) -> Callable[[Any], Any]:
    z = graph.sym("z")
    tape = Tape.of([graph.derivative(record.name, z, graph.call(record.name, z))])

    def function(inner: Any) -> Any:
        (slope,) = tape.over(SERIES)({"z": inner})
        return record.balls(inner[0]) + (slope * inner.derivative()).integral()

    return function


SERIES = Arithmetic({name: _series_function(record) for name, record in FUNCTIONS.items()}, as_ball, _series_power)


@lru_cache(maxsize=64)
def series_program(nodes: tuple[Node, ...], precision: int) -> Program:
    """Series of `nodes` (balls where only parameters enter) as a function of the series of the symbols.

    Runs with `precision` bits wherever it is called in a `ball_context` of that precision.
    """
    with flint.ctx.workprec(precision):
        return Tape.of(nodes).over(SERIES)


def coefficient(value: Any, k: int) -> Any:
    """The k-th Taylor coefficient; a plain ball is a constant."""
    if isinstance(value, flint.arb):
        return value if k == 0 else flint.arb(0)
    if value.prec <= k:  # a coefficient beyond the precision would read as zero
        raise ArithmeticError(f"the series has {value.prec} coefficients, number {k} is not known")
    return value[k]


def state_series(names: Sequence[str], columns: Sequence[Sequence[Any]], time: Any, length: int) -> dict[str, Any]:
    """States and time as series of `length` coefficients."""
    table = {name: flint.arb_series(list(c[:length]), prec=length) for name, c in zip(names, columns, strict=True)}
    return {**table, TIME: flint.arb_series([time, 1][:length], prec=length)}


def solution_series(
    field: Program, names: Sequence[str], parameters: Mapping[str, Any], box: Sequence[Any], time: Any, length: int
) -> tuple[list[Any], ...]:
    """Per state the first `length` Taylor coefficients of the solutions that start in `box`."""
    columns: tuple[list[Any], ...] = tuple([x] for x in box)
    for k in range(length - 1):
        values = field({**parameters, **state_series(names, columns, time, k + 1)})
        for column, value in zip(columns, values, strict=True):
            column.append(coefficient(value, k) / (k + 1))
    return columns
