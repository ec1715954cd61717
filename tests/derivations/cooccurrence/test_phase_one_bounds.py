"""Phase 1 by a bootstrap in balls: its inequalities along a network, boxes where it does not close, broken systems."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from derivations.cooccurrence import setting
from derivations.cooccurrence.claims import book
from derivations.cooccurrence.claims.common_hypotheses import PHASES
from derivations.cooccurrence.laboratory import Laboratory
from derivations.cooccurrence.special import phase_one_bounds
from derivations.cooccurrence.special.ensembles import ensemble
from derivations.cooccurrence.special.phase_one_bounds import Cell, bounds, cells, corner_points, mean_slope


def box(q: float, L: float, r: float, m1: float, c0: float) -> Cell:
    """A box that is one point."""
    return Cell(tuple(flint.arb(x).log() for x in (q, L, r, m1, c0)))


def test_powers_are_those_of_the_parameters() -> None:
    m, n = 30 * 16 / 5e-4**4, 3 * 16
    one = box(30, 4, 3, 16, 5e-4)
    assert float(one.power(m=Fraction(-3, 2), n=2, L=-1, m1=1, c0=3)) == pytest.approx(
        m**-1.5 * n**2 / 4 * 16 * 5e-4**3, rel=1e-12
    )
    assert float(one.log(7, m=1)) == pytest.approx(np.log(7 * m), rel=1e-12)


def test_the_boxes_are_inside_the_hypotheses_and_close() -> None:
    assert all(hypothesis.margin(point) >= 0 for hypothesis in PHASES for point in corner_points())
    assert all(bounds(cell) is not None for cell in cells()[::20])
    assert bounds(box(1e-3, 4, 3, 1e18, 0.5)) is None, "more neurons than the width allows: nothing is shown"


def test_a_network_keeps_the_inequalities_and_the_bounds() -> None:
    """The steps of the argument at a narrow network, where everything moves; the bounds at a point of the boxes."""
    scale, taus = setting.condition_one(4, 64, 4, 1.0), (0.0, 2.0, 10.0, 40.0)
    (run,) = ensemble(Laboratory(), 12, 4, scale, (5,), taus, 1e-9)
    xi, D = run.forces
    share = np.bincount(run.tokens.ravel(), minlength=xi.shape[1]) / run.n
    top = np.abs(run.tables["KQ"]).max(axis=(1, 2)) / scale.m**0.5
    even, G = np.exp(2 * top)[:, None], np.abs(run.G).max(axis=1)[:, None]
    gamma = 1 - np.exp(-run.loss[0])
    assert (run.g.mean(axis=1) <= gamma).all() and (np.diff(run.loss) < 0).all()
    assert (np.abs(xi) <= even * np.minimum(share, gamma)).all() and (np.abs(xi).sum(axis=1) <= gamma * run.L).all()
    for axis in (1, 2):
        assert (np.abs(D).sum(axis=axis) <= 2 * G * even * share / scale.m**0.5).all()
    point = {"n": 30, "L": 4, "m": 10**16, "m1": 16, "c0": 5e-4}
    wide = setting.condition_one(4, point["m"], 16, point["c0"])
    (run,) = ensemble(Laboratory(), 30, 4, wide, (3,), (0.0, 5.0, 40.0))
    x = bounds(box(point["m"] * point["c0"] ** 4 / 16, 4, 30 / 16, 16, point["c0"]))
    assert x is not None and float(mean_slope()) < 0.51
    d, k0 = xi.shape[1], wide.k0
    off = 1 - np.eye(run.G.shape[1])
    seen = {
        "G": np.abs(run.G).max(),
        "beta": run.beta.max() / wide.B,
        "V_off": np.abs(run.tables["VV"] * off).max() / (k0 / wide.m**0.5),
        "A": np.abs(run.tables["KQ"]).max() / (k0 / wide.m**0.5),
        "wv_change": np.abs(run.changes["WV"]).max() * 16,
    }
    assert d > 3 and all(value <= float(x[name]) for name, value in seen.items()), seen
    assert seen["wv_change"] > 0.05 * float(x["wv_change"]), "the bound is not empty"


def test_more_time_needs_wider_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = replace(cells()[0])
    monkeypatch.setattr(phase_one_bounds, "T1", 10**40)
    assert bounds(cell) is None


@pytest.mark.parametrize(("claim", "mutation"), [("E.9", "values"), ("E.12", "beta")])
def test_bounds_are_those_of_the_derived_system(claim: str, mutation: str) -> None:
    assert book.run(book[claim], mutation=mutation).verdict.as_stated != "holds"
