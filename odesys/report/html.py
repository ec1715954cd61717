"""The page of a paper and the index: HTML with everything inside, readable without a script and without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from typing import Any

from . import values
from .content import Content, SystemPart, provenance
from .html_claims import LEGEND, claims_section, css_class, errata, formula, proof_graph, scrolling, source
from .mathml import mathml
from .svg import LARGEST_SVG, inline

LARGEST_PAGE = 4_500_000  # characters
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
PARTS = {
    "setting": "model and data",
    "systems": "systems",
    "claims": "claims",
    "run": "run",
    "comparison": "comparison",
    "figures": "figures",
}


def page(content: Content) -> str:
    """The page of one paper; if it is too large, the longest systems are left out, then figures become pictures."""
    text = _page(content)
    while len(text) > LARGEST_PAGE and any(part.mathml for part in content.systems):
        longest = max(content.systems, key=lambda part: len(part.mathml))
        short = replace(longest, mathml="", note="too long for this page; its LaTeX is here")
        content.systems[content.systems.index(longest)] = short
        text = _page(content)
    return text if len(text) <= LARGEST_PAGE else _page(content, 0)


def _page(content: Content, dense: int = LARGEST_SVG) -> str:
    paper = content.paper
    sections = {"setting": ("Model and data", _setting(content)), "systems": ("Closed systems", _systems(content))}
    if content.book is not None and content.outcomes:
        sections["graph"] = ("What rests on what", proof_graph(content))
        sections["claims"] = ("Claims", claims_section(content))
        sections["errata"] = ("Errata", errata(content))
    if content.simulation is not None:
        sections["run"] = ("A run", _run(content, dense))
    if content.comparison is not None:
        sections["comparison"] = ("Theory against finite width", _comparison(content, dense))
    if content.figures:
        sections["figures"] = ("Figures", _figures(content, dense))
    sections["provenance"] = ("How this page was made", _provenance(content))
    links = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, (title, _) in sections.items())
    body = "".join(
        f'<section aria-labelledby="{key}"><h2 id="{key}">{title}</h2>{text}</section>'
        for key, (title, text) in sections.items()
    )
    return _frame(
        f"{paper.name}: {paper.title}",
        f"""
<header><h1>{escape(paper.title)}</h1><p class="reference">{escape(paper.reference)}</p>
{_badges(content)}<nav aria-label="sections"><ul>{links}</ul></nav></header>
<main id="main">{body}</main>""",
        paper.name,
    )


def index(entries: Sequence[Mapping[str, Any]]) -> str:
    """The list of all papers in a folder of reports."""
    rows = [
        [
            f'<a href="{escape(e["page"])}">{escape(e["name"])}</a>',
            escape(e["title"]),
            *(str(e["claims"].get(word, 0)) for word in ("holds", "fails", "undecided")),
            escape(e["exponent"]),
        ]
        for e in entries
    ]
    table = _table(
        "Claims by verdict as printed; the exponent is that of the deviation from infinite width.",
        ("paper", "title", "hold", "fail", "undecided", "exponent"),
        rows,
        (2, 3, 4, 5),
        (5,),
        full=True,
    )
    return _frame(
        "odesys: papers",
        f"""
<header><h1>Papers</h1><p class="reference">Closed systems, verdicts on every registered claim, and theory against
finite width, each on one page.</p></header>
<main id="main">{table}</main>""",
        "",
    )


def _frame(title: str, body: str, name: str) -> str:
    folder = resources.files(__package__)
    style, script = (folder.joinpath(file).read_text(encoding="utf-8") for file in ("page.css", "page.js"))
    home = '<p><a href="index.html">All papers</a></p>' if name else ""
    return f"""<!DOCTYPE html>
<html lang="en" class="no-script">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
{body}
<footer>{home}<p>Written by odesys.</p></footer>
<script>
{script}</script>
</body>
</html>
"""


def _table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
    wide: Sequence[int] = (),
    full: bool = False,
) -> str:
    """A table of ready HTML cells; the first cell of a row is its header, `numbers` are right-aligned columns."""

    def kind(k: int) -> str:
        names = [name for name, places in (("number", numbers), ("wide", wide)) if k in places]
        return f' class="{" ".join(names)}"' if names else ""

    head = "".join(f'<th scope="col"{kind(k)}>{escape(text)}</th>' for k, text in enumerate(columns))
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row"{kind(k)}>{cell}</th>' if k == 0 else f"<td{kind(k)}>{cell}</td>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    size = "" if full else ' class="narrow"'
    return scrolling(
        caption,
        f"<table{size}><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
    )


def _badges(content: Content) -> str:
    if not content.outcomes:
        return ""
    kinds = [css_class(o.verdict) for o in content.outcomes] + ["v-unrun"] * len(content.not_run)
    shown = []
    for kind, text in LEGEND:
        count = sum(found.startswith(kind) for found in kinds)
        if count:
            shown.append(f'<li class="{kind}">{escape(text)}: {count}</li>')
    return f'<ul class="badges" aria-label="verdicts">{"".join(shown)}</ul>'


def _problem(content: Content, part: str) -> str:
    text = content.problems.get(part, "")
    return f'<p class="note">The part “{PARTS[part]}” could not be computed: {escape(text)}</p>' if text else ""


def _setting(content: Content) -> str:
    rows = "".join(f"<dt>{escape(f.what)}</dt><dd>{formula(f.tex)}</dd>" for f in content.formulas)
    text = f'<div class="card"><dl>{rows}</dl></div>' if rows else ""
    if content.data:
        samples = [[mathml(row.tokens), row.label, mathml(row.weight)] for row in content.data]
        more = f" Shown are {len(content.data)}, spread over it." if len(content.data) < content.samples else ""
        text += _table(
            f"The distribution: {content.samples} samples.{more}", ("tokens", "label", "weight"), samples, (1, 2)
        )
    if content.paper.parameters:
        given = [
            [f"<code>{escape(p.name)}</code>", escape(values.text(content.parameters[p.name])), escape(p.help)]
            for p in content.paper.parameters
        ]
        text += _table("Parameters and their values on this page.", ("name", "value", "meaning"), given)
    if content.about:
        text += (
            f'<details class="card"><summary>Symbols, and what is covered</summary>'
            f'<div class="about">{escape(content.about)}</div></details>'
        )
    return _problem(content, "setting") + text


def _systems(content: Content) -> str:
    parts = [_system(part, open_it=part.name == "quotient" or len(content.systems) == 1) for part in content.systems]
    intro = (
        "<p>Derived from the model and the data by program; nothing on a right-hand side was typed in.</p>"
        if parts
        else ""
    )
    return _problem(content, "systems") + intro + "".join(parts)


def _system(part: SystemPart, open_it: bool) -> str:
    size = f"{part.dimension} state{'s' if part.dimension != 1 else ''}" if part.dimension else "not available"
    given = ", ".join(mathml(tex) for tex in part.parameters)
    kind = {"flow": "flow", "map": "gradient step"}.get(part.kind, part.kind)
    line = ", ".join(filter(None, (kind, size)))
    text = f"<p>Parameters: {given}</p>" if given else ""
    if part.note:
        text += f'<p class="note">{escape(part.note)}</p>'
    if part.mathml:
        text += scrolling(f"equations of {part.name}", part.mathml)
    if part.latex:
        text += source(part.latex)
    return (
        f'<details class="claim"{" open" if open_it else ""}><summary><h3>{escape(part.name)}</h3> '
        f'<span class="soft">{line}</span></summary><div>{text}</div></details>'
    )


def _pairs(title: str, columns: tuple[str, str], pairs: Mapping[str, Any]) -> str:
    rows = [[f"<code>{escape(str(name))}</code>", escape(values.text(value))] for name, value in pairs.items()]
    return _table(title, columns, rows, (1,))


def _run(content: Content, dense: int) -> str:
    run = content.simulation
    assert run is not None
    picture = _picture(content.run_files, "run", f"{content.paper.name}, protocol {run.protocol}", dense)
    events = "".join(
        f"<li>{escape(str(e['name']))} ({escape(str(e['kind']))}) at t = {values.text(e['time'])}"
        f"{' until ' + values.text(e['end']) if 'end' in e else ''}</li>"
        for e in run.events[:40]
    )
    note = f'<p class="note">{escape(run.note)}</p>' if run.note else ""
    drift = run.invariant_drift
    gauge = "" if drift is None else f"<p>Drift of the conserved quantities: {drift:.2g}.</p>"
    cost = ", ".join(f"{k} {values.text(v)}" for k, v in run.cost.items())
    opening = f"<p>Protocol <code>{escape(run.protocol)}</code>; {escape(cost)}.</p>"
    return (
        f"{opening}{note}{gauge}{picture}"
        f"{f'<h3>Events</h3><ul>{events}</ul>' if events else ''}"
        f'<details class="card"><summary>Final values</summary>'
        f"{_pairs('Final values', ('observable', 'value'), run.final)}</details>"
    )


def _comparison(content: Content, dense: int) -> str:
    result = content.comparison
    assert result is not None
    what = str(result.get("what", "deviation"))
    rows = [[values.text(row[c]) for c in ("width", "mean", "low", "high")] for row in result["deviation"]]
    table = _table("Deviation over the seeds, with 95 % interval.", ("width", "mean", "low", "high"), rows, range(4))
    law = result.get("exponent")
    fitted = (
        f"<p>Fitted: deviation ∝ width<sup>α</sup> with α = <b>{values.text(law['value'])}</b>, 95 % interval "
        f"{values.text(law['low'])} to {values.text(law['high'])}.</p>"
        if law
        else ""
    )
    named = f"<p>Deviation: {_mixed(what)}</p>"
    return (
        f"<p>Real networks of finite width, trained in their weights, against the "
        f"closed system at infinite width.</p>{named}{fitted}"
        f"{table}"
        f"{_picture(content.comparison_files, 'compare', 'deviation of networks over their width', dense)}"
    )


def _mixed(text: str) -> str:
    """Text with formulas between dollar signs."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(mathml(part) if k % 2 else escape(part) for k, part in enumerate(parts))


def _picture(files: Sequence[Any], prefix: str, title: str, dense: int) -> str:
    stems = dict.fromkeys(file.stem for file in files)
    shown = []
    for k, stem in enumerate(stems):
        text = inline([file for file in files if file.stem == stem], f"{prefix}{k}", title, dense)
        if text:
            shown.append(scrolling(title, text))
    return f'<figure class="figures">{"".join(shown)}<figcaption>{escape(title)}</figcaption></figure>' if shown else ""


def _figures(content: Content, dense: int) -> str:
    parts = "".join(
        _picture(figure.files, f"f{k}", f"{figure.id}: {figure.title}", dense)
        for k, figure in enumerate(content.figures)
    )
    left = [id for id, figure in content.paper.figures.items() if figure.level == "full" and content.level != "full"]
    more = f'<p class="note">Left out at level quick: {escape(", ".join(left))}.</p>' if left else ""
    return _problem(content, "figures") + parts + more


def _provenance(content: Content) -> str:
    rows = "".join(
        f"<dt>{escape(k)}</dt><dd>{f'<code>{escape(v)}</code>' if k == 'command' else escape(v)}</dd>"
        for k, v in provenance(content).items()
        if v
    )
    times = _pairs(
        "Wall-clock seconds of each part",
        ("part", "seconds"),
        {PARTS[k]: round(v, 1) for k, v in content.seconds.items()},
    )
    problems = "".join(_problem(content, part) for part in content.problems)
    return f'{problems}<div class="card"><dl>{rows}</dl></div>{times}'
