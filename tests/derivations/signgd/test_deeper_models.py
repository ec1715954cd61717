"""The sign-descent paper: gradients and early alignment of deeper models.

Numbers in this file that come from a reading of the paper are compared with, never used.
"""

from __future__ import annotations

import numpy as np
import pytest

from derivations.signgd.setting import published
from derivations.signgd.special import (
    deep_network,
    stages,
)

# ---- deeper models ---------------------------------------------------------------------------------------------------


def _deep_loss(weights: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray, deep: deep_network.Deep) -> float:
    """The loss written by hand, sample by sample; patches are columns."""
    losses = []
    for X, label in zip(x, y, strict=True):
        for l in range(1, deep.layers):
            scores = X.T @ weights[f"k{l}"].T @ weights[f"q{l}"] @ X
            new = weights[f"o{l}"] @ X @ (np.exp(scores) / np.exp(scores).sum(axis=0))
            X = X + new if deep.residual else new
            if deep.mlp:
                new = weights[f"b{l}"] @ np.maximum(weights[f"a{l}"] @ X, 0)
                X = X + new if deep.residual else new
        scores = X.T @ weights["k"].T @ weights["q"] @ X
        rows = weights["v"].shape[0] // 2
        values = (weights["v"][:rows].mean(axis=0) - weights["v"][rows:].mean(axis=0)) @ X
        losses.append(np.logaddexp(0, -label * (values @ (np.exp(scores) / np.exp(scores).sum(axis=0))).sum()))
    return float(np.mean(losses))


@pytest.mark.parametrize("mlp", [False, True])
@pytest.mark.parametrize("residual", [False, True])
def test_gradients_of_deeper_models_are_those_of_differences(mlp: bool, residual: bool) -> None:
    deep, width, m_k, rng = deep_network.Deep(3, mlp, residual), 4, 3, np.random.default_rng(5)
    shapes = {"v": (4, width), "q": (m_k, width), "k": (m_k, width)}
    for l in (1, 2):
        shapes |= {f"q{l}": (m_k, width), f"k{l}": (m_k, width)}
        shapes |= {f"{name}{l}": (width, width) for name in ("oab" if mlp else "o")}
    weights = {name: 0.5 * rng.normal(size=shape) for name, shape in shapes.items()}
    x, y = rng.normal(size=(3, width, 2)), np.array([1.0, -1.0, 1.0])
    readout = np.repeat([1.0, -1.0], 2)[None, :, None] / 2
    made = deep_network.program(m_k, width, deep)
    found = made.gradients(weights, {"E": x, "c": readout}, y[:, None])
    signs = made.signs(weights, {"E": x, "c": readout}, y[:, None])
    assert set(found) == set(shapes)
    for name, w in weights.items():
        place, step = (rng.integers(w.shape[0]), rng.integers(w.shape[1])), 1e-6
        moved = []
        for e in (step, -step):
            other = {key: value.copy() for key, value in weights.items()}
            other[name][place] += e
            moved.append(_deep_loss(other, x, y, deep))
        assert abs((moved[0] - moved[1]) / (2 * step) - found[name][place]) < 1e-7, name
        assert np.array_equal(np.sign(found[name]), signs[name]), name


def test_deeper_models_align_early() -> None:
    """Tables 4 to 11 at widths of ours: most pairs of the first layer are aligned at t = 10."""
    case = published("a", 500)
    for residual in (True, False):
        found = deep_network.train(case, deep_network.Deep(2, False, residual), 2e-4, 10, 1)
        table = stages.contingency(found.run, 10)
        assert table[:, [0, 3]].sum() > 0.85 * table.sum() == 0.85 * case.n * case.m_k
        assert (found.gradient > 0).all()
        quick = deep_network.train(case, deep_network.Deep(2, False, residual), 2e-4, 10, 1, floats=True)
        assert np.array_equal(stages.contingency(quick.run, 10), table)
