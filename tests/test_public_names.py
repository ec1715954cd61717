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
    assert value is getattr(odesys, name)
    if isinstance(value, type | FunctionType):
        assert value.__name__ == name


def test_completion_offers_the_public_names_and_nothing_else() -> None:
    assert [name for name in dir(odesys) if not name.startswith("__")] == sorted(LISTED)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"no public name 'gradient_flaw', .*; did you mean gradient_flow\?"):
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


def run_examples(*tests: doctest.DocTest) -> int:
    """How many examples come out differently."""
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for test in tests:
        runner.run(test)
    return runner.summarize(verbose=False).failed


def as_pasted(text: str, name: str) -> doctest.DocTest:
    """The examples of a docstring for a reader who has typed ``from odesys import *`` and nothing else."""
    return doctest.DocTestParser().get_doctest(text, {n: getattr(odesys, n) for n in LISTED}, name, None, 0)


@pytest.mark.parametrize("name", sorted(set(LISTED) - set(NO_EXAMPLE)))
def test_every_name_has_an_example_that_can_be_pasted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    test = as_pasted(example_of(name, getattr(odesys, name)), name)
    assert any(example.want for example in test.examples) and not run_examples(test)
    assert not private_imports("".join(example.source for example in test.examples))


def test_exceptions_are_needed() -> None:
    assert set(NO_EXAMPLE) <= set(LISTED) and not [n for n in NO_EXAMPLE if example_of(n, getattr(odesys, n))]


def test_what_is_reached_through_a_public_module_has_an_example() -> None:
    """Papers write ``graph.exp``: what they use of a public module is shown as well."""
    used = {use for text in dict(texts()).values() for use in module_attributes(text) if use[1] not in LISTED}
    values = {f"{module}.{name}": getattr(getattr(odesys, module), name) for module, name in used}
    functions = {name: value.__doc__ or "" for name, value in values.items() if isinstance(value, FunctionType)}
    assert len(functions) > 20
    assert not {name for name, text in functions.items() if not re.search(rf">>> .*\b{re.escape(name)}\b", text)}
    assert not run_examples(*(as_pasted(text, name) for name, text in functions.items()))


def examples_fail(module: ModuleType) -> int:
    """Run the examples in a module's docstrings; how many come out differently."""
    return run_examples(*doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__))


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
    assert run_examples(as_pasted(">>> float(np.ones(1)[0])\n1.0\n", "no import")) == 1


# ---- papers, examples, the skeleton and the documentation import public names only -----------------------------------


def module_attributes(source: str) -> list[tuple[str, str]]:
    """Pairs such as (graph, exp): what a text reaches through public names that are modules."""
    tree = list(ast.walk(ast.parse(source)))
    modules = {
        alias.asname or alias.name: alias.name
        for node in tree
        if isinstance(node, ast.ImportFrom) and node.module == "odesys"
        for alias in node.names
        if alias.name in LISTED and isinstance(getattr(odesys, alias.name), ModuleType)
    }
    owned = {node.id for node in tree if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return [
        (modules[node.value.id], node.attr)
        for node in tree
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in modules and node.value.id not in owned
    ]


def private_imports(source: str) -> list[str]:
    """What a text takes from the engine or from numerics that is not a public name of `odesys`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in ("odesys", "numerics")]
        elif isinstance(node, ast.ImportFrom) and node.module == "odesys":
            found += [f"odesys.{alias.name}" for alias in node.names if alias.name not in LISTED]
        elif isinstance(node, ast.ImportFrom) and {"odesys", "numerics"} & set((node.module or "").split(".")):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"(odesys|numerics)(\.\w+)+", str(node.value)):
            found.append(node.value)  # for load_later, import_module, sys.modules and the like
        elif isinstance(node, ast.Call) and [getattr(arg, "value", "") for arg in node.args[:1]] == ["odesys"]:
            found += [f"odesys.{arg.value}" for arg in node.args[1:] if arg.value not in LISTED]
    for module, name in module_attributes(source):
        if name.startswith("_") or isinstance(getattr(getattr(odesys, module), name, odesys), ModuleType):
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
        "from odesys import *",
        "import odesys as engine\nengine.reduce.quotient.Quotient",
        "from importlib import import_module\nimport_module('odesys.reduce.quotient')",
        "import sys\nsys.modules['numerics.flows.run']",
        "from ...numerics.flows import integrate",
        "from odesys import graph as g\ng._scale",
        "from odesys import graph\ngraph.gc_pause.collect_less_often()",
        "from odesys import graph\ngraph.no_such_name",
    ],
)
def test_the_check_of_imports_can_fail(source: str) -> None:
    assert len(private_imports(source)) == 1
    assert not private_imports("from odesys import System, graph\nfrom . import setting\nimport numpy\ngraph.exp")
    assert not private_imports("from odesys import load_later\nload_later('odesys', 'softmax')")
