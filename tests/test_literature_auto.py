"""AUTO as an oracle, every night: eigenvalues at all equilibria, and where stability is lost as a parameter moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from odesys import analyse, stability_conditions
from odesys.reading.reading import read_system
from tests.auto_runs import MISSING, auto_branch
from tests.literature_checks import FILES, field_of, jacobian

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(MISSING, reason="AUTO is not installed (Debian: apt-get install auto-07p gfortran)"),
]
#: an equilibrium that a parameter changes: file, parameter, from, to, signs of the states that tell it from others
PATHS = [
    ("lorenz", "r", 14, 30, (1, 1, 1)),
    ("lorenz", "r", 0.5, 2, (0, 0, 0)),
    ("brusselator", "B", 1, 4, (1, 1)),
    ("van_der_pol", "mu", -1, 1.3, (0, 0)),
    ("selkov", "b", 0.2, 1.2, (1, 1)),
    ("schnakenberg", "b", 0.2, 1.5, (1, 1)),
    ("chemostat", "D", 0.4, 0.72, (1, 1)),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_eigenvalues_are_those_of_auto(path: Path, tmp_path: Path) -> None:
    if path.suffix in (".ant", ".sbml"):
        pytest.importorskip("libsbml", reason="the extra import is not installed")
        pytest.importorskip("antimony", reason="the extra import is not installed")
    reading = read_system(path)
    found = analyse(reading.system, reading.values)
    if reading.system.surfaces or not found.rests:
        pytest.skip("the field switches, or there is no isolated equilibrium")
    values, field = {name: float(v) for name, v in reading.values.items()}, field_of(found)
    for point, kind in zip(found.rests, found.types, strict=True):
        start = {name: float(sp.N(point.point[name])) for name in reading.system.names}
        ours = [complex(sp.N(v)) for v, times in kind.eigenvalues for _ in range(times)]
        place = np.array(list(start.values()))
        if not ours or not np.allclose(jacobian(field, place), jacobian(field, place, 1e-7), rtol=1e-5, atol=1e-6):
            continue  # AUTO takes one-sided differences, which say nothing next to a pole
        branch = auto_branch(reading.system, values, start, "nothing", 1.0, tmp_path, points=2)
        scale = max(1e-9, *map(abs, ours))
        theirs = np.poly(np.array(branch.eigenvalues) / scale)
        assert theirs == pytest.approx(np.poly(np.array(ours) / scale), abs=1e-4), start


@pytest.mark.parametrize(("name", "parameter", "begin", "end", "signs"), PATHS, ids=lambda value: str(value))
def test_stability_ends_where_auto_says(
    name: str, parameter: str, begin: float, end: float, signs: tuple[int, ...], tmp_path: Path
) -> None:
    reading = read_system(next(path for path in FILES if path.stem == name))
    others = {n: v for n, v in reading.values.items() if n != parameter}
    symbol = sp.Symbol(parameter, real=True)
    at = {symbol: sp.nsimplify(begin)}
    real = [e for e in reading.system.equilibria(others) if all(c.subs(at) for c in e.condition)]
    (point,) = (e for e in real if tuple(sp.sign(sp.sympify(v).subs(at)) for v in e.point.values()) == signs)
    start = {n: float(sp.sympify(v).subs(symbol, begin)) for n, v in point.point.items()}
    conditions = stability_conditions(reading.system, point, others)
    tops = [sp.numer(sp.together(c)) for c in conditions if c.has(symbol)]
    roots = {float(r) for top in tops for r in sp.real_roots(sp.Poly(top, symbol))}
    lost = sorted(r for r in roots if min(begin, end) < r < max(begin, end))
    values = {n: float(v) for n, v in others.items()} | {parameter: float(begin)}
    branch = auto_branch(reading.system, values, start, parameter, end, tmp_path)
    marked = sorted(row.parameter for row in branch.rows if row.kind in ("Hopf", "branch point"))
    assert marked and marked == pytest.approx(lost, rel=1e-5, abs=1e-6)
