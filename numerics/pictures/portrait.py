"""Phase portrait of a planar flow: streamlines, all nullclines, separatrices, and equilibria marked by their type.

Drawn without a display (Agg) and written whole or not at all. The picture is a measurement; what an equilibrium is
called comes from `odesys.analysis.rest_types.type_at_rest`, as in the lines of `analyse`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from odesys.analysis.equilibria import asked_range, equilibria
from odesys.analysis.rest_types import type_at_rest
from odesys.errors import EquationError, OutputError, ParameterError
from odesys.expr import graph
from odesys.expr.system import TIME, System
from odesys.files import prepare_file, write_bytes

from .portrait_curves import nullclines, separatrices

GRID = 61
FORMATS = ("png", "pdf", "svg")
#: an unstable point is drawn hollow
MARKERS = {
    "node": "o",
    "focus": "s",
    "node or focus": "o",
    "saddle": "X",
    "centre": "D",
    "linear centre": "d",
    "degenerate": "*",
    "kink": "^",
    "undecided": "P",
}


def phase_portrait(
    system: System,
    parameters: Mapping[str, Any],
    box: Any,
    path: str | Path,
    integrals: Sequence[Any] = (),
    title: str = "",
) -> Path:
    """Draw a planar flow on a box and write the picture to `path` (png, pdf or svg); return the path.

    Parameters
    ----------
    system : System
        A flow of two states.
    parameters : Mapping[str, Any]
        Values of its parameters, by name.
    box : Any
        {state: (low, high)} for both states, or two pairs in the order of the states.
    path : str | Path
        File to write: png, pdf or svg.
    integrals : Sequence[Any], optional
        Conserved quantities that may turn a linear centre into a centre; each is checked, not believed.
    title : str, optional
        Above the picture.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from odesys import sym
    >>> spring = System.from_equations({"x": sym("v"), "v": -sym("x")})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     phase_portrait(spring, {}, {"x": (-1, 1), "v": (-1, 1)}, Path(folder, "portrait.svg")).name
    'portrait.svg'
    """
    ranges = _ranges(system, box)
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise OutputError(f"{path} should end in one of .{', .'.join(FORMATS)}", path=Path(path))
    field = system.compile({name: _number(name, value) for name, value in parameters.items()})
    target = prepare_file(path)
    marks = marked_equilibria(system, parameters, ranges, integrals)
    xs, ys = (np.linspace(*ranges[name], GRID) for name in system.names)
    u, v = _on_grid(field, xs, ys)
    saddles = [(x, y) for x, y, kind, _ in marks if kind == "saddle"]
    curves = separatrices(system, parameters, ranges, saddles)
    return write_bytes(
        target, _draw(system, xs, ys, u, v, nullclines(system, parameters, ranges), curves, marks, title, suffix)
    )


def marked_equilibria(
    system: System,
    parameters: Mapping[str, Any],
    ranges: Mapping[str, tuple[float, float]],
    integrals: Sequence[Any] = (),
) -> list[tuple[float, float, str, str]]:
    """Equilibria in a box as (x, y, type, stability); a whole line of them is left out.

    Type is that of the full flow where it is known; a linear centre that is not settled is called ``linear centre``.
    """
    exact = {name: sp.Rational(str(v)) if isinstance(v, float) else v for name, v in parameters.items()}
    quantities = [graph.as_node(one) for one in integrals]
    found = []
    for equilibrium in equilibria(system, exact, box=dict(ranges)):
        place = [float(equilibrium.point[name]) for name in system.names]
        if not all(low <= x <= high for x, (low, high) in zip(place, ranges.values(), strict=True)):
            continue
        said = type_at_rest(system, equilibrium, exact, quantities)
        kind = said.nonlinear_type
        if kind == "undecided":
            kind = "linear centre" if said.linear_type == "centre" else said.linear_type
        found.append((place[0], place[1], kind, said.stability))
    return found


def _ranges(system: System, box: Any) -> dict[str, tuple[float, float]]:
    if system.dimension != 2 or system.kind != "flow":
        raise EquationError(f"a phase portrait needs a flow with two states; this {system.kind} has {system.dimension}")
    if TIME in graph.symbols(system.nodes) and TIME not in system.names:
        raise EquationError("a phase portrait needs a system that does not depend on time t")
    pairs = box if isinstance(box, Mapping) else dict(zip(system.names, box, strict=False))
    ranges = {}
    for name in system.names:
        if name not in pairs:
            raise ParameterError(f"the box has no range for {name}; give {{{name!r}: (low, high), ...}}")
        low, high = map(float, asked_range(name, pairs[name]))
        if not low < high:
            raise ParameterError(f"the range of {name} is empty: {low:g} is not below {high:g}")
        ranges[name] = (low, high)
    return ranges


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} = {value} is not a number") from None
    if not math.isfinite(number):
        raise ParameterError(f"{name} = {number} must be finite")
    return number


def _on_grid(field: Any, xs: np.ndarray, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = np.empty((2, len(ys), len(xs)))
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            values[:, i, j] = field(0.0, (x, y))
    values[:, ~np.isfinite(values).all(axis=0)] = np.nan  # the field is not defined here; the picture has a hole
    if np.isnan(values).all():
        raise EquationError("the field is not defined anywhere on the box, so there is nothing to draw")
    return values[0], values[1]


def _draw(
    system: System,
    xs: np.ndarray,
    ys: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    lines: tuple[np.ndarray, np.ndarray, list[list[np.ndarray]]],
    curves: Sequence[tuple[str, np.ndarray]],
    marks: Sequence[tuple[float, float, str, str]],
    title: str,
    suffix: str,
) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.streamplot(
        xs,
        ys,
        np.ma.masked_invalid(u),
        np.ma.masked_invalid(v),
        density=1.3,
        linewidth=0.7,
        arrowsize=0.8,
        color="0.55",
        zorder=1,
    )
    names = [f"${system.tex[name]}$" if name in system.tex else name for name in system.names]
    fine_x, fine_y, parts = lines
    for tables, colour, name in zip(parts, ("tab:blue", "tab:orange"), names, strict=True):
        for table in tables:
            if np.isfinite(table).any() and np.nanmin(table) < 0 < np.nanmax(table):
                axes.contour(
                    fine_x, fine_y, table, levels=[0.0], colors=colour, linewidths=1.4, linestyles="--", zorder=2
                )
        axes.plot([], [], "--", color=colour, linewidth=1.4, label=f"{name} at rest")
    told: set[str] = set()
    for kind, points in curves:
        colour = "tab:green" if kind == "stable" else "tab:purple"
        label = None if kind in told else f"{kind} separatrix"
        axes.plot(points[:, 0], points[:, 1], "-", color=colour, linewidth=1.5, zorder=2.5, label=label)
        told.add(kind)
    shown: set[tuple[str, str]] = set()
    for x, y, kind, stability in marks:
        label = kind if stability == "undecided" else f"{kind}, {stability}"
        hollow = stability == "unstable"
        axes.plot(
            [x],
            [y],
            MARKERS.get(kind, "P"),
            markersize=8,
            color="tab:red",
            zorder=3,
            linestyle="none",
            markerfacecolor="white" if hollow else "tab:red",
            label=None if (kind, stability) in shown else label,
        )
        shown.add((kind, stability))
    axes.set(xlim=(xs[0], xs[-1]), ylim=(ys[0], ys[-1]), xlabel=names[0], ylabel=names[1], title=title)
    axes.legend(loc="upper right", fontsize="small", framealpha=0.9)
    data = io.BytesIO()
    # no time stamps: the same portrait gives the same file
    stamp = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[suffix]
    figure.savefig(data, format=suffix, dpi=150, metadata=stamp)
    return data.getvalue()
