"""Two sentences of the proof of Lemma E.5: what is zero at T_1, and which derivatives Lemma E.2 speaks of."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys import Verdict, graph, identity, measure, say_number, undecided, untested

from ..laboratory import Laboratory
from ..special.trajectories import BIAS, StageTwo
from .book import book
from .common_stage_two import EXACT, SOLVER, STAGE_2, kappa, run_at, states_in_reach, sweep
from .part_e_near_symmetry import start_gaps

POINT = {"omega": 0.1, "b": BIAS, "T1": 20.0}
LARGEST = 1e9  # an upper end that nothing here comes near
ROWS = {  # part: the same number among the 22 variables, as printed
    "c_1 W_K W_Q v_1": "M_cv_same",
    "c_1 W_K W_K v_1": "A_cv_same",
    "v_1 W_Q W_Q v_1": "B_vv_same",
}
MEANT = {"c_1 W_K W_K v_1": ("c_1 W_K W_K c_1", "A_cc_same")}


@book.claim(
    "E.5-proof/T1",
    "The variables at the start of stage 2",
    kind="identity",
    uses=["Def.5.1"],
    expect="fails",
    origin="proof",
    where="Proof of Lemma E.5, first sentence",
    parts=("zero at T_1",),
    hypotheses=STAGE_2,
    statement=r"\text{at}\ t=T_1\ \text{all the variables}\ (\mu^\top W_K^\top W_Q\nu,\ \mu^\top W_K^\top W_K\nu,\ \mu^\top W_Q^\top W_Q\nu)\ \text{are zero}",
    reading="The variables are those of the table of Lemma E.5; stage 1 does not move them.",
)
def variables_at_the_start(lab: Laboratory) -> Verdict:
    """The twenty variables at T_1; on the diagonal of the self-scores they are omega^2."""
    names = lab.reduced("stage2").system.on_path("KQ", "KK", "QQ")
    first = lab.reduced("stage1")
    moving = sorted(set(first.system.moving) & set(names))
    if moving:
        return undecided(f"{moving[0]} moves in stage 1, so its value at T1 is not the start value")
    right = identity({f"{n} at omega = {omega}": graph.num(gap) for (n, omega), gap in start_gaps(lab, names).items()})
    begin = dict(zip(first.system.names, first.initial_state(0.5), strict=True))
    zero = identity({n: graph.num(Fraction(begin[n])) for n in names})
    return (
        zero.witnessed(
            "at omega = 0.1, b = 0.5, T1 = 20 (all hypotheses hold) v_1' W_Q' W_Q v_1 is 0.01 at t = T_1, not zero",
            POINT,
        )
        .correcting(
            r"\text{zero, but for}\ \|W_Kc_1\|^2=\|W_Kv_1\|^2=\|W_Qc_1\|^2=\|W_Qv_1\|^2=\omega^2",
            right.proving("the start of Definition 5.1, which stage 1 leaves alone"),
            "a squared norm is not negative either, so that the table holds at T_1 as the sentence says",
        )
        .blaming("misprint", "norms-at-the-start")
    )


def _slowest(lab: Laboratory, run: StageTwo, state: str) -> float:
    """The smallest derivative of a variable while all scores are in reach."""
    names, field = run.run.names, lab.reduced("stage2").system.compile(b=run.b)
    place = names.index(state)
    return float(min(np.asarray(field(0.0, x))[place] for x in states_in_reach(run)))


def _grows(lab: Laboratory, shown: str, state: str) -> Verdict:
    found = measure(
        f"the smallest derivative of {shown}, over kappa omega^2,",
        sweep(lab),
        lambda p: _slowest(lab, run_at(lab, p), state) / (kappa(p) * p["omega"] ** 2),
    )
    return found.between(-SOLVER, LARGEST, f"the printed bound; {EXACT}")


@book.claim(
    "E.5-proof/E.2",
    "What Lemma E.2 gives for the signs",
    kind="inequality",
    uses=["E.2"],
    expect="fails",
    origin="proof",
    where="Proof of Lemma E.5, first display",
    source="damaged",
    parts=tuple(ROWS),
    hypotheses=STAGE_2,
    statement=r"\frac{d\,c_1W_K^\top W_Qv_1}{dt},\ \frac{d\,c_1^\top W_K^\top W_Kv_1}{dt},\ \frac{d\,v_1^\top W_Q^\top W_Qv_1}{dt}\ge0\quad\text{by Lemma E.2}",
    reading="While all scores are at most C = 1/2; the second one is read with v_1, as the text at hand has it.",
)
def derivatives_from_growth(lab: Laboratory) -> dict[str, Verdict]:
    """Each derivative along every trajectory; where it is negative, that of the variable of Lemma E.2."""
    found = {}
    for shown, state in ROWS.items():
        verdict = _grows(lab, shown, state)
        if shown in MEANT and verdict.as_stated == "fails":
            least = _slowest(lab, run_at(lab, POINT), state)
            verdict = (
                verdict.witnessed(
                    f"at omega = 0.1, b = 0.5, T1 = 20 (all hypotheses hold) the derivative of c_1' W_K' W_K v_1 falls to "
                    f"{say_number(least)} before c_1' W_K' W_Q v_1 = 1/2, and the right side is 0",
                    POINT,
                )
                .correcting(
                    r"\frac{d\,c_1^\top W_K^\top W_Kc_1}{dt}\ge0",
                    _grows(lab, *MEANT[shown]),
                    "Lemma E.2 is about c_1' W_K' W_K c_1; that of c_1, v_1 is at most 0 in the table of Lemma E.5 itself",
                )
                .blaming("misprint", "v-for-c-in-E.5")
            )
        found[shown] = verdict
    return found


NOTICED = {  # display: what can not be read in it
    "p of v_1 on two samples": "one bar, and the query and the sample of the second weight",
    "p times w_+ X p on X_{1,+,-}": "whether w_+' X p or w_+' X stands before the second weight, and the factor w_+' c_1",
    "p times w_+ X p on X_{1,-,+}": "which sample the left side is about, since it has X_{1,+,-} again",
}


@book.claim(
    "E.5-proof/notice",
    "Weights on two samples up to Delta s",
    kind="order",
    uses=["E.4"],
    expect="untested",
    insensitive="nothing is computed",
    origin="proof",
    where="Proof of Lemma E.5, three displays after the definition of Delta s",
    source="damaged",
    parts=tuple(NOTICED),
    hypotheses=STAGE_2,
    statement=r"p_{q\leftarrow v_1,k\leftarrow v_1}(X_{1,+,-})-p_{?}(X_{2,+,-})=O(\Delta s),\quad "
    r"p_{q\leftarrow v_1,?}\,w_+^\top X_{1,+,-}p_{?}=p(X_{1,+,-})(1-p(X_{1,+,-}))/2+O(\Delta s),\quad "
    r"p_{q\leftarrow v_1,?}\,w_+^\top X_{?}\,p_{?}=p(X_{1,-,+})(1-p(X_{1,-,+}))/2+O(\Delta s)",
    reading="Indices, bars and a factor of the three displays are lost in the text at hand; the table of Lemma E.5 is checked without them.",
)
def noticed_displays(lab: Laboratory) -> dict[str, Verdict]:
    """What is lost of each display."""
    return {part: untested(f"the text at hand does not show {lost}") for part, lost in NOTICED.items()}
