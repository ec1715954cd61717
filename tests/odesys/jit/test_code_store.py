"""Compiled code on disk: whole, in its own place, or compiled again."""

from pathlib import Path

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


def test_a_folder_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    assert code_store.cache_folder() is None


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
    import gc

    import numpy as np

    system = System.from_equations({x: 7 * x - 23})
    call = llvm.BoundFunction(native.compile_nodes(system, system.nodes, [0], gated=False), (1, 0, 1), np.empty(0))
    del system
    gc.collect()
    assert call(0.0, [2.0]) == [-9.0]
