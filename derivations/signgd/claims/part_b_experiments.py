"""Sections 3.1, 3.2 and B: the real network under sign descent, Adam and gradient descent, and the printed tables.

Optimisers are compared at a fifth of the dimension, d = 400, where all sizes of setting (a) are whole and labels are equal, as in
the paper; twenty networks side by side. Table 2 has the published size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from math import inf, isinf, log, pi, sqrt
from operator import and_
from statistics import median

import numpy as np
from scipy.special import stdtrit

from odesys import Hypothesis, Verdict, Witness, between, enumerate_all, say_number, untested, with_high_probability

from ..laboratory import Laboratory
from ..setting import Case, published
from ..special import network, stages, training_sets
from ..special.network import Optimiser, Training
from ..special.printed_tables import PRINTED
from .book import NUMBERS, book
from .common_checks import not_supposed

NETWORK = "runs of the real network in weight space, not of the systems that are broken"
STEPS, TURNED, ETA = 1000, 2500, 2e-4
OPTIMISERS = {
    "SignGD": Optimiser("signgd", ETA),
    "Adam": Optimiser("adam", ETA, 0.9, 0.999),
    "Adam, half": Optimiser("adam", ETA, 0.5, 0.999),
    "Adam, short": Optimiser("adam", ETA, 0.0, 0.9),
    "Adam, long": Optimiser("adam", ETA, 0.0, 0.999),
    "GD": Optimiser("gd", 0.2),
    "GD, same step": Optimiser("gd", ETA),
}
CASE, FULL_SIZE = published("a", 400), published("a")
SETTING = Hypothesis(
    "setting (a) of the experiments, scaled with d, as many samples of each label",
    r"n=m_v=\tfrac d{100},\ s=\tfrac{4d}{100},\ m_k=\tfrac{5d}{100},\ \text{up to rounding}",
    lambda p: (
        2 - sum(abs(p[x] - part * p["d"]) for x, part in (("n", 0.01), ("m_v", 0.01), ("s", 0.04), ("m_k", 0.05)))
    ),
)
EXPERIMENT = "the setting of the experiment"
POINT = {"n": CASE.n, "s": CASE.s, "d": CASE.d, "m_k": CASE.m_k, "m_v": CASE.m_v, "eta": ETA}
WHERE = "setting (a), d = 400, 1000 double steps"
EXPLORED = range(500, 506)  # seeds on which limits were chosen, at d = 500


def together(case: Case, optimiser: Optimiser, seeds: Sequence[int], steps: int) -> list[Training]:
    """A network of each seed: data (seed, 0), weights (seed, 1)."""
    data = [training_sets.make(case, (seed, 0)) for seed in seeds]
    weights = [network.gaussian(case, (seed, 1)) for seed in seeds]
    return network.train_together(data, weights, optimiser, steps)


@dataclass(frozen=True, eq=False)
class Trained:
    """One network: training losses at every tenth step; what else is measured is computed where it is read."""

    training: Training
    seed: int
    steps: int

    @property
    def losses(self) -> np.ndarray:
        """Training losses at every tenth step."""
        return self.training.loss[: self.steps // 10 + 1]

    @cached_property
    def test(self) -> float:
        """Test loss."""
        return network.test(self.training, 500, (self.seed, 2)).loss

    @cached_property
    def crossed(self) -> float:
        """Part of unaligned query noise that turned."""
        flip_time = self.training.data.case.flip_time(ETA)
        return stages.flips(self.training.run, 0.6 * flip_time).crossed.get("query", np.nan)

    @cached_property
    def against(self) -> np.ndarray:
        """Mean query noise of unaligned pairs against their vote, at every tenth step, in lengths of a step of SignGD."""
        flip_time, run = self.training.data.case.flip_time(ETA), self.training.run
        found = stages.flips(run, 0.6 * flip_time).curves.get("query", np.full(len(run.times), np.nan))
        return found[: self.steps // 10 + 1] / (ETA * run.start.l1.mean())

    @property
    def halt(self) -> float:
        """The last step at which that mean moves by a tenth of a step of SignGD, or more."""
        moving = np.flatnonzero(np.abs(np.diff(self.against)) >= 1)
        return 10.0 * (moving[-1] + 1) if moving.size else np.nan

    @property
    def fall(self) -> float:
        """How fast log L falls in the last quarter of training over the quarter before."""
        half, late, end = np.log(self.losses[[len(self.losses) // 2, 3 * len(self.losses) // 4, -1]])
        return float((end - late) / (late - half))


@lru_cache(maxsize=24)
def trained(name: str, seeds: tuple[int, ...], mu: float = 1.0, steps: int = STEPS) -> tuple[Trained, ...]:
    """Networks of these seeds under one optimiser, for a length of the signal."""
    found = _trainings(name, seeds, mu, LONGER.get((name, steps), steps))
    return tuple(Trained(training, seed, steps) for training, seed in zip(found, seeds, strict=True))


LONGER = {("Adam, long", STEPS): TURNED}  # App.B.7 trains on from where Fig.2c ends, and Fig.2c reads losses alone


@lru_cache(maxsize=24)
def _trainings(name: str, seeds: tuple[int, ...], mu: float, steps: int) -> list[Training]:
    return together(replace(CASE, mu=mu), OPTIMISERS[name], seeds, steps)


def _likely(
    lab: Laboratory,
    what: str,
    values: Callable[[tuple[int, ...]], Sequence[float]],
    low: float,
    high: float,
    because: str,
    calibrated_on: Sequence[int] = (),
    point: dict[str, float] = POINT,
    case: Case = CASE,
) -> Verdict:
    """A value of a trained network lies in a range with high probability over data and start; seeds double until it is decided."""

    found: list[float] = []

    def trial(seeds: tuple[int, ...]) -> list[bool]:
        new = [float(value) for value in values(tuple(seeds))]
        found.extend(new)
        return [low <= value <= high for value in new]

    event = f"{what} is " + (
        f"at least {say_number(low)}" if isinf(high) else f"from {say_number(low)} to {say_number(high)}"
    )
    limits = {name: end for name, end in (("low", low), ("high", high)) if not isinf(end)}
    verdict = with_high_probability(event, point, trial, lab.draw).within(limits, because, calibrated_on)
    seen = [float(f"{end:.4g}") for end in (min(found), median(found), max(found))] if found else []
    return not_supposed(verdict.adding(what=what, least_median_most=seen), case, point["eta"], EXPERIMENT)


def _each(
    value: Callable[..., float], *names: str, mu: float = 1.0, steps: int = STEPS
) -> Callable[[tuple[int, ...]], list[float]]:
    """A value of networks with the same data and start under several optimisers, for each seed."""
    return lambda seeds: [
        value(*nets) for nets in zip(*(trained(name, seeds, mu, steps) for name in names), strict=True)
    ]


@book.claim(
    "App.B.7",
    "Small beta_2 and the query noise",
    kind="order",
    where="Appendix B.7, training dynamics, first sentence",
    parts=["only small beta_2 prevent it"],
    origin="text",
    hypotheses=[SETTING],
    expect="fails",
    insensitive=NETWORK,
    statement=r"\text{only small values of}\ \beta_2\ \text{prevent the negative query noise from turning positive}",
    reading="the print alone: noise turns under SignGD, beta_2 = 0, not under Adam with 0.999; runs at d = 400, 2500 double steps, beta_1 = 0, agree",
)
def small_beta(lab: Laboratory) -> Verdict:
    """The difference of what turned, after twice the time in which queries turn under SignGD (four flip times)."""
    gap = _each(lambda short, long: short.crossed - long.crossed, "Adam, short", "Adam, long", steps=TURNED)
    what = "the part at beta_2 = 0.9 minus that at 0.999"
    printed = _likely(lab, what, gap, -1, -1e-9, "the printed relation: less turns for small beta_2")
    if isinstance(printed.witness, Witness):
        said = printed.witness.sentence.replace(" (all hypotheses hold)", "")
        printed = printed.witnessed(
            f"the same paragraph has the noise turn under SignGD, and halt earlier as beta_2 grows; in runs, {said}",
            printed.witness.point,
        )
    fixed = _likely(lab, what, gap, 1e-9, 1, "the opposite relation: more turns for small beta_2")
    return printed.correcting(
        r"\text{only small values of}\ \beta_2\ \textit{allow}\ \text{it}",
        fixed,
        "with a long memory the step size falls before the turn ends, as the text says next",
    ).blaming("misprint", "prevent-allow")


@book.claim(
    "App.B.7-query",
    "Query noise turns under SignGD and not under Adam",
    kind="order",
    where="Section 3.2 on Adam, last sentences; Appendix B.7, first paragraph",
    parts=["positive under SignGD", "negative under Adam"],
    origin="text",
    hypotheses=[SETTING],
    expect="untested",
    insensitive=NETWORK,
    statement=r"\text{Figure 2 (a), (b): the negative query noise becomes positive in the end under SignGD, and stays negative under Adam,}\ \beta_1=0.9",
    reading="signs at the end of Figure 2, where no run of this book goes",
)
def query_noise(lab: Laboratory) -> dict[str, Verdict]:
    """Where a curve would be if it went on at its last speed is no run."""
    why = f"runs here ({WHERE}) end before Figure 2 does, counted in times to the flip of the keys"
    return {"positive under SignGD": untested(why), "negative under Adam": untested(why)}


@book.claim(
    "App.B.7-halts",
    "A larger beta_2 halts the query noise earlier",
    kind="order",
    where="Appendix B.7, training dynamics, second sentence",
    parts=["halts earlier", "smoother"],
    origin="text",
    hypotheses=[SETTING],
    expect="untested",
    insensitive=NETWORK,
    statement=r"\text{as}\ \beta_2\ \text{increases, the dynamics become smoother, and the evolution of query noise halts earlier}",
    reading="beta_2 = 0.9 against 0.999, beta_1 = 0, d = 400, 2500 double steps; halted: a tenth of SignGD's speed; smoothness is not measured",
)
def halting(lab: Laboratory) -> dict[str, Verdict]:
    """How much earlier it halts for the same data and start; how smooth a curve is has no measure in the print."""
    earlier = _each(lambda short, long: short.halt - long.halt, "Adam, short", "Adam, long", steps=TURNED)
    return {
        "halts earlier": _likely(
            lab, "steps by which 0.999 halts earlier", earlier, 10, inf, "the printed relation, by a record or more"
        ),
        "smoother": untested("the text has no measure of how smooth a curve is"),
    }


@book.claim(
    "Sec.3.2-optimisers",
    "SignGD and Adam fit fast and generalise badly, GD does not",
    kind="order",
    parts=["training loss", "SignGD against GD", "Adam against GD"],
    origin="ours",
    hypotheses=[SETTING],
    insensitive=NETWORK,
    statement=r"\text{SignGD and Adam reach a small training loss; GD generalises better than both}",
    reading=f"{WHERE}, synthetic data, one level, not the digits of Figure 2 (d): test losses of SignGD and Adam minus that of GD",
)
def optimisers(lab: Laboratory) -> dict[str, Verdict]:
    """Training losses, and differences of test losses for the same data and start."""
    fit = _each(lambda *nets: max(net.losses[-1] for net in nets), "SignGD", "Adam", "GD")
    return {
        "training loss": _likely(lab, "largest training loss", fit, 0, 0.1 * log(2), TENTH),
        "SignGD against GD": _likely(lab, "difference of test losses", _against("SignGD"), 1e-9, inf, BETTER),
        "Adam against GD": _likely(lab, "difference of test losses", _against("Adam"), 1e-9, inf, BETTER),
    }


TENTH = "a tenth of the loss at the start"
BETTER = "the printed relation: the test loss of GD is smaller"


def _against(name: str, mu: float = 1.0) -> Callable[[tuple[int, ...]], list[float]]:
    return _each(lambda net, gd: net.test - gd.test, name, "GD", mu=mu)


# ---- convergence -------------------------------------------------------------------------------------------------------

MIDDLE = (1 + log(4 / 3) / log(3 / 2)) / 2  # of the fall of an exponential and that of a power of t


@book.claim(
    "Fig.2c",
    "SignGD converges linearly, Adam sublinearly, GD is slower",
    kind="order",
    where="Figure 2 (c), Appendix B.7: convergence of SignGD, Adam and GD",
    parts=[
        "SignGD decays exponentially",
        "Adam is sublinear",
        "beta_1 = 0, 0.5, 0.9 overlap",
        "SignGD is faster than GD",
    ],
    origin="text",
    hypotheses=[SETTING],
    insensitive=NETWORK,
    statement=r"\text{one step size: SignGD decays exponentially, Adam sublinearly and alike for}\ \beta_1\in\{0,0.5,0.9\},\ \text{SignGD trains faster than GD}",
    reading=f"{WHERE}: slope of log L in the last quarter over the one before, 1 for an exponential, 0.71 for a power of t",
)
def convergence(lab: Laboratory) -> dict[str, Verdict]:
    """Slopes of log L, distances of the three curves of Adam, and last losses."""
    apart = _each(
        lambda *nets: max(np.abs(np.log(net.losses / nets[0].losses)).max() for net in nets),
        "Adam",
        "Adam, half",
        "Adam, long",
    )
    middle = "half way from the 1 of an exponential to the 0.71 of a power of t"
    rest = "; exponents of the loss go from 2 to 4 (Beyond.exponents), so it is at most 2"
    return {
        "SignGD decays exponentially": _likely(
            lab, "fall of log L", _each(lambda net: net.fall, "SignGD"), MIDDLE, 2, middle + rest
        ),
        "Adam is sublinear": _likely(lab, "fall of log L", _each(lambda net: net.fall, "Adam"), 0, MIDDLE, middle),
        "beta_1 = 0, 0.5, 0.9 overlap": _likely(
            lab, "largest |log| of a ratio", apart, 0, 0.1, "ten percent of a loss that falls tenfold", EXPLORED
        ),
        "SignGD is faster than GD": _likely(
            lab,
            "last loss of SignGD over that of GD",
            _each(lambda sign, gd: sign.losses[-1] / gd.losses[-1], "SignGD", "GD, same step"),
            0,
            1,
            "the printed relation",
        ),
    }


@book.claim(
    "Beyond.noise-levels",
    "GD generalises better at three noise levels",
    kind="order",
    origin="ours",
    hypotheses=[SETTING],
    level="full",
    insensitive=NETWORK,
    uses=["Sec.3.2-optimisers"],
    statement=r"\|\mu\|/\|\xi\|_2\approx\tfrac14,\tfrac12,1:\ \text{the test losses of SignGD and Adam are above that of GD}",
    reading=f"{WHERE}, signals of length 1/2, 1 and 2: synthetic data for the noisy digits of Figure 2 (d); training losses are not judged",
)
def noise_levels(lab: Laboratory) -> Verdict:
    """Differences of test losses for the same data and start, at each length of the signal."""

    def at(
        mu: float, what: str, values: Callable[..., Sequence[float]], low: float, high: float, because: str
    ) -> Verdict:
        point, case = {**POINT, "mu": mu}, replace(CASE, mu=mu)
        return _likely(lab, f"{what}, |mu| = {mu:g}", values, low, high, because, point=point, case=case)

    parts = [
        at(mu, f"{name} minus GD", _against(name, mu), 1e-9, inf, BETTER)
        for mu in (0.5, 1.0, 2.0)
        for name in ("SignGD", "Adam")
    ]
    return reduce(and_, parts)


# ---- tables ------------------------------------------------------------------------------------------------------------

TABLE = {"n": FULL_SIZE.n, "s": FULL_SIZE.s, "d": FULL_SIZE.d, "m_k": FULL_SIZE.m_k, "m_v": FULL_SIZE.m_v, "eta": 1e-4}
PAIRS = FULL_SIZE.n * FULL_SIZE.m_k


@lru_cache(maxsize=8)
def _first_ten(seeds: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """For every seed the table of pairs by their signs at the start (rows) and at t = 10 (columns)."""
    return tuple(stages.contingency(one.run, 10) for one in together(FULL_SIZE, Optimiser("signgd", 1e-4), seeds, 10))


COLUMNS = {"++": [0], "+- and -+": [1, 2], "--": [3]}
NETWORKS = 40


def _printed_counts(lab: Laboratory) -> Verdict:
    """Logarithms of printed sums of columns, in standard deviations of what one more network of ours would have."""
    seeds = lab.draw.seeds(NETWORKS)
    tables = [table for k in (0, NETWORKS // 2) for table in _first_ten(tuple(seeds[k : k + NETWORKS // 2]))]
    columns = PRINTED["2"].counts.sum(axis=0)
    away, seen = {}, {}
    for name, which in COLUMNS.items():
        ours, printed = np.array([table.sum(axis=0)[which].sum() for table in tables]), columns[which].sum()
        logs = np.log(ours)
        away[name] = float((log(printed) - logs.mean()) / (logs.std(ddof=1) * sqrt(1 + 1 / NETWORKS)))
        seen[name] = (
            f"printed {printed}; {NETWORKS} networks have {ours.min()} to {ours.max()}, median {np.median(ours):g}"
        )
    limit = float(stdtrit(NETWORKS - 1, 0.9995))
    verdict = between("printed counts, in standard deviations", list(away.values()), -limit, limit).adding(columns=seen)
    because = "99.9 percent for one more draw of the logarithm of a sum over 100 neurons, near a Gaussian (Student, 39 degrees)"
    verdict = verdict.at(TABLE).averaging(seeds).within({"low": -limit, "high": limit}, because)
    return not_supposed(verdict, FULL_SIZE, TABLE["eta"], EXPERIMENT)


@book.claim(
    "Tab.2",
    "Signs are independent at the start and aligned at t = 10",
    kind="probability",
    where="Table 2 and the paragraph on Stage II in Section 3.1",
    parts=["independent at the start", "aligned at t = 10", "as many positive as negative", "the printed counts"],
    origin="text",
    hypotheses=[SETTING],
    uses=["Beyond.trap"],
    insensitive=NETWORK,
    statement=r"\text{2000 pairs}\ (s,i):\ \text{the signs of query and key noise are independent at}\ t=0\ \text{and aligned at}\ t=10,\ \text{nearly as often positive as negative; column sums}\ 990,17,16,977",
    reading="setting (a), d = 2000, step 10^-4: classes at the start, aligned pairs, positive ones among them; printed column sums as a draw of our networks",
)
def table_2(lab: Laboratory) -> dict[str, Verdict]:
    """Counts of the network's own tables over seeds."""

    def rows(seeds: tuple[int, ...]) -> list[float]:
        return [float(np.abs(table.sum(axis=1) - PAIRS / 4).max()) for table in _first_ten(seeds)]

    def apart(seeds: tuple[int, ...]) -> list[float]:
        return [float(table[:, 1:3].sum() / PAIRS) for table in _first_ten(seeds)]

    def positive(seeds: tuple[int, ...]) -> list[float]:
        return [float(t[:, 0].sum() / (t[:, 0].sum() + t[:, 3].sum())) for t in _first_ten(seeds)]

    held = FULL_SIZE.grain(1e-4) / (2 * sqrt(pi)) + 5 * sqrt(0.09 * 0.91 / PAIRS)
    trap = "the part h/(2 sqrt pi) of all pairs that a two-step cycle ever holds (Beyond.trap), some of which drift out before t = 10, and five standard errors"
    share = 2 / pi * np.arcsin(FULL_SIZE.rho**2 / (1 + FULL_SIZE.rho**2))  # two votes of one neuron agree more often
    spread = 5 * sqrt((1 + (FULL_SIZE.n - 1) * share) / PAIRS) / 2
    five = "five standard errors, for votes of one neuron that share its signals"
    return {
        "independent at the start": _likely(
            lab,
            "largest distance of a class from 500 pairs",
            rows,
            0,
            5 * sqrt(PAIRS * 3 / 16),
            "five standard errors of a count of 2000 pairs",
            point=TABLE,
            case=FULL_SIZE,
        ),
        "aligned at t = 10": _likely(
            lab, "part that is not aligned", apart, 0, held, trap, point=TABLE, case=FULL_SIZE
        ),
        "as many positive as negative": _likely(
            lab, "part of positive pairs", positive, 0.5 - spread, 0.5 + spread, five, point=TABLE, case=FULL_SIZE
        ),
        "the printed counts": _printed_counts(lab),
    }


@book.claim(
    "Tab.2-11",
    "The printed tables of signs add up",
    kind="identity",
    where="Tables 2 and 4 to 11",
    parts=["row sums", "column sums", "aligned"],
    origin="text",
    hypotheses=[],
    insensitive=NUMBERS,
    statement=r"\text{rows add up to}\ 512,507,458,523,\ \text{columns to the printed sums, all to}\ m_kn=2000;\ \text{query and key noise are aligned at}\ t=10\ \text{in every model}",
    reading="exact integers of the nine tables; aligned: more than nine in ten pairs, set with the tables at hand; figure tables has those of deeper models of our sizes",
)
def tables_add_up(lab: Laboratory) -> dict[str, Verdict]:
    """Row by row and column by column."""
    names = list(PRINTED)

    def aligned(name: str) -> bool:
        table = PRINTED[name].counts
        return 10 * int(table[:, 1:3].sum()) < int(table.sum())

    return {
        "row sums": enumerate_all(
            names, lambda name: PRINTED[name].counts.sum(axis=1).tolist() == [512, 507, 458, 523], "printed tables"
        ),
        "column sums": enumerate_all(
            names,
            lambda name: (
                PRINTED[name].counts.sum(axis=0).tolist() == list(PRINTED[name].columns)
                and sum(PRINTED[name].columns) == PAIRS
            ),
            "printed tables",
        ),
        "aligned": enumerate_all(names, aligned, "printed tables").adding(
            parts_of_aligned_pairs={name: f"{1 - PRINTED[name].counts[:, 1:3].sum() / PAIRS:.4g}" for name in names}
        ),
    }
