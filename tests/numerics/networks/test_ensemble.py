"""Many networks at once against each of them alone."""

import numpy as np
import pytest

from numerics.networks.ensemble import ensemble_descent, stack
from numerics.networks.finite_width import descent_run, random_network
from odesys.errors import IntegrationError, ModelError, ParameterError
from tests.toy_models import Toy, all_toys


def networks_of(toy: Toy, count: int) -> list:
    scales = dict.fromkeys(toy.model.weights, 0.4)
    return [random_network(toy.model, 5, 8, scales, seed, toy.parameters) for seed in range(count)]


@pytest.mark.parametrize("toy", all_toys(), ids=lambda toy: toy.name)
def test_every_network_does_what_it_does_alone(toy: Toy) -> None:
    loss = toy.loss if isinstance(toy.loss, str) else "logistic"
    nets = networks_of(toy, 4)
    for net, together in zip(nets, ensemble_descent(nets, toy.data, toy.train, 0.2, 7, loss), strict=True):
        ((_, alone),) = descent_run(net, toy.data, toy.train, 0.2, 7, [7], loss)
        for name in alone.weights:
            assert np.abs(alone.weights[name] - together.weights[name]).max() < 1e-13


def test_mistakes_are_sentences() -> None:
    toy = all_toys()[0]
    nets = networks_of(toy, 2)
    with pytest.raises(ModelError, match="at least one"):
        stack([])
    with pytest.raises(ModelError, match="equal sizes"):
        stack([nets[0], random_network(toy.model, 6, 8, {}, 0, toy.parameters)])
    with pytest.raises(ParameterError, match="positive size"):
        ensemble_descent(nets, toy.data, toy.train, 0.0, 3)
    with np.errstate(all="ignore"), pytest.raises(IntegrationError, match="overflows at step"):
        ensemble_descent(nets, toy.data, toy.train, 1e200, 9)
