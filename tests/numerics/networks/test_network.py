"""Networks of programs against dense matrices, derived flows against moved weights, and random formulas."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import pytest

from derivations.two_mixture import setting
from numerics.networks.network import _Budget
from odesys import (
    AttentionModel,
    Data,
    Distribution,
    Head,
    Sample,
    Space,
    Words,
    blocks,
    cross_entropy,
    gradient_descent,
    gradient_flow,
    heavy_ball,
    integrate,
    logistic,
    maps,
    normalised_descent,
    relu,
    sign_descent,
    softmax,
    squared,
)
from odesys.derive.assembly import term_block
from odesys.errors import ClosureError, IntegrationError, ModelError, OdesysError, ParameterError
from tests import attention_oracle, toy_models
from tests.program_oracle import Oracle, path_rates, product
from tests.random_programs import PARAMETERS, Case, careless, random_program
from tests.typed_programs import CASES
from tests.watching import watched

STEP = 0.03


@dataclass
class Tally:
    """What the random programs gave."""

    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    terms: int = 0
    noticed: int = 0
    zero: int = 0
    worst: dict[str, float] = field(default_factory=lambda: {"field": 0.0, "gradient": 0.0, "step": 0.0, "ball": 0.0})

    def see(self, what: str, error: float) -> None:
        self.worst[what] = max(self.worst[what], error)


def network_of(flow: Any, seed: int) -> Any:
    """A small network with every map away from zero, velocities included."""
    given = {name: PARAMETERS[name] for name in flow.system.parameters if name in PARAMETERS}
    net = flow.network(width=3, seed=seed, scales=dict.fromkeys(flow.program.maps, 1), parameters=given)
    rng = np.random.default_rng(1000 + seed)
    return replace(net, weights={name: 0.6 * rng.normal(size=array.shape) for name, array in net.weights.items()})


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the size of the whole."""
    return float(np.abs(found - expected).max(initial=0.0) / (1 + np.abs(expected).max(initial=0.0)))


def field_at(flow: Any, x: np.ndarray, parameters: Any) -> list[np.ndarray]:
    """The right-hand sides by path, in the order of the closure."""
    roots = [flow.system.field.rhs[flow.naming.leaf(path)] for path in flow.closure.paths]
    return blocks.evaluate(roots, flow.layout.unpack(x), parameters)


def check_field(flow: Any, net: Any, slopes: Any, tally: Tally) -> None:
    """The derived field is how the path scalars change when weights move; every term that is not zero counts."""
    rates = {}
    for name, motion in flow.rule.motions.items():
        rates[name] = -float(motion.force.args[0]) * slopes[name]
        for other, factor in motion.maps.items():
            rates[name] = rates[name] + float(factor.args[0]) * net.weights[other]
    expected = path_rates(flow.closure.paths, net.weights, net.words, rates)
    found = field_at(flow, net.paths(), net.parameters)
    error = max(distance(a, b) for a, b in zip(found, expected, strict=True))
    tally.see("field", error)
    assert error < 1e-7, flow.closure.paths
    leaves = {
        flow.naming.leaf(path): blocks.leaf(flow.naming.leaf(path), a.shape)
        for path, a in zip(flow.closure.paths, found, strict=True)
    }
    named = {path: leaves[flow.naming.leaf(path)] for path in flow.closure.read}
    tables = flow.program.tables
    read = blocks.replace_leaves([flow.program.loss], {tables[p].data: named[p] for p in flow.closure.read})[0]
    minus = blocks.constant([[-1]])
    forces = [blocks.multiply(minus, s) for s in blocks.gradient(read, [named[p] for p in flow.closure.read])]
    terms = [(path, term) for path in flow.closure.paths for term in flow.closure.terms[path]]
    parts = [term_block(term, flow.naming, flow.closure, leaves, forces) for _, term in terms]
    values = blocks.evaluate(parts, flow.layout.unpack(net.paths()), net.parameters)
    right = dict(zip(flow.closure.paths, expected, strict=True))
    for (path, _), value in zip(terms, values, strict=True):
        tally.terms += 1
        dropped = dict(zip(flow.closure.paths, found, strict=True))[path] - value
        if np.abs(value).max() < 1e-10:
            tally.zero += 1
        elif (
            np.abs(dropped - right[path]).max() > 10 * np.abs(right[path] - found[flow.closure.paths.index(path)]).max()
        ):
            tally.noticed += 1


def check_steps(case: Case, seed: int, tally: Tally) -> None:
    """One real step of the weights is the map of the path scalars; with inertia too."""
    rules: list[Any] = [("step", gradient_descent, {}), ("ball", heavy_ball, {"friction": 0.3})]
    rules.append(("ball", heavy_ball, {"friction": 0.3, "step": True}))
    for what, derive, extra in rules:
        try:
            flow = derive(case.function, case.data, case.loss, **case.options, **extra)
        except ClosureError as error:
            tally.refused[f"{what}: {error.__class__.__name__}"] += 1
            continue
        net = network_of(flow, seed)
        if flow.rule.step:
            found = field_at(flow, net.paths(), {**net.parameters, "eta": STEP})
            after = net.descend(STEP, 1)
            expected = [product(path, after.weights, after.words) for path in flow.closure.paths]
        else:  # heavy ball as a flow
            found = field_at(flow, net.paths(), net.parameters)
            slopes = net.gradients()
            rates = {}
            for name, motion in flow.rule.motions.items():
                total = np.zeros(net.weights[name].shape)
                if float(motion.force.args[0]):
                    total = -float(motion.force.args[0]) * slopes[motion.on or name]
                for other, factor in motion.maps.items():
                    total = total + float(factor.args[0]) * net.weights[other]
                rates[name] = total
            expected = path_rates(flow.closure.paths, net.weights, net.words, rates)
        error = max(distance(a, b) for a, b in zip(found, expected, strict=True))
        tally.see(what, error)
        assert error < 1e-10, (what, case.kind, seed)


def check_program(seed: int, tally: Tally, steps: bool = True) -> None:
    """All checks of one random program."""
    case = random_program(seed)
    try:
        flow = gradient_flow(case.function, case.data, case.loss, **case.options)
    except OdesysError as error:
        assert str(error).strip() and "\n" not in str(error)
        tally.refused[type(error).__name__] += 1
        return
    oracle = slopes = None
    for redraw in range(5):
        net = network_of(flow, seed + 10_000 * redraw)
        oracle = Oracle(flow.program, net.words, net.parameters)
        slopes = oracle.gradients(net.weights, flow.train)
        if slopes is not None:
            break
    if oracle is None or slopes is None:
        tally.refused["next to a kink"] += 1
        return
    assert net.loss() == pytest.approx(oracle.loss(net.weights), rel=1e-11, abs=1e-11)
    for name, slope in net.gradients().items():
        tally.see("gradient", distance(slope, slopes[name]))
        assert distance(slope, slopes[name]) < 1e-7, (seed, case.kind, name)
    check_field(flow, net, slopes, tally)
    if steps:
        check_steps(case, seed, tally)
    tally.kinds[case.kind] += 1


def summary(tally: Tally) -> str:
    worst = ", ".join(f"{what} {error:.1e}" for what, error in tally.worst.items())
    return (
        f"{sum(tally.kinds.values())} programs {dict(tally.kinds)}, refused {dict(tally.refused)}; worst {worst}; "
        f"terms {tally.terms}: {tally.noticed} noticed, {tally.zero} zero"
    )


def check_many(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        check_program(seed, tally)
    print(summary(tally))
    assert tally.noticed + tally.zero == tally.terms and tally.noticed > tally.terms // 2
    return tally


def test_some_random_programs_against_moved_weights() -> None:
    assert sum(check_many(range(12)).kinds.values()) >= 8


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_random_programs_against_moved_weights(part: int) -> None:
    """280 of them, 200 and more of which close."""
    assert sum(check_many(range(100 + 28 * part, 128 + 28 * part)).kinds.values()) >= 20


@pytest.mark.nightly
@pytest.mark.parametrize("name", CASES)
def test_typed_programs_against_moved_weights(name: str) -> None:
    function, data, loss, options = CASES[name]()
    flow = gradient_flow(function, data, loss, **options)
    given, scales = {p: 0.7 for p in flow.system.parameters}, {n: 0.6 for n in flow.program.maps}
    for seed in range(6):
        net = flow.network(width=3, seed=seed, parameters=given, scales=scales)
        oracle = Oracle(flow.program, net.words, net.parameters)
        slopes = oracle.gradients(net.weights, flow.train)
        if slopes is not None:  # not next to a kink
            break
    assert slopes is not None and net.loss() == pytest.approx(oracle.loss(net.weights), rel=1e-11, abs=1e-11)
    assert all(distance(slope, slopes[each]) < 1e-7 for each, slope in net.gradients().items())
    check_field(flow, net, slopes, Tally())


# ---- the two-mixture paper -----------------------------------------------------------------------------------------


def two_mixture() -> tuple[Any, Any]:
    """The paper's model as a program, with its data."""
    words, m = Words("c1 c2 v1 v2"), Space("m")

    def head(name: str) -> Any:
        w, (W_K, W_Q) = maps("w", 1, words, of=name), maps("W_K W_Q", m, words, of=name)
        return lambda X: relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b")

    plus, minus = head("p"), head("m")
    data = Data(words, [(s.tokens, s.label, s.weight) for s in setting.data().samples])
    return (lambda X: plus(X) - minus(X)), data


def pair(width: int, dimension: int) -> tuple[Any, Any]:
    """The network of the program, and the same weights in the hand-written simulator."""
    flow = gradient_flow(*two_mixture(), logistic)
    scales = {"W_K": 0.4, "W_Q": 0.4, "w": 0.3}
    own = flow.network(width=width, seed=3, widths={"E": dimension}, scales=scales, parameters={"b": 0.5})
    model = AttentionModel(setting.words(), [Head(sign, "relu", "b") for sign in (1, -1)])
    weights = {name: np.array([own.weights[f"{name}.{h}"] for h in ("p", "m")]) for name in ("w", "W_K", "W_Q")}
    return own, attention_oracle.Network(model, own.words["E"], weights, {"b": 0.5})


@pytest.mark.parametrize(("width", "dimension"), [(7, 4), (30, 9)])
def test_two_mixture_is_what_the_hand_written_simulator_gives(width: int, dimension: int) -> None:
    own, other = pair(width, dimension)
    data, train = Distribution(setting.data().samples), ("w", "W_K", "W_Q")
    assert own.loss() == pytest.approx(attention_oracle.network_loss(other, data), abs=1e-15)
    expected = attention_oracle.network_gradients(other, data, train)
    for name, slope in own.gradients().items():
        stem, _, head = name.partition(".")
        assert np.abs(slope - expected[stem]["pm".index(head)]).max() < 1e-15
    after, reference = own.descend(0.1, 40), attention_oracle.descent_run(other, data, train, 0.1, 40)[-1][1]
    assert np.abs(after.weights["W_K.m"] - reference.weights["W_K"][1]).max() < 1e-13
    times, nets = own.flow_run(1.5, times=[0.5, 1.5])
    _, references = attention_oracle.flow_run(other, data, train, (0.0, 1.5), t_eval=[0.5, 1.5])
    assert times.tolist() == [0.5, 1.5]
    assert np.abs(nets[-1].weights["w.p"] - references[-1].weights["w"][0]).max() < 1e-9


def test_the_flow_from_a_network_s_own_paths_ends_at_its_paths() -> None:
    own, _ = pair(20, 4)
    end = integrate(own.flow.system, own.paths(), (0.0, 1.0), {"b": 0.5}, rtol=1e-11).at(1.0)
    assert np.abs(own.flow_run(1.0)[1][-1].paths() - end).max() < 1e-8


def test_networks_of_an_ensemble_are_as_alone() -> None:
    flow = gradient_flow(*two_mixture(), logistic)
    options: dict[str, Any] = {"width": 12, "omega": 0.7, "parameters": {"b": 0.5}, "scales": {"w": 0.2}}
    nets = flow.networks(seeds=range(5), **options)
    after = nets.descend(0.2, 30)
    for seed in range(5):
        alone = flow.network(seed=seed, **options)
        assert np.array_equal(alone.weights["W_K.p"], nets[seed].weights["W_K.p"])
        assert np.abs(alone.descend(0.2, 30).weights["W_K.p"] - after[seed].weights["W_K.p"]).max() < 1e-14
        assert alone.loss() == pytest.approx(nets.loss()[seed], abs=1e-15)
        assert np.allclose(alone.paths(), nets.paths()[seed], atol=1e-15)
    assert len(after) == 5 and after.outputs()["margin_1"].shape == (5,)


def test_paths_tend_to_the_infinite_width_start() -> None:
    flow = gradient_flow(*two_mixture(), logistic)
    start = flow.initial_state(omega=0.5)
    gaps = [
        np.abs(flow.network(width=m, seed=1, omega=0.5, parameters={"b": 0.5}).paths() - start).max()
        for m in (100, 10_000)
    ]
    assert gaps[1] < 0.02 and gaps[1] < gaps[0] / 3


def test_momentum_steps_are_those_of_the_textbook() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    data = Data(words, [(("a",), 1), (("b",), -2)])
    flow = heavy_ball(lambda X: w @ X[0], data, squared, friction="beta", step=True)
    net = flow.network(scales={"w": 1.0}, parameters={"beta": 0.9})
    target, x, v = np.array([[1.0, -2.0]]), net.weights["w"] @ net.words["E"], np.zeros((1, 2))
    for _ in range(3):
        v = 0.9 * v - 0.1 * (x - target) / 2
        x = x + v
    assert np.abs(net.descend(0.1, 3).weights["w"] @ net.words["E"] - x).max() < 1e-14


def test_values_are_given_at_the_words() -> None:
    words = Words("a b c", gram=[[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    w = maps("w", 1, words)
    flow = gradient_flow(lambda X: w @ X[0], Data(words, [(("c",), 1)]), logistic)
    net = flow.network(values={"w": [2, 3, 5]})
    assert np.allclose(net.paths(), [2, 3, 5]) and net.outputs()["margin_1"] == pytest.approx(5)
    with pytest.raises(ModelError, match="makes dependent"):
        flow.network(values={"w": [2, 3, 4]})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "the space m needs a dimension"),
        ({"width": 0}, "whole number above 0"),
        ({"width": 3, "widths": {"q": 2}}, "widths has 'q'"),
        ({"width": 3, "widths": {"E": 2}}, "span 4 dimensions"),
        ({"width": 3, "scales": {"W_X": 1}}, "no such map"),
        ({"width": 3, "scales": {"w": -1}}, "scale of w.p"),
        ({"width": 3, "values": {"w": [1, 2]}}, "shape"),
        ({"width": 3, "seed": "x"}, "seed = 'x'"),
        ({"width": 3, "parameters": {}}, "the parameter b has no value"),
        ({"width": 3, "parameters": {"b": 1, "c": 2}}, "no parameter 'c'"),
        ({"width": 3, "parameters": {"b": float("inf")}}, "not finite"),
        ({"width": 3, "omega": 0}, "omega"),
        ({"width": 3, "omega": None}, "its size is not given"),
    ],
)
def test_what_does_not_fit_is_said(options: dict[str, Any], sentence: str) -> None:
    flow = gradient_flow(*two_mixture(), logistic)
    with pytest.raises(OdesysError, match=sentence):
        flow.network(**{"parameters": {"b": 0.5}, "omega": 0.5, **options})


def test_runs_that_can_not_be_made_are_refused() -> None:
    own, _ = pair(3, 4)
    with pytest.raises(ParameterError, match="can not be made"):
        own.descend(-1, 3)
    with pytest.raises(ParameterError, match="finite time"):
        own.flow_run(-1)
    with pytest.raises(ParameterError, match="must grow"):
        own.flow_run(1, times=[2])
    step = gradient_descent(*two_mixture(), logistic).network(width=3, omega=0.5, parameters={"b": 0.5})
    with pytest.raises(ModelError, match="no flow"):
        step.flow_run(1.0)


# ---- careless users ------------------------------------------------------------------------------------------------


def check_careless(seeds: range) -> Counter[str]:
    """A network, or one sentence."""
    found: Counter[str] = Counter()
    for seed in seeds:
        with watched(60):
            try:
                case = careless(Random(seed))
                flow = gradient_flow(case.function, case.data, case.loss, **case.options)
                given = {name: 0.3 for name in flow.system.parameters}
                net = flow.network(width=2, parameters=given, scales={name: 0.5 for name in flow.program.maps})
                net.outputs(), net.gradients(), net.paths()
                found["network"] += 1
            except OdesysError as error:
                assert str(error).strip() and "\n" not in str(error), seed
                found[type(error).__name__] += 1
    print(dict(found))
    return found


def test_a_careless_program_gives_a_network_or_one_sentence() -> None:
    assert check_careless(range(300))["network"] > 30


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(5))
def test_thousands_of_careless_programs(part: int) -> None:
    assert check_careless(range(1000 * (part + 1), 1000 * (part + 2)))["network"] > 100


def test_a_run_that_chatters_is_given_up_early() -> None:
    """Under |f - y| the weights stay on the kink f = y, where steps are tiny."""
    words = Words("a b")
    w = maps("w", 1, words)
    data = Data(words, [("a", 1), ("b", 2)])
    flow = gradient_flow(lambda X: w @ X[0], data, lambda f, y: relu(f - y) + relu(y - f))
    with pytest.raises(IntegrationError, match="chatter along a kink") as stopped:
        flow.network().flow_run(20.0)
    assert stopped.value.time == pytest.approx(2.0, abs=1e-3)
    assert integrate(flow, [0.0, 0.0], (0.0, 20.0)).final["loss"] == 0.0


def test_no_steps_change_nothing() -> None:
    toy = toy_models.signgd()
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    net = flow.network(4, 0, widths={"E": 4}, scales=toy.scales, parameters=toy.parameters)
    assert np.array_equal(net.descend(0.1, 0).paths(), net.paths())
    first, second, third = net.descend_recorded(0.1, 2, [0, 1, 2])
    assert np.array_equal(first.paths(), net.paths()) and np.array_equal(second.paths(), net.descend(0.1, 1).paths())
    assert np.array_equal(third.paths(), net.descend(0.1, 2).paths())
    for step, steps in ((0, 1), (-1, 1), (np.inf, 1), (0.1, -1), (0.1, 1.5)):
        with pytest.raises(OdesysError, match="can not be made"):
            net.descend(step, steps)


def test_a_run_may_take_so_many_gradients_and_ends_early_where_the_rest_would_take_too_many() -> None:
    """A run that moves on is never slow; one that creeps for three windows in a row is, and not for two."""
    window = _Budget.WINDOW
    even = _Budget(1.0, 4 * window)
    for k in range(4 * window):
        even.spend((k + 1) / (4 * window))
    with pytest.raises(IntegrationError, match=f"^{4 * window + 1} gradients led only to t = 1 of 1:") as stop:
        even.spend(1.0)
    assert stop.value.time == 1.0
    for pauses, ends in ((2, False), (3, True)):
        budget, t = _Budget(1.0, 10 * window), 0.0
        with pytest.raises(IntegrationError) if ends else nullcontext():
            for k in range(5 * window):
                t += (0.01 if window <= k < (1 + pauses) * window else 0.2) / window
                budget.spend(t)
        assert budget.spent == (4 if ends else 5) * window


LETTERS = Words("a b")
READ_OUT = maps("w", 1, LETTERS)
TWO = Data(LETTERS, [("a", 1), ("b", -2)])


def linear(rule: Any = gradient_flow, **options: Any) -> Any:
    """A linear read-out under the squared loss: each entry moves along (y - w) / 2, whatever the frame."""
    return rule(lambda X: READ_OUT @ X[0], TWO, squared, **options)


def at_words(network: Any) -> np.ndarray:
    return network.weights["w"] @ network.words["E"]


@pytest.mark.parametrize("decay", [0, 1])
@pytest.mark.parametrize("rate", [1, 3])
def test_runs_of_a_linear_read_out_in_closed_form(decay: int, rate: int) -> None:
    """With decay and a rate of its own w' = rate (y - w)/2 - decay w, in steps and along the flow."""
    net = linear(rates={"w": rate}, decay=decay).network(scales={"w": 1.0}, seed=4)
    target, start = np.array([[1.0, -2.0]]), at_words(net)
    pull = rate / 2 + decay
    rest = rate / 2 * target / pull
    times, runs = net.flow_run(2.0, [0.0, 0.5, 2.0])
    for t, run in zip(times, runs, strict=True):
        assert at_words(run) == pytest.approx(rest + (start - rest) * np.exp(-pull * t), abs=1e-8)
    both, ends = net.flow_run(2.0)
    assert both.tolist() == [0.0, 2.0] and at_words(ends[0]) == pytest.approx(start)
    assert at_words(ends[1]) == pytest.approx(at_words(runs[-1]), abs=1e-8)
    euler = at_words(net.descend(0.1, 3))
    assert euler == pytest.approx(rest + (start - rest) * (1 - 0.1 * pull) ** 3, abs=1e-13)
    step = linear(gradient_descent, rates={"w": rate}, decay=decay).network(scales={"w": 1.0}, seed=4)
    assert at_words(step.descend(0.1, 3)) == pytest.approx(euler, abs=1e-13)
    assert net.gradients()["w"] @ net.words["E"] == pytest.approx((start - target) / 2)


def test_a_heavy_ball_in_closed_form() -> None:
    """w'' + w' / 2 + (w - y) / 2 = 0 from rest, along the flow."""
    net = linear(heavy_ball, friction=0.5).network(scales={"w": 1.0}, seed=2)
    target, start, t = np.array([[1.0, -2.0]]), at_words(net), 1.5
    speed = (1 / 2 - 1 / 16) ** 0.5
    shape = np.exp(-t / 4) * (np.cos(speed * t) + np.sin(speed * t) / (4 * speed))
    end = net.flow_run(t)[1][-1]
    assert at_words(end) == pytest.approx(target + (start - target) * shape, abs=1e-8)
    assert end.weights["dw"].any() and not net.weights["dw"].any()


def test_networks_of_an_ensemble_run_as_alone() -> None:
    flow = linear()
    nets = flow.networks([3, 4, 5], scales={"w": 1.0})
    times, runs = nets.flow_run(1.0, [0.25, 1.0])
    for k in range(3):
        alone = flow.network(seed=3 + k, scales={"w": 1.0}).flow_run(1.0, [0.25, 1.0])[1]
        for run, own in zip(runs, alone, strict=True):
            np.testing.assert_allclose(run.weights["w"][k], own.weights["w"], rtol=1e-12)
    assert times.tolist() == [0.25, 1.0] and [len(run) for run in runs] == [3, 3]
    assert runs[0].several and not runs[0][1].several and len(runs[0][1]) == 1
    some = nets[[2, 0]]
    assert len(some) == 2 and np.array_equal(some.weights["w"][1], nets[0].weights["w"])
    assert np.array_equal(nets[-1].weights["w"], nets[2].weights["w"])
    assert nets.paths().shape == (3, 2) and np.array_equal(nets.paths()[1], nets[1].paths())
    assert nets.gradients()["w"].shape == (3, 1, 2) and nets[0].gradients()["w"].shape == (1, 2)
    images = nets.images()["w"]
    assert images.shape == (3, 1, 2) and np.allclose(images[1], at_words(nets[1]))
    with pytest.raises(IndexError, match=r"there is no network 3; this is 3 networks$"):
        nets[3]
    with pytest.raises(IndexError, match=r"there is no network -4; this is 3 networks$"):
        nets[[0, -4]]
    with pytest.raises(IndexError, match=r"there is no network 0; this is 1 network$"):
        nets[0][0]


def test_values_of_a_network_by_name() -> None:
    net = linear().network(values={"w": [3, 0]})
    assert net.loss() == pytest.approx((2**2 + 2**2) / 2 / 2) and isinstance(net.loss(), float)
    assert net.outputs() == {"f_1": pytest.approx(3.0), "f_2": pytest.approx(0.0, abs=1e-14)}
    assert repr(net) == "ProgramNetwork(w (1, 2))"
    with pytest.raises(ValueError, match="read-only"):
        net.weights["w"][0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        net.words["E"][0, 0] = 5


def test_what_is_no_network_is_refused() -> None:
    net = linear().network(scales={"w": 1.0})
    nets = linear().networks([0, 1], scales={"w": 1.0})
    for change, sentence in (
        ({"weights": {"v": np.eye(2)}}, "the weights w are missing; the program has v"),
        ({"weights": {"w": np.ones(2)}}, "the weights w of a network are matrices of finite numbers"),
        ({"weights": {"w": np.ones((1, 1, 1, 2))}}, "the weights w of a network are matrices"),
        ({"weights": {"w": np.array([[1.0, np.nan]])}}, "matrices of finite numbers"),
        ({"words": {"E": np.full((2, 2), np.inf)}}, "the words E of a network"),
        ({"weights": nets.weights}, "one axis in front of all words and weights"),
        ({"words": nets.words}, "one axis in front of all words and weights"),
    ):
        with pytest.raises(ModelError, match=sentence):
            replace(net, **change)
    for given, sentence in (
        ({"b": 1}, "there is no parameter 'b'; the program has none"),
        ({"eta": 1}, "there is no parameter 'eta'; the program has none"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            linear(gradient_descent).network(scales={"w": 1.0}, parameters=given)
    biased = gradient_flow(lambda X: READ_OUT @ X[0] + "b", TWO, squared)
    with pytest.raises(ParameterError, match=r"the parameter b has no value; add parameters=\{'b': ...\}"):
        biased.network(scales={"w": 1.0})
    with pytest.raises(ParameterError, match="b = 'x' is not a number"):
        biased.network(scales={"w": 1.0}, parameters={"b": "x"})
    with pytest.raises(ParameterError, match="b = nan is not finite"):
        biased.network(scales={"w": 1.0}, parameters={"b": np.nan})
    moved = biased.network(values={"w": [0, 0]}, parameters={"b": 1})
    assert moved.outputs() == {"f_1": 1.0, "f_2": 1.0} and moved.loss() == pytest.approx(9 / 4)


def test_runs_of_other_lengths_and_rules_are_refused() -> None:
    net = linear().network(scales={"w": 1.0})
    for wanted in ([4], [-1], [1.5]):
        with pytest.raises(ParameterError, match="whole numbers between 0 and 3"):
            net.descend_recorded(0.1, 3, wanted)
    assert [r is net for r in net.descend_recorded(0.1, 3, [0, 3, 0])] == [True, False, True]
    with pytest.raises(IntegrationError, match="descent with step 1000 overflows at step number"):
        net.descend(1000, 400)
    with pytest.raises(ParameterError, match="finite time, not to inf"):
        net.flow_run(np.inf)
    for times in ([0.5, 0.5], [-0.1], [[0.1]], [1.5], [0.7, 0.3]):
        with pytest.raises(ParameterError, match="must grow and must lie between 0 and 1"):
            net.flow_run(1, times)
    times, still = net.flow_run(0.0)
    assert times.tolist() == [0.0] and still[0] is net
    with pytest.raises(IntegrationError, match="gradients led only to"):
        net.flow_run(1.0, max_evaluations=3)
    batches = linear(gradient_descent, batch=1).network(scales={"w": 1.0})
    with pytest.raises(ModelError, match="drop batch="):
        batches.descend(0.1, 1)


def test_rules_that_turn_forces_are_left_to_the_closed_system() -> None:
    """The steps of a network are along its gradients; signs of them, or a length of one, it does not know."""
    for rule, name in ((sign_descent, "sign descent"), (normalised_descent, "normalised descent")):
        for kind, way in (("step", "iterate"), ("flow", "integrate")):
            net = linear(rule, kind=kind).network(scales={"w": 1.0})
            assert net.loss() > 0
            with pytest.raises(ModelError, match=f"^{name} turns the forces .* by {way}$"):
                net.descend(0.1, 1)
            if kind == "flow":
                with pytest.raises(ModelError, match=f"^{name} turns the forces"):
                    net.flow_run(1.0)


def test_the_loss_of_counted_classes_is_that_of_the_closed_system() -> None:
    """A logit for each token of a sample, where one entry stands for several equal tokens."""
    W = maps("W", LETTERS, LETTERS)
    data = Data(LETTERS, [Sample(["a", "b"], [1, 0], counts=[1, 3]), Sample(["b", "a"], [0, 1], counts=[1, 4])])
    flow = gradient_flow(lambda X: X.T @ W @ X[0], data, cross_entropy)
    net = flow.network(scales={"W": 0.3})
    exact = flow.system.compile({}).observables(0.0, net.paths())
    assert net.loss() == pytest.approx(exact["loss"], rel=1e-12)
    h, away = 1e-6, np.random.default_rng(0).normal(size=(2, 2))
    ends = [replace(net, weights={"W": net.weights["W"] + s * h * away}).loss() for s in (1, -1)]
    assert (net.gradients()["W"] * away).sum() == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-7)


@pytest.mark.parametrize(
    ("derive", "named"),
    [
        (gradient_flow, {"rates": {"W": "eta"}}),
        (gradient_flow, {"decay": "eta"}),
        (heavy_ball, {"friction": "eta"}),
        (heavy_ball, {"friction": 1, "rates": {"W": "eta"}}),
    ],
)
def test_in_a_flow_eta_is_a_parameter_as_any_other(derive: Any, named: dict[str, Any]) -> None:
    """The size of Euler steps takes its name in no flow."""
    W, V = maps("W", Space("m"), LETTERS), maps("V", 1, Space("m"))
    data = Data(LETTERS, [("a", 1), ("b", -1)])

    def other(value: Any) -> Any:
        return {k: other(v) for k, v in value.items()} if isinstance(value, dict) else "r" if value == "eta" else value

    both = []
    for options, name in ((named, "eta"), (other(named), "r")):
        flow = derive(lambda X: V @ W @ X[0], data, logistic, **options)
        both.append(flow.network(5, 0, 0.5, parameters={name: 0.5}))
    one, two = both
    run = integrate(one.flow, one.paths(), (0.0, 4.0), {"eta": 0.5}, rtol=1e-10, atol=1e-12)
    end = one.flow_run(4.0)[1][-1]
    assert end.loss() == pytest.approx(run.final["loss"], abs=1e-8) and abs(end.loss() - one.loss()) > 0.01
    for name, array in one.descend(0.1, 3).weights.items():
        np.testing.assert_allclose(array, two.descend(0.1, 3).weights[name], rtol=1e-12, atol=1e-15)
