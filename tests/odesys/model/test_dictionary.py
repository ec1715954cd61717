"""Dictionaries: kinds of Gram matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import Dictionary
from odesys.errors import DictionaryError, ModelError
from odesys.expr.graph import Node, num, sym
from odesys.model.dictionary import LARGEST_NUMBER, exact_number


def test_gram_matrix_kinds() -> None:
    assert Dictionary(["a", "b"]).orthonormal and Dictionary(["a", "b"], np.eye(2)).orthonormal
    exact = Dictionary(["a", "b"], [[2, sp.Rational(1, 2)], [Fraction(1, 2), 1]])
    assert exact.gram == ((2, Fraction(1, 2)), (Fraction(1, 2), 1)) and not exact.orthonormal
    assert isinstance(Dictionary(["a"], [[1.5]]).gram[0][0], float)
    mixed = Dictionary(["a", "b"], [[1, 0.5], [0.5, 1.0]])
    assert all(isinstance(value, float) for row in mixed.gram for value in row), "one float makes the matrix float"


def test_inner_products_that_are_fractions_stay_exact() -> None:
    assert Dictionary(["a"], [[Fraction(1, 3)]]).gram == ((Fraction(1, 3),),), "no float is a third"


def test_words_and_their_signs() -> None:
    words = Dictionary(("c1", "v1", "x"))
    assert words.words == ("c1", "v1", "x") and len(words) == 3 and words.gram is None
    assert [words.parse(t) for t in ("c1", "v1", "-v1", "-x")] == [(0, 1), (1, 1), (1, -1), (2, -1)]
    assert Dictionary(iter(["a", "b"])).words == ("a", "b")
    assert words == Dictionary(["c1", "v1", "x"]) and words != Dictionary(["c1", "x", "v1"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dictionary("ab"), "a dictionary is made of a list of words, .*, not of 'ab'"),
        (lambda: Dictionary(7), "a dictionary is made of a list of words, .*, not of 7"),  # type: ignore[arg-type]
        (lambda: Dictionary(""), "needs at least one word"),
        (lambda: Dictionary([1]), "1 is not a word"),  # type: ignore[list-item]
        (lambda: Dictionary(["1a"]), "'1a' is not a word"),
        (lambda: Dictionary(["a"]).parse(3), "3 is not a token"),  # type: ignore[arg-type]
        (lambda: Dictionary(["a", "b"], 7), "must be 2 by 2"),
        (lambda: Dictionary(["a", "b"], [[1, 0], [0]]), "must be 2 by 2"),
        (lambda: Dictionary(["a", "b"], [[1, 0], [0, 1], [0, 0]]), "must be 2 by 2"),
        (lambda: Dictionary(["a", "b"], [["m", "p"], ["q", 1]]), "not symmetric: <b, a> = .* but <a, b> = "),
        (lambda: Dictionary(["a"], [[True]]), "the Gram matrix has the entry True; a number is needed"),
        (lambda: Dictionary(["a"], [[-1]]), "has the negative eigenvalue -1"),
        (lambda: Dictionary(["a"], [[[1]]]), "a number is needed"),
        (lambda: Dictionary(["a"], [["m"]]).gram_floats(), "the Gram matrix has the parameter m; numbers are needed"),
    ],
)
def test_mistakes_get_a_sentence(make, words: str) -> None:
    with pytest.raises(DictionaryError, match=words):
        make()


def test_a_token_that_is_near_a_word_gets_a_hint() -> None:
    with pytest.raises(DictionaryError) as caught:
        Dictionary(["alpha", "beta"]).parse("-alpho")
    assert str(caught.value) == "the token '-alpho' is not in the dictionary; did you mean 'alpha'?"
    assert caught.value.token == "-alpho"
    many = Dictionary([f"w{k}x" for k in range(20)])
    with pytest.raises(DictionaryError, match=r"the words are w0x, .*, w11x$"):
        many.parse("QQQ")


def test_the_gram_matrix_in_floats_and_exact() -> None:
    plain = Dictionary(["a", "b"])
    assert plain.gram_array().tolist() == [[1, 0], [0, 1]] and type(plain.gram_array()[0, 1]) is Fraction
    assert plain.gram_floats().tolist() == [[1.0, 0.0], [0.0, 1.0]] and plain.gram_floats().dtype == float
    uneven = Dictionary(["a", "b"], [[2, Fraction(1, 2)], [Fraction(1, 2), 3]])
    assert uneven.gram_floats().tolist() == [[2, 0.5], [0.5, 3]] and uneven.parameters == set()
    assert not uneven.orthonormal and not Dictionary(["a"], [[2]]).orthonormal
    assert not Dictionary(["a", "b"], [[1, Fraction(1, 2)], [Fraction(1, 2), 1]]).orthonormal
    assert Dictionary(["a", "b"], [[1, 1], [1, 1]]).gram_floats().tolist() == [[1, 1], [1, 1]], "dependent words"
    below_rounding = [[1.0, 1.0], [1.0, 1.0 - 1e-12]]
    assert Dictionary(["a", "b"], below_rounding).gram is not None
    with pytest.raises(DictionaryError, match="negative eigenvalue"):
        Dictionary(["a", "b"], [[1.0, 1.0], [1.0, 1.0 - 1e-8]])
    large = [[1e6, 1e6], [1e6, 1e6 - 1e-4]]  # rounding grows with the entries
    assert Dictionary(["a", "b"], large).gram is not None


@pytest.mark.parametrize("entry", ["m", sym("m"), sp.Symbol("m")])
def test_entries_may_be_parameters(entry: object) -> None:
    words = Dictionary(["a", "b"], [[entry, 0], [0, 1]])
    assert words.parameters == {"m"} and not words.orthonormal
    assert all(isinstance(value, Node) for row in words.gram for value in row)
    assert words.gram[0][0] is sym("m") and words.gram_array()[1, 1] is num(1)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, True),
        (np.int64(3), True),
        (Fraction(2, 7), True),
        (sp.Rational(2, 7), True),
        (sp.Integer(4), True),
        (0.1, False),
        (np.float64(0.1), False),
        ("0.5", False),
        (LARGEST_NUMBER, True),
        (-LARGEST_NUMBER, True),
    ],
)
def test_numbers_are_exact_where_they_are_given_so(value: object, exact: bool) -> None:
    found = exact_number(value, "here")
    assert isinstance(found, Fraction if exact else float)
    assert found == (Fraction(str(value)) if exact else float(value))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "here has the entry True; a number is needed"),
        (np.bool_(False), "here has the entry False; a number is needed"),
        (LARGEST_NUMBER + 1, "here has an entry above 1e300"),
        (-LARGEST_NUMBER - 1, "here has an entry above 1e300"),
        (float("inf"), "here has the entry inf; every entry must be finite"),
        (None, "here has the entry None; a number is needed"),
        ("x", "here has the entry 'x'; a number is needed"),
    ],
)
def test_what_is_no_number_is_refused(value: object, words: str) -> None:
    for error in (DictionaryError, ModelError):
        with pytest.raises(error, match=words):
            exact_number(value, "here", error)
