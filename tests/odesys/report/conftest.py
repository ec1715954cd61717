"""A report of the paper that ``odesys new`` writes, made once, and pages of a small paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odesys.cli import commands
from odesys.papers import registry
from odesys.papers.new import create
from odesys.papers.paper import Paper
from odesys.report.content import Content, Request, gather
from tests.report_pages import toy


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the paper that ``odesys new`` writes."""
    made = tmp_path_factory.mktemp("papers")
    create(made / "reported")
    return made


@pytest.fixture(scope="session")
def report(folder: Path) -> Path:
    """The folder of its report."""
    out = folder / "pages"
    words = f"report {folder / 'reported'} --out {out} --workers 1 --widths 8,32 --seeds 2 --json {out / 'r.json'}"
    result = CliRunner().invoke(commands.app, words.split(), prog_name="odesys")
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def toy_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Content]:
    """What a report says about a small paper."""

    def make(paper: Paper | None = None, **request: Any) -> Content:
        monkeypatch.setattr(registry, "documentation", lambda name: "symbols: <x>")
        return gather("toy", paper or toy(), Request(**request), tmp_path, lambda text, fraction: None)

    return make
