"""Conserved quantities of known systems, their broken twins, and the conserved spectra of attention flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from odesys.analysis import first_integrals as room
from odesys.analysis import integral_search
from odesys.analysis.conserved import check_integral, lie_derivative
from odesys.analysis.first_integrals import (
    Integrals,
    _conserves_nothing,
    _listed,
    first_integrals,
    natural_atoms,
    polynomial_integrals,
)
from odesys.analysis.integral_search import FirstIntegral
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.sympy_bridge import to_sympy
from odesys.expr.system import System
from odesys.reading.grammar import Grammar
from tests.found_integrals import only, same_up_to_factor

x, y, t = sp.symbols("x y t")


def oscillator(sign: int = -1, friction: Any = 0) -> System:
    return System.from_equations({x: y, y: sign * x - friction * y})


W = sp.symbols("w1:4")
MOMENTS = sp.symbols("I1:4")


def rigid_body(moments: Sequence[Any], parameters: Sequence[Any] = (), sign: int = 1) -> System:
    """Euler's equations; `sign` = -1 is the broken twin."""
    a, b, c = moments
    return System.from_equations(
        {W[0]: sign * (b - c) / a * W[1] * W[2], W[1]: (c - a) / b * W[2] * W[0], W[2]: (a - b) / c * W[0] * W[1]},
        parameters=parameters,
    )


A, B = sp.symbols("a1:3"), sp.symbols("b1:4")


def toda(sign: int = 1) -> System:
    """Three particles, free ends, in Flaschka's variables."""
    return System.from_equations(
        {
            B[0]: 2 * A[0] ** 2,
            B[1]: 2 * (A[1] ** 2 - A[0] ** 2),
            B[2]: -2 * A[1] ** 2,
            A[0]: A[0] * (B[1] - B[0]),
            A[1]: sign * A[1] * (B[2] - B[1]),
        }
    )


def toda_traces() -> list[sp.Expr]:
    matrix = sp.Matrix([[B[0], A[0], 0], [A[0], B[1], A[1]], [0, A[1], B[2]]])
    return [sp.expand((matrix**q).trace()) for q in (1, 2, 3)]


RATES = sp.symbols("alpha beta gamma delta")


def predators(sign: int = 1) -> System:
    alpha, beta, gamma, delta = RATES
    return System.from_equations({x: alpha * x - beta * x * y, y: sign * delta * x * y - gamma * y}, parameters=RATES)


def span_contains(found: Sequence[FirstIntegral], wanted: sp.Expr, names: Sequence[Any], degree: int) -> bool:
    """Whether `wanted` is a polynomial in the integrals found, by linear algebra over their products."""
    known = [to_sympy(i.node, {str(n): n for n in names}) for i in found]
    products: list[sp.Expr] = [sp.Integer(1)]
    frontier = list(products)
    for _ in range(degree):
        frontier = [p * k for p in frontier for k in known]
        products += frontier
    unknowns = sp.symbols(f"q0:{len(products)}")
    gap = sp.Poly(wanted - sum(q * p for q, p in zip(unknowns, products, strict=True)), *names)
    return bool(sp.linsolve(gap.coeffs(), *unknowns))


# ---- polynomial integrals ------------------------------------------------------------------------------------------


def test_the_oscillator_conserves_its_energy() -> None:
    (found,) = polynomial_integrals(oscillator(), 2)
    assert found.node is graph.as_node(x**2 + y**2)
    assert found.proof.startswith("exact")
    assert oscillator().first_integrals() == [found]


def test_powers_of_an_integral_are_not_listed_again() -> None:
    assert len(polynomial_integrals(oscillator(), 6)) == 1


def test_friction_leaves_nothing() -> None:
    assert polynomial_integrals(oscillator(friction=sp.Rational(1, 10)), 4) == []
    result = check_integral(oscillator(friction=sp.Rational(1, 10)), x**2 + y**2)
    assert result.answer == "nonzero" and result.witness is not None and result.witness["y"] != 0


def test_a_flipped_sign_changes_the_integral() -> None:
    (found,) = polynomial_integrals(oscillator(sign=1), 2)
    assert found.node in (graph.as_node(x**2 - y**2), graph.as_node(y**2 - x**2))
    assert check_integral(oscillator(sign=1), x**2 + y**2).answer == "nonzero"


NUMBERS = (sp.Rational(1), sp.Rational(5, 3), sp.Rational(7, 2))


def quadratics(moments: Sequence[Any]) -> list[sp.Expr]:
    pairs = list(zip(moments, W, strict=True))
    return [sum(m * w**2 for m, w in pairs), sum(m**2 * w**2 for m, w in pairs)]


def test_rigid_body_with_numbers() -> None:
    found = polynomial_integrals(rigid_body(NUMBERS), 3)
    assert len(found) == 2
    assert all(span_contains(found, wanted, W, 1) for wanted in quadratics(NUMBERS))


def test_rigid_body_with_symbols() -> None:
    system = rigid_body(MOMENTS, MOMENTS)
    assert polynomial_integrals(system, 3) == []  # no integral with numbers as coefficients
    found = polynomial_integrals(system, 4, parameters=True)
    assert {i.node for i in found} == {graph.as_node(wanted) for wanted in quadratics(MOMENTS)}


def test_rigid_body_broken() -> None:
    system = rigid_body(MOMENTS, MOMENTS, sign=-1)
    for wanted in quadratics(MOMENTS):
        result = check_integral(system, wanted)
        assert result.answer == "nonzero" and result.witness is not None
    wrong = {i.node for i in polynomial_integrals(system, 4, parameters=True)}
    assert not wrong & {graph.as_node(wanted) for wanted in quadratics(MOMENTS)}


def test_toda_chain() -> None:
    found = polynomial_integrals(toda(), 3)
    assert len(found) == 3
    assert all(span_contains(found, wanted, (*A, *B), 3) for wanted in toda_traces())
    assert [check_integral(toda(), wanted).answer for wanted in toda_traces()] == ["zero"] * 3


def test_toda_chain_broken() -> None:
    answers = [check_integral(toda(sign=-1), wanted) for wanted in toda_traces()]
    assert [a.answer for a in answers] == ["zero", "nonzero", "nonzero"]  # total momentum does not see the sign
    assert len(polynomial_integrals(toda(sign=-1), 3)) < 3


def test_predators_conserve_no_polynomial() -> None:
    assert polynomial_integrals(predators(), 3) == []
    assert polynomial_integrals(predators(), 4, parameters=True) == []


def test_predators_conserve_a_supplied_logarithm() -> None:
    alpha, beta, gamma, delta = RATES
    supplied = delta * x - gamma * sp.log(x) + beta * y - alpha * sp.log(y)
    assert check_integral(predators(), supplied).answer == "zero"
    broken = check_integral(predators(sign=-1), supplied)
    assert broken.answer == "nonzero" and broken.witness is not None
    change = lie_derivative(predators(sign=-1), supplied)
    exact = graph.substitute([change], {sym(n): graph.num(v) for n, v in broken.witness.items()})[0]
    assert exact.op == "num" and exact.args[0] != 0


def test_functions_are_opaque_but_related() -> None:
    assert len(polynomial_integrals(System.from_equations({x: y * sp.exp(x), y: -x * sp.exp(x)}), 2)) == 1
    sigmoid = 1 / (1 + sp.exp(-x))
    mirror = 1 / (1 + sp.exp(x))
    (found,) = polynomial_integrals(System.from_equations({x: sigmoid, y: mirror, "s": 1}), 1)
    assert found.node in (graph.as_node(x + y - sp.Symbol("s")), graph.as_node(sp.Symbol("s") - x - y))


def test_maps() -> None:
    turn = System.from_equations({x: (3 * x - 4 * y) / 5, y: (4 * x + 3 * y) / 5}, kind="map")
    (found,) = polynomial_integrals(turn, 2)
    assert found.node is graph.as_node(x**2 + y**2)
    swap = System.from_equations({x: y, y: x}, kind="map")
    assert {i.node for i in polynomial_integrals(swap, 2)} == {graph.as_node(x + y), graph.as_node(x * y)}
    assert check_integral(swap, x - y).answer == "nonzero"
    with pytest.raises(EquationError, match="no time"):
        check_integral(swap, x + t)


def test_bad_input_is_refused() -> None:
    with pytest.raises(EquationError, match="floats"):
        polynomial_integrals(System.from_equations({x: 0.5 * y, y: -x}))
    with pytest.raises(EquationError, match="neither a state nor a parameter"):
        check_integral(oscillator(), sp.Symbol("u"))
    with pytest.raises(EquationError, match="at least 1"):
        polynomial_integrals(oscillator(), 0)
    with pytest.raises(EquationError, match="monomials"):
        polynomial_integrals(System.from_equations({f"x{i}": 0 for i in range(60)}), 3)


# ---- every kind of term, and what the answer is complete for --------------------------------------------------------


def test_coefficients_in_the_parameters() -> None:
    found = first_integrals(rigid_body(MOMENTS, MOMENTS))
    assert {i.node for i in found} == {graph.as_node(wanted) for wanted in quadratics(MOMENTS)} and found.complete
    alpha, beta, gamma, delta = RATES
    wanted = delta * x - gamma * sp.log(x) + beta * y - alpha * sp.log(y)
    assert only(predators()) is graph.as_node(wanted)
    assert len(first_integrals(predators(), atoms=())) == 0  # no polynomial, and the answer says so
    assert "in x, y" in first_integrals(predators(), atoms=()).ansatz


def test_susceptible_infected_removed() -> None:
    s, i, r, beta, gamma = sp.symbols("S I R beta gamma")
    epidemic = System.from_equations({s: -beta * s * i, i: beta * s * i - gamma * i, r: gamma * i}, [beta, gamma])
    found = first_integrals(epidemic, 1)
    assert [i.node for i in found] == [graph.as_node(s + i + r), graph.as_node(beta * r + gamma * sp.log(s))]
    assert found.complete


def test_functions_of_states_are_atoms() -> None:
    assert only(System.from_equations({x: y, y: -sp.sin(x)})) is graph.as_node(y**2 - 2 * sp.cos(x))
    assert same_up_to_factor(only(System.from_equations({x: y, y: -sp.exp(x)})), y**2 + 2 * sp.exp(x))


def test_kepler_has_energy_momentum_and_the_laplace_vector() -> None:
    u, v = sp.symbols("u v")
    radius = sp.sqrt(x**2 + y**2)
    kepler = System.from_equations({x: u, y: v, u: -x / radius**3, v: -y / radius**3})
    found = first_integrals(kepler, 3)
    momentum = x * v - y * u
    wanted = [momentum, (u**2 + v**2) / 2 - 1 / radius, v * momentum - x / radius, u * momentum + y / radius]
    for quantity in wanted:
        assert any(
            sp.simplify(to_sympy(i.node, {"x": x, "y": y, "u": u, "v": v}) / quantity).is_Rational for i in found
        )
    assert len(found) == 4 and found.complete


def test_a_rational_integral_is_a_product_of_powers() -> None:
    node = only(System.from_equations({x: x, y: 2 * y}), 1)
    assert node in (graph.as_node(x**2 / y), graph.as_node(y / x**2))
    lines = System.from_equations({x: x * (x + y), y: -y * (x + y)})
    assert any(i.node is graph.as_node(x * y) for i in first_integrals(lines))


def test_linear_laws_of_a_large_network() -> None:
    """A chain of reactions conserves its total; the monomials of degree two are too many, and the answer says so."""
    size = 150
    rates: dict[str, Any] = {f"x{k}": graph.ZERO for k in range(size)}
    for k in range(size - 1):
        rate = (k + 2) * sym(f"x{k}") * sym(f"x{(k + 7) % size}") - 3 * sym(f"x{k + 1}")
        rates[f"x{k}"], rates[f"x{k + 1}"] = rates[f"x{k}"] - rate, rates[f"x{k + 1}"] + rate
    found = first_integrals(System.from_equations(rates))
    assert [i.node for i in found] == [graph.add(sym(name) for name in rates)]
    assert found.complete and found.ansatz.startswith("polynomials of degree at most 1")


def test_one_state_that_moves_conserves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search, which would meet all relations between sines of multiples; whoever may rest on an interval has one."""

    def searched(*_: object) -> None:
        raise AssertionError("a search was begun")

    monkeypatch.setattr(integral_search.Search, "over", searched)
    for rate in ("sin(x)*sin(2*x)*sin(3*x)*sin(5*x)*sin(7*x)", "1/(x^2 + k) - exp(x)", "tanh(x)^3 - k*x"):
        found = System.from_strings({"x": rate}).first_integrals(degree=4)
        assert found.complete and not found
    for rate in ("0", "abs(x) - x", "sqrt(x^2) - x", "log(x^2)", "sin(x)^2 + cos(x)^2 - 1"):
        with pytest.raises(AssertionError, match="search"):
            System.from_strings({"x": rate}).first_integrals()
    with pytest.raises(AssertionError, match="search"):
        System.from_strings({"x": "-x"}, kind="map").first_integrals()


def test_an_answer_says_what_it_is_and_is_the_sequence_of_its_integrals() -> None:
    found = first_integrals(oscillator())
    assert repr(found).startswith("<Integrals: 1, complete for polynomials of degree at most 2 in x")
    assert found == list(found) and found != [] and len(found) == 1 and found[0] is found.found[0]
    left = Integrals((), "all that was tried", False, 2)
    assert repr(left) == "<Integrals: 0, not complete for all that was tried>" and left == ()
    assert (Integrals((), "", True).degree, left.degree, left.independent, left.factor) == (0, 2, 0, None)


def test_an_integrating_factor_is_looked_for_where_there_are_two_states_and_no_integral() -> None:
    assert first_integrals(oscillator()).factor is None
    found = first_integrals(System.from_strings({"x": "x*(1 - x - 2*y)", "y": "y*(1 - 3*x - y)"}))
    assert len(found) == 0 and found.factor is not None
    found = first_integrals(System.from_strings({"x": "x*(1 + y)", "y": "-y*(2 + x)"}))  # 1/(x y) is one as well
    assert len(found) == 1 and found.factor is None
    third = System.from_strings({"x": "x*(1 - x - 2*y)", "y": "y*(1 - 3*x - y)", "z": "z*(1 - z - x*y)"})
    nothing = first_integrals(third, degree=1)
    assert len(nothing) == 0 and nothing.factor is None


LINES = "plus multiples of log(x), log(y), 1/x, y/x, where every invariant curve of degree at most 2 over the rational"


@pytest.mark.parametrize(
    ("equations", "more", "ansatz", "found"),
    [
        ("x' = y; y' = -x", {}, "polynomials of degree at most 2 in x, y", ["x**2 + y**2"]),
        (
            "x' = k*y; y' = -x",
            {"degree": 3},
            "polynomials of degree at most 3 in x, y, with coefficients in k",
            ["k*y**2 + x**2"],
        ),
        (
            "x' = sin(y); y' = x",
            {},
            "polynomials of degree at most 2 in x, y, sin(y), cos(y), different functions taken as independent",
            ["x**2 + 2*cos(y)"],
        ),
        ("x' = sin(y); y' = x", {"atoms": ()}, "polynomials of degree at most 2 in x, y", []),
        (
            "x' = sin(y); y' = x",
            {"atoms": [sp.cos(y)]},
            "polynomials of degree at most 2 in x, y, cos(y), different functions taken as independent",
            ["x**2 + 2*cos(y)"],
        ),
        (
            "x' = x*y; y' = -y",
            {"atoms": [sp.log(x)], "degree": 1},
            "polynomials of degree at most 1 in x, y, plus multiples of log(x)",
            ["y + log(x)"],
        ),
        ("x' = x^2; y' = y", {}, f"polynomials of degree at most 2 in x, y, {LINES} numbers is used", ["log(y) + 1/x"]),
    ],
)
def test_what_an_answer_is_complete_for(equations: str, more: dict[str, Any], ansatz: str, found: list[str]) -> None:
    answer = first_integrals(System.from_strings(equations), **more)
    assert answer.ansatz == ansatz and answer.complete and answer.degree == more.get("degree", 2)
    assert answer.independent == len(answer) == len(found)
    for text in found:
        assert any(same_up_to_factor(i.node, sp.sympify(text)) for i in answer), text


@pytest.mark.parametrize(
    ("equations", "atoms"),
    [
        ("x' = sin(x)*exp(y); y' = 1/(1 + x^2)", {"exp(y)", "sin(x)", "cos(x)", "1/(1 + x^2)"}),
        ("x' = sqrt(x)*y^(-2/3); y' = k/(k + 1)", {"sqrt(x)", "y^(-1/3)"}),
        ("x' = step(x)*tanh(y); y' = exp(k)", {"tanh(y)"}),
        ("x' = (x + y)^(3/2); y' = abs(x)", {"sqrt(x + y)"}),
        ("x' = 1/sin(x); y' = x^-3", {"sin(x)", "cos(x)", "1/x"}),
        ("x' = log(x)/y; y' = cos(2*x)", {"log(x)", "1/y", "cos(2*x)", "sin(2*x)"}),
        ("x' = x^2*y; y' = -y", set()),
    ],
)
def test_functions_roots_and_reciprocals_of_states_are_variables(equations: str, atoms: set[str]) -> None:
    """A sine brings its cosine; powers are those of one root or of one reciprocal."""
    found = natural_atoms(System.from_strings(equations))
    assert set(found) == {Grammar().read(text) for text in atoms} and len(found) == len(atoms)


def test_a_map_has_no_atoms_and_a_flow_at_most_eight() -> None:
    assert natural_atoms(System.from_strings({"x": "sin(x)"}, kind="map")) == []
    many = System.from_strings({"x": " + ".join(f"exp({k}*x)" for k in range(2, 12))})
    assert len(natural_atoms(many)) == 8


@pytest.mark.parametrize(
    ("rate", "nothing"),
    [
        ("x", True), ("sin(x)", True), ("1/x", True), ("k", True), ("exp(x) - k*x^3", True),
        ("0", False), ("sqrt(x)", False), ("log(x)", False), ("t", False), ("abs(x)", False), ("k - k", False),
    ],
)  # fmt: skip
def test_one_state_with_an_analytic_rate(rate: str, nothing: bool) -> None:
    system = System.from_strings({"x": rate})
    assert _conserves_nothing(system, [], 0) is nothing
    assert not _conserves_nothing(System.from_strings({"x": rate, "y": "1"}), [], 0)
    assert not _conserves_nothing(system, [graph.sqrt(sym("x"))], 0)
    assert not _conserves_nothing(system, [graph.call("log", sym("x"))], 0)
    assert _conserves_nothing(system, [graph.call("cos", sym("x"))], 0) is nothing
    if rate != "t":
        assert not _conserves_nothing(System.from_strings({"x": rate}, kind="map"), [], 0)


def test_twelve_variables_are_listed() -> None:
    names = [f"x{k}" for k in range(13)]
    assert _listed([sym(n) for n in names[:12]]) == ", ".join(names[:12])
    assert _listed([sym(n) for n in names]) == ", ".join(names[:12]) + ", ..."


def test_polynomials_in_states_and_parameters() -> None:
    system = System.from_strings("x' = a*y; y' = -b*x")
    both = polynomial_integrals(system, 3, parameters=True)
    assert both.ansatz == "polynomials of degree at most 3 in x, y, a, b" and both.complete
    assert [i.node for i in both] == [graph.as_node(sp.sympify("a*y**2 + b*x**2"))]
    numbers = polynomial_integrals(system, 3)
    assert numbers.ansatz == "polynomials of degree at most 3 in x, y" and numbers.complete and len(numbers) == 0
    free = polynomial_integrals(System.from_strings("x' = a*y; y' = 0"), 2, parameters=True)
    assert [i.node for i in free] == [sym("y")]


def test_searches_have_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five monomials of degree two: as many are searched, and with more the degree falls or the search is refused."""
    turn = oscillator()
    monkeypatch.setattr(room, "LARGEST_SEARCH", 5)
    monkeypatch.setattr(room, "QUICK_SEARCH", 5)
    assert len(polynomial_integrals(turn, 2)) == 1 and first_integrals(turn, 2).degree == 2
    monkeypatch.setattr(room, "QUICK_SEARCH", 4)
    assert first_integrals(turn, 2).degree == 1 and first_integrals(turn, 1).degree == 1
    monkeypatch.setattr(room, "QUICK_SEARCH", 1)
    assert first_integrals(turn, 1).degree == 1
    monkeypatch.setattr(room, "LARGEST_SEARCH", 4)
    with pytest.raises(EquationError, match=r"^degree 2 in 2 variables has 5 monomials, more than 4; lower the degree"):
        polynomial_integrals(turn, 2)
