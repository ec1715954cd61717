r"""Softmax weights and loss slopes as opaque atoms: what is left is a polynomial in the states and in positive symbols.

A softmax shows in an expression as :math:`e^{z_a}/\sum_b e^{z_b}`. Its weights become atoms :math:`p_a`, the last one
:math:`1 - p_1 - \dots`, by :math:`e^{z_a} = p_a t`, :math:`\sum_b e^{z_b} = t`; an expression in which exponentials
occur in no other way does not contain t afterwards, which is checked. Softmaxes may share one exponential. Sigmoids
become atoms as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import sympy as sp

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node, sym
from ..expr.sympy_bridge import from_sympy, to_sympy
from .sign_normal import SignForm


class OpaqueSoftmax:
    """Atoms of all softmaxes and sigmoids below `roots`: ``p1_1``, ``p1_2``, ... for a softmax, ``g1``, ... for slopes.

    A softmax over two tokens has the atoms ``p1`` and ``pbar1`` = 1 - p1.

    Parameters
    ----------
    roots : Iterable[Node]
        The expressions that are read.

    Examples
    --------
    >>> x, y = sym("x"), sym("y")
    >>> OpaqueSoftmax([graph.exp(x) / (graph.exp(x) + graph.exp(y))]).positive
    [p1, 1 - p1]
    """

    def __init__(self, roots: Iterable[Node]) -> None:
        order = graph.topological(list(roots))
        self._forward: dict[Node, Node] = {}
        self.meaning: dict[Node, Node] = {}  # atom -> what it stands for, as sigmoids
        self.count = 0
        self.scales: list[str] = []
        self.positive: list[sp.Expr] = []
        self.unit: list[sp.Symbol] = []  # weights of softmaxes over two tokens are independent
        self.names: dict[sp.Expr, sp.Symbol] = {}
        for node in order:
            if node.op == "mul":
                for base, exponent in node.args:
                    if exponent < 0 and base.op == "add" and base not in self._forward:
                        self._softmax(base)
        self.slopes: list[Node] = []
        for node in order:
            if node.op == "sigmoid":
                self._slope(node)

    def _softmax(self, total: Node) -> None:
        logits = [_logit(c, t) for c, t in total.args]
        if any(z is None for z in logits):
            return
        self.count += 1
        number, found = self.count, [z for z in logits if z is not None]
        atoms = [sym(f"p{number}")] if len(found) == 2 else [sym(f"p{number}_{a}") for a in range(1, len(found))]
        last = 1 - graph.add(atoms)
        weights = [*atoms, last]
        scale = self._scale(found, weights, number)
        self._forward[total] = scale
        for z, weight in zip(found, weights, strict=True):
            self._set(z, weight * scale)
        bar = sym(f"pbar{number}")
        for k, atom in enumerate([*atoms, bar]):
            self.meaning[atom] = _weight(found, k)
        self.positive += [to_sympy(x) for x in weights]
        self.unit += [to_sympy(x) for x in atoms] if len(found) == 2 else []
        self.names[to_sympy(last)] = to_sympy(bar)

    def _scale(self, logits: list[Node], weights: list[Node], number: int) -> Node:
        """t of a softmax: new, or fixed by an exponential that another softmax has too."""
        seen = [(self._get(z), weight) for z, weight in zip(logits, weights, strict=True) if self._get(z) is not None]
        if len(seen) > 1:
            raise EquationError(f"two softmaxes share {len(seen)} exponentials, so their weights are not independent")
        if not seen:
            self.scales.append(f"scale{number}")
            return sym(f"scale{number}")
        value, weight = seen[0]
        assert value is not None
        return value / weight

    def _get(self, z: Node) -> Node | None:
        node = graph.exp(z)
        if node.op in ("exp", "num"):
            return self._forward.get(node) if node.op == "exp" else node
        found = self._forward.get(graph.exp(-z))
        return None if found is None else found**-1

    def _set(self, z: Node, value: Node) -> None:
        node = graph.exp(z)
        if node.op == "exp":
            self._forward.setdefault(node, value)
        elif node is not graph.ONE:
            self._forward.setdefault(graph.exp(-z), value**-1)

    def _slope(self, node: Node) -> None:
        atom = sym(f"g{len(self.slopes) + 1}")
        inner = self(node.args[0])
        self.meaning[atom] = graph.call("sigmoid", inner)
        self._forward[node] = atom
        self.slopes.append(atom)
        self.positive.append(to_sympy(atom))

    def __call__(self, node: Node) -> Node:
        """The node in atoms."""
        (out,) = graph.substitute([node], self._forward)
        if graph.symbols([out]) & set(self.scales):  # hidden in nested sums: term by term, each has few atoms
            out = graph.add([graph.scale(from_sympy(sp.cancel(to_sympy(t))), c) for c, t in graph.linear_terms(out)])
        if graph.symbols([out]) & set(self.scales) or any(n.op == "exp" for n in graph.topological([out])):
            raise EquationError("an exponential occurs outside of a softmax, so its weights can not stand for it")
        return out

    def back(self, node: Node) -> Node:
        """Atoms replaced by what they stand for: slopes first, whose margins contain softmax weights."""
        slopes = {a: self.meaning[a] for a in self.slopes}
        weights = {a: m for a, m in self.meaning.items() if a not in slopes}
        return graph.substitute(graph.substitute([node], slopes), weights)[0]

    def form(self, states: Iterable[str]) -> SignForm:
        """Normal form of signs: a sum over loss slopes of polynomials in the states, weights factored."""
        levels = [[to_sympy(g) for g in self.slopes], [sp.Symbol(name, real=True) for name in states]]
        return SignForm(self.positive, self.unit, levels, self.names)


def _logit(coefficient: Fraction, term: Node) -> Node | None:
    """z of a term e^z of a sum, else None."""
    if coefficient != 1:
        return None
    logit: Node | None = None
    if term.op == "exp":
        logit = term.args[0]
    elif term is graph.ONE:
        logit = graph.ZERO
    elif term.op == "mul" and len(term.args) == 1 and term.args[0][0].op == "exp" and term.args[0][1] == -1:
        logit = -term.args[0][0].args[0]
    return logit


def _weight(logits: list[Node], k: int) -> Node:
    if len(logits) == 2:
        return graph.call("sigmoid", logits[k] - logits[1 - k])
    return graph.add([graph.exp(z - logits[k]) for z in logits]) ** -1
