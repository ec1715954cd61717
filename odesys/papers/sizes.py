"""How large the systems of a paper are: derived, not typed in, and kept on disk under a hash of all sources."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import OdesysError
from ..terminal import Progress, silent
from .paper import Paper


@dataclass(frozen=True)
class SystemSize:
    """One system of a paper: flow or map, number of states, names left open; or why it can not be written out."""

    name: str
    kind: str = ""
    states: int = 0
    parameters: tuple[str, ...] = ()
    refused: str = ""


def system_sizes(
    paper: Paper, parameters: Mapping[str, Any], folder: Path | None, progress: Progress = silent
) -> list[SystemSize]:
    """The size of every system, read where it was derived before; `folder` is that of the sources of the paper."""
    from . import kept_runs

    place, known = None, {}
    if folder is not None:
        place = kept_runs.kept_file("sizes", folder, f"{paper.name} {sorted(parameters.items())}")
    if place is not None:
        with suppress(*kept_runs.TROUBLE):
            known = {
                row["name"]: SystemSize(**{**row, "parameters": tuple(row["parameters"])})
                for row in kept_runs.read_own(place)["systems"]
            }
    found = []
    for k, name in enumerate(paper.systems):
        progress(f"deriving {paper.name} {name}", k / len(paper.systems))
        found.append(known.get(name) or _size(paper, name, parameters))
    if place is not None and not known:
        with suppress(*kept_runs.TROUBLE):
            kept_runs.keep_own(place, {"systems": [asdict(size) for size in found]})
    return found


def _size(paper: Paper, name: str, parameters: Mapping[str, Any]) -> SystemSize:
    try:
        system = paper.systems[name](parameters)
    except OdesysError as error:
        return SystemSize(name, refused=str(error))
    return SystemSize(name, system.kind, system.dimension, system.parameters)
