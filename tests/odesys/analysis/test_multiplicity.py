"""Multiplicities of zeros that are known from intersection theory."""

from __future__ import annotations

import flint
import pytest

from odesys.analysis.multiplicity import multiplicity
from odesys.analysis.number_field import AlgebraicPoint, rational_point

CONTEXT = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
X, Y = CONTEXT.gens()


@pytest.mark.parametrize(
    ("curves", "wanted"),
    [((X, Y), 1), ((X**2, Y), 2), ((X**2, Y**2), 4), ((Y - X**2, Y), 2), ((Y**2 - X**3, X), 2), ((X * Y, X + Y), 2)],
)
def test_intersections_at_the_origin(curves: tuple[object, object], wanted: int) -> None:
    assert multiplicity(curves, rational_point([0, 0])) == wanted


def test_elsewhere() -> None:
    assert multiplicity(((X - 1) ** 3, 2 * Y - 1), rational_point([1, "1/2"])) == 3
    root = AlgebraicPoint(flint.fmpq_poly([-2, 0, 1]), 1, (flint.fmpq_poly([0, 1]), flint.fmpq_poly([0])))
    assert multiplicity((X**2 - 2, Y), root) == 1
    assert multiplicity(((X**2 - 2) ** 2, Y), root) is None  # above one
    assert multiplicity((X**2 + Y**2, X**2 + Y**2), rational_point([0, 0])) is None
