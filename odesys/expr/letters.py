"""Names as people write them: Greek letters and words that Python keeps for itself, as plain names with their TeX."""

from __future__ import annotations

import keyword

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


def letter_tex(name: str) -> str | None:
    r"""The TeX of a name that is a Greek letter or was changed, else None.

    >>> letter_tex("λ"), letter_tex("lambda"), letter_tex("x")
    ('\\lambda', '\\lambda', None)
    """
    word = plain_name(name).removesuffix("_")
    return f"\\{word}" if word.lower() in GREEK and plain_name(name) != name else None
