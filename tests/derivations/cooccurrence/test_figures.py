"""Figures of the co-occurrence paper: what must be visible is there, and the files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from derivations.cooccurrence import PAPER, setting
from derivations.cooccurrence.figures import paper_figures
from derivations.cooccurrence.laboratory import Laboratory
from derivations.cooccurrence.special.trajectories import course
from odesys.terminal import silent

pytestmark = pytest.mark.slow


def test_experiment_of_figure_1() -> None:
    run = paper_figures.experiment(300)
    theory = run["theory"]
    assert np.abs(theory.margins - run["margins"]).max() < 1e-8, "the recursion is exact"
    assert np.abs(theory.tables["KQ"][:, :3, :3] - run["scores"]).max() < 1e-10
    losses = paper_figures.class_losses(run["margins"], run["classes"])
    assert losses[1][1] < losses[1][0], "both targets: falls at once"
    assert losses[2][1] > losses[2][0] and losses[3][1] > losses[3][0], "one target: rises first"
    assert all(loss[-1] < 0.1 for loss in losses.values())
    assert 0 < paper_figures.phase_boundary(run["margins"]) < len(run["margins"]) - 1
    change = run["scores"][-1] - run["scores"][0]
    assert change[1, 0] > 0 < change[0, 1] and change[2, 0] < 0 > change[2, 1]


def test_figure_1_is_on_the_default_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PAPER.figures["1"].level == "quick" and PAPER.figures["1full"].level == "full"
    monkeypatch.setattr(paper_figures, "SHORT", 300)
    files = PAPER.figures["1"].draw(tmp_path, silent)
    assert [f.name for f in files] == ["fig1.png", "fig1.svg"]


def test_clean_figure_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure 1 with a narrow network, which is drawn in the same way."""
    monkeypatch.setattr(paper_figures, "P1", setting.condition_one(5, 64, 16, 0.1))
    for key in ("1clean", "balance", "portrait", "finite_n"):
        files = PAPER.figures[key].draw(tmp_path, silent)
        assert [f.suffix for f in files] == [".png", ".svg"] and all(f.stat().st_size > 5_000 for f in files)


@pytest.mark.nightly
def test_the_network_of_the_clean_figure_is_close_to_the_limit() -> None:
    net = course(Laboratory(), 60, 5, paper_figures.P1, 5, paper_figures.TAUS)
    early, late = net.taus < 20, net.taus > 20
    scores = net.tables["KQ"][:, 1, 0] - net.tables["KQ"][0, 1, 0]
    assert np.abs(scores[early]).max() < 0.05 * scores[-1] and (np.diff(scores[late]) > 0).all()
    assert net.G[-1, :3] == pytest.approx([7.75, 7.73, -9.74], abs=0.1), "close to the limit, whatever the seed"


def test_run_plot(tmp_path: Path) -> None:
    for protocol in ("planar", "mean-field"):
        parameters = PAPER.read_parameters({"n": "12", "tau_end": "50"})
        run = PAPER.protocols[protocol](parameters, silent)
        assert run.plot is not None and {f.name for f in run.plot(tmp_path)} == {"run.png", "run.svg"}
