"""LLVM assembly to machine code by llvmlite, kept on disk under the hash of its text.

Functions of the mathematical library are known to the linker as ``lib_`` and their name.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import re
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..expr.constants import to_float
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
_PUBLIC = re.compile(r"^define (?!internal)\w+ @(\w+)\(", re.MULTILINE)
MOST_RECENT = 256  # pieces of code that stay for the next system of the same text; others go with their last address
_LINKED: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()  # by the key of its text
_RECENT: OrderedDict[str, MachineCode] = OrderedDict()
_NUMBERS = itertools.count()
_LOCK = threading.Lock()  # one piece of code is compiled at a time


def constant(value: Any) -> str:
    """A number as assembly writes a double."""
    return "0x" + struct.pack(">d", to_float(value)).hex().upper()


@cache
def available() -> bool:
    """True if llvmlite loads and can compile for this machine."""
    try:
        _linker()
    except (ImportError, OSError, RuntimeError, AttributeError, TypeError):  # or no C library
        return False
    return True


@dataclass(frozen=True, eq=False)
class MachineCode:
    """Compiled functions, called by their addresses."""

    library: Any

    def address(self, name: str) -> Address:
        """Where a function begins."""
        found = Address(self.library[name])
        found.code = self
        return found


class Address(int):
    """Where a function begins; whoever holds it keeps the code in its place, which a plain int of it does not."""

    code: MachineCode


def compiled(text: str, effort: str = STRAIGHT) -> MachineCode:
    """Machine code of assembly, by the effort that suits it."""
    return compiled_as(text, _PUBLIC.findall(text), lambda: text, effort)


def compiled_as(name: str, public: Sequence[str], text: Callable[[], str], effort: str) -> MachineCode:
    """The same for assembly that is only written where no code of this name is kept; `name` says all it depends on."""
    machine, mark = _machine(effort)
    key = code_store.key(mark, name)
    with _LOCK:
        found = _LINKED.get(key)
        if found is None:
            store = code_store.StoredCode(key)
            code = store.read()
            if code is None:
                code = _object_code(text(), effort, machine)
                store.write(code)
            found = _LINKED[key] = _linked(code, public)
        _RECENT[key] = found
        _RECENT.move_to_end(key)
        while len(_RECENT) > MOST_RECENT:
            _RECENT.popitem(last=False)
        return found


def instructions(text: str, effort: str = STRAIGHT) -> str:
    """What this machine is told to do, as its own assembly, to be looked at."""
    machine, _ = _machine(effort)
    with _LOCK:
        return str(machine.emit_assembly(_module(text, effort, machine)))


def _object_code(text: str, effort: str, machine: Any) -> bytes:
    return bytes(machine.emit_object(_module(text, effort, machine)))


def _module(text: str, effort: str, machine: Any) -> Any:
    from llvmlite import binding

    module = binding.parse_assembly(text)
    if effort == LOOPS:
        options = binding.create_pipeline_tuning_options(speed_level=2)
        options.inlining_threshold = 0  # copies of functions take longer to compile than they save
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module


def _linked(code: bytes, public: Sequence[str]) -> MachineCode:
    """Object code brought to its place, with the functions of the mathematical library it calls."""
    from llvmlite import binding

    linker, library = _linker()
    builder = binding.JITLibraryBuilder().add_object_img(code)
    for name, address in library.items():
        builder.import_symbol(name, address)
    for name in public:
        builder.export_symbol(name)
    return MachineCode(builder.link(linker, f"odesys{next(_NUMBERS)}"))


STRAIGHT_CODE = ctypes.PYFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)  # of (t, x, p, g, out)


class BoundFunction:
    """Machine code of (t, x, p, g, out) with p bound, as a function of t, x and gates; each thread has its buffers."""

    def __init__(self, address: Address, sizes: tuple[int, int, int], p: np.ndarray) -> None:
        self._address = address  # keeps the code in its place
        self._code = STRAIGHT_CODE(address)
        self._sizes, self._p, self._p_place = sizes, p, _place(p)
        self._local = threading.local()

    def __call__(self, t: float, x: Any, gates: Any = None) -> np.ndarray:
        try:
            given, g, out, x_place, g_place, out_place = self._local.buffers
        except AttributeError:  # the first call in this thread
            given, g, out = (np.zeros(size) for size in self._sizes)
            x_place, g_place, out_place = map(_place, (given, g, out))
            self._local.buffers = given, g, out, x_place, g_place, out_place
        given[:] = x
        if gates is not None:
            g[:] = gates
        self._code(t, x_place, self._p_place, g_place, out_place)
        values: np.ndarray = out.copy()
        return values


def _place(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(address_of(array))


def address_of(array: np.ndarray) -> int:
    """Where the numbers of an array begin, the quick way if it can be written to; 0 where there are none."""
    if not array.size:
        return 0
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return int(array.ctypes.data)


@cache
def _machine(effort: str) -> tuple[Any, str]:
    """What code is made for this machine by, and all that its bytes depend on besides the text."""
    import llvmlite
    from llvmlite import binding

    _linker()
    version = binding.llvm_version_info
    cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    options = {"cpu": cpu, "features": features, "opt": 0 if effort == LONG else 2, "reloc": "pic"}
    options["codemodel"] = "small"  # constants are near the code, calls go through stubs
    machine = binding.Target.from_default_triple().create_target_machine(**options)
    return machine, f"llvmlite {llvmlite.__version__} {version} {machine.triple} {cpu} {features} small {effort}"


@cache
def _linker() -> tuple[Any, dict[str, int]]:
    """What brings code to its place, and the addresses of the mathematical library."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    library, found = ctypes.CDLL(ctypes.util.find_library("m") or None), dict[str, int]()
    for name, symbol in LIBRARY.items():
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        assert address is not None
        found[f"lib_{name}"] = address
    return binding.create_lljit_compiler(), found
