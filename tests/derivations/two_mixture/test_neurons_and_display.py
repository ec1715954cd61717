"""Lemmas F.1, F.2 and the display of section 5.2: exact equations for each pattern, factors, and broken twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture.claims import book, part_f_neurons
from derivations.two_mixture.claims.part_5_2_display import factors, quotient
from derivations.two_mixture.claims.part_f_neurons import (
    PATTERNS,
    SLIDES,
    brackets_at,
    classification_queries_cancel,
    equation,
    meets_on_the_surface,
    patterns_along,
    printed_coefficients,
)
from derivations.two_mixture.laboratory import Laboratory
from derivations.two_mixture.special.trajectories import stage_three
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, sym


def test_printed_brackets_and_floats_agree_with_the_compiled_field_in_both_patterns() -> None:
    """Independent of the proof: the field in floats early and late in stage 3, where the unit is off and on."""
    lab = Laboratory()
    run, system = stage_three(lab, 0.1, 20.0, 1.0, 1000.0), lab.reduced("stage3").system
    compiled = system.compile(b=0.5)
    for time, pattern in ((1.0, "X_{k,-,-} off"), (900.0, "all units on")):
        state = run.at(run.times[0] + time)
        values = dict(zip(system.names, state, strict=True))
        margins = compiled.observables(0.0, state)
        g = {
            kind: 1 / (1 + np.exp(margins[f"margin_{lab.sample(1, 1, r) + 1}"]))
            for kind, r in (("consistent", 1), ("conflicting", -1))
        }
        rate = compiled(0.0, state)
        nodes = printed_coefficients(lab, ZERO if "off" in pattern else ONE)
        printed = dict(zip(nodes, graph.evaluate(list(nodes.values()), values, {"exp": np.exp}, float), strict=True))
        assert printed == pytest.approx(brackets_at(values)[pattern], abs=1e-12)
        for neuron in "cv":
            guess = sum(g[kind] * printed[f"{neuron}, {kind}"] for kind in g) / 8
            assert rate[system.names.index(f"n_{neuron}")] == pytest.approx(guess, rel=1e-9)


@pytest.mark.parametrize("neuron", ["v", "c"])
def test_equations_are_proved_and_broken_systems_refuted(neuron: str) -> None:
    verdict = equation(Laboratory(), neuron)
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "proof") and verdict.details["identities"] == 2
    for mutation in ("labels", "consistent", "neurons"):
        assert equation(Laboratory(mutation), neuron).as_stated == "fails"


def test_a_pattern_with_another_unit_off_is_not_the_printed_equation(monkeypatch) -> None:
    monkeypatch.setattr(part_f_neurons, "PATTERNS", PATTERNS | {"X_{k,-,+} off": frozenset({(-1, 1)})})
    verdict = equation(Laboratory(), "v")
    assert verdict.as_stated == "fails" and "X_{k,-,+} off" in verdict.witness.sentence


def test_the_kink_is_met_with_equal_margins_only_by_the_right_unit(monkeypatch) -> None:
    assert meets_on_the_surface(Laboratory()).as_stated == "holds"
    monkeypatch.setattr(part_f_neurons, "_unit", lambda lab, s, r: _shifted(lab, s, r))
    assert meets_on_the_surface(Laboratory()).as_stated == "fails"


def _shifted(lab: Laboratory, s: int, r: int) -> graph.Node:
    return lab.observable("H", 1, s, r, +1, quotient=True) + sym("b") + (0 if (s, r) != (-1, -1) else sym("n_c"))


def test_patterns_switch_once_or_slide_along_the_same_kink() -> None:
    seen = patterns_along(Laboratory()).details["patterns"]
    assert seen["omega=0.1, T1=20"] == ["X_{k,-,-} off", "all units on"]
    assert seen["omega=0.1, T1=3"][:2] == ["X_{k,-,-} off", SLIDES]
    assert all(order[0] == "X_{k,-,-} off" and set(order) <= {*PATTERNS, SLIDES} for order in seen.values())


def test_classification_queries_cancel_only_on_the_subspace() -> None:
    assert str(classification_queries_cancel(Laboratory()).evidence) == "proof"
    bracket = printed_coefficients(Laboratory(), ONE)["v, conflicting"]
    env = dict.fromkeys(graph.symbols([bracket]), 0.0) | {"M_cv_same": 0.5, "M_vv_same": 1.0}  # M_vc = 0: no c-query
    assert abs(graph.evaluate([bracket], env, {"exp": np.exp}, float)[0]) > 1e-3


@pytest.mark.parametrize("claim", ["F.1", "F.2"])
def test_rows_are_measured_because_orders_and_patterns_are(claim: str) -> None:
    verdict = book.run(book[claim]).verdict
    parts = verdict.details["parts"]
    assert parts["equation"] == parts["sliding"] == "holds (proof)" and parts["orders"] == "holds (measurement)"
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "measurement")


def test_factors_of_the_display() -> None:
    assert factors(Laboratory()) == {
        "over derived, at T1": 8,
        "over derived, under exact near symmetry": 4,
        "over App.E.5, at T1": 2,
        "over App.E.5, under exact near symmetry": 1,
    }
    assert factors(Laboratory("flip"))["over derived, at T1"] == -8
    verdict = book.run(book["Sec.5.2-display"]).verdict
    assert (verdict.as_stated, str(verdict.evidence)) == ("fails", "proof")
    assert str(verdict.corrected.evidence) == "proof" and verdict.corrected.as_stated == "holds"


def test_a_quotient_is_only_a_number_if_it_is_one_everywhere() -> None:
    x, y = sym("x"), sym("y")
    assert quotient(3 * x * y + 3 * x, 2 * x * (y + 1)) == Fraction(3, 2)
    assert quotient(x * x, x) is None and quotient(x, x - x) is None
    assert quotient(graph.call("sigmoid", x) * y, y) is None
