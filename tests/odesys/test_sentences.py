"""Verdicts as sentences: four digits, no data structures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

from odesys.papers.claims import in_parts
from odesys.sentences import (
    say_answer,
    say_constants,
    say_number,
    say_parts,
    say_point,
    say_proof,
    say_where,
    say_witness,
)
from odesys.verdicts import Seeds, Shortfall, Witness, measured, proved, refuted, undecided, untested


def test_numbers_and_points() -> None:
    assert [say_number(x) for x in (1 / 3, 123456.0, Fraction(2, 7), Fraction(123456, 98765), 10, "a")] == [
        "0.3333",
        "1.235e+05",
        "2/7",
        "1.25",
        "10",
        "a",
    ]
    assert say_point({f"x{k}": k for k in range(8)}) == "x0 = 0, x1 = 1, x2 = 2, x3 = 3, x4 = 4, x5 = 5 and 2 more"


def test_witnesses_and_constants() -> None:
    assert say_witness(Witness("it is 2", {"x": 1})) == "it is 2"
    assert say_witness({"a": {"b": [1, 0.12345]}}) == "a = (b = 1, 0.1235)"
    assert say_witness([Witness("it is 2", {"x": 1}), 3]) == "it is 2, 3"
    assert say_constants({"b": 0.99912345, "C": 1}) == "b = 0.9991, C = 1"


def test_answers() -> None:
    proof = proved().proving("substitute C.2", "named rewriting", K="every", L=3)
    assert say_proof(proof) == "substitute C.2; named rewriting; for every K, L = 3"
    run = measured(True).at({"omega": 0.1}, {"omega": 0.01}).within(1e-6, "the solver's error")
    assert say_where(run) == "omega: 0.01, 0.1; allowed 1e-06, because the solver's error"
    drawn = replace(measured(True), seeds=Seeds(tuple(range(40)), 40, 0.8272, 1.0))
    seeds = "40 of 40 seeds pass, 99.9 percent interval 0.827 .. 1.000"
    left = {"m is large": Shortfall(0.99997, 33333.3), "d is above 7": Shortfall(0.25), "n > 0": Shortfall(1.0, inf)}
    assert say_where(drawn.approaching(left)) == (
        f"{seeds}; hypotheses approached: m is large violated by a factor 33,300, d is above 7 violated by 0.25, "
        "n > 0 violated whatever the constant"
    )
    assert say_where(drawn.approaching({})) == f"{seeds}; hypotheses approached: nothing is violated at the end"
    assert say_answer(refuted(Witness("it is 2", {}))) == "it is 2" and say_answer(proof) == say_proof(proof)
    assert say_answer(undecided("x is left")) == "left open: x is left"
    assert say_answer(untested("m must be huge")) == "not tested: m must be huge"


def test_all_limits_are_said() -> None:
    both = measured(True).within(1e-5, "two routes") & measured(True).within({"low": 0.5}, "half of the limit")
    assert say_where(both) == "allowed 1e-05, because two routes; allowed (low = 0.5), because half of the limit"


def test_seeds_without_an_interval_are_counted() -> None:
    assert say_where(measured(True).averaging(range(20))) == "over 20 seeds"


def test_a_proof_is_said_of_the_part_it_is_of() -> None:
    proof, run = proved().proving("a bootstrap"), measured(True).within(0.2, "the order at T_1")
    mixed = in_parts({"margins": run, "beta": proof})
    assert mixed.proof is None and mixed.parts["beta"].proof == proof.proof
    assert say_answer(mixed) == ""
    assert say_parts(mixed) == [
        "margins: holds, measurement: allowed 0.2, because the order at T_1",
        "beta: holds, proof: a bootstrap",
    ]
    both = proof & run  # one part, of which a step is proved and the rest measured
    assert say_answer(both) == "a bootstrap; allowed 0.2, because the order at T_1"
    assert say_parts(run) == [] and in_parts({"a": proof, "b": proof}).proof is not None
