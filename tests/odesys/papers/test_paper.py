"""A paper of a package of the usual shape: everything is found under its name, and only when it is used."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from odesys.errors import ParameterError
from odesys.papers.paper import FigureSpec, Paper, Parameter, Simulation
from odesys.terminal import silent

FILES = {
    "__init__": "",
    "dynamics": "def named_system(name, parameters):\n    return name, parameters['K']\n",
    "protocol": "def mean_field(parameters, progress):\n    return 'run'\n",
    "figures": "def figure_1(folder, progress):\n    return [folder / 'one']\n",
    "compare": "def compare(widths, seeds, parameters, progress):\n    return widths\n",
    "claims": "book = ['claim']\n",
}


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    folder = tmp_path / "shaped_paper"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield Paper.of_package(
        "shaped_paper",
        ("full", "quotient"),
        ("mean-field",),
        {"1": "one", "law": "missing"},
        long=("law",),
        proof=lambda book, folder, progress: [folder / book[0]],
        title="T",
        reference="R",
        parameters=(Parameter("K", 5, "size", int),),
        seeds=3,
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "shaped_paper"]:
        del sys.modules[name]


def test_nothing_is_imported_before_it_is_used(paper: Paper) -> None:
    assert (paper.name, paper.title, paper.reference, paper.seeds) == ("shaped_paper", "T", "R", 3)
    assert list(paper.systems) == ["full", "quotient"] and list(paper.protocols) == ["mean-field"]
    assert "shaped_paper" not in sys.modules


def test_its_name_in_a_notebook_is_short(paper: Paper) -> None:
    assert repr(paper) == "<Paper shaped_paper: T; systems full, quotient>"
    assert "shaped_paper.claims" not in sys.modules
    assert len(repr(replace(paper, title="a long title " * 40))) <= 300


def test_everything_is_found_under_its_name(paper: Paper, tmp_path: Path) -> None:
    assert paper.systems["quotient"]({"K": 2}) == ("quotient", 2)
    assert paper.protocols["mean-field"]({}, silent) == paper.protocols["mean-field"]() == "run"
    assert paper.figures["1"].draw(tmp_path, silent) == [tmp_path / "one"]
    assert paper.compare([64], 2, {}, silent) == [64] and paper.book() == ["claim"]
    with pytest.raises(AttributeError, match="figure_law"):
        paper.figures["law"].draw(tmp_path, silent)


def test_defaults_are_filled_in_and_other_names_are_refused(paper: Paper) -> None:
    assert paper.systems["full"]() == paper.systems["full"]({}) == ("full", 5)
    copy = replace(paper, parameters=(Parameter("K", 7, "size", int), Parameter("L", 3, "more", int)))
    assert copy.systems["full"]({"L": 4}) == ("full", 7) and paper.default == "quotient"
    with pytest.raises(ParameterError, match="shaped_paper has no parameter 'k'; it has K"):
        paper.systems["quotient"]({"k": 2})


def test_long_figures_are_of_level_full_and_the_proof_graph_is_of_no_report(paper: Paper, tmp_path: Path) -> None:
    assert {key: figure.level for key, figure in paper.figures.items()} == {
        "1": "quick",
        "law": "full",
        "proof": "never",
    }
    assert paper.figures["proof"].draw(tmp_path, silent) == [tmp_path / "claim"]


def test_a_parameter_that_is_a_word_takes_the_words_it_knows() -> None:
    filling = Parameter("filling", "even", "how", str, words=("even", "random"))
    assert filling.read("random") == "random" and filling.read("even", symbols=True) == "even"
    with pytest.raises(ParameterError, match="filling = 'odd' can not be used: choose even or random"):
        filling.read("odd")


def test_a_text_is_read_as_a_number_of_its_kind() -> None:
    assert Parameter("rate", 0.1, "speed", float).read("0.05") == 0.05
    size = Parameter("K", 5, "size", int).read("7")
    assert size == 7 and isinstance(size, int)


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "a\0b", "/etc", "a" * 300, "C:\\x"])
def test_names_that_could_leave_a_folder_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="can not name a paper"):
        Paper(name, "", "", (), {}, {}, {})
    with pytest.raises(ParameterError, match="can not name a system"):
        Paper("toy", "", "", (), {name: lambda parameters: None}, {}, {})
    with pytest.raises(ParameterError, match="can not name a figure"):
        Paper("toy", "", "", (), {}, {}, {name: FigureSpec("", lambda folder, progress: [])})


def test_what_is_out_of_range_is_told_the_ends_there_are() -> None:
    for ends, said in (({"high": 1}, "a number and at most 1"), ({"low": 0, "open_low": True}, "a number above 0")):
        with pytest.raises(ParameterError, match=f"it must be {said}$"):
            Parameter("rate", 0.5, "speed", float, **ends).read("2" if "high" in ends else "0")


@pytest.mark.parametrize("text", ["5e-324", "1e-300", "-9e-61"])
def test_numbers_whose_powers_are_zero_are_refused(text: str) -> None:
    """Something is divided by them, or by their square."""
    with pytest.raises(ParameterError, match=r"rate = .* is too small: it can be at least 1e-60"):
        Parameter("rate", 0.5, "speed").read(text)
    assert Parameter("rate", 0.5, "speed").read("0") == 0 and Parameter("rate", 0.5, "speed").read("1e-60") == 1e-60


def test_events_of_a_run_are_in_the_order_of_their_times() -> None:
    events = tuple(
        {"name": name, "kind": "stage", "time": time} for name, time in (("T1", 2.0), ("T2", 0.5), ("T3", 2.0))
    )
    run = Simulation("flow", {}, {}, events, {}, None, {})
    assert [event["name"] for event in run.events] == ["T2", "T1", "T3"] and run.as_json("toy")["events"][0][
        "time"
    ] == 0.5
