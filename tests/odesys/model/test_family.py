"""Families: sample orbits with their multiplicities against brute enumeration, pair orbits against real matrices."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from derivations.two_mixture import setting
from odesys.errors import DictionaryError, DistributionError, ParameterError
from odesys.model.dictionary import Dictionary
from odesys.model.family import Family, OtherGroups, Representatives, SampleTemplate
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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: OtherGroups("v"), "needs a list of word types, got 'v'"),
        (lambda: OtherGroups([]), r"needs a list of word types, got \[\]"),
        (lambda: OtherGroups({"v": HALF, "u": Fraction(1, 3)}), "draw probabilities sum to 5/6, not to 1"),
        (lambda: OtherGroups({"v": 0.5, "u": HALF}), "the draw of v has the weight 0.5; weights are exact"),
        (lambda: OtherGroups({"v": 0, "u": 1}), "the draw of v has the weight 0"),
        (lambda: OtherGroups(["v"], True), "happens True times"),
        (lambda: OtherGroups(["v"], 1.0), "happens 1.0 times"),
        (lambda: SampleTemplate("c", 1), "needs a list of at least one token, got 'c'"),
        (lambda: SampleTemplate([], 1), "needs a list of at least one token"),
        (lambda: SampleTemplate(["c"], True), "has the label True"),
        (lambda: SampleTemplate(["c"], 2), "has the label 2"),
        (lambda: SampleTemplate(["c"], 1, True), "a template has the weight True"),
        (lambda: SampleTemplate(["c"], 1, 0), "a template has the weight 0"),
        (lambda: SampleTemplate(["c"], 1, Fraction(-1, 2)), "exact and positive"),
        (lambda: Family([], [SampleTemplate(["c"], 1)]), "at least one word type and one template"),
        (lambda: Family(["c"], []), "at least one word type and one template"),
        (lambda: Family(["c", "c"], [SampleTemplate(["c"], 1)]), "given twice"),
        (lambda: Family(["c"], [SampleTemplate(["c"], 1)], shared=["c"]), "given twice"),
        (lambda: Family([1], [SampleTemplate(["c"], 1)]), "1 can not name a word type"),
        (
            lambda: Family(["c"], [SampleTemplate(["c"], 1, HALF), SampleTemplate(["c"], "c", HALF)]),
            "are signs and some word types",
        ),
        (lambda: Family(["c"], [SampleTemplate(["c", OtherGroups(["x"])], 1)]), "no word type 'x'"),
    ],
)
def test_mistakes_get_a_sentence(make, words: str) -> None:
    with pytest.raises((DictionaryError, DistributionError), match=words):
        make()


def test_defaults_and_boundaries_of_what_may_be_given() -> None:
    assert OtherGroups(["v"]).count == 1 and OtherGroups(["v"], count=3).count == 3
    assert OtherGroups(["a", "b", "c"]).tokens == tuple((t, Fraction(1, 3)) for t in "abc")
    assert SampleTemplate(["c"], -1).weight == 1 and type(SampleTemplate(["c"], 1).weight) is Fraction
    assert SampleTemplate(["c"], 1.0).label == 1 and type(SampleTemplate(["c"], 1.0).label) is int
    assert SampleTemplate(["c", "-c"], "c").tokens == ("c", "-c")
    several = Family(["c", "v"], [SampleTemplate(["c"], "v", HALF), SampleTemplate(["v"], "c", HALF)])
    assert {s.label for s in several.samples(2)} == {"c1", "c2", "v1", "v2"}
    assert several.parse("-v") == (1, -1) and several.parse("c") == (0, 1)


def test_an_orbit_counts_its_tokens_and_groups() -> None:
    for family in (two_draws(), setting.family(5)):
        for orbit in family.orbits():
            names = orbit.own + orbit.shared + tuple(token for bag in orbit.others for token in bag)
            assert orbit.length == len(names) and orbit.spread == 1 + len(orbit.others)
            bags, shared, label = orbit.pattern
            assert Counter(bags) == Counter((orbit.own, *orbit.others))
            assert (shared, label) == (orbit.shared, orbit.label)
            for bag in (orbit.own, orbit.shared, *orbit.others):
                assert list(bag) == sorted(bag, key=lambda t: (t[0], -t[1])), "a word before its negative"


def test_patterns_sum_the_weights_of_their_orbits() -> None:
    """At every K a pattern has the weight of all orbits that differ by which of their groups is the own one."""
    template = SampleTemplate(["c", OtherGroups(["c", "-c"], 2)], 1)
    for family in (Family(["c"], [template]), two_draws()):
        for K in (3, 5, 8):
            sums: Counter = Counter()
            for orbit in family.orbits():
                sums[orbit.pattern] += orbit.count.at(K)
            table = {
                pattern: sum(c * _value(powers, K) for powers, c in counts.items())
                for pattern, counts in family.patterns.items()
            }
            assert table == sums and sum(table.values()) == 1
    assert max(len(counts) for counts in Family(["c"], [template]).patterns.values()) >= 1


def _value(powers: tuple[tuple[int, int], ...], K: int) -> Fraction:
    out = Fraction(1)
    for r, e in powers:
        out *= Fraction(K - r) ** e
    return out


@pytest.mark.parametrize("K", [2, 3, 5])
def test_words_of_groups_stand_in_their_places(K: int) -> None:
    family = two_draws()
    dictionary = family.dictionary(K)
    assert dictionary.words == (*(f"{t}{g}" for t in "cuv" for g in range(1, K + 1)), "the")
    for kind, name in enumerate(family.types):
        for group in range(K):
            word = name if name == "the" else f"{name}{group + 1}"
            assert dictionary.words[family.place(kind, group, K)] == word
            assert family.target(name, group, K) == word
    assert family.target(-1, 0, K) == -1
    two = Family(["c"], [SampleTemplate(["c"], 1)], shared=["the", "of"])
    assert [two.place(k, 0, K) for k in (1, 2)] == [K, K + 1]


def test_representatives_are_members_of_their_orbits() -> None:
    """One sample of each orbit in the words of a few groups, in the arrays that a distribution has."""
    for family, labelled in ((two_draws(), 0), (Family(["c", "v"], [SampleTemplate(["c", "v"], "v")]), 1)):
        orbits = family.orbits()
        window = family.window(orbits)
        assert window == max(2, *(1 + len(o.others) + labelled for o in orbits))
        made = Representatives(family, orbits, "symbol", window)
        dictionary, seen = family.dictionary(window), {}
        for arrays in made.encode(dictionary):
            assert arrays.words.shape == arrays.signs.shape == (len(arrays.positions), arrays.length)
            for k, place in enumerate(arrays.positions):
                tokens = tuple(zip(arrays.words[k].tolist(), arrays.signs[k].tolist(), strict=True))
                seen[place] = tokens
                orbit = orbits[place]
                groups: dict[int, list] = {g: [] for g in range(window)}
                shared = []
                for word, sign in tokens:
                    kind, group = divmod(word, window) if word < len(family.words) * window else (None, None)
                    if kind is None:
                        shared.append((len(family.words) + word - len(family.words) * window, sign))
                    else:
                        groups[group].append((kind, sign))
                assert Counter(groups[0]) == Counter(orbit.own) and Counter(shared) == Counter(orbit.shared)
                rest = Counter(tuple(sorted(b)) for g, b in groups.items() if g and b)
                assert rest == Counter(tuple(sorted(b)) for b in orbit.others)
                assert arrays.weights[k] is orbit.count.node("symbol")
                assert arrays.labels[k] == family.target(orbit.label, 0, window)
        assert sorted(seen) == list(range(len(orbits)))
        names = [[f"{'-' if s < 0 else ''}{dictionary.words[i]}" for i, s in seen[k]] for k in range(len(orbits))]
        assert made.names() == [f"({', '.join(each)})" for each in names]
        assert [a.length for a in made.encode(dictionary)] == sorted({o.length for o in orbits})


def test_the_window_of_a_class_has_a_group_that_is_in_no_sample() -> None:
    template = SampleTemplate(["c", OtherGroups(["c"], 2)], "c")
    family = Family(["c"], [template])
    assert family.window(family.orbits()) == 4
    assert Family(["c"], [SampleTemplate(["c"], 1)]).window(Family(["c"], [SampleTemplate(["c"], 1)]).orbits()) == 2
    assert isinstance(family.dictionary(3), Dictionary)
    with pytest.raises(ParameterError):
        family.dictionary(1)


def test_only_orbits_that_occur_are_listed() -> None:
    family = Family(["c"], [SampleTemplate(["c", OtherGroups(["c", "-c"], 2)], 1)])
    assert len(family.orbits()) == 6 and len(family.orbits(2)) == 3 and len(family.orbits(3)) == 6
    assert len(family.orbits(INFINITY)) == 3
