"""Names as people write them: Greek letters and words that Python keeps for itself, as plain names with their TeX."""

from __future__ import annotations

import keyword
from collections.abc import Container, Iterable

from ..errors import EquationError

GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]
_SMALL = "αβγδεζηθικλμνξοπρστυφχψω"
_LARGE = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
_LETTERS = dict(zip(_SMALL, GREEK, strict=True)) | dict(zip(_LARGE, map(str.capitalize, GREEK), strict=True))
_LETTERS |= {"ς": "sigma", "ϕ": "phi", "ϵ": "epsilon", "ϑ": "theta", "µ": "mu"}


def plain_name(name: str) -> str:
    """A name in letters of ASCII that is no word of Python.

    >>> plain_name("μ"), plain_name("λ_1"), plain_name("x1")
    ('mu', 'lambda_1', 'x1')
    >>> plain_name("lambda")
    'lambda_'
    """
    plain = "".join(_LETTERS.get(letter, letter) for letter in name)
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def refuse_merged(names: Iterable[str]) -> None:
    """An error for two names that would be one as plain names.

    >>> refuse_merged(["mu", "lambda", "mu"])
    >>> refuse_merged(["lambda", "lambda_"])
    Traceback (most recent call last):
        ...
    odesys.errors.EquationError: the names lambda and lambda_ would both be lambda_ here; give one of them another name
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(plain_name(name), name)
        if other != name:
            raise EquationError(
                f"the names {other} and {name} would both be {plain_name(name)} here; give one of them another name"
            )


def free_name(name: str, taken: Container[str]) -> str:
    """The plain name of a name, with a number where that is taken.

    >>> free_name("t", {"t", "t_2"}), free_name("k", {"t"})
    ('t_3', 'k')
    """
    plain = plain_name(name)
    number, free = 1, plain
    while free in taken:
        number += 1
        free = f"{plain}_{number}"
    return free


def letter_tex(name: str) -> str | None:
    r"""The TeX of a name that is a Greek letter or was changed, else None.

    >>> letter_tex("λ"), letter_tex("lambda"), letter_tex("x")
    ('\\lambda', '\\lambda', None)
    """
    word = plain_name(name).removesuffix("_")
    return f"\\{word}" if word.lower() in GREEK and plain_name(name) != name else None
