"""What docs/verdicts.md says is so: its book runs, its commands can be asked for, its fields are those of the JSON."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odesys.cli import commands
from odesys.papers.draw import Draw
from odesys.papers.rule import RuleError
from odesys.papers.survival import STANDS, with_survival
from odesys.verdicts import ANSWERS, FAULTS, Evidence

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "verdicts.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(python|console)\n(.*?)```", TEXT, flags=re.DOTALL))


def first_column(title: str) -> set[str]:
    """Names in the first column of the tables of a section."""
    section = TEXT[TEXT.index(title) :].split("\n## ")[0]
    return {
        name for cell in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall("`(.*?)`", cell)
    }


def the_book() -> Any:
    scope: dict[str, Any] = {}
    exec(compile(BLOCKS["python"], "verdicts.md", "exec"), scope)
    return scope["book"]


def test_the_book_runs_and_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    book = the_book()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(f"`{line.strip()}`" in TEXT for line in lines)
    outcomes = with_survival(book, [book.run(claim) for claim in book])
    assert all(outcome.as_expected for outcome in outcomes)
    assert outcomes[0].verdict.corrected.as_stated == "holds"
    assert outcomes[0].verdict.witness.sentence == "at x = 1/2 the left side is 1/4 and the right side 1/8"
    assert outcomes[1].stands == "open", "nothing repairs the constant yet"
    for number in range(1, 6):
        assert book.run(book["2"], draw=Draw(1, number)).verdict.as_stated == "holds"


def test_what_the_page_says_is_refused_is_refused() -> None:
    book = the_book()
    with pytest.raises(RuleError, match="names no place"):
        book.claim("3", "No place", kind="identity", statement="x", reading="x", parts=["x"], hypotheses=[])(print)
    check = book["2"].check
    fields = dict(kind="inequality", where="Theorem 2", parts=["bound"], statement="x", reading="x")
    book.claim("4", "Outside", hypotheses=[], **fields)(lambda lab: check(lab).at({"x0": -1.0}))
    with pytest.raises(RuleError, match="x0 is positive"):
        book.run(book["4"])


def test_the_commands_exist() -> None:
    lines = re.findall(r"^\$ odesys (.*)$", BLOCKS["console"], re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        result = CliRunner().invoke(commands.app, [*shlex.split(line), "--help"], prog_name="odesys")
        assert result.exit_code == 0 and result.stdout.startswith("Usage: odesys verify"), line


def test_the_tables_are_complete() -> None:
    book = the_book()
    found = book.run(book["1"]).as_json()
    assert first_column("## The fields of") == set(found)
    assert first_column("## Four answers") == {*ANSWERS, *(str(evidence) for evidence in Evidence)}
    assert first_column("## Faults") == {*FAULTS, *STANDS}
