"""Names for display: definitions put back give the equations again; softmax rows and shared parts are found."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from odesys.expr import graph
from odesys.expr.graph import Node, call, exp, num, power, step, sym
from odesys.expr.system import System
from odesys.expr.tape import ARRAYS, Tape
from odesys.tex.display_names import NamedEquations, name_parts
from odesys.tex.latex import system_text
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


# ---- what is shown ---------------------------------------------------------------------------------------------------

W, K, M = sym("w"), sym("k"), sym("m")
TWO, LONG = exp(X) + exp(Y), call("tanh", X * Y + X * Z + Y * Z + 1)


def slope(node: Node) -> Node:
    return call("sigmoid", node)


def soft(*nodes: Node) -> list[Node]:
    return [exp(node) / graph.add([exp(each) for each in nodes]) for node in nodes]


P1, Q1, R1 = soft(X, Y, Z)
FORCE = slope(X * Y - Z) * (X * Z - Y * Z + X * Y)
SHOWN: dict[str, tuple[list[Node], list[str]]] = {
    "row": (
        [P1 * Y, Q1 - R1, Z],
        ["p1 = softmax(x, y, z)", "d/dt x = p1[1]*y", "d/dt y = p1[2] - p1[3]", "d/dt z = z"],
    ),
    "row and square": (
        [P1 * P1 * X, P1 * Q1, Q1 * Q1 * Y],
        ["p1 = softmax(x, y, z)", "d/dt x = p1[1]^2*x", "d/dt y = p1[1]*p1[2]", "d/dt z = p1[2]^2*y"],
    ),
    "row over a total twice": (
        [exp(X + Y) / TWO**2, exp(2 * X) / TWO**2, exp(X) / TWO**3],
        [
            "Z1 = exp(x) + exp(y)",
            "p1 = softmax(x, y)",
            "d/dt x = exp(x + y)/Z1^2",
            "d/dt y = exp(2*x)/Z1^2",
            "d/dt z = p1[1]/Z1^2",
        ],
    ),
    "more above than below": (
        [exp(X) ** 2 / TWO, exp(X) ** 3 / TWO**2, exp(X) * exp(Y) / TWO],
        ["p1 = softmax(x, y)", "d/dt x = p1[1]*exp(x)", "d/dt y = p1[1]^2*exp(x)", "d/dt z = p1[1]*exp(y)"],
    ),
    "a squared exponential": (
        [exp(X) / (exp(X) ** 2 + exp(Y)), exp(X) ** 2 / (exp(X) ** 2 + exp(Y)), exp(X) ** 3 / (exp(X) ** 2 + exp(Y))],
        [
            "Z1 = exp(2*x) + exp(y)",
            "p1 = softmax(2*x, y)",
            "d/dt x = exp(x)/Z1",
            "d/dt y = p1[1]",
            "d/dt z = p1[1]*exp(x)",
        ],
    ),
    "an entry times a sum": (
        [exp(X) * (X * exp(X) + Y * exp(Y)) / TWO, P1, Z],
        [
            "p1 = softmax(x, y)",
            "p2 = softmax(x, y, z)",
            "d/dt x = p1[1]*(x*exp(x) + y*exp(y))",
            "d/dt y = p2[1]",
            "d/dt z = z",
        ],
    ),
    "above a named sum": (
        [
            call("sin", (X + Y * Z + 1) * X + Z) * Y,
            call("sin", (X + Y * Z + 1) * X + Z) * W,
            (X + Y * Z + 1) * W,
            (X + Y * Z + 1) ** 2,
        ],
        [
            "F1 = sin(x*(1 + x + y*z) + z)",
            "d/dt x = F1*y",
            "d/dt y = F1*w",
            "d/dt z = w*(1 + x + y*z)",
            "d/dt w = (1 + x + y*z)^2",
        ],
    ),
    "above a named sum, longer": (
        [
            call("sin", (X + Y * Z + 1) * X * Y + Z) * Y,
            call("sin", (X + Y * Z + 1) * X * Y + Z) * W,
            (X + Y * Z + 1) * W,
            (X + Y * Z + 1) ** 2,
        ],
        [
            "F1 = sin(x*y*(1 + x + y*z) + z)",
            "d/dt x = F1*y",
            "d/dt y = F1*w",
            "d/dt z = w*(1 + x + y*z)",
            "d/dt w = (1 + x + y*z)^2",
        ],
    ),
    "row with a one": (
        [exp(X) / (1 + exp(X) + exp(Y)), exp(Y) / (1 + exp(X) + exp(Y)), 1 / (1 + exp(X) + exp(Y))],
        ["Z1 = 1 + exp(x) + exp(y)", "p1 = softmax(0, x, y)", "d/dt x = p1[2]", "d/dt y = p1[3]", "d/dt z = 1/Z1"],
    ),
    "one exponential is no row": (
        [exp(X) / (1 + exp(X)), 1 / (1 + exp(X)), Y],
        ["d/dt x = exp(x)/(1 + exp(x))", "d/dt y = 1/(1 + exp(x))", "d/dt z = y"],
    ),
    "a term without exponential": (
        [exp(X) / (exp(X) + exp(Y) + Z), exp(Y), Z],
        ["d/dt x = exp(x)/(exp(x) + exp(y) + z)", "d/dt y = exp(y)", "d/dt z = z"],
    ),
    "weighted": (
        [exp(X) / (exp(X) + (K - 1) * exp(Y)), exp(Y) / (exp(X) + (K - 1) * exp(Y)), 1 / (exp(X) + (K - 1) * exp(Y))],
        [
            "Z1 = exp(x) + exp(y)*(k - 1)",
            "p1[1] = exp(x)/Z1",
            "p1[2] = exp(y)/Z1",
            "d/dt x = p1[1]",
            "d/dt y = p1[2]",
            "d/dt z = 1/Z1",
        ],
    ),
    "weights numbers": (
        [exp(X) / (exp(X) + 2 * exp(Y)), exp(Y) / (exp(X) + 2 * exp(Y)), Z],
        [
            "Z1 = exp(x) + 2*exp(y)",
            "p1[1] = exp(x)/Z1",
            "p1[2] = exp(y)/Z1",
            "d/dt x = p1[1]",
            "d/dt y = p1[2]",
            "d/dt z = z",
        ],
    ),
    "all weights alike": (
        [exp(X) / (2 * exp(X) + 2 * exp(Y)), exp(Y) / (3 * exp(X) + 3 * exp(Y)), Z],
        ["p1 = softmax(x, y)", "d/dt x = p1[1]/2", "d/dt y = p1[2]/3", "d/dt z = z"],
    ),
    "mean": (
        [(X * exp(X) + Y * exp(Y) + Z * exp(Z)) / TOTAL, P1, Z],
        ["p1 = softmax(x, y, z)", "d/dt x = p1[1]*x + p1[2]*y + p1[3]*z", "d/dt y = p1[1]", "d/dt z = z"],
    ),
    "mean twice": (
        [(X * exp(X) + Y * exp(Y) + Z * exp(Z)) / TOTAL * P1, (X * exp(X) + Y * exp(Y) + Z * exp(Z)) / TOTAL, X],
        ["p1 = softmax(x, y, z)", "S1 = p1[1]*x + p1[2]*y + p1[3]*z", "d/dt x = S1*p1[1]", "d/dt y = S1", "d/dt z = x"],
    ),
    "half mean": (
        [(X * exp(X) + Y) / TOTAL, P1, X],
        [
            "Z1 = exp(x) + exp(y) + exp(z)",
            "p1 = softmax(x, y, z)",
            "d/dt x = (x*exp(x) + y)/Z1",
            "d/dt y = p1[1]",
            "d/dt z = x",
        ],
    ),
    "two exponentials in a term": (
        [
            exp(X + Y) / (exp(X + Y) + exp(Z)),
            exp(X) * exp(Y) / (exp(X + Y) + exp(Z)) ** 2,
            exp(Z) / (exp(X + Y) + exp(Z)),
        ],
        [
            "Z1 = exp(z) + exp(x + y)",
            "p1 = softmax(z, x + y)",
            "d/dt x = p1[2]",
            "d/dt y = exp(x + y)/Z1^2",
            "d/dt z = p1[1]",
        ],
    ),
    "two rows": (
        [P1 * soft(X * Y, Z)[0], Q1, soft(X * Y, Z)[1]],
        ["p1 = softmax(x, y, z)", "p2 = softmax(x*y, z)", "d/dt x = p1[1]*p2[1]", "d/dt y = p1[2]", "d/dt z = p2[2]"],
    ),
    "root of total": (
        [exp(X) / power(TWO, Fraction(1, 2)), exp(X) / power(TWO, Fraction(3, 2)), TWO],
        [
            "d/dt x = exp(x)/sqrt(exp(x) + exp(y))",
            "d/dt y = exp(x)/(exp(x) + exp(y))^(3/2)",
            "d/dt z = exp(x) + exp(y)",
        ],
    ),
    "total above": (
        [TWO * X, TWO**2, exp(X) / TWO],
        ["Z1 = exp(x) + exp(y)", "p1 = softmax(x, y)", "d/dt x = Z1*x", "d/dt y = Z1^2", "d/dt z = p1[1]"],
    ),
    "normaliser used alone": (
        [1 / TWO, exp(X) / TWO, Z],
        ["Z1 = exp(x) + exp(y)", "p1 = softmax(x, y)", "d/dt x = 1/Z1", "d/dt y = p1[1]", "d/dt z = z"],
    ),
    "named": (
        [LONG * X, LONG + Y * Y, Z],
        ["F1 = tanh(1 + x*y + x*z + y*z)", "d/dt x = F1*x", "d/dt y = y^2 + F1", "d/dt z = z"],
    ),
    "small repeated": ([X * Y, X * Y + Z, X], ["d/dt x = x*y", "d/dt y = x*y + z", "d/dt z = x"]),
    "six": (
        [call("sin", X * Y + Z) * X, call("sin", X * Y + Z) * Y, Z],
        ["d/dt x = x*sin(x*y + z)", "d/dt y = y*sin(x*y + z)", "d/dt z = z"],
    ),
    "seven": (
        [call("sin", X * Y + Z * W) * X, call("sin", X * Y + Z * W) * Y, Z],
        ["F1 = sin(x*y + w*z)", "d/dt x = F1*x", "d/dt y = F1*y", "d/dt z = z"],
    ),
    "seven b": (
        [call("sin", X * Y + Z + 1) * X, call("sin", X * Y + Z + 1) * Y, Z],
        ["F1 = sin(1 + x*y + z)", "d/dt x = F1*x", "d/dt y = F1*y", "d/dt z = z"],
    ),
    "square": (
        [(X * Y + Z * W + 1) ** 2, (X * Y + Z * W + 1) * X, Z],
        ["S1 = 1 + x*y + w*z", "d/dt x = S1^2", "d/dt y = S1*x", "d/dt z = z"],
    ),
    "sum inside sum": (
        [(X + Y * Z + W * K) ** 2, X + Y * Z + W * K + M, 2 * X + 2 * Y * Z + 2 * W * K - 3 * M, -X - Y * Z - W * K],
        ["S1 = x + y*z + k*w", "d/dt x = S1^2", "d/dt y = m + S1", "d/dt z = 2*S1 - 3*m", "d/dt w = -S1"],
    ),
    "sum inside sum, other ratio": (
        [(X + Y * Z + W * K) ** 2, X + Y * Z + 2 * W * K + M],
        ["d/dt x = (x + z*y + k*w)^2", "d/dt y = x + z*y + 2*k*w + m"],
    ),
    "multiple": (
        [(2 * X + 4 * Y * Z + 6 * W) ** 2, X + 2 * Y * Z + 3 * W, -3 * X - 6 * Y * Z - 9 * W],
        ["d/dt x = 4*(x + 2*y*z + 3*w)^2", "d/dt y = x + 2*y*z + 3*w", "d/dt z = -3*x - 6*y*z - 9*w"],
    ),
    "inner sums nested": (
        [(X + Y) ** 3 * (X + Y + Z * W) ** 2, (X + Y + Z * W + K * M) ** 2 * (X + Y + Z * W)],
        ["d/dt x = (x + y + w*z)^2*(x + y)^3", "d/dt y = (x + y + k*m + w*z)^2*(x + y + w*z)"],
    ),
    "gate": (
        [graph.relu(X + Y * Z - W), graph.relu(X + Y * Z - W) * X, step(X + Y * Z - W)],
        ["H1 = x + y*z - w", "d/dt x = H1*[H1 > 0]", "d/dt y = H1*[H1 > 0]*x", "d/dt z = [H1 > 0]"],
    ),
    "gate small": (
        [graph.relu(X - Y), step(X - Y) * X, step(Y - X)],
        ["d/dt x = [x - y > 0]*(x - y)", "d/dt y = [x - y > 0]*x", "d/dt z = [x - y < 0]"],
    ),
    "gate once": (
        [graph.relu(X + Y * Z - W * K), Y, Z],
        ["H1 = x + y*z - k*w", "d/dt x = H1*[H1 > 0]", "d/dt y = y", "d/dt z = z"],
    ),
    "slope": (
        [slope(X * Y) * X, slope(X * Y) * Y, Z],
        ["g1 = g(-x*y)", "d/dt x = g1*x", "d/dt y = g1*y", "d/dt z = z"],
    ),
    "slope small": ([slope(X) * X, slope(X) * Y, Z], ["d/dt x = x*g(-x)", "d/dt y = y*g(-x)", "d/dt z = z"]),
    "slope sum": (
        [slope(X * Y - Z) * (X - Y), slope(X * Y - Z) * (X - Y) * Z, slope(X * Y - Z)],
        ["g1 = g(z - x*y)", "d/dt x = g1*(x - y)", "d/dt y = g1*z*(x - y)", "d/dt z = g1"],
    ),
    "force": (
        [-FORCE * X, -2 * FORCE * Y, Z],
        ["G1 = -g(z - x*y)*(x*y + x*z - y*z)", "d/dt x = G1*x", "d/dt y = 2*G1*y", "d/dt z = z"],
    ),
    "force once": ([-FORCE * X, Z * Y, Z], ["d/dt x = -x*g(z - x*y)*(x*y + x*z - y*z)", "d/dt y = y*z", "d/dt z = z"]),
    "force sum": (
        [
            X * (slope(X * Y) * (Z + W * Y) - slope(Z * W) * (X + Y)),
            Y * (slope(X * Y) * (Z + W * Y) - slope(Z * W) * (X + Y)),
            Z,
        ],
        ["G1 = g(-x*y)*(w*y + z) - g(-w*z)*(x + y)", "d/dt x = G1*x", "d/dt y = G1*y", "d/dt z = z"],
    ),
    "force sum neg": (
        [
            -X * (slope(X * Y) * (Z + W * Y) - slope(Z * W) * (X + Y)),
            -Y * (slope(X * Y) * (Z + W * Y) - slope(Z * W) * (X + Y)) + slope(X * Y),
            Z,
        ],
        ["g1 = g(-x*y)", "G1 = g(-w*z)*(x + y) - g1*(w*y + z)", "d/dt x = G1*x", "d/dt y = G1*y + g1", "d/dt z = z"],
    ),
    "gated force": (
        [step(X + Y - Z) * (X * Y + Z * W) * X, step(X + Y - Z) * (X * Y + Z * W) * Y, Z],
        ["P1 = [x + y - z > 0]*(x*y + w*z)", "d/dt x = P1*x", "d/dt y = P1*y", "d/dt z = z"],
    ),
    "common": (
        [K * X * Y + K * X * Z, X / K + Y / K, X * Y**2 * Z + X * Y],
        ["d/dt x = k*x*(y + z)", "d/dt y = (x + y)/k", "d/dt z = x*y*(1 + y*z)"],
    ),
    "common neg": (
        [X / (1 + Y) + Z / (1 + Y), exp(X) * Y + exp(X) * Z, X**-1 + X**-2],
        ["d/dt x = (x + z)/(1 + y)", "d/dt y = exp(x)*(y + z)", "d/dt z = (1 + 1/x)/x"],
    ),
    "common gates": (
        [
            step(X) * Y * K + step(X) * Z * K + step(Y) * Z * K,
            slope(X) * Y * K + slope(X) * Z * K + W,
            X * Y + X * Z + step(X) * X * W,
        ],
        ["d/dt x = k*([x > 0]*(y + z) + [y > 0]*z)", "d/dt y = k*g(-x)*(y + z) + w", "d/dt z = x*(w*[x > 0] + y + z)"],
    ),
    "product named": (
        [call("sin", X) * call("cos", Y) * slope(Z) * W, call("sin", X) * call("cos", Y) * slope(Z) * W + Z, X],
        ["G1 = w*sin(x)*cos(y)*g(-z)", "d/dt x = G1", "d/dt y = z + G1", "d/dt z = x"],
    ),
    "product named 2": (
        [
            call("sin", X) * call("cos", Y) * call("tanh", Z) * W,
            call("sin", X) * call("cos", Y) * call("tanh", Z) * W + Z,
            X,
        ],
        ["P1 = w*sin(x)*cos(y)*tanh(z)", "d/dt x = P1", "d/dt y = z + P1", "d/dt z = x"],
    ),
    "written size": (
        [X * (M - 2) * (X * Y + Z * W), X * (M - 2) * (X * Y + Z * W) + Z, call("sin", X * (M - 2) * (X * Y + Z * W))],
        ["P1 = x*(m - 2)*(x*y + w*z)", "d/dt x = P1", "d/dt y = z + P1", "d/dt z = sin(P1)"],
    ),
    "written size 2": (
        [(1 - M) * slope(X * Y) * (X + Z * W), (1 - M) * slope(X * Y) * (X + Z * W) * Y, Z],
        ["g1 = g(-x*y)", "d/dt x = -g1*(x + w*z)*(m - 1)", "d/dt y = -g1*y*(x + w*z)*(m - 1)", "d/dt z = z"],
    ),
    "F power": (
        [1 / (X * Y + Z * W + K), 1 / (X * Y + Z * W + K) ** 2, Z],
        ["S1 = x*y + w*z + k", "d/dt x = 1/S1", "d/dt y = 1/S1^2", "d/dt z = z"],
    ),
    "exp shared": (
        [exp(X * Y + Z * W) * X, exp(X * Y + Z * W) * Y, Z],
        ["F1 = exp(x*y + w*z)", "d/dt x = F1*x", "d/dt y = F1*y", "d/dt z = z"],
    ),
    "exp in row shared": (
        [
            exp(X * Y + Z * W + X) / (exp(X * Y + Z * W + X) + exp(Y)),
            exp(X * Y + Z * W + X) / (exp(X * Y + Z * W + X) + exp(Z)),
            Z,
        ],
        [
            "p1 = softmax(y, x + x*y + w*z)",
            "p2 = softmax(z, x + x*y + w*z)",
            "d/dt x = p1[2]",
            "d/dt y = p2[2]",
            "d/dt z = z",
        ],
    ),
    "exp in row and alone": (
        [
            exp(X * Y + Z * W + X) / (exp(X * Y + Z * W + X) + exp(Y)),
            exp(X * Y + Z * W + X) / (exp(X * Y + Z * W + X) + exp(Z)),
            Z * exp(X * Y + Z * W + X),
            X * exp(X * Y + Z * W + X),
        ],
        [
            "F1 = exp(x + x*y + z*w)",
            "p1 = softmax(y, x + x*y + z*w)",
            "p2 = softmax(z, x + x*y + z*w)",
            "d/dt x = p1[2]",
            "d/dt y = p2[2]",
            "d/dt z = F1*z",
            "d/dt w = F1*x",
        ],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_parts_are_named_and_equations_shown_as_a_reader_wants_them(name: str) -> None:
    """What is shared and long has a letter for its kind; what is put back gives the equations again."""
    roots, lines = SHOWN[name]
    names = ["x", "y", "z", "w"][: len(roots)]
    parameters = sorted(graph.symbols(roots) - {*names})
    system = System.from_equations(dict(zip(names, roots, strict=True)), parameters)
    assert [line for line in system_text(system).splitlines() if not line.startswith("#")] == lines
    env = {"x": 0.3, "y": -0.4, "z": 1.1, "w": 0.7, "k": 1.7, "m": 2.3}
    expected = [float(v) for v in Tape.of(roots).over(ARRAYS)(env)]
    assert values(name_parts(roots, [*names, *parameters]), env) == pytest.approx(expected, rel=1e-12, abs=1e-12)
