r"""Data families: words and samples indexed by K groups and permuted by S_K, described once for every K.

A template is a sample of one group, its *own*: own words, shared words, and draws from the other groups. Which other
groups were drawn does not matter, only which draws met in one group; so the samples of a template fall into few orbits,

.. math::  \frac{n!}{\prod_i n_i!}\,\prod_i p_i^{n_i}\;\frac{(K-1)(K-2)\cdots(K-d)}{(K-1)^n} \times \text{orders},

for n draws that met d groups: the multiplicities are polynomials in K, and no sample is enumerated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from ..errors import DictionaryError, DistributionError
from ..expr.graph import ZERO
from .dictionary import Dictionary
from .distribution import Distribution, Sample, SampleArrays
from .group_count import GroupCount, Groups, as_count, below, check_groups, falling, whole_groups

Signed = tuple[int, int]  # word type and sign
Bag = tuple[Signed, ...]
_TYPE = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class OtherGroups:
    """`count` independent draws: each takes another group uniformly and one of `tokens` with its probability.

    Parameters
    ----------
    tokens : Sequence[str] | Mapping[str, Fraction]
        What is drawn of the other group, equally likely or with probabilities.
    count : int, optional
        How many independent draws.

    Examples
    --------
    >>> OtherGroups(["v", "-v"], count=2).tokens
    (('v', Fraction(1, 2)), ('-v', Fraction(1, 2)))
    """

    tokens: tuple[tuple[str, Fraction], ...]
    count: int = 1

    def __init__(self, tokens: Sequence[str] | Mapping[str, Fraction], count: int = 1) -> None:
        if isinstance(tokens, str) or not tokens:
            raise DistributionError(f"a draw from other groups needs a list of word types, got {tokens!r}")
        if isinstance(tokens, Mapping):
            pairs = tuple((str(t), _exact(p, f"the draw of {t}")) for t, p in tokens.items())
        else:
            pairs = tuple((str(t), Fraction(1, len(tokens))) for t in tokens)
        if sum(p for _, p in pairs) != 1:
            raise DistributionError(f"the draw probabilities sum to {sum(p for _, p in pairs)}, not to 1")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise DistributionError(f"a draw from other groups happens {count!r} times; give a whole number from 1 on")
        object.__setattr__(self, "tokens", pairs)
        object.__setattr__(self, "count", count)


@dataclass(frozen=True)
class SampleTemplate:
    """A sample of one group: signed word types of its own (or shared ones), draws from the others, label and weight.

    The weight is that of all K groups together. A label is a sign, or a word type: the class of the own group, or the
    own word of this type among all words.

    Parameters
    ----------
    tokens : Sequence[str | OtherGroups]
        Signed word types, and draws from other groups.
    label : int | str
        A sign, or a word type for a class.
    weight : Any, optional
        Of all K groups together.

    Examples
    --------
    >>> from fractions import Fraction
    >>> SampleTemplate(["c", "-v", OtherGroups(["v"])], label=-1, weight=Fraction(1, 2)).weight
    Fraction(1, 2)
    """

    tokens: tuple[str | OtherGroups, ...]
    label: int | str
    weight: Fraction = Fraction(1)

    def __init__(self, tokens: Sequence[str | OtherGroups], label: int | str, weight: Any = Fraction(1)) -> None:
        if isinstance(tokens, str) or not list(tokens):
            raise DistributionError(f"a template needs a list of at least one token, got {tokens!r}")
        if isinstance(label, bool) or not (isinstance(label, str) or label in (1, -1)):
            raise DistributionError(f"a template has the label {label!r}; a label is +1, -1, or a word type")
        object.__setattr__(self, "tokens", tuple(tokens))
        object.__setattr__(self, "label", label if isinstance(label, str) else int(label))
        object.__setattr__(self, "weight", _exact(weight, "a template"))


def _exact(weight: Any, what: str) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, (int, Fraction)) or weight <= 0:
        raise DistributionError(f"{what} has the weight {weight!r}; weights are exact and positive, as Fraction(1, 2)")
    return Fraction(weight)


@dataclass(frozen=True)
class SampleOrbit:
    """All samples that differ by a permutation of groups: tokens of the own group, of each other group, shared ones.

    `count` is the weight of the whole orbit as a function of K.
    """

    own: Bag
    others: tuple[Bag, ...]
    shared: Bag
    label: int | str
    count: GroupCount

    @property
    def spread(self) -> int:
        """Number of groups that occur."""
        return 1 + len(self.others)

    @property
    def length(self) -> int:
        """Tokens per sample."""
        return len(self.own) + len(self.shared) + sum(map(len, self.others))

    @property
    def pattern(self) -> tuple[Any, ...]:
        """What is left when groups are not told apart, the own one included."""
        return tuple(sorted((self.own, *self.others))), self.shared, self.label


@dataclass(frozen=True)
class Family:
    """Word types with one word per group, shared words, and templates; the same description for every K.

    Parameters
    ----------
    words : Sequence[str]
        Word types, of which every group has its own.
    templates : Iterable[SampleTemplate]
        The samples of one group.
    shared : Sequence[str], optional
        Words that all groups have in common.

    Examples
    --------
    >>> from fractions import Fraction
    >>> noise = OtherGroups(["v", "-v"])
    >>> good, bad = (SampleTemplate(["c", s, noise], y, Fraction(1, 2)) for s, y in (("v", 1), ("-v", -1)))
    >>> family = Family(["c", "v"], [good, bad])
    >>> [str(orbit.count) for orbit in family.orbits()]
    ['1/4', '1/4', '1/4', '1/4']
    """

    words: tuple[str, ...]
    templates: tuple[SampleTemplate, ...]
    shared: tuple[str, ...] = ()

    def __init__(self, words: Sequence[str], templates: Iterable[SampleTemplate], shared: Sequence[str] = ()) -> None:
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "shared", tuple(shared))
        object.__setattr__(self, "templates", tuple(templates))
        if not self.words or not self.templates:
            raise DistributionError("a family needs at least one word type and one template")
        for name in self.types:
            if not isinstance(name, str) or not _TYPE.fullmatch(name):
                raise DictionaryError(f"{name!r} can not name a word type: use letters, groups are numbered behind it")
        if len(set(self.types)) != len(self.types):
            raise DictionaryError("a word type of the family is given twice")
        if len({isinstance(t.label, str) for t in self.templates}) > 1:
            raise DistributionError("some labels of the templates are signs and some word types; give one kind")
        total = sum((t.weight for t in self.templates), Fraction(0))
        if total != 1:
            raise DistributionError(f"the weights of the templates sum to {total}, not to 1", total=total)
        for template in self.templates:
            if isinstance(template.label, str) and template.label not in self.types:
                raise DictionaryError(
                    f"the label {template.label!r} is no word type; the family has {', '.join(self.types)}"
                )
            for token in template.tokens:
                if isinstance(token, OtherGroups):
                    for name, _ in token.tokens:
                        if self.parse(name)[0] >= len(self.words):
                            raise DictionaryError(f"{name} is shared by all groups; it can not be drawn from others")
                else:
                    self.parse(token)

    @property
    def types(self) -> tuple[str, ...]:
        """All word types: those with one word per group, then the shared words."""
        return self.words + self.shared

    def parse(self, token: str) -> Signed:
        """Type and sign of a token such as ``-v``."""
        name = str(token)
        bare = name.removeprefix("-")
        if bare not in self.types:
            raise DictionaryError(f"the family has no word type {bare!r}; it has {', '.join(self.types)}")
        return self.types.index(bare), -1 if name.startswith("-") else 1

    # ---- samples up to permutations of groups ------------------------------------------------------------------------

    def orbits(self, groups: Groups = "symbol") -> tuple[SampleOrbit, ...]:
        """All sample orbits with their weights; for a given number of groups (or the limit) only those that occur."""
        groups = check_groups(groups)
        weights: dict[tuple[Bag, tuple[Bag, ...], Bag, int | str], GroupCount] = {}
        for template in self.templates:
            parsed = [self.parse(t) for t in template.tokens if not isinstance(t, OtherGroups)]
            own = tuple(sorted((t for t in parsed if t[0] < len(self.words)), key=_signed_order))
            shared = tuple(sorted((t for t in parsed if t[0] >= len(self.words)), key=_signed_order))
            for bags, share in self._draws(template).items():
                # every route to these bags meets so many groups one after the other
                draws = sum(map(len, bags))
                count = template.weight * share * falling(1, len(bags)) / _power(below(1), draws)
                key = (own, bags, shared, template.label)
                before = weights[key].coefficient if key in weights else Fraction(0)
                weights[key] = GroupCount(before + count.coefficient, count.powers)
        found = tuple(SampleOrbit(*key, count) for key, count in weights.items())
        return tuple(orbit for orbit in found if groups == "symbol" or orbit.count.node(groups) is not ZERO)

    def _draws(self, template: SampleTemplate) -> dict[tuple[Bag, ...], Fraction]:
        """Probability of each way the draws can meet, per ordered choice of the groups that occur."""
        states: dict[tuple[Bag, ...], Fraction] = {(): Fraction(1)}
        for slot in (t for t in template.tokens if isinstance(t, OtherGroups)):
            options = [(self.parse(token), p) for token, p in slot.tokens]
            for _ in range(slot.count):
                grown: dict[tuple[Bag, ...], Fraction] = {}
                for bags, share in states.items():
                    for token, p in options:
                        for place in range(len(bags) + 1):  # a group met before, or a new one
                            bag = tuple(sorted((*(bags[place] if place < len(bags) else ()), token), key=_signed_order))
                            key = tuple(sorted((*bags[:place], bag, *bags[place + 1 :])))
                            grown[key] = grown.get(key, Fraction(0)) + share * p
                states = grown
        return states

    @cached_property
    def patterns(self) -> dict[tuple[Any, ...], dict[tuple[tuple[int, int], ...], Fraction]]:
        """Weight of each sample pattern, as a sum of counts: what a symmetry of the family must preserve."""
        table: dict[tuple[Any, ...], dict[tuple[tuple[int, int], ...], Fraction]] = {}
        for orbit in self.orbits():
            sums = table.setdefault(orbit.pattern, {})
            sums[orbit.count.powers] = sums.get(orbit.count.powers, Fraction(0)) + orbit.count.coefficient
        return table

    # ---- the words of a few groups -----------------------------------------------------------------------------------

    def dictionary(self, groups: int) -> Dictionary:
        """Orthonormal words of so many groups: each type in turn, numbered by group; shared words last."""
        whole_groups(groups)
        return Dictionary([f"{t}{k}" for t in self.words for k in range(1, groups + 1)] + list(self.shared))

    def place(self, kind: int, group: int, groups: int) -> int:
        """Index in `dictionary(groups)` of the word of a type in a group (counted from 0)."""
        return kind * groups + group if kind < len(self.words) else len(self.words) * (groups - 1) + kind

    def window(self, orbits: Sequence[SampleOrbit]) -> int:
        """Groups needed to write down one sample of each orbit, and one pair of different groups.

        Classes, one for each group, need one that is in no sample: it stands for all such groups.
        """
        return max(2, *(orbit.spread + isinstance(orbit.label, str) for orbit in orbits))

    def target(self, label: int | str, group: int, groups: int) -> int | str:
        """The label of a sample of a group: a sign, or the name of a word."""
        if not isinstance(label, str):
            return label
        return self.dictionary(groups).words[self.place(self.types.index(label), group, groups)]

    def distribution(self, groups: int) -> Distribution:
        """The whole population for a small number of groups, sample by sample: K = 2, 3, ... only."""
        return Distribution(self.samples(groups))

    def samples(self, groups: int) -> list[Sample]:
        """All samples of a small number of groups with their weights."""
        size = whole_groups(groups)
        samples = []
        names = self.dictionary(size).words
        for orbit in self.orbits(size):
            members: Counter[tuple[tuple[Signed, ...], int | str]] = Counter()
            for own in range(size):
                target = self.target(orbit.label, own, size)
                for chosen in permutations([g for g in range(size) if g != own], len(orbit.others)):
                    members[self._tokens(orbit, (own, *chosen), size), target] += 1
            for (tokens, target), times in members.items():
                words = [f"{'-' if s < 0 else ''}{names[i]}" for i, s in tokens]
                samples.append(Sample(words, target, orbit.count.at(size) * Fraction(times, members.total())))
        return samples

    def _tokens(self, orbit: SampleOrbit, groups: Sequence[int], size: int) -> tuple[Signed, ...]:
        """Words and signs of a sample of an orbit when its groups are `groups`, in a fixed order."""
        own = [(self.place(t, groups[0], size), s) for t, s in orbit.own]
        bags = zip(groups[1:], orbit.others, strict=True)
        rest = sorted((self.place(t, g, size), s) for g, bag in bags for t, s in bag)
        return (*own, *rest, *((self.place(t, 0, size), s) for t, s in orbit.shared))


@dataclass(frozen=True)
class Representatives:
    """One sample of each orbit, written in the words of a few groups, with weights that may contain K."""

    family: Family
    orbits: tuple[SampleOrbit, ...]
    groups: Groups
    window: int

    def names(self) -> list[str]:
        """The samples as text, e.g. ``(c1, v1, -v2)``."""
        words = self.family.dictionary(self.window).words
        tokens = [[f"{'-' if s < 0 else ''}{words[i]}" for i, s in self._tokens(orbit)] for orbit in self.orbits]
        return [f"({', '.join(sample)})" for sample in tokens]

    def _tokens(self, orbit: SampleOrbit) -> tuple[Signed, ...]:
        return self.family._tokens(orbit, range(orbit.spread), self.window)

    def encode(self, dictionary: Dictionary) -> tuple[SampleArrays, ...]:
        """Samples as index arrays, one record per length, as `Distribution.encode` does."""
        by_length: dict[int, list[int]] = {}
        for position, orbit in enumerate(self.orbits):
            by_length.setdefault(orbit.length, []).append(position)
        tokens = [self._tokens(orbit) for orbit in self.orbits]
        return tuple(
            SampleArrays(
                np.array([[i for i, _ in tokens[p]] for p in places]),
                np.array([[s for _, s in tokens[p]] for p in places]),
                np.array([self.family.target(self.orbits[p].label, 0, self.window) for p in places]),
                tuple(self.orbits[p].count.node(self.groups) for p in places),  # type: ignore[misc]
                tuple(places),
            )
            for _, places in sorted(by_length.items())
        )


def _signed_order(token: Signed) -> tuple[int, int]:
    return token[0], -token[1]


def _power(count: GroupCount, exponent: int) -> GroupCount:
    product = as_count(1)
    for _ in range(exponent):
        product = product * count
    return product


__all__ = ["Family", "OtherGroups", "Representatives", "SampleOrbit", "SampleTemplate"]
