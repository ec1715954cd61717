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
from odesys.expr.graph import ONE, ZERO, add, call, exp, num, sqrt, sym
from odesys.stated import Stated
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


def test_the_methods_of_a_proof_are_counted() -> None:
    """So many were the same expression, so many cancel by each rule; together as many as there are identities."""
    sum_of_angles = call("sin", X + Y) - call("sin", X) * call("cos", Y) - call("cos", X) * call("sin", Y)
    residuals = {"a": X - X, "b": ZERO, "c": ZERO, "d": sum_of_angles, "e": 2 * sum_of_angles, "f": (X + 1) ** 2 - X**2}
    residuals["f"] = residuals["f"] - 2 * X - 1
    verdict = identity(residuals)
    counts = verdict.details["methods"]
    assert counts["the same expression"] == 3 and sorted(counts.values()) == [1, 2, 3]
    assert verdict.proof is not None and verdict.proof.steps == tuple(counts) and verdict.proof.residuals == 6
    assert verdict.details["identities"] == 6 and verdict.proof.assumed == ()
    broken = identity({"a": ZERO, "b": X})
    assert broken.details == {"checked": 2}
    at = broken.witness.point["x"]
    assert broken.witness.sentence == f"at x = {at} the two sides of b differ by {float(Fraction(at))}"
    assert identity({"two": num(2)}).witness.sentence == "the two sides of two differ by 2"


def test_three_of_what_is_open_are_named_and_all_are_counted() -> None:
    nested = sqrt(5 + 2 * sqrt(6 + 0 * X)) - sqrt(2 + 0 * X) - sqrt(3 + 0 * X)
    verdict = identity({"fine": ZERO, **{f"n{k}": (k + 1) * nested for k in range(5)}})
    assert [part.partition(":")[0] for part in verdict.residual.split("; ")] == ["n0", "n1", "n2"]
    assert verdict.details == {"open": 5} and verdict.evidence is Evidence.PROOF


def test_what_vanishes_is_stated_by_what_is_known_of_it() -> None:
    """Its two sides where it was written as a difference, those it came from with the values, or itself and zero."""
    with stated.recorded():
        wave = exp(X) * (exp(-X) - 1) + exp(X)
        (plain,) = identity({"wave": wave - ONE}, ["x"]).stated
        assert (plain.left, plain.right, plain.positive) == (wave, ONE, ("x",))
        whole = call("sin", X + Y) ** 2 + call("cos", Y + X) ** 2 * call("cosh", 2 * Y)
        values = {Y: num(0)}
        (gap,) = graph.substitute([whole - call("cosh", Y)], values)
        assert identity({"at zero": gap}).stated == (
            Stated("at zero", "=", whole, call("cosh", Y), values=tuple(values.items())),
        )
        (product,) = graph.substitute([(call("sin", X) ** 2 + call("cos", X) ** 2 - 1) * Y], {Y: exp(Y)})
        (alone,) = identity({"product": product}).stated  # values in a field: it is what vanishes
        assert (alone.left, alone.right, alone.residual) == (product, ZERO, False)
        field = (call("sin", Y) ** 2 + call("cos", Y) ** 2 - 1) * X
        (unknown,) = identity({"field": field}).stated
        assert (unknown.left, unknown.right, unknown.residual) == (field, ZERO, True)
        stated.note_titles({field: "rate_of_x"})
        (titled,) = identity({"field": field}).stated
        assert titled.residual is False
        stated.titles.pop(field)


def test_sides_at_values_are_stated_with_the_values() -> None:
    pairs = {"square": (X**2, X * Y), "two": (num(2), 2)}
    with stated.recorded():
        given = equal(pairs, ["x"], given={Y: X})
        known = (("x",), ((Y, X),))
        assert [(s.name, s.left, s.right, (s.positive, s.values)) for s in given.stated] == [
            ("square", X**2, X * Y, known),
            ("two", num(2), num(2), known),
        ]
        (plain,) = equal({"same": (X + X, 2 * X)}).stated
        assert plain == Stated("same", "=", 2 * X, 2 * X) and plain.values == ()
        failed = equal(pairs)
    assert failed.as_stated == "fails" and "square" in failed.witness.sentence
    assert equal({"same": (X, X)}).stated == ()


@pytest.mark.parametrize(
    ("ball", "text"),
    [
        ("[0.333333333333333 +/- 4.06e-16]", "0.333333"),
        ("[-1234567.89 +/- 1e-3]", "-1.23457e+06"),
        ("[+/- 1e-9]", "[+/- 1e-9]"),
        ("[2.5e+20 +/- 3]", "2.5e+20"),
        ("7", "7"),
    ],
)
def test_six_digits_of_what_flint_prints(ball: str, text: str) -> None:
    assert six_digits(ball) == text


def test_a_frequency_keeps_its_numbers_and_is_judged_by_both_ends() -> None:
    from scipy.stats import beta

    for failures, trials in ((3, 50), (20, 50), (50, 50)):
        verdict = frequency_at_most(failures, trials, 0.5, seed=7)
        low = beta.ppf(0.0005, failures, trials - failures + 1)
        high = beta.ppf(0.9995, failures + 1, trials - failures) if failures < trials else 1.0
        assert verdict.details["interval_99.9"] == pytest.approx([low, high], rel=1e-9)
        seen = {name: verdict.details[name] for name in ("failures", "trials", "bound", "seed")}
        assert seen == {"failures": failures, "trials": trials, "bound": 0.5, "seed": 7}
        assert verdict.as_stated == ("holds" if high <= 0.5 else "fails" if low > 0.5 else "undecided")
    assert frequency_at_most(50, 50, 1.0).as_stated == "holds"  # a bound that is met
    assert "contains the bound 0.5" in frequency_at_most(20, 50, 0.5).residual


def test_pairs_of_entries_are_named_by_their_places() -> None:
    pairs = entry_pairs([[X, 1], [Y, 2]], [[1, X], [2, Y]], "table")
    assert pairs == {
        "table (0, 0)": (X, ONE),
        "table (0, 1)": (ONE, X),
        "table (1, 0)": (Y, num(2)),
        "table (1, 1)": (num(2), Y),
    }
