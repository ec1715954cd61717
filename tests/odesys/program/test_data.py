"""Samples, weights, tokens and targets of a program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, OdesysError, Sample, Words, cross_entropy, gradient_flow, maps, num
from odesys.program.data import Group, Wanted, coordinates, target_table

WORDS = Words("a b c")


def group(*targets: object) -> Group:
    (found,) = Data(WORDS, [(("a",), target) for target in targets]).groups()
    return found


def test_weights_are_equal_or_given() -> None:
    assert Data(WORDS, [("a b", 1), ("b", -1)]).weights == (Fraction(1, 2),) * 2
    third = Fraction(1, 3)
    assert Data(WORDS, [("a", 1, third), ("b", -1, 2 * third)]).weights == (third, 2 * third)
    assert Data(WORDS, [Sample(["a"], 1), Sample(["b"], 2)]).weights == (Fraction(1, 2),) * 2


def test_weights_may_be_proportions() -> None:
    assert Data.proportional(WORDS, [("a", 1, 2), ("b", -1, 1)]).weights == (Fraction(2, 3), Fraction(1, 3))


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


def targets(group: Group, rows: int, columns: int) -> np.ndarray:
    return target_table(group, Wanted(rows, columns, {f"y{r + 1}": r for r in range(rows)}, "f"))


def test_targets_follow_the_output() -> None:
    assert targets(group(1, -1), 1, 1)[:, 0, 0].tolist() == [num(1), num(-1)]
    assert targets(group([5]), 1, 1).tolist() == [[[num(5)]]]
    assert targets(group(2), 3, 1)[0].tolist() == [[num(0)], [num(0)], [num(1)]]
    assert targets(group([5, 6, 7]), 3, 1)[0, 2, 0] is num(7)
    assert targets(group([1, 0]), 2, 2)[0].tolist() == [[num(0), num(1)], [num(1), num(0)]]
    assert np.array(targets(group([[1, 2], [3, 4]]), 2, 2)[0, 1, 0]).item() is num(2)


def test_a_target_may_be_named() -> None:
    assert targets(group("y2"), 3, 1)[0].tolist() == [[num(0)], [num(1)], [num(0)]]
    assert targets(group("y2 y1"), 3, 2)[0].tolist() == targets(group([1, 0]), 3, 2)[0].tolist()
    with pytest.raises(OdesysError, match="the target 'y2 y1' of"):
        targets(group("y2 y1"), 2, 1)
    Z = maps("Z", WORDS, WORDS)
    flows = [
        gradient_flow(lambda X: WORDS.all.T @ Z @ X, Data(WORDS, [("a b", target)]), cross_entropy)
        for target in ("b c", [1, 2])
    ]
    assert flows[0].system.nodes == flows[1].system.nodes
    outs = Words("u v w", name="U")  # another set of as many words
    W = maps("W", outs, WORDS)
    flows = [
        gradient_flow(lambda X: outs.all.T @ W @ X[0], Data(WORDS, [("a", target)]), cross_entropy)
        for target in ("w", 2)
    ]
    assert flows[0].system.nodes == flows[1].system.nodes
    with pytest.raises(OdesysError, match="one of u, v, w"):
        gradient_flow(lambda X: outs.all.T @ W @ X[0], Data(WORDS, [("a", "a")]), cross_entropy)
    with pytest.raises(OdesysError, match=r"the target 'd' of .* is a class from 0 to 2, one of a, b, c, or 3 numbers"):
        gradient_flow(lambda X: WORDS.all.T @ Z @ X, Data(WORDS, [("a b", "d")]), cross_entropy)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Data(["a"], [("a", 1)]), "begins with the Words"),
        (lambda: Data(WORDS, []), "at least one sample"),
        (lambda: Data(WORDS, [("a", 1, Fraction(1, 3))]), "sum to 1/3"),
        (lambda: Data(WORDS, [("d", 1)]), "not in the dictionary"),
        (lambda: Data(WORDS, [(([1, 2],), 1)]), "2 coordinates, but there are 3 words"),
        (lambda: Data(WORDS, ["a"]), "a pair"),
        (lambda: targets(group([5, 6]), 1, 1), r"the entry \[5, 6\]; a number is needed"),
        (lambda: targets(group(3), 3, 1), "a class from 0 to 2"),
        (lambda: targets(group([1, 2]), 3, 1), "has 3 rows"),
        (lambda: targets(group([1, 2]), 1, 3), "has 3 columns"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()
