r"""What can be said about a system, line by line: each with its evidence, and what was searched.

`analyse` asks every analysis of this room once and writes down what it answers: conserved quantities, symmetries,
scalings, invariant planes, positivity, equilibria with their stability. What is not decided is said with the call that
would search further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from ..errors import EquationError, OdesysError, ParameterError
from ..exact.rewriting import has_floats
from ..exact.sparse_terms import TooManyTerms, sparse_terms
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, sym
from ..expr.letters import plain_name
from ..expr.sympy_bridge import to_sympy
from ..expr.system import TIME, System
from ..shortening import some
from .darboux import invariant_curves
from .dependency import sign_of, strong_components
from .equilibria import Continuum, Equilibria, Equilibrium
from .lie_symmetry import LARGEST, linear_symmetries, scalings
from .one_state import stability_of_one
from .stability import Classification, classify, stability_conditions
from .undefined import where_undefined
from .weak_focus import first_lyapunov

MOST_SQUARE = 8  # states up to which conserved quantities of degree 2 are searched; above it linear ones
DEGREES = {1: 4, 2: 4, 3: 3, 4: 3}  # of conserved quantities, for fewer states
MOST_LINEAR = 300
MOST_LUMPED = 12  # states up to which a lumped system is searched for each of them
MOST_REST = 12  # states up to which equilibria are searched
MOST_LISTED = 60  # equilibria that have a line each
MOST_SPECIAL = 8  # of those where parameters satisfy equations
#: smooth on the whole line
ENTIRE = {"exp", "sin", "cos", "sinh", "cosh", "tanh", "arctan", "arcsinh", "erf", "sigmoid", "softplus", "sech"}
SECTIONS = ("structure", "conserved", "symmetries", "invariant sets", "equilibria", "run")


@dataclass(frozen=True)
class Finding:
    """One line of an answer.

    Attributes
    ----------
    section : which part of the analysis it belongs to, one of `SECTIONS`.
    text : the line, in plain words and the names of the system.
    evidence : ``proof``, ``certificate``, ``measurement`` or ``undecided``.
    searched : among what this is complete, or what was tried; empty where the line says all.
    further : what would decide it, for a line that is undecided.
    """

    section: str
    text: str
    evidence: str
    searched: str = ""
    further: str = ""

    def as_json(self) -> dict[str, str]:
        """The fields by name."""
        return {
            "section": self.section,
            "text": self.text,
            "evidence": self.evidence,
            "searched": self.searched,
            "further": self.further,
        }


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
            stable = sum(t.stability in ("stable", "asymptotically stable") for t in self.types)
            shown = "shown to be stable" if any(t.stability == "undecided" for t in self.types) else "stable"
            said = f" ({stable} {shown})" if len(self.rests) else ""
            least = "" if self.rests.complete else "at least "
            number = least + _count(len(self.rests), "equilibrium", "equilibria") + said
            parts.append(number if len(self.rests) or not least else "no isolated equilibrium found")
            if self.rests.families:
                parts.append(_count(len(self.rests.families), "family of equilibria", "families of equilibria"))
        left = len(self.open_questions)
        rest = "Nothing is left open." if not left else f"{_count(left, 'question is', 'questions are')} left open."
        return f"{_count(n, 'state', 'states')}: {', '.join(parts)}. {rest}"

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
            lines += ["", section.upper()] if mine else []
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
    counts: dict[str, int] = {}
    integrals: list[Node] = []
    values = _by_name(values, system.parameters, "a parameter")
    start = _by_name(start, system.names, "a state")
    try:
        lines = [*_structure(system), *_conserved(system, counts, seed, integrals), *_symmetries(system, counts, seed)]
        lines += _invariant_sets(system, values)
        rests, types, more = _rests(system, values, box, seed, integrals)
    except ZeroDivisionError as problem:
        raise EquationError(where_undefined(system) or f"the equations can not be analysed: {problem}") from problem
    return Analysis(system, values, start, (*lines, *more), rests, types, counts, notes)


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
        shown = ", ".join(f"{to_sympy(h)} = 0" for h in system.surfaces[:6])
        yield Finding("structure", f"The field switches where {shown}", "proof")
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
    free = sp.Matrix([[unit.get(p, 0) for p in system.parameters] for unit in units]).rank() if units else 0
    if system.parameters and free:
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


def _invariant_sets(system: System, values: Mapping[str, Any]) -> Iterator[Finding]:
    if system.kind == "map" or not _has_unique_solutions(system):  # x' = sqrt(x) leaves x = 0, where it is zero
        return
    below = {name for name, value in values.items() if sign_of(value) == -1}
    signed = {*system.names, *system.parameters} - below
    loose = [name for name in system.parameters if name not in values]
    planes: list[str] = []
    positive: list[str] = []
    open_states: list[str] = []
    for name, node in system.equations.items():
        try:
            there = graph.substitute([node], {sym(name): graph.ZERO})[0]
        except ZeroDivisionError:
            open_states.append(name)
            continue
        if not _is_smooth_in(system, name):  # x' = x log(x) has no value at zero
            open_states.append(name)
            continue
        if there is graph.ZERO and _has_value_at_zero(system, name):
            planes.append(name)
        (positive if _not_negative(there, signed) else open_states).append(name)
    if planes:
        listed = ", ".join(f"{name} = 0" for name in planes[:12]) + (", ..." if len(planes) > 12 else "")
        text = f"The set {listed} is invariant" if len(planes) == 1 else f"These sets are invariant: {listed}"
        yield Finding("invariant sets", text, "proof")
    yield from _invariant_curves(system)
    given = " with parameters that are not negative" if loose else ""
    if not open_states:
        yield Finding(
            "invariant sets",
            f"States that are not negative stay so{given}",
            "proof",
            "for t >= 0, as long as the solution exists",
        )
    elif positive:
        text = f"As long as no other state is negative, {', '.join(positive[:12])} can not become negative{given}"
        yield Finding("invariant sets", text, "proof")


def _invariant_curves(system: System) -> Iterator[Finding]:
    """Invariant curves and surfaces of a polynomial flow that are no coordinate planes."""
    if system.dimension == 1:
        return
    products = (node for node in graph.topological(system.nodes) if node.op == "mul")
    if any(e < 0 and graph.symbols([base]) & {*system.names} for node in products for base, e in node.args):
        return
    found = invariant_curves(system)
    shown = [f"{to_sympy(f)} = 0" for f in found.curves if f.op != "sym" and not _is_definite(f)]
    every = f"every one of degree at most {found.degree} over the rational numbers is among them"
    every, what = every if found.degree else "", "curves" if system.dimension == 2 else "surfaces"
    if shown:
        yield Finding("invariant sets", f"These {what} are invariant: {', '.join(shown)}", "proof", every)


def _is_definite(node: Node) -> bool:
    """Whether a polynomial is a sum of even powers and a number, all of one sign: x^2 + 1 = 0 is no curve."""
    return _is_even(node) and frozenset() in sparse_terms(node)


def _is_even(node: Node) -> bool:
    """Whether an expression is a sum of even powers, all of one sign."""
    try:
        terms = sparse_terms(node)
    except TooManyTerms:
        return False
    even = all(power % 2 == 0 for monomial in terms for _, power in monomial)
    return even and len({c > 0 for c in terms.values()}) == 1


def _has_unique_solutions(system: System) -> bool:
    """True if the field is smooth where it is defined: no switches, and no roots, whose slope is infinite at zero."""
    products = (node for node in graph.topological(system.nodes) if node.op == "mul")
    return not system.surfaces and all(e.denominator == 1 for node in products for _, e in node.args)


def _has_value_at_zero(system: System, name: str) -> bool:
    """False if an equation divides by a state: with y' = y (1 - y/x) there is no flow on x = 0."""
    try:
        graph.substitute(system.nodes, {sym(name): graph.ZERO})
    except ZeroDivisionError:
        return False
    return True


def _is_smooth_in(system: System, name: str) -> bool:
    """True if every function that contains a state is one without a singularity."""
    functions = (node for node in graph.topological(system.nodes) if node.op not in ("num", "sym", "add", "mul"))
    return all(node.op in ENTIRE or name not in graph.symbols([node]) for node in functions)


def _not_negative(node: Node, signed: set[str]) -> bool:
    """True if an expression is a sum of products of numbers, names and exponentials that are not negative."""
    try:
        terms = sparse_terms(node)
    except TooManyTerms:
        return False
    return all(
        c > 0 and all((atom.op == "sym" and atom.args[0] in signed) or atom.op == "exp" for atom, _ in monomial)
        for monomial, c in terms.items()
    )


def _rests(
    system: System, values: dict[str, Any], box: Any, seed: int, integrals: Sequence[Node]
) -> tuple[Equilibria | None, tuple[Classification, ...], list[Finding]]:
    if TIME in graph.symbols(system.nodes):
        text = "Equilibria were not searched: the equations depend on t"
        return None, (), [Finding("equilibria", text, "undecided", "", "freeze t, or take the map over one period")]
    if system.dimension > MOST_REST:
        text = f"Equilibria were not searched: there are more than {MOST_REST} states"
        return None, (), [Finding("equilibria", text, "undecided", "", "system.equilibria(...), or lump it first")]
    try:
        found = system.equilibria(values, box, seed)
    except OdesysError as problem:
        return None, (), [Finding("equilibria", "Equilibria were not searched", "undecided", str(problem))]
    where, valued = _where(found), "" if _has_value_everywhere(system) else ", where the field has a value"
    lines, types = [], []
    for number, point in enumerate(found):
        kind = _type(system, point, values, integrals)
        types.append(kind)
        if number >= MOST_LISTED:
            continue
        evidence = "measurement" if "measurement" in (kind.evidence, point.evidence) else point.evidence
        undecided = kind.stability == "undecided"
        said = f"{_type_words(kind)}, {'stability not decided' if undecided else kind.stability}"
        what = "an equilibrium of the sliding flow (Filippov)" if point.slides else "an equilibrium"
        given = f" where {_conditions(point.condition)}" if point.condition else ""
        text = f"({_point(point)}) is {what}{given}: {said}"
        if undecided and _in_symbols(point) and system.kind == "flow":
            lines.append(_stable_where(system, point, values, text))
            continue
        lines.append(
            Finding("equilibria", text, "undecided" if undecided else evidence, kind.reason if undecided else "")
        )
    if len(found) > MOST_LISTED:
        resting = sum(t.stability in ("stable", "asymptotically stable") for t in types[MOST_LISTED:])
        text = f"{len(found) - MOST_LISTED} more equilibria are not listed here, {resting} of them stable"
        lines.append(Finding("equilibria", text, _weakest(found[MOST_LISTED:]), "system.equilibria() has them all"))
    lines += [Finding("equilibria", _family(f), f.evidence) for f in found.families]
    lines += _specials(found.special)
    if found.complete:
        lines.append(
            Finding(
                "equilibria",
                f"There are no others {where}{valued}" if lines else f"There is no equilibrium {where}{valued}",
                "proof" if not found.reading else "measurement",
                found.reading,
            )
        )
    for u in found.undecided:
        given = f" where {_conditions(u.condition)}" if u.condition else ""
        text = f"Equilibria may be missing{given}: {u.reason}"
        here = f"with {', '.join(_range(*item) for item in u.box.items())}; searched {where}" if u.box else where
        lines.append(Finding("equilibria", text, "undecided", here, "system.equilibria(box=...)"))
    return found, tuple(types), lines


def _range(name: str, ends: tuple[Any, Any]) -> str:
    low, high = (float(end) for end in ends)
    if high - low > 1e-5 * max(abs(low), abs(high)):
        return f"{name} in [{low:g}, {high:g}]"
    return f"{name} within {high - low:.1g} of {(low + high) / 2:.6g}"


def _weakest(points: Sequence[Equilibrium]) -> str:
    said = {point.evidence for point in points}
    return next(e for e in ("measurement", "certificate", "proof") if e in said)


def _specials(special: Sequence[Equilibrium | Continuum]) -> Iterator[Finding]:
    """What rests only where parameters satisfy equations, the fewest of these first."""
    order = sorted(special, key=lambda s: (sum(isinstance(c, sp.Eq) for c in s.condition), isinstance(s, Equilibrium)))
    for one in order[:MOST_SPECIAL]:
        if isinstance(one, Continuum):
            yield Finding("equilibria", _family(one), one.evidence)
        else:
            text = f"({_point(one)}) is an equilibrium where {_conditions(one.condition)}"
            yield Finding("equilibria", text, one.evidence)
    if order[MOST_SPECIAL:]:
        text = f"{len(order) - MOST_SPECIAL} more points and families rest where parameters satisfy more equations"
        yield Finding("equilibria", text, "proof", "system.equilibria().special has them all")


def _has_value_everywhere(system: System) -> bool:
    """False where an equation divides by states, or takes a function of them that is not smooth on the whole line."""
    states = set(system.names)
    for node in graph.topological(system.nodes):
        if node.op == "mul":
            if any(e < 0 and base.op != "exp" and graph.symbols([base]) & states for base, e in node.args):
                return False
        elif node.op not in ("num", "sym", "add", "step") and node.op not in ENTIRE and graph.symbols([node]) & states:
            return False
    return True


def _type(
    system: System, point: Equilibrium, values: Mapping[str, Any], integrals: Sequence[Node] = ()
) -> Classification:
    try:
        kind = classify(system, point, parameters=values)
    except OdesysError as problem:
        shape = "kink" if "kink" in str(problem) else "undecided"
        kind = Classification(shape, "undecided", "undecided", (), point.evidence, str(problem))
    if kind.stability != "undecided" or point.condition:
        return kind
    if system.dimension == 1 and system.kind == "flow" and not any(isinstance(v, float) for v in point.point.values()):
        stability, reason = stability_of_one(system, point.point, values)
        return replace(kind, stability=stability, reason=reason)
    if kind.linear_type == "kink":
        return kind
    for integral in _candidates(integrals):
        try:
            better = classify(system, point, integral, values)
        except OdesysError:  # it has no value at the point
            continue
        if better.stability != "undecided":
            return better
    alone = _states_alone(system, point, values)
    if alone != "undecided":
        return replace(kind, stability=alone, reason="by states whose equations contain no other state")
    if _leaves_along_a_line(system, point, values):
        return replace(kind, stability="unstable", reason="an invariant line through it leads away")
    turn = first_lyapunov(system, point.point, values) if kind.linear_type == "centre" else None
    if turn is not None and sign_of(turn) in (-1, 1):
        stability = "asymptotically stable" if sign_of(turn) == -1 else "unstable"
        return replace(kind, stability=stability, nonlinear_type="focus", reason=f"first Lyapunov coefficient {turn}")
    return kind


def _candidates(integrals: Sequence[Node]) -> Iterator[Node]:
    """Conserved quantities, one over those that divide, the sum of those that are sums of even powers, and others."""
    yield from integrals
    for one in integrals:
        (_, term), *more = graph.linear_terms(one)
        if not more and term.op == "mul" and any(exponent < 0 for _, exponent in term.args):
            yield 1 / one
    squares = [one for one in integrals if _is_even(one)]
    if len(squares) > 1:
        yield graph.combine((1, one) for one in squares)
    if 1 < len(integrals) <= 4:
        for signs in product((1, -1), repeat=len(integrals) - 1):
            yield graph.combine(zip((1, *signs), integrals, strict=True))


def _states_alone(system: System, point: Equilibrium, values: Mapping[str, Any]) -> str:
    """Stability by states that move on their own: one that leaves is enough, all that come back are needed."""
    if system.kind != "flow" or any(isinstance(v, float) for v in point.point.values()):
        return "undecided"
    found = []
    for name, node in system.equations.items():
        used = graph.symbols([node])
        if used & set(system.names) <= {name}:
            one = replace(
                system,
                names=(name,),
                field=ScalarField((node,), {}),
                parameters=tuple(p for p in system.parameters if p in used),
            )
            given = {p: v for p, v in values.items() if p in one.parameters}
            found.append(stability_of_one(one, {name: point.point[name]}, given)[0])
    if "unstable" in found:
        return "unstable"
    if len(found) < system.dimension or "undecided" in found:
        return "undecided"
    return "asymptotically stable" if set(found) == {"asymptotically stable"} else "stable"


def _leaves_along_a_line(system: System, point: Equilibrium, values: Mapping[str, Any]) -> bool:
    """Whether one state can move alone, all others resting where they are, and leaves the point."""
    if system.kind != "flow" or system.surfaces or any(isinstance(v, float) for v in point.point.values()):
        return False
    try:
        place = {sym(name): graph.as_node(value) for name, value in {**values, **point.point}.items()}
        for name in system.names:
            others = {symbol: value for symbol, value in place.items() if symbol is not sym(name)}
            nodes = dict(zip(system.names, graph.substitute(system.nodes, others), strict=True))
            moves = nodes.pop(name)
            if graph.symbols([moves]) <= {name} and all(zero_test(node).answer == "zero" for node in nodes.values()):
                alone = replace(system, names=(name,), field=ScalarField((moves,), {}), parameters=())
                if stability_of_one(alone, {name: point.point[name]})[0] == "unstable":
                    return True
    except (EquationError, ZeroDivisionError):  # a number that expressions can not hold, or a pole on the line
        return False
    return False


def _in_symbols(point: Equilibrium) -> bool:
    return any(sp.sympify(value).free_symbols for value in point.point.values()) or not point.enclosure


def _stable_where(system: System, point: Equilibrium, values: Mapping[str, Any], text: str) -> Finding:
    """An equilibrium in symbols, with the inequalities of Routh and Hurwitz."""
    try:
        told = [c for c in stability_conditions(system, point, values) if not c.is_positive]
    except OdesysError as problem:
        return Finding("equilibria", text, "undecided", str(problem))
    name = text.rsplit(":", 1)[0]
    if any(c.is_nonpositive for c in told):
        return Finding("equilibria", f"{name}: its linear part is not stable for any parameters", "proof")
    where = " and ".join(f"{c} > 0" for c in told)
    return Finding("equilibria", f"{name}: its linear part is stable exactly where {where}", "proof")


def _type_words(kind: Classification) -> str:
    """The type of the flow, with that of its linear part where they differ."""
    if kind.nonlinear_type in ("undecided", kind.linear_type):
        return kind.linear_type
    return f"{kind.nonlinear_type} whose linear part is a {kind.linear_type}"


def _where(found: Equilibria) -> str:
    bounded = {name: ends for name, ends in found.box.items() if all(abs(float(e)) != float("inf") for e in ends)}
    if not bounded:
        return "anywhere"
    return "with " + ", ".join(f"{name} in [{float(a):g}, {float(b):g}]" for name, (a, b) in bounded.items())


def _point(point: Equilibrium) -> str:
    def shown(name: str, value: Any) -> str:
        if name not in point.enclosure or not isinstance(value, float | sp.Float | sp.CRootOf):
            return _short(value)
        low, high = point.enclosure[name]
        if low < 0 < high:
            return "0"
        text = f"{float((low + high) / 2):.6g}"  # of a root, too: SymPy takes long to evaluate it
        # 0.99999999 is not called 1
        return text if low <= Fraction(text) <= high else f"{float((low + high) / 2):#.6g}"

    return ", ".join(f"{name} = {shown(name, value)}" for name, value in point.point.items())


def _short(value: Any) -> str:
    text = str(value)
    if len(text) <= 24 and not isinstance(value, float):
        return text
    e = sp.sympify(value)
    return text if e.free_symbols else f"{float(e):.6g}"


def _family(family: Continuum) -> str:
    symbols = {name: sp.Symbol(name, real=True) for name in family.point}
    given = {name: v for name, v in family.point.items() if name not in family.free and v != symbols[name]}
    fixed = ", ".join(f"{name} = {_short(v)}" for name, v in given.items())
    condition = f" where {_conditions(family.condition)}" if family.condition else ""
    also = f" on {', '.join(f'{e} = 0' for e in family.equations)}" if family.equations else ""
    free = ", ".join(family.free)
    size = f"A family of equilibria of dimension {family.dimension}"
    if family.equations:  # then some of them are bound by the others
        free = ", ".join(name for name in family.point if name not in given)
        return f"{size}: {f'{fixed}, ' if fixed else ''}{free}{also}{condition}"
    return f"{size}: {f'{fixed}, ' if fixed else ''}{free} free{condition}"


def _conditions(given: tuple[Any, ...]) -> str:
    signs = {sp.Eq: "=", sp.Ne: "is not"}
    return " and ".join(f"{c.lhs} {signs[c.func]} {c.rhs}" if c.func in signs else str(c) for c in given)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
