"""Mutations: what they leave alone, and equations at other speeds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from odesys import Data, Flow, Space, Words, logistic, maps, softmax
from odesys.derive.training import gradient_descent, gradient_flow
from odesys.expr import graph
from odesys.model.attention import Head
from odesys.model.dictionary import Dictionary
from odesys.model.distribution import Distribution, Sample
from odesys.papers.mutation import UNBROKEN, Mutation, PathSpeeds, each_sample
from odesys.program.attention import AttentionModel


def flow(step: bool = False) -> Flow:
    data = Distribution.proportional([Sample(["a", "b"], 1), Sample(["a"], -1)])
    derive = gradient_descent if step else gradient_flow
    return derive(AttentionModel(Dictionary(["a", "b"]), [Head(+1), Head(-1)]), data, train=("w", "W_K", "W_Q"))


def rates(made: Flow) -> dict[str, graph.Node]:
    return dict(zip(made.system.names, made.system.nodes, strict=True))


def test_a_mutation_leaves_alone_what_it_does_not_name() -> None:
    broken, data = Mutation("late", "starts late", start=lambda x: x / 2), object()
    assert broken.start(2.0) == 1.0 and broken.data(data) is broken.model(data) is UNBROKEN.start(data) is data


def test_each_sample_is_changed_and_keeps_the_rest() -> None:
    twice = each_sample(lambda s: replace(s, weight=2 * s.weight) if s.label < 0 else s)
    found = twice(flow().data.samples)
    assert [s.weight for s in found] == [Fraction(1, 2), Fraction(1)] and found[1].tokens == ("a",)


@pytest.mark.parametrize("step", [False, True])
def test_speeds_multiply_the_change_of_a_path_matrix_in_all_heads(step: bool) -> None:
    plain, made = flow(step), PathSpeeds({"KQ": -2, "missing": 5})(flow(step))
    state = np.linspace(0.3, 0.9, plain.system.dimension)
    before, after = (f.system.compile({"eta": 0.5} if step else {})(0.0, state) - step * state for f in (plain, made))
    scores = np.array([name.startswith("KQ_") for name in plain.system.names])
    assert scores.sum() == 8 and np.abs(before[scores]).max() > 1e-3
    assert after == pytest.approx(np.where(scores, -2, 1) * before, abs=1e-14)


@pytest.mark.parametrize("step", [False, True])
def test_speeds_of_a_program(step: bool) -> None:
    words, m = Words("a b"), Space("m")
    heads = [(maps("w", 1, words, of=h), *maps("W_K W_Q", m, words, of=h)) for h in "pm"]

    def f(X):
        p, q = ((w @ X @ softmax(X.T @ K.T @ Q @ X)).sum() for w, K, Q in heads)
        return p - q

    data = Data(words, [("a b", 1), ("a", -1)])
    derive = gradient_descent if step else gradient_flow
    plain = derive(f, data, logistic)
    made = PathSpeeds({"KQ": -2, "missing": 5})(plain)
    state = np.linspace(0.3, 0.9, plain.system.dimension)
    before, after = (g.system.compile({"eta": 0.5} if step else {})(0.0, state) - step * state for g in (plain, made))
    scores = np.isin(plain.system.names, [*plain.matrices["KQ_p"].ravel(), *plain.matrices["KQ_m"].ravel()])
    assert scores.sum() == 8 and np.abs(before[scores]).max() > 1e-3
    assert after == pytest.approx(np.where(scores, -2, 1) * before, abs=1e-14)
    assert isinstance(made, Flow) and made.network(width=4, omega=0.1).loss() > 0


def test_speeds_entry_by_entry() -> None:
    apart = PathSpeeds({"KK": lambda rows, columns: np.eye(rows, columns, dtype=int).tolist()})
    plain, made = rates(flow()), rates(apart(flow()))
    still = {name for name, node in made.items() if node is graph.ZERO and plain[name] is not graph.ZERO}
    assert still == {name for name in plain if name.startswith("KK_") and name.split("_")[2] != name.split("_")[3]}
    assert still and apart.table("KK", (2, 2)) == [[1, 0], [0, 1]] and apart.of("QQ") == 1


def test_a_factor_may_bring_a_parameter() -> None:
    made = PathSpeeds({"w": graph.sym("m")})(flow()).system
    assert made.parameters == (*flow().system.parameters, "m")
