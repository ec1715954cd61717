r"""The network, its data and its training in formulas; here because sign descent is outside the model language.

Every formula is a SymPy expression in entries of weights and patches; its TeX is printed from it, and the tests put
numbers into it and compare with the network that runs. A sum over coordinates of two vectors prints as their product,

.. math::  \sum_{k=1}^d w_{Q,r,k}\,x^{(l)}_k = \langle w_{Q,r}, x^{(l)}\rangle .
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from odesys import Formula, indexed_lines

from ..setting import SUPPORTS
from . import general_step
from .network import Weights

#: how an entry is written, and the vector of all entries over the last index; factors stand in this order
TEX = {
    "y": ("y_{{{0}}}", ""),
    "f": ("f(X_{{{0}}})", ""),
    "s": ("s_{{{0}{1}}}", ""),
    "z": ("z_{{{0}{1}}}", ""),
    "w_Q": ("w_{{Q,{0},{1}}}", "w_{{Q,{0}}}"),
    "w_K": ("w_{{K,{0},{1}}}", "w_{{K,{0}}}"),
    "w_V": ("w_{{V,{0},{1},{2}}}", "w_{{V,{0},{1}}}"),
    "v": ("v_{{{0}}}", "v"),
    "x": ("x^{{({0})}}_{{{1}}}", "x^{{({0})}}"),
}
BASES = {name: sp.IndexedBase(name) for name in TEX}
Y, F, S, Z, W_Q, W_K, W_V, V, X = (BASES[name] for name in ("y", "f", "s", "z", "w_Q", "w_K", "w_V", "v", "x"))
A, B, I, K, QUERY, R = sp.symbols("a b i k l r", integer=True, positive=True)
D, PATCHES, M_K, M_V, N = sp.symbols("d L m_k m_v n", integer=True, positive=True)
MU, ETA, THETA, LABEL = sp.symbols(r"\|\mu\| eta theta y")
LOSS = sp.Function(r"\mathcal{L}")


@dataclass(frozen=True)
class Definition:
    """What a name means: `left` is an entry with its indices or a symbol, `right` the expression it stands for."""

    what: str
    left: sp.Expr
    right: sp.Expr

    @property
    def tex(self) -> str:
        """The formula as it is shown."""
        write = Writer().doprint
        return f"{write(self.left)} = {write(self.right)}"


def inner(one: sp.Indexed, other: sp.Indexed) -> sp.Expr:
    """The product over all coordinates k of two vectors, given by their entries k."""
    return sp.Sum(one * other, (K, 1, D))


OUTPUT = Definition(
    "output",
    sp.Symbol("f(X)"),
    sp.Sum(sp.Sum(S[QUERY, A] * inner(V[K], X[A, K]), (A, 1, PATCHES)), (QUERY, 1, PATCHES)),
)
ATTENTION = Definition("attention", S[QUERY, A], sp.exp(Z[QUERY, A]) / sp.Sum(sp.exp(Z[QUERY, B]), (B, 1, PATCHES)))
LOGIT = Definition(
    "logits", Z[QUERY, A], sp.Sum(inner(W_Q[R, K], X[QUERY, K]) * inner(W_K[R, K], X[A, K]), (R, 1, M_K))
)
VALUE = Definition("mean value vector", V[K], sp.Sum(W_V[1, R, K] - W_V[-1, R, K], (R, 1, M_V)) / M_V)
TRAINING_LOSS = Definition("loss", LOSS(THETA), sp.Sum(sp.log(1 + sp.exp(-Y[I] * F[I])), (I, 1, N)) / N)
STEP = Definition("training", sp.Symbol(r"\theta^{+}"), THETA - ETA * sp.sign(sp.Derivative(LOSS(THETA), THETA)))
SIGNAL = Definition("signal patch", X[1, K], LABEL * MU * sp.KroneckerDelta(K, 1))


#: rows of the step for every number of samples, in words; those of one name stand in one line
ROWS = {
    "w[i]": "value gap, driver of queries",
    "B[r,i]": "value gap, driver of queries",
    "A[r,i]": "driver of keys",
    "Gq[r]": "driver of the query signal",
    "Gk[r]": "driver of the key signal",
    "g[i]": "loss slope of a sample",
    "s11[i]": "attention of the signal patch on itself",
    "s12[i]": "attention of the signal patch on the noise patch",
    "s21[i]": "attention of the noise patch on the signal patch",
    "s22[i]": "attention of the noise patch on itself",
    "q[r,i]": "step of query noise",
    "k[r,i]": "step of key noise",
    "q_mu[r]": "step of query signal",
    "k_mu[r]": "step of key signal",
    "v_mu": "steps of values",
    "v[i]": "steps of values",
}


def recursion() -> list[Formula]:
    """The exact step of the inner products for disjoint supports and any number of samples, as it is derived."""
    system = general_step.general()
    lines, states = indexed_lines(system), r",\quad ".join(map(general_step.meaning, system.rows))
    disjoint = r"\operatorname{supp}\xi_i \cap \operatorname{supp}\xi_j = \emptyset\ (i \neq j),\quad "
    disjoint += r"\operatorname{supp}\xi_i \cap \operatorname{supp}\mu = \emptyset"
    return [
        Formula("disjoint supports, for the step below", disjoint),
        Formula("inner products", states),
        Formula("minus the slope of the logistic loss", r"\varphi(z) = \frac{1}{1 + e^{z}}"),
        *(
            Formula(what, r",\quad ".join(lines[name] for name, of in ROWS.items() if of == what))
            for what in dict.fromkeys(ROWS.values())
        ),
    ]


def _is_negative(part: sp.Expr) -> bool:
    return bool(part.could_extract_minus_sign())


def _rank(part: sp.Expr) -> int:
    """Place of a factor: that of the first of its names in the table."""
    names = list(TEX)
    return min((names.index(str(entry.base)) for entry in part.atoms(sp.Indexed)), default=0)


class Writer(LatexPrinter):
    """SymPy's TeX with the names of the paper, one sum sign per index, and products of vectors."""

    def __init__(self) -> None:
        super().__init__({"order": "none"})

    def _print_Indexed(self, entry: sp.Indexed) -> str:
        return TEX[str(entry.base)][0].format(*map(self._print, entry.indices))

    def _print_Sum(self, total: sp.Sum) -> str:
        factors = sorted(sp.Mul.make_args(total.function), key=_rank)
        if [limit[0] for limit in total.limits] == [K] and all(isinstance(f, sp.Indexed) for f in factors):
            vectors = [TEX[str(f.base)][1].format(*map(self._print, f.indices[:-1])) for f in factors]
            return rf"\langle {', '.join(vectors)}\rangle"
        marks = [
            rf"\sum_{{{self._print(i)}={self._print(low)}}}^{{{self._print(high)}}}"
            for i, low, high in reversed(total.limits)
        ]
        return f"{' '.join(marks)} {self._factor(total.function)}"

    def _print_Add(self, total: sp.Add, order: Any = None) -> str:
        """What is added first, then what is subtracted."""
        return str(super()._print_Add(sp.Add(*sorted(total.args, key=_is_negative), evaluate=False), "none"))

    def _print_Mul(self, product: sp.Mul) -> str:
        if _is_negative(product):
            return f"- {self._print(-product)}"
        below = [1 / f for f in product.args if f.is_Pow and f.exp == -1]
        above = [f for f in product.args if not (f.is_Pow and f.exp == -1)]
        rest = " ".join(map(self._factor, sorted(above, key=_rank)))
        if len(below) == 1 and below[0].is_Symbol:
            return rf"\frac{{1}}{{{self._print(below[0])}}} {rest}"
        return rf"\frac{{{rest}}}{{{' '.join(map(self._factor, below))}}}" if below else rest

    def _factor(self, part: sp.Expr) -> str:
        text = self._print(part)
        return rf"\left({text}\right)" if part.is_Add else text

    def _print_sign(self, of: sp.sign) -> str:
        return rf"\mathrm{{sgn}}\Big({self._print(of.args[0])}\Big)"

    def _print_Derivative(self, slope: sp.Derivative) -> str:
        return rf"\frac{{\partial \mathcal{{L}}}}{{\partial {self._print(slope.variables[0])}}}"


def formulas(parameters: Mapping[str, Any]) -> list[Formula]:
    """Model, training and data; what is trained are the arrays of `network.Weights`, and all of it is drawn."""
    moves = [f"{name[0]}_{{{name[2:]}}}" for name in (field.name for field in fields(Weights))]
    out = [Formula(made.what, made.tex) for made in (OUTPUT, ATTENTION, LOGIT, VALUE, TRAINING_LOSS)]
    out.append(Formula(STEP.what, rf"{STEP.tex}, \quad \theta \in \{{{', '.join(moves)}\}}"))
    start = rf"\text{{all entries of }}{', '.join(moves)}\text{{ independent, }}N(0, \sigma_0^2)"
    noise = (
        r"x^{(2)}_k = \xi_k \sim N(0, \sigma_p^2)\text{ on }s\text{ coordinates, }0\text{ elsewhere; supports "
        rf"{SUPPORTS[parameters['supports']]}}}"
    )
    rest = [Formula("start", start), Formula(SIGNAL.what, SIGNAL.tex), Formula("noise patch", noise)]
    return [*out, *rest, *recursion()]
