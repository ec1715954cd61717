"""Every paper is a package of one shape: the same files, claims in parts, and a reason for what is special."""

import ast
from pathlib import Path

import pytest

DERIVATIONS = Path(__file__).resolve().parents[2] / "derivations"
PAPERS = sorted(folder for folder in DERIVATIONS.iterdir() if (folder / "__init__.py").exists())
FILES = {"__init__", "parameters", "setting", "dynamics", "protocol", "explorer", "laboratory", "compare"}
FOLDERS = {"claims", "figures", "special"}
CLAIMS = ("__init__", "book", "unaffected", "part_", "common_")


def names(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.py")}


def docstring(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def test_there_are_five_papers() -> None:
    assert len(PAPERS) == 5


@pytest.mark.parametrize("paper", PAPERS, ids=lambda folder: folder.name)
def test_a_paper_has_the_files_of_every_paper(paper: Path) -> None:
    assert names(paper) == FILES
    assert {folder.name for folder in paper.iterdir() if (folder / "__init__.py").exists()} == FOLDERS
    assert "paper_figures" in names(paper / "figures")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda folder: folder.name)
def test_claims_are_in_parts_and_what_they_share_says_so(paper: Path) -> None:
    assert {"book", "unaffected"} <= names(paper / "claims")
    assert all(name.startswith(CLAIMS) for name in names(paper / "claims"))
    shared = [file for file in (paper / "claims").glob("common_*.py") if "@book.claim(" in file.read_text()]
    assert not shared, "a claim is stated in a part"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda folder: folder.name)
def test_what_is_special_says_why_in_its_first_line(paper: Path) -> None:
    first = {file.stem: docstring(file).splitlines()[0] for file in (paper / "special").glob("*.py")}
    del first["__init__"]
    assert first and not {name: line for name, line in first.items() if "; here because " not in line}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda folder: folder.name)
def test_the_docstring_of_a_package_says_what_is_covered(paper: Path) -> None:
    text = docstring(paper / "__init__.py")
    assert "\nPaper: " in text and "\nSymbols\n-------\n" in text
    assert "\nCovered: " in text and "Not covered: " in text
