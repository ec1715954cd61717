r"""Symmetries of a family beyond the permutations of its groups: signed permutations of word types, heads, the label.

An element acts on all groups alike, so it is checked once for every K: here, that it maps the weighted sample patterns
to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from .family import Bag, Family, Signed

_SIGN = {1: "", -1: "-"}


@dataclass(frozen=True)
class TypeSymmetry:
    """Where each word type and each head goes (index, sign), and the sign of the label."""

    types: tuple[Signed, ...]
    heads: tuple[Signed, ...]
    label: int

    def describe(self, family: Family, labels: Sequence[str]) -> str:
        """Readable text, e.g. ``v -> -v, head p -> m, head m -> p, label -> -label``; `labels` name the heads."""
        names = family.types
        parts = [f"{names[i]} -> {_SIGN[s]}{names[j]}" for i, (j, s) in enumerate(self.types) if (j, s) != (i, 1)]
        parts += [f"head {labels[k]} -> {labels[h]}" for k, (h, _) in enumerate(self.heads) if h != k]
        parts += [f"value{labels[k] and ' ' + labels[k]} -> -value" for k, (_, s) in enumerate(self.heads) if s < 0]
        return ", ".join(parts + ["label -> -label"] * (self.label < 0)) or "identity"


def sample_symmetries(family: Family) -> Iterator[tuple[tuple[Signed, ...], int]]:
    """Signed permutations of word types, with the sign of the label, that map the weighted samples to themselves."""
    for types in _type_maps(family):
        for label in (1, -1):
            if _keeps_samples(family, types, label):
                yield types, label


def _type_maps(family: Family) -> Iterator[tuple[Signed, ...]]:
    """Signed permutations of the types that keep shared words shared."""
    split = len(family.words)
    for grouped in permutations(range(split)):
        for rest in permutations(range(split, len(family.types))):
            for signs in product((1, -1), repeat=len(family.types)):
                yield tuple(zip((*grouped, *rest), signs, strict=True))


def _keeps_samples(family: Family, types: tuple[Signed, ...], label: int) -> bool:
    def moved(bag: Bag) -> Bag:
        return tuple(sorted(((types[t][0], types[t][1] * s) for t, s in bag), key=lambda token: (token[0], -token[1])))

    table = family.patterns
    return all(
        table.get((tuple(sorted(map(moved, bags))), moved(shared), label * y)) == weight
        for (bags, shared, y), weight in table.items()
    )
