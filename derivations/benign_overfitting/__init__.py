r"""Benign overfitting of a one-layer vision transformer: gradient descent on one signal and M - 1 noise patches.

Paper: "Unveil Benign Overfitting for Transformer in Vision: Training Dynamics, Convergence, and Generalization".

Symbols
-------
mup, mum        the signals mu_+, mu_- (orthogonal, length mu); xi{n}t{i} the noise token i >= 2 of sample n
q, k, V         images Z W_Q, Z W_K and Z W_V w_O of the P = 2 + N (M - 1) distinct tokens Z; G = Z Z'
S, Q, K         q k' (rows queries; the engine's KQ has the key first), q q', k k'
alpha, beta     A = eta G H and B = eta G H' with H = -dL/dS; gamma_V, rho_V the changes of V over w2 = |w_O|^2
s, 2, w         token types: signal, first noise token (sigma~_p = C_p sigma_p), weak noise tokens
m_s, m_2, m_w   squared lengths mu^2, sigma~_p^2 d, sigma_p^2 d; kappa = sigma_h^2 d_h; N SNR^2 = N m_s / m_w
r               balance N m_s / (2 m_2): what v_s / v_2 is while attention is uniform
T1, T2, T3      ends of the stages: dominance by 3 M; attention 1 - theta; training loss eps; tau = eta t

Covered: setting and Condition 4.1, the recursion on Gram scalars in matrix form, its flow and invariants, the exact
quotient (infinite width), the mean-field systems with 18 and 12 variables, closed forms of the stages, finite-width
gradient descent with test loss, phase boundary, figures 1, 3 and 4, claims of the main text and the appendices. Orders
are read as exponents or explicit constants. Classes of different size (`special/two_classes.py`) and the recursion in
the paper's symbols (`special/paper_recursion.py`) are derived too. Figure 2 (MNIST) is drawn with the user's images and
the model of Eq. (1) on patches: the two-layer architecture of the paper and its optimiser are not given.

Not covered: what the text says about the figures, which are drawn for the eye; and displays that can not be read in the
text at hand, which are no claims: (106), (107), (114), (117)-(121), (182)-(197), (253)-(265), (267)-(277), (280)-(292)
and (294)-(296), with parts of (129), (178)-(181) and F.11. Slips of the text that are matters of
labels, which no computation decides, are only named here: n for N in Lemma C.1 (its reading takes N); F(T_1) for
F(T_2) and N(T_1) for N(T_2) in the base cases of stage 3, with V at T_1 where V at t is meant in J(t), N(t) and the
start of stage 3; (68) cited twice in the proof of D.7, where the last is (71); Lemma D.6 for E.4 and Claims 5-8 for
1-4 in E.2; gamma for rho of noise tokens in E.1 and E.3; F.6 with log O(1/eps) for o(1) in F.9; the same step twice
in the first difference of F.11; beta for q_n,i, where k_n,i is meant, in Table 1; "=" for ">=" in (23); and the
probability 1 - 1/d of the theorems against 1 - delta of the lemmas (delta of order 1/d is meant, which makes the
logarithms of order log d).
"""

from __future__ import annotations

from odesys import Paper, load_later

from .parameters import PARAMETERS

SYSTEMS = {
    "full": "inner products of all tokens, exact at every width",
    "descent": "a step of gradient descent on them",
    "paper": "the paper's recursion, in alpha, beta, gamma and rho",
    "quotient": "one variable for each orbit of samples and tokens",
    "mean_field": "different queries, and different keys, orthogonal; any N",
    "frozen": "the mean field with norms of queries and keys held",
    "unbalanced": "frozen norms, and two classes of different size",
}
PROTOCOLS = ("mean-field", "descent")
FIGURES = {
    "1": "test loss over (N, SNR): networks of the paper's size on the mean field, few cells, with N SNR^2 = 1000",
    "1theory": "the same by the mean-field system alone on a fine grid, cut at 0.2",
    "1finite": "the heat map by 60 networks of the paper's size, and every cell against the mean field",
    "2": "test loss over images and SNR, Eq. (1) on patches: your own images with --data, or a synthetic set",
    "boundary": "the phase boundary N SNR^2 over N, and test loss over the balance for several mobilities",
    "3": "benign run of appendix A: scores, attention and values, network against mean field",
    "4": "harmful run of appendix A: scores, attention and values, network against mean field",
}

PAPER = Paper.of_package(
    __name__,
    SYSTEMS,
    PROTOCOLS,
    FIGURES,
    long=("1theory", "1finite", "2", "boundary", "4"),
    own_data=("2",),
    proof=load_later("odesys", "draw_proof_graph"),
    title="Benign overfitting of a one-layer vision transformer",
    reference="Unveil Benign Overfitting for Transformer in Vision: Training Dynamics, Convergence, and Generalization",
    parameters=PARAMETERS,
    explorer=load_later(f"{__name__}.explorer", "explorer"),
    default="mean_field",
    setting=load_later(f"{__name__}.setting", "whole"),
    formulas=load_later(f"{__name__}.setting", "law_of_data"),
)
