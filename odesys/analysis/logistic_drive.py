r"""Systems driven by one logistic factor, solved in closed form.

If all states move along one direction, :math:`\dot x = r\,\sigma(-F)` with :math:`F = a\cdot x + c` and constant rates
r, then

.. math::  F + e^F = F_0 + e^{F_0} + (a\cdot r)(t - t_0), \qquad x = x_0 + r\,\frac{F - F_0}{a\cdot r} .

The rates, the form F and the crossing times of linear surfaces are read off the derived equations, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from scipy.special import wrightomega

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy

LARGE = 50.0  # a form F with e^F so large that F is lost beside it


@dataclass(frozen=True)
class LogisticDrive:
    """Rates of the moving states and the linear form F inside the logistic factor.

    Parameters
    ----------
    rates : Mapping[str, Fraction]
        The rate of each state that moves, relative to the logistic factor.
    form : Node
        The linear form inside the factor.

    Examples
    --------
    >>> from fractions import Fraction
    >>> x = graph.sym("x")
    >>> drive = LogisticDrive({"x": Fraction(1)}, x)
    >>> drive.time_at_form({"x": 0}, 1), round(drive.states_at({"x": 0.0}, 2.718281828459045)["x"], 9)
    (E, 1.0)
    """

    rates: Mapping[str, Fraction]
    form: Node

    @property
    def speed(self) -> Fraction:
        """a . r, the rate of F + e^F."""
        return self.slope(self.form)

    def slope(self, form: Node) -> Fraction:
        """Change of a linear form along the direction of motion."""
        moving = ((c, t.args[0]) for c, t in graph.linear_terms(form) if t.op == "sym")
        return sum((Fraction(c) * self.rates.get(name, Fraction(0)) for c, name in moving), Fraction(0))

    def form_at(self, start: Mapping[str, Any]) -> sp.Expr:
        """F at a start, as a SymPy expression in what the start leaves open."""
        return to_sympy(self.form).subs({sp.Symbol(k, real=True): v for k, v in start.items()})

    def states_at_form(self, start: Mapping[str, Any], form: Any) -> dict[str, sp.Expr]:
        """All moving states once F has reached the value `form`."""
        shift = (form - self.form_at(start)) / sp.Rational(self.speed)
        return {name: sp.sympify(start[name]) + sp.Rational(rate) * shift for name, rate in self.rates.items()}

    def time_at_form(self, start: Mapping[str, Any], form: Any) -> sp.Expr:
        """Time since the start when F reaches the value `form`."""
        first = self.form_at(start)
        return (form + sp.exp(form) - first - sp.exp(first)) / sp.Rational(self.speed)

    def form_when_zero(self, surface: Node, start: Mapping[str, Any]) -> sp.Expr:
        """Value of F at which a linear surface vanishes, starting from `start`."""
        slope = self.slope(surface)
        if slope == 0:
            raise EquationError(f"the surface {to_sympy(surface)} does not change along this motion")
        first = to_sympy(surface).subs({sp.Symbol(k, real=True): v for k, v in start.items()})
        return sp.expand(self.form_at(start) - first * sp.Rational(self.speed / slope))

    def states_at(self, start: Mapping[str, float], time: float) -> dict[str, float]:
        """Numerical states after `time`, with all digits also where e^F is far larger than F, or beyond floats."""
        first = float(self.form_at(start))
        way = float(self.speed) * time
        if first > LARGE:  # F is nothing beside e^F
            moved = math.log1p(way * math.exp(-first))
        else:
            zeta = first + math.exp(first) + way
            power = float(wrightomega(zeta).real)  # e^F, as F + e^F is zeta
            moved = (math.log(power) if zeta > 1 else zeta - power) - first
        return {name: float(start[name]) + float(rate / self.speed) * moved for name, rate in self.rates.items()}


def find_logistic_drive(nodes: Mapping[str, Node]) -> LogisticDrive:
    """Read rates and form off right-hand sides that are multiples of one logistic factor; refuses others.

    Parameters
    ----------
    nodes : Mapping[str, Node]
        Right-hand sides by state.

    Returns
    -------
    LogisticDrive
        The rates and the form.

    Examples
    --------
    >>> x, y = graph.sym("x"), graph.sym("y")
    >>> drive = find_logistic_drive({"x": graph.call("sigmoid", -x - y), "y": 2 * graph.call("sigmoid", -x - y)})
    >>> drive.rates, drive.form, drive.speed
    ({'x': Fraction(1, 1), 'y': Fraction(2, 1)}, Node(x + y), Fraction(3, 1))
    """
    factor: Node | None = None
    rates: dict[str, Fraction] = {}
    for name, node in nodes.items():
        if node is graph.ZERO:
            continue
        terms = list(graph.linear_terms(node))
        if len(terms) != 1 or terms[0][1].op != "sigmoid" or (factor is not None and terms[0][1] is not factor):
            raise EquationError(f"the equation of {name} is {to_sympy(node)}, not a multiple of one logistic factor")
        factor, rates[name] = terms[0][1], Fraction(terms[0][0])
    if factor is not None and any(t is not graph.ONE and t.op != "sym" for _, t in graph.linear_terms(factor.args[0])):
        raise EquationError(f"the logistic factor has the argument {to_sympy(factor.args[0])}, which is not linear")
    if factor is None:
        raise EquationError("nothing moves, so there is no logistic factor")
    return LogisticDrive(rates, -factor.args[0])
