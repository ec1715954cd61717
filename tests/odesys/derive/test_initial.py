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
    Units,
    Value,
    Words,
    gradient_flow,
    heavy_ball,
    maps,
    softmax,
    squared,
)
from odesys.derive.initial import nonnegative, paired_names, path_products, positive, unit_gram
from odesys.errors import ModelError, ParameterError
from odesys.expr.graph import num
from odesys.model.paths import Letter

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


@pytest.mark.parametrize("check", [positive, nonnegative])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("x", "s = 'x' is not a number"),
        (None, "s = None is not a number"),
        (10**400, "is not a number"),
        (float("nan"), "s = nan must be"),
        (float("inf"), "s = inf must be"),
        (-0.5, "s = -0.5 must be"),
    ],
)
def test_numbers_of_a_start_are_checked(check, value: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        check("s", value)


def test_a_scale_is_positive_and_a_spread_may_be_zero() -> None:
    assert positive("s", "2.5") == 2.5 and nonnegative("s", 2) == 2.0 and nonnegative("s", 0) == 0.0
    with pytest.raises(ParameterError, match="s = 0 must be positive and finite"):
        positive("s", 0)


def test_pairs_are_those_that_cancel_from_the_inside() -> None:
    A, B, C = (Letter(name) for name in "ABC")
    assert paired_names((A.T, A)) == ["A"] and paired_names((A, A.T)) == ["A"] and paired_names(()) == []
    assert paired_names((A, B, B.T, A.T)) == ["B", "A"] and paired_names((A, A.T, C.T, C)) == ["A", "C"]
    for alone in ((A,), (A, A), (A.T, B), (A, B, A.T, B.T), (A, A.T, B)):
        assert paired_names(alone) is None
    assert paired_names((Letter("A", of="p"), Letter("A", True, "p"))) == ["A.p"]
    assert paired_names((Letter("A", of="p"), Letter("A", True, "m"))) is None


def test_a_chain_starts_at_the_product_of_its_spreads() -> None:
    """U V x with U U', V' V in the middle: longer paths are products, and a spread of zero is allowed."""
    words = Words("a b", [[2, 1], [1, 3]])
    U, V = maps("U", 1, M), maps("V", M, words)
    made = gradient_flow(lambda X: U @ V @ X[0], Data(words, [("a", 1)]), squared)
    x = made.initial_state(omega=3, V=0.25)
    tables = {s.leaf: x[s.index].tolist() for s in made.layout.segments}
    assert sorted(map(str, tables.values())) == sorted(map(str, [[[0.0, 0.0]], [[9.0]], [[0.5, 0.25], [0.25, 0.75]]]))
    assert not made.initial_state(omega=1, U=0, V=0).any()
    assert np.array_equal(made.initial_state(U=4, V=0.25), made.initial_state(omega=2, V=0.25))
    with pytest.raises(OdesysError) as caught:
        made.initial_state(V=1)
    assert (
        "starts at the spread of U, which is not given; add omega=..., or U=... (the number s in U' U -> s I)"
        in str(caught.value)
    )


def test_a_value_given_for_a_map_of_one_row_may_have_either_shape() -> None:
    made = flow()
    for value in ([0.5, -2], [[0.5, -2]], [[0.5], [-2]], np.array([0.5, -2])):
        x = made.initial_state(omega=1, values={"w": value})
        assert at(made, x, "w").tolist() == [[0.5, -2]]
    assert at(made, made.initial_state(omega=1, values={"KK": [[2, 1], [1, 2]]}), "KK").tolist() == [[2, 1], [1, 2]]
    flat = made.initial_state(omega=1, values={"KK": np.ones((2, 2))})  # an eigenvalue of zero
    assert at(made, flat, "KK").tolist() == [[1, 1], [1, 1]]
    for value, words in (
        ([1, 2, 3, 4], r"have shape \(4,\) instead of \(2, 2\)"),
        ([[1, 2, 3, 4]], r"have shape \(1, 4\) instead of \(2, 2\)"),
        ("x", "not a matrix of numbers"),
        ([[1, float("nan")], [0, 1]], "an entry that is not finite"),
    ):
        with pytest.raises(ModelError, match=words):
            made.initial_state(omega=1, values={"KQ": value})
    with pytest.raises(ModelError, match="not a matrix of this flow; there are w, KQ, KK, QQ"):
        made.initial_state(omega=1, values={"W_Q": np.eye(2)})


def test_a_map_read_from_the_other_end_is_given_as_it_is_written() -> None:
    words, R = Words("a b"), Units("r", 3)
    W, v = maps("W", R, words), maps("v", 1, R)
    forward = gradient_flow(lambda X: v @ W @ X[0], Data(words, [("a", 1)]), squared, train="W v")
    table = np.arange(6.0).reshape(3, 2)
    x = forward.initial_state(omega=1, values={"W": table, "v": [1, 2, 3]})
    assert np.array_equal(at(forward, x, "W"), table) and at(forward, x, "v").tolist() == [[1, 2, 3]]
    back = gradient_flow(lambda X: X[0].T @ W.T @ v.T, Data(words, [("a", 1)]), squared, train="W v")
    y = back.initial_state(omega=1, values={"W": table, "v": [1, 2, 3]})
    assert sorted(y) == sorted(x)
    with pytest.raises(ModelError, match="have shape"):
        forward.initial_state(omega=1, values={"W": table.T})


def test_words_that_depend_on_each_other_have_values_that_do_too() -> None:
    """c = a + b: a row of values is allowed exactly if its last entry is the sum, and so for both ends of a table."""
    words = Words("a b c", [[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    w, (K, Q) = maps("w", 1, words), maps("W_K W_Q", M, words)
    made = gradient_flow(lambda X: w @ X @ softmax(X.T @ K.T @ Q @ X[-1]), Data(words, [("a b c", 1)]), squared)
    rows = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    inner = rows.T @ np.array([[1.0, 2.0], [3.0, 4.0]]) @ rows
    assert at(made, made.initial_state(omega=1, values={"w": [2, 3, 5]}), "w").tolist() == [[2, 3, 5]]
    assert np.array_equal(at(made, made.initial_state(omega=1, values={"KQ": inner}), "KQ"), inner)
    near = made.initial_state(omega=1, values={"w": [2e6, 3e6, 5e6 + 1e-4]})  # rounding grows with the values
    assert at(made, near, "w")[0, 2] == 5e6 + 1e-4
    left, right = inner.copy(), inner.copy()
    left[2] += 1
    right[:, 2] += 1
    for name, value in (("w", [2, 3, 5 + 1e-6]), ("KQ", left), ("KQ", right)):
        with pytest.raises(ModelError, match="differ between words that the Gram matrix makes equal or dependent"):
            made.initial_state(omega=1, values={name: value})


def test_a_name_without_head_stands_for_all_heads_of_weights() -> None:
    words = Words("a b")
    heads = [maps("w", 1, words, of=name) for name in "pm"]
    made = gradient_flow(lambda X: heads[0] @ X[0] + heads[1] @ X[0], Data(words, [("a", 1)]), squared)
    one = made.initial_state(weights={"w.p": [[1, 2]], "w.m": [3, 4]})
    both = made.initial_state(weights={"w": [[[1, 2]], [[3, 4]]]})
    flat = made.initial_state(weights={"w": [[1, 2], [3, 4]]})
    assert one.tolist() == both.tolist() == flat.tolist() == [1, 2, 3, 4]
    for weights, words_ in (
        ({"w": [[[1, 2]]]}, "w stands for w.p, w.m, which the first axis counts; or give each by its own name"),
        ({"w": [1, 2]}, r"the weights w have shape \(2,\)"),
        ({"v": [1]}, "there is no map 'v'; the program has w.p, w.m$"),
        ({"w": "x"}, "the weights w are not an array of real numbers"),
        ({"w": [[1j, 0], [0, 0]]}, "the weights w are not an array of real numbers"),
        ({"w": [[np.inf, 0], [0, 0]]}, "the weights w have an entry that is not finite"),
        ({"w.p": [[1, 2]]}, "the weights of w.m are missing; the program has w.p, w.m"),
        ({"w.p": [[1, 2, 3]], "w.m": [[1, 2, 3]]}, r"the weights along w.p.E have the wrong shape: \(1, 3\)"),
    ):
        with pytest.raises(ModelError, match=words_):
            made.initial_state(weights=weights)
    chain = flow()
    with pytest.raises(ModelError, match="do not fit together along the path"):
        chain.initial_state(weights={"w": [[1, 2]], "W_K": np.ones((3, 2)), "W_Q": np.ones((4, 2))})


def test_coordinates_of_a_frozen_vector_are_given_with_the_weights() -> None:
    made, rng = framed(7), np.random.default_rng(9)
    vector, W, V = rng.normal(size=4), rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    weights = {"W": W, "W_V": V, "W_K": rng.normal(size=(2, 2)), "W_Q": rng.normal(size=(2, 2))}
    x = made.initial_state(weights={"a": vector, **weights})
    assert np.allclose(at(made, x, "aWV"), vector @ W @ V) and np.allclose(
        at(made, x, "aWWa"), vector @ W @ W.T @ vector
    )
    with pytest.raises(ModelError, match="the program has W, W_V, W_K, W_Q, a"):
        made.initial_state(weights={"q": vector, **weights})


def test_inner_products_of_orthonormal_vectors() -> None:
    assert [[node is num(int(i == j)) for j, node in enumerate(row)] for i, row in enumerate(unit_gram(3))] == [
        [True] * 3
    ] * 3


def test_rounding_of_large_inner_products_is_no_negative_eigenvalue() -> None:
    """What is allowed grows with the entries, of values and of Gram matrices."""
    made = flow()
    table = [[1e6, 1e6], [1e6, 1e6 - 1e-4]]
    assert at(made, made.initial_state(omega=1, values={"KK": table}), "KK").tolist() == table
    with pytest.raises(ModelError, match="so no eigenvalue is negative"):
        made.initial_state(omega=1, values={"KK": [[1e6, 1e6], [1e6, 1e6 - 1]]})
    three = [[1e6, 1e6, 1e6], [1e6, 2e6, 2e6], [1e6, 2e6, 2e6]]
    words = Words("a b c", three)
    w = maps("w", 1, words)
    large = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1)]), squared)
    assert large.initial_state(values={"w": [1, 2, 2]}).tolist() == [1, 2, 2]
    with pytest.raises(ModelError, match="makes equal or dependent"):
        large.initial_state(values={"w": [1, 2, 3]})


def test_weights_of_several_networks_are_multiplied_side_by_side() -> None:
    made, rng = flow(), np.random.default_rng(4)
    stacks = {"w": rng.normal(size=(3, 1, 2)), "W_K": rng.normal(size=(3, 5, 2)), "W_Q": rng.normal(size=(3, 5, 2))}
    found = path_products(made.naming, made.closure, stacks, {})
    for k in range(3):
        one = path_products(made.naming, made.closure, {name: value[k] for name, value in stacks.items()}, {})
        assert set(one) == set(found) and all(np.array_equal(found[name][k], one[name]) for name in one)


def test_velocities_start_at_rest_unless_their_size_is_given() -> None:
    words = Words("a b")
    W, V = maps("W", M, words), maps("V", 1, M)
    made = heavy_ball(lambda X: V @ W @ X[0], Data(words, [("a", 1), ("b", -1)]), squared)
    x, given = made.initial_state(omega=0.5), made.initial_state(omega=0.5, dV=0.04)
    for leaf, names in made.matrices.items():
        places = [made.system.names.index(name) for name in names.reshape(-1)]
        assert x[places].any() == (leaf in ("WW", "VV")), leaf
        assert given[places].any() == (leaf in ("WW", "VV", "dVdV")), leaf
    assert given[list(made.system.names).index("dVdV")] == 0.04
    with pytest.raises(ModelError, match="starts at the spread of V, which is not given"):
        made.initial_state(W=1)
