"""Appendix E: derivatives at the start of stage 2, the comparison process, and an exact invariant subspace."""

from __future__ import annotations

import sympy as sp

from odesys import (
    ZERO,
    Node,
    Verdict,
    combine_verdicts,
    decided,
    equal,
    exact_spectrum,
    from_sympy,
    graph,
    identity,
    sym,
)

from ..laboratory import Laboratory
from .book import all_units_on, book
from .part_b_c_symmetry import matrix_form

HALF, THIRD, TWO_THIRDS = graph.num(1) / 2, graph.num(1) / 3, graph.num(2) / 3
N_C, OMEGA = sym("n_c"), sym("omega")


def _uniform_rates(lab: Laboratory) -> dict[str, Node]:
    """Stage-2 equations with the softmax replaced by uniform weights, self-scores and scores arbitrary (App. E.5).

    The forces are those at zero scores; the products A G + G B, ... keep the scores, so they are inserted by linearity:
    a right-hand side is linear in (M, A, B) for fixed forces, and only M occurs inside the forces.
    """
    flow, reduced = lab.flow("stage2"), lab.reduced("stage2")
    tables = {
        key: flow.matrices[f"{path}_{lab.head_name(+1)}"] for key, path in (("M", "KQ"), ("A", "KK"), ("B", "QQ"))
    }
    derived = list(matrix_form(flow, lab.head_name(+1))[0].ravel())
    at_zero = {sym(n): ZERO for n in flow.system.on_path("KQ")}
    at_zero |= {sym(n): _lift(reduced, n) for n in flow.system.on_path("w")}
    forces = list(all_units_on({str(i): node for i, node in enumerate(graph.substitute(derived, at_zero))}).values())
    G = [[forces[4 * i + j] for j in range(4)] for i in range(4)]
    lifted = {key: [[_lift(reduced, n) for n in row] for row in table] for key, table in tables.items()}
    M, A, B = lifted["M"], lifted["A"], lifted["B"]
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


def _lift(reduced: object, state: str) -> Node:
    variable, sign = reduced.variable(state)  # type: ignore[attr-defined]
    return sym(variable) * sign


def _difference(kind: str) -> Node:
    return sym(f"{kind}_same") - sym(f"{kind}_other")


def printed_rates() -> dict[str, Node]:
    """The right-hand sides of appendix E.5 as printed (sum over samples): g/3 times 2 or 4 times a bracket."""
    two, four = 2 * HALF * THIRD, 4 * HALF * THIRD  # g = 1/2 on conflicting samples at T1
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


@book.claim(
    "App.E.5",
    "Derivatives at the start of stage 2",
    kind="identity",
    uses=["B.2", "D.8"],
    expect="fails",
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Qv_1|_{T_1}=\tfrac13g\,2(\dots)\tfrac23n_c+\tfrac13g\,2(\dots)\tfrac23n_c,\ \dots",
    reading="ten printed derivatives (scores, key and query self-scores; the entries of different groups have the opposite ones by "
    "App.E.6) with g = 1/2 against those derived at uniform attention, as expressions in the 22 variables",
)
def start_derivatives(lab: Laboratory) -> Verdict:
    """Entry by entry as printed; then with the factor of the conditional expectation."""
    rates, printed = _uniform_rates(lab), printed_rates()
    _, gaps = matrix_form(lab.flow("stage2"), lab.head_name(+1))  # the derived equations are A G + G B, ...
    as_printed = equal({key: (rates[key], value) for key, value in printed.items()})
    quarter = equal({key: (4 * rates[key], value) for key, value in printed.items()}) & identity(gaps)
    return as_printed.correcting(
        r"\text{every printed derivative times } \tfrac14",
        quarter,
        "the conditional expectation over four conflicting samples is an average, not a sum",
    )


@book.claim(
    "E.1-display",
    "Largest other score derivative at T1",
    kind="identity",
    uses=["App.E.5"],
    expect="fails",
    statement=r"\tfrac{d}{dt}v_1^\top W_K^\top W_Qc_1|_{T_1}=\tfrac43g\,\omega^2\,\tfrac13w_+^\top c_1",
    reading="the printed value with g = 1/2 against the derived one at M = 0, A = B = omega^2 I",
)
def other_score_derivative(lab: Laboratory) -> Verdict:
    """Sign and factor of the derivative of M_vc."""
    start = {sym(n): ZERO for n in lab.reduced("stage2").system.on_path("KQ", "KK", "QQ")}
    start |= {sym(f"{m}_{k}_same"): OMEGA**2 for m in "AB" for k in ("cc", "vv")}
    derived = graph.substitute([_uniform_rates(lab)["M_vc_same"]], start)[0]
    printed = from_sympy(sp.Rational(4, 3)) * HALF * OMEGA**2 * THIRD * N_C
    true = from_sympy(-sp.Rational(1, 9)) * HALF * OMEGA**2 * N_C
    return equal({"M_vc": (derived, printed)}).correcting(
        r"-\tfrac19 g\,\omega^2\,w_+^\top c_1",
        equal({"M_vc": (derived, true)}) & identity(matrix_form(lab.flow("stage2"), lab.head_name(+1))[1]),
        "the sign is negative (as in Lemma E.5), and the factor 1/4 of the conditional expectation is missing",
    )


@book.claim(
    "App.E.6",
    "Sums of gradients vanish at uniform attention",
    kind="identity",
    uses=["B.2"],
    statement=r"\tfrac{d}{dt}W_Q(v_1+v_2)=\tfrac d{dt}W_K(c_1+c_2)=\tfrac{d}{dt}W_K(v_1+v_2)=\tfrac{d}{dt}W_Q(c_1+c_2)=0",
    reading="row and column sums over each pair of words of the force matrix at uniform attention are zero, so these "
    "derivatives vanish for every W_K, W_Q",
)
def gradient_sums(lab: Laboratory) -> Verdict:
    """G (e_1 + e_2) = 0 and (e_1 + e_2)' G = 0 on both pairs, read off dM with A = I, B = 0."""
    rates, system = _uniform_rates(lab), lab.reduced("stage2").system
    unit = {sym(n): ZERO for n in system.on_path("KQ", "KK", "QQ")}
    unit |= {sym("A_cc_same"): graph.ONE, sym("A_vv_same"): graph.ONE}
    force = {n: graph.substitute([rates[n]], unit)[0] for n in system.on_path("KQ")}
    sums = {kind: force[f"M_{kind}_same"] + force[f"M_{kind}_other"] for kind in ("cc", "cv", "vc", "vv")}
    return identity(sums) & identity(matrix_form(lab.flow("stage2"), lab.head_name(+1))[1])


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


@book.claim(
    "E.3",
    "Comparison process",
    kind="identity",
    expect="fails",
    insensitive="a statement about numbers, not about the system",
    statement=r"\dot x=\tfrac{b}{\sqrt m}Ax,\ x(0)=(0,\omega^2,\omega^2):\ "
    r"x(t)=\tfrac{\omega^2}2\big(e^{\sqrt2bt}(\sqrt2,1,1)+e^{-\sqrt2bt}(-\sqrt2,1,1)\big)",
    reading="(a) eigenvalues of A are 0, sqrt 2, -sqrt 2; (b) the printed x(t) starts at x(0); (c) it solves the printed "
    "equation with b / sqrt(m). The order T2 - T1 = O(log 1/omega) on trajectories is not part of this row",
)
def comparison_process(lab: Laboratory) -> Verdict:
    """Spectrum, start and equation of the printed process."""
    matrix, printed, t, b, omega = _growth()
    values = sorted((space.value for space in exact_spectrum(matrix)), key=float)
    eigen = decided(values == [-sp.sqrt(2), 0, sp.sqrt(2)], {"eigenvalues": str(values)}, eigenvalues=str(values))
    start = identity({f"x{i}": from_sympy(printed[i].subs(t, 0) - (0, omega**2, omega**2)[i]) for i in range(3)})
    m = sp.Symbol("m", positive=True)

    def solves(rate: sp.Expr) -> Verdict:
        gap = printed.diff(t) - rate * matrix * printed
        return identity({f"x{i}": from_sympy(gap[i]) for i in range(3)}, positive=("m", "b", "omega"))

    whole = combine_verdicts({"a": eigen, "b": start, "c": solves(b / sp.sqrt(m))})
    return whole.correcting(
        r"\dot x=bAx", solves(b), "the factor 1/sqrt(m) is not in Lemma E.2 and not in the printed solution"
    )


@book.claim(
    "E.5-proof",
    "Monotone softmax slope",
    kind="inequality",
    insensitive="a statement about numbers, not about the system",
    statement=r"y(x)=\tfrac{x(1-x)}2:\ x_1<\tfrac13<x_2<\tfrac23\Rightarrow y(x_2)>y(x_1)",
    reading="y(x2) - y(x1) = (x2 - x1)(1 - x1 - x2)/2, and both factors are positive on the stated range",
)
def softmax_slope(lab: Laboratory) -> Verdict:
    """The factorisation is an identity; the signs of the factors are linear inequalities."""
    x1, x2 = sym("x1"), sym("x2")
    gap = (x2 * (1 - x2) - x1 * (1 - x1)) / 2
    return identity({"factorisation": gap - (x2 - x1) * (1 - x1 - x2) / 2})


@book.claim(
    "Beyond.manifold",
    "Exact antisymmetry of classification queries",
    kind="identity",
    uses=["B.2", "C.2", "C.4"],
    origin="ours",
    statement=r"M_{\mu v_1}=-M_{\mu v_2},\ B_{cv}^==-B_{cv}^{\ne},\ B_{vv}^=+B_{vv}^{\ne}=\mathrm{const}\ \text{is invariant in stage 2}",
    reading="on this linear subspace the derived stage-2 equations keep it, as expressions, with all conflicting units on "
    "(it is not a symmetry quotient: n_v breaks the symmetry)",
)
def manifold(lab: Laboratory) -> Verdict:
    """The sums that define the subspace have zero derivative on it."""
    system = lab.reduced("stage2").system
    rhs = system.equations
    onto = {sym(f"{k}_other"): -sym(f"{k}_same") for k in ("M_cv", "M_vv", "B_cv")}
    sums = {k: rhs[f"{k}_same"] + rhs[f"{k}_other"] for k in ("M_cv", "M_vv", "B_cv", "B_vv")}
    # the self-score sum B_vv keeps its start value; on the subspace it multiplies only vanishing sums
    on = dict(zip(sums, graph.substitute(list(sums.values()), onto), strict=True))
    return identity(all_units_on(on))
