"""Machine code called by its address from compiled loops, and from plain Python where numba is not installed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_REGISTERED: list[tuple[Callable[..., Any], tuple[int, ...]]] = []


def register(function: Callable[..., Any], sizes: tuple[int, ...]) -> int:
    """A number that stands for a Python function of (t, x, p, g, out) where there is no machine code."""
    _REGISTERED.append((function, sizes))
    return len(_REGISTERED) - 1


def _uncompiled(**options: Any) -> Callable[[Any], Any]:
    return lambda function: function


def _call_registered(address: int, t: float, x: int, p: int, g: int, out: int) -> None:
    """Call the function of (t, x, p, g, out) that a number stands for; arrays are addresses."""
    function, sizes = _REGISTERED[address]
    places = zip((x, p, g, out), sizes, strict=True)
    function(t, *((ctypes.c_double * size).from_address(a) if size else [] for a, size in places))


def _call_machine_code(typing: Any, address: Any, t: Any, x: Any, p: Any, g: Any, out: Any) -> Any:
    """Call the function of (t, x, p, g, out) at an address; arrays are addresses too."""
    from llvmlite import ir
    from numba import types

    signature = types.void(types.intp, types.float64, types.intp, types.intp, types.intp, types.intp)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), *[pointer] * 4])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, [arguments[1], *(builder.inttoptr(a, pointer) for a in arguments[2:])])
        return context.get_dummy_value()

    return signature, code


try:
    import numba
    from numba.extending import intrinsic

    COMPILED = True
    njit: Any = numba.njit
    call_code: Any = intrinsic(_call_machine_code)
except ImportError:  # the same lines run as Python
    COMPILED = False
    njit, call_code = _uncompiled, _call_registered


@njit(cache=True)
def apply(code, t, x, p, g, out):  # type: ignore[no-untyped-def]
    """Call machine code with arrays."""
    call_code(code, t, x.ctypes.data, p.ctypes.data, g.ctypes.data, out.ctypes.data)
