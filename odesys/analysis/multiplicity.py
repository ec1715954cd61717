r"""The multiplicity of an isolated zero of polynomials: the dimension of its local algebra.

At a rational point it is the nullity of Macaulay's matrix, whose rows are the multiples :math:`(x - p)^a f_i` cut off
above a degree, once the next degree adds nothing. At other points a Jacobian that is certainly regular gives one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import flint

from .number_field import AlgebraicPoint

HIGHEST_DEGREE = 8
MOST_COLUMNS = 600


def multiplicity(polynomials: Sequence[Any], point: AlgebraicPoint) -> int | None:
    """The multiplicity of a zero; None where it is above one, or not known to be one.

    >>> context = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
    >>> x, y = context.gens()
    >>> from odesys.analysis.number_field import rational_point
    >>> multiplicity([x**2 - y**3, y], rational_point([0, 0]))
    2
    """
    size = len(point.coordinates)
    if len(polynomials) == size:
        with flint.ctx.workprec(256):
            rows = [[point.ball(point.value(p.derivative(j)), 256) for j in range(size)] for p in polynomials]
            if not flint.arb_mat(rows).det().contains(0):
                return 1
    if any(c.degree() > 0 for c in point.coordinates):
        return None
    context = flint.fmpq_mpoly_ctx.get(polynomials[0].context().names(), "degrevlex")
    moved = [g + c[0] for g, c in zip(context.gens(), point.coordinates, strict=True)]
    shifted = [context.from_dict(dict(p.to_dict())).compose(*moved) for p in polynomials]
    before = 1
    for degree in range(1, HIGHEST_DEGREE + 1):
        columns = _monomials(size, degree)
        if len(columns) > MOST_COLUMNS:
            return None
        place = {m: k for k, m in enumerate(columns)}
        rows = []
        for factor in _monomials(size, degree - 1):
            for p in shifted:
                row = [flint.fmpq(0)] * len(columns)
                for exponents, c in p.to_dict().items():
                    target = tuple(int(a) + b for a, b in zip(exponents, factor, strict=True))
                    if target in place:
                        row[place[target]] = c
                rows.append(row)
        nullity = len(columns) - flint.fmpq_mat(len(rows), len(columns), [c for row in rows for c in row]).rank()
        if nullity == before:
            return int(nullity)
        before = nullity
    return None


def _monomials(size: int, degree: int) -> list[tuple[int, ...]]:
    found = []
    for d in range(degree + 1):
        for choice in combinations_with_replacement(range(size), d):
            found.append(tuple(choice.count(j) for j in range(size)))
    return found
