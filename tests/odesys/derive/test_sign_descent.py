"""Sign descent on inner products: the map against signs of every single weight, computed by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, State, Units, Words, logistic, maps, num, softmax, squared, sym
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


def test_vectors_with_disjoint_supports_have_a_direction_each() -> None:
    made = PinnedVectors.disjoint(["m", 3])
    assert made.directions == ((1, 0), (0, 1)) and made.masses == (sym("m"), num(3)) and made.count == 2
    assert PinnedVectors.axes(3) == PinnedVectors.disjoint([1, 1, 1])
    assert PinnedVectors.of([[1, 0], [0, 1]]) == PinnedVectors.axes(2)
    assert PinnedVectors.of([[0, 2, 0]]) == PinnedVectors(((Fraction(1),),), (num(2),))
    assert PinnedVectors.of([[0, 0]]).masses == () and PinnedVectors.of([[1, -2], [3, -6], [0, 0]]).count == 3
    with pytest.raises(ModelError, match="rows of one length, at least one of them"):
        PinnedVectors.of([])


@pytest.mark.parametrize("trial", range(4))
def test_directions_times_masses_are_the_vectors(trial: int) -> None:
    """Sums over coordinates of |x_k| sgn(x_k . g) x_k, by direction and coordinate by coordinate."""
    rng = np.random.default_rng(trial)
    X = rng.integers(-2, 3, (3, 7))
    made = PinnedVectors.of(X.tolist())
    V, masses = np.array(made.directions, dtype=float), [float(m.args[0]) for m in made.masses]
    assert len({tuple(c) for c in V.T}) == V.shape[1] and all(m > 0 for m in masses)
    for g in rng.normal(size=(5, 3)):
        assert np.allclose(V @ (np.sign(g @ V) * masses), X @ np.sign(g @ X))
        assert np.abs(g @ V) @ masses == pytest.approx(np.abs(g @ X).sum())


def test_a_frozen_gradient_moves_nothing() -> None:
    zero = np.array([[num(0), num(0)]], dtype=object)
    assert [n.args[0] for n in sign_step(zero, PinnedVectors.axes(1), PinnedVectors.axes(2)).ravel()] == [0, 0]
    none = sign_step(np.array([[num(2)]], dtype=object), PinnedVectors.axes(1), PinnedVectors.of([[0, 0]]))
    assert none.shape == (1, 1) and none[0, 0] is num(0)


def test_the_system_of_a_step_and_of_its_limit() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    made = inner_product_sign_descent(lambda X: w @ X[0] * "s", Data(words, [("a", 1), ("b", -1)]), logistic)
    step, flow = made.system(), made.system(kind="flow")
    assert step.names == flow.names == ("w_a", "w_b") and (step.kind, flow.kind) == ("map", "flow")
    assert step.parameters == ("eta", "s") and flow.parameters == ("s",)
    assert step.structure["w_b"] == State("w", right="b") and set(step.observables) == set(made.observables)
    for s, x in ((2.0, [0.3, -1.0]), (-0.5, [1.0, 0.2])):
        rate = flow.compile({"s": s})(0.0, x)
        assert rate.tolist() == [np.sign(s), -np.sign(s)]
        assert step.compile({"s": s, "eta": 0.25})(0.0, x) == pytest.approx(np.array(x) + 0.25 * rate)
    seen = made.system(observables={"norm": made.gradient_norm()})
    assert set(seen.observables) == {"norm"}
    loss = made.system(kind="flow").with_observables({"norm": made.gradient_norm()}).compile({"s": 2.0})
    point = np.array([0.3, -1.0])
    slopes = [-2.0 / (1 + np.exp(2 * 0.3)) / 2, 2.0 / (1 + np.exp(2 * 1.0)) / 2]
    assert loss.observables(0.0, point)["norm"] == pytest.approx(np.abs(slopes).sum())
    smooth = made.system(sign=lambda node: node, kind="flow").compile({"s": 2.0})
    assert smooth(0.0, point) == pytest.approx(-np.array(slopes))


def test_maps_have_their_order_rows_and_sides() -> None:
    known = {READOUT: PinnedVectors.of([[1, -1]])}
    made = inner_product_sign_descent(attention, data(), logistic, vectors=known, train=["k", "v", "q"])
    assert list(made.names) == ["k", "v", "q"] and made.system().names[0] == "k_1_a0"
    assert {n: t.shape for n, t in made.names.items()} == {"k": (2, 3), "v": (1, 3), "q": (2, 3)}
    assert made.left["v"] == known[READOUT] and made.right["v"] == PinnedVectors.axes(3)
    assert made.left["k"] == PinnedVectors.axes(2) and {n: g.shape for n, g in made.gradients.items()} == {
        n: t.shape for n, t in made.names.items()
    }
    assert made.structure["q_2_a1"] == State("q", left="2", right="a1")
    two = Words("p q", name="o")
    W = maps("W", two, WORDS)
    tall = inner_product_sign_descent(lambda X: two.all[0].T @ W @ X[0], data(), squared)
    assert tall.names["W"].tolist() == [[f"W_{r}_{c}" for c in ("a0", "a1", "a2")] for r in "pq"]


def test_a_map_read_from_the_other_end_has_the_same_gradient() -> None:
    w = maps("w", 1, WORDS)
    there, back = (inner_product_sign_descent(f, data(), squared) for f in (lambda X: w @ X[0], lambda X: X[0].T @ w.T))
    assert there.names["w"].tolist() == back.names["w"].tolist()
    assert all(a is b for a, b in zip(there.gradients["w"].ravel(), back.gradients["w"].ravel(), strict=True))
    R = Units("r", 2)
    W, v = maps("W", R, WORDS), maps("v", 1, R)
    rows = [
        inner_product_sign_descent(f, data(), squared, train="W v")
        for f in (lambda X: v @ (W @ X[0]), lambda X: (X[0].T @ W.T) @ v.T)
    ]
    assert rows[0].names["W"].tolist() == rows[1].names["W"].tolist() and rows[0].names["W"].shape == (2, 3)
    point = {n: float(k + 1) for k, n in enumerate(rows[0].system().names)}
    one, other = (
        graph.evaluate(list(made.gradients["W"].ravel()), point, graph.FLOAT_FUNCTIONS, float) for made in rows
    )
    assert one == pytest.approx(other)


def test_a_map_between_two_pairs_of_sets_is_refused() -> None:
    w, m = maps("w", 1, WORDS), maps("m", WORDS, WORDS)
    with pytest.raises(ModelError, match="reads every map alone and between one pair of pinned sets"):
        inner_product_sign_descent(lambda X: w @ m @ X[0], data(), logistic)
