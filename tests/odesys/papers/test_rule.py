"""The verdict rule: every refusal, each beside a twin that is admitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from odesys.exact.evidence import identity
from odesys.expr.graph import sym
from odesys.papers.claims import ClaimBook
from odesys.papers.hypotheses import Hypothesis, Symbol
from odesys.papers.laboratory import BaseLaboratory, laboratory_part
from odesys.papers.rule import CORRECTIONS, EXACT, LATER, NAMES, RuleError, in_both
from odesys.verdicts import (
    Evidence,
    Regime,
    Seeds,
    Shortfall,
    Verdict,
    Witness,
    certified,
    measured,
    proved,
    refuted,
    untested,
)

SMALL = Hypothesis("small start", r"\omega < 1", lambda p: 1 - p["omega"], strict=True)
WIDE = Hypothesis("m is large", r"m \gtrsim 100", lambda p: p["m"] / 100 - 1, asymptotic=True)
SYMBOLS = (
    Symbol("omega", r"\omega", "start", "positive"),
    Symbol("A", "A", "a squared norm", "nonnegative"),
    Symbol("m", "m", "width", "whole"),
)
CLAIM: dict[str, Any] = dict(
    kind="inequality",
    statement="x < y",
    reading="for every start",
    where="Lemma 1",
    parts=("first", "second"),
    hypotheses=(SMALL,),
)
INSIDE, OUTSIDE = {"omega": 0.1}, {"omega": 2.0}


class Laboratory(BaseLaboratory):
    """Something to read."""

    @laboratory_part
    def system(self) -> int:
        """One part."""
        return 1


def run(check: Any, **fields: Any) -> Verdict:
    """The verdict of one claim in a book under the rule."""
    book = ClaimBook("toy", Laboratory, rule=True, symbols=SYMBOLS)

    def reading(lab: Laboratory) -> Any:
        lab.system()
        return check

    expect = "fails" if "fails" in {v.as_stated for v in getattr(check, "values", lambda: [check])()} else "holds"
    book.claim("1", "A lemma", **{**CLAIM, "expect": expect, **fields})(reading)
    return book.run(book["1"]).verdict


def seen(point: Mapping[str, Any] = INSIDE, **extra: Any) -> Verdict:
    """A measurement that keeps the rule."""
    return measured(True, **extra).at(point).within(1e-6, "tolerance of the solver")


def failing(point: Mapping[str, Any] = INSIDE) -> Verdict:
    """A failure that keeps the rule."""
    witness = Witness("at omega = 0.1 the left side is 2 and the right side 1", point)
    instead = proved().proving("both sides are linear")
    failed = refuted(witness, Evidence.MEASUREMENT).within(0, "exact numbers")
    return failed.correcting("x < 2 y", instead, "a factor is missing").blaming("constant", "two")


# ---- claims ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"reading": "word " * 31}, "reading of 31 words; 30 are allowed"),
        ({"hypotheses": None}, "does not say its hypotheses"),
        ({"where": ""}, "names no place"),
        ({"parts": ()}, "lists no parts"),
        ({"parts": ("first", "first")}, "two parts of one name"),
        ({"parts": ("first", " ")}, "one without a name"),
        ({"kind": "definition", "expect": "fails"}, "neither true nor false"),
        ({"repairs": ("1",)}, "uses or repairs itself"),
    ],
)
def test_a_claim_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RuleError, match=sentence):
        run({"first": seen(), "second": seen()}, **fields)


@pytest.mark.parametrize("fields", [{"reading": "word " * 30}, {"hypotheses": ()}, {"where": "", "origin": "ours"}])
def test_a_claim_is_admitted(fields: dict[str, Any]) -> None:
    assert run({"first": seen(), "second": seen()}, **fields).as_stated == "holds"


def test_a_book_without_the_rule_refuses_nothing() -> None:
    book = ClaimBook("toy", Laboratory)
    book.claim("1", "A lemma", kind="identity", statement="x", reading="word " * 40)(lambda lab: measured(True))
    assert book.run(book["1"]).verdict.as_stated == "holds"


# ---- verdicts --------------------------------------------------------------------------------------------------------

JUDGED_ON_ITS_OWN_SEEDS = replace(
    measured(True).at(INSIDE).within(3.0, "20 percent above seed 4", [4]), seeds=Seeds(tuple(range(20)), 20, 0.7, 1.0)
)
MEAN = replace(seen(), seeds=Seeds(tuple(range(20))))
FAR = seen({"omega": 0.1, "m": 200})
REFUSED = {
    "a part is missing": ({"first": seen()}, {}, "part 'second' has no verdict"),
    "a part too many": ({"first": seen(), "second": seen(), "third": seen()}, {}, "'third', which is no part"),
    "one answer for two parts": (seen(), {}, "one answer for 2 parts"),
    "a run outside": ({"first": seen(), "second": seen(OUTSIDE)}, {}, "outside the hypothesis 'small start'"),
    "a witness outside": ({"first": seen(), "second": failing(OUTSIDE)}, {}, "outside the hypothesis 'small start'"),
    "a negative norm": ({"first": seen(), "second": failing({"omega": 0.1, "A": -1})}, {}, "'A is nonnegative'"),
    "a box half outside": (
        {"first": seen(), "second": certified().at({"omega": (Fraction(1, 2), 2)})},
        {},
        "outside the hypothesis 'small start'",
    ),
    "a point that does not say": ({"first": seen(), "second": seen({"m": 3})}, {}, "does not say omega"),
    "no place": ({"first": seen(), "second": measured(True)}, {}, "says where it was made"),
    "no tolerance": ({"first": seen(), "second": measured(True).at(INSIDE)}, {}, "tolerance with a reason"),
    "no fault": ({"first": seen(), "second": replace(failing(), fault="", cause="")}, {}, "has a fault"),
    "no cause": ({"first": seen(), "second": replace(failing(), cause="")}, {}, "and a cause"),
    "a constant with no other": ({"first": seen(), "second": replace(failing(), corrected=None)}, {}, "corrected form"),
    "false on a damaged source": (
        {"first": seen(), "second": failing().blaming("false", "x")},
        {"source": "damaged"},
        "nothing is called false",
    ),
    "a witness that is data": (
        {"first": seen(), "second": refuted({"omega": 0.1}).blaming("false", "x")},
        {},
        "no sentence with a point",
    ),
    "a witness with fifteen digits": (
        {"first": seen(), "second": failing().witnessed("the left side is 0.123456789", INSIDE)},
        {},
        "at most four digits",
    ),
    "its own seeds": ({"first": seen(), "second": JUDGED_ON_ITS_OWN_SEEDS}, {}, "calibrated on 4"),
    "its own seeds beside others": (
        {
            "first": seen(),
            "second": replace(MEAN, tolerance=JUDGED_ON_ITS_OWN_SEEDS.tolerance)
            & replace(MEAN, seeds=Seeds(tuple(range(50, 70)), 20, 0.7, 1.0)),
        },
        {},
        "calibrated on 4",
    ),
    "its own point under more names": (
        {"first": seen(), "second": seen({"omega": 0.1, "m": 3}).within(2.0, "twice that", [{"omega": "1/10"}])},
        {},
        "calibrated on {'omega': '1/10'}",
    ),
    "a tolerance without a reason": (
        {"first": seen(), "second": measured(True).at(INSIDE).within(1e-6, " ")},
        {},
        "tolerance has no reason",
    ),
    "a witness outside, beside points inside": (
        {"first": seen(), "second": replace(failing(), witness=Witness("there it is 2", OUTSIDE))},
        {},
        "outside the hypothesis 'small start'",
    ),
    "a symbol without a domain": (
        {"first": seen(), "second": failing({"omega": 0.1, "q": -1})},
        {},
        "says q, which is not in the table of symbols",
    ),
    "a point at infinity": ({"first": seen(), "second": seen({"omega": float("inf")})}, {}, "omega = inf"),
    "a correction that proves nothing": (
        {"first": seen(), "second": failing().correcting("x < 2 y", proved(), "")},
        {},
        "the corrected form: a proof records what it proved",
    ),
    "a correction seen outside": (
        {"first": seen(), "second": failing().correcting("x < 2 y", seen(OUTSIDE), "")},
        {},
        "the corrected form: .* outside the hypothesis 'small start'",
    ),
    "a certificate of nothing": ({"first": seen(), "second": certified()}, {}, "says the box it is for"),
    "floats called a proof": (
        {"first": seen(), "second": replace(failing(), evidence=Evidence.PROOF)},
        {},
        "floats are a measurement",
    ),
    "an instance nobody asked for": (
        {"first": seen(), "second": replace(proved().proving("x", K=2), evidence=Evidence.PROOF)},
        {},
        "its proof is for K = 2: an instance is a certificate",
    ),
    "a mean over few seeds": (
        {"first": seen(), "second": replace(seen(), seeds=Seeds((1, 2)))},
        {"kind": "order"},
        "at least 20 seeds, not 2",
    ),
    "an instance": ({"first": seen(), "second": proved().proving("x")}, {"for_all": ("K",)}, "says nothing about K"),
    "an instance with its size": (
        {"first": seen(), "second": replace(proved().proving("x", K=2), evidence=Evidence.PROOF)},
        {"for_all": ("K",)},
        "its proof is for K = 2: an instance is a certificate",
    ),
    "a proof of nothing": ({"first": seen(), "second": proved()}, {}, "records what it proved"),
    "a path that leads away": (
        {"first": FAR, "second": seen({"omega": 0.1, "m": 50}).at({"omega": 0.1, "m": 10}).approaching({})},
        {"hypotheses": (WIDE,)},
        "must grow at every point",
    ),
    "a path that hides what is left": (
        {"first": FAR, "second": seen({"omega": 0.1, "m": 10}).at({"omega": 0.1, "m": 50}).approaching({})},
        {"hypotheses": (WIDE,)},
        "which leaves",
    ),
    "few seeds": (
        {"first": proved().proving("x"), "second": replace(measured(True), seeds=Seeds((1, 2), 2, 0.1, 1.0))},
        {"kind": "probability"},
        "at least 20 seeds",
    ),
    "holds outside": (
        {"first": seen(), "second": replace(seen(OUTSIDE), regime=Regime("outside"))},
        {},
        "outside, a statement is untested",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_verdict_is_refused(name: str) -> None:
    check, fields, sentence = REFUSED[name]
    with pytest.raises(RuleError, match=sentence):
        run(check, **fields)


ADMITTED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "both parts": ({"first": seen(), "second": seen()}, {}, "holds"),
    "one part": (seen(), {"parts": ("all",)}, "holds"),
    "a small number of four digits": (
        {"first": seen(), "second": failing().witnessed("the left side is 0.0003446", INSIDE)},
        {},
        "fails",
    ),
    "a failure": ({"first": seen(), "second": failing()}, {}, "fails"),
    "a box": ({"first": seen(), "second": certified().at({"omega": (Fraction(1, 4), Fraction(1, 2))})}, {}, "holds"),
    "other seeds": (
        {
            "first": seen(),
            "second": replace(JUDGED_ON_ITS_OWN_SEEDS, seeds=Seeds(tuple(range(20, 40)), 20, 0.7, 1.0)),
        },
        {},
        "holds",
    ),
    "a mean over seeds": ({"first": seen(), "second": MEAN}, {}, "holds"),
    "calibrated on another point": (
        {"first": seen(), "second": seen({"omega": 0.1, "m": 3}).within(2.0, "twice that", [{"omega": 0.2}])},
        {},
        "holds",
    ),
    "an exact witness": (
        {"first": seen(), "second": replace(failing({"omega": "1/10"}), evidence=Evidence.PROOF)},
        {},
        "fails",
    ),
    "a correction seen inside": ({"first": seen(), "second": failing().correcting("x < 2 y", seen(), "")}, {}, "fails"),
    "an enumeration": ({"first": seen(), "second": certified(enumerated="24 cases")}, {}, "holds"),
    "a proof for every K": (
        {"first": seen(), "second": proved().proving("x", K="every")},
        {"for_all": ("K",)},
        "holds",
    ),
    "an instance as certificate": ({"first": seen(), "second": proved().proving(K=2)}, {"for_all": ("K",)}, "holds"),
    "untested outside": ({"first": seen(), "second": untested("out of reach")}, {}, "untested"),
    "on a path": (
        {
            "first": FAR,
            "second": seen({"omega": 0.1, "m": 10})
            .at({"omega": 0.1, "m": 50})
            .approaching({"m is large": Shortfall(0.5)}),
        },
        {"hypotheses": (SMALL, WIDE)},
        "holds",
    ),
    "false on a clear source": ({"first": seen(), "second": failing().blaming("false", "x")}, {}, "fails"),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_a_verdict_is_admitted(name: str) -> None:
    check, fields, answer = ADMITTED[name]
    assert run(check, **fields).as_stated == answer


def test_what_is_admitted_was_seen_inside_unless_it_says_otherwise() -> None:
    verdict = run({"first": seen(), "second": failing().blaming("false", "x")})
    assert verdict.regime == Regime("inside") and verdict.parts["first"].regime == Regime("inside")
    approached = run(*ADMITTED["on a path"][:1], **ADMITTED["on a path"][1])
    assert "approached" in {part.regime.where for part in approached.parts.values() if part.regime}


def test_an_unexpected_failure_is_shown_not_refused() -> None:
    bare = refuted({"omega": 0.1})
    assert run({"first": seen(), "second": bare}, expect="holds").as_stated == "fails"
    with pytest.raises(RuleError, match="no sentence with a point"):
        run({"first": seen(), "second": bare})


def test_a_check_that_reads_nothing_is_refused_unless_it_says_why() -> None:
    book = ClaimBook("toy", Laboratory, rule=True)
    fields = {**CLAIM, "hypotheses": (), "parts": ("all",)}
    check = lambda lab: identity({"x": sym("x") - sym("x")})  # noqa: E731
    book.claim("1", "Blind", **fields)(check)
    book.claim("2", "Blind, and says so", insensitive="about numbers", **fields)(check)
    with pytest.raises(RuleError, match="reads nothing of the laboratory"):
        book.run(book["1"])
    assert book.run(book["2"]).verdict.as_stated == "holds"


def test_an_instance_is_a_certificate() -> None:
    assert proved().proving(K=2).evidence == Evidence.CERTIFICATE
    assert proved().proving(K="every").evidence == Evidence.PROOF
    both = proved().proving(K="every", L=3) & proved().proving(K=4)
    assert both.proof is not None and both.proof.sizes == {"K": "4", "L": "3"}


def test_definitions_and_conditions_have_no_answer() -> None:
    book = ClaimBook("toy", Laboratory, rule=True)
    book.claim("Def", "A definition", **{**CLAIM, "kind": "definition", "hypotheses": (), "parts": ()})(
        lambda lab: certified()
    )
    outcome = book.run(book["Def"])
    assert outcome.as_json()["as_stated"] is None and outcome.as_expected and not outcome.claim.scored


# ---- ends and exceptions ---------------------------------------------------------------------------------------------


def problems(check: Any, **fields: Any) -> str:
    """What is refused, in a sentence; empty where nothing is."""
    try:
        run(check, **fields)
    except RuleError as error:
        assert str(error).startswith(("the claim toy 1 ", "the verdict of toy 1 is refused: ")) and error.claim == "1"
        return str(error)
    return ""


ONE: dict[str, Any] = {"parts": ("all",)}
SEEDS = Seeds(tuple(range(20)), 20, 0.7, 1.0)
ENDS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "one part by its name": ({"all": seen()}, ONE, ""),
    "one part by another name": ({"other": seen()}, ONE, "the part 'all' has no verdict"),
    "no parts of what is ours": (seen(), {"parts": (), "origin": "ours", "where": ""}, ""),
    "parts that nobody asked for": ({"a": seen()}, {"parts": (), "origin": "ours"}, ""),
    "an unnamed part of what is ours": (seen(), {"parts": ("",), "origin": "ours"}, "one without a name"),
    "a definition without parts": (proved(), {"parts": (), "kind": "definition"}, ""),
    "a condition with an answer": (proved(), {"parts": (), "kind": "condition", "expect": "untested"}, "neither true"),
    "uses itself": (seen(), {**ONE, "uses": ("1",)}, "uses or repairs itself"),
    "uses another": (seen(), {**ONE, "uses": ("2",), "repairs": ("3",)}, ""),
    "twenty seeds": (replace(seen(), seeds=SEEDS), {**ONE, "kind": "probability"}, ""),
    "nineteen seeds": (replace(seen(), seeds=Seeds(tuple(range(19)))), ONE, "at least 20 seeds, not 19"),
    "a probability without seeds": (seen(), {**ONE, "kind": "probability"}, "is measured over at least 20 seeds"),
    "seeds without a point": (replace(measured(True), seeds=SEEDS), ONE, ""),
    "a box of a certificate": (certified().at({"omega": (Fraction(1, 4), Fraction(1, 2))}), ONE, ""),
    "a certificate by steps": (replace(certified(), proof=proved().proving("x").proof), ONE, ""),
    "a proof by residuals": (identity({"x": sym("x") - sym("x")}), ONE, ""),
    "a proof for every size": (proved().proving("x", K="every"), ONE, ""),
    "one size of two": (proved().proving("x", K="every"), {**ONE, "for_all": ("K", "L")}, "says nothing about L"),
    "what fails and is ours": (
        refuted(Witness("it is 2", INSIDE), Evidence.MEASUREMENT).within(0, "exact"),
        {**ONE, "origin": "ours"},
        "",
    ),
    "no point of a witness": (
        replace(failing(), witness=Witness("it is 2", {})),
        ONE,
        "its witness names no point, so nobody can see",
    ),
    "no point where nothing is asked": (
        replace(failing(), witness=Witness("it is 2", {})),
        {**ONE, "hypotheses": ()},
        "",
    ),
    "a misprint with another form": (failing().blaming("misprint", "x"), ONE, ""),
    "a misprint without another form": (
        replace(failing(), corrected=None).blaming("misprint", "x"),
        ONE,
        "a misprint has a corrected form that holds",
    ),
    "another form that nobody knows": (
        failing().correcting("x < 2 y", untested("no"), ""),
        ONE,
        "a constant has a corrected form that holds",
    ),
    "a proof at fault": (failing().blaming("proof", "x"), ONE, ""),
    "a proof at fault without another form": (
        replace(failing(), corrected=None).blaming("proof", "x"),
        ONE,
        "a statement is not at fault for its proof",
    ),
    "a step of a proof at fault": (
        replace(failing(), corrected=None).blaming("proof", "x"),
        {**ONE, "origin": "proof"},
        "",
    ),
    "false without another form": (replace(failing(), corrected=None).blaming("false", "x"), ONE, ""),
    "a constant on a damaged source": (failing(), {**ONE, "source": "damaged"}, ""),
    "floats of a certificate": (replace(failing(), evidence=Evidence.CERTIFICATE), ONE, ""),
    "six digits": (failing().witnessed("it is 1.123456", INSIDE), ONE, "at most four digits"),
    "five digits": (failing().witnessed("it is 1.12345", INSIDE), ONE, ""),
    "undecided outside": (replace(seen(OUTSIDE), as_stated="undecided", residual="x", regime=Regime("outside")), ONE,
                          "and undecided; outside, a statement is untested"),
    "untested outside": (replace(untested("far").at(OUTSIDE), regime=None), ONE, "outside the hypothesis"),
    "untested outside, and says so": (replace(untested("far").at(OUTSIDE), regime=Regime("outside")), ONE, ""),
    "calibrated beside": (
        replace(MEAN, tolerance=JUDGED_ON_ITS_OWN_SEEDS.tolerance, seeds=replace(SEEDS, used=tuple(range(50, 70)))),
        ONE,
        "",
    ),
    "a correction of what is no judgement": (
        failing().correcting("x < 2 y", proved(), ""),
        {"parts": (), "kind": "definition", "expect": "holds"},
        "",
    ),
    "a correction on a few seeds": (
        failing().correcting("x < 2 y", replace(seen(), seeds=Seeds((1,))), ""),
        ONE,
        "the corrected form: what is random is measured over at least 20 seeds, not 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_where_the_rule_ends(name: str) -> None:
    check, fields, sentence = ENDS[name]
    found = problems(check, **fields)
    assert (sentence in found) if sentence else not found


def test_what_is_young_in_the_rule_can_be_left_for_later() -> None:
    """Each of the three parts is let off by its own name and by no other."""
    cases = (
        (NAMES, failing({"omega": 0.1, "q": -1}), "not in the table of symbols"),
        (CORRECTIONS, failing().correcting("x < 2 y", proved(), ""), "the corrected form"),
        (EXACT, replace(failing(), evidence=Evidence.PROOF), "floats are a measurement"),
    )
    for later, check, sentence in cases:
        for not_yet in LATER:
            book = ClaimBook("toy", Laboratory, rule=True, symbols=SYMBOLS, not_yet=[not_yet])
            book.claim("1", "A lemma", **{**CLAIM, **ONE, "expect": "fails"})(
                lambda lab, check=check: (lab.system(), check)[1]
            )
            if not_yet == later:
                assert book.run(book["1"]).verdict.as_stated == "fails"
            else:
                with pytest.raises(RuleError, match=sentence):
                    book.run(book["1"])


def test_a_name_with_a_natural_domain_need_not_be_in_the_table() -> None:
    extra = Hypothesis("q is small", "q < 1", lambda p: 1 - p["q"])
    for value, sentence in ((0.5, ""), (2.0, "outside the hypothesis 'q is small'")):
        book = ClaimBook(
            "toy", Laboratory, rule=True, symbols=SYMBOLS, natural=lambda names: [extra] if "q" in names else []
        )
        check = seen({"omega": 0.1, "q": value})
        book.claim("1", "A lemma", **{**CLAIM, **ONE})(lambda lab, check=check: (lab.system(), check)[1])
        if sentence:
            with pytest.raises(RuleError, match=sentence):
                book.run(book["1"])
        else:
            assert book.run(book["1"]).as_expected


@pytest.mark.parametrize(
    ("left", "fine"), [(0.5, True), (0.5 + 4e-10, True), (0.5 + 6e-10, False), (0.4, False), (None, False)]
)
def test_what_is_left_at_the_end_of_a_path_is_said_to_nine_digits(left: float | None, fine: bool) -> None:
    said = {} if left is None else {"m is large": Shortfall(left)}
    path = seen({"omega": 0.1, "m": 10}).at({"omega": 0.1, "m": 50})
    found = problems(path.approaching(said), **ONE, hypotheses=(SMALL, WIDE))
    assert fine is not bool(found)
    told = f"m is large by {left:.4g}" if left is not None else "nothing"
    assert fine or found.endswith(f"says that {told} is left at the end of its path, which leaves m is large by 0.5")
    more = {"m is large": Shortfall(0.5), "omega is small": Shortfall(1)}
    assert "omega is small by 1 is left" in problems(path.approaching(more), **ONE, hypotheses=(SMALL, WIDE))
    whole = seen({"omega": 0.1, "m": 10}).at({"omega": 0.1, "m": 100})
    assert problems(whole.approaching({}), **ONE, hypotheses=(SMALL, WIDE)) == ""
    assert "which leaves nothing" in problems(whole.approaching(said or more), **ONE, hypotheses=(SMALL, WIDE))


def test_a_claim_that_is_neither_true_nor_false_may_read_nothing() -> None:
    book = ClaimBook("toy", Laboratory, rule=True)
    fields = {**CLAIM, "hypotheses": (), "parts": ()}
    book.claim("D", "A definition", **{**fields, "kind": "definition"})(lambda lab: measured(True))
    book.claim("E", "Ours", **{**fields, "origin": "ours"})(lambda lab: proved().proving("x"))
    assert book.run(book["D"]).verdict.as_stated == "holds"
    with pytest.raises(RuleError, match="reads nothing of the laboratory"):
        book.run(book["E"])
    free = ClaimBook("toy", dict, rule=True)
    free.claim("E", "Ours", **{**fields, "origin": "ours"})(lambda lab: proved().proving("x"))
    assert free.run(free["E"]).as_expected, "what a laboratory does not record is not judged"


@pytest.mark.parametrize(
    ("calibrated", "judged", "same"),
    [
        (3, 3, True),
        (3, 4, False),
        (3, {"x": 3}, False),
        ({"x": 1}, {"x": 1}, True),
        ({"x": 1}, {"x": 2}, False),
        ({"x": 1}, {"y": 1}, False),
        ({"x": 1, "y": 2}, {"x": 1}, True),
        ({"x": 1}, {"x": 1, "y": 2}, True),
        ({"x": 1, "z": 3}, {"x": 1, "y": 2}, False),
        ({"x": "1/2"}, {"x": 0.5}, True),
        ({"x": Fraction(1, 2), "y": "symbol"}, {"x": "0.5", "y": "symbol"}, True),
        ({"x": (0, 1)}, {"x": (0, 1)}, True),
        ({}, {"x": 1}, False),
        ({}, {}, False),
    ],
)
def test_a_point_is_used_twice_where_one_says_all_that_the_other_does(calibrated: Any, judged: Any, same: bool) -> None:
    assert in_both([calibrated], [judged]) == [calibrated] * same
    assert in_both([calibrated], []) == [] and in_both([], [judged]) == []
    assert in_both([calibrated, 17], [judged, 18]) == [calibrated] * same
