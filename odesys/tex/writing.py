r"""Nodes as text: one writer for plain text, and the same with TeX marks; where lines may break, and how wide they are.

A linear form is written term by term in reading order, with a common numerical factor in front; a monomial as one
fraction, its exponentials gathered into one. `BREAK` marks the places where a long sum or product may be broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ..expr import graph
from ..expr.graph import ONE, ZERO, Node, Number
from .reading_order import ReadingOrder, monomial

BREAK = "\x01"
INDENT = 2.0  # width of a quad, by which a broken line is set in
SYMBOL = re.compile(r"([A-Za-z]|\\[A-Za-z]+)((?:[_^](?:\{(?:[^{}]|\{[^{}]*\})*\}|[^\\{}]))*)")  # a letter with indices


class Factor(NamedTuple):
    """A factor of a product: rank and key give its place, `loose` means that it needs brackets beside others."""

    rank: int
    key: tuple[tuple[int, ...], float]
    text: str
    loose: bool = False


def _number(text: str) -> Factor:
    return Factor(-1, ((), 0), text)


class Writer:
    """Plain text of nodes; `names` says how symbols are written, `parameters` come first in products."""

    times, plus, minus, negative = "*", " + ", " - ", "-"

    def __init__(
        self, order: ReadingOrder, names: Mapping[str, str], parameters: Iterable[str] = (), slope: str = "g"
    ) -> None:
        self.order, self.names, self.slope = order, names, slope
        self.parameters = frozenset(parameters)
        self._inner: dict[Node, str] = {}

    def write(self, node: Node) -> str:
        """The whole expression, with marks where it may be broken."""
        for part in graph.topological([node]):  # bottom up, so that depth is no matter
            if part not in self._inner:
                self.order.place(part)
                self._inner[part] = self._base(part)
        return self.sum(node)

    # ---- sums, terms, factors --------------------------------------------------------------------------------------

    def sum(self, node: Node) -> str:
        """A linear form; the factors of its terms have been written before."""
        terms = self.order.terms(node)
        size, base = self.order.primitive(node)
        integers = [self.order.shown(c, t) for c, t in base.args] if base.op == "add" else []
        ones = sum(abs(c) == 1 for c in integers)
        if abs(size) != 1 and len(integers) > 1 and (2 * ones >= len(integers) > 2 or ones == 2):
            minus = 2 * sum(c < 0 for c in integers) - len(integers)
            if minus > 0 or (minus == 0 and size < 0):
                size, base = -size, -base  # as few minus signs as possible
            factors = [_number(self.number(-size if size < 0 else size)), Factor(1, ((), 0), self.sum(base), True)]
            return (self.negative if size < 0 else "") + self.product(factors)
        written = [self.term(c, t) for c, t in terms]
        first = next((i for i, (minus, _) in enumerate(written) if not minus), 0)  # no minus sign in front
        text = ""
        for minus, body in [written[first], *written[:first], *written[first + 1 :]]:
            text += (BREAK + (self.minus if minus else self.plus) if text else self.negative if minus else "") + body
        return text or self.number(Fraction(0))

    def term(self, coefficient: Number, term: Node) -> tuple[bool, str]:
        """Whether a term is negative, and the rest of it."""
        coefficient = self.order.shown(coefficient, term)
        top: list[Factor] = []
        bottom: list[Factor] = []
        exponent = ZERO
        for base, power in monomial(term).items():
            if parts := graph.power_parts(base):
                top.append(self._symbolic_power(parts[0], graph.scale(parts[1], power)))
            elif base.op == "exp":
                exponent = graph.combine(((Fraction(1), exponent), (power, base.args[0])))
            else:
                flip = (
                    base.op == "add"
                    and power % 2 == 1
                    and self.order.terms(base)[0][1] is ONE
                    and (coefficient < 0 or self._counts_down(base))
                )
                coefficient = -coefficient if flip else coefficient  # x (y - 1) rather than -x (1 - y)
                (top if power > 0 else bottom).append(self._factor(base, abs(power), flip))
        if exponent is not ZERO:
            rank = 0 if exponent.op == "num" else 5
            top.append(Factor(rank, self.order.factor(exponent), self.exponential(self.sum(exponent))))
        size = -coefficient if coefficient < 0 else coefficient
        one = self.number(Fraction(1))
        if isinstance(size, float):
            above, below = one if size == 1 else self.number(size), ""
        else:
            above, below = self.number(Fraction(size.numerator)), self.number(Fraction(size.denominator))
        numerator = ([] if above == one else [_number(above)]) + top
        denominator = ([] if below in (one, "") else [_number(below)]) + bottom
        if not denominator:
            body = self.product(numerator) if numerator else one
        elif bottom or (len(numerator) < 2 and not any(f.loose or f.rank in (3, 5, 6) for f in numerator)):
            body = self.fraction(numerator, denominator)
        else:
            front = self.fraction([f for f in numerator if f.rank < 1], denominator)
            body = self.product([_number(front), *(f for f in top if f.rank > 0)])
        return coefficient < 0, body

    def _symbolic_power(self, base: Node, exponent: Node) -> Factor:
        """A base to a power that is no number."""
        inner = self._factor(base, Fraction(1))
        return inner._replace(rank=6, text=self.raised(inner.text, self.write(exponent), inner.loose), loose=False)

    def _counts_down(self, base: Node) -> bool:
        """True for a number minus a parameter, which reads better the other way round: K - 1, not 1 - K."""
        *_, (coefficient, last) = self.order.terms(self.order.primitive(base)[1])
        return len(base.args) == 2 and coefficient < 0 and last.op == "sym" and last.args[0] in self.parameters

    def _factor(self, base: Node, power: Fraction, flip: bool = False) -> Factor:
        """A base, or its negative, with a positive power."""
        text, loose = self._inner[base], base.op in ("add", "mul")
        if flip:
            text = self.sum(-self.order.primitive(base)[1])
        rank = {"num": 0, "step": 3, "add": 7, "mul": 7}.get(base.op, 6)
        if base.op == "sym":
            loose = not self.atomic(text)
            named = base.args[0].startswith("#")
            rank = 8 if loose else 2 if named else 1 if base.args[0] in self.parameters else 4
        elif base.op == "num":
            loose = not text.isdigit()
        if power.denominator != 1 and base.op == "add":
            text = self.sum(base)  # roots keep the factor that whole powers give away
        if power != 1:
            text, loose = self.power(text, power, loose), False
            rank = min(rank, 6)
        return Factor(rank, self.order.factor(base), text, loose)

    def _base(self, node: Node) -> str:
        """A node as a base: of a sum only the primitive form."""
        if node.op == "sym":
            return self.names[node.args[0]]
        if node.op == "num":
            return self.number(node.args[0])
        if node.op == "add":
            return self.sum(self.order.primitive(node)[1])
        if node.op in ("mul", "exp"):
            return self.sum(node)
        if node.op == "step":
            factor, base = self.order.primitive(node.args[0])
            return self.gate(self.sum(base), ">" if factor > 0 else "<")
        if node.op == "sigmoid":
            return self.call(self.slope, self.sum(-node.args[0]))
        if node.op == "softplus":
            return self.call(self.function("log"), self.sum(graph.exp(node.args[0]) + 1))
        return self.call(self.function(node.op), self.sum(node.args[0]))

    # ---- marks -----------------------------------------------------------------------------------------------------

    def product(self, factors: list[Factor]) -> str:
        """Factors side by side; only those that need it get brackets."""
        ordered = sorted(factors)
        if len(ordered) == 1:
            return ordered[0].text
        return self.times.join(self.group(f.text) if f.loose else f.text for f in ordered)

    def fraction(self, top: list[Factor], bottom: list[Factor]) -> str:
        """A quotient."""
        above = self.product(top) if top else "1"
        if len(top) == 1 and top[0].loose:
            above = self.group(above)
        below = self.product(bottom)
        return f"{above}/{self.group(below) if len(bottom) > 1 or bottom[0].loose else below}"

    def number(self, value: Number) -> str:
        """A constant; floats as they read back."""
        return repr(value) if isinstance(value, float) else str(value)

    def atomic(self, text: str) -> bool:
        """True if a symbol needs no brackets beside others."""
        return True

    def group(self, text: str) -> str:
        """In brackets."""
        return f"({text})"

    def power(self, text: str, exponent: Fraction, loose: bool) -> str:
        """A positive power other than one."""
        if exponent == Fraction(1, 2):
            return self.call("sqrt", text)
        body = self.group(text) if loose else text
        return f"{body}^{exponent}" if exponent.denominator == 1 else f"{body}^({exponent})"

    def raised(self, text: str, exponent: str, loose: bool) -> str:
        """A power with an exponent that is no number."""
        return f"{self.group(text) if loose else text}^{exponent if exponent.isalnum() else self.group(exponent)}"

    def exponential(self, exponent: str) -> str:
        """The exponential function."""
        return self.call("exp", exponent)

    def gate(self, text: str, relation: str) -> str:
        """One where `text` is positive (or negative), else zero."""
        return f"[{text} {relation} 0]"

    def function(self, name: str) -> str:
        """The name of a function of `graph.FUNCTIONS`."""
        return name

    def call(self, function: str, argument: str) -> str:
        """A function applied."""
        return f"{function}({argument})"


class TexWriter(Writer):
    """The same in TeX; what is wider than `wide` is written so that it can be broken."""

    times = r"\,"
    wide = 36.0

    def product(self, factors: list[Factor]) -> str:
        ordered = sorted(factors)
        last = len(ordered) - 1
        loose = [f.loose and last > 0 and (f.rank != 8 or i < last) for i, f in enumerate(ordered)]
        texts = [self.group(f.text) if bracket else f.text for f, bracket in zip(ordered, loose, strict=True)]
        plain = texts[0]
        for i in range(1, len(texts)):
            tight = ordered[i - 1].rank < 1 and not texts[i].startswith((r"\mathbb", *"0123456789"))
            split = loose[i] and width(plain) > self.wide / 2  # a long way to the first place inside the brackets
            plain += (BREAK + r"\cdot " if split else "" if tight else self.times) + texts[i]
        return plain if width(plain) < self.wide or BREAK in plain else (BREAK + r"\cdot ").join(texts)

    def fraction(self, top: list[Factor], bottom: list[Factor]) -> str:
        above, below = self.product(top) if top else "1", self.product(bottom)
        if max(width(above), width(below)) > self.wide:
            return self.product([*top, Factor(7, ((), 0), self.group(below) + "^{-1}")])
        return rf"\frac{{{flat(above)}}}{{{flat(below)}}}"

    def number(self, value: Number) -> str:
        if isinstance(value, float):
            mantissa, _, exponent = repr(value).removesuffix(".0").partition("e")
            if not exponent:
                return mantissa.replace("inf", r"\infty")
            return ("" if mantissa == "1" else rf"{mantissa}\cdot ") + f"10^{{{int(exponent)}}}"
        sign = "-" if value < 0 else ""
        whole = value.denominator == 1
        return str(value) if whole else rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"

    def atomic(self, text: str) -> bool:
        return SYMBOL.fullmatch(text) is not None or text.startswith(r"\mathrm")

    def group(self, text: str) -> str:
        size = r"\Big" if r"\big" in text else r"\big" if "(" in text or r"\frac" in text else ""
        return f"{size}({text}{size})"

    def power(self, text: str, exponent: Fraction, loose: bool) -> str:
        if exponent == Fraction(1, 2) and width(text) <= self.wide:
            return rf"\sqrt{{{flat(text)}}}"
        body = self.group(text) if loose or "^" in text or BREAK in text else text
        return f"{body}^{{{exponent}}}"

    def raised(self, text: str, exponent: str, loose: bool) -> str:
        body = self.group(text) if loose or "^" in text or BREAK in text else text
        return f"{body}^{{{flat(exponent)}}}"

    def exponential(self, exponent: str) -> str:
        if width(exponent) <= self.wide:
            return f"e^{{{flat(exponent)}}}"
        return self.call(r"\exp", exponent)

    def gate(self, text: str, relation: str) -> str:
        return rf"\mathbb{{1}}[{text}{relation}0]"

    def function(self, name: str) -> str:
        return graph.FUNCTIONS[name].tex

    def call(self, function: str, argument: str) -> str:
        return function + self.group(argument)


# ---- widths and lines ----------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")
_WIDTH = {
    "+": 2.4,
    "-": 2.4,
    "=": 2.8,
    "<": 2.8,
    ">": 2.8,
    ",": 0.9,
    "(": 0.8,
    ")": 0.8,
    "[": 0.6,
    "]": 0.6,
    r"\,": 0.4,
    r"\quad": INDENT,
    r"\cdot": 1.8,
    BREAK: 0.0,
}
_WORDS = {record.tex for record in graph.FUNCTIONS.values()}
_SILENT = {r"\big", r"\Big", r"\mathrm", r"\mathbb", r"\operatorname", r"\dot"}


def flat(text: str) -> str:
    """Text that must stay on one line."""
    return text.replace(BREAK, "")


@lru_cache(maxsize=1 << 15)  # the parts of a line are measured again with each part that joins them
def width(tex: str) -> float:
    """Printed width of TeX, in units of about half an em; a little generous."""
    if len(tex) > 4000:  # far beyond any line: not worth a count
        return len(tex) / 4
    return _width(iter(_TOKEN.findall(tex)))


def _width(tokens: Iterator[str], single: bool = False) -> float:
    """Width up to the end of the group, or of a single token or group."""
    total = 0.0
    for token in tokens:
        if token == "}":
            break
        if token == "{":
            total += _width(tokens)
        elif token in ("_", "^"):
            total += 0.75 * _width(tokens, single=True)
        elif token == r"\frac":
            total += 0.6 + max(_width(tokens, single=True), _width(tokens, single=True))
        elif token not in _SILENT:
            total += _WIDTH.get(token, len(token) - 0.5 if token in _WORDS else 1.5 if token.isupper() else 1.1)
        if single:
            break
    return total


def fold(text: str, limit: float) -> list[tuple[int, str]]:
    """Lines no wider than `limit`, each with a depth to indent it by; outer marks are used before those in brackets."""
    level, deepest, marked = 0, 0, []
    for character in text:
        level += (character in "([") - (character in ")]")
        marked.append(_mark(level) if character == BREAK else character)
        deepest = max(deepest, level)
    return _fold("".join(marked), limit, 0, deepest)


def _mark(level: int) -> str:
    return f"{BREAK}{level}{BREAK}"


def _fold(text: str, limit: float, level: int, deepest: int) -> list[tuple[int, str]]:
    plain = re.sub(f"{BREAK}-?\\d+{BREAK}", "", text)
    if level > deepest or width(plain) <= limit:
        return [(level, plain)]
    lines: list[tuple[int, str]] = []
    for piece in text.split(_mark(level)):
        (_, first), *rest = _fold(piece, limit - INDENT, level + 1, deepest)
        if lines and width(lines[-1][1] + first) <= limit:
            lines[-1] = lines[-1][0], lines[-1][1] + first
        else:
            lines.append((level, first))
        lines += rest
    return lines
