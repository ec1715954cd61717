"""Appendix F, attention in phase 2: softmax, keys and queries, and how little they move the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from odesys import FAILS, HOLDS, Verdict, measure, measured

from ..laboratory import Laboratory
from ..special.attention_sums import attention_pull, irrelevant_softmax, key_bound, softmax_bound, softmax_rate
from ..special.ensembles import attention_change
from ..special.quadratures import log_squared, quadrature_run
from ..special.sample_sums import Sums, limit_sums
from .book import book
from .common_hypotheses import PHASES
from .common_limit import states, whole_six
from .common_runs import (
    ALL,
    LAST,
    M1,
    SEEDS,
    SIGN,
    SIZES,
    T1,
    TAUS,
    L,
    always,
    late,
    likely,
    logarithm,
    named,
    networks,
    ordered,
    path,
    phase_two,
    scale_at,
    settling,
    two_routes,
)
from .part_f2_classes import LOGARITHM, MATRICES
from .part_f4_scores import GROWTH, LEADING, REACH, score_constants

SOFTMAX_TRIED = "tried: dp = p(ds - sum p ds) by G.1 (proved) with ds of F.16, whose rates at leading order are exact but have measured factors"
OUTPUT_TRIED = "tried: |G| <= C log m and the rate of p of F.17 give it; item (i) of F.1 and F.17 are measured"
KEYS_TRIED = "tried: row sums of D times the largest score at the start, as E.25 is certified up to T_1; later int |D| is of order log^2(t), which rests on F.7 and F.8"


def attention_speed(run: Any, key: int) -> np.ndarray:
    """d p(q mu1, k mu2 or mu3)/dt on I1, for mu3 on I2 too, over loss sigma_0^2 m / L^2, with its sign, in phase 2."""
    columns = []
    for kind in (1,) if key == 1 else (1, 2):
        if isinstance(run, Sums):
            mean = softmax_rate(run, kind, 0, key).mean(axis=1)
        else:
            places = [(i, run.tokens[i].tolist()) for i in run.classes[kind]]
            found = [run.attention_rate[:, i, tokens.index(0), tokens.index(key)] for i, tokens in places]
            mean = np.mean(found, axis=0) * run.scale.B
        columns.append(late(run, (1 if key == 1 else -1) * mean * run.L**2 / (run.loss * run.scale.k0)))
    return np.concatenate(columns)


def softmax_sizes(lab: Laboratory, key: int) -> Verdict:
    """m times the rate over its order along n and L lies in a band, and its gap to the limit n to infinity does not grow.

    In that limit G does not know L and no sample has a weight of its own, so that the rate is a quadratic polynomial in
    1/L: three lengths give it for all L, and with it both ends of the band.
    """

    def read(run: Any) -> np.ndarray:
        return attention_speed(run, key) * float(run.scale.m)

    held = {name: value for name, value in path(lab, "L")[0].items() if name != "L"}
    rows = [np.asarray(read(limit_sums(lab, length, scale_at({**held, "L": length}), TAUS))) for length in (4, 8, 16)]
    fits = np.linalg.solve(np.vander([1 / 4, 1 / 8, 1 / 16], 3), np.array(rows))
    inverse = np.linspace(0, 1 / 4, 101)
    least, most = (float(end(np.vander(inverse, 3) @ fits)) for end in (np.min, np.max))
    ends = {"least for n to infinity": float(f"{least:.4g}"), "largest": float(f"{most:.4g}")}
    found = measured(least > 0, ends, **ends).within(0, "the polynomial in 1/L is positive for 0 <= 1/L <= 1/4")
    if found.as_stated != HOLDS:
        return found
    what = "m times the rate of p over loss sigma_0^2 m / L^2"
    for name in SIZES:
        gap = settling(lab, what, path(lab, name), read, phase_two)
        found = found & named(gap.order(name, 0, "O"), gap.what).averaging(lab.draw.seeds(SEEDS))
    return found & always(lab, what, read, least / 2, 2 * most, SETTLED, along=SIZES, why=LEADING)


SETTLED = "ends of the limit n to infinity over all L, halved and doubled for terms of order L/n, at most 1/6 inside Condition 1"


def softmax_order(lab: Laboratory, key: int) -> Verdict:
    """The exponent in m of the rate of p, printed -1/2; it is -1, as the proof has it."""
    points = path(lab, "m")

    def seen(p: Any) -> float:
        return max(float(attention_speed(phase_two(run), key).max()) for run in networks(lab, p))

    found = measure("the rate of p over loss sigma_0^2 m / L^2", points, lambda p: max(seen(p), 1e-300))

    def scaled(run: Any) -> np.ndarray:
        return attention_speed(run, key) * float(run.scale.m)

    what = "m times the rate of p over loss sigma_0^2 m / L^2"
    right = ordered(lab, what, scaled, "Theta", MATRICES, phase_two, why=LEADING) & likely(
        lab,
        "the rate has the printed sign",
        lambda r: (attention_speed(r, key) > 0).all(),
        lambda r: attention_speed(r, key),
        phase_two,
        SIGN,
        ALL,
        LEADING,
    )
    right = right & softmax_sizes(lab, key)
    fixed = r"\partial_tp=\pm\tfrac1m\widetilde\Theta(\hat{\mathcal L}\sigma_0^2m)\tfrac1{L^2}"
    why = "a score is divided by sqrt(m) once more inside the softmax, as the proof has it"
    printed = found.order("m", -0.5).averaging(lab.draw.seeds(SEEDS))
    ends = [(float(p["m"]), float(v) * float(p["m"]) ** 0.5) for p, v in zip(points, found.values[:, 0], strict=True)]
    sentence = (
        f"at n = 30, L = 4 (all hypotheses hold) the rate over its printed order is {ends[0][1]:.2g} at m = {ends[0][0]:.2g} and "
        f"{ends[-1][1]:.2g} at m = {ends[-1][0]:.2g}"
    )
    if printed.as_stated == FAILS:
        printed = printed.witnessed(sentence, points[-1])
    return printed.correcting(fixed, right, why).blaming("misprint", "root-m-in-F.17")


@book.claim(
    "F.17",
    "Softmax in phase 2",
    kind="order",
    where="Corollary F.17",
    source="damaged",
    parts=("target words", "common word", "irrelevant words", "largest change"),
    hypotheses=PHASES,
    uses=["F.16", "G.1", "G.2"],
    expect="fails",
    statement=r"\partial_tp_{q\leftarrow\mu,k\leftarrow\nu}=\tfrac1{\sqrt m}\widetilde\Theta(\hat{\mathcal L}\sigma_0^2m)\tfrac1{L^2},\ \partial_tp_{q\leftarrow\mu,k\leftarrow\mu_3}=-(\text{same}),\ |\partial_tp_{q\leftarrow\mu,k\leftarrow\gamma}|\le\tfrac1{n\sqrt m}\widetilde\Theta(\hat{\mathcal L}\sigma_0^2m)\tfrac1{L^2}+\widetilde O(\tfrac1{L\sqrt m}\hat{\mathcal L}\sigma_0^2\sqrt m),\ \max|p^{(t,i)}_{l_1,l_2}-p^{(0,i)}_{l_1,l_2}|\le O(\tfrac1{L^2})",
    reading="Networks to tau = 10^3; along n, L at infinite width, display 3 as means over samples, change by a bound compared at n = 30, L = 4.",
)
def softmax_late(lab: Laboratory) -> dict[str, Verdict]:
    """The four statements."""

    def order(run: Any) -> np.ndarray:
        s = run.scale
        return np.asarray(run.loss * (s.k0 / (run.n * np.sqrt(s.m) * run.L**2) + s.sigma0**2 / run.L))

    def irrelevant(run: Any) -> np.ndarray:
        rates = np.abs(run.attention_rate) * run.scale.B
        chosen = ((run.tokens >= 3)[:, None, :] & (run.tokens < 2)[:, :, None]) * rates
        return late(run, chosen.max(axis=(1, 2, 3)) / order(run))

    def in_sample(run: Any) -> np.ndarray:
        second = 4 * run.loss * run.scale.sigma0**2 / run.L**2  # not above 4/L times the second term of the order
        return late(run, irrelevant_softmax(run) / second) / np.log(late(run, run.taus))

    def moved(run: Any) -> np.ndarray:
        return late(run, np.abs(attention_change(run)).max(axis=(1, 2, 3)) * run.L**2)

    def bound(run: Any) -> np.ndarray:
        return late(run, softmax_bound(run) * run.L**2)

    def share(run: Any) -> np.ndarray:
        return moved(run) / bound(run)

    one = "constant 1 in O(1/L^2)"
    return {
        "target words": softmax_order(lab, 1),
        "common word": softmax_order(lab, 2),
        "irrelevant words": ordered(
            lab, "the rate to its order", irrelevant, along=MATRICES, part=phase_two, why=SOFTMAX_TRIED
        )
        & always(
            lab,
            "rate, mean over the irrelevant words of a sample, over 4/L times the second term and log(tau)",
            in_sample,
            0,
            REACH,
            SECOND_TERM,
            along=SIZES,
            why=ROWS,
        ),
        "largest change": always(lab, "L^2 |p - p(0)|", moved, 0, 1, one, along=MATRICES, why=SOFTMAX_TRIED)
        & always(lab, "L^2 |p - p(0)| over what bounds it", share, 0, 1.01, DOMINATES, along=("m",), why=ROWS)
        & always(lab, "bound of L^2 |p - p(0)|", bound, 0, 1, one, along=SIZES, why=ROWS),
    }


SECOND_TERM = "at leading order |dp| <= 4 sigma_0^2 M loss/L^2 with M = max|G - F/L|, which is M 4/L times the second term; M/log(tau) tends to at most 3 + 1/L (Beyond.svm), L >= 4; a twentieth more"
ROWS = "tried: proved at leading order in 1/m from M = max|G - F/L| and the integral of the mean of g, whose growth F.7 and F.8 measure"
DOMINATES = (
    "|p - p(0)| <= 4 sigma_0^2 M P/(L^2 beta) at leading order, P the integral of the mean of g; a percent for m^(-1/2)"
)


def mean_term(lab: Laboratory) -> Verdict:
    """The display over n: p sums to one, so that on I_2 an irrelevant word gains what the special words lose, whatever n.

    It is read with its sign, which is positive on I_2; m grows with n^2, so that the second term stays beside the first.
    """
    points = []
    for n in (whole_six(p["n"]) for p in lab.draw.along("n", 1e3, 1e6, 7)):
        points.append({"n": n, "L": L, "m": 10**19 * n**2, "m1": M1, "c0": 3e-5})

    def ratio(p: Any) -> float:
        run = limit_sums(lab, p["L"], scale_at(p), TAUS, p["n"])
        m, s = float(p["m"]), run.scale
        order = s.k0 / (p["n"] * m * run.L**2) + s.sigma0**2 / (run.L * m**0.5)
        return max(float((softmax_rate(run, 2, 0, None)[-1, 0] / run.loss[-1]) / order), 1e-300)

    seen = measure("dp/dt with an irrelevant key on I_2 over its order", points, ratio)
    printed = seen.order("n", 0, "O").adding(why_measured=SOFTMAX_TRIED)
    ends = [float(seen.values[k, 0]) for k in (0, -1)]
    sentence = (
        f"at L = 4, m = 10^19 n^2, tau = 10^3 (all hypotheses hold) the rate for the query mu1 on I_2 over the printed order is "
        f"{ends[0]:.3g} at n = {points[0]['n']} and {ends[1]:.3g} at n = {points[-1]['n']}"
    )
    if printed.as_stated == FAILS:
        printed = printed.witnessed(sentence, points[-1])

    def right(run: Any) -> np.ndarray:
        order = 2 * run.loss * run.scale.sigma0**2 * (3 / run.L + 12 / run.n) / run.L**2
        return late(run, irrelevant_softmax(run) / order) / np.log(late(run, run.taus))

    fixed = r"|\partial_tp_{q\leftarrow\mu,k\leftarrow\gamma}|\le\tfrac1m\widetilde O(\hat{\mathcal L}\sigma_0^2m)\big(\tfrac1{L^3}+\tfrac1{nL^2}\big)+\widetilde O\big(\tfrac1{Lm}\hat{\mathcal L}\sigma_0^2\sqrt m\big)"
    why = "the first display of the same proof has the mean over the keys, 1/L^2; p times it is the lost 1/L^3, and nothing that follows uses the third"
    held = always(
        lab,
        "rate, mean over the irrelevant words of a sample, over its corrected order and log(tau)",
        right,
        0,
        REACH,
        THREE_KEYS,
        along=ALL,
        why=ROWS,
    )
    return printed.correcting(fixed, held, why).blaming("misprint", "lost-mean-in-F.17")


THREE_KEYS = "at most three special keys of M times the mean of g over L, and twice the own sample, of at most 6/n of it; g <= loss, M <= REACH log(tau)"


@book.claim(
    "F.17-proof",
    "The mean over the keys",
    kind="order",
    origin="proof",
    where="Proof of Corollary F.17, the display for an irrelevant key",
    source="damaged",
    parts=("rate",),
    hypotheses=PHASES,
    uses=["F.16", "G.1"],
    expect="fails",
    statement=r"\partial_tp^{(t,i)}_{q\leftarrow\mu,k\leftarrow\gamma}\le\tfrac1{nm}\widetilde\Theta(\hat{\mathcal L}^{(t)}\sigma_0^2m)\tfrac1{L^2}+\widetilde O\big(\tfrac1{Lm}\hat{\mathcal L}^{(t)}\sigma_0^2\sqrt m\big),\quad\gamma\in\{\mu_i\}_{i=4}^d",
    reading="L = 4, tau = 10^3, leading order: on I_2 the rate is +3.5 loss sigma_0^2/L^3 whatever n, on I_1 negative; the corollary, with 1/sqrt(m), is true.",
)
def irrelevant_key(lab: Laboratory) -> Verdict:
    """The display as printed, and with the mean over the keys."""
    same = two_routes(lab, irrelevant_softmax, phase_two)
    return mean_term(lab) if same.as_stated == HOLDS else same


@book.claim(
    "F.18",
    "Attention does not move the outputs",
    kind="order",
    where="Corollary F.18",
    source="damaged",
    parts=("o(1)",),
    hypotheses=PHASES,
    uses=["F.17", "F.10", "F.1"],
    statement=r"\frac{\max_i\big|\sum_{l_1,l_2}G^{(t)}(X^{(i)}_{l_2})\partial_tp^{(t,i)}_{l_1,l_2}\big|}{\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle}\le o(1)\tfrac1n\sum_ig_i",
    reading="Networks up to tau = 10^3: it falls at least like 1/m^2 at fixed c_0; along n, L, at infinite width, at most C c_0^2 log^2(tau)/(L m^2).",
)
def attention_part(lab: Laboratory) -> Verdict:
    """Item (e) of Definition F.1 times m^2, and along n and L over what its bound says."""

    def ratio(run: Any) -> np.ndarray:
        return late(run, attention_pull(run) * float(run.scale.m) ** 2)

    def size(run: Any) -> np.ndarray:
        unit = 2 * run.scale.k0 * float(run.scale.m) ** 2 / (run.scale.m * run.scale.B)
        return ratio(run) / unit / np.log(late(run, run.taus)) ** 2

    because = "at leading order the quotient is at most 2 sigma_0^2 M^2/beta with M = max|G - F/L|, and M/log(tau) tends to at most 3 + 1/L (Beyond.svm), L >= 4; a twentieth more"
    return ordered(lab, "m^2 times the quotient", ratio, along=MATRICES, part=phase_two, why=OUTPUT_TRIED) & always(
        lab, "quotient over 2 c_0^2 log^2(tau)/(L m^2)", size, 0, REACH**2, because, along=SIZES, why=OUTPUT_TRIED
    )


@book.claim(
    "F.19",
    "Keys and queries in phase 2",
    kind="order",
    where="Lemma F.19",
    source="damaged",
    parts=("queries", "keys"),
    hypotheses=PHASES,
    uses=["C.4", "F.16", "F.8", "F.1"],
    statement=r"|\nu^\top W_Q^{(t)\top}W_Q^{(t)}\mu-\nu^\top W_Q^{(T_1)\top}W_Q^{(T_1)}\mu|,\ |\nu^\top W_K^{(t)\top}W_K^{(t)}\mu-\nu^\top W_K^{(T_1)\top}W_K^{(T_1)}\mu|\le\widetilde O\big(\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)",
    reading="Networks to tau = 10^3, log^2 for the tilde; along n, L, at infinite width, what bounds both, compared with the changes at n = 30, L = 4.",
)
def keys_late(lab: Laboratory) -> dict[str, Verdict]:
    """Changes since T_1 of both Gram matrices against the order."""

    def change(run: Any, leaf: str) -> float:
        table = run.changes[leaf][run.taus >= T1]
        return float(np.abs(table - table[0]).max() * run.scale.B / run.scale.sigma0**2 / logarithm(run) ** 2)

    def bound(run: Any) -> np.ndarray:
        return key_bound(run, T1) / np.log(late(run, run.taus)) ** 2

    def share(run: Any, leaf: str) -> np.ndarray:
        table = run.changes[leaf][run.taus >= T1]
        start = np.abs(run.tables["KQ"][0]).max() / (run.scale.sigma0**2 * np.sqrt(float(run.scale.m)))
        size = np.abs(table - table[0]).max(axis=(1, 2)) * run.scale.B / run.scale.sigma0**2
        return size[1:] / (start * key_bound(run, T1)[1:])

    what = "the change to its order"
    every = always(lab, "bound over log^2(tau)", bound, 0, 2 * 17 * 1.05 * REACH, GROWTH, along=SIZES, why=KEYS_TRIED)
    found = {}
    for name, leaf in (("queries", "QQ"), ("keys", "KK")):

        def own(run: Any, leaf: str = leaf) -> float:
            return change(run, leaf)

        def part(run: Any, leaf: str = leaf) -> np.ndarray:
            return share(run, leaf)

        found[name] = (
            ordered(lab, what, own, along=MATRICES, part=phase_two, why=KEYS_TRIED)
            & always(lab, "change over what bounds it", part, 0, 1.01, ROW_SUMS, along=("m",), why=KEYS_TRIED)
            & every
        )
    return found


ROW_SUMS = "a row of the integral of D is at most M P/(beta sqrt(m)) in sum, at leading order; a percent for m^(-1/2)"


@book.claim(
    "Beyond.scores-log",
    "How much attention learns",
    kind="order",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.planar"],
    statement=r"C_{21}\sim(14-\tfrac7L)\tfrac{\sigma_0^2\sqrt m}{L\beta}\ln^2\tau,\quad-C_{31}\sim(6+\tfrac{12}L)\tfrac{\sigma_0^2\sqrt m}{L\beta}\ln^2\tau",
    reading="Coefficients of the square of the logarithm, for m and n to infinity, at L = 4.",
)
def score_logarithms(lab: Laboratory) -> Verdict:
    """Second differences of the quadratures in log(tau) against the closed forms."""
    points = [{"L": length, "tau": 1e12} for length in (4,)]

    def gap(p: Any) -> float:
        run = quadrature_run(lab, p["L"])
        return max(abs(log_squared(run, name) * p["L"] - known) for name, known in score_constants(p["L"]).items())

    seen = measure("the coefficients of ln^2(tau) less their closed forms", points, gap)
    return seen.between(0, 0.02, "second differences at 1e4, 1e8, 1e12: the next order is ln(tau)/tau")


@book.claim(
    "Beyond.share",
    "Attention's share of the loss decrease",
    kind="order",
    origin="ours",
    hypotheses=PHASES,
    uses=["Beyond.dissipation"],
    statement=r"\frac{\mathrm{tr}\,\mathcal D\rho\mathcal D^\top+\mathrm{tr}\,\mathcal D^\top\kappa\mathcal D}{-\partial_t\hat{\mathcal L}}\le O(m^{-2})",
    reading="The share of W_K and W_Q in the decrease of the loss, at fixed c_0, n = 30, L = 4.",
)
def attention_share(lab: Laboratory) -> Verdict:
    """The share of the four terms of the dissipation identity along networks, times m^2."""

    def share(run: Any) -> np.ndarray:
        xi, D = run.forces
        keys = ((D @ run.tables["QQ"]) * D).sum(axis=(1, 2)) + ((run.tables["KK"] @ D) * D).sum(axis=(1, 2))
        total = np.einsum("ka,ka->k", xi, run.G_rate) * run.scale.B
        return late(run, keys / total * float(run.scale.m) ** 2)

    return ordered(lab, "m^2 times the share of attention", share, along=MATRICES, part=phase_two, why=LOGARITHM)


@book.claim(
    "Beyond.level3",
    "Networks tend to level 3",
    kind="order",
    origin="ours",
    hypotheses=PHASES,
    uses=["Beyond.planar"],
    statement=r"\max_{k\le3}|G^{(t)}(\mu_k)-G^{(t)}_{\text{level 3}}(\mu_k)|=O(c_0)\quad(t=T_1\ \text{and}\ \tau=10^3)",
    reading="At tau = 40 and 1000, n = 30, L = 4: what is left between wide networks and the limit from zero is their start, of size c_0.",
)
def level_three_reached(lab: Laboratory) -> Verdict:
    """Distance of G on the three words from level 3 at T_1, over c_0."""

    def distance(run: Any) -> float:
        rows = states(lab, {"n": run.n, "L": run.L}, [T1, LAST])
        known = np.array([[x["G_1"], x["G_1"], x["G_3"]] for x in rows])
        c0 = run.scale.sigma0 * np.sqrt(run.L * float(run.scale.m))
        own = run.G[[int(np.flatnonzero(run.taus == T1)[0]), -1], :3]
        return float(np.abs(own - known).max() / c0)

    return ordered(lab, "the distance from level 3 over c_0", distance, along=("m", "c0"), part=phase_two)
