"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all. The reason `UNMOVED` is computed: such a claim holds only if what it reads off the
runs of the (broken) system agrees with networks trained in weight space, so a pair that survives has just shown it.
"""

from __future__ import annotations

UNMOVED = (
    "every number it reads off runs still agrees with the trained networks to 1e-6: what is broken moves them by less"
)
G_ONLY = "E.7 E.9 E.10 E.11 E.11-proof E.12 E.13 E.14 E.15 E.17 E.19 4.3 E.20 E.27 F.2 F.4 F.6 4.5 F.7 F.8 F.20 F.9 F.10 F.12 F.14 F.15 Beyond.level3"  # read no scores

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    # runs: computed, see above; E.3, E.23 and E.24 read absolute values, which scores that move backwards keep
    ("keys", f"{G_ONLY} F.5 4.4", UNMOVED),
    ("flip", f"{G_ONLY} E.3 E.23 E.24", UNMOVED),
    ("scale", "E.11-proof F.20 Beyond.level3", UNMOVED),
    ("values beta wide", "E.11-proof E.15", UNMOVED),
    ("labels weight G", "E.11-proof", UNMOVED),
    # exact statements that are true of the broken system too
    ("beta wide", "Beyond.rigid", "a multiple of zero is zero, and the second part does not read these equations"),
    ("scale unscaled", "D.7-proof E.4-proof", "it is about states with all scores zero, whatever multiplies them"),
    (
        "labels",
        "F.6-proof",
        "a label enters the coefficients of the quadratic twice, as a factor of the force and of the margin: only its square counts",
    ),
    (
        "labels",
        "F.16-signs",
        "A_21 has no force from I2, and with the other label the term of I2 in A_31 is negative as well: the program proves both signs there too",
    ),
    ("weight", "F.16-signs", "no sample of I4 has a target word, so none enters the scores with one as query"),
    (
        "scale G",
        "F.16-signs",
        "positive factors of scores or of the speed of G leave the signs, which are proved there too",
    ),
    # late times
    (
        "weight",
        "Beyond.finite_n-run F.11 Thm.3.3/order",
        "I4 is not at the margin, so that constants of late times do not depend on how much its samples count",
    ),
    (
        "G",
        "F.11",
        "at leading order the change of Gamma_ab is G_a G_b / beta whatever the speed of G, and a factor in time moves ln(tau) by a constant",
    ),
)
