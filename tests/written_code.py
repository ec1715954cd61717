"""What an expression that the program has written as Python gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_of(text: str, names: Mapping[str, Any]) -> Any:
    """The value of one expression of Python, written by the code under test and by nobody else."""
    scope = dict(names)
    exec(compile(f"_value = {text}", "an expression", "exec"), scope)
    return scope["_value"]
