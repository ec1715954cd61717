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
from .sweep import Plan, make_plan, run_sweep

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
    files.prepare(out, json, (FILE, TABLE))
    with SweepStore(out, plan, resume) as store:
        if retry:
            store.forget_failed()
        have = store.have()
        try:
            with progress_bar(f"sweeping {paper.name}") as progress:
                run_sweep(plan, store.keep, have, progress, workers, dask)
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


def _show(plan: Plan, rows: list[dict[str, Any]], out: Path, json: Path | None, plot: Sequence[str]) -> bool:
    written = [out / FILE, write_table(out, rows)]
    known = observables(rows)
    names = list(plot) or known[:PANELS_SHOWN]
    for name in names:
        if name not in known:
            raise ParameterError(
                f"there is no observable {name!r} in this sweep{registry.hint(name, known)}; the table "
                f"is written, --resume with another --plot draws it"
            )
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
