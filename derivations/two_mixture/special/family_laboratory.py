"""The mutations for every K, on templates; here because claims are made for every number of groups.

The four templates (label times distractor sign) stand where the four samples of the first group stand, so ``weight``
and ``swap`` hit the second and the last of them; those two and ``sign`` break the head symmetry and are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from odesys import (
    AttentionModel,
    Dictionary,
    Family,
    FamilyFlow,
    Head,
    OdesysError,
    OtherGroups,
    SampleTemplate,
    family_flow,
    find_type_symmetries,
    sym,
)

from .. import dynamics, setting
from ..laboratory import BROKEN, broken

KNOWN = ("", "sign", "bias", "weight", "swap", "labels", "consistent", "repeat", "templates", *BROKEN)


def templates(mutation: str, stage: str) -> list[SampleTemplate]:
    """The samples of L = 3 by label and sign of the distractor, possibly mutated; stage 2 has the conflicting ones."""
    rows = [(s, r, s, Fraction(1)) for s in (1, -1) for r in (1, -1)]  # signal, distractor, label, weight
    if mutation == "weight":
        rows[1] = (*rows[1][:3], Fraction(2))
    if mutation == "labels":
        rows = [(s, r, y if s == r else -y, w) for s, r, y, w in rows]
    if mutation in ("consistent", "templates"):
        rows = [(s, r, y, 2 * w if s == r else w) for s, r, y, w in rows]
    if mutation == "swap":
        (s, r, y, w), (s2, r2, y2, w2) = rows[1], rows[-1]
        rows[1], rows[-1] = (s, r, y2, w), (s2, r2, y, w2)
    if stage == "stage2":
        rows = [row for row in rows if row[0] != row[1]]
    total = sum(row[3] for row in rows)
    word = {1: "v", -1: "-v"}
    times = 2 if mutation == "repeat" else 1
    return [SampleTemplate(["c", *[word[s]] * times, OtherGroups([word[r]])], y, w / total) for s, r, y, w in rows]


def shape(mutation: str) -> Callable[[Dictionary], AttentionModel]:
    """The two-headed model; ``sign`` turns the minus head into a plus head, ``bias`` reverses the bias."""
    if mutation not in ("sign", "bias"):
        return setting.shape
    second, bias = (+1, sym("b")) if mutation == "sign" else (-1, -sym("b"))
    return lambda words: AttentionModel(words, [Head(sign, activation="relu", bias=bias) for sign in (+1, second)])


@cache
def mutated_family(mutation: str, stage: str, K: int | str, scaled: bool) -> FamilyFlow:
    """The orbit variables of a stage for L = 3, under the symmetries of the unmutated family (checked exactly)."""
    if mutation not in KNOWN:
        raise OdesysError(f"the mutation {mutation!r} is not defined for families; there are {', '.join(KNOWN[1:])}")
    model = setting.shape(setting.family().dictionary(2))
    symmetries = find_type_symmetries(setting.family(), model)
    flow = family_flow(
        Family(["c", "v"], templates(mutation, stage)),
        shape(mutation),
        train=dynamics.STAGES[stage],
        carry=dynamics.ALL,
        K=K,
        scaled=scaled,
        symmetries=symmetries,
    )
    flow = broken(flow, *BROKEN[mutation]) if mutation in BROKEN else flow
    return flow.rename({name: dynamics.family_name(name) for name in flow.system.names})
