r"""The full network on tokens, mini-batch SGD, by the program of one sample over arrays of tokens; here because tokens
are noisy and may be removed.

The words of the program are the tokens of a sample, whatever they are; a parameter is 1 for a token that is kept and 0
for one that is removed, which is not in the softmax either. Tokens that are set to zero but kept still take part in
the softmax with the logit 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from odesys import ManySamples, ParameterError, PathSpeeds, Progress, row_softmax, silent

from .. import setting
from ..setting import Case, CountedSteps
from .rules import PAPER, Rules, factors, one_sample

ROUNDS = 1000  # in which tokens beyond tau are drawn anew
WEIGHTS = ("W_O", "W_V", "W_K", "W_Q")


@dataclass(eq=False)
class Network:
    """W_O (m, m_a), W_V (m_a, d), W_K and W_Q (m_b, d), and frozen output weights a: (m,) or (L, m)."""

    W_O: np.ndarray
    W_V: np.ndarray
    W_K: np.ndarray
    W_Q: np.ndarray
    a: np.ndarray

    def copy(self) -> Network:
        """A network of its own."""
        return Network(*(np.array(getattr(self, name)) for name in (*WEIGHTS, "a")))


@dataclass(frozen=True, eq=False)
class Tokens:
    """Samples: tokens X (N, L, d), the pattern of each (N, L), which are kept (N, L), labels y (N,)."""

    X: np.ndarray
    pattern: np.ndarray
    kept: np.ndarray
    y: np.ndarray

    def take(self, which: Any) -> Tokens:
        """Some of the samples."""
        return Tokens(self.X[which], self.pattern[which], self.kept[which], self.y[which])

    def counts(self, M: int) -> np.ndarray:
        """Kept tokens of each pattern, (N, M)."""
        return np.stack([((self.pattern == j) & self.kept).sum(axis=1) for j in range(M)], axis=1)

    @property
    def relevant(self) -> np.ndarray:
        """True for label-relevant tokens."""
        return self.pattern == np.where(self.y > 0, 0, 1)[:, None]


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass: attention A[n, s, l] of query l on token s, values V[n, l], h[n, l, i], outputs and margins."""

    A: np.ndarray
    V: np.ndarray
    h: np.ndarray
    F: np.ndarray
    margins: np.ndarray
    share: np.ndarray  # 1 / |S| at kept queries, 0 elsewhere

    def loss(self, margin: float = 1.0) -> float:
        """Mean hinge loss."""
        return float(np.maximum(margin - self.margins, 0.0).mean())


def patterns(case: Case) -> np.ndarray:
    """Unit patterns as rows (M, d): the first M axes, or the rows of the root of their Gram matrix if they overlap."""
    M, lam = case.M, case.overlap
    mean = np.full((M, M), 1 / M)
    root = np.sqrt(1 - lam) * (np.eye(M) - mean) + np.sqrt(1 + (M - 1) * lam) * mean
    return np.pad(root, ((0, 0), (0, case.d - M))) if lam else np.eye(M, case.d)


def start(case: Case, rng: np.random.Generator) -> tuple[Network, setting.Features]:
    """The start of Assumption 1: W mu_j are the tilted features, W vanishes across the span of the patterns.

    Patterns that overlap need a W of norm 1/sqrt(1 - lambda) for that; it is divided by its norm, as features are.
    """
    made, mu = setting.features(case, rng), patterns(case)
    hidden = setting.hidden(case, rng)
    dual = np.linalg.pinv(mu).T if case.overlap else mu
    W_V, W_K, W_Q = (image.T @ dual for image in (made.v, made.kappa, made.rho))
    if case.overlap:
        W_V, W_K, W_Q = (x / max(1.0, float(np.linalg.norm(x, 2))) for x in (W_V, W_K, W_Q))
    return Network(hidden, W_V, W_K, W_Q, setting.readout(case, rng)), made


def lay_out(
    case: Case, counts: np.ndarray, y: np.ndarray, rng: np.random.Generator, noise: np.ndarray | None = None
) -> Tokens:
    """Tokens in random order with the given counts; `noise` (N, L) are standard deviations, else that of the case."""
    order = np.array([rng.permutation(np.repeat(np.arange(case.M), row)) for row in counts])
    mu = patterns(case)[order]
    spread = np.full(order.shape, case.noise) if noise is None else noise
    X = _noisy(case, mu, spread, rng)
    for _ in range(ROUNDS):
        far = np.linalg.norm(X - mu, axis=2) > case.tau if case.tau else np.zeros(order.shape, dtype=bool)
        if not far.any():
            return Tokens(X, order, np.ones(order.shape, dtype=bool), y)
        X[far] = _noisy(case, mu[far], spread[far], rng)
    raise ParameterError(
        f"tau = {case.tau:g} can not be used with noise = {case.noise:g}: after {ROUNDS} draws some token is still "
        f"farther from its pattern; use a larger tau or less noise"
    )


def _noisy(case: Case, mu: np.ndarray, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tokens (.., d) around their patterns `mu`, at unit length if the case asks for it."""
    X = mu + spread[..., None] * rng.standard_normal(mu.shape) if np.any(spread > 0) else mu.copy()
    return X / np.linalg.norm(X, axis=-1, keepdims=True) if case.unit else X


def draw(case: Case, rng: np.random.Generator, N: int | None = None) -> Tokens:
    """Samples of the case."""
    return lay_out(case, *setting.draw_counts(case, rng, N), rng)


def forward(net: Network, data: Tokens, rules: Rules = PAPER) -> Pass:
    """Attention, values, pre-activations and outputs of all samples; neurons without ReLU count as active."""
    logits = rules.scale * np.einsum("nsb,nlb->nsl", data.X @ net.W_K.T, data.X @ net.W_Q.T)
    A = row_softmax(np.where(data.kept[:, :, None], logits, -np.inf), axis=1)
    V = np.einsum("nsl,nsa->nla", A, data.X @ net.W_V.T)
    h = V @ net.W_O.T
    share = data.kept / data.kept.sum(axis=1, keepdims=True)
    F = np.einsum("nl,nli->n", share, (h if rules.linear else np.maximum(h, 0.0)) * net.a)
    return Pass(A, V, np.ones_like(h) if rules.linear else h, F, data.y * F, share)


@lru_cache(maxsize=64)
def _program(L: int, readout: bytes, rows: int, removed: bool, margin: float, rules: Rules) -> ManySamples:
    """The program of one sample of L tokens."""
    table = np.frombuffer(readout)
    return one_sample(L, table if rows == 1 else table.reshape(rows, -1), margin, rules, "kept" if removed else "")


def gradients(net: Network, data: Tokens, margin: float = 1.0, rules: Rules = PAPER) -> dict[str, np.ndarray]:
    """Gradients of the mean loss by each weight."""
    removed, L = not data.kept.all(), data.X.shape[1]
    made = _program(L, net.a.tobytes(), 1 if net.a.ndim == 1 else L, removed, float(margin), rules)
    given = np.column_stack([data.y, data.kept]) if removed else data.y[:, None]
    weights = {name: getattr(net, name) for name in WEIGHTS}
    return made.gradients(weights, np.ascontiguousarray(data.X.mT), given)


def step(
    net: Network,
    data: Tokens,
    eta: float,
    margin: float = 1.0,
    train: tuple[str, ...] = WEIGHTS,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
) -> None:
    """One gradient step in place; `speeds` are factors of the moves."""
    with np.errstate(all="ignore"):  # outputs that are not finite are refused at the next step
        for name, gradient in gradients(net, data, margin, rules).items():
            if name in train:
                factor = 1.0 if speeds is None else factors(speeds, name[2], gradient.shape[1])
                setattr(net, name, getattr(net, name) - eta * factor * gradient)


@dataclass(frozen=True, eq=False)
class Run(CountedSteps):
    """A run: networks at start and end, data, steps taken, whether all margins were reached, recorded numbers."""

    case: Case
    data: Tokens
    first: Network
    net: Network
    steps: int
    fitted: bool
    times: np.ndarray
    table: dict[str, np.ndarray]


def train(
    case: Case,
    seed: int | tuple[int, ...] | None = None,
    data: Tokens | None = None,
    net: Network | None = None,
    observe: Callable[[Network, Tokens, Pass], dict[str, float]] | None = None,
    record: int = 1,
    steps: int | None = None,
    stop: bool = True,
    progress: Progress = silent,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
) -> Run:
    """Mini-batch SGD until every training margin is reached (or `steps` are done); as `class_network.train`."""
    rng = np.random.default_rng(case.seed if seed is None else seed)
    made, _ = start(case, rng)
    now = net.copy() if net is not None else made
    samples = flipped(draw(case, rng), case, rng) if data is None else data
    if now.a.ndim == 2 and now.a.shape[0] != samples.X.shape[1]:
        raise ParameterError(
            f"the output weights have {now.a.shape[0]} positions but a sample has "
            f"{samples.X.shape[1]} tokens; set L to that number"
        )
    first, limit = now.copy(), case.steps if steps is None else steps
    moving = ("W_O", "W_V") if case.frozen else WEIGHTS
    times: list[int] = []
    rows: list[dict[str, float]] = []
    number = 0
    while True:
        with np.errstate(all="ignore"):
            found = forward(now, samples, rules)
        setting.check_outputs(found.F, number, case)
        fitted = bool(np.all(found.margins >= case.margin))
        last = number >= limit or (fitted and stop)
        if observe is not None and (number % record == 0 or last):
            times.append(number)
            rows.append({"loss": found.loss(case.margin), **observe(now, samples, found)})
        if last:
            break
        full = case.B in (0, len(samples.y))
        batch = samples if full else samples.take(rng.choice(len(samples.y), case.B, replace=False))
        step(now, batch, case.eta, case.margin, moving, rules, speeds)
        number += 1
        progress("training", number / limit)
    table = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    return Run(case, samples, first, now, number, fitted, np.array(times), table)


def steps_together(
    case: Case,
    nets: Sequence[Network],
    data: Sequence[Tokens],
    limit: int,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
) -> np.ndarray:
    """The number of steps of full batches, at most `limit`, after which each network has all of its margins.

    Each network has samples of its own, as many as the others, of which no token is removed; output weights are common
    to all positions and networks.
    """
    a, count = nets[0].a, len(data[0].y)
    weights = {name: np.stack([getattr(net, name) for net in nets]) for name in WEIGHTS}
    X, y = np.stack([each.X for each in data]), np.stack([each.y for each in data])
    made = _program(X.shape[2], a.tobytes(), 1, False, float(case.margin), rules)
    moving = ("W_O", "W_V") if case.frozen else WEIGHTS
    taken, left = np.full(len(nets), limit), np.arange(len(nets))
    for number in range(limit):
        with np.errstate(all="ignore"):
            F = _outputs(weights, X, a, rules)
        setting.check_outputs(F, number, case)
        on = ~np.all(y * F >= case.margin, axis=1)
        if not on.all():
            taken[left[~on]] = number
            left, X, y = left[on], X[on], y[on]
            weights = {name: weight[on] for name, weight in weights.items()}
        if not left.size:
            break
        with np.errstate(all="ignore"):
            columns = np.ascontiguousarray(X.reshape(-1, *X.shape[2:]).mT)
            found = made.gradients(weights, columns, y.reshape(len(left) * count, 1))
            for name in moving:
                factor = 1.0 if speeds is None else factors(speeds, name[2], found[name].shape[2])
                weights[name] = weights[name] - case.eta * factor * found[name]
    return taken


def _outputs(weights: Mapping[str, np.ndarray], X: np.ndarray, a: np.ndarray, rules: Rules) -> np.ndarray:
    """F of the samples of several networks, as `forward` has it: X (networks, samples, L, d)."""
    O, V, K, Q = (weights[name].mT[:, None] for name in WEIGHTS)
    A = row_softmax(rules.scale * (X @ K) @ (X @ Q).mT, axis=2)
    h = A.mT @ (X @ V) @ O
    return np.asarray(((h if rules.linear else np.maximum(h, 0.0)) @ a).mean(axis=2))


def flipped(data: Tokens, case: Case, rng: np.random.Generator) -> Tokens:
    """Training samples of which a share has the wrong label, as many of each class."""
    if not case.flips:
        return data
    count = round(case.flips * len(data.y) / 2)
    wrong = np.concatenate([rng.choice(np.flatnonzero(data.y == label), count, replace=False) for label in (1, -1)])
    y = data.y.copy()
    y[wrong] *= -1
    return replace(data, y=y)


def test_loss(net: Network, case: Case, seed: Any, tests: int | None = None) -> float:
    """Mean hinge loss on fresh samples of the case."""
    count = case.tests if tests is None else tests
    return forward(net, draw(case, np.random.default_rng(seed), count + count % 2)).loss(case.margin)


def without(data: Tokens, removed: np.ndarray, zeroed: bool = False) -> Tokens:
    """Sparsification: the tokens where `removed` (N, L) is True leave the sum and the softmax.

    With `zeroed` they are only set to zero: they stay in the softmax with the logit 0, and as queries.
    """
    if np.any((data.kept & ~removed).sum(axis=1) == 0):
        raise ParameterError("a sample would lose all of its tokens; remove a smaller fraction")
    if zeroed:
        return replace(data, X=np.where(removed[:, :, None], 0.0, data.X))
    return replace(data, kept=data.kept & ~removed)
