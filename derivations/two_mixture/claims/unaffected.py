"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

STAGE_2 = "E.1(11) E.1(12) E.1(13) E.1(14) E.2 5.5 E.5 Sec.5.2-end E.6 E.7"

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    # statements for all models or data of the kind
    (
        "flip double groups",
        "B.1 B.1(w_-)",
        "it is about gradients of the loss, not about how scores and self-scores then move",
    ),
    (
        "sign bias weight swap labels repeat own",
        "Sec.5.2-system",
        "with the forces held the equations are linear whatever the forces are",
    ),
    ("sign bias labels consistent repeat start own flip double neurons groups", "C.2", "it treats both groups alike"),
    ("sign bias labels repeat", "C.3", "it treats both groups alike"),
    (
        "bias labels consistent repeat start own flip double neurons groups",
        "C.4",
        "it treats both heads alike under v -> -v",
    ),
    ("bias labels repeat", "C.5", "it treats both heads alike under v -> -v"),
    (
        "bias labels consistent repeat own neurons",
        "Beyond.sizes",
        "it keeps both symmetries and the matrix form of the score equations",
    ),
    ("swap labels", "Eq.2", "the features are those of f, which does not contain the label"),
    # what uniform attention can not see
    (
        "labels",
        "D.1 D.2 5.2 D.3 D.4 D.5 5.3 D.6 D.7 D.8 Beyond.T_half App.E.6 E.4-sum",
        "at uniform attention the terms of the conflicting samples cancel in pairs, whatever their common sign",
    ),
    (
        "bias",
        "D.1 D.2 5.2 D.4 D.5 Beyond.T_half App.E.5 E.1-display E.4-display App.E.6 E.4-sum Beyond.manifold E.4/T1 "
        "E.4/exact "
        "Sec.5.2-display",
        "for given gates the bias enters the equations only inside the margins, and the statement is about those",
    ),
    ("consistent repeat neurons", "D.2", "zero stays zero: the two labels cancel, whatever they weigh"),
    ("consistent neurons", "D.6 D.7 D.8", "the gates and margins depend on n, not on how fast n grows"),
    ("own", "D.1", "both labels contribute alike to the classification neurons, so that only their sum counts"),
    ("labels", "5.4", "the signed sum over the four samples vanishes for either sign of all labels"),
    ("sign swap labels", "5.4-text", "the hull of these features contains a point close to 0 as well"),
    ("bias", "5.4-text", "the features are taken with all units on, where the bias is no feature of a word"),
    # the exact subspace of stage 2
    ("labels", "Beyond.manifold E.4/T1 E.4/exact", "each conflicting sample keeps the subspace by itself"),
    ("own", "Beyond.manifold", "each conflicting sample keeps the subspace by itself"),
    (
        "flip double",
        "Beyond.manifold E.4/T1 E.4/exact",
        "a multiple of a whole block of equations keeps a linear subspace",
    ),
    ("flip double", "E.4-sum", "a multiple of a derivative that is zero is zero"),
    ("own double groups", "E.2/region", "a positive rate is certified there too"),
    ("start", "E.4(15)", "it is proved at every state of the subspace, wherever the run starts"),
    (
        "double groups",
        "Sec.5.2-display",
        "it is about the derivative of a score within a group, for given self-scores",
    ),
    # inequalities with room along trajectories
    (
        "start",
        f"{STAGE_2} E.3/order E.3/trajectory F-text F.1 F.2 F.3 F.3-proof Beyond.F.3 Thm.4.1-text Thm.4.1",
        "keys that start larger shorten stage 2 by a constant and leave its directions: orders, signs and bounds stay",
    ),
    (
        "consistent neurons",
        f"{STAGE_2} E.3/order E.3/trajectory E.4 E.4-proof E.4(15) E.4/T1 E.4/exact F-text Thm.4.1-text F.3-proof G-text",
        "it changes n_c and n_v at T1, and the statement is for every T1",
    ),
    ("consistent", "F.3 Beyond.F.3", "the limit of t L does not depend on the weights of the samples"),
    (
        "double",
        f"{STAGE_2} E.3/order E.3/trajectory E.4-proof F-text F.1 F.2 F.3 Thm.4.1-text F.3-proof "
        "Beyond.F.3 Thm.4.1 G-text",
        "faster key self-scores speed stage 2 up and keep its signs and its dominant pair of scores",
    ),
    (
        "own",
        "F-text Thm.4.1-text F.3 F.3-proof G-text",
        "labels that count unequally in a head move scores by less than the inequality has room",
    ),
    (
        "groups",
        "E.1(12) E.1(14) E.2 5.5 E.3/trajectory E.6",
        "the score of c_k for v_k and the self-scores it drives grow as before, and the inequality is about them",
    ),
    ("neurons", "F.3", "neurons that move faster end stage 3 earlier by a constant factor, and the order in eps stays"),
    (
        "groups",
        "F-text F.3 F.3-proof G-text",
        "scores within a group suffice for positive margins, and the statement is about orders, not constants",
    ),
    # two sentences of the proof of E.5
    (
        "bias labels consistent repeat own flip double neurons groups",
        "E.5-proof/T1",
        "it is about the start, which this does not change, and stage 1 moves no score",
    ),
    ("consistent neurons", "E.5-proof/E.2", "it changes n_c and n_v at T1, and the statement is for every T1"),
    (
        "start double groups",
        "E.5-proof/E.2",
        "the product of c_1 and v_1 still falls, and the three that Lemma E.2 is about still grow",
    ),
    # existence
    ("weight consistent", "5.4-text 6.1 6.1/exists", "a margin does not depend on the weight of its sample"),
    # every K
    (
        "bias consistent double flip labels neurons repeat",
        "Beyond.K.two",
        "it changes the family and the listed samples alike, and the statement is that they agree",
    ),
    (
        "bias consistent labels neurons repeat",
        "Beyond.K.stage1",
        "it changes the family and the listed samples alike, and the statement is that they agree",
    ),
    (
        "labels",
        "Beyond.K.T_half",
        "at uniform attention the terms of the conflicting samples cancel in pairs, whatever their common sign",
    ),
    (
        "bias",
        "Beyond.K.kappa Beyond.K.frozen Beyond.K.limit",
        "for given gates the bias enters the equations only inside the margins, and the statement is about those",
    ),
    ("double", "Beyond.K.kappa Beyond.K.frozen", "it is about the force, which is read off the score equations"),
    (
        "consistent templates double neurons",
        "Beyond.K.limit Beyond.K.linear Beyond.K.near_symmetry",
        "factors that do not depend on K change neither orders in K nor the sector that stays small",
    ),
    ("consistent templates neurons", "Beyond.K.T2", "it changes n_c and n_v at T1, and the statement is for every T1"),
    (
        "labels own double groups",
        "E.2/region-none",
        "a wide region holds a point against growth in this system too, and the statement is about one point",
    ),
)
