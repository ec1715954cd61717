"""Runs as pictures: the loss by default, smooth curves, switches and slides marked, wrong names refused first."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import EquationError, System, integrate, iterate, join_trajectories, sym


def decay() -> System:
    return System.from_equations({"x": -sym("x")}, observables={"loss": sym("x") ** 2})


def test_the_loss_is_drawn_by_default_and_curves_are_smooth() -> None:
    run = integrate(decay(), [1.0], (0.0, 5.0))
    (line,) = run.plot().lines
    times, values = line.get_data()
    assert len(times) > 300 and np.allclose(values, np.exp(-2 * times), atol=1e-6)
    ax = run.plot("x", "loss", linestyle="--")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "loss"]
    assert run.plot("x", ax=ax) is ax and len(ax.lines) == 3


def test_stages_maps_and_systems_without_a_loss() -> None:
    first = integrate(decay(), [1.0], (0.0, 1.0))
    both = join_trajectories([first, integrate(decay(), first.end_state, (1.0, 2.0))])
    curve = both.plot("loss").lines[0]
    assert np.allclose(curve.get_ydata(), np.exp(-2 * curve.get_xdata()), atol=1e-6)
    halved = iterate(System.from_equations({"x": sym("x") / 2}, kind="map"), [1.0], 3)
    assert halved.plot().lines[0].get_ydata().tolist() == [1.0, 0.5, 0.25, 0.125]


def test_a_wrong_name_is_refused() -> None:
    run = integrate(decay(), [1.0], (0.0, 1.0))
    with pytest.raises(EquationError, match=r"'los' is neither a state nor an observable .*; did you mean loss\?"):
        run.plot("los")
