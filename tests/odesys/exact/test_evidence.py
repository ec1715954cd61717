"""Evidence: what each method can carry, and its broken twin."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys import graph, stated
from odesys.exact.evidence import (
    assumptions,
    entry_pairs,
    enumerate_all,
    equal,
    frequency_at_most,
    identity,
    six_digits,
)
from odesys.expr.graph import add, call, exp, sqrt, sym
from odesys.verdicts import Evidence

X, Y = sym("x"), sym("y")


def test_an_identity_is_a_proof_and_its_twin_a_witness() -> None:
    square = (X + Y) ** 2 - X**2 - 2 * X * Y - Y**2
    proved = identity({"square": square, "same": X - X})
    assert (proved.as_stated, proved.evidence) == ("holds", Evidence.PROOF) and proved.details["identities"] == 2
    broken = identity({"same": X - X, "square": square + X / 1000})
    assert (broken.as_stated, broken.evidence) == ("fails", Evidence.CERTIFICATE)
    assert "square" in broken.witness.sentence and Fraction(broken.witness.point["x"])


def test_positive_names_are_needed_and_used() -> None:
    pairs = {"root": (sqrt(X * X), X)}
    assert equal(pairs, positive=["x"]).as_stated == "holds" and equal(pairs).as_stated != "holds"


def test_tables_are_compared_entry_by_entry() -> None:
    left, right = [[X, Y], [X * Y, 1]], [[X, Y], [Y * X, 1]]
    assert equal(entry_pairs(left, right, "A")).as_stated == "holds"
    broken = equal(entry_pairs(left, [[X, Y], [Y * X, 2]], "A"))
    assert broken.as_stated == "fails" and "A (1, 1)" in broken.witness.sentence
    with pytest.raises(ValueError, match="shorter"):
        entry_pairs(left, [X, Y], "A")


def test_not_knowing_is_said_with_the_residual() -> None:
    nested = sqrt(5 + 2 * sqrt(6 + 0 * X)) - sqrt(2 + 0 * X) - sqrt(3 + 0 * X)
    verdict = identity({"radicals": nested})
    assert verdict.as_stated == "undecided" and "radicals" in verdict.residual
    many = {str(k): nested * add([sym(f"x{i}") * exp(sym(f"y{i}")) for i in range(200 + k)]) for k in range(4)}
    verdict = identity(many)
    assert verdict.as_stated == "undecided" and len(verdict.residual) < 800 and verdict.details["open"] == 4


def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(ValueError, match="for no reason"):
        identity({})
    with pytest.raises(ValueError, match="no words to enumerate"):
        enumerate_all([], bool, "words")


def test_enumeration_stops_at_the_first_case_that_is_not_exactly_true() -> None:
    assert enumerate_all(range(5), lambda k: k < 5, "numbers").details["enumerated"] == "5 numbers"
    seen: list[int] = []
    verdict = enumerate_all(range(9), lambda k: seen.append(k) or k != 3, "numbers")
    assert verdict.as_stated == "fails" and verdict.witness["case"] == "3" and seen == [0, 1, 2, 3]
    assert enumerate_all([1], lambda _: 1, "truthy answers").as_stated == "fails"  # only True itself counts


@pytest.mark.parametrize(("failures", "status"), [(0, "holds"), (40, "fails"), (11, "undecided")])
def test_a_frequency_is_judged_by_its_interval(failures: int, status: str) -> None:
    verdict = frequency_at_most(failures, 1000, 0.01)
    assert verdict.as_stated == status and verdict.evidence is Evidence.MEASUREMENT


def test_digits_of_a_ball() -> None:
    assert six_digits("[1.23456789 +/- 3e-9]") == "1.23457" and six_digits("-2e-30") == "-2e-30"
    assert six_digits(None) == "None"


def test_functions_are_opaque_but_exact() -> None:
    assert equal({"exp": (exp(X) * exp(-X), X / X)}).as_stated == "holds"
    assert equal({"sin": (call("sin", X) ** 2 + call("cos", X) ** 2, X / X)}).evidence is Evidence.PROOF


def test_an_event_that_was_never_seen_does_not_refute_that_it_never_happens() -> None:
    assert frequency_at_most(0, 1000, 0.0).as_stated == "undecided"
    assert frequency_at_most(1, 1000, 0.0).as_stated == "fails"


def test_a_proof_hands_over_its_two_sides_as_they_were_written() -> None:
    with stated.recorded():
        left, right = (X + Y) ** 2, X**2 + 2 * X * Y + Y**2
        (pair,) = identity({"square": left - right}, ["x"]).stated
        assert (pair.left, pair.right, pair.positive, pair.residual) == (left, right, ("x",), False)
        put_in = graph.substitute([left - right], {X: 2 * Y})[0]
        both = identity({"one": put_in, "two": X * 0 + exp(X + Y) - exp(X) * exp(Y)}).stated
        assert [part.name for part in both] == ["one", "two"]
    assert identity({"square": (X + Y) ** 2 - X**2 - 2 * X * Y - Y**2}).stated == ()


def test_what_is_assumed_of_symbols_that_occur() -> None:
    assert assumptions([X * Y, sym("z")], ["z", "x", "w"], ["y", "w"]) == ("x > 0", "z > 0", "y >= 0")
    assert assumptions([], ["x"]) == ()
    proof = equal({"root": (sqrt(X * X), X)}, positive=["x"]).proof
    assert proof is not None and proof.assumed == ("x > 0",)
