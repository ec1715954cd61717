"""Steps of the Runge-Kutta method of order 8 by Dormand and Prince, with dense output, for machine code.

The functions are in the language of `odesys.jit.loops` and run as Python too. Step control, initial step and dense
output are those of `scipy.integrate.DOP853`, whose tables are used. K holds 16 stages and F the 7 rows of the
polynomial of a step, each of n numbers; g are the gates of the surfaces.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import DOP853

from odesys.jit.loops import Array, Code, call

STAGES, POWERS = 16, 7
WIDTH = DOP853.A.shape[1]  # of a row of A
EXTRA = DOP853.A_EXTRA.shape[1]
A, B, C, E3, E5, D = (np.ravel(getattr(DOP853, name)) for name in ("A", "B", "C", "E3", "E5", "D"))
A_EXTRA, C_EXTRA = np.ravel(DOP853.A_EXTRA), np.ravel(DOP853.C_EXTRA)


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


def size_of(n: int, values: Array, x: Array, rtol: float, atol: float) -> float:
    """Norm of n numbers in units of the tolerance at x."""
    total = 0.0
    for i in range(n):
        part = values[i] / (atol + abs(x[i]) * rtol)
        total += part * part
    return math.sqrt(total / n)


def initial_step(
    field: Code,
    n: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    t_end: float,
    f: Array,
    rtol: float,
    atol: float,
    work: Array,
    other: Array,
) -> float:
    """First step by the sizes of the field and of its change."""
    size, slope = size_of(n, x, x, rtol, atol), size_of(n, f, x, rtol, atol)
    h = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    h = min(h, t_end - t)
    if not h > 0.0:
        return 0.0
    for i in range(n):
        work[i] = x[i] + h * f[i]
    call(field, t + h, work, p, g, other)
    for i in range(n):
        work[i] = other[i] - f[i]
    largest = max(slope, size_of(n, work, x, rtol, atol) / h)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** 0.125
    return min(100.0 * h, second, t_end - t)


def stages(
    field: Code, n: int, t: float, x: Array, p: Array, g: Array, h: float, K: Array, work: Array, new: Array
) -> None:
    """Fill K[1] to K[12] and `new`, the state at t + h; K[0] is the field at x."""
    for s in range(1, 12):
        combine(n, K, A[s * WIDTH :], s, x, h, work)
        call(field, t + C[s] * h, work, p, g, K[s * n :])
    combine(n, K, B, 12, x, h, new)
    call(field, t + h, new, p, g, K[12 * n :])


def error_size(n: int, K: Array, x: Array, new: Array, h: float, rtol: float, atol: float) -> float:
    """Norm of the estimated error of a step, in units of the tolerance."""
    five, three = 0.0, 0.0
    for i in range(n):
        e5, e3 = 0.0, 0.0
        for j in range(13):
            e5 += E5[j] * K[j * n + i]
            e3 += E3[j] * K[j * n + i]
        scale = atol + max(abs(x[i]), abs(new[i])) * rtol
        e5, e3 = e5 / scale, e3 / scale
        five += e5 * e5
        three += e3 * e3
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / math.sqrt((five + 0.01 * three) * n)


def dense_table(
    field: Code, n: int, t: float, x: Array, p: Array, g: Array, h: float, new: Array, K: Array, F: Array, work: Array
) -> None:
    """Fill F: the polynomial between x at t and `new` at t + h; three more stages."""
    for s in range(3):
        combine(n, K, A_EXTRA[s * EXTRA :], 13 + s, x, h, work)
        call(field, t + C_EXTRA[s] * h, work, p, g, K[(13 + s) * n :])
    polynomial(n, x, h, new, K, F)


def polynomial(n: int, x: Array, h: float, new: Array, K: Array, F: Array) -> None:
    """Fill F from all stages of a step."""
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
