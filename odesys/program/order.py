"""What a program knows of its tokens: their order, and words that are not among them."""

from __future__ import annotations

from collections.abc import Iterator

from .expressions import Expr
from .spaces import Tokens, Words


def parts(expr: Expr) -> Iterator[Expr]:
    """All parts of an expression, each once, those it is made of first."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        part, done = stack.pop()
        if done:
            yield part
        elif part not in seen:
            seen.add(part)
            stack.append((part, True))
            stack += [(a, False) for a in reversed(part.args)]


def _meets_listed(expr: Expr) -> bool:
    """True where entry by entry, or in a product, tokens correspond to axes listed elsewhere."""
    if expr.op not in ("add", "times", "matmul"):
        return False
    a, b = expr.args
    pairs = [(a.columns, b.rows)] if expr.op == "matmul" else [(a.rows, b.rows), (a.columns, b.columns)]
    return any(
        isinstance(x, Tokens) != isinstance(y, Tokens) and min(getattr(x, "size", 0), getattr(y, "size", 0)) > 1
        for x, y in pairs
    )


def knows_order(expr: Expr) -> bool:
    """True if a part of a program depends on the order of the tokens."""
    masked = expr.op == "softmax" and expr.data is not None
    chosen = expr.op == "columns" and isinstance(expr.args[0].columns, Tokens)
    return expr.op == "positions" or masked or chosen or _meets_listed(expr)


def only_through_tokens(output: Expr, words: Words, ordered: bool) -> bool:
    """True if a program knows words only as tokens, and tokens not by their place (or `ordered` keeps their order).

    Then it has every signed permutation of words as a symmetry, if path scalars are permuted likewise: the words enter
    it only as the ends of path scalars, with the signs of the tokens.
    """
    if not ordered and isinstance(output.columns, Tokens) and output.columns.size > 1:
        return False
    found = list(parts(output))
    listed = any(part.op == "positions" or (part.op == "words" and part.rows == words) for part in found)
    return not listed and (ordered or not any(map(knows_order, found)))
