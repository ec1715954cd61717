"""Symmetries of words proposed by samples: the same as those of the whole loss where words are all that moves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys import Data, Words, gradient_flow, maps, softmax, squared
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
