"""Expressions evaluated over power series of balls, and balls from and to rational numbers, all rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint

from ..errors import IntegrationError, ParameterError
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME
from .zero import ball_root

Interval = tuple[Fraction, Fraction]
Table = list[list[Any]]  # rows ["num", 1/3], ["sym", name], ["add", [[c, row], ..]], ["mul", [[row, e], ..]], [f, row]


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


# ---- expressions ---------------------------------------------------------------------------------------------------


def program(roots: Sequence[Node]) -> tuple[Table, dict[Node, int]]:
    """The expressions as one table of rows, each after the rows it uses, and the row of every node."""
    index: dict[Node, int] = {}
    table: Table = []
    for node in graph.topological(roots):
        row: list[Any]
        if node.op == "num":
            row = ["num", exact(node.args[0])]
        elif node.op == "sym":
            row = ["sym", node.args[0]]
        elif node.op == "add":
            row = ["add", [[exact(c), index[t]] for c, t in node.args]]
        elif node.op == "mul":
            row = ["mul", [[index[b], exact(e)] for b, e in node.args]]
        else:
            row = [node.op, index[node.args[0]]]
        index[node] = len(table)
        table.append(row)
    return table, index


def run(table: Table, env: Mapping[str, Any]) -> list[Any]:
    """The value of every row: a ball where only parameters enter, else a series with the precision of `env`."""
    values: list[Any] = []
    for op, what in table:
        if op == "num":
            value = _constant(what, flint.ctx.prec)
        elif op == "sym":
            value = env[what]
        elif op == "add":
            value = None
            for c, i in what:
                term = values[i] if c == 1 else -values[i] if c == -1 else values[i] * _constant(c, flint.ctx.prec)
                value = term if value is None else value + term
        elif op == "mul":
            value = None
            for i, e in what:
                factor = values[i] if e == 1 else _power(values[i], e)
                value = factor if value is None else value * factor
        else:
            value = _FUNCTIONS[op](values[what])
        values.append(value)
    return values


@lru_cache(maxsize=4096)
def _constant(value: Fraction, precision: int) -> Any:
    with flint.ctx.workprec(precision):
        return as_ball(value)


def _power(value: Any, exponent: Fraction) -> Any:
    if exponent.denominator == 1:
        if exponent < 0 and coefficient(value, 0).contains(0):
            return value * flint.arb.nan()  # flint would shorten the series instead
        return _whole_power(value if exponent > 0 else 1 / value, abs(int(exponent)))
    if isinstance(value, flint.arb):
        return ball_root(value, exponent)
    if not value[0] > 0:
        return value * flint.arb.nan()
    if exponent.denominator == 2:
        return _whole_power(value.sqrt() if exponent > 0 else value.rsqrt(), abs(exponent.numerator))
    return (value.log() * as_ball(exponent)).exp()


def _whole_power(value: Any, n: int) -> Any:
    """A positive power by squaring; flint's own power of a series goes through a logarithm."""
    half = value if n < 2 else _whole_power(value, n // 2)
    return value if n == 1 else half * half * value if n % 2 else half * half


def _gate(surface: Any) -> Any:
    value = coefficient(surface, 0)
    if value > 0 or value < 0:
        return flint.arb(int(value > 0))
    raise IntegrationError(
        f"a gate is undecided: its surface lies in {value.str(6)}; gates count as constants, so "
        f"start or stop away from the switching surface",
        surface=value,
    )


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": lambda z: z.exp(),
    "log": lambda z: z.log() if coefficient(z, 0) > 0 else z * flint.arb.nan(),
    "sin": lambda z: z.sin(),
    "cos": lambda z: z.cos(),
    "arctan": lambda z: z.atan(),
    "sinh": lambda z: (z.exp() - (-z).exp()) / 2,
    "cosh": lambda z: (z.exp() + (-z).exp()) / 2,
    "tanh": lambda z: 1 - 2 / (1 + (2 * z).exp()),
    "sigmoid": lambda z: 1 / (1 + (-z).exp()),
    "softplus": lambda z: (1 + z.exp()).log(),
    "step": _gate,
}


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
    table: Table,
    roots: Sequence[int],
    names: Sequence[str],
    parameters: Mapping[str, Any],
    box: Sequence[Any],
    time: Any,
    length: int,
) -> tuple[list[Any], ...]:
    """Per state the first `length` Taylor coefficients of the solutions that start in `box`."""
    columns: tuple[list[Any], ...] = tuple([x] for x in box)
    for k in range(length - 1):
        values = run(table, {**parameters, **state_series(names, columns, time, k + 1)})
        for column, root in zip(columns, roots, strict=True):
            column.append(coefficient(values[root], k) / (k + 1))
    return columns


# ---- balls ---------------------------------------------------------------------------------------------------------


def exact(value: Any) -> Fraction:
    """An exact number as a Fraction; floats are refused."""
    if isinstance(value, float):
        raise ParameterError(f"the float {value!r} is not exact; write a Fraction, or a ball that holds the value")
    return Fraction(value)


def as_ball(value: Any) -> Any:
    """The smallest ball at hand around an exact number; balls pass.

    >>> 1 in 3 * as_ball(Fraction(1, 3))
    True
    """
    if isinstance(value, flint.arb):
        return value
    value = exact(value)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def ball_around(low: Any, high: Any) -> Any:
    """A ball around an interval.

    >>> ball = ball_around(Fraction(1, 4), Fraction(3, 4))
    >>> 0.5 in ball, 1 in ball
    (True, False)
    """
    return as_ball(low).union(as_ball(high))


def ball_endpoints(value: Any) -> Interval:
    """The exact endpoints of a ball.

    >>> low, high = ball_endpoints(ball_around(Fraction(1, 4), Fraction(3, 4)))  # rounded outward
    >>> low < Fraction(1, 4), high - low < Fraction(1, 2) + Fraction(1, 10**8)
    (True, True)
    """
    middle, radius = (Fraction(int(q.p), int(q.q)) for q in (value.mid().fmpq(), value.rad().fmpq()))
    return middle - radius, middle + radius


def dyadic(value: Fraction) -> Fraction:
    """A nearby number with few binary digits, for step sizes."""
    scale = 2 ** max(0, 12 - (value.numerator.bit_length() - value.denominator.bit_length()))
    return Fraction(round(value * scale), scale)
