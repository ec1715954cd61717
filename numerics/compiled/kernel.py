"""A whole run in machine code: steps, switches and events, in the language of `odesys.jit.loops`.

Field and watched values (surfaces first, then events) are code of (t, x, p, g, out), so that this file is compiled once
and serves every system. What this code does not do is left to the reference integrator; see `numerics.flows.semantics`.
"""

from __future__ import annotations

import math

from numerics.flows.dense_output import SMOOTHINGS
from numerics.flows.semantics import HALVINGS, STEP_PARTS
from odesys.jit.loops import Array, call

from .crossings import DENIED, NONE, far_away, met, note, read_parts, resolved, sign, turns, widths
from .dop853 import HELD, accepted_step, first_table, initial_step, refined
from .records import (
    BUFFER_FULL,
    END,
    EVENT,
    HANDOVER,
    IMPLICIT,
    KNOT_SIZE,
    STIFF,
    SUSPECT,
    TAYLOR,
    Log,
    Problem,
    RunState,
    Step,
)
from .rodas5p import stiff_step, stiff_table
from .taylor import state_at, taylor_step, taylor_table


def begin(problem: Problem, state: RunState, step: Step) -> None:
    """Gates and sides of all watched values at the start; surfaces may contain other gates.

    Where a surface is at zero there, the reference integrator has to choose its gate.
    """
    for i in range(problem.surfaces):
        state.gates[i] = 0.0
    for _ in range(problem.surfaces + 1):
        call(problem.watch, state.t, state.x, problem.p, state.gates, step.values)
        changed = 0
        for i in range(problem.surfaces):
            gate = 1.0 if step.values[i] > 0.0 else 0.0
            if gate != state.gates[i]:
                changed = 1
            state.gates[i] = gate
        if changed == 0:
            break
    step.h, step.end = 0.0, 1.0
    widths(problem, state, step, state.t, state.x)
    state.status = BUFFER_FULL
    for i in range(problem.count):
        at_zero = abs(step.values[i]) <= step.more[i]
        state.side[i] = 0.0 if at_zero else sign(step.values[i])
        state.width[i] = step.more[i]
        if at_zero and i < problem.surfaces and problem.movable[i] != 0.0:
            state.status = HANDOVER


def keep(n: int, rows: int, t: float, step: Step, log: Log) -> None:
    """Keep a step from t: its end, start and length, its last state and its polynomial."""
    knot, state, table = (
        log.knots[KNOT_SIZE * log.kept :],
        log.states[log.kept * n :],
        log.tables[log.kept * rows * n :],
    )
    knot[0], knot[1], knot[2] = step.t_new, t, step.h
    for i in range(n):
        state[i] = step.new[i]
    for i in range(rows * n):
        table[i] = step.F[i]
    log.kept += 1


def move(n: int, x: Array, step: Step) -> None:
    """Go to the end of a step, whose last stage is the first of the next."""
    for i in range(n):
        x[i] = step.new[i]
        step.K[i] = step.K[12 * n + i]


def most_happenings(count: int) -> int:
    """How much can happen to `count` watched values in one step: each passes zero once between two cuts."""
    return (STEP_PARTS + 1) * (count + 1) * count + 1


def full(problem: Problem, log: Log) -> bool:
    """True if a buffer may not hold what the next step brings."""
    return (log.rows > 0 and log.kept == log.rows) or log.happened + most_happenings(problem.count) >= log.places


def end_here(problem: Problem, state: RunState, step: Step) -> None:
    """Let a step end where it meets something."""
    if step.end < 1.0:
        step.t_new = state.t + step.end * step.h
        state_at(problem, step, state.x, step.end, step.new)


def made(problem: Problem, state: RunState, step: Step) -> bool:
    """Make a step by the method of the run; False if it could not be made."""
    if state.method == IMPLICIT:
        return stiff_step(problem, state, step)
    if state.method == TAYLOR:
        return taylor_step(problem, state, step)
    return accepted_step(problem, state, step)


def read_between(problem: Problem, state: RunState, step: Step, log: Log, turn: int) -> bool:
    """Fill F and V: the state between the ends of a step; False if that is not within the tolerance, or not resolved.

    A polynomial that is still not within it after some turns stays: the field is not smooth there. Where nothing is
    kept and all that is watched stays away from zero, the first polynomial will do.
    """
    if state.method == IMPLICIT:
        stiff_table(problem.n, state.x, step)
    elif state.method == TAYLOR:
        taylor_table(problem, step)
    else:
        first_table(problem, state, step)
        if log.rows == 0:
            read_parts(problem, state, step)
            if far_away(problem, state, step):
                return True
        if not refined(problem, state, step) and turn < SMOOTHINGS:
            return False
    if problem.count == 0:
        return True
    read_parts(problem, state, step)
    return resolved(problem, state, step)  # what is watched may move faster than the state


def take_step(problem: Problem, state: RunState, step: Step, log: Log) -> int:
    """Make one step, up to what it meets: the number of what ends it, NONE, or DENIED if it could not be made."""
    if state.steps >= problem.max_steps or not made(problem, state, step):
        return DENIED
    found, before, turn = NONE, log.happened, 0
    if log.rows > 0 or problem.count > 0:
        while not read_between(problem, state, step, log, turn):
            turn += 1
            state.h = 0.5 * step.h
            if turn > HALVINGS or not made(problem, state, step):
                return DENIED
            state.h = min(state.h, 2.0 * step.h)
    if problem.count > 0:
        found = met(problem, state, step, log)
    if found >= 0:
        end_here(problem, state, step)
    if 0 <= found < problem.surfaces and (
        state.switches >= problem.max_switches or not turns(problem, state, step, found)
    ):
        found = DENIED
    if found == DENIED:
        log.happened = before
        return DENIED
    if log.rows > 0 and step.t_new > state.t:
        keep(problem.n, problem.rows, state.t, step, log)
    for i in range(problem.count):
        state.side[i] = step.now[i]
    state.steps += 1
    state.t = step.t_new
    move(problem.n, state.x, step)
    return found


def go_on(problem: Problem, state: RunState, step: Step, log: Log) -> None:
    """Make a step, up to what it meets, and turn a gate there."""
    found = take_step(problem, state, step, log)
    if found == DENIED:
        state.status = HANDOVER
    elif found >= problem.surfaces:
        state.status, state.index = EVENT, found - problem.surfaces
    elif found != NONE:
        note(log, state.t, found, -state.side[found])
        state.side[found] = 0.0
        state.switches += 1
        state.h = step.h
        step.h = 0.0  # another field says nothing of the next
        call(problem.field, state.t, state.x, problem.p, state.gates, step.K)
        state.fields += 1
    elif state.held >= HELD and state.t < problem.t_end:
        state.status = STIFF
    elif problem.patience > 0 and state.damped >= problem.patience and state.t < problem.t_end:
        state.status = SUSPECT


def tried(problem: Problem, state: RunState, step: Step, count: int) -> None:
    """So many implicit steps, of which nothing is kept, to see how long they are; the last length is `step.h`."""
    call(problem.field, state.t, state.x, problem.p, state.gates, step.K)
    step.h = 0.0
    for _ in range(count):
        if state.t >= problem.t_end:
            break
        if not stiff_step(problem, state, step):
            step.h = 0.0
            break
        state.t = step.t_new
        move(problem.n, state.x, step)


def run(problem: Problem, state: RunState, step: Step, log: Log) -> None:
    """Integrate to the end, a terminal event, where another method goes on, or until a buffer is full."""
    state.status = END
    call(problem.field, state.t, state.x, problem.p, state.gates, step.K)
    state.fields += 1
    state.visited += 1
    if state.h == 0.0 and state.t < problem.t_end:
        state.h = initial_step(problem, state, step)
    while state.status == END and state.t < problem.t_end:
        if full(problem, log):
            state.status = BUFFER_FULL
            break
        go_on(problem, state, step, log)


def many(
    problem: Problem, state: RunState, step: Step, log: Log, points: int, width: int, given: Array, results: Array
) -> None:
    """Runs of many starts, one after the other, of which the ends are kept.

    A row of `given` has `width` numbers: start, atol of each state, parameters; one of `results` the end and status.
    """
    n, t, x = problem.n, state.t, state.x
    for k in range(points):
        row, out = given[k * width :], results[k * (n + 1) :]
        problem.atol, problem.p = row[n:], row[2 * n :]
        for i in range(n):
            x[i] = row[i]
        state.t, state.h, state.steps, state.switches = t, math.inf if problem.order > 0 else 0.0, 0, 0
        state.held, state.free, state.damped = 0, 0, 0
        begin(problem, state, step)
        while state.status == BUFFER_FULL:
            log.happened = 0
            run(problem, state, step, log)
        for i in range(n):
            out[i] = x[i]
        out[n] = state.status
