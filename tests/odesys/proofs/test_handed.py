"""What a claim hands over in SymPy becomes a statement about nodes, with the signs SymPy assumes."""

from __future__ import annotations

import sympy as sp

from odesys.expr.graph import num, sym
from odesys.proofs.handed import as_node, as_nodes
from odesys.stated import Stated


def test_sides_of_any_kind_become_nodes() -> None:
    assert as_node("x") is sym("x")
    assert as_node(sp.Symbol("x") / 2) is sym("x") / 2
    assert as_node(3) is num(3)


def test_assumed_signs_become_hypotheses() -> None:
    a, b, c = sp.Symbol("a", positive=True), sp.Symbol("b", nonnegative=True), sp.Symbol("c")
    found = as_nodes(Stated("sum", "<", c, b + 1, values=((c, a),), where=((a, "<", b),)))
    assert (found.left, found.right) == (sym("c"), sym("b") + 1)
    assert found.positive == ("a",) and found.nonnegative == ("b",)
    assert found.values == ((sym("c"), sym("a")),) and found.where == ((sym("a"), "<", sym("b")),)
