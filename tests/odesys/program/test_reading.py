"""Which paths a program reads, and what its blocks are worth; random programs are in the tests of their networks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from odesys import (
    Data,
    OdesysError,
    Sample,
    Space,
    Units,
    Words,
    blocks,
    cross_entropy,
    gradient_flow,
    graph,
    logistic,
    maps,
    norm,
    num,
    relu,
    softmax,
    squared,
    sym,
)
from odesys.program import reading
from odesys.program.program import program_output, read_program
from odesys.program.spaces import Groups
from tests.program_oracle import Dense, Oracle, network, read_values
from tests.random_programs import PARAMETERS, random_program
from tests.typed_programs import CASES

WORDS, M = Words("a b c"), Space("m")
DATA = Data(WORDS, [("a b", 1), ("c b", -1)])
W_K, W_Q = maps("W_K W_Q", M, WORDS)
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def paths(f, data: Data = DATA, loss=logistic) -> set[str]:
    return {str(path) for path in read_program(f, data, loss).tables}


def test_paths_are_read_once_in_one_orientation() -> None:
    assert paths(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum()) == {"E'.W_K'.W_Q.E", "w.E"}
    assert paths(lambda X: (X[0].T @ Z @ X[1]) + (X[1].T @ Z.T @ X[0])) == {"E'.Z.E"}


def test_a_number_and_its_transpose_are_one() -> None:
    """x' Z y = y' Z' x, whichever of the two is met first, so one may stand for the other."""
    one = gradient_flow(lambda X: X[0].T @ Z @ X[1] * 2, DATA, logistic).system
    pairs = [
        lambda X: (X[0].T @ Z @ X[1]) + (X[1].T @ Z.T @ X[0]),
        lambda X: (X[1].T @ Z.T @ X[0]) + (X[0].T @ Z @ X[1]),
        lambda X: (X[1].T @ Z.T @ X[0]) * 2,
    ]
    point = np.random.default_rng(2).normal(size=(3, 3))
    for pair in pairs:
        other = gradient_flow(pair, DATA, logistic).system
        found = []
        for system in (one, other):  # whose states are the entries of Z or of its transpose
            turned = r"Z^\top" in system.tex["Z_a_b"]
            rates = np.reshape(system.compile()(0.0, (point.T if turned else point).ravel()), (3, 3))
            found.append(rates.T if turned else rates)
        assert found[0][0, 1] != 0
        np.testing.assert_allclose(found[1], found[0], rtol=1e-14)


def test_sums_of_maps_and_residual_streams_are_multiplied_out() -> None:
    B, A = maps("B", 1, M), maps("A", M, WORDS)
    assert paths(lambda X: (w + B @ A) @ X[0]) == {"w.E", "B.A.E"}
    assert paths(lambda X: w @ (X[0] + Z @ X[1])) == {"w.E", "w.Z.E"}


def test_products_of_columns_and_rows_associate_either_way() -> None:
    left = gradient_flow(lambda X: w @ (X @ X.T) @ Z @ X[-1], DATA, logistic).system
    right = gradient_flow(lambda X: w @ X @ (X.T @ Z @ X[-1]), DATA, logistic).system
    assert left.names == right.names and left.nodes == right.nodes


def test_counts_are_repeated_tokens() -> None:
    def f(X):
        return w @ X @ softmax(X.T @ Z @ X[-1]) + (w @ X).mean() + (w @ X @ X.T @ Z @ X[-1]) / X.count

    listed = Data(WORDS, [(("b", "a", "a", "c"), 1)])
    counted = Data(WORDS, [Sample(["b", "a", "c"], 1, counts=[1, 2, 1])])
    one, two = (gradient_flow(f, data, logistic).system for data in (listed, counted))
    assert one.names == two.names and one.nodes == two.nodes


def test_real_tokens_are_combinations_of_words() -> None:
    half = Fraction(1, 2)
    real = Data(WORDS, [(({"a": half, "b": 2}, "c"), 1)])

    def f(X):
        return w @ X[0] + X[0].T @ Z @ X[1]

    system = gradient_flow(f, real, squared).system
    x = np.arange(1.0, 1 + system.dimension)
    value = dict(zip(system.names, x, strict=True))
    known = 0.5 * value["w_a"] + 2 * value["w_b"] + 0.5 * value["Z_a_c"] + 2 * value["Z_b_c"]
    assert float(system.with_observables({}).compile()(0.0, x)[system.names.index("w_c")]) == 0.0
    observed = system.observables["f_1"]
    got = graph.substitute([observed], {graph.sym(n): graph.num(Fraction(int(v))) for n, v in value.items()})[0]
    assert float(got.args[0]) == known


def test_norm_of_free_vectors_is_a_path() -> None:
    assert paths(lambda X: (W_K @ X[0]).T @ (W_Q @ X[1]) / norm(W_K @ X[0])) == {"E'.W_K'.W_Q.E", "E'.W_K'.W_K.E"}


def test_cross_entropy_of_a_sure_network_keeps_its_digits() -> None:
    Y = maps("Y", Units("y", 3), WORDS)
    flow = gradient_flow(lambda X: Y @ X[0], Data(WORDS, [("a", 0)]), cross_entropy)
    rates = flow.system.compile()
    x = np.zeros(9)
    x[flow.system.names.index("Y_y1_a")] = 60.0
    rate = dict(zip(flow.system.names, rates(0.0, x), strict=True))
    assert rate["Y_y1_a"] == pytest.approx(2 * np.exp(-60.0), rel=1e-12)


def classes(X):
    return maps("Y", Units("y", 3), WORDS) @ X[0]


def placed(X):
    return maps("v", 1, X.rows) @ X.positions[0]


def counted() -> Data:
    return Data(Words("a b c", positions=2), [Sample(["a", "b"], 1, counts=[1, 2])])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: read_program(lambda X: Z @ X[0], DATA, squared), "is in the space of the words a"),
        (lambda: read_program(lambda X: 3, DATA, squared), "returns int"),
        (lambda: read_program(lambda X: X[0].T @ X[1], DATA, squared), "reads no map"),
        (lambda: read_program(lambda X: w @ X[0], [("a", 1)], squared), "is trained on Data"),
        (lambda: read_program(lambda X: w @ X[0], DATA, lambda f, y: 3), "a function \\(f, y\\) that returns numbers"),
        (lambda: read_program(lambda X: w @ X[0], DATA, lambda f: f), "a loss is a function"),
        (lambda: read_program(lambda: w, DATA, squared), "a program is a function of the tokens"),
        (lambda: read_program(lambda X: w @ X[0], Data(WORDS, [("a", 0)]), logistic), "takes signs \\+1 and -1"),
        (lambda: read_program(classes, Data(WORDS, [("a", [1, 1, 0])]), cross_entropy), "sums to 2"),
        (lambda: read_program(classes, Data(WORDS, [("a", [2, -1, 0])]), cross_entropy), "has the entry -1"),
        (lambda: read_program(classes, Data(WORDS, [("a", 0)]), lambda f, y: (f - y) @ (f - y).T), "is a table of"),
        (lambda: read_program(placed, counted(), squared), "no position of its own"),
        (
            lambda: read_program(
                lambda X: w @ X[0] + maps("w", 1, Words("x y")).T.T @ Words("x y").all[0], DATA, squared
            ),
            "same name E|two maps are called w",
        ),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_products_of_columns_and_rows_compose_in_any_order() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    data = Data(words, [(({"a": 2, "b": 1}, "b"), 1)])
    left = gradient_flow(lambda X: (w @ (X @ X.T @ (X @ X.T)) @ X).sum(), data, squared)
    right = gradient_flow(lambda X: (X.T @ (X @ X.T @ (X @ X.T)).T @ w.T).sum(), data, squared)
    assert all(a is b for a, b in zip(left.system.nodes, right.system.nodes, strict=True))


GIVEN = {**PARAMETERS, "s": 0.3, "T": 1.7}


def check_values(program: Any, seed: int) -> None:
    """Loss and outputs are those of dense weights, one sample at a time."""
    weights, frames = network(program, seed)
    found = read_values(program, weights, frames, GIVEN)
    assert found["loss"] == pytest.approx(Oracle(program, frames, GIVEN).loss(weights), rel=1e-9, abs=1e-9)
    for place, sample in enumerate(program.data.samples, start=1):
        if sample.counts is not None:
            continue
        output = program_output(program.function, program.data, len(sample.tokens))
        wanted = Dense(program.data, sample, weights, frames, GIVEN).value(output)
        shown = [name for name in found if name.startswith((f"f_{place}_", f"margin_{place}_"))]
        if f"margin_{place}" in found:
            assert found[f"margin_{place}"] == pytest.approx(sample.label * wanted.item(), rel=1e-9, abs=1e-9)
        elif f"f_{place}" in found:
            assert found[f"f_{place}"] == pytest.approx(wanted.item(), rel=1e-9, abs=1e-9)
        else:
            np.testing.assert_allclose([found[name] for name in shown], wanted.ravel(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_typed_program_is_worth_what_dense_weights_say(name: str) -> None:
    function, data, loss, _ = CASES[name]()
    check_values(read_program(function, data, loss), 1)


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_random_programs_are_worth_what_dense_weights_say(first: int) -> None:
    read = 0
    for seed in range(first, first + 10):
        case = random_program(seed)
        try:
            program = read_program(case.function, case.data, case.loss)
        except OdesysError:
            continue  # no output, or none that reads a map
        print(seed)
        check_values(program, seed)
        read += 1
    assert read >= 7


half, AXES = Fraction(1, 2), Units("r", 2)
LISTED, OUT, N, Y = maps("L", AXES, WORDS), maps("O", 1, AXES), maps("N", WORDS, M), maps("Y", Units("y", 3), AXES)
A, B = maps("A B", M, WORDS)
SOME = Data(WORDS, [(("a", {"b": half, "c": 2}, "-c"), 1), (("b", "a", "c"), -1)])
WAYS: dict[str, Callable[[Any], Any]] = {
    "a sum of operators": lambda X: X[0].T @ (Z + W_K.T @ W_Q) @ X[1],
    "a sum of operators with numbers": lambda X: X[0].T @ (2 * Z + W_K.T @ W_Q * (w @ X[2])) @ X[1],
    "operators composed": lambda X: X[0].T @ ((2 * Z + X @ X.T) @ (Z.T * 3 + W_K.T @ W_Q)) @ X[1],
    "columns and rows": lambda X: w @ (X @ X.T @ Z + Z @ (X[0] @ X[1].T)) @ X[2],
    "columns and rows times a number": lambda X: w @ ((X @ X.T) * (w @ X[0])) @ X[1],
    "an operator on mixed columns": lambda X: (w @ (Z * (w @ X[0])) @ X @ softmax(X.T @ Z @ X)).sum(),
    "a map with two listed sides": lambda X: (OUT @ maps("T", AXES, AXES) @ LISTED @ X).sum(),
    "and its transpose": lambda X: (OUT @ maps("T", AXES, AXES).T @ LISTED @ X).sum(),
    "and both": lambda X: (OUT @ (maps("T", AXES, AXES).T @ maps("T", AXES, AXES)) @ LISTED @ X).sum(),
    "a map to numbers": lambda X: (X.T @ maps("v", WORDS, 1)).sum() + OUT @ LISTED @ X[0],
    "a map from numbers": lambda X: ((A @ X).T @ maps("q", M, 1)).sum(),
    "listed columns through a free space": lambda X: (maps("C", AXES, M) @ A @ X[0]).sum(),
    "words": lambda X: (w @ WORDS.all).sum() + (WORDS.all.T @ Z @ X).sum(0).sum(),
    "some words": lambda X: (w @ WORDS.all[1:]).sum() + (WORDS.all[::-2].T @ Z @ X[1]).sum() + w @ WORDS.all[2],
    "a column added to all": lambda X: (w @ (X + Z @ X[0]) @ softmax(X.T @ Z @ (X + X[1]))).sum(),
    "a mixed column added to all": lambda X: (w @ (X + X @ softmax(X.T @ Z @ X[0])) * [1, -2, 3]).sum(),
    "columns of columns": lambda X: w @ X[1:][::-1][0] - 2 * (w @ X[::-1][:2]).sum(),
    "columns of scaled columns": lambda X: w @ (X * [1, -2, half])[1:][0] + (w @ (X * (w @ X))[:2]).sum(),
    "columns of mixed columns": lambda X: (w @ (X @ softmax(X.T @ Z @ X))[1:]).sum(),
    "columns of a table": lambda X: relu(LISTED @ X)[2].sum() + OUT @ (LISTED @ X)[1:][0],
    "columns scaled twice": lambda X: (w @ (Z @ (X * [1, 2, 3]) * [2, half, -1])).sum(),
    "mixed columns scaled": lambda X: (w @ (X @ softmax(X.T @ Z @ X) * [2, half, -1])).sum(),
    "rows scaled": lambda X: (([[1], [2], [-1]] * X.T) @ w.T).sum(),
    "rows of mixed columns": lambda X: (relu(LISTED @ X).T @ LISTED @ Z @ X).sum(),
    "a table times rows": lambda X: (softmax(X.T @ Z @ X) @ X.T @ w.T).sum(),
    "rows summed": lambda X: X.T.sum(0) @ w.T + relu(LISTED @ X).sum(0)[1] + (w @ X).sum(0)[0],
    "one token summed": lambda X: X[:1].sum(1).T @ w.T + relu(LISTED @ X[0]).sum(1).sum(0),
    "norms of free and listed columns": lambda X: (norm(A @ X + B @ X[0]) / (1 + norm(LISTED @ X))).sum(),
    "means": lambda X: X.mean(1).T @ w.T + relu(LISTED @ X).mean() + relu(LISTED @ X).mean(0)[0],
    "how many": lambda X: w @ X[0] / X.count + (w @ X[1]) * X[1:].count,
    "a mask": lambda X: (w @ X @ softmax(X.T @ Z @ X, mask=lambda k, q: k != q)).sum(),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_operation_is_worth_what_dense_weights_say(name: str) -> None:
    for loss in (logistic, squared):
        check_values(read_program(WAYS[name], SOME, loss), 3)


def test_every_operation_counts_tokens_that_stand_for_several() -> None:
    """Those that say at which place a token stands are refused."""
    read, refused = [], []
    for name, function in WAYS.items():
        data = Data(SOME.words, [Sample(s.tokens, s.label, s.weight, counts=[1, 1, 3]) for s in SOME.samples])
        try:
            program = read_program(function, data, squared)
        except OdesysError as problem:
            assert "no position of its own" in str(problem), name
            refused.append(name)
        else:
            check_values(program, 4)
            read.append(name)
    assert len(read) == len(WAYS) - len(refused) and set(refused) == {
        "a sum of operators with numbers",
        "columns and rows",
        "a mixed column added to all",
        "columns of columns",
        "columns of scaled columns",
        "columns of a table",
        "columns scaled twice",
        "mixed columns scaled",
        "rows scaled",
        "a mask",
    }


def test_inner_products_of_the_words_enter_where_no_map_stands_between() -> None:
    words = Words("a b c", [[2, half, 0], [half, 1, half], [0, half, 3]])
    v = maps("v", 1, words)
    for f in (
        lambda X: (v @ X @ (X.T @ X)).sum(),
        lambda X: v @ X @ softmax(X.T @ X[0]) + (words.all.T @ X).sum() * (v @ X[1]),
        lambda X: v @ X[0] / norm(X[1]) + v @ words.all @ relu(words.all.T @ X[2]),
    ):
        check_values(read_program(f, Data(words, SOME.samples), squared), 5)


# ---- axes that stand for several -----------------------------------------------------------------------------------

COPIES = 3
COUNTED, SPREAD = Words("a b", groups=Groups(1, 2, num(COPIES))), Words("a b b2 b3")
FAMILY: dict[str, Callable[[Any, Words, Units, Any], Any]] = {
    "outputs summed": lambda X, words, y, U: relu(U @ X[0]).sum(),
    "outputs and tokens summed": lambda X, words, y, U: relu(U @ X).sum(),
    "outputs averaged": lambda X, words, y, U: relu(U @ X[0]).mean(),
    "a length": lambda X, words, y, U: norm(U @ X[0]),
    "a softmax": lambda X, words, y, U: (softmax(U @ X) ** 2).sum(),
    "a product": lambda X, words, y, U: (U @ X[0]).T @ relu(U @ X[1]),
    "a product with a softmax": lambda X, words, y, U: (U @ X[0]).T @ softmax(U @ X[1]),
    "a softmax in front": lambda X, words, y, U: softmax(U @ X[1]).T @ (U @ X[0]),
    "words": lambda X, words, y, U: (maps("v", 1, words) @ words.all).sum(),
    "words with weights": lambda X, words, y, U: maps("v", 1, words) @ words.all @ softmax(
        words.all.T @ maps("Z", words, words) @ X[0]
    ),
    "words as rows": lambda X, words, y, U: (words.all.T @ maps("Z", words, words) @ X).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILY)
def test_an_axis_that_stands_for_several_is_as_many_equal_axes(name: str) -> None:
    found = []
    for words, y in ((COUNTED, Units("y", COUNTED)), (SPREAD, Units("y", 4))):
        U = maps("U", y, words)
        program = read_program(partial(FAMILY[name], words=words, y=y, U=U), Data(words, [("a b", 1)]), squared)
        leaves = {}
        for path in program.tables:
            few = np.random.default_rng(len(str(path))).normal(size=(2 if path.left != "one" else 1, 2))
            many = [1, COPIES] if words is SPREAD else [1, 1]
            rows = np.repeat(few, many, axis=0) if len(few) == 2 else few
            leaves[str(path)] = np.repeat(rows, many, axis=1)
            assert leaves[str(path)].shape == program.tables[path].shape
        found.append(blocks.evaluate([program.loss, program.observables["f_1"]], leaves, {}))
    for counted, spread in zip(*found, strict=True):
        np.testing.assert_allclose(counted, spread, rtol=1e-12)


def test_classes_that_stand_for_several_are_as_many_classes() -> None:
    found = []
    for words, y, many in ((COUNTED, Units("y", COUNTED), [1, 1]), (SPREAD, Units("y", 4), [1, COPIES])):
        U = maps("U", y, words)
        program = read_program(lambda X, U=U: U @ X[0], Data(words, [("a", 0), ("b", 0)]), cross_entropy)
        table = np.repeat(np.repeat(np.array([[0.3, -1.2], [2.0, 0.7]]), many, axis=0), many, axis=1)
        found.append(blocks.evaluate([program.loss], {"U.E": table, "y'.U.E": table}, {})[0])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda words, U, Z: (words.all.T @ Z @ words.all).sum(1).sum(0), "over the 2 word of a family.* leaves 2 w"),
        (lambda words, U, Z: softmax(words.all.T @ Z @ words.all).sum(), "of a family, one for each group"),
        (lambda words, U, Z: norm(U @ words.all).sum(), "of a family"),
(lambda words, U, Z: words.all @ relu(words.all.T @ Z @ words.all[0]), "leaves the space of the words"),
        (lambda words, U, Z: (U @ words.all) @ relu(words.all.T @ Z @ words.all[0]), "leaves 2 y, which may be of the"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_sum_over_counted_axes_is_of_no_group(make, words: str) -> None:
    U, Z = maps("U", Units("y", COUNTED), COUNTED), maps("Z", COUNTED, COUNTED)

    def f(X: Any) -> Any:
        made = make(COUNTED, U, Z)
        return made if getattr(made.rows, "size", 0) == 1 else (maps("v", 1, made.rows) @ made).sum()

    with pytest.raises(OdesysError, match=words):
        read_program(f, Data(COUNTED, [("a", 1)]), squared)


# ---- the loss of classes -------------------------------------------------------------------------------------------


def entropy(target: Any, output: np.ndarray, counts: Any = None) -> np.ndarray:
    block = reading.cross_entropy(blocks.leaf("f", output.shape), blocks.constant(target), counts)
    return blocks.evaluate([block], {"f": output}, {"p": 0.3})[0]


@pytest.mark.parametrize(
    "target",
    [
        [[[1], [0], [0]], [[0], [0], [1]]],
        [[[half], [Fraction(1, 4)], [Fraction(1, 4)]], [[0], [Fraction(1, 3)], [Fraction(2, 3)]]],
        [[[half], [half], [0]], [[0], [0], [1]]],
        [[[half, 1, 0], [half, 0, 0], [0, 0, 1]], [[0, Fraction(1, 5), 1], [1, Fraction(4, 5), 0], [0, 0, 0]]],
        [[["p"], [1 - sym("p")], [0]], [[0], [1], [0]]],
        [[[0.1], [0.2], [0.7]], [[0.25], [0.5], [0.25]]],
    ],
)
def test_cross_entropy_is_that_of_the_softmax(target: Any) -> None:
    numbers = np.array(
        [[[graph.evaluate([graph.as_node(e)], {"p": 0.3}, {}, float)[0] for e in row] for row in s] for s in target]
    )
    output = np.random.default_rng(1).normal(size=numbers.shape) * 3
    log_shares = output - np.log(np.exp(output).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(entropy(target, output), -(numbers * log_shares).sum(axis=1, keepdims=True), rtol=1e-12)


def test_under_probabilities_a_sure_network_keeps_its_digits_too() -> None:
    tiny = Fraction(1, 10**12)
    loss = entropy([[[1 - tiny], [tiny]]], np.array([[[50.0], [0.0]]]))
    assert loss.item() == pytest.approx(np.log1p(np.exp(-50.0)) + 50e-12, rel=1e-9)


def test_counted_classes_take_classes_only_and_targets_are_probabilities() -> None:
    counts, output = blocks.constant([[[1], [3]]]), np.array([[[0.4], [-0.3]]])
    shares = np.exp(0.4) + 3 * np.exp(-0.3)
    assert entropy([[[1], [0]]], output, counts).item() == pytest.approx(np.log(shares) - 0.4, rel=1e-12)
    with pytest.raises(OdesysError, match="classes that are counted, one for each group of a family, have classes as"):
        entropy([[[half], [half]]], output, counts)
    for wrong, words in (
        ([[[1], [0]], [[1], [1]]], "sums to 2"),
        ([[[1, half], [0, 0]]], "sums to 1/2"),
        ([[[2], [-1]]], "has the entry -1"),
    ):
        with pytest.raises(OdesysError, match=words):
            entropy(wrong, np.zeros(np.shape(wrong)))


def test_names_of_sets_and_maps_are_told_apart() -> None:
    other = Words("x y")
    with pytest.raises(
        OdesysError, match=r"^Words\(a b c\) and Words\(x y\) have the same name E; give one of them an"
    ):
        read_program(lambda X: w @ X[0] + maps("u", 1, other) @ other.all[0], DATA, squared)
    with pytest.raises(OdesysError, match=r"^two maps are called w, with different rows or columns; give one another"):
        read_program(lambda X: w @ X[0] + maps("w", 1, AXES) @ LISTED @ X[1], DATA, squared)
    named = Words("x", name="F")
    with pytest.raises(
        OdesysError, match=r"^the vectors F and E have no inner products of their own; put a map between"
    ):
        read_program(
            lambda X: w @ X[0] + (named.all.T @ maps("R", named, M) @ (A @ X[0])) * 0 + _bare(named, X), DATA, squared
        )


def _bare(named: Words, X: Any) -> Any:
    """Inner products of two sets of words, as if they were of one space."""
    return reading.Expr("matmul", (named.all.T, X[0]), named.all.columns, X[0].columns)


@pytest.mark.parametrize(
    "function",
    [
        lambda X, v: (v @ X * [1, 2]).sum(),
        lambda X, v: ([[1, 2]] * (v @ X)).sum(),
        lambda X, v: (v @ X + [1, 2]).sum(),
        lambda X, v: v @ X @ [1, 2],
        lambda X, v: ([[1, 2]] @ X.T @ v.T).sum(),
        lambda X, v: v @ X.positions[0],
    ],
)
def test_a_table_with_an_entry_for_each_token_needs_tokens_that_stand_for_one(function: Any) -> None:
    data = counted()
    v = maps("v", 1, data.words)
    with pytest.raises(
        OdesysError, match=r"^a token that stands for several has no position of its own; list every tok"
    ):
        read_program(lambda X: function(X, v), data, squared)
    assert read_program(lambda X: (v @ X * 2 + 1).sum() + v @ X[0], data, squared).tables


def test_a_table_says_whether_it_is_the_transpose() -> None:
    reads = reading.Reads()
    assert reads.pin(WORDS) == reads.pins["E"] and reads.pin(AXES).labels == ("r1", "r2")
    path = reading.Path("r", (maps("L", AXES, WORDS).data,), "E")
    leaf, turned = reads.table(path)
    assert leaf.shape == (2, 3) and not turned
    assert reads.table(path) == (leaf, False) and reads.table(path.T) == (leaf, True)
    assert reading.pin_of(WORDS).gram is None and reading.pin_of(AXES).gram is None
    known = reading.pin_of(Words("a b", [[2, 0.0], [0.0, 0.5]])).gram
    assert (
        known is not None
        and known[0, 1] is graph.ZERO
        and known[1, 0] is graph.ZERO
        and float(known[1, 1].args[0]) == half
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda X: (w @ X @ softmax(X.T @ Z @ X[-1])).sum(),
        lambda X: (X[-1].T @ X[-1]) * (w @ X[0]),
        lambda X: w @ X[1],
        lambda X: (w @ X)[-1],
        lambda X: w @ X[1:][0],
        lambda X: sum(w @ x for x in X),
        lambda X: (w @ (X[:1] + X[1:])).sum(),
        lambda X: (w @ X[:1] * (w @ X[1:])).sum(),
        lambda X: w @ X[1:] @ [[2]],
        lambda X: (w @ X[:1] @ softmax(X[1:].T @ Z @ X[:1])).sum(),
        lambda X: (w @ (X * (w @ X[1:]))).sum(),
        lambda X: (w @ X @ softmax(X.T @ Z @ X, mask=lambda k, q: k <= q)).sum(),
    ],
)
@pytest.mark.parametrize("counts", [[1, 3], [1, Fraction(1, 2)], ["n", "m"]])
def test_a_counted_token_is_not_taken_by_its_place(function: Callable[[Any], Any], counts: list[Any]) -> None:
    """Where it has the count 1 it is: the answer is that without counts."""
    data = Data(WORDS, [Sample(["a", "b"], 1, counts=counts)])
    with pytest.raises(OdesysError, match="no position of its own"):
        read_program(function, data, squared)
    one, two = (
        gradient_flow(function, Data(WORDS, [Sample(["a", "b"], 1, counts=given)]), squared).system
        for given in ([1, 1], None)
    )
    assert one.names == two.names and one.nodes == two.nodes


def test_products_with_one_counted_token_have_its_count_in_either_order() -> None:
    v = maps("v", 1, WORDS)
    wide = Data(WORDS, [Sample(["a"], 1, counts=[3])])
    listed = Data(WORDS, [("a a a", 1)])
    for function in (
        lambda X: ((w @ X) * (v @ WORDS["b"])).sum(),
        lambda X: ((v @ WORDS["b"]) * (w @ X)).sum(),
        lambda X: (w @ (X * (v @ WORDS["b"]))).sum(),
    ):
        one, two = (gradient_flow(function, data, squared).system for data in (wide, listed))
        x = np.random.default_rng(0).normal(size=one.dimension)
        assert one.names == two.names
        np.testing.assert_allclose(one.compile()(0.0, x), two.compile()(0.0, x), rtol=1e-12)
