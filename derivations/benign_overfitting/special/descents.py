"""Runs of the derived gradient step on drawn training sets; here because checks read every step of them, and the next.

The training set of a run is one of `CASES`; the step is given, so that a broken one can be run as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from odesys import BlockField, Flow, IntegrationError, blocks, row_softmax

from .. import dynamics
from ..setting import Case
from . import span_network
from .gram_start import GramStart

#: training sets of the runs by the recursion: P = 14 tokens, 420 scalars, whatever the widths. These are such that the
#: terms the paper leaves out are small: N SNR / sqrt(d_h) is 0.15 and N sqrt(log / d) 0.04 in the first two; in the
#: third attention saturates while the values are small, which needs kappa mu^2 = 10^6 and a d_h far above its square
BENIGN = Case(N=6, M=3, d=200_000, d_h=100_000, mu=36.0, noise=20.0, C_p=4.0, sigma_V=1e-5)
HARMFUL = replace(BENIGN, mu=2.5)
SATURATING = replace(BENIGN, d=10**16, d_h=10**14, kappa=1e6 / BENIGN.m_s, sigma_V=3e-8)
#: and one where they are not: with d below N^2 the noise of the other samples moves a value as much as its own
CROWDED = Case(N=24, M=3, d=250, d_h=100, mu=(400 / 24) ** 0.5, noise=1.0, C_p=4.0, sigma_V=1e-5)
CASES = {"benign": BENIGN, "harmful": HARMFUL, "saturating": SATURATING, "crowded": CROWDED}
RATES = {"benign": 0.1, "harmful": 0.3, "saturating": 0.001, "crowded": 0.1}  # step size times largest squared length
LARGEST_VALUE = {"saturating": 0.25}  # where a run ends before the loss is fitted
EPS, STEPS, SEED = 0.05, 3000, 11


class Record:
    """A run of the recursion on its training set: S, Q, K, V, alpha, beta at every record, and S+, ... a step later."""

    def __init__(
        self, case: Case, made: GramStart, eta: float, rows: Mapping[str, np.ndarray], steps: np.ndarray, fitted: bool
    ) -> None:
        self.case, self.made, self.eta, self.rows, self.steps, self.fitted = case, made, eta, rows, steps, fitted

    def __getitem__(self, name: str) -> np.ndarray:
        return self.rows[name]

    @property
    def y(self) -> np.ndarray:
        """Labels."""
        return self.made.y

    @property
    def values(self) -> np.ndarray:
        """y_n V of the tokens of each sample, (times, N, M)."""
        return self.rows["V"][:, self.made.places] * self.y[None, :, None]

    @property
    def scores(self) -> np.ndarray:
        """Scores within samples, (times, N, query, key)."""
        p = self.made.places
        return self.rows["S"][:, p[:, :, None], p[:, None, :]]

    @property
    def attention(self) -> np.ndarray:
        """Softmax of the scores within samples."""
        return row_softmax(self.scores)

    def exit(self, key: int) -> int:
        """Place of the first record where token `key` (0 signal, 1 first noise) dominates by 3 M; refuses if none."""
        v, M = self.values, self.case.M
        rest = np.abs(np.delete(v, key, axis=2)).max(axis=2)
        places = np.flatnonzero(((v[:, :, key] >= 3 * M * rest) & (v[:, :, key] > 0)).all(axis=1))
        if not places.size:
            raise IntegrationError("no token dominates by 3 M in this run", time=float(self.steps[-1]))
        return int(places[0])


def descend(flow: Flow, name: str, case: Case, made: GramStart, values: dict[str, np.ndarray]) -> Record:
    """Iterate the derived gradient step from a drawn start; record every tenth step of the run."""
    state = flow.layout.pack(span_network.engine_leaves(values))
    eta = RATES[name] / case.largest
    bound = {"eta": eta, "w2": case.w2}
    compiled = flow.system.compile(bound, "block")
    alpha_beta = list(dynamics.coefficients(flow))
    field = flow.system.field
    assert isinstance(field, BlockField)
    loss = field.observable_blocks["loss"]
    kept: dict[str, list[Any]] = {}
    numbers, fitted, every = list[int](), False, 5
    for number in range(STEPS + 1):
        if number % every == 0:
            leaves = flow.layout.unpack(state)
            a, b, value = blocks.evaluate([*alpha_beta, loss], leaves, bound)
            fitted = float(value.reshape(-1)[0]) <= EPS
            fitted = fitted or bool(np.abs(leaves["wOV"]).max() >= LARGEST_VALUE.get(name, np.inf))
            if number % (2 * every) == 0 or fitted:
                after = flow.layout.unpack(compiled(0.0, state))
                row = {
                    "S": leaves["KQ"].T,
                    "Q": leaves["QQ"],
                    "K": leaves["KK"],
                    "V": leaves["wOV"][0],
                    "alpha": a,
                    "beta": b,
                    "loss": value.reshape(-1)[0],
                    "S+": after["KQ"].T,
                    "Q+": after["QQ"],
                    "K+": after["KK"],
                    "V+": after["wOV"][0],
                }
                for key, item in row.items():
                    kept.setdefault(key, []).append(np.array(item))
                numbers.append(number)
            if fitted:
                break
        state = compiled(0.0, state)
        if not np.isfinite(state).all():
            raise IntegrationError(f"the recursion overflows at step {number}", time=float(number))
    rows = {key: np.array(items) for key, items in kept.items()}
    return Record(case, made, eta, rows, np.array(numbers), fitted)
