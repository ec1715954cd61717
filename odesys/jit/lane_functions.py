"""Exponential, sine and cosine of several numbers at once, as LLVM assembly without branches between them.

Each is within one unit in the last place. exp: x = k log 2 + r with |r| <= log(2)/2, and the Taylor polynomial of order
13, whose rest is below 2^-57. sin and cos: x = k pi/2 + y with y as a sum of two floats (three parts of pi/2), and the
polynomials of fdlibm on |y| <= pi/4; from 10^6 on a number goes to the mathematical library by itself, so that a
result depends on its own argument alone. All other functions call the library once a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .lane_text import LaneValue, LaneWriter
from .llvm import BINARY, LIBRARY

SHIFT = 1.5 * 2.0**52  # added and taken off again, it rounds to whole numbers, which are its last bits meanwhile
LOG2_HIGH, LOG2_LOW = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")
QUARTER = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
FAR = 1e6  # arguments of sine and cosine from here on are reduced by the library
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def function_text(name: str, width: int) -> str:
    """The function ``lanes_`` and a name of the library, of so many numbers at once."""
    if name in WRITTEN:
        return WRITTEN[name](width)
    return _one_by_one(name, width)


def _one_by_one(name: str, width: int) -> str:
    """The library's function, called for each number."""
    arguments = ("z", "y") if name in BINARY else ("z",)
    kind = f"<{width} x double>"
    lines, found = [], "undef"
    for k in range(width):
        lines += [f"%{a}{k} = extractelement {kind} %{a}, i32 {k}" for a in arguments]
        listed = ", ".join(f"double %{a}{k}" for a in arguments)
        lines += [f"%f{k} = call double @lib_{name}({listed})"]
        lines += [f"%r{k} = insertelement {kind} {found}, double %f{k}, i32 {k}"]
        found = f"%r{k}"
    head = f"define internal {kind} @lanes_{name}({', '.join(f'{kind} %{a}' for a in arguments)}) {{\n"
    return head + "".join(f"  {line}\n" for line in lines) + f"  ret {kind} {found}\n}}\n"


def _exp(width: int) -> str:
    w = LaneWriter(width)
    return w.function("lanes_exp", _exponentials(w, w.value("%z"))[0])


def _exp_both(width: int) -> str:
    """e^z and e^-z, each as `_exp` has it bit by bit: rounding is the same on both sides of zero."""
    w = LaneWriter(width)
    return w.two_results("lanes_exp_both", *_exponentials(w, w.value("%z"), True))


def _exponentials(w: LaneWriter, z: LaneValue, both: bool = False) -> list[LaneValue]:
    """e^z, and e^-z if both are wanted."""
    z = w.clamped(z, -746.0, 746.0 if both else 710.0)
    k = w.exact(w.exact(z * (1.0 / math.log(2.0)), "+", SHIFT), "-", SHIFT)
    first = w.fma(-k, LOG2_HIGH, z)
    r = w.fma(-k, LOG2_LOW, first)
    low = w.fma(-k, LOG2_LOW, w.exact(first, "-", r))
    square = r * r
    even, odd = (_polynomial(w, square, [1.0 / math.factorial(j) for j in range(first, 14, 2)]) for first in (2, 3))
    found = []
    for rest, small, whole in [(r, low, k), (-r, -low, -k)][: 2 if both else 1]:
        power = w.exact(w.exact(w.fma(square, w.fma(rest, odd, even), small), "+", rest), "+", 1.0)
        shifted = w.fma(whole, 0.5, w.number(SHIFT + 1023.0))  # a half of it, in its last bits
        half = w.exact(shifted, "-", SHIFT + 1023.0)
        found.append(power * _power_of_two(w, shifted) * _power_of_two(w, w.exact(whole - half, "+", SHIFT + 1023.0)))
    return found


def _power_of_two(w: LaneWriter, shifted: LaneValue) -> LaneValue:
    """2^k of whole numbers between -1022 and 1023, given as k + SHIFT + 1023."""
    return w.from_bits(w.put(f"shl {w.integers} {w.bits(shifted)}, {w.whole(52)}"))


def _polynomial(w: LaneWriter, z: LaneValue, coefficients: list[float]) -> LaneValue:
    total = w.number(coefficients[-1])
    for c in coefficients[-2::-1]:
        total = w.fma(z, total, w.number(c))
    return total


def _circular(name: str, quarter: int, width: int) -> str:
    """Sine, or with `quarter` = 1 cosine."""
    w = LaneWriter(width)
    z = w.value("%z")
    shifted = w.exact(z * (2.0 / math.pi), "+", SHIFT)
    k = w.exact(shifted, "-", SHIFT)
    t = w.fma(-k, QUARTER[0], z)
    part = w.exact(k, "*", QUARTER[1])
    y = w.exact(t, "-", part)
    way = w.exact(y, "-", t)  # the rounding of y is exact in the next line
    rounded = w.exact(w.exact(t, "-", w.exact(y, "-", way)), "-", w.exact(part, "+", way))
    low = w.fma(-k, QUARTER[2], w.exact(rounded, "-", w.fma(k, QUARTER[1], -part)))
    square = w.exact(y, "*", y)
    sine, cosine = _sine(w, y, low, square), _cosine(w, y, low, square)
    number = w.put(f"add {w.integers} {w.bits(shifted)}, {w.whole(quarter)}")
    odd, upper = (w.put(f"and {w.integers} {number}, {w.whole(bit)}") for bit in (1, 2))
    found = w.where(w.mask(f"icmp ne {w.integers} {odd}, {w.whole(0)}"), cosine, sine)
    found = w.where(w.mask(f"icmp ne {w.integers} {upper}, {w.whole(0)}"), -found, found)
    near = w.absolute(z) < FAR
    return w.function(f"lanes_{name}", found, (near, f"lanes_far_{name}")) + _one_by_one(name, width).replace(
        f"@lanes_{name}(", f"@lanes_far_{name}("
    )


def _sine(w: LaneWriter, y: LaneValue, low: LaneValue, square: LaneValue) -> LaneValue:
    """sin(y + low) by fdlibm's kernel."""
    cube = w.exact(square, "*", y)
    rest = _polynomial(w, square, list(SINE[1:]))
    inner = w.exact(w.exact(low, "*", 0.5), "-", w.exact(cube, "*", rest))
    tail = w.exact(w.exact(w.exact(square, "*", inner), "-", low), "-", w.exact(cube, "*", SINE[0]))
    return w.exact(y, "-", tail)


def _cosine(w: LaneWriter, y: LaneValue, low: LaneValue, square: LaneValue) -> LaneValue:
    """cos(y + low) by fdlibm's kernel."""
    rest = w.exact(square, "*", _polynomial(w, square, list(COSINE)))
    half = w.exact(square, "*", 0.5)
    main = w.exact(1.0, "-", half)
    small = w.exact(w.exact(square, "*", rest), "-", w.exact(y, "*", low))
    return w.exact(main, "+", w.exact(w.exact(w.exact(1.0, "-", main), "-", half), "+", small))


WRITTEN: dict[str, Callable[[int], str]] = {
    "exp": _exp,
    "exp_both": _exp_both,
    "sin": lambda width: _circular("sin", 0, width),
    "cos": lambda width: _circular("cos", 1, width),
}
assert set(WRITTEN) <= {*LIBRARY, "exp_both"}
