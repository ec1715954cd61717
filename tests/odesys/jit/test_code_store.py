"""Compiled code on disk: whole, in its own place, or compiled again."""

import gc
import os
import stat
import weakref
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.jit import code_store, llvm, native

x = sp.Symbol("x")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, with nothing compiled before in this process."""
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "new"))
    forget(monkeypatch)
    return tmp_path / "new"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "_LINKED", {})
    monkeypatch.setattr(llvm, "_RECENT", OrderedDict())


def rate(factor: int) -> float:
    """Rate of x' = factor x at x = 2, by machine code."""
    return float(System.from_equations({x: factor * x}).compile(backend="native")(0.0, [2.0])[0])


def test_code_is_kept_whole_or_not_taken(folder: Path) -> None:
    store = code_store.StoredCode(code_store.key("a", "b"))
    assert store.read() is None
    store.write(b"machine code")
    assert store.read() == b"machine code" and code_store.key("a", "b") != code_store.key("ab", "")
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert store.read() is None and not path.exists()


def test_what_a_killed_process_left_unfinished_is_removed(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    left, young = (folder / f".odesys-{digit * 32}.part" for digit in "ab")
    for path in (left, young):
        path.write_bytes(b"half")
    os.utime(left, (0, 0))
    code_store.StoredCode(code_store.key("a")).write(b"machine code")
    assert not left.exists() and young.exists()  # somebody may just be writing this one
    assert len(list(folder.glob("*.o"))) == 1


def test_a_folder_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    assert code_store.cache_folder() is None


def test_a_folder_that_others_can_replace_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "open" / "own"))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert code_store.cache_folder() is None
    (tmp_path / "open").chmod(0o1777)  # as /tmp: nobody else can rename what is inside
    assert code_store.cache_folder() == tmp_path / "open" / "own"


def test_files_are_for_this_user_alone(folder: Path) -> None:
    umask = os.umask(0)
    try:
        store = code_store.StoredCode(code_store.key("rights"))
        store.write(b"machine code")
    finally:
        os.umask(umask)
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o666)  # anybody could have written this
    assert store.read() is None


def test_links_are_neither_read_nor_written_through(folder: Path, tmp_path: Path) -> None:
    store = code_store.StoredCode(code_store.key("link"))
    store.write(b"machine code")
    (path,) = folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert store.read() is None
    elsewhere.write_bytes(b"precious")
    store.write(b"machine code")
    assert elsewhere.read_bytes() == b"precious" and not path.is_symlink() and store.read() == b"machine code"


def test_a_pipe_in_the_place_of_a_file_does_not_hang(folder: Path) -> None:
    store = code_store.StoredCode(code_store.key("pipe"))
    assert code_store.cache_folder() == folder
    os.mkfifo(folder / f"{store.key}.o")
    assert store.read() is None


def test_folders_inside_are_for_this_user_alone(folder: Path) -> None:
    umask = os.umask(0)
    try:
        inner = code_store.cache_folder("measurements")
    finally:
        os.umask(umask)
    assert inner == folder / "measurements" and stat.S_IMODE(inner.stat().st_mode) == 0o700
    inner.chmod(0o770)  # a group could put one file in the place of another
    assert code_store.cache_folder("measurements") is None


def test_a_folder_is_made_with_those_above_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "one" / "two"))
    made = code_store.cache_folder("three", "four")
    assert made == tmp_path / "one" / "two" / "three" / "four" and made.is_dir()
    assert code_store.cache_folder("three", "four") == made and code_store.cache_folder() == tmp_path / "one" / "two"
    (made / "five").write_text("a file in the place of a folder")
    assert code_store.cache_folder("three", "four", "five") is None


def test_what_was_written_first_makes_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_store, "MOST_BYTES", 5000)
    stores = [code_store.StoredCode(code_store.key(str(k))) for k in range(8)]
    for k, store in enumerate(stores):
        store.write(bytes(1000))
        if store.read() is not None:
            os.utime(folder / f"{store.key}.o", (k, k))
    assert stores[0].read() is None and stores[-1].read() == bytes(1000)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 5000


def test_the_default_folder_is_that_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODESYS_CACHE", raising=False)
    monkeypatch.setattr(code_store.platformdirs, "user_cache_path", lambda name, appauthor: tmp_path / name)
    assert code_store.cache_folder() == tmp_path / "odesys"


needs_llvm = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")


@needs_llvm
def test_a_folder_others_can_write_to_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    forget(monkeypatch)
    assert rate(-3) == -6.0 and not list(tmp_path.iterdir())


@needs_llvm
def test_what_was_compiled_is_read_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rate(-11) == -22.0 and len(list(folder.iterdir())) == 1
    forget(monkeypatch)
    monkeypatch.setattr(llvm, "_object_code", lambda *_: pytest.fail("compiled again"))
    assert rate(-11) == -22.0


@needs_llvm
def test_files_that_changed_places_are_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rate(3) == 6.0 and rate(5) == 10.0
    one, other = folder.iterdir()
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    forget(monkeypatch)
    assert rate(3) == 6.0 and rate(5) == 10.0
    assert one.read_bytes() == first and other.read_bytes() == second  # mended


@needs_llvm
@pytest.mark.parametrize("place", [0, 45, -1])  # in the key, in the hash, in the code
def test_a_file_with_another_byte_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    assert rate(7) == 14.0
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[place] ^= 1
    path.write_bytes(damaged)
    forget(monkeypatch)
    assert rate(7) == 14.0 and path.read_bytes() == whole


@needs_llvm
def test_code_outlives_what_remembers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    system = System.from_equations({x: 7 * x - 23})
    call = llvm.BoundFunction(native.compile_nodes(system, system.nodes, [0], gated=False), (1, 0, 1), np.empty(0))
    del system
    gc.collect()
    assert call(0.0, [2.0]) == [-9.0]


@needs_llvm
def test_code_goes_with_its_last_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "MOST_RECENT", 1)
    system = System.from_equations({x: 7 * x - 29})
    field = system.compile(backend="native")
    assert field(0.0, [2.0]) == [-15.0]
    (code,) = {weakref.ref(each) for each in llvm._RECENT.values()}
    rate(31)  # the next one takes its place among the recent ones
    gc.collect()
    assert code() is not None and field(0.0, [3.0]) == [-8.0]  # somebody still has its address
    del system, field
    gc.collect()
    assert code() is None


@pytest.mark.skipif(os.name != "posix", reason="there are no such rights")
@pytest.mark.parametrize("user", [0, 5])
def test_only_what_nobody_else_can_write_to_is_our_own(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By owner and rights. A folder above may be the system's, or open to all where only owners can rename."""
    monkeypatch.setattr(code_store.os, "getuid", lambda: user)
    for owner in (0, 5, 7):
        for mode in range(0o2000):
            found: Any = SimpleNamespace(st_uid=owner, st_mode=mode | stat.S_IFDIR)
            others_write = bool(mode & 0o022)
            assert code_store._is_own(found) is (owner == user and not others_write)
            replaced = others_write and not mode & 0o1000
            assert code_store._is_open(found) is (owner not in (0, user) or replaced)
    monkeypatch.setattr(code_store, "os", SimpleNamespace(name="nt"))
    anybody: Any = SimpleNamespace(st_uid=7, st_mode=0o777)
    assert code_store._is_own(anybody) and not code_store._is_open(anybody)


@pytest.mark.parametrize(
    ("sizes", "most", "left"),
    [
        ([10, 10, 10, 10], 40, [10, 10, 10, 10]),  # just full
        ([10, 10, 10, 10], 39, [10, 10]),  # then a quarter is made free
        ([10, 10, 10, 10], 27, [10, 10]),
        ([10, 10, 10, 10], 26, [10]),
        ([30, 1, 1, 8], 39, [1, 1, 8]),
        ([1, 1, 30, 8], 39, [8]),
        ([5], 4, []),
        ([], 0, []),
    ],
)
def test_the_oldest_files_go_until_a_quarter_is_free(
    sizes: list[int], most: int, left: list[int], tmp_path: Path
) -> None:
    """Of those of the pattern; others stay, however old and large."""
    for k, size in enumerate(sizes):
        (tmp_path / f"{'dcba'[k]}.o").write_bytes(bytes(size))
        os.utime(tmp_path / f"{'dcba'[k]}.o", (1000 + k, 1000 + k))
    (tmp_path / "other").write_bytes(bytes(1000))
    code_store.make_room(tmp_path, "*.o", most)
    files = sorted(tmp_path.glob("*.o"), key=lambda path: path.stat().st_mtime)
    assert [path.stat().st_size for path in files] == left and (tmp_path / "other").exists()


def test_keys_tell_texts_apart_and_are_forty_digits() -> None:
    texts = [("a",), ("b",), ("a", "b"), ("b", "a"), ("ab",), ("a", "b", ""), ("", "a", "b"), ()]
    keys = [code_store.key(*text) for text in texts]
    assert len(set(keys)) == len(texts) and all(len(key) == 40 and int(key, 16) >= 0 for key in keys)
    assert keys == [code_store.key(*text) for text in texts]


def test_a_file_that_is_shorter_than_its_head_is_removed(folder: Path) -> None:
    store, other = (code_store.StoredCode(code_store.key(name)) for name in "ab")
    store.write(b"")
    assert store.read() == b""  # no code at all is code
    (path,) = folder.iterdir()
    for data in (b"", path.read_bytes()[:-1], path.read_bytes() + b"more", other._head(b"")):
        path.write_bytes(data)
        path.chmod(0o600)
        assert store.read() is None and not path.exists()


def test_where_nothing_can_be_kept_nothing_is_read_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "file"))
    store = code_store.StoredCode(code_store.key("a"))
    store.write(b"machine code")
    assert code_store.cache_folder() is None and store.read() is None
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "own"))
    monkeypatch.setattr(code_store, "write_own", lambda path, data: (_ for _ in ()).throw(OSError("the disk is full")))
    store.write(b"machine code")
    assert store.read() is None and list((tmp_path / "own").iterdir()) == []
    monkeypatch.setattr(code_store.os, "access", lambda path, rights: False)
    assert code_store.cache_folder() is None
