"""The claim book of the benign-overfitting paper: expected verdicts in one table, and broken systems noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import derivations.benign_overfitting as package
from derivations.benign_overfitting.claims import book
from derivations.benign_overfitting.laboratory import Laboratory
from derivations.benign_overfitting.setting import Case
from derivations.benign_overfitting.special.conditions import CONDITION_4_1, condition_point, satisfying
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
    "Def.5.2": ("holds", P),
    "Def.B.3": ("holds", P),
    "Eq.2": ("holds", P),
    "Eq.4": ("fails", C),
    "B.1": ("holds", P),
    "B.2": ("holds", P),
    "5.1/update": ("holds", P),
    "5.1": ("fails", M),
    "B.3": ("holds", P),
    "Sec.5.2-jacobian": ("holds", P),
    "Sec.5.2-signs": ("holds", P),
    "Beyond.I1-I3": ("holds", P),
    "Beyond.invariants": ("holds", P),
    "F.3-index": ("fails", C),
    "Cond.4.1": ("holds", M),
    "C.1": ("holds", C),
    "C.2": ("fails", M),
    "C.3": ("fails", M),
    "C.4": ("holds", M),
    "Beyond.start": ("holds", M),
    "D.1": ("holds", P),
    "D.2": ("holds", P),
    "D.3": ("holds", M),
    "E.1": ("holds", M),
    "D.6": ("holds", M),
    "E.4": ("holds", M),
    "D.5": ("holds", M),
    "5.2": ("holds", M),
    "E.3": ("holds", M),
    "F.3": ("holds", M),
    "F.4": ("fails", P),
    "Beyond.MF.stage1": ("holds", P),
    "Beyond.MF.lazy": ("holds", P),
    "Beyond.MF.stage3": ("holds", P),
    "Beyond.MF.stage2": ("holds", P),
    "Eq.31-37": ("holds", P),
    "5.3": ("holds", M),
    "Eq.38-N": ("fails", M),
    "Prop.J-M": ("holds", M),
    "5.4": ("holds", M),
    "Eq.73-76": ("holds", M),
    "Prop.F-I": ("holds", M),
    "Prop.N-Q": ("holds", M),
    "Eq.62-71": ("holds", M),
    "Eq.55-59": ("holds", M),
    "Eq.102-105": ("holds", M),
    "Eq.46-54": ("holds", M),
    "Thm.4.1": ("holds", M),
    "Thm.4.2": ("holds", M),
    "Thm.4.1-4.2-hypotheses": ("fails", M),
    "D.7": ("holds", M),
    "E.5": ("fails", M),
    "5.4-time": ("fails", M),
    "E.6": ("holds", M),
    "Eq.177": ("fails", M),
    "D.10": ("holds", M),
    "Beyond.boundary": ("holds", M),
    "D.4": ("holds", M),
    "E.2": ("holds", M),
    "Prop.B-E": ("holds", M),
    "F.4-signs": ("holds", M),
    "F.12": ("holds", M),
    "5.5": ("holds", M),
    "D.8": ("holds", M),
    "D.8-proof": ("fails", M),
    "D.9": ("holds", M),
    "Eq.139-141": ("holds", M),
    "Eq.116-130": ("holds", M),
    "Prop.D-width": ("fails", M),
    "Abstract-error": ("fails", M),
    "Sec.6-data": ("fails", C),
    "Beyond.widths": ("holds", M),
    "Eq.26": ("fails", C),
    "Eq.28": ("fails", P),
    "Eq.50": ("fails", C),
    "Eq.83": ("fails", M),
    "Eq.143": ("fails", M),
    "Eq.242": ("fails", C),
    "F.12-norm": ("fails", P),
    "E.1-intro": ("fails", M),
    "Eq.17-dimension": ("fails", P),
    "Eq.147": ("fails", P),
    "F.4-chain": ("fails", P),
    "Eq.158": ("fails", C),
    "Eq.62-T2": ("fails", P),
    "Eq.165-T2": ("fails", P),
    "App.A-parameters": ("fails", P),
}
LONG = {"Def.B.3", "B.3", "F.4", "B.1", "Def.5.2", "F.12-norm"}  # exact too, but they take seconds
SHORT = [id for id, (_, evidence) in EXPECTED.items() if evidence != M and id not in LONG]
SHORT += ["Def.3.1", "C.2", "Cond.4.1", "Eq.143"]
FULL = {"Beyond.boundary", "Beyond.widths", "Abstract-error"}


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
    check_outcomes(verify(book, measured, silent), EXPECTED, [c.id for c in measured])


@pytest.mark.nightly
@pytest.mark.parametrize("id", sorted(FULL))
def test_long_claims(id: str) -> None:
    check_outcomes([book.run(book[id])], EXPECTED, [id])


NOTICED = {  # one mutation that each of these must notice
    "Def.3.1": "repeat",
    "Def.5.1": "scale",
    "Eq.2": "weight",
    "Sec.6-data": "flip",
    "Eq.28": "values",
    "B.2": "values",
    "Sec.5.2-signs": "flip",
    "Beyond.invariants": "keys",
    "F.3-index": "pool",
    "D.1": "sign",
    "Eq.147": "noise",
    "Beyond.MF.stage1": "noise",
    "Beyond.MF.lazy": "values",
    "Beyond.MF.stage3": "pool",
    "Beyond.MF.stage2": "flip",
    "Eq.31-37": "scale",
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


def test_a_point_that_satisfies_all_conditions_is_out_of_reach() -> None:
    inside = satisfying()
    assert violated(CONDITION_4_1, condition_point(**inside)) == [] and inside["case"].d > 1e12
    assert [item.number for item in CONDITION_4_1] == [str(number) for number in range(1, 11)]


# ---- errata ----------------------------------------------------------------------------------------------------------

MISPRINTS = {  # every one is found by the claim of this name, and corrected there
    "Abstract-error",
    "Thm.4.1-4.2-hypotheses",
    "5.1",
    "5.4-time",
    "Sec.6-data",
    "App.A-parameters",
    "Eq.4",
    "C.2",
    "C.3",
    "Eq.17-dimension",
    "Eq.26",
    "Eq.28",
    "Prop.D-width",
    "Eq.38-N",
    "Eq.50",
    "Eq.62-T2",
    "Eq.83",
    "D.8-proof",
    "Eq.143",
    "E.1-intro",
    "Eq.147",
    "Eq.158",
    "Eq.165-T2",
    "E.5",
    "Eq.177",
    "F.3-index",
    "F.4",
    "F.4-chain",
    "Eq.242",
    "F.12-norm",
}


def test_every_misprint_is_found_by_a_claim_or_named_in_the_package() -> None:
    assert {id for id, (answer, _) in EXPECTED.items() if answer == "fails"} == MISPRINTS
    text = " ".join((package.__doc__ or "").split())
    for words in ("n for N in Lemma C.1", "F(T_1) for F(T_2)", "(68) cited twice", "1 - 1/d"):
        assert words in text, words
