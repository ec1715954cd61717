"""A section of a Coq file: variables, hypotheses, definitions, and lemmas that were needed on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..expr import graph
from ..expr.graph import Node
from .strategy import Outline, Twin, choose, functions_in, outlines, root_parts
from .terms import Writer, function, number


@dataclass(frozen=True)
class Extra:
    """A variable of an algebraic lemma that equals a root of the outline, with its value and the reason."""

    variable: str
    root: int
    value: str
    fact: str


class Section:
    """Collects what the statements of one claim need; `writer` knows the names of shared parts."""

    def __init__(self, writer: Writer, positive: Iterable[str], nonnegative: Iterable[str]) -> None:
        self.writer = writer
        self.symbols = dict(writer.symbols)
        self.positive, self.nonnegative = set(positive), set(nonnegative)
        self.lemmas: list[str] = []  # with their proofs, in order
        self.hypotheses: dict[str, str] = {}  # by name, what the statements assume besides signs of symbols
        self.needs: set[str] = set()  # libraries beyond those of every file
        self._nonzero: dict[Node, str] = {}
        self._known: dict[str, str] = {}
        self._count = 0

    def fresh(self, kind: str) -> str:
        """A new name."""
        self._count += 1
        return f"{kind}{self._count}"

    def lemma(self, statement: str, proof: str, kind: str = "h") -> str:
        """Put a lemma down and return its name."""
        if statement in self._known:
            return self._known[statement]
        name = self._known[statement] = self.fresh(kind)
        start = "Proof using." if kind == "a" else "Proof."  # algebra is for all values: no hypothesis may slip in
        self.lemmas.append(f"Lemma {name} : {statement}.\n{start} {proof} Qed.")
        return name

    def opened(self, *nodes: Node, only: bool = False) -> str:
        """A tactic that unfolds the definitions of some nodes, and unless `only` these, of all below them."""
        below = nodes if only else graph.topological(nodes)
        names = [self.writer.names[each] for each in below if each in self.writer.names]
        heads = dict.fromkeys(name.strip("(").split()[0] for name in names)  # a name may come with its arguments
        return f"cbv beta delta [{' '.join(heads)}]; " if names else ""

    def is_positive(self, node: Node) -> bool:
        """Whether its sign can be read off."""
        match node.op:
            case "num":
                return node.args[0] > 0  # type: ignore[no-any-return]
            case "sym":
                return node.args[0] in self.positive
            case "add":
                signs = [(c > 0, t is graph.ONE or self.is_positive(t), self.is_nonnegative(t)) for c, t in node.args]
                return all(c and weak for c, _, weak in signs) and any(strict for _, strict, _ in signs)
            case "mul":
                return all(self.is_positive(b) for b, _ in node.args)
        return node.op in ("exp", "sigmoid")

    def is_nonnegative(self, node: Node) -> bool:
        """Whether it can be read off that it is not negative."""
        if node.op == "sym":
            return node.args[0] in self.positive | self.nonnegative
        if node.op == "mul":
            return all(
                self.is_positive(b) or (e > 0 and (e.denominator == 2 or e % 2 == 0 or self.is_nonnegative(b)))
                for b, e in node.args
            )
        if node.op == "add":
            return all(c > 0 and self.is_nonnegative(t) for c, t in node.args)
        return self.is_positive(node) or node.op == "step"

    def given(self, statement: str) -> str:
        """A hypothesis of the statements: a part of an expression that was given a value."""
        for name, known in self.hypotheses.items():
            if known == statement:
                return name
        name = f"given_{len(self.hypotheses) + 1}"
        self.hypotheses[name] = statement
        return name

    def nonzero(self, node: Node) -> str:
        """A fact that an expression is not zero: a lemma if it is positive, else a hypothesis of the statements."""
        if node not in self._nonzero:
            text = self.writer(node)
            if self.is_positive(node) and "sigmoid" not in text:
                proof = f"{self.opened(node)}apply nonzero_positive; pos."
                self._nonzero[node] = self.lemma(f"{text} <> 0", proof, "z")
            else:
                name = f"defined_{len(self.hypotheses) + 1}"
                self.hypotheses[name] = f"{text} <> 0"
                self._nonzero[node] = name
        return self._nonzero[node]

    def equality(self, left: Node, right: Node) -> str | None:
        """A proof term of ``left = right`` by algebra, functions closed; None if that does not do it."""
        if left is right:
            return "eq_refl"
        found = choose([left, right], _agree)
        if found is None:
            twins = self.twins([left, right])
            found = choose([left, right], _agree, twins) if twins else None
        if found is None:
            return None
        return self.algebra(found, lambda texts: f"{texts[0]} = {texts[1]}")

    def twins(self, roots: Sequence[Node]) -> dict[Node, Twin]:
        """Functions at arguments that are equal, or opposite for a sigmoid, or positive multiples for a gate."""
        by_name: dict[str, list[Node]] = {}
        for node in functions_in(roots):
            by_name.setdefault(node.op, []).append(node)
        found: dict[Node, Twin] = {}
        for nodes in by_name.values():
            values = self._values([node.args[0] for node in nodes]) if len(nodes) > 1 else None
            for k, node in enumerate(nodes if values is not None else ()):
                for j in (j for j in range(k) if nodes[j] not in found):
                    twin = self._twin(node, nodes[j], values[k], values[j]) if values else None
                    if twin is not None:
                        found[node] = twin
                        break
        return found

    def _values(self, roots: Sequence[Node]) -> list[Any] | None:
        """Values modulo a prime with all sums open, where functions inside are twins if they can be."""
        *_, whole = outlines(roots)
        return replace(whole, twins=self.twins(roots)).residues()

    def _twin(self, node: Node, other: Node, value: Any, known: Any) -> Twin | None:
        (first,), (second,) = node.args, other.args
        if value == known:
            term = self.equality(first, second)
            return None if term is None else Twin(other, False, f"(f_equal {function(node.op)} {term})")
        if node.op == "sigmoid" and value == -known:
            outline = choose([first, second], lambda values: values[0] == -values[1])
            if outline is not None:
                term = self.algebra(outline, lambda texts: f"{texts[0]} = - {texts[1]}")
                fact = f"(eq_trans (f_equal sigmoid {term}) (sigmoid_opposite {self.writer(second)}))"
                return Twin(other, True, fact)
        if node.op == "step":
            factor: Any = abs(graph.linear_terms(first)[0][0] / graph.linear_terms(second)[0][0])
            for size in (Fraction(factor), Fraction(2), Fraction(1, 2)):
                if value * size.denominator == known * size.numerator:
                    return self._multiple(node, other, size)
        return None

    def _multiple(self, node: Node, other: Node, size: Fraction) -> Twin | None:
        """Two gates, the argument of one a positive multiple of that of the other."""
        (first,), (second,) = node.args, other.args
        above, below = size.numerator, size.denominator
        outline = choose([first, second], lambda values: values[0] * below == values[1] * above)
        if outline is None:
            return None
        term = self.algebra(outline, lambda texts: f"{texts[0]} = {number(size)} * {texts[1]}")
        return Twin(other, False, f"(step_scaled {number(size)} _ _ ltac:(lra) {term})")

    def algebra(
        self,
        found: Outline,
        statement: Callable[[list[str]], str],
        extra: Sequence[Extra] = (),
        divided_by: Sequence[Node] = (),
    ) -> str:
        """A lemma about an outline, for all values of its symbols, and the term that applies it to the closed parts.

        The statement divides by the roots in `divided_by`, too.
        """
        seen = found.open_nodes()
        closed = {n: f"c{k}" for k, n in enumerate(n for n in seen if n.op == "sym" or n in found.closed)}
        variables, values = list(closed.values()), [self.writer(node) for node in closed]
        writer = Writer(self.symbols, dict(closed))
        texts = [writer(root) for root in found.roots]
        divisors = {
            (root_parts(b, e)[0] if e.denominator > 1 else b): None
            for node in seen
            if node.op == "mul" and node not in closed  # of a closed part nothing is seen
            for b, e in node.args
            if e < 0
        }
        for root in divided_by:
            alone = root in closed or root.op != "mul"
            pairs = [(root, Fraction(1))] if alone else [(b, e) for b, e in root.args]
            divisors |= {(root_parts(b, e)[0] if e.denominator > 1 else b): None for b, e in pairs if b.op != "num"}
        conditions = [f"{writer(divisor)} <> 0" for divisor in divisors]
        facts = [self.nonzero(divisor) for divisor in divisors]
        quantified = [*(each.variable for each in extra), *variables]
        known = [f"{each.variable} = {texts[each.root]}" for each in extra]
        alike = [(node, twin) for node, twin in found.twins.items() if node in closed and twin.node in closed]
        known += [f"{closed[n]} = {'1 - ' if twin.opposite else ''}{closed[twin.node]}" for n, twin in alike]
        forall = f"forall {' '.join(quantified)} : R, " if quantified else ""
        whole = forall + " -> ".join([*known, *conditions, statement(texts)])
        tactic = "first [ ring | field; nonzero ]" if "/" in "".join(texts) or "/" in statement(texts) else "ring"
        name = self.lemma(whole, f"intros; subst; {tactic}.", "a")
        arguments = [*(each.value for each in extra), *(f"({v})" for v in values), *(each.fact for each in extra)]
        arguments += [twin.fact for _, twin in alike]
        return f"({' '.join([name, *arguments, *facts])})"


def _agree(values: Sequence[Any]) -> bool:
    return bool(values[0] == values[1])
