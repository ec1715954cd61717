"""Expressions from text by a grammar of our own; nothing is evaluated.

    sum      = product {(+|-) product}
    product  = sign {(*|/) sign}
    sign     = (+|-) sign | power
    power    = atom [(^|**) sign]
    atom     = number | name | name(sum, ...) | name(t) | (sum) | if(test)then(sum)else(sum)
    test     = sum (<|>|<=|>=) sum, joined by & | not(...)

Numbers with a point or an exponent are the decimals they print as, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import EquationError
from ..expr import graph
from ..expr.constants import read_number, shown
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from ..expr.letters import plain_name

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^(),<>&|=]))"
)
#: signs as printed formulas have them, where they are pasted from a page
_PRINTED = str.maketrans({"\u2212": "-", "\u00b7": "*", "\u22c5": "*", "\u00d7": "*"})
_RAISED = re.compile("[\u00b2\u00b3]+")
_OTHER_NAMES = {
    "ln": "log",
    "heav": "step",
    "heaviside": "step",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
#: what programs call a value that is no number; as parameters they would be read silently
_NO_NUMBERS = ("nan", "inf", "infinity", "oo", "zoo")
MOST_EXPANDED = 10**6  # letters that calls of functions stand for; more come of functions that double at each step
_MORE = ("abs", "relu", "sqrt", "cbrt")


def _sign(a: Node) -> Node:
    return graph.step(a) - graph.step(-a)


_SPECIAL: dict[str, Callable[..., Node]] = {
    "sign": _sign,
    "sgn": _sign,
    "max": lambda *a: _extreme(1, a),
    "min": lambda *a: _extreme(-1, a),
    "log10": lambda a: graph.call("log", a) / graph.call("log", graph.num(10)),
    "sech": lambda a: 1 / graph.call("cosh", a),
    "sec": lambda a: 1 / graph.call("cos", a),
    "csc": lambda a: 1 / graph.call("sin", a),
    "cot": lambda a: graph.call("cos", a) / graph.call("sin", a),
    "pow": lambda a, b: graph.symbolic_power(a, b),
    "hypot": lambda a, b: graph.sqrt(a**2 + b**2),
}


def _extreme(sense: int, values: Sequence[Node]) -> Node:
    result = values[0]
    for other in values[1:]:
        result = result + graph.relu((other - result) * sense) * sense
    return result


@dataclass(frozen=True)
class Definition:
    """A function defined in a file: its arguments and the text of its value."""

    arguments: tuple[str, ...]
    text: str


@dataclass
class Grammar:
    """What names mean while text is read.

    Attributes
    ----------
    states : names that may be followed by (t).
    values : names that stand for expressions.
    functions : functions that a file defines itself.
    fold : whether capital letters are the same as small ones.
    parameters : names that were said to be parameters; nothing is read into these.
    expanded : how many letters calls of these functions have stood for so far.
    """

    states: Collection[str] = ()
    values: Mapping[str, Node] = field(default_factory=dict)
    functions: Mapping[str, Definition] = field(default_factory=dict)
    fold: bool = False
    parameters: Collection[str] = ()
    expanded: list[int] = field(default_factory=lambda: [0])

    def read(self, text: str) -> Node:
        """The expression that a text stands for.

        >>> Grammar().read("-x + mu*(1-x**2)*y")
        Node(mu*y*(1 - x**2) - x)
        >>> Grammar().read("2x")
        Traceback (most recent call last):
            ...
        odesys.errors.EquationError: in "2x" the name x follows a number; write 2*x
        """
        reader = _Reader(self, text)
        try:
            node = reader.sum()
        except RecursionError:
            raise EquationError(f'"{shown(text)}" has too many brackets in each other; name parts of it') from None
        reader.end()
        return node


class _Reader:
    def __init__(self, grammar: Grammar, text: str) -> None:
        text = _RAISED.sub(lambda m: "^" + m[0].translate({0xB2: "2", 0xB3: "3"}), text.translate(_PRINTED))
        self.grammar, self.text, self.place = grammar, text, 0
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if found is None:
                sign = text[position:].strip()[0]
                raise EquationError(f'in "{shown(text)}" the sign {sign} has no meaning; use + - * / ^ ( ) and names')
            kind = found.lastgroup or ""
            token = found.group(kind)
            self.tokens.append((kind, token.lower() if kind == "name" and grammar.fold else token))
            position = found.end()

    def peek(self, ahead: int = 0) -> str:
        where = self.place + ahead
        return self.tokens[where][1] if where < len(self.tokens) else ""

    def take(self, wanted: str = "") -> tuple[str, str]:
        if self.place >= len(self.tokens):
            raise EquationError(f'"{self.text}" ends too early' + (f": {wanted} is missing" if wanted else ""))
        kind, token = self.tokens[self.place]
        if wanted and token != wanted:
            raise EquationError(f'in "{self.text}" there should be {wanted} where {token} is')
        self.place += 1
        return kind, token

    def end(self) -> None:
        if self.place < len(self.tokens):
            kind, token = self.tokens[self.place]
            before = self.tokens[self.place - 1][1]
            if kind in ("name", "number") or token == "(":
                what = f"the {kind} {token}" if kind != "sign" else "an opening bracket"
                after = "a number" if self.tokens[self.place - 1][0] == "number" else before
                rest = token if token != "(" else "(...)"
                raise EquationError(f'in "{self.text}" {what} follows {after}; write {before}*{rest}')
            raise EquationError(f'in "{self.text}" there is {token} too much')

    def sum(self) -> Node:
        total = self.product()
        while self.peek() in ("+", "-"):
            _, sign = self.take()
            term = self.product()
            total = total + term if sign == "+" else total - term
        return total

    def product(self) -> Node:
        total = self.signed()
        while self.peek() in ("*", "/"):
            _, sign = self.take()
            factor = self.signed()
            try:
                total = total * factor if sign == "*" else total / factor
            except ZeroDivisionError:
                raise EquationError(f'"{self.text}" divides by zero') from None
        return total

    def signed(self) -> Node:
        if self.peek() in ("+", "-"):
            _, sign = self.take()
            inner = self.signed()
            return inner if sign == "+" else -inner
        return self.power()

    def power(self) -> Node:
        base = self.atom()
        if self.peek() in ("^", "**"):
            self.take()
            here = self.place
            exponent = self.signed()
            if self.grammar.fold and self._raised_again(here):  # from the left in XPP, from the right on paper
                raise EquationError(
                    f'in "{shown(self.text)}" a power is raised again; write brackets for one of the two'
                )
            self.refuse_exponential(base, exponent)
            try:
                return graph.symbolic_power(base, exponent)
            except ZeroDivisionError:
                raise EquationError(f'"{self.text}" divides by zero') from None
        return base

    def _raised_again(self, here: int) -> bool:
        """Whether what was read from a place on has a sign of a power outside of all brackets."""
        depth = 0
        for _, token in self.tokens[here : self.place]:
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token in ("^", "**") and depth == 0:
                return True
        return False

    def atom(self) -> Node:
        kind, token = self.take()
        if kind == "number":
            return graph.num(read_number(token))
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if kind != "name":
            raise EquationError(f'in "{self.text}" an expression should stand where {token} is')
        if token == "if" and self.peek() == "(":
            return self.choice()
        if token.lower() == "piecewise" and self.peek() == "(":
            return self.pieces()
        if self.peek() == "(":
            return self.call(token)
        return self.name(token)

    def name(self, token: str) -> Node:
        if token in self.grammar.values:
            return self.grammar.values[token]
        name = plain_name(token)
        if name in self.grammar.values:
            return self.grammar.values[name]
        if name == "pi" and name not in self.known():
            return 4 * graph.call("arctan", graph.ONE)
        if name.lower() in _NO_NUMBERS and name not in self.known():
            raise EquationError(
                f'in "{shown(self.text)}" {token} is no number that equations can have; give a parameter another name'
            )
        return graph.sym(name)

    def known(self) -> set[str]:
        """Names that were said to be states or parameters."""
        return {*self.grammar.states, *self.grammar.parameters}

    def refuse_exponential(self, base: Node, exponent: Node) -> None:
        """Refuse e^x where no e is known: a parameter would be read where the exponential function is meant."""
        if base.op != "sym" or base.args[0] not in ("e", "E") or base.args[0] in self.known():
            return
        if graph.symbols([exponent]) & {*self.grammar.states, "t"}:
            raise EquationError(
                f'in "{shown(self.text)}" {base.args[0]} would be a parameter; write exp(...) for the exponential '
                f"function, or give the parameter another name"
            )

    def call(self, name: str) -> Node:
        plain = plain_name(name)
        if plain in self.grammar.states:
            self.take("(")
            _, inside = self.take()
            if inside != "t" or self.peek() != ")":
                raise EquationError(f'in "{self.text}" {name} is a state, so only {name} or {name}(t) can be read')
            self.take(")")
            return graph.sym(plain)
        self.take("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.take(")")
        if name in self.grammar.functions:
            return self.defined(name, arguments)
        known = _OTHER_NAMES.get(name.lower(), name if name in FUNCTIONS or name in _MORE else name.lower())
        if known in _SPECIAL:
            try:
                return _SPECIAL[known](*arguments)
            except TypeError:
                raise EquationError(f'in "{self.text}" {name} has {len(arguments)} arguments') from None
        if known not in FUNCTIONS and known not in _MORE:
            names = ", ".join(sorted({*FUNCTIONS, *_MORE, *_SPECIAL}))
            raise EquationError(f'in "{self.text}" the function {name} is not known; known are {names}', function=name)
        if len(arguments) != 1:
            raise EquationError(f'in "{self.text}" {name} has {len(arguments)} arguments instead of one')
        return graph.call(known, arguments[0])

    def defined(self, name: str, arguments: Sequence[Node]) -> Node:
        definition = self.grammar.functions[name]
        if len(definition.arguments) != len(arguments):
            raise EquationError(f'in "{self.text}" {name} takes {len(definition.arguments)} arguments')
        self.grammar.expanded[0] += len(definition.text)
        if self.grammar.expanded[0] > MOST_EXPANDED:
            raise EquationError(
                f"the functions of this file call each other so often that {name} stands for more than "
                f"{MOST_EXPANDED:,} letters; write fixed quantities in between"
            )
        others = {key: value for key, value in self.grammar.functions.items() if key != name}  # no recursion
        values = {**self.grammar.values, **dict(zip(definition.arguments, arguments, strict=True))}
        inner = replace(self.grammar, values=values, functions=others)  # which counts on in `expanded`
        return inner.read(definition.text)

    def pieces(self) -> Node:
        """Piecewise((value, condition), ..., (value, True)), or piecewise(value, condition, ..., otherwise)."""
        self.take("(")
        pairs: list[tuple[Node, Node | None]] = []
        nested = self.peek() == "(" and self._has_comma_inside()
        while True:
            if nested:
                self.take("(")
            value, gate = self.sum(), None
            if self.peek() == ",":
                self.take()
                if self.peek().lower() == "true":
                    self.take()
                else:
                    gate = self.test()
            if nested:
                self.take(")")
            pairs.append((value, gate))
            if self.peek() != "," or gate is None:
                break
            self.take()
        self.take(")")
        if pairs[-1][1] is not None:
            raise EquationError(f'in "{self.text}" the last piece has a condition; end with one for all other cases')
        node = pairs[-1][0]
        for value, gate in reversed(pairs[:-1]):
            assert gate is not None
            node = gate * value + (1 - gate) * node
        return node

    def _has_comma_inside(self) -> bool:
        """Whether the bracket that comes next holds a comma of its own."""
        depth = 0
        for _, token in self.tokens[self.place :]:
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth == 0:
                return False
            if token == "," and depth == 1:
                return True
        return False

    def choice(self) -> Node:
        self.take("(")
        gate = self.test()
        self.take(")")
        self.take("then")
        self.take("(")
        yes = self.sum()
        self.take(")")
        self.take("else")
        self.take("(")
        no = self.sum()
        self.take(")")
        return gate * yes + (1 - gate) * no

    def test(self) -> Node:
        gate = self.comparison()
        while self.peek() in ("&", "|"):
            _, sign = self.take()
            other = self.comparison()
            gate = gate * other if sign == "&" else gate + other - gate * other
        return gate

    def comparison(self) -> Node:
        if self.peek() == "not" and self.peek(1) == "(":
            self.take()
            self.take("(")
            inner = self.test()
            self.take(")")
            return 1 - inner
        left = self.sum()
        _, sign = self.take()
        if sign not in _TESTS:
            raise EquationError(f'in "{self.text}" a comparison by < > <= >= should stand where {sign} is')
        return _TESTS[sign](left, self.sum())


_TESTS: dict[str, Callable[[Node, Node], Node]] = {
    "<": lambda a, b: graph.step(b - a),
    ">": lambda a, b: graph.step(a - b),
    "<=": lambda a, b: 1 - graph.step(a - b),
    ">=": lambda a, b: 1 - graph.step(b - a),
}
