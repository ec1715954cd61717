"""Start values of programs: infinite width, given tables, given weights."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import Data, OdesysError, Space, Words, gradient_flow, maps, softmax, squared

M = Space("m")


def flow(gram: object = None):
    words = Words("a b", gram)
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", M, words)
    return gradient_flow(lambda X: w @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1]), Data(words, [("a b", 1)]), squared)


def at(made, x: np.ndarray, leaf: str) -> np.ndarray:
    return np.array([[x[made.system.names.index(n)] for n in row] for row in made.matrices[leaf]])


def test_pairs_give_the_gram_matrix_and_the_rest_is_zero() -> None:
    made = flow([[2, 1], [1, 2]])
    x = made.initial_state(omega=0.5, W_Q=3.0)
    assert at(made, x, "KK").tolist() == [[0.5, 0.25], [0.25, 0.5]]
    assert at(made, x, "QQ").tolist() == [[6.0, 3.0], [3.0, 6.0]] and not at(made, x, "KQ").any()


def test_values_are_put_in_place() -> None:
    made = flow()
    x = made.initial_state(omega=1.0, values={"w": [0.1, 0.2], "KQ": [[1, 2], [3, 4]]})
    assert at(made, x, "w").tolist() == [[0.1, 0.2]] and at(made, x, "KQ").tolist() == [[1, 2], [3, 4]]


def test_weights_are_multiplied_out() -> None:
    made, rng = flow(), np.random.default_rng(0)
    weights = {"w": rng.normal(size=(1, 2)), "W_K": rng.normal(size=(5, 2)), "W_Q": rng.normal(size=(5, 2))}
    x = made.initial_state(weights=weights)
    assert np.allclose(at(made, x, "KQ"), weights["W_K"].T @ weights["W_Q"])
    assert np.allclose(at(made, x, "QQ"), weights["W_Q"].T @ weights["W_Q"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: flow().initial_state(), "starts at the spread of W_K"),
        (lambda: flow().initial_state(omega=-1), "must be positive"),
        (lambda: flow().initial_state(omega=1, W_X=2), "there is no map 'W_X'"),
        (lambda: flow().initial_state(omega=1, values={"KX": 1}), "not a matrix of this flow"),
        (lambda: flow().initial_state(omega=1, values={"KQ": [[1, 2, 3]]}), "have shape"),
        (lambda: flow().initial_state(omega=1, values={"KK": [[1, 2], [3, 4]]}), "the matrix is symmetric"),
        (lambda: flow([[1, 1], [1, 1]]).initial_state(omega=1, values={"w": [1, 2]}), "makes equal or dependent"),
        (lambda: flow().initial_state(omega=1, values={"KK": [[-1, 0], [0, 1]]}), "no eigenvalue is negative"),
        (lambda: flow().initial_state(omega=1, weights={}), "not both"),
        (lambda: flow().initial_state(weights={"w": [[1, 2]]}), "are missing"),
        (lambda: flow([[2, 1], [1, 2]]).initial_state(weights={}), "orthonormal words"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()
