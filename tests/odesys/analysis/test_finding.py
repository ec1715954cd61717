"""A line says the same as text and as JSON."""

from __future__ import annotations

from odesys import System
from odesys import analyse as findings


def test_text_and_json_say_the_same() -> None:
    found = findings(System.from_strings({"x": "y", "y": "-x"}), notes=("a plot command",))
    assert all(line.text in str(found) for line in found.findings) and "a plot command" in str(found)
    table = found.as_json()
    assert [line["text"] for line in table["findings"]] == [line.text for line in found.findings]
    assert table["sentence"] == found.sentence and table["notes"] == ["a plot command"]
