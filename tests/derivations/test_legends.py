"""Printed systems say what their letters are: every state of every system of every paper has an entry."""

from __future__ import annotations

import re
from typing import Any

import pytest

from odesys.expr.system import System
from odesys.papers.registry import find_paper
from odesys.tex.latex import system_text

SMALL: dict[str, dict[str, dict[str, Any]]] = {
    "two_mixture": {name: {} for name in ("quotient", "slaved", "stage1", "stage2", "full", "descent")},
    "signgd": {"full": {}},
    "cooccurrence": {name: {"n": 6, "L": 4} for name in ("quotient", "mean_field", "kernel", "planar", "descent")},
    "shallow_vit": {name: {"M": 4} for name in ("quotient", "merged", "logistic", "full", "coordinates")},
    "benign_overfitting": {name: {"N": 2, "M": 2} for name in ("mean_field", "frozen", "unbalanced", "paper", "full")},
}


@pytest.mark.parametrize(("paper", "name"), [(paper, name) for paper, names in SMALL.items() for name in names])
def test_every_state_has_an_entry(paper: str, name: str) -> None:
    system = made(paper, name)
    letters = {stem(letter) for entry in system.meanings for letter in entry.split(", ")}
    assert {stem(state) for state in system.names} <= letters
    text = system_text(system)
    assert all(f"# {entry} = " in text for entry in system.meanings)


def stem(name: str) -> str:
    return re.split(r"[_\d]", name)[0]


def test_pi_of_the_vision_transformer_is_a_share() -> None:
    system = made("shallow_vit", "quotient")
    assert "# pi = the living neurons of each sign as a share of all m" in system_text(system)
    assert r"\pi &= \text{the living neurons" in system.latex()


def made(paper: str, name: str) -> System:
    found = find_paper(paper)
    parameters = {one.name: one.default for one in found.parameters} | SMALL[paper][name]
    system = found.systems[name](parameters)
    assert isinstance(system, System)
    return system
