"""Families: sample orbits with their multiplicities against brute enumeration, pair orbits against real matrices."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from derivations.two_mixture import setting
from odesys.errors import DictionaryError, DistributionError, ParameterError
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.model.group_count import GROUPS, INFINITY, as_count, below, check_groups, falling
from odesys.model.orbit_algebra import OrbitAlgebra, PairSpace, Pin, structure_constants

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


def test_multiplicities_are_polynomials_over_powers() -> None:
    counts = {orbit.others: orbit.count for orbit in setting.family(4).orbits() if orbit.label == 1}
    v, minus = (1, 1), (1, -1)
    assert counts[((v, minus),)] == as_count(Fraction(1, 4)) / below(1)
    assert counts[((minus,), (v,))] == Fraction(1, 4) * below(2) / below(1)
    assert counts[((v,), (v,))] == Fraction(1, 8) * below(2) / below(1)


def test_counts() -> None:
    pairs = GROUPS * below(1)
    assert pairs.at(5) == 20 and pairs.degree == 2 and (pairs / GROUPS).degree == 1
    assert falling(1, 3).at(3) == 0 and falling(1, 3).at(5) == 24
    assert (below(2) / below(1)).limit() == 1 and (1 * below(2) / pairs).limit() == 0
    assert str(2 * pairs / below(2)) == "2 K^1 (K - 1)^1 (K - 2)^-1"
    with pytest.raises(ParameterError, match="grows without bound"):
        pairs.limit()


def matrices(space: PairSpace, K: int) -> list[np.ndarray]:
    """The orbit matrices themselves: entry 1 where a pair belongs to the orbit."""
    ends = [
        [(kind, g) for kind, grouped in enumerate(pin.grouped) for g in (range(K) if grouped else (0,))]
        for pin in (space.left, space.right)
    ]
    out = [np.zeros((len(ends[0]), len(ends[1])), dtype=int) for _ in space.pairs]
    for (r, (i, g)), (c, (j, h)) in product(enumerate(ends[0]), enumerate(ends[1])):
        both = space.left.grouped[i] and space.right.grouped[j]
        out[space.index[i, j, ("same" if g == h else "other") if both else ""]][r, c] = 1
    return out


@pytest.mark.parametrize("K", [2, 3, 5])
def test_structure_constants_are_those_of_real_matrices(K: int) -> None:
    words, rows = Pin((True, True, False)), Pin((False, False))
    for left, middle, right in product((words, rows), repeat=3):
        first, second, ends = PairSpace(left, middle), PairSpace(middle, right), PairSpace(left, right)
        a, b, c = matrices(first, K), matrices(second, K), matrices(ends, K)
        assert [m.sum() for m in a] == [size.at(K) for size in first.sizes()]
        turned = matrices(first.T, K)
        assert all((turned[k] == m.T).all() for k, m in zip(first.T.transposed(), a, strict=True))
        table = structure_constants(first, second)
        rest = {(i, j): x @ y for i, x in enumerate(a) for j, y in enumerate(b)}
        for i, j, k, count in zip(table.first, table.second, table.result, table.counts, strict=True):
            rest[i, j] = rest[i, j] - int(count.at(K)) * c[k]
        assert all((m == 0).all() for m in rest.values())


def test_scaled_products_stay_bounded() -> None:
    words = PairSpace(Pin((True, True)), Pin((True, True)))
    assert all(row[3].degree <= 0 for row in OrbitAlgebra("symbol", scaled=True)._products(words, words))
    assert any(row[3].degree > 0 for row in OrbitAlgebra("symbol")._products(words, words))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1, "K = 1 is too small: a family has at least 2 groups"),
        (2.5, "K = 2.5 is not a whole number of groups"),
        ("three", "K = 'three' is not a whole number"),
        (True, "is not a number of groups"),
        (None, "K = None is not a"),
    ],
)
def test_bad_numbers_of_groups(value: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        check_groups(value)


def test_bad_families() -> None:
    good = SampleTemplate(["c", OtherGroups(["v"])], 1)
    with pytest.raises(DictionaryError, match="no word type 'x'"):
        Family(["c", "v"], [SampleTemplate(["x"], 1)])
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
