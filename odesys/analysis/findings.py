r"""What can be said about a system, line by line: each with its evidence, and what was searched.

`analyse` asks every analysis of this room once and writes down what it answers: conserved quantities, symmetries,
scalings, invariant planes, positivity, equilibria with their stability. What is not decided is said with the call that
would search further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ..errors import EquationError, OdesysError, ParameterError
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.graph import Node, sym
from ..expr.letters import plain_name
from ..expr.sympy_bridge import to_sympy
from ..expr.system import TIME, System
from ..shortening import some
from ..terminal import Progress, silent
from .dependency import strong_components
from .equilibria import Equilibria, asked_box
from .finding import SECTIONS, Finding, heading
from .invariant_sets import invariant_set_lines
from .lie_symmetry import LARGEST, linear_symmetries, scalings
from .rest_lines import rest_lines
from .rest_words import rest_words
from .stability import Classification
from .undefined import where_undefined

MOST_SQUARE = 8  # states up to which conserved quantities of degree 2 are searched; above it linear ones
DEGREES = {1: 4, 2: 4, 3: 3, 4: 3}  # of conserved quantities, for fewer states
MOST_LINEAR = 300
MOST_STATES = 2000  # that are analysed at all
MOST_MOVED = 300  # states up to which signed permutations are searched
MOST_WRITTEN = 20  # symbols and numbers of a formula that is shown in a sentence
MOST_LUMPED = 12  # states up to which a lumped system is searched for each of them


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """A system with all that was found about it.

    Parameters
    ----------
    system : System
        What was analysed.
    values : Mapping[str, Any], optional
        Parameters with numbers.
    start : Mapping[str, Any], optional
        Where a run starts.
    findings : tuple[Finding, ...], optional
        The lines, in the order of `SECTIONS`.
    rests : Equilibria, optional
        The equilibria, None where they were not searched.
    types : tuple[Classification, ...], optional
        What each isolated equilibrium is, in their order.
    counts : Mapping[str, int], optional
        How many conserved quantities and symmetries there are.
    notes : tuple[str, ...], optional
        What was left out of a file.
    integrals : tuple[Node, ...], optional
        The conserved quantities.
    t_end : float, optional
        The end of its run, also on its page.

    Examples
    --------
    >>> from odesys import System, analyse
    >>> found = analyse(System.from_strings({"x": "y", "y": "-x"}))
    >>> print(found.sentence)
    2 states: 1 conserved quantity up to degree 4, 4 signed permutations, 1 equilibrium (1 stable). ...
    """

    system: System
    values: Mapping[str, Any] = field(default_factory=dict)
    start: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    rests: Equilibria | None = None
    types: tuple[Classification, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    integrals: tuple[Node, ...] = ()
    t_end: float = 10.0

    @property
    def open_questions(self) -> tuple[Finding, ...]:
        """What is not decided."""
        return tuple(line for line in self.findings if line.evidence == "undecided")

    @property
    def sentence(self) -> str:
        """All of it in two sentences."""
        n = self.system.dimension
        parts = [self._conserved_words()]
        if "symmetries" in self.counts:
            order = self.counts["symmetries"]
            parts.append(f"{order} signed permutations" if order > 1 else "no symmetry by signed permutations")
        if self.rests is not None:
            parts += self._rest_words(self.rests)
        left = len(self.open_questions)
        outside = self.rests is not None and bool(self.rests.where)
        rest = f"{rest_words(self.system).many.capitalize()} outside were not searched. " if outside else ""
        nothing = "Nothing else is left open." if outside else "Nothing is left open."
        rest += f"{_count(left, 'question is', 'questions are')} left open." if left else nothing
        return f"{_count(n, 'state', 'states')}: {', '.join(parts)}. {rest}"

    def _rest_words(self, rests: Equilibria) -> Iterator[str]:
        """How many equilibria there are, where, and how many of them are stable."""
        words = rest_words(self.system)
        inside = f" with {rests.where}" if rests.where else ""
        if len(rests) or rests.complete:
            stable = sum(t.stability in ("stable", "asymptotically stable") for t in self.types)
            shown = "shown to be stable" if any(t.stability == "undecided" for t in self.types) else "stable"
            said = f" ({stable} {shown})" if len(rests) else ""
            if not all(e.enclosure for e in rests):  # how many there are, and which are stable, is up to parameters
                said = " in symbols, where their conditions hold" if any(e.condition for e in rests) else " in symbols"
            least, alone = "" if rests.complete else "at least ", "isolated " if rests.families else ""
            yield f"{least}{words.count(len(rests), alone)}{inside}{said}"
        else:
            yield f"no isolated {words.one} found{inside}"
        if rests.families:
            yield _count(len(rests.families), f"family of {words.many}", f"families of {words.many}")

    def _conserved_words(self) -> str:
        """How many conserved quantities there are, with the degree up to which they were searched."""
        if "conserved" not in self.counts:
            return "conserved quantities not searched"
        number, independent = self.counts["conserved"], self.counts["independent"]
        words = _count(number, "conserved quantity", "conserved quantities") if number else "no conserved quantity"
        also = f", {independent} of them independent," if independent < number else ""
        return f"{words}{also} up to degree {self.counts['degree']}"

    def _repr_html_(self) -> str:
        from ..report.cards import analysis_card

        return analysis_card(self)

    def __repr__(self) -> str:
        return f"<Analysis: {self.sentence}>"

    def as_json(self) -> dict[str, Any]:
        """Everything by name, for other programs."""
        return {
            "kind": self.system.kind,
            "states": list(self.system.names),
            "equations": {name: str(rhs) for name, rhs in zip(self.system.names, self.system.rhs, strict=True)},
            "parameters": {name: str(self.values.get(name, "")) for name in self.system.parameters},
            "start": {name: str(value) for name, value in self.start.items()},
            "sentence": self.sentence,
            "findings": [line.as_json() for line in self.findings],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self.sentence]
        for section in SECTIONS:
            mine = [line for line in self.findings if line.section == section]
            lines += ["", heading(section, self.system.kind).upper()] if mine else []
            for line in mine:
                lines.append(f"  [{line.evidence}] {line.text}")
                lines += [f"      {said}" for said in (line.searched, line.further) if said]
        return "\n".join([*lines, *(["", "LEFT OUT"] if self.notes else []), *(f"  {note}" for note in self.notes)])


def analyse(
    system: System,
    values: Mapping[str, Any] | None = None,
    start: Mapping[str, Any] | None = None,
    box: Mapping[str, tuple[Any, Any]] | None = None,
    notes: tuple[str, ...] = (),
    seed: int = 0,
    progress: Progress = silent,
) -> Analysis:
    """Ask every analysis about a system; parameters without a number in `values` stay symbols.

    Structure is found for all values of the parameters, equilibria for those given.

    Parameters
    ----------
    system : System
        A flow or a map.
    values : Mapping[str, Any], optional
        Numbers of parameters by name, exact where they are (Fraction, int).
    start : Mapping[str, Any], optional
        Where a run starts, for the page.
    box : Mapping[str, tuple[Any, Any]], optional
        Where equilibria are searched, by state; by default everywhere, or a box from the size of the equations.
    notes : tuple[str, ...], optional
        What was left out of a file.
    seed : int, optional
        Of random points in searches.
    progress : Progress, optional
        Is told what is searched.

    Returns
    -------
    Analysis
        The lines with their evidence, the equilibria, and what is left open.

    Examples
    --------
    >>> from odesys import System, analyse
    >>> print(analyse(System.from_strings({"x": "x - x**3"})).sentence)
    1 state: no conserved quantity up to degree 4, 2 signed permutations, 3 equilibria (2 stable). Nothing is left open.
    """
    if system.dimension > MOST_STATES:
        raise EquationError(
            f"the system has {system.dimension:,} states, and at most {MOST_STATES:,} are analysed; give a part of it"
        )
    counts: dict[str, int] = {}
    integrals: list[Node] = []
    values = _by_name(values, system.parameters, "a parameter")
    start = _by_name(start, system.names, "a state")
    asked = asked_box(system, box) if box else None
    try:
        progress("structure", 0.0)
        lines = [*_structure(system)]
        progress("conserved quantities", 0.1)
        lines += _conserved(system, counts, seed, integrals)
        progress("symmetries", 0.3)
        lines += _symmetries(system, counts, seed)
        progress("invariant sets", 0.5)
        lines += invariant_set_lines(system, values)
        progress(rest_words(system).many, 0.6)
        rests, types, more = rest_lines(system, values, asked, seed, integrals)
    except ZeroDivisionError as problem:
        raise EquationError(where_undefined(system) or f"the equations can not be analysed: {problem}") from problem
    return Analysis(system, values, start, (*lines, *more), rests, types, counts, notes, tuple(integrals))


def _by_name(given: Mapping[Any, Any] | None, known: Sequence[str], what: str) -> dict[str, Any]:
    """Numbers by the names that the system uses: keys may be symbols, and words such as lambda."""
    found = {plain_name(str(name)): value for name, value in (given or {}).items()}
    for name in found:
        if name not in known:
            raise ParameterError(f"{name} is not {what} of the system; it has {some(known, 12)}", parameter=name)
    return found


def _structure(system: System) -> Iterator[Finding]:
    parts = strong_components(system)
    if len(parts) > 1:
        chain = " -> ".join("{" + ", ".join(part) + "}" for part in parts[:6]) + (" -> ..." if len(parts) > 6 else "")
        yield Finding(
            "structure", f"The states form {len(parts)} blocks, each driven by earlier ones only: {chain}", "proof"
        )
    still = [name for name in system.names if name not in system.moving]
    if still:
        yield Finding("structure", f"These states never move: {', '.join(still[:12])}", "proof")
    if TIME in graph.symbols(system.nodes):
        yield Finding("structure", "The equations depend on time t", "proof")
    if system.surfaces:
        short = [f"{to_sympy(h)} = 0" for h in system.surfaces if graph.written_leaves(h) <= MOST_WRITTEN]
        long = len(system.surfaces) - len(short)
        shown = [some(short)] if short else []
        shown += [_count(long, "longer formula vanishes", "longer formulas vanish")] if long else []
        yield Finding("structure", f"The {rest_words(system).moves} switches where {', or '.join(shown)}", "proof")
    if 2 < system.dimension <= MOST_LUMPED and not system.surfaces and not has_floats(system.nodes):
        yield from _lumped(system)


def _lumped(system: System) -> Iterator[Finding]:
    """The smallest set of linear combinations that moves by itself and contains a state, if it is no set of states."""
    found = []
    for name in (name for name in system.names if name in system.moving):
        try:
            one = system.lump(name)
        except OdesysError:
            continue
        if len(one.rows) < system.dimension and any(len(row) > 1 for row in one.rows.values()):
            found.append((len(one.rows), name, one))
    if found:
        size, name, one = min(found, key=lambda item: item[:2])
        parts = [str(to_sympy(graph.combine((c, sym(s)) for s, c in row.items()))) for row in one.rows.values()]
        text = f"{size} combinations of the states move by themselves and contain {name}: {', '.join(parts)}"
        yield Finding("structure", text, "proof" if one.law().as_stated == "holds" else "undecided", "exact lumping")


def _conserved(system: System, counts: dict[str, int], seed: int, integrals: list[Node]) -> Iterator[Finding]:
    n = system.dimension
    if n > MOST_LINEAR or TIME in graph.symbols(system.nodes):
        why = "the equations depend on t" if n <= MOST_LINEAR else f"there are more than {MOST_LINEAR} states"
        yield Finding(
            "conserved", "Conserved quantities were not searched", "undecided", why, "check_integral(system, ...)"
        )
        return
    degree = DEGREES.get(n, 2 if n <= MOST_SQUARE else 1)
    degree = min(degree, 3) if len(system.parameters) > 2 else degree
    try:
        found = system.first_integrals(degree=degree, seed=seed)
    except OdesysError as problem:
        yield Finding("conserved", "Conserved quantities could not be searched", "undecided", str(problem))
        return
    counts["conserved"] = len(found)
    counts["independent"] = found.independent
    counts["degree"] = found.degree
    searched = f"among {found.ansatz} {'these are all' if found.complete else 'there may be more'}"
    integrals += [one.node for one in found]
    for one in found:
        yield Finding("conserved", f"{to_sympy(one.node)} is conserved", "proof", searched)
    if not found:
        yield Finding(
            "conserved",
            f"There is no conserved quantity among {found.ansatz}"
            if found.complete
            else "No conserved quantity was found",
            "proof" if found.complete else "undecided",
            "" if found.complete else f"among {found.ansatz}",
            "" if found.complete else f"system.first_integrals(degree={degree + 1})",
        )
    if found.factor is not None:
        text = f"{to_sympy(found.factor)} is an integrating factor"
        meaning = "times it the field has no divergence, so that a conserved quantity follows locally by quadrature"
        yield Finding("conserved", text, "proof", meaning)


def _symmetries(system: System, counts: dict[str, int], seed: int) -> Iterator[Finding]:
    if system.dimension > MOST_MOVED:
        text = f"Signed permutations of the states were not searched, for there are more than {MOST_MOVED} states"
        yield Finding("symmetries", text, "undecided", "", "system.symmetries()")
        return
    found = system.symmetries()
    counts["symmetries"] = found.order
    if found.order > 1:
        listed = "; ".join(str(g) for g in found[:4])
        listed = listed if len(listed) < 400 else f"{listed[:400]} ..."
        text = f"A group of {found.order} signed permutations of the states, generated by {listed}"
        yield Finding("symmetries", text, "proof", f"among {found.searched}")
    else:
        text = "No signed permutation of the states is a symmetry"
        if not found.complete:
            text = "No signed permutation of the states was found to be a symmetry"
        yield Finding("symmetries", text, "proof" if found.complete else "undecided", f"among {found.searched}")
    if system.kind == "map" or TIME in graph.symbols(system.nodes):
        return
    for weights in scalings(system):
        powers = ", ".join(f"{name} -> k^({a}) {name}" for name, a in weights.items())
        yield Finding("symmetries", f"Solutions may be scaled, for every k > 0: {powers}", "proof")
    units = scalings(system, parameters=True)
    rows = [[unit.get(p, 0) for p in system.parameters] for unit in units]
    free = sp.Matrix(rows).rank() if rows and system.parameters else 0
    if free:
        rest = len(system.parameters) - free
        left = f"at most {_count(rest, 'parameter', 'parameters')}" if rest else "none"
        text = f"{_count(free, 'unit', 'units')} can be chosen so that a parameter becomes 1 or -1, which leaves {left}"
        yield Finding("symmetries", text, "proof", "scalings of states, time and parameters together")
    if system.dimension <= min(LARGEST, MOST_SQUARE):
        try:
            for one in linear_symmetries(system, seed):
                if any(row != column for row, column in one.matrix):
                    text = f"Solutions may be moved in the direction {one}"
                    yield Finding("symmetries", text, "proof", "linear Lie symmetries, here to first order of the step")
        except EquationError as problem:
            yield Finding("symmetries", "Linear Lie symmetries could not be searched", "undecided", str(problem))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
