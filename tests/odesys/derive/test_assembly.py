"""Path scalars are laid out head by head, and the variation of a path is a sum of products."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from odesys import (
    AttentionModel,
    Data,
    Dictionary,
    Distribution,
    Head,
    Sample,
    Words,
    blocks,
    gradient_flow,
    graph,
    maps,
    softmax,
    squared,
)
from odesys.derive.assembly import path_layout, path_leaves, term_block
from odesys.derive.closure import Force, close
from odesys.errors import ModelError


def two_heads():
    model = AttentionModel(Dictionary(["a", "b"]), [Head(+1), Head(-1)])
    flow = gradient_flow(model, Distribution([Sample(["a", "b"], 1)]))
    return flow.naming, close(tuple(flow.program.tables), frozenset(flow.train))


def test_states_come_head_by_head_and_symmetric_pairs_once() -> None:
    naming, closure = two_heads()
    layout, tex, structure = path_layout(naming, closure)
    heads = [structure[name].head for name in layout.names]
    assert heads == sorted(heads, reverse=True)  # p before m
    assert len(layout.names) == 2 * (2 + 4 + 3 + 3)
    assert tex["KQ_p_a_b"] == r"a^\top W_{K+}^\top W_{Q+} b"
    keys = next(segment for segment in layout.segments if segment.leaf == "KK_p")
    assert (keys.index == keys.index.T).all()


def test_leaves_have_the_shapes_of_their_pinned_sets() -> None:
    naming, closure = two_heads()
    leaves = path_leaves(naming, closure)
    assert leaves["w_m"].shape == (1, 2) and leaves["QQ_p"].shape == (2, 2)
    assert len(leaves) == len(closure.paths)


def test_a_term_is_the_product_of_its_factors() -> None:
    naming, closure = two_heads()
    leaves = path_leaves(naming, closure)
    forces = [blocks.leaf(f"G{i}", (naming.size(p.left), naming.size(p.right))) for i, p in enumerate(closure.read)]
    for path in closure.paths:
        for term in closure.terms[path]:
            block = term_block(term, naming, closure, leaves, forces)
            names = {b.data for b in blocks.topological([block]) if b.op == "leaf"}
            assert block.shape == (naming.size(path.left), naming.size(path.right))
            assert all(name.startswith("G") or name.endswith(f"_{naming.head(path)}") for name in names)


def test_paths_of_one_name_are_refused() -> None:
    words = Words("a b")
    W_A, A, w = maps("W_A", words, words), maps("A", words, words), maps("w", 1, words)
    data = Data(words, [("a b", 1)])
    with pytest.raises(ModelError, match="would both be called A; rename a map"):
        gradient_flow(lambda X: (w @ X @ softmax(X.T @ (W_A + A) @ X)).sum(), data, squared)


def test_a_term_has_its_factor_and_is_the_product_of_its_matrices() -> None:
    naming, closure = two_heads()
    leaves = path_leaves(naming, closure)
    forces = [blocks.leaf(f"G{i}", (naming.size(p.left), naming.size(p.right))) for i, p in enumerate(closure.read)]
    rng = np.random.default_rng(2)
    arrays = {b.data: rng.normal(size=b.shape) for b in (*leaves.values(), *forces)}
    terms = [(path, term) for path in closure.paths for term in closure.terms[path]]
    assert {term.coefficient for _, term in terms} == {graph.ONE}
    for path, term in terms:
        expected = np.eye(naming.size(path.left))
        for factor in term.factors:
            if isinstance(factor, Force):
                array = arrays[f"G{factor.read}"]
                expected = expected @ (array.T if factor.transposed else array)
            elif factor.letters:
                stored, turned = closure.canonical(factor)
                array = arrays[naming.leaf(stored)]
                expected = expected @ (array.T if turned else array)
        for coefficient in (graph.ONE, graph.num(Fraction(-3, 2)), graph.sym("eta")):
            block = term_block(replace(term, coefficient=coefficient), naming, closure, leaves, forces)
            (value,) = blocks.evaluate([block], arrays, {"eta": 0.25})
            times = {graph.ONE: 1.0, graph.sym("eta"): 0.25}.get(coefficient, -1.5)
            np.testing.assert_allclose(value, times * expected, rtol=1e-12)
