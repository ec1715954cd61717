"""Beyond the paper: the symmetric system, drift of conserved matrices, constants, margins, and conditions that are not needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from odesys import (
    ZERO,
    IntegrationError,
    Measurement,
    SymmetryError,
    Verdict,
    computed_once,
    equal,
    graph,
    identity,
    measured,
    rounded,
    sym,
    with_high_probability,
)

from .. import setting
from ..laboratory import Laboratory
from ..setting import Case
from ..special import class_network, many_networks, observables
from .book import COQ, claim, gates, point
from .common_gradients import POSITIVE
from .common_motion import by_printed_steps, first_order
from .common_runs import MAIN, off_recursion, prototypes, theory
from .common_seeds import SEEDS, SMALL, in_every_run, near_symmetric, of_small
from .part_2_remarks import times
from .part_c_structure import conserved_matrices


@claim(
    "Beyond.symmetric",
    "21 variables",
    kind="identity",
    uses=["X6"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{two mirrored neurons, one sample per class: 21 variables for every }M\ge4,\ \text{exact; a network of }m\text{ neurons follows them as }m\to\infty,\ \xi\sqrt m\to0",
    reading="two mirrored neurons against the derived 21 variables for M = 4, 5, 6, and the logits of wide networks",
)
def symmetric_system(lab: Laboratory) -> Verdict:
    """The derived step, iterated 200 times from D_+ = (0.3, -0.05, 0.04..), gives the outputs of two neurons; then logits."""
    try:
        sizes = {M: lab.symmetric(M).system.dimension for M in (4, 5, 6)}
    except SymmetryError as error:
        return measured(False, {"no symmetry": str(error)})
    gaps, off_paper = {}, {}
    for M in (4, 5):
        reduced = lab.symmetric(M)
        run = prototypes(lab, 1e9, M=M, every=1, steps=200)
        off_paper[M] = off_recursion(run)
        case = run.case
        values = {
            "alpha_s": case.alpha_s,
            "alpha_c": case.alpha_c,
            "beta": case.beta,
            "Gamma": 1e9,
            "pi": 0.5,
            "half": 0.5,
        }
        step = reduced.system.compile({name: values[name] for name in reduced.system.parameters})
        x = reduced.project(
            reduced.flow.initial_state(
                weights={"W_O": run.start.w, "W_V": run.start.v.T, "W_K": run.start.kappa.T, "W_Q": run.start.rho.T}
            )
        )
        gap = 0.0
        for made in run.made[:-1]:
            gap = max(gap, abs(float(step.observables(0.0, x)["margin_1"]) - float(made.found.margins[0])))
            x = x + case.eta * step(0.0, x)
        gaps[M] = gap
    where = [point(MAIN)]
    size = Measurement("the number of states", where * 3, list(sizes.values())).between(21, 21, "the count itself")
    close = Measurement("the largest gap of outputs", where * 2, list(gaps.values())).between(
        0, 1e-11, "rounding of floats"
    )
    own = Measurement("the relative gap to the paper's own equations", where * 2, list(off_paper.values()))
    close = close & own.between(0, 1e-9, "rounding of floats")
    seeds = lab.draw.seeds(SEEDS)
    names = observables.logits(np.eye(5))
    off = [np.mean([of_small(lab, seed)[f"logit {name}"] for seed in seeds]) - theory()[name] for name in names]
    wide = Measurement("a logit at T minus that of the symmetric system", [point(SMALL)] * len(off), off)
    limit = 2 / np.sqrt(SMALL.m)
    return size & close & wide.between(-limit, limit, "the scatter at this width").averaging(seeds)


@claim(
    "Beyond.drift",
    "Drift of the conserved matrices",
    kind="order",
    uses=["X4"],
    origin="ours",
    hypotheses=(),
    statement=r"\|\Delta(W_O^\top W_O-W_VW_V^\top)\|,\ \|\Delta(W_KW_K^\top-W_QW_Q^\top)\|=O(\eta)\ \text{at fixed }\eta T,\ \text{and }\Theta(\eta)\text{ for small }\eta T\text{ from some starts}",
    reading="steps of size eta miss what the flow conserves by eta squared each, with bounded factors that are not zero",
)
def drift(lab: Laboratory) -> Verdict:
    """The Lie derivatives of X4 are the part of a step that is linear in eta; the rest is summed over T steps."""
    d = {leaf: lab.rates(leaf) for leaf in ("O", "V", "K", "Q")}
    missed = {
        "O V": (d["O"].T @ d["O"] - d["V"] @ d["V"].T)[0, 0],
        "K Q": (d["K"] @ d["K"].T - d["Q"] @ d["Q"].T)[0, 0],
    }
    return first_order(lab, conserved_matrices(lab), missed)


@claim(
    "Beyond.confusion",
    "Lucky neurons on confusion queries",
    kind="order",
    uses=["Lem.4", "Eq.55-59"],
    origin="ours",
    hypotheses=(),
    statement=r"a_i>0\text{ neurons stay active on pattern-1 queries of }-\text{ samples}",
    reading="lucky neurons at T in the - sample, xi = 1e-4: nearly all on queries of pattern 1, none on pattern 2",
)
def on_confusion(lab: Laboratory) -> Verdict:
    """Such samples push these neurons back for ever, and (55) has no term for it; d_2 < 0 as in the symmetric system."""
    what = (
        "at least 95 percent of lucky neurons are active on confusion queries of the other class, and none on its own"
    )
    test = in_every_run(lab, what, lambda x: x["on confusion"] >= 0.95 and x["on own"] == 0, of_small, SMALL)
    return test & near_symmetric(lab, "d2", "step1")


@claim(
    "Beyond.freeze",
    "Everything stops at T",
    kind="identity",
    uses=["Eq.83-hinge"],
    origin="ours",
    hypotheses=(),
    statement=r"y^nF(X^n)\ge1\ \forall n\ \Rightarrow\ \text{all weights, and the attention, stand still}",
    reading="all rates where both indicators of the hinge are 0, every entry of the toy",
)
def everything_stops(lab: Laboratory) -> Verdict:
    """Rates with the gates of the loss at 0."""
    nodes = np.concatenate([lab.rates(leaf).ravel() for leaf in ("O", "V", "K", "Q")])
    closed = dict.fromkeys(gates(nodes, True), ZERO)
    return equal({f"rate {k}": (node, ZERO) for k, node in enumerate(nodes)}, positive=POSITIVE, given=closed)


@claim(
    "Beyond.sliding",
    "Gates that slide",
    kind="order",
    uses=["Beyond.confusion"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{living }a_i>0\text{ neurons on nuisance queries of }-\text{ samples: gate fraction strictly between 0 and 1 on the way}",
    reading="shares of open gates between 0.05 and 0.95 for at least a third of the steps, all open on the own class, xi = 1e-4",
)
def gates_slide(lab: Laboratory) -> Verdict:
    """The flow slides on the ReLU surface there (Filippov), which the symmetric system's gates repeat."""
    what = "gates of the other class are partly open on the way"
    test = in_every_run(
        lab,
        what,
        lambda x: x["gates in between"] >= 1 / 3 and x["own gates"] == 1,
        of_small,
        SMALL,
    )
    return test & near_symmetric(lab, "dn", "d2")


@computed_once
def attention_at(lab: Laboratory, margin: float, variant: str = "") -> dict[str, float]:
    """Attention at the end and eta T of runs from xi = 1e-4 to a margin, means of 20 starts."""
    case, seeds = replace(SMALL, margin=margin, steps=4000), lab.draw.seeds(SEEDS)
    law = many_networks.exact_law(case)
    run, seen = lab.train_many(case, law, np.full((len(seeds), 2), 0.5), seeds, variant)
    if not run.fitted.all():
        raise IntegrationError(f"the training margins are not reached in {case.steps} steps", time=float(case.steps))
    data, rules = class_network.Counts(seen.counts, seen.y), lab.rules()
    found = [
        observables.relevant_attention(class_network.forward(run.state.one(k), data, rules).A, data)
        for k in range(len(seeds))
    ]
    means = {name: float(np.mean([each[name] for each in found])) for name in ("rel_s", "rel_n", "rel")}
    return means | {"eta_T": float(case.eta * run.steps.mean())}


@claim(
    "Beyond.margin",
    "Attention over margins",
    kind="order",
    uses=["Prop.2", "Beyond.symmetric"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{final attention rises with the margin }\Gamma\text{ (or with the output scale)}",
    reading="label-relevant and nuisance queries and their mean at the end for Gamma = 1 and 3, means of 20 starts",
)
def over_margins(lab: Laboratory) -> Verdict:
    """Means over starts rise, and are near the symmetric system (pi of frozen values), which two mirrored neurons follow exactly."""
    margins, names, seeds = (1.0, 3.0), ("rel_s", "rel_n", "rel"), lab.draw.seeds(SEEDS)
    mean = {margin: {k: attention_at(lab, margin)[k] for k in names} for margin in margins}
    points = [point(replace(SMALL), margin=margin) for margin in margins]
    off = [[mean[margin][k] - theory(margin)[k] for k in names] for margin in margins]
    rise = [[b[k] - a[k] for k in names] for a, b in pairwise(mean.values())]
    limit = 1 / np.sqrt(SMALL.m)
    near = Measurement("attention minus that of the symmetric system", points, off)
    rising = Measurement("the rise of attention", points[1:], rise)
    gap = Measurement("the gap of outputs to its recursion", points[1:], [off_recursion(prototypes(lab, margins[-1]))])
    found = near.between(-limit, limit, "the scatter at this width") & rising.between(1e-9, 1, "a rise")
    found = found & gap.between(0, 1e-9, "rounding of floats")
    return found.adding(attention=rounded(mean, 4)).averaging(seeds)


@claim(
    "Beyond.constant",
    "The constant of the stopping time",
    kind="order",
    uses=["Thm.1"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"\eta T(\alpha_*-\alpha_\#)=c(M,\xi\sqrt m),\ \text{falling in }\xi\sqrt m",
    reading="mean of 20 starts for xi sqrt(m) = 0.003, 1, 10 and M = 4, 10; other fractions at xi sqrt(m) = 1",
)
def constant(lab: Laboratory) -> Verdict:
    """c falls in xi sqrt(m); three pairs of fractions have the same c up to a quarter. Steps are those of the printed gradients."""
    return by_printed_steps(lab, lambda: _constant(lab))


def _constant(lab: Laboratory) -> Verdict:
    seeds, table = lab.draw.seeds(SEEDS), {}

    def mean(M: int, size: float, a: float, c: float) -> float:
        xi, wide = size / 400**0.5, M + 1
        case = Case(M=M, alpha_s=a, alpha_c=c, d=M, m_a=wide, m_b=wide, m=400, xi=xi, eta=0.2, steps=1500)
        return float(times(lab, case).mean()) * (a - c)

    for M in (4, 10):
        for size in (0.003, 1.0, 10.0):
            table[M, size] = mean(M, size, 0.4, 0.1)
    others = [mean(4, 1.0, a, c) / table[4, 1.0] for a, c in ((0.5, 0.05), (0.3, 0.15))]
    ratios = [table[M, large] / table[M, small] for M in (4, 10) for small, large in ((0.003, 1.0), (1.0, 10.0))]
    where = [{"M": 4, "m": 400, "alpha_s": 0.4, "alpha_c": 0.1}]
    falling = Measurement("c over c at a smaller xi sqrt(m)", where * len(ratios), ratios)
    same = Measurement("c of other fractions over c", where * len(others), others)
    shown = {f"M = {M}, xi sqrt(m) = {size}": rounded(c, 4) for (M, size), c in table.items()}
    found = falling.between(0, 1 - 1e-9, "a fall") & same.between(
        0.8, 1.25, "one constant for other fractions up to a quarter"
    )
    return found.with_constants(c=shown).averaging(seeds)


@claim(
    "Beyond.condition",
    "Condition (8) is not needed",
    kind="existence",
    uses=["Eq.8"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{training reaches zero loss below }\alpha_*=\alpha_\#/(e^{-(\delta+\tau)}(1-(\sigma+\tau)))",
    reading="sigma = 0.1, delta = 0.4: (8) asks for alpha_*/alpha_# >= 1.66; with the ratio 1.5 zero loss is reached",
)
def not_needed(lab: Laboratory) -> Verdict:
    """The share of starts that reach both margins outside the condition."""
    case = Case(M=5, alpha_s=0.3, alpha_c=0.2, m=100, m_a=10, m_b=10, d=10, sigma=0.1, delta=0.4, eta=0.4, steps=3000)
    what = "all margins are reached"
    law = many_networks.exact_law(case)

    def fitted(seeds: Sequence[int]) -> list[bool]:
        return [bool(one) for one in lab.train_many(case, law, np.full((len(seeds), 2), 0.5), seeds)[0].fitted]

    return by_printed_steps(
        lab, lambda: with_high_probability(what, point(case), fitted, lab.draw, most=lab.most_seeds)
    )


@claim(
    "Beyond.positions",
    "Output weights of positions slow training",
    kind="order",
    uses=["Eq.1-positions"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"T(\text{per position})\ge\tfrac12\sqrt L\,T(\text{shared})",
    reading="steps to zero training loss on noisy tokens, output weights drawn for each position against shared ones, L = 16",
)
def positions(lab: Laboratory) -> Verdict:
    """The effective output weight is smaller by sqrt(L); half of that is asked for, before any run of this size."""
    case = Case(M=3, alpha_s=0.5, alpha_c=0.125, L=16, N=6, d=4, m=40, m_a=4, m_b=4, noise=0.01, eta=0.8, steps=800)

    def slower(seeds: Sequence[int]) -> list[bool]:
        kinds = {kind: replace(case, readout=kind) for kind in setting.READOUTS}
        steps = [{kind: lab.tokens(each, seed).steps for kind, each in kinds.items()} for seed in seeds]
        return [each["per_position"] >= case.L**0.5 / 2 * each["shared"] for each in steps]

    what = "per-position weights take sqrt(L)/2 times as many steps"
    return with_high_probability(what, point(case, L=16), slower, lab.draw, most=lab.most_seeds)


@claim(
    "Beyond.overlap",
    "How far patterns may overlap",
    kind="inequality",
    uses=["Asm.1"],
    insensitive="triangle inequality at the start, before anything moves",
    origin="ours",
    hypotheses=(),
    statement=r"\text{Assumption 1}\Rightarrow\kappa\ge\sqrt2-2\sigma,\quad\lambda\le1-\tfrac12(\sqrt2-2\sigma)^2",
    reading="maps of norm at most 1 take two unit patterns to within sigma of orthonormal features",
)
def patterns_that_overlap(lab: Laboratory) -> Verdict:
    """With sigma = O(1/M) patterns are nearly orthogonal: lambda = Theta(1), which Assumption 3 allows, needs sigma = Theta(1)."""
    i, j, p, q, W = sym("mu_i"), sym("mu_j"), sym("p_i"), sym("p_j"), sym("W")
    split = identity({"p_i - p_j": p - q - (W * (i - j) - (W * i - p) + (W * j - q))})
    kappa, lam = sym("kappa"), sym("lambda")
    (gap,) = graph.substitute([kappa**2 - 2 * (1 - lam)], {kappa: graph.sqrt(2 * (1 - lam))})
    told = {"overlap": (("sigma",), 1 - (graph.sqrt(graph.num(2)) - 2 * sym("sigma")) ** 2 / 2)}
    both = split & identity({"kappa^2 = 2 - 2 lambda": gap})
    return both.by_theorems(COQ / "overlap.v", told).proving(
        "|p_i - p_j| = sqrt 2, |W (mu_i - mu_j)| <= kappa since |W| <= 1, and the two errors are at most sigma"
    )
