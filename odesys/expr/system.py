"""System: named states, exact right-hand side, parameters, observables; a flow or a map.

Every transformation gives a System again, so transformations compose. The heavy lifting lives in modules of its own;
the methods here only name it.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import stated
from ..errors import EquationError
from ..shortening import shortened, some
from . import graph
from .derivatives import equation_table
from .field import BlockField, Field, ScalarField
from .graph import Node
from .letters import letter_tex, plain_name

if TYPE_CHECKING:
    import networkx as nx
    import sympy as sp

    from ..analysis.equilibria import Equilibria
    from ..analysis.first_integrals import Integrals
    from ..analysis.lumping import Lumping
    from ..jit.codegen import Compiled
    from ..reduce.state_symmetry import Symmetries

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TIME = "t"


@dataclass(frozen=True)
class State:
    """What a derived state stands for: a scalar of one path and head between two vectors, or an orbit of them.

    Parameters
    ----------
    path : str, optional
        Short name of the path, such as KQ.
    head : str, optional
        Label of the head; empty where there is only one.
    left : str, optional
        What stands at its left end: a word, a word type of a family, a neuron, an axis; empty for one vector.
    right : str, optional
        What stands at its right end.
    relation : str, optional
        Of a pair of groups in a family: same, other, or others for their sum.
    orbit : tuple[str, ...], optional
        The states of the full system that it merges, with a minus sign in front where they enter with it.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> flow.system.structure["KQ_a_b"]
    State(path='KQ', head='', left='a', right='b', relation='', orbit=())
    >>> flow.system.on_path("w")
    ('w_a', 'w_b')
    """

    path: str = ""
    head: str = ""
    left: str = ""
    right: str = ""
    relation: str = ""
    orbit: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class WrittenEquations:
    """Right-hand sides in which chosen parts have names of their own, with what the names stand for.

    It is how the system with the right-hand sides `field` is printed, and no other: what is computed takes `field`.
    Definitions may use each other; nothing has to use them.

    Parameters
    ----------
    field : Field
        The right-hand sides as they are computed.
    definitions : Mapping[str, Node]
        What the names stand for.
    equations : tuple[Node, ...]
        The right-hand sides in these names.

    Examples
    --------
    >>> x, a = graph.sym("x"), graph.sym("a")
    >>> made = System.from_equations({"x": 2 * x**2})
    >>> WrittenEquations(made.field, {"a": 2 * x}, (a * x,)).expanded() == made.nodes
    True
    """

    field: Field
    definitions: Mapping[str, Node]
    equations: tuple[Node, ...]

    def expanded(self) -> tuple[Node, ...]:
        """The right-hand sides with the definitions put in."""
        nodes = self.equations
        for _ in self.definitions:
            known = {graph.sym(name): node for name, node in self.definitions.items()}
            nodes = tuple(graph.substitute(list(nodes), known))
            if not graph.symbols(nodes) & set(self.definitions):
                break
        return nodes


@dataclass(frozen=True, eq=False, repr=False)
class System:
    r"""A dynamical system :math:`\dot x = F(x; p)` (kind ``flow``) or :math:`x^+ = F(x; p)` (kind ``map``).

    Parameters
    ----------
    names : tuple[str, ...]
        State names, in the order of state vectors.
    field : Field
        The right-hand side and the observables, as scalar nodes or as blocks.
    parameters : tuple[str, ...], optional
        Names that must be given numbers before anything is computed in floats.
    kind : str, optional
        ``flow`` or ``map``.
    tex : Mapping[str, str], optional
        How a state or parameter is typeset, by name; another letter that stands for itself, ``{"F": "F"}``, is kept
        free where parts of the equations get letters.
    structure : Mapping[str, State], optional
        What each state stands for, by name; empty for systems written by hand.
    written : WrittenEquations, optional
        The same equations with names for some of their parts, for people to read.
    meanings : Mapping[str, tuple[str, str]], optional
        What some states, parameters or other letters stand for, by name, as text and as TeX.

    Examples
    --------
    >>> x, v, k = graph.sym("x"), graph.sym("v"), graph.sym("k")
    >>> spring = System.from_equations({"x": v, "v": -k * x}, parameters=["k"])
    >>> spring.jacobian()
    Matrix([
    [ 0, 1],
    [-k, 0]])
    >>> spring.substitute({"k": 4}).first_integrals()[0].node
    Node(v**2 + 4*x**2)
    >>> spring.compile(k=4)(0.0, [1.0, 0.0])
    array([ 0., -4.])
    """

    names: tuple[str, ...]
    field: Field
    parameters: tuple[str, ...] = ()
    kind: str = "flow"
    tex: Mapping[str, str] = dataclass_field(default_factory=dict, repr=False)
    structure: Mapping[str, State] = dataclass_field(default_factory=dict, repr=False)
    written: WrittenEquations | None = dataclass_field(default=None, repr=False)
    meanings: Mapping[str, tuple[str, str]] = dataclass_field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in ("flow", "map"):
            raise EquationError(f"a system is a flow or a map, not {shortened(repr(self.kind))}")
        for name in (*self.names, *self.parameters):
            if not _NAME.fullmatch(name) or keyword.iskeyword(name):
                raise EquationError(
                    f"{name!r} can not name a state or parameter: use Latin or Greek letters, digits and underscores"
                )
            if name == TIME and self.kind == "flow":
                raise EquationError("t is time and can name neither a state nor a parameter; call it s, or tau")
        twice = [name for name, count in Counter((*self.names, *self.parameters)).items() if count > 1]
        if twice:
            raise EquationError(f"the name {twice[0]} is used twice; states and parameters have names of their own")
        other = sorted(set(self.structure) - set(self.names))
        if other:
            raise EquationError(f"the structure is that of states, and {other[0]} is not a state")

    def __repr__(self) -> str:
        given = f", parameters {some(self.parameters)}" if self.parameters else ""
        return shortened(f"<System: {self.kind} of {self.dimension} states ({some(self.names)}){given}>")

    def _repr_html_(self) -> str:
        from ..report.cards import system_card

        return system_card(self)

    def _repr_latex_(self) -> str | None:
        from ..report.cards import system_tex

        return system_tex(self)

    @classmethod
    def from_equations(
        cls,
        equations: Mapping[Any, Any] | Iterable[Any],
        parameters: Iterable[Any] = (),
        kind: str = "flow",
        observables: Mapping[str, Any] | None = None,
        tex: Mapping[str, str] | None = None,
    ) -> System:
        """A system written by hand: {state: right-hand side} in SymPy expressions, numbers or nodes.

        Equations of SymPy, ``Eq(x(t).diff(t), ...)``, in a list are as good. Kinks (Max, Min, Abs, sign, Heaviside,
        Piecewise) become switching surfaces. The symbol t is time. Greek letters get their names in ASCII.

        Parameters
        ----------
        equations : Mapping[Any, Any] | Iterable[Any]
            ``{state: right-hand side}`` in SymPy expressions, numbers or nodes; or a list of ``Eq(x(t).diff(t), ...)``.
        parameters : Iterable[Any], optional
            Names that are neither states nor time.
        kind : str, optional
            ``flow`` or ``map``.
        observables : Mapping[str, Any], optional
            Functions of the state to see along a run, by name.
        tex : Mapping[str, str], optional
            How names are typeset.

        Returns
        -------
        System
            The system.

        Examples
        --------
        >>> import sympy as sp
        >>> x, y = sp.symbols("x y")
        >>> System.from_equations({x: y, y: -x}).names
        ('x', 'y')
        """
        table = equation_table(equations)
        names = tuple(plain_name(key) for key in table)
        nodes = tuple(graph.as_node(value) for value in table.values())
        seen = {name: graph.as_node(value) for name, value in (observables or {}).items()}
        words = [*table, *(str(p) for p in parameters)]
        given = tuple(plain_name(str(p)) for p in words[len(table) :])
        tex = {**{plain_name(w): told for w in words if (told := letter_tex(w))}, **(tex or {})}
        used = graph.symbols([*nodes, *seen.values()]) - set(names) - {TIME}
        unknown = sorted(used - set(given))
        if unknown:
            raise EquationError(
                f"the equations use {unknown[0]}, which is neither a state nor a parameter; "
                f"add it to parameters=[...] or give it an equation",
                unknown=tuple(unknown),
            )
        return cls(names, ScalarField(nodes, seen), given, kind, dict(tex or {}))

    @classmethod
    def from_strings(
        cls,
        equations: Mapping[Any, str] | Iterable[str],
        parameters: Iterable[Any] | None = None,
        kind: str = "flow",
        observables: Mapping[str, str] | None = None,
    ) -> System:
        """A system from text, read by a grammar and never evaluated; other names are parameters unless listed.

        Parameters
        ----------
        equations : Mapping[Any, str] | Iterable[str]
            ``{state: text}``, or texts such as ``x' = y``.
        parameters : Iterable[Any], optional
            Names that are parameters; by default all that have no equation.
        kind : str, optional
            ``flow`` or ``map``.
        observables : Mapping[str, str], optional
            Functions of the state to see along a run, by name.

        Returns
        -------
        System
            The system.

        Examples
        --------
        >>> System.from_strings({"x": "y", "y": "-x + mu*(1-x**2)*y"}).parameters
        ('mu',)
        """
        from ..reading.strings import system_from_strings

        return system_from_strings(equations, parameters, kind, observables)

    # ---- the equations -------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Right-hand sides as graph nodes."""
        return self.field.nodes

    @property
    def observables(self) -> Mapping[str, Node]:
        """Named functions of the state, as graph nodes."""
        return self.field.observables

    @cached_property
    def equations(self) -> Mapping[str, Node]:
        """The right-hand side of each state by name, in the order of state vectors.

        >>> x = graph.sym("x")
        >>> System.from_equations({"x": 2 * x}).equations["x"] == 2 * x
        True
        """
        found = dict(zip(self.names, self.nodes, strict=True))
        if stated.recording():
            what = "rate_of" if self.kind == "flow" else "next"
            stated.note_titles({node: f"{what}_{name}" for name, node in found.items()})
        return found

    @property
    def dimension(self) -> int:
        """Number of states."""
        return len(self.names)

    @cached_property
    def states(self) -> tuple[sp.Symbol, ...]:
        """The states as SymPy symbols."""
        import sympy as sp

        return tuple(sp.Symbol(name, real=True) for name in self.names)

    @cached_property
    def rhs(self) -> tuple[sp.Expr, ...]:
        """The right-hand sides as SymPy expressions."""
        from .sympy_bridge import to_sympy_many

        return tuple(to_sympy_many(self.nodes))

    @cached_property
    def surfaces(self) -> tuple[Node, ...]:
        """Switching surfaces: the arguments of all gates, each once."""
        return tuple(graph.surfaces(self.nodes))

    @cached_property
    def moving_surfaces(self) -> tuple[bool, ...]:
        """Which of the surfaces can change: those in which the time or a state that moves occurs."""
        moving = {*self.moving, TIME}
        return tuple(not graph.symbols([node]).isdisjoint(moving) for node in self.surfaces)

    @cached_property
    def nested_surfaces(self) -> bool:
        """True if a surface contains other gates."""
        return any(node.op == "step" for node in graph.topological(self.surfaces))

    def on_path(self, *paths: str) -> tuple[str, ...]:
        """The states that belong to one of `paths`, such as the scores KQ; a system written by hand has none.

        Parameters
        ----------
        *paths : str
            Short names such as ``KQ``.

        Returns
        -------
        tuple[str, ...]
            Their names.
        """
        return tuple(name for name in self.names if name in self.structure and self.structure[name].path in paths)

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """The states that change: right-hand side not zero (for a map: not the state itself)."""
        still = [graph.ZERO if self.kind == "flow" else graph.sym(name) for name in self.names]
        return tuple(n for n, node, rest in zip(self.names, self.nodes, still, strict=True) if node is not rest)

    # ---- transformations -----------------------------------------------------------------------------------------

    def with_observables(self, observables: Mapping[str, Any]) -> System:
        """The same system with observables added (nodes, names of states, or SymPy expressions).

        Parameters
        ----------
        observables : Mapping[str, Any]
            Nodes, names of states, or SymPy expressions, by name.

        Returns
        -------
        System
            The same system, which shows more.
        """
        extra = {name: graph.as_node(value) for name, value in observables.items()}
        unknown = sorted(graph.symbols(extra.values()) - {*self.names, *self.parameters, TIME})
        if unknown:
            raise EquationError(f"an observable uses {unknown[0]}, which is neither a state nor a parameter")
        return replace(self, field=ScalarField(self.nodes, {**self.observables, **extra}))

    def substitute(self, values: Mapping[Any, Any]) -> System:
        """Parameters, by name or symbol, replaced by numbers or expressions in the remaining names.

        Parameters
        ----------
        values : Mapping[Any, Any]
            By name or symbol, numbers or expressions in the remaining names.

        Returns
        -------
        System
            With fewer parameters, or others.
        """
        values = {plain_name(str(name)): value for name, value in values.items()}
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise EquationError(f"{unknown[0]} is not a parameter; the parameters are {known}")
        mapping = {graph.sym(name): graph.as_node(value) for name, value in values.items()}
        roots = [*self.nodes, *self.observables.values()]
        try:
            new = graph.substitute(roots, mapping)
        except ZeroDivisionError:
            raise EquationError(f"with {dict(values)} the equations divide by zero") from None
        observables = dict(zip(self.observables, new[self.dimension :], strict=True))
        left = graph.symbols(new) - set(self.names) - {TIME}
        parameters = tuple(p for p in self.parameters if p not in values) + tuple(sorted(left - set(self.parameters)))
        return replace(self, field=ScalarField(tuple(new[: self.dimension]), observables), parameters=parameters)

    def freeze_still(self) -> System:
        """States that never move become parameters.

        Returns
        -------
        System
            With fewer states and more parameters.
        """
        keep = self.moving
        nodes = tuple(node for name, node in self.equations.items() if name in set(keep))
        still = tuple(name for name in self.names if name not in set(keep))
        structure = {name: state for name, state in self.structure.items() if name in set(keep)}
        field = ScalarField(nodes, self.observables)
        return replace(self, names=keep, field=field, parameters=self.parameters + still, structure=structure)

    # ---- analysis, each in a module of its own -------------------------------------------------------------------

    def jacobian(self) -> sp.Matrix:
        """Jacobian matrix as SymPy expressions, gates taken as constants.

        Returns
        -------
        sp.Matrix
            Square, in the order of the states.
        """
        import sympy as sp

        from .sympy_bridge import to_sympy

        rows = graph.jacobian(self.nodes, [graph.sym(name) for name in self.names])
        entries = {(i, j): to_sympy(node) for i, row in enumerate(rows) for j, node in row.items()}
        return sp.Matrix(sp.SparseMatrix(self.dimension, self.dimension, entries))

    def compile(self, parameters: Mapping[str, float] | None = None, backend: str = "auto", **more: float) -> Compiled:
        """Fast callable f(t, x) with parameters bound; see `odesys.jit.codegen`.

        Parameters
        ----------
        parameters : Mapping[str, float], optional
            Values by name.
        backend : str, optional
            ``auto``, or ``native``, ``scalar``, ``block``.
        **more : float
            Values of parameters by keyword.

        Returns
        -------
        Compiled
            A function (t, x) that gives the right-hand side; `observables`, `jacobian` beside it.
        """
        from ..jit.codegen import compile_system

        return compile_system(self, {**(parameters or {}), **more}, backend)

    def dependency_graph(self) -> nx.DiGraph:
        """Who drives whom, as a directed graph on state names.

        Returns
        -------
        nx.DiGraph
            An edge from each state to those whose equations read it.
        """
        from ..analysis.dependency import dependency_graph

        return dependency_graph(self)

    def first_integrals(self, degree: int = 2, atoms: Sequence[Any] | None = None, seed: int = 0) -> Integrals:
        """Conserved quantities, proved, and for which ansatz they are all; see `odesys.analysis.first_integrals`.

        Parameters
        ----------
        degree : int, optional
            Highest degree of the monomials.
        atoms : Sequence[Any], optional
            Further functions of the state to build monomials with, such as ``cos(x)``.
        seed : int, optional
            Of the random points.

        Returns
        -------
        Integrals
            The quantities found, and whether these are all of their kind.
        """
        from ..analysis.first_integrals import first_integrals

        return first_integrals(self, degree, atoms, seed)

    def symmetries(self) -> Symmetries:
        """Signed permutations of states that commute with the system, by proved generators, and what was searched.

        Returns
        -------
        Symmetries
            Generators as a sequence, with ``order``, ``complete`` and ``searched``.
        """
        from ..reduce.state_symmetry import search_symmetries

        return search_symmetries(self)

    def quotient(self, generators: Sequence[Any] | None = None) -> Any:
        """One variable per orbit under `generators` (checked exactly), by default under the symmetries found.

        A generator is a mapping such as ``{"x": "-y", "y": "x"}`` or an element of `symmetries()`.

        Parameters
        ----------
        generators : Sequence[Any], optional
            Each a mapping such as ``{"x": "-y", "y": "x"}`` or an element of `symmetries()`.

        Returns
        -------
        SystemQuotient
            The smaller system with `lift` and `project`.
        """
        from ..reduce.state_symmetry import StateSymmetry, system_quotient

        chosen = self.symmetries() if generators is None else generators
        elements = [g if isinstance(g, StateSymmetry) else StateSymmetry.from_mapping(self, g) for g in chosen]
        return system_quotient(self, elements)

    def lump(self, keep: Any, seed: int = 0) -> Lumping:
        """The fewest linear combinations of states that contain `keep` and move by themselves; see `lump`.

        Parameters
        ----------
        keep : Any
            What the smaller system must contain.
        seed : int, optional
            Of random points in the search.

        Returns
        -------
        Lumping
            The smaller system and the combinations.
        """
        from ..analysis.lumping import lump

        return lump(self, keep, seed)

    def equilibria(
        self,
        parameters: Mapping[str, Any] | None = None,
        box: Mapping[str, tuple[Any, Any]] | None = None,
        seed: int = 0,
    ) -> Equilibria:
        """All real points where nothing moves, families of them, and what is undecided; see `analysis.equilibria`.

        Parameters
        ----------
        parameters : Mapping[str, Any], optional
            Values; a polynomial system may keep symbols.
        box : Mapping[str, tuple[Any, Any]], optional
            Where to search, by state; by default everywhere, where that can be complete.
        seed : int, optional
            Of the random choices.

        Returns
        -------
        Equilibria
            Points, families and what is left open, in a stated box.
        """
        from ..analysis.equilibria import equilibria

        return equilibria(self, parameters, box, seed)

    def latex(self, **options: Any) -> str:
        r"""The equations as TeX for math mode, so that ``Math(system.latex())`` shows them in a notebook.

        With ``environment="align"`` they are a fragment of a paper with numbered equations, with ``document=True`` a
        whole article; other options as in `odesys.tex.latex.system_latex`.

        Parameters
        ----------
        **options : Any
            ``environment``, ``document``, ``names``.

        Returns
        -------
        str
            The TeX.

        Examples
        --------
        >>> x = graph.sym("x")
        >>> print(System.from_equations({"x": -x}).latex())
        \begin{aligned}
        \dot{x} &= -x
        \end{aligned}
        """
        from ..tex.latex import system_latex

        return system_latex(self, **{"environment": "aligned", **options})

    def to_json(self) -> str:
        """Lossless JSON text.

        Returns
        -------
        str
            JSON that `from_json` reads.
        """
        from ..jit.serialise import system_to_json

        return system_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> System:
        """The system written by `to_json`.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        System
            The same system.
        """
        from ..jit.serialise import system_from_json

        return system_from_json(text)


def state_vector(system: System, values: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    """A state vector in the order of `system.names` from a mapping or a sequence, checked for length and names."""
    if isinstance(values, Mapping):
        named = {str(key): value for key, value in values.items()}
        missing = [name for name in system.names if name not in named]
        unknown = [name for name in named if name not in system.names]
        if missing or unknown:
            what = f"{missing[0]} has no value" if missing else f"{unknown[0]} is not a state"
            raise EquationError(f"the state is not complete: {what}; the states are {', '.join(system.names[:12])}")
        return [named[name] for name in system.names]
    items = list(values)
    if len(items) != system.dimension:
        raise EquationError(f"the state has {len(items)} entries but the system has {system.dimension} states")
    return items


__all__ = ["BlockField", "ScalarField", "State", "System", "state_vector"]
