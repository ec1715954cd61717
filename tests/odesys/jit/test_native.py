"""Machine code against the straight-line Python code of the same expressions."""

import random
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import System, gradient_flow
from odesys.errors import ParameterError
from odesys.expr import graph
from odesys.jit import llvm, native
from tests.odesys.jit.test_shared_factors import products_that_share
from tests.toy_models import Toy, all_toys

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")
x, y, t, c = sp.symbols("x y t c")


@pytest.mark.parametrize(
    "expression",
    [
        sp.exp(x) / (1 + sp.exp(-2 * y)),
        sp.log(2 + x**2) * sp.sin(y) - sp.cos(x) * sp.tan(y / 3),
        sp.tanh(x) + sp.sinh(y) * sp.cosh(x),
        sp.atan(x) * sp.asinh(y),
        sp.sqrt(3 + x) ** 3 / (2 + y) ** 5,
        (2 + x) ** sp.Rational(7, 3) * (3 + y) ** 11,
        sp.Max(x, y) - 2 * sp.Heaviside(x - y) + sp.Abs(y),
        t * c - sp.Rational(1, 3) * x * y,
        sp.Integer(7),
        x,
    ],
)
def test_every_operation_has_the_digits_of_python(expression: sp.Expr) -> None:
    system = System.from_equations({x: expression, y: -y}, parameters=[c])
    plain, quick = (system.compile(c=0.7, backend=backend) for backend in ("scalar", "native"))
    for point in np.random.default_rng(3).uniform(-1, 1, (20, 2)):
        gates = np.where(plain.surfaces(0.3, point) > 0, 1.0, 0.0)
        assert quick(0.3, point) == pytest.approx(plain(0.3, point), rel=4e-16)
        assert quick.field(0.3, point, 1 - gates) == pytest.approx(plain.field(0.3, point, 1 - gates), rel=4e-16)
        assert quick.jacobian(0.3, point) == pytest.approx(plain.jacobian(0.3, point), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("toy", all_toys(), ids=lambda toy: toy.name)
def test_models_have_the_same_field(toy: Toy) -> None:
    system = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss).system
    state = np.random.default_rng(1).normal(size=system.dimension) * 0.3
    plain, quick = (system.compile(toy.parameters, backend=backend) for backend in ("scalar", "native"))
    assert quick(0.0, state) == pytest.approx(plain(0.0, state), rel=1e-13, abs=1e-15)
    assert quick(0.0, np.repeat(state, 2)[::2]) == pytest.approx(plain(0.0, state), rel=1e-13, abs=1e-15)  # strides
    assert quick.observables(0.0, state) == pytest.approx(plain.observables(0.0, state), rel=1e-13)


def test_sizes_are_checked_before_anything_is_read() -> None:
    system = System.from_equations({x: y * sp.Heaviside(x), y: -x * y})
    for backend in ("scalar", "native"):
        code = system.compile(backend=backend)
        for wrong in (
            lambda c=code: c.field(0.0, [1.0, 2.0], []),
            lambda c=code: c.jacobian(0.0, [1.0], [1.0]),
            lambda c=code: c(0.0, np.ones((2, 2))),
            lambda c=code: c.jacobian(0.0, [1.0, 2.0], [1.0, 0.0]),
        ):
            with pytest.raises(ParameterError, match="but the system has"):
                wrong()
        assert code(0.0, np.array([0.0, 3.0])).tolist() == [0.0, 0.0]  # a gate is shut on its surface
        assert code(0.0, np.array([-0.0, 3.0])).tolist() == [0.0, 0.0]


def test_only_what_is_read_is_computed() -> None:
    system = System.from_equations({x: sp.exp(-x) * y, y: sp.Heaviside(sp.tanh(x) + sp.exp(-y) - 1) * x})
    text = native.assembly(system, system.nodes, [0, 1], gated=True)
    assert text.count("@lib_exp(double %v") == 1 and "call double @lib_tanh" not in text
    source = system.compile(backend="scalar").source
    assert source.count("exp(") == 2  # of -x and -y: the surface is read there


@pytest.mark.parametrize("size", [3, 40])
def test_long_functions_are_written_in_pieces(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The field and the Jacobian of a toy in pieces of a few nodes: what one piece needs of others arrives."""
    toy = all_toys()[0]
    system = gradient_flow(toy.model, toy.data, train=toy.train).system
    z = np.random.default_rng(3).normal(size=system.dimension)
    plain, whole = (system.compile(toy.parameters, backend=backend) for backend in ("scalar", "native"))
    expected = whole(0.0, z), whole.jacobian(0.0, z)
    assert "@piece0" not in whole.source
    monkeypatch.setattr(native, "NODES_PER_PIECE", size)
    pieces = replace(system).compile(toy.parameters, backend="native")
    assert np.array_equal(pieces(0.0, z), expected[0]) and "@piece3" in pieces.source
    assert np.array_equal(pieces.jacobian(0.0, z), expected[1])
    assert pieces.jacobian(0.0, z) == pytest.approx(plain.jacobian(0.0, z), rel=1e-10, abs=1e-13)


def test_threads_do_not_share_buffers() -> None:
    code = System.from_equations({x: sp.exp(-x) * y, y: x + c * y}, parameters=[c]).compile({"c": 2}, backend="native")
    points = np.random.default_rng(1).normal(size=(2000, 2))
    with ThreadPoolExecutor(4) as pool:
        found = np.array(list(pool.map(lambda z: code(0.0, z), points)))
    assert np.allclose(found, np.array([np.exp(-points[:, 0]) * points[:, 1], points @ [1, 2]]).T, rtol=1e-14)
    assert np.array_equal(code(0.0, points[:, ::-1][3]), code(0.0, points[3, ::-1].copy()))  # with gaps between numbers
    assert np.array_equal(code(0.0, np.array([1, 2])), code(0.0, [1.0, 2.0]))  # of another type


def test_machine_code_is_the_default_and_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System.from_equations({x: 7 * x - c}, parameters=[c])
    assert system.compile(c=1).backend == "native" and system.compile(c=1)(0.0, [2.0]) == [13.0]
    monkeypatch.setattr(native, "assembly", lambda *_: pytest.fail("written again"))
    assert system.compile(c=4)(0.0, [2.0]) == [10.0]


def test_without_llvmlite_the_default_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "available", lambda: False)
    system = System.from_equations({x: 7 * x - 23})
    assert system.compile().backend == "scalar" and system.compile()(0.0, [2.0]) == [-9.0]
    with pytest.raises(ParameterError, match="does not load"):
        system.compile(backend="native")


@pytest.mark.parametrize("backend", ["scalar", "native"])
def test_outside_of_the_domain_values_are_not_numbers(backend: str) -> None:
    system = System.from_equations({x: sp.log(x), y: -y}, observables={"root": sp.sqrt(x)})
    code = system.compile(backend=backend)
    assert np.isnan(code(0.0, [-1.0, 1.0])[0]) and np.isnan(code.observables(0.0, [-1.0, 1.0])["root"])


def test_an_unknown_back_end_is_named() -> None:
    with pytest.raises(ParameterError, match="choose auto, scalar, native or block"):
        System.from_equations({x: -x}).compile(backend="fortran")


X, Y = graph.sym("x"), graph.sym("y")
PLANE = System.from_equations({"x": X, "y": Y})


def run(
    roots: list[graph.Node], targets: list[int], point: list[float], gates: list[float] | None = None
) -> np.ndarray:
    """Machine code of expressions in the plane at a point, in a result that is filled with sevens."""
    system = PLANE if gates is None else System.from_equations({"x": roots[0], "y": Y})
    address = native.compile_nodes(system, roots, targets, gates is not None)
    out, given = np.full(9, 7.0), [np.array(values, dtype=float) for values in (point, [], gates or [])]
    llvm.STRAIGHT_CODE(address)(0.5, *(llvm._place(values) for values in (*given, out)))
    return out


@pytest.mark.parametrize("size", [2, 1500])
@pytest.mark.parametrize("seed", range(2))
def test_products_that_share_factors_have_their_values(seed: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one piece, and in pieces of two nodes."""
    monkeypatch.setattr(native, "NODES_PER_PIECE", size)
    roots = products_that_share(random.Random(seed))
    for x, y in ((0.83, 1.3), (1.64, 2.2)):
        wanted = list(map(float, graph.evaluate(roots, {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float, pow)))
        for k in range(0, len(roots), 9):
            assert run(roots[k : k + 9], list(range(9))[: len(roots) - k], [x, y])[: len(roots) - k] == pytest.approx(
                wanted[k : k + 9], rel=1e-11
            )


@pytest.mark.parametrize(
    ("roots", "instructions"),
    [
        ([X - Y], {"fsub": 1}),
        ([-X - Y], {"fneg": 1, "fsub": 1}),
        ([X + Y], {"fadd": 1}),
        ([X + 2 * Y], {"fadd": 1, "fmul": 1}),
        ([X * Y], {"fmul": 1}),
        ([X**8], {"fmul": 7}),
        ([X**-3], {"fmul": 2, "fdiv": 1}),
        ([1 / X], {"fdiv": 1}),
        ([X**9], {"lib_pow": 1}),
        ([X**-8], {"fmul": 7, "fdiv": 1}),
        ([X**-9], {"lib_pow": 1}),
        ([graph.power(X, Fraction(3, 2))], {"lib_pow": 1}),
        ([graph.sqrt(X)], {"sqrt": 1}),
        ([graph.sqrt(X) ** -1], {"sqrt": 1, "fdiv": 1}),
        ([graph.exp(X), graph.exp(X) * Y], {"lib_exp": 1, "fmul": 1}),
        ([graph.exp(-X)], {"lib_exp": 1, "fmul": 1}),
        ([graph.step(X)], {"fcmp": 1, "uitofp": 1}),
        ([X * Y, X * Y + 1, graph.call("sin", X * Y)], {"fmul": 1, "fadd": 1, "lib_sin": 1}),
        ([X, graph.num(3)], {}),
    ],
)
def test_an_operation_is_one_instruction_and_none_is_made_twice(
    roots: list[graph.Node], instructions: dict[str, int]
) -> None:
    """Powers up to the eighth are products; numbers and states need none."""
    text = native.assembly(PLANE, roots, range(len(roots)), False)
    body = text[text.index("define void @function") :]
    found = Counter(re.findall(r"= (?:call double @(?:llvm\.)?(\w+)|(\w+))", body))
    names = Counter({call or word: count for (call, word), count in found.items()})
    assert {name: n for name, n in names.items() if name not in ("load", "getelementptr")} == instructions
    x, y = 1.3, 0.7
    wanted = list(map(float, graph.evaluate(roots, {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float, pow)))
    assert run(roots, list(range(len(roots))), [x, y])[: len(roots)] == pytest.approx(wanted, rel=1e-13)


def test_results_go_to_their_places_and_to_no_others() -> None:
    found = run([X, X * Y, X, graph.num(Fraction(1, 4)), graph.sym("t")], [4, 0, 2, 8, 5], [2.0, 3.0])
    assert found.tolist() == [6.0, 7.0, 2.0, 7.0, 2.0, 0.5, 7.0, 7.0, 0.25]
    assert run([], [], [2.0, 3.0]).tolist() == [7.0] * 9


def test_gates_of_both_sides_are_read_from_one_number() -> None:
    root = graph.step(X - Y) * 3 + graph.step(Y - X) * 14
    (surface,) = System.from_equations({"x": root, "y": Y}).surfaces
    for gate in (0.0, 0.25, 1.0):
        share = gate if graph.step(surface) is graph.step(X - Y) else 1.0 - gate
        assert run([root], [0], [1.0, 2.0], [gate])[0] == pytest.approx(3 * share + 14 * (1 - share))
    assert run([root], [0], [1.0, 2.0])[0] == 14.0 and run([root], [0], [2.0, 1.0])[0] == 3.0


def test_code_of_many_pieces_is_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    compiled = native.compiled
    monkeypatch.setattr(native, "compiled", lambda text, effort: asked.append(effort) or compiled(text, effort))
    monkeypatch.setattr(native, "NODES_PER_PIECE", 1)
    for count, effort in ((native.LONG_PIECES, llvm.STRAIGHT), (native.LONG_PIECES + 1, llvm.LONG)):
        root = X
        for _ in range(count - 1):
            root = graph.call("sin", root)
        assert f"@piece{count - 1}(" in native.assembly(PLANE, [root], [0], False)
        assert run([root], [0], [0.3, 0.0])[0] == pytest.approx(
            graph.evaluate([root], {"x": 0.3}, graph.FLOAT_FUNCTIONS, float)[0]
        )
        assert asked.pop() == effort
