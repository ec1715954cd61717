"""Appendix B as files for Coq: the loss, minus its derivatives, the flow of 80 path scalars, and its 22 orbit variables."""

from __future__ import annotations

from odesys import gradient_file, quotient_file

from .. import dynamics
from .book import book

SETTING = (
    "K = 2 groups, L = 3 tokens, eight samples (c_k, y v_k, e v_k') with label y and weight 1/8. Orthonormal words. "
    "H_s(X) = sum over queries l of w_s' X softmax(X' W_K' W_Q x_l), f = relu(H_+ + b) - relu(H_- + b), logistic loss."
)


@book.derivation("derivation_gradient.v")
def where_the_flow_comes_from() -> str:
    """Loss, forces and closure."""
    title = (
        "two_mixture: the gradient flow of the model (1) on the data of Definition 2.1, in path scalars.",
        SETTING,
        "w_p_c1 is w_+ . c_1; KQ, KK, QQ are entries of W_K' W_Q, W_K' W_K, W_Q' W_Q between words, _p and _m the heads.",
        "gradient_*: G_x is minus the partial derivative of the loss by x, off the kinks of the units (defined_*). flow_*: "
        "the right-hand sides are G for neurons, A G + G B, M G' + G M', M' G + G' M for M = KQ, A = KK, B = QQ.",
    )
    return gradient_file(title, dynamics.full_flow())


@book.derivation("derivation_quotient.v")
def where_the_quotient_comes_from() -> str:
    """The law of the quotient by groups and heads."""
    title = (
        "two_mixture: the quotient of the flow by the exchange of groups and of heads, 22 variables.",
        SETTING,
        "law_*: where path scalars are plus or minus an orbit variable, as in the arguments, so are their right-hand sides, "
        "rate_* as in derivation_gradient.v: at symmetric states the field is symmetric, and orbit_* gives it. That a path which "
        "starts there stays there is uniqueness of solutions, which is not in this file.",
    )
    return quotient_file(title, dynamics.reduced())
