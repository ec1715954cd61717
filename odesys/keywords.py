"""Calls with a keyword that a function does not have: a sentence that names the function which has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

from .errors import ModelError

P = ParamSpec("P")
R = TypeVar("R")

_BATCH = (
    "gradient_descent(..., batch=2) and heavy_ball(..., step=True, batch=2) average the step over mini-batches; the "
    "other rules see all samples at once"
)
_MOMENTUM = "heavy_ball(..., friction=...) trains with momentum"
_SIZE = (
    "a rule is derived for every size of step: gradient_descent has the parameter eta, and a network makes its steps "
    "by net.descend(step=0.1, steps=100)"
)
_NETWORK = "it belongs to a network with real weights, flow.network(width=100, seed=0, omega=0.3)"
_START = "starts are flow.initial_state(omega=...) and flow.network(omega=...), with values= for maps by name"
#: where a keyword of training belongs that was given to another function
BELONGS = {
    **dict.fromkeys(("batch", "batch_size", "batchsize", "minibatch"), _BATCH),
    **dict.fromkeys(("friction", "momentum", "gamma"), _MOMENTUM),
    **dict.fromkeys(("eta", "lr", "learning_rate", "step_size", "stepsize", "steps", "epochs"), _SIZE),
    **dict.fromkeys(("width", "widths", "seed", "seeds", "scales"), _NETWORK),
    **dict.fromkeys(("omega", "values", "weights", "init", "scale"), _START),
    "step": f"heavy_ball(..., step=True) derives its step, gradient_descent that of gradient_flow; {_SIZE}",
    "kind": "sign_descent and normalised_descent take kind='step' or kind='flow'; gradient_flow and gradient_descent "
    "are the two of the gradient",
    "carry": "gradient_flow, gradient_descent, family_flow and family_descent keep resting maps with carry=",
    "show": "gradient_flow and gradient_descent take show=; elsewhere the program has the attribute shown",
    "K": "a number of groups is of family_flow and family_descent",
    "parameters": "parameters get their numbers in integrate(..., parameters) or flow.network(parameters=...)",
    "weight_decay": "weight decay is decay=",
    "optimizer": "each rule is a function: gradient_descent, heavy_ball, sign_descent, normalised_descent",
}


def keywords_said(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """For functions that people call with many keywords: calls that do not fit are refused with a sentence.

    >>> @keywords_said("go")
    ... def go(model, *, train=None): ...
    >>> go(1, trian="w")
    Traceback (most recent call last):
    odesys.errors.ModelError: go takes no trian=; did you mean train=? It takes model, train
    """

    def around(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as problem:
                raise ModelError(_sentence(name, signature, kwargs, str(problem))) from None
            return function(*args, **kwargs)

        return called

    return around


def _sentence(name: str, signature: inspect.Signature, given: dict[str, object], problem: str) -> str:
    own = [parameter for parameter in signature.parameters if parameter not in ("self", "flow")]
    takes = f"It takes {', '.join(own)}"
    for key in given:
        if key in own:
            continue
        near = get_close_matches(key, own, 1)
        told = BELONGS.get(key, "") or (f"did you mean {near[0]}=?" if near else "")
        return f"{name} takes no {key}={'; ' if told else ''}{told}{'' if told.endswith('?') else '.'} {takes}"
    kinds = signature.parameters.values()
    first = [p.name for p in kinds if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    if "too many" in problem:
        rest = ", ".join(f"{p.name}=" for p in kinds if p.kind is p.KEYWORD_ONLY)
        return f"{name}({', '.join(first)}) has too many arguments" + (
            f"; the others go by name: {rest}" if rest else ""
        )
    return f"{name}({', '.join(first)}): {problem}"
