"""Appendix E along trajectories: dominance, growth, signs and attention gaps; all in floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import exp, log, sqrt
from typing import Any

import numpy as np

from odesys import Measurement, Verdict, combine_verdicts, measure, row_softmax

from ..laboratory import Laboratory
from ..special.trajectories import GRID, StageTwo
from .book import CONFLICTING, book
from .common_stage_two import (
    CONSTANTS,
    EXACT,
    REACH,
    SOLVER,
    STAGE_2,
    always_positive_along,
    judged,
    kappa,
    path,
    run_at,
    seen,
    states_in_reach,
    sweep,
)
from .part_e_growth import BLOCK, GROWTH

SWEEP = "omega, T1 in " + ", ".join(f"({o:g}, {t:g})" for o, t in GRID)
DOMINATED = 0.6  # c of (11) to (13)
RATE = 0.5  # b of Lemma E.2, in units of kappa
FAR = 1e9  # for a ratio whose denominator is not positive
OTHERS = tuple(f"M_{k}_{s}" for k in ("cc", "vc", "vv") for s in ("same", "other"))
HIDDEN = "the hidden constant is ours to choose; it may depend on T1 and b, not on omega"


# ---- Lemma E.1 -------------------------------------------------------------------------------------------------------


def _ratio(run: StageTwo, small: Sequence[str], large: tuple[str, str]) -> float:
    """Largest max |small| / min(large[0], -large[1]) while all scores are in reach; 0/0, which is T_1, is no ratio."""
    table, names = states_in_reach(run), run.run.names
    top = np.max(np.abs(table[:, [names.index(n) for n in small]]), axis=1)
    bottom = np.minimum(table[:, names.index(large[0])], -table[:, names.index(large[1])])
    counted = (top > 0) | (bottom < 0)
    if (bottom[counted] <= 0).any():
        return FAR
    return float(np.max(top[counted] / bottom[counted]))


def _dominance(lab: Laboratory, what: str, small: Sequence[str], large: tuple[str, str]) -> Verdict:
    found = seen(lab, what, sweep(lab), lambda run: _ratio(run, small, large))
    verdict = judged(found, 0, DOMINATED, "any c < 1 will do: the limit at T1 is 1/2 for (11), and a fifth more")
    return verdict.with_constants(**CONSTANTS, c="3/5", largest=float(found.values.max()))


DOMINANCE_READING = r"C = 1/2, c = 3/5, where n_c/n_v at T_1 is at least 10^{-3} and \omega is below n_c/n_v."


@book.claim(
    "E.1(11)",
    "Dominance of the scores",
    kind="inequality",
    where="Lemma E.1, display (11)",
    parts=("(11)",),
    hypotheses=STAGE_2,
    uses=["E.1-display", "App.E.5"],
    statement=r"\exists C>0,\,0<c<1:\ \max|\mu^\top W_K^\top W_Q\nu|\le C\ \Rightarrow\ "
    r"c\min_{k\ne k'}(c_k^\top W_K^\top W_Qv_k,-c_k^\top W_K^\top W_Qv_{k'})\ge\max_{\text{other }\mu,\nu}|\mu^\top W_K^\top W_Q\nu|",
    reading=DOMINANCE_READING,
)
def score_dominance(lab: Laboratory) -> Verdict:
    """The six other orbits of scores against the dominant pair."""
    what = "the largest other |score| over min(c_1 W_K W_Q v_1, -c_1 W_K W_Q v_2)"
    return _dominance(lab, what, OTHERS, ("M_cv_same", "M_cv_other"))


@book.claim(
    "E.1(12)",
    "Dominance of the query self-scores",
    kind="inequality",
    where="Lemma E.1, display (12)",
    parts=("(12)",),
    hypotheses=STAGE_2,
    uses=["E.1(11)"],
    statement=r"c\min(v_k^\top W_Q^\top W_Qv_k,-v_k^\top W_Q^\top W_Qv_{k'})\ge"
    r"\max(|v_k^\top W_Q^\top W_Qc_k|,|v_k^\top W_Q^\top W_Qc_{k'}|,|c_k^\top W_Q^\top W_Qc_{k'}|)",
    reading=DOMINANCE_READING,
)
def query_dominance(lab: Laboratory) -> Verdict:
    """Off-diagonal query self-scores against the dominant pair; at T_1 both sides are 0."""
    what = "the largest other query self-score over min(v_1 W_Q W_Q v_1, -v_1 W_Q W_Q v_2)"
    return _dominance(lab, what, ("B_cv_same", "B_cv_other", "B_cc_other"), ("B_vv_same", "B_vv_other"))


@book.claim(
    "E.1(13)",
    "Dominance of the key self-scores",
    kind="inequality",
    where="Lemma E.1, display (13)",
    parts=("(13)",),
    hypotheses=STAGE_2,
    uses=["E.1(11)"],
    statement=r"c\min(c_k^\top W_K^\top W_Kc_k,-c_k^\top W_K^\top W_Kc_{k'})\ge"
    r"\max(|v_k^\top W_K^\top W_Kc_k|,|v_k^\top W_K^\top W_Kc_{k'}|,|v_k^\top W_K^\top W_Kv_{k'}|)",
    reading=DOMINANCE_READING,
)
def key_dominance(lab: Laboratory) -> Verdict:
    """Off-diagonal key self-scores against the dominant pair; at T_1 both sides are 0."""
    what = "the largest other key self-score over min(c_1 W_K W_K c_1, -c_1 W_K W_K c_2)"
    return _dominance(lab, what, ("A_cv_same", "A_cv_other", "A_vv_other"), ("A_cc_same", "A_cc_other"))


@book.claim(
    "E.1(14)",
    "Order of the diagonal self-scores",
    kind="inequality",
    where="Lemma E.1, display (14)",
    parts=("queries", "keys"),
    hypotheses=STAGE_2,
    uses=["E.1(11)"],
    statement=r"\|W_Qv_k\|_2^2\ge\|W_Qc_k\|_2^2,\quad\|W_Kc_k\|_2^2\ge\|W_Kv_k\|_2^2",
    reading=r"C = 1/2; at T_1 both sides are \omega^2.",
)
def diagonal_order(lab: Laboratory) -> dict[str, Verdict]:
    """The smaller one over the larger one, at most 1 along all trajectories."""
    return {
        "queries": _at_most(lab, "|W_Q c_1|^2 over |W_Q v_1|^2", "B_cc_same", "B_vv_same"),
        "keys": _at_most(lab, "|W_K v_1|^2 over |W_K c_1|^2", "A_vv_same", "A_cc_same"),
    }


def _at_most(lab: Laboratory, what: str, small: str, large: str) -> Verdict:
    def largest(run: StageTwo) -> float:
        table, names = states_in_reach(run), run.run.names
        return float(np.max(table[:, names.index(small)] / table[:, names.index(large)]))

    return judged(seen(lab, what, sweep(lab), largest), -1, 1 + SOLVER, EXACT).with_constants(**CONSTANTS)


# ---- Lemmas E.2 and E.3 ----------------------------------------------------------------------------------------------


def growth_share(lab: Laboratory, run: StageTwo, rate: float) -> float:
    """Largest (rate A_3 x)_i / (dx/dt)_i over the three rows and all times in reach; at most 1 where E.2 holds."""
    names, field = run.run.names, lab.reduced("stage2").system.compile(b=run.b)
    rows, matrix, worst = [names.index(n) for n in BLOCK], np.array(GROWTH, dtype=float), 0.0
    for state in states_in_reach(run):
        actual, asked = np.asarray(field(0.0, state))[rows], rate * matrix @ state[rows]
        for got, need in zip(actual, asked, strict=True):
            if need > 0 or got < 0:  # both are 0 in two rows at T_1
                worst = max(worst, need / got if got > 0 else FAR)
    return float(worst)


def growth_verdict(lab: Laboratory) -> Verdict:
    """All three rows at b = kappa/2, at every point."""
    points = sweep(lab)
    found = measure(
        "the largest share of b A_3 x in dx/dt, over the three rows",
        points,
        lambda point: growth_share(lab, run_at(lab, point), RATE * kappa(point)),
    )
    verdict = judged(
        found, 0, 1, "b = kappa/2 is half the rate at uniform attention, which is that of the first row at T1"
    )
    return verdict.with_constants(**CONSTANTS, rate="kappa/2 with kappa = n_c/18 at T1")


@book.claim(
    "E.2",
    "Score growth along trajectories",
    kind="inequality",
    where="Lemma E.2",
    parts=("the three rows",),
    hypotheses=STAGE_2,
    uses=["B.2", "App.E.5", "E.1(11)", "E.1(12)", "E.1(13)", "E.1(14)"],
    statement=r"\exists C,b>0:\ \max|\mu^\top W_K^\top W_Q\nu|\le C\ \Rightarrow\ \dot x\ge b\,A_3x,\quad "
    r"x=(c_1^\top W_K^\top W_Qv_1,\,c_1^\top W_K^\top W_Kc_1,\,v_1^\top W_Q^\top W_Qv_1)",
    reading=r"C = 1/2 and the rate \kappa/2 with \kappa = n_c/18 at T_1, which depends on T_1 and the bias, not on \omega.",
)
def growth_along(lab: Laboratory) -> Verdict:
    """The inequality along every trajectory."""
    return growth_verdict(lab)


@book.claim(
    "5.5",
    "Score growth",
    kind="inequality",
    where="Lemma 5.5",
    parts=("the three rows",),
    hypotheses=STAGE_2,
    uses=["E.2"],
    same_as="E.2",
    statement=r"\text{scores within some range}\ \Rightarrow\ \exists b>0:\ \dot x\ge b\,A_3x",
    reading=r"The range is C = 1/2 and the rate \kappa/2, \kappa = n_c/18 at T_1, as in Lemma E.2.",
)
def growth_main_text(lab: Laboratory) -> Verdict:
    """The same inequality."""
    return growth_verdict(lab)


def durations_of(lab: Laboratory, points: Sequence[Mapping[str, Any]]) -> Measurement:
    """kappa (T_2 - T_1) / log(1/omega^2) at each point."""
    return measure(
        "kappa (T_2 - T_1) / log(1/omega^2)",
        points,
        lambda p: kappa(p) * run_at(lab, p).duration / log(1 / p["omega"] ** 2),
    )


def duration_parts(lab: Laboratory) -> dict[str, Verdict]:
    """The time to reach x* = C against its guaranteed order, and both scores at T_2."""
    points, down = sweep(lab), path(lab, decades=4, count=9)
    guaranteed = "Lemma E.2 at rate kappa/2 and the closed form of Lemma E.3 give sqrt 2 log(1/omega^2) / kappa"
    found, along = durations_of(lab, [*points, *down]), durations_of(lab, down)
    order = judged(found, 0, sqrt(2), guaranteed) & along.order("omega", 0, "O", towards="zero")
    last = [run_at(lab, point).duration for point in down[:2]]
    slope = (last[0] - last[1]) / log(down[1]["omega"] / down[0]["omega"])
    text = f"the slope of T2 - T1 against log(1/omega) is {slope:.5g} at the smallest omega; 9/n_c is {0.5 / kappa(down[0]):.5g}"
    both = seen(lab, "min(c_1 W_K W_Q v_1, -c_1 W_K W_Q v_2) at T_2", points, _both_scores)
    return {
        "duration": replace(order, sharpened=text).with_constants(
            **CONSTANTS, T2="first time with c_1 W_K W_Q v_1 = 1/2"
        ),
        "scores at T2": judged(
            both, REACH * (1 - SOLVER), REACH * (1 + SOLVER), f"T2 is where the first one is 1/2; {EXACT}"
        ),
    }


def _both_scores(run: StageTwo) -> float:
    return float(min(run.run.final["M_cv_same"], -run.run.final["M_cv_other"]))


def duration_order(lab: Laboratory) -> Verdict:
    """Lemma E.3 as one verdict, for what is built on it."""
    return combine_verdicts(duration_parts(lab))


@book.claim(
    "E.3/order",
    "Duration of stage 2",
    kind="order",
    where="Lemma E.3",
    parts=("duration", "scores at T2"),
    hypotheses=STAGE_2,
    uses=["E.2", "E.3", "E.3/trajectory"],
    statement=r"\exists T_2:\ T_2-T_1=O(\log\tfrac1{\omega^2}),\quad "
    r"c_1^\top W_K^{(T_2)\top}W_Q^{(T_2)}v_1,\,-c_1^\top W_K^{(T_2)\top}W_Q^{(T_2)}v_2=\Theta(1)",
    reading=r"T_2 is the first time with c_1^\top W_K^\top W_Q v_1 = 1/2; the constant of O is \sqrt2/\kappa, \kappa = n_c/18 at T_1.",
)
def duration_of_stage_two(lab: Laboratory) -> dict[str, Verdict]:
    """Both halves of the lemma."""
    return duration_parts(lab)


# ---- Lemma E.5 -------------------------------------------------------------------------------------------------------


SIGNS_PRINTED = {  # the table of Lemma E.5 without its last row
    "M_cv_same": 1,
    "M_cv_other": -1,
    "M_vv_same": -1,
    "M_vv_other": 1,
    "M_cc_same": 1,
    "M_cc_other": -1,
    "M_vc_same": -1,
    "M_vc_other": 1,
    "B_cv_same": 1,
    "B_cv_other": -1,
    "B_cc_same": 1,
    "B_cc_other": -1,
    "B_vv_same": 1,
    "B_vv_other": -1,
    "A_cv_same": -1,
    "A_cv_other": 1,
    "A_cc_same": 1,
    "A_cc_other": -1,
}
LAST_ROW = {"A_vv_same": 1, "A_vv_other": -1}  # the text at hand repeats a row there, with c in place of the last v
PATHS = {"M": "W_K W_Q", "A": "W_K W_K", "B": "W_Q W_Q"}
LAST = "v_1 W_K W_K v_1"


def _row_name(name: str) -> str:
    kind, pair = name[0], name[2:4]
    return f"{pair[0]}_1 {PATHS[kind]} {pair[1]}_1"


ROWS = {_row_name(name): {n: SIGNS_PRINTED[n] for n in (name, name[:5] + "other")} for name in list(SIGNS_PRINTED)[::2]}


def _wrong_side(run: StageTwo, signs: Mapping[str, int]) -> float:
    """How far a state gets on the wrong side of zero, relative to its largest size on [T_1, T_2]."""
    table, names = states_in_reach(run), run.run.names
    columns = [sign * table[:, names.index(name)] for name, sign in signs.items()]
    return float(max(max(-column.min(), 0.0) / np.abs(column).max() for column in columns))


def _row(lab: Laboratory, name: str, signs: Mapping[str, int]) -> Verdict:
    found = seen(lab, f"the part of {name} on the wrong side of 0", sweep(lab), lambda run: _wrong_side(run, signs))
    return judged(found, 0, SOLVER, EXACT)


@book.claim(
    "E.5",
    "Signs of scores and self-scores",
    kind="inequality",
    where="Lemma E.5",
    source="damaged",
    parts=(*ROWS, LAST),
    hypotheses=STAGE_2,
    uses=["E.2", "E.4", "E.5-proof", "E.5-proof/T1", "E.5-proof/E.2", "App.E.6", "App.E.7"],
    statement=r"c_1W_K^\top W_Qv_1\ge0\ge c_1W_K^\top W_Qv_2,\ v_1W_K^\top W_Qv_1\le0\le v_1W_K^\top W_Qv_2,\ "
    r"c_1W_K^\top W_Qc_1\ge0\ge c_1W_K^\top W_Qc_2,\ v_1W_K^\top W_Qc_1\le0\le v_1W_K^\top W_Qc_2,\ "
    r"c_1W_Q^\top W_Qv_1\ge0\ge c_1W_Q^\top W_Qv_2,\ c_1W_Q^\top W_Qc_1\ge0\ge c_1W_Q^\top W_Qc_2,\ "
    r"v_1W_Q^\top W_Qv_1\ge0\ge v_1W_Q^\top W_Qv_2,\ c_1W_K^\top W_Kv_1\le0\le c_1W_K^\top W_Kv_2,\ "
    r"c_1W_K^\top W_Kc_1\ge0\ge c_1W_K^\top W_Kc_2,\ v_1W_K^\top W_Kv_1\ge0\ge v_1W_K^\top W_Kv_2\quad(t\in[T_1,T_2])",
    reading=r"T_2: c_1^\top W_K^\top W_Q v_1 = 1/2; the last row, which the text at hand has three times with c for v, is read as that of v_1, v_1.",
)
def signs(lab: Laboratory) -> dict[str, Verdict]:
    """Each row of the table."""
    return {**{name: _row(lab, name, row) for name, row in ROWS.items()}, LAST: _row(lab, LAST, LAST_ROW)}


# ---- softmax weights along stage 2 -----------------------------------------------------------------------------------


def attention_at(state: Mapping[str, Any], s: int, r: int) -> np.ndarray:
    """Softmax weights of the + head on X_{1,s,s'} at a state of the 22 variables, or at several: the last axes are
    queries and keys.
    """
    m = {k: state[f"M_{k}"] for k in ("cc_same", "cv_same", "cv_other", "vc_same", "vc_other", "vv_same", "vv_other")}
    scores = np.array(
        [
            [m["cc_same"], s * m["vc_same"], r * m["vc_other"]],
            [s * m["cv_same"], m["vv_same"], s * r * m["vv_other"]],
            [r * m["cv_other"], s * r * m["vv_other"], m["vv_same"]],
        ]
    )
    return row_softmax(np.moveaxis(scores, (0, 1), (-2, -1)))


def _group_gap(run: StageTwo) -> float:
    """Smallest p(c1 -> c1) on X_{1,+,-} less that on X_{1,-,+} after T_1, over its size at T_2."""
    names = run.run.names
    gaps = []
    for state in run.table(60):
        values = dict(zip(names, state, strict=True))
        gaps.append(attention_at(values, 1, -1)[0, 0] - attention_at(values, -1, 1)[0, 0])
    return float(min(gaps) / max(abs(gap) for gap in gaps))


def _group_scores(run: StageTwo) -> float:
    """Smallest of -M_{v1 c1} and M_{v2 c1} after T_1, in units of omega^2."""
    return float(min(-run.column("M_vc_same").max(), run.column("M_vc_other").min()) / run.omega**2)


def _key_sums(run: StageTwo) -> float:
    """Largest |M_{v1 mu} + M_{v2 mu}| over omega."""
    table, names = states_in_reach(run), run.run.names
    sums = [table[:, names.index(f"M_{k}_same")] + table[:, names.index(f"M_{k}_other")] for k in ("vc", "vv")]
    return float(np.abs(sums).max() / run.omega)


@book.claim(
    "Sec.5.2-end",
    "Group queries and near symmetry in the text",
    kind="inequality",
    origin="text",
    where="Section 5.2, last three displays",
    parts=("signs", "attention", "near symmetry"),
    hypotheses=STAGE_2,
    uses=["E.4", "E.5", "C.5"],
    statement=r"v_1^\top W_K^\top W_Qc_1<0<v_2^\top W_K^\top W_Qc_1;\quad "
    r"p^{(+)}_{q\leftarrow c_1,k\leftarrow c_1}(X_{1,+,-})>p^{(-)}_{q\leftarrow c_1,k\leftarrow c_1}(X_{1,+,-});\quad "
    r"v_1^\top W_K^\top W_Q\mu\approx-v_2^\top W_K^\top W_Q\mu,\ \mu=v_1,v_2,c_1",
    reading=r"For t in (T_1, T_2] with T_2 as in Lemma E.3; \approx means up to \widetilde O(\omega), as Lemma E.4 makes it rigorous.",
)
def group_queries(lab: Laboratory) -> dict[str, Verdict]:
    """Signs, weights and sums of the scores with a classification key; p^- is read off by C.5."""
    points = sweep(lab)
    sums = seen(lab, "the largest |v_1 W_K W_Q mu + v_2 W_K W_Q mu| over omega", points, _key_sums)
    return {
        "signs": always_positive_along(
            lab, "min(-v_1 W_K W_Q c_1, v_2 W_K W_Q c_1) / omega^2 after T_1", points, _group_scores
        ),
        "attention": always_positive_along(
            lab, "the least of p^+(c_1, c_1) - p^-(c_1, c_1) on X_{1,+,-}, over its largest,", points, _group_gap
        ),
        "near symmetry": judged(sums, 0, 1, HIDDEN),
    }


@book.claim(
    "E.6",
    "Conflicting units stay active",
    kind="inequality",
    where="Lemma E.6",
    parts=("all four samples",),
    hypotheses=STAGE_2,
    uses=["D.7", "E.4"],
    statement=r"\forall k\in[2],\,s\in\{\pm1\}:\ \sigma_+^{(t)}(X_{k,s,-s})>0\quad(t\in[T_1,T_2])",
    reading=r"\sigma_+(X) = ReLU(H_+(X) + b) > 0 up to T_2, the first time with c_1^\top W_K^\top W_Q v_1 = 1/2.",
)
def units_stay_active(lab: Laboratory) -> Verdict:
    """Smallest pre-activation over the bias."""
    system = lab.reduced("simultaneous").system
    names = [f"H_{lab.head_name(+1)}_{lab.sample(*s) + 1}" for s in CONFLICTING]

    def lowest(run: StageTwo) -> float:
        compiled = system.compile(b=run.b)
        states = np.vstack([run.start, run.table(60)])
        values = [[compiled.observables(0.0, x)[n] for n in names] for x in states]
        return 1 + float(np.min(values)) / run.b

    return always_positive_along(lab, "the least (H_+ + b)/b", sweep(lab), lowest)


# ---- Theorem E.7 -----------------------------------------------------------------------------------------------------

KEYS = ("c_1", "v_1", "v_2")  # the tokens of X_{1,s,s'} without their signs
MIRROR = (0, 2, 1)  # v_1 against v_2
CONSISTENT_ROWS = {"consistent, query c_1": (0,), "consistent, queries v_1 and v_2": (1, 2)}
GAPS = ("conflicting, query v_1: Theta(1)", "conflicting, query v_2: Theta(1)")


def _final_weights(run: StageTwo, s: int, r: int) -> np.ndarray:
    return attention_at(run.run.final, s, r)


def _consistent(queries: Sequence[int]) -> Callable[[StageTwo], float]:
    """Largest |p(X_{1,+,+}) - p(X_{1,-,-})| with v_1 and v_2 exchanged, over omega, for these queries."""

    def largest(run: StageTwo) -> float:
        up, down = _final_weights(run, 1, 1), _final_weights(run, -1, -1)[np.ix_(MIRROR, MIRROR)]
        return float(np.abs(up - down)[list(queries)].max() / run.omega)

    return largest


def _keys_alike(samples: Sequence[int], queries: Sequence[int]) -> Callable[[StageTwo], float]:
    """Largest |p(q -> v_1) - p(q -> v_2)| on the conflicting samples X_{1,s,-s}, over omega."""

    def largest(run: StageTwo) -> float:
        weights = [_final_weights(run, s, -s)[list(queries)] for s in samples]
        return float(max(np.abs(w[:, 1] - w[:, 2]).max() for w in weights) / run.omega)

    return largest


def _queries_alike(run: StageTwo) -> float:
    weights = _final_weights(run, 1, -1)
    return float(abs(weights[2, 0] - weights[1, 0]) / run.omega)


def _gap(query: int) -> Callable[[StageTwo], float]:
    """p(q -> c_1) on X_{1,+,-} less that on X_{1,-,+}, for the same token up to its sign."""
    return lambda run: float(_final_weights(run, 1, -1)[query, 0] - _final_weights(run, -1, 1)[query, 0])


def least_gap(x_star: float, c: float = DOMINATED) -> float:
    """The gap if the score of c_1 is x* and (11) holds with c: the other two scores are equal, at most c x* in size."""
    found = []
    for other in (c * x_star, -c * x_star):
        plus, minus = (exp(s * x_star) / (exp(s * x_star) + 2 * exp(other)) for s in (1, -1))
        found.append(plus - minus)
    return min(found)


def _stage_two_ends(lab: Laboratory) -> list[dict[str, Any]]:
    """The sweep, and T_2 at other scores than C, over more than a decade, up to those at which stage 3 starts."""
    own = [
        {"omega": omega, "T1": 30.0, "b": 0.4, "x_star": x}
        for omega in (0.1, 0.001)
        for x in (0.05, 0.15, 0.5, 1.0, 2.0)
    ]
    more = lab.draw.points("T2", own, {"omega": (1e-3, 0.3), "x_star": (0.05, 2.0)}, STAGE_2)
    return [*({**point, "x_star": REACH} for point in sweep(lab)), *more]


def _gap_verdict(lab: Laboratory, points: Sequence[Mapping[str, Any]], query: int) -> Verdict:
    """The gap over what (11) guarantees at x*: at least 1, and bounded since weights are below 1."""
    found = measure(
        f"the gap of the query {KEYS[query]} over the least one under (11)",
        points,
        lambda p: _gap(query)(run_at(lab, p)) / least_gap(p["x_star"]),
    )
    top = 1 / least_gap(min(p["x_star"] for p in points))
    return judged(found, 1, top, "at T2 the score is x*, and (11) with c = 3/5 bounds the others; weights are below 1")


def attention_parts(lab: Laboratory) -> dict[str, Verdict]:
    """All displays of the theorem at T_2."""
    points = _stage_two_ends(lab)
    lipschitz = (
        "a weight moves by at most half the largest change of its scores, which Lemma E.4 bounds; the constant is 1"
    )

    def small(what: str, observable: Callable[[StageTwo], float]) -> Verdict:
        return judged(seen(lab, f"{what}, over omega,", points, observable), 0, 1, lipschitz)

    time = measure("T_2 / log(1/omega)", points, lambda p: run_at(lab, p).run.end_time / log(1 / p["omega"]))
    limit = measure("its bound", points, lambda p: p["T1"] / log(2) + 2 * sqrt(2) / kappa(p))
    share = Measurement("T_2 / log(1/omega) over T_1/log 2 + 2 sqrt 2/kappa", points, time.values / limit.values)
    guaranteed = "T_1 is constant and omega below 1/2; T2 - T1 is at most sqrt 2 log(1/omega^2)/kappa by Lemma E.3"
    found = {"T2": judged(share, 0, 1, guaranteed).with_constants(**CONSTANTS)}
    found |= {name: small("the largest difference", _consistent(rows)) for name, rows in CONSISTENT_ROWS.items()}
    found["conflicting, query c_1: larger"] = always_positive_along(
        lab, "p(c_1, c_1) on X_{1,+,-} less that on X_{1,-,+}", points, _gap(0)
    )
    found["conflicting, query c_1: keys alike"] = small("the largest difference", _keys_alike((1, -1), (0,)))
    found |= {name: _gap_verdict(lab, points, query) for query, name in enumerate(GAPS, 1)}
    found["conflicting, queries v_1 and v_2: keys alike"] = small("the largest difference", _keys_alike((1,), (1, 2)))
    found["conflicting, key c_1: queries alike"] = small("the difference", _queries_alike)
    return found


def attention_after(lab: Laboratory) -> Verdict:
    """Theorem E.7 as one verdict, for what is built on it."""
    return combine_verdicts(attention_parts(lab))


@book.claim(
    "E.7",
    "Attention after stage 2",
    kind="order",
    where="Theorem E.7",
    main=True,
    parts=(
        "T2",
        *CONSISTENT_ROWS,
        "conflicting, query c_1: larger",
        "conflicting, query c_1: keys alike",
        *GAPS,
        "conflicting, queries v_1 and v_2: keys alike",
        "conflicting, key c_1: queries alike",
    ),
    hypotheses=STAGE_2,
    uses=["E.3/order", "E.4", "E.5"],
    statement=r"\exists T_2=O(\log\tfrac1\omega):\ |p_{q\to k}(X_{1,+,+})-p_{q'\to k'}(X_{1,-,-})|\le\widetilde O(\omega)"
    r"\ (v_1\leftrightarrow-v_2,\,v_2\leftrightarrow-v_1;\ 9\text{ displays});\ p_{c_1\to c_1}(X_{1,+,-})>p_{c_1\to c_1}(X_{1,-,+}),\ "
    r"|p_{c_1\to v_1}-p_{c_1\to-v_2}|(X_{1,+,-}),\,|p_{c_1\to-v_1}-p_{c_1\to v_2}|(X_{1,-,+})\le\widetilde O(\omega);\ "
    r"p_{v_1\to c_1}(X_{1,+,-})-p_{-v_1\to c_1}(X_{1,-,+})=\Theta(1),\ p_{-v_2\to c_1}(X_{1,+,-})-p_{v_2\to c_1}(X_{1,-,+})=\Theta(1),\ "
    r"|p_{v_1\to v_1}-p_{v_1\to-v_2}|,\,|p_{-v_2\to v_1}-p_{-v_2\to-v_2}|,\,|p_{-v_2\to c_1}-p_{v_1\to c_1}|(X_{1,+,-})\le\widetilde O(\omega)",
    reading=r"T_2 is the first time with c_1^\top W_K^\top W_Q v_1 = x^*; all weights at T_2, + head; T_1 = \Theta(1), so O(\log 1/\omega) is that of T_2 - T_1.",
)
def attention_at_the_end(lab: Laboratory) -> dict[str, Verdict]:
    """Every display."""
    return attention_parts(lab)
