"""Elements that users write are checked exactly."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import Data, OdesysError, Words, gradient_flow, maps, softmax, squared
from odesys.reduce.program_symmetry import ProgramSymmetry, is_program_symmetry

WORDS = Words("a b c")
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def flow(target: int = 1):
    data = Data(WORDS, [("a c", 1), ("b c", target)])
    return gradient_flow(lambda X: w @ X @ softmax(X.T @ Z @ X[-1]), data, squared)


SWAP = ProgramSymmetry(pins=(("E", (("E", 1, 1), ("E", 0, 1), ("E", 2, 1))),))


def test_exchange_of_words() -> None:
    assert is_program_symmetry(flow(), SWAP) and not is_program_symmetry(flow(2), SWAP)
    target, sign = SWAP.on_states(flow())
    names = flow().system.names
    assert names[target[names.index("Z_a_c")]] == "Z_b_c" and (sign == 1).all()
    assert SWAP.describe(flow()) == "a -> b, b -> a"


def test_twice_is_the_identity() -> None:
    made = flow()
    target, sign = SWAP.after(SWAP).on_states(made)
    assert (target == np.arange(made.system.dimension)).all() and (sign == 1).all()


def test_a_wrong_generator_is_refused() -> None:
    assert flow().quotient([SWAP]).system.dimension == 7
    with pytest.raises(OdesysError):
        flow(2).quotient([SWAP])


@pytest.mark.parametrize(
    ("gram", "keeps"),
    [
        (None, True),
        ([[2, 1, 0], [1, 2, 0], [0, 0, 1]], True),
        ([[2, 1, 1], [1, 2, 1], [1, 1, 3]], True),
        ([[2, 0, 0], [0, 3, 0], [0, 0, 2]], False),  # other lengths
        ([[2, 0, 1], [0, 2, 0], [1, 0, 2]], False),  # another angle to the third
        ([[2, 0, 1], [0, 2, -1], [1, -1, 2]], False),  # the same angle with the other sign
    ],
)
def test_words_are_exchanged_only_with_their_inner_products(gram: list[list[int]] | None, keeps: bool) -> None:
    words = Words("a b c", gram)
    v, A = maps("w", 1, words), maps("Z", words, words)
    data = Data(words, [("a c", 1), ("b c", 1)])
    made = gradient_flow(lambda X: v @ X @ softmax(X.T @ A @ X[-1]), data, squared)
    assert is_program_symmetry(made, SWAP) == keeps
