"""Equations of SymPy as a table of states and right-hand sides; derivatives on the right are solved for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import EquationError


def equation_table(equations: Mapping[Any, Any] | Iterable[Any]) -> dict[str, Any]:
    """State name -> right-hand side, from a mapping or from equations of SymPy.

    >>> import sympy as sp
    >>> t, x, y = sp.Symbol("t"), sp.Function("x"), sp.Function("y")
    >>> equation_table([sp.Eq(x(t).diff(t), y(t)), sp.Eq(y(t).diff(t) + x(t).diff(t), -x(t))])
    {'x': y(t), 'y': -x(t) - y(t)}
    """
    pairs = list(equations.items()) if isinstance(equations, Mapping) else []
    for equation in () if isinstance(equations, Mapping) else equations:
        left, right = getattr(equation, "lhs", None), getattr(equation, "rhs", None)
        if left is None or right is None:
            raise EquationError(f"{equation!r} is no equation; write Eq(x(t).diff(t), ...) or a mapping")
        if not left.is_Derivative and right.is_Derivative:
            left, right = right, left
        pairs.append((left, right))
    if any(_derivatives(value) or (_derivatives(key) and not key.is_Derivative) for key, value in pairs):
        return _solved(pairs)
    table: dict[str, Any] = {}
    for key, value in pairs:
        name = _state(key)
        if name in table:
            raise EquationError(f"{name} has two equations")
        table[name] = value
    return table


def _derivatives(value: Any) -> set[Any]:
    import sympy as sp

    return value.atoms(sp.Derivative) if isinstance(value, sp.Basic) else set()


def _state(key: Any) -> str:
    """The name of the state on the left of an equation, which may stand as a derivative."""
    if getattr(key, "is_Derivative", False):
        if key.derivative_count != 1:
            raise EquationError(
                f"{key} is a derivative of order {key.derivative_count}; write a system of first order, with a "
                f"state for each derivative below it"
            )
        key = key.expr
    return key.func.__name__ if getattr(key, "args", ()) and not isinstance(key, str) else str(key)


def _solved(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The table of equations in which derivatives stand anywhere, if they stand linearly."""
    import sympy as sp
    from sympy.solvers.solveset import NonlinearError

    rates: dict[str, Any] = {}
    gaps = []
    for key, value in pairs:
        # {x: y(t).diff(t)} says what x' is
        left = key if _derivatives(key) else rates.setdefault(_state(key), sp.Dummy(f"{_state(key)}'"))
        gap = sp.sympify(left) - sp.sympify(value)
        at = {d: rates.setdefault(_state(d), sp.Dummy(f"{_state(d)}'")) for d in sorted(_derivatives(gap), key=str)}
        gaps.append(gap.xreplace(at))
    names = ", ".join(f"{name}'" for name in rates)
    if len(gaps) != len(rates):
        raise EquationError(
            f"{len(gaps)} equations do not determine the {len(rates)} derivatives {names}; give each one"
        )
    try:
        matrix, right = sp.linear_eq_to_matrix(gaps, *rates.values())
    except NonlinearError:
        raise EquationError(
            f"the derivatives {names} do not stand linearly in the equations; solve them for the derivatives first"
        ) from None
    if matrix.det().equals(0) is not False:
        raise EquationError(
            f"the equations can not be solved for {names}: what stands before them has determinant zero. One is "
            f"an algebraic condition; use it to eliminate a state"
        )
    return dict(zip(rates, (sp.cancel(entry) for entry in matrix.LUsolve(right)), strict=True))
