"""Beyond the paper: any number of groups K, exactly. The equations keep K as a symbol (`odesys.reduce.family_gradient`)."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from odesys import (
    ONE,
    ZERO,
    EquationError,
    Node,
    ScalarField,
    System,
    Verdict,
    enumerate_all,
    equal,
    from_sympy,
    graph,
    identity,
    limits_at_infinity,
    num,
    refuted,
    sym,
)

from .. import dynamics
from ..laboratory import Laboratory
from ..special.closed_forms import StageOne, stage_one_of
from .book import all_units_on, book, zero_scores

K, OMEGA, N_C, TIME = sym("K"), sym("omega"), sym("n_c"), sym("t")
KINDS = ("cc", "cv", "vc", "vv")
POSITIVE = ("K", "omega", "n_c", "b", "t")


@book.claim(
    "Beyond.K.sizes",
    "The same variables for every K and L",
    kind="definition",
    origin="ours",
    uses=["C.2", "C.4"],
    insensitive="counts variables, whatever the equations on them are",
    statement=r"22=2+8+6+6\ \text{orbit variables for every}\ K\ge2,\ L\ge3;\quad 10\ \text{after slaving}",
    reading="K a symbol, L = 3 to 7: orbits of pairs under S_K and the head swap, which maps the sample orbits with their weights "
    "(polynomials in K over powers of K - 1) to themselves; the count of pairs does not involve L; slaving at L = 3, 4",
)
def same_variables(lab: Laboratory) -> Verdict:
    """Dimensions of the family systems."""

    def sizes(L: int) -> bool:
        system = dynamics.family("simultaneous", L).system
        counts = [len(system.on_path(path)) for path in ("w", "KQ", "KK", "QQ")]
        few = L > 4 or dynamics.family_slaved("simultaneous", L).system.dimension == 10
        return counts == [2, 8, 6, 6] and few

    return enumerate_all(range(3, 8), sizes, "lengths")


@book.claim(
    "Beyond.K.two",
    "For K = 2 it is the enumerated system",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.sizes", "B.2"],
    statement=r"F_K(x)|_{K=2}=F_{\text{enumerated}}(x)",
    reading="all 22 equations of simultaneous training, L = 3: the expressions derived with K as a symbol, K = 2 inserted, against "
    "the quotient of the 80 enumerated equations",
)
def two_groups(lab: Laboratory) -> Verdict:
    """The family equations at K = 2 against the quotient of the enumerated flow."""
    family, listed = lab.family().system.substitute({"K": 2}), lab.reduced().system
    return equal({name: (node, listed.equations[name]) for name, node in family.equations.items()})


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
    statement=r"K\,\dot n\ \text{does not contain}\ K:\quad n^{(K)}(t)=n^{(2)}(2t/K)",
    reading="L = 3, uniform attention, every gate pattern: K times the derived equation of n_c and n_v with K a symbol equals "
    "twice the equation of the enumerated system with two groups",
)
def stage_one_scales(lab: Laboratory) -> Verdict:
    """K dn/dt against 2 dn/dt at K = 2."""
    general, listed = _stage_one(lab), lab.reduced("stage1").system
    mine = zero_scores({n: general.equations[n] for n in ("n_c", "n_v")})
    two = zero_scores({n: 2 * listed.equations[n] for n in ("n_c", "n_v")})
    return equal({name: (mine[name], two[name]) for name in mine})


@book.claim(
    "Beyond.K.T_half",
    "The switching time for any K",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.stage1", "D.3"],
    statement=r"T_{0.5}=\tfrac K4\,(2b+e^{2b}-1)",
    reading="L = 3, every K >= 2 and b > 0: closed form of the time at which the unit of X_{k,-,-} of the + head switches off, from "
    "the equations with K a symbol; n_c = 0 and n_v = b/2 there; the second phase has the rates g/(4K) and g/(2K)",
)
def switching_time(lab: Laboratory) -> Verdict:
    """T_0.5 from the logistic drive, with time measured in units of K."""
    phases, b = _phases(lab), sp.Symbol("b", real=True)
    if isinstance(phases, EquationError):
        return refuted({"equations": str(phases)})
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
    return equal(pairs, POSITIVE).with_constants(T_half=f"K*({phases.switch_time()})")


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
    statement=r"G^a=\kappa_K\begin{pmatrix}0&2\\-1&0\end{pmatrix},\quad G^s=0,\quad \kappa_K=\frac{g\,n_c}{9(K-1)}",
    reading="L = 3, every K >= 2, conflicting samples, uniform attention, all units on (H + b = n_c + b > 0), where g = 1/2 exactly",
)
def stage_two_rate(lab: Laboratory) -> Verdict:
    """The derived forces in both sectors against the closed form, K a symbol."""
    standard, trivial = sectors(uniform_force(lab), "G")
    kappa = N_C / (18 * (K - 1))
    wanted = {"cc": ZERO, "cv": 2 * kappa, "vc": -kappa, "vv": ZERO}
    pairs = {f"G^a_{k}": (standard[k], wanted[k]) for k in KINDS} | {f"G^s_{k}": (trivial[k], ZERO) for k in KINDS}
    return equal(pairs, POSITIVE).with_constants(kappa="n_c/(18 (K - 1))", growth_rate="4 kappa = 2 n_c/(9 (K - 1))")


@book.claim(
    "Beyond.K.frozen",
    "Stage 2 with frozen forces, for any K",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.kappa"],
    statement=r"M^a_{cv}=\omega^2\sinh4\kappa_Kt,\ M_{c_kv_k}=\tfrac{K-1}KM^a_{cv},\ M_{c_kv_j}=-\tfrac1KM^a_{cv},\quad"
    r"\frac{dT_2}{d\log(1/\omega)}=\frac1{2\kappa_K}=\frac{9(K-1)}{n_c}",
    reading="L = 3, every K >= 2: with G held at its derived value at uniform attention, the closed form (all 8 + 6 + 6 entries: sinh "
    "and cosh of 4 kappa t and 2 kappa t in the standard sector, constant in the trivial one) solves dM = A G + G B, dA = M G' + "
    "G M', dB = M' G + G' M with the structure constants of the family, and starts at A = B = omega^2 I, M = 0",
)
def frozen_forces(lab: Laboratory) -> Verdict:
    """The closed form inserted into the product equations, K a symbol."""
    flow = lab.family("stage2")
    space = flow.space(flow.closure.read[1])
    force = uniform_force(lab)
    kappa = N_C / (18 * (K - 1))
    zero = dict.fromkeys(KINDS, ZERO)

    def column(standard: dict[str, Node], trivial: dict[str, Node]) -> list[Node]:
        out = []
        for i, j, relation in space.pairs:
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
    G = [force[f"G_{'cv'[i]}{'cv'[j]}_{relation}"] for i, j, relation in space.pairs]

    def turned(x: list[Node]) -> list[Node]:
        return [x[k] for k in space.transposed()]

    def times(x: list[Node], y: list[Node]) -> list[Node]:
        return flow.algebra.multiply_nodes(x, y, space, space)

    right = {
        "M": (M, times(A, G), times(G, B)),
        "A": (A, times(M, turned(G)), times(G, turned(M))),
        "B": (B, times(turned(M), G), times(turned(G), M)),
    }
    residuals: dict[str, Node] = {}
    for letter, (values, first, second) in right.items():
        start = [ZERO if letter == "M" or i != j or relation != "same" else OMEGA**2 for i, j, relation in space.pairs]
        begun = graph.substitute(values, {TIME: ZERO})
        for n, pair in enumerate(space.pairs):
            residuals[f"d{letter}{pair}"] = graph.gradient(values[n], [TIME])[0] - first[n] - second[n]
            residuals[f"{letter}{pair} at 0"] = begun[n] - start[n]
    return identity(residuals, POSITIVE)


@book.claim(
    "Beyond.K.limit",
    "Many groups have a limit",
    kind="identity",
    origin="ours",
    uses=["Beyond.K.two"],
    statement=r"\lim_{K\to\infty}\ \frac{d}{d(t/K)}\big(n,\ Z^{=},\ (K-1)Z^{\ne}\big)\ \text{exists; it closes on}\ (n,Z^{=})",
    reading="L = 3, simultaneous training: in time t/K and with (K - 1) Z_other in place of Z_other every equation has a finite limit, "
    "found twice: term by term from the orders in K of the equations with K a symbol, and by building the family "
    "from the limits of its structure constants; 12 variables (2 + 4 + 3 + 3) then close among themselves, and the forces "
    "at uniform attention start M_cv_same at 4 omega^2 times the limit of K kappa_K in stage 2",
)
def many_groups(lab: Laboratory) -> Verdict:
    """Both routes to the limit, and what it depends on."""
    scaled, limit = lab.family(scaled=True).system, lab.family(K="infinity").system
    try:
        found = limits_at_infinity(scaled.nodes, "K")
    except EquationError as error:
        return refuted({"no limit": str(error)})
    verdict = equal({name: pair for name, *pair in zip(limit.names, found, limit.nodes, strict=True)})  # type: ignore[misc]
    closed = [name for name in limit.names if limit.structure[name].relation != "others"]
    used = graph.symbols([limit.equations[name] for name in closed])
    if used - {*closed, "b"}:
        return refuted({"also needed": sorted(used - {*closed, "b"})})
    second = lab.family("stage2", K="infinity").system
    start = {sym(n): ZERO for n in second.on_path("KQ", "KK", "QQ")}
    start |= {sym(f"{a}_{b}_same"): OMEGA**2 for a in "AB" for b in ("cc", "vv")}
    rate = graph.substitute([second.equations["M_cv_same"]], start)[0]
    rate = all_units_on({"rate": rate})["rate"]
    return (verdict & equal({"start of M_cv_same": (rate, 4 * OMEGA**2 * N_C / 18)})).adding(closed=len(closed))
