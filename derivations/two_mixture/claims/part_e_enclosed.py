"""Appendix E at one parameter point with validated enclosures: the measurements of the grid, certified there."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from odesys.claims import combine
from odesys.graph import Node
from odesys.validated import Enclosure
from odesys.verdicts import Verdict, certified, refuted, undecided

from ..enclosed import enclose_stage_two, stage_two_sectors
from ..laboratory import Laboratory
from .book import book
from .part_e_trajectories import LAST_ROW_RIGHT, SIGNS_PRINTED

POINT = "omega = 1/10, b = 1/2, T1 = 20, from T1 to T1 + 90.2, which is past T2 (x* = 1)"
APART = "the enclosure is of the unmutated stage 2"


@cache
def _enclosure() -> tuple[Enclosure, dict[str, Node]]:
    sectors = stage_two_sectors()
    run = enclose_stage_two(sectors, Fraction(1, 10), Fraction(1, 2), Fraction(20), Fraction(902, 10))
    return run, dict(sectors.scores)


@book.claim("E.5/enclosed", "Signs, certified at one point", kind="inequality", uses=["E.5", "Beyond.manifold"], level="full", apart=APART,
            statement=r"\text{the sign table of Lemma E.5 with its last row corrected, strict on}\ (T_1,T_2]",
            reading=f"{POINT}: every sign certified along the validated enclosure; at the start by the leading Taylor coefficient")
def signs_enclosed(lab: Laboratory) -> Verdict:
    """Twenty strict signs along the enclosure."""
    run, score = _enclosure()
    table = {**SIGNS_PRINTED, **LAST_ROW_RIGHT}
    return combine({name: run.certify(score[name] * sign) for name, sign in table.items()}).with_constants(width=str(float(run.width)))


@book.claim("E.1(11)/enclosed", "Dominance, certified at one point", kind="inequality", uses=["E.1(11)", "Beyond.manifold"], level="full",
            apart=APART, statement=r"\max_{\text{other}}|M_{\mu\nu}|\le c\,\min(M_{c_kv_k},-M_{c_kv_{k'}})",
            reading=f"{POINT}: c = 0.51 certified along the validated enclosure; c = 1/2 is refuted by it")
def dominance_enclosed(lab: Laboratory) -> Verdict:
    """Twelve pairs of inequalities with 0.51, and a certificate against 1/2."""
    run, score = _enclosure()
    others = [f"M_{pair}_{group}" for pair in ("cc", "vc", "vv") for group in ("same", "other")]
    leads = {"M_cv_same": score["M_cv_same"], "-M_cv_other": -score["M_cv_other"]}
    parts = {f"{sign}{other} against {lead}": run.certify(Fraction(51, 100) * top - (score[other] if sign == "+" else -score[other]))
             for lead, top in leads.items() for other in others for sign in "+-"}
    half = run.certify(score["M_cv_same"] / 2 + score["M_vc_same"], until=Fraction(1))
    if half.as_stated != "fails":
        return undecided(f"c = 1/2 is not refuted: {half.as_stated}")
    return combine(parts).adding(half=f"c = 1/2 fails ({half.evidence}): {half.witness}")


@book.claim("T2/enclosed", "Duration of stage 2, enclosed", kind="existence", uses=["E.3/order"], level="full", apart=APART, beyond=True,
            statement=r"T_2-T_1\in[90.17591,\,90.17592]", reading=f"{POINT}: the only crossing of M_cv_same = 1 lies in this interval")
def duration_enclosed(lab: Laboratory) -> Verdict:
    """Crossing time of the score along the enclosure."""
    run, score = _enclosure()
    found = run.crossing(score["M_cv_same"] - 1)
    if found is None:
        return undecided("no single crossing was enclosed")
    low, high = found
    inside = Fraction("90.17591") <= low and high <= Fraction("90.17592")
    ends = {"low": str(float(low)), "high": str(float(high))}
    return certified(**ends) if inside else refuted(ends)
