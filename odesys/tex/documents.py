"""Documents as Jinja2 templates, each in the folder ``templates`` of the package that fills it.

In HTML every value is escaped unless it is marked as markup. In LaTeX and Markdown a value stands in ``<< >>`` and a
statement in ``<% %>``, since braces are TeX's; text that is not TeX goes through the filter ``plain``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",  # \textquotedbl is not in every encoding of fonts
} | {c: "\\" + c for c in "{}_&%#$"}
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau varphi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_GREEK_TEX = dict(zip("αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK.split(), strict=True))
_SIGNS = {
    "≤": "le",
    "≥": "ge",
    "≠": "ne",
    "±": "pm",
    "→": "to",
    "∞": "infty",
    "·": "cdot",
    "×": "times",
    "√": "surd",
    "∈": "in",
    "−": "-",
    "≈": "approx",
    "∝": "propto",
    "∂": "partial",
    "∑": "sum",
    "∫": "int",
}
_QUOTES = {"“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "…": r"\dots{}"}


_BREAKS = re.compile(r"\s*[\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


def html_templates(package: str, folder: str = "templates", **filters: Callable[..., Any]) -> Environment:
    """The HTML templates of a package, with filters of its own."""
    return _environment(package, folder, filters, autoescape=True)


def tex_templates(package: str, folder: str = "templates", **filters: Callable[..., Any]) -> Environment:
    """The LaTeX and Markdown templates of a package, with filters of its own."""
    return _environment(
        package,
        folder,
        {"plain": plain, "formula": formula, **filters},
        autoescape=False,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )


def _environment(package: str, folder: str, filters: Mapping[str, Callable[..., Any]], **options: Any) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(package, folder)
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **options)
    made.filters |= filters
    return made


def plain(text: Any) -> str:
    """Text with everything that TeX would act on, or not know, made harmless; a blank line would end a paragraph."""
    out = []
    for c in _BREAKS.sub(" ", str(text)):
        if c in _SPECIAL:
            out.append(_SPECIAL[c])
        elif c in _GREEK_TEX or c in _SIGNS:
            name = _GREEK_TEX.get(c) or _SIGNS[c]
            out.append(f"\\ensuremath{{{name if name == '-' else chr(92) + name}}}")
        elif c in _QUOTES:
            out.append(_QUOTES[c])
        else:
            known = c.isprintable() and (c.isascii() or (c.isalpha() and ord(c) < 0x180))
            out.append(c if known else "?")
    return "".join(out)


def formula(text: Any) -> str:
    """A formula in TeX on one line, without the signs that no formula has: a blank line would end it."""
    return "".join(c for c in _BREAKS.sub(" ", str(text)) if c.isprintable()).strip()
