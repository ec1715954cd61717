"""The claim book of the paper, and what several parts share: the paper's formulas over the symbols of a toy system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from odesys import ONE, ZERO, ClaimBook, Node, Verdict, graph, num

from .. import setting
from ..laboratory import Laboratory, Toy
from .common_hypotheses import SYMBOLS

book = ClaimBook(
    "benign_overfitting",
    Laboratory,
    reference="Unveil Benign Overfitting for Transformer in Vision: Training Dynamics, Convergence, and Generalization",
    symbols=SYMBOLS,
    rule=True,
)

COQ = Path(__file__).with_name("coq")  # arguments of proofs, for an export
NUMBERS = "a statement about numbers or random vectors, not about the system"
TOY = "two samples, one of each class, with any Gram matrix of the noise; the printed formulas are sums over samples"


def on_toy(verdict: Verdict, M: int = 3) -> Verdict:
    """A verdict about the derived equations of the toy: exact, for its sizes."""
    return verdict.proving(TOY, N=2, M=M)


@dataclass(frozen=True, eq=False)
class Tables:
    """The paper's quantities of two samples (labels +, -) over the symbols of the derived toy system."""

    M: int
    S: np.ndarray  # (query, key)
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    G: np.ndarray

    @property
    def N(self) -> int:
        """Samples."""
        return 2

    @property
    def places(self) -> np.ndarray:
        """Token indices of each sample."""
        return setting.places(2, self.M)

    @property
    def y(self) -> tuple[int, ...]:
        """Labels."""
        return setting.labels(2)

    def attention(self, n: int) -> list[list[Node]]:
        """phi^(n): softmax of each row of scores, from Eq. (1)."""
        rows = []
        for query in self.places[n]:
            weights = [graph.exp(self.S[query, key]) for key in self.places[n]]
            total = graph.add(weights)
            rows.append([w / total for w in weights])
        return rows

    def row_outputs(self, n: int) -> list[Node]:
        """f_l = sum_j phi_lj v_j."""
        v = [self.V[j] for j in self.places[n]]
        return [graph.add(p * x for p, x in zip(row, v, strict=True)) for row in self.attention(n)]

    def output(self, n: int) -> Node:
        """f(X_n), Eq. (1)."""
        return graph.add(self.row_outputs(n)) / self.M

    def slope(self, n: int) -> Node:
        """-l'_n = 1 / (1 + exp(y f))."""
        return graph.call("sigmoid", -self.y[n] * self.output(n))

    def jacobian(self, n: int, l: int) -> list[list[Node]]:
        """diag(phi_l) - phi_l' phi_l of row l."""
        p = self.attention(n)[l]
        return [[p[i] * ((ONE if i == j else ZERO) - p[j]) for j in range(self.M)] for i in range(self.M)]

    def H(self) -> np.ndarray:
        """H = sum_n y_n (-l'_n) / (N M) E_n' g E_n, g_lj = [J_l v]_j."""
        out = np.full(self.S.shape, ZERO, dtype=object)
        for n in range(2):
            for l, query in enumerate(self.places[n]):
                J = self.jacobian(n, l)
                for j, key in enumerate(self.places[n]):
                    force = graph.add(J[j][i] * self.V[t] for i, t in enumerate(self.places[n]))
                    out[query, key] = out[query, key] + num(self.y[n]) / (2 * self.M) * self.slope(n) * force
        return out


def tables(toy: Toy, M: int) -> Tables:
    """Symbols of a toy as the paper's matrices; the names are those of the paper's own training set."""
    x, G = toy.symbols, np.frompyfunc(graph.as_node, 1, 1)(toy.gram)
    return Tables(M, x["KQ"].T, x["QQ"], x["KK"], x["wOV"][0], np.asarray(G, dtype=object))


def read_off(toy: Toy, keys: bool) -> np.ndarray:
    """alpha / eta = G H (or beta / eta = G H'), read off the derived dS = G H K + Q H G at K = I, Q = 0 (or reversed)."""
    first, second = ("KK", "QQ") if keys else ("QQ", "KK")
    unit = {node: ONE if i == j else ZERO for (i, j), node in np.ndenumerate(toy.symbols[first])}
    unit |= {node: ZERO for node in toy.symbols[second].ravel()}
    change = toy.rhs("KQ").T  # rows queries
    found = np.array(graph.substitute(list(change.ravel()), unit), dtype=object).reshape(change.shape)
    return found if keys else found.T
