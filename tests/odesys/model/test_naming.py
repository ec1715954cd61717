"""Names, sizes and Gram matrices of a model, as the derivation asks for them."""

from __future__ import annotations

from odesys import AttentionModel, Dictionary, FixedVector, Head, Neurons, Value
from odesys.expr.graph import sym
from odesys.model.naming import ModelNaming
from odesys.model.paths import OUTPUT, WORDS, score_path, value_path


def test_orthonormal_sets_have_no_gram_matrix() -> None:
    naming = ModelNaming(AttentionModel(Dictionary(["a", "b"]), value=Value("W_O", Neurons([1, -1, 1]))))
    assert naming.gram(WORDS) is None and naming.gram(OUTPUT) is None
    assert (naming.size(WORDS), naming.size(OUTPUT)) == (2, 3)
    assert naming.state(value_path(naming.model))(2, 1).left == "n3"


def test_a_frozen_vector_and_words_have_theirs() -> None:
    words = Dictionary(["a", "b"], [[1, "r"], ["r", 1]])
    naming = ModelNaming(AttentionModel(words, value=Value(("W", "W_V"), FixedVector("a", square="m"))))
    assert naming.gram(OUTPUT).tolist() == [[sym("m")]]
    assert naming.gram(WORDS)[0, 1] is sym("r")
    assert naming.leaf(value_path(naming.model)) == "aWV"


def test_heads_are_told_apart_in_names_and_tex() -> None:
    naming = ModelNaming(AttentionModel(Dictionary(["a"]), [Head(+1), Head(-1)]))
    path = score_path(naming.model)
    assert naming.tables([path]) == [(path, 0), (path, 1)]
    assert [naming.leaf(path, head) for head in range(naming.heads)] == ["KQ_p", "KQ_m"]
    assert naming.tex(path, 1)(0, 0) == r"a^\top W_{K-}^\top W_{Q-} a"
