"""Systems from files by their ending."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from odesys import files
from odesys.errors import EquationError
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.reading.reading import read_system


def test_json_of_our_own_and_of_people(tmp_path: Path) -> None:
    ours = System.from_strings({"x": "-k*x"})
    (tmp_path / "ours.json").write_text(ours.to_json(), encoding="utf-8")
    assert read_system(tmp_path / "ours.json").system.nodes == ours.nodes
    simple = {"equations": {"x": "-k*x"}, "parameters": {"k": 0.1}, "start": {"x": "1/3"}}
    (tmp_path / "simple.json").write_text(json.dumps(simple), encoding="utf-8")
    reading = read_system(tmp_path / "simple.json")
    assert reading.with_values.nodes == (-sym("x") / 10,) and reading.start == {"x": Fraction(1, 3)}


def test_xpp_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "decay.ode").write_text("x'=-x\n", encoding="utf-8")
    assert read_system(tmp_path / "decay.ode").system.names == ("x",)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.txt", "", "no ending"),
        ("a.json", "{", "not JSON"),
        ("a.json", '{"equations": {"x": 1}}', "a text for each"),
        ("a.json", '{"equations": {"x": "k*x"}, "parameters": {"k": "y"}}', "not a number"),
        ("a.json", '{"equations": {"x": "-x"}, "observables": [true]}', "a text for each name"),
        ("a.json", '{"equations": {"x": "-x"}, "observables": {"o": 1}}', "a text for each name"),
        ("a.json", '{"equations": {"x": "-x", "x": "x"}}', "'x' is there twice"),
        ("a.json", "[]", "does not hold a system"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(EquationError, match=said):
        read_system(tmp_path / name)
    with pytest.raises(EquationError, match="there is no file"):
        read_system(tmp_path / "missing.ode")


def test_a_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most a bounded part of it is read; the limit is lowered here, so that this is quick."""
    monkeypatch.setattr(files, "LARGEST_TEXT", 2**20)
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    with pytest.raises(EquationError, match="more than 1 MB"):
        read_system(tmp_path / "endless.json")
