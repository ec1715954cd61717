"""Samples, weights, tokens and targets of a program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, OdesysError, Sample, Words, num
from odesys.program.data import Group, coordinates, target_table

WORDS = Words("a b c")


def group(*targets: object) -> Group:
    (found,) = Data(WORDS, [(("a",), target) for target in targets]).groups()
    return found


def test_weights_are_equal_or_given() -> None:
    assert Data(WORDS, [("a b", 1), ("b", -1)]).weights == (Fraction(1, 2),) * 2
    third = Fraction(1, 3)
    assert Data(WORDS, [("a", 1, third), ("b", -1, 2 * third)]).weights == (third, 2 * third)
    assert Data(WORDS, [Sample(["a"], 1), Sample(["b"], 2)]).weights == (Fraction(1, 2),) * 2


def test_groups_by_length_keep_their_places() -> None:
    groups = Data(WORDS, [("a b", 1), ("c", 1), ("b -a", -1)]).groups()
    assert [g.places for g in groups] == [(1,), (0, 2)]
    assert groups[1].index.tolist() == [[0, 1], [1, 0]] and groups[1].factor[1, 1] is num(-1)


def test_real_valued_tokens() -> None:
    assert coordinates(WORDS, [0, Fraction(1, 2), 0]) == {1: num(Fraction(1, 2))}
    assert set(coordinates(WORDS, {"a": 2, "c": "alpha"})) == {0, 2}
    data = Data(WORDS, [(([1, 2, 0], "a"), 1)])
    assert data.groups()[0].table.shape == (1, 3, 2) and not data.parameters
    assert Data(WORDS, [(({"a": "alpha"},), 1)]).parameters == {"alpha"}


def test_targets_follow_the_output() -> None:
    assert target_table(group(1, -1), 1, 1, "f")[:, 0, 0].tolist() == [num(1), num(-1)]
    assert target_table(group(2), 3, 1, "f")[0].tolist() == [[num(0)], [num(0)], [num(1)]]
    assert target_table(group([5, 6, 7]), 3, 1, "f")[0, 2, 0] is num(7)
    assert target_table(group([1, 0]), 2, 2, "f")[0].tolist() == [[num(0), num(1)], [num(1), num(0)]]
    assert np.array(target_table(group([[1, 2], [3, 4]]), 2, 2, "f")[0, 1, 0]).item() is num(2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Data(["a"], [("a", 1)]), "begins with the Words"),
        (lambda: Data(WORDS, []), "at least one sample"),
        (lambda: Data(WORDS, [("a", 1, Fraction(1, 3))]), "sum to 1/3"),
        (lambda: Data(WORDS, [("d", 1)]), "not in the dictionary"),
        (lambda: Data(WORDS, [(([1, 2],), 1)]), "2 coordinates, but there are 3 words"),
        (lambda: Data(WORDS, ["a"]), "a pair"),
        (lambda: target_table(group(3), 3, 1, "f"), "a class from 0 to 2"),
        (lambda: target_table(group([1, 2]), 3, 1, "f"), "has 3 rows"),
        (lambda: target_table(group([1, 2]), 1, 3, "f"), "has 3 columns"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()
