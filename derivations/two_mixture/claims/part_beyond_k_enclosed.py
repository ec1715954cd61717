"""Beyond the paper: stage 2 with a million groups as a validated enclosure; near symmetry and duration, certified."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from odesys import (
    Enclosure,
    Evidence,
    InNewVariables,
    Node,
    Verdict,
    Witness,
    combine_verdicts,
    decided,
    enclose,
    num,
    say_point,
    sym,
    undecided,
)

from .. import dynamics
from ..laboratory import Laboratory
from ..special.enclosed import ORDER, PAIRS, PRECISION, TOLERANCE, in_sectors, neurons_at
from .book import UNMUTATED, book
from .part_beyond_k import STAGE_TWO_OF_K

GROUPS, LENGTH = 1_000_000, Fraction(79)  # in 79 K the score passes (K - 1)/K
OMEGA, BIAS, FIRST = Fraction(1, 10), Fraction(1, 2), 10  # stage 1 has the length 10 K
POINT: dict[str, Any] = {"K": GROUPS, "L": 3, "omega": OMEGA, "b": BIAS, "T1": FIRST * GROUPS}
AT = r"\text{at}\ K=10^6,\ L=3,\ \omega=\tfrac1{10},\ b=\tfrac12,\ T_1=10K"
STEP = "Taylor models that round outward, along all of stage 2"


def stage_two(K: int) -> InNewVariables:
    """Stage 2, slaved, in sector coordinates and time t / K."""
    return in_sectors(dynamics.family_slaved("stage2", 3, K).system.freeze_still(), K, time=K)


@cache
def _enclosure() -> tuple[Enclosure, Mapping[str, Node]]:
    made = stage_two(GROUPS)
    # stage 1 of length 10 K ends at the neurons of two groups at T1 = 20 (Beyond.K.stage1)
    parameters = {"b": BIAS, "omega": OMEGA, **neurons_at(Fraction(2 * FIRST), BIAS)}
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
    statement=r"|M^{=}_{\mu\nu}+(K-1)M^{\ne}_{\mu\nu}|\ \le\ \tfrac1{50}\,M_{c_kv_k},\quad \mu,\nu\in\{c,v\},\ "
    rf"T_1<t\le T_1+79K,\quad {AT}",
    reading="All four pairs of word types, at all times from the start of stage 2 until M_{c_k v_k} has passed (K - 1)/K.",
    hypotheses=STAGE_TWO_OF_K,
)
def near_symmetry_enclosed(lab: Laboratory) -> Verdict:
    """Eight inequalities along the enclosure."""
    run, scores = _enclosure()
    parts = {
        f"{sign:+d} s_{pair}": run.certify(scores["M_cv_same"] / 50 + sign * sym(f"s_{pair}"))
        for pair in PAIRS
        for sign in (1, -1)
    }
    found = combine_verdicts(parts).with_constants(width=str(float(run.width)))
    return found.at({**POINT, "t": (POINT["T1"], POINT["T1"] + LENGTH * GROUPS)}).proving(STEP)


@book.claim(
    "Beyond.K.T2/enclosed",
    "Duration of stage 2, enclosed with a million groups",
    kind="existence",
    level="full",
    origin="ours",
    uses=["Beyond.K.stage1", "Beyond.K.sizes", "Beyond.K.T2"],
    insensitive=UNMUTATED,
    statement=rf"(T_2-T_1)/K\in[78.85818,\,78.85819],\quad {AT},\ x^*=1",
    reading="T_2 is the first time at which M_{c_k v_k} = x* (K - 1)/K.",
    hypotheses=STAGE_TWO_OF_K,
)
def duration_enclosed(lab: Laboratory) -> Verdict:
    """Crossing time of the score along the enclosure."""
    run, scores = _enclosure()
    found = run.crossing(scores["M_cv_same"] - num(Fraction(GROUPS - 1, GROUPS)))
    if found is None:
        return undecided("no single crossing was enclosed")
    low, high = found
    ends = f"{float(low):.8g} .. {float(high):.8g}"
    inside = Fraction("78.85818") <= low and high <= Fraction("78.85819")
    point = {**POINT, "x_star": 1}
    witness = Witness(f"at {say_point(point)} (all hypotheses hold) (T_2 - T_1)/K lies in {ends}", point)
    verdict = decided(inside, witness, Evidence.CERTIFICATE, duration=ends)
    return verdict.at(point).proving(STEP)
