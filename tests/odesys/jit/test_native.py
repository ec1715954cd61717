"""Machine code against the straight-line Python code of the same expressions."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from odesys import System, gradient_flow
from odesys.errors import ParameterError
from odesys.jit import llvm, native
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
