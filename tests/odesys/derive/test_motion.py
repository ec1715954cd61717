"""Rules as objects; what they do to weights is in test_rules."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import Data, Words, blocks, gradient_flow, maps, num, squared, sym
from odesys import heavy_ball as ball
from odesys.derive.motion import (
    NORMALISED,
    SIGN,
    Motion,
    Rule,
    check_turn,
    heavy_ball,
    plain,
    velocity_name,
)
from odesys.errors import ModelError
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


ETA, GAMMA = sym("eta"), sym("gamma")


@pytest.mark.parametrize("step", [False, True])
@pytest.mark.parametrize("decay", [ZERO, num(3), sym("lam")])
def test_plain_motions_are_those_of_the_module(step: bool, decay) -> None:
    rule = plain(frozenset({"W", "V"}), step, {"W": num(5)}, decay)
    own = {True: 1 - ETA * decay, False: -decay}[step]
    assert rule.step is step and rule.turn is None and rule.moving == {"W", "V"}
    for name, rate in (("W", num(5)), ("V", ONE)):
        kept = {} if own is ZERO else {name: own}
        assert rule.motion(name) == Motion(rate, kept)
    assert plain(frozenset({"W"}), step) == Rule({"W": Motion(ONE, {"W": ONE} if step else {})}, step)


@pytest.mark.parametrize("decay", [ZERO, num(3)])
def test_inertia_is_that_of_the_module(decay) -> None:
    pull = {} if decay is ZERO else {"W": -decay}
    flow = heavy_ball(frozenset({"W"}), False, GAMMA, {"W": num(2)}, decay)
    assert not flow.step
    assert flow.motion("dW") == Motion(num(2), {"dW": -GAMMA, **pull}, "W")
    assert flow.motion("W") == Motion(ZERO, {"dW": ONE})
    step = heavy_ball(frozenset({"W"}), True, GAMMA, {"W": num(2)}, decay)
    assert step.step
    assert step.motion("dW") == Motion(num(2), {"dW": GAMMA, **{k: ETA * v for k, v in pull.items()}}, "W")
    assert step.motion("W") == Motion(num(2), {"W": 1 - ETA * decay, "dW": GAMMA})


def test_a_turn_of_entries_needs_listed_axes_orthonormal_words_and_rates() -> None:
    """What looks at the whole gradient needs none of them but rates."""

    def flow(gram=None):
        words = Words("a b", gram)
        w = maps("w", 1, words)
        return gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1)]), squared)

    made, angled = flow(), flow([[2, 1], [1, 2]])
    for turn in (SIGN, NORMALISED):
        assert check_turn(turn, made.naming, made.closure.read, made.rule) is None
    with pytest.raises(ModelError, match="but its words a, b have a Gram matrix; take orthonormal words"):
        check_turn(SIGN, angled.naming, angled.closure.read, angled.rule)
    assert check_turn(NORMALISED, angled.naming, angled.closure.read, angled.rule) is None
    assert check_turn(SIGN, angled.naming, angled.closure.read, Rule({})) is None, "nothing that is read moves"
    silent = plain(frozenset({"w"}), False, {"w": ZERO})
    with pytest.raises(ModelError, match="sign descent gives the rate 0 to w; leave it out of train"):
        check_turn(SIGN, made.naming, made.closure.read, silent)
    with pytest.raises(ModelError, match="normalised descent gives the rate 0 to w"):
        check_turn(NORMALISED, made.naming, made.closure.read, silent)


def test_a_velocity_with_the_name_of_a_map_or_of_another_velocity_is_refused() -> None:
    words = Words("a b c")
    data = Data(words, [("a b", 1), ("b c", -1)])

    def sum_of(first: str, second: str, of: str = ""):
        one, two = maps(first, words, words, of=of), maps(second, words, words, of=of)
        return lambda X: X[0].T @ one @ X[1] + X[0].T @ two @ X[0]

    for names, options, sentence in (
        (("Z", "dZ"), {}, "the map dZ has the name of the velocity of Z; rename it"),
        (("Z", "dZ"), {"train": "Z"}, "the map dZ has the name of the velocity of Z; rename it"),
        (("W_K", "dK", "p"), {}, r"the map dK\.p has the name of the velocity of W_K\.p; rename it"),
        (("W_K", "K"), {}, "the velocities of W_K and K are both called dK; rename one"),
    ):
        for step in (False, True):
            with pytest.raises(ModelError, match=f"^{sentence}$"):
                made_of(sum_of(*names), data, step=step, **options)
    gradient_flow(sum_of("Z", "dZ"), data, squared)
    assert made_of(sum_of("Z", "dZ"), data, train="dZ").rule.velocities == ("ddZ",)


def test_a_parameter_of_the_program_called_as_the_friction_is_refused() -> None:
    words = Words("a b")
    w, data = maps("w", 1, words), Data(words, [("a", 1)])
    for step in (False, True):
        with pytest.raises(ModelError, match="the parameter gamma of the program is the name of the friction; rename"):
            made_of(lambda X: w @ X[0] + "gamma", data, step=step)
        assert "gamma" in made_of(lambda X: w @ X[0] + "gamma", data, friction="beta", step=step).system.parameters
    angled = Words("a b", [["gamma", 0], [0, 1]])
    with pytest.raises(ModelError, match="gamma of the program is the name of the friction"):
        made_of(lambda X: maps("w", 1, angled) @ X[0], Data(angled, [("a", 1)]))
    assert gradient_flow(lambda X: w @ X[0] + "gamma", data, squared).system.parameters == ("gamma",)


def made_of(program, data, **options):
    return ball(program, data, squared, **options)
