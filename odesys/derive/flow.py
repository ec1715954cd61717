r"""gradient_flow: model + data -> closed system of path scalars, exact at every width; also the stepwise map.

.. math::  \mathcal L = \sum_X \pi(X)\,\ell(y f(X)), \qquad G_\phi = -\partial\mathcal L/\partial\phi, \qquad
           \tfrac{d}{dt}(Q W R) = (Q P^\top) G_\phi (S^\top R) + \dots
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..expr.field import BlockField, Layout, Segment
from ..expr.graph import symbols
from ..expr.system import TIME, System
from ..model.attention import AttentionModel, FixedVector
from ..model.distribution import Distribution
from ..model.loss import Loss, as_loss
from ..model.naming import ModelNaming
from ..model.paths import (
    Path,
    leaf_name,
    score_path,
    value_path,
)
from ..program.attention import attention_loss
from ..program.program import read_program
from .assembly import path_layout, path_leaves, term_block
from .closure import Closure, close
from .initial import infinite_width, network_values, unit_gram
from .minibatch import forces_of
from .motion import NORMALISED, SIGN, STEP_SIZE, Turn
from .program_flow import ProgramFlow, derive_program

if TYPE_CHECKING:
    from ..analysis.lax import ConservedSpectrum
    from ..reduce.quotient import Quotient
    from ..reduce.slaving import Slaved
    from ..reduce.symmetry import SignedPermutation, SymmetryGroup


@dataclass(frozen=True, eq=False)
class Flow:
    """A derived gradient flow (or exact gradient step): model, data, closed set of paths and the system on them.

    >>> from fractions import Fraction
    >>> from odesys import Dictionary, Head, Sample
    >>> pair = [Sample(["good", "the"], +1, Fraction(1, 2)), Sample(["bad", "the"], -1, Fraction(1, 2))]
    >>> flow = gradient_flow(AttentionModel(Dictionary(["good", "bad", "the"]), [Head()]), Distribution(pair))
    >>> flow.system.dimension, flow.quotient().system.dimension
    (24, 14)
    >>> flow.score(0, "good", "the"), flow.neuron(0, "bad")
    ('KQ_good_the', 'w_bad')
    >>> float(flow.initial_state(omega=0.5)[flow.system.names.index("KK_the_the")])
    0.25
    """

    model: AttentionModel
    data: Distribution
    loss: Loss
    train: tuple[str, ...]
    closure: Closure
    system: System

    @property
    def layout(self) -> Layout:
        """How states sit in the matrices of path scalars."""
        assert isinstance(self.system.field, BlockField)
        return self.system.field.layout

    def leaf(self, path: Path, head: int) -> str:
        """Name of the matrix of a path in one head."""
        return leaf_name(self.model, path, head)

    @property
    def naming(self) -> ModelNaming:
        """Pinned sets of the model, and names of its path scalars."""
        return ModelNaming(self.model)

    @property
    def head_count(self) -> int:
        """How many heads have matrices of their own."""
        return len(self.model.heads)

    def pin_gram(self, pin: str) -> np.ndarray:
        """Inner products of a pinned set, as nodes."""
        gram = self.naming.gram(pin)
        return unit_gram(self.naming.size(pin)) if gram is None else gram

    def segment(self, path: Path, head: int) -> Segment:
        """Where the matrix of a stored path of one head sits in the state vector."""
        leaf = self.leaf(path, head)
        return next(s for s in self.layout.segments if s.leaf == leaf)

    def initial_state(
        self, omega: Any = None, *, weights: Mapping[str, np.ndarray] | None = None, **spread: Any
    ) -> np.ndarray:
        r"""Start values of all states.

        Either the infinite-width start, where a path keeps only pairs :math:`W^\top W \to s\,I` with s = omega^2 for
        the score maps (other maps by name, e.g. ``W_V=0.01``), or the path values of a finite network, given as a
        mapping from weight name to the images of the words, heads first.
        """
        if (weights is None) == (omega is None and not spread):
            raise ModelError("give either omega (the infinite-width start) or weights= (a finite network), not both")
        if weights is not None:
            leaves = network_values(self.model, self.closure, weights)
        else:
            leaves = infinite_width(self.model, self.closure, omega, spread)
        return self.layout.pack(leaves).astype(float)

    def symmetries(self, state: Any = None) -> SymmetryGroup[SignedPermutation]:
        """The group of signed permutations of words with head permutations and label flip, found from the data.

        With `state` (a vector of all states) only elements that fix this state are kept.
        """
        from ..reduce.symmetry import find_symmetries

        return find_symmetries(self, state)

    def quotient(self, generators: Sequence[Any] | None = None, state: Any = None) -> Quotient:
        """One variable per orbit under the group found (or under `generators`), with `lift` and `project`."""
        from ..reduce.quotient import quotient

        return quotient(self, generators, state)

    def invariants(self) -> list[ConservedSpectrum]:
        """Conserved families tr L^q of pairs of trained maps, proved from the closure; see `odesys.analysis.lax`."""
        from ..analysis.lax import lax_integrals

        return lax_integrals(self)

    def slaved(self, state: Any = None) -> Slaved:
        """The system with self-scores eliminated by (J S)^2 = omega^4 I, valid from the infinite-width start.

        A `state` to start from is refused unless it satisfies this identity.
        """
        from ..reduce.slaving import slave_flow

        return slave_flow(self, state)

    def score(self, head: str | int, key: str, query: str) -> str:
        """Name of the score of a key word for a query word."""
        return self.path_state(score_path(self.model), head, key, query)

    def neuron(self, head: str | int, word: str) -> str:
        """Name of the value scalar of a word (one-row values)."""
        return self.path_state(value_path(self.model), head, None, word)

    def path_state(self, path: Path, head: str | int, left: str | None, right: str | None) -> str:
        """Name of the state that holds one path scalar between two pinned vectors."""
        stored, turned = self.closure.canonical(path)
        ends = (right, left) if turned else (left, right)
        k = self.model.head_index(head)
        for word in ends:
            if word is not None and self.model.words.parse(word)[1] < 0:
                raise ModelError(f"a state belongs to a word, not to its negative {word!r}; drop the minus sign")
        i, j = (self.model.words.parse(word)[0] if word is not None else 0 for word in ends)
        return self.layout.names[int(self.segment(stored, k).index[i, j])]

    @cached_property
    def matrices(self) -> dict[str, np.ndarray]:
        """For each matrix of path scalars the array of its state names."""
        names = np.array(self.layout.names, dtype=object)
        return {segment.leaf: names[segment.index] for segment in self.layout.segments}


@overload
def gradient_flow(
    model: AttentionModel,
    data: Any,
    loss: Any = ...,
    *,
    train: Any = ...,
    rates: Mapping[str, Any] | None = ...,
    decay: Any = ...,
    carry: Any = ...,
) -> Flow: ...
@overload
def gradient_flow(
    model: Callable[[Any], Any],
    data: Any,
    loss: Any = ...,
    *,
    train: Any = ...,
    rates: Mapping[str, Any] | None = ...,
    decay: Any = ...,
    carry: Any = ...,
) -> ProgramFlow: ...
def gradient_flow(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    carry: Any = None,
) -> Any:
    """Derive the gradient flow of the population loss on path scalars.

    Parameters
    ----------
    model, data : a program (a function of the tokens X) with `Data`, or an `AttentionModel` with a `Distribution`.
    loss : a function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression
        in the margin z = y f.
    train : names of the maps that move, as a string or a sequence; by default all (of an `AttentionModel` w, W_K, W_Q).
    rates : rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : weight decay: every trained map also shrinks at this rate.
    carry : maps whose closed set of paths is kept as states even where they do not move, so that the stages of a
        protocol share one state vector; by default `train`.

    >>> from odesys import Data, Words, gradient_flow, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic)
    >>> flow.system.equations["w_a"]
    Node(1/(exp(w_a) + 1))
    """
    return _derived(model, data, loss, train, carry, rates, decay, None, step=False)


@overload
def gradient_descent(
    model: AttentionModel,
    data: Any,
    loss: Any = ...,
    *,
    train: Any = ...,
    rates: Mapping[str, Any] | None = ...,
    decay: Any = ...,
    carry: Any = ...,
    batch: Any = ...,
) -> Flow: ...
@overload
def gradient_descent(
    model: Callable[[Any], Any],
    data: Any,
    loss: Any = ...,
    *,
    train: Any = ...,
    rates: Mapping[str, Any] | None = ...,
    decay: Any = ...,
    carry: Any = ...,
    batch: Any = ...,
) -> ProgramFlow: ...
def gradient_descent(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    carry: Any = None,
    batch: Any = None,
) -> Any:
    """Derive the exact gradient step W -> W - eta dL/dW on the same path scalars, with all powers of eta.

    With ``batch=k`` it is the averaged step of mini-batches: the exact mean, over all batches of k samples drawn
    without replacement from equally weighted data, of the path scalars after one step.

    >>> from odesys import Data, Words, gradient_descent, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> step = gradient_descent(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic).system
    >>> step.kind, step.equations["w_a"]
    ('map', Node(eta/(exp(w_a) + 1) + w_a))
    """
    return _derived(model, data, loss, train, carry, rates, decay, None, step=True, batch=batch)


def heavy_ball(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    friction: Any = "gamma",
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    step: bool = False,
) -> ProgramFlow:
    r"""Training with momentum: every map W gets a velocity V, whose paths join the system.

    .. math::  \dot W = V,\ \dot V = -\partial\mathcal L/\partial W - \gamma V; \qquad \text{with step: }
               V^+ = \gamma V - \eta\,\partial\mathcal L/\partial W,\ W^+ = W + V^+ .

    >>> from odesys import Data, Words, heavy_ball, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = heavy_ball(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic)
    >>> flow.system.equations["dw_a"]
    Node(-dw_a*gamma + 1/(exp(w_a) + 1))
    """
    if isinstance(model, AttentionModel):
        raise ModelError("heavy_ball takes a program, a function of the tokens X; write the model as one")
    made: ProgramFlow = _derived(model, data, loss, train, None, rates, decay, friction, step)
    return made


def sign_descent(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    kind: str = "step",
) -> ProgramFlow:
    r"""Every weight moves against the sign of its own gradient, all by the same amount; at a zero gradient it rests.

    .. math::  W^+ = W - \eta\,\operatorname{sgn}(\partial\mathcal L/\partial W), \qquad \text{as a flow: }
               \dot W = -\operatorname{sgn}(\partial\mathcal L/\partial W) .

    A sign needs axes: the spaces of every trained map are `Units`, 1, or orthonormal `Words`, which then are the axes
    of their space. As a flow the gradients are switching surfaces.

    >>> from odesys import Data, Words, maps, sign_descent, squared
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> step = sign_descent(lambda X: w @ X[0], Data(words, [("a", 1), ("b", 2)]), squared).system
    >>> step.compile(eta=0.25)(0.0, [0.5, 2.0])
    array([0.75, 2.  ])
    """
    made: ProgramFlow = _derived(model, data, loss, train, None, rates, decay, None, _is_step(kind), SIGN)
    return made


def normalised_descent(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    kind: str = "step",
) -> ProgramFlow:
    r"""Steps of one length: the gradient by all trained maps is divided by its Frobenius norm.

    .. math::  W^+ = W - \eta\,\frac{\partial\mathcal L/\partial W}{|\nabla\mathcal L|}, \qquad
               |\nabla\mathcal L|^2 = \sum_V \Big|\frac{\partial\mathcal L}{\partial V}\Big|^2 .

    The norm is made of the same path scalars, so no axes need to be listed. Where the gradient is zero the step is
    not defined.

    >>> from odesys import Data, Words, maps, normalised_descent, squared
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> step = normalised_descent(lambda X: w @ X[0], Data(words, [("a", 1)]), squared).system
    >>> step.compile(eta=0.25)(0.0, [0.5])
    array([0.75])
    """
    made: ProgramFlow = _derived(model, data, loss, train, None, rates, decay, None, _is_step(kind), NORMALISED)
    return made


def _is_step(kind: Any) -> bool:
    if kind not in ("step", "flow"):
        raise ModelError(f"kind={kind!r} is 'step' (W -> W+) or 'flow' (its limit for small steps)")
    return bool(kind == "step")


def _derived(
    model: Any,
    data: Any,
    loss: Any,
    train: Any,
    carry: Any,
    rates: Mapping[str, Any] | None,
    decay: Any,
    friction: Any,
    step: bool,
    turn: Turn | None = None,
    batch: Any = None,
) -> Any:
    if isinstance(loss, (tuple, list, set, frozenset)):
        raise ModelError(f"the third argument is the loss; maps that move are given by name: train={loss!r}")
    if isinstance(train, Mapping):
        raise ModelError(f"train={train!r} is a mapping; write the names of the maps, with their heads as in 'w.p'")
    if isinstance(model, AttentionModel):
        if rates or decay != 0 or turn is not None or batch is not None:
            raise ModelError(
                "rates, decay, batches and signs are for programs; write the model as a function of the tokens X"
            )
        return _derive(model, data, ("w", "W_K", "W_Q") if train is None else train, loss, carry, step)
    if not callable(model):
        raise ModelError("a flow is derived from a function of the tokens X (or an AttentionModel), and its data")
    return derive_program(read_program(model, data, loss), train, rates, decay, friction, step, carry, turn, batch)


def close_model(
    model: AttentionModel, train: Iterable[str], carry: Iterable[str] | None, step: bool
) -> tuple[tuple[str, ...], Closure]:
    """The trained weights, checked, and all paths that the motion of what the model reads brings in."""
    if train is not None and not hasattr(train, "__iter__"):
        raise ModelError(f"train is a list of maps such as ('w', 'W_K', 'W_Q'), not {train!r}")
    trained = (train,) if isinstance(train, str) else tuple(train or ())
    carried = trained if carry is None else tuple(carry)
    check_weights(model, trained, carried)
    closure = close((value_path(model), score_path(model)), frozenset(carried), exact_step=step)
    return trained, closure


def _derive(
    model: AttentionModel, data: Distribution, train: Iterable[str], loss: Any, carry: Iterable[str] | None, step: bool
) -> Flow:
    if not isinstance(data, Distribution):
        raise ModelError("a flow is derived from an AttentionModel and a Distribution, in this order")
    trained, closure = close_model(model, train, carry, step)
    loss = as_loss(loss)
    naming = ModelNaming(model)
    leaves = path_leaves(naming, closure)
    objective, observables = attention_loss(model, data, loss, leaves)
    rhs: dict[str, Block] = {}
    for k in range(naming.heads):
        forces = forces_of(objective, [leaves[naming.leaf(path, k)] for path in closure.read])
        for path in closure.paths:
            name = naming.leaf(path, k)
            terms = [t for t in closure.terms[path] if set(t.moved) <= set(trained)]
            change = [term_block(t, naming, closure, leaves, forces, k) for t in terms]
            if step:
                change = [leaves[name], *change]
            rhs[name] = blocks.add(*change) if change else blocks.zeros(leaves[name].shape)
    layout, tex, structure = path_layout(naming, closure)
    names = layout.names
    field = BlockField(layout, rhs, observables)
    own = parameter_names(model, loss) | data.parameters
    taken = sorted(own & {*names, TIME, *([STEP_SIZE] if step else [])})
    if taken:
        what = "a path scalar" if taken[0] in names else "time" if taken[0] == TIME else "the step size"
        raise ModelError(
            f"the parameter {taken[0]} of the model, the data or the loss is the name of {what}; rename it"
        )
    parameters = tuple(sorted(field.parameters))
    system = System(names, field, parameters, "map" if step else "flow", tex, structure)
    return Flow(model, data, loss, trained, closure, system)


def check_weights(model: AttentionModel, trained: tuple[str, ...], carried: tuple[str, ...]) -> None:
    """Refuse weights that the model does not have or that can not move."""
    if not trained:
        raise ModelError(f"nothing is trained; choose some of {', '.join(model.weights)}")
    for name in (*trained, *carried):
        if name not in model.weights:
            frozen = isinstance(model.value.output, FixedVector) and name == model.value.output.name
            why = "it is a frozen output vector" if frozen else f"the model has {', '.join(model.weights)}"
            raise ModelError(f"the weight {name!r} can not be trained: {why}", weight=name)
    missing = sorted(set(trained) - set(carried))
    if missing:
        raise ModelError(f"{missing[0]} is trained but not carried; carry must contain everything that moves")


def parameter_names(model: AttentionModel, loss: Loss) -> set[str]:
    """Symbols the model and the loss bring along."""
    nodes = [model.scale, *(head.bias for head in model.heads), *model.readout().ravel()]
    if isinstance(model.value.output, FixedVector):
        nodes.append(model.value.output.square)
    return symbols(nodes) | (symbols([loss.value]) - {"z"}) | model.words.parameters
