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
