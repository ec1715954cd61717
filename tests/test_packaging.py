"""What a wheel contains, and the version: written once."""

import re
import tomllib
from pathlib import Path

import pytest

import odesys

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("odesys", "numerics", "derivations")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_beside_the_modules_is_package_data(package: str) -> None:
    """Templates, style sheets, stubs: a wheel contains only what pyproject.toml names."""
    folder = ROOT / package
    files = {p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    named = {p for glob in PROJECT["tool"]["setuptools"]["package-data"][package] for p in folder.glob(glob)}
    assert files and sorted(str(p.relative_to(ROOT)) for p in files - named) == []


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {p.parent for package in PACKAGES for p in (ROOT / package).rglob("*.py")}
    assert len(folders) > 20 and [str(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_version_is_written_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"] and "version" not in PROJECT["project"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "odesys.__version__"}


def test_changelog_begins_with_this_version_and_dates_every_one() -> None:
    heads = [
        line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    ]
    if heads[0].endswith("(unreleased)"):  # what comes next may stand on top
        heads = heads[1:]
    assert heads[0].startswith(f"## {odesys.__version__} (")
    assert [h for h in heads if not h.rstrip(")").rsplit("(", 1)[-1].replace("-", "").isdigit()] == []


def test_the_table_of_moved_modules_is_true() -> None:
    """What a module is called now can be found under that name."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  \| (`.*?) \| (`.*?) \|$", text[: text.index("## 0.1.0")], flags=re.MULTILINE)
    lost = []
    for before, now in rows:
        room = re.match(r"`([\w/]+)/`, same names", now)
        names = (
            before.split("` ", 1)[1].split(", ")
            if room
            else [n.replace(".", "/") for n in re.findall(r"`([\w.]+)`", now)]
        )
        places = [ROOT / room[1] / name if room else ROOT / name for name in names if room or "/" in name]
        lost += [str(p) for p in places if not (p.is_dir() or p.with_suffix(".py").exists())]
    assert len(rows) > 30 and lost == []
