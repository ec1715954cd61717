r"""Finite-width networks: NumPy weights that really move, by hand-written gradients; no derived equation is used.

The model is that of `odesys.model`, with words :math:`E \in \mathbb{R}^{d\times n}` as columns. Loss and gradient need
the weights only through two small tables a head,

.. math::  V = [a^\top]\,U_1\cdots U_k E \in \mathbb{R}^{r\times n}, \qquad
           S = E^\top M_1\cdots M_k E \in \mathbb{R}^{n\times n} \quad (\text{key, query}),

gathered per sample; the derivatives by V and S go back through the chains, and through E once at the end. In the width
m, a gradient therefore costs a few products with the maps, whatever the number of samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from odesys import graph
from odesys.dictionary import Dictionary
from odesys.distribution import Distribution, Group, Sample
from odesys.errors import IntegrationError, ModelError, ParameterError
from odesys.model import AttentionModel, FixedVector

Arrays = dict[str, np.ndarray]
Function = Callable[[np.ndarray], np.ndarray]
Loss = str | tuple[Function, Function]  # a name, or value and slope at the margins z = y f(X)

LOSSES: dict[str, tuple[Function, Function]] = {
    "logistic": (lambda z: np.logaddexp(0.0, -z), lambda z: -expit(-z)),
    "hinge": (lambda z: np.maximum(1.0 - z, 0.0), lambda z: np.where(1.0 - z > 0.0, -1.0, 0.0)),
}


@dataclass(frozen=True, eq=False)
class Network:
    """A model with weights.

    Parameters
    ----------
    words : the word vectors as columns, shape (d, n); their inner products are the Gram matrix.
    weights : every map, shape (heads, out, in), a row vector having out = 1; a `FixedVector` under its name, (out,).
    parameters : values of the parameters in bias, scale and read-out; others are ignored.
    """

    model: AttentionModel
    words: np.ndarray
    weights: Mapping[str, np.ndarray]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model, words = self.model, _finite(self.words, "the words")
        gram = model.words.gram_array().astype(float)
        if words.ndim != 2 or words.shape[1] != len(gram) or not np.allclose(words.T @ words, gram, atol=1e-8):
            raise ModelError(f"the words of a network are {len(gram)} columns whose inner products are the Gram matrix")
        sizes, weights = {"heads": len(model.heads), "words": len(words), "rows": model.value.rows}, {}
        axes_of: dict[str, tuple[str, ...]] = {name: ("heads", *axes) for name, axes in _spaces(model).items()}
        axes_of |= {name: ("out",) for name in _fixed(model)}
        for name, axes in axes_of.items():
            if name not in self.weights:
                raise ModelError(f"the network has no weights {name}; the model needs {', '.join(axes_of)}", name=name)
            weights[name] = _finite(self.weights[name], f"the weights {name}")
            shape = weights[name].shape
            needed = tuple(sizes.setdefault(axis, size) for axis, size in zip(axes, shape, strict=False))
            if shape != needed or len(shape) != len(axes):
                raise ModelError(f"the weights {name} of shape {shape} do not fit: their axes are {axes}, sizes {sizes}")
        for name, item in (("words", words), ("weights", weights), ("parameters", dict(self.parameters))):
            object.__setattr__(self, name, item)

    def images(self) -> dict[str, np.ndarray]:
        """Each map as images of the words, heads first: what `flow.initial_state(weights=...)` takes.

        An axis that meets the words becomes the axis of the n words: w (heads, n), W_K and W_Q (heads, m, n), a score
        map on its own (heads, n, n). Maps that do not meet the words, and a `FixedVector`, stay as they are.
        """
        images = {**self.weights, **_images(self, self.weights)}
        if self.model.value.output is None and len(self.model.value.maps) == 1:
            images[self.model.value.maps[0]] = images[self.model.value.maps[0]][:, 0, :]
        return {name: np.array(image) for name, image in images.items()}


def word_vectors(dictionary: Dictionary, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Vectors with the dictionary's Gram matrix in a random orthonormal frame, as columns, shape (dimension, n)."""
    values, vectors = np.linalg.eigh(dictionary.gram_array().astype(float))
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    rank = int(kept.sum())
    if dimension < rank:
        raise ModelError(f"the words span {rank} dimensions, so they do not fit into dimension {dimension}", rank=rank)
    frame, upper = np.linalg.qr(rng.standard_normal((dimension, rank)))
    frame = frame * np.where(np.diag(upper) < 0, -1.0, 1.0)  # makes the frame uniformly distributed
    return frame @ (np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def random_network(model: AttentionModel, width: int, dimension: int, scales: Mapping[str, float],
                   seed: int | np.random.Generator, parameters: Mapping[str, float] | None = None,
                   hidden: Mapping[str, int] | None = None) -> Network:  # fmt: skip
    """A network with Gaussian weights.

    Parameters
    ----------
    width, dimension : the size of every free space, and that of the word vectors.
    scales : standard deviation of the entries of each map; maps not named are zero.
    seed : an integer or a generator. All maps are drawn, so that a scale set to zero changes no other map.
    parameters : values of the parameters in the model. A `FixedVector` gets random signs times one number, such that
        its square is that of the model; `dataclasses.replace(network, weights=...)` sets another one.
    hidden : sizes other than `width`, by the name of the map whose output space is meant.
    """
    rng, parameters, spaces = np.random.default_rng(seed), dict(parameters or {}), _spaces(model)
    for name in _names(model, scales):
        if not 0 <= scales[name] < math.inf:
            raise ParameterError(f"the scale of {name} is {scales[name]}; it must be finite and not negative")
    given = {"words": dimension, "rows": model.value.rows}
    for name in _names(model, hidden or {}):
        size = (hidden or {})[name]
        if spaces[name][0] in ("words", "rows") or given.setdefault(spaces[name][0], size) != size:
            raise ModelError(f"the output space of {name} has the size {given[spaces[name][0]]}, it can not be {size}")
    sizes = {space: given.get(space, width) for axes in spaces.values() for space in axes}
    for space, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ParameterError(f"the space '{space}' has the size {size!r}; a size is a positive integer")
    words, weights = word_vectors(model.words, dimension, rng), {}
    for name, (out, into) in spaces.items():
        weights[name] = scales.get(name, 0.0) * rng.standard_normal((len(model.heads), sizes[out], sizes[into]))
    if isinstance(model.value.output, FixedVector):
        name, m = model.value.output.name, sizes["out"]
        square = _numbers(model.value.output.square, parameters, f"the square of {name}")
        if square < 0:
            raise ParameterError(f"the square of {name} is {square}; it can not be negative")
        weights[name] = math.sqrt(square / m) * rng.choice([-1.0, 1.0], size=m)
    return Network(model, words, weights, parameters)


def outputs(network: Network, data: Distribution) -> np.ndarray:
    """The outputs f(X), one a sample, in the order of the data."""
    problem, out = _problem(network, data), np.empty(len(data))
    for batch in problem.batches:
        out[list(batch.group.positions)] = _forward(problem, batch, *_tables(_chains(network, network.weights)))[-1]
    return out


def attention(network: Network, tokens: Sequence[str]) -> np.ndarray:
    """Attention of one sample, shape (heads, L, L): a row a query, summing to 1 over the keys."""
    problem = _problem(network, Distribution([Sample(tokens, label=1)]))
    return _forward(problem, problem.batches[0], *_tables(_chains(network, network.weights)))[0][:, 0]


def loss_value(network: Network, data: Distribution, loss: Loss = "logistic") -> float:
    """The expected loss of the margins y f(X); `loss` is logistic, hinge, or a pair of functions (value, slope)."""
    values = _loss(loss)[0](np.array([sample.label for sample in data.samples]) * outputs(network, data))
    return float(np.array([float(sample.weight) for sample in data.samples]) @ values)


def gradients(network: Network, data: Distribution, train: Sequence[str], loss: Loss = "logistic") -> Arrays:
    """The gradient of the expected loss by each map of `train`, shape (heads, out, in); a gate is 0 at its kink."""
    names = _names(network.model, train)
    return _gradients(_problem(network, data), network.weights, names, _loss(loss)[1])


def flow_run(network: Network, data: Distribution, train: Sequence[str], t_span: Sequence[float],
             loss: Loss = "logistic", rtol: float = 1e-10, atol: float = 1e-12, t_eval: Iterable[float] | None = None,
             method: str = "DOP853") -> tuple[np.ndarray, list[Network]]:  # fmt: skip
    """Gradient flow in weight space: times, and the network at each; without `t_eval`, at both ends of `t_span`.

    Kinks of ReLU and hinge are left to the error control of the integrator: where the flow slides along one, it needs
    many small steps.
    """
    start, stop = (float(t) for t in t_span)
    if not (math.isfinite(start) and math.isfinite(stop) and start <= stop):
        raise ParameterError(f"the time span ({start}, {stop}) must be finite and must not run backwards")
    times = np.unique([start, stop]) if t_eval is None else np.array(list(t_eval), dtype=float)
    if times.ndim != 1 or not (np.diff(times) > 0).all() or not ((times >= start) & (times <= stop)).all():
        raise ParameterError(f"the times to record must grow and must lie between {start} and {stop}")
    problem, names, slope = _problem(network, data), _names(network.model, train), _loss(loss)[1]

    def velocity(_: float, x: np.ndarray) -> np.ndarray:
        return -_join(_gradients(problem, _split(x, network.weights, names), names, slope), names)

    run = solve_ivp(velocity, (start, stop), _join(network.weights, names), method, times, rtol=rtol, atol=atol)
    if not run.success:
        reached = float(run.t[-1]) if len(run.t) else start
        raise IntegrationError(f"the gradient flow did not reach t = {stop}: {run.message}", time=reached)
    return times, [replace(network, weights=_split(x, network.weights, names)) for x in run.y.T]


def descent_run(network: Network, data: Distribution, train: Sequence[str], step: float, steps: int,
                record: Iterable[int] | None = None, loss: Loss = "logistic") -> list[tuple[int, Network]]:  # fmt: skip
    """Gradient descent: pairs (step number, network) at the numbers in `record`, by default the first and the last."""
    if not 0 < step < math.inf:
        raise ParameterError(f"the step is {step}; it must be positive and finite", step=step)
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ParameterError(f"the number of steps is {steps!r}; it must be an integer, not negative", steps=steps)
    wanted = {0, int(steps)} if record is None else set(record)
    if any(number not in range(steps + 1) for number in wanted):
        raise ParameterError(f"the steps to record must be integers between 0 and {steps}", record=wanted)
    problem, names, slope = _problem(network, data), _names(network.model, train), _loss(loss)[1]
    x = _join(network.weights, names)
    weights = _split(x, network.weights, names)  # views: they move with x
    kept = [(0, network)] if 0 in wanted else []
    for number in range(1, steps + 1):
        x -= step * _join(_gradients(problem, weights, names, slope), names)
        if not np.isfinite(x).all():
            raise IntegrationError(f"gradient descent with step {step} overflows at step number {number}; lower it")
        if number in wanted:
            kept.append((number, replace(network, weights=weights)))
    return kept


class _Batch(NamedTuple):
    """Samples of one length as arrays that a pass reads; s samples, L tokens."""

    group: Group
    pairs: np.ndarray  # (s, query, key): place of (key, query) in the flattened score table
    pair_signs: np.ndarray  # (s, query, key), times the score scale
    weights: np.ndarray  # (s,)
    readout: np.ndarray  # (L or 1, rows), times the pooling factor


class _Problem(NamedTuple):
    """What does not move; the arrays have one row a head."""

    network: Network
    batches: list[_Batch]
    head_signs: np.ndarray
    head_relu: np.ndarray
    bias: np.ndarray


def _problem(network: Network, data: Distribution) -> _Problem:
    model, given = network.model, network.parameters
    scale, rows = _numbers(model.scale, given, "the score scale"), _numbers(model.readout(), given, "the read-out")
    bias = _numbers([[head.bias] for head in model.heads], given, "the bias of a head")
    batches = []
    for group in data.encode(model.words):
        if rows.ndim == 2 and group.length > len(rows):
            raise ModelError(f"a sample has {group.length} tokens, but the read-out has only {len(rows)} positions")
        pairs = group.words[:, None, :] * len(model.words) + group.words[:, :, None]
        pair_signs = scale * group.signs[:, None, :] * group.signs[:, :, None]
        readout = np.atleast_2d(rows)[: group.length] / (group.length if model.pooling == "mean" else 1)
        batches.append(_Batch(group, pairs, pair_signs, np.array(group.weights, dtype=float), readout))
    head_signs = np.array([[float(head.sign)] for head in model.heads])
    head_relu = np.array([[head.activation == "relu"] for head in model.heads])
    return _Problem(network, batches, head_signs, head_relu, bias)


def _images(network: Network, weights: Mapping[str, np.ndarray]) -> Arrays:
    images = {}
    for name, (out, into) in _spaces(network.model).items():
        image = weights[name] @ network.words if into == "words" else weights[name]
        images[name] = network.words.T @ image if out == "words" else image
    return images


def _chains(network: Network, weights: Mapping[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The factors of the value table and of the score table, left to right, the words multiplied in."""
    model, images = network.model, _images(network, weights)
    value = [weights[name][None, :] for name in _fixed(model)] + [images[name] for name in model.value.maps]
    return value, [_turned(images[name.removesuffix("'")], name) for name in model.score]


def _tables(chains: Iterable[list[np.ndarray]]) -> list[np.ndarray]:
    """Value table (H, rows, n) and score table (H, n, n)."""
    return [reduce(np.matmul, chain) for chain in chains]


def _turned(array: np.ndarray, name: str = "'") -> np.ndarray:
    return array.swapaxes(-1, -2) if name.endswith("'") else array


def _forward(problem: _Problem, batch: _Batch, value: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, ...]:
    """Attention (H, s, query, key), values (H, s, key, rows), mixed (H, s, query, rows), head (H, s), output (s,)."""
    table = score.reshape(len(score), -1)[:, batch.pairs] * batch.pair_signs
    weights = np.exp(table - table.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    values = np.moveaxis(value[:, :, batch.group.words] * batch.group.signs, 1, -1)
    mixed = weights @ values
    rows = np.maximum(mixed, 0.0) if problem.network.model.row_activation == "relu" else mixed
    head = (rows * batch.readout).sum(axis=(-2, -1)) + problem.bias
    active = np.where(problem.head_relu, np.maximum(head, 0.0), head)
    return weights, values, mixed, head, (problem.head_signs * active).sum(axis=0)


def _gradients(problem: _Problem, weights: Arrays, train: Sequence[str], slope: Function) -> Arrays:
    """Back-propagation: loss, heads, rows, softmax, the two tables, their chains, the words."""
    model, words, spaces = problem.network.model, problem.network.words, _spaces(problem.network.model)
    value_chain, score_chain = _chains(problem.network, weights)
    value, score = _tables((value_chain, score_chain))
    value_bar, score_bar = np.zeros(value.shape), np.zeros(score.shape)
    for batch in problem.batches:
        group, (p, values, mixed, head, output) = batch.group, _forward(problem, batch, value, score)
        output_bar = batch.weights * group.labels * slope(group.labels * output)
        head_bar = problem.head_signs * output_bar * (~problem.head_relu | (head > 0.0))
        gate = mixed > 0.0 if model.row_activation == "relu" else np.ones(mixed.shape)
        mixed_bar = head_bar[:, :, None, None] * batch.readout * gate
        value_bar += _scatter(np.moveaxis(_turned(p) @ mixed_bar, -1, 1) * group.signs, group.words, value.shape)
        p_bar = p * (mixed_bar @ _turned(values))
        p_bar -= p * p_bar.sum(axis=-1, keepdims=True)
        score_bar += _scatter(p_bar * batch.pair_signs, batch.pairs, score.shape)
    bars: Arrays = {}
    if not set(train).isdisjoint(model.value.maps):
        bars.update(zip([*_fixed(model), *model.value.maps], _chain_bars(value_chain, value_bar), strict=True))
    if not set(train) <= set(model.value.maps):
        for name, bar in zip(model.score, _chain_bars(score_chain, score_bar), strict=True):
            bars[name.removesuffix("'")] = _turned(bar, name)
    for name in train:
        bars[name] = bars[name] @ words.T if spaces[name][1] == "words" else bars[name]
        bars[name] = words @ bars[name] if spaces[name][0] == "words" else bars[name]
    return {name: bars[name] for name in train}


def _scatter(bar: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Adjoint of gathering `places` from tables of `shape`; the last axes of `bar` are those of `places`."""
    tables, total = bar.size // places.size, math.prod(shape)
    index = np.arange(0, total, total // tables)[:, None] + places.ravel()
    return np.bincount(index.ravel(), bar.reshape(-1), total).reshape(shape)


def _chain_bars(factors: list[np.ndarray], bar: np.ndarray) -> list[np.ndarray]:
    """Derivatives of <bar, product of factors> by each factor: (what stands before)' bar (what stands behind)'."""
    before = [np.eye(bar.shape[-2]), *accumulate(factors[:-1], np.matmul)]
    behind = [np.eye(bar.shape[-1]), *accumulate(factors[:0:-1], lambda right, left: left @ right)][::-1]
    return [_turned(left) @ (bar @ _turned(right)) for left, right in zip(before, behind, strict=True)]


def _join(weights: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    return np.concatenate([weights[name].reshape(-1) for name in names])


def _split(x: np.ndarray, weights: Mapping[str, np.ndarray], names: Sequence[str]) -> Arrays:
    parts = np.split(x, np.cumsum([weights[name].size for name in names])[:-1])
    return {**weights, **{n: part.reshape(weights[n].shape) for n, part in zip(names, parts, strict=True)}}


def _fixed(model: AttentionModel) -> list[str]:
    return [model.value.output.name] if isinstance(model.value.output, FixedVector) else []


def _spaces(model: AttentionModel) -> dict[str, tuple[str, str]]:
    """Output and input space of each map: 'words', 'rows' (of the value), 'out' (where a lives), or a free space."""
    maps, score = model.value.maps, model.score
    value = ["out" if _fixed(model) else "rows", *(f"value {j}" for j in range(1, len(maps))), "words"]
    inner = ["words", *(f"score {j}" for j in range(1, len(score))), "words"]
    spaces = {name: (value[j], value[j + 1]) for j, name in enumerate(maps)}
    for j, name in enumerate(score):
        spaces[name.removesuffix("'")] = (inner[j + 1], inner[j]) if name.endswith("'") else (inner[j], inner[j + 1])
    return spaces


_FUNCTIONS = {name: getattr(np, name) for name in graph.FUNCTIONS if hasattr(np, name)}
_FUNCTIONS |= {"sigmoid": expit, "softplus": lambda z: np.logaddexp(0.0, z), "step": lambda z: np.heaviside(z, 0.0)}


def _numbers(nodes: Any, parameters: Mapping[str, float], what: str) -> np.ndarray:
    """Nodes as floats at the given parameters, in the shape of `nodes`."""
    nodes = np.array(nodes, dtype=object)
    env = {name: np.float64(parameters.get(name, math.nan)) for name in graph.symbols(nodes.flat)}
    bad = sorted(name for name, number in env.items() if not np.isfinite(number))
    if bad:
        raise ParameterError(f"{what} needs a finite value of {bad[0]}; give parameters={{'{bad[0]}': ...}}")
    with np.errstate(all="ignore"):
        numbers = graph.evaluate(list(nodes.flat), env, _FUNCTIONS, np.float64, lambda x, power: x ** float(power))
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{what} is not finite at the parameters {dict(parameters)}", parameters=parameters)
    return np.array(numbers, dtype=float).reshape(nodes.shape)


def _finite(array: Any, what: str) -> np.ndarray:
    array = np.array(array, dtype=float)
    if not np.isfinite(array).all():
        raise ModelError(f"{what} of a network contain NaN or infinity; every entry must be finite")
    array.flags.writeable = False
    return array


def _names(model: AttentionModel, names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once, if all are maps of the model; one name may be given on its own."""
    names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in names:
        if name not in model.weights:
            why = "is frozen" if name in _fixed(model) else "is not a map of the model"
            raise ModelError(f"{name!r} {why}; the maps are {', '.join(model.weights)}", name=name)
    return names


def _loss(loss: Loss) -> tuple[Function, Function]:
    pair = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(callable, pair)):
        raise ModelError(f"the loss {loss!r} is not known; use logistic, hinge, or a pair of functions (value, slope)")
    return pair
