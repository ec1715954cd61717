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


X = POINT.format("x", 'initial_value="1"')
RISE = RATE.format("x", "<ci>k</ci>")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (model(X, RISE), "the component main has an equation with k, which is no variable of it"),
        (model(X + POINT.format("k", ""), RISE), "k has neither an equation nor an initial value"),
        (model(X + POINT.format("k", 'initial_value="1"'), RISE + RISE), "x has two equations"),
        (model(X, "<ci>x</ci>"), "the component main has a formula that is no equation"),
        (
            model(X, "<apply><plus/><ci>x</ci><ci>x</ci></apply>"),
            "the component main has a formula that is no equation",
        ),
        (model(X, "<apply><eq/><ci>x</ci></apply>"), "the component main has a formula that is no equation"),
        (
            model(X, RATE.format("x", "<ci>x</ci>").replace("</bvar>", "<degree><cn>2</cn></degree></bvar>")),
            "the component main has a derivative of higher order; write first-order equations",
        ),
        (
            model(X, "<apply><eq/><apply><sin/><ci>x</ci></apply><cn>1</cn></apply>"),
            "the component main has an implicit equation, whose left side is no variable",
        ),
        (
            model(X, RISE, JOIN.replace('variable_1="time"', 'variable_1="tim"')),
            "a connection names env.tim, which is no variable",
        ),
        (
            model(X, RISE, JOIN.replace('variable_2="time"', 'variable_2="tim"')),
            "a connection names main.tim, which is no variable",
        ),
        (
            model(
                X + POINT.format("s", ""),
                RATE.format("x", "<ci>x</ci>") + RATE.format("s", "<cn>1</cn>").replace("time", "x"),
            ),
            "the file has several times: ['time', 'x']",
        ),
        (
            model(X, RATE.format("x", "<ci>x</ci>"), time="second"),
            "env.time in ms is joined to main.time in second, of another size; units are not converted",
        ),
        (
            model(X + POINT.format("k", 'initial_value="j"') + POINT.format("j", ""), RISE),
            "the initial value of k is that of j, which has none",
        ),
        ("<html/>", "a CellML file starts with <model>, not <html>"),
        (
            model(X, RISE, "<reaction/>"),
            "this CellML file has the element <reaction>; write its rates as equations, which is not read",
        ),
        (model(X, RISE, "<reset/>"), "this CellML file has a jump of the state, which is not read"),
    ],
)
def test_the_sentence_says_what_is_wrong_and_where(text: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_cellml(text)
    assert str(caught.value) == said


@pytest.mark.parametrize("order", ["kji", "ijk", "jki"])
def test_an_initial_value_may_be_that_of_another_in_any_order_of_the_file(order: str) -> None:
    given = {"k": "j", "j": "i", "i": "4"}
    variables = "".join(POINT.format(name, f'initial_value="{given[name]}"') for name in order)
    reading = system_from_cellml(model(X + variables, RISE))
    assert reading.values == {"k": 4} and reading.start == {"x": 1} and reading.system.parameters == ("k",)


def test_what_is_assigned_follows_from_states_and_constants_through_others() -> None:
    """In any order of the file; a constant that is not used is no parameter."""
    inner = X + "".join(POINT.format(name, "") for name in "ab") + POINT.format("k", 'initial_value="5"')
    twice, more = (f"<apply><times/><ci>k</ci><ci>{name}</ci></apply>" for name in "bx")
    equations = (
        f"<apply><eq/><ci>a</ci>{twice}</apply><apply><eq/><ci>b</ci>{more}</apply>{RATE.format('x', '<ci>a</ci>')}"
    )
    reading = system_from_cellml(model(inner + POINT.format("idle", 'initial_value="1"'), equations))
    assert reading.system.equations == {"x": Grammar().read("k^2*x")} and reading.values == {"k": 5}
    assert dict(reading.system.observables) == {"a": Grammar().read("k^2*x"), "b": Grammar().read("k*x")}


@pytest.mark.parametrize(
    ("gate", "main", "name"),
    [
        ('public_interface="out"', 'public_interface="in"', "m"),
        ('private_interface="out"', 'public_interface="in"', "m"),
        ('public_interface="in"', 'public_interface="out"', "gain"),
        ('public_interface="in"', 'initial_value="2"', "gain"),
        ('public_interface="out" initial_value="2"', 'public_interface="out"', "m"),
        ("", "", "gain"),
    ],
)
def test_the_owner_of_a_joined_variable_gives_its_name(gate: str, main: str, name: str) -> None:
    """It has the initial value, or it hands the variable out, or it is the first in the file."""
    for pair in ('component_1="main" component_2="gate"', 'component_2="main" component_1="gate"'):
        first, second = ("gain", "m") if 'component_1="main"' in pair else ("m", "gain")
        giver = f'<component name="gate">{POINT.format("m", gate)}</component>'
        join = f'<connection {pair}><map_variables variable_1="{first}" variable_2="{second}"/></connection>'
        inner = X + POINT.format("gain", main) + POINT.format("own", 'initial_value="3"')
        text = model(inner, RATE.format("x", "<apply><plus/><ci>gain</ci><ci>own</ci></apply>"), giver + join)
        if "initial_value" in gate + main:
            assert system_from_cellml(text).values == {name: 2, "own": 3}
        else:
            with pytest.raises(EquationError, match=f"^{name} has neither an equation nor an initial value"):
                system_from_cellml(text)


def test_chains_of_connections_are_one_variable() -> None:
    parts = [f'<component name="c{k}">{POINT.format("v", "")}</component>' for k in range(3)]
    last = f'<component name="c3">{POINT.format("v", "initial_value=" + chr(34) + "6" + chr(34))}</component>'
    joins = [
        f'<connection component_1="{a}" component_2="{b}"><map_variables variable_1="{u}" variable_2="v"/></connection>'
        for a, u, b in (("c1", "v", "c0"), ("main", "k", "c2"), ("c1", "v", "c2"), ("c0", "v", "c3"))
    ]
    reading = system_from_cellml(model(X + POINT.format("k", ""), RISE, "".join([*parts, last, *joins])))
    assert reading.values == {"v": 6} and reading.system.nodes == (Grammar().read("v"),)


def _file(*components: str, more: str = "") -> str:
    return f'<model xmlns="http://www.cellml.org/cellml/1.0#" name="m">{"".join(components)}{more}</model>'


def _component(name: str, variables: dict[str, object], state: str, factors: str, more: str = "") -> str:
    given = "".join(
        f'<variable name="{v}" units="dimensionless"' + ("/>" if value is None else f' initial_value="{value}"/>')
        for v, value in variables.items()
    )
    product = "".join(f"<ci>{factor}</ci>" for factor in factors.split())
    return (
        f'<component name="{name}">{given}<math xmlns="http://www.w3.org/1998/Math/MathML"><apply><eq/><apply><diff/>'
        f"<bvar><ci>time</ci></bvar><ci>{state}</ci></apply><apply><times/>{product}</apply></apply>{more}</math>"
        f"</component>"
    )


def test_no_two_variables_have_one_name() -> None:
    joined = (
        '<connection><map_components component_1="A" component_2="B"/>'
        '<map_variables variable_1="time" variable_2="time"/></connection>'
    )
    one = _component("A", {"time": None, "x": 1, "k": 2, "B_k": 50}, "x", "k B_k x")
    two = _component("B", {"time": None, "y": 1, "k": 3}, "y", "k y")
    reading = system_from_cellml(_file(one, two, more=joined))
    assert reading.values == {"A_k": 2, "B_k": 50, "B_k_2": 3}
    assert reading.notes == ("B.k is called B_k_2, as B_k is taken",)
    words = _component("A", {"time": None, "x": 1, "lambda": 2, "lambda_": 3}, "x", "lambda lambda_ x")
    assert system_from_cellml(_file(words)).values == {"A_lambda": 2, "A_lambda_": 3}


def test_a_variable_called_t_that_is_not_time_keeps_its_value() -> None:
    reading = system_from_cellml(_file(_component("A", {"time": None, "x": 1, "t": 2}, "x", "t time x")))
    assert reading.values == {"A_t": 2} and str(reading.system.nodes[0]) == "Node(A_t*t*x)"
    assert system_from_cellml(_file(_component("A", {"time": None, "t": 1}, "t", "t"))).start == {"A_t": 1}


def test_what_is_given_twice_in_a_file_is_refused() -> None:
    k = {"time": None, "x": 1, "k": 2}
    joined = (
        '<connection><map_components component_1="A" component_2="B"/>'
        '<map_variables variable_1="k" variable_2="k"/></connection>'
    )
    other = '<component name="{}"><variable name="k" units="dimensionless" initial_value="3"/></component>'
    own = "<apply><eq/><ci>time</ci><cn>3</cn></apply>"
    for text, said in (
        (_file(_component("A", k, "x", "k x"), other.format("A")), "the variable A.k is there twice"),
        (_file(_component("A", k, "x", "k x"), other.format("B"), more=joined), "k has two initial values, 2 and 3"),
        (_file(_component("A", k, "x", "k time", own)), "time is time and has an equation of its own"),
    ):
        with pytest.raises(EquationError, match=said):
            system_from_cellml(text)
