"""The public names: listed once, loaded when used, shown by examples that run; papers and examples use no others."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import odesys

ROOT = Path(__file__).resolve().parents[1]
STUB = ast.parse((ROOT / "odesys" / "__init__.pyi").read_text(encoding="utf-8"))
LISTED = [alias.name for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names]

#: names without an example of their own -> why
NO_EXAMPLE = {
    "Progress": "a type alias: a comment where it is defined says what it stands for",
}


def test_the_list_is_read_as_python_reads_it() -> None:
    assert odesys.__all__ == LISTED and len(set(LISTED)) == len(LISTED) > 100


@pytest.mark.parametrize("name", LISTED)
def test_every_name_loads_and_is_where_the_list_says(name: str) -> None:
    scope: dict[str, object] = {}
    exec(f"from odesys import {name}", scope)
    value = scope[name]
    assert value is getattr(odesys, name) and name in dir(odesys)
    if isinstance(value, type | FunctionType):
        assert value.__name__ == name


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'gradient_flaw'"):
        _ = odesys.gradient_flaw
    with pytest.raises(ImportError, match="cannot import name 'gradient_flaw'"):
        exec("from odesys import gradient_flaw")


# ---- examples --------------------------------------------------------------------------------------------------------


def example_of(name: str, value: object) -> str:
    """The docstring that must show how a public name is used: of a constant, the one of its module."""
    if isinstance(value, ModuleType | type | FunctionType):
        return value.__doc__ or ""
    text = importlib.import_module(odesys._MODULES[name]).__doc__ or ""
    return text if re.search(rf"^ *>>> .*\b{name}\b", text, flags=re.MULTILINE) else ""


@pytest.mark.parametrize("name", sorted(set(LISTED) - set(NO_EXAMPLE)))
def test_every_name_has_an_example(name: str) -> None:
    assert ">>>" in example_of(name, getattr(odesys, name))


def test_exceptions_are_needed() -> None:
    assert set(NO_EXAMPLE) <= set(LISTED) and not [n for n in NO_EXAMPLE if example_of(n, getattr(odesys, n))]


def examples_fail(module: ModuleType) -> int:
    """Run the examples in a module's docstrings; how many come out differently."""
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        runner.run(test)
    return runner.summarize(verbose=False).failed


def with_examples() -> Iterator[str]:
    for package in ("odesys", "numerics", "derivations"):
        for file in sorted((ROOT / package).rglob("*.py")):
            if ">>> " in file.read_text(encoding="utf-8"):
                yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", list(with_examples()))
def test_examples_are_true(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert not examples_fail(importlib.import_module(module))


def test_a_wrong_example_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    module = ModuleType("wrong", ">>> 1 + 1\n3\n")
    assert examples_fail(module) == 1 and "Expected:\n    3" in capsys.readouterr().out


# ---- papers, examples, the skeleton and the documentation import public names only -----------------------------------


def private_imports(source: str) -> list[str]:
    """What a text imports from the engine or from numerics that is not a public name of `odesys`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in ("odesys", "numerics")]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module == "odesys":
                found += [f"odesys.{alias.name}" for alias in node.names if alias.name not in LISTED]
            elif node.module.split(".")[0] in ("odesys", "numerics"):
                found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load_later":
            module, name = (getattr(arg, "value", "") for arg in node.args)
            if str(module).split(".")[0] in ("odesys", "numerics") and (module != "odesys" or name not in LISTED):
                found.append(f"{module}.{name}")
    return found


def texts() -> Iterator[tuple[str, str]]:
    skeleton = ROOT / "odesys" / "papers" / "skeleton"
    for file in [*(ROOT / "derivations").rglob("*.py"), *(ROOT / "examples").glob("*.py"), *skeleton.glob("*.txt")]:
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    for page in ("README.md", "docs/tutorial.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        yield page, "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))


def test_papers_and_examples_import_public_names_only() -> None:
    all_texts = dict(texts())
    assert len(all_texts) > 100 and any("skeleton" in name for name in all_texts)
    assert not {name: found for name, text in all_texts.items() if (found := private_imports(text))}


@pytest.mark.parametrize(
    "source",
    [
        "from odesys import gradient_flaw",
        "from odesys import integrate, _modules",
        "from odesys.expr.system import System",
        "def f():\n    from numerics.flows.integrate import integrate",
        "import odesys.cli",
        "if True:\n    import numerics.maps as m",
        "draw = load_later('odesys', 'draw_proof_grapf')",
        "draw = load_later('numerics.pictures.proof_graph', 'draw_proof_graph')",
    ],
)
def test_the_check_of_imports_can_fail(source: str) -> None:
    assert len(private_imports(source)) == 1
    assert not private_imports("from odesys import System, integrate\nfrom . import setting\nimport numpy")
