r"""Two-headed softmax transformer on a mixture of linear classification: three-stage gradient flow.

Paper: "Transformers Provably Learn Two-Mixture of Linear Classification via Gradient Flow".

Symbols
-------
c_k, v_k        group and classification signals, orthonormal words
n_c, n_v        neuron alignments w+^T c_k, w+^T v_k
M, A, B         scores W_K^T W_Q (first index key, second query), key and query self-scores
_same, _other   same group / different group, e.g. M_cv_same = c_1^T W_K^T W_Q v_1
omega, b        initial scale of keys and queries; bias of both heads
T1, T2, T3      ends of the stages; x_star the score that ends stage 2; eps the loss that ends stage 3

Covered: setting, closed systems and their reductions, the family of all K with K a symbol and its limit, closed forms
of stage 1 and of the frozen-force stage 2, both protocols, figures 1-7, the laws in K and a phase diagram, comparison
with networks, claims of sections 2-6 and appendices B-H, and laws in K beyond the paper (Beyond.K.*).

Not covered: claims about trajectories for all parameters at once. They are measured over a grid; three of them are
certified at one point by validated enclosure (level full).
"""

from __future__ import annotations

from odesys import Paper, load_later

from .parameters import PARAMETERS

SYSTEMS = {
    "full": "neurons and scores of both heads, exact at every width",
    "one_head": "one head; the other is its mirror image",
    "quotient": "one variable for each orbit of heads and groups",
    "slaved": "self-scores eliminated, at infinite width",
    "stage1": "neurons train, attention is fixed",
    "stage2": "keys and queries train on conflicting samples",
    "stage3": "neurons train again",
    "descent": "a step of gradient descent, for the orbits",
}
PROTOCOLS = ("three-stage", "simultaneous")
FIGURES = {
    "1": "losses, neurons and scores along gradient descent",
    "2": "attention of the + head after training",
    "3": "attention-only training with Gaussian neurons",
    "4": "all scores of the + head",
    "sliding": "simultaneous training for K = 3, L = 4, which slides along two ReLU kinks",
    "5": "three groups: losses, neurons and scores along gradient descent",
    "6": "four groups: losses, neurons and scores along gradient descent",
    "7": "eight groups: losses, neurons and scores along gradient descent",
    "law": "times of stage 1, stage 2 and simultaneous training over K, for K = 2 to 1,000,000",
    "phase": "end of stage 2 and second transition over (omega, T1)",
}

PAPER = Paper.of_package(
    __name__,
    SYSTEMS,
    PROTOCOLS,
    FIGURES,
    proof=load_later("odesys", "draw_proof_graph"),
    title="Two-mixture of linear classification with a two-headed softmax transformer",
    reference="Transformers Provably Learn Two-Mixture of Linear Classification via Gradient Flow",
    parameters=PARAMETERS,
    explorer=load_later(f"{__name__}.explorer", "explorer"),
    setting=load_later(f"{__name__}.setting", "whole"),
)
