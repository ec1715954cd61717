"""Lemma E.4 with inequality (15): how the sums over the two groups stay small in stage 2, exactly and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from odesys import (
    HOLDS,
    ONE,
    ZERO,
    Node,
    Verdict,
    always_positive,
    combine_verdicts,
    equal,
    graph,
    identity,
    measured,
    refuted,
    sym,
    to_sympy,
    triangle_bound,
    undecided,
)

from ..laboratory import Laboratory
from ..special.closed_forms import stage_one
from ..special.trajectories import BIAS, GRID, stage_two
from .book import CONFLICTING, SIGNS, all_units_on, attention, book, tokens
from .part_5_2_display import quotient
from .part_e_stage_two import manifold
from .part_e_trajectories import SWEEP, attention_at

PAIRS = ("cc", "cv", "vc", "vv")
KINDS = (*(f"M_{p}" for p in PAIRS), *(f"{m}_{p}" for m in "AB" for p in ("cc", "cv", "vv")))
STILL = ("M_cv", "M_vv", "B_cv")  # the sums that vanish on the invariant subspace
FARTHEST = Fraction(2, 3)  # |p - 1/3| for p in [0, 1]
G, OMEGA = sym("g"), sym("omega")


# ---- the sums and their forces, from the derived equations ---------------------------------------------------------


def sum_rates(lab: Laboratory) -> dict[str, Node]:
    """Derivative of each sum same + other in stage 2, all conflicting units on."""
    system = lab.reduced("stage2").system
    rhs = all_units_on(system.equations)
    return {kind: rhs[f"{kind}_same"] + rhs[f"{kind}_other"] for kind in KINDS}


def sum_forces(rates: Mapping[str, Node]) -> dict[str, Node]:
    """The force on each pair of kinds, summed over the groups: the score equations at A = I, B = 0."""
    names = {n for n in graph.symbols(rates.values()) if n[0] in "AB"}
    unit = {sym(n): ONE if n in ("A_cc_same", "A_vv_same") else ZERO for n in names}
    return dict(zip(PAIRS, graph.substitute([rates[f"M_{pair}"] for pair in PAIRS], unit), strict=True))


def bilinear(sums: Mapping[str, Node], force: Mapping[str, Node]) -> dict[str, Node]:
    """A G + G B, M G' + G M', M' G + G' M for the 2-by-2 matrices of sums."""
    s = {**sums, "A_vc": sums["A_cv"], "B_vc": sums["B_cv"]}
    right: dict[str, Node] = {}
    for x, y in ((pair[0], pair[1]) for pair in PAIRS):
        right[f"M_{x}{y}"] = graph.add(s[f"A_{x}{z}"] * force[z + y] + force[x + z] * s[f"B_{z}{y}"] for z in "cv")
        right[f"A_{x}{y}"] = graph.add(s[f"M_{x}{z}"] * force[y + z] + force[x + z] * s[f"M_{y}{z}"] for z in "cv")
        right[f"B_{x}{y}"] = graph.add(s[f"M_{z}{x}"] * force[z + y] + force[z + x] * s[f"M_{z}{y}"] for z in "cv")
    return {kind: right[kind] for kind in KINDS}


def weight_symbol(s: int, query: int, key: int) -> Node:
    """The softmax weight of a key for a query of X_{k,s,-s}, the same for both groups (Lemma C.3)."""
    return sym(f"p_{'+' if s > 0 else '-'}_{query}{key}")


def force_in_weights(pair: str) -> Node:
    """The summed force on a pair of kinds as a polynomial in the softmax weights: the average over the four samples."""
    x, y = pair[0], pair[1]
    total = []
    for sample in CONFLICTING:
        words, s = tokens(*sample), sample[1]
        values = [e * sym(f"n_{word[0]}") for word, e in words]
        for l, (query, sq) in enumerate(words):
            row = [weight_symbol(s, l, h) for h in range(len(words))]
            mean = graph.add(p * v for p, v in zip(row, values, strict=True))
            total += [
                s * G / 4 * row[h] * (values[h] - mean) * sk * sq
                for h, (key, sk) in enumerate(words)
                if query == f"{y}1" and key[0] == x
            ]
    return graph.add(total)


def _softmax(lab: Laboratory) -> dict[Node, Node]:
    """The weights as functions of the scores, and g as a function of the margin, all units on."""
    rows = {s: attention(lab, (1, s, -s), +1, lifted=True) for s in SIGNS}
    found = {weight_symbol(s, l, h): rows[s][l][h] for s in SIGNS for l in range(3) for h in range(3)}
    margin = all_units_on({"margin": lab.observable("margin", 1, 1, -1, quotient=True)})["margin"]
    return found | {G: graph.call("sigmoid", -margin)}


def _row(a: Node, e: Node) -> tuple[Node, Node, Node]:
    """Three weights that sum to one: 1/3 + a, 1/3 - a/2 + e, 1/3 - a/2 - e."""
    third = graph.num(Fraction(1, 3))
    return third + a, third - a / 2 + e, third - a / 2 - e


def _near_uniform() -> dict[Node, Node]:
    """The weights of the query c_1 in these coordinates."""
    return {
        weight_symbol(s, 0, h): value for s in SIGNS for h, value in enumerate(_row(sym(f"a{s:+d}"), sym(f"e{s:+d}")))
    }


def coordinates_near_uniform() -> Verdict:
    """Every row d_0, d_1, d_2 of deviations from 1/3 with sum zero has these coordinates, and they are at most max |d|."""
    d0, d1 = sym("d_0"), sym("d_1")
    deviations = (d0, d1, -d0 - d1)
    e, largest = (sym("d_1") - sym("d_2")) / 2, sym("D")
    (inside,) = graph.substitute([e], {sym("d_2"): deviations[2]})
    gaps = {
        f"weight {h}": value - Fraction(1, 3) - d
        for h, (value, d) in enumerate(zip(_row(d0, inside), deviations, strict=True))
    }
    return identity(gaps | {"|e| at most D": triangle_bound(e, {"d_1": largest, "d_2": largest}) - largest})


def _onto(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Expressions on the subspace M_cv_other = -M_cv_same, M_vv_other = -M_vv_same, B_cv_other = -B_cv_same."""
    onto = {sym(f"{kind}_other"): -sym(f"{kind}_same") for kind in STILL}
    return dict(zip(nodes, graph.substitute(list(nodes.values()), onto), strict=True))


# ---- inequality (15) -----------------------------------------------------------------------------------------------


def force_bounds() -> dict[str, Node]:
    """For each force that is left a number times Delta p, linear in the neurons, from g < 1 and the triangle inequality."""
    near, found = _near_uniform(), {}
    size = dict.fromkeys([f"{x}{s:+d}" for x in "ae" for s in SIGNS], sym("D"))
    for pair in ("cc", "vc"):
        polynomial = graph.substitute([force_in_weights(pair)], near)[0]
        bound = triangle_bound(polynomial, {**size, "n_c": sym("n_c"), "n_v": sym("n_v"), "g": 1})
        none, far = (graph.substitute([bound], {sym("D"): graph.num(d)})[0] for d in (Fraction(0), FARTHEST))
        if none is not ZERO:
            raise ArithmeticError(f"the force {pair} does not vanish at uniform attention: {none!r}")
        found[pair] = far / FARTHEST  # without constant term and with coefficients >= 0, bound / D grows with D
    return found


def explicit_constant(n_c: Node, n_v: Node) -> Node:
    """c with |d sum / dt| <= c Delta Delta p for every sum, from the bilinear form and the bounds of the forces."""
    known = force_bounds()
    sums = {kind: ZERO if kind in STILL else sym(f"S_{kind}") for kind in KINDS}
    force = {pair: sym(f"G_{pair}") if pair in known else ZERO for pair in PAIRS}
    ones = {f"S_{kind}": 1 for kind in KINDS}
    bounds = [
        triangle_bound(rate, {**ones, **{f"G_{pair}": known[pair] for pair in known}})
        for rate in bilinear(sums, force).values()
    ]
    slopes = [graph.evaluate(graph.gradient(bound, [sym("n_c"), sym("n_v")]), {}, {}) for bound in bounds]
    linear = equal(
        {
            kind: (bound, c * sym("n_c") + v * sym("n_v"))
            for kind, bound, (c, v) in zip(KINDS, bounds, slopes, strict=True)
        }
    )
    if linear.as_stated != HOLDS:
        raise ArithmeticError(f"a bound is not linear in the neurons: {linear.witness}")
    return max(c for c, _ in slopes) * n_c + max(v for _, v in slopes) * n_v  # neurons are positive after stage 1


def exact_inequality(lab: Laboratory) -> dict[str, Verdict]:
    """The chain of exact steps from the derived equations to (15)."""
    rates = sum_rates(lab)
    force = sum_forces(rates)
    sums = {kind: sym(f"{kind}_same") + sym(f"{kind}_other") for kind in KINDS}
    form = bilinear(sums, force)
    softmax = _softmax(lab)
    written = dict(zip(PAIRS, graph.substitute([force_in_weights(pair) for pair in PAIRS], softmax), strict=True))
    rows = {
        f"row {l} at {s:+d}": ONE - graph.add(softmax[weight_symbol(s, l, h)] for h in range(3))
        for s in SIGNS
        for l in range(3)
    }
    on = _onto({f"force {pair}": force[pair] for pair in ("cv", "vv")})
    slope = graph.call("sigmoid", sym("z"))
    return {
        "bilinear in sums and forces": equal({kind: (rates[kind], form[kind]) for kind in KINDS}),
        "forces in the weights": equal({pair: (force[pair], written[pair]) for pair in PAIRS}),
        "weights sum to one": identity(rows),
        "weights near uniform": coordinates_near_uniform(),
        "two forces vanish": identity(on),
        "0 < g < 1": always_positive({"g": slope, "1 - g": 1 - slope}),
    }


def start_of_stage_two(names: Iterable[str]) -> dict[Node, Node]:
    """M = 0, A = B = omega^2 I in the reduced variables."""
    diagonal = {f"{m}_{k}_same" for m in "AB" for k in ("cc", "vv")}
    return {sym(n): OMEGA**2 if n in diagonal else ZERO for n in names if n[0] in "MAB"}


def needed_after_start(lab: Laboratory) -> dict[str, Fraction] | None:
    r"""The limit of max |d sum/dt| / (Delta Delta p) at T1 from above is the largest q n over the neurons n here.

    At T1 the sums stand still and attention is uniform, so the limit is that of the next derivatives along the flow:
    of the sums over :math:`\omega^2` times the fastest weight. None if they are no such multiples.
    """
    system = lab.reduced("stage2").system
    rhs = all_units_on(system.equations)
    start = start_of_stage_two(system.names)
    speed = dict(zip(start, graph.substitute([rhs[n.args[0]] for n in start], start), strict=True))

    def along(node: Node) -> Node:
        slopes = graph.substitute(graph.gradient(node, list(start)), start)
        return graph.add(slope * speed[state] for slope, state in zip(slopes, start, strict=True))

    weights = {
        along(w) for s in SIGNS for r in SIGNS for row in attention(lab, (1, s, r), +1, lifted=True) for w in row
    }
    unit = sym("n_c") * OMEGA**2
    speeds = [quotient(weight, unit) for weight in weights]
    if None in speeds:
        return None
    fastest = max(abs(q) for q in speeds if q is not None) * unit
    found = dict.fromkeys(("n_c", "n_v"), Fraction(0))
    for second in (along(rate) for rate in sum_rates(lab).values()):
        shares = {n: quotient(second, sym(n) * OMEGA**2 * fastest) for n in found}
        known = next(((n, q) for n, q in shares.items() if q is not None), None)
        if known is None:
            return None
        found[known[0]] = max(found[known[0]], abs(known[1]))
    return found


# ---- along trajectories --------------------------------------------------------------------------------------------


def sums_along(lab: Laboratory, omega: float, T1: float, x_star: float) -> dict[str, np.ndarray]:
    """Delta, the largest derivative of a sum, Delta p, the derivative of M_cv_same and n_v on a grid of stage 2."""
    run = stage_two(lab, omega, T1, x_star)
    names, table = run.run.names, run.table()
    field = lab.reduced("stage2").system.compile(b=BIAS)
    rates = np.array([field(0.0, state) for state in table])
    same, other = ([names.index(f"{kind}_{group}") for kind in KINDS] for group in ("same", "other"))
    away = [
        max(
            np.abs(attention_at(dict(zip(names, state, strict=True)), s, r) - 1 / 3).max() for s in SIGNS for r in SIGNS
        )
        for state in table
    ]
    return {
        "delta": np.abs(table[:, same] + table[:, other]).max(axis=1),
        "away": np.array(away),
        "rate": np.abs(rates[:, same] + rates[:, other]).max(axis=1),
        "score": rates[:, names.index("M_cv_same")],
        "n_v": table[:, names.index("n_v")],
        "n_c": table[:, names.index("n_c")],
    }


@book.claim(
    "E.4(15)",
    "The asymmetry grows in proportion to itself",
    kind="inequality",
    uses=["B.2", "C.3", "D.7", "Beyond.manifold"],
    statement=r"\Big|\frac{d\Delta}{dt}\Big|\le O(\Delta\,\Delta p),\quad \Delta p=\max|p-\tfrac13|",
    reading="stage 2 at infinite width while all conflicting units are on (that they stay on is E.6): each of the ten sums same + other has |derivative| <= c Delta "
    "Delta p with an explicit c linear in n_c, n_v, for every omega, T1 and t, hence so has their largest absolute value "
    "Delta wherever it is differentiable; Delta p over the conflicting samples and the + head (the printed one is at least that). "
    "Measured besides on the grid (omega, T1) of the details up to x* = 1: the bound holds there, and how large c need be",
)
def asymmetry_inequality(lab: Laboratory) -> Verdict:
    """Exact steps, the constant they give, and the constant that is seen."""
    exact = combine_verdicts(exact_inequality(lab))
    c = explicit_constant(sym("n_c"), sym("n_v"))
    if exact.as_stated != HOLDS:
        return exact
    seen, room = {}, {}
    for omega, T1 in GRID:
        run = sums_along(lab, omega, T1, 1.0)
        needed = run["rate"] / (run["delta"] * run["away"])
        k = int(needed.argmax())
        bound = graph.evaluate([c], {"n_c": run["n_c"][k], "n_v": run["n_v"][k]}, {}, float)[0]
        seen[f"omega={omega:g}, T1={T1:g}"] = {"c": float(needed[k]), "c over n_v": float(needed[k] / run["n_v"][k])}
        room[omega, T1] = float(needed[k] / bound)
    if max(room.values()) > 1:
        return measured(False, {"needed over proved": {str(k): v for k, v in room.items()}}, seen=seen)
    shares = [row["c over n_v"] for row in seen.values()]
    values = stage_one().neurons(20.0, BIAS)
    text = f"c needed on the grid: {min(shares):.4f} n_v to {max(shares):.4f} n_v"
    limit = needed_after_start(lab)
    if limit is not None:
        text += f"; exactly max({limit['n_v']} n_v, {limit['n_c']} n_c) in the limit at T1, so no smaller c works"
    return replace(exact.adding(seen=seen), sharpened=text).with_constants(
        c=str(to_sympy(c)),
        c_at_T1_20=float(graph.evaluate([c], values, {}, float)[0]),
        seen_at_T1_20=max(row["c"] for key, row in seen.items() if key.endswith("T1=20")),
    )


@book.claim(
    "E.4/exact",
    "Sums that are exactly constant",
    kind="identity",
    uses=["Def.5.1", "Beyond.manifold"],
    origin="ours",
    statement=r"\Delta^{(T_1)}=\omega^2,\ \tfrac{d\Delta}{dt}\big|_{T_1}=0;\ M^s_{cv}=M^s_{vv}=B^s_{cv}=0,\ B^s_{vv}=\omega^2\ \text{on}\ [T_1,T_2]",
    reading="at M = 0, A = B = omega^2 I (the start of Def.5.1, untouched by stage 1) the ten sums are 0 or omega^2 and all their "
    "derivatives vanish; with all conflicting units on the derived equations keep four of them for ever, so that Lemma E.4 is "
    "about the other six",
)
def exact_sums(lab: Laboratory) -> Verdict:
    """Values and derivatives at T1, and the invariant subspace."""
    names = lab.reduced("stage2").system.on_path("KQ", "KK", "QQ")
    first = lab.reduced("stage1")
    moving = sorted(set(first.system.moving) & set(names))
    if moving:
        return undecided(f"{moving[0]} moves in stage 1, so its value at T1 is not the start value")
    start = start_of_stage_two(names)
    begin = dict(zip(first.system.names, first.initial_state(0.5), strict=True))  # one half squared is exact in binary
    other = [n for n in names if begin[n] != float(graph.evaluate([start[sym(n)]], {"omega": Fraction(1, 2)}, {})[0])]
    if other:
        return refuted({"omega": "1/2", "state": other[0], "start": float(begin[other[0]])})
    values = {kind: graph.substitute([sym(f"{kind}_same") + sym(f"{kind}_other")], start)[0] for kind in KINDS}
    expected = {kind: OMEGA**2 if kind[0] in "AB" and kind[2] == kind[3] else ZERO for kind in KINDS}
    rates = sum_rates(lab)
    at_start = dict(zip(KINDS, graph.substitute([rates[kind] for kind in KINDS], start), strict=True))
    return combine_verdicts(
        {
            "values at T1": equal({kind: (values[kind], expected[kind]) for kind in KINDS}),
            "derivatives at T1": identity(at_start),
            "kept for ever": manifold(lab),
        }
    )


@book.claim(
    "E.4",
    "Near symmetry",
    kind="order",
    uses=["E.4(15)", "E.4/exact", "E.1(11)", "E.2"],
    statement=r"\frac{d\Delta}{dt}\Big/\frac{d\,c_1^\top W_K^\top W_Qv_1}{dt}\le\widetilde O(\omega),\quad\Delta^{(T_2)}\le\widetilde O(\omega)",
    reading="(a) the largest derivative of a sum over that of M_cv_same, both at t (the denominator is printed at T'), is at most omega along "
    "stage 2 to x* = 1 on the grid (omega, T1) of the details; (b) Delta <= omega at T2 (x* = 1, T1 = 20) for omega in 0.1, 0.03, 0.01, where "
    "Delta = max of |same + other| over all score and self-score orbits",
)
def near_symmetry(lab: Laboratory) -> Verdict:
    """Ratio of derivatives along trajectories; asymmetry at T2 over omega and over omega squared."""
    ratios = {}
    for omega, T1 in GRID:
        run = sums_along(lab, omega, T1, 1.0)
        ratios[f"omega={omega:g}, T1={T1:g}"] = float((run["rate"] / run["score"]).max() / omega)
    share: dict[float, float] = {}
    for omega in (0.1, 0.03, 0.01):
        final = stage_two(lab, omega, 20.0, 1.0).run.final
        share[omega] = max(abs(final[f"{k}_same"] + final[f"{k}_other"]) for k in KINDS) / omega
    verdict = combine_verdicts(
        {
            "a": measured(
                max(ratios.values()) <= 1, {"ratio over omega": ratios}, ratio_over_omega=ratios, sweep=SWEEP
            ),
            "b": measured(max(share.values()) <= 1, {"Delta/omega": share}, delta_over_omega=share),
        }
    )
    square = {omega: value / omega for omega, value in share.items()}
    text = ", ".join(f"{v:.4f} at omega = {o:g}" for o, v in square.items())
    gaps = [abs(value - 1) for value in square.values()]
    if gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-3:
        return replace(verdict, sharpened=f"Delta/omega^2 tends to 1: {text}")
    return verdict.adding(delta_over_omega_squared=square)
