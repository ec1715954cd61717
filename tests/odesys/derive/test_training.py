"""The derived flow and the exact gradient step against real networks, and both back ends against each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import (
    AttentionModel,
    ClosureError,
    Data,
    FixedVector,
    Head,
    OdesysError,
    Value,
    Words,
    gradient_descent,
    gradient_flow,
    heavy_ball,
    logistic,
    maps,
    normalised_descent,
    sign_descent,
)
from tests import toy_models
from tests.attention_oracle import descent_run, flow_run, network_gradients, network_loss, random_network
from tests.toy_models import Toy

TOYS = toy_models.all_toys()
IDS = [f"{toy.name}{'' if toy.model.words.orthonormal else '-gram'}" for toy in TOYS]


def network_of(toy: Toy, seed: int = 3):
    return random_network(toy.model, 7, 9, toy.scales, seed, toy.parameters)


def numeric_loss(toy: Toy):
    """What the simulator takes: a name, or value and slope of the margin, by SymPy (not by the engine)."""
    if isinstance(toy.loss, str):
        return toy.loss
    (z,) = toy.loss.free_symbols
    return sp.lambdify(z, toy.loss, "numpy"), sp.lambdify(z, sp.diff(toy.loss, z), "numpy")


@pytest.mark.parametrize("toy", TOYS, ids=IDS)
@pytest.mark.parametrize("seed", [3, 4])
def test_field_is_the_finite_difference_of_path_values(toy: Toy, seed: int) -> None:
    net = network_of(toy, seed)
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    slopes = network_gradients(net, toy.data, toy.train, numeric_loss(toy))
    h = 1e-5

    def paths(step: float) -> np.ndarray:
        moved = {name: net.weights[name] - step * slopes[name] for name in toy.train}
        return flow.initial_state(weights=replace(net, weights={**net.weights, **moved}).images())

    expected = (paths(h) - paths(-h)) / (2 * h)
    actual = flow.system.compile(toy.parameters)(0.0, paths(0.0))
    assert np.abs(actual - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("toy", TOYS, ids=IDS)
def test_scalar_and_block_back_ends_agree(toy: Toy) -> None:
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    scalar, block = (flow.system.compile(toy.parameters, backend=name) for name in ("scalar", "block"))
    rng = np.random.default_rng(5)
    for _ in range(3):
        x = rng.normal(size=flow.system.dimension)
        reference = np.abs(block(0.0, x)).max()
        assert np.abs(scalar(0.0, x) - block(0.0, x)).max() < 1e-13 * max(1.0, reference)
        gates = [np.where(f.surfaces(0.0, x) > 0, 0.0, 1.0) for f in (scalar, block)]  # deliberately the other side
        flipped = [f.field(0.0, x, g) for f, g in zip((scalar, block), gates, strict=True)]
        assert np.abs(flipped[0] - flipped[1]).max() < 1e-13 * max(1.0, np.abs(flipped[1]).max())
        slopes = [f.jacobian(0.0, x) for f in (scalar, block)]
        assert np.abs(slopes[0] - slopes[1]).max() < 1e-12 * max(1.0, np.abs(slopes[0]).max())
        assert scalar.observables(0.0, x)["loss"] == pytest.approx(block.observables(0.0, x)["loss"], rel=1e-13)


@pytest.mark.parametrize("toy", TOYS[:3], ids=IDS[:3])
def test_jacobian_is_the_difference_quotient(toy: Toy) -> None:
    field = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss).system.compile(toy.parameters)
    x = np.random.default_rng(6).normal(size=field.system.dimension)
    h = 1e-6
    expected = np.array([(field(0, x + h * e) - field(0, x - h * e)) / (2 * h) for e in np.eye(x.size)]).T
    assert np.abs(field.jacobian(0, x) - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


def test_jacobian_through_a_matrix_root() -> None:
    toy = toy_models.two_mixture()
    field = (
        gradient_flow(toy.model, toy.data, train=toy.train).slaved().system.compile({**toy.parameters, "omega": 0.4})
    )
    x = np.random.default_rng(6).normal(size=field.system.dimension)
    h = 1e-6
    expected = np.array([(field(0, x + h * e) - field(0, x - h * e)) / (2 * h) for e in np.eye(x.size)]).T
    assert np.abs(field.jacobian(0, x) - expected).max() < 1e-8


def test_machine_code_agrees() -> None:
    toy = toy_models.two_mixture()
    system = gradient_flow(toy.model, toy.data, train=toy.train).system
    x = np.random.default_rng(2).normal(size=system.dimension)
    plain, jit = system.compile(toy.parameters), system.compile(toy.parameters, backend="native")
    assert np.abs(plain(0.0, x) - jit(0.0, x)).max() < 1e-14


@pytest.mark.parametrize("backend", ["scalar", "block"])
def test_observables_at_many_points_are_those_at_each(backend: str) -> None:
    toy = toy_models.two_mixture()
    compiled = gradient_flow(toy.model, toy.data, train=toy.train).system.compile(toy.parameters, backend=backend)
    states = np.random.default_rng(5).normal(size=(7, compiled.system.dimension))
    table = compiled.observed(np.arange(7.0), states)
    assert "loss" in table and all(column.shape == (7,) and column.flags.writeable for column in table.values())
    for k, x in enumerate(states):
        row = {name: column[k] for name, column in table.items()}
        assert row == pytest.approx(compiled.observables(k, x), rel=1e-12)


@pytest.mark.parametrize("toy", TOYS, ids=IDS)
def test_gradient_step_is_exact(toy: Toy) -> None:
    net = network_of(toy)
    step = gradient_descent(toy.model, toy.data, train=toy.train, loss=toy.loss)
    assert step.system.kind == "map"
    x = step.initial_state(weights=net.images())
    ((_, moved),) = descent_run(net, toy.data, toy.train, 0.3, 1, [1], numeric_loss(toy))
    expected = step.initial_state(weights=moved.images())
    actual = step.system.compile({**toy.parameters, "eta": 0.3})(0.0, x)
    assert np.abs(actual - expected).max() < 1e-13 * max(1.0, np.abs(expected).max())
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    first_order = x + 0.3 * flow.system.compile(toy.parameters)(0.0, x)
    assert np.abs(first_order - expected).max() > 1e-6, "the eta^2 terms are part of the map"


@pytest.mark.parametrize("toy", TOYS, ids=IDS)
def test_loss_observable_is_the_networks_loss(toy: Toy) -> None:
    net = network_of(toy)
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    x = flow.initial_state(weights=net.images())
    value = flow.system.compile(toy.parameters).observables(0.0, x)["loss"]
    assert value == pytest.approx(network_loss(net, toy.data, numeric_loss(toy)), rel=1e-12)


@pytest.mark.parametrize("width", [20, 200])
def test_flow_from_network_values_follows_the_network(width: int) -> None:
    from scipy.integrate import solve_ivp

    toy = toy_models.two_mixture(toy_models.GRAM)
    scales = {"w": 0.2, "W_K": 0.5 / width**0.5, "W_Q": 0.5 / width**0.5}
    net = random_network(toy.model, width, 5, scales, 11, toy.parameters)
    _, nets = flow_run(net, toy.data, toy.train, (0.0, 12.0))
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    run = solve_ivp(
        flow.system.compile(toy.parameters),
        (0, 12.0),
        flow.initial_state(weights=net.images()),
        method="DOP853",
        rtol=1e-10,
        atol=1e-12,
    )
    expected = flow.initial_state(weights=nets[-1].images())
    assert np.abs(expected - run.y[:, 0]).max() > 0.1, "the network should have moved"
    assert np.abs(run.y[:, -1] - expected).max() < 1e-7


def test_carried_but_frozen_maps_stand_still() -> None:
    toy = toy_models.two_mixture()
    stage = gradient_flow(toy.model, toy.data, train=("w",), carry=toy.train)
    full = gradient_flow(toy.model, toy.data, train=toy.train)
    assert stage.system.names == full.system.names
    assert set(stage.system.moving) == {n for n in full.system.names if n.startswith("w_")}
    assert len(gradient_flow(toy.model, toy.data, train=("w",)).system.moving) == 6


def test_three_trained_maps_are_refused_with_the_path_that_escapes() -> None:
    toy = toy_models.cooccurrence()
    model = AttentionModel(toy.model.words, [Head()], value=Value(("U", "W", "V"), output=FixedVector("a")))
    with pytest.raises(ClosureError, match=r"a'\.U\.W\.V\.E does not close with U, V, W all trained") as caught:
        gradient_flow(model, toy.data, train=("U", "W", "V"))
    assert len(caught.value.path.letters) > 3
    for closed in (("U", "W"), ("W", "V"), ("U",), ("W",), ("V",)):
        gradient_flow(model, toy.data, train=closed)
    with pytest.raises(ClosureError):
        gradient_flow(model, toy.data, train=("U", "V"))


def test_single_score_map_closes_with_the_scores_alone() -> None:
    toy = toy_models.two_mixture()
    model = AttentionModel(toy.model.words, [Head()], score=("W_KQ",))
    flow = gradient_flow(model, toy.data, train=("w", "W_KQ"))
    assert flow.system.dimension == 3 + 9
    assert [str(p) for p in flow.closure.paths] == ["w.E", "E'.W_KQ.E"]


def test_infinite_width_start() -> None:
    toy = toy_models.two_mixture(toy_models.GRAM)
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    x = dict(zip(flow.system.names, flow.initial_state(omega=0.2), strict=True))
    assert x["KK_p_a_b"] == pytest.approx(0.04 / 3) and x["QQ_m_c_c"] == pytest.approx(0.06)
    assert x["KQ_p_a_a"] == 0 and x["w_m_b"] == 0
    toy = toy_models.cooccurrence()
    flow = gradient_flow(toy.model, toy.data, train=toy.train)
    with pytest.raises(OdesysError, match="spread of W"):
        flow.initial_state(W_K=0.1, W_Q=0.1)
    model = AttentionModel(toy.model.words, [Head()], value=Value(("U", "W", "V"), output=FixedVector("a", square=5)))
    chain = gradient_flow(model, toy.data, train=("U", "W"))
    start = dict(zip(chain.system.names, chain.initial_state(omega=0.1, U=3.0, W=2.0, V=0.5), strict=True))
    assert start["VWWV_b_b"] == 1.0 and start["aUUa"] == 15 and start["VV_b_b"] == 0.5, "two pairs multiply"
    x = dict(zip(flow.system.names, flow.initial_state(omega=0.1, W=2.0, W_V=0.5), strict=True))
    assert x["aWWa"] == 14 and x["VV_b_b"] == 0.5 and x["aWV_c"] == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda t: gradient_flow(t.model, t.data, train=("w", "W_O")),
            "train='W_O': the program has no such map; it has w.p, W_K.p, W_Q.p",
        ),
        (lambda t: gradient_flow(t.model, t.data, train=()), "nothing is trained"),
        (lambda t: gradient_flow(t.model, t.data, train=("w",), loss="hnge"), "loss 'hnge' is not known"),
        (lambda t: gradient_flow(t.model, t.data, train=("w",), loss=sp.Symbol("y")), "does not contain the margin z"),
        (
            lambda t: gradient_flow(t.model, t.data, train=t.train).initial_state(omega=-1),
            "omega = -1 must be positive",
        ),
        (
            lambda t: gradient_flow(t.model, t.data, train=t.train).initial_state(omega=float("nan")),
            "positive and finite",
        ),
        (lambda t: gradient_flow(t.model, t.data, train=t.train).initial_state(), "add omega=..."),
        (
            lambda t: gradient_flow(t.model, t.data).initial_state(weights={"w": np.zeros((2, 3))}),
            "the weights of W_K.p are missing",
        ),
        (lambda t: gradient_flow(t.model, t.data, train=t.train).system.compile(), "parameter b has no value"),
        (lambda t: gradient_flow(t.model, t.data, train=t.train).system.compile(b=1, c=2), "c is not a parameter"),
        (lambda t: gradient_flow(t.model, t.data, train=t.train).system.compile(b=float("nan")), "must be finite"),
        (lambda t: gradient_flow(t.model, t.data, train=t.train).system.compile(b="x"), "b = 'x' is not a number"),
        (
            lambda t: gradient_flow(t.model, t.data, train=t.train).system.compile(b=1)(0, [1.0]),
            "the state has 1 entries",
        ),
        (lambda t: gradient_flow(t.model, list(t.data.samples)), "a program is trained on Data(words, samples)"),
        (lambda t: gradient_flow(t.model, t.data, loss=None), "a loss is logistic, hinge"),
        (lambda t: gradient_flow(AttentionModel(t.model.words, Head(bias="w_a")), t.data), "the name of a path scalar"),
        (lambda t: gradient_descent(AttentionModel(t.model.words, Head(bias="eta")), t.data), "name of the step size"),
        (lambda t: gradient_flow(t.model, t.data).initial_state(weights={"W_q": 1}), "there is no map 'W_q'"),
        (lambda t: gradient_flow(t.model, t.data).initial_state(weights={"w": 1j}), "not an array of real numbers"),
    ],
)
def test_mistakes_get_one_sentence(make, words: str) -> None:
    with pytest.raises(OdesysError) as caught:
        make(toy_models.two_mixture())
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_word_in_the_data_is_named() -> None:
    toy = toy_models.two_mixture()
    from odesys import Distribution, Sample

    data = Distribution([Sample(["a", "d"], 1, Fraction(1))])
    with pytest.raises(OdesysError, match="token 'd' is not in the dictionary"):
        gradient_flow(toy.model, data)


def linear():
    """A program of one map on two words, and its data."""
    words = Words("a b")
    w = maps("w", 1, words)
    return lambda X: w @ X[0], Data(words, [("a", 1), ("b", -1)])


@pytest.mark.parametrize(
    ("derive", "given"),
    [
        (gradient_flow, {"decay": 0, "carry": None, "rates": {}}),
        (gradient_descent, {"decay": 0, "batch": None, "rates": {}}),
        (heavy_ball, {"decay": 0, "friction": "gamma", "step": False}),
        (sign_descent, {"decay": 0, "kind": "step"}),
        (normalised_descent, {"decay": 0, "kind": "step"}),
    ],
)
def test_what_is_left_out_has_the_values_that_are_documented(derive, given: dict) -> None:
    f, data = linear()
    short, long = derive(f, data), derive(f, data, logistic, train="w", **given)
    assert short.system.kind == long.system.kind == ("flow" if derive in (gradient_flow, heavy_ball) else "map")
    assert all(a is b for a, b in zip(short.system.nodes, long.system.nodes, strict=True))
    assert short.train == ("w",) and short.batch is None and short.rule.step == (short.system.kind == "map")


def test_rules_are_steps_or_flows_as_they_are_asked_for() -> None:
    f, data = linear()
    for derive in (sign_descent, normalised_descent):
        assert derive(f, data, kind="flow").system.kind == "flow" and derive(f, data, kind="step").system.kind == "map"
        with pytest.raises(OdesysError, match=r"kind='jump' is 'step' \(W -> W\+\) or 'flow'"):
            derive(f, data, kind="jump")
    assert heavy_ball(f, data, step=True).system.kind == "map"
    assert gradient_descent(f, data, batch=1).batch == 1 and heavy_ball(f, data, step=True, batch=2).batch == 2
    with pytest.raises(
        OdesysError, match="batch=1: a flow sees all samples at once; mini-batches are steps, add step=True"
    ):
        heavy_ball(f, data, batch=1)
    assert heavy_ball(f, data, friction=2, decay=3).system.equations["dw_a"] is not None
    for wrong, text in (
        (lambda: gradient_flow(f, data, ["w"]), "the third argument is the loss; maps that move are given by name"),
        (lambda: gradient_flow(f, data, {"w"}), "the third argument is the loss"),
        (lambda: gradient_flow(f, data, train={"w": 1}), "is a mapping; write the names of the maps"),
        (lambda: gradient_flow(3, data), "derived from a function of the tokens X"),
    ):
        with pytest.raises(OdesysError, match=text):
            wrong()
    shown = gradient_flow(f, data, show={"H": f}).system.observables
    assert {"H_1", "H_2"} <= set(shown) and "H_1" not in gradient_flow(f, data).system.observables
