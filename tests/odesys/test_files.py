"""Writing results: checked beforehand, whole or not at all, JSON without NaN.

We may run as root, so no place here is bad by its permissions: a file stands where a folder should be, or the file
system takes no files.
"""

from __future__ import annotations

import csv
import json
import math
import os
import stat
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from odesys import files, locks
from odesys.errors import OutputError


@pytest.fixture(autouse=True)
def devices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root could put a file in the place of a device of this machine; a mistake here is seen before that is done."""
    replace = os.replace

    def checked(source: str | Path, target: str | Path) -> None:
        assert not Path(os.path.realpath(target)).is_relative_to("/dev"), f"{target} would be replaced by a file"
        replace(source, target)

    monkeypatch.setattr(os, "replace", checked)


def everything(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_files_are_written_in_new_folders_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "text.txt"
    files.write_text(file, "one")
    files.write_text(file, "two\n")
    assert file.read_text() == "two\n"
    assert everything(tmp_path) == ["a", "a/b", "a/b/text.txt"]


def test_preparing_leaves_the_folder_but_no_file(tmp_path: Path) -> None:
    assert files.prepare_folder(tmp_path / "a" / "b", ["x.csv"]) == tmp_path / "a" / "b"
    assert files.prepare_file(tmp_path / "c" / "x.json") == tmp_path / "c" / "x.json"
    assert everything(tmp_path) == ["a", "a/b", "c"]


@pytest.mark.parametrize("use", [files.prepare_folder, files.prepare_file, lambda p: files.write_text(p, "x")])
def test_a_place_that_takes_no_files_is_named(tmp_path: Path, use) -> None:
    (tmp_path / "file").write_text("kept")
    for place in (tmp_path / "file" / "sub" / "x", Path("/proc/nonexistent/x"), Path("/proc/nonexistent/deeper/x")):
        with pytest.raises(OutputError) as caught:
            use(place)
        assert "the folder" in str(caught.value) and str(place.parent) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert everything(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "kept"


def test_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder" / "result.json").mkdir(parents=True)
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OutputError, match=r"folder is a folder; give the name of a file"):
        files.prepare_file(tmp_path / "folder")
    with pytest.raises(OutputError, match=r"folder is a folder"):
        files.write_text(tmp_path / "folder", "x")
    with pytest.raises(OutputError, match=r"result.json is a folder"):
        files.prepare_folder(tmp_path / "folder", ["result.json"])
    with pytest.raises(OutputError, match=r"file is a file"):
        files.prepare_folder(tmp_path / "file")
    with pytest.raises(OutputError, match=r"both name"):
        files.prepare(tmp_path / "x", tmp_path / "folder" / ".." / "x")
    with pytest.raises(OutputError, match=r"--out and --json both name .*table.csv"):
        files.prepare(tmp_path / "folder", tmp_path / "folder" / "table.csv", ["table.csv"])
    with pytest.raises(OutputError, match=r"--errata and --json both name"):
        files.prepare(tmp_path / "x", tmp_path / "x", None, "--errata")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_name_that_is_too_long_is_found_beforehand(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="can not be written"):
        files.prepare_folder(tmp_path / ("x" * 300))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error) -> None:
    file = tmp_path / "x.txt"
    files.write_text(file, "old")

    def fail(descriptor: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((OutputError, KeyboardInterrupt)) as caught:
        files.write_text(file, "new")
    if isinstance(error, OSError):
        assert str(caught.value) == f"the folder {tmp_path} can not be written: No space left on device"
    assert everything(tmp_path) == ["x.txt"] and file.read_text() == "old\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_device_that_is_full_is_named() -> None:
    with pytest.raises(OutputError) as caught:
        files.write_text("/dev/full", "x")
    assert str(caught.value) == "/dev/full can not be written: No space left on device"


def test_modes_links_and_devices_are_respected(tmp_path: Path) -> None:
    plain, link = tmp_path / "plain", tmp_path / "link"
    umask = os.umask(0o022)
    try:
        files.write_text(plain, "x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o644  # what an ordinary write gives, not that of a private file
    plain.chmod(0o600)
    link.symlink_to(plain)
    files.write_text(link, "y")
    assert link.is_symlink() and plain.read_text() == "y\n" and stat.S_IMODE(plain.stat().st_mode) == 0o600
    files.prepare_file("/dev/null")
    files.write_text("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_json_is_sorted_plain_and_without_nan(tmp_path: Path) -> None:
    value = {
        "z": np.float64(0.5),
        "a": [math.nan, math.inf, -math.inf, 1.0],
        "final": {"loss": np.float32("nan"), 3: True},
        "int": np.int64(3),
        "array": np.arange(3),
        "exact": Fraction(1, 8),
        "third": sp.Rational(1, 3),
        "four": sp.Integer(4),
        "none": None,
        "path": Path("x/y"),
        "tuple": (1, "é"),
    }
    text = files.write_json(tmp_path / "x.json", value).read_text(encoding="utf-8")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    read = json.loads(text, parse_constant=refuse)
    assert read == {
        "z": 0.5,
        "a": [None, None, None, 1.0],
        "final": {"loss": None, "3": True},
        "int": 3,
        "array": [0, 1, 2],
        "exact": "1/8",
        "third": "1/3",
        "four": 4,
        "none": None,
        "path": "x/y",
        "tuple": [1, "é"],
        "not_finite": {"a.0": "nan", "a.1": "inf", "a.2": "-inf", "final.loss": "nan"},
    }
    assert list(read) == sorted(read) and text.startswith('{\n  "a"') and text.endswith("}\n")
    assert "not_finite" not in files.json_text({"a": 1.0})


@pytest.mark.parametrize("value", [object(), 1j, {1, 2}, b"x"])
def test_json_refuses_what_has_no_place_in_it(tmp_path: Path, value) -> None:
    with pytest.raises(TypeError, match=r"final\.x is a "):
        files.write_json(tmp_path / "x.json", {"final": {"x": value}})
    assert everything(tmp_path) == []


def test_tables_read_back_exactly(tmp_path: Path) -> None:
    columns = {"t": np.array([0.0, 0.1, 1 / 3]), "file": [1, 2, 3], "a,b": np.array([math.nan, 1e-300, -math.pi])}
    rows = list(csv.reader(files.write_csv(tmp_path / "x.csv", columns).read_text().splitlines()))
    assert rows[0] == list(columns)
    with np.load(files.write_npz(tmp_path / "x.npz", columns)) as arrays:
        assert sorted(arrays) == sorted(columns)
        for k, (name, values) in enumerate(columns.items()):
            np.testing.assert_array_equal(arrays[name], values)
            np.testing.assert_array_equal([float(row[k]) for row in rows[1:]], values)
    first = (tmp_path / "x.npz").read_bytes()
    assert files.write_npz(tmp_path / "x.npz", columns).read_bytes() == first


@pytest.mark.parametrize("write", [files.write_csv, files.write_npz])
@pytest.mark.parametrize(
    "columns", [{"a": [1.0], "b": [1.0, 2.0]}, {"a": np.zeros((2, 2))}, {"a": np.array([object()])}, {"a": 1.0}]
)
def test_tables_that_are_none_are_refused_before_writing(tmp_path: Path, write, columns) -> None:
    with pytest.raises((TypeError, ValueError)):
        write(tmp_path / "x", columns)
    assert everything(tmp_path) == []


def test_unfinished_work_knows_where_the_files_will_be(tmp_path: Path) -> None:
    with files.staged(tmp_path / "out") as stage:
        assert files.final_folder(stage.folder) == tmp_path / "out"
    assert files.final_folder(tmp_path) == tmp_path


def test_staged_files_arrive_together(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")
    with files.staged(tmp_path / "out") as stage:
        (stage.folder / "sub").mkdir()
        (stage.folder / "sub" / "b.txt").write_text("b")
        (stage.folder / "old.txt").write_text("new")
        assert (tmp_path / "out" / "old.txt").read_text() == "old"
    assert stage.files == [tmp_path / "out" / "old.txt", tmp_path / "out" / "sub" / "b.txt"]
    assert everything(tmp_path / "out") == ["old.txt", "sub", "sub/b.txt"]
    assert (tmp_path / "out" / "old.txt").read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_no_staged_file(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), files.staged(tmp_path / "out") as stage:
        (stage.folder / "a.txt").write_text("a")
        raise error
    assert everything(tmp_path / "out") == [] and stage.files == []


def test_staging_moves_nothing_if_one_file_has_no_place(tmp_path: Path) -> None:
    (tmp_path / "b.txt").mkdir()
    with pytest.raises(OutputError, match=r"b.txt is a folder"), files.staged(tmp_path) as stage:
        (stage.folder / "a.txt").write_text("a")
        (stage.folder / "b.txt").write_text("b")
    assert everything(tmp_path) == ["b.txt"]


def test_a_name_that_no_file_can_have_is_refused_before_the_run(tmp_path: Path) -> None:
    for name in ("9" * 400, "a/" + "9" * 400):
        with pytest.raises(OutputError, match="name too long"):
            files.prepare_file(tmp_path / name)


def test_a_text_is_read_up_to_its_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 4)
    (tmp_path / "text").write_text("aé!", encoding="utf-8")
    assert files.read_text(tmp_path / "text") == "aé!"  # four bytes
    (tmp_path / "text").write_text("aé!!", encoding="utf-8")
    with pytest.raises(OSError, match="more than"):
        files.read_text(tmp_path / "text")


def test_a_full_disk_is_told_of_the_place_that_the_user_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of the unfinished folder in it, whose name nobody knows and which is gone."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OutputError) as caught, files.staged(tmp_path / "out") as stage:
        files.write_text(stage.folder / "inner" / "a.txt", "a")
    assert str(caught.value) == f"the folder {tmp_path / 'out' / 'inner'} can not be written: No space left on device"


def test_a_column_may_be_larger_than_an_old_archive_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two gigabytes, from which on a zip file has other fields, are a hundred bytes here."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    column = np.random.default_rng(0).normal(size=50)
    with np.load(files.write_npz(tmp_path / "x.npz", {"a": column, "b": -column})) as arrays:
        assert np.array_equal(arrays["a"], column) and np.array_equal(arrays["b"], -column)


def test_what_a_killed_command_left_beside_a_file_is_removed(tmp_path: Path) -> None:
    """Also by commands that write files alone, such as a trial of the folder that was cut off."""
    left, young = (tmp_path / f".odesys-{digit * 32}.part" for digit in "01")
    left.touch()
    os.utime(left, (1e9, 1e9))
    young.touch()
    files.prepare_file(tmp_path / "result.json")
    assert [each.name for each in tmp_path.iterdir()] == [young.name]


def test_a_new_folder_comes_with_all_its_files_or_not_at_all(tmp_path: Path) -> None:
    with files.new_folder(tmp_path / "made") as stage:
        (stage.folder / "sub").mkdir()
        (stage.folder / "sub" / "b.txt").write_text("b")
        (stage.folder / "a.txt").write_text("a")
        assert not (tmp_path / "made").exists() and stage.files == []
    assert stage.files == [tmp_path / "made" / "a.txt", tmp_path / "made" / "sub" / "b.txt"]
    assert everything(tmp_path) == ["made", "made/a.txt", "made/sub", "made/sub/b.txt"]
    with pytest.raises(OutputError, match="can not be written"), files.new_folder(tmp_path / "made") as stage:
        (stage.folder / "c.txt").write_text("c")
    with pytest.raises(KeyboardInterrupt), files.new_folder(tmp_path / "other") as stage:
        (stage.folder / "c.txt").write_text("c")
        raise KeyboardInterrupt
    assert everything(tmp_path) == ["made", "made/a.txt", "made/sub", "made/sub/b.txt"] and stage.files == []


@pytest.mark.parametrize(
    "begin", [lambda p: files.new_folder(p / "x").__enter__(), lambda p: files.prepare_file(p / "x")]
)
def test_leftovers_are_removed_beside_what_is_written_and_not_below(tmp_path: Path, begin) -> None:
    (tmp_path / "sub").mkdir()
    name = f".odesys-{'3' * 32}.part"
    for left in (tmp_path / name, tmp_path / "sub" / name):
        left.touch()
        os.utime(left, (1e9, 1e9))
    begin(tmp_path)
    assert not (tmp_path / name).exists() and (tmp_path / "sub" / name).exists()


def test_an_open_file_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """What a shell hands over as /dev/fd/N, or as its standard output: a file or a pipe."""
    with open(tmp_path / "log", "wb") as file:
        before = os.stat(tmp_path / "log").st_ino
        place = Path(f"/dev/fd/{file.fileno()}")
        assert files.prepare_file(place) == place == files.write_text(place, "told")
        assert os.stat(tmp_path / "log").st_ino == before and (tmp_path / "log").read_text() == "told\n"
    read, write = os.pipe()
    try:
        files.write_text(f"/dev/fd/{write}", "through")
        assert os.read(read, 100) == b"through\n"
        with pytest.raises(OutputError) as caught:
            files.write_text("/dev/fd/987654", "x")
        assert str(caught.value).startswith("/dev/fd/987654 can not be written")
    finally:
        os.close(read), os.close(write)
    for stream in ("/dev/stdout", "/dev/stderr"):
        assert files._is_stream(Path(stream)) and files.prepare_file(stream) == Path(stream)
    assert not any(map(files._is_stream, (tmp_path, tmp_path / "log", tmp_path / "new", Path("/dev"))))
    assert everything(tmp_path) == ["log"]


def test_rights_that_are_named_are_given(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    for mode in (0o600, 0o640):
        files.write_text(plain, "x", mode)
        assert stat.S_IMODE(plain.stat().st_mode) == mode
    assert stat.S_IMODE(files.write_json(tmp_path / "j", {}, 0o600).stat().st_mode) == 0o600


def test_the_places_of_results_are_tried_and_a_folder_is_held(tmp_path: Path) -> None:
    out, result = tmp_path / "made" / "out", tmp_path / "other" / "result.json"
    files.prepare(None, result)
    files.prepare(None, None)
    assert everything(tmp_path) == ["other"]
    files.prepare(tmp_path / "single" / "file.csv", result)
    assert everything(tmp_path) == ["other", "single"]
    (tmp_path / "other" / "result.json").mkdir()
    for wrong in ((None, result), (tmp_path / "x", result), (result, None)):
        with pytest.raises(OutputError, match=r"result.json is a folder"):
            files.prepare(*wrong)
    with locks.holding():
        files.prepare(out, None, iter(["table.csv"]))
        with pytest.raises(OutputError, match="another command is writing to"), locks.holding():
            files.prepare(out, None, ())
    (out / "table.csv").mkdir()
    with pytest.raises(OutputError, match=r"table.csv is a folder"):
        files.prepare(out, tmp_path / "result.json", iter(["table.csv"]))
    files.prepare(out, None, ["other.csv"])


def test_json_says_where_what_is_no_number_stood_only_in_a_mapping() -> None:
    assert json.loads(files.json_text([math.nan, 1])) == [None, 1] and json.loads(files.json_text(math.inf)) is None
    nested = {"a": {"b": [1, {"c": -math.inf}]}}
    assert json.loads(files.json_text(nested))["not_finite"] == {"a.b.1.c": "-inf"}
    with pytest.raises(TypeError, match="the result is a object"):
        files.json_text(object())
    assert files.json_text({"b": 1, "a": "é"}) == '{\n  "a": "é",\n  "b": 1\n}\n'


def test_a_text_ends_with_one_newline_and_a_limit_is_said_in_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("x", "x\n", "", "\n"):
        assert files.write_text(tmp_path / "x", text).read_text() == (text.rstrip("\n") + "\n")
    monkeypatch.setattr(files, "LARGEST_TEXT", 2**21)
    (tmp_path / "x").write_bytes(b"x" * (2**21 + 1))
    with pytest.raises(OSError, match="it has more than 2 MB"):
        files.read_text(tmp_path / "x")
    with pytest.raises(ValueError, match="columns differ in length: a 1, b 2"):
        files.write_csv(tmp_path / "y", {"a": [1.0], "b": [1.0, 2.0]})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_a_regular_file_is_asked_for_without_waiting_at_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match=r"no regular file|Is a directory"):
            files.read_text(place, regular=True)
    (tmp_path / "text").write_text("x")
    (tmp_path / "link").symlink_to("text")
    assert files.read_text(tmp_path / "link", regular=True) == "x"
    ends = os.pipe()
    os.write(ends[1], b"told")
    os.close(ends[1])
    assert files.read_text(f"/dev/fd/{ends[0]}") == "told"  # a pipe that the user names
    os.close(ends[0])


def test_json_is_refused_where_something_else_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("run.png", "deep/run.svg", "notes", "../out/sweep.sqlite-wal"):
        with pytest.raises(OutputError, match=r"in the folder of --out, .* let it end in .json"):
            files.prepare(out, out / name, ("result.json",))
    with pytest.raises(OutputError, match=r"both name .*result.json"):
        files.refuse_shared(out, out / "result.json", ("result.json",))
    assert everything(tmp_path) == []
    files.refuse_shared(out, out / "mine.json", ("result.json",))
    files.refuse_shared(out, tmp_path / "run.png", ("result.json",))
    files.refuse_shared(out, out / "x", None)
