"""Linear Lie symmetries against flows of their generators, and scalings against scaled runs."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
import scipy.linalg
import sympy as sp

from odesys import System, integrate, linear_symmetries, scalings
from odesys.analysis import lie_symmetry
from odesys.analysis.lie_symmetry import LinearSymmetry, _nullspace
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import sym

KEPLER = {"x": "u", "y": "v", "u": "-x/(x**2 + y**2)**(3/2)", "v": "-y/(x**2 + y**2)**(3/2)"}


@pytest.mark.parametrize(
    ("equations", "count"),
    [
        ({"x": "y", "y": "-x"}, 2),  # all combinations of the identity and the rotation
        ({"x": "x - y - x*(x**2 + y**2)", "y": "x + y - y*(x**2 + y**2)"}, 1),  # the rotation
        ({"x": "y*z", "y": "-2*x*z", "z": "x*y"}, 1),  # x -> k x, t -> t/k
        (KEPLER, 2),  # rotation; Kepler's third law
        ({"x": "x**2 + 1"}, 0),
    ],
)
def test_solutions_go_to_solutions(equations: dict[str, str], count: int) -> None:
    system = System.from_strings(equations)
    found = linear_symmetries(system)
    assert len(found) == count
    rng = np.random.default_rng(2)
    for g in found:
        matrix = np.zeros((system.dimension,) * 2)
        for (row, column), c in g.matrix.items():
            matrix[system.names.index(row), system.names.index(column)] = float(c)
        move, s = scipy.linalg.expm(0.1 * matrix), 0.1
        start = rng.uniform(0.5, 1.0, system.dimension)
        end = np.exp(float(g.time) * s) * 0.2
        one = move @ integrate(system, start, (0.0, end)).states[-1]
        other = integrate(system, move @ start, (0.0, 0.2)).states[-1]
        assert np.abs(one - other).max() < 1e-7


def test_scalings_of_kepler_are_the_third_law() -> None:
    (law,) = scalings(System.from_strings(KEPLER))
    assert law["t"] / law["x"] == law["t"] / law["y"] and (law["t"] / law["x"]) * 2 == 3


def test_scalings_with_parameters_are_units() -> None:
    predator = System.from_strings({"x": "a*x - b*x*y", "y": "-c*y + d*x*y"})
    found = scalings(predator, parameters=True)
    assert len(found) == 3  # units of x, y and t: four parameters become one
    rng = np.random.default_rng(4)
    start, values = [1.0, 0.7], {"a": 1.0, "b": 0.5, "c": 0.8, "d": 0.3}
    for weights in found:
        k = {name: float(rng.uniform(1.2, 1.5)) ** 0 * 1.3 ** float(a) for name, a in weights.items()}
        scaled = {name: v * k.get(name, 1.0) for name, v in values.items()}
        moved = [v * k.get(name, 1.0) for name, v in zip(predator.names, start, strict=True)]
        one = integrate(predator, start, (0.0, 1.0), values).states[-1]
        other = integrate(predator, moved, (0.0, k.get("t", 1.0)), scaled).states[-1]
        assert np.abs(one * [k.get(name, 1.0) for name in predator.names] - other).max() < 1e-7


def test_functions_and_gates_fix_what_they_must() -> None:
    assert scalings(System.from_strings({"x": "sin(x) - x"})) == ()
    assert len(scalings(System.from_strings({"x": "-sign(x)"}))) == 1  # a gate sees no size


def test_what_is_not_searched_is_said() -> None:
    with pytest.raises(EquationError, match="do not contain t"):
        linear_symmetries(System.from_strings({"x": "x*t"}))
    many = System.from_strings({f"x{i}": f"-x{i}" for i in range(30)})
    with pytest.raises(EquationError, match="900 entries to search"):
        linear_symmetries(many)
    with pytest.raises(EquationError, match="no time to scale"):
        scalings(System.from_strings({"x": "x**2"}, kind="map"))


def test_a_direction_is_written_with_a_step_that_is_no_state() -> None:
    one = Fraction(1)
    assert str(LinearSymmetry({("x", "x"): one, ("x", "y"): -2 * one, ("y", "y"): one}, Fraction(3, 2))) == (
        "x -> x + s*(x - 2*y), y -> y + s*(y), t -> t - 3/2*s*t"
    )
    assert str(LinearSymmetry({("s", "x"): one}, Fraction(0))) == "s -> s + eps*(x)"
    assert str(LinearSymmetry({("s", "eps"): one, ("ds", "s"): one}, Fraction(0))).startswith(
        "s -> s + step_of_symmetry*(eps), "
    )


@pytest.mark.parametrize(
    "equations",
    [
        "x' = y; y' = -x",
        "x' = x^2; y' = x*y",
        "x' = a*x*y; y' = -y",
        "x' = sin(y); y' = 0",
        "x' = x*(x^2 + y^2); y' = y*(x^2 + y^2)",
        "x' = y*z; y' = -2*x*z; z' = x*y",
        "x' = 3*x - y/7; y' = x/5",
    ],
)
def test_every_direction_obeys_its_equation_and_none_is_missing(equations: str) -> None:
    """DF A x - A F = c F by SymPy, and as many as the linear equations for A and c over monomials have solutions."""
    system = System.from_strings(equations)
    found = linear_symmetries(system)
    states = list(system.states)
    field = sp.Matrix(system.rhs)
    n = system.dimension
    unknown = sp.Matrix(n, n, sp.symbols(f"m:{n * n}"))
    c = sp.Symbol("c")
    gap = (field.jacobian(states) * unknown * sp.Matrix(states) - unknown * field - c * field).applyfunc(sp.expand)
    entries = {name: k for k, name in enumerate(system.names)}
    for one in found:
        matrix = sp.zeros(n, n)
        for (row, column), value in one.matrix.items():
            matrix[entries[row], entries[column]] = sp.Rational(value.numerator, value.denominator)
        at = {**dict(zip(unknown, matrix, strict=True)), c: sp.Rational(one.time.numerator, one.time.denominator)}
        assert gap.subs(at).applyfunc(sp.simplify) == sp.zeros(n, 1)
    points = [
        [sp.Rational(3 * k + 5 * j * j + 7, 11 + k * j) for j in range(n + len(system.parameters))] for k in range(14)
    ]
    names = [*states, *(s for s in gap.free_symbols if s.name in system.parameters)]
    rows = [[sp.diff(e, u).subs(dict(zip(names, p, strict=True))) for u in (*unknown, c)] for p in points for e in gap]
    rank = np.linalg.matrix_rank(np.array(rows, dtype=float), tol=1e-8)
    assert len(found) == n * n + 1 - rank


def test_a_surface_must_move_into_itself() -> None:
    """sign(x) is kept where x becomes a multiple of x, and by no shear of x along y."""
    still = linear_symmetries(System.from_strings("x' = sign(x)*0 + step(x); y' = 0"))
    assert still and all(("x", "y") not in one.matrix for one in still)
    assert any(("y", "x") in one.matrix or ("y", "y") in one.matrix for one in still)


def test_errors_say_what_is_searched() -> None:
    for system in (System.from_strings({"x": "x*t"}), System.from_strings({"x": "x"}, kind="map")):
        with pytest.raises(EquationError, match="searched for flows whose equations do not contain t"):
            linear_symmetries(system)
    with pytest.raises(
        EquationError, match=r"^25 states have 625 entries to search, more than those of 24; try scalings\(\)"
    ):
        linear_symmetries(System.from_strings({f"x{k}": f"-x{k}" for k in range(25)}))


def test_the_largest_system_that_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lie_symmetry, "LARGEST", 2)
    assert len(linear_symmetries(System.from_strings("x' = y; y' = -x"))) == 2
    with pytest.raises(EquationError, match="3 states have 9 entries"):
        linear_symmetries(System.from_strings("x' = y; y' = -x; z' = 1"))


@pytest.mark.parametrize(
    ("equations", "parameters", "expected"),
    [
        ("x' = -x; y' = x^2", False, [{"x": "1/2", "y": "1"}]),
        ("x' = x^(1/3)*y; y' = 3*step(x)", False, [{"x": "3", "y": "1", "t": "1"}]),
        ("x' = 0; y' = 1", False, [{"x": "1"}, {"y": "1", "t": "1"}]),
        ("x' = x/(x + y); y' = x + k", False, []),
        ("x' = x/(x + y); y' = x + k", True, []),
        ("x' = exp(k*x)", True, [{"x": "-1", "t": "-1", "k": "1"}]),
        ("x' = exp(k*x)", False, []),
        ("x' = x^2*t", False, [{"x": "-2", "t": "1"}]),
        ("x' = y; y' = a - b", True, [{"x": "1", "y": "1", "a": "1", "b": "1"}, {"x": "2", "y": "1", "t": "1"}]),
        ("x' = x*(1 + y); y' = 0", False, [{"x": "1"}]),
        ("x' = a*x^3/y^2; y' = y", True, [{"x": "1", "y": "1"}, {"y": "1", "a": "2"}]),
    ],
)
def test_exponents_of_scalings(equations: str, parameters: bool, expected: list[dict[str, str]]) -> None:
    """Each is checked by hand: x -> k^a x, t -> k^b t multiplies every term of an equation alike."""
    found = [{name: str(a) for name, a in one.items()} for one in scalings(System.from_strings(equations), parameters)]
    assert sorted(found, key=str) == sorted(expected, key=str) or _same_space(found, expected)


def _same_space(found: list[dict[str, str]], expected: list[dict[str, str]]) -> bool:
    names = sorted({name for one in (*found, *expected) for name in one})
    rows = [[[sp.Rational(one.get(name, 0)) for name in names] for one in some] for some in (found, expected)]
    ranks = [sp.Matrix(r).rank() if r else 0 for r in (*rows, [*rows[0], *rows[1]])]
    return len(set(ranks)) == 1 and len(found) == len(expected)


@pytest.mark.parametrize("seed", range(4))
def test_a_null_space_is_that_of_sympy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(6):
        rows, columns = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        table = [
            [Fraction(int(v), 3) for v in row]
            for row in rng.integers(-2, 3, (rows, columns)) * rng.integers(0, 2, (rows, columns))
        ]
        names = [f"n{k}" for k in range(columns)]
        found = _nullspace([[flint.fmpq(v.numerator, v.denominator) for v in row] for row in table], names)
        assert len(found) == columns - sp.Matrix([[sp.Rational(str(v)) for v in row] for row in table]).rank()
        for vector in found:
            assert list(vector) == [name for name in names if name in vector] and all(vector.values())
            assert all(sum(row[k] * vector.get(name, 0) for k, name in enumerate(names)) == 0 for row in table)
        kernel = [[sp.Rational(str(v.get(name, 0))) for name in names] for v in found]
        assert not kernel or sp.Matrix(kernel).rank() == len(found)


def test_the_rate_of_time_is_that_of_the_field_itself() -> None:
    """For x' = x^2 the direction x moves solutions to those of a time that runs slower: [x, x^2] = 1 x^2."""
    (growth,) = linear_symmetries(System.from_strings({"x": "x^2"}))
    change = 2 * sym("x") * sym("x") - sym("x") ** 2
    assert growth.time == 1 and zero_test(graph.combine([(1, change), (-growth.time, sym("x") ** 2)])).answer == "zero"
    (cubic,) = linear_symmetries(System.from_strings({"x": "5*x^3"}))
    assert cubic.time / cubic.matrix["x", "x"] == 2


def test_parameters_stay_unless_asked() -> None:
    growth = System.from_strings({"x": "k*x^2"})
    assert scalings(growth) == scalings(growth, False) == ({"x": Fraction(-1), "t": Fraction(1)},)
    assert len(scalings(growth, parameters=True)) == 2 and any("k" in one for one in scalings(growth, parameters=True))
