r"""Points of statements about the start, and what is certain there: tails of norms, products and attention in balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from odesys import Verdict, as_ball, enumerate_all

from .. import setting
from ..special.tails import PRECISION, gaussian_tail, log_ball, norm_tail, product_tail, radius
from .common_hypotheses import neuron_logs

DELTAS = (Fraction(1, 10), Fraction(1, 1000))
WIDTHS = (128, 1024, 10**5, 10**8)
Case = Mapping[str, Any]
#: inside Condition 1 and the requirements on m that the proof of Lemma E.4 names; two decades in m, m1, n and c0
FAR_POINTS = tuple(
    {"n": n, "L": L, "m": m, "m1": m1, "c0": c0, "delta": Fraction(1, 10)}
    for (n, L), m, m1, c0 in product(
        ((30, 4), (60, 5), (3000, 4), (3000, 40)),
        (10**9, 10**10, 10**11),
        (16, 160, 1600),
        (Fraction(1, 2000), Fraction(1, 20000)),
    )
)
#: the smallest m that the requirement on single neurons allows
EDGE_POINTS = tuple(
    {"n": n, "L": L, "m": int(2500 * neuron_logs({"m1": m1})) + 1, "m1": m1, "c0": c0, "delta": Fraction(1, 10)}
    for (n, L), m1, c0 in product(((30, 4), (3000, 40)), (4, 160, 1600, 10**5), (Fraction(1, 2000), Fraction(1, 20000)))
)
START_POINTS = (*FAR_POINTS, *EDGE_POINTS)


def certainly(cases: Any, check: Callable[[Case], Any], what: str) -> Verdict:
    """A statement about balls in every case, with the cases as its points."""
    listed = list(cases)

    def inside(case: Case) -> Any:
        with flint.ctx.workprec(PRECISION):
            return check(case)

    plain = [{name: float(v) if isinstance(v, Fraction) else v for name, v in case.items()} for case in listed]
    return enumerate_all(listed, lambda case: bool(inside(case)), what).at(*plain)


def words(case: Case) -> int:
    """d of a case: the words of its training set unless it says otherwise."""
    return int(case["d"]) if "d" in case else setting.words_needed(case["n"], case["L"])


def largest_score(case: Case) -> flint.arb:
    """Bound of all scores at the start, sigma_0^2 sqrt(m) Delta(log(2d/delta)), on the event of Lemma D.1."""
    m, L = case["m"], case["L"]
    scale = as_ball(Fraction(case["c0"])) ** 2 / L
    return scale * radius(m, log_ball(Fraction(2 * words(case)) / case["delta"])) / flint.arb(m).sqrt()


def uneven(case: Case) -> flint.arb:
    """e^{2s} - 1: every softmax weight lies between e^{-2s}/L and e^{2s}/L if all scores are at most s in size."""
    return (2 * largest_score(case)).exp() - 1


def key_query_failure(m: int, d: int, delta: Fraction) -> flint.arb:
    """Union of all events of Lemma D.1: 2d norms, d^2 + d(d - 1) products."""
    r = radius(m, log_ball(2 * d / delta))
    return 2 * d * norm_tail(m, r) + (2 * d * d - d) * product_tail(m, r)


def value_neuron_failure(m: int, d: int, m1: int, delta: Fraction) -> flint.arb:
    """Union of all events of Lemma D.3."""
    values, pairs = radius(m, log_ball(2 * d / delta)), radius(m, log_ball(2 * m1 * m1 / delta))
    mixed, norms = radius(m, log_ball(2 * m1 * d / delta)), radius(m, log_ball(2 * m1 / delta))
    return (
        (d * (d - 1) // 2) * product_tail(m, values)
        + (m1 * (m1 - 1) // 2) * product_tail(m, pairs)
        + m1 * d * product_tail(m, mixed)
        + m1 * norm_tail(m, norms)
        + d * norm_tail(m, values)
    )


def mixed_radius(case: Case) -> flint.arb:
    """Delta(log(2nL/delta)) of Lemma D.4."""
    return radius(case["m"], log_ball(2 * case["n"] * case["L"] / case["delta"]))


def mixed_failure(case: Case) -> flint.arb:
    """Union over samples and positions of Lemma D.4, with |Xp|^2 between 1/L and (1 + (e^{2s} - 1)^2)/L."""
    return case["n"] * case["L"] * norm_tail(case["m"], mixed_radius(case), uneven(case) ** 2)


def many_gaussians(count: Any, t: Any) -> flint.arb:
    """Union bound: one of `count` standard Gaussians is t or more in size."""
    return count * gaussian_tail(t)
