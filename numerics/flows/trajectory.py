"""Trajectory: times, states by name, events, stop reason, cost counters; dense in time, saved whole or not at all."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import OdeSolution

from odesys.errors import EquationError, OdesysError, ParameterError
from odesys.expr import graph
from odesys.expr.field import BlockField
from odesys.expr.graph import Node
from odesys.expr.system import TIME, System
from odesys.files import write_bytes
from odesys.jit.codegen import Compiled, node_function
from odesys.reading.grammar import Grammar
from odesys.shortening import shortened, some

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Event:
    """Something that happened at one time.

    kind      what it is
    --------  ------------------------------------------------------------------------
    switch    a gate opened or closed (`detail`: surface, gate)
    slide     the flow moved along a surface from `time` on (`detail`: surface, end, before, gate: the gate before
              and after it, None if the run ended first)
    stage     a stage ended (`detail`: stop, its reason)
    user      an event asked for with `StopWhen` (`detail`: direction, terminal)
    """

    name: str
    kind: str
    time: float
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Name, kind, time and the details as one flat mapping."""
        return {"name": self.name, "kind": self.kind, "time": self.time, **self.detail}


@dataclass(frozen=True)
class StopWhen:
    """An event to look for: `expression` passes `level`, upwards (`direction` +1), downwards (-1) or either way (0).

    Parameters
    ----------
    name : str
        What the event is called; the run stops with ``event:NAME``.
    expression : Any
        Name of a state or an observable; text, a node or a SymPy expression in states, parameters, observables and
        t; or a function of (t, x).
    direction : int, optional
        +1 upwards, -1 downwards, 0 either way.
    terminal : bool, optional
        Stop there; otherwise the event is only recorded.
    level : float, optional
        The value that is passed.

    Examples
    --------
    >>> from odesys import System, integrate, sym
    >>> fall = System.from_equations({"h": sym("v"), "v": -10 + 0 * sym("v")})
    >>> run = integrate(fall, [5.0, 0.0], (0.0, 9.0), events=[StopWhen("ground", "h", direction=-1)])
    >>> run.stop, round(run.end_time, 9)
    ('event:ground', 1.0)
    """

    name: str
    expression: Any
    direction: int = 0
    terminal: bool = True
    level: float = 0.0

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise ParameterError(f"the event {self.name} has the direction {self.direction!r}; it is +1, -1 or 0")
        try:
            finite = math.isfinite(self.level)
        except (TypeError, OverflowError):
            finite = False
        if not finite:
            raise ParameterError(f"the event {self.name} has the level {self.level}; it must be finite")
        if self.terminal not in (True, False):
            raise ParameterError(f"the event {self.name} has terminal = {self.terminal!r}; it is True or False")
        if isinstance(self.expression, str) and not self.expression.isidentifier():
            object.__setattr__(self, "expression", Grammar().read(self.expression))

    def function(self, compiled: Compiled, parameters: Mapping[str, float]) -> Callable[..., float]:
        """The expression minus the level, as a function of (t, x) and gates, which follow the state if not given."""
        system, wanted, level = compiled.system, self.expression, float(self.level)
        known = {*system.names, *system.parameters, TIME}
        if isinstance(wanted, str) and wanted in system.names:
            index = system.names.index(wanted)
            return lambda t, x, gates=None: float(x[index]) - level
        if isinstance(wanted, str) and compiled.backend == "block" and wanted in observable_names(system):
            return lambda t, x, gates=None: compiled.observables(t, x)[wanted] - level
        if not isinstance(wanted, (str, Node)) and not hasattr(wanted, "free_symbols") and callable(wanted):
            return lambda t, x, gates=None: float(wanted(t, x)) - level
        node = graph.as_node(wanted)
        unknown = sorted(graph.symbols([node]) - known - set(observable_names(system)))
        if unknown:
            raise EquationError(f"the event {self.name} uses {unknown[0]}, which is no state, observable or parameter")
        if not graph.symbols([node]) <= known:
            node = graph.substitute([node], {graph.sym(n): v for n, v in system.observables.items()})[0]
        code = node_function(system, [node], parameters)
        held = compiled.backend != "block"  # whose gates are in another order
        return lambda t, x, gates=None: float(code(t, x, gates if held else None)[0]) - level


@dataclass(frozen=True)
class SlideInterval:
    """A stretch of time in which the flow moved along one switching surface."""

    name: str
    surface: int
    start: float
    end: float


@dataclass(frozen=True)
class Cost:
    """What a run took; runs add up.

    `field_evaluations` are calls of the field. `state_evaluations` are states at which the field or any gate was
    computed, each counted once however many gates are tried there; root finding and dense output are included.
    """

    field_evaluations: int = 0
    jacobian_evaluations: int = 0
    steps: int = 0
    seconds: float = 0.0
    state_evaluations: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(asdict(self).values(), asdict(other).values(), strict=True)))

    def as_json(self) -> dict[str, Any]:
        """The counters by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """One run of a flow or a map.

    Parameters
    ----------
    system : System
        What was run.
    parameters : Mapping[str, float]
        The numbers bound to its parameters.
    times : np.ndarray
        Recorded times, shape (k,); for a map step numbers.
    states : np.ndarray
        Recorded states, shape (k, n).
    end_time : float
        Where the run stopped, also if that time was not to be recorded.
    end_state : np.ndarray
        The state there.
    events : tuple[Event, ...], optional
        All events in the order of time.
    stop : str, optional
        ``end`` (the time or number of steps asked for), ``event:NAME``, or ``slide`` if slides are not followed.
    cost : Cost, optional
        Evaluations, steps and seconds.
    solution : OdeSolution, optional
        Dense output, one piece per step, broken where a gate switches; None for a map.
    stiff_from : float, optional
        When the run turned out to be stiff and went on with implicit steps, if it did.
    series_from : float, optional
        When the run went on by Taylor series because that is quicker, if it did.

    Examples
    --------
    >>> from odesys import System, integrate, sym
    >>> decay = System.from_equations({"x": -sym("x")}, observables={"square": sym("x") ** 2})
    >>> run = integrate(decay, [1.0], (0.0, 1.0))
    >>> round(run.final["x"], 9), round(run.final["square"], 9), run.stop
    (0.367879441, 0.135335283, 'end')
    """

    system: System
    parameters: Mapping[str, float]
    times: np.ndarray
    states: np.ndarray
    end_time: float
    end_state: np.ndarray
    events: tuple[Event, ...] = ()
    stop: str = "end"
    cost: Cost = Cost()
    solution: OdeSolution | None = field(default=None, repr=False)
    stiff_from: float | None = None
    series_from: float | None = None

    def __repr__(self) -> str:
        events = f", {len(self.events)} events" if self.events else ""
        span = f"{self.start_time:g} to {self.end_time:g} ({self.stop})"
        stiff = "" if self.stiff_from is None else f", stiff from {self.stiff_from:.4g} on"
        stiff += "" if self.series_from is None else f", Taylor series from {self.series_from:.4g} on"
        return shortened(
            f"<{type(self).__name__} of {some(self.names)}: {len(self.times)} rows, {span}{stiff}{events}>"
        )

    def _repr_html_(self) -> str:
        from odesys.report.cards import run_card

        return run_card(self)

    def __getitem__(self, name: str) -> np.ndarray:
        """A state or an observable along the recorded times, shape (k,), or the times themselves as ``run["t"]``."""
        if name in self.names:
            return self.state(name)
        if name == TIME:
            return self.times
        known = self._observables
        if name in known:
            return self.observable(name)
        near = get_close_matches(str(name), [*known, *self.names], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise EquationError(
            f"{name!r} is neither a state nor an observable of this run; the observables are {_some(tuple(known))}, "
            f"the states {_some(self.names)}{hint}"
        )

    def to_dataframe(self, observables: Sequence[str] | None = None) -> pd.DataFrame:
        """A pandas table with the times as its index: all states, and the observables asked for (all if None).

        Parameters
        ----------
        observables : Sequence[str], optional
            Names of observables to add; by default all.

        Returns
        -------
        pandas.DataFrame
            A row per recorded time.

        Examples
        --------
        >>> from odesys import System, integrate, sym
        >>> run = integrate(System.from_equations({"x": -sym("x")}), [1.0], (0.0, 1.0), t_eval=[0.0, 1.0])
        >>> run.to_dataframe()["x"].round(3).tolist()
        [1.0, 0.368]
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise OdesysError("to_dataframe needs pandas (pip install pandas); to_csv and run[name] do not") from error
        wanted = self._observables if observables is None else observables
        columns = {**dict(zip(self.names, self.states.T, strict=True)), **{n: self.observable(n) for n in wanted}}
        return pd.DataFrame(columns, index=pd.Index(self.times, name=TIME))

    def plot(self, *names: str, ax: Any = None, **options: Any) -> Any:
        """Draw states or observables over time; in a notebook the picture shows below the cell.

        Parameters
        ----------
        *names : str
            What to draw. The default is the loss if there is one, otherwise the first eight states.
        ax : matplotlib Axes, optional
            Where to draw instead of in a new figure.
        **options : Any
            Passed on to ``Axes.plot``, such as ``linestyle="--"``.

        Returns
        -------
        matplotlib Axes
            With the curves; switches are thin lines, slides grey bands. ``ax.figure.savefig`` writes a file.
        """
        from ..pictures.runs import plot_run

        return plot_run(self, names, ax, options)

    @property
    def names(self) -> tuple[str, ...]:
        """State names, in the order of the columns."""
        return self.system.names

    @property
    def start_time(self) -> float:
        """Time at which the run starts."""
        return float(self.solution.ts[0] if self.solution is not None else min([self.end_time, *self.times]))

    # ---- the names of scipy.integrate.solve_ivp ----------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Recorded times, as `times`."""
        return self.times

    @property
    def y(self) -> np.ndarray:
        """Recorded states with one row per state, (n, k)."""
        return self.states.T

    def sol(self, t: Any) -> np.ndarray:
        """States at one time, (n,), or at several, (n, k): dense output with the axes of SciPy."""
        return self.at(t).T

    @property
    def success(self) -> bool:
        """True: a run that can not go on raises IntegrationError instead."""
        return True

    @property
    def t_events(self) -> dict[str, np.ndarray]:
        """Times of each event that was asked for and happened, by its name."""
        names = dict.fromkeys(e.name for e in self.events if e.kind == "user")
        return {name: np.array(self.times_of("user", name)) for name in names}

    # ---- what it reads as --------------------------------------------------------------------------------------------

    def at(self, t: Any) -> np.ndarray:
        """States at one time, shape (n,), or at several, (k, n), by dense output; a map has its recorded steps only.

        Where a state map made a stage start elsewhere, the value at that very time is the one before.

        Parameters
        ----------
        t : Any
            A time or an array of times.

        Returns
        -------
        np.ndarray
            Shape (n,) for one time, (k, n) for several.
        """
        wanted = np.asarray(t, dtype=float)
        first, last = sorted((self.start_time, self.end_time))
        inside = (wanted >= first) & (wanted <= last)
        if not inside.all():
            raise ParameterError(
                f"the time {wanted[~inside].flat[0]:g} is outside of the run, "
                f"which goes from {self.start_time:g} to {self.end_time:g}"
            )
        if self.solution is not None:
            return np.ascontiguousarray(self.solution(wanted).T) if wanted.size else np.empty((0, len(self.names)))
        return self._recorded(wanted)

    def _recorded(self, wanted: np.ndarray) -> np.ndarray:
        known = np.append(self.times, self.end_time)
        rows = np.vstack([self.states.reshape(-1, len(self.names)), self.end_state])
        missing = ~np.isin(wanted, known)
        if missing.any():
            raise ParameterError(f"step {wanted[missing].flat[0]:g} of the map was not recorded")
        result: np.ndarray = rows[np.argmax(known == wanted[..., None], axis=-1)]
        return result

    def state(self, name: str) -> np.ndarray:
        """One state along the recorded times, shape (k,).

        Parameters
        ----------
        name : str
            Of a state.

        Returns
        -------
        np.ndarray
            Shape (k,).
        """
        if name not in self.names:
            raise EquationError(f"{name!r} is not a state; the states are {_some(self.names)}")
        return self.states[:, self.names.index(name)]

    def observable(self, name: str, system: System | None = None) -> np.ndarray:
        """One observable along the recorded times, shape (k,); with `system` an observable of that system instead.

        `system` has the same states; this is how the population loss is followed through a stage with another loss.

        Parameters
        ----------
        name : str
            Of an observable.
        system : System, optional
            Where to take the observable from instead.

        Returns
        -------
        np.ndarray
            Shape (k,).
        """
        table = self._table if system is None else observable_table(system, self.parameters, self.times, self.states)
        if name not in table:
            raise EquationError(f"{name!r} is not an observable; the observables are {_some(tuple(table))}")
        return table[name]

    @property
    def _observables(self) -> tuple[str, ...]:
        """Names of the observables that are known along the whole run."""
        return observable_names(self.system)

    @cached_property
    def _table(self) -> dict[str, np.ndarray]:
        return observable_table(self.system, self.parameters, self.times, self.states)

    @cached_property
    def final(self) -> dict[str, float]:
        """All observables and all states where the run stopped, by name."""
        table = _compiled(self.system, self.parameters).observables(self.end_time, self.end_state)
        return {**table, **dict(zip(self.names, self.end_state.tolist(), strict=True))}

    def times_of(self, kind: str, name: str | None = None) -> list[float]:
        """Times of the events of one kind, of all names or of one.

        Parameters
        ----------
        kind : str
            ``switch``, ``slide``, ``stage`` or ``user``.
        name : str, optional
            Of the event; by default all.

        Returns
        -------
        list[float]
            In the order of time.
        """
        return [e.time for e in self.events if e.kind == kind and name in (None, e.name)]

    @property
    def slides(self) -> tuple[SlideInterval, ...]:
        """All stretches of sliding, in the order of their beginning."""
        return tuple(
            SlideInterval(e.name, e.detail["surface"], e.time, e.detail["end"])
            for e in self.events
            if e.kind == "slide"
        )

    def to_npz(self, path: str | Path) -> Path:
        """Save times, states, names, parameters, events and stop reason; no pickled objects.

        Parameters
        ----------
        path : str | Path
            Where to write.

        Returns
        -------
        Path
            The file.
        """
        arrays: dict[str, Any] = {
            "times": self.times,
            "states": self.states,
            "names": np.array(self.names, dtype=str),
            "end_time": self.end_time,
            "end_state": self.end_state,
            "stop": self.stop,
            "parameter_names": np.array(list(self.parameters), dtype=str),
            "parameter_values": np.array(list(self.parameters.values()), dtype=float),
            "event_names": np.array([e.name for e in self.events], dtype=str),
            "event_kinds": np.array([e.kind for e in self.events], dtype=str),
            "event_times": np.array([e.time for e in self.events], dtype=float),
            "event_ends": np.array([e.detail.get("end", e.time) for e in self.events], dtype=float),
            **{f"cost_{key}": value for key, value in self.cost.as_json().items()},
        }
        return write_atomic(path, lambda file: np.savez_compressed(file, **arrays))

    def to_csv(self, path: str | Path, observables: Sequence[str] = ()) -> Path:
        """Save one row per recorded time: t, the states, and the observables asked for; digits read back exactly.

        Parameters
        ----------
        path : str | Path
            Where to write.
        observables : Sequence[str], optional
            Names of observables to add.

        Returns
        -------
        Path
            The file.
        """
        columns = [self.times, *self.states.T, *(self.observable(name) for name in observables)]

        def write(file: IO[bytes]) -> None:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["t", *self.names, *observables])
            rows.writerows(zip(*(column.tolist() for column in columns), strict=True))
            text.flush()
            text.detach()

        return write_atomic(path, write)


@dataclass(frozen=True, eq=False, repr=False)
class StagedTrajectory(Trajectory):
    """Runs one after the other on one state layout: reads as one trajectory, keeps its parts.

    Parameters
    ----------
    system : System
        What was run.
    parameters : Mapping[str, float]
        The numbers bound to its parameters.
    times : np.ndarray
        Recorded times, shape (k,); for a map step numbers.
    states : np.ndarray
        Recorded states, shape (k, n).
    end_time : float
        Where the run stopped, also if that time was not to be recorded.
    end_state : np.ndarray
        The state there.
    events : tuple[Event, ...], optional
        All events in the order of time.
    stop : str, optional
        ``end`` (the time or number of steps asked for), ``event:NAME``, or ``slide`` if slides are not followed.
    cost : Cost, optional
        Evaluations, steps and seconds.
    solution : OdeSolution, optional
        Dense output, one piece per step, broken where a gate switches; None for a map.
    stiff_from : float, optional
        When a run turned out to be stiff and went on with implicit steps, if one did.
    series_from : float, optional
        When a run went on by Taylor series, if one did.
    parts : Mapping[str, Trajectory], optional
        The runs by the names of their stages.

    Examples
    --------
    >>> from odesys import System, integrate, sym
    >>> decay = System.from_equations({"x": -sym("x")})
    >>> first = integrate(decay, [1.0], (0.0, 1.0))
    >>> both = join_trajectories([first, integrate(decay, first.end_state, (1.0, 2.0))], ["early", "late"])
    >>> list(both.parts), both.end_time
    (['early', 'late'], 2.0)
    """

    parts: Mapping[str, Trajectory] = field(default_factory=dict, repr=False)

    @property
    def _observables(self) -> tuple[str, ...]:
        """Those that every stage has: stages may train on other samples."""
        own = [observable_names(run.system) for run in self.parts.values()]
        return tuple(name for name in own[-1] if all(name in names for names in own))

    def observable(self, name: str, system: System | None = None) -> np.ndarray:
        """One observable along the recorded times, by default each stage's own of that name; see `Trajectory`."""
        runs = list(self.parts.values())
        columns = [run.observable(name, system)[_first_row(runs, k) :] for k, run in enumerate(runs)]
        return np.concatenate(columns)


def join_trajectories(trajectories: Sequence[Trajectory], names: Sequence[str] | None = None) -> StagedTrajectory:
    """Runs that continue each other as one; the end of each is an event of kind ``stage``.

    The first row of a run is left out where it repeats the last row before it. `system` and `parameters` are those of
    the last run; observables come from each run's own.

    Parameters
    ----------
    trajectories : Sequence[Trajectory]
        Runs that continue each other.
    names : Sequence[str], optional
        What they are called, by default 1, 2, ...

    Returns
    -------
    StagedTrajectory
        One trajectory; `parts` has the runs by name.

    Examples
    --------
    >>> from odesys import System, integrate, sym
    >>> decay = System.from_equations({"x": -sym("x")})
    >>> first = integrate(decay, [1.0], (0.0, 1.0))
    >>> both = join_trajectories([first, integrate(decay, first.end_state, (1.0, 2.0))])
    >>> [(event.kind, event.time) for event in both.events], round(both.final["x"], 9)
    ([('stage', 1.0), ('stage', 2.0)], 0.135335283)
    """
    runs = list(trajectories)
    labels = [str(k + 1) for k in range(len(runs))] if names is None else list(names)
    _check_runs(runs, labels)
    events: list[Event] = []
    for label, run in zip(labels, runs, strict=True):
        events += [*run.events, Event(label, "stage", run.end_time, {"stop": run.stop})]
    last = runs[-1]
    return StagedTrajectory(
        system=last.system,
        parameters=last.parameters,
        times=np.concatenate([run.times[_first_row(runs, k) :] for k, run in enumerate(runs)]),
        states=np.concatenate([run.states[_first_row(runs, k) :] for k, run in enumerate(runs)]),
        end_time=last.end_time,
        end_state=last.end_state,
        events=tuple(events),
        stop=last.stop,
        cost=sum((run.cost for run in runs), Cost()),
        solution=_join_solutions(runs),
        stiff_from=min((run.stiff_from for run in runs if run.stiff_from is not None), default=None),
        series_from=min((run.series_from for run in runs if run.series_from is not None), default=None),
        parts=dict(zip(labels, runs, strict=True)),
    )


def _check_runs(runs: Sequence[Trajectory], labels: Sequence[str]) -> None:
    if not runs:
        raise ParameterError("there is no run to join")
    if len(labels) != len(runs) or len(set(labels)) != len(labels):
        raise ParameterError(f"{len(runs)} runs need {len(runs)} different names, not {', '.join(labels) or 'none'}")
    for label, before, after in zip(labels[1:], runs[:-1], runs[1:], strict=True):
        if after.names != before.names:
            raise EquationError(f"the stage {label} has other states than the stage before it; all share one layout")
        if after.start_time != before.end_time:
            raise ParameterError(
                f"the stage {label} starts at t = {after.start_time:g}; the one before it ends at {before.end_time:g}"
            )


def _first_row(runs: Sequence[Trajectory], k: int) -> int:
    if k == 0 or not runs[k].times.size or runs[k].times[0] != runs[k - 1].end_time:
        return 0
    seen = runs[k - 1].times.size and runs[k - 1].times[-1] == runs[k - 1].end_time
    return int(bool(seen) and np.array_equal(runs[k].states[0], runs[k - 1].end_state))


def _join_solutions(runs: Sequence[Trajectory]) -> OdeSolution | None:
    moved = [run for run in runs if run.end_time > run.start_time]
    dense = [run.solution for run in moved if run.solution is not None]
    if not dense or len(dense) < len(moved):
        return None
    knots = np.concatenate([dense[0].ts[:1], *(piece.ts[1:] for piece in dense)])
    return OdeSolution(knots, [p for piece in dense for p in piece.interpolants])


def _compiled(system: System, parameters: Mapping[str, float]) -> Any:
    return system.compile({name: value for name, value in parameters.items() if name in system.parameters})


def observable_table(
    system: System, parameters: Mapping[str, float], times: np.ndarray, states: np.ndarray
) -> dict[str, np.ndarray]:
    return dict(_compiled(system, parameters).observed(times, states))


def observable_names(system: System) -> tuple[str, ...]:
    """Names of the observables, without scalarising a system that is kept in blocks."""
    form = system.field
    return tuple(form.observable_blocks if isinstance(form, BlockField) else form.observables)


def _some(names: Sequence[str]) -> str:
    return (", ".join(names[:12]) + (", ..." if len(names) > 12 else "")) or "none"


def write_atomic(path: str | Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Let `write` fill a buffer and put it into place whole: never half a file."""
    buffer = io.BytesIO()
    write(buffer)
    return write_bytes(path, buffer.getvalue())
