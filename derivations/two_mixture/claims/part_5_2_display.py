"""Section 5.2: the display at T1 that is drawn from the near symmetry, against the derived derivative."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from odesys import (
    HOLDS,
    ZERO,
    Evidence,
    Hypothesis,
    Node,
    Verdict,
    combine_verdicts,
    decided,
    equal,
    graph,
    identity,
    rational_points,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import all_units_on, book, zero_scores
from .common_hypotheses import STAGE_TWO
from .part_e_stage_two import QUARTER, printed_rates, too_large

SELF_SCORES = ("A_cc", "B_vv")  # the pairs that the display is about
GROUPS = {"same": 1, "other": -1}  # signs of the two numbers of a pair where they are opposite
OMEGA, N_C = sym("omega"), sym("n_c")


def slope_at_start(lab: Laboratory) -> Node:
    """g on the conflicting samples at T1: uniform attention, conflicting units on."""
    margin = {"margin": lab.observable("margin", 1, 1, -1, quotient=True)}
    return graph.call("sigmoid", -zero_scores(all_units_on(margin))["margin"])


def derived_rate(lab: Laboratory) -> Node:
    """The derived derivative of M_cv_same at uniform attention, for any self-scores."""
    system = lab.reduced("stage2").system
    rate = {"rate": system.equations["M_cv_same"]}
    return zero_scores(all_units_on(rate))["rate"]


def printed_display(g: Node) -> Node:
    """(1/3) g 4 B_vv (2/3) n_c + (1/3) g 4 A_cc (2/3) n_c."""
    return graph.add(Fraction(1, 3) * g * 4 * sym(f"{kind}_same") * (Fraction(2, 3) * N_C) for kind in SELF_SCORES)


def at_start(node: Node) -> Node:
    """At T1: diagonal self-scores omega^2, the others zero."""
    names = {n for n in graph.symbols([node]) if n[0] in "AB"}
    start = {sym(n): OMEGA**2 if n in {f"{m}_{k}_same" for m in "AB" for k in ("cc", "vv")} else ZERO for n in names}
    return graph.substitute([node], start)[0]


def under_symmetry(node: Node) -> Node:
    """Where the near symmetry of both self-scores is exact."""
    return graph.substitute([node], {sym(f"{kind}_other"): -sym(f"{kind}_same") for kind in SELF_SCORES})[0]


def quotient(above: Node, below: Node) -> Fraction | None:
    """The number q with above = q below, read off at a rational point and then proved; None if there is none."""
    point = next(rational_points(sorted(graph.symbols([above, below])), graph.symbols([above, below])))
    try:
        values = graph.evaluate([above, below], point, {"sigmoid": _half_at_zero})
        ratio = Fraction(values[0]) / Fraction(values[1])
    except ArithmeticError:  # a slope that is no rational number, or nothing to divide by
        return None
    return ratio if identity({"quotient": above - ratio * below}).as_stated == HOLDS else None


def _half_at_zero(z: Fraction) -> Fraction:
    if z != 0:
        raise ArithmeticError(f"the margin is {z}, not zero: this slope is no rational number")
    return Fraction(1, 2)


def factors(lab: Laboratory) -> dict[str, Fraction | None]:
    """How much too large the display is: against the derived derivative and against the form of appendix E.5."""
    display, derived, appendix = printed_display(slope_at_start(lab)), derived_rate(lab), printed_rates()["M_cv_same"]
    return {
        f"{what}, {where}": quotient(there(display), there(other))
        for what, other in (("over derived", derived), ("over App.E.5", appendix))
        for where, there in (("at T1", at_start), ("under exact near symmetry", under_symmetry))
    }


def factor_is(found: Fraction | None, wanted: int, what: str) -> Verdict:
    """A quotient that was found and proved is the wanted number."""
    if found is None:
        return undecided(f"{what}: the two sides are no multiples of each other", Evidence.PROOF)
    return decided(found == wanted, {what: str(found)})


def _asymmetry(point: Mapping[str, Any]) -> Any:
    """What is left of a percent of the larger number of a pair, for the pair that is the least opposite."""
    pairs = [(point[f"{kind}_same"], point[f"{kind}_other"]) for kind in ("M_cv", *SELF_SCORES)]
    return min(abs(same) / 100 - abs(same + other) for same, other in pairs)


NEARLY_SYMMETRIC = Hypothesis(
    "near symmetry",
    r"c_1^\top W_K^\top W_Qv_1\approx-c_1^\top W_K^\top W_Qv_2,\ c_1^\top W_K^\top W_Kc_1\approx-c_1^\top W_K^\top W_Kc_2,\ "
    r"v_1^\top W_Q^\top W_Qv_1\approx-v_1^\top W_Q^\top W_Qv_2",
    _asymmetry,
)
OPPOSITE: dict[
    str, Any
] = {  # at omega = 1/10: scores as at T1, and self-scores as if W_K c_1 = -W_K c_2, W_Q v_1 = -W_Q v_2
    "M_cv_same": 0,
    "M_cv_other": 0,
    **{f"{kind}_{group}": Fraction(sign, 100) for kind in SELF_SCORES for group, sign in GROUPS.items()},
}


@book.claim(
    "Sec.5.2-display",
    "The display at T1 under near symmetry",
    kind="identity",
    uses=["App.E.5", "E.4"],
    expect="fails",
    origin="text",
    where="Section 5.2, display at T1",
    parts=("display",),
    hypotheses=(*STAGE_TWO, NEARLY_SYMMETRIC),
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1|_{T_1}\approx\tfrac13g\,4(v_1^\top W_Q^\top W_Qv_1)(\tfrac23w_+^\top c_1)"
    r"+\tfrac13g\,4(c_1^\top W_K^\top W_Kc_1)(\tfrac23w_+^\top c_1)",
    reading="at uniform attention and under the near symmetry that the text assumes for a moment, within a percent; at T1 itself it has not set in",
)
def display(lab: Laboratory) -> dict[str, Verdict]:
    """The factor of the display where the symmetry is exact: found at a point, then proved as an identity."""
    found = factors(lab)
    wanted = {"over derived, under exact near symmetry": 4, "over App.E.5, under exact near symmetry": 1}
    g = equal({"g": (slope_at_start(lab), graph.num(Fraction(1, 2)))})
    right = combine_verdicts(
        {**{key: factor_is(found[key], number, key) for key, number in wanted.items()}, "g = 1/2": g}
    )
    printed = factor_is(found["over derived, under exact near symmetry"], 1, "display over derivative")
    sides = derived_rate(lab), printed_display(slope_at_start(lab))
    exact = {sym(f"{kind}_other"): -sym(f"{kind}_same") for kind in SELF_SCORES}
    printed = printed.stating({"four times the derivative": (sides[1], "=", 4 * sides[0])}, at=exact).stating(
        {"the derivative is positive": (0, "<", sides[0])},
        positive=("n_c",),
        at={sym(k): v for k, v in OPPOSITE.items()},
    )
    return {
        "display": too_large(
            printed, "the derivative where the self-scores are omega^2 and -omega^2", *sides, at=OPPOSITE
        )
        .adding(factors={key: str(value) for key, value in found.items()})
        .correcting(r"\tfrac14\ \text{of the display}", right, QUARTER)
        .blaming("constant", "missing-quarter"),
    }
