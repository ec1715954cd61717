r"""Named rewriting: every function becomes an atom or a rational function of atoms.

Atoms are symbols whose name starts with ``@``. The rules hold wherever both sides are defined:

.. math::
    e^{2x+y} = X^2 Y, \quad \sigma(x) = \frac{X}{1+X}, \quad \tanh x = \frac{X^2-1}{X^2+1}, \quad
    \cos(x+y) = c_x c_y - s_x s_y, \quad \log(p\,q) = \log p + \log q, \quad (p\,q)^e = p^e q^e,

the last two for positive p; a gate and its opposite share an atom. `odesys.exact.expansion` decides what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction

import flint

from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import ONE, ZERO, Node, add, combine, multiply, num, power, scale, sym
from .expansion import Expansion, Relations, TooLarge, factors, linear_terms

LARGEST_ANGLE = 12  # an angle is added up from at most this many parts
MOST_TERMS = 32  # of the cosine of a sum
PASSES = 3  # nested angles may each need one
LARGEST_ARGUMENT = 400  # terms of an argument that is brought to normal form
_FACTOR_LIMIT = 10**18  # larger integers under a root or logarithm are not factored


def has_floats(roots: Iterable[Node]) -> bool:
    """True if a float occurs anywhere: then nothing can be proved."""
    for node in graph.topological(roots):
        if node.op == "num" and isinstance(node.args[0], float):
            return True
        if node.op == "add" and any(isinstance(c, float) for c, _ in node.args):
            return True
    return False


class Rewriter:
    """Rewrites expressions to sums, products and rational powers of symbols and atoms.

    Parameters
    ----------
    positive : names taken to be positive; exponentials always are.
    """

    def __init__(self, positive: Collection[str] = ()) -> None:
        self.positive: dict[Node, bool] = {sym(name): True for name in positive}
        self.atoms: dict[tuple[str, Node], Node] = {}
        self.meaning: dict[Node, tuple[str, Node]] = {}  # of an atom: function and argument
        self.relations = Relations()
        self._memo: dict[Node, Node] = {}
        self._unit: dict[Node, int] = {}  # angles are counted in units term / n
        self._stale = False
        self._rules: dict[str, Callable[[Node], Node]] = {
            "exp": self._exp,
            "log": self._log,
            "step": self._step,
            "sin": lambda a: self._angle(a)[1],
            "cos": lambda a: self._angle(a)[0],
        }

    def __call__(self, roots: Iterable[Node]) -> list[Node]:
        """The rewritten `roots`; raises ZeroDivisionError where a divisor turns out to vanish identically."""
        roots = list(roots)
        for _ in range(PASSES):
            self._stale = False
            self._rewrite(roots)
            result = [self._memo[root] for root in roots]
            if not self._stale:
                break
            self._memo.clear()  # an angle was split after its multiples had been rewritten: again, in finer units
        return result

    def _rewrite(self, roots: list[Node]) -> None:
        for node in graph.topological(roots):
            if node in self._memo:
                continue
            if node.op in ("num", "sym"):
                new = node
            elif node.op == "add":
                new = combine((c, self._memo[t]) for c, t in node.args)
            elif node.op == "mul":
                new = multiply(*(self._power(self._memo[b], e) for b, e in node.args))
            else:
                new = self._call(node.op, self._memo[node.args[0]])
            self._memo[node] = new

    def _call(self, name: str, argument: Node) -> Node:
        """A function by its rule, through other functions, or as an atom."""
        argument, record = self.normal(argument), FUNCTIONS[name]
        if name in self._rules:
            return self._rules[name](argument)
        if record.through is not None:
            return record.through(argument, self._call)  # type: ignore[no-any-return]
        return self._odd(name, argument) if record.odd else self._atom(name, argument)

    def normal(self, node: Node) -> Node:
        """`node` multiplied out and cancelled if that stays small, so that equal arguments share an atom."""
        nested = any(base.op == "add" for _, term in linear_terms(node) for base, _ in factors(term))
        return self._expand(node) if nested else node

    def _expand(self, node: Node, divided: bool = False) -> Node:
        try:
            return Expansion(node, self.relations, None, LARGEST_ARGUMENT).node(divided)
        except TooLarge:
            return node

    def _linear(self, node: Node) -> Sequence[tuple[Fraction, Node]]:
        """Terms of an argument of exp or cos, divided with remainder, so that linear relations between them show."""
        divides = any(b.op == "add" and e < 0 for _, term in linear_terms(node) for b, e in factors(term))
        return linear_terms(self._expand(node, True) if divides else node)

    def _atom(self, kind: str, argument: Node) -> Node:
        key = kind, argument
        if key not in self.atoms:
            self.atoms[key] = sym(f"@{kind}{len(self.atoms)}")
            self.meaning[self.atoms[key]] = key
            if kind == "exp":
                self.positive[self.atoms[key]] = True
        return self.atoms[key]

    def _is_positive(self, node: Node) -> bool:
        if node not in self.positive:
            if node.op == "num":
                known = node.args[0] > 0
            elif node.op == "add":
                known = all(c > 0 and self._is_positive(t) for c, t in node.args)
            else:
                known = node.op == "mul" and all(self._is_positive(b) for b, _ in node.args)
            self.positive[node] = known
        return self.positive[node]

    def _split(self, node: Node) -> tuple[list[tuple[Node, Fraction]], Node]:
        """Factors known to be positive (numbers as prime powers), and the rest, with the sign."""
        known: dict[Node, Fraction] = {}
        if node.op == "add" and len(node.args) > 1:  # take out common powers of exponentials: 1 + 1/X = (1 + X)/X
            powers = [dict(factors(term)) for _, term in node.args]
            for base in sorted({b for p in powers for b in p if b.op == "sym" and self.positive.get(b)}):
                low = min(p.get(base, Fraction(0)) for p in powers)
                if low:
                    known[base] = low
                    node = combine((c, multiply(t, power(base, -low))) for c, t in linear_terms(node))
        leading = linear_terms(node)[0][0]
        rest = scale(node, 1 / abs(leading))
        single = len(linear_terms(rest)) == 1
        for base, exponent in factors(linear_terms(rest)[0][1]) if single else ((rest, Fraction(1)),):
            if self._is_positive(base):
                known[base] = known.get(base, Fraction(0)) + exponent
                rest = multiply(rest, power(base, -exponent))
        return list(known.items()) + list(primes(abs(leading))), rest

    def _power(self, base: Node, exponent: Fraction) -> Node:
        if base is ZERO and exponent < 0:
            raise ZeroDivisionError("a divisor vanishes identically")
        if base is ZERO or exponent.denominator == 1:
            return power(base, exponent)
        known, rest = self._split(self.normal(base))
        return multiply(*(power(b, e * exponent) for b, e in known), power(rest, exponent))

    def _exp(self, a: Node) -> Node:
        if a is ZERO:
            return ONE
        parts = []
        for c, term in self._linear(a):
            name, inner = self.meaning.get(term, ("", ONE))
            parts.append(self._power(inner, c) if name == "log" else power(self._atom("exp", term), c))
        return multiply(*parts)

    def _log(self, a: Node) -> Node:
        if a is ZERO:
            raise ZeroDivisionError("the argument of a logarithm vanishes identically")
        known, rest = self._split(a)
        parts = [ZERO if rest is ONE else self._atom("log", rest)]
        for base, exponent in known:
            name, inner = self.meaning.get(base, ("", ONE))
            parts.append(scale(inner if name == "exp" else self._atom("log", base), exponent))
        return add(parts)

    def _angle(self, a: Node) -> tuple[Node, Node]:
        """Cosine and sine of a sum of angles, by the addition theorem."""
        turns: list[tuple[int, Node, int]] = []  # how often, which angle, which way
        for c, term in self._linear(a) if a is not ZERO else ():
            parts = math.lcm(self._unit.get(term, 1), c.denominator)
            if parts > LARGEST_ANGLE:
                parts = c.denominator
            elif parts > self._unit.get(term, 1):
                self._unit[term], self._stale = parts, True
            turns.append((abs(int(c * parts)), scale(term, Fraction(1, parts)), 1 if c > 0 else -1))
        added = self._add_angles(turns) if sum(count for count, _, _ in turns) <= LARGEST_ANGLE else None
        if added is not None:
            return added
        way = Fraction(1 if linear_terms(a)[0][0] > 0 else -1)
        cosine, sine = self._angle_atoms(scale(a, way))
        return cosine, scale(sine, way)

    def _angle_atoms(self, angle: Node) -> tuple[Node, Node]:
        cosine, sine = self._atom("cos", angle), self._atom("sin", angle)
        self.relations.sine[cosine] = sine
        return cosine, sine

    def _add_angles(self, turns: Sequence[tuple[int, Node, int]]) -> tuple[Node, Node] | None:
        """Cosine and sine of the sum, None if they become too long."""
        cosine, sine = ONE, ZERO
        for count, angle, way in turns:
            c1, s1 = self._angle_atoms(angle)
            turned = scale(s1, Fraction(way))
            for _ in range(count):
                cosine, sine = cosine * c1 - sine * turned, sine * c1 + cosine * turned
                cosine, sine = self._expand(cosine), self._expand(sine)
                if len(linear_terms(cosine)) > MOST_TERMS:
                    return None
        return cosine, sine

    def _step(self, a: Node) -> Node:
        if self._is_positive(a) or self._is_positive(-a) or a is ZERO:
            return ONE if self._is_positive(a) else ZERO
        a = scale(a, 1 / abs(linear_terms(a)[0][0]))
        if ("step", a) not in self.atoms and ("step", -a) in self.atoms:  # not h > 0, unless h = 0
            gate, edge = self.atoms["step", -a], self._atom("edge", -a)
            self.relations.edges[edge] = gate, -a
            return ONE - gate - edge
        gate = self._atom("step", a)
        self.relations.gates.add(gate)
        return gate

    def _odd(self, name: str, a: Node) -> Node:
        if a is ZERO:
            return ZERO
        return -self._atom(name, -a) if linear_terms(a)[0][0] < 0 else self._atom(name, a)


def primes(value: Fraction) -> Iterator[tuple[Node, Fraction]]:
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        if part > _FACTOR_LIMIT:
            yield num(part), Fraction(sign)
        elif part > 1:
            yield from ((num(int(p)), Fraction(sign * e)) for p, e in flint.fmpz(part).factor())
