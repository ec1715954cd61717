"""Terms of an expression against SymPy's expansion."""

from __future__ import annotations

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
