"""Symbols with their natural domains, Condition 4.1 and the two regimes as hypotheses, and points inside all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

from odesys import Draw, Hypothesis, Symbol

from ..special.conditions import CONDITION_4_1, Inside

SYMBOLS = (
    Symbol("N", "N", "training samples", "whole", low=2),
    Symbol("M", "M", "tokens of a sample", "whole", low=2),
    Symbol("d", "d", "dimension of the tokens", "whole"),
    Symbol("d_h", "d_h", "width of queries and keys", "whole"),
    Symbol("mu", r"\|\mu\|_2", "length of the signals", "positive"),
    Symbol("sigma_p", r"\sigma_p", "deviation of the weak noise", "positive"),
    Symbol("C_p", "C_p", "sigma~_p over sigma_p", "positive"),
    Symbol("w_O", r"\|w_O\|_2", "length of the output vector", "positive"),
    Symbol("sigma_h", r"\sigma_h", "deviation of W_Q and W_K at the start", "positive"),
    Symbol("sigma_V", r"\sigma_V", "deviation of W_V at the start", "nonnegative"),
    Symbol("eta", r"\eta", "step size", "positive"),
    Symbol("eps", r"\epsilon", "training loss that is reached", "positive"),
    Symbol("delta", r"\delta", "failure probability", "unit"),
    Symbol("n_snr2", r"N\cdot\mathrm{SNR}^2", "what decides the regime", "positive"),
    Symbol("share", r"\min\{|S_+|,|S_-|\}/N", "least share of a class", "unit"),
    Symbol("L", r"\log(6N^2M^2/\delta)", "the logarithm of condition (8)", "positive"),
    Symbol("phi_1", r"\varphi_1", "attention of a row on the signal", "unit"),
    Symbol("V_p", "V_+", "value of the signal", "real"),
    Symbol("V_n", r"\max_i|V_{n,i}|", "largest value of the noise of a sample", "nonnegative"),
    *(Symbol(f"a_{i}", f"a_{i}", "a logit", "real") for i in (1, 2, 3)),
)

BENIGN = Hypothesis(
    "benign regime",
    # the proof of D.5 asks for 60 C M^2 C_p^2 / (C - 10M(3M + 1)) with a constant C: this is C = 40M(3M + 1)
    r"N\cdot\mathrm{SNR}^2\ge80M^2C_p^2",
    lambda p: p["n_snr2"] - 80 * p["M"] ** 2 * p["C_p"] ** 2,
)
HARMFUL = Hypothesis(
    "harmful regime",
    r"N\cdot\mathrm{SNR}^2\le4",  # the constant of Omega(1) that (144) needs
    lambda p: 4 - p["n_snr2"],
)
ENOUGH = Hypothesis(
    "enough samples",
    r"N\ge8\log(4/\delta)",  # of Lemma C.1, which condition (3) is there for
    lambda p: float(p["N"]) - 8 * log(4 / float(p["delta"])),
)
SMALL_LOSS = Hypothesis(
    "9, its power",
    r"\epsilon\le(\log(6N^2M^2/\delta))^{-2}",
    lambda p: p["L"] ** -2 - p["eps"],
)
UNLIKELY = Hypothesis(
    "delta of the theorems",
    r"\delta\le1/d",  # so that log(1/eps) is at most log(d)/2, by (2), and less than log(6N^2M^2/delta)
    lambda p: 1 - p["delta"] * p["d"],
)


def given(what: str, name: str = "given") -> Hypothesis:
    """What a proof takes from propositions or displays that are measured along trajectories; it has no points of its own."""
    return Hypothesis(name, rf"\text{{{what}}}", lambda p: 0.0)


def premise(what: str) -> Hypothesis:
    """What the paper itself supposes where a display stands: in the proof of a claim of an induction."""
    return given(what, "premise")


CLASSES = Hypothesis(
    "class sizes",
    # the event of Lemma C.1, which all proofs use; its probability 1 - delta needs `ENOUGH`, which N = 25 does not have
    r"\tfrac N4\le|S_\pm|\le\tfrac{3N}4\ \text{(ours: drawn sets are conditioned on the event of Lemma C.1)}",
    lambda p: p["share"] - 0.25,
)
EITHER = Hypothesis(
    "one of the regimes",
    r"N\cdot\mathrm{SNR}^2\ge80M^2C_p^2\ \text{or}\ N\cdot\mathrm{SNR}^2\le4",
    lambda p: max(p["n_snr2"] - 80 * p["M"] ** 2 * p["C_p"] ** 2, 4 - p["n_snr2"]),
)
#: what o(1) stands for until T_1: D.4 and E.2 give it from a logarithm on (Beyond.stage-one); for E.3 one side is enough
NEAR_BENIGN = Hypothesis(
    "near", r"\varphi_{l1}\ge\tfrac{17}{20M},\ -\ell'\ge\tfrac{19}{40}\ \text{until}\ T_1", lambda p: 0.0
)
NEAR_HARMFUL = Hypothesis(
    "near",
    r"\varphi_{l2}\ge\tfrac{17}{20M},\ \varphi_{lj}\le\tfrac{11}{10M}\ (j\ne2),\ \tfrac{19}{40}\le-\ell'\le\tfrac{11}{20}\ \text{until}\ T_1",
    lambda p: 0.0,
)
WIDE = Hypothesis.from_ratio(
    "1, its logarithms",
    "d_h >= max(SNR^4, SNR^-4) N^2 L^8",
    # Lambda at T_2 = 1/(eta mu^2 |w_O|^2 L) is large in every row: d_h^(1/2) >= N max(SNR^2, SNR^-2) L^4
    r"d_h\ge\max\{\mathrm{SNR}^4,\mathrm{SNR}^{-4}\}N^2(\log(6N^2M^2/\delta))^8",
    lambda p: p["d_h"] / (max(p["n_snr2"] / p["N"], p["N"] / p["n_snr2"]) ** 2 * p["N"] ** 2 * p["L"] ** 8),
)
WIDE_FOR_EPSILON = Hypothesis.from_ratio(
    "1, its logarithms and epsilon",
    "d_h >= max(SNR^4, SNR^-4) N^2 L^8 / eps^2",
    r"d_h\ge\max\{\mathrm{SNR}^4,\mathrm{SNR}^{-4}\}N^2\epsilon^{-2}(\log(6N^2M^2/\delta))^8",
    lambda p: (
        p["d_h"] * p["eps"] ** 2 / (max(p["n_snr2"] / p["N"], p["N"] / p["n_snr2"]) ** 2 * p["N"] ** 2 * p["L"] ** 8)
    ),
)
DOMINANT = Hypothesis("dominance", r"V_+\ge3M|V_{n,i}|>0", lambda p: (p["V_p"] - 3 * p["M"] * p["V_n"]) * p["V_n"])
ATTENTIVE = Hypothesis(
    "attention", r"\varphi_1\ge\tfrac1M\ge\varphi_j\ (j\ge2)", lambda p: p["phi_1"] - 1 / p["M"] + 1e-15
)
LARGE_D = next(item for item in CONDITION_4_1 if item.number == "2")
UNIT_W = next(item for item in CONDITION_4_1 if item.number == "5")
IN_BENIGN = (*CONDITION_4_1, BENIGN)
IN_HARMFUL = (*CONDITION_4_1, HARMFUL)
#: of statements about whole stages: the tilde of condition (1) written out, and the class sizes that all proofs use
STAGES_BENIGN, STAGES_HARMFUL = (*IN_BENIGN, WIDE, CLASSES), (*IN_HARMFUL, WIDE, CLASSES)

GOOD, BAD = Inside(), Inside(n_snr2=0.5)
RANGES = {True: {"n_snr2": (60_000.0, 200_000.0), "N": (20, 30)}, False: {"n_snr2": (0.2, 2.0), "N": (20, 30)}}
#: where failures are measured: N is at least 8 log(4d), as C.1 asks for at delta = 1/d, and eps at most 1 / log d
STRICT = {"N": 1024, "eps": 0.005}


def regime(benign: bool) -> tuple[Hypothesis, ...]:
    """Condition 4.1 and the regime."""
    return IN_BENIGN if benign else IN_HARMFUL


def base(draw: Draw, benign: bool, **changes: Any) -> Inside:
    """The book's point of a regime, or another one of the same kind in a new draw; `changes` are held in all draws."""
    own = GOOD if benign else BAD
    (found,) = draw.points(f"regime {benign}", [{"n_snr2": own.n_snr2, "N": own.N}], RANGES[benign])
    return replace(own, **{**found, **changes})


def exact_point(benign: bool) -> dict[str, int | Fraction]:
    """A point inside, in whole numbers and fractions, where hidden constants may be 1, and N >= 8 log(4/delta) for C.1."""
    N, tenth = 1024, Fraction(1, 10)
    mu, h, step = (Fraction(12), 13, 23) if benign else (Fraction(1, 20), 12, 21)
    point: dict[str, int | Fraction] = {
        "N": N,
        "M": 4,
        "d": 10**54,
        "d_h": 10**40,
        "mu": mu,
        "sigma_p": tenth**27,
        "C_p": 10,
        "w_O": 1,
    }
    point |= {"sigma_V": tenth**14, "sigma_h": tenth**h, "eta": tenth**step, "eps": tenth**3, "delta": tenth**54}
    return point | {"n_snr2": N * mu**2}


def along(draw: Draw, benign: bool, name: str, low: float, high: float, count: int = 5, **changes: Any) -> list[Any]:
    """Points inside along one of the free parameters, with all others held."""
    start = base(draw, benign, **changes)
    whole = isinstance(getattr(start, name), int)
    found = []
    for point in draw.along(name, low, high, count):
        value = 2 * round(point[name] / 2) if whole else point[name]
        found.append(replace(start, **{name: value}))
    return found


def points(family: Sequence[Inside]) -> list[Mapping[str, Any]]:
    """Their points."""
    return [item.point for item in family]
