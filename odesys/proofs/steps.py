"""Substitutions step by step: a map at given arguments equals the expression that the engine has for it.

For each part of the map that changes there is one small lemma, so that no step multiplies out more than it has to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..expr import graph
from ..expr.graph import ONE, ZERO, Node
from ..stated import Substituted
from .section import Extra, Section
from .strategy import Outline, at_residues, choose, is_root, root_parts
from .terms import NotExported, Writer, definitions, function, number

MAPS = (
    "(* map_k is a side of a statement before values are put in, such as a rate as derived; "
    "part_k is what maps share *)"
)


class Maps:
    """Expressions as functions of their symbols, defined together in one section; shared parts are functions too."""

    def __init__(self, bodies: Iterable[Node], chosen: Mapping[Node, str] | None = None) -> None:
        self.bodies = list(dict.fromkeys(bodies))
        self.chosen = chosen or {body: f"map_{k}" for k, body in enumerate(self.bodies, start=1)}
        self.names: dict[Node, str] = {}
        self.symbols = sorted(graph.symbols(self.bodies))
        self.needs: dict[Node, frozenset[str]] = {}
        none: frozenset[str] = frozenset()
        for node in graph.topological(self.bodies):
            below = (self.needs[child] for child in graph.children(node))
            self.needs[node] = frozenset({node.args[0]}) if node.op == "sym" else none.union(*below)

    def text(self, symbols: Mapping[str, str], titles: Mapping[Node, str]) -> str:
        """The section with the definitions; at its end its variables become arguments."""
        if not self.bodies:
            return ""
        writer, found = definitions(self.bodies, symbols, "part_", self.chosen)
        self.names = dict(writer.names)
        lines = ["Section maps.", MAPS]
        if self.symbols:
            lines.append(f"Variables {' '.join(symbols[name] for name in self.symbols)} : R.")
        for node, body in found:
            lines += [f"(* {titles[node]} *)"] if node in titles else []
            lines.append(f"Definition {self.names[node]} : R := {body}.")
        return "\n".join([*lines, "End maps."])

    def applied(self, values: Mapping[str, str]) -> Writer:
        """Writes parts of the maps with values for their symbols."""
        names = {}
        for node, name in self.names.items():
            names[node] = f"({' '.join([name, *(values[each] for each in sorted(self.needs[node]))])})"
        return Writer(values, names)


def values_used(origin: Substituted) -> dict[Node, Node]:
    """What was put in."""
    return {key: graph.as_node(value) for key, value in origin.values.items() if graph.as_node(value) is not key}


class Steps:
    """Proofs that parts of maps at given arguments equal their images; each part once."""

    def __init__(self, section: Section, maps: Maps, values: Mapping[Node, Node]) -> None:
        self.section, self.values = section, values
        texts = {}
        for name in maps.symbols:
            value = values.get(graph.sym(name))
            texts[name] = section.symbols[name] if value is None else section.writer(value)
        self.writer = maps.applied(texts)
        self.image: dict[Node, Node] = {}
        self.fact: dict[Node, str] = {}
        self.still: set[Node] = set()  # parts without a symbol that has a value

    def text(self, body: Node) -> str:
        """A map at its arguments."""
        return self.writer(body)

    def proof(self, body: Node) -> str:
        """A term that proves a map at its arguments equal to the image of its body."""
        for node in graph.topological([body]):
            if node in self.fact:
                continue
            self.image[node] = self.values[node] if node in self.values else graph.rebuild(node, self.image.__getitem__)
            if node not in self.values and all(child in self.still for child in graph.children(node)):
                self.still.add(node)
            if node in self.still or node.op in ("num", "sym"):  # (-x)(-y) is x y again, but that is no definition
                self.fact[node] = "eq_refl"
            elif node in self.values:
                self.fact[node] = self._given(node)
            elif node.op == "add":
                self.fact[node] = self._combined(node, [t for _, t in node.args if t is not ONE])
            elif node.op == "mul":
                self.fact[node] = self._combined(node, [self._factor(b, e) for b, e in node.args])
            else:
                self.fact[node] = self._function(node)
        return self.fact[body]

    def _combined(self, node: Node, parts: list[Node]) -> str:
        """A sum or product: equal parts, put together, give the image."""
        stand_ins = [graph.sym(f"@y{k}") for k in range(len(parts))]
        own = _shallow(node, parts, stand_ins)
        images = [self.image[part] for part in parts]
        names = [symbol.args[0] for symbol in stand_ins]

        def agrees(values: Sequence[Any]) -> bool:
            return at_residues([own], dict(zip(names, values[:-1], strict=True))) == [values[-1]]

        found = choose([*images, self.image[node]], agrees)
        if found is None:
            raise NotExported("a step of a substitution is not closed by algebra")
        extra = [Extra(f"y{k}", k, self.writer(part), self.fact[part]) for k, part in enumerate(parts)]
        inside = Writer({}, {part: f"y{k}" for k, part in enumerate(parts)})
        below = {self._factor(b, e) for b, e in node.args if e < 0} if node.op == "mul" else set()
        divided_by = [image for part, image in zip(parts, images, strict=True) if part in below]
        term = self.section.algebra(found, lambda texts: f"{inside.body(node)} = {texts[-1]}", extra, divided_by)
        return self._kept(node, term)

    def _factor(self, base: Node, exponent: Fraction) -> Node:
        """A factor, or the root of which it is a power."""
        if exponent.denominator == 1:
            return base
        root, _ = root_parts(base, exponent)
        if root in self.fact:
            return root
        inner = self.image[base]
        if base in self.still:
            self.image[root], self.fact[root] = root, "eq_refl"
            return root
        if exponent.denominator > 2:
            raise NotExported("values are put under a root that is no square root, which is not exported yet")
        image = self.image[root] = graph.power(inner, Fraction(1, 2))
        fact = f"(f_equal sqrt {self.fact[base]})"
        if not (is_root(image) and image.args[0][0] is inner):
            fact = f"(eq_trans {fact} {self._square_root(inner, image)})"
        self.fact[root] = self._kept(root, fact)
        return root

    def _square_root(self, square: Node, root: Node) -> str:
        """A square root that the engine has as something else: positive, and with the right square."""
        section = self.section
        if not section.is_positive(root):
            raise NotExported("a square root of something whose sign is not known")
        text, whole = section.writer(root), section.writer(square)
        opened = section.opened(root, square)
        sure = section.lemma(f"0 < {text}", f"{opened}pos.", "p")
        roots = {b for n in graph.topological([root, square]) if is_root(n) for b, _ in n.args}
        known = [section.lemma(f"0 < {section.writer(b)}", f"{section.opened(b)}pos.", "p") for b in sorted(roots)]
        facts = "".join(f"assert (Q{k} := sqrt_positive_square _ {fact}); " for k, fact in enumerate(known))
        use = f" | field [{' '.join(f'Q{k}' for k in range(len(known)))}]; nonzero" if known else ""
        same = section.lemma(f"{text} * {text} = {whole}", f"{facts}{opened}first [ ring | field; nonzero{use} ].", "q")
        return f"(sqrt_is _ _ {sure} {same})"

    def _given(self, node: Node) -> str:
        """A part that was given a value, such as a gate: a hypothesis, unless the values decide it."""
        inner = self.image.get(node.args[0]) if node.op == "step" else None
        if inner is not None and inner.op == "num":
            if graph.step(inner) is not self.values[node]:
                raise NotExported("a gate is given a value that its argument contradicts")
            return self._gate(node)
        return self.section.given(f"{self.writer.body(node)} = {self.section.writer(self.values[node])}")

    def _function(self, node: Node) -> str:
        (argument,) = node.args
        image, inner, fact = self.image[node], self.image[argument], self.fact[argument]
        if image.op == node.op and image.args[0] is inner:
            return self._kept(node, f"(f_equal {function(node.op)} {fact})")
        if node.op == "exp" and inner is ZERO:
            return self._kept(node, f"(eq_trans (f_equal exp {fact}) exp_0)")
        if node.op == "exp" and image.op == "mul":
            return self._kept(node, f"(exp_opposite _ _ (eq_trans {fact} {self._multiple(inner, -inner, '- ')}))")
        if node.op == "step":
            return self._gate(node)
        raise NotExported(f"the values that are put in change the function {node.op}")

    def _gate(self, node: Node) -> str:
        (argument,) = node.args
        inner, fact = self.image[argument], self.fact[argument]
        if inner.op == "num":
            name = "step_on" if inner.args[0] > 0 else "step_off"
            text = f"{self.writer.body(node)} = {1 if inner.args[0] > 0 else 0}"
            put = "" if fact == "eq_refl" else f"rewrite {fact}; "
            return self.section.lemma(text, f"rewrite {name}; [ reflexivity | {put}lra ].", "e")
        (normal,) = self.image[node].args
        factor = graph.linear_terms(inner)[0][0] / graph.linear_terms(normal)[0][0]
        proof = f"(step_scaled {number(factor)} _ _ ltac:(lra) (eq_trans {fact} "
        return self._kept(node, f"{proof}{self._multiple(inner, normal, f'{number(factor)} * ')}))")

    def _multiple(self, inner: Node, other: Node, factor: str) -> str:
        """One expression is a multiple of another."""
        whole = Outline((inner, other), _term_parts([inner, other]))
        return self.section.algebra(whole, lambda texts: f"{texts[0]} = {factor}{texts[1]}")

    def _kept(self, node: Node, term: str) -> str:
        statement = f"{self.writer(node)} = {self.section.writer(self.image[node])}"
        return self.section.lemma(statement, f"exact {term}.", "e")


def _shallow(node: Node, parts: list[Node], stand_ins: list[Node]) -> Node:
    put = dict(zip(parts, stand_ins, strict=True))
    if node.op == "add":
        return graph.combine((c, put.get(t, ONE)) for c, t in node.args)
    powers = (root_parts(b, e) if e.denominator > 1 else (b, e) for b, e in node.args)
    return graph.multiply(*(graph.power(put[b], e) for b, e in powers))


def _term_parts(sums: Sequence[Node]) -> tuple[Node, ...]:
    """The terms of sums, closed where they are no symbols."""
    return tuple({t: None for each in sums for _, t in graph.linear_terms(each) if t.op not in ("num", "sym")})
