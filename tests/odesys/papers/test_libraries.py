"""Libraries of a key: what the sources use and what that requires; to install something else changes nothing."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from odesys.papers import libraries as room
from odesys.papers.libraries import libraries


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "model.py"
    file.write_text("import math\nfrom one.part import f\n\ndef g():\n    import missing\n")
    return file


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, list[str]]]:
    """Versions and requirements of distributions that are there; `one` is brought by `One.Dist`."""
    there = {
        "odesys": ("1", ["base>=2", 'checks; extra == "dev"']),
        "base": ("2.1", ["below"]),
        "below": ("3", []),
        "One.Dist": ("4", ["below!=2"]),
        "other": ("5", []),
        "checks": ("6", []),
    }

    def version(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name][0]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda name: there[name][1])
    monkeypatch.setattr(room, "_modules", lambda: {"one": ["One.Dist"]})
    return there


def test_what_is_used_counts_with_what_it_requires(source: Path, installed: dict[str, tuple[str, list[str]]]) -> None:
    assert libraries([source]) == ["base 2.1", "below 3", "one-dist 4"]
    before = libraries([source])
    installed["other"] = ("5.1", [])
    installed["another"] = ("1", [])
    assert libraries([source]) == before  # no file uses it
    installed["below"] = ("3.1", [])
    assert libraries([source]) != before


def test_the_real_ones_are_there_and_tools_are_not() -> None:
    names = {line.split()[0] for line in libraries([])}
    assert {"sympy", "numpy", "scipy", "python-flint", "llvmlite", "mpmath"} <= names
    assert not names & {"odesys", "pytest", "ruff", "selenium", "sphinx", "pandas", "ipython"}
