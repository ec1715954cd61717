"""The legend of a system: entries of letters that are there, in text and in TeX."""

from __future__ import annotations

from odesys import System, with_legend
from odesys.tex.latex import system_text


def test_only_letters_of_the_system_are_explained() -> None:
    table = {"x_.*": ("x_i", "a place"), "y.*": ("y", "not here"), "k": ("k", "a rate", r"\kappa", r"\text{a rate}")}
    told = with_legend(System.from_strings({"x_1": "-k*x_1"}), table | {"": ("t", "days", "t", r"\text{days}")})
    assert list(told.meanings) == ["x_i", "k", "t"]
    assert system_text(told).startswith("# x_i = a place\n# k = a rate\n# t = days\n")
    latex = told.latex()
    assert r"\kappa &= \text{a rate}" in latex and r"t &= \text{days}" in latex and "place" not in latex
