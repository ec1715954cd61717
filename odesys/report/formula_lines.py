r"""Long printed statements in lines: broken where the paper itself separates, at spaces, commas and colons, and where
that is not enough in front of relations.

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
_RELATION = re.compile(
    r"[=<>]|\\(?:leq?|geq?|ll|gg|lesssim|gtrsim|approx|sim|simeq|propto|equiv|neq?|to|rightarrow|Rightarrow|implies|iff"
    r"|Leftrightarrow|mapsto|coloneqq|subset|subseteq|prec|succ|preceq|succeq|asymp)"
)


def formula_lines(tex: str, width: int = WIDTH) -> list[str]:
    r"""A statement in lines of about this many signs; one that is short, or can not be broken, stays whole.

    >>> formula_lines(r"a = b, \quad c = d", width=4)
    ['a = b,', 'c = d']
    >>> formula_lines(r"f(a, b) = \frac{x, \quad y}{z}", width=4)
    ['f(a, b)', '= \\frac{x, \\quad y}{z}']
    >>> formula_lines(r"f(a) \le g(b) + h(c) = e(f)", width=9)
    ['f(a)', '\\le g(b) + h(c)', '= e(f)']
    >>> formula_lines(r"x \text{ is smaller than } y", width=8)
    ['x', '\\text{ is smaller than } y']
    """
    if r"\begin" in tex or r"\\" in tex or signs(tex) <= width:
        return [tex]
    lines, line = [""], 0
    for piece, space in (part for whole in _pieces(tex) for part in _at_relations(*whole, width)):
        size = signs(piece)
        if lines[-1] and line + size > width:
            lines.append("")
            line = 0
        lines[-1] += piece + space
        line += size + 2 * bool(space)
    return [stripped for stripped in (_BLANK.sub("", line) for line in lines) if stripped]


def _pieces(tex: str) -> list[tuple[str, str]]:
    """What stands between places where a line may end, each with the space behind it."""
    found, here, depth = [], "", 0
    tokens = _TOKEN.findall(_LONG_TEXT.sub(_broken, tex))
    for k, token in enumerate(tokens):
        if depth == 0 and token == r"\text" and here.strip() and tokens[k + 2 : k + 3] != [","]:
            found.append((here, ""))
            here = ""
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0 and token in _SPACES:
            found.append((here, token))
            here = ""
            continue
        here += token
        if depth == 0 and token in (",", ";", ":") and signs(here) > 6:
            found.append((here, " "))
            here = ""
    return [*found, (here, "")]


def _at_relations(piece: str, space: str, width: int) -> list[tuple[str, str]]:
    """A piece that is wider than a line, in parts that begin with a relation."""
    if signs(piece) <= width:
        return [(piece, space)]
    parts, depth, taken = [""], 0, False
    for token in _TOKEN.findall(piece):
        relation = depth == 0 and not taken and _RELATION.fullmatch(token) is not None
        if relation and parts[-1].strip() and not _RELATION.fullmatch(_TOKEN.findall(parts[-1].rstrip())[-1]):
            parts.append("")
        depth += (token in _OPEN) - (token in _CLOSE)
        taken = token in ("_", "^", r"\not") or (taken and token.isspace())
        parts[-1] += token
    return [*((part, "") for part in parts[:-1]), (parts[-1], space)]


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


def signs(tex: str) -> int:
    """About how many signs wide a formula is."""
    return sum(not _NO_WIDTH.fullmatch(token) for token in _TOKEN.findall(tex))
