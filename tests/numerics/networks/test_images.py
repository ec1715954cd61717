"""Images of the user: which classes are taken, patches, noise on the border; files are tested with the papers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave

from numerics.networks.images import Images, border_noise, image_patches, load_images
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


def picture(file: Path, pixels: np.ndarray) -> None:
    """A grey or coloured image of bytes."""
    file.parent.mkdir(exist_ok=True)
    imsave(file, pixels.astype(np.uint8), cmap="gray", vmin=0, vmax=255)


def test_a_folder_of_images_is_read_class_by_class(tmp_path: Path) -> None:
    """Files of other kinds, and folders without images, are left alone; names come in their order."""
    rng = np.random.default_rng(1)
    tables = {("cat", "b.png"): 200, ("cat", "a.png"): 100, ("dog", "x.PNG"): 50, ("eel", "1.png"): 250}
    for (label, name), most in tables.items():
        picture(tmp_path / label / name, rng.integers(0, most, (8, 8)))
        (tmp_path / label / "notes.txt").write_text("not an image")
    (tmp_path / "none").mkdir()
    (tmp_path / "file.png").write_text("not in a folder")
    found = load_images(tmp_path, 4)
    assert found.y.tolist() == [1, 1, -1] and found.title == f"{tmp_path.name}: cat and dog"
    rng = np.random.default_rng(1)
    drawn = {key: rng.integers(0, most, (8, 8)) for key, most in tables.items()}
    exact = np.array([drawn["cat", "a.png"], drawn["cat", "b.png"], drawn["dog", "x.PNG"]]).astype(float)
    np.testing.assert_allclose(found.pixels, exact / exact.max(), atol=1e-2)
    other = load_images(tmp_path, 4, ("eel", "cat"))
    assert other.y.tolist() == [-1, -1, 1] and other.title.endswith("eel and cat")


def test_folders_that_can_not_be_used_are_refused(tmp_path: Path) -> None:
    def refused(sentence: str, path: Path = tmp_path) -> None:
        with pytest.raises(ParameterError, match=sentence):
            load_images(path, 4)

    refused(r"has no images \(\.png, \.jpg, \.jpeg, \.bmp\) in folders, one for each class")
    picture(tmp_path / "cat" / "1.png", np.ones((8, 8)))
    refused("has images of one class, cat; two are needed")
    picture(tmp_path / "dog" / "1.png", np.ones((9, 8)))
    refused(r"has images of different sizes: \(8, 8\) and \(9, 8\)")
    (tmp_path / "cat" / "2.png").write_bytes(b"nothing")
    refused("2.png can not be read as an image")
    refused("1.png is neither a folder of images nor an .npz file", tmp_path / "cat" / "1.png")
    refused("is not there: give a folder with a folder per class", tmp_path / "away")


@pytest.mark.parametrize(
    ("pixels", "patch", "says"),
    [
        (np.ones((2, 8, 8)), 4, ""),
        (np.ones((2, 8, 8)), 2, ""),
        (np.ones((2, 4, 4)), 4, "images of 4 x 4 pixels"),
        (np.ones((2, 8, 12)), 4, "images of 8 x 12 pixels"),
        (np.ones((2, 9, 9)), 4, "at least two by two whole patches of 4 x 4"),
        (np.ones((2, 64)), 4, "images of 64 pixels"),
        (np.zeros((2, 8, 8)), 4, "negative, not finite, or all black"),
        (-np.eye(8)[None].repeat(2, 0), 4, "negative"),
        (np.eye(8)[None].repeat(2, 0) - 0.001, 4, "negative"),
        (np.full((2, 8, 8), np.inf), 4, "not finite"),
    ],
)
def test_images_are_grey_squares_of_whole_patches(tmp_path: Path, pixels: np.ndarray, patch: int, says: str) -> None:
    np.savez(tmp_path / "two.npz", images=3 * pixels, labels=np.array(["a", "b"]))
    if not says:
        assert load_images(tmp_path / "two.npz", patch).pixels.max() == 1.0
        return
    with pytest.raises(ParameterError, match=says):
        load_images(tmp_path / "two.npz", patch)


def test_archives_without_images_and_labels_are_refused(tmp_path: Path) -> None:
    for arrays, says in (
        ({"images": np.ones((2, 8, 8)), "y_train": np.array([0, 1])}, "has the arrays images, y_train, not images and"),
        ({"images": np.ones((2, 8, 8)), "labels": np.array([0, 1, 1])}, r"and labels of shape \(3,\)"),
        ({"images": np.ones((2, 8, 8)), "labels": np.ones((2, 2))}, r"and labels of shape \(2, 2\)"),
        ({"images": np.ones((2, 8, 8)), "labels": np.array([1, 1])}, "has images of one class, 1; two are needed"),
        ({"images": np.ones((0, 8, 8)), "labels": np.ones(0)}, "has images of one class, none; two are needed"),
        ({"images": np.ones((2, 8, 8)), "labels": np.array([{}, {}])}, "can not be read as an .npz of numbers"),
    ):
        np.savez(tmp_path / "no.npz", **arrays)
        with pytest.raises(ParameterError, match=says):
            load_images(tmp_path / "no.npz", 4)
    rng = np.random.default_rng(3)
    pixels = rng.random((2, 8, 8, 4))  # the fourth says how opaque a pixel is
    np.savez(tmp_path / "four.npz", images=pixels, labels=np.array([True, False]))
    found = load_images(tmp_path / "four.npz", 4)
    grey = pixels[..., :3].mean(axis=-1)
    np.testing.assert_allclose(found.pixels, grey / grey.max())
    assert found.y.tolist() == [-1, 1] and found.title == "four.npz: False and True"


def test_sets_that_are_drawn_have_no_image_in_common() -> None:
    pixels = np.arange(6.0)[:, None, None] * np.ones((6, 2, 2))
    whole = Images(pixels, np.array([1, -1, 1, -1, 1, -1]), "six")
    seen, fresh = whole.split(4, 2, np.random.default_rng(0))
    drawn = [*seen.pixels[:, 0, 0].astype(int), *fresh.pixels[:, 0, 0].astype(int)]
    assert sorted(drawn) == [0, 1, 2, 3, 4, 5] and len(seen.y) == 4 and drawn != [0, 1, 2, 3, 4, 5]
    assert [*seen.y, *fresh.y] == [(-1) ** k for k in drawn] and seen.title == fresh.title == "six"
    few, none = whole.split(1, 0, np.random.default_rng(0))
    assert few.pixels.shape == (1, 2, 2) and none.pixels.shape == (0, 2, 2)
    with pytest.raises(ParameterError, match="six has 6 images of its two classes; 4 to train and 3 to test on are 7"):
        whole.split(4, 3, np.random.default_rng(0))


def test_noise_is_on_a_border_of_its_width_for_every_share() -> None:
    rng, pixels = np.random.default_rng(0), np.random.default_rng(1).random((40, 10, 10))
    assert np.array_equal(border_noise(pixels, 1.0, 3, rng), pixels)
    for width in (1, 3):
        noise = border_noise(pixels, 0.0, width, rng)
        there = (noise != 0).all(axis=0)
        at = np.minimum(np.arange(10), 9 - np.arange(10)) < width
        assert np.array_equal(there, at[:, None] | at) and noise[:, there].std() == pytest.approx(1.0, abs=0.05)
    for share in (-0.01, 1.01):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            border_noise(pixels, share, 3, rng)


def test_patches_of_an_image_put_together_are_the_image() -> None:
    pixels = np.arange(2 * 36.0).reshape(2, 6, 6)
    for size in (1, 2, 3, 6):
        cut = image_patches(pixels, size)
        rows = 6 // size
        assert cut.shape == (2, rows**2, size**2)
        for k in range(rows**2):
            top, left = size * (k // rows), size * (k % rows)
            piece = pixels[:, top : top + size, left : left + size]
            np.testing.assert_array_equal(cut[:, k], piece.reshape(2, -1))
