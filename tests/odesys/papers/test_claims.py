"""Claim books: what is registered, in which order, and mistakes that get a sentence."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from odesys.errors import OdesysError
from odesys.papers.claims import (
    KINDS,
    LEVELS,
    ORIGINS,
    SOURCES,
    CheckError,
    Claim,
    ClaimBook,
    ClaimError,
    combine_verdicts,
    in_parts,
)
from odesys.papers.hypotheses import Hypothesis, Symbol
from odesys.papers.rule import LATER, RuleError
from odesys.report.cards import book_card, claim_card
from odesys.verdicts import ANSWERS, Regime, Verdict, measured, proved, refuted, undecided


def book() -> ClaimBook:
    result = ClaimBook("toy", laboratory=lambda sign=1: sign)

    @result.claim("A.1", "first", kind="identity", statement="s = 1", reading="s is one")
    def first(lab: int) -> Verdict:
        return proved() if lab == 1 else refuted({"s": lab})

    @result.claim("A.2", "second", kind="order", statement="x", reading="y", uses=["A.1"], level="full", expect="fails")
    def second(lab: int) -> Verdict:
        return measured(True)

    return result


def test_book_runs_claims_and_mutants() -> None:
    claims = book()
    outcome = claims.run(claims["A.1"])
    assert outcome.as_expected and outcome.as_json()["evidence"] == "proof"
    assert claims.run(claims["A.1"], sign=-1).verdict.witness == {"s": -1}
    assert not claims.run(claims["A.2"]).as_expected, "the expectation is not copied into the verdict"
    assert [c.id for c in claims.select(level="quick")] == ["A.1"]
    assert [c.id for c in claims.select(["A.2"], "quick")] == ["A.2"]
    assert list(claims.proof_graph().edges) == [("A.1", "A.2")]


def test_under_the_rule_what_says_nothing_else_was_seen_inside_the_hypotheses() -> None:
    claims = ClaimBook("toy", laboratory=dict, rule=True)
    fields: dict[str, Any] = {"where": "Lemma 1", "hypotheses": (), "parts": ("first", "second")}

    @claims.claim("1", "two parts", kind="identity", statement="s", reading="r", **fields)
    def both(lab: object) -> dict[str, Verdict]:
        done = proved().proving("by hand")
        return {"first": done, "second": done.inside("the experiments")}

    parts = claims.run(claims["1"]).verdict.parts
    assert parts["first"].regime == Regime() and parts["second"].regime == Regime(of="the experiments")


def test_book_mistakes() -> None:
    claims = book()
    with pytest.raises(ClaimError, match=r"has no claim 'A.3'; did you mean"):
        claims["A.3"]
    with pytest.raises(ClaimError, match="registered twice"):
        claims.claim("A.1", "again", kind="identity", statement="s", reading="r")
    with pytest.raises(ClaimError, match="needs a statement and a reading"):
        claims.claim("A.4", "again", kind="identity", statement="s", reading=" ")
    with pytest.raises(ClaimError, match="kind 'lemma'"):
        claims.claim("A.4", "again", kind="lemma", statement="s", reading="r")
    claims.claim("A.5", "loop", kind="identity", statement="s", reading="r", uses=["A.6"])(proved)
    with pytest.raises(ClaimError, match=r"'A\.6', which is not registered"):
        claims.proof_graph()
    claims.claim("A.6", "loop", kind="identity", statement="s", reading="r", uses=["A.5"])(proved)
    with pytest.raises(ClaimError, match="in a circle"):
        claims.proof_graph()


@pytest.fixture(autouse=True)
def no_check_ends_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a copy of the process may be ended by a book."""
    here, ending = os.getpid(), os._exit
    ours = lambda code: pytest.fail("a check ended the process that asked") if os.getpid() == here else ending(code)  # noqa: E731
    monkeypatch.setattr(os, "_exit", ours)


def test_a_copy_of_the_process_that_a_check_makes_ends_with_it() -> None:
    """Quietly, with code 0; the process that asked goes on with the verdict."""
    seen = []

    def check(lab: object) -> Verdict:
        if copy := os.fork():
            seen.append(os.waitpid(copy, 0)[1])
        return proved()

    claims = ClaimBook("toy", laboratory=dict)
    claims.claim("1", "forks", kind="identity", statement="s", reading="r")(check)
    assert claims.run(claims["1"]).as_expected and seen == [0]


def test_what_is_not_said_of_a_claim_is_as_little_as_can_be() -> None:
    claim = Claim("toy", "1", "title", "identity", "s", "r", len)
    assert claim == replace(claim, check=print), "claims are the same whatever checks them"
    assert not claim.main and claim.hypotheses is None and claim.expect == "holds" and claim.level == "quick"
    claims = book()
    assert not claims["A.1"].main and claims["A.1"].hypotheses is None
    check = lambda lab: proved()  # noqa: E731
    assert claims.claim("A.3", "t", kind="identity", statement="s", reading="r", main=True)(check) is check
    assert claims["A.3"].main


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("origin", ORIGINS)
def test_a_score_is_of_what_is_printed_and_true_or_false(kind: str, origin: str) -> None:
    claim = Claim("toy", "1", "title", kind, "s", "r", len, origin=origin)
    assert claim.judged is (kind not in ("definition", "condition"))
    assert claim.scored is (claim.judged and origin in ("statement", "proof", "text"))


def test_a_claim_and_a_book_are_named_in_a_line_and_shown_as_cards() -> None:
    claims = book()
    assert repr(claims) == "<ClaimBook toy: 2 claims (A.1, A.2)>"
    assert repr(claims["A.1"]) == "<Claim toy A.1: first (identity, statement)>"
    assert repr(replace(claims["A.2"], where="Lemma 7")) == "<Claim toy A.2: second (order, Lemma 7)>"
    assert claims._repr_html_() == book_card(claims) and claims["A.1"]._repr_html_() == claim_card(claims["A.1"])


def test_a_book_is_read_in_the_order_of_the_paper() -> None:
    claims = book()
    assert [claim.id for claim in claims] == claims.ids() == ["A.1", "A.2"] and len(claims) == 2
    for number in range(3, 7):
        claims.claim(f"A.{number}", "t", kind="identity", statement="s", reading="r")(proved)
    with pytest.raises(ClaimError, match=r"^toy has no claim 'A.'; did you mean A\.\d, A\.\d, A\.\d\?$"):
        claims["A."]
    with pytest.raises(ClaimError, match=r"^toy has no claim 'xyz'; there are A\.1, A\.2, A\.3, A\.4, A\.5, A\.6$"):
        claims["xyz"]


def test_claims_of_files_that_share_runs_are_checked_in_one_place() -> None:
    claims = ClaimBook("toy", laboratory=dict, together=("part_1", "runs"))
    claims.claim("1", "t", kind="identity", statement="s", reading="r")(proved)
    for module, place in (
        ("toy.claims.part_1_remarks", "together"),
        ("toy.claims.runs", "together"),
        ("runs.claims.part_2", "runs.claims.part_2"),
        ("part_1", "together"),
        (None, ""),
    ):
        check = lambda lab: proved()  # noqa: E731
        check.__module__ = module
        assert claims.place(replace(claims["1"], check=check)) == place


def test_a_book_that_does_not_keep_all_of_the_rule_says_which() -> None:
    assert ClaimBook("toy", laboratory=dict, not_yet=LATER).not_yet == LATER
    with pytest.raises(ClaimError, match=f"^not_yet='seeds' is none of {'; '.join(LATER)}$"):
        ClaimBook("toy", laboratory=dict, not_yet=("seeds",))


def test_natural_domains_are_those_of_the_table_and_those_the_book_adds() -> None:
    symbols = [Symbol("m", "m", "width", "whole"), Symbol("g", "g", "", "unit")]
    extra = Hypothesis("odd", "odd", lambda p: p["m"] % 2 - 1)
    plain = ClaimBook("toy", laboratory=dict, symbols=symbols)
    more = ClaimBook("toy", laboratory=dict, symbols=symbols, natural=lambda names: [extra] if "m" in names else [])
    assert [h.name for h in plain.natural(["m", "x"])] == ["m is whole"]
    assert [h.name for h in more.natural(["m", "x"])] == ["m is whole", "odd"]
    assert [h.name for h in more.natural(["g"])] == ["g is unit"]


def test_certificates_and_derivations_are_registered_once() -> None:
    claims = book()
    write, text = (lambda path: None), (lambda: "Theorem.")
    assert claims.certificate("box.json", "A.1", "A.2")(write) is write
    assert claims.certificates == {"box.json": (("A.1", "A.2"), write)}
    assert claims.derivation("loss.v")(text) is text and claims.derivations == {"loss.v": text}
    with pytest.raises(ClaimError, match=r"the certificate box\.json is registered twice"):
        claims.certificate("box.json", "A.1")(write)
    with pytest.raises(ClaimError, match=r"the derivation loss\.v is registered twice"):
        claims.derivation("loss.v")(text)
    with pytest.raises(ClaimError, match="has no claim 'B'"):
        claims.certificate("other.json", "B")(write)


def test_why_a_mutation_changes_nothing_is_said_once_and_of_what_there_is() -> None:
    claims = book()
    claims.mutations = {"sign": "the sign is wrong", "half": "a factor is lost"}
    claims.unaffected("sign half", "A.1", "it is about numbers")
    assert claims.reasons == {("A.1", "sign"): "it is about numbers", ("A.1", "half"): "it is about numbers"}
    with pytest.raises(ClaimError, match="there is no mutation 'twice'; there are sign, half"):
        claims.unaffected("twice", "A.1", "no")
    with pytest.raises(ClaimError, match=r"why half does not affect A\.1 is stated twice"):
        claims.unaffected("half", "A.1", "no")
    with pytest.raises(ClaimError, match=r"has no claim 'A\.9'"):
        claims.unaffected("half", "A.9", "no")


def test_the_table_of_a_claim_has_what_its_fields_say() -> None:
    claims = ClaimBook("toy", laboratory=dict)
    small = Hypothesis("small", "x < 1", lambda p: 1 - p["x"])
    fields: dict[str, Any] = {"same_as": "Theorem 1", "hypotheses": [small], "main": True, "uses": ["2"]}
    claims.claim("1", "t", kind="identity", statement="s", reading="r", **fields)(
        lambda lab: {"a": proved(), "b": measured(True)}
    )
    claims.claim("2", "d", kind="definition", statement="s", reading="r")(lambda lab: proved())
    began = time.perf_counter()
    outcome = claims.run(claims["1"])
    assert 0 <= outcome.seconds <= time.perf_counter() - began
    table = outcome.as_json()
    assert (table["same_as"], table["as_stated"], table["main"], table["uses"]) == ("Theorem 1", "holds", True, ["2"])
    assert table["hypotheses"] == [{"name": "small", "tex": "x < 1"}] and "proof_check" not in table
    assert [(part["name"], part["as_stated"]) for part in table["parts"]] == [("a", "holds"), ("b", "holds")]
    other = claims.run(claims["2"]).as_json()
    assert (other["same_as"], other["as_stated"], other["hypotheses"]) == (None, None, [])


def test_a_broken_system_may_break_the_rule_and_the_plain_one_may_not() -> None:
    claims = ClaimBook("toy", laboratory=lambda mutation="": mutation, rule=True)
    fields: dict[str, Any] = {"where": "Lemma 1", "hypotheses": (), "parts": ("all",), "insensitive": "numbers"}
    claims.claim("1", "t", kind="identity", statement="s", reading="r", **fields)(lambda lab: measured(True))
    with pytest.raises(RuleError, match="a measurement says where it was made"):
        claims.run(claims["1"])
    assert claims.run(claims["1"], mutation="sign").verdict.regime == Regime()


def test_only_a_judged_claim_of_a_book_under_the_rule_was_seen_inside() -> None:
    free, strict = ClaimBook("toy", laboratory=dict), ClaimBook("toy", laboratory=dict, rule=True)
    fields: dict[str, Any] = {"statement": "s", "reading": "r", "where": "Lemma 1", "hypotheses": ()}
    for claims in (free, strict):
        claims.claim("1", "t", kind="identity", parts=("all",), **fields)(lambda lab: proved().proving("by hand"))
        claims.claim("2", "t", kind="definition", **fields)(lambda lab: proved().proving("by hand"))
    assert [claim.verdict.regime for claim in map(free.run, free)] == [None, None]
    assert [claim.verdict.regime for claim in map(strict.run, strict)] == [Regime(), None]


@pytest.mark.parametrize("found", [{}, {"a": 1}, {"a": proved(), "b": True}, None, 3, [proved()]])
def test_what_is_no_verdict_breaks_the_check_off(found: Any) -> None:
    claims = ClaimBook("toy", laboratory=lambda mutation="": mutation)
    claims.claim("1", "t", kind="identity", statement="s", reading="r")(lambda lab: found)
    sentence = f"the check of toy 1 on sign broke off: TypeError: it returns {str(found)[:60]}, and not a verdict"
    with pytest.raises(CheckError, match=f"^{re.escape(sentence)}, or one for each part$") as caught:
        claims.run(claims["1"], mutation="sign")
    assert caught.value.claim == "1" and caught.value.outcomes == []


def test_a_sentence_about_the_system_passes_and_a_bare_mistake_is_named() -> None:
    def stop(error: BaseException) -> Any:
        raise error

    claims = ClaimBook("toy", laboratory=dict)
    claims.claim("1", "t", kind="identity", statement="s", reading="r")(lambda lab: stop(ZeroDivisionError()))
    claims.claim("2", "t", kind="identity", statement="s", reading="r")(lambda lab: stop(OdesysError("it is stiff")))
    claims.claim("3", "t", kind="identity", statement="s", reading="r")(lambda lab: stop(SystemExit(0)))
    with pytest.raises(CheckError, match=r"^the check of toy 1 broke off: ZeroDivisionError$"):
        claims.run(claims["1"])
    with pytest.raises(OdesysError, match=r"^it is stiff$"):
        claims.run(claims["2"])
    with pytest.raises(CheckError, match=r"^the check of toy 3 broke off: SystemExit: 0$"):
        claims.run(claims["3"])


def test_what_a_laboratory_recorded_is_kept_and_nothing_else_is() -> None:
    class Recording:
        reads = ("system", "loss")

    for laboratory, reads in ((Recording, frozenset({"system", "loss"})), (dict, None)):
        claims = ClaimBook("toy", laboratory=laboratory)
        claims.claim("1", "t", kind="identity", statement="s", reading="r")(lambda lab: proved())
        assert claims.run(claims["1"]).reads == reads


def test_a_proof_of_all_parts_is_one_and_of_some_is_none() -> None:
    first, second = proved().proving("by hand"), proved().proving("by induction")
    whole = in_parts({"a": first, "b": second})
    assert whole.proof is not None and whole.proof.steps == ("by hand", "by induction")
    assert in_parts({"a": first, "b": measured(True)}).proof is None
    assert in_parts({"a": measured(True), "b": first}).proof is None
    assert in_parts(first) is first


def test_details_of_parts_say_which_part_they_are_of_where_they_differ() -> None:
    inner = combine_verdicts({"x": measured(True)}), combine_verdicts({"y": measured(True)})
    parts = {
        "a": measured(True, loss=1, same=[2]) & inner[0],
        "b": measured(True, loss=3, same=[2], own=4) & inner[1],
    }
    assert in_parts(parts).details == {"a: loss": 1, "b: loss": 3, "same": [2], "own": 4}
    assert in_parts({"a": inner[0]}).details == {}


def test_parts_are_taken_together_from_the_first_to_the_last() -> None:
    """Each counts once: a failure anywhere wins, and one part alone is itself with its name."""
    answers = (proved(), measured(True), undecided("who knows"), refuted({"x": 1}))
    for a, b, c in product(answers, repeat=3):
        both = combine_verdicts({"a": a, "b": b, "c": c})
        assert replace(both, details={}) == replace(a & b & c, details={})
        assert both.details["parts"] == {
            k: f"{v.as_stated} ({v.evidence})" for k, v in {"a": a, "b": b, "c": c}.items()
        }
    assert combine_verdicts({"a": answers[3]}) == answers[3].adding(parts={"a": "fails (proof)"})


def test_a_repair_exists_and_one_of_ours_stands_on_its_own() -> None:
    def with_repair(repaired: str, origin: str, uses: tuple[str, ...]) -> ClaimBook:
        claims = book()
        fields: dict[str, Any] = {"repairs": [repaired], "origin": origin, "uses": uses}
        claims.claim("R", "repair", kind="identity", statement="s", reading="r", **fields)(proved)
        return claims

    with pytest.raises(ClaimError, match=r"the claim R repairs 'A\.7', which is not registered"):
        with_repair("A.7", "ours", ()).proof_graph()
    with pytest.raises(ClaimError, match=r"the claim R repairs A\.1 and rests on it; a repair stands on its own"):
        with_repair("A.1", "ours", ("A.2",)).proof_graph()
    for origin, uses in (("ours", ()), ("proof", ("A.2",)), ("statement", ("A.1",))):
        graph = with_repair("A.1", origin, uses).proof_graph()
        assert set(graph.edges) == {("A.1", "A.2"), *((used, "R") for used in uses)}
        assert graph.nodes["R"] == {"title": "repair", "kind": "identity"}


@pytest.mark.parametrize("word", ["kind", "level", "expect", "origin", "source"])
def test_each_word_of_a_claim_is_one_of_a_list(word: str) -> None:
    allowed = {"kind": KINDS, "level": LEVELS, "expect": ANSWERS, "origin": ORIGINS, "source": SOURCES}[word]
    plain: dict[str, Any] = {"kind": "identity", "statement": "s", "reading": "r"}
    sentence = f"the claim 1 has the {word} 'odd'; it is one of {', '.join(allowed)}"
    with pytest.raises(ClaimError, match=f"^{re.escape(sentence)}$"):
        ClaimBook("toy", laboratory=dict).claim("1", "t", **{**plain, word: "odd"})
    for value in allowed:
        ClaimBook("toy", laboratory=dict).claim("1", "t", **{**plain, word: value})
    for empty in ("statement", "reading"):
        with pytest.raises(ClaimError, match="the claim 1 needs a statement and a reading"):
            ClaimBook("toy", laboratory=dict).claim("1", "t", **{**plain, empty: ""})
