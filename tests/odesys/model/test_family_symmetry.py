"""Symmetries of the samples of a family: found, closed under composition, described; unequal weights leave less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

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
