"""Rules as objects; what they do to weights is in test_rules."""

from __future__ import annotations

import numpy as np

from odesys import blocks, num, sym
from odesys.derive.motion import NORMALISED, SIGN, Rule, heavy_ball, plain, velocity_name
from odesys.expr.graph import ONE, ZERO


def test_a_map_that_is_not_listed_stands_still() -> None:
    flow, step = Rule({}), Rule({}, step=True)
    assert flow.motion("W").force is ZERO and not flow.motion("W").maps
    assert step.motion("W").force is ZERO and dict(step.motion("W").maps) == {"W": ONE}


def test_decay_is_a_multiple_of_the_map_itself() -> None:
    maps = frozenset({"W"})
    assert dict(plain(maps, False, decay=num(2)).motion("W").maps) == {"W": num(-2)}
    assert dict(plain(maps, True, decay=num(2)).motion("W").maps) == {"W": 1 - 2 * sym("eta")}


def test_velocities_are_named_after_their_maps() -> None:
    assert velocity_name("W_K.p") == "dK.p" and velocity_name("Z") == "dZ"
    assert heavy_ball(frozenset({"Z"}), False, sym("gamma")).moving == {"Z", "dZ"}


def test_turns_of_given_forces() -> None:
    force = blocks.constant([[3, 0], [0, -4]])
    found = [
        blocks.evaluate(turn.change([force], lambda: blocks.constant([[25]])), {}, {})[0] for turn in (SIGN, NORMALISED)
    ]
    assert np.array_equal(found[0], [[1, 0], [0, -1]])
    assert np.allclose(found[1], [[0.6, 0], [0, -0.8]], atol=1e-15)
