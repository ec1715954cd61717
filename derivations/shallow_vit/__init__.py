r"""A shallow vision transformer trained by SGD on hinge loss: learning, sample complexity and sparse attention.

Paper: Li, Wang, Liu, Chen, "A theoretical understanding of shallow vision transformers: learning, generalization, and
sample complexity" (2023).

Symbols
-------
mu1 .. muM      unit patterns, orthogonal or with one inner product lam; mu1 and mu2 discriminate, mu3 .. muM do not
alpha_s         fraction alpha_* of label-relevant tokens (mu1 in samples with y = +1, mu2 with y = -1)
alpha_c         fraction alpha_# of confusion tokens (the other discriminative pattern); beta of each nuisance pattern
w_i             rows of W_O (m x m_a); a_i = +-1/sqrt(m) frozen read-out weights, shared or one row per position
v_j             W_V mu_j; kappa_j = W_K mu_j (keys), rho_j = W_Q mu_j (queries)
S_jk            logit kappa_j' rho_k of key pattern j for query pattern k; A_jk attention of k on all tokens of j
u_ij            w_i' v_j; C_ij and G_jk = -dLoss/dS_jk the forces on u and S
sigma, delta    errors of W_V mu_j and of W_K mu_j, W_Q mu_j against orthonormal features p_j, q_j (= r_j)
xi, eta, B      standard deviation of W_O at the start, step size, mini-batch size
margin          Gamma of the loss max(Gamma - y F, 0); 1 in the paper
s, T            s = eta t, and the first step at which every training margin is reached
D, pi           prototype of the living neurons, w = D / sqrt(m), and the fraction of neurons alive in each sign class

Covered: data with token noise, both conventions of the read-out weights, hinge SGD, the
class-level system on inner products as map and flow with its invariants, the symmetric system with 21 variables (also
with M left open), the paper's scalars, stages, stopping iteration, bounds, token sparsification, synthetic figures 1
to 8; beyond the paper trained logits in place of keys and queries, the logistic loss, and two heads in one layer.

Not covered: the deep network of figure 6 (the shallow one is trained on the same kind of images, the user's own).
"""

from __future__ import annotations

from odesys import Paper, load_later

from .parameters import PARAMETERS

SYSTEMS = {
    "full": "inner products of neurons and patterns, exact at every width",
    "descent": "a step of gradient descent on them",
    "coordinates": "the entries of the weights themselves",
    "quotient": "one variable for each orbit of classes and nuisance patterns",
    "overlap": "the same where patterns have one inner product",
    "merged": "the same with one matrix in place of keys and queries",
    "logistic": "the same with the logistic loss",
}
PROTOCOLS = ("symmetric", "classes", "tokens")
FIGURES = {
    "1a": "success of training over alpha_*^-2 and N",
    "1b": "success of training over sigma and 1/sqrt(N), and the stopping time over sigma and delta",
    "2": "stopping time over 1/alpha_*, over 1/(alpha_* - alpha_#) and over the step size",
    "3": "frozen attention: success over alpha_*^-4 and N, and test loss trained against frozen",
    "4": "attention on label-relevant tokens over the iterations, by type of query",
    "5": "test loss over the fraction of removed tokens",
    "6": "images in a background that is removed step by step: your own with --data, or a synthetic set",
    "7": "attention of the symmetric system for M = 10, 15, 20",
    "8": "test loss over the fraction of removed tokens for M = 10, 15, 20",
}

FULL = {f"{key}_full": f"{FIGURES[key]}, near the paper's size" for key in ("1a", "1b", "2", "3", "5", "6", "8")}

PAPER = Paper.of_package(
    __name__,
    SYSTEMS,
    PROTOCOLS,
    FIGURES | FULL,
    long=(*FULL, "4", "7"),
    own_data=("6", "6_full"),
    widths=(32, 128, 512),
    seeds=10,
    proof=load_later("odesys", "draw_proof_graph"),
    title="Shallow vision transformer: learning, sample complexity and sparse attention",
    reference="A theoretical understanding of shallow vision transformers: learning, generalization, and sample "
    "complexity",
    parameters=PARAMETERS,
    explorer=load_later(f"{__name__}.explorer", "explorer"),
    setting=load_later(f"{__name__}.dynamics", "whole"),
)
