"""Self-scores eliminated: the smaller system follows the larger one, and a start that does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from derivations.two_mixture import setting
from odesys import OdesysError, gradient_flow
from odesys.errors import SlavingError
from odesys.reduce.slaving import check_start
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
