"""Comparisons that are interrupted: what is finished is kept, and the same command ends as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from numerics.networks.compare import Comparison, WidthMeasure, over_widths
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
