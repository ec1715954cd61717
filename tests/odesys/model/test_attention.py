"""Dictionary, Sample, Distribution and models: exact where it should be, and a clear sentence for each mistake."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys import AttentionModel, Dictionary, Distribution, FixedVector, Head, Neurons, OdesysError, Sample, Value


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
