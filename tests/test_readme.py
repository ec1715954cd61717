"""What the README shows works: its Python blocks run, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odesys.cli import commands
from odesys.papers.registry import find_paper

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/tutorial.md", "docs/releasing.md")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("source", BLOCKS, ids=["own model", "family", "by hand", "many runs"])
def test_python_blocks_run(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(source, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_sizes_in_the_readme_are_right() -> None:
    scope: dict = {}
    exec(compile(BLOCKS[0], "README.md", "exec"), scope)
    assert "# 60 states" in BLOCKS[0] and scope["flow"].system.dimension == 60
    assert "# 40: good <-> bad" in BLOCKS[0] and scope["quotient"].system.dimension == 40


def test_counts_of_claims_in_the_readme_are_right() -> None:
    """The paper's own claims, at the level that `odesys verify` takes when none is named."""
    pattern = r"odesys verify (\w+) +# .*: (\d+) of (\d+) claims of the paper fail as printed"
    ((name, fail, claims),) = re.findall(pattern, README)
    quick = [claim for claim in find_paper(name).book() if claim.level == "quick" and claim.scored]
    assert (sum(claim.expect == "fails" for claim in quick), len(quick)) == (int(fail), int(claims))


def test_commands_exist() -> None:
    known = {command.name or command.callback.__name__ for command in commands.app.registered_commands}
    used = set(re.findall(r"^    odesys (\w+)", README, flags=re.MULTILINE))
    assert used and used <= known


def test_the_picture_exists() -> None:
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).stat().st_size > 10_000


def missing_files(text: str) -> list[str]:
    """Files in backticks of which no path of the project ends so."""
    folders = ("odesys", "numerics", "derivations", "tests", "tools", "benchmarks", "examples", "docs")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.*")] + list(ROOT.glob("*.*"))
    paths = [f"/{file.relative_to(ROOT)}".removesuffix(".txt") for file in files]  # the skeleton's end in .txt
    found = re.findall(r"`([\w./-]+\.(?:py|pyi|css|js|md|j2))`", text)
    return [name for name in found if not any(path.endswith(f"/{name}") for path in paths)]


@pytest.mark.parametrize("page", PAGES)
def test_files_it_names_are_there(page: str) -> None:
    assert not missing_files((ROOT / page).read_text(encoding="utf-8"))


def test_a_wrong_path_is_noticed() -> None:
    assert missing_files("see `odesys/closure.py`, `flow.py`, `odesys/derive/closure.py` and `no_such_file.py`") == [
        "odesys/closure.py",
        "no_such_file.py",
    ]
