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
