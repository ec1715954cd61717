"""Self-scores eliminated: the smaller system follows the larger one, and a start that does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from derivations.two_mixture import setting
from odesys import (
    Data,
    Flow,
    OdesysError,
    Space,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    maps,
    softmax,
    squared,
    sym,
)
from odesys.errors import ParameterError, SlavingError
from odesys.reduce.slaving import OMEGA, check_start, closed_root, self_scores
from tests import toy_models

ALL = ("w", "W_K", "W_Q")


def mixture(K: int, L: int = 3):
    return gradient_flow(setting.model(K), setting.data(K, L))


@pytest.mark.parametrize("K", [2, 3])
def test_slaved_system_follows_the_quotient(K: int) -> None:
    quotient = mixture(K).quotient()
    slaved = quotient.slaved()
    assert slaved.system.dimension == 10 and slaved.sizes == (2, 2)
    omega = 0.2
    options = dict(method="DOP853", rtol=1e-10, atol=1e-13)
    long = solve_ivp(quotient.system.compile(b=0.5), (0, 60), quotient.initial_state(omega), **options)
    short = solve_ivp(slaved.system.compile(b=0.5, omega=omega), (0, 60), slaved.initial_state(omega), **options)
    assert np.abs(long.y[:, -1]).max() > 0.3
    assert np.abs(slaved.bind(omega=omega).lift(short.y[:, -1]) - long.y[:, -1]).max() < 1e-8


def test_numerical_square_root_on_the_full_flow() -> None:
    flow = mixture(2)
    slaved = flow.slaved()
    assert slaved.system.dimension == 40
    omega = 0.3
    options = dict(method="DOP853", rtol=1e-10, atol=1e-13)
    long = solve_ivp(flow.system.compile(b=0.5), (0, 30), flow.initial_state(omega), **options)
    short = solve_ivp(slaved.system.compile(b=0.5, omega=omega), (0, 30), slaved.initial_state(omega), **options)
    assert np.abs(slaved.bind(omega=omega).lift(short.y[:, -1]) - long.y[:, -1]).max() < 1e-8


def test_a_state_on_a_trajectory_satisfies_the_identity_and_a_near_one_does_not() -> None:
    flow = mixture(2)
    field, start = flow.system.compile(b=0.5), flow.initial_state(0.3)
    run = solve_ivp(field, (0, 30), start, method="DOP853", rtol=1e-11, atol=1e-14)
    state = run.y[:, -1]
    assert np.abs(state[[n.startswith("KQ") for n in flow.system.names]]).max() > 0.01
    assert check_start(flow, state) == pytest.approx(0.3, rel=1e-8)
    state[flow.system.names.index("KK_p_c1_c1")] += 1e-5
    with pytest.raises(SlavingError, match="does not satisfy"):
        check_start(flow, state)


def test_slaving_is_refused_where_it_does_not_hold() -> None:
    flow = mixture(2)
    assert check_start(flow, flow.initial_state(omega=0.3)) == pytest.approx(0.3)
    rng = np.random.default_rng(0)
    weights = {"w": np.zeros((2, 4)), "W_K": rng.normal(size=(2, 50, 4)), "W_Q": rng.normal(size=(2, 50, 4))}
    with pytest.raises(SlavingError, match=r"does not satisfy \(J S\)\^2 = omega\^4 I"):
        flow.slaved(state=flow.initial_state(weights=weights))
    with pytest.raises(SlavingError, match="finite numbers"):
        flow.slaved(state=np.full(80, np.nan))
    uneven = flow.initial_state(omega=0.3)
    uneven[[n.startswith(("KK_m", "QQ_m")) for n in flow.system.names]] *= 4
    with pytest.raises(SlavingError, match="different scales"):
        flow.slaved(state=uneven)
    with pytest.raises(SlavingError, match="does not satisfy"):
        flow.slaved().initial_state(0.5, W_K=4.0)
    with pytest.raises(SlavingError, match=r"W_K\.[pm] and W_Q\.[pm] do not move at one rate"):
        gradient_flow(setting.model(2), setting.data(2), train=("w", "W_K"), carry=ALL).slaved()
    gram = toy_models.two_mixture(toy_models.GRAM)
    with pytest.raises(OdesysError, match="orthonormal ends"):
        gradient_flow(gram.model, gram.data).slaved()
    with pytest.raises(OdesysError, match="two trained maps"):
        gradient_flow(setting.model(2), setting.data(2), train=("w", "W_K")).slaved()


def test_a_start_of_large_numbers_that_cancel_is_taken_within_their_rounding() -> None:
    """(J S)^2 = a^2 - m^2 = omega^4 is a small difference of large squares where training went far."""
    flow, omega = mixture(2), 0.1
    state = flow.initial_state(omega)
    for head in "pm":
        sizes = np.random.default_rng(4).uniform(500, 1000, len(flow.matrices[f"KQ_{head}"]))
        for leaf, own in (("KQ", sizes), ("KK", np.hypot(omega**2, sizes)), ("QQ", np.hypot(omega**2, sizes))):
            for k, size in enumerate(own):
                state[flow.system.names.index(flow.matrices[f"{leaf}_{head}"][k][k])] = size
    assert check_start(flow, state) == pytest.approx(omega, rel=1e-3)
    state[flow.system.names.index(flow.matrices["KK_p"][0][0])] *= 1 + 1e-9
    with pytest.raises(SlavingError, match="does not satisfy"):
        check_start(flow, state)


# ---- closed forms, and small flows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2])
def test_a_closed_root_is_the_symmetric_root(size: int) -> None:
    """(omega^4 I + M M')^(1/2) in floats: its square is the matrix, and it is symmetric and positive."""
    rng = np.random.default_rng(3)
    names = np.array([[f"m{a}{b}" for b in range(size)] for a in range(size)])
    root = closed_root(np.vectorize(sym, otypes=[object])(names))
    assert root.shape == (size, size)
    for _ in range(5):
        matrix, omega = rng.normal(size=(size, size)), rng.uniform(0.3, 1.5)
        values = {str(n): v for n, v in zip(names.ravel(), matrix.ravel(), strict=True)} | {OMEGA: omega}
        at = graph.evaluate(list(root.ravel()), values, graph.FLOAT_FUNCTIONS, float)
        found = np.array(at, dtype=float).reshape(size, size)
        assert np.allclose(found @ found, omega**4 * np.eye(size) + matrix @ matrix.T, rtol=1e-12)
        assert np.allclose(found, found.T) and np.linalg.eigvalsh(found).min() > 0


def one_head(words: str = "a b", samples=None, rule=gradient_flow, gram=None, **more) -> Flow:
    space, m = Words(words, gram), Space("m")
    w, K, Q = maps("w", 1, space), *maps("W_K W_Q", m, space)
    data = Data(space, samples or [("a b", 1), ("b a", 1)])
    return rule(lambda X: w @ X @ softmax(X.T @ K.T @ Q @ X[-1]), data, squared, **more)


def test_the_scores_with_their_self_scores_are_found() -> None:
    (pair,) = self_scores(one_head())
    assert (pair.head, pair.score, pair.left, pair.right) == ("", "KQ", "KK", "QQ")
    assert [str(path) for path in pair.paths] == ["E'.W_K'.W_Q.E", "E'.W_K'.W_K.E", "E'.W_Q'.W_Q.E"]
    both = self_scores(mixture(2))
    assert [(p.head, p.score) for p in both] == [("p", "KQ_p"), ("m", "KQ_m")]
    rested = one_head(train="w", carry="w W_K W_Q")  # two maps that rest keep (J S)^2 too
    assert len(self_scores(rested)) == 1
    for wrong, words in (
        (lambda: one_head(rule=gradient_descent), "gradient steps do not conserve"),
        (lambda: one_head(rates={"W_K": 2}), "W_K and W_Q do not move at one rate, so .* is not conserved"),
        (lambda: one_head(decay=1), "do not move at one rate"),
        (lambda: one_head(gram=[[2, 0], [0, 1]]), "with orthonormal ends"),
        (lambda: one_head(rates={"w": sym("omega")}), "there is a parameter called omega, .*; rename it"),
    ):
        with pytest.raises(SlavingError, match=words):
            self_scores(wrong())
    assert len(self_scores(one_head(rates={"W_K": 2, "W_Q": 2}))) == 1


def test_a_score_that_is_read_twice_is_not_eliminated() -> None:
    space, m = Words("a b"), Space("m")
    K, Q, P = maps("W_K W_Q W_P", m, space)

    def f(X):
        return X[0].T @ K.T @ Q @ X[1] + X[0].T @ K.T @ P @ X[1]

    with pytest.raises(SlavingError, match=r"whose maps stand nowhere else; there is none here$"):
        self_scores(gradient_flow(f, Data(space, [("a b", 1)]), squared))


@pytest.mark.parametrize(("make", "sizes"), [(one_head, (1, 1)), (lambda: one_head("a b c"), None)])
def test_small_quotients_are_slaved_in_sectors(make, sizes) -> None:
    """The lift satisfies (J S)^2 = omega^4 I, and the smaller field is that of the lifted state."""
    quotient = make().quotient()
    slaved = quotient.slaved()
    assert sizes is None or slaved.sizes == sizes
    assert slaved.lifted is not None and slaved.source is quotient.system and slaved.needs == ("omega",)
    assert slaved.system.parameters == ("omega",) and set(slaved.system.structure) == set(slaved.system.names)
    assert set(slaved.eliminated) == set(quotient.system.names) - set(slaved.system.names)
    assert slaved.system.tex["omega"] == r"\omega"
    z = np.random.default_rng(2).normal(size=slaved.system.dimension)
    full = slaved.bind(omega=0.7).lift(z)
    assert check_start(quotient.flow, quotient.lift(full)) == pytest.approx(0.7, rel=1e-12)
    rate = quotient.system.compile()(0.0, full)
    kept = slaved.system.compile(omega=0.7)(0.0, z)
    assert np.allclose(slaved.project(rate), kept, rtol=1e-10, atol=1e-12)
    assert np.array_equal(slaved.project(full), z)
    start = quotient.flow.initial_state(omega=0.6)
    assert quotient.slaved(state=quotient.project(start)).system.dimension == slaved.system.dimension
    with pytest.raises(SlavingError, match="does not satisfy"):
        quotient.slaved(state=full + 0.01)


def test_numerical_roots_fill_several_states_at_once() -> None:
    flow = one_head()
    slaved = flow.slaved()
    assert slaved.sizes == (2,) and slaved.lifted is None and slaved.eliminated == {} and slaved.needs == ("omega",)
    z = np.random.default_rng(6).normal(size=(2, 3, slaved.system.dimension))
    full = slaved.bind(omega=0.8).lift(z)
    assert full.shape == (2, 3, flow.system.dimension) and np.array_equal(slaved.project(full), z)
    for row in full.reshape(-1, flow.system.dimension):
        assert check_start(flow, row) == pytest.approx(0.8, rel=1e-9)
        rate = flow.system.compile()(0.0, row)
        assert np.allclose(
            slaved.project(rate), slaved.system.compile(omega=0.8)(0.0, slaved.project(row)), rtol=1e-10, atol=1e-12
        )
    assert set(slaved.system.structure) == set(slaved.system.names) and slaved.system.parameters == ("omega",)


def test_starts_and_values_of_small_slaved_flows() -> None:
    slaved = one_head().slaved()
    start = slaved.initial_state(0.5)
    assert start.shape == (slaved.system.dimension,) and not start.any()
    assert slaved.initial_state(0.5, values={"w": [1.0, 2.0]})[:2].tolist() == [1, 2]
    with pytest.raises(SlavingError) as caught:
        slaved.initial_state(0.5, W_Q=0.25 + 1e-6)
    assert "with omega = 0.5: QQ_" in str(caught.value) and caught.value.state.startswith("QQ_")
    assert slaved.initial_state(0.5, W_Q=0.25 * (1 + 1e-12)).shape == start.shape
    with pytest.raises(ParameterError, match="omega = 0 must be positive"):
        slaved.bind(omega=0)


def test_starts_at_the_boundary_of_what_is_taken() -> None:
    flow = one_head()
    state = flow.initial_state(omega=0.5)
    assert check_start(flow, state) == pytest.approx(0.5, rel=1e-15) and check_start(flow, list(state)) > 0
    for wrong in (state[:-1], state[None], np.append(state, 0.0)):
        with pytest.raises(SlavingError, match=f"a start is a vector of {flow.system.dimension} finite numbers"):
            check_start(flow, wrong)
    with pytest.raises(SlavingError, match="in head 0: it is off by"):
        check_start(flow, np.zeros(len(state)))
    far = state.copy()
    far[flow.system.names.index("KK_a_a")] *= 1 + 1e-7
    with pytest.raises(SlavingError, match="in head 0"):
        check_start(flow, far)
    near = state.copy()
    near[flow.system.names.index("KK_a_a")] *= 1 + 1e-11
    assert check_start(flow, near) == pytest.approx(0.5)
