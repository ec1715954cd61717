"""Keywords that a function of training does not have: the sentence names the one that has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import odesys
from odesys import Data, Words, family_flow, gradient_descent, gradient_flow, heavy_ball, maps, program_network
from odesys.errors import ModelError
from odesys.keywords import BELONGS, keywords_said

WORDS = Words("a b")
W, DATA = maps("w", 1, WORDS), Data(WORDS, [("a", 1), ("b", -1)])


def f(X: Any) -> Any:
    return W @ X[0]


CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: gradient_flow(f, DATA, batch=2), r"gradient_flow takes no batch=; gradient_descent\(..., batch=2\)"),
    (lambda: gradient_flow(f, DATA, lr=0.1), r"takes no lr=; .* net.descend\(step=0.1, steps=100\)"),
    (lambda: gradient_flow(f, DATA, trian="w"), "gradient_flow takes no trian=; did you mean train="),
    (lambda: gradient_flow(f, DATA, colour=1), "gradient_flow takes no colour=. It takes model, data, loss"),
    (lambda: gradient_flow(f), "missing a required argument: 'data'"),
    (lambda: gradient_descent(f, DATA, odesys.logistic, "w"), "too many arguments; the others go by name: train="),
    (lambda: gradient_descent(f, DATA, momentum=0.9), "gradient_descent takes no momentum=; heavy_ball"),
    (lambda: heavy_ball(f, DATA, carry="w"), "heavy_ball takes no carry=; gradient_flow, gradient_descent"),
    (lambda: odesys.sign_descent(f, DATA, batch=2), "sign_descent takes no batch=; gradient_descent"),
    (lambda: odesys.normalised_descent(f, DATA, width=2), r"takes no width=; .* flow.network\(width=100"),
    (lambda: family_flow(None, None, batch=2), "family_flow takes no batch=; gradient_descent"),
    (lambda: gradient_flow(f, DATA).network(4).descend(0.1, 10, batch=2), "network.descend takes no batch="),
    (lambda: gradient_flow(f, DATA).network(4).descend(eta=0.1, steps=3), "takes no eta=; .* It takes step, steps"),
    (lambda: gradient_flow(f, DATA).network(4).flow_run(1.0, step=0.1), "network.flow_run takes no step="),
    (lambda: gradient_flow(f, DATA).network(4, batch=2), "network takes no batch=; .* It takes width, seed, omega"),
    (lambda: gradient_flow(f, DATA).network(widths=4), "widths=4 is no table by name, .* width= is one for all"),
    (lambda: program_network(gradient_flow(f, DATA), lr=1), "network takes no lr="),
]


@pytest.mark.parametrize(("call", "said"), CALLS)
def test_a_sentence_names_the_function_that_is_meant(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        call()


def test_functions_that_are_named_exist() -> None:
    """Each sentence speaks of what a user can call with the keyword in question."""
    for sentence in BELONGS.values():
        named = re.findall(r"(?<![.\w])\w+_\w+(?![\w=.])", sentence)
        assert all(hasattr(odesys, word) for word in named), sentence


def test_errors_inside_a_function_are_not_touched() -> None:
    @keywords_said("own")
    def own(x: int) -> int:
        raise TypeError("inside")

    with pytest.raises(TypeError, match="inside"):
        own(1)


def test_sentences_as_they_are_read() -> None:
    """What is nearest, what has the keyword, what is missing, what is too much; `self` and `flow` are not told."""

    @keywords_said("go")
    def go(self: object, model: int, data: int = 0, *, train: str = "", width: int = 1) -> tuple[object, ...]:
        return model, data, train, width

    @keywords_said("stay")
    def stay(flow: object, way: int = 1) -> int:
        return way

    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: go(0, 1, trian="w"), "go takes no trian=; did you mean train=? It takes model, data, train, width"),
        (lambda: go(0, 1, xyz=1), "go takes no xyz=. It takes model, data, train, width"),
        (lambda: go(0, 1, train="", xyz=1), "go takes no xyz=. It takes model, data, train, width"),
        (
            lambda: go(0, 1, weight_decay=1),
            "go takes no weight_decay=; weight decay is decay=. It takes model, data, train, width",
        ),
        (lambda: go(0, 1, 2, 3), "go(model, data) has too many arguments; the others go by name: train=, width="),
        (lambda: go(0), "go(model, data): missing a required argument: 'model'"),
        (lambda: stay(0, 1, 2), "stay(flow, way) has too many arguments"),
        (lambda: stay(0, wya=1), "stay takes no wya=; did you mean way=? It takes way"),
    ]
    for call, sentence in calls:
        with pytest.raises(ModelError) as caught:
            call()
        assert str(caught.value) == sentence
    assert go(0, 1, 2, train="w") == (1, 2, "w", 1) and stay(0, way=3) == 3 and go.__name__ == "go"
