"""The reports of all papers at level quick, as `make results` makes them: words, sizes and access in a real browser."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from odesys.papers import registry
from odesys.report.content import Request
from odesys.report.write import run_command
from tests.browser import CHROMIUM, DRIVER, browser

pytestmark = pytest.mark.nightly
FEWER = """  // of many claims that look alike some are enough
    const many = [".claims > .claim:nth-child(n+9)", ".change:nth-of-type(n+7)", "svg.graph a:nth-of-type(n+20)",
        "mtr:nth-child(n+4)"];
    document.querySelectorAll(many.join()).forEach((e) => e.remove());"""
AXE = """const done = arguments[0];
    axe.run(document, {resultTypes: ["violations"]}).then((r) => done(r.violations.map(
        (v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`)));"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All reports in one folder; what was computed before from the same sources is read."""
    folder = tmp_path_factory.mktemp("reports")
    papers = {paper.name: paper for paper in registry.all_papers()}
    assert run_command(papers, Request(), folder, "html", None, "odesys report")
    return folder


def test_no_value_is_printed_as_python_writes_it(reports: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for file in (*reports.glob("*.html"), *reports.glob("*/errata.md")):
        assert "{'" not in file.read_text("utf-8"), file
    for file in reports.glob("*/report.json"):
        assert "{'" not in json.dumps(json.loads(file.read_text("utf-8")), ensure_ascii=False), file


def test_real_pages_are_not_too_large(reports: Path) -> None:
    sizes = {file.stem: file.stat().st_size for file in reports.glob("*.html")}
    assert len(sizes) > 5 and max(sizes.values()) <= 1_500_000, sizes


@pytest.mark.skipif(not (DRIVER and CHROMIUM), reason="needs Chromium and chromedriver")
@pytest.mark.parametrize("dark", [False, True])
def test_real_pages_with_their_explorers(reports: Path, tmp_path: Path, dark: bool) -> None:
    source = (resources.files("axe_core_python") / "axe.min.js").read_text("utf-8")
    with browser(tmp_path) as chromium:
        chromium.set_script_timeout(110)
        for file in sorted(reports.glob("*.html")):
            chromium.open(file, 1400, 900, dark=dark)
            assert file.stem == "index" or chromium.execute_script('return !!document.querySelector(".explorer.live")')
            assert chromium.execute_script("return document.documentElement.scrollHeight") <= 10_000, file
            chromium.execute_script(source + "; window.axe = axe;")
            chromium.execute_script(FEWER)
            assert chromium.execute_async_script(AXE) == [] == chromium.console(), file
            chromium.open(file, 375, 800, dark=dark)
            assert chromium.execute_script("return document.documentElement.scrollWidth") == 375, file


@pytest.mark.skipif(not (DRIVER and CHROMIUM), reason="needs Chromium and chromedriver")
def test_real_pages_take_few_sheets(reports: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as chromium:
        for file in sorted(reports.glob("*.html")):
            chromium.on_paper(file)
            assert len(re.findall(rb"/Type\s*/Page[^s]", chromium.pdf())) <= 15, file
