"""Formulas of the site as MathML, which browsers set without a script and without the network."""

from docutils import nodes
from sphinx.application import Sphinx

from odesys.report.mathml import mathml


def inline(writer, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(writer, node: nodes.math_block) -> None:
    for formula in filter(None, map(str.strip, node.astext().split("\n\n"))):
        if "tex-only" in (text := mathml(" ".join(formula.split()), block=True)):
            raise ValueError(f"the converter does not read {formula!r}")
        writer.body.append(f'<div class="formula">{text}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
