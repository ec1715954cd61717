r"""The training loss falls below 1/10 whatever the attention does: a bound at every state, by V alone.

The gradient by :math:`W_V` has the squared length :math:`\|w_O\|^2h^\top Gh`, where :math:`h_t` is the weight of token
*t*: :math:`y_n(-\ell'_n)/N` times its share of the attention of its sample. Weights of a sample have one sign and add up to
:math:`y_n(-\ell'_n)/N`. With the squared lengths :math:`p=\|\mu\|^2` and at least :math:`q=\tfrac12\sigma_p^2d`, and inner
products of at most *X* (Lemma C.4), the sample with the largest loss gives

.. math::  h^\top Gh\ge\Big(\frac{\ell'_n}N\Big)^2\Big(\frac1p+\frac{M-1}q\Big)^{-1}-X .

A step of gradient descent lowers the loss by at least half of :math:`\eta` times the squared gradient where :math:`\eta`
times the second derivative is at most 1. Then all steps together move the weights by at most
:math:`(2L_0\,\eta T)^{1/2}`, which bounds that derivative, so that the induction over the steps closes. The next step is
within twice this way: the slope of the loss is at most :math:`2B^{1/2}`, *B* that bound, and with :math:`\eta B\le1/100` a
step is at most :math:`\eta^{1/2}/5`. All of it is on the events of Lemmas C.2, C.3 and C.4. With *T* as in Lemma E.5 the
loss is below 1/10 for every :math:`C_{19}>132N\epsilon(\mathrm{SNR}^{-2}+2(M-1))`, which goes to zero with :math:`\epsilon`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint

from odesys import Node, Verdict, decided, equal, graph, sym

from ..laboratory import Laboratory
from .book import on_toy, tables
from .part_b_system import pushes

M_TOY = 3


def dissipation(lab: Laboratory) -> Verdict:
    """The derived loss falls by V at the rate w2 h'Gh, and h'Gh is at least its diagonal less X times a square."""
    flow = lab.flow(M_TOY)
    t = tables(flow, M_TOY)
    h, X, noise = pushes(t), sym("X"), range(2, 2 + t.N * (M_TOY - 1))
    sign = {token: t.y[n] for n in range(t.N) for token in t.places[n]}
    slopes = graph.gradient(flow.outputs["loss"], list(t.V))
    speed = graph.add(-s * rate for s, rate in zip(slopes, flow.rhs("wOV")[0], strict=True))
    form = graph.add(h[i] * t.G[i, j] * h[j] for i in range(len(h)) for j in range(len(h)))
    pairs = [(i, j) for i in noise for j in noise if i != j]
    size = [sign[i] * h[i] for i in range(len(h))]  # not negative
    diagonal = graph.add(t.G[i, i] * h[i] ** 2 for i in range(len(h)))
    slack = graph.add((X + sign[i] * sign[j] * t.G[i, j]) * size[i] * size[j] for i, j in pairs)
    found: dict[str, tuple[Node, Node]] = {
        "rate": (speed, sym("w2") * form),
        "slack": (form, diagonal - X * graph.add(size[i] * size[j] for i, j in pairs) + slack),
    }
    for n in range(t.N):
        total = graph.add(size[token] for token in t.places[n])
        found[f"sample {n + 1}"] = (total, t.slope(n) / t.N)
    return on_toy(equal(found)).proving(
        "the loss falls by V at the rate |w_O|^2 h'Gh; weights of a sample add up to (-l'_n)/N in size",
        "h'Gh less its diagonal and X times all pairs of noise is a sum of (X + y y' <xi, xi'>) times sizes of weights, none negative by Lemma C.4; "
        "samples of one class add up at the signal with one sign, and all sizes together are at most 1",
    )


def least_of_a_sample() -> Verdict:
    """p a^2 + q b^2/m >= (a + b)^2 / (1/p + m/q), where m tokens share b."""
    p, q, m, a, b = (sym(name) for name in ("p", "q", "m", "a", "b"))
    left = (p * a**2 + q * b**2 / m) * (1 / p + m / q) - (a + b) ** 2
    return equal({"room": (left, (p * m * a - q * b) ** 2 / (p * q * m))}, positive=("p", "q", "m", "a", "b")).proving(
        "p a^2 + q b^2/(M - 1) >= (a + b)^2/(1/p + (M - 1)/q): the room is a square; b^2/(M - 1) is the least sum of squares of M - 1 weights"
    )


def large_derivative() -> Verdict:
    """Where the mean loss is 1/10 a sample has -l' = 1 - e^(-l) >= 19/200."""
    slope = 1 - (-flint.arb(1) / 10).exp()
    return decided(bool(slope > flint.arb(19) / 200), {"slope": str(slope)}).proving(
        "where the loss is at least 1/10 one sample has it, and -l' = 1 - e^(-loss) >= 19/200 there (balls)"
    )


def ball(value: int | Fraction) -> flint.arb:
    """A whole number or fraction as a ball."""
    exact = Fraction(value)
    return flint.arb(exact.numerator) / flint.arb(exact.denominator)


def start_of_loss(d_h: flint.arb) -> flint.arb:
    """The loss at the start is at most log(1 + e^h), h = d_h^(-1/4) (Lemma C.2)."""
    return (1 + (1 / d_h.root(4)).exp()).log()


def time_below(point: Mapping[str, Any]) -> flint.arb:
    """A bound of eta t at which gradient descent has the training loss 1/10, from the bounds above, in balls."""
    p = {name: ball(value) for name, value in point.items()}
    noise, share = p["sigma_p"] ** 2 * p["d"], 2 * (p["M"] - 1)
    least = (ball(Fraction(19, 200)) / p["N"]) ** 2 / (1 / p["mu"] ** 2 + share / noise)
    cross = 2 * p["C_p"] ** 2 * noise * ((4 * p["N"] ** 2 * p["M"] ** 2 / p["delta"]).log() / p["d"]).sqrt()
    return (start_of_loss(p["d_h"]) - ball(Fraction(1, 10))) / (p["w_O"] ** 2 * (least - cross) / 2)


def least_constant(point: Mapping[str, Any]) -> Fraction:
    """132 N eps (SNR^-2 + 2(M - 1)): the loss at T is below 1/10 for every larger C_19, as 2 (log 2 - 1/10) (200/19)^2 < 132."""
    exact = {name: Fraction(value) for name, value in point.items()}
    inverse = exact["sigma_p"] ** 2 * exact["d"] / exact["mu"] ** 2
    return 132 * exact["N"] * exact["eps"] * (inverse + 2 * (exact["M"] - 1))


def second_derivative(point: Mapping[str, Any], time: flint.arb) -> flint.arb:
    """A bound of the second derivative of the loss in every direction, within twice the way of the weights up to this time.

    A score changes at the rate |x|(|q| + |k|) and has the second derivative 2|x|^2; attention of a row 2s' and 8s'^2 + 2s''
    in the sum of sizes; values |x||w_O| and 0; the loss has slopes of at most 1 and 1/4 in the output. In balls.
    """
    p = {name: ball(value) for name, value in point.items()}
    noise = Fraction(3, 2) * point["d"] * (Fraction(point["C_p"]) * point["sigma_p"]) ** 2
    length = ball(max(Fraction(point["mu"]) ** 2, noise)).sqrt()
    way = 2 * (2 * start_of_loss(p["d_h"]) * time).sqrt()
    query = length * (2 * p["sigma_h"] * p["d_h"].sqrt() + way)
    first, second = 2 * length * query, 2 * length**2
    value, slope = 1 / p["d_h"].root(4) + length * p["w_O"] * way, length * p["w_O"]
    output = 2 * first * value + slope, (8 * first**2 + 2 * second) * value + 4 * first * slope
    return output[1] + output[0] ** 2 / 4
