"""Many networks of one model trained at once: the seeds are one more axis of every array, so overhead is shared.

Every network does exactly what `finite_width.descent_run` would do with it alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odesys.errors import IntegrationError, ModelError, ParameterError
from odesys.model.attention import AttentionModel
from odesys.model.distribution import Distribution

from .finite_width import Loss, Network, batches_of, gradient_arrays, loss_functions, trained_names


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Networks side by side: words (seeds, 1, d, n), maps (seeds, heads, out, in), vectors (seeds, out)."""

    model: AttentionModel
    words: np.ndarray
    weights: Mapping[str, np.ndarray]
    parameters: Mapping[str, float]


def stack(networks: Sequence[Network]) -> Ensemble:
    """The ensemble of networks of one model, all of the same sizes."""
    if not networks:
        raise ModelError("an ensemble has at least one network")
    first = networks[0]
    sizes = {name: array.shape for name, array in first.weights.items()}
    for network in networks:
        if network.model is not first.model and network.model != first.model:
            raise ModelError("the networks of an ensemble have one model")
        shapes = {name: array.shape for name, array in network.weights.items()}
        if shapes != sizes or network.parameters != first.parameters:
            raise ModelError(f"the networks of an ensemble have equal sizes and parameters; the first one has {sizes}")
    weights = {name: np.array([network.weights[name] for network in networks]) for name in sizes}
    return Ensemble(first.model, np.array([network.words for network in networks])[:, None], weights, first.parameters)


def ensemble_descent(
    networks: Sequence[Network],
    data: Distribution,
    train: Sequence[str],
    step: float,
    steps: int,
    loss: Loss = "logistic",
) -> list[Network]:
    """Gradient descent of all networks, `steps` steps of size `step`; the networks afterwards, in the same order.

    >>> import numpy as np
    >>> from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, random_network
    >>> model = AttentionModel(Dictionary(["a", "b"]), [Head()])
    >>> nets = [random_network(model, 4, 2, {"W_K": 0.1, "W_Q": 0.1}, np.random.default_rng(seed)) for seed in (0, 1)]
    >>> data = Distribution([Sample(["a", "b"], 1)])
    >>> [net.weights["w"].shape for net in ensemble_descent(nets, data, ("w",), 0.1, 3)]
    [(1, 1, 2), (1, 1, 2)]
    """
    if not 0 < step < math.inf or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ParameterError(f"{steps!r} steps of size {step} can not be made; give a whole number and a positive size")
    group, names, slope = stack(networks), trained_names(networks[0].model, train), loss_functions(loss)[1]
    batches = batches_of(networks[0], data)
    weights = dict(group.weights)
    for number in range(1, steps + 1):
        for name, slopes in gradient_arrays(group, batches, weights, names, slope).items():
            slopes *= step
            weights[name] -= slopes
        if not all(np.isfinite(weights[name]).all() for name in names):
            raise IntegrationError(f"gradient descent with step {step} overflows at step number {number}; lower it")
    return [
        replace(network, weights={name: array[k] for name, array in weights.items()})
        for k, network in enumerate(networks)
    ]
