"""Every exception of the engine on one page: what was asked, the offending object, what would work."""

from __future__ import annotations

from typing import Any


class OdesysError(Exception):
    """Base of all errors a user can cause; the command line prints its text as one sentence and exits with 2.

    Keyword arguments become attributes, so that a program can look at the offending objects.
    """

    def __init__(self, message: str, **objects: Any) -> None:
        super().__init__(message)
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
    """The paths the flow needs grow for ever; `.path` is the first that escapes, `.chain` how it was reached."""


class EquationError(OdesysError):
    """A system, its states, parameters or equations are inconsistent."""


class SymmetryError(OdesysError):
    """A claimed symmetry does not commute with the flow or does not fix the state; `.witness` shows where."""


class SlavingError(OdesysError):
    """The self-scores can not be eliminated: the start does not satisfy (J S)^2 = omega^4 I, or a sector is too big."""


class NothingMovesWarning(UserWarning):
    """Every right-hand side of a reduction is zero: from the starts it describes the system stays where it is."""


class ParameterError(OdesysError):
    """A parameter is missing, unknown, not finite or outside its range."""


class IntegrationError(OdesysError):
    """An integration could not be carried through; `.time` says how far it got."""


class OutputError(OdesysError):
    """A result can not be written where it was asked for."""
