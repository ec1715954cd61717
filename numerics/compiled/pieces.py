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
        y = np.zeros((self.start.size, *np.shape(part)))
        for k, row in enumerate(self.table[::-1]):
            y = (y + row.reshape(-1, *[1] * np.ndim(part))) * (part if k % 2 == 0 else 1 - part)
        result: np.ndarray = y + self.start.reshape(-1, *[1] * np.ndim(part))
        return result


class TaylorPiece(NamedTuple):
    """Dense output of one step by Taylor series: a row of the table per power of the fraction of the step."""

    t_old: float
    h: float
    start: np.ndarray
    table: np.ndarray

    def __call__(self, t: Any) -> np.ndarray:
        part = (np.asarray(t, dtype=float) - self.t_old) / self.h
        y = np.zeros((self.start.size, *np.shape(part)))
        for row in self.table[::-1]:
            y = (y + row.reshape(-1, *[1] * np.ndim(part))) * part
        result: np.ndarray = y + self.start.reshape(-1, *[1] * np.ndim(part))
        return result
