"""Comparisons of two expressions: by the sign of their difference, by enclosures of numbers, or by a search of Coq."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

import sympy as sp

from ..exact.positivity import decide_sign
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from ..stated import AT_MOST, LESS, UNEQUAL, Stated
from .section import Section
from .signs import positive_term
from .terms import NotExported, number

SIGNS = {"=": "=", LESS: "<", AT_MOST: "<=", UNEQUAL: "<>"}
ENCLOSED = "interval with (i_prec 60)"
HALVED = "interval with (i_prec 60, {}, i_depth 14)"


def compared_term(section: Section, left: Node, right: Node, relation: str) -> str:
    """A proof term of ``left < right``, ``left <= right`` or ``left <> right``."""
    gap = right - left
    sign = decide_sign(gap, section.positive, section.nonnegative)
    if relation == UNEQUAL:
        if sign == "negative":
            return f"(Rgt_not_eq _ _ {compared_term(section, right, left, LESS)})"
        if sign == "positive":
            return f"(Rlt_not_eq _ _ {compared_term(section, left, right, LESS)})"
        return searched_term(section, left, right, relation, ())
    weak = relation == AT_MOST
    if sign == "positive" or (weak and sign in ("nonnegative", "zero")):
        try:
            return _by_gap(section, left, right, gap, weak)
        except NotExported:
            pass
    return searched_term(section, left, right, relation, ())


def _by_gap(section: Section, left: Node, right: Node, gap: Node, weak: bool) -> str:
    first, second = section.writer(left), section.writer(right)
    if left is graph.ZERO:
        return positive_term(section, right, weak)
    opened = section.opened(left, right, gap)
    statement = f"{section.writer(gap)} = {second} - {first}"
    same = section.lemma(statement, f"{opened}first [ ring | field; nonzero ].", "g")
    return f"({'at_most' if weak else 'less'}_by_gap _ _ _ {same} {positive_term(section, gap, weak)})"


def assumed_term(section: Section, each: Stated, left: Node, right: Node, where: tuple[str, ...]) -> str:
    """A lemma under assumptions: at the corners of a box, or what Coq finds."""
    box = _box(each)
    if each.relation == AT_MOST and box is not None:
        form = _at_corners(section, right - left, box)
        if form:
            opened = section.opened(left, right)
            sizes = [_weight(section.symbols[n], ends, end) for n, ends in sorted(box.items()) for end in (0, 1)]
            proof = f"intros; {''.join(f'assert (0 <= {size}) by lra; ' for size in sizes)}"
            proof += f"apply Rge_le, Rminus_ge, Rle_ge; {opened}"
            proof += f"match goal with |- 0 <= ?gap__ => replace gap__ with {form} by field end; nonneg."
            statement = f"{section.writer(left)} <= {section.writer(right)}"
            return section.lemma(" -> ".join([*where, statement]), proof, "c")
    given = [node for x, _, y in each.where for node in (x, y)]
    return searched_term(section, left, right, each.relation, where, given)


def _box(each: Stated) -> dict[str, tuple[Fraction, Fraction]] | None:
    """Numbers on both sides of each symbol of which something is assumed; None where the assumptions are others."""
    low: dict[str, Fraction] = {}
    high: dict[str, Fraction] = {}
    for x, how, y in each.where:
        if how == AT_MOST and x.op == "num" and y.op == "sym":
            low[y.args[0]] = x.args[0]
        elif how == AT_MOST and x.op == "sym" and y.op == "num":
            high[x.args[0]] = y.args[0]
        else:
            return None
    return {name: (low[name], high[name]) for name in low} if low.keys() == high.keys() else None


def _at_corners(section: Section, gap: Node, box: dict[str, tuple[Fraction, Fraction]]) -> str:
    """A polynomial, linear in each symbol of a box, as a sum of nonnegative terms; empty where it is none."""
    if any(n.op not in ("num", "sym", "add") and not _power(n) for n in graph.topological([gap])):
        return ""
    moving, rest = sorted(box), sorted(graph.symbols([gap]) - box.keys())
    if not rest or any(name not in section.nonnegative | section.positive for name in rest):
        return ""
    names = {symbol.name: symbol for symbol in to_sympy(gap).free_symbols}
    generators = [names.get(name, sp.Symbol(name)) for name in (*moving, *rest)]
    try:
        terms = [(m, Fraction(int(c.p), int(c.q))) for m, c in sp.Poly(to_sympy(gap), *generators).terms()]
    except sp.PolynomialError:
        return ""
    count = len(moving)
    if any(power > 1 for m, _ in terms for power in m[:count]):
        return ""
    texts = []
    for corner in product((0, 1), repeat=count):
        ends = [box[name][end] for name, end in zip(moving, corner, strict=True)]
        found: dict[tuple[int, ...], Fraction] = {}
        for m, c in terms:
            value = c * prod((x for x, power in zip(ends, m[:count], strict=True) if power), start=Fraction(1))
            found[m[count:]] = found.get(m[count:], Fraction(0)) + value
        if min(found.values(), default=Fraction(0)) < 0:
            return ""
        weights = [_weight(section.symbols[name], box[name], end) for name, end in zip(moving, corner, strict=True)]
        for powers, c in found.items():
            factors = [f"{section.symbols[n]} ^ {power}" for n, power in zip(rest, powers, strict=True) if power]
            if c:
                size = c / prod((high - low for low, high in (box[name] for name in moving)), start=Fraction(1))
                texts.append(" * ".join([number(size), *weights, *factors]))
    return f"({' + '.join(texts) or '0'})"


def _weight(symbol: str, ends: tuple[Fraction, Fraction], end: int) -> str:
    """The share of a corner but for a factor: positive at one end and 0 at the other."""
    low, high = ends
    return f"({symbol} - {number(low)})" if end else f"({number(high)} - {symbol})"


def searched_term(
    section: Section, left: Node, right: Node, relation: str, where: tuple[str, ...], given: Sequence[Node] = ()
) -> str:
    """A lemma that Coq looks for a proof of: linear or products of what is known, or enclosures of numbers.

    `given` are the sides of the assumptions.
    """
    names = sorted(graph.symbols([left, right]))
    functions = any(n.op not in ("num", "sym", "add") and not _power(n) for n in graph.topological([left, right]))
    opened = section.opened(left, right, *given).replace("]; ", "] in *; ")
    unfolded = "unfold sigmoid, softplus, step; " if functions else ""
    if functions and (where or not names):
        section.needs.add("interval")
        cut = ", ".join(f"i_bisect {section.symbols[name]}" for name in names)
        tactics = f"lra | {ENCLOSED}" + (f" | {HALVED.format(cut)}" if cut else "")
    else:
        tactics = "lra | nra"
    if relation == UNEQUAL:
        tactics = f"apply Rlt_not_eq; first [ {tactics} ] | apply Rgt_not_eq; first [ {tactics} ]"
    proof = f"intros; {opened}{unfolded}first [ {tactics} ]."
    statement = f"{section.writer(left)} {SIGNS[relation]} {section.writer(right)}"
    return section.lemma(" -> ".join([*where, statement]), proof, "c")


def _power(node: Node) -> bool:
    return node.op == "mul" and all(e.denominator == 1 for _, e in node.args)


def premises(section: Section, each: Stated) -> tuple[str, ...]:
    """What a statement assumes besides signs of symbols."""
    return tuple(f"{section.writer(x)} {SIGNS[how]} {section.writer(y)}" for x, how, y in each.where)
