"""Certificates checked again by single files, without odesys."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from odesys import check

TOOLS = Path(check.__file__).parents[1] / "tools"
CHECKERS = sorted(TOOLS.glob("check_*.py"))


@pytest.mark.parametrize("file", CHECKERS, ids=lambda file: file.name)
def test_a_checker_is_one_short_file_that_runs_alone(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    assert not re.search(r"^\s*(from|import) (odesys|numerics|derivations)", text, re.MULTILINE)
    alone = (
        "import runpy, sys; sys.argv = sys.argv[1:]; sys.modules.update(odesys=None, numerics=None, sympy=None);"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    (tmp_path / "empty.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-I", "-c", alone, str(file), str(tmp_path / "empty.json")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    if file.name in check.CHECKERS.values():
        assert done.returncode == 2 and "not a certificate" in done.stdout


def test_the_format_of_a_file_chooses_its_checker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, found in check.CHECKERS.items():
        assert f'"{name}"' in (TOOLS / found).read_text(encoding="utf-8")
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps({"format": name, "version": 1}))
        assert check.main([str(file)]) == 2 and "REJECTED, not a certificate" in capsys.readouterr().out
    (tmp_path / "other.json").write_text("[1]")
    assert check.main([str(tmp_path / "other.json"), str(tmp_path / "nowhere")]) == 2 and check.main([]) == 2


def test_only_the_names_of_odesys_are_loaded() -> None:
    code = (
        "import sys; from odesys import check; check.main(['nowhere'])\n"
        "print(sorted(m for m in sys.modules if m.startswith(('odesys', 'sympy', 'numpy'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TOOLS.parent, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "['odesys', 'odesys.check']"


def test_the_worst_answer_of_several_files_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By checkers that end as their file says; what they print is told with the name of the file."""
    (tmp_path / "checker.py").write_text(
        "import json, sys\ncode = json.load(open(sys.argv[1]))['code']\n"
        "print('checked' if code == 0 else '')\nprint('w' * 600, 'end', file=sys.stderr)\nsys.exit(code)\n"
    )
    monkeypatch.setattr(check, "checker_folder", lambda: tmp_path)
    monkeypatch.setattr(check, "CHECKERS", {"toy": "checker.py"})
    files = []
    for code in (0, 1, 2):
        files.append(str(tmp_path / f"{code}.json"))
        Path(files[-1]).write_text(json.dumps({"format": "toy", "code": code}))
    assert [check.check(file) for file in files] == [0, 1, 2]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{files[0]}: checked" and lines[1] == f"{files[1]}: {'w' * 496} end"
    assert check.main(files[:2][::-1]) == 1 and check.main(files[:1]) == 0 and check.main(files) == 2
    command = [sys.executable, "-m", "odesys.check"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == (check.__doc__ or "").strip()
    told = subprocess.run([*command, str(tmp_path / "none.json")], capture_output=True, text=True)
    assert told.returncode == 2 and "none.json: REJECTED" in told.stdout
    Path(files[0]).write_text('{"format": "unknown"}')
    assert check.main(files[:1]) == 2 and "REJECTED, not a certificate: KeyError" in capsys.readouterr().out


def test_where_the_checkers_are() -> None:
    assert check.checker_folder() == TOOLS and check.checker_folder().is_dir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_what_may_have_no_end_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(check.LARGEST + 1)  # takes no room on the disk
    for place in (tmp_path / "pipe", tmp_path / "large", Path("/dev/zero"), tmp_path):
        assert check.check(str(place)) == 2
        assert capsys.readouterr().out.startswith(f"{place}: REJECTED, not a certificate: ")
    (tmp_path / "file").write_text("{}")

    def beyond(text: str) -> None:
        raise MemoryError

    monkeypatch.setattr(check.json, "loads", beyond)
    assert check.check(str(tmp_path / "file")) == 2 and "MemoryError" in capsys.readouterr().out
