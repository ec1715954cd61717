"""Remarks of the main text that are claims too: the margin of the initial features, and more than two groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from odesys import (
    FAILS,
    HOLDS,
    Draw,
    Evidence,
    Flow,
    Measurement,
    ProgramNetwork,
    Verdict,
    Witness,
    computed_once,
    gradient_descent,
    iterate,
    measure,
    measured,
    over_seeds,
    refuted,
    row_softmax,
    say_point,
    with_high_probability,
)

from .. import dynamics, setting
from ..laboratory import HEADS, Laboratory
from ..setting import RATE
from .book import book
from .common_hypotheses import SMALL_START
from .common_stage_three import UNBOUNDED
from .part_e_trajectories import attention_at

Point = Mapping[str, Any]


def _networks(lab: Laboratory, p: Point, seeds: Sequence[int]) -> ProgramNetwork:
    """The paper's initialisation: w = 0, keys and queries with variance omega^2 / m."""
    drawn = [np.random.default_rng([seed, p["m"], p["K"]]) for seed in seeds]
    flow = _descent(lab, p["K"])
    return flow.networks(drawn, width=p["m"], omega=p["omega"], parameters={"b": p["b"]})


@computed_once
def _descent(lab: Laboratory, K: int) -> Flow:
    """All weights at once, by gradient steps."""
    return gradient_descent(lab.model(K), lab.data(K), train=dynamics.ALL)


# ---- the margin of the initial features ------------------------------------------------------------------------------

NETWORKS = 160
START = {"K": 2, "b": 0.5}


@book.claim(
    "5.4-text",
    "Initial features have a tiny margin",
    kind="order",
    uses=["5.4"],
    origin="text",
    where="Section 5.1, after Lemma 5.4, with its footnote",
    parts=("in omega", "in m"),
    hypotheses=(SMALL_START,),
    statement=r"\gamma=\max_{\|w\|_2=1}\min_{X\in\mathcal D}w^\top yF(X)\le\widetilde O(\omega^2/\sqrt m)\ \text{at initialization}",
    reading="F is the attention feature of Eq. (2); all units are on at the start; gamma is averaged over networks.",
)
def initial_margin(lab: Laboratory) -> dict[str, Verdict]:
    """The largest margin over networks, along omega and along m."""
    seeds = lab.draw.seeds(NETWORKS)
    samples = _tokens(lab)
    margin = lambda p, used: [_hull_distance(lab, p, seed, samples) for seed in used]  # noqa: E731
    wide = [{**p, "m": round(p["m"])} for p in lab.draw.along("m", 32, 8192, 9, omega=0.1, **START)]
    small = lab.draw.along("omega", 0.01, 0.5, 6, m=256, **START)
    return {
        "in omega": over_seeds("the largest margin", small, margin, seeds[:40]).order("omega", 2, "O", "zero"),
        "in m": over_seeds("the largest margin", wide, margin, seeds).order("m", -0.5, "O"),
    }


def _tokens(lab: Laboratory) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Words and signs of the tokens of every sample, with its label."""
    pinned = lab.model().words.pinned
    found = [([pinned.parse(token) for token in tokens], label) for tokens, label in lab.samples()]
    return [(np.array([i for i, _ in parts]), np.array([s for _, s in parts]), label) for parts, label in found]


def _hull_distance(
    lab: Laboratory, p: Point, seed: int, samples: Sequence[tuple[np.ndarray, np.ndarray, int]]
) -> float:
    """Minimum-norm point of the convex hull of the signed features, by non-negative least squares."""
    images = _networks(lab, p, [seed])[0].images()
    scores = [images[f"W_K.{head}"].T @ images[f"W_Q.{head}"] for head in HEADS]
    rows = []
    for places, signs, label in samples:
        features = []
        for score, sign in zip(scores, lab.model().signs, strict=True):
            weights = np.exp(np.outer(signs, signs) * score[places, places[:, None]])  # row by row of a query
            weights /= weights.sum(axis=1, keepdims=True)
            features.append(sign * np.bincount(np.tile(places, len(places)), (signs * weights).ravel(), 4))
        rows.append(label * np.concatenate(features))
    table = np.array(rows)
    heavy = 1e3  # weight of the condition that the coefficients sum to one
    coefficients, _ = nnls(np.vstack([table.T, heavy * np.ones(len(table))]), np.append(np.zeros(8), heavy))
    return float(np.linalg.norm(table.T @ coefficients) / coefficients.sum())


# ---- more than two groups --------------------------------------------------------------------------------------------

TRAINED = {"L": 3, "omega": 0.3, "m": 64, "b": 0.5}
LEARNED = 0.1  # loss at which a run counts as trained
BLOCK, BLOCKS = 100, 120  # steps between two looks at the loss, and how many at most


@dataclass(frozen=True)
class Run:
    """What a trained network shows: steps until the loss is small, whether all samples are classified, asymmetry."""

    steps: int
    classified: bool
    asymmetry: float


def _sample_attention(score: np.ndarray, K: int) -> np.ndarray:
    """Softmax weights on (c_1, v_1, -v_2) from the table of scores (key, query), rows queries."""
    places, signs = [0, K, K + 1], np.array([1, 1, -1])
    return row_softmax((score[np.ix_(places, places)] * np.outer(signs, signs)).T)


def _asymmetry(weights: np.ndarray) -> float:
    """Largest difference between the weights on v_1 and -v_2, over the queries: small where Theorem 4.1 holds."""
    return float(np.abs(weights[:, 1] - weights[:, 2]).max())


def _look(network: ProgramNetwork, K: int, steps: int) -> Run:
    images, outputs = network.images(), network.outputs()
    weights = _sample_attention(images["W_K.p"].T @ images["W_Q.p"], K)
    margins = [value for name, value in outputs.items() if name.startswith("margin_")]
    return Run(steps, min(margins) > 0, _asymmetry(weights))


@computed_once
def trained(lab: Laboratory, K: int, seeds: tuple[int, ...]) -> list[Run]:
    """Gradient descent on all weights at the paper's rate, all seeds at once, until every loss is small."""
    running, left = _networks(lab, {**TRAINED, "K": K}, seeds), list(range(len(seeds)))
    found: dict[int, Run] = {}
    for block in range(1, BLOCKS + 1):
        running = running.descend(RATE, BLOCK)
        small = running.loss() < LEARNED
        found |= {i: _look(running[k], K, block * BLOCK) for k, i in enumerate(left) if small[k]}
        if small.all():
            return [found[i] for i in range(len(seeds))]
        running = running[[k for k in range(len(left)) if not small[k]]]
        left = [i for i in left if i not in found]
    found |= {i: _look(running[k], K, BLOCK * BLOCKS + 1) for k, i in enumerate(left)}
    return [found[i] for i in range(len(seeds))]


@computed_once
def wide_run(lab: Laboratory, K: int, omega: float) -> tuple[float, float]:
    """Infinite width, the same descent: rate times steps until the loss is small, and the asymmetry over all queries.

    Both are 0 if that is never.
    """
    quotient = dynamics.named(_descent(lab, K).quotient(generators=dynamics.symmetry_generators(K)))
    start, given = quotient.initial_state(omega), {"b": TRAINED["b"], "eta": RATE}
    run = iterate(quotient.system, start, BLOCK * BLOCKS, given, record_every=20)
    losses = quotient.system.compile(given).observed(run.times, run.states)["loss"]
    if not (losses < LEARNED).any():
        return 0.0, 0.0
    k = int(np.argmax(losses < LEARNED))
    state = dict(zip(quotient.system.names, run.states[k].tolist(), strict=True))
    return RATE * float(run.times[k]), _asymmetry(attention_at(state, 1, -1))


def _point(K: int) -> dict[str, Any]:
    return {**TRAINED, "K": K}


def _learnable(lab: Laboratory) -> Verdict:
    """Networks of three and four groups; for eight groups infinite width."""

    def event(K: int) -> Verdict:
        trial = lambda seeds: [r.classified and r.steps <= BLOCK * BLOCKS for r in trained(lab, K, seeds)]  # noqa: E731
        return with_high_probability("every sample is classified and the loss is below 0.1", _point(K), trial, lab.draw)

    wide = measure("the time to a loss of 0.1", [{"K": 8, "omega": 0.3}], lambda p: wide_run(lab, 8, p["omega"])[0])
    return event(3) & event(4) & wide.between(1, RATE * BLOCK * BLOCKS, "the loss is reached within the steps made")


def _slower(lab: Laboratory) -> Verdict:
    """The same seed takes longer with three groups than with two, and longer with four than with three."""

    def ordered(seeds: tuple[int, ...]) -> Sequence[bool]:
        steps = [[r.steps for r in trained(lab, K, seeds)] for K in (2, 3, 4)]
        return [two < three < four for two, three, four in zip(*steps, strict=True)]

    # the point of the most groups stands for the three that are compared
    event = with_high_probability("training takes longer with more groups", _point(4), ordered, lab.draw)
    more: list[dict[str, Any]] = [{"K": K, "omega": 0.3} for K in (2, 3, 4, 8)]
    times = [wide_run(lab, p["K"], p["omega"])[0] for p in more]
    growth = measure(
        "the time over that of the next smaller K", more[1:], lambda p: _growth(times, [q["K"] for q in more], p["K"])
    )
    return event & growth.between(1.02, UNBOUNDED, "longer by more than the 20 steps between two looks at the loss")


def _growth(times: Sequence[float], sizes: Sequence[int], K: int) -> float:
    place = sizes.index(K)
    return times[place] / times[place - 1] if times[place - 1] > 0 else 0.0


def _symmetry_lost(lab: Laboratory) -> Verdict:
    """The asymmetry is larger than with two groups in most networks; at infinite width O~(omega) is refuted but for K = 2."""

    def larger(seeds: tuple[int, ...]) -> Sequence[bool]:
        two, three = trained(lab, 2, seeds), trained(lab, 3, seeds)
        return [a.asymmetry < b.asymmetry for a, b in zip(two, three, strict=True)]

    event = with_high_probability("the asymmetry is larger than for K = 2", _point(3), larger, lab.draw)
    control = _wide_asymmetry(lab, 2).order(
        "omega", 1, "O", "zero"
    )  # by the same yardstick it must hold for two groups
    return event & _lost_for(lab, 3) & _lost_for(lab, 4) & control


def _looked_at(K: int) -> list[dict[str, Any]]:
    """The runs after which the range of omega and the criterion were chosen; they are judged at others."""
    return Draw().along("omega", 1e-3, 0.2, 14, K=K)


def _wide_asymmetry(lab: Laboratory, K: int) -> Measurement:
    points = lab.draw.along("omega", 1.1e-3, 0.19, 14, K=K)  # two decades also where a new draw takes off its ends
    what = f"the largest asymmetry of a query at K = {K}"
    return measure(what, points, lambda p: wide_run(lab, p["K"], p["omega"])[1])


def _lost_for(lab: Laboratory, K: int) -> Verdict:
    wide = _wide_asymmetry(lab, K)
    stays = wide.between(1e-6, 1, "a difference of probabilities, positive beyond rounding")
    return stays if stays.as_stated == FAILS else _not_of_order_omega(wide)


def _not_of_order_omega(asymmetry: Measurement) -> Verdict:
    """Near symmetry is O~(omega) in Theorem 4.1; it is lost where that is refuted, over two decades."""
    kept = asymmetry.order("omega", 1, "O", "zero")
    if kept.as_stated == FAILS:
        lost = measured(True, **kept.details).at(*(dict(point) for point in asymmetry.points))
        because = "near symmetry is O~(omega) in Theorem 4.1; the 99.9 percent interval of the exponent excludes it"
        return lost.within({"exponent below": 1}, because, _looked_at(asymmetry.points[0]["K"]))
    if kept.as_stated == HOLDS:
        end = dict(asymmetry.points[0])
        sentence = f"down to {say_point(end)} (all hypotheses hold) the largest asymmetry is of the order omega"
        return refuted(Witness(sentence, end), Evidence.MEASUREMENT, **kept.details).at(end)
    return kept


@book.claim(
    "Obs.1",
    "More than two groups",
    kind="probability",
    level="full",
    origin="text",
    where="Observation 1 and Appendix A.4",
    parts=("learnable", "near symmetry lost", "takes longer"),
    hypotheses=(SMALL_START,),
    statement=r"K\ge3:\ \text{the transformer in Equation (1) can learn}\ \mathcal D;\ \text{the near symmetry property in the attention no longer holds};\ \text{training takes longer with more groups}",
    reading="L = 3; gradient descent at rate 0.1 on all weights; near symmetry as in Theorem 4.1 on X_{1,+,-}, lost at K = 3, 4; trained means loss 0.1.",
)
def more_groups(lab: Laboratory) -> dict[str, Verdict]:
    """Networks of width 64 for K = 2, 3, 4, and infinite width for K = 2, 3, 4, 8."""
    return {
        "learnable": _learnable(lab),
        "near symmetry lost": _symmetry_lost(lab),
        "takes longer": _slower(lab),
    }


# ---- stages with three groups ----------------------------------------------------------------------------------------

THREE: dict[str, Any] = {"K": 3, "L": 3, "omega": 0.1, "m": 64, "b": 0.5}
HALF, MAJOR = 0.5, 2.0  # learned: half of the value at the end; major growth: twice any other
LEAST = 1 / (BLOCK * BLOCKS)  # one step, of all that a run may make
STAGES, GROWTH = "stage-wise", "major growth"


@computed_once
def _looks(lab: Laboratory, seeds: tuple[int, ...]) -> list[list[tuple[float, np.ndarray]]]:
    """Of each network, every 100 steps until its loss is small: mean of w_+ v_k, scores of the + head."""
    K = int(THREE["K"])
    running, left = _networks(lab, THREE, seeds), list(range(len(seeds)))
    seen: list[list[tuple[float, np.ndarray]]] = [[] for _ in seeds]
    for _ in range(BLOCKS):
        running = running.descend(RATE, BLOCK)
        images = running.images()
        scores = images["W_K.p"].mT @ images["W_Q.p"]
        for k, i in enumerate(left):
            seen[i].append((float(images["w.p"][k, 0, K:].mean()), scores[k]))
        still = [k for k, loss in enumerate(running.loss()) if loss >= LEARNED]
        if not still:
            break
        running, left = running[still], [left[k] for k in still]
    return seen


def _in_turn(neurons: Sequence[float], scores: Sequence[float]) -> bool:
    """The neurons reach half of their value at the end at an earlier look than the largest score does."""
    first = [int(np.argmax(np.array(values) >= HALF * values[-1])) for values in (neurons, scores)]
    return first[0] < first[1]


def _share_of_others(score: np.ndarray, K: int) -> float:
    """The largest score that is not of a group key and a classification query, over the smallest c_k W_K W_Q v_k."""
    others = np.abs(score)
    others[:K, K:] = 0
    return float(others.max() / max(score[:K, K:].diagonal().min(), 1e-12))


@computed_once
def _wide_stages(lab: Laboratory, omega: float, b: float) -> tuple[float, float, float]:
    """Infinite width, K = 3: time at which the scores are halfway over that of the neurons, the share of the others.

    And the time at which the mean loss of conflicting samples is half of log 2, over that of consistent ones.
    """
    quotient = dynamics.named(_descent(lab, 3).quotient(generators=dynamics.symmetry_generators(3)))
    given = {"b": b, "eta": RATE}
    run = iterate(quotient.system, quotient.initial_state(omega), BLOCK * BLOCKS, given, record_every=1)
    seen = quotient.system.compile(given).observed(run.times, run.states)
    losses = seen["loss"]
    if not (losses < LEARNED).any():
        return 0.0, 1e9, 0.0
    states = run.states[: int(np.argmax(losses < LEARNED)) + 1]
    column = {n: states[:, quotient.system.names.index(n)] for n in quotient.system.names}
    kinds = [n for n in column if n.startswith("M_")]
    largest = np.max([np.abs(column[n]) for n in kinds], axis=0)
    halfway = [int(np.argmax(values >= HALF * values[-1])) for values in (column["n_v"], largest)]
    others = max(abs(float(column[n][-1])) for n in kinds if not n.startswith("M_cv"))
    samples = setting.data(3).samples
    kind = [[i for i, s in enumerate(samples, 1) if setting.is_conflicting(s) == clash] for clash in (False, True)]
    mean = [np.mean([np.log1p(np.exp(-seen[f"margin_{i}"])) for i in places], axis=0) for places in kind]
    fitted = [int(np.argmax(loss < HALF * np.log(2))) for loss in mean]
    share = others / max(float(column["M_cv_same"][-1]), 1e-12)
    return halfway[1] / max(halfway[0], 1), share, fitted[1] / max(fitted[0], 1)


@book.claim(
    "Sec.6-text",
    "Three groups are learned in stages",
    kind="probability",
    level="full",
    origin="text",
    where="Section 6, after Observation 1",
    parts=(STAGES, GROWTH),
    hypotheses=(SMALL_START,),
    statement=r"K=3:\ \text{the training dynamics is still stage-wise};\ \text{there are score variables exhibiting major growth compared with others}",
    reading="To loss 0.1: neurons, then scores, reach half their end value; c_k' W_K' W_Q v_k is twice any score that is not of a key c and a query v",
)
def three_groups_in_stages(lab: Laboratory) -> dict[str, Verdict]:
    """Networks of width 64 over seeds, and infinite width along omega and at several b."""

    def staged(seeds: tuple[int, ...]) -> Sequence[bool]:
        return [
            _in_turn([n for n, _ in looks], [float(np.abs(s).max()) for _, s in looks]) for looks in _looks(lab, seeds)
        ]

    def grown(seeds: tuple[int, ...]) -> Sequence[bool]:
        return [_share_of_others(looks[-1][1], int(THREE["K"])) <= 1 / MAJOR for looks in _looks(lab, seeds)]

    own = [{"K": 3, "omega": omega, "b": b} for omega in (0.1, 0.01, 0.001) for b in (0.3, 0.5, 0.7)]
    points = lab.draw.points("three groups", own, {"omega": (1e-3, 0.1), "b": (0.3, 0.7)}, (SMALL_START,))
    turn = measure(
        "the time of the scores over that of the neurons", points, lambda p: _wide_stages(lab, p["omega"], p["b"])[0]
    )
    fitted = measure(
        "the time of the loss of conflicting samples over that of consistent ones",
        points,
        lambda p: _wide_stages(lab, p["omega"], p["b"])[2],
    )
    share = measure(
        "the largest other score over c_k W_K W_Q v_k", points, lambda p: _wide_stages(lab, p["omega"], p["b"])[1]
    )
    return {
        STAGES: with_high_probability("neurons learn before attention", THREE, staged, lab.draw)
        & turn.between(1 + LEAST, UNBOUNDED, "the neurons are first by a step or more")
        & fitted.between(1 + LEAST, UNBOUNDED, "consistent samples are fitted first, by a step or more"),
        GROWTH: with_high_probability("every score of c_k, v_k is twice any other", THREE, grown, lab.draw)
        & share.between(0, 1 / MAJOR, "major growth is read as twice any other"),
    }
