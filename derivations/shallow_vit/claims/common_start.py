"""Neurons of the start whose gates are strict: what the first step does to them, in balls and as the network has it.

Neurons are Gaussian, so that among m of them some are near any given one, with a probability that tends to 1 with m.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np

from odesys import Evidence, Verdict, Witness, as_ball, refuted, undecided

from ..laboratory import Laboratory
from ..special.class_network import Counts, State
from .common_motion import EXACT

#: how such a neuron is met under (1), where each position has a sign of its own
MET = (
    "neurons are Gaussian: among m some are near it, with a probability that tends to 1 with m; under (1) take those whose a_(l)i have one sign at all positions, "
    "a share 2^(1-L) of them"
)


def wrong_sign(lab: Laboratory, label: int, said: str) -> Verdict:
    """A lucky neuron with a_i < 0 that samples of one label alone activate: its coefficients have the sign of minus that label.

    Of label 1 a neuron of W near (1, -10, 1), of label -1 one of U near (-10, 1, 1); `said` has places for V_i of patterns 1, 2 times a.
    """
    w = np.array([1.0, -10.0, 1.0] if label > 0 else [-10.0, 1.0, 1.0]) / 5
    counts = np.array([[10.0, 1.0, 9.0], [1.0, 10.0, 9.0]])
    with flint.ctx.workprec(96):
        e = flint.arb(1).exp()

        def before(sample: int, query: int) -> flint.arb:  # a positive multiple of w'V
            weights = [as_ball(Fraction(int(x))) * (e if j == query else 1) for j, x in enumerate(counts[sample])]
            return sum((a * as_ball(Fraction(x)) for a, x in zip(weights, w, strict=True)), flint.arb(0))

        own, other = (0, 1) if label > 0 else (1, 0)
        lucky = bool(before(own, own) > 0) and all(bool(before(other, k) < 0) for k in range(3))
    start = State(np.array([w, w]), np.eye(3), np.eye(3), np.eye(3), np.array([-1.0, 1.0]) / 2**0.5)
    made = lab.forces(start, lab.data(Counts(counts, np.array([1, -1]))), 1e9)
    found = -made.C[0] * 2**0.5
    if not lucky or not (label * found[:2] > 0).all():
        return undecided("the neuron is not lucky, or its coefficients have the other sign")
    shown = ", ".join(f"{x:g}" for x in w)
    sentence = (
        f"alpha_* = 1/2, alpha_# = 1/20, M = 3, no errors, t = 0: a neuron near ({shown}) xi with a_i < 0 is in {'W' if label > 0 else 'U'}, samples with the label {label} alone "
        f"activate it, and {said.format(*found)}"
    )
    return refuted(Witness(sentence, EXACT | {"M": 3}), Evidence.CERTIFICATE).proving(
        "all gates that are open are those of one label y: C_ij is y a_i times a sum of positive terms, and V_i = -C_ij",
        "the signs of its pre-activations are strict, so that they are the same near by",
        MET,
        "outputs at the start are below the margin; the number is for a batch with both labels alike, its sign for every batch with a sample of that label",
    )


def closed_at_once(lab: Laboratory, sign: int) -> Verdict:
    """A neuron that its own query barely activates, and what the first step does to w'V_1, in balls and as the network has it.

    Its part on p_3 is -1/20, that on p_2 is 2 for a_i > 0, so that both queries of - samples activate it, and -1 for a_i < 0, so
    that none does; that on p_1 is where w'V_1 = 0 in + samples, whose nuisance queries do not activate it.
    """
    third, second = Fraction(-1, 20), Fraction(2 if sign > 0 else -1)
    with flint.ctx.workprec(96):
        e, f = flint.arb(1).exp(), as_ball(Fraction(1, 10))
        own, nuisance = (
            e * f / (e * f + 1 - f),
            e * (1 - f) / (e * (1 - f) + f),
        )  # attention of a query on its own pattern
        first = -as_ball(third) * (1 - own) / own
        closed = [(1 - nuisance) * first + nuisance * as_ball(third)]
        others = [
            own * as_ball(second) + (1 - own) * as_ball(third),
            (1 - nuisance) * as_ball(second) + nuisance * as_ball(third),
        ]
        sure = all(bool(h < 0) for h in closed) and all(bool(sign * h > 0) for h in others)
        pull = f * (1 - own) ** 2 + (1 - f) * nuisance * (1 - own) if sign > 0 else flint.arb(0)
        change = sign * (f * (own**2 + (1 - own) ** 2) - pull) / 2
        falls = bool(change < 0)
    w = np.array([float(first) + 1e-9, float(second), float(third)])
    start = State(np.array([w, w]), np.eye(3), np.eye(3), np.eye(3), np.array([sign, -sign]) / 2**0.5)
    made = lab.forces(start, lab.data(Counts(np.array([[1.0, 0.0, 9.0], [0.0, 1.0, 9.0]]), np.array([1, -1]))), 1e9)
    seen = float(made.C[0] @ np.array([float(own), 0.0, 1 - float(own)]) * 2**0.5)
    if not (sure and falls) or abs(seen - float(change)) > 1e-9:
        return undecided("the first step does not close the gate of this neuron")
    sentence = (
        f"alpha_* = 1/10, alpha_# = 0, M = 3, no errors, xi = 1/sqrt(m), a_i {'>' if sign > 0 else '<'} 0, a batch with both labels alike: for a neuron near ({float(first):.3g}, {float(second):g}, "
        f"{float(third):g}) xi the first step changes w'V_1 in + samples by {float(change):.3f} eta/sqrt(m), so that it is switched off if w'V_1 > 0 was less; for every eta there "
        "is such a neuron with a probability that tends to 1 with m"
    )
    where = EXACT | {"M": 3, "alpha_s": Fraction(1, 10), "alpha_c": Fraction(0)}
    return refuted(Witness(sentence, where), Evidence.CERTIFICATE).proving(
        "the signs of its other pre-activations are strict, so that they are the same near by; of its own one a share eta of neurons has less than what the step takes",
        MET,
        "at the start the signs a_i are independent of all else: outputs are O(1/sqrt(m)), below the margin, and sums over neurons in the first steps of values, keys and queries have the mean 0 and are O(1/sqrt(m)), so "
        "that they change w'V_1 by O(eta/m) only",
    )


#: a neuron, in the features of patterns 1, 2, 3; samples with halves of patterns 1 and 3, and of 2 and 3
UNLUCKY = (-1, -10, 1)


def one_sided(lab: Laboratory) -> Verdict:
    """Pre-activations of the neuron in balls, and its V_1 as the network has it."""
    with flint.ctx.workprec(96):
        e = flint.arb(1).exp()
        x, y, z = UNLUCKY
        closed = {"query 1 of +": e * x + z, "query 2 of -": e * y + z, "query 3 of -": y + e * z}
        opened = x + e * z  # of query 3 in the + sample
        unlucky = all(bool(h < 0) for h in closed.values()) and bool(opened > 0)
        size = 1 / (4 * (1 + e))  # a |V_i|: half of the samples, half of the queries, attention 1/(1 + e)
    start = State(
        np.array([UNLUCKY, UNLUCKY], dtype=float), np.eye(3), np.eye(3), np.eye(3), np.array([1.0, -1.0]) / 2**0.5
    )
    data = lab.data(Counts(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([1, -1])))
    seen = float(lab.forces(start, data, 1e9).C[0, 0] * 2**0.5)
    if not unlucky or abs(seen - float(size)) > 1e-12:
        return undecided("the neuron is not unlucky, or its coefficient is another one")
    sentence = (
        f"alpha_* = 1/2, alpha_# = 0, M = 3, no errors, t = 0: neurons near (-1, -10, 1) xi are unlucky, nuisance queries of "
        f"+ samples alone activate them, and a |V_i| = 1/(4 (1 + e)) = {float(size):.4f} for every B, while the right sides fall like 1/sqrt(B)"
    )
    where = EXACT | {"M": 3, "alpha_c": Fraction(0)}
    return refuted(Witness(sentence, where), Evidence.CERTIFICATE).proving(
        "the signs are strict, so that they are the same near by",
        MET,
        "a batch with k copies of each sample has the gradient of one of each, whatever k",
    )
