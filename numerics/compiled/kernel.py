"""A whole run in machine code: steps, switches and events, in the language of `odesys.jit.loops`.

Field and watched values (surfaces first, then events) are code of (t, x, p, g, out), so that this file is compiled once
and serves every system. Where a surface is crossed its gate is turned, if the flow leaves to that side; a slide, or
several surfaces at once, are handed over to the reference integrator.
"""

from __future__ import annotations

import math

from odesys.jit.loops import Array, Code, call

from .crossings import (
    DENIED,
    HAPPENED_SO_FAR,
    KNOT,
    LENGTH,
    NEXT,
    NONE,
    PARTS,
    PLACE,
    TOLD,
    TRIED,
    met,
    note,
    passed,
    read_parts,
    turns,
)
from .dop853 import POWERS, STAGES, dense_table, dense_value, error_size, initial_step, stages

END, EVENT, HANDOVER, STUCK, STEPS, ROOM = range(6)
# what a run is told and tells, by its place
STATUS, INDEX, TIME, STEP, TAKEN, EVALUATIONS, KEPT, HAPPENED, INFO = range(9)


def memory(n: int, count: int) -> int:
    """How many numbers a run with n states and `count` watched values needs to work with."""
    return (STAGES + POWERS + 3) * n + (PARTS + 4) * count + TOLD


def begin(
    watch: Code,
    surfaces: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    side: Array,
    width: Array,
    values: Array,
) -> None:
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


def accepted_step(
    field: Code,
    n: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    t_end: float,
    h_try: float,
    rtol: float,
    atol: float,
    K: Array,
    work: Array,
    new: Array,
    step: Array,
) -> bool:
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
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.125)
            step[LENGTH], step[NEXT] = h, h * (min(1.0, factor) if rejected else factor)
            return True
        h_abs = h * (max(0.2, 0.9 * error**-0.125) if error < math.inf else 0.2)
        rejected = True
    return False


def keep(
    n: int,
    kept: int,
    t_new: float,
    t: float,
    h: float,
    new: Array,
    F: Array,
    knots: Array,
    states: Array,
    tables: Array,
) -> None:
    """Keep a step: its end, start and length, its last state and its polynomial."""
    knot, state, table = knots[KNOT * kept :], states[kept * n :], tables[kept * POWERS * n :]
    knot[0], knot[1], knot[2] = t_new, t, h
    for i in range(n):
        state[i] = new[i]
    for i in range(POWERS * n):
        table[i] = F[i]


def move(n: int, x: Array, new: Array, K: Array) -> None:
    """Go to the end of a step, whose last stage is the first of the next."""
    for i in range(n):
        x[i] = new[i]
        K[i] = K[12 * n + i]


def run(
    field: Code,
    watch: Code,
    n: int,
    surfaces: int,
    count: int,
    x: Array,
    p: Array,
    g: Array,
    t_end: float,
    rtol: float,
    atol: float,
    side: Array,
    width: Array,
    movable: Array,
    directions: Array,
    terminal: Array,
    max_steps: int,
    rows: int,
    knots: Array,
    states: Array,
    tables: Array,
    places: int,
    happenings: Array,
    space: Array,
    info: Array,
) -> None:
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
    K, F = space, space[STAGES * n :]
    new, work, other = F[POWERS * n :], F[(POWERS + 1) * n :], F[(POWERS + 2) * n :]
    V = F[(POWERS + 3) * n :]
    watched = V[(PARTS + 1) * count :]
    step = watched[3 * count :]
    t, h_abs = info[TIME], info[STEP]
    taken, evaluations, kept = 0, 1, 0
    status, index = END, -1
    step[HAPPENED_SO_FAR] = 0.0
    call(field, t, x, p, g, K)
    if h_abs == 0.0 and t < t_end:
        h_abs = initial_step(field, n, t, x, p, g, t_end, K, rtol, atol, work, other)
        evaluations += 1
    while t < t_end:
        if (rows > 0 and kept == rows) or step[HAPPENED_SO_FAR] + 2 * PARTS * count >= places:
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
        h, h_abs, before = step[LENGTH], step[NEXT], step[HAPPENED_SO_FAR]
        t_new = t_end if h >= t_end - t else t + h
        found = NONE
        if rows > 0 or count > 0:
            dense_table(field, n, t, x, p, g, h, new, K, F, work)
            evaluations += 3
        if count > 0:
            read_parts(watch, n, count, t, x, p, g, h, t_new, new, F, work, V)
            found = met(
                watch,
                n,
                surfaces,
                count,
                t,
                x,
                p,
                g,
                h,
                F,
                V,
                side,
                width,
                movable,
                directions,
                terminal,
                work,
                watched,
                watched[count:],
                step,
            )
        if count > surfaces and found != DENIED:
            passed(
                watch,
                n,
                surfaces,
                count,
                t,
                x,
                p,
                g,
                h,
                F,
                V,
                side,
                width,
                directions,
                terminal,
                found,
                happenings,
                work,
                watched,
                step,
            )
        if found >= 0:
            t_new = t + step[PLACE] * h
            dense_value(n, F, x, step[PLACE], new)
        turned = False
        if 0 <= found < surfaces:
            evaluations += 3
            turned = turns(
                field, watch, n, surfaces, count, t_new, new, p, g, h, found, side, width, movable, work, other, watched
            )
        if found == DENIED or (0 <= found < surfaces and not turned):  # the step is not taken
            status, index = HANDOVER, found
            step[HAPPENED_SO_FAR] = before
            break
        if rows > 0 and t_new > t:
            keep(n, kept, t_new, t, h, new, F, knots, states, tables)
            kept += 1
        t = t_new
        move(n, x, new, K)
        if found == NONE:
            continue
        note(happenings, step, t, found, side[found], 0.0)
        if found >= surfaces:
            status, index = EVENT, found - surfaces
            break
        side[found] = 0.0
        call(field, t, x, p, g, K)
        h_abs = h
    info[STATUS], info[INDEX], info[TIME], info[STEP] = status, index, t, h_abs
    info[TAKEN], info[EVALUATIONS], info[KEPT], info[HAPPENED] = taken, evaluations, kept, step[HAPPENED_SO_FAR]


def many(
    field: Code,
    watch: Code,
    n: int,
    surfaces: int,
    count: int,
    points: int,
    sizes: int,
    x: Array,
    p: Array,
    g: Array,
    t0: float,
    t_end: float,
    rtol: float,
    atol: Array,
    side: Array,
    width: Array,
    movable: Array,
    directions: Array,
    terminal: Array,
    max_steps: int,
    places: int,
    happenings: Array,
    space: Array,
    info: Array,
) -> None:
    """Runs of many starts (points, n) with their parameters (points, sizes), of which the ends are kept, in x."""
    for k in range(points):
        start, given, told = x[k * n :], p[k * sizes :], info[k * INFO :]
        begin(watch, surfaces, count, t0, start, given, g, side, width, space)
        told[STATUS], told[TIME], told[STEP] = ROOM, t0, 0.0
        taken, evaluations = 0, 0
        while told[STATUS] == ROOM:
            run(
                field,
                watch,
                n,
                surfaces,
                count,
                start,
                given,
                g,
                t_end,
                rtol,
                atol[k],
                side,
                width,
                movable,
                directions,
                terminal,
                max_steps - taken,
                0,
                space,
                space,
                space,
                places,
                happenings,
                space,
                told,
            )
            taken, evaluations = taken + int(told[TAKEN]), evaluations + int(told[EVALUATIONS])
        told[TAKEN], told[EVALUATIONS] = taken, evaluations
