r"""Nodes of the scalar expression graph: exact constants, one object per distinct expression, normal forms.

Every node is interned, so equal expressions are the *same* object and common subexpressions cost nothing to find.
Sums are kept as linear forms and products as monomials,

.. math::  \sum_i c_i\,t_i \qquad\text{and}\qquad \prod_i b_i^{e_i},

with exact coefficients, which makes cancellations and signs visible without expanding anything. `odesys.expr.graph`
walks, differentiates and evaluates what is built here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

import flint

from .. import stated
from ..errors import EquationError
from ..shortening import shortened
from .constants import whole_power
from .functions import FUNCTIONS, unknown
from .rationals import Ratio, ratio

Number = Fraction | float

_F0, _F1, _MINUS, _HALF = Ratio(0), Ratio(1), Ratio(-1), Ratio(1, 2)  # made once
_interned: WeakValueDictionary[Any, Node] = WeakValueDictionary()


class Node:
    """One expression: `op` with `args`; built by the functions below, never directly.

    ===== ============================== ==========================================
    op    args                           what it is
    ===== ============================== ==========================================
    num   ``(value,)``                   exact Fraction, or a float
    sym   ``(name,)``                    a symbol
    add   ``((coefficient, term), ...)`` a constant is the coefficient of ONE
    mul   ``((base, exponent), ...)``    no numeric coefficient: that belongs to add
    other ``(argument,)``                a function of `FUNCTIONS`
    ===== ============================== ==========================================

    Examples
    --------
    >>> x = sym("x")
    >>> (x + x) / 2 is x, x + x
    (True, Node(2*x))
    """

    __slots__ = ("__weakref__", "args", "op", "uid")
    op: str
    args: tuple[Any, ...]
    uid: bytes  # order of terms and factors; it depends on the expression alone, not on what was built before

    def __add__(self, other: Any) -> Node:
        other = _coerce(other)
        if other is None:
            return NotImplemented
        found = add((self, other))
        if stated.recording():
            stated.note_written("+", self, other, found)
        return found

    __radd__ = __add__

    def __neg__(self) -> Node:
        return scale(self, _MINUS)

    def __pos__(self) -> Node:
        return self

    def __sub__(self, other: Any) -> Node:
        other = _coerce(other)
        return NotImplemented if other is None else _difference(self, other)

    def __rsub__(self, other: Any) -> Node:
        other = _coerce(other)
        return NotImplemented if other is None else _difference(other, self)

    def __mul__(self, other: Any) -> Node:
        other = _coerce(other)
        return NotImplemented if other is None else _noted("*", self, other, multiply(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Node:
        other = _coerce(other)
        return NotImplemented if other is None else _noted("/", self, other, multiply(self, power(other, _MINUS)))

    def __rtruediv__(self, other: Any) -> Node:
        other = _coerce(other)
        return NotImplemented if other is None else _noted("/", other, self, multiply(other, power(self, _MINUS)))

    def __pow__(self, exponent: Any) -> Node:
        if isinstance(exponent, Node):
            return symbolic_power(self, exponent)
        whole = ratio(exponent)
        return _noted("^", self, whole, power(self, whole))

    def __rpow__(self, base: Any) -> Node:
        base = _coerce(base)
        return NotImplemented if base is None else symbolic_power(base, self)

    def __lt__(self, other: Node) -> bool:
        return self.uid < other.uid

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; compare with `is ZERO` or use odesys.exact.zero")

    def __reduce__(self) -> tuple[Any, ...]:
        # copies and other processes rebuild through the constructors: an expression stays one object everywhere
        return _restore, (self.op, self.args)

    def __repr__(self) -> str:
        return shortened(str(self))

    def __str__(self) -> str:
        from .sympy_bridge import to_sympy

        return f"Node({to_sympy(self)})"


def _noted(operation: str, left: Node, right: Any, result: Node) -> Node:
    if stated.recording():
        stated.note_form(operation, left, right, result)
    return result


def _difference(left: Node, right: Node) -> Node:
    found = add((left, scale(right, _MINUS)))
    if stated.recording():
        stated.note_written("-", left, right, found)
    return found


def _intern(op: str, args: tuple[Any, ...]) -> Node:
    # numbers are spelt out: a float and an equal Fraction hash alike, and hashing a Fraction is slow
    key: Any
    if op == "add":
        key = tuple([(c if isinstance(c, float) else (c.numerator, c.denominator), t) for c, t in args])
    elif op == "mul":
        key = tuple([(b, None if e is _F1 else (e.numerator, e.denominator)) for b, e in args])
    elif op == "num":
        key = (op, type(args[0]), args[0])
    else:
        key = (op, args)
    found = _interned.get(key)
    if found is None:
        found = Node.__new__(Node)
        try:
            found.op, found.args, found.uid = op, args, _uid(op, args)
        except ValueError:  # by Python's own limit on digits
            raise EquationError("an exact constant has more than 4300 digits; write it with exp and log") from None
        _interned[key] = found
    return found


def _uid(op: str, args: tuple[Any, ...]) -> bytes:
    """Sort key of an expression: constants first, then symbols by name, then all else by a digest of its parts."""
    if op == "num":
        return b"\0" + repr(args[0]).encode()
    if op == "sym":
        return b"\1" + str(args[0]).encode()
    if op == "add":
        parts = [part for c, t in args for part in (str(c).encode(), t.uid)]
    elif op == "mul":
        parts = [part for b, e in args for part in (b.uid, b"" if e is _F1 else str(e).encode())]
    else:
        parts = [args[0].uid]
    return b"\2" + blake2b(b"\n".join((op.encode(), *parts)), digest_size=16).digest()


def _restore(op: str, args: tuple[Any, ...]) -> Node:
    if op == "add":
        return combine(args)
    if op == "mul":
        return multiply(*(power(base, exponent) for base, exponent in args))
    if op == "num":
        return num(args[0])
    return sym(args[0]) if op == "sym" else call(op, args[0])


def num(value: int | Fraction | float) -> Node:
    """The constant `value`; integers and fractions stay exact, and a float must be finite.

    Parameters
    ----------
    value : int | Fraction | float
        A whole number, a fraction, or a finite float.

    Returns
    -------
    Node
        The constant.

    Examples
    --------
    >>> from fractions import Fraction
    >>> num(Fraction(1, 3)) + num(Fraction(1, 6))
    Node(1/2)
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise EquationError(f"an expression contains {value}; every constant must be finite")
    return _intern("num", (value if isinstance(value, float) else ratio(value),))


def sym(name: str) -> Node:
    """The variable or parameter called `name`.

    Parameters
    ----------
    name : str
        Letters, digits and underscores.

    Returns
    -------
    Node
        The symbol; equal names give the same object.

    Examples
    --------
    >>> k, x = sym("k"), sym("x")
    >>> k * x - x * k, k * x / x
    (Node(0), Node(k))
    """
    return _intern("sym", (name,))


ZERO, ONE = num(0), num(1)


def _coerce(value: Any) -> Node | None:
    if isinstance(value, Node):
        return value
    if isinstance(value, (int, Fraction, float)):
        return num(value)
    return None


def as_node(value: Any) -> Node:
    """Turn a number, a name, a SymPy expression or a node into a node.

    >>> from odesys import graph
    >>> graph.as_node("x") / graph.as_node(2)
    Node(x/2)
    """
    node = sym(value) if isinstance(value, str) else _coerce(value)
    if node is None:
        from .sympy_bridge import from_sympy

        node = from_sympy(value)
    return node


def linear_terms(node: Node) -> tuple[tuple[Number, Node], ...]:
    """Coefficients and terms of a node as a linear form; a constant is the coefficient of ONE.

    >>> from odesys import graph, sym
    >>> graph.linear_terms(3 * sym("x"))
    ((Fraction(3, 1), Node(x)),)
    """
    if node.op == "add":
        return node.args
    if node.op == "num":
        return ((node.args[0], ONE),)
    return ((_F1, node),)


def add(terms: Iterable[Node]) -> Node:
    """Sum of `terms`, merged into one linear form.

    >>> from odesys import graph, sym
    >>> graph.add([sym("x"), sym("y"), 2 * sym("x")])
    Node(3*x + y)
    """
    total: dict[Node, Number] = {}
    for term in terms:
        for coefficient, base in linear_terms(term):
            total[base] = total[base] + coefficient if base in total else coefficient
    return _from_linear(total)


def combine(pairs: Iterable[tuple[Number, Node]]) -> Node:
    """The linear combination of nodes with numeric coefficients.

    >>> from fractions import Fraction
    >>> from odesys import graph
    >>> x, y = graph.sym("x"), graph.sym("y")
    >>> graph.combine([(Fraction(2), x), (Fraction(1), x - y)]) is 3 * x - y
    True
    """
    total: dict[Node, Number] = {}
    for factor, term in pairs:
        for coefficient, base in linear_terms(term):
            value = factor * coefficient
            total[base] = total[base] + value if base in total else value
    return _from_linear(total)


def _from_linear(total: Mapping[Node, Number]) -> Node:
    # an exact zero drops out; a float zero stays, so that a cancellation between floats never looks exact
    items = [(c, t) for t, c in total.items() if c is _F1 or c or isinstance(c, float)]
    if not items:
        return ZERO
    if len(items) == 1:
        coefficient, term = items[0]
        if term is ONE:
            return num(coefficient)
        if coefficient is _F1 or (coefficient == 1 and isinstance(coefficient, Fraction)):
            return term
    else:
        items.sort(key=_term_uid)
    return _intern("add", tuple(items))


def _term_uid(item: tuple[Number, Node]) -> bytes:
    return item[1].uid


def scale(node: Node, factor: Number) -> Node:
    """`factor * node`, distributed over a sum so that the linear form stays unique."""
    if factor is _F1 or (factor == 1 and not isinstance(factor, float)):
        return node
    if factor is _MINUS:
        return _from_linear({t: -c for c, t in linear_terms(node)})
    if type(factor) is Fraction:
        factor = ratio(factor)
    return _from_linear({t: factor if c is _F1 else factor * c for c, t in linear_terms(node)})


def multiply(*factors: Node) -> Node:
    """Product of nodes as coefficient times monomial.

    >>> from odesys import graph, sym
    >>> graph.multiply(2 * sym("x"), sym("y"), sym("x"))
    Node(2*x**2*y)
    """
    coefficient: Number = _F1
    powers: dict[Node, Fraction] = {}
    for factor in factors:
        extra = _collect(factor, _F1, powers)
        if extra is not _F1:
            coefficient = extra if coefficient is _F1 else coefficient * extra
            if not coefficient and not isinstance(coefficient, float):
                return ZERO
    return from_powers(powers, coefficient)


def power(node: Node, exponent: Fraction) -> Node:
    """`node ** exponent` for a rational exponent; bases are taken positive where the exponent is not an integer.

    >>> from fractions import Fraction
    >>> from odesys import graph, sym
    >>> root = graph.power(sym("x"), Fraction(1, 3))
    >>> root, root**3
    (Node(x**(1/3)), Node(x))
    """
    exponent = ratio(exponent)
    if exponent == 0:
        return ONE
    if exponent == 1:
        return node
    powers: dict[Node, Fraction] = {}
    coefficient = _collect(node, exponent, powers)
    return from_powers(powers, coefficient)


def _collect(node: Node, exponent: Fraction, powers: dict[Node, Fraction]) -> Number:
    """Multiply `node ** exponent` into `powers`; return the numeric coefficient that came out (_F1 itself if none)."""
    if exponent is _F1:
        return _collect_once(node, powers)
    whole = exponent.denominator == 1
    if node.op == "num":
        value: Number = node.args[0]
        if whole:
            if value == 0 and exponent < 0:
                raise ZeroDivisionError("division by the constant zero in an expression")
            return whole_power(value, int(exponent))
        if value == 0:
            if exponent < 0:
                raise ZeroDivisionError("division by the constant zero in an expression")
            return _F0
        root = _exact_power(value, exponent)
        if root is not None:
            return root
    elif node.op == "mul" and whole:
        for base, inner in node.args:
            powers[base] = powers.get(base, _F0) + inner * exponent
        return _F1
    elif node.op == "add":
        leading: Number = node.args[0][0]
        if len(node.args) == 1:
            if whole:
                return _collect(node.args[0][1], exponent, powers) * whole_power(leading, int(exponent))
        elif whole and _divides(leading):
            monic = _from_linear({t: c / leading for c, t in node.args})
            powers[monic] = powers.get(monic, _F0) + exponent
            return whole_power(leading, int(exponent))
    powers[node] = powers.get(node, _F0) + exponent
    return _F1


def _collect_once(node: Node, powers: dict[Node, Fraction]) -> Number:
    """`_collect` for exponent one, the common case, without rational arithmetic."""
    leading: Number
    if node.op == "num":
        leading = node.args[0]
        return leading
    if node.op == "mul":
        for base, inner in node.args:
            powers[base] = powers[base] + inner if base in powers else inner
        return _F1
    if node.op == "add":
        leading = node.args[0][0]
        if len(node.args) == 1:
            _collect_once(node.args[0][1], powers)  # a single term is no sum, so nothing else comes out
            return leading
        if leading is not _F1 and _divides(leading):
            node = _from_linear({t: c / leading for c, t in node.args})
            powers[node] = powers[node] + _F1 if node in powers else _F1
            return leading
    powers[node] = powers[node] + _F1 if node in powers else _F1
    return _F1


def _divides(leading: Number) -> bool:
    """True if a sum can be divided by its leading coefficient, and begins with 1 then; infinities can not."""
    return bool(leading) and leading != 1 and (not isinstance(leading, float) or math.isfinite(leading))


def _exact_power(value: Number, exponent: Fraction) -> Number | None:
    if value < 0:
        return None
    if isinstance(value, float):
        return math.pow(value, exponent)
    roots = []
    for part in (value.numerator, value.denominator):
        root = flint.fmpz(part).root(exponent.denominator)
        if root**exponent.denominator != part:
            return None
        roots.append(int(root))
    return whole_power(Ratio(roots[0], roots[1]), exponent.numerator)


def from_powers(powers: Mapping[Node, Fraction], coefficient: Number) -> Node:
    """Coefficient times monomial, normalised."""
    if not coefficient and not isinstance(coefficient, float):
        return ZERO
    if any(_folds(base, exponent) for base, exponent in powers.items()):
        again: dict[Node, Fraction] = {}
        for base, exponent in powers.items():
            coefficient = coefficient * _collect(base, exponent, again)
        return from_powers(again, coefficient)
    items: list[tuple[Node, Fraction]] = []
    for base, exponent in powers.items():
        if exponent is _F1:
            items.append((base, _F1))
        elif exponent:  # a gate is 0 or 1: its positive powers are itself
            items.append((base, _F1 if exponent == 1 or (base.op == "step" and exponent > 0) else exponent))
    if not items:
        return num(coefficient)
    if len(items) == 1 and items[0][1] is _F1:
        return scale(items[0][0], coefficient)
    items.sort(key=_base_uid)
    product = _intern("mul", tuple(items))
    if coefficient is _F1 or (coefficient == 1 and isinstance(coefficient, Fraction)):
        return product
    return _from_linear({product: coefficient})


def _folds(base: Node, exponent: Fraction) -> bool:
    """True where fractional exponents added up to a whole one, so that the base can be taken apart after all."""
    if exponent is _F1 or exponent.denominator != 1 or not exponent:
        return False
    return base.op in ("num", "mul") or (base.op == "add" and (len(base.args) == 1 or _divides(base.args[0][0])))


def _base_uid(item: tuple[Node, Fraction]) -> bytes:
    return item[0].uid


def _leading(node: Node) -> Number:
    return node.args[0][0] if node.op == "add" else _F1


def exp(node: Node) -> Node:
    r"""Exponential; :math:`e^{-x}` is stored as :math:`1/e^x`, so that both share one atom.

    >>> from odesys import graph, sym
    >>> x, y = sym("x"), sym("y")
    >>> graph.exp(x) * graph.exp(-x), graph.exp(x) * graph.exp(y)
    (Node(1), Node(exp(x)*exp(y)))
    """
    if node is ZERO:
        return ONE
    if _leading(node) < 0:
        return power(_intern("exp", (-node,)), _MINUS)
    return _intern("exp", (node,))


def step(node: Node) -> Node:
    """Gate: 1 where `node` > 0, else 0. Its argument is a switching surface, normalised to leading coefficient +-1.

    >>> from odesys import graph, num, sym
    >>> graph.step(num(3)), graph.step(2 * sym("x")) is graph.step(sym("x"))
    (Node(1), True)
    """
    if node.op == "num":
        return ONE if node.args[0] > 0 else ZERO
    leading = _leading(node)
    leading = -leading if leading < 0 else leading
    # divided, not multiplied by 1 / leading: floats too get +-1 exactly, so that h and -h stay one surface
    return _intern("step", (combine((c / leading, t) for c, t in linear_terms(node)) if _divides(leading) else node,))


def relu(node: Node) -> Node:
    """max(node, 0), as the node times its gate.

    >>> from odesys import graph, sym
    >>> graph.relu(sym("x"))
    Node(x*Heaviside(x, 0))
    """
    return multiply(step(node), node)


def absolute(node: Node) -> Node:
    """|node|, as two half-lines, so that its kink is a switching surface like any other."""
    return relu(node) + relu(-node)


def call(name: str, node: Node) -> Node:
    """The function `name` applied to `node`.

    >>> from odesys import graph, sym
    >>> graph.gradient(graph.call("sin", 2 * sym("x")), [sym("x")])
    [Node(2*cos(2*x))]
    """
    if name in _SPECIAL:
        return _SPECIAL[name](node)
    if name not in FUNCTIONS:
        raise unknown(name)
    return _intern(name, (node,))


def sqrt(node: Node) -> Node:
    """Square root.

    >>> from odesys import graph, num
    >>> graph.sqrt(num(8)) / graph.sqrt(num(2))
    Node(2)
    """
    return power(node, _HALF)


def symbolic_power(base: Node, exponent: Node) -> Node:
    r""":math:`e^{b \log a}`, for a base that is positive; a rational exponent gives a plain power, as does 2.0.

    >>> symbolic_power(sym("x"), sym("a"))
    Node(x**a)
    """
    number = exponent.args[0] if exponent.op == "num" else None
    if isinstance(number, Fraction) or (number is not None and number.is_integer()):
        return power(base, ratio(number))
    return exp(multiply(exponent, call("log", base)))


def power_parts(node: Node) -> tuple[Node, Node] | None:
    """Base and exponent where an exponential is such a power, else None."""
    term = node.args[0] if node.op == "exp" else ONE
    if term.op == "add" and len(term.args) == 1:
        term = term.args[0][1]
    logs = [b for b, e in (term.args if term.op == "mul" else ((term, 1),)) if b.op == "log" and e == 1]
    return (logs[0].args[0], multiply(node.args[0], power(logs[0], _MINUS))) if len(logs) == 1 else None


def derivative(name: str, argument: Node, value: Node) -> Node:
    """The derivative of a function by its argument, given its value there."""
    return FUNCTIONS[name].derivative(argument, value, call)  # type: ignore[no-any-return]


_SPECIAL: dict[str, Callable[[Node], Node]] = {
    "exp": exp,
    "step": step,
    "relu": relu,
    "abs": absolute,
    "sqrt": sqrt,
    "cbrt": lambda node: power(node, Ratio(1, 3)),
}
