"""JavaScript from expressions: what is written, and that a browser computes the same numbers."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import pytest

from odesys.expr import graph
from odesys.expr.functions import FLOAT_ROOTS, FUNCTIONS
from odesys.expr.system import System
from odesys.jit.javascript import _names, arrow, literal, prelude
from tests.browser import Browser, browser
from tests.live_pages import needs_browser
from tests.odesys.jit.test_shared_factors import products_that_share
from tests.written_code import value_of

SEED = 23
X, Y, Z, W = map(graph.sym, "xyzw")
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


def expression(rng: random.Random, depth: int) -> graph.Node:
    """A random expression in x and y."""
    if depth == 0:
        return rng.choice([X, Y, graph.num(Fraction(rng.randint(-5, 5), rng.randint(1, 7)))])
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
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


def parts_of(text: str) -> tuple[list[str], list[str]]:
    """Constants and results of a function; commas inside of brackets do not part."""
    found = re.fullmatch(r"\([\w,]*\)=>(?:\{const (.*);return\[(.*)\]\}|\[(.*)\])", text)
    assert found is not None
    lists: list[list[str]] = []
    for group in (found[1], found[2] if found[2] is not None else found[3]):
        depth, parts = 0, [""]
        for letter in group or "":
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += letter
        lists.append([part for part in parts if part])
    return lists[0], lists[1]


def values_of(text: str, **given: object) -> list[float]:
    """What a function gives, by Python, whose operators on floats are those of JavaScript."""
    names = dict(FLOAT_ROOTS) | {name: record.floats for name, record in FUNCTIONS.items()} | given
    constants, results = parts_of(text)
    for line in constants:
        name, _, body = line.partition("=")
        assert name not in names, "a constant is given once, and hides no argument and no function"
        names[name] = value_of(body, names)
    return [value_of(body, names) for body in results]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_has_the_value_of_the_expression(seed: int) -> None:
    """Of random expressions, together and alone; what is called twice is written once."""
    rng = random.Random(seed)
    roots = [expression(rng, 4) for _ in range(8)]
    roots += [roots[0], 2 * roots[1], roots[2] * roots[3], roots[2] * roots[3] * X, roots[4] - roots[5] * roots[2]]
    text = arrow("x", roots, PLACES, {})
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        wanted = list(map(float, graph.evaluate(roots, {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float, pow)))
        assert values_of(text, x=[x, y]) == pytest.approx(wanted, rel=1e-11, abs=1e-12)
        for root, value in zip(roots, wanted, strict=True):
            assert values_of(arrow("x", [root], PLACES, {}), x=[x, y]) == pytest.approx([value], rel=1e-11, abs=1e-12)
    nodes = graph.topological(roots)
    for name in ("tanh", "sigmoid", "softplus"):
        assert len(re.findall(rf"\b{name}\(", text)) == sum(node.op == name for node in nodes)


@pytest.mark.parametrize("seed", range(6))
def test_products_and_powers_that_are_shared_have_their_values(seed: int) -> None:
    roots = products_that_share(random.Random(seed))
    for x, y in ((0.83, 1.3), (1.64, 2.2)):
        wanted = list(map(float, graph.evaluate(roots, {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float, pow)))
        assert values_of(arrow("x", roots, PLACES, {}), x=[x, y]) == pytest.approx(wanted, rel=1e-10)


def test_gates_that_are_given_are_not_computed_and_what_only_they_read_is_not_written() -> None:
    surface = graph.call("tanh", X) - Y
    gates = {graph.step(surface): "g[0]", graph.step(-surface): "(1-g[0])"}
    roots = [
        graph.step(surface) * X - graph.step(-surface) * Y,
        graph.step(surface),
        graph.step(X) + graph.step(surface),
    ]
    text = arrow("x,g", roots, PLACES, gates)
    assert "tanh" not in text and text.count("step(") == 1
    for gate in (0.0, 1.0, 0.5):
        found = values_of(text, x=[2.0, 3.0], g=[gate])
        assert found == pytest.approx([2 * gate - 3 * (1 - gate), gate, 1 + gate])
    assert values_of(arrow("x", roots, PLACES, {}), x=[2.0, 0.5]) == [2.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("roots", "text"),
    [
        ([X * Y - X * Z], "(x[1]-x[2])*x[0]"),
        ([-X * Y - X * Z], "-(x[1]+x[2])*x[0]"),
        ([W - X * Y - X * Z], "x[3]-(x[1]+x[2])*x[0]"),
        ([W - X - Y], "x[3]-x[0]-x[1]"),
        ([-X - Y], "-x[0]-x[1]"),
        ([-X + Y], "x[1]-x[0]"),
        ([X * Y + X * Z + Y * W], "x[0]*x[2]+(x[3]+x[0])*x[1]"),
        ([1 + X, -1 - X, 3 - X], "1+x[0],-1-x[0],3-x[0]"),
        ([X + Y + Z, 2 * X, 3 * X], "x[0]+x[1]+x[2],2*x[0],3*x[0]"),
        ([graph.exp(-X), graph.exp(2 * X)], "exp(-x[0]),exp(2*x[0])"),
        ([graph.sqrt(X), graph.sqrt(Y) ** -1, graph.power(Z, Fraction(1, 3))], "sqrt(x[0]),1/sqrt(x[1]),pow(x[2],1/3)"),
        ([Z / X / Y, 1 / W], "x[2]/x[0]/x[1],1/x[3]"),
        ([X**2, Y**3, Z**5, W**-2], "x[0]*x[0],x[1]*x[1]*x[1],pow(x[2],5),1/x[3]/x[3]"),
        ([(X + Y) ** 2, Z**-5], "pow(x[0]+x[1],2),pow(x[2],-5)"),
        ([], ""),
    ],
)
def test_what_is_read_seldom_is_written_where_it_is_read(roots: list[graph.Node], text: str) -> None:
    """Signs are as few as can be, and powers up to the fourth of what has a name are products."""
    assert arrow("x", roots, PLACES | {"z": "x[2]", "w": "x[3]"}, {}) == f"(x)=>[{text}]"


def test_what_is_read_often_has_a_name() -> None:
    """An entry from four readings on, which then cost less with one; a product where its text costs more."""
    for times, text in ((3, "2*x[0],3*x[0],5*x[0]"), (4, None)):
        found = arrow("x", [k * X for k in (2, 3, 5, 7)[:times]], PLACES, {})
        assert found == (f"(x)=>[{text}]" if text else "(x)=>{const a=x[0];return[2*a,3*a,5*a,7*a]}")
    places = PLACES | {"z": "x[2]", "w": "x[3]"}
    assert arrow("x", [Y**4], PLACES, {}) == "(x)=>{const a=x[1];return[a*a*a*a]}"
    shared = [X * Y * Z * W, X * Y * Z + 1, graph.call("sin", X * Y * Z)]
    assert arrow("x", shared, places, {}) == "(x)=>{const a=x[2]*x[0]*x[1];return[x[3]*a,1+a,sin(a)]}"
    assert arrow("a,x", [graph.exp(X), graph.call("sin", graph.exp(X))], PLACES, {}) == (
        "(a,x)=>{const b=exp(x[0]);return[b,sin(b)]}"
    )


def test_names_are_short_and_none_is_taken() -> None:
    """52 letters but for arguments, then pairs that are no words of the language; no function is hidden."""
    names = list(islice(_names({"a", "x"}), 3000))
    assert names[:3] == ["b", "c", "d"] and len(set(names)) == 3000
    assert [len(name) for name in names] == [1] * 50 + [2] * 2950
    assert not {"a", "x", "do", "if", "in", "of", "as", *FUNCTIONS, "sqrt", "pow"} & set(names)
    assert {"zz", "Z9", "a0"} <= {*names, *islice(_names(set()), 4000)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (-2, "(-2)"),
        (2**53 - 1, "9007199254740991"),
        (0.1, ".1"),
        (-0.1, "(-.1)"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e300"),
        (Fraction(1, 1024), "(1/1024)"),
        (Fraction(123456789, 1000), "123456.789"),
        (Fraction(-22, 7), "(-22/7)"),
        (Fraction(1, 2**53 - 1), "(1/9007199254740991)"),
        (Fraction(1, 2**53 + 1), "1.1102230246251564e-16"),  # whose divisor is no float
        (1 / 3, ".3333333333333333"),
    ],
)
def test_constants_are_written_as_shortly_as_they_read_back(value: int | Fraction | float, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("sqrt(x)", "const sqrt=Math.sqrt;"),
        ("sinh(1)", "const sinh=Math.sinh;"),
        ("Math.exp(1)+a.sin(1)+cos", ""),
        ("exp(1)+pow(2,sqrt(3))", "const sqrt=Math.sqrt,pow=Math.pow,exp=Math.exp;"),
    ],
)
def test_only_functions_that_are_called_are_defined(text: str, wanted: str) -> None:
    assert prelude(text) == wanted


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

    roots = [expression(rng, 5) for _ in range(40)]
    points = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(5)]
    system = System.from_equations({"x": X, "y": Y}, observables={f"r{k}": root for k, root in enumerate(roots)})
    compiled = system.compile(backend="scalar")
    for point, row in zip(points, evaluate(chromium, roots, points), strict=True):
        wanted = list(compiled.observables(0.0, point).values())
        assert row == pytest.approx(wanted, rel=1e-11, abs=1e-12)
