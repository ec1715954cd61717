"""LLVM assembly to machine code by llvmlite (extra ``fast``), kept on disk under the hash of its text.

Functions of the mathematical library are known to the linker as ``lib_`` and their name.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import struct
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..expr.functions import FUNCTIONS
from . import code_store

LIBRARY = {record.name: record.library for record in FUNCTIONS.values() if record.library}
LIBRARY |= {name: name for name in ("log1p", "pow", "nextafter")}
BINARY = ("pow", "nextafter")
DECLARED = "".join(f"declare double @lib_{name}(double{', double' if name in BINARY else ''})\n" for name in LIBRARY)
DECLARED += "declare double @llvm.sqrt.f64(double)\ndeclare double @llvm.fabs.f64(double)\n"
STRAIGHT = "straight"  # one block of arithmetic: there is little to gain but registers
LONG = "long"  # very much arithmetic: to be compiled quickly
LOOPS = "loops"  # loops and local variables are worked on first
_ENGINES: list[Any] = []  # code stays where it is, whoever has its address


def constant(value: Any) -> str:
    """A number as assembly writes a double."""
    return "0x" + struct.pack(">d", float(value)).hex().upper()


@cache
def available() -> bool:
    """True if llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


@dataclass(frozen=True, eq=False)
class MachineCode:
    """Compiled functions, called by their addresses."""

    engine: Any

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self.engine.get_function_address(name))


@cache
def compiled(text: str, effort: str = STRAIGHT) -> MachineCode:
    """Machine code of assembly, by the effort that suits it."""
    import llvmlite
    from llvmlite import binding

    _prepare()
    cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    machine = binding.Target.from_default_triple().create_target_machine(  # an engine owns its machine
        cpu=cpu, features=features, opt=0 if effort == LONG else 2
    )
    mark = f"llvmlite {llvmlite.__version__} {machine.triple} {cpu} {features} {effort}"
    store = code_store.Store(code_store.key(mark, text))
    module = binding.parse_assembly(text)
    module.name = "odesys"
    kept = store.read()
    if effort == LOOPS and kept is None:
        options = binding.create_pipeline_tuning_options(speed_level=2)
        options.inlining_threshold = 0  # copies of functions take longer to compile than they save
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.set_object_cache(lambda _, code: store.write(code), lambda _: kept)
    engine.finalize_object()
    _ENGINES.append(engine)
    return MachineCode(engine)


class ArrayFunction:
    """Machine code of (t, x, p, g, out) as a Python function of arrays of floats without gaps."""

    def __init__(self, address: int) -> None:
        self.address = address
        self._code = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(address)

    def __call__(self, t: float, x: np.ndarray, p: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
        self._code(t, address_of(x), address_of(p), address_of(g), address_of(out))


class BoundFunction:
    """Machine code of (t, x, p, g, out) with p bound and no gates: n numbers in, n out; each thread has its buffers."""

    def __init__(self, address: int, n: int, p: np.ndarray) -> None:
        self._code = ctypes.PYFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(address)
        self._n, self._p, self._p_place, self._local = n, p, p.ctypes.data, threading.local()

    def __call__(self, t: float, x: np.ndarray) -> np.ndarray:
        try:
            given, out, place, result = self._local.buffers
        except AttributeError:  # the first call in this thread
            given, out = np.empty(self._n), np.empty(self._n)
            place, result = given.ctypes.data, out.ctypes.data
            self._local.buffers = given, out, place, result
        given[:] = x
        self._code(t, place, self._p_place, None, result)
        values: np.ndarray = out.copy()
        return values


def address_of(array: np.ndarray) -> int:
    """Where the numbers of an array begin; the quick way, if it can be written to."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return int(array.ctypes.data)


@cache
def _prepare() -> None:
    """Make llvmlite ready to compile for this machine."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    library = ctypes.CDLL(ctypes.util.find_library("m") or None)
    for name, symbol in LIBRARY.items():
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        assert address is not None
        binding.add_symbol(f"lib_{name}", address)
