"""One look for all pictures, and files that are either complete or absent."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from odesys.output import write_bytes

SIZE = (6.0, 4.0)
STYLE: dict[Any, Any] = {
    "axes.grid": True, "grid.alpha": 0.25, "axes.spines.top": False, "axes.spines.right": False, "font.size": 10,
}


def figure(rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any) -> tuple[Any, Any]:
    """A figure without a display, with the project's defaults."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=size or (SIZE[0] * columns, SIZE[1] * rows), layout="constrained",
                            **options)


def save(fig: Any, folder: Path, name: str, formats: tuple[str, ...] = ("png", "svg")) -> list[Path]:
    """Write a figure in several formats, each whole or not at all; the same figure gives the same bytes."""
    import matplotlib.pyplot as plt

    try:
        written = []
        for kind in formats:
            buffer = io.BytesIO()
            with plt.rc_context({"svg.hashsalt": "odesys"}):
                fig.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            written.append(write_bytes(Path(folder) / f"{name}.{kind}", buffer.getvalue()))
        return written
    finally:
        plt.close(fig)
