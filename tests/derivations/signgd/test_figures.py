"""Figures of the sign-descent paper: what must be visible is measured, and the files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from derivations.signgd import FIGURES, PAPER, figures
from derivations.signgd.figures import optimisers, paper_figures, power_laws
from derivations.signgd.figures.panels import plot_run
from derivations.signgd.special import stages
from derivations.signgd.special.network import Optimiser
from odesys.terminal import silent

pytestmark = pytest.mark.nightly


def test_every_figure_has_a_function() -> None:
    assert set(PAPER.figures) == {*FIGURES, "proof"}
    assert all(callable(getattr(figures, f"figure_{key}")) for key in FIGURES)


@pytest.mark.parametrize("key", ["1", "6", "13", "18", "19", "alignment", "trap"])
def test_files_are_written(key: str, tmp_path: Path) -> None:
    files = PAPER.figures[key].draw(tmp_path, silent)
    assert [f.suffix for f in files] == [".png", ".svg"] and all(f.stat().st_size > 10_000 for f in files)


def test_setting_a_shows_the_four_stages() -> None:
    run = paper_figures.setting_a("signgd").run
    found = stages.stages(run)
    assert 150 <= found.flips.key_flip <= 170 and 290 <= found.flips.query_flip <= 312
    assert found.flips.crossed == {"key": 1.0, "query": 1.0}
    first = paper_figures.early()
    assert (first.v[-1] > 0).all() and (first.v[first.index(3)] > first.v_mu[first.index(3)]).all()
    table = stages.contingency(run, 10)
    assert table.sum() == 2000 and (table[:, 0] + table[:, 3]).sum() > 1940
    assert table[0, 0] > 400 and table[3, 3] > 400 and table[1, [0, 3]].min() > 150
    assert 0.5 < paper_figures.setting_a("signgd").test_loss[-1] < 0.65
    assert paper_figures.setting_a("gd").test_loss[-1] < 0.1 < paper_figures.setting_a("adam").test_loss[-1]


def test_adam_freezes_the_query_noise_and_signgd_does_not() -> None:
    """Larger beta2: fewer unaligned queries cross zero (the text says small beta2 prevents it; it allows it)."""
    crossed = {}
    for optimiser in (Optimiser("signgd", 1e-4), *(Optimiser("adam", 1e-4, 0.0, b) for b in (0.9, 0.999))):
        run = optimisers.trained("a", optimiser).run
        found = stages.flips(run, stages.REFERENCE * stages.flip_unit(run.start, 1e-4))
        crossed[optimiser.label] = found.crossed["query"]
    assert crossed["SignGD"] == 1.0 > crossed["Adam(0, 0.9)"] > crossed["Adam(0, 0.999)"] == 0.0


def test_ten_patches_concentrate_on_one_noise_patch() -> None:
    run = optimisers.many_patches(optimisers.SIGN)
    best = optimisers.winners(run)
    assert (best >= run.data.signals).all()
    rows = run.extra["attention"][-1]
    noise_rows = rows[np.arange(len(best)), run.data.signals :, best]
    assert (noise_rows > 0.9).all()
    gd = optimisers.many_patches(Optimiser("gd", 1.0))
    assert (optimisers.winners(gd) < gd.data.signals).all() and gd.test_loss[-1] < 0.01


def test_trap_follows_its_law_over_two_decades() -> None:
    rows = power_laws.trap_rows((0.1, 0.4), seeds=2)
    for row in rows:
        assert abs(row["held"] / row["law"] - 1) < 0.35
        assert abs(row["same_step"] / row["law"] - 1) < 0.35


def test_simulations_can_be_plotted(tmp_path: Path) -> None:
    run = PAPER.protocols["recursion"](PAPER.read_parameters({"steps": "300"}), silent)
    assert run.plot is not None and {f.name for f in run.plot(tmp_path)} == {"run.png", "run.svg"}
    columns = {"t": np.arange(3.0), "loss_gd": np.ones(3), "s11_gd": np.ones(3)}
    assert plot_run(columns, [], tmp_path)
