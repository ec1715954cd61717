"""The two theorems and the lemmas about the end of training: mean field and drawn trajectories inside Condition 4.1."""

from __future__ import annotations

from dataclasses import replace
from math import expm1, inf, log

import numpy as np
import sympy as sp

from odesys import (
    IntegrationError,
    Measurement,
    Verdict,
    Witness,
    decided,
    equal,
    graph,
    identity,
    say_number,
)

from ..laboratory import Laboratory
from ..protocol import columns_of
from ..setting import Case
from ..special.conditions import Inside
from ..special.mean_field import boundary
from ..special.wide_flow import Snapshot
from .book import NUMBERS, book, on_toy, read_off, tables
from .common_drawn import Stages, probable, stages, unit_time
from .common_formulas import benign_least, harmful_most
from .common_hypotheses import CLASSES, IN_BENIGN, IN_HARMFUL, STRICT, along, base, exact_point, points
from .common_mean_runs import (
    fitted,
    of_order,
    over_families,
    run_to,
    sweep,
    time_constant,
    together,
)
from .common_reasons import reasoned

SOLVER = 1e-4  # relative error of a mean-field run, whose tolerance is 1e-6 per step
#: of d_h, benign and harmful: forces are differences of nearly equal values times d_h^(1/2), which floats end; the harmful
#: regime has SNR^-4 = N^2/(N SNR^2)^2 in d_h
LOGS = {True: 5.0, False: 3.0}
C_19 = 5.0  # the limit is 2 for every share of the classes (Beyond.unbalanced); records are a factor 1.2 apart


#: of the drawn training sets, N = 20 to 30; all runs of the mean field have N >= 8 log(4d)
PROBABILITY = {
    "probability": "given class sizes from N/4 to 3N/4, which have 1 - 1/d where N >= 8 log(4d), by Lemma C.1"
}


def _noise_alone(lab: Laboratory) -> list[Inside]:
    """Points along sigma_p in the harmful regime at which |mu| and kappa are the same."""
    first, last = 0.05, 50.0
    family = along(lab.draw, False, "noise", first, last, 4, logs=LOGS[False], **STRICT)
    return [replace(item, n_snr2=4.0 * first / item.noise) for item in family]


def _lengths(lab: Laboratory, benign: bool) -> Verdict:
    """The constant of T_3 for samples of two, three and four tokens, with C_p = 5 M^(1/2)."""
    least = {M: {"n_snr2": 2100.0 * M**3} if benign else {} for M in (2, 3, 4)}  # 80 M^2 C_p^2 is 2000 M^3
    family = [base(lab.draw, benign, logs=LOGS[benign], M=M, **STRICT, **more) for M, more in least.items()]
    value = lambda item: time_constant(lab, item) * (1 if benign else item.case.C_p**2)  # noqa: E731
    seen = sweep(lab, "T_3 in the unit of the winner, for M = 2, 3, 4", family, value)
    limit = 2.0 if benign else 1.0
    because = (
        "limits 2 and 1 of Beyond.MF.stage3, for every M: eps (v + e^v) at the loss eps is 1 + eps log(1/eps), that is 1.03 here, and what is "
        "before saturation a few eps = 0.005"
    )
    return seen.between(0.9 * limit, 1.1 * limit, because)


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
        found &= of_order("Theta", small)("noise", sweep(lab, "T_3 in its unit", _noise_alone(lab), value))
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
        "D.7", _training(lab, True).with_constants(C_19=C_19, limit="2 as epsilon goes to 0, with balanced classes")
    )


@book.claim(
    "E.5",
    "Training loss in the harmful regime",
    kind="inequality",
    expect="fails",
    uses=["Prop.N-Q"],
    where="Lemma E.5",
    parts=("loss at T",),
    hypotheses=IN_HARMFUL,
    statement=r"\exists\,T=\frac{C_{19}N}{\eta\epsilon\sigma_p^2d\|w_O\|_2^2}:\quad L_S(\theta(T))\ge0.1",
    reading="C_19 does not depend on epsilon; the proof, (174), and Theorem 4.2 have at most epsilon.",
)
def training_harmful(lab: Laboratory) -> Verdict:
    """The loss at T as epsilon goes to zero, and the right statement."""
    family = along(lab.draw, False, "eps", 1e-5, 5e-3, 4, logs=0.0, N=STRICT["N"])

    def loss(item: Inside) -> float:
        run = run_to(lab, item.case, 0.01 * item.eps)
        return float(columns_of(run, np.array([0.0, unit_time(item.case, False) / item.eps]))["loss"][-1])

    seen = sweep(lab, "the training loss at T with C_19 = 1", family, loss)
    wrong = seen.between(0.1, inf, "the printed bound; the loss at T is a multiple of epsilon, whatever C_19 is")
    sentence = (
        f"at epsilon = {say_number(family[0].eps)} and C_19 = 1 (all hypotheses hold) the training loss at T is {say_number(float(seen.values[0, 0]))}; "
        "it falls in proportion to epsilon/C_19, so that no C_19 keeps it above 0.1"
    )
    return reasoned(
        "E.5",
        (
            wrong.witnessed(sentence, points(family)[0])
            .correcting(r"L_S(\theta(T))\le\epsilon", _training(lab, False), "this is what the proof shows")
            .blaming("misprint", "E.5-copied")
        ),
    )


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
    eps, L, C, unit = sp.symbols("eps L C unit", positive=True)
    inside = sp.cancel(C * unit / (eps * unit * L) * eps)  # over 1/eps
    point = exact_point(True)
    small, size = float(point["eps"]), log(6 * point["N"] ** 2 * point["M"] ** 2 / point["delta"])
    sentence = (
        f"at epsilon = {say_number(small)} and log(6N^2M^2/delta) = {say_number(size)} (all hypotheses hold) the term of Lemma 5.4 is "
        f"C times {say_number(1 / (small * size))} and 1/epsilon is {say_number(1 / small)}; the quotient goes to zero as the logarithm grows"
    )
    wrong = decided(sp.limit(inside, L, sp.oo) != 0, Witness(sentence, point))
    right = decided(sp.cancel(C * unit / (eps * unit) * eps - C) == 0, {}).proving(
        "without the logarithm the term is C/epsilon"
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
        .proving("zero of the denominator of T_1 in D.5, with C_p^2 = 25M", "equality in (144)")
        .with_constants(benign=str(inside), harmful=str(most))
    )


# ---- experiments -----------------------------------------------------------------------------------------------------


@book.claim(
    "Sec.6-data",
    "Section 6 draws noise without the projection",
    kind="identity",
    uses=["Def.B.3"],
    origin="ours",
    hypotheses=(),
    statement=r"\xi_2\sim N(0,\tilde\sigma_p^2I)\ \text{for}\ N(0,\tilde\sigma_p^2\Pi):\quad \alpha_{+,-}=\eta\langle\mu_+,\xi\rangle H_{\xi,-}\ne0",
    reading="Two of 1024 directions; then a coefficient joins mu_+ to the other class, which Definition B.3 leaves out.",
)
def unprojected_noise(lab: Laboratory) -> Verdict:
    """The zero pattern with the projection, and the coefficient without it."""
    toy = lab.flow(2, "unprojected")
    bad, t = read_off(toy, True), tables(toy, 2)
    right, places = t.G @ t.H(), ((0, 1), (0, 3))
    size = equal({f"{i},{j}": (bad[i, j], right[i, j]) for i, j in places})
    good = read_off(lab.flow(2), True)
    alive = decided(not any(bad[i, j] is graph.ZERO for i, j in places), {"coefficient": "zero"})
    return on_toy(size & alive & identity({f"{i},{j}": good[i, j] for i, j in places}), 2)


@book.claim(
    "App.A-parameters",
    "Parameters of figures 3 and 4",
    kind="identity",
    origin="ours",
    insensitive=NUMBERS,
    hypotheses=(),
    statement=r"\sigma_p=0.05,\ \tilde\sigma_p=1,\ M=4:\quad C_p=20=2\cdot5\sqrt M,\quad N\cdot\mathrm{SNR}^2=439\ \text{in the harmful example}",
    reading="The figures are outside condition (10); their harmful example has N SNR^2 above 4, but N mu^2 below twice sigma~_p^2 d.",
)
def appendix_parameters(lab: Laboratory) -> Verdict:
    """C_p of appendix A, and the quantity that decides its regime."""
    C_p, snr2 = sp.Rational(1) / sp.Rational(5, 100), sp.Rational(10 * 15**2) / (sp.Rational(25, 10**4) * 2048)
    balance = snr2 / (2 * C_p**2)
    return decided(C_p == 2 * 5 * sp.sqrt(4) and balance < 1 < snr2 / 4, {"C_p": str(C_p), "r": str(balance)}).proving(
        f"C_p = 20, N SNR^2 = {float(snr2):.1f} and N mu^2/(2 sigma~_p^2 d) = {float(balance):.3f}"
    )


@book.claim(
    "Beyond.drawn",
    "Mean field against drawn training sets",
    kind="order",
    uses=["Thm.4.1", "Thm.4.2"],
    origin="ours",
    hypotheses=IN_BENIGN[:-1],
    statement=r"V_\pm\ \text{and}\ V_{n,2}\ \text{at the training loss}\ \epsilon:\ \text{drawn sets with random labels}=\text{mean field}",
    reading="Mean over both signals, each less log(2N_+-/N) (Beyond.unbalanced), or over all first noise tokens, at the last record of drawn trajectories.",
)
def against_drawn(lab: Laboratory) -> Verdict:
    """The winner's value of both."""
    seeds = lab.draw.seeds(20)

    def gap(benign: bool) -> Measurement:
        item, name = base(lab.draw, benign), "v_s" if benign else "v_2"
        last = stages(item, seeds).third[-1]
        run = run_to(lab, item.case, 0.3 * item.eps)
        theory = float(columns_of(run, np.array([0.0, last.time]))[name][-1])
        y = last.batch.y
        shift = np.log(2 * np.stack([(y > 0).mean(axis=1), (y < 0).mean(axis=1)], axis=1))
        v = (np.abs(last.V[:, :2]) - shift).mean(axis=1) if benign else last.values[:, :, 1].mean(axis=1)
        return Measurement("value of the winner less that of the mean field", [item.point], [v - theory], seeds)

    because = "the limit v + e^v of a class is reached up to v e^-v, at most 0.05 at the losses of drawn classes of N/4"
    return together(gap(benign).between(-0.05, 0.05, because) for benign in (True, False))


@book.claim(
    "Beyond.boundary",
    "Phase boundary",
    kind="order",
    uses=["Thm.4.1", "Thm.4.2"],
    origin="ours",
    level="full",
    hypotheses=(),
    statement=r"N\mathrm{SNR}^2=2C_p^2r^*,\quad r^*_{\mathrm{lazy}}=\tfrac\theta{1-\theta}\big(1+\tfrac{M-2}{C_p^2}\big),\ \theta=\tfrac{\log(e^{0.2}-1)}{\log(e^\epsilon-1)}",
    reading="Level 0.2 of the test loss at epsilon = 0.01, M = 3, C_p = 4: with nearly still scores the balance r* is the closed form.",
)
def phase_boundary(lab: Laboratory) -> Verdict:
    """Roots of the test loss, at several N."""
    theta = log(expm1(0.2)) / log(expm1(0.01))
    closed = theta / (1 - theta) * (1 + 1 / 16)

    def root(N: int) -> float:
        case = replace(Case(8, 3, 1000, 100, 10.0, 1.0, 4.0), N=N, kappa=1e-5 / 16)
        loss = lambda c: float(lab.mean_run(c, 0.01).final["test_loss"])  # noqa: E731
        try:
            return boundary(case, 0.01, loss=loss) / closed
        except ValueError as error:
            raise IntegrationError(f"the test loss does not cross 0.2: {error}", time=0.0) from error

    where = lab.draw.points("samples", [{"N": 8}, {"N": 24}], {"N": (4, 40)})
    family = [{"N": 2 * round(p["N"] / 2)} for p in where]
    seen = Measurement("the balance over its closed form", family, [root(p["N"]) for p in family])
    return seen.between(0.998, 1.002, "scores move by 10^-5 of what saturates them; forty times the root's tolerance")
