"""The log of a run: gates that switch and slides along surfaces, as events."""

from __future__ import annotations

import numpy as np

from .modes import Mode
from .surfaces import Surfaces
from .trajectory import Event


class EventLog:
    """Events of a run in the making; slides are open until they end."""

    def __init__(self, surfaces: Surfaces, start: float) -> None:
        self.surfaces, self.start = surfaces, start
        self.events: list[Event] = []
        self._open: dict[int, tuple[float, int]] = {}  # surface: when its slide began, and the gate before

    def change(self, t: float, old: Mode, new: Mode) -> None:
        """What a change of mode means surface by surface: a switch, a slide that begins, a slide that ends."""
        before, after = set(old.sliding.tolist()), set(new.sliding.tolist())
        for i in sorted(after - before):
            self._begin(i, t, round(float(old.gates[i])))
        for i in sorted(before - after):
            self._end(i, t, int(new.gates[i]))
        for i in np.flatnonzero(old.gates != new.gates):
            if i not in before | after:
                self._switch(int(i), t, int(new.gates[i]))

    def finish(self, t: float) -> None:
        """End of the run: slides that go on end there, with no gate."""
        for i in list(self._open):
            self._end(i, t, None)

    def _begin(self, i: int, t: float, gate: int) -> None:
        same = [e for e in self.events if e.kind == "slide" and e.detail["surface"] == i and e.detail["end"] == t]
        for event in same:  # a slide that ended at this very time goes on
            self.events.remove(event)
        self._open[i] = (same[0].time, same[0].detail["before"]) if same else (t, gate)

    def _end(self, i: int, t: float, gate: int | None) -> None:
        begun, before = self._open.pop(i)
        if begun < t or gate is None:
            detail = {"surface": i, "end": t, "before": before, "gate": gate}
            self.events.append(Event(self.surfaces.names[i], "slide", begun, detail))
        elif gate != before:
            self._switch(i, t, gate)

    def _switch(self, i: int, t: float, gate: int) -> None:
        back = [e for e in self.events if e.kind == "switch" and e.time == t and e.detail["surface"] == i]
        if back:
            self.events.remove(back[0])
        elif t > self.start:  # at the start a gate is chosen, not switched
            self.events.append(Event(self.surfaces.names[i], "switch", t, {"surface": i, "gate": gate}))
