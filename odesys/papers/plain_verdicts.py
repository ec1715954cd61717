"""Verdicts as JSON and back, exactly: for what was checked once and is read the next time.

A value keeps its kind: fractions, tuples, and the records of `odesys.verdicts` carry a tag. What is neither plain data
nor one of these is refused, so that nothing is read that differs from what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from ..verdicts import Corrected, Evidence, Proof, Regime, Seeds, Shortfall, Tolerance, Verdict, Witness

_KINDS = (Verdict, Corrected, Proof, Regime, Seeds, Shortfall, Tolerance, Witness)
_RECORDS = {kind.__name__: kind for kind in _KINDS}
_TAG = "~"


def to_plain(value: Any) -> Any:
    """JSON for a verdict, or for a value in one.

    >>> to_plain((Fraction(1, 3), {"a": 2}))
    {'~': 'tuple', 'of': [{'~': 'fraction', 'of': '1/3'}, {'~': 'map', 'of': [['a', 2]]}]}
    """
    match value:
        case Evidence():
            return {_TAG: "evidence", "of": int(value)}
        case float() if not isfinite(value):
            return {_TAG: "float", "of": str(value)}
        case None | bool() | str() | int() | float():
            return value
        case Fraction():
            return {_TAG: "fraction", "of": str(value)}
        case np.generic() | np.ndarray():
            return to_plain(value.tolist())
        case tuple():
            return {_TAG: "tuple", "of": [to_plain(item) for item in value]}
        case list():
            return [to_plain(item) for item in value]
        case Mapping():
            return {_TAG: "map", "of": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    name = type(value).__name__
    if _RECORDS.get(name) is not type(value):
        raise ValueError(f"a {name} can not be kept")
    kept = (each.name for each in fields(value) if each.name != "stated")  # that is for an export of proofs only
    return {_TAG: name, "of": {each: to_plain(getattr(value, each)) for each in kept}}


def from_plain(data: Any) -> Any:
    """The value that JSON stands for.

    >>> from odesys import measured
    >>> verdict = measured(True, loss=Fraction(1, 8))
    >>> from_plain(to_plain(verdict)) == verdict
    True
    """
    if isinstance(data, list):
        return [from_plain(item) for item in data]
    if not isinstance(data, dict):
        return data
    tag, inner = data[_TAG], data["of"]
    match tag:
        case "evidence":
            return Evidence(inner)
        case "fraction":
            return Fraction(inner)
        case "float":
            return float(inner)
        case "tuple":
            return tuple(from_plain(item) for item in inner)
        case "map":
            return {from_plain(key): from_plain(item) for key, item in inner}
    return _RECORDS[tag](**{name: from_plain(item) for name, item in inner.items()})
