"""Symmetries of words proposed by samples: the same as those of the whole loss where words are all that moves."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from odesys import Data, Sample, Words, gradient_flow, maps, softmax, squared
from odesys.reduce.program_symmetry import is_program_symmetry
from odesys.reduce.token_graph import has_signs, sample_moves

WORDS = Words("a b c d")
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def flow(*samples: tuple[str, int]):
    return gradient_flow(lambda X: w @ X @ softmax(X.T @ Z @ X[-1]), Data(WORDS, samples), squared)


def test_proposals_are_symmetries_of_the_samples() -> None:
    made = flow(("a d", 1), ("b d", 1), ("c d", 1))
    moves = sample_moves(made, None, ordered=True, flips=False)
    assert moves.order == 6 and not moves.negation
    assert all(sign == 1 and is_program_symmetry(made, element) for element, sign in moves.generators)


def test_order_of_tokens_and_targets_matter() -> None:
    told = flow(("a b", 1), ("b a", 2))
    found = [element for element, _ in sample_moves(told, None, ordered=True, flips=False).generators]
    assert all(is_program_symmetry(told, g) for g in found) and not has_signs(told)
    assert not any("('E', 1, 1), ('E', 0, 1)" in str(g.pins) for g in found)


def test_all_signs_of_targets_may_change_together() -> None:
    made = flow(("a d", 1), ("-a d", -1), ("b d", 1), ("-b d", -1), ("c d", 1), ("c d", -1))
    assert has_signs(made)
    still, flipped = (sample_moves(made, None, ordered=True, flips=flips) for flips in (False, True))
    assert flipped.order == 2 * still.order and {sign for _, sign in flipped.generators} == {1, -1}
    assert not flipped.negation, "d has no negative among the tokens"
    odd = sample_moves(flow(("a b", 1), ("-a -b", -1)), None, ordered=True, flips=True)
    assert odd.negation


def test_a_state_keeps_the_moves_that_fix_its_values() -> None:
    made = flow(("a d", 1), ("b d", 1), ("c d", 1))
    for w_now, order in (
        ((1, 1, 1, 2), 6),
        ((1, 1, 3, 2), 2),
        ((1, 2, 3, 2), 1),
        ((1, 1, -1, 2), 2),
        ((0, 0, 0, 0), 6),
    ):
        start = made.initial_state(values={"w": list(w_now), "Z": np.eye(4)})
        assert sample_moves(made, start, ordered=True, flips=False).order == order
    uneven = np.eye(4)
    uneven[0, 1] = 0.5
    for Z_now, order in ((uneven, 1), (uneven + uneven.T, 2), (np.ones((4, 4)), 6)):
        start = made.initial_state(values={"w": [1, 1, 1, 2], "Z": Z_now})
        assert sample_moves(made, start, ordered=True, flips=False).order == order


def test_the_size_of_the_tokens_does_not_change_their_symmetries() -> None:
    """Half of every token is another table of samples with the same moves: signs are told from sizes."""
    samples = [("a d", 1), ("-a d", -1), ("b d", 1), ("-b d", -1), ("c d", 1), ("c d", -1)]

    def scaled(size: Fraction):
        parts = [([{t[-1]: size if t[0] != "-" else -size} for t in text.split()], label) for text, label in samples]
        return gradient_flow(lambda X: w @ X @ softmax(X.T @ Z @ X[-1]), Data(WORDS, parts), squared)

    for flips in (False, True):
        whole = sample_moves(flow(*samples), None, ordered=True, flips=flips)
        for size in (Fraction(1, 2), Fraction(3), Fraction(5, 4)):
            made = scaled(size)
            moves = sample_moves(made, None, ordered=True, flips=flips)
            assert moves.order == whole.order and moves.negation == whole.negation
            assert all(is_program_symmetry(made, element) for element, sign in moves.generators if sign == 1)


def tried(samples: list[tuple[dict[str, Fraction], ...]], labels: list, ordered: bool, flips: bool) -> tuple[int, bool]:
    """Signed permutations of three words that map the samples to themselves, tried one by one; is -1 one of them?"""
    names, found = "abc", set()

    def key(sample, order=(0, 1, 2), signs=(1, 1, 1)):
        tokens = [
            tuple(sorted((names[order[names.index(w)]], c * signs[names.index(w)]) for w, c in token.items()))
            for token in sample
        ]
        return tuple(tokens if ordered else sorted(tokens))

    known = Counter((key(s), y) for s, y in zip(samples, labels, strict=True))
    for order, signs in product(permutations(range(3)), product((1, -1), repeat=3)):
        for turn in (1, -1) if flips else (1,):
            moved = Counter((key(s, order, signs), turn * y) for s, y in zip(samples, labels, strict=True))
            if moved == known:
                found.add((order, signs))
    return len(found), ((0, 1, 2), (-1, -1, -1)) in found


ONE, TWO, HALF = Fraction(1), Fraction(2), Fraction(1, 2)
TABLES = [
    ([({"a": ONE}, {"b": ONE}), ({"b": ONE}, {"a": ONE})], [1, 1]),
    ([({"a": ONE}, {"b": ONE}), ({"b": ONE}, {"a": ONE})], [1, -1]),
    ([({"a": ONE}, {"b": ONE}), ({"a": -ONE}, {"b": -ONE})], [1, -1]),
    ([({"a": ONE}, {"b": ONE}), ({"a": -ONE}, {"b": ONE})], [1, -1]),
    ([({"a": ONE}, {"c": ONE}), ({"b": ONE}, {"c": ONE})], [1, 1]),
    ([({"a": ONE, "b": TWO}, {"c": ONE}), ({"a": TWO, "b": ONE}, {"c": ONE})], [1, 1]),
    ([({"a": ONE, "b": TWO}, {"c": ONE}), ({"a": TWO, "b": -ONE}, {"c": ONE})], [1, 1]),
    ([({"a": HALF},), ({"b": -HALF},), ({"c": HALF},)], [1, -1, 1]),
    ([({"a": ONE}, {"a": ONE}, {"b": ONE})], [1]),
    ([({"a": ONE}, {"b": ONE}, {"c": -ONE})], [1]),
]


@pytest.mark.parametrize("flips", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("table", range(len(TABLES)))
def test_moves_are_those_found_by_trying_all(table: int, ordered: bool, flips: bool) -> None:
    """The order counts actions on words, so a move of words with two signs of the target counts once."""
    samples, labels = TABLES[table]
    words = Words("a b c")
    v = maps("w", 1, words)
    made = gradient_flow(lambda X: (v @ X).sum(), Data(words, list(zip(samples, labels, strict=True))), squared)
    found = sample_moves(made, None, ordered=ordered, flips=flips)
    assert (found.order, found.negation) == tried(samples, labels, ordered, flips)
    for element, sign in found.generators:
        (images,) = (own for _, own in element.pins)
        order, signs = [j for _, j, _ in images], [s for *_, s in images]

        def moved(sample, order=order, signs=signs):
            tokens = [
                tuple(sorted(("abc"[order["abc".index(w)]], c * signs["abc".index(w)]) for w, c in t.items()))
                for t in sample
            ]
            return tuple(tokens if ordered else sorted(tokens))

        def plain(sample):
            tokens = [tuple(sorted(t.items())) for t in sample]
            return tuple(tokens if ordered else sorted(tokens))

        assert Counter((moved(s), sign * y) for s, y in zip(samples, labels, strict=True)) == Counter(
            (plain(s), y) for s, y in zip(samples, labels, strict=True)
        )


def test_weights_and_counts_of_tokens_are_kept() -> None:
    words = Words("a b")
    v = maps("w", 1, words)

    def order(samples: list) -> int:
        made = gradient_flow(lambda X: (v @ X).sum(), Data(words, samples), squared)
        return sample_moves(made, None, ordered=False, flips=False).order

    third, rest = Fraction(1, 3), Fraction(2, 3)
    assert order([("a", 1, HALF), ("b", 1, HALF)]) == 2 and order([("a", 1, third), ("b", 1, rest)]) == 1
    assert order([("a", 1, third), ("a", 1, third), ("b", 1, third)]) == 1
    assert order([("a", 1, Fraction(1, 4)), ("a", 1, Fraction(1, 4)), ("b", 1, HALF)]) == 2, "equal samples are one"
    assert order([Sample(["a", "b"], 1, counts=[2, 3])]) == 1
    assert order([Sample(["a", "b"], 1, counts=[2, 2])]) == 2
    assert order([Sample(["a", "b"], 1, HALF, counts=["n", 3]), Sample(["b", "a"], 1, HALF, counts=["n", 3])]) == 2


def test_targets_have_signs_only_if_all_are_signs() -> None:
    assert has_signs(flow(("a", 1), ("b", -1))) is True and has_signs(flow(("a", 1), ("b", 2))) is False
    words = Words("a b")
    v = maps("w", 1, words)
    real = gradient_flow(lambda X: v @ X[0], Data(words, [("a", 1.0), ("b", HALF)]), squared)
    assert has_signs(real) is False


@pytest.mark.parametrize("trial", range(5))
def test_moves_that_keep_a_state_are_those_found_by_trying_all(trial: int) -> None:
    """Any signed permutation keeps the samples, so only the values of w and Z are left to be kept."""
    made = flow(*[(f"{s}{name}", 1) for name in "abcd" for s in ("", "-")])
    rng = np.random.default_rng(trial)
    w_now = rng.choice([0.0, 1.0, -1.0], 4)
    Z_now = np.diag(rng.choice([0.5, 0.5, 2.0], 4))
    if trial > 2:
        Z_now[0, 1], Z_now[1, 0] = 1.0, rng.choice([1.0, -1.0])
    state = made.initial_state(values={"w": w_now, "Z": Z_now})
    count = 0
    for order, signs in product(permutations(range(4)), product((1, -1), repeat=4)):
        own = np.array(signs)
        kept = np.array_equal(w_now[list(order)] * own, w_now)
        count += kept and np.array_equal(Z_now[np.ix_(order, order)] * np.outer(own, own), Z_now)
    assert sample_moves(made, state, ordered=True, flips=False).order == count
    assert sample_moves(made, 1e-3 * state, ordered=True, flips=False).order == count
    assert sample_moves(made, None, ordered=True, flips=False).order == 384
