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


def test_a_folder_that_is_found_first_goes_behind_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither package is loaded yet; one that was loaded from elsewhere can not be put right any more."""
    for name in neighbours.MARKS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    neighbours.find_neighbours()
    assert sys.path[:2] == [str(ROOT), str(tmp_path)]
    neighbours.find_neighbours()
    assert sys.path[:2] == [str(ROOT), str(tmp_path)]
    for name in neighbours.MARKS:
        assert [Path(place) for place in neighbours._places(name)][:1] == [ROOT / name]
    assert neighbours._places("no_package_of_this_name") == []


def test_a_package_that_can_not_be_put_right_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(sys.path)
    for places, said in (([str(tmp_path / "derivations")], str(tmp_path / "derivations")), ([], "nowhere")):
        other = type(sys)("derivations")
        other.__path__ = places
        monkeypatch.setitem(sys.modules, "derivations", other)
        with pytest.raises(OdesysError) as refused:
            neighbours.find_neighbours()
        told = f"its own package derivations, which belongs beside {ROOT / 'odesys'}, and Python finds {said}: another"
        assert told in str(refused.value) and sys.path == before
