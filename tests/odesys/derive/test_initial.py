"""Start values: infinite width, given tables, given weights; open inner products get their numbers with the start."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import (
    AttentionModel,
    Data,
    Dictionary,
    Distribution,
    FixedVector,
    Flow,
    Head,
    OdesysError,
    Sample,
    Space,
    Value,
    Words,
    gradient_flow,
    maps,
    softmax,
    squared,
)

M = Space("m")


def framed(square: object) -> Flow:
    value = Value(("W", "W_V"), FixedVector("a", square=square))
    model = AttentionModel(Dictionary(["a1", "a2"]), [Head()], value=value)
    data = Distribution([Sample(["a1", "a2"], +1, 1)])
    return gradient_flow(model, data, train=("W", "W_V", "W_K", "W_Q"))


def test_square_given_with_the_start() -> None:
    made = framed("m1")
    state = made.initial_state(W=3, W_V=0.5, W_K=0.25, W_Q=0.25, m1=7)
    table = {s.leaf: state[s.index] for s in made.layout.segments}
    assert table["aWWa"] == 21 and np.array_equal(table["VV"], 0.5 * np.eye(2)) and not table["KQ"].any()
    same = framed(7).initial_state(W=3, W_V=0.5, W_K=0.25, W_Q=0.25)
    assert np.array_equal(same, state)


@pytest.mark.parametrize(
    ("square", "given", "words"),
    [
        ("m1", {}, "add m1="),
        (7, {"m1": 7}, "there is no map 'm1'.* a'a = 7 is a number already"),
        ("m1", {"b": 7}, "there is no map 'b'"),
        ("m1", {"m1": -1}, "must be positive"),
    ],
)
def test_mistakes_get_a_sentence(square: object, given: dict, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        framed(square).initial_state(W=1, W_V=1, W_K=1, W_Q=1, **given)


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


def test_a_map_that_is_a_path_of_its_own_has_its_name_in_every_head() -> None:
    words = Words("a b")
    heads = [maps("W_O", 1, words, of=name) for name in "pm"]
    W_K, W_Q = maps("W_K W_Q", M, words)

    def f(X):
        return sum(W_O @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1]) for W_O in heads)

    made = gradient_flow(f, Data(words, [("a b", 1)]), squared)
    both = made.initial_state(omega=1, values={"W_O": [1, 2]})
    one = made.initial_state(omega=1, values={"W_O.m": [1, 2]})
    (plus, minus) = (leaf for leaf in made.matrices if len(made.matrices[leaf]) == 1)
    assert [at(made, both, leaf).tolist() for leaf in (plus, minus)] == [[[1, 2]], [[1, 2]]]
    assert [at(made, one, leaf).tolist() for leaf in (plus, minus)] == [[[0, 0]], [[1, 2]]]
    for name in ("W_K", "W_Q"):  # stand in paths of two maps only
        with pytest.raises(OdesysError, match=f"values has '{name}', which is not a matrix of this flow"):
            made.initial_state(omega=1, values={name: np.eye(2)})


def test_weights_are_multiplied_out() -> None:
    made, rng = flow(), np.random.default_rng(0)
    weights = {"w": rng.normal(size=(1, 2)), "W_K": rng.normal(size=(5, 2)), "W_Q": rng.normal(size=(5, 2))}
    x = made.initial_state(weights=weights)
    assert np.allclose(at(made, x, "KQ"), weights["W_K"].T @ weights["W_Q"])
    assert np.allclose(at(made, x, "QQ"), weights["W_Q"].T @ weights["W_Q"])


def test_weights_are_images_of_the_words_whatever_their_inner_products() -> None:
    made, rng = flow([[2, 1], [1, 2]]), np.random.default_rng(1)
    words = np.linalg.cholesky(np.array([[2.0, 1.0], [1.0, 2.0]])).T  # columns with these inner products
    W_K, W_Q, w = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(1, 2))
    x = made.initial_state(weights={"w": w @ words, "W_K": W_K @ words, "W_Q": W_Q @ words})
    assert np.allclose(at(made, x, "KQ"), words.T @ W_K.T @ W_Q @ words) and np.allclose(at(made, x, "w"), w @ words)


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
        (
            lambda: flow().initial_state(weights={"W_K": [[[1, 2]], [[3, 4]]]}),
            "W_K is a matrix, the space m by the space of the words",
        ),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()
