"""Every exception of the engine on one page: what was asked, the offending object, what would work."""

from __future__ import annotations

import re
from typing import Any

LONG_WORD = 300  # letters; a path is shorter


class OdesysError(Exception):
    """Base of all errors a user can cause; the command line prints its text as one sentence and exits with 2.

    Keyword arguments become attributes, so that a program can look at the offending objects.

    Parameters
    ----------
    message : str
        The sentence that a person reads; of a word without end, such as a number of 4,000 digits, it keeps the ends.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> OdesysError("there is no paper three_mixture", name="three_mixture").name
    'three_mixture'
    """

    def __init__(self, message: str, **objects: Any) -> None:
        super().__init__(
            re.sub(rf"\S{{{LONG_WORD + 1},}}", lambda word: f"{word.group()[:30]}...{word.group()[-30:]}", message)
        )
        self.objects = objects
        for name, value in objects.items():
            setattr(self, name, value)


class DictionaryError(OdesysError):
    """A word is unknown, repeated or misspelt, or the Gram matrix does not fit the words."""


class DistributionError(OdesysError):
    """Samples, labels or weights do not form a finite probability distribution."""


class ModelError(OdesysError):
    """A model asks for something its parts do not have."""


class ClosureError(OdesysError):
    """The paths the flow needs grow for ever; `.path` is the first that escapes, `.chain` how it was reached.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, FixedVector, Head, Sample, Value, gradient_flow
    >>> three = Value(("U", "W", "V"), output=FixedVector("a", square="m1"))
    >>> deep = AttentionModel(Dictionary(["a", "b"]), [Head()], value=three)
    >>> try:
    ...     gradient_flow(deep, Distribution([Sample(["a", "b"], 1)]), train=("U", "W", "V"))
    ... except ClosureError as error:
    ...     print(error.path)
    E'.V'.W'.W.V.E
    """


class EquationError(OdesysError):
    """A system, its states, parameters or equations are inconsistent.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import System, sym
    >>> System.from_equations({"x": -sym("k") * sym("x")})
    Traceback (most recent call last):
        ...
    odesys.errors.EquationError: the equations use k, which is neither a state nor a parameter; ...
    """


class SymmetryError(OdesysError):
    """A claimed symmetry does not commute with the flow or does not fix the state; `.witness` shows where.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import System, sym
    >>> System.from_equations({"x": sym("y"), "y": sym("x") ** 2}).quotient([{"x": "-x", "y": "-y"}])
    Traceback (most recent call last):
        ...
    odesys.errors.SymmetryError: x -> -x, y -> -y does not commute with the system: at ... the two sides differ
    """


class SlavingError(OdesysError):
    """The self-scores can not be eliminated: the start does not satisfy (J S)^2 = omega^4 I, or a sector is too big."""


class NothingMovesWarning(UserWarning):
    """Every right-hand side of a reduction is zero: from the starts it describes the system stays where it is.

    Examples
    --------
    >>> import warnings
    >>> from odesys import System, sym
    >>> together = System.from_equations({"x": sym("x") - sym("y"), "y": sym("y") - sym("x")})
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     _ = together.quotient([{"x": "y", "y": "x"}])
    >>> seen[0].category.__name__
    'NothingMovesWarning'
    """


class AsymmetryWarning(UserWarning):
    """A state that is not symmetric was projected to a quotient, which does not describe it: means are not its path.

    Examples
    --------
    >>> import warnings
    >>> from odesys import System, sym
    >>> pair = System.from_equations({"x": -sym("x") * sym("y"), "y": -sym("x") * sym("y")})
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     means = pair.quotient([{"x": "y", "y": "x"}]).project([1.0, 3.0])
    >>> means.tolist(), seen[0].category.__name__
    ([2.0], 'AsymmetryWarning')
    """


class ParameterError(OdesysError):
    """A parameter is missing, unknown, not finite or outside its range.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import Parameter
    >>> Parameter("K", 3, "groups", kind=int, low=2).read("1")
    Traceback (most recent call last):
        ...
    odesys.errors.ParameterError: K = 1 is out of range: it must be a whole number of at least 2
    """


class IntegrationError(OdesysError):
    """An integration could not be carried through; `.time` says how far it got.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import System, integrate, sym
    >>> try:
    ...     integrate(System.from_equations({"x": sym("x") ** 2}), [1.0], (0.0, 2.0))  # x = 1 / (1 - t)
    ... except IntegrationError as error:
    ...     print(round(error.time, 9))
    1.0
    """


class OutputError(OdesysError):
    """A result can not be written where it was asked for."""


class BrokenRunWarning(UserWarning):
    """A run of a batch could not go on; its end is not a number, and the other runs are as they should be.

    Examples
    --------
    >>> import warnings
    >>> from odesys import CompiledFlow, System
    >>> grow = CompiledFlow(System.from_strings({"x": "k*x**2"}))
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     ends = grow.batch([1.0], (0.0, 2.0), [{"k": 0.25}, {"k": 1.0}])
    >>> ends.round(9).tolist(), seen[0].category.__name__
    ([[2.0], [nan]], 'BrokenRunWarning')
    """
