"""JSON that gives back the same nodes, refusals of bad input, and a Python module that computes the same field."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.two_mixture import setting
from odesys import gradient_descent, gradient_flow
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.system import System
from odesys.jit.serialise import (
    _fresh_names,
    _listing,
    one_of_each,
    system_from_json,
    system_to_json,
    system_to_python,
)
from tests.written_code import value_of

SEED = 20240712
KEYS = ("kind", "states", "parameters", "tex", "nodes", "equations", "observables")
x, y, t, b = sp.symbols("x y t b")


@functools.cache
def two_mixture(step: bool = False) -> System:
    """The 80 states of the two-mixture task with K = 2, L = 3."""
    return (gradient_descent if step else gradient_flow)(setting.model(), setting.data()).system


def by_hand() -> System:
    """Exact and float constants, every kind of node, names that Python or the module would use itself."""
    v0 = sp.Symbol("v0")
    return System.from_equations(
        {
            x: y * sp.exp(-x) + sp.Max(0, y - 1) + sp.Rational(1, 3) * t,
            y: v0 * sp.sqrt(x**2 + 1) - 0.1 * x + sp.atan(y) * sp.asinh(x) + sp.log(2 + x**2) ** 2 / (x - 2 * y - 7),
            sp.Symbol("exp"): graph.call("softplus", graph.sym("exp")) - graph.call("sigmoid", 3 * graph.sym("x")),
        },
        [v0],
        observables={"energy": x**2 / 2 + y**2 / 2},
        tex={"x": r"\xi", "v0": "v_0"},
    )


SYSTEMS: dict[str, Callable[[], System]] = {
    "flow": two_mixture,
    "step": lambda: two_mixture(step=True),
    "by_hand": by_hand,
}


def same(first: System, second: System) -> bool:
    """Everything equal, and nodes the same objects."""
    named = (first.names, first.parameters, first.kind, dict(first.tex), list(first.observables))
    if named != (second.names, second.parameters, second.kind, dict(second.tex), list(second.observables)):
        return False
    pairs = [*zip(first.nodes, second.nodes, strict=True)]
    pairs += zip(first.observables.values(), second.observables.values(), strict=True)
    return all(a is b for a, b in pairs)


# ---- there and back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_nodes_come_back_as_the_same_objects(build: Callable[[], System]) -> None:
    system = build()
    assert same(system_from_json(system_to_json(system)), system)
    assert same(System.from_json(system.to_json()), system)


def test_the_comparison_sees_a_changed_constant() -> None:
    system = by_hand()
    text = system_to_json(system)
    assert '"1/3"' in text
    assert not same(system_from_json(text.replace('"1/3"', '"1/4"')), system)
    assert not same(system_from_json(text.replace(r"\\xi", r"\\zeta")), system)


def test_numbers_lose_nothing() -> None:
    values = [Fraction(10**40 + 1, 3**50), 0.1, -math.pi, 5e-324, 1.7976931348623157e308, Fraction(-7), 1.0]
    system = System.from_equations({f"x{i}": graph.num(v) for i, v in enumerate(values)})
    back = system_from_json(system_to_json(system))
    read = [node.args[0] for node in back.nodes]
    assert read == values
    assert [type(v) is float for v in read] == [type(v) is float for v in values]  # 1.0 stays a float, -7 stays exact
    assert all(isinstance(v, float | Fraction) for v in read)


def test_another_process_reads_the_same_field() -> None:
    """Where nodes are built in another order, they may be normalised otherwise; the numbers must not change."""
    system = by_hand()
    program = (
        "import sys, numpy as np\n"
        "from odesys import graph\n"
        "held = [graph.sym(n) for n in ('v0', 'exp', 'y', 'x')]\n"
        "held += [a - c for a in held for c in held]\n"
        "from odesys.expr.system import System\n"
        "system = System.from_json(sys.stdin.read())\n"
        "print(*map(float.hex, system.compile(v0=1.5)(0.7, [0.3, -0.4, 0.9]).tolist()))"
    )
    root = Path(__file__).resolve().parents[3]
    out = subprocess.check_output([sys.executable, "-c", program], input=system_to_json(system), text=True, cwd=root)
    expected = system.compile(v0=1.5)(0.7, [0.3, -0.4, 0.9])
    np.testing.assert_allclose([float.fromhex(v) for v in out.split()], expected, rtol=1e-14)


NUMBERS = st.one_of(
    st.fractions(-5, 5, max_denominator=12), st.floats(-4, 4, allow_nan=False), st.integers(-3, 3).map(Fraction)
)
LEAVES = st.one_of(st.sampled_from(["x", "y", "b", "t"]).map(graph.sym), NUMBERS.map(graph.num))


def _grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    powers = st.sampled_from([Fraction(2), Fraction(3), Fraction(1, 2), Fraction(3, 2)])
    return st.one_of(
        st.tuples(inner, inner).map(graph.add),
        st.tuples(inner, inner).map(lambda pair: graph.multiply(*pair)),
        st.tuples(st.sampled_from(sorted(graph.FUNCTIONS)), inner).map(lambda pair: graph.call(*pair)),
        st.tuples(inner, powers).map(lambda pair: graph.power(graph.call("softplus", pair[0]), pair[1])),
        inner.map(lambda node: graph.power(2 + node * node, Fraction(-1))),
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.recursive(LEAVES, _grow, max_leaves=12), min_size=2, max_size=2), st.sampled_from(["flow", "map"]))
def test_random_systems_come_back(nodes: list[Node], kind: str) -> None:
    system = System.from_equations(dict(zip("xy", nodes, strict=True)), ["b"], kind, {"sum": nodes[0] + nodes[1]})
    assert same(system_from_json(system_to_json(system)), system)


# ---- refusals ------------------------------------------------------------------------------------------------------


def changed(**changes: Any) -> str:
    data = json.loads(system_to_json(by_hand()))
    for key, value in changes.items():
        if value is None:
            del data[key]
        else:
            data[key] = value
    return json.dumps(data)


def with_node(*row: Any) -> str:
    """The system with its first node, a symbol or number, replaced."""
    data = json.loads(system_to_json(by_hand()))
    data["nodes"][0] = list(row)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "does not hold a system"),
        ("{}", "does not hold a system"),
        (changed(version=2), "version 2"),
        (changed(version="9" * 5000), "version '9999999999999999999...999999999' of"),
        (changed(kind="9" * 5000), "999...999"),
        ('{"format": "odesys-system", "format": 1}', "'format' is there twice"),
        (changed(version=None), "version None"),
        *((changed(**{key: None}), f'"{key}"') for key in KEYS),
        (changed(states="xy"), '"states"'),
        (changed(states=["x", "y", 3]), '"states"'),
        (changed(states=["x", "y"]), "2 states but 3 equations"),
        (changed(states=["x", "y", "exp"], parameters=["v0", "x"]), "twice"),
        (changed(parameters=[]), "v0"),
        (changed(kind="river"), "river"),
        (changed(tex={"x": 1}), '"tex"'),
        (changed(equations=[0, 1, 999]), "node 999"),
        (changed(equations=[0, 1, -1]), "node -1"),
        (changed(equations=[0, 1, True]), "node True"),
        (with_node("frobnicate", 0), "frobnicate"),
        (with_node("relu", 0), "relu"),
        (with_node("sin", 0), "node 0"),
        (with_node("sin", 5), "node 5"),
        (with_node("sin"), "node 0"),
        (with_node(), "node 0"),
        (with_node("num", "1/0"), "node 0"),
        (with_node("num", "0.5"), "0.5"),
        (with_node("num", 0.5), "0.5"),
        (with_node("num", "1e999999999"), "1e999999999"),
        (with_node("sym", 3), "node 0"),
        (with_node("add", ["1", 0, 0]), "node 0"),
        (with_node("add", "1"), "node 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_json(text)
    message = str(caught.value)
    assert complaint in message
    assert "\n" not in message


# ---- Python --------------------------------------------------------------------------------------------------------


def run_module(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(text, "<exported module>", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_the_module_computes_the_compiled_field(build: Callable[[], System]) -> None:
    system = build()
    module = run_module(system_to_python(system))
    assert module["STATES"] == system.names
    assert module["PARAMETERS"] == system.parameters
    rng = np.random.default_rng(SEED)
    for scale in (0.1, 1.0, 30.0):
        state = rng.normal(size=system.dimension) * scale
        values = dict(zip(system.parameters, rng.uniform(0.2, 0.9, len(system.parameters)).tolist(), strict=True))
        field = module["field"](0.7, state.tolist(), list(values.values()))
        np.testing.assert_allclose(field, system.compile(values, "scalar")(0.7, state), rtol=1e-15, atol=0)


def test_the_module_stands_alone() -> None:
    text = system_to_python(by_hand())
    imports = [line for line in text.splitlines() if "import" in line]
    assert imports
    assert all(line.startswith("from math import ") for line in imports)
    assert "import" not in system_to_python(System.from_equations({x: -b * x}, [b]))
    assert "def step" not in system_to_python(System.from_equations({x: sp.sin(x)}))


def test_the_module_is_short_for_a_short_system() -> None:
    system = System.from_equations({x: y, y: -x / 2}, [b])
    assert system_to_python(system) == (
        '"""The flow dx/dt = field(t, x, p) of 2 states, written by odesys."""\n\n'
        "STATES = ('x', 'y')\nPARAMETERS = ('b',)\n\n\n"
        "def field(t, x, p=()):\n"
        '    """Right-hand side at time t, for values x of STATES and p of PARAMETERS, each in order."""\n'
        "    (x_, y) = x\n    (b,) = p\n    d_x = y\n    d_y = ((-0.5)*x_)\n    return [d_x, d_y]\n"
    )


def test_the_text_of_a_small_system_is_a_table_of_its_nodes() -> None:
    """A key a line, then a node a line, each after those it is made of."""
    system = System.from_strings({"x": "sin(y)"}, ["y"], observables={"e": "x"}, kind="map")
    assert system_to_json(system) == (
        '{\n"format": "odesys-system",\n"version": 1,\n"kind": "map",\n"states": ["x"],\n"parameters": ["y"],\n'
        '"tex": {},\n"equations": [1],\n"observables": {"e": 2},\n'
        '"nodes": [\n  ["sym", "y"],\n  ["sin", 0],\n  ["sym", "x"]\n]\n}\n'
    )
    rows = {json.dumps(row[0]) for row in json.loads(system_to_json(by_hand()))["nodes"]}
    assert {'"num"', '"sym"', '"add"', '"mul"', '"exp"', '"log"'} <= rows


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", 'this JSON does not hold a system: its "format" is not "odesys-system"'),
        (changed(version=2), "the system is written in version 2 of the format, and only 1 can be read"),
        (changed(tex=None), 'the JSON of a system needs the key "tex"'),
        (changed(tex=[]), '"tex" in the JSON of a system is a list, not a dict'),
        (changed(tex={"x": 1}), 'in the JSON of a system "tex" must give a string for each name'),
        (changed(states=["x", 2]), 'in the JSON of a system "states" must be a list of names'),
        (changed(states=["x", "y"]), "the JSON has 2 states but 3 equations"),
        (changed(parameters=[]), "the equations use v0, which is neither a state nor a parameter"),
        (changed(nodes=[], equations=[0, 0, 0]), "node 0 is used but is not among the 0 nodes before it"),
        (changed(nodes=[[]]), "node 0 is not a list that starts with an operation"),
        (changed(nodes=[["sym", "x"], "x"]), "node 1 is not a list that starts with an operation"),
        (changed(nodes=[["sym", "x"], [3, "x"]]), "node 1 is not a list that starts with an operation"),
        (changed(nodes=[["sym", "x"], ["sin", 1]]), "node 1 is used but is not among the 1 nodes before it"),
        (changed(nodes=[["sym", 3]]), "node 0 can not be read as sym: a symbol needs a name"),
        (changed(nodes=[["num", 0.5]]), 'node 0 can not be read as num: 0.5 is not an exact number such as "1/3"'),
        (changed(nodes=[["sym", "x"], ["mul", [0, "0x1p-1"]]]), 'such as "1/3"'),
    ],
)
def test_what_is_wrong_is_said_in_full(text: str, sentence: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_json(text)
    assert str(caught.value).endswith(sentence)


def test_nodes_of_every_kind_are_read_with_their_numbers() -> None:
    """Exact and float coefficients, exponents of either sign; time is known in every system."""
    nodes = [["sym", "x"], ["sym", "t"], ["num", "-2/3"], ["num", "0x1.8p+0"], ["mul", [0, "1/2"], [1, "-2"]]]
    nodes += [["add", ["1/3", 0], ["-0x1p-1", 4]], ["tanh", 5]]
    data = {
        "format": "odesys-system",
        "version": 1,
        "kind": "flow",
        "states": ["x"],
        "parameters": [],
        "tex": {"x": "X"},
    }
    for k, wanted in enumerate((1.7, 0.9, -2 / 3, 1.5, 1.7**0.5 / 0.81)):
        text = json.dumps(data | {"nodes": nodes, "equations": [k], "observables": {"o": k}})
        system = system_from_json(text)
        assert system.compile(backend="scalar")(0.9, [1.7])[0] == pytest.approx(wanted, rel=1e-14)
        assert system.compile().observables(0.9, [1.7])["o"] == pytest.approx(wanted) and dict(system.tex) == {"x": "X"}
    inner = 1.7 / 3 - 0.5 * 1.7**0.5 / 0.81
    for k, wanted in ((5, inner), (6, math.tanh(inner))):
        text = json.dumps(data | {"nodes": nodes, "equations": [k], "observables": {}})
        assert system_from_json(text).compile()(0.9, [1.7])[0] == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("pairs", "twice"),
    [
        ([("a", 1), ("b", 2), ("a", 3)], "a"),
        ([("a", 1), ("b", 2), ("b", 3), ("a", 4)], "b"),
        ([("a", 1), ("a", 1)], "a"),
    ],
)
def test_the_first_key_that_comes_back_is_named(pairs: list[tuple[str, int]], twice: str) -> None:
    with pytest.raises(ValueError, match=f"the key '{twice}' is there twice"):
        one_of_each(pairs)
    assert one_of_each(pairs[:2] if twice == "b" else pairs[:1]) == dict(pairs[:2] if twice == "b" else pairs[:1])


def test_lists_of_names_are_tuples_in_lines_of_110_letters() -> None:
    assert [_listing(items) for items in ([], ["a"], ["a", "b"])] == ["()", "(a,)", "(a, b)"]
    for count in (18, 19, 37):
        text = _listing([f"n{k:03d}" for k in range(count)])
        lines = text.split("\n        ")
        assert [len(line.split()) for line in lines] == {18: [18], 19: [18, 1], 37: [18, 18, 1]}[count]
        assert text.replace("\n        ", " ").strip("()").split(", ")[0] == "n000" and text.endswith(")")
        assert value_of(text, {f"n{k:03d}": k for k in range(count)}) == tuple(range(count))
    assert _listing(["a" * 9, "b"], width=10) == f"({'a' * 9},\n        b,)"
    assert _listing(["a" * 8, "b"], width=11) == f"({'a' * 8}, b)"


def test_names_of_a_module_are_its_own() -> None:
    """An underscore for each that is taken: by the module, by a function, by a line, or by a name before."""
    names = ["x", "x_", "t", "p", "field", "exp", "v1", "v", "v1_", "va1", "STATES", "sqrt", "inf", "y", "y"]
    fresh = _fresh_names()
    assert [fresh(name) for name in names] == [
        "x_", "x__", "t_", "p_", "field_", "exp_", "v1_", "v", "v1__", "va1", "STATES_", "sqrt_", "inf_", "y", "y_",
    ]  # fmt: skip


def test_the_module_of_a_map_says_so_and_imports_what_it_calls() -> None:
    texts = {"exp": "sqrt(exp)*t + 2*p", "v1": "sin(v1)*x_", "x": "0*x"}
    text = system_to_python(System.from_strings(texts, ["p", "x_", "field"], kind="map"))
    assert text.startswith(
        '"""The map x -> field(t, x, p) of 3 states, written by odesys."""\n\nfrom math import sin, sqrt\n\n'
    )
    assert "STATES = ('exp', 'v1', 'x')\nPARAMETERS = ('p', 'x_', 'field')\n\n\ndef field(t, x, p=()):\n" in text
    assert "    (exp_, v1_, x_) = x\n    (p_, x__, field_) = p\n" in text
    assert text.endswith("    next_x = 0.0\n    return [next_exp, next_v1, next_x]\n")
    found = run_module(text)["field"](0.5, [4.0, 0.25, 9.0], [3.0, 2.0, 0.0])
    assert found == pytest.approx([7.0, 2 * math.sin(0.25), 0.0])
    alone = system_to_python(System.from_strings({"x": "x + step(x)"}))
    assert "= p\n" not in alone and "return [d_x]" in alone and alone.count("def ") == 2
    assert run_module(alone)["field"](0.0, [2.0]) == [3.0] and run_module(alone)["field"](0.0, [-2.0]) == [-2.0]
