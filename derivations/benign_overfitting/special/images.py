r"""Images as signal and noise patches, as in the paper's second experiment; here because the user brings the images.

Section 6: Gaussian noise is added to a border of width 4, the image is multiplied by a and the noise by 1 - a, and SNR
is a / (1 - a), so that a = 1/6 is SNR = 0.2 and a = 2/3 is SNR = 2. In patches of 4 x 4 pixels the border is whole
patches: they are the noise tokens, the inner ones the signal. A patch at position j is the vector with its pixels in
block j, so that tokens at different positions are orthogonal, as in Definition 3.1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odesys import Images, ParameterError, border_noise, image_patches
from odesys import load_images as load_any

BORDER = PATCH = 4


def load_images(path: Path) -> Images:
    """The first two classes of a folder or an .npz of the user's own, in patches of 4 x 4 pixels."""
    return load_any(path, PATCH)


def synthetic_images(count: int = 600, seed: int = 0, side: int = 28) -> Images:
    """Horizontal and vertical bars near the middle, of random length and strength, to try the figure with."""
    rng = np.random.default_rng(seed)
    pixels, y = np.zeros((count, side, side)), rng.choice([1, -1], size=count)
    inner = side - 2 * BORDER
    for image, label in zip(pixels, y, strict=True):
        place, begin = inner // 2 - rng.integers(0, 4), rng.integers(0, inner // 3)
        length, strength = rng.integers(inner // 2, inner - begin + 1), rng.uniform(0.3, 1.0)
        block = image[BORDER : side - BORDER, BORDER : side - BORDER]
        (block if label > 0 else block.T)[place : place + 3, begin : begin + length] = strength
    return Images(pixels, y, "synthetic bars")


def with_noise(pixels: np.ndarray, snr: float, rng: np.random.Generator) -> np.ndarray:
    """a times each image plus 1 - a times Gaussian noise on its border, a / (1 - a) = SNR."""
    if not 0 < snr < np.inf:
        raise ParameterError(f"SNR = {snr:g} can not be used: it is positive")
    return border_noise(pixels, snr / (1 + snr), BORDER, rng)


def patches(pixels: np.ndarray) -> np.ndarray:
    """Patches of each image, shape (n, M, pixels of a patch), row by row."""
    return image_patches(pixels, PATCH)


def noise_patches(side: int) -> np.ndarray:
    """Which patches are border: True for the noise tokens."""
    rows = side // PATCH
    place = np.arange(rows)
    edge = (place == 0) | (place == rows - 1)
    return np.asarray((edge[:, None] | edge[None, :]).ravel())
