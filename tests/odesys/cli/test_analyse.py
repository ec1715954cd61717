"""The command analyse: files, equations, numbers, refusals."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from odesys import System
from odesys.cli.analyse import EXPORTS, FILES, _box, analysed, write_analysis
from odesys.errors import EquationError, OdesysError, ParameterError

SPRING = ["x' = v", "v' = -k*x"]


def test_equations_with_numbers() -> None:
    found = analysed(None, SPRING, {"k": "8/2"}, [], 0)
    assert found.values == {"k": 4} and "x**2" in str(found)


def test_a_file_and_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "spring.ode"
    file.write_text("x' = v\nv' = -k*x\npar k=4\ninit x=1\n@ total=20\ndone\n")
    found = analysed(file, [], {}, [], 0)
    assert found.start == {"x": 1, "v": 0} and found.values == {"k": 4}
    written = write_analysis(found, tmp_path)
    assert [path.name for path in written] == [*FILES, *EXPORTS]
    assert "is conserved" in (tmp_path / "page.html").read_text("utf-8")
    assert json.loads((tmp_path / "system.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((None, [], {}, []), ParameterError, "give a file, or equations"),
        ((Path("a.ode"), SPRING, {}, []), ParameterError, "not both"),
        ((None, SPRING, {"q": "1"}, []), ParameterError, "q is neither a parameter nor a state"),
        ((None, SPRING, {"k": "one"}, []), ParameterError, "k = 'one' is not a number"),
        ((None, SPRING, {"k": "1/0"}, []), ParameterError, "is not a number"),
        ((None, SPRING, {}, ["x=1"]), ParameterError, "no range of a state"),
        ((None, ["x = 1"], {}, []), EquationError, "no equation"),
        ((Path("missing.ode"), [], {}, []), EquationError, "there is no file missing.ode"),
        ((None, SPRING, {}, ["x=5:1"]), ParameterError, "is empty; write --box x=1:5"),
        ((Path("model.xyz"), [], {}, []), EquationError, "no ending that can be read"),
    ],
)
def test_mistakes_get_a_sentence(arguments: tuple, error: type[OdesysError], words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(error, match=words):
        analysed(*arguments, 0)


def test_what_can_not_be_drawn_or_exported_is_said(tmp_path: Path) -> None:
    found = analysed(None, ["x' = y", "y' = z", "z' = -atanh(x)"], {"x": "1/2", "y": "0", "z": "0"}, [], 0)
    names = {path.name: path for path in write_analysis(found, tmp_path)}
    assert "a phase portrait: it is drawn for two states, and there are 3" in names["page.html"].read_text()
    assert "system.ode: the function arctanh has no name" in names["not_exported.txt"].read_text()
    assert names["findings.csv"].read_text().startswith("section,text,evidence")


def test_numbers_beyond_floats_cost_the_page_only(tmp_path: Path) -> None:
    found = analysed(None, [f"x' = {'9' * 400}*x"], {}, [], 0)
    with pytest.raises(OdesysError, match="beyond floating-point numbers"):
        write_analysis(found, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {*FILES[1:], *EXPORTS}


def test_a_map_has_a_page_of_its_own_words(tmp_path: Path) -> None:
    """A page runs flows; the findings about a map are shown without a run."""
    file = tmp_path / "map.ode"
    file.write_text("x(t+1) = a*x*(1-x)\npar a=3.2\ndone\n")
    found = analysed(file, (), {}, (), 0)
    page, *_ = write_analysis(found, tmp_path / "out")
    text = page.read_text()
    assert "Fixed points" in text and "quilibri" not in text and "<script>" not in text and "script-src 'none'" in text


def test_a_file_says_how_long_its_run_is(tmp_path: Path) -> None:
    file = tmp_path / "decay.ode"
    file.write_text("x' = -k*x\npar k=1\ninit x=1\n@ total=40\ndone\n")
    found = analysed(file, (), {}, (), 0)
    assert "the state at t = 40 is" in str(found) and found.t_end == 40
    page, *_ = write_analysis(found, tmp_path / "out")
    other = write_analysis(replace(found, t_end=10.0), tmp_path / "ten")[0]
    assert slider("t_end", page) == 40 and slider("t_end", other) == 10


def slider(name: str, page: Path) -> float:
    """Where a slider of a page stands at first."""
    found = re.search(rf'name:"{name}",value:([0-9.]+)', page.read_text("utf-8"))
    assert found
    return float(found[1])


def test_numbers_go_to_parameters_and_starts_and_ranges_to_states() -> None:
    found = analysed(None, SPRING, {"k": "4", "x": "1/2", "v": "1e-1"}, ["x=-1:1", "v=0:0"], 0)
    assert (found.values, found.start) == ({"k": 4}, {"x": Fraction(1, 2), "v": Fraction(1, 10)})
    assert "-1" in str(found) and found.t_end is not None
    system = found.system
    assert _box(["x=-1:3/2", "v=2:2"], system) == {"x": (-1, Fraction(3, 2)), "v": (2, 2)} and _box([], system) is None
    for text in ("x", "x=1", "x:1", "q=1:2", "=1:2", "k=1:2"):
        with pytest.raises(ParameterError, match="is no range of a state; write --box x=-5:5"):
            _box([text], system)
    with pytest.raises(ParameterError) as refused:
        analysed(None, SPRING, {"q": "1"}, [], 0)
    assert str(refused.value) == "q is neither a parameter nor a state of the system, which has k, x, v"


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    found = analysed(None, SPRING, {"k": "4", "x": "1", "v": "0"}, [], 0)
    write_analysis(found, tmp_path, "A spring")
    assert (tmp_path / "analysis.txt").read_text() == f"{found}\n"
    assert (tmp_path / "equations.tex").read_text() == f"{found.system.latex()}\n"
    assert System.from_json((tmp_path / "system.json").read_text()).equations == found.system.equations
    rows = list(csv.DictReader((tmp_path / "findings.csv").read_text().splitlines()))
    assert rows == [{key: str(value) for key, value in line.as_json().items()} for line in found.findings]
    assert "A spring" in (tmp_path / "page.html").read_text("utf-8") and not (tmp_path / "not_exported.txt").exists()
    again = analysed(tmp_path / "system.ode", [], {}, [], 0)
    assert (again.system.equations, again.values, again.start) == (found.system.equations, found.values, found.start)
