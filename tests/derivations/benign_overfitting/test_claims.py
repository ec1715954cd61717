"""The claim book of the benign-overfitting paper: expected verdicts in one table, and broken systems noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest

import derivations.benign_overfitting as package
from derivations.benign_overfitting.claims import book, part_magnitude
from derivations.benign_overfitting.claims.common_drawn import implied
from derivations.benign_overfitting.claims.common_hypotheses import BAD, BENIGN, GOOD, HARMFUL, STRICT, exact_point
from derivations.benign_overfitting.claims.common_reasons import REASONS_TO_MEASURE
from derivations.benign_overfitting.claims.part_b_products import LEMMA_B_3, REST, compared
from derivations.benign_overfitting.claims.part_f_coefficients import corners
from derivations.benign_overfitting.laboratory import Laboratory
from derivations.benign_overfitting.setting import Case
from derivations.benign_overfitting.special.conditions import CONDITION_4_1, case_of, condition_point
from odesys.exact.evidence import equal
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.papers.hypotheses import violated
from odesys.papers.laboratory import Part
from odesys.papers.mutation_runs import mutation_runs
from odesys.papers.verification import verify
from odesys.terminal import silent
from tests.claim_tables import check_book, check_outcomes

P, C, M = "proof", "certificate", "measurement"
EXPECTED = {
    "Def.3.1": ("holds", M),
    "Def.5.1": ("holds", P),
    "Def.5.2": ("holds", C),
    "Def.B.3": ("holds", C),
    "Eq.2": ("holds", C),
    "Eq.4": ("fails", C),
    "Eq.5": ("holds", C),
    "B.1": ("holds", C),
    "B.2": ("holds", C),
    "5.1/update": ("holds", C),
    "Sec.5.2-jacobian": ("holds", C),
    "Sec.5.2-signs": ("holds", C),
    "Beyond.I1-I3": ("holds", P),
    "Beyond.invariants": ("holds", P),
    "F.3-index": ("fails", C),
    "F.4-index": ("fails", C),
    "Cond.4.1": ("holds", M),
    "B.3": ("holds", C),
    "Eq.198-214": ("fails", P),
    "C.1": ("holds", P),
    "C.2": ("holds", P),
    "C.2-proof": ("fails", P),
    "C.4": ("holds", P),
    "C.3": ("holds", P),
    "Beyond.start": ("holds", M),
    "D.1": ("holds", C),
    "D.2": ("holds", P),
    "Eq.17-dimension": ("holds", P),
    "D.3": ("holds", C),
    "E.1": ("holds", C),
    "Eq.143": ("holds", C),
    "D.6": ("holds", C),
    "E.4": ("holds", C),
    "D.5": ("holds", C),
    "5.2": ("holds", C),
    "E.3": ("holds", C),
    "Eq.147": ("holds", C),
    "Eq.28": ("fails", P),
    "E.1-intro": ("fails", C),
    "Beyond.stage-one": ("holds", M),
    "5.1": ("holds", M),
    "F.3": ("holds", C),
    "F.4": ("fails", C),
    "F.4-chain": ("fails", P),
    "F.4-signs": ("holds", M),
    "Eq.31-37": ("holds", C),
    "Eq.38-N": ("holds", C),
    "Eq.46-54": ("holds", C),
    "Eq.242": ("fails", C),
    "F.12": ("holds", M),
    "Eq.297": ("holds", C),
    "F.12-norm": ("fails", P),
    "D.4": ("holds", C),
    "E.2": ("holds", C),
    "Beyond.MF.stage1": ("holds", P),
    "Beyond.MF.lazy": ("holds", P),
    "Beyond.MF.stage3": ("holds", P),
    "Beyond.unbalanced": ("holds", P),
    "Beyond.MF.stage2": ("holds", P),
    "Eq.62-71": ("holds", M),
    "Beyond.MF.sums": ("holds", M),
    "Eq.102-105": ("holds", M),
    "Beyond.MF.keys": ("holds", M),
    "5.3": ("holds", M),
    "Prop.B-E": ("holds", M),
    "Prop.J-M": ("holds", M),
    "5.4": ("holds", M),
    "Prop.F-I": ("holds", M),
    "Prop.N-Q": ("holds", M),
    "Beyond.states": ("holds", M),
    "Eq.73-76": ("holds", P),
    "Eq.77-85": ("holds", C),
    "Eq.81-step": ("fails", P),
    "Eq.26": ("fails", P),
    "Eq.50": ("holds", P),
    "Eq.62-T2": ("holds", P),
    "Eq.165-T2": ("holds", P),
    "Eq.83": ("holds", C),
    "D.3-start": ("fails", P),
    "Eq.158": ("fails", P),
    "Eq.93-101": ("holds", C),
    "Eq.112-115": ("holds", P),
    "Eq.152-157": ("holds", C),
    "Eq.159-164": ("holds", P),
    "Eq.250": ("holds", C),
    "Eq.251-252": ("holds", P),
    "Eq.116-130": ("holds", P),
    "Eq.55-59": ("holds", C),
    "D.9": ("holds", C),
    "D.8": ("holds", P),
    "D.8-proof": ("fails", M),
    "D.8-norm": ("fails", P),
    "5.5": ("holds", P),
    "Eq.139-141": ("holds", P),
    "D.10": ("holds", P),
    "E.6": ("holds", C),
    "Eq.177": ("fails", C),
    "D.7": ("holds", M),
    "E.5": ("fails", C),
    "E.5-time": ("holds", M),
    "5.4-time": ("fails", P),
    "Thm.4.1": ("holds", M),
    "Thm.4.2": ("holds", M),
    "Thm.4.1-4.2-hypotheses": ("holds", P),
    "Sec.6-data": ("holds", C),
    "App.A-parameters": ("holds", P),
    "Beyond.drawn": ("holds", M),
    "Beyond.boundary": ("holds", M),
}
LONG = {  # exact too, but they take seconds
    *("Def.B.3", "Def.5.2", "B.3", "F.4", "E.3", "D.5", "5.2", "D.6", "E.1", "E.4", "Eq.28", "E.1-intro", "Eq.139-141"),
    *("Eq.83", "Eq.143", "F.12-norm", "D.3-start", "D.4", "E.2", "D.9", "E.6", "Eq.297", "Eq.77-85"),
    *("Eq.38-N", "Eq.93-101", "Eq.152-157", "Eq.250", "Eq.177", "E.5"),
}
SHORT = [id for id, (_, evidence) in EXPECTED.items() if evidence != M and id not in LONG]
SHORT += ["Def.3.1", "Cond.4.1"]
FULL = {"Beyond.boundary"}


@pytest.fixture(scope="module")
def exact():
    return verify(book, book.select(SHORT), silent)


def test_table_of_exact_verdicts(exact) -> None:
    check_outcomes(exact, EXPECTED, SHORT)


def test_the_table_lists_every_claim_and_the_proofs_have_no_circle() -> None:
    check_book(book, EXPECTED, FULL)


@pytest.mark.nightly
def test_table_of_measured_verdicts() -> None:
    measured = [c for c in book.select(level="quick") if c.id not in SHORT]
    found = verify(book, measured, silent)
    check_outcomes(found, EXPECTED, [c.id for c in measured])
    for outcome in found:
        if outcome.claim.origin in ("statement", "proof") and EXPECTED[outcome.claim.id][1] == M:
            parts = outcome.verdict.parts.values() or [outcome.verdict]
            assert any("why_measured" in part.details for part in parts), f"{outcome.claim.id} does not say why"


@pytest.mark.nightly
@pytest.mark.parametrize("id", sorted(FULL))
def test_long_claims(id: str) -> None:
    check_outcomes([book.run(book[id])], EXPECTED, [id])


NOTICED = {  # one mutation that each of these must notice
    "Def.3.1": "repeat",
    "Def.5.1": "scale",
    "Eq.2": "weight",
    "Sec.6-data": "flip",
    "B.2": "values",
    "Sec.5.2-signs": "flip",
    "Beyond.invariants": "keys",
    "F.3-index": "pool",
    "D.1": "sign",
    "D.3": "values",
    "Eq.147": "noise",
    "F.3": "pool",
    "Beyond.MF.stage1": "noise",
    "Beyond.MF.lazy": "values",
    "Beyond.MF.stage3": "pool",
    "Beyond.MF.stage2": "flip",
    "Beyond.unbalanced": "values",
    "Eq.31-37": "scale",
    "Eq.46-54": "flip",
}


def test_each_of_these_notices_what_is_broken(exact) -> None:
    for outcome in exact:
        if outcome.claim.id in NOTICED:
            (mutant,) = mutation_runs("benign_overfitting", book, [outcome], [NOTICED[outcome.claim.id]], silent)
            assert mutant.state == "killed", mutant


def changing(method: Callable[..., Any], *arguments: Any) -> set[str]:
    """The mutations that change a part."""
    return {m for m in book.mutations if Laboratory(m).changes(Part(method, arguments))}


def test_a_laboratory_says_what_its_mutation_changes() -> None:
    assert changing(Laboratory.data, 2, 3) == {"repeat", "weight"} and changing(Laboratory.start) == {"start"}
    keys = {leaf: "keys" in changing(Laboratory.toy_rates, 2, "general", True, leaf) for leaf in ("KK", "KQ")}
    assert keys == {"KK": True, "KQ": False}
    outputs = changing(Laboratory.toy_outputs, 2, "general", False)
    assert not outputs & {"flip", "keys", "values", "noise", "start"} and {"sign", "scale"} <= outputs


def test_mutations_of_the_mean_field() -> None:
    frozen, moving = changing(Laboratory.mean_system, 3, True), changing(Laboratory.mean_rates, 3, False, "K")
    assert "keys" in moving and not frozen & {"keys", "start"}
    assert "weight" in frozen, "what can not be derived counts as changed"
    assert "noise" in changing(Laboratory.mean_rates, 3, True, "v")
    assert "noise" not in changing(Laboratory.mean_rates, 3, True, "S")


def test_what_a_check_reads_is_noted() -> None:
    lab = Laboratory()
    lab.flow(2).rhs("KQ")
    lab.mean_field(3).rhs("v_s", "S_ss")
    toy, mean = Part(Laboratory.toy_rates, (2, "general", False, "KQ")), Laboratory.mean_rates
    assert lab.reads == {toy, Part(mean, (3, True, "v")), Part(mean, (3, True, "S"))}


# ---- reasons why claims are unaffected, computed --------------------------------------------------------------------


def test_a_minus_in_front_of_the_output_turns_the_values() -> None:
    """The system with the mutation is the paper's in the variables -v, so losses, margins and times are the same."""
    paper, turned = (Laboratory(m).mean_field(3).system for m in ("", "sign"))
    names = [n for n in paper.names if n[0] == "v"]
    back = {sym(n): -sym(n) for n in names}
    nodes = graph.substitute([*turned.nodes, turned.observables["f"], turned.observables["test_margin"]], back)
    sides = [-a if n in names else a for n, a in zip(turned.names, nodes, strict=False)] + nodes[len(turned.names) :]
    right = [*paper.nodes, paper.observables["f"], paper.observables["test_margin"]]
    assert equal({str(k): pair for k, pair in enumerate(zip(sides, right, strict=True))}).as_stated == "holds"


def test_values_twice_as_fast_are_a_longer_output_vector() -> None:
    paper, fast = (Laboratory(m).mean_field(3).system for m in ("", "values"))
    longer = graph.substitute(list(paper.nodes), {sym("w2"): 2 * sym("w2")})
    assert equal({n: (a, b) for n, a, b in zip(paper.names, fast.nodes, longer, strict=True)}).as_stated == "holds"


def test_summed_rows_are_a_longer_output_vector_and_a_shorter_loss_scale() -> None:
    """Values and scores move M times as fast at the same output, so scores as functions of values stay."""
    paper, summed = (Laboratory(m).mean_field(3).system for m in ("", "pool"))
    slope = [graph.call("sigmoid", -s.observables["f"]) for s in (paper, summed)]
    rows = zip(paper.names, paper.nodes, summed.nodes, strict=True)
    assert equal({n: (b / slope[1], 3 * a / slope[0]) for n, a, b in rows}).as_stated == "holds"


# ---- Condition 4.1 ---------------------------------------------------------------------------------------------------


def test_condition_says_which_inequality_fails_and_by_how_much() -> None:
    figure = Case(20, 16, 1024, 512, 30.0, 0.04 * 1024, 20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024))
    sentences = violated(CONDITION_4_1, condition_point(figure, eta=0.1, eps=0.01, delta=1e-3))
    assert any(s.startswith("(2) d >= N^2 d_h / eps^2: violated by a factor 2e+06") for s in sentences)
    assert not any(s.startswith("(10)") for s in sentences)


def test_points_inside_all_conditions_exist_but_no_network_is_so_wide() -> None:
    for inside in (GOOD, BAD):
        assert violated(CONDITION_4_1, inside.point) == [] and inside.case.d > 1e30
        assert case_of(inside.point).kappa == pytest.approx(inside.case.kappa)
    assert [item.number for item in CONDITION_4_1] == [str(number) for number in range(1, 11)]
    assert BENIGN.holds(GOOD.point) and HARMFUL.holds(BAD.point) and not BENIGN.holds(BAD.point)


def test_failures_are_shown_where_no_hidden_constant_helps() -> None:
    """(3) and (9) with the constant 1, and N >= 8 log(4/delta) for C.1; the exact points have no floats."""
    for benign, inside in ((True, GOOD), (False, BAD)):
        exact = exact_point(benign)
        assert all(isinstance(value, int | Fraction) for value in exact.values())
        for point in (exact, replace(inside, **STRICT).point, replace(inside, logs=0.0, N=1024, eps=0.005).point):
            assert violated(CONDITION_4_1, point) == [] and (BENIGN if benign else HARMFUL).holds(point)
            assert point["N"] >= 8 * log(4 / point["delta"]) and point["eps"] <= 1 / log(point["d"])


# ---- printed displays and bounds -------------------------------------------------------------------------------------


def test_a_wrong_index_in_any_display_is_noticed() -> None:
    """Each display of B.3 and (198)-(214), with one letter of one term changed."""
    for display in (*LEMMA_B_3.values(), *(d for number, d in REST.items() if number != "210")):
        assert compared(display).as_stated == "holds"
        head, first, *rest = display.replace(": ", ", ").split(", ")
        broken = f"{head}: " + ", ".join([first.translate(str.maketrans("+-", "-+")), *rest])
        assert compared(broken).as_stated == "fails", broken
    assert compared(REST["210"]).as_stated == "fails"


def test_vertices_of_the_coefficient_bounds() -> None:
    least = {M: min(c.slack("other", Fraction(0)) / c.signal for c in corners(range(M, M + 1))) for M in (3, 6, 7)}
    assert least == {M: Fraction(1, 3) + Fraction(1, M) for M in least}, "1/2 holds up to M = 6"


def test_sums_of_stage_one_are_small_in_their_own_regime_only(monkeypatch) -> None:
    right = part_magnitude.sums
    for benign in (True, False):
        found = (part_magnitude.entries_small(benign), part_magnitude.rows_small(benign))
        assert all(v.as_stated == "holds" for v in found)
        monkeypatch.setattr(part_magnitude, "sums", lambda regime: right(not regime))
        assert part_magnitude.entries_small(benign).as_stated == "fails"
        monkeypatch.setattr(part_magnitude, "sums", right)


def test_implications_ask_for_their_premises_only() -> None:
    yes, no = np.ones((3, 1), bool), np.array([[True], [False], [True]])
    assert implied([yes], yes).all() and not implied([yes], no).any() and implied([~yes], no).all()


# ---- errata ----------------------------------------------------------------------------------------------------------

FAULTS = {  # every failure, by fault; each is corrected where it is found
    "constant": {"C.2-proof", "F.4"},
    "proof": {"D.8-proof"},
    "misprint": {
        *("Eq.4", "F.3-index", "Eq.198-214", "Eq.28", "E.1-intro", "F.4-chain", "Eq.242", "F.12-norm", "Eq.26"),
        *("F.4-index", "Eq.81-step", "D.3-start", "Eq.158", "E.5", "5.4-time", "D.8-norm", "Eq.177"),
    },
}


def test_every_failure_is_listed_and_the_labels_are_named_in_the_package() -> None:
    assert {id for id, (answer, _) in EXPECTED.items() if answer == "fails"} == set().union(*FAULTS.values())
    assert book.rule
    text = " ".join((package.__doc__ or "").split())
    for words in ("n for N in Lemma C.1", "F(T_1) for F(T_2)", "(68) cited twice", "1 - 1/d"):
        assert words in text, words


def test_faults_of_the_exact_failures(exact) -> None:
    found = {o.claim.id: o.verdict.fault for o in exact if o.verdict.as_stated == "fails"}
    assert found and all(id in FAULTS[fault] for id, fault in found.items())


def test_sixty_percent_of_statements_and_proofs_are_exact() -> None:
    own = [c for c in book if c.scored and c.origin in ("statement", "proof") and not c.same_as]
    exact_ones = [c for c in own if EXPECTED[c.id][1] != M]
    given = {c.id for c in exact_ones if any(h.name == "given" for h in c.hypotheses or ())}
    assert len(given) <= 15, "proofs that take a measured proposition say so in their hypotheses"
    assert len(own) >= 84 and len(exact_ones) - len(given) >= 0.6 * len(own)
    measured = {c.id for c in own} - {c.id for c in exact_ones} - {"D.8-proof"}  # which says it in place
    assert measured == set(REASONS_TO_MEASURE), "each measured claim says what was tried"
    assert len(set(REASONS_TO_MEASURE.values())) > len(REASONS_TO_MEASURE) - 2
