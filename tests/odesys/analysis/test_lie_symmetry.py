"""Linear Lie symmetries against flows of their generators, and scalings against scaled runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from odesys import System, integrate, linear_symmetries, scalings
from odesys.errors import EquationError

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
