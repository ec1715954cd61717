"""Appendix F and Theorem 4.1: stage 3 and the assembled statement; floats along trajectories, so measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from odesys import (
    Measurement,
    Verdict,
    combine_verdicts,
    equal,
    graph,
    identity,
    integrate,
    measure,
    over_seeds,
    undecided,
)

from ..laboratory import Laboratory
from ..special.closed_forms import late_loss_constant
from ..special.trajectories import BIAS, stage_three, stage_two
from .book import CONFLICTING, attention, book, name
from .common_hypotheses import STAGE_TWO
from .common_stage_three import (
    SOLVER,
    UNBOUNDED,
    Point,
    along,
    at_T2,
    at_T3,
    conflicting_attention,
    constant_in,
    logarithmic_in_eps,
    loss_later,
    margins_at,
    over_eps,
    over_omega,
    shrinks_with_omega,
    third_stage,
    within_omega,
)
from .common_stage_two import STAGE_3
from .part_5_d_stage_one import neurons_at_the_end, unit_switches_off
from .part_b_c_symmetry import groups_stay_symmetric, heads_stay_symmetric
from .part_e_near_symmetry import STILL, start_gaps
from .part_e_stage_two import manifold

POSITIVE = "a sample is classified if y f > 0"
EVENT = "T3 is found as an event of the solver, whose relative tolerance is 1e-9"


@book.claim(
    "F-text",
    "Stage 2 makes the data separable",
    kind="order",
    uses=["E.7"],
    origin="text",
    where="Appendix F, first paragraph",
    parts=("y f >= Omega(1)",),
    hypotheses=STAGE_3,
    statement=r"w_+=c_1+c_2+v_1+v_2,\ w_-=c_1+c_2-v_1-v_2:\quad y f(X)\ge\Omega(1)\ \text{for all}\ (X,y)\in\mathcal D\ \text{after stage 2}",
    reading="The smallest of the eight margins with these neurons and the attention at T_2, as omega goes to zero.",
)
def separable(lab: Laboratory) -> Verdict:
    """The smallest margin with n_c = n_v = 1 at T2; the output of the + head on X_{1,+,+} is 3 exactly."""

    def smallest(state: dict[str, float], p: Point) -> float:
        return min(margins_at(lab, {**state, "n_c": 1.0, "n_v": 1.0}, p["b"]).values())

    found = along(lab, "the smallest margin", over_omega(lab), at_T2, smallest)
    ones = {graph.sym("n_c"): graph.ONE, graph.sym("n_v"): graph.ONE}
    output = graph.substitute([lab.observable("H", 1, 1, 1, +1, quotient=True)], ones)[0]
    if identity({"H_+(X_{1,+,+}) - 3": output - 3}).as_stated != "holds":
        found = Measurement(found.what, found.points, np.full(len(found.points), np.nan))
    positive = found.between(1e-6, UNBOUNDED, "a margin is positive beyond the error of the solver")
    return positive if positive.as_stated == "fails" else positive & found.order("omega", 0, "Omega", "zero")


# ---- convergence -----------------------------------------------------------------------------------------------------


def time_of_stage_three(lab: Laboratory) -> Verdict:
    """T3 - T2 = O(1/eps) over three decades of eps, with a constant that does not depend on omega."""
    time = lambda state, p: state["T3 - T2"]  # noqa: E731
    in_eps = along(lab, "T3 - T2", over_eps(lab), at_T3, time).order("eps", -1, "O", "zero")
    return in_eps & along(lab, "T3 - T2", over_omega(lab), at_T3, time).order("omega", 0, "O", "zero")


def loss_at_the_end(lab: Laboratory) -> Verdict:
    """The loss is at most eps at T3 and from then on."""
    points = (*over_eps(lab), *over_omega(lab))
    found = measure("the largest loss over eps on [T3, T3 + 9 (T3 - T2)]", points, lambda p: loss_later(lab, p))
    return found.between(0, 1 + 1e3 * SOLVER, EVENT)


@book.claim(
    "F.3",
    "Stage 3 converges",
    kind="order",
    main=True,
    uses=["F.1", "F.2", "F.3-proof"],
    where="Theorem F.3",
    parts=("T_3 - T_2 = O(1/eps)", "loss <= eps"),
    hypotheses=STAGE_3,
    statement=r"\exists\,T_3:\ T_3-T_2=O(1/\epsilon)\ \text{and}\ \mathbb E[\ell(yf^{(t)}(X))]\le\epsilon",
    reading="T_3 is the first time with loss eps, t runs on to ten times T_3 - T_2, and T_1 <= 2000; the constant of O does not depend on omega.",
)
def loss_falls(lab: Laboratory) -> dict[str, Verdict]:
    """Time and loss."""
    return {"T_3 - T_2 = O(1/eps)": time_of_stage_three(lab), "loss <= eps": loss_at_the_end(lab)}


PROOF_PARTS = {  # observable of `_displays`: part, order it has
    "df(X_{1,+,+})/dt": "Omega",
    "df(X_{1,+,-})/dt": "Omega",
    "dL/dt by g^2": "Omega",
    "dL/dt by l^2": "Omega",
    "L by 1/(t - T_2 + 1)": "O",
}
TIMES = 60  # along stage 3 where the displays are evaluated


def _displays(lab: Laboratory, p: Point) -> dict[str, float]:
    """The worst constant of each display along stage 3, with 0 in the place of O~(omega g)."""
    run = third_stage(lab, p["omega"], p["b"], p["T1"], p["x_star"], p["eps"])
    system = lab.reduced("stage3").system
    compiled, begin = system.compile(b=p["b"]), run.times[0]
    keys = [f"margin_{lab.sample(1, 1, r) + 1}" for r in (1, -1)]
    worst = {part: np.inf if kind == "Omega" else 0.0 for part, kind in PROOF_PARTS.items()}
    for t in np.geomspace(1e-2, run.end_time - begin, TIMES):
        x = run.at(min(begin + t, run.end_time))
        rate = np.asarray(compiled(0.0, x))
        step = 1e-5 / float(np.abs(rate).max())  # rates fall like eps, and rounding does not
        f = np.array([compiled.observables(0.0, x)[key] for key in keys])
        # margins are linear in the neurons for given units: the difference quotient is the derivative
        near = [compiled.observables(0.0, x + h * rate) for h in (-step, step)]
        df = np.array([(near[1][key] - near[0][key]) / (2 * step) for key in keys])
        g, losses = 1 / (1 + np.exp(f)), np.log1p(np.exp(-f))
        fall, loss = 0.5 * float(g @ df), 0.5 * float(losses.sum())
        now = {
            "df(X_{1,+,+})/dt": df[0] / g[0],
            "df(X_{1,+,-})/dt": df[1] / g[1],
            "dL/dt by g^2": fall / float(g @ g),
            "dL/dt by l^2": fall / float(losses @ losses),
            "L by 1/(t - T_2 + 1)": (t + 1) * loss,
        }
        for part, kind in PROOF_PARTS.items():
            worst[part] = float((min if kind == "Omega" else max)(worst[part], now[part]))
    return worst


@book.claim(
    "F.3-proof",
    "Margins grow and the loss falls like 1/t",
    kind="order",
    uses=["F.1", "F.2"],
    origin="proof",
    where="Appendix F, proof of Theorem F.3",
    parts=tuple(PROOF_PARTS),
    hypotheses=STAGE_3,
    statement=r"\frac{df(X_{1,+,+})}{dt}=\Omega(g_+)+\widetilde O(\omega g_-),\ \frac{df(X_{1,+,-})}{dt}=\Omega(g_-)+\widetilde O(\omega g_+),\ \frac{d\mathcal L}{dt}=-\Omega(g_+^2+g_-^2)=-\Omega\big(\ell^2(f(X_{1,+,+}))+\ell^2(f(X_{1,+,-}))\big),\ \mathcal L\le O\big(\tfrac1{t-T_2+1}\big)",
    reading="The worst constant along stage 3, with 0 for both O~ terms, stays positive and bounded as omega and epsilon go to zero.",
)
def proof_of_convergence(lab: Laboratory) -> dict[str, Verdict]:
    """The worst constants of the displays along stage 3, as omega and as eps go to zero."""
    moving = {"omega": over_omega(lab), "eps": over_eps(lab)}
    rows = {n: [_displays(lab, p) for p in points] for n, points in moving.items()}
    answers = {}
    for part, kind in PROOF_PARTS.items():
        found = []
        for n, points in moving.items():
            seen = Measurement(f"the constant of {part}", points, [row[part] for row in rows[n]])
            positive = seen.between(1e-6, UNBOUNDED, "a constant is positive beyond the error of the solver")
            found.append(positive if positive.as_stated == "fails" else seen.order(n, 0, kind, "zero"))
        answers[part] = found[0] & found[1]
    return answers


LATE = 1e7  # time in stage 3 at which its limit is looked at


@book.claim(
    "Beyond.F.3",
    "The constant of 1/t",
    kind="order",
    uses=["F.1", "F.2"],
    origin="ours",
    hypotheses=STAGE_TWO,
    statement=r"(t-T_2)\,\mathcal L\to4\,(1/Q^2+1/R^2)",
    reading="Q and R are the slopes of the two margins in n_c and n_v at T_2; the limit is compared at t - T_2 = 10^7.",
)
def late_loss(lab: Laboratory) -> Verdict:
    """Product of time and loss against the predicted limit."""
    own = [{"omega": 0.05, "T1": 20.0, "x_star": x, "b": BIAS} for x in (1.0, 2.0, 3.0)]
    points = lab.draw.points("late loss", own, {"omega": (0.01, 0.1), "T1": (10.0, 500.0), "b": (0.1, 1.0)}, STAGE_TWO)
    constants = {}

    def ratio(p: Point) -> float:
        run = stage_three(lab, p["omega"], p["T1"], p["x_star"], LATE, p["b"])
        limit = late_loss_constant(run.final)
        constants[f"limit at x*={p['x_star']:g}"] = limit
        return float(LATE * run.final["loss"] / limit)

    found = measure("(t - T2) L over its limit", points, ratio)
    return found.between(
        0.998,
        1.002,
        "the next orders are T1/t, from the margin at T2, and log(t)/t: 5e-5 at T1 = 500; forty times that",
    ).with_constants(**constants)


# ---- the theorem -----------------------------------------------------------------------------------------------------


def _group_sum(state: dict[str, float]) -> float:
    """The first display after Theorem 4.1."""
    plus, minus = conflicting_attention(state)
    return state["n_c"] * float((plus[:, 0] - minus[:, 0]).sum())


def _classification_sum(state: dict[str, float]) -> float:
    """The second display after Theorem 4.1: weights of the + head on v_1 and on -v_2."""
    plus, _ = conflicting_attention(state)
    return state["n_v"] * float((plus[:, 1] - plus[:, 2]).sum())


@book.claim(
    "Thm.4.1-text",
    "Why conflicting samples are classified",
    kind="order",
    uses=["Thm.4.1"],
    origin="text",
    where="Section 4, displays after Theorem 4.1",
    parts=("group signals", "classification signals", "classified"),
    hypotheses=STAGE_3,
    statement=r"w_+^\top c_1\sum_qp^{(+)}_{q,c_1}-w_-^\top c_1\sum_qp^{(-)}_{q,c_1}\ge\Omega(1),\quad w_+^\top(-v_2)\sum_qp^{(+)}_{q,-v_2}+w_+^\top v_1\sum_qp^{(+)}_{q,v_1}\approx0,\quad f^{(T_3)}(X_{1,+,-})>0",
    reading="p on X_{1,+,-} at T_3, q over its three tokens; approximately zero means at most O~(omega), as in Theorem 4.1.",
)
def why_classified(lab: Laboratory) -> dict[str, Verdict]:
    """Both sums and the margin at T3."""
    conflicting = [name(*sample) for sample in CONFLICTING]
    margin = lambda state, p: min(margins_at(lab, state, p["b"])[n] for n in conflicting)  # noqa: E731
    points = [*over_eps(lab), *over_omega(lab)]
    margins = along(lab, "the smallest y f of the conflicting samples at T3", points, at_T3, margin)
    return {
        "group signals": constant_in(lab, "the first sum", lambda state, p: _group_sum(state), "Omega"),
        "classification signals": shrinks_with_omega(lab, "the second sum", lambda state, p: _classification_sum(state))
        & within_omega(lab, "the second sum", lambda state, p: _classification_sum(state)),
        "classified": margins.between(1e-6, UNBOUNDED, POSITIVE),
    }


def duration_of_stage_two(lab: Laboratory) -> Verdict:
    """(T2 - T1) / log(1/omega) does not grow as omega goes to zero."""
    ratio = lambda state, p: state["T2 - T1"] / np.log(1 / p["omega"])  # noqa: E731
    seen = along(lab, "(T2 - T1) / log(1/omega)", over_omega(lab), at_T2, ratio)
    return seen.order("omega", 0, "O", "zero")


def concentration(lab: Laboratory) -> Verdict:
    """Three gaps between the heads on the key c_1: two of order one, one nonnegative."""

    def gap(query: int) -> Any:
        def value(state: dict[str, float], p: Point) -> float:
            plus, minus = conflicting_attention(state)
            return float(plus[query, 0] - minus[query, 0])

        return value

    gaps = {query: constant_in(lab, f"the gap of {query}", gap(place)) for place, query in ((1, "v_1"), (2, "-v_2"))}
    group = along(lab, "the gap of c_1", over_omega(lab), at_T3, gap(0))
    return gaps["v_1"] & gaps["-v_2"] & group.between(0, 1, "a difference of probabilities that is not negative")


def near_symmetry(lab: Laboratory) -> Verdict:
    """Three differences between the keys v_1 and -v_2 in the + head: two are 0, that of c_1 is O~(omega)."""

    def difference(query: int) -> Any:
        return lambda state, p: float(
            conflicting_attention(state)[0][query, 1] - conflicting_attention(state)[0][query, 2]
        )

    bound = within_omega(lab, "the difference of c_1", difference(0))
    return bound & shrinks_with_omega(lab, "the difference of c_1", difference(0)) & classification_queries_alike(lab)


def classification_queries_alike(lab: Laboratory) -> Verdict:
    """For the queries v_1 and -v_2 both weights are equal: M_{v_1v_1} + M_{v_1v_2} is 0 at T1 and stays so."""
    scores, third = lab.reduced("stage2").system.on_path("KQ"), lab.reduced("stage3").system
    moving = sorted(set(third.moving) & set(scores))
    if moving:
        return undecided(f"{moving[0]} moves in stage 3")
    zero = [f"{kind}_{group}" for kind in STILL for group in ("same", "other")]
    starts = identity({f"{n} at omega = {o}": graph.num(gap) for (n, o), gap in start_gaps(lab, zero).items()})
    rows = attention(lab, (1, 1, -1), +1, lifted=True)
    weights = {query: (rows[k][1], rows[k][2]) for query, k in (("v_1", 1), ("-v_2", 2))}
    onto = {graph.sym("M_vv_other"): -graph.sym("M_vv_same")}
    equal_weights = equal(weights, given=onto)
    return (equal_weights & starts & manifold(lab)).proving(
        "M = 0 and v_1' W_Q' W_Q c_1 = 0 at T1, and the subspace of Beyond.manifold is kept in stage 2",
        "with v_1' W_K' W_Q v_1 = -v_1' W_K' W_Q v_2 the two weights of the query v_1, and of -v_2, are the same expression",
    )


def exact_symmetries(lab: Laboratory) -> Verdict:
    """Both heads and both groups, in every stage."""
    both = groups_stay_symmetric(lab) & heads_stay_symmetric(lab)
    return both.proving("both exchanges fix the start and commute with the flow of each stage (Lemmas C.2 and C.4)")


@book.claim(
    "Thm.4.1",
    "Three-stage training learns",
    kind="order",
    main=True,
    uses=["Beyond.manifold", "C.2", "C.4", "D.3", "D.7", "D.8", "E.3/order", "E.7", "F.1", "F.2", "F.3"],
    where="Theorem 4.1",
    parts=(
        "T_1 = Theta(1)",
        "T_2 - T_1 = O(log(1/omega))",
        "T_3 - T_2 = O(1/eps)",
        "loss <= eps",
        "alignment with classification signals",
        "alignment with group signals",
        "symmetry between heads and groups",
        "concentration on the group signal key",
        "near symmetry within a head",
    ),
    hypotheses=STAGE_3,
    statement=r"\exists\,T_1=\Theta(1),\ T_2-T_1=O(\log\tfrac1\omega),\ T_3-T_2=O(\tfrac1\epsilon):\ \mathbb E[\ell(yf^{(T_3)}(X))]\le\epsilon;\quad w_+^\top v_k,\,w_-^\top(-v_k)=\widetilde\Theta(1);\quad w_\pm^\top c_k=\widetilde\Theta(1);\quad w_+^\top v_k=w_-^\top(-v_k),\,w_+^\top v_1=w_+^\top v_2,\,w_+^\top c_k=w_-^\top c_k,\,w_+^\top c_1=w_+^\top c_2;\quad p^{(+)}_{v_1,c_1}-p^{(-)}_{v_1,c_1}=\Theta(1),\ p^{(+)}_{-v_2,c_1}-p^{(-)}_{-v_2,c_1}=\Theta(1),\ p^{(+)}_{c_1,c_1}-p^{(-)}_{c_1,c_1}\ge0;\quad |p^{(+)}_{q,v_1}-p^{(+)}_{q,-v_2}|\le\widetilde O(\omega),\ q\in\{v_1,-v_2,c_1\}\quad(\text{all at}\ T_3,\ X_{1,+,-})",
    reading="Infinite width (Definition 5.1); T_0.5 < T_1 <= 2000, T_2 the time when c_1' W_K' W_Q v_1 = x* <= 2; epsilon below the loss where units switch.",
)
def theorem(lab: Laboratory) -> dict[str, Verdict]:
    """Every time and every bullet."""
    return {
        "T_1 = Theta(1)": combine_verdicts(neurons_at_the_end(lab) | unit_switches_off(lab)),
        "T_2 - T_1 = O(log(1/omega))": duration_of_stage_two(lab),
        "T_3 - T_2 = O(1/eps)": time_of_stage_three(lab),
        "loss <= eps": loss_at_the_end(lab),
        "alignment with classification signals": logarithmic_in_eps(lab, "w_+ v_k", lambda state, p: state["n_v"]),
        "alignment with group signals": logarithmic_in_eps(lab, "w_+ c_k", lambda state, p: state["n_c"]),
        "symmetry between heads and groups": exact_symmetries(lab),
        "concentration on the group signal key": concentration(lab),
        "near symmetry within a head": near_symmetry(lab),
    }


# ---- finite width ----------------------------------------------------------------------------------------------------

SEEDS, FROM_T1 = 40, {"b": BIAS, "T1": 20.0, "x_star": 1.0}


def _wide_start(lab: Laboratory, p: Point, seed: int) -> np.ndarray:
    """The start of a network of width m: Gram matrices with their exact law, as images in as many rows as needed."""
    rng, rows = np.random.default_rng([seed, 1]), 8  # keys and queries of four words
    images: dict[str, list[np.ndarray]] = {"W_K": [], "W_Q": []}
    for _ in range(2):
        # Bartlett: the triangular factor of a Wishart matrix with m degrees of freedom
        factor = np.triu(rng.standard_normal((rows, rows)), 1)
        factor[np.diag_indices(rows)] = np.sqrt(rng.chisquare(int(p["m"]) - np.arange(rows)))
        factor *= p["omega"] / np.sqrt(p["m"])
        images["W_K"].append(factor[:, :4])
        images["W_Q"].append(factor[:, 4:])
    weights = {name: np.array(found) for name, found in images.items()} | {"w": np.zeros((2, 4))}
    return lab.flow("stage1").initial_state(weights=weights)


def _deviation(lab: Laboratory, p: Point, seed: int) -> float:
    """Distance of all scores and self-scores from those of infinite width, at the T2 of infinite width."""
    second = stage_two(lab, p["omega"], p["T1"], p["x_star"], p["b"]).run
    wide = lab.reduced("stage2").lift(second.end_state)
    state = _wide_start(lab, p, seed)
    for stage, span in (("stage1", (0.0, p["T1"])), ("stage2", (p["T1"], second.end_time))):
        state = integrate(lab.flow(stage).system, state, span, {"b": p["b"]}, rtol=1e-8).end_state
    places = [i for i, n in enumerate(lab.names.system.names) if not n.startswith("w_")]
    return float(np.linalg.norm((state - wide)[places]))


@book.claim(
    "G-text",
    "Finite width deviates like one over its root",
    kind="order",
    uses=["G.1", "E.3/order"],
    level="full",
    origin="text",
    where="Appendix G, last sentence",
    parts=("poly(1/omega) O(1/sqrt m)",),
    hypotheses=STAGE_TWO,
    statement=r"\text{the perturbation to the gradient flow is at most}\ \mathrm{poly}(1/\omega)\,O(1/\sqrt m)",
    reading="Euclidean distance of all scores and self-scores at the T_2 of infinite width, mean over seeds; the polynomial is 1/omega.",
)
def width_deviation(lab: Laboratory) -> Verdict:
    """Networks of width m against the infinite-width flow, along m and along omega."""
    seeds = lab.draw.seeds(SEEDS)
    ranges = {"b": (0.1, 1.0), "T1": (10.0, 500.0), "x_star": (0.5, 2.0)}
    (held,) = lab.draw.points("finite width", [{**FROM_T1, "omega": 0.1}], ranges, STAGE_3)
    end = {name: held[name] for name in FROM_T1}
    along_m = [{**p, "m": round(p["m"])} for p in lab.draw.along("m", 200, 200_000, 7, **held)]
    along_omega = lab.draw.along("omega", 1e-3, 1e-1, 5, m=2000, **end)
    distance = lambda p, used: [_deviation(lab, p, seed) for seed in used]  # noqa: E731
    in_m = over_seeds("the distance", along_m, distance, seeds).order("m", -0.5, "O")
    return in_m & over_seeds("the distance", along_omega, distance, seeds).order("omega", -1, "O", "zero")
