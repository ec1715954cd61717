"""Appendix E: derivatives at the start of stage 2, the comparison process, and an exact invariant subspace."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    ZERO,
    Node,
    Verdict,
    always_positive,
    decided,
    entry_pairs,
    equal,
    exact_spectrum,
    from_sympy,
    graph,
    say_number,
    sym,
)

from ..laboratory import Laboratory
from ..special.closed_forms import stage_one
from .book import CONFLICTING, FLOATS, all_units_on, book, gates_on, matrix_form, written_force
from .common_hypotheses import SMALL_START, STAGE_TWO

HALF, THIRD, TWO_THIRDS = graph.num(1) / 2, graph.num(1) / 3, graph.num(2) / 3
N_C, OMEGA, SLOPE = sym("n_c"), sym("omega"), sym("g")
START = {"omega": Fraction(1, 10), "b": Fraction(1, 2), "T1": 20}  # where failing displays at T1 are evaluated
PARTS_OF_E5 = {"scores": "M", "key self-scores": "A", "query self-scores": "B"}


def uniform_rates(lab: Laboratory, slope: Node | None = None) -> dict[str, Node]:
    """Stage-2 equations with the softmax replaced by uniform weights, self-scores and scores arbitrary (App. E.5).

    `slope` stands for g, which the conflicting samples share (Lemmas C.2 and C.4); without it g is that of T1.
    The forces are those at zero scores; the products A G + G B, ... keep the scores, so they are inserted by linearity:
    a right-hand side is linear in (M, A, B) for fixed forces, and only M occurs inside the forces.
    """
    reduced, tables = lab.reduced("stage2"), _tables(lab)
    G, (M, A, B) = uniform_forces(lab, slope), lifted_tables(lab)
    span = range(4)
    right = {
        "M": [[graph.add(A[i][k] * G[k][j] + G[i][k] * B[k][j] for k in span) for j in span] for i in span],
        "A": [[graph.add(M[i][k] * G[j][k] + G[i][k] * M[j][k] for k in span) for j in span] for i in span],
        "B": [[graph.add(M[k][i] * G[k][j] + G[k][i] * M[k][j] for k in span) for j in span] for i in span],
    }
    rates: dict[str, Node] = {}
    for key, table in tables.items():
        for i in span:
            for j in span:
                variable, sign = reduced.variable(table[i, j])
                if sign > 0:
                    rates.setdefault(variable, right[key][i][j])
    return rates


def _tables(lab: Laboratory) -> dict[str, np.ndarray]:
    """Names of the path scalars of the + head, rows and columns c_1, c_2, v_1, v_2."""
    kinds = (("M", "KQ"), ("A", "KK"), ("B", "QQ"))
    return {key: lab.flow("stage2").matrices[f"{path}_{lab.head_name(+1)}"] for key, path in kinds}


def lifted_tables(lab: Laboratory) -> list[list[list[Node]]]:
    """M, A and B of the + head in orbit variables."""
    reduced = lab.reduced("stage2")
    return [[[_lift(reduced, n) for n in row] for row in table] for table in _tables(lab).values()]


def uniform_forces(lab: Laboratory, slope: Node | None) -> list[list[Node]]:
    """The force on the scores of the + head at uniform attention, with `slope` in place of every g."""
    flow, reduced = lab.flow("stage2"), lab.reduced("stage2")
    derived = list(matrix_form(flow, lab.head_name(+1)).force.ravel())
    slopes = [node for node in graph.topological(derived) if node.op == "sigmoid"] if slope is not None else []
    derived = graph.substitute(derived, {node: slope for node in slopes if slope is not None})
    at_zero = {sym(n): ZERO for n in flow.system.on_path("KQ")}
    at_zero |= {sym(n): _lift(reduced, n) for n in flow.system.on_path("w")}
    forces = list(all_units_on({str(i): node for i, node in enumerate(graph.substitute(derived, at_zero))}).values())
    return [[forces[4 * i + j] for j in range(4)] for i in range(4)]


def _lift(reduced: object, state: str) -> Node:
    variable, sign = reduced.variable(state)  # type: ignore[attr-defined]
    return sym(variable) * sign


def _difference(kind: str) -> Node:
    return sym(f"{kind}_same") - sym(f"{kind}_other")


def printed_rates(slope: Node = HALF) -> dict[str, Node]:
    """The right-hand sides of appendix E.5 as printed (sum over samples): g/3 times 2 or 4 times a bracket."""
    two, four = 2 * slope * THIRD, 4 * slope * THIRD  # g = 1/2 on conflicting samples at T1
    up, down = TWO_THIRDS * N_C, -THIRD * N_C
    return {
        "M_cv_same": two * _difference("B_vv") * up + two * _difference("A_cc") * up,
        "M_cc_same": two * _difference("B_cv") * up + two * _difference("A_cv") * down,
        "M_vc_same": two * _difference("A_vv") * down + two * _difference("B_cc") * down,
        "M_vv_same": two * _difference("A_cv") * up + two * _difference("B_cv") * down,
        "A_cc_same": four * _difference("M_cv") * up,
        "A_vv_same": four * _difference("M_vc") * down,
        "A_cv_same": two * _difference("M_cc") * down + two * _difference("M_vv") * up,
        "B_vv_same": four * _difference("M_cv") * up,
        "B_cc_same": four * _difference("M_vc") * down,
        "B_cv_same": two * _difference("M_cc") * up + two * _difference("M_vv") * down,
    }


def at_start(nodes: dict[str, Node]) -> dict[str, Node]:
    """The same expressions at T1: scores zero, self-scores omega^2 I (Lemma C.1; neither moves in stage 1)."""
    names = [n for n in graph.symbols(nodes.values()) if n[:2] in ("M_", "A_", "B_")]
    start = {sym(n): ZERO for n in names}
    start |= {sym(f"{m}_{k}_same"): OMEGA**2 for m in "AB" for k in ("cc", "vv")}
    return dict(zip(nodes, graph.substitute(list(nodes.values()), start), strict=True))


def too_large(verdict: Verdict, what: str, left: Node, right: Node, at: Mapping[str, Any] | None = None) -> Verdict:
    """The verdict with the two sides of a display at T1, in numbers; `at` gives states that the sides still contain."""
    point = {**START, **(at or {})}
    others = dict.fromkeys(
        graph.symbols([left, right]), 0
    )  # states of a broken system that the paper's does not have here
    numbers = {name: float(value) for name, value in point.items()}
    env = {**others, **numbers, **stage_one().neurons(numbers["T1"], numbers["b"])}
    shown = [say_number(float(value)) for value in graph.evaluate([left, right], env, FLOATS, float)]
    return verdict.witnessed(
        f"at omega = 0.1, b = 0.5, T1 = 20 (all hypotheses hold) {what} is {shown[0]} and the printed value {shown[1]}",
        point,
    )


QUARTER = (
    "the expectation given X = X_{k,s,-s} in Algorithm 1 is an average over four samples, each with the probability 1/4; "
    "the display sums over them. Read as a sum over the four samples, as Appendix E.7 adds them, every display is right and "
    "only the unit of time of stage 2 changes; elsewhere (D.1, D.5, F.1) the paper averages"
)


@book.claim(
    "App.E.5",
    "Derivatives at the start of stage 2",
    kind="identity",
    uses=["B.2", "C.2", "C.4", "D.7"],
    expect="fails",
    origin="proof",
    where="Appendix E.5",
    source="damaged",
    parts=tuple(PARTS_OF_E5),
    hypotheses=STAGE_TWO,
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1|_{T_1}=\tfrac13g\,2(v_1^\top W_Q^\top W_Qv_1-v_1^\top W_Q^\top W_Qv_2)(\tfrac23w_+^\top c_1)"
    r"+\tfrac13g\,2(c_1^\top W_K^\top W_Kc_1-c_1^\top W_K^\top W_Kc_2)(\tfrac23w_+^\top c_1),\ \tfrac{d}{dt}v_1^\top W_K^\top W_Kv_1|_{T_1}="
    r"\tfrac13g\,4(v_1^\top W_K^\top W_Qc_1-v_1^\top W_K^\top W_Qc_2)(-\tfrac13w_+^\top c_1),\ \dots",
    reading="ten displays, where p = 1/3; then all scores are 0, so that those of self-scores read 0 = 0; g = 1/2 there",
)
def start_derivatives(lab: Laboratory) -> dict[str, Verdict]:
    """Each display at T1, where the state is known."""
    rates, printed = uniform_rates(lab), printed_rates()
    left, right = at_start({key: rates[key] for key in printed}), at_start(printed)
    found = {}
    for part, letter in PARTS_OF_E5.items():
        keys = [key for key in printed if key.startswith(letter)]
        found[part] = equal({key: (left[key], right[key]) for key in keys})
        if part != "scores":
            found[part] = found[part].adding(
                at_T1="0 = 0, since all scores are 0; with general scores at p = 1/3 the display is 4 times too large"
            )
    name = "M_cv_same"
    found["scores"] = (
        too_large(found["scores"], "the derivative of c_1' W_K' W_Q v_1", left[name], right[name])
        .correcting(r"\text{every printed derivative times } \tfrac14", quarter(lab), QUARTER)
        .blaming("constant", "missing-quarter")
    )
    return found


def quarter(lab: Laboratory) -> Verdict:
    """With p replaced by 1/3 every derivative is a quarter of the printed form, for all scores, self-scores and g."""
    rates = uniform_rates(lab, SLOPE)
    form = matrix_form(lab.flow("stage2"), lab.head_name(+1))  # the derived equations are A G + G B, ...
    return equal({key: (4 * rates[key], value) for key, value in printed_rates(SLOPE).items()}) & form.holds()


@book.claim(
    "App.E.5/quarter",
    "The displays of stage 2 times one quarter",
    kind="identity",
    uses=["B.2", "C.2", "C.4"],
    origin="ours",
    repairs=["App.E.5", "E.1-display", "E.4-display", "App.E.7", "Sec.5.2-display"],
    hypotheses=(),
    statement=r"\text{every derivative is}\ \tfrac14\ \text{of its display in Appendix E.5, and}\ \tfrac14\ \text{of the sum over samples that E.7 expands: no sign and no ratio changes}",
    reading="one positive factor for all displays; Lemmas E.1 to E.5 use their signs, their ratios, and constants b, C that they do not name",
)
def common_factor(lab: Laboratory) -> Verdict:
    """Appendix E.5 at uniform attention, and the forces of appendix E.7 at any attention."""
    derived = matrix_form(lab.flow("stage2"), lab.head_name(+1)).force
    summed = written_force(lab, CONFLICTING, Fraction(1), +1)
    return quarter(lab) & equal(entry_pairs(4 * derived, summed, "G"))


@book.claim(
    "E.1-display",
    "Largest score derivatives at T1",
    kind="identity",
    uses=["App.E.5"],
    expect="fails",
    origin="proof",
    where="Proof of Lemma E.1, derivatives at T1",
    parts=(
        "scores of c_k for v_k and v_k'",
        "the factor m",
        "the largest other score",
        "its derivative",
        "self-scores stand still",
    ),
    hypotheses=STAGE_TWO,
    statement=r"\tfrac{d}{dt}c_k^\top W_K^\top W_Qv_k|_{T_1},\,-\tfrac{d}{dt}c_k^\top W_K^\top W_Qv_{k'}|_{T_1}=\tfrac43g\,\omega^2m(w_+^\top c_1-w_+^\top Xp_l)="
    r"\tfrac43g\,\omega^2\tfrac23w_+^\top c_1,\quad \operatorname{argmax}\tfrac{d}{dt}|\mu^\top W_K^\top W_Q\nu|\ \text{of the others}=\tfrac{d}{dt}v_1^\top W_K^\top W_Qc_1|_{T_1}="
    r"\tfrac43g\,\omega^2\tfrac13w_+^\top c_1,\quad \tfrac{d}{dt}\text{self-scores of different words}|_{T_1}=0",
    reading="at T1 with g = 1/2; the derivative of v_1' W_K' W_Q c_1, which is negative, is read as that of its absolute value",
)
def derivatives_in_the_proof(lab: Laboratory) -> dict[str, Verdict]:
    """Growth of the two large scores, of the largest other one, and of the self-scores."""
    rates = at_start(uniform_rates(lab))
    four_thirds = Fraction(4, 3) * HALF * OMEGA**2
    large, other, fixed = four_thirds * TWO_THIRDS * N_C, four_thirds * THIRD * N_C, quarter(lab)
    moving = equal({"same": (rates["M_cv_same"], large), "other": (-rates["M_cv_other"], large)})
    below = equal({"absolute value": (-rates["M_vc_same"], other)})
    pairs = {f"M_{k}_{g}": (rates[f"M_{k}_{g}"], ZERO) for k in ("cc", "vv") for g in ("same", "other")}
    crossed = [n for n in rates if n[0] in "AB"]
    return {
        "scores of c_k for v_k and v_k'": too_large(
            moving, "the derivative of c_1' W_K' W_Q v_1", rates["M_cv_same"], large
        )
        .correcting(r"\tfrac13g\,\omega^2\tfrac23w_+^\top c_1", fixed, QUARTER)
        .blaming("constant", "missing-quarter"),
        "the factor m": _stray_width(large),
        "the largest other score": (
            equal(pairs | {"opposite": (rates["M_vc_same"], -rates["M_vc_other"])})
            & always_positive({"|M_vc| grows": -rates["M_vc_same"]}, positive=("n_c", "omega"))
        ).proving("the other eight scores have derivative zero"),
        "its derivative": too_large(below, "the derivative of |v_1' W_K' W_Q c_1|", -rates["M_vc_same"], other)
        .correcting(r"\tfrac13g\,\omega^2\tfrac13w_+^\top c_1", fixed, QUARTER)
        .blaming("constant", "missing-quarter"),
        "self-scores stand still": equal({n: (rates[n], ZERO) for n in crossed}),
    }


def _stray_width(last: Node) -> Verdict:
    """The middle form of the first display has a factor m that its last form does not have."""
    without = Fraction(4, 3) * HALF * OMEGA**2 * (N_C - THIRD * N_C)
    return (
        equal({"middle and last form": (without * sym("m"), last)})
        .witnessed(
            "at omega = 0.1, b = 0.5, T1 = 20, m = 100 (all hypotheses hold) the middle form is 100 times the last one",
            {**START, "m": 100},
        )
        .correcting(
            r"\tfrac43g\,\omega^2(w_+^\top c_1-w_+^\top Xp_l)",
            equal({"middle and last form": (without, last)}),
            "the entries of W_K and W_Q have the variance omega^2/m, so that squared norms are omega^2; the next form has no m",
        )
        .blaming("misprint", "stray-m")
    )


@book.claim(
    "E.4-display",
    "Derivative with attention held at T1",
    kind="identity",
    uses=["App.E.5"],
    expect="fails",
    origin="proof",
    where="Proof of Lemma E.4, derivative at p = 1/3",
    parts=("derivative of c_1' W_K' W_Q v_1",),
    hypotheses=STAGE_TWO,
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1\big|_{p^{(+,t)}=p^{(+,T_1)}}=\tfrac13g^{(t)}2(v_1^\top W_Q^\top W_Qv_1-v_1^\top W_Q^\top W_Qv_2)(\tfrac23w_+^{(T_1)\top}c_1)"
    r"+\tfrac13g^{(t)}2(c_1^\top W_K^\top W_Kc_1-c_1^\top W_K^\top W_Kc_2)(\tfrac23w_+^{(T_1)\top}c_1)",
    reading="every g, and w as in Lemma C.2 with the conflicting units on; the expectation in the line above averages over the four samples",
)
def derivative_at_held_attention(lab: Laboratory) -> Verdict:
    """The display as printed and with its quarter; the witness is at t = T1."""
    name, rates, printed = "M_cv_same", uniform_rates(lab, SLOPE), printed_rates(SLOPE)
    left, right = (at_start({name: side[name]})[name] for side in (uniform_rates(lab), printed_rates()))
    return (
        too_large(equal({name: (rates[name], printed[name])}), "the derivative at t = T1", left, right)
        .correcting(r"\text{the right side times}\ \tfrac14", quarter(lab), QUARTER)
        .blaming("constant", "missing-quarter")
    )


SUMS_OF_E6 = {  # dW_Q = W_K G and dW_K = W_Q G', so that these are sums of columns and of rows of G
    "W_Q(v_1 + v_2)": ("cv", "vv"),
    "W_Q(c_1 + c_2)": ("cc", "vc"),
    "W_K(c_1 + c_2)": ("cc", "cv"),
    "W_K(v_1 + v_2)": ("vc", "vv"),
}


@book.claim(
    "App.E.6",
    "Sums of gradients vanish at uniform attention",
    kind="identity",
    uses=["B.2", "C.2"],
    origin="ours",
    parts=tuple(SUMS_OF_E6),
    hypotheses=(),
    statement=r"\tfrac{d}{dt}W_Q(v_1+v_2)=\tfrac d{dt}W_K(c_1+c_2)=\tfrac{d}{dt}W_K(v_1+v_2)=\tfrac{d}{dt}W_Q(c_1+c_2)=0\ \text{at}\ p=\tfrac13",
    reading="what the expansions of Appendix E.6 become at p = 1/3, for every W_K, W_Q; w as in Lemma C.2, conflicting units on",
)
def gradient_sums(lab: Laboratory) -> dict[str, Verdict]:
    """G (e_1 + e_2) = 0 and (e_1 + e_2)' G = 0 on both pairs, read off dM with A = I, B = 0."""
    rates, system = uniform_rates(lab), lab.reduced("stage2").system
    unit = {sym(n): ZERO for n in system.on_path("KQ", "KK", "QQ")}
    unit |= {sym("A_cc_same"): graph.ONE, sym("A_vv_same"): graph.ONE}
    force = {n: graph.substitute([rates[n]], unit)[0] for n in system.on_path("KQ")}
    opposite = {kind: (force[f"M_{kind}_same"], -force[f"M_{kind}_other"]) for kind in ("cc", "cv", "vc", "vv")}
    form = matrix_form(lab.flow("stage2"), lab.head_name(+1)).holds()
    return {part: equal({kind: opposite[kind] for kind in kinds}) & form for part, kinds in SUMS_OF_E6.items()}


@book.claim(
    "E.4-sum",
    "Sum of two scores with attention held at T1",
    kind="identity",
    uses=["E.4-display"],
    origin="proof",
    where="Proof of Lemma E.4, sum over v_1 and v_2 at p = 1/3",
    source="damaged",
    parts=("derivative of c_1' W_K' W_Q (v_1 + v_2)",),
    hypotheses=(),
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Q(v_1+v_2)\big|_{p^{(+,t)}=p^{(+,T_1)}=\frac12}=0",
    reading="p = 1/2 is read as 1/3, as printed two displays below; w as in Lemma C.2, conflicting units on",
)
def sum_at_held_attention(lab: Laboratory) -> Verdict:
    """For all self-scores and every g."""
    G, (_, A, B) = uniform_forces(lab, SLOPE), lifted_tables(lab)
    force = [[sym(f"G_{i}{j}") for j in range(4)] for i in range(4)]
    held = {force[i][j]: G[i][j] for i, j in product(range(4), repeat=2)}
    rates = [graph.add(A[0][k] * force[k][j] + force[0][k] * B[k][j] for k in range(4)) for j in (2, 3)]  # v_1, v_2
    return equal({"opposite": (rates[0], -rates[1])}, given=held)


def _growth() -> tuple[sp.Matrix, sp.Matrix, sp.Symbol, sp.Symbol, sp.Symbol]:
    t, b, omega = sp.Symbol("t", real=True), sp.Symbol("b", positive=True), sp.Symbol("omega", positive=True)
    matrix = sp.Matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    root = sp.sqrt(2)
    printed = (
        omega**2
        / 2
        * (sp.exp(root * b * t) * sp.Matrix([root, 1, 1]) + sp.exp(-root * b * t) * sp.Matrix([-root, 1, 1]))
    )
    return matrix, printed, t, b, omega


def solves_process(rate: sp.Expr) -> Verdict:
    """The printed x(t) solves dx/dt = rate A x."""
    matrix, printed, t, _, _ = _growth()
    moved, right = printed.diff(t), rate * matrix * printed
    pairs = {f"x_{i + 1}": (from_sympy(moved[i]), from_sympy(right[i])) for i in range(3)}
    return equal(pairs, positive=("m", "b", "omega"))


def starts_right() -> Verdict:
    """The printed x(t) is (0, omega^2, omega^2) at t = 0."""
    _, printed, t, _, omega = _growth()
    start = (ZERO, from_sympy(omega**2), from_sympy(omega**2))
    given = {from_sympy(t): ZERO}
    return equal({f"x_{i + 1}": (from_sympy(printed[i]), start[i]) for i in range(3)}, given=given)


@book.claim(
    "E.3",
    "Comparison process",
    kind="identity",
    expect="fails",
    insensitive="a statement about numbers, not about the system",
    origin="proof",
    where="Proof of Lemma E.3, process x(t)",
    parts=("eigenvalues", "eigenvectors", "start", "solution"),
    hypotheses=(SMALL_START,),
    statement=r"x(0)=(0,\omega^2,\omega^2)^\top,\ \dot x=\tfrac{b}{\sqrt m}Ax:\quad \lambda=0,\pm\sqrt2\ \text{with}\ (0,-1,1)^\top,\ (\lambda,1,1)^\top,\quad "
    r"x(t)=\tfrac{\omega^2}2\big(e^{\sqrt2bt}(\sqrt2,1,1)^\top+e^{-\sqrt2bt}(-\sqrt2,1,1)^\top\big)",
    reading="b is the constant of Lemma E.2; the lemma itself, T2 - T1 = O(log 1/omega^2), is another row and stands",
)
def comparison_process(lab: Laboratory) -> dict[str, Verdict]:
    """Spectrum, start and equation of the printed process."""
    matrix, _, _, b, _ = _growth()
    values = sorted((space.value for space in exact_spectrum(matrix)), key=float)
    roots = [-sp.sqrt(2), 0, sp.sqrt(2)]
    vectors = {value: sp.Matrix([value, 1, 1]) if value else sp.Matrix([0, -1, 1]) for value in roots}
    pairs = {f"{value}, {i}": ((matrix * v)[i], (value * v)[i]) for value, v in vectors.items() for i in range(3)}
    m = sp.Symbol("m", positive=True)
    return {
        "eigenvalues": decided(values == roots, {"eigenvalues": str(values)}).proving("exact spectrum of A"),
        "eigenvectors": equal({key: (from_sympy(left), from_sympy(right)) for key, (left, right) in pairs.items()}),
        "start": starts_right(),
        "solution": solves_process(b / sp.sqrt(m))
        .witnessed(
            "at omega = 0.1, m = 10000, t = 0 (all hypotheses hold) the printed x_1 grows at 0.02 b, and b/sqrt(m) times the "
            "first entry of A x is 0.0002 b; the two differ for every m > 1",
            {"omega": Fraction(1, 10), "m": 10**4, "t": 0},
        )
        .correcting(
            r"\dot x=bAx",
            solves_process(b),
            "the factor 1/sqrt(m) is neither in Lemma E.2 nor in the printed solution; like omega^2 m in the proof of Lemma E.1 "
            "and N(0, omega^2 I) in that of Lemma G.1 it fits entries N(0, omega^2) and scores over sqrt(m)",
        )
        .blaming("proof", "stray-m"),
    }


@book.claim(
    "E.3/repaired",
    "The comparison process without the width",
    kind="inequality",
    uses=["E.2"],
    insensitive="a statement about numbers, not about the system",
    origin="ours",
    repairs=["E.3"],
    hypotheses=(),
    statement=r"\dot x=bAx,\ x(0)=(0,\omega^2,\omega^2)^\top\ \Rightarrow\ x_1(t)\ge x^*\ \text{at}\ t=\tfrac1{\sqrt2b}\log\Big(1+\tfrac{\sqrt2x^*}{\omega^2}\Big)",
    reading="for every omega, b, x* > 0; the time is O(log 1/omega^2), which is what Lemma E.3 needs of the process",
)
def repaired_process(lab: Laboratory) -> Verdict:
    """The printed solution solves dx/dt = b A x from x(0); at that time e^{sqrt 2 b t} is 1 + sqrt 2 x*/omega^2."""
    _, printed, t, b, omega = _growth()
    x = sp.Symbol("x_star", positive=True)
    grown = 1 + sp.sqrt(2) * x / omega**2
    reached = printed[0].subs(t, sp.log(grown) / (sp.sqrt(2) * b))
    excess = x * omega**2 / (omega**2 + sp.sqrt(2) * x)
    return (
        solves_process(b)
        & starts_right()
        & equal({"x_1": (from_sympy(reached), from_sympy(x + excess))}, positive=("omega", "x_star"))
        & always_positive({"x_1 - x*": from_sympy(excess)}, positive=("omega", "x_star"))
    ).proving("x_1 - x* = x* omega^2/(omega^2 + sqrt 2 x*) at that time")


@book.claim(
    "E.5-proof",
    "Monotone softmax slope",
    kind="inequality",
    insensitive="a statement about numbers, not about the system",
    origin="proof",
    where="Proof of Lemma E.5, the function y(x)",
    source="damaged",
    parts=("y(x_2) > y(x_1)",),
    hypotheses=(),
    statement=r"y(x)=\tfrac{(1-x)x}2:\quad x_1<\tfrac13,\ \tfrac13<x_2<\tfrac23\ \Rightarrow\ y(x_2)>y(x_1)",
    reading="the upper end of x_2, which the text at hand shows as 3/3, is read as 2/3",
)
def softmax_slope(lab: Laboratory) -> Verdict:
    """With u = 1/3 - x_1, v = x_2 - 1/3 and w = 2/3 - x_2 the difference is (u + v)(u + w)/2."""
    x1, x2, u, v, w = (sym(name) for name in ("x1", "x2", "u", "v", "w"))
    gap = (x2 * (1 - x2) - x1 * (1 - x1)) / 2
    product = (u + v) * (u + w) / 2
    (written,) = graph.substitute([product], {u: THIRD - x1, v: x2 - THIRD, w: TWO_THIRDS - x2})
    return (
        equal({"factorisation": (gap, written)}) & always_positive({"product": product}, positive=("u", "v", "w"))
    ).proving("y(x_2) - y(x_1) = (u + v)(u + w)/2 with u = 1/3 - x_1, v = x_2 - 1/3, w = 2/3 - x_2, all positive")


@book.claim(
    "Beyond.manifold",
    "Exact antisymmetry of classification queries",
    kind="identity",
    uses=["B.2", "C.2", "C.4"],
    origin="ours",
    hypotheses=(),
    statement=r"M_{\mu v_1}=-M_{\mu v_2},\ B_{cv}^==-B_{cv}^{\ne},\ B_{vv}^=+B_{vv}^{\ne}=\mathrm{const}\ \text{is invariant in stage 2}",
    reading="on this linear subspace of symmetric states, with all units of conflicting samples on, the stage-2 equations keep it",
)
def manifold(lab: Laboratory) -> Verdict:
    """The sums that define the subspace have zero derivative on it."""
    system = lab.reduced("stage2").system
    rhs = system.equations
    onto = {sym(f"{k}_other"): -sym(f"{k}_same") for k in ("M_cv", "M_vv", "B_cv")}
    # the self-score sum B_vv keeps its start value; on the subspace it multiplies only vanishing sums
    kinds = ("M_cv", "M_vv", "B_cv", "B_vv")
    on = graph.substitute([rhs[f"{k}_{g}"] for k in kinds for g in ("same", "other")], onto)
    pairs = {k: (same, -other) for k, same, other in zip(kinds, on[::2], on[1::2], strict=True)}
    return equal(pairs, given=gates_on(on))
