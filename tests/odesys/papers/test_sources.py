"""Which files a program is made of: those of folders, and modules from elsewhere, by what is in them."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from odesys.papers import sources


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    yield
    sources.imported.cache_clear()


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    importlib.invalidate_caches()
    return folder


def test_all_files_of_a_folder_but_hidden_and_compiled_ones(tmp_path: Path) -> None:
    make(tmp_path, {name: "" for name in ("b/d.json", "a.py", ".hidden/a.py", ".b", "b/__pycache__/a.pyc")})
    assert [file.relative_to(tmp_path).as_posix() for file in sources.files_below(tmp_path)] == ["a.py", "b/d.json"]


def test_a_digest_is_of_names_and_contents_not_of_places(tmp_path: Path) -> None:
    one, other = (make(tmp_path / name, {"a.py": "1", "b.py": "2"}) for name in ("one", "other"))
    found = sources.digest({"a": one / "a.py", "b": one / "b.py"})
    assert found == sources.digest({"b": other / "b.py", "a": other / "a.py"})
    assert len({found, sources.digest({"b": one / "a.py", "a": one / "b.py"}), sources.digest({})}) == 3


def test_the_own_digest_is_of_engine_and_numerics() -> None:
    names = {root.name: len(sources.files_below(root)) for root in sources.OWN}
    assert set(names) == {"odesys", "numerics"} and all(count > 20 for count in names.values())
    assert sources.own_digest() == sources.own_digest()


FILES = {
    "paper/__init__.py": "import json, numpy, odesys\nfrom .a import x\nimport missing_module",
    "paper/a.py": "def f():\n    if x:\n        from one_shared import y\n    else:\n        import late_shared.deep",
    "paper/b.py": "import importlib\nimportlib.import_module('named_shared')\nfrom ... import far",
    "paper/broken.py": "import unused_shared; (",
    "one_shared.py": "try:\n    import two_shared\nexcept ImportError:\n    import random",
    "two_shared.py": "import one_shared; from names_only.inner import it",
    "late_shared/__init__.py": "from . import near",
    "late_shared/near.py": "",
    "late_shared/deep.py": "",
    "late_shared/unused.py": "",
    "named_shared.py": "",
    "names_only/inner.py": "",
    "unused_shared.py": "",
    "random.py": "shadows Python's own",
}


def test_what_is_imported_from_elsewhere_and_so_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, FILES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "random")
    found = sources.imported((tmp_path / "paper",))
    assert sorted(found) == [
        *("late_shared", "late_shared.deep", "late_shared.near", "named_shared", "names_only.inner"),
        *("one_shared", "random", "two_shared"),
    ]
    assert found["late_shared.near"] == tmp_path / "late_shared" / "near.py"
    assert not {"one_shared", "late_shared"} & set(sys.modules), "nothing is imported"
    assert sources.imported((tmp_path / "two_shared.py",)).keys() == {"one_shared", "random", "names_only.inner"}


def test_packages_above_a_folder_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"papers_of_mine/__init__.py": "", "papers_of_mine/one/__init__.py": "from ..common import x"}
    make(tmp_path, {**files, "papers_of_mine/common.py": "", "papers_of_mine/two/__init__.py": ""})
    monkeypatch.syspath_prepend(tmp_path)
    assert sources.package_of(tmp_path / "papers_of_mine" / "one") == ("papers_of_mine", "one")
    assert sources.package_of(tmp_path) == ()
    found = sources.imported((tmp_path / "papers_of_mine" / "one",))
    assert sorted(found) == ["papers_of_mine", "papers_of_mine.common"]


def test_loaded_modules_from_elsewhere_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"a.py": "", "paper/b.py": "", "derivations/c.py": "", "command": ""})
    before = sources.loaded(())
    for name, file in (
        ("made_a", "a.py"),
        ("made_b", "paper/b.py"),
        ("derivations.c", "derivations/c.py"),
        ("__main__", "command"),
        ("made_gone", "gone.py"),
    ):
        made = ModuleType(name)
        made.__file__ = str(tmp_path / file)
        monkeypatch.setitem(sys.modules, name, made)
    found = sources.loaded((tmp_path / "paper",))
    assert set(found) - set(before) == {"made_a"} and found["made_a"] == tmp_path / "a.py"
    places = [str(file) for file in found.values()]
    assert not any("site-packages" in place or place == json.__file__ for place in places)
    assert not any(name.partition(".")[0] in ("odesys", "numerics", "json", "numpy", "derivations.c") for name in found)
    assert {"made_a", "made_b"} <= set(sources.from_elsewhere(()))
