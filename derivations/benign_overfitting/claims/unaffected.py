"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS: tuple[tuple[str, str, str], ...] = (
    ("weight", "Def.3.1 Def.5.1 D.1", "the weight of a sample enters neither its tokens nor its output"),
    (
        "weight sign scale pool repeat",
        "Beyond.invariants",
        "the two traces are kept by dS = G H K + Q H G and its companions for every force H: model and data enter through H alone",
    ),
    (
        "sign",
        "Eq.62-71 Beyond.MF.stage2 Beyond.MF.sums Eq.102-105 Beyond.MF.keys D.7 E.5-time D.8-proof Thm.4.1 Thm.4.2",
        "in the variables -v the broken system is the paper's: losses, scores and attention stay",
    ),
    ("scale", "Beyond.MF.stage1 Beyond.MF.lazy", "these are at scores zero, where a factor of the scores does nothing"),
    (
        "repeat",
        "Beyond.MF.stage3",
        "with all attention on the winner the output is its value, however often the signal stands in the sample",
    ),
    (
        "repeat flip",
        "Beyond.unbalanced",
        "what was changed is changed in both systems that are compared, and in the late laws all attention is on the winner, so that the output is its value",
    ),
    (
        "scale repeat",
        "Beyond.drawn",
        "at the training loss epsilon attention is saturated: values follow v' = c sigma(-v), which knows neither the factor of the scores nor a second copy",
    ),
    (
        "scale pool repeat values",
        "D.8-proof",
        "bounds with room: the winner is decided in stage 1 by a factor of 270 or 300, and factors of two or three do not matter",
    ),
    (
        "scale pool repeat values",
        "Eq.102-105 Beyond.MF.keys",
        "orders: output, scores or values with a factor of two or three, or a second copy of the signal, change their constants alone",
    ),
    (
        "scale repeat",
        "D.7 E.5-time Thm.4.1 Thm.4.2",
        "with all attention on the winner T_3 is that of v' = c sigma(-v), which knows neither the factor of the scores nor a second copy",
    ),
    ("pool values", "Beyond.MF.sums", "an order: a factor in the speed of values changes its constant alone"),
    (
        "repeat values",
        "Eq.62-71",
        "an order: a factor in the speed of values, or a second copy of the signal, changes its constant",
    ),
    ("noise", "Eq.77-85 5.1/update", "the steps of gamma, of the two signals, do not read the noise that was changed"),
    (
        "noise",
        "Eq.62-71 Beyond.MF.sums Eq.102-105 Beyond.MF.keys D.7 D.8-proof Thm.4.1",
        "in the benign regime the values of noise are below a millionth of the signal's",
    ),
)
