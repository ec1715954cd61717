"""What a laboratory may break in a network; here because its runs are hand-written, beside the derived systems.

The rules of the network, the counting of its samples, and the speeds of its maps.

The hand-written runs and the derived systems are broken by the same records, so that both can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import LOGISTIC, MARGIN, Data, Loss, ManySamples, PathSpeeds, Sample, graph, relu

LEAVES = ("O", "V", "K", "Q")


@dataclass(frozen=True)
class Rules:
    """The network and its loss; the defaults are the paper's."""

    halved: bool = False  # logits count half in the softmax
    linear: bool = False  # neurons without ReLU
    exponential: bool = False  # the loss, in place of the hinge
    logistic: bool = False  # likewise

    @property
    def scale(self) -> float:
        """Factor of the logits."""
        return 0.5 if self.halved else 1.0

    def pull(self, margins: np.ndarray, margin: float) -> np.ndarray:
        """Minus the derivative of the loss by the margin y F."""
        if self.exponential:
            return np.asarray(np.exp(-margins))
        return np.asarray(expit(-margins) if self.logistic else margins < margin)


PAPER = Rules()


@dataclass(frozen=True)
class Counting:
    """How samples and tokens count; the defaults are the paper's."""

    label: int = 1  # factor of every label
    negative: int = 1  # how often samples with label -1 count
    nuisance: int = 1  # how often tokens of nuisance patterns count

    def distribution(self, data: Data) -> Data:
        """Samples of derived systems, counted in this way."""
        return Data.proportional(
            data.words,
            (
                replace(
                    s,
                    label=self.label * s.label,
                    weight=s.weight * (self.negative if s.label < 0 else 1),
                    counts=self._tokens(s),
                )
                for s in data.samples
            ),
        )

    def _tokens(self, sample: Sample) -> Any:
        if sample.counts is None or self.nuisance == 1:
            return sample.counts
        rows = zip(sample.tokens, sample.counts, strict=True)
        return [count if word in ("mu1", "mu2") else self.nuisance * count for word, count in rows]

    def tokens(self, counts: np.ndarray) -> np.ndarray:
        """Counts of patterns (N, M), counted in this way."""
        return counts * np.where(np.arange(counts.shape[1]) < 2, 1, self.nuisance)

    def places(self, labels: np.ndarray) -> np.ndarray:
        """Places of all samples, followed by those of samples with label -1 again where they count more often."""
        more = [np.flatnonzero(labels < 0)] * (self.negative - 1)
        return np.concatenate([np.arange(len(labels)), *more])


def one_sample(M: int, readout: Any, margin: float, rules: Rules, differ: str) -> ManySamples:
    """The program of one sample of M tokens, for arrays of samples.

    Its label differs between them and, as `differ` says, the ``counts`` of its tokens, or which are ``kept``.
    """
    from .. import dynamics

    names = [f"mu{j + 1}" for j in range(M)]
    columns = [f"c{j + 1}" for j in range(M)] if differ else []
    one = Data(dynamics.words(M), [Sample(names, "y", counts=columns if differ == "counts" else None)])
    loss = LOGISTIC if rules.logistic else dynamics.HINGE
    if rules.exponential:
        loss = Loss("exponential", graph.exp(-MARGIN))
    activation = (lambda x: x) if rules.linear else relu
    scale = Fraction(1, 2) if rules.halved else 1
    kept = columns if differ == "kept" else ()
    model = dynamics.model(M, readout.tolist(), activation=activation, scale=scale, kept=kept)
    return ManySamples(model, one, loss, ["y", *columns], {"Gamma": margin} if loss is dynamics.HINGE else {})


def factors(speeds: PathSpeeds, leaf: str, patterns: int) -> np.ndarray:
    """Factors of the moves of one matrix, as a row over the patterns (or tokens) or a single number."""
    return np.array(speeds.table(leaf, (1, patterns)))
