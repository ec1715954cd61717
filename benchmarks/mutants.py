"""Small mistakes put into engine and numerics, one at a time: does the test file of that module notice?

    python -m benchmarks.mutants --count 300 --seed 1
    python -m benchmarks.mutants --only odesys/analysis/linear.py --count 20

A mutant is one change of one place: a comparison, `and` and `or`, a sign, a number, a condition, a returned value. Only
the quick tests of the mirrored file are run, so a survivor may still be noticed elsewhere. Modules without such tests
are left out. Survivors are listed with the line they change; the exit code is 1 if fewer than 90 percent are killed.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
SECONDS, WAIT = 120, 1800  # of processor time, and by the clock, for one test file; more is a hang, which is noticed


@dataclass(frozen=True)
class Mutant:
    """One place of a file and what stands there instead."""

    file: Path
    line: int
    start: int  # in bytes of the file
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before!r} -> {self.after!r}"


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

    def walk(node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr | ast.Raise):
                continue  # types, decorators, sentences
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    for other in changes(child):
                        start = lines[child.lineno - 1] + child.col_offset  # type: ignore[attr-defined]
                        end = lines[child.end_lineno - 1] + child.end_col_offset  # type: ignore[attr-defined]
                        before, after = text[start:end].decode(), ast.unparse(ast.fix_missing_locations(other))
                        if isinstance(other, ast.expr):
                            after = f"({after})"
                        found.append(Mutant(file, child.lineno, start, end, before, after))  # type: ignore[attr-defined]
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


def run_tests(folder: Path, file: Path) -> bool | None:
    """True if the quick tests of a module pass in a copy of the project; None if it has none.

    They run in a fork of this process, in which the libraries are loaded and nothing of the project is.
    """
    child = os.fork()
    if child == 0:
        os._exit(_test(folder, mirrored(file)))
    end = time.monotonic() + WAIT
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test started and a mutant did not let it end
    code = os.waitstatus_to_exitcode(status)
    return None if code == 5 else code == 0


def _test(folder: Path, tests: Path) -> int:
    """Exit code of the tests; this process is not used for anything else."""
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    os.environ.update(PYTHONPATH=str(folder), ODESYS_CACHE=str(folder / "cache"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(folder)
    sys.dont_write_bytecode = True
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() not in (ROOT, folder))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    line = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not nightly", str(tests)]
    try:
        return int(pytest.main(line))
    except BaseException:
        return 1


def load_libraries() -> None:
    """What most tests load, once; each fork has it then."""
    for name in ("flint", "hypothesis.strategies", "llvmlite.binding", "matplotlib", "networkx", "numpy", "scipy"):
        importlib.import_module(name)
    for name in ("scipy.integrate", "scipy.optimize", "sympy", "typer.testing"):
        importlib.import_module(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose path begins so")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of the sample, tried before")
    chosen = parser.parse_args()
    every = [m for file in modules() if str(file).startswith(chosen.only) for m in mutants(file)]
    sample = random.Random(chosen.seed).sample(every, min(chosen.count, len(every)))[chosen.skip :]
    load_libraries()
    began, killed, survivors = time.monotonic(), 0, list[Mutant]()
    good: dict[Path, bool | None] = {}
    with tempfile.TemporaryDirectory(prefix="odesys-mutants-") as place:
        folder = Path(place)
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", "_build", "results", ".*_cache")
        shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=ignored)
        compileall.compile_dir(folder, quiet=2)
        for mutant in sample:
            if time.monotonic() - began > 60 * chosen.minutes:
                break
            if mutant.file not in good:
                good[mutant.file] = run_tests(folder, mutant.file)
            if not good[mutant.file]:
                continue  # no quick tests, or they fail without a mutant
            target = folder / mutant.file
            text, times = target.read_bytes(), target.stat()
            target.write_bytes(text[: mutant.start] + mutant.after.encode() + text[mutant.end :])
            if run_tests(folder, mutant.file):
                survivors.append(mutant)
            else:
                killed += 1
            target.write_bytes(text)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that it is not compiled again
            print("survived" if mutant in survivors else "killed  ", mutant, flush=True)
    total = killed + len(survivors)
    print(f"\nseed {chosen.seed}: {killed} of {total} killed, of {len(every)} mutants in {len(modules())} modules")
    for mutant in survivors:
        print(f"  {mutant}")
    print(*(f"no quick tests that pass: {file}" for file, passed in good.items() if not passed), sep="\n")
    return int(killed < 0.9 * total)


if __name__ == "__main__":
    sys.exit(main())
