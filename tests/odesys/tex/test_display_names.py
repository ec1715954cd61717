"""Names for display: definitions put back give the equations again; softmax rows and shared parts are found."""

from __future__ import annotations

import math
import random

import pytest

from odesys.expr.graph import Node, call, exp, num, step, sym
from odesys.expr.tape import ARRAYS, Tape
from odesys.tex.display_names import NamedEquations, name_parts
from odesys.tex.reading_order import monomial
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


def random_row(rng: random.Random) -> list[Node]:
    """Entries of a softmax row, some with weights, some with two exponentials in a term, and perhaps a 1."""
    states = [X, Y, Z]
    tops = [exp(a - b) if rng.random() < 0.5 else exp(a) for a, b in zip(states, rng.sample(states, 3), strict=True)]
    if rng.random() < 0.4:
        tops[0] = exp(X) * exp(X * Y)
    weights = [rng.choice([1, 1, 2, 3]) for _ in tops]
    total = sum((w * top for w, top in zip(weights, tops, strict=True)), rng.choice([num(0), num(0), num(1), num(2)]))
    return [top / total for top in tops]


@pytest.mark.parametrize("seed", range(25))
def test_random_equations_with_rows_forces_and_gates_read_back(seed: int) -> None:
    rng = random.Random(seed)
    row, other = random_row(rng), random_row(rng)
    mean = sum((p * s for p, s in zip(row, (X, Y, Z), strict=True)), num(0))
    force = call("sigmoid", X * Y - Z) * (row[0] * (X - 2) - other[1] * (3 - Y))
    gate = step(X + Y - Z) * (1 - row[1])
    roots = [
        rng.choice([1, -2, 3]) * force * X + mean - row[0] * mean,
        force * Y - rng.choice([1, 2]) * gate * X * (Z - 2),
        gate * (Y * Z + X) + row[0] ** 2 - 2 * row[0] * other[2],
        (X + Y * Z + 1) ** 2 * row[2] + (X + Y * Z + 1) * force * Z,
    ]
    named = name_parts(roots, ["x", "y", "z"])
    assert named.parts
    for env in ({"x": 0.3, "y": -0.4, "z": 1.1}, {"x": -0.7, "y": 1.3, "z": 0.2}):
        expected = [float(v) for v in Tape.of(roots).over(ARRAYS)(env)]
        assert values(named, env) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_a_force_that_two_states_share_gets_a_name_and_a_positive_sign() -> None:
    force = call("sigmoid", X * Y - Z) * (X * Z - Y * Z + X * Y)
    named = name_parts([-force * X, -2 * force * Y, Z], ["x", "y", "z"])
    (part,) = [part for part in named.parts if part.kind == "G"]
    signs = [c for root in named.equations for c, t in named.order.terms(root) if sym(part.symbol) in monomial(t)]
    assert len(signs) == 2 and all(c > 0 for c in signs)
    assert not [part for part in name_parts([-force * X, Z * Y, Z], ["x", "y", "z"]).parts if part.kind == "G"]
