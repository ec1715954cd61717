"""Scalar assembly with vectors in the place of numbers."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from odesys import System
from odesys.jit import llvm, native
from odesys.jit.lanes import lane_width, on_lanes, with_functions
from odesys.jit.taylor import assembly as taylor_assembly

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
TEXT = """x' = 3/7*x*y**3 - a/(1 + y**2) + exp(-x) + sigmoid(x - y) + sqrt(1 + x**2) + t;
y' = softplus(x) - tanh(y)*cos(a*x) + log(2 + x**2) + (1 + y**2)**(1/3) + x**(-2)"""


def results(text: str, width: int, t: np.ndarray, x: np.ndarray, p: np.ndarray, rows: int) -> np.ndarray:
    """Run code on lanes: arrays have a row per number."""
    kind = f"<{width} x double>"
    body = text + (
        f"define void @run(ptr %t, ptr %x, ptr %p, ptr %g, ptr %out) {{\n  %v = load {kind}, ptr %t, align 8\n"
        f"  call void @function({kind} %v, ptr %x, ptr %p, ptr %g, ptr %out)\n  ret void\n}}\n"
    )
    address = llvm.compiled(with_functions(body, width), llvm.LOOPS).address("run")
    out = np.empty((rows, width))
    code = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(address)
    code(t.ctypes.data, x.ctypes.data, p.ctypes.data, 0, out.ctypes.data)
    return out


@pytest.mark.parametrize("width", [2, 4, 8])
def test_every_lane_has_the_values_of_the_scalar_code(width: int) -> None:
    system = System.from_strings(TEXT)
    drawn = np.random.default_rng(2)
    t, x, p = (np.ascontiguousarray(drawn.uniform(0.2, 2, (k, width))) for k in (1, 2, 1))
    text = on_lanes(native.assembly(system, system.nodes, range(2), True), width)
    found = results(text, width, t, x, p, 2)
    for lane in range(width):
        single = system.compile({"a": p[0, lane]})(t[0, lane], x[:, lane])
        np.testing.assert_allclose(found[:, lane], single, rtol=1e-14)


def test_taylor_coefficients_in_lanes() -> None:
    system, width = System.from_strings(TEXT), lane_width()
    drawn = np.random.default_rng(3)
    t, x, p = (np.ascontiguousarray(drawn.uniform(0.2, 1, (k, width))) for k in (1, 2, 1))
    found = results(on_lanes(taylor_assembly(system, 3), width), width, t, x, p, 6)
    for lane in range(width):
        field = system.compile({"a": p[0, lane]})
        np.testing.assert_allclose(found[:2, lane], field(t[0, lane], x[:, lane]), rtol=1e-14)
    assert np.isfinite(found).all() and (found[4:] != 0).all()


def test_long_code_in_pieces() -> None:
    terms = " + ".join(f"sin({k}*x)" for k in range(1, 1200))
    system = System.from_strings({"x": terms})
    text = native.assembly(system, system.nodes, range(1), True)
    assert "@piece1(" in text
    width = lane_width()
    x = np.linspace(0.1, 0.9, width).reshape(1, width)
    found = results(on_lanes(text, width), width, x, x, x, 1)
    np.testing.assert_allclose(found[0], np.sin(np.arange(1, 1200)[:, None] * x).sum(axis=0), rtol=1e-10)


def test_functions_are_internal_and_those_of_the_library_are_declared() -> None:
    system = System.from_strings({"x": "log(x) + 2.5*x"})
    text = on_lanes(native.assembly(system, system.nodes, range(1), True), 4)
    assert "define internal void @function(<4 x double> %t" in text and "@lanes_log(" in text and "@lib_" not in text
    whole = with_functions(text, 4)
    assert "define internal <4 x double> @lanes_log(" in whole and "@lanes_exp(" not in whole


@pytest.mark.parametrize("other", ["exp(-x)", "1/exp(x)"])
def test_both_exponentials_of_a_number_are_what_each_is_alone(other: str) -> None:
    """Also where one of them overflows, and for not-a-number."""
    width = lane_width()
    both, one, minus = (
        System.from_strings(t) for t in (f"x' = 2*exp(x) - y; y' = {other} + y", "x' = exp(x)", "x' = exp(-x)")
    )
    text = on_lanes(native.assembly(both, both.nodes, range(2), True), width)
    assert text.count("@lanes_exp_both(") == 1 and "@lanes_exp(" not in text
    alone = [on_lanes(native.assembly(s, s.nodes, range(1), True), width) for s in (one, minus)]
    numbers = np.concatenate(
        [
            np.random.default_rng(3).uniform(-760, 760, 40 * width - 8),
            [0.0, -0.0, 5e-324, 1e-17, 709.9, -745.2, np.inf, np.nan],
        ]
    )
    t = np.zeros(width)
    for part in numbers.reshape(-1, width):
        x = np.stack([part, np.zeros(width)])
        found = results(text, width, t, x, x, 2)
        each = [results(code, width, t, part.copy(), part, 1)[0] for code in alone]
        np.testing.assert_array_equal(found[0], 2 * each[0])
        np.testing.assert_array_equal(found[1], each[1])


@pytest.mark.parametrize(
    ("features", "width"), [({"avx": True}, 8), ({"avx512f": True}, 8), ({"avx": False, "sse2": True}, 4), ({}, 4)]
)
def test_two_vectors_of_the_widest_kind_go_together(
    features: dict[str, bool], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llvmlite import binding

    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    assert lane_width.__wrapped__() == width
    monkeypatch.setattr("odesys.jit.lanes.available", lambda: False)
    assert lane_width.__wrapped__() == 0


def test_pairs_of_exponentials_are_found_in_any_order_and_others_stay() -> None:
    """Each call of both gives the right one of its two results to each name."""
    width = 4
    for text in ("x' = exp(x)/2 + exp(-x); y' = exp(y)", "x' = exp(-x)*3; y' = exp(x) + exp(-2*y)"):
        system = System.from_strings(text)
        code = on_lanes(native.assembly(system, system.nodes, range(2), True), width)
        assert (code.count("@lanes_exp_both("), code.count("@lanes_exp(")) == (1, 1)
        x = np.ascontiguousarray(np.random.default_rng(4).uniform(-2, 2, (2, width)))
        found = results(code, width, np.zeros((1, width)), x, x, 2)
        for lane in range(width):
            np.testing.assert_allclose(found[:, lane], system.compile()(0.0, x[:, lane]), rtol=1e-15)
