"""An AttentionModel and its program have the same equations, flow and step, state by state."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import gradient_descent, gradient_flow, graph
from odesys.model.paths import WORDS, Path
from odesys.program.attention import attention_data, attention_program
from tests.toy_models import Toy, all_toys


def renamed(old, new) -> dict[graph.Node, graph.Node]:
    """States of the model by those of the program: heads, paths and ends correspond."""
    out = {}
    for head, label in enumerate(old.model.head_labels):
        for path in old.closure.paths:
            table = next(
                new.matrices[new.naming.leaf(p)].T if turned else new.matrices[new.naming.leaf(p)]
                for p in new.closure.paths
                for turned in (False, True)
                if corresponds(p.T if turned else p, path, label)
            )
            names = old.matrices[old.leaf(path, head)]
            assert table.shape == names.shape
            out |= {graph.sym(a): graph.sym(b) for a, b in zip(table.flat, names.flat, strict=True)}
    return out


def corresponds(new: Path, old: Path, label: str) -> bool:
    same = [(x.name, x.transposed) for x in new.letters] == [(x.name, x.transposed) for x in old.letters]
    return same and {x.of for x in new.letters} == {label} and (new.left == WORDS) == (old.left == WORDS)


@pytest.mark.parametrize("toy", all_toys(), ids=lambda toy: toy.name)
@pytest.mark.parametrize("rule", [gradient_flow, gradient_descent])
def test_model_and_program_agree(toy: Toy, rule) -> None:
    function, words = attention_program(toy.model)
    old = rule(toy.model, toy.data, toy.loss, train=toy.train)
    new = rule(function, attention_data(words, toy.data), toy.loss, train=toy.train)
    assert old.system.dimension == new.system.dimension
    names = renamed(old, new)
    if words.pinned.gram is not None and isinstance(words.pinned.gram[0][0], float):  # sums of floats have an order
        order = [old.system.names.index(names[graph.sym(n)].args[0]) for n in new.system.names]
        x = np.random.default_rng(5).normal(size=old.system.dimension)
        given = {**toy.parameters, **({"eta": 0.3} if rule is gradient_descent else {})}
        found, known = new.system.compile(given)(0.0, x[order]), old.system.compile(given)(0.0, x)[order]
        assert np.abs(found - known).max() < 1e-12
        return
    moved = dict(zip(new.system.names, graph.substitute(new.system.nodes, names), strict=True))
    assert all(moved[a.args[0]] is old.system.equations[b.args[0]] for a, b in names.items())
