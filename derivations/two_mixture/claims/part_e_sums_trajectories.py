"""The proof of Lemma E.4 after (15): what has happened at T', when the score of c_1 for v_1 is omega; in floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import asinh, log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq

from odesys import Verdict, computed_once, measure

from ..laboratory import Laboratory
from ..special.trajectories import stage_two
from .book import SIGNS, book
from .common_stage_two import CONSTANTS, RANGES, REACH, STAGE_2, judged, kappa, largest_omega, sweep
from .common_sums import KINDS
from .part_e_trajectories import attention_at

ENDS = ((0.3, 3.0), (0.8, 40.0), (1.3, 700.0))  # (b, T1) of the paths along omega
DECADES, COUNT = 4, 9  # as for the whole of stage 2 in Lemma E.3
AWAY, TIME, SIZE, SHARE = "Delta p up to T'", "T' - T_1", "Delta at T'", "Delta over the score at T'"


@computed_once
def at_small_score(lab: Laboratory, omega: float, T1: float, b: float) -> dict[str, float]:
    """T' - T_1, the largest Delta p up to T', and Delta at T'; T' is where M_cv_same is omega first."""
    run = stage_two(lab, omega, T1, REACH, b).run
    names, begin = run.names, run.times[0]
    place = names.index("M_cv_same")
    end = float(brentq(lambda t: float(run.at(t)[place]) / omega - 1, begin, run.end_time, rtol=1e-12))
    away = 0.0
    for t in np.linspace(begin, end, 100):
        values = dict(zip(names, run.at(t), strict=True))
        away = max(away, *(float(np.abs(attention_at(values, s, r) - 1 / 3).max()) for s in SIGNS for r in SIGNS))
    last = run.at(end)
    sums = [last[names.index(f"{kind}_same")] + last[names.index(f"{kind}_other")] for kind in KINDS]
    return {AWAY: away, TIME: end - begin, SIZE: float(np.abs(sums).max())}


def _paths(lab: Laboratory) -> list[list[dict[str, Any]]]:
    """Four decades of omega from nine tenths of its bound down, at each b and T1."""
    ends = [{"b": b, "T1": T1, "omega": 1e-3} for b, T1 in ENDS]  # with this omega inside, so is all that is smaller
    found = lab.draw.points("to T'", ends, {name: RANGES[name] for name in ("b", "T1")}, STAGE_2)
    tops = [0.9 * largest_omega(p["T1"], p["b"]) for p in found]
    return [
        lab.draw.along("omega", top / 10**DECADES, top, COUNT, b=p["b"], T1=p["T1"])
        for p, top in zip(found, tops, strict=True)
    ]


def _of_order(
    lab: Laboratory, what: str, value: Callable[[dict[str, float], Mapping[str, Any]], float], power: float
) -> Verdict:
    """O(omega^power) along every path."""

    def at(p: Mapping[str, Any]) -> float:
        return value(at_small_score(lab, p["omega"], p["T1"], p["b"]), p)

    first, *others = [measure(what, down, at).order("omega", power, "O", towards="zero") for down in _paths(lab)]
    for found in others:
        first = first & found
    return first


def _at_most(
    lab: Laboratory, what: str, value: Callable[[dict[str, float], Mapping[str, Any]], float], most: float, why: str
) -> Verdict:
    found = measure(what, sweep(lab), lambda p: value(at_small_score(lab, p["omega"], p["T1"], p["b"]), p))
    return judged(found, 0, most, why)


@book.claim(
    "E.4-proof",
    "The asymmetry until the score is omega",
    kind="order",
    origin="proof",
    where="Proof of Lemma E.4, after (15)",
    parts=(AWAY, TIME, SIZE, SHARE),
    hypotheses=STAGE_2,
    uses=["E.4/T1", "E.4(15)", "E.1(11)", "E.2", "E.3/repaired"],
    statement=r"|\Delta p^{(t)}|\le O(\omega)\ \forall t\le T',\quad T'-T_1\le O(\log\tfrac1\omega),\quad "
    r"|\Delta^{(T')}|\le\omega^2+\widetilde O(\omega^2),\quad "
    r"\frac{\Delta^{(T')}}{c_1^\top W_K^{(T')\top}W_Q^{(T')}v_1}\le\frac{\widetilde O(\omega^2)}{\Theta(\omega)}\le\widetilde O(\omega)",
    reading=r"T' is where c_1^\top W_K^\top W_Q v_1 = \omega first; n_c/n_v at T_1 is at least 10^{-3}.",
)
def until_the_score_is_omega(lab: Laboratory) -> dict[str, Verdict]:
    """Orders along omega, and a bound over the sweep for each."""
    spread = "at scores of at most omega in size a weight is within 4 omega/9 of 1/3 at first order; twice that"
    shortest = "Lemma E.2 at rate kappa/2 and the closed form of Lemma E.3 with x* = omega"
    twice = "Delta is omega^2 at T1, and constant at leading order; a factor of two"
    found = {
        AWAY: _of_order(lab, AWAY, lambda seen, p: seen[AWAY], 1)
        & _at_most(lab, f"{AWAY}, over omega,", lambda seen, p: seen[AWAY] / p["omega"], 8 / 9, spread),
        # at uniform attention the score is omega^2 sinh(4 kappa t)/2 (Beyond.K.frozen), so that it is omega at the time
        # asinh(2/omega)/(4 kappa); asinh(2/omega) is at most 4 log(1/omega) below 1/2, where omega is
        TIME: _of_order(
            lab,
            "4 kappa (T' - T_1) / asinh(2/omega)",
            lambda seen, p: 4 * kappa(p) * seen[TIME] / asinh(2 / p["omega"]),
            0,
        )
        & _at_most(
            lab,
            "T' - T_1 over sqrt 2 log(1 + sqrt 2/omega) / kappa",
            lambda seen, p: kappa(p) * seen[TIME] / (sqrt(2) * log(1 + sqrt(2) / p["omega"])),
            1,
            shortest,
        ),
        SIZE: _of_order(lab, SIZE, lambda seen, p: seen[SIZE], 2)
        & _at_most(lab, f"{SIZE}, over omega^2,", lambda seen, p: seen[SIZE] / p["omega"] ** 2, 2, twice),
        SHARE: _of_order(lab, SHARE, lambda seen, p: seen[SIZE] / p["omega"], 1)
        & _at_most(lab, f"{SHARE}, over omega,", lambda seen, p: seen[SIZE] / p["omega"] ** 2, 2, twice),
    }
    return {part: verdict.with_constants(**CONSTANTS) for part, verdict in found.items()}
