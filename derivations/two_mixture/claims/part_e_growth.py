"""Lemma E.2 on a region of scores: the rate b(C) with certificates over boxes, and where there is none."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from odesys import (
    BoundResult,
    Evidence,
    Node,
    Region,
    System,
    Verdict,
    Witness,
    as_ball,
    ball_endpoints,
    ball_evaluate,
    certified,
    combine_verdicts,
    lower_linear_bound,
    refuted,
    sym,
    undecided,
    write_region_certificate,
)

from ..laboratory import Laboratory
from ..special.enclosed import neurons_at
from .book import book
from .common_hypotheses import AFTER_SWITCH, BIASED

BLOCK = ("M_cv_same", "A_cc_same", "B_vv_same")
GROWTH = sp.Matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
BIAS = Fraction(1, 2)
TOLERANCE, BOXES = Fraction(1, 100), 6000
DIGITS = 10**12
PRECISION = 128  # bits
STAGE_ONE_ENDS = (3, 20, 100)
SIZES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
DOMINANCE = (  # E.1 (11) to (13): |small| <= c min(large same, -large other)
    (tuple(f"M_{k}_{s}" for k in ("cc", "vc", "vv") for s in ("same", "other")), Fraction(51, 100), "M_cv"),
    (("B_cv_same", "B_cv_other", "B_cc_other"), Fraction(26, 100), "B_vv"),
    (("A_cv_same", "A_cv_other", "A_vv_other"), Fraction(26, 100), "A_cc"),
)
READING = (
    r"All states with |scores| at most C, |self-scores| at most 1, dominance constants 0.51, 0.26, 0.26, the order (14), signs of the diagonal, "
    r"n_c, n_v at T_1, b = 1/2."
)
AFTER_STAGE_1 = (BIASED, AFTER_SWITCH)


def region(system: System, C: Fraction, T1: int, selves: Fraction = Fraction(1)) -> Region:
    """|scores| <= C, |self-scores| <= selves, dominance, order and signs as linear conditions, neurons at T1."""
    box = {name: (-C, C) for name in system.on_path("KQ")}
    box |= {name: (-selves, selves) for name in system.on_path("KK", "QQ")}
    box |= neuron_ranges(T1)
    conditions: list[Node] = []
    for small, c, large in DOMINANCE:
        for name in small:
            for lead in (sym(f"{large}_same"), -sym(f"{large}_other")):
                conditions += [c * lead - sym(name), c * lead + sym(name)]
    conditions += [
        sym("B_vv_same") - sym("B_cc_same"),
        sym("A_cc_same") - sym("A_vv_same"),
        sym("A_vv_same"),
        sym("B_cc_same"),
    ]
    return Region(box, tuple(conditions))


def neuron_ranges(T1: int) -> dict[str, tuple[Fraction, Fraction]]:
    """Rational ranges, a few units of the twelfth digit wide, around n_c and n_v at T1."""
    ends = {name: ball_endpoints(value) for name, value in neurons_at(Fraction(T1), BIAS).items()}
    return {
        name: (Fraction(math.floor(low * DIGITS), DIGITS), Fraction(math.ceil(high * DIGITS), DIGITS))
        for name, (low, high) in ends.items()
    }


def bound(lab: Laboratory, C: Fraction, T1: int, **options: Any) -> BoundResult:
    """The certified rate on the region of C and T1."""
    system = lab.reduced("stage2").system.substitute({"b": BIAS})
    return lower_linear_bound(system, BLOCK, GROWTH, region(system, C, T1), tolerance=TOLERANCE, boxes=BOXES, **options)


def _positive_rate(lab: Laboratory, C: Fraction, T1: int) -> Verdict:
    """A verdict on dx/dt >= b A x with some b > 0, the rate in units of kappa = n_c/18."""
    found, kappa = bound(lab, C, T1, wanted=Fraction(0)), neuron_ranges(T1)["n_c"][1] / 18
    low, high = (
        None if rate is None else float(Fraction(int(rate.p), int(rate.q)) / kappa)
        for rate in (found.rate, found.upper)
    )
    seen = {"b/kappa at least": low, "at most": high, "boxes": found.details["boxes"]}
    where = {"C": str(C), "T1": T1, "b": str(BIAS)}
    if found.answer == "holds" and found.rate is not None and found.rate > 0:
        constants = {f"b(C={C}, T1={T1})/kappa": low}
        return Verdict("holds", Evidence.CERTIFICATE, constants=constants, details=seen).at(where)
    if found.answer == "fails":
        point = {name: str(value) for name, value in found.tight_at.items()}
        sentence = f"at C = {C}, T_1 = {T1}, b = 1/2 row {found.row} of dx/dt is negative at a state of the region"
        return refuted(Witness(sentence, where), Evidence.CERTIFICATE, state=point, **seen)
    return undecided(f"no positive rate was certified for C = {C}, T1 = {T1}: {seen}")


@book.claim(
    "E.2/region",
    "Score growth on a region",
    kind="inequality",
    origin="ours",
    hypotheses=AFTER_STAGE_1,
    uses=["E.1(11)", "E.1(12)", "E.1(13)", "E.1(14)", "E.5", "B.2"],
    statement=r"C=\tfrac1{100},\ T_1=20:\ \max|M|\le C\ \Rightarrow\ \dot x\ge b\,A_3x,\quad x=(M_{c_1v_1},A_{c_1c_1},B_{v_1v_1})",
    reading=READING,
)
def growth_on_a_region(lab: Laboratory) -> Verdict:
    """The largest rate, certified to one percent; self-scores up to 1, since the rows are homogeneous in them."""
    return _positive_rate(lab, SIZES[0], 20)


@book.claim(
    "E.2/region-wide",
    "Score growth on wider regions",
    kind="inequality",
    origin="ours",
    hypotheses=AFTER_STAGE_1,
    uses=["E.2/region"],
    level="full",
    statement=r"C=\tfrac1{100},\tfrac1{10},\tfrac12,\ T_1=3,20,100:\ \max|M|\le C\ \Rightarrow\ \dot x\ge b(C)\,A_3x",
    reading=READING,
)
def growth_on_wider_regions(lab: Laboratory) -> Verdict:
    """The whole table of rates."""
    return combine_verdicts({f"C={C}, T1={T1}": _positive_rate(lab, C, T1) for C in SIZES for T1 in STAGE_ONE_ENDS})


SELF_SCORES = {
    "A_cc_same": Fraction(1),
    "A_vv_same": Fraction(1),
    "B_cc_same": Fraction(10),
    "B_vv_same": Fraction(1000),
}


@book.claim(
    "E.2/region-none",
    "No growth rate on a wide region",
    kind="existence",
    uses=["E.2/region"],
    origin="ours",
    hypotheses=AFTER_STAGE_1,
    statement=r"C=1,\ T_1=3:\ \text{no}\ b>0\ \text{satisfies}\ \dot x\ge b\,A_3x\ \text{on the whole region}",
    reading=r"The region of E.2/region with self-scores of any size that are inner products; one state with a falling "
    r"M_{c_1v_1} is enough.",
)
def no_growth_rate(lab: Laboratory) -> Verdict:
    """The scores at which the search ends, with self-scores that two matrices have: the first row is negative there."""
    found = bound(lab, Fraction(1), 3, wanted=Fraction(0))
    where = {"C": Fraction(1), "T1": 3, "b": BIAS}
    if found.answer == "holds":
        sentence = "at C = 1, T_1 = 3, b = 1/2 a positive rate is certified on the whole region"
        return refuted(Witness(sentence, where), Evidence.CERTIFICATE, rate=str(found.rate))
    if found.answer != "fails":
        return undecided("the search ended neither with a rate nor with a point against all rates")
    system = lab.reduced("stage2").system
    free = dict.fromkeys(system.on_path("KK", "QQ"), Fraction(0)) | SELF_SCORES
    state = {**found.tight_at, **free}
    (rate,) = ball_evaluate(
        [system.equations["M_cv_same"]], {n: as_ball(x) for n, x in {**state, "b": BIAS}.items()}, PRECISION
    )
    driven = state["A_cc_same"] + state["B_vv_same"]
    if not (rate < 0 < driven and region(system, Fraction(1), 3, driven).contains(state)):
        return undecided(f"at the state of the search with larger self-scores dM_cv_same/dt is {float(rate.mid()):.3g}")
    return (
        certified(state={name: str(value) for name, value in state.items()})
        .with_constants(**{"dM_cv_same/dt": f"{float(rate.mid()):.3g}", "A_cc_same + B_vv_same": str(driven)})
        .proving("row M_cv_same: its derivative is negative, in balls, where A_cc_same + B_vv_same is positive")
        .at({**where, **state})
    )


@book.certificate("growth_C_1_100_T1_20.json", "E.2/region")
def write_growth(path: Path) -> None:
    """The boxes behind the rate of E.2/region, for `tools/check_region.py`."""
    write_region_certificate(bound(Laboratory(), SIZES[0], 20, keep_boxes=True), path)
