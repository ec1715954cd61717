"""The command ``odesys report``: gather each paper, write its page or its LaTeX, and an index of all that are there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import typer

from .. import files
from ..errors import OdesysError
from ..locks import hold, waiting
from ..papers.paper import Paper
from ..terminal import print_files, print_table, progress_bar, shown
from . import html, tex, values
from .claim_entry import claim_entries
from .content import Content, Request, gather, told
from .opening import SEGMENTS, Segment, headline, sizes, symbols, verdict_bar
from .svg import thumbnail

SUMMARY = "report.json"
FILES = (SUMMARY, "verify.json", "simulate/result.json", "compare/result.json")  # of a paper, that end in .json
KIND = "odesys report"
_PICTURE = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/=]*")


def run_command(
    papers: Mapping[str, Paper], request: Request, out: Path, form: str, json_file: Path | None, command: str
) -> bool:
    """Write the reports of `papers` to `out`; True if every verdict is as expected and no part is missing."""
    contents: list[Content] = []
    formats = ("pdf",) if form == "latex" else ("png", "svg")
    token = files.figure_formats.set(formats)
    try:
        for name, paper in papers.items():
            folder = files.prepare_folder(out / paper.name)
            hold(folder)
            with progress_bar(f"report on {paper.name}") as progress:
                try:
                    content = gather(name, paper, request, folder, progress)
                except KeyboardInterrupt:
                    typer.echo(f"odesys: what was computed so far is kept in {folder}", err=True)
                    raise
                content.command = command
                contents.append(content)
                try:
                    written = _write(content, out, form)
                except OdesysError:  # a full disk
                    raise
                except Exception as error:  # the other papers go on
                    content.problems["page"], written = told(error), []
            _show(content)
            print_files(written)
    finally:
        files.figure_formats.reset(token)
        if contents:
            with waiting(out):
                print_files([_write_index(out, form)])
    if json_file:
        files.write_json(json_file, {"papers": [summary(content) for content in contents]})
    return all(not content.problems and not content.unexpected() for content in contents)


def _write(content: Content, out: Path, form: str) -> list[Path]:
    if form == "latex":
        written = [files.write_text(content.folder / "body.tex", tex.body(content))]
    else:
        written = [files.write_text(out / f"{content.paper.name}.html", html.page(content))]
    files.write_json(content.folder / SUMMARY, summary(content))
    return written


def summary(content: Content) -> dict[str, Any]:
    """What the index says about a paper."""
    law = content.comparison.get("exponent") if content.comparison else None
    bar = verdict_bar(claim_entries(content))
    first = next((figure for figure in content.figures if figure.id == content.main_figure), None)
    size = [f"{n.value} {n.says.partition(':')[0]}" for n in sizes(content)] + [n.value for n in symbols(content)]
    return {
        "kind": KIND,
        "name": content.paper.name,
        "title": content.paper.title,
        "reference": content.paper.reference,
        "headline": headline(content),
        "size": ", ".join(size),
        "bar": [asdict(segment) for segment in bar],
        "total": sum(segment.count for segment in bar),
        "thumbnail": thumbnail(first.files) if first else "",
        "claims": content.counts(),
        "unexpected": [o.claim.id for o in content.unexpected()],
        "problems": content.problems,
        "exponent": values.text(law["value"]) if law else "–",
        "seconds": sum(content.seconds.values()),
        "page": f"{content.paper.name}.html",
    }


def _write_index(out: Path, form: str) -> Path:
    """List every paper with a report in the folder, also those of earlier runs."""
    entries = []
    for file in sorted(out.glob(f"*/{SUMMARY}")):
        entry = read_summary(file)
        if entry is not None and (file.parent / "body.tex" if form == "latex" else out / entry["page"]).is_file():
            entries.append(entry)
    if form == "latex":
        document = tex.main([e["name"] for e in entries], "Closed systems and verdicts")
        return files.write_text(out / "main.tex", document)
    return files.write_text(out / "index.html", html.index(entries))


def read_summary(file: Path) -> dict[str, Any] | None:
    """What a file of a folder of reports says about its paper; None if it is not what `summary` writes there."""
    try:
        found = json.loads(files.read_text(file, regular=True))
    except (OSError, ValueError, RecursionError):
        return None
    name = file.parent.name
    wanted = {"kind": KIND, "name": name, "page": f"{name}.html"}
    if not isinstance(found, dict) or any(found.get(key) != value for key, value in wanted.items()):
        return None
    texts = [found.get(key) for key in ("title", "reference", "headline", "size", "thumbnail")]
    bar, kinds = found.get("bar"), [[kind, letter, word] for kind, letter, word, *_ in SEGMENTS]
    right = (
        all(isinstance(text, str) for text in texts)
        and (not found["thumbnail"] or _PICTURE.fullmatch(found["thumbnail"]) is not None)
        and isinstance(bar, list)
        and all(isinstance(each, dict) and each.keys() == {f.name for f in fields(Segment)} for each in bar)
        and all([each["kind"], each["letter"], each["word"]] in kinds for each in bar)
        and all(type(count) is int and count >= 0 for count in (found.get("total"), *(each["count"] for each in bar)))
    )
    return found if right else None


def _show(content: Content) -> None:
    counts = content.counts()
    print_table(f"{content.paper.name}: {content.paper.reference}", counts, [counts.values()])
    for part, text in content.problems.items():
        typer.echo(shown(f"the part {part} could not be computed: {text}"))
    for outcome in content.unexpected():
        typer.echo(shown(f"{outcome.claim.id} {outcome.verdict.as_stated}, the book expects {outcome.claim.expect}"))
