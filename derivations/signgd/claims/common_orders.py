"""Orders under Condition 3.1: products of powers of the sizes, from definitions of times and starts, that tend to zero; always proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from odesys import Node, Verdict, decided, graph, sym

from ..special.conditions import POWER

EVERY = "every"
LETTERS = ("n", "d", "m_k", "m_v", "sigma_p", "sigma_0", "eta")
MOVES = "an inner product with mu moves by eta |mu| in a step, one with y_i xi_i by eta |xi_i|_1, Eq. (8) and (9)"
VALUES = "values move by 2 eta |mu| and 2 eta |xi_i|_1 in each step, Eq. (14) and (15)"
OVER_STEPS = "argues in words: from one step to all of them"
COQ = Path(__file__).with_name("coq")  # arguments over all steps, for an export of proofs
NORMS = "|xi_i|_1 is between sigma_p s / sqrt2 and sigma_p s, and near (2/pi)^(1/2) sigma_p s, Lemma C.4"
QUARTER = "|sigmoid(z) - 1/2| <= |z| / 4"
root_half, root_two = (Fraction(7, 10), Fraction(17, 12))  # below 1/sqrt2, above sqrt2
SIZES = {"n": EVERY, "d": EVERY, "m_k": EVERY, "m_v": EVERY}


@dataclass(frozen=True)
class Order:
    """A product of powers, up to logarithms of n, m_k, m_v and 1/delta; the signal has length 1.

    >>> (N / S ** HALF).bounded()
    (Fraction(2, 1), Fraction(-1, 4), Fraction(0, 1))
    """

    n: Fraction = Fraction(0)
    d: Fraction = Fraction(0)
    m_k: Fraction = Fraction(0)
    m_v: Fraction = Fraction(0)
    sigma_p: Fraction = Fraction(0)
    sigma_0: Fraction = Fraction(0)
    eta: Fraction = Fraction(0)

    def __mul__(self, other: Order) -> Order:
        return Order(*(x + y for x, y in zip(self.powers(), other.powers(), strict=True)))

    def __pow__(self, power: Fraction | int) -> Order:
        return Order(*(power * x for x in self.powers()))

    def __truediv__(self, other: Order) -> Order:
        return self * other**-1

    def powers(self) -> tuple[Fraction, ...]:
        """Of n, d, m_k, m_v, sigma_p, sigma_0 and eta."""
        return self.n, self.d, self.m_k, self.m_v, self.sigma_p, self.sigma_0, self.eta

    def bounded(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """Powers of n, d and kappa = sigma_0 sigma_p s m_k^(1/2) that bound it; none where Condition 3.1 gives no bound.

        A step is at most sigma_0 / (n^2 s^(1/2)) (`fine_steps`), sigma_p at least d^(-1/4) n^3, m_k at most n^(1/4), and
        m_k and m_v at least 1.
        """
        now = self * (SIGMA_0 / (N**2 * S**HALF) / ETA) ** max(self.eta, Fraction(0))
        now = now * (SIGMA_P * S * M_K**HALF) ** -now.sigma_0 / SIGMA_0**now.sigma_0
        kappa = (self * (SIGMA_0 / ETA) ** max(self.eta, Fraction(0))).sigma_0
        now = now * (LEAST_SIGMA_P / SIGMA_P) ** now.sigma_p if now.sigma_p < 0 else now
        now = now * (N**QUARTER_POWER / M_K) ** now.m_k if now.m_k > 0 else now
        if now.eta != 0 or now.sigma_p > 0 or now.m_v > 0 or kappa < 0:
            return None
        return now.n, now.d, kappa


HALF, QUARTER_POWER = Fraction(1, 2), Fraction(1, 4)
ONE = Order()
N, D, M_K, M_V = (Order(**{name: Fraction(1)}) for name in ("n", "d", "m_k", "m_v"))
SIGMA_P, SIGMA_0, ETA = (Order(**{name: Fraction(1)}) for name in ("sigma_p", "sigma_0", "eta"))
S = D**HALF / N**2  # condition 1
LEAST_SIGMA_P = N**3 / D**QUARTER_POWER  # condition 2
STEP = ETA * SIGMA_P * S  # of noise; that of a signal is ETA
BETA_XI, BETA_MU = SIGMA_0 * SIGMA_P * S**HALF, SIGMA_0  # Lemmas C.7 and C.8
T_1, T_2_PRIME, T_3 = BETA_XI / (STEP * M_V**HALF), BETA_XI / STEP, BETA_MU / ETA
T_2 = T_2_PLUS = N * T_2_PRIME
T_4_LEAST = ONE / (STEP * M_K**HALF)  # without C_3 log(C_3 sigma_p s), which is at least 1: where T_4 divides
#: sigma_p has no upper bound, so its logarithm is none of those left out: log x <= x^(1/8) 8 for every x, by log y <= y
T_4 = (SIGMA_P * S) ** Fraction(1, 8) * T_4_LEAST
T_END = ONE / STEP  # T of Lemma E.41
#: sizes by their names in a statement; one that is made of others is defined by them there
SIZES_BY_NAME = {
    **{name: Order(**{name: Fraction(1)}) for name in LETTERS},
    "s": S,
    "beta_xi": BETA_XI,
    "beta_mu": BETA_MU,
    "T_2_plus": T_2_PLUS,
}


def vanishing(
    what: str,
    order: Order,
    logarithms: tuple[Order, Verdict] | None = None,
    made_of: Mapping[str, Fraction | int] | None = None,
) -> Verdict:
    r"""`what` is of this order, up to logarithms of n, m_k, m_v and 1/delta, and tends to zero.

    By Condition 3.1 d is at least :math:`n^9`, so for a negative power of d the product is at most a power of n, which
    beats every power of these logarithms where it is negative (m_v is at most a power of n). Where the power is zero
    kappa = sigma_0 sigma_p s m_k^(1/2), which tends to zero as slowly as it likes, has to do it alone: then `logarithms`
    has what pays for those left out, a power of the width m_v that the order has to spare, and a proof that it does.
    `made_of` has the sizes that an export names, with their powers; without it these are the sizes of Condition 3.1.
    """
    found = order.bounded()
    if found is None:
        return decided(False, {what: "Condition 3.1 gives no bound"})
    n, d, kappa = found
    power = n + POWER * d
    powers = (("n", n), ("d", d), ("kappa", kappa))
    text = " ".join(name if by == 1 else f"{name}^({by})" for name, by in powers if by) or "1"
    price, bounded = logarithms or (ONE, None)
    if d <= 0 and power == 0 and kappa > 0 and bounded is not None and order.m_v <= -price.m_v:
        return bounded.stating(**in_logarithms(what, order, power, kappa, made_of)).proving(
            f"{what} is at most a constant times {text}, logarithms included, and kappa = sigma_0 sigma_p s m_k^(1/2) tends to 0",
            **SIZES,
        )
    answer = decided(d <= 0 and power < 0, {what: f"{text} is at most n^({power})"})
    answer = answer.stating(**in_logarithms(what, order, power, kappa, made_of)).stating(
        {f"power of n that bounds {what}": (power, "<", 0)}
    )
    return answer.proving(
        f"{what} is of the order {text} up to logarithms, at most n^({power}) as d >= n^{POWER}", **SIZES
    )


def sizes_at_start() -> dict[str, tuple[tuple[str, ...], Node]]:
    """What theorems on o(1) speak of: the logarithm of Lemmas C.7 and C.8, the bound of beta_xi there, and T_2."""
    n, m_k, delta, sigma_0, sigma_p, s, beta, eta, size = map(
        sym, ("n", "m_k", "delta", "sigma_0", "sigma_p", "s", "beta", "eta", "size")
    )
    logarithm = graph.call("log", 12 * m_k * n / delta)
    noise = 2 * graph.sqrt(logarithm) * sigma_0 * sigma_p * graph.sqrt(s)
    return {
        "logarithm": (("n", "m_k", "delta"), logarithm),
        "beta_bound": (("n", "m_k", "delta", "sigma_0", "sigma_p", "s"), noise),
        "T_2": (("n", "beta", "eta", "size"), 50 * graph.sqrt(graph.num(2)) * n * beta / (eta * size)),
    }


UP_TO = "up to constants and logarithms of n, m_k, m_v and 1/delta: o(1) is only a power of n here"


def in_logarithms(
    what: str, order: Order, power: Fraction, kappa: Fraction, made_of: Mapping[str, Fraction | int] | None
) -> dict[str, Any]:
    """The same in logarithms, where it is linear: by Condition 3.1 the order is at most n^power kappa^k."""
    log = {name: sym(f"log_{name}") for name in LETTERS}
    named = dict(made_of or {name: by for name, by in zip(LETTERS, order.powers(), strict=True) if by})
    made = ONE
    for name, by in named.items():
        made = made * SIZES_BY_NAME[name] ** by
    if made != order:
        raise ValueError(f"{what} is not of the order of {named}")

    def of(each: Order) -> Node:
        return graph.add(p * x for p, x in zip(each.powers(), log.values(), strict=True))

    small = of(SIGMA_0 * SIGMA_P * S * M_K**HALF)
    defined = [(sym(f"log_{name}"), "=", of(SIZES_BY_NAME[name])) for name in named if name not in LETTERS]
    left = graph.add(by * sym(f"log_{name}") for name, by in named.items())
    where = [
        *defined,
        (0, "<=", log["n"]),
        (POWER * log["n"], "<=", log["d"]),
        (0, "<=", log["m_k"]),
        (log["m_k"], "<=", QUARTER_POWER * log["n"]),
        (0, "<=", log["m_v"]),
        (of(LEAST_SIGMA_P), "<=", log["sigma_p"]),
        (log["eta"], "<=", of(SIGMA_0 / (N**2 * S**HALF))),
        (small, "<=", 0),
    ]
    return {
        "relations": {f"logarithm of {what}, {UP_TO}": (left, "<=", power * log["n"] + kappa * small)},
        "where": where,
    }


def settled(verdict: Verdict, *steps: str) -> Verdict:
    """A proof for every size, with its steps in words."""
    return verdict.proving(*steps, **SIZES)


MEASURED = "which is measured"


def given(verdict: Verdict, *lemmas: str) -> Verdict:
    """A verdict that takes lemmas for granted which are only measured here: its proof says so."""
    return verdict.assuming(*(f"{lemma}, {MEASURED}" for lemma in lemmas))
