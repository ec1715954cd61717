"""Trained logits, the logistic loss and several heads: derived equations against networks written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from derivations.shallow_vit import PAPER, dynamics
from derivations.shallow_vit.claims import book
from derivations.shallow_vit.claims.part_x_variants import for_every_number
from derivations.shallow_vit.claims.part_y_training import column_sums
from derivations.shallow_vit.laboratory import SIGNS, Laboratory, toy_data
from derivations.shallow_vit.setting import Case, draw_counts
from derivations.shallow_vit.special import class_network, network, symmetric_runs
from derivations.shallow_vit.special.class_network import Counts, State
from odesys.cli.commands import app
from odesys.errors import ParameterError
from odesys.exact.evidence import identity
from odesys.expr.graph import sym
from odesys.papers.mutation_runs import mutation_runs
from odesys.terminal import silent
from odesys.verdicts import Evidence

NAMES = ("c1", "c2", "c3", "e1", "e2", "e3")
SHAPES = {"w": (2, 2), "v": (3, 2), "kappa": (3, 3), "rho": (3, 3)}


def drawn(seed: int, variant: str) -> tuple[State, Counts, dict[str, float]]:
    """Random weights of the toy, counts, and the parameters they stand for."""
    rng = np.random.default_rng(seed)
    print("seed", seed)
    made = {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}
    if variant == "merged":
        made["rho"] = np.eye(3)
    counts = rng.uniform(1, 3, (2, 3))
    values = dict(zip(NAMES, counts.ravel().tolist(), strict=True)) | {"a": 0.7, "Gamma": 0.9, "half": 0.5}
    return State(**made, a=0.7 * np.array([1.0, -1.0])), Counts(counts, np.array([1, -1])), values


def objective(state: State, data: Counts, variant: str) -> float:
    margins = class_network.forward(state, data).margins
    losses = np.log1p(np.exp(-margins)) if variant == "logistic" else np.maximum(0.9 - margins, 0.0)
    return float(losses.mean())


def derived(lab: Laboratory, state: State, values: dict[str, float], variant: str) -> dict[str, np.ndarray]:
    """Rates of the derived toy, as rows like those of a state."""
    flow = lab.toy(variant=variant)
    weights = {"W_O": state.w, "W_V": state.v.T, "W_K": state.kappa.T, "W_Q": state.rho.T, "W_S": state.kappa}
    x = flow.initial_state(weights={name: weights[name] for name in dynamics.trained(variant)})
    field = flow.system.compile({name: values[name] for name in flow.system.parameters})
    found = flow.layout.unpack(field(0.0, x))
    out = {"w": found["O"], "v": found["V"].T}
    if variant == "merged":
        return out | {"kappa": found["S"]}
    return out | {"kappa": found["K"].T, "rho": found["Q"].T}


@pytest.mark.parametrize("variant", ["", *dynamics.VARIANTS])
def test_derived_rates_are_finite_differences_of_a_hand_written_loss(variant: str) -> None:
    state, data, values = drawn(1, variant)
    for name, rates in derived(Laboratory(), state, values, variant).items():
        slopes = np.zeros_like(rates)
        for place in np.ndindex(rates.shape):
            sides = []
            for h in (1e-6, -1e-6):
                moved = state.copy()
                getattr(moved, name)[place] += h
                sides.append(objective(moved, data, variant))
            slopes[place] = (sides[1] - sides[0]) / 2e-6
        assert np.abs(rates).max() > 1e-3 and np.allclose(rates, slopes, atol=1e-8), name


@pytest.mark.parametrize("variant", dynamics.VARIANTS)
@pytest.mark.parametrize("mutation", ["", *sorted(book.mutations)])
def test_runs_of_variants_are_broken_as_their_equations_are(variant: str, mutation: str) -> None:
    lab = Laboratory(mutation)
    state, data, values = drawn(5, variant)
    values["Gamma"] = 50.0
    start = replace(state, v=2 * state.v, kappa=2 * state.kappa, rho=2 * state.rho) if mutation == "start" else state
    case = Case(M=3, m=2, d=3, m_a=3, m_b=3, eta=1e-3, margin=50.0)
    run = lab.train(case, 0, data, start, steps=1, variant=variant)
    for name, rates in derived(lab, state, values, variant).items():
        assert np.allclose(getattr(run.state, name) - getattr(state, name), 1e-3 * rates, atol=1e-12), name


@pytest.mark.parametrize("M", [4, 13])
@pytest.mark.parametrize("variant", dynamics.VARIANTS)
def test_one_system_for_every_m_moves_as_a_network_with_two_neurons(M: int, variant: str) -> None:
    case = Case(M=M, alpha_s=0.43, alpha_c=0.17, d=M, m_a=M, m_b=M, m=2, margin=1e9, eta=0.01)
    every, rng = symmetric_runs.every_number_of_patterns(variant=variant), np.random.default_rng(M)
    assert len(every.names) == {"merged": 15, "logistic": 21}[variant]
    x = {name: 0.3 * float(rng.standard_normal()) for name in every.names}
    values = {**symmetric_runs.parameters(case, 0.3), "M": float(M)}
    step = every.compile({name: values[name] for name in every.parameters})
    first, place = symmetric_runs.lift(x, M, 0.3), np.array([x[name] for name in every.names])
    run = Laboratory().train(case, 0, symmetric_runs.samples(case), replace(first), steps=20, variant=variant)
    for _ in range(20):
        place = place + case.eta * step(0.0, place)
    again = symmetric_runs.lift(dict(zip(every.names, place, strict=True)), M, 0.3)
    for name in ("w", "v", "kappa", "rho"):
        assert np.allclose(getattr(again, name), getattr(run.state, name), atol=1e-12), name


def test_sums_over_keys_are_conserved_and_their_broken_twins_are_not() -> None:
    system = for_every_number(Laboratory(), "merged")
    assert identity(column_sums(system)).as_stated == "holds"
    rate = system.equations
    wrong = {
        "one nuisance pattern too many": column_sums(system)["query 1"] + rate["sk1"],
        "sums over queries": rate["s11"] + rate["s21"] + (sym("M") - 2) * rate["s1k"],
    }
    for name, node in wrong.items():
        assert identity({name: node}).as_stated == "fails", name


def test_a_logistic_flow_has_the_orbit_of_the_hinge_and_no_end() -> None:
    case = Case(M=5, alpha_s=0.5, alpha_c=0.05, d=5, m_a=5, m_b=5, m=2, margin=2.0)
    hinge, smooth = (symmetric_runs.flow(case, "fixed", 0.3, variant=v) for v in ("", "logistic"))
    assert smooth.end_time > 2 * hinge.end_time
    for name in hinge.names:
        assert float(smooth.final[name]) == pytest.approx(float(hinge.final[name]), abs=1e-7), name
    assert "Gamma" not in symmetric_runs.system(5, "fixed", "logistic").parameters, "the logistic loss has no margin"


def test_derived_rates_of_noisy_tokens_are_those_of_the_hand_written_network() -> None:
    """Images of three tokens in six dimensions move by minus the gradients of the full network, times the tokens."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((3, 6))
    shapes = {"W_O": (2, 2), "W_V": (2, 6), "W_K": (2, 6), "W_Q": (2, 6)}
    weights = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    a = rng.uniform(0.5, 1.0, 4)
    net = network.Network(*weights.values(), a=np.array([[a[0], -a[1]], [a[2], -a[3]]]))
    order = np.array([[0, 1], [2, 1]])
    slopes = network.gradients(net, network.Tokens(X[order], order, np.ones((2, 2), bool), np.array([1, -1])), 50.0)
    flow = Laboratory().toy(variant="noisy")
    values = {f"g{i + 1}{j + 1}": float(X[i] @ X[j]) for i in range(3) for j in range(i, 3)}
    values |= {"Gamma": 50.0, **{f"a{k + 1}": float(a[k]) for k in range(4)}}
    images = {name: w if name == "W_O" else w @ X.T for name, w in weights.items()}
    found = flow.layout.unpack(
        flow.system.compile(values)(0.0, flow.layout.pack({name[2:]: table for name, table in images.items()}))
    )
    for name, slope in slopes.items():
        right = -slope if name == "W_O" else -slope @ X.T
        assert np.abs(right).max() > 1e-4 and np.allclose(found[name[2:]], right, atol=1e-12), name


# ---- several heads ---------------------------------------------------------------------------------------------------


def loss_of_heads(weights: dict[str, np.ndarray], data: Counts, a: np.ndarray, margin: float) -> float:
    """The mean hinge loss of two heads in one layer, Eq. (240), written by hand."""
    before = 0.0
    for h in "12":
        O, V, K, Q = (weights[f"{name}.h{h}"] for name in ("W_O", "W_V", "W_K", "W_Q"))
        before = before + np.einsum("njk,ij->nki", class_network.attention(K.T @ Q, data.counts), O @ V)
    F = np.einsum("nk,nki,i->n", data.fractions, np.maximum(before, 0.0), a)
    return float(np.maximum(margin - data.y * F, 0.0).mean())


def test_derived_rates_of_heads_are_finite_differences_of_a_hand_written_loss() -> None:
    _, data, values = drawn(3, "")
    flow = Laboratory().heads(SIGNS, toy_data(), 2)
    rng = np.random.default_rng(3)
    shapes = {"W_O": (2, 2), "W_V": (2, 3), "W_K": (2, 3), "W_Q": (2, 3)}
    weights = {f"{name}.h{h}": rng.standard_normal(shape) for name, shape in shapes.items() for h in "12"}
    field = flow.system.compile({name: values[name] for name in flow.system.parameters})
    rates = flow.layout.unpack(field(0.0, flow.initial_state(weights=weights)))
    for name, table in weights.items():
        slopes = np.zeros_like(table)
        for place in np.ndindex(table.shape):
            sides = []
            for h in (1e-6, -1e-6):
                table[place] += h
                sides.append(loss_of_heads(weights, data, 0.7 * np.array([1.0, -1.0]), values["Gamma"]))
                table[place] -= h
            slopes[place] = (sides[1] - sides[0]) / 2e-6
        found = rates[name[2:].replace(".", "_")]
        assert np.abs(slopes).max() > 1e-4 and np.allclose(found, slopes, atol=1e-8), name


# ---- claims ----------------------------------------------------------------------------------------------------------

CLAIMS = {  # evidence, and what it must notice
    "Beyond.merged": (Evidence.PROOF, "flip"),
    "Beyond.logistic": (Evidence.PROOF, "hinge"),
    "Beyond.noisy": (Evidence.PROOF, "nuisance"),
    "Beyond.heads": (Evidence.PROOF, "values"),
    "Beyond.heads-drift": (Evidence.PROOF, "keys"),
    "Beyond.merged-runs": (Evidence.MEASUREMENT, "scale"),
    "Beyond.logistic-runs": (Evidence.MEASUREMENT, "hinge"),
}


LONG = ("Beyond.merged-runs", "Beyond.logistic-runs")


@pytest.mark.slow
@pytest.mark.parametrize("id", [pytest.param(id, marks=pytest.mark.nightly) if id in LONG else id for id in CLAIMS])
def test_claims_hold_and_notice_what_is_broken(id: str) -> None:
    evidence, mutation = CLAIMS[id]
    outcome = book.run(book[id])
    assert outcome.verdict.as_stated == "holds" and outcome.verdict.evidence is evidence
    (mutant,) = mutation_runs("shallow_vit", book, [outcome], [mutation], silent)
    assert mutant.state == "killed", mutant


@pytest.mark.parametrize(("name", "states"), [("merged", 15), ("logistic", 21)])
def test_variants_at_the_command_line(name: str, states: int) -> None:
    for setting in ("M=4", "M=symbol"):
        result = CliRunner().invoke(app, ["derive", "shallow_vit", "--system", name, "--set", setting])
        assert result.exit_code == 0 and result.output.count("d/dt ") == states
    assert ("d/dt S_kl" in result.output) == (name == "merged")


@pytest.mark.parametrize("M", [4, 5])
def test_patterns_that_overlap_move_as_the_token_network_does(M: int) -> None:
    case = Case(M=M, alpha_s=0.5, alpha_c=0.1, L=20, N=2, d=M + 1, m_a=M, m_b=M, m=2, overlap=0.3, margin=1e9, eta=0.05)
    case = replace(case, L=10 * (M - 2))
    counts, y = draw_counts(case, np.random.default_rng(0))
    system = dynamics.mirrored(M, dynamics.OVERLAP)
    x = dict(zip(system.names, 0.3 * np.random.default_rng(1).standard_normal(21), strict=True))
    first, mu = symmetric_runs.lift(x, M, 0.5), network.patterns(case)
    assert np.allclose(mu @ mu.T, 0.7 * np.eye(M) + 0.3, atol=1e-14)
    dual = np.linalg.pinv(mu).T
    net = network.Network(first.w, first.v.T @ dual, first.kappa.T @ dual, first.rho.T @ dual, first.a)
    run = network.train(case, 0, network.lay_out(case, counts, y, np.random.default_rng(2)), net, steps=15)
    shares = counts[0] / counts[0].sum()
    known = {"alpha_s": shares[0], "alpha_c": shares[1], "beta": shares[2], "Gamma": 1e9, "pi": 0.5, "lam": 0.3}
    step = system.compile({name: known[name] for name in system.parameters})
    place = np.array([x[name] for name in system.names])
    for _ in range(15):
        place = place + case.eta * step(0.0, place)
    again = symmetric_runs.lift(dict(zip(system.names, place, strict=True)), M, 0.5)
    assert np.allclose(run.net.W_V @ mu.T, again.v.T, atol=1e-13)
    assert np.allclose(run.net.W_K @ mu.T, again.kappa.T, atol=1e-13)
    wrong = replace(case, overlap=0.0)
    other = network.train(wrong, 0, network.lay_out(wrong, counts, y, np.random.default_rng(2)), net, steps=15)
    assert not np.allclose(other.net.W_O, again.w, atol=1e-4), "without the overlap it is another run"


def test_overlap_flips_jitter_and_noise_are_reached_from_the_command_line() -> None:
    asked = {
        "overlap": 0.1,
        "flips": 0.25,
        "jitter": 0.05,
        "noise": 0.02,
        "tau": 0.05,
        "N": 8,
        "L": 20,
        "m": 20,
        "steps": 5,
    }
    found = PAPER.protocols["tokens"](PAPER.read_parameters(asked), silent)
    assert found.final["kappa"] == pytest.approx(1.8**0.5) and 0 < found.final["tau"] <= 0.05
    case = Case.of(PAPER.read_parameters(asked))
    run = network.train(case, steps=1)
    majority = np.sign(np.diff(run.data.counts(5)[:, 1::-1], axis=1)[:, 0])
    assert (majority != run.data.y).sum() == 2, "a quarter of 8 labels"
    with pytest.raises(ParameterError, match="orthogonal patterns"):
        PAPER.protocols["classes"](PAPER.read_parameters(asked), silent)
    flat = PAPER.protocols["symmetric"](PAPER.read_parameters({"overlap": 0.2}), silent)
    assert flat.final["F"] == pytest.approx(1.0, abs=1e-6)
    assert flat.invariant_drift is not None and flat.invariant_drift < 1e-7, "the Gram matrix of the patterns counts"
