"""Lemma E.4 and inequality (15): the proved constant against random states, and broken systems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture.claims import book, part_e_near_symmetry
from derivations.two_mixture.claims.part_e_near_symmetry import (
    KINDS,
    STILL,
    asymmetry_inequality,
    exact_inequality,
    exact_sums,
    explicit_constant,
    force_in_weights,
    needed_after_start,
    sum_forces,
    sum_rates,
    sums_along,
    weight_symbol,
)
from derivations.two_mixture.claims.part_e_trajectories import attention_at
from derivations.two_mixture.laboratory import Laboratory
from odesys.expr import graph
from odesys.expr.graph import sym


def test_the_proved_bound_holds_at_random_states_of_the_subspace() -> None:
    system = Laboratory().reduced("stage2").system
    field, rng, shares = system.compile(b=0.5), np.random.default_rng(3), []
    c = explicit_constant(sym("n_c"), sym("n_v"))
    for _ in range(300):
        size = 10 ** rng.uniform(-3, 0.5)
        state = {n: size * rng.normal() for n in system.names}
        state |= {"n_c": rng.uniform(0.01, 3), "n_v": rng.uniform(0.01, 3)}
        state |= {f"{kind}_other": -state[f"{kind}_same"] for kind in STILL}
        plus, minus = (attention_at(state, s, -s) for s in (1, -1))
        values = state["n_c"] * np.array([1, 0, 0]) + state["n_v"] * np.array([0, 1, -1])
        if (plus @ values).sum() + 0.5 <= 0 or (minus @ (values * [1, -1, -1])).sum() + 0.5 <= 0:
            continue  # a unit is off there
        rate = dict(zip(system.names, field(0.0, np.array([state[n] for n in system.names])), strict=True))
        delta = max(abs(state[f"{k}_same"] + state[f"{k}_other"]) for k in KINDS)
        moved = max(abs(rate[f"{k}_same"] + rate[f"{k}_other"]) for k in KINDS)
        away = max(np.abs(p - 1 / 3).max() for p in (plus, minus))
        shares.append(moved / (graph.evaluate([c], state, {}, float)[0] * delta * away))
    assert len(shares) > 100 and 0.01 < max(shares) <= 1


def test_inequality_15_is_proved_and_the_constant_that_is_needed_is_the_known_one() -> None:
    verdict = asymmetry_inequality(Laboratory())
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "proof")
    assert verdict.constants["seen_at_T1_20"] == pytest.approx(0.217, abs=1e-3)
    assert verdict.constants["seen_at_T1_20"] < verdict.constants["c_at_T1_20"]
    exact = exact_inequality(Laboratory()).values()
    assert {(part.as_stated, str(part.evidence)) for part in exact} == {("holds", "proof")}


def test_the_constant_needed_right_after_the_start_is_exact(monkeypatch) -> None:
    limit = needed_after_start(Laboratory())
    assert limit == {"n_v": Fraction(1, 4), "n_c": Fraction(1, 12)}
    for omega, T1 in ((0.1, 20.0), (0.1, 3.0)):
        run = sums_along(Laboratory(), omega, T1, 1.0)
        first = run["rate"][0] / (run["delta"][0] * run["away"][0])
        assert first == pytest.approx(max(run["n_v"][0] / 4, run["n_c"][0] / 12), rel=1e-3)
    twice = {kind: 2 * rate for kind, rate in sum_rates(Laboratory()).items()}
    monkeypatch.setattr(part_e_near_symmetry, "sum_rates", lambda lab: twice)
    assert needed_after_start(Laboratory()) == {n: 2 * q for n, q in limit.items()}
    monkeypatch.setattr(part_e_near_symmetry, "sum_rates", lambda lab: {"M_cc": sym("M_vc_same")})
    assert needed_after_start(Laboratory()) is None, "a rate without a factor n is no such multiple"


def test_forces_vanish_at_uniform_attention_and_not_elsewhere() -> None:
    third = {f"p_{s}_{l}{h}": Fraction(1, 3) for s in "+-" for l in range(3) for h in range(3)}
    point = {**third, "g": Fraction(1, 2), "n_c": Fraction(2), "n_v": Fraction(3)}
    for pair in ("cc", "cv", "vc", "vv"):
        assert graph.evaluate([force_in_weights(pair)], point, {})[0] == 0
    moved = point | {weight_symbol(1, 0, 0).args[0]: Fraction(1, 2), weight_symbol(1, 0, 1).args[0]: Fraction(1, 6)}
    assert graph.evaluate([force_in_weights("vc")], moved, {})[0] != 0


@pytest.mark.parametrize(
    ("mutation", "part"),
    [
        ("labels", "forces in the weights"),
        ("flip", "bilinear in sums and forces"),
        ("double", "bilinear in sums and forces"),
    ],
)
def test_broken_systems_fail_where_they_are_broken(mutation: str, part: str) -> None:
    verdict = exact_inequality(Laboratory(mutation))[part]
    assert verdict.as_stated == "fails" and verdict.witness.point


def test_the_subspace_is_needed_for_two_forces_to_vanish() -> None:
    force = sum_forces(sum_rates(Laboratory()))
    env = dict.fromkeys(graph.symbols(force.values()), 0.0) | {"n_c": 1.0, "n_v": 1.0, "b": 0.5, "M_cv_same": 0.3}
    functions = {"exp": np.exp, "sigmoid": lambda z: 1 / (1 + np.exp(-z))}
    values = graph.evaluate([force["cv"], force["vv"]], env, functions, float)
    assert min(abs(v) for v in values) > 1e-4


def test_exact_sums_and_orders() -> None:
    assert str(exact_sums(Laboratory()).evidence) == "proof"
    verdict = book.run(book["E.4"]).verdict
    assert verdict.as_stated == "holds" and str(verdict.evidence) == "measurement", "orders on a grid are measured"
    assert "1.0090 at omega = 0.1" in verdict.sharpened
