"""Benign overfitting: time of a 20 x 20 mean-field heat map, and test losses of wide networks against the mean field.

Run by ``python -m benchmarks.bench_benign [FILE]``; with a file, finished cells of the heat map are kept there.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from derivations.benign_overfitting.figures import paper_figures
from derivations.benign_overfitting.figures.heat_map import Theory, heat_map
from derivations.benign_overfitting.setting import Case
from derivations.benign_overfitting.special import mean_field, span_network
from odesys.papers.workers import available_cores


def time_heat_map(store: Path | None) -> None:
    """The heat map of figure 1 on all cores."""
    _, cases = paper_figures.heat_cases()
    began = time.perf_counter()
    losses = heat_map(cases, Theory(paper_figures.EPS), workers=available_cores(), store=store)
    took, spent = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"heat map {losses.shape}: {took:.1f} s on {available_cores()} cores, {spent.ru_utime:.1f} s of them computing"
    )


def compare_wide_networks(seeds: int = 2) -> None:
    """Test loss at training loss 0.05 for d = 6000, d_h = 3000 in both regimes."""
    for mu in (30.0, 3.0):
        case = Case(8, 3, 6000, 3000, mu, 20.0, 4.0, sigma_V=1e-4 / mu)
        theory = [mean_field.test_loss(case, 0.05, frozen) for frozen in (True, False)]
        for seed in range(seeds):
            began = time.perf_counter()
            run = span_network.descend(span_network.draw(case, seed), 0.02 / case.largest, 0.05, 20_000)
            test = span_network.test_loss(run, 4000, seed)
            took = time.perf_counter() - began
            print(
                f"mu = {mu:g}, seed {seed}: network {test.loss:.4f} +- {test.error:.4f}, mean field {theory[0]:.4f} "
                f"(12 variables), {theory[1]:.4f} (18 variables); tau_3 = {run.tau:.4f}; {took:.1f} s"
            )


if __name__ == "__main__":
    time_heat_map(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    compare_wide_networks()
