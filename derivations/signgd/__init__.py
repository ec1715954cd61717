r"""Sign gradient descent on a two-layer transformer: four stages of optimisation, fast fitting, poor generalisation.

Paper: "On the Optimization and Generalization of Two-Layer Transformers with Sign Gradient Descent".

Symbols
-------
mu, xi_i        signal (one coordinate, length mu) and sparse noise of sample i (s coordinates, variance sigma_p^2)
q_r, k_r        query and key neurons w_{Q,r}, w_{K,r}; the paper's neuron index s is r here, s is the sparsity
q_mu, k_mu      <w_{Q,r}, mu>, <w_{K,r}, mu>: query and key signal;  q, k: <w_{Q,r}, y_i xi_i>, <w_{K,r}, y_i xi_i>
v, v_mu         <v, y_i xi_i>, <v, mu> with v the mean value vector of class +1 minus the one of class -1
s11, s21        attention of the signal patch and of the noise patch on the signal patch; z11, z21 their logits
a, b, g         s11 s12, s21 s22, and minus the derivative of the loss, all positive
w, B, A         v_i - v_mu, k - k_mu, a q_mu + b q: what the signs are taken of;  G_q, G_k the same for the signal
eta, theta      step size, and theta = eta t, the time of the sign flow
Lambda          |xi|_1 / mu;  T_f = sqrt(log 4 Lambda) / (eta Lambda mu sqrt(m_k)) the time of the key flip
T1, T2_sgn, T2, T3, T4_minus, T4_plus, T4   ends of the stages, in steps

Covered: setting and Condition 3.1, the reduced recursion derived from the loss (exact for disjoint supports), its sign
flow with sliding, several heads, Adam and gradient flow beside it, the two-step cycle of finite steps, the mean field
of the last stages, stages and flips as events, sign descent, Adam and gradient descent on the real model, figures 1 to
19 (2 (d) on images of the user's own), the claims.

Not covered: the very models of figures 14 and 15 and of tables 4 to 11, whose widths, activations and readouts are not
given. Figures and tables are made with widths of ours; of the tables the printed counts are checked.
"""

from __future__ import annotations

from odesys import Paper, load_later

from .parameters import PARAMETERS

SYSTEMS = {
    "full": "a step of sign descent on inner products",
    "flow": "sign descent in continuous time",
    "raw": "the same step, each sign that of a whole gradient entry",
    "saddle": "one pair of queries and keys near its saddle",
    "gradient": "gradient flow of the same network",
    "adam": "a step of Adam with eps = 0",
    "heads": "a step of sign descent with two heads",
}
PROTOCOLS = ("recursion", "flow", "optimisers")
FIGURES = {
    "1": "setting (a): values, alignment, votes, flips and attention, with the mean field",
    "2": "SignGD, Adam and GD: query and key noise, training loss, test loss over noise (your images with --data)",
    "3": "setting (a): early values and keys, attention, noise of neuron 0",
    "4": "the same in setting (b): noise on the signal coordinate too",
    "5": "the same in setting (c): not sparse",
    "6": "the same in setting (d): not sparse, noise on the signal coordinate too",
    "7": "query and key noise in setting (d), SignGD, Adam and GD",
    "8": "attention in setting (d), SignGD, Adam and GD",
    "9": "training and test loss in setting (d), SignGD, Adam and GD",
    "10": "ten patches: query and key noise and query signal of SignGD, Adam and GD",
    "11": "ten patches: attention of SignGD, Adam and GD on the patch that wins",
    "12": "ten patches: training and test loss of SignGD, Adam and GD",
    "13": "four heads: values, noise and attention of each head, and of one head alone",
    "14": "deeper models with residual connections: values, noise, attention and gradients of the first layer",
    "15": "the same without residual connections",
    "16": "training loss of Adam over beta1 and beta2, with SignGD and GD",
    "17": "Adam with beta1 = 0: query noise, gradients and updates over beta2",
    "18": "setting (a) to 2000 steps: values, queries and keys, attention, losses",
    "19": "time line of the stages, from the computed events",
    "alignment": "signs of query and key noise at the start and after stage II (table 2)",
    "tables": "tables 4 to 11: printed signs of query and key noise in deeper models, and those of ours",
    "laws": "flip times over m_k and attention times over sigma_p s, with fitted exponents",
    "trap": "the two-step cycle: pairs that finite steps hold at their saddle, against the law",
    "overlap": "overlapping supports: network against reduced recursion over d",
}

PAPER = Paper.of_package(
    __name__,
    SYSTEMS,
    PROTOCOLS,
    FIGURES,
    long=FIGURES.keys() - {"1", "19", "alignment"},
    own_data=("2",),
    widths=(8, 32, 128),  # wider ones show the floor that steps of finite size leave
    seeds=4,
    proof=load_later("odesys", "draw_proof_graph"),
    title="Sign gradient descent on a two-layer transformer",
    reference="On the Optimization and Generalization of Two-Layer Transformers with Sign Gradient Descent",
    parameters=PARAMETERS,
    explorer=load_later(f"{__name__}.explorer", "explorer"),
    formulas=load_later(f"{__name__}.special.formulas", "formulas"),
)
