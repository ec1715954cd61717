"""Pinned vectors, maps and paths as a graph: what may be exchanged before a loss is looked at."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from odesys import Data, Space, Words, gradient_descent, gradient_flow, heavy_ball, maps, softmax, squared
from odesys.derive.flow import Flow
from odesys.reduce.automorphism import automorphisms
from odesys.reduce.path_graph import PathGraph, pin_vertices
from odesys.reduce.program_symmetry import ProgramSymmetry, _keeps_grams, _keeps_rule
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


def scored(rule=gradient_flow, gram=None, **more) -> Flow:
    words, m = Words("a b", gram), Space("m")
    K, Q = maps("W_K W_Q", m, words)
    return rule(lambda X: X[0].T @ K.T @ Q @ X[1], Data(words, [("a b", 1), ("b a", 1)]), squared, **more)


def tried(flow: Flow, fixed: bool = False) -> int:
    """Signed permutations of words and maps, one by one, that keep rule, inner products and paths (or every state)."""
    names, count = list(flow.naming.letters), 0
    for order, signs in product(permutations(range(2)), product((1, -1), repeat=2)):
        pins = (("E", tuple(("E", i, s) for i, s in zip(order, signs, strict=True))),)
        for images, turns in product(permutations(names), product((1, -1), repeat=len(names))):
            moves = tuple((n, (i, s)) for n, i, s in zip(names, images, turns, strict=True))
            element = ProgramSymmetry(pins, moves)
            if not (_keeps_rule(flow, element) and _keeps_grams(flow, element)):
                continue
            known = {*flow.closure.paths, *(p.T for p in flow.closure.paths)}
            if fixed:
                if any(element.path(path)[0] not in known for path in flow.closure.paths):
                    continue
                target, sign = element.on_states(flow)
                count += bool((target == range(len(target))).all() and (sign == 1).all())
            else:
                count += 1
    return count


@pytest.mark.parametrize(
    "make",
    [
        scored,
        lambda: scored(rates={"W_K": 2}),
        lambda: scored(gram=[[1, 0], [0, 2]]),
        lambda: scored(gram=[[2, 1], [1, 2]]),
        lambda: scored(train="W_K", carry="W_K W_Q"),
        lambda: scored(decay=2),
        lambda: scored(gradient_descent),
        lambda: scored(heavy_ball),
        lambda: scored(heavy_ball, rates={"W_Q": 3}),
    ],
)
def test_vectors_and_maps_move_as_the_rule_and_inner_products_let_them(make) -> None:
    """Without paths: the automorphisms of the graph are the elements found by trying all."""
    flow = make()
    assert automorphisms(PathGraph(flow).build.coloured()).order == tried(flow)


@pytest.mark.parametrize("make", [scored, lambda: scored(rates={"W_K": 2}), lambda: scored(gram=[[2, 1], [1, 2]])])
def test_what_fixes_every_scalar_with_its_sign_is_what_moves_no_state(make) -> None:
    flow = make()
    tied = PathGraph(flow)
    for path in flow.closure.paths:
        for i, j in product(range(2), repeat=2):
            name = flow.layout.names[flow.segment(path).index[i, j]]
            tied.state(path, i, j, ((name, 1), (name, -1)))
            size = len(tied.build.colours)
            tied.state(path, i, j)  # it is there already
            assert len(tied.build.colours) == size
    assert set(tied.states) == set(flow.system.names)
    assert automorphisms(tied.build.coloured()).order == tried(flow, fixed=True)
