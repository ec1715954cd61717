"""The benign-overfitting paper: recursion, flow, quotient and mean field, each against an independent route."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from derivations.benign_overfitting import PAPER, compare, dynamics, setting
from derivations.benign_overfitting.figures.heat_map import Theory, Trained, heat_map
from derivations.benign_overfitting.setting import Case
from derivations.benign_overfitting.special import mean_field, span_network
from derivations.benign_overfitting.special.gram_start import gram_start
from numerics.flows.integrate import integrate
from numerics.maps.iterate import iterate
from odesys import AttentionModel, Distribution, FixedVector, Head, Value
from odesys.errors import EquationError, IntegrationError, OdesysError, ParameterError
from odesys.exact.evidence import equal
from odesys.expr import graph
from odesys.expr.field import ScalarField
from odesys.expr.graph import num, sym
from tests.attention_oracle import Network, descent_run, network_gradients, network_loss

SMALL = Case(N=6, M=3, d=40, d_h=24, mu=2.0, noise=0.15**2 * 40, C_p=5.0, w2=0.8, kappa=24 * 0.3**2, sigma_V=0.05)
ETA = 0.05
PARTS = ("S", "Q", "K", "V")


def network(case: Case, seed: int, d_v: int = 8) -> tuple[Network, list[int]]:
    """Tokens of Definition 3.1 and Gaussian weights as full matrices, and the labels."""
    rng = np.random.default_rng(seed)
    tokens = np.zeros((case.P, case.d))
    tokens[0, 0] = tokens[1, 1] = case.mu
    tokens[2:, 2:] = np.tile(span_network.scales(case), case.N)[:, None] * rng.standard_normal((case.P - 2, case.d - 2))
    gram = tokens @ tokens.T
    words = setting.words(case.N, case.M, ((gram + gram.T) / 2).tolist())
    model = AttentionModel(words, [Head()], Value(("W_V",), FixedVector("wO", square="w2")), pooling="mean")
    w_o = rng.standard_normal(d_v)
    weights = {
        "W_V": 0.05 * rng.standard_normal((1, d_v, case.d)),
        "wO": math.sqrt(case.w2) * w_o / np.linalg.norm(w_o),
        "W_K": case.sigma_h * rng.standard_normal((1, case.d_h, case.d)),
        "W_Q": case.sigma_h * rng.standard_normal((1, case.d_h, case.d)),
    }
    return Network(model, tokens.T, weights, {"w2": case.w2}), list(setting.labels(case.N))


def recorded(flow, state) -> dict[str, np.ndarray]:
    leaves = flow.layout.unpack(state)
    return {"S": leaves["KQ"].T, "Q": leaves["QQ"], "K": leaves["KK"], "V": leaves["wOV"][0]}


def test_recursion_follows_weight_space_descent_for_300_steps() -> None:
    net, _ = network(SMALL, 3)
    data = Distribution(setting.samples(SMALL.N, SMALL.M))
    flow = dynamics.recursion(SMALL.N, SMALL.M, net.model.words.gram)
    assert flow.system.dimension == 2 * SMALL.P**2 + 2 * SMALL.P
    start = flow.initial_state(weights=net.images())
    run = iterate(flow.system, start, 300, {"eta": ETA, "w2": SMALL.w2}, record_every=300, backend="block")
    ((_, last),) = descent_run(net, data, setting.TRAINED, ETA, 300, record=[300])
    theory, real = recorded(flow, run.end_state), recorded(flow, flow.initial_state(weights=last.images()))
    assert network_loss(last, data) < 0.2, "the run must be long enough to fit"
    for part in PARTS:
        assert np.abs(theory[part] - real[part]).max() < 1e-11, part


def test_span_form_follows_the_recursion() -> None:
    made = span_network.draw(SMALL, 5)
    flow = dynamics.recursion(SMALL.N, SMALL.M, made.gram.tolist())
    start = flow.layout.pack(span_network.engine_leaves(span_network.gram_values(made)))
    run = iterate(flow.system, start, 300, {"eta": ETA, "w2": SMALL.w2}, record_every=300, backend="block")
    state = span_network.start(made)
    for _ in range(300):
        span_network.step(made, state, ETA)
    theory, real = recorded(flow, run.end_state), span_network.gram_values(made, state)
    for part in PARTS:
        assert np.abs(theory[part] - real[part]).max() < 1e-11, part


def test_gradients_agree_with_finite_differences() -> None:
    case = Case(N=4, M=3, d=12, d_h=5, mu=1.0, noise=1.0, C_p=2.0, kappa=0.5)
    net, _ = network(case, 1, d_v=4)
    data = Distribution(setting.samples(4, 3))
    found = network_gradients(net, data, setting.TRAINED)
    rng = np.random.default_rng(0)
    for name in setting.TRAINED:
        direction = rng.standard_normal(net.weights[name].shape)
        h = 1e-5
        moved = [
            network_loss(replace(net, weights={**net.weights, name: net.weights[name] + s * h * direction}), data)
            for s in (1, -1)
        ]
        slope = (moved[0] - moved[1]) / (2 * h)
        assert abs(slope - (found[name] * direction).sum()) < 1e-7 * max(1.0, abs(slope)), name


def test_alpha_and_beta_are_the_coefficients_of_a_step() -> None:
    made = span_network.draw(SMALL, 2)
    flow = dynamics.recursion(SMALL.N, SMALL.M, made.gram.tolist())
    state = span_network.start(made)
    for _ in range(40):
        span_network.step(made, state, ETA)
    before = flow.layout.pack(span_network.engine_leaves(span_network.gram_values(made, state)))
    q, k, V = state.q.copy(), state.k.copy(), state.V.copy()
    span_network.step(made, state, ETA)
    alpha, beta = dynamics.coefficient_values(flow, before, {"eta": ETA})
    assert np.abs(state.q - q - alpha @ k).max() < 1e-13 and np.abs(state.k - k - beta @ q).max() < 1e-13
    assert np.abs(alpha.sum(axis=1)).max() < 1e-15, "rows of the softmax Jacobian sum to zero"
    assert np.abs(np.linalg.solve(made.gram, beta).sum(axis=0)).max() < 1e-14
    y = np.repeat(setting.labels(6), 2)
    assert alpha[0, 1] == alpha[1, 0] == 0 and (alpha[0, 2:][y < 0] == 0).all() and (alpha[1, 2:][y > 0] == 0).all()
    assert np.isclose(alpha[0, 0], beta[0, 0], rtol=1e-13) and np.isclose(alpha[1, 1], beta[1, 1], rtol=1e-13)
    gamma = dynamics.gamma_rho(state.V, V, SMALL.w2)
    assert gamma[0] > 0 > gamma[1]
    system = dynamics.with_paper_variables(flow, ["mup", "xi1t2"])
    values = system.compile({"eta": ETA, "w2": SMALL.w2}, backend="block").observables(0.0, before)
    assert np.isclose(values["alpha_mup_xi1t2"], alpha[0, 2]) and np.isclose(values["beta_xi1t2_mup"], beta[2, 0])


def test_descent_tends_to_the_flow_at_first_order() -> None:
    made = span_network.draw(SMALL, 7)
    flow = dynamics.flow(SMALL.N, SMALL.M, made.gram.tolist())
    start = flow.layout.pack(span_network.engine_leaves(span_network.gram_values(made)))
    exact = integrate(flow.system, start, (0.0, 4.0), {"w2": SMALL.w2}, rtol=1e-10, backend="block").end_state
    errors = []
    for eta in (0.04, 0.02, 0.01):
        state = span_network.start(made)
        for _ in range(round(4.0 / eta)):
            span_network.step(made, state, eta)
        errors.append(np.abs(span_network.gram_values(made, state)["S"] - recorded(flow, exact)["S"]).max())
    assert 1.8 < errors[0] / errors[1] < 2.2 and 1.9 < errors[1] / errors[2] < 2.1


def test_flow_conserves_the_spectrum() -> None:
    made = span_network.draw(SMALL, 7)
    flow = dynamics.flow(SMALL.N, SMALL.M, made.gram.tolist())
    start = flow.layout.pack(span_network.engine_leaves(span_network.gram_values(made)))
    (family,) = flow.invariants()
    assert family.size == 2 * SMALL.P
    run = integrate(flow.system, start, (0.0, 4.0), {"w2": SMALL.w2}, rtol=1e-10, backend="block")
    first, last = (family.values(x, 2, {"w2": SMALL.w2}) for x in (start, run.end_state))
    assert np.abs(first - last).max() < 1e-8 * np.abs(first).max()


def test_a_general_gram_matrix_of_parameters() -> None:
    flow = dynamics.flow(2, 2, setting.general_gram(2, 2))
    assert {"g_1_1", "g_1_2", "g_2_2", "m_s", "w2"} == set(flow.system.parameters)
    with pytest.raises(OdesysError, match=r"have the parameter .* start values need a number"):
        flow.initial_state(omega=0.1)
    point = {"g_1_1": 2, "g_1_2": 1, "g_2_2": 3, "m_s": 4}
    table = [[4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 2, 1], [0, 0, 1, 3]]
    numbers = dynamics.flow(2, 2, table).system
    assert all(a is b for a, b in zip(flow.system.substitute(point).nodes, numbers.nodes, strict=True))


@pytest.mark.parametrize(("M", "moving", "frozen"), [(2, 10, 6), (3, 18, 12), (5, 18, 12)])
def test_mean_field_sizes(M: int, moving: int, frozen: int) -> None:
    assert dynamics.mean_field(M).dimension == moving and dynamics.mean_field(M, frozen=True).dimension == frozen


def reference(M: int) -> dict[str, graph.Node]:
    """The mean-field equations from the law of orbit sizes: gradients of one symmetric sample, over orbit sizes."""
    N, types = sym("N"), ["s", "2"] + (["w"] if M > 2 else [])
    c = {"s": 1, "2": 1, "w": M - 2}
    m = {a: sym(f"m_{a}") for a in types}
    v, S = {a: sym(f"v_{a}") for a in types}, {(a, b): sym(f"S_{a}{b}") for a in types for b in types}
    total = {a: graph.add(c[b] * graph.exp(S[a, b]) for b in types) for a in types}
    f = graph.add(num(c[a]) / M * c[b] * graph.exp(S[a, b]) / total[a] * v[b] for a in types for b in types)
    loss = graph.call("softplus", -f)
    tokens = {"s": num(2), "2": N, "w": N * (M - 2)}
    pairs = {(a, b): num(2) if a == b == "s" else N * c[a] * c[b] for a in types for b in types}
    h = {a: -g / tokens[a] for a, g in zip(types, graph.gradient(loss, list(v.values())), strict=True)}
    H = {ab: -g / pairs[ab] for ab, g in zip(S, graph.gradient(loss, list(S.values())), strict=True)}
    out = {f"v_{a}": sym("w2") * m[a] * h[a] for a in types}
    for a, b in S:
        out[f"S_{a}{b}"] = H[a, b] * (m[a] * sym(f"K_{b}") + sym(f"Q_{a}") * m[b])
    for a in types:
        out[f"Q_{a}"] = 2 * m[a] * graph.add(pairs[a, b] / tokens[a] * H[a, b] * S[a, b] for b in types)
        out[f"K_{a}"] = 2 * m[a] * graph.add(pairs[b, a] / tokens[a] * H[b, a] * S[b, a] for b in types)
    return out


@pytest.mark.parametrize("M", [2, 3, 4])
def test_mean_field_equals_the_orbit_law(M: int) -> None:
    system, right = dynamics.mean_field(M), reference(M)
    verdict = equal({n: (node, right[n]) for n, node in system.equations.items()})
    assert verdict.as_stated == "holds" and str(verdict.evidence) == "proof"
    wrong = {n: (node, 2 * right[n]) for n, node in system.equations.items() if n == "S_ss"}
    assert equal(wrong).as_stated == "fails"


def test_mean_field_is_affine_in_one_over_N() -> None:
    def derive(N: int, faster: int = 0):
        found = dynamics.mean_field_at(dynamics.flow(N, 3, setting.orthogonal_gram(N, 3)), N, 3)
        return replace(found, field=ScalarField(tuple(2 * n for n in found.nodes), {})) if faster == N else found

    system, eight = dynamics.in_every_N(derive), derive(8)
    at_eight = graph.substitute(list(system.nodes), {sym("N"): num(8)})
    assert equal(dict(zip(system.names, zip(at_eight, eight.nodes, strict=True), strict=True))).as_stated == "holds"
    with pytest.raises(EquationError, match="at N = 6"):
        dynamics.in_every_N(lambda N: derive(N, faster=6))


def test_the_subspace_says_what_it_drops() -> None:
    found, _ = dynamics.mean_field_subspace(dynamics.flow(2, 3, setting.orthogonal_gram(2, 3)), 2, 3)
    names = {name.split("_")[0] for name, node in found.residuals.items() if node is not graph.ZERO}
    assert not found.exact and names == {"QQ", "KK"}, "only inner products of different queries and of different keys"


def test_quotient_is_the_infinite_width_limit_of_networks() -> None:
    case = Case(N=4, M=3, d=2000, d_h=1000, mu=20.0, noise=20.0, C_p=3.0)
    eta = 0.2 / case.largest
    steps, target = compare.limit_scores(case, eta, 0.2, 2000)
    gaps = {
        width: np.mean([compare.deviation(width, seed, case, eta, steps, target) for seed in range(3)])
        for width in (200, 3200)
    }
    assert 0.15 < gaps[3200] / gaps[200] < 0.4, gaps  # 16 times wider: a quarter


# ---- numbers measured before -----------------------------------------------------------------------------------------


def test_numbers_of_the_mean_field() -> None:
    benign, harmful = (Case(8, 3, 6000, 3000, mu, 20.0, 4.0) for mu in (30.0, 3.0))
    for case, frozen, time, scores in (
        (benign, True, 0.0873, {"S_ss": 5.53, "S_2s": 2.53, "S_22": -0.39, "v_s": 3.924}),
        (benign, False, 0.0869, {"S_ss": 5.57, "S_2s": 2.577}),
        (harmful, True, 0.905, {"S_22": 5.42, "S_s2": 0.94, "v_2": 3.76}),
        (harmful, False, 0.8925, {"S_22": 5.45}),
    ):
        run = mean_field.run_case(case, 0.05, frozen)
        assert run.end_time == pytest.approx(time, rel=2e-3)
        for name, value in scores.items():
            assert run.final[name] == pytest.approx(value, abs=6e-3), name
    assert mean_field.test_loss(benign, 0.05) == pytest.approx(0.1081, abs=1e-4)
    assert mean_field.test_loss(harmful, 0.05) == pytest.approx(0.6668, abs=1e-4)


@pytest.mark.parametrize(("n_snr2", "values"), [(4000.0, (4.02, 2.91, 2.33, 2.07)), (0.5, (1.80, 1.36, 1.09, 1.00))])
def test_time_of_fitting_constants(n_snr2: float, values: tuple[float, ...]) -> None:
    case = Case(40, 3, 6000, 3000, math.sqrt(n_snr2 / 40), 1.0, 4.0)
    case = replace(case, kappa=400 / case.largest)
    unit = case.m_s if n_snr2 > 1 else case.m_2 / case.N
    found = [eps * unit * mean_field.run_case(case, eps).end_time for eps in (1e-1, 1e-2, 1e-3, 1e-4)]
    assert found == pytest.approx(values, abs=6e-3)


@pytest.mark.nightly
@pytest.mark.parametrize(("N", "value"), [(2, 800), (4, 855), (8, 907), (20, 980)])
def test_phase_boundary_of_figure_1(N: int, value: float) -> None:
    case = Case(N, 16, 1024, 512, 30.0, 0.04 * 1024, 20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024))
    assert 2 * case.C_p**2 * mean_field.boundary(case, 0.01) == pytest.approx(value, rel=0.03)


def test_phase_boundary_of_lazy_attention_has_a_closed_form() -> None:
    theta = math.log(math.expm1(0.2)) / math.log(math.expm1(0.01))
    case = Case(8, 3, 100, 10, 10.0, 1.0, 4.0)
    case = replace(case, kappa=1e-5 / case.m_2)
    assert mean_field.boundary(case, 0.01) == pytest.approx(theta / (1 - theta) * (1 + 1 / 16), rel=3e-4)


@pytest.mark.nightly
@pytest.mark.parametrize("mu", [30.0, 3.0])
def test_mean_field_test_loss_is_that_of_wide_networks(mu: float) -> None:
    case = Case(8, 3, 6000, 3000, mu, 20.0, 4.0, sigma_V=1e-4 / mu)
    run = span_network.descend(span_network.draw(case, 0), 0.02 / case.largest, 0.05, 20_000)
    test = span_network.test_loss(run, 4000)
    assert run.stages["T3"] is not None and run.regime == ("benign" if mu > 10 else "harmful")
    assert abs(test.loss / mean_field.test_loss(case, 0.05) - 1) < 0.01


def test_large_values_at_the_start_end_no_stage() -> None:
    """The linear growth of stage 2 ends after T1, however large a value is by chance at the start."""
    case = Case(4, 3, 100, 40, 10.0, 1.0, 2.0, sigma_V=0.05)
    made = span_network.draw(case, 0)
    assert np.abs(span_network.start(made).V).max() > 0.25
    stages = span_network.descend(made, 0.02 / case.largest, 0.05, 20_000).stages
    assert stages["T1"] is not None and stages["T2_linear"] is not None and stages["T3"] is not None
    assert 0 < stages["T1"] <= stages["T2_linear"] <= stages["T3"]


def test_a_heat_map_goes_on_where_it_was_interrupted(tmp_path) -> None:
    cases = [[Case(N, 3, 100, 10, mu, 1.0, 4.0) for mu in (0.5, 4.0)] for N in (2, 4)]
    store, theory = tmp_path / "cells.json", Theory(0.1)
    part = heat_map(cases[:1], theory, store=store)
    seen: list[float] = []
    whole = heat_map(cases, theory, lambda step, done: seen.append(done), store=store)
    assert seen == [0.75, 1.0] and (whole[0] == part[0]).all(), "only the second row is computed"
    assert (heat_map(cases, theory, workers=2) == whole).all() and (whole[:, 0] > whole[:, 1]).all()
    assert heat_map(cases, Theory(0.2), store=store)[0, 0] != whole[0, 0], "another loss is another cell"


def test_a_heat_map_of_networks(tmp_path) -> None:
    cases = [[Case(2, 3, 4000, 2000, mu, 1.0, 4.0) for mu in (0.5, 6.0)]]
    nets = heat_map(cases, Trained(0.1, 0.5, tests=100), store=tmp_path / "cells.json")
    assert abs(nets - heat_map(cases, Theory(0.1))).max() < 0.02 and nets[0, 0] > 0.5 > nets[0, 1]
    with pytest.raises(IntegrationError, match=r"after 3 steps, above eps = 0\.1; allow more steps"):
        heat_map(cases, Trained(0.1, 0.5, steps=3))


def test_gram_start_has_the_law_of_drawn_tokens_and_weights() -> None:
    """Means and spreads of all Gram scalars over many starts, Bartlett against explicit vectors."""
    case = Case(2, 2, 30, 20, 2.0, 4.0, 1.5, sigma_V=0.1)
    starts = [gram_start(case, (1, k)) for k in range(2000)]
    draws = [span_network.draw(case, (2, k)) for k in range(2000)]
    for part in ("S", "Q", "K", "V"):
        a, b = np.array([s.values[part] for s in starts]), np.array([span_network.gram_values(d)[part] for d in draws])
        error = np.hypot(a.std(axis=0), b.std(axis=0)) / math.sqrt(2000)
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 5 * error).all(), part
        assert np.abs(a.std(axis=0) / b.std(axis=0) - 1).max() < 0.15, part
    a, b = np.array([s.gram for s in starts]), np.array([d.gram for d in draws])
    assert np.abs(a.mean(axis=0) - b.mean(axis=0)).max() < 0.2 and (a[:, :2, 2:] == 0).all()
    with pytest.raises(ParameterError, match="a width of 4 is below the 8 vectors"):
        gram_start(replace(case, d_h=4), 0)


# ---- data, test points, bad input ------------------------------------------------------------------------------------


def test_law_of_the_data() -> None:
    case = Case(20, 4, 300, 10, 5.0, 12.0, 3.0)
    made = span_network.draw(case, 0)
    assert made.gram[0, 1] == 0 and (made.gram[:2, 2:] == 0).all() and made.gram[0, 0] == 25.0
    squares = np.diag(made.gram)[2:].reshape(20, 3).mean(axis=0)
    assert squares == pytest.approx([108.0, 12.0, 12.0], rel=0.06)


@pytest.mark.nightly
def test_fresh_points_have_the_law_of_a_network() -> None:
    """Margins of fresh samples in the span form against full matrices d x d_h moved by the same gradients."""
    case = Case(N=4, M=3, d=60, d_h=12, mu=4.0, noise=2.0, C_p=2.0, w2=0.7, kappa=0.4, sigma_V=0.02)
    loose, real = [], []
    for seed in range(40):
        run = span_network.descend(span_network.draw(case, seed), 0.05, 0.3, 400)
        loose += span_network.test_loss(run, 50, seed).margins.tolist()
        net, _ = network(replace(case, d_h=12), 1000 + seed)
        net = replace(net, weights={**net.weights, "W_V": net.weights["W_V"] * case.sigma_V / 0.05})
        pairs = descent_run(net, Distribution(setting.samples(4, 3)), setting.TRAINED, 0.05, 400, record=range(401))
        last = next((n for _, n in pairs if network_loss(n, Distribution(setting.samples(4, 3))) <= 0.3), pairs[-1][1])
        rng = np.random.default_rng(seed)
        for _ in range(50):
            y = rng.choice([1, -1])
            x = np.zeros((3, case.d))
            x[0, 0 if y > 0 else 1] = case.mu
            x[1:, 2:] = span_network.scales(case)[:, None] * rng.standard_normal((2, case.d - 2))
            score = x @ last.weights["W_Q"][0].T @ last.weights["W_K"][0] @ x.T
            phi = np.exp(score - score.max(axis=1, keepdims=True))
            phi /= phi.sum(axis=1, keepdims=True)
            real.append(y * (phi @ x @ last.weights["W_V"][0].T @ last.weights["wO"]).mean())
    a, b = np.array(loose), np.array(real)
    spread = math.hypot(a.std() / math.sqrt(40), b.std() / math.sqrt(40))  # points of one seed are not independent
    assert abs(a.mean() - b.mean()) < 4 * spread and 0.8 < a.std() / b.std() < 1.25


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"M": 1}, "a sample has a signal token and at least one noise token"),
        ({"noise": -1.0}, "it is a variance or length, so it is positive"),
        ({"kappa": -1.0}, "it is not negative"),
        ({"mu": 0.0}, "makes SNR = 0: without a signal there is nothing to learn"),
        ({"d": 10}, "d = 10 is too small for N = 6, M = 3: the 14 distinct tokens"),
        ({"N": 1}, "N is at least 2"),
        ({"d_h": 0}, "a width is at least 1"),
    ],
)
def test_bad_input_gets_a_sentence(change: dict, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence.replace("(", r"\(")):
        replace(SMALL, **change)


def test_parameters_of_the_command_line_are_guarded() -> None:
    for text in ("M=1", "mu=0", "noise=-1", "C_p=0"):
        name, value = text.split("=")
        with pytest.raises(ParameterError):
            PAPER.read_parameters({name: value})
    small = PAPER.read_parameters({"N": "2", "M": "3"})
    assert PAPER.systems["full"](small).dimension == 2 * 36 + 12 and PAPER.systems["quotient"](small).dimension == 45
    assert "N" in PAPER.systems["mean_field"](PAPER.read_parameters({"N": "symbol"}, symbols=True)).parameters
    with pytest.raises(ParameterError, match="too many to write out"):
        PAPER.systems["full"](PAPER.read_parameters({"N": "100"}))
