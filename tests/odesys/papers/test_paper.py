"""A paper of a package of the usual shape: everything is found under its name, and only when it is used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from odesys import Data, Words, gradient_descent, gradient_flow, maps, squared
from odesys.errors import ParameterError
from odesys.papers.claims import ClaimBook
from odesys.papers.paper import FigureSpec, Paper, Parameter, Setting, Simulation, _short
from odesys.terminal import silent
from odesys.verdicts import proved

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


LARGE, WHOLE = 1e60, 10**15


@pytest.mark.parametrize(
    ("fields", "inside", "outside", "wanted"),
    [
        ({}, ["-3", "0", "1e60", "-1e60", "1e-60"], [], "a number"),
        ({"low": 0}, ["0", "2"], ["-1e-9"], "a number of at least 0"),
        ({"low": 0, "open_low": True}, ["1e-9", "2"], ["0", "-1"], "a number above 0"),
        ({"high": 1}, ["1", "-5"], ["1.000001", "inf"], "a number and at most 1"),
        ({"low": -2, "high": 0.5}, ["-2", "0.5"], ["-2.1", "0.6", "nan"], "a number of at least -2 and at most 0.5"),
        ({"kind": int, "low": 1, "high": 3}, ["1", "3"], ["0", "4"], "a whole number of at least 1 and at most 3"),
    ],
)
def test_the_ends_of_a_range_belong_to_it_unless_it_is_open(
    fields: dict[str, object], inside: list[str], outside: list[str], wanted: str
) -> None:
    parameter = Parameter("rate", 0.5, "speed", **{"kind": float, **fields})
    assert [parameter.read(text) for text in inside] == [float(text) for text in inside]
    for text in outside:
        with pytest.raises(ParameterError, match=f"^rate = {text} is out of range: it must be {wanted}$"):
            parameter.read(text)
    with pytest.raises(ParameterError, match=f"^rate = 'much' can not be used: it must be {wanted}$"):
        parameter.read("much")


def test_what_is_no_finite_number_is_out_of_any_range() -> None:
    for text in ("inf", "-inf", "nan"):
        with pytest.raises(ParameterError, match=rf"^rate = {text} is out of range: it must be a number$"):
            Parameter("rate", 0.5, "speed").read(text)


def test_numbers_whose_powers_are_no_floating_point_numbers_are_refused() -> None:
    number, whole = Parameter("rate", 0.5, "speed"), Parameter("K", 5, "size", int)
    assert whole.read(str(WHOLE)) == WHOLE and whole.read(str(-WHOLE)) == -WHOLE
    for text in ("1.0001e60", "-1.0001e60"):
        with pytest.raises(ParameterError, match=r"is too large: it can be at most 1e\+60, so that its powers"):
            number.read(text)
    for text in (str(WHOLE + 1), str(-WHOLE - 1)):
        with pytest.raises(ParameterError, match=r"is too large: it can be at most 1,000,000,000,000,000$"):
            whole.read(text)
    assert number.read("-1e-60") == -1e-60
    with pytest.raises(ParameterError, match=r"^rate = '9{39}\.\.\. \(2002 characters\) can not be used: it must be"):
        Parameter("rate", 5, "size", int).read("9" * 1999 + "x")


def test_what_can_stay_open_is_read_as_a_word_only_where_that_is_asked_for() -> None:
    free, bound = Parameter("K", 5, "size", int, words=("symbol",)), Parameter("L", 5, "size", int)
    assert free.read("symbol", symbols=True) == "symbol" and free.read("7", symbols=True) == 7
    with pytest.raises(ParameterError, match="K = 'symbol' can not be used: a number is needed here, it must be a wh"):
        free.read("symbol")
    with pytest.raises(ParameterError, match=r"^L = 'symbol' can not be used: a symbol is not available for it$"):
        bound.read("symbol", symbols=True)
    with pytest.raises(ParameterError, match=r"^K = 'much' can not be used: it must be a whole number$"):
        free.read("much", symbols=True)
    paper = Paper("toy", "", "", (free, bound), {}, {}, {})
    assert paper.read_parameters({"K": "symbol"}, symbols=True) == {"K": "symbol", "L": 5}
    assert paper.read_parameters({"L": "2"}) == {"K": 5, "L": 2}
    with pytest.raises(ParameterError, match="a number is needed here"):
        paper.read_parameters({"K": "symbol"})
    with pytest.raises(ParameterError, match="toy has no parameter 'M'; it has K, L"):
        paper.read_parameters({"N": "2", "M": "2"})


def test_long_texts_are_cut_in_sentences() -> None:
    assert _short("a" * 60) == "a" * 60 and _short("a" * 61) == f"{'a' * 40}... (61 characters)"


def test_names_have_up_to_a_hundred_letters() -> None:
    assert Paper("a" * 100, "", "", (), {}, {}, {}).name == "a" * 100
    with pytest.raises(ParameterError, match=r"^'a{39}\.\.\. \(103 characters\) can not name a paper: use at most 100"):
        Paper("a" * 101, "", "", (), {}, {}, {})


def test_the_table_of_a_run_has_all_that_was_found() -> None:
    event = {"name": "T", "kind": "stage", "time": 1}
    run = Simulation("flow", {"K": 2}, {"loss": 0.5}, (event,), {"steps": 3}, 1e-9, {"t": [0]}, "it stopped")
    assert run.as_json("toy") == {
        "paper": "toy",
        "protocol": "flow",
        "parameters": {"K": 2},
        "final": {"loss": 0.5},
        "cost": {"steps": 3},
        "events": [event],
        "invariant_drift": 1e-9,
        "note": "it stopped",
        "descent": None,
    }
    assert replace(run, descent={"rate": 0.1}).as_json("toy")["descent"] == {"rate": 0.1}


def test_the_system_that_is_derived_is_the_one_named_the_quotient_or_the_first() -> None:
    def build(parameters: object) -> object:
        return parameters

    for systems, named, default in (
        (["full", "quotient"], "", "quotient"),
        (["full", "small"], "", "full"),
        (["full", "quotient"], "full", "full"),
        ([], "", ""),
    ):
        paper = Paper("toy", "", "", (), {name: build for name in systems}, {}, {}, default=named)
        assert paper.default == default
    assert paper.claims() == []


def test_a_protocol_is_told_how_to_show_progress_and_a_system_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol that is called without it shows a bar of its own; a copy of a paper fills defaults in once."""
    told: list[tuple[object, ...]] = []
    monkeypatch.setattr("odesys.papers.paper.progress_bar", nullcontext)  # gives the title in place of a bar
    parameters = (Parameter("K", 5, "size", int),)
    paper = Paper("toy", "", "", parameters, {"s": lambda *given: told.append(given)}, {"p": told_by(told)}, {})
    for copy in (paper, replace(paper, title="again")):
        told.clear()
        copy.systems["s"]({"K": 1})
        copy.protocols["p"]({"K": 2}, silent)
        copy.protocols["p"]()
        assert told[0] == ({"K": 1},) and told[1] == ({"K": 2}, silent)
        assert told[2] == ({"K": 5}, "toy, p")


def told_by(told: list[tuple[object, ...]]) -> Callable[..., None]:
    """A function that notes what it was given."""
    return lambda *given: told.append(given)


def test_a_package_says_what_its_systems_are_and_which_figures_take_files_of_the_users_own() -> None:
    fields = {"title": "T", "reference": "R", "parameters": ()}
    titles = {"1": "one", "law": "two"}
    named = Paper.of_package("papers.toy", {"full": "everything"}, ("p",), titles, own_data=("law",), **fields)
    assert named.name == "toy" and dict(named.meanings) == {"full": "everything"} and list(named.systems) == ["full"]
    assert {id: f.own_data for id, f in named.figures.items()} == {"1": False, "law": True}
    assert {id: (f.title, f.level) for id, f in named.figures.items()} == {
        "1": ("one", "quick"),
        "law": ("two", "quick"),
    }
    assert dict(Paper.of_package("toy", ("full",), (), {}, **fields).meanings) == {}
    assert not FigureSpec("one", lambda folder, progress: []).own_data


def test_ids_of_claims_are_those_of_the_book() -> None:
    book = ClaimBook("toy", laboratory=dict)
    for id in ("B", "A"):
        book.claim(id, "t", kind="identity", statement="s", reading="r")(lambda lab: proved())
    assert Paper("toy", "", "", (), {}, {}, {}, book=lambda: book).claims() == ["B", "A"]


def test_the_setting_of_a_derived_program_is_the_one_it_was_derived_from() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    data = Data(words, [("a", 1), ("b", 2)])
    start = Setting(lambda X: w @ X[0], data, loss=squared)
    assert start.train == () and not start.step and start.rule is None
    for step in (False, True):
        flow = (gradient_descent if step else gradient_flow)(start.model, data, start.loss)
        found = Setting.of(flow)
        assert (found.model, found.data, found.loss) == (start.model, data, squared)
        assert found.train == ("w",) and found.step is step and found.rule is flow.rule
