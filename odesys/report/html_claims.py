"""The claims of a paper on its page: proof graph, filter, table, and one entry with everything known about each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from ..papers.claims import Claim, Outcome
from ..verdicts import Verdict
from . import values
from .content import Content
from .graph import layers, svg
from .mathml import mathml

MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "not run": "·"}
LEGEND = (
    ("v-holds e-proof", "✓ holds, proof"),
    ("v-holds e-certificate", "✓ holds, certificate"),
    ("v-holds e-measurement", "✓ holds, measurement"),
    ("v-fails", "✗ fails as printed"),
    ("v-undecided", "? undecided"),
    ("v-unrun", "· not run at this level"),
)
EVIDENCE = {
    "proof": "exact rewriting down to zero",
    "certificate": "exhaustive, or outward-rounded arithmetic over the whole region",
    "measurement": "floating point: tolerance, margins and what was swept are in the details",
}


def anchor(id: str) -> str:
    """The name of a claim inside the page; different claims have different names."""
    return "claim-" + re.sub(r"[^A-Za-z0-9.\-]", lambda found: f"_{ord(found.group()):x}_", id)


def css_class(verdict: Verdict | None) -> str:
    """Classes that give a verdict its colour."""
    return "v-unrun" if verdict is None else f"v-{verdict.as_stated} e-{verdict.evidence}"


def scrolling(label: str, text: str, more: str = "") -> str:
    """A part that scrolls sideways by itself, with the keyboard too, so that the page does not."""
    return f'<div class="scroll{more}" tabindex="0" role="group" aria-label="{escape(label)}">{text}</div>'


def formula(tex: str) -> str:
    """A formula as MathML with its TeX one click away."""
    return f'<div class="formula">{scrolling("formula", mathml(tex, True))}{source(tex)}</div>'


def source(tex: str) -> str:
    """TeX behind one click."""
    return f'<details class="tex"><summary>LaTeX</summary><pre><code>{escape(tex)}</code></pre></details>'


def proof_graph(content: Content) -> str:
    """The graph of what rests on what, nodes in the colour of their verdict."""
    assert content.book is not None
    found = {o.claim.id: o.verdict for o in content.outcomes}
    words = {c.id: found[c.id].as_stated if c.id in found else "not run" for c in content.book}
    titles = {
        c.id: f"{c.id}: {c.title} ({words[c.id]}{f', {found[c.id].evidence}' if c.id in found else ''})"
        for c in content.book
    }
    picture = svg(
        layers(content.book.proof_graph()),
        {c.id: css_class(found.get(c.id)) for c in content.book},
        {id: MARKS[word] for id, word in words.items()},
        titles,
        {c.id: anchor(c.id) for c in content.book},
        "Proof graph: every claim is a link to its entry; an edge leads from what is used to what uses it",
    )
    legend = "".join(f'<li class="{kind}">{escape(text)}</li>' for kind, text in LEGEND)
    return (
        f"<p>An edge leads from a claim to those that rest on it, downwards. Claims without edges stand below. "
        f'The same links are in the entries under <a href="#claims">Claims</a>.</p><ul class="badges">{legend}</ul>'
        + scrolling("proof graph, scrolls sideways", picture, " card")
    )


def claims_section(content: Content) -> str:
    """Filter, table and entries."""
    assert content.book is not None
    found: dict[str, Outcome] = {o.claim.id: o for o in content.outcomes}
    claims = list(content.book)
    used_by = {c.id: [other.id for other in claims if c.id in other.uses] for c in claims}
    counts = content.counts()
    verdicts = "".join(_box("verdict", word, f"{word} ({count})") for word, count in counts.items() if count)
    strengths = [str(o.verdict.evidence) for o in content.outcomes]
    evidence = "".join(_box("evidence", word, f"{word} ({strengths.count(word)})") for word in EVIDENCE)
    meaning = "; ".join(f"<b>{word}</b>: {text}" for word, text in EVIDENCE.items())
    rows = "".join(_row(claim, found.get(claim.id)) for claim in claims)
    entries = "".join(_entry(claim, found.get(claim.id), used_by[claim.id]) for claim in claims)
    head = "".join(
        f'<th scope="col"{kind}>{text}</th>'
        for text, kind in (
            ("claim", ""),
            ("title", ""),
            ("kind", ' class="wide"'),
            ("as printed", ""),
            ("evidence", ""),
            ("seconds", ' class="number wide"'),
        )
    )
    table = (
        f"<table><caption>All claims; each links to its entry below.</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    return f"""
<p>“As printed” takes the paper’s wording literally, in the reading given with each claim. {meaning}.</p>
<div class="filters needs-script">
<fieldset><legend>as printed</legend>{verdicts}</fieldset>
<fieldset><legend>evidence</legend>{evidence}</fieldset>
<label>search <input type="search" placeholder="E.2, growth, ..."></label>
<button type="button" id="reset">show all</button>
<span id="shown" role="status" aria-live="polite"></span>
</div>
{scrolling("table of claims", table)}
<h3>Entries</h3>
{entries}"""


def _box(group: str, value: str, text: str) -> str:
    return f'<label><input type="checkbox" name="{group}" value="{value}" checked> {escape(text)}</label>'


def _data(claim: Claim, outcome: Outcome | None) -> str:
    words = f"{claim.id} {claim.title} {claim.kind} {claim.reading} {claim.statement}".lower()
    verdict = outcome.verdict.as_stated if outcome else "not run"
    evidence = str(outcome.verdict.evidence) if outcome else ""
    return f'data-claim data-verdict="{verdict}" data-evidence="{evidence}" data-text="{escape(words)}"'


def _row(claim: Claim, outcome: Outcome | None) -> str:
    verdict = outcome.verdict if outcome else None
    word = verdict.as_stated if verdict is not None else "not run"
    strange = " <b>(unexpected)</b>" if outcome and not outcome.as_expected else ""
    return (
        f'<tr {_data(claim, outcome)}><th scope="row"><a href="#{anchor(claim.id)}">{escape(claim.id)}</a></th>'
        f'<td>{escape(claim.title)}</td><td class="wide">{claim.kind}</td>'
        f'<td><span class="badge {css_class(verdict)}">{MARKS[word]} {word}</span>{strange}</td>'
        f"<td>{verdict.evidence if verdict is not None else '–'}</td>"
        f'<td class="number wide">{f"{outcome.seconds:.1f}" if outcome else "–"}</td></tr>'
    )


def _links(ids: Sequence[str]) -> str:
    return ", ".join(f'<a href="#{anchor(id)}">{escape(id)}</a>' for id in ids)


def _entry(claim: Claim, outcome: Outcome | None, used_by: Sequence[str]) -> str:
    verdict = outcome.verdict if outcome else None
    word = verdict.as_stated if verdict is not None else "not run"
    terms: list[tuple[str, str]] = [
        ("printed" if not claim.beyond else "statement", formula(claim.statement)),
        ("reading", escape(claim.reading)),
        ("kind", claim.kind),
    ]
    if claim.beyond:
        terms.append(("origin", "beyond the paper"))
    if claim.same_as:
        terms.append(("same as", _links([claim.same_as])))
    if verdict is None:
        terms.append(("verdict", f"not run: it belongs to level {claim.level}"))
    else:
        terms += _verdict_terms(verdict)
        assert outcome is not None
        if not outcome.as_expected:
            terms.append(("unexpected", f"the book expects: {claim.expect}"))
        terms.append(("seconds", f"{outcome.seconds:.2f}"))
    if claim.uses:
        terms.append(("rests on", _links(claim.uses)))
    if used_by:
        terms.append(("used by", _links(used_by)))
    body = "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in terms)
    tag = word + (f", {verdict.evidence}" if verdict is not None else "")
    return (
        f'<details class="claim" id="{anchor(claim.id)}" {_data(claim, outcome)}><summary><h3>{escape(claim.id)}: '
        f'{escape(claim.title)}</h3> <span class="badge {css_class(verdict)}">{MARKS[word]} {tag}</span></summary>'
        f"<div><dl>{body}</dl></div></details>"
    )


def _verdict_terms(verdict: Verdict) -> list[tuple[str, str]]:
    terms = [("evidence", f"{verdict.evidence}: {EVIDENCE[str(verdict.evidence)]}")]
    if verdict.witness is not None:
        terms.append(("witness", values.html(verdict.witness)))
    if verdict.residual:
        terms.append(("undecided", escape(verdict.residual)))
    if verdict.corrected is not None:
        fixed = verdict.corrected
        terms.append(
            (
                "instead",
                f"{formula(fixed.statement)}<p>{fixed.as_stated}, {fixed.evidence}"
                f"{': ' + escape(fixed.why) if fixed.why else ''}</p>",
            )
        )
    if verdict.sharpened:
        terms.append(("sharpened", escape(verdict.sharpened)))
    if verdict.constants:
        terms.append(("constants", values.html(verdict.constants)))
    if verdict.details:
        terms.append(("details", values.html(verdict.details)))
    return terms


def errata(content: Content) -> str:
    """What fails as printed, with what holds instead."""
    failing = [o for o in content.outcomes if o.verdict.as_stated == "fails"]
    if not failing:
        return "<p>Nothing that was checked fails as printed.</p>"
    parts = []
    for outcome in failing:
        claim, fixed = outcome.claim, outcome.verdict.corrected
        instead = (
            f"<dt>instead</dt><dd>{formula(fixed.statement)}<p>{fixed.as_stated}, {fixed.evidence}: "
            f"{escape(fixed.why)}</p></dd>"
            if fixed
            else ""
        )
        parts.append(
            f'<div class="card"><h3>{_links([claim.id])}: {escape(claim.title)}</h3><dl><dt>printed</dt>'
            f"<dd>{formula(claim.statement)}</dd><dt>fails by</dt><dd>{outcome.verdict.evidence}</dd>"
            f"<dt>witness</dt><dd>{values.html(outcome.verdict.witness)}</dd>{instead}</dl></div>"
        )
    return f"<p>{len(failing)} statements fail when taken literally.</p>" + "".join(parts)
