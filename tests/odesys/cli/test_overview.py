"""What a person is shown of papers: one line each, details, sizes with commands that can be copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from odesys.cli.overview import print_paper, print_papers, print_sizes
from odesys.papers.paper import FigureSpec, Paper, Parameter
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


PARAMETERS = (
    Parameter("K", 2, "how many groups of words there are", int, words=("symbol", "none")),
    Parameter("side", "left", "where it begins", str, words=("left", "right")),
    Parameter("omega", 0.1, "initial scale"),
)
FIGURES = {
    name: FigureSpec(title, draw=lambda folder, progress: []) for name, title in (("a", "a run"), ("long-id", "b"))
}


def with_claims(paper: Paper, count: int) -> Paper:
    return replace(paper, book=lambda: [SimpleNamespace(id=f"T{k}") for k in range(1, count + 1)])


RICH = with_claims(replace(PAPER, parameters=PARAMETERS, protocols={"one": dict, "two": dict}, figures=FIGURES), 7)
PAGE = """\
toy: A title that is much longer than what a
    narrow terminal can show in one line
    nobody, never

systems: full (default), large

protocols: one (default), two

parameters, for --set NAME=VALUE:
    K=2        how many groups of words there
               are; or symbol or none
    side=left  where it begins: left or right
    omega=0.1  initial scale

figures, for --fig ID:
    a        a run
    long-id  b

7 claims: T1, T2, T3, T4, T5, T6, ...

next:
    # the sizes of its systems
    odesys derive ./toy
    # run it
    odesys simulate ./toy
    # do its theorems stand?
    odesys verify ./toy
    # all on one page
    odesys report ./toy --out report
"""


def test_one_paper_in_detail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The page as a person reads it; wrapped lines hang below what they go on with."""
    monkeypatch.setenv("COLUMNS", "46")
    print_paper(RICH, "./toy")
    assert capsys.readouterr().out == PAGE
    monkeypatch.setenv("COLUMNS", "40")
    long = replace(
        RICH, reference="Nobody, On nothing at all, a journal that never was", meanings={"full": "word " * 9}
    )
    print_paper(with_claims(long, 6), "./toy")
    text = capsys.readouterr().out
    assert "    Nobody, On nothing at all, a journal\n    that never was\n" in text
    assert "\n    full (default)  word word word word\n                    word word" in text
    assert "6 claims: T1, T2, T3, T4, T5, T6\n" in text
    print_paper(replace(PAPER, systems={f"system_{k}": dict for k in range(5)}), "./toy")
    text = capsys.readouterr().out
    assert "systems: system_0, system_1, system_2,\n    system_3, system_4\n" in text and "\n0 claims\n" in text


def test_sizes_of_systems_and_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [
        SystemSize("full", "map", 7, tuple("abc")),
        SystemSize("large", "flow", 12, tuple("abcd")),
        SystemSize("huge", refused="too many tokens, set K=2"),
    ]
    print_sizes(RICH, "toy", sizes)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == [f"toy: {RICH.title}", "", "system states kind left open"]
    assert lines[4:] == [
        "full (default) 7 step a, b, c",
        "large 12 flow a, b, c and 1 more",
        "",
        "huge: too many tokens, set K=2",
        "sizes are for K=2, side=left, omega=0.1",
        "",
        "next:",
        "odesys derive toy --system full # print its equations",
        "odesys derive toy --format latex --out system.tex # the default system as a document",
        "odesys derive toy --set K=symbol # one system for every K",
        "odesys simulate toy --out run # run it",
        "odesys list toy # its parameters, protocols and figures",
    ]
    side = PARAMETERS[1:2]
    print_sizes(replace(RICH, parameters=side * 4, protocols={}, meanings={"large": "all words"}), "toy", sizes)
    text = capsys.readouterr().out
    assert (
        "\n\nlarge: all words\n\nhuge: too many" in text and "for side=left, side=left, side=left, side=left\n" in text
    )
    assert "--set" not in text and "simulate" not in text
    print_sizes(replace(RICH, parameters=side * 5), "toy", sizes[2:])
    text = capsys.readouterr().out
    assert "for side=left, side=left, side=left, side=left, ...\n" in text and "left open" not in text
    print_sizes(replace(PAPER, parameters=()), "toy", sizes)
    assert "sizes are for" not in capsys.readouterr().out


@pytest.mark.parametrize("show", [lambda: print_paper(RICH, "toy"), lambda: print_sizes(RICH, "toy", [])])
def test_what_a_command_does_stands_beside_it_wherever_that_fits(
    show: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show()
    beside = [line for line in capsys.readouterr().out.splitlines() if line.startswith("    odesys ")]
    assert len(beside) >= 4 and len({line.index("#") for line in beside}) == 1
    assert min(line.index("#") - len(line.partition("#")[0].rstrip()) for line in beside) == 3
    widest = max(map(len, beside))
    for width, fits in ((widest, True), (widest - 1, False)):
        monkeypatch.setenv("COLUMNS", str(width))
        show()
        lines = [line for line in capsys.readouterr().out.splitlines() if "    odesys " in line or "    # " in line]
        assert (lines == beside) is fits
        alone = [part for line in beside for part in (line[line.index("#") :], line.partition("#")[0].strip())]
        assert fits or [line.strip() for line in lines] == alone


def test_a_line_per_paper_is_cut_only_where_it_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = [PAPER, replace(PAPER, name="other", systems={}, default="", title="Short")]
    print_papers(papers)
    whole = capsys.readouterr().out.splitlines()
    assert whole[:2] == [f"toy    full  {PAPER.title}", "other  -     Short"] and "    odesys list other " in whole[4]
    for width, line in ((len(whole[0]), whole[0]), (len(whole[0]) - 1, whole[0].rpartition(" ")[0] + "…")):
        monkeypatch.setenv("COLUMNS", str(width))
        print_papers(papers)
        assert capsys.readouterr().out.splitlines()[0] == line
