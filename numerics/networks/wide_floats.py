r"""Floats with exponents of their own, :math:`m\,2^e`: signs of numbers that underflow.

They go through the same calls of NumPy as floats do: sums, products, matrix products, exponentials and what reads them.
A digit is lost where it is lost in floats; a number is zero only if it is zero without bounds on exponents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit

from odesys.errors import ModelError

NONE = -(2.0**40)  # the exponent of zero
SAFE, CLOSE = 2.0**-900, 400  # below SAFE floats may have lost terms; weights within 2^CLOSE of each other never do


class Wide(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of numbers m 2^e.

    >>> import numpy as np
    >>> tiny = np.exp(Wide.of(np.array([-800.0, -2000.0])))
    >>> ((tiny * tiny) @ Wide.of(np.array([[1.0], [-3.0]]))).sign().tolist(), (tiny / tiny).floats().tolist()
    ([1.0], [1.0, 1.0])
    """

    def __init__(self, m: np.ndarray, e: np.ndarray) -> None:
        self.given: tuple[np.ndarray, Any] | None = None  # any floats and exponents, until m and e are asked for
        self._m, self._e = m, e

    @property
    def m(self) -> np.ndarray:
        """Between 1/2 and 1, or 0, with a sign."""
        return self._read()[0]

    @property
    def e(self) -> np.ndarray:
        """Exponents of 2."""
        return self._read()[1]

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        if self.given is not None:
            (values, e), self.given = self.given, None
            self._m, shift = np.frexp(values)
            self._e = np.where(self._m == 0, NONE, e + shift)
        return self._m, self._e

    @classmethod
    def of(cls, values: Any) -> Self:
        """Floats as they are."""
        return cls.scaled(np.asarray(values, dtype=float), 0)

    @classmethod
    def scaled(cls, m: np.ndarray, e: Any) -> Self:
        """m 2^e for any floats m."""
        made = cls(m, m)
        made.given = m, e
        return made

    @classmethod
    def exp(cls, logs: np.ndarray) -> Self:
        """The exponential of floats."""
        e = np.rint(np.maximum(logs, NONE) / np.log(2))
        return cls.scaled(np.exp(logs - e * np.log(2)), e)

    def floats(self) -> np.ndarray:
        """As floats, where what is too small is 0."""
        m, e = self._read()
        return _shifted(2 * m, e - 1)

    def sign(self) -> np.ndarray:
        """-1, 0 or 1."""
        return np.asarray(np.sign(self._m))

    @property
    def shape(self) -> tuple[int, ...]:
        """As of arrays."""
        return self._m.shape

    @property
    def mT(self) -> Self:
        """The transposed matrices."""
        return type(self)(self.m.mT, self.e.mT)

    def __len__(self) -> int:
        return len(self._m)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.m[index], self.e[index])

    def reshape(self, *shape: Any) -> Self:
        """As of arrays."""
        m, e = self._read()
        return type(self)(m.reshape(*shape), e.reshape(*shape))

    def transpose(self, *order: Any) -> Self:
        """As of arrays."""
        return type(self)(self.m.transpose(*order), self.e.transpose(*order))

    def take(self, places: np.ndarray, axis: int) -> Self:
        """As of arrays."""
        return type(self)(self.m.take(places, axis=axis), self.e.take(places, axis=axis))

    def sum(self, axis: int, keepdims: bool = False) -> Self:
        """The sum along an axis."""
        top = self.e.max(axis=axis, keepdims=True)
        total = type(self).scaled(_shifted(self.m, self.e - top).sum(axis=axis, keepdims=True), top)
        return total if keepdims else type(self)(total.m.squeeze(axis), total.e.squeeze(axis))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        known = _UFUNCS.get((ufunc, method))
        if known is None:
            raise ModelError(
                f"signs beyond the range of floats are known for sums, products, quotients, exp, softmax and the "
                f"logistic loss, not for {ufunc.__name__}"
            )
        into = options.pop("out", None)
        found = known(*inputs, **options)
        if into is None:
            return found
        into[0].given, into[0]._m, into[0]._e = found.given, found._m, found._e
        return into[0]

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        if function is np.broadcast_to:
            return type(self)(np.broadcast_to(self.m, args[1]), np.broadcast_to(self.e, args[1]))
        if function is np.bincount:
            return _counted(*args, **options)
        return NotImplemented


def _wide(values: Any) -> Wide:
    return values if isinstance(values, Wide) else Wide.of(values)


def _shifted(m: np.ndarray, e: np.ndarray) -> np.ndarray:
    return np.asarray(m * np.exp2(e))


def _add(left: Any, right: Any) -> Wide:
    a, b = _wide(left), _wide(right)
    top = np.maximum(a.e, b.e)
    return Wide.scaled(_shifted(a.m, a.e - top) + _shifted(b.m, b.e - top), top)


def _multiply(left: Any, right: Any) -> Wide:
    a, b = _wide(left), _wide(right)
    return Wide.scaled(a.m * b.m, a.e + b.e)


def _reciprocal(x: Any) -> Wide:
    wide = _wide(x)
    return Wide.scaled(1.0 / wide.m, -wide.e)


def _negative(x: Wide) -> Wide:
    return Wide(-x.m, x.e)


def _largest(x: Wide, axis: int, keepdims: bool) -> Wide:
    return Wide.of(x.floats().max(axis=axis, keepdims=keepdims))


def _counted(places: np.ndarray, x: Wide, length: int) -> Wide:
    """Sums of the entries that have the same place."""
    top = np.full(length, NONE, dtype=float)
    np.maximum.at(top, places, x.e)
    return Wide.scaled(np.bincount(places, _shifted(x.m, x.e - top[places]), length), top)


def _matmul(left: Any, right: Any) -> Wide:
    """Matrix products in floats, scaled per column of the result; what is far below its column is added up again."""
    a, b = _wide(left), right
    if a.m.ndim == 1:
        return _matmul(a[None], b)[..., 0, :]
    weight = a.e.max(axis=-2)  # of the inner index
    m = _shifted(a.m, a.e - weight[..., None, :])
    if isinstance(b, Wide):
        rise = weight[..., :, None] + b.e
        top = rise.max(axis=-2, keepdims=True)
        out = m @ _shifted(b.m, rise - top)
    else:
        seen = weight[weight > NONE / 2]
        top = np.full((*(1,) * (b.ndim - 1), 1), seen.max() if seen.size else 0)
        if seen.size and seen.max() - seen.min() > CLOSE:
            top = np.where(b != 0, weight[..., :, None], NONE).max(axis=-2, keepdims=True)
            out = m @ np.where(b != 0, _shifted(b, np.minimum(weight[..., :, None] - top, 0)), 0.0)
        else:
            out = _shifted(m, (weight - top[..., 0])[..., None, :]) @ b
    found = Wide.scaled(out, top)
    low = np.abs(out) < SAFE
    if low.any():
        there = (a.m != 0).astype(float) @ ((b.m if isinstance(b, Wide) else b) != 0).astype(float) > 0
        places = np.nonzero(low & there)
        if len(places[0]):
            *rest, row, column = places
            first = Wide(*(np.broadcast_to(x, (*out.shape[:-2], *x.shape[-2:])) for x in (a.m, a.e)))
            wide = _wide(b)
            second = Wide(*(np.broadcast_to(x, (*out.shape[:-2], *x.shape[-2:])).mT for x in (wide.m, wide.e)))
            again = (first[(*rest, row)] * second[(*rest, column)]).sum(axis=-1)
            found.m[places], found.e[places] = again.m, again.e
    return found


_UFUNCS: dict[tuple[Any, str], Callable[..., Any]] = {
    (np.add, "__call__"): _add,
    (np.subtract, "__call__"): lambda a, b: _add(a, _negative(_wide(b))),
    (np.multiply, "__call__"): _multiply,
    (np.divide, "__call__"): lambda a, b: _multiply(a, _reciprocal(b)),
    (np.reciprocal, "__call__"): _reciprocal,
    (np.negative, "__call__"): _negative,
    (np.matmul, "__call__"): _matmul,
    (np.sign, "__call__"): lambda x: x.sign(),
    (np.exp, "__call__"): lambda x: Wide.exp(x.floats()),
    (expit, "__call__"): lambda x: Wide.exp(log_expit(x.floats())),
    (np.add, "reduce"): lambda x, axis, keepdims: x.sum(axis, keepdims),
    (np.maximum, "reduce"): _largest,
}
