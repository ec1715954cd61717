"""The paper's model on images with noise on the border, as in figure 2 (d); here because the user brings the images.

Appendix B.1: an image is multiplied by lambda, noise of standard deviation 1 - lambda is added to a border of width 7,
and patches have 7 x 7 pixels; d = 49, m_v = m_k = 10, sigma_0 = 0.1/sqrt(d). SignGD and Adam have the step 0.01 and 200
epochs, gradient descent 500 epochs with a step that depends on lambda.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odesys import Images, border_noise, image_patches
from odesys import load_images as load_any

from ..setting import EVERYWHERE, Case
from . import network
from .network import Optimiser

PATCH = BORDER = 7
CLASSES = ("3", "7")
CASE = Case(n=2, s=1, d=PATCH**2, m_k=10, m_v=10, sigma_0=0.1 / PATCH, supports=EVERYWHERE)
LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)  # lambda, from much noise to none
MOST = 500  # images to train on, and to test on: a quarter of the paper's
EPOCHS = {"signgd": 200, "adam": 200, "gd": 500}


class Losses(NamedTuple):
    """At the end of training."""

    train: float
    test: float


def load_images(path: Path) -> Images:
    """Threes and sevens where there are any, else the first two classes."""
    return load_any(path, PATCH, CLASSES)


def optimisers(level: float) -> Iterator[Optimiser]:
    """SignGD, Adam and gradient descent with the steps of appendix B.1."""
    yield Optimiser("signgd", 1e-2)
    yield Optimiser("adam", 1e-2)
    yield Optimiser("gd", 0.1 if level >= 0.85 else 0.3 if level >= 0.65 else 0.6 if level >= 0.45 else 1.0)


def train_on(images: Images, level: float, optimiser: Optimiser, seed: int = 0, epochs: int | None = None) -> Losses:
    """Train on half of the images (at most 500), test on as many others."""
    rng = np.random.default_rng((seed, round(1000 * level)))
    count = min(MOST, len(images.y) // 2)
    parts = images.split(count, count, rng)
    x, fresh = (image_patches(border_noise(part.pixels, level, BORDER, rng), PATCH) for part in parts)
    weights, update = network.gaussian(CASE, (seed, 1)), optimiser.update()
    for _ in range(EPOCHS[optimiser.kind] if epochs is None else epochs):
        slope = network.gradient(weights, x, parts[0].y, optimiser.kind == "signgd")
        for w, change in zip(weights.all(), update(weights, slope), strict=True):
            w += change
    losses = (network.loss(weights, patches, part.y) for patches, part in zip((x, fresh), parts, strict=True))
    found = Losses(*losses)
    return found if all(map(math.isfinite, found)) else Losses(math.inf, math.inf)
