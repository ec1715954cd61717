"""Explorers as data: sliders that can not be are refused with a sentence."""

from __future__ import annotations

import pytest

from odesys import System, sym
from odesys.errors import ParameterError
from odesys.papers.explorer import LARGEST, Explorer, LiveEvent, LiveProtocol, LiveStage, Panel, Slider
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


X = sym("x")
STAGE = LiveStage("free", System.from_equations({"x": -X}))


def test_a_slider_is_inside_its_range_whose_ends_belong_to_it() -> None:
    for value in (1, 2, 3):
        assert Slider("x", value, 1, 3).value == value
    for value, low, high in ((0.9, 1, 3), (3.1, 1, 3), (1, 1, 1), (2, 3, 1), (0, -LARGEST, 1), (0, -1, LARGEST)):
        with pytest.raises(ParameterError, match=r"the slider x starts at .*, which is not in its range"):
            Slider("x", value, low, high)
    for low, fine in ((-1, False), (0, False), (1e-9, True)):
        if fine:
            assert Slider("x", 1, low, 2, log=True).log
        else:
            with pytest.raises(ParameterError, match="is logarithmic, so its low end"):
                Slider("x", 1, low, 2, log=True)
    assert not Slider("x", 1, 0, 2).log and not Slider("x", 1, 0, 2).whole


def test_a_slider_of_a_parameter_takes_the_words_it_is_given() -> None:
    parameter = Parameter("b", 5.0, "bias")
    assert Slider.of(parameter, 0.1, 9) == Slider("b", 5.0, 0.1, 9, "bias")
    assert Slider.of(parameter, 6, 9, "\\beta", True, "shift") == Slider("b", 5.0, 5.0, 9, "shift", "\\beta", True)


def test_what_is_not_said_of_an_explorer_is_plain() -> None:
    event, panel = LiveEvent("T", X), Panel("x", {"x": X})
    assert (event.direction, event.stops, panel.log) == (0, True, False)
    protocol = LiveProtocol("decay", "free decay", [STAGE], {"x": 1}, 5, [panel])
    assert (protocol.begin, protocol.atol, protocol.log_time, protocol.letter) == (0, 0, False, "t")
    made = Explorer("A decay", [Slider("k", 1, 0, 2), Slider("m", 1, 0, 2)], [protocol])
    assert repr(made) == "<Explorer: sliders k, m; protocols decay>"
