"""Steps of DOP853 for several runs at once, one run per lane of a vector, as LLVM assembly of one system.

Steps, their control and their first length are those of `dop853.py`; what there is a branch is here a choice lane by
lane, so a run does not depend on its neighbours. The eighth root of an error is three square roots. What a run reads
and writes is in an array, the room, with a row of lanes per number; its places are below, `lane_batch.py` fills it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.integrate import DOP853

from odesys.expr.graph import Node
from odesys.expr.system import System
from odesys.jit import native
from odesys.jit.lane_text import LaneValue, LaneWriter
from odesys.jit.lanes import on_lanes, with_functions

from .dop853 import AGAINST, DAMPED, FREE, HELD, NEAR, REACH
from .lane_watch import PARTS, dense_rows, dense_state, quiet
from .records import END, HANDOVER, POWERS, STIFF

#: rows of the room: whether any run is over, time, start, end, next step, 1 after a rejected one, rtol, counters and
#: their limits, why a run is over (negative while it goes on), 1 for runs that begin, switches
OVER, T, START, T_END, H, REJECTED, RTOL, STEPS, MAX_STEPS, STEPS_HELD, STEPS_FREE, MAY_SWITCH, STATUS = range(13)
FRESH, SWITCHED, STEPS_DAMPED, HEAD = 13, 14, 15, 16
LEFT = 5  # why a run is over for a step: something may happen in it
GOES_ON = -1.0
ARGUMENTS = "double %zero, ptr %room, ptr %a, ptr %b, ptr %c"


@dataclass(frozen=True)
class Places:
    """First rows of the state, its tolerances, the parameters, the field, the gates, and of each watched value its
    side, its width and 1 if it can move; and how many rows there are.
    """

    x: int
    atol: int
    p: int
    f: int
    gates: int
    side: int
    width: int
    movable: int
    rows: int


def places(system: System, count: int = 0) -> Places:
    """Where things are in the room of a system with so many watched values."""
    n = system.dimension
    sizes = (HEAD, n, n, len(system.parameters), n, len(system.surfaces), count, count, count)
    return Places(*itertools.accumulate(sizes))


def assembly(system: System, width: int, watched: Sequence[Node] = ()) -> str:
    """Field, first step and step of a system, with what is watched: its surfaces, then events."""
    text = on_lanes(native.assembly(system, system.nodes, range(system.dimension), True), width)
    if watched:
        text = beside(text, on_lanes(native.assembly(system, watched, range(len(watched)), True), width), "watch")
    return with_functions(text + _begin(system, width, len(watched)) + _step(system, width, len(watched)), width)


def beside(text: str, other: str, name: str) -> str:
    """Code with other code, whose function gets this name."""
    helpers, body = text[: text.index("define internal void")], other[other.index("define internal void") :]
    more = "".join(part for part in _definitions(other) if part not in helpers)
    return more + text + body.replace("@function(", f"@{name}(").replace("@piece", f"@{name}_piece")


def _definitions(text: str) -> list[str]:
    """Functions that a text defines before its own."""
    head = text[: text.index("define internal void")]
    return [f"define{part}" for part in head.split("define")[1:]]


class RoomWriter(LaneWriter):
    """A function of the room of a system."""

    def __init__(self, system: System, width: int, count: int = 0) -> None:
        super().__init__(width)
        self.n, self.count, self.places = system.dimension, count, places(system, count)
        rows = self.places
        self.x, self.atol, self.p, self.f, self.gates = (
            self.place("%room", row) for row in (rows.x, rows.atol, rows.p, rows.f, rows.gates)
        )

    def row(self, number: int) -> LaneValue:
        """A row of the room."""
        return self.load("%room", number)

    def field(self, t: LaneValue, x: str, out: str, code: str = "function") -> None:
        """Compute the field, or what is watched."""
        self.lines.append(
            f"call void @{code}({self.kind} {t.text}, ptr {x}, ptr {self.p}, ptr {self.gates}, ptr {out})"
        )

    def size_of(self, values: str, minus: str = "") -> LaneValue:
        """Norm of n numbers, or of differences, in units of the tolerance at x."""
        total, rtol = self.local(1), self.row(RTOL)
        self.store(0.0, total)
        with self.loop(self.n) as i:
            value = self.load(values, i)
            value = value - self.load(minus, i) if minus else value
            part = value / (self.load(self.atol, i) + self.absolute(self.load(self.x, i)) * rtol)
            self.store(self.load(total) + part * part, total)
        return self.sqrt(self.load(total) / float(self.n))

    def say_over(self, status: LaneValue) -> None:
        """Say in the room whether any run is over."""
        over = self.put(f"uitofp i1 {self.any((status >= 0.0) & (self.row(FRESH) >= 0.0))} to double")
        self.lines.append(f"store double {over}, ptr %room")

    def eighth_root(self, a: LaneValue) -> LaneValue:
        """a^(1/8)."""
        return self.sqrt(self.sqrt(self.sqrt(a)))


def _begin(system: System, width: int, count: int) -> str:
    """Field and first step of the runs that begin; see `initial_step`."""
    w = RoomWriter(system, width, count)
    field, work, other = (w.local(w.n) for _ in range(3))
    t, fresh = w.row(T), w.row(FRESH) > 0.0
    left = w.row(T_END) - t
    w.field(t, w.x, field)
    size, slope = w.size_of(w.x), w.size_of(field)
    h = w.where((size < 1e-5) | (slope < 1e-5), 1e-6, size * 0.01 / slope)
    h = w.least(h, left)
    with w.loop(w.n) as i:
        w.store(w.load(w.x, i) + h * w.load(field, i), work, i)
    w.field(t + h, work, other)
    largest = w.largest(slope, w.size_of(other, field) / h)
    small = w.largest(h * 1e-3, 1e-6)
    second = w.where(largest > 1e-15, w.eighth_root(w.number(0.01) / largest), small)
    found = w.where(h > 0.0, w.least(w.least(h * 100.0, second), left), 0.0)
    w.store(w.where(fresh, found, w.row(H)), "%room", H)
    with w.loop(w.n) as i:
        w.store(w.where(fresh, w.load(field, i), w.load(w.f, i)), w.f, i)
    return w.procedure("begin", ARGUMENTS)


def _step(system: System, width: int, count: int) -> str:
    """One step of every run, to be kept or made again; see `accepted_step`."""
    w = RoomWriter(system, width, count)
    n, t, t_end, before = w.n, w.row(T), w.row(T_END), w.row(H)
    left, rejected = t_end - t, w.row(REJECTED) > 0.0
    least = next_float(w, t)
    tried = w.where(rejected, before, w.largest(before, least))
    h, possible = w.least(tried, left), tried >= least
    K, work, new = [w.f, *(w.local(n) for _ in range(12))], w.local(n), w.local(n)
    for s in range(1, 12):
        _combine(w, K, DOP853.A[s, :s], h, work)
        w.field(t + h * DOP853.C[s], work, K[s])
    _combine(w, K, DOP853.B, h, new)
    w.field(t + h, new, K[12])
    error = _error_size(w, K, new, h)
    within = (error < 1.0) & possible
    accepted = within & _nothing_happens(w, K, new, h, t) if count else within
    root = w.number(1.0) / w.eighth_root(error)
    factor = w.where(error > 0.0, w.least(root * 0.9, 10.0), 10.0)
    longer = h * w.where(rejected, w.least(factor, 1.0), factor)
    shorter = h * w.where(error < float("inf"), w.largest(root * 0.9, 0.2), 0.2)
    t_new = w.where(accepted, w.where(h >= left, t_end, t + h), t)
    steps = w.row(STEPS) + w.where(accepted, 1.0, 0.0)
    stiff = _held(w, K, new, work, h, accepted) & (t_new < t_end)
    status = w.where(accepted & (t_new >= t_end), float(END), w.row(STATUS))
    status = w.where((steps >= w.row(MAX_STEPS)) & (t_new < t_end), float(HANDOVER), status)
    status = w.where(stiff, float(STIFF), status)
    status = w.where(~within & ~((shorter >= least) & possible), float(HANDOVER), status)
    with w.loop(n) as i:
        w.store(w.where(accepted, w.load(new, i), w.load(w.x, i)), w.x, i)
        w.store(w.where(accepted, w.load(K[12], i), w.load(w.f, i)), w.f, i)
    status = w.where(within & ~accepted, float(LEFT), status)
    next_h = w.where(accepted, longer, w.where(within, before, shorter))
    for row, value in ((T, t_new), (H, next_h), (STEPS, steps), (STATUS, status)):
        w.store(value, "%room", row)
    w.store(w.where(within, 0.0, 1.0), "%room", REJECTED)
    w.say_over(status)
    return w.procedure("step", ARGUMENTS)


def _nothing_happens(w: RoomWriter, K: list[str], new: str, h: LaneValue, t: LaneValue) -> LaneValue:
    """Where a step meets nothing; three more stages, as in `dense_table`."""
    n, work, F, V = w.n, w.local(w.n), w.local(POWERS * w.n), w.local(len(PARTS) * w.count)
    stages = [*K, *(w.local(n) for _ in range(3))]
    for s in range(3):
        _combine(w, stages, DOP853.A_EXTRA[s, : 13 + s], h, work)
        w.field(t + h * DOP853.C_EXTRA[s], work, stages[13 + s])
    dense_rows(w, n, stages, w.x, new, h, F)
    for k, part in enumerate(PARTS):
        state = {0.0: w.x, 1.0: new}.get(part, work)
        if state == work:
            dense_state(w, n, F, w.x, part, work)
        w.field(t + h * part, state, w.place(V, k * w.count), "watch")
    side, width, movable = (w.place("%room", row) for row in (w.places.side, w.places.width, w.places.movable))
    return quiet(w, w.count, V, side, width, movable)


def next_float(w: LaneWriter, t: LaneValue) -> LaneValue:
    """Ten times the way to the next float above t."""
    t = w.exact(t, "+", 0.0)  # no -0.0
    bits = w.bits(t)
    up, down = (w.from_bits(w.put(f"add {w.integers} {bits}, {w.whole(one)}")) for one in (1, -1))
    return w.exact(w.where(t >= 0.0, up, down), "-", t) * 10.0


def _combine(w: RoomWriter, K: list[str], row: list[float], h: LaneValue, out: str) -> None:
    """out = x + h sum_j row[j] K[j]."""
    with w.loop(w.n) as i:
        w.store(w.load(w.x, i) + h * _sum(w, K, row, i), out, i)


def _sum(w: RoomWriter, K: list[str], row: list[float], i: str) -> LaneValue:
    parts = [w.load(K[j], i) * float(a) for j, a in enumerate(row) if a != 0.0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _error_size(w: RoomWriter, K: list[str], new: str, h: LaneValue) -> LaneValue:
    """Norm of the estimated error of a step, in units of the tolerance."""
    five, three, rtol = w.local(1), w.local(1), w.row(RTOL)
    for total in (five, three):
        w.store(0.0, total)
    with w.loop(w.n) as i:
        size = w.largest(w.absolute(w.load(w.x, i)), w.absolute(w.load(new, i)))
        scale = w.number(1.0) / (w.load(w.atol, i) + size * rtol)
        for row, total in ((DOP853.E5, five), (DOP853.E3, three)):
            error = _sum(w, K, row, i) * scale
            w.store(w.load(total) + error * error, total)
    square = w.load(five)
    both = square + w.load(three) * 0.01
    found = w.absolute(h) * square / w.sqrt(both * float(w.n))
    return w.where(w.compared("oeq", both, 0.0), 0.0, found)


def _held(w: RoomWriter, K: list[str], new: str, work: str, h: LaneValue, accepted: LaneValue) -> LaneValue:
    """Count steps that are as long as stability allows; where there were too many. See `count_held`.

    A run whose steps are longer than what decays lasts is left as well, and `integrate` tries implicit ones.
    """
    rates, states, along = w.local(1), w.local(1), w.local(1)
    for total in (rates, states, along):
        w.store(0.0, total)
    with w.loop(w.n) as i:
        rate, way = w.load(K[12], i) - w.load(K[11], i), w.load(new, i) - w.load(work, i)
        w.store(w.load(rates) + rate * rate, rates)
        w.store(w.load(states) + way * way, states)
        w.store(w.load(along) + rate * way, along)
    at_reach = h * h * w.load(rates) > w.load(states) * (REACH * REACH)
    held, free = w.row(STEPS_HELD), w.row(STEPS_FREE)
    more_free = w.where(at_reach, 0.0, free + 1.0)
    fewer = w.where(w.compared("oeq", more_free, float(FREE)), 0.0, held)
    more_held = w.where(at_reach, held + 1.0, fewer)
    w.store(w.where(accepted, more_held, held), "%room", STEPS_HELD)
    w.store(w.where(accepted, more_free, free), "%room", STEPS_FREE)
    product = w.load(along)
    against = (product < 0.0) & (product * product > w.load(rates) * w.load(states) * (AGAINST * AGAINST))
    longer = h * h * w.load(rates) > w.load(states) * (NEAR * NEAR)
    damped = w.row(STEPS_DAMPED)
    more_damped = w.where(against & longer, damped + 1.0, 0.0)
    w.store(w.where(accepted, more_damped, damped), "%room", STEPS_DAMPED)
    stiff = (more_held >= float(HELD)) | (more_damped >= float(DAMPED))
    return accepted & stiff & (w.row(MAY_SWITCH) > 0.0)
