"""The how-to pages: their Python blocks run in order, and what they say is printed is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "howto"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.stem == "notebooks":
        pytest.importorskip("IPython")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    scope: dict = {}
    blocks = re.findall(r"```python\n(.*?)```\n*([^`]*)((?:`[^`\n]+`)?(?: and `[^`\n]+`)?)", text, flags=re.DOTALL)
    assert blocks
    for block, lead, told in blocks:
        exec(compile(block, page.name, "exec"), scope)
        printed = capsys.readouterr().out.splitlines()
        if lead.strip() in ("prints", "ends with"):
            said = re.findall(r"`([^`]+)`", told)
            assert said == printed[len(printed) - len(said) :], block


def test_pages_say_what_is_printed() -> None:
    assert len(PAGES) >= 6
    assert sum(page.read_text(encoding="utf-8").count("\nprints `") for page in PAGES) >= 8
