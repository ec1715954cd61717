"""The page on programs is run, and says what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import odesys

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "programs.md").read_text(encoding="utf-8")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "programs.md", "exec"), scope)
    lines = capsys.readouterr().out.splitlines()
    (error,) = (line for line in lines if line.startswith("the flow of"))
    printed = [line for line in lines if line is not error]
    assert len(printed) == 6 and all(f"This prints `{line}`" in TEXT for line in printed)
    quoted = " ".join(re.search(r"begins with `(.*?)`", TEXT, flags=re.DOTALL).group(1).split())
    assert error.startswith(quoted)


def test_every_name_on_the_page_exists() -> None:
    names = re.findall(r"`(\w+)\(", TEXT) + re.findall(r"`(gradient_\w+|heavy_ball|sign_descent|logistic|hinge)`", TEXT)
    found = set(names) - {"len", "initial_state"}
    assert len(found) > 10 and not [name for name in found if not hasattr(odesys, name)]
