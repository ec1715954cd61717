r"""gradient_flow: model + data -> closed system of path scalars, exact at every width; also the stepwise map.

.. math::  \mathcal L = \sum_X \pi(X)\,\ell(y f(X)), \qquad G_\phi = -\partial\mathcal L/\partial\phi, \qquad
           \tfrac{d}{dt}(Q W R) = (Q P^\top) G_\phi (S^\top R) + \dots
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ModelError
from ..keywords import keywords_said
from ..model.distribution import Distribution
from ..program.attention import AttentionModel
from ..program.data import Data
from ..program.program import Shown, read_program
from .flow import Flow, derive_flow
from .motion import NORMALISED, SIGN, Turn


@keywords_said("gradient_flow")
def gradient_flow(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    carry: Any = None,
    show: Shown | None = None,
) -> Flow:
    """Derive the gradient flow of the population loss on path scalars.

    Parameters
    ----------
    model : Any
        A program (a function of the tokens X), or an `AttentionModel`.
    data : Any
        `Data` of a program, or a `Distribution`.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    train : Any, optional
        Names of the maps that move, as a string or a sequence; by default all.
    rates : Mapping[str, Any], optional
        Rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : Any, optional
        Weight decay: every trained map also shrinks at this rate.
    carry : Any, optional
        Maps whose closed set of paths is kept as states even where they do not move, so that the stages of a protocol
        share one state vector; by default `train`.
    show : Shown, optional
        More functions of X to see along a run, by name: ``show={"H": head}`` gives the observables H_1, H_2, ... of the
        samples. A model that is an object may have them as its attribute `shown`.

    Returns
    -------
    Flow
        The closed system with its paths; `ClosureError` where the paths never close.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic)
    >>> flow.system.equations["w_a"]
    Node(1/(exp(w_a) + 1))
    """
    return _derived(model, data, loss, train, carry, rates, decay, None, step=False, show=show)


@keywords_said("gradient_descent")
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
    show: Shown | None = None,
) -> Flow:
    """Derive the exact gradient step W -> W - eta dL/dW on the same path scalars, with all powers of eta.

    With ``batch=k`` it is the averaged step of mini-batches: the exact mean, over all batches of k samples drawn
    without replacement from equally weighted data, of the path scalars after one step.

    Parameters
    ----------
    model : Any
        A program (a function of the tokens X), or an `AttentionModel`.
    data : Any
        `Data` of a program, or a `Distribution`.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    train : Any, optional
        Names of the maps that move, as a string or a sequence; by default all.
    rates : Mapping[str, Any], optional
        Rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : Any, optional
        Weight decay: every trained map also shrinks at this rate.
    carry : Any, optional
        Maps whose paths are kept as states even where they do not move; by default `train`.
    batch : Any, optional
        Number of samples of a mini-batch; by default all samples.
    show : Shown, optional
        More functions of X to see along a run, by name.

    Returns
    -------
    Flow
        The closed system with its paths; `ClosureError` where the paths never close.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_descent, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> step = gradient_descent(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic).system
    >>> step.kind, step.equations["w_a"]
    ('map', Node(eta/(exp(w_a) + 1) + w_a))
    """
    return _derived(model, data, loss, train, carry, rates, decay, None, step=True, batch=batch, show=show)


@keywords_said("heavy_ball")
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
    batch: Any = None,
) -> Flow:
    r"""Training with momentum: every map W gets a velocity V, whose paths join the system.

    .. math::  \dot W = V,\ \dot V = -\partial\mathcal L/\partial W - \gamma V; \qquad \text{with step: }
               V^+ = \gamma V - \eta\,\partial\mathcal L/\partial W,\ W^+ = W + V^+ .

    With ``step=True, batch=k`` it is the averaged step of mini-batches, as in `gradient_descent`.

    Parameters
    ----------
    model : Any
        A program (a function of the tokens X), or an `AttentionModel`.
    data : Any
        `Data` of a program, or a `Distribution`.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    friction : Any, optional
        The number or parameter gamma.
    train : Any, optional
        Names of the maps that move, as a string or a sequence; by default all.
    rates : Mapping[str, Any], optional
        Rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : Any, optional
        Weight decay: every trained map also shrinks at this rate.
    step : bool, optional
        Give the step instead of the flow.
    batch : Any, optional
        Number of samples of a mini-batch, with ``step=True``; by default all samples.

    Returns
    -------
    Flow
        The closed system with its paths; `ClosureError` where the paths never close.

    Examples
    --------
    >>> from odesys import Data, Words, heavy_ball, logistic, maps
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = heavy_ball(lambda X: w @ X[0], Data(words, [(("a",), +1)]), logistic)
    >>> flow.system.equations["dw_a"]
    Node(-dw_a*gamma + 1/(exp(w_a) + 1))
    """
    if batch is not None and not step:
        raise ModelError(f"batch={batch!r}: a flow sees all samples at once; mini-batches are steps, add step=True")
    return _derived(model, data, loss, train, None, rates, decay, friction, step, batch=batch)


@keywords_said("sign_descent")
def sign_descent(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    kind: str = "step",
) -> Flow:
    r"""Every weight moves against the sign of its own gradient, all by the same amount; at a zero gradient it rests.

    .. math::  W^+ = W - \eta\,\operatorname{sgn}(\partial\mathcal L/\partial W), \qquad \text{as a flow: }
               \dot W = -\operatorname{sgn}(\partial\mathcal L/\partial W) .

    A sign needs axes: the spaces of every trained map are `Units`, 1, or orthonormal `Words`, which then are the axes
    of their space. As a flow the gradients are switching surfaces.

    Parameters
    ----------
    model : Any
        A program (a function of the tokens X), or an `AttentionModel`.
    data : Any
        `Data` of a program, or a `Distribution`.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    train : Any, optional
        Names of the maps that move, as a string or a sequence; by default all.
    rates : Mapping[str, Any], optional
        Rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : Any, optional
        Weight decay: every trained map also shrinks at this rate.
    kind : str, optional
        ``step`` or ``flow``.

    Returns
    -------
    Flow
        The closed system with its paths; `ClosureError` where the paths never close.

    Examples
    --------
    >>> from odesys import Data, Words, maps, sign_descent, squared
    >>> words = Words("a b")
    >>> w = maps("w", 1, words)
    >>> step = sign_descent(lambda X: w @ X[0], Data(words, [("a", 1), ("b", 2)]), squared).system
    >>> step.compile(eta=0.25)(0.0, [0.5, 2.0])
    array([0.75, 2.  ])
    """
    return _derived(model, data, loss, train, None, rates, decay, None, _is_step(kind), SIGN)


@keywords_said("normalised_descent")
def normalised_descent(
    model: Any,
    data: Any,
    loss: Any = "logistic",
    *,
    train: Any = None,
    rates: Mapping[str, Any] | None = None,
    decay: Any = 0,
    kind: str = "step",
) -> Flow:
    r"""Steps of one length: the gradient by all trained maps is divided by its Frobenius norm.

    .. math::  W^+ = W - \eta\,\frac{\partial\mathcal L/\partial W}{|\nabla\mathcal L|}, \qquad
               |\nabla\mathcal L|^2 = \sum_V \Big|\frac{\partial\mathcal L}{\partial V}\Big|^2 .

    The norm is made of the same path scalars, so no axes need to be listed. Where the gradient is zero the step is
    not defined.

    Parameters
    ----------
    model : Any
        A program (a function of the tokens X), or an `AttentionModel`.
    data : Any
        `Data` of a program, or a `Distribution`.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    train : Any, optional
        Names of the maps that move, as a string or a sequence; by default all.
    rates : Mapping[str, Any], optional
        Rates of single maps, e.g. ``{"Z": Fraction(1, 10)}``; the others have the rate 1.
    decay : Any, optional
        Weight decay: every trained map also shrinks at this rate.
    kind : str, optional
        ``step`` or ``flow``.

    Returns
    -------
    Flow
        The closed system with its paths; `ClosureError` where the paths never close.

    Examples
    --------
    >>> from odesys import Data, Words, maps, normalised_descent, squared
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> step = normalised_descent(lambda X: w @ X[0], Data(words, [("a", 1)]), squared).system
    >>> step.compile(eta=0.25)(0.0, [0.5])
    array([0.75])
    """
    return _derived(model, data, loss, train, None, rates, decay, None, _is_step(kind), NORMALISED)


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
    show: Shown | None = None,
) -> Flow:
    if isinstance(loss, (tuple, list, set, frozenset)):
        raise ModelError(f"the third argument is the loss; maps that move are given by name: train={loss!r}")
    if isinstance(train, Mapping):
        raise ModelError(f"train={train!r} is a mapping; write the names of the maps, with their heads as in 'w.p'")
    if not callable(model):
        raise ModelError("a flow is derived from a function of the tokens X (or an AttentionModel), and its data")
    if isinstance(model, AttentionModel):
        data = Data(model.space, data.samples) if isinstance(data, Distribution) else data
    program = read_program(model, data, loss, show)
    return derive_flow(program, train, rates, decay, friction, step, carry, turn, batch)
