"""CellML: joined components, constants, observables, units, and what is refused by name."""

from __future__ import annotations

import pytest

from odesys.errors import EquationError
from odesys.reading.cellml import system_from_cellml
from odesys.reading.grammar import Grammar

HEAD = '<model xmlns="http://www.cellml.org/cellml/1.0#" xmlns:cellml="http://www.cellml.org/cellml/1.0#" name="m">'
MS = '<units name="ms"><unit units="second" prefix="milli"/></units>'
CLOCK = '<component name="env"><variable name="time" units="ms" public_interface="out"/></component>'
JOIN = (
    '<connection><map_components component_1="env" component_2="main"/>'
    '<map_variables variable_1="time" variable_2="time"/></connection>'
)
MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML">'
RATE = "<apply><eq/><apply><diff/><bvar><ci>time</ci></bvar><ci>{}</ci></apply>{}</apply>"
POINT = '<variable name="{}" units="dimensionless" {}/>'


def model(inner: str, equations: str, extra: str = "", time: str = "ms") -> str:
    clock = f'<variable name="time" units="{time}" public_interface="in"/>'
    main = f'<component name="main">{clock}{inner}{MATH}{equations}</math></component>'
    return f"{HEAD}{MS}{CLOCK}{main}{JOIN}{extra}</model>"


VAN_DER_POL = model(
    POINT.format("x", 'initial_value="2"') + POINT.format("y", 'initial_value="0"') + POINT.format("d", "")
    + POINT.format("mu", 'initial_value="1.5"'),
    RATE.format("x", "<ci>y</ci>")
    + RATE.format("y", "<apply><minus/><apply><times/><ci>mu</ci><ci>d</ci><ci>y</ci></apply><ci>x</ci></apply>")
    + "<apply><eq/><ci>d</ci><apply><minus/><cn>1</cn><apply><power/><ci>x</ci><cn>2</cn></apply></apply></apply>",
)  # fmt: skip


def test_the_oscillator_of_van_der_pol() -> None:
    reading = system_from_cellml(VAN_DER_POL)
    assert reading.system.equations == {"x": Grammar().read("y"), "y": Grammar().read("mu*(1 - x^2)*y - x")}
    assert reading.values == {"mu": 1.5} and reading.start == {"x": 2, "y": 0} and "d" in reading.system.observables


def test_time_is_time() -> None:
    reading = system_from_cellml(model(POINT.format("x", 'initial_value="1"'), RATE.format("x", "<ci>time</ci>")))
    assert reading.system.equations["x"] is Grammar().read("t")


def test_names_that_two_components_use() -> None:
    seven = POINT.format("x", 'initial_value="7"')
    other = f'<component name="other">{seven}</component>'
    text = model(POINT.format("x", 'initial_value="1"'), RATE.format("x", "<ci>x</ci>"), other)
    assert system_from_cellml(text).system.names == ("main_x",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (model("", "", "<import/>"), "an import of another file"),
        (model(POINT.format("x", ""), RATE.format("x", "<ci>x</ci>"), time="second"), "of another size"),
        (model(POINT.format("x", ""), RATE.format("x", "<ci>k</ci>")), "k, which is no variable"),
        (model(POINT.format("x", "") + POINT.format("k", ""), RATE.format("x", "<ci>k</ci>")), "k has neither"),
        (model(POINT.format("x", ""), "<apply><eq/><cn>1</cn><ci>x</ci></apply>"), "implicit equation"),
        (model(POINT.format("x", ""), "<apply><eq/><ci>x</ci><cn>1</cn></apply>"), "no derivative"),
        ("<html/>", "starts with <model>"),
        (model(POINT.format("x", 'initial_value="1e999999999"'), RATE.format("x", "<ci>x</ci>")), "999999999 digits"),
        (model(POINT.format("x", ""), RATE.format("x", "<apply><sin/></apply>")), "0 arguments"),
        (model(POINT.format("x", ""), "<apply/>"), "fewer parts"),
        (model(POINT.format("x", ""), "<apply><eq/><apply><diff/><ci>x</ci></apply><ci>x</ci></apply>"), "fewer parts"),
        (
            model(POINT.format("x", ""), RATE.format("x", "<apply><sin/>" * 3000 + "<ci>x</ci>" + "</apply>" * 3000)),
            "nested more deeply",
        ),
        ("<model>", "this is not XML"),
        (
            model(
                POINT.format("x", "") + POINT.format("a", "") + POINT.format("b", ""),
                RATE.format("x", "<ci>a</ci>")
                + "<apply><eq/><ci>a</ci><ci>b</ci></apply><apply><eq/><ci>b</ci><ci>a</ci></apply>",
            ),
            "given by each other",
        ),
    ],
)
def test_what_can_not_be_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        system_from_cellml(text)


def test_a_joined_variable_is_named_by_the_component_that_gives_it() -> None:
    given = POINT.format("m", 'public_interface="out"')
    giver = f'<component name="gate">{given}{MATH}<apply><eq/><ci>m</ci><cn>3</cn></apply></math></component>'
    join = (
        '<connection><map_components component_1="main" component_2="gate"/>'
        '<map_variables variable_1="gain" variable_2="m"/></connection>'
    )
    inner = (
        POINT.format("x", 'initial_value="1"') + '<variable name="gain" units="dimensionless" public_interface="in"/>'
    )
    rate = RATE.format("x", "<apply><times/><ci>gain</ci><ci>x</ci></apply>")
    reading = system_from_cellml(model(inner, rate, giver + join))
    assert reading.system.equations["x"] == Grammar().read("3*x") and "gain" not in reading.system.observables
