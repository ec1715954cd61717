r"""Sums and gaps over the two groups: their equations in stage 2, and runs in which small sums are not lost.

The asymmetry :math:`\Delta` of Lemma E.4 is made of sums same + other of order :math:`\omega^2`, while same and other
themselves become of order one. As a difference of floats a sum is lost below :math:`\omega = 10^{-5}`; as a state of its
own, with the bilinear form of its rate, it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from odesys import (
    ONE,
    ZERO,
    IntegrationError,
    Node,
    StopWhen,
    System,
    Trajectory,
    Verdict,
    computed_once,
    equal,
    graph,
    integrate,
    sym,
)

from ..laboratory import Laboratory
from ..special.trajectories import LONGEST, RTOL
from .book import all_units_on

PAIRS = ("cc", "cv", "vc", "vv")
KINDS = (*(f"M_{p}" for p in PAIRS), *(f"{m}_{p}" for m in "AB" for p in ("cc", "cv", "vv")))


# ---- the sums and their forces, from the derived equations ---------------------------------------------------------


def sum_rates(lab: Laboratory) -> dict[str, Node]:
    """Derivative of each sum same + other in stage 2, all conflicting units on."""
    system = lab.reduced("stage2").system
    rhs = all_units_on(system.equations)
    return {kind: rhs[f"{kind}_same"] + rhs[f"{kind}_other"] for kind in KINDS}


def sum_forces(rates: Mapping[str, Node]) -> dict[str, Node]:
    """The force on each pair of kinds, summed over the groups: the score equations at A = I, B = 0."""
    names = {n for n in graph.symbols(rates.values()) if n[0] in "AB"}
    unit = {sym(n): ONE if n in ("A_cc_same", "A_vv_same") else ZERO for n in names}
    return dict(zip(PAIRS, graph.substitute([rates[f"M_{pair}"] for pair in PAIRS], unit), strict=True))


def bilinear(sums: Mapping[str, Node], force: Mapping[str, Node]) -> dict[str, Node]:
    """A G + G B, M G' + G M', M' G + G' M for the 2-by-2 matrices of sums."""
    s = {**sums, "A_vc": sums["A_cv"], "B_vc": sums["B_cv"]}
    right: dict[str, Node] = {}
    for x, y in ((pair[0], pair[1]) for pair in PAIRS):
        right[f"M_{x}{y}"] = graph.add(s[f"A_{x}{z}"] * force[z + y] + force[x + z] * s[f"B_{z}{y}"] for z in "cv")
        right[f"A_{x}{y}"] = graph.add(s[f"M_{x}{z}"] * force[y + z] + force[x + z] * s[f"M_{y}{z}"] for z in "cv")
        right[f"B_{x}{y}"] = graph.add(s[f"M_{z}{x}"] * force[z + y] + force[z + x] * s[f"M_{z}{y}"] for z in "cv")
    return {kind: right[kind] for kind in KINDS}


def rates_are_bilinear(lab: Laboratory) -> Verdict:
    """The rates of the ten sums are bilinear in the sums and their forces."""
    rates = sum_rates(lab)
    sums = {kind: sym(f"{kind}_same") + sym(f"{kind}_other") for kind in KINDS}
    form = bilinear(sums, sum_forces(rates))
    return equal({kind: (rates[kind], form[kind]) for kind in KINDS})


# ---- runs in sums and gaps -----------------------------------------------------------------------------------------


@computed_once
def in_sums_and_gaps(lab: Laboratory) -> System:
    """Stage 2, all conflicting units on, in same + other and same - other; sums move by their bilinear form."""
    rhs = all_units_on(lab.reduced("stage2").system.equations)
    total, gap = ({kind: sym(f"{kind}_{what}") for kind in KINDS} for what in ("sum", "gap"))
    onto = {sym(f"{kind}_same"): (total[kind] + gap[kind]) / 2 for kind in KINDS}
    onto |= {sym(f"{kind}_other"): (total[kind] - gap[kind]) / 2 for kind in KINDS}
    force = sum_forces(sum_rates(lab))
    force = dict(zip(force, graph.substitute(list(force.values()), onto), strict=True))
    apart = graph.substitute([rhs[f"{kind}_same"] - rhs[f"{kind}_other"] for kind in KINDS], onto)
    equations = {f"{kind}_sum": rate for kind, rate in bilinear(total, force).items()}
    equations |= {f"{kind}_gap": rate for kind, rate in zip(KINDS, apart, strict=True)}
    return System.from_equations(equations, parameters=("n_c", "n_v", "b"))


@dataclass(frozen=True, eq=False)
class SmallSums:
    """A run of stage 2 in sums and gaps to the score x* of c_1 for v_1, in pieces between decades of that score."""

    system: System
    given: Mapping[str, float]
    pieces: tuple[Trajectory, ...]

    def speed_at(self, score: float) -> float:
        """The speed of the score when it has a given value for the first time."""
        piece = next(run for run in self.pieces if self._score(run.end_state) >= score)
        steps = piece.times
        last = int(np.argmax([self._score(piece.at(t)) >= score for t in steps[1:]])) + 1
        time = brentq(lambda t: self._score(piece.at(t)) / score - 1, steps[last - 1], steps[last], rtol=1e-12)
        return self._score(self.system.compile(self.given)(0.0, piece.at(time)))

    def fastest_sum(self) -> float:
        """The largest derivative of a sum at a step of the solver on [T_1, T_2]."""
        field, sums = self.system.compile(self.given), [self._place(f"{kind}_sum") for kind in KINDS]
        return max(float(np.abs(np.asarray(field(0.0, x))[sums]).max()) for run in self.pieces for x in run.states)

    def _score(self, state: np.ndarray) -> float:
        """c_1 W_K W_Q v_1 of a state, or its speed of the rates there."""
        return float(state[self._place("M_cv_sum")] + state[self._place("M_cv_gap")]) / 2

    def _place(self, name: str) -> int:
        return self.system.names.index(name)


@computed_once
def small_sums(lab: Laboratory, omega: float, T1: float, x_star: float, b: float) -> SmallSums:
    """Integrate stage 1 to T1, and stage 2 in sums and gaps until the score is x_star.

    Sums stay of the order omega^2 and gaps grow to order one, so the absolute tolerance of the gaps grows with them.
    """
    first = lab.reduced("stage1")
    begin = integrate(first.system, first.initial_state(omega), (0.0, T1), {"b": b}, rtol=RTOL).final
    system = in_sums_and_gaps(lab)
    start = {f"{kind}_sum": begin[f"{kind}_same"] + begin[f"{kind}_other"] for kind in KINDS}
    start |= {f"{kind}_gap": begin[f"{kind}_same"] - begin[f"{kind}_other"] for kind in KINDS}
    given = {"n_c": begin["n_c"], "n_v": begin["n_v"], "b": b}
    end = LONGEST * (1 - 2 * np.log(omega)) / max(abs(given["n_c"]) / 18, 1e-6)
    state, time, pieces = np.array([start[name] for name in system.names]), 0.0, list[Trajectory]()
    count = int(np.ceil(np.log10(x_star / omega**2)))
    for level in np.geomspace(omega**2, x_star, count + 1):
        scale = [omega**2 if name.endswith("_sum") else max(omega**2, level / 10) for name in system.names]
        reached = StopWhen("reached", "M_cv_gap", direction=1, level=2 * level)  # the sum of these two stays 0
        atol = RTOL / 10 * np.array(scale)
        run = integrate(system, state, (time, end), given, rtol=RTOL, atol=atol, events=[reached])
        if run.stop != "event:reached":
            raise IntegrationError(f"stage 2 does not reach x* = {x_star:g} ({run.stop})", time=run.end_time)
        pieces.append(run)
        state, time = run.end_state, run.end_time
    return SmallSums(system, given, tuple(pieces))
