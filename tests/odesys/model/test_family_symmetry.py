"""Symmetries of the samples of a family: found, closed under composition, described; unequal weights leave less."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

from derivations.two_mixture import setting
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.model.family_symmetry import TypeSymmetry, sample_symmetries

HALF = Fraction(1, 2)
IDENTITY = ((0, 1), (1, 1))


def test_the_two_mixture_family_has_its_flip_and_nothing_that_breaks_it() -> None:
    family = setting.family()
    found = set(sample_symmetries(family))
    flip = ((0, 1), (1, -1))
    assert family.types == ("c", "v") and (flip, -1) in found
    assert all((types, -label) not in found for types, label in found)
    text = TypeSymmetry(flip, ((1, 1), (0, 1)), -1).describe(family, ("p", "m"))
    assert text == "v -> -v, head p -> m, head m -> p, label -> -label"
    odd = TypeSymmetry(IDENTITY, ((0, -1),), -1).describe(family, ("",))
    assert odd == "value -> -value, label -> -label"
    assert TypeSymmetry(IDENTITY, ((0, 1),), 1).describe(family, ("",)) == "identity"


def test_symmetries_are_closed_under_composition() -> None:
    found = set(sample_symmetries(setting.family()))
    assert (IDENTITY, 1) in found and len(found) > 1
    for first, one in found:
        for second, two in found:
            types = tuple((second[i][0], s * second[i][1]) for i, s in first)
            assert (types, one * two) in found


def test_unequal_weights_leave_less() -> None:
    templates = [
        SampleTemplate(["c", OtherGroups(["c"])], 1, HALF),
        SampleTemplate(["-c", OtherGroups(["-c"])], -1, HALF),
    ]
    even = Family(["c"], templates)
    uneven = Family(["c"], [replace(templates[0], weight=Fraction(2, 3)), replace(templates[1], weight=Fraction(1, 3))])
    assert set(sample_symmetries(even)) == {(((0, 1),), 1), (((0, -1),), -1)}
    assert set(sample_symmetries(uneven)) == {(((0, 1),), 1)}


def enumerated(family: Family, K: int) -> set:
    """Signed permutations of types that map all samples of K groups to themselves, tried one by one on the samples."""
    samples = Counter[tuple]()
    words = family.dictionary(K).words
    for s in family.samples(K):
        samples[tuple(sorted(s.tokens)), s.label] += s.weight
    n, split, found = len(family.types), len(family.words), set()

    def moved(token: str, types: tuple) -> str:
        sign, word = (-1, token[1:]) if token.startswith("-") else (1, token)
        place = words.index(word)
        kind, group = divmod(place, K) if place < split * K else (split + place - split * K, 0)
        image, s = types[kind]
        return f"{'-' if s * sign < 0 else ''}{words[family.place(image, group, K)]}"

    for order in permutations(range(n)):
        if any((i < split) != (j < split) for i, j in enumerate(order)):
            continue
        for signs in product((1, -1), repeat=n):
            types = tuple(zip(order, signs, strict=True))
            for label in (1, -1):
                image = Counter[tuple]()
                for (tokens, y), weight in samples.items():
                    image[tuple(sorted(moved(t, types) for t in tokens)), label * y] += weight
                if image == samples:
                    found.add((types, label))
    return found


def test_the_symmetries_are_those_of_all_samples_of_a_few_groups() -> None:
    draw, even = OtherGroups(["v", "-v"]), OtherGroups({"u": HALF, "v": HALF})
    families = [
        Family(["c", "v"], [SampleTemplate(["c", "v", draw], 1, HALF), SampleTemplate(["c", "-v", draw], -1, HALF)]),
        Family(["u", "v"], [SampleTemplate(["u", "v", even], 1)]),
        Family(["v"], [SampleTemplate(["v", "-v", OtherGroups(["v", "-v"], 2)], 1)]),
        Family(["u", "v"], [SampleTemplate(["u", even], 1, HALF), SampleTemplate(["v", even], -1, HALF)]),
        Family(["u"], [SampleTemplate(["u", "a", "b"], 1, HALF), SampleTemplate(["u", "-b"], 1, HALF)], ["a", "b"]),
        Family(
            ["u"], [SampleTemplate(["u", "a", "-b"], 1, HALF), SampleTemplate(["u", "b", "-a"], -1, HALF)], ["a", "b"]
        ),
    ]
    orders = []
    for family in families:
        found = list(sample_symmetries(family))
        assert len(set(found)) == len(found) and set(found) == enumerated(family, 3)
        orders.append(len(found))
    assert len(set(orders)) > 2


def test_texts_of_several_heads_and_types() -> None:
    family = Family(["c", "v"], [SampleTemplate(["c"], 1)], shared=["the"])
    moves = TypeSymmetry(((1, -1), (0, 1), (2, -1)), ((0, -1), (2, 1), (1, -1)), 1)
    text = moves.describe(family, ("a", "b", "c"))
    assert text == "c -> -v, v -> c, the -> -the, head b -> c, head c -> b, value a -> -value, value c -> -value"
