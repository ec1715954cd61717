r"""A system as TeX, MathML or plain text, printed from graph nodes with named parts (see `odesys.tex.display_names`).

States appear as `System.tex` says, :math:`c_{1}^\top W_{K+}^\top W_{Q+} v_{1}`; the slope of the logistic loss is
:math:`g(z) = 1/(1+e^z)`, a gate :math:`\mathbb 1[h>0]`. How nodes become text is in `odesys.tex.writing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ..errors import OdesysError
from ..expr import graph
from ..expr.field import BlockField
from ..expr.graph import ONE, Node
from ..expr.system import TIME, System
from ..jit.codegen import SCALAR_LIMIT
from ..model.paths import word_tex
from .display_names import Definition, NamedEquations, name_parts
from .documents import tex_templates
from .reading_order import ReadingOrder
from .writing import BREAK, INDENT, SYMBOL, TexWriter, Writer, flat, fold, width

LINE = 62.0  # width of a line in a plain article; see `writing.width`
WIDE_LINE = 94.0  # in the document written here
LARGEST_TEXT = 20_000  # nodes written out, repeated ones counted again

PI = "pi"
_LETTERS = {"p": "pqr", "Z": "ZNY", "H": "HhB", "g": "gfk", "G": "GFE", "S": "SUV", "P": "PQR", "F": "FKL"}


def system_latex(
    system: System, *, document: bool = False, names: Mapping[str, str] | None = None, environment: str = "align"
) -> str:
    r"""The equations as TeX, with what their letters stand for.

    Parameters
    ----------
    system : System
        What to write.
    document : bool, optional
        Give a complete article; otherwise a fragment that needs amsmath and amssymb (and, where gates occur, a package
        with a blackboard 1, such as dsfont).
    names : Mapping[str, str], optional
        TeX for some states or parameters, in place of `system.tex`.
    environment : str, optional
        ``align`` is text of a paper with numbered equations; ``aligned`` is one block for math mode.

    Returns
    -------
    str
        The TeX.

    Examples
    --------
    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> print(system_latex(System.from_equations({x: y, y: -x})))
    \begin{align}
    \dot{x} &= y \\
    \dot{y} &= -x
    \end{align}
    """
    if environment not in ("align", "aligned"):
        raise OdesysError(f"the environment is align or aligned, not {environment!r}")
    page = _tex_page(system, tuple((names or {}).items()))
    limit = WIDE_LINE if document else LINE
    if environment == "aligned" and not document:
        return _aligned(page, limit)
    text = align("align", page.equations, limit)
    if page.parts or page.notes:
        text += "where\n"
    if page.parts:
        text += align("align*", page.parts, limit)
    if page.notes:
        text += ("Here " if page.parts else "") + "; ".join(page.notes) + ".\n"
    if not document:
        return text.rstrip("\n")
    whole = tex_templates("odesys.tex").get_template("system.tex")
    return whole.render(system=system, parameters=page.parameters, equations=text)


def node_latex(node: Node, tex_map: Mapping[str, str]) -> str:
    r"""One expression as TeX on one line, without names for its parts; symbols not in `tex_map` are spelled by rule.

    >>> node_latex(graph.sym("x1") / 2, {})
    '\\frac{x_{1}}{2}'
    """
    size: dict[Node, int] = {}
    for part in graph.topological([node]):
        size[part] = 1 + sum(size[child] for child in graph.children(part))
    if size[node] > LARGEST_TEXT:
        raise OdesysError(f"an expression of {size[node]} nodes is too large for one formula; use system_latex instead")
    names = [*tex_map, *sorted(graph.symbols([node]) - set(tex_map))]
    return flat(
        TexWriter(ReadingOrder(names), {name: tex_map.get(name) or name_tex(name) for name in names}).write(node)
    )


def system_text(system: System) -> str:
    """The equations as plain text, one per line, after the definitions of the parts they share."""
    named = _named(system)
    taken = (*system.names, *_definitions(system), *system.parameters)
    letters = _choose_letters(named, dict.fromkeys(taken, ""), _reserved(system))
    names = {name: name for name in (*taken, TIME, PI)}
    for part in named.parts:
        stem = f"{letters[part.kind]}{part.number}"
        names |= {part.symbol: stem} | {f"{part.symbol},{j}": f"{stem}[{j}]" for j in range(1, len(part.exponents) + 1)}
    writer = Writer(named.order, names, (*system.parameters, *_numbers(system), PI), letters["g"])
    left = "d/dt {} = " if system.kind == "flow" else "{}+ = "
    lines = [f"# {name} = {meaning}" for name, (meaning, _) in system.meanings.items()]
    lines += [f"# {name} = {meaning}" for name, meaning in _notes(named, writer)]
    parts = [row for part in named.parts for row in _definition(part, writer)]
    defined, equations = _split_off(system, named.equations)
    lines += [f"{row.left} = {row.right}" for row in _between(defined, parts, writer, names)]
    lines += [left.format(name) + writer.write(node) for name, node in zip(system.names, equations, strict=True)]
    return flat("\n".join(lines)) + "\n"


def system_mathml(system: System) -> str:
    """The equations and the definitions of their parts as one MathML table, with lines broken as in TeX."""

    page = _tex_page(system, ())
    return mathml_table([page.equations, page.parts, page.note_rows])


def _in_a_line(formula: str) -> str:
    r"""A formula inside a paragraph, where its words can be broken.

    >>> _in_a_line(r"\pi = \text{a share of all}\ m")
    '$\\pi = {}$a share of all$\\ m$'
    """
    parts = re.split(r"\\text\{([^{}]*)\}", formula)  # words at odd places
    math = [part + "{}" if part.endswith("= ") else part for part in parts[::2]]  # a relation has two sides
    shown = [f"${part}$" if part.strip() else "" for part in math]
    return "".join(m + words for m, words in zip(shown, [*parts[1::2], ""], strict=True))


def mathml_table(blocks: Sequence[Sequence[EquationLine]]) -> str:
    """Blocks of rows as one MathML table, with "where" after the first."""

    def cell(tex: str, side: str) -> str:
        return f'<mtd style="text-align: {side}">{mathml_body(tex)}</mtd>'

    rows: list[str] = []
    for k, block in enumerate(blocks):
        if block and k and not any(blocks[1:k]):  # said once
            rows.append("<mtr><mtd><mtext>where</mtext></mtd></mtr>")
        for row in block:
            (_, first), *rest = fold(row.right, WIDE_LINE - width(row.left + "="))
            rows.append(f"<mtr>{cell(row.left, 'right')}{cell('= ' + first, 'left')}</mtr>")
            for depth, line in rest:
                rows.append("<mtr><mtd></mtd>" + cell(r"\quad" * max(depth, 1) + line, "left") + "</mtr>")
    table = "\n".join(rows)
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mtable>\n{table}\n</mtable></math>'


@lru_cache(maxsize=4096)  # systems of one paper have many left sides and parts in common
def mathml_body(tex: str) -> str:
    """What stands inside the element math; TeX that can not be read as text."""
    from latex2mathml.converter import convert

    try:
        body = convert(tex).partition(">")[2].removesuffix("</math>")
        ElementTree.fromstring(f"<math>{body}</math>")
    except Exception:  # a state's TeX is the user's: what the converter can not read is shown as it is
        return f"<mtext>{escape(tex)}</mtext>"
    return body


def name_tex(name: str) -> str:
    r"""TeX of a name by rule: ``omega`` as ``\omega``, ``x1`` as ``x_{1}``, ``n_c`` as ``n_{c}``.

    >>> name_tex("M_cv_same")
    'M_{\\mathrm{cv},\\mathrm{same}}'
    """
    parts = [part for part in name.split("_") if part]
    if not parts:
        return r"\_"
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", parts[0])
    stem, *index = [*match.groups(), *parts[1:]] if match else parts
    body = word_tex(stem)
    inner = [part if part.isdigit() else word_tex(part) for part in index]
    return f"{body}_{{{','.join(inner)}}}" if inner else body


def distinct_tex(names: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    r"""TeX of each name, as given or by rule; of names that would look the same, all but one are written as words.

    >>> distinct_tex(["x1", "x_1", "y1"], {})
    {'x1': '\\mathit{x1}', 'x_1': 'x_{1}', 'y1': 'y_{1}'}
    """
    tex = {name: given.get(name) or name_tex(name) for name in names}
    looks: dict[str, list[str]] = {}
    for name, text in tex.items():
        looks.setdefault(text, []).append(name)
    for alike in looks.values():
        if len(alike) > 1:
            first = max(alike, key=lambda name: (name in given, "_" in name, -len(name)))
            for name in alike:
                if name != first:
                    tex[name] = rf"\mathit{{{name}}}".replace("_", r"\_")
    return tex


# ---- a page: rows of TeX -------------------------------------------------------------------------------------------


class EquationLine(NamedTuple):
    """One equation: left side, and right side with marks where it may be broken."""

    left: str
    right: str


@dataclass(frozen=True)
class EquationPage:
    """Equations, definitions and remarks, ready to be laid out."""

    equations: list[EquationLine]
    parts: list[EquationLine]
    note_rows: list[EquationLine]
    notes: list[str]
    parameters: list[str]


@lru_cache(maxsize=1)  # a fragment, a document and MathML of one system are asked for one after the other
def _tex_page(system: System, names: tuple[tuple[str, str], ...]) -> EquationPage:
    named = _named(system)
    known = (*system.names, *_definitions(system), *system.parameters, TIME)
    tex = distinct_tex(known, {**system.tex, **dict(names)})
    letters = _choose_letters(named, tex, _reserved(system))
    shown = {PI: r"\pi"} | tex
    for part in named.parts:
        shown[part.symbol] = f"{letters[part.kind]}_{{{part.number}}}"
        for j in range(1, len(part.exponents) + 1):
            shown[f"{part.symbol},{j}"] = f"{letters[part.kind]}_{{{part.number},{j}}}"
    writer = TexWriter(named.order, shown, (*system.parameters, *_numbers(system), PI), letters["g"])
    left = rate if system.kind == "flow" else next_value
    defined, right = _split_off(system, named.equations)
    pairs = zip(system.names, right, strict=True)
    equations = [EquationLine(left(tex[name]), writer.write(node)) for name, node in pairs]
    parts = [row for part in named.parts for row in _definition(part, writer)]
    parts = _between(defined, parts, writer, tex)
    spelled = {**system.tex, **tex}  # a legend has letters with indices, which are no states
    told = [(spelled.get(name, name), meaning) for name, (_, meaning) in system.meanings.items() if meaning]
    legend, others = (
        [EquationLine(*note) for note in part if note[0] != note[1]] for part in (told, _notes(named, writer))
    )
    notes = [_in_a_line(f"{name} = {meaning}") for name, meaning in legend]
    notes += [f"${name} = {meaning}$" for name, meaning in others]
    note_rows = [*legend, *others]
    return EquationPage(equations, parts, note_rows, notes, [tex[name] for name in system.parameters])


def _named(system: System) -> NamedEquations:
    if isinstance(system.field, BlockField) and system.dimension > SCALAR_LIMIT:
        raise OdesysError(
            f"a system of {system.dimension} states is too large to write out (the limit is {SCALAR_LIMIT}); "
            f"ask for its quotient, --quotient on the command line, or a smaller instance",
            dimension=system.dimension,
        )
    nodes, names = list(system.nodes), [*system.names, *_definitions(system), *system.parameters]
    if _definitions(system) and system.written:
        nodes = [*system.written.definitions.values(), *system.written.equations]
    if PI not in names:
        nodes, names = _with_pi(nodes), [*names, PI]
    return _name_parts(tuple(nodes), tuple(names))


@lru_cache(maxsize=2)  # TeX, MathML and text of one system are asked for one after the other
def _name_parts(nodes: tuple[Node, ...], names: tuple[str, ...]) -> NamedEquations:
    return name_parts(nodes, names)


def _definitions(system: System) -> Mapping[str, Node]:
    """Names that the equations are written with; those of another right-hand side are forgotten."""
    written = system.written
    return written.definitions if written is not None and written.field is system.field else {}


def _numbers(system: System) -> list[str]:
    """Definitions that stand for numbers, which are written like parameters."""
    return [name for name, node in _definitions(system).items() if not graph.symbols([node])]


def _split_off(system: System, nodes: Sequence[Node]) -> tuple[dict[str, Node], Sequence[Node]]:
    """The definitions of a written system, and its equations."""
    names = list(_definitions(system))
    return dict(zip(names, nodes, strict=False)), nodes[len(names) :]


def _between(
    defined: Mapping[str, Node], parts: list[EquationLine], writer: Writer, names: Mapping[str, str]
) -> list[EquationLine]:
    """Definitions in states alone, then the parts, then definitions in which parts stand."""
    rows: dict[bool, list[EquationLine]] = {False: [], True: []}
    for name, node in defined.items():
        late = any(symbol.startswith("#") for symbol in graph.symbols([node]))
        rows[late].append(EquationLine(names[name], writer.write(node)))
    return [*rows[False], *parts, *rows[True]]


def _with_pi(roots: list[Node]) -> list[Node]:
    """Expressions have pi as 4 arctan(1), of which erf' has the root; here it gets its letter."""
    quarter, pi, four = graph.call("arctan", ONE), graph.sym(PI), graph.num(4)
    new = {quarter: pi / 4}
    order = graph.topological(roots)
    for node in order if quarter in order else ():
        if node.op == "mul":
            parts = [(pi, four, e) if b is quarter else (new[b], ONE, e) for b, e in node.args]
            new[node] = graph.multiply(*(graph.power(b, e) * graph.power(c, -e) for b, c, e in parts))
        elif node is not quarter:
            new[node] = graph.rebuild(node, new.__getitem__)
    return [new.get(root, root) for root in roots]


def _definition(part: Definition, writer: Writer) -> list[EquationLine]:
    """The equations that define one part."""
    name = writer.names[part.symbol]
    if not part.exponents:
        return [EquationLine(name, writer.write(part.node))]
    tex = isinstance(writer, TexWriter)
    if part.plain:
        arguments = f",{BREAK} ".join(writer.write(exponent) for exponent in part.exponents)
        return [EquationLine(name, writer.call(r"\mathrm{softmax}" if tex else "softmax", arguments))]
    rows = []
    for j, exponent in enumerate(part.exponents, start=1):
        quotient = graph.exp(exponent) / part.node
        rows.append(EquationLine(writer.names[f"{part.symbol},{j}"], writer.write(quotient)))
    return rows


def _notes(named: NamedEquations, writer: Writer) -> list[tuple[str, str]]:
    """What the functions are that a reader may not know."""
    roots = [*named.equations, *(node for part in named.parts for node in (part.node, *part.exponents))]
    used = {node.op for node in graph.topological(roots)}
    tex = isinstance(writer, TexWriter)
    x, z, h = (_free_letter(preferred, writer.names.values()) for preferred in "xzh")
    notes = []
    rows = [writer.names[part.symbol] for part in named.parts if part.exponents and part.plain]
    if rows:
        entry, top, total = (rf"\mathrm{{softmax}}({x})_{{j}}", f"e^{{{x}_{{j}}}}", rf"\sum_{{k}} e^{{{x}_{{k}}}}")
        text = (f"softmax({x})[j]", f"exp({x}[j])/sum_k exp({x}[k])")
        notes.append((entry, rf"\frac{{{top}}}{{{total}}}") if tex else text)
    if rows and tex:
        row = rows[0].partition("_")[0]
        notes.append((f"{row}_{{i,j}}", f"({row}_{{i}})_{{j}}"))
    if "sigmoid" in used:
        notes.append((f"{writer.slope}({z})", rf"\frac{{1}}{{1 + e^{{{z}}}}}" if tex else f"1/(1 + exp({z}))"))
    if "step" in used:
        notes.append(
            (rf"\mathbb{{1}}[{h}>0]", rf"1 \text{{ if }} {h}>0, \text{{ else }} 0")
            if tex
            else (f"[{h} > 0]", f"1 if {h} > 0, else 0")
        )
    return notes


def _reserved(system: System) -> set[str]:
    """Letters that `system.tex` keeps free: those that stand for themselves and are no state and no parameter."""
    return {name for name, tex in system.tex.items() if name == tex and len(name) == 1}


def _choose_letters(named: NamedEquations, tex: Mapping[str, str], reserved: set[str]) -> dict[str, str]:
    """A letter for each kind of part that no state or parameter uses, and that is not kept for something else."""
    taken = _stems(text for pair in tex.items() for text in pair) | reserved
    chosen = {}
    for kind, letters in _LETTERS.items():
        free = [letter for letter in letters if letter not in taken]
        chosen[kind] = free[0] if free else rf"\tilde{{{kind}}}" if any(tex.values()) else f"{kind}_"
        taken.add(chosen[kind])
    return chosen


def _stems(texts: Iterable[str]) -> set[str]:
    return {re.split(r"[_^\d]", text, maxsplit=1)[0] for text in texts}


def _free_letter(preferred: str, texts: Iterable[str]) -> str:
    taken = _stems(texts)
    return next((letter for letter in preferred + "uvsraqcd" if letter not in taken), preferred)


def rate(tex: str) -> str:
    """The left side of a flow."""
    match = SYMBOL.fullmatch(tex)
    return rf"\dot{{{match.group(1)}}}{match.group(2)}" if match else rf"\frac{{d}}{{dt}}\big({tex}\big)"


def next_value(tex: str) -> str:
    """The left side of a map."""
    return f"{tex}^{{+}}" if SYMBOL.fullmatch(tex) and "^" not in tex else rf"\big({tex}\big)^{{+}}"


def _aligned(page: EquationPage, limit: float) -> str:
    """Equations, parts and notes as one block of math mode, with "where" between them."""
    blocks = [align("aligned", rows, limit) for rows in (page.equations, page.parts, page.note_rows) if rows]
    rows = [block.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}\n") for block in blocks]
    text, where = rows[0], " \\\\\n\\text{where}\\quad & \\\\\n"
    for part in rows[1:]:
        text, where = f"{text}{where}{part}", " \\\\\n"
    return f"\\begin{{aligned}}\n{text}\n\\end{{aligned}}"


def align(environment: str, rows: list[EquationLine], limit: float) -> str:
    """Rows under each other, broken where they are wider than `limit`."""
    lines: list[str] = []
    room = limit - INDENT - max(width(row.left + "=") for row in rows)
    for row in rows:
        (_, first), *rest = fold(row.right, room)
        lines.append(f"{row.left} &= {first}")
        lines += ["&" + r"\quad" * max(depth, 1) + " " + line.strip() for depth, line in rest]
    numbered = environment == "align"
    body = []
    for i, line in enumerate(lines):
        broken = i + 1 < len(lines) and lines[i + 1].startswith("&")
        body.append(line + (r" \notag" if numbered and broken else "") + (r" \\" if i + 1 < len(lines) else ""))
    return f"\\begin{{{environment}}}\n" + "\n".join(body) + f"\n\\end{{{environment}}}\n"
