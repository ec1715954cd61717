"""What a step meets: surfaces it reaches, events it passes; in the language of `odesys.jit.loops`.

The rules are those of `numerics.flows.semantics`.
"""

from __future__ import annotations

import math

import numpy as np

from numerics.flows.semantics import (
    DIP_PART,
    DIP_RATIO,
    LEAVING_WIDTHS,
    MISSED,
    ONE_MOMENT,
    PROBES,
    STATE_ROUNDING,
    STEP_PARTS,
    TIME_ROUNDING,
    TOUCH_ROOM,
    TOUCH_TURNS,
    probe_weights,
)
from odesys.jit.loops import Array, call

from .records import KNOT_SIZE, READINGS, Log, Problem, RunState, Step
from .taylor import state_at

NONE, DENIED = -1, -2  # no watched value ends the step; one does whose gate does not allow it
NEVER = math.inf  # where a value does not reach zero in a step
PROBE_COUNT, WEIGHTS = len(PROBES), probe_weights().ravel()
PLACES = np.array(PROBES)
NOISE = 1e-13  # of the largest reading, which rounding may make
LEAST_RATE = 1e-6  # of the rate before, which the rate after a switch exceeds


def sign(value: float) -> float:
    """The side of zero a value is on."""
    return 1.0 if value > 0.0 else (-1.0 if value < 0.0 else 0.0)


def read(problem: Problem, state: RunState, step: Step, part: float, values: Array) -> None:
    """The watched values at a fraction of a step: its ends as they are, dense output between and beyond."""
    if part == 0.0:
        call(problem.watch, state.t, state.x, problem.p, state.gates, values)
    elif part == 1.0:
        call(problem.watch, step.t_new, step.new, problem.p, state.gates, values)
    else:
        state.visited += 1
        state_at(problem, step, state.x, part, step.work)
        call(problem.watch, state.t + part * step.h, step.work, problem.p, state.gates, values)


def cut(step: Step, part: float) -> None:
    """Read a step at one more fraction, in order."""
    if part <= 0.0 or part >= 1.0:
        return
    cuts, place = step.cuts, step.cut_count
    while cuts[place - 1] > part:
        place -= 1
    if cuts[place - 1] == part:
        return
    for k in range(step.cut_count - place):
        cuts[step.cut_count - k] = cuts[step.cut_count - k - 1]
    cuts[place] = part
    step.cut_count += 1


def read_parts(problem: Problem, state: RunState, step: Step) -> None:
    """Read the watched values at the ends of the parts of a step, and one part beyond each end."""
    for k in range(READINGS):
        read(problem, state, step, (k - 1) / STEP_PARTS, step.V[k * problem.count :])


def resolved(problem: Problem, state: RunState, step: Step) -> bool:
    """True if the polynomial through the readings also gives the values between them, as far as zero may be near."""
    count, V = problem.count, step.V
    for p in range(PROBE_COUNT):
        read(problem, state, step, PLACES[p], step.spare)
        for i in range(count):
            low, high, least = step.spare[i], step.spare[i], abs(step.spare[i])
            given = 0.0
            for k in range(READINGS):
                value = V[k * count + i]
                low, high, least = min(low, value), max(high, value), min(least, abs(value))
                given += WEIGHTS[p * READINGS + k] * value
            size, gap = high - low, abs(given - step.spare[i])
            far = least > 2.0 * size or size <= NOISE * max(abs(low), abs(high)) + 64.0 * state.width[i]
            if problem.movable[i] != 0.0 and not far and gap > MISSED * size:
                return False
    return True


def far_away(problem: Problem, state: RunState, step: Step) -> bool:
    """True if all that is watched stays on its side by twice what its readings span."""
    count, V = problem.count, step.V
    for i in range(count):
        low, high = V[i], V[i]
        for k in range(READINGS):
            low, high = min(low, V[k * count + i]), max(high, V[k * count + i])
        near = min(state.side[i] * low, state.side[i] * high)
        if not near > 2.0 * (high - low) + 64.0 * state.width[i]:
            return False
    return True


def error_reach(problem: Problem, state: RunState, step: Step, part: float, i: int) -> float:
    """How far the tolerance of a step, and rounding of time, can move a watched value, at a fraction of a step."""
    n, t, reach, late = problem.n, state.t + part * step.h, 0.0, TIME_ROUNDING * max(abs(state.t), step.h)
    state_at(problem, step, state.x, part, step.other)
    call(problem.watch, t, step.other, problem.p, state.gates, step.spare)
    here = step.spare[i]
    for row in range(3):
        for j in range(n):
            room = problem.atol[j] + problem.rtol * abs(step.other[j])
            step.work[j] = step.other[j] + room * problem.signs[row * n + j]
        call(problem.watch, t, step.work, problem.p, state.gates, step.spare)
        reach = max(reach, abs(step.spare[i] - here))
    call(problem.watch, t + late, step.other, problem.p, state.gates, step.spare)
    reach = max(reach, abs(step.spare[i] - here))
    call(problem.watch, t - late, step.other, problem.p, state.gates, step.spare)
    reach = max(reach, abs(step.spare[i] - here))
    state.visited += 4
    return TOUCH_ROOM * reach + LEAVING_WIDTHS * state.width[i]


def lowest(problem: Problem, state: RunState, step: Step, part: float, i: int, side: float) -> float:
    """Where a dip near a fraction of a step is lowest, by parabolas through ever closer readings."""
    reach = 0.125 / STEP_PARTS
    for _ in range(TOUCH_TURNS):
        read(problem, state, step, part - reach, step.spare)
        low = side * step.spare[i]
        read(problem, state, step, part + reach, step.spare)
        high = side * step.spare[i]
        read(problem, state, step, part, step.spare)
        bend = low + high - 2.0 * side * step.spare[i]
        if not bend > 0.0:
            break
        part += reach * min(8.0, max(-8.0, (low - high) / (2.0 * bend)))
        reach *= 0.125
    return part


def touch(problem: Problem, state: RunState, step: Step, part: float, i: int, side: float) -> None:
    """Cut a step at the lowest point of a dip, and note whether an event without a direction touches zero there."""
    part = lowest(problem, state, step, part, i, side)
    if part <= 0.0 or part > 1.0 or abs(part - step.lows[i]) < 1e-3 / STEP_PARTS:  # seen by two triples of readings
        return
    step.lows[i] = part
    if i < problem.surfaces or problem.directions[i - problem.surfaces] != 0.0:
        cut(step, part)
        return
    reach = error_reach(problem, state, step, part, i)
    read(problem, state, step, part, step.spare)
    if abs(step.spare[i]) <= reach:
        step.touches[i], step.rooms[i] = part, reach
    cut(step, part)


def choose_cuts(problem: Problem, state: RunState, step: Step) -> None:
    """Where a step is read: at the ends of its parts, and at the lowest points of dips towards zero."""
    count, V = problem.count, step.V
    for i in range(count):
        step.touches[i], step.lows[i] = NEVER, NEVER
    for k in range(STEP_PARTS + 1):
        step.cuts[k] = k / STEP_PARTS
    step.cut_count = STEP_PARTS + 1
    for k in range(STEP_PARTS + 1):
        for i in range(count):
            side = sign(V[(k + 1) * count + i]) if state.side[i] != 0.0 else 0.0
            low, here, high = side * V[k * count + i], side * V[(k + 1) * count + i], side * V[(k + 2) * count + i]
            bend = low - 2.0 * here + high
            if here > 0.0 and bend > 0.0:
                shift = (low - high) / (2.0 * bend)
                near = max(here / DIP_RATIO, DIP_PART * bend)
                if abs(shift) < 1.0 and here - bend * shift * shift / 2.0 < near:
                    touch(problem, state, step, (k + shift) / STEP_PARTS, i, side)


def read_cut(problem: Problem, state: RunState, step: Step, k: int) -> None:
    """The watched values at a cut, those at the ends of parts as they were read before."""
    place = step.cuts[k] * STEP_PARTS
    if place == float(int(place)):
        row = step.V[(int(place) + 1) * problem.count :]
        for i in range(problem.count):
            step.values[i] = row[i]
    else:
        read(problem, state, step, step.cuts[k], step.values)


def wake(problem: Problem, state: RunState, step: Step) -> bool:
    """Give a side to what has left zero; False if a surface leaves to the side that its gate denies."""
    for i in range(problem.count):
        value = step.values[i]
        if step.now[i] != 0.0 or problem.movable[i] == 0.0 or not abs(value) > LEAVING_WIDTHS * state.width[i]:
            continue
        step.now[i] = sign(value) if i >= problem.surfaces else 2.0 * state.gates[i] - 1.0
        if step.now[i] * value < 0.0:
            return False
    return True


def root(problem: Problem, state: RunState, step: Step, k: int, i: int) -> float:
    """Fraction of a step, up to cut k, at which a watched value reaches zero from its side.

    By secants, with the value at an end that stays halved (the Illinois rule), and a bisection now and then.
    """
    left, right, side, turn, last = step.cuts[k - 1] if k > 0 else 0.0, step.cuts[k], step.now[i], 0, 0
    read(problem, state, step, left, step.spare)
    low, high = side * step.spare[i], side * step.values[i]
    if high == 0.0 or low <= 0.0:
        return right if high == 0.0 else left
    while right - left > 4e-16 * max(right, 1e-3):
        middle = left + (right - left) * low / (low - high)
        if turn % 4 == 3 or not left < middle < right:
            middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        read(problem, state, step, middle, step.spare)
        value = side * step.spare[i]
        if value > 0.0:
            left, low, high, last = middle, value, 0.5 * high if last == 1 else high, 1
        else:
            right, high, low, last = middle, value, 0.5 * low if last == -1 else low, -1
        turn += 1
    return right


def counts(problem: Problem, step: Step, i: int) -> bool:
    """True if an event is looked for in the direction in which it happens."""
    return problem.directions[i - problem.surfaces] * step.now[i] <= 0.0


def ends_run(problem: Problem, step: Step, i: int) -> bool:
    """True if a run ends where an event happens."""
    return problem.terminal[i - problem.surfaces] != 0.0 and counts(problem, step, i)


def first_end(problem: Problem, state: RunState, step: Step, k: int) -> int:
    """Where watched values reach zero up to cut k, and the first of them that ends the step, or NONE.

    A terminal event of the same moment goes before a surface, and of several the one listed first.
    """
    surface, event, same = NONE, NONE, ONE_MOMENT * max(abs(state.t), step.h) / step.h
    for i in range(problem.count):
        step.spots[i] = NEVER
        if step.now[i] != 0.0 and step.cuts[k] == step.touches[i]:
            step.spots[i] = step.cuts[k]
        elif step.now[i] == 0.0 or not step.now[i] * step.values[i] <= 0.0 or problem.movable[i] == 0.0:
            continue
        elif step.touches[i] != NEVER and abs(step.values[i]) <= step.rooms[i]:
            continue  # as near to zero as the touch is
        else:
            step.spots[i] = root(problem, state, step, k, i)
        if i < problem.surfaces:
            if surface == NONE or step.spots[i] < step.spots[surface]:
                surface = i
        elif ends_run(problem, step, i) and (event == NONE or step.spots[i] < step.spots[event]):
            event = i
    if event == NONE or (surface != NONE and step.spots[event] > step.spots[surface] + same):
        step.end = step.spots[surface] if surface != NONE else 1.0
        return surface
    step.end = step.spots[event]
    for i in range(problem.surfaces, event):
        if step.spots[i] <= step.end + same and ends_run(problem, step, i):
            return i
    return event


def note(log: Log, t: float, i: int, direction: float) -> None:
    """Write down that a watched value passed zero."""
    row = log.happenings[KNOT_SIZE * log.happened :]
    row[0], row[1], row[2] = t, i, direction
    log.happened += 1


def note_events(problem: Problem, state: RunState, step: Step, log: Log, found: int) -> None:
    """Write down the events up to the end of a step, moment by moment, and move their sides along."""
    same = ONE_MOMENT * max(abs(state.t), step.h) / step.h
    last = step.end + same if found != NONE else 1.0
    while True:
        moment = NEVER
        for i in range(problem.surfaces, problem.count):
            moment = min(moment, step.spots[i])
        if moment > last:
            break
        if found != NONE and moment >= step.end - same:
            moment = step.end
        for i in range(problem.surfaces, problem.count):
            if step.spots[i] <= moment + same:
                touched = step.spots[i] == step.touches[i]
                if counts(problem, step, i):
                    direction = 0.0 if touched else -step.now[i]
                    note(log, state.t + moment * step.h if moment < 1.0 else step.t_new, i, direction)
                turned = found != NONE and found < problem.surfaces and moment == step.end
                # where a gate turns, what comes next is not known
                if turned:
                    step.now[i] = 0.0
                elif not touched:
                    step.now[i] = sign(step.values[i])
                step.spots[i], state.width[i] = NEVER, 0.0


def met(problem: Problem, state: RunState, step: Step, log: Log) -> int:
    """The first watched value that ends a step, with its place in it; or NONE, or DENIED by the gate of a surface.

    Events on the way are written down; sides are moved along in `now`.
    """
    for i in range(problem.count):
        step.now[i] = state.side[i]
    choose_cuts(problem, state, step)
    found, k = NONE, 0  # at cut 0 there is what has jumped with a gate
    while found == NONE and k < step.cut_count:
        read_cut(problem, state, step, k)
        if k > 0 and not wake(problem, state, step):
            return DENIED
        found = first_end(problem, state, step, k)
        note_events(problem, state, step, log, found)
        k += 1
    return found


def widths(problem: Problem, state: RunState, step: Step, t: float, x: Array) -> None:
    """How far from zero rounding can leave each watched value: into `more`, the values themselves into `values`."""
    late, n, f, work = TIME_ROUNDING * max(abs(t), step.end * step.h), problem.n, step.other, step.work
    call(problem.watch, t, x, problem.p, state.gates, step.values)
    call(problem.field, t, x, problem.p, state.gates, f)
    state.fields += 1
    state.visited += 4
    for k in range(problem.count):
        step.more[k] = 0.0
    for row in range(3):
        for i in range(n):
            work[i] = x[i] + late * f[i] + STATE_ROUNDING * x[i] * problem.signs[row * n + i]
        call(problem.watch, t + late, work, problem.p, state.gates, step.spare)
        for k in range(problem.count):
            step.more[k] = max(step.more[k], 4.0 * abs(step.spare[k] - step.values[k]))


def rate_of(problem: Problem, state: RunState, step: Step, index: int) -> float:
    """Rate of a watched value at the end of a step along the field, by a central difference."""
    reach, n, new, f, work = 1e-5 * step.h, problem.n, step.new, step.other, step.work
    call(problem.field, step.t_new, new, problem.p, state.gates, f)
    state.fields += 1
    state.visited += 2
    for i in range(n):
        work[i] = new[i] + reach * f[i]
    call(problem.watch, step.t_new + reach, work, problem.p, state.gates, step.spare)
    high = step.spare[index]
    for i in range(n):
        work[i] = new[i] - reach * f[i]
    call(problem.watch, step.t_new - reach, work, problem.p, state.gates, step.spare)
    return (high - step.spare[index]) / (2.0 * reach)


def turns(problem: Problem, state: RunState, step: Step, found: int) -> bool:
    """Turn the gate of a surface that was reached, and say if the flow leaves to that side; if not, turn it back.

    Nor is it left to this function where another surface is as near, or would have another gate now.
    """
    widths(problem, state, step, step.t_new, step.new)
    zero, near, side = step.more[found] + abs(step.values[found]), 0, step.now
    for i in range(problem.surfaces):
        close = abs(step.values[i]) <= 4.0 * step.more[i] or side[i] * step.values[i] < 0.0
        if problem.movable[i] != 0.0 and i != found and close:
            near += 1
    old = rate_of(problem, state, step, found)
    state.gates[found] = 1.0 - state.gates[found]
    call(problem.watch, step.t_new, step.new, problem.p, state.gates, step.values)
    for i in range(problem.surfaces):
        if i != found and side[i] * step.values[i] < 0.0:
            near += 1
    new = rate_of(problem, state, step, found)
    if near > 0 or not -side[found] * new > LEAST_RATE * abs(old):
        state.gates[found] = 1.0 - state.gates[found]
        return False
    state.width[found] = zero
    for i in range(problem.surfaces, problem.count):
        state.width[i] = step.more[i]
    return True
