"""The work all peers do: two_mixture, K = 2, all weights trained, from t = 2 to t = 140, between two switches.

No gate switches in this time, so that every peer integrates the same smooth system of 80 equations (104 where matrices
are kept whole) and none needs events. The reference end is that of the quotient at rtol 1e-13 by another route.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import ellipj

from derivations.two_mixture import dynamics, setting
from numerics.flows.integrate import integrate
from odesys import System
from odesys.analysis.switching import hold_gates
from odesys.expr import graph
from odesys.expr.graph import Node

BIAS, OMEGA, START, END = 0.5, 0.1, 2.0, 140.0
RTOL = 1e-11  # of Runge-Kutta peers; every end is checked to ACCURACY
ACCURACY = 1e-10
HEADS = ("p", "m")  # as names of states end


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, median over batches, in units of the yardstick of the same process as well."""

    seconds: float
    yardstick: float

    @property
    def ratio(self) -> float:
        """In yardsticks."""
        return self.seconds / self.yardstick


def yardstick() -> float:
    """Seconds of a fixed piece of NumPy: a hundred products of 36 x 36 matrices and exponentials."""
    a = np.random.default_rng(0).normal(size=(36, 36)) / 6

    def work() -> None:
        b = a
        for _ in range(100):
            b = np.exp(-np.abs(a @ b))

    return seconds(work, 9)


def seconds(task: Callable[[], Any], repeat: int = 7, least: float = 0.05) -> float:
    """Median over batches of the processor time of one call; a batch lasts at least `least` seconds."""
    began = time.process_time()
    task()
    inner = max(1, int(least / max(time.process_time() - began, 1e-9)))
    times = []
    for _ in range(repeat):
        began = time.process_time()
        for _ in range(inner):
            task()
        times.append((time.process_time() - began) / inner)
    return float(np.median(times))


MODULUS, SPIN = sp.Rational(51, 100), (0.0, 1.0, 1.0)  # of the free rigid body, and its start


def rigid_body() -> System:
    """Three states that go round for ever: x, y, z are the elliptic functions sn, cn, dn of t."""
    x, y, z = sp.symbols("x y z")
    return System.from_equations({x: y * z, y: -x * z, z: -MODULUS * x * y})


def spin_error(t: float, state: np.ndarray) -> float:
    """Largest deviation of the three states from the elliptic functions."""
    return float(np.abs(state - np.array(ellipj(t, float(MODULUS))[:3])).max())


@cache
def full() -> System:
    """The 80 equations with the gates of the time between the switches."""
    flow = dynamics.full_flow("simultaneous")
    compiled = flow.system.compile(b=BIAS)
    gates = np.where(compiled.surfaces(START, start()) > 0, 1, 0)
    return hold_gates(flow.system, dict(enumerate(gates.tolist()))).substitute({"b": graph.num("1/2")})


@cache
def held_quotient() -> System:
    """The 22 equations of the quotient with the gates of the time between the switches."""
    system = dynamics.reduced("simultaneous").system
    gates = np.where(system.compile(b=BIAS).surfaces(START, quotient_start()) > 0, 1, 0)
    return hold_gates(system, dict(enumerate(gates.tolist()))).substitute({"b": graph.num("1/2")})


def quotient_start() -> np.ndarray:
    """The 22 states of the quotient at the start."""
    found: np.ndarray = dynamics.reduced("simultaneous").project(start())
    return found


@cache
def _states() -> tuple[np.ndarray, np.ndarray]:
    quotient = dynamics.reduced("simultaneous")
    run = integrate(quotient.system, quotient.initial_state(OMEGA), (0.0, END), {"b": BIAS}, rtol=1e-13)
    return quotient.lift(run.at(START)), quotient.lift(run.at(END))


def start() -> np.ndarray:
    """All 80 states at the start."""
    return _states()[0]


def end_error(state: np.ndarray) -> float:
    """Largest deviation of 80 states from the reference end."""
    return float(np.abs(state - _states()[1]).max())


def field_error(rates: np.ndarray) -> float:
    """Largest deviation of the field at the start, all 80 rates, from straight-line Python code."""
    system = dynamics.full_flow("simultaneous").system
    return float(np.abs(rates - system.compile({"b": BIAS}, "scalar")(0.0, start())).max())


def convert(nodes: list[Node], symbols: dict[str, Any], functions: dict[str, Any]) -> list[Any]:
    """Expressions of another library from nodes, shared subexpressions shared."""
    return graph.evaluate(nodes, symbols, functions, float, lambda x, power: x ** float(power))


def shared(
    nodes: list[Node], symbols: Mapping[str, Any], functions: dict[str, Any], symbol: Callable[[str], Any]
) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Expressions of another library with a symbol for every node: (symbol, expression) of all, and the results."""
    known: dict[Node, Any] = {graph.sym(name): value for name, value in symbols.items()}
    helpers: list[tuple[Any, Any]] = []
    for node in graph.topological(nodes):
        if node in known:
            continue
        children = {f"child{k}": child for k, child in enumerate(graph.children(node)) if child.op != "num"}
        names = {child: graph.sym(name) for name, child in children.items()}
        flat = graph.rebuild(node, lambda child, names=names: names.get(child, child))
        made = convert([flat], {name: known[child] for name, child in children.items()}, functions)[0]
        known[node] = made if node.op == "num" else symbol(f"shared{len(helpers)}")
        if node.op != "num":
            helpers.append((known[node], made))
    return helpers, [known[node] for node in nodes]


def one_hot(data: Any) -> np.ndarray:
    """Samples as signed unit vectors (samples, places, words)."""
    words, tokens = setting.words(), np.zeros((len(data), 3, 4))
    for s, sample in enumerate(data.samples):
        for l, token in enumerate(sample.tokens):
            i, sign = words.parse(token)
            tokens[s, l, i] = sign
    return tokens


def attention(xp: Any, tokens: Any, M: Any) -> Any:
    """Softmax over keys (heads, samples, query, key)."""
    scores = tokens @ M.mT[:, None] @ tokens.mT
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class Matrices:
    """The same flow as a person would write it in NumPy (or JAX): matrices of both heads, all samples at once."""

    def __init__(self, xp: Any = np) -> None:
        flow = dynamics.full_flow("simultaneous")
        data = setting.data()
        self.xp, self.tokens = xp, xp.asarray(one_hot(data))
        self.labels = xp.asarray(np.array([float(s.label) for s in data.samples]))
        self.weights = xp.asarray(np.array([float(s.weight) for s in data.samples]))
        self.signs = xp.asarray(np.array([1.0, -1.0])[:, None])
        self.index = {leaf: np.vectorize(flow.system.names.index)(flow.matrices[leaf]) for leaf in flow.matrices}
        self.gates = xp.asarray((self.outputs(self.pack(start())) > 0).astype(float))

    def pack(self, x: np.ndarray) -> np.ndarray:
        """w, M, A, B of both heads in one vector of 104 numbers."""
        parts = [
            np.array([x[self.index[f"{leaf}_{head}"]] for head in HEADS]).ravel() for leaf in ("w", "KQ", "KK", "QQ")
        ]
        return np.concatenate(parts)

    def unpack(self, z: Any) -> np.ndarray:
        """The 80 states from the 104 numbers."""
        x = np.empty(len(dynamics.full_flow("simultaneous").system.names))
        for leaf, table in zip(("w", "KQ", "KK", "QQ"), self.split(np.asarray(z)), strict=True):
            for head, values in zip(HEADS, table, strict=True):
                x[self.index[f"{leaf}_{head}"]] = values.reshape(self.index[f"{leaf}_{head}"].shape)
        return x

    def split(self, z: Any) -> tuple[Any, Any, Any, Any]:
        """w (2, 4), M, A, B (2, 4, 4)."""
        return z[:8].reshape(2, 4), *(z[8 + 32 * k : 40 + 32 * k].reshape(2, 4, 4) for k in range(3))

    def outputs(self, z: Any) -> Any:
        """H + b (heads, samples)."""
        w, M, _, _ = self.split(z)
        values = (self.tokens @ w[:, None, :, None])[..., 0]
        return (attention(self.xp, self.tokens, M) @ values[..., None])[..., 0].sum(axis=-1) + BIAS

    def field(self, t: float, z: Any) -> Any:
        """The right-hand side with the gates held."""
        xp = self.xp
        w, M, A, B = self.split(z)
        p = attention(self.xp, self.tokens, M)
        values = (self.tokens @ w[:, None, :, None])[..., 0]
        mixed = (p @ values[..., None])[..., 0]
        output = (self.signs * self.gates * (mixed.sum(axis=-1) + BIAS)).sum(axis=0)
        slope = self.weights * self.labels / (1 + xp.exp(self.labels * output))
        bar = self.signs * self.gates * slope
        dw = (bar[..., None] * (p.sum(axis=-2)[..., None, :] @ self.tokens)[..., 0, :]).sum(axis=1)
        force = bar[..., None, None] * p * (values[..., None, :] - mixed[..., None])
        G = (self.tokens.mT @ force.mT @ self.tokens).sum(axis=1)
        rates = [dw, A @ G + G @ B, M @ G.mT + G @ M.mT, M.mT @ G + G.mT @ M]
        return xp.concatenate([rate.reshape(-1) for rate in rates])


class StageTwo:
    """Scores and self-scores of the plus head in stage 2 in NumPy, with the margins of both heads, gates open."""

    def __init__(self) -> None:
        data = setting.conflicting(2, 3)
        self.system, self.tokens = dynamics.full_flow("stage2").system, one_hot(data)
        self.labels = np.array([float(s.label) for s in data.samples])
        self.weights = np.array([float(s.weight) for s in data.samples])
        self.signs = np.array([1.0, -1.0])[:, None]

    def pack(self, x: np.ndarray, p: np.ndarray, field: np.ndarray) -> tuple[tuple[np.ndarray, ...], list[np.ndarray]]:
        """w and M of both heads, A and B of the plus head, from the 36 states and the other values; and the field."""
        flow = dynamics.full_flow("stage2")
        plus = [n for n in self.system.names if "_p_" in n and not n.startswith("w_")]
        rest = [n for n in self.system.names if n not in plus]
        known = dict(zip([*plus, *rest], [*x, *p], strict=True))
        rates = dict(zip(plus, field, strict=True))
        names = np.array(self.system.names, dtype=object)

        def table(leaf: str, values: dict[str, float]) -> np.ndarray:
            return np.vectorize(values.__getitem__)(names[np.vectorize(names.tolist().index)(flow.matrices[leaf])])

        given = (
            np.array([table(f"w_{h}", known).ravel() for h in HEADS]),
            np.array([table(f"KQ_{h}", known) for h in HEADS]),
            table("KK_p", known),
            table("QQ_p", known),
        )
        return given, [table(leaf, rates) for leaf in ("KQ_p", "KK_p", "QQ_p")]

    def field(self, w: np.ndarray, M: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, ...]:
        """Rates of M, A and B of the plus head."""
        p = attention(np, self.tokens, M)
        values = (self.tokens @ w[:, None, :, None])[..., 0]
        mixed = (p @ values[..., None])[..., 0]
        output = (self.signs * mixed.sum(axis=-1)).sum(axis=0)
        slope = self.weights * self.labels / (1 + np.exp(self.labels * output))
        force = slope[:, None, None] * p[0] * (values[0][:, None, :] - mixed[0][..., None])
        G = (self.tokens.mT @ force.mT @ self.tokens).sum(axis=0)
        N = M[0]
        return A @ G + G @ B, N @ G.T + G @ N.T, N.T @ G + G.T @ N
