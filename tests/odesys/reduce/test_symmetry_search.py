"""Symmetries and quotients of programs: numbers known from models, laws at rational points, broken twins."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import sympy as sp

from derivations.cooccurrence.dynamics import gram_flow
from derivations.two_mixture.dynamics import full_flow
from odesys import (
    AsymmetryWarning,
    Data,
    Distribution,
    NothingMovesWarning,
    Sample,
    Space,
    SymmetryError,
    Units,
    Words,
    cross_entropy,
    function,
    gradient_descent,
    gradient_flow,
    graph,
    heavy_ball,
    logistic,
    maps,
    norm,
    relu,
    sign_descent,
    softmax,
    squared,
    sym,
)
from odesys.reduce import symmetry_search
from odesys.reduce.program_symmetry import LossCheck, ProgramSymmetry, is_program_symmetry
from odesys.reduce.symmetry_search import generated_order
from tests import toy_models
from tests.toy_programs import pair, program_flow, two_mixture

TOYS = toy_models.all_toys()
IDS = [f"{toy.name}{'' if toy.model.words.orthonormal else '-gram'}" for toy in TOYS]


def decoder(samples=None, **more):
    words, classes = Words("q d1 d2 d3 c"), Units("y", 3)
    Y, Z = maps("Y", classes, words), maps("Z", words, words)

    def f(X):
        keys, query = X[:-1], X[-1]
        return Y @ keys @ softmax(keys.T @ Z @ query)

    samples = samples or [("d1 c q", 0), ("d2 c q", 1), ("d3 c q", 2)]
    return gradient_flow(f, Data(words, samples), cross_entropy, **({"rates": {"Z": Fraction(1, 10)}} | more))


def in_context(extra=()):
    """Linear regression in context in two dimensions: tasks and queries are the axes and their negatives."""
    words = Words("e1 e2 y")
    p, A = maps("p", 1, words), maps("A", words, words)

    def f(X):
        T, query = X[:-1], X[-1]
        return (p @ T) @ (T.T @ A @ query) / T.count

    samples = []
    for task in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        context = [{"e1": 1, "y": task[0]}, {"e2": 1, "y": task[1]}]
        samples += [((*context, "e1"), task[0]), ((*context, "e2"), task[1])]
    return gradient_flow(f, Data(words, [*samples, *extra]), squared)


def xor(phi=relu):
    words, hidden = Words("a b"), Units("r", 3)
    W, v = maps("W", hidden, words), maps("v", 1, hidden)
    samples = [(({"a": s, "b": t},), s * t) for s in (1, -1) for t in (1, -1)]
    return gradient_flow(lambda X: v @ phi(W @ X[0]), Data(words, samples), logistic)


PROGRAMS = {
    "two_mixture": (two_mixture, 4, 80, 22),
    "decoder": (decoder, 12, 40, 7),
    "pair": (pair, 2, 24, 14),
    "heavy_ball": (lambda: pair(heavy_ball, friction="gamma"), 2, 84, 48),
    "step": (lambda: pair(gradient_descent), 2, 24, 14),
}


def largest(nodes):
    """The largest of expressions at a point of rational numbers."""
    names, rng = sorted(graph.symbols(nodes)), np.random.default_rng(1)
    values = {name: int(rng.integers(-9, 10)) / 8 for name in names}
    return max(map(abs, graph.evaluate(nodes, values, {n: f.floats for n, f in graph.FUNCTIONS.items()}, float)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_known_numbers(name):
    make, order, full, reduced = PROGRAMS[name]
    flow = make()
    group, quotient = flow.symmetries(), flow.quotient()
    assert (group.order, flow.system.dimension, quotient.system.dimension) == (order, full, reduced)
    assert generated_order(flow, group.generators) == order


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_generator_commutes_with_the_flow(name):
    flow = PROGRAMS[name][0]()
    for element in flow.symmetries().generators:
        target, sign = element.on_states(flow)
        symbols = np.array([sym(n) for n in flow.system.names], dtype=object)
        moved = np.empty(len(target), dtype=object)
        moved[target] = symbols * sign  # g x
        at = flow.system.field.at(list(moved))
        gaps = [at[t] - node * int(s) for t, s, node in zip(target, sign, flow.system.nodes, strict=True)]
        assert largest(gaps) < 1e-11


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_quotient_is_the_flow_on_symmetric_states(name):
    quotient = PROGRAMS[name][0]().quotient()
    z = [sym(n) for n in quotient.system.names]
    lifted = [z[o] * int(s) for o, s in zip(quotient.orbits.orbit, quotient.orbits.sign, strict=True)]
    full = quotient.flow.system.field.at(lifted)
    reduced = [
        quotient.system.nodes[o] * int(s) for o, s in zip(quotient.orbits.orbit, quotient.orbits.sign, strict=True)
    ]
    assert largest([a - b for a, b in zip(full, reduced, strict=True)]) < 1e-11


def test_regression_in_context_needs_a_start():
    """With p and A both sign may change, so the group fixes nothing but zero; from a start three variables are left."""
    flow = in_context()
    assert flow.symmetries().order == 16
    with pytest.raises(SymmetryError, match="keeps only the symmetries that fix a start"):
        flow.quotient()
    start = flow.initial_state(values={"p": [0, 0, 1], "A": np.diag([1, 1, 0])})
    assert flow.symmetries(start).order == 8
    quotient = flow.quotient(state=start)
    assert quotient.system.names == ("p_y", "A_e1_e1", "A_y_y")
    assert quotient.initial_state(values={"p": [0, 0, 1], "A": np.diag([1, 1, 0])}).tolist() == [1, 1, 0]


@pytest.mark.parametrize("make", [in_context, xor, pair])
def test_signs_stand_where_a_reader_can_see_them(make):
    """An axis that has no name keeps its sign: a map can change it instead."""
    flow = make()
    for element in flow.symmetries().generators:
        unnamed = [own for name, own in element.pins if flow.naming.pins[name].labels == ("",)]
        assert unnamed and all(sign > 0 for own in unnamed for *_, sign in own)


def test_two_mixture_has_the_quotient_of_its_model():
    new, old = two_mixture().quotient(), full_flow().quotient()
    assert new.system.names == old.system.names
    assert all(a is b for a, b in zip(new.system.nodes, old.system.nodes, strict=True))
    assert np.array_equal(new.initial_state(omega=0.1), old.initial_state(omega=0.1))


@pytest.mark.parametrize("toy", TOYS, ids=IDS)
def test_models_and_their_programs_have_the_same_groups(toy):
    old = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    _compare(old, program_flow(toy.model, toy.data, loss=toy.loss))


@pytest.mark.parametrize("toy", [toy for toy in TOYS if toy.model.words.orthonormal], ids=lambda toy: toy.name)
def test_models_on_symmetric_data_have_the_groups_of_their_programs(toy):
    """b and c are exchanged, and a changes its sign together with the label."""
    quarter = Fraction(1, 4)
    texts = [("a b b", 1), ("-a c c", -1), ("-a b b", -1), ("a c c", 1)]
    data = Distribution([Sample(text.split(), label, quarter) for text, label in texts])
    old = gradient_flow(toy.model, data, train=toy.train, loss=toy.loss)
    _compare(old, program_flow(toy.model, data, loss=toy.loss))


def _compare(old, new):
    group, known = new.symmetries(), old.symmetries()
    assert group.order == known.order == generated_order(old, known.generators)
    assert new.quotient().system.dimension == old.quotient().system.dimension


def test_descriptions_can_be_read():
    flow = two_mixture()
    assert sorted(flow.symmetries().describe(flow)) == [
        "c1 -> c2, c2 -> c1, v1 -> v2, v2 -> v1",
        "v1 -> -v1, v2 -> -v2, maps .m <-> .p",
    ]
    assert "q -> -q, Z -> -Z" in decoder().symmetries().describe(decoder())


def test_a_changed_weight_or_token_loses_the_symmetry():
    tokens = [("good the", 1, Fraction(1, 3)), ("bad the", -1, Fraction(2, 3))]
    assert pair(samples=tokens).symmetries().order == 1
    assert pair(samples=[("good the", +1), ("bad bad the", -1)]).symmetries().order == 1
    samples = [("d1 c q", 0), ("d2 c q", 1), ("d3 d3 q", 2)]
    assert decoder(samples).symmetries().order == 4
    assert in_context([(({"e1": 1, "y": 2}, {"e2": 1}, "e1"), 2)]).symmetries().order < 8
    for element in two_mixture().symmetries().generators:
        first, *rest = full_flow().data.samples
        second, *others = rest
        change = min(first.weight, second.weight) / 2
        lopsided = [
            replace(first, weight=first.weight + change),
            replace(second, weight=second.weight - change),
            *others,
        ]
        twin = two_mixture(lopsided)
        assert not is_program_symmetry(twin, element)


def test_rates_frozen_maps_and_decay_are_part_of_it():
    words, m = Words("a b"), Space("m")
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words)
    data = Data(words, [("a b", 1)])

    def f(X):  # keys and queries can be exchanged: both orders are added
        scores = X.T @ W_K.T @ W_Q @ X
        return (w @ X @ (scores + scores.T)).sum()

    assert "W_K -> W_Q" in " ".join(
        gradient_flow(f, data, logistic).symmetries().describe(gradient_flow(f, data, logistic))
    )
    flow = gradient_flow(f, data, logistic, rates={"W_K": 2})
    assert "W_K -> W_Q" not in " ".join(flow.symmetries().describe(flow))
    frozen = gradient_flow(f, data, logistic, train="w W_Q")
    assert "W_K -> W_Q" not in " ".join(frozen.symmetries().describe(frozen))


def test_units_are_permuted_and_change_sign_where_the_function_is_odd():
    z = sym("z")
    assert xor().symmetries().order == 6 * 8  # neurons, and the signed axes of the square
    assert xor(function(z**2)).symmetries().order == 6 * 8  # v would have to keep its sign while W changes it
    assert xor(function(graph.call("tanh", z))).symmetries().order == 6 * 8 * 2**3


def test_gates_and_quotients_do_not_see_the_size_of_coefficients():
    words = Words("x y")
    w = maps("w", 1, words)
    data = Data(words, [(({"x": 2, "y": 3},), 1), (({"x": 3, "y": 2},), 1)])
    for g in (relu, function(1 / (5 + sym("z") ** 2)), lambda e: e / norm(e)):
        flow = gradient_flow(lambda X, g=g: g(w @ X[0]) if g is not None else None, data, squared)
        assert flow.symmetries().describe(flow)[-1] == "x -> y, y -> x"


def test_a_state_keeps_what_fixes_it():
    flow = decoder()
    start = flow.initial_state(values={"Y": np.zeros((3, 5)), "Z": np.zeros((5, 5))})
    assert flow.symmetries(start).order == 12
    told = start.copy()
    told[flow.system.names.index("Y_y2_d2")] = 0.5
    fixed = flow.symmetries(told)
    assert fixed.order == 4 and flow.quotient(state=told).system.dimension > 7
    for element in fixed.generators:
        target, sign = element.on_states(flow)
        assert np.array_equal((told * sign), told[target])
    flow = two_mixture()
    assert flow.symmetries(flow.initial_state(omega=0.1)).order == 4
    with pytest.raises(SymmetryError, match="has shape"):
        flow.symmetries([1.0])


def test_generators_of_the_user_are_checked():
    flow = decoder()
    first = flow.symmetries().generators[0]
    assert flow.quotient([first]).system.dimension < 40
    swap = ProgramSymmetry(pins=(("y", (("y", 1, 1), ("y", 0, 1), ("y", 2, 1))),))
    with pytest.raises(SymmetryError, match="y1 -> y2, y2 -> y1 does not"):
        flow.quotient([swap])
    doubled = ProgramSymmetry(pins=(("y", (("y", 1, 1), ("y", 1, 1), ("y", 2, 1))),))
    assert not is_program_symmetry(flow, doubled)
    with pytest.raises(SymmetryError, match="is not a symmetry"):
        flow.quotient(["y1"])


def test_a_quotient_in_which_nothing_moves_says_so():
    words = Words("a b")
    w = maps("w", 1, words)
    flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1), ("a", -1)]), squared, train="w")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            flow.quotient()
        except SymmetryError as error:
            assert "stands still" in str(error)
        else:
            assert seen[0].category is NothingMovesWarning


def test_quotients_start_where_the_flow_starts():
    quotient = two_mixture().quotient()
    z = quotient.initial_state(omega=0.2)
    assert np.array_equal(quotient.lift(z), quotient.flow.initial_state(omega=0.2))
    table = np.arange(15.0).reshape(3, 5)
    with pytest.raises(SymmetryError, match="not symmetric"):
        decoder().quotient().initial_state(values={"Y": table, "Z": np.zeros((5, 5))})


def test_projecting_a_state_that_is_not_symmetric_warns():
    quotient = decoder().quotient()
    state = np.arange(float(quotient.flow.system.dimension))
    with pytest.warns(AsymmetryWarning, match=r"not symmetric \(it is off by"):
        means = quotient.project(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(quotient.orbits.project(state), means)
        assert np.allclose(quotient.project(quotient.lift(means)), means)


def test_words_with_a_gram_matrix_are_tied():
    half = Fraction(1, 2)
    gram = [[1, half, 0], [half, 1, 0], [0, 0, 1]]
    samples = [("a", 1), ("b", 1), ("c", 1)]
    orders = []
    for matrix in (None, gram):
        words = Words("a b c", gram=matrix)
        w = maps("w", 1, words)
        flow = gradient_flow(lambda X, w=w: w @ X[0], Data(words, samples), logistic)
        orders.append(flow.symmetries().order)
    assert orders == [6, 2]


def test_large_programs_are_searched_by_words_and_samples(monkeypatch):
    flow = gram_flow(6, 4)
    known = flow.symmetries()
    monkeypatch.setattr(symmetry_search, "LARGE", 10)
    group = flow.symmetries()
    assert group.order == known.order
    flow = gram_flow(12, 5)
    group = flow.symmetries()
    assert "only as samples go to samples" in group.unsearched
    assert flow.quotient().system.dimension == 113
    start = np.zeros(flow.system.dimension)
    assert flow.symmetries(start).order == group.order
    start[flow.system.names.index("KQ_mu1_mu1")] = 1.0  # tells mu1 from mu2
    kept = flow.symmetries(start)
    assert kept.order < group.order and "other combinations were not tried" in kept.unsearched
    assert flow.quotient(state=start).system.dimension > 113


def test_what_is_never_tried_is_said_where_the_program_has_it():
    """Signs of one end of a map are symmetries of even activations, a transposed map of symmetric data."""
    words, r, z = Words("a b"), Units("r", 2), sp.Symbol("z")
    W, V, A, w = maps("W", r, words), maps("V", 1, r), maps("A", words, words), maps("w", 1, words)
    programs = {
        "the signs of the axes r at one map alone": lambda X: V @ function(z**2)(W @ X[0]),
        "A -> A^T was not tried": lambda X: X[0].T @ A @ X[1],
        "": lambda X: w @ X[0],
    }
    for text, f in programs.items():
        said = gradient_flow(f, Data(words, [("a b", 1), ("b a", 1)]), squared).symmetries().unsearched
        assert text in said and bool(text) == bool(said)


def test_words_and_samples_only_propose(monkeypatch):
    """The order of tokens matters here, so exchanging two tokens of a sample is proposed and refused."""
    monkeypatch.setattr(symmetry_search, "LARGE", 1)
    words = Words("a b c d")
    w = maps("w", 1, words)
    data = Data(words, [("a b", 1), ("c d", 1)])
    flow = gradient_flow(lambda X: w @ (X[0] + 2 * X[1]), data, logistic)
    group = flow.symmetries()
    assert group.describe(flow) == ["a -> c, b -> d, c -> a, d -> b"] and group.order == 2
    real = Data(words, [(({"a": 2, "b": -1},), 1), (({"c": 2, "d": -1},), 1)])
    flow = gradient_flow(lambda X: w @ X[0], real, logistic)
    assert flow.symmetries().order == 2


@pytest.mark.slow
def test_cooccurrence_as_a_program():
    flow = gram_flow(60, 5)
    quotient = flow.quotient()
    assert (flow.system.dimension, quotient.system.dimension) == (66831, 113)


def test_mini_batches_and_turned_forces_are_checked_in_every_equation():
    words = Words("a b")
    w, v = maps("w", 1, words), maps("v", 1, words)
    samples = [(({"a": 1, "b": 1},), 0), (({"a": 1, "b": -1},), 0)]

    def f(X):  # the two losses add up to that of single words, but no sample is one
        return (w @ X[0]) * (v @ X[0])

    def linear(X):
        return w @ X[0] + 2 * (v @ X[0])

    for program in (f, linear):
        for more in ({}, {"batch": 1}):
            flow = gradient_descent(program, Data(words, samples), squared, **more)
            for element in flow.symmetries().generators:
                target, sign = element.on_states(flow)
                moved = np.empty(len(target), dtype=object)
                moved[target] = np.array([sym(n) for n in flow.system.names], dtype=object) * sign
                at = flow.system.field.at(list(moved))
                assert (
                    largest([at[t] - n * int(s) for t, s, n in zip(target, sign, flow.system.nodes, strict=True)])
                    < 1e-11
                )
    flow = sign_descent(linear, Data(words, samples), squared)
    assert flow.symmetries().order > 1


# ---- all elements tried ----------------------------------------------------------------------------------------------


def small_programs() -> dict:
    """Programs with few words and maps, by name."""
    words, m, r = Words("a b"), Space("m"), Units("r", 2)
    w, v, (K, Q) = maps("w", 1, words), maps("v", 1, words), maps("W_K W_Q", m, words)
    W, U = maps("W", r, words), maps("U", 1, r)
    p, q = maps("w", 1, words, of="p"), maps("w", 1, words, of="m")
    odd, even = function(graph.call("tanh", sym("z"))), function(sym("z") ** 2)
    both = Data(words, [("a b", 1), ("b a", 1)])
    signs = Data(words, [("a b", 1), ("-a b", -1)])
    angled = Words("a b", [[2, 1], [1, 2]])
    u = maps("w", 1, angled)
    return {
        "a sum": gradient_flow(lambda X: (w @ X).sum(), both, squared),
        "a product": gradient_flow(lambda X: (w @ X[0]) * (v @ X[1]), both, squared),
        "a product of signs": gradient_flow(lambda X: (w @ X[0]) * (v @ X[1]), signs, squared),
        "rates": gradient_flow(lambda X: (w @ X[0]) * (v @ X[1]), both, squared, rates={"w": 2}),
        "scores": gradient_flow(lambda X: X[0].T @ K.T @ Q @ X[1], both, squared),
        "odd units": gradient_flow(lambda X: U @ odd(W @ X[0]), signs, squared),
        "even units": gradient_flow(lambda X: (even(W @ X[0])).sum(0), signs, squared),
        "two heads": gradient_flow(lambda X: relu(p @ X[0]) - relu(q @ X[0]), signs, logistic),
        "angles": gradient_flow(lambda X: u @ X[0], Data(angled, [("a", 1), ("b", 1)]), squared),
    }


SMALL = small_programs()


def actions(flow, state=None) -> set:
    """The actions of all signed permutations of vectors and maps that are symmetries (and fix a state)."""
    pins = [
        [
            (name, tuple((name, j, s) for j, s in zip(order, signs, strict=True)))
            for order in permutations(range(pin.size))
            for signs in product((1, -1), repeat=pin.size)
        ]
        for name, pin in flow.naming.pins.items()
    ]
    names, check, found = list(flow.naming.letters), LossCheck(flow), set()
    for images in product(*pins):
        for order, signs in product(permutations(names), product((1, -1), repeat=len(names))):
            element = ProgramSymmetry(
                tuple(images), tuple((n, (o, s)) for n, o, s in zip(names, order, signs, strict=True))
            )
            if is_program_symmetry(flow, element, check):
                target, sign = element.on_states(flow)
                if state is None or np.array_equal(state[target], sign * state):
                    found.add((tuple(target.tolist()), tuple(sign.tolist())))
    return found


@pytest.mark.parametrize("name", SMALL)
def test_the_group_is_that_found_by_trying_all(name: str) -> None:
    flow = SMALL[name]
    whole, group = actions(flow), flow.symmetries()
    assert group.order == len(whole) == generated_order(flow, group.generators)
    own = {tuple(map(tuple, (part.tolist() for part in g.on_states(flow)))) for g in group.generators}
    assert own <= whole and len(own) == len(group.generators)
    still = (tuple(range(flow.system.dimension)), (1,) * flow.system.dimension)
    assert still not in own
    state = np.ones(flow.system.dimension)
    state[0] = 2.0
    kept = flow.symmetries(state)
    assert kept.order == len(actions(flow, state)) == generated_order(flow, kept.generators)


@pytest.mark.parametrize("name", ["a sum", "a product of signs", "two heads", "angles", "scores"])
def test_words_and_samples_give_a_part_of_the_group_whose_order_is_right(name: str, monkeypatch) -> None:
    flow = SMALL[name]
    whole = actions(flow)
    monkeypatch.setattr(symmetry_search, "LARGE", 0)
    group = flow.symmetries()
    assert len(whole) % group.order == 0 and group.order == generated_order(flow, group.generators)
    assert all(is_program_symmetry(flow, g) for g in group.generators)
    assert f"above {symmetry_search.LARGE} words move only as samples go to samples" in group.unsearched
    state = np.ones(flow.system.dimension)
    state[0] = 2.0
    kept = flow.symmetries(state)
    assert kept.order == generated_order(flow, kept.generators)
    assert len(actions(flow, state)) % kept.order == 0
    for element in kept.generators:
        target, sign = element.on_states(flow)
        assert np.array_equal(state[target], sign * state)


def test_orders_of_generated_groups() -> None:
    flow = SMALL["a sum"]
    swap = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, 1))),))
    turn = ProgramSymmetry((("E", (("E", 1, 1), ("E", 0, -1))),))
    minus = ProgramSymmetry((("E", (("E", 0, -1), ("E", 1, -1))),))
    orders = [generated_order(flow, each) for each in ([], [swap], [turn], [minus], [swap, minus], [swap, turn])]
    assert orders == [1, 2, 4, 2, 4, 8]


def test_signs_of_unnamed_axes_count_twice() -> None:
    flow = SMALL["a sum"]
    axis, word = ProgramSymmetry((("one", (("one", 0, -1),)),)), ProgramSymmetry((("E", (("E", 0, -1), ("E", 1, 1))),))
    both = ProgramSymmetry(axis.pins + word.pins, (("w", ("w", -1)),))
    assert [symmetry_search._signs(flow, g) for g in (axis, word, both, ProgramSymmetry())] == [2, 1, 4, 0]
    plain = ProgramSymmetry((), (("w", ("w", -1)),))
    found = symmetry_search._distinct(flow, [axis, ProgramSymmetry(), plain, word, word])
    assert found == [plain, word], "one and w turned over act alike; the map has the sign that is seen"
