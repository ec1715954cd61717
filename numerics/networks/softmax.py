"""Softmax of arrays, for everything that runs a network in floats."""

from __future__ import annotations

import numpy as np


def row_softmax(scores: np.ndarray, axis: int = -1, counts: np.ndarray | None = None) -> np.ndarray:
    """Weights proportional to exp(scores) with sum 1 along an axis; the largest score is subtracted first.

    With `counts` an entry stands for that many equal ones and has their weight together; counts may have more axes in
    front than the scores, so `axis` is then negative.

    Parameters
    ----------
    scores : np.ndarray
        Any array.
    axis : int, optional
        Along which the weights sum to 1.
    counts : np.ndarray, optional
        How many equal entries each one stands for.

    Returns
    -------
    np.ndarray
        Weights of the shape of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> row_softmax(np.array([0.0, 1000.0, 1000.0])).tolist()
    [0.0, 0.5, 0.5]
    >>> row_softmax(np.zeros(2), counts=np.array([3.0, 1.0])).tolist()
    [0.75, 0.25]
    """
    weights: np.ndarray = np.exp(scores - scores.max(axis=axis, keepdims=True))
    if counts is not None:
        weights = counts * weights
    weights /= weights.sum(axis=axis, keepdims=True)
    return weights
