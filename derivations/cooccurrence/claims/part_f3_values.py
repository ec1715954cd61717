"""Appendix F, correlations in phase 2: beta, the value Gram matrix, and the sub-network on irrelevant words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.integrate import simpson
from scipy.special import expit

from odesys import (
    Verdict,
    agrees,
    combine_verdicts,
    equal,
    fit_power_law,
    graph,
    in_turn,
    integrate,
    measured,
    rounded,
    sym,
)

from .. import setting
from ..laboratory import Laboratory
from ..special.standard_runs import SCALE, L, N, log_squared, quadrature_run, standard_pairs
from ..special.trained_network import trained_mean_field, trained_orbits, word_weights
from ..special.trajectories import Course, mean_field_run
from .book import book, toy_gram
from .common_readings import NETWORKS, SWEEP, late, late_ranges, sweep_exponent, twice
from .part_b_c_system import values
from .part_d_start import DELTA
from .part_f2_classes import beta_grows, irrelevant_growth, margin_constants

DIRECTION = {"s": 2, "c": -3}  # the hard margin of Beyond.svm


@book.claim(
    "F.9",
    "Change of the summed correlations",
    kind="order",
    uses=["F.4", "F.8"],
    statement=r"|\beta(T_2)-\beta(T_1)|\le\widetilde O(m_1/m)",
    reading=f"n -> infinity, leading order: the change is c ln^2(tau) m1/beta with c within 0.05 of 17 (second differences at 1e4, 1e8, 1e12); the change up to tau = 20 has an exponent in "
    f"m whose interval contains -1; {SWEEP}",
)
def beta_change(lab: Laboratory) -> Verdict:
    """Quadrature over the planar limit, and the exponent over widths."""
    c = log_squared(quadrature_run(lab, 5), "beta")
    law = sweep_exponent(lab, lambda run: float(abs(run.beta[-1] - run.beta[0])), -1.0)
    return combine_verdicts({"constant": measured(abs(c - 17) < 0.05, {"c": c}, c=c), "exponent": law}).with_constants(
        c=rounded(c, 5)
    )


@book.claim(
    "F.10",
    "Change of the summed correlations in time",
    kind="order",
    same_as="F.9",
    uses=["F.9"],
    statement=r"\Delta\beta=O\Big(\tfrac{m_1\log m\log t}{\sigma_1^2mm_1}\Big),\ \beta=\Theta(\sigma_1^2mm_1)",
    reading="as F.9, with the constant of ln^2(tau); and beta within [1/2, 2] of its start scale as in F.4",
)
def beta_change_again(lab: Laboratory) -> Verdict:
    """The constant of F.9 and the size of F.4."""
    return combine_verdicts({"change": beta_change(lab), "size": beta_grows(lab)})


@book.claim(
    "F.11",
    "Value Gram matrix in phase 2",
    kind="order",
    uses=["C.3", "F.8"],
    statement=r"\dot\Gamma_{\mu\nu}=G(\nu)\xi_\mu+G(\mu)\xi_\nu,\quad\max|\Delta\Gamma|\le O\Big(\tfrac{\log m\log t}{\sigma_1^2mm_1}\Big)",
    reading="the identity is Lemma C.3; n -> infinity, leading order: Delta Gamma_ab = c_ab ln^2(tau) / beta with c within 0.02 of w_a w_b, w = (2, 2, -3) as in Beyond.svm",
)
def value_change_late(lab: Laboratory) -> Verdict:
    """Quadratures over the planar limit against products of the hard-margin direction."""
    run = quadrature_run(lab, 5)
    found = {name: log_squared(run, f"V_{name}") for name in ("ss", "sc", "cc")}
    fine = all(abs(value - DIRECTION[name[0]] * DIRECTION[name[1]]) < 0.02 for name, value in found.items())
    return combine_verdicts(
        {"identity": values(lab), "constants": measured(fine, rounded(found), constants=rounded(found, 5))}
    )


def _inner_order(scale: setting.Scales, logs: float) -> float:
    """The order of the proof of F.12 with `logs` where F.11 puts log m log t: (sigma_0^2 (sqrt(m) L + m) + (L + 1) logs / m) / (sigma_1^2 m)."""
    return (scale.sigma0**2 * (np.sqrt(scale.m) * L + scale.m) + (L + 1) / scale.m * logs) / (scale.sigma1**2 * scale.m)


@book.claim(
    "F.12",
    "The gradient of W is small",
    kind="order",
    uses=["F.1", "F.11"],
    statement=r"\max_\mu|m_1(\Gamma\xi)_\mu|/\beta\le\widetilde O\Big(\tfrac{\sigma_0^2\sqrt mL+L/m+\sigma_0^2m+1/m}{\sigma_1^2m}\Big)\tfrac1n\sum g_i=o(1/L)\tfrac1n\sum g_i",
    reading=f"the tilde at 1/m is the factor log m log t which F.11 states and the proof carries over (eps2 alone is too small by a factor up to 16 here: Gamma moves by more than its start): below that "
    f"order with constant 1; o(1/L): L times the left side is below the 1/10 of Definition F.1 (d), and from the mean start (n = 12, L = 5, c0 = 0.3, tau = 100, m = 256, 1024, 4096) it falls with an "
    f"exponent in m below -3/4; {NETWORKS}",
)
def w_gradient(lab: Laboratory) -> Verdict:
    """The ratio of Definition F.1 (d)."""

    def inner(run: Course) -> np.ndarray:
        size = np.abs(SCALE.m1 * np.einsum("kab,kb->ka", run.tables["VV"], run.forces[0])).max(axis=1)
        return size / run.beta / run.g.mean(axis=1)

    def relative(run: Course) -> np.ndarray:
        return inner(run) / np.array(
            [_inner_order(SCALE, float(np.log(SCALE.m) * np.log(max(t, 2)))) for t in run.taus]
        )

    networks = late_ranges(
        lab, {"ratio times L": (lambda run: inner(run) * run.L, 0.0, 0.1), "over the order": (relative, 0.0, 1.0)}
    )
    return in_turn({"networks": lambda: networks, "widths": lambda: _falls_with_m(lab)})


def _falls_with_m(lab: Laboratory) -> Verdict:
    """The ratio from the mean start over widths."""
    rows = {m: _mean_inner(lab, m) for m in (256, 1024, 4096)}
    law = fit_power_law(list(rows), [abs(found) for found, _ in rows.values()])
    falls = measured(law.value < -0.75, {"exponent in m": law.value}, exponent_in_m=rounded(law.value, 3))
    same = agrees([found for found, _ in rows.values()], [known for _, known in rows.values()])
    return combine_verdicts({"falls": falls, "as trained": same})


def _mean_inner(lab: Laboratory, m: int) -> tuple[float, float]:
    """m1 (Gamma xi)(mu1) / beta at tau = 100 from the mean start: dG = beta xi + m1 Gamma xi, so what dG has beyond beta xi; also trained."""
    scale = setting.condition_one(5, m, 16, 0.3)
    run = mean_field_run(lab, 12, 5, scale, 100.0)
    end = dict(zip(run.names, run.end_state, strict=True))
    rate = dict(zip(run.names, run.system.compile(run.parameters)(0.0, run.end_state), strict=True))
    bare = {**end, **{name: 0.0 for name in run.system.on_path("VV")}}
    without = dict(
        zip(run.names, run.system.compile(run.parameters)(0.0, np.array([bare[n] for n in run.names])), strict=True)
    )
    found = (rate["G_s"] - without["G_s"]) / end["beta"]
    states, rates = trained_orbits(12, 5, scale, (0.0, 100.0))
    xi = trained_mean_field(12, 5, scale, (0.0, 100.0)).forces[0][-1, 0]
    return float(found), float((rates[1]["G_s"] - states[1]["beta"] * xi) / states[1]["beta"])


@book.claim(
    "F.14",
    "Irrelevant words in phase 2",
    kind="order",
    uses=["E.18", "F.8"],
    statement=r"|\dot G(\mu)|\le O(\tfrac1n\hat{\mathcal L}\sigma_1^2mm_1)+\dots,\ \text{integrated}\ \widetilde O(\tfrac1n+\dots),\ \mu\in\mathcal R",
    reading=f"upper bounds, the terms in dots left out. Rates: |dG/dtau| at most twice c loss / n, c the limit of n alpha / (loss tau) at this n, a closed form of Beyond.finite_n. Integrated, the tilde being log(t): level 3 at L = 5, tau = 1000, "
    f"n = 24 .. 7680: n |G| <= 30 ln(1 + tau) for all irrelevant words, 30 the limit of tau g on I_2 at n -> infinity, and at n = 7680 n |G| is within 1 percent of the integral of g along the limit. (As an exact "
    f"power, |G| ~ 1/n, it is reached only for n above 960, with -0.98; between 120 and 960 the exponent is -0.88, as n |G| grows towards its limit); {NETWORKS}; level 3 agrees to 1e-6 with "
    f"logistic regression on bags of words",
)
def irrelevant_late(lab: Laboratory) -> Verdict:
    """Rates along networks, and level 3 over n."""
    exact = margin_constants()
    c = float(N * max(exact["r1"], exact["r2"]) / exact["loss"])
    networks = late_ranges(
        lab, {"rate times n / loss": (lambda run: np.abs(run.G_rate[:, 3:]).max(axis=1) * run.n / run.loss, 0.0, 2 * c)}
    )
    return in_turn({"networks": lambda: networks, "level 3": lambda: _irrelevant_over_n(lab)}).with_constants(
        c=rounded(c, 4)
    )


def _irrelevant_over_n(lab: Laboratory) -> Verdict:
    """n |G| of irrelevant words at tau = 1000 on level 3, over n."""
    every, sizes, known = lab.every_n(5), {}, {}
    for n in (24, 60, 120, 240, 480, 960, 1920, 3840, 7680):
        run = integrate(every.substitute({"n": n}), np.zeros(5), (0.0, 1000.0), rtol=1e-10, atol=1e-12, method="LSODA")
        sizes[n] = [float(abs(run.final[f"G_r{k}"]) * n) for k in (1, 2, 4)]
        known[n] = (np.abs(word_weights((0.0, 0.0, 0.0), (1000.0,), float(n), 5)[0, [3, 4, 6]]) * n).tolist()
    taus = np.linspace(0.0, 1000.0, 4001)
    G = word_weights((0.0, 0.0, 0.0), tuple(taus.tolist()))
    limit = float(simpson(expit(-2 * G[:, 0] - G[:, 2]), x=taus))
    largest = max(max(row) for row in sizes.values()) / (30 * float(np.log(1001)))
    bound = measured(largest <= 1, {"largest": largest}, used_over_allowed=rounded(largest, 4))
    reached = measured(
        abs(sizes[7680][0] / limit - 1) < 0.01, {"n G at n = 7680": sizes[7680][0], "integral of g_1": limit}
    )
    low, high = (
        fit_power_law(ns, [sizes[n][0] / n for n in ns]) for ns in ((120, 240, 480, 960), (960, 1920, 3840, 7680))
    )
    same = agrees(
        {str(n): row for n, row in sizes.items()}, {str(n): row for n, row in known.items()}, 1e-6, "regression"
    )
    return combine_verdicts({"bound": bound, "constant": reached, "regression": same}).adding(
        exponent_in_n=rounded(high.interval, 4), exponent_at_n_120_to_960=rounded(low.interval, 4)
    )


@book.claim(
    "F.15",
    "Irrelevant part of the output",
    kind="order",
    uses=["F.14"],
    statement=r"\Big|\sum_{l}\sum_{h:x_h\in\mathcal R}G(x_h)p_{l,h}\Big|\le O(1)",
    reading=f"at a given time: within the bound of D.8 on |F(0)| (delta = 1/10) of the value of the regression on bags of words (level 3) at the same n, L and tau, at all times of phase 2; it grows like (L - k) alpha_i ln(tau) with the alpha_i of "
    f"Beyond.finite_n, so O(1) up to poly(m) needs n above L ln(m); {NETWORKS}",
)
def irrelevant_part(lab: Laboratory) -> Verdict:
    """The part along networks against level 3, and its growth at this n."""

    def part(run: Course) -> np.ndarray:
        G = np.where(run.tokens >= 3, run.G[:, run.tokens], 0.0)
        return late(run, np.abs(np.einsum("knlh,knh->kn", run.attention, G)).max(axis=1))

    pairs = standard_pairs(lab)
    found, same = twice(pairs, part)
    taus = late(pairs[0][0], pairs[0][0].taus)
    words = np.array([L - len(setting.SPECIAL[c]) for c in setting.CLASSES])
    level3 = (np.abs(word_weights((0.0, 0.0, 0.0), tuple(taus.tolist()), float(N), L)[:, 3:]) * words).max(axis=1)
    allowed = 2 * SCALE.sigma0 * SCALE.sigma1 * np.sqrt(2 * L * SCALE.m1 * SCALE.m * np.log(2 * L * N / DELTA))
    away = max(float(np.abs(row - level3).max()) for row in found)
    near = measured(
        away < allowed,
        {"away from level 3": away, "allowed": float(allowed)},
        away_from_level_3=rounded(away, 4),
        largest=rounded(max(r.max() for r in found), 4),
    )
    growth = rounded(irrelevant_growth(), 4)
    return replace(
        combine_verdicts({"level 3": near, "as trained": same}),
        sharpened=f"grows like {growth} ln(tau) on I1, I2 at n = {N}, L = {L}: no constant serves all times",
    )


@book.claim(
    "F.8-display",
    "How the loss changes",
    kind="identity",
    uses=["Eq.2", "Eq.4"],
    expect="fails",
    insensitive="an identity in the margins, whatever they are",
    statement=r"\partial_t\hat{\mathcal L}=\sum_{i=1}^n\ell'(y_iF_i)\,\partial_t(y_iF_i)",
    reading="the derivative of the derived loss along the margins, two samples, as an identity in the rates of the margins; corrected with 1/n",
)
def loss_display(lab: Laboratory) -> Verdict:
    """Slopes of the loss by the margins against -g, with and without 1/n."""
    flow = toy_gram(lab)
    seen, n = flow.system.observables, len(flow.data)
    u = [sym(f"u{k}") for k in range(n)]
    each = {graph.call("softplus", -seen[f"margin_{k + 1}"]): graph.call("softplus", -u[k]) for k in range(n)}
    loss = graph.substitute([seen["loss"]], each)[0]
    rates = [sym(f"rate{k}") for k in range(n)]
    total = graph.add([slope * r for slope, r in zip(graph.gradient(loss, u), rates, strict=True)])
    plain = graph.add([-graph.call("sigmoid", -x) * r for x, r in zip(u, rates, strict=True)])
    printed, right = equal({"sum": (total, plain)}), equal({"sum": (total, plain / n)})
    return printed.correcting(
        r"\partial_t\hat{\mathcal L}=\tfrac1n\sum_{i=1}^n\ell'(y_iF_i)\,\partial_t(y_iF_i)",
        right,
        "the loss is a mean over samples",
    )
