"""Sections 3.2 and B.7: the real network under sign descent, Adam and gradient descent, at a quarter of the dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from odesys import Verdict, over_seeds

from ..laboratory import Laboratory
from ..setting import published
from ..special import network, stages, training_sets
from .book import book

NETWORK = "runs of the real network in weight space, not of the systems that are broken"
STEPS, ETA, SEEDS = 1000, 2e-4, 20
OPTIMISERS = {
    "SignGD": network.Optimiser("signgd", ETA),
    "Adam": network.Optimiser("adam", ETA, 0.9, 0.999),
    "Adam, short": network.Optimiser("adam", ETA, 0.0, 0.9),
    "Adam, long": network.Optimiser("adam", ETA, 0.0, 0.999),
    "GD": network.Optimiser("gd", 0.2),
}
CASE = published("a", 500)
POINT = {"n": CASE.n, "s": CASE.s, "d": CASE.d, "m_k": CASE.m_k, "m_v": CASE.m_v, "eta": ETA}
WHERE = "setting (a), d = 500, 1000 double steps"


@lru_cache(maxsize=4096)
def trained(name: str, seed: int) -> tuple[float, float, float]:
    """Training loss, test loss, and the part of unaligned query noise that ends with the sign of the signal."""
    data, weights = training_sets.make(CASE, (seed, 0)), network.gaussian(CASE, (seed, 1))
    training = network.train(data, weights, OPTIMISERS[name], STEPS)
    crossed = (
        np.nan if name == "GD" else stages.flips(training.run, 0.6 * CASE.flip_time(ETA)).crossed.get("query", np.nan)
    )
    return float(training.loss[-1]), network.test(training, 500, (seed, 2)).loss, float(crossed)


def _seen(lab: Laboratory, what: str, value: Callable[[int], float], low: float, high: float, because: str) -> Verdict:
    """A value for each of twenty seeds."""

    def runs(point: object, seeds: Sequence[int]) -> list[float]:
        return [value(seed) for seed in seeds]

    return over_seeds(what, [POINT], runs, lab.draw.seeds(SEEDS)).between(low, high, because)


@book.claim(
    "App.B.7",
    "Small beta_2 and the query noise",
    kind="order",
    where="Appendix B.7, training dynamics, first sentence",
    parts=["only small beta_2 prevent it"],
    origin="text",
    hypotheses=[],
    expect="fails",
    level="full",
    insensitive=NETWORK,
    statement=r"\text{only small values of}\ \beta_2\ \text{prevent the negative query noise from turning positive}",
    reading=f"{WHERE}, beta_1 = 0: part of the negative query noise that has turned, beta_2 = 0.9 minus beta_2 = 0.999",
)
def small_beta(lab: Laboratory) -> Verdict:
    """The difference has one sign for all seeds."""

    def gap(seed: int) -> float:
        return trained("Adam, short", seed)[2] - trained("Adam, long", seed)[2]

    what = "the part at beta_2 = 0.9 minus that at 0.999"
    printed = _seen(lab, what, gap, -1, 0, "the printed relation: less turns for small beta_2")
    fixed = _seen(lab, what, gap, 0, 1, "the opposite relation: not less turns for small beta_2, for every seed")
    return printed.correcting(
        r"\text{only small values of}\ \beta_2\ \textit{allow}\ \text{it}",
        fixed,
        "with a long memory the step size falls before the turn ends, as the text says next",
    ).blaming("misprint", "prevent-allow")


@book.claim(
    "Sec.3.2-optimisers",
    "SignGD and Adam fit fast and generalise badly, GD does not",
    kind="order",
    where="Section 3.2, SignGD and Adam require higher data quality than GD",
    parts=["training loss", "SignGD against GD", "Adam against GD"],
    origin="text",
    hypotheses=[],
    level="full",
    insensitive=NETWORK,
    statement=r"\text{SignGD and Adam reach a small training loss; GD generalises better than both}",
    reading=f"{WHERE}: training losses; test losses of SignGD and of Adam minus that of GD",
)
def optimisers(lab: Laboratory) -> dict[str, Verdict]:
    """Training losses, and differences of test losses for the same data and start."""

    def fit(seed: int) -> float:
        return max(trained(name, seed)[0] for name in ("SignGD", "Adam", "GD"))

    def against(name: str) -> Callable[[int], float]:
        return lambda seed: trained(name, seed)[1] - trained("GD", seed)[1]

    better = "the printed relation: the test loss of GD is smaller; above 1 nothing is expected, as log 2 is 0.69"
    return {
        "training loss": _seen(
            lab, "largest training loss", fit, 0, 0.1 * float(np.log(2)), "a tenth of the loss at the start"
        ),
        "SignGD against GD": _seen(lab, "difference of test losses", against("SignGD"), 1e-9, 1, better),
        "Adam against GD": _seen(lab, "difference of test losses", against("Adam"), 1e-9, 1, better),
    }
