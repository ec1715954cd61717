"""Systems from the literature through `analyse`: every file is read, and what is said passes independent checks.

XPPAUT runs as a batch, and is the oracle for files of its own language, for exported ones, and for equilibria that are
called stable. AUTO is the oracle in `test_literature_auto.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from odesys import Analysis, System, integrate
from odesys.cli.analyse import analysed, write_analysis
from odesys.errors import EquationError
from odesys.reading.reading import read_system
from odesys.reading.writing import ode_text
from tests.literature_checks import FILES, drifts, missing_equilibria, wrong_equilibria, wrong_families

QUICK = ("allee", "brusselator", "dry_friction", "lorenz", "michaelis_menten", "nagumo", "lotka_reactions", "thomas")
XPPAUT = shutil.which("xppaut")
IDS = [path.stem for path in FILES]


def read_or_skip(path: Path) -> Analysis:
    if path.suffix in (".ant", ".sbml"):
        pytest.importorskip("libsbml", reason="the extra import is not installed")
        pytest.importorskip("antimony", reason="the extra import is not installed")
    return analysed(path, [], {}, [], 0)


def assert_true(found: Analysis) -> None:
    assert wrong_equilibria(found) == [] and wrong_families(found) == []
    assert missing_equilibria(found) == [] and drifts(found) == []


def test_there_are_forty_in_five_formats_with_their_sources() -> None:
    assert len(FILES) >= 40 and {path.suffix for path in FILES} == {".json", ".ode", ".ant", ".sbml", ".cellml"}
    for path in FILES:
        head = path.read_text(encoding="utf-8")[:700]
        assert any(str(year) in head for year in range(1650, 2001)), f"{path.name} does not say where it is from"


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in QUICK], ids=lambda path: path.stem)
def test_what_is_said_is_true(path: Path) -> None:
    assert_true(read_or_skip(path))


@pytest.mark.nightly
@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_every_page_is_true_and_made_in_a_minute(path: Path, tmp_path: Path) -> None:
    began = time.process_time()
    found = read_or_skip(path)
    write_analysis(found, tmp_path, path.stem)
    assert time.process_time() - began < 60
    assert_true(found)


def run_xppaut(
    system: System, values: dict[str, float], start: dict[str, float], end: float, folder: Path
) -> list[float]:
    """The end of a run of XPPAUT by Cash and Karp's method, or by fixed steps where a state at zero stops that."""
    for method in (f"meth=qualrk, tol=1e-10, dt={end / 1000!r}", f"meth=runge, dt={end / 20000!r}"):
        options = f"@ total={end!r}, {method}, maxstor=2000000, bounds=1e12\ndone\n"
        (folder / "run.ode").write_text(ode_text(system, values, start).replace("done\n", options))
        subprocess.run([str(XPPAUT), "run.ode", "-silent"], cwd=folder, check=True, capture_output=True, timeout=120)
        last = [float(word) for word in (folder / "output.dat").read_text().split("\n")[-2].split()]
        if last[0] > 0.999 * end:
            break
    assert last[0] > 0.999 * end, "XPPAUT did not come to the end"
    return last[1 : 1 + system.dimension]


@pytest.mark.nightly
@pytest.mark.skipif(XPPAUT is None, reason="xppaut is not installed (Debian: apt-get install xppaut)")
@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_xppaut_runs_to_the_same_end(path: Path, tmp_path: Path) -> None:
    if path.suffix in (".ant", ".sbml"):
        pytest.importorskip("libsbml", reason="the extra import is not installed")
    reading = read_system(path)
    values = {name: float(v) for name, v in reading.values.items()}
    start = {name: float(reading.start.get(name, 1)) for name in reading.system.names}
    end = 0.5 if reading.system.dimension > 4 else 2.0
    try:
        theirs = run_xppaut(reading.system, values, start, end, tmp_path)
    except EquationError as problem:
        pytest.skip(f"XPPAUT has no such names: {problem}")
    method = "Radau" if path.stem in ("robertson", "hires", "oregonator", "hodgkin_huxley") else "DOP853"
    ours = integrate(reading.system, start, (0.0, end), values, method=method).end_state
    assert theirs == pytest.approx(ours.tolist(), rel=2e-5, abs=1e-6)


@pytest.mark.nightly
@pytest.mark.skipif(XPPAUT is None, reason="xppaut is not installed (Debian: apt-get install xppaut)")
@pytest.mark.parametrize("name", ["toggle_switch", "duffing", "chemostat", "seir", "allee", "morris_lecar"])
def test_xppaut_comes_back_to_what_is_called_stable(name: str, tmp_path: Path) -> None:
    found = read_or_skip(next(path for path in FILES if path.stem == name))
    values = {n: float(v) for n, v in found.values.items()}
    stable = [p for p, t in zip(found.rests or (), found.types, strict=True) if t.stability == "asymptotically stable"]
    assert stable
    for point in stable:
        place = {n: float(v) for n, v in point.point.items()}
        begin = {n: v + 1e-3 * max(1.0, abs(v)) for n, v in place.items()}
        end = run_xppaut(found.system, values, begin, 1000.0, tmp_path)
        assert np.abs(np.array(end) - np.array(list(place.values()))).max() < 1e-4 * max(1.0, *map(abs, place.values()))
