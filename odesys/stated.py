"""What a proof was about: while proofs are exported, verdicts carry the statements that were proved.

The functions that prove something (`odesys.exact.evidence`, `odesys.exact.positivity`) hand both sides over as they got
them; nothing is derived a second time. Otherwise nothing is recorded and nothing is kept alive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

EQUAL, LESS, AT_MOST, UNEQUAL = "=", "<", "<=", "!="


@dataclass(frozen=True)
class Stated:
    """One proved statement, ``left = right``, ``<``, ``<=`` or ``!=``, for all values of its symbols.

    Attributes
    ----------
    residual : whether the claim handed over a difference only, so that its two sides are not known.
    positive, nonnegative : names of symbols that are taken to be so.
    values : what is put into both sides: the statement is about the sides there.
    where : what is assumed besides signs of symbols, each as ``(left, relation, right)``.
    """

    name: str
    relation: str
    left: Any
    right: Any
    positive: tuple[str, ...] = ()
    nonnegative: tuple[str, ...] = ()
    residual: bool = False
    values: tuple[tuple[Any, Any], ...] = ()
    where: tuple[tuple[Any, str, Any], ...] = ()


@dataclass(frozen=True)
class Unstated:
    """A proof that handed over no statement."""

    why: str = "the check decided in exact arithmetic and hands over no statement"


@dataclass(frozen=True)
class Substituted:
    """Where an expression came from: values put into another one."""

    root: Any
    values: Mapping[Any, Any]


@dataclass(frozen=True)
class Argued:
    """The way from what is stated to the answer, as theorems in Coq about expressions that the claim hands over.

    Attributes
    ----------
    text : Coq, with a proof for every theorem.
    definitions : by name the arguments and the expression of what the theorems speak of.
    """

    text: str
    definitions: tuple[tuple[str, tuple[str, ...], Any], ...] = ()


Record = Stated | Unstated | Argued
_state: dict[str, Any] = {"on": False, "count": 0}
origins: dict[Any, Substituted] = {}  # of results of substitutions, while statements are asked for
written: dict[Any, tuple[str, Any, Any]] = {}  # sums and differences as they were written last, while asked for
MOST_WRITTEN = 200_000  # the oldest go first
forms: dict[Any, list[tuple[int, str, Any, Any]]] = {}  # how expressions were written, the latest last, while asked for
MOST_FORMS = 4  # of one expression
titles: dict[Any, str] = {}  # of right-hand sides of systems, while statements are asked for


def recording() -> bool:
    """Whether proofs are asked to hand over what they proved."""
    return bool(_state["on"])


@contextmanager
def recorded(on: bool = True) -> Iterator[None]:
    """Ask for statements while this lasts.

    >>> from odesys import graph, sym, equal
    >>> x = sym("x")
    >>> with recorded():
    ...     verdict = equal({"square": ((x + 1) ** 2, x**2 + 2 * x + 1)})
    >>> [one.name for one in verdict.stated], equal({"same": (x, x)}).stated
    (['square'], ())
    """
    before = _state["on"]
    _state["on"] = on
    if on and not before:
        written.clear()
        forms.clear()
    try:
        yield
    finally:
        _state["on"] = before


def note_substitution(roots: Iterable[Any], values: Mapping[Any, Any], results: Iterable[Any]) -> None:
    """Keep which values were put into which expression: the two sides of a statement are then more than one node."""
    for root, result in zip(roots, results, strict=True):
        if result is not root and result.op not in ("num", "sym") and result not in origins:
            origins[result] = Substituted(root, values)


def note_written(sign: str, left: Any, right: Any, result: Any) -> None:
    """Keep the two members of a sum or difference: where it should vanish, they are the sides of a statement."""
    if result.op in ("num", "sym") or result is left or result is right:
        return
    note_form(sign, left, right, result)
    written.pop(result, None)  # the latest is the last
    written[result] = (sign, left, right)
    if len(written) > MOST_WRITTEN:
        del written[next(iter(written))]


def note_form(operation: str, left: Any, right: Any, result: Any) -> None:
    """Keep how an expression was written: where both sides of a statement are one expression, it shows them."""
    if result.op in ("num", "sym") or len(forms) > MOST_WRITTEN:
        return
    known = forms.setdefault(result, [])
    known[:] = [each for each in known if each[1:] != (operation, left, right)][-MOST_FORMS + 1 :]
    _state["count"] += 1
    known.append((_state["count"], operation, left, right))


def sides(difference: Any) -> tuple[Any, Any] | None:
    """What is equal where an expression vanishes, as it was written; None where that is not known.

    >>> from odesys import sym
    >>> x, y = sym("x"), sym("y")
    >>> with recorded():
    ...     gap = x * (x + y) - x**2
    >>> sides(gap), sides(x + 2)
    ((Node(x*(x + y)), Node(x**2)), None)
    """
    if difference not in written:
        return None
    sign, left, right = written[difference]
    return (left, right) if sign == "-" else (left, -right)


def note_titles(named: Mapping[Any, str]) -> None:
    """Keep the names of right-hand sides, the latest first."""
    for node, title in named.items():
        if node.op not in ("num", "sym"):
            titles.setdefault(node, title)


def handed(
    relations: Mapping[str, tuple[Any, str, Any]],
    positive: Collection[str],
    nonnegative: Collection[str],
    at: Mapping[Any, Any],
    where: Iterable[tuple[Any, str, Any]],
) -> tuple[Stated, ...]:
    """Statements that a claim hands over itself; ``>`` and ``>=`` are turned around.

    >>> [one] = handed({"size": (3, ">", 2)}, (), (), {}, ())
    >>> one.left, one.relation, one.right
    (2, '<', 3)
    """
    known = names(positive), names(nonnegative)
    found = ((name, *_turned(*relation)) for name, relation in relations.items())
    put, assumed = tuple(at.items()), tuple(_turned(*each) for each in where)
    return tuple(Stated(n, how, x, y, *known, values=put, where=assumed) for n, x, how, y in found)


def _turned(left: Any, relation: str, right: Any) -> tuple[Any, str, Any]:
    if relation in (">", ">="):
        return right, "<" if relation == ">" else "<=", left
    if relation not in (EQUAL, LESS, AT_MOST, UNEQUAL):
        raise ValueError(f"sides are compared by =, !=, <, <=, > or >=, not by {relation!r}")
    return left, relation, right


def names(chosen: Collection[str]) -> tuple[str, ...]:
    """Names in order, whatever kind of collection they came in."""
    return tuple(sorted(set(chosen)))
