"""Families: sample orbits with their multiplicities against brute enumeration, pair orbits against real matrices."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from derivations.two_mixture import setting
from odesys.errors import DictionaryError, DistributionError, ParameterError
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.model.group_count import INFINITY

HALF = Fraction(1, 2)


def two_draws() -> Family:
    """Two kinds of draws with unequal odds, a repeated own word and a shared one."""
    uneven = OtherGroups({"v": Fraction(2, 3), "-u": Fraction(1, 3)}, 2)
    first = SampleTemplate(["c", "v", "v", uneven, OtherGroups(["u"]), "-the"], 1, HALF)
    return Family(
        ["c", "u", "v"], [first, SampleTemplate(["c", "-v", OtherGroups(["v", "-v"])], -1, HALF)], shared=["the"]
    )


def listed(family: Family, K: int) -> Counter:
    """Probability of each bag of words and label, by going through every draw one after the other."""
    out: Counter = Counter()
    for template, own in product(family.templates, range(1, K + 1)):
        slots = [
            [(f"{t}{own}" if t.removeprefix("-") in family.words else t, Fraction(1))]
            for t in template.tokens
            if isinstance(t, str)
        ]
        others = [k for k in range(1, K + 1) if k != own]
        for slot in (t for t in template.tokens if isinstance(t, OtherGroups)):
            drawn = [(f"{t}{k}", p / len(others)) for t, p in slot.tokens for k in others]
            slots += [drawn] * slot.count
        for choice in product(*slots):
            weight = template.weight / K
            for _, p in choice:
                weight *= p
            out[tuple(sorted(word for word, _ in choice)), template.label] += weight
    return out


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("make", [lambda: setting.family(4), lambda: setting.family(5), two_draws])
def test_orbits_are_all_samples_with_their_weights(make, K: int) -> None:
    family = make()
    found: Counter = Counter()
    for sample in family.distribution(K).samples:
        found[tuple(sorted(sample.tokens)), sample.label] += sample.weight
    assert found == listed(family, K)


@pytest.mark.parametrize(("L", "orbits"), [(3, 4), (4, 12), (5, 28), (8, 298)])
def test_number_of_orbits_does_not_depend_on_K(L: int, orbits: int) -> None:
    family = setting.family(L)
    assert len(family.orbits()) == orbits == len(family.orbits(10**6))
    assert len(family.orbits(2)) == 2 * (L - 1), "with one other group only the number of minus signs matters"
    for K in (2, 7, 10**9):
        assert sum(orbit.count.at(K) for orbit in family.orbits()) == 1
    limit = family.orbits(INFINITY)
    assert sum(orbit.count.limit() for orbit in limit) == 1 and all(len(o.others) == L - 2 for o in limit)


def test_a_label_may_be_a_word_type() -> None:
    family = Family(["c", "v"], [SampleTemplate(["c"], "v")])
    assert {sample.label for sample in family.samples(2)} == {"v1", "v2"}


def test_bad_families() -> None:
    good = SampleTemplate(["c", OtherGroups(["v"])], 1)
    with pytest.raises(DictionaryError, match="no word type 'x'"):
        Family(["c", "v"], [SampleTemplate(["x"], 1)])
    with pytest.raises(DictionaryError, match="the label 'x' is no word type; the family has c, v, the"):
        Family(["c", "v"], [SampleTemplate(["c"], "x")], shared=["the"])
    with pytest.raises(DictionaryError, match="the is shared by all groups"):
        Family(["c"], [SampleTemplate(["c", OtherGroups(["the"])], 1)], shared=["the"])
    with pytest.raises(DictionaryError, match="'c1' can not name a word type"):
        Family(["c1"], [SampleTemplate(["c1"], 1)])
    with pytest.raises(DistributionError, match="weights of the templates sum to 2"):
        Family(["c", "v"], [good, good])
    with pytest.raises(DistributionError, match="a label is"):
        SampleTemplate(["c"], 0)
    with pytest.raises(DistributionError, match="whole number from 1 on"):
        OtherGroups(["v"], 0)
    with pytest.raises(DistributionError, match="weights are exact"):
        SampleTemplate(["c"], 1, 0.5)
    for L in (2, 3.5, True):
        with pytest.raises(ParameterError, match="so L is a whole number of at least 3"):
            setting.family(L)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="conflicting samples are defined for L = 3, not L = 4"):
        setting.conflicting_family(4)
