"""Lemma 6.1: the generic sample stands for every sample, and broken constructions are refuted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from derivations.two_mixture import setting
from derivations.two_mixture.claims.part_6_construction import (
    classification_queries_cancel,
    cross_check,
    margins,
    relu_is_identity,
    solves,
)
from derivations.two_mixture.laboratory import Laboratory
from derivations.two_mixture.special.construction import (
    COUNTS,
    PRINTED,
    REPAIRED,
    Token,
    counts_of,
    margin_at,
    queries,
    row,
)
from odesys import Sample
from odesys.exact.positivity import decide_sign
from odesys.expr import graph
from odesys.expr.graph import sym

HEADS = [1, -1]


@pytest.mark.parametrize(("K", "L"), [(2, 3), (3, 4), (2, 5), (4, 4), (8, 3)])
def test_every_sample_by_exhaustive_enumeration(K: int, L: int) -> None:
    right = {s.label: set() for s in setting.data(K, L).samples}
    for sample in setting.data(K, L).samples:
        for e in (Fraction(5, 4), Fraction(3)):
            assert margin_at(REPAIRED, sample, HEADS, e) > 0
            right[sample.label].add(margin_at(PRINTED, sample, HEADS, e) > 0)
    assert right == {1: {True}, -1: {False}}, "the printed one gets exactly one label right"


@pytest.mark.parametrize("construction", [PRINTED, REPAIRED])
def test_each_query_of_each_sample_sees_the_classes_of_the_generic_sample(construction) -> None:
    e, seen = Fraction(3), set()
    for sample in setting.data(3, 5).samples:
        words = [(token.removeprefix("-"), -1 if token.startswith("-") else 1) for token in sample.tokens]
        own = words[0][0][1:]
        for query, sq in words:
            kind, group = query[0], query[1:]
            counts = Counter(
                ("p_" if s > 0 else "q_") + ("j" if word[1:] == group or group == own else "i") for word, s in words[2:]
            )
            asked = Token(kind, "k" if group == own else "j", sq)
            assert asked in queries(sample.label).values()
            situation = sample.label, asked, tuple(counts[name] for name in COUNTS)
            if situation in seen:
                continue
            seen.add(situation)
            for head in (0, 1):
                scores = [
                    sk * sq * construction.scores.get((key[0], kind), (0, 0))[head] * (key[1:] == group)
                    for key, sk in words
                ]
                weights = [e**score for score in scores]
                values = [sk if key[0] == construction.values else 0 for key, sk in words]
                spelled = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
                env = {"C": Fraction(1)} | {name: Fraction(counts[name]) for name in COUNTS}
                node = row(construction, sample.label, asked, head)
                assert graph.evaluate([node], env, {"exp": lambda z: e ** int(z)})[0] == spelled
    assert len(seen) > 50


def test_a_sample_that_is_not_of_the_definition_is_no_instance() -> None:
    for tokens, label in [
        (["c1", "v1", "-v2"], -1),
        (["c1", "v1", "-v1"], 1),
        (["c1", "c2", "v1"], 1),
        (["-c1", "v1", "v2"], 1),
        (["v1", "v2", "v3"], 1),
        (["c1", "v2", "v2"], 1),
    ]:
        assert counts_of(Sample(tokens, label=label, weight=1)) is None
    assert counts_of(Sample(["c2", "-v2", "v1", "v1"], label=-1, weight=1)) == {"p_j": 2, "q_j": 0, "p_i": 0, "q_i": 0}


def test_verdicts_of_both_constructions() -> None:
    printed, repaired = solves(PRINTED, Laboratory(), relu=False), solves(REPAIRED, Laboratory(), relu=True)
    assert (printed.as_stated, str(printed.evidence)) == ("fails", "proof")
    assert printed.witness["for"].startswith("every C > 0") and printed.witness["where"] == "y f at y = -1"
    assert (repaired.as_stated, str(repaired.evidence)) == ("holds", "proof")
    signs = {name: decide_sign(node, ["C"], COUNTS) for name, node in margins(PRINTED, HEADS).items()}
    assert signs == {"y f at y = +1": "positive", "y f at y = -1": "negative"}, "f > 0 for both labels, for every C"


@pytest.mark.parametrize(
    "broken",
    [
        replace(REPAIRED, values="v"),
        replace(REPAIRED, scores=PRINTED.scores),
        replace(REPAIRED, scores={**REPAIRED.scores, ("v", "c"): (-2, -2)}),
        replace(REPAIRED, scores={**REPAIRED.scores, ("v", "v"): (1, 2)}),
        replace(REPAIRED, scores={**REPAIRED.scores, ("c", "v"): (1, -1)}),
    ],
)
def test_broken_constructions_are_refuted(broken) -> None:
    verdict = solves(broken, Laboratory(), relu=True)
    assert verdict.as_stated == "fails" and verdict.witness


def test_parts_that_break_alone() -> None:
    loose = replace(REPAIRED, scores={**REPAIRED.scores, ("v", "v"): (1, 3)})
    assert classification_queries_cancel(loose, HEADS).as_stated == "fails"
    assert classification_queries_cancel(REPAIRED, [1, 1]).as_stated == "fails"
    b = sym("b")
    assert relu_is_identity(REPAIRED, HEADS, [b, b]).as_stated == "holds"
    assert relu_is_identity(replace(REPAIRED, values="v"), HEADS, [b, b]).as_stated == "undecided", "rows of both signs"
    assert relu_is_identity(REPAIRED, HEADS, [-b, -b]).as_stated == "fails", "a large negative bias switches off"
    assert cross_check(REPAIRED, Laboratory("labels")).as_stated == "fails"
    assert cross_check(REPAIRED, Laboratory()).as_stated == "holds"
