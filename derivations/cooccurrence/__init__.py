r"""One-layer softmax transformer on word co-occurrence: gradient flow of W, W_V, W_K and W_Q together.

Paper: H. Yang, B. Kailkhura, Z. Wang, Y. Liang, "Training Dynamics of Transformers to Recognize Word Co-occurrence via
Gradient Flow Analysis", NeurIPS 2024.

Symbols
-------
mu1, mu2, mu3   the two target words and the common word; mu4, mu5, ... irrelevant words, orthonormal
I1 .. I4        classes: both targets (label +1), only mu1, only mu2, none (label -1)
G(mu)           the sub-network a' W W_V mu; beta = |W' a|^2
V, A, K, Q      W_V' W_V, scores W_K' W_Q (first index key), W_K' W_K, W_Q' W_Q between words; Gamma, kappa and rho in
                statements are V, K and Q
G_1, A_12, ...  1, 2, 3 are mu1, mu2, mu3; r1 .. r4 irrelevant words of a sample of I1 .. I4 (A_1_r2, A_r1_1); two of
                one class are one word, of one sample or of two (_same, _sample, _class). In reduced systems one name is
                that of all that symmetries exchange: G_1 = G_2, A_12 = A_21, A_31 = A_32, V_13 = V_23, r3 as r2
F_i, S_c        outputs and class sums only; forces in derived equations are E_1, E_2, ..., sums U_1, U_2, ...
units           those of the paper everywhere but in the system mean_field, whose beta is over B, V, K, Q over k0 and A
                over sqrt(m); times are tau in every run, table and figure
xi, D           -dL/dG and -dL/dA; g_i = 1 / (1 + exp(y_i F_i)); S_c the sum of g over class c
x, z            G(mu1) = G(mu2) and -G(mu3) in the planar limit; R = -dG(mu3) / dG(mu1)
sigma_0, sigma_1  start scales; B = sigma_1^2 m m1, k0 = sigma_0^2 m; tau = B t
T_0.5, T_cls, T_1  R passes 1 + C; all samples are classified; end of phase 1, tau = C_T1

Covered: setting, closed systems level by level (`dynamics`), appendix C (`as_printed`), ensembles of networks of any
width (`ensembles`) with the network trained in weight space as their second route (`trained_network`), exact tails of
the start (`tails`), phases, limits with their constants (`balancing`), figure 1, comparison with networks, claims of
the main text and appendices B-H. Points and paths are in `claims/common_runs.py` and `claims/common_limit.py`,
Condition 1 as predicates in `claims/common_hypotheses.py`. T_1 = 40 and n = 30, L = 4 were chosen with knowledge of
the system's behaviour. Phase 1 is certified in boxes of all parameters by a bootstrap (`special/phase_one_bounds.py`).

Bars that grow with what they enclose are lost in the text at hand: they are read in, and the source of such a claim is
called damaged.

Not covered: L over a decade along networks (n >= L^2 makes the words too many); there L = 4. Claims about
trajectories are measurements, those about the planar limit are partly certified by validated enclosure.
"""

from __future__ import annotations

from odesys import Paper, load_later

from .parameters import PARAMETERS

SYSTEMS = {
    "full": "inner products of all words, exact at every width",
    "quotient": "one variable for each orbit of words, at infinite width",
    "mean_field": "the same in units of sqrt(m), with ratios of start scales",
    "kernel": "limit of a small start: logistic regression on bags of words",
    "planar": "its limit for many samples, without a parameter",
    "descent": "a step of gradient descent, for the orbits",
}
PROTOCOLS = ("mean-field", "network", "kernel", "planar")
FIGURES = {
    "1": "scores and losses along gradient descent with the paper's sizes, its first 2000 epochs",
    "1full": "the same with all of the paper's 30000 epochs",
    "1clean": "scores and losses under Condition 1, theory (lines) against a network (dots)",
    "balance": "automatic balancing: R, class sums and the straight line of 1 / loss",
    "portrait": "phase portrait of the planar limit",
    "finite_n": "finite n: limits of R and test-loss exponents",
}

PAPER = Paper.of_package(
    __name__,
    SYSTEMS,
    PROTOCOLS,
    FIGURES,
    long=("1full",),
    main_figure="1clean",
    proof=load_later("odesys", "draw_proof_graph"),
    title="Word co-occurrence with a one-layer softmax transformer",
    reference="Training Dynamics of Transformers to Recognize Word Co-occurrence via Gradient Flow Analysis",
    parameters=PARAMETERS,
    explorer=load_later(f"{__name__}.explorer", "explorer"),
    widths=(200, 800),
    seeds=4,
    setting=load_later(f"{__name__}.setting", "whole"),
)
