"""Lemma E.3 carried to trajectories: the comparison theorem, the linear system solved exactly, and measured times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from odesys import (
    HOLDS,
    LinearSystem,
    Verdict,
    always_positive,
    check_metzler,
    combine_verdicts,
    equal,
    from_sympy,
    identity,
    measured,
    proved,
    refuted,
    undecided,
)

from ..laboratory import Laboratory
from ..special.trajectories import GRID, stage_two
from .book import book
from .part_e_growth import BLOCK, GROWTH
from .part_e_trajectories import SWEEP

SHARE = 0.999  # b in units of kappa, as in E.2
OMEGAS = (0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)
b, omega, t, x_star = (sp.Symbol(name, positive=True) for name in ("b", "omega", "t", "x"))


def comparison_system(matrix: sp.Matrix = GROWTH) -> LinearSystem:
    """The linear system of Lemma E.3 from (0, omega^2, omega^2), at rate b."""
    return LinearSystem(b * matrix, sp.Matrix([0, omega**2, omega**2]), BLOCK)


def transfers(matrix: sp.Matrix = GROWTH) -> Verdict:
    """The matrix is Metzler, which is what carries x' >= b A x to x(t) >= exp(b A t) x(0)."""
    found = check_metzler(b * matrix)
    if found.answer == "yes":
        return proved(metzler="all entries off the diagonal are >= 0")
    if found.answer == "no":
        return refuted({"entry": str(found.entry), "value": str(found.value)})
    return undecided(f"the sign of entry {found.entry} is not known")


def closed_form(linear: LinearSystem) -> dict[str, Verdict]:
    """The solution solves its equation, its first entry is the hyperbolic sine of the bound, and it grows."""
    solution = linear.solution(t)
    gaps = sp.Matrix(solution.diff(t) - linear.matrix * solution)
    begin = sp.Matrix(solution.subs(t, 0) - linear.start)
    first = sp.sqrt(2) * omega**2 * sp.sinh(sp.sqrt(2) * b * t)
    time = linear.hitting_time(0, x_star)
    printed = sp.asinh(x_star / (sp.sqrt(2) * omega**2)) / (sp.sqrt(2) * b)
    names = ("b", "omega", "t", "x")
    return {
        "solves": identity(
            {f"equation {i}": from_sympy(gaps[i]) for i in range(3)}
            | {f"start {i}": from_sympy(begin[i]) for i in range(3)},
            names,
        ),
        "first entry": equal({"x_1": (from_sympy(solution[0]), from_sympy(first))}, names),
        "grows": always_positive({"x_1'": from_sympy(solution[0].diff(t))}, names),
        "time": equal({"T_2 - T_1": (from_sympy(time.value), from_sympy(printed))}, names)
        if time.evidence == "proof"
        else undecided(f"the hitting time is not exact: {time.method}"),
    }


def bound_of(first: sp.Expr, rate: float, start: float, times: np.ndarray) -> np.ndarray:
    """The comparison process in floats."""
    return np.asarray(sp.lambdify((b, omega, t), first, "numpy")(rate, start, times), dtype=float)


def above_the_bound(lab: Laboratory, share: float = SHARE) -> Verdict:
    """All three states stay above the comparison process at b = share * kappa while M_cv_same <= 1."""
    solution, least = comparison_system().solution(t), {}
    for start, T1 in GRID:
        run = stage_two(lab, start, T1, 1.0)
        kappa = float(run.start[run.run.names.index("n_c")]) / 18
        times = run.times() - run.run.times[0]
        ratios = [run.column(name) / bound_of(solution[i], share * kappa, start, times) for i, name in enumerate(BLOCK)]
        least[f"omega={start:g}, T1={T1:g}"] = float(np.min(ratios))
    return measured(
        min(least.values()) >= 1, {"actual over bound": min(least.values())}, actual_over_bound=least, sweep=SWEEP
    )


def durations(lab: Laboratory) -> Verdict:
    """The guaranteed duration is above the actual one, and both grow like log(1/omega) with slopes 2 sqrt 2 apart."""
    runs = [stage_two(lab, start, 20.0, 1.0) for start in OMEGAS]
    kappa = float(runs[0].start[runs[0].run.names.index("n_c")]) / 18
    time = sp.lambdify((b, omega, x_star), comparison_system().hitting_time(0, x_star).value, "numpy")
    bounds = [float(time(SHARE * kappa, start, 1.0)) for start in OMEGAS]
    ratios = [float(bound / run.duration) for bound, run in zip(bounds, runs, strict=True)]
    slope = float(bounds[-1] - bounds[-2]) / (runs[-1].duration - runs[-2].duration)
    expected = 2 * np.sqrt(2) / SHARE
    fine = min(ratios) >= 1 and all(np.diff(ratios) > 0) and ratios[-1] < expected and abs(slope / expected - 1) < 2e-3
    seen = {f"omega={start:g}": ratio for start, ratio in zip(OMEGAS, ratios, strict=True)}
    return measured(
        fine, {"ratios": seen, "slopes": slope}, bound_over_actual=seen, ratio_of_slopes=float(slope)
    ).with_constants(limit_of_bound_over_actual=float(expected), bound_over_actual_at_smallest_omega=ratios[-1])


@book.claim(
    "E.3/trajectory",
    "The comparison process bounds trajectories",
    kind="inequality",
    uses=["E.2", "E.3"],
    statement=r"M_{c_1v_1}(T_1+t)\ge\sqrt2\,\omega^2\sinh(\sqrt2\,bt)\ \text{while}\ \dot x\ge bA_3x,\quad "
    r"T_2-T_1\le\tfrac1{\sqrt2\,b}\operatorname{arcsinh}\tfrac{x^*}{\sqrt2\,\omega^2}",
    reading="proved from the inequality of E.2 at any rate b > 0: the matrix is Metzler, so the comparison theorem applies; the linear system "
    "is solved exactly for symbolic b, omega, x*; its first entry grows, so the bound of the time follows. That E.2 holds along "
    "trajectories is measured there; measured here with b = 0.999 kappa, kappa = n_c/18: all three states stay above the "
    "process while M_cv_same <= 1 on the grid (omega, T1) of the details; for T1 = 20, omega = 0.1 .. 0.0001 the bound of T2 - T1 over the "
    "actual time grows with 1/omega and stays below 2 sqrt 2 / 0.999, and between the two smallest omega the slopes in "
    "log(1/omega) have this ratio to 0.2 percent",
)
def bounds_trajectories(lab: Laboratory) -> Verdict:
    """Exact parts, then trajectories."""
    linear = comparison_system()
    exact = {"Metzler": transfers(), **closed_form(linear)}
    verdict = combine_verdicts({**exact, "trajectories": above_the_bound(lab), "times": durations(lab)})
    if verdict.as_stated != HOLDS:
        return verdict
    limit = verdict.constants["limit_of_bound_over_actual"]
    return replace(
        verdict, sharpened=f"the bound of T2 - T1 is too long by a factor that tends to {limit:.4f} = 2 sqrt 2 / 0.999"
    )
