"""Finding papers: by entry point, in a source checkout, in a folder; and a sentence where there is none."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.claims import ClaimBook
from odesys.papers.paper import FigureSpec, Paper, Parameter

ROOT = Path(__file__).resolve().parents[3]

INIT = """
from odesys.papers.claims import ClaimBook
from odesys.papers.paper import FigureSpec, Paper, Parameter
from .names import NAME
from {package}.names import NAME as same
assert NAME is same
PAPER = Paper(NAME, "A folder", "none", (), {{}}, {{}}, {{}})
"""


def paper(name: str = "toy") -> Paper:
    return Paper(name, "A toy", "none", (), {}, {}, {})


def announce(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    points = [metadata.EntryPoint(name, value, registry.GROUP) for name, value in values.items()]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points if group == registry.GROUP else [])


def module(monkeypatch: pytest.MonkeyPatch, name: str, **content: object) -> None:
    made = ModuleType(name)
    vars(made).update(content)
    monkeypatch.setitem(sys.modules, name, made)


def folder(path: Path, package: str = "", name: str = "folder_paper") -> Path:
    """A package in `path` whose parts import each other, relatively and by name."""
    path.mkdir(parents=True)
    (path / "names.py").write_text(f"NAME = {name!r}\n")
    (path / "__init__.py").write_text(INIT.format(package=package or path.name))
    return path


@pytest.fixture(autouse=True)
def forget_folders():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("made_"):
            del sys.modules[name]


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, other = paper(), paper("other")
    module(monkeypatch, "toy_module", PAPER=toy, OTHER=other)
    announce(monkeypatch, toy="toy_module", other="toy_module:OTHER")
    monkeypatch.setattr(registry, "source_modules", dict)
    assert registry.find_paper("toy") is toy and registry.find_paper("other") is other
    assert registry.all_papers() == [other, toy]


def test_an_entry_point_wins_over_the_checkout_and_over_a_folder(monkeypatch, tmp_path: Path) -> None:
    toy = paper()
    module(monkeypatch, "toy_module", PAPER=toy)
    announce(monkeypatch, two_mixture="toy_module", made_x="toy_module")
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "made_x")
    assert registry.find_paper("two_mixture") is toy and registry.find_paper("made_x") is toy
    assert registry.find_paper("./made_x").name == "folder_paper"


def test_the_checkout_needs_no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch)
    assert registry.source_modules()["two_mixture"] == "derivations.two_mixture"
    assert registry.find_paper("two_mixture").name == "two_mixture"
    assert "two_mixture" in [p.name for p in registry.all_papers()]


def test_a_package_of_that_name_elsewhere_is_not_the_checkout(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "derivations" / "evil").mkdir(parents=True)
    for part in ("", "evil"):
        (tmp_path / "derivations" / part / "__init__.py").write_text("raise RuntimeError('imported')")
    path = tmp_path / "derivations" / "__init__.py"
    spec = importlib.util.spec_from_file_location("derivations", path, submodule_search_locations=[str(path.parent)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert registry.source_modules() == {}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert registry.source_modules() == {}


def test_a_package_beside_the_papers_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch)
    module(monkeypatch, "beside_module")
    monkeypatch.setattr(registry, "source_modules", lambda: {"beside": "beside_module"})
    assert registry.all_papers() == []
    with pytest.raises(OdesysError, match=r"beside_module is not a paper: it needs PAPER = Paper"):
        registry.find_paper("beside")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two_mixtur", "there is no paper 'two_mixtur'; there is other, two_mixture; did you mean two_mixture?"),
        ("zzz", "there is no paper 'zzz'; there is other, two_mixture"),
        ("", "there is no folder ''"),
        ("./zzz", "there is no folder './zzz'"),
        ("/etc/passwd", "there is no folder '/etc/passwd'"),
        ("x" * 5000, "there is no paper"),
        ("os", "there is no paper 'os'"),
    ],
)
def test_unknown_names_get_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str) -> None:
    announce(monkeypatch, other="json", two_mixture="json")
    monkeypatch.setattr(registry, "source_modules", dict)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OdesysError) as caught:
        registry.find_paper(text)
    assert words in str(caught.value)


def test_announced_but_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, gone="odesys_no_such.module", empty="json", half="json:PAPER.x")
    with pytest.raises(OdesysError, match=r"the paper gone is announced as odesys_no_such.module, which is missing"):
        registry.find_paper("gone")
    for name in ("empty", "half"):
        with pytest.raises(OdesysError, match=r"json is not a paper"):
            registry.find_paper(name)


def test_a_missing_import_inside_a_paper_is_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "made_broken.py").write_text("import odesys_no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    announce(monkeypatch, broken="made_broken")
    with pytest.raises(ModuleNotFoundError, match="odesys_no_such_dependency"):
        registry.find_paper("broken")


def test_a_folder_is_a_package_or_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    folder(tmp_path / "made_a", name="a")
    assert registry.find_paper("made_a").name == "a"
    assert registry.find_paper(str(tmp_path / "made_a") + "/") is registry.find_paper("./made_a")
    folder(tmp_path / "project" / "made_b", name="b")
    assert registry.find_paper("project").name == "b"
    folder(tmp_path / "made-c", "made_c", name="c")
    assert registry.find_paper("made-c").name == "c"
    assert sys.path == before


def test_folders_without_a_paper_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OdesysError, match=r"has no paper: it needs an __init__.py with PAPER = Paper"):
        registry.find_paper(str(tmp_path))
    folder(tmp_path / "made_d")
    folder(tmp_path / "made_e")
    with pytest.raises(OdesysError, match=r"several packages, choose one: .*made_d, .*made_e"):
        registry.find_paper(str(tmp_path))
    (tmp_path / "made_f").mkdir()
    (tmp_path / "made_f" / "__init__.py").write_text("PAPER = 3\n")
    with pytest.raises(OdesysError, match=r"made_f is not a paper"):
        registry.find_paper(str(tmp_path / "made_f"))


@pytest.mark.parametrize("name", ["json", "sys", "numpy", "wsgiref"])  # imported, built in, installed, not yet imported
def test_a_folder_does_not_take_the_name_of_another_package(tmp_path: Path, name: str) -> None:
    before = sys.modules.get(name)
    with pytest.raises(OdesysError, match=r"has the name of another package.*rename it"):
        registry.find_paper(str(folder(tmp_path / name)))
    assert sys.modules.get(name) is before


def test_two_folders_of_one_name_are_not_confused(tmp_path: Path) -> None:
    registry.find_paper(str(folder(tmp_path / "1" / "made_g", name="first")))
    with pytest.raises(OdesysError, match="rename it"):
        registry.find_paper(str(folder(tmp_path / "2" / "made_g", name="second")))


def test_a_mistake_in_a_folder_is_not_hidden_and_not_kept(tmp_path: Path) -> None:
    path = folder(tmp_path / "made_h")
    (path / "names.py").write_text("1/0\n")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            registry.find_paper(str(path))
        assert "made_h" not in sys.modules


# ---- starting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement", ["import odesys", "import odesys.cli.commands", "import odesys.papers.paper, odesys.papers"]
)
def test_starting_is_light(statement: str) -> None:
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    roots = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not roots & {"sympy", "numpy", "scipy", "matplotlib", "networkx", "llvmlite", "numerics", "derivations"}


# ---- what is said of a paper -----------------------------------------------------------------------------------------


def test_a_paper_says_what_it_offers() -> None:
    book = ClaimBook("toy", laboratory=dict)
    book.claim("A", "t", kind="identity", statement="s", reading="r")(lambda lab: None)
    made = Paper(
        "toy",
        "A toy",
        "none",
        (Parameter("K", 5, "size", int), Parameter("rate", 0.5, "speed")),
        {"full": dict, "small": dict},
        {"run": dict},
        {"1": FigureSpec("one", lambda folder, progress: [])},
        book=lambda: book,
        default="small",
        meanings={"full": "everything"},
    )
    assert registry.describe(made) == {
        "name": "toy",
        "title": "A toy",
        "reference": "none",
        "parameters": [
            {"name": "K", "default": 5, "type": "int", "help": "size"},
            {"name": "rate", "default": 0.5, "type": "float", "help": "speed"},
        ],
        "systems": ["full", "small"],
        "system_meanings": {"full": "everything"},
        "default_system": "small",
        "protocols": ["run"],
        "claims": ["A"],
        "figures": [{"id": "1", "title": "one"}],
    }


def test_one_of_a_table_is_picked_by_name_or_a_sentence_says_what_there_is() -> None:
    table = {"full": 1, "quotient": 2}
    assert registry.pick(paper(), "system", "quotient", table) == 2
    for name, table_, said in (
        ("full", {}, "^toy has no systems$"),
        ("quotien", table, r"^toy has no system 'quotien'; there is full, quotient; did you mean quotient\?$"),
        ("xyz", table, "^toy has no system 'xyz'; there is full, quotient$"),
    ):
        with pytest.raises(OdesysError, match=said):
            registry.pick(paper(), "system", name, table_)
    assert registry.hint("x", []) == "; there is none"
    assert registry.hint("sheer", ["shear", "sheen", "y"]).endswith("; did you mean sheen or shear?")


def test_a_paper_has_the_documentation_and_the_folder_of_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package, alone = tmp_path / "toy" / "__init__.py", tmp_path / "alone.py"
    for number, (file, doc, said, source) in enumerate(
        (
            (str(package), "A toy.\n\n    Symbols.\n", "A toy.\n\nSymbols.", package.parent),
            (str(alone), None, "", None),
            (None, "", "", None),
        )
    ):
        name = f"toy_module_{number}"
        module(monkeypatch, name, PAPER=paper(), __file__=file, __doc__=doc)
        announce(monkeypatch, toy=name)
        assert registry.documentation("toy") == said and registry.source_folder("toy") == source


def test_names_are_those_announced_and_those_beside_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, b="one", a="two")
    monkeypatch.setattr(registry, "source_modules", lambda: {"c": "derivations.c", "a": "derivations.a"})
    assert registry.known_names() == ["a", "b", "c"]
    points = [metadata.EntryPoint("b", value, registry.GROUP) for value in ("first", "second")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)
    assert registry.announced()["b"].value == "first"


def test_an_announced_paper_wins_over_the_one_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, beside = paper(), paper("beside")
    module(monkeypatch, "toy_module", PAPER=toy)
    module(monkeypatch, "beside_module", PAPER=beside)
    announce(monkeypatch, toy="toy_module")
    monkeypatch.setattr(registry, "source_modules", lambda: {"toy": "beside_module", "another": "beside_module"})
    assert registry.all_papers() == [beside, toy] and registry.find_paper("toy") is toy
    assert registry.find_paper("another") is beside


def test_a_name_is_taken_if_it_can_be_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "made_namespace").mkdir()
    (tmp_path / "made_module.py").write_text("")
    module(monkeypatch, "made_loaded")
    taken = {name: registry.is_taken(name) for name in ("sys", "json", "made_loaded", "made_module", "made_namespace")}
    assert taken == {"sys": True, "json": True, "made_loaded": True, "made_module": True, "made_namespace": False}
    assert not registry.is_taken("made_nothing")
    found = registry.find_paper(str(folder(tmp_path / "made_namespace" / "made_i", name="i")))
    assert found.name == "i", "a folder is a package where its name is nobody's"


@pytest.mark.parametrize("text", ["", ".", "..", "no/such"])
def test_what_looks_like_a_folder_is_spoken_of_as_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    announce(monkeypatch)
    monkeypatch.chdir(tmp_path)
    said = "there is no folder" if text in ("", "no/such") else "has no paper: it needs an __init__"
    with pytest.raises(OdesysError, match=said):
        registry.find_paper(text)


def test_the_package_that_a_paper_is_announced_in_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the package of its package; one that only begins alike is a mistake inside of it."""
    announce(monkeypatch, toy="odesys_gone.part.module:TOY")
    for missing, hidden in (("odesys_gone", True), ("odesys_gone.part", True), ("odesys_gone.pa", False), ("x", False)):

        def importing(name: str, missing: str = missing) -> None:
            raise ModuleNotFoundError("no", name=missing)

        monkeypatch.setattr(importlib, "import_module", importing)
        with pytest.raises(OdesysError if hidden else ModuleNotFoundError) as caught:
            registry.find_paper("toy")
        if hidden:
            sentence = "the paper toy is announced as odesys_gone.part.module:TOY, which is missing"
            assert str(caught.value) == sentence
    monkeypatch.undo()
    announce(monkeypatch, toy="toy_module:TOY")
    module(monkeypatch, "toy_module", PAPER=paper())
    with pytest.raises(OdesysError, match=r"^toy_module is not a paper: it needs TOY = Paper\(\.\.\.\)$"):
        registry.find_paper("toy")
