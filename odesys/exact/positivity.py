r"""Signs of rational functions of exponentials and counts, for all values at once, by the signs of coefficients.

.. math::  x > 0:\quad e^{x} = 1 + u,\ u > 0 ;\qquad
           \frac{\sum_k a_k m_k}{\sum_k b_k m_k} > 0 \ \text{ if all } a_k, b_k \ge 0 \text{ and some monomial with a
           positive coefficient has only positive factors, above and below.}

The test is sufficient, not necessary: what it does not decide stays ``unknown``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .. import stated
from ..expr import graph
from ..expr.graph import ONE, Node, sym
from ..stated import EQUAL, LESS, Stated
from ..verdicts import Evidence, Proof, Verdict, proved, refuted, undecided
from .evidence import assumptions, six_digits
from .expansion import Expansion, TooLarge
from .rewriting import Rewriter, has_floats
from .zero import PRECISIONS, Points, ball_values, points_for

EXPANSION_LIMIT = 100_000
METHOD = "coefficients of one sign, with e^x = 1 + u"


def decide_sign(node: Node, positive: Collection[str] = (), nonnegative: Collection[str] = ()) -> str:
    """``positive``, ``nonnegative``, ``zero``, ``nonpositive``, ``negative`` or ``unknown``, wherever it is defined.

    Parameters
    ----------
    node : Node
        The expression; floats are never decided.
    positive : Collection[str], optional
        Names taken to be positive.
    nonnegative : Collection[str], optional
        Names taken to be nonnegative; a name in neither may have any sign.

    Returns
    -------
    str
        One of the six words.

    Examples
    --------
    >>> C, n = sym("C"), sym("n")
    >>> decide_sign(graph.exp(2 * C) - graph.exp(-C) + n, positive=["C"], nonnegative=["n"])
    'positive'
    >>> decide_sign(graph.exp(C) - 2, positive=["C"])
    'unknown'
    """
    if has_floats([node]):
        return "unknown"
    rewriter = Rewriter(positive)
    (root,) = rewriter([node])
    shifts: dict[Node, Node] = {}
    strict, weak = {sym(name) for name in positive}, {sym(name) for name in nonnegative}
    for atom, (function, argument) in rewriter.meaning.items():
        if function == "exp" and _is_positive(argument, strict):
            grown = sym(f"{atom.args[0]}-1")
            shifts[atom] = ONE + grown
            strict.add(grown)
        elif function == "exp":
            strict.add(atom)
        elif function == "step":
            weak.add(atom)
    try:
        quotient = Expansion(graph.substitute([root], shifts)[0], rewriter.relations, None, EXPANSION_LIMIT)
    except (TooLarge, ZeroDivisionError):
        return "unknown"
    if quotient.is_zero():
        return "zero"
    above, below = quotient.lowest_terms()
    parts = [[(c, tuple(base for base, _ in used)) for c, used in quotient.terms(part)] for part in (above, below)]
    signs = [_sign_of(part, strict, weak) for part in parts]
    if "unknown" in signs or signs[1] in ("nonnegative", "nonpositive"):
        return "unknown"  # a divisor that may vanish has no sign
    return signs[0] if signs[1] == "positive" else _OPPOSITE[signs[0]]


_OPPOSITE = {"positive": "negative", "nonnegative": "nonpositive", "negative": "positive", "nonpositive": "nonnegative"}


def _is_positive(argument: Node, strict: Collection[Node]) -> bool:
    return all(c > 0 and (t is ONE or _factors_in(t, strict)) for c, t in graph.linear_terms(argument))


def _factors_in(term: Node, strict: Collection[Node]) -> bool:
    return all(base in strict for base, _ in (term.args if term.op == "mul" else ((term, None),)))


def _sign_of(terms: list[tuple[Fraction, tuple[Node, ...]]], strict: set[Node], weak: set[Node]) -> str:
    """Of a polynomial, given as coefficients and the bases of each monomial."""
    strict = strict | {base for _, bases in terms for base in bases if base.op == "num" and base.args[0] > 0}  # roots
    if any(base not in strict and base not in weak for _, bases in terms for base in bases):
        return "unknown"
    signs = {c > 0 for c, _ in terms}
    if len(signs) != 1:
        return "unknown"
    sure = any(all(base in strict for base in bases) for _, bases in terms)
    return ("positive" if sure else "nonnegative") if signs.pop() else ("negative" if sure else "nonpositive")


def always_positive(
    nodes: Mapping[str, Node],
    positive: Collection[str] = (),
    nonnegative: Collection[str] = (),
    *,
    points: Points | None = None,
) -> Verdict:
    """All expressions are > 0 for all values of their symbols: proved, refuted (for all values, or at one) or open.

    With `points` (see `zero_test`) a witness is one of these.

    Parameters
    ----------
    nodes : Mapping[str, Node]
        By name, what should be positive.
    positive : Collection[str], optional
        Names taken to be positive.
    nonnegative : Collection[str], optional
        Names taken to be nonnegative.
    points : Points, optional
        Where witnesses come from; see `zero_test`.

    Returns
    -------
    Verdict
        Holds by proof, or fails with a witness, or is undecided.

    Examples
    --------
    >>> always_positive({"gap": graph.exp(-sym("C")) - 1}, positive=["C"]).witness
    {'where': 'gap', 'sign': 'negative', 'for': 'every C > 0'}
    """
    if not nodes:
        raise ValueError("an inequality without expressions would hold for no reason")
    found = {name: decide_sign(node, positive, nonnegative) for name, node in nodes.items()}
    for name, answer in found.items():
        if answer in ("zero", "negative", "nonpositive"):
            where = _for_all(nodes[name], positive, nonnegative)
            failed = refuted({"where": name, "sign": answer, "for": where}, Evidence.PROOF, method=METHOD)
            return replace(failed, stated=_never_positive(name, answer, nodes[name], positive, nonnegative))
    for name in (name for name, answer in found.items() if answer != "positive"):
        point = _negative_at(nodes[name], {*positive, *nonnegative}, points)
        if point is not None:
            return refuted({"where": name, **point}, Evidence.CERTIFICATE)
    left = [f"{name}: {answer}" for name, answer in found.items() if answer != "positive"]
    if left:
        return undecided("; ".join(left), Evidence.PROOF)
    shown = f"{len(nodes)} inequalities: {METHOD}" if len(nodes) > 1 else METHOD
    record = Proof((shown,), assumed=assumptions(nodes.values(), positive, nonnegative))
    known = stated.names(positive), stated.names(nonnegative)
    handed = (Stated(name, LESS, graph.ZERO, graph.as_node(node), *known) for name, node in nodes.items())
    return replace(
        proved(inequalities=len(nodes), method=METHOD),
        proof=record,
        stated=tuple(handed) if stated.recording() else (),
    )


def _never_positive(
    name: str, answer: str, node: Node, positive: Collection[str], nonnegative: Collection[str]
) -> tuple[stated.Record, ...]:
    """The negation of an inequality for all values, while proofs are exported."""
    if not stated.recording():
        return ()
    if answer == "nonpositive":
        return (stated.Unstated("a sum that is nowhere positive and may vanish is not exported yet"),)
    known = stated.names(positive), stated.names(nonnegative)
    if answer == "zero":
        return (Stated(f"{name} is not positive: it vanishes", EQUAL, graph.as_node(node), graph.ZERO, *known),)
    return (Stated(f"{name} is negative", LESS, graph.ZERO, -graph.as_node(node), *known),)


def _for_all(node: Node, positive: Collection[str], nonnegative: Collection[str]) -> str:
    names = sorted(graph.symbols([node]))
    words = [f"{n} > 0" if n in positive else f"{n} >= 0" if n in nonnegative else n for n in names]
    return "every " + ", ".join(words) if words else "all values"


def _negative_at(node: Node, positive: Collection[str], points: Points | None) -> dict[str, Any] | None:
    """A rational point at which an enclosing ball is negative."""
    for point, ball in ball_values(node, points_for([node], positive, points=points), PRECISIONS[1]):
        if ball is not None and ball < 0:
            return {"at": {name: str(value) for name, value in point.items()}, "value": six_digits(str(ball))}
    return None
