"""The claim book of the paper, and what several parts share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from odesys import graph
from odesys.claims import ClaimBook
from odesys.graph import Node, sym

from ..laboratory import MUTATIONS, Laboratory

book = ClaimBook("shallow_vit", Laboratory, mutations=MUTATIONS,
                 reference="A theoretical understanding of shallow vision transformers: learning, generalization, and sample complexity")

NUMBERS = "a statement about numbers or random vectors, not about the system"
PRINTED = "the printed formulas are compared with each other, not with the system"

#: the paper's scalars: u = Q^2 - eps Q enters as w = e^u; c = |S_1|, b = |S| - |S_1|
c, b, Q, eps, K = (sym(name) for name in ("c", "b", "Q", "eps", "K"))


def definition_1() -> dict[str, Node]:
    """phi_n, nu_n and p_n of Definition 1, with |S| - |S_1| in all denominators."""
    phi = 1 / (c * graph.exp(Q * Q + eps * Q) + b)
    nu = 1 / (c * graph.exp(Q * Q - eps * Q) + b)
    return {"phi": phi, "nu": nu, "p": c * graph.exp(Q * Q - eps * Q) * nu}


def at(node: Node, **values: Any) -> Node:
    """An expression with numbers or expressions in place of symbols."""
    (found,) = graph.substitute([node], {sym(name): graph.as_node(value) for name, value in values.items()})
    return found


def rounded(values: Any, digits: int = 6) -> Any:
    """Floats with a few digits, for details and witnesses."""
    if isinstance(values, dict):
        return {str(key): rounded(value, digits) for key, value in values.items()}
    if isinstance(values, (list, tuple, np.ndarray)):
        return [rounded(value, digits) for value in values]
    if isinstance(values, (str, bool, Fraction)):
        return values
    return float(f"{float(values):.{digits}g}")
