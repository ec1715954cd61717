"""Conserved spectra: found from a model, proved, and constant along runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from odesys.analysis.conserved import check_integral, lie_derivative
from odesys.analysis.first_integrals import polynomial_integrals
from odesys.analysis.lax import (
    ConservedSpectrum,
    _block_diagonal,
    _floats,
    _inverse,
    invariant_drift,
    lax_integrals,
    power_traces,
)
from odesys.derive.flow import Flow
from odesys.derive.training import gradient_descent, gradient_flow
from odesys.errors import EquationError, ParameterError
from odesys.exact.balls import ball_evaluate
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import Node, sym
from odesys.model.attention import FixedVector, Head, Neurons, Value
from odesys.model.dictionary import Dictionary
from odesys.model.distribution import Distribution, Sample
from odesys.program.attention import AttentionModel

SEED = 20240612
WORDS = ("c1", "c2", "v1", "v2")
GRAM = ((2, 1, 0, 0), (1, 3, 0, 1), (0, 0, 1, 0), (0, 1, 0, 2))
ALL = ("w", "W_K", "W_Q")


def mixture() -> Distribution:
    signed = {1: "", -1: "-"}
    return Distribution(
        [
            Sample([f"c{k}", f"{signed[s]}v{k}", f"{signed[r]}v{3 - k}"], s, Fraction(1, 8))
            for k in (1, 2)
            for s in (1, -1)
            for r in (1, -1)
        ]
    )


@cache
def two_heads(gram: Any = None, train: tuple[str, ...] = ALL, carry: tuple[str, ...] | None = None) -> Flow:
    model = AttentionModel(Dictionary(WORDS, gram), [Head(1, "relu", "b"), Head(-1, "relu", "b")])
    return gradient_flow(model, mixture(), train=train, carry=carry)


@cache
def with_values(gram: Any = None) -> Flow:
    value = Value(("W", "W_V"), output=FixedVector("a", square="m1"))
    model = AttentionModel(Dictionary(WORDS, gram), [Head(1)], value=value)
    return gradient_flow(model, mixture(), train=("W", "W_V", "W_K", "W_Q"))


def network(flow: Flow, width: int = 6) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    shapes = {"w": (4,), "W_K": (width, 4), "W_Q": (width, 4), "W": (3, width), "W_V": (width, 4)}
    weights = {name: rng.normal(size=(len(flow.model.heads), *shapes[name])) * 0.4 for name in flow.model.weights}
    return {**weights, "a": rng.normal(size=3)} if flow.model.value.output is not None else weights


def run(flow: Flow, parameters: Mapping[str, float]) -> np.ndarray:
    start = flow.initial_state(weights=network(flow))
    solution = solve_ivp(flow.system.compile(parameters), (0, 1), start, rtol=1e-11, atol=1e-13)
    assert np.abs(solution.y[:, -1] - start).max() > 0.1
    return solution.y.T


def sizes(families: Sequence[ConservedSpectrum]) -> list[tuple[str, int]]:
    return [(str(f.path), f.size) for f in families]


def test_two_mixture_has_a_family_a_head() -> None:
    assert two_heads().system.dimension == 80
    assert sizes(lax_integrals(two_heads())) == [("E'.W_K.p'.W_Q.p.E", 8), ("E'.W_K.m'.W_Q.m.E", 8)]


def test_values_and_scores_have_a_family_each() -> None:
    assert sizes(lax_integrals(with_values())) == [("a'.W.W_V.E", 5), ("E'.W_K'.W_Q.E", 8)]


@pytest.mark.parametrize("make", [two_heads, with_values])
@pytest.mark.parametrize("gram", [None, GRAM])
def test_traces_are_proved_to_be_conserved(make: Any, gram: Any) -> None:
    flow = make(gram)
    for family in lax_integrals(flow):
        for trace in family.traces:
            result = zero_test(lie_derivative(flow.system, trace))
            assert result.answer == "zero", (family.path, result.method)


def test_traces_read_as_in_the_paper() -> None:
    family = lax_integrals(two_heads())[1]
    leaves = {name: np.vectorize(sym, otypes=[object])(names) for name, names in two_heads().matrices.items()}
    keys, queries, scores = leaves["KK_m"], leaves["QQ_m"], leaves["KQ_m"]
    assert family.trace(1) is graph.add(np.diagonal(keys)) - graph.add(np.diagonal(queries))
    squares = [graph.add((m * m).flat) for m in (keys, queries, scores)]
    assert family.trace(2) is squares[0] + squares[1] - 2 * squares[2]
    assert family.traces == (family.trace(1), family.trace(2))


def test_a_broken_trace_has_a_witness() -> None:
    flow = two_heads()
    leaves = flow.matrices
    total = graph.add(sym(n) for leaf in ("KK_p", "QQ_p") for n in np.diagonal(leaves[leaf]))
    result = check_integral(flow.system, total)
    assert result.answer == "nonzero" and result.witness is not None
    point = {sym(name): graph.num(value) for name, value in result.witness.items()}
    constant = graph.substitute([lie_derivative(flow.system, total)], point)
    assert not ball_evaluate(constant, {}, 300)[0].contains(0)


@pytest.mark.parametrize("gram", [None, GRAM])
def test_the_spectrum_does_not_move(gram: Any) -> None:
    flow = two_heads(gram)
    states = run(flow, {"b": 4.0})  # far from every switching surface, where a plain solver would chatter
    for family in lax_integrals(flow):
        start, end = (np.sort_complex(np.linalg.eigvals(family.matrix(s))) for s in (states[0], states[-1]))
        assert np.abs(start - end).max() < 1e-8
        np.testing.assert_allclose(family.values(states[-1]), family.values(states[0]), rtol=1e-7, atol=1e-9)
        assert family.values(states, 3).shape == (len(states), 3)
    assert 0 < invariant_drift(flow, states) < 1e-9
    broken = states.copy()
    broken[-1, flow.system.names.index("KQ_p_c1_v1")] += 1e-3
    assert invariant_drift(flow, broken) > 1e-5


@pytest.mark.parametrize("gram", [None, GRAM])
def test_the_spectrum_of_the_values_does_not_move(gram: Any) -> None:
    flow = with_values(gram)
    square = float(np.sum(network(flow)["a"] ** 2))
    states = run(flow, {"m1": square})
    assert 0 < invariant_drift(flow, states, {"m1": square}) < 1e-9
    assert invariant_drift(flow, states, {"m1": 2 * square}) > 1e-4  # the Gram matrix of the output matters
    with pytest.raises(ParameterError, match="m1"):
        invariant_drift(flow, states)


def test_the_spectrum_is_that_of_the_weights() -> None:
    """L has the non-zero eigenvalues of W_K W_K' - W_Q W_Q', an independent route through the network."""
    flow = two_heads()
    weights = network(flow)
    state = flow.initial_state(weights=weights)
    for family in lax_integrals(flow):
        head = "pm".index(flow.naming.head(family.path))
        keys, queries = weights["W_K"][head], weights["W_Q"][head]
        balance = keys @ keys.T - queries @ queries.T
        expected = [np.trace(np.linalg.matrix_power(balance, q)) for q in range(1, 9)]
        np.testing.assert_allclose(family.values(state), expected, rtol=1e-10, atol=1e-12)


def test_nodes_and_floats_agree() -> None:
    family = lax_integrals(two_heads(GRAM))[0]
    state = two_heads().initial_state(weights=network(two_heads()))
    env = dict(zip(family.flow.system.names, state, strict=True))
    for q in (1, 2, 3):
        (value,) = graph.evaluate([family.trace(q)], env, {}, float)
        assert value == pytest.approx(family.values(state)[q - 1], rel=1e-10)


def test_neurons_are_pinned_too() -> None:
    value = Value(("W_O", "W_V"), output=Neurons((1, -1, 2)))
    flow = gradient_flow(AttentionModel(Dictionary(["u", "v"]), [Head(1)], value=value), small(), train=("W_O", "W_V"))
    (family,) = lax_integrals(flow)
    assert (str(family.path), family.size) == ("n'.W_O.W_V.E", 5)
    assert all(check_integral(flow.system, trace).answer == "zero" for trace in family.traces)


def small() -> Distribution:
    return Distribution([Sample(["u", "v"], 1, Fraction(1, 2)), Sample(["u", "-v"], -1, Fraction(1, 2))])


@pytest.mark.parametrize(
    ("train", "carry"),
    [
        (("w", "W_K"), None),
        (("w", "W_Q"), None),
        (("w", "W_K"), ALL),
        (("w",), ALL),
        (("w",), None),
    ],
)
def test_both_maps_must_move(train: tuple[str, ...], carry: tuple[str, ...] | None) -> None:
    flow = two_heads(None, train, carry)
    assert lax_integrals(flow) == []
    assert np.isnan(invariant_drift(flow, np.ones((2, flow.system.dimension))))


def test_one_trained_map_does_not_conserve_the_traces() -> None:
    """Why nothing is returned: the same nodes on the flow that trains keys only."""
    trace = lax_integrals(two_heads())[0].trace(1)
    assert check_integral(two_heads(None, ("w", "W_K"), ALL).system, trace).answer == "nonzero"


def test_a_stage_that_trains_both_maps_is_enough() -> None:
    assert len(lax_integrals(two_heads(None, ("W_K", "W_Q"), ALL))) == 2


def test_steps_singular_words_and_other_chains_have_no_family() -> None:
    words = Dictionary(["u", "v"])
    assert lax_integrals(gradient_descent(AttentionModel(words), small())) == []
    assert lax_integrals(gradient_flow(AttentionModel(Dictionary(["u", "v"], [[1, 1], [1, 1]])), small())) == []
    assert lax_integrals(gradient_flow(AttentionModel(words, score=("W_QK",)), small(), train=("w", "W_QK"))) == []


def test_the_proof_reads_the_terms_of_the_closure() -> None:
    flow = gradient_flow(AttentionModel(Dictionary(["u", "v"])), small())
    assert len(lax_integrals(flow)) == 1
    for path, terms in flow.closure.terms.items():
        for k in range(len(terms)) if len(path.letters) == 2 else ():
            shorter = {**flow.closure.terms, path: terms[:k] + terms[k + 1 :]}
            assert lax_integrals(replace(flow, closure=replace(flow.closure, terms=shorter))) == []


def test_higher_traces_of_a_small_flow() -> None:
    flow = gradient_flow(AttentionModel(Dictionary(["u", "v"], [[2, 1], [1, 1]])), small())
    (family,) = lax_integrals(flow)
    assert family.size == 4
    assert [check_integral(flow.system, family.trace(q)).answer for q in range(1, 5)] == ["zero"] * 4


def test_the_search_finds_the_family_of_a_small_flow() -> None:
    flow = gradient_flow(AttentionModel(Dictionary(["u", "v"])), small())
    found = polynomial_integrals(flow.system, 2)
    (family,) = lax_integrals(flow)
    nodes: set[Node] = {i.node for i in found}
    assert family.trace(1) in nodes or -family.trace(1) in nodes
    assert all(check_integral(flow.system, i.node).answer == "zero" for i in found)


@pytest.mark.slow
def test_search_in_forty_states() -> None:
    """861 monomials of degree at most two: the trace and the trace of the square, and nothing else."""
    flow = gradient_flow(AttentionModel(Dictionary(WORDS)), mixture())
    assert flow.system.dimension == 40
    found = polynomial_integrals(flow.system, 2)
    (family,) = lax_integrals(flow)
    assert [i.node for i in found] == [family.trace(1), family.trace(2)]


@pytest.mark.parametrize(
    "gram",
    [
        [[1, 0], [0, 1]],
        [[4]],
        [[2, 1], [1, 3]],
        [[2.5, 1], [1, 3]],
        [[sym("k"), 0], [0, 2]],
        [[sym("k")]],
        [[sym("k"), 0, 0], [0, sym("a"), 0], [0, 0, 3]],
    ],
)
def test_the_inverse_of_a_gram_matrix_is_one(gram: list[list[Any]]) -> None:
    nodes = np.array([[graph.as_node(v) for v in row] for row in gram], dtype=object)
    found = _inverse(SimpleNamespace(pin_gram=lambda pin: nodes), "E")  # type: ignore[arg-type]
    values = {"k": 0.7, "a": 1.9}
    whole, inverse = (
        np.array(graph.evaluate(list(m.ravel()), values, {}, float), dtype=float).reshape(m.shape)
        for m in (nodes, found)
    )
    np.testing.assert_allclose(whole @ inverse, np.eye(len(gram)), atol=1e-14)


def test_a_gram_matrix_with_letters_off_the_diagonal_is_refused() -> None:
    nodes = np.array([[graph.ONE, sym("k")], [sym("k"), graph.ONE]], dtype=object)
    with pytest.raises(EquationError, match="give it numbers"):
        _inverse(SimpleNamespace(pin_gram=lambda pin: nodes), "E")  # type: ignore[arg-type]


def test_traces_of_powers_are_sums_of_powers_of_eigenvalues() -> None:
    rng = np.random.default_rng(SEED)
    stack = rng.normal(size=(2, 3, 4, 4))
    found = power_traces(stack, 5)
    assert found.shape == (2, 3, 5)
    for q in range(1, 6):
        np.testing.assert_allclose(
            found[..., q - 1], (np.linalg.eigvals(stack) ** q).sum(axis=-1).real, rtol=1e-9, atol=1e-9
        )


def test_the_drift_is_the_largest_change_relative_to_the_gram_matrix() -> None:
    flow = gradient_flow(AttentionModel(Dictionary(["u", "v"], [[2, 1], [1, 1]])), small())
    (family,) = lax_integrals(flow)
    rows = np.random.default_rng(SEED).normal(size=(3, flow.system.dimension))

    def drift(most: int) -> float:
        start = family.matrix(rows[0])
        return max(
            abs(np.trace(np.linalg.matrix_power(family.matrix(row), q)) - np.trace(np.linalg.matrix_power(start, q)))
            / np.linalg.norm(family.gram(row)) ** q
            for row in rows
            for q in range(1, most + 1)
        )

    assert invariant_drift(flow, rows) == pytest.approx(drift(4), rel=1e-9)
    assert invariant_drift(flow, rows, q_max=1) == pytest.approx(drift(1), rel=1e-9) and drift(1) < drift(4)
    assert invariant_drift(flow, 1e-5 * rows) == pytest.approx(drift(4), rel=1e-9)
    assert invariant_drift(flow, rows[0]) == 0.0 and invariant_drift(flow, 0 * rows) == 0.0
    assert family.values(rows[0]).shape == (4,) and family.values(rows, 2).shape == (3, 2)
    size = flow.system.dimension
    with pytest.raises(EquationError) as caught:
        invariant_drift(flow, rows[:, 1:])
    assert str(caught.value) == f"the states have {size - 1} entries but the flow has {size}"


def test_blocks_and_numbers_of_nodes() -> None:
    one, two, k = graph.ONE, graph.num(2), sym("k")
    blocks = _block_diagonal(np.array([[one]], dtype=object), np.array([[two, k], [k, one]], dtype=object))
    assert blocks.tolist() == [[one, graph.ZERO, graph.ZERO], [graph.ZERO, two, k], [graph.ZERO, k, one]]
    assert _floats(blocks, {"k": 0.5}).tolist() == [[1, 0, 0], [0, 2, 0.5], [0, 0.5, 1]]
    with pytest.raises(ParameterError) as caught:
        _floats(blocks, {"a": 1.0})
    assert str(caught.value) == "the square of the output vector is k; pass parameters={'k': ...}"


def test_a_gram_matrix_that_is_singular_up_to_rounding_is_not_inverted() -> None:
    for entry, whole in ((1.0 + 1e-15, False), (1.5, True)):
        nodes = np.array([[graph.num(1.0), graph.num(1.0)], [graph.num(1.0), graph.num(entry)]], dtype=object)
        pins: Any = SimpleNamespace(pin_gram=lambda pin, nodes=nodes: nodes)
        if whole:
            assert _inverse(pins, "E").shape == (2, 2)
        else:
            with pytest.raises(np.linalg.LinAlgError, match="singular"):
                _inverse(pins, "E")
