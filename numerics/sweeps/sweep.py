"""Sweeps: a protocol of a paper at every point of a grid, stored as results arrive, on processes or a Dask cluster.

A point is a pure function of its parameters, so the table does not depend on who computed what, or in which order.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from odesys import __version__
from odesys.errors import OdesysError, ParameterError
from odesys.jit import llvm
from odesys.papers import registry
from odesys.papers.paper import Paper, Parameter
from odesys.papers.sources import digest, files_below, imported, own_digest
from odesys.papers.workers import process_pool
from odesys.terminal import Progress, silent

LARGEST_GRID = 200_000  # points
LOST_PROCESS = "the process that computed it ended without an answer"


@dataclass(frozen=True)
class Axis:
    """One parameter and the values it takes; `spacing` is log, lin or list."""

    name: str
    values: tuple[Any, ...]
    spacing: str
    text: str


def read_axis(text: str, paper: Paper) -> Axis:
    """An axis from ``omega=log:1e-3:0.2:20``, ``T1=lin:5:50:10`` or ``K=2,3,4``; every value must be allowed."""
    name, _, grid = (part.strip() for part in text.partition("="))
    shown = f"--over {text!r}"
    if not name or not grid:
        raise ParameterError(
            f"{shown} can not be read: write --over NAME=log:LOW:HIGH:COUNT, NAME=lin:LOW:HIGH:COUNT or NAME=A,B,C"
        )
    known = {p.name: p for p in paper.parameters}
    if name not in known:
        raise ParameterError(f"{paper.name} has no parameter {name!r}{registry.hint(name, known)}")
    spacing, _, rest = grid.partition(":")
    if rest:
        values = _spaced(spacing, rest, known[name], shown)
    else:
        spacing, values = "list", [known[name].read(part.strip()) for part in grid.split(",")]
        twice = [v for k, v in enumerate(values) if v in values[:k]]
        if twice:
            raise ParameterError(f"{shown} has {twice[0]} twice; give each value once")
    return Axis(name, tuple(values), spacing, grid)


def _spaced(spacing: str, rest: str, parameter: Parameter, shown: str) -> list[Any]:
    parts = rest.split(":")
    if spacing not in ("log", "lin") or len(parts) != 3:
        raise ParameterError(f"{shown} can not be read: a grid is log:LOW:HIGH:COUNT or lin:LOW:HIGH:COUNT")
    low, high = (float(parameter.read(part.strip())) for part in parts[:2])
    if not (parts[2].strip().isascii() and parts[2].strip().isdecimal() and 1 <= int(parts[2][:9]) <= LARGEST_GRID):
        raise ParameterError(
            f"{shown} can not be read: the count {parts[2]!r} is not a whole number from 1 to {LARGEST_GRID}"
        )
    count = int(parts[2])
    if spacing == "log" and min(low, high) <= 0:
        raise ParameterError(f"{shown} can not be read: a logarithmic grid has positive ends")
    if low == high and count > 1:
        raise ParameterError(f"{shown} has {count} points between {low:g} and itself; give two ends, or one point")
    raw = (np.geomspace if spacing == "log" else np.linspace)(low, high, count).tolist()
    raw = [float(f"{value:.12g}") for value in raw]  # 4, not 3.999999999999999
    if count > 1:  # the ends as they were written
        raw[0], raw[-1] = low, high
    if parameter.kind is int:
        return list(dict.fromkeys(parameter.read(round(value)) for value in raw))
    return [parameter.read(repr(value)) for value in raw]


@dataclass(frozen=True)
class Plan:
    """What is swept: `paper` is the text it was asked for with, `base` the parameters that stay."""

    paper: str
    name: str
    protocol: str
    base: Mapping[str, Any]
    axes: tuple[Axis, ...]

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """Parameters of all points by number; the last axis runs fastest."""
        grid = product(*(axis.values for axis in self.axes))
        return [{**self.base, **dict(zip((a.name for a in self.axes), point, strict=True))} for point in grid]

    def identity(self) -> dict[str, Any]:
        """What two sweeps must have in common to go on from each other, besides the program."""
        swept = {axis.name for axis in self.axes}
        return {
            "paper": self.name,
            "protocol": self.protocol,
            "over": {a.name: list(a.values) for a in self.axes},
            "set": {name: value for name, value in self.base.items() if name not in swept},
        }


def make_plan(
    paper_text: str, paper: Paper, protocol: str | None, over: Sequence[str], settings: Mapping[str, str]
) -> Plan:
    """Check everything before the first point is computed."""
    if not over:
        raise ParameterError("a sweep needs at least one --over, as in --over omega=log:1e-3:0.2:20")
    axes = tuple(read_axis(text, paper) for text in over)
    for k, axis in enumerate(axes):
        if axis.name in settings or axis.name in (other.name for other in axes[:k]):
            raise ParameterError(f"{axis.name} is given twice; sweep it with one --over, or set it with --set")
    count = math.prod(len(axis.values) for axis in axes)
    if count > LARGEST_GRID:
        raise ParameterError(f"the grid has {count} points, more than {LARGEST_GRID}; make it coarser")
    name = protocol or next(iter(paper.protocols), "")
    registry.pick(paper, "protocol", name, paper.protocols)
    paper_text = (
        os.path.abspath(paper_text)
        if paper_text not in registry.known_names() and os.path.isdir(paper_text)
        else paper_text
    )
    return Plan(paper_text, paper.name, name, paper.read_parameters(settings), axes)


@cache
def program_digest(paper_text: str) -> str:
    """Version and a digest of the program: its results are not mixed with those of another one.

    It is made of all files of the engine, of `numerics` and of the paper's folder but for the output of sweeps, and of
    the modules from elsewhere that the paper imports. Machine code and Python differ in last digits, so it is said as
    well which of them runs.
    """
    folder = registry.source_folder(paper_text)
    starts = _module_of(paper_text) if folder is None else (folder,)
    own = {f"of the paper {file.name}": file for file in starts if file.is_file()}
    own |= {f"of the paper {file.relative_to(folder).as_posix()}": file for file in _inputs(folder)} if folder else {}
    found = hashlib.sha256(f"{own_digest()} {digest({**imported(starts), **own})}".encode()).hexdigest()
    return f"{__version__} {found[:12]}{' with machine code' if llvm.available() else ''}"


def _module_of(paper_text: str) -> tuple[Path, ...]:
    """The file of an installed paper that is one module, without a folder of its own."""
    point = registry.announced().get(paper_text)
    file = getattr(sys.modules.get(point.module), "__file__", None) if point else None
    return (Path(file),) if file else ()


def _inputs(folder: Path) -> list[Path]:
    """All files of a paper's folder but those that sweeps have written."""
    from .store import FILE, TABLE  # which is a user of this module

    files = files_below(folder)
    outputs = {file.parent for file in files if file.name == FILE} - {folder}
    written = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", TABLE)
    return [file for file in files if file.name not in written and not outputs & set(file.parents)]


@dataclass(frozen=True)
class PointResult:
    """The result of one point: plain data, or the error it ended with."""

    result: Mapping[str, Any]
    error: str
    seconds: float
    program: str


def run_point(paper_text: str, protocol: str, parameters: Mapping[str, Any]) -> PointResult:
    """Compute one point; what goes wrong is part of the answer, an interrupt is not."""
    began = time.perf_counter()
    result: dict[str, Any] = {}
    error = ""
    try:
        done = _paper(paper_text).protocols[protocol](parameters, silent)
        times: dict[str, float] = {}
        for event in done.events:
            if event["kind"] == "stage":
                times.setdefault(str(event["name"]), float(event["time"]))
        cost = {name: value for name, value in done.cost.items() if name != "seconds"}  # it is never the same twice
        result = {
            "final": dict(done.final),
            "time": times,
            "cost": cost,
            "invariant_drift": done.invariant_drift,
            "note": done.note,
        }
        result = {key: _numbers(value) for key, value in result.items()}
    except OdesysError as refusal:
        error = str(refusal)
    except Exception as mistake:  # a mistake in a paper's code at one point must not cost the others
        error = f"{type(mistake).__name__}: {mistake}"
    return PointResult(result, error, time.perf_counter() - began, program_digest(paper_text))


@cache
def _paper(paper_text: str) -> Paper:
    return registry.find_paper(paper_text)


def _numbers(value: Any) -> Any:
    """NumPy numbers as Python's, so that they are the same in a file and in another process."""
    if isinstance(value, Mapping):
        return {str(key): _numbers(item) for key, item in value.items()}
    return value.item() if hasattr(value, "item") else value


# ---- who computes ----------------------------------------------------------------------------------------------------

Todo = Sequence[tuple[int, dict[str, Any]]]


def computed(plan: Plan, todo: Todo, workers: int = 1, dask: str = "") -> Iterator[tuple[int, PointResult]]:
    """Rows as they are done, with the numbers of their points."""
    if dask:
        from .on_dask import on_dask  # which is a user of this module

        return on_dask(plan, todo, dask)
    return _here(plan, todo) if min(workers, len(todo)) <= 1 else _on_processes(plan, todo, workers)


def _here(plan: Plan, todo: Todo) -> Iterator[tuple[int, PointResult]]:
    for number, parameters in todo:
        yield number, run_point(plan.paper, plan.protocol, parameters)


def _on_processes(plan: Plan, todo: Todo, workers: int) -> Iterator[tuple[int, PointResult]]:
    """A few points at a time; if a process dies, those under way are tried again one by one, to find the one."""
    left = list(todo)
    while left:
        open_ones: dict[Future[PointResult], tuple[int, dict[str, Any]]] = {}
        queue = iter(left)
        done: set[int] = set()
        try:
            with process_pool(min(workers, len(left))) as pool:
                while True:
                    for number, parameters in islice(queue, 2 * workers - len(open_ones)):
                        future = pool.submit(run_point, plan.paper, plan.protocol, parameters)
                        open_ones[future] = (number, parameters)
                    if not open_ones:
                        return
                    for future in wait(open_ones, return_when=FIRST_COMPLETED).done:
                        row = future.result()
                        number, _ = open_ones.pop(future)
                        done.add(number)
                        yield number, row
        except BrokenProcessPool:
            for number, parameters in open_ones.values():
                done.add(number)
                yield number, _alone(plan, parameters)
        left = [item for item in left if item[0] not in done]


def _alone(plan: Plan, parameters: Mapping[str, Any]) -> PointResult:
    try:
        with process_pool(1) as pool:
            return pool.submit(run_point, plan.paper, plan.protocol, parameters).result()
    except BrokenProcessPool:
        return PointResult({}, LOST_PROCESS, 0.0, program_digest(plan.paper))


# ---- the whole sweep -------------------------------------------------------------------------------------------------


def run_sweep(
    plan: Plan,
    keep: Callable[[int, PointResult], None],
    have: set[int],
    progress: Progress = silent,
    workers: int = 1,
    dask: str = "",
) -> int:
    """Compute what is missing and hand each row to `keep` at once; the number of rows computed."""
    todo = [(number, point) for number, point in enumerate(plan.points) if number not in have]
    here = program_digest(plan.paper)
    for done, (number, row) in enumerate(computed(plan, todo, workers, dask), start=1):
        if row.program != here:
            raise OdesysError(
                f"a worker runs odesys {row.program}, this is {here}: install the same version on the "
                f"cluster; its results were not kept"
            )
        keep(number, row)
        progress(f"{len(have) + done} of {len(have) + len(todo)} points", done / len(todo))
    return len(todo)
