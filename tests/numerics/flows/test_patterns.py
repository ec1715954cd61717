"""The field as a function of gates: interpolation of its corners, derivatives, affine or not."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from numerics.flows import patterns
from numerics.flows.patterns import PatternTable
from odesys.analysis.switching import Switching
from odesys.errors import IntegrationError
from odesys.expr.system import System

X, Y, Z, T = sp.symbols("x y z t", real=True)
GATE = sp.Heaviside
AFFINE = System.from_equations({X: 1 - 2 * GATE(X) + GATE(Y), Y: T - 3 * GATE(Y), Z: GATE(X) - GATE(Y)})
PRODUCT = System.from_equations({X: 1 - 2 * GATE(X) * GATE(Y), Y: GATE(Y) - GATE(X) / 3, Z: GATE(X) * GATE(Y)})


def table(system: System, affine: bool | None = None) -> PatternTable:
    return PatternTable(Switching(system.compile()), 0.7, np.zeros(3), np.zeros(2), np.arange(2), affine)


def test_products_of_gates_are_found_out() -> None:
    assert table(AFFINE).affine and not table(PRODUCT).affine


@pytest.mark.parametrize("system", [AFFINE, PRODUCT])
def test_corners_are_met_and_between_them_the_field_is_their_mean(system: System) -> None:
    made = table(system)
    for pattern in ((0, 0), (0, 1), (1, 0), (1, 1)):
        np.testing.assert_allclose(made.velocity(np.array(pattern, dtype=float)), made.corner(pattern), atol=1e-14)
        rates, noise = made.corner_rates(pattern)
        np.testing.assert_allclose(made.rates(np.array(pattern, dtype=float)), rates, atol=1e-12)
        assert (noise >= 0).all()
    mean = np.mean([made.corner(p) for p in ((0, 0), (0, 1), (1, 0), (1, 1))], axis=0)
    np.testing.assert_allclose(made.velocity(np.full(2, 0.5)), mean, atol=1e-14)


@pytest.mark.parametrize("system", [AFFINE, PRODUCT])
def test_derivatives_by_the_gates_are_difference_quotients(system: System) -> None:
    made, g, h = table(system), np.array([0.3, 0.8]), 1e-6
    for j, step in enumerate(h * np.eye(2)):
        slope = (made.velocity(g + step) - made.velocity(g - step)) / (2 * h)
        np.testing.assert_allclose(made.columns(g)[j], slope, atol=1e-8)
        change = (made.rates(g + step) - made.rates(g - step)) / (2 * h)
        np.testing.assert_allclose(made.matrix(g)[:, j], change, atol=1e-8)


def test_corners_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table(AFFINE)
    calls = []
    field = made.switching.field
    monkeypatch.setattr(made.switching, "field", lambda *given: calls.append(1) or field(*given))
    for _ in range(3):
        made.corner((0, 1))
    assert len(calls) == 1


def test_too_many_products_get_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MULTILINEAR_LIMIT", 1)
    with pytest.raises(IntegrationError, match=r"2 surfaces meet .* at most 1 such surfaces"):
        table(PRODUCT).velocity(np.full(2, 0.5))
    table(AFFINE).velocity(np.full(2, 0.5))  # affine gates have no limit


@pytest.mark.parametrize("count", [0, 1])
def test_no_gate_and_one_gate_enter_affinely(count: int) -> None:
    """A field is the mean of its two corners along one gate, whatever product the gate is in."""
    made = PatternTable(Switching(PRODUCT.compile()), 0.7, np.zeros(3), np.array([0.0, 1.0]), np.arange(count))
    assert made.affine
