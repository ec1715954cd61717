"""What the README shows works: its Python blocks run, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odesys.cli import commands

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
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


def test_commands_exist() -> None:
    known = {command.name or command.callback.__name__ for command in commands.app.registered_commands}
    used = set(re.findall(r"^    odesys (\w+)", README, flags=re.MULTILINE))
    assert used and used <= known


def test_the_picture_exists() -> None:
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (Path(__file__).resolve().parents[1] / picture).stat().st_size > 10_000
