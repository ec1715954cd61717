"""The sign-descent paper: runs of setting (a), regimes, laws, mean field and protocols.

Numbers in this file that come from a reading of the paper are compared with, never used.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy as sp

from derivations.signgd import PAPER, compare, dynamics
from derivations.signgd.claims.part_e_settling import (
    apart,
    crossings,
    few_passages,
    fourth_power,
    kept_apart,
    value_starts,
)
from derivations.signgd.laboratory import Laboratory
from derivations.signgd.setting import Case, published, regime
from derivations.signgd.special import (
    mean_field,
    power_laws,
    recursion,
    shared_supports,
    stages,
)
from derivations.signgd.special.recursion import Run
from odesys.errors import OdesysError

SMALL = Case(n=10, s=60, d=701, m_k=16, m_v=4, sigma_0=2e-3)
SIZES_A = replace(published("a"), supports=0)  # setting (a) with disjoint supports


# ---- setting (a), with and without shared supports -------------------------------------------------------------------


@cache
def disjoint(seed: int) -> tuple[Run, stages.Stages]:
    run = recursion.descend(recursion.draw(SIZES_A, seed), 1e-4, 1000)
    return run, stages.stages(run)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_disjoint_supports_follow_the_mean_field(seed: int) -> None:
    run, found = disjoint(seed)
    samples = stages.mean_field_samples(run, stages.REFERENCE * found.flip_unit)
    for name in ("key_flip", "query_flip", "key_zero", "query_zero"):
        theory = np.mean([sample.times[name] for sample in samples])
        assert getattr(found.flips, name) == pytest.approx(theory, rel=0.02), name
    assert found.flips.crossed == {"key": 1.0, "query": 1.0}
    t = np.arange(1, 901)
    assert np.abs(mean_field.loss(samples, t) / run.loss[1:901] - 1).max() < 0.02  # asked for: 10 percent
    broken = [replace(sample, p=1 - sample.p) for sample in samples]
    assert np.abs(mean_field.loss(broken, t) / run.loss[1:901] - 1).max() > 0.1


@pytest.mark.slow
def test_setting_a_flips_where_the_paper_shows_it() -> None:
    trained, _, report = shared_supports.measure(published("a"), 0, 1e-4, 700, 2)
    assert 0.50 < report.shared < 0.58 and abs(report.shared - published("a").shared_fraction) < 0.02
    assert 150 <= report.flips["key_flip"] <= 170 and 290 <= report.flips["query_flip"] <= 312
    assert report.reduced_flips["key_flip"] < 150  # the reduced recursion is not exact here, and the report says so
    assert 0.7 < report.speed < 0.9 and "not exact" in report.sentence()
    assert (stages.aligned(trained.run)[trained.run.index(10)]) > 0.96


def test_a_run_that_is_too_short_has_no_flips() -> None:
    run = recursion.descend(recursion.draw(SIZES_A, 0), 1e-4, 130)
    found = stages.stages(run)
    assert math.isnan(found.flips.key_flip) and math.isnan(found.flips.query_flip)
    assert not any(e["name"].endswith("flip") for e in found.as_events())


def test_overlap_report_is_zero_without_overlap() -> None:
    _, _, report = shared_supports.measure(SMALL, 0, 2e-4, 200)
    assert report.shared == 0 and report.noise < 1e-12 and report.speed == pytest.approx(1)
    assert "disjoint" in report.sentence()


def test_stage_times_of_setting_a() -> None:
    run, found = disjoint(0)
    formal = found.formal
    assert 5 < formal.T1 < 12 and 30 < formal.T2_sgn < 50 and formal.T2 > 1e4 and math.isnan(formal.lower_T4_minus)
    assert formal.upper_T4_minus == pytest.approx(119.6, abs=0.1)
    assert found.events["T1"] <= formal.T1 and found.events["T2_sgn"] <= formal.T2_sgn
    assert found.events["T4"] < 1000 and stages.in_cone(run)[run.index(found.events["T4"]) :].all()
    times = stages.value_crossings(run.start, 1e-4)
    assert found.events["T1"] == pytest.approx(times.max(), rel=1e-9)
    w = run.v - run.v_mu[:, None]
    for i, time in enumerate(times):
        assert (w[: math.ceil(time), i] <= 0).all() and (w[math.ceil(time) + 1 :, i] > 0).all()


# ---- regimes, laws and mean field ------------------------------------------------------------------------------------


def test_regime_r1_has_the_four_stages() -> None:
    case = regime("R1")
    run = recursion.geometric(recursion.draw(case, 0), 5 * case.flip_time(), records=1200)
    found = stages.stages(run)
    in_units = found.flips.in_units(found.flip_unit)
    for name, law in (("key_flip", 1.0), ("query_flip", 2.0), ("key_zero", 2.0), ("query_zero", 4.0)):
        assert in_units[name] == pytest.approx(law, rel=0.02), name
    formal, events = found.formal, found.events
    assert formal.lower_T4_minus < events["T4_minus"] < formal.upper_T4_minus < found.flips.key_flip
    assert events["T4_minus"] < events["T4_plus"] < 1.4 * events["T4_minus"]
    assert found.vote_rule == 1.0 and found.flips.contested == 0
    wanted = 0.5 + math.comb(40, 20) * 2.0**-41
    assert found.fractions.mean() == pytest.approx(wanted, abs=0.03)


def test_mean_field_is_derived() -> None:
    form, tau, big, p = mean_field.closed_form(), mean_field.TAU, mean_field.LAMBDA, mean_field.P
    x, u = mean_field.X, mean_field.U
    assert sp.expand(form["Z"] - (p * tau**2 + (1 - p) * x * u + tau / big * (p * tau - (1 - p) * x))) == 0
    assert sp.expand(form["Y"] - (tau**2 / big**2 + tau / big * (p * tau - (1 - p) * u))) == 0
    assert mean_field.flip_condition() == 1 / big and mean_field.query_flip() == 2 * big / (big + 1)
    assert sp.expand(mean_field.slide_threshold() - (5 - sp.sqrt(7)) / 9) == 0
    sample = mean_field.MeanField(1e8, 0.5, 64)
    assert sample.tau_f == pytest.approx(math.sqrt(math.log(4e8)), rel=1e-6)
    with pytest.raises(OdesysError, match="Lambda > 1"):
        mean_field.MeanField(0.5, 0.5, 4)


@pytest.mark.nightly
def test_exponents_of_flip_and_attention() -> None:
    flip = power_laws.flip_law((16, 64, 128), seeds=2).exponent
    assert flip.low < -0.5 < flip.high and flip.half_width < 0.02
    attention = power_laws.attention_law((1e4, 1e5, 1e6), seeds=2).exponent
    assert attention.value == pytest.approx(-0.5, abs=0.01) and attention.half_width < 0.01


def test_infinite_width_fractions() -> None:
    n = 15
    equal = power_laws.infinite_fractions(np.full(n, 1e6), np.full(n, 1e3), 1.0, 100_000)
    assert equal.mean() == pytest.approx(0.5 + math.comb(n - 1, (n - 1) // 2) * 2.0**-n, abs=0.002)
    found = compare.compare([4, 64], 2, PAPER.read_parameters({"n": "5"}), workers=1)
    assert (
        found.deviations[64].mean() < found.deviations[4].mean() / 2 and "-1/2" in found.as_json("signgd")["explained"]
    )


# ---- protocols -------------------------------------------------------------------------------------------------------


def test_protocols_give_documented_results() -> None:
    small = {"n": "4", "m_k": "3", "s": "40", "d": "400", "steps": "400", "eta": "4e-4"}
    run = PAPER.protocols["recursion"](PAPER.read_parameters(small), lambda *_: None)
    assert run.final["loss"] < 0.7 and run.final["formal_T1"] > 0 and "Condition 3.1 fails in" in run.note
    assert run.final["sigma_p"] == pytest.approx(2 / 40**0.5) and run.final["sigma_0"] == pytest.approx(0.1 / 400**0.5)
    assert {name for name in run.final if name.startswith("condition")} <= set(run.meanings)
    assert {e["kind"] for e in run.events} <= {"stage", "cycle"}
    assert run.final["trapped_pairs"] == sum(e["kind"] == "cycle" for e in run.events)
    again = PAPER.protocols["recursion"](PAPER.read_parameters(small), lambda *_: None)
    assert again.final == run.final
    crowded = PAPER.read_parameters({**small, "supports": "1", "d": "100"})
    shared = PAPER.protocols["recursion"](crowded, lambda *_: None)
    assert "not exact" in shared.note and shared.final["overlap_shared"] > 0.3 and "loss_reduced" in shared.columns
    tiny = {**small, "n": "3", "m_k": "2"}
    followed = PAPER.protocols["flow"](PAPER.read_parameters(tiny), lambda *_: None)
    assert any(e["kind"] == "switch" for e in followed.events) and "switches" in followed.note
    stepped = PAPER.protocols["flow"](PAPER.read_parameters({**small, "m_k": "24"}), lambda *_: None)
    assert "too many to follow" in stepped.note
    for name in ("full", "flow", "raw", "saddle", "gradient", "adam", "heads"):
        system = PAPER.systems[name](PAPER.read_parameters({"written": "1"}))
        assert system.kind == ("map" if name in ("full", "raw", "adam", "heads") else "flow")


def test_saddle_keeps_the_difference_of_magnitudes() -> None:
    """|A| - |B| is constant: both grow or both shrink at one speed, in every open quadrant."""
    system = dynamics.saddle().compile(l1=2.0)
    for a, b in itertools.product((1.5, -0.7), (0.4, -2.2)):
        rate = system(0.0, [a, b])
        assert np.sign(a) * rate[0] - np.sign(b) * rate[1] == 0 and abs(rate[0]) == 2


def settled_pair(q: float, k: float, reversed_steps: int, rng: np.random.Generator, worst: float) -> tuple[int, int]:
    """One pair under moves of signals and softmax weights that work against it: its last sign, and when it had settled.

    A step moves noise by 1, signals by at most `worst` each, and a_i/b_i is within `worst` of 1.
    """
    q_mu, k_mu, settled_at, steps = 0.3, -0.2, 0, 4 * int(max(abs(q), abs(k)) + reversed_steps) + 40
    signs = []
    for t in range(steps):
        w = -1 if t < reversed_steps else 1
        A, B = q + (1 + worst * rng.uniform(-1, 1)) * q_mu, k - k_mu
        move_q, move_k = int(np.sign(w * B)), int(np.sign(w * A))
        signs.append((np.sign(q), np.sign(k), move_q, move_k))
        q, k = q + move_q, k + move_k
        larger = abs(A) > abs(B)  # signals that shrink what is larger and let the other grow
        q_mu += worst * (-np.sign(A) if larger else np.sign(A))
        k_mu += worst * (np.sign(B) if not larger else -np.sign(B))
    last = int(signs[-1][0])
    for t, four in enumerate(signs):
        if any(x != last for x in four):
            settled_at = t + 1
    return last, settled_at


def test_the_larger_of_a_pair_decides_it_whatever_the_signals_do() -> None:
    """The argument of Lemma E.2, for pairs of either kind: with a difference above the bound; and a twin with none."""
    rng, worst, missed = np.random.default_rng(5), 1e-3, 0
    for _ in range(300):
        q, k = rng.uniform(-300, 300, 2)
        backwards = int(rng.integers(0, 120))
        A, B = q + 0.3, k + 0.2
        steps = 4 * (300 + backwards)
        bound = 2 * (2 * worst * steps + 16 * worst * (0.3 + worst * steps) + 16)
        if abs(abs(A) - abs(B)) < bound:
            continue
        last, when = settled_pair(q, k, backwards, rng, worst)
        assert last == np.sign(A if abs(A) > abs(B) else B)
        assert when <= 2 * backwards + max(abs(q), abs(k)) + 2 * (0.3 + worst * steps) + 4
    for _ in range(60):
        q = rng.uniform(100, 300)
        last, when = settled_pair(q, -q - 0.5 + rng.uniform(-0.1, 0.1), 0, rng, 0.05)
        missed += when > q + 10
    assert missed > 5


def test_a_value_rarely_starts_above_twice_its_level() -> None:
    """Tails at twice a level are of the order of the fourth power, up to its third power (events of Lemma 4.2)."""
    for x in np.linspace(1, 12, 45):
        assert math.erfc(math.sqrt(2) * x) <= 17 * x**3 * math.erfc(x / math.sqrt(2)) ** 4
    assert fourth_power().as_stated == "holds" and fourth_power(15).as_stated != "holds"


def test_starts_are_decided_from_derived_variances() -> None:
    """Values whose variance is above 2/m_v of that of a row are noticed, and starts of a size that beta_xi has not."""

    class Wide(Laboratory):
        def variances(self) -> dict[str, Fraction]:
            return super().variances() | {"v_xi": Fraction(2)}

    assert value_starts(Laboratory()).as_stated == apart(Laboratory()).as_stated == "holds"
    assert value_starts(Wide()).as_stated == apart(Laboratory("start")).as_stated == "fails"


def test_a_difference_is_kept_by_half_of_its_bound_and_no_less() -> None:
    """Exact worst case of the argument of Lemma E.2, and its twin with a smaller bound."""
    assert crossings(1, (-1, 1), 1) == (2, 1) and crossings(1, (1, -1, 1), -1) == (3, 1)  # a third one if w could fall
    assert few_passages().as_stated == kept_apart().as_stated == "holds"
    assert kept_apart(passing=12).as_stated == "fails"
