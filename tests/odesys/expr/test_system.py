"""A system pairs every state with its right-hand side."""

import numpy as np
import pytest
import sympy as sp

from odesys import EquationError, System, graph, stated, sym
from odesys.expr.field import ScalarField
from odesys.expr.system import State, WrittenEquations, state_vector

X, Y = sp.symbols("x y")


def test_equations_pair_names_and_right_hand_sides() -> None:
    system = System.from_equations({Y: X, X: -Y})
    assert tuple(system.equations) == system.names == ("y", "x")
    assert tuple(system.equations.values()) == system.nodes
    again = System.from_equations(system.equations)
    assert again.equations == system.equations


def test_time_is_no_state() -> None:
    with pytest.raises(EquationError, match="t is time"):
        System.from_strings("t' = 1")
    with pytest.raises(EquationError, match="t is time"):
        System.from_equations({"x": sym("x")}, parameters=["t"])
    with pytest.raises(EquationError, match="Latin or Greek"):
        System.from_strings("人口' = -人口")


def test_states_that_never_move_become_parameters() -> None:
    frozen = System.from_strings("x' = -k*w*x, w' = 0, y' = x").freeze_still()
    assert frozen.names == ("x", "y") and frozen.parameters == ("k", "w")
    assert frozen.equations == {"x": -sym("k") * sym("w") * sym("x"), "y": sym("x")}


def test_rates_and_next_values_are_called_so_in_what_is_recorded() -> None:
    for kind, node, title in (("flow", 2 * sym("x"), "rate_of_x"), ("map", 3 * sym("x"), "next_x")):
        with stated.recorded():
            assert System.from_equations({"x": node}, kind=kind).equations["x"] is node
            assert stated.titles[node] == title


def turning(**more: object) -> System:
    """Four states that turn in pairs, with an exchange of the pairs."""
    return System.from_strings({"x": "-y", "y": "x", "u": "-v", "v": "u"}, **more)


def test_a_quotient_is_by_what_is_given_or_by_all_that_is_found() -> None:
    system = System.from_strings({"x": "y - x**2", "y": "x - y**2", "z": "x + y - z"})
    by_hand = system.quotient([{"x": "y", "y": "x"}])
    assert by_hand.system.dimension == 2 and system.quotient([]).system.dimension == 3
    found = system.symmetries()
    assert found.order == 2 and system.quotient(list(found)).system.dimension == system.quotient().system.dimension
    start = np.array([0.3, 0.3, 0.1])
    moved = system.compile()(0.0, start)
    assert by_hand.lift(by_hand.system.compile()(0.0, by_hand.project(start))) == pytest.approx(moved)


def test_surfaces_move_with_states_and_time_and_may_be_nested() -> None:
    step = graph.step
    x, y, k, t = map(sym, "xykt")
    system = System.from_equations({"x": step(y - k) + step(k) - x, "y": step(t - 1), "k": 0 * x})
    assert system.moving == ("x", "y")
    moves = dict(zip(map(str, system.surfaces), system.moving_surfaces, strict=True))
    assert moves == {str(s): s is not k for s in system.surfaces} and len(moves) == 3
    assert not system.nested_surfaces and System.from_equations({"x": step(x - step(x))}).nested_surfaces
    still_map = System.from_equations({"x": x, "y": x + y}, kind="map")
    assert still_map.moving == ("y",) and still_map.freeze_still().parameters == ("x",)


def test_observables_may_use_all_names_and_no_others() -> None:
    system = System.from_strings({"x": "-k*x"}, observables={"twice": "2*x"})
    more = system.with_observables({"energy": "x", "scaled": sym("k") * sym("x") + sym("t")})
    assert list(more.observables) == ["twice", "energy", "scaled"] and more.nodes == system.nodes
    assert more.compile(k=2).observables(3.0, [5.0]) == {"twice": 10.0, "energy": 5.0, "scaled": 13.0}
    with pytest.raises(EquationError, match="an observable uses q, which is neither"):
        system.with_observables({"wrong": sym("q")})


def test_parameters_are_replaced_by_numbers_and_by_others() -> None:
    system = System.from_strings({"x": "-k*x + m", "y": "x/k"}, observables={"kx": "k*x"})
    half = system.substitute({"k": sym("c") + 1})
    assert half.parameters == ("m", "c") and half.equations["x"] == sym("m") - (sym("c") + 1) * sym("x")
    assert half.observables["kx"] == (sym("c") + 1) * sym("x") and half.names == system.names
    number = system.substitute({sp.Symbol("k"): 2, "m": 0})
    assert number.parameters == () and number.equations == {"x": -2 * sym("x"), "y": sym("x") / 2}
    for values, words in (({"q": 1}, "q is not a parameter; the parameters are k, m"), ({"k": 0}, "divide by zero")):
        with pytest.raises(EquationError, match=words):
            system.substitute(values)
    with pytest.raises(EquationError, match="the parameters are none"):
        number.substitute({"x": 1})


def test_jacobians_and_expressions_of_sympy_are_those_of_the_equations() -> None:
    system = System.from_strings({"x": "x*y + k", "y": "sin(x)"})
    x, y = system.states
    assert system.jacobian() == sp.Matrix([[y, x], [sp.cos(x), 0]])
    assert system.rhs == (x * y + sp.Symbol("k", real=True), sp.sin(x)) and system.dimension == 2
    edges = set(system.dependency_graph().edges)
    assert edges == {("x", "x"), ("y", "x"), ("x", "y")}


def test_names_are_used_once_and_structure_is_that_of_states() -> None:
    field = ScalarField((sym("y"), sym("x")), {})
    for names, parameters, words in (
        (("x", "x"), (), "the name x is used twice"),
        (("x", "y"), ("y",), "the name y is used twice"),
        (("x", "2y"), (), "can not name a state"),
        (("x", "for"), (), "can not name a state"),
        (("x", "t"), (), "t is time"),
    ):
        with pytest.raises(EquationError, match=words):
            System(names, field, parameters)
    assert System(("x", "t"), field, kind="map").names == ("x", "t")
    with pytest.raises(EquationError, match="a flow or a map, not 'sde'"):
        System(("x", "y"), field, kind="sde")
    with pytest.raises(EquationError, match="z is not a state"):
        System(("x", "y"), field, structure={"z": State("w")})
    known = System(("x", "y"), field, structure={"x": State("w"), "y": State("KQ")})
    assert known.on_path("w") == ("x",) and known.on_path("w", "KQ") == ("x", "y") and known.on_path("QQ") == ()
    with pytest.raises(EquationError, match="the equations use q, which is neither") as caught:
        System.from_equations({"x": sym("q")})
    assert caught.value.unknown == ("q",)


def test_a_system_is_told_in_a_line() -> None:
    assert repr(turning()) == "<System: flow of 4 states (x, y, u, v)>"
    damped = System.from_strings({"x": "-k*x"}, kind="map")
    assert repr(damped) == "<System: map of 1 states (x), parameters k>"


def test_definitions_may_use_each_other_and_are_all_put_in() -> None:
    x, a, b, c = map(sym, "xabc")
    made = System.from_equations({"x": 2 * (x + 1) ** 2 + 2 * (x + 1) + 1})
    written = WrittenEquations(made.field, {"c": 2 * b + 1, "b": a * x + a, "a": x + 1}, (c,))
    (node,) = written.expanded()
    assert not graph.symbols([node]) - {"x"} and graph.evaluate([node], {"x": 2}, {}, int) == [19]
    none = WrittenEquations(made.field, {}, made.nodes)
    assert none.expanded() == made.nodes


def test_a_state_vector_has_one_number_per_state() -> None:
    system = System.from_strings({"x": "y", "y": "-x", "z": "0"})
    assert state_vector(system, {"z": 3, "x": 1, "y": 2}) == [1, 2, 3] == state_vector(system, iter([1, 2, 3]))
    assert state_vector(system, {sp.Symbol("x"): 1, "y": 2, "z": 3}) == [1, 2, 3]
    for values, words in (
        ({"x": 1, "z": 3}, "the state is not complete: y has no value; the states are x, y, z"),
        ({"x": 1, "y": 2, "z": 3, "q": 4}, "q is not a state; the states are x, y, z"),
        ({"x": 1, "q": 2}, "y has no value"),
        ([1, 2], "the state has 2 entries but the system has 3 states"),
        ([1, 2, 3, 4], "the state has 4 entries"),
    ):
        with pytest.raises(EquationError, match=words):
            state_vector(system, values)
    wide = System.from_strings({f"x{k}": "0" for k in range(14)})
    with pytest.raises(EquationError, match=r"the states are x0, .*, x11$"):
        state_vector(wide, {})


def test_a_system_hands_its_questions_on() -> None:
    """To the modules that answer them, with what they are asked for."""
    system = System.from_strings({"x": "k*y", "y": "-k*x"})
    x, y = sym("x"), sym("y")
    again = System.from_json(system.to_json())
    assert (again.names, again.parameters, again.equations) == (system.names, system.parameters, system.equations)
    assert "\\begin{aligned}" in system.latex() and "\\begin{align}" in system.latex(environment="align")
    assert str(system._repr_latex_()).strip("$").endswith(system.latex()) and "2 states" in system._repr_html_()
    (energy,) = system.first_integrals()
    assert energy.node is x**2 + y**2 and "degree at most 3" in repr(system.first_integrals(degree=3))
    assert len(System.from_strings({"x": "y", "y": "-sin(x)"}).first_integrals(2, [graph.call("cos", x)])) == 1
    points = system.equilibria({"k": 1})
    assert len(points) == 1 and len(system.equilibria({"k": 1}, {"x": (1, 2), "y": (1, 2)})) == 0
    sums = System.from_strings({"x": "-x", "y": "-y", "z": "x + y - z"})
    assert sums.lump("z").system.dimension == 2
    for kwargs in ({"parameters": {"k": 2}}, {"k": 2}, {"parameters": {"k": 5}, "k": 2}):
        assert system.compile(backend="scalar", **kwargs)(0.0, [1.0, 3.0]).tolist() == [6.0, -2.0]


def test_letters_of_sympy_get_names_and_keep_their_tex() -> None:
    alpha, kappa = sp.symbols("α kappa_1")
    system = System.from_equations({alpha: -kappa * alpha}, [kappa], tex={"kappa_1": "K"})
    assert system.names == ("alpha",) and system.parameters == ("kappa_1",)
    assert system.tex["alpha"] == r"\alpha" and system.tex["kappa_1"] == "K"
    seen = System.from_equations({"x": sym("t")}, observables={"twice": 2 * sym("x")}, kind="flow")
    assert seen.parameters == () and seen.observables == {"twice": 2 * sym("x")} and seen.kind == "flow"
    with pytest.raises(EquationError, match="the equations use b, which is neither") as caught:
        System.from_equations({"x": sym("c") + 0 * sym("x")}, observables={"o": sym("b")})
    assert caught.value.unknown == ("b", "c")


def test_what_is_frozen_keeps_observables_and_structure() -> None:
    structure = {"x": State("w"), "z": State("KQ")}
    field = ScalarField((sym("z") * sym("x"), graph.ZERO), {"both": sym("x") + sym("z")})
    frozen = System(("x", "z"), field, ("k",), structure=structure).freeze_still()
    assert (frozen.names, frozen.parameters, frozen.structure) == (("x",), ("k", "z"), {"x": State("w")})
    assert frozen.observables == {"both": sym("x") + sym("z")} and frozen.moving == ("x",)
