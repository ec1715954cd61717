"""Checks of an analysis that share no algorithm with it: residuals, differences, runs of SciPy, many starts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.integrate
import scipy.optimize
import sympy as sp

from odesys import Analysis
from odesys.analysis.rest_sets import Continuum

FOLDER = Path(__file__).parent / "literature"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".json", ".ode", ".ant", ".sbml", ".cellml"))
Field = Callable[[np.ndarray], np.ndarray]


def field_of(found: Analysis) -> Field:
    compiled = found.system.compile({name: float(value) for name, value in found.values.items()})
    return lambda x: np.array(compiled(0.0, np.asarray(x, dtype=float)), dtype=float)


def jacobian(field: Field, x: np.ndarray, reach: float = 1e-6) -> np.ndarray:
    """Central differences."""
    steps = reach * np.maximum(np.abs(x), 1e-3)
    rows = [(field(x + h * e) - field(x - h * e)) / (2 * h) for h, e in zip(steps, np.eye(x.size), strict=True)]
    return np.array(rows).T


def wrong_equilibria(found: Analysis) -> list[str]:
    """Points that do not rest, or whose eigenvalues by differences deny their stability."""
    field, wrong = field_of(found), []
    for point, kind in zip(found.rests or (), found.types, strict=True):
        x = np.array([float(sp.N(point.point[name])) for name in found.system.names])
        if point.slides or not np.allclose(jacobian(field, x), jacobian(field, x, 1e-7), rtol=1e-2, atol=1e-5):
            continue  # next to a pole differences say nothing
        size = np.abs(jacobian(field, x)) @ np.maximum(np.abs(x), 1e-6)
        if not np.all(np.abs(field(x)) <= 1e-8 * size + 1e-10):
            wrong.append(f"{x} does not rest: {field(x)}")
        rates = np.linalg.eigvals(jacobian(field, x)).real
        edge = 1e-5 * np.abs(rates).max(initial=1e-9)
        if kind.stability == "asymptotically stable" and rates.max() > edge:
            wrong.append(f"{x} is called stable and has the rate {rates.max()}")
        if kind.stability == "unstable" and kind.linear_type in ("node", "focus", "saddle") and rates.max() < -edge:
            wrong.append(f"{x} is called unstable and has the rates {rates}")
    return wrong


def wrong_families(found: Analysis, seed: int = 0) -> list[str]:
    """Points of continua, at random values of what is free, that do not rest."""
    rng, field, wrong = random.Random(seed), field_of(found), []
    for family in found.rests.families if found.rests else ():
        if family.equations:
            continue
        for _ in range(5):
            at = {sp.Symbol(name, real=True): sp.Rational(rng.randint(-20, 20), 13) for name in family.free}
            if not all(bool(c.subs(at)) for c in family.condition):
                continue
            x = np.array([float(sp.sympify(family.point[name]).subs(at)) for name in found.system.names])
            if not found.system.surfaces and np.abs(field(x)).max() > 1e-8 * max(1.0, np.abs(x).max() ** 3):
                wrong.append(f"{x} of {family} does not rest: {field(x)}")
    return wrong


def missing_equilibria(found: Analysis, starts: int = 60, seed: int = 1) -> list[np.ndarray]:
    """Zeros that Newton's method finds and a complete answer does not have."""
    if found.rests is None or not found.rests.complete or found.system.surfaces:
        return []
    rng, field = np.random.default_rng(seed), field_of(found)
    known = [np.array([float(sp.N(p.point[n])) for n in found.system.names]) for p in found.rests]
    scale = max([1.0, *(float(np.abs(k).max()) for k in known)])
    missing = []
    for _ in range(starts):
        with np.errstate(all="ignore"):
            guess = rng.normal(size=found.system.dimension) * scale
            try:
                answer = scipy.optimize.root(field, guess, tol=1e-13)
            except (ValueError, FloatingPointError):
                continue
        x = answer.x
        inside = all(float(low) <= v <= float(high) for v, (low, high) in zip(x, found.rests.box.values(), strict=True))
        matrix = jacobian(field, x)
        if not answer.success or not inside or not np.isfinite(matrix).all() or np.linalg.cond(matrix) > 1e8:
            continue  # where the Jacobian degenerates, being near a zero is no zero
        near = any(np.abs(x - k).max() < 1e-5 * max(1.0, np.abs(k).max()) for k in known)
        if not near and not any(_on(x, family, found) for family in found.rests.families):
            missing.append(x)
    return missing


def _on(x: np.ndarray, family: Continuum, found: Analysis) -> bool:
    at = {sp.Symbol(n, real=True): v for n, v in zip(found.system.names, x.tolist(), strict=True)}
    gaps = [sp.sympify(family.point[n]).subs(at) - v for n, v in zip(found.system.names, x.tolist(), strict=True)]
    gaps += [sp.sympify(e).subs(at) for e in family.equations]
    return all(abs(float(gap)) < 1e-5 * max(1.0, np.abs(x).max()) for gap in gaps)


def drifts(found: Analysis) -> list[str]:
    """Conserved quantities that change along a run of SciPy."""
    field, names = field_of(found), found.system.names
    start = np.array([float(found.start.get(name, 0.7)) for name in names]) + 0.05
    run = scipy.integrate.solve_ivp(
        lambda t, x: field(x), (0, 1), start, method="LSODA", rtol=1e-10, atol=1e-12, t_eval=[0, 0.5, 1]
    )
    wrong = []
    for line in (line for line in found.findings if line.text.endswith(" is conserved")):
        symbols = {name: sp.Symbol(name, real=True) for name in (*names, *found.system.parameters)}
        quantity = sp.sympify(line.text.removesuffix(" is conserved"), locals=symbols)
        quantity = quantity.subs({symbols[n]: float(v) for n, v in found.values.items()})
        values = [complex(quantity.subs(dict(zip(map(symbols.get, names), column, strict=True)))) for column in run.y.T]
        if max(abs(v - values[0]) for v in values) > 1e-6 * max(1.0, abs(values[0])):
            wrong.append(f"{line.text}: {values}")
    return wrong
