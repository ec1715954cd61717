"""Formulas of the paper as they are printed, typed once, and the constants that follow from them."""

from __future__ import annotations

import sympy as sp

#: h stands for d_h^(-1/4), C2 for C_p^2, noise for sigma_p^2 d, mu2 for |mu|^2, w2 for |w_O|^2
M_, N_, ETA, W2, MU2, NOISE, C2, H_ = sp.symbols("M N eta w2 mu2 noise C2 h", positive=True)


def exit_benign() -> sp.Expr:
    """T_1 of Lemma D.5."""
    return 10 * M_ * (3 * M_ + 1) * N_ * H_ / (ETA * (N_ * MU2 - 60 * M_**2 * C2 * NOISE) * W2)


def exit_harmful() -> sp.Expr:
    """T_1 of Lemma E.3."""
    return 4 * M_ * (3 * M_ + 1) * N_ * H_ / (ETA * (C2 - 24 * M_) * NOISE * W2)


def benign_least() -> sp.Expr:
    """N SNR^2 = N mu2 / noise above which the printed T_1 of D.5 is a positive time."""
    x = sp.Symbol("x", positive=True)
    time = sp.together(exit_benign().subs(MU2, x * NOISE / N_))
    (root,) = sp.solve(sp.denom(time), x)
    return sp.expand(root)


def harmful_most() -> sp.Expr:
    """N SNR^2 up to which (144), eta mu2 / (2 M) <= 2 eta noise / (N M), is true."""
    x = sp.Symbol("x", positive=True)
    (root,) = sp.solve(sp.Eq((ETA * MU2 / (2 * M_)).subs(MU2, x * NOISE / N_), 2 * ETA * NOISE / (N_ * M_)), x)
    return root
