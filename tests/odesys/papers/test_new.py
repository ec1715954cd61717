"""`odesys new`: a folder that every command accepts and that runs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odesys.cli import commands
from odesys.papers.new import create

ROOT = Path(__file__).resolve().parents[3]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}


def odesys(*words: object) -> Any:
    return CliRunner().invoke(commands.app, list(map(str, words)), prog_name="odesys")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("new") / "brandnew"
    create(made)
    return made


def test_the_command_writes_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = odesys("new", "freshly", "--json", "n.json")
    assert result.exit_code == 0 and "try: odesys verify ./freshly" in result.stdout
    written = json.loads(Path("n.json").read_text())
    assert written["name"] == "freshly" and "freshly/claims.py" in written["files"]
    assert not [f for f in Path("freshly").iterdir() if "@name" in f.read_text() or f.suffix != ".py"]


COMMANDS = (
    ["list"],
    ["derive", "--quotient"],
    ["derive", "--format", "latex"],
    ["simulate"],
    ["simulate", "--out", "run"],
    ["compare", "--widths", "8,32", "--seeds", "2"],
    ["figures", "--out", "figures"],
    ["verify", "--workers", "1"],
    ["verify", "--mutations", "--workers", "1"],
    ["sweep", "--over", "omega=log:0.1:1:3", "--workers", "1", "--out", "sweep"],
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_takes_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words) -> None:
    monkeypatch.chdir(tmp_path)
    result = odesys(words[0], folder, *words[1:])
    assert result.exit_code == 0, result.output


def test_the_derived_sizes_are_those_it_speaks_of(folder: Path, tmp_path: Path) -> None:
    for name, size in (("full", 24), ("quotient", 14)):
        odesys("derive", folder, "--system", name, "--json", tmp_path / "d.json")
        assert json.loads((tmp_path / "d.json").read_text())["dimension"] == size
        assert f"{size} states" in (folder / "dynamics.py").read_text()


def test_its_claims_notice_a_changed_setting(folder: Path, tmp_path: Path) -> None:
    """The checks are real: with other data the same claims come out differently."""
    create(tmp_path / "changed")
    setting = tmp_path / "changed" / "setting.py"
    text = setting.read_text().replace('("bad the", -1)', '("bad the the", -1)')
    assert text != setting.read_text()
    setting.write_text(text)
    result = odesys("verify", tmp_path / "changed", "--workers", 1)
    assert result.exit_code == 1 and "unexpected" in result.stdout


def test_it_is_clean_code(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml", folder],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("1st", "can not name a paper"),
        ("a-b", "can not name a paper"),
        ("class", "can not name a paper"),
        ("two_mixture", "there is a paper two_mixture already"),
        ("json", "name of a Python package"),
        ("numpy", "name of a Python package"),
        ("", "can not name a paper"),
    ],
)
def test_names_that_would_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = odesys("new", name)
    assert result.exit_code == 2 and sentence in result.stderr and list(tmp_path.iterdir()) == []


def test_a_folder_is_never_overwritten(folder: Path) -> None:
    before = (folder / "claims.py").read_bytes()
    result = odesys("new", folder)
    assert result.exit_code == 2 and "exists already" in result.stderr and (folder / "claims.py").read_bytes() == before


def test_a_killed_call_leaves_no_folder_that_is_in_the_way(tmp_path: Path) -> None:
    """The process ends when its second file is in place: the folder is not there, and the next call succeeds."""
    line = "import os\nfrom pathlib import Path\nfrom odesys.papers.new import create\n"
    line += "move = os.replace\nos.replace = lambda a, b: (move(a, b), str(b).endswith('claims.py') and os._exit(9))\n"
    done = subprocess.run([sys.executable, "-c", f"{line}create(Path('killed'))"], cwd=tmp_path, env=ENV, check=False)
    assert done.returncode == 9 and not (tmp_path / "killed").exists()
    (left,) = tmp_path.iterdir()
    os.utime(left, (0, 0))
    create(tmp_path / "killed")
    assert list(tmp_path.iterdir()) == [tmp_path / "killed"]
