"""The command sweep: from grid to exponent, failing points, points tried again, lines that make no sense."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.swept_paper import GRID, odesys, refused


def test_a_sweep_from_grid_to_exponent(swept: Path) -> None:
    result = odesys(*GRID, "--out", "o", "--workers", 1, "--json", "o.json", "--plot", "z", "--plot", "loss")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(Path("o/sweep.csv").read_text().splitlines()))
    assert list(rows[0]) == ["x", "y", "wait", "z", "loss", "time_T", "cost_steps", "invariant_drift", "note", "error"]
    assert [(float(r["x"]), int(r["y"])) for r in rows] == [(x, y) for x in (0.5, 1, 2, 4, 8) for y in (1, 2, 3)]
    assert all(float(r["z"]) == 2 * float(r["x"]) ** 1.5 and float(r["time_T"]) == float(r["x"]) / 3 for r in rows)
    found = json.loads(Path("o.json").read_text())
    laws = {(law["observable"], law["over"], law["at"]["y"]): law for law in found["exponents"] if law["over"] == "x"}
    assert abs(laws["z", "x", 2]["value"] - 1.5) < 1e-12 and laws["z", "x", 2]["misfit"] < 1e-12
    assert laws["loss", "x", 1]["misfit"] > 0.05  # no power law, and it says so
    assert len(found["points"]) == 15 and found["failed"] == 0
    assert {"sweep.csv", "sweep.png", "sweep.sqlite", "sweep.svg"} == {f.name for f in Path("o").iterdir()}


def test_failing_points_are_rows(swept: Path) -> None:
    result = odesys("sweep", "./swept", "--over", "y=12,13,14,16", "--out", "o", "--workers", 1)
    assert result.exit_code == 0 and "2 of 4 points failed" in result.stdout
    errors = [row["error"] for row in csv.DictReader(Path("o/sweep.csv").read_text().splitlines())]
    assert errors == ["", "thirteen, is never reached", "ZeroDivisionError: a mistake of ours", ""]
    assert odesys("sweep", "./swept", "--over", "y=13,14", "--out", "p", "--workers", 1).exit_code == 1


def test_failed_points_can_be_tried_again(swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP_LOG", str(tmp_path / "log"))
    line = ("sweep", "./swept", "--over", "y=12,13", "--workers", 1, "--out", "o")
    for more, count in (((), 2), (("--resume",), 2), (("--resume", "--retry-failed"), 3)):
        assert odesys(*line, *more).exit_code == 0
        assert len((tmp_path / "log").read_text().splitlines()) == count


def test_lines_that_make_no_sense(swept: Path) -> None:
    for words, sentence in (
        ((), "at least one --over"),
        (("--over", "x=1,2", "--set", "x=3"), "x is given twice"),
        (("--over", "x=1,2", "--over", "x=3"), "x is given twice"),
        (("--over", "x=lin:1:2:200000", "--over", "y=1,2"), "400000 points, more than 200000"),
        (("--over", "x=1", "--dask", "a", "--workers", "2"), "--workers and --dask"),
        (("--over", "x=1", "--retry-failed"), "give --resume with it"),
        (("--over", "x=1", "--protocol", "q"), "no protocol"),
    ):
        assert sentence in refused("sweep", "./swept", *words, "--out", "o")
    assert "there is no observable 'q'" in odesys("sweep", "./swept", "--over", "x=1,2", "--plot", "q").stderr


def test_points_that_are_the_same_number_are_refused(swept: Path) -> None:
    for grid in ("lin:1:1.0000000000001:5", "log:1:1.0000000000001:5", "lin:2:2.00000000001:9"):
        assert "gives the same number twice" in refused("sweep", "./swept", "--over", f"x={grid}", "--out", "o")
    assert not Path("o").exists()
    assert odesys("sweep", "./swept", "--over", "y=lin:1:3:9", "--out", "o", "--workers", 1).exit_code == 0


def test_an_unknown_observable_is_refused_after_the_first_point(
    swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEP_LOG", str(tmp_path / "log"))
    line = ("sweep", "./swept", "--over", "y=13,1,2,3", "--out", "o", "--workers", 1)
    result = odesys(*line, "--plot", "q")
    assert result.exit_code == 2 and "there is no observable 'q' in this sweep" in result.stderr
    assert "2 of 4 points are kept in o" in result.stderr
    assert "there is no observable 'q'" in refused(*line, "--plot", "q", "--resume")
    assert len((tmp_path / "log").read_text().splitlines()) == 2  # the first point failed, so it has no observable
    assert odesys(*line, "--plot", "z", "--resume").exit_code == 0
    assert len(list(csv.DictReader(Path("o/sweep.csv").read_text().splitlines()))) == 4


def test_json_does_not_replace_what_a_sweep_writes(swept: Path) -> None:
    for name in ("sweep.png", "sweep.svg", "sweep.sqlite", "sweep.csv"):
        assert f"o/{name}" in refused(*GRID, "--out", "o", "--json", f"o/{name}")
    assert not Path("o").exists()
