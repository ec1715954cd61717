r"""Functions of listed entries: activations, softmax with masks, norms, and losses (f, y).

>>> from odesys import Words, maps, relu
>>> words = Words("a b")
>>> Z = maps("Z", words, words)
>>> relu((words.all.T @ Z @ words.all).sum() + "b")
relu((words.all.T @ Z @ words.all).sum() + b)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr import graph
from ..expr.graph import Node, as_node
from .expressions import Expr, as_expr, elementwise, free_side, is_listed
from .spaces import ONE_AXIS, Space, Tokens, Units, say_side

Mask = Callable[[int, int], bool]


def check_call(function: Any, count: int, what: str, of: str) -> None:
    """Refuse a function that can not be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        raise ModelError(f"{what} is a function {of}; {getattr(function, '__name__', 'this one')} is not") from None
    except ValueError:  # it does not tell its signature
        return


@dataclass(frozen=True, repr=False)
class Function:
    """An activation: a function of one number, applied to every entry; its kinks become switching surfaces.

    >>> from odesys import relu
    >>> relu
    relu
    """

    node: Node
    name: str

    def __repr__(self) -> str:
        return self.name

    def __call__(self, argument: Any) -> Expr:
        return elementwise(self.node, argument, self.name)


def function(expression: Any, name: str = "") -> Function:
    """An activation from an expression in the symbol z (SymPy or `odesys.sym`).

    Parameters
    ----------
    expression : Any
        In the symbol z.
    name : str, optional
        For formulas; by default the expression.

    Returns
    -------
    Function
        A function of listed entries, for use in a program.

    Examples
    --------
    >>> from odesys import function, sym
    >>> function(sym("z") ** 2, name="square").node
    Node(z**2)
    """
    if callable(expression) and not hasattr(expression, "free_symbols") and not isinstance(expression, Node):
        raise ModelError("function(...) takes an expression in z, such as z**2 or Max(0, z), not a Python function")
    if isinstance(expression, str):
        raise ModelError(
            f"function({expression!r}): write the expression itself, with z = sympy.Symbol('z'), not a text"
        )
    node = as_node(expression)
    if "z" not in graph.symbols([node]):
        raise ModelError(f"function({expression}) does not contain z, so it is a constant; write the number itself")
    return Function(node, name or f"function({expression})")


relu = Function(graph.relu(graph.sym("z")), "relu")


def softmax(scores: Any, mask: Mask | None = None) -> Expr:
    """Softmax over the rows (keys) for each column (query).

    With `mask`, a function of the positions of key and query counted from 0, keys for which it is false are left out.

    Parameters
    ----------
    scores : Any
        Keys in rows, queries in columns.
    mask : Mask, optional
        True for pairs (key, query) that are seen.

    Returns
    -------
    Expr
        Weights of the shape of the scores; every column sums to 1.

    Examples
    --------
    >>> from odesys import Words, maps, softmax
    >>> words = Words("a b")
    >>> Z = maps("Z", words, words)
    >>> softmax(words.all.T @ Z @ words.all, mask=lambda key, query: key <= query)
    softmax(words.all.T @ Z @ words.all)
    """
    expr = as_expr(scores)
    if not is_listed(expr):
        raise ModelError(
            f"softmax acts on numbers, but {expr} has {say_side(free_side(expr))} on one side: contract it first, "
            f"as in X.T @ W_K.T @ W_Q @ X"
        )
    if isinstance(expr.rows, Units) and expr.rows.size == 1 and expr.columns.size > 1:  # type: ignore[union-attr]
        raise ModelError(
            f"softmax runs over rows, and {expr} has one row, so all would be 1; write softmax(({expr}).T)"
        )
    if mask is not None and not callable(mask):
        raise ModelError("mask is a function of two positions, such as lambda key, query: key <= query")
    if mask is not None:
        check_call(mask, 2, "a mask", "of two positions, lambda key, query: key <= query")
    visible = None if mask is None else _visible(mask, expr)
    return Expr("softmax", (expr,), expr.rows, expr.columns, visible)


def _visible(mask: Mask, expr: Expr) -> np.ndarray:
    keys, queries = (
        side.positions if isinstance(side, Tokens) else tuple(range(side.size))  # type: ignore[union-attr]
        for side in (expr.rows, expr.columns)
    )
    table = np.array([[bool(mask(key, query)) for query in queries] for key in keys])
    for column, query in enumerate(queries):
        if not table[:, column].any():
            raise ModelError(
                f"the mask hides every key from the query at position {query} (counted from 0), so its softmax has "
                f"nothing to choose from; let it see itself, as in lambda key, query: key <= query"
            )
    return table


def norm(vectors: Any) -> Expr:
    """Euclidean norm of every column, as a row.

    Parameters
    ----------
    vectors : Any
        Columns in a free or a listed space.

    Returns
    -------
    Expr
        A row, one norm per column.

    Examples
    --------
    >>> from odesys import Words, maps, norm
    >>> words = Words("a b")
    >>> W = maps("W", words, words)
    >>> W @ words.all / norm(W @ words.all)
    (.)**-1(norm(W @ words.all)) * W @ words.all
    """
    expr = as_expr(vectors)
    if isinstance(expr.columns, Space):
        raise ModelError(f"norm({expr}) is asked of columns, but the columns are in {say_side(expr.columns)}; use .T")
    return Expr("norm", (expr,), ONE_AXIS, expr.columns)


def cross_entropy(output: Any, target: Any) -> Expr:
    r"""The loss :math:`\log\sum_k e^{f_k} - f_y` of every column, for a class or a one-hot target.

    Parameters
    ----------
    output : Any
        Scores of the classes, a column per position.
    target : Any
        A class counted from 0, or one-hot columns.

    Returns
    -------
    Expr
        A row of losses, one per column.

    Examples
    --------
    >>> from odesys import Data, Units, Words, cross_entropy, gradient_flow, maps
    >>> words = Words("a b")
    >>> Y = maps("Y", Units("y", 2), words)
    >>> flow = gradient_flow(lambda X: Y @ X[0], Data(words, [("a", 0), ("b", 1)]), cross_entropy)
    >>> flow.system.observables["loss"]
    Node(log(exp(-Y_y1_a + Y_y2_a) + 1)/2 + log(exp(Y_y1_b - Y_y2_b) + 1)/2)
    """
    f, y = as_expr(output), as_expr(target)
    if not is_listed(f) or f.rows.size < 2:  # type: ignore[union-attr]
        raise ModelError(f"cross_entropy needs a listed output with one entry per class, but {f} has one row")
    return Expr("cross_entropy", (f, y), ONE_AXIS, f.columns)


def squared(output: Any, target: Any) -> Expr:
    """The loss |f - y|^2 / 2, summed over the outputs.

    Parameters
    ----------
    output : Any
        What the program gives.
    target : Any
        Of the same shape.

    Returns
    -------
    Expr
        The loss, one entry.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, maps, squared
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> gradient_flow(lambda X: w @ X[0], Data(words, [("a", 3)]), squared).system.equations["w_a"]
    Node(3 - w_a)
    """
    difference = as_expr(output) - as_expr(target)
    return (difference**2).sum(0) * Fraction(1, 2)
