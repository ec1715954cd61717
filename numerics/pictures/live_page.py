"""A page on which a reader runs a system: sliders for parameters and start, curves, gates; whole in one file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from numerics.flows.integrate import integrate, own_system
from numerics.flows.trajectory import Trajectory
from odesys.analysis.findings import Analysis
from odesys.errors import IntegrationError, OdesysError, ParameterError
from odesys.expr import graph
from odesys.expr.system import TIME, System
from odesys.files import write_text
from odesys.papers.explorer import Explorer, LiveProtocol, LiveStage, Panel, Slider
from odesys.report.explorer import explorer_page
from odesys.report.svg import InlineFigure, inline
from odesys.tex.latex import name_tex, system_mathml

from .dependency_picture import dependency_picture
from .plotting import new_figure, save_figure
from .portrait import phase_portrait

CURVES = 6  # in one picture
PANELS = 6  # pictures of states
STARTS = 12  # states whose start can be moved
LARGEST_MATHML = 200_000  # characters of the equations on a page
FAR = 20.0  # times the size of what is seen: equilibria and runs beyond that do not set the window of a portrait
LARGEST = 1e300  # a number that can be moved
UNSAID = 1.0  # a parameter or start value that nobody gave


def page(
    system: Any,
    path: str | Path = "system.html",
    start: Mapping[str, float] | Sequence[float] | None = None,
    t_end: float = 10.0,
    parameters: Mapping[str, float] | None = None,
    panels: Sequence[Panel] = (),
    title: str = "A system to try",
    analysis: Analysis | None = None,
) -> Path:
    """Write one self-contained page that runs a flow in the browser; return its path.

    Parameters
    ----------
    system : Any
        A flow, or what has one as its ``.system``.
    path : str | Path, optional
        The file to write.
    start : Mapping[str, float] | Sequence[float], optional
        Start values, as a vector or by name; 1 where none is given, and the page says so.
    t_end : float, optional
        The end of the run, which has a slider as well.
    parameters : Mapping[str, float], optional
        Values of parameters by name; 1 where none is given.
    panels : Sequence[Panel], optional
        What is drawn; by default all states, and all observables.
    title : str, optional
        Above the page.
    analysis : Analysis, optional
        What is known about the system, from `analyse`; it is shown with a phase portrait of planar flows.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> pendulum = System.from_strings({"x": "v", "v": "-sin(x) - k*v"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page(pendulum, Path(folder) / "pendulum.html", {"x": 2, "v": 0}, 30, {"k": 0.1}).name
    'pendulum.html'
    """
    flow = own_system(system, "page")
    made = system_explorer(flow, start, t_end, parameters, panels, title)
    equations = system_mathml(flow)
    static = _static(flow, made)
    pictures: list[InlineFigure] = []
    if analysis is not None:
        pictures, why = _portrait(flow, made, analysis)
        pictures += _dependencies(flow)
        analysis = replace(analysis, notes=(*analysis.notes, why)) if why else analysis
    if len(equations) > LARGEST_MATHML:
        equations, said = "", "The equations are too long for this page; system.latex() writes them."
        made = replace(made, note=f"{made.note} {said}".lstrip())
    text = explorer_page(made, static, equations, analysis, pictures)
    return write_text(Path(path), text)


def _portrait(system: System, made: Explorer, analysis: Analysis) -> tuple[list[InlineFigure], str]:
    """The phase portrait of a planar flow around where its run goes and its equilibria; or why there is none."""
    if system.dimension != 2:
        return [], f"a phase portrait: it is drawn for two states, and there are {system.dimension}"
    if TIME in graph.symbols(system.nodes):
        return [], "a phase portrait: the field depends on time"
    values = {slider.name: slider.value for slider in made.sliders}
    parameters = {name: values[name] for name in system.parameters}
    start = [values[node.args[0]] for node in made.protocols[0].start.values()]
    try:
        box = _window(system, start, values[made.protocols[0].end.args[0]], parameters, analysis)
        with tempfile.TemporaryDirectory() as folder:
            file = phase_portrait(system, parameters, box, Path(folder) / "portrait.svg", analysis.integrals)
            what = "Phase portrait: streamlines, nullclines, separatrices of saddles, equilibria"
            return inline([file], "portrait", what, 10**6), ""
    except OdesysError as problem:
        return [], f"a phase portrait: {problem}"


def _window(
    system: System, start: Sequence[float], end: float, parameters: Mapping[str, float], analysis: Analysis
) -> dict[str, tuple[float, float]]:
    """A box around the run and the isolated equilibria near it; around those alone where the run goes far away."""
    points = [point.point.values() for point in analysis.rests or () if not point.condition]
    rests = np.array([[float(v) for v in point] for point in points if not any(_has_symbols(v) for v in point)])
    seen = np.array([start]) if not len(rests) else rests
    try:
        states = integrate(system, start, (0.0, end), parameters).states
        reach = FAR * (1 + np.abs(rests).max(initial=np.abs(start).max()))
        if np.abs(states).max() <= reach:
            size = 1 + np.abs(states).max()
            near = rests[np.abs(rests).max(axis=1) <= FAR * size] if len(rests) else rests
            seen = np.vstack([states, *([near] if len(near) else [])])
    except IntegrationError:
        pass
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = np.maximum(0.3 * (high - low), 0.5)
    return {name: (float(a), float(b)) for name, a, b in zip(system.names, low - room, high + room, strict=True)}


def _has_symbols(value: Any) -> bool:
    return bool(getattr(value, "free_symbols", ()))


def _dependencies(system: System) -> list[InlineFigure]:
    """The picture of who drives whom."""
    with tempfile.TemporaryDirectory() as folder:
        files = dependency_picture(system, Path(folder))
        what = "Who drives whom: an arrow goes to the states whose equations read a state"
        return inline(files, "dependency", what, 10**6) if files else []


def system_explorer(
    system: System,
    start: Mapping[str, float] | Sequence[float] | None = None,
    t_end: float = 10.0,
    parameters: Mapping[str, float] | None = None,
    panels: Sequence[Panel] = (),
    title: str = "A system to try",
) -> Explorer:
    """The explorer of a system: a slider for each parameter, for each of the first states, and for the end."""
    given = {str(name): float(value) for name, value in (parameters or {}).items()}
    first = _named(system, start)
    for known, names, what in ((given, system.parameters, "parameter"), (first, system.names, "state")):
        unknown = sorted(set(known) - set(names))
        if unknown:
            raise ParameterError(f"{unknown[0]} is no {what} of this system; it has {', '.join(names) or 'none'}")
    values = {name: given.get(name, UNSAID) for name in system.parameters}
    starts = {name: first.get(name, UNSAID) for name in system.names}
    end = _free("t_end", system)
    moved = {name: _free(f"{name}_0", system) for name in system.names[:STARTS]}
    tex = {name: system.tex.get(name) or name_tex(name) for name in (*values, *starts)}
    sliders = [_slider(name, value, tex[name]) for name, value in values.items()]
    sliders += [_slider(to, starts[name], f"{tex[name]}(0)") for name, to in moved.items()]
    sliders.append(Slider(end, float(t_end), float(t_end) / 20, 20 * float(t_end), "end of the run", "t", log=True))
    begin = {name: graph.sym(moved[name]) if name in moved else graph.num(value) for name, value in starts.items()}
    protocol = LiveProtocol("run", "run", (LiveStage("", system),), begin, graph.sym(end), panels or _panels(system))
    unsaid = [name for name in (*values, *starts) if name not in given and name not in first]
    notes = [f"No values were given for {', '.join(unsaid)}: they are {UNSAID:g} at first."] if unsaid else []
    size = system.dimension
    if size > STARTS:
        notes.append(f"{STARTS} of the {size} states have a slider for their start; the others keep theirs.")
    if size > PANELS * CURVES and not panels:
        notes.append(f"{PANELS * CURVES} of the {size} states are drawn.")
    return Explorer(title, tuple(sliders), (protocol,), home="values at first", note=" ".join(notes))


def _named(system: System, start: Mapping[str, float] | Sequence[float] | None) -> dict[str, float]:
    if start is None or isinstance(start, Mapping):
        return {str(name): float(value) for name, value in (start or {}).items()}
    if len(start) != system.dimension:
        raise ParameterError(f"the start has {len(start)} entries but the system has {system.dimension} states")
    return dict(zip(system.names, map(float, start), strict=True))


def _free(name: str, system: System) -> str:
    """A name that no state and no parameter has."""
    while name in system.names or name in system.parameters:
        name += "_"
    return name


def _slider(name: str, value: float, tex: str) -> Slider:
    """From a tenth to ten times a positive value; else as far to both sides."""
    if abs(value) > LARGEST:
        raise ParameterError(f"{name} = {value:g} is too large for a page to move it; change the units", parameter=name)
    if value > 0:
        return Slider(name, value, value / 10, value * 10, "", tex, log=True)
    room = max(1.0, 2 * abs(value))
    return Slider(name, value, value - room, value + room, "", tex)


def _panels(system: System) -> list[Panel]:
    """The loss where there is one, then all states and all other observables, a few curves each."""
    found = [Panel("loss", {"loss": system.observables["loss"]})] if "loss" in system.observables else []
    for title, nodes in (
        ("states", {n: graph.sym(n) for n in system.names}),
        ("observables", {name: node for name, node in system.observables.items() if name != "loss"}),
    ):
        names = list(nodes)
        parts = [names[k : k + CURVES] for k in range(0, min(len(names), PANELS * CURVES), CURVES)]
        found += [Panel(title, {name: nodes[name] for name in part}) for part in parts]
    return found


def _static(system: System, made: Explorer) -> str:
    """The run at first as a figure for readers without scripts; a sentence where it can not be run."""
    values = {slider.name: slider.value for slider in made.sliders}
    protocol = made.protocols[0]
    start = [values[node.args[0]] if node.op == "sym" else float(node.args[0]) for node in protocol.start.values()]
    end = values[protocol.end.args[0]]
    try:
        run = integrate(system, start, (0.0, end), {name: values[name] for name in system.parameters})
    except IntegrationError as error:
        return f'<p class="note">The run stops: {escape(str(error))}</p>'
    with tempfile.TemporaryDirectory() as folder:
        files = save_figure(_figure(run, protocol.panels), Path(folder), "run", ("svg",))
        pictures = inline(files, "static", made.title, 10**7)
    return "".join(picture.svg for picture in pictures)


def _figure(run: Trajectory, panels: Sequence[Panel]) -> Any:
    """The panels of a run, side by side."""
    times = np.unique(np.concatenate([run.times, np.linspace(run.times[0], run.end_time, 300)]))
    nodes = {f"curve_{k}_{j}": node for k, panel in enumerate(panels) for j, node in enumerate(panel.curves.values())}
    columns = run.system.with_observables(nodes).compile(dict(run.parameters)).observed(times, run.at(times))
    fig, axes = new_figure(1, len(panels), size=(4.2 * len(panels), 3.0), squeeze=False)
    for k, (panel, axis) in enumerate(zip(panels, axes[0], strict=True)):
        for j, label in enumerate(panel.curves):
            axis.plot(times, columns[f"curve_{k}_{j}"], label=label)
        axis.set(title=panel.title, xlabel="t", yscale="log" if panel.log else "linear")
        axis.legend(fontsize=8)
    return fig
