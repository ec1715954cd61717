"""The walk in CONTRIBUTING.md is what happens: its steps are run; rooms and their nouns are those it names."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TITLE = "## From a sample to its verdict"


def section(title: str) -> str:
    start = TEXT.index(title)
    return TEXT[start : TEXT.index("\n## ", start + 1)]


def test_the_walk_is_what_happens() -> None:
    walk = doctest.DocTestParser().get_doctest(section(TITLE), {}, "the walk", "CONTRIBUTING.md", 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert len(walk.examples) > 30 and runner.run(walk).failed == 0


def test_every_room_is_in_the_table() -> None:
    rooms = {
        path.parent.relative_to(ROOT).as_posix()
        for package in ("odesys", "numerics")
        for path in (ROOT / package).glob("*/__init__.py")
    }
    table = dict(
        re.findall(r"^\| `((?:odesys|numerics)/\w+)` \| .* \| (.*) \|$", section("## Layout"), flags=re.MULTILINE)
    )
    assert set(table) == rooms
    lost = [
        f"{room}/{file}"
        for room, files in table.items()
        for file in re.findall(r"`([\w.]+)`", files)
        if not (ROOT / room / file).exists()
    ]
    assert lost == []


def test_nouns_of_a_room_are_defined_in_it() -> None:
    """A docstring of a room names its main nouns in backticks."""
    lost = []
    for place in [*(ROOT / "odesys").glob("*/__init__.py"), *(ROOT / "numerics").glob("*/__init__.py")]:
        nouns = re.search(r"Nouns: (.*?)May import", place.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert nouns, place
        source = "".join(path.read_text(encoding="utf-8") for path in place.parent.glob("*.py"))
        lost += [
            f"{place.parent.name}: {noun}"
            for noun in re.findall(r"(?<!`)`(\w+)`", nouns[1])
            if not re.search(rf"^(class|def) {noun}\b", source, flags=re.MULTILINE)
        ]
    assert lost == []
