"""Classes of different size: against the balanced system, and against the flow of an unbalanced training set."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.benign_overfitting import PAPER, dynamics, setting
from derivations.benign_overfitting.special.two_classes import both_classes, class_system
from odesys.errors import ParameterError
from odesys.exact.evidence import equal
from odesys.expr import graph
from odesys.expr.graph import num, sym
from odesys.terminal import silent


def test_half_of_the_samples_is_the_balanced_class() -> None:
    one, mean = class_system(3), dynamics.mean_field(3)
    half = graph.substitute([*one.nodes, *one.observables.values()], {sym("p"): num("1/2")})
    right = [*mean.nodes, *(mean.observables[name] for name in one.observables)]
    assert equal({str(k): pair for k, pair in enumerate(zip(half, right, strict=True))}).as_stated == "holds"
    wrong = graph.substitute(list(one.nodes), {sym("p"): num("1/3")})
    assert equal({"v_s": (wrong[0], mean.nodes[0])}).as_stated == "fails"


def test_two_classes_are_the_flow_of_an_unbalanced_training_set() -> None:
    """Three samples, two of the class +: every kept variable moves as in the flow of all Gram scalars."""
    N, M, signs = 3, 3, (1, 1, -1)
    both, rng = both_classes(M), np.random.default_rng(3)
    values = {"m_s": 1.3, "m_2": 2.1, "m_w": 0.6, "w2": 0.8, "N": float(N), "p": 2 / 3}
    state = dict(zip(both.names, rng.normal(size=both.dimension), strict=True))
    state |= {name: abs(value) + 1 for name, value in state.items() if name[0] in "QK"}
    speed = dict(zip(both.names, both.compile(values)(0.0, list(state.values())), strict=True))
    made = dynamics.flow(N, M, setting.orthogonal_gram(N, M), signs)
    kinds, where = dynamics.kinds(N, M), setting.places(N, M, signs)
    P = len(kinds)
    S, Q, K, V = np.zeros((P, P)), np.zeros((P, P)), np.zeros((P, P)), np.zeros(P)
    for n, y in enumerate(signs):
        mark = "p" if y > 0 else "m"
        for i in where[n]:
            V[i] = y * state[f"v_{kinds[i]}_{mark}"]
            Q[i, i], K[i, i] = state[f"Q_{kinds[i]}_{mark}"], state[f"K_{kinds[i]}_{mark}"]
            for j in where[n]:
                S[i, j] = state[f"S_{kinds[i]}{kinds[j]}_{mark}"]
    leaves = {"KQ": S.T, "QQ": Q, "KK": K, "wOV": V[None, :]}
    known = {name: value for name, value in values.items() if name in made.system.parameters}
    moved = made.layout.unpack(made.system.compile(known, "block")(0.0, made.layout.pack(leaves)))
    for n, y in enumerate(signs):
        mark = "p" if y > 0 else "m"
        for i in where[n]:
            assert moved["wOV"][0, i] == pytest.approx(y * speed[f"v_{kinds[i]}_{mark}"])
            assert moved["QQ"][i, i] == pytest.approx(speed[f"Q_{kinds[i]}_{mark}"])
            for j in where[n]:
                assert moved["KQ"][j, i] == pytest.approx(speed[f"S_{kinds[i]}{kinds[j]}_{mark}"])


def test_labels_of_a_share_and_of_an_odd_number() -> None:
    texts = [formula.tex for formula in setting.law_of_data(PAPER.read_parameters({"share": "0.25"}))]
    assert r"N_+=1/4\,N,\quad N_-=3/4\,N" in texts and any(r"\mathcal N(0,\tilde\sigma_p^2" in text for text in texts)
    assert setting.labels(5) == (1, 1, 1, -1, -1) and setting.labels(8, 0.25) == (1, 1, *[-1] * 6)
    with pytest.raises(ParameterError, match="leaves a class empty"):
        setting.labels(3, 0.1)


def test_runs_start_from_the_values_that_the_paper_draws() -> None:
    """With V(0) = 0 the signal dominates at once; the paper's V(0) takes time, and more of it for a small class."""

    def stage_one(**settings: str) -> float:
        run = PAPER.protocols["mean-field"](PAPER.read_parameters(settings), silent)
        assert run.invariant_drift is not None and run.invariant_drift < 1e-9
        return next(event["time"] for event in run.events if event["name"] == "T1")

    still, drawn = stage_one(V_0="0"), stage_one()
    assert still < 1e-4 * drawn and stage_one(share="0.4", N="9") > drawn
