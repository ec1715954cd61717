"""Section 5.2: the near symmetry at T1 and the display drawn from it, against the derived derivative."""

from __future__ import annotations

from fractions import Fraction

from odesys import (
    HOLDS,
    ZERO,
    Evidence,
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
from .part_e_stage_two import QUARTER, START, printed_rates, too_large

SELF_SCORES = ("A_cc", "B_vv")  # the pairs that the display is about
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


def near_symmetry_at_start(lab: Laboratory) -> Verdict:
    """Each sum same + other is 0 or omega^2 at T1, so at most omega, as Lemma E.4 has it (below omega for omega < 1)."""
    reduced = lab.reduced("stage1")
    kinds = ("M_cv", *SELF_SCORES)
    names = [f"{kind}_{group}" for kind in kinds for group in ("same", "other")]
    if set(reduced.system.moving) & set(names):
        return undecided("scores or self-scores move in stage 1, so their values at T1 are not the start values")
    start = dict(
        zip(reduced.system.names, reduced.initial_state(0.5), strict=True)
    )  # a half squared is exact in binary
    wanted = {"M_cv": 0.0, "A_cc": 0.25, "B_vv": 0.25}
    found = {kind: float(start[f"{kind}_same"] + start[f"{kind}_other"]) for kind in kinds}
    return (
        decided(found == wanted, {"sums at omega = 1/2": str(found)}, Evidence.CERTIFICATE, **found)
        .proving("the sums are 0, omega^2 and omega^2 at T1 (Lemma C.1), and omega^2 < omega")
        .at({**START, "omega": 0.5})
    )


def factor_is(found: Fraction | None, wanted: int, what: str) -> Verdict:
    """A quotient that was found and proved is the wanted number."""
    if found is None:
        return undecided(f"{what}: the two sides are no multiples of each other", Evidence.PROOF)
    return decided(found == wanted, {what: str(found)})


@book.claim(
    "Sec.5.2-display",
    "Near symmetry and the display at T1",
    kind="identity",
    uses=["App.E.5", "E.4"],
    expect="fails",
    origin="text",
    where="Section 5.2, near symmetry and the display at T1",
    parts=("near symmetry", "display"),
    hypotheses=STAGE_TWO,
    statement=r"c_1^\top W_K^\top W_Qv_1\approx-c_1^\top W_K^\top W_Qv_2,\ c_1^\top W_K^\top W_Kc_1\approx-c_1^\top W_K^\top W_Kc_2,\ v_1^\top W_Q^\top W_Qv_1\approx"
    r"-v_1^\top W_Q^\top W_Qv_2;\quad\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1|_{T_1}\approx\tfrac13g\,4(v_1^\top W_Q^\top W_Qv_1)(\tfrac23w_+^\top c_1)"
    r"+\tfrac13g\,4(c_1^\top W_K^\top W_Kc_1)(\tfrac23w_+^\top c_1)",
    reading="near symmetry at T1 as Lemma E.4 makes it rigorous, sums of at most O(omega); the display up to a relative error that vanishes",
)
def display(lab: Laboratory) -> dict[str, Verdict]:
    """Start values, and the factor of the display: found at a point, then proved as an identity in n_c and omega."""
    found = factors(lab)
    shown = {key: str(value) for key, value in found.items()}
    wanted = {
        "over derived, at T1": 8,
        "over derived, under exact near symmetry": 4,
        "over App.E.5, at T1": 2,
        "over App.E.5, under exact near symmetry": 1,
    }
    g = equal({"g": (slope_at_start(lab), graph.num(Fraction(1, 2)))})
    right = combine_verdicts(
        {**{key: factor_is(found[key], number, key) for key, number in wanted.items()}, "g = 1/2": g}
    )
    printed = factor_is(found["over derived, under exact near symmetry"], 1, "display over derivative")
    return {
        "near symmetry": near_symmetry_at_start(lab),
        "display": too_large(
            printed, "the derivative", at_start(derived_rate(lab)), at_start(printed_display(slope_at_start(lab)))
        )
        .adding(factors=shown)
        .correcting(
            r"\tfrac14\ \text{of the display where the near symmetry is exact},\ \tfrac18\ \text{of it at}\ T_1",
            right,
            f"{QUARTER}; another factor 2 at T1 itself, where the near symmetry has not set in, is the approximation of the text",
        )
        .blaming("constant", "missing-quarter"),
    }
