"""Numbers with exponents of their own: floats where these are enough, and exact numbers where they are not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from numerics.networks.wide_floats import Wide
from odesys.errors import ModelError


def exact(x: Wide) -> np.ndarray:
    return np.array(
        [
            Fraction(float(m)) * Fraction(2) ** int(e) if m else Fraction(0)
            for m, e in zip(x.m.flat, x.e.flat, strict=True)
        ]
    ).reshape(x.shape)


def drawn(rng: np.random.Generator, *shape: int, spread: int = 3000) -> Wide:
    made = Wide.scaled(rng.normal(size=shape), rng.integers(-spread, spread, shape).astype(float))
    made.m[rng.random(shape) < 0.2] = 0
    return Wide.scaled(made.m, made.e)


@pytest.mark.parametrize("seed", range(5))
def test_arithmetic_is_that_of_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = drawn(rng, 3, 4), drawn(rng, 3, 4), drawn(rng, 4, 5)
    x, y, z = exact(a), exact(b), exact(c)
    places = rng.integers(0, 6, 12)
    counted = [sum(v for v, at in zip(x.flat, places, strict=True) if at == k) for k in range(6)]
    plain = rng.normal(size=(4, 5)) * (rng.random((4, 5)) < 0.7)
    cases = [
        (a + b, x + y),
        (a - b, x - y),
        (a * b, x * y),
        (a * 3.0, x * 3),
        (np.add.reduce(a, axis=1, keepdims=True), x.sum(axis=1, keepdims=True)),
        (a @ c, x @ z),
        (a @ plain, x @ np.vectorize(Fraction)(plain)),
        (plain.T @ c, np.vectorize(Fraction)(plain.T) @ z),
        (np.bincount(places, a.reshape(-1), 6), np.array(counted)),
        (a.mT.reshape(2, 6), x.T.reshape(2, 6)),
    ]
    for found, wanted in cases:
        for got, true in zip(exact(found).flat, wanted.flat, strict=True):
            assert abs(got - true) <= abs(true) * Fraction(1, 10**12)  # far exponents: no cancellation


def test_functions_and_floats() -> None:
    x = np.array([-3000.0, -800.0, 0.5, 3.0, 900.0])
    wide = np.exp(Wide.of(x))
    assert np.allclose(np.log(np.abs(wide.m)) + wide.e * np.log(2), x, rtol=1e-14)
    with np.errstate(over="ignore"):
        assert np.array_equal(wide.floats() == 0, x < -745) and np.isinf(wide.floats()[-1])
    assert np.allclose(wide[2:4].floats(), np.exp(x[2:4]), rtol=1e-15)
    slope = expit(Wide.of(-x))
    assert (slope.sign() == 1).all() and np.allclose(slope.floats()[:4], expit(-x)[:4], rtol=1e-15)
    assert np.log(slope.m[-1]) + slope.e[-1] * np.log(2) == pytest.approx(-900, rel=1e-14)
    with pytest.raises(ModelError, match="not for tanh"):
        np.tanh(wide)


def test_a_result_can_be_written_into_an_array() -> None:
    a, b, place = Wide.of(np.array([1.0, 2.0])), Wide.of(np.array([3.0, 4.0])), Wide.of(np.zeros(2))
    assert np.add(a, b, out=place) is place and np.array_equal(place.floats(), [4.0, 6.0])


def test_a_function_without_a_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="median"):
        np.median(Wide.of(np.ones(3)))
