"""Laboratories: a paper's systems behind one object that can be broken on purpose and notes what a check reads of it.

A paper's laboratory derives from `BaseLaboratory` and lists its mutations. A method marked `laboratory_part` hands out
something a check can read: it is computed once for each mutation and noted in `reads`, as a `Part`. What is computed
from parts and takes long is marked `computed_once`; whoever uses it has read the parts it was computed from. A part can
be computed in any laboratory, so `changes` says by program whether a mutation touches it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from ..errors import OdesysError
from ..expr.system import System
from .draw import OWN_DRAW, Draw
from .mutation import UNBROKEN, Mutation, PathSpeeds

P = ParamSpec("P")
T = TypeVar("T")
Lab = TypeVar("Lab", bound="BaseLaboratory")


@dataclass(frozen=True)
class Part:
    """Something a check can read: a method of a laboratory, marked `laboratory_part`, with all its arguments."""

    method: Callable[..., Any]
    arguments: tuple[Hashable, ...] = ()

    def of(self, lab: BaseLaboratory) -> Any:
        """This part of a laboratory in a form that can be compared: systems by their equations, arrays by entries."""
        value = self.method(lab, *self.arguments)
        system = getattr(value, "system", value)
        if isinstance(system, System):
            return system.names, system.nodes, dict(system.observables)
        return value.tolist() if isinstance(value, np.ndarray) else value

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.arguments))
        return f"{self.method.__name__}({shown})" if shown else self.method.__name__


class BaseLaboratory:
    """What all laboratories have: a mutation, a draw of seeds and points, and the parts read so far.

    Parameters
    ----------
    mutation : str, optional
        Which of `mutations` breaks the systems; empty for none.
    draw : Draw, optional
        Seeds and points.

    Examples
    --------
    >>> from odesys import Mutation
    >>> class Laboratory(BaseLaboratory):
    ...     mutations = [Mutation("doubled", "the rate is twice what it is", equations=lambda rate: 2 * rate)]
    ...     @laboratory_part
    ...     def rate(self):
    ...         return self.mutation.equations(1)
    >>> broken = Laboratory("doubled")
    >>> broken.rate(), [(str(part), broken.changes(part)) for part in broken.reads]
    (2, [('rate', True)])
    """

    mutations: ClassVar[Sequence[Mutation]] = ()

    def __init__(self, mutation: str = "", draw: Draw = OWN_DRAW) -> None:
        known = {m.name: m for m in (UNBROKEN, *self.mutations)}
        if mutation not in known:
            names = ", ".join(m.name for m in self.mutations) or "none"
            raise OdesysError(f"the mutation {mutation!r} is not known; there are {names}")
        self.mutation, self.draw_given = known[mutation], draw
        self.reads: set[Part] = set()
        self.drawn = False  # true once a check has asked for points or seeds

    @property
    def draw(self) -> Draw:
        """Where points and seeds come from; what is computed without asking for it is the same in every draw."""
        self.drawn = True
        return self.draw_given

    @property
    def speeds(self) -> PathSpeeds:
        """The speeds of the equations, for laboratories whose mutations of equations are all of this kind."""
        change = self.mutation.equations
        return change if isinstance(change, PathSpeeds) else PathSpeeds()

    def read(self, method: Callable[..., Any], *arguments: Hashable) -> None:
        """Note a part as read without computing it."""
        self.reads.add(Part(method, arguments))

    def unrecorded(self) -> Self:
        """The same laboratory with a record of its own: what is asked of it counts as read by nobody."""
        return type(self)(self.mutation.name, self.draw_given)

    def changes(self, part: Part) -> bool:
        """True if the mutation makes this part any different, or if the part can not be computed in one of the two."""
        try:
            return bool(part.of(self.unrecorded()) != part.of(type(self)(draw=self.draw_given)))
        except OdesysError:
            return True


def laboratory_part(method: Callable[Concatenate[Lab, P], T]) -> Callable[Concatenate[Lab, P], T]:
    """Mark a method of a laboratory as a part: computed once for each mutation, and noted as read by who asks.

    Parameters
    ----------
    method : Callable[Concatenate[Lab, P], T]
        Of a laboratory; gives one of the paper's objects.

    Returns
    -------
    Callable[Concatenate[Lab, P], T]
        A method of the same arguments.

    Examples
    --------
    >>> class Laboratory(BaseLaboratory):
    ...     @laboratory_part
    ...     def samples(self, n):
    ...         return tuple(range(n))
    >>> lab = Laboratory()
    >>> lab.samples(3), [str(part) for part in lab.reads]
    ((0, 1, 2), ['samples(3)'])
    """
    return _once(method, is_part=True)


def computed_once(function: Callable[Concatenate[Lab, P], T]) -> Callable[Concatenate[Lab, P], T]:
    """Compute once for each mutation, also where that ends in an error; who uses it reads what the computation read.

    What asks for `lab.draw`, itself or through what it calls, is computed again in every other draw.

    Parameters
    ----------
    function : Callable[Concatenate[Lab, P], T]
        Of a laboratory and hashable arguments.

    Returns
    -------
    Callable[Concatenate[Lab, P], T]
        A function of the same arguments.

    Examples
    --------
    >>> calls = []
    >>> @computed_once
    ... def long_run(lab):
    ...     calls.append(lab.mutation.name)
    ...     return 42
    >>> lab = BaseLaboratory()
    >>> long_run(lab) + long_run(lab), len(calls)
    (84, 1)
    """
    return _once(function, is_part=False)


def _once(function: Callable[Concatenate[Lab, P], T], is_part: bool) -> Callable[Concatenate[Lab, P], T]:
    known: dict[Any, tuple[T | OdesysError, set[Part], bool]] = {}
    accepts = signature(function)

    @wraps(function)
    def call(lab: Lab, /, *args: P.args, **options: P.kwargs) -> T:
        bound = accepts.bind(lab, *args, **options)
        bound.apply_defaults()
        every = type(lab), lab.mutation.name, bound.args[1:], tuple(bound.kwargs.items())
        own = lab.draw_given, *every
        if every not in known and own not in known:
            inner = lab.unrecorded()
            try:
                value: T | OdesysError = function(inner, *args, **options)
            except OdesysError as error:
                value = error
            reads = {Part(call, bound.args[1:])} if is_part else inner.reads
            if inner.drawn:  # draws come one after the other: what an earlier one computed is not asked for again
                for old in [key for key in known if isinstance(key[0], Draw) and key[0] not in (OWN_DRAW, own[0])]:
                    del known[old]
            known[own if inner.drawn else every] = value, reads, inner.drawn
        value, reads, drawn = known[every] if every in known else known[own]
        lab.reads |= reads
        lab.drawn |= drawn
        if isinstance(value, OdesysError):
            raise value.with_traceback(None)
        return value

    return call
