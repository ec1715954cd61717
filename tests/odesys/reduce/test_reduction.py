"""One protocol for every map between systems: lift, project, law, what a lift needs, composition, and warnings."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from odesys import (
    AttentionModel,
    Dictionary,
    Distribution,
    EquationError,
    Family,
    Flow,
    Head,
    NothingMovesWarning,
    ParameterError,
    Reduction,
    Sample,
    SampleTemplate,
    State,
    System,
    blocks,
    family_descent,
    family_flow,
    gradient_flow,
    graph,
    in_new_variables,
    restrict_to_subspace,
    sym,
)
from odesys.errors import SlavingError
from odesys.expr.field import BlockField, ScalarField
from odesys.model.family import OtherGroups
from odesys.reduce.reduction import EXACT_LIMIT, _small, columns_at, rates_at, stands_still
from odesys.verdicts import Evidence

HALF = Fraction(1, 2)
X, Y, Z, U, V = (sym(name) for name in "xyzuv")


def linear(words: Dictionary) -> AttentionModel:
    return AttentionModel(words, [Head()])


@cache
def toy() -> Flow:
    data = Distribution([Sample(["a", "b"], 1, HALF), Sample(["-a", "b"], -1, HALF)])
    return gradient_flow(linear(Dictionary(["a", "b"])), data)


@cache
def every_k(**more):
    templates = [SampleTemplate(["c", OtherGroups(["c"]), "the"], 1, HALF), SampleTemplate(["c", "-the"], -1, HALF)]
    return family_flow(Family(["c"], templates, shared=["the"]), linear, **more)


@cache
def every_k_step():
    templates = [SampleTemplate(["c", OtherGroups(["c"])], 1, HALF), SampleTemplate(["c"], -1, HALF)]
    return family_descent(Family(["c"], templates), linear)


def by_hand() -> Reduction:
    system = System.from_equations({"x": X * Y - Z, "y": Y * X + Z, "z": X - Y})
    return system.quotient([{"x": "y", "y": "x", "z": "-z"}])


def new_variables() -> Reduction:
    system = System.from_equations({"x": X * Y, "y": X - Y * Y})
    return in_new_variables(system, {"u": X + Y, "v": X - Y}, {"x": (U + V) / 2, "y": (U - V) / 2}, time=2)


def subspace() -> Reduction:
    return restrict_to_subspace(toy().quotient(), tie={"QQ_a_a": "KK_a_a", "QQ_b_b": "KK_b_b"})


MADE = {
    "quotient": lambda: toy().quotient(),
    "invariant subspace": subspace,
    "subspace of a quotient": lambda: toy().quotient().then(subspace()),
    "quotient of a system written by hand": by_hand,
    "new variables": new_variables,
    "slaved quotient": lambda: toy().quotient().slaved().bind(omega=0.5),
    "slaved flow": lambda: toy().slaved().bind(omega=0.5),
    "family": lambda: every_k().bind(K=3),
    "family of steps": lambda: every_k_step().bind(K=3),
    "slaved family": lambda: every_k().slaved().bind(omega=0.5, K=3),
    "two after each other": lambda: every_k().bind(K=3).then(every_k().slaved().bind(omega=0.5, K=3)),
}
COMPOSED = ("subspace of a quotient", "two after each other")
MEASURED = ("slaved flow", "slaved family", "two after each other")  # numerical roots, or nested ones


@cache
def made(name: str) -> Reduction:
    return MADE[name]()


@pytest.mark.parametrize("name", MADE)
def test_every_reduction_obeys_its_law_and_comes_back(name: str) -> None:
    reduction = made(name)
    z = np.random.default_rng(1).uniform(0.1, 0.5, (3, reduction.system.dimension))
    full = reduction.lift(z)
    assert full.shape == (3, reduction.source.dimension)
    assert np.abs(reduction.project(full) - z).max() < 1e-14
    assert np.abs(reduction.lift(z[1]) - full[1]).max() < 1e-15
    law = reduction.law()
    assert law.as_stated == "holds", law
    assert law.evidence == (Evidence.MEASUREMENT if name in MEASURED else Evidence.PROOF)


@pytest.mark.parametrize("name", [name for name in MADE if name not in COMPOSED])
def test_a_wrong_system_breaks_the_law(name: str) -> None:
    reduction = made(name)
    field = reduction.system.field
    if isinstance(field, BlockField):
        double = {leaf: blocks.multiply(blocks.constant([[2]]), block) for leaf, block in field.rhs.items()}
        wrong = replace(field, rhs=double)
    else:
        wrong = ScalarField(tuple(2 * node for node in reduction.system.nodes), {})
    law = replace(reduction, system=replace(reduction.system, field=wrong)).law()
    assert law.as_stated == "fails" and law.witness


@pytest.mark.parametrize("name", COMPOSED)
def test_a_wrong_part_breaks_the_law_of_both(name: str) -> None:
    both = made(name)
    wrong = ScalarField(tuple(2 * node for node in both.system.nodes), {})
    second = replace(both.second, system=replace(both.system, field=wrong))
    law = both.first.then(second).law()
    assert law.as_stated == "fails" and law.witness


def test_a_wrong_lift_breaks_the_law_of_a_subspace() -> None:
    found = subspace()
    law = replace(found, orbits=replace(found.orbits, sign=-found.orbits.sign)).law()
    assert law.as_stated == "fails" and law.witness


@pytest.mark.parametrize("name", MADE)
def test_states_come_as_arrays_or_by_name_and_of_the_right_length(name: str) -> None:
    reduction = made(name)
    z = np.random.default_rng(2).uniform(0.1, 0.5, reduction.system.dimension)
    x = reduction.lift(z)
    assert (reduction.lift(dict(zip(reduction.system.names, z, strict=True))) == x).all()
    assert (reduction.project(dict(zip(reduction.source.names, x, strict=True))) == reduction.project(x)).all()
    assert x.dtype == reduction.lift(np.ones(z.shape, dtype=int)).dtype == float
    assert reduction.lift(np.empty((0, len(z)))).shape == (0, len(x))
    assert reduction.project(np.empty((2, 0, len(x)))).shape == (2, 0, len(z))
    for wrong in (np.ones(len(z) + 1), z[1:], 1.0):
        with pytest.raises(EquationError, match=rf"lifts {len(z)} numbers along the last axis, not an array of shape"):
            reduction.lift(wrong)
    for wrong in (np.append(x, 1.0), x[1:], x[:1], 1.0):
        with pytest.raises(EquationError, match=rf"projects {len(x)} numbers along the last axis"):
            reduction.project(wrong)
    with pytest.raises(EquationError, match="the state is not complete"):
        reduction.lift({})


def test_a_law_that_is_defined_nowhere_is_undecided() -> None:
    nowhere = System.from_equations({"x": graph.sqrt(-1 - X * X)})
    law = replace(by_hand(), system=nowhere).law()
    assert law.as_stated == "undecided" and "at no random rational point" in law.residual


@pytest.mark.parametrize("name", MADE)
def test_a_name_that_the_lift_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=r"omga is not what the lift of <.*> needs: it needs"):
        made(name).bind(omga=0.1)


@pytest.mark.parametrize("name", ["slaved quotient", "slaved flow", "slaved family", "family", "family of steps"])
def test_a_missing_value_is_asked_for(name: str) -> None:
    free = replace(made(name), bound={})
    with pytest.raises(ParameterError, match=r"needs omega; bind it first|with \.bind\(K=3\)"):
        free.lift(np.zeros(free.system.dimension))
    for needed in free.needs:
        left = replace(free, bound={n: v for n, v in made(name).bound.items() if n != needed})
        with pytest.raises(ParameterError, match=rf"bind\({needed}="):
            left.lift(np.zeros(left.system.dimension))


def test_values_are_checked_when_they_are_bound() -> None:
    with pytest.raises(ParameterError, match="omega = -1 must be positive"):
        toy().slaved().bind(omega=-1)
    with pytest.raises(ParameterError, match=r"K = 2\.5 is not a whole number"):
        every_k().slaved().bind(K=2.5)


def test_the_start_of_a_slaved_family_is_checked_too() -> None:
    slaved = every_k().slaved()
    assert np.abs(slaved.initial_state(0.5)).max() == 0
    with pytest.raises(SlavingError, match="does not satisfy"):
        slaved.initial_state(0.5, W_K=4.0)


def test_reductions_compose_only_where_they_meet() -> None:
    both = made("two after each other")
    z = np.full(both.system.dimension, 0.2)
    first, second = both.first, both.second
    assert (both.lift(z) == first.lift(second.lift(z))).all() and both.source is first.source
    assert both.needs == ("K", "omega") and both.bound == {"K": 3, "omega": 0.5}
    assert both.bind(omega=0.7).second.bound["omega"] == 0.7
    with pytest.raises(EquationError, match="does not start from the states"):
        second.then(first)
    step = System.from_equations({"x": X * X}, kind="map")
    with pytest.raises(EquationError, match="does not start from the states"):
        by_hand().then(step.quotient([]))


def test_parts_share_what_is_bound() -> None:
    family, slaved = every_k(), every_k().slaved()
    both = family.bind(K=3).then(slaved.bind(omega=0.5))
    assert both.second.bound["K"] == 3
    z = np.full(both.system.dimension, 0.2)
    assert (both.lift(z) == made("two after each other").lift(z)).all()
    assert family.then(slaved.bind(K=3)).first.bound["K"] == 3
    assert "those of K groups" in repr(family.then(slaved))
    with pytest.raises(ParameterError, match="two values of K are bound, 3 and 4"):
        family.bind(K=3).then(slaved.bind(K=4))


@pytest.mark.parametrize("name", MADE)
def test_a_reduction_says_which_starts_it_describes(name: str) -> None:
    reduction = made(name)
    assert f"only for starts {reduction.starts}" in repr(reduction)
    assert "describe" in (type(reduction).__doc__ or "")


def test_a_subspace_that_is_left_fails_with_a_witness() -> None:
    found = restrict_to_subspace(toy().quotient(), tie={"QQ_a_a": "KK_a_a", "QQ_b_b": "KK_b_b"})
    assert "only for starts in this subspace" in repr(found)
    assert found.exact and found.law().as_stated == "holds"
    z = np.arange(1.0, 1 + found.system.dimension)
    assert (found.project(found.lift(z)) == z).all() and found.asymmetry(found.lift(z)) == 0
    left = restrict_to_subspace(toy().quotient(), ["KQ_a_a"])
    assert left.law().as_stated == "fails" and "KQ_a_a" in left.law().witness.sentence


def test_a_reduction_in_which_nothing_moves_warns() -> None:
    system = System.from_equations({"x": X - Y, "y": Y - X})
    with pytest.warns(NothingMovesWarning, match="nothing moves in this reduction"):
        system.quotient([{"x": "y", "y": "x"}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.quotient([{"x": "-y", "y": "-x"}])
        toy().quotient()
        for name in MADE:
            MADE[name]()
    still = System.from_equations({"x": X, "y": Y}, kind="map")
    assert stands_still(still) and not stands_still(System.from_equations({"x": X}))


def test_blocks_that_stand_still_are_seen() -> None:
    even = Distribution([Sample(["a"], 1, HALF), Sample(["a"], -1, HALF)])
    flow = gradient_flow(linear(Dictionary(["a"])), even, train=("W_K", "W_Q"))
    with pytest.warns(NothingMovesWarning):
        flow.quotient(generators=[])
    with pytest.warns(NothingMovesWarning):
        slaved = flow.slaved()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slaved.bind(omega=0.5)  # it was said once


# ---- what states stand for -------------------------------------------------------------------------------------------


def test_states_know_their_path_head_and_ends() -> None:
    system = toy().system
    assert system.structure["KQ_a_b"] == State("KQ", "", "a", "b")
    assert system.structure["w_a"] == State("w", "", "", "a")
    assert tuple(system.structure) == system.names
    assert system.on_path("w") == ("w_a", "w_b") and len(system.on_path("KK", "QQ")) == 6
    assert System.from_equations({"x": X}).structure == {}


def test_orbits_keep_their_members() -> None:
    assert by_hand().system.structure == {"x": State(orbit=("x", "y"))}
    quotient = toy().quotient()
    for name, state in quotient.system.structure.items():
        assert state.path and all(quotient.variable(m.removeprefix("-"))[0] == name for m in state.orbit)
        assert all(quotient.variable(m.removeprefix("-"))[1] == (-1 if m[0] == "-" else 1) for m in state.orbit)
    renamed = quotient.rename({quotient.system.names[0]: "first"})
    assert renamed.system.structure["first"] == quotient.system.structure[quotient.system.names[0]]
    for made_of_blocks in (quotient, every_k()):
        with pytest.raises(EquationError, match="frist can not be renamed: there are w_"):
            made_of_blocks.rename({"frist": "first"})


def test_an_orbit_of_orbits_has_all_members() -> None:
    tied = restrict_to_subspace(toy().quotient(generators=[]), (), {"QQ_b_b": "KK_b_b"})
    assert tied.system.structure["KK_b_b"].orbit == ("KK_b_b", "QQ_b_b")
    alike = System.from_equations({name: sym(name) ** 3 for name in "xyzu"})
    once = alike.quotient([{"x": "-z", "z": "-x", "y": "-u", "u": "-y"}]).system
    assert once.structure["x"].orbit == ("x", "-z")
    twice = once.quotient([{"x": "-y", "y": "-x"}]).system
    assert twice.structure["x"].orbit == ("x", "-z", "-y", "u")


def test_structure_survives_every_transformation() -> None:
    from odesys import rescale_system, vanishing_limit

    family = every_k()
    assert {s.relation for s in family.system.structure.values()} >= {"", "same", "other"}
    frozen = gradient_flow(toy().model, toy().data, train=("w",), carry=("w", "W_K", "W_Q")).system.freeze_still()
    for system in (family.slaved().system, toy().slaved().system, toy().quotient().slaved().system, frozen):
        assert tuple(system.structure) == system.names
    with pytest.raises(EquationError, match="y is not a state"):
        replace(by_hand().system, structure={"y": State("KQ")})
    scaled = rescale_system(toy().system, {}, names={"w_a": "first"})
    assert scaled.structure["first"].right == "a" and scaled.structure["KQ_a_b"].path == "KQ"
    e = sym("e")
    small = System.from_equations({"x": Y * X, "y": e * X}, ["e"])
    marked = replace(small, structure={"x": State("KQ"), "y": State("w")})
    assert vanishing_limit(marked, ["e"], {"x": 1, "y": 2}).structure == {"x": State("KQ")}


# ---- measured laws, and what stands still ----------------------------------------------------------------------------


def test_texts_of_a_reduction_show_its_sizes_and_equations() -> None:
    found = by_hand()
    assert (
        repr(found)
        == "<SystemQuotient: 3 -> 1 states, only for starts in the subspace that its symmetries leave alone>"
    )
    assert found._repr_latex_() == found.system._repr_latex_() and found._repr_latex_()
    assert "3" in found._repr_html_() and "leave alone" in found._repr_html_()
    both = by_hand().then(by_hand().system.quotient([]))
    assert repr(both).startswith("<Composed: 3 -> 1 states, only for starts in the subspace that its symmetries leave")
    assert both.starts.count("leave alone") == 2 and ", and then " in both.starts


def test_defects_are_the_gaps_of_the_law() -> None:
    """c F(lift z) - D lift(z) F_small(z), state by state, with a factor where the small system has another clock."""
    assert set(map(str, by_hand().defects().values())) == {"Node(0)"}
    found = new_variables()
    wrong = replace(found, system=replace(found.system, field=ScalarField((U, V), {})))
    z = {"u": 0.3, "v": -0.7}
    gaps = graph.evaluate(list(wrong.defects().values()), z, graph.FLOAT_FUNCTIONS, float)
    x, y = (0.3 - 0.7) / 2, (0.3 + 0.7) / 2
    moved = [(0.3 + -0.7) / 2, (0.3 - -0.7) / 2]
    assert gaps == pytest.approx([found.speed * x * y - moved[0], found.speed * (x - y * y) - moved[1]])
    step = System.from_equations({"x": Y * X + X, "y": X * Y + Y}, kind="map").quotient([{"x": "y", "y": "x"}])
    assert set(map(str, step.defects().values())) == {"Node(0)"}
    off = replace(step, system=replace(step.system, field=ScalarField((2 * X,), {})))
    assert off.defects()["y"] is X * X + X - 2 * X
    assert made("slaved flow").defects() is None
    bound = made("slaved quotient")
    assert "omega" not in graph.symbols(bound.bind(omega=HALF).defects().values())


def test_a_measured_law_says_how_it_was_measured() -> None:
    found = made("slaved flow").law(seed=3)
    details = found.details
    assert details["points"] == 3 and details["seed"] == 3 and details["tolerance"] == 1e-7
    assert 0 <= details["gap"] < details["tolerance"]
    balls = made("slaved family").law(seed=4)
    if "rational_points" in balls.details:
        assert balls.details["rational_points"] >= 2 and balls.details["seed"] == 4
        assert 0 <= balls.details["largest_residual"] < 1e-15 and balls.details["bits"] >= 64


def test_large_residuals_are_measured_at_rational_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the exact proof: enclosed at points where they vanish, and refuted at one where they do not."""
    monkeypatch.setattr("odesys.reduce.reduction.EXACT_LIMIT", -1)
    right = by_hand().law(seed=1)
    assert right.as_stated == "holds" and right.evidence == Evidence.MEASUREMENT
    assert right.details["seed"] == 1 and right.details["rational_points"] == 1  # zero has no symbols
    assert right.details["largest_residual"] == 0
    wrong = ScalarField((X * X - X,), {})
    law = replace(by_hand(), system=replace(by_hand().system, field=wrong)).law()
    assert law.as_stated == "fails" and law.evidence == Evidence.CERTIFICATE
    assert law.witness


def test_proofs_are_tried_for_few_nodes_without_roots() -> None:
    assert _small([X * Y, X + 1 / Y]) is True and _small([]) is True
    assert _small([graph.sqrt(X + Y)]) is False and _small([X, graph.exp(1 / graph.sqrt(X))]) is False
    chain = X
    for _ in range(EXACT_LIMIT - 1):
        chain = graph.call("tanh", chain)
    assert len(list(graph.topological([chain]))) == EXACT_LIMIT
    assert _small([chain]) is True and _small([graph.call("tanh", chain)]) is False


def test_expressions_along_the_last_axis() -> None:
    values = np.arange(12.0).reshape(2, 3, 2)
    found = columns_at([X + Y, graph.num(3), X * sym("k")], ("x", "y"), values, {"k": 2.0})
    assert found.shape == (2, 3, 3) and found.dtype == float
    assert np.array_equal(found[..., 0], values.sum(axis=-1)) and (found[..., 1] == 3).all()
    assert np.array_equal(found[..., 2], 2 * values[..., 0])


def test_rates_of_blocks_are_those_of_their_equations() -> None:
    system = toy().system
    given = {name: graph.num(Fraction(k + 1, 7)) for k, name in enumerate(system.names)}
    plain = graph.substitute(system.nodes, {sym(n): v for n, v in given.items()})
    for one, other in zip(rates_at(system, given), plain, strict=True):
        assert float(graph.evaluate([one - other], {}, graph.FLOAT_FUNCTIONS, float)[0]) == pytest.approx(0, abs=1e-14)


def test_flows_and_maps_that_stand_still() -> None:
    for kind, node in (("flow", X * 0), ("map", X)):
        assert stands_still(System.from_equations({"x": node}, kind=kind)) is True
        assert stands_still(System.from_equations({"x": node, "y": Y / 2}, kind=kind)) is False
    assert stands_still(System.from_equations({"x": X * 0}, kind="map")) is False
    assert stands_still(toy().system) is False
    even = Distribution([Sample(["a"], 1, HALF), Sample(["a"], -1, HALF)])
    rest = gradient_flow(linear(Dictionary(["a"])), even, train=("W_K", "W_Q"))
    assert stands_still(rest.system) is True


def test_names_that_are_bound_are_checked_and_kept() -> None:
    free = replace(made("slaved quotient"), bound={})
    assert free.bind() is free and free.bind(omega=0.25).bound == {"omega": 0.25}
    with pytest.raises(ParameterError, match=r"K is not what the lift of <.*> needs: it needs omega") as caught:
        free.bind(K=3)
    assert caught.value.name == "K"
    with pytest.raises(ParameterError, match="it needs nothing but the state"):
        by_hand().bind(omega=1)
    with pytest.raises(ParameterError) as missing:
        free.given("omega")
    assert missing.value.name == "omega"
    with pytest.raises(ParameterError, match="it needs omega and K"):
        every_k().slaved().bind(q=1)
