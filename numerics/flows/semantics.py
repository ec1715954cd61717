r"""What an event and a switch are: one definition for the reference integrator and for compiled runs.

**Watched values** are the surfaces :math:`h_i` and the events (expression minus level). Each has a *side*: its sign,
or none while it is at zero, or is not a number. At zero means within its *width*, by which rounding of state and time
can move it: the largest change when the state is moved by STATE_ROUNDING of itself, with signs drawn once, and time by
TIME_ROUNDING of the larger of time and step, times four; for an event in a slide, by the tolerance of a step as well.
It has left zero once it is LEAVING_WIDTHS times its width away. Gates in watched values are those of the run: held, or
between 0 and 1 in a slide.

**A step is read** at the ends of its STEP_PARTS, and at the lowest point of a dip: where the parabola through three
neighbouring readings comes down, on the side of the middle one, to less than that over DIP_RATIO, or to less than
DIP_PART of its bend (low - 2 here + high), which is what a parabola through far readings may be wrong by. It is
found by TOUCH_TURNS parabolas through ever closer readings. Between two readings a value passes zero once or not at
all.

**A step must be fine enough** for what is watched, which may move faster than the state (sin 50x). The polynomial
through the readings is compared with five more, at PROBES, whose places have no common measure. Where it
misses one by more than MISSED of the range of the readings, and the value may be at zero there, they are too far apart:
compiled code makes the step again at half its length, the reference reads the part again at half the distance. A value
that is still missed after HALVINGS is rough, as one that jumps, and is read as it is.

**A touch** is a dip of an event without a direction that comes to zero and goes back to its side: its lowest point,
found by TOUCH_TURNS parabolas, is closer to zero than TOUCH_ROOM tolerances of a step, or TIME_ROUNDING of time, can
move the value. Its direction is 0. A dip that comes through by no more than that is one touch as well, for nobody can
tell the two apart.

**An event happens** when its value reaches zero from its side, whatever the order of the root: a triple root is a
passage like any other. The
direction is away from the old side. The new side is the sign at the next reading, or none where a gate turns in the
same moment. A value that is at zero at the start, or becomes zero, has no side and can not happen until it has left;
leaving is not an event. What starts past its level does not happen. An event that jumps past zero with a gate happens
right after that switch.

**A moment** are all times within ONE_MOMENT of the larger of time and step. Of one moment, all events are recorded, in
the order in which they are listed and with the time of the first one. If one of them is terminal the run ends there;
the first terminal one in the list is its reason. Then no gate is turned: an event goes before a switch. Without one,
recorded events come before the switch of their moment.

**A switch happens** when a surface with a side reaches zero. The gates to go on with are those that agree with the
rates they produce (`numerics.flows.modes`). A surface that is at zero has no side; it takes that of its gate once it
has left, and a gate that denies the side it leaves to is refused. The gates of surfaces that
can not change are those of the start. At the start gates are chosen, not switched; a gate that turns and turns back
in one moment did not switch.

**A spiral** around a point where surfaces meet has ever shorter turns. Each is a switch, until the other surface is
at zero too when one is reached; there the gates of both are chosen together, and the flow slides along both.

Compiled code turns the gate of one surface that is crossed with a rate other than zero. Everything else (a slide,
several surfaces in one moment, roots of higher order, a gate denied) it leaves to the reference integrator, with the
step not made.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)
STEP_PARTS = 4  # at whose ends the watched values are read
DIP_RATIO = 4.0  # the lowest point of a parabola is read as well where it is below the middle reading over this
DIP_PART = 0.25  # or below this part of its bend: sin at 2 radians per part is wrong by that much
LEAVING_WIDTHS = 16.0  # widths from zero at which a surface has left it
STATE_ROUNDING = 4 * EPS  # of each state, where a width is measured
TIME_ROUNDING = 8 * EPS  # of time
# of a step; numbers with roots of 2 and 5, so that no wave passes through all of them and the readings by chance
PROBES = (0.1458980337503155, 0.3819660112501051, 0.5857864376269049, 0.7236067977499790, 0.9045084971874737)
MISSED = 0.1  # of the range of the readings; a kink is missed by 0.05, sin at 0.7 radians per part by 0.001
HALVINGS = 24
FOREVER = 1e100  # what an infinite end is to a solver: past every event of a state that still moves
TOUCH_TURNS = 7  # each an eighth as wide as the one before
TOUCH_ROOM = 10.0  # tolerances of a step
ONE_MOMENT = 64 * EPS  # of time: what is not further apart happens at one moment


def probe_weights() -> np.ndarray:
    """Weights (probes, readings) with which the polynomial through the readings of a step gives values at PROBES."""
    places = np.arange(-1, STEP_PARTS + 2, dtype=float)
    wanted = STEP_PARTS * np.array(PROBES)
    rows = [[np.prod([(w - b) / (a - b) for b in places if b != a]) for a in places] for w in wanted]
    return np.array(rows)
