"""Runs of a laboratory's systems, level by level; here because four trained matrices give five levels of them.

Networks of finite width are level-1 or level-0 flows. Everything here is in floats, so what rests on it is a
measurement. Times are tau = sigma_1^2 m m1 t throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import (
    Flow,
    Node,
    ProgramNetwork,
    System,
    Trajectory,
    computed_once,
    graph,
    integrate,
    node_function,
    row_softmax,
)

from .. import setting
from ..laboratory import Laboratory
from ..setting import CLASSES, Scales

RTOL = 1e-11


def network(flow: Flow, scale: Scales, seed: int | Sequence[int]) -> ProgramNetwork:
    """A network with the paper's Gaussian start: widths m and m1; a has the length of signs."""
    given = {name: value for name, value in scale.parameters.items() if name in flow.system.parameters}
    rows = {"a": scale.m1} if "a" in flow.naming.pins else {}
    rng = np.random.default_rng(seed)
    return flow.network(scale.m, rng, widths=rows, scales=scale.deviations(), parameters=given)


@dataclass(frozen=True, eq=False)
class Course:
    """States of a level-1 (or, with `signs`, level-0) flow of one network at the times `taus`, and what follows."""

    flow: Flow
    scale: Scales
    taus: np.ndarray
    states: np.ndarray
    signs: np.ndarray | None = None

    @cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """Path matrices by leaf, time first."""
        return {s.leaf: self.states[:, s.index] for s in self.flow.layout.segments}

    @cached_property
    def classes(self) -> dict[int, np.ndarray]:
        """Positions of the samples of each class."""
        return setting.class_positions(self.flow.data)

    @cached_property
    def tokens(self) -> np.ndarray:
        """Word numbers (n, L)."""
        return setting.word_numbers(self.flow.data)

    @cached_property
    def labels(self) -> np.ndarray:
        """Labels (n,)."""
        return np.array([s.label for s in self.flow.data.samples])

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.labels)

    @property
    def L(self) -> int:
        """Tokens per sample."""
        return int(self.tokens.shape[1])

    @cached_property
    def G(self) -> np.ndarray:
        """The sub-network G(mu) of every word, (k, d)."""
        return self.tables["aWV"][:, 0] if self.signs is None else np.einsum("j,kjd->kd", self.signs, self.tables["WV"])

    @cached_property
    def beta(self) -> np.ndarray:
        """|W' a|^2, (k,)."""
        if self.signs is None:
            return self.tables["aWWa"][:, 0, 0]
        return np.einsum("i,kij,j->k", self.signs, self.tables["WW"], self.signs)

    @cached_property
    def attention(self) -> np.ndarray:
        """Softmax weights (k, n, query, key)."""
        scores = self.tables["KQ"][:, self.tokens[:, None, :], self.tokens[:, :, None]] / np.sqrt(self.scale.m)
        return row_softmax(scores)

    @cached_property
    def outputs(self) -> np.ndarray:
        """F_i, (k, n)."""
        return np.einsum("knlh,knh->kn", self.attention, self.G[:, self.tokens])

    @cached_property
    def margins(self) -> np.ndarray:
        """y_i F_i, (k, n)."""
        return self.labels * self.outputs

    @cached_property
    def g(self) -> np.ndarray:
        """g(y_i F_i), (k, n)."""
        return expit(-self.margins)

    @cached_property
    def loss(self) -> np.ndarray:
        """The training loss, (k,)."""
        return np.logaddexp(0, -self.margins).mean(axis=1)

    @cached_property
    def S(self) -> dict[int, np.ndarray]:
        """Class sums of g."""
        return {c: self.g[:, places].sum(axis=1) for c, places in self.classes.items()}

    @cached_property
    def rates(self) -> np.ndarray:
        """The derived field at the states, per unit of tau, (k, states)."""
        field = self.flow.system.compile({p: self.scale.parameters[p] for p in self.flow.system.parameters})
        return np.array([field(0.0, x) for x in self.states]) / self.scale.B

    def rate(self, leaf: str) -> np.ndarray:
        """Rates of one path matrix, time first."""
        if leaf not in self._known_rates:
            (segment,) = (s for s in self.flow.layout.segments if s.leaf == leaf)
            self._known_rates[leaf] = self.rates[:, segment.index]
        return self._known_rates[leaf]

    @cached_property
    def _known_rates(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def G_rate(self) -> np.ndarray:
        """Rates of G(mu), (k, d)."""
        return self.rate("aWV")[:, 0] if self.signs is None else np.einsum("j,kjd->kd", self.signs, self.rate("WV"))

    @cached_property
    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """xi (k, d) and D (k, d, d): the derived field where beta = 1, values and queries vanish and keys are unit."""
        assert self.signs is None
        field = self.flow.system.compile({p: self.scale.parameters[p] for p in self.flow.system.parameters})
        segments = {s.leaf: s.index for s in self.flow.layout.segments}
        d = len(self.flow.model.words)
        xi, D = np.empty((len(self.taus), d)), np.empty((len(self.taus), d, d))
        for k, state in enumerate(self.states):
            probe = state.copy()
            probe[segments["aWWa"]], probe[segments["VV"]], probe[segments["QQ"]] = 1.0, 0.0, 0.0
            probe[segments["KK"]] = np.eye(d)
            rate = field(0.0, probe)
            xi[k], D[k] = rate[segments["aWV"]][0], rate[segments["KQ"]]
        return xi, D

    @cached_property
    def attention_rate(self) -> np.ndarray:
        """rates of the softmax weights per unit of tau, (k, n, query, key), from those of the scores."""
        change = self.rate("KQ")[:, self.tokens[:, None, :], self.tokens[:, :, None]] / np.sqrt(self.scale.m)
        p = self.attention
        return p * (change - (p * change).sum(axis=-1, keepdims=True))

    def R(self) -> np.ndarray:
        """-dG(mu3) / max(dG(mu1), dG(mu2))."""
        return -self.G_rate[:, 2] / self.G_rate[:, :2].max(axis=1)

    def moved(self, leaf: str) -> np.ndarray:
        """Largest change of an entry of a path matrix since the first time, (k,)."""
        table = self.tables[leaf]
        return np.abs(table - table[0]).max(axis=(1, 2))


def new_course(lab: Laboratory, n: int, L: int, scale: Scales, seed: int, taus: tuple[float, ...]) -> Course:
    """One network as a level-1 flow, recorded at `taus`; the data are those of Assumption 2.3."""
    flow = lab.flow(n, L)
    start = network(flow, scale, [seed, scale.m]).paths()
    return Course(flow, scale, np.array(taus), _states(flow, start, scale, taus))


course = computed_once(new_course)


def random_signs(scale: Scales, seed: int) -> np.ndarray:
    """The signs a_j of a network followed neuron by neuron."""
    return np.random.default_rng([seed, 1]).choice([-1, 1], size=scale.m1)


@computed_once
def neuron_course(lab: Laboratory, n: int, L: int, scale: Scales, seed: int, taus: tuple[float, ...]) -> Course:
    """The same neuron by neuron: a level-0 flow, with random signs a_j."""
    signs = random_signs(scale, seed)
    flow = _neuron_flow(lab, n, L, tuple(int(a) for a in signs))
    start = network(flow, scale, [seed, scale.m]).paths()
    return Course(flow, scale, np.array(taus), _states(flow, start, scale, taus), signs)


def first_rates(lab: Laboratory, n: int, L: int, scale: Scales, seed: int) -> np.ndarray:
    """d(w_j'W_V mu)/dt at the start of the network of `neuron_course`, (m1, d); only these equations are read."""
    signs = tuple(int(a) for a in random_signs(scale, seed))
    flow = lab.outputs_of(setting.data(n, L), setting.words_needed(n, L), signs)
    lab.read(Laboratory.speed, "WV")
    start = network(flow, scale, [seed, scale.m]).paths()
    field = flow.system.compile({p: scale.parameters[p] for p in flow.system.parameters})
    (segment,) = (s for s in flow.layout.segments if s.leaf == "WV")
    return field(0.0, start)[segment.index]


@computed_once
def _neuron_flow(lab: Laboratory, n: int, L: int, signs: tuple[int, ...]) -> Flow:
    return lab.flow_of(setting.data(n, L), setting.words_needed(n, L), signs)


def _states(flow: Flow, start: np.ndarray, scale: Scales, taus: Sequence[float]) -> np.ndarray:
    times = np.array(taus) / scale.B
    parameters = {p: scale.parameters[p] for p in flow.system.parameters}
    if times[-1] == 0:
        return start[None]
    # the smallest motion asked about is that of the key Gram matrix, about k0^2 / (m B L)
    small = 1e-5 * scale.k0**2 / (scale.m * scale.B)
    run = integrate(
        flow.system, start, (0.0, float(times[-1])), parameters, rtol=RTOL, atol=small, t_eval=times, backend="block"
    )
    return run.states


# ---- reduced systems ---------------------------------------------------------------------------------------------


@computed_once
def planar_run(lab: Laboratory, tau_end: float = 1e7) -> Trajectory:
    """Level 4 from 0."""
    return integrate(lab.planar(), [0, 0], (0.0, tau_end), rtol=1e-11, atol=1e-13, method="LSODA")


@computed_once
def kernel_run(lab: Laboratory, n: int, L: int, tau_end: float) -> Trajectory:
    """Level 3 from 0."""
    system = lab.kernel(n, L)
    return integrate(system, np.zeros(system.dimension), (0.0, tau_end), rtol=1e-10, atol=1e-13, method="LSODA")


@computed_once
def mean_field_run(lab: Laboratory, n: int, L: int, scale: Scales, tau_end: float) -> Trajectory:
    """Level 2 from the infinite-width start; units are sqrt(m) for A, k0 for V, K and Q, and B for beta."""
    system, quotient = lab.mean_field(n, L), lab.symmetric(n, L)
    start = quotient.initial_state(W=1, W_V=1, W_K=1, W_Q=1, m1=1)
    order = [quotient.system.names.index(name) for name in system.names]
    eps = {**scale.epsilon, "k0": scale.k0}  # k0 drops out of the paper's system, not of every broken one
    return integrate(
        system,
        start[order],
        (0.0, tau_end),
        {p: eps[p] for p in system.parameters},
        rtol=1e-9,
        atol=1e-9 * min(eps["eps4"], eps["eps3"], 1e-3),
        method="LSODA",
    )


def values_along(run: Trajectory, node: Any, taus: Any) -> np.ndarray:
    """An expression in the states of a run at given times."""
    code = node_function(run.system, [graph.as_node(node)], run.parameters)
    return np.array([code(t, run.at(float(t)))[0] for t in np.atleast_1d(taus)])


def class_sums(system: System) -> dict[int, Node]:
    """S_c / n, the class shares of the mean of g, as expressions in the states of level 3 or 4."""
    return {c: setting.PROBABILITY[c] * graph.call("sigmoid", -system.observables[f"margin_I{c}"]) for c in CLASSES}


def ratio_R(system: System) -> Node:
    """R = -dG(mu3) / dG(mu1) of the planar system, from its own equations."""
    rhs = system.equations
    return rhs["z"] / rhs["x"]
