"""The field of the flagship in lanes against what the processor's arithmetic allows, in one run.

    python -m benchmarks.bench_lanes [FILE]

The flagship is two_mixture, K = 2, all weights trained, by its quotient: 22 states. The limit is the number of sums,
products and joined ones that the machine code of the field has, with those of the exponentials it calls, at the rate at
which this processor makes joined ones that do not wait for each other, with as many in flight as are quickest.
Divisions, comparisons, loads and stores count nothing, so no code reaches it. Both are timed in turn.
"""

from __future__ import annotations

import ctypes
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from derivations.two_mixture import dynamics
from odesys import System
from odesys.jit import llvm, native
from odesys.jit.lanes import lane_width, on_lanes, with_functions

from . import task

ROUNDS, CALLS, PER_LINK = 200, 200, 64
CHAINS = (5, 10, 20)  # in flight at once: registers hold the first few on any processor, and more on some
_ARITHMETIC = re.compile(r"\bv?(?:add|sub|mul|fn?m(?:add|sub)\w*)pd\b")
_DRIVEN = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)


def systems() -> dict[str, System]:
    """The flagship with its gates, and with those held that do not switch between t = 2 and t = 140."""
    return {"with gates": dynamics.reduced("simultaneous").system, "gates held": task.held_quotient()}


def _repeated(width: int) -> str:
    """A loop of calls, each of which has to be made."""
    return f"""
define void @repeat(i64 %count, ptr %x, ptr %p, ptr %g, ptr %out) {{
entry:
  %slot = alloca ptr
  store volatile ptr @function, ptr %slot
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %f = load volatile ptr, ptr %slot
  call void %f(<{width} x double> zeroinitializer, ptr %x, ptr %p, ptr %g, ptr %out)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def field_text(system: System, width: int) -> str:
    """The field in lanes and a loop of calls of it."""
    body = on_lanes(native.assembly(system, system.nodes, range(system.dimension), True), width)
    return with_functions(body + _repeated(width), width)


def stream_text(width: int, chains: int) -> str:
    """Joined products and sums, in chains that do not wait for each other."""
    kind = f"<{width} x double>"
    lines = [f"%a0 = load {kind}, ptr %x, align 8"]
    lines += [f"%s{c}_0 = fmul {kind} %a0, <{', '.join([f'double {c + 1}.0'] * width)}>" for c in range(chains)]
    for k in range(PER_LINK):
        lines += [
            f"%s{c}_{k + 1} = call {kind} @llvm.fma.v{width}f64({kind} %s{c}_{k}, {kind} %a0, {kind} %a0)"
            for c in range(chains)
        ]
    for c in range(chains):
        lines += [f"%o{c} = getelementptr {kind}, ptr %out, i64 {c}"]
        lines += [f"store {kind} %s{c}_{PER_LINK}, ptr %o{c}, align 8"]
    head = f"define internal void @function({kind} %t, ptr noalias %x, ptr %p, ptr %g, ptr noalias %out) {{\n"
    body = head + "".join(f"  {line}\n" for line in lines) + "  ret void\n}\n"
    return with_functions(body + _repeated(width), width)


def arithmetic(text: str) -> int:
    """Sums, products and joined ones of one call of the field, in vectors of the processor."""
    parts = re.split(r"^(\w+):", llvm.instructions(text, llvm.LOOPS), flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))

    def count(name: str) -> int:
        calls = re.findall(r"\bcall\w*\s+(\w+)", bodies[name])
        return len(_ARITHMETIC.findall(bodies[name])) + sum(count(inner) for inner in calls if inner in bodies)

    return count("function")


def driven(text: str, rows: dict[str, np.ndarray], width: int) -> Callable[[], None]:
    """Calls of a field with the same numbers in all lanes."""
    code = llvm.compiled(text, llvm.LOOPS)
    function, arrays = _DRIVEN(code.address("repeat")), [np.repeat(row, width) for row in rows.values()]

    def work() -> None:
        _ = code
        function(CALLS, *(array.ctypes.data for array in arrays))

    return work


def nanoseconds(works: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Shortest processor time of one call of each, timed in turn."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.process_time_ns()
            work()
            best[name] = min(best[name], (time.process_time_ns() - began) / CALLS)
    return best


def main() -> str:
    """The table as text."""
    width, start = lane_width(), task.quotient_start()
    found, works = systems(), dict[str, Callable[[], None]]()
    streams = {f"stream of {chains}": chains for chains in CHAINS}
    texts = {name: stream_text(width, chains) for name, chains in streams.items()}
    for name, chains in streams.items():
        room = {"x": np.full(1, 0.5), "p": np.zeros(1), "g": np.zeros(1), "out": np.zeros(chains)}
        works[name] = driven(texts[name], room, width)
    for name, system in found.items():
        gates = np.ones(max(len(system.surfaces), 1))
        given = {"x": start, "p": np.full(max(len(system.parameters), 1), task.BIAS), "g": gates, "out": 0 * start}
        texts[name] = field_text(system, width)
        works[name] = driven(texts[name], given, width)
    counts = {name: arithmetic(text) for name, text in texts.items()}
    best = nanoseconds(works)
    each = min(best[name] / counts[name] for name in streams)
    lines = [f"# Field in lanes\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_lanes`.\n"]
    lines += [f"{width} lanes; {each:.3g} ns a vector instruction.\n"]
    lines += ["| field | operations | vector instructions | ns a run | limit | ratio |", "| --- |" + " --- |" * 5]
    for name, system in found.items():
        limit, taken = counts[name] * each / width, best[name] / width
        operations = system.compile(dict.fromkeys(system.parameters, task.BIAS)).operations
        lines.append(f"| {name} | {operations} | {counts[name]} | {taken:.1f} | {limit:.1f} | {taken / limit:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
