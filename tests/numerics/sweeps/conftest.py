"""The paper that is swept, in a fresh folder."""

import sys
from pathlib import Path

import pytest

from numerics.sweeps import sweep
from tests.swept_paper import SOURCE


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "swept"
    folder.mkdir()
    (folder / "__init__.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "swept", raising=False)
    sweep.program_digest.cache_clear()
    return folder
