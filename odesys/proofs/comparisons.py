"""Comparisons of two expressions: by the sign of their difference, by enclosures of numbers, or by a search of Coq."""

from __future__ import annotations

from ..exact.positivity import decide_sign
from ..expr import graph
from ..expr.graph import Node
from ..stated import AT_MOST, LESS, UNEQUAL, Stated
from .section import Section
from .signs import positive_term
from .terms import NotExported

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
    opened = section.opened(graph.call("exp", left) + graph.call("exp", right) + graph.call("exp", gap))
    same = section.lemma(f"{section.writer(gap)} = {second} - {first}", f"{opened}first [ ring | field; nonzero ].", "g")
    return f"({'at_most' if weak else 'less'}_by_gap _ _ _ {same} {positive_term(section, gap, weak)})"


def searched_term(section: Section, left: Node, right: Node, relation: str, where: tuple[str, ...]) -> str:
    """A lemma that Coq looks for a proof of: linear or products of what is known, or enclosures of numbers."""
    names = sorted(graph.symbols([left, right]))
    functions = any(n.op not in ("num", "sym", "add") and not _power(n) for n in graph.topological([left, right]))
    opened = section.opened(graph.call("exp", left) + graph.call("exp", right))
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
