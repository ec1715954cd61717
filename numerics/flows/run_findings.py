"""What a run adds to the findings about a system: where it ends, what it is sensitive to, its time scales."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from odesys.analysis.finding import Finding
from odesys.analysis.findings import Analysis
from odesys.errors import OdesysError

from .integrate import integrate
from .sensitivity import LARGEST, sensitivities, time_scales
from .trajectory import Trajectory

UNSAID = 1.0  # a start value that nobody gave
SHOWN = 6  # sensitivities that are listed
TIGHT = 1e-12  # relative tolerance of a second run, whose end tells which digits are settled
UNSETTLED = 1e-6  # relative to the size of a state: then fewer than six digits are shown
LOST = 1e-3  # relative to the size of a state: then no sensitivities are told
NOTHING = 1e-9  # relative to the size of a state on the way: not told from zero


def with_run(found: Analysis, t_end: float = 10.0) -> Analysis:
    """The analysis of a flow with a run from its start to `t_end`, each line a measurement.

    Parameters
    ----------
    found : Analysis
        What `analyse` says; its values and start are used.
    t_end : float, optional
        The end of the run.

    Returns
    -------
    Analysis
        The same with lines of the section ``run``.

    Examples
    --------
    >>> from odesys import System, analyse, with_run
    >>> found = with_run(analyse(System.from_strings({"x": "-k*x"}), {"k": 2}, {"x": 1}), 1.0)
    >>> [line.text for line in found.findings if line.section == "run"][0]
    'From x = 1 the state at t = 1 is x = 0.135335'
    """
    return replace(found, findings=(*found.findings, *_lines(found, t_end)), t_end=t_end)


def _lines(found: Analysis, t_end: float) -> list[Finding]:
    system = found.system
    if system.kind != "flow":
        return []
    unknown = [name for name in system.parameters if name not in found.values]
    if unknown:
        said = f"No run was made: {', '.join(unknown[:6])} {'has' if len(unknown) == 1 else 'have'} no number"
        return [Finding("run", said, "undecided", "", f"--set {unknown[0]}=1")]
    start = {name: float(found.start.get(name, UNSAID)) for name in system.names}
    unsaid = [name for name in system.names if name not in found.start]
    numbers = {name: float(found.values[name]) for name in system.parameters}
    try:
        run = integrate(system, start, (0.0, t_end), numbers)
    except OdesysError as problem:
        return [Finding("run", f"The run stops: {problem}", "measurement")]
    note = f"no start was given for {', '.join(unsaid[:6])}: {UNSAID:g} is taken" if unsaid else ""
    try:
        near = integrate(system, start, (0.0, t_end), numbers, rtol=TIGHT, max_steps=20 * len(run.times) + 1000)
    except OdesysError:  # then nothing is known about its digits
        near, alone = run, "digits were not compared with those of a tighter run, which takes many more steps"
        note = f"{note}; {alone}" if note else alone
    gaps, sizes = np.abs(run.end_state - near.end_state), np.abs(run.states).max(axis=0)
    shown = list(system.names)[:SHOWN]
    begin = ", ".join(f"{name} = {start[name]:g}" for name in shown)
    ends = ", ".join(f"{name} {_settled(near.end_state[k], gaps[k], sizes[k])}" for k, name in enumerate(shown))
    more = ", ..." if len(system.names) > SHOWN else ""
    text = f"From {begin}{more} the state at t = {t_end:g} is {ends}{more}"
    if (gaps > UNSETTLED * sizes).any():
        shared = "only digits are shown that do not change with the tolerance, as errors grow along this run"
        note = f"{note}; {shared}" if note else shared
    lines = [Finding("run", text, "measurement", note)]
    if run.events:
        lines.append(Finding("run", f"Switches and slides on the way: {len(run.events)}", "measurement"))
    if (gaps > LOST * sizes).any():
        lost = "No sensitivities: the end is not settled, so that derivatives of it say nothing; take an earlier one"
        return [*lines, *_scales(run), Finding("run", lost, "measurement")]
    return [*lines, *_scales(run), *_answers(found, start, numbers, t_end)]


def _settled(value: float, gap: float, size: float) -> str:
    """A number with the digits, up to six, that two runs share; zero where it is below what runs tell from zero."""
    if max(abs(value), gap) <= NOTHING * size:
        return "= 0"
    digits = 6 if gap == 0 else min(6, math.floor(math.log10(max(abs(value), gap) / gap)))
    return f"= {value:.{digits}g}" if digits else f"not settled (two runs differ by {gap:.1g})"


def _scales(run: Trajectory) -> list[Finding]:
    try:
        scales = time_scales(run)
    except OdesysError as problem:
        return [Finding("run", f"No time scales: {problem}", "measurement")]
    text = (
        f"Its parts move in times between {scales.shortest:.3g} and {scales.longest:.3g}, a ratio of {scales.ratio:.3g}"
    )
    return [Finding("run", text, "measurement", "one over eigenvalues of the Jacobian at 41 times of the run")]


def _answers(found: Analysis, start: dict[str, float], numbers: dict[str, float], t_end: float) -> list[Finding]:
    system = found.system
    names = [*system.parameters, *(f"{name}(0)" for name in system.names)]
    while names and len(names) * system.dimension > LARGEST:
        names.pop()
    try:
        answer = sensitivities(system, start, t_end, numbers, names)
    except OdesysError as problem:
        return [Finding("run", f"No sensitivities: {problem}", "measurement")]
    table = answer.relative({**numbers, **start})
    size = np.where(np.isfinite(table), np.abs(table), -1.0)
    order = [np.unravel_index(k, table.shape) for k in np.argsort(-size, axis=None)[:SHOWN]]
    told = [f"{answer.names[i]} by {table[i, j]:+.3g} per cent for {answer.to[j]}" for i, j in order if size[i, j] > 0]
    if not told:
        return []
    text = f"The end answers to one per cent of change: {'; '.join(told)}"
    return [Finding("run", text, "measurement", f"the largest of {table.size} relative derivatives, along the run")]
