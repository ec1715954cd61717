"""Images in a background as tokens, and which of these are removed; here because the user may bring the images.

As in Section 4.2 an image stands in a background, which is clean (zero) or a texture: patches of the image are
label-relevant, those of the background are not. The texture goes with the first class in a share of its samples, and
with the rest of the other class, so that a share other than one half is a spurious correlation. Tokens have unit length
but for clean background, which is zero.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odesys import Images, ParameterError, image_patches, load_cifar, load_images

from ..setting import Case
from . import network
from .network import Network, Tokens

PATCH, INNER = 4, 12  # an image is cut to 3 x 3 patches, with one row of patches of background around it
SIDE = INNER + 2 * PATCH
CASE = Case(M=3, d=PATCH**2, m_a=PATCH**2, m_b=PATCH**2, L=(SIDE // PATCH) ** 2, N=24, m=40, eta=1.0, steps=80)


def own_images(path: Path) -> Images:
    """Images of the user's own: CIFAR in its binary layout (birds and airplanes if there are), a folder, or an .npz."""
    if path.is_dir() and (any(path.glob("*.bin")) or any(path.glob("data_batch_*"))):
        return load_cifar(path, ("bird", "airplane"))  # of the pickled versions it says why it does not read them
    return load_images(path, PATCH)


def synthetic_images(count: int = 400, seed: int = 0) -> Images:
    """Strokes along one diagonal or the other, of random places and strengths, to try the figure with."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], count // 2)
    row, column = np.mgrid[:INNER, :INNER]
    along = np.where(y[:, None, None] > 0, row + column, row - column) + rng.integers(0, 6, count)[:, None, None]
    strength = rng.uniform(0.4, 1.0, count)[:, None, None]
    return Images(strength * (along % 6 < 2) + 0.1 * rng.random((count, INNER, INNER)), y, "synthetic strokes")


def small(pixels: np.ndarray) -> np.ndarray:
    """The middle of images, averaged over blocks, as 12 x 12 pixels."""
    side = pixels.shape[1]
    block = side // INNER
    if not block:
        raise ParameterError(f"images of {side} x {side} pixels are too small; {INNER} x {INNER} are needed")
    first = (side - block * INNER) // 2
    cut = pixels[:, first : first + block * INNER, first : first + block * INNER]
    return np.asarray(cut.reshape(len(cut), INNER, block, INNER, block).mean(axis=(2, 4)))


def framed(images: Images, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Images in their backgrounds, (n, 20, 20): a share `correlation` of the first class has the texture."""
    inner = small(images.pixels)
    n = len(images.y)
    row, column = np.mgrid[:SIDE, :SIDE]
    texture = 0.5 + 0.5 * np.sin(2.1 * row + 0.9 * column) + 0.2 * rng.random((n, SIDE, SIDE))
    has = rng.random(n) < np.where(images.y > 0, correlation, 1 - correlation)
    canvas = np.where(has[:, None, None], texture, 0.0)
    canvas[:, PATCH:-PATCH, PATCH:-PATCH] = inner
    return np.asarray(canvas)


def tokens(images: Images, correlation: float, removed: float, rng: np.random.Generator) -> Tokens:
    """Patches of framed images, of whose background a share is removed."""
    X = image_patches(framed(images, correlation, rng), PATCH)
    length = np.linalg.norm(X, axis=2, keepdims=True)
    X = X / np.where(length > 0, length, 1.0)
    edge = np.ones((SIDE // PATCH, SIDE // PATCH), dtype=bool)
    edge[1:-1, 1:-1] = False
    background = np.broadcast_to(edge.ravel(), X.shape[:2])
    order = np.where(background, rng.random(X.shape[:2]), 2.0).argsort(axis=1).argsort(axis=1)
    kept = order >= round(removed * edge.sum())
    return Tokens(X, np.where(background, 2, np.where(images.y > 0, 0, 1)[:, None]), kept, images.y)


def accuracy(images: Images, N: int, correlation: float, removed: float, seed: int, case: Case = CASE) -> float:
    """Test accuracy of (1) after training on N images; test samples have both backgrounds equally often."""
    rng = np.random.default_rng([seed, 3])
    seen, fresh = images.split(N, min(200, len(images.y) - N), rng)
    train, test = tokens(seen, correlation, removed, rng), tokens(fresh, 0.5, removed, rng)
    U = np.linalg.qr(rng.standard_normal((case.m_a, case.d)))[0]
    a = np.repeat([1.0, -1.0], case.m // 2) / np.sqrt(case.m)
    start = Network(case.xi * rng.standard_normal((case.m, case.m_a)), U, np.eye(case.d), np.eye(case.d), a)
    run = network.train(case, (seed, 4), train, start)
    return float((network.forward(run.net, test).margins > 0).mean())
