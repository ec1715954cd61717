r"""Random weights of a program, such that path scalars tend to their infinite-width values as the width grows.

A map that meets its own transpose in a path starts with Gaussian entries of variance :math:`\omega^2/n`, n being the
dimension of the space in which the two meet, so that :math:`W^\top W \to \omega^2 I`; every other map starts at zero.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from odesys.derive.flow import Flow, trained_maps
from odesys.derive.initial import gram_floats, gram_parameters, nonnegative, paired_names, positive
from odesys.errors import ModelError, ParameterError
from odesys.keywords import keywords_said
from odesys.model.paths import Letter
from odesys.program.reading import Pin
from odesys.program.spaces import Side, Space, Words

from .network import ProgramNetwork, together


@keywords_said("network")
def program_network(
    flow: Flow,
    width: int | None = None,
    seed: int | np.random.Generator = 0,
    omega: Any = None,
    *,
    widths: Mapping[str, int] | None = None,
    scales: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> ProgramNetwork:
    r"""A network with the weights of a program; all maps are drawn in any case, so that one scale changes no other.

    Parameters
    ----------
    flow : Flow
        What `gradient_flow`, `gradient_descent` or `heavy_ball` derive from a program.
    width : int, optional
        Dimension of every `Space`.
    seed : int | np.random.Generator, optional
        A whole number or a generator, from which the words' frame and then all maps are drawn.
    omega : Any, optional
        Maps that meet their own transpose start with :math:`W^\top W \approx \omega^2 I`, as in
        ``flow.initial_state(omega=...)``; all others start at zero.
    widths : Mapping[str, int], optional
        Dimensions by the names of spaces; that of words (``"E"``) is by default their number.
    scales : Mapping[str, Any], optional
        Standard deviations of the entries of maps by name, instead of those.
    values : Mapping[str, Any], optional
        Matrices by name, instead of random ones; axes along words are the words, so that W E is given.
    parameters : Mapping[str, Any], optional
        Values of the parameters of the program, such as ``{"b": 0.1}``.

    Returns
    -------
    ProgramNetwork
        The program with weights that really move.

    Examples
    --------
    >>> from odesys import Data, Space, Words, gradient_flow, logistic, maps, program_network
    >>> words, m = Words("a b"), Space("m")
    >>> W, V = maps("W", m, words), maps("V", 1, m)
    >>> flow = gradient_flow(lambda X: V @ W @ X[0], Data(words, [("a", 1)]), logistic)
    >>> net = program_network(flow, width=5, omega=0.1, seed=1)
    >>> {name: array.shape for name, array in net.weights.items()}
    {'V': (1, 5), 'W': (5, 2)}
    >>> abs(net.paths() - flow.initial_state(omega=0.1)).max() < 0.02
    np.True_
    """
    for what, table in (("widths", widths), ("scales", scales), ("values", values), ("parameters", parameters)):
        if table is not None and not isinstance(table, Mapping):
            also = "; width= is one for all" if what == "widths" else ""
            raise ModelError(f"{what}={table!r} is no table by name, such as {what}={{'m': 100}}{also}")
    rng, naming = _generator(seed), flow.naming
    dimensions = _dimensions(flow, width, widths or {})
    words = {
        name: word_vectors(_gram(pin, parameters or {}), dimensions[name], rng)
        for name, pin in naming.pins.items()
        if isinstance(pin.side, Words)
    }
    given = {each for name in values or {} for each in _called(flow, name, "values")}
    deviations = _deviations(flow, omega, scales or {}, dimensions, given)
    weights = {}
    for name, expr in naming.letters.items():
        shape = _dimension(expr.rows, dimensions), _dimension(expr.columns, dimensions)
        if name in flow.rule.velocities:
            weights[name] = np.zeros(shape)
        else:
            weights[name] = deviations.get(name, 0.0) * rng.standard_normal(shape)
    if set(flow.rule.velocities) & set(deviations):  # after all others, which are the same where velocities rest
        for name in flow.rule.velocities:
            weights[name] = deviations.get(name, 0.0) * rng.standard_normal(weights[name].shape)
    for name, value in (values or {}).items():
        for each in _called(flow, name, "values"):
            expr = naming.letters[each]
            weights[each] = _given(each, value, weights[each].shape, (expr.rows, expr.columns), words)
    net = ProgramNetwork(flow, words, weights, parameters or {})
    if omega is not None and _rests(net):  # all axes are listed, so that no map meets its own transpose
        warnings.warn(
            "all weights start at zero, where the gradient is zero: omega is the size of maps that meet their own "
            "transpose in a path, and this program has none; give standard deviations as "
            f"scales={{'{next(iter(flow.program.maps))}': ...}}",
            stacklevel=3,
        )
    return net


def _rests(net: ProgramNetwork) -> bool:
    """Whether all weights are zero, and so are their gradients."""
    still = not any(weights.any() for weights in net.weights.values())
    return still and not any(slopes.any() for slopes in net.gradients().values())


def program_networks(flow: Flow, seeds: Iterable[int | np.random.Generator], **options: Any) -> ProgramNetwork:
    """Networks of several seeds side by side, as one more axis in front of all arrays; each is as it would be alone.

    Parameters
    ----------
    flow : Flow
        The derived flow.
    seeds : Iterable[int | np.random.Generator]
        One network each.
    **options : Any
        Options of `program_network`.

    Returns
    -------
    ProgramNetwork
        All networks side by side.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, logistic, maps, program_networks
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1)]), logistic)
    >>> nets = program_networks(flow, seeds=range(3), scales={"w": 1.0})
    >>> nets.weights["w"].shape, nets.descend(0.1, 10).loss().shape, nets[2].weights["w"].shape
    ((3, 1, 2), (3,), (1, 2))
    """
    networks = [program_network(flow, seed=seed, **options) for seed in seeds]
    if not networks:
        raise ModelError("an ensemble has at least one network; give seeds=range(20)")
    return together(networks)


def _gram(pin: Pin, parameters: Mapping[str, Any]) -> np.ndarray:
    return gram_floats(pin, {name: float(parameters[name]) for name in gram_parameters(pin) & set(parameters)})


def word_vectors(gram: np.ndarray, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Vectors with a Gram matrix, in a random orthonormal frame, as columns, shape (dimension, n)."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    rank = int(kept.sum())
    if dimension < rank:
        raise ModelError(f"the words span {rank} dimensions, so they do not fit into dimension {dimension}", rank=rank)
    frame, upper = np.linalg.qr(rng.standard_normal((dimension, rank)))
    frame = frame * np.where(np.diag(upper) < 0, -1.0, 1.0)  # makes the frame uniformly distributed
    result: np.ndarray = frame @ (np.sqrt(values[kept])[:, None] * vectors[:, kept].T)
    return result


def _generator(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ParameterError(f"seed = {seed!r} is not a whole number from 0 on, or a generator") from None


def _called(flow: Flow, name: Any, what: str) -> tuple[str, ...]:
    if name in flow.naming.letters:
        return (name,)
    return trained_maps(flow.program, [name], what)


# ---- sizes ---------------------------------------------------------------------------------------------------------


def _dimensions(flow: Flow, width: Any, widths: Mapping[str, Any]) -> dict[str, int]:
    """Dimension of every space of the program by name."""
    sides = [side for expr in flow.naming.letters.values() for side in (expr.rows, expr.columns)]
    sides += [pin.side for pin in flow.naming.pins.values()]
    spaces = {side.name: side for side in sides if isinstance(side, Space)}
    unknown = sorted(set(widths) - set(spaces))
    if unknown:
        raise ModelError(f"widths has {unknown[0]!r}, but the free spaces of the program are {', '.join(spaces)}")
    out = {}
    for name, space in spaces.items():
        size = widths.get(name, len(space.pinned) if isinstance(space, Words) else width)
        if size is None:
            raise ParameterError(f"the space {name} needs a dimension; add width=..., or widths={{'{name}': ...}}")
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ParameterError(f"the dimension of {name} is {size!r}; it is a whole number above 0")
        out[name] = int(size)
    return out


def _dimension(side: Side, dimensions: Mapping[str, int]) -> int:
    return dimensions[side.name] if isinstance(side, Space) else side.size


# ---- scales --------------------------------------------------------------------------------------------------------


def _deviations(
    flow: Flow, omega: Any, scales: Mapping[str, Any], dimensions: Mapping[str, int], given: set[str]
) -> dict[str, float]:
    """Standard deviations of the entries of maps; a map in pairs on both sides takes the larger space."""
    out: dict[str, float] = {}
    if omega is not None:
        size = positive("omega", omega)
        for letter in _met(flow):
            if letter.map in flow.rule.velocities:  # momentum starts at rest
                continue
            expr = flow.naming.letters[letter.map]
            side = expr.rows if letter.transposed else expr.columns
            n = _dimension(side, dimensions)
            out[letter.map] = min(out.get(letter.map, math.inf), size / math.sqrt(n))
    for name, value in scales.items():
        for each in _called(flow, name, "scales"):
            out[each] = nonnegative(f"the scale of {each}", value)
    loose = sorted({m.map for m in _met(flow) if m.map not in flow.rule.velocities} - set(out) - given)
    if loose:
        raise ModelError(
            f"the map {loose[0]} starts at random, and its size is not given; add omega=..., or "
            f"scales={{'{loose[0]}': ...}}"
        )
    return out


def _met(flow: Flow) -> set[Letter]:
    """Left letters of all pairs W'W (or WW') in paths that do not vanish at infinite width."""
    met: set[Letter] = set()
    for path in flow.closure.paths:
        if path.left != path.right or paired_names(path.letters) is None:
            continue
        stack: list[Letter] = []
        for letter in path.letters:
            if stack and stack[-1] == letter.T:
                met.add(stack.pop())
            else:
                stack.append(letter)
    return met


# ---- given values --------------------------------------------------------------------------------------------------


def _given(
    name: str, value: Any, shape: tuple[int, ...], sides: tuple[Side, Side], words: Mapping[str, np.ndarray]
) -> np.ndarray:
    """A map from its values, which along words are those at the words."""
    frames = [words[side.name] if isinstance(side, Words) else None for side in sides]
    wanted = tuple(n if frame is None else frame.shape[1] for n, frame in zip(shape, frames, strict=True))
    try:
        array = np.array(value, dtype=float)
        table = array.reshape(wanted) if 1 in wanted and array.ndim == 1 else array
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"the values of {name} are not a matrix of numbers of shape {wanted}") from None
    if table.shape != wanted:
        raise ModelError(f"the values of {name} have shape {table.shape} instead of {wanted}")
    for axis, frame in enumerate(frames):
        if frame is None:
            continue
        inverse = np.linalg.pinv(frame)  # (words, dimension)
        turned = inverse.T @ table if axis == 0 else table @ inverse
        back = frame.T @ turned if axis == 0 else turned @ frame
        if not np.allclose(back, table, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(table).max()))):
            raise ModelError(f"the values of {name} differ between words that the Gram matrix makes dependent")
        table = turned
    return table
