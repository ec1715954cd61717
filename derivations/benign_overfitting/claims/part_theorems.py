"""The two theorems and the lemmas about the end of training: mean field and drawn trajectories inside Condition 4.1."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import expm1, log

import numpy as np
import sympy as sp

from odesys import (
    FAILS,
    Verdict,
    Witness,
    decided,
    refuted,
    say_number,
    undecided,
)

from ..laboratory import Laboratory
from ..special.conditions import Inside
from ..special.wide_flow import Snapshot
from .book import COQ, NUMBERS, book
from .common_descent import (
    ball,
    dissipation,
    large_derivative,
    least_constant,
    least_of_a_sample,
    second_derivative,
    time_below,
)
from .common_drawn import Stages, probable
from .common_formulas import ETA, M_, MU2, N_, NOISE, benign_least, harmful_most
from .common_hypotheses import CLASSES, IN_BENIGN, IN_HARMFUL, STRICT, WIDE_FOR_EPSILON, along, base, exact_point
from .common_mean_runs import (
    fitted,
    of_order,
    over_families,
    sweep,
    time_constant,
)
from .common_reasons import reasoned

SOLVER = 1e-4  # relative error of a mean-field run, whose tolerance is 1e-6 per step
#: of d_h, benign and harmful: forces are differences of nearly equal values times d_h^(1/2), which floats end; the harmful
#: regime has SNR^-4 = N^2/(N SNR^2)^2 in d_h
LOGS = {True: 5.0, False: 3.0}
C_19 = 5.0  # the limit is 2 for every share of the classes (Beyond.unbalanced); records are a factor 1.2 apart


#: of the drawn training sets, N = 20 to 30; all runs of the mean field have N >= 8 log(4d)
PROBABILITY = {
    "probability": "given class sizes from N/4 to 3N/4, which have 1 - 1/d where N >= 8 log(4d), by Lemma C.1",
    "logarithms": "the tilde of (1) is a fifth power of log(6N^2M^2/delta) in sweeps (a third in the harmful regime), and a ninth for drawn sets",
}


def _noise_alone(lab: Laboratory) -> list[Inside]:
    """Points along the noise in the harmful regime with |mu| held, and kappa up to powers of the logarithm.

    sigma_p^2 d, the parameter of the order, grows by a thousand, so that N SNR^2 goes to zero; d grows faster, by (1), (2), so
    that sigma_p, in which the exponent is fitted, falls by 1.6 decades: both move, with d. N SNR^2 starts below the end of
    the regime, which decides the unit.
    """
    first, last = 0.05, 50.0
    family = along(lab.draw, False, "noise", first, last, 4, logs=LOGS[False], **STRICT)
    return [replace(item, n_snr2=3.9 * first / item.noise) for item in family]


def _lengths(lab: Laboratory, benign: bool) -> Verdict:
    """The constant of T_3 for samples of two, three and four tokens, with C_p = 5 M^(1/2)."""
    family = []
    for M in (2, 3, 4):
        most = {"n_snr2": (2100.0 * M**3, 4000.0 * M**3)} if benign else {}  # 80 M^2 C_p^2 is 2000 M^3
        (more,) = lab.draw.points(f"lengths {M}", [{name: ends[0] for name, ends in most.items()}], most)
        family.append(base(lab.draw, benign, logs=LOGS[benign], M=M, **STRICT, **more))
    value = lambda item: time_constant(lab, item) * (1 if benign else item.case.C_p**2)  # noqa: E731
    seen = sweep(lab, "T_3 in the unit of the winner, for M = 2, 3, 4", family, value)
    limit, eps = 2.0 if benign else 1.0, STRICT["eps"]
    end = 1 / expm1(eps)  # e^v at the loss eps
    law = eps * (log(end) + end - 1)  # of v' = c sigma(-v) from v = 0
    because = (
        f"limits 2 and 1 of Beyond.MF.stage3, for every M, times eps (v + e^v - 1) at log(1 + e^-v) = eps, which is {law:.4f}; what is before "
        f"saturation is a few units of time: 3 eps = {3 * eps:g}"
    )
    return seen.between(limit * (law - 3 * eps), limit * (law + 3 * eps), because)


def _training(lab: Laboratory, benign: bool) -> Verdict:
    """T_3 is of the printed order in every parameter, and reached by drawn training sets within one constant."""
    most = 1.6e7 if benign else 2e4  # in the benign regime up to SNR < 1
    families = {"eps": (1e-5, 5e-3, 4), "N": (1024, most, 4), "w_O": (0.12, 8.0, 5), "wider": (1.0, 1e3, 4)}
    families |= {"n_snr2": (6e4, 6e8, 4) if benign else (1e-3, 4.0, 4)}
    value = lambda item: time_constant(lab, item)  # noqa: E731
    small = ("eps",) if benign else ("eps", "n_snr2")  # the harmful regime is N SNR^2 bounded: its limit is zero
    found = over_families(
        lab, "T_3 in its unit", benign, families, value, of_order("Theta", small), logs=LOGS[benign], **STRICT
    )
    if not benign:
        seen = of_order("Theta", (*small, "noise"))("noise", sweep(lab, "T_3 in its unit", _noise_alone(lab), value))
        found &= seen.adding(noise="sigma_p^2 d grows by three decades, and sigma_p falls by 1.6, since d grows")
    found &= _lengths(lab, benign)

    def event(run: Stages) -> np.ndarray:
        unit = run.unit if run.benign else run.unit / run.case.C_p**2
        ends = [s for s in run.third if s.time <= C_19 * unit / run.inside.eps]
        return np.asarray(ends[-1].loss <= run.inside.eps)

    what = f"the training loss is epsilon by the time {C_19:g} over epsilon, in its unit"
    return found & probable(lab, what, benign, event)


@book.claim(
    "D.7",
    "Convergence of the training loss",
    kind="order",
    uses=["Prop.F-I", "5.4", "Eq.62-71", "Eq.112-115"],
    where="Lemma D.7",
    parts=("loss at T",),
    hypotheses=(*IN_BENIGN, CLASSES),
    statement=r"\exists\,T=\frac{C_{19}}{\eta\epsilon\|\mu\|_2^2\|w_O\|_2^2}:\quad L_S(\theta(T))\le\epsilon",
    reading="The first time with loss epsilon is of this order, both ways; C_19 = 5 over drawn training sets.",
)
def training_converges(lab: Laboratory) -> Verdict:
    """The order of the time of fitting, and a constant that serves."""
    return reasoned(
        "D.7",
        _training(lab, True).with_constants(C_19=C_19, limit="2 as epsilon goes to 0, for every share of the classes"),
    )


#: a point inside, also with the logarithms of (1) written out, at which epsilon is far below SNR^2/N; and the largest C_19
TINY: dict[str, int | Fraction] = {
    "N": 4096,
    "mu": Fraction(1, 256),
    "d": 10**132,
    "d_h": 10**72,
    "sigma_p": Fraction(1, 10**66),
}
TINY |= {"sigma_V": Fraction(1, 10**23), "sigma_h": Fraction(6, 10**21), "eta": Fraction(1, 10**80)}
TINY |= {"eps": Fraction(1, 10**16), "delta": Fraction(1, 10**132)}
UP_TO = 10**6


@book.claim(
    "E.5",
    "Training loss in the harmful regime",
    kind="inequality",
    expect="fails",
    uses=["Prop.N-Q", "B.1", "C.2", "C.3", "C.4"],
    where="Lemma E.5",
    parts=("loss at T",),
    hypotheses=IN_HARMFUL,
    statement=r"\exists\,T=\frac{C_{19}N}{\eta\epsilon\sigma_p^2d\|w_O\|_2^2}:\quad L_S(\theta(T))\ge0.1",
    reading="C_19 does not depend on epsilon; by V alone the loss is below 0.1 after a time without epsilon. The proof, (174), and Theorem 4.2 have at most epsilon.",
)
def training_harmful(lab: Laboratory) -> Verdict:
    """A time without epsilon after which the loss is below 1/10, at a point inside; and the right statement."""
    point = exact_point(False) | TINY
    point |= {"n_snr2": Fraction(point["N"]) * point["mu"] ** 2 / (point["sigma_p"] ** 2 * point["d"])}
    unit = Fraction(point["N"]) / (point["eps"] * point["sigma_p"] ** 2 * point["d"] * point["w_O"] ** 2)
    least, eta = least_constant(point), ball(point["eta"])
    below, bent = time_below(point), second_derivative(point, ball(UP_TO * unit))
    steps = dissipation(lab) & least_of_a_sample() & large_derivative()
    sentence = (
        f"at N = {point['N']}, N SNR^2 = {say_number(point['n_snr2'])}, epsilon = {say_number(float(point['eps']))}, eta = {say_number(float(point['eta']))} (all hypotheses hold, (1) also with L^8) "
        f"the training loss is below 0.1 from eta t = {say_number(float(below))} on, with probability 1 - 3 delta (C.2, C.3, C.4), and eta T is {say_number(float(least * unit))} or more for C_19 from "
        f"132 N epsilon (SNR^-2 + 2(M - 1)) = {say_number(float(least))} to {UP_TO}; the lower end goes to zero with epsilon, and the upper one grows as eta falls"
    )
    wide = WIDE_FOR_EPSILON.holds(point | {"L": log(6 * point["N"] ** 2 * point["M"] ** 2 / point["delta"])})
    early, bounded = bool(below > 0) and bool(below < ball(least * unit)), bool(eta * bent < ball(Fraction(1, 100)))
    known = steps.as_stated == "holds" and early and bounded and wide
    wrong = refuted(Witness(sentence, point), steps.evidence) if known else undecided("another rate of the loss")
    wrong = wrong.proving(
        "a step of gradient descent lowers the loss by at least eta/2 times the squared gradient, where eta times the second derivative is at most 1",
        f"the steps up to T move the weights by at most (2 L_0 eta T)^(1/2), so that the second derivative B is at most {say_number(float(bent))}, and eta B at most {say_number(float(eta * bent))} (balls)",
        "the slope of the loss is at most 2 B^(1/2), so that a step is at most 0.2 eta^(1/2): the next step is within twice that way, where B is a bound",
        "events: C.2 for V, C.3 for queries and keys, C.4 for tokens, together of probability 1 - 3 delta; C_20 of the proof is sufficiently large, and so is C_19",
    )
    return wrong.correcting(
        r"L_S(\theta(T))\le\epsilon", _training(lab, False), "this is what the proof shows"
    ).blaming("misprint", "E.5-copied")


@book.claim(
    "E.5-time",
    "Time of fitting in the harmful regime",
    kind="order",
    uses=["Prop.N-Q"],
    repairs=["E.5"],
    origin="proof",
    where="Proof of Lemma E.5, (174)",
    parts=("loss at T",),
    hypotheses=(*IN_HARMFUL, CLASSES),
    statement=r"T=\frac{C_{19}N}{\eta\epsilon\sigma_p^2d\|w_O\|_2^2}:\quad L_S(\theta(T))\le\epsilon",
    reading="The first time with loss epsilon is of this order, both ways; C_19 = 5/C_p^2 over drawn training sets.",
)
def time_harmful(lab: Laboratory) -> Verdict:
    """The order of the time of fitting, and a constant that serves."""
    return reasoned(
        "E.5-time", _training(lab, False).with_constants(C_19=f"{C_19:g} / C_p^2", limit="1/C_p^2 as epsilon goes to 0")
    )


@book.claim(
    "5.4-time",
    "Time of fitting in the proof sketch",
    kind="order",
    expect="fails",
    uses=["5.4"],
    insensitive=NUMBERS,
    origin="text",
    where="Section 5.3, paragraph on convergence, with the T_3 of Lemma 5.4",
    parts=("plugging T_3 in",),
    hypotheses=IN_BENIGN,
    statement=r"T_3=\Theta\Big(\frac1{\eta\epsilon\|\mu\|_2^2\|w_O\|_2^2\log(6N^2M^2/\delta)}\Big)\ \text{in Lemma 5.4}:\quad |\mu_\pm^\top W_V^{(T_3)}w_O|\ge\log(\Theta(1/\epsilon))",
    reading="Lemma 5.4 at this T_3 gives one over epsilon and the logarithm, which is not of the order of one over epsilon.",
)
def time_with_logarithm(lab: Laboratory) -> Verdict:
    """T_3 put into the bound of Lemma 5.4."""
    eps, L, C, k, eta, mu, w, T = sp.symbols("eps L C k eta mu w T", positive=True)
    v = sp.Symbol("v", real=True)  # mu' W_V w_O at the end of stage 2
    term = C * eta * mu**2 * w**2 * T
    printed = k / (eta * eps * mu**2 * w**2 * L)
    inside = sp.cancel(term.subs(T, printed) * eps)  # over 1/eps
    point = exact_point(True)
    small, size = float(point["eps"]), log(6 * point["N"] ** 2 * point["M"] ** 2 / point["delta"])
    sentence = (
        f"at epsilon = {say_number(small)} and log(6N^2M^2/delta) = {say_number(size)} (all hypotheses hold) the term of Lemma 5.4 is "
        f"C times {say_number(1 / (small * size))} and 1/epsilon is {say_number(1 / small)}; the quotient goes to zero as the logarithm grows"
    )
    wrong = decided(sp.limit(inside, L, sp.oo) != 0, Witness(sentence, point))
    sizes = ("eta", "mu", "w")
    told = {
        "inside": (("C", *sizes, "v", "T"), sp.exp(v) + term),
        "time": (("k", "eta", "eps", "mu", "w", "L"), printed),
    }
    if wrong.as_stated == FAILS:
        wrong = wrong.by_theorems(COQ / "time_with_logarithm.v", told, alone=True)
    right = decided(sp.cancel(term.subs(T, printed * L) * eps - C * k) == 0, {}).proving(
        "without the logarithm the term is C k/epsilon, k the constant of T_3"
    )
    return wrong.correcting(
        r"T_3=\Theta(\eta^{-1}\epsilon^{-1}\|\mu\|_2^{-2}\|w_O\|_2^{-2})",
        right,
        "as in Theorem 4.1, Lemma D.7 and Appendix D.3",
    ).blaming("misprint", "logarithm-of-T_3")


# ---- the theorems --------------------------------------------------------------------------------------------------


def _test_loss(s: Snapshot) -> np.ndarray:
    """Test loss of each seed without the noise of fresh tokens, which D.8, D.9 and E.6 make small: mean over both labels."""
    M, total = s.batch.case.M, np.zeros(len(s.S))
    for k, sign in ((0, 1), (1, -1)):
        share = np.exp(s.S[:, k, k]) / (np.exp(s.S[:, k, k]) + M - 1)
        total += np.logaddexp(0, -sign * s.V[:, k] / M * (share + (M - 1) / M)) / 2
    return total


def population(lab: Laboratory) -> Verdict:
    """L_D falls at least like the printed power of epsilon, over three decades of it and for all widths."""
    families, power = {"eps": (1e-5, 5e-3, 4), "wider": (1.0, 1e3, 4)}, 1 / (2 * base(lab.draw, True).M ** 2)
    value = lambda item: fitted(lab, item.case, item.eps)["test_loss"]  # noqa: E731
    return over_families(
        lab, "the test loss", True, families, value, of_order("O", eps=power), logs=LOGS[True], **STRICT
    )


@book.claim(
    "Thm.4.1",
    "Benign overfitting",
    kind="order",
    main=True,
    uses=["D.7", "D.10", "C.1", "C.2", "C.3", "C.4", "D.5"],
    where="Theorem 4.1",
    parts=("training loss", "test loss"),
    hypotheses=(*IN_BENIGN, CLASSES),
    statement=r"N\cdot\mathrm{SNR}^2=\Omega(1)\Rightarrow\ \text{with probability at least}\ 1-d^{-1}\ \exists\,T=\Theta(\eta^{-1}\epsilon^{-1}\|\mu\|_2^{-2}\|w_O\|_2^{-2}):\ L_S(\theta(T))\le\epsilon,\ L_{\mathcal D}(\theta(T))\le o(1)",
    reading="Omega(1) is at least 80M^2C_p^2, as D.5 needs; T in epsilon, N, |w_O|, |mu| at fixed noise, and d_h; drawn sets given the class sizes of C.1.",
)
def benign(lab: Laboratory) -> dict[str, Verdict]:
    """Order of the time, power of the test loss, and both for drawn training sets."""

    def event(run: Stages) -> np.ndarray:
        M = run.case.M  # where the training loss is epsilon a class of N/4 has e^-V = 2 epsilon (Beyond.unbalanced)
        return np.asarray(_test_loss(run.third[-1]) <= (2 * run.inside.eps) ** ((2 * M - 1) / M**2))

    what = "the test loss at the end is at most 2 epsilon to the power (2M - 1)/M^2"
    loss = _training(lab, True).with_constants(**PROBABILITY)
    return reasoned("Thm.4.1", {"training loss": loss, "test loss": population(lab) & probable(lab, what, True, event)})


# ---- the harmful regime ----------------------------------------------------------------------------------------------


def _harmful_loss(lab: Laboratory, low: float, because: str) -> Verdict:
    """The test loss at the training loss eps over epsilon, widths, and N SNR^2 up to the end of the regime."""
    families = {"eps": (1e-5, 5e-3, 4), "wider": (1.0, 1e3, 4), "n_snr2": (0.1, 4.0, 4)}
    value = lambda item: fitted(lab, item.case, item.eps)["test_loss"]  # noqa: E731
    judge = lambda _, seen: seen.between(low, log(2) * (1 + SOLVER), because)  # noqa: E731
    return over_families(lab, "the test loss", False, families, value, judge, logs=LOGS[False], **STRICT)


@book.claim(
    "Thm.4.2",
    "Harmful overfitting",
    kind="order",
    main=True,
    uses=["E.5", "E.5-time", "E.6", "C.1", "C.2", "C.3", "C.4", "E.3"],
    where="Theorem 4.2",
    parts=("training loss", "test loss"),
    hypotheses=(*IN_HARMFUL, CLASSES),
    statement=r"N^{-1}\cdot\mathrm{SNR}^{-2}=\Omega(1)\Rightarrow\ \text{with probability at least}\ 1-d^{-1}\ \exists\,T=\Theta(N\eta^{-1}\epsilon^{-1}\sigma_p^{-2}d^{-1}\|w_O\|_2^{-2}):\ L_S(\theta(T))\le\epsilon,\ L_{\mathcal D}(\theta(T))=\Theta(1)",
    reading="The constant of Omega(1) is 1/4, which (144) needs; T in epsilon, N, |w_O|, |mu|, sigma_p, d_h; drawn sets given the class sizes of C.1.",
)
def harmful(lab: Laboratory) -> dict[str, Verdict]:
    """Order of the time, the test loss, and both for drawn training sets."""
    event = lambda run: _test_loss(run.third[-1]) >= 0.1  # noqa: E731
    loss = _harmful_loss(lab, 0.1, "a loss of order one: at least 0.1 as in Lemma E.6, and at most log 2")
    return reasoned(
        "Thm.4.2",
        {
            "training loss": _training(lab, False).with_constants(**PROBABILITY),
            "test loss": loss & probable(lab, "the test loss is at least 0.1", False, event),
        },
    )


@book.claim(
    "Thm.4.1-4.2-hypotheses",
    "The constants of the two regimes",
    kind="identity",
    uses=["D.5", "E.3"],
    origin="ours",
    insensitive=NUMBERS,
    hypotheses=(),
    statement=r"N\cdot\mathrm{SNR}^2>60M^2C_p^2=1500M^3\ \text{(benign)},\quad N\cdot\mathrm{SNR}^2\le4\ \text{(harmful)}",
    reading="The constants that make the printed exit times positive and (144) true; between them neither theorem says anything.",
)
def constants_of_regimes(lab: Laboratory) -> Verdict:
    """Roots of the printed conditions."""
    least, most = benign_least(), harmful_most()
    M, C2 = sp.symbols("M C2", positive=True)
    inside = sp.expand(least.subs(C2, 25 * M))
    return (
        decided(inside == 1500 * M**3 and most == 4, {"benign": str(inside), "harmful": str(most)})
        .stating({"benign": (least, "=", 1500 * M**3)}, at={C2: 25 * M})
        .stating(
            {"(144) at equality": (ETA * MU2 / (2 * M_), "=", 2 * ETA * NOISE / (N_ * M_))}, at={MU2: 4 * NOISE / N_}
        )
        .proving("zero of the denominator of T_1 in D.5, with C_p^2 = 25M", "equality in (144)")
        .with_constants(benign=str(inside), harmful=str(most))
    )
