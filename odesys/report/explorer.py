"""The explorer of a page: a system as JavaScript, with what a reader moves and sees, as one fragment of HTML.

Field, surfaces, events and curves of a stage are one straight-line function (`odesys.jit.javascript`); stages whose
equations are those of another with some states held share its function. The integrator and the view are the same for
all (`templates/html/explorer_flow.js`, `explorer_view.js`); nothing is evaluated from text, so that a page allows its
script by its hash alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..analysis.finding import SECTIONS, heading
from ..analysis.findings import Analysis
from ..analysis.switching import Switching
from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME
from ..expr.tape import Arithmetic, Tape
from ..jit.javascript import arrow, literal, prelude
from ..papers.explorer import Explorer, LiveProtocol, LiveStage
from ..tex.documents import html_templates
from .mathml import mathml
from .prose import finding, letters
from .svg import InlineFigure

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST = 40_000  # bytes of a script
SHORTER = {
    r"\bconst\b ?(\W?)": r"let \1",
    r"let ([\[{])": r"let\1",
    ";}": "}",
    r"(?<!\w)\((\w+)\)=>": r"\1=>",
    r"\b0\.": ".",
}
FLOATS = Arithmetic({name: record.floats for name, record in graph.FUNCTIONS.items()}, float)


@dataclass(frozen=True)
class Fragment:
    """An explorer as text of a page: its element, its style and its script."""

    html: str
    style: str
    script: str

    @property
    def policy(self) -> str:
        """The script as a source of a content policy: its hash."""
        return policy_of(self.script)


def policy_of(script: str) -> str:
    """What a content policy calls a script: its hash.

    >>> policy_of("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def fragment(explorer: Explorer, static: str = "") -> Fragment:
    """The explorer as text of a page; `static` is the markup of a figure for readers without scripts."""
    names = [slider.name for slider in explorer.sliders]
    codes: list[_Code] = []
    for protocol in explorer.protocols:
        _check(protocol, names)
        for stage in protocol.stages:
            _code_of(stage, codes)
    made = [_protocol(protocol, names, codes) for protocol in explorer.protocols]
    starts = list(dict.fromkeys(start for _, start in made))
    protocols = [table | {"s": starts.index(start)} for table, start in made]
    gates: dict[Node, str] = {}
    for code in codes:  # a surface that several systems have is called as in the first
        gates = _gate_names(code.stage, explorer) | gates
    texts = [code.text(names, gates) for code in codes]
    sliders = [
        {"name": s.name, "value": s.value, "low": s.low, "high": s.high, "log": s.log, "whole": s.whole}
        for s in explorer.sliders
    ]
    model = (
        f"const SLIDERS={_script(sliders)},CODES=[{','.join(texts)}],STARTS=[{','.join(starts)}],"
        f"PROTOCOLS={_script(protocols)};"
    )
    script = f'(()=>{{"use strict";{prelude(model)}{model}{_runtime()}explore(document.getElementById("explore"))}})()'
    html = _templates().get_template("explorer.html").render(explorer=explorer, static=static)
    return Fragment(html, page_file("explorer.css"), script)


def explorer_page(
    explorer: Explorer,
    static: str = "",
    equations: str = "",
    analysis: Analysis | None = None,
    pictures: Sequence[InlineFigure] = (),
) -> str:
    """A page with an explorer, what is known about its system, and, as MathML, the equations behind it."""
    return _page(explorer.title, fragment(explorer, static), equations, analysis, pictures)


def findings_page(title: str, equations: str, analysis: Analysis) -> str:
    """A page of what is known about a system that no page runs, as a map."""
    return _page(title, None, equations, analysis, ())


def _page(
    title: str, live: Fragment | None, equations: str, analysis: Analysis | None, pictures: Sequence[InlineFigure]
) -> str:
    said = {
        "equations": equations,
        "analysis": analysis,
        "pictures": pictures,
        "sections": SECTIONS,
        "heading": heading,
    }
    return _templates().get_template("explorer_page.html").render(title=title, live=live, font=math_font(), **said)


@cache
def math_font() -> str:
    """Part of STIX Two Math, as tools/math_font.py makes it."""
    return base64.b64encode((resources.files("odesys.report") / "fonts" / "math.woff2").read_bytes()).decode("ascii")


@cache
def _templates() -> Environment:
    return html_templates("odesys.report", "templates/html", mathml=mathml, letters=letters, finding=finding)


# ---- codes -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Code:
    """A function in the making: the field of a stage, and what is looked at beside it."""

    stage: LiveStage
    nodes: tuple[Node, ...]
    seen: list[Node] = field(default_factory=list)

    @property
    def surfaces(self) -> list[Node]:
        return graph.surfaces(self.nodes)

    def place(self, node: Node) -> int:
        """The number of something to look at."""
        if node not in self.seen:
            self.seen.append(node)
        return self.seen.index(node)

    def text(self, sliders: Sequence[str], names: Mapping[Node, str]) -> str:
        """The function, its sizes and the names of its gates."""
        system, surfaces = self.stage.system, self.surfaces
        moving = {TIME} | {n for n, node in zip(system.names, self.nodes, strict=True) if node is not graph.ZERO}
        gates: dict[Node, str] = {}
        for i, surface in enumerate(surfaces):
            gates |= {graph.step(surface): f"g[{i}]", graph.step(-surface): f"(1-g[{i}])"}
        roots = [*self.nodes, *surfaces, *self.seen]
        code = arrow("t,x,p,g", roots, _places(system.names, sliders), gates)
        movable = [int(not graph.symbols([surface]).isdisjoint(moving)) for surface in surfaces]
        found = [names.get(surface, f"gate {i + 1}") for i, surface in enumerate(surfaces)]
        return f"{{n:{system.dimension},s:{len(surfaces)},w:{_script(movable)},names:{_script(found)},f:{code}}}"


def _places(states: Sequence[str], sliders: Sequence[str]) -> dict[str, str]:
    return (
        {TIME: "t"} | {name: f"p[{k}]" for k, name in enumerate(sliders)} | {s: f"x[{i}]" for i, s in enumerate(states)}
    )


def _gate_names(stage: LiveStage, explorer: Explorer) -> dict[Node, str]:
    """What the gates of a stage are called, by their surfaces in states and sliders."""
    if not stage.system.surfaces:
        return {}
    values = {slider.name: slider.value for slider in explorer.sliders}
    wanted = [graph.as_node(stage.values.get(p, p)) for p in stage.system.parameters]
    numbers = Tape.of(wanted).over(FLOATS)(values)
    compiled = stage.system.compile(dict(zip(stage.system.parameters, numbers, strict=True)), backend="scalar")
    names = [stage.gates.get(name, name) for name in Switching(compiled).names]
    steps = _in_sliders(stage, map(graph.step, stage.system.surfaces))
    return {step.args[0]: name for step, name in zip(steps, names, strict=True) if step.op == "step"}


def _bound(stage: LiveStage) -> tuple[Node, ...]:
    """The equations of a stage in states and sliders."""
    unknown = sorted(set(stage.values) - set(stage.system.parameters))
    if unknown:
        known = ", ".join(stage.system.parameters) or "none"
        raise EquationError(f"the stage {stage.name} has no parameter {unknown[0]}; its parameters are {known}")
    return tuple(_in_sliders(stage, stage.system.nodes))


def _in_sliders(stage: LiveStage, nodes: Iterable[Any]) -> list[Node]:
    """Expressions in states, sliders and parameters of a stage, in states and sliders."""
    mapping = {graph.sym(p): graph.as_node(value) for p, value in stage.values.items()}
    return graph.substitute([graph.as_node(node) for node in nodes], mapping)


def _code_of(stage: LiveStage, codes: list[_Code]) -> _Code:
    """The code of a stage: one there is, if that has the same equations for all states that move; else a new one."""
    nodes = _bound(stage)
    for code in codes:
        if code.stage.system.names == stage.system.names:
            if all(a is b or a is graph.ZERO for a, b in zip(nodes, code.nodes, strict=True)):
                return code
            if all(a is b or b is graph.ZERO for a, b in zip(nodes, code.nodes, strict=True)):
                code.stage, code.nodes = stage, nodes
                return code
    codes.append(_Code(stage, nodes))
    return codes[-1]


# ---- protocols -------------------------------------------------------------------------------------------------------


def _protocol(protocol: LiveProtocol, sliders: Sequence[str], codes: list[_Code]) -> tuple[dict[str, Any], str]:
    """A protocol as data, and the function that gives its start and its times; all codes are known."""
    states = protocol.stages[0].system.names
    own = [_code_of(stage, codes) for stage in protocol.stages]
    stages, read = [], list[Node]()
    for stage, code in zip(protocol.stages, own, strict=True):
        nodes = _in_sliders(stage, [e.node for e in stage.events])
        read += nodes
        events = [
            {"name": e.name, "i": code.place(node), "d": e.direction, "stop": e.stops}
            for e, node in zip(stage.events, nodes, strict=True)
        ]
        still = [k for k, node in enumerate(_bound(stage)) if node is graph.ZERO and code.nodes[k] is not node]
        stages.append({"name": stage.name, "c": codes.index(code), "z": still, "e": events})
    curves = _in_sliders(protocol.stages[0], [node for panel in protocol.panels for node in panel.curves.values()])
    below = set(graph.topological(curves))
    eye = max(own, key=lambda code: len(below & set(graph.topological([*code.nodes, *code.surfaces]))))
    places = iter([eye.place(node) for node in curves])
    panels = [
        {"title": panel.title, "log": panel.log, "seen": [[label, next(places)] for label in panel.curves]}
        for panel in protocol.panels
    ]
    first = [graph.as_node(protocol.start.get(name, 0)) for name in states]
    last = graph.as_node(protocol.end)
    ends = [last if stage.end is None else graph.as_node(stage.end) for stage in protocol.stages]
    given = [*first, graph.as_node(protocol.atol), graph.as_node(protocol.begin), last, *ends]
    read += [*given, *curves, *(node for stage in protocol.stages for node in _bound(stage))]
    table = {
        "id": protocol.name,
        "n": len(states),
        "rtol": protocol.rtol,
        "log": protocol.log_time,
        "letter": protocol.letter,
        "y": codes.index(eye),
        "uses": [name for name in sliders if name in graph.symbols(read)],
        "panels": panels,
        "stages": stages,
    }
    return table, arrow("p", given, _places((), sliders), {})


def _check(protocol: LiveProtocol, sliders: Sequence[str]) -> None:
    """Refuse names that mean two things, or nothing."""
    for stage in protocol.stages:
        system, known = stage.system, {*sliders, TIME, *stage.system.names}
        if system.kind != "flow":
            raise EquationError(f"the stage {stage.name} is a map; an explorer runs flows")
        if system.names != protocol.stages[0].system.names:
            raise EquationError(f"the stage {stage.name} has other states than the first; all share one layout")
        twice = sorted(set(system.names) & set(sliders))
        if twice:
            raise EquationError(f"{twice[0]} is a state and a slider; give the slider another name")
        curves = [node for panel in protocol.panels for node in panel.curves.values()]
        read = [*_bound(stage), *_in_sliders(stage, [*curves, *(e.node for e in stage.events)])]
        unknown = sorted(graph.symbols(read) - known)
        if unknown:
            raise EquationError(f"the protocol {protocol.name} uses {unknown[0]}, which is no state and no slider")
    unknown = sorted(set(protocol.start) - set(protocol.stages[0].system.names))
    if unknown:
        raise EquationError(f"the start of {protocol.name} names {unknown[0]}, which is no state")
    given = [protocol.atol, protocol.begin, protocol.end, *(s.end for s in protocol.stages if s.end is not None)]
    unknown = sorted(graph.symbols([graph.as_node(v) for v in [*given, *protocol.start.values()]]) - set(sliders))
    if unknown:
        raise EquationError(f"start and times of {protocol.name} are said in sliders, and {unknown[0]} is none")


# ---- what is the same for all ----------------------------------------------------------------------------------------


@cache
def _runtime() -> str:
    """Integrator and view, without comments and needless space."""
    from rjsmin import jsmin

    text = jsmin("\n".join(page_file(name) for name in ("explorer_flow.js", "explorer_view.js")))
    for long, short in SHORTER.items():
        text = re.sub(long, short, text)
    return f"let TABLE={_table()};{text}\n"


@cache
def _table() -> str:
    """The coefficients of DOP853; its times are the sums of the rows."""
    from scipy.integrate import DOP853

    parts = {
        "A": DOP853.A,
        "B": DOP853.B,
        "E3": DOP853.E3,
        "E5": DOP853.E5,
        "D": DOP853.D,
        "X": DOP853.A_EXTRA,
    }

    def row(values: Sequence[float]) -> list[float | int]:
        kept = [float(v) if v else 0 for v in values]
        while kept and kept[-1] == 0:
            kept.pop()
        return kept

    return _script(
        {name: row(table) if table.ndim == 1 else [row(values) for values in table] for name, table in parts.items()}
    )


def _script(value: Any) -> str:
    """A value as JavaScript that can stand in a page."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{name}:{_script(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_script, value)) + "]"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return literal(value).strip("()")
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


@cache
def page_file(name: str) -> str:
    """A file of the templates of pages, as it is."""
    return resources.files("odesys.report").joinpath("templates", "html", name).read_text(encoding="utf-8")
