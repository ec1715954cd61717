"""Appendix E along trajectories: dominance, growth, near symmetry, signs and attention gaps; all in floats."""

from __future__ import annotations

import numpy as np

from odesys import Verdict, combine_verdicts, measured, softmax

from ..laboratory import Laboratory
from ..special.trajectories import BIAS, GRID, stage_two
from .book import CONFLICTING, book
from .part_e_growth import BLOCK, GROWTH

SWEEP = "omega, T1 in " + ", ".join(f"({o:g}, {t:g})" for o, t in GRID)
ROUNDING = 1e-12


def _ratio(lab: Laboratory, small: tuple[str, ...], large: tuple[str, str], x_star: float) -> dict[str, float]:
    """Largest ratio of max |small| to min(large[0], -large[1]) along every trajectory of the grid."""
    found = {}
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, x_star)
        table = run.table()
        names = run.run.names
        top = np.max(np.abs(table[:, [names.index(n) for n in small]]), axis=1)
        bottom = np.minimum(table[:, names.index(large[0])], -table[:, names.index(large[1])])
        found[f"omega={omega:g}, T1={T1:g}"] = float(np.max(top / bottom)) if (bottom > 0).all() else float("inf")
    return found


def _dominance(lab: Laboratory, small: tuple[str, ...], large: tuple[str, str], c: float) -> Verdict:
    ratios = _ratio(lab, small, large, 3.0)
    worst = max(ratios.values())
    return measured(worst <= c, {"ratio": worst}, ratios=ratios, x_star=3.0, sweep=SWEEP).with_constants(
        c=c, largest=worst
    )


@book.claim(
    "E.1(11)",
    "Dominance of the scores",
    kind="inequality",
    uses=["E.1-display"],
    statement=r"\max_{\text{other}}|M_{\mu\nu}|\le c\,\min(M_{c_kv_k},-M_{c_kv_{k'}})",
    reading="c = 0.51 along stage 2 up to x* = 3 on the grid (omega, T1) of the details; the paper says only 0 < c < 1",
)
def score_dominance(lab: Laboratory) -> Verdict:
    """The six other orbits of scores against the dominant pair."""
    others = tuple(f"M_{k}_{s}" for k in ("cc", "vc", "vv") for s in ("same", "other"))
    verdict = _dominance(lab, others, ("M_cv_same", "M_cv_other"), 0.51)
    worst = float(verdict.constants["largest"])
    if worst > 0.5:
        verdict = verdict.adding(half="c = 1/2 itself is exceeded")
    return verdict


@book.claim(
    "E.1(12)",
    "Dominance of the query self-scores",
    kind="inequality",
    uses=["E.1(11)"],
    statement=r"\max(|B_{vc}^=|,|B_{vc}^{\ne}|,|B_{cc}^{\ne}|)\le c\,\min(B_{vv}^=,-B_{vv}^{\ne})",
    reading="c = 0.26 along stage 2 after T1 (at T1 both sides are 0), up to x* = 3 on the grid (omega, T1) of the details",
)
def query_dominance(lab: Laboratory) -> Verdict:
    """Off-diagonal query self-scores against the dominant pair."""
    return _dominance(lab, ("B_cv_same", "B_cv_other", "B_cc_other"), ("B_vv_same", "B_vv_other"), 0.26)


@book.claim(
    "E.1(13)",
    "Dominance of the key self-scores",
    kind="inequality",
    uses=["E.1(11)"],
    statement=r"\max(|A_{cv}^=|,|A_{cv}^{\ne}|,|A_{vv}^{\ne}|)\le c\,\min(A_{cc}^=,-A_{cc}^{\ne})",
    reading="c = 0.26 along stage 2 after T1 (at T1 both sides are 0), up to x* = 3 on the grid (omega, T1) of the details",
)
def key_dominance(lab: Laboratory) -> Verdict:
    """Off-diagonal key self-scores against the dominant pair."""
    return _dominance(lab, ("A_cv_same", "A_cv_other", "A_vv_other"), ("A_cc_same", "A_cc_other"), 0.26)


@book.claim(
    "E.1(14)",
    "Order of the diagonal self-scores",
    kind="inequality",
    uses=["E.1(11)"],
    statement=r"B_{vv}^=\ge B_{cc}^=,\quad A_{cc}^=\ge A_{vv}^=",
    reading="along stage 2 up to x* = 3 on the grid (omega, T1) of the details, up to rounding",
)
def diagonal_order(lab: Laboratory) -> Verdict:
    """Smallest differences along all trajectories."""
    gaps = {}
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, 3.0)
        gap = min(
            (run.column("B_vv_same") - run.column("B_cc_same")).min(),
            (run.column("A_cc_same") - run.column("A_vv_same")).min(),
        )
        gaps[f"omega={omega:g}, T1={T1:g}"] = float(gap)
    return measured(
        min(gaps.values()) >= -ROUNDING, {"smallest difference": min(gaps.values())}, differences=gaps, x_star=3.0
    )


@book.claim(
    "E.2",
    "Score growth along trajectories",
    kind="inequality",
    uses=["B.2", "E.1(11)", "E.1(12)", "E.1(13)"],
    statement=r"\dot x\ge b\,A_3x\ \text{while}\ \max|M|\le C",
    reading="b = 0.999 kappa with kappa = n_c/18, along stage 2 while M_cv_same <= 1, on the grid (omega, T1) of the details",
)
def growth_along(lab: Laboratory) -> Verdict:
    """Smallest ratio of each derivative to its row of A x, in units of kappa."""
    worst = {}
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, 1.0)
        names = run.run.names
        field = lab.reduced("stage2").system.compile(b=BIAS)
        kappa = run.start[names.index("n_c")] / 18
        rows = []
        for state in run.table():
            rate = field(0.0, state)
            x = np.array([state[names.index(n)] for n in BLOCK])
            rows.append([rate[names.index(n)] for n in BLOCK] / (np.array(GROWTH, dtype=float) @ x) / kappa)
        worst[f"omega={omega:g}, T1={T1:g}"] = float(np.min(rows))
    return measured(
        min(worst.values()) >= 0.999, {"rate over kappa": min(worst.values())}, smallest=worst
    ).with_constants(b="0.999 kappa", C=1)


@book.claim(
    "5.5",
    "Score growth",
    kind="inequality",
    uses=["E.2"],
    same_as="E.2",
    statement=r"\dot x\ge b\,A_3x",
    reading="as E.2",
)
def growth_main_text(lab: Laboratory) -> Verdict:
    """The same inequality."""
    return growth_along(lab)


@book.claim(
    "E.3/order",
    "Duration of stage 2",
    kind="order",
    uses=["E.2", "E.3", "Beyond.manifold"],
    statement=r"T_2-T_1=O(\log\tfrac1{\omega^2}),\quad M_{c_1v_1},-M_{c_1v_2}=\Theta(1)",
    reading="T1 = 20, x* = 1: the slope of T2 - T1 against log(1/omega) over omega = 0.1 .. 0.001 is within 1 percent of 9/n_c",
)
def duration_order(lab: Laboratory) -> Verdict:
    """Fit of the durations."""
    omegas = (0.1, 0.03, 0.01, 0.003, 0.001)
    runs = [stage_two(lab, omega, 20.0, 1.0) for omega in omegas]
    slope = float(np.polyfit(-np.log(omegas), [r.duration for r in runs], 1)[0])
    expected = 9 / float(runs[0].start[runs[0].run.names.index("n_c")])
    final = [float(r.run.final["M_cv_other"]) for r in runs]
    fine = abs(slope / expected - 1) < 0.01 and max(abs(v + 1) for v in final) < 1e-6
    return measured(
        fine,
        {"slope": slope, "9/n_c": expected},
        slope=slope,
        expected=expected,
        omegas=omegas,
        durations=[r.duration for r in runs],
    )


SIGNS_PRINTED = {  # the table of Lemma E.5 with its last row as printed (key self-score of v1 with c1)
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
LAST_ROW_PRINTED = {"A_cv_same": 1, "A_cv_other": -1}
LAST_ROW_RIGHT = {"A_vv_same": 1, "A_vv_other": -1}


def _signs(lab: Laboratory, table: dict[str, int]) -> Verdict:
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, 3.0)
        for name, sign in table.items():
            column = sign * run.column(name)
            if column.min() < -ROUNDING:
                k = int(column.argmin())
                return measured(
                    False,
                    {
                        "state": name,
                        "value": float(sign * column[k]),
                        "omega": omega,
                        "T1": T1,
                        "t - T1": float(run.times()[k] - run.run.times[0]),
                    },
                )
    return measured(True, signs=len(table), sweep=SWEEP, x_star=3.0)


@book.claim(
    "E.5",
    "Signs of scores and self-scores",
    kind="inequality",
    uses=["E.1(11)", "E.5-proof", "Beyond.manifold"],
    expect="fails",
    statement=r"M_{cv}^=\ge0\ge M_{cv}^{\ne},\ \dots,\ A_{cv}^=\le0\le A_{cv}^{\ne},\ A_{cc}^=\ge0\ge A_{cc}^{\ne},\ v_1^\top W_K^\top W_Kc_1\ge0",
    reading="all printed signs along stage 2 up to x* = 3 on the grid (omega, T1) of the details, up to rounding; the last printed row repeats "
    "the pair (v1, c1) of an earlier row with the other sign",
)
def signs(lab: Laboratory) -> Verdict:
    """The table as printed, and with the last row about (v1, v1)."""
    printed = combine_verdicts({"table": _signs(lab, SIGNS_PRINTED), "last row": _signs(lab, LAST_ROW_PRINTED)})
    right = combine_verdicts({"table": _signs(lab, SIGNS_PRINTED), "last row": _signs(lab, LAST_ROW_RIGHT)})
    return printed.correcting(
        r"v_1^\top W_K^\top W_Kv_1\ge0,\ v_1^\top W_K^\top W_Kv_2\le0\ \text{in the last row}",
        right,
        "the printed row contradicts the row for c1, v1 above it: they are the same number",
    )


@book.claim(
    "Sec.5.2-end",
    "Group queries and near symmetry in the text",
    kind="inequality",
    uses=["E.5"],
    statement=r"M_{v_1c_1}<0<M_{v_2c_1},\quad M_{v_1\mu}\approx-M_{v_2\mu}",
    reading="strict signs along stage 2 up to x* = 1 on the grid, and |same + other| <= omega for the scores with key v",
)
def group_queries(lab: Laboratory) -> Verdict:
    """Signs and sums of the scores with a classification key."""
    worst = 0.0
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, 1.0)
        if (run.column("M_vc_same") >= 0).any() or (run.column("M_vc_other") <= 0).any():
            return measured(False, {"omega": omega, "T1": T1})
        sums = [np.abs(run.column(f"M_{k}_same") + run.column(f"M_{k}_other")).max() / omega for k in ("vc", "vv")]
        worst = max(worst, float(max(sums)))
    return measured(worst <= 1, {"sum over omega": worst}, largest_sum_over_omega=worst, sweep=SWEEP)


@book.claim(
    "E.6",
    "Conflicting units stay active",
    kind="inequality",
    uses=["E.5"],
    statement=r"H_+(X_{k,s,-s})+b>0\ \text{on}\ [T_1,T_2]",
    reading="smallest value of H_+ + b over both conflicting samples of group 1 along stage 2, x* = 3, b = 1/2, grid (omega, T1) of the details",
)
def units_stay_active(lab: Laboratory) -> Verdict:
    """Smallest pre-activation."""
    system = lab.reduced("stage2").system
    compiled = lab.reduced("simultaneous").system.compile(b=BIAS)
    names = [f"H_{lab.head_name(+1)}_{lab.sample(*s) + 1}" for s in CONFLICTING]
    lowest = {}
    for omega, T1 in GRID:
        run = stage_two(lab, omega, T1, 3.0)
        values = [[compiled.observables(0.0, x)[n] for n in names] for x in run.table(60)]
        lowest[f"omega={omega:g}, T1={T1:g}"] = float(np.min(values)) + BIAS
    return measured(
        min(lowest.values()) > 0, {"smallest": min(lowest.values())}, smallest=lowest, states=system.dimension
    )


def attention_at(state: dict[str, float], s: int, r: int) -> np.ndarray:
    """Softmax weights of the + head on X_{1,s,s'} at a state of the 22 variables, rows queries."""
    m = {k: state[f"M_{k}"] for k in ("cc_same", "cv_same", "cv_other", "vc_same", "vc_other", "vv_same", "vv_other")}
    scores = np.array(
        [
            [m["cc_same"], s * m["vc_same"], r * m["vc_other"]],
            [s * m["cv_same"], m["vv_same"], s * r * m["vv_other"]],
            [r * m["cv_other"], s * r * m["vv_other"], m["vv_same"]],
        ]
    )
    return softmax(scores)


@book.claim(
    "E.7",
    "Attention after stage 2",
    kind="order",
    uses=["C.5", "E.4", "E.5", "E.6", "Beyond.manifold"],
    statement=r"p_{v_1\to c_1}^{(+)}(X_{1,+,-})-p_{v_1\to c_1}^{(+)}(X_{1,-,+})=\Theta(1),\ |p_{q\to v_1}-p_{q\to -v_2}|\le\widetilde O(\omega),\dots",
    reading="omega in 0.1, 0.05, 0.01, T1 = 20, x* = 1: gaps above 0.4 for both v-queries and positive for the c-query; key asymmetry "
    "below omega for the c-query and below 1e-12 for v-queries (exact by the invariant subspace), which attend alike to c1; "
    "consistent samples agree under v1 <-> -v2 up to omega. The - head is read off by C.5",
)
def attention_after(lab: Laboratory) -> Verdict:
    """Gaps and asymmetries of the softmax weights at T2."""
    rows = {}
    for omega in (0.1, 0.05, 0.01):
        state = stage_two(lab, omega, 20.0, 1.0).run.final
        plus, minus = attention_at(state, 1, -1), attention_at(state, -1, 1)
        up, down = attention_at(state, 1, 1), attention_at(state, -1, -1)
        order = [0, 2, 1]
        rows[omega] = {
            "v gap": float(min(plus[1, 0] - minus[1, 0], plus[2, 0] - minus[2, 0])),
            "c gap": float(plus[0, 0] - minus[0, 0]),
            "v asymmetry": float(np.abs(plus[1:, 1] - plus[1:, 2]).max()),
            "c asymmetry": float(abs(plus[0, 1] - plus[0, 2])),
            "consistent": float(np.abs(up - down[np.ix_(order, order)]).max()),
            "v queries": float(abs(plus[1, 0] - plus[2, 0])),
        }
    fine = all(
        r["v gap"] > 0.4
        and r["c gap"] > 0
        and r["v asymmetry"] < 1e-12
        and r["v queries"] < 1e-12
        and r["c asymmetry"] < o
        and r["consistent"] < o
        for o, r in rows.items()
    )
    return measured(fine, rows, rows=rows)
