"""Appendix F, correlations in phase 2: beta, the value Gram matrix, and the sub-network on irrelevant words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from odesys import Verdict, equal, graph, over_seeds, sym

from ..laboratory import Laboratory
from ..special.sample_sums import Sums, sampled_sums
from .book import COQ, book, toy_gram
from .common_hypotheses import PHASES, TIED
from .common_late import (
    as_derived,
    at_hitting,
    at_time,
    hitting_time,
    irrelevant_part,
    longer,
    over_networks,
    tied_points,
)
from .common_runs import ALL, SEEDS, T1, late, ordered, path, phase_two, scale_at
from .part_b_c_system import values
from .part_f2_classes import beta_gain, beta_grows

CLOSED = "17 and w_a w_b <= 9 with w = (2, 2, -3) are the limits by Beyond.svm, reached from below in n; a fifth more"


BETA_TRIED = "tried: for m to infinity beta gains m_1 (|G|^2 - |G(T_1)|^2)/beta, exactly; that |G| is at most C log(t) rests on F.7 and F.8, measured"
TIME_TRIED = "tried: the same gain, with |G| <= C log m from item (i) of F.1 for one factor and the time for the other; item (i) is measured"
GAMMA_TRIED = "tried: for m to infinity Gamma gains (G G' - G(T_1) G(T_1)')/beta, exactly; that |G| is at most C log(t) rests on F.7 and F.8, measured"


def at_late_times(lab: Laboratory, what: str, read: Callable[[Any], np.ndarray], limit: float) -> Verdict:
    """A change in units of log(tau)^2 stays below its limit from tau = 10^6 to m^2, n >= L^2 log m."""
    held = tied_points(lab)[0]
    points = [{**held, "tau": p["tau"]} for p in lab.draw.along("tau", 1e6, float(held["m"]) ** 2, 5)]
    seen = over_networks(lab, what, points, lambda run, p: at_time(run, read(run), p["tau"]) / np.log(p["tau"]) ** 2)
    return seen.between(0, 1.2 * limit, CLOSED)


def beta_change(run: Any) -> np.ndarray:
    """|beta - beta(T_1)| in units m1/m and squares of log(m), from T_1 on."""
    return np.abs(beta_gain(run)) * float(run.scale.m) / run.scale.B / np.log(float(run.scale.m)) ** 2


@book.claim(
    "F.9",
    "Change of the summed correlations",
    kind="order",
    where="Corollary F.9",
    source="damaged",
    parts=("change",),
    hypotheses=PHASES,
    uses=["F.4", "F.8"],
    statement=r"\Big|\sum_{j_1,j_2}\langle a_{j_1}w_{j_1}^{(T_2)},a_{j_2}w_{j_2}^{(T_2)}\rangle-\sum_{j_1,j_2}\langle a_{j_1}w_{j_1}^{(T_1)},a_{j_2}w_{j_2}^{(T_1)}\rangle\Big|\le\widetilde O(\tfrac{m_1}m)",
    reading="Networks to tau = 10^3, log^2(m) for the tilde; infinite width to m^2 at n = 630, L = 4, where it is below 17 ln^2(tau) m_1/beta.",
)
def beta_total(lab: Laboratory) -> Verdict:
    """Networks over m, and the quadrature."""
    networks = ordered(lab, "the change to its order", beta_change, along=ALL, part=phase_two, why=BETA_TRIED)
    return networks & at_late_times(lab, "the change of beta over its order, at late times", beta_gain, 17)


@book.claim(
    "F.10",
    "Change of the summed correlations in time",
    kind="order",
    where="Lemma F.10",
    parts=("change", "size"),
    hypotheses=PHASES,
    uses=["F.4", "F.8", "F.1"],
    statement=r"\sum\langle a_{j_1}w_{j_1}^{(t)},a_{j_2}w_{j_2}^{(t)}\rangle-\sum\langle a_{j_1}w_{j_1}^{(T_1)},a_{j_2}w_{j_2}^{(T_1)}\rangle=O\big(\tfrac{m_1\log m\log t}{\sigma_1^2mm_1}\big)=O\big(\tfrac{m_1\log^2m}{\sigma_1^2mm_1}\big),\ \sum\langle\cdot,\cdot\rangle=\Theta(\sigma_1^2mm_1)",
    reading="log t is read as log of t in units of 1/beta; networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4.",
)
def beta_in_time(lab: Laboratory) -> dict[str, Verdict]:
    """The change in its named logarithms, and the size of F.4."""

    def change(run: Any) -> np.ndarray:
        return np.abs(beta_gain(run))[1:] / (np.log(float(run.scale.m)) * np.log(late(run, run.taus)[1:]))

    networks = ordered(lab, "the change to its order", change, along=ALL, part=phase_two, why=TIME_TRIED)
    limit = at_late_times(lab, "the change of beta over its order, at late times", beta_gain, 17)
    return {"change": networks & limit, "size": beta_grows(lab)["size"]}


@book.claim(
    "F.11",
    "Value Gram matrix in phase 2",
    kind="order",
    where="Lemma F.11",
    source="damaged",
    parts=("identity", "change"),
    hypotheses=PHASES,
    uses=["C.3", "F.8", "F.1"],
    statement=r"\partial_t\mu^\top W_V^\top W_V\nu=G(\nu)\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}+G(\mu)\tfrac1n\sum_{i\ni\nu}g_iy_i\sum_lp_{q\leftarrow l,k\leftarrow\nu},\quad\max_{\mu,\nu}|\mu^\top W_V^\top W_V\nu-\mu^\top W_V^{(T_1)\top}W_V^{(T_1)}\nu|\le O\big(\tfrac{\log m\log t}{\sigma_1^2mm_1}\big)",
    reading="log t as in F.10; networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4, where it is below 9 ln^2(tau)/beta.",
)
def value_change_late(lab: Laboratory) -> dict[str, Verdict]:
    """The identity, networks over m, and quadratures."""

    def gain(run: Any) -> np.ndarray:
        if isinstance(run, Sums):  # dV = (xi G' + G xi') dt with dG = beta xi dt; irrelevant words move less than mu3
            G = run.special[run.taus >= T1]
            return np.asarray(np.abs(G[:, :, None] * G[:, None, :] - np.outer(G[0], G[0])).max(axis=(1, 2)))
        table = run.changes["VV"][run.taus >= T1]
        return np.asarray(np.abs(table - table[0]).max(axis=(1, 2)) * run.scale.B)

    def change(run: Any) -> np.ndarray:
        return gain(run)[1:] / (np.log(float(run.scale.m)) * np.log(late(run, run.taus)[1:]))

    networks = ordered(lab, "the change to its order", change, along=ALL, part=phase_two, why=GAMMA_TRIED)
    limit = at_late_times(lab, "the change of the value Gram matrix over its order, at late times", gain, 9)
    return {"identity": values(lab), "change": networks & limit}


@book.claim(
    "F.12",
    "The gradient of W is small",
    kind="order",
    where="Corollary F.12",
    source="damaged",
    parts=("o(1/L)",),
    hypotheses=PHASES,
    uses=["E.9", "F.11"],
    statement=r"\frac{\max_\mu|\sum_ja_j\partial_tw_j^{(t)\top}W_V^{(t)}\mu|}{\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle}\le o(\tfrac1L)\tfrac1n\sum_ig_i\quad(t\in[T_1,T_2])",
    reading="The quotient is at most c_0^2 m_1/(Lm) up to tau = 10^3: o(1/L) as m_1/m or c_0 goes to 0, which Condition 1 has up to logarithms.",
)
def w_gradient(lab: Laboratory) -> Verdict:
    """The ratio of Definition F.1 (d) over sigma_0^2/sigma_1^2."""

    def inner(run: Any) -> np.ndarray:
        if isinstance(run, Sums):  # the value Gram matrix is sigma_0^2 m times the identity
            return late(run, np.abs(np.hstack([run.G_rate[:, :3], run.alone])).max(axis=1) / run.g.mean(axis=1))
        size = np.abs(run.scale.m1 * np.einsum("kab,kb->ka", run.tables["VV"], run.forces[0])).max(axis=1)
        share = run.scale.m1 * run.scale.k0 / run.scale.B  # c_0^2 m_1 / (L m)
        return late(run, size / run.beta / run.g.mean(axis=1) / share)

    return ordered(lab, "the quotient to c_0^2 m_1/(L m)", inner, along=ALL, part=phase_two, why=VALUE_SHARE)


VALUE_SHARE = "tried: |xi| is at most the mean of g, so that with Gamma within C sigma_0^2 m of its start the quotient is at most C c_0^2 m_1/(Lm); the change of Gamma is F.11, measured"
THIRTY = "30 is the limit of tau g on I_2 for n to infinity by Beyond.svm, reached from below in n; a twentieth more"
OWN_SAMPLE = "tried: an irrelevant word moves with g of its own sample over n, and g <= loss of that sample, not of the mean: that is F.2"


@book.claim(
    "F.14",
    "Irrelevant words in phase 2",
    kind="order",
    where="Lemma F.14",
    source="damaged",
    parts=("rate", "change"),
    hypotheses=PHASES,
    uses=["C.1", "F.1", "F.2", "E.9", "F.11", "F.8", "Beyond.level3"],
    statement=r"\partial_tG^{(t)}(\mu)\le O(\tfrac1n\hat{\mathcal L}^{(t)}\sigma_1^2mm_1)+\widetilde O(\hat{\mathcal L}^{(t)}m_1(L(\sigma_0^2\sqrt m+\tfrac1m)+\sigma_0^2m)),\quad|G^{(t)}(\mu)-G^{(T_1)}(\mu)|\le\widetilde O\big(\tfrac1n+\tfrac{m_1(L(\sigma_0^2\sqrt m+1/m)+\sigma_0^2m)}{\sigma_1^2mm_1}\big),\ \mu\in\{\mu_i\}_{i=4}^d",
    reading="Words of the training set, in absolute value, without the second terms: networks, and infinite width over n and L up to tau = 10^6, log(tau) for the tilde.",
)
def irrelevant_late(lab: Laboratory) -> dict[str, Verdict]:
    """Rates along networks, and the change up to tau = 10^6 over n and L."""

    def rate(run: Any) -> np.ndarray:
        return late(run, np.abs(run.G_rate[:, 3:]).max(axis=1) * run.n / run.loss)

    def change(p: Any, seeds: tuple[int, ...]) -> list[float]:
        runs = sampled_sums(lab, p["n"], p["L"], scale_at(p), seeds, (0.0, T1, p["tau"]))
        return [float(np.abs(r.G[2, 3:] - r.G[1, 3:]).max()) * p["n"] / np.log(p["tau"]) for r in runs]

    points = [{**p, "tau": 1e6} for p in (*path(lab, "n")[:6], *path(lab, "L")[:4])]
    seen = over_seeds("n |G - G(T_1)| / log(tau) on irrelevant words", points, change, lab.draw.seeds(2 * SEEDS))
    return {
        "rate": ordered(lab, "n |dG/dtau| / loss", rate, along=ALL, part=phase_two, why=OWN_SAMPLE),
        "change": (seen.between(0, 31.5, THIRTY) & as_derived(lab, points[0], 1e6)).adding(why_measured=OWN_SAMPLE),
    }


@book.claim(
    "F.15",
    "Irrelevant part of the output",
    kind="order",
    where="Corollary F.15",
    source="damaged",
    parts=("bound",),
    hypotheses=(*PHASES, TIED),
    uses=["F.3", "F.14", "F.1", "Beyond.level3"],
    statement=r"\Big|\sum_{l_1}\sum_{l_2:X_{l_2}\in\{\mu_k\}_{k\ge4}}G^{(t)}(X_{l_2}^{(i)})p^{(t,i)}_{q\leftarrow l_1,k\leftarrow l_2}\Big|\le O(1)\quad(t\in[T_1,T_2])",
    reading="Infinite width at loss 1/m^2, n = 630, L = 4 (to L = 32 from zero): at most 32 (L/n) log(tau), O(1) for n >= L^2 log m.",
)
def irrelevant_bound(lab: Laboratory) -> Verdict:
    """The part at the time of loss = 1/m^2 over (L/n) log(t), which n >= L^2 log m makes O(1).

    The rate of each sum has the sign of y_i, so that on [T_1, T*] it is largest at an end.
    """

    def part(run: Any, p: Any) -> float:
        end = hitting_time(run, p["m"])
        return at_time(run, late(run, irrelevant_part(run)), end) * p["n"] / (p["L"] * np.log(end))

    what = "the irrelevant part at T*, over (L/n) log(tau),"
    seen, long = at_hitting(lab, what, part), longer(lab, what, part).between(0, 31.5, THIRTY)
    tried = "tried: it grows like (L/n) log(t) by F.14, so that n >= L^2 log m is enough; F.14 is measured"
    found = seen.order("m", 0, "O") & seen.between(0, 31.5, THIRTY) & long & as_derived(lab, seen.points[0])
    return found.adding(why_measured=tried)


@book.claim(
    "F.8-proof",
    "The solved equation",
    kind="identity",
    origin="proof",
    where="Proof of Theorem F.8, the equation dL/dt = -C_1 L^2",
    parts=("derivative", "solution"),
    hypotheses=(),
    insensitive="an identity of one function",
    statement=r"\tfrac{d\mathcal L}{dt}=-C_1\mathcal L^2\Rightarrow\tfrac d{dt}(C_1t-\mathcal L^{-1}+C_2)=0\Rightarrow\mathcal L(t)=\tfrac1{C_1t+C_2}",
    reading="The second line is 1/L^2 times the equation; C_2 is 1/L at t = 0.",
)
def solved(lab: Laboratory) -> dict[str, Verdict]:
    """d(1/L)/dt = -L'/L^2, and the derivative of the solution."""
    t, C1, C2, rate, L = (sym(name) for name in ("t", "C1", "C2", "rate", "loss"))
    chain = C1 + rate / L**2  # d/dt (C_1 t - 1/L + C_2)
    curve = 1 / (C1 * t + C2)
    slope = graph.gradient(curve, [t])[0]
    positive = ("C1", "C2", "t", "loss")
    found = {
        "derivative": equal({"constant": (chain, graph.ZERO)}, positive=positive, given={rate: -C1 * L**2}),
        "solution": equal({"equation": (slope, -C1 * L**2)}, positive=positive, given={L: curve}),
    }
    told = {"chain": (("C1", "loss", "rate"), chain), "curve": (("C1", "C2", "t"), curve)}
    return {part: verdict.by_theorems(COQ / "solved_equation.v", told) for part, verdict in found.items()}


@book.claim(
    "F.8-display",
    "How the loss changes",
    kind="identity",
    origin="proof",
    where="Proof of Theorem F.8, first display",
    parts=("display",),
    hypotheses=(),
    uses=["Eq.2"],
    expect="fails",
    insensitive="an identity in the margins, whatever they are",
    statement=r"\partial_t\hat{\mathcal L}=\sum_{i=1}^n\ell'(y_iF_i)\,\partial_t(y_iF_i)",
    reading="The loss as in Equation (2), an identity in the margins and their rates.",
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
    sentence = "the right side is n times the left side, six times with n = 6; further down the proof has 1/n"
    fixed = r"\partial_t\hat{\mathcal L}=\tfrac1n\sum_{i=1}^n\ell'(y_iF_i)\,\partial_t(y_iF_i)"
    return (
        printed.witnessed(sentence, {"n": 6})
        .correcting(fixed, right, "the loss is a mean over samples")
        .blaming("misprint", "lost-1/n")
    )
