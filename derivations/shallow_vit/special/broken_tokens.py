"""SGD on noisy tokens, broken as `laboratory` says; here because token noise is in no derived system."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from odesys import PathSpeeds

from ..setting import Case
from . import network
from .broken_runs import Counting, Rules, factors


def train(
    rules: Rules, counting: Counting, speeds: PathSpeeds, size: float, case: Case, seed: Any, steps: int | None
) -> network.Run:
    """SGD until every margin is reached (or `steps` are done); the initial model has `size` times its size."""
    rng = np.random.default_rng(seed)
    net, _ = network.start(case, rng)
    net = replace(net, W_V=size * net.W_V, W_K=size * net.W_K, W_Q=size * net.W_Q)
    data = network.draw(case, rng)
    data = data.take(counting.places(data.y))
    data = replace(data, y=counting.label * data.y)
    if counting.nuisance > 1:  # some of the discriminative tokens become the first nuisance pattern
        moved = (data.pattern < 2) & (rng.random(data.pattern.shape) < 0.4)
        data = replace(data, X=np.where(moved[:, :, None], network.patterns(case)[2], data.X))
    first, number, limit = net.copy(), 0, case.steps if steps is None else steps
    moving = ("W_O", "W_V") if case.frozen else network.WEIGHTS
    while True:
        seen = replace(net, W_K=net.W_K / 2) if rules.halved else net
        found = network.forward(seen, data)
        if rules.linear:
            F = np.einsum("nl,nli->n", found.share, found.h * net.a)
            found = replace(found, h=np.ones_like(found.h), F=F, margins=data.y * F)
        fitted = bool(np.all(found.margins >= case.margin))
        if fitted or number >= limit:
            break
        slopes = (
            network.gradients(seen, replace(data, y=data.y * np.exp(-found.margins)), math.inf, found)
            if rules.exponential
            else network.gradients(seen, data, case.margin, found)
        )
        if rules.halved:
            slopes["W_K"] = slopes["W_K"] / 2
        for name in moving:
            change = factors(speeds, name[2], case.d) * slopes[name]
            setattr(net, name, getattr(net, name) - case.eta * change)
        number += 1
    return network.Run(case, data, first, net, number, fitted, np.array([number]), {})
