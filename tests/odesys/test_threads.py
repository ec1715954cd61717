"""Processes started inside `one_thread` use one thread; what the user asked for counts more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from odesys.papers.workers import process_pool
from odesys.threads import VARIABLES, one_thread


def test_processes_inherit_one_thread_and_the_environment_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(VARIABLES[0], "3")
    with one_thread():
        said = subprocess.run(
            [sys.executable, "-c", f"import os; print([os.environ[n] for n in {VARIABLES}])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert said.strip() == str(["3", *["1"] * (len(VARIABLES) - 1)])
    assert [os.environ.get(name) for name in VARIABLES] == ["3", *[None] * (len(VARIABLES) - 1)]


def test_workers_use_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with process_pool(1) as pool:
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
