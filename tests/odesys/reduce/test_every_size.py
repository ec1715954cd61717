"""In-context linear regression with d and N as symbols, and what the members must agree on."""

from __future__ import annotations

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
