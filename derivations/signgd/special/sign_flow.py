r"""The sign flow event by event, and the two-step cycle; here because signs give every variable a constant speed.

In :math:`\theta = \eta t` the limit of small steps is the derived flow (`dynamics.reduced(n, m_k, "flow")`): every
variable has constant speed and a direction in {-1, 1} until a driver changes sign. `numerics.flows.integrate` locates
the changes and follows the surface where the field points to it from both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from odesys import (
    Alternation,
    ParameterError,
    PowerLaw,
    Trajectory,
    alternation_table,
    find_alternations,
    fit_power_law,
    integrate,
)

from .. import dynamics
from .recursion import Run, Start, State, descend, from_states

FINE = 1e-6  # steps, in standard deviations, below which a sum over them is an integral
LARGEST = 16  # pairs of neuron and sample whose flow is derived and followed event by event


def integrate_flow(start: Start, end: float, rtol: float = 1e-10) -> Trajectory:
    """The flow from a start to theta = end; small systems only, as the equations are written out."""
    n, m_k = start.case.n, start.case.m_k
    if n * m_k > LARGEST:
        raise ParameterError(
            f"n = {n}, m_k = {m_k} has {n * m_k} pairs; the flow is followed event by event for at "
            f"most {LARGEST}; `recursion.geometric` follows larger ones"
        )
    values = {"m": start.mu, **{f"l{i}": float(l) for i, l in enumerate(start.l1, 1)}}
    return integrate(dynamics.reduced(n, m_k, "flow"), start.state.pack(), (0.0, end), values, rtol=rtol)


def as_run(start: Start, flow: Trajectory, times: np.ndarray) -> Run:
    """A flow at chosen times, as a run that stages and figures read."""
    n, m_k = start.case.n, start.case.m_k
    return from_states(start, times, [State.unpack(x, n, m_k) for x in flow.at(times)], 1.0)


@dataclass(frozen=True)
class Convergence:
    """Largest deviation of recursions from the flow over a common grid of theta, for several step sizes.

    A finite step may send a pair near its saddle to the other side, held in a cycle before or not; the deviation then
    has the size of the noise products. `turned` counts the pairs with another sign of q at the end, `cycles` those that
    were held at some time.
    """

    etas: tuple[float, ...]
    errors: tuple[float, ...]
    cycles: tuple[int, ...]
    turned: tuple[int, ...]

    @property
    def order(self) -> PowerLaw:
        """Fitted power of eta, over the step sizes for which no pair goes to the other side."""
        kept = [(e, x) for e, x, t in zip(self.etas, self.errors, self.turned, strict=True) if not t]
        return fit_power_law([e for e, _ in kept], [x for _, x in kept])


def convergence(start: Start, end: float, counts: Sequence[int], grid: int = 20) -> Convergence:
    """Recursions with `counts` steps up to theta = end against the event-driven flow; multiples of `grid`."""
    bad = [c for c in counts if c % grid]
    if bad:
        raise ParameterError(f"{bad[0]} steps do not meet a grid of {grid} times; use multiples of {grid}")
    flow = integrate_flow(start, end)
    thetas = np.linspace(0.0, end, grid + 1)
    exact = flow.at(thetas)
    n, m_k = start.case.n, start.case.m_k
    last = State.unpack(exact[-1], n, m_k)
    errors, cycles, turned = [], [], []
    for count in counts:
        run = descend(start, end / count, count)
        states = np.array([run.state(j * count // grid).pack() for j in range(grid + 1)])
        errors.append(float(np.abs(states - exact).max()))
        cycles.append(len(trapped(run)))
        turned.append(int((np.sign(run.q[-1]) != np.sign(last.q)).sum()))
    return Convergence(tuple(end / c for c in counts), tuple(errors), tuple(cycles), tuple(turned))


# ---- the two-step cycle ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trap:
    """A pair (neuron, sample) whose query and key noise both jump to and fro, from step `start` for `length` steps."""

    neuron: int
    sample: int
    start: int
    length: int


def trapped(run: Run, least: int = 2) -> list[Trap]:
    """Pairs held at their saddle: q and k alternate together; a key that alternates alone follows a slide instead.

    One joint turn is the end of stage I, where both directions reverse; two in a row are a cycle. The run must have
    every step recorded.
    """
    if len(run.times) < 3 or not np.allclose(np.diff(run.times), 1.0):
        raise ParameterError("cycles are seen step by step: record every step of the run")
    size = run.q[0].size
    together = alternation_table(run.q.reshape(-1, size)) & alternation_table(run.k.reshape(-1, size))
    return [
        Trap(t.index // run.q.shape[2], t.index % run.q.shape[2], t.start, t.length)
        for t in find_alternations(together, least)
    ]


def sliding_keys(run: Run, least: int = 8) -> list[Alternation]:
    """Keys that alternate while their query does not: what a slide of the flow looks like in a recursion."""
    size = run.q[0].size
    alone = alternation_table(run.k.reshape(-1, size)) & ~alternation_table(run.q.reshape(-1, size))
    return find_alternations(alone, least)


def trap_probability(start: Start, eta: float) -> float:
    r"""Probability that finite steps hold a pair, given that A = q + q_mu and B = k - k_mu start with opposite signs.

    Both shrink by :math:`h' = \eta\|\xi\|_1` per step; the cycle closes if they pass zero in the same step,
    :math:`\lfloor|A|/h'\rfloor = \lfloor|B|/h'\rfloor`: the sum over j of squared probabilities, mean over samples.
    """
    out = []
    for l1, l2 in zip(start.l1, start.l2, strict=True):
        spread = start.case.sigma_0 * np.hypot(l2, start.mu)
        step = eta * l1 / spread
        if step < FINE:  # a sum of f(j h)^2 h^2, with f twice the normal density, is h times its integral
            out.append(float(step / np.sqrt(np.pi)))
            continue
        edges = np.arange(0.0, 12 / step + 1) * step
        out.append(float((np.diff(2 * norm.cdf(edges) - 1) ** 2).sum()))
    return float(np.mean(out))


def count_crossings(state: State, start: Start, eta: float) -> tuple[int, int]:
    """How many pairs start with opposite signs of A and B, and how many of these pass zero in the same step."""
    A, B = state.q + state.q_mu[:, None], state.k - state.k_mu[:, None]
    opposite = A * B < 0
    h = eta * start.l1
    same = np.floor(np.abs(A) / h) == np.floor(np.abs(B) / h)
    return int(opposite.sum()), int((opposite & same).sum())
