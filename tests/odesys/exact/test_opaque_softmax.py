"""Softmax weights as atoms: there and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

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


A, B, C, D, X = (graph.sym(name) for name in "abcdx")
ZERO = graph.ZERO


def at(node: graph.Node, point: dict[str, float]) -> float:
    return float(Tape.of([node]).over(ARRAYS)(point)[0])


def test_what_is_no_softmax_gets_no_atoms() -> None:
    """A coefficient, another factor, another power, another function; or no exponential at all."""
    e = graph.exp
    for total in (
        *(2 * e(A) + e(B), e(A) + X, X * e(A) + e(B), X * e(-A) + e(B), e(A) ** 2 + e(B), e(A) ** -2 + e(B)),
        *(1 / X + e(B), graph.call("sin", A) + e(B), 2 + e(A), graph.sqrt(X) + e(A)),
    ):
        atoms = OpaqueSoftmax([X / total, total])
        assert (atoms.count, atoms.positive, atoms.unit, atoms.names, atoms.meaning) == (0, [], [], {}, {}), total
    assert OpaqueSoftmax([(e(A) + e(B)) ** 2]).count == 0  # nothing is divided by


@pytest.mark.parametrize(
    ("logits", "unit"),
    [
        ([A, B], ["p1"]),
        ([ZERO, A], ["p1"]),
        ([-A, ZERO], ["p1"]),
        ([A, -B], ["p1"]),
        ([A, B, C], []),
        ([ZERO, A * B, -C, D], []),
    ],
)
def test_atoms_of_a_softmax_are_its_weights(logits: list[graph.Node], unit: list[str]) -> None:
    weights = [softmax(logits, k) for k in range(len(logits))]
    atoms = OpaqueSoftmax(weights)
    assert atoms.count == 1 and [str(s) for s in atoms.unit] == unit
    made = [atoms(weight) for weight in weights]
    names = ["p1"] if unit else [f"p1_{k}" for k in range(1, len(logits))]
    assert graph.symbols(made) == set(names) and graph.add(made) is graph.ONE
    assert sorted(map(str, atoms.meaning)) == sorted(f"Node({name})" for name in (*names, "pbar1"))
    (last,) = [node for node in made if node.op == "add"]
    assert {str(key): str(name) for key, name in atoms.names.items()} == {str(sp.sympify(repr(last)[5:-1])): "pbar1"}
    assert len(atoms.positive) == len(logits)
    point = dict(zip("abcd", (0.3, -0.7, 1.1, 0.4), strict=True))
    for weight, node in zip(weights, made, strict=True):
        own = graph.sym("pbar1") if node is last else node
        assert at(atoms.meaning[own], point) == pytest.approx(at(weight, point), rel=1e-14)
        assert at(atoms.back(node), point) == pytest.approx(at(weight, point), rel=1e-14)


def test_softmaxes_that_share_one_exponential_are_read_together() -> None:
    """Whatever they share it in: the exponential itself, its inverse, or the number one."""
    for first, second in (([A, B], [A, C]), ([A, B], [-A, C]), ([-A, B], [A, C, D]), ([ZERO, A], [ZERO, B, C])):
        for f in ([first, second], [second, first]):
            sums = [softmax(logits, k) * (k + 2) for logits in f for k in range(len(logits))]
            root = graph.multiply(graph.add(sums[: len(f[0])]), graph.add(sums[len(f[0]) :]), X)
            atoms = OpaqueSoftmax([root])
            made = atoms(root)
            assert atoms.count == 2 and not graph.symbols([made]) & {*"abcd", *atoms.scales}
            point = dict(zip("abcdx", (0.3, -0.7, 1.1, 0.4, 1.7), strict=True))
            assert at(atoms.back(made), point) == pytest.approx(at(root, point), rel=1e-13)
    with pytest.raises(EquationError, match="share 2 exponentials"):
        OpaqueSoftmax([softmax([A, B, C], 0) * softmax([A, -B], 1)])


def test_slopes_are_numbered_and_their_margins_are_in_atoms() -> None:
    margin = softmax([A, B], 0) * X - 1
    first, second = graph.call("sigmoid", margin), graph.call("sigmoid", -X)
    atoms = OpaqueSoftmax([first * second * X + softmax([A, B], 1)])
    assert {repr(node) for node in atoms.slopes} == {"Node(g1)", "Node(g2)"} and atoms.count == 1
    meanings = {atoms.meaning[g] for g in atoms.slopes}
    assert meanings == {graph.call("sigmoid", atoms(margin)), graph.call("sigmoid", -X)}
    assert len(atoms.positive) == 4  # two weights and two slopes
    back = atoms.back(atoms(first * second + softmax([A, B], 1)))
    point = dict(zip("abx", (0.3, -0.7, 1.7), strict=True))
    assert at(back, point) == pytest.approx(at(first * second + softmax([A, B], 1), point), rel=1e-14)
    form = atoms.form(["x", "y"])
    assert [[str(s) for s in level] for level in form.levels] == [["g1", "g2"], ["x", "y"]]
    assert form.unit == atoms.unit and form.definite(atoms.positive[0]) == 1 and form.definite(form.levels[1][0]) == 0
