"""The zero test: identities are proved, differences have a witness, and what is neither stays undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count

import flint
import pytest

from odesys.exact import zero
from odesys.exact.balls import ball_evaluate
from odesys.exact.zero import ZeroResult, in_short, prove_zero, rational_points, zero_test
from odesys.expr import graph
from odesys.expr.graph import ZERO, Node, call, exp, num, power, relu, sqrt, step, sym

x, y, z = sym("x"), sym("y"), sym("z")


def f(name: str, argument: Node) -> Node:
    return call(name, argument)


IDENTITIES = {
    "sigmoid and its mirror": f("sigmoid", x) + f("sigmoid", -x) - 1,
    "sigmoid slope": f("sigmoid", x) * f("sigmoid", -x) - exp(x) / (1 + exp(x)) ** 2,
    "exp of a sum": exp(x + y) - exp(x) * exp(y),
    "exp of a multiple": exp(2 * x) - exp(x) ** 2,
    "exp of a half": exp(x / 2) ** 2 - exp(x),
    "exp of a quotient": exp(f("sigmoid", x)) - exp(num(1)) * exp(-f("sigmoid", -x)),
    "exp of a logarithm": exp(2 * f("log", x)) - x**2,
    "logarithm of exp": f("log", exp(x) * exp(y)) - x - y,
    "logarithm of a number": f("log", num(12)) - 2 * f("log", num(2)) - f("log", num(3)),
    "softplus": f("softplus", x) - f("softplus", -x) - x,
    "tanh": f("tanh", x) - (exp(x) - exp(-x)) / (exp(x) + exp(-x)),
    "tanh of the double": f("tanh", 2 * x) - 2 * f("tanh", x) / (1 + f("tanh", x) ** 2),
    "hyperbolic Pythagoras": f("cosh", x) ** 2 - f("sinh", x) ** 2 - 1,
    "Pythagoras": f("sin", x) ** 2 + f("cos", x) ** 2 - 1,
    "double angle": f("sin", 2 * x) - 2 * f("sin", x) * f("cos", x),
    "half angle": f("cos", x) - 1 + 2 * f("sin", x / 2) ** 2,
    "sum of angles": f("sin", x + y) - f("sin", x) * f("cos", y) - f("cos", x) * f("sin", y),
    "tangent": f("tan", x) * f("cos", x) - f("sin", x),
    "arctan is odd": f("arctan", -x) + f("arctan", x),
    "geometric quotient": (x**2 - 1) / (x - 1) - (x + 1),
    "partial fractions": 1 / (x * (x + 1)) - 1 / x + 1 / (x + 1),
    "square root of eight": sqrt(num(8)) - 2 * sqrt(num(2)),
    "roots of two and three": sqrt(num(2)) * sqrt(num(3)) - sqrt(num(6)),
    "conjugate roots": sqrt(x + 2) - sqrt(x + 1) - 1 / (sqrt(x + 2) + sqrt(x + 1)),
    "root of a rewritten sum": sqrt(1 - f("sigmoid", x)) - sqrt(f("sigmoid", -x)),
    "cube roots": power(x, Fraction(1, 3)) * power(x + 1, Fraction(1, 3)) * power(x, Fraction(2, 3)) / x
    - power(x + 1, Fraction(1, 3)),
    "equal arguments": f("log", (x + 1) ** 2 + y) - f("log", x**2 + 2 * x + 1 + y),
    "absolute value squared": call("abs", x) ** 2 - x**2,
    "two half-lines": relu(x) - relu(-x) - x,
    "gates exclude each other": step(x) * step(-x) * exp(y),
    "gate is idempotent": (step(x) + y) ** 2 - step(x) - 2 * y * step(x) - y**2,
    "gate of something positive": step(exp(x) + 1) - 1,
}

DIFFERENT = {
    "a sign": f("sigmoid", x) - f("sigmoid", -x),
    "a factor": exp(2 * x) - 2 * exp(x),
    "not Pythagoras": f("sin", x) ** 2 - f("cos", x) ** 2 - 1,
    "root of a square": sqrt(x * x) - x,
    "only for positive x": f("log", x) - x + 1,
    "a constant": sqrt(num(2)) - Fraction(99, 70),
    "a far gate": relu(x - 8),
    "far below double precision": exp(x) - exp(x + num(Fraction(1, 10**30))),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_is_proved(name: str) -> None:
    result = zero_test(IDENTITIES[name])
    assert (result.answer, result.witness, result.residual) == ("zero", None, None), result
    assert result.method


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_broken_twin_of_an_identity_has_a_witness(name: str) -> None:
    result = zero_test(IDENTITIES[name] + Fraction(1, 1000) * exp(-x * x))
    assert result.answer == "nonzero" and result.witness is not None


@pytest.mark.parametrize("likely", [True, False])
def test_what_is_not_zero_is_never_proved(monkeypatch: pytest.MonkeyPatch, likely: bool) -> None:
    """The proof by itself, without the witness that comes first; residues modulo a prime only save work."""
    monkeypatch.setattr(zero, "_may_vanish", lambda outline: likely)
    twins = [node + Fraction(1, 1000) * exp(-x * x) for node in IDENTITIES.values()]
    assert [prove_zero(node) for node in (*DIFFERENT.values(), *twins)] == [""] * (len(DIFFERENT) + len(twins))
    assert all(map(prove_zero, IDENTITIES.values()))


def test_witnesses_come_from_the_points_given() -> None:
    asked: list[tuple[list[str], int]] = []

    def points(names: Sequence[str], seed: int) -> Iterator[dict[str, Fraction]]:
        asked.append((list(names), seed))
        for k in count(-2):  # no end: the test takes a few
            yield {name: Fraction(k) for name in names}

    result = zero_test(x - y * x, seed=7, points=points)
    assert result.witness == {"x": -2, "y": -2} and asked == [(["x", "y"], 7)]
    assert zero_test(x - y * x, positive=["y"], points=points).witness == {"x": 2, "y": 2}  # not where y < 0
    assert zero_test(step(-x - 3), points=points).answer == "undecided"
    assert zero_test(f("sigmoid", x) + f("sigmoid", -x) - 1, points=points).answer == "zero"


def substitute_by_hand(node: Node, result: ZeroResult) -> flint.arb:
    """An independent route: exact numbers put in for the symbols first, then one ball of a constant."""
    assert result.witness is not None
    values = {sym(name): num(value) for name, value in result.witness.items()}
    constant = graph.substitute([node], values)[0]
    assert not graph.symbols([constant])
    return ball_evaluate([constant], {}, 400)[0]


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_witness_can_be_substituted_by_hand(name: str) -> None:
    node = DIFFERENT[name]
    result = zero_test(node)
    assert result.answer == "nonzero", result
    assert result.witness is not None and set(result.witness) == graph.symbols([node])
    assert all(isinstance(value, Fraction) for value in result.witness.values())
    assert not substitute_by_hand(node, result).contains(0)
    assert result.value is not None and flint.arb(result.value).overlaps(substitute_by_hand(node, result))


def test_a_nested_radical_is_undecided() -> None:
    node = sqrt(3 + 2 * sqrt(num(2))) - 1 - sqrt(num(2))  # zero, but not by the rules
    result = zero_test(node)
    assert result.answer == "undecided" and result.residual is node and result.witness is None


def test_floats_are_never_proofs() -> None:
    nearly = 0.1 * x + 0.2 * x - 0.3 * x
    assert nearly is not ZERO and zero_test(nearly).answer == "undecided"
    assert zero_test((x + 0.5) ** 2 - x * x - x - 0.25).answer == "undecided"
    assert zero_test(0.1 * x - 0.1 * x).answer == "undecided"
    # coefficients were rounded before the test saw them: neither answer would be safe
    assert zero_test(x * 1e17 + x - x * 1e17).answer == "undecided"
    assert zero_test(x * 1e16 + x * 3 - x * 1e16 - x * 3).answer == "undecided"


def test_what_is_defined_nowhere_is_not_called_zero() -> None:
    assert zero_test(1 / (f("sin", x) ** 2 + f("cos", x) ** 2 - 1)).answer == "undecided"
    assert zero_test(f("log", -exp(x)) - f("log", -exp(x) + 0 * y) + f("log", -1 - x * x)).answer == "undecided"


def test_positive_names_split_roots_and_logarithms() -> None:
    root = sqrt(x * x * y) - x * sqrt(y)
    logarithm = f("log", x / y) - f("log", x) + f("log", y)
    assert zero_test(root).answer == "nonzero"
    assert zero_test(root, positive=["x", "y"]).answer == "zero"
    assert zero_test(logarithm).answer == "undecided"
    assert zero_test(logarithm, positive=["x", "y"]).answer == "zero"
    witness = zero_test(f("log", x * y) - f("log", x), positive=["x", "y"]).witness
    assert witness is not None and min(witness.values()) > 0


def test_a_gate_and_its_opposite_do_not_add_up_on_the_surface() -> None:
    node = step(x) + step(-x) - 1
    assert zero_test(node).answer == "undecided"  # -1 at x = 0, zero elsewhere
    assert zero_test(x * node).answer == "zero"
    assert ball_evaluate([node], {"x": flint.arb(0)}, 64)[0] == -1


def test_a_sum_that_stays_opaque_is_enough() -> None:
    """(x + y)^40 (z + 1) - z (x + y)^40 - (x + y)^40 need not be multiplied out."""
    inner = (x + y + z) ** 40
    node = inner * (z + 1) - z * inner - inner
    result = zero_test(node)
    assert result.answer == "zero" and result.method.endswith("depth 2")


def test_truth_value_is_refused() -> None:
    with pytest.raises(TypeError, match="answer"):
        bool(zero_test(x))


def test_an_undecided_residual_prints_its_size() -> None:
    long = graph.add([sqrt(3 + 2 * sqrt(num(2)) + 0 * x) * sym(f"x{k}") for k in range(60)])
    node = long - graph.add([(1 + sqrt(num(2))) * sym(f"x{k}") for k in range(60)])  # zero, but not by the rules
    result = zero_test(node)
    assert result.answer == "undecided" and result.residual is node
    assert "a sum of 120 terms in 60 symbols" in repr(result) and len(repr(result)) < 300
    assert in_short(exp(long)).startswith("an expression of ") and len(in_short(exp(long))) < 100
    assert in_short((1 + sym("a")) / sym("b")) == "(a + 1)/b"


def test_a_text_that_would_be_huge_is_never_written() -> None:
    """A graph of 80 nodes whose text has 2^40 symbols."""
    node = x
    for _ in range(40):
        node = exp(node) + node
    assert in_short(node).startswith("a sum of ") and len(in_short(node)) < 300


def test_what_is_too_long_is_said_by_its_size() -> None:
    names = [graph.sym(f"x{k}") for k in range(100)]
    whole, half = graph.add(names), graph.add(names[:50])
    assert in_short(whole) == "a sum of 100 terms in 100 symbols, such as x0"
    assert in_short(whole * (half + 1)) == "a product of 2 factors in 100 symbols"
    assert in_short(graph.exp(whole)).startswith("an expression of ") and in_short(graph.add(names[:9])) == repr(
        graph.add(names[:9])
    ).removeprefix("Node(").removesuffix(")")
    assert in_short(whole**2) == f"an expression of {len(graph.topological([whole**2]))} nodes in 100 symbols"


@pytest.mark.parametrize("seed", range(3))
def test_points_are_on_several_scales_each_with_and_without_signs(seed: int) -> None:
    """Two points on a scale, one after the other: the first with both signs, the second positive."""
    names = [f"x{k}" for k in range(200)]
    seen = list(rational_points(names, ["x0", "x7"], seed))
    assert len(seen) == zero.POINTS
    largest = [max(map(abs, point.values())) for point in seen]
    for k in range(0, len(seen), 2):
        assert largest[k] == pytest.approx(float(largest[k + 1]), rel=0.15) and [*seen[k]] == names
        assert sum(value < 0 for value in seen[k].values()) in range(60, 140)
        assert min(seen[k]["x0"], seen[k]["x7"], *seen[k + 1].values()) > 0
    scales = [float(value) for value in largest[::2]]
    assert scales == pytest.approx(([2, 0.75, 6, 20] * 9)[: len(scales)], rel=0.05)
    assert list(rational_points([], seed=seed)) == [{}]


@pytest.mark.parametrize(
    ("node", "answer", "method"),
    [
        (x - x, "zero", "it cancels as written"),
        (0.5 * x - x, "undecided", "floats are never proofs"),
        (exp(x) - 1, "nonzero", "ball arithmetic with 64 bits at a rational point"),
        (DIFFERENT["far below double precision"], "nonzero", "ball arithmetic with 128 bits at a rational point"),
        (
            sqrt(3 + 2 * sqrt(num(2))) - 1 - sqrt(num(2)),
            "undecided",
            "no proof by the rules, no witness with 1024 bits",
        ),
        (IDENTITIES["Pythagoras"], "zero", "named rewriting, then exact expansion of sums to depth 1"),
        (IDENTITIES["tangent"], "zero", "named rewriting, each divisor for itself"),
        (IDENTITIES["arctan is odd"], "zero", "named rewriting"),
        (
            (x + y) * (z + 1) - z * (x + y) - (x + y),
            "zero",
            "named rewriting, each divisor for itself, sums to depth 2",
        ),
    ],
)
def test_how_an_answer_was_reached_is_said(node: Node, answer: str, method: str) -> None:
    result = zero_test(node)
    assert (result.answer, result.method) == (answer, method)


def test_a_result_is_told_with_its_witness_or_its_residual() -> None:
    assert repr(zero_test(x - x)) == "<ZeroResult: zero, it cancels as written>"
    points = lambda names, seed: [{name: Fraction(1, 2) for name in names}]  # noqa: E731
    told = repr(zero_test(x * x - x, points=points))
    assert told.startswith("<ZeroResult: nonzero, ball arithmetic with 64 bits at a rational point: ")
    assert told.endswith(" at {'x': '1/2'}>") and "-0.25" in told
    assert repr(zero_test(0.5 * x)) == "<ZeroResult: undecided, floats are never proofs: 0.5*x>"


def test_points_that_do_not_respect_what_is_positive_are_left_out() -> None:
    """Zero is not positive; of no names one point is enough."""
    drawn: list[int] = []

    def points(names: Sequence[str], seed: int) -> Iterator[dict[str, Fraction]]:
        for k in count(-1):
            drawn.append(k)
            yield {name: Fraction(k, 2) for name in names}

    found = zero.points_for([x * y], ["x"], 0, points)
    assert [point["x"] for point in found] == [Fraction(k, 2) for k in range(1, zero.POINTS - 1)]
    assert len(drawn) == zero.POINTS and all(set(point) == {"x", "y"} for point in found)
    drawn.clear()
    assert zero.points_for([num(3)], [], 0, points) == [{}] and len(drawn) == 1
    assert zero.points_for([x * y], ["y"], 5) == list(rational_points(["x", "y"], ["y"], 5))
    assert zero.points_for([x], ["y"], 5) == zero.points_for([x], [], 5) != zero.points_for([x], [], 6)


def test_balls_at_points_enclose_the_value_there_and_are_none_where_it_has_none() -> None:
    node = 1 / (x - 1) + exp(x)
    points = [{"x": Fraction(k, 3)} for k in range(1, 5)]
    found = list(zero.ball_values(node, points, 100))
    assert [point for point, _ in found] == points
    for point, ball in found:
        if point["x"] == 1:
            assert ball is None or not ball.is_finite()
        else:
            exact = 1 / flint.arb(flint.fmpq(point["x"].numerator - 3, 3)) if point["x"].denominator == 1 else None
            with flint.ctx.workprec(200):
                at = flint.arb(flint.fmpq(point["x"].numerator, point["x"].denominator))
                assert exact is None and ball.contains(1 / (at - 1) + at.exp()) and float(ball.rad()) < 1e-27


def test_what_vanishes_may_vanish() -> None:
    """At random points modulo a prime; where there are roots, or a divisor is zero, nothing is said against it."""
    vanishing = [
        (x + y) ** 2 - x**2 - 2 * x * y - y**2,
        1 / (x * (x + 1)) - 1 / x + 1 / (x + 1),
        x / 3 - x * Fraction(1, 3),
    ]
    assert all(map(zero._may_vanish, [*vanishing, sqrt(x) + 1, 1 / vanishing[0] + x]))
    for other in (x + y, (x + y) ** 2 - x**2 - y**2, x / 3 - x / 7, num(1), 1 / (1 + x) - 1):
        assert not zero._may_vanish(other)


def test_a_text_is_whole_up_to_its_longest_length() -> None:
    for length in range(zero.SHORT - 2, zero.SHORT + 3):
        name = "a" * length
        told = in_short(sym(name))
        assert told == name if length <= zero.SHORT else told.startswith("an expression of 1 nodes in 1 symbols")
    assert in_short(graph.multiply(*(sym(f"x{k}") for k in range(90)))) == "a product of 90 factors in 90 symbols"
