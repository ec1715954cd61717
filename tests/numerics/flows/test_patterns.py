"""The field as a function of gates: interpolation of its corners, derivatives, affine or not."""

from __future__ import annotations

from itertools import product

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


@pytest.mark.parametrize("affine", [True, False])
def test_three_gates_of_a_random_field_are_interpolated(affine: bool) -> None:
    """Against the sum over all corners, each with the product of its gates; surfaces may be some in any order."""
    rng = np.random.default_rng(int(affine))
    c = rng.integers(-5, 6, (3, 8))
    g = [GATE(s) for s in (X, Y, Z)]
    terms = [1, *g] if affine else [1, *g, g[0] * g[1], g[0] * g[2], g[1] * g[2], g[0] * g[1] * g[2]]
    system = System.from_equations(
        {
            s: sum(int(a) * term for a, term in zip(row, terms, strict=False))
            for s, row in zip((X, Y, Z), c, strict=True)
        }
    )
    order = [list(map(str, Switching(system.compile()).names)).index(name) for name in ("y", "z", "x")]
    for given in (None, affine):
        made = PatternTable(Switching(system.compile()), 0.7, np.zeros(3), np.zeros(3), np.array(order), given)
        assert made.affine == affine
        at = rng.random(3)
        weight = {
            p: np.prod([v if s else 1 - v for v, s in zip(at, p, strict=True)]) for p in product((0, 1), repeat=3)
        }
        field = sum(w * made.corner(p) for p, w in weight.items())
        rates = sum(w * made.corner_rates(p)[0] for p, w in weight.items())
        np.testing.assert_allclose(made.velocity(at), field, atol=1e-12)
        np.testing.assert_allclose(made.rates(at), rates, atol=1e-12)
        np.testing.assert_allclose(made.rates(at), field[[1, 2, 0]], atol=1e-12)  # the surfaces are the states
        if affine:
            weight = {p: at[p.index(1)] if 1 in p else 1 - at.sum() for p in weight if sum(p) < 2}
        noise = sum(abs(w) * made.corner_rates(p)[1] for p, w in weight.items())
        np.testing.assert_allclose(made.noise(at), noise, rtol=1e-6)
        assert noise.min() > 0 and noise.max() < 1e-9
        for j in range(3):
            ends = [made.velocity(np.where(np.arange(3) == j, end, at)) for end in (1.0, 0.0)]
            np.testing.assert_allclose(made.columns(at)[j], ends[0] - ends[1], atol=1e-12)
            np.testing.assert_allclose(made.matrix(at)[:, j], (ends[0] - ends[1])[[1, 2, 0]], atol=1e-12)


def test_one_corner_that_is_off_is_found_and_what_is_given_is_believed() -> None:
    """The product of all gates is there only where all are open, which is always tried."""
    states = sp.symbols("x0:4", real=True)
    last = sp.prod([GATE(s) for s in states])
    for size in (1e-12, 1e-6):
        system = System.from_equations({s: 1 - GATE(s) + sp.Float(size) * last for s in states})
        switching = Switching(system.compile())
        made = PatternTable(switching, 0.0, np.zeros(4), np.zeros(4), np.arange(4))
        assert made.affine == (size < 1e-9) == made.is_affine()
        assert PatternTable(switching, 0.0, np.zeros(4), np.zeros(4), np.arange(4), True).affine


def test_other_gates_stay_as_they_are() -> None:
    switching = Switching(PRODUCT.compile())
    y = list(switching.names).index("y")
    for held in (0.0, 1.0):
        gates = np.where(np.arange(2) == y, 0.0, held)
        made = PatternTable(switching, 0.7, np.zeros(3), gates, np.array([y]))
        assert made.corner((1,)).tolist() == [1 - 2 * held, 1 - held / 3, held]
        assert made.corner((0,)).tolist() == [1, -held / 3, 0] and sorted(made.gates) == [0.0, held]
        assert made.corner_rates((1,))[0] == pytest.approx([1 - held / 3])
