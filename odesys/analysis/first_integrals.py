r"""First integrals: quantities that a system conserves, found by linear algebra modulo primes and then proved.

.. math::  I = \sum_m c_m(p)\, m + \sum_k \lambda_k(p) \log f_k + \sum_k \mu_k(p)\, g_k / f_k,
           \qquad \nabla I \cdot F = 0,

over the monomials m up to a degree in the states and in atoms (1/r, cos x, exp x), and the invariant curves
:math:`f_k = 0` of the flow (`odesys.analysis.darboux`). The change of each term is evaluated modulo primes at random
points; what annihilates them is lifted to the rational numbers and proved. `Integrals.ansatz` says for which terms the
answer is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..exact.rewriting import has_floats
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from ..expr.system import TIME, System
from ..shortening import shortened
from .darboux import Curves, integrating_factor, invariant_curves
from .integral_search import LARGEST_SEARCH, FirstIntegral, Search, monomials

QUICK_SEARCH = 1500  # monomials; with more a search by default takes the degree below
MOST_ATOMS = 8
_ANALYTIC = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid")  # everywhere, but for poles


@dataclass(frozen=True, eq=False)
class Integrals(Sequence[FirstIntegral]):
    """The conserved quantities found, what they were looked for among, and whether these are all of that kind.

    >>> from odesys import System, sym
    >>> found = System.from_equations({"x": sym("y"), "y": -sym("x")}).first_integrals()
    >>> len(found), found.complete, found.ansatz
    (1, True, 'polynomials of degree at most 2 in x, y')
    """

    found: tuple[FirstIntegral, ...]
    ansatz: str
    complete: bool
    degree: int = 0  # of the monomials searched
    independent: int = 0  # of those found, as functions
    factor: Node | None = None  # an integrating factor of a planar flow, looked for where no integral was found

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return shortened(
            f"<Integrals: {len(self)}, {'complete' if self.complete else 'not complete'} for {self.ansatz}>"
        )

    def _repr_html_(self) -> str:
        from ..report.cards import integrals_card

        return integrals_card(self)


def first_integrals(system: System, degree: int = 2, atoms: Sequence[Any] | None = None, seed: int = 0) -> Integrals:
    """Conserved quantities with coefficients that may depend on the parameters, over states, atoms and logarithms.

    Parameters
    ----------
    system : a flow or a map without floats.
    degree : of the monomials in states and atoms; a lower one where these are more than QUICK_SEARCH.
    atoms : functions of the states that count as variables; by default those in the equations, and the logarithms of
        invariant curves. Give () for polynomials in the states alone.
    seed : of the random points; a bad draw can only cost candidates, never let a wrong one pass.

    >>> from odesys import System, sym
    >>> x, y = sym("x"), sym("y")
    >>> prey = System.from_equations({"x": x - x * y, "y": x * y - y})
    >>> first_integrals(prey)[0].node
    Node(x + y - log(x) - log(y))
    """
    _check(system, degree)
    curves = invariant_curves(system) if atoms is None else Curves()
    chosen = natural_atoms(system) if atoms is None else [graph.as_node(a) for a in atoms]
    others = [a for a in chosen if a.op != "log"]
    logs = list(dict.fromkeys([*(a for a in chosen if a.op == "log"), *(graph.call("log", f) for f in curves.curves)]))
    singles = [*logs, *(g for g in curves.exponents if g not in others)]
    variables = [*(graph.sym(name) for name in system.names), *others]
    columns = monomials(range(len(variables)), degree)
    if len(columns) > QUICK_SEARCH and degree > 1:
        return first_integrals(system, degree - 1, atoms, seed)
    parts = [f"polynomials of degree at most {degree} in {_listed(variables)}"]
    columns += [(len(variables) + k,) for k in range(len(singles))]
    found: list[FirstIntegral] = []
    complete, independent = True, 0
    if not _conserves_nothing(system, variables, seed):
        search = Search(system, [*variables, *singles], seed)
        found, complete = search.over(columns)
        found += search.new_ones(curves.rational, found)
        found, independent = search.without_copies(found)
    if singles:
        parts.append(f"plus multiples of {_listed(singles)}")
    if curves.degree:
        parts.append(f"where every invariant curve of degree at most {curves.degree} over the rational numbers is used")
    if system.parameters:
        parts.append(f"with coefficients in {', '.join(system.parameters)}")
    if others:
        parts.append("different functions taken as independent")
    factor = integrating_factor(system, curves) if not found and system.dimension == 2 else None
    return Integrals(tuple(found), ", ".join(parts), complete, degree, independent, factor)


def _conserves_nothing(system: System, variables: Sequence[Node], seed: int) -> bool:
    """Whether the flow of one state, with a rate that is analytic but for poles, is not at rest everywhere.

    I' F = 0 then has one factor that is zero wherever it is defined, for no other product of such functions is: so I is
    a constant. Without this, functions of multiples of an angle have many relations, each of which is a candidate.
    """
    if system.kind != "flow" or system.dimension > 1 or TIME in graph.symbols(system.nodes):
        return False
    for node in graph.topological([*system.nodes, *variables]):
        if node.op == "mul" and any(e.denominator > 1 for _, e in node.args):
            return False
        if node.op in FUNCTIONS and node.op not in _ANALYTIC:
            return False
    return zero_test(system.nodes[0], seed=seed).answer == "nonzero"


def polynomial_integrals(system: System, degree: int = 2, parameters: bool = False, seed: int = 0) -> Integrals:
    """Polynomial conserved quantities up to `degree`, modulo polynomials in those of lower degree; constants excluded.

    Parameters
    ----------
    system : a flow or a map without floats.
    degree : of the polynomial in the states; with `parameters`, in states and parameters together.
    parameters : let coefficients be polynomials in the parameters; otherwise they are numbers, and what is found holds
        for all values of the parameters.
    seed : of the random points; a bad draw can only cost candidates, never let a wrong one pass.
    """
    _check(system, degree)
    names = system.names + (system.parameters if parameters else ())
    columns = [m for m in monomials(range(len(names)), degree) if m[0] < system.dimension]
    if len(columns) > LARGEST_SEARCH:
        raise EquationError(
            f"degree {degree} in {len(names)} variables has {len(columns)} monomials, more than {LARGEST_SEARCH}; "
            f"lower the degree, or search the quotient by the symmetries"
        )
    search = Search(system, [graph.sym(name) for name in system.names], seed)
    found, complete = search.with_numbers(columns, degree, len(names) - system.dimension)
    return Integrals(tuple(found), f"polynomials of degree at most {degree} in {', '.join(names[:12])}", complete)


def _check(system: System, degree: int) -> None:
    if degree < 1:
        raise EquationError(f"the degree of a conserved polynomial is at least 1, not {degree}")
    if has_floats(system.nodes):
        raise EquationError("the equations contain floats, so nothing can be proved about them; use exact fractions")


def _listed(nodes: Sequence[Node]) -> str:
    names = [repr(node).removeprefix("Node(").removesuffix(")") for node in nodes[:12]]
    return ", ".join(names) + (", ..." if len(nodes) > 12 else "")


# ---- what may occur ------------------------------------------------------------------------------------------------


def natural_atoms(system: System) -> list[Node]:
    """Functions, roots and reciprocals in the equations of a flow."""
    if system.kind == "map":
        return []
    states, found = set(system.names), dict[Node, None]()
    for node in graph.topological(system.nodes):
        if not graph.symbols([node]) & states:
            continue
        if node.op in FUNCTIONS and node.op != "step":
            pair = {"sin": "cos", "cos": "sin"}.get(node.op)
            found |= dict.fromkeys([node] if pair is None else [node, graph.call(pair, node.args[0])])
        for base, exponent in node.args if node.op == "mul" else ():
            if graph.symbols([base]) & states and (exponent < 0 or exponent.denominator > 1):
                step = Fraction(1 if exponent > 0 else -1, exponent.denominator)
                if base.op not in FUNCTIONS:
                    found[graph.power(base, step)] = None
    return list(found)[:MOST_ATOMS]
