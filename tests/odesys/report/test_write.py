"""The command: the page with its data beside it, the index of all papers, the LaTeX bundle, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from odesys import locks
from odesys.cli import commands
from odesys.papers import registry
from odesys.papers.new import create
from odesys.report import write
from odesys.report.opening import headline, sizes, symbols
from odesys.verdicts import undecided
from tests.report_pages import Reader, stand_in


def odesys(*words: object) -> Any:
    return CliRunner().invoke(commands.app, list(map(str, words)), prog_name="odesys")


def test_data_files_lie_beside_the_page(report: Path) -> None:
    data = report / "reported"
    verdicts = json.loads((data / "verify.json").read_text())
    assert [c["id"] for c in verdicts["claims"]] == ["1.1", "1.2", "1.3", "2.1"] and verdicts["complete"]
    assert "**1.3**" in (data / "errata.md").read_text()
    for name in ("system_quotient.tex", "simulate/trajectory.csv", "compare/result.json", "figures/fig1.svg"):
        assert (data / name).stat().st_size > 100
    summary = json.loads((report / "r.json").read_text())["papers"][0]
    assert (
        summary["claims"] == {"holds": 3, "fails": 1, "undecided": 0, "untested": 0, "not run": 0}
        and summary["problems"] == {}
    )
    assert 'href="reported.html"' in (report / "index.html").read_text()


def test_the_index_keeps_earlier_papers(folder: Path, report: Path, tmp_path: Path) -> None:
    pages = Path(shutil.copytree(report, tmp_path / "pages"))  # other tests read the one paper of the report
    create(folder / "second_one")
    result = odesys("report", folder / "second_one", "--out", pages, "--workers", 1, "--widths", "8", "--seeds", 1)
    assert result.exit_code == 0, result.output
    text = (pages / "index.html").read_text()
    assert 'href="reported.html"' in text and 'href="second_one.html"' in text
    Reader(text)


@pytest.mark.parametrize(
    "forged",
    [
        {"page": "javascript:alert(1)"},
        {"page": "../elsewhere.html"},
        {"name": "../../etc"},
        {"headline": ["a", "list"]},
        {"bar": [{"kind": '"><script>alert(1)</script>', "letter": "P", "word": "proof", "count": 1}]},
        {"bar": [{"kind": "proof", "letter": "P", "word": "proof", "count": "1;background:red"}]},
        {"bar": [{"kind": "proof"}]},
        {"bar": [{"kind": ["proof"], "letter": "P", "word": "proof", "count": 1}]},
        {"bar": [{"kind": "proof", "letter": {}, "word": "proof", "count": 1}]},
        {"thumbnail": "https://example.org/seen.png"},
        {"total": None},
        {"kind": "something else"},
    ],
)
def test_a_summary_that_was_not_written_here_is_left_out(tmp_path: Path, forged: dict[str, Any]) -> None:
    good = {
        "kind": "odesys report", "name": "mine", "page": "mine.html", "title": "T", "reference": "<b>R", "size": "",
        "headline": "<script>", "thumbnail": "", "total": 1,
        "bar": [{"kind": "proof", "letter": "P", "word": "proof", "count": 1}],
    }  # fmt: skip
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "report.json"
    (tmp_path / "mine.html").write_text("")
    file.write_text(json.dumps(good))
    assert write.read_summary(file) == good
    text = write._write_index(tmp_path, "html").read_text()
    assert "&lt;b&gt;R" in text and "&lt;script&gt;" in text
    file.write_text(json.dumps({**good, **forged}))
    assert write.read_summary(file) is None
    assert "No papers" in write._write_index(tmp_path, "html").read_text()


def test_one_page_that_fails_leaves_the_others(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path / "other_one")
    page = write.html.page

    def broken(content: Any) -> str:
        if content.paper.name == "reported":
            raise ZeroDivisionError("a mistake of ours")
        return page(content)

    monkeypatch.setattr(write.html, "page", broken)
    line = ["report", folder / "reported", tmp_path / "other_one", "--out", tmp_path / "o", "--workers", 1]
    result = odesys(*line, "--widths", "8", "--seeds", 1)
    assert result.exit_code == 1 and "the part page could not be computed: ZeroDivisionError" in result.output
    assert (tmp_path / "o" / "other_one.html").is_file() and not (tmp_path / "o" / "reported.html").exists()


def test_two_reports_on_one_paper_do_not_mix(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "reported").mkdir()
    with locks.holding():
        locks.hold(tmp_path / "reported")
        result = odesys("report", folder / "reported", "--out", tmp_path)
    assert result.exit_code == 2 and "another command is writing to" in result.stderr


def test_latex_bundle(folder: Path, tmp_path: Path) -> None:
    result = odesys(
        "report",
        folder / "reported",
        "--out",
        tmp_path,
        "--format",
        "latex",
        "--workers",
        1,
        "--widths",
        "8,32",
        "--seeds",
        1,
    )
    assert result.exit_code == 0, result.output
    body = (tmp_path / "reported" / "body.tex").read_text()
    for id in ("1.1", "1.2", "1.3", "2.1"):
        assert body.count(rf"\label{{reported:{id}}}") == 1
    assert r"\documentclass" not in body and body.count(r"\begin{") == body.count(r"\end{")
    assert body.count(r"\begingroup") == body.count(r"\endgroup") == 1
    for file in re.findall(r"\\includegraphics\[[^]]*\]\{([^}]*)\}", body):
        assert (tmp_path / file).read_bytes().startswith(b"%PDF")
    assert r"\input{reported/body}" in (tmp_path / "main.tex").read_text()
    balance = 0
    for c in re.sub(r"\\[{}]|%.*", "", body):
        balance += {"{": 1, "}": -1}.get(c, 0)
        assert balance >= 0
    assert balance == 0


def test_settings_belong_to_one_paper(folder: Path, tmp_path: Path) -> None:
    for words, sentence in (
        (["--set", "omega=3"], "--set belongs to one paper"),
        (["--widths", "x"], "positive whole"),
        (["--set", "omega=-3", str(folder / "reported")], "out of range"),
        (["--level", "deep"], "--level"),
        (["nowhere"], "there is no paper 'nowhere'"),
    ):
        result = odesys("report", *words, "--out", tmp_path / "r")
        assert result.exit_code == 2 and sentence in result.stderr and not (tmp_path / "r").exists()


def test_an_interrupt_says_what_is_kept_and_where(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "gather", interrupted)
    result = odesys("report", folder / "reported", "--out", tmp_path)
    sentence = f"what was computed so far is kept in {tmp_path / 'reported'}"
    assert result.exit_code == 130 and sentence in result.stderr and sentence not in result.stdout
    assert not (tmp_path / "index.html").exists()


def test_a_summary_says_what_the_index_shows(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    said = write.summary(content)
    assert said["headline"] == headline(content) and said["claims"] == content.counts()
    assert said["size"] == "80 equations, every K" or said["size"].startswith(sizes(content)[0].value)
    assert said["size"].split(", ")[1:] == [number.value for number in symbols(content)]
    assert said["total"] == sum(segment["count"] for segment in said["bar"]) > 0
    assert said["exponent"] == "-0.5" and said["seconds"] == 1.0 and said["page"] == "two_mixture.html"
    assert said["unexpected"] == [o.claim.id for o in content.unexpected()] and said["thumbnail"] == ""
    (tmp_path / "two_mixture").mkdir()
    file = tmp_path / "two_mixture" / "report.json"
    file.write_text(json.dumps(said))
    assert write.read_summary(file) == json.loads(json.dumps(said))
    Image.new("RGB", (40, 30), "red").save(tmp_path / "main.png")
    content.figures = [
        replace(f, files=(tmp_path / "main.png",)) for f in content.figures if f.id == content.main_figure
    ]
    content.comparison, content.seconds = None, {"a": 1.5, "b": 2}
    other = write.summary(content)
    assert other["thumbnail"].startswith("data:image/webp;base64,") and other["exponent"] == "–"
    assert other["seconds"] == 3.5
    file.write_text(json.dumps(other))
    assert write.read_summary(file) is not None
    for text in ("[1]", "{", "null", "[" * 100_000):
        file.write_text(text)
        assert write.read_summary(file) is None
    assert write.read_summary(tmp_path / "nothing" / "report.json") is None


@pytest.mark.parametrize(
    ("changed", "fine"),
    [
        ({}, True),
        ({"total": 0}, True),
        ({"total": -1}, False),
        ({"total": True}, False),
        ({"total": 1.0}, False),
        ({"bar": []}, True),
        ({"bar": {}}, False),
        ({"bar": [1]}, False),
        ({"bar": [{"kind": "proof", "letter": "P", "word": "proof", "count": -1}]}, False),
        ({"bar": [{"kind": "proof", "letter": "P", "word": "proof", "count": 0}]}, True),
        ({"bar": [{"kind": "proof", "letter": "C", "word": "proof", "count": 1}]}, False),
        ({"bar": [{"kind": "proof", "letter": "P", "word": "proof", "count": 1, "more": 1}]}, False),
        ({"thumbnail": "data:image/webp;base64,AAAA"}, True),
        ({"thumbnail": 'data:image/webp;base64,AA"'}, False),
        *(({name: None}, False) for name in ("title", "reference", "headline", "size", "thumbnail")),
    ],
)
def test_a_summary_is_texts_and_counts(tmp_path: Path, changed: dict[str, Any], fine: bool) -> None:
    good = {"kind": "odesys report", "name": "mine", "page": "mine.html", "total": 1, "bar": [], "thumbnail": ""}
    good |= dict.fromkeys(("title", "reference", "headline", "size"), "text")
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "report.json"
    file.write_text(json.dumps({**good, **changed}))
    assert (write.read_summary(file) is not None) is fine


def test_an_index_lists_papers_whose_page_is_there(tmp_path: Path) -> None:
    good = {"kind": "odesys report", "total": 1, "bar": [], "thumbnail": ""}
    good |= dict.fromkeys(("title", "reference", "headline", "size"), "text")
    for name in ("two", "one", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps({**good, "name": name, "page": f"{name}.html"}))
    for name in ("one", "two"):
        (tmp_path / f"{name}.html").write_text("")
    (tmp_path / "two" / "body.tex").write_text("")
    page = write._write_index(tmp_path, "html")
    text = page.read_text()
    assert page.name == "index.html" and 'href="one.html"' in text and 'href="two.html"' in text
    assert "gone.html" not in text and text.index("one.html") < text.index("two.html")
    bundle = write._write_index(tmp_path, "latex")
    assert bundle.name == "main.tex" and r"\input{two/body}" in bundle.read_text()
    assert "one/body" not in bundle.read_text() and "Closed systems and verdicts" in bundle.read_text()


def test_the_command_shows_counts_problems_and_surprises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    content.problems = {"run": "it is stiff"}
    first = content.outcomes[0]
    content.outcomes = [replace(first, verdict=undecided("x")), *content.outcomes[1:]]
    write._show(content)
    said = " ".join(capsys.readouterr().out.split())
    assert "the part run could not be computed: it is stiff" in said
    assert f"{first.claim.id} undecided, the book expects {first.claim.expect}" in said
    assert content.paper.reference.split()[0] in said and "not run" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_a_pipe_in_the_place_of_a_summary_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    os.mkfifo(tmp_path / "evil" / "report.json")
    assert write.read_summary(tmp_path / "evil" / "report.json") is None
    assert "No papers" in write._write_index(tmp_path, "html").read_text()


@pytest.mark.parametrize("name", ["reported/report.json", "reported/verify.json", "reported.html", "index.html"])
def test_json_does_not_replace_a_part_of_the_report(folder: Path, tmp_path: Path, name: str) -> None:
    result = odesys("report", folder / "reported", "--out", tmp_path / "o", "--json", tmp_path / "o" / name)
    assert result.exit_code == 2 and "--json" in result.stderr and not (tmp_path / "o").exists()
