"""Explorers as data: sliders that can not be are refused with a sentence."""

from __future__ import annotations

import pytest

from odesys.errors import ParameterError
from odesys.papers.explorer import Slider
from odesys.papers.paper import Parameter


def test_a_slider_of_a_parameter_has_its_default_and_its_words() -> None:
    slider = Slider.of(Parameter("K", 2, "number of groups", int, low=2), 2, 100, "K", log=True)
    assert (slider.value, slider.whole, slider.words) == (2.0, True, "number of groups")
    assert Slider.of(Parameter("b", 5.0, "bias"), 0.1, 2).high == 5.0  # a default is always in reach


def test_impossible_sliders_are_refused() -> None:
    with pytest.raises(ParameterError, match="starts at 3, which is not in its range"):
        Slider("x", 3, 0, 1)
    with pytest.raises(ParameterError, match="logarithmic"):
        Slider("x", 0, 0, 1, log=True)
    with pytest.raises(ParameterError, match="not in its range"):
        Slider("x", float("nan"), 0, 1)
