"""Runs as pictures: the loss by default, smooth curves, switches and slides marked, wrong names refused first."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.pictures.runs import curves
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


def test_without_a_loss_the_first_eight_states_are_drawn() -> None:
    for count in (8, 9):
        system = System.from_strings({f"x{k}": f"-x{k}" for k in range(count)})
        ax = integrate(system, [1.0] * count, (0.0, 1.0)).plot()
        assert [line.get_label() for line in ax.lines] == [f"x{k}" for k in range(8)]
        assert ax.get_legend() is not None and ax.get_ylabel() == ""


def test_one_curve_is_named_at_its_axis_and_several_in_a_legend() -> None:
    run = integrate(decay(), [1.0], (0.0, 5.0))
    one, two = run.plot("x"), run.plot("x", "t")
    assert (one.get_xlabel(), one.get_ylabel(), one.get_legend()) == ("t", "x", None)
    assert two.get_ylabel() == "" and two.get_legend() is not None
    times, values = two.lines[1].get_data()
    assert np.array_equal(times, values) and times[0] == 0 and times[-1] == 5 and np.all(np.diff(times) > 0)
    assert set(run.times) <= set(times) and len(times) >= 400
    halved = iterate(System.from_equations({"x": sym("x") / 2}, kind="map"), [1.0], 3)
    assert halved.plot().get_xlabel() == "step"


def test_switches_and_stages_are_lines_and_slides_are_bands() -> None:
    """A relay that is reached at t = 1 and along which the run slides from then on."""
    relay = System.from_strings({"x": "-sign(x)", "y": "1"})
    run = integrate(relay, [1.0, 0.0], (0.0, 3.0))
    ax = run.plot("x")
    slides = [event for event in run.events if event.kind == "slide"]
    assert len(slides) == 1 and len(ax.patches) == 1
    box = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((slides[0].time, slides[0].detail["end"]), abs=1e-6)
    marks = [line.get_xdata()[0] for line in ax.lines[1:]]
    assert marks == pytest.approx([event.time for event in run.events if event.kind in ("switch", "stage")])
    turning = System.from_strings({"x": "1 - 2*heaviside(x)*y", "y": "0*y"})
    both = integrate(turning, [-1.0, 0.25], (0.0, 3.0))
    kinds = [event.kind for event in both.events]
    assert kinds == ["switch"] and [line.get_xdata()[0] for line in both.plot("x").lines[1:]] == pytest.approx([1.0])


def test_observables_and_states_of_a_run_are_drawn_on_the_same_times() -> None:
    run = integrate(decay(), [1.0], (0.0, 2.0))
    times, columns = curves(run, ["x", "loss"])
    assert list(columns) == ["x", "loss"] and columns["loss"] == pytest.approx(columns["x"] ** 2)
    assert columns["x"] == pytest.approx(np.exp(-times), abs=1e-6)
    alone, states = curves(run, ["x"])
    assert np.array_equal(alone, times) and np.array_equal(states["x"], columns["x"])
