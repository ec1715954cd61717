r"""Invariant algebraic curves of rational flows (Darboux, Lagutinskii), all of them up to a degree.

.. math::  X f = K f \quad\Longrightarrow\quad f \text{ divides } E_N = \det\bigl(X^i m_j\bigr), \qquad
           X = \sum_k F_k\,\partial_k ,

with :math:`m_j` all monomials of degree at most N. So the factors of one determinant hold every invariant curve of
degree N over the rational numbers. A line that divides the determinant of degree one twice may bring
factors :math:`e^{g/f}`; where the determinant vanishes, quotients of its minors are rational first integrals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import sympy as sp

from ..exact.zero import zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import from_sympy, to_sympy
from ..expr.system import TIME, System
from .polynomial_form import is_rational, polynomial_context, quotients

DEGREES = {1: 1, 2: 2, 3: 1}  # of curves, by number of states; with more states only candidates are tried
MOST_STATES = 12
MOST_CURVES = 8
LARGEST_POWER = 1000  # of a curve in an integrating factor; larger ones stay in an exponential
LARGEST_ENTRY, LARGEST_MINOR = 2000, 20000  # terms; beyond them only candidates are tried


@dataclass(frozen=True)
class Curves:
    """Invariant curves of a flow.

    Attributes
    ----------
    curves : polynomials that divide their own derivative, irreducible over the rational numbers.
    exponents : quotients g/f, for lines f that are more than simple; their exponentials may be factors.
    degree : all invariant curves up to this degree are there; zero if only states and factors of equations were tried.
    rational : first integrals that were met: polynomials, and quotients where the determinant vanishes.
    """

    curves: tuple[Node, ...] = ()
    exponents: tuple[Node, ...] = ()
    degree: int = 0
    rational: tuple[Node, ...] = ()


@lru_cache(maxsize=32)
def invariant_curves(system: System, degree: int | None = None) -> Curves:
    """The invariant curves of a flow with rational equations, up to a degree (by default 2 in the plane).

    >>> from odesys import System
    >>> invariant_curves(System.from_strings({"x": "-y + x*y", "y": "x + 2*y**2"})).curves
    (Node(1 - x), Node(-4*x - 6*y**2 + 1))
    """
    if system.kind == "map" or not is_rational(system.nodes) or system.dimension > MOST_STATES:
        return Curves()
    names = [*system.names, *system.parameters]
    context = polynomial_context(names)
    if TIME in graph.symbols(system.nodes) or (fractions := quotients(system.nodes, context)) is None:
        return Curves()
    size = system.dimension
    below = context.constant(1)
    for _, bottom in fractions[0]:
        below *= bottom / below.gcd(bottom)
    field = [top * (below / bottom) for top, bottom in fractions[0]]

    def change(f: Any) -> Any:
        return sum((f.derivative(j) * rhs for j, rhs in enumerate(field)), context.constant(0))

    wanted, minors = DEGREES.get(size, 0) if degree is None else degree, None
    while wanted and minors is None:
        minors = _wronskians(context, size, wanted, change)
        wanted -= minors is None
    candidates = list(context.gens()[:size])
    for top, _ in fractions[0]:
        candidates += [f for f in _factors(top) or () if f.total_degree() <= 2] if top else []
    rational: list[Node] = []
    if minors is not None:
        whole = minors[max(minors, key=len)]
        if whole.is_zero():
            rational, minors = _quotients(minors, size, names), None
        elif (parts := _factors(whole)) is not None:
            candidates += parts
        else:
            minors = None
    shown: dict[Node, Any] = {}
    for f in sorted(candidates, key=lambda f: (f.total_degree(), str(f))):
        if any(f.degrees()[:size]) and not divmod(change(f), f)[1]:
            g = _positive_at_zero(f, size)
            if change(f):
                shown[_node(g, names)] = g
            else:  # conserved itself; what a constant adds is not shown
                rational.append(_node(g - g.subs({name: 0 for name in system.names}), names))
    curves = tuple(shown)
    exponents = [
        g / node
        for node, f in shown.items()
        if minors is not None and _is_multiple(f, minors, size)
        for g in _numerators(f, names[:size])
    ]
    every = wanted if minors is not None and len(curves) <= MOST_CURVES else 0
    return Curves(curves[:MOST_CURVES], tuple(exponents[:MOST_CURVES]), every, tuple(rational))


def integrating_factor(system: System, found: Curves) -> Node | None:
    r"""A product R of powers of invariant curves and exponentials with :math:`\nabla\cdot(R F) = 0`, proved, or None.

    In the plane a conserved quantity then follows by quadrature.

    >>> from odesys import System
    >>> planar = System.from_strings({"x": "x*(1 + y)", "y": "y*(2 + x + y)"})
    >>> integrating_factor(planar, invariant_curves(planar)) is None
    True
    """
    states = [graph.sym(name) for name in system.names]
    atoms = [*(graph.call("log", f) for f in found.curves), *found.exponents]
    if not atoms:
        return None
    rates = [graph.add(s * rhs for s, rhs in zip(graph.gradient(a, states), system.nodes, strict=True)) for a in atoms]
    slopes = [graph.gradient(rhs, [state])[0] for rhs, state in zip(system.nodes, states, strict=True)]
    symbols = {name: sp.Symbol(name) for name in (*system.names, *system.parameters)}
    plain = {to_sympy(graph.sym(name)): symbol for name, symbol in symbols.items()}
    unknown = [sp.Symbol(f"@{k}") for k in range(len(atoms))]
    total = sum(u * to_sympy(rate).xreplace(plain) for u, rate in zip(unknown, rates, strict=True))
    top = sp.numer(sp.together(total + to_sympy(graph.add(slopes)).xreplace(plain)))
    rows = sp.Poly(top, *(symbols[name] for name in system.names)).coeffs() if top != 0 else []
    solved = sp.linsolve(rows, unknown) if rows else sp.FiniteSet(tuple(sp.Integer(0) for _ in unknown))
    for powers in solved:
        chosen = [p.xreplace(dict.fromkeys(unknown, sp.Integer(0))) for p in powers]
        factor = graph.exp(graph.add(from_sympy(p) * a for p, a in zip(chosen, atoms, strict=True)))
        if all(p.is_Rational and max(abs(p.p), p.q) <= LARGEST_POWER for p in chosen[: len(found.curves)]):
            parts = [graph.power(f, Fraction(int(p.p), int(p.q))) for f, p in zip(found.curves, chosen, strict=False)]
            rest = graph.add(from_sympy(p) * a for p, a in list(zip(chosen, atoms, strict=True))[len(found.curves) :])
            factor = graph.multiply(*parts, graph.exp(rest))
        flux = [graph.gradient(factor * rhs, [state])[0] for rhs, state in zip(system.nodes, states, strict=True)]
        if factor is not graph.ONE and zero_test(graph.add(flux)).answer == "zero":
            return factor
    return None


def _wronskians(context: Any, size: int, degree: int, change: Any) -> dict[tuple[int, ...], Any] | None:
    """Determinants of the first k derivatives of every k monomials; None where they are too long."""
    gens = context.gens()[:size]
    row = [context.constant(1)]
    for d in range(1, degree + 1):
        for choice in combinations_with_replacement(gens, d):
            product = context.constant(1)
            for g in choice:
                product *= g
            row.append(product)
    minors: dict[tuple[int, ...], Any] = {(): context.constant(1)}
    for k in range(len(row)):
        for columns in combinations(range(len(row)), k + 1):
            total = context.constant(0)
            for place, column in enumerate(columns):
                rest = minors[columns[:place] + columns[place + 1 :]]
                if rest and row[column]:
                    total += rest * row[column] * (-1) ** (k + place)
            if len(total) > LARGEST_MINOR:
                return None
            minors[columns] = total
        row = [change(entry) for entry in row]
        if max(map(len, row)) > LARGEST_ENTRY:
            return None
    return minors


def _quotients(minors: Mapping[tuple[int, ...], Any], size: int, names: Sequence[str]) -> list[Node]:
    """Rational first integrals: coefficients of the shortest relation between monomials over what is conserved."""
    columns = min((c for c, value in minors.items() if not value), key=lambda c: (len(c), c))
    parts = [minors[columns[:k] + columns[k + 1 :]] for k in range(len(columns))]
    best: tuple[int, Any, Any] | None = None
    for one, other in combinations([p for p in parts if p], 2):
        common = one.gcd(other)
        top, bottom = one / common, other / common
        if any(top.degrees()[:size]) or any(bottom.degrees()[:size]):
            length = top.total_degree() + bottom.total_degree()
            if best is None or length < best[0]:
                best = length, top, bottom
    return [] if best is None else [_node(best[1], names) / _node(best[2], names)]


def _factors(polynomial: Any) -> list[Any] | None:
    """The irreducible factors of a polynomial; None where its numbers are too large for the library to sort them."""
    try:
        return [f for f, _ in polynomial.factor()[1]]
    except OverflowError:
        return None


def _is_multiple(f: Any, minors: Mapping[tuple[int, ...], Any], size: int) -> bool:
    """Whether a line is more than simple: it divides the determinant of degree one twice."""
    whole = minors[tuple(range(size + 1))]
    if not whole or max(sum(powers[:size]) for powers in f.to_dict()) > 1:
        return False
    once, rest = divmod(whole, f)
    return not rest and not divmod(once, f)[1]


def _positive_at_zero(f: Any, size: int) -> Any:
    """The polynomial with the sign that makes its constant term, or its leading coefficient, positive."""
    constant = [c for powers, c in f.to_dict().items() if not any(powers[:size])]
    return -f if (constant[0] if constant else f.leading_coefficient()) < 0 else f


def _numerators(f: Any, states: Sequence[str]) -> list[Node]:
    """One and the states but for one of the line f (which would add a constant)."""
    left_out = next(k for k in range(len(states)) if f.degrees()[k])
    return [graph.ONE, *(graph.sym(name) for k, name in enumerate(states) if k != left_out)]


def _node(polynomial: Any, names: Sequence[str]) -> Node:
    terms = polynomial.to_dict().items()
    return graph.combine(
        (Fraction(int(c)), graph.multiply(*(graph.sym(n) ** int(k) for n, k in zip(names, powers, strict=True))))
        for powers, c in terms
    )
