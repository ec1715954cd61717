"""Quotients: fields commute with them, wrong generators and starts are refused, orbits by hand."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

from derivations.two_mixture import setting
from odesys import (
    AttentionModel,
    Data,
    Dictionary,
    Distribution,
    Sample,
    System,
    Words,
    gradient_flow,
    maps,
    squared,
    sym,
)
from odesys.derive.flow import Flow
from odesys.errors import AsymmetryWarning, EquationError, SymmetryError
from odesys.expr.system import State
from odesys.reduce import program_symmetry
from odesys.reduce.program_symmetry import LossCheck, ProgramSymmetry
from odesys.reduce.quotient import Orbits, merged_states, signed_orbits
from odesys.reduce.symmetry import symmetry


def mixture(K: int, L: int = 3):
    return gradient_flow(setting.model(K), setting.data(K, L))


def small(words: list[str], samples: list[Sample], gram: object = None, **options: object):
    return gradient_flow(
        AttentionModel(Dictionary(words, gram), **options),
        Distribution.proportional(samples),
        train=options["value"].maps if "value" in options else ("w", "W_K", "W_Q"),
    )


@pytest.mark.parametrize("K", [2, 3])
def test_quotient_commutes_with_the_field(K: int) -> None:
    flow = mixture(K)
    quotient = flow.quotient()
    full, small = flow.system.compile(b=0.5), quotient.system.compile(b=0.5)
    rng = np.random.default_rng(8)
    for _ in range(4):
        z = rng.normal(size=quotient.system.dimension)
        assert np.abs(full(0, quotient.lift(z)) - quotient.lift(small(0, z))).max() < 1e-14
        assert np.abs(quotient.project(quotient.lift(z)) - z).max() < 1e-15


def test_wrong_generator_is_refused() -> None:
    flow = mixture(2)
    heads = {"p": "m", "m": "p"}
    forgot_signs, head_swap = (symmetry(flow, words, heads) for words in ({}, {"v1": "-v1", "v2": "-v2"}))
    with pytest.raises(SymmetryError, match="does not map the weighted samples"):
        flow.quotient(generators=[forgot_signs])
    assert flow.quotient(generators=[head_swap]).system.dimension == 40


def test_asymmetric_start_is_refused() -> None:
    quotient = mixture(2).quotient()
    rng = np.random.default_rng(0)
    weights = {"w": np.zeros((2, 4)), "W_K": rng.normal(size=(2, 5, 4)), "W_Q": rng.normal(size=(2, 5, 4))}
    with pytest.raises(SymmetryError, match="not symmetric"):
        quotient.initial_state(weights=weights)


def test_signed_orbits_by_hand() -> None:
    swap = (np.array([1, 0, 2, 3]), np.array([1, 1, -1, 1]))
    orbits = signed_orbits(4, [swap])
    assert orbits.representatives.tolist() == [0, 3] and orbits.sign.tolist() == [1, 1, 0, 1]
    assert orbits.lift([5.0, 7.0]).tolist() == [5.0, 5.0, 0.0, 7.0]


def test_orbits_that_all_vanish_project_to_nothing() -> None:
    orbits = signed_orbits(2, [(np.array([0, 1]), np.array([-1, -1]))])
    assert len(orbits.representatives) == 0
    assert orbits.project(np.ones(2)).shape == (0,) and orbits.project(np.ones((3, 2))).shape == (3, 0)


def test_what_all_generators_are_checked_by_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, made = mixture(3), []
    generators = flow.symmetries().generators

    class Counted(LossCheck):
        def __init__(self, flow: Flow) -> None:
            made.append(flow)
            super().__init__(flow)

    monkeypatch.setattr(program_symmetry, "LossCheck", Counted)
    monkeypatch.setattr("odesys.reduce.quotient.LossCheck", Counted)
    assert len(generators) > 1 and flow.quotient(generators).system.dimension == flow.quotient().system.dimension
    assert len(made) == 1


def closure_of(size: int, generators: list) -> list[tuple[np.ndarray, np.ndarray]]:
    """All elements of the group, one product after the other."""
    one = (tuple(range(size)), (1,) * size)
    found, waiting = {one}, [one]
    while waiting:
        target, sign = waiting.pop()
        for t, s in generators:
            new = (tuple(int(t[k]) for k in target), tuple(int(a * s[k]) for a, k in zip(sign, target, strict=True)))
            if new not in found:
                found.add(new)
                waiting.append(new)
    return [(np.array(t), np.array(s)) for t, s in found]


def test_orbits_and_their_means_are_those_of_the_whole_group() -> None:
    """A projected state is the mean over all elements of its images, and a lift is what every element leaves alone."""
    rng = np.random.default_rng(4)
    vanished = 0
    for _ in range(40):
        size = int(rng.integers(2, 6))
        generators = [(rng.permutation(size), rng.choice([1, 1, 1, -1], size)) for _ in range(rng.integers(1, 3))]
        orbits, group = signed_orbits(size, generators), closure_of(size, generators)
        x = rng.normal(size=(2, 3, size))
        images = []
        for target, sign in group:
            image = np.empty_like(x)
            image[..., target] = x * sign
            images.append(image)
        mean = np.mean(images, axis=0)
        kept = orbits.lift(orbits.project(x)) if len(orbits.representatives) else np.zeros_like(x)
        assert np.allclose(kept, mean, atol=1e-12)
        assert orbits.project(x).shape == (2, 3, len(orbits.representatives))
        members = [{int(t[s]) for t, _ in group} for s in range(size)]
        still = [s for s in range(size) if not any(t[s] == s and g[s] < 0 for t, g in group)]
        firsts = [s for s in still if s == min(members[s])]
        assert orbits.representatives.tolist() == firsts
        assert (orbits.sign != 0).tolist() == [s in still for s in range(size)]
        assert all(orbits.orbit[s] == firsts.index(min(members[s])) for s in still)
        assert all(orbits.sign[s] == 1 for s in firsts)
        vanished += len(still) < size
    assert vanished > 5
    assert orbits.project(np.zeros((0, size))).shape == (0, len(orbits.representatives))


def pair() -> Flow:
    """Two words with opposite targets: a -> -b."""
    words = Words("a b")
    w = maps("w", 1, words)
    return gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1), ("b", -1)]), squared)


TURN = ProgramSymmetry((("E", (("E", 1, -1), ("E", 0, -1))),))


def test_variables_names_and_values_of_a_small_quotient() -> None:
    made = pair().quotient([TURN])
    assert made.system.names == ("w_a",) and made.generators == (TURN,)
    assert [made.variable(n) for n in ("w_a", "w_b")] == [("w_a", 1), ("w_a", -1)]
    assert made.lift([2.0]).tolist() == [2, -2] and made.project([3.0, -3.0]).tolist() == [3]
    assert made.lifted == {"w_a": sym("w_a"), "w_b": -sym("w_a")} and made.source is made.flow.system
    assert made.system.structure["w_a"].orbit == ("w_a", "-w_b")
    assert pair().quotient().system.names == ("w_a",) and pair().quotient(state=[1.0, 5.0]).system.dimension == 2
    turned = pair().quotient([ProgramSymmetry((("E", (("E", 0, 1), ("E", 1, 1))),))])
    assert turned.system.dimension == 2
    with pytest.raises(SymmetryError, match=r"'w' is not a symmetry; flow.symmetries"):
        pair().quotient(["w"])


def test_asymmetric_states_are_seen_and_symmetric_ones_are_not() -> None:
    made = pair().quotient([TURN])
    assert made.asymmetry([3.0, -1.0]) == 1.0 and made.asymmetry([3.0, -3.0]) == 0.0
    assert made.asymmetry(np.zeros((0, 2))) == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.project([1e3, -1e3 * (1 + 1e-7)]) == pytest.approx([1e3])
        assert made.project([0.0, 0.0]).tolist() == [0.0]
        assert made.project(np.zeros((0, 2))).shape == (0, 1)
    with pytest.warns(AsymmetryWarning, match="it is off by 1\\), .* means over orbits"):
        assert made.project([3.0, -1.0]).tolist() == [2.0]
    with pytest.warns(AsymmetryWarning):
        made.project([1.0, -1.0 - 1e-5])
    assert made.initial_state(weights={"w": [[2, -2]]}).tolist() == [2]
    assert made.initial_state(weights={"w": [[0, 0]]}).tolist() == [0]
    assert made.initial_state(weights={"w": [[1e6, -1e6]]}).tolist() == [1e6]
    with pytest.raises(SymmetryError, match="this start is not symmetric"):
        made.initial_state(weights={"w": [[2, -2 - 1e-9]]})


def test_a_quotient_in_which_all_states_vanish_is_refused() -> None:
    words = Words("a")
    w = maps("w", 1, words)
    made = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1), ("a", -1)]), squared)
    with pytest.raises(
        SymmetryError, match="every state is mapped to minus itself, so the symmetric flow stands still"
    ):
        made.quotient()


def test_states_of_a_quotient_get_other_names() -> None:
    made = pair().quotient([TURN])
    other = made.rename({"w_a": "u"})
    assert other.system.names == ("u",) and other.system.tex == {"u": made.system.tex["w_a"]}
    assert other.system.structure == {"u": made.system.structure["w_a"]} and other.variable("w_b") == ("u", -1)
    assert other.system.nodes[0] is not made.system.nodes[0]
    assert np.allclose(other.system.compile()(0.0, [0.3]), made.system.compile()(0.0, [0.3]))
    assert made.rename({"w_a": "u"}, {"u": "U"}).system.tex == {"u": "U"}
    both = pair().quotient([]).rename({"w_b": "v"})
    assert both.system.names == ("w_a", "v") and set(both.system.structure) == {"w_a", "v"}
    with pytest.raises(EquationError, match="q can not be renamed: there are w_a"):
        made.rename({"q": "u"})


def test_members_of_orbits_of_orbits_keep_their_signs() -> None:
    orbits = Orbits(np.array([0, 0, 0]), np.array([1, -1, 0]), np.array([0]))
    inner = {"x": State("x", orbit=("a", "-b")), "y": State("y", orbit=("-c", "d"))}
    found = merged_states(["x", "y", "z"], inner, orbits)
    assert found == {"x": State("x", orbit=("a", "-b", "c", "-d"))}
    assert merged_states(["x", "y", "z"], {}, orbits)["x"].orbit == ("x", "-y")


@pytest.mark.parametrize(("s", "t"), list(product((1, -1), repeat=2)))
def test_a_quotient_of_a_plain_system_lifts_with_signs(s: int, t: int) -> None:
    x, y = sym("x"), sym("y")
    system = System.from_equations({"x": -(x**3) + t * y, "y": -(y**3) + t * x})
    made = system.quotient([{"x": "y" if s > 0 else "-y", "y": "x" if s > 0 else "-x"}])
    assert made.lift([0.5]).tolist() == [0.5, 0.5 * s] and made.lifted == {"x": x, "y": x * s}
    assert made.system.nodes[0] is -(x**3) + s * t * x
