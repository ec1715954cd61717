r"""Long printed statements in lines: broken where the paper itself separates, at spaces, commas and colons.

Browsers do not break a formula, so that one that is wider than its place would have to be scrolled.
"""

from __future__ import annotations

import re

WIDTH = 44  # signs in a line, about
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.", re.DOTALL)
_NO_WIDTH = re.compile(
    r"\s+|[{}_^&]|\\(?:left|right|[bB]igg?[lrm]?|t?frac|dfrac|math[a-z]+|text|operatorname|rm|displaystyle|,|!|;|:)"
)
_OPEN, _CLOSE = ("{", "(", "[", r"\{", r"\langle", r"\left"), ("}", ")", "]", r"\}", r"\rangle", r"\right")
_BLANK = re.compile(r"^(?:\s|\\q?quad(?![A-Za-z])|\\[ ,;])+|(?:\\[ ,;]|\s|\\q?quad(?![A-Za-z]))+$")
_LONG_TEXT = re.compile(r"\\text\{([^{}$\\]{24,})\}")
_SPACES = (r"\quad", r"\qquad")


def formula_lines(tex: str, width: int = WIDTH) -> list[str]:
    r"""A statement in lines of about this many signs; one that is short, or can not be broken, stays whole.

    >>> formula_lines(r"a = b, \quad c = d", width=4)
    ['a = b,', 'c = d']
    >>> formula_lines(r"f(a, b) = \frac{x, \quad y}{z}", width=4)
    ['f(a, b) = \\frac{x, \\quad y}{z}']
    >>> formula_lines(r"x \text{ is smaller than } y", width=8)
    ['x', '\\text{ is smaller than } y']
    """
    if r"\begin" in tex or r"\\" in tex or _signs(tex) <= width:
        return [tex]
    lines, line = [""], 0
    for piece, space in _pieces(tex):
        size = _signs(piece)
        if lines[-1] and line + size > width:
            lines.append("")
            line = 0
        lines[-1] += piece + space
        line += size + 2 * bool(space)
    return [stripped for stripped in (_BLANK.sub("", line) for line in lines) if stripped]


def _pieces(tex: str) -> list[tuple[str, str]]:
    """What stands between places where a line may end, each with the space behind it."""
    found, here, depth = [], "", 0
    for token in _TOKEN.findall(_LONG_TEXT.sub(_broken, tex)):
        if depth == 0 and token == r"\text" and here.strip():
            found.append((here, ""))
            here = ""
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0 and token in _SPACES:
            found.append((here, token))
            here = ""
            continue
        here += token
        if depth == 0 and token in (",", ";", ":") and _signs(here) > 6:
            found.append((here, " "))
            here = ""
    return [*found, (here, "")]


def _broken(text: re.Match[str]) -> str:
    """Words that fill more than half a line, in pieces of less."""
    pieces = [""]
    for word in re.findall(r"\s*\S+\s*$|\s*\S+", text.group(1)):
        if len(pieces[-1]) + len(word) > WIDTH // 2 and pieces[-1]:
            pieces[-1] += " "
            word = word.lstrip()
            pieces.append("")
        pieces[-1] += word
    return "".join(rf"\text{{{piece}}}" for piece in pieces)


def _signs(tex: str) -> int:
    """About how many signs wide a formula is."""
    return sum(not _NO_WIDTH.fullmatch(token) for token in _TOKEN.findall(tex))
