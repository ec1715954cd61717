"""Appendix E.7: the updates of scores and self-scores expanded over samples, as printed and averaged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys import Verdict, entry_pairs, equal, graph, say_number

from ..laboratory import Laboratory
from ..special.trajectories import BIAS, stage_two
from .book import CONFLICTING, WORDS, book, matrix_form, path_tables, written_force
from .common_hypotheses import STAGE_TWO
from .part_e_stage_two import QUARTER

POINT = {"omega": 0.1, "b": BIAS, "T1": 20.0, "x_star": 1.0}  # where the failing displays are evaluated
EXPANDED = {  # part: path of the display, its row and column, the same number among the 22 variables, how it is printed
    "key self-scores": ("KK", "c1", "v1", "A_cv_same", "c_1' W_K' W_K v_1"),
    "query self-scores": ("QQ", "c1", "v1", "B_cv_same", "c_1' W_Q' W_Q v_1"),
    "scores": ("KQ", "v1", "c1", "M_vc_same", "v_1' W_K' W_Q c_1"),
}


def _right_sides(lab: Laboratory, force: np.ndarray) -> dict[str, np.ndarray]:
    """The three displays of appendix B.2 with a given force of the + head."""
    tables = path_tables(lab.flow("stage2"), lab.head_name(+1))
    M, A, B = tables["M"], tables["A"], tables["B"]
    return {"KQ": A @ force + force @ B, "KK": M @ force.T + force @ M.T, "QQ": M.T @ force + force.T @ M}


def _rate_at_the_end(variable: str) -> float:
    """The derivative of a variable of the paper's system when c_1' W_K' W_Q v_1 = 1 at `POINT`."""
    lab = Laboratory()
    run = stage_two(lab, POINT["omega"], POINT["T1"], POINT["x_star"]).run
    system = lab.reduced("stage2").system
    return float(system.compile(b=BIAS)(0.0, run.end_state)[system.names.index(variable)])


def _expanded(lab: Laboratory, part: str, averaged: Verdict) -> Verdict:
    """One display as printed, a sum over the four samples, against the derived equation."""
    path, row, column, variable, shown = EXPANDED[part]
    flow, place = lab.flow("stage2"), (WORDS.index(row), WORDS.index(column))
    derived = flow.system.equations[flow.matrices[f"{path}_{lab.head_name(+1)}"][place]]
    summed = _right_sides(lab, written_force(lab, CONFLICTING, Fraction(1), +1))[path][place]
    verdict = equal({shown: (derived, graph.as_node(summed))})
    if verdict.as_stated != "fails":
        return verdict
    rate = _rate_at_the_end(variable)
    return (
        verdict.witnessed(
            f"at omega = 0.1, b = 0.5, T1 = 20, when c_1' W_K' W_Q v_1 = 1 (all hypotheses hold) the derivative of {shown} is "
            f"{say_number(rate)} and the printed lines sum to {say_number(4 * rate)}",
            POINT,
        )
        .correcting(r"\text{the printed lines times}\ \tfrac14", averaged, QUARTER)
        .blaming("constant", "missing-quarter")
    )


@book.claim(
    "App.E.7",
    "Expanded updates",
    kind="identity",
    uses=["B.2", "C.2", "C.4"],
    expect="fails",
    origin="proof",
    where="Appendix E.7",
    source="damaged",
    parts=tuple(EXPANDED),
    hypotheses=STAGE_TWO,
    statement=r"\tfrac{d}{dt}c_1^\top W_K^\top W_Kv_1=\mathbb E[\cdots|X_{k,s,-s}]+\dots=\mathbb E[\cdots|X_{k,+,-}]+\mathbb E[\cdots|X_{k,-,+}]+\dots,\quad "
    r"\mathbb E[\cdots|X_{k,+,-}]=g\big(c_1^\top W_K^\top W_Qv_1\,p_{q\leftarrow v_1,k\leftarrow v_1}(w_+^\top v_1-w_+^\top X_{1,+,-}p_{q\leftarrow v_1})+\dots\big),\ \dots",
    reading="judged is the coefficient in front of the lines, 1 for each of two or four samples, not each line; legible for key self-scores",
)
def expanded_updates(lab: Laboratory) -> dict[str, Verdict]:
    """Each kind of update as printed; the average of the same lines is the derived equation."""
    form = matrix_form(lab.flow("stage2"), lab.head_name(+1))
    mean = written_force(lab, CONFLICTING, Fraction(1, len(CONFLICTING)), +1)
    averaged = form.holds() & equal(entry_pairs(form.force, mean, "G"))
    return {part: _expanded(lab, part, averaged) for part in EXPANDED}
