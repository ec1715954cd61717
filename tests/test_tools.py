"""Tools that compare and count: they notice what they are for."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        ({"seconds": 2.0}, 0, "0 differences beyond rounding, 0 within"),
        ({"constants": {"b": 0.1 + 1e-13}}, 0, "0 differences beyond rounding, 1 within"),
        ({"constants": {"b": 0.1001}}, 1, "p E.2/constants/b: 0.1 -> 0.1001"),
        ({"as_stated": "fails"}, 1, "p E.2/as_stated: holds -> fails"),
        ({"witness": [1]}, 1, "p E.2/witness: None -> [1]"),
    ],
)
def test_results_are_compared(
    change: dict[str, object], code: int, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = {"paper": "p", "id": "E.2", "as_stated": "holds", "constants": {"b": 0.1}, "witness": None, "seconds": 1.0}
    for name, data in (("before", claim), ("after", {**claim, **change})):
        (tmp_path / name).write_text(json.dumps({"claims": [data]}))
    assert load("compare_results").main(str(tmp_path / "before"), str(tmp_path / "after")) == code
    assert line in capsys.readouterr().out


def test_lines_of_code_are_counted() -> None:
    count = load("count_lines")
    text = '"""Text\nof two lines."""\n\n# a remark\n'
    source = text + 'def f(a, *, b=1, **c):\n    """Doc."""\n    return [\n        a\n    ]\n'
    assert len(count.code_lines(source)) == 4
    assert list(count.functions(source)) == [("f", 4, 3)]


@pytest.mark.parametrize("checker", ["check_region", "check_enclosure"])
@pytest.mark.parametrize("text", ["[]", "null", "3", "[" * 100_000, "{", '{"format": 1}', "\x00"])
def test_what_is_no_certificate_is_rejected_in_one_line(checker: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text)
    program = [sys.executable, "-I", str(TOOLS / f"{checker}.py"), str(tmp_path / "file.json")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 2 and said.startswith("REJECTED, not a certificate: ") and said.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
@pytest.mark.parametrize("checker", ["check_region", "check_enclosure"])
def test_a_checker_reads_regular_files_of_bounded_size(checker: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**30 + 1)  # takes no room on the disk
    for place in (tmp_path / "pipe", tmp_path / "large", Path("/dev/zero")):
        program = [sys.executable, "-I", str(TOOLS / f"{checker}.py"), str(place)]
        done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2 and "no regular file of at most 1024 MB" in done.stdout
        assert done.stdout.startswith("REJECTED, not a certificate: ") and done.stdout.count("\n") == 1
