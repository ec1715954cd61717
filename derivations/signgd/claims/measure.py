"""From watched runs to verdicts: ranges, events that must not happen, and fits; always measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from odesys.verdicts import Verdict, measured

from ..laboratory import Laboratory
from ..records import Events, Record
from .book import rounded


def between(what: str, values: Any, low: float, high: float) -> Verdict:
    """All values lie in an interval; the range seen is kept."""
    seen = np.asarray(values, dtype=float).ravel()
    if not seen.size:
        raise ValueError(f"{what}: nothing was measured")
    lowest, highest = float(np.nanmin(seen)), float(np.nanmax(seen))
    right = bool(np.isfinite(seen).all() and lowest >= low and highest <= high)
    return measured(right, {what: rounded([lowest, highest]), "allowed": rounded([low, high])}, **{what: rounded([lowest, highest])})


def never(what: str, events: Events, low: float, high: float, pairs: np.ndarray | None = None) -> Verdict:
    """No event in an interval of time (of the given pairs)."""
    found = events.within(low, high)
    keep = np.ones(len(found), dtype=bool) if pairs is None else pairs[found.neuron, found.sample]
    count = int(keep.sum())
    first = None if not count else {"theta": rounded(found.theta[keep][0]), "neuron": int(found.neuron[keep][0]), "sample": int(found.sample[keep][0])}
    return measured(count == 0, {what: f"{count} times", "first": first}, **{what: "never"} if not count else {})


def always(what: str, right: Any) -> Verdict:
    """A condition holds in every place of an array."""
    found = np.asarray(right)
    if not found.size:
        raise ValueError(f"{what}: nothing was measured")
    share = float(found.mean())
    return measured(bool(found.all()), {what: f"in {share:.4f} of {found.size} places"}, **{what: f"{share:.4f} of {found.size}"})


def on_both(lab: Laboratory, check: Callable[[Record], Verdict], names: Sequence[str] = ("R1", "R2")) -> Verdict:
    """The same check on several runs; details carry the run's name."""
    total: Verdict | None = None
    for name in names:
        found = check(lab.record(name))
        named = {f"{name} {key}": value for key, value in found.details.items()}
        part = Verdict(found.as_stated, found.evidence, witness=None if found.witness is None else {"run": name, **dict(found.witness)},
                       residual=found.residual, details=named)
        total = part if total is None else total & part
    assert total is not None
    return total


def later(record: Record, theta: float) -> slice:
    """Snapshots from a time on."""
    first = int(np.searchsorted(record.run.times, theta))
    if first >= len(record.run.times):
        raise ValueError(f"the run ends at {record.run.times[-1]:g}, before {theta:g}")
    return slice(first, None)


def window(record: Record, low: float, high: float) -> slice:
    """Snapshots in an interval of time."""
    first, last = (int(np.searchsorted(record.run.times, x)) for x in (low, high * (1 + 1e-12)))
    if last <= first:
        raise ValueError(f"no snapshot between {low:g} and {high:g}")
    return slice(first, last)
