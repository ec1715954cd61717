r"""Appendices B and C as printed, sum by sum; here because the paper writes its equations out over neurons.

The tables hold the paper's variables: :math:`w_j^\top W_V\mu` (m1, d), :math:`\nu^\top W_K^\top W_Q\mu` (d, d; key
first), :math:`\langle w_j, w_k\rangle`, and the Gram tables of values, keys and queries. Nothing derived is used here;
the sums are slow on purpose, a line of code per line of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from odesys import Data, Flow, graph, sym


@dataclass(frozen=True, eq=False)
class Tables:
    """All variables of the dynamical system of appendix C, and the data; entries are floats or nodes."""

    tokens: list[list[int]]  # word numbers, sample by sample
    labels: list[int]
    signs: tuple[int, ...]  # a_j
    wv: np.ndarray  # w_j' W_V mu
    score: np.ndarray  # nu' W_K' W_Q mu
    ww: np.ndarray
    vv: np.ndarray
    kk: np.ndarray
    qq: np.ndarray
    root_m: Any
    exp: Callable[[Any], Any]
    g: Callable[[Any], Any]

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.tokens)

    @cached_property
    def p(self) -> list[list[list[Any]]]:
        """Attention p[i][l][h] of the query at position l on the key at position h."""
        table = []
        for tokens in self.tokens:
            rows = []
            for query in tokens:
                weights = [self.exp(self.score[key, query] / self.root_m) for key in tokens]
                total = _sum(weights)
                rows.append([w / total for w in weights])
            table.append(rows)
        return table

    @cached_property
    def neuron_out(self) -> list[list[list[Any]]]:
        """w_j' V^(i) p_l, by sample, position and neuron."""
        return [
            [
                [_sum(self.wv[j, x] * p for x, p in zip(tokens, row, strict=True)) for j in range(len(self.signs))]
                for row in rows
            ]
            for tokens, rows in zip(self.tokens, self.p, strict=True)
        ]

    @cached_property
    def outputs(self) -> list[Any]:
        """F_i, Eq. (1)."""
        return [_sum(a * row[j] for row in rows for j, a in enumerate(self.signs)) for rows in self.neuron_out]

    @cached_property
    def gy(self) -> list[Any]:
        """g_i y_i."""
        return [self.g(y * F) * y for y, F in zip(self.labels, self.outputs, strict=True)]

    def G(self, mu: int) -> Any:
        """The sub-network G(mu) = sum_j a_j w_j' W_V mu of Definition E.18."""
        return _sum(a * self.wv[j, mu] for j, a in enumerate(self.signs))

    def _each(self) -> Any:
        """Samples with g y, tokens, attention and the outputs of the neurons."""
        return zip(self.gy, self.tokens, self.p, self.neuron_out, strict=True)

    def neuron(self, j: int, mu: int) -> Any:
        """Eq. (6): the rate of w_j' W_V mu."""
        first = _sum(
            gy * a * self.ww[j, k] * row[h]
            for gy, tokens, p, _ in self._each()
            for row in p
            for h, x in enumerate(tokens)
            if x == mu
            for k, a in enumerate(self.signs)
        )
        second = _sum(
            gy * self.signs[j] * row[h] * self.vv[x, mu]
            for gy, tokens, p, _ in self._each()
            for row in p
            for h, x in enumerate(tokens)
        )
        return (first + second) / self.n

    def neuron_split(self, j: int, mu: int) -> Any:
        """The second form of Lemma C.1: the squared norms in front, epsilon behind."""
        squares = self.ww[j, j] + self.vv[mu, mu]
        lead = _sum(
            gy * self.signs[j] * squares * row[tokens.index(mu)]
            for gy, tokens, p, _ in self._each()
            if mu in tokens
            for row in p
        )
        others = _sum(
            gy * a * self.ww[j, k] * row[h]
            for gy, tokens, p, _ in self._each()
            if mu in tokens
            for row in p
            for h in [tokens.index(mu)]
            for k, a in enumerate(self.signs)
            if k != j
        )
        rest = _sum(
            gy * self.signs[j] * row[h] * self.vv[x, mu]
            for gy, tokens, p, _ in self._each()
            for row in p
            for h, x in enumerate(tokens)
            if x != mu
        )
        return (lead + others + rest) / self.n

    def correlation(self, j: int, k: int) -> Any:
        """Lemma C.2: the rate of <w_j, w_k>, split into words of U = {mu1, mu2, mu3} and the others."""
        return (
            _sum(
                gy * row[h] * (self.signs[k] * self.wv[j, x] + self.signs[j] * self.wv[k, x])
                for inside in (True, False)
                for gy, tokens, p, _ in self._each()
                for row in p
                for h, x in enumerate(tokens)
                if (x < 3) is inside
            )
            / self.n
        )

    def values(self, nu: int, mu: int) -> Any:
        """Lemma C.3: the rate of nu' W_V' W_V mu."""
        return (
            _sum(
                gy * a * self.wv[j, left] * row[h]
                for left, right in ((nu, mu), (mu, nu))
                for gy, tokens, p, _ in self._each()
                for row in p
                for h, x in enumerate(tokens)
                if x == right
                for j, a in enumerate(self.signs)
            )
            / self.n
        )

    def _pull(self, l: int, h: int, tokens: list[int], p: list[list[Any]], out: list[list[Any]]) -> Any:
        """sum_j a_j (w_j' v_h - w_j' V p_l) p_lh, the entry of the softmax derivative."""
        return _sum(a * (self.wv[j, tokens[h]] - out[l][j]) for j, a in enumerate(self.signs)) * p[l][h]

    def queries(self, nu: int, mu: int) -> Any:
        """Lemma C.4, first formula: the rate of nu' W_Q' W_Q mu."""
        return _sum(
            gy * self.score[tokens[h], left] * self._pull(l, h, tokens, p, out)
            for left, right in ((nu, mu), (mu, nu))
            for gy, tokens, p, out in self._each()
            for l, x in enumerate(tokens)
            if x == right
            for h in range(len(tokens))
        ) / (self.n * self.root_m)

    def keys(self, nu: int, mu: int) -> Any:
        """Lemma C.4, second formula: the rate of nu' W_K' W_K mu."""
        return _sum(
            gy * self.score[left, tokens[l]] * self._pull(l, h, tokens, p, out)
            for left, right in ((nu, mu), (mu, nu))
            for gy, tokens, p, out in self._each()
            for h, x in enumerate(tokens)
            if x == right
            for l in range(len(tokens))
        ) / (self.n * self.root_m)

    def scores(self, nu: int, mu: int) -> Any:
        """Eq. (7): the rate of nu' W_K' W_Q mu."""
        first = _sum(
            gy * self.kk[nu, tokens[h]] * self._pull(l, h, tokens, p, out)
            for gy, tokens, p, out in self._each()
            for l, x in enumerate(tokens)
            if x == mu
            for h in range(len(tokens))
        )
        second = _sum(
            gy * self.qq[mu, tokens[l]] * self._pull(l, h, tokens, p, out)
            for gy, tokens, p, out in self._each()
            for h, x in enumerate(tokens)
            if x == nu
            for l in range(len(tokens))
        )
        return (first + second) / (self.n * self.root_m)

    def scores_split(self, nu: int, mu: int) -> Any:
        """Lemma C.4, third formula: the four terms of the rate of nu' W_K' W_Q mu."""
        total = []
        for gy, tokens, p, out in self._each():
            if mu in tokens and nu in tokens:
                pull = self._pull(tokens.index(mu), tokens.index(nu), tokens, p, out)
                total += [gy * self.kk[nu, nu] * pull, gy * self.qq[mu, mu] * pull]
            if mu in tokens:
                l = tokens.index(mu)
                total += [
                    gy * self.kk[nu, x] * self._pull(l, h, tokens, p, out) for h, x in enumerate(tokens) if x != nu
                ]
            if nu in tokens:
                h = tokens.index(nu)
                total += [
                    gy * self.qq[mu, x] * self._pull(l, h, tokens, p, out) for l, x in enumerate(tokens) if x != mu
                ]
        return _sum(total) / (self.n * self.root_m)


def _sum(terms: Any) -> Any:
    items = list(terms)
    if items and isinstance(items[0], graph.Node):
        return graph.add(items)
    return sum(items)


LEAVES = {"WV": "wv", "aWV": "wv", "KQ": "score", "WW": "ww", "aWWa": "ww", "VV": "vv", "KK": "kk", "QQ": "qq"}


def encoded(dataset: Data, flow: Flow) -> list[list[int]]:
    """Word numbers of the samples."""
    return [[flow.model.words.parse(token)[0] for token in sample.tokens] for sample in dataset.samples]


def symbolic_tables(flow: Flow, dataset: Data, signs: tuple[int, ...]) -> Tables:
    """The variables of a level-0 flow as symbols, with the samples and labels of `dataset`, for exact comparison.

    Of a level-1 flow only forces can be asked for: all neurons are one, with the sign +1.
    """
    leaves = {LEAVES[leaf]: table for leaf, table in flow.layout.symbols.items()}
    return Tables(
        encoded(dataset, flow),
        [s.label for s in dataset.samples],
        signs,
        **leaves,
        root_m=graph.sqrt(sym("m")),
        exp=graph.exp,
        g=lambda z: graph.call("sigmoid", -z),
    )


def numeric_tables(flow: Flow, signs: tuple[int, ...], state: np.ndarray, m: float) -> Tables:
    """The variables of a level-0 flow at a state vector."""
    leaves = {LEAVES[s.leaf]: np.asarray(state)[s.index] for s in flow.layout.segments}
    return Tables(
        encoded(flow.data, flow),
        [s.label for s in flow.data.samples],
        signs,
        **leaves,
        root_m=np.sqrt(m),
        exp=np.exp,
        g=lambda z: 1 / (1 + np.exp(z)),
    )


def rates(tables: Tables) -> dict[str, np.ndarray]:
    """All equations of appendix C as tables, by leaf of the level-0 flow."""
    d, m1 = tables.score.shape[0], len(tables.signs)

    def table(rows: int, columns: int, entry: Callable[[int, int], Any]) -> np.ndarray:
        out = np.empty((rows, columns), dtype=object)
        for i, j in np.ndindex(rows, columns):
            out[i, j] = entry(i, j)
        return out

    return {
        "WV": table(m1, d, tables.neuron),
        "KQ": table(d, d, tables.scores),
        "WW": table(m1, m1, tables.correlation),
        "VV": table(d, d, tables.values),
        "KK": table(d, d, tables.keys),
        "QQ": table(d, d, tables.queries),
    }
