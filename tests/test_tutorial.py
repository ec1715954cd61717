"""The tutorial is run: its Python blocks in order in one scope, its commands in order in one folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from odesys.cli import commands

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|console)\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    printed = []
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, "tutorial.md", "exec"), scope)
            printed.append(capsys.readouterr().out)
            continue
        for line, answer in re.findall(r"^\$ odesys (.*)\n((?:[^$].*\n)*)", block, flags=re.MULTILINE):
            words, _, wanted = line.partition("# exit code ")
            result = CliRunner().invoke(commands.app, shlex.split(words), prog_name="odesys")
            assert result.exit_code == int(wanted or 0), f"{line}\n{result.output}"
            assert answer in result.output
    assert [text.split()[0] for text in printed] == ["24", "14", "0.015", "holds", "fails", "the"]
    for text in (printed[0], *printed[2:]):  # what the page says is what comes out
        assert f"`{text.strip()}`" in TEXT
    assert len(Path("sweep/sweep.csv").read_text().splitlines()) == 5 and Path("sweep/sweep.png").is_file()


def test_the_tutorial_shows_every_command() -> None:
    known = {command.name or command.callback.__name__ for command in commands.app.registered_commands}
    assert {word for _, block in BLOCKS for word in re.findall(r"^\$ odesys (\w+)", block, re.MULTILINE)} <= known
    assert all(f"odesys {command}" in TEXT for command in known - {"figures"})


@pytest.mark.parametrize("command", [c.name or c.callback.__name__ for c in commands.app.registered_commands])
def test_every_command_has_an_example_in_its_help(command: str) -> None:
    page = CliRunner().invoke(commands.app, [command, "--help"], prog_name="odesys").stdout
    assert re.search(rf"Examples?:\s+odesys {command}\b", page)


def test_examples_in_the_help_can_be_parsed() -> None:
    """Options in an example exist: asking for help after it shows the page instead of a complaint."""
    for command in (c.name or c.callback.__name__ for c in commands.app.registered_commands):
        page = CliRunner().invoke(commands.app, [command, "--help"], prog_name="odesys").stdout
        for line in re.findall(r"(?:Examples?:|^) +odesys (.*)$", page, flags=re.MULTILINE):
            for part in line.split(";"):
                words = shlex.split(part.removeprefix(" odesys "), comments=True)
                result = CliRunner().invoke(commands.app, [*words, "--help"], prog_name="odesys")
                assert result.exit_code == 0 and result.stdout.startswith("Usage: odesys"), part
