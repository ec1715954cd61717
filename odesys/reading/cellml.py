"""CellML 1.0, 1.1 and 2.0: components joined by their connections, one equation per variable.

Implicit equations, imports, reactions and resets are refused by name, and so are connections between units of different
size: the equations would need a conversion.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from ..errors import EquationError
from ..expr import graph
from ..expr.constants import read_number
from ..expr.field import ScalarField
from ..expr.graph import Node
from ..expr.letters import free_name, plain_name
from ..expr.system import TIME, System
from .mathml import Element, MathReader, parse_xml, tag
from .reading import Reading
from .units import Units

Place = tuple[str, str]  # a variable: its component and its name
REFUSED = {
    "import": "an import of another file",
    "reaction": "the element <reaction>; write its rates as equations",
    "reset": "a jump of the state",
}


def system_from_cellml(text: str) -> Reading:
    """The system of a CellML file, with its initial values and constants."""
    root = parse_xml(text)
    if tag(root) != "model":
        raise EquationError(f"a CellML file starts with <model>, not <{tag(root)}>")
    for element in root.iter():
        if tag(element) in REFUSED:
            raise EquationError(f"this CellML file has {REFUSED[tag(element)]}, which is not read")
    try:
        return _Model(root).reading()
    except (IndexError, StopIteration):
        raise EquationError("an element of MathML in this CellML file has fewer parts than it needs") from None
    except RecursionError:
        raise EquationError("the equations of this CellML file are nested more deeply than they can be read") from None


class _Model:
    def __init__(self, root: Element) -> None:
        self.variables: dict[Place, Element] = {}
        self.above: dict[Place, Place] = {}
        self.math: list[tuple[str, Element]] = []
        self.units = Units(root)
        self.notes: list[str] = []
        for component in (c for c in root if tag(c) == "component"):
            name = component.get("name", "")
            for child in component:
                if tag(child) == "variable":
                    if (name, child.get("name", "")) in self.variables:
                        raise EquationError(f"the variable {name}.{child.get('name', '')} is there twice")
                    self.variables[name, child.get("name", "")] = child
                elif tag(child) == "math":
                    self.math += [(name, equation) for equation in child]
        for connection in (c for c in root if tag(c) == "connection"):
            self._connect(connection)
        self.names = self._names()

    def _connect(self, connection: Element) -> None:
        pair = next((c for c in connection if tag(c) == "map_components"), connection)
        one, two = pair.get("component_1", ""), pair.get("component_2", "")
        for joined in (c for c in connection if tag(c) == "map_variables"):
            a, b = (one, joined.get("variable_1", "")), (two, joined.get("variable_2", ""))
            for place in (a, b):
                if place not in self.variables:
                    raise EquationError(f"a connection names {place[0]}.{place[1]}, which is no variable")
            sizes = [self.units.size(place[0], self.variables[place].get("units", "")) for place in (a, b)]
            if sizes[0] != sizes[1]:
                given = [self.variables[place].get("units", "") for place in (a, b)]
                raise EquationError(
                    f"{a[0]}.{a[1]} in {given[0]} is joined to {b[0]}.{b[1]} in {given[1]}, of another size; "
                    f"units are not converted"
                )
            self.above[self.root(a)] = self.root(b)

    def root(self, place: Place) -> Place:
        """One variable for all that are joined."""
        while self.above.get(place, place) != place:
            place = self.above[place]
        return place

    def _names(self) -> dict[Place, str]:
        """A name for variables that are joined: the variable's own where that is clear, else with its component.

        No two are the same, and none is that of time but time.
        """
        classes: dict[Place, list[Place]] = {}
        for place in self.variables:
            classes.setdefault(self.root(place), []).append(place)
        own = {root: self._owner(places) for root, places in classes.items()}
        plain = Counter(plain_name(v) for _, v in own.values())
        times = self._times()
        names = {
            root: plain_name(v)
            for root, (_, v) in own.items()
            if plain[plain_name(v)] == 1 and (plain_name(v) != TIME or root in times)
        }
        taken = {TIME, *names.values()}
        for root, (component, v) in own.items():
            if root not in names:
                wanted = f"{component}_{v}"
                names[root] = free_name(wanted, taken)
                taken.add(names[root])
                if names[root] != plain_name(wanted):
                    self.notes.append(f"{component}.{v} is called {names[root]}, as {plain_name(wanted)} is taken")
        return names

    def _times(self) -> set[Place]:
        """The variables that derivatives are taken by."""
        places = (
            (component, (bound[0].text or "").strip())
            for component, equation in self.math
            for bound in equation.iter()
            if tag(bound) == "bvar" and len(bound)
        )
        return {self.root(place) for place in places}

    def _owner(self, places: list[Place]) -> Place:
        first = [p for p in places if self.variables[p].get("initial_value") is not None]
        out = [
            p
            for p in places
            if "out" in (self.variables[p].get("public_interface"), self.variables[p].get("private_interface"))
        ]
        return (first or out or places)[0]

    def name(self, component: str, variable: str) -> str:
        """The name of a variable as a component knows it."""
        if (component, variable) not in self.variables:
            raise EquationError(
                f"the component {component} has an equation with {variable}, which is no variable of it"
            )
        return self.names[self.root((component, variable))]

    def reading(self) -> Reading:
        """Equations, constants and starts."""
        rates: dict[str, Node] = {}
        assigned: dict[str, Node] = {}
        times: set[str] = set()
        for component, equation in self.math:
            target, node, time = self._equation(component, equation)
            table = rates if time else assigned
            if target in rates or target in assigned:
                raise EquationError(f"{target} has two equations")
            table[target] = node
            times |= {time} if time else set()
        if len(times) != 1:
            raise EquationError(
                "the file has no derivative" if not times else f"the file has several times: {sorted(times)}"
            )
        (time,) = times
        if time in rates or time in assigned:
            raise EquationError(f"{time} is time and has an equation of its own")
        numbers = self._numbers()
        meaning = self._ordered(assigned, {graph.sym(time): graph.sym(TIME)})
        nodes = graph.substitute(list(rates.values()), meaning)
        seen = {name: meaning[graph.sym(name)] for name in assigned}
        used = graph.symbols([*nodes, *seen.values()]) - set(rates) - {TIME}
        missing = sorted(used - set(numbers))
        if missing:
            raise EquationError(f"{missing[0]} has neither an equation nor an initial value")
        parameters = tuple(name for name in numbers if name in used)
        start = {name: numbers[name] for name in rates if name in numbers}
        system = System(tuple(rates), ScalarField(tuple(nodes), seen), parameters)
        return Reading(system, {name: numbers[name] for name in parameters}, start, tuple(self.notes))

    def _equation(self, component: str, equation: Element) -> tuple[str, Node, str]:
        reader = MathReader(lambda name: graph.sym(self.name(component, name)))
        if tag(equation) != "apply" or tag(equation[0]) != "eq" or len(equation) != 3:
            raise EquationError(f"the component {component} has a formula that is no equation")
        left, right = equation[1], equation[2]
        if tag(left) == "ci":
            return self.name(component, (left.text or "").strip()), reader.read(right), ""
        if tag(left) == "apply" and tag(left[0]) == "diff":
            bound = next(child for child in left if tag(child) == "bvar")
            if any(tag(child) == "degree" for child in bound):
                raise EquationError(
                    f"the component {component} has a derivative of higher order; write first-order equations"
                )
            time = self.name(component, (bound[0].text or "").strip())
            return self.name(component, (left[-1].text or "").strip()), reader.read(right), time
        raise EquationError(f"the component {component} has an implicit equation, whose left side is no variable")

    def _ordered(self, assigned: dict[str, Node], known: dict[Node, Node]) -> dict[Node, Node]:
        """What assigned names stand for, in states, constants and time."""
        waiting, meaning = dict(assigned), dict(known)
        while waiting:
            ready = [name for name, node in waiting.items() if not graph.symbols([node]) & set(waiting)]
            if not ready:
                raise EquationError(
                    f"{', '.join(sorted(waiting))} are given by each other, which is an algebraic system"
                )
            for name in ready:
                meaning[graph.sym(name)] = graph.substitute([waiting.pop(name)], meaning)[0]
        return meaning

    def _numbers(self) -> dict[str, Fraction]:
        found: dict[str, Fraction] = {}
        copies: dict[str, str] = {}
        given: dict[str, str] = {}
        for place, element in self.variables.items():
            text = element.get("initial_value")
            if text is None:
                continue
            name = self.names[self.root(place)]
            if name in given and given[name] != text:
                raise EquationError(f"{name} has two initial values, {given[name]} and {text}")
            given[name] = text
            try:
                found[name] = read_number(text)
            except ValueError:
                copies[name] = self.name(place[0], text)  # the value of another variable
        while copies:
            ready = [name for name, other in copies.items() if other in found]
            if not ready:
                name, other = next(iter(copies.items()))
                raise EquationError(f"the initial value of {name} is that of {other}, which has none")
            for name in ready:
                found[name] = found[copies.pop(name)]
        return found
