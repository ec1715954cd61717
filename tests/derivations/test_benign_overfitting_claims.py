"""The claim book of the benign-overfitting paper: expected verdicts in one table, and broken systems noticed."""

from __future__ import annotations

import pytest

from derivations.benign_overfitting.claims import book
from derivations.benign_overfitting.conditions import condition_4_1, satisfying, violated
from derivations.benign_overfitting.laboratory import MUTATIONS, Laboratory
from derivations.benign_overfitting.setting import Case
from odesys.mutation import mutation_runs
from odesys.paper import silent
from odesys.verification import verify

P, C, M = "proof", "certificate", "measurement"
EXPECTED = {
    "Def.3.1": ("holds", M), "Def.5.1": ("holds", P), "Def.5.2": ("holds", P), "Def.B.3": ("holds", P),
    "Eq.2": ("holds", P), "Eq.4": ("fails", C), "B.1": ("holds", P), "B.2": ("holds", P), "5.1/update": ("holds", P),
    "5.1": ("fails", M), "B.3": ("holds", P), "Sec.5.2-jacobian": ("holds", P), "Sec.5.2-signs": ("holds", P),
    "Beyond.I1-I3": ("holds", P), "Beyond.invariants": ("holds", P), "F.3-index": ("fails", C),
    "Cond.4.1": ("holds", M), "Thm.4.1-4.2-hypotheses": ("fails", P),
    "C.1": ("holds", C), "C.2": ("fails", M), "C.3": ("fails", M), "C.4": ("holds", M), "Beyond.start": ("holds", M),
    "D.1": ("holds", P), "D.2": ("holds", P), "D.3": ("holds", M), "E.1": ("holds", M), "D.6": ("holds", M),
    "E.4": ("holds", M), "Eq.17-dimension": ("fails", P), "D.5": ("holds", M), "5.2": ("holds", M), "E.3": ("holds", M),
    "Eq.147": ("fails", P), "F.3": ("holds", M), "F.4": ("fails", P), "F.4-chain": ("fails", P), "Eq.158": ("fails", C),
    "Eq.62-T2": ("fails", P),
    "Beyond.MF.stage1": ("holds", P), "Beyond.MF.lazy": ("holds", P), "Beyond.MF.stage3": ("holds", P),
    "Beyond.MF.stage2": ("holds", P), "Eq.31-37": ("holds", P), "Thm.4.1": ("holds", M), "Thm.4.2": ("holds", M),
    "D.7": ("holds", M), "E.5": ("fails", M), "5.4-time": ("fails", M), "E.6": ("holds", M), "Eq.177": ("fails", M),
    "5.3": ("holds", M), "Prop.J-M": ("holds", M), "5.4": ("holds", M), "Eq.73-76": ("holds", M),
    "Prop.F-I": ("holds", M), "Prop.N-Q": ("holds", M), "Eq.62-71": ("holds", M), "Eq.55-59": ("holds", M),
    "Eq.102-105": ("holds", M), "Eq.46-54": ("holds", M), "Beyond.boundary": ("holds", M), "D.10": ("holds", M),
    "App.A-parameters": ("fails", P),
    "D.4": ("holds", M), "E.2": ("holds", M), "Prop.B-E": ("holds", M), "F.4-signs": ("holds", M), "F.12": ("holds", M),
    "5.5": ("holds", M), "D.8": ("holds", M), "D.9": ("holds", M), "Eq.139-141": ("holds", M),
    "Eq.116-130": ("holds", M), "Abstract-error": ("fails", M), "Sec.6-data": ("fails", C),
    "Beyond.widths": ("holds", M),
}
LONG = {"Def.B.3", "B.3", "F.4", "B.1"}  # exact too, but they take seconds
SHORT = [id for id, (_, evidence) in EXPECTED.items() if evidence != M and id not in LONG]
SHORT += ["Def.3.1", "5.1", "C.2", "Cond.4.1"]


def table(outcomes) -> dict[str, tuple[str, str]]:
    return {o.claim.id: (o.verdict.as_stated, str(o.verdict.evidence)) for o in outcomes}


def check_corrections(outcomes) -> None:
    for outcome in outcomes:
        fixed = outcome.verdict.corrected
        if outcome.verdict.as_stated == "fails":
            assert fixed is not None and fixed.as_stated == "holds", outcome.claim
            assert outcome.claim.expect == "fails"


@pytest.fixture(scope="module")
def exact():
    return verify(book, book.select(SHORT), silent)


def test_table_of_exact_verdicts(exact) -> None:
    assert table(exact) == {id: EXPECTED[id] for id in SHORT}
    check_corrections(exact)


def test_the_table_lists_every_claim_and_the_proofs_have_no_circle() -> None:
    assert [claim.id for claim in book] == list(dict.fromkeys(EXPECTED)) and len(book.proof_graph()) == len(EXPECTED)
    wrong = {id for id, (answer, _) in EXPECTED.items() if answer == "fails"}
    assert {c.id for c in book if c.expect == "fails"} == wrong


@pytest.mark.nightly
def test_table_of_measured_verdicts() -> None:
    outcomes = verify(book, [c for c in book.select(level="quick") if c.id not in SHORT], silent)
    assert table(outcomes) == {o.claim.id: EXPECTED[o.claim.id] for o in outcomes}
    check_corrections(outcomes)


@pytest.mark.nightly
@pytest.mark.parametrize("id", ["Beyond.boundary", "Beyond.widths", "Abstract-error"])
def test_long_claims(id: str) -> None:
    outcome = book.run(book[id])
    assert table([outcome]) == {id: EXPECTED[id]}


NOTICED = {  # one mutation that each of these must notice
    "Def.3.1": "repeat", "Def.5.1": "scale", "Def.5.2": "pool", "Eq.2": "weight",
    "B.2": "values", "Sec.5.2-signs": "flip", "Beyond.invariants": "keys",
    "F.3-index": "pool", "D.1": "sign", "Eq.147": "noise", "Beyond.MF.stage1": "noise",
    "Beyond.MF.lazy": "values", "Beyond.MF.stage3": "pool", "Beyond.MF.stage2": "flip", "Eq.31-37": "scale",
}


def test_each_of_these_notices_what_is_broken(exact) -> None:
    for outcome in exact:
        if outcome.claim.id in NOTICED:
            (mutant,) = mutation_runs("benign_overfitting", book, [outcome], [NOTICED[outcome.claim.id]], silent)
            assert mutant.state == "killed", mutant


def test_a_laboratory_says_what_its_mutation_changes() -> None:
    assert {m for m in MUTATIONS if Laboratory(m).changes("data 2 3")} == {"repeat", "weight"}
    assert not Laboratory("start").changes("flow 2 general") and Laboratory("start").changes("start")
    assert Laboratory("keys").changes("step 2 general") and Laboratory("noise").changes("mean 3")


# ---- Condition 4.1 ---------------------------------------------------------------------------------------------------


def test_condition_says_which_inequality_fails_and_by_how_much() -> None:
    figure = Case(20, 16, 1024, 512, 30.0, 0.04 * 1024, 20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024))
    sentences = violated(figure, eta=0.1, eps=0.01, delta=1e-3)
    assert any(s.startswith("(2) d >= N^2 d_h / eps^2: violated by a factor 2e+06") for s in sentences)
    assert not any(s.startswith("(10)") for s in sentences)


def test_a_point_that_satisfies_all_conditions_is_out_of_reach() -> None:
    inside = satisfying()
    assert violated(**inside) == [] and inside["case"].d > 1e12
    numbers = [item.number for item in condition_4_1(**inside)]
    assert numbers == list(range(1, 11))
