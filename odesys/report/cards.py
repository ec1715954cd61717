"""What an object shows in a notebook: a card of a few rows in HTML, with formulas where they are short.

Cards have no colours of their own, so they read on light and dark pages, need no script and no network, and are capped:
a system of 66,831 states says how large it is and prints none of its equations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from ..expr.field import BlockField
from ..shortening import shortened, some
from .mathml import compact, mathml, text_with_formulas

if TYPE_CHECKING:
    from ..analysis.findings import Analysis
    from ..analysis.first_integrals import Integrals
    from ..analysis.integral_search import FirstIntegral
    from ..derive.flow import Flow
    from ..expr.system import System
    from ..papers.claims import Claim, ClaimBook
    from ..reduce.reduction import Reduction
    from ..verdicts import Verdict

MOST_EQUATIONS = 12  # written out in a card
MOST_NODES = 1500  # in all of them together
MOST_HTML, MOST_TEX = 60_000, 12_000  # characters
MOST_ROWS = 20
SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?", "untested": "·"}
CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0;border:0;background:none;"

WORD = "font-weight:normal;opacity:0.75;white-space:nowrap"


class Html(str):
    """Text that is HTML already."""


def card(title: str, rows: Iterable[tuple[str, Any]] = (), below: str = "") -> str:
    """A heading, rows of a word and what it is (text, or `Html`), and more HTML below; empty rows are left out."""
    cells = "".join(
        f'<tr style="background:none"><th style="{CELL}{WORD}">{escape(word)}</th>'
        f'<td style="{CELL}">{what if isinstance(what, Html) else escape(shortened(str(what)))}</td></tr>'
        for word, what in rows
        if what not in ("", None)
    )
    table = f'<table style="border:0;margin:0.2em 0">{cells}</table>' if cells else ""
    text = f'<div class="odesys-card"><strong>{escape(title)}</strong>{table}{below}</div>'
    if len(text) <= MOST_HTML:
        return text
    return card(title, rows) if below else f"<div><strong>{escape(title)}</strong></div>"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


# ---- systems, flows, reductions --------------------------------------------------------------------------------------


def is_short(system: System) -> bool:
    """True if the equations fit into a card; blocks are not written out to find out."""
    from ..expr import graph

    blocks = isinstance(system.field, BlockField) and system.field.block_only
    if blocks or not 0 < system.dimension <= MOST_EQUATIONS:
        return False
    return sum(1 for _ in graph.topological(system.nodes)) <= MOST_NODES


def system_rows(system: System) -> list[tuple[str, Any]]:
    """Kind, number and names of states by what they stand for, parameters, observables."""
    paths = Counter(system.structure[name].path for name in system.names if name in system.structure)
    by_path = ", ".join(f"{count} {path}" for path, count in list(paths.items())[:MOST_ROWS] if path)
    seen = system.field.observable_blocks if isinstance(system.field, BlockField) else system.observables
    return [
        ("kind", {"flow": "flow, in time t", "map": "map, in steps"}[system.kind]),
        ("states", f"{_count(system.dimension, 'state')}: {some(system.names)}"),
        ("by path", by_path),
        ("parameters", some(system.parameters) if system.parameters else ""),
        ("observables", some(seen) if seen else ""),
    ]


def system_card(system: System) -> str:
    """A system with its equations, if they are few."""
    return card(f"System of {_count(system.dimension, 'state')}", system_rows(system), _equations(system))


def _equations(system: System) -> str:
    """MathML of the equations, if they are few; it may scroll sideways in its own box."""
    from ..tex.latex import system_mathml

    return f'<div style="overflow-x:auto">{compact(system_mathml(system))}</div>' if is_short(system) else ""


def system_tex(system: System) -> str | None:
    """The equations in math mode, if they are few."""
    tex = f"$\\displaystyle {system.latex()}$" if is_short(system) else ""
    return tex if 0 < len(tex) <= MOST_TEX else None


def flow_card(flow: Flow) -> str:
    """What was derived: the maps and what of them moves, the samples, the size of the closed system."""
    rows = [
        ("maps", some(flow.program.maps, 12)),
        ("trained", some(flow.train, 12)),
        ("samples", _count(len(flow.data), "sample") if hasattr(flow.data, "__len__") else ""),
        *system_rows(flow.system),
    ]
    return card(f"Flow, closed with {_count(flow.system.dimension, 'state')}", rows)


def reduction_card(reduction: Reduction) -> str:
    """From how many states to how many, for which starts, and the smaller system."""
    title = f"{type(reduction).__name__}: {reduction._sizes().replace('->', '→')} states"
    rows = [("describes", f"only starts {reduction.starts}"), *system_rows(reduction.system)[1:]]
    return card(title, rows, _equations(reduction.system))


def integral_tex(integral: FirstIntegral) -> str | None:
    """A conserved quantity in math mode, if it is short."""
    from ..errors import OdesysError
    from ..tex.latex import node_latex

    try:
        tex = f"$\\displaystyle {node_latex(integral.node, {})}$"
    except OdesysError:
        return None
    return tex if len(tex) <= MOST_TEX else None


def integrals_card(found: Integrals) -> str:
    """The conserved quantities with their proofs, and among what was searched."""
    rows: list[tuple[str, Any]] = []
    for integral in list(found)[:MOST_ROWS]:
        tex = integral_tex(integral)
        formula = Html(mathml(tex.strip("$").removeprefix("\\displaystyle "))) if tex else "too long to show"
        rows.append((integral.name, Html(f"{formula} &nbsp;({escape(shortened(integral.proof, 80))})")))
    rows.append(("searched", f"{found.ansatz}; {'these are all' if found.complete else 'there may be more'}"))
    return card(_count(len(found), "first integral"), rows)


# ---- runs ------------------------------------------------------------------------------------------------------------


def run_card(run: Any) -> str:
    """A trajectory: where it ended and why, its events, its final observables."""
    kinds = Counter(event.kind for event in run.events)
    final = {name: value for name, value in run.final.items() if name not in run.names} or run.final
    rows = [
        ("system", f"{_count(len(run.names), 'state')}: {some(run.names)}"),
        ("time", f"{run.start_time:g} to {run.end_time:g}, {len(run.times)} rows; stopped: {run.stop}"),
        ("events", ", ".join(f"{count} {kind}" for kind, count in kinds.items())),
        ("at the end", ", ".join(f"{name} = {value:.6g}" for name, value in list(final.items())[:8])),
        ("method", "" if run.stiff_from is None else f"stiff: implicit steps from t = {run.stiff_from:.4g} on"),
        ("method", "" if run.series_from is None else f"Taylor series from t = {run.series_from:.4g} on"),
        ("cost", f"{run.cost.field_evaluations:,} evaluations of the field" if run.cost.field_evaluations else ""),
    ]
    return card(type(run).__name__, rows)


# ---- claims and verdicts ---------------------------------------------------------------------------------------------


def verdict_card(verdict: Verdict) -> str:
    """Answer and evidence, apart; a witness, what holds instead, where it was seen."""
    from ..sentences import say_answer, say_constants

    fixed = verdict.corrected
    rows: list[tuple[str, Any]] = [
        ("evidence", str(verdict.evidence)),
        ("because", say_answer(verdict)),
        ("fault", ", ".join(filter(None, (verdict.fault, verdict.cause)))),
        ("instead", Html(f"{mathml(fixed.statement)} ({fixed.as_stated}, {fixed.evidence})") if fixed else ""),
        ("constants", say_constants(verdict.constants) if verdict.constants else ""),
        ("parts", ", ".join(f"{name}: {part.as_stated}" for name, part in verdict.parts.items())),
    ]
    return card(f"{SIGNS[verdict.as_stated]} {verdict.as_stated}", rows)


def claim_card(claim: Claim) -> str:
    """The printed statement, its place, how it is read and what it rests on."""
    hypotheses = [f"{h.name}: ${h.tex}$" for h in claim.hypotheses or ()]
    rows = [
        ("printed", Html(mathml(claim.statement))),
        ("where", claim.where),
        ("read as", Html(text_with_formulas(claim.reading))),
        ("hypotheses", Html("<br>".join(map(text_with_formulas, hypotheses)))),
        ("rests on", some(claim.uses, 12) if claim.uses else ""),
        ("kind", f"{claim.kind}, {claim.origin}; the book expects that it {_expected(claim)}"),
    ]
    return card(f"{claim.id} {claim.title}", rows)


def _expected(claim: Claim) -> str:
    return claim.expect if claim.expect in ("holds", "fails") else f"is {claim.expect}"


def book_card(book: ClaimBook) -> str:
    """How many claims of which origin, the main theorems, and the first ids."""
    claims = list(book)
    origins = Counter(claim.origin for claim in claims)
    rows: Mapping[str, Any] = {
        "reference": book.reference,
        "claims": f"{len(claims)}: {', '.join(f'{count} {origin}' for origin, count in origins.items())}",
        "theorems": some([f"{claim.id} {claim.title}" for claim in claims if claim.main]) if claims else "",
        "ids": some([claim.id for claim in claims], 12),
        "rule": "under the verdict rule" if book.rule else "not yet under the verdict rule",
    }
    return card(f"ClaimBook of {book.paper}", rows.items())


def analysis_card(found: Analysis) -> str:
    """All lines with their evidence."""
    return card(found.sentence, [(line.evidence, line.text) for line in found.findings[: 2 * MOST_ROWS]])
