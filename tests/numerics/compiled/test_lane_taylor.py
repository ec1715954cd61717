"""Taylor series in lanes."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.lane_taylor import DEGREE, FRACTION
from odesys import BrokenRunWarning, IntegrationError, System
from odesys.jit import llvm

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
KEPLER = System.from_strings("x' = u; y' = v; u' = -m*x/(x**2 + y**2)**(3/2); v' = -m*y/(x**2 + y**2)**(3/2)")
FORCED = System.from_strings("x' = y; y' = -m*sin(x) - exp(-x**2)*y + cos(t)")


def points(count: int) -> tuple[np.ndarray, list[dict[str, float]]]:
    drawn = np.random.default_rng(4)
    starts = np.column_stack([drawn.uniform(0.8, 1.2, (count, 2)), drawn.uniform(-0.5, 0.5, (count, 2))])
    return starts, [{"m": float(m)} for m in drawn.uniform(0.8, 1.2, count)]


@pytest.mark.parametrize("system", [KEPLER, FORCED])
@pytest.mark.parametrize("rtol", [1e-7, 1e-13])
def test_runs_are_those_of_the_scalar_kernel_and_independent_of_others(system: System, rtol: float) -> None:
    flow, (starts, values) = CompiledFlow(system), points(21)
    starts = starts[:, : system.dimension]
    found = flow.batch(starts, (0.0, 5.0), values, method="Taylor", rtol=rtol)
    runs = [
        flow.run(x, (0.0, 5.0), v, method="Taylor", rtol=rtol).end_state for x, v in zip(starts, values, strict=True)
    ]
    np.testing.assert_allclose(found, runs, rtol=0, atol=max(100 * rtol, 1e-12))
    part = flow.batch(starts[5:8], (0.0, 5.0), values[5:8], method="Taylor", rtol=rtol)
    assert part.tobytes() == found[5:8].tobytes()


def test_the_energy_of_a_planet_is_kept_to_rounding() -> None:
    flow, (starts, values) = CompiledFlow(KEPLER), points(9)
    starts[:, 1:3], starts[:, 3] = 0.0, 1.0  # far from the sun all along
    ends = flow.batch(starts, (0.0, 30.0), values, method="Taylor", rtol=3e-14, atol=1e-17)
    masses = np.array([value["m"] for value in values])
    before, after = (0.5 * (s[:, 2:] ** 2).sum(1) - masses / np.hypot(s[:, 0], s[:, 1]) for s in (starts, ends))
    np.testing.assert_allclose(after, before, rtol=1e-12)


def test_a_series_that_ends_is_one_step_and_what_blows_up_is_left() -> None:
    line = CompiledFlow(System.from_strings({"x": "1 + 0*x", "y": "2*x"}))
    ends = line.batch([[0.0, 0.0], [1.0, 2.0]], (0.0, 3.0), [{}] * 2, method="Taylor", max_steps=1)
    np.testing.assert_allclose(ends, [[3.0, 9.0], [4.0, 17.0]], rtol=1e-14)
    square = CompiledFlow(System.from_strings({"x": "x**2"}))
    with pytest.warns(BrokenRunWarning, match="point 0 of the batch"):
        found = square.batch([[2.0], [0.5]], (0.0, 1.0), [{}] * 2, method="Taylor")
    assert np.isnan(found[0, 0]) and found[1, 0] == pytest.approx(1.0, rel=1e-8)


def test_logarithms_have_four_digits() -> None:
    z = np.linspace(1, 2, 1001)
    assert len(FRACTION) == DEGREE + 1 and np.abs(np.polyval(FRACTION, z) - np.log2(z)).max() < 1e-4


def test_a_single_end_has_code_of_its_own() -> None:
    flow, (starts, values) = CompiledFlow(KEPLER), points(3)
    for end in (5.0, 7.0, 5.0):
        for rtol in (1e-6, 1e-12):
            for x, v in zip(starts, values, strict=True):
                found = flow.final(x, (0.0, end), v, method="Taylor", rtol=rtol)
                wanted = flow.run(x, (0.0, end), v, method="Taylor", rtol=rtol).end_state
                np.testing.assert_allclose(found, wanted, rtol=0, atol=100 * rtol)
    assert flow.final(starts[0], (2.0, 2.0), values[0], method="Taylor").tolist() == starts[0].tolist()


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_a_series_does_not_lead_past_a_root(rtol: float) -> None:
    """x' = -sqrt(x) is at zero at t = 2 sqrt(x0); its series goes on to (sqrt(x0) - t/2)^2, which is no solution."""
    flow = CompiledFlow(System.from_strings({"x": "-sqrt(x)", "y": "x - y"}))
    starts = np.array([[1.0, 0.0], [0.01, 0.0], [4.0, 0.0]])
    with pytest.warns(BrokenRunWarning, match="point 1 of the batch"):
        found = flow.batch(starts, (0.0, 1.0), [{}] * 3, rtol=rtol, method="Taylor")
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2], 0], [0.25, 2.25], rtol=100 * rtol)
    for run in (flow.final, flow.run):
        with pytest.raises(IntegrationError):
            run(starts[1], (0.0, 1.0), rtol=rtol, method="Taylor")


def test_fields_with_branches_that_are_not_met_go_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kepler's roots stay away from zero, logarithms too: no run is left to `integrate`."""
    monkeypatch.setattr(CompiledFlow, "_by_integrate", lambda *given: pytest.fail("left"))
    kepler = {"x": "u", "y": "v", "u": "-x*(x**2 + y**2)**(-3/2)", "v": "-y*(x**2 + y**2)**(-3/2)"}
    starts = np.array([1.0, 0.0, 0.0, 1.1]) * (1 + 0.05 * np.random.default_rng(2).uniform(-1, 1, (9, 4)))
    for rtol in (1e-6, 1e-10, 1e-13):
        flow = CompiledFlow(System.from_strings(kepler))
        found = flow.batch(starts, (0.0, 30.0), [{}] * 9, rtol=rtol, method="Taylor")
        alone = np.array([flow.final(start, (0.0, 30.0), rtol=rtol, method="Taylor") for start in starts])
        np.testing.assert_allclose(found, alone, atol=max(1e4 * rtol, 1e-11))
        logs = CompiledFlow(System.from_strings({"x": "y - log(1 + x**2)", "y": "-x"}))
        logs.batch(starts[:, :2], (0.0, 30.0), [{}] * 9, rtol=rtol, method="Taylor")


def test_a_series_with_gaps_is_left_whoever_the_neighbours_are() -> None:
    """At the start of the first runs the last two terms vanish: they went to the end in one step."""
    gaps = CompiledFlow(System.from_strings("x' = -5*m*s**4*x; s' = 1"))
    starts, values = [[1.0, k / 4] for k in range(4)], [{"m": 1.0}] * 4
    exact = [np.exp(s**5 - (s + 1) ** 5) for _, s in starts]
    options = {"method": "Taylor", "rtol": 1e-6, "atol": 1e-6}
    found = gaps.batch(starts, (0.0, 1.0), values, **options)
    np.testing.assert_allclose(found[:, 0], exact, rtol=0, atol=1e-4)
    alone = [gaps.final(start, (0.0, 1.0), {"m": 1.0}, **options) for start in starts]
    assert np.array(alone).tobytes() == found.tobytes()
