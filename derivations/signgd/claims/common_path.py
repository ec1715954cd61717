"""Claims about training, judged along a path into Condition 3.1: two sizes, 20 seeds at each, doubled until decided.

No machine reaches the condition: m_k >= log d and n >= m_k^4 with d >= n^9 need d of 10^82. The path is fixed by the
exponents of the condition. n grows like m_k^5 and d like n^10, one power more than conditions 4 and 1 ask; the constant
10^26 keeps T_2 below a hundredth of the time in which the smallest of 2 m_k signals moves; s = d^(1/2) n^-2; sigma_p is
n^(1/2) times the bound of condition 2; m_v = (log d)^2; sigma_0 is (log d)^(-5/4) times the bound of condition 3, since
Lemma E.14 needs more than (log d)^(-1/2); eta = 1/(n d). So every margin grows; what is left at the end is printed with
each verdict. A redraw has new seeds and other constants in all these orders.

A statement holds (or fails) here if it does so with high probability at both sizes, and is undecided otherwise. All
checks are made on each run at once, and the run is dropped. Runs are the sign flow, eta to 0, at steps of 2 percent of t
where much happens and of 20 percent elsewhere.

What the paper supposes from some place on is an event of a run (`Supposed`), listed among the hypotheses: that no vote is
tied (proof of Lemma E.5; n is odd here), and that each sample has enough aligned neurons, as Lemma E.27 says for large m_k.
At m_k = 20, n = 201 the second fails, and the end of Stage IV with it. Runs without the event say nothing; where fewer
than half of them have it, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import ceil, log, sqrt
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
        "no vote is tied", r"|E_{s,+}|\ne|E_{s,-}|\ \forall s,\ \text{as the proof of Lemma E.5 supposes}", lambda p: 1
    ),
    _no_tie,
)
LEAST_SHARE = 0.3  # of aligned neurons: above (5 - sqrt7)/9 = 0.262, below which unaligned keys slide (Beyond.sliding)
ALIGNED = Supposed(
    Hypothesis(
        "enough aligned neurons",
        r"|E_i^{(T_3)}|\ge0.3\,m_k\ \forall i,\ \text{by Lemma E.27 for large}\ m_k",
        lambda p: 1,
    ),
    lambda record: bool(record.aligned(record.T3).mean(axis=0).min() >= LEAST_SHARE),
)
EVENTS = {event.hypothesis.name: event for event in (UNTIED, ALIGNED)}
STEP = 1.02  # times are resolved to one step of the integrator
THETA_C = 0.25  # the small constant of stage IV
SIZES = ((21, 32), (65, 40))  # n and m_k: n / m_k^5 is the same
OWN = {"d": 1e26, "sigma_p": 0.45, "m_v": 1.0, "sigma_0": 1.0}  # constants in the orders of the path
RANGES = {"d": (1e26, 4e26), "sigma_p": (0.45, 0.9), "m_v": (1.0, 2.0), "sigma_0": (0.5, 1.0)}
TRIED = {  # by the file of a claim: what is proved towards it, and what is missing
    "part_e_i_ii": (
        "the saddle of one pair is solved exactly and its one-step signs are certified (E.1, E.3, Beyond.saddle); a bound "
        "for all pairs at once would need the smallest of 2 m_k n starts against m_v^(-1/2), where C.10 and C.11 fail as "
        "printed"
    ),
    "part_e_iii": (
        "bounded moves give the sizes (E.7, E.12, E.13) and the worst weights of a vote are known (E.11-weights); that all "
        "weights g_i a_i w_i stay within 1/n of each other on [T_2, T_3^+] follows only from the sizes of all pairs, which "
        "are measured (E.4)"
    ),
    "part_e_iv_a": (
        "one step of the induction is certified (E.16-19) and Eq. (32) follows from A(t) and F(t); the induction also asks "
        "for votes with weights that are equal up to o(1), which is not enough (E.11-weights), and T_4^- is the first of 2 "
        "m_k n exits, for which no enclosure was found that does not follow all pairs"
    ),
    "part_e_iv_b_c": (
        "one-step implications are certified (E.31-38) and bounds given the state at T_4^- (E.29, E.39); between T_4^- and "
        "T_4^+ terms of both signs are of one size, and the implications do not say which pair turns first"
    ),
    "part_e_votes": (
        "exact binomials give the law of a vote (E.6), and Hoeffding the rest for independent neurons; that a pair ends "
        "Stage II with its vote for every neuron is measured (E.2, E.11)"
    ),
    "part_3_main": (
        "lengths of moves decide the values and the test loss (Thm.3.2(2), Thm.3.2(3)), the cone shows that the end is for "
        "ever (Beyond.cone); training loss and attention need the final signs of all pairs (E.40), which are measured"
    ),
}
PRINTED = ("none", "the printed bounds, or signs, themselves; a time is known to a step of the integrator, 2 percent")
SMALL = "o(1): more than the o(1) of the path, sigma_0 sigma_p s m_k^1/2, which is (log d)^(-5/4), at most 0.004"
EARLIER = ("runs at other sizes",)
THETA = (THETA_C, "theta_c, a small constant of the paper; smaller ones need a larger power of n in d", EARLIER)
TILDE = ("s^(-1/2) log d", "what a tilde hides, with the first power of log d")
TWO_STEPS = (0.05, "two steps of the integrator and the next order")
TOLERANCES = {  # of the claims along the path, with reasons
    "4.2": (0.1, "delta = 1/10 of the printed probability 1 - delta; four standard errors for O(delta)"),
    **dict.fromkeys(("IV.a-A", "IV.b"), TILDE),
    **{id: (0.05, SMALL) for id in ("E.20", "E.26", "E.28")},
    **{id: (0.01, SMALL) for id in ("Eq.37", "E.42", "Thm.3.2(4)", "Thm.3.2-order", "4.5")},
    "4.4(2)": ("1/3 and 4/3", "Theta hides them; E.12 has 1/2 and 4/3, and T_3 is known to 2 percent"),
    "E.27": ("Hoeffding", "the constant of its proof, delta = 1/10"),
    **dict.fromkeys(("E.36", "4.6", "4.7", "IV.c", "E.40"), THETA),
    **dict.fromkeys(("Beyond.1-2-4", "Beyond.flip-time"), TWO_STEPS),
}
RUNS = "sign flow, eta to 0, at steps of 2 to 20 percent of t; two sizes, exponents are not swept"
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


@lru_cache(maxsize=256)
def passed(rules: Rules, case: Case, seeds: tuple[int, ...]) -> tuple[Mapping[str, bool], ...]:
    """Which checks the run of each seed passes; one that can not be made, as a time does not exist, is not passed."""
    attends = log(case.strength / case.mu) / sqrt(case.m_k * case.strength * case.mu)  # T_attn, in theta
    runs = watched_runs.flows(case, [(seed, case.n) for seed in seeds], 1.2 * attends, rules)
    return tuple(_passed(record) for record in runs)


def _passed(record: Record | OdesysError) -> Mapping[str, bool]:
    if isinstance(record, OdesysError):  # a run that breaks off, as broken systems may, passes nothing
        return dict.fromkeys(EVENTS, True) | dict.fromkeys(CHECKS, False)
    out = {}
    for name, event in EVENTS.items():
        try:
            out[name] = event.seen(record)
        except OdesysError:  # no such time: then the checks are not passed
            out[name] = True
    for name, check in CHECKS.items():
        try:
            out[name] = check(record).as_stated == "holds"
        except OdesysError:
            out[name] = False
    return out


def along(
    lab: Laboratory,
    name: str,
    what: str,
    printed: Callable[[Case], float] | None = None,
    tried: str = TRIED["part_e_i_ii"],
    supposing: Sequence[Supposed] = (),
    limit: tuple[Any, ...] | None = None,
) -> Verdict:
    """A check at both sizes of the path, over seeds; the verdict is about the trend into the condition.

    `printed` is the probability that the paper states, as a function of the sizes; `supposing` are events without which a
    run says nothing.
    """
    events = [event.hypothesis.name for event in supposing]
    had: dict[tuple[int, int], bool] = {}
    rules, cases, where = lab.rules(), [case for case, _ in path(lab.draw)], points(lab.draw)
    most = {} if rules == Rules() else {"most": BROKEN_SEEDS}

    def trial(case: Case, seeds: Sequence[int]) -> list[bool]:
        runs = passed(rules, case, tuple(seeds))
        had.update({(case.n, seed): all(seen[e] for e in events) for seed, seen in zip(seeds, runs, strict=True)})
        return [seen[name] or not all(seen[e] for e in events) for seen in runs]

    found = [
        with_high_probability(what, point, partial(trial, case), lab.draw, printed=printed and printed(case), **most)
        for case, point in zip(cases, where, strict=True)
    ]
    seen = [verdict.details["passed"] for verdict in found]
    if len({verdict.as_stated for verdict in found}) == 1:
        verdict = found[1] & found[0]
        if isinstance(verdict.witness, Witness):  # on a path some hypotheses do not hold yet
            said = verdict.witness.sentence.replace(" (all hypotheses hold)", "")
            verdict = verdict.witnessed(said, verdict.witness.point)
    else:
        verdict = undecided(f"{what} for {seen[0]} at the first size and {seen[1]} at the second")
    if 2 * sum(had.values()) < len(had):
        verdict = undecided(f"only {sum(had.values())} of {len(had)} runs have what is supposed")
    elif events:
        verdict = verdict.adding(supposed=f"{' and '.join(events)} in {sum(had.values())} of {len(had)} runs")
    trend = {f"at n = {case.n}, m_k = {case.m_k}": share for case, share in zip(cases, seen, strict=True)}
    left = {f"{c.number} {c.name}": f"{c.ratio_at(where[0]):.3g} to {c.ratio_at(where[1]):.3g}" for c in CONDITION_3_1}
    told = verdict.adding(runs=RUNS, trend=trend, ratios_of_condition=left, not_proved=tried)
    if limit is not None:
        told = told.within(*limit)
    return replace(told, points=where).approaching(approach(where, CONDITION))


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
    **more: Any,
) -> None:
    """Register a claim whose parts are checks of runs; `corrected` is a statement, its checks, and why."""
    CHECKS.update({f"{id}: {part}": check for part, check in checks.items()})
    if corrected is not None:
        CHECKS.update({f"{id} corrected: {part}": check for part, check in corrected[1].items()})

    tried = TRIED[next(iter(checks.values())).__module__.rpartition(".")[2]]

    def judge(lab: Laboratory) -> dict[str, Verdict]:
        out = {
            part: along(
                lab, f"{id}: {part}", f"'{part}' was seen", printed, tried, supposing, TOLERANCES.get(id, PRINTED)
            )
            for part in checks
        }
        if corrected is None:
            return {part: verdict.blaming(*fault) if fault[0] else verdict for part, verdict in out.items()}
        form, fixed, why = corrected
        right: Verdict | None = None
        for part in fixed:
            found = along(lab, f"{id} corrected: {part}", f"'{part}' was seen", tried=tried)
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
        parts=list(checks) if origin != "ours" else [],
        hypotheses=[*CONDITION, *(event.hypothesis for event in supposing)],
        statement=statement,
        reading=reading,
        uses=uses,
        expect=expect,
        **more,
    )(judge)
