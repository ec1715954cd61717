"""Rewriting: every rule keeps the value, equal arguments share an atom, floats are seen."""

from __future__ import annotations

import math

import pytest

from odesys.exact.rewriting import Rewriter, has_floats
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, Node, call, exp, num, power, sqrt, step, sym
from odesys.expr.tape import ARRAYS, Tape

X, Y = sym("x"), sym("y")
POINT = {"x": 0.7, "y": 1.9}
RULES: dict[str, Node] = {
    "exp": exp(2 * X + Y) * exp(-X / 3),
    "sigmoid": call("sigmoid", X) + call("sigmoid", -2 * X),
    "softplus": call("softplus", X - Y),
    "tanh": call("tanh", 3 * X),
    "cosh": call("cosh", X) * call("sinh", Y),
    "cos": call("cos", X + 2 * Y) * call("sin", X / 2),
    "tan": call("tan", X - Y),
    "log": call("log", 12 * X**2 * Y),
    "root": sqrt(8 * X * Y**3),
}


def value(node: Node, env: dict[str, float]) -> float:
    return float(Tape.of([node]).over(ARRAYS)(env)[0])


@pytest.mark.parametrize("name", RULES)
def test_a_rule_keeps_the_value(name: str) -> None:
    rewriter = Rewriter(positive=["x", "y"])
    (new,) = rewriter([RULES[name]])
    env = dict(POINT)
    while missing := sorted(graph.symbols([new, *(a for _, a in rewriter.meaning.values())]) - set(env)):
        for atom in missing:
            kind, argument = rewriter.meaning[sym(atom)]
            if graph.symbols([argument]) <= set(env):
                env[atom] = value(call(kind, argument) if kind != "exp" else exp(argument), env)
    assert not any(node.op not in ("num", "sym", "add", "mul") for node in graph.topological([new]))
    assert value(new, env) == pytest.approx(value(RULES[name], POINT), rel=1e-12)


def test_multiples_of_an_exponent_share_an_atom() -> None:
    rewriter = Rewriter()
    first, second = rewriter([exp(X), exp(2 * X)])
    assert first.op == "sym" and second is first * first


def test_angles_are_added_in_one_unit() -> None:
    rewriter = Rewriter()
    half, whole = rewriter([call("cos", X / 2), call("cos", X)])
    unit = {argument for kind, argument in rewriter.meaning.values() if sym("x") in graph.topological([argument])}
    assert unit == {X / 2} and graph.symbols([half, whole]) <= {atom.args[0] for atom in rewriter.meaning}


def test_a_gate_and_its_opposite_differ_only_on_the_surface() -> None:
    rewriter = Rewriter(positive=["x"])
    assert rewriter([step(X), step(-X), step(X + exp(Y))]) == [ONE, ZERO, ONE]
    gate, other = rewriter([step(Y), step(-Y)])
    assert gate.op == "sym" and len(graph.symbols([gate + other])) == 1  # only the edge is left


def test_a_divisor_that_vanishes_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        Rewriter()([power(exp(X) - exp(X / 2) * exp(X / 2) + 0 * Y, num(-1).args[0])])


def test_floats_are_seen_wherever_they_are() -> None:
    assert has_floats([exp(X * num(0.5))]) and has_floats([X + num(math.pi)]) and not has_floats([X / 2])


def test_what_turns_out_to_be_zero_is_neither_positive_nor_past_a_surface() -> None:
    """A gate is open where its argument is positive: not at zero."""
    nothing = call("log", exp(X)) - X
    assert nothing is not ZERO
    rewriter = Rewriter(positive=["x"])
    assert rewriter([step(nothing), step(nothing + 1), step(nothing - 1), step(nothing + X)]) == [ZERO, ONE, ZERO, ONE]
    assert rewriter([call("sin", nothing), call("arctan", nothing), exp(nothing)]) == [ZERO, ZERO, ONE]


@pytest.mark.parametrize(
    ("nodes", "passes"),
    [
        ([exp(X), step(Y)], 1),
        ([call("cos", X), call("cos", X)], 1),
        ([call("cos", X), call("sin", 3 * X)], 1),
        ([call("cos", X), call("cos", X / 2)], 2),  # the first is written in x before x/2 is seen
        ([call("cos", X), call("cos", X / 2), call("cos", X / 3)], 2),
    ],
)
def test_roots_are_rewritten_again_only_where_an_angle_was_split(
    nodes: list[Node], passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    plain = Rewriter._rewrite
    monkeypatch.setattr(Rewriter, "_rewrite", lambda self, roots: (made.append(len(roots)), plain(self, roots))[1])
    rewriter = Rewriter()
    rewriter(nodes)
    assert made == [len(nodes)] * passes
    rewriter(nodes)  # units are known now
    assert len(made) == passes + 1
