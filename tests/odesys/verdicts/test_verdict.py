"""Verdicts: what they must carry, and how they combine."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from odesys.exact.evidence import identity
from odesys.expr.graph import sym
from odesys.files import json_text
from odesys.papers.claims import combine_verdicts
from odesys.sentences import say_value
from odesys.stated import Argued, Unstated, recorded
from odesys.verdicts import (
    Evidence,
    Proof,
    Regime,
    Seeds,
    Shortfall,
    Tolerance,
    Verdict,
    Witness,
    certified,
    measured,
    proved,
    refuted,
    undecided,
    untested,
)
from odesys.verdicts.verdict import without_statements


def test_a_failure_needs_a_witness_and_an_undecided_one_its_residual() -> None:
    with pytest.raises(ValueError, match="witness"):
        Verdict("fails", Evidence.PROOF)
    with pytest.raises(ValueError, match="residual"):
        Verdict("undecided", Evidence.PROOF)
    with pytest.raises(ValueError, match="holds, fails, is undecided or untested"):
        Verdict("true", Evidence.PROOF)


def test_no_truth_value() -> None:
    with pytest.raises(TypeError, match="as_stated"):
        bool(proved())


def test_a_witness_among_the_details_is_plain_data_in_json() -> None:
    seen = identity({"x": sym("x")})
    found = proved().adding(moves=seen.witness).as_json()["details"]["moves"]
    assert set(found) == {"sentence", "point"} and json_text(found)
    assert say_value(seen.witness) == found["sentence"]


CASES = [proved(), certified(), measured(True), refuted("w1"), refuted("w2", Evidence.MEASUREMENT), undecided("r")]


@pytest.mark.parametrize(("a", "b"), list(product(CASES, CASES)))
def test_combination(a: Verdict, b: Verdict) -> None:
    both, other = a & b, b & a
    assert (both.as_stated, both.evidence) == (other.as_stated, other.evidence)
    answers = {a.as_stated, b.as_stated}
    if "fails" in answers:
        assert both.as_stated == "fails" and both.witness is not None
        assert both.evidence == max(v.evidence for v in (a, b) if v.as_stated == "fails")
    elif "undecided" in answers:
        assert both.as_stated == "undecided" and both.residual
    else:
        assert both.as_stated == "holds" and both.evidence == min(a.evidence, b.evidence)


VERDICTS = st.one_of(
    st.sampled_from(list(Evidence)).map(lambda e: Verdict("holds", e)),
    st.sampled_from(list(Evidence)).map(lambda e: refuted({"x": 1}, e)),
    st.sampled_from(list(Evidence)).map(lambda e: undecided("r", e)),
)


@given(st.lists(VERDICTS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_evidence_never_rises(parts: list[Verdict], rng: random.Random) -> None:
    total = combine_verdicts({str(i): part for i, part in enumerate(parts)})
    alike = [part.evidence for part in parts if part.as_stated == total.as_stated]
    if total.as_stated == "fails":
        assert total.evidence == max(alike), "one failure is enough, and none is better proved than it is"
    else:
        assert total.evidence == min(alike), "nothing is known better than its weakest part"
    assert total.as_stated == "holds" or any(part.as_stated != "holds" for part in parts)
    shuffled = rng.sample(parts, len(parts))
    again = combine_verdicts({str(i): part for i, part in enumerate(shuffled)})
    assert (again.as_stated, again.evidence) == (total.as_stated, total.evidence), "the order of parts is no matter"
    for part in parts:  # what is added to a verdict does not strengthen it
        dressed = part.adding(n=1).with_constants(c=2).correcting("x", proved(), "why")
        assert (dressed.as_stated, dressed.evidence) == (part.as_stated, part.evidence)


@given(VERDICTS)
def test_a_correction_is_no_better_known_than_its_check(check: Verdict) -> None:
    corrected = refuted({"x": 1}).correcting("y", check, "why").corrected
    assert corrected is not None and (corrected.as_stated, corrected.evidence) == (check.as_stated, check.evidence)


def test_correction_is_a_verdict_of_its_own() -> None:
    verdict = refuted({"x": 1}).correcting("x <= 2", certified(), "factor two").with_constants(c=2).adding(n=3)
    assert verdict.as_stated == "fails" and verdict.corrected is not None
    assert verdict.corrected.as_json() == {
        "statement": "x <= 2",
        "as_stated": "holds",
        "evidence": "certificate",
        "witness": None,
        "seeds": None,
        "tolerance": None,
        "why": "factor two",
    }
    assert verdict.constants == {"c": 2} and verdict.details == {"n": 3}


def test_parts_keep_their_own_answers() -> None:
    total = combine_verdicts({"a": proved(), "b": refuted("w", Evidence.CERTIFICATE), "c": measured(True)})
    assert total.as_stated == "fails" and total.evidence is Evidence.CERTIFICATE
    assert total.details["parts"] == {"a": "holds (proof)", "b": "fails (certificate)", "c": "holds (measurement)"}


def test_points_are_plain_data_in_json() -> None:
    exact = {"omega": Fraction(1, 10), "m": Fraction(4), "delta": (Fraction(1, 4), Fraction(1, 2))}
    seen = certified().at(exact).as_json()
    assert json.loads(json.dumps(seen["scope"])) == {"omega": [0.1], "m": [4], "delta": [0.25, 0.5]}
    failing = refuted(Witness("at omega = 0.1 it fails", exact)).as_json()["witness"]
    assert failing["point"] == {"omega": 0.1, "m": 4, "delta": [0.25, 0.5]}


def test_of_two_failures_alike_the_first_speaks() -> None:
    first, second = (refuted({"x": text}).blaming("constant", "factor") for text in ("1", "2"))
    assert (first & second).witness == {"x": "1"} and (second & first).witness == {"x": "2"}
    assert (first & refuted({"x": "3"}).blaming("false", "sign")).witness == {"x": "3"}


def test_a_corrected_form_says_its_seeds_and_limits() -> None:
    fixed = measured(True).within(2, "twice the closed form").averaging(range(20))
    found = refuted({"x": 1}).correcting("x < 2", fixed, "the two was lost").as_json()["corrected"]
    assert found["seeds"]["count"] == 20 and found["tolerance"]["value"] == 2


def test_numbers_of_two_checks_under_one_name_are_both_kept() -> None:
    first, second = measured(True, margin=[1.1, 2.0], why="tried"), measured(True, margin=[0.7, 2.0], why="not tried")
    assert (first & second).details == {"margin": [1.1, 2.0], "why": "tried", "margin (2)": [0.7, 2.0]}
    assert (first & second & second & first).details == (first & second).details


def test_only_a_failure_is_blamed_and_witnessed() -> None:
    failed = refuted("x = 1 gives 2").witnessed("at x = 3 it is 4", {"x": 3}).blaming("misprint", "a sign")
    assert failed.witness == Witness("at x = 3 it is 4", {"x": 3}) and failed.points == ({"x": 3},)
    assert (failed.fault, failed.cause) == ("misprint", "a sign")
    for other in (proved(), measured(True), undecided("unknown")):
        assert other.witnessed("at x = 3 it is 4", {"x": 3}) is other and other.blaming("misprint", "a sign") is other


def test_what_a_verdict_states_is_added_up_and_only_then_known() -> None:
    """That nothing is stated is forgotten where something is; outside of an export nothing is kept."""
    x = sym("x")
    relations = [{"first": (x, "<", 2)}, {"second": (x, ">", 3)}]
    with recorded():
        bare = proved(law="it is")
        assert bare.stated == (Unstated(),)
        one = bare.stating(relations[0])
        both = one.stating(relations[1])
        argued = both.arguing("by words")
        assert [each.name for each in both.stated] == ["first", "second"] and both.stated[:1] == one.stated
        assert argued.stated == (*both.stated, Unstated("by words"))
        assert bare.arguing("by words").stated == (Unstated("by words"),)
        assert argued.arguing("and again").stated == (*argued.stated, Unstated("and again"))
    outside = proved(law="it is")
    assert outside.stated == () and outside.arguing("by words").stated == outside.stating(relations[0]).stated == ()


def test_the_documented_fields_of_a_bare_verdict_and_of_a_full_one() -> None:
    empty = {"corrected": None, "cause": None, "constants": {}, "details": {}, "fault": None, "proof": None}
    empty |= {"regime": None, "residual": None, "scope": {}, "seeds": None, "sharpened": None}
    empty |= {"tolerance": None, "witness": None}
    assert proved().as_json() == empty | {"as_stated": "holds", "evidence": "proof"}
    assert undecided("x is left").as_json()["residual"] == "x is left"
    full = (
        refuted(Witness("at x = 1 it is 2", {"x": 1}), Evidence.CERTIFICATE, tried=3)
        .blaming("constant", "factor two")
        .with_constants(c=2)
        .within(1e-6, "ten times that of the solver", [0, 1])
        .averaging([3, 4])
        .approaching({"m is large": Shortfall(0.5)})
        .proving("cancelled", K="every")
        .at({"y": (0, 1)})
    )
    assert full.as_json() == empty | {
        "as_stated": "fails",
        "evidence": "certificate",
        "fault": "constant",
        "cause": "factor two",
        "witness": {"sentence": "at x = 1 it is 2", "point": {"x": 1}},
        "constants": {"c": 2},
        "scope": {"x": [1], "y": [0, 1]},
        "tolerance": {"value": 1e-6, "because": "ten times that of the solver", "calibrated": True},
        "seeds": {"count": 2, "passed": None, "low": None, "high": None},
        "regime": {"where": "approached", "violated": [{"name": "m is large", "by": 0.5, "factor": None}]},
        "proof": {"steps": ["cancelled"], "residuals": 0, "sizes": {"K": "every"}, "assumed": []},
        "details": {"tried": 3},
    }


def test_what_two_verdicts_carry_is_kept_of_both() -> None:
    first = certified(n=1).at({"m": 1}).with_constants(c=1).within(1, "one").averaging([0]).inside("the experiment")
    second = certified(n=2).at({"m": 2}, {"m": 1}).with_constants(c=2, d=3).within(2, "two").averaging([5])
    both = first & second
    assert both.points == ({"m": 1}, {"m": 2}) and both.constants == {"c": 1, "d": 3} and both.details == {"n": 1}
    assert both.tolerance == Tolerance(1, "one", beside=(Tolerance(2, "two"),))
    assert both.seeds == Seeds((0,), beside=(5,)) and both.regime == Regime(of="the experiment")
    for one, other in ((first, certified()), (certified(), first)):
        assert ((one & other).tolerance, (one & other).seeds) == (first.tolerance, first.seeds)
        assert (one & other).points == first.points and (one & other).regime == first.regime
    known, more = proved().proving("a").assuming("b > 0"), proved().proving("c", K=2)
    assert (known & more).proof == Proof(("a", "c"), 0, {"K": "2"}, ("b > 0",))
    for one, other in ((known, certified()), (certified(), known)):
        assert (one & other).proof == known.proof
    assert (certified() & certified()).proof is None is (certified() & certified()).seeds
    sharp = Verdict("holds", Evidence.PROOF, sharpened="even < 1")
    assert (sharp & proved()).sharpened == (proved() & sharp).sharpened == "even < 1"
    fixed = refuted("w").correcting("x < 2", proved(), "why")
    assert (fixed & refuted("v")).corrected == (refuted("v") & fixed).corrected == fixed.corrected is not None
    assert proved().__and__("no verdict") is NotImplemented  # type: ignore[arg-type]


def test_of_two_regimes_the_weaker_one_is_said() -> None:
    inside, near, out = certified().inside("all"), certified().approaching({}), untested("too large")
    for weaker, stronger in ((near, inside), (out, near), (out, inside)):
        for both in (weaker & stronger, stronger & weaker):
            assert both.regime == weaker.regime
    assert (inside & out).as_stated == "untested" and (out & undecided("r")).as_stated == "undecided"


def test_the_severer_failure_speaks_and_then_the_better_proved_one() -> None:
    faults = ("", "misprint", "constant", "proof", "false")
    failures = [refuted(f"{f}{e}", e).blaming(f) for f in faults for e in Evidence]
    for k, milder in enumerate(failures):
        for severer in failures[k:]:
            for both in (milder & severer, severer & milder):
                assert (both.witness, both.evidence, both.fault) == (severer.witness, severer.evidence, severer.fault)


def test_an_instance_is_no_proof_of_a_general_statement() -> None:
    assert proved().proving("step", K="every").evidence is Evidence.PROOF
    assert proved().proving("step", K="every", L=2).evidence is Evidence.CERTIFICATE
    assert measured(True).proving("step", L=2).evidence is Evidence.MEASUREMENT
    twice = proved().proving("one", K=2).proving("two").assuming("Lemma 2")
    assert twice.proof == Proof(("one", "two"), 0, {"K": "2"}, ("Lemma 2",))


def test_values_of_a_parameter_are_listed_or_spanned() -> None:
    def scope(*values: object) -> object:
        return certified().at(*({"m": value} for value in values)).scope["m"]

    assert scope(3, 1, 2, 3) == [1, 2, 3] and scope((0, 1), (0.5, 2)) == [0, 0.5, 1, 2]
    assert scope(*range(8)) == list(range(8)) and scope(*range(9)) == [0, 8]
    assert scope("b", "a") == ["b", "a"]  # words have no order but that in which they came
    mixed = certified().at({"m": 1, "n": 2}, {"n": 3})
    assert mixed.scope == {"m": [1], "n": [2, 3]}


def test_numbers_under_one_name_are_measurements_or_counts() -> None:
    """Floats and lists of numbers are kept beside each other; counts, words, truths and empty lists are not."""
    for mine, other, kept in (
        (0.5, 0.25, True),
        ([1, 2], [1, 3], True),
        ((0.5,), (1,), True),
        (0.5, 0.5, False),
        (1, 2, False),
        ("a", "b", False),
        (True, False, False),
        ([True], [False], False),
        ([0.5], [], False),
        ([1.0], ["a"], False),
    ):
        details = (measured(True, value=mine) & measured(True, value=other)).details
        assert details == {"value": mine} | ({"value (2)": other} if kept else {})
    three = measured(True, v=0.1) & measured(True, v=0.2) & measured(True, v=0.3)
    assert three.details == {"v": 0.1, "v (2)": 0.2, "v (3)": 0.3}
    assert (measured(True, a=0.1) & measured(True, b=0.2)).details == {"a": 0.1, "b": 0.2}


def test_a_verdict_is_told_in_a_line_and_as_a_card() -> None:
    assert repr(proved()) == "<Verdict: holds, proof>"
    assert repr(undecided("x is left")) == "<Verdict: undecided, measurement: x is left>"
    assert repr(refuted("w").blaming("misprint")) == "<Verdict: fails, proof, misprint: w>"
    seen = refuted("x").witnessed("at x = 1 it is 2", {"x": 1})
    assert repr(seen) == "<Verdict: fails, proof: at x = 1 it is 2>" and seen.points == ({"x": 1},)
    assert "holds" in proved()._repr_html_()


def test_only_a_failure_has_a_fault_and_it_is_one_of_four() -> None:
    with pytest.raises(ValueError, match="only a failure has a fault"):
        Verdict("holds", Evidence.PROOF, fault="misprint")
    with pytest.raises(ValueError, match="not 'typo'"):
        Verdict("fails", Evidence.PROOF, "w", fault="typo")
    with pytest.raises(ValueError, match="is not one of measurement"):
        Verdict("holds", 3)  # type: ignore[arg-type]
    for answer in ("undecided", "untested"):
        with pytest.raises(ValueError, match=f"an {answer} verdict needs its residual"):
            Verdict(answer, Evidence.MEASUREMENT)


def test_theorems_come_with_their_definitions_and_what_was_stated_before(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared.v", tmp_path / "own.v"
    shared.write_text("(* shared *)"), own.write_text("(* own *)")
    assert certified().by_theorems(own).stated == ()
    with recorded():
        bare = proved()
        stated = bare.stating({"first": (1, "<", 2)})
        argued = bare.by_theorems(own, {"three": (["x", "y"], 3)})
        assert argued.stated == (Argued("(* own *)", (("three", ("x", "y"), 3),)),)
        both = stated.by_theorems([shared, own])
        assert both.stated == (*stated.stated, Argued("(* shared *)\n(* own *)"))
        assert stated.by_theorems(own, alone=True).stated == (Argued("(* own *)"),)
        assert certified().stated == () != proved().stated


def test_statements_are_left_out_of_parts_and_corrections_too() -> None:
    with recorded():
        part, form = (proved().stating({name: (1, "<", 2)}) for name in ("part", "form"))
        whole = Verdict("holds", Evidence.PROOF, parts={"a": part}).correcting("x", form, "why")
        assert whole.stated and whole.corrected is not None and whole.corrected.verdict.stated
        bare = without_statements(whole)
    assert bare.stated == () and bare.parts.keys() == whole.parts.keys() == {"a"}
    assert bare.parts["a"].stated == () and bare.corrected is not None and bare.corrected.verdict.stated == ()
    assert without_statements(proved()).corrected is None and bare == whole
