"""Appendix E with validated enclosures at three parameter points: what the grid measures is certified there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from pathlib import Path

from odesys import (
    FAILS,
    HOLDS,
    Enclosure,
    Evidence,
    Node,
    Verdict,
    Witness,
    certified,
    combine_verdicts,
    refuted,
    say_witness,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from ..special.enclosed import SectorSystem, enclose_stage_two, growth_rows, pre_activations, stage_two_sectors
from .book import UNMUTATED, book
from .common_stage_two import STAGE_2
from .part_e_growth import DOMINANCE
from .part_e_trajectories import LAST_ROW, SIGNS_PRINTED

OMEGA, BIAS = Fraction(1, 10), Fraction(1, 2)
LENGTHS = {3: 635, 20: 103, 100: 51}  # T1 and how long to enclose: past x* = 1 and past the end of E.2's inequality
INSTANCE = r"\omega=\tfrac1{10},\ b=\tfrac12,\ T_1=3,20,100:\ "
READING = r"Certified at these three points from T_1 to past the time with c_1^\top W_K^\top W_Q v_1 = 1; nothing is said of others."
RATE = Fraction(999, 1000)
KAPPA = sym("n_c") / 18
SOON = Fraction(1, 4)
NEAR = Fraction(1, 10**4)  # the row is nearly flat where it vanishes, so its zero can not be located to all digits


@dataclass(frozen=True, eq=False)
class Point:
    """Stage 2 enclosed for one T1, and all that is certified along it."""

    T1: int

    @cached_property
    def sectors(self) -> SectorSystem:
        """The 6 states and every score and self-score in them."""
        return stage_two_sectors()

    @cached_property
    def run(self) -> Enclosure:
        """The enclosure."""
        return enclose_stage_two(self.sectors, OMEGA, BIAS, Fraction(self.T1), Fraction(LENGTHS[self.T1]))

    @cached_property
    def verdicts(self) -> dict[str, dict[str, Verdict]]:
        """All signs of all claims, found in one pass over the steps."""
        wanted = {f"{group}: {name}": node for group, nodes in self.expressions.items() for name, node in nodes.items()}
        found = self.run.certify_all(wanted)
        return {group: {name: found[f"{group}: {name}"] for name in nodes} for group, nodes in self.expressions.items()}

    @cached_property
    def expressions(self) -> dict[str, dict[str, Node]]:
        """What has to be positive after T1, by claim."""
        score = self.sectors.scores
        order = {
            "B_vv - B_cc": score["B_vv_same"] - score["B_cc_same"],
            "A_cc - A_vv": score["A_cc_same"] - score["A_vv_same"],
        }
        found = {
            "signs": {name: score[name] * sign for name, sign in {**SIGNS_PRINTED, **LAST_ROW}.items()},
            "order": order,
            "units": pre_activations(self.sectors),
        }
        return found | {lead: dominance(score, small, c, lead) for small, c, lead in DOMINANCE}

    def write(self, path: Path) -> None:
        """The enclosure with all signs that hold, for `tools/check_enclosure.py`."""
        claims = [
            (f"{group}: {name}", self.expressions[group][name], ">0")
            for group, found in self.verdicts.items()
            for name, verdict in found.items()
            if verdict.as_stated == HOLDS
        ]
        self.run.to_file(path, claims)


def dominance(score: Mapping[str, Node], small: tuple[str, ...], c: Fraction, large: str) -> dict[str, Node]:
    """c min(large same, -large other) - |small|, split into inequalities."""
    leads = {f"{large}_same": score[f"{large}_same"], f"-{large}_other": -score[f"{large}_other"]}
    return {
        f"{sign}{name} against {c} {lead}": c * top - (score[name] if sign == "+" else -score[name])
        for lead, top in leads.items()
        for name in small
        for sign in "+-"
    }


@cache
def point(T1: int) -> Point:
    """One enclosure for all claims of a process."""
    return Point(T1)


def _where(T1: int) -> dict[str, str | int]:
    return {"omega": str(OMEGA), "b": str(BIAS), "T1": T1}


def _at_all(check: Callable[[Point], Verdict]) -> Verdict:
    found = combine_verdicts({f"T1 = {T1}": check(point(T1)) for T1 in LENGTHS})
    if isinstance(found.witness, Mapping):
        found = found.witnessed(
            f"at omega = {OMEGA}, b = {BIAS} the enclosure gives {say_witness(found.witness)}", _where(3)
        )
    return found.at(*map(_where, LENGTHS))


def _certified(group: str) -> Verdict:
    return _at_all(
        lambda here: combine_verdicts(here.verdicts[group]).with_constants(
            **{f"width at T1={here.T1}": str(float(here.run.width))}
        )
    )


@book.claim(
    "E.5/enclosed",
    "Signs, certified",
    kind="inequality",
    uses=["E.5", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"\text{the signs of Lemma E.5 hold strictly on}\ (T_1,T_2],\ "
    r"\text{with}\ v_1^\top W_K^\top W_Kv_1>0>v_1^\top W_K^\top W_Kv_2\ \text{for the last row}",
    reading=READING,
)
def signs_enclosed(lab: Laboratory) -> Verdict:
    """The table is certified."""
    return _certified("signs")


def _beyond_limit(lead: str, limit: Fraction, until: Fraction | None) -> Callable[[Point], Verdict]:
    """What the enclosure says of the smaller constant that is the limit of the ratio at T1."""
    small = next(names for names, _, large in DOMINANCE if large == lead)

    def check(here: Point) -> Verdict:
        return combine_verdicts(here.run.certify_all(dominance(here.sectors.scores, small, limit, lead), until=until))

    return check


def _dominance(lead: str, limit: Fraction) -> Verdict:
    """Certified with the constant of the region claims; sharpened where its limit at T1 is never exceeded."""
    sharper, verdict = _at_all(_beyond_limit(lead, limit, None)), _certified(lead)
    if sharper.as_stated == HOLDS and sharper.evidence == Evidence.CERTIFICATE:
        return replace(verdict, sharpened=f"c = {limit}, the limit at T1, strictly")
    return verdict.adding(
        limit=f"c = {limit}: {sharper.as_stated} ({sharper.evidence}), {sharper.witness or sharper.residual}"
    )


@book.claim(
    "E.1(11)/enclosed",
    "Dominance of the scores, certified",
    kind="inequality",
    uses=["E.1(11)", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE
    + r"\max_{\text{other}}|M_{\mu\nu}|\le c\,\min(M_{c_kv_k},-M_{c_kv_{k'}}),\ c=0.51,\text{ not }\tfrac12",
    reading=READING,
)
def dominance_enclosed(lab: Laboratory) -> Verdict:
    """With 0.51, and a certificate against 1/2."""
    half = _at_all(_beyond_limit("M_cv", Fraction(1, 2), SOON))
    if half.as_stated != FAILS or half.evidence != Evidence.CERTIFICATE:
        return undecided(f"c = 1/2 is not refuted: {half.as_stated}")
    return _certified("M_cv").adding(half=f"c = 1/2 fails ({half.evidence}): {half.witness}")


@book.claim(
    "E.1(12)/enclosed",
    "Dominance of the query self-scores, certified",
    kind="inequality",
    uses=["E.1(12)", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"\max(|B_{vc}^=|,|B_{vc}^{\ne}|,|B_{cc}^{\ne}|)\le c\,\min(B_{vv}^=,-B_{vv}^{\ne}),\ c=0.26",
    reading=READING,
)
def query_dominance_enclosed(lab: Laboratory) -> Verdict:
    """With 0.26."""
    return _dominance("B_vv", Fraction(1, 4))


@book.claim(
    "E.1(13)/enclosed",
    "Dominance of the key self-scores, certified",
    kind="inequality",
    uses=["E.1(13)", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"\max(|A_{cv}^=|,|A_{cv}^{\ne}|,|A_{vv}^{\ne}|)\le c\,\min(A_{cc}^=,-A_{cc}^{\ne}),\ c=0.26",
    reading=READING,
)
def key_dominance_enclosed(lab: Laboratory) -> Verdict:
    """With 0.26."""
    return _dominance("A_cc", Fraction(1, 4))


@book.claim(
    "E.1(14)/enclosed",
    "Order of the diagonal self-scores, certified",
    kind="inequality",
    uses=["E.1(14)", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"B_{vv}^=\ge B_{cc}^=,\quad A_{cc}^=\ge A_{vv}^=",
    reading=READING,
)
def diagonal_order_enclosed(lab: Laboratory) -> Verdict:
    """Two differences."""
    return _certified("order")


@book.claim(
    "E.6/enclosed",
    "Conflicting units stay active, certified",
    kind="inequality",
    uses=["E.6", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"H_+(X_{k,s,-s})+b>0\ \text{on}\ [T_1,T_2]",
    reading=READING,
)
def units_enclosed(lab: Laboratory) -> Verdict:
    """Pre-activations along the enclosure."""
    return _certified("units")


@book.claim(
    "E.2/enclosed",
    "Score growth along trajectories, certified",
    kind="inequality",
    uses=["E.2", "Beyond.manifold"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=INSTANCE + r"\dot x\ge0.999\,\kappa\,A_3x\ \text{while}\ M_{c_1v_1}\le C(T_1),\ \kappa=\tfrac{n_c}{18};\ "
    r"\text{not with}\ \kappa\ \text{itself}",
    reading=READING,
)
def growth_enclosed(lab: Laboratory) -> Verdict:
    """All three rows up to the time when the first one fails."""
    return _at_all(_growth)


def _growth(here: Point) -> Verdict:
    first, *others = growth_rows(here.sectors, RATE * KAPPA)
    found = here.run.crossing(first, tolerance=NEAR)
    if found is None:
        return undecided(f"the first row keeps its sign for {LENGTHS[here.T1]}")
    score = here.sectors.scores["M_cv_same"]
    low, high = here.run.value(score, found[0])[0], here.run.value(score, found[1])[1]
    rest = here.run.certify_all({f"row {k}": row for k, row in enumerate(others, 2)}, until=found[0])
    rows = combine_verdicts({"row 1": certified(until=str(float(found[0]))), **rest})
    sharp = here.run.certify(growth_rows(here.sectors, KAPPA)[0], until=SOON)
    if sharp.as_stated != FAILS:
        return undecided(f"b = kappa is not refuted just after T1: {sharp.as_stated}")
    return rows.with_constants(**{f"C at T1={here.T1}": f"[{float(low):.6f}, {float(high):.6f}]"}).adding(
        kappa=f"b = kappa fails ({sharp.evidence}): {sharp.witness}"
    )


@book.claim(
    "T2/enclosed",
    "Duration of stage 2, enclosed",
    kind="existence",
    uses=["E.3/order"],
    level="full",
    insensitive=UNMUTATED,
    origin="ours",
    hypotheses=STAGE_2,
    statement=r"T_2-T_1\in[90.17591,\,90.17592]",
    reading=r"\omega = 1/10, b = 1/2, T_1 = 20, and T_2 is the only time with c_1^\top W_K^\top W_Q v_1 = 1.",
)
def duration_enclosed(lab: Laboratory) -> Verdict:
    """Crossing time of the score along the enclosure, and growth of the score all along."""
    here = point(20)
    score = here.sectors.scores["M_cv_same"]
    found, grows = here.run.crossing(score - 1), here.run.certify(growth_rows(here.sectors, sym("n_c") * 0)[0])
    if found is None or grows.as_stated != HOLDS:
        return undecided("no single crossing was enclosed")
    low, high = found
    inside = Fraction("90.17591") <= low and high <= Fraction("90.17592")
    sentence = f"at omega = 1/10, b = 1/2, T_1 = 20 the crossing is between {float(low):.4g} and {float(high):.4g}"
    if not inside:
        return refuted(Witness(sentence, _where(20)), Evidence.CERTIFICATE)
    return certified(low=str(float(low)), high=str(float(high))).at(_where(20))


CERTIFIED = (
    "E.5/enclosed",
    "E.1(11)/enclosed",
    "E.1(12)/enclosed",
    "E.1(13)/enclosed",
    "E.1(14)/enclosed",
    "E.6/enclosed",
)


def _write(T1: int, path: Path) -> None:
    point(T1).write(path)


for _T1 in LENGTHS:
    book.certificate(f"stage2_T1_{_T1}.json", *CERTIFIED)(partial(_write, _T1))
