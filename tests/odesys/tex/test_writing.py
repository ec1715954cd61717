"""Nodes as text: what is written reads back, TeX has its marks, long lines are folded and lose nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings

from odesys.expr.graph import Node, exp, num, power, sqrt, step, sym
from odesys.tex.reading_order import ReadingOrder
from odesys.tex.writing import BREAK, TexWriter, Writer, flat, fold, width
from tests.random_nodes import X, Y, expressions, value

NAMES = {"x": "x", "y": "y", "k": "k"}
K = sym("k")


def plain(node: Node) -> str:
    return flat(Writer(ReadingOrder(["x", "y"]), NAMES, ["k"]).write(node))


def tex(node: Node) -> str:
    return flat(TexWriter(ReadingOrder(["x", "y"]), NAMES, ["k"]).write(node))


READ = {
    "g": lambda z: 1 / (1 + sp.exp(z)),
    "sin": sp.sin,
    "tanh": sp.tanh,
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
}


@settings(deadline=None, max_examples=60, derandomize=True)
@given(expressions())
def test_plain_text_reads_back_as_the_same_value(node: Node) -> None:
    text = plain(node)
    if "[" in text:  # gates have a notation of their own
        return
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        read = sp.sympify(text.replace("^", "**"), locals={"x": sp.Float(x), "y": sp.Float(y), **READ})
        assert float(read) == pytest.approx(value(node, x, y), rel=1e-9, abs=1e-10), text


@pytest.mark.parametrize(
    ("node", "words", "formula"),
    [
        (X - 2 * Y, "x - 2*y", "x - 2y"),
        (Y - X, "y - x", "y - x"),
        (X * (K - 1), "x*(k - 1)", r"x\,(k - 1)"),
        (X / (2 * Y), "x/(2*y)", r"\frac{x}{2y}"),
        (exp(X) * exp(-Y), "exp(x - y)", "e^{x - y}"),
        (sqrt(X), "sqrt(x)", r"\sqrt{x}"),
        ((X - Y) / 2, "1/2*(x - y)", r"\frac{1}{2}(x - y)"),
        ((X + Y + K) / 2, "1/2*(x + y + k)", r"\frac{1}{2}(x + y + k)"),
        (2.0 * X + 1.0 * Y, "2.0*x + y", "2x + y"),
        (num(Fraction(-3, 4)), "-3/4", r"-\frac{3}{4}"),
        (step(X - Y), "[x - y > 0]", r"\mathbb{1}[x - y>0]"),
        (power(X, Fraction(3)), "x^3", "x^{3}"),
    ],
)
def test_known_formulas(node: Node, words: str, formula: str) -> None:
    assert (plain(node), tex(node)) == (words, formula)


def test_folded_lines_are_no_wider_than_asked_for_and_lose_nothing() -> None:
    node = sum((exp(sym(f"x{k}") * Y) * sym(f"x{k + 1}") for k in range(12)), num(0))
    names = {f"x{k}": f"x_{{{k}}}" for k in range(13)} | {"y": "y"}
    text = TexWriter(ReadingOrder([*names]), names).write(node)
    lines = fold(text, 40.0)
    assert len(lines) > 2 and all(width(line) <= 40.0 for _, line in lines)
    assert "".join(line for _, line in lines) == flat(text) and BREAK in text


def test_a_line_that_just_fits_is_not_folded() -> None:
    text = TexWriter(ReadingOrder(["x", "y"]), NAMES).write(X * (K + 2 * Y - 3))
    assert fold(text, width(flat(text))) == [(0, flat(text))]
    assert len(fold(text, width(flat(text)) - 0.1)) == 2


def test_widths_grow_with_what_is_printed() -> None:
    assert width("x") < width("x + y") < width(r"x + y + \frac{a + b + c}{d}")
    assert width(r"\frac{a}{b + c}") == width(r"\frac{b + c}{a}") and width("x_{12}") < width("x12")


def test_of_products_with_a_name_of_their_own_the_last_in_a_product_has_no_brackets() -> None:
    """Matrices and vectors in a row, such as the path scalars of a network."""
    names = {**NAMES, "x": r"c^\top W v", "y": r"a^\top V b"}

    def written(node: Node) -> str:
        return flat(TexWriter(ReadingOrder(["x", "y"]), names, ["k"]).write(node))

    assert written(X) == r"c^\top W v" and written(2 * X) == r"2c^\top W v" and written(K * X) == r"k\,c^\top W v"
    assert written(X * Y) == r"(c^\top W v)\,a^\top V b"
    assert written(X * (1 + K)) == r"(1 + k)\,c^\top W v" and written(X**2 * Y) == r"(c^\top W v)^{2}\,a^\top V b"
    assert written(exp(K) * X) == r"e^{k}\,c^\top W v"
