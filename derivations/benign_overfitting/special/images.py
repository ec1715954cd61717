r"""Images as signal and noise patches, as in the paper's second experiment; here because the user brings the images.

Section 6: Gaussian noise is added to a border of width 4, the image is multiplied by a and the noise by 1 - a, and SNR
is a / (1 - a), so that a = 1/6 is SNR = 0.2 and a = 2/3 is SNR = 2. In patches of 4 x 4 pixels the border is whole
patches: they are the noise tokens, the inner ones the signal. A patch at position j is the vector with its pixels in
block j, so that tokens at different positions are orthogonal, as in Definition 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from odesys import ParameterError

BORDER = PATCH = 4
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
NAMES = (("images", "labels"), ("x_train", "y_train"))  # of arrays in a .npz; the second are those of Keras' mnist.npz


@dataclass(frozen=True, eq=False)
class Images:
    """Images of two classes, grey from 0 to 1, shape (n, side, side), with labels +1 and -1."""

    pixels: np.ndarray
    y: np.ndarray
    title: str

    def split(self, train: int, test: int, rng: np.random.Generator) -> tuple[Images, Images]:
        """Images to train and others to test on, drawn at random."""
        if train + test > len(self.y):
            raise ParameterError(
                f"{self.title} has {len(self.y)} images of its two classes; {train} to train and {test} to test on are "
                f"{train + test}"
            )
        order = rng.permutation(len(self.y))[: train + test]
        first, second = order[:train], order[train:]
        return Images(self.pixels[first], self.y[first], self.title), Images(
            self.pixels[second], self.y[second], self.title
        )


def load_images(path: Path) -> Images:
    """Images of a folder with a folder per class, or of an .npz with `images` and `labels` (or x_train and y_train).

    The first two classes are taken. Nothing in the files is run: an .npz with objects is refused.
    """
    if path.is_dir():
        pixels, labels = _folder(path)
    elif path.suffix == ".npz" and path.is_file():
        pixels, labels = _arrays(path)
    else:
        raise ParameterError(f"{path} is neither a folder of images nor an .npz file")
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ParameterError(f"{path} has images of one class, {classes[0] if classes else 'none'}; two are needed")
    chosen = np.isin(labels, classes[:2])
    pixels, y = pixels[chosen], np.where(labels[chosen] == classes[0], 1, -1)
    if pixels.ndim != 3 or pixels.shape[1] != pixels.shape[2] or pixels.shape[1] % PATCH or pixels.shape[1] < 12:
        raise ParameterError(
            f"{path} has images of {' x '.join(map(str, pixels.shape[1:]))} pixels; they must be grey, square, at "
            f"least 12 pixels wide, and made of patches of {PATCH} x {PATCH}"
        )
    top = float(pixels.max())
    if not np.isfinite(pixels).all() or top <= 0 or float(pixels.min()) < 0:
        raise ParameterError(f"{path} has pixels that are negative, not finite, or all black")
    return Images(pixels / top, y, f"{path.name}: {classes[0]} and {classes[1]}")


def _arrays(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            for images, labels in NAMES:
                if images in file and labels in file:
                    pixels, classes = np.asarray(file[images], dtype=float), np.asarray(file[labels])
                    break
            else:
                raise ParameterError(f"{path} has the arrays {', '.join(file)}, not images and labels")
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path} can not be read as an .npz of numbers: {error}") from error
    if classes.shape != pixels.shape[:1]:
        raise ParameterError(f"{path} has {len(pixels)} images and labels of shape {classes.shape}")
    return pixels, classes


def _folder(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from matplotlib.image import imread

    pixels, labels = [], []
    for folder in sorted(p for p in path.iterdir() if p.is_dir()):
        for file in sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES):
            try:
                image = np.asarray(imread(file), dtype=float)
            except Exception as error:
                raise ParameterError(f"{file} can not be read as an image: {error}") from error
            pixels.append(image[..., :3].mean(axis=2) if image.ndim == 3 else image)
            labels.append(folder.name)
    sizes = {image.shape for image in pixels}
    if len(sizes) > 1:
        raise ParameterError(f"{path} has images of different sizes: {' and '.join(map(str, sorted(sizes)[:2]))}")
    if not pixels:
        raise ParameterError(f"{path} has no images ({', '.join(SUFFIXES)}) in folders, one for each class")
    return np.array(pixels), np.array(labels)


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
    a, border = snr / (1 + snr), np.ones(pixels.shape[1:])
    border[BORDER:-BORDER, BORDER:-BORDER] = 0
    return np.asarray(a * pixels + (1 - a) * border * rng.standard_normal(pixels.shape))


def patches(pixels: np.ndarray) -> np.ndarray:
    """Patches of each image, shape (n, M, pixels of a patch), row by row."""
    n, side, _ = pixels.shape
    rows = side // PATCH
    cut = pixels.reshape(n, rows, PATCH, rows, PATCH).swapaxes(2, 3)
    return cut.reshape(n, rows * rows, PATCH * PATCH)


def noise_patches(side: int) -> np.ndarray:
    """Which patches are border: True for the noise tokens."""
    rows = side // PATCH
    place = np.arange(rows)
    edge = (place == 0) | (place == rows - 1)
    return np.asarray((edge[:, None] | edge[None, :]).ravel())
