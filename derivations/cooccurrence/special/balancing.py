r"""The late flow as a hard-margin classifier, exactly; here because the paper proves automatic balancing.

On level 3 and 4 the equations are :math:`\dot x_k = \sum_c K_{kc}\,g_c` with :math:`g_c = g(\phi_c\cdot x)`. Where the
loss goes to zero, :math:`x \simeq w\ln\tau` and :math:`g_c \simeq a_c/\tau`, so that

.. math::  w = K a, \qquad \phi_c\cdot w = 1 \ \text{where}\ a_c > 0, \qquad \phi_c\cdot w > 1 \ \text{where}\ a_c = 0 .

K and the forms are read off the derived equations; the solution is exact, for a number n or for n as a symbol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import sympy as sp

from odesys import EquationError, Node, System, graph, to_sympy, zero_test

from ..setting import PROBABILITY

KINDS = (1, 2, 4)  # classes that differ by symmetry: I3 is the mirror image of I2


@dataclass(frozen=True)
class HardMargin:
    """Exact late-time constants: a_c, the direction w by state, margins of all classes, and which are at the margin."""

    weights: dict[int, sp.Expr]
    direction: dict[str, sp.Expr]
    margins: dict[int, sp.Expr]
    support: tuple[int, ...]

    @property
    def loss_times_tau(self) -> sp.Expr:
        """lim loss * tau: the sum of the class probabilities times a_c."""
        return sp.cancel(sum(_share(c) * a for c, a in self.weights.items()))

    @property
    def R(self) -> sp.Expr:
        """lim -dG(mu3) / dG(mu1)."""
        common = self.direction["z"] if "z" in self.direction else -self.direction["G_3"]
        return sp.cancel(common / self.direction["x" if "x" in self.direction else "G_1"])

    @property
    def class_sums(self) -> dict[int, sp.Expr]:
        """lim S_c tau / n of the classes I1, I2 (= I3), I4."""
        return {c: sp.cancel(sp.Rational(PROBABILITY[c]) * a) for c, a in self.weights.items()}

    def test_exponents(self) -> dict[int, sp.Expr]:
        """Growth of the margins on fresh samples per ln(tau): irrelevant words of the test set have not moved."""
        w = self.direction
        signal, common = (w["x"], -w["z"]) if "x" in w else (w["G_1"], w["G_3"])
        return {1: sp.cancel(2 * signal + common), 2: sp.cancel(-signal - common), 4: sp.cancel(-common)}


def _share(c: int) -> sp.Rational:
    return sp.Rational(PROBABILITY[c]) * (2 if c == 2 else 1)


def read_off(system: System) -> tuple[sp.Matrix, sp.Matrix]:
    """K (states, classes) and the forms phi (classes, states) of a level-3 or level-4 system; refuses others."""
    symbols = [sp.Symbol(name, real=True) for name in system.names]
    forms = {c: system.observables[f"margin_I{c}"] for c in KINDS}
    phi = sp.Matrix([[sp.diff(to_sympy(forms[c]), s) for s in symbols] for c in KINDS])
    K = sp.zeros(len(symbols), len(KINDS))
    for k, node in enumerate(system.nodes):
        left: Node = node
        for j, c in enumerate(KINDS):
            atom = graph.call("sigmoid", -forms[c])
            K[k, j] = to_sympy(_coefficient(node, atom))
            left = left - _coefficient(node, atom) * atom
        if zero_test(left).answer != "zero":
            raise EquationError(f"the equation of {system.names[k]} is not a combination of the logistic factors")
    return K, phi


def _coefficient(node: Node, atom: Node) -> Node:
    """The factor of `atom` in a sum of products that are linear in it."""
    return graph.gradient(graph.substitute([node], {atom: graph.sym("_atom")})[0], [graph.sym("_atom")])[0]


def hard_margin(system: System, support: Sequence[int] | None = None) -> HardMargin:
    """Solve the late-time conditions exactly; the support is searched for unless it is given (for symbolic n)."""
    K, phi = read_off(system)
    every = [tuple(s) for size in (3, 2, 1) for s in combinations(KINDS, size)]
    for chosen in [tuple(support)] if support is not None else every:
        found = _solve(system, K, phi, chosen)
        if found is not None and (support is not None or _consistent(found)):
            return found
    raise EquationError("no set of classes at the margin is consistent: is the data separable?")


def _solve(system: System, K: sp.Matrix, phi: sp.Matrix, support: tuple[int, ...]) -> HardMargin | None:
    columns = [KINDS.index(c) for c in support]
    matrix = (phi * K)[columns, columns]
    if sp.cancel(matrix.det()) == 0:
        return None
    a = matrix.LUsolve(sp.ones(len(columns), 1))
    weights = {c: sp.cancel(a[support.index(c)]) if c in support else sp.Integer(0) for c in KINDS}
    w = K * sp.Matrix([weights[c] for c in KINDS])
    margins = phi * w
    return HardMargin(
        weights,
        {n: sp.cancel(v) for n, v in zip(system.names, w, strict=True)},
        {c: sp.cancel(v) for c, v in zip(KINDS, margins, strict=True)},
        support,
    )


def _consistent(found: HardMargin) -> bool:
    return all(found.weights[c] > 0 if c in found.support else found.margins[c] > 1 for c in KINDS)


def balance_correction(system: System) -> tuple[sp.Expr, sp.Expr]:
    r"""The next order of level 4: theta = g_1 / g_2 and R up to 1/tau, with the class I4 left out (it is of order 2).

    With :math:`g' = -g(1-g)` the margin :math:`u_c` of a class moves by :math:`\dot u_c = \sum_e (\phi K)_{ce} g_e`, so
    :math:`\frac{d}{d\tau}\ln\theta = -(1-g_1)\dot u_1 + (1-g_2)\dot u_2`; theta = theta_0 + theta_1 / tau solves it.
    """
    K, phi = read_off(system)
    M = (phi * K)[:2, :2]
    limit = hard_margin(system)
    tau, t1, c2 = sp.symbols("tau theta1 c2")
    theta0 = sp.cancel(limit.weights[1] / limit.weights[2])
    g2 = limit.weights[2] / tau + c2 / tau**2
    theta = theta0 + t1 / tau
    g = [theta * g2, g2]
    u = [M[0, 0] * g[0] + M[0, 1] * g[1], M[1, 0] * g[0] + M[1, 1] * g[1]]
    left = sp.diff(sp.log(theta), tau)
    right = -(1 - g[0]) * u[0] + (1 - g[1]) * u[1]
    second = sp.limit(sp.together((left - right) * tau**2), tau, sp.oo)
    solutions = sp.solve(second, t1)
    if len(solutions) != 1:
        raise EquationError("the first correction of theta is not determined by the equations")
    solved = solutions[0]
    signal = K[0, 0] * theta + K[0, 1]
    common = K[1, 0] * theta + K[1, 1]
    R = sp.cancel((common / signal).subs(t1, solved))
    first = sp.limit((R - sp.limit(R, tau, sp.oo)) * tau, tau, sp.oo)
    return solved, sp.cancel(first)
