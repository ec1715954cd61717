"""Flows in coordinates: against the flow on path scalars, against weight space, and their quotients."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from numerics.maps.iterate import iterate
from numerics.networks.finite_width import descent_run, random_network
from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, Value, gradient_flow
from odesys.errors import ModelError, SymmetryError
from odesys.model.paths import leaf_name
from odesys.reduce.coordinates import CoordinateSymmetry, coordinate_flow
from odesys.reduce.symmetry import SignedPermutation
from tests import toy_models


def sizes(toy: toy_models.Toy) -> dict[str, tuple[int, ...]]:
    return {"value": (4,) * (len(toy.model.value.maps) - 1), "score": (3,)}


@pytest.mark.parametrize(
    "toy",
    [
        toy_models.two_mixture(toy_models.GRAM),
        toy_models.cooccurrence(toy_models.GRAM),
        toy_models.shallow_vit(toy_models.GRAM),
        toy_models.shallow_vit(per_position=True),
    ],
    ids=lambda toy: toy.name,
)
def test_path_scalars_move_as_their_own_flow_says(toy: toy_models.Toy) -> None:
    """The rate of every product of weights, along the flow of the weights, is the rate of the path scalar."""
    own = coordinate_flow(toy.model, toy.data, toy.train, **sizes(toy), loss=toy.loss)
    paths = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    rng = np.random.default_rng(3)
    x = rng.standard_normal(own.system.dimension)
    rate = own.system.compile(toy.parameters)(0.0, x)

    def products(state: np.ndarray) -> dict[str, np.ndarray]:
        """The matrices of all path scalars."""
        leaves, out = own.layout.unpack(state), {}
        for k, label in enumerate(toy.model.head_labels):

            def factor(letter, label=label):
                piece = next(p for p in own.pieces if p.map == letter.name)
                name = next(
                    n
                    for n in leaves
                    if n.removesuffix(f"_{label}").endswith(piece.map.removeprefix("W_"))
                    and (not label or n.endswith(f"_{label}"))
                )
                return leaves[name].T if letter.transposed else leaves[name]

            for path in paths.closure.paths:
                out[leaf_name(toy.model, path, k)] = reduce(np.matmul, [factor(letter) for letter in path.letters])
        return out

    h = 1e-6
    high, low = products(x + h * rate), products(x - h * rate)
    state = paths.layout.pack(products(x))
    wanted = paths.layout.unpack(paths.system.compile(toy.parameters)(0.0, state))
    for name, table in wanted.items():
        assert np.abs((high[name] - low[name]) / (2 * h) - table).max() < 1e-7 * (1 + np.abs(table).max()), name


def test_three_trained_maps_that_do_not_close_are_followed_in_coordinates() -> None:
    words = Dictionary(["a", "b", "c"])
    model = AttentionModel(words, [Head()], value=Value(("U", "W", "V")), pooling="mean")
    data = Distribution([Sample(["a", "b"], 1, Fraction(1, 2)), Sample(["b", "c", "c"], -1, Fraction(1, 2))])
    train = ("U", "W", "V", "W_K", "W_Q")
    net = random_network(model, 4, 3, dict.fromkeys(train, 0.7), np.random.default_rng(1))
    made = coordinate_flow(model, data, train, value=(4, 4), score=4, step=True)
    start = made.initial_state(net.images())
    run = iterate(made.system, start, 20, {"eta": 0.3}, record_every=20)
    ((_, last),) = descent_run(net, data, train, 0.3, 20, record=[20])
    end = made.initial_state(last.images())
    assert np.abs(run.end_state - end).max() < 1e-12 < 0.1 < np.abs(end - start).max()


def mirrored():
    """Two words that trade places with the label, one more that stays; features on axes of their own."""
    words = Dictionary(["a", "b", "c"])
    model = AttentionModel(words, [Head()], value=Value(("U", "V")), pooling="mean")
    data = Distribution(
        [
            Sample(["a", "b", "c"], 1, Fraction(1, 2), counts=[3, 1, "gamma"]),
            Sample(["a", "b", "c"], -1, Fraction(1, 2), counts=[1, 3, "gamma"]),
        ]
    )
    return coordinate_flow(model, data, ("U", "V", "W_K", "W_Q"), value=3, score=3)


def swap(sign: int = -1, axes=((1, 1), (0, 1), (2, 1))) -> CoordinateSymmetry:
    words = ((1, 1), (0, 1), (2, 1))
    return CoordinateSymmetry(
        SignedPermutation(words, ((0, sign),), (((0, sign),),), sign), {"value": axes, "score": axes}
    )


def test_the_quotient_commutes_with_the_flow() -> None:
    made = mirrored()
    reduced = made.quotient([swap()])
    assert reduced.system.dimension < made.system.dimension
    field, small = made.system.compile({"gamma": 0.7}), reduced.system.compile({"gamma": 0.7})
    z = np.random.default_rng(0).standard_normal(reduced.system.dimension)
    assert np.abs(field(0.0, reduced.lift(z)) - reduced.lift(small(0.0, z))).max() < 1e-13
    assert reduced.project(reduced.lift(z)) == pytest.approx(z)


def test_what_is_no_symmetry_is_refused() -> None:
    with pytest.raises(SymmetryError, match="does not map the weighted samples"):
        mirrored().quotient([swap(sign=1)])
    with pytest.raises(SymmetryError, match="are not permuted"):
        mirrored().quotient([swap(axes=((1, 1), (1, 1), (2, 1)))])
    with pytest.raises(SymmetryError, match="no free space 'keys'"):
        mirrored().quotient([CoordinateSymmetry(swap().base, {"keys": ((0, 1),)})])


def test_wrong_sizes_get_a_sentence() -> None:
    toy = toy_models.shallow_vit()
    with pytest.raises(ModelError, match="has 1 free spaces between its maps"):
        coordinate_flow(toy.model, toy.data, toy.train, value=(2, 2), score=3, loss="hinge")
    made = coordinate_flow(toy.model, toy.data, toy.train, value=2, score=3, loss="hinge")
    with pytest.raises(ModelError, match="W_V has no start value"):
        made.initial_state({"W_O": np.zeros((5, 2))})
    with pytest.raises(ModelError, match="has the shape"):
        made.initial_state({"W_O": np.zeros((5, 3))})
