"""Steps by Taylor series for several runs at once, as LLVM assembly of one system; see `taylor.py` and `lane_step.py`.

Where the field has branches, a run whose series leads to another one is left: its slope at the end of a step is kept
in the place of the field, and compared with the field that the next step begins with; the last step has one more of no
length behind it. Elsewhere only a step that is much longer than the one before is compared, with the field itself, and
a run whose series does not solve the equation there is left.

The length of a step is a power of the size of the last terms. It needs no more than some digits of it, so logarithms
are taken from the exponent of a float and a polynomial of its fraction, within 10^-4.
"""

from __future__ import annotations

import math

import numpy as np

from odesys.expr.system import System
from odesys.jit import native
from odesys.jit.lane_text import LaneValue
from odesys.jit.lanes import on_lanes, with_functions
from odesys.jit.taylor import assembly as coefficients
from odesys.jit.taylor import has_branches

from .lane_step import ARGUMENTS, FRESH, MAX_STEPS, RTOL, STATUS, STEPS, T_END, H, RoomWriter, T, beside, next_float
from .records import END, HANDOVER
from .taylor import GROWTH, LEAP, SAFETY

DEGREE = 5
_NODES = 1.5 + 0.5 * np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
FRACTION = np.polyfit(_NODES, np.log2(_NODES), DEGREE)  # log2 on [1, 2), through its values at Chebyshev's nodes
ONE_BITS, FRACTION_BITS, WHOLE = 0x3FF0000000000000, 0x000FFFFFFFFFFFFF, 2.0**52


def assembly(system: System, order: int, width: int) -> str:
    """Coefficients and step of a system without surfaces."""
    text = on_lanes(coefficients(system, order), width)
    if not has_branches(system):
        field = on_lanes(native.assembly(system, system.nodes, range(system.dimension), True), width)
        text = beside(text, field, "field")
    return with_functions(text + _begin(system, width) + _step(system, order, width), width)


def _begin(system: System, width: int) -> str:
    """Runs that begin have no step before, and no slope to compare with."""
    w = RoomWriter(system, width)
    fresh = w.row(FRESH) > 0.0
    if not has_branches(system):
        w.store(w.where(fresh, 0.0, w.row(H)), "%room", H)
    else:
        with w.loop(w.n) as i:
            w.store(w.where(fresh, math.nan, w.load(w.f, i)), w.f, i)
    return w.procedure("begin", ARGUMENTS)


def _step(system: System, order: int, width: int) -> str:
    w = RoomWriter(system, width)
    n, t, t_end = w.n, w.row(T), w.row(T_END)
    left, least, K = t_end - t, next_float(w, t), w.local(order * w.n)
    w.field(t, w.x, K)
    branches = has_branches(system)
    left_branch = _left_branch(w, K) if branches else None
    longest, bounded = _longest(w, K, order)
    possible = bounded & ((longest >= least) | (longest >= left))
    h, ends = w.least(longest, left), longest >= left
    finite = w.local(1)
    w.store(0.0, finite)
    new = w.local(n)
    with w.loop(n) as i:
        total = w.load(K, _place(w, order - 1, i))
        for m in range(order - 2, -1, -1):
            total = w.fma(total, h, w.load(K, _place(w, m, i)))
        total = w.fma(total, h, w.load(w.x, i))
        w.store(total, new, i)
        if branches:
            slope = w.load(K, _place(w, order - 1, i)) * float(order)
            for m in range(order - 2, -1, -1):
                slope = w.fma(slope, h, w.load(K, _place(w, m, i)) * float(m + 1))
            w.store(slope, w.f, i)
        w.store(w.load(finite) + w.exact(total, "*", 0.0), finite)  # 0 if all are finite, else not a number
    made = possible & (w.load(finite) >= 0.0)
    with w.loop(n) as i:
        w.store(w.where(made, w.load(new, i), w.load(w.x, i)), w.x, i)
    t_new = w.where(made, w.where(ends, t_end, t + h), t)
    steps = w.row(STEPS) + w.where(made, 1.0, 0.0)
    over = made & ends & (t >= t_end) if branches else made & ends
    status = w.where(over, float(END), w.row(STATUS))
    status = w.where((steps >= w.row(MAX_STEPS)) & (t_new < t_end), float(HANDOVER), status)
    status = w.where(made, status, float(HANDOVER))
    if left_branch is not None:
        status = w.where(left_branch, float(HANDOVER), status)
    else:
        wrong, grown = w.local(1), made & (h > w.row(H) * GROWTH)
        w.store(0.0, wrong)
        with w.where_any(grown):
            _note_wrong(w, K, order, t_new, h, wrong)
        status = w.where(grown & (w.load(wrong) > 0.0), float(HANDOVER), status)
    for row, value in ((T, t_new), (H, h), (STEPS, steps), (STATUS, status)):
        w.store(value, "%room", row)
    w.say_over(status)
    return w.procedure("step", ARGUMENTS)


def _left_branch(w: RoomWriter, K: str) -> LaneValue:
    """Where the field is not the slope of the step before; see `taylor.on_branch`."""
    found, before, rtol = w.local(1), w.row(H), w.row(RTOL)
    w.store(0.0, found)
    with w.loop(w.n) as i:
        gap = before * w.absolute(w.load(K, i) - w.load(w.f, i))
        room = (w.load(w.atol, i) + w.absolute(w.load(w.x, i)) * rtol) * LEAP
        w.store(w.where(gap > room, 1.0, w.load(found)), found)
    return w.load(found) > 0.0


def _note_wrong(w: RoomWriter, K: str, order: int, t_new: LaneValue, h: LaneValue, wrong: str) -> None:
    """Write 1 where the slope of the series is not the field where a step of length h ends; see `taylor.on_branch`."""
    field, rtol = w.local(w.n), w.row(RTOL)
    w.field(t_new, w.x, field, "field")
    with w.loop(w.n) as i:
        slope = w.load(K, _place(w, order - 1, i)) * float(order)
        for m in range(order - 2, -1, -1):
            slope = w.fma(slope, h, w.load(K, _place(w, m, i)) * float(m + 1))
        gap = h * w.absolute(slope - w.load(field, i))
        room = (w.load(w.atol, i) + w.absolute(w.load(w.x, i)) * rtol) * LEAP
        w.store(w.where(room >= gap, w.load(wrong), 1.0), wrong)


def _place(w: RoomWriter, row: int, i: str) -> str:
    return w.put(f"add i64 {i}, {row * w.n}")


def _longest(w: RoomWriter, K: str, order: int) -> tuple[LaneValue, LaneValue]:
    """The step at which the last two terms are within the tolerance, and where they are bounded; see `longest_step`."""
    rtol, totals = w.row(RTOL), [w.local(1), w.local(1)]
    for total in totals:
        w.store(0.0, total)
    with w.loop(w.n) as i:
        scale = w.number(1.0) / (w.load(w.atol, i) + w.absolute(w.load(w.x, i)) * rtol)
        for k, total in zip((order - 2, order - 1), totals, strict=True):
            part = w.load(K, _place(w, k, i)) * scale
            w.store(w.load(total) + part * part, total)
    squares = [w.load(total) * (1.0 / w.n) for total in totals]
    rates = [_log2(w, square) * (0.5 / k) for k, square in zip((order - 1, order), squares, strict=True)]
    bounded = (squares[0] < math.inf) & (squares[1] < math.inf)
    fastest = w.largest(rates[0], rates[1]) * -math.log(2.0)
    return w.value(w.put(f"call {w.kind} @lanes_exp({w.kind} {fastest.text})")) * SAFETY, bounded


def _log2(w: RoomWriter, a: LaneValue) -> LaneValue:
    """Logarithm of numbers that are not negative, within 10^-4; about -1023 for zero."""
    bits = w.bits(a)
    upper = w.put(f"lshr {w.integers} {bits}, {w.whole(52)}")
    whole_bits = w.put(f"or {w.integers} {upper}, {w.bits(w.number(WHOLE))}")
    exponent = w.exact(w.exact(w.from_bits(whole_bits), "-", WHOLE), "-", 1023.0)
    lower = w.put(f"and {w.integers} {bits}, {w.whole(FRACTION_BITS)}")
    fraction = w.from_bits(w.put(f"or {w.integers} {lower}, {w.whole(ONE_BITS)}"))
    found = w.number(FRACTION[0])
    for c in FRACTION[1:]:
        found = w.fma(found, fraction, w.number(c))
    return exponent + found
