"""Remarks 1 to 3: what fractions, token noise and errors of the initial model do to the number of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import and_
from typing import Any

import numpy as np
from scipy import stats

from odesys import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ZERO,
    Hypothesis,
    IntegrationError,
    Measurement,
    Verdict,
    always_positive,
    computed_once,
    equal,
    fit_power_law,
    graph,
    rounded,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import many_networks
from .book import COQ, PRINTED, SHARED, THEOREM_1, claim, point
from .common_motion import bounded_motion, by_printed_steps
from .common_runs import BY_STEP
from .common_samples import near_ties, risks, sampled
from .common_seeds import SEEDS

FAMILIES = (
    [(a, 0.0) for a in (0.8, 0.4, 0.2, 0.1)],
    [(a, a / 4) for a in (0.6, 0.3, 0.15)],
    [(0.45, 0.05), (0.4, 0.1), (0.35, 0.15)],
)


NOISES = (0.08, 0.0)  # tokens beyond tau = 0.3 are drawn anew

MISSED = 0.001  # what 99.9 percent leaves
MANY_STARTS = 160  # where errors change a time by a few percent, and starts by ten


@computed_once
def times(lab: Laboratory, case: Case, count: int = SEEDS) -> np.ndarray:
    """eta T of some starts on the two exact samples."""
    seeds, law = lab.draw.seeds(count), many_networks.exact_law(case)
    run, _ = lab.train_many(case, law, np.full((len(seeds), 2), 0.5), seeds)
    if not run.fitted.all():
        raise IntegrationError(f"the training margins are not reached in {case.steps} steps", time=float(case.steps))
    return np.asarray(case.eta * run.steps)


def mean_times(lab: Laboratory, cases: Sequence[Case], count: int = SEEDS) -> Measurement:
    """eta T of some starts for each case."""
    return Measurement(
        "eta T", [point(case) for case in cases], [times(lab, case, count) for case in cases], lab.draw.seeds(count)
    )


def mean_ratios(values: np.ndarray, looks: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Ends of intervals of the mean ratio (of logarithms) of each row and the next, column by column."""
    change = np.diff(np.log(values), axis=0)
    return ends(change.mean(axis=1), change, looks)


def ends(logs: np.ndarray, parts: np.ndarray, looks: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends of intervals of what has these logarithms, whose errors are those of the means of `parts`.

    One in a thousand misses, or all `looks` at growing numbers of columns together: each gets an equal part of that.
    """
    count = parts.shape[1]
    reach = float(stats.t.ppf(1 - MISSED / (2 * looks), count - 1)) * parts.std(axis=1, ddof=1) / np.sqrt(count)
    return np.exp(logs - reach), np.exp(logs + reach)


def below_one(
    what: str,
    points: Sequence[Mapping[str, Any]],
    interval: tuple[np.ndarray, np.ndarray],
    seeds: Sequence[int],
    looks: int,
) -> Verdict:
    """Whether ratios are below 1, by 99.9 percent intervals for all `looks` together; undecided where one has 1 inside."""
    low, high = interval
    named = "99.9 percent" if looks == 1 else f"99.9 percent over {looks} looks"
    shown = {f"ratio, {named}": rounded(np.column_stack([low, high]), 3)}
    if (low > 1).any() or (high < 1).all():
        ratio = Measurement(what, points, high if (high < 1).all() else low)
        found = ratio.between(
            0, float(np.nextafter(1.0, 0.0)), f"the printed direction, by the end of an interval of {named}"
        )
        return found.adding(**shown).averaging(seeds)
    said = ", ".join(f"{a:.3f} .. {b:.3f}" for a, b in zip(low, high, strict=True))
    return undecided(f"{what} is in {said}, {named}, from {len(seeds)} starts", **shown)


def falling(seen: Measurement, what: str, looks: int = 1) -> Verdict:
    """Whether means fall from each point to the next: intervals of the mean change of logarithms, start by start."""
    found = below_one(what, seen.points[1:], mean_ratios(seen.values, looks), seen.seeds, looks)
    return found.adding(means=rounded(seen.means, 4)).at(*seen.points)


def at_last(judge: Callable[[int, int], Verdict], count: int, most: int) -> Verdict:
    """What `judge` says of `count` starts, doubled while it is undecided and there are not yet `most`.

    How often is looked at most is known before the first look, and the error is spent evenly over the looks.
    """
    counts = [count]
    while 2 * counts[-1] <= most:
        counts.append(2 * counts[-1])
    found = judge(counts[0], len(counts))
    for more in counts[1:]:
        if found.as_stated != UNDECIDED:
            break
        found = judge(more, len(counts))
    return found


def falling_at_last(measure: Callable[[int], Measurement], what: str, count: int, most: int) -> Verdict:
    """`falling` over `count` starts, or up to `most` where these do not decide."""
    return at_last(lambda starts, looks: falling(measure(starts), what, looks), count, most)


@claim(
    "Rem.2",
    "Fractions and the number of iterations",
    kind="order",
    uses=["Thm.1"],
    origin="text",
    where="Remark 2, first two sentences",
    parts=["iterations"],
    hypotheses=SHARED,
    statement=r"\text{larger }\alpha_*\text{ reduces }T",
    reading="mean number of steps as alpha_* grows, along three families of fractions",
)
def fractions(lab: Laboratory) -> Verdict:
    """Monotone along alpha_# = 0, alpha_# = alpha_*/4 and alpha_nd = 1/2; runs take the steps of the printed gradients."""

    def along(family: Sequence[tuple[float, float]]) -> Verdict:
        cases = [replace(BY_STEP, alpha_s=a, alpha_c=c, eta=0.4, steps=3000) for a, c in sorted(family)]
        return falling(mean_times(lab, cases), "eta T over that of the next smaller alpha_*")

    first, second, third = FAMILIES
    return by_printed_steps(lab, lambda: along(first) & along(second) & along(third))


#: without it no constant is left (`Beyond.gap`); where sigma, delta or tau is positive (8) gives it, without them it is not printed
FEW_CONFUSED = Hypothesis(
    "confusion tokens are at most a share of alpha_*",
    r"\alpha_\#\le\theta\alpha_*,\ \theta<1\text{ fixed, here }\tfrac12",
    lambda p: 0.5 * p["alpha_s"] - p["alpha_c"],
)


@claim(
    "Rem.2-scale",
    "Power of alpha_* in the number of iterations",
    kind="order",
    uses=["Rem.2"],
    level="full",
    origin="text",
    where="Remark 2, first sentence; (P1): iterations",
    parts=["without confusion tokens", "a quarter", "a half"],
    hypotheses=(*SHARED, FEW_CONFUSED),
    statement=r"\text{the required number of iterations }T\text{ scales with }1/\alpha_*",
    reading="alpha_#/alpha_* fixed below 1 (ours), as (8) gives it with errors: 0, 1/4 and 1/2, alpha_* to 0; as it rises to 1 there is no constant",
)
def power_of_alpha(lab: Laboratory) -> dict[str, Verdict]:
    """eta T for alpha_* down to 0.002, by printed gradients, at three quotients of alpha_# and alpha_*.

    For small alpha_* the logits grow within eta t = Theta(1/alpha_*), and then fast: T alpha_* has settled below 0.01.
    The constant is unbounded as the quotient grows to 1 (`Beyond.gap`), which the print does not exclude where errors are zero.
    """

    def order(quotient: float, least: float, eta: float) -> Verdict:
        shares = [p["alpha_s"] for p in lab.draw.along("alpha_s", least, 20 * least, 8)]
        cases = [replace(BY_STEP, alpha_s=a, alpha_c=quotient * a, eta=eta, steps=40_000) for a in shares]
        return mean_times(lab, cases).order("alpha_s", -1, "Theta", towards="zero")

    return {
        "without confusion tokens": by_printed_steps(lab, lambda: order(0.0, 0.002, 1.6)),
        "a quarter": by_printed_steps(lab, lambda: order(0.25, 0.002, 0.8)),
        "a half": by_printed_steps(lab, lambda: order(0.5, 0.003, 0.4)),
    }


#: near-ties of both labels occur, and no other token tells them apart
EXCHANGED = Hypothesis(
    "exchanged samples",
    r"\text{with each sample the one in which }(\alpha_*-\alpha_\#)|S|\text{ label-relevant tokens are exchanged, all others in place, occurs with the other label}",
    lambda p: 0.0,
)


@claim(
    "Beyond.gap",
    "The gap of fractions and the number of iterations",
    kind="order",
    uses=["Rem.2-scale"],
    origin="ours",
    hypotheses=(*THEOREM_1, EXCHANGED),
    statement=r"\sigma=\delta=\tau=0,\ \alpha_\#>0\text{ fixed, }\alpha_*\to\alpha_\#:\quad\eta T\text{ to zero risk is unbounded}",
    reading="every batch and width, from a given start, one a or a_(l) of (1); without errors (8) allows every alpha_* above alpha_#, and 1/alpha_* stays bounded",
)
def gap_and_iterations(lab: Laboratory) -> Verdict:
    """No weights in a ball tell labels apart whose samples differ in few tokens, and weights leave a ball late."""
    moved, token = bounded_motion(lab), near_ties(lab)
    steps = moved.proof.steps if moved.proof is not None else ()
    return (moved & token).proving(
        *steps,
        "a row of attention (N + e x)/(Z + e) differs from N/Z by e/(Z + e) (x - N/Z): one token exchanged moves F by O(1/|S|) for bounded weights, also "
        "with a_(l) of each position",
        "a sample becomes one of the other label by (alpha_* - alpha_#)|S| exchanges, so that two outputs differ by O(alpha_* - alpha_#), while zero risk asks for 2",
        "from a given start weights are at t in a ball whose radius depends on eta t alone: eta T grows without bound as alpha_* - alpha_# falls to 0",
    )


@claim(
    "Rem.2-noise",
    "Token noise and the number of iterations",
    kind="order",
    uses=["Thm.1"],
    origin="text",
    where="Remark 2, token noise",
    parts=["noise"],
    hypotheses=SHARED,
    statement=r"\text{smaller }\tau\text{ reduces }T",
    reading="steps to zero training loss of unit tokens with noise and without, start by start, from 60 starts on, sigma = delta = 0.3",
)
def noise_and_iterations(lab: Laboratory) -> Verdict:
    """Mean steps over seeds, unit tokens with noise c_0 = 0.08 within tau = 0.3 and 0 in four dimensions; same starts and counts.

    Steps are those of the printed gradients.
    """
    case = Case(
        M=3,
        alpha_s=0.5,
        alpha_c=0.1,
        L=10,
        N=6,
        d=4,
        m=30,
        m_a=4,
        m_b=4,
        sigma=0.3,
        delta=0.3,
        tau=0.3,
        unit=1,
        eta=0.3,
        steps=2000,
    )
    points = [point(case, tau=case.tau if c0 else 0.0) for c0 in NOISES]

    def measure(count: int) -> Measurement:
        seeds = lab.draw.seeds(count)
        steps = [token_steps(lab, replace(case, noise=c0), seeds) for c0 in NOISES]
        return Measurement("steps", points, steps, seeds)

    what = "steps over those with more noise"
    return by_printed_steps(lab, lambda: falling_at_last(measure, what, 3 * SEEDS, lab.most_seeds))


@computed_once
def token_steps(lab: Laboratory, case: Case, seeds: tuple[int, ...]) -> np.ndarray:
    """Steps of the network on tokens to zero training loss, for each start."""
    return lab.token_steps(case, seeds).astype(float)


@claim(
    "Rem.3",
    "Errors of the initial model",
    kind="order",
    uses=["Thm.1", "Asm.1"],
    expect="undecided",
    insensitive="both directions occur, which leaves it open; runs of broken systems are not looked at",
    level="full",
    origin="text",
    where="Remark 3",
    parts=["convergence", "samples"],
    hypotheses=SHARED,
    statement=r"\text{a better initial model, of smaller }\sigma\text{ and }\delta\text{, reduces }N\text{ and speeds up the convergence}",
    reading="N of (11), which has no delta; eta T of 160 to 640 starts, both errors smaller, at three points: the print does not say at which alpha_*",
)
def errors_of_initial_model(lab: Laboratory) -> dict[str, Verdict]:
    """Both errors at once, for both decrease as the initial model is improved; sizes rescaled are below 1/M and 1/2.

    A tendency is printed, from bounds of which (10) has neither error. Where a better model is quicker at one point and
    slower at another, that is said, and the whole is open.
    """
    case = replace(BY_STEP, m_a=10, m_b=10, alpha_c=0.0, steps=3000)  # steps of which T has some 30 to 50
    changes = {  # the point, with the larger errors -> the smaller ones
        replace(case, alpha_s=0.5, alpha_c=0.05, eta=0.2, sigma=0.15, delta=0.4): (0.0, 0.0),
        replace(case, alpha_s=0.2, eta=0.6, sigma=0.15, delta=0.4): (0.0, 0.0),
        replace(case, M=3, alpha_s=0.2, eta=0.3, sigma=0.05, delta=0.4): (0.025, 0.2),
    }

    def change(worse: Case, sigma: float, delta: float) -> Verdict:
        measure = partial(mean_times, lab, (worse, replace(worse, sigma=sigma, delta=delta)))
        return falling_at_last(measure, "eta T over that with larger errors", MANY_STARTS, 4 * MANY_STARTS)

    def convergence() -> Verdict:
        found = {worse: change(worse, *better) for worse, better in changes.items()}
        if not {HOLDS, FAILS} <= {verdict.as_stated for verdict in found.values()}:
            return reduce(and_, found.values())
        words = {HOLDS: "shorter", FAILS: "longer"}
        said = [
            f"{words.get(verdict.as_stated, 'undecided')} at alpha_* = {worse.alpha_s:g}, alpha_# = {worse.alpha_c:g}, M = {worse.M}"
            for worse, verdict in found.items()
        ]
        seen = {
            f"{name}, point {k}": value for k, v in enumerate(found.values(), 1) for name, value in v.details.items()
        }
        starts = max(verdict.seeds.count for verdict in found.values() if verdict.seeds is not None)
        answer = undecided(f"with smaller errors eta T is {'; '.join(said)}", **seen)
        return answer.at(*map(point, changes)).averaging(lab.draw.seeds(starts))

    # (11) at two sizes of sigma: left is what is squared at the larger one
    left, slope, more = sym("left"), sym("c2"), sym("more")
    bound = always_positive(
        {"(11) at sigma + more - (11)": 1 / left**2 - 1 / (left + slope * more) ** 2}, positive=("left", "c2", "more")
    )
    return {"convergence": by_printed_steps(lab, convergence), "samples": bound}


#: without it the quotient of the bounds is unbounded as alpha_* falls to the errors; not printed
SMALL_SHARE = Hypothesis(
    "errors are at most a share of alpha_*",
    r"\max(1,c'')(\sigma+\tau)\le\theta\alpha_*,\ \theta<1\text{ fixed}",
    lambda p: p["theta"] * p["alpha_s"] - max(1, p["c2"]) * (p["sigma"] + p["tau"]),
)


@claim(
    "Rem.1",
    "Factor gained by attention",
    kind="order",
    uses=["Prop.1"],
    insensitive=PRINTED,
    origin="text",
    where="Remark 1, with footnote 4",
    parts=["factor"],
    hypotheses=(SMALL_SHARE,),
    statement=r"\text{trained attention reduces the sample complexity by a factor }\alpha_*^{-2}",
    reading="the bounds (11) and (13) are compared, as the footnote says, zeta = 1, constants c' and c'' of (11) fixed; errors at most a share of alpha_* (ours)",
)
def factor_of_bounds(lab: Laboratory) -> Verdict:
    """(13) over (11) is between (1 - theta)^2 and (1 - theta)^-2 times alpha_*^-2, and alpha_*^-2 where no error is left.

    sigma + tau = e is counted 1 in (13) and c2 in (11); max(1, c2) e <= theta alpha_* with theta = 1/(1 + k). Both squares
    are of a distance between alpha_* (1 - theta) and alpha_*, so it is enough that (1 - theta) lies below their quotient.
    """
    alpha, e, k, rest, c2 = (sym(name) for name in ("alpha_s", "e", "k", "rest", "c2"))
    frozen, trained = alpha * (alpha - e), alpha - c2 * e  # (13) and (11) are one over their squares
    exact = equal({"no errors": (graph.substitute([trained / frozen], {e: ZERO})[0], 1 / alpha)}, positive=("alpha_s",))
    share = k / (1 + k)  # 1 - theta
    rows = {"trained - (1 - theta) frozen/alpha": trained - share * frozen / alpha}
    rows["frozen/alpha - (1 - theta) trained"] = frozen / alpha - share * trained
    # alpha_* = (1 + k) max(e, c2 e) + rest: either c2 = 1 + more, or 1 = c2 + more
    more = sym("more")
    larger = graph.substitute(list(rows.values()), {c2: 1 + more})
    larger = graph.substitute(larger, {alpha: (1 + k) * (1 + more) * e + rest})
    smaller = graph.substitute(list(rows.values()), {alpha: (1 + k) * e + rest})
    smaller = graph.substitute(smaller, {c2: 1 / (1 + more)})
    cases = {f"{name}, c'' at least 1": row for name, row in zip(rows, larger, strict=True)}
    cases |= {f"{name}, c'' at most 1": row for name, row in zip(rows, smaller, strict=True)}
    band = always_positive(cases, positive=("e", "k"), nonnegative=("rest", "more"))
    told = {"frozen": (("alpha_s", "e"), frozen), "trained": (("alpha_s", "c2", "e"), trained)}
    return (
        (exact & band)
        .by_theorems(COQ / "factor_of_bounds.v", told, alone=True)
        .proving(
            "1 - theta <= (alpha_* - c'' e)/(alpha_* - e) <= 1/(1 - theta), and the factor is its square over alpha_*^2"
        )
    )


@claim(
    "Beyond.gain",
    "Risk gained by attention in runs",
    kind="order",
    uses=["Rem.1"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"\text{risk with frozen attention}>\text{risk with trained attention},\ \text{the more the smaller }\alpha_*",
    reading="quotient of mean exact risks of 40 to 640 training sets at zero training loss, N = 32, alpha_# = 0.04, alpha_* = 0.15, 0.25, 0.4",
)
def factor_gained(lab: Laboratory) -> Verdict:
    """Means over training sets, set by set. Their power of alpha_* is no verdict: less than a decade is within reach."""
    shares = (0.15, 0.25, 0.4)
    points = [point(sampled(alpha, 0.04, N=32)) for alpha in shares]

    def judge(count: int, looks: int) -> Verdict:
        seeds = lab.draw.seeds(count)
        frozen, trained = (
            np.array([risks(lab, sampled(alpha, 0.04, still, N=32), seeds) for alpha in shares])
            for still in (True, False)
        )
        left, parts = log_ratio(trained, frozen)
        less = below_one(
            "risk with trained over that with frozen attention", points, ends(left, parts, looks), seeds, looks
        )
        left, parts = left[:1] - left[-1:], parts[:1] - parts[-1:]
        more = below_one("this ratio at 0.15 over that at 0.4", points[:1], ends(left, parts, looks), seeds, looks)
        law = fit_power_law(shares, frozen.mean(axis=1) / trained.mean(axis=1))
        return (less & more).with_constants(power_of_alpha=rounded(law.interval, 3))

    return at_last(judge, 2 * SEEDS, lab.most_seeds)


def log_ratio(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of quotients of means, row by row, and to first order what each column adds to them."""
    means, others = above.mean(axis=1, keepdims=True), below.mean(axis=1, keepdims=True)
    return np.log(means / others)[:, 0], above / means - below / others
