"""One command at a time in a folder; what killed ones left is removed, what living ones write is not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from odesys import files, locks
from odesys.errors import OutputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are locked on POSIX")


def test_a_folder_belongs_to_one_at_a_time(tmp_path: Path) -> None:
    with locks.holding():
        locks.hold(tmp_path)
        with pytest.raises(OutputError, match="another command is writing to"), locks.holding():
            locks.hold(tmp_path)
    with locks.holding():
        locks.hold(tmp_path)
    locks.hold(tmp_path)  # outside of commands nothing is taken
    locks.hold(tmp_path)


def old(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def test_leftovers_go_and_living_work_stays(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    names = [f".odesys-{k:032x}.part" for k in range(4)]
    left = [tmp_path / names[0], tmp_path / "a" / names[1], tmp_path / "a" / "b" / names[2]]
    left[0].mkdir()
    (left[0] / "half").touch()
    left[1].touch()
    left[2].touch()
    others = [tmp_path / ".odesys-mine.part", tmp_path / "data.part", tmp_path / names[3]]
    for path in others:
        path.touch()
    for path in (*left, *others[:2]):
        old(path)
    with files.staged(tmp_path) as stage:
        old(stage.folder)
        locks.remove_leftovers(tmp_path)
        assert stage.folder.is_dir()
    assert [path for path in left if path.exists()] == [] and all(path.exists() for path in others)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    old(tmp_path / "precious")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f".odesys-{'0' * 32}.part").symlink_to(tmp_path / "precious")
    locks.remove_leftovers(tmp_path / "out")
    assert (tmp_path / "precious").is_dir()
