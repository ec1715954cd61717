"""Figures of the two-mixture paper: what must be visible is there, and the files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from derivations.two_mixture import PAPER
from derivations.two_mixture.figures import paper_figures
from odesys.terminal import silent

pytestmark = pytest.mark.slow


def test_figures_1_2_4_and_what_they_show(tmp_path: Path) -> None:
    for key in ("1", "2", "4"):
        files = PAPER.figures[key].draw(tmp_path, silent)
        assert [f.suffix for f in files] == [".png", ".svg"] and all(f.stat().st_size > 5_000 for f in files)
    theory, net = paper_figures._theory(), paper_figures._network()
    assert net["conflicting"][25] > 0.65 > 0.04 > net["consistent"][25], "step 500: only consistent samples are learned"
    assert np.abs(net["n_v"] - theory["n_v"]).max() < 0.1 and np.abs(net["M_cv_same"] - theory["M_cv_same"]).max() < 0.5
    scores = net["scores"][-1][np.ix_([0, 2, 3], [0, 2, 3])]
    shares = {}
    for signs in ((1, 1, -1), (1, -1, 1)):  # (c1, v1, -v2) and (c1, -v1, v2)
        e = np.exp(scores * np.outer(signs, signs))
        shares[signs] = e[0] / e.sum(axis=0)  # of the group key, by query
    assert shares[1, 1, -1][1:].min() > 0.9, "classification queries of X_{1,+,-} attend to the group key"
    assert shares[1, -1, 1][1:].max() < 0.1


def test_attention_alone_does_not_learn(tmp_path: Path) -> None:
    curves = paper_figures.attention_only((0, 1))
    assert all(curve[-1] > 0.15 and curve[-1] < curve[0] for curve in curves.values())


def test_the_sliding_run_is_drawn(tmp_path: Path) -> None:
    assert {f.name for f in PAPER.figures["sliding"].draw(tmp_path, silent)} == {"sliding.png", "sliding.svg"}
    assert [s.name for s in paper_figures.sliding_run().slides] == ["H_p_15", "H_p_17"]


@pytest.mark.nightly
def test_the_proof_graph_is_drawn(tmp_path: Path) -> None:
    """All claims are checked for its colours."""
    assert len(PAPER.figures["proof"].draw(tmp_path, silent)) == 2


def test_a_run_is_drawn(tmp_path: Path) -> None:
    run = PAPER.protocols["three-stage"](PAPER.read_parameters({}), silent)
    assert run.plot is not None and {f.name for f in run.plot(tmp_path)} == {"run.png", "run.svg"}
