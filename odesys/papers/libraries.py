"""The libraries a result may depend on: those the engine requires and a paper imports, with all these require.

What else is installed, such as tools for tests or tables, changes no result and is no part of a key.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

ENGINE = "odesys"  # its own requirements count always
_IMPORT = re.compile(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def libraries(files: Iterable[Path]) -> list[str]:
    """Names and versions of the libraries behind Python files, sorted: required by the engine, or imported by a file.

    A text that only looks like an import adds a library at most, and costs time at most.
    """
    names = {name for file in files if file.suffix == ".py" for name in _IMPORT.findall(file.read_text("utf-8"))}
    open_ones, found = {ENGINE} | (names - set(sys.stdlib_module_names)), dict[str, str]()
    while open_ones:
        name = open_ones.pop()
        for package in _distributions(name):
            plain = re.sub(r"[-_.]+", "-", package).lower()
            if plain not in found:
                found[plain] = metadata.version(package)
                open_ones |= _required(package)
    return sorted(f"{name} {version}" for name, version in found.items() if name != ENGINE)


def _required(package: str) -> set[str]:
    """What a distribution asks for, extras left out."""
    lines = metadata.requires(package) or ()
    return {match.group() for line in lines if "extra ==" not in line and (match := _NAME.match(line))}


def _distributions(name: str) -> list[str]:
    """The distributions of a name: one of that name, or those that bring a module of that name; none: not installed."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return _modules().get(name, [])
    return [name]


@cache
def _modules() -> dict[str, list[str]]:
    return {name: sorted(set(found)) for name, found in metadata.packages_distributions().items()}
