r"""The descent recursion in the paper's own symbols; here because alpha and beta are neither states nor parameters.

A training set with orthogonal tokens and two classes of equal size has the symmetries of `dynamics.reduced`, so that
one sample n stands for all: n' is another sample of its class, :math:`\bar n` one of the other class. With
:math:`V_+ = V_+^{(0)} + \gamma_{V,+}\|w_O\|_2^2` and :math:`V_{n,i} = V_{n,i}^{(0)} + \rho_{V,n,i}\|w_O\|_2^2`
(Definition B.1) a step is Lemmas B.2 and B.3:

.. math::  S^+ = S + \alpha\mathcal K + \mathcal Q\beta^\top + \alpha S^\top\beta^\top,\quad
           \mathcal Q^+ = \mathcal Q + \alpha S^\top + S\alpha^\top + \alpha\mathcal K\alpha^\top,\quad
           \mathcal K^+ = \mathcal K + \beta S + S^\top\beta^\top + \beta\mathcal Q\beta^\top .

The coefficients are read off the derived loss: a coefficient is :math:`\eta` times the squared length of its token and
minus the slope of the loss in a score, which the loss of the quotient has as often as its orbit has members. That the
whole is the derived step is a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from odesys import ZERO, Node, Quotient, ScalarField, System, WrittenEquations, graph, num, sym

from .. import dynamics, setting

CLASS = "N_p"  # |S_+|
LETTERS = {"wOV": "V", "KQ": "qk", "QQ": "qq", "KK": "kk"}


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a balanced training set as the paper writes them: +, -, and (n, i), seen from one sample."""

    N: int
    M: int

    def place(self, token: int) -> tuple[int, int]:
        """Sample (-1 for a signal) and number in it."""
        return (-1, token) if token < 2 else divmod(token - 2, self.M - 1)

    def label(self, token: int) -> bool:
        """True for the class +."""
        n, i = self.place(token)
        return i == 0 if n < 0 else n < self.N // 2

    def written(self, first: int, *others: int) -> tuple[str, ...]:
        """Indices seen from the first token, whose class counts as +: p, m, n2 of a sample, o2 and x2 of others."""
        home, own, out = self.place(first)[0], self.label(first), list[str]()
        for token in (first, *others):
            n, i = self.place(token)
            same = self.label(token) == own
            if n < 0:
                out.append("p" if same else "m")
            elif not same:
                out.append(f"x{i + 2}")
            else:
                out.append(f"n{i + 2}" if home in (-1, n) else f"o{i + 2}")
        return tuple(out)


def index_tex(index: str) -> str:
    r"""p as +, n2 as n,2, o2 as n',2 and x2 as \bar n,2."""
    if index in "pm":
        return {"p": "+", "m": "-"}[index]
    return {"n": "n", "o": "n'", "x": r"\bar n"}[index[0]] + "," + index[1:]


def product_tex(kind: str, left: str, right: str) -> str:
    """An inner product, or the squared length of a query or key."""
    a, b = index_tex(left), index_tex(right)
    if kind[0] == kind[1] and left == right:
        return rf"\|{kind[0]}_{{{a}}}\|_2^2"
    return rf"\langle {kind[0]}_{{{a}}},{kind[1]}_{{{b}}}\rangle"


def coefficient_tex(letter: str, left: str, right: str) -> str:
    """alpha_{+,+}, alpha_{n,+,i}, alpha_{n,i,+} or alpha_{n,i,n,j}, with the order of indices of Definition B.3."""
    a, b = index_tex(left), index_tex(right)
    if left in "pm" and right not in "pm":
        n, i = b.split(",")
        return rf"\{letter}_{{{n},{a},{i}}}"
    return rf"\{letter}_{{{a},{b}}}"


class _Recursion:
    """Tables of symbols over all tokens, lifted from the orbits of the quotient."""

    def __init__(self, N: int, M: int) -> None:
        self.N, self.M, self.tokens = N, M, Tokens(N, M)
        self.made = dynamics.recursion(N, M, setting.orthogonal_gram(N, M))
        self.quotient: Quotient = dynamics.reduced(self.made, N, M)
        self.names: dict[str, str] = {}  # orbit: name
        self.tex: dict[str, str] = {}
        self.members: dict[str, int] = {}
        self.tables = {leaf: self._table(leaf) for leaf in LETTERS}
        self.old = {sym(orbit): sym(name) for orbit, name in self.names.items()}

    def _table(self, leaf: str) -> np.ndarray:
        """Symbols of the states of one kind, a matrix (rows queries for the scores)."""
        states = self.made.matrices[leaf]
        states = states.T if leaf == "KQ" else states
        out = np.full(states.shape, ZERO, dtype=object)
        for (i, j), state in np.ndenumerate(states):
            orbit, sign = self.quotient.variable(state)
            self.members[orbit] = self.members.get(orbit, 0) + 1
            if orbit not in self.names:
                self._call(orbit, LETTERS[leaf], i, j)
            out[i, j] = num(sign) * sym(self.names[orbit])
        return out

    def _call(self, orbit: str, kind: str, i: int, j: int) -> None:
        indices = self.tokens.written(j) if kind == "V" else self.tokens.written(i, j)
        name = "_".join((kind, *indices))
        self.names[orbit] = name
        self.tex[name] = f"V_{{{index_tex(indices[0])}}}" if kind == "V" else product_tex(kind, *indices)

    @property
    def lengths(self) -> list[Node]:
        """Squared lengths of the tokens."""
        return [sym("m_s")] * 2 + [sym("m_2"), *[sym("m_w")] * (self.M - 2)] * self.N

    def slopes(self, leaf: str) -> np.ndarray:
        """-dL over the states of one kind: that of the orbit over the number of its members."""
        loss = graph.substitute([self.quotient.system.observables["loss"]], self.old)[0]
        table, orbits = self.tables[leaf], {name: orbit for orbit, name in self.names.items()}
        names = sorted({n for node in table.ravel() for n in graph.symbols([node])})
        found = dict(zip(names, graph.gradient(loss, [sym(n) for n in names]), strict=True))
        out = np.full(table.shape, ZERO, dtype=object)
        for place, node in np.ndenumerate(table):
            (name,) = graph.symbols([node])
            sign = 1 if node is sym(name) else -1
            out[place] = -sign * found[name] / self.members[orbits[name]]
        return out


def _coefficients(made: _Recursion) -> tuple[np.ndarray, np.ndarray, dict[str, Node], dict[str, str]]:
    """alpha and beta as tables of symbols, with their definitions and TeX; eta/(NM) stands in front."""
    H, lengths, tokens = made.slopes("KQ"), made.lengths, made.tokens
    scale = num(made.N * made.M) / (sym("N") * sym("M"))
    definitions: dict[str, Node] = {}
    tex: dict[str, str] = {}
    tables = []
    for letter, table in (("alpha", H), ("beta", H.T)):
        out = np.full(H.shape, ZERO, dtype=object)
        for (i, j), force in np.ndenumerate(table):
            if force is ZERO:
                continue
            indices = tokens.written(i, j)
            name = "_".join((letter, *indices))
            count = sym(CLASS) / num(made.N // 2) if indices == ("p", "p") else num(1)  # all samples of the class
            definitions.setdefault(name, sym("eta") * lengths[i] * force * scale * count)
            tex[name] = coefficient_tex(letter, *indices)
            out[i, j] = sym(name)
        tables.append(out)
    return tables[0], tables[1], definitions, tex


def _gaps(made: _Recursion) -> tuple[dict[str, Node], dict[str, str]]:
    """Lambda, the signal's score less that of a noise key, and Psi, that of the first noise key less another one."""
    S, M, nodes, tex = made.tables["KQ"], made.M, dict[str, Node](), dict[str, str]()
    for row in (0, *range(2, 1 + M)):
        (index,) = made.tokens.written(row)
        for j in range(2, M + 1):
            nodes[f"Lambda_{index}_{j}"] = S[row, 0] - S[row, j]
            lower = f"n,+,{j}" if row == 0 else f"{index_tex(index)},+,{j}"
            tex[f"Lambda_{index}_{j}"] = rf"\Lambda_{{{lower}}}"
        for key, label in ((0, "+"), *((j, str(j)) for j in range(3, M + 1))):
            name = f"Psi_{index}_{'p' if key == 0 else key}"
            nodes[name] = S[row, 2] - S[row, key]
            own = "n,+" if row == 0 else index_tex(index)
            tex[name] = rf"\Psi_{{{own}}}" if row == 0 and key == 0 else rf"\Psi_{{{own},{label}}}"
    return nodes, tex


@cache
def paper_recursion(N: int, M: int) -> System:
    """The exact gradient step in gamma, rho and inner products, written with alpha, beta, Lambda and Psi."""
    made = _Recursion(N, M)
    S, Q, K, V = (made.tables[leaf] for leaf in ("KQ", "QQ", "KK", "wOV"))
    A, B, coefficients, tex = _coefficients(made)
    tex |= made.tex
    updates = {
        "KQ": S + A @ K + Q @ B.T + A @ S.T @ B.T,
        "QQ": Q + A @ S.T + S @ A.T + A @ K @ A.T,
        "KK": K + B @ S + S.T @ B.T + B @ Q @ B.T,
    }
    written: dict[str, Node] = {}
    values, renamed = dict[str, Node](), dict[Node, Node]()
    push, scale = made.slopes("wOV")[0], num(N * M) / (sym("N") * sym("M"))
    for token in (0, *range(2, M + 1)):
        (name,) = graph.symbols([V[0, token]])
        index = name.split("_")[1]
        if index.startswith("n") and int(index[1:]) != token:
            continue  # a weak token that stands for all
        state = f"gamma_V_{index}" if token == 0 else f"rho_V_{index}"
        letter = r"\gamma" if token == 0 else r"\rho"
        tex[state], tex[f"{name}_0"] = f"{letter}_{{V,{index_tex(index)}}}", f"V_{{{index_tex(index)}}}^{{(0)}}"
        values[name] = sym(f"{name}_0") + sym(state) * sym("w2")
        renamed[sym(name)] = values[name]
        count = sym(CLASS) / num(N // 2) if token == 0 else num(1)
        written[state] = sym(state) + sym("eta") * made.lengths[token] * push[token] * scale * count
    for leaf, table in updates.items():
        for place, node in np.ndenumerate(made.tables[leaf]):
            (name,) = graph.symbols([node])
            written.setdefault(name, table[place])
    gaps, more = _gaps(made)
    sizes = {"N": num(N), "M": num(M), CLASS: num(N // 2)}
    exact = graph.substitute(list(written.values()), {sym(n): node for n, node in coefficients.items()})
    exact = graph.substitute(graph.substitute(exact, renamed), {sym(n): node for n, node in sizes.items()})
    loss = graph.substitute([made.quotient.system.observables["loss"]], made.old)
    observables = dict(zip(("loss", *gaps), graph.substitute([*loss, *gaps.values()], renamed), strict=True))
    field = ScalarField(tuple(exact), observables)
    shown = WrittenEquations(field, {**sizes, **values, **coefficients, **gaps}, tuple(written.values()))
    starts = [f"{name}_0" for name in values]
    parameters = tuple(sorted({*made.quotient.system.parameters, "w2", *starts}))
    tex |= more | {"eta": r"\eta", "w2": r"\|w_O\|_2^2", "m_s": r"\|\mu\|_2^2"}
    tex |= {CLASS: r"\lvert S_+\rvert", "m_2": r"\tilde\sigma_p^2d", "m_w": r"\sigma_p^2d"}
    return System(tuple(written), field, parameters, "map", tex, written=shown)


def start_of(system: System, values: Mapping[str, float]) -> dict[str, float]:
    """The infinite-width start: gamma, rho and all inner products zero, squared lengths kappa m."""
    lengths = {"p": "m_s", "n2": "m_2"}
    out = dict.fromkeys(system.names, 0.0)
    for name in out:
        kind, *indices = name.split("_")
        if kind in ("qq", "kk") and indices[0] == indices[1]:
            out[name] = values["kappa"] * values[lengths.get(indices[0], "m_w")]
    return out
