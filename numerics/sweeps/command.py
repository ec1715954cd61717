"""The command ``odesys sweep``: plan, store, compute, table, fitted exponents and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from odesys import files
from odesys.errors import ParameterError
from odesys.papers import registry
from odesys.papers.paper import Paper
from odesys.terminal import print_files, print_table, progress_bar

from .plot import PANELS_SHOWN, draw, exponents, observables
from .store import FILE, TABLE, SweepStore, flat, write_table
from .sweep import Plan, PointResult, make_plan, run_sweep

ROWS_SHOWN = 12


def run_command(
    paper_text: str,
    paper: Paper,
    protocol: str | None,
    over: Sequence[str],
    settings: Mapping[str, str],
    out: Path,
    json: Path | None,
    resume: bool,
    retry: bool,
    workers: int,
    dask: str,
    plot: Sequence[str],
) -> bool:
    """Sweep and show; False if no point could be computed."""
    plan = make_plan(paper_text, paper, protocol, over, settings)
    for axis in plan.axes:
        if len(set(axis.values)) < len(axis.values):
            raise ParameterError(
                f"--over '{axis.name}={axis.text}' gives the same number twice, for 12 digits are kept between the "
                f"ends; give fewer points, or ends that are further apart"
            )
    files.prepare(out, json, (FILE, TABLE))
    with SweepStore(out, plan, resume) as store:
        if retry:
            store.forget_failed()
        kept = store.rows()
        _refuse_unknown(plot, kept)

        def keep(number: int, row: PointResult) -> None:
            store.keep(number, row)
            _refuse_unknown(plot, [{"result": row.result, "error": row.error}])

        try:
            with progress_bar(f"sweeping {paper.name}") as progress:
                run_sweep(plan, keep, {row["number"] for row in kept}, progress, workers, dask)
        except BaseException:
            rows = store.rows()
            if not rows:
                store.discard()
                typer.echo("odesys: no point was computed; the same command begins again", err=True)
                raise
            write_table(out, rows)
            typer.echo(
                f"odesys: {len(rows)} of {len(plan.points)} points are kept in {out}; the same command with "
                f"--resume goes on",
                err=True,
            )
            raise
        rows = store.rows()
    return _show(plan, rows, out, json, plot)


def _refuse_unknown(plot: Sequence[str], rows: list[dict[str, Any]], anyway: bool = False) -> None:
    """Refuse observables that some row does not have; rows that all failed have none, which is said at the end."""
    known = observables(rows)
    if not anyway and all(row["error"] for row in rows):
        return
    for name in plot:
        if name not in known:
            raise ParameterError(
                f"there is no observable {name!r} in this sweep{registry.hint(name, known)}; what is computed is "
                f"kept, --resume with another --plot goes on and draws it"
            )


def _show(plan: Plan, rows: list[dict[str, Any]], out: Path, json: Path | None, plot: Sequence[str]) -> bool:
    written = [out / FILE, write_table(out, rows)]
    known = observables(rows)
    _refuse_unknown(plot, rows, anyway=True)
    names = list(plot) or known[:PANELS_SHOWN]
    laws = exponents(plan.axes, rows, names)
    shown = [axis.name for axis in plan.axes]
    table = [
        [row["parameters"][n] for n in shown] + [flat(row).get(n) for n in names] + [row["error"]]
        for row in rows[:ROWS_SHOWN]
    ]
    left = f", the first {ROWS_SHOWN} of {len(rows)} points" if len(rows) > ROWS_SHOWN else ""
    print_table(f"{plan.name}, {plan.protocol}{left}", (*shown, *names, "error"), table)
    if laws:
        lines = [
            (
                law["observable"],
                law["over"],
                ", ".join(f"{k} = {v:g}" for k, v in law["at"].items()),
                law["value"],
                law["low"],
                law["high"],
                law["misfit"],
            )
            for law in laws[:ROWS_SHOWN]
        ]
        print_table("fitted exponents", ("observable", "over", "at", "exponent", "low", "high", "misfit"), lines)
    failed = [row for row in rows if row["error"]]
    if failed:
        typer.echo(
            f"{len(failed)} of {len(rows)} points failed; the column error says why, the first: {failed[0]['error']}"
        )
    if json:
        files.write_json(
            json,
            {
                "paper": plan.name,
                "protocol": plan.protocol,
                "over": plan.identity()["over"],
                "set": plan.identity()["set"],
                "failed": len(failed),
                "exponents": laws,
                "points": [{**row["parameters"], **flat(row), "error": row["error"]} for row in rows],
            },
        )
    with files.staged(out) as stage:
        draw(plan.axes, rows, names, f"{plan.name}, {plan.protocol}", stage.folder)
    print_files(written + stage.files)
    return len(failed) < len(rows)
