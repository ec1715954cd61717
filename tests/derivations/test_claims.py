"""The two-mixture claim book: the expected verdict of each claim in one table, and broken systems that are noticed."""

from __future__ import annotations

import json

import pytest

from derivations.two_mixture.claims import book
from derivations.two_mixture.laboratory import MUTATIONS
from odesys.verification import errata_latex, errata_markdown, mutation_runs, mutation_summary, verify

P, C, M = "proof", "certificate", "measurement"
EXPECTED = {
    "Def.2.1": ("holds", C), "Eq.1": ("holds", P), "Eq.2": ("holds", P), "Cond.1": ("holds", M),
    "Def.5.1": ("holds", C),
    "D.1": ("holds", P), "D.2": ("holds", P), "5.2": ("holds", P), "D.3": ("holds", P), "D.4": ("holds", P),
    "D.5": ("holds", P), "5.3": ("holds", P), "D.6": ("holds", C), "D.7": ("holds", P), "D.8": ("holds", P),
    "5.4": ("holds", P), "Beyond.T_half": ("holds", P), "6.1": ("fails", P), "B.1": ("fails", M), "B.2": ("holds", P),
    "Sec.5.2-system": ("holds", P), "C.1": ("holds", C), "C.2": ("holds", P), "C.4": ("holds", P), "C.3": ("holds", P),
    "C.5": ("holds", P), "Beyond.sizes": ("holds", C), "App.E.5": ("fails", C), "E.1-display": ("fails", C),
    "App.E.6": ("holds", P), "E.3": ("fails", C), "E.5-proof": ("holds", P), "Beyond.manifold": ("holds", P),
    "G.1": ("holds", M), "H.1": ("fails", P), "H.2": ("holds", M),
    "E.1(11)": ("holds", M), "E.1(12)": ("holds", M), "E.1(13)": ("holds", M), "E.1(14)": ("holds", M),
    "E.2/region": ("holds", C), "E.2": ("holds", M), "5.5": ("holds", M), "E.3/order": ("holds", M),
    "E.4": ("holds", M), "E.5": ("fails", M), "Sec.5.2-end": ("holds", M), "E.6": ("holds", M), "E.7": ("holds", M),
    "F-text": ("holds", M), "F.1": ("holds", M), "F.2": ("holds", M), "F.3": ("holds", M), "Thm.4.1-text": ("holds", M),
    "Sec.5.2-display": ("fails", P), "Thm.4.1": ("holds", M), "5.4-text": ("holds", M), "Obs.1": ("holds", M),
    "App.E.7": ("holds", P),
    "E.3/trajectory": ("holds", M), "E.4(15)": ("holds", P), "E.4/exact": ("holds", P),
}
MISPRINTS = {"6.1", "App.E.5", "B.1", "E.1-display", "E.3", "E.5", "H.1", "Sec.5.2-display"}


@pytest.fixture(scope="module")
def outcomes():
    return verify(book, book.select(level="quick"), lambda step, done: None)


def test_table_of_verdicts(outcomes) -> None:
    found = {o.claim.id: (o.verdict.as_stated, str(o.verdict.evidence)) for o in outcomes}
    assert found == EXPECTED


def test_what_fails_as_printed_has_a_correction_that_holds(outcomes) -> None:
    for outcome in outcomes:
        if outcome.verdict.as_stated == "fails":
            assert outcome.verdict.corrected is not None and outcome.verdict.corrected.as_stated == "holds"
            assert outcome.claim.expect == "fails"


@pytest.mark.slow
def test_exact_claims_notice_broken_systems(outcomes) -> None:
    measured = ("trajectories", "three", "observations", "comparison", "neurons")
    exact = [o for o in outcomes if not o.claim.check.__module__.endswith(measured)]
    summary = mutation_summary(mutation_runs(book, exact, MUTATIONS, lambda step, done: None))
    noticing = {o.claim.id for o in exact} - set(summary["survivors"])
    wanted = {"Def.2.1", "Eq.1", "5.4", "6.1", "B.2", "Sec.5.2-system", "C.2", "C.4", "D.1", "D.3", "D.4", "D.5", "D.7",
              "Beyond.T_half", "App.E.5", "E.1-display", "App.E.6", "Sec.5.2-display", "E.4(15)", "E.4"}
    assert wanted <= noticing
    # a survivor is a statement apart from the system, or one the symmetric mutations do not touch
    assert {k for k in summary["survivors"] if not book[k].apart} <= {
        "Eq.2", "5.2", "5.3", "D.2", "D.6", "D.8", "B.1", "C.3", "C.5", "Beyond.sizes", "Beyond.manifold",
        "E.4/exact"}


def test_verdicts_do_not_depend_on_the_order(outcomes) -> None:
    again = verify(book, [book[i] for i in ("E.3", "D.8", "C.2", "Eq.2")], lambda step, done: None)
    first = {o.claim.id: o.as_json() for o in outcomes}
    for outcome in again:
        assert outcome.as_json() | {"seconds": 0} == first[outcome.claim.id] | {"seconds": 0}


def test_errata_are_generated(outcomes) -> None:
    text = errata_markdown(outcomes)
    for claim in MISPRINTS:
        assert f"## {claim}:" in text
    assert text.count("\n## ") == len(MISPRINTS) == errata_latex(outcomes).count(r"\item[")


def test_results_are_json_and_the_proof_graph_has_no_loop(outcomes) -> None:
    json.dumps([o.as_json() for o in outcomes], allow_nan=False)
    graph = book.proof_graph()
    assert set(graph) == {c.id for c in book} >= set(EXPECTED) and ("C.2", "C.3") in graph.edges


def test_numbers_behind_the_constants(outcomes) -> None:
    found = {o.claim.id: o.verdict for o in outcomes}
    assert found["E.1(11)"].constants["largest"] == pytest.approx(0.5, abs=1e-3)
    assert found["E.2/region"].details["rate over kappa"] == pytest.approx(0.997, abs=0.006), "sheet: .997 kappa"
    limits = [found["F.3"].constants[f"limit at x*={x}"] for x in (1, 2, 3)]
    assert limits == pytest.approx([5.470, 2.0147, 1.4869], abs=1e-3)
    assert "1.0090 at omega = 0.1" in found["E.4"].sharpened


@pytest.mark.slow
def test_claims_of_the_full_level() -> None:
    assert book.run(book["G-text"]).as_expected
    for claim in ("E.5/enclosed", "E.1(11)/enclosed", "T2/enclosed"):
        verdict = book.run(book[claim]).verdict
        assert (verdict.as_stated, str(verdict.evidence)) == ("holds", C), claim
