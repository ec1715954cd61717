"""Dictionary, Sample, Distribution and models: exact where it should be, and a clear sentence for each mistake."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, FixedVector, Head, Neurons, OdesysError, Sample, Value
from odesys.expr.graph import num, sym
from odesys.model.attention import check_maps, one_of, scalar, sequence


def sample(weight: object = Fraction(1), label: object = 1, tokens: object = ("a", "-b")) -> Sample:
    return Sample(tokens, label, weight)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dictionary([]), "at least one word"),
        (lambda: Dictionary(["a", "b", "a"]), "'a' stands twice"),
        (lambda: Dictionary(["a", "-b"]), "'-b' is not a word"),
        (lambda: Dictionary(["a", "b"]).parse("bb"), "did you mean 'b'?"),
        (lambda: Dictionary(["a", "b"]).parse("xyz"), "the words are a, b"),
        (lambda: Dictionary(["a", "b"], [[1]]), "must be 2 by 2"),
        (lambda: Dictionary(["a", "b"], [[1, 2], [0, 1]]), "not symmetric: <b, a> = 0 but <a, b> = 2"),
        (lambda: Dictionary(["a", "b"], [[1, 2], [2, 1]]), "negative eigenvalue -1"),
        (lambda: Dictionary(["a", "b"], [[1, float("nan")], [0, 1]]), "every entry must be finite"),
        (lambda: sample(weight=0.5), "weights are exact, write Fraction(1, 8) instead of 0.125"),
        (lambda: sample(weight=Fraction(-1, 2)), "weights are positive"),
        (lambda: Distribution([sample(label=0)]), "a label is +1 or -1"),
        (lambda: Distribution([sample(label=True)]), "a label is +1 or -1"),
        (lambda: Distribution([sample(label=float("nan"))]), "a label is +1 or -1"),
        (lambda: sample(tokens="ab"), "needs a list of at least one token"),
        (lambda: Distribution([]), "at least one sample"),
        (lambda: Distribution([sample(Fraction(1, 3))] * 2), "sum to 2/3, not to 1"),
        (lambda: Distribution([sample()]).condition(lambda s: s.label < 0), "nothing to condition on"),
        (lambda: Value(("a", "relu", "W")), "relu in the value a.relu.W is a function"),
        (lambda: Head(0), "it is +1 or -1"),
        (lambda: Head(1, "gelu"), "choose linear or relu"),
        (lambda: Head(1, "relu", float("inf")), "every entry must be finite"),
        (lambda: AttentionModel(Dictionary(["a"]), pooling="max"), "choose sum or mean"),
        (lambda: AttentionModel(Dictionary(["a"]), heads=[]), "at least one Head"),
        (lambda: AttentionModel(Dictionary(["a"]), value=("W_K",)), "W_K stands in the value and in the score"),
        (lambda: Value(("W V",)), "is not the name of a map"),
        (lambda: Value(("W", "W")), "stands twice"),
        (lambda: Neurons(()), "is a list of weights"),
        (lambda: Neurons(((), ())), "is a list of weights"),
        (lambda: FixedVector("a", -1), "it must be positive"),
        (lambda: AttentionModel(Dictionary(["a"]), value=Value(("W",), FixedVector("W_K"))), "output vector and a map"),
        (lambda: Dictionary(None), "at least one word"),
        (lambda: Dictionary(["a", "b"], [1, 2]), "must be 2 by 2"),
        (lambda: Sample(None, 1), "needs a list of at least one token"),
        (lambda: Neurons(((1, 2), (1,))), "differ in length"),
        (lambda: Neurons((1, (1, 2))), "is a list of weights, or one such list per token position"),
        (lambda: Neurons(((1, 2), 1)), "is a list of weights, or one such list per token position"),
        (lambda: Neurons((1, 2), "gelu"), "choose linear or relu"),
        (lambda: FixedVector("a", 0), "the square of a is 0; it must be positive"),
        (lambda: Value(()), "the value needs at least one map"),
        (lambda: Value(7), "the value is a list of names of maps, not 7"),
        (lambda: Value((7,)), "7 is not the name of a map"),
        (lambda: Value(("Relu", "V")), "Relu in the value Relu.V is a function"),
        (lambda: Head(2), "a head has the sign 2"),
    ],
)
def test_mistakes_get_one_sentence(make, words: str) -> None:
    with pytest.raises(OdesysError) as caught:
        make()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_head_labels() -> None:
    words = Dictionary(["a"])
    pair = AttentionModel(words, [Head(+1), Head(-1)])
    assert pair.head_labels == ("p", "m")
    assert AttentionModel(words).head_labels == ("",)
    assert AttentionModel(words, [Head(), Head(), Head(-1)]).head_labels == ("h1", "h2", "h3")
    assert AttentionModel(words, value=Value(("W", "V"), FixedVector("a", "m1"))).weights == ("W", "V", "W_K", "W_Q")


def test_layers_of_neurons_have_their_sizes() -> None:
    plain, rows = Neurons([1, "b", Fraction(1, 2)]), Neurons(np.array([[1, -1], [2, 3], [0, 1]]))
    assert plain.size == 3 and not plain.per_position and plain.readout == (num(1), sym("b"), num(Fraction(1, 2)))
    assert rows.size == 2 and rows.per_position and rows.readout[1] == (num(2), num(3))
    assert plain.activation == "relu" and Neurons([1], "linear").activation == "linear"


def test_values_have_maps_and_rows() -> None:
    assert Value("V").maps == ("V",) and Value(["U", "V"]).maps == ("U", "V") and Value().output is None
    assert Value().rows == 1 and Value(("V",), FixedVector()).rows == 1
    assert Value(("V",), Neurons([1, 2, 3])).rows == 3 and Value(("V",), Neurons([[1, 2]])).rows == 2
    assert FixedVector().square is num(1) and FixedVector("a", Fraction(1, 9)).square is num(Fraction(1, 9))
    assert FixedVector("a", "m").square is sym("m") and FixedVector().name == "a"
    head = Head()
    assert (head.sign, head.activation) == (1, "linear") and head.bias is num(0) and Head(-1).sign == -1


@pytest.mark.parametrize(
    ("given", "node"),
    [
        ("b", sym("b")),
        (sym("b"), sym("b")),
        (sp.Symbol("b"), sym("b")),
        (sp.Rational(2, 3), num(Fraction(2, 3))),
        (2, num(2)),
        (sp.Symbol("b") / 2, sym("b") / 2),
    ],
)
def test_scalars_are_numbers_or_parameters(given: object, node: object) -> None:
    assert scalar(given, "here") is node


def test_small_checks() -> None:
    assert sequence(iter("ab"), "it", "letters") == ("a", "b")
    assert one_of("kind", "a", ("a", "b")) is None and check_maps(("W_K", "W_Q2", "a"), "score") is None
    with pytest.raises(OdesysError, match="the kind 'c' is not known; choose a or b"):
        one_of("kind", "c", ("a", "b"))
