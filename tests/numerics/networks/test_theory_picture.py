"""Lines of the theory and dots of the network, for flows and for steps; what can not be drawn is said."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from odesys import (
    Data,
    ParameterError,
    Space,
    Words,
    gradient_descent,
    gradient_flow,
    logistic,
    maps,
    theory_on_network,
)

WORDS, M = Words("a b"), Space("m")
V, W = maps("V", 1, M), maps("W", M, WORDS)
DATA = Data(WORDS, [("a", 1), ("b", -1)])


def network(rule, seed=0, **options):
    return rule(lambda X: V @ W @ X[0], DATA, logistic, **options).network(width=3, seed=seed, omega=0.7)


@pytest.mark.parametrize(("rule", "end", "step"), [(gradient_flow, 4.0, None), (gradient_descent, 40, 0.1)])
def test_lines_go_through_dots(rule, end, step) -> None:
    net = network(rule)
    figure = theory_on_network(net, end, {"loss": "loss", "sum": lambda x: x["VW_a"] + x["VW_b"]}, step=step)
    lines = figure.axes[0].lines
    for line, dots in zip(lines[::2], lines[1::2], strict=True):
        y = np.interp(dots.get_xdata(), line.get_xdata(), line.get_ydata())
        assert np.abs(y - dots.get_ydata()).max() < 1e-4
    last = net.flow_run(end)[1][-1] if step is None else net.descend(step, end)
    assert lines[1].get_ydata()[-1] == pytest.approx(last.loss(), rel=1e-9)
    plt.close(figure)


def test_the_dots_are_moved_weights() -> None:
    """Theory with another rate does not go through them: the two sides are computed apart."""
    net = network(gradient_flow)
    figure = theory_on_network(net, 4.0, ["loss"])
    slow = network(gradient_flow, rates={"W": 0, "V": 0})
    still = theory_on_network(slow, 4.0, ["loss"])
    assert np.ptp(still.axes[0].lines[1].get_ydata()) == 0 < np.ptp(figure.axes[0].lines[1].get_ydata())
    plt.close("all")


def test_mistakes() -> None:
    with pytest.raises(ParameterError, match="nothing called 'lost'"):
        theory_on_network(network(gradient_flow), 1.0, ["lost"])
    nets = gradient_flow(lambda X: V @ W @ X[0], DATA, logistic).networks([0, 1], width=2, omega=0.5)
    with pytest.raises(ParameterError, match=r"choose one of its networks, network\[0\]"):
        theory_on_network(nets, 1.0, ["loss"])


def test_a_picture_has_its_axes_labels_and_colours() -> None:
    figure, ax = plt.subplots()
    many = ["loss", *["VW_a", "VW_b"] * 5]
    labels = {f"{k}": name for k, name in enumerate(many)}
    assert theory_on_network(network(gradient_flow), 2.0, labels, ax=ax) is figure
    lines, dots = ax.lines[::2], ax.lines[1::2]
    assert [line.get_label() for line in lines] == list(labels)
    assert dots[0].get_label() == "network" and len(ax.get_legend().get_texts()) == 12
    assert [line.get_color() for line in lines] == [f"C{k % 10}" for k in range(11)] == [d.get_color() for d in dots]
    assert ax.get_xlabel() == "t" and len(dots[0].get_xdata()) == 13
    assert (lines[0].get_xdata()[0], lines[0].get_xdata()[-1]) == (0.0, 2.0)
    assert (dots[0].get_xdata()[0], dots[0].get_xdata()[-1]) == (0.0, 2.0)
    steps = theory_on_network(network(gradient_descent), 5, "loss", step=0.1)
    assert steps.axes[0].get_xlabel() == "steps" and steps is not figure
    for line in steps.axes[0].lines:  # fewer steps than dots: each has one
        assert line.get_xdata().tolist() == [0, 1, 2, 3, 4, 5]
    plt.close("all")


def test_the_loss_of_dots_is_that_of_the_weights() -> None:
    net = network(gradient_descent)
    figure = theory_on_network(net, 24, ["loss", "margin_1"], step=0.2)
    dots = figure.axes[0].lines[1::2]
    record = dots[0].get_xdata().astype(int).tolist()
    assert record == list(range(0, 25, 2))
    nets = net.descend_recorded(0.2, 24, record)
    assert dots[0].get_ydata().tolist() == [each.loss() for each in nets]
    assert dots[1].get_ydata().tolist() == [each.outputs()["margin_1"] for each in nets]
    plt.close(figure)
