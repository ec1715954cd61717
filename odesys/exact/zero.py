r"""The one zero test: zero, non-zero with a witness, or undecided with the residual.

``zero`` is a proof: the expression is rewritten to a rational function of atoms by named rules and its numerator
vanishes in exact arithmetic (`odesys.exact.rewriting`, `odesys.exact.expansion`). ``nonzero`` is a certificate: at an
exact rational point an enclosing ball excludes zero. Everything else is ``undecided``. Floats are never proofs: a float
v stands for any number within :math:`2^{-50}\max(1, |v|)` of it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from ..expr import graph
from ..expr.graph import ZERO, Node
from .balls import ball_number, ball_program
from .expansion import Expansion, TooLarge
from .rewriting import Rewriter, has_floats

PRECISIONS = (64, 128, 256, 512, 1024)  # bits
POINTS = 12
EXPANSION_LIMIT = 1_000_000  # products of terms in one multiplication


@dataclass(frozen=True)
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

    def __bool__(self) -> bool:
        raise TypeError("a zero test has three answers; compare .answer with 'zero', 'nonzero' or 'undecided'")


def zero_test(node: Any, positive: Collection[str] = (), seed: int = 0) -> ZeroResult:
    """Decide whether an expression vanishes wherever it is defined.

    Parameters
    ----------
    node : the expression (a node, or anything `graph.as_node` takes).
    positive : names taken to be positive: roots and logarithms of their products split, witnesses respect them.
    seed : of the rational points tried as witnesses.

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
    points = list(rational_points(sorted(graph.symbols([node])), positive, seed))
    for step, precision in enumerate(PRECISIONS):
        for point, ball in ball_values(node, points, precision):
            if ball is not None and ball.is_finite() and not ball.contains(0):
                method = f"ball arithmetic with {precision} bits at a rational point"
                return ZeroResult("nonzero", point, str(ball), None, method)
        if step == 0:  # a witness is cheap and was not found: time for a proof
            method = prove_zero(node, positive)
            if method:
                return ZeroResult("zero", None, None, None, method)
    return ZeroResult("undecided", None, None, node, f"no proof by the rules, no witness with {PRECISIONS[-1]} bits")


def prove_zero(node: Node, positive: Collection[str] = ()) -> str:
    """How the exact expression `node` was proved to be zero; the empty text if it was not."""
    rewriter = Rewriter(positive)
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


def rational_points(
    names: Sequence[str], positive: Collection[str] = (), seed: int = 0
) -> Iterator[dict[str, Fraction]]:
    """Small rational points on several scales; every other one has positive entries only.

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
