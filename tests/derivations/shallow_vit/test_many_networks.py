"""Many networks at once: the same runs as one by one, exact risks, and laws of samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from derivations.shallow_vit.laboratory import Laboratory
from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import class_network, many_networks
from derivations.shallow_vit.special.class_network import Counts
from odesys.errors import ParameterError

CASE = Case(M=3, alpha_s=0.4, alpha_c=0.1, d=4, m=20, m_a=4, m_b=4, sigma=0.1, delta=0.2, eta=0.2, steps=800)


@pytest.mark.parametrize(("frozen", "at_once"), [(0, 40_000), (1, 40_000), (0, 2_200)])
def test_networks_at_once_are_those_one_by_one(frozen: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_networks, "AT_ONCE", at_once)  # three networks, or two and then one
    case, seeds = replace(CASE, frozen=frozen, N=8), (3, 4, 5)
    law = many_networks.fluctuating(case, 0.02, 4)
    shares = np.stack([law.drawn(8, np.random.default_rng(seed)) for seed in seeds])
    found = many_networks.train_many(case, law, shares, many_networks.starts(case, seeds), eta=[0.2, 0.1, 0.2])
    assert found.fitted.all()
    for k, seed in enumerate(seeds):
        which = np.repeat(np.arange(len(law.y)), np.rint(8 * shares[k]).astype(int))
        one = class_network.train(
            replace(case, eta=0.1 if k == 1 else 0.2), seed, Counts(law.counts[which], law.y[which])
        )
        assert one.steps == found.steps[k]
        for name in many_networks.MOVING:
            assert np.abs(getattr(one.state, name) - getattr(found.state, name)[k]).max() < 1e-12
        test = class_network.forward(one.state, Counts(law.counts, law.y)).margins
        assert found.risk(law)[k] == pytest.approx(float(np.maximum(1 - test, 0) @ law.chance), abs=1e-14)


def test_trained_logits_of_many_networks_are_those_of_one() -> None:
    lab, law = Laboratory(), many_networks.exact_law(CASE)
    found, _ = lab.train_many(CASE, law, np.full((2, 2), 0.5), (3, 4), "merged")
    for k, seed in enumerate((3, 4)):
        one = lab.train(CASE, seed, variant="merged")
        assert one.steps == found.steps[k]
        assert np.abs(one.state.S - found.state.one(k).S).max() < 1e-12
        assert np.abs(one.state.S - one.start.S).max() > 0.01


def test_a_sharp_end_leaves_no_margin_over() -> None:
    law = many_networks.exact_law(CASE)
    state, shares = many_networks.starts(CASE, (0, 1)), np.full((2, 2), 0.5)
    plain, sharp = (many_networks.train_many(CASE, law, shares, state, sharp=s) for s in (False, True))
    assert plain.margins(law).min(axis=1).min() > 1.001
    assert sharp.margins(law).min(axis=1) == pytest.approx([1, 1], abs=1e-3)


def test_laws_have_the_fractions_they_say() -> None:
    law = many_networks.fluctuating(replace(CASE, alpha_s=0.5), 0.03, 6)
    fractions = law.counts / law.counts.sum(axis=1, keepdims=True)
    own = np.where(law.y > 0, fractions[:, 0], fractions[:, 1])
    assert law.chance.sum() == pytest.approx(1) and law.chance @ own == pytest.approx(0.5)
    assert np.sqrt(law.chance @ (own - 0.5) ** 2) == pytest.approx(0.03)
    shares = law.drawn(40, np.random.default_rng(0))
    assert shares[law.y > 0].sum() == pytest.approx(0.5) and np.rint(40 * shares) == pytest.approx(40 * shares)
    with pytest.raises(ParameterError, match="do not keep a majority"):
        many_networks.fluctuating(replace(CASE, alpha_s=0.12), 0.03, 6)
