r"""A subspace of a quotient: some orbit variables are put to zero, some tied to others, the rest keeps its equations.

.. math::  x = (z,\ 0,\ \tau(z)), \qquad \dot z = F_z(z, 0, \tau(z)), \qquad
           \text{residuals: } F_0(z, 0, \tau(z)),\quad F_\tau(z,0,\tau(z)) - F_{\text{partner}}(z,0,\tau(z)) .

The subspace is invariant where the residuals vanish; where they do not, they say what was dropped. Zeros are put into
the matrices before anything is multiplied out, so a large flow on a small subspace stays small.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import EquationError
from ..expr import graph
from ..expr.field import BlockField, Layout, ScalarField, Segment
from ..expr.graph import Node
from ..expr.system import System
from .quotient import OrbitReduction, Orbits, Quotient, merged_states


@dataclass(frozen=True, eq=False, repr=False)
class InvariantSubspace(OrbitReduction):
    """A system on a subspace, and the rate at which each variable that was put to zero or tied leaves it.

    Only starts in the subspace are described, and those only where every residual vanishes: `law` says whether.

    Parameters
    ----------
    system : System
        On the variables that are left.
    residuals : Mapping[str, Node]
        How fast each tied variable leaves the subspace.
    source : System
        The larger system.
    orbits : Orbits
        How its states sit in the smaller one.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> data = Distribution.proportional([Sample(["a", "b"], +1), Sample(["-a", "b"], -1)])
    >>> quotient = gradient_flow(AttentionModel(Dictionary(["a", "b"])), data).quotient()
    >>> restrict_to_subspace(quotient, tie={"QQ_a_a": "KK_a_a", "QQ_b_b": "KK_b_b"}).law().as_stated
    'holds'
    """

    system: System
    residuals: Mapping[str, Node]
    source: System
    orbits: Orbits
    starts = "in this subspace"

    @property
    def exact(self) -> bool:
        """True if every residual is the expression zero."""
        return all(node is graph.ZERO for node in self.residuals.values())


def restrict_to_subspace(
    reduced: Quotient, zero: Collection[str] = (), tie: Mapping[str, str] | None = None
) -> InvariantSubspace:
    """Put the orbit variables in `zero` to zero and those in `tie` equal to their partners.

    Parameters
    ----------
    reduced : Quotient
        A quotient.
    zero : Collection[str], optional
        Variables put to zero.
    tie : Mapping[str, str], optional
        Variables put equal to others (a minus sign in front for the negative).

    Returns
    -------
    InvariantSubspace
        The smaller system with its residuals; `law` says whether they vanish.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> swap = dict(w_b="w_a", KQ_b_a="KQ_a_b", KQ_b_b="KQ_a_a", KK_b_b="KK_a_a", QQ_b_b="QQ_a_a")
    >>> found = restrict_to_subspace(flow.quotient([]), tie=swap)
    >>> found.system.names, found.exact
    (('w_a', 'KQ_a_a', 'KQ_a_b', 'KK_a_a', 'KK_a_b', 'QQ_a_a', 'QQ_a_b'), True)
    """
    names, ties = reduced.system.names, dict(tie or {})
    unknown = sorted({*zero, *ties, *ties.values()} - set(names))
    if unknown:
        raise EquationError(f"{unknown[0]} is not a variable of this quotient; there are {', '.join(names[:12])}")
    clash = sorted(set(zero) & {*ties, *ties.values()} | set(ties) & set(ties.values()))
    if clash:
        raise EquationError(f"{clash[0]} can be put to zero, or tied, or be what others are tied to: one of these")
    kept = [name for name in names if name not in set(zero) and name not in ties]
    if not kept:
        raise EquationError("nothing is left: every variable is put to zero or tied")
    field, place = reduced.system.field, {name: k for k, name in enumerate(kept)}
    assert isinstance(field, BlockField)
    target = np.array([place[ties.get(name, name)] if name not in set(zero) else 0 for name in names])
    alive = np.array([0 if name in set(zero) else 1 for name in names])
    segments = tuple(
        Segment(s.leaf, target[s.index], (np.ones_like(s.index) if s.sign is None else s.sign) * alive[s.index])
        for s in field.layout.segments
    )
    orbits = Orbits(target, alive, np.array([names.index(name) for name in kept]))
    layout = Layout(tuple(kept), tuple(field.layout.places[names.index(name)] for name in kept), segments)
    restricted = replace(
        reduced.system,
        names=tuple(kept),
        field=replace(field, layout=layout),
        tex={name: text for name, text in reduced.system.tex.items() if name in place},
        structure=merged_states(names, reduced.system.structure, orbits),
    )
    variables = [graph.sym(name) for name in kept]
    nodes = dict(zip(names, field.at([variables[t] * int(a) for t, a in zip(target, alive, strict=True)]), strict=True))
    observables = restricted.observables
    system = replace(restricted, field=ScalarField(tuple(nodes[name] for name in kept), observables))
    gaps = {name: nodes[name] for name in names if name in set(zero)}
    gaps |= {name: nodes[name] - nodes[partner] for name, partner in ties.items()}
    return InvariantSubspace(system, gaps, reduced.system, orbits)


__all__ = ["InvariantSubspace", "restrict_to_subspace"]
