"""One look for all pictures, and files that are either complete or absent."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odesys.files import figure_formats, write_bytes

DPI = 150  # of pictures
SIZE = (6.0, 4.0)
WIDE, LEAST = 10.5, 0.72  # inches that a page shows at their size; what a wider figure may shrink to
STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
}


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Any, Any]:
    """A figure without a display, with the project's defaults.

    Parameters
    ----------
    rows : int, optional
        Rows of axes.
    columns : int, optional
        Columns of axes.
    size : tuple[float, float], optional
        In inches, of the whole figure; a wide one is drawn smaller, with letters of the same size.
    **options : Any
        Passed on to ``matplotlib.pyplot.subplots``.

    Returns
    -------
    tuple[Any, Any]
        Figure and axes, as ``matplotlib.pyplot.subplots`` gives them.

    Examples
    --------
    >>> fig, (left, right) = new_figure(1, 2)
    >>> curve = left.plot([0, 1], [1, 0])
    >>> len(fig.axes)
    2
    """
    import matplotlib

    if "ipykernel" not in sys.modules:  # a notebook shows what it draws
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    width, height = size or (SIZE[0] * columns, SIZE[1] * rows)
    scale = min(max(WIDE / width, LEAST), 1.0)  # letters keep their size, so that they can be read in a wide figure
    shown = (scale * width, (1 + scale) / 2 * height)
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=shown, layout="constrained", **options)


def draw_layers(graph: Any, colours: Mapping[str, str], legend: Mapping[str, str], title: str) -> Any:
    """A directed acyclic graph in layers from left to right; node colours by name, a legend of what they mean."""
    import networkx as nx

    layers = [sorted(layer) for layer in nx.topological_generations(graph)]
    places = {}
    for depth, layer in enumerate(layers):
        for k, node in enumerate(layer):  # odd layers are shifted, so that neighbours do not stand on one line
            places[node] = (float(depth), (k + 0.5) / len(layer) + 0.03 * (depth % 2))
    fig, ax = new_figure(size=(max(12.0, 1.15 * len(layers)), 9.0))
    nx.draw_networkx_edges(graph, places, ax=ax, edge_color="0.75", arrowsize=8, node_size=900, width=0.8)
    for node, (x, y) in places.items():
        ax.text(
            x,
            y,
            node,
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": colours[node], "edgecolor": "0.4", "linewidth": 0.6},
        )
    for text, colour in legend.items():
        ax.plot([], [], "s", color=colour, label=text, markersize=9)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=len(legend), fontsize=9)
    ax.set_title(title)
    ax.set_axis_off()
    ax.margins(0.06)
    return fig


def save_figure(fig: Any, folder: Path, name: str, formats: tuple[str, ...] = ()) -> list[Path]:
    """Write a figure in several formats, each whole or not at all; the same figure gives the same bytes.

    Parameters
    ----------
    fig : Any
        A figure of matplotlib; it is closed.
    folder : Path
        Where the files go.
    name : str
        Their name without the ending.
    formats : tuple[str, ...], optional
        Such as ``png`` and ``svg``; by default both.

    Returns
    -------
    list[Path]
        The files that were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> fig, ax = new_figure()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [file.name for file in save_figure(fig, Path(folder), "empty", ("svg",))]
    ['empty.svg']
    """
    import matplotlib.pyplot as plt

    try:
        written = []
        engine = fig.get_layout_engine()
        if engine is not None:  # where everything goes is found once, for all formats
            fig.set_dpi(DPI)
            engine.execute(fig)
            fig.set_layout_engine(None)  # an engine, "none" included, would have each format drawn twice
        for kind in formats or figure_formats.get():
            buffer = io.BytesIO()
            undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
            with plt.rc_context({"svg.hashsalt": "odesys"}):
                fig.savefig(buffer, format=kind, dpi=DPI, metadata=undated)
            written.append(write_bytes(Path(folder) / f"{name}.{kind}", buffer.getvalue()))
        return written
    finally:
        plt.close(fig)
