"""Expressions compiled once and evaluated many times over balls, for searches over thousands of boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint

from ..expr import graph
from ..expr.graph import Node
from .zero import ball_functions, ball_number, ball_root

_FUNCTIONS = ball_functions()


class BallProgram:
    """Enclosing balls of several expressions that share what they have in common.

    >>> x = graph.sym("x")
    >>> value, = BallProgram([x * x - x], 64)({"x": flint.arb(3)})
    >>> value == 6
    True
    """

    def __init__(self, nodes: Sequence[Node], precision: int) -> None:
        self.precision = precision
        place: dict[Node, int] = {}
        self._steps: list[tuple[Callable[..., Any], Any]] = []
        with flint.ctx.workprec(precision):
            for node in graph.topological(nodes):
                place[node] = len(place)
                self._steps.append(_step(node, place))
        self._roots = [place[node] for node in nodes]

    def __call__(self, env: Mapping[str, Any]) -> list[Any]:
        """The balls, where the symbols lie in the balls of `env`."""
        values: list[Any] = []
        with flint.ctx.workprec(self.precision):
            for work, data in self._steps:
                values.append(work(values, env, data))
        return [values[i] for i in self._roots]


def _step(node: Node, place: Mapping[Node, int]) -> tuple[Callable[..., Any], Any]:
    if node.op == "num":
        return _number, ball_number(node.args[0])
    if node.op == "sym":
        return _symbol, node.args[0]
    if node.op == "add":
        return _sum, tuple((None if c == 1 else ball_number(c), place[t]) for c, t in node.args)
    if node.op == "mul":
        return _product, tuple((place[b], int(e) if e.denominator == 1 else e) for b, e in node.args)
    return _function, (_FUNCTIONS[node.op], place[node.args[0]])


def _number(values: list[Any], env: Mapping[str, Any], data: Any) -> Any:
    return data


def _symbol(values: list[Any], env: Mapping[str, Any], data: str) -> Any:
    return env[data]


def _sum(values: list[Any], env: Mapping[str, Any], data: Any) -> Any:
    total = None
    for c, i in data:
        term = values[i] if c is None else c * values[i]
        total = term if total is None else total + term
    return total


def _product(values: list[Any], env: Mapping[str, Any], data: Any) -> Any:
    total = None
    for i, e in data:
        factor = values[i]
        if isinstance(e, Fraction):
            factor = ball_root(factor, e)
        elif e != 1:
            factor = factor**e
        total = factor if total is None else total * factor
    return total


def _function(values: list[Any], env: Mapping[str, Any], data: Any) -> Any:
    return data[0](values[data[1]])
