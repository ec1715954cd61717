"""One step by the Taylor series of the solution, whose polynomial is the dense output; for small systems.

The coefficients are straight-line code (`odesys.jit.taylor`) to an order that depends on the tolerance, 1 - log(rtol)/2
(A. Jorba and M. Zou, Experimental Mathematics 14 (2005), 99): then steps are about 1/e^2 of the radius of convergence.
That counts operations of the coefficients alone; as a step has others, up to four more terms are quicker, as long as
the code of the coefficients is short (`benchmarks/zoo.md` and `batch.md` are with them).
The step is the longest for which the last two terms are within the tolerance, so none is rejected.

Two terms say nothing where a series has gaps: that of exp(-t^5) at 0 has every fifth term. Steps are a fixed part of
the way to the nearest singularity, which a step of that length moves by no more than itself, so they grow by about 1.14
at most; one that is longer by more than GROWTH, as the first one is, is made shorter until the series solves the
equation where it ends. The functions are in the language of `odesys.jit.loops`.
"""

from __future__ import annotations

import math

from odesys.jit.loops import Array, call

from .dop853 import dense_value, size_of
from .records import Problem, RunState, Step

LEAST_ORDER, MORE, SAFETY = 8, 4, 0.9
SHORT = 10_000  # nodes of a field times order^2: above, code of coefficients is longer than what is near the processor
LEAP = 1000.0  # tolerances over a step: so far the field may be from the slope of the series where that ends
GROWTH, CLOSE = 1.25, 10.0  # times the step before; tolerances again, for a step that was made shorter


def order_for(rtol: float, nodes: int) -> int:
    """The order at which steps of a field of so many nodes take the least time for what they cover."""
    least = max(LEAST_ORDER, math.ceil(-math.log(rtol) / 2 + 1))
    return max(least, min(least + MORE, math.isqrt(SHORT // max(nodes, 1))))


def power_series(n: int, order: int, K: Array, x: Array, s: float, out: Array) -> None:
    """out = x + sum_k K[k - 1] s^k."""
    for i in range(n):
        total = K[(order - 1) * n + i]
        for m in range(1, order):
            total = total * s + K[(order - 1 - m) * n + i]
        out[i] = x[i] + total * s


def state_at(problem: Problem, step: Step, x: Array, part: float, out: Array) -> None:
    """The state at the fraction `part` of a step that starts at x, by whichever method."""
    if problem.order > 0:
        power_series(problem.n, problem.order, step.F, x, part, out)
    else:
        dense_value(problem.n, step.F, x, part, out)


def longest_step(problem: Problem, state: RunState, step: Step) -> float:
    """The step at which the last two terms are within the tolerance; infinite where they vanish."""
    n, order, h = problem.n, problem.order, math.inf
    for k in range(order - 1, order + 1):
        size = size_of(problem, step.K[(k - 1) * n :], state.x)
        if not size < math.inf:
            return 0.0
        if size > 0.0:
            h = min(h, SAFETY * size ** (-1.0 / float(k)))
    return h


def taylor_step(problem: Problem, state: RunState, step: Step) -> bool:
    """Make a step, at most of length `state.h`; False if it would be below rounding or ends nowhere."""
    left, least, before = problem.t_end - state.t, 10.0 * (math.nextafter(state.t, math.inf) - state.t), step.h
    call(problem.slopes, state.t, state.x, problem.p, state.gates, step.K)
    state.fields += 1
    state.visited += 1
    h = min(longest_step(problem, state, step), state.h)
    if not h >= least and h < left:
        return False
    made = series_to(problem, state, step, min(h, left))
    if step.h > GROWTH * before and not (made and on_branch(problem, state, step, LEAP)):
        while not (made and on_branch(problem, state, step, CLOSE)):
            h = 0.5 * step.h
            if h < least:
                return False
            made = series_to(problem, state, step, h)
    if not made or (problem.branches == 1 and not on_branch(problem, state, step, LEAP)):
        return False
    step.end, state.h = 1.0, math.inf
    return True


def series_to(problem: Problem, state: RunState, step: Step, h: float) -> bool:
    """Let a step have the length h; False if it ends nowhere."""
    step.h = h
    power_series(problem.n, problem.order, step.K, state.x, step.h, step.new)
    for i in range(problem.n):
        if not abs(step.new[i]) < math.inf:
            return False
    step.t_new = problem.t_end if step.h >= problem.t_end - state.t else state.t + step.h
    return True


def on_branch(problem: Problem, state: RunState, step: Step, leap: float) -> bool:
    """Whether a series solves the equation where its step ends: its slope is the field there."""
    n, order, rtol, atol = problem.n, problem.order, problem.rtol, problem.atol
    call(problem.field, step.t_new, step.new, problem.p, state.gates, step.work)
    state.fields += 1
    for i in range(n):
        slope = float(order) * step.K[(order - 1) * n + i]
        for m in range(1, order):
            slope = slope * step.h + float(order - m) * step.K[(order - 1 - m) * n + i]
        gap = step.h * abs(slope - step.work[i])
        if not gap <= leap * (atol[i] + rtol * abs(step.new[i])) or gap == math.inf:
            return False
    return True


def taylor_table(problem: Problem, step: Step) -> None:
    """Fill F: the coefficients in the fraction of the step."""
    n, power = problem.n, 1.0
    for k in range(problem.order):
        power *= step.h
        for i in range(n):
            step.F[k * n + i] = step.K[k * n + i] * power
