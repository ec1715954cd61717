"""Symmetries of a family: found, checked, described; a broken element is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from derivations.two_mixture import setting
from odesys.model.attention import AttentionModel, Head
from odesys.model.family import Family, OtherGroups, SampleTemplate
from odesys.model.family_symmetry import find_type_symmetries, is_type_symmetry

HALF = Fraction(1, 2)


def test_the_two_mixture_family_has_its_flip_and_nothing_that_breaks_it() -> None:
    family = setting.family()
    model = setting.shape(family.dictionary(2))
    found = find_type_symmetries(family, model)
    texts = [element.describe(family, model.head_labels) for element in found]
    assert "v -> -v, head p -> m, head m -> p, label -> -label" in texts
    for element in found:
        assert is_type_symmetry(family, model, element)
        assert not is_type_symmetry(family, model, replace(element, label=-element.label))


def test_symmetries_are_closed_under_composition() -> None:
    family = setting.family()
    model = setting.shape(family.dictionary(2))
    found = set(find_type_symmetries(family, model))
    for first in found:
        for second in found:
            types = tuple((second.types[i][0], s * second.types[i][1]) for i, s in first.types)
            heads = tuple((second.heads[h][0], s * second.heads[h][1]) for h, s in first.heads)
            both = replace(first, types=types, heads=heads, label=first.label * second.label)
            assert both in found or both.describe(family, model.head_labels) == "identity"


def test_unequal_weights_and_relu_heads_leave_less() -> None:
    templates = [
        SampleTemplate(["c", OtherGroups(["c"])], 1, HALF),
        SampleTemplate(["-c", OtherGroups(["-c"])], -1, HALF),
    ]
    even = Family(["c"], templates)
    uneven = Family(["c"], [replace(templates[0], weight=Fraction(2, 3)), replace(templates[1], weight=Fraction(1, 3))])
    linear, relu = (
        (lambda words: AttentionModel(words, [Head()])),
        (lambda words: AttentionModel(words, [Head(1, "relu")])),
    )
    assert len(find_type_symmetries(even, linear(even.dictionary(2)))) == 1
    assert not find_type_symmetries(uneven, linear(uneven.dictionary(2)))
    assert not find_type_symmetries(even, relu(even.dictionary(2)))  # relu(-h) is not -relu(h)
