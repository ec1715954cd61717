"""Symmetry groups found from data, quotients by orbits, and slaving in sectors."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from derivations.two_mixture import setting
from odesys import AttentionModel, Dictionary, Distribution, Head, Neurons, OdesysError, Sample, Value, gradient_flow
from odesys.errors import SlavingError, SymmetryError
from odesys.quotient import signed_orbits
from odesys.sectors import find_sectors
from odesys.slaving import check_start
from odesys.symmetry import SignedPermutation, is_symmetry
from tests import toy_models

ALL = ("w", "W_K", "W_Q")


def mixture(K: int, L: int = 3):
    return gradient_flow(setting.model(K), setting.data(K, L))


def brute_force_order(flow) -> int:
    """Count all signed word permutations with head permutations and a label flip that preserve the data."""
    n, heads = len(flow.model.words), flow.model.heads
    bags: dict = {}
    for s in flow.data.samples:
        key = (tuple(sorted(flow.model.words.parse(t) for t in s.tokens)), s.label)
        bags[key] = bags.get(key, 0) + s.weight
    count = 0
    for order in permutations(range(n)):
        for signs in product((1, -1), repeat=n):
            for flip in (1, -1):
                moved: dict = {}
                for (bag, y), weight in bags.items():
                    key = (tuple(sorted((order[i], signs[i] * s) for i, s in bag)), y * flip)
                    moved[key] = moved.get(key, 0) + weight
                if moved != bags:
                    continue
                for image in permutations(range(len(heads))):
                    fits = 1
                    for k, h in enumerate(image):
                        alike = heads[k].activation == heads[h].activation and heads[k].bias is heads[h].bias
                        linear = heads[k].activation == "linear"
                        fits *= alike and (linear or heads[h].sign == flip * heads[k].sign)
                    count += fits
    return count


@pytest.mark.parametrize(("K", "L", "order"), [(2, 3, 4), (3, 3, 12), (2, 4, 4), (4, 3, 48), (8, 3, 80640)])
def test_mixture_groups(K: int, L: int, order: int) -> None:
    flow = mixture(K, L)
    assert flow.symmetries().order == order
    assert flow.quotient().system.dimension == 22
    assert all(is_symmetry(flow, g) for g in flow.symmetries().generators)


def test_order_agrees_with_brute_force() -> None:
    assert brute_force_order(mixture(2)) == mixture(2).symmetries().order
    for toy in (toy_models.two_mixture(), toy_models.signgd()):
        flow = gradient_flow(toy.model, toy.data, toy.train)
        assert flow.symmetries().order == brute_force_order(flow)


def test_one_changed_weight_shrinks_the_group() -> None:
    samples = list(setting.data(2).samples)
    first = samples[0]
    samples[0] = Sample(first.tokens, first.label, 2 * first.weight)
    data = Distribution.proportional(samples)
    flow = gradient_flow(setting.model(2), data)
    assert flow.symmetries().order == 1 == brute_force_order(flow)
    both = [Sample(s.tokens, s.label, s.weight * (2 if set(s.tokens) & {"c1"} else 1)) for s in setting.data(2).samples]
    flow = gradient_flow(setting.model(2), Distribution.proportional(both))
    assert flow.symmetries().order == 2 == brute_force_order(flow), "only the head swap is left"


def test_group_depends_on_the_state() -> None:
    flow = gradient_flow(setting.model(2), setting.conflicting(2), train=("W_K", "W_Q"), carry=ALL)
    assert flow.symmetries().order == 8
    state = flow.initial_state(omega=0.1)
    assert flow.symmetries(state=state).order == 8
    for head, sign in (("+", 1), ("-", -1)):
        for word in ("v1", "v2"):
            state[flow.system.names.index(flow.neuron(head, word))] = 0.3 * sign
    assert flow.symmetries(state=state).order == 4
    state[flow.system.names.index(flow.score("+", "c1", "v2"))] = 0.2
    assert flow.symmetries(state=state).order == 1
    with pytest.raises(SymmetryError, match="not finite"):
        flow.symmetries(state=state * np.nan)


def test_cooccurrence_sized_data() -> None:
    """The data set of the co-occurrence paper at n = 60, L = 5: 163 words, private words exchangeable."""
    samples, names = [], ["m1", "m2", "m3"]
    for specials, count, label in ((["m1", "m2"], 30, 1), (["m1"], 10, -1), (["m2"], 10, -1), ([], 10, -1)):
        for _ in range(count):
            private = [f"r{len(names) + k}" for k in range(5 - 1 - len(specials))]
            names += private
            samples.append(Sample([*specials, "m3", *private], label, Fraction(1, 60)))
    model = AttentionModel(Dictionary(names), [Head()])
    flow = gradient_flow(model, Distribution(samples), train=("w",))
    from math import factorial as f

    expected = f(2) ** 30 * f(30) * (f(3) ** 10 * f(10)) ** 2 * f(4) ** 10 * f(10) * 2
    assert len(names) == 163 and flow.symmetries().order == expected


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


def test_generators_act_on_the_field() -> None:
    flow = mixture(2)
    field = flow.system.compile(b=0.5)
    x = np.random.default_rng(1).normal(size=80)
    for g in flow.symmetries().generators:
        target, sign = g.on_states(flow)

        def act(v: np.ndarray, target: np.ndarray = target, sign: np.ndarray = sign) -> np.ndarray:
            out = np.empty_like(v)
            out[target] = sign * v
            return out

        assert np.abs(act(x) - x).max() > 0.1
        assert np.abs(field(0, act(x)) - act(field(0, x))).max() < 1e-14


def test_neuron_exchange_and_linear_sign_flip() -> None:
    words = Dictionary(["a", "b"])
    data = Distribution([Sample(["a", "b"], 1, Fraction(1, 2)), Sample(["-a", "-b"], -1, Fraction(1, 2))])
    relu = AttentionModel(words, [Head()], Value(("W_O", "W_V"), Neurons((1, 1, -1), "relu")))
    flow = gradient_flow(relu, data, train=("W_O", "W_V", "W_K", "W_Q"))
    # neurons 1, 2 exchange; a and b exchange; the label flip needs as many + as - neurons, so it is absent
    assert flow.symmetries().order == 4
    balanced = AttentionModel(words, [Head()], Value(("W_O", "W_V"), Neurons((1, -1), "relu")))
    flow = gradient_flow(balanced, data, train=("W_O", "W_V", "W_K", "W_Q"))
    assert flow.symmetries().order == 4
    linear = gradient_flow(AttentionModel(words, [Head()]), data)
    assert linear.symmetries().order == brute_force_order(linear) == 4
    for case in (flow, linear):
        quotient = case.quotient()
        z = np.random.default_rng(3).normal(size=quotient.system.dimension)
        full, small = case.system.compile(), quotient.system.compile()
        assert np.abs(full(0, quotient.lift(z)) - quotient.lift(small(0, z))).max() < 1e-14


def test_wrong_generator_is_refused() -> None:
    flow = mixture(2)
    head_swap = next(g for g in flow.symmetries().generators if g.label < 0)
    forgot_signs = SignedPermutation(tuple((i, 1) for i in range(4)), head_swap.heads, head_swap.rows, -1)
    assert not is_symmetry(flow, forgot_signs)
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


# ---- slaving ---------------------------------------------------------------------------------------------------------


def test_sectors_of_the_permutation_algebra() -> None:
    ones = np.ones((5, 5), dtype=int).astype(object)
    sectors = find_sectors([np.eye(5, dtype=int).astype(object), ones])
    assert sectors is not None and sorted((s.size, s.multiplicity) for s in sectors) == [(1, 1), (1, 4)]


@pytest.mark.parametrize("K", [2, 3])
def test_slaved_system_follows_the_quotient(K: int) -> None:
    quotient = mixture(K).quotient()
    slaved = quotient.slaved()
    assert slaved.system.dimension == 10 and slaved.sizes == (2, 2)
    omega = 0.2
    options = dict(method="DOP853", rtol=1e-10, atol=1e-13)
    long = solve_ivp(quotient.system.compile(b=0.5), (0, 60), quotient.initial_state(omega), **options)
    short = solve_ivp(slaved.system.compile(b=0.5, omega=omega), (0, 60), slaved.initial_state(omega), **options)
    assert np.abs(long.y[:, -1]).max() > 0.3
    assert np.abs(slaved.lift(short.y[:, -1], omega) - long.y[:, -1]).max() < 1e-8


def test_numerical_square_root_on_the_full_flow() -> None:
    flow = mixture(2)
    slaved = flow.slaved()
    assert slaved.system.dimension == 40
    omega = 0.3
    options = dict(method="DOP853", rtol=1e-10, atol=1e-13)
    long = solve_ivp(flow.system.compile(b=0.5), (0, 30), flow.initial_state(omega), **options)
    short = solve_ivp(slaved.system.compile(b=0.5, omega=omega), (0, 30), slaved.initial_state(omega), **options)
    assert np.abs(slaved.lift(short.y[:, -1], omega) - long.y[:, -1]).max() < 1e-8


def test_slaving_is_refused_where_it_does_not_hold() -> None:
    flow = mixture(2)
    assert check_start(flow, flow.initial_state(omega=0.3)) == pytest.approx(0.3)
    rng = np.random.default_rng(0)
    weights = {"w": np.zeros((2, 4)), "W_K": rng.normal(size=(2, 50, 4)), "W_Q": rng.normal(size=(2, 50, 4))}
    with pytest.raises(SlavingError, match=r"does not satisfy \(J S\)\^2 = omega\^4 I"):
        flow.slaved(state=flow.initial_state(weights=weights))
    gram = toy_models.two_mixture(toy_models.GRAM)
    with pytest.raises(OdesysError, match="orthonormal words"):
        gradient_flow(gram.model, gram.data).slaved()
    with pytest.raises(OdesysError, match="two carried maps"):
        gradient_flow(setting.model(2), setting.data(2), train=("w", "W_K")).slaved()
