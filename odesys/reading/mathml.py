"""Content MathML, as SBML and CellML have it: read into expressions, and written from them. Nothing is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import EquationError
from ..expr import graph
from ..expr.constants import read_number, shown
from ..expr.graph import Node
from ..expr.system import TIME

Element = ElementTree.Element
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
#: what an element of one argument is called here; MathML and the records of functions differ
FUNCTIONS = {
    "exp": "exp", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "arcsin": "arcsin", "arccos": "arccos", "arctan": "arctan", "arcsinh": "arcsinh",
    "arccosh": "arccosh", "arctanh": "arctanh", "abs": "abs",
}  # fmt: skip
RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}
TESTS: dict[str, Callable[[Node, Node], Node]] = {
    "lt": lambda a, b: graph.step(b - a),
    "gt": lambda a, b: graph.step(a - b),
    "leq": lambda a, b: 1 - graph.step(a - b),
    "geq": lambda a, b: 1 - graph.step(b - a),
}
#: how many arguments an element takes, at least and at most
ARGUMENTS: dict[str, tuple[int, float]] = {
    **dict.fromkeys((*FUNCTIONS, *RECIPROCALS, "root", "log", "not"), (1, 1)),
    **dict.fromkeys(("plus", "times", "and", "or"), (0, inf)),
    **dict.fromkeys(("max", "min"), (1, inf)),
    **dict.fromkeys(TESTS, (2, inf)),
    **dict.fromkeys(("divide", "power"), (2, 2)),
    "minus": (1, 2),
}
MOST_EXPANDED = 10**6  # elements that calls of functions stand for; more come of functions that double at each step

MOST_DEPTH = 300  # elements in each other; nobody writes so many, and readers of others break off far above


def refuse_deep(text: str, what: str) -> None:
    """An error for elements in each other beyond all need; what is no XML at all is left to the reader."""
    depth = 0

    def begin(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise EquationError(f"the equations of this {what} are nested more deeply than they can be read")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    with suppress(expat.ExpatError, ValueError):
        parser.Parse(text.encode(), True)


def tag(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def part(element: Element, place: int = 0) -> Element:
    """What stands inside of an element at a place; the last one for -1."""
    if len(element) < (abs(place) if place < 0 else place + 1):
        raise EquationError(f"an element <{tag(element)}> of MathML has fewer parts than it needs")
    return element[place]


def _count(kind: str, values: Sequence[object]) -> None:
    least, most = ARGUMENTS[kind]
    if not least <= len(values) <= most:
        wanted = f"{least}" if least == most else f"{least} or more" if most == inf else f"{least} or {most}"
        raise EquationError(f"an element <{kind}> of MathML has {len(values)} arguments and takes {wanted}")


def parse_xml(text: str) -> Element:
    """The root of a document; what is not XML is refused with the place."""
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        raise EquationError(f"this is not XML: {problem}") from None


@dataclass(frozen=True)
class MathReader:
    """What names mean while MathML is read.

    Attributes
    ----------
    name : from the text of <ci> to an expression.
    functions : functions that a file defines: their arguments and the element of their value.
    expanded : how many elements calls of these have stood for so far; readers of one file share it.
    """

    name: Callable[[str], Node] = graph.sym
    functions: Mapping[str, tuple[tuple[str, ...], Element]] = field(default_factory=dict)
    expanded: list[int] = field(default_factory=lambda: [0])

    def read(self, element: Element) -> Node:
        """The expression of an element.

        >>> text = "<apply><times/><cn>2</cn><apply><power/><ci>x</ci><cn>3</cn></apply></apply>"
        >>> MathReader().read(parse_xml(text))
        Node(2*x**3)
        """
        kind = tag(element)
        if kind in ("math", "semantics"):
            return self.read(part(element))
        if kind == "ci":
            return self.name((element.text or "").strip())
        if kind == "cn":
            return graph.num(_number(element))
        if kind == "csymbol":
            return self._symbol(element)
        if kind == "pi":
            return 4 * graph.call("arctan", graph.ONE)
        if kind == "exponentiale":
            return graph.call("exp", graph.ONE)
        if kind == "piecewise":
            return self._pieces(element)
        if kind == "apply":
            return self._apply(element)
        raise EquationError(f"the element <{kind}> of MathML is not read as a number")

    def _symbol(self, element: Element) -> Node:
        url = element.get("definitionURL", "")
        if url.endswith("/time"):
            return graph.sym(TIME)
        if url.endswith("/avogadro"):
            return graph.num(Fraction(602214179 * 10**15))
        raise EquationError(
            f"the symbol {url.rpartition('/')[2] or element.text} of MathML is not read (a delay, a rate)"
        )

    def _pieces(self, element: Element) -> Node:
        otherwise = [child for child in element if tag(child) == "otherwise"]
        if not otherwise:
            raise EquationError("a piecewise function must say what it is otherwise")
        node = self.read(part(otherwise[0]))
        for piece in reversed([child for child in element if tag(child) == "piece"]):
            gate = self.test(part(piece, 1))
            node = gate * self.read(piece[0]) + (1 - gate) * node
        return node

    def test(self, element: Element) -> Node:
        """A condition as a gate, 1 where it holds."""
        kind = tag(element)
        if kind in ("true", "false"):
            return graph.num(int(kind == "true"))
        if kind != "apply":
            raise EquationError(f"the element <{kind}> of MathML is no condition")
        operator, parts = tag(part(element)), list(element[1:])
        if operator in ARGUMENTS:
            _count(operator, parts)
        if operator in TESTS:
            values = [self.read(each) for each in parts]
            gate = graph.ONE
            for a, b in pairwise(values):
                gate = gate * TESTS[operator](a, b)
            return gate
        gates = [self.test(each) for each in parts] if operator in ("and", "or", "not", "xor") else []
        if operator == "not":
            return 1 - gates[0]
        if operator == "and":
            return graph.multiply(*gates)
        if operator == "or":
            return 1 - graph.multiply(*(1 - g for g in gates))
        raise EquationError(f"the condition <{operator}> of MathML is not read; < > <= >= and or not are")

    def _apply(self, element: Element) -> Node:
        head, parts = part(element), [child for child in element[1:] if tag(child) not in ("degree", "logbase", "bvar")]
        kind = tag(head)
        if kind == "ci" or (kind == "csymbol" and "delay" not in head.get("definitionURL", "")):
            return self._call((head.text or "").strip(), [self.read(each) for each in parts])
        if kind in TESTS or kind in ("and", "or", "not"):
            return self.test(element)
        if kind == "csymbol":
            raise EquationError("delays are not read")
        values = [self.read(each) for each in parts]
        extra = {tag(child): self.read(part(child)) for child in element[1:] if tag(child) in ("degree", "logbase")}
        try:
            return _value(kind, values, extra)
        except ZeroDivisionError:
            raise EquationError("the equations divide by zero") from None

    def _call(self, name: str, values: Sequence[Node]) -> Node:
        if name not in self.functions:
            raise EquationError(f"the function {name} is not defined in this file", function=name)
        arguments, body = self.functions[name]
        if len(arguments) != len(values):
            raise EquationError(f"the function {name} takes {len(arguments)} arguments, not {len(values)}")
        self.expanded[0] += sum(1 for _ in body.iter())
        if self.expanded[0] > MOST_EXPANDED:
            raise EquationError(
                f"the functions of this file call each other so often that {name} stands for more than "
                f"{MOST_EXPANDED:,} elements; write formulas with quantities of their own in between"
            )
        inside, outside = dict(zip(arguments, values, strict=True)), self.name
        others = {key: value for key, value in self.functions.items() if key != name}  # no recursion
        return MathReader(lambda n: inside[n] if n in inside else outside(n), others, self.expanded).read(body)


def _value(kind: str, values: Sequence[Node], extra: Mapping[str, Node]) -> Node:
    if kind not in ARGUMENTS:
        raise EquationError(f"the function <{kind}> of MathML is not read", function=kind)
    _count(kind, values)
    if kind == "plus":
        return graph.add(values)
    if kind == "times":
        return graph.multiply(*values)
    if kind == "minus":
        return -values[0] if len(values) == 1 else values[0] - values[1]
    if kind == "divide":
        return values[0] / values[1]
    if kind == "power":
        return graph.symbolic_power(values[0], values[1])
    if kind == "root":
        return graph.symbolic_power(values[0], 1 / extra.get("degree", graph.num(2)))
    if kind == "log":
        return graph.call("log", values[0]) / graph.call("log", extra.get("logbase", graph.num(10)))
    if kind in FUNCTIONS:
        return graph.call(FUNCTIONS[kind], values[0])
    if kind in RECIPROCALS:
        return 1 / graph.call(RECIPROCALS[kind], values[0])
    result, sense = values[0], 1 if kind == "max" else -1  # what is left
    for other in values[1:]:
        result = result + graph.relu((other - result) * sense) * sense
    return result


def _number(element: Element) -> Fraction:
    parts = [(element.text or "").strip(), *((child.tail or "").strip() for child in element)]
    kind, base = element.get("type", "real"), element.get("base", "10")
    wanted = {"rational": 2, "e-notation": 2}.get(kind, 1)
    if kind not in ("real", "integer", "double", "rational", "e-notation") or base != "10" or len(parts) > wanted:
        raise EquationError(
            f"<cn> of type {shown(repr(kind))} in base {shown(base)} with {len(parts)} parts is not read"
        )
    try:
        if kind == "rational":
            return read_number(parts[0]) / read_number(parts[1])
        if kind == "e-notation":
            return read_number(f"{parts[0]}e{parts[1]}")
        return read_number(parts[0])
    except (ValueError, IndexError, ZeroDivisionError):
        raise EquationError(f"<cn> holds {shown(repr(' '.join(parts)))}, which is not a finite number") from None


# ---- writing -------------------------------------------------------------------------------------------------------

WRITTEN = {ours: theirs for theirs, ours in FUNCTIONS.items() if ours != "abs"}


def math_element(node: Node) -> str:
    """An expression as content MathML, without the element <math> around it.

    >>> math_element(graph.sym("x") ** 2)
    '<apply><power/><ci> x </ci><cn type="integer"> 2 </cn></apply>'
    """
    if node.op == "num":
        return _written(Fraction(node.args[0]))
    if node.op == "sym":
        if node.args[0] == TIME:
            return f'<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time"> {TIME} </csymbol>'
        return f"<ci> {node.args[0]} </ci>"
    if node.op == "add":
        terms = [math_element(t) if c == 1 else _apply("times", _written(c), math_element(t)) for c, t in node.args]
        return _apply("plus", *terms) if len(terms) > 1 else terms[0]
    if node.op == "mul":
        factors = [_power(base, Fraction(e)) for base, e in node.args]
        return _apply("times", *factors) if len(factors) > 1 else factors[0]
    if node.op == "step":
        positive = _apply("gt", math_element(node.args[0]), _written(Fraction(0)))
        one, zero = _written(Fraction(1)), _written(Fraction(0))
        return f"<piecewise><piece>{one}{positive}</piece><otherwise>{zero}</otherwise></piecewise>"
    if node.op == "sigmoid":
        return math_element(1 / (1 + graph.exp(-node.args[0])))
    if node.op == "softplus":
        return math_element(graph.call("log", 1 + graph.exp(node.args[0])))
    if node.op in WRITTEN:
        return _apply(WRITTEN[node.op], math_element(node.args[0]))
    raise EquationError(f"{node.op} has no element in MathML", function=node.op)


def _apply(operator: str, *parts: str) -> str:
    return f"<apply><{operator}/>{''.join(parts)}</apply>"


def _power(base: Node, exponent: Fraction) -> str:
    inner = math_element(base)
    return inner if exponent == 1 else _apply("power", inner, _written(exponent))


def _written(value: Any) -> str:
    number = Fraction(value)
    if number.denominator == 1:
        return f'<cn type="integer"> {number.numerator} </cn>'
    return f'<cn type="rational"> {number.numerator} <sep/> {number.denominator} </cn>'
