"""From watched runs to verdicts: ranges, events that must not happen, and fits; always measurements."""

from __future__ import annotations

import numpy as np

from odesys import IntegrationError, Verdict, measured, rounded

from ..setting import Case
from ..special.conditions import beside
from ..special.watched_runs import Events, Record

NOT_SUPPOSED = "Condition 3.1 is not supposed, and missed as the table says"


def not_supposed(verdict: Verdict, case: Case, eta: float, setting: str) -> Verdict:
    """A verdict on runs outside Condition 3.1, which the claim does not suppose: its table, and inside of what they are."""
    said = verdict.adding(
        supposes=f"{setting}, inside which the runs are; {NOT_SUPPOSED}", condition_3_1=beside(case, eta)
    )
    return said.inside(f"{setting}; {NOT_SUPPOSED}")


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
