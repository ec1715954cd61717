"""Assembly to machine code: constants to the last bit, functions of the library, buffers of each thread."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.expr.functions import FUNCTIONS
from odesys.jit import llvm

FIELD = """
define void @field(double %t, ptr %x, ptr %p, ptr %g, ptr %out) {
  %a = load double, ptr %x
  %s = call double @lib_exp(double %a)
  %k = load double, ptr %p
  %v = fmul double %s, %k
  %w = fadd double %v, %t
  store double %w, ptr %out
  ret void
}
"""
needs_llvm = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")


@given(st.floats())
def test_constants_are_written_bit_by_bit(number: float) -> None:
    text = llvm.constant(number)
    assert struct.pack(">d", number) == bytes.fromhex(text.removeprefix("0x")) and len(text) == 18


@needs_llvm
def test_code_of_five_arguments_runs_on_arrays() -> None:
    run = llvm.BoundFunction(llvm.compiled(llvm.DECLARED + FIELD).address("field"), (1, 0, 1), np.array([3.0]))
    assert run(0.5, [2.0]) == [3.0 * math.exp(2.0) + 0.5]


@needs_llvm
def test_a_bound_function_gives_every_call_its_own_array() -> None:
    run = llvm.BoundFunction(llvm.compiled(llvm.DECLARED + FIELD).address("field"), (1, 0, 1), np.array([3.0]))
    first, second = run(0.0, np.array([1.0])), run(0.0, np.array([2.0]))
    assert first[0] == 3.0 * math.e and second[0] == 3.0 * math.exp(2.0)


@needs_llvm
def test_threads_have_buffers_of_their_own() -> None:
    run = llvm.BoundFunction(llvm.compiled(llvm.DECLARED + FIELD).address("field"), (1, 0, 1), np.array([1.0]))
    points = [np.array([k / 100]) for k in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: run(0.0, x)[0], points))
    assert found == [math.exp(x[0]) for x in points]


@needs_llvm
def test_every_library_function_is_linked() -> None:
    """Each name of the table is called once, at 0.7 (or 1.7), and has the digits of the library."""
    for name in llvm.LIBRARY:
        point = 1.7 if name == "arccosh" else 0.7
        given = f"double {llvm.constant(point)}" + (f", double {llvm.constant(2.0)}" if name in llvm.BINARY else "")
        text = (
            f"{llvm.DECLARED}define void @one(double %t, ptr %x, ptr %p, ptr %g, ptr %out) {{\n"
            f"  %v = call double @lib_{name}({given})\n  store double %v, ptr %out\n  ret void\n}}\n"
        )
        out = llvm.BoundFunction(llvm.compiled(text).address("one"), (0, 0, 1), np.empty(0))(0.0, [])
        known = {record.name: record.floats for record in FUNCTIONS.values()} | {"log1p": math.log1p}
        ours = known[name](point) if name in known else getattr(math, name)(point, 2.0)
        assert out[0] == pytest.approx(ours, rel=1e-15), name


@needs_llvm
def test_addresses_of_arrays_that_can_not_be_written() -> None:
    frozen = np.array([1.0, 2.0])
    frozen.flags.writeable = False
    assert llvm.address_of(frozen) == frozen.ctypes.data and llvm.address_of(np.ones(2)) > 0


def test_a_library_without_a_function_means_python_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def without() -> None:
        raise AttributeError("undefined symbol: asinh")

    monkeypatch.setattr(llvm, "_linker", without)
    assert llvm.available.__wrapped__() is False


@needs_llvm
def test_a_key_names_the_machine_and_what_compiles_for_it() -> None:
    import llvmlite
    from llvmlite import binding

    marks = {llvm._machine(effort)[1] for effort in (llvm.STRAIGHT, llvm.LONG, llvm.LOOPS)}
    parts = (llvmlite.__version__, binding.llvm_version_info, binding.get_host_cpu_name())
    assert len(marks) == 3 and all(str(part) in mark for part in parts for mark in marks)


@needs_llvm
def test_code_that_was_used_last_is_kept_and_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    linked: list[str] = []
    link = llvm._linked

    def noted(code: bytes, public: Sequence[str]) -> llvm.MachineCode:
        linked.extend(public)
        return link(code, public)

    monkeypatch.setattr(llvm, "_linked", noted)
    monkeypatch.setattr(llvm, "_RECENT", type(llvm._RECENT)())
    monkeypatch.setattr(llvm, "MOST_RECENT", 2)
    texts = [FIELD.replace("@field", f"@kept_{k}") for k in "abc"]
    for text in (*texts, texts[2], texts[1], texts[0]):
        llvm.compiled(llvm.DECLARED + text)
    assert linked == ["kept_a", "kept_b", "kept_c", "kept_a"]


@needs_llvm
def test_what_is_written_twice_is_computed_once_unless_the_code_is_long() -> None:
    """Very much arithmetic is compiled as it is written, which is quick."""
    again = "".join(f"  %s{k} = fmul double %t, %t\n" for k in range(40))
    stored = "".join(f"  store volatile double %s{k}, ptr %out\n" for k in range(40))
    text = f"define void @same(double %t, ptr %x, ptr %p, ptr %g, ptr %out) {{\n{again}{stored}  ret void\n}}\n"
    lines = {effort: len(llvm.instructions(text, effort).splitlines()) for effort in (llvm.STRAIGHT, llvm.LONG)}
    assert lines[llvm.STRAIGHT] + 39 <= lines[llvm.LONG]


@needs_llvm
def test_gates_are_given_or_stay_as_they_were() -> None:
    text = FIELD.replace("%k = load double, ptr %p", "%k = load double, ptr %g")
    run = llvm.BoundFunction(llvm.compiled(llvm.DECLARED + text).address("field"), (1, 1, 1), np.empty(0))
    assert run(0.0, [0.0])[0] == 0.0 and run(0.5, [0.0], [4.0])[0] == 4.5 and run(0.5, [0.0], np.array([-1]))[0] == -0.5


def test_an_array_of_nothing_is_nowhere() -> None:
    assert llvm.address_of(np.empty(0)) == 0 and llvm._place(np.empty((0, 3))).value is None


@needs_llvm
def test_functions_of_one_and_of_two_numbers_are_declared_as_such() -> None:
    for name in llvm.LIBRARY:
        numbers = "double, double" if name in ("pow", "nextafter") else "double"
        assert f"declare double @lib_{name}({numbers})\n" in llvm.DECLARED


@needs_llvm
def test_only_functions_that_are_not_internal_are_found_by_name() -> None:
    text = "define internal double @inner(double %t) {\n  ret double %t\n}\n"
    text += "define double @outer(double %t) {\n  %v = call double @inner(double %t)\n  ret double %v\n}\n"
    code = llvm.compiled(text, llvm.LOOPS)
    assert int(code.address("outer")) > 0 and code.address("outer").code is code
    assert llvm._PUBLIC.findall(text) == ["outer"]


@needs_llvm
def test_code_of_one_name_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its text would be; the same name with another effort is other code."""
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    written: list[str] = []

    def text() -> str:
        written.append("text")
        return llvm.DECLARED + FIELD.replace("@field", "@named")

    name = "a name that says it all"
    first = llvm.compiled_as(name, ["named"], text, llvm.STRAIGHT)
    assert llvm.compiled_as(name, ["named"], text, llvm.STRAIGHT) is first and len(written) == 1
    assert llvm.compiled_as(name, ["named"], text, llvm.LOOPS) is not first and len(written) == 2
    for table in (llvm._LINKED, llvm._RECENT):
        monkeypatch.setattr(llvm, "_LINKED" if table is llvm._LINKED else "_RECENT", type(table)())
    again = llvm.compiled_as(name, ["named"], text, llvm.STRAIGHT)
    assert again is not first and len(written) == 2  # it was kept on disk
