r"""Equations for every size: rows of members with whole numbers in their names, read as one row with indices and sums.

A family of systems (n samples, m neurons) has rows such as :math:`G_1 = g_1 B_{11} + g_2 B_{12}` for n = 2, and

.. math::  G_r = \sum_{i=1}^n g_i B_{ri}

for every n. The indices of a row itself are free. Any other index has to run through all of its values in terms that
are alike, and becomes a sum. All rows of all members have to give one form, so it is exact at the sizes seen; beyond
them it is as good as the sizes it is compared with, by `IndexedSystem.member`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from string import Formatter

from ..errors import EquationError
from . import graph
from .graph import Node, sym

Values = Mapping[str, int]  # of indices
Entry = tuple[str, dict[str, int]]  # a letter and its indices


@dataclass(frozen=True)
class Member:
    """A system of explicit size with named parts: `sizes` says how far each index runs.

    Parameters
    ----------
    sizes : Mapping[str, int]
        By index, its largest value.
    rows : Mapping[str, Node]
        Right-hand sides by state.
    definitions : Mapping[str, Node], optional
        What names in them stand for.

    Examples
    --------
    >>> from odesys import Member, sym
    >>> Member({"i": 2}, {"x1": -sym("x1"), "x2": -sym("x2")}).rows["x2"]
    Node(-x2)
    """

    sizes: Values
    rows: Mapping[str, Node]
    definitions: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexedSum:
    """The sum of `node` over all values of `index`."""

    index: str
    node: Node


@dataclass(frozen=True, eq=False)
class IndexedSystem:
    """Rows with indices and sums: a system for every size.

    A name such as ``q[r,i]`` is a symbol; a symbol that is a key of `sums` stands for that sum.

    Parameters
    ----------
    kind : str
        ``flow`` or ``map``.
    rows : Mapping[str, Node]
        Right-hand sides by state.
    definitions : Mapping[str, Node]
        What names in them stand for.
    sums : Mapping[str, IndexedSum]
        By symbol.
    sizes : Mapping[str, str]
        By index, the name of its largest value.
    spelling : Mapping[str, str]
        By letter, how members spell it: ``q_{r}_z{i}``.
    parameters : tuple[str, ...], optional
        Names left open.
    tex : Mapping[str, str], optional
        By letter, its TeX with places for the indices.
    seen : tuple[Mapping[str, int], ...], optional
        Sizes of the members it was found from.
    remarks : tuple[str, ...], optional
        What is said beside the equations, with symbols in TeX between dollar signs.
    meanings : Mapping[str, tuple[str, str]], optional
        By name with indices, what it stands for: as text and in TeX.

    Examples
    --------
    >>> from odesys import Member, every_member, sym
    >>> def member(n):
    ...     total = sum(sym(f"x{i}") for i in range(1, n + 1))
    ...     return Member({"i": n}, {"y": total, **{f"x{i}": -sym(f"x{i}") * sym("y") for i in range(1, n + 1)}})
    >>> found = every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}"}, "flow")
    >>> found.names, found.dimension, found.rows["x[i]"]
    (('y', 'x[i]'), '1 + n', Node(-x[i]*y))
    """

    kind: str
    rows: Mapping[str, Node]
    definitions: Mapping[str, Node]
    sums: Mapping[str, IndexedSum]
    sizes: Mapping[str, str]
    spelling: Mapping[str, str]
    parameters: tuple[str, ...] = ()
    tex: Mapping[str, str] = field(default_factory=dict)
    seen: tuple[Values, ...] = ()
    remarks: tuple[str, ...] = ()
    meanings: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The states, with indices."""
        return tuple(self.rows)

    @property
    def dimension(self) -> str:
        """The number of states, in the sizes."""
        own = [indices_of(self.spelling.get(name.partition("[")[0], "")) for name in self.rows]
        counts = ["*".join(self.sizes[index] for index in indices) for indices in own]
        alike = [(text, counts.count(text)) for text in dict.fromkeys(counts)]
        return " + ".join(text if many == 1 and text else f"{many}*{text}".rstrip("*") for text, many in alike)

    def member(self, sizes: Values) -> Member:
        """Rows and definitions at a size, in the names of members."""

        def spelled(name: str, at: Values) -> str:
            return self.spelling.get(name.partition("[")[0], name).format(**at)

        def written(node: Node, at: Values) -> Node:
            known: dict[Node, Node] = {}
            for name in graph.symbols([node]):
                if name in self.sums:
                    total = self.sums[name]
                    values = range(1, sizes[total.index] + 1)
                    known[sym(name)] = graph.add([written(total.node, {**at, total.index: v}) for v in values])
                else:
                    known[sym(name)] = sym(spelled(name, at))
            return graph.substitute([node], known)[0]

        def rows(table: Mapping[str, Node]) -> dict[str, Node]:
            out = {}
            for name, node in table.items():
                own = indices_of(self.spelling.get(name.partition("[")[0], ""))
                for values in product(*(range(1, sizes[index] + 1) for index in own)):
                    at = dict(zip(own, values, strict=True))
                    out[spelled(name, at)] = written(node, at)
            return out

        return Member(dict(sizes), rows(self.rows), rows(self.definitions))


def indices_of(spelling: str) -> tuple[str, ...]:
    """The indices in a spelling.

    >>> indices_of("q_{r}_z{i}")
    ('r', 'i')
    """
    return tuple(name for _, name, _, _ in Formatter().parse(spelling) if name)


def every_member(
    members: Sequence[Member],
    sizes: Mapping[str, str],
    spelling: Mapping[str, str],
    kind: str,
    parameters: Iterable[str] = (),
    tex: Mapping[str, str] | None = None,
) -> IndexedSystem:
    r"""One system with indices and sums for members of several sizes; refused where they are not of one form.

    Parameters
    ----------
    members : Sequence[Member]
        At least two, in which every index runs at least to 2.
    sizes : Mapping[str, str]
        By index, the name of its largest value.
    spelling : Mapping[str, str]
        By letter, how members spell it: ``q_{r}_z{i}``; other names have no index.
    kind : str
        ``flow`` or ``map``.
    parameters : Iterable[str], optional
        Letters left open.
    tex : Mapping[str, str], optional
        By letter, its TeX with places for the indices.

    Returns
    -------
    IndexedSystem
        The one form.

    Examples
    --------
    >>> from odesys import Member, every_member, sym
    >>> def member(n):
    ...     return Member({"i": n}, {"m": sum(sym(f"x{i}") ** 2 for i in range(1, n + 1))})
    >>> found = every_member([member(2), member(3)], {"i": "n"}, {"x": "x{i}"}, "flow")
    >>> found.rows["m"], [(total.index, total.node) for total in found.sums.values()]
    (Node(#1), [('i', Node(x[i]**2))])
    >>> found.member({"i": 4}).rows["m"] is member(4).rows["m"]
    True
    """
    reader = _Reader(spelling)
    rows = reader.forms([(member.sizes, member.rows) for member in members])
    definitions = reader.forms([(member.sizes, member.definitions) for member in members])
    open_names = tuple(_bracketed(letter, spelling) for letter in parameters)
    seen = tuple(member.sizes for member in members)
    sums = reader.used([*rows.values(), *definitions.values()])
    return IndexedSystem(kind, rows, definitions, sums, sizes, spelling, open_names, tex or {}, seen)


def _bracketed(letter: str, spelling: Mapping[str, str], at: Mapping[str, object] | None = None) -> str:
    """A letter with its indices, or with values of them."""
    own = indices_of(spelling.get(letter, ""))
    return f"{letter}[{','.join(str((at or {}).get(index, index)) for index in own)}]" if own else letter


class _Reader:
    """Reads rows of members; sums that are alike get one symbol."""

    def __init__(self, spelling: Mapping[str, str]) -> None:
        self.spelling = spelling
        self.sums: dict[str, IndexedSum] = {}
        self._symbols: dict[tuple[str, Node], Node] = {}

    def forms(self, tables: Sequence[tuple[Values, Mapping[str, Node]]]) -> dict[str, Node]:
        """By name with indices, the one right-hand side of all rows of that name."""
        out: dict[str, Node] = {}
        first: dict[str, str] = {}
        for sizes, rows in tables:
            entries = self._entries(sizes)
            for name, node in rows.items():
                letter, own = entries.get(name, (name, {}))
                form, place = self._row(name, node, own, sizes, entries), _bracketed(letter, self.spelling)
                if out.setdefault(place, form) is not form:
                    here = f"{name} at {_said(sizes)}"
                    raise EquationError(f"{here} is not of the form of {first[place]}: {form!r} and {out[place]!r}")
                first.setdefault(place, f"{name} at {_said(sizes)}")
        for sizes, rows in tables:
            spelled = {n: _bracketed(letter, self.spelling) for n, (letter, _) in self._entries(sizes).items()}
            wanted = spelled | {place: place for place in out if place not in spelled.values()}
            for name, place in wanted.items():
                if place in out and name not in rows:
                    raise EquationError(f"the member with {_said(sizes)} has no {name}, but there is {first[place]}")
        return out

    def used(self, nodes: Iterable[Node]) -> dict[str, IndexedSum]:
        """The sums in some nodes, and those in them."""
        out: dict[str, IndexedSum] = {}
        ahead = [name for name in sorted(graph.symbols(nodes)) if name in self.sums]
        while ahead:
            name = ahead.pop(0)
            out[name] = self.sums[name]
            ahead += [x for x in sorted(graph.symbols([self.sums[name].node])) if x in self.sums and x not in out]
        return out

    def _entries(self, sizes: Values) -> dict[str, Entry]:
        out: dict[str, Entry] = {}
        for letter, text in self.spelling.items():
            own = indices_of(text)
            for values in product(*(range(1, sizes[index] + 1) for index in own)):
                at = dict(zip(own, values, strict=True))
                out[text.format(**at)] = letter, at
        return out

    def _row(self, name: str, node: Node, own: Values, sizes: Values, entries: Mapping[str, Entry]) -> Node:
        """The right-hand side of one row, with its own indices as letters and all others in sums."""
        new: dict[Node, Node] = {}
        for part in graph.topological([node]):
            if part.op == "sym":
                letter, at = entries.get(part.args[0], (part.args[0], {}))
                for index, value in at.items():
                    if index in own and own[index] != value:
                        raise EquationError(
                            f"{name} reads {part.args[0]}, of another value of its own index {index}; "
                            f"sums run over other indices alone"
                        )
                new[part] = sym(_bracketed(letter, self.spelling, {k: v for k, v in at.items() if k not in own}))
            else:
                new[part] = graph.rebuild(part, new.__getitem__)
            if part.op == "add":
                for index in (index for index in sizes if index not in own):
                    new[part] = self._summed(new[part], index, sizes[index])
        roots = [new[node], *(total.node for total in self.used([new[node]]).values())]
        left = sorted(x for x in graph.symbols(roots) - set(self.sums) if self._open(sym(x)))
        if left:
            raise EquationError(f"{name} reads {left[0]}, which is in no sum over all values of its index")
        return new[node]

    def _summed(self, node: Node, index: str, size: int) -> Node:
        """Terms that are alike for all values of an index, as a sum; others stay."""
        groups: dict[tuple[graph.Number, Node], dict[int, Node]] = {}
        rest = []
        for coefficient, term in graph.linear_terms(node):
            values = {value for k, value in self._open(term) if k == index}
            if len(values) != 1:
                rest.append((coefficient, term))
                continue
            (value,) = values
            groups.setdefault((coefficient, self._renamed(term, index, value)), {})[value] = term
        alike: dict[frozenset[tuple[str, int]], list[tuple[graph.Number, Node]]] = {}  # by what is still to be summed
        for (coefficient, pattern), found in groups.items():
            if len(found) == size:
                alike.setdefault(frozenset(self._open(pattern)), []).append((coefficient, pattern))
            else:
                rest += [(coefficient, term) for term in found.values()]
        sums = [(Fraction(1), self._sum(index, graph.combine(terms))) for terms in alike.values()]
        return graph.combine([*rest, *sums]) if sums else node

    def _sum(self, index: str, node: Node) -> Node:
        """The symbol of a sum; that of the negative one with a minus sign."""
        if (index, -node) in self._symbols:
            return -self._symbols[index, -node]
        if (index, node) not in self._symbols:
            name = f"#{len(self.sums) + 1}"
            self.sums[name] = IndexedSum(index, node)
            self._symbols[index, node] = sym(name)
        return self._symbols[index, node]

    def _open(self, node: Node) -> set[tuple[str, int]]:
        """Indices that have values in a node."""
        out = set()
        for name in graph.symbols([node]):
            if name in self.sums:
                out |= self._open(self.sums[name].node)
            letter, bracket, inside = name.partition("[")
            places = zip(indices_of(self.spelling.get(letter, "")), inside.rstrip("]").split(","), strict=False)
            out |= {(index, int(text)) for index, text in places if bracket and text.isdigit()}
        return out

    def _renamed(self, node: Node, index: str, value: int) -> Node:
        """A node with the letter of an index for one of its values."""
        known: dict[Node, Node] = {}
        for name in graph.symbols([node]):
            if name in self.sums:
                known[sym(name)] = self._sum(self.sums[name].index, self._renamed(self.sums[name].node, index, value))
                continue
            letter, bracket, inside = name.partition("[")
            own = indices_of(self.spelling.get(letter, ""))
            if bracket and own:
                at = dict(zip(own, inside.rstrip("]").split(","), strict=True))
                new = {k: k if k == index and text == str(value) else text for k, text in at.items()}
                known[sym(name)] = sym(_bracketed(letter, self.spelling, new))
        return graph.substitute([node], known)[0]


def _said(sizes: Values) -> str:
    return ", ".join(f"{index} up to {size}" for index, size in sizes.items())
