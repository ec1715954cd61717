"""Sentences as HTML: important words in bold, names of the table of symbols as the paper writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from .mathml import mathml

CLEAR = 5  # letters of a name that is no word of a sentence


def strong(text: str) -> str:
    """Text as HTML, with what stands between pairs of asterisks in bold.

    >>> strong("it **holds** for x < 1")
    'it <b>holds</b> for x &lt; 1'
    """
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))


def with_symbols(text: str, symbols: Mapping[str, Any]) -> str:
    """A sentence as HTML, in which a symbol of the table that has a value is written as a formula.

    A short name is taken for a symbol in front of a relation or a colon only, since many are words or parts of them.
    """
    parts = text.split("$")
    if len(parts) > 1 and len(parts) % 2:  # formulas between dollar signs
        return "".join(mathml(part) if k % 2 else with_symbols(part, symbols) for k, part in enumerate(parts))
    if not symbols:
        return escape(text, quote=False)
    names = sorted(symbols, key=len, reverse=True)
    clear = [name for name in names if len(name) >= CLEAR]
    short = rf"({'|'.join(map(re.escape, names))})(?=\s(?:=|<|>|<=|>=|in)\s|:\s)"
    long = rf"|({'|'.join(map(re.escape, clear))})(?![\w(/-])" if clear else ""
    out, end = "", 0
    for found in re.finditer(rf"(?<![\w.^/-])(?:{short}{long})", text):
        out += escape(text[end : found.start()], quote=False) + mathml(symbols[found.group()].tex)
        end = found.end()
    return out + escape(text[end:], quote=False)
