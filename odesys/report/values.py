"""Witnesses, constants and details as text: nested plain data, numbers with six digits."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

LONGEST_LIST = 40


def text(value: Any) -> str:
    """One line, as in ``a: 0.25; b: 1, 2``."""
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
