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
    """What label-relevant queries gain from start to T, the least share of lucky neurons still active at T, and `received`."""
    run = lab.tokens(POSITIONS, seed)
    if not run.fitted:
        raise IntegrationError(f"the training margins are not reached in {run.steps} steps", time=float(run.steps))
    first, last = (network.forward(net, run.data, lab.rules()) for net in (run.first, run.net))
    return {
        "attention gained": _own(last, run.data) - _own(first, run.data),
        "lucky at T": min(_kept(first, last, run.data, label) for label in (1, -1)),
        **received(first, last, run.data),
    }


def _own(found: Pass, data: Tokens) -> float:
    """Mean attention of label-relevant queries on label-relevant tokens."""
    own = np.einsum("nsl,ns->nl", found.A, data.relevant.astype(float))
    return float(own[data.relevant].mean())


def _kept(first: Pass, last: Pass, data: Tokens, label: int) -> float:
    """Share of the neurons that a label-relevant query of a class activates at the start and still activates at T."""
    queries = data.relevant & (data.y == label)[:, None]
    return float((last.h[queries] > 0)[first.h[queries] > 0].mean())


def received(first: Pass, last: Pass, data: Tokens) -> dict[str, float]:
    """What tokens receive, in the mean over queries, times their number L: 1 is the same for all.

    Gains from start to T of label-relevant and of confusion tokens, in the mean over all; what label-relevant tokens
    receive at T beyond the others and beyond confusion tokens, the latter also in the class where it is least; the share of
    the samples in which each of them is above every other token at T.
    """
    before, after = (found.A.mean(axis=2) * data.X.shape[1] for found in (first, last))
    own, confusion = data.relevant, data.pattern == np.where(data.y > 0, 1, 0)[:, None]
    least = np.where(own, after, np.inf).min(axis=1)
    most = np.where(own, -np.inf, after).max(axis=1)
    return {
        "label-relevant gained": float((after - before)[own].mean()),
        "confusion gained": float((after - before)[confusion].mean()),
        "label-relevant beyond others": float(after[own].mean() - after[~own].mean()),
        "label-relevant beyond confusion": float(after[own].mean() - after[confusion].mean()),
        "least label-relevant beyond confusion": min(
            float(after[own & here].mean() - after[confusion & here].mean())
            for here in ((data.y == label)[:, None] for label in (1, -1))
        ),
        "above every other": float((least > most).mean()),
    }
