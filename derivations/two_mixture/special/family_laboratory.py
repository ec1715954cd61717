"""The mutations for every K, on templates; here because claims are made for every number of groups.

The four templates (label times distractor sign) are written as the four samples of the first group and broken as
samples are, so ``weight`` and ``swap`` hit the second and the last of them; those two and ``sign`` break the head
symmetry and are refused. The start of a family can not be broken.
"""

from __future__ import annotations

from collections.abc import Sequence

from odesys import (
    Family,
    FamilyFlow,
    Mutation,
    OdesysError,
    OtherGroups,
    Sample,
    SampleTemplate,
    family_flow,
    unchanged,
)

from .. import dynamics, setting
from ..laboratory import FamilyMutation


def templates(mutation: Mutation, stage: str) -> list[SampleTemplate]:
    """The samples of L = 3 by label and sign of the distractor, possibly mutated; stage 2 has the conflicting ones."""
    plain = [s for s in setting.data().samples if s.tokens[0] == "c1"]
    broken = mutation.data(plain)
    if isinstance(mutation, FamilyMutation):
        broken = mutation.templates(broken)
    if stage == "stage2":
        broken = [b for s, b in zip(plain, broken, strict=True) if setting.is_conflicting(s)]
    return _of_all_groups(broken)


def _of_all_groups(samples: Sequence[Sample]) -> list[SampleTemplate]:
    """Samples of the first of two groups as templates: the other group stands for any other."""
    total = sum(s.weight for s in samples)
    rows = []
    for s in samples:
        *own, other = (token.removesuffix("1").removesuffix("2") for token in s.tokens)
        rows.append(SampleTemplate([*own, OtherGroups([other])], s.label, s.weight / total))
    return rows


def mutated_family(mutation: Mutation, stage: str, K: int | str, scaled: bool) -> FamilyFlow:
    """The orbit variables of a stage for L = 3, under the symmetries of the unmutated family (checked exactly)."""
    if mutation.start is not unchanged:
        raise OdesysError(f"the mutation {mutation.name!r} is not defined for families: it breaks the start")
    symmetries = dynamics.family("simultaneous").symmetries
    flow = family_flow(
        Family(["c", "v"], templates(mutation, stage)),
        lambda words: mutation.model(setting.TwoHeads(words)),
        train=dynamics.STAGES[stage],
        carry=dynamics.ALL,
        K=K,
        scaled=scaled,
        symmetries=symmetries,
    )
    flow = mutation.equations(flow)
    return flow.rename(dynamics.orbit_names(flow.system))
