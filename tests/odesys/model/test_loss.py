"""Losses: their slopes, their kinks, and what is no loss."""

from __future__ import annotations

import math

import pytest
import sympy as sp

from odesys.errors import ModelError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.tape import ARRAYS, Tape
from odesys.model.loss import HINGE, LOGISTIC, MARGIN, Loss, as_loss

Z = sp.Symbol("z", real=True)


def at(node: Node, z: float) -> float:
    return float(Tape.of([node]).over(ARRAYS)({"z": z})[0])


@pytest.mark.parametrize("loss", [LOGISTIC, HINGE, as_loss(sp.exp(-Z)), as_loss(sp.Max(0, 1 - Z) ** 2)])
def test_the_slope_is_the_difference_quotient(loss: Loss) -> None:
    for z in (-1.3, 0.2, 2.5):
        assert at(loss.slope, z) == pytest.approx(
            (at(loss.value, z + 1e-6) - at(loss.value, z - 1e-6)) / 2e-6, abs=1e-8
        )


def test_the_named_losses() -> None:
    assert at(LOGISTIC.value, 0.4) == pytest.approx(math.log(1 + math.exp(-0.4)))
    assert (at(HINGE.value, 0.25), at(HINGE.value, 3.0)) == (0.75, 0.0)
    assert graph.surfaces([HINGE.slope]) and not graph.surfaces([LOGISTIC.slope])
    assert as_loss("logistic") is LOGISTIC and as_loss(HINGE) is HINGE


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("square", "'square' is not known"),
        (sp.Symbol("y"), "does not contain the margin z"),
        (None, "a loss is logistic"),
        (max, "a loss is logistic"),
        (lambda z: z, "a loss is logistic"),
        (sp.Integer(3), "does not contain the margin z"),
    ],
)
def test_what_is_no_loss_gets_a_sentence(given: object, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        as_loss(given)


def test_the_margin_is_called_z() -> None:
    assert graph.symbols([MARGIN]) == {"z"}


def test_a_loss_may_be_a_number_of_z_alone_or_a_node() -> None:
    for given in (Z**2, graph.sym("z") ** 2, sp.Symbol("z") ** 2):
        loss = as_loss(given)
        assert at(loss.value, 3.0) == 9.0 and at(loss.slope, 3.0) == 6.0


def test_losses_are_functions_of_output_and_target() -> None:
    """As a function of a program a loss is its value at the margin, the product of both."""
    from odesys import Data, Words, gradient_flow, maps

    words = Words("a")
    w = maps("w", 1, words)
    made = [
        gradient_flow(lambda X: w @ X[0], Data(words, [("a", -1)]), loss).system.equations["w_a"]
        for loss in (LOGISTIC, lambda f, y: HINGE(f, y), lambda f, y: LOGISTIC(f, y), "hinge", as_loss("hinge"))
    ]
    assert made[0] is made[2] and made[1] is made[3] is made[4]
    for z in (-2.0, 0.3, 4.0):
        assert float(graph.evaluate([made[0]], {"w_a": z}, graph.FLOAT_FUNCTIONS, float)[0]) == pytest.approx(
            at(LOGISTIC.slope, -z)
        )


def test_names_and_values_of_given_losses() -> None:
    made = as_loss(sp.exp(-Z))
    assert made.name == "exp(-z)" and made.slope is graph.gradient(made.value, [MARGIN])[0]
    assert (LOGISTIC.name, HINGE.name) == ("logistic", "hinge") and as_loss("hinge") is HINGE
