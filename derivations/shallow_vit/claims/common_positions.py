"""Runs with output weights drawn for each position, as (1) has them; other runs have one output weight for all positions."""

from __future__ import annotations

import numpy as np

from odesys import IntegrationError, computed_once

from ..laboratory import Laboratory
from ..setting import Case
from ..special import network
from ..special.network import Pass, Tokens

#: many confusion tokens, which (8) allows without errors; set after runs from other starts with 0.4 (mixed) and 0.3
POSITIONS = Case(
    M=3,
    alpha_s=0.5,
    alpha_c=0.3,
    L=10,
    N=20,
    d=4,
    m_a=4,
    m_b=4,
    m=60,
    eta=0.8,
    steps=6000,
    readout="per_position",
)


@computed_once
def of_positions(lab: Laboratory, seed: int) -> dict[str, float]:
    """What label-relevant queries gain from start to T, the least share of lucky neurons still active at T, and `ranking` at T."""
    run = lab.tokens(POSITIONS, seed)
    if not run.fitted:
        raise IntegrationError(f"the training margins are not reached in {run.steps} steps", time=float(run.steps))
    first, last = (network.forward(net, run.data, lab.rules()) for net in (run.first, run.net))
    return {
        "attention gained": _own(last, run.data) - _own(first, run.data),
        "lucky at T": min(_kept(first, last, run.data, label) for label in (1, -1)),
        **_ranking(last, run.data),
    }


def _own(found: Pass, data: Tokens) -> float:
    """Mean attention of label-relevant queries on label-relevant tokens."""
    own = np.einsum("nsl,ns->nl", found.A, data.relevant.astype(float))
    return float(own[data.relevant].mean())


def _kept(first: Pass, last: Pass, data: Tokens, label: int) -> float:
    """Share of the neurons that a label-relevant query of a class activates at the start and still activates at T."""
    queries = data.relevant & (data.y == label)[:, None]
    return float((last.h[queries] > 0)[first.h[queries] > 0].mean())


def _ranking(found: Pass, data: Tokens) -> dict[str, float]:
    """Shares of the samples in which each label-relevant token receives more attention than every other, and than their mean."""
    received = found.A.mean(axis=2)  # by each token, over queries
    least = np.where(data.relevant, received, np.inf).min(axis=1)
    most = np.where(data.relevant, -np.inf, received).max(axis=1)
    mean = np.where(data.relevant, 0.0, received).sum(axis=1) / (~data.relevant).sum(axis=1)
    return {"above every other": float((least > most).mean()), "above their mean": float((least > mean).mean())}
