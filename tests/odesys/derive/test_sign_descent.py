"""Sign descent on inner products: the map against signs of every single weight, computed by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, Units, Words, logistic, maps, softmax
from odesys.derive.sign_descent import PinnedVectors, inner_product_sign_descent, sign_step
from odesys.errors import ModelError
from odesys.expr import graph

RNG = np.random.default_rng(7)  # the seed of all random numbers of this file
WORDS, READOUT = Words("a0 a1 a2"), Words("c", gram=[["c2"]], name="c")
V, (Q, K) = maps("v", READOUT, WORDS), maps("q k", Units("r", 2), WORDS)


def attention(X):  # type: ignore[no-untyped-def]
    return (READOUT.all.T @ V @ X @ softmax(X.T @ K.T @ Q @ X)).sum()


def data() -> Data:
    return Data(WORDS, [("a0 a1", 1, Fraction(1, 3)), ("-a0 a2 a1", -1, Fraction(2, 3))])


def test_columns_put_multiples_together() -> None:
    made = PinnedVectors.of([[1, -2, 0, 1, 0], [2, -4, 3, 0, 0]])
    assert made.directions == ((1, 0, 1), (2, 1, 0))
    assert [m.args[0] for m in made.masses] == [3, 3, 1]
    with pytest.raises(ModelError, match="one length"):
        PinnedVectors.of([[1, 2], [1]])


@pytest.mark.parametrize("trial", range(5))
def test_a_step_is_the_sum_over_all_weights(trial: int) -> None:
    U, X = RNG.integers(-2, 3, (2, 4)), RNG.integers(-2, 3, (3, 6))
    G = RNG.integers(-3, 4, (2, 3))
    nodes = np.array([[graph.num(Fraction(int(g))) for g in row] for row in G], dtype=object)
    found = sign_step(nodes, PinnedVectors.of(U.tolist()), PinnedVectors.of(X.tolist()))
    by_hand = U @ np.sign(U.T @ G @ X) @ X.T  # the change of u' W x when every entry moves by its sign
    assert [[node.args[0] for node in row] for row in found] == by_hand.tolist()


def output(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> float:
    """The loss of `attention` on `data` from inner products, written out."""
    total = 0.0
    for words, signs, y, weight in (([0, 1], [1, 1], 1, 1 / 3), ([0, 2, 1], [-1, 1, 1], -1, 2 / 3)):
        e = np.array(signs, dtype=float)
        scores = (e[:, None] * q[:, words].T) @ (k[:, words] * e)
        p = np.exp(scores)
        f = ((p / p.sum(axis=1, keepdims=True)) @ (e * v[words])).sum()
        total += weight * np.log1p(np.exp(-y * f))
    return total


def test_map_moves_every_weight_by_its_sign() -> None:
    X = np.array([[2, 0, 1, 0], [0, 1, -1, 3], [1, 1, 0, 0]])  # words share coordinates
    c = [Fraction(1, 2), Fraction(-1, 4)]
    known = {WORDS: PinnedVectors.of(X.tolist()), READOUT: PinnedVectors.of([c])}
    made = inner_product_sign_descent(attention, data(), logistic, vectors=known, train="v q k")
    system, eta = made.system(), 0.01
    W_Q, W_K, W_V = (RNG.standard_normal((2, 4)) for _ in range(3))
    read = np.array([float(x) for x in c])

    def loss(weights: list[np.ndarray]) -> float:
        q, k, v = (w @ X.T for w in weights)
        return output(q, k, read @ v)

    new = []
    for which in range(3):
        slope = np.zeros((2, 4))
        for place in np.ndindex(2, 4):
            sides = []
            for h in (1e-6, -1e-6):
                moved = [w.copy() for w in (W_Q, W_K, W_V)]
                moved[which][place] += h
                sides.append(loss(moved))
            slope[place] = sides[0] - sides[1]
        assert np.abs(slope).min() > 1e-10  # finite differences tell every sign
        new.append((W_Q, W_K, W_V)[which] - eta * np.sign(slope))
    before = np.concatenate([read @ (W_V @ X.T), (W_Q @ X.T).ravel(), (W_K @ X.T).ravel()])
    after = np.concatenate([read @ (new[2] @ X.T), (new[0] @ X.T).ravel(), (new[1] @ X.T).ravel()])
    compiled = system.compile(eta=eta)
    assert np.allclose(compiled(0.0, before), after, atol=1e-14)
    rate = made.system(kind="flow").with_observables({"norm": made.gradient_norm()}).compile()
    assert np.allclose(rate(0.0, before), (after - before) / eta, atol=1e-10)
    small = 1e-7
    moved = [w + small / eta * (n - w) for w, n in zip((W_Q, W_K, W_V), new, strict=True)]
    fall = loss([W_Q, W_K, W_V]) - loss(moved)
    assert rate.observables(0.0, before)["norm"] == pytest.approx(fall / small, rel=1e-4)


def test_states_are_named_by_row_and_word() -> None:
    made = inner_product_sign_descent(attention, data(), logistic, vectors={READOUT: PinnedVectors.of([[1, -1]])})
    assert {name for table in made.names.values() for name in table.ravel()} >= {"v_a0", "q_1_a2", "k_2_a1"}
    w = maps("w", 1, WORDS)
    read = inner_product_sign_descent(lambda X: X[0].T @ w.T, data(), logistic)  # read from the other end
    assert read.names["w"].tolist() == [["w_a0", "w_a1", "w_a2"]]


def test_refusals_name_what_does_not_fit() -> None:
    with pytest.raises(ModelError, match="not orthonormal; give their coordinates"):
        inner_product_sign_descent(attention, data(), logistic)
    with pytest.raises(ModelError, match="3 words a0, a1, a2, but vectors= has 2"):
        known = {READOUT: PinnedVectors.of([[1]]), WORDS: PinnedVectors.axes(2)}
        inner_product_sign_descent(attention, data(), logistic, vectors=known)
    with pytest.raises(ModelError, match="order of all maps, which are v, k, q"):
        inner_product_sign_descent(attention, data(), logistic, train="v q")
    m = maps("m", WORDS, WORDS)
    with pytest.raises(ModelError, match="reads every map alone"):
        inner_product_sign_descent(lambda X: (WORDS.all.T @ m @ m @ X[0]).sum(), data(), logistic)
