"""Frames: what only rotates stays narrow, chaotic runs go far, and the true solution is always inside."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from odesys.certify.frames import SLACK, Frame, Variation, turned
from odesys.certify.validated import enclose
from odesys.errors import IntegrationError
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.system import System

x, y, z = sym("x"), sym("y"), sym("z")


def widest(box: tuple[tuple[Fraction, Fraction], ...]) -> Fraction:
    return max(high - low for low, high in box)


def test_a_rotating_box_stays_narrow() -> None:
    turn = System.from_equations({"x": y, "y": -x})
    start = {"x": flint.arb(1, 5e-7), "y": flint.arb(0, 5e-7)}
    run = enclose(turn, start, 30, order=16, precision=96, frames=True)
    assert widest(run.final) < Fraction(1, 10**5)
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(-5e-7, 5e-7, (20, 2)):  # true solutions from inside of the start are inside at the end
        exact = ((1 + a) * np.cos(30) + b * np.sin(30), -(1 + a) * np.sin(30) + b * np.cos(30))
        assert all(
            float(low) - 1e-14 <= v <= float(high) + 1e-14 for v, (low, high) in zip(exact, run.final, strict=True)
        )
    assert widest(run.final) > Fraction(99, 10**8)  # and it holds the whole box, which is that wide


def test_lorenz_to_time_five() -> None:
    """From a point: boxes at first, frames from where the box has widened; boxes alone do not reach the end."""
    lorenz = System.from_equations({"x": 10 * (y - x), "y": 28 * x - y - x * z, "z": x * y - Fraction(8, 3) * z})
    run = enclose(lorenz, {"x": 10, "y": 10, "z": 10}, 5, order=20, precision=128)
    assert widest(run.final) < Fraction(1, 10**10)
    assert run.frames and run.steps[0].frame is None and run.steps[-1].frame is not None
    with pytest.raises(IntegrationError, match="can be validated"):
        enclose(lorenz, {"x": 10, "y": 10, "z": 10}, 5, order=20, precision=128, frames=False)
    from scipy.integrate import solve_ivp

    def field(_: float, s: np.ndarray) -> list[float]:
        return [10 * (s[1] - s[0]), 28 * s[0] - s[1] - s[0] * s[2], s[0] * s[1] - 8 / 3 * s[2]]

    measured = solve_ivp(field, (0, 5), [10, 10, 10], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert [float(low) for low, _ in run.final] == pytest.approx(measured.tolist(), abs=1e-8)


def test_frames_and_boxes_hold_the_same_solution() -> None:
    pendulum = System.from_equations({"x": y, "y": -graph.call("sin", x) - y / 10})
    start = {"x": flint.arb(1, 1e-9), "y": 0}
    plain = enclose(pendulum, start, 3, order=12, precision=96, frames=False)
    framed = enclose(pendulum, start, 3, order=12, precision=96)  # a start that is a box is carried in a frame
    assert framed.frames and not enclose(pendulum, {"x": 1, "y": 0}, 1, order=12, precision=96).frames
    assert all(a < d and c < b for (a, b), (c, d) in zip(plain.final, framed.final, strict=True))
    assert widest(framed.final) < widest(plain.final)


@pytest.mark.parametrize("seed", range(20))
def test_a_turned_frame_holds_every_image(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = Frame.of([flint.arb(float(m), float(r)) for m, r in rng.uniform(0.1, 1, (3, 2))])
    matrix, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    centre = np.array([float(c) for c in frame.centre])
    image = [flint.arb(float(v), 1e-12) for v in matrix @ centre + shift]
    new, box = turned(frame, image, flint.arb_mat(matrix.tolist()))
    q = np.array([[float(new.matrix[i, j]) for j in range(3)] for i in range(3)])
    for _ in range(20):
        inside = centre + np.array([float(r.rad()) for r in frame.radii]) * rng.uniform(-1, 1, 3)
        point = matrix @ inside + shift
        assert all(abs(point[i] - float(b.mid())) <= float(b.rad()) + 1e-9 for i, b in enumerate(box))
        local = q.T @ (point - np.array([float(c) for c in new.centre]))
        assert all(abs(local[i] - float(r.mid())) <= float(r.rad()) + 1e-9 for i, r in enumerate(new.radii))


def test_the_derivative_of_a_linear_flow_is_an_exponential_as_narrow_as_its_remainder() -> None:
    """Of x' = x over h = 1 it is e; its series ends at 1/10! of what it grows by."""
    parameters = {"r": flint.arb(1)}
    growth = Variation(System.from_equations({"x": sym("r") * x}, parameters=["r"]), 128)
    ball = growth.over(parameters, [flint.arb(1)], [flint.arb(2, 1)], Fraction(0), Fraction(1))[0, 0]
    assert ball.contains(flint.arb(1).exp())
    assert float(ball.rad()) == pytest.approx((math.e - 1) / math.factorial(10), rel=1e-6)
    turn = Variation(System.from_equations({"x": y, "y": -x}), 128)
    box = [flint.arb(0, 2), flint.arb(0, 2)]
    matrix = turn.over({}, box, box, Fraction(0), Fraction(1, 2))
    for (i, j), exact in {(0, 0): math.cos(0.5), (0, 1): math.sin(0.5), (1, 0): -math.sin(0.5)}.items():
        assert float(matrix[i, j].mid()) == pytest.approx(exact, abs=1e-9) and float(matrix[i, j].rad()) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_turned_frame_is_a_little_wider_than_the_image_of_the_set(seed: int) -> None:
    """By SLACK of each radius and SLACK of the largest, so that one who computes it in another way lies inside."""
    rng = np.random.default_rng(seed)
    frame = Frame.of([flint.arb(float(m), float(r)) for m, r in zip(rng.normal(size=3), (1, 0.1, 0.001), strict=True)])
    matrix = rng.normal(size=(3, 3))
    new, box = turned(frame, [flint.arb(float(v)) for v in rng.normal(size=3)], flint.arb_mat(matrix.tolist()))
    q = np.array([[float(new.matrix[i, j]) for j in range(3)] for i in range(3)])
    old = np.array([float(r.rad()) for r in frame.radii])
    assert np.allclose(q.T @ q, np.eye(3), atol=1e-14)
    needed = np.abs(np.linalg.inv(q) @ matrix) @ old
    wider = np.array([float(abs(r).upper()) for r in new.radii]) - needed
    assert wider == pytest.approx(SLACK * (needed + needed.max()), rel=1e-3)
    around = np.abs(matrix) @ old
    assert all(float(b.rad()) <= (around[i] + needed.max()) * (1 + 3 * SLACK) for i, b in enumerate(box))
    longest = matrix[:, 0] / np.linalg.norm(matrix[:, 0])  # the image of the longest edge keeps its direction
    assert abs(q[:, 0] @ longest) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_derivative_of_a_linear_flow_is_in_each_of_its_entries(seed: int) -> None:
    """Decay, growth and rotation in two states: the exponential of the matrix, whichever entry it is."""
    rng = np.random.default_rng(seed)
    a = [[Fraction(int(v), 4) for v in row] for row in rng.integers(-6, 7, (2, 2))]
    system = System.from_equations({"x": a[0][0] * x + a[0][1] * y, "y": a[1][0] * x + a[1][1] * y})
    with flint.ctx.workprec(128):
        box = [flint.arb(0, 2), flint.arb(1, 3)]
        found = Variation(system, 128).over({}, box, box, Fraction(3), Fraction(1, 2))
        exact = flint.arb_mat([[flint.arb(v.numerator) / (2 * v.denominator) for v in row] for row in a]).exp()
        for i in range(2):
            for j in range(2):
                assert found[i, j].contains(exact[i, j]) and float(found[i, j].rad()) < 1e-6


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("time", [Fraction(0), Fraction(2), Fraction(-3)])
def test_the_derivative_of_a_flow_that_changes_in_time_is_over_its_step(time: Fraction, sign: int) -> None:
    """x' = +-t^2 x is multiplied by the exponential of the change of +-t^3/3; its remainder is of these times."""
    system, h = System.from_equations({"x": sign * sym("t") ** 2 * x}), Fraction(1, 16)
    with flint.ctx.workprec(128):
        one = [flint.arb(1, 1)]
        ball = Variation(system, 128).over({}, one, one, time, h)[0, 0]
        change = sign * ((time + h) ** 3 - time**3) / 3
        assert ball.contains((flint.arb(change.numerator) / change.denominator).exp())
        assert float(ball.rad()) < 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_of_a_turned_frame_the_longest_image_of_an_edge_keeps_its_direction(seed: int) -> None:
    """By the lengths of the images of the edges, which are columns, when all edges are as long; the box is around it.

    It reaches as far as the image of the box does, or as the frame, whichever is less, and a little farther.
    """
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(3, 3)) * rng.permutation([0.2, 1.0, 5.0])
    frame = Frame.of([flint.arb(0, 1e-3)] * 3)
    new, box = turned(frame, [flint.arb(float(v)) for v in (1, 2, 3)], flint.arb_mat(matrix.tolist()))
    q = np.array([[float(new.matrix[i, j]) for j in range(3)] for i in range(3)])
    longest = matrix[:, np.linalg.norm(matrix, axis=0).argmax()]
    assert abs(q[:, 0] @ longest) == pytest.approx(np.linalg.norm(longest), rel=1e-12)
    most = (np.abs(np.linalg.inv(q) @ matrix) @ np.full(3, 1e-3)).max()
    direct = np.abs(matrix) @ np.full(3, 1e-3) * (1 + SLACK) + most * SLACK
    around = np.abs(q) @ [float(r.rad()) for r in new.radii]
    assert [float(b.rad()) for b in box] == pytest.approx(np.minimum(direct, around), rel=1e-6)
    assert [float(b.mid()) for b in box] == pytest.approx([1, 2, 3], abs=1e-9)


def test_without_a_matrix_to_turn_to_a_frame_is_its_box() -> None:
    """Where the derivative has no bound, or arithmetic is too coarse to invert."""
    nan, skew = flint.arb("nan"), [[9, -8, -4], [-2, 1, -2], [-7, -9, -9]]
    for bits, matrix in ((64, [[nan, 3], [5, 1]]), (2, skew)):
        size = len(matrix)
        with flint.ctx.workprec(bits):
            image = [flint.arb(k) for k in range(size)]
            new, box = turned(Frame.of([flint.arb(0, 1)] * size), image, flint.arb_mat(matrix))
            assert [[float(new.matrix[i, j]) for j in range(size)] for i in range(size)] == np.eye(size).tolist()
            assert [str(r) for r in new.radii] == [str(b - b.mid()) for b in box] and len(box) == size


@pytest.mark.parametrize("sign", [1, -1])
def test_time_in_a_field_is_as_a_state_that_moves_with_it(sign: int) -> None:
    """The derivative by the start is as wide as that of x' = +-s^6 x, s' = 1 over the same times."""
    h, time, s = Fraction(1, 4), Fraction(1), sym("s")
    with flint.ctx.workprec(128):
        one, span = flint.arb(1, 1), flint.arb(1).union(flint.arb(1.25))
        plain = Variation(System.from_equations({"x": sign * sym("t") ** 6 * x}), 128)
        ball = plain.over({}, [one], [one], time, h)[0, 0]
        larger = Variation(System.from_equations({"x": sign * s**6 * x, "s": 1 + 0 * s}), 128)
        other = larger.over({}, [one, flint.arb(1)], [one, span], Fraction(0), h)[0, 0]
        exact = sign * ((flint.arb(5) / 4) ** 7 - 1) / 7
        assert ball.contains(exact.exp()) and other.contains(exact.exp())
        assert float(ball.rad()) == pytest.approx(float(other.rad()), rel=0.05)
