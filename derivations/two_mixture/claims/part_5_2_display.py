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
from .part_e_stage_two import printed_rates

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
    """|same + other| <= same / 2 for both self-scores at T1, from the exact start values."""
    reduced = lab.reduced("stage1")
    names = [f"{kind}_{group}" for kind in SELF_SCORES for group in ("same", "other")]
    if set(reduced.system.moving) & set(names):
        return undecided("self-scores move in stage 1, so their values at T1 are not the start values")
    start = dict(
        zip(reduced.system.names, reduced.initial_state(0.5), strict=True)
    )  # one half squared is exact in binary
    witness = {"omega": "1/2", **{n: float(start[n]) for n in names}}
    near = all(abs(start[f"{k}_same"] + start[f"{k}_other"]) <= start[f"{k}_same"] / 2 for k in SELF_SCORES)
    return decided(near, witness, **witness)


def factor_is(found: Fraction | None, wanted: int, what: str) -> Verdict:
    """A quotient that was found and proved is the wanted number."""
    if found is None:
        return undecided(f"{what}: the two sides are no multiples of each other", Evidence.PROOF)
    return decided(found == wanted, {what: str(found)})


@book.claim(
    "Sec.5.2-display",
    "Near symmetry and the display at T1",
    kind="identity",
    uses=["Def.5.1", "B.2", "D.8"],
    expect="fails",
    statement=r"A_{c_1c_1}\approx-A_{c_1c_2},\ B_{v_1v_1}\approx-B_{v_1v_2},\quad\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1|_{T_1}\approx"
    r"\tfrac13g\,4\,B_{v_1v_1}\tfrac23n_c+\tfrac13g\,4\,A_{c_1c_1}\tfrac23n_c",
    reading="(a) |same + other| <= same / 2 at T1 for both self-scores, which do not move in stage 1; (b) the display equals the derived "
    "derivative at T1, a factor of 1, with g as derived at uniform attention. The factor is found and proved as an identity "
    "in n_c and omega; so is that against the derivative of appendix E.5, and both where the near symmetry is exact",
)
def display(lab: Laboratory) -> Verdict:
    """Start values and the factor of the display."""
    found = factors(lab)
    printed = combine_verdicts(
        {
            "a": near_symmetry_at_start(lab),
            "b": factor_is(found["over derived, at T1"], 1, "display over derived derivative at T1"),
        }
    )
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
    return printed.adding(factors={key: str(value) for key, value in found.items()}).correcting(
        r"\tfrac18\ \text{of the display at}\ T_1,\ \tfrac14\ \text{of it where the near symmetry is exact}",
        right,
        "at T1 the diagonal self-scores are omega^2 and the others 0, so that the near symmetry counts them twice (a factor 2 against appendix "
        "E.5); appendix E.5 and the display also sum over four samples instead of averaging (a factor 4)",
    )
