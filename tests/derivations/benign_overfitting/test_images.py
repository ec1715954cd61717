"""Images of the user's own: files that are read and refused, SNR, patches, the gradient, and what training shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave

from derivations.benign_overfitting.figures.image_figure import image_cell
from derivations.benign_overfitting.special import images
from derivations.benign_overfitting.special.images import load_images, patches, synthetic_images, with_noise
from derivations.benign_overfitting.special.patch_network import PARTS, PatchNetwork
from odesys.errors import ParameterError


def test_arrays_and_folders_give_the_same_images(tmp_path: Path) -> None:
    made = synthetic_images(12, seed=1)
    np.savez(tmp_path / "set.npz", images=(255 * made.pixels).astype(np.uint8), labels=np.where(made.y > 0, 3, 8))
    np.savez(tmp_path / "mnist.npz", x_train=made.pixels, y_train=np.where(made.y > 0, 0, 1))
    for k, (image, y) in enumerate(zip(made.pixels, made.y, strict=True)):
        folder = tmp_path / "folder" / ("a" if y > 0 else "b")
        folder.mkdir(parents=True, exist_ok=True)
        imsave(folder / f"{k:02d}.png", image, cmap="gray", vmin=0, vmax=1)
    order = np.argsort(-made.y, kind="stable")
    for source, kept in (("set.npz", slice(None)), ("mnist.npz", slice(None)), ("folder", order)):
        found = load_images(tmp_path / source)
        np.testing.assert_array_equal(found.y, made.y[kept])
        np.testing.assert_allclose(found.pixels, made.pixels[kept] / made.pixels.max(), atol=0.02)


def test_files_that_can_not_be_used_get_a_sentence(tmp_path: Path) -> None:
    tables = {
        "objects": ({"images": np.array([{}, {}]), "labels": np.array([0, 1])}, "can not be read"),
        "names": ({"x": np.zeros((2, 28, 28))}, "not images and labels"),
        "one": ({"images": np.ones((2, 28, 28)), "labels": np.array([4, 4])}, "one class"),
        "sizes": ({"images": np.ones((2, 28, 27)), "labels": np.array([0, 1])}, "square"),
        "black": ({"images": np.zeros((2, 28, 28)), "labels": np.array([0, 1])}, "all black"),
        "short": ({"images": np.ones((3, 28, 28)), "labels": np.array([0, 1])}, "labels of shape"),
    }
    for name, (arrays, words) in tables.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(ParameterError, match=words):
            load_images(tmp_path / f"{name}.npz")
    (tmp_path / "empty").mkdir()
    for path, words in ((tmp_path / "empty", "no images"), (tmp_path / "none.npz", "is not there")):
        with pytest.raises(ParameterError, match=words):
            load_images(path)


def test_noise_is_on_the_border_and_in_whole_patches() -> None:
    pixels = synthetic_images(40).pixels
    for snr, a in ((0.2, 1 / 6), (2.0, 2 / 3)):
        noisy = with_noise(pixels, snr, np.random.default_rng(0))
        inner = (slice(None), slice(4, -4), slice(4, -4))
        np.testing.assert_allclose(noisy[inner], a * pixels[inner])
        border = np.ones((28, 28), dtype=bool)
        border[4:-4, 4:-4] = False
        assert noisy[:, border].std() == pytest.approx(1 - a, rel=0.03)
        cut, noise = patches(noisy), images.noise_patches(28)
        assert cut.shape == (40, 49, 16) and noise.sum() == 24
        np.testing.assert_allclose(cut[:, ~noise].sum(), a * pixels.sum())
    with pytest.raises(ParameterError, match="SNR = 0"):
        with_noise(pixels, 0.0, np.random.default_rng(0))


def test_gradients_are_finite_differences() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(3, 4, 2)), np.array([1, -1, 1])
    network = PatchNetwork(*(rng.normal(scale=0.5, size=s) for s in ((4, 2, 3), (4, 2, 3), (4, 2))))
    _, slopes = network.gradients(X, y)
    for name in PARTS:
        along = rng.normal(size=slopes[name].shape)
        ends = [replace(network, **{name: getattr(network, name) + h * along}).loss(X, y) for h in (1e-5, -1e-5)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(float((slopes[name] * along).sum()), rel=1e-6)


def test_both_regimes_fit_and_only_one_generalises() -> None:
    data = synthetic_images()
    benign, harmful = image_cell(data, 60, 2.0), image_cell(data, 60, 0.2)
    assert benign[0] <= 0.05 and harmful[0] <= 0.05 and benign[1] < 0.25 < 0.6 < harmful[1]
