"""Rewriting: every rule keeps the value, equal arguments share an atom, floats are seen."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from odesys.exact.rewriting import Rewriter, has_floats, primes
from odesys.exact.zero import prove_zero
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, Node, call, exp, num, power, sqrt, step, sym
from odesys.expr.tape import ARRAYS, Tape

from .test_zero import IDENTITIES

X, Y, Z = sym("x"), sym("y"), sym("z")
POINT = {"x": 0.7, "y": 1.9}
RULES: dict[str, Node] = {
    "exp": exp(2 * X + Y) * exp(-X / 3),
    "sigmoid": call("sigmoid", X) + call("sigmoid", -2 * X),
    "softplus": call("softplus", X - Y),
    "tanh": call("tanh", 3 * X),
    "cosh": call("cosh", X) * call("sinh", Y),
    "cos": call("cos", X + 2 * Y) * call("sin", X / 2),
    "tan": call("tan", X - Y),
    "log": call("log", 12 * X**2 * Y),
    "root": sqrt(8 * X * Y**3),
}


def value(node: Node, env: dict[str, float]) -> float:
    return float(Tape.of([node]).over(ARRAYS)(env)[0])


@pytest.mark.parametrize("name", RULES)
def test_a_rule_keeps_the_value(name: str) -> None:
    rewriter = Rewriter(positive=["x", "y"])
    (new,) = rewriter([RULES[name]])
    env = dict(POINT)
    while missing := sorted(graph.symbols([new, *(a for _, a in rewriter.meaning.values())]) - set(env)):
        for atom in missing:
            kind, argument = rewriter.meaning[sym(atom)]
            if graph.symbols([argument]) <= set(env):
                env[atom] = value(call(kind, argument) if kind != "exp" else exp(argument), env)
    assert not any(node.op not in ("num", "sym", "add", "mul") for node in graph.topological([new]))
    assert value(new, env) == pytest.approx(value(RULES[name], POINT), rel=1e-12)


def test_multiples_of_an_exponent_share_an_atom() -> None:
    rewriter = Rewriter()
    first, second = rewriter([exp(X), exp(2 * X)])
    assert first.op == "sym" and second is first * first


def test_angles_are_added_in_one_unit() -> None:
    rewriter = Rewriter()
    half, whole = rewriter([call("cos", X / 2), call("cos", X)])
    unit = {argument for kind, argument in rewriter.meaning.values() if sym("x") in graph.topological([argument])}
    assert unit == {X / 2} and graph.symbols([half, whole]) <= {atom.args[0] for atom in rewriter.meaning}


def test_a_gate_and_its_opposite_differ_only_on_the_surface() -> None:
    rewriter = Rewriter(positive=["x"])
    assert rewriter([step(X), step(-X), step(X + exp(Y))]) == [ONE, ZERO, ONE]
    gate, other = rewriter([step(Y), step(-Y)])
    assert gate.op == "sym" and len(graph.symbols([gate + other])) == 1  # only the edge is left


def test_a_divisor_that_vanishes_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        Rewriter()([power(exp(X) - exp(X / 2) * exp(X / 2) + 0 * Y, num(-1).args[0])])


def test_floats_are_seen_wherever_they_are() -> None:
    assert has_floats([exp(X * num(0.5))]) and has_floats([X + num(math.pi)]) and not has_floats([X / 2])


def test_what_turns_out_to_be_zero_is_neither_positive_nor_past_a_surface() -> None:
    """A gate is open where its argument is positive: not at zero."""
    nothing = call("log", exp(X)) - X
    assert nothing is not ZERO
    rewriter = Rewriter(positive=["x"])
    assert rewriter([step(nothing), step(nothing + 1), step(nothing - 1), step(nothing + X)]) == [ZERO, ONE, ZERO, ONE]
    assert rewriter([call("sin", nothing), call("arctan", nothing), exp(nothing)]) == [ZERO, ZERO, ONE]


@pytest.mark.parametrize(
    ("nodes", "passes"),
    [
        ([exp(X), step(Y)], 1),
        ([call("cos", X), call("cos", X)], 1),
        ([call("cos", X), call("sin", 3 * X)], 1),
        ([call("cos", X), call("cos", X / 2)], 2),  # the first is written in x before x/2 is seen
        ([call("cos", X), call("cos", X / 2), call("cos", X / 3)], 2),
    ],
)
def test_roots_are_rewritten_again_only_where_an_angle_was_split(
    nodes: list[Node], passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    plain = Rewriter._rewrite
    monkeypatch.setattr(Rewriter, "_rewrite", lambda self, roots: (made.append(len(roots)), plain(self, roots))[1])
    rewriter = Rewriter()
    rewriter(nodes)
    assert made == [len(nodes)] * passes
    rewriter(nodes)  # units are known now
    assert len(made) == passes + 1


@pytest.mark.parametrize("name", IDENTITIES)
def test_both_sides_of_an_identity_are_the_same_in_atoms(name: str) -> None:
    """By these rules and by multiplying out, without other tests of zero."""
    assert prove_zero(IDENTITIES[name])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (exp(2 * X + Y), exp(X) * exp(X) * exp(Y)),
        (exp((X**2 - Y**2) / (X - Y)), exp(X) * exp(Y)),
        (exp((X + 1) ** 2), exp(X**2) * exp(2 * X) * exp(num(1))),
        (exp(X / (1 + X)), exp(num(1)) / exp(1 / (1 + X))),  # divided with remainder
        (exp((X**3 + Y) / (X - Y)), exp(X**2) * exp(X * Y) * exp((Y**3 + Y) / (X - Y)) * exp(Y**2)),
        (exp(3 * call("log", X)), X**3),
        (
            call("log", 12 * X**2 / Y),
            2 * call("log", num(2)) + call("log", num(3)) + 2 * call("log", X) - call("log", Y),
        ),
        (call("log", exp(X) * Y), X + call("log", Y)),
        (call("log", (X + 1) ** 2 + Y), call("log", X**2 + 2 * X + 1 + Y)),
        (call("log", 2 + 2 / exp(X)), call("log", num(2)) + call("log", 1 + exp(X)) - X),
        (sqrt(8 * X * Y**3), 2 * sqrt(num(2)) * sqrt(X) * Y * sqrt(Y)),
        (sqrt(1 + exp(-X)), sqrt(1 + exp(X)) / exp(X / 2)),
        (sqrt(exp(3 * X) + exp(5 * X)), exp(3 * X / 2) * sqrt(1 + exp(2 * X))),
        (power((X + Y) / 4, Fraction(3, 2)), power(X + Y, Fraction(3, 2)) / 8),
        (call("sin", X + Y), call("sin", X) * call("cos", Y) + call("cos", X) * call("sin", Y)),
        (call("sin", -40 * X), -call("sin", 40 * X)),  # too many parts to be added up
        (call("cos", -40 * X), call("cos", 40 * X)),
        (call("sin", X / 2 - 40 * Y), -call("sin", 40 * Y - X / 2)),
        (call("arctan", -X / 3), -call("arctan", X / 3)),
        (step(2 * X - 6 * Y), step(X / 3 - Y)),
        (step((X - Y) ** 2 - X**2 - Y**2 + 4 * X * Y), ONE),
    ],
)
def test_what_is_equal_is_written_in_the_same_atoms(first: Node, second: Node) -> None:
    rewriter = Rewriter(positive=["x", "y"])
    left, right = rewriter([first, second])
    assert left is right or rewriter._expand(left - right) is ZERO


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (sqrt((X - 1) ** 2), X - 1),  # of no known sign
        (sqrt(Z * Y - Z), sqrt(Z) * sqrt(Y - 1)),
        (call("log", (X - 1) ** 2), 2 * call("log", X - 1)),
        (sqrt(X - 1) * sqrt(X - 2), sqrt((X - 1) * (X - 2))),
        (call("log", X * (X - 1)), call("log", X) - call("log", X - 1)),
        (step(X - Y), step(Y - X)),
        (step(X - Y), 1 - step(Y - X)),  # not at X = Y
        (step(X - Y), step(X + Y)),
        (call("sin", 40 * X), call("sin", -40 * X)),
        (exp(X + Y), exp(X - Y)),
        (call("cosh", X), call("sinh", X)),
    ],
)
def test_what_differs_is_kept_apart(first: Node, second: Node) -> None:
    rewriter = Rewriter(positive=["x"])
    left, right = rewriter([first, second])
    assert left is not right and rewriter._expand(left - right) is not ZERO


def test_a_root_of_nothing_is_nothing_and_one_over_it_is_an_error() -> None:
    nothing = call("log", exp(X)) - X
    rewriter = Rewriter()
    assert rewriter([sqrt(nothing), nothing**3, power(nothing, Fraction(7, 3))]) == [ZERO] * 3
    for exponent in (Fraction(-1), Fraction(-1, 2), Fraction(-3, 2)):
        with pytest.raises(ZeroDivisionError, match="a divisor vanishes identically"):
            rewriter([power(nothing, exponent)])
    with pytest.raises(ZeroDivisionError, match="a logarithm vanishes identically"):
        rewriter([call("log", nothing)])


def test_an_argument_that_would_be_long_is_left_as_it_is() -> None:
    """A cosine of many angles, and an argument of many terms, are atoms of their own; values are kept."""
    many = graph.add([sym(f"x{k}") for k in range(9)])
    rewriter = Rewriter()
    cosine, sine = rewriter([call("cos", many), call("sin", -many)])
    assert cosine.op == "sym" and (-sine).op == "sym" and {cosine, -sine} <= set(rewriter.meaning)
    long = (many + 1) ** 9 * (many + 2) ** 9
    (atom,) = rewriter([call("arctan", long)])
    assert rewriter.meaning[atom][0] == "arctan" and not rewriter.relations.sine.get(atom)
    assert rewriter.normal(long) is long


def test_floats_are_seen_in_each_place_and_nowhere_else() -> None:
    half = num(0.5)
    for node in (half, half * X, X + half, call("sin", half + X), power(X + half, Fraction(1, 2))):
        assert has_floats([X, node]) is True
    for node in (ONE / 2, X, X * Y / 3, power(X, Fraction(1, 2)), call("sin", X + Y)):
        assert has_floats([node]) is False


def test_numbers_are_prime_powers_up_to_a_size() -> None:
    assert dict(primes(Fraction(360, 49))) == {num(2): 3, num(3): 2, num(5): 1, num(7): -2}
    large = 10**18 + 9
    assert dict(primes(Fraction(large, 4))) == {num(large): 1, num(2): -2}
    assert list(primes(Fraction(1))) == []


def test_a_gate_its_opposite_and_their_edge_are_numbers_0_or_1_of_which_one_is_1() -> None:
    """Of an argument that is only seen to be opposite, or a multiple, when it is written in atoms."""
    angle = call("log", exp(4 * Z) / exp(2 * X)) / 2  # 2 z - x
    rewriter = Rewriter(positive=["x"])
    gate, other, again, twice = rewriter([step(X - 2 * Z), step(angle), step(-angle), step(6 * angle)])
    assert gate is again and other is twice and gate.op == "sym" and other is not ONE - gate
    edge = ONE - gate - other
    assert edge.op == "sym" and rewriter.meaning[edge][0] == "edge"
    for product in (gate**2 - gate, other**2 - other, edge**2 - edge, gate * other, gate * edge, other * edge):
        assert rewriter._expand(product) is ZERO
    assert rewriter._expand(edge * (X - 2 * Z)) is ZERO is not rewriter._expand(edge * (X + 2 * Z))


def test_the_logarithm_of_a_sum_is_one_atom() -> None:
    (plain,) = Rewriter(positive=["x", "y"])([call("log", X + Y)])
    (unknown,) = Rewriter()([call("log", X + Y)])
    assert plain.op == unknown.op == "sym"


def test_an_argument_is_one_quotient_in_lowest_terms() -> None:
    rewriter = Rewriter()
    assert rewriter.normal((X**2 + 1) / (X + 1) + 1) is (X**2 + X + 2) / (X + 1)
    assert rewriter.normal((X**2 - 1) / (X - 1)) is X + 1 and rewriter.normal(X * Y + 3) is X * Y + 3
    assert rewriter.normal((X + Y) * (X - Y)) is X**2 - Y**2


def test_signs_that_are_known() -> None:
    """Sums of positive terms, products of positive factors, numbers and exponentials; nothing else."""
    rewriter = Rewriter(positive=["x", "y"])
    open_, closed = rewriter([step(node) for node in (X + Y, X - Y)])
    assert open_ is ONE and closed not in (ONE, ZERO)
    for node in (
        X,
        X * Y,
        X**2 / Y,
        X + 2,
        3 * X + exp(-Z),
        exp(Z) * X,
        sqrt(X),
        num(3),
        X / (X + exp(Z)),
        exp(Z) + exp(-Z),
    ):
        assert rewriter([step(node), step(-node)]) == [ONE, ZERO], node
    for node in (Z, Z**2, X * Z, X - 1, 2 - X, -X + exp(Z), X + Z, Z / (Z + 1), call("log", X), call("sin", X) + 2):
        assert rewriter([step(node)])[0] not in (ONE, ZERO), node
    assert rewriter([step(num(-2)), step(num(2))]) == [ZERO, ONE]


def test_a_half_line_and_its_opposite_share_their_atoms_whichever_comes_first() -> None:
    for sign in (1, -1):
        rewriter = Rewriter()
        gate, other = rewriter([step(sign * (2 * Z - 4)), step(sign * (4 - 2 * Z))])
        surface = sign * (Z / 2 - 1)
        assert gate.op == "sym" and rewriter.meaning[gate] == ("step", surface)
        edge = ONE - gate - other
        assert rewriter.meaning[edge] == ("edge", surface) and rewriter.relations.gates == {gate}
        assert rewriter.relations.edges == {edge: (gate, surface)}


def test_numbers_whose_factors_are_known_and_others() -> None:
    from odesys.exact.rewriting import _FACTOR_LIMIT

    assert list(primes(Fraction(_FACTOR_LIMIT))) == [(num(2), 18), (num(5), 18)]
    assert list(primes(Fraction(1, _FACTOR_LIMIT + 1))) == [(num(_FACTOR_LIMIT + 1), -1)]
    assert list(primes(Fraction(2, 3))) == [(num(2), 1), (num(3), -1)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_angles_of_multiples_are_polynomials_in_the_atoms_of_one(count: int) -> None:
    """cos(k x) and sin(k x), of either sign, at cos and sin of a number."""
    rewriter = Rewriter()
    nodes = [call(name, sign * count * X) for name in ("cos", "sin") for sign in (1, -1)]
    made = rewriter(nodes)
    (cosine,) = rewriter.relations.sine
    sine = rewriter.relations.sine[cosine]
    assert rewriter.meaning[cosine] == ("cos", X) and rewriter.meaning[sine] == ("sin", X)
    env = {str(cosine.args[0]): math.cos(0.7), str(sine.args[0]): math.sin(0.7)}
    for node, new in zip(nodes, made, strict=True):
        assert value(new, env) == pytest.approx(value(node, POINT), abs=1e-12)
