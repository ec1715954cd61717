"""The command: the page with its data beside it, the index of all papers, the LaTeX bundle, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odesys import locks
from odesys.cli import commands
from odesys.papers.new import create
from odesys.report import write
from tests.report_pages import Reader


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
