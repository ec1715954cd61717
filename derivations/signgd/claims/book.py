"""The claim book of the paper, and what several parts share: reduced symbols, signs of the derived arguments, balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint

from odesys import (
    ClaimBook,
    Evidence,
    Node,
    Verdict,
    Witness,
    always_positive,
    certified,
    graph,
    num,
    refuted,
    say_number,
    sym,
)

from ..laboratory import Laboratory
from ..special.one_sample import BOTH, OPAQUE
from .common_hypotheses import SYMBOLS

book = ClaimBook(
    "signgd",
    Laboratory,
    rule=True,
    reference="On the Optimization and Generalization of Two-Layer Transformers with Sign Gradient Descent",
    symbols=SYMBOLS,
)

NUMBERS = "a statement about numbers or random vectors, not about the system"
EVERY = "an identity in the softmax weights themselves: it holds for every scale of the logits and every data set"
SIZES = "a statement about sizes of parameters, not about the system"
SIZE = {"n": 2, "m_k": 2, "m_v": 2}  # of the toy


ANY = {"n": "every", "m_k": "every", "m_v": "every", "d": "every"}
SHARES = (
    "one sample, one neuron, one row and one coordinate are written out, what all others of each kind add is a free symbol",
    "the loss is a mean over samples, so arguments of steps are sums of what each sample adds; on disjoint supports noise "
    "coordinates have one sample each",
)


def on_the_toy(verdict: Verdict) -> Verdict:
    """An identity of the toy network: a certificate for its sizes, two samples, neurons and rows."""
    return verdict.proving(
        "both sides are the same rational function of weights, noise entries and exponentials", **SIZE
    )


def for_every_size(verdict: Verdict) -> Verdict:
    """An identity or a sign of what one sample adds, with the rest of every sum as a symbol: for all n, m_k, m_v and d."""
    return verdict.proving(*SHARES, **ANY)


def signed(
    lab: Laboratory,
    values: Mapping[str, Any],
    wanted: Mapping[str, int],
    positive: tuple[str, ...] = (),
    nonnegative: tuple[str, ...] = (),
) -> Verdict:
    """What a sample adds to the sign arguments has the wanted signs, for all positive softmax weights, slopes, the given state.

    Sample and neuron are called 1 and stand for any: where each sample adds something of one sign, so has the sum.
    `values` replaces reduced symbols by expressions of positive symbols; `wanted` maps an argument to +1 or -1.
    """
    at = {sym(k): graph.as_node(v) for k, v in values.items()}
    nodes: dict[str, Node] = {}
    for label in BOTH:
        nodes[f"g {label}"] = lab.slope_of_a_sample(label)
        found = graph.substitute([lab.shares(opaque=True)[label][name] for name in wanted], at)
        nodes |= {f"{name} {label}": sign * node for (name, sign), node in zip(wanted.items(), found, strict=True)}
    return for_every_size(always_positive(nodes, (*OPAQUE, *positive), nonnegative))


def weights_of_pair() -> tuple[Node, Node]:
    """a_i = s_11 s_12 and b_i = s_21 s_22 over the opaque symbols."""
    X, Y = sym("X11"), sym("X12")
    return X / (1 + X) ** 2, Y / (1 + Y) ** 2


# ---- balls -----------------------------------------------------------------------------------------------------------


def ball(value: Any) -> Any:
    """A ball of an exact number."""
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value)


def tail(x: Any) -> Any:
    """P(|Z| > x) for a standard Gaussian, as a ball."""
    return (x / flint.arb(2).sqrt()).erfc()


def inside(x: Any) -> Any:
    """P(|Z| <= x) for a standard Gaussian, as a ball."""
    return (x / flint.arb(2).sqrt()).erf()


def positive_over(function: Callable[[Any], Any], low: Any, high: Any, pieces: int, what: str) -> Verdict:
    """A function is positive over an interval: balls of equal width cover it."""
    low, high = ball(low), ball(high)
    for k in range(pieces):
        left, right = low + (high - low) * k / pieces, low + (high - low) * (k + 1) / pieces
        value = function(left.union(right))
        if not value > 0:
            middle = function((left + right) / 2)
            where = {"at": str(((left + right) / 2).mid()), "value": str(middle)}
            if middle < 0:
                return refuted(where, Evidence.CERTIFICATE)
            raise ArithmeticError(f"{what}: the enclosure over piece {k} of {pieces} is too wide: {value}")
    return certified(pieces=pieces, interval=f"{float(low):g} to {float(high):g}", what=what)


def at_most(value: Any, bound: Any, says: str = "", point: Mapping[str, Any] | None = None, **seen: Any) -> Verdict:
    """value <= bound for two balls: certified or refuted; a ball that contains the bound is a mistake of precision.

    `says` begins the sentence of a witness: what the value is, and at which point.
    """
    shown = {"value": short(value), "bound": short(bound), **seen}
    here = [] if point is None else [dict(point)]
    if value <= bound:
        return certified(**shown).at(*here)
    if value > bound:
        sentence = f"{says or 'the left side'} is {say_number(short(value))}, not at most {say_number(short(bound))}"
        return refuted(Witness(sentence, dict(point or {})), Evidence.CERTIFICATE, **shown)
    raise ArithmeticError(f"precision does not decide {value} <= {bound}")


def short(value: Any) -> float:
    """The middle of a ball with six digits."""
    return float(f"{float(value.mid()) if hasattr(value, 'mid') else float(value):.6g}")


ONE_HALF = num(1) / 2
