"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

#: mutations, claims, and why these keep their verdict under those
REASONS: tuple[tuple[str, str, str], ...] = (
    ("weight", "D.1", "the weight of a sample does not enter its output"),
    (
        "sign",
        "E.6 D.8 D.10 Eq.62-71",
        "in the variables -v the broken system is the paper's: losses, scores and attention stay",
    ),
    (
        "scale pool repeat values",
        "E.6 D.8 D.10",
        "bounds with room: the winner is decided in stage 1 by a factor of 270 or 300, and factors of two or three do not matter",
    ),
    (
        "repeat values",
        "Eq.62-71",
        "an order: a factor in the speed of values, or a second copy of the signal, changes its constant",
    ),
    ("values", "Eq.177", "the value of the signal stays small in the harmful regime for any speed of the values"),
    ("noise", "D.8 D.10 Eq.62-71", "in the benign regime the values of noise are below a millionth of the signal's"),
)
