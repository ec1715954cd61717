"""Claims about training, judged along a path into Condition 3.1: three sizes, 20 seeds at each, doubled until decided.

No machine reaches the condition: m_k >= log d and n >= m_k^4 with d >= n^9 need d of 10^82. The path is fixed by the
exponents of the condition. n grows sixfold, like m_k^5, and d like n^10, one power more than conditions 4 and 1 ask; the
constant 10^26 keeps T_2 below a hundredth of the time in which the smallest of 2 m_k signals moves; s = d^(1/2) n^-2;
sigma_p is n^(1/2) times the bound of condition 2; m_v = (log d)^2; sigma_0 is (log d)^(-5/4) times the bound of condition
3, since Lemma E.14 needs more than (log d)^(-1/2); eta = 1/(n d). So every margin grows; what is left at the end is
printed with each verdict. A redraw has new seeds and other constants in all these orders.

A statement holds (or fails) here if it does so with high probability at every size, and is undecided otherwise. What is
printed as o(1) also has to fall along the path, in the median (`VANISHES`); how likely that is by chance is beside it. All checks are made on each run at once, and the run is
dropped. Runs are the sign flow, eta to 0, at steps of 2 percent of t where much happens and of 20 percent elsewhere.

What the paper supposes from some place on is an event of a run (`Supposed`), listed among the hypotheses: that no vote is
tied (proof of Lemma E.5), and that each sample has enough aligned neurons, as Lemma E.27 says for large m_k. For odd n no
vote can be tied. At the even size a start without a tie is rare (`untied_probability`): a claim that supposes it is judged on
starts given that no neuron has as many positive as negative q + k, which nearly is that event (the run then is looked at T_2),
every other claim on plain starts. At m_k = 20, n = 201 the second event fails, and the end of Stage IV with it. Runs without
the event say nothing; where fewer than half of them have it, nothing is decided. At odd n the smallest vote on the path is 1,
where it would be of the order n^(1/2)/m_k inside the condition. The smallest share of aligned neurons is in the trend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial, reduce
from itertools import chain
from math import ceil, comb, log, sqrt
from operator import and_
from typing import Any, NamedTuple

import numpy as np

from odesys import Draw, Hypothesis, OdesysError, Verdict, Witness, approach, undecided, with_high_probability

from ..laboratory import Laboratory
from ..setting import Case
from ..special import watched_runs
from ..special.conditions import CONDITION_3_1, condition_point
from ..special.watched_runs import Record, Rules
from .book import book
from .common_hypotheses import CONDITION
from .common_reasons import PRINTED, TOLERANCES, TRIED, TRIED_FOR, VANISHES

Check = Callable[[Record], Verdict]


class Supposed(NamedTuple):
    """An event that the paper supposes: how it is listed, and whether a run has it."""

    hypothesis: Hypothesis
    seen: Callable[[Record], bool]


def _no_tie(record: Record) -> bool:
    now = record.run.at(record.T2)
    return bool(np.all(np.sign(now.q).sum(axis=1) != 0))


UNTIED = Supposed(
    Hypothesis(
        "no vote is tied",
        r"|E_{s,+}|\ne|E_{s,-}|\ \forall s,\ \text{as the proof of Lemma E.5 supposes; looked at in each run}",
        lambda p: 1,
    ),
    _no_tie,
)
LEAST_SHARE = 0.3  # of aligned neurons: above (5 - sqrt7)/9 = 0.262, below which unaligned keys slide (Beyond.sliding)
ALIGNED = Supposed(
    Hypothesis(
        "enough aligned neurons",
        r"|E_i^{(T_3)}|\ge0.3\,m_k\ \forall i,\ \text{by Lemma E.27 for large}\ m_k\text{; looked at in each run}",
        lambda p: 1,
    ),
    lambda record: bool(record.aligned(record.T3).mean(axis=0).min() >= LEAST_SHARE),
)
EVENTS = {event.hypothesis.name: event for event in (UNTIED, ALIGNED)}
STEP = 1.02  # times are resolved to one step of the integrator
SIZES = ((13, 29), (34, 35), (85, 42))  # n and m_k: n / m_k^5 is nearly the same, within 3 percent
OWN = {"d": 1e26, "sigma_p": 0.45, "m_v": 1.0, "sigma_0": 1.0}  # constants in the orders of the path
RANGES = {"d": (1e26, 4e26), "sigma_p": (0.45, 0.9), "m_v": (1.0, 2.0), "sigma_0": (0.5, 1.0)}
RUNS = "sign flow, eta to 0, at steps of 2 to 20 percent of t; three sizes, n odd, even, odd"
BROKEN_SEEDS = 40  # of systems that are broken on purpose: what is not decided by then is noticed
CHECKS: dict[str, Check] = {}


def path(draw: Draw) -> tuple[tuple[Case, float], ...]:
    """The cases and step sizes of the path, with the constants of a draw."""
    (constants,) = draw.points("path", [OWN], RANGES)
    return tuple(_case(n, m_k, tuple(constants.values())) for n, m_k in SIZES)


@lru_cache(maxsize=64)
def _case(n: int, m_k: int, constants: tuple[float, ...]) -> tuple[Case, float]:
    of_d, of_noise, of_values, of_start = constants
    d = round(of_d) * n**10
    s = round(sqrt(d) / n**2)
    sigma_p = of_noise * sqrt(n) * d**-0.25 * n**3
    m_v = ceil(of_values * log(d) ** 2)
    sigma_0 = of_start * log(d) ** -1.25 / (sigma_p * s * sqrt(m_k))
    return Case(n, s, d, m_k, m_v, sigma_p, sigma_0), 1 / (n * d)


def points(draw: Draw) -> tuple[dict[str, float], ...]:
    """What Condition 3.1 speaks of, at each size."""
    return tuple(condition_point(case, eta) for case, eta in path(draw))


Span = tuple[float, float]


class Looked(NamedTuple):
    """Of one run: the events it has, the checks it passes, and for each check what was seen, lowest and highest."""

    events: Mapping[str, bool]
    passed: Mapping[str, bool]
    seen: Mapping[str, Mapping[str, Span]]
    least_share: float  # of aligned neurons, over samples


def untied_probability(case: Case) -> float:
    """P(no neuron has as many positive as negative q + k at the start), which are 2 n fair signs apart from the signals."""
    return 1.0 if case.n % 2 else (1 - comb(case.n, case.n // 2) / 2**case.n) ** case.m_k


@lru_cache(maxsize=64)
def looked(rules: Rules, case: Case, seeds: tuple[int, ...], untied: bool = False) -> tuple[Looked, ...]:
    """All checks on the run of each seed; one that can not be made, as a time does not exist, is not passed.

    `untied` takes starts given that no neuron is tied, see `recursion.draw`; for odd n there is no other.
    """
    attends = log(case.strength / case.mu) / sqrt(case.m_k * case.strength * case.mu)  # T_attn, in theta
    runs = watched_runs.flows(case, [(seed, case.n) for seed in seeds], 1.2 * attends, rules, untied=untied)
    return tuple(_looked(record) for record in runs)


def _looked(record: Record | OdesysError) -> Looked:
    if isinstance(record, OdesysError):  # a run that breaks off, as broken systems may, passes nothing
        return Looked(dict.fromkeys(EVENTS, True), dict.fromkeys(CHECKS, False), {}, np.nan)
    events, passed, seen = dict[str, bool](), dict[str, bool](), dict[str, Mapping[str, Span]]()
    for name, event in EVENTS.items():
        try:
            events[name] = event.seen(record)
        except OdesysError:  # no such time: then the checks are not passed
            events[name] = True
    for name, check in CHECKS.items():
        try:
            verdict = check(record)
        except OdesysError:
            passed[name] = False
            continue
        passed[name] = verdict.as_stated == "holds"
        seen[name] = {
            what: (float(ends[0]), float(ends[1]))
            for what, ends in verdict.details.items()
            if isinstance(ends, list) and len(ends) == 2
        }
    try:
        share = float(record.aligned(record.T3).mean(axis=0).min())
    except OdesysError:
        share = np.nan
    return Looked(events, passed, seen, share)


def _trend(name: str, events: Sequence[str], cases: Sequence[Case], runs: Sequence[Sequence[Looked]]) -> list[str]:
    """At each size, over runs with the events: what a check saw, and the smallest share of aligned neurons."""
    out = []
    for case, at_size in zip(cases, runs, strict=True):
        had = [run for run in at_size if all(run.events[e] for e in events) and name in run.seen]
        parts = []
        for what in had[0].seen[name] if had else ():
            spans = np.array([run.seen[name][what] for run in had if what in run.seen[name]])
            parts.append(f"{what} {spans[:, 0].min():.4g} to {spans[:, 1].max():.4g}")
        if ALIGNED.hypothesis.name in events and had:
            parts.append(f"smallest share of aligned neurons {min(run.least_share for run in had):.3g}")
        out.append(f"n = {case.n}, m_k = {case.m_k}: " + "; ".join(parts))
    return out


def _distances(name: str, events: Sequence[str], runs: Sequence[Sequence[Looked]]) -> list[np.ndarray]:
    """At each size, for every run with the events, the largest size of what is printed as o(1); in order."""
    what = VANISHES[name]
    return [
        np.sort(
            [
                max(abs(end) for end in run.seen[name][what])
                for run in at_size
                if all(run.events[e] for e in events) and what in run.seen.get(name, {})
            ]
        )
        for at_size in runs
    ]


def by_chance(first: np.ndarray, last: np.ndarray) -> float:
    """The exact level of the rank test: how likely so few numbers of `last` above those of `first` are, for one law.

    Counts of arrangements by their number of such pairs are the coefficients of a Gaussian binomial; a tie counts as above.
    """
    above, m, n = int((last[:, None] >= first[None, :]).sum()), len(first), len(last)
    counts = [1] + [0] * (m * n)
    for k in range(1, m + 1):
        for place in range(m * n, n + k - 1, -1):
            counts[place] -= counts[place - n - k]
        for place in range(k, m * n + 1):
            counts[place] += counts[place - k]
    return sum(counts[: above + 1]) / comb(m + n, m)


def along(
    lab: Laboratory,
    name: str,
    what: str,
    printed: Callable[[Case], float] | None = None,
    tried: str = TRIED["part_e_i_ii"],
    supposing: Sequence[Supposed] = (),
    limit: tuple[Any, ...] | None = None,
    also: Sequence[Hypothesis] = (),
) -> Verdict:
    """A check at all sizes of the path, over seeds; the verdict is about the trend into the condition.

    `printed` is the probability that the paper states, as a function of the sizes; `supposing` are events without which a
    run says nothing, `also` further hypotheses, which must hold at every size.
    """
    events = [event.hypothesis.name for event in supposing]
    rules, cases, where = lab.rules(), [case for case, _ in path(lab.draw)], points(lab.draw)
    most = {} if rules == Rules() else {"most": BROKEN_SEEDS}
    runs: list[list[Looked]] = [[] for _ in cases]

    def trial(number: int, seeds: Sequence[int]) -> list[bool]:
        case = cases[number]
        new = looked(rules, case, tuple(seeds), UNTIED in supposing and case.n % 2 == 0)
        runs[number].extend(new)
        return [run.passed[name] or not all(run.events[e] for e in events) for run in new]

    found = [
        with_high_probability(what, point, partial(trial, number), lab.draw, printed=printed and printed(case), **most)
        for number, (case, point) in enumerate(zip(cases, where, strict=True))
    ]
    shares = [verdict.details["passed"] for verdict in found]
    if len({verdict.as_stated for verdict in found}) == 1:
        verdict = reduce(and_, reversed(found))
        if isinstance(verdict.witness, Witness):  # on a path some hypotheses do not hold yet
            said = verdict.witness.sentence.replace(" (all hypotheses hold)", "")
            verdict = verdict.witnessed(said, verdict.witness.point)
    else:
        verdict = undecided(f"{what} for {', '.join(shares)} from size to size")
    had = [all(run.events[e] for e in events) for run in chain(*runs)]
    if 2 * sum(had) < len(had):
        verdict = undecided(f"only {sum(had)} of {len(had)} runs have what is supposed")
    elif events:
        by_size = [sum(all(run.events[e] for e in events) for run in at_size) for at_size in runs]
        shown = ", ".join(
            f"{k} of {len(at_size)} at n = {case.n}" for k, at_size, case in zip(by_size, runs, cases, strict=True)
        )
        verdict = verdict.adding(
            supposed=f"{' and '.join(events)} in {shown}; the probability is that of: if the event, then the statement"
        )
    if name in VANISHES and verdict.as_stated == "holds":
        sizes = _distances(name, events, runs)
        said = ", ".join(f"{np.median(x):.3g}" for x in sizes)
        if np.median(sizes[-1]) < np.median(sizes[0]):
            level = f"by chance with probability {by_chance(sizes[0], sizes[-1]):.2g}"
            verdict = verdict.adding(vanishing=f"{VANISHES[name]}: median of its size {said}, {level}")
        else:
            verdict = undecided(f"what is printed as o(1) does not fall along the path: {said}")
    seen = _trend(name, events, cases, runs)
    likely = [" to ".join(f"{end:.3g}" for end in one.details["interval_99.9"]) for one in found]
    trend = [
        f"{line}; {share}, probability {interval}".replace(": ;", ":")
        for line, share, interval in zip(seen, shares, likely, strict=True)
    ]
    left = {
        f"{c.number} {c.name}": " to ".join(f"{c.ratio_at(p):.3g}" for p in (where[0], where[-1]))
        for c in CONDITION_3_1
    }
    told = verdict.adding(runs=RUNS, trend=trend, ratios_of_condition=left, not_proved=tried)
    if UNTIED in supposing:
        rare = ", ".join(f"{untied_probability(case):.2g} at n = {case.n}" for case in cases if case.n % 2 == 0)
        told = told.adding(given=f"at even n starts are given no tie of q + k, which has probability {rare}")
    if printed is not None:
        told = told.adding(printed_probability=", ".join(f"{printed(case):.3g} at n = {case.n}" for case in cases))
    if limit is not None:
        told = told.within(*limit)
    return replace(told, points=where).approaching(approach(where, [*CONDITION, *also]))


def on_path(
    id: str,
    title: str,
    checks: Mapping[str, Check],
    *,
    where: str,
    statement: str,
    reading: str,
    kind: str = "inequality",
    origin: str = "statement",
    uses: Sequence[str] = (),
    expect: str = "holds",
    fault: tuple[str, str] = ("", ""),
    corrected: tuple[str, Mapping[str, Check], str] | None = None,
    printed: Callable[[Case], float] | None = None,
    supposing: Sequence[Supposed] = (),
    also: Sequence[Hypothesis] = (),
    proved: Mapping[str, Callable[[Laboratory], Verdict]] | None = None,
    **more: Any,
) -> None:
    """Register a claim whose parts are checks of runs; `proved` are parts that need none, `also` are further hypotheses.

    `corrected` is a statement, its checks, and why.
    """
    CHECKS.update({f"{id}: {part}": check for part, check in checks.items()})
    if corrected is not None:
        CHECKS.update({f"{id} corrected: {part}": check for part, check in corrected[1].items()})

    tried = TRIED_FOR.get(id) or TRIED[next(iter(checks.values())).__module__.rpartition(".")[2]]

    def judge(lab: Laboratory) -> dict[str, Verdict]:
        out = {
            part: along(
                lab, f"{id}: {part}", f"'{part}' was seen", printed, tried, supposing, TOLERANCES.get(id, PRINTED), also
            )
            for part in checks
        }
        out |= {part: prove(lab) for part, prove in (proved or {}).items()}
        if corrected is None:
            return {part: verdict.blaming(*fault) if fault[0] else verdict for part, verdict in out.items()}
        form, fixed, why = corrected
        right: Verdict | None = None
        for part in fixed:
            found = along(lab, f"{id} corrected: {part}", f"'{part}' was seen", None, tried, supposing, also=also)
            right = found if right is None else right & found
        assert right is not None
        return {
            part: verdict.correcting(form, right, why).blaming(*fault) if verdict.as_stated == "fails" else verdict
            for part, verdict in out.items()
        }

    book.claim(
        id,
        title,
        kind=kind,
        origin=origin,
        where=where,
        parts=[*checks, *(proved or {})] if origin != "ours" else [],
        hypotheses=[*CONDITION, *also, *(event.hypothesis for event in supposing)],
        statement=statement,
        reading=reading,
        uses=uses,
        expect=expect,
        **more,
    )(judge)
