"""Images of the user: which classes are taken, patches, noise on the border; files are tested with the papers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from numerics.networks.images import border_noise, image_patches, load_images
from odesys.errors import ParameterError


def test_wanted_classes_are_taken_where_both_are_there(tmp_path: Path) -> None:
    pixels = np.arange(1.0, 5.0)[:, None, None] * np.ones((4, 14, 14))
    np.savez(tmp_path / "digits.npz", images=pixels, labels=np.array([1, 3, 7, 7]))
    wanted = load_images(tmp_path / "digits.npz", 7, ("3", "7"))
    assert wanted.y.tolist() == [1, -1, -1] and wanted.pixels[:, 0, 0].tolist() == [0.5, 0.75, 1.0]
    assert load_images(tmp_path / "digits.npz", 7, ("3", "9")).title == "digits.npz: 1 and 3"
    with pytest.raises(ParameterError, match="whole patches of 4 x 4"):
        load_images(tmp_path / "digits.npz", 4)


def test_colours_are_averaged_and_labels_may_be_a_column(tmp_path: Path) -> None:
    """As Keras has CIFAR: images with three colours, labels of the shape (n, 1)."""
    pixels = np.random.default_rng(0).random((4, 8, 8, 3))
    np.savez(tmp_path / "colours.npz", x_train=pixels, y_train=np.array([[1], [3], [3], [1]]))
    found = load_images(tmp_path / "colours.npz", 4)
    grey = pixels.mean(axis=3)
    np.testing.assert_allclose(found.pixels, grey / grey.max())
    assert found.y.tolist() == [1, -1, -1, 1]
    np.savez(tmp_path / "two.npz", images=pixels[..., :2], labels=np.array([1, 3, 3, 1]))
    with pytest.raises(ParameterError, match="8 x 8 x 2 pixels"):
        load_images(tmp_path / "two.npz", 4)


@pytest.mark.parametrize(
    ("pixels", "labels"),
    [
        (np.float64(1), np.int64(1)),
        (np.ones((2, 14, 14)), np.array([(1, 2), (3, 4)], dtype="i4,i4")),
        (np.zeros(2, dtype="i4,i4"), np.array([1, 2])),
        (np.array(["a", "b"]), np.array([1, 2])),
    ],
)
def test_arrays_that_are_no_images_are_refused(tmp_path: Path, pixels: np.ndarray, labels: np.ndarray) -> None:
    np.savez(tmp_path / "no.npz", images=pixels, labels=labels)
    with pytest.raises(ParameterError, match=r"no\.npz (has|can not be read)"):
        load_images(tmp_path / "no.npz", 7)


def test_files_that_are_no_archives_are_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "whole.npz", images=np.ones((2, 14, 14)), labels=np.array([1, 2]))
    whole = (tmp_path / "whole.npz").read_bytes()
    for text in (b"", b"PK\x03\x04" + bytes(100), whole[:-30], whole[:80] + b"\xff" * 8 + whole[88:]):
        (tmp_path / "no.npz").write_bytes(text)
        with pytest.raises(ParameterError, match=r"can not be read as an .npz of numbers"):
            load_images(tmp_path / "no.npz", 7)


def test_patches_are_squares_of_the_image_and_noise_stays_outside() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.random((3, 28, 28))
    cut = image_patches(pixels, 7)
    np.testing.assert_array_equal(cut[1, 6].reshape(7, 7), pixels[1, 7:14, 14:21])
    noisy = border_noise(pixels, 0.3, 7, rng)
    np.testing.assert_allclose(noisy[:, 7:-7, 7:-7], 0.3 * pixels[:, 7:-7, 7:-7])
    assert (noisy[:, :7] - 0.3 * pixels[:, :7]).std() == pytest.approx(0.7, rel=0.1)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        border_noise(pixels, 1.5, 7, rng)
