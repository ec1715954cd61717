r"""States, starts and runs of the reduced recursion; here because a run is an array over neurons and samples.

.. math::
    v_i = \langle v, y_i\xi_i\rangle,\quad q_{ri} = \langle w_{Q,r}, y_i\xi_i\rangle,\quad
    k_{ri} = \langle w_{K,r}, y_i\xi_i\rangle .

Every variable moves by its speed times the sign of its driver. The step is the one that `derivations.signgd.dynamics`
derives, over arrays (`array_step`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from odesys import ParameterError, Progress, paced, silent

from ..setting import Case
from . import array_step
from .training_sets import TrainingSet

Advance = Callable[..., "State"]  # of a state, a start and a step size
LARGEST_SAMPLE = 10**6  # coordinates that are drawn one by one; above, norms come from their joint normal law


@dataclass(frozen=True, eq=False)
class State:
    """Inner products with mu and with y_i xi_i: v_mu (), v (n,), q_mu, k_mu (m_k,), q, k (m_k, n).

    States of several runs at once have the axis of runs in front (`many`).
    """

    v_mu: Any
    v: np.ndarray
    q_mu: np.ndarray
    k_mu: np.ndarray
    q: np.ndarray
    k: np.ndarray

    def pack(self) -> np.ndarray:
        """All scalars as one vector: v_mu, v, then for every neuron q_mu, q, and the same for keys."""
        return np.concatenate(
            [
                [self.v_mu],
                self.v,
                np.column_stack([self.q_mu, self.q]).ravel(),
                np.column_stack([self.k_mu, self.k]).ravel(),
            ]
        )

    def arrays(self) -> dict[str, Any]:
        """The parts by the names they have for one sample and one neuron, all (..., neurons, samples)."""
        return _arrays(self)

    @classmethod
    def unpack(cls, x: np.ndarray, n: int, m_k: int) -> State:
        """The inverse of `pack`."""
        q, k = x[1 + n :].reshape(2, m_k, 1 + n)
        return cls(float(x[0]), x[1 : 1 + n], q[:, 0], k[:, 0], q[:, 1:], k[:, 1:])

    def one(self, place: int) -> State:
        """One of several states."""
        return State(*(getattr(self, name)[place] for name in NAMES))


NAMES = ("v_mu", "v", "q_mu", "k_mu", "q", "k")


def _arrays(owner: Any) -> dict[str, Any]:
    """States by the names of `dynamics.derived(1, 1)`: whatever axes are in front, then neurons, then samples."""
    v_mu, v = np.asarray(owner.v_mu)[..., None, None], np.asarray(owner.v)[..., None, :]
    q_mu, k_mu = (np.asarray(x)[..., None] for x in (owner.q_mu, owner.k_mu))
    return {"v_mu": v_mu, "v_z1": v, "q_1_mu": q_mu, "k_1_mu": k_mu, "q_1_z1": owner.q, "k_1_z1": owner.k}


@dataclass(frozen=True, eq=False)
class Start:
    """A start with the norms that set the speeds: l1 (n,), l2 (n,), mu; and the largest start values of value rows.

    beta_xi and beta_mu are the largest |<w, xi_i>| and |<w, mu>| over the rows of all four weight matrices. Several
    starts of one case at once (`many`) have the axis of runs in front of all arrays.
    """

    case: Case
    state: State
    l1: np.ndarray
    l2: np.ndarray
    beta_xi: Any
    beta_mu: Any

    @property
    def mu(self) -> float:
        """Length of the signal, which is its L1 norm."""
        return self.case.mu


def many(starts: Sequence[Start]) -> Start:
    """Several starts of one case as one, with the axis of runs in front."""
    state = State(*(np.array([getattr(start.state, name) for start in starts]) for name in NAMES))
    rest = (np.array([getattr(start, name) for start in starts]) for name in ("l1", "l2", "beta_xi", "beta_mu"))
    return Start(starts[0].case, state, *rest)


class Attention:
    """Attention on the signal patch, of whoever has the logits: (n,) at one time, (T, n) along a run."""

    z11: Any
    z21: Any

    @property
    def s11(self) -> np.ndarray:
        """Attention of the signal patch on the signal patch."""
        return expit(self.z11)

    @property
    def s21(self) -> np.ndarray:
        """Attention of the noise patch on the signal patch."""
        return expit(self.z21)


@dataclass(frozen=True, eq=False)
class Drivers(Attention):
    """Everything a step reads off a state; drivers are only meant up to a positive factor each."""

    z11: np.ndarray  # logit of s_11, (n,)
    z21: np.ndarray
    margin: np.ndarray
    log_a: np.ndarray
    log_b: np.ndarray
    log_g: np.ndarray
    w: np.ndarray
    B: np.ndarray
    A: np.ndarray  # A_ri over exp(log_A)
    log_A: np.ndarray
    signs: State  # direction of every variable, in {-1, 0, 1}

    @property
    def loss(self) -> float:
        """Training loss."""
        return float(np.logaddexp(0.0, -self.margin).mean())


def drivers(state: State, frozen: bool = False) -> Drivers:
    """The sign arguments of all variables, from the state; `frozen` takes slopes of the softmax at zero logits."""
    parts, values = array_step.lifted(), state.arrays()
    z, logs, margin = array_step.logarithms(values, frozen)
    found, moves = array_step.arguments(values, logs)
    log_a, log_b = (logs[parts.names[row]] + logs[parts.names[f"not {row}"]] for row in ("s11", "s21"))
    sign = {name: np.sign(value) for name, value in moves.items()}
    sign |= {name: np.full(np.shape(values[name]), float(to)) for name, to in parts.values.items()}
    signs = _state(sign)
    (w, _), (B, _), (A, log_A) = (found[letter] for letter in "wBA")
    rows = (z["s11"], z["s21"], margin, log_a, log_b, logs[parts.names["g"]], w, np.broadcast_to(log_A, log_b.shape))
    z11, z21, margin, log_a, log_b, log_g, w, log_A = (x[..., 0, :] for x in rows)
    return Drivers(z11, z21, margin, log_a, log_b, log_g, w, B, A, log_A, signs)


def _state(values: dict[str, Any]) -> State:
    """The inverse of `_arrays`."""
    v_mu, v = values["v_mu"][..., 0, 0], values["v_z1"][..., 0, :]
    q_mu, k_mu = values["q_1_mu"][..., 0], values["k_1_mu"][..., 0]
    return State(v_mu if np.ndim(v_mu) else float(v_mu), v, q_mu, k_mu, values["q_1_z1"], values["k_1_z1"])


def step(state: State, start: Start, eta: Any, found: Drivers | None = None) -> State:
    """One step of sign descent; several runs at once may each have a step size."""
    to = (found or drivers(state)).signs.arrays()
    known = {**state.arrays(), **{f"to_{name}": value for name, value in to.items()}}
    widths = np.asarray(eta)[..., None, None]
    moved = array_step.lifted().moved({**known, "eta": widths, "m": start.mu, "l1": start.l1[..., None, :]})
    return _state(dict(zip(("v_mu", "v_z1", "q_1_mu", "q_1_z1", "k_1_mu", "k_1_z1"), moved, strict=True)))


def log_product(z: np.ndarray) -> np.ndarray:
    """log(sigmoid(z) sigmoid(-z)), without underflow."""
    return np.asarray(log_expit(z) + log_expit(-z))


# ---- starts ----------------------------------------------------------------------------------------------------------


def noise_norms(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """L1 and L2 norms of n noise patches: exact draws up to a million coordinates, their joint normal law above."""
    if case.s <= LARGEST_SAMPLE:
        rows = [case.sigma_p * rng.standard_normal(case.s) for _ in range(case.n)]
        return np.array([np.abs(x).sum() for x in rows]), np.array([np.linalg.norm(x) for x in rows])
    c, s = np.sqrt(2 / np.pi), float(case.s)
    root = np.linalg.cholesky([[1 - c**2, c], [c, 2.0]])  # covariance of (|Z|, Z^2): E|Z|^3 - E|Z| E Z^2 = c
    l1, square = np.array([[c], [1.0]]) * s + np.sqrt(s) * root @ rng.standard_normal((2, case.n))
    return case.sigma_p * l1, case.sigma_p * np.sqrt(square)


def draw(case: Case, seed: int | tuple[int, ...], untied: bool = False) -> Start:
    """A start from its exact law given the norms (disjoint supports): independent centred Gaussians; no d needed.

    `untied` takes the law given that no neuron has as many positive as negative q + k: neurons are independent, so one
    that has is drawn again. For odd n it is the same start.
    """
    rng = np.random.default_rng(seed)
    l1, l2 = noise_norms(case, rng)
    spread = case.sigma_0 * np.concatenate([[case.mu], l2])
    q, k = (spread * rng.standard_normal((case.m_k, 1 + case.n)) for _ in range(2))
    while untied and (tied := np.sign(q + k)[:, 1:].sum(axis=1) == 0).any():
        q[tied], k[tied] = (spread * rng.standard_normal((int(tied.sum()), 1 + case.n)) for _ in range(2))
    mean, largest = _value_rows(case, rng)
    v, top = spread * mean, spread * largest
    state = State(float(v[0]), v[1:], q[:, 0], k[:, 0], q[:, 1:], k[:, 1:])
    return Start(case, state, l1, l2, *_betas(state, top))


def _value_rows(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean row of class 1 minus that of class -1, and the largest |entry|, of 2 m_v standard Gaussians per vector."""
    size, count = 1 + case.n, 2 * case.m_v
    if count * size <= LARGEST_SAMPLE:
        rows = rng.standard_normal((2, case.m_v, size))
        return rows[0].mean(axis=0) - rows[1].mean(axis=0), np.abs(rows).max(axis=(0, 1))
    # too many to draw: the mean is Gaussian, the largest of `count` has the law U^(1/count), taken as independent of it
    from scipy.special import erfinv

    u = rng.random(size)
    largest = np.sqrt(2) * erfinv(np.exp(np.log(u) / count))
    return np.sqrt(2 / case.m_v) * rng.standard_normal(size), largest


def _betas(state: State, values: np.ndarray) -> tuple[float, float]:
    noise = max(np.abs(state.q).max(), np.abs(state.k).max(), values[1:].max())
    signal = max(np.abs(state.q_mu).max(), np.abs(state.k_mu).max(), values[0])
    return float(noise), float(signal)


def project(data: TrainingSet, weights: Any) -> Start:
    """The reduced start of a network: its weights projected on mu and y_i xi_i. Speeds are exact if `data.disjoint`."""
    q, k = weights.W_Q @ data.pinned.T, weights.W_K @ data.pinned.T
    values = weights.W_V @ data.pinned.T
    v = values[0].mean(axis=0) - values[1].mean(axis=0)
    state = State(float(v[0]), v[1:], q[:, 0], k[:, 0], q[:, 1:], k[:, 1:])
    return Start(data.case, state, data.norms, data.lengths, *_betas(state, np.abs(values).max(axis=(0, 1))))


# ---- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run(Attention):
    """Recorded states: `times` (T,) in steps (recursion, networks) or in theta = eta t (flow); arrays have T first."""

    start: Start
    times: np.ndarray
    v_mu: np.ndarray
    v: np.ndarray
    q_mu: np.ndarray
    k_mu: np.ndarray
    q: np.ndarray
    k: np.ndarray
    eta: float  # step size; 1 for a flow, whose times are theta

    def state(self, index: int) -> State:
        """The state of one record."""
        return State(
            float(self.v_mu[index]), self.v[index], self.q_mu[index], self.k_mu[index], self.q[index], self.k[index]
        )

    def at(self, time: float) -> State:
        """The last recorded state with a time of at most `time`."""
        return self.state(self.index(time))

    def index(self, time: float) -> int:
        """Number of the last record with a time of at most `time`."""
        return max(0, int(np.searchsorted(self.times, time * (1 + 1e-12), side="right")) - 1)

    def arrays(self) -> dict[str, Any]:
        """As `State.arrays`, with the records first."""
        return _arrays(self)

    @cached_property
    def B(self) -> np.ndarray:
        """k - k_mu, (T, m_k, n)."""
        return np.asarray(array_step.lifted().drivers["B"](self.arrays(), {})[0])

    @cached_property
    def _read(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        z, _, margin = array_step.logarithms(self.arrays())
        return {name: value[:, 0] for name, value in z.items()}, margin[:, 0]

    @property
    def z11(self) -> np.ndarray:
        """Logit of s_11, (T, n)."""
        return self._read[0]["s11"]

    @property
    def z21(self) -> np.ndarray:
        """Logit of s_21, (T, n); its negative is the paper's z_22 - z_21."""
        return self._read[0]["s21"]

    @property
    def margin(self) -> np.ndarray:
        """y_i f_i, (T, n)."""
        return self._read[1]

    @cached_property
    def loss(self) -> np.ndarray:
        """Training loss, (T,)."""
        return np.asarray(np.logaddexp(0.0, -self.margin).mean(axis=1))


def from_states(start: Start, times: Any, states: list[State], eta: float) -> Run:
    """A run of recorded states."""
    columns = {name: np.array([getattr(x, name) for x in states]) for name in NAMES}
    return Run(start, np.asarray(times, dtype=float), eta=eta, **columns)


def descend(start: Start, eta: float, steps: int, record: int = 1, progress: Progress = silent) -> Run:
    """Sign descent on the reduced variables: `steps` steps of size eta, every `record`-th kept, and the last."""
    check_steps(eta, steps, record)
    state, times, kept, tell = start.state, [0], [start.state], paced(progress)
    for number in range(1, steps + 1):
        state = step(state, start, eta)
        if number % record == 0 or number == steps:
            times.append(number)
            kept.append(state)
        tell("sign descent", number / steps)
    return from_states(start, times, kept, eta)


def check_steps(eta: float, steps: int, record: int) -> None:
    """Step sizes are positive and finite, numbers of steps at least 1."""
    if not 0 < eta < np.inf:
        raise ParameterError(
            f"the step size eta = {eta:g} can not be used: it is positive and finite; with 0 nothing would move"
        )
    if steps < 1 or record < 1:
        raise ParameterError(f"{steps} steps, every {record} of them kept, can not be used: both are at least 1")


def geometric(
    start: Start,
    end: float,
    fraction: float = 3e-3,
    first: float | None = None,
    records: int = 400,
    progress: Progress = silent,
    fine: Sequence[tuple[float, float]] = (),
) -> Run:
    r"""The sign flow over many decades of :math:`\theta`, by steps :math:`d\theta = \max(d_0, \epsilon\theta)`.

    Euler is exact between switches. A growing step would hold a pair (q_i, k_i) near its saddle for ever, so the saddle
    is passed exactly inside a step: where A and B shrink (opposite signs for w > 0, one sign for w < 0) and the smaller
    one reaches zero first, the other one turns round there. `first` is d_0, by default a two-hundredth of the paper's
    T_1. Where `fine` lists windows of time, steps are ten times as long outside of them: nothing is lost while no sign
    changes, and the time of a change there is known to ten fractions.
    """
    pace = Pace(end, fraction, first if first is not None else first_step(start), fine)
    theta, state, times, kept = 0.0, start.state, [0.0], [start.state]
    keep = pace.least
    growth = (end / keep) ** (1 / records)
    while theta < end:
        width = float(pace(theta))
        state = saddle_step(state, start, width)
        theta += width
        if theta >= keep or theta >= end:
            times.append(theta)
            kept.append(state)
            keep = max(keep * growth, theta)
            progress("sign flow", float(np.log(theta / pace.least) / np.log(end / pace.least)))
    return from_states(start, times, kept, 1.0)


def first_step(start: Start) -> float:
    """A two-hundredth of the paper's T_1, in theta."""
    return float(4 * start.beta_xi / (np.sqrt(start.case.m_v) * start.case.strength) / 200)


@dataclass(frozen=True)
class Pace:
    """How far the sign flow goes in one step from a time, see `geometric`; arrays for several runs at once."""

    end: float
    fraction: float
    least: Any
    fine: Sequence[tuple[Any, Any]] = ()

    def __post_init__(self) -> None:
        if not 0 < self.end < np.inf or not 0 < self.fraction < 1:
            raise ParameterError(
                f"the flow needs a positive end and a fraction between 0 and 1, not {self.end:g} and {self.fraction:g}"
            )

    def __call__(self, theta: Any) -> Any:
        """The next step, at most to the end and to the next fine window; 0 at the end."""
        inside = np.asarray(not self.fine)
        for low, high in self.fine:
            inside = inside | ((low <= theta) & (theta <= high))
        width = np.minimum(np.maximum(self.least, np.where(inside, 1, 10) * self.fraction * theta), self.end - theta)
        for low, _ in self.fine:
            width = np.where(~inside & (low > theta), np.minimum(width, low - theta), width)
        return width


def saddle_step(state: State, start: Start, width: Any, found: Drivers | None = None) -> State:
    """An Euler step of the flow with the pairs' saddles passed exactly, see `geometric`."""
    found = found or drivers(state)
    new = step(state, start, width, found)
    assert array_step.pairs_are_saddles()
    inwards = np.signbit(found.A) ^ np.signbit(found.B) ^ np.signbit(found.w)[..., None, :]  # both of a pair shrink
    if not inwards.any():
        return new
    places = np.nonzero(inwards)
    front, sample = (
        places[:-2],
        places[-1],
    )  # A and B of the pairs that may turn, and the runs and samples they belong to
    with np.errstate(over="ignore"):  # how far q is from where A vanishes
        scale = np.exp(np.minimum(found.log_A - found.log_b, 700.0))[(*front, sample)]
    far_A, far_B = np.abs(found.A[places]) * scale, np.abs(found.B[places])
    reach = (start.l1 * np.asarray(width)[..., None])[(*front, sample)]
    short = np.minimum(far_A, far_B)
    turning = short < reach
    if not turning.any():
        return new
    q, k = new.q.copy(), new.k.copy()
    for values, old, to, chosen in (
        (q, state.q, found.signs.q, turning & (far_B <= far_A)),
        (k, state.k, found.signs.k, turning & (far_B > far_A)),
    ):
        where = tuple(place[chosen] for place in places)
        values[where] = old[where] + to[where] * (2 * short - reach)[chosen]
    return replace(new, q=q, k=k)
