"""Points of a batch as rows."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from numerics.compiled.batch_rows import batch_rows, single_row
from numerics.flows.integrate import default_atol
from odesys import EquationError, ParameterError, System

SYSTEM = System.from_strings("x' = -a*x; y' = b*y")
VALUES = {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize("start", [[0.0, 3.0], [1e-4, -2.0], [5.0, 0.0], [0.0, 0.0], [1e-30, 1.0]])
@pytest.mark.parametrize("rtol", [1e-6, 3e-13])
def test_default_tolerances_are_those_of_integrate(start: list[float], rtol: float) -> None:
    size = default_atol(np.array(start), rtol)
    wanted = [*start, size, size, 1.0, 2.0]
    assert batch_rows(SYSTEM, start, [VALUES], rtol, None).tolist() == [wanted]
    assert single_row(SYSTEM, np.array(start), VALUES, rtol, None) == wanted
    assert single_row(SYSTEM, {"y": start[1], "x": start[0]}, {"b": 2, "a": "1"}, rtol, None) == wanted


def test_one_start_or_one_a_point_and_values_by_name() -> None:
    points = [VALUES, {"b": 3.0, "a": 4.0}]
    rows = batch_rows(SYSTEM, [[1.0, 2.0], [3.0, 4.0]], points, 1e-6, [1e-3, 1e-4])
    assert rows.tolist() == [[1, 2, 1e-3, 1e-4, 1, 2], [3, 4, 1e-3, 1e-4, 4, 3]]
    assert batch_rows(SYSTEM, {"y": 2.0, "x": 1.0}, points, 1e-6, 0.5)[:, :4].tolist() == [[1, 2, 0.5, 0.5]] * 2
    assert batch_rows(SYSTEM, [1.0, 2.0], [VALUES] * 5, 1e-6, 0.5).shape == (5, 6)
    assert batch_rows(SYSTEM, [1.0, 2.0], [], 1e-6, 0.5).shape == (0, 6)
    assert single_row(SYSTEM, np.array([1.0, 2.0]), VALUES, 1e-6, 0.25) == [1, 2, 0.25, 0.25, 1, 2]


@pytest.mark.parametrize(
    ("start", "values", "atol", "error", "words"),
    [
        ([1.0, np.nan], VALUES, None, ParameterError, "y = nan must be finite"),
        ([1.0], VALUES, None, EquationError, "1 entries"),
        ([1.0, 2.0], {"a": 1.0}, None, ParameterError, "b has no value"),
        ([1.0, 2.0], {**VALUES, "c": 1.0}, None, ParameterError, "c is not a parameter"),
        ([1.0, 2.0], {"a": 1.0, "c": 1.0}, None, ParameterError, "c is not a parameter"),
        ([1.0, 2.0], {"a": np.inf, "b": 1.0}, None, ParameterError, "a = inf must be finite"),
        ([1.0, 2.0], {"a": "one", "b": 1.0}, None, ParameterError, "is not a number"),
        ([1.0, 2.0], VALUES, -1.0, ParameterError, "not negative"),
        ([1.0, 2.0], VALUES, [1.0], ParameterError, "atol"),
    ],
)
def test_what_is_wrong_is_said(start: list[float], values: dict, atol: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        batch_rows(SYSTEM, start, [values], 1e-6, atol)
    with pytest.raises(error, match=words):
        single_row(SYSTEM, np.array(start), values, 1e-6, atol)


def test_starts_and_points_go_together() -> None:
    with pytest.raises(ParameterError, match="2 starts do not go with 3 sets"):
        batch_rows(SYSTEM, [[1.0, 2.0]] * 2, [VALUES] * 3, 1e-6, None)


@pytest.mark.parametrize("starts", ["ab", None, 5, [1j, 0], [[1, 0], [1]], np.zeros((1, 2, 1))])
def test_starts_that_are_no_rows_of_numbers_are_refused(starts: object) -> None:
    with pytest.raises(EquationError):
        batch_rows(System.from_strings("x' = -k*x; y' = x"), starts, [{"k": 1.0}], 1e-6, None)


@pytest.mark.parametrize("points", [None, 5, "ab", {}, {"k": 1.0}, [5], [None], np.array([1.0])])
def test_points_that_are_no_list_of_parameters_are_refused(points: object) -> None:
    with pytest.raises(ParameterError):
        batch_rows(System.from_strings("x' = -k*x; y' = x"), [1.0, 0.0], points, 1e-6, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_every_row_is_that_of_its_point_however_it_is_given(seed: int) -> None:
    """All at once, one by one, as arrays, lists or names; by names or symbols of parameters, of any type of number."""
    rng = np.random.default_rng(seed)
    starts = rng.normal(size=(6, 2)) * 10.0 ** rng.integers(-9, 3, (6, 2)) * (rng.random((6, 2)) < 0.8)
    first, second = {"a": 1.5, "b": -2.0}, {"b": 7, "a": np.float32(0.25)}
    points = [first, first, second, first, second, dict(second)]
    symbols = [{sp.Symbol(name): value for name, value in point.items()} for point in points]
    for atol in (None, 0.0, 1e-7, [1e-3, 0.0]):
        rtol = 10.0 ** rng.uniform(-13, -2)
        sizes = [[default_atol(x, rtol)] * 2 if atol is None else np.broadcast_to(atol, 2) for x in starts]
        values = [[float(point["a"]), float(point["b"])] for point in points]
        wanted = np.hstack([starts, np.array(sizes), np.array(values)])
        for given in (points, symbols):  # the second are made row by row
            found = batch_rows(SYSTEM, starts, given, rtol, atol)
            assert found.tolist() == wanted.tolist()
            assert batch_rows(SYSTEM, starts[2], given, rtol, atol)[:, :2].tolist() == [starts[2].tolist()] * 6
            for x, point, row in zip(starts, given, wanted, strict=True):
                for start in (x, x.tolist(), {"y": x[1], "x": x[0]}):
                    assert single_row(SYSTEM, start, point, rtol, atol) == row.tolist()


def test_what_one_point_of_many_has_wrong_is_said() -> None:
    for wrong in ({"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "c": 3.0}, {"a": 1.0, "b": np.nan}):
        for points in ([VALUES, wrong], [wrong, VALUES], [VALUES, VALUES, wrong]):
            with pytest.raises(ParameterError):
                batch_rows(SYSTEM, [1.0, 2.0], points, 1e-6, None)
    with pytest.raises(ParameterError, match="x = inf must be finite"):
        batch_rows(SYSTEM, [[1.0, 2.0], [np.inf, 1.0]], [VALUES] * 2, 1e-6, 0.5)
    for atol in (np.inf, -1e-9, np.nan):
        with pytest.raises(ParameterError):
            single_row(SYSTEM, np.array([1.0, 2.0]), {"a": 1.0, "b": 2.0}, 1e-6, atol)
    for start in ([np.nan, 1.0], [1.0, -np.inf]):
        with pytest.raises(ParameterError, match="must be finite"):
            single_row(SYSTEM, np.array(start), VALUES, 1e-6, 0.5)
    with pytest.raises(EquationError, match="have the shape"):
        batch_rows(SYSTEM, np.zeros((2, 2, 2)), [VALUES] * 2, 1e-6, None)
