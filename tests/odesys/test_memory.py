"""Memory: what there is, and a limit that turns too large requests into an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odesys import memory


def test_a_container_may_have_less_than_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_GROUPS", (str(limit),))
    machine = memory.usable_memory()
    assert machine > 2**27
    limit.write_text("max\n")
    assert memory.usable_memory() == machine
    limit.write_text("1048576\n")
    assert memory.usable_memory() == 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="where such a limit counts")
def test_more_than_there_is_fails_at_once() -> None:
    code = "from odesys import memory; memory.limit_memory(); bytes(memory.usable_memory() + 2**20)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.strip().endswith("MemoryError")


def test_what_other_programs_use_is_not_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "meminfo"
    monkeypatch.setattr(memory, "_MEMORY", str(said))
    monkeypatch.setattr(memory, "_GROUPS", ())
    assert memory.free_memory() == memory.usable_memory()  # where nothing is said
    said.write_text("MemTotal: 999999 kB\nMemAvailable: 2048 kB\nSwapFree: 1024 kB\nHugePages_Total: 0\n")
    assert memory.free_memory() == 3 * 2**20
    said.write_text("MemAvailable: 99999999999999 kB\n")
    assert memory.free_memory() == memory.usable_memory()


@pytest.mark.skipif(sys.platform != "linux", reason="where such a limit counts")
def test_the_limit_is_what_is_free(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemAvailable: 524288 kB\n")
    code = f"from odesys import memory; memory._MEMORY = {str(tmp_path / 'meminfo')!r}; memory.limit_memory()\n"
    for size, code_of_exit in ((2**26, 0), (2**30, 1)):
        line = [sys.executable, "-c", f"{code}bytes({size})"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == code_of_exit and done.stderr.endswith("MemoryError\n" if code_of_exit else "")


def test_of_several_limits_the_least_counts_and_none_below_one_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = [tmp_path / name for name in ("first", "second", "none")]
    monkeypatch.setattr(memory, "_GROUPS", tuple(map(str, limits)))
    limits[0].write_text("4096\n")
    limits[1].write_text("3\n")
    assert memory.usable_memory() == 3
    limits[1].write_text("0\n")
    assert memory.usable_memory() == 4096
    monkeypatch.setattr(memory, "_GROUPS", ())
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}.__getitem__)
    assert memory.usable_memory() == 40960
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.usable_memory() == 8 * 2**30  # where nothing is known


@pytest.mark.skipif(sys.platform != "linux", reason="where such a limit counts")
def test_a_lower_limit_stays_and_a_higher_one_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    asked: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append((kind, limits)))
    for soft, wanted in ((resource.RLIM_INFINITY, [1000]), (1001, [1000]), (1000, []), (999, [])):
        asked.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda kind, soft=soft: (soft, 7))
        memory.limit_memory()
        assert asked == [(resource.RLIMIT_DATA, (each, 7)) for each in wanted]
