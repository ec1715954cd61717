r"""Symmetries of any system as signed permutations of its states: given and checked, or searched; and the quotient.

A map :math:`(gx)_{\pi(s)} = \sigma_s x_s` is a symmetry if :math:`F(gx) = gF(x)`; every equation is decided by the
exact zero test. The search is one for automorphisms of a coloured graph of the equations, in which every scalar has a
vertex for each sign; it is meant for hundreds of states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import prod
from typing import Any

import numpy as np

from ..errors import SymmetryError
from ..exact.sparse_terms import TooManyTerms, sparse_terms
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, sym
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .automorphism import automorphisms
from .loss_graph import MOST_SIGNS, LossGraph
from .quotient import OrbitReduction, Orbits, merged_states, signed_orbits
from .signed_graph import SIGNS, SignedGraph

MOST_TERMS = 1000  # of an equation that is no polynomial; one with more stays as it is written
MOST_TRIED = 3  # states up to which all 2^n n! signed permutations are tried where the search may miss some


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

    undecided = None
    for left, right in symmetry_pairs(system, element).values():
        gap = left - right
        if gap is graph.ZERO:
            continue
        result = zero_test(gap)
        if result.answer == "nonzero":
            return "nonzero", result
        if result.answer == "undecided":
            undecided = result
    return ("zero", None) if undecided is None else ("undecided", undecided)


def symmetry_pairs(system: System, element: StateSymmetry) -> dict[str, tuple[Node, Node]]:
    """For each state F(g x) and g F(x), which agree where the element is a symmetry.

    Parameters
    ----------
    system : System
        Any system.
    element : StateSymmetry
        A signed permutation of its states.

    Returns
    -------
    dict[str, tuple[Node, Node]]
        Both sides by the name of the state.

    Examples
    --------
    >>> spring = System.from_equations({"x": sym("v"), "v": -sym("x")})
    >>> symmetry_pairs(spring, StateSymmetry.from_mapping(spring, {"x": "-v", "v": "x"}))["x"]
    (Node(-v), Node(-v))
    """
    moves = zip(system.names, element.target, element.sign, strict=True)
    images = {sym(system.names[t]): sym(n) * s for n, t, s in moves}
    moved = graph.substitute(system.nodes, images)  # F at g x, written in x
    places = zip(system.names, element.target, system.nodes, element.sign, strict=True)
    return {name: (moved[t], node * s) for name, t, node, s in places}


def require_symmetry(system: System, element: StateSymmetry) -> None:
    """Refuse an element that is not proved to be a symmetry, with the point that shows it."""
    answer, result = check_symmetry(system, element)
    if answer != "zero":
        point = ", ".join(f"{k} = {v}" for k, v in result.witness.items()) if answer == "nonzero" else ""
        where = point or "every point"  # a constant gap needs no point
        detail = f"at {where} the two sides differ" if answer == "nonzero" else "this could not be decided"
        raise SymmetryError(f"{element} does not commute with the system: {detail}", witness=result)


@dataclass(frozen=True, eq=False)
class Symmetries(Sequence[StateSymmetry]):
    """Generators of the group of signed permutations that were found, each proved, and what was searched.

    Parameters
    ----------
    generators : tuple[StateSymmetry, ...]
        They generate the group; as a sequence, this object is they.
    order : int
        The number of elements, exact.
    complete : bool
        No signed permutation of the states is missing.
    searched : str
        Among what the search is complete.

    Examples
    --------
    >>> from odesys import System
    >>> found = System.from_strings({"x": "y", "y": "-x"}).symmetries()
    >>> found.order, [str(g) for g in found.elements()]
    (4, ['x -> -x, y -> -y', 'x -> y, y -> -x', 'x -> -y, y -> x'])
    """

    generators: tuple[StateSymmetry, ...]
    order: int
    complete: bool
    searched: str

    def __getitem__(self, index: Any) -> Any:
        return self.generators[index]

    def __len__(self) -> int:
        return len(self.generators)

    def __repr__(self) -> str:
        listed = "; ".join(map(str, self.generators))
        return f"<Symmetries: order {self.order}, generated by {_cut(listed) or 'nothing'}>"

    def elements(self, limit: int = 10_000) -> tuple[StateSymmetry, ...]:
        """All elements but the identity; a group with more than `limit` is refused."""
        if self.order > limit:
            raise SymmetryError(f"the group has {self.order} elements, more than {limit}; work with .generators")
        if not self.generators:
            return ()
        names = self.generators[0].names
        one = StateSymmetry(names, tuple(range(len(names))), (1,) * len(names))
        found, waiting = {one: None}, [one]
        while waiting:
            g = waiting.pop(0)
            for h in self.generators:
                target = tuple(h.target[t] for t in g.target)
                sign = tuple(s * h.sign[t] for s, t in zip(g.sign, g.target, strict=True))
                product = StateSymmetry(names, target, sign)
                if product not in found:
                    found[product] = None
                    waiting.append(product)
        return tuple(found)[1:]


def _cut(text: str, length: int = 200) -> str:
    return text if len(text) <= length else text[: length - 4] + " ..."


def search_symmetries(system: System) -> Symmetries:
    """All signed permutations of the states that commute with the system, by generators, each proved.

    The equations become a coloured graph with a vertex for each sign of each scalar; its automorphisms are found by
    search. Polynomials are multiplied out first, so for them nothing is missing. Elsewhere a symmetry that shows only
    after functions are rewritten is not found, and `searched` says so.
    """
    nodes, polynomial = _multiplied_out(system.nodes)
    scalars, build = LossGraph(frozenset(system.names)), SignedGraph()
    states = {name: ("state", name) for name in system.names}
    moving = {name: node for name, node in zip(system.names, nodes, strict=True) if node is not graph.ZERO}
    for name in system.names:
        build.signed(states[name], "state" if name in moving else "still", True)
    keys = scalars.add_scalars(build, list(moving.values()), states)
    for name, node in moving.items():
        rate = scalars.scalar(node)
        for own in SIGNS:
            build.edge(("state", name, own), (*keys[rate.shape], own * rate.sign), ("rate", rate.size))
    group = automorphisms(build.coloured())
    place = {build.index["state", name, sign]: (s, sign) for s, name in enumerate(system.names) for sign in SIGNS}
    found = {}
    for permutation in group.generators:
        images = [place[permutation[build.index["state", name, 1]]] for name in system.names]
        element = StateSymmetry(system.names, tuple(t for t, _ in images), tuple(sign for _, sign in images))
        if str(element) != "identity":
            found[element] = check_symmetry(system, element)[0]
    proved = tuple(element for element, answer in found.items() if answer == "zero")
    order = group.order // _order_of_rest(build, place) if len(proved) == len(found) else _order(proved)
    long = any(len(shape.parts) > MOST_SIGNS for shape in scalars.shapes if shape.kind == ("product",))
    complete = polynomial and not long and len(proved) == len(found)
    if complete:
        searched = "all signed permutations of the states"
    else:
        searched = "signed permutations of the states that show in the equations as they are written"
    found_so_far = Symmetries(proved, order, complete, searched)
    return found_so_far if complete or system.dimension > MOST_TRIED else _all_tried(system, found_so_far)


def _all_tried(system: System, found: Symmetries) -> Symmetries:
    """A small system, for which every signed permutation that was not found is proved or refuted at a point."""
    n, proved, settled = system.dimension, list(found.generators), True
    known = {(g.target, g.sign) for g in found.elements()} | {(tuple(range(n)), (1,) * n)}
    for target, sign in product(permutations(range(n)), product((1, -1), repeat=n)):
        if (target, sign) in known:
            continue
        answer = check_symmetry(system, StateSymmetry(system.names, target, sign))[0]
        settled = settled and answer != "undecided"
        if answer == "zero":
            proved.append(StateSymmetry(system.names, target, sign))
            group = Symmetries(tuple(proved), _order(proved), False, "")
            known = {(g.target, g.sign) for g in group.elements()} | {(tuple(range(n)), (1,) * n)}
    searched = "all signed permutations of the states" if settled else found.searched
    return Symmetries(tuple(proved), _order(proved), settled, searched)


def _multiplied_out(nodes: Sequence[Node]) -> tuple[list[Node], bool]:
    """Polynomials as sums of monomials, and whether all right-hand sides are polynomials."""
    out, polynomial = [], True
    for node in nodes:
        try:
            terms = sparse_terms(node)
        except TooManyTerms:
            out.append(node)
            polynomial = False
            continue
        plain = all(atom.op == "sym" and e.denominator == 1 for monomial in terms for atom, e in monomial)
        polynomial = polynomial and plain
        if not plain and len(terms) > MOST_TERMS:  # something may be missed anyway
            out.append(node)
            continue
        products = ((c, graph.multiply(*(graph.power(*factor) for factor in m))) for m, c in terms.items())
        out.append(graph.combine(products))
    return out, polynomial


def _order_of_rest(build: SignedGraph, states: Mapping[int, Any]) -> int:
    """How many automorphisms of the graph move no state."""
    graph_of = build.coloured()
    colours = tuple(("fixed", v) if v in states else colour for v, colour in enumerate(graph_of.colours))
    return automorphisms(replace(graph_of, colours=colours)).order


def _order(generators: Sequence[StateSymmetry]) -> int:
    """The order of the group that some signed permutations generate."""
    from sympy.combinatorics import Permutation, PermutationGroup

    def points(g: StateSymmetry) -> list[int]:
        return [2 * t + (s < 0) ^ flip for t, s in zip(g.target, g.sign, strict=True) for flip in (0, 1)]

    return int(PermutationGroup([Permutation(points(g)) for g in generators]).order()) if generators else 1


@dataclass(frozen=True, eq=False, repr=False)
class SystemQuotient(OrbitReduction):
    """Any system on the subspace that symmetries leave alone, one variable per orbit; no start off it is described.

    From other starts, `invariants(degree)` gives functions that the symmetries leave alone, whose values along a run
    are those of the run from the mirrored start.

    >>> from odesys import System
    >>> lorenz = System.from_strings({"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"})
    >>> axis = lorenz.quotient([{"x": "-x", "y": "-y"}])
    >>> axis.system.names, axis.invariants()
    (('z',), (Node(z), Node(x**2), Node(x*y), Node(y**2), Node(z**2)))
    """

    source: System
    orbits: Orbits
    system: System
    generators: tuple[StateSymmetry, ...] = ()
    starts = "in the subspace that its symmetries leave alone"

    def invariants(self, degree: int = 2) -> tuple[Node, ...]:
        """All polynomials up to a degree that the symmetries leave alone, as sums over orbits of monomials.

        A basis: every invariant polynomial of that degree is a combination of them.
        """
        return invariant_sums(self.source.names, self.generators, degree)


def invariant_sums(names: Sequence[str], generators: Sequence[StateSymmetry], degree: int) -> tuple[Node, ...]:
    """A basis of the polynomials up to `degree` that signed permutations leave alone."""
    found: list[Node] = []
    for d in range(1, degree + 1):
        seen: set[tuple[int, ...]] = set()
        for monomial in combinations_with_replacement(range(len(names)), d):
            if monomial in seen:
                continue
            orbit, waiting, alive = {monomial: 1}, [monomial], True
            while waiting:
                one = waiting.pop()
                for g in generators:
                    image = tuple(sorted(g.target[s] for s in one))
                    sign = orbit[one] * prod(g.sign[s] for s in one)
                    alive = alive and orbit.get(image, sign) == sign
                    if image not in orbit:
                        orbit[image] = sign
                        waiting.append(image)
            seen |= set(orbit)
            if alive:
                found.append(
                    graph.combine(
                        (Fraction(sign), graph.multiply(*(sym(names[s]) for s in m))) for m, sign in orbit.items()
                    )
                )
    return tuple(found)


def system_quotient(system: System, generators: Sequence[StateSymmetry]) -> SystemQuotient:
    """The system on the states fixed by `generators`, each proved to be a symmetry first."""
    for element in generators:
        require_symmetry(system, element)
    orbits = signed_orbits(system.dimension, [(np.array(g.target), np.array(g.sign)) for g in generators])
    names = tuple(system.names[s] for s in orbits.representatives)
    if not names:
        offered = (
            ", ".join(str(to_sympy(node)) for node in invariant_sums(system.names, generators, 2)[:8])
            or "of degree 3 and more"
        )
        raise SymmetryError(
            "every state is mapped to minus itself, so the subspace that the symmetries leave alone is the origin; "
            f"functions that they leave alone: {offered}"
        )
    lift: dict[Node, Node] = {}
    for s, name in enumerate(system.names):
        lift[sym(name)] = sym(names[orbits.orbit[s]]) * int(orbits.sign[s])
    picked = [system.nodes[s] for s in orbits.representatives]
    roots = graph.substitute([*picked, *system.observables.values()], lift)
    field = ScalarField(tuple(roots[: len(names)]), dict(zip(system.observables, roots[len(names) :], strict=True)))
    structure = merged_states(system.names, system.structure, orbits)
    reduced = replace(system, names=names, field=field, structure=structure)
    return SystemQuotient(system, orbits, reduced, tuple(generators))
