"""Lanes with gates and events: what happens is what happens in the scalar kernel."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from numerics.compiled import crossings, kernel, lane_batch
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.crossings import PROBE_COUNT, WEIGHTS
from numerics.compiled.dop853 import dense_value, polynomial
from numerics.compiled.lane_watch import PARTS, _on_side, _resolved, dense_rows, dense_state
from numerics.compiled.records import POWERS, READINGS, STAGES, Problem, RunState, new_step
from numerics.flows.semantics import DIP_PART, DIP_RATIO, PROBES
from odesys import StopWhen, System
from odesys.jit import llvm, loops

from .test_compiled_flow import random_system

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
KINKS = System.from_strings("x' = y; y' = -x - k*step(x - 1/4)*x - 1/10*y + step(y)/5")
LEVELS = [StopWhen("low", "x", -1, True, -1.0), StopWhen("high", "y", 1, False, 0.5)]


def scalar_ends(flow: CompiledFlow, starts: Any, span: tuple[float, float], values: Any, rtol: float) -> np.ndarray:
    """Ends by `run`, which has no lanes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.array([flow.run(x, span, v, rtol=rtol).end_state for x, v in zip(starts, values, strict=True)])


@pytest.mark.parametrize("events", [[], LEVELS])
def test_switches_and_events_are_those_of_single_runs(events: list[StopWhen]) -> None:
    flow, drawn = CompiledFlow(KINKS, events), np.random.default_rng(6)
    starts, values = drawn.uniform(-1.5, 1.5, (40, 2)), [{"k": float(k)} for k in drawn.uniform(0.5, 3, 40)]
    found = flow.batch(starts, (0.0, 20.0), values, rtol=1e-9)
    np.testing.assert_allclose(found, scalar_ends(flow, starts, (0.0, 20.0), values, 1e-9), rtol=0, atol=1e-7)
    assert flow.batch(starts[::-1], (0.0, 20.0), values[::-1], rtol=1e-9)[::-1].tobytes() == found.tobytes()
    assert flow.batch(starts[11:14], (0.0, 20.0), values[11:14], rtol=1e-9).tobytes() == found[11:14].tobytes()


@pytest.mark.parametrize("seed", range(12))
def test_random_piecewise_flows_in_lanes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system, events = random_system(rng)
    flow, starts = CompiledFlow(system, events), rng.normal(size=(9, system.dimension))
    span = (0.0, float(rng.uniform(1, 3)))
    found = flow.batch(starts, span, [{}] * 9, rtol=1e-10)
    wanted = scalar_ends(flow, starts, span, [{}] * 9, 1e-10)
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert flow.batch(starts[4], span, [{}], rtol=1e-10)[0].tobytes() == found[4].tobytes()


def test_a_dip_that_touches_a_surface_within_a_step_is_not_missed() -> None:
    """A ball that is at the ground for a moment: long steps are on one side at both ends."""
    fall = System.from_strings("x' = v; v' = 4")
    flow = CompiledFlow(fall, [StopWhen("ground", "x", -1, True, 0.0)])
    starts = np.array([[0.1249, -1.0], [0.1251, -1.0], [0.12, -1.0]])
    ends = flow.batch(starts, (0.0, 1.0), [{}] * 3, rtol=1e-3, atol=1e-3)
    meets = [(1 - np.sqrt(1 - 8 * x)) / 4 if x < 0.125 else 1.0 for x in starts[:, 0]]
    np.testing.assert_allclose(ends[:, 1], [-1 + 4 * t for t in meets], atol=1e-6)


def test_a_crest_just_above_its_level_is_not_missed() -> None:
    """sin 5x is above 0.9999 for 0.006 only, in far longer steps: a parabola through far readings misses it."""
    level = 0.9999
    flow = CompiledFlow(System.from_strings("x' = 1"), [StopWhen("crest", "sin(5*x)", 1, True, level)])
    starts = np.linspace(-0.3, 0.9 * np.arcsin(level) / 5, 64)[:, None]
    ends = flow.batch(starts, (0.0, 6.0), [{}] * 64, rtol=1e-3)
    np.testing.assert_allclose(ends[:, 0], np.arcsin(level) / 5, atol=1e-6)


def test_most_steps_are_made_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scalar kernel makes those near switches: its field is called less often than steps are made."""
    flow = CompiledFlow(KINKS)
    starts, values = np.tile([1.0, 0.0], (8, 1)), [{"k": 1.0}] * 8
    flow.batch(starts, (0.0, 20.0), values)
    (room,) = flow._room.known.values()
    before = room.records[1].memory.steps
    single = flow.run(starts[0], (0.0, 20.0), values[0])
    fields = room.records[1].memory.fields
    flow.batch(starts, (0.0, 20.0), values)
    made = (room.records[1].memory.fields - fields) / 8
    assert before > 0 and len(single.events) > 4
    assert made < 0.7 * single.cost.field_evaluations


def test_readings_are_those_of_the_scalar_kernel() -> None:
    assert PARTS[:7] == (-0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25) and PARTS[7:] == PROBES
    for function in (kernel.go_on, lane_batch.in_lanes_watched):
        assert "define" in loops.assembly([function])


class Lanes:
    """As a writer of code for lanes, on arrays of numbers."""

    absolute, least, largest, number = (staticmethod(f) for f in (np.abs, np.minimum, np.maximum, np.float64))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_a_dip_in_lanes_is_one_of_the_scalar_kernel(size: float) -> None:
    """By the parabola through three readings: its lowest point, between them, under a part of its middle or bend."""
    rng = np.random.default_rng(3)
    for side in (1.0, -1.0):
        readings = size * rng.uniform(0.02, 1.0, (READINGS, 6000)) * rng.choice([0.1, 1.0], (READINGS, 6000))
        readings[:, 3000:] += size * rng.uniform(0.0, 0.4, 3000)
        wanted = np.ones(6000, dtype=bool)
        for low, here, high in zip(readings, readings[1:], readings[2:], strict=False):
            bend = low - 2 * here + high
            with np.errstate(all="ignore"):
                shift = (low - high) / (2 * bend)
            dip = here - bend * shift**2 / 2 < np.maximum(here / DIP_RATIO, DIP_PART * bend)
            wanted &= ~((bend > 0) & (np.abs(shift) < 1) & dip)
        assert 100 < wanted.sum() < 5900
        assert np.array_equal(_on_side(Lanes, list(side * readings), side), wanted)  # type: ignore[arg-type]
        for k in range(READINGS):  # on the wrong side, or at zero, at one reading of the step itself
            for value in (0.0, -size):
                there = side * readings.copy()
                there[k] = side * value
                on_side = _on_side(Lanes, list(there), side)  # type: ignore[arg-type]
                assert on_side.any() == (k in (0, READINGS - 1)), "the readings beyond its ends may be anywhere"


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_what_is_resolved_in_lanes_is_so_in_the_scalar_kernel(size: float) -> None:
    rng = np.random.default_rng(4)
    one, step = np.ones(1), new_step(1, 1)
    problem = Problem(None, None, None, 1, 0, 1, one, one, one, one, np.ones(3), 9.0, 1e-9, one, 9, 9)  # type: ignore[arg-type]
    state, seen = RunState(0.0, 1.0, one, np.zeros(0), one, np.zeros(1)), set()
    for _ in range(300):
        rate, shift = rng.uniform(0.1, 12), rng.choice([0.0, 0.5, 2.0, 2.8, 3.2]) * rng.choice([-1, 1])
        phase, width = rng.uniform(0, 6), rng.choice([0.0, 0.0, size / 20])
        wave = size * (np.sin(rate * np.array(PARTS) + phase) + shift)
        step.V[:], state.width[0] = wave[:READINGS], width
        for p in range(PROBE_COUNT):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(crossings, "PROBE_COUNT", 1)
                patch.setattr(crossings, "WEIGHTS", WEIGHTS[p * READINGS :])
                patch.setattr(crossings, "read", lambda *given, value=wave[READINGS + p]: given[-1].fill(value))
                wanted = crossings.resolved(problem, state, step)
            found = _resolved(Lanes, list(wave[:READINGS]), wave[READINGS + p], p, width)  # type: ignore[arg-type]
            assert bool(found) is wanted
            seen.add((wanted, shift != 0.0))
    assert len(seen) == 4


class Memory(Lanes):
    """With named rows of numbers, a lane each, which a loop of one state goes through."""

    def __init__(self, **rows: np.ndarray) -> None:
        self.rows = rows

    def loop(self, n: int) -> Any:
        return nullcontext(0)

    def put(self, text: str) -> int:
        return sum(int(part) for part in text.removeprefix("add i64 ").split(", "))

    def load(self, name: str, i: int = 0) -> np.ndarray:
        return self.rows[name][i]

    def store(self, value: Any, name: str, i: int = 0) -> None:
        self.rows[name][i] = value


def test_the_polynomial_of_a_step_in_lanes_is_that_of_the_scalar_kernel() -> None:
    """From any stages, at any fraction, also beyond the ends of the step."""
    rng, lanes = np.random.default_rng(5), 6
    K, x, new, h = rng.normal(size=(STAGES, lanes)), rng.normal(size=lanes), rng.normal(size=lanes), 0.3
    names = [f"K{j}" for j in range(STAGES)]
    stages = {name: row[None] for name, row in zip(names, K, strict=True)}
    F, out = np.zeros((POWERS, lanes)), np.zeros((1, lanes))
    memory: Any = Memory(x=x[None], new=new[None], F=F, out=out, **stages)
    dense_rows(memory, 1, names, "x", "new", h, "F")  # type: ignore[arg-type]
    step = new_step(lanes, 0)
    step.K, step.new, step.h = K.ravel(), new, h
    polynomial(lanes, x, step)
    table = step.F
    assert pytest.approx(table.reshape(POWERS, lanes), rel=1e-12) == F
    for part in PARTS:
        wanted = np.zeros(lanes)
        dense_value(lanes, table, x, part, wanted)
        dense_state(memory, 1, "F", "x", part, "out")
        assert out[0] == pytest.approx(wanted, rel=1e-12)
