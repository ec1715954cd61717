r"""A program over arrays of samples: written for one sample, whose label, counts or tokens are then arrays.

Training sets that are drawn by the thousand, or batches that change at every step, need no derivation of their own:

.. math::  -\frac1N\sum_n \frac{\partial\ell_n}{\partial\phi}, \qquad -\frac1N\sum_n \frac{\partial\ell_n}{\partial W} .
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from odesys.errors import ModelError, ParameterError
from odesys.expr import blocks
from odesys.program.data import Data
from odesys.program.program import read_program

from .block_kernel import VARYING, BlockKernel
from .softmax_pairs import SHORT, SoftmaxPairs
from .weight_gradient import Arrays, WeightGradient


class ManySamples:
    """Slopes of the mean loss of many samples, by reverse mode through the program of one.

    Parameters
    ----------
    model : Any
        A program, a function of the tokens X.
    data : Data
        One sample of it; what differs between samples is a parameter there, such as the label ``"y"`` and counts
        ``["c1", "c2"]``.
    loss : Any
        The loss.
    varying : Sequence[str]
        The names of these parameters, in the order of their columns.
    parameters : Mapping[str, float], optional
        The values of all others.
    pairs : int, optional
        A softmax over at most so many entries is differentiated by pairs of them, without cancellation.

    Examples
    --------
    >>> import numpy as np
    >>> from odesys import Data, ManySamples, Sample, Words, logistic, maps
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> one = Data(words, [Sample(["a", "b"], "y", counts=["c1", "c2"])])
    >>> many = ManySamples(lambda X: (w @ X).sum(), one, logistic, varying=["y", "c1", "c2"])
    >>> slopes, margins = many.slopes({"w": np.zeros((1, 2))}, np.array([[1.0, 2.0, 0.0], [-1.0, 0.0, 4.0]]))
    >>> slopes["w"].tolist(), margins.shape
    ([[-0.5, 1.0]], (2,))
    """

    def __init__(
        self,
        model: Any,
        data: Data,
        loss: Any,
        varying: Sequence[str],
        parameters: Mapping[str, float] | None = None,
        pairs: int = SHORT,
    ) -> None:
        if len(data) != 1:
            raise ModelError(f"write one sample, with what differs as parameters; these are {len(data)}")
        self.program, self.varying, self.parameters = read_program(model, data, loss), tuple(varying), parameters or {}
        naming, self.paths = self.program.naming, tuple(self.program.tables)
        self.names = {naming.leaf(path): str(self.program.tables[path].data) for path in self.paths}
        leaves = list(self.program.tables.values())
        self.output = next(name for name in self.program.observables if name != "loss")
        self.pairs = pairs
        roots = [
            *blocks.gradient(self.program.loss, leaves, SoftmaxPairs(pairs)),
            self.program.observables[self.output],
        ]
        self._kernel = BlockKernel(roots, self.parameters, self.varying, often=True)

    def slopes(self, tables: Mapping[str, np.ndarray], given: np.ndarray) -> tuple[Arrays, np.ndarray]:
        """The mean slope by every table of path scalars, and the margin (or output) of each sample.

        `tables` are matrices by their names as in ``flow.matrices``; `given` has a row per sample.
        """
        if set(tables) != set(self.names):
            raise ParameterError(f"the program reads the tables {', '.join(self.names)}, not {', '.join(tables)}")
        arrays = {self.names[name]: np.asarray(table, dtype=float)[None] for name, table in tables.items()}
        with np.errstate(all="ignore"):
            *slopes, seen = self._kernel({**arrays, VARYING: self._given(given)})
        means = {name: slope.mean(axis=0) for name, slope in zip(self.names, slopes, strict=True)}
        return means, seen.reshape(-1)

    def ensemble(
        self, tables: Mapping[str, np.ndarray], given: np.ndarray, shares: np.ndarray
    ) -> tuple[Arrays, np.ndarray]:
        """As `slopes` for many networks at once, whose tables are stacked; returns stacks of slopes and of margins.

        `given` has the samples of all networks, or of each (networks, samples, numbers); `shares` (networks, samples)
        are the weights of the samples in the loss of each network.
        """
        if set(tables) != set(self.names):
            raise ParameterError(f"the program reads the tables {', '.join(self.names)}, not {', '.join(tables)}")
        networks, samples = shares.shape
        each = np.broadcast_to(np.asarray(given, dtype=float), (networks, samples, len(self.varying)))
        arrays = {
            self.names[name]: np.repeat(np.asarray(table, dtype=float), samples, axis=0)
            for name, table in tables.items()
        }
        with np.errstate(all="ignore"):
            *slopes, seen = self._kernel({**arrays, VARYING: self._given(each.reshape(-1, len(self.varying)))})
        means = {
            name: np.einsum("rt,rtx->rx", shares, slope.reshape(networks, samples, -1)).reshape(-1, *slope.shape[1:])
            for name, slope in zip(self.names, slopes, strict=True)
        }
        return means, seen.reshape(networks, samples)

    def gradients(
        self, weights: Mapping[str, np.ndarray], words: np.ndarray | Mapping[str, np.ndarray], given: np.ndarray
    ) -> Arrays:
        """The mean slope by every map; `words` has the tokens of each sample as columns, shape (samples, d, tokens).

        The words of the program then are the tokens of a sample, whatever their inner products. Where maps read more
        sets of words than one, `words` has the vectors of each by its name, with 1 in place of the number of samples
        where they all have the same. Weights of several networks have one axis more in front, and so have the slopes;
        samples then follow each other network by network, as many for each.
        """
        return self._shaped(self._reverse.means(*self._arrays(weights, words, given)), weights)

    def signs(
        self, weights: Mapping[str, np.ndarray], words: np.ndarray | Mapping[str, np.ndarray], given: np.ndarray
    ) -> Arrays:
        """The signs of `gradients`, also where slopes underflow in floats: what sign descent moves along."""
        return self._shaped(self._reverse.signs(*self._arrays(weights, words, given)), weights)

    def _shaped(self, found: Arrays, weights: Mapping[str, np.ndarray]) -> Arrays:
        return {name: value.reshape(np.shape(weights[name])) for name, value in found.items()}

    @cached_property
    def _reverse(self) -> WeightGradient:
        return WeightGradient(self.program, self.program.maps, self.parameters, self.varying, self.pairs)

    def _arrays(self, weights: Mapping[str, np.ndarray], words: Any, given: np.ndarray) -> tuple[Arrays, Arrays]:
        several = {name: np.asarray(array, dtype=float) for name, array in weights.items()}
        several = {name: array if array.ndim == 3 else array[None] for name, array in several.items()}
        vectors = words if isinstance(words, Mapping) else {"E": words}
        networks, samples = {len(array) for array in several.values()}, len(given)
        if len(networks) > 1 or samples % max(networks):
            raise ParameterError(
                f"{samples} samples can not be cut into equal parts for networks, of which the weights have "
                f"{', '.join(map(str, sorted(networks)))}"
            )
        return several, {**vectors, VARYING: self._given(given)}

    def _given(self, given: np.ndarray) -> np.ndarray:
        array = np.asarray(given, dtype=float)
        if array.ndim != 2 or array.shape[1] != len(self.varying):
            raise ParameterError(
                f"one row per sample with {len(self.varying)} numbers, {', '.join(self.varying[:6])}, is expected, "
                f"not the shape {array.shape}"
            )
        return array
