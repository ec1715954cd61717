r"""The network of a program: weight matrices in coordinates that really move, by reverse mode through the program.

No derived equation is used: tables of path scalars are multiplied out of the weights, and what moves are the weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from odesys.derive.flow import Flow
from odesys.derive.initial import path_products
from odesys.derive.motion import STEP_SIZE
from odesys.errors import IntegrationError, ModelError, ParameterError
from odesys.expr.graph import Node
from odesys.expr.tape import ARRAYS, Tape
from odesys.keywords import keywords_said

from .weight_gradient import Arrays, WeightGradient


@dataclass(frozen=True, eq=False, repr=False)
class ProgramNetwork:
    """A program with weights (rows, columns) and words (dimension, words); several networks are one axis in front.

    Made by `program_network` or ``flow.network(...)``; `dataclasses.replace` sets other weights.

    Parameters
    ----------
    flow : Flow
        What was derived from the same program.
    words : Mapping[str, np.ndarray]
        The word vectors, by set of words.
    weights : Mapping[str, np.ndarray]
        The matrices of all maps, by name.
    parameters : Mapping[str, float], optional
        Values of the parameters of the program.

    Examples
    --------
    >>> import math
    >>> from odesys import Data, Space, Words, gradient_flow, logistic, maps, softmax
    >>> words, m = Words("good bad the"), Space("m")
    >>> w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words)
    >>> data = Data(words, [("good the", +1), ("bad the", -1)])
    >>> flow = gradient_flow(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(), data, logistic)
    >>> net = flow.network(width=100, seed=0, omega=0.5)
    >>> isinstance(net, ProgramNetwork), net.weights["W_K"].shape, net.loss() == math.log(2)
    (True, (100, 3), True)
    >>> net.descend(0.1, 50).loss() < net.loss()
    True
    """

    flow: Flow
    words: Mapping[str, np.ndarray]  # by name of the set: a column per word, with the inner products of the Gram matrix
    weights: Mapping[str, np.ndarray]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = {name: _finite(array, f"the words {name}") for name, array in self.words.items()}
        weights = {name: _finite(array, f"the weights {name}") for name, array in self.weights.items()}
        missing = [name for name in self.flow.naming.letters if name not in weights]
        if missing:
            raise ModelError(f"the weights {missing[0]} are missing; the program has {', '.join(weights)}")
        if len({array.shape[:-2] for array in (*words.values(), *weights.values())}) > 1:
            raise ModelError("the networks of an ensemble are one axis in front of all words and weights")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "parameters", _parameters(self.flow, self.parameters))

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.weights.items())
        return f"ProgramNetwork({shapes})"

    @property
    def several(self) -> bool:
        """True for an ensemble: the first axis of every array counts the networks."""
        return next(iter(self.weights.values())).ndim == 3

    def __len__(self) -> int:
        return len(next(iter(self.weights.values()))) if self.several else 1

    def __getitem__(self, number: int | list[int]) -> ProgramNetwork:
        """One network of an ensemble, or some of them as an ensemble."""
        for each in number if isinstance(number, list) else [number]:
            if not self.several or each not in range(-len(self), len(self)):
                raise IndexError(f"there is no network {each}; this is {len(self)} network{'s' * (len(self) != 1)}")
        words = {name: array[number] for name, array in self.words.items()}
        return replace(self, words=words, weights={name: array[number] for name, array in self.weights.items()})

    # ---- measuring -------------------------------------------------------------------------------------------------

    def paths(self) -> np.ndarray:
        """All path scalars of the flow, measured: a state of ``flow.system``; of an ensemble one row per network."""
        if self.several:
            return np.array([self[k].paths() for k in range(len(self))])
        leaves = path_products(self.flow.naming, self.flow.closure, self.weights, self.words)
        return self.flow.layout.pack(leaves).astype(float)

    def images(self) -> dict[str, np.ndarray]:
        """The maps with their axes along words at the words, such as W E: ``flow.initial_state(weights=...)`` takes it.

        >>> import numpy as np
        >>> from odesys import Data, Space, Words, gradient_flow, logistic, maps
        >>> words, m = Words("a b"), Space("m")
        >>> W, V = maps("W", m, words), maps("V", 1, m)
        >>> flow = gradient_flow(lambda X: V @ W @ X[0], Data(words, [("a", 1)]), logistic)
        >>> net = flow.network(width=5, omega=0.1, seed=1)
        >>> bool(np.abs(flow.initial_state(weights=net.images()) - net.paths()).max() < 1e-15)
        True
        """
        out = {}
        for name, expr in self.flow.naming.letters.items():
            rows, columns = (self.words.get(getattr(side, "name", "")) for side in (expr.rows, expr.columns))
            array = self.weights[name] if rows is None else rows.mT @ self.weights[name]
            out[name] = array if columns is None else array @ columns
        return out

    def outputs(self) -> dict[str, Any]:
        """Margins or outputs of all samples, by the names they have in ``flow.system.observables``."""
        return {name: value for name, value in self._observed().items() if name != "loss"}

    def loss(self) -> Any:
        """The loss of the data; of an ensemble one number per network."""
        return self._observed()["loss"]

    def gradients(self) -> Arrays:
        """The derivative of the loss by every trained map, in the shape of its weights."""
        weights, words = self._stacked()
        found = _reverse(self).gradients(weights, words)
        return {name: array.reshape(self.weights[name].shape) for name, array in found.items()}

    def _observed(self) -> dict[str, Any]:
        found = _reverse(self).observe(*self._stacked())
        return found if self.several else {name: float(value[0]) for name, value in found.items()}

    def _stacked(self) -> tuple[Arrays, Arrays]:
        """Weights (to be moved) and words with the axis of networks in front."""
        first = slice(None) if self.several else None
        return (
            {name: np.array(array[first]) for name, array in self.weights.items()},
            {name: array[first] for name, array in self.words.items()},
        )

    def _with(self, weights: Mapping[str, np.ndarray]) -> ProgramNetwork:
        kept = {name: np.array(array if self.several else array[0]) for name, array in weights.items()}
        return replace(self, weights=kept)

    # ---- moving ----------------------------------------------------------------------------------------------------

    @keywords_said("network.descend")
    def descend(self, step: float, steps: int) -> ProgramNetwork:
        """The network after `steps` steps of size `step`; a flow makes explicit Euler steps: gradient descent.

        Parameters
        ----------
        step : float
            Step size.
        steps : int
            How many.

        Returns
        -------
        ProgramNetwork
            The network after training.
        """
        return self.descend_recorded(step, steps, [steps])[0]

    def descend_recorded(self, step: float, steps: int, record: Iterable[int]) -> list[ProgramNetwork]:
        """The networks after the numbers of steps in `record`."""
        if not 0 < step < math.inf or not isinstance(steps, (int, np.integer)) or steps < 0:
            raise ParameterError(f"{steps!r} steps of size {step} can not be made; give a whole number and a size > 0")
        if self.flow.batch is not None:
            raise ModelError("a step over mini-batches is a mean over all of them, which no network makes; drop batch=")
        wanted = list(record)
        if any(number not in range(steps + 1) for number in wanted):
            raise ParameterError(f"the steps to record are whole numbers between 0 and {steps}", record=wanted)
        moves, reverse = _moves(self, float(step)), _reverse(self)
        weights, words = self._stacked()
        kept = {0: self} if 0 in wanted else {}
        for number in range(1, steps + 1):
            slopes = reverse.gradients(weights, words)
            # all from the old weights: a step of one map must not see that of another
            weights = {**weights, **{move.name: move.apply(weights, slopes) for move in moves}}
            if not all(np.isfinite(weights[move.name]).all() for move in moves):
                raise IntegrationError(f"descent with step {step} overflows at step number {number}; lower it")
            if number in wanted:
                kept[number] = self._with(weights)
        return [kept[number] for number in wanted]

    @keywords_said("network.flow_run")
    def flow_run(
        self,
        end: float,
        times: Sequence[float] | None = None,
        rtol: float = 1e-10,
        atol: float = 1e-12,
        method: str = "DOP853",
        max_evaluations: int = 200_000,
    ) -> tuple[np.ndarray, list[ProgramNetwork]]:
        """The flow in weight space from time 0: times (by default both ends), and the network at each.

        Kinks are left to the error control; a run that chatters along one is given up as soon as it is clear that
        `max_evaluations` gradients do not lead to the end. Networks of an ensemble run one by one, each with steps of
        its own.
        """
        if self.flow.rule.step:
            raise ModelError("this is a rule of steps, which has no flow; use descend(step, steps)")
        if not 0 <= end < math.inf:
            raise ParameterError(f"the flow runs from 0 to a finite time, not to {end}")
        at = np.unique([0.0, end]) if times is None else np.array(times, dtype=float)
        if at.ndim != 1 or not (np.diff(at) > 0).all() or not ((at >= 0) & (at <= end)).all():
            raise ParameterError(f"the times to record must grow and must lie between 0 and {end}")
        if self.several:
            runs = [
                self[k].flow_run(end, at.tolist(), rtol, atol, method, max_evaluations)[1] for k in range(len(self))
            ]
            return at, [together(networks) for networks in zip(*runs, strict=True)]
        return at, self._integrated(end, at, rtol, atol, method, max_evaluations)

    def _integrated(
        self, end: float, at: np.ndarray, rtol: float, atol: float, method: str, most: int
    ) -> list[ProgramNetwork]:
        moves, reverse = _moves(self, 0.0), _reverse(self)
        weights, words = self._stacked()
        sizes = np.cumsum([weights[move.name].size for move in moves])[:-1]
        budget = _Budget(end, most)

        def split(x: np.ndarray) -> Arrays:
            parts = zip(moves, np.split(x, sizes), strict=True)
            return {**weights, **{move.name: part.reshape(weights[move.name].shape) for move, part in parts}}

        def velocity(t: float, x: np.ndarray) -> np.ndarray:
            budget.spend(t)
            now = split(x)
            slopes = reverse.gradients(now, words)
            return np.concatenate([move.velocity(now, slopes).reshape(-1) for move in moves])

        start = np.concatenate([weights[move.name].reshape(-1) for move in moves])
        if end == 0:  # solve_ivp would record nothing
            return [self] * len(at)
        run = solve_ivp(velocity, (0.0, end), start, method, at, rtol=rtol, atol=atol)
        if not run.success:
            raise IntegrationError(f"the flow does not reach {end}: {run.message}", time=max([0.0, *run.t]))
        return [self._with(split(x)) for x in run.y.T]


class _Budget:
    """How many gradients a run may take; it ends early where, window after window, the rest would take too many."""

    WINDOW, PATIENCE = 5000, 3

    def __init__(self, end: float, most: int) -> None:
        self.end, self.most = end, most
        self.spent, self.slow, self.seen = 0, 0, 0.0

    def spend(self, t: float) -> None:
        """One more gradient, at time t."""
        self.spent += 1
        if self.spent % self.WINDOW == 0:
            ahead = (self.end - t) * self.WINDOW / max(t - self.seen, 1e-300)
            self.slow = self.slow + 1 if ahead > self.most else 0
            self.seen = t
        if self.spent > self.most or self.slow == self.PATIENCE:
            raise IntegrationError(
                f"{self.spent} gradients led only to t = {t:.6g} of {self.end:g}: the weights chatter along a kink, or "
                f"the flow is stiff. `integrate` slides along kinks; descend(step, steps) makes steps as they are",
                time=t,
            )


@dataclass(frozen=True)
class _Move:
    """The motion of a map in floats: a factor of the slope of the loss by the map `on`, and factors of maps."""

    name: str
    on: str
    factor: float
    maps: Mapping[str, float]
    euler: float | None  # the step size where a flow makes Euler steps; None for a rule of steps

    def velocity(self, weights: Arrays, slopes: Arrays) -> np.ndarray:
        """What the rule says, for a flow the rate of change."""
        total: np.ndarray | None = None
        if self.factor:
            total = self.factor * slopes[self.on]
        for name, factor in self.maps.items():
            term = weights[name] if factor == 1.0 else factor * weights[name]
            total = term if total is None else total + term
        return np.zeros(weights[self.name].shape) if total is None else total

    def apply(self, weights: Arrays, slopes: Arrays) -> np.ndarray:
        """The map after a step."""
        if self.euler is None:
            return self.velocity(weights, slopes)
        moved: np.ndarray = weights[self.name] + self.euler * self.velocity(weights, slopes)
        return moved


def _moves(network: ProgramNetwork, step: float) -> list[_Move]:
    rule = network.flow.rule
    if rule.turn is not None:
        raise ModelError(
            f"{rule.turn.name} turns the forces before they move weights, which no network does; run the closed system "
            f"from network.paths(), by {'iterate' if rule.step else 'integrate'}"
        )
    # in a flow a parameter of that name is one of the user's own
    parameters = {**network.parameters, STEP_SIZE: step} if rule.step else network.parameters
    out = []
    for name, motion in rule.motions.items():
        factor = -_number(motion.force, parameters) * (step if rule.step else 1.0)
        maps = {other: _number(node, parameters) for other, node in motion.maps.items()}
        out.append(_Move(name, motion.on or name, factor, maps, None if rule.step else step))
    return out


def _reverse(network: ProgramNetwork) -> WeightGradient:
    return _made(network.flow, tuple(sorted(network.parameters.items())))


@lru_cache(maxsize=32)
def _made(flow: Flow, parameters: tuple[tuple[str, float], ...]) -> WeightGradient:
    return WeightGradient(flow.program, flow.train, dict(parameters))


def together(networks: Sequence[ProgramNetwork]) -> ProgramNetwork:
    """Networks of one program and one size as an ensemble."""
    first = networks[0]
    words = {name: np.array([network.words[name] for network in networks]) for name in first.words}
    weights = {name: np.array([network.weights[name] for network in networks]) for name in first.weights}
    return replace(first, words=words, weights=weights)


def _number(node: Node, parameters: Mapping[str, float]) -> float:
    return float(node.args[0]) if node.op == "num" else float(Tape.of([node]).over(ARRAYS)(parameters)[0])


def _parameters(flow: Flow, given: Mapping[str, Any]) -> dict[str, float]:
    needed = [name for name in flow.system.parameters if name != STEP_SIZE or not flow.rule.step]
    unknown = sorted(set(given) - set(needed))
    if unknown:
        raise ParameterError(f"there is no parameter {unknown[0]!r}; the program has {', '.join(needed) or 'none'}")
    out = {}
    for name in needed:
        try:
            out[name] = float(given[name])
        except KeyError:
            raise ParameterError(f"the parameter {name} has no value; add parameters={{'{name}': ...}}") from None
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"{name} = {given[name]!r} is not a number") from None
        if not math.isfinite(out[name]):
            raise ParameterError(f"{name} = {out[name]} is not finite")
    return out


def _finite(values: Any, what: str) -> np.ndarray:
    array: np.ndarray = np.array(values, dtype=float)
    if array.ndim not in (2, 3) or not np.isfinite(array).all():
        raise ModelError(f"{what} of a network are matrices of finite numbers, with one axis of networks in front")
    array.flags.writeable = False
    return array
