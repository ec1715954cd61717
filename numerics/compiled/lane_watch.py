"""Steps in lanes in which nothing happens to what is watched; all others are made by the scalar kernel.

A step is read as `crossings.py` reads it: at the ends of its parts, one part beyond each end, and at its probes.
Nothing happens where every watched value that can move has a side, is on it at all readings, has no dip towards zero,
and its readings are close enough. Wherever that is not so, not-a-number included, the step is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.integrate import DOP853

from numerics.flows.semantics import DIP_PART, DIP_RATIO, MISSED, PROBES, STEP_PARTS
from odesys.jit.lane_text import LaneValue, LaneWriter

from .crossings import NOISE, PROBE_COUNT, WEIGHTS
from .records import POWERS, READINGS

PARTS = (*((k - 1) / STEP_PARTS for k in range(READINGS)), *PROBES)


def dense_rows(w: LaneWriter, n: int, K: Sequence[str], x: str, new: str, h: LaneValue, F: str) -> None:
    """Fill F, the polynomial of a step, from all its stages; see `dop853.polynomial`."""
    with w.loop(n) as i:
        here, first, last = w.load(x, i), w.load(K[0], i), w.load(K[12], i)
        change = w.load(new, i) - here
        rows = [change, h * first - change, change * 2.0 - h * (last + first)]
        for row in DOP853.D:
            parts = [w.load(K[j], i) * float(d) for j, d in enumerate(row) if d != 0.0]
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            rows.append(h * total)
        for k, value in enumerate(rows):
            w.store(value, F, w.put(f"add i64 {i}, {k * n}"))


def dense_state(w: LaneWriter, n: int, F: str, x: str, part: float, out: str) -> None:
    """The state at a fraction of a step; see `dop853.dense_value`."""
    with w.loop(n) as i:
        total = w.load(F, w.put(f"add i64 {i}, {(POWERS - 1) * n}")) * part
        for k in range(POWERS - 2, -1, -1):
            factor = part if (POWERS - 1 - k) % 2 == 0 else 1.0 - part
            total = (total + w.load(F, w.put(f"add i64 {i}, {k * n}"))) * factor
        w.store(w.load(x, i) + total, out, i)


def quiet(w: LaneWriter, count: int, V: str, side: str, width: str, movable: str) -> LaneValue:
    """Where nothing happens, by the readings V (a row of all watched values per reading)."""
    found = w.local(1)
    w.store(1.0, found)
    with w.loop(count) as i:
        values = [w.load(V, w.put(f"add i64 {i}, {k * count}")) for k in range(len(PARTS))]
        readings, s = values[:READINGS], w.load(side, i)
        fine = _on_side(w, readings, s)
        for p in range(PROBE_COUNT):
            fine = fine & _resolved(w, readings, values[READINGS + p], p, w.load(width, i))
        fine = fine | (w.load(movable, i) < 0.5)
        w.store(w.where(fine, w.load(found), 0.0), found)
    return w.load(found) > 0.0


def _on_side(w: LaneWriter, readings: Sequence[LaneValue], s: LaneValue) -> LaneValue:
    """On its side at all readings of the step itself, and no dip that would be read as well."""
    fine = s * readings[1] > 0.0
    for value in readings[2 : STEP_PARTS + 2]:
        fine = fine & (s * value > 0.0)
    for low, middle, high in zip(readings, readings[1:], readings[2:], strict=False):
        here, slope = s * middle, s * (low - high)
        bend = s * (low + high) - here * 2.0
        deep = here * bend * (8.0 * (1.0 - 1.0 / DIP_RATIO)) < slope * slope
        near = here * bend * 8.0 - bend * bend * (8.0 * DIP_PART) < slope * slope
        fine = fine & ~((bend > 0.0) & (w.absolute(slope) < bend * 2.0) & (deep | near))
    return fine


def _resolved(
    w: LaneWriter, readings: Sequence[LaneValue], probe: LaneValue, number: int, width: LaneValue
) -> LaneValue:
    """As `crossings.resolved` has it."""
    low, high, least, given = probe, probe, w.absolute(probe), w.number(0.0)
    for k, value in enumerate(readings):
        low, high, least = w.least(low, value), w.largest(high, value), w.least(least, w.absolute(value))
        given = given + value * float(WEIGHTS[number * READINGS + k])
    size, gap = high - low, w.absolute(given - probe)
    noise = w.largest(w.absolute(low), w.absolute(high)) * NOISE + width * 64.0
    near = ~((least > size * 2.0) | (noise >= size))
    return ~(near & ~(size * MISSED >= gap))
