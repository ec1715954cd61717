"""Numbers read off runs, always twice: off the derived flow, and off the same network trained in weight space.

A claim along trajectories speaks of networks, so what is read off the derived flow of the laboratory has to be what
the network itself does; the tolerance 1e-6 is a hundred times what both integrations differ by. Where the paper leaves
a constant open and no closed form is at hand, it is twice the largest number of *other* networks (another width, other
seeds).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odesys import Verdict, agrees, combine_verdicts, fit_power_law, has_exponent, measured, rounded

from ..laboratory import Laboratory
from ..special.standard_runs import (
    OTHER_SEEDS,
    OTHER_WIDTH,
    T1,
    WIDTHS,
    L,
    N,
    Pair,
    phase_two_part,
    standard_pairs,
    sweep_pairs,
)
from ..special.trajectories import Course

TWICE = "every number is also read off the same networks trained in weight space and agrees to 1e-6 of itself"
SWEEP = f"(n, L) = (12, 5), m1 = 16, c0 = 0.3, m in {', '.join(map(str, WIDTHS))}, 3 seeds each, tau = 20; {TWICE}"
NETWORKS = f"n = {N}, L = {L}, m = 512, m1 = 16, c0 = 0.1, seeds 0, 1, tau from {T1:g} to 1000; {TWICE}"
OTHERS = f"twice the largest of other networks (m = {OTHER_WIDTH}, seeds {OTHER_SEEDS[0]}-{OTHER_SEEDS[-1]})"

Reader = Callable[[Course], Any]


def twice(pairs: Sequence[Pair], read: Reader) -> tuple[list[Any], Verdict]:
    """What is read off each derived run, and whether the trained networks show the same."""
    found = [read(derived) for derived, _ in pairs]
    known = [read(real) for _, real in pairs]
    return found, agrees(
        {str(k): v for k, v in enumerate(found)} if not isinstance(found[0], Mapping) else _flat(found),
        {str(k): v for k, v in enumerate(known)} if not isinstance(known[0], Mapping) else _flat(known),
    )


def _flat(rows: Sequence[Mapping[Any, Any]]) -> dict[str, Any]:
    return {f"{k} {name}": value for k, row in enumerate(rows) for name, value in row.items()}


def sweep_exponent(lab: Laboratory, value: Callable[[Course], float], expected: float, width: float = 0.6) -> Verdict:
    """The fitted exponent's 95 percent interval over the sweep contains the expected one and is short."""
    pairs = sweep_pairs(lab)
    found, same = twice(pairs, value)
    return same & has_exponent(fit_power_law([run.scale.m for run, _ in pairs], found), expected, width)


def twice_others(read: Callable[[Course], np.ndarray | float], others: Sequence[Course]) -> float:
    """A constant: twice the largest number the other networks show."""
    return 2 * max(float(np.max(read(run))) for run in others)


def below(
    lab: Laboratory, ratio: Callable[[Course], np.ndarray | float], limit: float, what: str = "largest"
) -> Verdict:
    """A ratio to a printed order stays below an explicit constant in every run of the sweep."""
    found, same = twice(sweep_pairs(lab), ratio)
    largest = max(float(np.max(x)) for x in found)
    verdict = measured(largest < limit, {what: largest, "limit": limit})
    return same & verdict.with_constants(**{what: rounded(largest, 4), f"C of {what}": rounded(limit, 4)})


def late(run: Course, column: np.ndarray) -> np.ndarray:
    """The part of a column of times that belongs to phase 2."""
    return column[phase_two_part(run)]


def late_ranges(lab: Laboratory, quantities: Mapping[str, tuple[Reader, float, float]]) -> Verdict:
    """Each quantity stays between two numbers in phase 2 of every standard network."""
    pairs, parts, seen = standard_pairs(lab), {}, {}
    for name, (read, low, high) in quantities.items():
        columns, same = twice(pairs, lambda run, read=read: late(run, read(run)))  # type: ignore[misc]
        seen[name] = (float(min(c.min() for c in columns)), float(max(c.max() for c in columns)))
        inside = measured(
            low < seen[name][0] and seen[name][1] < high, {name: rounded(seen[name]), "allowed": [low, high]}
        )
        parts[name] = same & inside
    return (
        combine_verdicts(parts)
        .adding(ranges=rounded(seen, 4))
        .with_constants(**{f"range of {k}": rounded(v, 4) for k, v in seen.items()})
    )
