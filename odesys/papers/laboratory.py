"""Laboratories: a paper's systems behind one object that can be broken on purpose and notes what a check reads of it.

A paper's laboratory derives from `BaseLaboratory`: its methods give systems and add the names of the parts they hand
out to `reads`; `part` gives a part in a form that can be compared, so that `changes` can say by program whether a
mutation touches it. What takes long is computed once for each mutation with `computed_once`, and still counts as read
by everyone who uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from ..errors import OdesysError

P = ParamSpec("P")
T = TypeVar("T")
Lab = TypeVar("Lab", bound="BaseLaboratory")


class BaseLaboratory:
    """What all laboratories have: the name of the mutation, the parts read so far, and which parts are different.

    >>> class Laboratory(BaseLaboratory):
    ...     mutations = {"doubled": "the rate is twice what it is"}
    ...     def part(self, name):
    ...         return {"rate": 2 if self.mutation == "doubled" else 1, "start": 0}[name]
    >>> [part for part in ("rate", "start") if Laboratory("doubled").changes(part)]
    ['rate']
    """

    mutations: ClassVar[Mapping[str, str]] = {}  # by name, with a sentence on what is broken

    def __init__(self, mutation: str = "") -> None:
        if mutation and mutation not in self.mutations:
            raise OdesysError(f"the mutation {mutation!r} is not known; there are {', '.join(self.mutations)}")
        self.mutation = mutation
        self.reads: set[str] = set()

    def part(self, name: str) -> Any:
        """A part in a form that can be compared; None if there is nothing to compare."""
        return None

    def changes(self, part: str) -> bool:
        """True if the mutation makes this part any different, or if the part is none that can be compared."""
        mine, paper = (type(self)(mutation).part(part) for mutation in (self.mutation, ""))
        return mine is None or bool(mine != paper)


def computed_once(function: Callable[Concatenate[Lab, P], T]) -> Callable[Concatenate[Lab, P], T]:
    """Compute once for each mutation, also where that ends in an error; who uses it reads what the computation read.

    >>> calls = []
    >>> @computed_once
    ... def long_run(lab):
    ...     calls.append(lab.mutation)
    ...     lab.reads.add("start")
    ...     return 42
    >>> lab = BaseLaboratory()
    >>> long_run(lab) + long_run(lab), len(calls), lab.reads
    (84, 1, {'start'})
    """
    known: dict[Any, tuple[T | OdesysError, set[str]]] = {}

    @wraps(function)
    def call(lab: Lab, /, *args: P.args, **options: P.kwargs) -> T:
        key = lab.mutation, args, tuple(sorted(options.items()))
        if key not in known:
            inner = type(lab)(lab.mutation)
            try:
                known[key] = function(inner, *args, **options), inner.reads
            except OdesysError as error:
                known[key] = error, inner.reads
        value, reads = known[key]
        lab.reads |= reads
        if isinstance(value, OdesysError):
            raise value.with_traceback(None)
        return value

    return call
