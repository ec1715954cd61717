"""Networks of programs against dense matrices, derived flows against moved weights, and random formulas."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import pytest

from derivations.two_mixture import setting
from numerics.networks import finite_width
from odesys import (
    Data,
    Space,
    Words,
    blocks,
    gradient_descent,
    gradient_flow,
    heavy_ball,
    logistic,
    maps,
    random_network,
    relu,
    softmax,
    squared,
)
from odesys.derive.program_flow import _term_block
from odesys.errors import ClosureError, ModelError, OdesysError, ParameterError
from tests.program_oracle import Oracle, path_rates, product
from tests.random_programs import PARAMETERS, Case, formula, random_program

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
    net = flow.network(width=3, seed=seed, parameters=given)
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
        path: blocks.leaf(flow.naming.leaf(path), a.shape) for path, a in zip(flow.closure.paths, found, strict=True)
    }
    tables = flow.program.tables
    read = blocks.replace_leaves([flow.program.loss], {tables[p].data: leaves[p] for p in flow.closure.read})[0]
    minus = blocks.constant([[-1]])
    forces = [blocks.multiply(minus, s) for s in blocks.gradient(read, [leaves[p] for p in flow.closure.read])]
    terms = [(path, term) for path in flow.closure.paths for term in flow.closure.terms[path]]
    parts = [_term_block(term, flow.naming, flow.closure, leaves, forces, False) for _, term in terms]
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
    for what, derive, extra in (("step", gradient_descent, {}), ("ball", heavy_ball, {"friction": 0.3})):
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


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_programs_against_moved_weights(part: int) -> None:
    """280 of them, 200 and more of which close."""
    assert sum(check_many(range(100 + 28 * part, 128 + 28 * part)).kinds.values()) >= 20
