r"""Finite-width networks: NumPy weights that really move, by hand-written gradients; no derived equation is used.

With the words :math:`E` (d, n) as columns, loss and gradient need the weights only through two small tables per head,

.. math::  V = [a^\top]\,U_1\cdots U_k E \in \mathbb{R}^{r\times n}, \qquad
           S = E^\top M_1\cdots M_k E \in \mathbb{R}^{n\times n} \quad (\text{key, query}),

gathered per sample; the derivatives by V and S go back through the chains, and through E once at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate, count
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from numerics.networks.random_weights import word_vectors
from numerics.networks.softmax import row_softmax
from odesys.errors import IntegrationError, ModelError, ParameterError
from odesys.expr import graph
from odesys.expr.tape import ARRAYS, Tape
from odesys.model.attention import FixedVector, Neurons
from odesys.model.distribution import Distribution, Sample, SampleArrays
from odesys.program.attention import AttentionModel

Arrays = dict[str, np.ndarray]
Function = Callable[[np.ndarray], np.ndarray]
Loss = str | tuple[Function, Function]  # a name, or value and slope at the margins z = y f(X)

LOSSES: dict[str, tuple[Function, Function]] = {
    "logistic": (lambda z: np.logaddexp(0.0, -z), lambda z: -expit(-z)),
    "hinge": (lambda z: np.maximum(1.0 - z, 0.0), lambda z: np.where(1.0 - z > 0.0, -1.0, 0.0)),
}


@dataclass(frozen=True, eq=False)
class Network:
    """A model with weights: every map (heads, out, in), a row vector having out = 1, and a `FixedVector` (out,).

    >>> import numpy as np
    >>> model = AttentionModel(Dictionary(["a", "b"]))
    >>> weights = {"w": np.array([[[1.0, -1.0]]]), "W_K": np.zeros((1, 3, 2)), "W_Q": np.zeros((1, 3, 2))}
    >>> net = Network(model, np.eye(2), weights)
    >>> {name: image.shape for name, image in net.images().items()}
    {'w': (1, 2), 'W_K': (1, 3, 2), 'W_Q': (1, 3, 2)}
    """

    model: AttentionModel
    words: np.ndarray  # (d, n): a column per word, with the inner products of the Gram matrix
    weights: Mapping[str, np.ndarray]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model, words = self.model, _finite(self.words, "the words")
        gram = model.words.gram_floats()
        if words.ndim != 2 or words.shape[1] != len(gram) or not np.allclose(words.T @ words, gram, atol=1e-8):
            raise ModelError(f"the words of a network are {len(gram)} columns whose inner products are the Gram matrix")
        sizes, weights = {"heads": len(model.heads), "words": len(words), "rows": model.value.rows}, {}
        for name, axes in _axes(model).items():
            weights[name] = _finite(self.weights.get(name, math.nan), f"the weights {name}")
            needed = tuple(sizes.setdefault(axis, n) for axis, n in zip(axes, weights[name].shape, strict=False))
            if weights[name].shape != needed or len(needed) != len(axes):
                raise ModelError(f"the weights {name} have shape {weights[name].shape} for {axes} of the sizes {sizes}")
        for name, item in (("words", words), ("weights", weights), ("parameters", dict(self.parameters))):
            object.__setattr__(self, name, item)

    def images(self) -> dict[str, np.ndarray]:
        """Each map as images of the n words, w (heads, n), W_K (heads, m, n), W_KQ (heads, n, n), others as they are.

        This is what `flow.initial_state(weights=...)` takes.
        """
        images = _images(self, self.weights)
        if self.model.value.output is None and len(self.model.value.maps) == 1:
            images[self.model.value.maps[0]] = images[self.model.value.maps[0]][:, 0, :]
        return {name: np.array(image) for name, image in images.items()}


def random_network(
    model: AttentionModel,
    width: int,
    dimension: int,
    scales: Mapping[str, float],
    seed: int | np.random.Generator,
    parameters: Mapping[str, float] | None = None,
    hidden: Mapping[str, int] | None = None,
) -> Network:
    """A network with Gaussian weights, all drawn in any case, so that one scale set to zero changes no other map.

    `width` is the size of every free space but those in `hidden`, by the name of the map whose output space is meant.
    `scales` has the standard deviation of the entries of each map, zero for maps not named. A `FixedVector` gets random
    signs times one number, such that its square is that of the model; `dataclasses.replace` sets another one.

    >>> model = AttentionModel(Dictionary(["a", "b"]))
    >>> net = random_network(model, width=3, dimension=5, scales={"W_K": 1.0, "W_Q": 1.0}, seed=0)
    >>> net.weights["W_K"].shape, net.weights["w"].any(), net.words.shape
    ((1, 3, 5), np.False_, (5, 2))
    """
    rng, parameters, hidden = np.random.default_rng(seed), dict(parameters or {}), dict(hidden or {})
    axes_of, sizes = _axes(model), {"heads": len(model.heads), "words": dimension, "rows": model.value.rows}
    for name in trained_names(model, scales):
        if not 0 <= scales[name] < math.inf:
            raise ParameterError(f"the scale of {name} is {scales[name]}; it must be finite and not negative")
    for name in trained_names(model, hidden):
        if sizes.setdefault(axes_of[name][1], hidden[name]) != hidden[name]:
            raise ModelError(f"the output space of {name} has the size {sizes[axes_of[name][1]]}, not {hidden[name]}")
    shapes = {name: tuple(sizes.get(axis, width) for axis in axes) for name, axes in axes_of.items()}
    if not all(isinstance(size, (int, np.integer)) and size > 0 for shape in shapes.values() for size in shape):
        raise ParameterError(f"the sizes of a network are positive integers, but here the weights are {shapes}")
    words = word_vectors(model.words.gram_floats(), dimension, rng)
    weights = {name: scales.get(name, 0.0) * rng.standard_normal(shape) for name, shape in shapes.items()}
    if isinstance(model.value.output, FixedVector):
        name, (m,) = model.value.output.name, shapes[model.value.output.name]
        length = _numbers(graph.sqrt(model.value.output.square / int(m)), parameters, f"the length of {name}")
        weights[name] = length * rng.choice([-1.0, 1.0], size=m)
    return Network(model, words, weights, parameters)


def network_outputs(network: Network, data: Distribution) -> np.ndarray:
    """The outputs f(X), one per sample, in the order of the data.

    >>> import numpy as np
    >>> model = AttentionModel(Dictionary(["a", "b"]))
    >>> weights = {"w": np.array([[[1.0, -1.0]]]), "W_K": np.zeros((1, 3, 2)), "W_Q": np.zeros((1, 3, 2))}
    >>> net = Network(model, np.eye(2), weights)  # attention is uniform: each of three queries reads the mean, 1/3
    >>> network_outputs(net, Distribution([Sample(["a", "a", "b"], +1)])).round(9)
    array([1.])
    """
    out, tables = np.empty(len(data)), [reduce(np.matmul, chain) for chain in _chains(network, network.weights)]
    for batch in batches_of(network, data):
        out[list(batch.arrays.positions)] = _forward(network.model, batch, *tables)[-1]
    return out


def attention_weights(network: Network, tokens: Sequence[str]) -> np.ndarray:
    """Attention of one sample, shape (heads, L, L): a row per query, summing to 1 over the keys.

    >>> net = random_network(AttentionModel(Dictionary(["a", "b"])), width=3, dimension=2, scales={}, seed=0)
    >>> attention_weights(net, ["a", "b"]).tolist()
    [[[0.5, 0.5], [0.5, 0.5]]]
    """
    (batch,) = batches_of(network, Distribution([Sample(tokens, label=1)]))
    value, score = (reduce(np.matmul, chain) for chain in _chains(network, network.weights))
    return _forward(network.model, batch, value, score)[0][:, 0]


def network_loss(network: Network, data: Distribution, loss: Loss = "logistic") -> float:
    """The expected loss of the margins y f(X); `loss` is logistic, hinge, or a pair of functions (value, slope).

    >>> import math
    >>> net = random_network(AttentionModel(Dictionary(["a"])), width=3, dimension=1, scales={}, seed=0)
    >>> network_loss(net, Distribution([Sample(["a"], +1)])) == math.log(2)
    True
    """
    values = loss_functions(loss)[0](
        np.array([sample.label for sample in data.samples]) * network_outputs(network, data)
    )
    return float(np.array([float(sample.weight) for sample in data.samples]) @ values)


def network_gradients(network: Network, data: Distribution, train: Sequence[str], loss: Loss = "logistic") -> Arrays:
    """The gradient of the expected loss by each map of `train`, shape (heads, out, in); a gate is 0 at its kink.

    >>> net = random_network(AttentionModel(Dictionary(["a"])), width=3, dimension=1, scales={}, seed=0)
    >>> abs(network_gradients(net, Distribution([Sample(["a"], +1)]), ["w"])["w"]).tolist()
    [[[0.5]]]
    """
    names, slope = trained_names(network.model, train), loss_functions(loss)[1]
    return gradient_arrays(network, batches_of(network, data), network.weights, names, slope)


def flow_run(
    network: Network,
    data: Distribution,
    train: Sequence[str],
    t_span: Sequence[float],
    loss: Loss = "logistic",
    rtol: float = 1e-10,
    atol: float = 1e-12,
    t_eval: Iterable[float] | None = None,
    method: str = "DOP853",
    max_evaluations: int = 1_000_000,
) -> tuple[np.ndarray, list[Network]]:
    """Gradient flow in weight space: times, and the network at each; without `t_eval`, at both ends of `t_span`.

    Kinks are left to the error control: sliding along one takes tiny steps, at most `max_evaluations` gradients.

    >>> import math
    >>> net = random_network(AttentionModel(Dictionary(["a"])), width=3, dimension=1, scales={}, seed=0)
    >>> data = Distribution([Sample(["a"], +1)])
    >>> times, nets = flow_run(net, data, ["w"], (0.0, math.e))  # w + exp(w) = 1 + t
    >>> network_outputs(nets[-1], data).round(9)
    array([1.])
    """
    start, stop = (float(t) for t in t_span)
    if not 0 <= stop - start < math.inf:
        raise ParameterError(f"the time span ({start}, {stop}) must be finite and must not run backwards")
    times = np.unique([start, stop]) if t_eval is None else np.array(list(t_eval), dtype=float)
    if times.ndim != 1 or not (np.diff(times) > 0).all() or not ((times >= start) & (times <= stop)).all():
        raise ParameterError(f"the times to record must grow and must lie between {start} and {stop}")
    names, slope = trained_names(network.model, train), loss_functions(loss)[1]
    batches, calls = batches_of(network, data), count(1)

    def velocity(t: float, x: np.ndarray) -> np.ndarray:
        if next(calls) > max_evaluations:
            raise IntegrationError(f"{max_evaluations} gradients led only to t = {t}; does it slide on a kink?", time=t)
        return -_join(gradient_arrays(network, batches, _split(x, network.weights, names), names, slope), names)

    if start == stop:  # solve_ivp would record nothing
        return times, [network] * len(times)
    run = solve_ivp(velocity, (start, stop), _join(network.weights, names), method, times, rtol=rtol, atol=atol)
    if not run.success:
        raise IntegrationError(f"the gradient flow does not reach {stop}: {run.message}", time=max([start, *run.t]))
    return times, [replace(network, weights=_split(x, network.weights, names)) for x in run.y.T]


def descent_run(
    network: Network,
    data: Distribution,
    train: Sequence[str],
    step: float,
    steps: int,
    record: Iterable[int] | None = None,
    loss: Loss = "logistic",
) -> list[tuple[int, Network]]:
    """Gradient descent: pairs (step number, network) at the numbers in `record`, by default the first and the last.

    >>> net = random_network(AttentionModel(Dictionary(["a"])), width=3, dimension=1, scales={}, seed=0)
    >>> data = Distribution([Sample(["a"], +1)])
    >>> run = descent_run(net, data, ["w"], step=1.0, steps=1)
    >>> [(number, network_outputs(net, data).tolist()) for number, net in run]
    [(0, [0.0]), (1, [0.5])]
    """
    if not 0 < step < math.inf or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ParameterError(f"{steps!r} steps of size {step} can not be made; give a whole number and a positive size")
    wanted = {0, steps} if record is None else set(record)
    if any(number not in range(steps + 1) for number in wanted):
        raise ParameterError(f"the steps to record must be integers between 0 and {steps}", record=wanted)
    batches, names, slope = batches_of(network, data), trained_names(network.model, train), loss_functions(loss)[1]
    x = _join(network.weights, names)
    weights = _split(x, network.weights, names)  # views: they move with x
    kept = [(0, network)] if 0 in wanted else []
    for number in range(1, steps + 1):
        x -= step * _join(gradient_arrays(network, batches, weights, names, slope), names)
        if not np.isfinite(x).all():
            raise IntegrationError(f"gradient descent with step {step} overflows at step number {number}; lower it")
        if number in wanted:
            kept.append((number, replace(network, weights=weights)))
    return kept


class _Batch(NamedTuple):
    """Samples of one length, with the constants of the model; s samples, L tokens, H heads."""

    arrays: SampleArrays
    pairs: np.ndarray  # (s, query, key): place of (key, query) in the flattened score table
    pair_signs: np.ndarray  # (s, query, key), times the score scale
    weights: np.ndarray  # (s,)
    readout: np.ndarray  # (s or 1, L, rows), times the pooling factor
    counts: np.ndarray  # (s or 1, 1, key), how many equal tokens a key stands for
    bias: np.ndarray  # (H, 1), as the next two
    head_signs: np.ndarray
    head_relu: np.ndarray


def batches_of(network: Network, data: Distribution) -> list[_Batch]:
    """The samples by length, with the constants of the model."""
    model, given = network.model, network.parameters
    scale, rows = _numbers(model.scale, given, "the score scale"), _numbers(model.readout, given, "the read-out")
    bias = _numbers([[head.bias] for head in model.heads], given, "the bias of a head")
    heads = bias, np.array([[h.sign] for h in model.heads]), np.array([[h.activation == "relu"] for h in model.heads])
    batches = []
    for arrays in data.encode(model.words):
        if rows.ndim == 2 and arrays.counts is not None:
            raise ModelError("a sample with counts has no positions, but the read-out has one row per position")
        if rows.ndim == 2 and arrays.length > len(rows):
            raise ModelError(f"a sample has {arrays.length} tokens, but the read-out has only {len(rows)} positions")
        pairs = arrays.words[:, None, :] * len(model.words) + arrays.words[:, :, None]
        pair_signs = scale * arrays.signs[:, None, :] * arrays.signs[:, :, None]
        counts = np.ones((1, arrays.length))
        if arrays.counts is not None:
            counts = _numbers(arrays.counts, given, "a count of tokens")
        shares = counts / (counts.sum(axis=1, keepdims=True) if model.pooling == "mean" else 1)
        readout = np.atleast_2d(rows)[: arrays.length] * shares[:, :, None]
        batches.append(
            _Batch(
                arrays, pairs, pair_signs, np.array(arrays.weights, dtype=float), readout, counts[:, None, :], *heads
            )
        )
    return batches


def _images(network: Any, weights: Mapping[str, np.ndarray]) -> Arrays:
    images = {}
    for name, axes in _axes(network.model).items():
        image = weights[name] @ network.words if axes[-1] == "words" else weights[name]
        images[name] = network.words.mT @ image if axes[1:2] == ("words",) else image
    return images


def _chains(network: Any, weights: Mapping[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The factors of the value table (H, rows, n) and of the score table (H, n, n), the words multiplied in."""
    model, images = network.model, _images(network, weights)
    left = [weights[model.value.output.name][..., None, None, :]] if isinstance(model.value.output, FixedVector) else []
    score = [images[name[:-1]].mT if name.endswith("'") else images[name] for name in model.score]
    return left + [images[name] for name in model.value.maps], score


def _forward(model: AttentionModel, batch: _Batch, value: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, ...]:
    """Attention (H, s, query, key), values (H, s, key, rows), mixed (H, s, query, rows), head (H, s), output (s,).

    Networks of an ensemble are one more axis in front, of tables and results.
    """
    table = score.reshape(*score.shape[:-2], -1)[..., batch.pairs] * batch.pair_signs
    weights = row_softmax(table, counts=batch.counts)
    values = np.moveaxis(value[..., batch.arrays.words] * batch.arrays.signs, -3, -1)
    mixed = weights @ values
    rows = np.maximum(mixed, 0.0) if _relu_rows(model) else mixed
    head = (rows * batch.readout).sum(axis=(-2, -1)) + batch.bias
    active = np.where(batch.head_relu, np.maximum(head, 0.0), head)
    return weights, values, mixed, head, (batch.head_signs * active).sum(axis=-2)


def gradient_arrays(
    network: Any, batches: list[_Batch], weights: Mapping[str, np.ndarray], train: Sequence[str], slope: Function
) -> Arrays:
    """Back-propagation: loss, heads, rows, softmax, the two tables, their chains, the words; also for an ensemble."""
    model, words, (value_chain, score_chain) = network.model, network.words, _chains(network, weights)
    value, score = reduce(np.matmul, value_chain), reduce(np.matmul, score_chain)
    value_bar, score_bar = np.zeros(value.shape), np.zeros(score.shape)
    for batch in batches:
        arrays, (p, values, mixed, head, output) = batch.arrays, _forward(model, batch, value, score)
        output_bar = batch.weights * arrays.labels * slope(arrays.labels * output)
        head_bar = batch.head_signs * output_bar[..., None, :] * (~batch.head_relu | (head > 0.0))
        gate = mixed > 0.0 if _relu_rows(model) else 1.0
        mixed_bar = np.broadcast_to(head_bar[..., None, None] * batch.readout * gate, mixed.shape)
        value_bar += _scatter(np.moveaxis(p.mT @ mixed_bar, -1, -3) * arrays.signs, arrays.words, value.shape)
        p_bar = p * (mixed_bar @ values.mT)
        p_bar -= p * p_bar.sum(axis=-1, keepdims=True)
        score_bar += _scatter(p_bar * batch.pair_signs, batch.pairs, score.shape)
    bars = _chain_bars(model.value.maps, value_chain, value_bar, np.eye(value.shape[-2]), words, train)
    bars |= _chain_bars(model.score, score_chain, score_bar, words.mT, words, train)
    return {name: bars[name] for name in train}


def _scatter(bar: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Adjoint of gathering `places` from tables of `shape`; the last axes of `bar` are those of `places`."""
    tables, total = bar.size // places.size, math.prod(shape)
    index = np.arange(0, total, total // tables)[:, None] + places.ravel()
    return np.bincount(index.ravel(), bar.reshape(-1), total).reshape(shape)


def _chain_bars(
    names: Sequence[str],
    factors: list[np.ndarray],
    bar: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    train: Sequence[str],
) -> Arrays:
    """Derivatives of <bar, product of factors> by the maps; the end factors have `left`, `right` multiplied in."""
    bars = {}
    before = [left, *accumulate(factors[:-1], np.matmul)][-len(names) :]
    behind = [right, *accumulate(factors[: -len(names) : -1], lambda b, a: a @ b)][::-1]
    for name, x, y in zip(names, before, behind, strict=True):
        if name.removesuffix("'") in train:
            bars[name.removesuffix("'")] = _product(y, bar.mT, x) if name.endswith("'") else _product(x.mT, bar, y.mT)
    return bars


def _product(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """x y z in the cheaper order: the side of width m comes last."""
    (p, r), (c, q) = x.shape[-2:], z.shape[-2:]
    result: np.ndarray = (x @ y) @ z if p * c * (r + q) < r * q * (c + p) else x @ (y @ z)
    return result


def _join(weights: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    if not names:
        raise ModelError(f"nothing is trained; choose among {', '.join(weights)}")
    return np.concatenate([weights[name].reshape(-1) for name in names])


def _split(x: np.ndarray, weights: Mapping[str, np.ndarray], names: Sequence[str]) -> Arrays:
    parts = np.split(x, np.cumsum([weights[name].size for name in names])[:-1])
    return {**weights, **{n: part.reshape(weights[n].shape) for n, part in zip(names, parts, strict=True)}}


def _axes(model: AttentionModel) -> dict[str, tuple[str, ...]]:
    """Axes of each weight array by name: heads; words, rows (of the value), out (where a lives), or a free space."""
    maps, score, output = model.value.maps, model.score, model.value.output
    axes: dict[str, tuple[str, ...]] = {output.name: ("out",)} if isinstance(output, FixedVector) else {}
    value = ["out" if axes else "rows", *(f"value {j}" for j in range(1, len(maps))), "words"]
    inner = ["words", *(f"score {j}" for j in range(1, len(score))), "words"]
    axes |= {name: ("heads", value[j], value[j + 1]) for j, name in enumerate(maps)}
    for j, name in enumerate(score):
        axes[name.removesuffix("'")] = ("heads", *inner[j : j + 2][:: -1 if name.endswith("'") else 1])
    return axes


def _numbers(nodes: Any, parameters: Mapping[str, float], what: str) -> np.ndarray:
    nodes = np.array(nodes, dtype=object)
    env = {name: np.float64(parameters.get(name, math.nan)) for name in sorted(graph.symbols(nodes.flat))}
    with np.errstate(all="ignore"):
        numbers = Tape.of(list(nodes.flat)).over(replace(ARRAYS, constant=np.float64))(env)
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{what} has no finite value at {dict(parameters)}; give parameters={{{', '.join(env)}}}")
    return np.array(numbers, dtype=float).reshape(nodes.shape)


def _finite(values: Any, what: str) -> np.ndarray:
    array: np.ndarray = np.array(values, dtype=float)
    if not np.isfinite(array).all():
        raise ModelError(f"{what} of a network are missing, or contain NaN or infinity; every entry must be finite")
    array.flags.writeable = False
    return array


def trained_names(model: AttentionModel, names: Iterable[str]) -> tuple[str, ...]:
    """The maps named, each once; others than those that can move are refused."""
    names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in names:
        if name not in model.weights:
            raise ModelError(f"{name!r} is not a map that moves; these are {', '.join(model.weights)}", name=name)
    return names


def loss_functions(loss: Loss) -> tuple[Function, Function]:
    """Value and slope at the margins."""
    pair = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(callable, pair)):
        raise ModelError(f"the loss {loss!r} is not known; use logistic, hinge, or a pair of functions (value, slope)")
    return pair


def _relu_rows(model: AttentionModel) -> bool:
    return isinstance(model.value.output, Neurons) and model.value.output.activation == "relu"
