"""Which tokens are removed, and the test loss afterwards; here because the paper is about sparse attention.

Rules: `random`; `irrelevant`, label-irrelevant tokens first (it knows the label); `noisy`, the tokens with the larger
noise first; `attention`, the tokens that receive the least attention in a given network, which is what a program
without labels can do. Training and test samples are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from odesys import ParameterError, PathSpeeds

from .. import setting
from ..setting import Case
from . import network
from .network import Network, Tokens
from .rules import PAPER, Rules

RULES = ("random", "irrelevant", "noisy", "attention")
EXPERIMENT = Case(
    N=60, L=50, alpha_s=0.6, alpha_c=0.05, sigma=0.1, delta=0.5, m=100, eta=0.2, noise=0.01, unit=1, filling="random"
)


@dataclass(frozen=True)
class Noisy:
    """A fraction `share` of the tokens, whatever their pattern, has noise of the standard deviation `spread`."""

    share: float = 0.3
    spread: float = 0.4


def draw(case: Case, noisy: Noisy, rng: np.random.Generator, N: int | None = None) -> tuple[Tokens, np.ndarray]:
    """Samples with some very noisy tokens, and the standard deviation of each token (N, L)."""
    counts, y = setting.draw_counts(case, rng, N)
    spread = np.where(rng.random((len(y), case.L)) < noisy.share, noisy.spread, case.noise)
    return network.lay_out(case, counts, y, rng, spread), spread


def removed(
    data: Tokens, rule: str, fraction: float, spread: np.ndarray, rng: np.random.Generator, net: Network | None = None
) -> np.ndarray:
    """Which tokens a rule removes (N, L): the same number in each sample, ties broken at random."""
    if rule not in RULES:
        raise ParameterError(f"the rule {rule!r} is not known; choose {' or '.join(RULES)}")
    if not 0 <= fraction < 1:
        raise ParameterError(f"a fraction {fraction:g} of tokens can not be removed; use 0 to below 1")
    chance = rng.random(data.kept.shape)
    if rule == "irrelevant":
        order = np.where(data.relevant, 1.0, 0.0)
    elif rule == "noisy":
        order = -spread
    elif rule == "attention":
        if net is None:
            raise ParameterError("the rule attention reads the attention of a network; give one")
        found = network.forward(net, data)
        order = np.einsum("nsl,nl->ns", found.A, found.share)
    else:
        order = np.zeros(data.kept.shape)
    ranks = np.lexsort((chance, order), axis=1)
    count = round(fraction * data.kept.shape[1])
    out = np.zeros(data.kept.shape, dtype=bool)
    np.put_along_axis(out, ranks[:, :count], True, axis=1)
    return out


def experiment(
    rule: str,
    fraction: float,
    seed: int,
    case: Case = EXPERIMENT,
    noisy: Noisy | None = None,
    steps: int = 20,
    tests: int = 200,
    zeroed: bool = False,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
) -> float:
    """Test loss after `steps` steps on sparsified samples; the same seed gives the same data for every rule."""
    noisy = noisy or Noisy()
    rng = np.random.default_rng([seed, 0])
    net, _ = network.start(case, rng)
    (train, train_spread), (test, test_spread) = draw(case, noisy, rng), draw(case, noisy, rng, tests + tests % 2)
    choose = np.random.default_rng([seed, 1])
    train = network.without(train, removed(train, rule, fraction, train_spread, choose, net), zeroed)
    test = network.without(test, removed(test, rule, fraction, test_spread, choose, net), zeroed)
    run = network.train(replace(case, steps=steps), (seed, 2), train, net, rules=rules, speeds=speeds)
    return network.forward(run.net, test, rules).loss(case.margin)
