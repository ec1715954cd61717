"""Attention of networks of infinite width: the numbers of path matrices, and bounds that are above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from derivations.cooccurrence import setting
from derivations.cooccurrence.laboratory import Laboratory
from derivations.cooccurrence.special.attention_sums import (
    attention_pull,
    irrelevant_softmax,
    key_bound,
    partner_bounds,
    partner_rate_bounds,
    partner_units,
    pulled,
    reach,
    softmax_bound,
    softmax_rate,
    start_products,
)
from derivations.cooccurrence.special.ensembles import Sampled, attention_change, ensemble
from derivations.cooccurrence.special.sample_sums import Sums, limit_sums, mirror, run_sums, sampled_sums, sums_of

TAUS = (0.0, 2.0, 10.0, 40.0, 200.0)
Pair = tuple[Sampled, Sums]


@pytest.fixture(scope="module", params=[(24, 4), (42, 5)])
def pair(request: pytest.FixtureRequest) -> Pair:
    """A wide network, and the one of infinite width from the same start, at two sizes."""
    n, L = request.param
    lab = Laboratory()
    (run,) = ensemble(lab, n, L, setting.condition_one(L, 10**15, 4, 1e-4), (5,), TAUS)
    return run, sums_of(lab, run)


@pytest.mark.parametrize("read", [attention_pull, irrelevant_softmax, reach, pulled, softmax_bound])
def test_both_kinds_of_networks_give_the_same_numbers(pair: Pair, read: Callable[[Any], np.ndarray]) -> None:
    wide, sums = pair
    assert read(sums)[1:] == pytest.approx(read(wide)[1:], rel=2e-4), "words of a sample differ by their starts, c_0"


@pytest.mark.parametrize("key", [1, 2])
def test_softmax_rates_are_those_of_path_matrices(pair: Pair, key: int) -> None:
    wide, sums = pair
    rows = [
        wide.attention_rate[:, i, wide.tokens[i].tolist().index(0), wide.tokens[i].tolist().index(key)] * wide.scale.B
        for i in wide.classes[1]
    ]
    own = softmax_rate(sums, 1, 0, key)
    assert np.abs(own - np.transpose(rows))[1:].max() < 1e-5 * np.abs(own).max()


@pytest.mark.parametrize(("kind", "key"), [(1, 1), (1, 2), (2, 2), (2, None)])
def test_softmax_rates_tend_to_those_of_the_limit_like_one_over_n(kind: int, key: int | None) -> None:
    lab, scale = Laboratory(), setting.condition_one(4, 1e25, 16, 3e-5)

    def rate(n: float) -> np.ndarray:
        run = limit_sums(lab, 4, scale, TAUS, n)
        return softmax_rate(run, kind, 0, key)[1:, 0] / run.loss[1:]

    drawn = run_sums(lab, 60, 4, scale, np.zeros((1, 63)), TAUS)[0]
    assert softmax_rate(drawn, kind, 0, key)[1:, 0] / drawn.loss[1:] == pytest.approx(rate(60), rel=1e-6)
    gaps = [np.abs(rate(n) - rate(np.inf)).max() for n in (600, 6000, 60_000)]
    assert gaps[0] > 9 * gaps[1] > 81 * gaps[2] > 0


def test_bounds_are_above_what_networks_do(pair: Pair) -> None:
    wide, sums = pair
    moved = np.abs(attention_change(wide)).max(axis=(1, 2, 3))
    assert (moved[1:] <= softmax_bound(sums)[1:]).all() and moved[-1] > 1e-3 * softmax_bound(sums)[-1]
    top = np.abs(wide.tables["KQ"][0]).max() / (wide.scale.sigma0**2 * np.sqrt(float(wide.scale.m)))
    for leaf in ("KK", "QQ"):
        change = wide.changes[leaf][-1] - wide.changes[leaf][3]
        assert 0 < np.abs(change).max() * wide.scale.B / wide.scale.sigma0**2 <= top * key_bound(sums, 40.0)[-1]
    quotient = 2 * sums.scale.sigma0**2 * reach(sums) ** 2 / sums.scale.B
    assert (attention_pull(sums)[1:] <= quotient[1:]).all()


def test_two_target_words_never_part_further_than_their_start_allows() -> None:
    scale, taus = setting.condition_one(4, 10**15, 4, 1e-3), (0.0, 2.0, 40.0, 1e3, 1e6, 1e12)
    for run in sampled_sums(Laboratory(), 24, 4, scale, tuple(range(10)), taus):
        gap = mirror(run)
        assert (np.diff(gap) <= 1e-6 * gap[0]).all() and gap[-1] < 0.9 * gap[0]
        assert (np.abs(run.G[:, 0] - run.G[:, 1]) <= gap).all()
        assert (np.abs(np.log(run.S[2] / run.S[3])) <= 2 * gap + 1e-9).all()


@pytest.mark.parametrize("bounds", [lambda run: partner_bounds(run, 2.0), partner_rate_bounds])
def test_bounds_with_an_irrelevant_word_are_those_of_path_matrices(pair: Pair, bounds: Callable[[Any], Any]) -> None:
    wide, sums = pair
    for own, known in zip(bounds(sums), bounds(wide), strict=True):
        assert own[1:] == pytest.approx(known[1:], rel=2e-3)


def test_bounds_with_an_irrelevant_word_are_above_what_networks_do(pair: Pair) -> None:
    """Both terms are needed: without the products at the start a pair without a common sample would not move."""
    wide, _ = pair
    moved = np.abs(wide.changes["KQ"] - wide.changes["KQ"][1])[1:]
    one, two = partner_bounds(wide, 2.0)
    first, second = partner_units(wide)
    for part in (moved[:, :3, 3:], moved[:, 3:, :3]):
        assert (part.max(axis=(1, 2)) <= 1.01 * (one * first + two * start_products(wide) * second)).all()
    words = [int(w) for i in wide.classes[4] for w in wide.tokens[i] if w >= 3]  # none has mu1 in its sample
    apart = moved[-1, 0, words].max()
    assert 0 < apart <= 1.01 * two[-1] * start_products(wide) * second


def test_many_alike_have_the_bounds_of_one_each() -> None:
    """Six samples that stand for n alike give the numbers of n samples from zero."""
    lab, scale = Laboratory(), setting.condition_one(4, 1e16, 16, 6e-4)
    alike, (each,) = limit_sums(lab, 4, scale, TAUS, 24), run_sums(lab, 24, 4, scale, np.zeros((1, 27)), TAUS)
    for bounds in (lambda run: partner_bounds(run, 2.0), partner_rate_bounds):
        for own, known in zip(bounds(alike), bounds(each), strict=True):
            assert own[1:] == pytest.approx(known[1:], rel=1e-6)
    assert partner_units(alike) == pytest.approx(partner_units(each))
