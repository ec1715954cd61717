"""Samples and tokens: what remarks, (P1) and the experiments say of numbers of samples, errors, and removed tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from odesys import (
    HOLDS,
    ZERO,
    Hypothesis,
    Measurement,
    Node,
    Verdict,
    always_positive,
    computed_once,
    equal,
    fit_power_law,
    graph,
    identity,
    rounded,
    sym,
    undecided,
    untested,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import sparsify
from .book import COUNTS, PRINTED, SHARED, THEOREM_1, claim, point, tables
from .common_gradients import POSITIVE
from .common_motion import by_printed_steps
from .common_positions import POSITIONS, of_positions
from .common_runs import BY_STEP
from .common_samples import needed, sampled
from .common_seeds import SEEDS, in_every_run, over_steps
from .part_2_remarks import MANY_STARTS, falling_at_last, mean_ratios, mean_times

TRIALS = 101  # training sets for each number of samples, of which one may fail
HALF = 0.5


def bound_11() -> Node:
    """The number of samples of (11), up to its hidden constant; c1, c2 are the printed c', c''."""
    star, zeta, errors = sym("alpha_s"), sym("zeta"), sym("sigma") + sym("tau")
    return 1 / (star - sym("c1") * (1 - zeta) - sym("c2") * errors) ** 2


#: without it (11) over 1/alpha_*^2 is unbounded as alpha_* falls to the errors; not printed
SMALL_ERRORS = Hypothesis(
    "errors are at most a share of alpha_*",
    r"c'(1-\zeta)+c''(\sigma+\tau)\le\theta\alpha_*,\ \theta<1\text{ fixed}",
    lambda p: p["theta"] * p["alpha_s"] - p["c1"] * (1 - p["zeta"]) - p["c2"] * (p["sigma"] + p["tau"]),
)


@claim(
    "Rem.2-samples",
    "Fractions and the number of samples",
    kind="order",
    uses=["Eq.11"],
    insensitive=PRINTED,
    origin="text",
    where="Remark 2, first sentence: N",
    parts=["alpha_*"],
    hypotheses=(SMALL_ERRORS,),
    statement=r"(11)\text{ shows that }N\text{ scales with }1/\alpha_*^2",
    reading="the bound (11), which footnote 4 calls the sample complexity, where errors are at most a share theta of alpha_* (ours); runs: Figure 1 (a)",
)
def fractions_and_bound(lab: Laboratory) -> Verdict:
    """(11) is between 1 and (1 - theta)^-2 times 1/alpha_*^2.

    All errors together are e, theta = 1/(1 + k) and alpha_* = (1 + k) e + rest, which is the hypothesis for rest >= 0.
    """
    e, k, rest, star = (sym(name) for name in ("e", "k", "rest", "alpha_s"))
    whole = {sym("zeta"): 1 - (e - sym("c2") * (sym("sigma") + sym("tau"))) / sym("c1")}
    (found,) = graph.substitute([bound_11()], whole)
    low, high = 1 / star**2, ((1 + k) / k) ** 2 / star**2
    inside = {star: (1 + k) * e + rest}
    found_in, low_in, high_in = graph.substitute([found, low, high], inside)
    below = always_positive({"(11) - 1/alpha_*^2": found_in - low_in}, ("e", "k", "c1", "c2"), ("rest", "sigma", "tau"))
    above = always_positive({"band - (11)": high_in - found_in}, ("rest", "k", "c1", "c2"), ("e", "sigma", "tau"))
    (exact,) = graph.substitute([found], {e: ZERO})
    largest, limit = graph.substitute([found_in, high_in], {rest: ZERO})
    ends = equal(
        {"no errors": (exact, low), "largest errors": (largest, limit)}, positive=("alpha_s", "e", "k", "c1", "c2")
    )
    return (below & above & ends).proving(
        "1/alpha_*^2 <= (11) <= (1 - theta)^-2/alpha_*^2, with equality without errors and at the largest ones",
        "theta to 1: the ratio (1 - theta)^-2 at the largest errors is unbounded, so the hypothesis is needed",
    )


@claim(
    "Fig.1a",
    "Fractions and the number of samples in runs",
    kind="order",
    uses=["Eq.11", "Rem.2-samples"],
    expect="undecided",
    level="full",
    insensitive="an interval that is too wide to decide, on every system",
    origin="text",
    where="Section 4.1, Figure 1 (a)",
    parts=["alpha_*"],
    hypotheses=SHARED,
    statement=r"\text{the sample complexity is almost linear in }\alpha_*^{-2}",
    reading="least N with risk below 1e-3 in 99 percent of the sets; how fractions scatter (0.01, ours) sets the power: the law of the figure would decide",
)
def fractions_and_samples(lab: Laboratory) -> Verdict:
    """The power of alpha_* in the least N; how fractions scatter is a choice of ours, and N depends on it.

    The text of the figure has the same fractions in all samples, with which two samples are enough (Beyond.theorem). The
    power is not one: it is near -1 for large alpha_*, where few samples are enough, and steeper than -2 where the scatter
    is a good part of alpha_*. A bound, N = 16/alpha_*^2, is the corrected form of Eq.11.
    """
    shares = [p["alpha_s"] for p in lab.draw.along("alpha_s", 0.05, 0.5, 5)]
    return exponent_of_samples(lab, [sampled(a) for a in shares], "alpha_s", -2)


def exponent_of_samples(
    lab: Laboratory, cases: Sequence[Case], name: str, claimed: float, **more: Sequence[float]
) -> Verdict:
    """The power of a parameter in the least N of some cases; `more` are parameters that no case has, in the order of cases."""
    seeds = lab.draw.seeds(TRIALS)
    found = needed(lab, cases, seeds)
    points = [point(case, **{key: values[k] for key, values in more.items()}) for k, case in enumerate(cases)]
    seen = Measurement("the least N with risk below 1e-3 in 99 percent of the training sets", points, found)
    return seen.order(name, claimed, "Theta", "zero").adding(samples=rounded(found, 3)).averaging(seeds)


@claim(
    "Beyond.samples-gap",
    "The gap of fractions and the number of samples",
    kind="order",
    uses=["Fig.1a"],
    expect="undecided",
    level="full",
    insensitive="an interval that is too wide to decide, on every system",
    origin="ours",
    hypotheses=SHARED,
    statement=r"\alpha_*+\alpha_\#=\tfrac12:\quad N\text{ scales with }1/(\alpha_*-\alpha_\#)^2",
    reading="least N with risk below 1e-3 for 99 percent of the training sets, as in Figure 1 (a): half of the tokens nuisance, gap from 0.1 to 0.45",
)
def gap_and_samples(lab: Laboratory) -> Verdict:
    """As Fig.1a along the gap: in Figure 1 (a) alpha_# is 1/2 - alpha_*, so that alpha_*^-2 changes by a factor four only.

    Below a gap of 0.08 some networks of this width do not reach their margins in 2000 steps; no decade is left.
    """
    gaps = [p["gap"] for p in lab.draw.along("gap", 0.1, 0.45, 4)]
    return exponent_of_samples(lab, [sampled(0.25 + g / 2, 0.25 - g / 2) for g in gaps], "gap", -2, gap=gaps)


@claim(
    "Beyond.same-fractions",
    "Samples with the same fractions",
    kind="identity",
    insensitive="outputs are functions of the fractions for each of these networks, whatever moves them",
    uses=["Eq.11"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{equal fractions in all samples of a class, one }a\text{ for all positions, no noise: zero training loss}\Rightarrow f=0\text{, for every }N\text{ with both labels}",
    reading="the law of Section 4.1 without noise: a sample is known by its label, so (11) is not needed",
)
def same_fractions(lab: Laboratory) -> Verdict:
    """Outputs depend on counts through their fractions alone: then all samples of a class have one margin."""
    seen = lab.toy().system.observables
    scaled = {sym(name): sym("t") * sym(name) for name in ("c1", "c2", "c3", "e1", "e2", "e3")}
    grown = graph.substitute([seen["margin_1"], seen["margin_2"]], scaled)
    rows = {f"class {k + 1}": node - seen[f"margin_{k + 1}"] for k, node in enumerate(grown)}
    return identity(rows, positive=(*POSITIVE, "t")).proving(
        "t times as many tokens of each pattern have the same output: a margin is a function of label and fractions",
        "a training set with both labels has seen every sample of the law: its loss is the risk",
    )


@claim(
    "Beyond.theorem",
    "What is left of Theorem 1",
    kind="order",
    uses=["Beyond.same-fractions"],
    origin="ours",
    hypotheses=SHARED,
    statement=r"\text{equal fractions in all samples of a class, one }a\text{ for all positions, no errors: }f=0\text{ after }T=\Theta(\eta^{-1})\text{ steps, for every }N\text{ with both labels}",
    reading="alpha_* = 1/2, alpha_# = 1/20, eta over a decade, 20 starts; that f = 0 at zero training loss is proved apart",
)
def left_of_theorem(lab: Laboratory) -> Verdict:
    """The number of steps to zero training loss, and that zero training loss is zero risk for this law.

    Steps are those of the printed gradients.
    """

    def found() -> Verdict:
        time = over_steps(lab, "steps", "the number of steps to zero loss").order("eta", -1, "Theta", "zero")
        return time & same_fractions(lab)

    return by_printed_steps(lab, found)


@claim(
    "Rem.2-tau",
    "Token noise and the number of samples",
    kind="order",
    uses=["Eq.11"],
    insensitive=PRINTED,
    origin="text",
    where="Remark 2, token noise and N",
    parts=["tau"],
    hypotheses=(),
    statement=r"(11)\text{ shows that }N\text{ scales with }1/(\Theta(1)-\tau)^2",
    reading="no more than a rewriting of (11), alpha_*, sigma, zeta fixed: Theta(1) is (alpha_* - c'(1 - zeta))/c'' - sigma, free of tau",
)
def noise_and_samples(lab: Laboratory) -> Verdict:
    """(11) is (c'')^-2 (Theta(1) - tau)^-2. No run: tau < kappa/4 moves 1 - tau by a fifth of a decade only."""
    inner = (sym("alpha_s") - sym("c1") * (1 - sym("zeta"))) / sym("c2") - sym("sigma")
    return equal({"(11)": (bound_11(), 1 / (sym("c2") * (inner - sym("tau"))) ** 2)}, positive=("c1", "c2"))


@claim(
    "Fig.3",
    "Samples with frozen attention",
    kind="order",
    uses=["Prop.1", "Fig.1a"],
    expect="undecided",
    level="full",
    insensitive="what is within reach is less than a decade, on every system",
    origin="text",
    where="Section 4.1, Figure 3, with (13)",
    parts=["power"],
    hypotheses=SHARED,
    statement=r"W_K,W_Q\text{ frozen: the sample complexity is almost linear in }\alpha_*^{-4}",
    reading="least N with risk below 1e-3 for half of the sets, alpha_# = 0, alpha_* from 0.15 to 0.5; a decade, or the law of the figure, would decide",
)
def frozen_samples(lab: Laboratory) -> Verdict:
    """The exponents of both, less than a decade apart; no verdict.

    Below alpha_* = 0.15 the time of frozen attention grows so fast that whole sweeps are out of reach, and fractions
    that scatter by 0.01 end the range at 0.04; above, two samples are enough.
    """
    shares = [p["alpha_s"] for p in lab.draw.along("alpha_s", 0.15, 0.5, 4)]
    found = {
        name: needed(lab, [sampled(a, frozen=frozen) for a in shares], lab.draw.seeds(SEEDS), HALF)
        for name, frozen in (("frozen", True), ("trained", False))
    }
    laws = {name: fit_power_law(shares, values.tolist()) for name, values in found.items()}
    shown = {f"exponent of alpha_*, {name}": rounded(law.interval, 3) for name, law in laws.items()}
    said = ", ".join(f"{name} {law.value:.2f}" for name, law in laws.items())
    return undecided(
        f"exponents of alpha_* are {said} over half a decade; a decade would be needed to confirm -4, two to refute it",
        **shown,
        samples=rounded(found, 4),
    ).at(point(sampled(shares[0], frozen=True)))


@claim(
    "P1-iterations",
    "Errors of the initial model and the number of iterations",
    kind="order",
    uses=["Thm.1", "Rem.3"],
    expect="undecided",
    level="full",
    insensitive="an interval that is too wide to decide, on every system",
    origin="text",
    where="Section 3.1, (P1): iterations",
    source="damaged",
    parts=["sigma"],
    hypotheses=SHARED,
    statement=r"T\text{ is proportional to }1/(\Theta(1)-\sigma-\tau)",
    reading="minus signs, lost in (P1), as Remark 2 has them; tau = 0: whether 1 - T(0)/T(sigma) is sigma over one constant; Theta(1) given as a number would decide",
)
def errors_and_iterations(lab: Laboratory) -> Verdict:
    """T = k/(c - sigma) says that 1 - T(0)/T(sigma) = sigma/c: the power of sigma in it is 1.

    Where the rise is within the scatter of the means there is no power, and sigma = O(1/M) bounds the range from above.
    """
    sizes = [p["sigma"] for p in lab.draw.along("sigma", 0.015, 0.15, 4)]
    case = replace(BY_STEP, m_a=10, m_b=10, eta=0.2, steps=3000)
    seen = mean_times(lab, [replace(case, sigma=x) for x in (0.0, *sizes)], MANY_STARTS)
    means, spread = seen.means, seen.values.std(axis=1, ddof=1) / np.sqrt(MANY_STARTS)
    rise = 1 - means[0] / means[1:]
    error = 3.3 * (1 - rise) * np.hypot(spread[0] / means[0], spread[1:] / means[1:])  # 99.9 percent
    shown = {
        "rise": rounded(rise, 3),
        "half width of its 99.9 percent interval": rounded(error, 3),
        "sigma": rounded(sizes, 3),
    }
    points = [point(replace(case, sigma=x)) for x in sizes]
    if (rise > error).all():
        found = Measurement("1 - T(0)/T(sigma)", points, rise).order("sigma", 1, "Theta", "zero")
        return found.adding(**shown).averaging(seen.seeds)
    return undecided("the rise of T at the smallest sigma is within the scatter of means of 160 starts", **shown).at(
        *points
    )


@claim(
    "Fig.1b",
    "Errors of the initial model and the number of samples",
    kind="order",
    uses=["Eq.11"],
    expect="undecided",
    level="full",
    insensitive="what is within reach is less than a decade, on every system",
    origin="text",
    where="Section 4.1, Figure 1 (b), and the sentence on tau after it",
    parts=["sigma", "tau"],
    hypotheses=SHARED,
    statement=r"1/\sqrt N\text{ is linear in }\Theta(1)-\sigma;\quad\text{the result on }\tau\text{ is similar}",
    reading="printed at alpha_* = 0.3, alpha_# = 0.2, M = 5; here 0.2, 0, M = 3, half of the sets; Theta(1) given as a number would decide",
)
def errors_and_samples(lab: Laboratory) -> dict[str, Verdict]:
    """1/sqrt(N) over that without errors; linear in c - sigma with an unknown c is a statement about curvature.

    sigma = O(1/M) ends the range at 1/3 for M = 3, the least number of patterns, and tau < kappa/4 at 0.35: there no run
    was made, as none could tell a line from a curve.
    """
    sizes = (0.1, 0.2, 0.3)
    cases = [replace(sampled(0.2), sigma=x) for x in (0.0, *sizes)]
    found = needed(lab, cases, lab.draw.seeds(2 * SEEDS), HALF)
    ratio = np.sqrt(found[0] / found[1:])
    said = ", ".join(f"{r:.2f} at {x:g}" for r, x in zip(ratio, sizes, strict=True))
    decades = -np.log10(1 - cases[0].kappa / 4)
    tokens = f"tau < kappa/4 = {cases[0].kappa / 4:.3f} moves 1 - tau over {decades:.2f} decades: too few to tell a line from a curve, so no run was made"
    errors = undecided(
        f"1/sqrt(N) over that without errors is {said}, from 40 training sets each; a line and a curve are not told apart, and 1 - sigma covers 0.15 decades",
        samples=rounded(found, 3),
    ).at(*(point(case) for case in cases))
    return {"sigma": errors, "tau": untested(tokens)}


# ---- tokens that are removed -----------------------------------------------------------------------------------------

REMOVAL = replace(sparsify.EXPERIMENT, N=16, m=30, L=20, alpha_c=0.1, delta=0.49)
SHARES = (0.15, 0.3)


@computed_once
def loss(lab: Laboratory, rule: str, share: float, seed: int) -> float:
    """Test loss of a start after a share of the tokens was removed by a rule."""
    return lab.sparsified(rule, share, seed, REMOVAL, 100)


def losses(lab: Laboratory, rule: str, share: float, count: int) -> np.ndarray:
    """Test losses of some starts."""
    return np.array([loss(lab, rule, share, seed) for seed in lab.draw.seeds(count)])


def after_removal(lab: Laboratory, rule: str, share: float, count: int) -> Measurement:
    """Losses with all tokens, and with a share of them removed, start by start."""
    values = [losses(lab, "random", 0.0, count), losses(lab, rule, share, count)]
    return Measurement("the test loss", [point(REMOVAL)] * 2, values, lab.draw.seeds(count))


def not_improved(lab: Laboratory) -> Verdict:
    """Whether the loss with 30 percent of the tokens removed at random is no lower: refuted where a 99.9 percent interval is below 1.

    A share r of L tokens taken away at random makes a fraction alpha_* scatter by sqrt(alpha_* (1 - alpha_*) r/((1 - r) L)),
    which enters the mean loss with the square of its relative size; so much the interval may be below 1. It takes twice as
    many starts to be as narrow.
    """
    what, share = "the mean ratio of losses with random tokens removed and with all", SHARES[-1]
    seen = after_removal(lab, "random", share, 2 * SEEDS)
    (low,), (high,) = mean_ratios(seen.values)
    slack = 2 * (1 - REMOVAL.alpha_s) * share / ((1 - share) * REMOVAL.alpha_s * REMOVAL.L)
    if 1 - slack > low and high >= 1:
        return undecided(f"{what} is in {low:.3f} .. {high:.3f}, 99.9 percent").at(*seen.points[1:])
    least = 1 - slack if high >= 1 else 1.0
    end = Measurement(what, seen.points[1:], [low if high >= 1 else high])
    return end.between(least, 100, "twice the squared relative scatter of the fractions").averaging(seen.seeds)


@claim(
    "Fig.5",
    "Removing tokens and the test loss",
    kind="order",
    level="full",
    uses=["P3"],
    origin="text",
    where="Section 4.1, token sparsification, Figure 5",
    parts=["random", "label-irrelevant", "noisy"],
    hypotheses=(),
    statement=r"\text{random tokens removed: the performance is not improved; label-irrelevant or noisy tokens removed: the test loss decreases}",
    reading="20 steps, before training ends; unit tokens, a third noisy: 15 and 30 percent removed against all, from 20 starts on (random: 30 percent, 40), start by start",
)
def removal_and_loss(lab: Laboratory) -> dict[str, Verdict]:
    """Mean ratios with 99.9 percent intervals; training and test samples lose tokens alike."""
    found = {"random": not_improved(lab)}
    for name, rule in (("label-irrelevant", "irrelevant"), ("noisy", "noisy")):
        what = f"the loss with {name} tokens removed over that with all"
        few, many = (
            falling_at_last(partial(after_removal, lab, rule, share), what, SEEDS, lab.most_seeds) for share in SHARES
        )
        found[name] = few & many
    return found


@claim(
    "Prop.2-pruning",
    "Pruning by the size of attention",
    kind="inequality",
    uses=["Prop.2"],
    expect="undecided",
    origin="text",
    where="After Proposition 2; Section 1, second contribution",
    parts=["others have less weight", "only label-relevant tokens"],
    hypotheses=THEOREM_1,
    statement=r"\text{only label-relevant tokens are highlighted by the learned attention, others have less weight}",
    reading="label-relevant tokens receive more at T than at the start, than the others and than confusion tokens: in means over both classes, and in each class",
)
def pruning_by_attention(lab: Laboratory) -> dict[str, Verdict]:
    """What label-relevant tokens receive over all queries and samples, at T against the start and against the others.

    At the start they receive more than the others already, as each query prefers its own pattern and they are the
    majority: for any labels, so that only what is gained by learning can fail. All tokens together receive the same at
    all times: the others lose in their mean what label-relevant ones gain. Whether confusion tokens are highlighted as well
    depends on its measure (`Beyond.pruning`), and each token against every other one is another matter: the share of
    samples is kept beside it. At alpha_# = 1/20 each is above every other one.
    """
    what = "each label-relevant token receives more attention than any other one, and than at the start"
    few = by_printed_steps(lab, lambda: in_every_run(lab, what, lambda x: x["pruned well"] == 1))
    seen = [of_positions(lab, seed)["above every other"] for seed in lab.draw.seeds(SEEDS)]
    shown = {"share of samples, each above every other": rounded(seen, 3)}
    said = (
        "'highlighted' has no measure in the print: at alpha_# = 0.3 confusion tokens receive less than label-relevant ones over both classes, and "
        "learning adds more to them; with one a_i for all positions and alpha_# = 1/20 each label-relevant token is above every other one"
    )
    each = highlighted(lab, "least label-relevant beyond confusion")
    if each.as_stated != HOLDS:
        each = undecided(
            "at alpha_# = 0.3, L = 10 and a_(l) of (1) label-relevant tokens receive more than confusion tokens over both classes together, but in each of the two "
            f"classes only from {each.details['passed']}"
        )
    return {
        "others have less weight": (highlighted(lab) & few & each).adding(**shown),
        "only label-relevant tokens": undecided(said),
    }


def highlighted(lab: Laboratory, confusion: str = "label-relevant beyond confusion") -> Verdict:
    """Whether learning raises what label-relevant tokens receive, and they receive more than the others and confusion tokens."""

    def gained(x: Mapping[str, float]) -> bool:
        return all(x[name] > 0 for name in ("label-relevant gained", "label-relevant beyond others", confusion))

    what = (
        "label-relevant tokens receive more attention at T than at the start, than the others and than confusion tokens"
    )
    return in_every_run(lab, what, gained, of_positions, POSITIONS)


@claim(
    "Beyond.pruning",
    "Confusion tokens and pruning",
    kind="inequality",
    uses=["Prop.2-pruning"],
    origin="ours",
    hypotheses=THEOREM_1,
    statement=r"\alpha_*=\tfrac12,\ \alpha_\#=\tfrac3{10},\ L=10:\ \text{learning adds more attention to confusion tokens than to label-relevant ones};\quad\alpha_\#>0,\ \tau=0:\ \text{a nuisance query gives each label-relevant token of one class no more than a confusion token}",
    reading="gains from start to T, means over tokens, queries, samples, a_(l) of (1), in runs; nuisance queries, patterns of both classes, all weights: proof",
)
def pruning_and_confusion(lab: Laboratory) -> Verdict:
    """A nuisance query has one logit for each pattern: what it prefers in one class is a confusion token in the other."""
    what = "confusion tokens gain attention from start to T, and more than label-relevant ones"

    def more(x: Mapping[str, float]) -> bool:
        return x["confusion gained"] > max(0.0, x["label-relevant gained"])

    seen = by_printed_steps(lab, lambda: in_every_run(lab, what, more, of_positions, POSITIONS))
    t = tables(lab.toy())
    token = [[t.softmax(n, j, 2) / sym(COUNTS[n][j]) for j in range(2)] for n in range(2)]  # third pattern: nuisance
    odds = token[0][0] / token[0][1] * (token[1][1] / token[1][0])  # label-relevant over confusion, + times - sample
    seen = seen.adding(fractions="set after runs from other starts, at alpha_# = 0.4 and 0.3")
    return seen & identity({"product of the odds": odds - 1}, positive=POSITIVE).proving(
        "in both classes together the odds of a label-relevant against a confusion token multiply to 1: one of both is at most 1"
    )
