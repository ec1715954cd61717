"""What is checked along gradient descent on a training set, by the derived recursion, and on fresh samples of networks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import log, sqrt

import numpy as np

from odesys import gradient_flow, graph
from odesys.evidence import frequency_at_most, identity
from odesys.graph import ZERO, sym
from odesys.verdicts import Verdict, measured

from .. import setting, span
from ..laboratory import CASES, EPS, RATES, SEED, Laboratory, Record
from .book import book, read_off, rounded
from .part_mean_field import wide

NETWORK = "read off trained networks, which are moved by hand-written gradients"
RUNS = "N = 6, M = 3, C_p = 4, d = 4000, d_h = 1500, mu = 36 (benign) or 2.5 (harmful), by the derived recursion"
FRESH = 2000


@cache
def network(name: str, d_h: int = 0) -> span.Descent:
    """Gradient descent in the span of the tokens for one of the two training sets."""
    case = CASES[name]
    if d_h:
        case = replace(case, d_h=d_h, d=max(case.d, 2 * d_h))
    return span.descend(span.draw(case, SEED), RATES[name] / case.largest, EPS, 4000)


@cache
def fresh(name: str) -> span.TestLoss:
    """Fresh samples of such a network."""
    return span.test_loss(network(name), FRESH, SEED)


def _order_kept(run: Record, stop: int) -> dict[str, float]:
    """Norms over their start, and off-diagonal inner products over the bound of C.3 (delta = 1/10), up to a record."""
    case = run.case
    length = np.sqrt([case.m_s] * 2 + [case.m_2] * (case.N * (case.M - 1)))
    bound = 2 * np.outer(length, length) * case.sigma_h**2 * sqrt(case.d_h * log(60 * case.N**2 * case.M**2))
    out: dict[str, float] = {}
    for x in "QK":
        table = run[x][: stop + 1]
        start = np.diagonal(table[0])
        ratio = np.diagonal(table, axis1=1, axis2=2) / start
        off = np.abs(table) / bound * (1 - np.eye(case.P))
        out |= {f"least norm {x}": float(ratio.min()), f"largest norm {x}": float(ratio.max()), f"off {x}": float(off.max())}
    return out | {"scores": float((np.abs(run["S"][: stop + 1]) / bound).max())}


def _magnitude(lab: Laboratory, name: str) -> Verdict:
    """Up to the time where values are of order d_h^(-1/4), the end of T_0."""
    run = lab.descent(name)
    small = np.flatnonzero(np.abs(run["V"]).max(axis=1) <= 2 * run.case.d_h**-0.25)
    stop = int(small[-1]) if small.size else 0
    seen = _order_kept(run, stop)
    moved = float(np.abs(run["S"][stop] - run["S"][0]).max())
    ok = min(v for k, v in seen.items() if k.startswith("least")) > 0.5 and max(v for k, v in seen.items() if k.startswith("largest")) < 1.5
    ok = ok and max(v for k, v in seen.items() if k.startswith(("off", "scores"))) < 2 and moved > 0
    start = np.diagonal(run["K"][0]) / np.diagonal(run["Q"][0])
    alike = float(np.abs(np.log(start)).max())
    return measured(ok and alike < 0.5, rounded(seen), steps=int(run.steps[stop]), keys_over_queries=rounded(alike), **rounded(seen))


@book.claim("D.4", "Inner products keep their magnitude in stage 1", kind="order", uses=["D.3", "C.3", "B.3"],
            statement=r"t\le T_0:\ \text{scores and off-diagonals }O(\max\{\mu^2,\sigma_p^2d\}\sigma_h^2\sqrt{d_h\mathcal L}),\ \|q\|^2,\|k\|^2=\Theta(\cdot)",
            reading="while max|V| <= 2 d_h^{-1/4}: norms within [1/2, 3/2] of their start, keys as long as queries, all other inner products below twice the start bound of C.3 (with sigma~_p for all noise); " + RUNS)
def magnitude(lab: Laboratory) -> Verdict:
    """Along the benign run."""
    return _magnitude(lab, "benign")


@book.claim("E.2", "Inner products keep their magnitude in stage 1 (harmful)", kind="order", uses=["E.1", "C.3", "B.3"],
            statement=r"\text{as D.4 for }t\le T_0=O(N/(\eta d_h^{1/4}\sigma_p^2d\|w_O\|^2))", reading="as D.4, along the harmful run; " + RUNS)
def magnitude_harmful(lab: Laboratory) -> Verdict:
    """Along the harmful run."""
    return _magnitude(lab, "harmful")


def _monotone(run: Record, first: int, winner: int) -> dict[str, float]:
    """Fraction of increments after `first` with the wrong sign, by family of scores."""
    change = np.diff(run.scores[first:], axis=0)
    parts = {"signal row, winner": change[:, :, 0, winner], "noise rows, winner": change[:, :, 1:, winner]}
    others = [k for k in range(run.case.M) if k != winner]
    parts |= {"signal row, others": -change[:, :, 0][:, :, others], "noise rows, others": -change[:, :, 1:][:, :, :, others]}
    return {name: float((x < 0).mean()) for name, x in parts.items()}


@book.claim("Prop.B-E", "Stage 2 induction (claims 1-4)", kind="order", uses=["5.2", "D.6", "Eq.31-37"],
            statement=r"B:\ V_+\ge\eta C\mu^2\|w_O\|^2(t-T_1),\ V_+\ge3M|V_{n,i}|;\ C:\ \text{norms keep order};\ D:\ \text{monotone scores};\ E:\ \text{scores}\le\log d_h^{1/2},\ \text{cross-sample scores }o(1)",
            reading="from T_1 to training loss 0.05 of the benign run: dominance stays, V_+ >= C eta mu^2 w2 (t - T_1) while V_+ <= 1 with C >= 1/16, norms within a factor 2, signal scores never fall, of the scores of noise keys in noise rows fewer than "
                    "1 percent rise and in the signal row fewer than half (cross terms are N SNR / sqrt(d_h) = 1.3 here), cross-sample scores below 1; " + RUNS)
def stage_two_induction(lab: Laboratory) -> Verdict:
    """All parts along the benign run."""
    run = lab.descent("benign")
    first = run.exit(0)
    v, M = run.values[first:], run.case.M
    rest = np.abs(v[:, :, 1:]).max(axis=2)
    times = (run.steps[first:] - run.steps[first]) * run.eta
    linear = (v[:, :, 0].max(axis=1) <= 1) & (times > 0)
    speed = float((v[:, :, 0].min(axis=1)[linear] / (run.case.m_s * run.case.w2 * times[linear])).min()) if linear.any() else 1.0
    norms = [np.diagonal(run[x], axis1=1, axis2=2) / np.diagonal(run[x][0]) for x in "QK"]
    home = np.repeat(np.arange(run.case.N), M - 1)
    cross = np.abs(run["S"][:, 2:, 2:])[:, home[:, None] != home[None, :]]
    wrong = _monotone(run, first, 0)
    dominance, least, most = float((v[:, :, 0] / (3 * M * rest)).min()), min(x.min() for x in norms), max(x.max() for x in norms)
    seen = {"dominance": dominance, "C": speed, "norms": [least, most], "wrong signs": wrong, "cross-sample": float(cross.max())}
    ok = bool(dominance >= 1 and speed >= 1 / 16 and least > 0.5 and most < 2 and cross.max() < 1)
    ok = ok and wrong["signal row, winner"] == wrong["noise rows, winner"] == 0 and wrong["noise rows, others"] < 0.01 and wrong["signal row, others"] < 0.5
    shown = {k: str(rounded(x)) for k, x in seen.items()}
    return measured(ok, shown, **shown).with_constants(C=rounded(speed))


@book.claim("F.4-signs", "Sign table", kind="inequality", uses=["F.4", "Sec.5.2-signs"],
            statement=r"\alpha_{\pm,\pm},\beta_{\pm,\pm},\alpha_{n,i,\pm},\beta_{n,\pm,i}\ge0,\quad \alpha_{n,\pm,i},\alpha_{n,i,n,j},\beta_{n,i,\pm},\beta_{n,j,n,i}\le0",
            reading="own class and own sample, for the class + (signs of V turn for -), at every record after T_1 of the benign run; " + RUNS)
def sign_table(lab: Laboratory) -> Verdict:
    """Signs of alpha and beta after the exit."""
    run = lab.descent("benign")
    first = run.exit(0)
    a, b, p = run["alpha"][first:], run["beta"][first:], run.made.places
    found: dict[str, float] = {}
    for n in range(run.case.N):
        s, noise = p[n, 0], p[n, 1:]
        parts = {"alpha ++": a[:, s, s], "beta ++": b[:, s, s], "alpha ni+": a[:, noise, s], "beta n+i": b[:, s, noise], "alpha n+i": -a[:, s, noise],
                 "alpha ninj": -a[:, noise[:, None], noise[None, :]], "beta ni+": -b[:, noise, s], "beta njni": -b[:, noise[:, None], noise[None, :]]}
        for name, x in parts.items():
            found[name] = min(found.get(name, np.inf), float(x.min()) / float(np.abs(x).max()))
    return measured(min(found.values()) >= 0, rounded(found), least_over_largest=rounded(found))


@book.claim("F.12", "Lower-order terms", kind="order", uses=["B.3"],
            statement=r"\Delta\langle q_+,k_+\rangle=\alpha_{+,+}\|k_+\|^2+\beta_{+,+}\|q_+\|^2+\text{lower order}",
            reading="at the first record after T_1 of the benign run: what the two terms leave out of A K + Q B' + A S' B', relative to it, is below 3 N SNR / sqrt(d_h) (off-diagonal inner products) for the signal and below 1/4 in the mean; " + RUNS)
def lower_order(lab: Laboratory) -> Verdict:
    """Truncated against full increments."""
    run = lab.descent("benign")
    first = run.exit(0)
    size = run.case.N * run.case.snr / sqrt(run.case.d_h)
    left = []
    for k in range(first, len(run.steps) - 1):
        A, B, S, Q, K = (run[x][k] for x in ("alpha", "beta", "S", "Q", "K"))
        full = A @ K + Q @ B.T + A @ S.T @ B.T
        moved = (run["S"][k + 1] - run["S"][k]) / (run.steps[k + 1] - run.steps[k])
        cut = np.diag(A) * np.diag(K) + np.diag(B) * np.diag(Q)
        left.append([abs(full[0, 0] - cut[0]) / abs(full[0, 0]), np.sign(moved[0, 0]) == np.sign(full[0, 0]), abs(moved[0, 0] / full[0, 0])])
    table = np.array(left, dtype=float)
    seen = {"left out": float(table[:, 0].mean()), "first": float(table[0, 0]), "N SNR / sqrt(d_h)": size, "same sign": float(table[:, 1].mean()), "moved over full": float(np.median(table[:, 2]))}
    ok = seen["first"] < 3 * size and seen["left out"] < 0.25 and seen["same sign"] == 1 and 0.8 < seen["moved over full"] < 1.2
    return measured(ok, rounded(seen), **rounded(seen))


# ---- fresh samples of networks ---------------------------------------------------------------------------------------


@book.claim("5.5", "Margin of fresh samples", kind="probability", uses=["D.8", "D.9", "5.4"],
            statement=r"P\big(yf(X,\theta(T_3))\ge\log(C/\epsilon)/C'-1\big)\ge1-\delta/(N^2M),\quad C'=2M^2",
            reading="with C = 1: mean field at N SNR^2 = 4000 for eps = 1e-2, 1e-4 (typical margin), and 2000 fresh samples of the benign network at eps = 0.05 (failure frequency at most 1/100)")
def margin_of_fresh(lab: Laboratory) -> Verdict:
    """Typical margins and a Monte Carlo of a network."""
    margins = {eps: float(lab.mean_run(wide(4000.0), eps).final["test_margin"]) for eps in (1e-2, 1e-4)}
    room = {str(eps): m - (log(1 / eps) / 18 - 1) for eps, m in margins.items()}
    slope = (margins[1e-4] - margins[1e-2]) / log(100)
    typical = measured(min(room.values()) > 0 and slope > 1 / 18, rounded(room), room=rounded(room), growth_with_log=rounded(slope))
    failures = int((fresh("benign").margins < log(1 / EPS) / 18 - 1).sum())
    verdict = typical & frequency_at_most(failures, FRESH, 0.01, seed=SEED)
    return replace(verdict, sharpened=r"yf\approx\tfrac{2M-1}{M^2}\log(1/\epsilon)")


@book.claim("D.8", "Attention on fresh samples", kind="probability", uses=["5.3", "5.4"], apart=NETWORK,
            statement=r"P\big(\varphi_{1}(\mu_+\text{-row})\ge\tfrac1{2M}\big)\ge1-\delta/(2N^2M)",
            reading="2000 fresh samples of the benign network at T_3; failure frequency at most 1/100; " + RUNS)
def attention_of_fresh(lab: Laboratory) -> Verdict:
    """Signal row on the signal."""
    found = fresh("benign").signal_attention
    return frequency_at_most(int((found < 1 / 6).sum()), FRESH, 0.01, least=rounded(found.min()), seed=SEED)


@book.claim("D.9", "Values of fresh noise", kind="probability", uses=["5.4"], apart=NETWORK,
            statement=r"P\big(|\xi_i^\top W_V^{(T_3)}w_O|\le1\big)\ge1-\delta/(2N^2M)",
            reading="given the weights the value is Gaussian with deviation sigma~_p |W_V w_O|, |W_V w_O|^2 = c' G c + start: 8 deviations are below 1 at T_3 of the benign network; and 2000 fresh samples; " + RUNS)
def values_of_fresh(lab: Laboratory) -> Verdict:
    """Exact deviation and Monte Carlo."""
    run = network("benign")
    case, c = run.made.case, run.state.c_v
    change = run.made.gram[2:, 2:] @ c[2:]
    square = float(c[2:] @ change) + 2 * float(c[2:] @ run.made.V[2:]) + case.sigma_V**2 * case.w2 * case.d
    deviation = case.C_p * case.sigma_p * sqrt(max(square, 0.0))
    found = np.abs(fresh("benign").values)
    exact = measured(8 * deviation < 1, {"deviation": rounded(deviation)}, deviation=rounded(deviation), sampled=rounded(found[:, 0].std()))
    return exact & frequency_at_most(int((found.max(axis=1) > 1).sum()), FRESH, 0.01, seed=SEED)


@book.claim("Eq.139-141", "Exponential moment of the margin", kind="inequality", uses=["D.9"], apart=NETWORK,
            statement=r"E\,e^{-2yf}\le2^M\prod_iE\,e^{2\xi_iW_Vw_O}=2^M\prod_ie^{2\mathrm{Var}_i}",
            reading="V_+ >= 0 makes yf >= -max_i |xi_i W_V w_O|, since f is a mean of values; on 2000 fresh samples of the benign network both the pointwise bound and the moment bound hold")
def exponential_moment(lab: Laboratory) -> Verdict:
    """Pointwise and in the mean."""
    found = fresh("benign")
    pointwise = float((found.margins + np.abs(found.values).max(axis=1)).min())
    left, right = float(np.exp(-2 * found.margins).mean()), float(2**3 * np.exp(2 * found.values.var(axis=0)).prod())
    return measured(pointwise >= 0 and left <= right, {"least": pointwise, "left": left, "right": right}, left=rounded(left), right=rounded(right), least_slack=rounded(pointwise))


@book.claim("Eq.116-130", "Change of the key matrix", kind="order", uses=["Eq.55-59", "Eq.102-105"], apart=NETWORK,
            statement=r"\|W_K^{(T_3)}-W_K^{(0)}\|_F=O(\sigma_hd_h^{1/2})",
            reading="benign networks of widths 200, 600, 1800 with kappa = sigma_h^2 d_h held: |Delta W_K|_F^2 = tr(C' G C) over sigma_h^2 d_h stays below 30 and does not grow (exponent in d_h at most 0.05)")
def change_of_keys(lab: Laboratory) -> Verdict:
    """Ratios over widths."""
    widths, found = (200, 600, 1800), list[float]()
    for d_h in widths:
        run = network("benign", d_h)
        found.append(float(np.einsum("pa,pq,qa->", run.state.c_k, run.made.gram, run.state.c_k) / run.made.case.kappa))
    exponent = float(np.polyfit(np.log(widths), np.log(found), 1)[0])
    return measured(max(found) < 30 and exponent < 0.05, {"ratios": rounded(found)}, ratios=rounded(found), exponent=rounded(exponent))


@book.claim("Abstract-error", "Large test error in the harmful regime", kind="existence", expect="fails", uses=["Thm.4.2"], apart=NETWORK, level="full",
            statement=r"\text{a sharp condition distinguishes the small test error phase and the large test error regime}",
            reading="0-1 error: the network of appendix A that the paper calls harmful (figure 4) is right on all of 1000 fresh samples, while its test loss is above 0.4; Theorem 4.2 bounds the loss only")
def large_error(lab: Laboratory) -> Verdict:
    """Accuracy and loss of the harmful run of appendix A."""
    from ..figures import appendix_run

    found = span.test_loss(appendix_run("4"), 1000, 0)
    error = 1 - found.accuracy
    fixed = measured(found.loss > 0.4, {"loss": found.loss}, loss=rounded(found.loss), standard_error=rounded(found.error))
    return measured(error > 0.1, {"0-1 error": rounded(error), "test loss": rounded(found.loss)}).correcting(
        r"L_{\mathcal D}=\Theta(1)\ \text{(the loss, not the error)}", fixed, "gamma_{V,+} always increases, so the margin is small but positive")


@book.claim("Sec.6-data", "Noise of section 6", kind="identity", expect="fails", uses=["Def.B.3"],
            apart="which tokens meet in a sample and which are orthogonal decides the zero pattern, not the model's factors",
            statement=r"\text{noise }N(0,\sigma^2I)\text{ not projected}:\ \alpha_{+,-}=0,\ \alpha_{n,+,i}=0\ (n\in S_-)",
            reading="the zero pattern of Def.B.3 on a toy where the noise of S_- has an inner product g with mu_+ (M = 2): derived alpha; with g = 0, as in Def. 3.1, the pattern holds")
def unprojected_noise(lab: Laboratory) -> Verdict:
    """Zero pattern with and without the projection."""
    good = lab.flow(2)
    table = setting.general_gram(2, 2)
    table[0][3] = table[3][0] = "g"
    model = setting.model(setting.words(2, 2, table))
    flow = gradient_flow(model, setting.data(2, 2), setting.TRAINED)
    bad = read_off(flow, True)
    places = ((0, 1), (0, 3))
    verdict = identity({f"{i},{j}": bad[i, j] for i, j in places})
    fixed = identity({f"{i},{j}": read_off(good, True)[i, j] for i, j in places})
    off = graph.substitute([bad[i, j] for i, j in places], {sym("g"): ZERO})
    return verdict.correcting(r"\langle\mu_\pm,\xi\rangle=0\ \text{as in Definition 3.1}", fixed & identity({str(k): node for k, node in enumerate(off)}),
                              "the effect is of order 1/d in variance, but the pattern is not exact")


@book.claim("Beyond.widths", "Mean field against networks", kind="order", uses=["Thm.4.1", "Thm.4.2"], beyond=True, level="full",
            statement=r"L_{\mathcal D}^{\mathrm{MF}}=L_{\mathcal D}\ (d=6000,d_h=3000)\ \text{within }1\%",
            reading="N = 8, M = 3, C_p = 4, sigma_p^2 d = 20, kappa max(m) = 20, training loss 0.05, mu = 30 and 3, 4000 fresh samples, seed 0")
def against_networks(lab: Laboratory) -> Verdict:
    """Test losses of both."""
    found = {}
    for mu in (30.0, 3.0):
        case = setting.Case(8, 3, 6000, 3000, mu, 20.0, 4.0, sigma_V=1e-4 / mu)
        run = span.descend(span.draw(case, 0), 0.02 / case.largest, EPS, 20_000)
        theory = float(lab.mean_run(case, EPS).final["test_loss"])
        found[f"mu = {mu:g}"] = span.test_loss(run, 4000).loss / theory - 1
    return measured(max(map(abs, found.values())) < 0.01, rounded(found), relative_difference=rounded(found))


