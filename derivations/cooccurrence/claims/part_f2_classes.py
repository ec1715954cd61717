"""Appendix F, the classes in phase 2: Definition F.1, balance of the class sums, sub-networks and the loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.special import expit

from odesys import Verdict, agrees, combine_verdicts, graph, in_turn, integrate, measured, rounded, sym

from .. import setting
from ..laboratory import Laboratory
from ..special.phases import PhaseTwo, phase_two
from ..special.standard_runs import SCALE, T1, TAUS, L, N, other_standard, standard_pairs
from ..special.trained_network import word_weights
from ..special.trajectories import Course, class_sums, planar_run, values_along
from .book import book
from .common_readings import NETWORKS, OTHERS, late, late_ranges, twice, twice_others
from .part_b_c_system import beta_rate

REGRESSION = "limit runs agree to 1e-6 with logistic regression on the four bags of words of Definition 2.1, integrated by itself"


def margin_constants(n: int = N, length: int = L) -> dict[str, Fraction]:
    """Closed forms of Beyond.finite_n, I4 not at the margin: what multiplies ln(tau) in G(mu1) (``s``), in -G(mu3) (``c``)
    and in |G| of an irrelevant word of I1 and I2 (``r1``, ``r2``), and the limit of loss times tau (``loss``).
    """
    a, b = Fraction(2 * (length - 3), n), Fraction(6 * (length - 2), n)
    delta = 1 + 3 * a + 3 * b + a * b
    first, second = (7 + b) / delta, (5 + a) / delta
    return {
        "s": first - second,
        "c": 2 * second - first,
        "r1": 2 * first / n,
        "r2": 6 * second / n,
        "loss": first + 2 * second,
    }


def irrelevant_growth() -> dict[int, float]:
    """(L - k) alpha_c at n = 48, L = 4: what multiplies ln(tau) in the irrelevant part of outputs on I1 and I2."""
    exact = margin_constants()
    return {c: float(exact[f"r{c}"]) * (L - len(setting.SPECIAL[c])) for c in (1, 2)}


def phase_two_constants() -> PhaseTwo:
    """Items (i) and (j) grow like log(tau): twice what the hard margin at this n gives at the last time."""
    last = float(np.log(TAUS[-1]))
    return PhaseTwo(
        signals=2 * last * float(margin_constants()["c"]) / float(np.log(SCALE.m)),
        irrelevant=2 * last * max(irrelevant_growth().values()),
    )


def phase_two_ratios(run: Course) -> dict[str, np.ndarray]:
    """Used over allowed of each item of Definition F.1, along the times of phase 2."""
    return {name: late(run, ratio) for name, ratio in phase_two(run, phase_two_constants()).ratios.items()}


@book.claim(
    "F.1",
    "Phase 2",
    kind="definition",
    uses=["E.27"],
    statement=r"[T_1,T_2]:\ \text{ten items: keys, softmax, }\beta,\ \text{gradient of}\ W,\ \text{softmax part, order of class sums, balance, margins},\ |G|,\ \text{irrelevant part}",
    reading=f"the predicate with constants 1, 1, 2, 1/10, 1/10, order, 2, 1/10 for (a) .. (h) holds at all times; (i) and (j) grow like log(tau), so their constants go with the "
    f"horizon: twice what the closed form of Beyond.finite_n gives at tau = 1000; {NETWORKS}",
)
def phase_two_holds(lab: Laboratory) -> Verdict:
    """Largest ratio of each item over all runs."""
    found, same = twice(standard_pairs(lab), phase_two_ratios)
    worst = {name: max(float(row[name].max()) for row in found) for name in found[0]}
    return combine_verdicts(
        {
            "items": measured(max(worst.values()) <= 1, rounded(worst), used_over_allowed=rounded(worst, 3)),
            "as trained": same,
        }
    )


@book.claim(
    "F.3",
    "Phase 2 begins",
    kind="existence",
    uses=["F.1", "E.28"],
    statement=r"\text{all items of Definition F.1 hold strictly at}\ T_1",
    reading=f"at the first recorded time after tau = {T1:g} every item is below 0.9 of what is allowed; {NETWORKS}",
)
def phase_two_begins(lab: Laboratory) -> Verdict:
    """The predicate at T_1."""
    found, same = twice(
        standard_pairs(lab), lambda run: {name: float(r[0]) for name, r in phase_two_ratios(run).items()}
    )
    worst = {name: max(row[name] for row in found) for name in found[0]}
    return combine_verdicts(
        {"items": measured(max(worst.values()) < 0.9, rounded(worst), at_T1=rounded(worst, 3)), "as trained": same}
    )


def _spread(run: Course) -> np.ndarray:
    """Largest g_i / g_j - 1 of two samples of a class."""
    return np.max([run.g[:, p].max(axis=1) / run.g[:, p].min(axis=1) for p in run.classes.values()], axis=0) - 1


@book.claim(
    "F.2",
    "Gradients inside a class",
    kind="order",
    uses=["F.1"],
    statement=r"\max_{i,j\in I_c}g_i/g_j\le O(1)",
    reading=f"the excess over 1 stays below {OTHERS.replace('seeds 10-12', 'seeds 10, 11')} in phase 2; {NETWORKS}; the ratio scales like exp(O(c0)), with c0 = 1 it reaches 5",
)
def inside_class(lab: Laboratory) -> Verdict:
    """Largest ratio of two samples of a class."""
    limit = twice_others(lambda run: late(run, _spread(run)), other_standard())
    return late_ranges(lab, {"excess": (_spread, -1e-9, limit)}).with_constants(C=rounded(1 + limit, 4))


@book.claim(
    "F.4",
    "Summed correlations grow",
    kind="inequality",
    uses=["Eq.5", "F.1"],
    statement=r"\dot\beta=\tfrac{2m_1}n\sum g_iy_iF_i>0\ \text{if all margins are positive},\ \beta=\Omega(\sigma_1^2mm_1)",
    reading=f"the identity is Eq. (5), a sum of positive terms; beta grows at every recorded time and stays within [1/2, 2] of sigma_1^2 m m1; {NETWORKS}",
)
def beta_grows(lab: Laboratory) -> Verdict:
    """Eq. (5), and beta along networks."""
    found, same = twice(standard_pairs(lab), lambda run: np.diff(late(run, run.beta)))
    smallest = min(float(c.min()) for c in found)
    grows = measured(smallest > 0, {"smallest step": smallest})
    return combine_verdicts(
        {
            "identity": beta_rate(lab),
            "grows": grows & same,
            "size": late_ranges(lab, {"beta / B": (lambda run: run.beta / SCALE.B, 0.5, 2.0)}),
        }
    )


@book.claim(
    "F.5",
    "One-target classes balance",
    kind="order",
    uses=["Eq.12", "F.5-proof", "F.5-bound", "F.1"],
    statement=r"|S_2-S_3|/\min(S_2,S_3)\le C\ll1\ \text{on}\ [T_1,T_2]",
    reading=f"C = 0.1, and at tau = 1000 below 0.002; n -> infinity from G(0) = (0.3, -0.3, 0.1): |S_2/S_3 - 1| falls below 1e-3 by tau = 1000; {REGRESSION}; {NETWORKS}",
)
def one_target_balance(lab: Laboratory) -> Verdict:
    """The ratio along networks and from an asymmetric start."""
    found, same = twice(
        standard_pairs(lab), lambda run: late(run, np.abs(run.S[2] - run.S[3]) / np.minimum(run.S[2], run.S[3]))
    )
    worst, last = max(float(r.max()) for r in found), max(float(r[-1]) for r in found)
    networks = same & measured(worst < 0.1 and last < 2e-3, {"worst": worst, "last": last})
    return in_turn({"networks": lambda: networks, "limit": lambda: _balance_of_the_limit(lab)}).with_constants(
        C=rounded(worst, 4)
    )


def _balance_of_the_limit(lab: Laboratory) -> Verdict:
    """S_2 / S_3 from an asymmetric start at n -> infinity."""
    system, taus = lab.large_n(), (1.0, 10.0, 100.0, 1000.0)
    start = {"G_s1": 0.3, "G_s2": -0.3, "G_c": 0.1}
    free = integrate(system, [start[n] for n in system.names], (0.0, 1000.0), rtol=1e-10, method="LSODA")
    s = class_sums(system)
    ratio = values_along(free, s[2] / s[3], taus)
    G = word_weights((0.3, -0.3, 0.1), taus)
    known = expit(G[:, 0] + G[:, 2]) / expit(G[:, 1] + G[:, 2])
    fine = measured(bool(abs(ratio[-1] - 1) < 1e-3), {"S2/S3": ratio.tolist()}, S2_over_S3=rounded(ratio, 5))
    return fine & agrees(ratio, known, 1e-6, "regression")


@book.claim(
    "4.4",
    "One-target classes balance (short)",
    kind="order",
    same_as="F.5",
    uses=["F.5"],
    statement=r"|S_2-S_3|/\min(S_2,S_3)\le C\ll1",
    reading="as F.5",
)
def one_target_balance_again(lab: Laboratory) -> Verdict:
    """The same statement."""
    return one_target_balance(lab)


@book.claim(
    "F.6",
    "Automatic balancing",
    kind="order",
    uses=["Eq.13", "Eq.15", "Eq.16", "F.6-root", "F.5", "E.19"],
    statement=r"\tfrac{\sum g}{S_2+S_3+S_4-S_1},\ \tfrac{\sum g}{S_1-S_2},\ \tfrac{\sum g}{S_1-S_3}=O(1),\ \dot G_1/\dot G_2=\Theta(1),\ (1+C)\max(\dot G_1,\dot G_2)\le-\dot G_3\le(1-C)(\dot G_1+\dot G_2)",
    reading=f"networks: the three quotients below 12, 15, 15, dG_1/dG_2 in (0.8, 1.25), R in (1.1, 1.8); n -> infinity: the sign of dR/dtau is that of R* - R at 60 times "
    f"in [15, 1e5], where R agrees to 1e-6 with that of the regression on bags of words; E.19 supplies R(T_1) < 2, which the printed R(T_1) in [1, 3] does not; {NETWORKS}",
)
def balancing(lab: Laboratory) -> Verdict:
    """Quotients along networks, and contraction to the root on the limit."""

    def share(run: Course, part: np.ndarray) -> np.ndarray:
        return sum(run.S.values()) / part

    ranges = late_ranges(
        lab,
        {
            "to common": (lambda r: share(r, r.S[2] + r.S[3] + r.S[4] - r.S[1]), 0, 12),
            "to mu1": (lambda r: share(r, r.S[1] - r.S[2]), 0, 15),
            "to mu2": (lambda r: share(r, r.S[1] - r.S[3]), 0, 15),
            "dG1/dG2": (lambda r: r.G_rate[:, 0] / r.G_rate[:, 1], 0.8, 1.25),
            "R": (lambda r: r.R(), 1.1, 1.8),
        },
    )
    return in_turn({"networks": lambda: ranges, "root": lambda: _contraction(lab)})


def _contraction(lab: Laboratory) -> Verdict:
    """sign of dR/dtau against sign of R* - R along the planar limit."""
    run = planar_run(lab)
    system = run.system
    rhs = system.equations
    R = rhs["z"] / rhs["x"]
    slopes = graph.gradient(R, [sym(n) for n in system.names])
    rate = graph.add([s * r for s, r in zip(slopes, system.nodes, strict=True)])
    A = {
        c: -s * (1 - graph.call("sigmoid", -system.observables[f"margin_I{c}"])) for c, s in class_sums(system).items()
    }
    taus = np.geomspace(15, 1e5, 60)
    a, b, c = (values_along(run, node, taus) for node in (A[1] + A[2], A[3] + A[4] - A[1], -A[2] - A[3] - 2 * A[1]))
    root = -b / (2 * a) + np.sqrt(b**2 / (4 * a**2) - c / a)
    ratio = values_along(run, R, taus)
    sign = np.sign(values_along(run, rate, taus)) == np.sign(root - ratio)
    same = agrees(ratio, _regression_rates(taus)[1], 1e-6, "regression")
    return same & measured(
        bool(sign.all()), {"agreeing": int(sign.sum())}, root_range=rounded([root.min(), root.max()], 5)
    )


def _regression_rates(taus: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-dL/dtau / L^2 and R of the regression on bags of words: the loss falls by the square of the rates."""
    G = word_weights((0.0, 0.0, 0.0), tuple(taus.tolist()))
    margins = np.array([2 * G[:, 0] + G[:, 2], -G[:, 0] - G[:, 2], -G[:, 2]])
    s = np.array([1 / 2, 1 / 6, 1 / 6])[:, None] * expit(-margins)
    rates = np.array([s[0] - s[1], s[0] - 2 * s[1] - s[2]])
    loss = np.logaddexp(0, -margins[0]) / 2 + np.logaddexp(0, -margins[1]) / 3 + np.logaddexp(0, -margins[2]) / 6
    return (2 * rates[0] ** 2 + rates[1] ** 2) / loss**2, -rates[1] / rates[0]


@book.claim(
    "4.5",
    "Automatic balancing (short)",
    kind="order",
    same_as="F.6",
    uses=["F.6"],
    statement=r"\tfrac{\sum g}{S_2+S_3+S_4-S_1},\ \tfrac{\sum g}{S_1-S_2}=O(1)\ \text{and the sandwich of}\ R",
    reading="part of F.6",
)
def balancing_again(lab: Laboratory) -> Verdict:
    """The same statement."""
    return balancing(lab)


@book.claim(
    "F.7",
    "Sub-networks are comparable",
    kind="order",
    uses=["F.6", "E.27"],
    statement=r"\tfrac{G_1}{G_2},\ \tfrac{G_1}{-G_3},\ \tfrac{G_2}{-G_3}=\Theta(1)",
    reading=f"networks: in (0.9, 1.1), (0.6, 1), (0.6, 1); the limit is 2/3 at n -> infinity, by Beyond.svm, and the ratios at tau = 1000 are within 0.1 of the closed form of Beyond.finite_n at this n; {NETWORKS}",
)
def comparable(lab: Laboratory) -> Verdict:
    """Ratios along networks."""
    here = margin_constants()
    limit = here["s"] / here["c"]
    ratios = {"G1/G2": (0, 1, 0.9, 1.1, 1), "G1/-G3": (0, 2, 0.6, 1.0, -1), "G2/-G3": (1, 2, 0.6, 1.0, -1)}
    ranges = late_ranges(
        lab,
        {
            name: (lambda r, i=i, j=j, s=s: s * r.G[:, i] / r.G[:, j], low, high)  # type: ignore[misc]
            for name, (i, j, low, high, s) in ratios.items()
        },
    )  # type: ignore[misc]
    ends = [float(-run.G[-1, k] / run.G[-1, 2]) for run, _ in standard_pairs(lab) for k in (0, 1)]
    near = measured(
        all(abs(e - limit) < 0.1 for e in ends),
        {"at 1000": rounded(ends), "limit": str(limit)},
        at_1000=rounded(ends, 4),
    )
    return combine_verdicts({"ranges": ranges, "limit": near}).with_constants(
        limit_at_infinite_n="2/3", limit_at_this_n=str(limit)
    )


@book.claim(
    "F.8",
    "The loss falls like 1/t",
    kind="order",
    uses=["F.6", "F.8-ratio"],
    statement=r"\hat{\mathcal L}(t)=\frac1{\Theta(\sigma_1^2mm_1)(t-T_1)+1/\hat{\mathcal L}(T_1)}",
    reading=f"the number -dL/dtau / L^2 stays in (0.05, 0.2) along networks and in (0.05, 1/17 + 0.0001) on the limit n -> infinity for tau in [20, 1e6]; {REGRESSION}; the first display of the "
    f"proof is F.8-display; {NETWORKS}",
)
def loss_falls(lab: Laboratory) -> Verdict:
    """Speed of 1/loss."""

    def speed(run: Course) -> np.ndarray:
        xi, D = run.forces
        spent = np.einsum("ka,ka->k", xi, run.G_rate) + np.einsum("kab,kab->k", D, run.rate("KQ"))
        return spent / run.loss**2

    networks = late_ranges(lab, {"network": (speed, 0.05, 0.2)})
    return in_turn({"networks": lambda: networks, "limit": lambda: _speed_of_the_limit(lab)})


def _speed_of_the_limit(lab: Laboratory) -> Verdict:
    """-dL/dtau / L^2 at n -> infinity."""
    limit, taus = planar_run(lab), np.geomspace(20, 1e6, 80)
    rhs = limit.system.equations
    loss = limit.system.observables["loss"]
    slopes = graph.gradient(loss, [sym(n) for n in limit.system.names])
    rate = -graph.add([s * r for s, r in zip(slopes, rhs.values(), strict=True)])
    found = values_along(limit, rate / loss**2, taus)
    inside = measured(
        bool(found.min() > 0.05 and found.max() < 1 / 17 + 1e-4),
        {"limit": rounded([found.min(), found.max()])},
        limit=rounded([found.min(), found.max()], 5),
    )
    return inside & agrees(found, _regression_rates(taus)[0], 1e-6, "regression")


@book.claim(
    "F.20",
    "Near-zero loss is reached in phase 2",
    kind="existence",
    uses=["F.1", "F.8"],
    statement=r"T^\star\in[T_1,T_2]",
    reading=f"loss <= 0.02 is reached before tau = 1000 while the predicate of F.1 holds; n -> infinity: tau times loss at loss = 1e-3, 1e-5 within 1 percent of 17; {REGRESSION}; {NETWORKS}",
)
def small_loss(lab: Laboratory) -> Verdict:
    """The event along networks and on the limit."""

    def read(run: Course) -> dict[str, np.ndarray | float]:
        reached = run.taus[run.loss <= 0.02]
        ok = reached.size > 0 and all((r <= 1).all() for r in phase_two_ratios(run).values())
        return {"time": float(reached[0]) if ok else np.inf, "loss": run.loss}

    found, same = twice(standard_pairs(lab), read)
    times = [row["time"] for row in found]
    networks = same & measured(max(times) < 1000, {"tau": times}, tau=rounded(times))
    return in_turn({"networks": lambda: networks, "limit": lambda: _loss_of_the_limit(lab)})


def _loss_of_the_limit(lab: Laboratory) -> Verdict:
    """tau times loss at two losses at n -> infinity."""
    limit, grid = planar_run(lab), np.geomspace(1e3, 1e7, 400)
    loss = values_along(limit, limit.system.observables["loss"], grid)
    products = [float(e * np.exp(np.interp(-np.log(e), -np.log(loss), np.log(grid)))) for e in (1e-3, 1e-5)]
    G = word_weights((0.0, 0.0, 0.0), tuple(grid.tolist()))
    known = (
        np.logaddexp(0, -2 * G[:, 0] - G[:, 2]) / 2
        + np.logaddexp(0, G[:, 0] + G[:, 2]) / 3
        + np.logaddexp(0, G[:, 2]) / 6
    )
    near = measured(all(abs(p / 17 - 1) < 0.01 for p in products), {"products": products}, products=rounded(products))
    return near & agrees(loss, known, 1e-6, "regression")
