"""Coq for tests: what it says of some statements; skipped with a reason where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from odesys.proofs.checking import Checked, check_folder, coq_version, write_folder
from odesys.proofs.theory import theory
from odesys.stated import EQUAL, LESS, Stated

needs_coq = pytest.mark.skipif(not coq_version(), reason="Coq is not installed; make coq tries to")


def same(left, right, positive=(), **more) -> Stated:
    """A statement that two expressions are equal."""
    return Stated("same", EQUAL, left, right, tuple(positive), **more)


def above(node, positive=(), nonnegative=()) -> Stated:
    """A statement that an expression is positive."""
    from odesys import ZERO

    return Stated("above", LESS, ZERO, node, tuple(positive), tuple(nonnegative))


def said_of(text: str, folder: Path) -> Checked:
    """What Coq says of a file."""
    write_folder(folder, {"one.v": text})
    return check_folder(folder, ["one.v"], 1, lambda *_: None)["one.v"]


def said(statements: list[Stated], folder: Path) -> Checked:
    """What Coq says of the file of some statements."""
    return said_of(theory(["a test"], statements).text, folder)
