"""Lines about a run."""

from __future__ import annotations

from odesys import System, analyse, with_run


def lines(equations: dict[str, str], values: dict[str, float], start: dict[str, float]) -> list[str]:
    found = with_run(analyse(System.from_strings(equations), values, start), 1.0)
    return [f"{line.text} [{line.evidence}] {line.searched}" for line in found.findings if line.section == "run"]


def test_a_run_with_its_times_and_answers() -> None:
    end, scales, answers = lines({"x": "-k*x"}, {"k": 2}, {"x": 3})
    assert end.startswith("From x = 3 the state at t = 1 is x = 0.406006 [measurement]")
    assert scales.startswith("Its parts move in times between 0.5 and 0.5, a ratio of 1 ")
    assert "x by -2 per cent for k; x by +1 per cent for x(0)" in answers


def test_what_was_not_given_is_said() -> None:
    assert "No run was made: k has no number [undecided]" in lines({"x": "-k*x"}, {}, {})[0]
    assert "no start was given for x: 1 is taken" in lines({"x": "-x"}, {}, {})[0]


def test_a_run_that_stops_and_one_that_switches() -> None:
    assert lines({"x": "x^2"}, {}, {"x": 2})[0].startswith("The run stops: ")
    switched = lines({"x": "1 + step(x)"}, {}, {"x": -0.5})
    assert any("Switches and slides on the way: 1" in line for line in switched)
    assert any("No sensitivities" in line for line in switched)
