"""Verdicts as sentences: four digits, no data structures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

from odesys.sentences import say_answer, say_constants, say_number, say_point, say_proof, say_where, say_witness
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
