"""Orders under Condition 3.1: products of powers that tend to zero, by their exponents; always proofs."""

from __future__ import annotations

from fractions import Fraction

from odesys import Verdict, decided

from ..special.conditions import POWER

EVERY = "every"
MOVES = "an inner product with mu moves by eta |mu| in a step, one with y_i xi_i by eta |xi_i|_1, Eq. (8) and (9)"
VALUES = "values move by 2 eta |mu| and 2 eta |xi_i|_1 in each step, Eq. (14) and (15)"
NORMS = "|xi_i|_1 is between sigma_p s / sqrt2 and sigma_p s, and near (2/pi)^(1/2) sigma_p s, Lemma C.4"
QUARTER = "|sigmoid(z) - 1/2| <= |z| / 4"
root_half, root_two = (Fraction(7, 10), Fraction(17, 12))  # below 1/sqrt2, above sqrt2
SIZES = {"n": EVERY, "d": EVERY, "m_k": EVERY, "m_v": EVERY}


def vanishing(what: str, n: Fraction | int = 0, d: Fraction | int = 0, kappa: int = 0) -> Verdict:
    r"""`what` is of the order n^n d^d kappa^kappa, up to logarithms of n, m_k, m_v and 1/delta, and tends to zero.

    By Condition 3.1 d is at least :math:`n^9`, so for a negative power of d the product is at most a power of n, which
    beats every power of these logarithms where it is negative (m_v is at most a power of n); kappa = sigma_0 sigma_p s m_k^(1/2) tends to zero.
    """
    n, d = Fraction(n), Fraction(d)
    power = n + POWER * d
    text = f"n^({n}) d^({d})" + (f" kappa^{kappa}" if kappa else "")
    return decided(d <= 0 and power < 0 and kappa >= 0, {what: f"{text} is at most n^({power})"}).proving(
        f"{what} is of the order {text} up to logarithms, at most n^({power}) as d >= n^{POWER}", **SIZES
    )


def settled(verdict: Verdict, *steps: str) -> Verdict:
    """A proof for every size, with its steps in words."""
    return verdict.proving(*steps, **SIZES)


MEASURED = "which is measured"


def given(verdict: Verdict, *lemmas: str) -> Verdict:
    """A verdict that takes lemmas for granted which are only measured here: its proof says so."""
    return verdict.assuming(*(f"{lemma}, {MEASURED}" for lemma in lemmas))
