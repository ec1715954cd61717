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


def test_digits_that_a_tolerance_changes_are_not_shown() -> None:
    """G. Chen, T. Ueta, Int. J. Bifurcation Chaos 9 (1999) 1465: at t = 10 nothing of a start is left in doubles."""
    chen = System.from_strings({"x": "35*(y - x)", "y": "-7*x - x*z + 28*y", "z": "x*y - 3*z"})
    lines = [line for line in with_run(analyse(chen)).findings if line.section == "run"]
    assert "x not settled (two runs differ by" in lines[0].text and "digits" in lines[0].searched
    assert any(line.text.startswith("No sensitivities") for line in lines)
    early = [line.text for line in with_run(analyse(chen), 0.5).findings if line.section == "run"]
    assert "not settled" not in early[0]


def test_what_runs_do_not_tell_from_zero_is_zero() -> None:
    """B. B. Edelstein, J. Theor. Biol. 29 (1970) 57: x decays from 1 to less than any tolerance, and stays positive."""
    model = System.from_strings({"x": "x*(17/2 - x) - x*y", "y": "6/5*(30 - y) - x*y"})
    text = next(line.text for line in with_run(analyse(model)).findings if line.section == "run")
    assert "is x = 0, y = 29.9997" in text


def test_a_second_run_that_takes_many_more_steps_is_not_waited_for() -> None:
    """Rates of 1e17 around a start at which tight tolerances are out of reach: half a minute for one line."""
    moved = "*".join(f"(x - {k})" for k in range(1, 21)) + "-x^19/8388608"
    found = with_run(analyse(System.from_strings({"x": moved})))
    line = next(line for line in found.findings if line.section == "run")
    assert "digits were not compared" in line.searched
