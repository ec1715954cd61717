"""One step of the Runge-Kutta method DOP853 (order 8) with dense output.

The functions here are in the language of `odesys.jit.loops` and run as Python too. Step control and initial step are
those of `scipy.integrate.DOP853`, whose tables are used; dense output is that of `numerics/flows/dense_output.py`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import DOP853

from numerics.flows import dense_output
from odesys.jit.loops import Array, call

from .records import STAGES, Problem, RunState, Step

WIDTH = DOP853.A.shape[1]  # of a row of A
EXTRA = DOP853.A_EXTRA.shape[1]
A, B, C, E3, E5, D = (np.ravel(getattr(DOP853, name)) for name in ("A", "B", "C", "E3", "E5", "D"))
REACH, HELD, FREE = 6.1, 15, 6  # reach of stability; so many steps at it are stiff, so many below it in a row are not
NEAR, AGAINST, DAMPED = 1.0, 0.9, 100  # longer than what decays lasts, by how much it decays; so many in a row are odd
A_EXTRA, C_EXTRA = np.ravel(DOP853.A_EXTRA), np.ravel(DOP853.C_EXTRA)
NODES, KNOWN, FOUND = dense_output.NODES, dense_output.KNOWN, dense_output.FOUND
SMALL, TRUSTED = dense_output.SMALL, dense_output.TRUSTED
ENDS, FROM_SLOPES, INSIDE = (np.ravel(getattr(dense_output, name)) for name in ("ENDS", "FROM_SLOPES", "INSIDE"))


def combine(n: int, K: Array, row: Array, count: int, x: Array, h: float, out: Array) -> None:
    """out = x + h sum_j row[j] K[j]."""
    for i in range(n):
        out[i] = 0.0
    for j in range(count):
        a = row[j]
        if a != 0.0:
            stage = K[j * n :]
            for i in range(n):
                out[i] += a * stage[i]
    for i in range(n):
        out[i] = x[i] + h * out[i]


def size_of(problem: Problem, values: Array, x: Array) -> float:
    """Norm of n numbers in units of the tolerance at x."""
    total, n, rtol, atol = 0.0, problem.n, problem.rtol, problem.atol
    for i in range(n):
        part = values[i] / (atol[i] + abs(x[i]) * rtol)
        total += part * part
    return math.sqrt(total / n)


def initial_step(problem: Problem, state: RunState, step: Step) -> float:
    """First step by the sizes of the field, which is K[0], and of its change."""
    x, f, work, other, left = state.x, step.K, step.work, step.other, problem.t_end - state.t
    size, slope = size_of(problem, x, x), size_of(problem, f, x)
    h = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    h = min(h, left)
    if not h > 0.0:
        return 0.0
    for i in range(problem.n):
        work[i] = x[i] + h * f[i]
    call(problem.field, state.t + h, work, problem.p, state.gates, other)
    state.fields += 1
    state.visited += 1
    for i in range(problem.n):
        work[i] = other[i] - f[i]
    largest = max(slope, size_of(problem, work, x) / h)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** 0.125
    return min(100.0 * h, second, left)


def stages(problem: Problem, state: RunState, step: Step) -> None:
    """Fill K[1] to K[12] and `new`, the state at t + h; K[0] is the field at x."""
    n, x, K, work, new, t, h = problem.n, state.x, step.K, step.work, step.new, state.t, step.h
    for s in range(1, 12):
        combine(n, K, A[s * WIDTH :], s, x, h, work)
        call(problem.field, t + C[s] * h, work, problem.p, state.gates, K[s * n :])
    combine(n, K, B, 12, x, h, new)
    call(problem.field, t + h, new, problem.p, state.gates, K[12 * n :])
    state.fields += 12
    state.visited += 12


def error_size(problem: Problem, state: RunState, step: Step) -> float:
    """Norm of the estimated error of a step, in units of the tolerance."""
    n, x, K, new, rtol, atol = problem.n, state.x, step.K, step.new, problem.rtol, problem.atol
    five, three = 0.0, 0.0
    for i in range(n):
        e5, e3 = 0.0, 0.0
        for j in range(13):
            e5 += E5[j] * K[j * n + i]
            e3 += E3[j] * K[j * n + i]
        scale = atol[i] + max(abs(x[i]), abs(new[i])) * rtol
        e5, e3 = e5 / scale, e3 / scale
        five += e5 * e5
        three += e3 * e3
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(step.h) * five / math.sqrt((five + 0.01 * three) * n)


def accepted_step(problem: Problem, state: RunState, step: Step) -> bool:
    """Make a step within the tolerance, from `state.h` downwards; False if it would be below rounding."""
    left, least, rejected = problem.t_end - state.t, 10.0 * (math.nextafter(state.t, math.inf) - state.t), False
    h_abs = max(state.h, least)
    while h_abs >= least:
        step.h = min(h_abs, left)
        stages(problem, state, step)
        error = error_size(problem, state, step)
        if error < 1.0:
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.125)
            state.h = step.h * (min(1.0, factor) if rejected else factor)
            step.t_new = problem.t_end if step.h >= left else state.t + step.h
            step.end = 1.0
            if problem.may_switch == 1:
                count_held(problem, state, step)
            return True
        h_abs = step.h * (max(0.2, 0.9 * error**-0.125) if error < math.inf else 0.2)
        rejected = True
    return False


def count_held(problem: Problem, state: RunState, step: Step) -> None:
    """Count steps that are as long as stability allows (Hairer, Norsett, Wanner: Solving ODEs I, II.10 and IV.2).

    The fields of stage 12 and of the new state are at the same time, so their difference over that of the states is
    about the fastest rate. At tight tolerances steps can be shorter than that and be held back all the same: then what
    is fastest decays (the difference of the fields is against that of the states) for step after step, each of them
    longer than the decay takes. Such steps are counted too.
    """
    n, K, new, work, rates, states, along = problem.n, step.K, step.new, step.work, 0.0, 0.0, 0.0
    for i in range(n):
        rate, way = K[12 * n + i] - K[11 * n + i], new[i] - work[i]
        rates += rate * rate
        states += way * way
        along += rate * way
    damped = along < 0.0 and along * along > AGAINST * AGAINST * rates * states
    if damped and step.h * step.h * rates > NEAR * NEAR * states:
        state.damped += 1
    else:
        state.damped = 0
    if step.h * step.h * rates > REACH * REACH * states:
        state.held, state.free = state.held + 1, 0
    else:
        state.free += 1
        if state.free == FREE:
            state.held = 0


def first_table(problem: Problem, state: RunState, step: Step) -> None:
    """Fill F: SciPy's polynomial between x at t and `new` at t + h; three more stages."""
    n, K = problem.n, step.K
    for s in range(3):
        combine(n, K, A_EXTRA[s * EXTRA :], 13 + s, state.x, step.h, step.work)
        call(problem.field, state.t + C_EXTRA[s] * step.h, step.work, problem.p, state.gates, K[(13 + s) * n :])
    state.fields += 3
    state.visited += 3
    polynomial(problem.n, state.x, step)


def polynomial(n: int, x: Array, step: Step) -> None:
    """Fill F from all stages of a step."""
    K, F, new, h = step.K, step.F, step.new, step.h
    for i in range(n):
        change = new[i] - x[i]
        F[i] = change
        F[n + i] = h * K[i] - change
        F[2 * n + i] = 2.0 * change - h * (K[12 * n + i] + K[i])
        for k in range(4):
            total = 0.0
            for j in range(STAGES):
                total += D[k * STAGES + j] * K[j * n + i]
            F[(3 + k) * n + i] = h * total


def refined(problem: Problem, state: RunState, step: Step) -> bool:
    """Give the polynomial the slopes that the field has on it at the nodes, if these change it little.

    False if it may err by much. Where the field is not finite the polynomial stays as it is. `K` is overwritten: by
    slopes at the nodes, then by the rows that have them.
    """
    n, x, K, F, h = problem.n, state.x, step.K, step.F, step.h
    state.fields += FOUND
    state.visited += FOUND
    for m in range(FOUND):
        slope = K[(1 + m) * n :]
        dense_value(n, F, x, NODES[m], step.work)
        call(problem.field, state.t + NODES[m] * h, step.work, problem.p, state.gates, slope)
        a, b, c = ENDS[m * KNOWN], ENDS[m * KNOWN + 1], ENDS[m * KNOWN + 2]
        for i in range(n):  # what the ends do not give
            slope[i] = h * slope[i] - (a * F[i] + b * F[n + i] + c * F[2 * n + i])
    for k in range(FOUND):
        row = K[(1 + FOUND + k) * n :]
        a, b, c, d = (
            FROM_SLOPES[k * FOUND],
            FROM_SLOPES[k * FOUND + 1],
            FROM_SLOPES[k * FOUND + 2],
            FROM_SLOPES[k * FOUND + 3],
        )
        for i in range(n):
            row[i] = a * K[n + i] + b * K[2 * n + i] + c * K[3 * n + i] + d * K[4 * n + i]
    change, size, old, new = 0.0, 0.0, F[KNOWN * n :], K[(1 + FOUND) * n :]
    for i in range(n):
        unit = 1.0 / (problem.atol[i] + max(abs(x[i]), abs(step.new[i])) * problem.rtol)
        early, late, whole = 0.0, 0.0, 0.0
        for k in range(FOUND):
            moved = new[k * n + i] - old[k * n + i]
            early += INSIDE[k] * moved
            late += INSIDE[FOUND + k] * moved
            whole += INSIDE[k] * new[k * n + i]
        early, late, whole = early * unit, late * unit, whole * unit
        change += early * early + late * late
        size += 2.0 * whole * whole
    if not size < math.inf:
        return True
    if change > SMALL * SMALL * size:
        return change <= TRUSTED * TRUSTED * 2.0 * n
    for i in range(FOUND * n):
        old[i] = new[i]
    return 0.0625 * change <= TRUSTED * TRUSTED * 2.0 * n


def dense_value(n: int, F: Array, x: Array, part: float, out: Array) -> None:
    """The state at the fraction `part` of a step that starts at x."""
    for i in range(n):
        y = F[6 * n + i] * part
        y = (y + F[5 * n + i]) * (1.0 - part)
        y = (y + F[4 * n + i]) * part
        y = (y + F[3 * n + i]) * (1.0 - part)
        y = (y + F[2 * n + i]) * part
        y = (y + F[n + i]) * (1.0 - part)
        out[i] = x[i] + (y + F[i]) * part
