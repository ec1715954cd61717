r"""Limits of systems, taken by program: new units, parameters that go to zero, and one system for every whole number.

With :math:`x = u\,\hat x` and :math:`t = T\,\hat t` a system becomes :math:`\hat x' = (T/u)\,F(u\,\hat x)`. Where small
parameters are then set to zero, states that stand still keep their start values and leave the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import ZERO, Node, as_node, num, sym
from ..expr.system import TIME, System


def rescale_system(
    system: System, units: Mapping[str, Any], time: Any = 1, names: Mapping[str, str] | None = None
) -> System:
    """The system in new units: state = unit * new state, old time = `time` * new time; `names` renames states.

    Parameters
    ----------
    system : System
        A flow or a map.
    units : Mapping[str, Any]
        By state, what one new unit is in old ones.
    time : Any, optional
        What one new unit of time is in old ones.
    names : Mapping[str, str], optional
        New names of states.

    Returns
    -------
    System
        The same motion in new units.

    Examples
    --------
    >>> x = sym("x")
    >>> rescale_system(System.from_equations({"x": x * x}), {"x": 3}, time=2).nodes[0] == 6 * x * x
    True
    """
    _flow(system)
    unknown = sorted(set(units) - set(system.names))
    if unknown:
        raise EquationError(f"{unknown[0]} is not a state, so it can not get a unit")
    new = [(names or {}).get(name, name) for name in system.names]
    unit = [as_node(units.get(name, 1)) for name in system.names]
    mapping = {sym(old): u * sym(name) for old, u, name in zip(system.names, unit, new, strict=True)}
    mapping[sym(TIME)] = as_node(time) * sym(TIME)
    roots = graph.substitute([*system.nodes, *system.observables.values()], mapping)
    speed = as_node(time)
    nodes = [speed * node / u for node, u in zip(roots, unit, strict=False)]
    return _made(new, nodes, dict(zip(system.observables, roots[len(new) :], strict=True)), system)


def collect_powers(system: System, positive: Iterable[str]) -> System:
    """The same system with powers of positive parameters pulled out of every sum as far as they go.

    A parameter that only looks present, because it stands on both sides of a sum, drops out on the way.

    Parameters
    ----------
    system : System
        A flow or a map.
    positive : Iterable[str]
        Parameters that are positive.

    Returns
    -------
    System
        The same system.

    Examples
    --------
    >>> x, y, a = sym("x"), sym("y"), sym("a")
    >>> collect_powers(System.from_equations({"x": (a * x + a * y) / a, "y": x}, ["a"]), ["a"]).parameters
    ()
    """
    symbols = {sym(name) for name in positive}
    roots = [*system.nodes, *system.observables.values()]
    memo: dict[Node, tuple[dict[Node, Fraction], Node]] = {}
    for node in graph.topological(roots):
        memo[node] = _pulled(node, symbols, memo)
    new = [_times(*memo[root]) for root in roots]
    count = system.dimension
    return _made(list(system.names), new[:count], dict(zip(system.observables, new[count:], strict=True)), system)


def _pulled(
    node: Node, symbols: set[Node], memo: Mapping[Node, tuple[dict[Node, Fraction], Node]]
) -> tuple[dict[Node, Fraction], Node]:
    """A node as powers of `symbols` times what is left."""
    if node in symbols:
        return {node: Fraction(1)}, graph.ONE
    if node.op == "mul":
        powers: dict[Node, Fraction] = {}
        for base, exponent in node.args:
            for symbol, inner in memo[base][0].items():
                powers[symbol] = powers.get(symbol, Fraction(0)) + inner * exponent
        return powers, graph.multiply(*(graph.power(memo[base][1], exponent) for base, exponent in node.args))
    if node.op == "add":
        terms = [(c, *memo[term]) for c, term in node.args]
        least = {
            s: min(powers.get(s, Fraction(0)) for _, powers, _ in terms)
            for s in {s for _, powers, _ in terms for s in powers}
        }
        rest = [
            (c, _times({s: powers.get(s, Fraction(0)) - e for s, e in least.items()}, term))
            for c, powers, term in terms
        ]
        return least, graph.combine(rest)
    return {}, graph.rebuild(node, lambda child: _times(*memo[child]))


def _times(powers: Mapping[Node, Fraction], rest: Node) -> Node:
    return graph.multiply(*(graph.power(symbol, exponent) for symbol, exponent in powers.items()), rest)


def vanishing_limit(system: System, small: Iterable[str], start: Mapping[str, Any]) -> System:
    """The limit of small parameters at zero; states that then stand still are replaced by their start values.

    `start` has an exact value for every state. A limit that divides by zero is refused.

    Parameters
    ----------
    system : System
        A flow.
    small : Iterable[str]
        Parameters that vanish.
    start : Mapping[str, Any]
        An exact value for every state.

    Returns
    -------
    System
        With fewer states and parameters.

    Examples
    --------
    >>> x, y, e = sym("x"), sym("y"), sym("e")
    >>> slow = System.from_equations({"x": y * x, "y": e * x}, ["e"])
    >>> vanishing_limit(slow, ["e"], {"x": 1, "y": 2}).rhs
    (2*x,)
    """
    _flow(system)
    names = list(small)
    unknown = sorted(set(names) - set(system.parameters))
    if unknown:
        raise EquationError(f"{unknown[0]} is not a parameter; the parameters are {', '.join(system.parameters)}")
    current = system.substitute(dict.fromkeys(names, 0))
    states, nodes, observables = list(current.names), list(current.nodes), dict(current.observables)
    while True:
        still = {sym(name): as_node(start[name]) for name, node in zip(states, nodes, strict=True) if node is ZERO}
        if len(still) == len(states):
            raise EquationError(f"nothing moves when {', '.join(names)} vanish; rescale time first")
        if not still:
            return _made(states, nodes, observables, system)
        kept = [(name, node) for name, node in zip(states, nodes, strict=True) if sym(name) not in still]
        roots = graph.substitute([*(node for _, node in kept), *observables.values()], still)
        states, nodes = [name for name, _ in kept], list(roots[: len(kept)])
        observables = dict(zip(observables, roots[len(kept) :], strict=True))


def leading_order(system: System, parameter: str, small: Iterable[str], start: Mapping[str, Any]) -> dict[str, Node]:
    """For each state driven only by `parameter`, its rate divided by it in the limit where all `small` vanish.

    This is the first-order motion of what stands still in `vanishing_limit`, as expressions in what moves there.

    Parameters
    ----------
    system : System
        A flow.
    parameter : str
        What drives them.
    small : Iterable[str]
        Parameters that vanish.
    start : Mapping[str, Any]
        An exact value for every state.

    Returns
    -------
    dict[str, Node]
        A rate for each such state.

    Examples
    --------
    >>> x, y, e = sym("x"), sym("y"), sym("e")
    >>> slow = System.from_equations({"x": -x, "y": e * x}, ["e"])
    >>> leading_order(slow, "e", ["e"], {"x": 1, "y": 0})  # y' = e x, as long as e is small
    {'y': Node(x)}
    """
    vanishing, driver = list(small), sym(parameter)
    limit = vanishing_limit(system, vanishing, start)
    # all but the driver take their values first: what is differentiated is small then
    fixed = {sym(name): as_node(start[name]) for name in system.names if name not in limit.names}
    fixed |= {sym(name): ZERO for name in vanishing if name != parameter}
    names = [name for name in system.names if name not in limit.names]
    nodes = graph.substitute([system.equations[name] for name in names], fixed)
    slopes = graph.substitute([graph.gradient(node, [driver])[0] for node in nodes], {driver: ZERO})
    return {name: slope for name, slope in zip(names, slopes, strict=True) if slope is not ZERO}


def interpolate_reciprocal(parameter: str, members: Mapping[int, System]) -> System:
    """One system in a whole number n through its members: every coefficient is a + b / n, found and checked exactly.

    The right-hand sides must be sums of the same terms with exact coefficients; two members give a and b, and every
    other one is a check. At least three members are needed.

    Parameters
    ----------
    parameter : str
        What the number is called.
    members : Mapping[int, System]
        By number, at least three systems with the same states.

    Returns
    -------
    System
        With the number as a parameter.

    Examples
    --------
    >>> from fractions import Fraction
    >>> x = sym("x")
    >>> members = {n: System.from_equations({"x": (1 - Fraction(1, n)) * x}) for n in (2, 3, 4)}
    >>> interpolate_reciprocal("n", members).rhs
    (x*(1 - 1/n),)
    """
    if len(members) < 3:
        raise EquationError(
            f"{len(members)} members can not check one system for every {parameter}; give at least three"
        )
    one = members[min(members)]
    for system in members.values():
        _flow(system)
        if system.names != one.names:
            raise EquationError(f"the members for every {parameter} need the same states")
    shared = [name for name in one.observables if all(name in s.observables for s in members.values())]
    rows = {name: {n: s.nodes[k] for n, s in members.items()} for k, name in enumerate(one.names)}
    seen = {name: {n: s.observables[name] for n, s in members.items()} for name in shared}
    nodes = [_through(parameter, name, row) for name, row in rows.items()]
    return _made(
        list(one.names),
        nodes,
        {name: _through(parameter, name, row) for name, row in seen.items()},
        one,
        (parameter,),
    )


def _through(parameter: str, name: str, members: Mapping[int, Node]) -> Node:
    """The expression in `parameter` whose coefficients a + b / n agree with all members."""
    terms = {n: {term: c for c, term in graph.linear_terms(node)} for n, node in sorted(members.items())}
    first, second, *others = terms
    total = []
    for term in dict.fromkeys(t for table in terms.values() for t in table):
        at = {n: Fraction(table.get(term, 0)) for n, table in terms.items()}
        b = (at[first] - at[second]) / (Fraction(1, first) - Fraction(1, second))
        a = at[first] - b / first
        wrong = [n for n in others if at[n] != a + b / n]
        if wrong:
            raise EquationError(
                f"a coefficient of {name} is {at[wrong[0]]} at {parameter} = {wrong[0]}, not {a} + {b} / {parameter}",
                parameter=parameter,
            )
        total.append(term * (num(a) + num(b) / sym(parameter)))
    return graph.add(total)


def _flow(system: System) -> None:
    if system.kind != "flow":
        raise EquationError("limits are taken of flows; a map has no time to rescale")


def _made(
    names: list[str],
    nodes: Iterable[Node],
    observables: Mapping[str, Node],
    old: System,
    more: tuple[str, ...] = (),
) -> System:
    """A system by its equations; a state at the same place, or of the same name, keeps what it stands for."""
    rhs = dict(zip(names, nodes, strict=True))
    used = graph.symbols([*rhs.values(), *observables.values()]) - {*names, TIME}
    tex = {name: text for name, text in old.tex.items() if name in names}
    made = System.from_equations(rhs, sorted(used | set(more)), observables=observables, tex=tex)
    whence = (
        dict(zip(names, old.names, strict=True))
        if len(names) == old.dimension
        else dict(zip(names, names, strict=True))
    )
    return replace(made, structure={n: old.structure[o] for n, o in whence.items() if o in old.structure})


__all__ = ["collect_powers", "rescale_system", "vanishing_limit", "leading_order", "interpolate_reciprocal"]
