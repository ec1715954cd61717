"""Words, tokens and samples in TeX."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import Dictionary, Sample
from odesys.report.setting_words import DataRow, counted, fraction_tex, spread, token_tex, words_formulas


def test_tokens_have_signs_and_numbers() -> None:
    sample = Sample(["a", "-b1"], +1, counts=["n", 2])
    assert counted([token_tex(token) for token in sample.tokens], sample) == [r"n\times a", r"2\times (-b_{1})"]
    assert fraction_tex(Fraction(3, 4)) == r"\frac{3}{4}" and fraction_tex(Fraction(2)) == "2"


def test_many_samples_are_spread() -> None:
    shown = spread(tuple(Sample(["a"], +1, name=f"s{k}") for k in range(160)))
    assert [sample.name for sample in shown] == [f"s{10 * k}" for k in range(16)]


def test_of_many_words_the_first_six_and_the_last_are_shown() -> None:
    (formula,) = words_formulas(Dictionary([f"w{k}" for k in range(1, 31)]))
    names = [rf"w_{{{k}}}" for k in range(1, 7)]
    assert formula.tex == ",\\ ".join([*names, r"\dots", r"w_{30} \quad \text{orthonormal}"])


def test_inner_products_are_written_where_there_are_any() -> None:
    assert "orthonormal" in words_formulas(Dictionary(["a", "b"]))[0].tex
    assert words_formulas(Dictionary(["a", "b"], [[2, 0], [0, 3]]))[1].tex == "2,\\ 3"
    assert "pmatrix" in words_formulas(Dictionary(["a", "b"], [[2, 1], [1, 2]]))[0].tex


def test_a_label_that_is_a_number_needs_no_formula() -> None:
    assert DataRow("a", "+1", "1").plain and not DataRow("a", r"\frac{1}{2}", "1").plain


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100])
def test_samples_are_all_shown_up_to_sixteen_and_then_spread_from_the_first(count: int) -> None:
    samples = tuple(Sample(["a"], +1, name=str(k)) for k in range(count))
    places = [int(sample.name) for sample in spread(samples)]
    assert len(places) == min(count, 16) and places[0] == 0
    assert places == [int(np.floor(k * count / len(places))) for k in range(len(places))]


@pytest.mark.parametrize(("count", "whole"), [(24, True), (25, False)])
def test_words_and_diagonals_are_written_out_up_to_twenty_four(count: int, whole: bool) -> None:
    names = [f"w{k}" for k in range(count)]
    (plain,) = words_formulas(Dictionary(names))
    assert plain.what == "words" and (r"\dots" not in plain.tex) is whole
    diagonal = [[(2 + i) * (i == j) for j in range(count)] for i in range(count)]
    found = words_formulas(Dictionary(names, diagonal))
    if whole:
        first, second = found
        assert first.tex.endswith(r"\text{orthogonal}") and second.what == "their squared lengths"
        assert second.tex == ",\\ ".join(str(2 + i) for i in range(count))
    else:
        assert [formula.tex.partition(r"\quad")[2].strip() for formula in found] == [
            r"\text{with a Gram matrix of their own}"
        ]


@pytest.mark.parametrize(("count", "whole"), [(8, True), (9, False)])
def test_inner_products_of_up_to_eight_words_are_a_matrix(count: int, whole: bool) -> None:
    gram = [
        [2 if i == j else Fraction(1, 2) if {i, j} == {0, count - 1} else 0 for j in range(count)] for i in range(count)
    ]
    (formula,) = words_formulas(Dictionary([f"w{k}" for k in range(count)], gram))
    assert formula.what == "words" and ("pmatrix" in formula.tex) is whole
    assert ("with a Gram matrix of their own" in formula.tex) is not whole
    if whole:
        rows = formula.tex.split(r"\begin{pmatrix} ")[1].split(r" \end")[0].split(r" \\ ")
        assert len(rows) == 8 and rows[1] == "0 & 2" + " & 0" * 6 and rows[0].startswith("2 & 0 & 0")
        assert rows[0].endswith(rows[7].split(" & ")[0]) and "2" in rows[0].split(" & ")[-1]


def test_words_symbols_and_minus_signs() -> None:
    assert token_tex("a") == "a" and token_tex("-a") == "-a" and token_tex("-b12") == "-b_{12}"
    assert fraction_tex(Fraction(-3)) == "-3" and fraction_tex(Fraction(-3, 2)) == r"\frac{-3}{2}"
    (formula,) = words_formulas(Dictionary(["a", "b"], [[1, "r"], ["r", 1]]))
    assert r"\begin{pmatrix} 1 & r \\ r & 1 \end{pmatrix}" in formula.tex
    plain = Sample(["a", "-b"], +1)
    assert counted(["a", "-b"], plain) == ["a", "-b"]
    for label, is_plain in (("3", True), ("-3", True), ("+-3", True), ("3.5", False), ("x", False), ("", False)):
        assert DataRow("a", label, "1").plain is is_plain
    assert DataRow("a", "1", "1").kind == "label"
