"""Dense output of single steps; tuples, because a run makes many of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Piece(NamedTuple):
    """Dense output of one step of DOP853 or Rodas5P from `t_old` over `h`, or of the part of it that was taken."""

    t_old: float
    h: float
    start: np.ndarray
    table: np.ndarray

    def __call__(self, t: Any) -> np.ndarray:
        part = (np.asarray(t, dtype=float) - self.t_old) / self.h
        rest, below = 1 - part, (1,) * part.ndim
        y = np.zeros((self.start.size, *part.shape))
        for k, row in enumerate(self.table.reshape(*self.table.shape, *below)[::-1]):
            y += row
            y *= part if k % 2 == 0 else rest
        y += self.start.reshape(-1, *below)
        return y


class TaylorPiece(NamedTuple):
    """Dense output of one step by Taylor series: a row of the table per power of the fraction of the step."""

    t_old: float
    h: float
    start: np.ndarray
    table: np.ndarray

    def __call__(self, t: Any) -> np.ndarray:
        part = (np.asarray(t, dtype=float) - self.t_old) / self.h
        below = (1,) * part.ndim
        y = np.zeros((self.start.size, *part.shape))
        for row in self.table.reshape(*self.table.shape, *below)[::-1]:
            y += row
            y *= part
        y += self.start.reshape(-1, *below)
        return y
