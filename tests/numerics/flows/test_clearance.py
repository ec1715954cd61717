"""How near a slide comes to another surface: known distances, what is an event instead, and the warning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from numerics.flows.clearance import clearances
from numerics.flows.integrate import integrate
from numerics.flows.trajectory import join_trajectories
from odesys.expr.system import System
from tests.known_systems import corner, sliding

X, Y, Z, W, T = sp.symbols("x y z w t", real=True)
BACKENDS = pytest.mark.parametrize("backend", ["reference", "auto"])


def gate(surface: sp.Expr) -> sp.Expr:
    return sp.Heaviside(surface)


def dip() -> System:
    """Slides along x = 0; there y' = 3 (t - 2), so y has its least value y0 - 6 at t = 2, if x starts on its surface.

    The sides of x = 0 move y at the rates 3 (t - 2) +- 5; its gate moves z.
    """
    return System.from_equations({X: -sp.sign(X), Y: 3 * (T - 2) - 5 * sp.sign(X), Z: gate(7 * Y)})


@BACKENDS
def test_the_least_distance_is_found_between_steps(backend: str) -> None:
    run = integrate(dip(), [0.0, 6 + 1e-5, 0.5], (0.0, 4.0), backend=backend)
    (near,) = clearances(run)
    assert min(abs(run.times - 2.0)) > 1e-3, "no step ends at the least distance"
    assert (near.slide.name, near.slide.start, near.slide.end) == ("x", 0.0, 4.0)
    scale = abs(float(run.system.compile().surfaces(0.0, run.at(0.0))[near.surface])) / (6 + 1e-5)  # of the surface
    assert near.time == pytest.approx(2, abs=1e-6)
    assert near.value == pytest.approx(scale * 1e-5, rel=1e-4) and near.distance == pytest.approx(1e-5, rel=1e-4)
    assert near.relative == pytest.approx(1e-5 / 2.5, rel=1e-4), "z is 5/2 there, the others about zero"
    assert near.rate == pytest.approx(1e-5 / 5, rel=1e-4)


@pytest.mark.parametrize("named", ["xyz", "yxz", "zxy"])
def test_distances_do_not_depend_on_the_order_of_states(named: str) -> None:
    """The surface looks at one state, the first or another one."""
    system, start = dip(), dict(zip("xyz", [0.0, 6 + 1e-5, 0.5], strict=True))
    equations = {
        s: system.rhs[system.names.index(s.name)] for s in sorted((X, Y, Z), key=lambda s: named.index(s.name))
    }
    run = integrate(System.from_equations(equations), [start[name] for name in named], (0.0, 4.0))
    (near,) = clearances(run)
    assert near.distance == pytest.approx(1e-5, rel=1e-4) and near.rate == pytest.approx(1e-5 / 5, rel=1e-4)


@BACKENDS
def test_a_surface_that_is_crossed_is_an_event_and_no_miss(backend: str) -> None:
    run = integrate(dip(), [0.0, 6 - 1e-5, 0.5], (0.0, 4.0), backend=backend)
    assert len(run.times_of("switch")) == 2 and [near.time for near in clearances(run)] == []
    turned = integrate(dip(), [0.0, 6 - 1e-5, 0.5], (0.0, 1.5), backend=backend)
    (near,) = clearances(turned)
    assert near.time == 1.5 and near.distance == pytest.approx(3 / 8, rel=1e-4), "the run ends before it crosses"


def test_surfaces_slid_along_together_do_not_count() -> None:
    both = System.from_equations({X: -sp.sign(X), Y: -sp.sign(Y)})
    run = integrate(both, [1.0, 2.0], (0.0, 4.0))
    assert len(run.slides) == 2 and clearances(run) == ()


@pytest.mark.parametrize(
    ("field", "rate"),
    [
        (3 - 4 * gate(X) - 2 * gate(Y), 6 / 3),  # corners 3, -1, 1, -3; z rests at 6
        (3 + 5 * gate(X) - 7 * gate(Y), 6 / 8),  # corners 3, 8, -4, 1; z rises from 6
        (-3 - 5 * gate(X) + 7 * gate(Y), 4 / 8),  # the same with the other sign; z falls to 4
        (1 - 4 * gate(X) * gate(Y), 6 / 3),  # corners 1, 1, 1, -3
        (2 - 3 * gate(X) - 3 * gate(Y) + 4 * gate(X) * gate(Y), 6 / 2),  # corners 2, -1, -1, 0
    ],
)
def test_the_fastest_side_of_two_surfaces(field: sp.Expr, rate: float) -> None:
    """x and y slide with gates 1/2; the gate of z moves w."""
    run = integrate(System.from_equations({X: -sp.sign(X), Y: -sp.sign(Y), Z: field, W: gate(Z)}), [0, 0, 6, 0], (0, 1))
    found = clearances(run)
    assert [near.slide.name for near in found] == ["x", "y"]
    assert [near.rate for near in found] == pytest.approx([rate] * 2)


def test_a_surface_that_was_slid_along_before_or_started_from_does_not_count() -> None:
    run = integrate(corner(), [0.0, 0.0, 0.0], (0.0, 3.0))
    assert sorted(slide.name for slide in run.slides) == ["x", "y", "y"], "y is let go and comes back while x slides"
    assert clearances(run) == ()
    leaves = System.from_equations({X: -sp.sign(X), Y: 3 - sp.sign(X), Z: gate(Y)})
    assert clearances(integrate(leaves, [0.0, 0.0, 0.0], (0.0, 1.0))) == ()
    assert len(clearances(integrate(leaves, [0.0, 1e-12, 0.0], (0.0, 1.0)))) == 1


def test_a_surface_that_no_side_moves_is_not_reached() -> None:
    still = System.from_equations({X: -sp.sign(X), Y: 0 * Y, Z: gate(Y)})
    assert clearances(integrate(still, [1.0, 1e-9, 0.0], (0.0, 2.0))) == ()
    assert clearances(integrate(sliding(), [1.0, 0.0], (0.0, 2.0))) == (), "there is no other surface"
    assert clearances(integrate(dip(), [1.0, 9.0, 0.0], (0.0, 0.5))) == (), "nothing slides yet"


def test_stages_keep_theirs() -> None:
    first = integrate(dip(), [0.0, 6.5, 0.5], (0.0, 1.0))
    second = integrate(dip(), first.end_state, (1.0, 4.0))
    found = clearances(join_trajectories([first, second]))
    assert [near.time for near in found] == pytest.approx([1.0, 2.0], abs=1e-6)


def test_the_warning_is_for_steps_that_can_cross() -> None:
    (near,) = clearances(integrate(dip(), [0.0, 6 + 1e-5, 0.5], (0.0, 4.0)))
    assert near.warning(near.rate / 1.01) == "" and near.warning(near.rate)
    known = replace(near, name="y", value=1e-5, rate=2e-6)
    assert known.warning(0.1) == (
        "the slide along x comes within 1e-05 of the surface y, at t = 2; a step of rate 2e-06 can cross it: "
        "discrete steps or finite width may leave this branch"
    )
    assert "slide" not in near.as_json() and near.as_json()["rate"] == near.rate


@pytest.mark.parametrize("before", [1.0, 0.1, 1e-2, 1e-3])
def test_the_least_distance_is_found_soon_after_the_start_and_before_the_end(before: float) -> None:
    """It lies in the first part of a step, or in the last one."""
    least = 1e-5 + 1.5 * before**2  # y is 1e-5 at t = 2
    run = integrate(dip(), [0.0, least, 0.5], (2 - before, 4.0))
    (near,) = clearances(run)
    assert near.time == pytest.approx(2, abs=1e-5) and near.distance == pytest.approx(1e-5, rel=1e-3)
    run = integrate(dip(), [0.0, 6 + 1e-5, 0.5], (0.0, 2 + before))
    (near,) = clearances(run)
    assert near.time == pytest.approx(2, abs=1e-5) and near.distance == pytest.approx(1e-5, rel=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_fastest_side_of_random_fields_is_that_of_all_corners(seed: int) -> None:
    """Two surfaces slide, with gates that act by themselves or in a product; the rate of z is that of a corner."""
    rng = np.random.default_rng(seed)
    c = rng.integers(-6, 7, 4)
    field = int(c[0]) + int(c[1]) * gate(X) + int(c[2]) * gate(Y) + (seed % 2) * int(c[3]) * gate(X) * gate(Y)
    corners = (
        [float(field.subs({X: a, Y: b})) for a in (-1, 1) for b in (-1, 1)] if field.free_symbols else [float(c[0])]
    )
    speed = max(map(abs, corners))
    mean = np.mean(corners)
    system = System.from_equations({X: -sp.sign(X), Y: -sp.sign(Y), Z: field, W: gate(Z)})
    start = 50.0 * (1 if seed < 4 else -1)
    found = clearances(integrate(system, [0, 0, start, 0], (0, 2)))
    nearest = min(abs(start), abs(start + 2 * mean))
    if speed == 0:
        assert found == ()
        return
    for near in found:
        assert near.rate == pytest.approx(nearest / speed) and near.distance == pytest.approx(nearest)
    assert len(found) == 2


def test_a_clearance_tells_its_numbers_by_name() -> None:
    (near,) = clearances(integrate(dip(), [0.0, 6.5, 0.5], (0.0, 1.0)))
    assert list(near.as_json()) == ["name", "time", "value", "distance", "relative", "rate"]
    assert near.as_json()["time"] == 1.0 and near.name == near.as_json()["name"]
    assert near.warning(near.rate) and not near.warning(np.nextafter(near.rate, 0))
    x = np.array([0.0, 6.5 + 3 * (0.5 - 2), 0.5 + 1.0])
    assert near.relative == pytest.approx(x[1] / np.linalg.norm(x)) and near.distance == pytest.approx(x[1])


def test_of_several_surfaces_that_with_the_smallest_rate_is_told_for_each_slide() -> None:
    """Along x = 0 surfaces y, z and w stand still at 3, 2 and 5; the sides move them at 1, 1/2 and 4."""
    still = System.from_equations(
        {
            X: -sp.sign(X),
            Y: sp.sign(X),
            Z: sp.sign(X) / 2,
            W: 4 * sp.sign(X),
            sp.Symbol("v"): gate(Y) + gate(Z) + gate(W),
        }
    )
    run = integrate(still, [0.0, 3.0, 2.0, 5.0, 0.0], (0.0, 1.0))
    (near,) = clearances(run)
    assert (near.name, near.value, near.rate) == ("w", pytest.approx(5.0), pytest.approx(5 / 4))
    assert near.relative == pytest.approx(5 / np.sqrt(9 + 4 + 25 + (3 * near.time) ** 2))
