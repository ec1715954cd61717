"""SGD on noisy tokens, broken as `laboratory` says; here because token noise is in no derived system."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..setting import Case
from . import network


def train(mutation: str, speed: Callable[[str], int], case: Case, seed: Any, steps: int | None) -> network.Run:
    """SGD until every margin is reached (or `steps` are done), with one part broken; `speed` by matrix O, V, K, Q."""
    rng = np.random.default_rng(seed)
    net, _ = network.start(case, rng)
    data = network.draw(case, rng)
    if mutation == "start":
        net = replace(net, W_V=net.W_V / 2, W_K=net.W_K / 2, W_Q=net.W_Q / 2)
    if mutation == "minority":
        data = replace(data, y=-data.y)
    if mutation == "weight":
        data = data.take(np.concatenate([np.arange(len(data.y)), np.flatnonzero(data.y < 0)]))
    if mutation == "tokens":  # some of the discriminative tokens become the first nuisance pattern
        moved = (data.pattern < 2) & (rng.random(data.pattern.shape) < 0.4)
        data = replace(data, X=np.where(moved[:, :, None], network.patterns(case)[2], data.X))
    first, number, limit = net.copy(), 0, case.steps if steps is None else steps
    moving = ("W_O", "W_V") if case.frozen else network.WEIGHTS
    while True:
        seen = replace(net, W_K=net.W_K / 2) if mutation == "scale" else net
        found = network.forward(seen, data)
        if mutation == "linear":
            F = np.einsum("nl,nli->n", found.share, found.h * net.a)
            found = replace(found, h=np.ones_like(found.h), F=F, margins=data.y * F)
        fitted = bool(np.all(found.margins >= case.margin))
        if fitted or number >= limit:
            break
        slopes = (
            network.gradients(seen, data, case.margin, found)
            if mutation != "hinge"
            else network.gradients(seen, replace(data, y=data.y * np.exp(-found.margins)), math.inf, found)
        )
        if mutation == "scale":
            slopes["W_K"] = slopes["W_K"] / 2
        for name in moving:
            change = speed(name[2]) * slopes[name]
            if mutation == "nuisance" and name == "W_V":
                change[:, 2:] *= -1
            setattr(net, name, getattr(net, name) - case.eta * change)
        number += 1
    return network.Run(case, data, first, net, number, fitted, np.array([number]), {})
