"""One look for all pictures, and files that are either complete or absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odesys.errors import OutputError

SIZE = (6.0, 4.0)


def figure(rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any) -> tuple[Any, Any]:
    """A figure without a display, with the project's defaults."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"axes.grid": True, "grid.alpha": 0.25, "axes.spines.top": False, "axes.spines.right": False,
                         "legend.frameon": False, "font.size": 10, "svg.hashsalt": "odesys"}):
        return plt.subplots(rows, columns, figsize=size or (SIZE[0] * columns, SIZE[1] * rows), layout="constrained",
                            **options)


def save(fig: Any, folder: Path, name: str, formats: tuple[str, ...] = ("png", "svg")) -> list[Path]:
    """Write a figure in several formats: first beside the target, then moved over it."""
    import matplotlib.pyplot as plt

    folder = Path(folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in formats:
            target = folder / f"{name}.{kind}"
            partial = folder / f".{name}.partial.{kind}"
            try:
                fig.savefig(partial, dpi=150, metadata={"Date": None} if kind == "svg" else None)
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
            written.append(target)
    except OSError as problem:
        raise OutputError(f"the picture {name} can not be written to {folder}: {problem.strerror or problem}") from None
    finally:
        plt.close(fig)
    return written
