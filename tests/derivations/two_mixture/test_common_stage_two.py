"""Stage 2 over omega, T1 and b: where the constants of Appendix E hold, and that they fail where they must."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.two_mixture.claims.common_stage_two import (
    ENDS,
    REACH,
    STAGE_2,
    explored,
    kappa,
    largest_omega,
    neurons,
    path,
    run_at,
    states_in_reach,
    sweep,
)
from derivations.two_mixture.claims.part_e_trajectories import (
    OTHERS,
    _ratio,
    attention_at,
    growth_share,
    least_gap,
)
from derivations.two_mixture.laboratory import Laboratory
from derivations.two_mixture.special.trajectories import stage_two
from odesys import Draw, admit

DOMINANT = ("M_cv_same", "M_cv_other")


@pytest.mark.parametrize("draw", [Draw(), Draw(seed=3, number=1)])
def test_points_are_inside_the_hypotheses(draw: Draw) -> None:
    points = sweep(Laboratory(draw=draw))
    assert len(points) == 3 * len(ENDS) and all(admit(point, STAGE_2) for point in points)
    assert not [point for point in points if point in explored()], "judged where nothing was chosen"
    omegas = [point["omega"] for point in path(Laboratory(draw=draw))]
    assert omegas[-1] / omegas[0] > 100


def test_the_bound_of_omega_is_the_ratio_of_the_neurons_of_a_run() -> None:
    for b, T1 in ((0.5, 3.0), (2.0, 60.0)):
        run = stage_two(Laboratory(), 0.01, T1, REACH, b)
        values = dict(zip(run.run.names, run.start, strict=True))
        assert largest_omega(T1, b) == pytest.approx(values["n_c"] / values["n_v"], rel=1e-8)
        assert neurons(T1, b)["n_c"] == pytest.approx(18 * kappa({"T1": T1, "b": b}))


def test_dominance_is_lost_beyond_the_constants() -> None:
    lab = Laboratory()
    wide = stage_two(lab, 0.1, 1.5, 3.0)
    assert wide.column("M_vc_same").max() < wide.column("M_cv_same").max()
    others, dominant = (np.abs(np.stack([wide.column(n) for n in names])) for names in (OTHERS, DOMINANT))
    assert (others.max(axis=0) / dominant.min(axis=0)).max() > 4, "T1 = 1.5, omega = 0.1, up to x* = 3"
    assert _ratio(run_at(lab, {"omega": 0.01, "T1": 1.5, "b": 0.5}), OTHERS, DOMINANT) < 0.51
    assert _ratio(run_at(lab, {"omega": 0.3, "T1": 1.5, "b": 0.5}), OTHERS, DOMINANT) > 0.6, "omega above n_c/n_v"


def test_the_rate_of_lemma_e_2_and_twice_that_rate() -> None:
    lab, point = Laboratory(), {"omega": 0.1, "T1": 2000.0, "b": 0.5}
    run = run_at(lab, point)
    assert growth_share(lab, run, kappa(point) / 2) < 0.51
    assert growth_share(lab, run, 1.01 * kappa(point)) > 1


def test_states_end_where_a_score_leaves_the_reach() -> None:
    run = stage_two(Laboratory(), 0.1, 20.0, 1.0)
    table = states_in_reach(run)
    scores = [i for i, name in enumerate(run.run.names) if name.startswith("M_")]
    assert 10 < len(table) < len(run.table()) and np.abs(table[:, scores]).max() <= REACH * (1 + 1e-9)
    assert (table[0] == run.start).all()


def test_the_least_gap_is_below_every_gap_that_dominance_allows() -> None:
    names = ("cc_same", "cc_other", "cv_same", "cv_other", "vc_same", "vc_other", "vv_same", "vv_other")
    for x in (0.05, 0.5, 1.0):
        for other in np.linspace(-0.6, 0.6, 13) * x:
            state = dict.fromkeys((f"M_{n}" for n in names), 0.0)
            state |= {"M_cv_same": x, "M_cv_other": -x, "M_vv_same": other, "M_vv_other": -other}
            gap = attention_at(state, 1, -1)[1, 0] - attention_at(state, -1, 1)[1, 0]
            assert gap >= least_gap(x) - 1e-12
