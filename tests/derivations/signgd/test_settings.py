"""The sign-descent paper: data, conditions and refusals.

Numbers in this file that come from a reading of the paper are compared with, never used.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from derivations.signgd import PAPER
from derivations.signgd.setting import Case, published, regime
from derivations.signgd.special import (
    conditions,
    recursion,
)
from derivations.signgd.special.network import Optimiser
from derivations.signgd.special.training_sets import fresh, make
from odesys.errors import OdesysError
from odesys.papers.hypotheses import violated

TINY = Case(n=3, s=60, d=181, m_k=2, m_v=4, sigma_0=2e-3)


# ---- data, conditions, refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("supports", [0, 1, 2])
def test_data_follow_the_definition(supports: int) -> None:
    case = Case(n=6, s=10, d=101, m_k=2, m_v=2, supports=supports)
    for data in (make(case, 1), fresh(case, 30, 2)):
        assert ((data.x[:, 1] != 0).sum(axis=1) == 10).all()
        assert np.array_equal(data.x[:, 0, 0], data.y) and (data.x[:, 0, 1:] == 0).all()
        assert supports == 2 or (data.x[:, 1, 0] == 0).all()
    assert make(case, 1).disjoint == (supports == 0)
    assert sorted(make(case, 1).y) == [-1, -1, -1, 1, 1, 1]
    assert make(case, 1, patches=4).x.shape == (6, 4, 101) if supports else True


def test_norms_have_their_law() -> None:
    big = Case(n=400, s=4 * 10**6, d=1_600_000_001, m_k=1, m_v=1, sigma_p=0.5, sigma_0=1.0)
    l1, l2 = recursion.noise_norms(big, np.random.default_rng(0))
    small = replace(big, s=2000, d=800_001)
    m1, m2 = recursion.noise_norms(small, np.random.default_rng(0))
    for found, size in ((l1, big.s), (m1, small.s)):
        assert found.mean() == pytest.approx(math.sqrt(2 / math.pi) * 0.5 * size, rel=4 / math.sqrt(size * 400))
        assert found.std() == pytest.approx(0.5 * math.sqrt((1 - 2 / math.pi) * size), rel=0.15)
    assert np.corrcoef(l1, l2**2)[0, 1] == pytest.approx(np.corrcoef(m1, m2**2)[0, 1], abs=0.06)


def test_condition_3_1_names_what_is_violated() -> None:
    case, eta = conditions.satisfying()
    assert violated(conditions.CONDITION_3_1, conditions.condition_point(case, eta)) == []
    point = conditions.condition_point(published("a"), 1e-4)
    found = violated(conditions.CONDITION_3_1, point)
    assert len(found) >= 4 and any(text.startswith("(2) sigma_p >= d^-1/4 n^3: violated by a factor") for text in found)
    ratio = {c.number: c.ratio_at(point) for c in conditions.CONDITION_3_1}
    assert 1 / ratio["2"] == pytest.approx(8000 * 2000**-0.25 / published("a").sigma_p, rel=1e-9)
    worse = replace(case, sigma_0=1e6 * case.sigma_0)
    found = violated(conditions.CONDITION_3_1, conditions.condition_point(worse, eta))
    assert [text[:4] for text in found] == ["(3c)"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"s": "2000"}, "sparsity s = 2000 is above"),
        ({"sigma_p": "-1"}, "sigma_p = -1 is out of range"),
        ({"eta": "0"}, "eta = 0 is out of range"),
        ({"n": "100"}, "disjoint supports of s = 40 coordinates need d"),
        ({"mu": "50"}, "lower mu"),
        ({"supports": "3"}, "supports = 3 is out of range"),
        ({"mu": "0"}, "mu = 0 is out of range"),
    ],
)
def test_bad_input_gets_a_sentence(settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(OdesysError, match=sentence):
        PAPER.protocols["recursion"](PAPER.read_parameters(settings), lambda *_: None)


def test_bad_arguments_get_a_sentence() -> None:
    start = recursion.draw(TINY, 0)
    bad = [
        (lambda: recursion.descend(start, 0.0, 10), "step size eta = 0"),
        (lambda: Optimiser("sgd", 0.1), "'sgd' is not known"),
        (lambda: Optimiser("adam", 0.1, beta2=1.0), "beta2 = 1"),
        (lambda: published("e"), "no setting 'e'"),
        (lambda: regime("R3"), "no regime 'R3'"),
        (lambda: replace(TINY, sigma_0=-1.0), "sigma_0 = -1"),
        (lambda: make(TINY, 0, patches=3), "3 patches"),
        (lambda: make(regime("R1"), 0), "too large to build vectors"),
        (lambda: recursion.geometric(start, -1.0), "positive end"),
        (lambda: replace(TINY, mu=-1.0), "mu = -1"),
        (lambda: conditions.condition_point(TINY, 0.0), "eta = 0"),
    ]
    for call, sentence in bad:
        with pytest.raises(OdesysError, match=sentence):
            call()
