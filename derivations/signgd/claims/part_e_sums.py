"""Appendix E, end of stage II: sums of query and key noise over samples by votes, from settled pairs; no runs."""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import Node, Verdict, always_positive, sym

from ..laboratory import Laboratory
from .book import NUMBERS, at_most, ball, book
from .common_hypotheses import CONDITION, at_least, large_noise, taken
from .common_orders import N, S, vanishing
from .part_c_probability import split_sums
from .part_e_settling import (
    TINY,
    as_settled,
    fine_steps,
    linear_sizes,
    root_two_high,
    root_two_low,
    two_events,
    usual_delta,
)
from .part_e_votes import ties_are_rare

enough_for_ties = at_least(
    "delta >= m_k n^(-1/2), the chance of a tied vote",
    r"\delta\ge m_kn^{-1/2}",
    lambda p: p["delta"],
    lambda p: p["m_k"] * p["n"] ** -0.5,
)


TIE = Fraction(4, 5)  # above (2/pi)^(1/2)
#: part 2 is a probability, which counts these events; 1. and 3. hold on them
on_two_events = taken(
    "for 1. and 3., the two events of Lemma E.2 beside E_prelim, of probability 1 - o(n^(-1/2)); that of 2. counts them",
    two_events.tex,
)
untied_sums = taken(
    "for 3., that no vote is tied, which has probability 1 - O(m_k n^(-1/2)) by 2. and is what the proof of 3. supposes",
    r"\text{3.: as 2.},\ |E_{s,+}|\ne|E_{s,-}|",
)


def _units() -> tuple[Node, Node, Node, Verdict]:
    """n = 1 + e, T_2' >= 2 sqrt2 beta_mu and beta_mu, in units with eta sigma_p s = 1; and bounds of sqrt2."""
    bounds = at_most(ball(root_two_low), flint.arb(2).sqrt()) & at_most(flint.arb(2).sqrt(), ball(root_two_high))
    return 1 + sym("e"), 2 * sym("beta") * root_two_low + sym("r"), sym("beta"), bounds


def _votes(lab: Laboratory) -> Verdict:
    """A vote that is not tied is at least sigma_p s / sqrt2: Lemma C.5 for the two sets of signs."""
    enough = vanishing("n^2 / s, what Lemma C.5 supposes", N**2 / S)
    return (split_sums(lab) & enough).proving("Lemma C.5 for |E_s,+| and |E_s,-|, which differ by at least 1")


def untied_neurons(lab: Laboratory) -> Verdict:
    """Some of m_k votes is tied with probability at most m_k n^(-1/2): (2/pi)^(1/2) m_k + o(1) of it by Lemma E.6."""
    tie = at_most((2 / flint.arb.pi()).sqrt(), ball(TIE), what="P(tie) n^(1/2), a vote of X")
    m_k = 1 + sym("x")
    room = always_positive({"m_k - all ties, times n^(1/2)": m_k - (m_k * TIE + TINY)}, (), ("x",))
    return (ties_are_rare(lab) & tie & room).proving(
        "of m_k votes of X some is tied with at most (2/pi)^(1/2) m_k n^(-1/2); that some pair is not decided, or some |v_i| large at the start, "
        "adds o(n^(-1/2)), on the events of Appendix C"
    )


@book.claim(
    "E.5",
    "Sums of query and key noise",
    kind="inequality",
    where="Lemma E.5",
    parts=["1. direction", "2. magnitude of the update", "3. magnitude of the sums"],
    hypotheses=[
        *CONDITION,
        fine_steps,
        large_noise,
        on_two_events,
        untied_sums,
    ],
    uses=["E.4", "E.6", "C.5", "Eq.23"],
    statement=r"1.\ \Delta\sum_iq_{si}=\Delta\sum_ik_{si}=\eta\sum_i\epsilon_{s,i}\|\xi_i\|_1\ \text{on}\ [3T_2',T_2^+];\ 2.\ \text{with probability at least}\ 1-O(m_kn^{-1/2})\ \forall s:\ \Big|\sum_i\epsilon_{s,i}\|\xi_i\|_1\Big|\ge\tfrac{\sigma_ps}{\sqrt2};\ 3.\ \varsigma_s\sum_iq_{si},\varsigma_s\sum_ik_{si}\ge2n\beta_\mu\ \text{on}\ [T_2,T_2^+]",
    reading="all neurons, on the events of Appendix C; 2.: no vote is tied, by Lemma E.6 for m_k neurons; 3. where 2. holds, as its proof has it",
)
def sums(lab: Laboratory) -> dict[str, Verdict]:
    """Moves of settled pairs, added up; Lemma C.5; and Eq. (23)."""
    votes = _votes(lab)
    return {
        "1. direction": as_settled(lab),
        "2. magnitude of the update": votes & untied_neurons(lab),
        "3. magnitude of the sums": sums_from_t2(lab),
    }


@book.claim(
    "4.3(3)",
    "Sums of noise dominate the signals",
    kind="inequality",
    main=True,
    where="Lemma 4.3 (3)",
    parts=["sums"],
    hypotheses=[*CONDITION, fine_steps, large_noise, usual_delta, enough_for_ties],
    uses=["E.5", "App.E.1-times"],
    same_as="E.5",
    statement=r"\text{with probability at least}\ 1-\delta:\ \Big|\sum_i\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle\Big|,\Big|\sum_i\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle\Big|\ge2n\beta_\mu\ \text{for all}\ s",
    reading="all neurons, on the events of Appendix C, for delta >= m_k n^(-1/2), the chance of a tied vote, where this proof ends: below it open, not refuted",
)
def sums_at_t2(lab: Laboratory) -> Verdict:
    """As Lemma E.5, (2) and (3); T_2 <= T_2^+ for the constants C_1 of App.E.1-times."""
    return untied_neurons(lab) & sums_from_t2(lab)


@book.claim(
    "E.5-requirement",
    "What T_2 exceeds",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.5, what T_2 exceeds",
    parts=["T_2 exceeds it"],
    hypotheses=[large_noise],
    uses=["C.10"],
    insensitive=NUMBERS,
    statement=r"T_2=50nT_2'\ge(12+24\sqrt2n)T_2'+2n\beta_\mu\eta^{-1}\sigma_p^{-1}s^{-1}",
    reading="for every n, with T_2' = sqrt2 beta_xi / (eta sigma_p s)",
)
def requirement(lab: Laboratory) -> Verdict:
    """With sqrt2 < 17/12."""
    n, T, beta, bounds = _units()
    least = 50 * n * T - ((12 + 24 * root_two_high * n) * T + 2 * n * beta)
    return always_positive({"gap": least}, ("beta",), ("e", "r")) & bounds


@book.claim(
    "Eq.23",
    "Sums of noise are large from T_2 on",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.5, Eq. (23)",
    parts=["(23)"],
    hypotheses=[*CONDITION, fine_steps, two_events, large_noise, taken("a positive vote", r"|E_{s,+}|-|E_{s,-}|\ge1")],
    uses=["C.10", "E.4", "C.5", "E.5-requirement"],
    statement=r"t\in[T_2,T_2^+]:\ \sum_iq_{si},\sum_ik_{si}\ge2n\beta_\mu\ (23)",
    reading="from sums of at least -24 T_2' n eta sigma_p s at 12 T_2' (E.4) that grow by eta sigma_p s / sqrt2 in each step, Eq. (22)",
)
def sums_from_t2(lab: Laboratory) -> Verdict:
    """Sizes of all pairs, the least vote, and sqrt2 times the sum at T_2 + u, minus sqrt2 2 n beta_mu."""
    (n, T, beta, bounds), u = _units(), sym("u")
    least = -24 * root_two_high * n * T + (50 * n * T + u - 12 * T) - root_two_high * 2 * n * beta
    gap = always_positive({"gap": least}, ("beta",), ("e", "r", "u")) & bounds
    found = linear_sizes(lab) & _votes(lab) & gap
    return found.with_constants(
        needed="(12 + 24 sqrt2 n) T_2' + 2 sqrt2 n beta_mu / (eta sigma_p s), which T_2 exceeds as well"
    ).proving("sizes at 12 T_2' by Remark E.4, growth by Lemma C.5 for a vote of at least 1")
