r"""Symmetries of any system as signed permutations of its states: given and checked, or searched; and the quotient.

A map :math:`(gx)_{\pi(s)} = \sigma_s x_s` is a symmetry if :math:`F(gx) = gF(x)`; every equation is decided by the
exact zero test. The search tries signed permutations that respect the dependency graph, so it is meant for small
systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np

from ..errors import SymmetryError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, sym
from ..expr.system import System
from .quotient import OrbitReduction, Orbits, merged_states, signed_orbits

SEARCH_LIMIT = 200_000  # signed permutations tried at most


@dataclass(frozen=True)
class StateSymmetry:
    """A signed permutation of states: state s goes to `target[s]` with factor `sign[s]`.

    Parameters
    ----------
    names : tuple[str, ...]
        Of the states.
    target : tuple[int, ...]
        Where each state goes.
    sign : tuple[int, ...]
        The factor, +1 or -1.

    Examples
    --------
    >>> spring = System.from_equations({"x": sym("v"), "v": -sym("x")})
    >>> turn = StateSymmetry.from_mapping(spring, {"x": "v", "v": "-x"})
    >>> str(turn), turn.act([1, 2]).tolist()
    ('x -> v, v -> -x', [-2, 1])
    """

    names: tuple[str, ...]
    target: tuple[int, ...]
    sign: tuple[int, ...]

    @classmethod
    def from_mapping(cls, system: System, mapping: Mapping[str, str]) -> StateSymmetry:
        """From {"x": "-y", "y": "x"}: x goes to -y, y to x; states not named stay."""
        target, sign = list(range(system.dimension)), [1] * system.dimension
        for name, image in mapping.items():
            bare = image.removeprefix("-")
            for word in (name, bare):
                if word not in system.names:
                    raise SymmetryError(f"{word!r} is not a state; the states are {', '.join(system.names[:12])}")
            s = system.names.index(name)
            target[s], sign[s] = system.names.index(bare), -1 if image.startswith("-") else 1
        if sorted(target) != list(range(system.dimension)):
            raise SymmetryError("two states have the same image, so this is not a permutation")
        return cls(system.names, tuple(target), tuple(sign))

    def __str__(self) -> str:
        moves = zip(self.names, self.target, self.sign, strict=True)
        text = [f"{n} -> {'-' if s < 0 else ''}{self.names[t]}" for n, t, s in moves if (self.names[t], s) != (n, 1)]
        return ", ".join(text) or "identity"

    def act(self, x: Any) -> np.ndarray:
        """The image of a state vector."""
        out = np.empty(len(self.names), dtype=np.asarray(x).dtype)
        out[list(self.target)] = np.asarray(x) * np.array(self.sign)
        return out


def check_symmetry(system: System, element: StateSymmetry) -> tuple[str, Any]:
    """Exact answer ``zero`` (a symmetry), ``nonzero`` with a witness, or ``undecided`` with the residual equation.

    Parameters
    ----------
    system : System
        A flow or a map.
    element : StateSymmetry
        The signed permutation.

    Returns
    -------
    tuple[str, Any]
        The answer, and a witness or what is left over.

    Examples
    --------
    >>> spring = System.from_equations({"x": sym("v"), "v": -sym("x")})
    >>> check_symmetry(spring, StateSymmetry.from_mapping(spring, {"x": "-v", "v": "x"}))
    ('zero', None)
    >>> check_symmetry(spring, StateSymmetry.from_mapping(spring, {"x": "-x"}))[0]
    'nonzero'
    """
    from ..exact.zero import zero_test

    moves = zip(system.names, element.target, element.sign, strict=True)
    images = {sym(system.names[t]): sym(n) * s for n, t, s in moves}
    moved = graph.substitute(system.nodes, images)  # F at g x, written in x
    undecided = None
    for s, node in enumerate(system.nodes):
        gap = moved[element.target[s]] - node * element.sign[s]
        if gap is graph.ZERO:
            continue
        result = zero_test(gap)
        if result.answer == "nonzero":
            return "nonzero", result
        if result.answer == "undecided":
            undecided = result
    return ("zero", None) if undecided is None else ("undecided", undecided)


def require_symmetry(system: System, element: StateSymmetry) -> None:
    """Refuse an element that is not proved to be a symmetry, with the point that shows it."""
    answer, result = check_symmetry(system, element)
    if answer != "zero":
        point = ", ".join(f"{k} = {v}" for k, v in result.witness.items()) if answer == "nonzero" else ""
        where = point or "every point"  # a constant gap needs no point
        detail = f"at {where} the two sides differ" if answer == "nonzero" else "this could not be decided"
        raise SymmetryError(f"{element} does not commute with the system: {detail}", witness=result)


def search_symmetries(system: System) -> tuple[StateSymmetry, ...]:
    """All signed permutations of the states that are proved to commute with the system, without the identity."""
    classes = _classes(system)
    count = 2**system.dimension * prod(factorial(len(c)) for c in classes)
    if count > SEARCH_LIMIT:
        raise SymmetryError(f"{count} signed permutations would have to be tried, more than {SEARCH_LIMIT}; give them")
    rng = np.random.default_rng(0)
    compiled = system.compile({name: float(rng.uniform(0.5, 2)) for name in system.parameters})
    x = rng.uniform(0.3, 1.5, system.dimension)
    field = compiled(0.0, x)
    found = []
    for element in _candidates(system.names, classes):
        # not a number outside of the domain, e.g. the logarithm of a negative state
        gap = np.abs(compiled(0.0, element.act(x)) - element.act(field)).max()
        if gap <= 1e-9 * (1 + np.abs(field).max()) and str(element) != "identity":
            found.append(element)
    return tuple(element for element in found if check_symmetry(system, element)[0] == "zero")


def _classes(system: System) -> list[list[int]]:
    """States that can possibly be exchanged: alike in how many states they depend on and drive."""
    drives = system.dependency_graph()
    kinds: dict[tuple[int, int, bool], list[int]] = {}
    for s, name in enumerate(system.names):
        kind = (drives.in_degree(name), drives.out_degree(name), drives.has_edge(name, name))
        kinds.setdefault(kind, []).append(s)
    return list(kinds.values())


def _candidates(names: tuple[str, ...], classes: list[list[int]]) -> Iterator[StateSymmetry]:
    for orders in product(*(permutations(c) for c in classes)):
        target = [0] * len(names)
        for members, order in zip(classes, orders, strict=True):
            for s, t in zip(members, order, strict=True):
                target[s] = t
        for sign in product((1, -1), repeat=len(names)):
            yield StateSymmetry(names, tuple(target), sign)


@dataclass(frozen=True, eq=False, repr=False)
class SystemQuotient(OrbitReduction):
    """Any system on the subspace that symmetries leave alone, one variable per orbit; no start off it is described."""

    source: System
    orbits: Orbits
    system: System


def system_quotient(system: System, generators: Sequence[StateSymmetry]) -> SystemQuotient:
    """The system on the states fixed by `generators`, each proved to be a symmetry first."""
    for element in generators:
        require_symmetry(system, element)
    orbits = signed_orbits(system.dimension, [(np.array(g.target), np.array(g.sign)) for g in generators])
    names = tuple(system.names[s] for s in orbits.representatives)
    if not names:
        raise SymmetryError("every state is mapped to minus itself, so the symmetric system stands still at zero")
    lift: dict[Node, Node] = {}
    for s, name in enumerate(system.names):
        lift[sym(name)] = sym(names[orbits.orbit[s]]) * int(orbits.sign[s])
    picked = [system.nodes[s] for s in orbits.representatives]
    roots = graph.substitute([*picked, *system.observables.values()], lift)
    field = ScalarField(tuple(roots[: len(names)]), dict(zip(system.observables, roots[len(names) :], strict=True)))
    structure = merged_states(system.names, system.structure, orbits)
    return SystemQuotient(system, orbits, replace(system, names=names, field=field, structure=structure))
