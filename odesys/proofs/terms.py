"""Expressions as terms of Coq: sums, products, inverses and functions of reals, with names for what is used often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import OdesysError
from ..expr import graph
from ..expr.graph import ONE, Node

SHORT = 28  # characters of a term that is repeated rather than named
LONG = 400  # characters of a term that gets a name though it is used once
RESERVED = frozenset(
    {
        *("R", "Z", "N", "Q", "S", "O", "I", "E", "at", "as", "in", "if", "else", "end", "exp", "fix", "for", "forall"),
        *("fun", "let", "ln", "match", "mod", "pi", "PI", "pow", "sin", "cos", "tan", "then", "using", "where", "with"),
        *("sqrt", "step", "sigmoid", "softplus", "return", "Prop", "Set", "Type", "SProp", "exists", "left", "right"),
        *("claim", "Rpower", "IZR", "INR", "tanh", "sinh", "cosh", "atan", "asin", "acos", "erf", "by", "rel", "up"),
        *("plus", "mult", "minus", "nat", "bool", "true", "false", "None", "Some", "fst", "snd", "pair", "eq", "le"),
        "lt",
    }
)  # words of Coq and of its libraries
FUNCTION_NAMES = {
    "exp": "exp", "log": "ln", "sigmoid": "sigmoid", "softplus": "softplus", "step": "step", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "arctan": "atan", "arcsin": "asin",
    "arccos": "acos",
}  # fmt: skip


class NotExported(OdesysError):
    """A statement that can not be written for Coq, with the reason."""


def number(value: Any) -> str:
    """An exact number as a term; floats are never exported.

    >>> number(Fraction(-3, 2)), number(Fraction(2))
    ('(-3 / 2)', '2')
    """
    if isinstance(value, float):
        raise NotExported("a floating-point number is no part of a proof")
    value = Fraction(value)
    text = str(value.numerator) if value.denominator == 1 else f"{value.numerator} / {value.denominator}"
    return text if value >= 0 and value.denominator == 1 else f"({text})"


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Identifiers of Coq for the names of symbols, all different.

    >>> identifiers(["M_cv", "x'", "exp", "x_"])
    {'M_cv': 'M_cv', 'exp': 'exp_', 'x_': 'x_', "x'": 'x_1'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    wanted = sorted(set(names), key=lambda name: (not _plain(name), name))
    for name in wanted:
        base = re.sub(r"[^A-Za-z0-9_]+", "_", name)
        if not re.match(r"[A-Za-z]", base):
            base = f"v{base}"
        if base in RESERVED or re.fullmatch(r"(left_|right_|claim_|part_|map_|[acdefghnpqrsuwyzDKQW])\d+", base):
            base += "_"
        choice, k = base, 0
        while choice in taken:
            k += 1
            choice = f"{base}{k}"
        taken.add(choice)
        found[name] = choice
    return found


def _plain(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None


@dataclass
class Writer:
    """Writes nodes; those with a name in `names` by their name, symbols by their identifier."""

    symbols: Mapping[str, str]
    names: dict[Node, str] = field(default_factory=dict)
    texts: dict[Node, str] = field(default_factory=dict)

    def __call__(self, node: Node) -> str:
        """The term of a node, in parentheses where it is a sum or a product."""
        if node in self.names:
            return self.names[node]
        if node not in self.texts:
            for each in _open(node, self.names):
                if each not in self.texts and each not in self.names:
                    self.texts[each] = self.body(each)
        return self.texts[node]

    def body(self, node: Node) -> str:
        """The term of a node from those of its parts, whether or not it has a name."""
        match node.op:
            case "num":
                return number(node.args[0])
            case "sym":
                return self.symbols[node.args[0]]
            case "add":
                return f"({' + '.join(self._term(c, t) for c, t in node.args)})"
            case "mul":
                return f"({' * '.join(self.power(b, e) for b, e in node.args)})"
        return f"({function(node.op)} {self(node.args[0])})"

    def _term(self, coefficient: Any, term: Node) -> str:
        if term is ONE:
            return number(coefficient)
        text = self(term)
        if coefficient == 1:
            return text
        return f"- {text}" if coefficient == -1 else f"{number(coefficient)} * {text}"

    def power(self, base: Node, exponent: Fraction) -> str:
        """A factor; inverses are written with ``/``, half-integer powers with ``sqrt``, others with ``Rpower``."""
        if exponent.denominator > 1:
            text = self._root(base, exponent.denominator)
            exponent *= exponent.denominator
        else:
            text = self(base)
        if exponent < 0:
            text = f"(/ {text})"
        size = abs(exponent)
        return text if size == 1 else f"({text} ^ {size})"

    def _root(self, base: Node, degree: int) -> str:
        closed = self.names.get(graph.power(base, Fraction(1, degree)))
        if closed is not None:
            return closed
        return f"(sqrt {self(base)})" if degree == 2 else f"(Rpower {self(base)} {number(Fraction(1, degree))})"


def function(name: str) -> str:
    """The name of a function in Coq."""
    if name not in FUNCTION_NAMES:
        raise NotExported(f"the function {name} is not in the libraries of Coq that are used here")
    return FUNCTION_NAMES[name]


def _open(node: Node, closed: Collection[Node]) -> list[Node]:
    """Nodes below one, children first, not looking into those that have a name."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [(node, False)]
    while stack:
        each, done = stack.pop()
        if done:
            order.append(each)
        elif each not in seen and (each is node or each not in closed):
            seen.add(each)
            stack.append((each, True))
            stack += [(child, False) for child in graph.children(each)]
    return order


def definitions(
    roots: Iterable[Node], symbols: Mapping[str, str], prefix: str = "n", titles: Mapping[Node, str] | None = None
) -> tuple[Writer, list[tuple[Node, str]]]:
    """A writer with a name for each titled, shared or long part of `roots`, and the bodies of these names in order."""
    roots, titles = list(roots), titles or {}
    order = graph.topological(roots)
    uses = Counter(child for node in order for child in graph.children(node))
    uses.update(roots)
    writer = Writer(symbols)
    bodies: list[tuple[Node, str]] = []
    for node in order:
        text = writer.body(node)
        plain = node.op in ("num", "sym")
        if node in titles or (not plain and ((uses[node] > 1 and len(text) > SHORT) or len(text) > LONG)):
            writer.names[node] = titles.get(node, f"{prefix}{len(bodies) + 1}")
            bodies.append((node, text))
        else:
            writer.texts[node] = text
    return writer, bodies
