"""What the letters of a written system stand for, from a table that is made once for all systems of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..expr.system import System


def with_legend(system: System, letters: Mapping[str, Sequence[str]]) -> System:
    r"""The system with a legend: the entries of a table whose letters it has, in the order of the table.

    Parameters
    ----------
    system : System
        A flow or a map, in the names that are printed.
    letters : Mapping[str, Sequence[str]]
        By a regular expression for whole names of states or parameters (the empty one stands for any): how the letter
        is written with its indices, and what it is; then the same in TeX, where the documents say it too.

    Returns
    -------
    System
        The same system; its text begins with the legend.

    Examples
    --------
    >>> table = {"G_.*": ("G_i", "a' W mu_i"), "k": ("k", "a rate", "k", r"\text{a rate}")}
    >>> with_legend(System.from_strings({"G_1": "-k*G_1"}), table).meanings
    {'G_i': ("a' W mu_i", ''), 'k': ('a rate', '\\text{a rate}')}
    """
    names = (*system.names, *system.parameters)
    meanings: dict[str, tuple[str, str]] = dict(system.meanings)
    tex = dict(system.tex)
    for pattern, (shown, meaning, *in_tex) in letters.items():
        if pattern and not any(re.fullmatch(pattern, name) for name in names):
            continue
        letter, told = in_tex if in_tex else (shown, "")
        meanings[shown] = (meaning, told)
        if letter != shown:
            tex.setdefault(shown, letter)
    return replace(system, meanings=meanings, tex=tex)
