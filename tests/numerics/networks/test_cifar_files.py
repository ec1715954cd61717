"""The binary layouts of CIFAR: classes by name, grey pixels, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from numerics.networks.cifar_files import load_cifar
from odesys.errors import ParameterError


def record(label: bytes, red: int, green: int, blue: int) -> bytes:
    return label + bytes([red]) * 1024 + bytes([green]) * 1024 + bytes([blue]) * 1024


def test_two_classes_of_several_files_and_of_the_larger_set(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.bin").write_bytes(record(b"\0", 30, 60, 90) + record(b"\2", 255, 255, 255))
    (tmp_path / "data_batch_2.bin").write_bytes(record(b"\1", 0, 0, 0))
    (tmp_path / "batches.meta.txt").write_text("airplane\nautomobile\nbird\n\n")
    found = load_cifar(tmp_path, ("bird", "airplane"))
    assert found.y.tolist() == [-1, 1] and found.title.endswith("bird and airplane")
    assert np.allclose(found.pixels[0], 60 / 255) and np.allclose(found.pixels[1], 1)
    assert load_cifar(tmp_path, ("bird", "ship")).title.endswith("airplane and automobile")
    large = tmp_path / "cifar-100-binary"
    large.mkdir()
    (large / "train.bin").write_bytes(record(b"\7\3", 3, 3, 3) + record(b"\7\5", 6, 6, 6))
    assert load_cifar(large).y.tolist() == [1, -1]


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="has neither data_batch"):
        load_cifar(tmp_path)
    (tmp_path / "data_batch_1").write_bytes(b"x")
    with pytest.raises(ParameterError, match="take the binary ones"):
        load_cifar(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"x" * 3000)
    with pytest.raises(ParameterError, match="no whole number of images"):
        load_cifar(tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(record(b"\1", 1, 1, 1))
    with pytest.raises(ParameterError, match="images of one class"):
        load_cifar(tmp_path)
    (tmp_path / "batches.meta.txt").write_bytes(b"\xff\xfe cat")
    with pytest.raises(ParameterError, match="images of one class"):
        load_cifar(tmp_path)


def test_bytes_are_read_as_labels_and_rows_of_red_green_and_blue(tmp_path: Path) -> None:
    """Random images in both layouts; of two labels of the larger set the second, fine one counts."""
    rng = np.random.default_rng(0)
    for before, name, folder in ((1, "data_batch_3.bin", "ten"), (2, "train.bin", "hundred")):
        (tmp_path / folder).mkdir()
        labels, pixels = rng.integers(0, 3, (9, before)), rng.integers(0, 256, (9, 3, 32, 32))
        labels[:3, -1] = [2, 0, 1]
        rows = np.hstack([labels, pixels.reshape(9, -1)]).astype(np.uint8)
        (tmp_path / folder / name).write_bytes(rows.tobytes())
        found = load_cifar(tmp_path / folder)
        chosen = labels[:, -1] < 2
        assert found.y.tolist() == [1 if k == 0 else -1 for k in labels[chosen, -1]]
        np.testing.assert_allclose(found.pixels, pixels[chosen].mean(axis=1) / 255, rtol=1e-12)
        assert found.pixels.shape[1:] == (32, 32) and found.title == f"{folder}: 0 and 1"
        turned = load_cifar(tmp_path / folder, ("2", "1"))
        assert turned.y.tolist() == [1 if k == 2 else -1 for k in labels[labels[:, -1] > 0, -1]]


def test_names_of_classes_come_from_the_file_of_their_layout(tmp_path: Path) -> None:
    """A label behind the end of the list keeps its number; a list of the other layout is not read."""
    (tmp_path / "train.bin").write_bytes(record(b"\0\1", 3, 3, 3) + record(b"\0\2", 6, 6, 6))
    (tmp_path / "batches.meta.txt").write_text("a b c")
    assert load_cifar(tmp_path).title.endswith("1 and 2")
    (tmp_path / "fine_label_names.txt").write_text("apple pear")
    assert load_cifar(tmp_path).title.endswith("pear and 2")
    assert load_cifar(tmp_path, ("2", "pear")).y.tolist() == [-1, 1]
    assert load_cifar(tmp_path, ("apple", "pear")).y.tolist() == [1, -1]
    (tmp_path / "train.bin").write_bytes(b"")
    with pytest.raises(ParameterError, match="has 0 bytes, which is no whole number of images of 3074 bytes"):
        load_cifar(tmp_path)
    (tmp_path / "train.bin").rename(tmp_path / "train")
    with pytest.raises(ParameterError, match=r"has neither .* nor train.bin; these are the Python versions"):
        load_cifar(tmp_path)
