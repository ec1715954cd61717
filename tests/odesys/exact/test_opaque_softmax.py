"""Softmax weights as atoms: there and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.errors import EquationError
from odesys.exact.opaque_softmax import OpaqueSoftmax
from odesys.expr import graph
from odesys.expr.tape import ARRAYS, Tape


def softmax(logits: list[graph.Node], k: int) -> graph.Node:
    return graph.exp(logits[k]) / graph.add([graph.exp(z) for z in logits])


def test_softmax_weights_become_atoms_and_come_back() -> None:
    a, b, c, d = (graph.sym(s) for s in "abcd")
    first, second, third = [a * b, -c * d], [a * b, c], [a, b * c, -d]
    f = softmax(first, 0) * a + softmax(first, 1) * b + softmax(second, 1) * c - softmax(third, 2) * d
    roots = [*graph.gradient(graph.call("softplus", -f), [a, b, c, d]), f]
    atoms = OpaqueSoftmax(roots)
    assert len(atoms.slopes) == 1 and len(atoms.unit) == 2
    rng = np.random.default_rng(5)
    at = dict(zip("abcd", rng.standard_normal(4).tolist(), strict=True))
    for root in roots:
        made = atoms(root)
        assert not any(n.op == "exp" for n in graph.topological([made]))
        (old,), (new,) = (Tape.of([n]).over(ARRAYS)(at) for n in (root, atoms.back(made)))
        assert new == pytest.approx(old, abs=1e-14)


def test_exponentials_outside_of_a_softmax_are_refused() -> None:
    a, b = graph.sym("a"), graph.sym("b")
    share = softmax([a, b], 0)
    atoms = OpaqueSoftmax([share])
    with pytest.raises(EquationError, match="outside of a softmax"):
        atoms(share * graph.exp(a))
    with pytest.raises(EquationError, match="not independent"):
        OpaqueSoftmax([softmax([a, b], 0) + softmax([a, b, a * b], 1)])


def test_only_weights_over_two_tokens_are_independent() -> None:
    a, b, c = (graph.sym(s) for s in "abc")
    assert [str(s) for s in OpaqueSoftmax([softmax([a, b], 0)]).unit] == ["p1"]
    assert OpaqueSoftmax([softmax([a, b, c], 0)]).unit == []
