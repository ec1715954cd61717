"""Processes have one thread for their linear algebra, unless the user says otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from odesys.papers.workers import process_pool
from odesys.threads import NAMES, one_thread, one_thread_in_new_processes


def threads_of() -> tuple[str | None, ...]:
    return tuple(os.environ.get(name) for name in NAMES)


def test_workers_have_one_thread_and_this_process_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(NAMES[1], "3")
    with process_pool(1) as pool:
        assert pool.submit(threads_of).result() == ("1", "3", "1", "1")
    assert threads_of() == (None, "3", None, None)


def test_what_was_set_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ZeroDivisionError), one_thread_in_new_processes():
        assert threads_of() == ("1",) * 4
        _ = 1 / 0
    assert threads_of() == (None,) * 4


def test_the_command_says_so_before_numpy_is_loaded() -> None:
    text = (
        "import sys, os; sys.argv = ['odesys', '--version']\n"
        "from odesys.__main__ import main\n"
        "assert 'numpy' not in sys.modules\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([os.environ.get(n) for n in {NAMES!r}])"
    )
    given = {name: value for name, value in os.environ.items() if name not in NAMES}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, env=given)
    assert done.stdout.splitlines()[-1] == "['1', '1', '1', '1']"


def test_one_thread_names_what_it_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "2")
    assert one_thread() == [] and threads_of() == ("2",) * 4
