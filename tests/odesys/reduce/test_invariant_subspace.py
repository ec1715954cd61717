"""A subspace of a quotient: the reduced equations, what is dropped, and Gram matrices with parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, gradient_flow
from odesys.errors import DictionaryError, EquationError, ModelError
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.reduce.invariant_subspace import restrict_to_subspace


def toy(gram=None):
    words = Dictionary(["a", "b"], gram)
    data = Distribution([Sample(["a", "b"], 1, Fraction(1, 2)), Sample(["-a", "b"], -1, Fraction(1, 2))])
    return gradient_flow(AttentionModel(words, [Head()]), data)


def test_zeros_and_ties_are_substituted_before_the_equations_are_read() -> None:
    quotient = toy().quotient(generators=[])
    zero, tie = [n for n in quotient.system.names if n.startswith("KQ_a_b")], {"QQ_b_b": "KK_b_b"}
    found = restrict_to_subspace(quotient, zero, tie)
    mapping = {sym(n): graph.ZERO for n in zero} | {sym(a): sym(b) for a, b in tie.items()}
    full = dict(zip(quotient.system.names, graph.substitute(list(quotient.system.nodes), mapping), strict=True))
    assert all(node is full[n] for n, node in found.system.equations.items())
    assert found.residuals["KQ_a_b"] is full["KQ_a_b"] and not found.exact
    assert found.residuals["QQ_b_b"] is full["QQ_b_b"] - full["KK_b_b"]


def test_a_subspace_names_what_it_does_not_know() -> None:
    quotient = toy().quotient(generators=[])
    with pytest.raises(EquationError, match="is not a variable of this quotient"):
        restrict_to_subspace(quotient, ["nothing"])
    with pytest.raises(EquationError, match="one of these"):
        restrict_to_subspace(quotient, ["KQ_a_b"], {"KQ_a_b": "KQ_a_a"})
    with pytest.raises(EquationError, match="nothing is left"):
        restrict_to_subspace(quotient, quotient.system.names)


def test_a_gram_matrix_may_have_parameters() -> None:
    g = sp.Symbol("g", real=True)
    flow = toy([["p", g / 2], [g / 2, 3]])
    assert {"p", "g"} <= set(flow.system.parameters)
    numbers = toy([[2, Fraction(1, 2)], [Fraction(1, 2), 3]])
    assert flow.system.substitute({"p": 2, "g": 1}).nodes == numbers.system.nodes
    with pytest.raises(DictionaryError, match="not symmetric"):
        toy([["p", "g"], ["h", 3]])
    with pytest.raises(ModelError, match="have the parameter g; start values need a number, add g="):
        flow.initial_state(omega=0.1)
    with pytest.raises(EquationError, match="off the diagonal is not inverted"):
        flow.invariants()[0].trace(1)


def test_conserved_traces_for_orthogonal_words_of_any_length() -> None:
    from odesys.analysis.conserved import check_integral

    flow = toy([["p", 0], [0, "s"]])
    (family,) = flow.invariants()
    assert all(check_integral(flow.system, node).answer == "zero" for node in family.traces)
    assert check_integral(flow.system, family.trace(1) + sym("KK_a_a")).answer == "nonzero"


def test_residuals_and_the_smaller_field_are_those_of_the_larger_at_the_lift() -> None:
    """Whether a subspace is left or not: zeros move by their residual, ties by the difference to their partner."""
    quotient = toy().quotient([])
    names = quotient.system.names
    tie, zero = {names[1]: names[0]}, [names[3]]
    found = restrict_to_subspace(quotient, zero, tie)
    assert found.system.names == tuple(n for n in names if n not in (names[1], names[3]))
    assert set(found.residuals) == {names[1], names[3]} and set(found.system.tex) == set(found.system.names)
    parameters = {p: 0.4 for p in quotient.system.parameters}
    z = np.random.default_rng(5).normal(size=found.system.dimension)
    full = found.lift(z)
    at = dict(zip(names, full, strict=True))
    assert at[names[1]] == at[names[0]] and at[names[3]] == 0
    rate = dict(zip(names, quotient.system.compile(parameters)(0.0, full), strict=True))
    kept = found.system.compile({p: 0.4 for p in found.system.parameters})(0.0, z)
    assert np.allclose(kept, [rate[n] for n in found.system.names], rtol=1e-12, atol=1e-14)
    values = dict(zip(found.system.names, z, strict=True)) | parameters
    gaps = graph.evaluate(list(found.residuals.values()), values, graph.FLOAT_FUNCTIONS, float)
    wanted = {names[3]: rate[names[3]], names[1]: rate[names[1]] - rate[names[0]]}
    assert dict(zip(found.residuals, gaps, strict=True)) == pytest.approx(wanted)
    assert found.system.structure[names[0]].orbit[:2] == (names[0], names[1])


def test_names_may_stand_in_one_place_only() -> None:
    quotient = toy().quotient([])
    a, b, c = quotient.system.names[:3]
    for zero, tie, word in (
        ([a], {a: b}, a),
        ([b], {a: b}, b),
        ([], {a: b, b: c}, b),
    ):
        with pytest.raises(EquationError, match=f"{word} can be put to zero, or tied, or be what others are tied to"):
            restrict_to_subspace(quotient, zero, tie)
    with pytest.raises(EquationError, match="nothing is left: every variable is put to zero or tied"):
        restrict_to_subspace(quotient, quotient.system.names)
    both = restrict_to_subspace(quotient, [], {a: c, b: c})
    assert both.system.dimension == quotient.system.dimension - 2
