"""Formulas of the sign-descent network: numbers put into what is printed give what the network computes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp

from derivations.signgd import PAPER
from derivations.signgd.claims import common_orders as orders
from derivations.signgd.claims.part_e_bounds import start_logarithm
from derivations.signgd.claims.part_e_values import width_pays
from derivations.signgd.setting import SUPPORTS, Case
from derivations.signgd.special import formulas, general_step, network
from derivations.signgd.special.formulas import M_K, M_V, PATCHES, QUERY, A, D, Definition, K, N
from derivations.signgd.special.network import Optimiser, Weights
from derivations.signgd.special.training_sets import make
from odesys.report.mathml import mathml
from odesys.verdicts import certified, decided

Table = dict[sp.Expr, Any]


def entries(base: sp.IndexedBase, array: np.ndarray) -> Table:
    return {base[tuple(k + 1 for k in place)]: value for place, value in np.ndenumerate(array)}


def entries_of(weights: Weights) -> Table:
    values = {formulas.W_V[(1, -1)[j], r + 1, k + 1]: value for (j, r, k), value in np.ndenumerate(weights.W_V)}
    return entries(formulas.W_Q, weights.W_Q) | entries(formulas.W_K, weights.W_K) | values


def put(made: Definition, table: Table, sizes: Mapping[sp.Symbol, int], **over: int) -> None:
    """Write the right-hand side out for all indices on the left, numbers for sizes, and enter what it gives."""
    indices = {symbol: range(1, over[symbol.name] + 1) for symbol in (QUERY, A, K) if symbol.name in over}
    for place in product(*indices.values()):
        here = dict(zip(indices, place, strict=True))
        table[made.left.subs(here)] = made.right.subs(here).subs(sizes).doit().xreplace(table)


def outputs(weights: Table, x: np.ndarray, m_k: int, m_v: int, logit: Definition = formulas.LOGIT) -> list[Any]:
    """f of every sample, by the printed formulas alone."""
    _, L, d = x.shape
    sizes = {D: d, PATCHES: L, M_K: m_k, M_V: m_v}
    found = []
    for sample in x:
        table = weights | entries(formulas.X, sample)
        put(formulas.VALUE, table, sizes, k=d)
        put(logit, table, sizes, l=L, a=L)
        put(formulas.ATTENTION, table, sizes, l=L, a=L)
        put(formulas.OUTPUT, table, sizes)
        found.append(table[formulas.OUTPUT.left])
    return found


def loss(f: list[Any], y: np.ndarray) -> sp.Expr:
    table = entries(formulas.F, np.array(f, dtype=object)) | entries(formulas.Y, y)
    return formulas.TRAINING_LOSS.right.subs(N, len(y)).doit().xreplace(table)


@pytest.fixture(scope="module")
def drawn() -> tuple[Weights, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    weights = Weights(rng.standard_normal((2, 4)), rng.standard_normal((2, 4)), rng.standard_normal((2, 3, 4)))
    return weights, rng.standard_normal((3, 3, 4)), np.array([1, -1, 1])


def test_output_and_loss_are_those_of_the_network(drawn) -> None:
    weights, x, y = drawn
    found = outputs(entries_of(weights), x, 2, 3)
    wanted = network.forward(weights, x).f
    assert np.allclose(np.array(found, dtype=float), wanted, rtol=1e-13, atol=0)
    assert float(loss(found, y)) == pytest.approx(network.loss(weights, x, y), rel=1e-13)
    exchanged = {formulas.W_Q: formulas.W_K, formulas.W_K: formulas.W_Q}
    broken = Definition("", formulas.LOGIT.left, formulas.LOGIT.right.xreplace(exchanged))
    assert not np.allclose(np.array(outputs(entries_of(weights), x, 2, 3, broken), dtype=float), wanted, rtol=1e-3)


def test_the_step_is_that_of_the_network() -> None:
    case = Case(n=2, s=1, d=3, m_k=1, m_v=1, sigma_0=0.7)
    data, start = make(case, 3), network.gaussian(case, 4)
    moved = network.train(data, start, Optimiser("signgd", 0.125), 1).weights
    numbers = entries_of(start)
    names = {entry: sp.Symbol(f"w{k}") for k, entry in enumerate(numbers)}
    values = {names[entry]: value for entry, value in numbers.items()}
    total = loss(outputs(names, data.x, 1, 1), data.y)
    for entry, after in entries_of(moved).items():
        step = formulas.STEP.right.subs(formulas.THETA, names[entry]).replace(formulas.LOSS, lambda _: total).doit()
        assert float(step.subs(formulas.ETA, 0.125).subs(values)) == pytest.approx(after, abs=1e-15), entry
    assert any(numbers[entry] != after for entry, after in entries_of(moved).items())


@pytest.mark.parametrize("supports", SUPPORTS)
def test_data_and_start_are_those_that_are_drawn(supports: int) -> None:
    case = Case(n=40, s=50, d=4000, m_k=30, m_v=20, sigma_p=0.3, sigma_0=0.02, mu=1.5, supports=supports)
    data = make(case, 0)
    signal = [formulas.SIGNAL.right.subs({K: k, formulas.MU: case.mu}) for k in (1, 2, 3)]
    for y, x in zip(data.y, data.x, strict=True):
        assert [float(part.subs(formulas.LABEL, int(y))) for part in signal] == x[0, :3].tolist()
        assert not x[0, 3:].any() and np.count_nonzero(x[1]) == case.s
    noise = data.x[:, 1][data.x[:, 1] != 0]
    assert abs(noise.std() / case.sigma_p - 1) < 0.08 and data.disjoint == (supports == 0)
    assert all(abs(w.std() / case.sigma_0 - 1) < 0.02 for w in network.gaussian(case, 1).all())
    (told,) = (
        f.tex for f in PAPER.formulas(PAPER.read_parameters({"supports": str(supports)})) if f.what == "noise patch"
    )
    assert SUPPORTS[supports] in told


def test_what_is_shown() -> None:
    shown = {f.what: f.tex for f in PAPER.formulas(PAPER.read_parameters({}))}
    assert shown["output"] == r"f(X) = \sum_{l=1}^{L} \sum_{a=1}^{L} s_{la} \langle v, x^{(a)}\rangle"
    assert shown["logits"] == (
        r"z_{la} = \sum_{r=1}^{m_{k}} \langle w_{Q,r}, x^{(l)}\rangle "
        r"\langle w_{K,r}, x^{(a)}\rangle"
    )
    assert shown["attention"] == r"s_{la} = \frac{e^{z_{la}}}{\sum_{b=1}^{L} e^{z_{lb}}}"
    assert shown["mean value vector"] == (
        r"v_{k} = \frac{1}{m_{v}} \sum_{r=1}^{m_{v}} "
        r"\left(w_{V,1,r,k} - w_{V,-1,r,k}\right)"
    )
    assert shown["training"].endswith(r"\theta \in \{W_{Q}, W_{K}, W_{V}\}") and r"\mathrm{sgn}" in shown["training"]
    assert shown["step of query signal"] == r"q_{r\mu}^{+} = q_{r\mu} + \eta\,\mathrm{sgn}(G^{q}_{r})\,\|\mu\|"
    assert shown["driver of the key signal"] == r"G^{k}_{r} = \sum_{i=1}^{n} w_{i}\,A_{r,i}\,g_{i}"


def test_the_step_is_shown_with_all_that_it_reads() -> None:
    """Every row and definition but signs has its line; states, and what the step is exact for, stand before it."""
    system = general_step.general()
    read = {name for name in (*system.rows, *system.definitions) if not name.startswith("sgn_")}
    assert read == set(formulas.ROWS)
    shown = {f.what: f.tex for f in formulas.recursion()}
    assert shown["attention of the noise patch on itself"].startswith("s_{i,22} =")
    assert shown["steps of values"].startswith(r"v_{\mu}^{+} = v_{\mu} + 2\eta\,\|\mu\|,\quad v_{i}^{+} =")
    products = shown["inner products"].split(r",\quad ")
    assert len(products) == len(system.rows) and r"k_{r,i} = \langle w_{K,r}, y_{i}\xi_{i}\rangle" in products
    assert list(shown)[:2] == ["disjoint supports, for the step below", "inner products"]
    assert "tex-only" not in "".join(mathml(tex) for tex in shown.values())


def test_orders_follow_from_the_definitions_of_times_and_starts() -> None:
    """Powers of sizes by hand, what Condition 3.1 does not bound, and a quotient of times the wrong way round."""
    assert (orders.T_2 / orders.T_3).bounded() == (2, Fraction(-1, 4), 0)  # n s^(-1/2)
    assert (orders.ONE / orders.T_2_PRIME).bounded() == (-2, 0, 0)  # by the bound of a step
    assert (orders.M_K * orders.BETA_XI**2).bounded() == (2, Fraction(-1, 2), 2)  # kappa^2 / s
    for unbounded in (orders.T_2, orders.SIGMA_P, orders.ONE / orders.SIGMA_0, orders.M_V):
        assert unbounded.bounded() is None and orders.vanishing("it", unbounded).as_stated == "fails"
    assert orders.vanishing("T_2/T_3", orders.T_2 / orders.T_3).as_stated == "holds"
    assert orders.vanishing("T_3/T_2", orders.T_3 / orders.T_2).as_stated == "fails"


def test_kappa_alone_vanishes_where_its_logarithms_are_bounded() -> None:
    """kappa may tend to 0 more slowly than every logarithm: what is left out has to be bounded, by a proof."""
    kappa = orders.SIGMA_0 * orders.SIGMA_P * orders.S * orders.M_K**orders.HALF
    assert kappa.bounded() == (0, 0, 1)
    assert orders.vanishing("kappa", kappa).as_stated == "fails"
    assert (
        orders.vanishing("kappa", kappa, (orders.ONE, decided(False, {"logarithms": "unbounded"}))).as_stated == "fails"
    )
    assert orders.vanishing("one", orders.ONE, (orders.ONE, certified())).as_stated == "fails"
    assert orders.vanishing("n kappa", orders.N * kappa, (orders.ONE, certified())).as_stated == "fails"
    assert orders.vanishing("kappa", kappa, (orders.ONE, start_logarithm())).as_stated == "holds"
    width = orders.M_V**orders.HALF
    assert orders.vanishing("kappa over the width", kappa / width, (width, width_pays())).as_stated == "holds"
    assert orders.vanishing("kappa", kappa, (width, width_pays())).as_stated == "fails"  # nothing pays for log m_v


def test_t_4_has_its_logarithm_which_no_power_of_n_bounds() -> None:
    """m_k |q_mu| |k_i| at T_4 is log(sigma_p s)^2 / (sigma_p s); the logarithm alone is not bounded by n."""
    assert (orders.M_K * orders.T_4**2 * orders.ETA * orders.STEP).sigma_p == Fraction(-3, 4)
    logarithm = orders.T_4 / orders.T_4_LEAST
    assert logarithm.bounded() is None and orders.vanishing("log / n^9", logarithm / orders.N**9).as_stated == "fails"
