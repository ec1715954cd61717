"""Beyond the paper: any number of groups K, exactly. The equations keep K as a symbol (`odesys.reduce.family_gradient`).

All of it is for samples of L = 3 tokens, but for the count of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from odesys import (
    ONE,
    ZERO,
    EquationError,
    Hypothesis,
    Node,
    ScalarField,
    System,
    Verdict,
    Witness,
    decided,
    enumerate_all,
    equal,
    from_sympy,
    graph,
    limits_at_infinity,
    num,
    refuted,
    sym,
)

from .. import dynamics
from ..laboratory import Laboratory
from ..special.closed_forms import StageOne, stage_one_of
from .book import all_units_on, book, zero_scores
from .common_hypotheses import BIASED, SMALL_START, half_time

K, OMEGA, N_C, TIME, X_STAR = sym("K"), sym("omega"), sym("n_c"), sym("t"), sym("x_star")
KINDS = ("cc", "cv", "vc", "vv")
POSITIVE = ("K", "omega", "n_c", "b", "t", "x_star")
LENGTHS, SLAVED = range(3, 8), range(3, 5)  # tokens per sample: orbits counted, self-scores eliminated

LEARNT = Hypothesis("stage 1 has moved n_c", "n_c>0", lambda p: p["n_c"], strict=True)
AFTER_SWITCH_OF_K = Hypothesis(  # T_0.5 is K/2 times that of two groups: Beyond.K.T_half
    "stage 1 ends after the switch",
    r"T_1>T_{0.5}=\tfrac K4(2b+e^{2b}-1)",
    lambda p: p["T1"] - p["K"] * half_time(p["b"]) / 2,
    strict=True,
)
STAGE_TWO_OF_K = (SMALL_START, BIASED, AFTER_SWITCH_OF_K)


@book.claim(
    "Beyond.K.sizes",
    "The same variables for every K and for five lengths L",
    kind="identity",
    origin="ours",
    uses=["C.2", "C.4"],
    insensitive="counts variables, whatever the equations on them are",
    statement=r"22=2+8+6+6\ \text{orbit variables for every}\ K\ge2,\ 3\le L\le7;\quad"
    r"10\ \text{after slaving, for}\ L=3,4",
    reading="Orbits of neurons and of pairs of words under S_K and the head swap, with K a symbol: two neurons, eight scores, "
    "six key and six query self-scores.",
    parts=("orbits", "slaved"),
    hypotheses=(),
    for_all=("K",),
)
def same_variables(lab: Laboratory) -> dict[str, Verdict]:
    """Dimensions of the family systems."""

    def orbits(L: int) -> bool:
        system = dynamics.family("simultaneous", L).system
        return [len(system.on_path(path)) for path in ("w", "KQ", "KK", "QQ")] == [2, 8, 6, 6]

    def slaved(L: int) -> bool:
        return bool(dynamics.family_slaved("simultaneous", L).system.dimension == 10)

    def counted(lengths: range, check: Callable[[int], bool]) -> Verdict:
        found = enumerate_all(lengths, check, "lengths")
        return found.proving("counted with K a symbol", K="every", L=f"{lengths[0]} to {lengths[-1]}")

    return {"orbits": counted(LENGTHS, orbits), "slaved": counted(SLAVED, slaved)}


@book.claim(
    "Beyond.K.two",
    "For K = 2 it is the enumerated system",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.sizes", "B.2"],
    statement=r"F_K(x)|_{K=2}=F_{\text{enumerated}}(x),\quad L=3",
    reading="All 22 equations of simultaneous training, derived with K a symbol, at K = 2, against the quotient of the 80 "
    "equations of the eight listed samples.",
    hypotheses=(),
)
def two_groups(lab: Laboratory) -> Verdict:
    """The family equations at K = 2 against the quotient of the enumerated flow."""
    family, listed = lab.family().system.substitute({"K": 2}), lab.reduced().system
    verdict = equal({name: (node, listed.equations[name]) for name, node in family.equations.items()})
    return verdict.proving("K = 2 inserted into the equations for every K")


def _stage_one(lab: Laboratory) -> System:
    """Stage 1 with K as a symbol and time t / K."""
    system = lab.family("stage1").system
    return replace(system, field=ScalarField(tuple(K * node for node in system.nodes), {}))


def _phases(lab: Laboratory) -> StageOne | EquationError:
    try:
        return stage_one_of(_stage_one(lab))
    except EquationError as error:
        return error


@book.claim(
    "Beyond.K.stage1",
    "Stage 1 is K/2 times slower and otherwise the same",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.two", "D.1", "D.5"],
    statement=r"K\,\dot n\ \text{does not contain}\ K:\quad n^{(K)}(t)=n^{(2)}(2t/K),\quad L=3",
    reading="Neurons n_c and n_v in stage 1, where all scores stay 0, for every state of the ReLUs: K times their equation is "
    "twice that of two groups.",
    parts=("equations", "scores stay 0", "start"),
    hypotheses=(),
    for_all=("K",),
)
def stage_one_scales(lab: Laboratory) -> dict[str, Verdict]:
    """K dn/dt against 2 dn/dt at K = 2; scores do not move and start, like the neurons, at 0."""
    general, listed = _stage_one(lab), lab.reduced("stage1").system
    mine = zero_scores({n: general.equations[n] for n in ("n_c", "n_v")})
    two = zero_scores({n: 2 * listed.equations[n] for n in ("n_c", "n_v")})
    scores = {name: (general.equations[name], ZERO) for name in general.on_path("KQ")}
    begun = dict(zip(general.names, lab.family("stage1").initial_state(1), strict=True))
    moved = [name for name in general.on_path("w", "KQ") if begun[name] != 0]
    witness = Witness(f"{', '.join(moved)} do not start at 0", {})
    first = {f"{name} at 0": (Fraction(begun[name]), "=", 0) for name in general.on_path("w", "KQ")}
    start = decided(not moved, witness).stating(first)
    start = start.proving("start at infinite width, read off", K="every")
    return {
        "equations": equal({name: (mine[name], two[name]) for name in mine}).proving(
            "K dn/dt with K a symbol, all scores 0, against 2 dn/dt of the listed samples", K="every"
        ),
        "scores stay 0": equal(scores).proving("scores are not trained in stage 1", K="every"),
        "start": start,
    }


@book.claim(
    "Beyond.K.T_half",
    "The switching time for any K",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.stage1", "D.3"],
    statement=r"T_{0.5}=\tfrac K4\,(2b+e^{2b}-1),\quad n_c=0,\ n_v=\tfrac b2\ \text{there};\quad"
    r"\dot n_c=\tfrac g{4K},\ \dot n_v=\tfrac g{2K}\ \text{after it}\quad(L=3)",
    reading="The time in stage 1 at which the unit of X_{k,-,-} in the + head switches off, and the rates of both neurons "
    "after it.",
    hypotheses=(BIASED,),
    for_all=("K",),
)
def switching_time(lab: Laboratory) -> Verdict:
    """T_0.5 from the logistic drive, with time measured in units of K."""
    phases, b = _phases(lab), sp.Symbol("b", real=True)
    if isinstance(phases, EquationError):
        return refuted(Witness(f"stage 1 has another form: {phases}", {}))
    flow = lab.family("stage1")
    unit = flow.system.observables[f"H_p_{flow.sample_names.index('(c1, -v1, -v2)') + 1}"] + sym("b")
    values = phases.at_switch()
    speeds = {name: num(phases.second.rates.get(name, 0)) for name in ("n_c", "n_v")}
    pairs = {
        "T_0.5": (K * from_sympy(phases.switch_time()), K * from_sympy((2 * b + sp.exp(2 * b) - 1) / 4)),
        "n_v": (from_sympy(values["n_v"]), from_sympy(b / 2)),
        "n_c": (from_sympy(values["n_c"]), ZERO),
        "the unit": (phases.surface, zero_scores({"H": unit})["H"]),
        "rate of n_c": (speeds["n_c"], ONE / 4),
        "rate of n_v": (speeds["n_v"], ONE / 2),
    }
    verdict = equal(pairs, POSITIVE).with_constants(T_half=f"K*({phases.switch_time()})")
    return verdict.proving("logistic equations solved up to the first switch, in time t/K", K="every")


def uniform_force(lab: Laboratory) -> dict[str, Node]:
    """The force matrix of stage 2 at uniform attention in orbit entries: with A = I, B = 0 the score equation is G itself."""
    system = lab.family("stage2").system
    state = {sym(n): ZERO for n in system.on_path("KQ", "KK", "QQ")}
    state |= {sym("A_cc_same"): ONE, sym("A_vv_same"): ONE}
    names = system.on_path("KQ")
    nodes = graph.substitute([system.equations[n] for n in names], state)
    return all_units_on({n.replace("M_", "G_"): node for n, node in zip(names, nodes, strict=True)})


def sectors(entries: dict[str, Node], letter: str) -> tuple[dict[str, Node], dict[str, Node]]:
    """Standard sector Z^a = Z_same - Z_other and trivial sector Z^s = Z_same + (K - 1) Z_other of a matrix."""
    same, other = ({k: entries[f"{letter}_{k}_{r}"] for k in KINDS} for r in ("same", "other"))
    return {k: same[k] - other[k] for k in KINDS}, {k: same[k] + (K - 1) * other[k] for k in KINDS}


@book.claim(
    "Beyond.K.kappa",
    "The rate of stage 2 for any K",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.two", "App.E.5"],
    statement=r"G^a=\kappa_K\begin{pmatrix}0&2\\-1&0\end{pmatrix},\quad G^s=0,\quad \kappa_K=\frac{g\,n_c}{9(K-1)},\quad L=3",
    reading="Forces on the scores at the start of stage 2: uniform attention, all units on, g = 1/2; a is same minus other, s is "
    "the sum over all groups.",
    hypotheses=(LEARNT, BIASED),
    for_all=("K",),
)
def stage_two_rate(lab: Laboratory) -> Verdict:
    """The derived forces in both sectors against the closed form, K a symbol."""
    standard, trivial = sectors(uniform_force(lab), "G")
    kappa = N_C / (18 * (K - 1))
    wanted = {"cc": ZERO, "cv": 2 * kappa, "vc": -kappa, "vv": ZERO}
    pairs = {f"G^a_{k}": (standard[k], wanted[k]) for k in KINDS} | {f"G^s_{k}": (trivial[k], ZERO) for k in KINDS}
    verdict = equal(pairs, POSITIVE).proving("scores 0 and all gates 1 inserted into the derived forces", K="every")
    return verdict.with_constants(kappa="n_c/(18 (K - 1))", growth_rate="4 kappa = 2 n_c/(9 (K - 1))")


@book.claim(
    "Beyond.K.frozen",
    "Stage 2 with frozen forces, for any K",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.kappa"],
    statement=r"M^a_{cv}=\omega^2\sinh4\kappa_Kt,\ M_{c_kv_k}=\tfrac{K-1}KM^a_{cv},\ M_{c_kv_j}=-\tfrac1KM^a_{cv};\quad "
    r"T_2-T_1=\frac{\operatorname{arsinh}(x^*/\omega^2)}{4\kappa_K},\quad "
    r"\frac{d(T_2-T_1)}{d\log(1/\omega)}=\frac{9(K-1)}{n_c}\cdot\frac{x^*}{\sqrt{x^{*2}+\omega^4}}\to\frac{9(K-1)}{n_c}"
    r"\ (\omega\to0)",
    reading="The product equations of stage 2 with G held at its value at uniform attention; x* is the value of M^a_cv at T_2, and "
    "L = 3.",
    parts=("equations", "start", "duration"),
    hypotheses=(LEARNT, BIASED),
    for_all=("K",),
)
def frozen_forces(lab: Laboratory) -> dict[str, Verdict]:
    """The closed form inserted into the product equations, K a symbol; when it reaches x*."""
    flow, kappa = lab.family("stage2"), N_C / (18 * (K - 1))
    space, force = flow.space(flow.closure.read[1]), uniform_force(lab)
    pairs = space.pairs
    M, A, B = _closed_form(pairs, kappa)
    G = [force[f"G_{'cv'[i]}{'cv'[j]}_{relation}"] for i, j, relation in pairs]

    def turned(x: list[Node]) -> list[Node]:
        return [x[k] for k in space.transposed()]

    def times(x: list[Node], y: list[Node]) -> list[Node]:
        return flow.algebra.multiply_nodes(x, y, space, space)

    right = {
        "M": (M, times(A, G), times(G, B)),
        "A": (A, times(M, turned(G)), times(G, turned(M))),
        "B": (B, times(turned(M), G), times(turned(G), M)),
    }
    moving: dict[str, tuple[Node, Node]] = {}
    starting: dict[str, tuple[Node, Node]] = {}
    for letter, (values, first, second) in right.items():
        start = [ZERO if letter == "M" or i != j or relation != "same" else OMEGA**2 for i, j, relation in pairs]
        for n, pair in enumerate(pairs):
            moving[f"d{letter}{pair}"] = (graph.gradient(values[n], [TIME])[0], first[n] + second[n])
            starting[f"{letter}{pair} at 0"] = (values[n], start[n])
    return {
        "equations": equal(moving, POSITIVE).proving(
            "sinh and cosh of 4 kappa t and 2 kappa t inserted into dM = A G + G B, dA = M G' + G M', dB = M' G + G' M",
            K="every",
        ),
        "start": equal(starting, POSITIVE, given={TIME: ZERO}).proving(
            "t = 0 inserted: A = B = omega^2 I, M = 0", K="every"
        ),
        "duration": _duration(kappa),
    }


def _closed_form(pairs: Sequence[tuple[int, int, str]], kappa: Node) -> tuple[list[Node], list[Node], list[Node]]:
    """M, A and B with frozen forces: hyperbolic in the standard sector, at rest in the trivial one."""
    zero = dict.fromkeys(KINDS, ZERO)

    def column(standard: dict[str, Node], trivial: dict[str, Node]) -> list[Node]:
        out = []
        for i, j, relation in pairs:
            kind = "cv"[i] + "cv"[j]
            share = (K - 1) * standard[kind] if relation == "same" else -standard[kind]
            out.append((trivial[kind] + share) / K)
        return out

    def hyperbolic(sign: int, rate: int) -> Node:
        grown = graph.exp(rate * kappa * TIME)
        return OMEGA**2 * (grown + sign / grown) / 2

    still = zero | {"cc": OMEGA**2, "vv": OMEGA**2}
    M = column(zero | {"cv": hyperbolic(-1, 4), "vc": -hyperbolic(-1, 2)}, zero)
    A = column(zero | {"cc": hyperbolic(1, 4), "vv": hyperbolic(1, 2)}, still)
    B = column(zero | {"cc": hyperbolic(1, 2), "vv": hyperbolic(1, 4)}, still)
    return M, A, B


def _duration(kappa: Node) -> Verdict:
    """omega^2 sinh(4 kappa t) = x* at t = arsinh(x*/omega^2)/(4 kappa), and the slope of that in log(1/omega)."""
    root = graph.sqrt(X_STAR**2 + OMEGA**4)
    duration = graph.call("log", (X_STAR + root) / OMEGA**2) / (4 * kappa)  # arsinh(x*/omega^2), written out
    grown = graph.exp(4 * kappa * duration)
    limit = 9 * (K - 1) / N_C
    slope = limit * X_STAR / graph.sqrt(X_STAR**2 + OMEGA**4)
    pairs = {
        "M^a_cv at T_2": (OMEGA**2 * (grown - 1 / grown) / 2, X_STAR),
        "slope": (-OMEGA * graph.gradient(duration, [OMEGA])[0], slope),
        "limit of the slope": (graph.substitute([slope], {OMEGA: ZERO})[0], limit),
    }
    return equal(pairs, POSITIVE).proving("arsinh written as a logarithm and differentiated in omega", K="every")


@book.claim(
    "Beyond.K.limit",
    "Many groups have a limit",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.two"],
    statement=r"\lim_{K\to\infty}\ \frac{d}{d(t/K)}\big(n,\ Z^{=},\ (K-1)Z^{\ne}\big)\ \text{exists; it closes on}\ (n,Z^{=});\quad"
    r"\tfrac{d}{d(t/K)}M^{=}_{cv}\to4\omega^2\lim_{K\to\infty}K\kappa_K\ \text{at the start of stage 2}\quad(L=3)",
    reading="Simultaneous training in time t/K, with (K - 1) Z_other in place of Z_other: each equation has a finite limit; "
    "neurons and same-group entries close among themselves.",
    parts=("limits", "closes", "start of stage 2"),
    hypotheses=(),
)
def many_groups(lab: Laboratory) -> dict[str, Verdict]:
    """Two routes to the limit, what it depends on, and how stage 2 starts in it."""
    limit = lab.family(K="infinity").system
    return {"limits": _limits(lab, limit), "closes": _closes(limit), "start of stage 2": _start_in_the_limit(lab)}


def _limits(lab: Laboratory, limit: System) -> Verdict:
    scaled = lab.family(scaled=True).system
    try:
        found = limits_at_infinity(scaled.nodes, "K")
    except EquationError as error:
        return refuted(Witness(f"an equation has no limit: {error}", {}))
    verdict = equal({name: pair for name, *pair in zip(limit.names, found, limit.nodes, strict=True)})  # type: ignore[misc]
    return verdict.arguing("a limit at infinity is not exported").proving(
        "orders in K, term by term, against the family built from the limits of its structure constants"
    )


def _closes(limit: System) -> Verdict:
    closed = [name for name in limit.names if limit.structure[name].relation != "others"]
    more = sorted(graph.symbols([limit.equations[name] for name in closed]) - {*closed, "b"})
    verdict = decided(not more, Witness(f"their equations also contain {', '.join(more)}", {}), closed=len(closed))
    others = {sym(name): ZERO for name in limit.names if name not in closed}
    kept = {f"{name} without the others": (limit.equations[name], "=", limit.equations[name]) for name in closed}
    verdict = verdict.stating(kept, at=others)
    return verdict.proving(f"the equations of these {len(closed)} variables contain no other")


def _start_in_the_limit(lab: Laboratory) -> Verdict:
    second = lab.family("stage2", K="infinity").system
    start = {sym(n): ZERO for n in second.on_path("KQ", "KK", "QQ")}
    start |= {sym(f"{a}_{b}_same"): OMEGA**2 for a in "AB" for b in ("cc", "vv")}
    rate = graph.substitute([second.equations["M_cv_same"]], start)[0]
    rate = all_units_on({"rate": rate})["rate"]
    (slowest,) = limits_at_infinity([K * N_C / (18 * (K - 1))], "K")  # of K kappa_K
    return equal({"start of M_cv_same": (rate, 4 * OMEGA**2 * slowest)}).proving("scores 0 and all gates 1 inserted")
