"""Activations, softmax and losses against what they should be, and sentences for what they can not be."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from odesys import Data, OdesysError, Units, Words, function, gradient_flow, graph, maps, norm, relu, softmax, squared
from odesys.program.functions import check_call

WORDS = Words("a b c")
W, V = maps("W", Units("r", 2), WORDS), maps("V", 1, Units("r", 2))
DATA = Data(WORDS, [("a b", 2), ("c a", -1)])
z = sp.Symbol("z")
NAMES = [*(f"W_r{r}_{w}" for r in (1, 2) for w in "abc"), "V_r1", "V_r2"]
VALUES = {name: 0.1 * (k + 1) * (-1) ** k for k, name in enumerate(NAMES)}


def output(f) -> float:
    """The first output at fixed states."""
    system = gradient_flow(f, DATA, squared).system
    return float(graph.evaluate([system.observables["f_1"]], VALUES, graph.FLOAT_FUNCTIONS)[0])


def weights() -> tuple[np.ndarray, np.ndarray]:
    first = np.array([[VALUES[f"W_r{r}_{w}"] for w in "abc"] for r in (1, 2)])
    return first, np.array([VALUES["V_r1"], VALUES["V_r2"]])


@pytest.mark.parametrize(
    ("activation", "known"),
    [
        (relu, lambda x: np.maximum(x, 0)),
        (function(sp.tanh(z)), np.tanh),
        (function(z**3 - z), lambda x: x**3 - x),
        (function(sp.Max(z, z / 10)), lambda x: np.maximum(x, x / 10)),
    ],
)
def test_activations(activation, known) -> None:
    first, second = weights()
    assert output(lambda X: V @ activation(W @ X[0])) == pytest.approx(second @ known(first[:, 0]), rel=1e-12)


def test_norm_of_listed_columns() -> None:
    first, second = weights()
    expected = second @ first[:, 0] / np.linalg.norm(first[:, 0])
    assert output(lambda X: V @ (W @ X[0]) / norm(W @ X[0])) == pytest.approx(expected, rel=1e-12)


def test_softmax_over_units() -> None:
    first, second = weights()
    share = np.exp(first[:, 0]) / np.exp(first[:, 0]).sum()
    assert output(lambda X: V @ softmax(W @ X[0])) == pytest.approx(second @ share, rel=1e-12)


def test_functions_are_asked_for_their_arguments() -> None:
    check_call(lambda f, y: f, 2, "a loss", "(f, y)")
    check_call(max, 2, "a loss", "(f, y)")  # it does not tell
    with pytest.raises(OdesysError, match="a loss is a function"):
        check_call(lambda f: f, 2, "a loss", "(f, y)")
