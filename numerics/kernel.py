"""A whole run in machine code: steps, switches and events, in the language of `odesys.loops`.

Field and watched values (surfaces first, then events) are code of (t, x, p, g, out), so that this file is compiled once
and serves every system. Where a surface is crossed its gate is turned, if the flow leaves to that side; a slide, or
several surfaces at once, are handed over to the reference integrator.
"""

from __future__ import annotations

import math

from odesys.loops import Array, Code, call

from .dop853 import POWERS, STAGES, dense_table, dense_value, error_size, initial_step, stages

END, EVENT, HANDOVER, STUCK, STEPS, ROOM = range(6)
# what a run is told and tells, by its place
STATUS, INDEX, TIME, STEP, TAKEN, EVALUATIONS, KEPT, HAPPENED, INFO = range(9)
# what a step tells, by its place: its length, the next to try, how often it was tried, the fraction where it ends
LENGTH, NEXT, TRIED, PLACE, HAPPENED_SO_FAR, TOLD = range(6)
NONE, DENIED = -1, -2  # no watched value ends the step; one does whose gate does not allow it
PARTS = 4  # of a step, at whose ends the watched values are read
KNOT = 3  # numbers of a knot, and of what happens
SMALL = 8.9e-16  # relative change of a state that rounding may cause


def memory(n: int, count: int) -> int:
    """How many numbers a run with n states and `count` watched values needs to work with."""
    return (STAGES + POWERS + 3) * n + 4 * count + TOLD


def begin(watch: Code, surfaces: int, count: int, t: float, x: Array, p: Array, g: Array, side: Array, width: Array,
          values: Array) -> None:
    """Gates and sides of all watched values at the start; surfaces may contain other gates."""
    for i in range(surfaces):
        g[i] = 0.0
    for _ in range(surfaces + 1):
        call(watch, t, x, p, g, values)
        changed = 0
        for i in range(surfaces):
            gate = 1.0 if values[i] > 0.0 else 0.0
            if gate != g[i]:
                changed = 1
            g[i] = gate
        if changed == 0:
            break
    for i in range(count):
        side[i] = 1.0 if values[i] > 0.0 else (-1.0 if values[i] < 0.0 else 0.0)
        width[i] = 0.0


def root_part(watch: Code, n: int, t: float, x: Array, p: Array, g: Array, h: float, F: Array, low: float, high: float,
              index: int, side: float, work: Array, values: Array) -> float:
    """Fraction of a step at which a watched value reaches zero: on its side at `low`, past it at `high`."""
    left, right = low, high
    while right - left > 4e-16 * max(right, 1e-3):
        middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        dense_value(n, F, x, middle, work)
        call(watch, t + middle * h, work, p, g, values)
        if side * values[index] > 0.0:
            left = middle
        else:
            right = middle
    return right


def ends_run(i: int, surfaces: int, side: Array, directions: Array, terminal: Array) -> bool:
    """True if a run can not go past the next zero of a watched value: a surface, or an event that ends it."""
    if i < surfaces:
        return True
    return terminal[i - surfaces] != 0.0 and directions[i - surfaces] * side[i] <= 0.0


def dip(watch: Code, n: int, surfaces: int, count: int, t: float, x: Array, p: Array, g: Array, h: float, F: Array,
        middle: float, low: Array, here: Array, high: Array, side: Array, movable: Array, directions: Array,
        terminal: Array, work: Array, values: Array, step: Array) -> int:
    """A value that passes zero and comes back within two parts of a step: which one, with its place; or NONE.

    low, here, high : the values one part before, at, and one part after the fraction `middle`.
    """
    for i in range(count):
        height = side[i] * here[i]
        if movable[i] == 0.0 or height <= 0.0 or not ends_run(i, surfaces, side, directions, terminal):
            continue
        bend = side[i] * (low[i] - 2.0 * here[i] + high[i])
        slope = side[i] * (low[i] - high[i]) / 2.0
        if bend <= 0.0 or abs(slope) >= bend or height - slope * slope / (2.0 * bend) > height / 4.0:
            continue
        lowest = middle + slope / bend / PARTS
        dense_value(n, F, x, lowest, work)
        call(watch, t + lowest * h, work, p, g, values)
        if side[i] * values[i] <= 0.0:
            left = middle if lowest > middle else middle - 1.0 / PARTS
            step[PLACE] = root_part(watch, n, t, x, p, g, h, F, left, lowest, i, side[i], work, values)
            return i
    return NONE


def rate_of(watch: Code, n: int, t: float, x: Array, p: Array, g: Array, f: Array, index: int, reach: float,
            work: Array, values: Array) -> float:
    """Rate of a watched value along the velocity f, by a central difference over 2 `reach`."""
    for i in range(n):
        work[i] = x[i] + reach * f[i]
    call(watch, t + reach, work, p, g, values)
    high = values[index]
    for i in range(n):
        work[i] = x[i] - reach * f[i]
    call(watch, t - reach, work, p, g, values)
    return (high - values[index]) / (2.0 * reach)


def widths(watch: Code, n: int, count: int, t: float, x: Array, p: Array, g: Array, work: Array, values: Array,
           other: Array, out: Array) -> None:
    """How far from zero rounding of the state can leave each watched value."""
    call(watch, t, x, p, g, values)
    for i in range(n):
        work[i] = x[i] * (1.0 + (SMALL if i % 2 == 1 else -SMALL))
    call(watch, t, work, p, g, other)
    for k in range(count):
        out[k] = 4.0 * abs(other[k] - values[k])


def turns(field: Code, watch: Code, n: int, surfaces: int, count: int, t: float, x: Array, p: Array, g: Array, h: float,
          found: int, side: Array, width: Array, movable: Array, work: Array, velocity: Array, watched: Array) -> bool:
    """Turn the gate of a surface that was reached, and say if the flow leaves to that side; if not, turn it back."""
    values, other, spare = watched, watched[count:], watched[2 * count:]
    widths(watch, n, count, t, x, p, g, work, values, other, spare)
    zero, near = spare[found] + abs(values[found]), 0
    for i in range(surfaces):
        if movable[i] != 0.0 and (i == found or abs(values[i]) <= 4.0 * spare[i]):
            near += 1
    call(field, t, x, p, g, velocity)
    old = rate_of(watch, n, t, x, p, g, velocity, found, 1e-5 * h, work, spare)
    g[found] = 1.0 - g[found]
    call(field, t, x, p, g, velocity)
    new = rate_of(watch, n, t, x, p, g, velocity, found, 1e-5 * h, work, spare)
    if near > 1 or not -side[found] * new > 1e-6 * abs(old):
        g[found] = 1.0 - g[found]
        return False
    width[found] = zero
    return True


def note(happenings: Array, step: Array, t: float, i: int, direction: float) -> None:
    """Write down that a watched value passed zero."""
    row = happenings[KNOT * int(step[HAPPENED_SO_FAR]):]
    row[0], row[1], row[2] = t, i, direction
    step[HAPPENED_SO_FAR] += 1.0


def keep(n: int, kept: int, t_new: float, t: float, h: float, new: Array, F: Array, knots: Array, states: Array,
         tables: Array) -> None:
    """Keep a step: its end, start and length, its last state and its polynomial."""
    knot, state, table = knots[KNOT * kept:], states[kept * n:], tables[kept * POWERS * n:]
    knot[0], knot[1], knot[2] = t_new, t, h
    for i in range(n):
        state[i] = new[i]
    for i in range(POWERS * n):
        table[i] = F[i]


def accepted_step(field: Code, n: int, t: float, x: Array, p: Array, g: Array, t_end: float, h_try: float, rtol: float,
                  atol: float, K: Array, work: Array, new: Array, step: Array) -> bool:
    """Make a step within the tolerance, from `h_try` downwards; False if it would be below rounding."""
    least, h_abs, rejected = 10.0 * (math.nextafter(t, math.inf) - t), h_try, False
    h_abs = max(h_abs, least)
    step[TRIED] = 0.0
    while h_abs >= least:
        h = min(h_abs, t_end - t)
        stages(field, n, t, x, p, g, h, K, work, new)
        step[TRIED] += 1.0
        error = error_size(n, K, x, new, h, rtol, atol)
        if error < 1.0:
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error ** -0.125)
            step[LENGTH], step[NEXT] = h, h * (min(1.0, factor) if rejected else factor)
            return True
        h_abs = h * (max(0.2, 0.9 * error ** -0.125) if error < math.inf else 0.2)
        rejected = True
    return False


def met(watch: Code, n: int, surfaces: int, count: int, t: float, x: Array, p: Array, g: Array, h: float, t_new: float,
        new: Array, F: Array, side: Array, width: Array, movable: Array, directions: Array, terminal: Array,
        happenings: Array, work: Array, watched: Array, step: Array) -> int:
    """The first watched value that ends a step, with its place in it; or NONE, or DENIED by the gate of a surface.

    What is passed on the way is written down; `watched` is room for four times the watched values.
    """
    values, before, older, spare = watched, watched[count:], watched[2 * count:], watched[3 * count:]
    found, left = NONE, 0.0
    step[PLACE] = 1.0
    call(watch, t, x, p, g, before)
    for k in range(1, PARTS + 1):
        right = k / PARTS
        if k < PARTS:
            dense_value(n, F, x, right, work)
            call(watch, t + right * h, work, p, g, values)
        else:
            call(watch, t_new, new, p, g, values)
        for i in range(count):
            if movable[i] == 0.0:
                continue
            if side[i] == 0.0:
                if abs(values[i]) > 16.0 * width[i]:
                    side[i] = 1.0 if values[i] > 0.0 else -1.0
                    if i < surfaces and side[i] != 2.0 * g[i] - 1.0:
                        return DENIED
            elif ends_run(i, surfaces, side, directions, terminal) and side[i] * values[i] <= 0.0:
                spot = root_part(watch, n, t, x, p, g, h, F, left, right, i, side[i], work, spare)
                if found == NONE or spot < step[PLACE]:
                    found = i
                    step[PLACE] = spot
        for i in range(surfaces, count):  # events that are passed on the way
            if side[i] * values[i] < 0.0 and not ends_run(i, surfaces, side, directions, terminal):
                spot = root_part(watch, n, t, x, p, g, h, F, left, right, i, side[i], work, spare)
                if found == NONE or spot < step[PLACE]:
                    if directions[i - surfaces] * side[i] <= 0.0:
                        note(happenings, step, t + spot * h, i, -side[i])
                    side[i] = -side[i]
        if found == NONE and k > 1:
            found = dip(watch, n, surfaces, count, t, x, p, g, h, F, left, older, before, values, side, movable,
                        directions, terminal, work, spare, step)
        if found != NONE:
            return found
        for i in range(count):
            older[i], before[i] = before[i], values[i]
        left = right
    return NONE


def run(field: Code, watch: Code, n: int, surfaces: int, count: int, x: Array, p: Array, g: Array, t_end: float,
        rtol: float, atol: float, side: Array, width: Array, movable: Array, directions: Array, terminal: Array,
        max_steps: int, rows: int, knots: Array, states: Array, tables: Array, places: int, happenings: Array,
        space: Array, info: Array) -> None:
    """Integrate to `t_end`, a terminal event, where the reference integrator has to go on, or until the room is full.

    x, g, side, width : state, gates, and for each watched value the side of zero it is on (0: not yet left) and the
        width of its zero; all are moved along in place.
    movable, directions, terminal : which watched values can change; of each event its direction and if it ends the run.
    rows, knots, states, tables : room for what is to be kept of every step (end, start and length of the step; the
        state; the polynomial); with no rows nothing is kept.
    places, happenings : room for (time, index, direction) of what happens.
    space : `memory` numbers to work with.
    info : status, index, time, next step (0 to choose one), and numbers of steps, evaluations, knots, happenings.
    """
    K, F = space, space[STAGES * n:]
    new, work, other = F[POWERS * n:], F[(POWERS + 1) * n:], F[(POWERS + 2) * n:]
    watched = F[(POWERS + 3) * n:]
    step = watched[4 * count:]
    t, h_abs = info[TIME], info[STEP]
    taken, evaluations, kept = 0, 1, 0
    status, index = END, -1
    step[HAPPENED_SO_FAR] = 0.0
    call(field, t, x, p, g, K)
    if h_abs == 0.0 and t < t_end:
        h_abs = initial_step(field, n, t, x, p, g, t_end, K, rtol, atol, work, other)
        evaluations += 1
    while t < t_end:
        if (rows > 0 and kept == rows) or step[HAPPENED_SO_FAR] + PARTS * count >= places:
            status = ROOM
            break
        if taken >= max_steps:
            status = STEPS
            break
        possible = accepted_step(field, n, t, x, p, g, t_end, h_abs, rtol, atol, K, work, new, step)
        evaluations += 12 * int(step[TRIED])
        if not possible:
            status = STUCK
            break
        taken += 1
        h, h_abs, passed = step[LENGTH], step[NEXT], step[HAPPENED_SO_FAR]
        t_new = t_end if h >= t_end - t else t + h
        found = NONE
        if rows > 0 or count > 0:
            dense_table(field, n, t, x, p, g, h, new, K, F, work)
            evaluations += 3
        if count > 0:
            found = met(watch, n, surfaces, count, t, x, p, g, h, t_new, new, F, side, width, movable, directions,
                        terminal, happenings, work, watched, step)
        if found >= 0:
            t_new = t + step[PLACE] * h
            dense_value(n, F, x, step[PLACE], new)
        turned = False
        if 0 <= found < surfaces:
            evaluations += 3
            turned = turns(field, watch, n, surfaces, count, t_new, new, p, g, h, found, side, width, movable, work,
                           other, watched)
        if found == DENIED or (0 <= found < surfaces and not turned):  # the step is not taken
            status, index = HANDOVER, found
            step[HAPPENED_SO_FAR] = passed
            break
        if rows > 0:
            keep(n, kept, t_new, t, h, new, F, knots, states, tables)
            kept += 1
        t = t_new
        for i in range(n):
            x[i] = new[i]
            K[i] = K[12 * n + i]
        if found == NONE:
            continue
        note(happenings, step, t, found, -side[found])
        if found >= surfaces:
            status, index = EVENT, found - surfaces
            break
        side[found] = 0.0
        call(field, t, x, p, g, K)
        h_abs = h
    info[STATUS], info[INDEX], info[TIME], info[STEP] = status, index, t, h_abs
    info[TAKEN], info[EVALUATIONS], info[KEPT], info[HAPPENED] = taken, evaluations, kept, step[HAPPENED_SO_FAR]


def many(field: Code, watch: Code, n: int, surfaces: int, count: int, points: int, sizes: int, x: Array, p: Array,
         g: Array, t0: float, t_end: float, rtol: float, atol: Array, side: Array, width: Array, movable: Array,
         directions: Array, terminal: Array, max_steps: int, places: int, happenings: Array, space: Array,
         info: Array) -> None:
    """Runs of many starts (points, n) with their parameters (points, sizes), of which the ends are kept, in x."""
    for k in range(points):
        start, given, told = x[k * n:], p[k * sizes:], info[k * INFO:]
        begin(watch, surfaces, count, t0, start, given, g, side, width, space)
        told[STATUS], told[TIME], told[STEP] = ROOM, t0, 0.0
        taken, evaluations = 0, 0
        while told[STATUS] == ROOM:
            run(field, watch, n, surfaces, count, start, given, g, t_end, rtol, atol[k], side, width, movable,
                directions, terminal, max_steps - taken, 0, space, space, space, places, happenings, space, told)
            taken, evaluations = taken + int(told[TAKEN]), evaluations + int(told[EVALUATIONS])
        told[TAKEN], told[EVALUATIONS] = taken, evaluations
