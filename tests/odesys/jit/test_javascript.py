"""JavaScript from expressions: what is written, and that a browser computes the same numbers."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from fractions import Fraction

import pytest

from odesys.expr import graph
from odesys.expr.functions import FUNCTIONS
from odesys.expr.system import System
from odesys.jit.javascript import arrow, literal, prelude
from tests.browser import Browser, browser
from tests.live_pages import needs_browser

SEED = 23
X, Y = graph.sym("x"), graph.sym("y")
PLACES = {"x": "x[0]", "y": "x[1]"}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


@pytest.mark.parametrize("value", [0, 7, -3, Fraction(1, 3), Fraction(-22, 7), 0.1, 1e-300, 1e22, -2.5e-8, 2**60])
def test_constants_read_back_as_the_same_float(value: int | Fraction | float) -> None:
    top, _, bottom = literal(value).strip("()").partition("/")
    assert float(top) / float(bottom or 1) == float(value)


def test_common_factors_are_pulled_out() -> None:
    text = arrow("x", [X * Y + X * graph.exp(Y), graph.ZERO, Y, 2 * Y], PLACES, {})
    assert text == "(x)=>{const a=x[1];return[(exp(a)+a)*x[0],0,a,2*a]}"
    assert prelude(text) == "const exp=Math.exp;"


def test_gates_are_read_where_they_are_given() -> None:
    gate = graph.step(X)
    assert arrow("x,g", [gate * Y], PLACES, {gate: "g[0]"}) == "(x,g)=>[x[1]*g[0]]"
    assert "step(" in arrow("x", [gate * Y], PLACES, {})


def test_a_name_that_costs_more_than_it_saves_is_not_given() -> None:
    a, b = graph.exp(X), graph.exp(Y)
    twice = arrow("x", [graph.call("sin", a * b), graph.call("cos", a * b), a, b], PLACES, {})
    assert "sin(b*a),cos(b*a)" in twice
    divided = arrow("x", [graph.call("sin", a) / (a * b + 1), graph.call("cos", a) / (a * b)], PLACES, {})
    assert not re.search(r"/\w+\*", divided)  # x / (a b) is not x / a * b


def test_what_is_read_most_has_the_shortest_name() -> None:
    many = [graph.exp(graph.sym(f"z{k}")) for k in range(60)]
    places = {f"z{k}": f"x[{k}]" for k in range(60)}
    text = arrow(
        "x",
        [graph.call("sin", node) + graph.call("cos", node) for node in many] + [many[-1] + k for k in range(9)],
        places,
        {},
    )
    assert ",a=exp(x[59])" in text


def test_every_function_has_its_javascript() -> None:
    assert all(record.javascript for record in FUNCTIONS.values())


def evaluate(chromium: Browser, roots: list[graph.Node], points: list[list[float]]) -> list[list[float]]:
    text = arrow("x", roots, PLACES, {})
    script = f"""
        {prelude(text)} const f = {text};
        return arguments[0].map((x) => f(x).map((v) => (Number.isFinite(v) ? v : String(v))))"""
    return chromium.execute_script(script, points)  # type: ignore[no-any-return]


@pytest.mark.slow
@needs_browser
def test_a_browser_computes_every_function_as_python_does(chromium: Browser) -> None:
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    for name, record in FUNCTIONS.items():
        low, high = max(record.domain[0], -6.5), min(record.domain[1], 6.5)
        points = [rng.uniform(low, high) for _ in range(40)] + [0.0, -0.0, 800.0, -800.0, 30.0, -30.0]
        found = evaluate(chromium, [graph.call(name, X)], [[x, 0.0] for x in points])
        for x, (got,) in zip(points, found, strict=True):
            wanted = record.floats(x)
            if math.isfinite(wanted):
                assert got == pytest.approx(wanted, rel=4e-15, abs=1e-300), (name, x)
            else:
                assert float(str(got).replace("Infinity", "inf")) in (wanted,) or math.isnan(wanted), (name, x)


@pytest.mark.slow
@needs_browser
def test_a_browser_computes_random_expressions_as_python_does(chromium: Browser) -> None:
    rng = random.Random(SEED)
    print(f"seed {SEED}")

    def expression(depth: int) -> graph.Node:
        if depth == 0:
            return rng.choice([X, Y, graph.num(Fraction(rng.randint(-5, 5), rng.randint(1, 7)))])
        a, b = expression(depth - 1), expression(depth - 1)
        kind = rng.randrange(8)
        if kind < 3:
            return a + rng.randint(-3, 3) * b
        if kind < 5:
            return a * b
        if kind == 5:
            return a / (2 + b**2)
        if kind == 6:
            return graph.sqrt(1 + a**2) ** rng.choice([1, -1, 3, 5, -3])
        return graph.call(rng.choice(["exp", "tanh", "sigmoid", "softplus", "sin"]), graph.call("sin", a))

    roots = [expression(5) for _ in range(40)]
    points = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(5)]
    system = System.from_equations({"x": X, "y": Y}, observables={f"r{k}": root for k, root in enumerate(roots)})
    compiled = system.compile(backend="scalar")
    for point, row in zip(points, evaluate(chromium, roots, points), strict=True):
        wanted = list(compiled.observables(0.0, point).values())
        assert row == pytest.approx(wanted, rel=1e-11, abs=1e-12)
