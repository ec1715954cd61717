"""Beyond the paper: stage 2 with a million groups as a validated enclosure; near symmetry and duration, certified."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from odesys import (
    Enclosure,
    InNewVariables,
    Node,
    Verdict,
    certified,
    combine_verdicts,
    enclose,
    num,
    refuted,
    sym,
    undecided,
)

from .. import dynamics
from ..laboratory import Laboratory
from ..special.enclosed import ORDER, PAIRS, PRECISION, TOLERANCE, in_sectors, neurons_at
from .book import UNMUTATED, book

GROUPS, LENGTH = 1_000_000, Fraction(79)
POINT = "K = 10^6, L = 3, omega = 1/10, b = 1/2, stage 1 of length 10 K, stage 2 for 79 K, which is past M^a_cv = 1"


def stage_two(K: int) -> InNewVariables:
    """Stage 2, slaved, in sector coordinates and time t / K."""
    return in_sectors(dynamics.family_slaved("stage2", 3, K).system.freeze_still(), K, time=K)


@cache
def _enclosure() -> tuple[Enclosure, Mapping[str, Node]]:
    made = stage_two(GROUPS)
    b = Fraction(1, 2)
    # stage 1 of length 10 K ends at the neurons of two groups at T1 = 20 (Beyond.K.stage1)
    parameters = {"b": b, "omega": Fraction(1, 10), **neurons_at(Fraction(20), b)}
    run = enclose(
        made.system,
        dict.fromkeys(made.system.names, 0),
        LENGTH,
        parameters,
        order=ORDER,
        precision=PRECISION,
        tolerance=TOLERANCE,
    )
    return run, made.old


@book.claim(
    "Beyond.K.near_symmetry/enclosed",
    "Near symmetry in stage 2, certified with a million groups",
    kind="inequality",
    level="full",
    origin="ours",
    uses=["Beyond.K.stage1", "Beyond.K.sizes", "Beyond.K.near_symmetry"],
    insensitive=UNMUTATED,
    statement=r"|M^{=}_{\mu\nu}+(K-1)M^{\ne}_{\mu\nu}|\ \le\ \tfrac1{50}\,M_{c_kv_k},\quad \mu,\nu\in\{c,v\}",
    reading=f"{POINT}: for all four pairs of word types at all times of stage 2, along the validated enclosure",
)
def near_symmetry_enclosed(lab: Laboratory) -> Verdict:
    """Eight inequalities along the enclosure."""
    run, scores = _enclosure()
    parts = {
        f"{sign:+d} s_{pair}": run.certify(scores["M_cv_same"] / 50 + sign * sym(f"s_{pair}"))
        for pair in PAIRS
        for sign in (1, -1)
    }
    return combine_verdicts(parts).with_constants(width=str(float(run.width)))


@book.claim(
    "Beyond.K.T2/enclosed",
    "Duration of stage 2, enclosed with a million groups",
    kind="existence",
    level="full",
    origin="ours",
    uses=["Beyond.K.stage1", "Beyond.K.sizes", "Beyond.K.T2"],
    insensitive=UNMUTATED,
    statement=r"(T_2-T_1)/K\in[78.85818,\,78.85819]",
    reading=f"{POINT}: the only crossing of M_cv_same = (K-1)/K lies in this interval",
)
def duration_enclosed(lab: Laboratory) -> Verdict:
    """Crossing time of the score along the enclosure."""
    run, scores = _enclosure()
    found = run.crossing(scores["M_cv_same"] - num(Fraction(GROUPS - 1, GROUPS)))
    if found is None:
        return undecided("no single crossing was enclosed")
    low, high = found
    ends = {"low": str(float(low)), "high": str(float(high))}
    return certified(**ends) if Fraction("78.85818") <= low and high <= Fraction("78.85819") else refuted(ends)
