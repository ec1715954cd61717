"""Names for display: definitions put back give the equations again; softmax rows and shared parts are found."""

from __future__ import annotations

import math

import pytest

from odesys.expr.graph import Node, call, exp, sym
from odesys.expr.tape import ARRAYS, Tape
from odesys.tex.display_names import NamedEquations, name_parts
from tests.known_systems import lotka_volterra
from tests.toy_models import two_mixture

X, Y, Z = sym("x"), sym("y"), sym("z")
TOTAL = exp(X) + exp(Y) + exp(Z)


def values(named: NamedEquations, env: dict[str, float]) -> list[float]:
    """The equations with the definitions evaluated one after the other."""
    env = dict(env)

    def at(node: Node) -> float:
        return float(Tape.of([node]).over(ARRAYS)(env)[0])

    for part in named.parts:
        if part.exponents:
            weights = [math.exp(at(node)) for node in part.exponents] if part.plain else []
            for j, weight in enumerate(weights, 1):
                env[f"{part.symbol},{j}"] = weight / sum(weights)
            if not part.plain:
                total = at(part.node)
                for j, node in enumerate(part.exponents, 1):
                    env[f"{part.symbol},{j}"] = math.exp(at(node)) / total
        else:
            env[part.symbol] = at(part.node)
    return [at(node) for node in named.equations]


def test_a_softmax_row_is_found_and_reads_back() -> None:
    roots = [exp(X) / TOTAL * Y, exp(Y) / TOTAL - exp(Z) / TOTAL]
    named = name_parts(roots, ["x", "y", "z"])
    assert [part.kind for part in named.parts if part.exponents] == ["p"]
    env = {"x": 0.3, "y": -0.4, "z": 1.1}
    expected = [float(v) for v in Tape.of(roots).over(ARRAYS)(env)]
    assert values(named, env) == pytest.approx(expected, rel=1e-12)


def test_an_exponential_that_only_softmax_rows_share_gets_no_name() -> None:
    """Rows are written by their exponents, so a name for the exponential would stand there unused."""
    a, b, c, d = (sym(name) for name in "abcd")
    shared = exp(a * b + b * c + c * d + a * d)
    rows = [shared / (shared + exp(a)), shared / (shared + exp(b))]
    named = name_parts(rows, "abcd")
    assert [part.kind for part in named.parts] == ["p", "p"]
    also = name_parts([*rows, shared * a, shared * b], "abcd")
    assert "F" in [part.kind for part in also.parts]


def test_what_is_used_twice_gets_a_name_and_what_is_small_does_not() -> None:
    long = call("tanh", X * Y + X * Z + Y * Z + 1)
    named = name_parts([long * X, long + Y * Y], ["x", "y", "z"])
    assert len(named.parts) == 1 and named.parts[0].node is long
    assert name_parts([X * Y, X * Y + Z], ["x", "y", "z"]).parts == ()


def test_equations_of_a_model_read_back() -> None:
    from odesys import gradient_flow

    toy = two_mixture()
    system = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss).system
    named = name_parts(system.nodes, system.names)
    env = {name: 0.1 + 0.03 * k for k, name in enumerate(system.names)} | toy.parameters
    expected = [float(v) for v in Tape.of(system.nodes).over(ARRAYS)(env)]
    assert len(named.parts) > 3 and values(named, env) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_names_do_not_depend_on_what_was_built_before() -> None:
    system = lotka_volterra()
    first = name_parts(system.nodes, system.names)
    [exp(sym(f"other{k}") * X) for k in range(50)]
    again = name_parts(system.nodes, system.names)
    assert first.equations == again.equations and len(first.parts) == len(again.parts)
