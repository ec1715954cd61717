"""Tails of Gaussian norms and products against other routes: scipy's chi-square law, and sampling."""

import math

import flint
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import erfc
from scipy.stats import chi2

from odesys.analysis import tails
from odesys.expr import graph
from odesys.expr.graph import num


@pytest.mark.parametrize(("m", "t"), [(1, 0.5), (4, 2.5), (64, 0.3), (500, 0.1)])
def test_norms_agree_with_the_chi_square_law(m: int, t: float) -> None:
    with flint.ctx.workprec(256):
        ball = tails.norm_outside(m, flint.arb(t))
    assert float(ball) == pytest.approx(chi2.sf(m * (1 + t), m) + chi2.cdf(m * (1 - t), m), rel=1e-9)


@pytest.mark.parametrize(("m", "t"), [(1, 2.0), (16, 0.5), (100, 0.2)])
def test_products_exceed_no_more_often_than_the_bound(m: int, t: float) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 20_000, m))
    seen = float((np.abs((x * y).mean(axis=1)) > t).mean())
    bound = float(tails.product_outside(m, flint.arb(t)).upper())
    assert 0 < seen < bound < 12 * seen


def test_exponents_are_those_of_the_exponential_moments() -> None:
    """E exp(tilt (x^2 - 1 - t)) by quadrature against exp(-exponent), both signs, and the product."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    tilt, t = 0.2, 0.3

    def value(node: graph.Node) -> float:
        return float(graph.evaluate([node], {}, {"log": math.log})[0])

    above = (weights * np.exp(tilt * (nodes**2 - 1 - t))).sum()
    below = (weights * np.exp(-tilt * (nodes**2 - 1 + t))).sum()
    both = (np.outer(weights, weights) * np.exp(tilt * (np.outer(nodes, nodes) - t))).sum()
    exponents = [f(num("3/10"), num("1/5")) for f in (tails.norm_above, tails.norm_below, tails.product_above)]
    assert [value(e) for e in exponents] == pytest.approx([-np.log(above), -np.log(below), -np.log(both)], rel=1e-8)


@pytest.mark.parametrize(("m", "t"), [(1, 2.0), (16, 0.5), (100, 0.25), (1000, 0.0625)])
def test_the_bound_of_a_product_is_that_of_the_best_tilt(m: int, t: float) -> None:
    best = minimize_scalar(lambda s: -(s * t + math.log(1 - s * s) / 2), bounds=(0, 1), method="bounded").fun
    ball = tails.product_outside(m, flint.arb(t))
    assert float(ball.mid()) == pytest.approx(2 * math.exp(m * best), rel=1e-6)


@pytest.mark.parametrize(("m", "t"), [(4, 1.0), (50, 0.25), (10_000, 0.03125)])
def test_the_bound_by_the_norm_is_gaussian_below_a_norm_and_its_tail_above(m: int, t: float) -> None:
    """P(|x'y|/m > t) <= P(|N| > t sqrt(m / (1 + 2t))) + P(|y|^2/m > 1 + 2t)."""
    gaussian = erfc(t * math.sqrt(m / (2 * (1 + 2 * t))))
    ball = tails.product_outside_by_norm(m, flint.arb(t))
    assert float(ball.mid()) == pytest.approx(gaussian + chi2.sf(m * (1 + 2 * t), m), rel=1e-9)
