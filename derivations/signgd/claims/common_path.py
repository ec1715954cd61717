"""Claims about training, judged along a path into Condition 3.1: two sizes, 20 seeds at each, doubled until decided.

No machine reaches the condition: m_k >= log d and n >= m_k^4 with d >= n^8 need d of 10^88. Along the path every margin
grows; what is left at its end is printed with each verdict. A statement holds (or fails) here if it does so with high
probability at both sizes, and is undecided otherwise. All checks are made on each run at once, and the run is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import log, sqrt
from typing import Any

from odesys import OdesysError, Verdict, Witness, approach, undecided, with_high_probability

from ..laboratory import Laboratory
from ..setting import Case
from ..special import watched_runs
from ..special.conditions import condition_point
from ..special.watched_runs import Record, Rules
from .book import book
from .common_hypotheses import CONDITION

Check = Callable[[Record], Verdict]
STEP = 1.02  # times are resolved to one step of the integrator
THETA_C = 0.25  # the small constant of stage IV
CHECKS: dict[str, Check] = {}


def _case(n: int, m_k: int, sparse: int, strong: float, m_v: int, kappa: float) -> Case:
    """s = sparse n^2, d = (s n^2)^2, sigma_p = strong n^2 / s^1/2, sigma_0 sigma_p s m_k^1/2 = kappa."""
    s = sparse * n * n
    sigma_p = strong * n * n / s**0.5
    return Case(n, s, (s * n * n) ** 2, m_k, m_v, sigma_p, kappa / (sigma_p * s * m_k**0.5))


PATH = (_case(21, 32, 10**14, 2.0, 4096, 0.003), _case(55, 40, 11 * 10**13, 2.2, 8192, 0.002))
POINTS = tuple(condition_point(case, 10.0 ** -(3 + k) / case.d) for k, case in enumerate(PATH))


@lru_cache(maxsize=4096)
def passed(rules: Rules, place: int, seed: int) -> Mapping[str, bool]:
    """Which checks a run passes; one that can not be made, as a time does not exist, is not passed."""
    case, out = PATH[place], {}
    attends = log(case.strength / case.mu) / sqrt(case.m_k * case.strength * case.mu)  # T_attn, in theta
    try:
        record = watched_runs.flow(case, (seed, place), 1.2 * attends, rules, records=500, fraction=0.02)
    except OdesysError:  # a run that breaks off, as broken systems may, shows nothing
        return dict.fromkeys(CHECKS, False)
    for name, check in CHECKS.items():
        try:
            out[name] = check(record).as_stated == "holds"
        except OdesysError:
            out[name] = False
    return out


def along(lab: Laboratory, name: str, what: str) -> Verdict:
    """A check at both sizes of the path, over seeds; the verdict is about the trend into the condition."""
    rules = lab.rules()

    def trial(place: int, seeds: Sequence[int]) -> list[bool]:
        return [passed(rules, place, seed)[name] for seed in seeds]

    found = [with_high_probability(what, p, partial(trial, k), lab.draw) for k, p in enumerate(POINTS)]
    if len({verdict.as_stated for verdict in found}) == 1:
        verdict = found[1] & found[0]
        if isinstance(verdict.witness, Witness):  # on a path some hypotheses do not hold yet
            said = verdict.witness.sentence.replace(" (all hypotheses hold)", "")
            verdict = verdict.witnessed(said, verdict.witness.point)
    else:
        seen = [verdict.details["passed"] for verdict in found]
        verdict = undecided(f"{what} for {seen[0]} at the first size and {seen[1]} at the second")
    return replace(verdict, points=POINTS).approaching(approach(POINTS, CONDITION))


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
    **more: Any,
) -> None:
    """Register a claim whose parts are checks of runs; `corrected` is a statement, its checks, and why."""
    CHECKS.update({f"{id}: {part}": check for part, check in checks.items()})
    if corrected is not None:
        CHECKS.update({f"{id} corrected: {part}": check for part, check in corrected[1].items()})

    def judge(lab: Laboratory) -> dict[str, Verdict]:
        out = {part: along(lab, f"{id}: {part}", f"'{part}' was seen") for part in checks}
        if corrected is None:
            return {part: verdict.blaming(*fault) if fault[0] else verdict for part, verdict in out.items()}
        form, fixed, why = corrected
        right: Verdict | None = None
        for part in fixed:
            found = along(lab, f"{id} corrected: {part}", f"'{part}' was seen")
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
        hypotheses=CONDITION,
        statement=statement,
        reading=reading,
        uses=uses,
        expect=expect,
        level="full",
        **more,
    )(judge)
