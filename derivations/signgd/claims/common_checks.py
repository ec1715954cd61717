"""From watched runs to verdicts: ranges, events that must not happen, and fits; always measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from odesys import IntegrationError, Verdict, measured, rounded

from ..laboratory import Laboratory
from ..special.watched_runs import Events, Record

RUNS = "R1: n = 41, m_k = 64, m_v = 4096, s = 4 10^6; R2: n = 11, m_k = 32, m_v = 10^8, s = 10^12; seed 0; "


def never(what: str, events: Events, low: float, high: float, pairs: np.ndarray | None = None) -> Verdict:
    """No event in an interval of time (of the given pairs)."""
    found = events.within(low, high)
    keep = np.ones(len(found), dtype=bool) if pairs is None else pairs[found.neuron, found.sample]
    count = int(keep.sum())
    first = (
        None
        if not count
        else {
            "theta": rounded(found.theta[keep][0], 5),
            "neuron": int(found.neuron[keep][0]),
            "sample": int(found.sample[keep][0]),
        }
    )
    return measured(count == 0, {what: f"{count} times", "first": first}, **{what: "never"} if not count else {})


def on_both(lab: Laboratory, check: Callable[[Record], Verdict], names: Sequence[str] = ("R1", "R2")) -> Verdict:
    """The same check on several runs; details carry the run's name."""
    total: Verdict | None = None
    for name in names:
        found = check(lab.record(name))
        named = {f"{name} {key}": value for key, value in found.details.items()}
        part = Verdict(
            found.as_stated,
            found.evidence,
            witness=None if found.witness is None else {"run": name, **dict(found.witness)},
            residual=found.residual,
            details=named,
        )
        total = part if total is None else total & part
    assert total is not None
    return total


def later(record: Record, theta: float) -> slice:
    """Snapshots from a time on."""
    first = int(np.searchsorted(record.run.times, theta))
    if first >= len(record.run.times):
        raise IntegrationError(f"the run ends at {record.run.times[-1]:g}, before {theta:g}", time=theta)
    return slice(first, None)


def window(record: Record, low: float, high: float) -> slice:
    """Snapshots in an interval of time."""
    first, last = (int(np.searchsorted(record.run.times, x)) for x in (low, high * (1 + 1e-12)))
    if last <= first:
        raise IntegrationError(f"there is no snapshot between {low:g} and {high:g}", time=low)
    return slice(first, last)


# ---- quantities of a record ------------------------------------------------------------------------------------------


def opposite(record: Record) -> np.ndarray:
    """Pairs whose query and key noise start with opposite signs."""
    start = record.start.state
    return np.asarray(start.q * start.k < 0)


def quiet_pairs(record: Record, low: float, high: float) -> Verdict:
    """No pair turns or crosses zero in an interval."""
    verdict = never("turn or zero", record.events["q"], low, high)
    for kind in ("k", "q zero", "k zero"):
        verdict = verdict & never("turn or zero", record.events[kind], low, high)
    return verdict
