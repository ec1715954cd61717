"""Packages of the same name as ours: a folder where Python starts is passed over, anything else is a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from odesys import neighbours
from odesys.errors import OdesysError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["numerics", "derivations"])
def test_a_folder_of_the_same_name_is_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise ZeroDivisionError")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    line = [sys.executable, "-m", "odesys", "sweep", "two_mixture"]
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--over" in done.stderr, done.stderr


def test_another_package_that_was_loaded_already_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = type(sys)("numerics")
    other.__path__ = [str(tmp_path / "numerics")]
    monkeypatch.setitem(sys.modules, "numerics", other)
    with pytest.raises(OdesysError, match="needs its own package numerics") as refused:
        neighbours.find_neighbours()
    assert str(tmp_path / "numerics") in str(refused.value)


def test_ours_are_found() -> None:
    before = list(sys.path)
    neighbours.find_neighbours()
    assert sys.path == before
