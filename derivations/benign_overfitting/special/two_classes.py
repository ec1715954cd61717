r"""The mean field with classes of different size; here because the symmetric quotient exchanges the two classes.

Tokens of different samples are orthogonal, and only the signal of its label is in a sample: the two classes do not see
each other. A class with a share p of the N samples is a training set of its own, n = p N samples with one label, whose
loss counts p times. Its equations are derived for n = 2, 3, 4; each coefficient is a + b/n, which is checked, and p
times it is :math:`p\,a + b/N`: the equations of balanced classes with p in the place of 1/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache

from odesys import EquationError, Node, ScalarField, System, graph, num, sym

from .. import dynamics, setting

MEMBERS = (2, 3, 4)
SHARE, CLASSES = "p", {"p": "+", "m": "-"}


def one_class(derive: Callable[[int], System]) -> System:
    """The equations of a class with the share p of N samples, from those of n samples with one label."""
    members = {n: derive(n) for n in MEMBERS}
    first = members[MEMBERS[0]]
    rows = {name: {n: s.equations[name] for n, s in members.items()} for name in first.names}
    nodes = tuple(_counted(name, row) for name, row in rows.items())
    parameters = tuple(sorted({*first.parameters, SHARE, "N"}))
    return replace(first, field=ScalarField(nodes, first.observables), parameters=parameters)


def _counted(name: str, members: Mapping[int, Node]) -> Node:
    """p times the expression whose coefficients are a + b/n, at n = p N."""
    terms = {n: {term: Fraction(c) for c, term in graph.linear_terms(node)} for n, node in members.items()}
    n, m, *others = terms
    total = []
    for term in dict.fromkeys(t for table in terms.values() for t in table):
        at = {k: table.get(term, Fraction(0)) for k, table in terms.items()}
        b = (at[n] - at[m]) / (Fraction(1, n) - Fraction(1, m))
        a = at[n] - b / n
        if any(at[k] != a + b / k for k in others):
            raise EquationError(f"a coefficient of {name} is {at}, not a + b/n", parameter="n")
        total.append(term * (num(a) * sym(SHARE) + num(b) / sym("N")))
    return graph.add(total)


@cache
def class_system(M: int, frozen: bool = False) -> System:
    """The mean-field flow of one class, for every N and share p: 18 variables, or 12 with the norms frozen."""

    def derive(n: int) -> System:
        made = dynamics.flow(n, M, setting.orthogonal_gram(n, M), (1,) * n)
        return dynamics.mean_field_at(made, n, M, one_class=True)

    made = dynamics.with_test_loss(one_class(derive), M)
    return dynamics.freeze(made) if frozen else made


@cache
def both_classes(M: int, frozen: bool = False) -> System:
    """Both classes side by side: twice the variables of one, with _p and _m at the end of their names."""
    one, names, nodes = class_system(M, frozen), list[str](), list[Node]()
    tex, seen = dict[str, str](), dict[str, dict[str, Node]]()
    share = {"p": sym(SHARE), "m": 1 - sym(SHARE)}
    for mark, sign in CLASSES.items():
        known = {sym(name): sym(f"{name}_{mark}") for name in one.names} | {sym(SHARE): share[mark]}
        found = graph.substitute([*one.nodes, *one.observables.values()], known)
        names += [f"{name}_{mark}" for name in one.names]
        nodes += found[: len(one.names)]
        seen[mark] = dict(zip(one.observables, found[len(one.names) :], strict=True))
        tex |= {f"{name}_{mark}": f"{text}^{{{sign}}}" for name, text in one.tex.items()}
    outputs = {f"{name}_{mark}": node for mark, table in seen.items() for name, node in table.items() if name != "loss"}
    losses = [seen[mark]["loss"] * share[mark] for mark in CLASSES]
    tests = [seen[mark]["test_loss"] / 2 for mark in CLASSES]
    field = ScalarField(tuple(nodes), {"loss": graph.add(losses), "test_loss": graph.add(tests), **outputs})
    return System(tuple(names), field, one.parameters, one.kind, tex)
