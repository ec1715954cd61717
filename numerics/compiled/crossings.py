"""What a step meets: surfaces it reaches, events it passes; in the language of `odesys.jit.loops`.

Watched values are the surfaces, then the events, read at the ends of the parts of a step (V) and on dense output.
"""

from __future__ import annotations

from odesys.jit.loops import Array, Code, call

from .dop853 import dense_value

PARTS = 4  # of a step, at whose ends the watched values are read
KNOT = 3  # numbers of a knot, and of what happens
SMALL = 8.9e-16  # relative change of a state that rounding may cause
# what a step tells, by its place: its length, the next to try, how often it was tried, the fraction where it ends,
# the lowest point of a value that passes zero and comes back, and how much has happened
LENGTH, NEXT, TRIED, PLACE, LOWEST, HAPPENED_SO_FAR, TOLD = range(7)
NONE, DENIED = -1, -2  # no watched value ends the step; one does whose gate does not allow it


def root_part(
    watch: Code,
    n: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    F: Array,
    low: float,
    high: float,
    index: int,
    side: float,
    work: Array,
    values: Array,
) -> float:
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


def first_root(
    watch: Code,
    n: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    F: Array,
    V: Array,
    k: int,
    i: int,
    side: float,
    work: Array,
    values: Array,
    step: Array,
) -> float:
    """Where in part k of a step a watched value first reaches zero, or 2.

    V : the watched values at the ends of all parts.
    A value that is on its side at both ends may pass zero between them: the lowest point of the parabola through three
    ends is looked at, and written into `step`.
    """
    left, right = (k - 1) / PARTS, k / PARTS
    step[LOWEST] = right
    if side * V[k * count + i] <= 0.0:
        return root_part(watch, n, t, x, p, g, h, F, left, right, i, side, work, values)
    for middle in range(k - 1, k + 1):
        if middle < 1 or middle >= PARTS:
            continue
        low, here, high = V[(middle - 1) * count + i], V[middle * count + i], V[(middle + 1) * count + i]
        height, bend, slope = side * here, side * (low - 2.0 * here + high), side * (low - high) / 2.0
        if height <= 0.0 or bend <= 0.0 or height - slope * slope / (2.0 * bend) > height / 4.0:
            continue
        lowest = (middle + slope / bend) / PARTS
        if lowest <= left or lowest > right:
            continue
        dense_value(n, F, x, lowest, work)
        call(watch, t + lowest * h, work, p, g, values)
        if side * values[i] <= 0.0:
            step[LOWEST] = lowest
            return root_part(watch, n, t, x, p, g, h, F, left, lowest, i, side, work, values)
    return 2.0


def rate_of(
    watch: Code,
    n: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    f: Array,
    index: int,
    reach: float,
    work: Array,
    values: Array,
) -> float:
    """Rate of a watched value along the velocity f, by a central difference over 2 `reach`."""
    for i in range(n):
        work[i] = x[i] + reach * f[i]
    call(watch, t + reach, work, p, g, values)
    high = values[index]
    for i in range(n):
        work[i] = x[i] - reach * f[i]
    call(watch, t - reach, work, p, g, values)
    return (high - values[index]) / (2.0 * reach)


def widths(
    watch: Code,
    n: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    work: Array,
    values: Array,
    other: Array,
    out: Array,
) -> None:
    """How far from zero rounding of the state can leave each watched value."""
    call(watch, t, x, p, g, values)
    for i in range(n):
        work[i] = x[i] * (1.0 + (SMALL if i % 2 == 1 else -SMALL))
    call(watch, t * (1.0 + SMALL), work, p, g, other)
    for k in range(count):
        out[k] = 4.0 * abs(other[k] - values[k])


def turns(
    field: Code,
    watch: Code,
    n: int,
    surfaces: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    found: int,
    side: Array,
    width: Array,
    movable: Array,
    work: Array,
    velocity: Array,
    watched: Array,
) -> bool:
    """Turn the gate of a surface that was reached, and say if the flow leaves to that side; if not, turn it back.

    Nor is it left to this function where another surface is as near, or would have another gate now.
    """
    values, other, spare = watched, watched[count:], watched[2 * count :]
    widths(watch, n, count, t, x, p, g, work, values, other, spare)
    zero, near = spare[found] + abs(values[found]), 0
    for i in range(surfaces):
        if movable[i] != 0.0 and (i == found or abs(values[i]) <= 4.0 * spare[i] or side[i] * values[i] < 0.0):
            near += 1
    call(field, t, x, p, g, velocity)
    old = rate_of(watch, n, t, x, p, g, velocity, found, 1e-5 * h, work, spare)
    g[found] = 1.0 - g[found]
    call(watch, t, x, p, g, values)
    for i in range(surfaces):
        if i != found and side[i] * values[i] < 0.0:
            near += 1
    call(field, t, x, p, g, velocity)
    new = rate_of(watch, n, t, x, p, g, velocity, found, 1e-5 * h, work, spare)
    if near > 1 or not -side[found] * new > 1e-6 * abs(old):
        g[found] = 1.0 - g[found]
        return False
    width[found] = zero
    return True


def note(happenings: Array, step: Array, t: float, i: int, side: float, direction: float) -> None:
    """Write down that a watched value left its side, if it is looked for in that direction."""
    if direction * side > 0.0:
        return
    row = happenings[KNOT * int(step[HAPPENED_SO_FAR]) :]
    row[0], row[1], row[2] = t, i, -side
    step[HAPPENED_SO_FAR] += 1.0


def read_parts(
    watch: Code,
    n: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    t_new: float,
    new: Array,
    F: Array,
    work: Array,
    V: Array,
) -> None:
    """The watched values at the ends of all parts of a step."""
    call(watch, t, x, p, g, V)
    for k in range(1, PARTS):
        dense_value(n, F, x, k / PARTS, work)
        call(watch, t + k / PARTS * h, work, p, g, V[k * count :])
    call(watch, t_new, new, p, g, V[PARTS * count :])


def met(
    watch: Code,
    n: int,
    surfaces: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    F: Array,
    V: Array,
    side: Array,
    width: Array,
    movable: Array,
    directions: Array,
    terminal: Array,
    work: Array,
    now: Array,
    values: Array,
    step: Array,
) -> int:
    """The first watched value that ends a step, with its place in it; or NONE, or DENIED by the gate of a surface.

    now : room for the sides as they change within the step; of these only those of surfaces are kept.
    Of two at the same place an event goes first: it ends the run.
    """
    for i in range(count):
        now[i] = side[i]
    found = NONE
    step[PLACE] = 1.0
    for k in range(1, PARTS + 1):
        for i in range(count):
            value = V[k * count + i]
            if movable[i] == 0.0:
                continue
            if now[i] == 0.0:
                if abs(value) > 16.0 * width[i]:
                    now[i] = 1.0 if value > 0.0 else -1.0
                    if i < surfaces and now[i] != 2.0 * g[i] - 1.0:
                        return DENIED
            elif ends_run(i, surfaces, now, directions, terminal):
                spot = first_root(watch, n, count, t, x, p, g, h, F, V, k, i, now[i], work, values, step)
                if spot <= 1.0 and (found == NONE or spot < step[PLACE] or (spot == step[PLACE] and i >= surfaces)):
                    found = i
                    step[PLACE] = spot
            elif now[i] * value < 0.0:
                now[i] = -now[i]
        if found != NONE:
            break
    for i in range(surfaces):
        side[i] = now[i]
    return found


def passed(
    watch: Code,
    n: int,
    surfaces: int,
    count: int,
    t: float,
    x: Array,
    p: Array,
    g: Array,
    h: float,
    F: Array,
    V: Array,
    side: Array,
    width: Array,
    directions: Array,
    terminal: Array,
    found: int,
    happenings: Array,
    work: Array,
    values: Array,
    step: Array,
) -> None:
    """Write down the events that a step passes before it ends, and move their sides along."""
    end = step[PLACE]
    for k in range(1, PARTS + 1):
        left, right = (k - 1) / PARTS, k / PARTS
        if left >= end:
            break
        for i in range(surfaces, count):
            value = V[k * count + i]
            if side[i] == 0.0:
                if abs(value) > 16.0 * width[i] and right <= end:
                    side[i] = 1.0 if value > 0.0 else -1.0
            elif i != found and not ends_run(i, surfaces, side, directions, terminal):
                spot = first_root(watch, n, count, t, x, p, g, h, F, V, k, i, side[i], work, values, step)
                if spot < end or (spot == end and found == NONE):
                    note(happenings, step, t + spot * h, i, side[i], directions[i - surfaces])
                    side[i] = -side[i]
                    if side[i] * value < 0.0:  # and back again
                        spot = root_part(watch, n, t, x, p, g, h, F, step[LOWEST], right, i, side[i], work, values)
                        if spot < end and not ends_run(i, surfaces, side, directions, terminal):
                            note(happenings, step, t + spot * h, i, side[i], directions[i - surfaces])
                            side[i] = -side[i]
