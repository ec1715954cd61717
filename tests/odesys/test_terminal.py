"""What a person sees: tables with six digits and dashes, files by name, a bar only on a terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from odesys.terminal import paced, print_files, print_table, progress_bar, say, shown, silent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_tables_have_six_digits_dashes_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("[bold]runs", ["t", "loss"], [[1 / 3, None], [2, "[x]"]])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["[bold]runs"] and ["0.333333", "-"] in lines and ["2", "[x]"] in lines


def test_nothing_that_a_terminal_acts_on_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Titles and names of files are somebody's: sequences that move the cursor, or turn the direction, stay texts."""
    for acting in ("\x1b[2J", "\x9b2J", "\x07", "\r", "\x7f", "\u202e", "\ud800", "\U00108c5b", "\u2028"):
        hostile = f"a{acting}b"
        say(f"\n{hostile}", mark="holds", style="bold")
        print_table(hostile, [hostile], [[hostile]])
        print_files([Path(hostile)])
        monkeypatch.setattr("sys.stderr", screen := Terminal())
        with progress_bar(hostile) as progress:
            progress(hostile, 0.5)
        printed = capsys.readouterr().out
        assert acting not in printed and printed.count(shown(hostile)) == 5
        assert shown(hostile) in screen.getvalue() and "\x1b[2J" not in screen.getvalue().replace("\x1b[2K", "")
    assert shown("é\tξ ≤\u2009\xa01\n∂") == "é\tξ ≤\u2009\xa01\n∂"


def test_files_are_named_one_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_files([Path("a/b.csv"), Path("c.png")])
    assert capsys.readouterr().out == "wrote a/b.csv\nwrote c.png\n"


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    pipe, screen = io.StringIO(), Terminal()
    for stream in (pipe, screen):
        monkeypatch.setattr("sys.stderr", stream)
        with progress_bar("training") as progress:
            progress("stage 1", 0.5)
            assert (progress is silent) == (stream is pipe)
    assert pipe.getvalue() == "" and "stage 1" in screen.getvalue()


def test_in_a_notebook_the_bar_is_below_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, html: Any) -> None:
            shown.append(html.data)

    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "display", lambda html, display_id: shown.append(html.data) or Handle())
    kernel = io.StringIO()
    kernel.topic = b"stream.stderr"  # type: ignore[attr-defined]
    monkeypatch.setattr("sys.stderr", kernel)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with progress_bar("training") as progress:
        progress("<stage> 1", 0.5)
        progress("too soon", 0.6)
    assert shown == ["<progress></progress> training", '<progress value="0.5000"></progress> &lt;stage&gt; 1', ""]
    assert kernel.getvalue() == ""


def test_a_command_started_by_a_cell_draws_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    with progress_bar("training") as progress:
        assert progress is silent


def test_lines_are_wrapped_between_words_where_somebody_reads_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "one two-three --four=five/six_seven eight"
    say(text, 4, mark="holds")
    assert capsys.readouterr().out == f"    ✓ {text}\n"
    monkeypatch.setenv("COLUMNS", "24")
    say(f"\n{text}", 4, mark="holds")
    assert capsys.readouterr().out.splitlines() == [
        "",
        "    ✓ one two-three",
        "        --four=five/six_seven",
        "        eight",
    ]


def test_tables_do_not_break_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    print_table("", ["claim", "title"], [["E.5-proof/notice", "a/long/word/that/is/not/broken and more"]])
    out = capsys.readouterr().out
    assert "E.5-proof/notice" in out and "a/long/word/that/is/not/broken" in out


def test_marks_are_ascii_where_nothing_else_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    say("it fails", mark="fails")
    sys.stdout.flush()
    assert raw.getvalue() == b"x it fails\n"


def test_a_quick_loop_tells_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 200))
    monkeypatch.setattr("odesys.terminal.time.monotonic", lambda: next(clock))
    seen: list[float] = []
    tell = paced(lambda step, fraction: seen.append(fraction), seconds=10)
    for number in range(40):
        tell("steps", number / 40)
    assert 3 <= len(seen) <= 5 and seen == sorted(seen)
