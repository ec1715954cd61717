"""Explorers in a real browser: a page is written and opened, and its own integrator is asked for runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odesys import Explorer
from odesys.report.explorer import explorer_page
from tests.browser import CHROMIUM, DRIVER, Browser

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="needs chromium and chromedriver, e.g. the Debian packages chromium and chromium-driver",
)


def show(chromium: Browser, folder: Path, explorer: Explorer, **window: Any) -> None:
    """Open a page with nothing but this explorer."""
    file = folder / "explorer.html"
    file.write_text(explorer_page(explorer), encoding="utf-8")
    chromium.open(file, **window)


def solve(chromium: Browser, protocol: str, **values: float) -> dict[str, Any]:
    """A run by the page's own code: its end t, the state x there, its log, and what went wrong."""
    found: dict[str, Any] = chromium.execute_script(
        """const {t, x, log, problem, runs} = document.getElementById("explore").explorer.run(...arguments);
           return {t, x, log, problem, steps: runs.reduce((n, run) => n + run.steps.length, 0)};""",
        protocol,
        values,
    )
    return found


def times(found: dict[str, Any], kind: str) -> list[float]:
    """When events of a kind happened, in order; of slides, begin and end."""
    own = sorted((e for e in found["log"] if e["kind"] == kind), key=lambda e: e["time"])
    return [t for e in own for t in ((e["time"], e["end"]) if kind == "slide" else (e["time"],))]
