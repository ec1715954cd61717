"""The step for every number of samples: written out at a size it is the derived system, and a broken one is not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from derivations.signgd import PAPER, dynamics
from derivations.signgd.setting import Case
from derivations.signgd.special import general_step, network, recursion
from derivations.signgd.special.network import Optimiser, Weights
from derivations.signgd.special.training_sets import TrainingSet, make
from odesys.errors import EquationError, OdesysError
from odesys.expr import graph
from odesys.expr.graph import num, sym
from odesys.expr.indexed import IndexedSum, IndexedSystem, Member, every_member
from odesys.expr.system import WrittenEquations
from odesys.tex.indexed import indexed_latex, indexed_mathml, indexed_text

FUNCTIONS = {"sigmoid": lambda z: 1 / (1 + np.exp(-z)), "step": lambda z: float(z > 0)}


def same(one: Member, other: Member) -> bool:
    """Rows and definitions are the same expressions."""
    return dict(one.rows) == dict(other.rows) and dict(one.definitions) == dict(other.definitions)


@pytest.mark.parametrize("kind", ["map", "flow"])
@pytest.mark.parametrize(
    ("n", "m_k"),
    [(2, 2), (4, 1), pytest.param(5, 2, marks=pytest.mark.slow), pytest.param(6, 2, marks=pytest.mark.slow)],
)
def test_at_sizes_it_was_not_found_from_it_is_the_derived_system(n: int, m_k: int, kind: str) -> None:
    assert (n, m_k) not in general_step.FOUND_FROM
    found, derived = general_step.general(kind).member({"i": n, "r": m_k}), general_step.member(n, m_k, kind)
    assert same(found, derived)
    system = dynamics.reduced(n, m_k, kind)
    rng = np.random.default_rng(n)
    rows = tuple(found.rows[name] for name in system.names)
    put_in = WrittenEquations(system.field, found.definitions, rows).expanded()
    for _ in range(5):
        point = {name: rng.normal() for name in (*system.names, *system.parameters)}
        sides = (graph.evaluate(list(nodes), point, FUNCTIONS, float) for nodes in (system.nodes, put_in))
        assert np.allclose(*sides, rtol=0, atol=1e-12)


def test_it_is_the_step_that_runs() -> None:
    """Seven samples, three neurons, a step in the middle of training, against the arrays of the recursion."""
    case = Case(n=7, s=20, d=141, m_k=3, m_v=4, sigma_p=1.0, sigma_0=0.1)
    start = recursion.draw(case, 6)
    state = recursion.step(start.state, start, 1e-2)
    moved = recursion.step(state, start, 1e-2)

    def named(state: recursion.State) -> dict[str, float]:
        out = {"v_mu": float(state.v_mu)} | {f"v_z{i}": x for i, x in enumerate(state.v, 1)}
        for letter, signal, noise in (("q", state.q_mu, state.q), ("k", state.k_mu, state.k)):
            out |= {f"{letter}_{r}_mu": x for r, x in enumerate(signal, 1)}
            out |= {f"{letter}_{r + 1}_z{i + 1}": x for (r, i), x in np.ndenumerate(noise)}
        return out

    found = general_step.general().member({"i": 7, "r": 3})
    point = named(state) | {"eta": 1e-2, "m": case.mu} | {f"l{i}": x for i, x in enumerate(start.l1, 1)}
    system = WrittenEquations(dynamics.reduced(2, 2).field, found.definitions, tuple(found.rows.values()))
    values = graph.evaluate(list(system.expanded()), point, FUNCTIONS, float)
    assert dict(zip(found.rows, values, strict=True)) == pytest.approx(named(moved), abs=1e-14)


def inner_products(weights: Weights, data: TrainingSet) -> dict[str, float]:
    """The states by their printed meanings, in weight space."""
    mu, noise = data.y[0] * data.x[0, 0], data.y[:, None] * data.x[:, 1]
    v = weights.W_V[0].mean(axis=0) - weights.W_V[1].mean(axis=0)
    out = {"v_mu": v @ mu} | {f"v_z{i}": v @ xi for i, xi in enumerate(noise, 1)}
    for letter, rows in (("q", weights.W_Q), ("k", weights.W_K)):
        for r, row in enumerate(rows, 1):
            out |= {f"{letter}_{r}_mu": row @ mu} | {f"{letter}_{r}_z{i}": row @ xi for i, xi in enumerate(noise, 1)}
    return out


@pytest.mark.parametrize("supports", [0, 2])
def test_letters_are_what_the_print_says_they_are(supports: int) -> None:
    """A step of the network, inner products and norms taken by their meanings; where supports overlap it is false."""
    case = Case(n=4, s=20, d=90, m_k=2, m_v=3, sigma_p=1.0, sigma_0=0.1, mu=1.5, supports=supports)
    data, start = make(case, 3), network.gaussian(case, 4)
    moved = network.train(data, start, Optimiser("signgd", 1e-2), 1).weights
    found = general_step.general().member({"i": 4, "r": 2})
    point = inner_products(start, data) | {"eta": 1e-2, "m": np.abs(data.x[0, 0]).sum()}
    point |= {f"l{i}": size for i, size in enumerate(np.abs(data.x[:, 1]).sum(axis=1), 1)}
    system = WrittenEquations(dynamics.reduced(2, 2).field, found.definitions, tuple(found.rows.values()))
    values = graph.evaluate(list(system.expanded()), point, FUNCTIONS, float)
    wanted = pytest.approx(inner_products(moved, data), abs=1e-13)
    assert (dict(zip(found.rows, values, strict=True)) == wanted) is (supports == 0)


@pytest.mark.parametrize("kind", ["map", "flow"])
def test_every_letter_that_is_not_defined_has_a_meaning(kind: str) -> None:
    system = general_step.general(kind)
    read = graph.symbols([*system.rows.values(), *system.definitions.values(), *(s.node for s in system.sums.values())])
    assert read - set(system.definitions) - set(system.sums) <= set(system.meanings)
    text, tex, page = indexed_text(system), indexed_latex(system), indexed_mathml(system)
    assert "# q[r,i] = <w_Q,r, y_i xi_i>" in text and "supports of the noise patches are disjoint" in text
    assert (
        r"$q_{r,i} = \langle w_{Q,r}, y_{i}\xi_{i}\rangle$" in tex
        and "supports of the noise patches are disjoint" in tex
    )
    assert page.count("&#x027E8;") == 6 and "supports of the noise patches are disjoint" in page
    assert ("# eta = the step size" in text) is (kind == "map") and ("# t = theta" in text) is (kind == "flow")
    assert "# read off (n, m_k) = (2, 3) and (3, 2), and" in text and "# n and m_k are both open" in text


def changed(found: IndexedSystem, name: str, factor: str) -> IndexedSystem:
    """The same with a factor less in the sum of a definition."""
    (symbol,) = graph.symbols([found.definitions[name]])
    total = found.sums[symbol]
    less = IndexedSum(total.index, total.node / sym(factor))
    return replace(found, sums={**found.sums, symbol: less})


@pytest.mark.parametrize(("name", "factor"), [("Gq[r]", "w[i]"), ("Gk[r]", "g[i]")])
def test_a_form_that_lost_a_factor_is_not_the_derived_system(name: str, factor: str) -> None:
    found = general_step.general()
    assert same(found.member({"i": 2, "r": 2}), general_step.member(2, 2))
    assert not same(changed(found, name, factor).member({"i": 2, "r": 2}), general_step.member(2, 2))


def test_systems_that_are_not_of_one_form_are_refused() -> None:
    """One sample that another one drives; one sample left out of a sum."""
    made = [general_step.member(*size) for size in general_step.FOUND_FROM]
    for name, old, new in (("B_2_1", "k_2_z1", "k_1_z1"), ("Gq_1", "w_2", "v_mu")):
        node = graph.substitute([made[1].definitions[name]], {sym(old): sym(new)})[0]
        broken = replace(made[1], definitions={**made[1].definitions, name: node})
        with pytest.raises(EquationError, match=name):
            every_member([made[0], broken], general_step.SIZES, general_step.SPELLING, "map")


def test_a_factor_of_sizes_is_noticed() -> None:
    """n/m_k before every w_i: it is 1 where the two numbers are one."""
    made = []
    for n, m_k in general_step.FOUND_FROM:
        one = general_step.member(n, m_k)
        scaled = {f"w_{i}": num(Fraction(n, m_k)) * one.definitions[f"w_{i}"] for i in range(1, n + 1)}
        made.append(replace(one, definitions={**one.definitions, **scaled}))
    with pytest.raises(EquationError, match="w_1 at i up to 3, r up to 2 is not of the form of w_1"):
        every_member(made, general_step.SIZES, general_step.SPELLING, "map")


def test_what_is_printed() -> None:
    """Sums over samples and neurons and signs, sample i with its own slope; nothing for one size alone."""
    system = PAPER.systems["full"](PAPER.read_parameters({"n": "symbol"}, symbols=True))
    text, tex = indexed_text(system).splitlines(), indexed_latex(system)
    assert "Gq[r] = sum(i=1..n) w[i]*B[r,i]*g[i]*s11[i]*s12[i]" in text
    assert "q_mu[r]+ = q_mu[r] + eta*m*sgn(Gq[r])" in text
    assert "g[i] = phi(v_mu*(s11[i] + s21[i]) + v[i]*(s12[i] + s22[i]))" in text
    assert r"s_{i,21} &= \varphi\big(-\sum_{r=1}^{m_{k}} q_{r,i}\,(k_{r\mu} - k_{r,i})\big)" in tex
    assert r"k_{r\mu}^{+} &= k_{r\mu} - \eta\,\mathrm{sgn}(G^{k}_{r})\,\|\mu\|" in tex
    assert system.dimension == "1 + n + 2*m_k + 2*m_k*n"
    flow = PAPER.systems["flow"](PAPER.read_parameters({"m_k": "symbol"}, symbols=True))
    assert r"\dot{v}_{i} &= 2\|\xi_{i}\|_1" in indexed_latex(flow)


def test_systems_without_a_form_for_every_size_say_so() -> None:
    with pytest.raises(OdesysError, match="n=symbol is for --system full"):
        PAPER.systems["adam"](PAPER.read_parameters({"n": "symbol"}, symbols=True))


@pytest.mark.parametrize("supports", [1, 2])
def test_supports_that_overlap_have_no_such_step(supports: int) -> None:
    given = {"n": "symbol", "supports": str(supports)}
    with pytest.raises(OdesysError, match=rf"supports = {supports} .* are for supports=0"):
        PAPER.systems["full"](PAPER.read_parameters(given, symbols=True))
