"""Stages 2 and 3 of both regimes along drawn trajectories: Lemmas 5.3 and 5.4, propositions B to Q and Claims 1 to 16."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import log

import numpy as np
import sympy as sp

from odesys import Draw, Verdict, decided, with_high_probability

from ..laboratory import Laboratory
from ..special.conditions import Inside
from ..special.wide_flow import Snapshot
from .book import book
from .common_drawn import (
    DRAWN,
    ROUNDING,
    Stages,
    all_of,
    dominates,
    each,
    gap_growth,
    half_log,
    implied,
    monotone,
    moved,
    norms_keep,
    sizes,
    stages,
    stages_of,
    twice,
)
from .common_hypotheses import CLASSES, CONDITION_4_1, GOOD, STAGES_BENIGN, STAGES_HARMFUL, WIDE, base
from .common_mean_runs import together
from .common_reasons import reasoned
from .part_f_lower_order import left_out_at_most


def gap_constant(M: int) -> Fraction:
    """C_8, from the proof: (38)-(44) with C_3 = 1/(10M), -l' >= 19/40, attention >= 17/(20M), norms and |xi|^2 >= half.

    A gap grows by the rise of the signal's score and the fall of the noise score, of which the smaller has norms 1/4 + 1/4
    and f - v_j >= phi_1 V_+/3 (corrected F.4) between two noise tokens; the sum over steps halves it.
    """
    near = Fraction(19, 40) * Fraction(17, 20) ** 2
    return near * Fraction(1, 10) * Fraction(1, 2) * Fraction(1, 3) * Fraction(1, 2) / M**4


def gap_constant_harmful(M: int) -> Fraction:
    """C_7, in the same way: C_3 = C_p^2/(4M), |k_n,2|^2 with C_p^2, -l' >= 2/5, and by L(t) a gap has half of the rise."""
    near = Fraction(2, 5) * Fraction(17, 20) ** 2 * (1 - Fraction(1, 3 * M))
    return near * Fraction((25 * M) ** 2, 4) * Fraction(1, 2) * Fraction(1, 2) * Fraction(1, 2) / M**4


#: C_17 is that of Eq.77-85: a quarter of the samples, attention of at least 2/3 and C_16 = 1/2; C_18 bounds exp(o(1))
C_17, C_18 = 1 / 12, 2.0


def places(draw: Draw, benign: bool) -> tuple[Inside, ...]:
    """The book's point and two corners: M = 4 and 2, |w_O|, |mu|, d_h, N and both ends of condition (8) for sigma_h."""
    own = base(draw, benign)
    more, less = (20.0, 0.5) if benign else (2.0, 0.1)
    wide = replace(own, M=4, N=16, n_snr2=more * own.n_snr2, w_O=0.2, wider=1e3, power=1.99)
    few = replace(own, M=2, n_snr2=less * own.n_snr2, w_O=5.0, power=1.51)
    return own, wide, few


def _signed(s: Snapshot) -> np.ndarray:
    return np.asarray(s.V[:, :2] * np.array([1, -1]))


def _linear(run: Stages, s: Snapshot) -> np.ndarray:
    """The winner's value is at least C_3 times the time since T_1, in its unit."""
    least = 1 / (10 * run.case.M) if run.benign else run.case.C_p**2 / (4 * run.case.M)
    return all_of(s.values[:, :, run.winner] >= least * (s.time - run.second[0].time) / run.unit)


def _bounded(run: Stages, s: Snapshot) -> np.ndarray:
    """All values are at most their size at T_1 plus C_4 times the time since."""
    most = max(0.75, 2 * run.case.m_2 / (run.case.N * run.case.m_s)) if run.benign else 2 * run.case.C_p**2
    start = np.abs(run.second[0].V).max(axis=1)[:, None]
    return all_of(np.abs(s.V) <= start + most * (s.time - run.second[0].time) / run.unit)


def _values(run: Stages, s: Snapshot) -> np.ndarray:
    """Proposition B or J."""
    return _linear(run, s) & dominates(run, s) & _bounded(run, s)


def _growth(run: Stages, s: Snapshot) -> np.ndarray:
    """All gaps have grown since T_1 as the constant of the proof says."""
    M = run.case.M
    return gap_growth(run, s, float(gap_constant(M) if run.benign else gap_constant_harmful(M)))


def _signs(run: Stages, s: Snapshot) -> np.ndarray:
    """Signs of the increments in proposition D or H, or their comparison in L or P."""
    return monotone(run, s) if run.benign else twice(run, s)


def second_stage(run: Stages) -> dict[str, np.ndarray]:
    """The four propositions of stage 2 at every record: (records, seeds)."""
    names = "BCDE" if run.benign else "JKLM"
    tests = (
        lambda s: _values(run, s),
        lambda s: norms_keep(run, s),
        lambda s: _signs(run, s) & _growth(run, s),
        lambda s: sizes(run, s, half_log(run)),
    )
    return {name: each(run.second, test) for name, test in zip(names, tests, strict=True)}


def claims_of(found: dict[str, np.ndarray], first: int) -> dict[str, np.ndarray]:
    """The claims: (moves) => values, (values, norms, moves) => moves, (values, moves, sizes) => norms, (...) => sizes."""
    v, n, m, s = found.values()
    return {
        f"Claim {first}": implied([m], v, strict=(0,)),
        f"Claim {first + 1}": implied([v, n, m], m, strict=(2,)),
        f"Claim {first + 2}": implied([v, m, s], n, strict=(1,)),
        f"Claim {first + 3}": implied([v, n, m], s, strict=(2,)),
    }


FIRST_CLAIM = {"BCDE": 1, "FGHI": 5, "JKLM": 9, "NOPQ": 13}


def _always(seen: np.ndarray) -> np.ndarray:
    """At every record."""
    return np.asarray(seen.all(axis=0))


@lru_cache(maxsize=32)
def judged(place: Inside, seeds: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Every proposition and claim of both stages, and the bounds of Lemmas 5.3 and 5.4: of each seed, whether it was seen."""
    run = stages(place, seeds) if place.M == GOOD.M else stages_of(place, seeds)  # others read the book's point too
    out: dict[str, np.ndarray] = {}
    for found in (second_stage(run), third_stage(run)):
        out |= {f"{name}(t)": _always(seen) for name, seen in found.items()}
        out |= claims_of(found, FIRST_CLAIM["".join(found)])
    later = _always(each([s for s in run.third if s.time <= run.unit], lambda s: _growth(run, s)))
    out["D(t)" if run.benign else "L(t)"] &= later  # gaps up to the T_2 of stage 3, without the logarithm
    for part, test in (("values", _linear), ("dominance", dominates), ("attention gaps", _growth)):
        out[part] = _always(each(run.second, lambda s, t=test: t(run, s)))  # type: ignore[misc]
    out["attention gaps"] &= later
    out["V_+ and V_-"] = _always(each(run.third, lambda s: _grown(run, s) | _below_eps(run, s)))
    return out


def at_all_places(lab: Laboratory, benign: bool, name: str) -> Verdict:
    """An event has high probability at the book's point and at both corners."""

    def at(place: Inside) -> Verdict:
        return with_high_probability(
            f"{name} holds at every record", place.point, lambda seeds: list(judged(place, seeds)[name]), lab.draw
        )

    return together(at(place) for place in places(lab.draw, benign))


def start_is_small() -> Verdict:
    """What stands for o(1), twice the bound of C.3, is at most 4 C_p^2/L by condition (8), and L goes to infinity."""
    long, root, C_p, L = sp.symbols("long root C_p L", positive=True)  # long: max{mu^2, sigma_p^2 d}; root: d_h^(1/2)
    bound = 4 * C_p**2 * long * root * sp.sqrt(L) * (L ** sp.Rational(-3, 2) / (long * root))
    return decided(sp.cancel(bound - 4 * C_p**2 / L) == 0, {"bound": str(bound)}).proving(
        "twice the bound of C.3 is at most 4 C_p^2/log(6N^2M^2/delta) at the upper end of (8), which goes to zero"
    )


#: of each stage, the propositions that say o(1) of inner products
SMALL = frozenset("CEGIKMOQ")


def _propositions(lab: Laboratory, benign: bool, names: str) -> dict[str, Verdict]:
    out = {}
    for part in _parts(names):
        seen = at_all_places(lab, benign, part)
        out[part] = seen & start_is_small() if part[0] in SMALL and part.endswith("(t)") else seen
    return out


def _parts(names: str) -> tuple[str, ...]:
    return (*(f"{n}(t)" for n in names), *(f"Claim {FIRST_CLAIM[names] + k}" for k in range(4)))


@book.claim(
    "5.3",
    "Stage 2: values linear, attention gaps quadratic",
    kind="probability",
    uses=["5.2", "D.6", "Eq.38-N", "Prop.B-E"],
    insensitive=DRAWN,
    where="Lemma 5.3",
    parts=("values", "dominance", "attention gaps"),
    hypotheses=STAGES_BENIGN,
    statement=r"T_1=\Theta(\eta^{-1}d_h^{-1/4}\|\mu\|_2^{-2}\|w_O\|_2^{-2}),\ T_2=\tilde O(\eta^{-1}\|\mu\|_2^{-2}\|w_O\|_2^{-2}):\quad \mu_+^\top W_V^{(t)}w_O\ge\eta C\|\mu\|_2^2\|w_O\|_2^2(t-T_1),\ \mu_+^\top W_V^{(t)}w_O\ge3M|\xi_{n,i}^\top W_V^{(T)}w_O|,\ \mu_-^\top W_V^{(t)}w_O\le-\eta C\|\mu\|_2^2\|w_O\|_2^2(t-T_1),\ \mu_-^\top W_V^{(t)}w_O\le-3M|\xi_{n,i}^\top W_V^{(T)}w_O|,\ \langle q_\pm,k_\pm\rangle-\langle q_\pm,k_{n,j}\rangle\ge\log\Big(e^{\ldots^{(T_1)}}+\tfrac{\eta^2C\|\mu\|_2^4\|w_O\|_2^2d_h^{1/2}}{N(\log(6N^2M^2/\delta))^2}(t-T_1)(t-T_1-1)\Big),\ \langle q_{n,i},k_\pm\rangle-\langle q_{n,i},k_{n,j}\rangle\ge\ldots,\quad t\in[T_1,T_2]",
    reading="T is read as t; constants of the proof, 1/(10M) for values and 1/(350M^4) for gaps; M = 2, 3, 4, all rows, T_1 of D.5, T_2 with constant 1.",
)
def stage_two_growth(lab: Laboratory) -> dict[str, Verdict]:
    """Three events from T_1 to T_2."""
    parts = ("values", "dominance", "attention gaps")
    return reasoned("5.3", {part: at_all_places(lab, True, part) for part in parts})


@book.claim(
    "Prop.B-E",
    "Stage 2 induction (claims 1-4)",
    kind="probability",
    uses=["5.2", "D.6", "Eq.31-37", "Eq.46-54", "Eq.55-59"],
    insensitive=DRAWN,
    origin="proof",
    where="Appendix D.2, propositions B, C, D, E and Claims 1 to 4",
    parts=_parts("BCDE"),
    hypotheses=STAGES_BENIGN,
    statement=r"\mathcal B:\ V_+\ge\eta C_3\|\mu\|_2^2\|w_O\|_2^2(t-T_1),\ V_+\ge3M|V_{n,i}|,\ |V|\le O(d_h^{-1/4})+\eta C_4\|\mu\|_2^2\|w_O\|_2^2(t-T_1);\ \mathcal C:\ \|q_\pm\|_2^2,\|k_\pm\|_2^2=\Theta(\|\mu\|_2^2\sigma_h^2d_h),\ldots,\ |\langle q,q'\rangle|,|\langle k,k'\rangle|=o(1);\ \mathcal D:\ \text{signal scores rise, noise scores fall},\ \Lambda\ge\log(\ldots);\ \mathcal E:\ |\langle q,k\rangle|\le\log d_h^{1/2},\ |\langle q_\pm,k_\mp\rangle|,|\langle q_{n,i},k_{\bar n,j}\rangle|=o(1)",
    reading="Constants of the proofs; o(1) is twice the bound of C.3. Claims are about iterates, where all premises hold; at one state alone they do not give Claim 2 (Beyond.states).",
)
def stage_two_induction(lab: Laboratory) -> dict[str, Verdict]:
    """All propositions and implications along the trajectories."""
    return reasoned("Prop.B-E", _propositions(lab, True, "BCDE"))


@book.claim(
    "Prop.J-M",
    "Stage 2 of the harmful regime (claims 9-12)",
    kind="probability",
    uses=["E.3", "E.4", "Eq.152-157", "Eq.158"],
    insensitive=DRAWN,
    origin="proof",
    where="Appendix E.2, propositions J, K, L, M and Claims 9 to 12",
    parts=_parts("JKLM"),
    hypotheses=STAGES_HARMFUL,
    statement=r"\mathcal J:\ y_nV_{n,2}\ge\eta C_3\sigma_p^2d\|w_O\|_2^2(t-T_1)/N,\ y_nV_{n,2}\ge3M\max\{|V_\pm|,|V_{n,i}|\},\ldots;\ \mathcal K:\ \text{norms keep their order};\ \mathcal L:\ \Delta\langle q,k_{n,2}\rangle\ge2\Delta\langle q,k\rangle\ \text{for all other keys},\ \Psi\ge\log(e^{\Psi^{(T_1)}}+\ldots(t-T_1)(t-T_1+1));\ \mathcal M:\ |\Psi|\le\log d_h^{1/2},\ |\langle q,k\rangle|\le2\log d_h^{1/2},\ldots",
    reading="As Prop.B-E with the first noise token, dominance against values at t; twice the bound of C.3 is 1.1 here, below 1/10 only from a logarithm of 600 on.",
)
def stage_two_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """All propositions and implications along the trajectories."""
    return reasoned("Prop.J-M", _propositions(lab, False, "JKLM"))


# ---- stage 3 ---------------------------------------------------------------------------------------------------------


def _below_eps(run: Stages, s: Snapshot) -> np.ndarray:
    """Seeds that are past the training loss eps: there stage 3 is over."""
    return np.asarray(s.loss < run.inside.eps)


def _logarithmic(run: Stages, s: Snapshot) -> np.ndarray:
    """log(e^V(T_2) + C_17 (t - T_2)) <= V <= 2 log(e^(V(T_2)/2) + 3 C_18/8 (t - T_2)), time in its unit."""
    first, tau = run.third[0].values[:, :, run.winner], (s.time - run.third[0].time) / run.unit
    v = s.values[:, :, run.winner]
    speed = 1.0 if run.benign else run.case.C_p**2
    low = np.log(np.exp(first) + C_17 * tau)
    high = 2 * np.log(np.exp(first / 2) + 3 * C_18 / 8 * speed * tau)
    return all_of((v >= low - ROUNDING) & (v <= high + ROUNDING))


def _small_values(run: Stages, s: Snapshot) -> np.ndarray:
    """All values but the winner's are o(1): at most twice what Lemmas D.6 and E.4 leave at T_2, which is of order 1/L.

    Stage 3 adds less, since the attention of these tokens is below d_h^(-1/2) times powers of the logarithm.
    """
    case, x = run.case, run.inside.n_snr2
    share = 2 * case.C_p**2 / x if run.benign else max(0.75 * x, 2.0)
    most = 2 * (case.d_h**-0.25 + share / run.inside.widths[2])
    return all_of(np.abs(np.delete(s.values, run.winner, axis=2)) <= most)


def _grown(run: Stages, s: Snapshot) -> np.ndarray:
    """Lemma 5.4: the values of both signals."""
    first = run.third[0]
    return all_of(_signed(s) >= np.log(np.exp(_signed(first)) + C_17 * (s.time - first.time) / run.unit) - ROUNDING)


def third_stage(run: Stages) -> dict[str, np.ndarray]:
    """The four propositions of stage 3, at every record until the loss is eps."""
    names = "FGHI" if run.benign else "NOPQ"
    over = each(run.third, lambda s: _below_eps(run, s))
    most = half_log(run) + log(1 / run.inside.eps)
    tests = (
        lambda s: dominates(run, s) & _small_values(run, s) & _logarithmic(run, s),
        lambda s: norms_keep(run, s),
        lambda s: _signs(run, s),
        lambda s: sizes(run, s, most),
    )
    return {name: each(run.third, test) | over for name, test in zip(names, tests, strict=True)}


@book.claim(
    "5.4",
    "Stage 3: logarithmic growth of V",
    kind="probability",
    uses=["5.3", "Prop.F-I", "Eq.77-85"],
    insensitive=DRAWN,
    where="Lemma 5.4",
    parts=("V_+ and V_-",),
    hypotheses=STAGES_BENIGN,
    statement=r"T_3=\Theta(\eta^{-1}\epsilon^{-1}\|\mu\|_2^{-2}\|w_O\|_2^{-2}(\log(6N^2M^2/\delta))^{-1}):\quad \mu_+^\top W_V^{(t)}w_O\ge\log\big(\exp(\mu_+^\top W_V^{(T_2)}w_O)+\eta C\|\mu\|_2^2\|w_O\|_2^2(t-T_2)\big),\quad \mu_-^\top W_V^{(t)}w_O\le-\log(\ldots),\quad t\in[T_2,T_3]",
    reading="C = 1/12 of Eq.77-85, up to the training loss epsilon, which is later than the printed T_3 with its factor one over the logarithm.",
)
def stage_three_growth(lab: Laboratory) -> Verdict:
    """The lower bound for both signals."""
    return reasoned("5.4", at_all_places(lab, True, "V_+ and V_-"))


@book.claim(
    "Prop.F-I",
    "Stage 3 induction (claims 5-8)",
    kind="probability",
    uses=["Prop.B-E", "D.3-start", "Eq.62-T2", "Eq.73-76", "F.4-signs", "Eq.62-71", "Eq.93-101", "Eq.102-105"],
    insensitive=DRAWN,
    origin="proof",
    where="Appendix D.3, propositions F, G, H, I and Claims 5 to 8",
    parts=_parts("FGHI"),
    hypotheses=STAGES_BENIGN,
    statement=r"\mathcal F:\ V_+\ge3M|V_{n,i}|,\ |V_{n,i}|=o(1),\ \log(e^{V_+^{(T_2)}}+\eta C_{17}\|\mu\|_2^2\|w_O\|_2^2(t-T_2))\le V_+\le2\log O(\tfrac1\epsilon);\ \mathcal G:\ \text{norms keep their order, other products}\ o(1);\ \mathcal H:\ \text{signal scores rise, noise scores fall};\ \mathcal I:\ |\langle q,k\rangle|\le\log(\epsilon^{-1}d_h^{1/2}),\ |\langle q_\pm,k_\mp\rangle|,|\langle q_{n,i},k_{\bar n,j}\rangle|=o(1)",
    reading="From T_2 to the training loss epsilon; C_17 = 1/12, C_18 = 2; o(1) of values is twice the bound of D.6; products and Claim 6 as in Prop.B-E.",
)
def stage_three_induction(lab: Laboratory) -> dict[str, Verdict]:
    """All propositions and implications along the trajectories."""
    return reasoned("Prop.F-I", _propositions(lab, True, "FGHI"))


@book.claim(
    "Prop.N-Q",
    "Stage 3 of the harmful regime (claims 13-16)",
    kind="probability",
    uses=["Prop.J-M", "D.3-start", "Eq.165-T2"],
    insensitive=DRAWN,
    origin="proof",
    where="Appendix E.3, propositions N, O, P, Q and Claims 13 to 16",
    parts=_parts("NOPQ"),
    hypotheses=STAGES_HARMFUL,
    statement=r"\mathcal N:\ \log(e^{V_{n,2}^{(T_2)}}+\eta C_{17}\sigma_p^2d\|w_O\|_2^2(t-T_2)/N)\le y_nV_{n,2}\le2\log O(\tfrac1\epsilon),\ |V_\pm|,|V_{n,i}|=o(1),\ldots;\ \mathcal O:\ \text{norms keep their order};\ \mathcal P:\ \Delta\langle q,k_{n,2}\rangle\ge2\Delta\langle q,k\rangle\ \text{for all other keys},\ \Delta\Psi\ge0;\ \mathcal Q:\ |\Psi|\le\log(\epsilon^{-1}d_h^{1/2}),\ |\langle q,k\rangle|\le2\log(\epsilon^{-1}d_h^{1/2}),\ldots",
    reading="As Prop.F-I with the first noise token, in units of sigma_p^2 d below and C_p^2 sigma_p^2 d above; o(1) as in Prop.J-M.",
)
def stage_three_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """All propositions and implications along the trajectories."""
    return reasoned("Prop.N-Q", _propositions(lab, False, "NOPQ"))


# ---- off the trajectories --------------------------------------------------------------------------------------------


def _allowed(run: Stages, s: Snapshot) -> np.ndarray:
    """What propositions of stage 2 say about one state: values, norms, gaps and sizes."""
    return _values(run, s) & norms_keep(run, s) & _growth(run, s) & sizes(run, s, half_log(run))


def _elsewhere(run: Stages) -> dict[str, np.ndarray]:
    """Of each seed: signs stay at every allowed state near the trajectory, and are lost at an allowed one far from it.

    Near is a factor of 1/(2r) in the quotient of two attentions, r the bound of F.12 for what is left out (a quarter of
    log d_h^(1/2) in the harmful regime, where gaps are at most that); far is a factor of d_h^(1/2).
    """
    wide = log(1 / (2 * left_out_at_most(run))) if run.benign else half_log(run) / 4
    near = [moved(run, s, k, wide) for k, s in enumerate(run.second)]
    allowed = np.array([_allowed(run, s) for s in near])
    kept = np.array([_signs(run, s) for s in near])
    far = [moved(run, s, k, half_log(run)) for k, s in enumerate(run.second)]
    lost = [_allowed(run, s) & ~_signs(run, s) for s in far]
    return {"near": (kept | ~allowed).all(axis=0) & allowed.any(axis=0), "far": np.any(lost, axis=0)}


@book.claim(
    "Beyond.states",
    "Claims 2 and 10 away from the trajectory",
    kind="probability",
    uses=["Prop.B-E", "Prop.J-M", "F.12"],
    insensitive=DRAWN,
    origin="ours",
    hypotheses=(*CONDITION_4_1, WIDE, CLASSES),
    statement=r"\mathcal B,\ \mathcal C,\ \mathcal E\ \text{and the bounds of the gaps at one state alone do not give the signs of}\ \mathcal D;\ \text{where attentions of a trajectory change by at most}\ \tfrac{d_h^{1/2}}{4N\,\mathrm{SNR}\,(\log(6N^2M^2/\delta))^{1/2}}\ \text{they do}",
    reading="Noise values drawn up to 1/(3M) of the winner's, gaps widened at random; what is lower order (F.12) depends on quotients of attentions of different samples.",
)
def states_elsewhere(lab: Laboratory) -> Verdict:
    """Claims 2 and 10 are about iterates, where these quotients are bounded."""
    events = ((True, "near", "all signs stay"), (False, "near", "all signs stay"), (True, "far", "signs are lost"))

    def seen(benign: bool, name: str, what: str) -> Verdict:
        place = base(lab.draw, benign)
        trial = lambda seeds: list(_elsewhere(stages(place, seeds))[name])  # noqa: E731
        return with_high_probability(f"{what} at states {name} the trajectory", place.point, trial, lab.draw)

    return together(seen(*event) for event in events)
