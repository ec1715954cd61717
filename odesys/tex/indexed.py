r"""Equations with indices and sums as text, TeX or MathML: :math:`G_r = \sum_{i=1}^n g_i B_{ri}`.

A definition that is :math:`\mathbb 1[h>0] - \mathbb 1[h<0]` is written as sgn(h) where it is used, and not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

import sympy as sp

from ..expr import graph
from ..expr.graph import Node, sym
from ..expr.indexed import IndexedSystem, indices_of
from ..expr.sympy_bridge import from_sympy, to_sympy
from .documents import tex_templates
from .latex import LINE, WIDE_LINE, EquationLine, align, mathml_body, mathml_table, name_tex, next_value, rate
from .reading_order import ReadingOrder
from .writing import TexWriter, Writer, flat


@dataclass(frozen=True)
class IndexedLines:
    """Left and right sides of rows and definitions by name, of what letters stand for, and of the ranges of indices."""

    rows: Mapping[str, EquationLine]
    definitions: Mapping[str, EquationLine]
    notes: tuple[EquationLine, ...]
    ranges: tuple[EquationLine, ...]


def indexed_text(system: IndexedSystem) -> str:
    """The equations as plain text, one per line, after what their letters stand for.

    >>> from odesys import Member, every_member, sym
    >>> def member(n):
    ...     return Member({"i": n}, {"m": sum(sym(f"x{i}") ** 2 for i in range(1, n + 1))})
    >>> print(indexed_text(every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}"}, "flow")), end="")
    # i = 1, ..., n
    d/dt m = sum(i=1..n) x[i]^2
    """
    lines = _lines(system, tex=False)
    left = "d/dt {} = {}" if system.kind == "flow" else "{}+ = {}"
    out = [
        f"# {'; '.join(f'{index} = {values}' for index, values in lines.ranges)}",
        *(f"# {remark.replace('$', '')}" for remark in system.remarks),
        *(f"# {name} = {meaning}" for name, meaning in lines.notes),
    ]
    out += [f"{row.left} = {row.right}" for row in lines.definitions.values()]
    return flat("\n".join([*out, *(left.format(*row) for row in lines.rows.values())])) + "\n"


def indexed_latex(system: IndexedSystem, *, document: bool = False) -> str:
    """The equations as TeX, a fragment with amsmath or a whole article."""
    lines, limit = _lines(system, tex=True), WIDE_LINE if document else LINE
    text = align("align", _with_left(system, lines), limit)
    if lines.definitions:
        text += "where\n" + align("align*", list(lines.definitions.values()), limit)
    remarks = [*(f"${left} = {right}$" for left, right in [*lines.ranges, *lines.notes]), *system.remarks]
    text += f"Here {'; '.join(remarks)}.\n"
    if not document:
        return text.rstrip("\n")
    parameters = [_spelled(system, name, tex=True) for name in system.parameters]
    shown = {"kind": system.kind, "dimension": f"${_product(system.dimension)}$"}
    return tex_templates("odesys.tex").get_template("system.tex").render(
        system=shown, parameters=parameters, equations=text
    )  # fmt: skip


def indexed_mathml(system: IndexedSystem) -> str:
    """The equations as one MathML table, with remarks in its last rows."""
    lines = _lines(system, tex=True)
    table = mathml_table([_with_left(system, lines), list(lines.definitions.values()), [*lines.ranges, *lines.notes]])
    end = "</mtable></math>"
    return table.removesuffix(end) + "".join(f"{_remark_row(remark)}\n" for remark in system.remarks) + end


def _remark_row(remark: str) -> str:
    """Words and symbols between dollar signs, over both columns."""
    parts = [
        mathml_body(part) if k % 2 else f"<mtext>{escape(part)}</mtext>"
        for k, part in enumerate(remark.split("$"))
        if part
    ]
    return f'<mtr><mtd columnspan="2" style="text-align: left"><mrow>{"".join(parts)}</mrow></mtd></mtr>'


def indexed_lines(system: IndexedSystem) -> dict[str, str]:
    r"""The TeX of each row and definition by its name, as one formula; phi(z) is 1/(1 + e^z).

    Parameters
    ----------
    system : IndexedSystem
        What to write.

    Returns
    -------
    dict[str, str]
        Formulas by name.

    Examples
    --------
    >>> from odesys import Member, every_member, indexed_lines, sym
    >>> def member(n):
    ...     return Member({"i": n}, {"m": sum(sym(f"x{i}") ** 2 for i in range(1, n + 1))})
    >>> found = every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}"}, "map", tex={"x": "x_{{{i}}}"})
    >>> indexed_lines(found)
    {'m': 'm^{+} = \\sum_{i=1}^{n} x_{i}^{2}'}
    """
    lines = _lines(system, tex=True)
    named = zip(lines.rows, _with_left(system, lines), strict=True)
    return {name: flat(f"{row.left} = {row.right}") for name, row in [*lines.definitions.items(), *named]}


def _with_left(system: IndexedSystem, lines: IndexedLines) -> list[EquationLine]:
    left: Callable[[str], str] = rate if system.kind == "flow" else next_value
    return [EquationLine(left(row.left), row.right) for row in lines.rows.values()]


def _product(text: str) -> str:
    return " + ".join(
        r"\,".join(name_tex(x) if x[0].isalpha() else x for x in term.split("*")) for term in text.split(" + ")
    )


def _spelled(system: IndexedSystem, name: str, tex: bool) -> str:
    """A name with its indices as it is shown."""
    letter = name.partition("[")[0]
    if not tex:
        return name
    if letter not in system.tex:
        return name_tex(letter)
    own = indices_of(system.spelling.get(letter, ""))
    return system.tex[letter].format(**{index: index for index in own}) if own else system.tex[letter]


def _lines(system: IndexedSystem, tex: bool) -> IndexedLines:
    slope = r"\varphi" if tex else "phi"
    signs = {name: of for name, node in system.definitions.items() if (of := _sign_of(node)) is not None}
    shown = [*system.rows, *(name for name in system.definitions if name not in signs), *system.parameters]
    roots = [*system.rows.values(), *system.definitions.values(), *(total.node for total in system.sums.values())]
    other = sorted(graph.symbols(roots) - {*shown, *signs, *system.sums})
    names = {name: _spelled(system, name, tex) for name in [*shown, *other]}
    function = r"\mathrm{sgn}" if tex else "sgn"
    names |= {name: f"{function}({names[of]})" for name, of in signs.items()}
    order = ReadingOrder([*shown, *signs, *other])
    writer = (TexWriter if tex else Writer)(order, names, system.parameters, slope)
    for name in reversed(list(system.sums)):  # those inside come later
        total = system.sums[name]
        inner = _factored(total.node)
        order.introduce(sym(name), inner, order.place(inner))
        body = writer.write(inner)
        body = writer.group(body) if len(graph.linear_terms(inner)) > 1 else body
        top = name_tex(system.sizes[total.index]) if tex else system.sizes[total.index]
        mark = rf"\sum_{{{total.index}=1}}^{{{top}}} " if tex else f"sum({total.index}=1..{top}) "
        names[name] = mark + body
    rows, definitions = (
        {name: EquationLine(names[name], writer.write(node)) for name, node in table.items() if name not in signs}
        for table in (system.rows, system.definitions)
    )
    used = {node.op for node in graph.topological(roots)}
    notes = [EquationLine(_spelled(system, name, tex), both[tex]) for name, both in system.meanings.items()]
    if "sigmoid" in used:
        notes.append(EquationLine(f"{slope}(z)", r"\frac{1}{1 + e^{z}}" if tex else "1/(1 + exp(z))"))
    if signs:
        meaning = r"1, 0, -1\ \text{for}\ h > 0,\ h = 0,\ h < 0" if tex else "1, 0, -1 for h > 0, h = 0, h < 0"
        notes.append(EquationLine(f"{function}(h)", meaning))
    dots = r"\dots" if tex else "..."
    last = {index: name_tex(size) if tex else size for index, size in system.sizes.items()}
    ranges = [EquationLine(index, f"1, {dots}, {size}") for index, size in last.items()]
    return IndexedLines(rows, definitions, tuple(notes), tuple(ranges))


def _sign_of(node: Node) -> str | None:
    """The symbol whose sign a node is."""
    found = graph.symbols([node])
    for name in found if len(found) == 1 else ():
        if node is graph.step(sym(name)) - graph.step(-sym(name)):
            return name
    return None


def _factored(node: Node) -> Node:
    """A sum of products with what they share in front."""
    return from_sympy(sp.factor_terms(to_sympy(node))) if node.op == "add" else node
