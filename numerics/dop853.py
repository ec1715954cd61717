r"""Runge-Kutta of order 8 by Dormand and Prince with switches and events, compiled by numba.

Field and watched values (surfaces first, then events) are machine code of (t, x, p, g, out), called by address
(`odesys.native`), so that this file is compiled once a machine and serves every system. Step control, initial step and
dense output are those of `scipy.integrate.DOP853`, whose tables it uses. Without numba the same lines run as Python.

Where a surface is crossed its gate is turned, if the flow leaves to that side; a slide, or several surfaces at once,
are handed over to the reference integrator.
"""

# mypy: disallow_untyped_defs = False, check_untyped_defs = False
from __future__ import annotations

import math

import numpy as np
from scipy.integrate import DOP853

from odesys.machine_code import apply, njit

END, EVENT, HANDOVER, STUCK, STEPS, ROOM = range(6)
PARTS = 4  # of a step, at whose ends the watched values are read
A, B, C, E3, E5, D = (np.array(getattr(DOP853, name)) for name in ("A", "B", "C", "E3", "E5", "D"))
A_EXTRA, C_EXTRA = np.array(DOP853.A_EXTRA), np.array(DOP853.C_EXTRA)


@njit(cache=True, error_model="numpy")
def combine(K, row, count, x, h, out):
    """out = x + h sum_j row[j] K[j]."""
    n = x.size
    for i in range(n):
        out[i] = 0.0
    for j in range(count):
        a = row[j]
        if a != 0.0:
            for i in range(n):
                out[i] += a * K[j, i]
    for i in range(n):
        out[i] = x[i] + h * out[i]


@njit(cache=True, error_model="numpy")
def initial_step(field, t, x, p, g, t_end, f, rtol, atol, work, other):
    """First step by the sizes of the field and of its change."""
    n = x.size
    size0 = size1 = change = 0.0
    for i in range(n):
        scale = atol[i] + abs(x[i]) * rtol
        size0 += (x[i] / scale) ** 2
        size1 += (f[i] / scale) ** 2
    size0, size1 = math.sqrt(size0 / n), math.sqrt(size1 / n)
    h = 1e-6 if size0 < 1e-5 or size1 < 1e-5 else 0.01 * size0 / size1
    h = min(h, t_end - t)
    for i in range(n):
        work[i] = x[i] + h * f[i]
    apply(field, t + h, work, p, g, other)
    for i in range(n):
        change += ((other[i] - f[i]) / (atol[i] + abs(x[i]) * rtol)) ** 2
    change = math.sqrt(change / n) / h
    largest = max(size1, change)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / 8.0)
    return min(100 * h, second, t_end - t)


@njit(cache=True, error_model="numpy")
def error_size(K, x, new, h, rtol, atol):
    """Norm of the estimated error of a step, in units of the tolerance."""
    n = x.size
    five = three = 0.0
    for i in range(n):
        scale = atol[i] + max(abs(x[i]), abs(new[i])) * rtol
        e5 = e3 = 0.0
        for j in range(13):
            e5 += E5[j] * K[j, i]
            e3 += E3[j] * K[j, i]
        five += (e5 / scale) ** 2
        three += (e3 / scale) ** 2
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / math.sqrt((five + 0.01 * three) * n)


@njit(cache=True, error_model="numpy")
def dense_table(field, t, x, p, g, h, new, K, F, work):
    """Fill F (7, n): the polynomial between x at t and `new` at t + h; three more stages."""
    n = x.size
    for s in range(3):
        combine(K, A_EXTRA[s], 13 + s, x, h, work)
        apply(field, t + C_EXTRA[s] * h, work, p, g, K[13 + s])
    for i in range(n):
        change = new[i] - x[i]
        F[0, i] = change
        F[1, i] = h * K[0, i] - change
        F[2, i] = 2 * change - h * (K[12, i] + K[0, i])
        for k in range(4):
            total = 0.0
            for j in range(16):
                total += D[k, j] * K[j, i]
            F[3 + k, i] = h * total


@njit(cache=True, error_model="numpy")
def dense_value(F, x, part, out):
    """The state at the fraction `part` of a step that starts at x."""
    for i in range(x.size):
        y = F[6, i] * part
        y = (y + F[5, i]) * (1 - part)
        y = (y + F[4, i]) * part
        y = (y + F[3, i]) * (1 - part)
        y = (y + F[2, i]) * part
        y = (y + F[1, i]) * (1 - part)
        out[i] = x[i] + (y + F[0, i]) * part


@njit(cache=True, error_model="numpy")
def root_part(watch, t, x, p, g, h, F, left, right, index, side, work, values):
    """Fraction of a step at which a watched value reaches zero: on its side at `left`, past it at `right`."""
    while right - left > 4e-16 * max(right, 1e-3):
        middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        dense_value(F, x, middle, work)
        apply(watch, t + middle * h, work, p, g, values)
        if side * values[index] > 0:
            left = middle
        else:
            right = middle
    return right


@njit(cache=True, error_model="numpy")
def dip(watch, t, x, p, g, h, F, middle, low, here, high, side, movable, surfaces, directions, terminal, work, values):
    """A value that passes zero and comes back within two parts of a step: which one and where, or -1.

    low, here, high : the values one part before, at, and one part after the fraction `middle`.
    """
    for i in range(side.size):
        if not movable[i] or side[i] == 0.0 or side[i] * here[i] <= 0:
            continue
        if i >= surfaces and not (terminal[i - surfaces] and directions[i - surfaces] * side[i] <= 0):
            continue
        bend = side[i] * (low[i] - 2 * here[i] + high[i])
        slope = side[i] * (low[i] - high[i]) / 2
        if bend <= 0 or abs(slope) >= bend or side[i] * here[i] - slope * slope / (2 * bend) > side[i] * here[i] / 4:
            continue
        lowest = middle + slope / bend / PARTS
        dense_value(F, x, lowest, work)
        apply(watch, t + lowest * h, work, p, g, values)
        if side[i] * values[i] <= 0:
            left = middle if lowest > middle else middle - 1.0 / PARTS
            return i, root_part(watch, t, x, p, g, h, F, left, lowest, i, side[i], work, values)
    return -1, 1.0


@njit(cache=True, error_model="numpy")
def rate_of(watch, t, x, p, g, f, index, reach, work, values):
    """Rate of a watched value along the velocity f, by a central difference over 2 `reach`."""
    n = x.size
    for i in range(n):
        work[i] = x[i] + reach * f[i]
    apply(watch, t + reach, work, p, g, values)
    high = values[index]
    for i in range(n):
        work[i] = x[i] - reach * f[i]
    apply(watch, t - reach, work, p, g, values)
    return (high - values[index]) / (2 * reach)


@njit(cache=True, error_model="numpy")
def widths(watch, t, x, p, g, work, values, other, out):
    """How far from zero rounding of the state can leave each watched value."""
    apply(watch, t, x, p, g, values)
    for i in range(x.size):
        work[i] = x[i] * (1 + (8.9e-16 if i % 2 else -8.9e-16))
    apply(watch, t, work, p, g, other)
    for k in range(out.size):
        out[k] = 4 * abs(other[k] - values[k])


@njit(cache=True, error_model="numpy")
def run(field, watch, t, x, p, g, t_end, rtol, atol, h_abs, side, width, movable, directions, terminal, max_steps,
        knots, states, tables, happenings):
    """Integrate to `t_end`, a terminal event, where the reference integrator has to go on, or until the room is full.

    field, watch : addresses of machine code.
    x, g, side, width : state, gates, and for each watched value the side of zero it is on (0: not yet left) and the
        width of its zero; all are moved along in place.
    movable, directions, terminal : which watched values can change; of each event its direction and if it ends the run.
    h_abs : step to try first; 0 to choose one.
    knots, states, tables, happenings : room for what is to be kept of every step (end, start and length of the step;
        the state; the polynomial), and for (time, index, direction) of what happens; without room steps are not kept.
    Gives status, index, t, next step, steps, evaluations, number of knots and of happenings.
    """
    n, count, keep = x.size, side.size, knots.shape[0] > 0
    surfaces = count - directions.size
    K, F = np.empty((16, n)), np.empty((7, n))
    new, work, other = np.empty(n), np.empty(n), np.empty(n)
    values, before, older, spare = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    steps = evaluations = kept = happened = 0
    zero = 0.0
    status, index = END, -1
    apply(field, t, x, p, g, K[0])
    if h_abs == 0.0:
        h_abs = initial_step(field, t, x, p, g, t_end, K[0], rtol, atol, work, other)
    evaluations += 2
    while t < t_end:
        if (keep and kept == knots.shape[0]) or happened + PARTS * count >= happenings.shape[0]:
            status = ROOM
            break
        if steps >= max_steps:
            status = STEPS
            break
        # ---- one accepted step
        rejected, least = False, 10 * abs(np.nextafter(t, np.inf) - t)
        h_abs = max(h_abs, least)
        stuck = False
        while True:
            if not h_abs >= least:
                stuck = True
                break
            h = min(h_abs, t_end - t)
            for s in range(1, 12):
                combine(K, A[s], s, x, h, work)
                apply(field, t + C[s] * h, work, p, g, K[s])
            combine(K, B, 12, x, h, new)
            apply(field, t + h, new, p, g, K[12])
            evaluations += 12
            error = error_size(K, x, new, h, rtol, atol)
            if error < 1:
                factor = 10.0 if error == 0 else min(10.0, 0.9 * error ** (-0.125))
                h_abs = h * (min(1.0, factor) if rejected else factor)
                break
            h_abs = h * (max(0.2, 0.9 * error ** (-0.125)) if error < np.inf else 0.2)
            rejected = True
        if stuck:
            status = STUCK
            break
        steps += 1
        t_new = t_end if h >= t_end - t else t + h
        # ---- what the step meets
        found, part_found, denied, passed = -1, 1.0, False, happened
        if keep or count:
            dense_table(field, t, x, p, g, h, new, K, F, work)
            evaluations += 3
        left = 0.0
        if count:
            apply(watch, t, x, p, g, before)
        for k in range(1, PARTS + 1 if count else 0):
            right = k / PARTS
            if k < PARTS:
                dense_value(F, x, right, work)
                apply(watch, t + right * h, work, p, g, values)
            else:
                apply(watch, t_new, new, p, g, values)
            for i in range(count):
                if not movable[i]:
                    continue
                if side[i] == 0.0:
                    if abs(values[i]) > 16 * width[i]:
                        side[i] = 1.0 if values[i] > 0 else -1.0
                        if i < surfaces and side[i] != 2 * g[i] - 1:
                            denied = True
                    continue
                ends = i < surfaces or (terminal[i - surfaces] and directions[i - surfaces] * side[i] <= 0)
                if ends and side[i] * values[i] <= 0:
                    place = root_part(watch, t, x, p, g, h, F, left, right, i, side[i], work, spare)
                    if place < part_found or found < 0:
                        found, part_found = i, place
            for i in range(surfaces, count):  # events that are passed on the way
                j = i - surfaces
                if side[i] * values[i] < 0 and not (terminal[j] and directions[j] * side[i] <= 0):
                    place = root_part(watch, t, x, p, g, h, F, left, right, i, side[i], work, spare)
                    if found < 0 or place < part_found:
                        if directions[j] * side[i] <= 0:
                            happenings[happened, 0], happenings[happened, 1] = t + place * h, i
                            happenings[happened, 2] = -side[i]
                            happened += 1
                        side[i] = -side[i]
            if found < 0 and not denied and k > 1:
                found, part_found = dip(watch, t, x, p, g, h, F, left, older, before, values, side, movable, surfaces,
                                        directions, terminal, work, spare)
            if found >= 0 or denied:
                break
            for i in range(count):
                older[i], before[i] = before[i], values[i]
            left = right
        if denied:
            status, happened = HANDOVER, passed
            break
        whole = h
        if found >= 0:
            t_new = t + part_found * h
            dense_value(F, x, part_found, new)
        if 0 <= found < surfaces:  # turn its gate if the flow leaves to that side; else the step is not taken
            widths(watch, t_new, new, p, g, work, values, older, spare)
            zero, near = spare[found] + abs(values[found]), 0
            for i in range(surfaces):
                if movable[i] and (i == found or abs(values[i]) <= 4 * spare[i]):
                    near += 1
            apply(field, t_new, new, p, g, other)
            old_rate = rate_of(watch, t_new, new, p, g, other, found, 1e-5 * whole, work, spare)
            g[found] = 1 - g[found]
            apply(field, t_new, new, p, g, other)
            new_rate = rate_of(watch, t_new, new, p, g, other, found, 1e-5 * whole, work, spare)
            evaluations += 2
            if near > 1 or not -side[found] * new_rate > 1e-6 * abs(old_rate):
                g[found] = 1 - g[found]
                status, index, happened = HANDOVER, found, passed
                break
        if keep:
            knots[kept, 0], knots[kept, 1], knots[kept, 2] = t_new, t, whole
            states[kept] = new
            tables[kept] = F
            kept += 1
        t = t_new
        for i in range(n):
            x[i] = new[i]
            K[0, i] = K[12, i]
        if found < 0:
            continue
        if found >= surfaces:
            happenings[happened, 0], happenings[happened, 1], happenings[happened, 2] = t, found, -side[found]
            happened += 1
            status, index = EVENT, found - surfaces
            break
        happenings[happened, 0], happenings[happened, 1], happenings[happened, 2] = t, found, -side[found]
        happened += 1
        width[found], side[found] = zero, 0.0
        apply(field, t, x, p, g, K[0])
        h_abs = min(whole, max(t_end - t, least))
    return status, index, t, h_abs, steps, evaluations, kept, happened
