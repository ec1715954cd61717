r"""A system as TeX, MathML or plain text, printed from graph nodes with named parts (see `odesys.sharing`).

States appear as `System.tex` says, :math:`c_{1}^\top W_{K+}^\top W_{Q+} v_{1}`; the slope of the logistic loss is written
:math:`g(z) = 1/(1+e^z)`, a gate :math:`\mathbb 1[h>0]`. A sum too long for a line is broken between terms, outermost
first. Nothing is simplified here: what is printed is the node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from . import graph
from .codegen import SCALAR_LIMIT
from .errors import OdesysError
from .field import BlockField
from .graph import ONE, ZERO, Node, Number
from .paths import word_tex
from .reading_order import Order, monomial
from .sharing import Part, Sheet, name_parts
from .system import System

BREAK = "\x01"  # a place where a line may be broken; removed inside fractions, exponents and roots
_SYMBOL = re.compile(r"(?:[A-Za-z]|\\[A-Za-z]+)(?:_(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^\\{}]))?")  # a letter with an index
_LETTERS = {"p": "pqr", "Z": "ZNY", "H": "HhB", "g": "gfk", "G": "GFE", "S": "SUV", "P": "PQR", "F": "FKL"}
