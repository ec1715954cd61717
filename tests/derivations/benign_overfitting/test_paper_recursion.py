"""The recursion in the paper's symbols: the derived step of the quotient, written with alpha and beta."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.benign_overfitting import PAPER, dynamics, setting
from derivations.benign_overfitting.special.paper_recursion import Tokens, coefficient_tex, paper_recursion, start_of
from odesys.exact.evidence import equal
from odesys.tex.latex import system_latex, system_text


def in_values(name: str, state: dict[str, float], known: dict[str, float]) -> float:
    """A state of the quotient from gamma, rho and inner products."""
    leaf, *words = name.split("_")
    tokens = Tokens(4, 3)
    place = [setting.token_names(4, 3).index(word) for word in words]
    if leaf == "wOV":
        (index,) = tokens.written(place[0])
        change = state[f"gamma_V_{index}" if index == "p" else f"rho_V_{index}"]
        return known[f"V_{index}_0"] + known["w2"] * change
    pair = place[::-1] if leaf == "KQ" else place
    kind = {"KQ": "qk", "QQ": "qq", "KK": "kk"}[leaf]
    names = ["_".join((kind, *tokens.written(*order))) for order in (pair, pair[::-1])]
    return state[names[0]] if names[0] in state else state[names[1]]


def test_it_is_the_derived_step() -> None:
    system = paper_recursion(4, 3)
    made = dynamics.reduced(dynamics.recursion(4, 3, setting.orthogonal_gram(4, 3)), 4, 3).system
    rng = np.random.default_rng(5)
    known = {name: float(rng.uniform(0.5, 1.5)) for name in system.parameters}
    state = dict(zip(system.names, rng.normal(scale=0.4, size=system.dimension), strict=True))
    after = dict(zip(system.names, system.compile(known)(0.0, list(state.values())), strict=True))
    before = [in_values(name, state, known) for name in made.names]
    step = made.compile({name: known[name] for name in made.parameters})(0.0, before)
    found = [in_values(name, after, known) for name in made.names]
    np.testing.assert_allclose(found, step, rtol=1e-12, atol=1e-14)
    assert len(made.names) == system.dimension and np.abs(np.array(before) - step).max() > 1e-2


def test_what_is_written_is_what_is_computed() -> None:
    system = paper_recursion(4, 2)
    assert system.written is not None
    pairs = zip(system.names, system.written.expanded(), system.nodes, strict=True)
    assert equal({name: (a, b) for name, a, b in pairs}).as_stated == "holds"


def test_the_symbols_are_the_papers() -> None:
    system = PAPER.systems["paper"](PAPER.read_parameters({}))
    text, tex = system_text(system), system_latex(system)
    for line in (
        "N = 8",
        "V_p = w2*gamma_V_p + V_p_0",
        "Lambda_p_2 = qk_p_p - qk_p_n2",
        "Psi_n2_3 = qk_n2_n2 - qk_n2_n3",
    ):
        assert line in text.splitlines(), line
    for part in (
        r"\alpha_{n,+,2} &=",
        r"\beta_{n,2,n,3} &=",
        r"\gamma_{V,+}",
        r"\rho_{V,n,2}",
        r"{N\,M}",
        r"\|q_{+}\|_2^2",
    ):
        assert part in tex, part
    assert coefficient_tex("alpha", "p", "n3") == r"\alpha_{n,+,3}"


@pytest.mark.parametrize("N", [4, 6])
def test_the_start_has_its_lengths(N: int) -> None:
    start = start_of(paper_recursion(N, 3), {"kappa": 2.0, "m_s": 3.0, "m_2": 5.0, "m_w": 7.0})
    assert start["qq_p_p"] == 6 and start["kk_n2_n2"] == 10 and start["qq_n3_n3"] == 14 and start["qk_p_p"] == 0
