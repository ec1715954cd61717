"""What a wheel contains, and the version: written once."""

import functools
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings

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
    assert heads[0].startswith(f"## {odesys.__version__} (")
    dated = heads[1:] if heads[0].endswith("(unreleased)") else heads
    assert [h for h in dated if not h.rstrip(")").rsplit("(", 1)[-1].replace("-", "").isdigit()] == []


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


def test_what_users_are_told_to_run_is_in_the_wheel() -> None:
    """Checkers go to share/odesys; `odesys.check` finds them there."""
    named = PROJECT["tool"]["setuptools"]["data-files"]["share/odesys"]
    assert {p for glob in named for p in ROOT.glob(glob)} == set((ROOT / "tools").glob("check_*.py"))


def test_the_sources_for_distribution_can_run_their_tests() -> None:
    text = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for folder in ("tests", "tools", "benchmarks", "examples", "docs"):
        assert f"graft {folder}\n" in text and (ROOT / folder).is_dir()
    for file in ("CHANGELOG.md", "CONTRIBUTING.md", "Makefile"):
        assert file in text


def test_nobody_is_told_to_install_a_name_that_is_not_ours() -> None:
    """The name of this project on an index of packages may be somebody else's."""
    files = [p for folder in (*PACKAGES, "docs", "examples") for p in (ROOT / folder).rglob("*") if p.is_file()]
    texts = {
        p: p.read_text(encoding="utf-8") for p in (*files, ROOT / "README.md") if p.suffix in (".py", ".md", ".ipynb")
    }
    assert len(texts) > 300
    assert [str(p) for p, text in texts.items() if re.search(r"pip3? install[^\n`]*[ '\"]odesys", text)] == []


def versions(lines: list[str], sign: str) -> dict[str, tuple[int, ...]]:
    pairs = (line.split(sign) for line in lines)
    return {name.lower(): tuple(int(part) for part in re.findall(r"\d+", version)[:3]) for name, version in pairs}


def test_tested_versions_are_at_or_above_their_floors() -> None:
    tested = versions((ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines(), "==")
    project = PROJECT["project"]
    wanted = [
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
        *project["optional-dependencies"]["sweep"],
    ]
    floors = versions(wanted, ">=")
    assert [name for name, floor in floors.items() if name not in tested or tested[name] < floor] == []


def test_the_job_at_the_lower_bounds_has_every_floor() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "bounds.py"), "lowest"], capture_output=True, text=True, check=True
    )
    assert versions(done.stdout.split(), "==") == versions(PROJECT["project"]["dependencies"], ">=")


def test_no_example_has_a_deadline() -> None:
    """The first one compiles, and machines are busy; a test fails alone that passes in company."""
    assert settings.default is not None and settings.default.deadline is None
    files = [p for folder in ("tests", "benchmarks") for p in (ROOT / folder).rglob("*.py")]
    given = [d for p in files for d in re.findall(r"\bdeadline=(\w+)", p.read_text(encoding="utf-8"))]
    assert given and set(given) == {"None"}


@pytest.mark.nightly
def test_a_wheel_works_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """Built by setuptools from a copy; checkers run from it, and the commands beside folders with our names."""
    run = functools.partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, text=True)
    shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(".venv", ".git", "results", "_build"))
    run([sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", "wheels", "./copy"])
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    run([sys.executable, "-m", "venv", "env"])
    python = str(tmp_path / "env" / "bin" / "python")
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    # what odesys depends on comes from here; our own editable installation does not, as its .pth is not read again
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    run([python, "-m", "pip", "install", "--no-deps", "--force-reinstall", str(wheel)])
    shutil.rmtree(tmp_path / "copy")
    (tmp_path / "numerics").mkdir()
    (tmp_path / "numerics" / "__init__.py").touch()
    assert "two_mixture" in run([python, "-m", "odesys", "list"]).stdout
    assert (tmp_path / "env" / "share" / "odesys" / "check_enclosure.py").is_file()
