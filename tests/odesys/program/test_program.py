"""Losses, positions and outputs of a program read whole."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from odesys import (
    Data,
    Gaussian,
    Sample,
    Space,
    Units,
    Words,
    blocks,
    cross_entropy,
    gradient_flow,
    hinge,
    integrate,
    logistic,
    maps,
    relu,
    squared,
    sym,
)
from odesys.errors import ModelError
from odesys.program.program import as_criterion, program_output, read_groups, read_program, sample_losses
from odesys.program.spaces import Groups
from tests.program_oracle import Oracle, network, product, read_values
from tests.typed_programs import CASES

WORDS = Words("a b")
w, Y = maps("w", 1, WORDS), maps("Y", Units("y", 3), WORDS)
POINT = np.random.default_rng(3).normal(size=6)


def loss_at(f, data: Data, loss, x: np.ndarray) -> float:
    system = gradient_flow(f, data, loss).system
    return integrate(system, x[: system.dimension], (0.0, 0.0 + 1e-12)).observable("loss")[0]


def test_losses_sum_over_outputs_and_average_over_positions_and_samples() -> None:
    data = Data(WORDS, [("a b", [0, 2]), ("b a", [1, 1])])
    y = POINT.reshape(3, 2)  # rows classes, columns words
    log_sum = [math.log(np.exp(y[:, k]).sum()) for k in (0, 1)]
    each = [log_sum[0] - y[0, 0], log_sum[1] - y[2, 1], log_sum[1] - y[1, 1], log_sum[0] - y[1, 0]]
    assert loss_at(lambda X: Y @ X, data, cross_entropy, POINT) == pytest.approx(np.mean(each), rel=1e-12)
    onehot = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])
    outputs = np.array([y[:, 0], y[:, 1], y[:, 1], y[:, 0]])
    known = ((outputs - onehot) ** 2).sum(axis=1).mean() / 2
    assert loss_at(lambda X: Y @ X, data, squared, POINT) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize(
    ("loss", "known"),
    [
        (logistic, lambda z: np.logaddexp(0, -z)),
        (hinge, lambda z: max(0.0, 1 - z)),
        (lambda f, y: (f - y) ** 4, None),
    ],
)
def test_losses_of_one_number(loss, known) -> None:
    data, x = Data(WORDS, [("a", 1), ("b", -1)]), np.array([0.3, 0.8])
    margins = [x[0], -x[1]]
    expected = np.mean([known(z) for z in margins]) if known else np.mean([(x[0] - 1) ** 4, (x[1] + 1) ** 4])
    assert loss_at(lambda X: w @ X[0], data, loss, x) == pytest.approx(expected, rel=1e-10)


def test_observables_are_margins_or_outputs() -> None:
    one = gradient_flow(lambda X: w @ X[0], Data(WORDS, [("a", 1), ("b", -1)]), logistic).system
    assert list(one.observables) == ["loss", "margin_1", "margin_2"]
    many = gradient_flow(lambda X: Y @ X, Data(WORDS, [("a b", [0, 1])]), cross_entropy).system
    assert list(many.observables)[:3] == ["loss", "f_1_y1_at1", "f_1_y1_at2"]


def test_a_loss_that_is_not_known_says_which_are() -> None:
    with pytest.raises(
        ModelError, match="the loss 'crossentropy' is not known; use logistic, hinge, squared, cross_en"
    ):
        as_criterion("crossentropy")


GIVEN = {"s": 0.3, "T": 1.7}


@pytest.mark.parametrize("name", CASES)
def test_losses_of_single_samples_add_up_with_their_weights(name: str) -> None:
    function, data, loss, _ = CASES[name]()
    program = read_program(function, data, loss)
    weights, frames = network(program, 2)
    leaves = {str(path): product(path, weights, frames) for path in program.tables}
    each = [float(np.asarray(v).item()) for v in blocks.evaluate(sample_losses(program), leaves, GIVEN)]
    whole = sum(float(w) * value for w, value in zip(data.weights, each, strict=True))
    wanted = read_values(program, weights, frames, GIVEN)["loss"]
    assert len(each) == len(data) and whole == pytest.approx(wanted, rel=1e-12)
    assert wanted == pytest.approx(Oracle(program, frames, GIVEN).loss(weights), rel=1e-9)


def test_outputs_have_names_in_the_order_of_the_samples() -> None:
    """By sample, by axis where there are several, by position where there are several; lengths may differ."""
    data = Data(WORDS, [("a b", 1), ("a", 1), ("b a", 0)])
    U = maps("U", Units("u", 2), WORDS)
    for function, wanted in (
        (
            lambda X: Y @ X[0],
            ["f_1_y1", "f_1_y2", "f_1_y3", "f_2_y1", "f_2_y2", "f_2_y3", "f_3_y1", "f_3_y2", "f_3_y3"],
        ),
        (lambda X: w @ X[0], ["f_1", "f_2", "f_3"]),
        (lambda X: (U @ X).T[0].T, ["f_1_at1", "f_1_at2", "f_2", "f_3_at1", "f_3_at2"]),
        (lambda X: X.T @ U.T, None),
    ):
        program = read_program(function, data, squared) if wanted else None
        if program is not None:
            assert list(program.observables) == ["loss", *wanted]
    pairs = Data(WORDS, [("a b", [[1, 2], [3, 4]])])
    assert list(read_program(lambda X: X.T @ U.T, pairs, squared).observables)[1:] == [
        "f_1_1_at1", "f_1_1_at2", "f_1_2_at1", "f_1_2_at2"
    ]  # fmt: skip
    program = read_program(
        lambda X: w @ X[0], data, squared, {"second": lambda X: w @ X[-1], "all": lambda X: U @ X[0]}
    )
    assert list(program.observables)[4:7] == ["second_1", "second_2", "second_3"]
    assert list(program.observables)[7:9] == ["all_1_u1", "all_1_u2"] and program.maps == ("w", "U")
    found = blocks.evaluate(
        list(program.observables.values()), {"w.E": np.array([[2.0, 5.0]]), "u'.U.E": np.eye(2), "U.E": np.eye(2)}, {}
    )
    values = dict(zip(program.observables, (float(np.asarray(v).item()) for v in found), strict=True))
    assert [values[f"f_{k}"] for k in (1, 2, 3)] == [2, 2, 5] and [values[f"second_{k}"] for k in (1, 2, 3)] == [
        5,
        2,
        2,
    ]
    assert [values[f"all_{k}_u1"] for k in (1, 2, 3)] == [1, 1, 0]


def test_margins_are_targets_times_outputs_for_losses_of_the_margin_alone() -> None:
    data = Data(WORDS, [("a", 1), ("b", -1)])
    for loss, names in (
        (logistic, ["margin_1", "margin_2"]),
        ("hinge", ["margin_1", "margin_2"]),
        ("squared", ["f_1", "f_2"]),
    ):
        program = read_program(lambda X: w @ X[0], data, loss)
        assert list(program.observables)[1:] == names
        seen = blocks.evaluate(list(program.observables.values())[1:], {"w.E": np.array([[2.0, 5.0]])}, {})
        assert [float(np.asarray(v).item()) for v in seen] == ([2, -5] if names[0] == "margin_1" else [2, 5])
    two = read_program(lambda X: Y @ X[0], Data(WORDS, [("a", [1, -1, 1])]), logistic)
    assert list(two.observables)[1:] == ["f_1_y1", "f_1_y2", "f_1_y3"]


def test_what_a_function_shows_of_itself_is_read_for_every_length() -> None:
    def f(X):
        return w @ X[0]

    f.shown = {"last": lambda X: w @ X[-1]}
    data = Data(WORDS, [("a b", 1), ("b", -1)])
    reads, parts, outputs = read_groups(
        f, WORDS, data.groups(), as_criterion("squared"), {"sum": lambda X: (w @ X).sum()}
    )
    assert list(outputs) == ["f_1", "f_2", "last_1", "last_2", "sum_1", "sum_2"]
    assert len(parts) == 2 and [str(path) for path in reads.tables] == ["w.E"]


def test_classes_may_be_words_of_their_group_or_axes() -> None:
    words = Words("a b p q r", groups=Groups(1, 2))
    U = maps("U", Units("y", words), words)
    found = [
        read_program(lambda X: U @ X[0], Data(words, [("r", target)]), cross_entropy).loss for target in (1, "b", "y2")
    ]
    values = blocks.evaluate(found, {"y'.U.E": np.arange(10.0).reshape(2, 5), "U.E": np.arange(10.0).reshape(2, 5)}, {})
    assert values[0] == values[1] == values[2] and values[0].item() == pytest.approx(math.log1p(math.exp(-5.0)))
    with pytest.raises(ModelError, match="the target 'p' of"):
        read_program(lambda X: U @ X[0], Data(words, [("r", "p")]), cross_entropy)
    tokens = Data(WORDS, [("a b", "token 2")])
    assert read_program(lambda X: X.T @ w.T, tokens, cross_entropy).tables


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: as_criterion(None),
            "a loss is logistic, hinge, squared, cross_entropy, or a function (f, y) of your own",
        ),
        (
            lambda: read_program(lambda X: w @ X[0], [("a", 1)], squared),
            "a program is trained on Data(words, samples) or Gaussian, not on list",
        ),
        (lambda: read_program(lambda X: 3, DATA, squared), "the program returns int, not an expression in X and maps"),
        (
            lambda: program_output(lambda X: X, DATA, 2),
            "the output X is in the space of the words a, b, whose axes are not listed: read it out with a map from "
            "it, or take inner products with words.all",
        ),
        (
            lambda: program_output(lambda X: X.T @ maps("R", WORDS, Space("m")), DATA, 2),
            "the output X.T @ R is in the space m, whose axes are not listed: read it out with a map from it, or take "
            "inner products with words.all",
        ),
        (
            lambda: read_program(lambda X: X[0].T @ X[0], DATA, squared),
            "the output reads no map, so there is nothing to train; write f with maps(...)",
        ),
        (
            lambda: read_program(lambda X: w @ X[0], Data(WORDS, [Sample(["a"], 0, name="odd")]), logistic),
            "the loss logistic takes signs +1 and -1, but the target of odd is 0",
        ),
        (
            lambda: read_program(lambda X: w @ X, Data(WORDS, [("a b", [1, Fraction(1, 2)])]), logistic),
            "the loss logistic takes signs +1 and -1, but the target of (a, b) is 1/2",
        ),
        (
            lambda: read_program(lambda X: Y @ X[0], DATA, lambda f, y: f @ (f - y).T),
            "the loss Y @ X[0] @ (Y @ X[0] + -1 * y).T is a table of 3 y by 3 y; a loss is one number, or one for each "
            "entry or column of the output, e.g. ((f - y) ** 2).sum(0)",
        ),
        (
            lambda: read_program(lambda X: w @ X[0], DATA, lambda f, y: X_OF_WORDS),
            "a loss is a function (f, y) that returns numbers: an expression in the output and the target",
        ),
        (
            lambda: read_program(lambda X: w @ X[0], GAUSSIAN, logistic),
            "the loss logistic is no polynomial in the output, so its mean over Gaussian tokens is no finite sum of "
            "moments; take a polynomial such as squared, or a finite sample: Data(Words(..., gram=...), samples)",
        ),
        (
            lambda: read_program(lambda X: relu(w @ X[0]), GAUSSIAN, logistic),  # the output is none either
            "relu, with its kink, is no polynomial, so its mean over Gaussian tokens is no finite sum of moments; a "
            "finite sample with its Gram matrix is the way there: Data(Words(..., gram=...), samples)",
        ),
    ],
)
def test_what_can_not_be_read_is_said(make, sentence: str) -> None:
    with pytest.raises(ModelError, match=f"^{re.escape(sentence)}$"):
        make()


DATA, X_OF_WORDS = Data(WORDS, [("a b", 1)]), WORDS.all
GAUSSIAN = Gaussian(WORDS, [{"a": sym("x")}], target=1)


def test_a_loss_per_entry_column_or_sample_is_averaged_over_columns_and_summed_over_rows() -> None:
    data = Data(WORDS, [("a b", [[1, 2, 0], [0, 1, 1]])])
    table = np.arange(6.0).reshape(3, 2)
    y = np.array([[1, 2, 0], [0, 1, 1]]).T
    for loss, wanted in (
        (lambda f, y: (f - y) ** 2, ((table - y) ** 2).sum(axis=0).mean()),
        (lambda f, y: ((f - y) ** 2).sum(0), ((table - y) ** 2).sum(axis=0).mean()),
        (lambda f, y: ((f - y) ** 2).sum(1), ((table - y) ** 2).sum()),
        (lambda f, y: ((f - y) ** 2).sum() / 7, ((table - y) ** 2).sum() / 7),
    ):
        program = read_program(lambda X: Y @ X, data, loss)
        (value,) = blocks.evaluate([program.loss], {"Y.E": table, "y'.Y.E": table}, {})
        assert value.shape == (1, 1) and value.item() == pytest.approx(wanted, rel=1e-12)
