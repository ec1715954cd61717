r"""The last stages as closed functions of time; here because slopes +-1 make every variable piecewise linear.

With start values neglected, a sample with a fraction p of neurons whose vote agrees with its own sign has, in the gauge
where the vote is +, aligned pairs :math:`q = k = \tau/\sqrt{m_k}`, unaligned ones :math:`q = -x/\sqrt{m_k}`,
:math:`k = -u/\sqrt{m_k}`, and signals :math:`q_\mu = -k_\mu = \tau/(\Lambda\sqrt{m_k})`. All have slope +-1 in tau, so
x and u are piecewise linear: they rise until the driver of the pair changes sign. The logits Z, Y and the two drivers
are read off the derived system with one neuron (`closed_form`), the flips are where drivers vanish.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq
from scipy.special import expit

from odesys import ParameterError, to_sympy

from .. import dynamics

TAU, LAMBDA, P, X, U = sp.symbols("tau Lambda p x u", positive=True)


@cache
def closed_form() -> dict[str, sp.Expr]:
    """Z = z22 - z21, Y = z12 - z11, and the drivers of an unaligned key and query, from the derived one-neuron system.

    A logit is a sum over neurons of products, so a fraction p of aligned and 1 - p of unaligned neurons weighs it; the
    factors 1/sqrt(m_k) of the two sides of a product cancel the m_k neurons.
    """
    made, opaque = dynamics.derived(1, 1), dynamics.atoms(1, 1)
    names = {name: sp.Symbol(name, real=True) for name in ("q_1_mu", "k_1_mu", "q_1_z1", "k_1_z1", "v_mu", "v_z1")}
    signal = {names["q_1_mu"]: TAU / LAMBDA, names["k_1_mu"]: -TAU / LAMBDA}
    aligned = {**signal, names["q_1_z1"]: TAU, names["k_1_z1"]: TAU}
    unaligned = {**signal, names["q_1_z1"]: -X, names["k_1_z1"]: -U}
    out = {}
    for name, key in (("Y", "s11_1"), ("Z", "s21_1")):
        logit = to_sympy(dynamics.attention(1, 1)[key].args[0])
        out[name] = sp.expand(-P * logit.subs(aligned) - (1 - P) * logit.subs(unaligned))
    form = opaque.form(list(names))
    for name, leaf in (("key", "k"), ("query", "q")):
        _, kept = form.factors(opaque(made.gradients[leaf][0, 1]))
        (driver,) = [factor for factor, _ in kept if not factor.has(names["v_mu"])]
        out[name] = form.write(driver).subs(unaligned)
    return out


@cache
def weights() -> tuple[sp.Symbol, ...]:
    """The symbols (p, pbar) of the signal row and of the noise row in `closed_form`."""
    opaque = dynamics.atoms(1, 1)
    rows = {}
    for atom, node in opaque.meaning.items():
        if atom not in opaque.slopes:
            inner = to_sympy(node.args[0])
            rows[to_sympy(atom)] = "a" if inner.has(sp.Symbol("q_1_mu", real=True)) else "b"
    return tuple(s for kind in "ab" for s, r in rows.items() if r == kind)


@cache
def flip_condition() -> sp.Expr:
    """b/a at which an unaligned key turns round while it still rises: the zero of its driver, x = tau."""
    a, b = sp.symbols("a b", positive=True)
    p1, p2, p3, p4 = weights()
    driver = sp.expand(closed_form()["key"])
    driver = driver.subs({p1 * p2: a, p3 * p4: b}).subs(X, TAU)
    (found,) = sp.solve(driver, b)
    return sp.cancel(found / a)


@cache
def query_flip() -> sp.Expr:
    """tau_q over tau_f: where the driver of an unaligned query vanishes, u = 2 tau_f - tau."""
    f = sp.Symbol("tau_f", positive=True)
    (found,) = sp.solve(closed_form()["query"].subs(U, 2 * f - TAU), TAU)
    return sp.cancel(found / f)


@cache
def slide_threshold() -> sp.Expr:
    """The fraction p below which the noise logit falls back to its value at the flip, so that keys slide: exact.

    Large Lambda, after the query flip: x = 4 tau_f - tau, u = 2 tau_f - tau; its minimum over tau equals Z(tau_f).
    """
    f = sp.Symbol("tau_f", positive=True)
    late = sp.limit(closed_form()["Z"], LAMBDA, sp.oo).subs({X: 4 * f - TAU, U: 2 * f - TAU})
    (where,) = sp.solve(sp.diff(late, TAU), TAU)
    early = sp.limit(closed_form()["Z"], LAMBDA, sp.oo).subs({X: f, U: f, TAU: f})
    roots = sp.solve(sp.expand((late.subs(TAU, where) - early) / f**2), P)
    return min(roots, key=lambda r: float(r))


@cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    form = closed_form()
    return {name: sp.lambdify((TAU, LAMBDA, P, X, U), form[name], "numpy") for name in ("Z", "Y")}


@dataclass(frozen=True)
class MeanField:
    """One sample with Lambda = |xi|_1 / mu and aligned fraction p, in a network with m_k neurons and step eta.

    eta = 1 makes all times theta = eta t.
    """

    Lambda: float
    p: float
    m_k: int
    eta: float = 1.0
    mu: float = 1.0

    def __post_init__(self) -> None:
        if not self.Lambda > 1 or not 0 <= self.p <= 1:
            raise ParameterError(
                f"Lambda = {self.Lambda:g}, p = {self.p:g} can not be used: the noise dominates "
                f"(Lambda > 1), and p is a fraction"
            )

    @property
    def unit(self) -> float:
        """Steps of one unit of tau."""
        return 1 / (self.eta * self.Lambda * self.mu * math.sqrt(self.m_k))

    @property
    def slides(self) -> bool:
        """True where p is below the threshold, so that unaligned keys slide and the flips below are too early."""
        return self.p < float(slide_threshold())

    @property
    def tau_f(self) -> float:
        """The key flip: b = a x ratio of `flip_condition`, solved numerically while everything still rises."""
        ratio = float(flip_condition().subs(LAMBDA, self.Lambda))
        functions = _functions()

        def gap(tau: float) -> float:
            Z = functions["Z"](tau, self.Lambda, self.p, tau, tau)
            Y = functions["Y"](tau, self.Lambda, self.p, tau, tau)
            return float(_log_product(Z) - _log_product(Y) - math.log(ratio))

        return float(brentq(gap, 1e-9, 2 * math.sqrt(math.log(4 * self.Lambda)) + 4))

    @property
    def tau_q(self) -> float:
        """The query flip."""
        return float(query_flip().subs(LAMBDA, self.Lambda)) * self.tau_f

    @property
    def times(self) -> dict[str, float]:
        """Key flip, query flip, and where unaligned key and query noise cross zero, in steps."""
        f, q = self.tau_f, self.tau_q
        return {
            name: tau * self.unit
            for name, tau in (("key_flip", f), ("query_flip", q), ("key_zero", 2 * f), ("query_zero", 2 * q))
        }

    def logits(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Z and Y over times t in steps: logits of s_22 and s_12."""
        tau = np.asarray(t, dtype=float) / self.unit
        f, q = self.tau_f, self.tau_q
        x, u = np.where(tau <= q, tau, 2 * q - tau), np.where(tau <= f, tau, 2 * f - tau)
        functions = _functions()
        return (functions["Z"](tau, self.Lambda, self.p, x, u), functions["Y"](tau, self.Lambda, self.p, x, u))

    def margin(self, t: np.ndarray) -> np.ndarray:
        """y f over times t in steps: v = 2 eta t |.|_1 on signal and noise."""
        Z, Y = self.logits(t)
        on = expit(-Z) + expit(-Y)
        off = expit(Z) + expit(Y)
        return np.asarray(2 * self.eta * np.asarray(t, dtype=float) * self.mu * (on + off * self.Lambda))


def _log_product(z: float) -> float:
    return float(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -z))


def loss(samples: list[MeanField], t: np.ndarray) -> np.ndarray:
    """Training loss over times t in steps, the mean over samples."""
    return np.asarray(np.mean([np.logaddexp(0.0, -sample.margin(t)) for sample in samples], axis=0))
