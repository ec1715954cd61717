"""Verdicts: what they must carry, and how they combine."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given

from odesys.exact.evidence import identity
from odesys.expr.graph import sym
from odesys.files import json_text
from odesys.papers.claims import combine_verdicts
from odesys.sentences import say_value
from odesys.stated import Unstated, recorded
from odesys.verdicts import Evidence, Verdict, Witness, certified, measured, proved, refuted, undecided


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
