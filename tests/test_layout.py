"""The layout of the project: imports point one way, no code from data, and the README names commands that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: package -> the packages it must not import
FORBIDDEN = {"odesys": {"numerics", "derivations"}, "numerics": {"derivations"}, "derivations": set()}

#: spelled in two halves, so that this file passes its own test; a name such as `literal_eval` is a different word
CODE_FROM_DATA = re.compile(r"\bev" + r"al\(|\bpic" + r"kle\b|allow_pic" + r"kle\s*=\s*True")

COMMANDS = ("results", "test")


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def forbidden_imports(source: str, forbidden: set[str], lazy_by_name: bool = False) -> list[str]:
    """Lines that import a forbidden package, by statement or by a literal name given to importlib.

    With `lazy_by_name` an import by name inside a function is allowed: the command line loads what it runs.
    """

    def visit(node: ast.AST, in_function: bool) -> Iterator[tuple[int, str]]:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(module)), *_],
            ) if not (lazy_by_name and in_function):
                yield node.lineno, module
        inner = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner)

    return [f"line {n}: {name}" for n, name in visit(ast.parse(source), False) if name.split(".")[0] in forbidden]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_one_way(package: str) -> None:
    files = python_files(package)
    assert files, f"{package}/ has no Python files"
    found = {}
    for file in files:
        cli = file == ROOT / "odesys" / "cli.py"
        lines = forbidden_imports(file.read_text(encoding="utf-8"), FORBIDDEN[package], lazy_by_name=cli)
        if lines:
            found[str(file.relative_to(ROOT))] = lines
    assert not found


@pytest.mark.parametrize(
    ("source", "lazy_by_name", "count"),
    [
        ("import numerics", False, 1),
        ("import numpy, numerics.flows.integrate as n", False, 1),
        ("from derivations.two_mixture import setting", False, 1),
        ("def f():\n    from numerics import integrate", True, 1),
        ("if TYPE_CHECKING:\n    import numerics", False, 1),
        ("import importlib\nm = importlib.import_module('numerics')", True, 1),
        ("def f():\n    return importlib.import_module('numerics')", False, 1),
        ("def f():\n    return importlib.import_module('numerics')", True, 0),
        ("import numpy\nfrom . import derivations_table\nimport numericsx", False, 0),
    ],
)
def test_the_import_check_can_fail(source: str, lazy_by_name: bool, count: int) -> None:
    assert len(forbidden_imports(source, FORBIDDEN["odesys"], lazy_by_name)) == count


def test_no_code_from_data() -> None:
    files = python_files(*FORBIDDEN, "tests", "benchmarks", "examples")
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
