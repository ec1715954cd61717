r"""Names for display: softmax rows and subexpressions used more than once become short symbols with definitions.

A right-hand side from `graph` is exact but flat. Three exact rewritings, all on nodes, make it readable:

1. what the terms of a sum have in common is pulled out, first among terms with the same gates and loss slopes;
2. :math:`e^{a_j}/\sum_k e^{a_k}` becomes an entry of a softmax row;
3. what is used more than once and is not small gets a name; a sum found inside a longer sum counts as used there.

The result does not depend on what else was built before: terms and factors have an order of their own (`ReadingOrder`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..expr import graph
from ..expr.graph import ONE, Node, Number
from .reading_order import ReadingOrder, monomial

LARGEST_REPEATED = 6  # nodes; an expression up to this size is repeated rather than named


# ---- 1, 2: common factors and softmax rows -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SoftmaxRow:
    """A softmax row: its normaliser, and for each term of it the symbol of the entry and the exponent."""

    normaliser: Node
    symbols: tuple[Node, ...]
    powers: tuple[dict[Node, Fraction], ...]  # exponentials of each term, as a monomial

    @property
    def plain(self) -> bool:
        """True if the normaliser is a sum of exponentials without weights."""
        return all(c == 1 and all(b.op == "exp" for b in monomial(t)) for c, t in self.normaliser.args)


class _Tidy:
    """Nodes with common factors pulled out of sums, and softmax entries as symbols."""

    def __init__(self, order: ReadingOrder) -> None:
        self.order = order
        self.rows: dict[Node, SoftmaxRow] = {}
        self.means: list[Node] = []
        self.forces: dict[Node, Node] = {}  # symbol: product

    def __call__(self, roots: Sequence[Node]) -> list[Node]:
        """Tidied roots; a first round finds the products that stand beside several states."""
        seen: dict[Node, set[Node]] = {}
        self._round(roots, seen, {})
        products = [product for product, states in seen.items() if len(states) > 1]
        known = {product: graph.sym(f"#force{i}") for i, product in enumerate(products)}
        for product, symbol in known.items():
            self.order.introduce(symbol, product, self.order.place(product))
        self.forces = {symbol: product for product, symbol in known.items()}
        return self._round(roots, {}, known)

    def _round(self, roots: Sequence[Node], seen: dict[Node, set[Node]], known: Mapping[Node, Node]) -> list[Node]:
        memo: dict[Node, Node] = {}
        for node in graph.topological(roots):
            again = graph.linear_terms(graph.rebuild(node, memo.__getitem__))
            new = graph.combine((c, self._entries(t)) for c, t in again)
            terms = []
            for c, t in graph.linear_terms(new):
                states, product = _split(t)
                if states is not ONE:
                    seen.setdefault(product, set()).add(states)
                terms.append((c, states * known[product] if product in known and states is not ONE else t))
            new = graph.combine(terms)
            memo[node] = self._collected(new) if new.op == "add" and len(new.args) > 1 else new
        return [memo[root] for root in roots]

    def _entries(self, term: Node) -> Node:
        """Replace each exponential over a sum that contains it."""
        if term.op != "mul":
            return term
        left, entries = dict(term.args), [ONE]
        for base, exponent in term.args:
            row = self._row(base) if exponent < 0 and exponent.denominator == 1 else None
            if row is None:
                continue
            for symbol, wanted in zip(row.symbols, row.powers, strict=True):
                while wanted and left[base] < 0 and all(left.get(b, 0) / e >= 1 for b, e in wanted.items()):
                    for b, e in wanted.items():
                        left[b] -= e
                    left[base] += 1
                    entries.append(graph.scale(symbol, 1 / self.order.primitive(base)[0]))
            for inner in [b for b, e in left.items() if b.op == "add" and e == 1 and left[base] < 0]:
                quotients = [(c, self._entries(t / base)) for c, t in inner.args]  # a weighted mean over the row
                if all(base not in monomial(t) for _, q in quotients for _, t in graph.linear_terms(q)):
                    left[base], left[inner] = left[base] + 1, Fraction(0)
                    self.means.append(graph.combine(quotients))
                    entries.append(self.means[-1])
                    break
        if len(entries) == 1:
            return term
        return graph.multiply(*entries, *(graph.power(b, e) for b, e in left.items()))

    def _row(self, node: Node) -> SoftmaxRow | None:
        if node.op != "add":
            return None
        normaliser = self.order.primitive(node)[1]
        if normaliser not in self.rows:
            terms = self.order.terms(normaliser)
            powers = tuple({b: e for b, e in monomial(t).items() if b.op == "exp"} for _, t in terms)
            softmax = all(p or t is ONE for p, (_, t) in zip(powers, terms, strict=True)) and sum(map(bool, powers)) > 1
            if not softmax:
                return None
            symbols = tuple(graph.sym(f"#row{len(self.rows)},{j}") for j in range(len(terms)))
            for symbol, wanted in zip(symbols, powers, strict=True):
                top = graph.multiply(*(graph.power(b, e) for b, e in wanted.items()))
                self.order.introduce(symbol, top / normaliser, self.order.place(top))
            self.rows[normaliser] = SoftmaxRow(normaliser, symbols, powers)
        return self.rows[normaliser]

    def _collected(self, node: Node) -> Node:
        groups: dict[frozenset[Node], list[tuple[Number, Node]]] = {}
        for c, t in node.args:
            groups.setdefault(frozenset(b for b in monomial(t) if b.op in ("step", "sigmoid")), []).append((c, t))
        return _factored([(Fraction(1), _factored(group)) for group in groups.values()])


def _split(term: Node) -> tuple[Node, Node]:
    """A term as states times a product with a loss slope or gate and a sum; other terms have nothing to split off."""
    powers = monomial(term)
    outer = {b: e for b, e in powers.items() if b.op == "sym" and not b.args[0].startswith("#")}
    ops = {b.op for b in powers}
    if not ops & {"sigmoid", "step"} or "add" not in ops or any(e < 0 for e in powers.values()):
        return ONE, term
    states = graph.multiply(*(graph.power(b, e) for b, e in outer.items()))
    return states, graph.multiply(*(graph.power(b, e) for b, e in powers.items() if b not in outer))


def _factored(terms: Sequence[tuple[Number, Node]]) -> Node:
    """A linear combination with the factors common to all its terms pulled out."""
    total = graph.combine(terms)
    if total.op != "add" or len(total.args) == 1:
        return total
    powers = [monomial(t) for _, t in total.args]
    common = {}
    for base in powers[0]:
        exponents = [p.get(base, Fraction(0)) for p in powers]
        if all(e > 0 for e in exponents) or all(e < 0 for e in exponents):
            common[base] = min(exponents, key=abs)
    if not common:
        return total
    divisor = graph.multiply(*(graph.power(b, e) for b, e in common.items()))
    return graph.multiply(graph.combine((c, t / divisor) for c, t in total.args), divisor)


# ---- 3: names ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Definition:
    """A definition: p softmax row, Z its normaliser, H gated sum, g loss slope, G force, S sum, P product, F other."""

    kind: str
    number: int
    node: Node
    exponents: tuple[Node, ...] = ()  # of a softmax row; `node` is its normaliser
    plain: bool = True

    @property
    def symbol(self) -> str:
        """Name of the symbol that stands for it in other expressions; entry j = 1, 2, ... of a row has `,j` added."""
        return f"#{self.kind}{self.number}"


@dataclass(frozen=True, eq=False)
class NamedEquations:
    """Equations and definitions ready to be written, with the order of their terms."""

    equations: tuple[Node, ...]
    parts: tuple[Definition, ...]
    order: ReadingOrder


def name_parts(roots: Sequence[Node], names: Sequence[str]) -> NamedEquations:
    """Rewrite `roots` with named parts; `names` (states, then parameters) sets the reading order."""
    order = ReadingOrder(names)
    tidy = _Tidy(order)
    return _Namer(order, tidy(roots), tidy).named_equations(len(names))


class _Namer:
    def __init__(self, order: ReadingOrder, roots: Sequence[Node], tidy: _Tidy) -> None:
        self.order, self.roots, self.rows = order, roots, tidy.rows
        self.row_of = {symbol: row for row in tidy.rows.values() for symbol in row.symbols}
        everything = graph.topological([*roots, *tidy.rows, *tidy.means, *tidy.forces.values()])
        self.prime = {n: order.primitive(n) for n in everything if n.op == "add"}
        self.prime |= {symbol: (Fraction(1), product) for symbol, product in tidy.forces.items()}
        self.gated = {self.prime[n.args[0]][1] for n in everything if n.op == "step" and n.args[0].op == "add"}
        self.always = self.gated | set(tidy.forces.values())
        self.terms = self._absorb(everything, tidy.means)

    def named_equations(self, places: int) -> NamedEquations:
        """Name what deserves it, in reading order."""
        order = self._reading_order()
        named = self._choose(order)
        memo: dict[Node, Node] = {}
        counts: Counter[str] = Counter()
        row_number: dict[SoftmaxRow, int] = {}
        parts: list[Definition] = []

        def introduce(part: Definition, meaning: Node) -> Node:
            symbol = graph.sym(part.symbol)
            self.order.introduce(symbol, meaning, (places + len(parts),))
            parts.append(part)
            return symbol

        for node in order:
            if node in self.row_of:
                row = self.row_of[node]
                if row.symbols[0] not in memo:
                    exponents = tuple(graph.combine((e, memo[b.args[0]]) for b, e in p.items()) for p in row.powers)
                    part = Definition("p", row_number[row], memo[row.normaliser], exponents, row.plain)
                    parts.append(part)
                    for j, symbol in enumerate(row.symbols, start=1):
                        memo[symbol] = graph.sym(f"{part.symbol},{j}")
                        self.order.introduce(memo[symbol], symbol, (places + len(parts), j))
                continue
            if self._multiple(node):
                factor, base = self.prime[node]
                new = graph.scale(memo[base], factor)
            elif node.op == "add":
                new = graph.combine((c, memo[t]) for c, t in self.terms[node])
            else:
                new = graph.rebuild(node, memo.__getitem__)
            if node in self.rows:
                counts["Z"] += 1
                row_number[self.rows[node]] = counts["Z"]
            if node in named:
                kind = self._kind(node)
                if kind != "Z":
                    counts[kind] += 1
                factor, new = self.order.primitive(new)
                if new.op == "mul":
                    size = self._written_size(new)
                    factor, new = factor * size, graph.scale(new, 1 / size)
                new = introduce(Definition(kind, counts[kind], new), new) * factor
            memo[node] = new
        return self._signed([memo[root] for root in self.roots], parts)

    def _written_size(self, product: Node) -> Number:
        """What a product has to be divided by to be written without a number: x (M - 2) is kept as -2 x (1 - M/2)."""
        size = self.order.shown(Fraction(1), product)
        for base, exponent in product.args:
            terms = self.order.terms(base) if base.op == "add" and exponent % 2 == 1 else []
            if len(terms) == 2 and terms[0][1] is ONE and terms[1][1].op == "sym" and terms[1][0] < 0:
                size = -size  # written as x (M - 2), not as -x (2 - M)
        return size

    def _signed(self, equations: list[Node], parts: list[Definition]) -> NamedEquations:
        """Give each force the sign with which the equations first use it."""
        forces = {graph.sym(part.symbol) for part in parts if part.kind == "G"}
        sign: dict[Node, Number] = {}
        for equation in equations:
            for c, t in self.order.terms(equation):
                for base in forces & set(monomial(t)):
                    sign.setdefault(base, self.order.shown(c, t))
        turned = {base: -base for base, c in sign.items() if c < 0}
        definitions = []
        for part in parts:
            node, *exponents = graph.substitute([part.node, *part.exponents], turned)
            node = -node if graph.sym(part.symbol) in turned else node
            definitions.append(replace(part, node=node, exponents=tuple(exponents)))
        return NamedEquations(tuple(graph.substitute(equations, turned)), tuple(definitions), self.order)

    def _below(self, node: Node) -> list[Node]:
        if node in self.row_of:
            return [self.row_of[node].normaliser]
        if self._multiple(node):
            return [self.prime[node][1]]
        if node.op == "add":
            return [t for _, t in self.terms[node]]
        return sorted(graph.children(node), key=self.order.factor)

    def _reading_order(self) -> list[Node]:
        """Every node after what it is made of, in the order a reader of the equations meets them."""
        order: dict[Node, None] = {}
        stack = [(root, False) for root in reversed(self.roots)]
        while stack:
            node, ready = stack.pop()
            if ready:
                order[node] = None
            elif node not in order:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(self._below(node)) if child not in order)
        return list(order)

    def _choose(self, order: Sequence[Node]) -> set[Node]:
        uses: Counter[Node] = Counter(self.roots)
        in_rows: set[Node] = set()  # exponentials that are written by their exponents alone
        for node in reversed(order):
            if node in self.rows and self.rows[node].plain and not uses[node]:
                in_rows.update(base for _, term in node.args for base in monomial(term))
                continue
            if node in self.row_of or not (uses[node] or node in in_rows):
                continue
            for child in self._below(node):
                # a gate or a multiple is written out each time: what counts is the sum inside
                uses[child] += uses[node] if node.op == "step" or self._multiple(node) else 1
        named: set[Node] = set()
        size: dict[Node, int] = {}
        for node in order:
            leaf = node.op in ("num", "sym") and not self._multiple(node)
            inner = 0 if leaf else sum(1 if child in named else size[child] for child in self._below(node))
            size[node] = inner if self._multiple(node) else 1 + inner
            if leaf or self._multiple(node):
                continue
            if node in self.rows:
                if uses[node] or not self.rows[node].plain:
                    named.add(node)
            elif uses[node] > 1 and size[node] > (
                3 if node.op == "sigmoid" or node in self.always else LARGEST_REPEATED
            ):
                named.add(node)
        return named

    def _multiple(self, node: Node) -> bool:
        return node in self.prime and node is not self.prime[node][1]

    def _kind(self, node: Node) -> str:
        if node in self.rows:
            return "Z"
        if node.op == "add":
            slope = any(b.op == "sigmoid" for _, t in node.args for b in monomial(t))
            return "H" if node in self.gated else "G" if slope else "S"
        slope = any(b.op == "sigmoid" for b in monomial(node))
        return {"mul": "G" if slope else "P", "sigmoid": "g"}.get(node.op, "F")

    def _absorb(self, everything: Sequence[Node], means: Sequence[Node]) -> dict[Node, list[tuple[Number, Node]]]:
        """The terms of every primitive sum, with sums that are used elsewhere taken as one term."""
        uses: Counter[Node] = Counter(self.prime[n][1] for n in [*self.roots, *means, *means] if n.op == "add")
        for node in everything:
            uses.update(self.prime[child][1] for child in graph.children(node) if child.op == "add")
        bases = dict.fromkeys(base for _, base in self.prime.values() if base.op == "add")
        self.prime.update({base: (Fraction(1), base) for base in bases})
        starts: dict[Node, list[Node]] = {}
        for base in bases:
            if uses[base] > 1 and len(base.args) > 1 and base not in self.rows:
                starts.setdefault(self.order.terms(base)[0][1], []).append(base)
        result = {}
        for base in bases:
            left = {t: c for c, t in base.args}
            found: list[tuple[Number, Node]] = []
            inner = [u for t in left if base not in self.rows for u in starts.get(t, ()) if len(u.args) < len(left)]
            for u in sorted(inner, key=lambda u: (-len(u.args), self.order.term(1, u))):
                ratios = {left[t] / c if t in left else None for c, t in u.args}
                ratio = ratios.pop()
                if ratio is not None and not ratios:
                    found.append((ratio, u))
                    for _, t in u.args:
                        del left[t]
            rest = [(self.order.term(c, t), c, t) for t, c in left.items()]
            rest += [(self.order.term(c, self.order.terms(u)[0][1]), c, u) for c, u in found]
            result[base] = [(c, t) for _, c, t in sorted(rest)]
        return result
