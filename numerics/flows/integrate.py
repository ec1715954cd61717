r"""Adaptive integration by smooth pieces: gates are held between switches, every switch is located, slides followed.

By default this happens in compiled code; what is said here of solvers is the reference it is tested against.

A gate is 1 where its surface :math:`h_i(t, x) > 0`. With the gates g held, the field :math:`F_g` is smooth; the solvers
under `scipy.integrate.solve_ivp` step through it while the surfaces are watched on their dense output. Where surfaces
reach zero, the gates to go on with are those that agree with the side the flow leaves to,

.. math::  g_i = 1 \iff \partial_t h_i + \nabla h_i \cdot F_g > 0 \qquad\text{for all } i \text{ with } h_i = 0 .

If no g does, the field points to a surface from both sides and the flow slides along it (Filippov): the gates of the
surfaces it stays on take values between 0 and 1, such that these surfaces stay zero, until one of them reaches an end.
See `numerics.flows.modes` for the choice of gates and `numerics.flows.sliding` for the motion.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from scipy.integrate import OdeSolution

from odesys.errors import EquationError, IntegrationError, ParameterError
from odesys.expr.system import System, state_vector
from odesys.jit import llvm
from odesys.jit.codegen import Compiled, bind_parameters
from odesys.terminal import Progress

from .backwards import integrate_backwards, runs_backwards
from .edges import with_edge_hint
from .run import METHODS, Run
from .semantics import EPS, FOREVER
from .stiffness import with_stiffness_hint
from .trajectory import Cost, StagedTrajectory, StopWhen, Trajectory, join_trajectories

SWITCHES = 10_000  # allowed in a run
LEAST_ATOL = 1e-18
MOST = 2**62  # steps and switches that can be counted
IN_MACHINE_CODE = ("auto", "DOP853", "Taylor", "Rodas5P")
BACKENDS = ("auto", "compiled", "reference", "native", "scalar", "block")


@dataclass(frozen=True)
class Stage:
    """One stage of a protocol: a system, and when it ends: after `duration`, at `t_end`, or (neither) by an event.

    Parameters
    ----------
    name : str
        What the stage is called; the event at its end has this name.
    system : System
        What moves in this stage.
    parameters : Mapping[str, Any], optional
        Values of its parameters.
    duration : float, optional
        How long it lasts.
    t_end : float, optional
        At which time it ends.
    events : Sequence[StopWhen], optional
        What to look for; a terminal event ends the stage.
    state_map : Callable[[np.ndarray], Any], optional
        Applied to the state where the stage starts, for instance to jump.

    Examples
    --------
    >>> from odesys import sym
    >>> x = sym("x")
    >>> heat = Stage("heat", System.from_equations({"x": 1 + 0 * x}), duration=1.0)
    >>> cool = Stage("cool", System.from_equations({"x": -x}), events=[StopWhen("cold", "x", level=0.1)])
    >>> heat.duration, cool.events[0].name
    (1.0, 'cold')
    """

    name: str
    system: System
    parameters: Mapping[str, Any] | None = None
    duration: float | None = None
    t_end: float | None = None
    events: Sequence[StopWhen] = ()
    state_map: Callable[[np.ndarray], Any] | None = None  # applied to the state on entry


class HasSystem(Protocol):
    """What has a system of its own: a flow, or a reduction."""

    @property
    def system(self) -> System:
        """The system."""
        ...


def own_system(given: Any, asks: str) -> System:
    """A system, or that of a flow or a reduction."""
    found = given if isinstance(given, System) else getattr(given, "system", None)
    if not isinstance(found, System):
        raise EquationError(
            f"{asks} takes a System, or a flow or reduction that has one as .system, not {type(given).__name__}"
        )
    return found


def integrate(
    system: System | HasSystem,
    x0: Any,
    t_span: tuple[float, float],
    parameters: Mapping[str, Any] | None = None,
    rtol: float = 1e-9,
    atol: Any = None,
    events: Sequence[StopWhen] = (),
    method: str = "auto",
    t_eval: Any = None,
    max_switches: int = SWITCHES,
    backend: str = "auto",
    progress: Progress | None = None,
    *,
    on_slide: str = "follow",
    max_steps: int = 100_000,
    max_step: float = math.inf,
    label: str = "integrate",
) -> Trajectory:
    r"""Integrate a flow over `t_span`, switch by switch and slide by slide.

    What events and switches are is in `numerics.flows.semantics`.

    Parameters
    ----------
    system : System | HasSystem
        A flow, or what has one as its ``.system``.
    x0 : Any
        Start values, as a vector or by name.
    t_span : tuple[float, float]
        Start and end; the end may be infinite if a terminal event is given, and before the start to run backwards.
    parameters : Mapping[str, Any], optional
        Values of the parameters of the system, by name.
    rtol : float, optional
        Relative tolerance of a step.
    atol : Any, optional
        By default :math:`10^{-3}\,\mathrm{rtol}\cdot\min(1, \text{smallest nonzero } |x_0|)`, at least 1e-18: states
        that start at zero grow from the scale of the others (scores from omega^2), and rounding must stay below it.
    events : Sequence[StopWhen], optional
        What to look for; terminal ones end the run. What starts past its level does not fire.
    method : str, optional
        ``auto`` takes explicit steps (DOP853), and goes on with implicit ones (Rodas5P) where these turn out to be held
        back by stability; the run says when (`stiff_from`). A run of which more than 50,000 steps are left, at rtol
        at most 1e-11, of a small smooth system, goes on by Taylor series (`series_from`) where these save more than it
        takes to compile them. DOP853, RK45, RK23; Taylor for small systems and high
        accuracy; Rodas5P, Radau, BDF, LSODA for stiff systems.
    t_eval : Any, optional
        Times to record (those reached); by default every step and every switch. Dense output is kept anyway.
    max_switches : int, optional
        Give up with an `IntegrationError` after so many.
    backend : str, optional
        ``compiled`` runs steps, switches and events as machine code (`numerics.compiled.compiled_flow`; methods auto,
        DOP853, Taylor and Rodas5P, no events in Python), and slides here, by DOP853 or Radau; ``reference`` runs all of
        it here. ``auto`` is compiled where that can be.
        ``native``, ``scalar``, ``block`` are the reference with the field computed in this way.
    progress : Progress, optional
        Called with `label` and the fraction done.
    on_slide : str, optional
        ``follow`` goes on along the surface, ``stop`` ends the run with stop = "slide", ``raise`` raises
        IntegrationError.
    max_steps : int, optional
        Give up with an `IntegrationError` after so many.
    max_step : float, optional
        The longest step; events and forcings that a step could jump over need one.
    label : str, optional
        What `progress` is told.

    Returns
    -------
    Trajectory
        Recorded states, events, stop reason, cost and dense output.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> run = integrate(System.from_equations({x: 2 - sp.Heaviside(x - 1)}), [0], (0, 1))
    >>> [(e.name, round(e.time, 12)) for e in run.events], round(run.final["x"], 12)
    ([('x - 1', 0.5)], 1.5)
    >>> run = integrate(System.from_equations({x: 2 - 3 * sp.Heaviside(x - 1)}), [0], (0, 1))
    >>> [(s.name, round(s.start, 12), s.end) for s in run.slides], round(run.final["x"], 12)
    ([('x - 1', 0.5, 1.0)], 1.0)
    """
    began, system = time.perf_counter(), own_system(system, "integrate")
    events, rtol, max_step = check_events(events), check_rtol(rtol), real_number(max_step, "max_step")
    max_steps, max_switches = whole_number(max_steps, "max_steps"), whole_number(max_switches, "max_switches")
    if runs_backwards(t_span):
        given = {"rtol": rtol, "atol": atol, "method": method, "max_switches": max_switches, "backend": backend}
        given |= {
            "progress": progress,
            "on_slide": on_slide,
            "max_steps": max_steps,
            "max_step": max_step,
            "label": label,
        }
        return integrate_backwards(integrate, system, x0, t_span, parameters, events, t_eval, **given)
    start, x, bound, compiled = _checked(system, x0, t_span, parameters, backend)
    method = method_name(method)
    wanted = _check_options(t_span, method, t_eval, events, on_slide)
    tolerances = {"rtol": rtol, "atol": default_atol(x, rtol) if atol is None else check_atol(atol, x.size)}
    limits = {"max_switches": max_switches, "max_steps": max_steps}
    end = float(t_span[1])
    span = (start, FOREVER if math.isinf(end) else end)
    if not max_step > 0:
        raise ParameterError(f"max_step = {max_step} must be positive")
    if math.isfinite(max_step):
        tolerances["max_step"] = max_step
    kernel = _kernel(system, events, method, compiled, backend) if math.isinf(max_step) else None
    run = Run(compiled, bound, events, span, x, method, tolerances, limits, on_slide, kernel)
    with np.errstate(all="ignore"):
        try:
            stop = run.run((lambda done: progress(label, done)) if progress else (lambda done: None))
        except IntegrationError as error:
            raise with_edge_hint(error, run) or with_stiffness_hint(error, run) from None
    _refuse_rest(stop, t_span, run.t, run.x)
    return _recorded(_trajectory(system, bound, run, stop, began), wanted)


def _refuse_rest(stop: str, t_span: tuple[float, float], t: float, x: np.ndarray) -> None:
    if stop == "end" and math.isinf(t_span[1]):
        raise IntegrationError("the state has come to rest and no event has stopped the run", time=t, state=x)


def _trajectory(system: System, bound: Mapping[str, float], run: Run, stop: str, began: float) -> Trajectory:
    solution = OdeSolution(run.knots, run.pieces) if run.pieces else None
    cost = Cost(run.meter.fields, run.jacobians, run.steps, time.perf_counter() - began, run.meter.states)
    happened = tuple(sorted(run.log.events, key=lambda e: e.time))
    times, states = np.array(run.knots), np.array(run.states)
    return Trajectory(system, bound, times, states, run.t, run.x, happened, stop, cost, solution, *run.methods)


def _recorded(run: Trajectory, wanted: np.ndarray | None) -> Trajectory:
    """The run with only the wanted times recorded, those that were reached."""
    if wanted is None:
        return run
    times = wanted[wanted <= run.end_time]
    states = run.solution(times).T if run.solution is not None and times.size else run.states[: times.size]
    return replace(run, times=times, states=states.reshape(-1, len(run.names)))


def _kernel(system: System, events: Sequence[StopWhen], method: str, compiled: Compiled, backend: str) -> Any:
    """The flow in compiled code, or None where the reference integrator does all of a run."""
    if backend == "auto" and llvm.available() and method in IN_MACHINE_CODE and compiled.backend == "native":
        return _compiled_flow(system, tuple(events))
    if backend != "compiled":
        return None
    if method not in IN_MACHINE_CODE:
        raise ParameterError(
            f"compiled runs are by DOP853, Taylor and Rodas5P, not {method}; use backend='auto' or 'reference'"
        )
    return _compiled_flow(system, tuple(events), strict=True)


def _compiled_flow(system: System, events: tuple[StopWhen, ...], strict: bool = False) -> Any:
    try:
        return _remembered_flow(system, events)
    except TypeError:  # an event that can not be told from others
        return _remembered_flow.__wrapped__(system, events)
    except ParameterError:  # an event that only Python can evaluate
        if strict:
            raise
        return None


@lru_cache(maxsize=64)
def _remembered_flow(system: System, events: tuple[StopWhen, ...]) -> Any:
    from ..compiled.compiled_flow import CompiledFlow  # which is a user of this module too

    return CompiledFlow(system, events)


def integrate_stages(stages: Sequence[Stage], x0: Any, t_start: float = 0.0, **options: Any) -> StagedTrajectory:
    """Run stages one after the other; all have the same states, those that are frozen a zero right-hand side.

    `options` are those of `integrate`, for every stage (no t_eval). A slide that is not followed ends the whole run.

    Parameters
    ----------
    stages : Sequence[Stage]
        In the order of time.
    x0 : Any
        Start values of the first stage, as a vector or by name.
    t_start : float, optional
        Time at which the first stage starts.
    **options : Any
        Options of `integrate`, for every stage (no `t_eval`).

    Returns
    -------
    StagedTrajectory
        All stages as one run; `parts` has each of them by name.

    Examples
    --------
    >>> from odesys import System, sym
    >>> x = sym("x")
    >>> heat = Stage("heat", System.from_equations({"x": 1 + 0 * x}), duration=2.0)
    >>> cool = Stage("cool", System.from_equations({"x": -x}), events=[StopWhen("half", "x", level=1.0)])
    >>> run = integrate_stages([heat, cool], [0.0])
    >>> [(event.name, round(event.time - 2, 9)) for event in run.events]
    [('heat', 0.0), ('half', 0.693147181), ('cool', 0.693147181)]
    """
    runs: list[Trajectory] = []
    for stage in stages:
        if stage.system.names != stages[0].system.names:
            raise EquationError(f"the stage {stage.name} has other states than {stages[0].name}; all share one layout")
        if stage.duration is not None and stage.t_end is not None:
            raise ParameterError(f"the stage {stage.name} has both a duration and an end time; give one of them")
    t, x = t_start, x0
    for stage in stages:
        x = x if stage.state_map is None else stage.state_map(x)
        end = t + stage.duration if stage.duration is not None else math.inf if stage.t_end is None else stage.t_end
        if end <= t:
            raise ParameterError(f"the stage {stage.name} must end after it starts, and it starts at t = {t:g}")
        run = integrate(stage.system, x, (t, end), stage.parameters, events=stage.events, label=stage.name, **options)
        runs.append(run)
        t, x = run.end_time, run.end_state
        if run.stop == "slide":
            break
    return join_trajectories(runs, [stage.name for stage in stages[: len(runs)]])


# ---- checks --------------------------------------------------------------------------------------------------------


def _checked(
    system: System, x0: Any, t_span: Any, parameters: Mapping[str, Any] | None, backend: str
) -> tuple[float, np.ndarray, dict[str, float], Compiled]:
    if system.kind != "flow":
        raise EquationError("this system is a map, not a flow; use iterate")
    start, end = time_span(t_span)
    if math.isnan(end) or not math.isfinite(start):
        raise ParameterError(f"the time span ({start:g}, {end:g}) must consist of numbers")
    if end <= start:
        raise ParameterError(f"the time span ({start:g}, {end:g}) must end after it starts")
    if math.isinf(end) and start >= FOREVER:
        raise ParameterError(f"a run that starts at t = {start:g} needs an end")
    if backend not in BACKENDS:
        raise ParameterError(f"the back end {backend!r} is not known; choose {', '.join(BACKENDS)}")
    x, bound = start_state(system, x0), bound_parameters(system, parameters)
    return start, x, bound, system.compile(bound, "auto" if backend in ("compiled", "reference") else backend)


def start_state(system: System, x0: Any) -> np.ndarray:
    """The start as a float vector (n,): right length, known names, all finite."""
    try:
        x = np.array(state_vector(system, x0), dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise EquationError(f"the start {x0!r} is not a list of {system.dimension} real numbers") from None
    if x.shape != (system.dimension,):
        raise EquationError(f"the start has the shape {x.shape}; it must be ({system.dimension},)")
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        raise ParameterError(f"the start value {system.names[bad[0]]} = {x[bad[0]]} must be finite")
    return x


def bound_parameters(system: System, parameters: Mapping[str, Any] | None) -> dict[str, float]:
    """Parameter values by name, in the order of the system; checked for names and finiteness."""
    try:
        values = bind_parameters(system, parameters or {})
    except (TypeError, ValueError) as error:
        raise ParameterError(f"a parameter is not a number: {error}") from None
    return dict(zip(system.parameters, values.tolist(), strict=True))


def time_span(given: Any) -> tuple[float, float]:
    """Start and end of a run as floats."""
    try:
        start, end = (real_number(t, "a time") for t in given)
    except (TypeError, ValueError, ParameterError):
        raise ParameterError(f"the time span {given!r} is not a pair of numbers (start, end)") from None
    return start, end


def real_number(value: Any, what: str) -> float:
    """A number as a float; text and whatever else is none is refused under its name."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(f"{what} = {value!r} is not a number")


def whole_number(value: Any, what: str) -> int:
    """A count, at most what a processor's integer holds."""
    number = real_number(min(value, MOST) if isinstance(value, int) else value, what)
    if not (number >= 0 and number.is_integer()):
        raise ParameterError(f"{what} = {value!r} must be a whole number that is not negative")
    return int(min(number, MOST))


def method_name(method: Any) -> Any:
    """A method as it is known; names may be written in any case, and others are left as they are."""
    return {name.lower(): name for name in METHODS}.get(method.lower(), method) if isinstance(method, str) else method


def check_events(events: Any) -> tuple[StopWhen, ...]:
    """Events as a tuple."""
    if isinstance(events, StopWhen) or not isinstance(events, Iterable):
        raise ParameterError(f"events are a list of StopWhen, not {events!r}")
    found = tuple(events)
    for spec in found:
        if not isinstance(spec, StopWhen):
            raise ParameterError(
                f'{spec!r} is no event; write StopWhen("its name", "x - 1"), or terminal=False to go on'
            )
    return found


def _check_options(
    t_span: Any, method: str, t_eval: Any, events: Sequence[StopWhen], on_slide: str
) -> np.ndarray | None:
    if method not in METHODS:
        raise ParameterError(f"the method {method!r} is not known; choose {', '.join(METHODS)}")
    if on_slide not in ("follow", "stop", "raise"):
        raise ParameterError(f"on_slide = {on_slide!r} is not known; choose follow, stop or raise")
    names = [spec.name for spec in events]
    if len(set(names)) != len(names):
        raise ParameterError(f"two events have the same name: {', '.join(sorted(names))}")
    if math.isinf(t_span[1]) and not any(spec.terminal for spec in events):
        raise ParameterError("the run has neither an end time nor an event that stops it")
    if t_eval is None:
        return None
    try:
        wanted = np.array(t_eval, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"t_eval = {t_eval!r} is not a list of times") from None
    inside = wanted.ndim == 1 and np.all((wanted >= t_span[0]) & (wanted <= t_span[1])) and np.all(np.diff(wanted) > 0)
    if not inside:
        raise ParameterError(f"t_eval must increase and lie in the time span ({t_span[0]:g}, {t_span[1]:g})")
    return wanted


def check_rtol(rtol: Any) -> float:
    """The relative tolerance as a float; one that no step can meet, or that means nothing, is refused."""
    value = real_number(rtol, "rtol")
    if not 100 * EPS <= value < 1:
        raise ParameterError(f"rtol = {value} must lie between {100 * EPS:.1e} and 1")
    return value


def check_atol(atol: Any, size: int) -> np.ndarray:
    """An absolute tolerance, or one per state, as an array."""
    try:
        values = np.asarray(atol, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"atol = {atol!r} must be a number, or one per state") from None
    if values.shape not in ((), (size,)) or not np.all((values >= 0) & np.isfinite(values)):
        raise ParameterError(f"atol = {atol} must be a number, or one per state, and not negative")
    return values


def default_atol(x: np.ndarray, rtol: float) -> float:
    """Absolute tolerance that resolves the smallest state at the start, and stays above rounding; see `integrate`."""
    return max(1e-3 * rtol * min(1.0, float(np.abs(x[x != 0]).min(initial=1.0))), LEAST_ATOL)
