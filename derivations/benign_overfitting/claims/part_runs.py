"""What is checked along gradient descent on a training set, by the derived recursion (Lemmas D.4 and E.2, propositions B-E, F.12)."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from odesys import IntegrationError, Verdict, measured, rounded

from ..laboratory import Laboratory
from ..special import span_network
from ..special.descents import Record
from .book import book

RUNS = "N = 6, M = 3, C_p = 4, d = 200,000, d_h = 100,000, mu = 36 (benign) or 2.5 (harmful), by the derived recursion"


def _order_kept(run: Record, stop: int) -> dict[str, float]:
    """Norms over kappa m, and off-diagonal inner products over the bound of C.3 (delta = 1/10), up to a record."""
    case = run.case
    length = np.sqrt([case.m_s] * 2 + [case.m_2] * (case.N * (case.M - 1)))
    bound = 2 * np.outer(length, length) * case.sigma_h**2 * sqrt(case.d_h * log(60 * case.N**2 * case.M**2))
    start = case.kappa * np.diag(run.made.gram)
    out: dict[str, float] = {}
    for x in "QK":
        table = run[x][: stop + 1]
        ratio = np.diagonal(table, axis1=1, axis2=2) / start
        off = np.abs(table) / bound * (1 - np.eye(case.P))
        out |= {
            f"least norm {x}": float(ratio.min()),
            f"largest norm {x}": float(ratio.max()),
            f"off {x}": float(off.max()),
        }
    return out | {"scores": float((np.abs(run["S"][: stop + 1]) / bound).max())}


def _balance(run: Record, stop: int) -> float:
    """Change of tr G^-1 (Q - K) over that of tr G^-1 (Q + K): zero for the flow, of the order of a step for descent."""
    inverse = np.linalg.inv(run.made.gram)
    q, k = (float(np.trace(inverse @ (run[x][stop] - run[x][0]))) for x in "QK")
    return abs(q - k) / abs(q + k)


def _uniform(run: Record, stop: int) -> tuple[float, float]:
    """Largest deviation of values and of gains of scores from stage 1 in closed form, relative to the largest of them.

    With uniform attention and -l' = 1/2, v_b = c_b tau with c_s = mu^2 w2/(4M), c_b = m_b w2/(2NM), and
    S_ab gains kappa m_a m_b n_ab (c_b - mean c) / (N M^2) times the sum eta^2 t (t - 1) / 2 of tau over t steps.
    """
    case, tau = run.case, run.steps[stop] * run.eta
    m = np.array([case.m_s, case.m_2] + [case.m_w] * (case.M - 2))
    rate = m * case.w2 / (2 * case.N * case.M) * np.array([case.N / 2] + [1.0] * (case.M - 1))
    shared_by = np.ones((case.M, case.M))
    shared_by[0, 0] = case.N / 2
    gain = (
        case.kappa
        * np.outer(m, m)
        * shared_by
        * (rate - rate.mean())[None, :]
        * tau
        * (tau - run.eta)
        / (2 * case.N * case.M**2)
    )
    values, scores = run.values[stop], run.scores[stop] - run.scores[0]
    by_class = [values[run.y == sign].mean(axis=0) for sign in (1, -1)]
    far = max(float(np.abs(v - rate * tau).max()) for v in by_class) / float((rate * tau).max())
    return far, float(np.abs(scores.mean(axis=0) - gain).max() / np.abs(gain).max())


def _magnitude(lab: Laboratory, name: str) -> Verdict:
    """Up to the time where values are of order d_h^(-1/4), the end of T_0."""
    run = lab.descent(name)
    small = np.flatnonzero(np.abs(run["V"]).max(axis=1) <= 2 * run.case.d_h**-0.25)
    if small.size < 2:
        raise IntegrationError("the values are large before the first record, so this run has no stage 1", time=0.0)
    stop = int(small[-1])
    seen = _order_kept(run, stop)
    seen["values"], seen["gains of scores"] = _uniform(run, stop)
    seen["tr G^-1 (Q - K)"] = _balance(run, stop)
    ok = (
        min(v for k, v in seen.items() if k.startswith("least")) > 0.9
        and max(v for k, v in seen.items() if k.startswith("largest")) < 1.1
    )
    ok = ok and max(v for k, v in seen.items() if k.startswith(("off", "scores"))) < 1
    ok = ok and seen["values"] < 0.05 and seen["gains of scores"] < 0.1 and seen["tr G^-1 (Q - K)"] < 0.1
    return measured(bool(ok), rounded(seen), steps=int(run.steps[stop]), **rounded(seen))


@book.claim(
    "D.4",
    "Inner products keep their magnitude in stage 1",
    kind="order",
    uses=["D.3", "C.3", "B.3"],
    statement=r"t\le T_0:\ \text{scores and off-diagonals }O(\max\{\mu^2,\sigma_p^2d\}\sigma_h^2\sqrt{d_h\mathcal L}),\ \|q\|^2,\|k\|^2=\Theta(\cdot)",
    reading="while max|V| <= 2 d_h^{-1/4} = 0.11: norms within 10 percent of kappa times the squared length, all other inner products below the start bound of C.3 (with sigma~_p for all noise); what does move is stage 1 in closed form: "
    "values within 5 percent and gains of scores within 10 percent of the largest, tr G^-1 (Q - K) kept to a tenth of what tr G^-1 (Q + K) moves; "
    + RUNS,
)
def magnitude(lab: Laboratory) -> Verdict:
    """Along the benign run."""
    return _magnitude(lab, "benign")


@book.claim(
    "E.2",
    "Inner products keep their magnitude in stage 1 (harmful)",
    kind="order",
    uses=["E.1", "C.3", "B.3"],
    statement=r"\text{as D.4 for }t\le T_0=O(N/(\eta d_h^{1/4}\sigma_p^2d\|w_O\|^2))",
    reading="as D.4, along the harmful run; " + RUNS,
)
def magnitude_harmful(lab: Laboratory) -> Verdict:
    """Along the harmful run."""
    return _magnitude(lab, "harmful")


def _wrong_signs(run: Record, first: int, winner: int) -> dict[str, float]:
    """Fraction of increments after `first` with the wrong sign, by kind of score."""
    change = np.diff(run.scores[first:], axis=0)
    parts = {"signal row, winner": change[:, :, 0, winner], "noise rows, winner": change[:, :, 1:, winner]}
    others = [k for k in range(run.case.M) if k != winner]
    parts |= {
        "signal row, others": -change[:, :, 0][:, :, others],
        "noise rows, others": -change[:, :, 1:][:, :, :, others],
    }
    return {name: float((x < 0).mean()) for name, x in parts.items()}


@book.claim(
    "Prop.B-E",
    "Stage 2 induction (claims 1-4)",
    kind="order",
    uses=["5.2", "D.6", "Eq.31-37"],
    statement=r"B:\ V_+\ge\eta C\mu^2\|w_O\|^2(t-T_1),\ V_+\ge3M|V_{n,i}|;\ C:\ \text{norms keep order};\ D:\ \text{monotone scores};\ E:\ \text{scores}\le\log d_h^{1/2},\ \text{cross-sample scores }o(1)",
    reading="one run by the derived recursion from T_1 to the value 1/4 at widths where all parts can be literal: N = 6, M = 3, C_p = 4, mu = 36, kappa mu^2 = 1e6, d_h = 1e14, d = 1e16 (at d_h = 400 part D fails: Prop.D-width). B: dominance at every "
    "record; V_+ over mu^2 w2 eta t grows at 1/(4M) within 10 percent at T_1, uniform attention, and at sigma(-V_+)/2 within 3 percent at the end, when every row has attention 0.9 on the signal; the first noise value grows too. C: norms "
    "within 25 percent of kappa times the squared length, tr G^-1 (Q - K) kept to a tenth of what the sum moves. D: not one increment of the four families of scores has the wrong sign. E: scores at most log d_h^{1/2}, scores between samples at most 0.1; "
    "the signal's gap at the end is between 1 and 1.3 times (M - 1)/M kappa mu^2 V_+^2 / w2, which leaves out that losing scores fall (range chosen after seeing 1.18 to 1.28)",
)
def stage_two_induction(lab: Laboratory) -> Verdict:
    """All parts along the saturating run."""
    run = lab.descent("saturating")
    first, case, M = run.exit(0), run.case, run.case.M
    v = run.values[first:]
    speed = np.diff(v[:, :, 0], axis=0) / np.diff(run.steps[first:])[:, None] / (run.eta * case.m_s * case.w2)
    norms = np.concatenate(
        [np.diagonal(run[x], axis1=1, axis2=2) / (case.kappa * np.diag(run.made.gram)) for x in "QK"]
    )
    home = np.repeat(np.arange(case.N), M - 1)
    cross = np.abs(run["S"][:, 2:, 2:])[:, home[:, None] != home[None, :]]
    wrong = _wrong_signs(run, first, 0)
    late = speed[-1] * 2 * (1 + np.exp((v[-1, :, 0] + v[-2, :, 0]) / 2))
    law = (M - 1) / M * case.kappa * case.m_s * v[-1, :, 0] ** 2 / case.w2
    gap = np.exp(run.scores[-1, :, 0, 0] - run.scores[-1, :, 0, 1]) / law
    seen: dict[str, Any] = {
        "dominance": float((v[:, :, 0] / (3 * M * np.abs(v[:, :, 1:]).max(axis=2))).min()),
        "4M speed at T_1": [float(4 * M * speed[0].min()), float(4 * M * speed[0].max())],
        "speed at the end over sigma(-V_+)/2": [float(late.min()), float(late.max())],
        "least gain of the first noise value": float(np.diff(v[:, :, 1], axis=0).min()),
        "least attention on the signal at the end": float(run.attention[-1, :, :, 0].min()),
        "norms": [float(norms.min()), float(norms.max())],
        "tr G^-1 (Q - K)": _balance(run, len(run.steps) - 1),
        "wrong signs": wrong,
        "scores / log d_h^(1/2)": float(np.abs(run.scores).max() / log(sqrt(case.d_h))),
        "cross-sample": float(cross.max()),
        "gap over closed form": [float(gap.min()), float(gap.max())],
    }
    near = 4 * M * speed[0].min() > 0.9 and 4 * M * speed[0].max() < 1.1 and late.min() > 0.97 and late.max() < 1.03
    ok = (
        seen["dominance"] >= 1
        and near
        and seen["least gain of the first noise value"] > 0
        and seen["least attention on the signal at the end"] >= 0.9
    )
    ok = ok and norms.min() > 0.75 and norms.max() < 1.25 and seen["tr G^-1 (Q - K)"] < 0.1 and not any(wrong.values())
    ok = ok and seen["scores / log d_h^(1/2)"] <= 1 and cross.max() <= 0.1 and gap.min() > 1 and gap.max() < 1.3
    shown = {k: str(rounded(x)) for k, x in seen.items()}
    return measured(bool(ok), **shown).with_constants(C=rounded(float(speed.min())))


@book.claim(
    "F.4-signs",
    "Sign table",
    kind="inequality",
    uses=["F.4", "Sec.5.2-signs"],
    statement=r"\alpha_{\pm,\pm},\beta_{\pm,\pm},\alpha_{n,i,\pm},\beta_{n,\pm,i}\ge0,\quad \alpha_{n,\pm,i},\alpha_{n,i,n,j},\beta_{n,i,\pm},\beta_{n,j,n,i}\le0",
    reading="own class and own sample, for the class + (signs of V turn for -), at every record after T_1 of the benign run; and the size of the first: alpha_{+,+} over eta mu^2 / (N M) sum_{S_+} (-l') V_+ phi_11 (1 - phi_11), with the "
    "softmax of the recorded scores, is between 1 - 1/(3M) and 1 + 1/(3M), as V_+ >= 3M |V_{n,i}| implies; " + RUNS,
)
def sign_table(lab: Laboratory) -> Verdict:
    """Signs of alpha and beta after the exit, and the size of alpha_{+,+}."""
    run = lab.descent("benign")
    first = run.exit(0)
    a, b, p, case = run["alpha"][first:], run["beta"][first:], run.made.places, run.case
    found: dict[str, float] = {}
    for n in range(case.N):
        s, noise = p[n, 0], p[n, 1:]
        parts = {
            "alpha ++": a[:, s, s],
            "beta ++": b[:, s, s],
            "alpha ni+": a[:, noise, s],
            "beta n+i": b[:, s, noise],
            "alpha n+i": -a[:, s, noise],
            "alpha ninj": -a[:, noise[:, None], noise[None, :]],
            "beta ni+": -b[:, noise, s],
            "beta njni": -b[:, noise[:, None], noise[None, :]],
        }
        for name, x in parts.items():
            found[name] = min(found.get(name, np.inf), float(x.min()) / float(np.abs(x).max()))
    phi, values = run.attention[first:, run.y > 0], run.values[first:, run.y > 0]
    slope = 1 / (1 + np.exp((phi * values[:, :, None, :]).sum(axis=3).mean(axis=2)))
    size = (
        run.eta
        * case.m_s
        / (case.N * case.M)
        * (slope * values[:, :, 0] * phi[:, :, 0, 0] * (1 - phi[:, :, 0, 0])).sum(axis=1)
    )
    ratio = a[:, 0, 0] / size
    third = 1 / (3 * case.M)
    ok = min(found.values()) >= 0 and 1 - third <= ratio.min() and ratio.max() <= 1 + third
    seen = {**found, "alpha_++ over its size": [float(ratio.min()), float(ratio.max())]}
    return measured(bool(ok), rounded(seen), least_over_largest=rounded(seen))


@book.claim(
    "F.12",
    "Lower-order terms",
    kind="order",
    uses=["B.3"],
    statement=r"\Delta\langle q_+,k_+\rangle=\alpha_{+,+}\|k_+\|^2+\beta_{+,+}\|q_+\|^2+\text{lower order}",
    reading="at every record after T_1 of the benign run: one step of S, Q, K and V is that of B.2 and B.3 with A = eta G H and B = eta G H' from the hand-written softmax, to 1e-9 of the largest entry; what the two terms leave out of "
    "the step of <q_+, k_+>, relative to it, is at most N SNR / sqrt(d_h) (off-diagonal inner products); " + RUNS,
)
def lower_order(lab: Laboratory) -> Verdict:
    """Truncated against full increments, and both against hand-written gradients."""
    run = lab.descent("benign")
    first = run.exit(0)
    size = run.case.N * run.case.snr / sqrt(run.case.d_h)
    left, worst = list[float](), 0.0
    for k in range(first, len(run.steps)):
        S, Q, K, V = (run[x][k] for x in "SQKV")
        force = span_network.forces(S, V, run.made.places, run.y)
        A, B = run.eta * run.made.gram @ force.H, run.eta * run.made.gram @ force.H.T
        step = {
            "S": A @ K + Q @ B.T + A @ S.T @ B.T,
            "Q": A @ S.T + S @ A.T + A @ K @ A.T,
            "K": B @ S + S.T @ B.T + B @ Q @ B.T,
            "V": run.eta * run.case.w2 * run.made.gram @ force.h,
        }
        for name, right in step.items():
            worst = max(worst, float(np.abs(run[name + "+"][k] - run[name][k] - right).max() / np.abs(right).max()))
        cut = A[0, 0] * K[0, 0] + B[0, 0] * Q[0, 0]
        left.append(float(abs(step["S"][0, 0] - cut) / abs(step["S"][0, 0])))
    seen = {"deviation of a step": worst, "left out": [min(left), max(left)], "N SNR / sqrt(d_h)": size}
    return measured(worst < 1e-9 and max(left) <= size, **rounded(seen))
