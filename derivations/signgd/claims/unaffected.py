"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    # identities and signs of one sample, and of the toy network
    (
        "ascent",
        "Eq.8-9 Sec.4-display Beyond.gauge Beyond.conservation",
        "up or down the gradient a move has the same length, and symmetries and invariants stay",
    ),
    (
        "loss",
        "Eq.8-9 Sec.4-display Eq.14-15 Sec.E.2 Beyond.cone Beyond.gauge E.1 E.3 E.16-19 E.31-32 E.33 E.38 Beyond.saddle Beyond.signal-saddle Beyond.trap F.3 Beyond.conservation 4.2 Sec.E.5-times E.2 E.4 4.3(1) E.5 E.6 Eq.23 4.3(3) E.9 E.10 IV.a-A IV.a-DEF Eq.37 Eq.32 IV.b-signs Eq.49 App.E.1-cases",
        "every decreasing loss has a slope of one sign, and no more of the loss enters",
    ),
    (
        "shared",
        "App.D-activation F.2a F.2b F.3-gradient F.3 F.4 Beyond.conservation",
        "holds sample by sample for every data set; disjoint supports are not used",
    ),
    (
        "keys",
        "Beyond.gauge E.33",
        "an argument that is zero has every symmetry, and the query's own argument is untouched",
    ),
    ("keys", "D.6 Eq.14-15 Sec.E.2 F.3", "values do not read how keys move"),
    (
        "noise",
        "Beyond.gradient-norm Beyond.conservation E.3",
        "arguments do not depend on the length of a step",
    ),
    (
        "values",
        "D.7 Eq.8-9 Sec.4-display Eq.10-12 Eq.11-13 Beyond.recursion Beyond.gauge E.1 E.3 E.16-19 E.31-32 E.33 Eq.49 E.34-35 E.38 Beyond.saddle Beyond.signal-saddle Beyond.trap Beyond.conservation App.E.1-cases",
        "it is about queries and keys at given values, or about lengths of moves",
    ),
    (
        "frozen",
        "Eq.8-9 Sec.4-display Beyond.cone Beyond.gauge E.31-32 E.33 Eq.49 Beyond.saddle Beyond.signal-saddle Beyond.trap Beyond.conservation",
        "any positive weights a_i, b_i will do",
    ),
    ("frozen", "D.6 Eq.14-15 Sec.E.2 F.3", "values do not read derivatives of the softmax"),
    (
        "temperature",
        "Def.2.1 D.2 App.D-activation D.6 Eq.8-9 Sec.4-display Eq.14-15 Sec.E.2 Beyond.cone Beyond.gauge E.16-19 E.31-32 E.33 Eq.49 E.38 Beyond.saddle Beyond.signal-saddle Beyond.trap F.2a F.3-gradient F.3 F.4 Beyond.conservation App.E.1-cases",
        "a positive factor of the logits changes no sign, and no identity that is written in softmax weights",
    ),
    ("queries", "D.6 Eq.14-15 Sec.E.2 F.3 E.38", "it is about moves of values, or of keys"),
    ("queries", "Eq.8-9 Sec.4-display Beyond.gauge", "a reversed move has the same length and the same symmetries"),
    # what follows from the lengths of moves
    (
        "temperature",
        "Beyond.exponents E.14 Beyond.log-scale 4.3(2) 4.4(3) 4.8(2) E.29 E.39 Beyond.F.1",
        "a constant factor of the logits changes no length of a move, and no order",
    ),
    (
        "loss",
        "Beyond.exponents Beyond.crossing 4.1(1) App.E.1-range 4.1(2) E.8 App.E.1-value E.41-value Thm.3.2(3) Thm.3.2(2) 4.1(3) E.7 4.3(4) E.13 Eq.27-28 E.14 Beyond.log-scale 4.3(2) 4.4(3) 4.5 4.8(2) E.29 E.39 F.1a Beyond.F.1 F.1b-display F.3-rows",
        "every decreasing loss has a slope of one sign, so that the values grow, and no more of the loss enters",
    ),
    (
        "queries",
        "Beyond.exponents Beyond.crossing 4.1(1) App.E.1-range 4.1(2) E.8 App.E.1-value E.41-value Thm.3.2(3) Thm.3.2(2) 4.8(2) F.3-rows F.1b-display",
        "it is about moves of values",
    ),
    (
        "queries",
        "4.1(3) E.7 4.3(4) E.13 Eq.27-28 Beyond.log-scale 4.3(2) E.29 E.39 Beyond.F.1",
        "a reversed move has the same length, and directions are those that the claim names",
    ),
    ("keys", "Beyond.exponents 4.8(2)", "it is about moves of values"),
    ("values", "Beyond.log-scale E.29 E.39", "it is about moves of queries and keys"),
    ("frozen", "Beyond.log-scale E.39 Beyond.F.1", "lengths of moves do not read the softmax"),
    ("ascent", "Beyond.log-scale E.39", "up or down the gradient a move has the same length"),
    *(
        (mutation, "App.E.1-sums", "it takes only that a neuron and its negative run alike, and the lengths of moves")
        for mutation in ("loss", "ascent", "queries", "values", "frozen", "temperature")
    ),
    # statements about watched runs
    (
        "ascent",
        "4.1(3) E.7 4.3(4) E.13 4.3(2) Eq.27-28",
        "values then fall, w_i < 0 for ever, and the reversed step turns the moves of queries and keys back into the paper's",
    ),
    (
        "keys",
        "Thm.3.2(3) E.41-value Beyond.crossing 4.1(1) App.E.1-range 4.1(2) E.8 App.E.1-value F.3-rows F.1b-display",
        "values do not read how keys move",
    ),
    (
        "keys",
        "Thm.3.2(1) Thm.3.2(2)",
        "softmax weights at 1/2 give small training losses and these test losses too",
    ),
    (
        "keys",
        "E.27 Beyond.same-sign",
        "starts and queries alone decide it; a query goes on with the sign of a key that stands still",
    ),
    (
        "noise",
        "E.41 Thm.3.2(1) Thm.3.2-order App.E.1-times-IV E.21 E.22 E.36",
        "a third of the speed changes constants that have room, not exponents or limits",
    ),
    (
        "noise",
        "Beyond.same-sign E.23-24 E.26 4.6 4.7 E.27",
        "noise that still dominates keeps all signs and their order, and bounds from above have room",
    ),
    (
        "values",
        "App.E.1-times-IV Beyond.same-sign E.21 E.23-24 E.25 Beyond.T4-minus E.36 4.7 Beyond.1-2-4 Beyond.flip-time E.27",
        "values that fall keep w_i < 0, which is the paper's system with mirrored keys, k to -k, as a_i and b_i are even in the logits: "
        "times, and queries with their signals, are the same",
    ),
    ("values", "Beyond.trap-share", "values hardly fall in forty steps, so w_i stays positive"),
    (
        "values",
        "4.1(3) E.7 4.3(4) E.13 4.3(2) Eq.27-28",
        "with w_i < 0 queries and keys align with opposite signs and grow as before: sizes, starts, and signs of queries and their sums stay",
    ),
    (
        "frozen",
        "Thm.3.2(3) E.41-value Beyond.crossing 4.1(1) App.E.1-range 4.1(2) E.8 App.E.1-value F.3-rows F.1b-display",
        "values do not read derivatives of the softmax",
    ),
    (
        "frozen",
        "Thm.3.2(2) Beyond.exponents 4.8(2) F.1a",
        "outputs have the true softmax, whose signal part is 1/2 and whose noise part is settled at these times either way",
    ),
    (
        "frozen",
        "4.1(3) E.7 4.3(4) E.13 4.3(2) Beyond.trap-share Eq.27-28",
        "before the key flip the softmax is near 1/2, where its derivative is 1/4 anyway, or only starts and sums count",
    ),
    (
        "temperature",
        "Thm.3.2(3) E.41-value Beyond.crossing 4.1(1) App.E.1-range 4.1(2) E.8 App.E.1-value F.3-rows F.1b-display",
        "values do not read the logits",
    ),
    (
        "temperature",
        "4.1(3) E.1 4.2 Sec.E.5-times E.2 Beyond.same-sign Beyond.stage-two E.3 E.4 4.3(1) E.5 E.6 Eq.23 4.3(3) E.7 4.3(4) E.9 E.10 E.13 E.27 Eq.27-28 Beyond.trap-share",
        "in Stages I to III both weights a_i, b_i are positive and near each other even for these logits, so every sign stays",
    ),
    (
        "temperature",
        "App.E.1-times-IV IV.a-A IV.a-DEF IV.b-signs Beyond.stage-four-a E.22 Eq.37 E.23-24 E.25 Beyond.T4-minus",
        "logits 4096 times as large are queries and keys 64 times as large: T_4^- comes earlier and stays after T_3, with the "
        "same signs and order",
    ),
    (
        "temperature",
        "Thm.3.2(1) Thm.3.2(2) E.41 E.42 Thm.3.2(4) Thm.3.2 Thm.3.2-order 4.8(1) F.1a",
        "flips come 64 times earlier, and the statement is about times after them",
    ),
    (
        "queries",
        "F.1a",
        "margins of fresh samples follow from the values, with softmax weights near 1/2",
    ),
)
