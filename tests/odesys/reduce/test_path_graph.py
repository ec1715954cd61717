"""Pinned vectors, maps and paths as a graph: what may be exchanged before a loss is looked at."""

from __future__ import annotations

from odesys import Data, Space, Words, gradient_flow, maps, softmax, squared
from odesys.reduce.automorphism import automorphisms
from odesys.reduce.path_graph import PathGraph, pin_vertices
from odesys.reduce.signed_graph import SignedGraph


def order_of_words(gram: object) -> int:
    words = Words("a b", gram)
    w = maps("w", 1, words)
    flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1)]), squared)
    build = SignedGraph()
    pin_vertices(build, "E", flow.naming.pins["E"])
    return automorphisms(build.coloured()).order


def test_words_move_as_their_gram_matrix_lets_them() -> None:
    assert order_of_words(None) == 8  # exchange and two signs
    assert order_of_words([[1, 0], [0, 2]]) == 4
    assert order_of_words([[2, 1], [1, 2]]) == 4  # exchange, and both signs at once


def test_maps_with_different_rates_stay_apart() -> None:
    words = Words("a b")
    heads = [(maps("w", 1, words, of=h), *maps("W_K W_Q", Space("m"), words, of=h)) for h in ("h1", "h2")]

    def f(X):
        one, two = (w @ X @ softmax(X.T @ K.T @ Q @ X[-1]) for w, K, Q in heads)
        return one + two

    data = Data(words, [("a b", 1)])
    alike = gradient_flow(f, data, squared)
    apart = gradient_flow(f, data, squared, rates={"w.h1": 2})
    orders = [automorphisms(PathGraph(flow).build.coloured()).order for flow in (alike, apart)]
    assert orders[0] > orders[1]
    assert alike.symmetries().order > apart.symmetries().order
