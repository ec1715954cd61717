"""One step of the Rosenbrock method Rodas5P for stiff systems: order 5, stiffly accurate, dense output of order 4.

The method and its numbers are from G. Steinebach, Construction of Rosenbrock-Wanner method Rodas5P, BIT 63 (2023), 27,
with stages scaled so that no product with the Jacobian is left. With W = 1/(gamma h) - J, stage s solves

    W k_s = f(t + c_s h, x + sum_j a_sj k_j) + sum_j C_sj k_j / h + h d_s df/dt,

the new state is that of stage 8 plus k_8, and k_8 estimates its error. The functions are in the language of
`odesys.jit.loops`; rows 1 to 8 of K hold the stages, row 0 the field at x and row 12 that at the new state.
"""

from __future__ import annotations

import math

import numpy as np

from odesys.jit.loops import Array, call

from .records import Problem, RunState, Step

GAMMA = 0.21193756319429014
LAST = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)
A_ROWS = (
    (),
    (3.0,),
    (2.849394379747939, 0.45842242204463923),
    (-6.954028509809101, 2.489845061869568, -10.358996098473584),
    (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
    LAST,
    (*LAST, 1.0),
    (*LAST, 1.0, 1.0),
)
C_ROWS = (
    (),
    (-14.155112264123755,),
    (-17.97296035885952, -2.859693295451294),
    (147.12150275711716, -1.41221402718213, 71.68940251302358),
    (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
    (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
    (
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
    ),
    (
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ),
)
TIMES = np.array([0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0])
SLOPES = np.array([GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0])
DENSE_ROWS = (
    (
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ),
    (
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ),
    (
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ),
)
WIDTH = 8  # of a row of the tables
A, C, H = (np.ravel([[*row, *[0.0] * (WIDTH - len(row))] for row in rows]) for rows in (A_ROWS, C_ROWS, DENSE_ROWS))


def factor(n: int, W: Array, pivots: Array) -> bool:
    """W as the product of triangular matrices, rows exchanged as `pivots` says; False where it is singular."""
    for k in range(n):
        best, largest = k, abs(W[k * n + k])
        for i in range(k + 1, n):
            size = abs(W[i * n + k])
            if size > largest:
                best, largest = i, size
        if not (largest > 0.0 and largest < math.inf):
            return False
        pivots[k] = best
        top, other = W[k * n :], W[best * n :]
        if best != k:
            for j in range(n):
                kept = top[j]
                top[j] = other[j]
                other[j] = kept
        for i in range(k + 1, n):
            row = W[i * n :]
            if row[k] != 0.0:
                part = row[k] / top[k]
                row[k] = part
                for j in range(k + 1, n):
                    row[j] -= part * top[j]
    return True


def solve(n: int, W: Array, pivots: Array, b: Array) -> None:
    """Solve with the factors, in the place of b."""
    for k in range(n):
        best = int(pivots[k])
        kept = b[best]
        b[best] = b[k]
        b[k] = kept
    for k in range(n):
        row, total = W[k * n :], b[k]
        for j in range(k):
            total -= row[j] * b[j]
        b[k] = total
    for m in range(n):
        k = n - 1 - m
        row, total = W[k * n :], b[k]
        for j in range(k + 1, n):
            total -= row[j] * b[j]
        b[k] = total / row[k]


def matrix(n: int, J: Array, h: float, W: Array) -> None:
    """W = 1/(gamma h) - J."""
    for i in range(n * n):
        W[i] = -J[i]
    for i in range(n):
        W[i * n + i] += 1.0 / (GAMMA * h)


def right_side(n: int, step: Step, s: int, k: Array) -> None:
    """Add to the field in k what the stages before s and the change of the field in time give."""
    h, rates = step.h, step.J[n * n :]
    for j in range(s):
        part, before = C[s * WIDTH + j] / h, step.K[(j + 1) * n :]
        for i in range(n):
            k[i] += part * before[i]
    slope = h * SLOPES[s]
    if slope != 0.0:
        for i in range(n):
            k[i] += slope * rates[i]


def stage_state(n: int, step: Step, s: int, x: Array, out: Array) -> None:
    """The state at which stage s takes the field."""
    for i in range(n):
        out[i] = x[i]
    for j in range(s):
        a, before = A[s * WIDTH + j], step.K[(j + 1) * n :]
        for i in range(n):
            out[i] += a * before[i]


def stiff_stages(problem: Problem, state: RunState, step: Step) -> bool:
    """Fill the stages and `new`; False where the matrix is singular."""
    n, x, K, work, new, h = problem.n, state.x, step.K, step.work, step.new, step.h
    matrix(n, step.J, h, step.W)
    if not factor(n, step.W, step.pivots):
        return False
    for s in range(8):
        k = K[(s + 1) * n :]
        if s == 0:
            for i in range(n):
                k[i] = K[i]
        else:
            stage_state(n, step, s, x, work)
            call(problem.field, state.t + TIMES[s] * h, work, problem.p, state.gates, k)
        right_side(n, step, s, k)
        solve(n, step.W, step.pivots, k)
    for i in range(n):
        new[i] = work[i] + K[8 * n + i]
    state.fields += 7
    state.visited += 7
    return True


def stiff_error(problem: Problem, state: RunState, step: Step) -> float:
    """Norm of the estimated error of a step, in units of the tolerance."""
    n, x, last, new, rtol, atol = problem.n, state.x, step.K[8 * problem.n :], step.new, problem.rtol, problem.atol
    total = 0.0
    for i in range(n):
        part = last[i] / (atol[i] + max(abs(x[i]), abs(new[i])) * rtol)
        total += part * part
    return math.sqrt(total / n)


def stiff_step(problem: Problem, state: RunState, step: Step) -> bool:
    """Make a step within the tolerance, from `state.h` downwards; False if it would be below rounding."""
    n, left, least = problem.n, problem.t_end - state.t, 10.0 * (math.nextafter(state.t, math.inf) - state.t)
    rejected, h_abs = False, max(state.h, least)
    call(problem.slopes, state.t, state.x, problem.p, state.gates, step.J)
    state.jacobians += 1
    while h_abs >= least:
        step.h = min(h_abs, left)
        error = stiff_error(problem, state, step) if stiff_stages(problem, state, step) else math.inf
        if error < 1.0:
            growth = 6.0 if error == 0.0 else min(6.0, 0.9 * error**-0.2)
            state.h = step.h * (min(1.0, growth) if rejected else growth)
            step.t_new = problem.t_end if step.h >= left else state.t + step.h
            step.end = 1.0
            call(problem.field, step.t_new, step.new, problem.p, state.gates, step.K[12 * n :])
            state.fields += 1
            state.visited += 1
            return True
        h_abs = step.h * (max(0.2, 0.9 * error**-0.2) if error < math.inf else 0.2)
        rejected = True
    return False


def stiff_table(n: int, x: Array, step: Step) -> None:
    """Fill F: the polynomial between x at t and `new` at t + h, in the form that `dense_value` of DOP853 reads."""
    K, F, new = step.K, step.F, step.new
    for i in range(n):
        first, second, third = 0.0, 0.0, 0.0
        for j in range(8):
            k = K[(j + 1) * n + i]
            first += H[j] * k
            second += H[WIDTH + j] * k
            third += H[2 * WIDTH + j] * k
        F[i] = new[i] - x[i]
        F[n + i] = first
        F[2 * n + i] = second + third
        F[3 * n + i] = -third
        F[4 * n + i] = 0.0
        F[5 * n + i] = 0.0
        F[6 * n + i] = 0.0
