"""What a person is shown of papers: one line each, details, sizes with commands that can be copied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odesys.cli.overview import print_paper, print_papers, print_sizes
from odesys.papers.paper import Paper, Parameter
from odesys.papers.sizes import SystemSize

PAPER = Paper(
    "toy",
    "A title that is much longer than what a narrow terminal can show in one line",
    "nobody, never",
    (Parameter("K", 2, "groups", int, words=("symbol",)),),
    {"full": dict, "large": dict},
    {},
    {},
)


def test_one_line_per_paper_whatever_the_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    print_papers([PAPER, PAPER])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[1] == "toy  full  A title that is much longer than what…" and lines[2] == ""


def test_sizes_refusals_and_an_open_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [SystemSize("full", "map", 7, tuple("abcde")), SystemSize("large", refused="too many tokens, set K=2")]
    print_sizes(PAPER, "./toy", sizes)
    text = capsys.readouterr().out
    assert "full (default)   7        step   a, b, c and 2 more" in text and "large: too many tokens, set K=2" in text
    assert "odesys derive ./toy --set K=symbol" in text and "simulate" not in text
    print_sizes(replace(PAPER, meanings={"full": "every score"}), "./toy", sizes)
    assert "full: every score" in capsys.readouterr().out


def test_systems_are_told_with_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_paper(PAPER, "./toy")
    assert "systems: full (default), large" in capsys.readouterr().out
    print_paper(replace(PAPER, meanings={"full": "every score"}), "./toy")
    assert "    full (default)  every score\n    large\n" in capsys.readouterr().out


def test_no_command_is_broken_over_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    more = tuple(Parameter(name, 1, "", int) for name in ("long_name", "longer_name", "longest_name", "M"))
    print_sizes(replace(PAPER, parameters=PAPER.parameters + more), "a_paper_of_mine", [SystemSize("full", "map", 7)])
    commands = [line for line in capsys.readouterr().out.splitlines() if "odesys" in line]
    assert len(commands) == 4 and all(c.startswith("    odesys ") and "a_paper_of_mine" in c for c in commands)
    assert any("odesys list a_paper_of_mine" in command for command in commands)


def test_what_comes_next_is_what_the_paper_has(capsys: pytest.CaptureFixture[str]) -> None:
    """A paper without systems, protocols and claims has a report only."""
    for paper, words in ((PAPER, ["derive"]), (replace(PAPER, systems={}), [])):
        print_paper(paper, "./toy")
        after = capsys.readouterr().out.partition("next:")[2]
        assert [word for word in ("derive", "simulate", "verify") if f"odesys {word} ./toy" in after] == words
        assert "odesys report ./toy --out report" in after
