"""Figures of the benign-overfitting paper: what must be visible is there, and the files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from derivations.benign_overfitting import PAPER
from derivations.benign_overfitting.figures import paper_figures
from derivations.benign_overfitting.figures.heat_map import Theory, heat_map
from odesys.terminal import silent

pytestmark = pytest.mark.nightly


def test_heat_map_follows_the_boundary() -> None:
    sizes = (2, 8, 14, 20)
    snrs, cases = paper_figures.heat_cases(sizes, 8)
    losses = heat_map(cases, Theory(paper_figures.EPS), workers=2)
    product = np.array(sizes)[:, None] * snrs[None, :] ** 2
    assert (losses[product < 600] > 0.2).all() and (losses[product > 1200] < 0.2).all()


@pytest.mark.parametrize(("key", "winner"), [("3", "s"), ("4", "2")])
def test_runs_of_appendix_a(key: str, winner: str, tmp_path: Path) -> None:
    files = PAPER.figures[key].draw(tmp_path, silent)
    assert [f.suffix for f in files] == [".png", ".svg"]
    run, loser = paper_figures.appendix_run(key), "2" if winner == "s" else "s"
    last = {name: values[-1] for name, values in run.table.items()}
    assert last[f"v_{winner}"] > last[f"v_{loser}"] and last[f"phi_s{winner}"] > 0.9
    _, theory = paper_figures.limit_columns(paper_figures.APPENDIX_A[key], paper_figures.APPENDIX_ETA, run.steps)
    assert abs(theory[f"v_{winner}"][-1] - last[f"v_{winner}"]) < 0.3
    for name in (f"S_s{winner}", f"S_2{winner}"):
        assert abs(theory[name][-1] - last[name]) < 0.4, name


def test_simulations_can_be_plotted(tmp_path: Path) -> None:
    run = PAPER.protocols["mean-field"](PAPER.read_parameters({}), silent)
    assert run.plot is not None and {f.name for f in run.plot(tmp_path)} == {"run.png", "run.svg"}
    assert run.invariant_drift is not None and run.invariant_drift < 1e-6
    small = PAPER.read_parameters({"d": "400", "d_h": "200", "eps": "0.2", "rate": "0.2", "tests": "200"})
    descent = PAPER.protocols["descent"](small, silent)
    assert descent.final["loss"] <= 0.2 and 0 < descent.final["test_loss"] < 0.5
    assert descent.final["test_loss_error"] > 0
