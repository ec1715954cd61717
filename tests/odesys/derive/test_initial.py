"""Start values: a frozen output vector whose square is a parameter gets its number with the start."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import AttentionModel, Dictionary, Distribution, Flow, Head, Sample, gradient_flow
from odesys.errors import OdesysError
from odesys.model.attention import FixedVector, Value


def flow(square: object) -> Flow:
    value = Value(("W", "W_V"), FixedVector("a", square=square))
    model = AttentionModel(Dictionary(["a1", "a2"]), [Head()], value=value)
    data = Distribution([Sample(["a1", "a2"], +1, 1)])
    return gradient_flow(model, data, train=("W", "W_V", "W_K", "W_Q"))


def test_square_given_with_the_start() -> None:
    made = flow("m1")
    state = made.initial_state(W=3, W_V=0.5, W_K=0.25, W_Q=0.25, a=7)
    table = {s.leaf: state[s.index] for s in made.layout.segments}
    assert table["aWWa"] == 21 and np.array_equal(table["VV"], 0.5 * np.eye(2)) and not table["KQ"].any()
    same = flow(7).initial_state(W=3, W_V=0.5, W_K=0.25, W_Q=0.25)
    assert np.array_equal(same, state)


@pytest.mark.parametrize(
    ("square", "given", "words"),
    [
        ("m1", {}, "add a="),
        (7, {"a": 7}, "drop a="),
        ("m1", {"b": 7}, "there is no weight 'b'"),
        ("m1", {"a": -1}, "non-negative"),
    ],
)
def test_mistakes_get_a_sentence(square: object, given: dict, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        flow(square).initial_state(W=1, W_V=1, W_K=1, W_Q=1, **given)
