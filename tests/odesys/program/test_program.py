"""Losses, positions and outputs of a program read whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from odesys import Data, Units, Words, cross_entropy, gradient_flow, hinge, integrate, logistic, maps, squared
from odesys.errors import ModelError
from odesys.program.program import as_criterion

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
