"""Symmetries of words proposed by samples: the same as those of the whole loss where words are all that moves."""

from __future__ import annotations

from odesys import Data, Words, gradient_flow, maps, softmax, squared
from odesys.reduce.program_element import is_program_symmetry
from odesys.reduce.token_graph import word_symmetries

WORDS = Words("a b c d")
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def flow(*samples: tuple[str, int]):
    return gradient_flow(lambda X: w @ X @ softmax(X.T @ Z @ X[-1]), Data(WORDS, samples), squared)


def test_proposals_are_symmetries_of_the_samples() -> None:
    made = flow(("a d", 1), ("b d", 1), ("c d", 1))
    elements, order = word_symmetries(made, None, ordered=True)
    assert order == 6 and all(is_program_symmetry(made, element) for element in elements)


def test_order_of_tokens_and_targets_matter() -> None:
    assert word_symmetries(flow(("a b", 1), ("b a", 1)), None, ordered=True)[1] >= 2
    told = flow(("a b", 1), ("b a", 2))
    assert all(is_program_symmetry(told, g) for g in word_symmetries(told, None, ordered=True)[0])
    moved = {str(g.pins) for g in word_symmetries(told, None, ordered=True)[0]}
    assert not any("('E', 1, 1), ('E', 0, 1)" in text for text in moved)
