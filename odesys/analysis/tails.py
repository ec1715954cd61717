r"""Tails of Gaussian norms and products, enclosed in balls or bounded by an exponent that holds for every width.

For independent standard Gaussian vectors of length m,

.. math::  \mathbb E e^{\lambda(\|x\|^2-m)} = \big(e^{-\lambda}(1-2\lambda)^{-1/2}\big)^m, \qquad
           \mathbb E e^{\lambda x^\top y} = (1-\lambda^2)^{-m/2},

so by Markov's inequality the mean of m terms exceeds t with probability at most :math:`e^{-m E}`, where E is one of the
exponents below at any admissible :math:`\lambda`; they are expressions, so a bound can be proved for all m at once.

>>> import flint
>>> from odesys import tails
>>> half = flint.arb(1) / 2
>>> tails.norm_outside(100, half).str(5, radius=False), tails.product_outside(100, half).str(5, radius=False)
('0.00091089', '2.4762e-5')
"""

from __future__ import annotations

import flint

from ..expr import graph
from ..expr.graph import Node


def norm_above(t: Node, tilt: Node) -> Node:
    """Exponent of ``|x|^2/m - 1 > t`` at ``0 <= tilt < 1/2``.

    >>> from odesys import sym, tails
    >>> tails.norm_above(sym("t"), sym("s"))
    Node(s*(t + 1) + log(1 - 2*s)/2)
    """
    return tilt * (1 + t) + graph.call("log", 1 - 2 * tilt) / 2


def norm_below(t: Node, tilt: Node) -> Node:
    """Exponent of ``|x|^2/m - 1 < -t`` at ``tilt >= 0``.

    >>> from odesys import sym, tails
    >>> tails.norm_below(sym("t"), sym("s"))
    Node(-s*(1 - t) + log(2*s + 1)/2)
    """
    return graph.call("log", 1 + 2 * tilt) / 2 - tilt * (1 - t)


def product_above(t: Node, tilt: Node) -> Node:
    """Exponent of ``x'y/m > t`` at ``0 <= tilt < 1``; the law of ``x'y`` is symmetric, so also of ``x'y/m < -t``.

    >>> from odesys import sym, tails
    >>> tails.product_above(sym("t"), sym("s"))
    Node(s*t + log(1 - s**2)/2)
    """
    return tilt * t + graph.call("log", 1 - tilt * tilt) / 2


def norm_outside(m: int, t: flint.arb) -> flint.arb:
    """Ball around ``P(| |x|^2/m - 1 | > t)`` at the precision in force; for large m it cancels and wants many bits.

    >>> import flint
    >>> from odesys import tails
    >>> tails.norm_outside(2, flint.arb(1)).overlaps(flint.arb(-2).exp())  # |x|^2/2 has the exponential law
    True
    """
    above = (m * (1 + t) / 2).gamma_upper(flint.arb(m) / 2, regularized=1)
    return above if t >= 1 else above + (m * (1 - t) / 2).gamma_lower(flint.arb(m) / 2, regularized=1)


def product_outside(m: int, t: flint.arb) -> flint.arb:
    """Ball whose upper end is at least ``P(|x'y/m| > t)``, by the exponent at nearly the best tilt.

    >>> import flint
    >>> from odesys import tails
    >>> tails.product_outside(100, flint.arb(1) / 2).str(5, radius=False)
    '2.4762e-5'
    """
    size = float(t.mid())
    best = (-1 + (1 + 4 * size * size) ** 0.5) / (2 * size)  # any value in (0, 1) is valid
    tilt = flint.arb(int(best * 2**20)) / 2**20
    return 2 * (-m * (tilt * t + (1 - tilt * tilt).log() / 2)).exp()


def product_outside_by_norm(m: int, t: flint.arb) -> flint.arb:
    """Ball whose upper end is at least ``P(|x'y/m| > t)``: Gaussian given y, whose norm is seldom large.

    The part with ``|y|^2/m > 1 + 2t`` is bounded by its probability. Near the centre, where the exponent of `product_outside` is loose, this is the better of the two.

    >>> import flint
    >>> from odesys import tails
    >>> t = flint.arb(3) / 100
    >>> [f(10**4, t).str(3, radius=False) for f in (tails.product_outside_by_norm, tails.product_outside)]
    ['0.00359', '0.0223']
    """
    spread = 1 + 2 * t
    return (t * (m / (2 * spread)).sqrt()).erfc() + (m * spread / 2).gamma_upper(flint.arb(m) / 2, regularized=1)
