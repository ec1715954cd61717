"""Witnesses, constants and details as text: nested plain data, numbers with six digits."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from html import escape
from typing import Any

LONGEST_LIST = 40


def text(value: Any) -> str:
    """One line, as in ``a 0.25; b 1, 2``."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    match value:
        case None:
            return "none"
        case bool() | str():
            return str(value)
        case Mapping():
            return "; ".join(f"{key}: {text(item)}" for key, item in value.items())
        case list() | tuple():
            shown = ", ".join(text(item) for item in value[:LONGEST_LIST])
            return f"{shown}, ... ({len(value)} in all)" if len(value) > LONGEST_LIST else shown
        case numbers.Rational():
            return str(value)
        case numbers.Real():
            return f"{float(value):.6g}"
    return str(value)


def html(value: Any) -> str:
    """A mapping as a list of terms, everything else as one line."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        rows = "".join(f"<dt>{escape(str(key))}</dt><dd>{html(item)}</dd>" for key, item in value.items())
        return f"<dl>{rows}</dl>" if rows else "none"
    return escape(text(value))
