"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    (
        "minority weight scale linear hinge tokens",
        "Eq.21",
        "the step is minus eta times the gradient of the loss at hand, for every model, loss and data",
    ),
    (
        "minority weight scale linear hinge tokens",
        "X3",
        "C and G are derivatives of the loss at hand, and the matrix equations hold for every model, loss and data",
    ),
    (
        "minority weight scale linear hinge tokens flip",
        "X4 Beyond.heads Beyond.noisy",
        "the matrices are conserved for every model, loss and data, and with keys and queries both reversed",
    ),
    ("linear", "X5", "with all gates open a neuron without ReLU moves in the same way"),
    (
        "minority scale linear hinge tokens flip keys values neurons nuisance",
        "X6",
        "both classes are broken alike, so their exchange is still a symmetry",
    ),
    (
        "weight flip keys values neurons nuisance",
        "Eq.83-hinge",
        "every rate stays linear in the two indicators, whatever factor it has",
    ),
    (
        "minority",
        "Prop.2 Rem.2 Rem.2-noise Eq.162-170 Eq.149-150 Eq.49-50 Eq.109-113 Beyond.theorem Beyond.symmetric Beyond.freeze Beyond.constant Beyond.condition",
        "labels and output weights exchange their roles: times, norms and attention stay, the signs are noticed elsewhere",
    ),
    (
        "minority weight scale linear hinge tokens flip keys neurons nuisance start",
        "Eq.92",
        "the error of a pattern is shared by its tokens, whatever moves: no batch makes it smaller",
    ),
    (
        "hinge",
        "Def.2 Eq.51-53 Eq.35 Eq.42 Eq.55-59 Eq.109-113 Eq.133-135 Beyond.sliding Beyond.condition",
        "on two symmetric samples an exponential loss takes the same path at another speed",
    ),
    (
        "hinge flip keys neurons nuisance start",
        "Lem.4",
        "gates of neurons with the right sign stay open, and those with the wrong sign close, at any speed of the equations",
    ),
    (
        "flip keys neurons nuisance",
        "Eq.42",
        "silent neurons are revived by the first steps, which this leaves as they are",
    ),
    (
        "weight scale flip keys nuisance",
        "Eq.117-120",
        "silent neurons are revived by the first steps, which this leaves as they are",
    ),
    (
        "weight",
        "Eq.109-113",
        "means over both classes, or the class that counts once alone, hardly notice that the other counts twice before the end",
    ),
    (
        "weight",
        "Prop.2 Rem.2 Rem.2-noise Prop.2-pruning Beyond.theorem Beyond.margin Beyond.condition",
        "the class that counts twice reaches its margin earlier; powers of eta, what falls and where attention goes stay",
    ),
    ("weight", "Eq.32", "the class of U counts twice, which makes the coefficient of its neurons larger"),
    (
        "weight scale linear",
        "Eq.149-150 Eq.49-50",
        "keys at alpha_# = 0.4 are pulled back by confusion queries, whichever class counts more, with half the logits and with all gates open",
    ),
    (
        "scale",
        "Beyond.symmetric",
        "logits move so little up to margin 1 that half their weight is within the scatter at this width",
    ),
    (
        "linear",
        "Prop.2 Rem.2 Rem.2-noise Prop.2-pruning Beyond.theorem Beyond.condition",
        "with all gates open the classes are still told apart; powers of eta, what falls and where attention goes stay",
    ),
    ("linear", "Eq.31 Eq.94-98", "the sign that Definition 2 lacks is that of a_i, with ReLU or without"),
    (
        "scale",
        "Prop.2 Rem.2 Rem.2-noise Prop.2-pruning Beyond.theorem Eq.162-170",
        "logits at half their size change levels of attention, not powers of eta, what falls, or the sign of a motion",
    ),
    (
        "weight scale linear tokens flip keys values neurons nuisance",
        "Beyond.freeze",
        "the hinge has no slope behind its margin, whatever drives the system up to it",
    ),
    (
        "hinge",
        "Eq.33",
        "both outputs are zero at this start, where the exponential has the slope of the hinge",
    ),
    ("keys", "Rem.2-noise", "attention hardly changes these times up to margin 1: the neurons and values make them"),
    (
        "scale",
        "Beyond.condition",
        "attention hardly changes these times up to margin 1: the neurons and values make them",
    ),
    (
        "keys",
        "Eq.109-113",
        "growth along p_1 up to margin 1 is made by neurons and values, and attention changes it by less than the tolerance",
    ),
    (
        "nuisance",
        "Rem.2 Rem.2-noise Eq.31 Eq.32 Eq.94-98 Beyond.constant Beyond.condition",
        "nuisance values are a small part of the output: times and growth along p_1 stay within the tolerance",
    ),
    (
        "flip keys start",
        "Thm.1 Prop.1",
        "the bounds on a step stay, and each of these is a flow in eta t that reaches its margin, so that T is of the order 1/eta",
    ),
    (
        "neurons nuisance",
        "Eq.35",
        "the ratio of components stays within the tolerance, and no batch size changes it",
    ),
)
