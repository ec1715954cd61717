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
