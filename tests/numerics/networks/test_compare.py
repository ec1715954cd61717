"""Comparisons that are interrupted: what is finished is kept, and the same command ends as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from numerics.networks.compare import MOST_TICKS, Comparison, WidthMeasure, compare_widths, over_widths
from numerics.pictures import plotting
from odesys.errors import ParameterError
from odesys.papers.new import create

ROOT = Path(__file__).resolve().parents[3]
SLOW = '''

def deviation(width, seed, omega):
    """As slow as a file says, and every call leaves a line."""
    import pathlib
    import time

    here = pathlib.Path(__file__).parents[1]
    with open(here / "log", "a") as log:
        log.write(f"{width} {seed}\\n")
    if (here / "slow").exists() and seed:
        time.sleep(600)
    return omega / (3 + width + seed)


def compare(widths, seeds, parameters, progress):
    measure = partial(deviation, omega=parameters["omega"])
    return compare_widths("distance", widths, seeds, parameters, measure, progress, workers=2)
'''


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
def test_an_interrupted_comparison_goes_on_where_it_was(tmp_path: Path) -> None:
    create(tmp_path / "slowcomparison")
    with open(tmp_path / "slowcomparison" / "compare.py", "a", encoding="utf-8") as file:
        file.write(SLOW)
    cache, log, slow = tmp_path / "cache", tmp_path / "log", tmp_path / "slow"
    cache.mkdir(mode=0o700)
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT), "ODESYS_CACHE": str(cache)}}
    line = [
        sys.executable,
        "-m",
        "odesys",
        "compare",
        "./slowcomparison",
        "--widths",
        "4,16,64",
        "--seeds",
        "2",
        "--out",
    ]

    def kept() -> int:
        return len(list(cache.glob("unfinished/*/*.json")))

    def trained(*more: str) -> int:
        log.write_text("")
        subprocess.run([*line, *more], check=True, capture_output=True, **options)
        return len(log.read_text().splitlines())

    slow.touch()
    process = subprocess.Popen(
        [*line, "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    while kept() < 2 and process.poll() is None:  # then both processes sleep
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to this process and its workers alike
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "odesys: 2 of 6 networks are kept; the same command goes on\nodesys: interrupted\n"
    assert list((tmp_path / "out").iterdir()) == []

    slow.unlink()
    assert trained("other", "--set", "omega=0.7") == 6 and kept() == 2, "another parameter is another task"
    assert trained("out") == 4, "finished networks are not trained again"
    assert list((cache / "unfinished").iterdir()) == [], "nothing is left behind"
    assert trained("whole") == 6
    for name in ("result.json", "deviation.svg", "deviation.png"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_comparison_made_from_what_it_measures() -> None:
    @over_widths
    def compare(widths: list[int], parameters: dict) -> WidthMeasure:
        """Documented."""
        if min(widths) < 2:
            raise ParameterError("too narrow")
        return WidthMeasure("distance", {"told": parameters["x"]}, lambda width, seed: parameters["x"] / width)

    found = compare([2, 4], 3, {"x": 1.0}, workers=1)
    assert found.what == "distance" and found.parameters == {"told": 1.0} and found.seeds == (0, 1, 2)
    assert {width: values.tolist() for width, values in found.deviations.items()} == {2: [0.5] * 3, 4: [0.25] * 3}
    assert found.exponent.value == pytest.approx(-1) and compare.__doc__ == "Documented."
    with pytest.raises(ParameterError, match="too narrow"):
        compare([1], 3, {"x": 1.0})


def test_rows_have_the_mean_its_interval_and_the_root_of_the_mean_square() -> None:
    (row,) = Comparison("error", {}, (0, 1), {4: np.array([3.0, 4.0])}).rows()
    assert row["rms"] == pytest.approx(12.5**0.5) and row["mean"] == 3.5
    assert row["high"] - row["mean"] == pytest.approx(12.706 * 0.5, rel=1e-4)


def test_the_axis_names_the_widths(tmp_path: Path) -> None:
    found = Comparison("error", {}, (0, 1), {m: np.array([1.0, 2.0]) / m for m in (16, 64, 256)})
    svg = next(file for file in found.plot(tmp_path) if file.suffix == ".svg").read_text("utf-8")
    assert all(f"<!-- {width} -->" in svg for width in (16, 64, 256)) and "3 \\times 10^{1}" not in svg


def test_one_seed_has_no_interval_and_one_width_no_exponent() -> None:
    found = Comparison("error", {"b": 1}, (0,), {4: np.array([3.0])}, "as told")
    (row,) = found.rows()
    assert row["mean"] == row["rms"] == 3.0 and row["width"] == 4
    assert np.isnan(row["low"]) and np.isnan(row["high"]) and found.exponent is None
    told = found.as_json("paper")
    assert told["exponent"] is None and told["paper"] == "paper" and told["explained"] == "as told"
    assert told["seeds"] == [0] and told["parameters"] == {"b": 1} and told["what"] == "error"
    pair = Comparison("error", {}, (0, 1), {4: np.array([3.0, 5.0]), 16: np.array([1.5, 2.5])})
    law = pair.exponent
    assert law is not None and law.value == pytest.approx(-0.5)
    assert pair.as_json("p")["exponent"] == {"value": law.value, "low": law.low, "high": law.high}
    first, second = pair.rows()
    margin = 12.7062047 * 1.0  # Student's for one degree of freedom; the standard error is sqrt(2) / sqrt(2)
    assert (first["low"], first["high"]) == (pytest.approx(4 - margin), pytest.approx(4 + margin))
    assert second["mean"] == 2.0 and pair.as_json("p")["deviation"] == [first, second]


def test_every_width_has_every_seed_once_and_in_order() -> None:
    calls: list[tuple[int, int]] = []
    seen: list[float] = []

    def measure(width: int, seed: int) -> float:
        calls.append((width, seed))
        return 10 * width + seed

    found = compare_widths("sum", [8, 4, 8], 2, {"a": 1}, measure, lambda name, part: seen.append(part), workers=1)
    assert sorted(calls) == [(4, 0), (4, 1), (8, 0), (8, 1)] and list(found.deviations) == [4, 8]
    assert {w: v.tolist() for w, v in found.deviations.items()} == {4: [40, 41], 8: [80, 81]}
    assert found.seeds == (0, 1) and found.explained == "" and seen == sorted(seen) and seen[-1] == 1
    for seeds in (0, -1):
        with pytest.raises(ParameterError, match=f"^{seeds} seeds give no statistics; use at least 1$"):
            compare_widths("sum", [4], seeds, {}, measure, lambda name, part: None, workers=1)
    assert len(compare_widths("sum", [4], 1, {}, measure, lambda name, part: None, workers=1).deviations[4]) == 1


def test_the_picture_has_a_dot_for_each_seed_and_a_line_only_where_there_is_a_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plotting, "save_figure", lambda fig, folder, name: drawn.append(fig) or [folder / name])
    widths = {m: np.array([1.0, 2.0, 4.0]) / m for m in (4, 16)}
    assert Comparison("error", {}, (0, 1, 2), widths).plot(tmp_path) == [tmp_path / "deviation"]
    (ax,) = drawn[0].axes
    dots = [line for line in ax.lines if line.get_marker() == "."]
    assert [line.get_xdata().tolist() for line in dots] == [[4.0] * 3, [16.0] * 3]
    assert [line.get_ydata().tolist() for line in dots] == [widths[4].tolist(), widths[16].tolist()]
    law = Comparison("error", {}, (0, 1, 2), widths).exponent
    (fit,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert law is not None and fit.get_ydata() == pytest.approx(law.prefactor * np.array([4.0, 16.0]) ** law.value)
    assert "\\pm" in fit.get_label() and ax.get_ylabel() == "error"
    (bars,) = ax.containers
    low, high = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()]).T
    rows = Comparison("error", {}, (0, 1, 2), widths).rows()
    assert low == pytest.approx([r["low"] for r in rows]) and high == pytest.approx([r["high"] for r in rows])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["4", "16"]
    many = {2**k: np.array([1.0, 2.0]) / 2**k for k in range(1, MOST_TICKS + 2)}
    Comparison("error", {}, (0, 1), many).plot(tmp_path)
    assert len(drawn[1].axes[0].get_xticks()) != len(many)
    Comparison("error", {}, (0, 1), {4: np.array([1.0, 2.0])}).plot(tmp_path)
    assert not [line for line in drawn[2].axes[0].lines if line.get_linestyle() == "--"]
    plt.close("all")
