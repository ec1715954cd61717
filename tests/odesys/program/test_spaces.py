"""Spaces, words and units: what corresponds, and sentences for what does not."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize(
    ("side", "said"),
    [
        (Words("a b c d"), "the space of the words a, b, c, d"),
        (Words("a b c d e"), "the space of the words a, b, c, d, ..."),
        (Words("a", positions=2, name="F"), "the space of the words a with 2 positions (F)"),
        (Space("m"), "the space m"),
        (Tokens((0,)), "1 token"),
        (Tokens((0, 3)), "2 tokens"),
        (Units("y", 1), "1 y"),
        (Units("one", 1), "1"),
    ],
)
def test_a_side_in_a_sentence(side, said: str) -> None:
    assert say_side(side) == said


def test_spaces_are_shown_as_they_are_written_and_words_found_in_them() -> None:
    words = Words("q a b", positions=1)
    assert [repr(side) for side in (Space("m"), words, Units("r", 2), Tokens((1, 2)))] == [
        "Space(m)", "Words(q a b)", "Units(r, 2)", "2 tokens"
    ]  # fmt: skip
    assert list(words) == ["q", "a", "b"] and len(words) == 3 and words.parse("-b") == (2, -1)
    assert str(words["b"]) == "words.all[2]" and Units("r", 2).labels == ("r1", "r2")
    for missing in ("c", "pos1"):
        with pytest.raises(OdesysError, match=re.escape(f"there is no word '{missing}'; there are q, a, b")):
            words[missing]
    assert same_side(Units("a", 3), Tokens((0, 1, 2))) and not same_side(Tokens((0,)), Tokens((0, 1)))
    assert same_side(words, Words("q a b", positions=1)) and not same_side(words, Words("q a b"))
    assert (Words("a") == "a") is False and hash(words) != hash(Words("q a b"))


def test_units_of_a_family_are_its_groups() -> None:
    """As many as the window has, with its counts; ``words.all`` has those of every kind, and 1 for what is shared."""
    words = Words("a1 a2 b1 b2 s", groups=Groups(2, 2, sym("K") - 1))
    units = Units("y", words)
    assert (units.size, units.counts, units.grouped) == (2, (ONE, sym("K") - 1), True)
    assert units.labels == ("y1", "y2") and not Units("y", 2).grouped
    assert words.all.columns.counts == (ONE, sym("K") - 1, ONE, sym("K") - 1, ONE)
    assert words.all.columns.words == words.words and Words("a1 a2", groups=Groups(1, 2)).all.columns.counts is None
    with pytest.raises(OdesysError, match=re.escape("Units('y', words) has one axis for each group of the words of a")):
        Units("y", Words("a b"))
    with pytest.raises(
        OdesysError, match=re.escape("Units('y', True) needs how many there are: a whole number above 0")
    ):
        Units("y", True)
    with pytest.raises(
        OdesysError, match=re.escape("Words(3) needs names separated by blanks, as in Words('a b c'), or")
    ):
        Words(3)  # type: ignore[arg-type]
    with pytest.raises(OdesysError, match="positions=True is how many position vectors there are: a whole number"):
        Words("a", positions=True)
