r"""The one zero test: zero, non-zero with a witness, or undecided with the residual.

``zero`` is a proof: the expression is rewritten to a rational function of atoms by named rules and vanishes in exact
arithmetic, term by term with each divisor for itself (`odesys.exact.partial_fractions`), or else over one denominator
(`odesys.exact.rewriting`, `odesys.exact.expansion`). ``nonzero`` is a certificate: at an exact rational point an
enclosing ball excludes zero. Everything else is ``undecided``. Floats are never proofs: a float v stands for any number
within :math:`2^{-50}\max(1, |v|)` of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import flint

from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import ZERO, Node
from ..expr.tape import Arithmetic, Tape
from .balls import ball_number, ball_program
from .expansion import Expansion, TooLarge, factors, linear_terms, nested_sums
from .partial_fractions import NotRational, PartialFractions
from .rewriting import Rewriter, has_floats

PRECISIONS = (64, 128, 256, 512, 1024)  # bits
POINTS = 12
OUTLINES = (1, 2, 3)  # depths of nested sums
PRIME = 2**61 - 1
SHORT = 160  # characters of an expression that is printed
EXPANSION_LIMIT = 1_000_000  # products of terms in one multiplication


Points = Callable[[Sequence[str], int], Iterable[Mapping[str, Fraction]]]  # from names and a seed


@dataclass(frozen=True, repr=False)
class ZeroResult:
    """What is known about an expression.

    Attributes
    ----------
    answer : ``zero``, ``nonzero`` or ``undecided``.
    witness : for ``nonzero`` a rational value for each symbol; substitute it by hand to see.
    value : the ball that encloses the expression there, as text.
    residual : for ``undecided`` what could not be decided.
    method : how the answer was reached.
    """

    answer: str
    witness: Mapping[str, Fraction] | None
    value: str | None
    residual: Node | None
    method: str

    def __repr__(self) -> str:
        point = {name: str(value) for name, value in (self.witness or {}).items()}
        more = (
            f": {self.value} at {point}"
            if point
            else f": {in_short(self.residual)}"
            if self.residual is not None
            else ""
        )
        return f"<ZeroResult: {self.answer}, {self.method}{more}>"

    def __bool__(self) -> bool:
        raise TypeError("a zero test has three answers; compare .answer with 'zero', 'nonzero' or 'undecided'")


def zero_test(
    node: Any,
    positive: Collection[str] = (),
    seed: int = 0,
    points: Points | None = None,
    rewriter: Rewriter | None = None,
) -> ZeroResult:
    """Decide whether an expression vanishes wherever it is defined.

    Parameters
    ----------
    node : Any
        The expression (a node, or anything `graph.as_node` takes).
    positive : Collection[str], optional
        Names taken to be positive: roots and logarithms of their products split, witnesses respect them.
    seed : int, optional
        Of the rational points tried as witnesses.
    points : Points, optional
        Where witnesses come from instead, e.g. `natural_points(flow)`: from names and a seed to rational points.
    rewriter : Rewriter, optional
        One for several expressions, with the same `positive`, so that what they share is rewritten once.

    Returns
    -------
    ZeroResult
        Answer ``zero``, ``nonzero`` or ``undecided``, with how it is known.

    Examples
    --------
    >>> x = graph.sym("x")
    >>> zero_test(graph.call("sigmoid", x) + graph.call("sigmoid", -x) - 1).answer
    'zero'
    >>> zero_test(x * x - x).witness is None
    False
    """
    node = graph.as_node(node)
    if node is ZERO:
        return ZeroResult("zero", None, None, None, "it cancels as written")
    if has_floats([node]):  # rounding of coefficients has no bound here, so neither answer would be safe
        return ZeroResult("undecided", None, None, node, "floats are never proofs")
    tried = points_for([node], positive, seed, points)
    for step, precision in enumerate(PRECISIONS):
        for point, ball in ball_values(node, tried, precision):
            if ball is not None and ball.is_finite() and not ball.contains(0):
                method = f"ball arithmetic with {precision} bits at a rational point"
                return ZeroResult("nonzero", dict(point), str(ball), None, method)
        if step == 0:  # a witness is cheap and was not found: time for a proof
            method = prove_zero(node, positive, rewriter)
            if method:
                return ZeroResult("zero", None, None, None, method)
    return ZeroResult("undecided", None, None, node, f"no proof by the rules, no witness with {PRECISIONS[-1]} bits")


def in_short(node: Node) -> str:
    """An expression as text if that is short, otherwise its size and a short term of it.

    >>> in_short(graph.sym("x") + 1), in_short(graph.add(graph.sym(f"x{k}") for k in range(99)))
    ('x + 1', 'a sum of 99 terms in 99 symbols, such as x0')
    """
    text = _short_text(node)
    if text:
        return text
    kind, parts = ("product", "factors") if node.op == "mul" else ("sum", "terms")
    count, names = len(node.args), len(graph.symbols([node]))
    size = f"a {kind} of {count} {parts}" if count > 1 else f"an expression of {len(graph.topological([node]))} nodes"
    terms = (graph.scale(term, c) for c, term in node.args) if node.op == "add" else ()
    example = next(filter(None, map(_short_text, terms)), "")
    return f"{size} in {names} symbols" + (f", such as {example}" if example else "")


def _short_text(node: Node) -> str:
    """The text of an expression, empty if it is long; a long one is not written first."""
    leaves: dict[Node, int] = {}
    for each in graph.topological([node]):
        leaves[each] = sum(leaves[child] for child in graph.children(each)) or 1
    text = repr(node).removeprefix("Node(").removesuffix(")") if leaves[node] <= SHORT // 2 else ""
    return text if len(text) <= SHORT else ""


def prove_zero(node: Node, positive: Collection[str] = (), rewriter: Rewriter | None = None) -> str:
    """How the exact expression `node` was proved to be zero; the empty text if it was not."""
    for depth, outline in _outlines(node):
        if _may_vanish(outline) and _cancels(outline):
            return f"named rewriting, each divisor for itself, sums to depth {depth}"
    if _cancels(node):
        return "named rewriting, each divisor for itself"
    rewriter = Rewriter(positive) if rewriter is None else rewriter
    try:
        (root,) = rewriter([node])
    except ZeroDivisionError:  # defined nowhere
        return ""
    if root is ZERO:
        return "named rewriting"
    # shallow first, and divisors last: nested sums as opaque symbols keep the expansion small, and often suffice
    for divisors in (False, True):
        complete, depth = False, 0
        while not complete:
            depth += 1
            try:
                expansion = Expansion(root, rewriter.relations, depth, EXPANSION_LIMIT, divisors)
            except (TooLarge, ZeroDivisionError):
                break
            if expansion.is_zero():
                return f"named rewriting, then exact expansion of sums to depth {depth}"
            complete = expansion.complete
    return ""


def _cancels(node: Node) -> bool:
    try:
        return not PartialFractions()(node)
    except (NotRational, TooLarge, ZeroDivisionError):
        return False


def _outlines(node: Node) -> Iterator[tuple[int, Node]]:
    """The expression with functions, divisors and deeper sums as symbols, by depth.

    Zero for all values of these is zero for the values they have, and a product with a sum over samples is not
    multiplied out where it cancels as it is.
    """
    for depth in OUTLINES:
        opened, complete = nested_sums([node], depth, divisors=False)
        bases = (base for each in opened for _, term in linear_terms(each) for base, _ in factors(term))
        hidden = [b for b in dict.fromkeys(bases) if b.op != "sym" and (b not in opened or b.op in FUNCTIONS)]
        yield depth, graph.substitute([node], {base: graph.sym(f"@{k}") for k, base in enumerate(hidden)})[0]
        if complete:
            break


def _residue(value: Any) -> Any:
    return flint.nmod(value.numerator, PRIME) / value.denominator


def _may_vanish(outline: Node) -> bool:
    """Whether an outline is zero at a random point modulo a prime: no proof, it only saves expansions in vain."""
    rng, residues = random.Random(0), Arithmetic({}, _residue)
    point = {name: flint.nmod(rng.randrange(PRIME), PRIME) for name in sorted(graph.symbols([outline]))}
    try:
        return not Tape.of([outline]).over(residues)(point)[0]
    except (TypeError, ZeroDivisionError):  # a root, or a divisor that is zero there
        return True


def points_for(
    nodes: Iterable[Node], positive: Collection[str], seed: int = 0, points: Points | None = None
) -> list[Mapping[str, Fraction]]:
    """The rational points at which expressions are tried: those of `points` that respect `positive`, or small ones."""
    names = sorted(graph.symbols(nodes))
    if points is None:
        return _small_points(tuple(names), frozenset(positive).intersection(names), seed)
    found = islice(points(names, seed), POINTS if names else 1)
    return [point for point in found if all(value > 0 for name, value in point.items() if name in positive)]


@lru_cache(maxsize=256)
def _small_points(names: tuple[str, ...], positive: frozenset[str], seed: int) -> list[Mapping[str, Fraction]]:
    return [MappingProxyType(point) for point in rational_points(names, positive, seed)]


def rational_points(
    names: Sequence[str], positive: Collection[str] = (), seed: int = 0
) -> Iterator[dict[str, Fraction]]:
    """Small rational points on several scales; every other one has positive entries only.

    Parameters
    ----------
    names : Sequence[str]
        The symbols.
    positive : Collection[str], optional
        Names that are positive at every point.
    seed : int, optional
        Of the random choices.

    Returns
    -------
    Iterator[dict[str, Fraction]]
        `POINTS` points, a fraction per name; one without names.

    Examples
    --------
    >>> next(rational_points(["x", "y"], positive=["y"]))
    {'x': Fraction(-13, 8), 'y': Fraction(7, 4)}
    """
    rng = random.Random(seed)
    for k in range(POINTS if names else 1):
        largest, denominator = ((16, 8), (12, 16), (48, 8), (160, 8))[k // 2 % 4]
        point = {}
        for name in names:
            value = Fraction(rng.randint(1, largest), denominator)
            point[name] = value if name in positive or k % 2 or rng.random() < 0.5 else -value
        yield point


def ball_values(
    node: Node, points: Iterable[Mapping[str, Fraction]], precision: int
) -> Iterator[tuple[Mapping[str, Fraction], Any]]:
    """Rational points, each with the ball that encloses an expression there; None where it divides by zero."""
    program = ball_program([node], precision)
    for point in points:
        with flint.ctx.workprec(precision):
            env = {name: ball_number(value) for name, value in point.items()}
        try:
            (ball,) = program(env)
        except ZeroDivisionError:
            ball = None
        yield point, ball
