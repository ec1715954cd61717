"""CIFAR-10 and CIFAR-100 in the layout of their binary versions; nothing in the files is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from odesys.errors import ParameterError

from .images import Images

SIDE = 32
TRAINING, LARGE = "data_batch_*.bin", "train.bin"  # files of CIFAR-10 and of CIFAR-100
NAMES = {1: "batches.meta.txt", 2: "fine_label_names.txt"}  # by the number of bytes before the pixels


def load_cifar(path: Path, classes: Sequence[str] = ()) -> Images:
    """Training images of two classes of CIFAR-10 or CIFAR-100, binary version, grey.

    Parameters
    ----------
    path : Path
        The folder, such as ``cifar-10-batches-bin``.
    classes : Sequence[str], optional
        Names of two classes; else the first two.

    Returns
    -------
    Images
        Those of the two classes, the first with label +1.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = [bytes([label]) + bytes([10 * label + 10]) * 3072 for label in (0, 1, 2)]
    ...     _ = (Path(folder) / "data_batch_1.bin").write_bytes(b"".join(rows))
    ...     _ = (Path(folder) / "batches.meta.txt").write_text("airplane\\ncar\\nbird\\n")
    ...     found = load_cifar(Path(folder), ("bird", "airplane"))
    >>> found.y.tolist(), found.pixels.shape
    ([-1, 1], (2, 32, 32))
    """
    files = sorted(path.glob(TRAINING)) or sorted(path.glob(LARGE))
    if not files:
        pickled = sorted(path.glob("data_batch_*")) or sorted(path.glob("train"))
        hint = "; these are the Python versions, which are programs: take the binary ones" if pickled else ""
        raise ParameterError(f"{path} has neither {TRAINING} nor {LARGE}{hint}")
    before = 2 if files[0].name == LARGE else 1
    record = before + 3 * SIDE * SIDE
    blocks = [np.frombuffer(file.read_bytes(), dtype=np.uint8) for file in files]
    for file, block in zip(files, blocks, strict=True):
        if not block.size or block.size % record:
            raise ParameterError(f"{file} has {block.size} bytes, which is no whole number of images of {record} bytes")
    rows = np.concatenate([block.reshape(-1, record) for block in blocks])
    labels = rows[:, before - 1]
    first, second = _two(path / NAMES[before], classes, sorted({int(label) for label in labels}))
    chosen = np.isin(labels, [first[0], second[0]])
    grey = rows[chosen, before:].reshape(-1, 3, SIDE, SIDE).mean(axis=1) / 255
    return Images(grey, np.where(labels[chosen] == first[0], 1, -1), f"{path.name}: {first[1]} and {second[1]}")


def _two(file: Path, classes: Sequence[str], there: Sequence[int]) -> list[tuple[int, str]]:
    """Numbers and names of two classes."""
    names = file.read_text("utf-8", errors="replace").split() if file.is_file() else []
    known = {names[k] if k < len(names) else str(k): k for k in there}
    if len(known) < 2:
        raise ParameterError(f"{file.parent} has images of one class; two are needed")
    wanted = classes if classes and set(classes) <= set(known) else list(known)[:2]
    return [(known[name], name) for name in wanted]
