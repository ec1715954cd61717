"""Small mistakes put into engine and numerics, one at a time: does the test file of that module notice?

    python -m benchmarks.mutants --count 300 --seed 1 --record FILE
    python -m benchmarks.mutants --only odesys/analysis/linear.py --count 20

A mutant is one change of one place: a comparison, `and` and `or`, a sign, a number, a condition, a returned value. The
quick tests of the mirrored file and the examples in the module's own docstrings are run, up to the first that fails,
which must pass without the mutant; a survivor may still be noticed elsewhere. Modules without such a file are left out,
and so is ``strict=`` of zip, which only a mistake elsewhere would show. The sample is those with the smallest digests,
so that it does not change with code elsewhere. With a record a run can be stopped and gone on with, and `--again` tries
its survivors once more, against sharper tests; then the table in mutants.md is written as well. The exit code is 1 if
fewer than 90 percent of those that a test can notice are killed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: mutants that no test can or need notice, by name, each with the reason
REASONS: dict[str, str] = json.loads(Path(__file__).with_name("equivalent.json").read_text(encoding="utf-8"))
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
SECONDS = 60  # of processor time for one test file; more is a hang, which is noticed
UNKNOWN = 4  # pytest: there is no test of this name
PATIENCE = 5  # times as many by the clock, on a machine with other work


@dataclass(frozen=True)
class Mutant:
    """One place of a file and what stands there instead."""

    file: Path
    line: int
    start: int  # in bytes of the file
    end: int
    before: str
    after: str
    where: str  # the line it is in
    nth: int = 0  # of several that look alike in one file

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before!r} -> {self.after!r}"

    @property
    def name(self) -> str:
        """The same as long as this line is, wherever in its file it stands."""
        return f"{self.file}: {self.where}: {self.before} -> {self.after}" + (f" ({self.nth})" if self.nth else "")

    def rank(self, seed: int) -> str:
        """A number by which samples are drawn."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in the place of a node."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield ast.Compare(node.left, [COMPARED[type(op)]()], node.comparators)
        case ast.BoolOp(op=op):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
        case ast.BinOp(op=op) if type(op) in SIGNS and not isinstance(node.right, ast.JoinedStr):
            yield ast.BinOp(node.left, SIGNS[type(op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield ast.Return(ast.Constant(None))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mutants(file: Path) -> list[Mutant]:
    """All mutants of a module; what only types, texts or the loading of modules depend on is left alone."""
    text = (ROOT / file).read_bytes()
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found: list[Mutant] = []
    alike = Counter[tuple[str, str, str]]()

    def walk(node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr | ast.Raise):
                continue  # types, decorators, sentences
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.keyword) and child.arg == "strict":
                    continue
                if isinstance(child, ast.AST):
                    for other in changes(child):
                        start = lines[child.lineno - 1] + child.col_offset  # type: ignore[attr-defined]
                        end = lines[child.end_lineno - 1] + child.end_col_offset  # type: ignore[attr-defined]
                        before, after = text[start:end].decode(), ast.unparse(ast.fix_missing_locations(other))
                        if isinstance(other, ast.expr):
                            after = f"({after})"
                        line = child.lineno  # type: ignore[attr-defined]
                        where = text.splitlines()[line - 1].decode().strip()
                        found.append(Mutant(file, line, start, end, before, after, where, alike[where, before, after]))
                        alike[where, before, after] += 1
                    walk(child)

    walk(ast.parse(text))
    return found


def modules() -> list[Path]:
    """Modules of engine and numerics that have a test file of their own."""
    files = [p.relative_to(ROOT) for package in ("odesys", "numerics") for p in sorted((ROOT / package).rglob("*.py"))]
    return [file for file in files if (ROOT / mirrored(file)).is_file()]


def mirrored(file: Path) -> Path:
    """The test file of a module."""
    return Path("tests") / file.parent / f"test_{file.name}"


class FirstFailure:
    """A plugin of pytest: which test fails."""

    def __init__(self) -> None:
        self.test = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.test = self.test or report.nodeid


@dataclass(frozen=True)
class Run:
    """How quick tests went."""

    code: int  # of pytest, or of a signal
    cpu: float  # seconds
    failed: str  # the first test that did; empty where it was loading, time or a crash


def run_tests(folder: Path, file: Path, test: str = "", mutated: bool = False) -> Run:
    """Run the quick tests of a module, or one of them, in a copy of the project.

    They run in a fork of this process, in which the libraries are loaded and nothing of the project is.
    """
    note = folder / "failed.txt"
    note.unlink(missing_ok=True)
    fresh = mutated and file.parts[1] == "jit"  # whose mistakes must not be kept for others
    cache = folder / ("cache-of-a-mutant" if fresh else "cache")
    child = os.fork()
    if child == 0:
        os._exit(_test(folder, [test] if test else [str(mirrored(file)), str(file)], cache, note))
    end = time.monotonic() + PATIENCE * SECONDS
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test started and a mutant did not let it end
    if fresh:
        shutil.rmtree(cache, ignore_errors=True)
    failed = note.read_text() if note.exists() else ""
    return Run(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, failed)


def _test(folder: Path, tests: Sequence[str], cache: Path, note: Path) -> int:
    """Exit code of the tests; this process is not used for anything else."""
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    os.environ.update(PYTHONPATH=str(folder), ODESYS_CACHE=str(cache))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(folder)
    sys.dont_write_bytecode = True
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() not in (ROOT, folder))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    line = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not nightly"]
    first = FirstFailure()
    try:
        return int(pytest.main([*line, "--doctest-modules", *tests], plugins=[first]))
    except BaseException:
        return 1
    finally:
        note.write_text(first.test)


def load_libraries() -> None:
    """What most tests load, once; each fork has it then."""
    for name in ("flint", "hypothesis.strategies", "llvmlite.binding", "matplotlib", "networkx", "numpy", "scipy"):
        importlib.import_module(name)
    for name in ("matplotlib.pyplot", "scipy.integrate", "scipy.optimize", "sympy", "typer.testing", "jinja2"):
        importlib.import_module(name)


def try_mutant(folder: Path, mutant: Mutant) -> dict[str, Any]:
    """What the tests say about a mutant; what fails must pass without it."""
    target = folder / mutant.file
    text, times = target.read_bytes(), target.stat()
    target.write_bytes(text[: mutant.start] + mutant.after.encode() + text[mutant.end :])
    run = run_tests(folder, mutant.file, mutated=True)
    target.write_bytes(text)
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that it is not compiled again
    if run.code == 0:
        return {"killed": False, "cpu": round(run.cpu, 2)}
    without = run_tests(folder, mutant.file, run.failed)
    if without.code == UNKNOWN:
        without = run_tests(folder, mutant.file)
    if without.code:
        return {"untested": without.failed or "no quick tests"}
    return {"killed": True, "by": run.failed.partition("::")[2], "cpu": round(run.cpu + without.cpu, 2)}


def copied(folder: Path) -> None:
    """A copy of the project."""
    ignored = shutil.ignore_patterns(".git", ".venv", "_build", "build", "results", ".*_cache")
    shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=ignored)


def table(sample: Sequence[Mutant], record: Mapping[str, Any], seed: int, every: int) -> str:
    """What was found, as mutants.md has it."""
    tried = [mutant for mutant in sample if "killed" in record.get(mutant.name, {})]
    survivors = [mutant for mutant in tried if not record[mutant.name]["killed"]]
    left_out = sum("untested" in record.get(mutant.name, {}) for mutant in sample)
    share = (len(tried) - len(survivors)) / max(len(tried), 1)
    equivalent = sum(mutant.name in REASONS for mutant in survivors)
    rooms = Counter(str(mutant.file.parent) for mutant in tried)
    lost = Counter(str(mutant.file.parent) for mutant in survivors)
    lines = [
        "# Mutants",
        "",
        f"Written by `python -m benchmarks.mutants --count {len(sample)} --seed {seed} --record FILE`.",
        f"Of {every} mutants in {len(modules())} modules {len(sample)} are the sample; {len(tried)} were tried, "
        f"{len(tried) - len(survivors)} killed ({share:.1%}), {len(survivors)} survived, {equivalent} of them "
        f"equivalent or harmless, with the reason below. {left_out} were left out: their modules have no quick tests.",
        f"Without those {(len(tried) - len(survivors)) / max(len(tried) - equivalent, 1):.1%} are killed. Quick "
        "tests of the mirrored file and the examples in docstrings of the module were run.",
        "",
        "| room | tried | survived |",
        "| --- | --- | --- |",
        *(f"| `{room}` | {rooms[room]} | {lost[room]} |" for room in sorted(rooms)),
        "",
        "| survivor | before | after | why |",
        "| --- | --- | --- | --- |",
        *(
            f"| `{mutant.file}:{mutant.line}` | {_cell(mutant.before)} | {_cell(mutant.after)} "
            f"| {REASONS.get(mutant.name, 'no test yet')} |"
            for mutant in survivors
        ),
    ]
    return "\n".join(lines) + "\n"


def _cell(code: str) -> str:
    short = " ".join(code.split()).replace("|", "\\|")
    return f"`{short if len(short) < 70 else short[:66] + ' ...'}`"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose path begins so")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--record", type=Path, help="what was tried; the next call goes on, and mutants.md is written")
    parser.add_argument("--again", action="store_true", help="try the survivors of the record once more")
    chosen = parser.parse_args()
    every = [m for file in modules() if str(file).startswith(chosen.only) for m in mutants(file)]
    sample = sorted(every, key=lambda mutant: mutant.rank(chosen.seed))[: chosen.count]
    record: dict[str, Any] = {}
    if chosen.record and chosen.record.exists():
        record = json.loads(chosen.record.read_text())
    if chosen.again:
        record = {name: found for name, found in record.items() if found.get("killed") or name in REASONS}
    load_libraries()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="odesys-mutants-") as place:
        folder = Path(place)
        copied(folder)
        for mutant in sorted(sample, key=lambda mutant: (hashlib.sha256(bytes(mutant.file)).digest(), mutant.start)):
            if mutant.name in record:
                continue
            if time.monotonic() - began > 60 * chosen.minutes:
                break
            found = record[mutant.name] = try_mutant(folder, mutant)
            answer = "untested" if "untested" in found else "killed  " if found["killed"] else "survived"
            print(answer, mutant, found.get("by", ""), found.get("cpu", ""), flush=True)
            if chosen.record:
                chosen.record.write_text(json.dumps(record, indent=1))
    text = table(sample, record, chosen.seed, len(every))
    if chosen.record and not chosen.only:
        Path(__file__).with_name("mutants.md").write_text(text, encoding="utf-8")
    print(text)
    noticeable = [m.name for m in sample if m.name not in REASONS]
    tried = [record[name]["killed"] for name in noticeable if "killed" in record.get(name, {})]
    return int(sum(tried) < 0.9 * len(tried))


if __name__ == "__main__":
    sys.exit(main())
