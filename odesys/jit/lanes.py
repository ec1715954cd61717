"""Straight-line code on several runs at once: the assembly of `native` and `taylor` with vectors for numbers.

The operations and their order stay; sums and products may be joined to one rounding, and functions are those of
`lane_functions`. A lane does not see the others.
"""

from __future__ import annotations

import re
from functools import cache

from .lane_functions import function_text
from .lane_text import declarations
from .llvm import DECLARED, available

_CONSTANT = re.compile(r"(?<![\w%@.])(?:0x[0-9A-F]{16}|\d+\.\d+)\b")
_OPPOSITE = re.compile(r"(%\w+) = (?:fneg .*|fmul .*0xBFF0000000000000, )(%\w+)$")
_EXPONENTIAL = re.compile(r"(%\w+) = call .*@lanes_exp\(.* (%\w+)\)$")
_LIBRARY = re.compile(r"@(?:lib|lanes)_(\w+)\(")


@cache
def lane_width() -> int:
    """How many runs go together: two vectors of this machine's widest kind, so that one can wait while the other goes;
    0 where there is no machine code.
    """
    if not available():
        return 0
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return 8 if features.get("avx") or features.get("avx512f") else 4


def on_lanes(text: str, width: int) -> str:
    """Assembly of doubles as that of so many at once, with what it calls; functions that were public are internal."""
    body = text.removeprefix(DECLARED)
    body = re.sub(r"\b(fadd|fsub|fmul) (contract )?double", r"\1 contract double", body)
    body = re.sub(r"(load double, ptr %\w+|store double \S+, ptr %\w+)", r"\1, align 8", body)
    body = re.sub(r"\bdouble\b", f"<{width} x double>", body)
    body = re.sub(r"\bi1\b", f"<{width} x i1>", body)
    body = re.sub(r"@llvm\.(\w+)\.f64\(", rf"@llvm.\1.v{width}f64(", body)
    body = body.replace("@lib_", "@lanes_").replace("define void", "define internal void")
    many = lambda found: "<" + ", ".join([f"double {found.group()}"] * width) + ">"  # noqa: E731
    kind = f"<{width} x double>"
    return "define".join(_CONSTANT.sub(many, _paired(part, kind)) for part in body.split("define"))


def _paired(text: str, kind: str) -> str:
    """The lines of a function with e^x and e^-x computed together wherever it has both."""
    lines, opposite, places = text.split("\n"), dict[str, str](), dict[str, int]()
    for k, line in enumerate(lines):
        if found := _OPPOSITE.search(line):
            opposite[found.group(1)] = found.group(2)
        elif found := _EXPONENTIAL.search(line):
            places[found.group(2)] = k
    for minus, plus in opposite.items():
        if minus in places and plus in places:
            first, second = sorted((places.pop(minus), places.pop(plus)))
            names = {_argument(lines[k]): lines[k].split("=")[0].strip() for k in (first, second)}
            pair = f"%pair{plus[1:]}"
            lines[first] = f"  {pair} = call {{{kind}, {kind}}} @lanes_exp_both({kind} {plus})\n" + "\n".join(
                f"  {names[a]} = extractvalue {{{kind}, {kind}}} {pair}, {k}" for k, a in enumerate((plus, minus))
            )
            lines[second] = ""
    return "\n".join(lines)


def _argument(line: str) -> str:
    found = _EXPONENTIAL.search(line)
    assert found is not None
    return found.group(2)


def with_functions(body: str, width: int) -> str:
    """A whole module: declarations and the functions on lanes that a text calls."""
    names = sorted({name for name in _LIBRARY.findall(body) if f"@lanes_{name}(" in body})
    functions = "".join(function_text(name, width) for name in names)
    return DECLARED + declarations(width) + functions + body
