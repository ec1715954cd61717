"""Words, tokens and samples in TeX."""

from __future__ import annotations

from fractions import Fraction

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
