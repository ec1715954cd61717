"""The printed gradients (83), (125), (161), (189) over the symbols of the toy."""

from __future__ import annotations

import numpy as np

from odesys import ONE, Node, Verdict, computed_once, entry_pairs, equal, graph, sym

from ..laboratory import Laboratory
from .book import Tables, before_margin, tables

POSITIVE = ("c1", "c2", "c3", "e1", "e2", "e3", "a", "Gamma")


def gradient_o(t: Tables, hinge: bool) -> np.ndarray:
    """Minus (83)."""
    return np.array(
        [
            [
                graph.add(t.weight(n, i, k, hinge) * t.mixed(n, k)[x] for n in range(2) for k in range(3))
                for x in range(2)
            ]
            for i in range(2)
        ],
        dtype=object,
    )


def gradient_v(t: Tables, hinge: bool) -> np.ndarray:
    """Minus (189)-(191)."""
    return np.array(
        [
            [
                graph.add(
                    t.weight(n, i, k, hinge) * t.O[i, x] * t.softmax(n, j, k)
                    for n in range(2)
                    for k in range(3)
                    for i in range(2)
                )
                for j in range(3)
            ]
            for x in range(2)
        ],
        dtype=object,
    )


def force(t: Tables, j: int, k: int, hinge: bool, scale: bool = True) -> Node:
    """Coefficient of W_K x_j in the query of pattern k by (125): softmax times (value - mean value); `scale` False leaves out 1/|S^n|."""
    out = []
    for n in range(2):
        for i in range(2):
            value = [graph.add(t.O[i] * t.V[:, s]) for s in range(3)]
            mean = graph.add(t.softmax(n, s, k) * value[s] for s in range(3))
            total = graph.add(sym(name) for name in (("c1", "c2", "c3"), ("e1", "e2", "e3"))[n])
            out.append(t.weight(n, i, k, hinge) * t.softmax(n, j, k) * (value[j] - mean) * (ONE if scale else total))
    return graph.add(out)


def gradient_q(t: Tables, hinge: bool) -> np.ndarray:
    """Minus (125)."""
    return np.array(
        [[graph.add(force(t, j, k, hinge) * t.K[x, j] for j in range(3)) for k in range(3)] for x in range(3)],
        dtype=object,
    )


def gradient_k(t: Tables, hinge: bool, scale: bool = True) -> np.ndarray:
    """Minus (161), `scale` False without 1/|S^n|."""
    return np.array(
        [[graph.add(force(t, j, k, hinge, scale) * t.Q[x, k] for k in range(3)) for j in range(3)] for x in range(3)],
        dtype=object,
    )


#: of each matrix the printed gradient, (161) with the factor 1/|S^n| that it lacks
GRADIENTS = {"O": gradient_o, "V": gradient_v, "K": gradient_k, "Q": gradient_q}


@computed_once
def as_printed(lab: Laboratory, leaf: str) -> Verdict:
    """The derived rates of one matrix of the toy against the printed gradient, entry by entry, before a margin is reached."""
    rates, printed = before_margin(lab.rates(leaf)), GRADIENTS[leaf](tables(lab.toy()), False)
    return equal(entry_pairs(rates, printed, f"W_{leaf}"), positive=POSITIVE)
