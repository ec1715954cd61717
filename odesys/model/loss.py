"""Losses of the margin z = y f(X): logistic, hinge, or the user's own; a kink in a loss is a switching surface.

>>> LOGISTIC.slope, graph.substitute([LOGISTIC.value], {MARGIN: graph.num(0)})[0]
(Node(-1/(exp(z) + 1)), Node(log(2)))
>>> from odesys import hinge, logistic
>>> logistic is LOGISTIC, hinge.value
(True, Node((1 - z)*Heaviside(1 - z, 0)))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from ..expr import graph
from ..expr.graph import Node, sym

MARGIN = sym("z")


@dataclass(frozen=True)
class Loss:
    """A loss as an expression in the margin `z`; `slope` is its derivative. `logistic` and `hinge` are losses.

    Parameters
    ----------
    name : str
        What it is called.
    value : Node
        An expression in the margin z.

    Examples
    --------
    >>> from odesys import hinge, logistic
    >>> Loss("exponential", graph.exp(-MARGIN)).slope, logistic.slope, hinge.name
    (Node(-exp(-z)), Node(-1/(exp(z) + 1)), 'hinge')
    """

    name: str
    value: Node

    def __call__(self, output: Any, target: Any) -> Any:
        """The loss of an output of a program: the value at the margin ``target * output``, entry by entry."""
        return (target * output).apply(self.value, self.name)

    @property
    def slope(self) -> Node:
        """Derivative of the loss by the margin."""
        return graph.gradient(self.value, [MARGIN])[0]


LOGISTIC = Loss("logistic", graph.call("softplus", -MARGIN))
HINGE = Loss("hinge", graph.relu(1 - MARGIN))
logistic, hinge = LOGISTIC, HINGE  # as functions (f, y) of a program


def as_loss(loss: Any) -> Loss:
    """A loss from its name, or from a SymPy expression in the symbol z, e.g. ``exp(-z)`` or ``Max(0, 1 - z)**2``."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        known = {"logistic": LOGISTIC, "hinge": HINGE}
        if loss not in known:
            raise ModelError(f"the loss {loss!r} is not known; use logistic, hinge, or a SymPy expression in z")
        return known[loss]
    if loss is None or (callable(loss) and not hasattr(loss, "free_symbols")):
        raise ModelError("a loss is logistic, hinge, or a SymPy expression in z")
    node = graph.as_node(loss)
    if "z" not in graph.symbols([node]):
        raise ModelError(f"the loss {loss} does not contain the margin z, so nothing would be trained")
    return Loss(str(loss), node)
