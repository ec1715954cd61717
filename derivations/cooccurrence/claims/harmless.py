"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all. The reason `UNMOVED` is computed: such a claim holds only if what it reads off the
runs of the (broken) system agrees with networks trained in weight space, so a pair that survives has just shown it.
"""

from __future__ import annotations

from odesys.claims import ClaimBook

UNMOVED = "every number it reads off runs still agrees with the trained networks to 1e-6: what is broken moves them by less"


def explain(book: ClaimBook) -> None:
    """State all reasons: mutations, claims, and why they keep their verdict."""
