r"""One system for every size: flows of explicit sizes on a symmetric subspace, with the sizes made symbols.

A program whose words or tokens are counted by whole numbers (d coordinates, N examples) has a flow for each choice of
them. On a symmetric start few different numbers are left, the same for all sizes,

.. math::  x = \lambda_{d,N}(z), \qquad F_{d,N}(\lambda_{d,N}(z)) = \lambda_{d,N}(f(z; d, N)), \qquad
           f(z; d, N) = \sum_\alpha c_\alpha(d, N)\,z^\alpha .

That the subspace is invariant is checked exactly for every member. The coefficients are fitted as polynomials over
powers of the sizes; in each size one more member than the fit needs must agree. That is exact at the sizes seen and a
measurement beyond them: nothing bounds the degree of what `member` does at other sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from ..errors import EquationError, ModelError
from ..expr import blocks, graph
from ..expr.field import BlockField
from ..expr.graph import ZERO, Node, num, sym
from ..expr.system import System
from ..program.wick import Monomial, polynomial
from ..verdicts import HOLDS, Evidence, Verdict
from .interpolate_count import through

MOST_DIVISORS = 2  # a coefficient may be divided by each size so many times
Size = tuple[int, ...]
Polynomial = Mapping[Monomial, Fraction]


@dataclass(frozen=True, eq=False)
class EverySize:
    """A system with sizes as parameters, and the sizes of the members it was found from.

    Parameters
    ----------
    system : System
        With sizes as parameters.
    members : Mapping[str, tuple[int, ...]]
        By size, the values it was found from.

    Examples
    --------
    >>> from odesys import EverySize, System, sym
    >>> found = EverySize(System.from_equations({"v": -sym("d") * sym("v")}, ["d"]), {"d": (1, 2, 3)})
    >>> str(found.law().evidence)
    'measurement'
    """

    system: System
    members: Mapping[str, tuple[int, ...]]

    def law(self) -> Verdict:
        """That the system is right for every size: exact at the members, a measurement for all others."""
        number = int(np.prod([len(values) for values in self.members.values()]))
        details = {"members": number, "sizes": {k: list(v) for k, v in self.members.items()}}
        return Verdict(HOLDS, Evidence.MEASUREMENT, details=details)


def for_every_size(
    member: Callable[..., Any],
    start: Callable[..., Mapping[str, str]],
    **sizes: Iterable[int],
) -> EverySize:
    """The flow on a symmetric subspace with whole numbers left open, from members of explicit sizes.

    Parameters
    ----------
    member : Callable[..., Any]
        Function of the sizes that gives a derived flow, polynomial in its states.
    start : Callable[..., Mapping[str, str]]
        Function of the sizes that says which states share which variable; all others are zero.
    **sizes : Iterable[int]
        For each whole number the values to derive members for, at least three.

    Returns
    -------
    EverySize
        The system, with the sizes as parameters.

    Examples
    --------
    >>> from odesys import Gaussian, for_every_size, gradient_flow, maps, squared, sym
    >>> def member(d):  # least squares: the coordinates of w tend to those of the target
    ...     data = Gaussian.regression(d, 1)
    ...     w = maps("w", 1, data.words)
    ...     return gradient_flow(lambda X: (w @ X[0]) * (w @ X[1]), data, squared)
    >>> found = for_every_size(member, lambda d: {f"w_x{a + 1}": "v" for a in range(d)}, d=(1, 2, 3, 4))
    >>> found.system.equations["v"]
    Node(-2*d*v**3)
    >>> str(found.law().evidence)
    'measurement'
    """
    values = {name: tuple(sorted(set(given))) for name, given in sizes.items()}
    short = [name for name, given in values.items() if len(given) < 3]
    if not values or short:
        raise EquationError(f"give at least three values of {short[0] if short else 'a size, such as d=(1, 2, 3)'}")
    found: dict[Size, dict[str, Polynomial]] = {}
    for size in product(*values.values()):
        named = dict(zip(values, size, strict=True))
        found[size] = _restricted(member(**named), start(**named), named)
    names = {tuple(parts) for parts in found.values()}
    if len(names) > 1:
        raise EquationError(f"the members have different variables: {', '.join(map(str, sorted(names)))}")
    fitted = {name: _written(name, {s: parts[name] for s, parts in found.items()}, values) for name in names.pop()}
    observables = {"loss": fitted.pop("loss")}
    used = graph.symbols([*fitted.values(), *observables.values()])
    parameters = sorted((used - set(fitted)) | set(values))
    return EverySize(System.from_equations(fitted, parameters, observables=observables), values)


def _restricted(flow: Any, start: Mapping[str, str], named: Mapping[str, int]) -> dict[str, Polynomial]:
    """Right-hand sides of the variables, with the subspace checked, and the loss."""
    system: System = flow.system
    field, where = system.field, ", ".join(f"{k} = {v}" for k, v in named.items())
    assert isinstance(field, BlockField)
    unknown = sorted(set(start) - set(system.names))
    if unknown:
        raise EquationError(
            f"with {where} there is no state {unknown[0]}; the states are {', '.join(system.names[:9])}"
        )
    clash = sorted(set(start.values()) & {*named, *system.parameters, "loss"})
    if clash:
        raise EquationError(f"the variable {clash[0]} has the name of a size or parameter; call it otherwise")
    values = [sym(start[name]) if name in start else ZERO for name in system.names]
    out: dict[str, Polynomial] = {}
    for name, node in zip(system.names, field.at(values), strict=True):
        parts, variable = _exact(node, name), start.get(name)
        wanted: Polynomial = {} if variable is None else out.setdefault(variable, parts)
        if parts != wanted:
            raise EquationError(
                f"with {where} the subspace is left: {name} moves, but not as "
                f"{'zero' if variable is None else 'the others called ' + variable}; give it a variable of its own",
                state=name,
            )
    leaves = field.layout.unpack(np.array(values, dtype=object))
    leaves = {
        leaf: np.asarray(np.frompyfunc(graph.as_node, 1, 1)(table), dtype=object) for leaf, table in leaves.items()
    }
    (loss,) = blocks.evaluate([field.observable_blocks["loss"]], leaves)
    return out | {"loss": _exact(loss.reshape(-1)[0], "loss")}


def _exact(node: Node, name: str) -> Polynomial:
    """A polynomial in all its symbols with numbers as coefficients."""
    try:
        parts = polynomial(node, graph.symbols([node]))
    except ModelError:
        raise EquationError(f"the equation of {name} is no polynomial in the states and parameters") from None
    return {monomial: Fraction(value.args[0]) for monomial, value in parts.items()}


def _written(name: str, members: Mapping[Size, Polynomial], sizes: Mapping[str, Sequence[int]]) -> Node:
    """The common equation of all members, factored."""
    import sympy as sp

    from ..expr.sympy_bridge import from_sympy, to_sympy

    terms = []
    for monomial in sorted({m for parts in members.values() for m in parts}):
        fit = _fitted({size: parts.get(monomial, Fraction(0)) for size, parts in members.items()}, sizes)
        if fit is None:
            raise EquationError(
                f"the coefficients of {name} are no polynomials in {', '.join(sizes)} over their powers that the "
                f"members can check; give more sizes"
            )
        terms.append(graph.multiply(fit, *(graph.power(sym(s), Fraction(e)) for s, e in monomial)))
    return from_sympy(sp.factor(to_sympy(graph.add(terms))))


def _fitted(values: Mapping[Size, Fraction], sizes: Mapping[str, Sequence[int]]) -> Node | None:
    """The simplest polynomial over powers of the sizes through all values, with one value of each size to spare."""
    divisors = sorted(product(range(MOST_DIVISORS + 1), repeat=len(sizes)), key=lambda d: (sum(d), d))
    for divisor in divisors:
        table = {s: v * int(np.prod([n**k for n, k in zip(s, divisor, strict=True)])) for s, v in values.items()}
        for axis, numbers in enumerate(sizes.values()):
            table = _along(table, axis, numbers)
        spare = any(
            c and any(e == len(n) - 1 for e, n in zip(at, sizes.values(), strict=True)) for at, c in table.items()
        )
        if not spare:
            parts = []
            for at, c in table.items():
                powers = zip(sizes, at, divisor, strict=True)
                parts.append(graph.multiply(num(c), *(graph.power(sym(n), Fraction(e - k)) for n, e, k in powers)))
            return graph.add(parts)
    return None


def _along(table: Mapping[Size, Fraction], axis: int, numbers: Sequence[int]) -> dict[Size, Fraction]:
    """Values along one size replaced by the coefficients of the polynomial through them."""
    out: dict[Size, Fraction] = {}
    for rest in {(*s[:axis], *s[axis + 1 :]) for s in table}:
        row = [table[(*rest[:axis], n, *rest[axis:])] for n in numbers]
        for power, c in enumerate(through(numbers, row)):
            out[(*rest[:axis], power, *rest[axis:])] = c
    return out


__all__ = ["EverySize", "for_every_size"]
