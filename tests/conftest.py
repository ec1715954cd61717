"""What all tests share: interrupts, the garbage collector as the command line has it, and nothing measured before.

Where several processes share the tests, those of a paper stay in one, which derives its systems once.

A process started in the background ignores interrupts, and so would those the tests start. Tests break code on purpose,
which values kept on disk would hide.
"""

from __future__ import annotations

import os
import signal
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import settings

from odesys.expr import gc_pause

settings.register_profile("patient", deadline=None)  # the first example compiles, and machines are busy
settings.load_profile("patient")
os.environ["ODESYS_MEASUREMENTS"] = "anew"
os.environ["COLUMNS"] = "200"  # lines are not broken, but in the tests that are about that
signal.signal(signal.SIGINT, signal.default_int_handler)
gc_pause.collect_less_often()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where files are dealt to several processes (`--dist loadfile`), those of one paper go together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class LoadPapers(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(super()._split_scope(nodeid))

    return LoadPapers(config, log)


def together(file: str) -> str:
    """The folder of a paper, or the file itself."""
    path = PurePosixPath(file)
    return str(path.parent) if path.match("tests/derivations/*/*") else file
