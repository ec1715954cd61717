"""Terms of an expression against SymPy's expansion."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import from_sympy, graph, sym, to_sympy
from odesys.exact import sparse_terms as module
from odesys.exact.sparse_terms import TooManyTerms, sparse_terms


def test_terms_add_up_to_the_expansion_of_sympy() -> None:
    rng = np.random.default_rng(0)
    x, y, z = sp.symbols("x y z")
    for _ in range(20):
        a, b, c = (sp.Rational(int(rng.integers(-5, 6)), int(rng.integers(1, 4))) for _ in range(3))
        expression = (a * x + b * y * z) ** 2 * (c + x) - x * y * sp.exp(x - y) + z / (x + y) ** 2
        terms = sparse_terms(from_sympy(expression))
        total = graph.combine((v, graph.multiply(*(graph.power(*f) for f in m))) for m, v in terms.items())
        # names of SymPy's symbols have assumptions of their own there
        names = {s: sp.Symbol(s.name) for s in to_sympy(total).free_symbols}
        assert sp.cancel(to_sympy(total).xreplace(names) - expression) == 0
        polynomial = sp.Poly(sp.expand((a * x + b * y * z) ** 2 * (c + x)), x, y, z)
        inside = [m for m in terms if all(atom.op == "sym" and e > 0 for atom, e in m)]
        assert len(inside) == len([t for t in polynomial.terms() if t[1] != 0])


def test_cancelled_terms_are_gone() -> None:
    x, y = sym("x"), sym("y")
    assert sparse_terms((x + y) * (x - y) - x**2 + y**2) == {}


def test_a_large_product_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 10)
    with pytest.raises(TooManyTerms):
        sparse_terms(graph.add(sym(f"x{k}") for k in range(5)) ** 3)


def test_a_power_of_two_terms_is_refused_before_it_is_long() -> None:
    x = sym("x")
    assert len(sparse_terms((x + 1) ** 200)) == 201
    with pytest.raises(TooManyTerms):
        sparse_terms((x + 1) ** 100_000)


def test_terms_by_hand() -> None:
    x, y = sym("x"), sym("y")

    def told(node: graph.Node) -> dict[frozenset[tuple[str, object]], object]:
        return {frozenset((repr(a)[5:-1], e) for a, e in m): c for m, c in sparse_terms(node).items()}

    def monomial(**powers: object) -> frozenset[tuple[str, object]]:
        return frozenset(powers.items())

    third = Fraction(1, 3)
    assert told(graph.ZERO) == {} and told(graph.num(third)) == {monomial(): third}
    cube = {monomial(x=3): 1, monomial(x=2, y=1): 3, monomial(x=1, y=2): 3, monomial(y=3): 1}
    assert told((x + y) ** 3) == cube and told(x * (x + y) ** 2 + y * (x + y) ** 2) == cube
    assert told((x + 1) * (x - 1) / x) == {monomial(x=1): 1, monomial(x=-1): -1}
    assert told(2 * x - third) == {monomial(x=1): 2, monomial(): -third}
    assert told((x + 1) * graph.exp(y) * y) == {
        frozenset({("x", 1), ("exp(y)", 1), ("y", 1)}): 1,
        frozenset({("exp(y)", 1), ("y", 1)}): 1,
    }
    for opaque in ((x + y) ** Fraction(1, 2), 1 / (x + y), (x + y) ** -2, graph.num(0.5)):
        ((found, c),) = sparse_terms(opaque * x if opaque.op != "num" else opaque).items()
        assert c == 1 and len(found) == (2 if opaque.op != "num" else 1)
    assert told(graph.sqrt(x + y) ** 3 / (x + y)) == {frozenset({("x + y", Fraction(1, 2))}): 1}


def test_the_limit_itself_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of terms in one multiplication, and in all those of one power."""
    x, y, z = sym("x"), sym("y"), sym("z")
    for node, limit in (((x + y) * (x + y + z), 6), ((x + y) ** 3, 10), ((x + y) ** 2, 4)):
        monkeypatch.setattr(module, "LIMIT", limit)
        assert sparse_terms(node)
        monkeypatch.setattr(module, "LIMIT", limit - 1)
        with pytest.raises(TooManyTerms):
            sparse_terms(node)
