"""From computations to verdicts: exact identities, exhaustive enumeration, and sampled probabilities.

Each function returns the strongest evidence its method can carry, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import stated
from ..expr import graph
from ..expr.graph import Node
from ..sentences import say_number, say_point
from ..stated import EQUAL, Stated
from ..verdicts import HOLDS, Evidence, Proof, Verdict, Witness, certified, measured, refuted, undecided
from .rewriting import Rewriter
from .zero import Points, ZeroResult, in_short, zero_test


def identity(residuals: Mapping[str, Node], positive: Collection[str] = (), *, points: Points | None = None) -> Verdict:
    """All residuals are identically zero: proved by exact rewriting, or refuted at a rational point.

    With `points` (see `zero_test`) the point is one of these, so that a witness lies where the statement is made.

    Parameters
    ----------
    residuals : Mapping[str, Node]
        By name, what should vanish.
    positive : Collection[str], optional
        Names taken to be positive.
    points : Points, optional
        Where witnesses come from; see `zero_test`.

    Returns
    -------
    Verdict
        Holds by proof, or fails at a rational point, or is undecided.

    Examples
    --------
    >>> a, b = graph.sym("a"), graph.sym("b")
    >>> str(identity({"binomial": (a + b) ** 2 - a**2 - 2 * a * b - b**2}).evidence)
    'proof'
    >>> identity({"wrong": (a + b) ** 2 - a**2 - b**2}).as_stated
    'fails'
    """
    if not residuals:
        raise ValueError("an identity without residuals would hold for no reason")
    methods: dict[str, int] = {}
    open_ones: list[str] = []
    rewriter = Rewriter(positive)
    for name, node in residuals.items():
        if node is graph.ZERO:
            methods["the same expression"] = methods.get("the same expression", 0) + 1
            continue
        result = zero_test(node, positive, points=points, rewriter=rewriter)
        if result.answer == "nonzero":
            # balls exclude zero at the point
            return refuted(_differ(name, result), Evidence.CERTIFICATE, checked=len(residuals))
        if result.answer == "undecided":
            open_ones.append(f"{name}: {in_short(graph.as_node(node))}")
        methods[result.method] = methods.get(result.method, 0) + 1
    if open_ones:
        return undecided("; ".join(open_ones[:3]), Evidence.PROOF, open=len(open_ones))
    found = {"identities": len(residuals), "methods": methods}
    record = Proof(tuple(methods), len(residuals), assumed=assumptions(residuals.values(), positive))
    return Verdict(HOLDS, Evidence.PROOF, details=found, proof=record, stated=_handed_over(residuals, positive))


def _handed_over(residuals: Mapping[str, Any], positive: Collection[str]) -> tuple[Stated, ...]:
    """What was proved, while proofs are exported: the two sides of each difference, as it was written."""
    if not stated.recording():
        return ()
    known = stated.names(positive)
    return tuple(_two_sides(name, graph.as_node(node), known) for name, node in residuals.items())


def _two_sides(name: str, gap: Node, positive: tuple[str, ...]) -> Stated:
    """A difference that vanishes as a statement; where nobody knows its sides, it only says that it vanishes."""
    found, origin = stated.sides(gap), stated.origins.get(gap)
    if found is not None:
        return Stated(name, EQUAL, *found, positive)
    put_in = None if origin is None else stated.sides(origin.root)
    if origin is not None and put_in is not None:
        return Stated(name, EQUAL, *put_in, positive, values=tuple(origin.values.items()))
    known = origin is not None or gap in stated.titles  # values in a field, or a field itself
    return Stated(name, EQUAL, gap, graph.ZERO, positive, residual=not known)


def assumptions(
    nodes: Iterable[Node], positive: Collection[str] = (), nonnegative: Collection[str] = ()
) -> tuple[str, ...]:
    """What is taken of the symbols in some expressions, for the record of a proof.

    >>> assumptions([graph.sym("omega") * graph.sym("t")], positive=["omega", "b"], nonnegative=["t"])
    ('omega > 0', 't >= 0')
    """
    names = sorted(graph.symbols(map(graph.as_node, nodes)))
    return (*(f"{n} > 0" for n in names if n in positive), *(f"{n} >= 0" for n in names if n in nonnegative))


def _differ(name: str, result: ZeroResult) -> Witness:
    """Where an identity is wrong, and by how much."""
    point = dict(result.witness or {})
    where = f"at {say_point(point)} " if point else ""
    gap = say_number(float(six_digits(result.value)))
    return Witness(f"{where}the two sides of {name} differ by {gap}", {key: str(v) for key, v in point.items()})


def six_digits(ball: str | None) -> str:
    """Six digits of an enclosure: its radius depends on the order of a sum, which is no part of a verdict.

    Parameters
    ----------
    ball : str | None
        An enclosure as text, or None.

    Returns
    -------
    str
        The number with six digits.

    Examples
    --------
    >>> six_digits("[0.333333333333333 +/- 4.06e-16]")
    '0.333333'
    """
    found = re.match(r"\[?(-?\d[\d.]*(?:e[+-]?\d+)?)", ball or "")
    return f"{float(found.group(1)):.6g}" if found else str(ball)


def equal(
    pairs: Mapping[str, tuple[Node, Node]],
    positive: Collection[str] = (),
    *,
    points: Points | None = None,
    given: Mapping[Node, Node] | None = None,
) -> Verdict:
    """Both members of every pair are the same expression.

    Parameters
    ----------
    pairs : Mapping[str, tuple[Node, Node]]
        By name, two expressions.
    positive : Collection[str], optional
        Names taken to be positive.
    points : Points, optional
        Where witnesses come from; see `zero_test`.
    given : Mapping[Node, Node], optional
        Values put into both members first: the pairs agree there.

    Returns
    -------
    Verdict
        Holds by proof, or fails at a rational point, or is undecided.

    Examples
    --------
    >>> x = graph.sym("x")
    >>> equal({"at 1": (x**2, x)}, given={x: graph.ONE}).as_stated
    'holds'
    >>> equal({"twice": (graph.exp(2 * x) - 1, graph.exp(x) * (graph.exp(x) - graph.exp(-x)))}).as_stated
    'holds'
    """
    sides = [graph.as_node(side) for pair in pairs.values() for side in pair]
    if given:
        sides = graph.substitute(sides, given)
    gaps = (left - right for left, right in zip(sides[::2], sides[1::2], strict=True))
    verdict = identity(dict(zip(pairs, gaps, strict=True)), positive, points=points)
    if not verdict.stated:
        return verdict
    known, values = stated.names(positive), tuple((given or {}).items())
    nodes = {name: (graph.as_node(left), graph.as_node(right)) for name, (left, right) in pairs.items()}
    handed = (Stated(name, EQUAL, *both, known, values=values) for name, both in nodes.items())
    return replace(verdict, stated=tuple(handed))


def entry_pairs(left: Any, right: Any, name: str) -> dict[str, tuple[Node, Node]]:
    """Two tables of one size entry by entry, for `equal`.

    Parameters
    ----------
    left : Any
        A table of expressions.
    right : Any
        Another of the same size.
    name : str
        What the entries are called.

    Returns
    -------
    dict[str, tuple[Node, Node]]
        A pair per entry, named by its place.

    Examples
    --------
    >>> entry_pairs([graph.sym("x"), 2], [1, 2], "row")["row (1,)"]
    (Node(2), Node(2))
    """
    rows = zip(np.ndenumerate(np.array(left, dtype=object)), np.ravel(right), strict=True)
    return {f"{name} {place}": (graph.as_node(x), graph.as_node(y)) for (place, x), y in rows}


def enumerate_all(cases: Iterable[Any], check: Callable[[Any], Any], what: str) -> Verdict:
    """`check` is exactly true in every case of a finite list; it must compute in exact arithmetic.

    Parameters
    ----------
    cases : Iterable[Any]
        All of them.
    check : Callable[[Any], Any]
        Exact; true where a case passes.
    what : str
        What the cases are, in words.

    Returns
    -------
    Verdict
        Holds with a certificate, or fails with the first case that does not pass.

    Examples
    --------
    >>> enumerate_all(range(1, 20), lambda n: sum(range(1, 2 * n, 2)) == n**2, "whole numbers").details
    {'enumerated': '19 whole numbers'}
    """
    count = 0
    for case in cases:
        count += 1
        answer = check(case)
        if answer is not True:
            return refuted({"case": str(case), "value": str(answer)}, Evidence.CERTIFICATE, checked=count)
    if not count:
        raise ValueError(f"there are no {what} to enumerate, so nothing was checked")
    return certified(enumerated=f"{count} {what}")


def frequency_at_most(failures: int, trials: int, bound: float, **details: Any) -> Verdict:
    """An event has probability at most `bound`, judged by its exact (Clopper-Pearson) 99.9 percent interval.

    Parameters
    ----------
    failures : int
        How often the event was seen.
    trials : int
        How often it was looked for.
    bound : float
        The probability that is claimed.
    **details : Any
        Numbers to keep beside the verdict.

    Returns
    -------
    Verdict
        Holds, fails or undecided, as a measurement.

    Examples
    --------
    >>> frequency_at_most(3, 1000, 0.05).as_stated, frequency_at_most(3, 1000, 0.005).as_stated
    ('holds', 'undecided')
    """
    from scipy.stats import binomtest

    interval = binomtest(failures, trials).proportion_ci(confidence_level=0.999, method="exact")
    seen = {
        "failures": failures,
        "trials": trials,
        "interval_99.9": [float(interval.low), float(interval.high)],
        "bound": bound,
        **details,
    }
    if interval.high <= bound:
        return measured(True, **seen)
    if interval.low > bound:
        return measured(False, **seen)
    return undecided(f"the interval {interval.low:.3g} .. {interval.high:.3g} contains the bound {bound:g}", **seen)
