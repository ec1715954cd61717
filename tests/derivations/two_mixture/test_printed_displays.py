"""Displays of the paper's algebra as printed: which parts fail, by what fault, and that checks can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from derivations.two_mixture.claims import book
from derivations.two_mixture.claims.book import CONFLICTING, FLOATS, SIGNS, matrix_form, written_force
from derivations.two_mixture.claims.part_5_2_display import NEARLY_SYMMETRIC, OPPOSITE
from derivations.two_mixture.claims.part_6_construction import _two_terms, tends_to_one
from derivations.two_mixture.claims.part_b_c_symmetry import (
    _symmetric_state,
    group_equalities,
    head_equalities,
    printed_neuron,
)
from derivations.two_mixture.claims.part_e_stage_two import quarter, solves_process, uniform_rates
from derivations.two_mixture.claims.part_g_h_probability import COIN, LEVELS, RARE, _covers, _tail_above_the_last_bound
from derivations.two_mixture.laboratory import Laboratory
from derivations.two_mixture.special.construction import queries
from odesys import entry_pairs, equal, graph
from odesys.papers import rule
from odesys.papers.rule import admit_outcome

MODULES = (
    "part_2_setting",
    "part_b_c_symmetry",
    "part_5_2_display",
    "part_6_construction",
    "part_g_h_probability",
    "part_e_stage_two",
    "part_e_expanded",
)
IDS = [claim.id for claim in book if claim.check.__module__.endswith(MODULES)]
QUARTER = ("constant", "missing-quarter")
FAILING = {  # part: fault and cause; all other parts hold
    "B.1(w_-)": {"": ("misprint", "attention-of-the-other-head")},
    "6.1": {"": ("proof", "construction-of-6.1")},
    "6.1-displays": {"query c_k": ("misprint", "second-term-of-6.1")},
    "App.E.5": {"scores": QUARTER},
    "E.1-display": {
        "scores of c_k for v_k and v_k'": QUARTER,
        "the factor m": ("misprint", "stray-m"),
        "its derivative": QUARTER,
    },
    "E.4-display": {"": QUARTER},
    "App.E.7": dict.fromkeys(("key self-scores", "query self-scores", "scores"), QUARTER),
    "Sec.5.2-display": {"display": QUARTER},
    "E.3": {"solution": ("proof", "stray-m")},
    "G.1-proof": {"": ("misprint", "stray-m")},
    "H.1": {"second bound": ("constant", "constants-of-the-minimum")},
    "H.2-proof": {"thus, from (4/m^2, 4/m)": ("constant", "sub-Gamma-parameters")},
}


@pytest.mark.parametrize("id", IDS)
def test_parts_faults_and_the_verdict_rule(id: str) -> None:
    outcome = book.run(book[id])
    assert list(rule._claim_problems(book[id])) == []
    admit_outcome(outcome, book.natural, book.symbols)
    parts = outcome.verdict.parts or {"": outcome.verdict}
    failing = {name: (v.fault, v.cause) for name, v in parts.items() if v.as_stated == "fails"}
    assert failing == FAILING.get(id, {})
    assert all(v.as_stated == "holds" for name, v in parts.items() if name not in failing)
    for name in failing:
        assert parts[name].corrected is not None and parts[name].corrected.as_stated == "holds"


def test_failing_steps_are_repaired() -> None:
    repaired = {id for claim in book for id in claim.repairs}
    faulty = {id for id, parts in FAILING.items() if any(fault != "misprint" for fault, _ in parts.values())}
    assert faulty <= repaired


def test_the_attention_of_the_other_head_gives_the_other_sign() -> None:
    lab = Laboratory()
    sides = [printed_neuron(lab, -1, "c1", attending) for attending in SIGNS]
    state = _symmetric_state(lab, Fraction(1))
    wrong, right = graph.evaluate(sides, state, FLOATS, float)
    rhs = lab.flow("simultaneous").system.equations[lab.neuron(-1, "c1").args[0]]
    (derived,) = graph.evaluate([rhs], state, FLOATS, float)
    assert right == pytest.approx(derived, rel=1e-12) and wrong == pytest.approx(-derived, rel=1e-12) and derived > 0.05


@pytest.mark.parametrize(
    ("weight", "answer"), [(Fraction(1, 4), "holds"), (Fraction(1, 2), "fails"), (Fraction(1), "fails")]
)
def test_only_the_average_over_four_samples_is_the_force(weight: Fraction, answer: str) -> None:
    lab = Laboratory()
    force = matrix_form(lab.flow("stage2"), lab.head_name(+1)).force
    assert equal(entry_pairs(force, written_force(lab, CONFLICTING, weight, +1), "G")).as_stated == answer


def test_the_quarter_is_not_there_in_a_broken_system() -> None:
    assert quarter(Laboratory()).as_stated == "holds"
    assert quarter(Laboratory("flip")).as_stated == quarter(Laboratory("own")).as_stated == "fails"


def test_the_process_has_one_rate() -> None:
    import sympy as sp

    b = sp.Symbol("b", positive=True)
    assert solves_process(b).as_stated == "holds" and solves_process(2 * b).as_stated == "fails"


def test_intervals_of_delta_are_covered_only_by_enough_room() -> None:
    assert _covers(16, Fraction(1, 8), Fraction(1, 4), columns=8)
    assert not _covers(10**3, Fraction(1, 80), Fraction(1, 4), columns=8), "the ends are too far apart"
    assert not _covers(10**3, Fraction(1, 8), Fraction(1, 4), columns=80), "too many entries"
    assert max(LEVELS) > 0.98 and min(LEVELS) < 1e-6


def test_the_tail_itself_is_above_the_last_bound_of_bernstein() -> None:
    from scipy.stats import binom

    tail, last = _tail_above_the_last_bound()
    assert float(tail) == pytest.approx(binom.sf(99, 10**5, 1 / 2000), rel=1e-9) and tail > 10 * last
    assert all(h.holds(point) for h in book["H.1"].hypotheses for point in (COIN, RARE))


def test_the_near_symmetry_of_section_5_2_is_not_there_at_the_start() -> None:
    assert NEARLY_SYMMETRIC.holds(OPPOSITE)
    start = {**OPPOSITE, "A_cc_other": 0, "B_vv_other": 0}
    assert not NEARLY_SYMMETRIC.holds(start), "self-scores of different words are zero at T1"


def test_only_the_other_head_gives_one() -> None:
    group = queries(1)["c_k"]
    assert tends_to_one(_two_terms(group, 1)).as_stated == "holds"
    assert tends_to_one(_two_terms(group, 0)).as_stated != "holds"


def test_the_displays_of_stage_two_are_for_every_slope() -> None:
    from odesys import sym

    g, lab = sym("g"), Laboratory()
    free, fixed = uniform_rates(lab, g)["M_cv_same"], uniform_rates(lab)["M_cv_same"]
    assert "g" in graph.symbols([free]) and "g" not in graph.symbols([fixed])
    assert equal({"g = 1/2": (graph.substitute([free], {g: graph.num(1) / 2})[0], fixed)}).as_stated == "holds"


def test_the_printed_symmetries_have_these_indices_and_signs() -> None:
    lab = Laboratory()
    for rows in (group_equalities(lab, +1), group_equalities(lab, -1), head_equalities(lab)):
        assert all(equal(pairs).as_stated == "holds" for pairs in rows.values())
    groups, heads = group_equalities(lab, +1), head_equalities(lab)
    crossed = {"nu_1 mu_1 = nu_1 mu_2": (groups["(4)"]["c1 v1"][0], groups["(4)"]["c1 v2"][0])}
    flipped = {"without the sign of v": (heads["(8)"]["c1 v1"][0], -heads["(8)"]["c1 v1"][1])}
    assert equal(crossed).as_stated == equal(flipped).as_stated == "fails"


def test_no_growth_is_seen_at_a_state_of_two_matrices() -> None:
    outcome = book.run(book["E.2/region-none"])
    (point,) = outcome.verdict.points
    margins = [h.at(point) for h in book.natural(point.keys()) if "inner products" in h.name]
    assert margins and min(margins) > 0.8
    impossible = replace(outcome.verdict, points=({**point, "A_cc_same": Fraction(0)},))
    with pytest.raises(rule.RuleError, match="inner products"):
        admit_outcome(replace(outcome, verdict=impossible), book.natural, book.symbols)
