"""Images of the user's own as patches with noise on the border: files in, arrays out; nothing in the files is run."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from odesys.errors import ParameterError

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
NAMES = (("images", "labels"), ("x_train", "y_train"))  # of arrays in a .npz; the second are those of Keras' mnist.npz


@dataclass(frozen=True, eq=False)
class Images:
    """Images of two classes.

    Parameters
    ----------
    pixels : np.ndarray
        Grey from 0 to 1, shape (n, side, side).
    y : np.ndarray
        Labels +1 and -1.
    title : str
        Where they are from.

    Examples
    --------
    >>> import numpy as np
    >>> few = Images(np.zeros((4, 14, 14)), np.array([1, -1, 1, -1]), "black")
    >>> seen, fresh = few.split(3, 1, np.random.default_rng(0))
    >>> len(seen.y), len(fresh.y)
    (3, 1)
    """

    pixels: np.ndarray
    y: np.ndarray
    title: str

    def split(self, train: int, test: int, rng: np.random.Generator) -> tuple[Images, Images]:
        """Images to train and others to test on, drawn at random.

        Parameters
        ----------
        train : int
            How many to train on.
        test : int
            How many to test on.
        rng : np.random.Generator
            Decides which.

        Returns
        -------
        tuple[Images, Images]
            The two sets, without an image in common.
        """
        if train + test > len(self.y):
            raise ParameterError(
                f"{self.title} has {len(self.y)} images of its two classes; {train} to train and {test} to test on are "
                f"{train + test}"
            )
        order = rng.permutation(len(self.y))[: train + test]
        first, second = (Images(self.pixels[k], self.y[k], self.title) for k in (order[:train], order[train:]))
        return first, second


def load_images(path: Path, patch: int, classes: Sequence[str] = ()) -> Images:
    """Images of a folder with a folder per class, or of an .npz with `images` and `labels` (or x_train and y_train).

    Colours, red, green and blue along the last axis, are averaged. Nothing in the files is run: an .npz with objects is
    refused.

    Parameters
    ----------
    path : Path
        The folder or file.
    patch : int
        The side of a patch, into which images have to be cut.
    classes : Sequence[str], optional
        Two classes that are taken where both are there; else the first two are.

    Returns
    -------
    Images
        Those of two classes, the first with label +1.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "few.npz", images=np.ones((3, 14, 14)), labels=np.array([3, 7, 8]))
    ...     found = load_images(Path(folder) / "few.npz", 7, ("7", "3"))
    >>> found.y.tolist(), found.title
    ([-1, 1], 'few.npz: 7 and 3')
    """
    if path.is_dir():
        pixels, labels = _folder(path)
    elif path.suffix == ".npz" and path.is_file():
        pixels, labels = _arrays(path)
    else:
        there_is = "is neither a folder of images nor an .npz file" if path.exists() else "is not there"
        raise ParameterError(
            f"{path} {there_is}: give a folder with a folder per class, or an .npz of images and labels"
        )
    there = sorted(set(labels))
    if len(there) < 2:
        raise ParameterError(f"{path} has images of one class, {there[0] if there else 'none'}; two are needed")
    names = {str(label): label for label in there}
    first, second = [names[name] for name in classes] if classes and set(classes) <= set(names) else there[:2]
    chosen = np.isin(labels, [first, second])
    pixels, y = pixels[chosen], np.where(labels[chosen] == first, 1, -1)
    side = pixels.shape[1] if pixels.ndim == 3 else 0
    if pixels.ndim != 3 or side != pixels.shape[2] or side % patch or side < 2 * patch:
        raise ParameterError(
            f"{path} has images of {' x '.join(map(str, pixels.shape[1:]))} pixels; they must be grey, square, and at "
            f"least two by two whole patches of {patch} x {patch}"
        )
    top = float(pixels.max())
    if not np.isfinite(pixels).all() or top <= 0 or float(pixels.min()) < 0:
        raise ParameterError(f"{path} has pixels that are negative, not finite, or all black")
    return Images(pixels / top, y, f"{path.name}: {first} and {second}")


def _arrays(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            for images, labels in NAMES:
                if images in file and labels in file:
                    pixels, classes = np.asarray(file[images], dtype=float), np.asarray(file[labels])
                    break
            else:
                raise ParameterError(f"{path} has the arrays {', '.join(file)}, not images and labels")
    except (OSError, ValueError, TypeError, EOFError, NotImplementedError, BadZipFile, zlib.error) as error:
        raise ParameterError(f"{path} can not be read as an .npz of numbers: {error}") from error
    if classes.shape == (*pixels.shape[:1], 1):
        classes = classes[:, 0]  # as Keras has the labels of CIFAR
    if not pixels.ndim or classes.shape != pixels.shape[:1] or classes.dtype.kind not in "iufbUS":
        raise ParameterError(f"{path} has images of shape {pixels.shape} and labels of shape {classes.shape}")
    return (_grey(pixels) if pixels.ndim == 4 and pixels.shape[3] in (3, 4) else pixels), classes


def _grey(pixels: np.ndarray) -> np.ndarray:
    """The mean of the three colours on the last axis; what comes after them says how opaque a pixel is."""
    return np.asarray(pixels[..., :3].mean(axis=-1))


def _folder(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from matplotlib.image import imread

    pixels, labels = [], []
    for folder in sorted(p for p in path.iterdir() if p.is_dir()):
        for file in sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES):
            try:
                image = np.asarray(imread(file), dtype=float)
            except Exception as error:
                raise ParameterError(f"{file} can not be read as an image: {error}") from error
            pixels.append(_grey(image) if image.ndim == 3 else image)
            labels.append(folder.name)
    sizes = {image.shape for image in pixels}
    if len(sizes) > 1:
        raise ParameterError(f"{path} has images of different sizes: {' and '.join(map(str, sorted(sizes)[:2]))}")
    if not pixels:
        raise ParameterError(f"{path} has no images ({', '.join(SUFFIXES)}) in folders, one for each class")
    return np.array(pixels), np.array(labels)


def border_noise(pixels: np.ndarray, share: float, width: int, rng: np.random.Generator) -> np.ndarray:
    """Images times a share, plus Gaussian noise times the rest on a border.

    Parameters
    ----------
    pixels : np.ndarray
        Images, shape (n, side, side).
    share : float
        What is left of the image, from 0 to 1; the noise has the standard deviation 1 - share.
    width : int
        Of the border, in pixels.
    rng : np.random.Generator
        Of the noise.

    Returns
    -------
    np.ndarray
        The noisy images.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = border_noise(np.ones((1, 6, 6)), 0.25, 2, np.random.default_rng(0))
    >>> noisy[0, 2:4, 2:4].tolist(), bool(noisy[0, 0, 0] == 0.25)
    ([[0.25, 0.25], [0.25, 0.25]], False)
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"a share of {share:g} can not be used: it is between 0 and 1")
    border = np.ones(pixels.shape[1:])
    border[width : pixels.shape[1] - width, width : pixels.shape[2] - width] = 0
    return np.asarray(share * pixels + (1 - share) * border * rng.standard_normal(pixels.shape))


def image_patches(pixels: np.ndarray, size: int) -> np.ndarray:
    """Square patches of each image, row by row.

    Parameters
    ----------
    pixels : np.ndarray
        Images, shape (n, side, side).
    size : int
        The side of a patch, which divides that of the image.

    Returns
    -------
    np.ndarray
        Shape (n, patches, pixels of a patch).

    Examples
    --------
    >>> import numpy as np
    >>> image_patches(np.arange(16.0).reshape(1, 4, 4), 2)[0, 1].tolist()
    [2.0, 3.0, 6.0, 7.0]
    """
    n, side, _ = pixels.shape
    rows = side // size
    cut = pixels.reshape(n, rows, size, rows, size).swapaxes(2, 3)
    return np.asarray(cut.reshape(n, rows * rows, size * size))
