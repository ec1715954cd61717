"""Expressions as they were written, where the engine has one normal form for both sides of a statement.

``2*(x + 1)`` and ``2*x + 2`` are one node; that they are equal is what the statement says, so it shows how they were
written, and a lemma brings each to the normal form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import stated
from ..expr import graph
from ..expr.graph import Node
from .section import Section
from .strategy import DEEPEST, Outline, root_parts

LARGEST = 60  # operations of a form


@dataclass(frozen=True)
class Form:
    """An operation on parts, each a form or a node; the second part of a power is its exponent."""

    operation: str
    left: Form | Node
    right: Form | Node | Fraction


def written_forms(node: Node) -> list[Form]:
    """How a node was written while statements were recorded, the latest last.

    >>> from odesys import sym
    >>> x = sym("x")
    >>> with stated.recorded():
    ...     y = 2 * (x + 1)
    ...     [form] = written_forms(y)
    >>> form.operation
    '*'
    """
    found = (_form(entry, [LARGEST]) for entry in stated.forms.get(node, ()))
    return list(dict.fromkeys(form for form in found if isinstance(form, Form)))


def _form(entry: tuple[int, str, Node, Node | Fraction], budget: list[int]) -> Form | Node:
    """An operation that was written; one that changes nothing, such as a product with 1, is left out."""
    number, operation, left, right = entry
    budget[0] -= 1
    first = _part(left, number, budget)
    if isinstance(right, Fraction):
        return first if right == 1 else Form(operation, first, right)
    second = _part(right, number, budget)
    if right is (graph.ONE if operation in "*/" else graph.ZERO):
        return first
    if left is (graph.ONE if operation == "*" else graph.ZERO) and operation in "*+":
        return second
    return Form(operation, first, second)


def _part(node: Node, before: int, budget: list[int]) -> Form | Node:
    """A part as it was written last before the whole."""
    known = [entry for entry in stated.forms.get(node, ()) if entry[0] < before]
    return _form(known[-1], budget) if known and budget[0] > 0 else node


def form_term(section: Section, form: Form, node: Node) -> tuple[str, str]:
    """A form as a term, and the lemma that it equals the node."""
    text = _text(section, form)
    seen = _as_far_as_needed(section, form, node)
    divisors = _divisors(form) if seen is None else [*_own_divisors(form), *_divided_by(seen)]
    facts = [section.nonzero(divisor) for divisor in dict.fromkeys(divisors) if divisor.op != "num"]
    known = "".join(f"pose proof {fact} as D{k}; " for k, fact in enumerate(facts))
    below = [node, *form_nodes(form), *_nodes(form)] if seen is None else seen.opened
    opened = section.opened(*below, only=seen is not None)
    opened = opened.replace("]; ", "] in *; ") if facts else opened
    squares = _squares(section, [node, *form_nodes(form), *_nodes(form)]) if seen is None else []
    known += "".join(f"assert (Q{k} := {fact}); " for k, fact in enumerate(squares))
    use = " ".join(f"Q{k}" for k in range(len(squares)))
    last = f" | field [{use}]; nonzero" if squares else ""
    proof = f"{known}{opened}first [ ring | field; nonzero{last} ]."
    return text, section.lemma(f"{text} = {section.writer(node)}", proof, "w")


@dataclass(frozen=True)
class _Seen:
    """What a proof looks at: nodes not closed and not below closed ones, and those with a name that it opens."""

    nodes: Sequence[Node]
    opened: Sequence[Node]


def _as_far_as_needed(section: Section, form: Form, node: Node) -> _Seen | None:
    """The fewest layers of names that have to be opened; None where roots are in the way, or all of them are needed.

    With the rest closed ``ring`` has small polynomials to compare; values modulo a prime say whether it will.
    """
    leaves = form_nodes(form)
    if any(each.op == "mul" and any(e.denominator > 1 for _, e in each.args) for each in _nodes(form)):
        return None
    for seen, closed in _layers([node, *leaves], section.writer.names):
        values = Outline((node, *leaves), tuple(closed)).residues()
        try:
            if values is not None and _value(form, dict(zip(leaves, values[1:], strict=True))) == values[0]:
                return seen
        except ZeroDivisionError:
            return None
    return None


def _layers(roots: Sequence[Node], names: Collection[Node]) -> Iterator[tuple[_Seen, list[Node]]]:
    """What is seen with one layer of names opened, with two and so on, and what is closed; functions are closed."""
    for depth in range(1, DEEPEST):
        level = dict.fromkeys(roots, 0)
        queue, closed, opened = list(level), [], []
        deeper: list[Node] = []
        for stage in range(depth + 1):
            for node in queue:
                if node.op not in ("add", "mul", "num", "sym"):
                    closed.append(node)
                    continue
                if node in names:
                    if stage == depth:
                        closed.append(node)
                        continue
                    opened.append(node)
                for child in _direct(node):
                    if child not in level:
                        level[child] = stage + (node in names)
                        (deeper if node in names else queue).append(child)
            queue, deeper = deeper, []
        if any(e.denominator > 1 for node in level if node.op == "mul" and node not in closed for _, e in node.args):
            return
        yield _Seen([node for node in level if node not in set(closed)], opened), closed
        if not any(node in names for node in closed):
            return


def _direct(node: Node) -> list[Node]:
    """Terms of a sum, bases of a product."""
    return (
        [term for _, term in node.args] if node.op == "add" else [b for b, _ in node.args] if node.op == "mul" else []
    )


def _value(part: Form | Node, values: Mapping[Node, Any]) -> Any:
    """A form at values of its nodes."""
    if isinstance(part, Node):
        return values[part]
    left = _value(part.left, values)
    if isinstance(part.right, Fraction):
        return left**part.right.numerator
    right = _value(part.right, values)
    match part.operation:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right


def _divided_by(seen: _Seen) -> list[Node]:
    """What the nodes that are seen divide by."""
    return [base for node in seen.nodes if node.op == "mul" for base, e in node.args if e < 0]


def _own_divisors(part: Form | Node) -> list[Node]:
    """What a form divides by, its nodes aside."""
    if isinstance(part, Node):
        return []
    if isinstance(part.right, Fraction):
        return [*_own_divisors(part.left), *([_node(part.left)] if part.right < 0 else [])]
    found = [*_own_divisors(part.left), *_own_divisors(part.right)]
    if part.operation == "/":
        divisor = _node(part.right)
        found += [_root(b, e) for b, e in divisor.args] if divisor.op == "mul" else [divisor]
    return found


def _squares(section: Section, nodes: list[Node]) -> list[str]:
    """For each square root of something positive the fact that its square is what is under it."""
    bases = {b for n in graph.topological(nodes) if n.op == "mul" for b, e in n.args if e.denominator == 2}
    known = sorted(base for base in bases if section.is_positive(base))
    facts = [section.lemma(f"0 < {section.writer(b)}", f"{section.opened(b)}pos.", "p") for b in known]
    return [f"sqrt_positive_square _ {fact}" for fact in facts]


def _nodes(part: Form | Node) -> list[Node]:
    """Every part as a node."""
    if isinstance(part, Node):
        return [part]
    return [_node(part), *_nodes(part.left), *([] if isinstance(part.right, Fraction) else _nodes(part.right))]


def _text(section: Section, part: Form | Node) -> str:
    if isinstance(part, Node):
        return section.writer(part)
    left = _text(section, part.left)
    if isinstance(part.right, Fraction):
        if part.right.denominator > 1:
            return section.writer(graph.power(_node(part.left), part.right))
        power = f"({left} ^ {abs(part.right)})"
        return f"(/ {power})" if part.right < 0 else power
    return f"({left} {part.operation} {_text(section, part.right)})"


def _node(part: Form | Node) -> Node:
    if isinstance(part, Node):
        return part
    left = _node(part.left)
    if isinstance(part.right, Fraction):
        return graph.power(left, part.right)
    right = _node(part.right)
    match part.operation:
        case "+":
            return graph.add((left, right))
        case "-":
            return graph.add((left, graph.multiply(graph.num(-1), right)))
        case "*":
            return graph.multiply(left, right)
    return graph.multiply(left, graph.power(right, Fraction(-1)))


def form_nodes(part: Form | Node) -> list[Node]:
    """The nodes that a form is made of."""
    if isinstance(part, Node):
        return [part]
    return [*form_nodes(part.left), *([] if isinstance(part.right, Fraction) else form_nodes(part.right))]


def _divisors(part: Form | Node) -> list[Node]:
    """What a form divides by, and the bases in the normal form of its parts."""
    if isinstance(part, Node):
        return [_root(b, e) for n in graph.topological([part]) if n.op == "mul" for b, e in n.args if e < 0]
    found = _divisors(part.left)
    if isinstance(part.right, Fraction):
        return [*found, *([_node(part.left)] if part.right < 0 else [])]
    found += _divisors(part.right)
    if part.operation == "/":
        divisor = _node(part.right)
        found += [_root(b, e) for b, e in divisor.args] if divisor.op == "mul" else [divisor]
    return found


def _root(base: Node, exponent: Fraction) -> Node:
    return root_parts(base, exponent)[0] if exponent.denominator > 1 else base
