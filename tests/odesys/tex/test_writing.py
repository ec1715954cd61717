"""Nodes as text: what is written reads back, TeX has its marks, long lines are folded and lose nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings

from odesys.expr.graph import Node, call, exp, num, power, sqrt, step, sym
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


P, V = sym("#p"), sym("v")
SHOWN = {**NAMES, "#p": "p_{1}", "v": r"c^\top W v"}


@pytest.mark.parametrize(
    ("node", "words", "formula"),
    [
        (2 * (X - Y) / 3, "2/3*(x - y)", r"\frac{2}{3}(x - y)"),
        (X / 2 - Y / 2 + K / 2 + 1, "1/2*(2 + x - y + k)", r"\frac{1}{2}(2 + x - y + k)"),
        (2 * X - 2 * Y - 2 * K, "-2*(y - x + k)", r"-2(y - x + k)"),
        (-2 * X + 2 * Y + 2 * K, "2*(y - x + k)", r"2(y - x + k)"),
        (-2 * X - 2 * Y + 2 * K, "-2*(x + y - k)", r"-2(x + y - k)"),
        (2 * X + 4 * Y, "2*x + 4*y", r"2x + 4y"),
        (2 * X + 2 * Y + 4 * K, "2*(x + y + 2*k)", r"2(x + y + 2k)"),
        (2 * X + 2 * Y + 4 * K + 6, "2*(3 + x + y + 2*k)", r"2(3 + x + y + 2k)"),
        (2 * X + 4 * Y + 6 * K, "2*x + 4*y + 6*k", r"2x + 4y + 6k"),
        (2 * X - 2 * Y + 4 * K, "2*(x - y + 2*k)", r"2(x - y + 2k)"),
        (X / 3 + Y / 3, "1/3*(x + y)", r"\frac{1}{3}(x + y)"),
        (-X / 3 - Y / 3, "-1/3*(x + y)", r"-\frac{1}{3}(x + y)"),
        (-X / 3 + Y / 3, "1/3*(y - x)", r"\frac{1}{3}(y - x)"),
        (2 * (X + Y) * K, "2*k*(x + y)", r"2k\,(x + y)"),
        (-2 * (X + Y) * K, "-2*k*(x + y)", r"-2k\,(x + y)"),
        (2 * X * Y - 2 * K, "2*(x*y - k)", r"2(x\,y - k)"),
        (-X + 1 - Y, "1 - x - y", r"1 - x - y"),
        (-X - Y - K, "-x - y - k", r"-x - y - k"),
        (X * (2 - K), "-x*(k - 2)", r"-x\,(k - 2)"),
        (X * (1 - 2 * K), "-x*(2*k - 1)", r"-x\,(2k - 1)"),
        ((1 - K) ** 2, "(1 - k)^2", r"(1 - k)^{2}"),
        ((1 - K) ** 3 * X, "-x*(k - 1)^3", r"-x\,(k - 1)^{3}"),
        (X / (1 - K), "-x/(k - 1)", r"-\frac{x}{k - 1}"),
        (-X / (1 - K), "x/(k - 1)", r"\frac{x}{k - 1}"),
        (X * (1 - Y), "x*(1 - y)", r"x\,(1 - y)"),
        (-X * (1 - Y), "x*(y - 1)", r"x\,(y - 1)"),
        (X * (1 - Y) ** 2, "x*(1 - y)^2", r"x\,(1 - y)^{2}"),
        (-X * (1 - Y) ** 3, "x*(y - 1)^3", r"x\,(y - 1)^{3}"),
        (X * (1 + Y), "x*(1 + y)", r"x\,(1 + y)"),
        (-X * (1 + Y), "x*(-1 - y)", r"x\,(-1 - y)"),
        (X * (1 - K - Y), "x*(1 - y - k)", r"x\,(1 - y - k)"),
        (X * (-1 - K), "x*(-1 - k)", r"x\,(-1 - k)"),
        (P * X, "p_{1}*x", r"p_{1}\,x"),
        (P * X * K, "k*p_{1}*x", r"k\,p_{1}\,x"),
        (2 * P, "2*p_{1}", r"2p_{1}"),
        (P**2 * K / 3, "1/3*k*p_{1}^2", r"\frac{1}{3}k\,p_{1}^{2}"),
        (X * P * (1 + Y), "p_{1}*x*(1 + y)", r"p_{1}\,x\,(1 + y)"),
        (V**2, "c^\\top W v^2", r"(c^\top W v)^{2}"),
        (V * (1 + X), "c^\\top W v*(1 + x)", r"(1 + x)\,c^\top W v"),
        (V * P, "p_{1}*c^\\top W v", r"p_{1}\,c^\top W v"),
        (exp(X) * V, "c^\\top W v*exp(x)", r"e^{x}\,c^\top W v"),
        (exp(num(2)) * X, "exp(2)*x", r"e^{2}x"),
        (exp(num(2)), "exp(2)", r"e^{2}"),
        (exp(X) ** 2, "exp(2*x)", r"e^{2x}"),
        (exp(-X) * exp(Y) ** Fraction(1, 2), "exp(y/2 - x)", r"e^{\frac{y}{2} - x}"),
        (exp(X) * exp(-X - 1), "exp(-1)", r"e^{-1}"),
        (X / exp(Y), "x*exp(-y)", r"x\,e^{-y}"),
        (1 / exp(X), "exp(-x)", r"e^{-x}"),
        ((exp(X) + 1) ** -1, "1/(1 + exp(x))", r"\frac{1}{1 + e^{x}}"),
        (call("sigmoid", X), "g(-x)", r"g(-x)"),
        (call("sigmoid", -X + Y), "g(x - y)", r"g(x - y)"),
        (call("softplus", X), "log(1 + exp(x))", r"\log(1 + e^{x})"),
        (call("softplus", -X), "log(1 + exp(-x))", r"\log(1 + e^{-x})"),
        (call("softplus", X) * Y, "y*log(1 + exp(x))", r"y\,\log(1 + e^{x})"),
        (call("sin", X) / 2, "1/2*sin(x)", r"\frac{1}{2}\sin(x)"),
        (call("sin", X) * X, "x*sin(x)", r"x\,\sin(x)"),
        (call("sin", X) ** 2, "sin(x)^2", r"\sin(x)^{2}"),
        (call("log", X * Y), "log(x*y)", r"\log(x\,y)"),
        (call("tanh", 1 - X), "tanh(1 - x)", r"\tanh(1 - x)"),
        (step(-X), "[x < 0]", r"\mathbb{1}[x<0]"),
        (step(2 * X - 2 * Y), "[x - y > 0]", r"\mathbb{1}[x - y>0]"),
        (step(Y - X) * Y, "[x - y < 0]*y", r"\mathbb{1}[x - y<0]\,y"),
        (step(X) * step(Y) * 2, "2*[x > 0]*[y > 0]", r"2\,\mathbb{1}[x>0]\,\mathbb{1}[y>0]"),
        (step(X) / 3, "1/3*[x > 0]", r"\frac{1}{3}\,\mathbb{1}[x>0]"),
        (X * step(X - Y) / 2, "1/2*[x - y > 0]*x", r"\frac{1}{2}\,\mathbb{1}[x - y>0]\,x"),
        (sqrt(X + Y), "sqrt(x + y)", r"\sqrt{x + y}"),
        (sqrt(2 * X + 2 * Y), "sqrt(2*(x + y))", r"\sqrt{2(x + y)}"),
        (X / sqrt(X + Y), "x/sqrt(x + y)", r"\frac{x}{\sqrt{x + y}}"),
        (sqrt(X) * sqrt(Y), "sqrt(x)*sqrt(y)", r"\sqrt{x}\,\sqrt{y}"),
        (power(X, Fraction(3, 2)), "x^(3/2)", r"x^{3/2}"),
        (power(X, Fraction(-3, 2)), "1/x^(3/2)", r"\frac{1}{x^{3/2}}"),
        (power(X + Y, Fraction(3, 2)), "(x + y)^(3/2)", r"(x + y)^{3/2}"),
        (power(X + Y, Fraction(1, 3)), "(x + y)^(1/3)", r"(x + y)^{1/3}"),
        (power(2 * X - 2 * Y, Fraction(1, 3)), "(2*(x - y))^(1/3)", r"\big(2(x - y)\big)^{1/3}"),
        (2 / sqrt(num(3)), "2/sqrt(3)", r"\frac{2}{\sqrt{3}}"),
        (sqrt(num(2)) / 2, "sqrt(2)/2", r"\frac{\sqrt{2}}{2}"),
        (sqrt(num(Fraction(2, 3))), "sqrt(2/3)", r"\sqrt{\frac{2}{3}}"),
        (X**-2, "1/x^2", r"\frac{1}{x^{2}}"),
        (2 * X**-2 / 3, "2/(3*x^2)", r"\frac{2}{3x^{2}}"),
        (X / (Y + 1) / K, "x/(k*(1 + y))", r"\frac{x}{k\,(1 + y)}"),
        ((X + 1) / (Y + 1), "(1 + x)/(1 + y)", r"\frac{1 + x}{1 + y}"),
        ((X + 1) * (Y + 1), "(1 + x)*(1 + y)", r"(1 + x)\,(1 + y)"),
        ((X + 1) * (Y + 1) / 2, "1/2*(1 + x)*(1 + y)", r"\frac{1}{2}(1 + x)\,(1 + y)"),
        (2 * (X + 1) / 3, "2/3*(1 + x)", r"\frac{2}{3}(1 + x)"),
        (3 * X / 4, "3/4*x", r"\frac{3}{4}x"),
        (3 * X * Y / 4, "3/4*x*y", r"\frac{3}{4}x\,y"),
        (X * Y / (4 * K), "x*y/(4*k)", r"\frac{x\,y}{4k}"),
        (3 / (4 * K), "3/(4*k)", r"\frac{3}{4k}"),
        (3 / K, "3/k", r"\frac{3}{k}"),
        (-3 / K, "-3/k", r"-\frac{3}{k}"),
        (-1 / X, "-1/x", r"-\frac{1}{x}"),
        (1 / (2 * (X + 1)), "1/(2*(1 + x))", r"\frac{1}{2(1 + x)}"),
        (1 / (X + Y) ** 2, "1/(x + y)^2", r"\frac{1}{(x + y)^{2}}"),
        (X ** (2 * K), "x^(2*k)", r"x^{2k}"),
        (X ** (-K), "x^(-k)", r"x^{-k}"),
        ((X * Y) ** K, "(x*y)^k", r"(x\,y)^{k}"),
        (X**K * Y**2, "y^2*x^k", r"y^{2}\,x^{k}"),
        (2 * X**K / 3, "2/3*x^k", r"\frac{2}{3}x^{k}"),
        ((X + 1) ** K * 2, "2*(1 + x)^k", r"2(1 + x)^{k}"),
        (2**K, "2^k", r"2^{k}"),
        (X**K * X, "x*x^k", r"x\,x^{k}"),
        (0.5 * X, "0.5*x", r"0.5x"),
        (-1.0 * X, "-x", r"-x"),
        (2.5 * X / Y, "2.5*x/y", r"\frac{2.5x}{y}"),
        (1e-7 * X, "1e-07*x", r"10^{-7}x"),
        (-1e20 * X * Y, "-1e+20*x*y", r"-10^{20}x\,y"),
        (1e30 * X, "1e+30*x", r"10^{30}x"),
        (0.5 * X + 0.5 * Y, "0.5*x + 0.5*y", r"0.5x + 0.5y"),
        (0.25 * X - Y, "0.25*x - y", r"0.25x - y"),
        (num(-7), "-7", r"-7"),
        (num(Fraction(7, 3)), "7/3", r"\frac{7}{3}"),
        (num(0.5), "0.5", r"0.5"),
        (num(2.0), "2.0", r"2"),
        (num(1e300), "1e+300", r"10^{300}"),
        (-X, "-x", r"-x"),
        (2 * X, "2*x", r"2x"),
        (X / 7 * 3, "3/7*x", r"\frac{3}{7}x"),
        (-X / 7 * 3, "-3/7*x", r"-\frac{3}{7}x"),
        (-(X + 1) / (Y - 1), "(1 + x)/(1 - y)", r"\frac{1 + x}{1 - y}"),
        ((1 - X) / (1 - Y), "(1 - x)/(1 - y)", r"\frac{1 - x}{1 - y}"),
        ((1 - X) / (Y - 1), "(1 - x)/(y - 1)", r"\frac{1 - x}{y - 1}"),
        ((1 - X) * (1 - Y), "(1 - y)*(1 - x)", r"(1 - y)\,(1 - x)"),
        ((1 - X) * (1 - Y) * K, "k*(1 - y)*(1 - x)", r"k\,(1 - y)\,(1 - x)"),
        (-(1 - X) * (1 - Y), "(y - 1)*(1 - x)", r"(y - 1)\,(1 - x)"),
        (X * (1 - Y) / 2, "1/2*x*(1 - y)", r"\frac{1}{2}x\,(1 - y)"),
        (-X * (1 - Y) / 2, "1/2*x*(y - 1)", r"\frac{1}{2}x\,(y - 1)"),
        (call("sin", 2 * X - 2 * Y), "sin(2*(x - y))", r"\sin\big(2(x - y)\big)"),
        (exp(2 * X - 2 * Y), "exp(2*(x - y))", r"e^{2(x - y)}"),
        (exp(-(X + Y) / 2), "exp(-1/2*(x + y))", r"e^{-\frac{1}{2}(x + y)}"),
        (exp(X / Y), "exp(x/y)", r"e^{\frac{x}{y}}"),
        (exp((X + 1) / Y), "exp((1 + x)/y)", r"e^{\frac{1 + x}{y}}"),
        (exp(sqrt(X)) ** 2, "exp(2*sqrt(x))", r"e^{2\sqrt{x}}"),
        (exp(exp(X)), "exp(exp(x))", r"e^{e^{x}}"),
        (((X + 1) ** 2 + 1) ** 2, "(1 + (1 + x)^2)^2", r"\big(1 + (1 + x)^{2}\big)^{2}"),
        (call("sin", call("cos", X) ** 2), "sin(cos(x)^2)", r"\sin\big(\cos(x)^{2}\big)"),
        ((call("sin", X) + 1) ** 2 * 2, "2*(1 + sin(x))^2", r"2\big(1 + \sin(x)\big)^{2}"),
        ((X * Y + 1) / (X * Y - 1), "(-1 - x*y)/(1 - x*y)", r"\frac{-1 - x\,y}{1 - x\,y}"),
        (X * Y + X + Y + 1, "1 + x + x*y + y", r"1 + x + x\,y + y"),
        (X**2 + X + 1, "1 + x + x^2", r"1 + x + x^{2}"),
        (K * X + Y * K, "k*x + k*y", r"k\,x + k\,y"),
        (X + 2 * Y + 3 * K, "x + 2*y + 3*k", r"x + 2y + 3k"),
        (K * Y * X * P, "k*p_{1}*x*y", r"k\,p_{1}\,x\,y"),
    ],
)
def test_every_kind_of_term_has_one_way_to_be_written(node: Node, words: str, formula: str) -> None:
    """Signs in front, numbers outside, parameters before parts before states, brackets where they are needed."""
    order = ReadingOrder(["x", "y", "v"])
    order.introduce(P, exp(X), (1,))
    for writer, text in ((Writer, words), (TexWriter, formula)):
        assert flat(writer(order, SHOWN, ["k"]).write(node)) == text


def test_lines_are_filled_up_to_their_limit() -> None:
    pieces = ["aaaa", " + bbbb", " + cccc"]
    text, two = BREAK.join(pieces), width("aaaa + bbbb")
    assert [line for _, line in fold(text, two)] == ["aaaa + bbbb", " + cccc"]
    assert [line for _, line in fold(text, two - 0.01)] == pieces
    nested = f"(aaaa{BREAK} + [bbbb{BREAK} + cccc])"
    assert fold(nested, 20.0) == [(0, "(aaaa"), (1, " + [bbbb + cccc])")]
    assert fold(nested, 14.0) == [(0, "(aaaa"), (1, " + [bbbb"), (2, " + cccc])")]


def test_a_product_may_be_broken_before_brackets_that_stand_far_to_the_right() -> None:
    names = {f"x{k}": f"x_{{{k}}}" for k in range(12)} | {"y": "y"}
    writer = TexWriter(ReadingOrder([*names]), names)
    shapes = set()
    for count in range(1, 13):
        front = math.prod((sym(f"x{k}") for k in range(count)), start=num(1))
        wide = width(flat(writer.write(front)))
        text = writer.write(front * (sym("y") + 1))
        if wide < writer.wide - 4:
            assert (BREAK + r"\cdot (1" in text) == (wide > writer.wide / 2), text
            shapes.add(wide > writer.wide / 2)
    assert shapes == {True, False}


def test_what_is_as_wide_as_a_formula_may_be_is_still_one() -> None:
    """Fractions, roots and exponents of exactly the greatest width; what is a little wider is written another way."""
    names = {"x": "x", "y": "y"}
    for letters in range(1, 40):
        names["x"] = "x" * letters
        writer = TexWriter(ReadingOrder(["x", "y"]), dict(names))
        fits = width(names["x"]) <= writer.wide
        assert (r"\frac" in writer.write(Y / X)) == fits
        assert (r"\sqrt" in writer.write(sqrt(X))) == fits
        assert writer.write(exp(X)).startswith("e^") == fits
    boundary = TexWriter(ReadingOrder(["x", "y"]), {"x": "x", "y": "y"})
    boundary.wide = width("x")
    assert boundary.write(exp(X)) == "e^{x}" and boundary.write(sqrt(X)) == r"\sqrt{x}"
    assert boundary.write(Y / X) == r"\frac{y}{x}"
