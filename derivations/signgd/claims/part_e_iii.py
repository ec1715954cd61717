"""Appendix E, stage III, along the path: values of all samples, the vote on the signals, softmax still at 1/2."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from odesys import Verdict, Witness, always_positive, between, everywhere, identity, refuted, sym

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import NUMBERS, book
from .common_checks import never, quiet_pairs, window
from .common_path import UNTIED, on_path


def tilde(record: Record) -> float:
    """s^(-1/2) times the logarithm that a tilde hides."""
    return log(record.case.d) / sqrt(record.case.s)


def _sizes(record: Record) -> Verdict:
    part = window(record, record.T2, 2 * record.T3)
    return between("size", record.sizes[:, part] / (record.run.times[part] * record.case.strength), 0.5, 2)


def _one_sign(record: Record) -> Verdict:
    part = window(record, record.T2, 2 * record.T3)
    quiet = quiet_pairs(record, record.T2, 2 * record.T3)
    return quiet & everywhere("one sign", record.run.q[part] * record.run.k[part] > 0)


def _sums_go_on(record: Record) -> Verdict:
    """Sums of noise over samples move by eta times the vote of T_2; deviations over t sigma_p s."""
    part = window(record, record.T2, 2 * record.T3)
    times, vote = record.run.times[part], np.sign(record.run.q[part][0]) @ record.start.l1
    law, scale = (times - times[0])[:, None] * vote, times[:, None] * record.case.strength
    sums = [x[part].sum(axis=2) for x in (record.run.q, record.run.k)]
    return between("move minus its law", np.stack([(x - x[0] - law) / scale for x in sums]), -1e-9, 1e-9)


def _voting(record: Record, high: float) -> Verdict:
    """Query signals move with the vote of the noise at T_2, key signals against it, without a turn up to `high`."""
    low = record.T2
    vote = record.vote(low)
    quiet = never("turn", record.events["q_mu"], low, high) & never("turn", record.events["k_mu"], low, high)
    return (
        quiet
        & everywhere("query signal with the vote", record.directions("q_mu", low) == vote)
        & everywhere("key signal against the vote", record.directions("k_mu", low) == -vote)
    )


def _sum_size(record: Record) -> Verdict:
    now, vote = record.run.at(record.T2), np.sign(record.run.at(3 * record.T2_prime).q) @ record.start.l1
    sums = np.stack([now.q.sum(axis=1), now.k.sum(axis=1)]) * np.sign(vote)
    return between("sum/(2 n beta_mu)", sums / (2 * record.case.n * record.start.beta_mu), 1, np.inf)


@book.claim(
    "E.11-weights",
    "Weights 1 + o(1) are enough for a vote",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.11, third step (also in E.23, E.24, E.34)",
    parts=["step"],
    hypotheses=[],
    uses=["E.8", "E.14", "E.15"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"w_i=1\pm o(1)\ \Rightarrow\ \mathrm{sgn}\sum_iw_i\epsilon_i=\mathrm{sgn}\sum_i\epsilon_i",
    reading="a vote may be won by one of n samples, so that weights have to be within 1/n of each other",
)
def weights(lab: Laboratory) -> Verdict:
    """The worst weights for a vote won by one."""
    N, S, d, x = sym("n"), sym("S"), sym("delta"), sym("x")
    law = identity({"worst": (N + S) / 2 * (1 - d) - (N - S) / 2 * (1 + d) - (S - N * d)})
    negative = always_positive(
        {"n^(1/2) - 1": (1 + x) ** 2 / (1 + x) - 1}, ("x",)
    )  # S = 1, n = (1 + x)^2, delta = n^(-1/2)
    sentence = (
        "votes (n+1)/2 to (n-1)/2 with weights 1 - n^(-1/2) for the majority and 1 + n^(-1/2) for the minority, n odd: the weighted "
        "sum is 1 - n^(1/2), negative for every n >= 3, and the vote is 1"
    )
    votes = {"weighted vote": ((N + S) / 2 * (1 - d) - (N - S) / 2 * (1 + d), "<", 0)}
    at = {N: (1 + x) ** 2, S: 1, d: 1 / (1 + x)}
    wrong = refuted(Witness(sentence, {"n": 3})).stating(votes, ("x",), at=at)
    printed = wrong if (law & negative).as_stated == "holds" else law & negative
    return printed.correcting(
        r"w_i=1\pm\delta\ \text{with}\ \delta<|\textstyle\sum_i\epsilon_i|/n",
        law,
        "the majority can be larger by one sample only",
    ).blaming("proof", "weights-of-votes")


def _at_t3(record: Record) -> Verdict:
    place = record.run.index(1.02 * record.T3) + 1
    now, theta, vote = record.run.state(place), record.run.times[place], record.vote(record.T3)
    t = theta * record.case.mu
    return between("query", now.q_mu * vote / t, 1 / 3, 4 / 3) & between("key", -now.k_mu * vote / t, 1 / 3, 4 / 3)


on_path(
    "Beyond.stage-three",
    "Stage III as runs have it",
    {
        "sums at T_2": _sum_size,
        "noise keeps its signs": _one_sign,
        "sizes of noise": _sizes,
        "sums go on": _sums_go_on,
        "votes": lambda record: _voting(record, 2 * record.T3),
        "signals at T_3": _at_t3,
    },
    where="",
    origin="ours",
    supposing=[UNTIED],
    uses=["E.5", "E.9", "E.10", "E.11", "4.4(2)"],
    statement=r"\text{Lemmas E.5 (3), E.9, E.11, Remark E.10 and Lemma 4.4 (2), on}\ [T_2,2T_3]",
    reading="all pairs and neurons, every step of the integrator; signals at 1.02 T_3 with the constants 1/3 and 4/3",
)
