"""Samples, weights, tokens and targets of a program."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from odesys import (
    Data,
    Dictionary,
    Distribution,
    OdesysError,
    Sample,
    Words,
    cross_entropy,
    gradient_flow,
    maps,
    num,
    sym,
)
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


def test_data_say_what_they_are() -> None:
    assert repr(Data(WORDS, [Sample(["a"], 1, name="one"), Sample(["b"], -1, name="two")])) == (
        "<Data: 2 samples over Words(a b c): one: 1, two: -1>"
    )
    assert len(Data(WORDS, [("a", 1)] * 5)) == 5 and repr(Data(WORDS, [("a", 1)] * 5)).endswith("(a): 1 and 1 more>")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Data(["a"], [("a", 1)]), "Data(words, samples) begins with the Words, not with ['a']"),
        (lambda: Data(WORDS, "a"), "data are a list of pairs (tokens, target), not 'a'"),
        (lambda: Data(WORDS, {"a": 1}), "data are a list of pairs (tokens, target), not {'a': 1}"),
        (lambda: Data(WORDS, 3), "data are a list of pairs (tokens, target), not 3"),
        (
            lambda: Data(WORDS, [("a", 1, 2, 3)]),
            "a sample is a pair (tokens, target) or a triple with its weight, not ('a', 1, 2, 3)",
        ),
        (lambda: Data(WORDS, [("a",)]), "a sample is a pair (tokens, target) or a triple with its weight, not ('a',)"),
        (lambda: Data(WORDS, [("a", 1, Fraction(1, 3))]), "the weights of the 1 samples sum to 1/3, not to 1"),
        (
            lambda: Data(WORDS, [("a", 1), ("b", 1)]).condition(lambda s: s.label == 3),
            "no sample satisfies the condition, so there is nothing to condition on",
        ),
        (lambda: coordinates(WORDS, [1, 2]), "the token [1, 2] has 2 coordinates, but there are 3 words"),
        (lambda: coordinates(WORDS, 3), "3 is not a token: write a word, coordinates, or {word: coefficient}"),
        (
            lambda: targets(group([1, 2, 3]), 1, 2),
            "the target [1, 2, 3] has 3 entries, but f has 2 columns",
        ),
        (lambda: targets(group([1, 2]), 3, 1), "the target [1, 2] has 2 entries, but f has 3 rows"),
        (lambda: targets(group([[1, 2], [3, 4]]), 3, 2), "the target [1, 2] has 2 entries, but f has 3 rows"),
        (
            lambda: targets(group(-1), 3, 1),
            "the target -1 of the output f is a class from 0 to 2, one of y1, y2, y3, or 3 numbers",
        ),
        (
            lambda: targets(group(5), 5, 1),
            "the target 5 of the output f is a class from 0 to 4, one of y1, y2, y3, y4, ..., or 5 numbers",
        ),
        (
            lambda: targets(group(4), 4, 1),
            "the target 4 of the output f is a class from 0 to 3, one of y1, y2, y3, y4, or 4 numbers",
        ),
    ],
)
def test_the_sentence_says_what_is_wrong(make: Any, sentence: str) -> None:
    with pytest.raises(OdesysError, match=f"^{re.escape(sentence)}$"):
        make()


def test_conditions_keep_proportions_names_and_counts() -> None:
    data = Data(
        WORDS,
        [
            Sample(["a"], 1, Fraction(1, 2), name="one", counts=[3]),
            Sample(["b"], 1, Fraction(1, 6)),
            Sample(["c"], -1, Fraction(1, 3)),
        ],
    )
    kept = data.condition(lambda sample: sample.label > 0)
    assert kept.weights == (Fraction(3, 4), Fraction(1, 4))
    assert kept.samples[0].name == "one" and kept.samples[0].counts == data.samples[0].counts
    assert Data(WORDS, [Sample(["a"], 1, Fraction(1, 2)), ("b", 1, Fraction(1, 2))]).weights == (Fraction(1, 2),) * 2
    assert Data(WORDS, [("a", 1)]).weights == (1,) and not Data(WORDS, [("a", 1)]).parameters
    assert Data(WORDS, [Sample(["a"], 1, counts=["n"])]).parameters == {"n"}


def test_groups_have_tables_counts_and_factors() -> None:
    data = Data(WORDS, [(({"a": 2}, "-b"), 1), (([0, 0, "k"], "c"), 2)])
    (one,) = data.groups()
    assert (one.length, one.size, one.table, one.counts, one.targets) == (2, 2, None, None, (1, 2))
    assert one.index.tolist() == [[0, 1], [2, 2]] and one.factor.tolist() == [[num(2), num(-1)], [sym("k"), num(1)]]
    mixed = Data(WORDS, [(({"a": 2, "b": 0}, "-b"), 1), (([1, 0, 3], "c"), 2)]).groups()[0]
    assert mixed.index.tolist() == [[0, 1, 2]] and mixed.factor.tolist() == [[num(1)] * 3]
    assert mixed.table is not None and mixed.table.shape == (2, 3, 2)
    assert [[float(e.args[0]) for e in row] for row in mixed.table[0]] == [[2, 0], [0, -1], [0, 0]]
    assert [[float(e.args[0]) for e in row] for row in mixed.table[1]] == [[1, 0], [0, 0], [3, 1]]
    counted = Data(WORDS, [Sample(["a", "b"], 1, counts=[2, 5]), Sample(["b", "c"], 1)]).groups()[0]
    assert counted.counts is not None and counted.counts.tolist() == [[num(2), num(5)], [num(1), num(1)]]


def test_samples_that_are_encoded_are_those_of_the_words() -> None:
    samples = [Sample(["a", "-b"], 1, Fraction(1, 2)), Sample(["c", "a"], -1, Fraction(1, 2))]
    (arrays,) = Distribution(samples).encode(Dictionary(["a", "b", "c"]))
    found, (wanted,) = Group.encoded(arrays), Data(WORDS, samples).groups()
    assert found.index.tolist() == wanted.index.tolist() and found.factor.tolist() == wanted.factor.tolist()
    assert (found.targets, found.weights, found.length, found.table) == ((1, -1), wanted.weights, 2, None)


def test_targets_of_every_shape() -> None:
    assert targets(group(1), 1, 3)[0].tolist() == [[num(1)] * 3]
    assert targets(group([1, 2, 3]), 1, 3)[0].tolist() == [[num(1), num(2), num(3)]]
    assert targets(group("q"), 1, 1)[0, 0, 0] is sym("q") and targets(group(["q"]), 1, 1)[0, 0, 0] is sym("q")
    assert targets(group([Fraction(1, 2), "q"]), 2, 1)[0].tolist() == [[num(Fraction(1, 2))], [sym("q")]]
    assert targets(group([[1, 2], [3, 4], [5, 6]]), 2, 3)[0].tolist() == [
        [num(1), num(3), num(5)],
        [num(2), num(4), num(6)],
    ]
    assert targets(group(1), 2, 3)[0].tolist() == [[num(0)] * 3, [num(1)] * 3]
    assert targets(group(np.int64(2)), 3, 1)[0].tolist() == [[num(0)], [num(0)], [num(1)]]
    with pytest.raises(OdesysError, match="a class from 0 to 1"):
        targets(group(True), 2, 1)
