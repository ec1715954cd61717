r"""Quotient of a flow by symmetries: one variable per orbit of states, with the map back.

A symmetry acts on state vectors as a signed permutation; a symmetric state satisfies :math:`x_{g(s)} = \sigma_s x_s`.
Orbits are the connected components of the signed double cover; an orbit that contains a state with both signs is zero.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..errors import AsymmetryWarning, EquationError, SymmetryError
from ..expr.field import BlockField, Layout, Segment
from ..expr.graph import Node, sym
from ..expr.system import State, System
from .program_symmetry import LossCheck, ProgramSymmetry, is_program_symmetry
from .reduction import Reduction

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from .slaving import Slaved

ROUNDING = 1e-6  # of the largest entry: what a run from a symmetric start may have left of the symmetric states


@dataclass(frozen=True, eq=False)
class Orbits:
    """Signed orbits: state s equals `sign[s]` times variable `orbit[s]`; sign 0 marks states that vanish."""

    orbit: np.ndarray
    sign: np.ndarray
    representatives: np.ndarray

    def lift(self, z: Any) -> np.ndarray:
        """Full state from orbit values; works along the last axis."""
        result: np.ndarray = np.asarray(z)[..., self.orbit] * self.sign
        return result

    def project(self, x: Any) -> np.ndarray:
        """Orbit values of a full state: the signed mean over each orbit, along the last axis."""
        kept, size = self.sign != 0, len(self.representatives)
        orbit, count = self.orbit[kept], np.bincount(self.orbit[kept], minlength=size)
        signed = (self.sign * np.asarray(x, dtype=float))[..., kept]
        rows = signed.reshape(math.prod(signed.shape[:-1]), signed.shape[-1])
        sums = [np.bincount(orbit, row, minlength=size) for row in rows]
        return np.array(sums, dtype=float).reshape(*signed.shape[:-1], size) / count


def signed_orbits(size: int, generators: Sequence[tuple[np.ndarray, np.ndarray]]) -> Orbits:
    """Orbits of signed permutations (target, sign) of `size` states."""
    states = np.arange(size)
    rows, columns = [states], [states]
    for target, sign in generators:
        moved = np.flatnonzero((target != states) | (sign < 0))
        image, flipped = target[moved], sign[moved] < 0
        rows += [moved, moved + size]
        columns += [image + size * flipped, image + size * ~flipped]
    edges = (np.concatenate(rows), np.concatenate(columns))
    cover = coo_matrix((np.ones(len(edges[0])), edges), shape=(2 * size, 2 * size))
    _, component = connected_components(cover, directed=False)
    plus, minus = component[:size], component[size:]
    orbit, sign_of, kept = np.zeros(size, dtype=int), np.zeros(size, dtype=int), np.flatnonzero(plus != minus)
    _, first, member = np.unique(np.minimum(plus, minus)[kept], return_index=True, return_inverse=True)
    order = np.argsort(first)  # orbits are numbered by their first states
    representatives = kept[first[order]]
    orbit[kept] = np.argsort(order)[member]
    sign_of[kept] = np.where(plus[kept] == plus[representatives[orbit[kept]]], 1, -1)
    return Orbits(orbit, sign_of, representatives)


class OrbitReduction(Reduction):
    """A reduction by orbits: one variable per orbit, which all its members equal up to sign.

    It describes only a fixed subspace, the states that are lifts: `asymmetry` says how far another state is from it.
    """

    orbits: Orbits
    starts = "that its symmetries leave alone"

    @property
    def lifted(self) -> Mapping[str, Node] | None:
        """Every state of the source is plus or minus a variable, or zero."""
        variables = [sym(name) for name in self.system.names]
        places = zip(self.source.names, self.orbits.orbit, self.orbits.sign, strict=True)
        return {name: variables[orbit] * int(sign) for name, orbit, sign in places}

    def _lift(self, values: np.ndarray) -> np.ndarray:
        return self.orbits.lift(values)

    def _project(self, values: np.ndarray) -> np.ndarray:  # signed means over the orbits, exact for symmetric states
        gap = self.asymmetry(values)
        if gap > ROUNDING * float(np.abs(values).max(initial=0)):
            text = (
                f"this state is not symmetric (it is off by {gap:.3g}), so the quotient does not describe its path and "
                f"these are means over orbits; use the full flow, or quotient(state=...). Means that are wanted are "
                f"orbits.project(x)"
            )
            warnings.warn(text, AsymmetryWarning, stacklevel=3)
        return self.orbits.project(values)

    def asymmetry(self, x: Any) -> float:
        """Largest distance of a full state from the symmetric states."""
        return float(np.abs(np.asarray(x) - self.orbits.lift(self.orbits.project(x))).max(initial=0))


@dataclass(frozen=True, eq=False, repr=False)
class Quotient(OrbitReduction):
    """A flow on the subspace that symmetries leave alone: its system on orbit variables, the orbits, and the flow.

    A start off this subspace is not described; `initial_state` refuses it.

    Parameters
    ----------
    flow : Flow
        What was reduced.
    generators : tuple[Any, ...]
        Of the group.
    orbits : Orbits
        Which state belongs to which variable, with its sign.
    system : System
        On orbit variables.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> half = Fraction(1, 2)
    >>> pair = Distribution([Sample(["good", "the"], +1, half), Sample(["bad", "the"], -1, half)])
    >>> quotient = gradient_flow(AttentionModel(Dictionary(["good", "bad", "the"])), pair).quotient()
    >>> quotient.flow.system.dimension, quotient.system.dimension, quotient.variable("w_bad")
    (24, 14, ('w_good', -1))
    >>> z = quotient.initial_state(omega=0.5)
    >>> np.array_equal(quotient.project(quotient.lift(z)), z)
    True
    """

    flow: Flow
    generators: tuple[Any, ...]
    orbits: Orbits
    system: System

    @property
    def source(self) -> System:  # type: ignore[override]
        """The system of the flow."""
        return self.flow.system

    def initial_state(self, omega: Any = None, **more: Any) -> np.ndarray:
        """Start values of the orbit variables; refuses a start that is not symmetric.

        Parameters
        ----------
        omega : Any, optional
            Scale of the maps at the start.
        **more : Any
            As in `Flow.initial_state`.

        Returns
        -------
        np.ndarray
            One number per orbit variable.
        """
        full = self.flow.initial_state(omega, **more)
        if self.asymmetry(full) > 1e-12 * max(1e-300, float(np.abs(full).max())):
            raise SymmetryError("this start is not symmetric, so the quotient does not describe it; use the full flow")
        return self.project(full)

    def variable(self, state: str) -> tuple[str, int]:
        """Orbit variable of a full state, and its sign (0 if it vanishes).

        Parameters
        ----------
        state : str
            Name of a state of the full flow.

        Returns
        -------
        tuple[str, int]
            Its name, and +1, -1 or 0.
        """
        s = self.flow.layout.numbers[state]
        return self.system.names[int(self.orbits.orbit[s])], int(self.orbits.sign[s])

    def rename(self, names: dict[str, str], tex: dict[str, str] | None = None) -> Quotient:
        """The same quotient with orbit variables renamed.

        Parameters
        ----------
        names : dict[str, str]
            New names by old ones.
        tex : dict[str, str], optional
            How they are typeset.

        Returns
        -------
        Quotient
            The same quotient.
        """
        return replace(self, system=renamed(self.system, names, tex))

    def slaved(self, state: Any = None) -> Slaved:
        """The quotient with self-scores eliminated; a `state` to start from must satisfy (J S)^2 = omega^4 I.

        Parameters
        ----------
        state : Any, optional
            A start; by default that of infinite width.

        Returns
        -------
        Slaved
            The quotient without self-scores.
        """
        from .slaving import slave_quotient

        return slave_quotient(self, state)


def quotient(flow: Flow, generators: Sequence[Any] | None = None, state: Any = None) -> Quotient:
    """Merge each orbit of states into one variable.

    `generators` chooses a subgroup (each is checked exactly against the data); by default the group found is used,
    restricted to what fixes `state` if one is given.
    """
    if generators is None:
        chosen = flow.symmetries(state).generators
    else:
        chosen, check = tuple(generators), LossCheck(flow)
        for element in chosen:
            if not isinstance(element, ProgramSymmetry):
                raise SymmetryError(
                    f"{element!r} is not a symmetry; flow.symmetries().generators shows what they look like"
                )
            if not is_program_symmetry(flow, element, check):
                raise SymmetryError(
                    f"{element.describe(flow)} does not map the weighted samples and heads to themselves; "
                    f"flow.symmetries() lists what does",
                    witness=element,
                )
    orbits = signed_orbits(len(flow.layout.names), [g.on_states(flow) for g in chosen])
    return Quotient(flow, chosen, orbits, merged(flow.system, orbits))


def merged(system: System, orbits: Orbits) -> System:
    """A system of matrices on orbit variables: every matrix is filled from them, each keeps one right-hand side."""
    if not len(orbits.representatives):
        raise SymmetryError(
            "every state is mapped to minus itself, so the symmetric flow stands still at zero; "
            "quotient(state=...) keeps only the symmetries that fix a start"
        )
    field = system.field
    assert isinstance(field, BlockField)
    layout = field.layout
    names = tuple(layout.names[s] for s in orbits.representatives)
    segments = tuple(Segment(s.leaf, orbits.orbit[s.index], orbits.sign[s.index]) for s in layout.segments)
    reduced = Layout(names, tuple(layout.places[s] for s in orbits.representatives), segments)
    tex = {name: system.tex[name] for name in names}
    structure = merged_states(system.names, system.structure, orbits)
    return replace(system, names=names, field=replace(field, layout=reduced), tex=tex, structure=structure)


def merged_states(names: Sequence[str], structure: Mapping[str, State], orbits: Orbits) -> dict[str, State]:
    """What each representative stands for, with all members of its orbit; an orbit of orbits has all their members."""
    members: list[list[str]] = [[] for _ in orbits.representatives]
    for name, orbit, sign in zip(names, orbits.orbit, orbits.sign, strict=True):
        if sign:
            own = structure.get(name, State()).orbit or (name,)
            members[orbit] += own if sign > 0 else (m.removeprefix("-") if m[0] == "-" else f"-{m}" for m in own)
    firsts = [names[s] for s in orbits.representatives]
    known = [structure.get(name, State()) for name in firsts]
    return {n: replace(k, orbit=tuple(m)) for n, k, m in zip(firsts, known, members, strict=True)}


def renamed(system: System, names: Mapping[str, str], tex: Mapping[str, str] | None = None) -> System:
    """The same system of matrices with states renamed."""
    field, unknown = system.field, sorted(set(names) - set(system.names))
    if unknown:
        raise EquationError(f"{unknown[0]} can not be renamed: there are {', '.join(system.names[:12])}")
    assert isinstance(field, BlockField)
    new = tuple(names.get(name, name) for name in system.names)
    layout = replace(field.layout, names=new)
    return replace(
        system,
        names=new,
        field=replace(field, layout=layout),
        tex={**{names.get(name, name): text for name, text in system.tex.items()}, **(tex or {})},
        structure={names.get(name, name): state for name, state in system.structure.items()},
    )
