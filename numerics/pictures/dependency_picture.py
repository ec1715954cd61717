"""Who drives whom: the dependency graph of a system as a picture, states on a circle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odesys.expr.system import System

from .plotting import new_figure, save_figure

MOST_STATES = 24
ROOM = 0.16  # of the radius, around the name of a state


def dependency_picture(system: System, folder: Path) -> list[Path]:
    """Draw an arrow from each state to those whose equations read it; nothing for one state or more than 24.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [file.name for file in dependency_picture(System.from_strings("x' = y; y' = -x"), Path(place))]
    ['dependency.svg']
    """
    if not 2 <= system.dimension <= MOST_STATES:
        return []
    edges = {pair for pair in system.dependency_graph().edges if pair[0] != pair[1]}
    angles = np.pi / 2 - 2 * np.pi * np.arange(system.dimension) / system.dimension
    places = dict(zip(system.names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    size = 2.0 + 0.12 * system.dimension
    fig, axis = new_figure(1, 1, size=(size, size))
    for one, other in sorted(edges):
        here, there = places[one], places[other]
        gap = ROOM * (there - here) / np.linalg.norm(there - here)
        bend = "arc3,rad=0.15" if (other, one) in edges else "arc3"
        style = {"arrowstyle": "-|>", "color": "0.45", "connectionstyle": bend, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", there - gap, here + gap, arrowprops=style)
    for name, place in places.items():
        axis.text(*place, name, ha="center", va="center", fontsize=9)
    axis.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    axis.axis("off")
    return save_figure(fig, folder, "dependency", ("svg",))
