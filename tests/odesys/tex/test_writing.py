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


@pytest.mark.parametrize(
    ("node", "words", "formula"),
    [
        (num(0), "0", "0"),
        (num(Fraction(-2, 3)), "-2/3", r"-\frac{2}{3}"),
        (1.5e-7 * X, "1.5e-07*x", r"1.5\cdot 10^{-7}x"),
        (1e20 * X, "1e+20*x", "10^{20}x"),
        (X**-2, "1/x^2", r"\frac{1}{x^{2}}"),
        (-X / Y, "-x/y", r"-\frac{x}{y}"),
        (X / (Y + 1), "x/(1 + y)", r"\frac{x}{1 + y}"),
        ((X + 1) / (Y * K), "(1 + x)/(k*y)", r"\frac{1 + x}{k\,y}"),
        (2 * X / 3 * (Y - 1), "2/3*x*(y - 1)", r"\frac{2}{3}x\,(y - 1)"),
        (-X * (1 - Y), "x*(y - 1)", r"x\,(y - 1)"),
        (X * (1 - K), "-x*(k - 1)", r"-x\,(k - 1)"),
        (power(X, Fraction(1, 3)), "x^(1/3)", "x^{1/3}"),
        (power(X + Y, Fraction(-1, 2)), "1/sqrt(x + y)", r"\frac{1}{\sqrt{x + y}}"),
        ((X + Y) ** 2, "(x + y)^2", "(x + y)^{2}"),
        (X**K, "x^k", "x^{k}"),
        ((X + 1) ** (K + 1), "(1 + x)^(1 + k)", "(1 + x)^{1 + k}"),
        (step(X - Y) * X, "[x - y > 0]*x", r"\mathbb{1}[x - y>0]\,x"),
        (step(Y - X), "[x - y < 0]", r"\mathbb{1}[x - y<0]"),
        (exp(2 * X) / 2, "1/2*exp(2*x)", r"\frac{1}{2}e^{2x}"),
        (2 * X - 3 * Y + 1, "1 + 2*x - 3*y", "1 + 2x - 3y"),
        (-X - Y, "-x - y", "-x - y"),
        (2 * X - 2 * Y, "2*(x - y)", "2(x - y)"),
        (-2 * X - 2 * Y - 2, "-2*(1 + x + y)", "-2(1 + x + y)"),
        ((X - Y - K) / 3, "-1/3*(y - x + k)", r"-\frac{1}{3}(y - x + k)"),
    ],
)
def test_more_known_formulas(node: Node, words: str, formula: str) -> None:
    assert (plain(node), tex(node)) == (words, formula)


@pytest.mark.parametrize(
    ("formula", "wide"),
    [
        ("x", 1.1),
        ("X", 1.5),
        ("x + y", 4.6),
        ("x = y", 5.0),
        ("(x, y)", 1.6 + 2.2 + 0.9),
        ("[x]", 2.3),
        ("x_{12}", 1.1 + 0.75 * 2.2),
        ("x_1^2", 1.1 + 0.75 * 2.2),
        (r"\frac{a}{b + c}", 0.6 + 4.6),
        (r"\frac12", 0.6 + 1.1),
        (r"\sin x", 3.5 + 1.1),
        (r"x\,y\cdot z", 3.3 + 0.4 + 1.8),
        (r"\big(x\big)", 2.7),
        (r"\alpha", 1.1),
        (f"x{BREAK}y", 2.2),
    ],
)
def test_the_width_of_a_formula_is_that_of_its_parts(formula: str, wide: float) -> None:
    assert width(formula) == pytest.approx(wide)


def test_what_is_wide_can_be_broken_and_is_not_put_into_a_fraction_or_an_exponent() -> None:
    names = {f"x{k}": f"x_{{{k}}}" for k in range(30)} | {"y": "y"}
    long = sum((sym(f"x{k}") for k in range(30)), num(0))
    writer = TexWriter(ReadingOrder([*names]), names)
    assert width(flat(writer.write(long))) > writer.wide
    assert flat(writer.write(Y / long)).endswith(r")^{-1}") and BREAK in writer.write(Y / long)
    assert flat(writer.write(exp(long))).startswith(r"\exp") and flat(writer.write(sqrt(long))).endswith("^{1/2}")
    assert flat(writer.write(Y / (Y + 1))).startswith(r"\frac") and BREAK not in flat(writer.write(long))


@pytest.mark.parametrize(
    ("node", "words", "formula"),
    [
        (step(X) / 2, "1/2*[x > 0]", r"\frac{1}{2}\,\mathbb{1}[x>0]"),
        (Y / 2, "y/2", r"\frac{y}{2}"),
        (Y * K / 2, "1/2*k*y", r"\frac{1}{2}k\,y"),
        (Y**2 / 3, "y^2/3", r"\frac{y^{2}}{3}"),
        (step(X) / Y, "[x > 0]/y", r"\frac{\mathbb{1}[x>0]}{y}"),
        (2 * sqrt(X) / 5, "2/5*sqrt(x)", r"\frac{2}{5}\sqrt{x}"),
        (3 / (2 * X * Y), "3/(2*x*y)", r"\frac{3}{2x\,y}"),
        ((X + Y) / (2 * K), "(x + y)/(2*k)", r"\frac{x + y}{2k}"),
        (X / sqrt(num(2)), "x/sqrt(2)", r"\frac{x}{\sqrt{2}}"),
        (sqrt(num(3)) * X, "sqrt(3)*x", r"\sqrt{3}x"),
        (1 / (X + Y) ** 2, "1/(x + y)^2", r"\frac{1}{(x + y)^{2}}"),
        (exp(-X) / 2 - exp(X) / Y, "1/2*exp(-x) - exp(x)/y", r"\frac{1}{2}e^{-x} - \frac{e^{x}}{y}"),
    ],
)
def test_numbers_stand_in_front_of_gates_and_powers(node: Node, words: str, formula: str) -> None:
    assert (plain(node), tex(node)) == (words, formula)


def test_what_is_far_too_long_is_wide_and_folded_all_the_same() -> None:
    """A text of many thousand signs is not measured to the end."""
    text = BREAK.join(["x"] + ["+ y"] * 3000)
    assert width(text) > width(text[: len(text) // 2]) > 400 and width(text[:4001]) > 400
    lines = fold(text, 60.0)
    assert "".join(line for _, line in lines) == flat(text) and all(width(line) <= 60 for _, line in lines)
