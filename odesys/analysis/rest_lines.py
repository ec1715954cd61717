"""Lines about equilibria, or fixed points of a map: each with its type, families, and what may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from ..errors import OdesysError
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from .equilibria import Continuum, Equilibria, Equilibrium
from .finding import Finding
from .invariant_sets import ENTIRE, never_zero
from .rest_types import type_at_rest
from .rest_words import RestWords, rest_words
from .stability import Classification, stability_conditions

MOST_REST = 12  # states up to which equilibria are searched
MOST_LISTED = 60  # equilibria that have a line each
MOST_SPECIAL = 8  # of those where parameters satisfy equations


def rest_lines(
    system: System, values: dict[str, Any], box: Any, seed: int, integrals: Sequence[Node]
) -> tuple[Equilibria | None, tuple[Classification, ...], list[Finding]]:
    """The equilibria, what each is, and the lines that say so; None where they were not searched."""
    words = rest_words(system)
    many = words.many.capitalize()
    if TIME in graph.symbols(system.nodes):
        text = f"{many} were not searched: the equations depend on t"
        return None, (), [Finding("equilibria", text, "undecided", "", "freeze t, or take the map over one period")]
    if system.dimension > MOST_REST:
        text = f"{many} were not searched: there are more than {MOST_REST} states"
        return None, (), [Finding("equilibria", text, "undecided", "", "system.equilibria(...), or lump it first")]
    try:
        found = system.equilibria(values, box, seed)
    except OdesysError as problem:
        return None, (), [Finding("equilibria", f"{many} were not searched", "undecided", str(problem))]
    where = f"with {found.where}" if found.where else "anywhere"
    valued = "" if _has_value_everywhere(system) else f", where the {words.moves} has a value"
    lines, types = [], []
    for number, point in enumerate(found):
        kind = type_at_rest(system, point, values, integrals)
        types.append(kind)
        if number >= MOST_LISTED:
            continue
        evidence = "measurement" if "measurement" in (kind.evidence, point.evidence) else point.evidence
        undecided = kind.stability == "undecided"
        said = f"{_type_words(kind)}, {'stability not decided' if undecided else kind.stability}"
        what = "an equilibrium of the sliding flow (Filippov)" if point.slides else words.a_point
        given = f" where {_conditions(point.condition)}" if point.condition else ""
        text = f"({_point(point)}) is {what}{given}: {said}"
        if undecided and _in_symbols(point) and system.kind == "flow":
            lines.append(_stable_where(system, point, values, text))
            continue
        why = (
            "" if kind.linear_type == kind.nonlinear_type != "centre" else kind.reason
        )  # hyperbolic: its linear part says it
        lines.append(Finding("equilibria", text, "undecided" if undecided else evidence, why))
    if len(found) > MOST_LISTED:
        resting = sum(t.stability in ("stable", "asymptotically stable") for t in types[MOST_LISTED:])
        text = f"{len(found) - MOST_LISTED} more {words.many} are not listed here, {resting} of them stable"
        lines.append(Finding("equilibria", text, _weakest(found[MOST_LISTED:]), "system.equilibria() has them all"))
    lines += [Finding("equilibria", _family(f, words), f.evidence) for f in found.families]
    lines += _specials(found.special, words)
    if found.complete:
        lines.append(
            Finding(
                "equilibria",
                f"There are no others {where}{valued}" if lines else f"There is no {words.one} {where}{valued}",
                "proof" if not found.reading else "measurement",
                "; ".join(said for said in (found.reading, words.others) if said),
            )
        )
    for u in found.undecided:
        given = f" where {_conditions(u.condition)}" if u.condition else ""
        text = f"{many} may be missing{given}: {u.reason}"
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


def _specials(special: Sequence[Equilibrium | Continuum], words: RestWords) -> Iterator[Finding]:
    """What rests only where parameters satisfy equations, the fewest of these first."""
    order = sorted(special, key=lambda s: (sum(isinstance(c, sp.Eq) for c in s.condition), isinstance(s, Equilibrium)))
    for one in order[:MOST_SPECIAL]:
        if isinstance(one, Continuum):
            yield Finding("equilibria", _family(one, words), one.evidence)
        else:
            text = f"({_point(one)}) is {words.a_point} where {_conditions(one.condition)}"
            yield Finding("equilibria", text, one.evidence)
    if order[MOST_SPECIAL:]:
        text = f"{len(order) - MOST_SPECIAL} more points and families rest where parameters satisfy more equations"
        yield Finding("equilibria", text, "proof", "system.equilibria().special has them all")


def _has_value_everywhere(system: System) -> bool:
    """False where an equation divides by states, or takes a function of them that is not smooth on the whole line."""
    states = set(system.names)
    for node in graph.topological(system.nodes):
        if node.op == "mul":
            if any(e < 0 and not never_zero(base) and graph.symbols([base]) & states for base, e in node.args):
                return False
        elif node.op not in ("num", "sym", "add", "step") and node.op not in ENTIRE and graph.symbols([node]) & states:
            return False
    return True


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
    """The type of the flow, with that of its linear part where they differ, or where it is all that is known."""
    if kind.nonlinear_type == "undecided" and kind.linear_type == "centre":  # nonlinear terms may make it a focus
        return "its linear part is a centre"
    if kind.nonlinear_type in ("undecided", kind.linear_type):
        return kind.linear_type
    return f"{kind.nonlinear_type} whose linear part is a {kind.linear_type}"


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


def _family(family: Continuum, words: RestWords) -> str:
    symbols = {name: sp.Symbol(name, real=True) for name in family.point}
    given = {name: v for name, v in family.point.items() if name not in family.free and v != symbols[name]}
    fixed = ", ".join(f"{name} = {_short(v)}" for name, v in given.items())
    condition = f" where {_conditions(family.condition)}" if family.condition else ""
    also = f" on {', '.join(f'{e} = 0' for e in family.equations)}" if family.equations else ""
    free = ", ".join(family.free)
    size = f"A family of {words.many} of dimension {family.dimension}"
    if family.equations:  # then some of them are bound by the others
        free = ", ".join(name for name in family.point if name not in given)
        return f"{size}: {f'{fixed}, ' if fixed else ''}{free}{also}{condition}"
    return f"{size}: {f'{fixed}, ' if fixed else ''}{free} free{condition}"


def _conditions(given: tuple[Any, ...]) -> str:
    signs = {sp.Eq: "=", sp.Ne: "is not"}
    said = (f"{c.lhs} {signs[c.func]} {c.rhs}" if c.func in signs else str(c) for c in given)
    return " and ".join(dict.fromkeys(said))
