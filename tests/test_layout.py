"""The layout of the project: imports point one way, no code from data, and the README names commands that exist."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("odesys", "numerics", "derivations")

#: files that may import by name: the table of public names, papers found by name, parts of a paper loaded when used
BY_NAME = {"odesys/__init__.py", "odesys/papers/registry.py", "odesys/papers/paper.py"}

#: spelled in two halves, so that this file passes its own test; a name such as `literal_eval` is a different word
CODE_FROM_DATA = re.compile(r"\bev" + r"al\(|\bpic" + r"kle\b|allow_pic" + r"kle\s*=\s*True")

COMMANDS = ("results", "test")


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def contract(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import contract of `pyproject.toml` on the packages in `folder`."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_imports_point_one_way() -> None:
    done = contract(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "statement", "edge"),
    [
        ("odesys/errors.py", "from .expr import graph", "odesys.errors -> odesys.expr.graph"),
        ("odesys/exact/zero.py", "import odesys.analysis.lax", "odesys.exact.zero -> odesys.analysis.lax"),
        ("odesys/cli/options.py", "import numerics.flows.run", "odesys.cli.options -> numerics.flows.run"),
        ("numerics/flows/run.py", "import derivations.signgd", "numerics.flows.run -> derivations.signgd"),
    ],
)
def test_a_forbidden_import_breaks_the_contract(tmp_path: Path, file: str, statement: str, edge: str) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / file).open("a") as source:
        source.write(f"\n\ndef late():\n    {statement}\n")
    done = contract(tmp_path)
    assert done.returncode == 1 and edge in done.stdout, done.stdout


def may_import(docstring: str, package: str, lines: list[list[str]]) -> set[str]:
    """Rooms that the docstring of a room names, by the lines of the contract from the latest to the earliest."""
    text = docstring.partition("May import:")[2].partition(". ")[0]
    named = {room for room in re.findall(rf"`{package}\.(\w+)`", text) if (ROOT / package / room).is_dir()}
    if "everything up to" in text:
        return {room for k, line in enumerate(lines) for room in line if any(named & set(up) for up in lines[: k + 1])}
    return {room for line in lines[1:] for room in line} if "every" in text else named


@pytest.mark.parametrize("package", ["odesys", "numerics"])
def test_rooms_say_what_the_contract_lets_them_import(package: str) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c.get("containers") == [package])
    lines = [[room for room in line.split(" | ") if (ROOT / package / room).is_dir()] for line in layers]
    for k, line in enumerate(lines := [line for line in lines if line]):
        below = {room for later in lines[k + 1 :] for room in later}
        for room in line:
            docstring = ast.get_docstring(ast.parse((ROOT / package / room / "__init__.py").read_text("utf-8"))) or ""
            assert "Nouns:" in docstring and "May import:" in docstring, room
            assert may_import(docstring, package, lines) == below, room


def test_the_check_of_rooms_can_fail() -> None:
    lines = [["c"], ["b"], ["a"]]
    assert may_import("May import: every room; more.", "odesys", lines) == {"b", "a"}
    assert may_import("May import: nothing. `odesys.expr` is a door.", "odesys", lines) == set()
    assert may_import("May import: everything up to `odesys.jit`.", "odesys", [["cli"], ["jit"], ["expr"]]) == {
        "jit",
        "expr",
    }


def imports_by_name(source: str) -> list[int]:
    """Lines in which importlib is asked for a module, so that the contract can not see it."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found += [node.lineno] if name in ("import_module", "__import__") else []
    return found


def test_nothing_gets_round_the_contract() -> None:
    found = {str(f.relative_to(ROOT)) for f in python_files(*PACKAGES) if imports_by_name(f.read_text("utf-8"))}
    assert found == BY_NAME


def test_the_check_of_imports_by_name_can_fail() -> None:
    for bad in ("import importlib\nimportlib.import_module('numerics')", "def f():\n    __import__('numerics')"):
        assert imports_by_name(bad) == [2]


def test_no_code_from_data() -> None:
    files = python_files(*PACKAGES, "tests", "benchmarks", "examples")
    assert Path(__file__).resolve() in files
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if CODE_FROM_DATA.search(line)
    ]
    assert not found


def test_the_code_from_data_check_can_fail() -> None:
    for bad in ("x = ev" + "al(text)", "import pic" + "kle", "np.load(f, allow_pic" + "kle = True)"):
        assert CODE_FROM_DATA.search(bad)
    assert not CODE_FROM_DATA.search("x = ast.literal_eval(text)")


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_quotes_a_make_command_that_exists(command: str) -> None:
    readme = ROOT / "README.md"
    assert readme.is_file(), "README.md is missing"
    assert re.search(rf"^{command}\s*:(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.search(rf"\bmake {command}(?![\w-])", readme.read_text(encoding="utf-8")), "not quoted"
