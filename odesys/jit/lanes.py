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
    return _CONSTANT.sub(many, body)


def with_functions(body: str, width: int) -> str:
    """A whole module: declarations and the functions on lanes that a text calls."""
    names = sorted({name for name in _LIBRARY.findall(body) if f"@lanes_{name}(" in body})
    functions = "".join(function_text(name, width) for name in names)
    return DECLARED + declarations(width) + functions + body
