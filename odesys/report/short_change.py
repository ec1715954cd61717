r"""What a correction changes, cut out of two formulas: the shortest pieces that differ and can be read alone.

Of ``x \le \tfrac18 y`` and ``x \le \tfrac14 y`` that is ``\tfrac18`` and ``\tfrac14``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from .mathml import mathml

LONGEST, WIDEST = 64, 16  # characters of a piece; tokens that are taken in around a difference
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.", re.DOTALL)
_TAKES_MORE = re.compile(
    r"_|\^|\\(?:t?frac|dfrac|sqrt|tilde|hat|bar|dot|widetilde|widehat|overline|math[a-z]+|text|operatorname|rm|left|right"
    r"|[bB]igg?[lrm]?|binom|begin|end|not|underline|boldsymbol)"
)
_SIGN = re.compile(r"[-+=<>]|\\(?:leq?|geq?|ll|gg|lesssim|gtrsim|approx|sim|to|cdot|times|in)")
_OPENING, _CLOSING = "([", ")]"


def short_change(printed: str, instead: str) -> tuple[str, str] | None:
    r"""The pieces of two formulas that differ, or None where they differ in too many places to be said shortly.

    >>> short_change(r"\dot x \le \tfrac18", r"\dot x \le \tfrac14")
    ('\\tfrac18', '\\tfrac14')
    >>> short_change("w = v_k", "w = c_k")
    ('v_k', 'c_k')
    """
    old, new = _TOKEN.findall(printed.strip()), _TOKEN.findall(instead.strip())
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if start == len(old) == len(new):
        return None
    spans = sorted(product(range(WIDEST), range(WIDEST)), key=sum)
    for left, right in spans:
        first, last = start - left, end - right
        if first < 0 or last < 0:
            continue
        pieces = ["".join(side[first : len(side) - last]).strip() for side in (old, new)]
        before, after = old[:first], old[len(old) - last :]
        if all(_readable(piece, before, after) for piece in pieces):
            return pieces[0], pieces[1]
    return None


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many tokens two lists begin with in common."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def _readable(piece: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """True if a piece is a formula of its own, and nothing around it belongs to it."""
    if not piece or len(piece) > LONGEST or piece[0] in "_^'" or piece.count(r"\left") != piece.count(r"\right"):
        return False
    tokens = [token for token in _TOKEN.findall(piece) if not token.isspace()]
    if _SIGN.fullmatch(tokens[-1]) or all(_SIGN.fullmatch(token) for token in tokens):
        return False
    leading = [token for token in before if not token.isspace()][-2:]
    if any(_TAKES_MORE.fullmatch(token) for token in leading[-1:]):
        return False
    if len(leading) == 2 and re.fullmatch(r"\\[tdb]?(?:frac|inom)", leading[0]):
        return False  # the second argument of a fraction
    if before.count("{") != before.count("}") or (before and before[-1] == "}" and piece.startswith("{")):
        return False  # inside an argument, or one of several
    following = next((token for token in after if not token.isspace()), "")
    if (following and following in "_^'") or _TAKES_MORE.fullmatch(_TOKEN.findall(piece)[-1]):
        return False
    depth = 0
    for token in _TOKEN.findall(piece):
        depth += (token == "{") - (token == "}")
        if depth < 0:
            return False
    brackets = all(piece.count(a) == piece.count(b) for a, b in zip(_OPENING, _CLOSING, strict=True))
    return depth == 0 and brackets and "tex-only" not in mathml(piece)
