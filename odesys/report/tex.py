r"""The same content as a LaTeX bundle: a body to ``\input``, figures as PDF, labels by claim id, and a main file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..papers.claims import Claim, Outcome
from ..papers.paper import Simulation
from ..tex.latex import plain
from . import values
from .content import Content, FigurePart, SystemPart, provenance
from .graph import layers, tikz

EVENTS_SHOWN = 12
COLOURS = {
    "proof": "green!25",
    "certificate": "cyan!25",
    "measurement": "yellow!35",
    "fails": "red!25",
    "undecided": "gray!40",
    "not run": "white",
}
PREAMBLE = r"""\documentclass{article}
\usepackage[a4paper,margin=2.2cm]{geometry}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb,graphicx,longtable,xcolor,tikz}
\usepackage{hyperref}
\allowdisplaybreaks
\sloppy
"""
NEEDS = (
    "% needs the packages amsmath, amssymb, graphicx, longtable, xcolor, tikz, and T1 font encoding;\n"
    "% figures are looked for in the folder that this file is in, seen from where TeX runs: see \\graphicspath\n"
)
#: amssymb has no blackboard 1; inside the body only, so that the paper around it keeps its own
GATE = r"""\providecommand{\phantomsection}{}
\begingroup
\let\odesysbb\mathbb
\renewcommand{\mathbb}[1]{\ifx1#1\mathrm{1\mkern-4.5mu l}\else\odesysbb{#1}\fi}
"""


def label(paper: str, id: str) -> str:
    r"""The name of a claim for ``\ref``: paper and id, without what TeX can not have in a label."""
    return f"{paper}:{id}".translate({ord(c): "-" for c in "\\{}%#~^$& "})


def main(names: Sequence[str], title: str) -> str:
    """A document that compiles alone."""
    inputs = "\n".join(rf"\input{{{name}/body}}" for name in names)
    opening = f"\\title{{{plain(title)}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n"
    return f"{PREAMBLE}{opening}{inputs}\n\\end{{document}}\n"


def body(content: Content) -> str:
    """Sections of one paper, without a preamble."""
    paper = content.paper
    parts = [
        NEEDS + GATE + rf"\section{{{plain(paper.title)}}}\label{{{label(paper.name, 'report')}}}",
        plain(paper.reference) + ".",
        _setting(content),
        _systems(content.systems, paper.name),
    ]
    if content.book is not None and content.outcomes:
        parts += [_graph(content), _table(content), _entries(content)]
        parts.append(_errata(content))
    if content.simulation is not None:
        parts.append(_run(content, content.simulation))
    if content.comparison is not None:
        parts.append(_comparison(content, content.comparison))
    if content.figures:
        parts.append(_section("Figures") + "\n".join(_figure(content, figure) for figure in content.figures))
    parts.append(_provenance(content))
    return "\n\n".join(filter(None, parts)) + "\n\\endgroup\n"


def _section(title: str) -> str:
    return rf"\subsection{{{title}}}" + "\n"


def _display(tex: str) -> str:
    return f"\\[ {tex} \\]"


def _setting(content: Content) -> str:
    if not content.formulas:
        return ""
    lines = [_section("Model and data")]
    lines += [rf"\paragraph{{{plain(f.what)}}} {_display(f.tex)}" for f in content.formulas]
    if content.data:
        rows = "\n".join(rf"\( {row.tokens} \) & \( {row.label} \) & \( {row.weight} \) \\" for row in content.data)
        more = f"; shown are {len(content.data)}, spread over it" if len(content.data) < content.samples else ""
        lines.append(
            rf"The distribution has {content.samples} samples{more}."
            "\n"
            r"\begin{longtable}{lrr} tokens & label & weight \\ \hline"
            f"\n{rows}\n\\end{{longtable}}"
        )
    return "\n".join(lines)


def _systems(systems: Sequence[SystemPart], paper: str) -> str:
    lines = [_section("Closed systems")]
    for part in systems:
        size = f"{part.kind} with {part.dimension} states" if part.dimension else "not available"
        note = f" {plain(part.note)}." if part.note else ""
        lines.append(rf"\paragraph{{{plain(part.name)}}} {size}.{note}")
        if part.latex and part.mathml:
            lines.append(part.latex)
    return "\n".join(lines)


def _kind(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not run"
    return str(outcome.verdict.evidence) if outcome.verdict.as_stated == "holds" else outcome.verdict.as_stated


def _graph(content: Content) -> str:
    assert content.book is not None
    found = {o.claim.id: o for o in content.outcomes}
    layout = layers(content.book.proof_graph())
    colours = {claim.id: COLOURS[_kind(found.get(claim.id))] for claim in content.book}
    picture = tikz(layout, colours, {claim.id: plain(claim.id) for claim in content.book})
    legend = ", ".join(rf"\colorbox{{{colour}}}{{{word}}}" for word, colour in COLOURS.items())
    return (
        _section("What rests on what")
        + r"\begin{figure}[htbp]\centering"
        + f"\n{picture}\n"
        + rf"\caption{{What rests on what: {legend}.}}\label{{{label(content.paper.name, 'graph')}}}"
        + "\n\\end{figure}"
    )


def _table(content: Content) -> str:
    assert content.book is not None
    found = {o.claim.id: o for o in content.outcomes}
    rows = []
    for claim in content.book:
        outcome = found.get(claim.id)
        verdict = f"{outcome.verdict.as_stated} & {outcome.verdict.evidence}" if outcome else "not run & --"
        rows.append(
            rf"{plain(claim.id)} & {plain(claim.title)} & {verdict} & "
            rf"\pageref{{{label(content.paper.name, claim.id)}}} \\"
        )
    return (
        _section("Claims")
        + r"\begin{longtable}{lp{0.5\linewidth}llr} claim & title & as printed & evidence & page"
        + " \\\\ \\hline\\endhead\n"
        + "\n".join(rows)
        + "\n\\end{longtable}"
    )


def _entries(content: Content) -> str:
    assert content.book is not None
    found = {o.claim.id: o for o in content.outcomes}
    return "\n\n".join(_entry(content.paper.name, claim, found.get(claim.id)) for claim in content.book)


def _entry(paper: str, claim: Claim, outcome: Outcome | None) -> str:
    lines = [
        rf"\paragraph{{{plain(claim.id)}: {plain(claim.title)}}}\phantomsection\label{{{label(paper, claim.id)}}}",
        _display(claim.statement),
        rf"\emph{{Reading:}} {plain(claim.reading)}.",
    ]
    if outcome is None:
        return "\n".join([*lines, "Not run at this level."])
    verdict = outcome.verdict
    lines.append(rf"\emph{{As printed:}} {verdict.as_stated} ({verdict.evidence}).")
    if verdict.witness is not None:
        lines.append(rf"\emph{{Witness:}} {plain(values.text(verdict.witness))}.")
    if verdict.residual:
        lines.append(rf"\emph{{Undecided:}} {plain(verdict.residual)}.")
    if verdict.corrected is not None:
        fixed = verdict.corrected
        lines.append(
            rf"\emph{{Instead}} ({fixed.as_stated}, {fixed.evidence}): {_display(fixed.statement)} "
            f"{plain(fixed.why)}."
        )
    if verdict.sharpened:
        lines.append(rf"\emph{{Sharpened:}} {plain(verdict.sharpened)}.")
    if verdict.constants:
        lines.append(rf"\emph{{Constants:}} {plain(values.text(verdict.constants))}.")
    if claim.uses:
        lines.append(
            r"\emph{Rests on:} "
            + ", ".join(rf"{plain(u)} (p.~\pageref{{{label(paper, u)}}})" for u in claim.uses)
            + "."
        )
    return "\n".join(lines)


def _errata(content: Content) -> str:
    failing = [o.claim for o in content.outcomes if o.verdict.as_stated == "fails"]
    rows = "\n".join(
        rf"\item {plain(c.id)}: {plain(c.title)} (p.~\pageref{{{label(content.paper.name, c.id)}}})" for c in failing
    )
    listed = f"\\begin{{itemize}}\n{rows}\n\\end{{itemize}}" if failing else "Nothing that was checked."
    return _section("Errata") + f"Fails when taken literally; what holds instead is said at each claim.\n{listed}"


def _run(content: Content, run: Simulation) -> str:
    what = f"protocol {run.protocol}"
    events = ", ".join(f"{plain(e['name'])} at {values.text(e['time'])}" for e in run.events[:EVENTS_SHOWN])
    drift = "" if run.invariant_drift is None else f" Drift of the conserved quantities: {run.invariant_drift:.2g}."
    final = "\n".join(
        rf"\texttt{{{plain(name)}}} & {plain(values.text(value))} \\" for name, value in run.final.items()
    )
    return (
        _section("A run")
        + f"{plain(what.capitalize())}. {'Events: ' + events + '.' if events else ''}{drift}"
        + (f" {plain(run.note)}." if run.note else "")
        + f"\n\\begin{{longtable}}{{lr}} observable & final value \\\\ \\hline\n{final}\n\\end{{longtable}}\n"
        + _figure(content, FigurePart("run", what, content.run_files))
    )


def _comparison(content: Content, result: Mapping[str, Any]) -> str:
    rows = "\n".join(
        f"{row['width']} & {values.text(row['mean'])} & {values.text(row['low'])} & "
        rf"{values.text(row['high'])} \\"
        for row in result["deviation"]
    )
    law = result.get("exponent")
    fitted = (
        f"The fitted exponent of the width is {values.text(law['value'])} (95\\,\\% interval "
        f"{values.text(law['low'])} to {values.text(law['high'])})."
        if law
        else ""
    )
    what = str(result.get("what", "deviation"))
    what = what if what.count("$") % 2 == 0 and "$" in what else plain(what)
    figure = FigurePart("deviation", "deviation of networks over their width", content.comparison_files)
    return (
        _section("Theory against finite width") + f"Deviation: {what}. {fitted}\n"
        r"\begin{longtable}{rrrr} width & mean & low & high \\ \hline"
        f"\n{rows}\n\\end{{longtable}}\n" + _figure(content, figure)
    )


def _figure(content: Content, figure: FigurePart) -> str:
    by_stem: dict[str, Path] = {}
    for file in sorted(figure.files, key=lambda file: file.suffix == ".pdf"):
        if file.suffix in (".pdf", ".png"):
            by_stem[file.stem] = file
    if not by_stem:
        return ""
    shown = "\n".join(
        rf"\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]"
        rf"{{{content.paper.name}/{file.relative_to(content.folder).as_posix()}}}"
        for file in by_stem.values()
    )
    return (
        f"\\begin{{figure}}[htbp]\\centering\n{shown}\n\\caption{{{plain(figure.title)}}}"
        f"\\label{{{label(content.paper.name, 'fig-' + figure.id)}}}\n\\end{{figure}}"
    )


def _provenance(content: Content) -> str:
    rows = "\n".join(rf"\item[{plain(key)}] {plain(text)}" for key, text in provenance(content).items() if text)
    times = ", ".join(f"{name} {seconds:.1f}\\,s" for name, seconds in content.seconds.items())
    problems = "".join(rf"\item[not computed] {plain(part)}: {plain(text)}" for part, text in content.problems.items())
    return (
        _section("How this was made")
        + "\\begin{description}\n"
        + rows
        + f"\n\\item[times] {times}\n{problems}"
        + "\\end{description}\n\\clearpage"
    )
