"""SBML and Antimony: reactions and rate rules as equations of motion; what a System can not be is refused by name.

python-libsbml reads and checks the file, antimony turns its language into SBML; both come with the extra ``import``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node
from ..expr.letters import free_name, plain_name
from ..expr.system import TIME, System
from .mathml import Element, MathReader, parse_xml, part, refuse_deep, tag
from .reading import Reading

#: packages of SBML that change what a model means, and are read all the same
HARMLESS = ("l3v2extendedmath",)


def missing(package: str, what: str) -> EquationError:
    """The sentence that says how to get a package of the extra ``import``, by its name on an index of packages."""
    return EquationError(f"{what} needs the package {package}; install it with: pip install {package}")


def system_from_antimony(text: str) -> Reading:
    """The system of a model in the language Antimony."""
    try:
        import antimony
    except ImportError:
        raise missing("antimony", "reading Antimony") from None
    antimony.clearPreviousLoads()
    if antimony.loadAntimonyString(text) < 0:
        raise EquationError(f"this is not Antimony: {antimony.getLastError().strip()}")
    return system_from_sbml(antimony.getSBMLString(antimony.getMainModuleName()))


def system_from_sbml(text: str) -> Reading:
    """The system of an SBML file: species in concentrations, or in amounts where the file says so."""
    try:
        import libsbml
    except ImportError:
        raise missing("python-libsbml", "reading SBML") from None
    refuse_deep(text, "SBML file")  # libsbml ends the process on one
    document = libsbml.readSBMLFromString(text)
    errors = [document.getError(k) for k in range(document.getNumErrors())]
    bad = [e for e in errors if e.getSeverity() >= libsbml.LIBSBML_SEV_ERROR]
    if bad:
        raise EquationError(f"this is not SBML: {bad[0].getMessage().strip()} (line {bad[0].getLine()})")
    packages = [document.getPlugin(k).getPackageName() for k in range(document.getNumPlugins())]
    packages += [document.getUnknownPackagePrefix(k) for k in range(document.getNumUnknownPackages())]
    for package in packages if document.getLevel() > 2 else ():
        if package not in HARMLESS and document.getPackageRequired(package):
            raise EquationError(f"the SBML file needs the package {package} of SBML, which is not read")
    model = document.getModel()
    if model is None:
        raise EquationError("the SBML file has no model")
    try:
        return _Model(libsbml, model).reading()
    except RecursionError:
        raise EquationError("the rules of this SBML file use each other more deeply than they can be read") from None


class _Model:
    """One model while it is read."""

    def __init__(self, libsbml: Any, model: Any) -> None:
        self.libsbml, self.model = libsbml, model
        self.notes: list[str] = []
        self._refuse()
        self.species = {s.getId(): s for s in model.getListOfSpecies()}
        self.size = {c.getId(): c for c in model.getListOfCompartments()}
        for name, s in self.species.items():
            if s.getCompartment() not in self.size:
                raise EquationError(f"the species {name} is in {s.getCompartment()}, which is no compartment")
        self.begun: dict[str, Any] = {}
        for given in model.getListOfInitialAssignments():
            self._once(self.begun, given.getSymbol(), given, "initial assignments")
        self.units = {
            n
            for n, c in self.size.items()
            if c.getConstant() and c.isSetSize() and c.getSize() == 1 and n not in self.begun
        }
        if self.units:
            self.notes.append(f"compartments of size 1 are not in the equations: {', '.join(sorted(self.units))}")
        self.rates: dict[str, Any] = {}
        self.assigned: dict[str, Any] = {}
        for rule in model.getListOfRules():
            if rule.isAlgebraic():
                raise EquationError("the SBML file has an algebraic rule, which is no equation of motion")
            self._once(self.rates if rule.isRate() else self.assigned, rule.getVariable(), rule, "rules")
        for name in self.rates:
            if name in self.assigned:
                raise EquationError(f"{name} has two rules in the SBML file")
        self.functions = {f.getId(): self._lambda(f) for f in model.getListOfFunctionDefinitions()}
        self._meaning: dict[str, Node] = {}
        self._open: set[str] = set()
        self._expanded = [0]
        self._names()

    def _once(self, table: dict[str, Any], name: str, value: Any, what: str) -> None:
        if name in table:
            raise EquationError(f"{name} has two {what} in the SBML file")
        table[name] = value

    def _names(self) -> None:
        """A name for each that has a value, and for parameters of one reaction: no two are the same, none is time."""
        model, known = self.model, set[str]()
        lists = (model.getListOfSpecies(), model.getListOfCompartments(), model.getListOfParameters())
        for each in (*(e for entries in lists for e in entries), *model.getListOfReactions()):
            if each.getId() in known:
                raise EquationError(f"{each.getId()} is there twice in the SBML file")
            known.add(each.getId())
        ids = [each.getId() for entries in lists for each in entries]
        self.names: dict[str, str] = {}
        self.locals: dict[tuple[str, str], str] = {}
        taken = {TIME}
        for name in sorted(ids, key=lambda n: plain_name(n) != n):  # those first that can stay as they are
            self.names[name] = free_name(name, taken)
            taken.add(self.names[name])
        changed = [f"{n} is {free}" for n, free in self.names.items() if free != plain_name(n)]
        for reaction in model.getListOfReactions():
            law = reaction.getKineticLaw()
            for p in self._locals(law) if law is not None else ():
                place, wanted = (reaction.getId(), p.getId()), f"{reaction.getId()}_{p.getId()}"
                if place in self.locals:
                    raise EquationError(f"{p.getId()} is there twice in the reaction {reaction.getId()}")
                self.locals[place] = free_name(wanted, taken)
                taken.add(self.locals[place])
                if self.locals[place] != plain_name(wanted):
                    changed.append(f"{p.getId()} of {reaction.getId()} is {self.locals[place]}")
        if changed:
            self.notes.append(f"called otherwise, as the name is taken ({TIME} is time): {', '.join(changed)}")

    def name(self, name: str) -> str:
        """What a name of the file is called here."""
        if name not in self.names:
            raise EquationError(f"{name} has neither an equation nor a place in the SBML file")
        return self.names[name]

    def _refuse(self) -> None:
        model = self.model
        if model.getNumEvents():
            raise EquationError(
                f"the event {model.getEvent(0).getId() or 1} is a jump of the state, which is no part of a System"
            )
        for reaction in model.getListOfReactions():
            if reaction.isSetFast() and reaction.getFast():
                raise EquationError(f"the reaction {reaction.getId()} is fast, which stands for an algebraic equation")
        if model.isSetConversionFactor() or any(s.isSetConversionFactor() for s in model.getListOfSpecies()):
            raise EquationError("conversion factors of species are not read; write the amounts in one unit")
        if model.getNumConstraints():
            self.notes.append("left out: constraints, which only stop a simulation")

    def _lambda(self, definition: Any) -> tuple[tuple[str, ...], Any]:
        body = part(self._math(definition, f"the function {definition.getId()}"))
        names = tuple((part(child).text or "").strip() for child in body if tag(child) == "bvar")
        return names, part(body, -1)

    def _math(self, owner: Any, what: str) -> Element:
        """The formula of a part of the file."""
        formula = owner.getMath()
        if formula is None:
            raise EquationError(f"{what} has no formula in the SBML file")
        return parse_xml(self.libsbml.writeMathMLToString(formula))

    def node(self, owner: Any, what: str, local: Mapping[str, Node] | None = None) -> Node:
        """The formula of a part of the file, with assigned names replaced by what they stand for."""
        known = local or {}

        def meaning(name: str) -> Node:
            return known[name] if name in known else self.value(name)

        return MathReader(meaning, self.functions, self._expanded).read(self._math(owner, what))

    def value(self, name: str) -> Node:
        """What a name in a formula stands for."""
        if name in self.assigned:
            if name in self._open:
                raise EquationError(f"the assignment of {name} needs itself")
            if name not in self._meaning:
                self._open.add(name)
                self._meaning[name] = self.node(self.assigned[name], f"the rule of {name}")
                self._open.discard(name)
            return self._meaning[name]
        if name in self.units:
            return graph.ONE
        if any(r.getId() == name for r in self.model.getListOfReactions()):
            return self.rate(self.model.getReaction(name))
        return graph.sym(self.name(name))

    def rate(self, reaction: Any) -> Node:
        """The kinetic law of a reaction, in amount per time."""
        law, name = reaction.getKineticLaw(), reaction.getId()
        if law is None:
            raise EquationError(f"the reaction {name} has no kinetic law")
        if name in self._open:
            raise EquationError(f"the kinetic law of {name} needs itself")
        local = {p.getId(): graph.sym(self.local_name(reaction, p)) for p in self._locals(law)}
        self._open.add(name)
        node = self.node(law, f"the kinetic law of {name}", local)
        self._open.discard(name)
        return node

    def _locals(self, law: Any) -> list[Any]:
        return list(law.getListOfLocalParameters()) + [
            p for p in law.getListOfParameters() if law.getNumLocalParameters() == 0
        ]

    def local_name(self, reaction: Any, parameter: Any) -> str:
        """The name of a parameter that only one reaction knows."""
        return self.locals[reaction.getId(), parameter.getId()]

    def changes(self) -> dict[str, Node]:
        """Rates of species by reactions: of amounts, or of concentrations."""
        total: dict[str, list[Node]] = {}
        for reaction in self.model.getListOfReactions():
            rate = self.rate(reaction)
            sides = ((-1, reaction.getListOfReactants()), (1, reaction.getListOfProducts()))
            for sign, reference in ((s, r) for s, references in sides for r in references):
                if reference.isSetStoichiometryMath():
                    raise EquationError(
                        f"the stoichiometry of {reference.getSpecies()} is a formula, which is not read"
                    )
                name = reference.getSpecies()
                if reference.getId() and (reference.getId() in self.rates or reference.getId() in self.assigned):
                    raise EquationError(f"the stoichiometry of {name} changes by a rule, which is not read")
                if reference.getId() and reference.getId() in self.begun:
                    raise EquationError(f"the stoichiometry of {name} has an initial assignment, which is not read")
                count = _number(reference.getStoichiometry(), f"the stoichiometry of {name}")
                if count is None:
                    raise EquationError(f"the stoichiometry of {name} has no value in the SBML file")
                count /= reference.getDenominator()  # of SBML level 1
                if name not in self.species:
                    raise EquationError(f"{reaction.getId()} changes {name or 'something'}, which is no species")
                species = self.species[name]
                if not (species.getBoundaryCondition() or species.getConstant()):
                    place = self.value(species.getCompartment())
                    per = rate if species.getHasOnlySubstanceUnits() else rate / place
                    total.setdefault(name, []).append(per * (sign * count))
        return {name: graph.add(parts) for name, parts in total.items()}

    def reading(self) -> Reading:
        """Equations, parameters, starts."""
        for name in self.size:
            if name in self.rates or name in self.assigned:
                raise EquationError(f"the compartment {name} changes its size, which is not read")
        equations: dict[str, Node] = {}
        for name, change in self.changes().items():
            if name in self.rates or name in self.assigned:
                raise EquationError(f"{name} is moved by reactions and by a rule")
            equations[self.name(name)] = change
        for name, rule in self.rates.items():
            equations[self.name(name)] = self.node(rule, f"the rule of {name}")
        if not equations:
            raise EquationError("nothing moves in this SBML file: it has no reaction and no rate rule")
        seen = {self.name(name): self.value(name) for name in self.assigned}
        numbers = self._numbers()
        used = graph.symbols([*equations.values(), *seen.values()]) - set(equations) - {TIME}
        parameters = tuple(name for name in numbers if name in used)
        missing = sorted(used - set(numbers))
        if missing:
            raise EquationError(f"{missing[0]} has neither an equation nor a place in the SBML file")
        values = {name: v for name in parameters if (v := numbers[name]) is not None}
        start = {name: v for name in equations if (v := numbers.get(name)) is not None}
        unset = [name for name in (*equations, *parameters) if numbers.get(name) is None]
        if unset:
            self.notes.append(f"no value in the file: {', '.join(unset[:12])}")
        order = sorted(equations, key=lambda n: list(numbers).index(n) if n in numbers else 0)
        nodes = tuple(equations[name] for name in order)
        return Reading(System(tuple(order), ScalarField(nodes, seen), parameters), values, start, tuple(self.notes))

    def _numbers(self) -> dict[str, Fraction | None]:
        """Values at the start of all that has a name, in the order of the file."""
        found: dict[str, Fraction | None] = {}
        waiting: dict[str, Node] = {}
        sizes = {n: _number(c.getSize(), f"the size of {n}") if c.isSetSize() else None for n, c in self.size.items()}
        for name, s in self.species.items():
            size = sizes[s.getCompartment()]
            size = Fraction(1) if size is None else size
            place = graph.sym(self.name(s.getCompartment())) if s.getCompartment() in self.begun else None
            amounts = s.getHasOnlySubstanceUnits()
            if s.isSetInitialConcentration():
                value = _number(s.getInitialConcentration(), f"the start of {name}")
                if place is not None and amounts and value is not None:
                    waiting[self.name(name)] = graph.num(value) * place
                value = value * size if amounts and value is not None else value
            elif s.isSetInitialAmount():
                value = _number(s.getInitialAmount(), f"the start of {name}")
                if place is not None and not amounts and value is not None:
                    waiting[self.name(name)] = graph.num(value) / place
                    size = Fraction(1)
                if not size and not amounts:
                    raise EquationError(f"{name} has no concentration in {s.getCompartment()}, whose size is 0")
                value = value if amounts or value is None else value / size
            else:
                value = None
            found[self.name(name)] = value
        found |= {self.name(name): Fraction(1) if size is None else size for name, size in sizes.items()}
        unset = [name for name, size in sizes.items() if size is None and name not in self.begun]
        if unset:
            self.notes.append(f"no size in the file, taken as 1: {', '.join(unset[:12])}")
        for p in self.model.getListOfParameters():
            found[self.name(p.getId())] = _value_of(p)
        for reaction in self.model.getListOfReactions():
            for p in self._locals(reaction.getKineticLaw()):  # one without a law was refused by `rate`
                found[self.local_name(reaction, p)] = _value_of(p)
        self._initial_assignments(found, waiting)
        return found

    def _initial_assignments(self, found: dict[str, Fraction | None], starts: Mapping[str, Node]) -> None:
        """Numbers of what is assigned, and of starts that need an assigned size of a compartment."""
        waiting = dict(starts)
        for name, given in self.begun.items():
            waiting[self.name(name)] = self.node(given, f"the initial assignment of {name}")
        while waiting:
            known = {graph.sym(n): graph.num(v) for n, v in found.items() if v is not None and n not in waiting}
            known[graph.sym(TIME)] = graph.ZERO
            try:
                ready = {n: graph.substitute([node], known)[0] for n, node in waiting.items()}
            except ZeroDivisionError:
                raise EquationError("an initial assignment of the SBML file divides by zero") from None
            done = {n: v for n, v in ready.items() if not graph.symbols([v])}
            if not done:
                for name in self.size:
                    if self.name(name) in waiting:
                        raise EquationError(f"the size of {name} has an initial assignment that is no number")
                self.notes.append(f"no number for the initial assignment of {', '.join(sorted(waiting))}")
                found |= dict.fromkeys(waiting)
                return
            for name, value in done.items():
                found[name] = Fraction(value.args[0]) if value.op == "num" else graph_value(name, value)
                del waiting[name]


def _number(value: float, what: str) -> Fraction | None:
    """The decimal that a float prints as; NaN is how SBML writes that there is no value."""
    if math.isinf(value):
        raise EquationError(f"{what} is infinite in the SBML file; give a number")
    return None if math.isnan(value) else Fraction(repr(value))


def _value_of(parameter: Any) -> Fraction | None:
    return _number(parameter.getValue(), f"the value of {parameter.getId()}") if parameter.isSetValue() else None


def graph_value(name: str, node: Node) -> Fraction:
    """The float of an expression without names, for a start value such as exp(1)."""
    from ..expr.sympy_bridge import to_sympy

    try:
        number = _number(float(to_sympy(node)), f"the initial assignment of {name}")
    except (TypeError, OverflowError):  # a complex number, or one beyond floats
        number = None
    if number is None:
        raise EquationError(f"the initial assignment of {name} has no value that is a real number")
    return number
