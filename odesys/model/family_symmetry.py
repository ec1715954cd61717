r"""Symmetries of a family beyond the permutations of its groups: signed permutations of word types, heads, the label.

An element acts on all groups alike, so it is checked once for every K: it must map the weighted sample patterns to
themselves, and the heads to heads of the same shape with :math:`\varsigma_{h(k)}\,\delta_k = \epsilon\,\varsigma_k`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from ..expr import graph
from .attention import AttentionModel
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


def find_type_symmetries(family: Family, model: AttentionModel) -> tuple[TypeSymmetry, ...]:
    """All symmetries that act on the groups alike, the identity left out.

    >>> from fractions import Fraction
    >>> from odesys import Dictionary, Head, SampleTemplate
    >>> good, bad = (SampleTemplate(["c", s], y, Fraction(1, 2)) for s, y in (("v", 1), ("-v", -1)))
    >>> family = Family(["c", "v"], [good, bad])
    >>> model = AttentionModel(Dictionary(family.types), [Head(+1), Head(-1)])
    >>> len(find_type_symmetries(family, model))
    3
    """
    identity = tuple((i, 1) for i in range(len(family.types)))
    found = []
    for types, label in sample_symmetries(family):
        for heads in _head_maps(model, label):
            if (types, label) != (identity, 1) or any(head != (k, 1) for k, head in enumerate(heads)):
                found.append(TypeSymmetry(types, heads, label))
    return tuple(found)


def sample_symmetries(family: Family) -> Iterator[tuple[tuple[Signed, ...], int]]:
    """Signed permutations of word types, with the sign of the label, that map the weighted samples to themselves."""
    for types in _type_maps(family):
        for label in (1, -1):
            if _keeps_samples(family, types, label):
                yield types, label


def is_type_symmetry(family: Family, model: AttentionModel, element: TypeSymmetry) -> bool:
    """Exact check that an element maps samples and heads to themselves."""
    heads = set(_head_maps(model, element.label))
    return _keeps_samples(family, element.types, element.label) and element.heads in heads


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


def _head_maps(model: AttentionModel, label: int) -> Iterator[tuple[Signed, ...]]:
    heads = model.heads
    for order in permutations(range(len(heads))):
        images = []
        for k, h in enumerate(order):
            sign = label * heads[k].sign * heads[h].sign
            odd = heads[k].activation == "linear" and heads[k].bias is graph.ZERO and model.row_activation == "linear"
            alike = heads[k].activation == heads[h].activation and heads[k].bias is heads[h].bias
            if not alike or (sign < 0 and not odd):
                break
            images.append((h, sign))
        else:
            yield tuple(images)
