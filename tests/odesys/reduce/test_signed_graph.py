"""Signed vertices and products of signs, counted by their automorphisms."""

from __future__ import annotations

from odesys.reduce.automorphism import automorphisms
from odesys.reduce.signed_graph import SignedGraph


def test_a_signed_vertex_flips_only_where_it_may() -> None:
    for flips, order in ((True, 2), (False, 1)):
        build = SignedGraph()
        build.signed(("x",), "x", flips)
        assert automorphisms(build.coloured()).order == order


def test_the_sign_of_a_product_follows_its_factors() -> None:
    build = SignedGraph()
    for name in ("a", "b", "ab"):
        build.signed((name,), name, True)
    build.product(("ab",), [(("a",), "left"), (("b",), "right")], "product")
    assert automorphisms(build.coloured()).order == 4  # two signs are free, the third is theirs


def test_equal_labels_let_factors_change_places() -> None:
    build = SignedGraph()
    for name in ("a", "b", "ab"):
        build.signed((name,), name[-1] if len(name) > 1 else "factor", True)
    build.product(("ab",), [(("a",), "factor"), (("b",), "factor")], "product")
    assert automorphisms(build.coloured()).order == 8
