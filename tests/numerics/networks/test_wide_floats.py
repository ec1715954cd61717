"""Numbers with exponents of their own: floats where these are enough, and exact numbers where they are not."""

from fractions import Fraction
from typing import Any

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


def close(found: Wide, wanted: np.ndarray, size: np.ndarray) -> bool:
    """Exact numbers, up to a few digits of the sum of the sizes of their terms."""
    pairs = zip(exact(found).flat, wanted.flat, size.flat, strict=True)
    return found.shape == wanted.shape and all(abs(got - true) <= most / 10**13 for got, true, most in pairs)


@pytest.mark.parametrize("spread", [1, 100, 300, 700, 3000])
@pytest.mark.parametrize("plain", ["neither", "left", "right"])
def test_matrix_products_with_exponents_near_and_far(spread: int, plain: str) -> None:
    """Also of several matrices at once, with one matrix for all, with rows and columns of zeros, and of a vector."""
    rng = np.random.default_rng(spread)
    a, b = drawn(rng, 2, 3, 4, spread=spread), drawn(rng, 2, 4, 2, spread=spread)
    a.m[0, 1], b.m[1, :, 1], a.m[1, :, 2] = 0, 0, 0
    a, b = Wide.scaled(a.m, a.e), Wide.scaled(b.m, b.e)
    left, right = (rng.normal(size=x.shape) * (rng.random(x.shape) < 0.6) for x in (a, b))
    for first, second in ((a, b), (a[0], b[1]), (a, b[0]), (a[0], b)):
        one: Any = left[: len(first)] if plain == "left" and first is a else left[0] if plain == "left" else first
        two: Any = right if plain == "right" and len(second.shape) == 3 else right[1] if plain == "right" else second
        x, y = (exact(v) if isinstance(v, Wide) else np.vectorize(Fraction)(v) for v in (one, two))
        assert close(one @ two, x @ y, abs(x) @ abs(y))
        if plain != "left" and first is not a:
            assert close(one[1] @ two, x[1] @ y, abs(x[1]) @ abs(y))


def test_quotients_negatives_and_entries() -> None:
    rng = np.random.default_rng(9)
    a, b = drawn(rng, 3, 4), Wide.scaled(rng.normal(size=(3, 4)), rng.integers(-3000, 3000, (3, 4)).astype(float))
    x, y = exact(a), exact(b)
    ones = np.vectorize(Fraction)(np.ones((3, 4)))
    for found, wanted in (
        (a / b, x / y),
        (2.0 / b, 2 * ones / y),
        (np.reciprocal(b), ones / y),
        (-a, -x),
        (3.0 - a, 3 * ones - x),
        (a - 3.0, x - 3 * ones),
        (a[1:, [2, 0]], x[1:, [2, 0]]),
        (a.mT, x.T),
        (a.transpose(1, 0), x.T),
        (a.take(np.array([3, 3, 0]), axis=1), x.take([3, 3, 0], axis=1)),
        (a.reshape(4, 3), x.reshape(4, 3)),
        (np.broadcast_to(a, (2, 3, 4)), np.broadcast_to(x, (2, 3, 4))),
        (a.sum(axis=0), x.sum(axis=0)),
        (a.sum(axis=-1, keepdims=True), x.sum(axis=-1, keepdims=True)),
        (np.add.reduce(a, axis=0, keepdims=False), x.sum(axis=0)),
    ):
        assert close(found, wanted, abs(wanted) + np.vectorize(abs)(wanted))
    assert len(a) == 3 and a.shape == (3, 4) and a.sum(axis=0).shape == (4,)
    assert np.array_equal(np.sign(a), np.sign(x).astype(float)) and np.array_equal(a.sign(), np.sign(x).astype(float))
    assert Wide.of(5.0).shape == () and ((np.abs(b.m) >= 0.5) & (np.abs(b.m) < 1)).all()


def test_floats_are_themselves_again_up_to_the_largest_and_down_to_the_smallest() -> None:
    limits = np.finfo(float)
    values = np.array([limits.max, -limits.max, limits.tiny, 1.0, -0.75, 0.0, 2.0**1023, 2.0**-1022])
    assert np.array_equal(Wide.of(values).floats(), values)
    assert np.array_equal((Wide.of(values) * Wide.of(0.5) * 2.0).floats(), values)
    with np.errstate(over="ignore"):
        assert np.isinf(Wide.scaled(np.array([1.0]), 1024).floats()).all()
    assert Wide.scaled(np.array([1.0]), np.array([-1080.0])).floats() == 0


def test_exponentials_of_everything() -> None:
    logs = np.array([-np.inf, -1e6, -1.0, 0.0, 1.0, 700.0, 1e5])
    found = Wide.exp(logs)
    assert found.sign().tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert found[2:6].floats() == pytest.approx(np.exp(logs[2:6]))
    assert np.log(found.m[1:]) + found.e[1:] * np.log(2) == pytest.approx(logs[1:], rel=1e-13, abs=1e-15)
    rows = Wide.of(np.array([[3.0, -5.0, 1.0], [-800.0, -900.0, -1000.0]]))
    top = np.maximum.reduce(rows, axis=-1, keepdims=True)
    assert top.floats().tolist() == [[3.0], [-800.0]]
    assert np.maximum.reduce(rows, axis=0, keepdims=False).floats().tolist() == [3.0, -5.0, 1.0]


def test_zero_has_no_size_in_sums_and_products() -> None:
    """A zero next to a tiny number takes nothing of it, and a sum of zeros is zero."""
    tiny = Wide.scaled(np.array([1.0, 0.0, -1.0]), np.array([-(2.0**35), 0.0, -(2.0**35)]))
    assert (tiny + 0.0).sign().tolist() == [1, 0, -1] and (tiny * 0.0).sign().tolist() == [0, 0, 0]
    assert (tiny - tiny).sign().tolist() == [0, 0, 0]
    assert tiny.sum(axis=0).sign() == 0 and tiny[:2].sum(axis=0).sign() == 1
    zeros = Wide.of(np.zeros((2, 2)))
    for other in (np.ones((2, 2)), Wide.of(np.ones((2, 2)))):
        assert not (zeros @ other).sign().any() and not (other @ zeros).sign().any()
    assert (tiny[:1, None] @ np.array([[3.0, -2.0]])).sign().tolist() == [[1, -1]]
    counted = np.bincount(np.array([2, 0, 2]), tiny, 4)
    assert counted.sign().tolist() == [0, 0, 0, 0] and counted.shape == (4,)
    assert np.bincount(np.array([3, 0, 1]), tiny, 4).sign().tolist() == [0, -1, 0, 1]


def test_a_result_that_is_written_into_an_array_is_the_result() -> None:
    a = Wide.scaled(np.array([1.0, -3.0]), np.array([-5000.0, 10.0]))
    place = Wide.of(np.array([7.0, 7.0]))
    assert place.floats().tolist() == [7.0, 7.0]  # read before it is written to
    np.negative(a, out=place)
    assert close(place, -exact(a), abs(exact(a))) and place.e[0] == a.e[0]
    place *= 2.0
    assert close(place, -2 * exact(a), abs(exact(a)))
