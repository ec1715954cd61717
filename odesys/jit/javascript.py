r"""Straight-line JavaScript from expressions, for pages that run a system in a browser.

Every node that is used more than once is computed once, as in the other back ends; beyond them common factors are
pulled out of sums, since a page carries the text. Nothing is evaluated from text in the browser.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count, product
from string import ascii_letters, digits

from ..expr import graph
from ..expr.constants import to_float
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node, Number
from .shared_factors import Pair, is_exponential_power, read_nodes, reads, shared_products
from .shifted_sums import shifted

_ROOTS = {"sqrt": "Math.sqrt", "pow": "Math.pow"}  # fractional and large powers
_KEYWORDS = {"do", "if", "in", "of", "as"}
_EXACT = 2**53  # a quotient of whole numbers up to here is rounded once
_ATOM = re.compile(r"[\w.]+(\[\d+\])?")
_NAMED = r"\b(?:[a-z]\[\d+\]|v\d+\b)"  # entries of arrays, and what a program calls its values
_PRODUCT = rf"{_ATOM.pattern}(\*{_ATOM.pattern})+"
SMALL_POWER = 4  # up to here a power is a product
ALIASED = 4  # an entry of an array that is read this often gets a name

Term = tuple[bool, tuple[str, ...]]  # whether it is subtracted, and its factors; a factor /a divides by a


def literal(value: Number) -> str:
    """A constant that reads back as the float of the value: a whole number, a quotient or a decimal fraction.

    >>> [literal(v) for v in (2, Fraction(1, 3), Fraction(-1, 2), 1e-3)]
    ['2', '(1/3)', '(-.5)', '.001']
    """
    number = to_float(value)
    text = repr(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)
    text = re.sub(r"^(-?)0\.", r"\1.", text).replace("e-0", "e-").replace("e+", "e")
    exact = Fraction(value)
    if len(text) > 9 and max(abs(exact.numerator), exact.denominator) < _EXACT:
        text = min(text, f"{exact.numerator}/{exact.denominator}", key=len)
    return f"({text})" if text.startswith("-") or "/" in text else text


def arrow(arguments: str, roots: Sequence[Node], places: Mapping[str, str], gates: Mapping[Node, str]) -> str:
    """A function of `arguments` that gives the values of `roots`, as an array.

    Parameters
    ----------
    places : what stands for each symbol, such as x[0].
    gates : what stands for each gate; other gates follow their own sign.

    >>> x, y = graph.sym("x"), graph.sym("y")
    >>> arrow("x", [x**2 * y + 3 * graph.exp(y) * x, y], {"x": "x[0]", "y": "x[1]"}, {})
    '(x)=>[(3*exp(x[1])+x[0]*x[1])*x[0],x[1]]'
    """
    writer = _Writer(roots, places, gates)
    text = _without_short_names("\n".join([*writer.lines, ",".join(writer.text[root] for root in writer.roots)]))
    uses = Counter(re.findall(_NAMED, text))
    again = [name for name, count in uses.most_common() if name.startswith("v") or count >= ALIASED]
    named = dict(zip(again, _names(set(arguments.split(","))), strict=False))  # what is read most has the shortest name
    *lines, ends = re.sub(_NAMED, lambda found: named.get(found[0], found[0]), text).split("\n")
    constants = [f"{name}={entry}" for entry, name in named.items() if "[" in entry] + lines
    return f"({arguments})=>{{const {','.join(constants)};return[{ends}]}}" if constants else f"({arguments})=>[{ends}]"


def _without_short_names(text: str) -> str:
    """The lines of a program without those that cost more text than they save: short products that are read seldom."""
    *lines, ends = text.split("\n")
    uses, divisors = Counter(re.findall(_NAMED, text)), set(re.findall(r"/(v\d+)\b", text))
    known: dict[str, str] = {}
    kept = []
    for line in lines:
        name, body = re.sub(_NAMED, lambda found: known.get(found[0], found[0]), line).split("=")
        size, times = len(re.sub(_NAMED, "ab", body)), uses[name] - 1
        if re.fullmatch(_PRODUCT, body) and name not in divisors and size * times <= size + 4 + 2 * times:
            known[name] = body
        else:
            kept.append(f"{name}={body}")
    return "\n".join([*kept, re.sub(_NAMED, lambda found: known.get(found[0], found[0]), ends)])


def prelude(text: str) -> str:
    """Definitions of the elementary functions that a text calls.

    >>> prelude("o[0]=exp(a)")
    'const exp=Math.exp;'
    """
    known = _ROOTS | {name: record.javascript for name, record in FUNCTIONS.items()}
    used = {name: body for name, body in known.items() if re.search(rf"(?<![.\w]){name}\(", text)}
    return f"const {','.join(f'{name}={body}' for name, body in used.items())};" if used else ""


def _names(taken: set[str]) -> Iterator[str]:
    """Short names, the shortest first."""
    for length in count(1):
        for first, *rest in product(ascii_letters, *([ascii_letters + digits] * (length - 1))):
            name = "".join([first, *rest])
            if name not in taken | _KEYWORDS and name not in FUNCTIONS and name not in _ROOTS:
                yield name


class _Writer:
    """Assignments v0=..., v1=... in the making, and the text of every node."""

    def __init__(self, roots: Sequence[Node], places: Mapping[str, str], gates: Mapping[Node, str]) -> None:
        self.roots = shifted(roots, gates)
        self.lines: list[str] = []
        self.text: dict[Node, str] = {}
        self._inner: dict[Node, tuple[str, ...]] = {}  # factors of products that stand inside one sum
        self._factors: dict[int, tuple[str, ...]] = {}
        order = read_nodes(self.roots, gates)
        self._products = shared_products(order)
        uses = Counter(self.roots)
        uses.update(child for node in order if node not in gates for child in reads(node))
        summed = {term for node in order if node.op == "add" and node not in gates for _, term in node.args}
        for node in order:
            if node in gates:
                self.text[node] = gates[node]
            elif node.op == "num":
                self.text[node] = literal(node.args[0])
            elif node.op == "sym":
                self.text[node] = places[node.args[0]]
            elif node.op == "mul" and uses[node] == 1 and node in summed:
                self._inner[node] = self._product(node)
            else:
                body = self._body(node)
                self.text[node] = body if uses[node] == 1 else self._named(body)

    def _named(self, body: str) -> str:
        """What stands for a text that is used again: itself if it is short, else a name."""
        if _ATOM.fullmatch(body):
            return body
        self.lines.append(f"v{len(self.lines)}={body}")
        return f"v{len(self.lines) - 1}"

    def _body(self, node: Node) -> str:
        if node.op == "mul":
            return _written(self._product(node))
        if node.op == "add":
            return _sum([self._term(c, term) for c, term in node.args])
        return f"{node.op}({self.text[node.args[0]]})"

    def _term(self, c: Number, node: Node) -> Term:
        size = () if c in (1, -1) else (literal(-c if c < 0 else c),)
        if node is graph.ONE:
            return c < 0, size or ("1",)
        inner = self._inner.get(node) or (_atom(self.text[node]),)
        return c < 0, size + inner

    def _product(self, node: Node) -> tuple[str, ...]:
        return tuple(text for number in self._products.factors[node] for text in self._factor(number))

    def _factor(self, number: int) -> tuple[str, ...]:
        if number not in self._factors:
            defined = self._products.definitions[number]
            if isinstance(defined, Pair):
                made = self._factor(defined.first) + self._factor(defined.second)
            else:
                made = self._power(*defined)
            if self._products.uses[number] > 1 and not (len(made) == 1 and _ATOM.fullmatch(made[0])):
                made = (self._named(_written(made)),)
            self._factors[number] = made
        return self._factors[number]

    def _power(self, base: Node, exponent: Fraction) -> tuple[str, ...]:
        if is_exponential_power(base, exponent):
            times = "-" if exponent == -1 else f"{literal(exponent).strip('()')}*"
            return (f"exp({times}{_atom(self.text[base.args[0]])})",)
        inner = self.text[base]
        if abs(exponent) == Fraction(1, 2):
            return (f"{'/' if exponent < 0 else ''}sqrt({inner})",)
        size = abs(exponent)
        if size == 1 or (size.denominator == 1 and size <= SMALL_POWER and _ATOM.fullmatch(inner)):
            return (f"{'/' if exponent < 0 else ''}{_atom(inner)}",) * int(size)
        return (f"pow({inner},{literal(exponent).strip('()')})",)


def _atom(text: str) -> str:
    """A text that can be a factor."""
    if _ATOM.fullmatch(text) or re.fullmatch(r"\w+\([^()]*\)", text) or re.fullmatch(r"\([^()]*\)", text):
        return text
    return f"({text})"


def _written(factors: Sequence[str]) -> str:
    """A product."""
    above = [factor for factor in factors if not factor.startswith("/")]
    return "*".join(above or ["1"]) + "".join(factor for factor in factors if factor.startswith("/"))


def _sum(terms: Sequence[Term]) -> str:
    """A sum, with the factor that most terms share pulled out of them, again and again."""
    shares = Counter(factor for _, factors in terms for factor in set(factors) if factor != "1")
    best = max(shares, key=lambda factor: (shares[factor], len(factor)), default="")
    if best and shares[best] > 1:
        inside = [(minus, _without(factors, best)) for minus, factors in terms if best in factors]
        turned = all(minus for minus, _ in inside)
        common = _sum([(minus ^ turned, factors) for minus, factors in inside])
        return _sum([*((m, f) for m, f in terms if best not in f), (turned, (f"({common})", best))])
    ordered = sorted(terms, key=lambda term: term[0])  # a sum that can begin without a sign does
    text = "".join(("-" if minus else "+") + _written(factors) for minus, factors in ordered)
    return text.removeprefix("+")


def _without(factors: tuple[str, ...], one: str) -> tuple[str, ...]:
    place = factors.index(one)
    return factors[:place] + factors[place + 1 :] or ("1",)
