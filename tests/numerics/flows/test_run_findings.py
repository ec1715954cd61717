"""Lines about a run."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.run_findings import _settled
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


@pytest.mark.parametrize(
    ("value", "gap", "size", "said"),
    [
        (0.123456789, 0.0, 1.0, "= 0.123457"),
        (0.123456789, 1e-8, 1.0, "= 0.123457"),
        (0.123456789, 1e-4, 1.0, "= 0.123"),
        (-0.123456789, 1e-4, 1.0, "= -0.123"),
        (0.123456789, 0.012, 1.0, "= 0.1"),
        (0.123456789, 0.013, 1.0, "not settled (two runs differ by 0.01)"),
        (0.123456789, 0.3, 1.0, "not settled (two runs differ by 0.3)"),
        (1e-9, 0.0, 1.0, "= 0"),
        (1.1e-9, 0.0, 1.0, "= 1.1e-09"),
        (0.0, 2e-9, 1.0, "not settled (two runs differ by 2e-09)"),
        (0.0, 1e-9, 1.0, "= 0"),
        (-2.5, 0.0, 1e9, "= -2.5"),
        (0.0, 0.0, 0.0, "= 0"),
    ],
)
def test_the_digits_that_two_runs_share(value: float, gap: float, size: float, said: str) -> None:
    assert _settled(value, gap, size) == said


def test_many_states_and_start_values_are_told_in_part() -> None:
    seven = {f"x{k}": f"-x{k}" for k in range(7)}
    first = lines(seven, {}, {"x0": 2})[0]
    start = "x0 = 2, x1 = 1, x2 = 1, x3 = 1, x4 = 1, x5 = 1, ..."
    ends = ", ".join(f"x{k} = {(2 if k == 0 else 1) * np.exp(-1):.6g}" for k in range(6))
    assert first.startswith(f"From {start} the state at t = 1 is {ends}, ... [measurement]")
    assert first.endswith("no start was given for x1, x2, x3, x4, x5, x6: 1 is taken")
    six = lines({f"x{k}": f"-x{k}" for k in range(6)}, {}, dict.fromkeys([f"x{k}" for k in range(6)], 1.0))[0]
    assert "..." not in six and six.endswith("[measurement] ")
    assert "No run was made: a, b have no number" in lines({"x": "-a*b*x"}, {}, {"x": 1})[0]


def test_the_largest_answers_are_told_first_and_those_of_zero_not_at_all() -> None:
    """x = x0 exp(-3 a), y = y0 + b: per cents are -3 a and 1 for x, and parts of the sum for y."""
    told = lines({"x": "-3*a*x", "y": "b"}, {"a": 1, "b": 2}, {"x": 1, "y": 6})[-1]
    assert told.startswith(
        "The end answers to one per cent of change: x by -3 per cent for a; x by +1 per cent for x(0); "
        "y by +0.75 per cent for y(0); y by +0.25 per cent for b [measurement] the largest of 8 relative derivatives"
    )
    still = lines({"x": "0"}, {}, {"x": 0})
    assert len(still) == 2 and still[1].startswith("No time scales: all eigenvalues of the Jacobian are zero")
    many = [line for line in lines({f"x{k}": f"-x{k}" for k in range(30)}, {}, {})]
    assert many[-1].count("per cent for") == 6 and "the largest of 600 relative derivatives" in many[-1]


def test_maps_are_not_run() -> None:
    x = System.from_strings({"x": "x/2"}, kind="map")
    found = analyse(x, {}, {"x": 1.0})
    assert [line for line in with_run(found, 1.0).findings if line.section == "run"] == []
    run = with_run(analyse(System.from_strings({"x": "-x"}), {}, {"x": 1.0}), 2.5)
    assert run.t_end == 2.5 and "the state at t = 2.5 is" in next(f for f in run.findings if f.section == "run").text
