"""Claim books: what is registered, in which order, and mistakes that get a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from odesys.papers.claims import ClaimBook, ClaimError
from odesys.verdicts import Regime, Verdict, measured, proved, refuted


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
