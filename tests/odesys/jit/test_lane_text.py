"""Assembly on lanes, written by operators."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from odesys.jit import llvm
from odesys.jit.lane_text import LaneWriter, declarations

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
A, B = np.array([1.0, -2.0, 3.0, math.nan]), np.array([2.0, 2.0, -5.0, 1.0])


def run(w: LaneWriter, rows: int = 1) -> np.ndarray:
    """What a function of %a and %b writes to %out."""
    text = declarations(w.width) + w.procedure("function", "ptr %a, ptr %b, ptr %out")
    code = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(llvm.compiled(text, llvm.LOOPS).address("function"))
    out = np.zeros((rows, w.width))
    code(A.ctypes.data, B.ctypes.data, out.ctypes.data)
    return out


def test_arithmetic_is_lane_by_lane() -> None:
    w = LaneWriter(4)
    a, b = w.load("%a"), w.load("%b")
    values = [a + b, a - 1.0, a * b, a / b, -a, w.fma(a, b, a), w.sqrt(b * b), w.absolute(a)]
    for k, value in enumerate(values):
        w.store(value, "%out", k)
    wanted = [A + B, A - 1, A * B, A / B, -A, A * B + A, abs(B), abs(A)]
    np.testing.assert_array_equal(run(w, len(values)), wanted)


def test_choices_and_extremes_are_those_of_python() -> None:
    w = LaneWriter(4)
    a, b = w.load("%a"), w.load("%b")
    masks = [a < b, a > b, a >= 1.0, (a < b) & (b > 1.5), (a < b) | (a > b), ~(a < b)]
    for k, mask in enumerate(masks):
        w.store(w.where(mask, 1.0, 0.0), "%out", k)
    w.store(w.least(a, b), "%out", len(masks))
    w.store(w.largest(a, b), "%out", len(masks) + 1)
    found = run(w, len(masks) + 2)
    wanted = [A < B, A > B, A >= 1, (A < B) & (B > 1.5), (A < B) | (A > B), ~(A < B)]
    np.testing.assert_array_equal(found[: len(masks)], np.array(wanted, dtype=float))
    pairs = list(zip(A.tolist(), B.tolist(), strict=True))
    np.testing.assert_array_equal(found[-2], [min(pair) for pair in pairs])
    np.testing.assert_array_equal(found[-1], [max(pair) for pair in pairs])


def test_loops_locals_and_bits() -> None:
    w = LaneWriter(4)
    total = w.local(1)
    w.store(0.0, total)
    with w.loop(5) as i:
        w.store(w.load(total) + w.load("%b"), total)
        w.store(w.load(total), "%out", i)
    again = w.from_bits(w.bits(w.load("%b")))
    w.store(again, "%out", 5)
    found = run(w, 6)
    np.testing.assert_array_equal(found[:5], np.outer(np.arange(1, 6), B))
    np.testing.assert_array_equal(found[5], B)


def test_an_exact_product_is_rounded_by_itself() -> None:
    w = LaneWriter(4)
    third = w.number(1 / 3)
    w.store(w.exact(w.exact(third, "*", w.load("%b")), "-", w.exact(third, "*", w.load("%b"))), "%out")
    assert run(w).tolist() == [[0.0] * 4]


def test_lines_for_some_lanes_are_passed_over_where_there_are_none() -> None:
    w = LaneWriter(4)
    a = w.load("%a")
    for k, mask in enumerate((a > 2.5, a > 9.0)):
        with w.where_any(mask):
            w.store(a, "%out", k)
    np.testing.assert_array_equal(run(w, 2), [A, np.zeros(4)])


def test_bounds_hold_and_no_number_stays_none() -> None:
    w = LaneWriter(4)
    for k, name in enumerate(("%a", "%b")):
        w.store(w.clamped(w.load(name), -1.0, 2.0), "%out", k)
    np.testing.assert_array_equal(run(w, 2), [[1.0, -1.0, 2.0, math.nan], [2.0, 2.0, -1.0, 1.0]])


def test_arrays_of_a_function_are_its_own_and_loops_stand_in_loops() -> None:
    """Two arrays that are filled place by place, read in another order."""
    w = LaneWriter(4)
    first, second, sums = w.local(3), w.local(3), w.local(0)
    b = w.load("%b")
    w.store(b, w.place(first, 0))
    for k in range(3):
        w.store(b * (k + 1.0), first, k)
        w.store(b * (k + 10.0), second, k)
    with w.loop(3) as i:
        w.store(0.0, sums)
        with w.loop(2) as j:
            w.store(w.load(sums) + w.load(first, i) * w.load(second, j), sums)
        w.store(w.load(sums), "%out", i)
    with w.loop(1) as i:
        w.store(w.load(w.place(second, 1), 1), "%out", w.put(f"add i64 {i}, 3"))
    np.testing.assert_array_equal(run(w, 4), [B * B * 21, B * B * 42, B * B * 63, B * 12])


def test_one_lane_is_enough_for_lines_that_are_for_some() -> None:
    for lane in range(4):
        w = LaneWriter(4)
        mask = w.load("%b") > 1.5 if lane < 2 else w.load("%b") < (-4.0 if lane == 2 else 1.5)
        with w.where_any(mask):
            w.store(1.0, "%out")
        assert run(w).tolist() == [[1.0] * 4]


def test_integers_and_bits_go_there_and_back() -> None:
    w = LaneWriter(4)
    bits = w.put(f"add {w.integers} {w.bits(w.load('%b'))}, {w.whole(1)}")
    w.store(w.from_bits(bits), "%out")
    assert run(w).tolist() == [[math.nextafter(v, math.copysign(math.inf, v)) for v in B.tolist()]]


def test_only_exact_operations_keep_their_rounding() -> None:
    w = LaneWriter(2)
    a = w.value("%z")
    values = [a + a, a - 1.0, a * a, a / a, w.exact(a, "*", a)]
    assert all(line.startswith(f"{value.text} = ") for value, line in zip(values, w.lines, strict=True))
    assert ["contract" in line for line in w.lines] == [True, True, True, False, False]
    w = LaneWriter(4)
    third = w.number(1 / 3)
    w.store(w.fma(third, w.number(3.0), w.number(-1.0)), "%out", 0)
    w.store(w.exact(w.exact(third, "*", 3.0), "-", 1.0), "%out", 1)
    once, twice = run(w, 2)
    assert (once == -(2.0**-54)).all() and (twice == 0.0).all()


def called(w: LaneWriter, text: str, lines: str, rows: int) -> np.ndarray:
    """What a procedure writes that calls a function with the numbers %b."""
    head = f"define void @function(ptr %a, ptr %b, ptr %out) {{\n  %z = load {w.kind}, ptr %b, align 8\n"
    body = f"{head}{lines}  ret void\n}}\n"
    code = llvm.compiled(declarations(w.width) + text + body, llvm.LOOPS)
    out = np.zeros((rows, w.width))
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("function"))(
        A.ctypes.data, B.ctypes.data, out.ctypes.data
    )
    return out


def test_lanes_outside_of_a_mask_are_those_of_another_function() -> None:
    for bound, wanted in ((1.5, [-2.0, -2.0, 25.0, 1.0]), (9.0, [4.0, 4.0, 25.0, 1.0])):
        far, near = LaneWriter(4), LaneWriter(4)
        text = far.function("far", -far.value("%z"))
        z = near.value("%z")
        text += near.function("near", z * z, (z < bound, "far"))
        lines = f"  %r = call {near.kind} @near({near.kind} %z)\n  store {near.kind} %r, ptr %out, align 8\n"
        assert called(near, text, lines, 1).tolist() == [wanted]


def test_a_function_may_have_two_results() -> None:
    w = LaneWriter(4)
    z = w.value("%z")
    text = w.two_results("both", z * 2.0, z - 1.0)
    kind = f"{{{w.kind}, {w.kind}}}"
    lines = f"  %both = call {kind} @both({w.kind} %z)\n"
    for k in (0, 1):
        lines += f"  %r{k} = extractvalue {kind} %both, {k}\n  %p{k} = getelementptr {w.kind}, ptr %out, i64 {k}\n"
        lines += f"  store {w.kind} %r{k}, ptr %p{k}, align 8\n"
    np.testing.assert_array_equal(called(w, text, lines, 2), [2 * B, B - 1])
