"""Spaces, words and units: what corresponds, and sentences for what does not."""

from __future__ import annotations

import pytest

from odesys import OdesysError, Space, Units, Words
from odesys.expr.graph import ONE, sym
from odesys.program.spaces import ONE_AXIS, Groups, Tokens, same_side, say_side


def test_words_are_compared_by_what_they_are() -> None:
    assert Words("a b") == Words(["a", "b"]) and hash(Words("a b")) == hash(Words(["a", "b"]))
    assert Words("a b") != Words("a b", name="F") and Words("a b") != Words("a b", [[2, 0], [0, 1]])
    assert Words("a b") != Words("a b", positions=1) and Words("a b") != Space("E")


def test_positions_are_orthonormal_and_apart_from_the_words() -> None:
    words = Words("a b", [[2, 1], [1, 2]], positions=2)
    gram = words.pinned.gram_floats()
    assert gram.tolist() == [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_sides_that_correspond() -> None:
    assert same_side(Space("m"), Space("m")) and not same_side(Space("m"), Space("v"))
    assert not same_side(Space("m"), Units("m", 3)) and same_side(Units("a", 3), Units("b", 3))
    assert not same_side(Tokens((0, 1)), Tokens((1, 2))) and same_side(Tokens((2,)), ONE_AXIS)
    assert say_side(Units("y", 3)) == "3 y" and say_side(Tokens((1,))) == "1 token" and say_side(ONE_AXIS) == "1"


def test_the_last_group_may_stand_for_several() -> None:
    left = sym("K") - 2
    assert Groups(2, 3, left).counts == (ONE, ONE, left)
    assert Groups(2, 3).counts is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Space("2m"), "not the name of a space"),
        (lambda: Units("y", 0), "how many there are"),
        (lambda: Units("y", 2.5), "how many there are"),
        (lambda: Words(""), "at least one word"),
        (lambda: Words("a a"), "stands twice"),
        (lambda: Words("a", positions=-1), "whole number"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_a_single_token_is_any_number_and_the_words_of_axes_are_only_their_names() -> None:
    assert same_side(Tokens((0,)), Tokens((1,))) and not same_side(Tokens((0, 1)), Tokens((0, 1, 2)))
    named = Units("r", 2, words=("a", "b"))
    assert named == Units("r", 2) and hash(named) == hash(Units("r", 2)) and named != Units("r", 3)
    assert not named.grouped and say_side(Tokens((1, 2))) == "2 tokens" and Units("r", 1).labels == ("",)
