"""In-context linear regression with d and N as symbols, and what the members must agree on."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from odesys import (
    EverySize,
    Gaussian,
    Words,
    for_every_size,
    gradient_flow,
    graph,
    identity,
    integrate,
    maps,
    squared,
    sym,
)
from odesys.errors import EquationError
from odesys.program import wick
from odesys.reduce.every_size import MOST_DIVISORS, _along, _fitted

d, N, u, w = (sym(name) for name in ("d", "N", "u", "w"))


def member(d: int, N: int) -> Any:
    data = Gaussian.regression(d, N)
    p, A = maps("p", 1, data.words), maps("A", data.words, data.words)

    def f(X: Any) -> Any:
        T, query = X[:-1], X[-1]
        return (p @ T) @ (T.T @ A @ query) / T.count

    return gradient_flow(f, data, squared)


def start(d: int, N: int) -> dict[str, str]:
    return {"p_y": "w", **{f"A_x{a + 1}_x{a + 1}": "u" for a in range(d)}}


@pytest.fixture(scope="module")
def regression() -> EverySize:
    return for_every_size(member, start, d=(1, 2, 3, 4), N=(1, 2, 3))


def test_the_two_equations_of_in_context_regression(regression: EverySize) -> None:
    found, gap = regression.system.equations, (N + d + 1) * u * w - N
    assert set(found) == {"u", "w"} and regression.system.parameters == ("N", "d")
    verdict = identity({"w": found["w"] + d * u * gap / N, "u": found["u"] + w * gap / N})
    assert verdict.as_stated == "holds" and str(verdict.evidence) == "proof"
    assert str(regression.law().evidence) == "measurement" and regression.law().details["members"] == 12
    loss = regression.system.observables["loss"]
    assert identity({"loss": loss - d * ((N + d + 1) * u**2 * w**2 / N - 2 * u * w + 1) / 2}).as_stated == "holds"


def test_the_limit_for_every_d_and_n(regression: EverySize) -> None:
    """v = u w moves towards N / (N + d + 1) at a positive rate, and w^2 - d u^2 never changes."""
    found = regression.system.equations
    limit = N / (N + d + 1)
    product_rate = u * found["w"] + w * found["u"]
    residuals = {
        "product": product_rate - (d * u**2 + w**2) * (N + d + 1) / N * (limit - u * w),
        "conserved": 2 * w * found["w"] - 2 * d * u * found["u"],
    }
    assert identity(residuals).as_stated == "holds"
    rest = graph.substitute(list(found.values()), {w: limit / u})
    assert identity(dict(zip(found, rest, strict=True))).as_stated == "holds"
    assert identity({"wrong": product_rate - (d * u**2 + w**2) * (N / (N + d) - u * w)}).as_stated == "fails"


def test_a_run_ends_at_the_limit(regression: EverySize) -> None:
    system = regression.system.substitute({"d": 5, "N": 20})
    end = integrate(system, {"u": 0.1, "w": 0.1}, (0, 60)).final
    assert abs(end["u"] * end["w"] - 20 / 26) < 1e-8
    assert abs(end["loss"] - 5 * (1 - 20 / 26) / 2) < 1e-8


def test_a_larger_member_agrees(regression: EverySize) -> None:
    """Five coordinates and four examples were not among the members."""
    flow = member(5, 4)
    own = start(5, 4)
    state = np.array([{"u": 0.3, "w": 0.8}[own[name]] if name in own else 0.0 for name in flow.system.names])
    found = dict(zip(flow.system.names, flow.system.compile(backend="block")(0.0, state), strict=True))
    names = regression.system.names
    small = regression.system.compile(d=5, N=4)(0.0, [{"u": 0.3, "w": 0.8}[name] for name in names])
    wanted = dict(zip(names, small, strict=True))
    assert all(abs(value - wanted.get(own.get(name, ""), 0.0)) < 1e-12 for name, value in found.items())


def test_a_dropped_pairing_gives_another_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wick, "_pairings", lambda power: 2 if power == 4 else 0 if power % 2 else 1)
    found = for_every_size(member, start, d=(1, 2, 3, 4), N=(1, 2, 3)).system.equations
    assert identity({"w": found["w"] + d * u * ((N + d + 1) * u * w - N) / N}).as_stated == "fails"


def test_a_subspace_that_is_left_is_refused() -> None:
    with pytest.raises(EquationError, match=r"with d = 2, N = 1 the subspace is left: A_x2_x2 moves, but not as zero"):
        for_every_size(member, lambda d, N: {"p_y": "w", "A_x1_x1": "u"}, d=(1, 2, 3), N=(1, 2, 3))
    with pytest.raises(EquationError, match="there is no state A_x9_x9"):
        for_every_size(member, lambda d, N: {"A_x9_x9": "u"}, d=(1, 2, 3), N=(1, 2, 3))
    with pytest.raises(EquationError, match="the variable d has the name of a size"):
        for_every_size(member, lambda d, N: {"p_y": "d"}, d=(1, 2, 3), N=(1, 2, 3))
    with pytest.raises(EquationError, match="at least three values of N"):
        for_every_size(member, start, d=(1, 2, 3), N=(1, 2))


def test_members_of_different_programs_are_refused() -> None:
    words = Words("a")
    v, x = maps("v", 1, words), sym("x")

    def uneven(n: int) -> Any:
        return gradient_flow(lambda X: v @ X[0], Gaussian(words, [{"a": x}], 2**n * x), squared)

    with pytest.raises(EquationError, match="the coefficients of v are no polynomials in n"):
        for_every_size(uneven, lambda n: {"v_a": "v"}, n=range(1, 8))


def fitted(make, sizes: dict[str, tuple[int, ...]]) -> graph.Node | None:
    values = {size: Fraction(make(*size)) for size in product(*sizes.values())}
    return _fitted(values, sizes)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda a, b: 3, graph.num(3)),
        (lambda a, b: 0, graph.num(0)),
        (lambda a, b: a + 2 * b, d + 2 * N),
        (lambda a, b: Fraction(a * b + 1, b), d + 1 / N),
        (lambda a, b: Fraction(1, a * b), 1 / (d * N)),
        (lambda a, b: Fraction(a, b), d / N),
        (lambda a, b: Fraction(1, b**2), N**-2),
        (lambda a, b: Fraction(a**2 + b, b), d**2 / N + 1),
    ],
)
def test_coefficients_are_polynomials_over_powers_of_the_sizes(make, wanted: graph.Node) -> None:
    found = fitted(make, {"d": (1, 2, 3, 4), "N": (1, 2, 3, 5)})
    assert found is not None and identity({"fit": found - wanted}).as_stated == "holds"
    for size in ((7, 11), (5, 2)):
        at = graph.substitute([found], {d: graph.num(size[0]), N: graph.num(size[1])})[0]
        assert at is graph.num(Fraction(make(*size)))


def test_one_value_of_each_size_is_a_check() -> None:
    """A polynomial of degree two needs four values, and what is none of these forms has no fit."""
    assert fitted(lambda a: a * a + 1, {"d": (1, 2, 3)}) is None
    assert fitted(lambda a: a * a, {"d": (1, 2, 3, 4)}) is d * d
    assert fitted(lambda a: a**3, {"d": (1, 2, 3, 4)}) is None
    assert fitted(lambda a: 2**a, {"d": (1, 2, 3, 4)}) is None
    assert fitted(lambda a: Fraction(1, a + 1), {"d": (1, 2, 3, 4)}) is None
    most = fitted(lambda a: Fraction(1, a**MOST_DIVISORS), {"d": (1, 2, 3, 4, 5)})
    assert most is d**-MOST_DIVISORS
    assert fitted(lambda a: Fraction(1, a ** (MOST_DIVISORS + 1)), {"d": (1, 2, 3, 4, 5)}) is None


def test_values_along_one_size_become_coefficients() -> None:
    table = {(a, b): Fraction(3 * a * a - b) for a in (1, 2, 4) for b in (5, 6)}
    first = _along(table, 0, (1, 2, 4))
    assert {k: v for k, v in first.items() if v} == {(0, 5): -5, (0, 6): -6, (2, 5): 3, (2, 6): 3}
    both = _along(first, 1, (5, 6))
    assert {k: v for k, v in both.items() if v} == {(0, 1): -1, (2, 0): 3}


def least_squares(d: int) -> Any:
    data = Gaussian.regression(d, 1)
    own = maps("w", 1, data.words)
    return gradient_flow(lambda X: (own @ X[0]) * (own @ X[1]), data, squared)


def test_members_are_checked_before_they_are_compared() -> None:
    def equal(d: int) -> dict[str, str]:
        return {f"w_x{a + 1}": "v" for a in range(d)}

    found = for_every_size(least_squares, equal, d=(4, 1, 2, 3, 3))
    assert found.members == {"d": (1, 2, 3, 4)} and found.system.equations["v"] is -2 * d * sym("v") ** 3
    assert found.law().details == {"members": 4, "sizes": {"d": [1, 2, 3, 4]}} and found.system.parameters == ("d",)
    for name, sizes, text in (
        ("loss", {"d": (1, 2, 3)}, "the variable loss has the name of a size or parameter; call it otherwise"),
        ("v", {}, "give at least three values of a size, such as d="),
        ("v", {"d": (1, 2, 2)}, "give at least three values of d"),
    ):
        with pytest.raises(EquationError, match=text):
            for_every_size(least_squares, lambda d, name=name: {f"w_x{a + 1}": name for a in range(d)}, **sizes)
    with pytest.raises(EquationError, match="the members have different variables: "):
        for_every_size(least_squares, lambda d: {f"w_x{a + 1}": "v" if d < 3 else "u" for a in range(d)}, d=(1, 2, 3))
