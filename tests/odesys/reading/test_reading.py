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
from odesys.reading.reading import Reading, read_system, system_from_text


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"equations": 3}', '"equations" must give a text for each state'),
        ('{"equations": {"x": 1}}', '"equations" must give a text for each state'),
        ('{"equations": {"x": "-x"}, "start": [1]}', '"parameters" and "start" must give a number for each name'),
        ('{"equations": {"x": "-x"}, "parameters": 3}', '"parameters" and "start" must give a number for each name'),
        ('{"equations": {"x": "-x"}, "observables": ["e"]}', '"observables" must give a text for each name'),
        ('{"equations": {"x": "-x"}, "observables": {"e": 1}}', '"observables" must give a text for each name'),
        ('{"equations": {"x": "-x"}, "start": {"x": "y"}}', "x = y is not a number"),
        ('{"equations": {"x": "k"}, "parameters": {"k": "2*j"}}', "k = 2*j is not a number"),
        (
            '{"equations": {"x": "k*x"}, "parameters": {"m": 1}}',
            "the equations use k, which is neither a state nor one of the parameters m",
        ),
        ('{"other": 1}', 'this JSON does not hold a system: its "format" is not "odesys-system"'),
    ],
)
def test_the_sentence_says_what_the_text_must_give(text: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_text(text)
    assert str(caught.value) == said


def test_equations_are_lines_or_a_table_and_parameters_may_have_no_values() -> None:
    x, k = sym("x"), sym("k")
    for equations in (["x' = -k*x"], {"x": "-k*x"}):
        for given in (["k"], {}):
            read = system_from_text(json.dumps({"equations": equations, "parameters": given}))
            assert (
                read.system.nodes == (-k * x,) and read.values == {} == read.start and read.with_values is read.system
            )
    full = system_from_text(
        '{"equations": {"x": "x/2"}, "kind": "map", "observables": {"e": "x^2"}, "parameters": ["a"], '
        '"start": {"x": 0.1}}'
    )
    assert full.system.kind == "map" and dict(full.system.observables) == {"e": x**2}
    assert full.system.parameters == ("a",) and full.start == {"x": Fraction(1, 10)} and full.notes == ()
    assert system_from_text('{"equations": {"x": "-x"}, "observables": null}').system.nodes == (-x,)


def test_our_own_format_is_known_by_its_word_also_with_equations_in_it() -> None:
    ours = System.from_strings({"x": "-k*x", "y": "x"})
    text = ours.to_json()
    assert '"equations"' in text and '"format"' in text and system_from_text(text).system.nodes == ours.nodes


def test_endings_may_be_in_capitals_and_are_all_told_where_one_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "A.ODE").write_text("x' = -x\npar k=1", encoding="utf-8")
    assert read_system(tmp_path / "A.ODE").notes == ("the parameter k is not used",)
    with pytest.raises(EquationError) as caught:
        read_system(tmp_path / "a.txt")
    known = ".ant, .cellml, .json, .ode, .sbml, .xml"
    assert str(caught.value) == f"a.txt has no ending that can be read; known are {known}"
    (tmp_path / "b.ode").write_bytes(b"x' = -x # \xff")
    with pytest.raises(EquationError, match=r"b\.ode can not be read: .*utf-8"):
        read_system(tmp_path / "b.ode")


def test_values_are_put_in_for_parameters() -> None:
    system = System.from_strings({"x": "-k*x"})
    assert Reading(system).with_values is system
    assert Reading(system, {"k": Fraction(2)}).with_values.nodes == (-2 * sym("x"),)


def test_names_of_a_file_stay_apart_and_nothing_is_dropped_in_silence() -> None:
    for text in (
        '{"equations": {"x": "lambda*x - lambda_*x"}}',
        '{"equations": {"x": "-k*x"}, "parameters": {"k": 1, "lambda": 2, "lambda_": 3}}',
        '{"equations": {"lambda": "-x", "x": "1"}, "start": {"lambda": 1, "lambda_": 2}}',
    ):
        with pytest.raises(EquationError, match="the names lambda and lambda_ would both be lambda_"):
            system_from_text(text)
    odd = system_from_text('{"equations": {"x": "-k*x"}, "parameter": {"k": 2}, "start": {"z": 1}, "source": "a book"}')
    assert odd.notes == (
        "the start of z is not used: it has no equation",
        "left out, it is no part of a system: parameter",
    )
    greek = system_from_text('{"equations": {"λ": "-λ*pi"}, "parameters": {"pi": 2}, "start": {"λ": 1}}')
    assert greek.start == {"lambda_": 1} and greek.with_values.nodes == (-2 * sym("lambda_"),)
