"""Sections 3.2 and B: the real network under sign descent, Adam and gradient descent, at half the published dimension."""

from __future__ import annotations

from functools import cache

from odesys import Verdict, between, combine_verdicts, measured, rounded

from ..laboratory import Laboratory
from ..setting import published
from ..special import network, stages, training_sets
from .book import book

NETWORK = "runs of the real network in weight space, not of the systems that are broken"
STEPS, SEED, DIMENSION = 2000, 0, 1000
OPTIMISERS = {
    "SignGD": network.Optimiser("signgd", 1e-4),
    "Adam(0, .9)": network.Optimiser("adam", 1e-4, 0.0, 0.9),
    "Adam(.9, .999)": network.Optimiser("adam", 1e-4, 0.9, 0.999),
    "GD": network.Optimiser("gd", 0.1),
}
SIZES = f"setting (a) with d = {DIMENSION} (n = 10, s = 40, m_k = 50, m_v = 10), {STEPS} steps, data and start with seed {SEED}"


@cache
def trained(name: str) -> network.Training:
    """One training run."""
    case = published("a", DIMENSION)
    return network.train(training_sets.make(case, SEED), network.gaussian(case, SEED), OPTIMISERS[name], STEPS)


@cache
def crossed(name: str) -> float:
    """Part of the unaligned query noise that has the sign of the signal at the end."""
    training = trained(name)
    return stages.flips(training.run, 0.6 * training.data.case.flip_time(1e-4)).crossed["query"]


@book.claim(
    "App.B.7",
    "Small beta_2 and the query noise",
    kind="order",
    expect="fails",
    level="full",
    insensitive=NETWORK,
    statement=r"\text{only small values of}\ \beta_2\ \text{prevent the negative query noise from turning positive}",
    reading=SIZES
    + ": part of the unaligned query noise that ends with the sign of its signal; as printed it would be smaller for Adam(0, 0.9) than for Adam(0.9, 0.999); corrected: above 0.9 for SignGD, and larger by 0.1 at least for Adam(0, 0.9)",
)
def small_beta(lab: Laboratory) -> Verdict:
    """Crossed parts of three optimisers."""
    parts = {name: crossed(name) for name in ("SignGD", "Adam(0, .9)", "Adam(.9, .999)")}
    printed = measured(parts["Adam(0, .9)"] < parts["Adam(.9, .999)"], rounded(parts, 5))
    fixed = measured(
        parts["SignGD"] > 0.9 and parts["Adam(0, .9)"] > parts["Adam(.9, .999)"] + 0.1,
        **rounded(parts, 5),
    )
    return printed.correcting(
        r"\text{only small values of}\ \beta_2\ \textit{allow}\ \text{it}",
        fixed,
        "with a long memory the step size falls before the turn ends",
    )


@book.claim(
    "Sec.3.2-optimisers",
    "SignGD and Adam fit fast and generalise badly, GD does not",
    kind="order",
    level="full",
    insensitive=NETWORK,
    statement=r"\text{SignGD and Adam: small training loss, large test loss; GD: small test loss at comparable training loss}",
    reading=SIZES
    + ": training loss below 0.05 for all four; 0-1 error on 2000 fresh samples above 0.1 for SignGD and both Adams, below 0.02 for GD; test loss above 0.3 and below 0.1",
)
def optimisers(lab: Laboratory) -> Verdict:
    """Training loss, test loss and 0-1 error of four optimisers."""
    parts = {}
    for name in OPTIMISERS:
        training = trained(name)
        result = network.test(training, 2000, 77)
        good = name == "GD"
        parts[name] = (
            between("training loss", [training.loss[-1]], 0, 0.05)
            & between("0-1 error", [result.wrong], 0 if good else 0.1, 0.02 if good else 0.6)
            & between("test loss", [result.loss], 0 if good else 0.3, 0.1 if good else 2)
        )
    return combine_verdicts(parts)
