"""The claim book of the paper, and expressions that several parts share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path

import numpy as np

from odesys import ONE, ZERO, ClaimBook, Flow, Node, Verdict, equal, graph, sym

from ..laboratory import Laboratory
from .common_hypotheses import SYMBOLS, inner_products

book = ClaimBook(
    "two_mixture",
    Laboratory,
    reference="Transformers Provably Learn Two-Mixture of Linear Classification via Gradient Flow",
    symbols=SYMBOLS,
    natural=inner_products,
    rule=True,
)

COQ = Path(__file__).with_name("coq")  # arguments of proofs, for an export
UNMUTATED = "the enclosure is of the unmutated stage 2"  # why mutations do not reach a claim
SIGNS = (1, -1)
WORDS = ("c1", "c2", "v1", "v2")
SAMPLES = tuple((k, s, r) for k in (1, 2) for s in SIGNS for r in SIGNS)
FLOATS = {  # how `graph.evaluate` computes in floats
    "exp": exp,
    "sigmoid": lambda z: 1 / (1 + exp(-z)),
    "step": lambda z: float(z > 0),
    "relu": lambda z: max(z, 0.0),
}
CONSISTENT = tuple((k, s, s) for k in (1, 2) for s in SIGNS)
CONFLICTING = tuple((k, s, -s) for k in (1, 2) for s in SIGNS)


def tokens(k: int, s: int, r: int) -> tuple[tuple[str, int], ...]:
    """Words and signs of X_{k,s,s'} = (c_k, s v_k, s' v_k')."""
    return (f"c{k}", 1), (f"v{k}", s), (f"v{3 - k}", r)


def name(k: int, s: int, r: int) -> str:
    """X_{k,s,s'} in text."""
    return f"X_{{{k},{'+' if s > 0 else '-'},{'+' if r > 0 else '-'}}}"


def attention(lab: Laboratory, sample: tuple[int, int, int], sign: int, lifted: bool = False) -> list[list[Node]]:
    """Softmax weights of one head on a sample, rows queries, written out from Eq. (1) entry by entry."""
    words = tokens(*sample)
    rows = []
    for query, sq in words:
        weights = []
        for key, sk in words:
            score = lab.score(sign, key, query)
            weights.append(graph.exp(sk * sq * (lab.symmetric(score) if lifted else sym(score))))
        total = graph.add(weights)
        rows.append([weight / total for weight in weights])
    return rows


def head_output(lab: Laboratory, sample: tuple[int, int, int], sign: int) -> Node:
    """H_sign(X) = sum_l w' X softmax(...), written out from Eq. (1)."""
    values = [s * lab.neuron(sign, word) for word, s in tokens(*sample)]
    rows = attention(lab, sample, sign)
    return graph.add(weight * value for row in rows for weight, value in zip(row, values, strict=True))


def scores_at_zero(nodes: Iterable[Node], prefixes: tuple[str, ...] = ("M_", "KQ_")) -> dict[Node, Node]:
    """Uniform attention: all scores in some expressions are zero."""
    return {sym(n): ZERO for n in sorted(graph.symbols(nodes)) if n.startswith(prefixes)}


def zero_scores(nodes: Mapping[str, Node], prefixes: tuple[str, ...] = ("M_", "KQ_")) -> dict[str, Node]:
    """The same expressions at uniform attention: all scores zero."""
    given = scores_at_zero(nodes.values(), prefixes)
    return dict(zip(nodes, graph.substitute(list(nodes.values()), given), strict=True))


def gates_on(nodes: Iterable[Node], off: tuple[Node, ...] = ()) -> dict[Node, Node]:
    """Every gate in some expressions is open, but for those whose surface is in `off`."""
    gates: dict[Node, Node] = {}
    for surface in graph.surfaces(nodes):
        gate = ZERO if surface in off else ONE
        gates |= {graph.step(surface): gate, graph.step(-surface): ONE - gate}
    return gates


def all_units_on(nodes: Mapping[str, Node], off: tuple[Node, ...] = ()) -> dict[str, Node]:
    """The same expressions with every unit active, but for those whose surface is in `off`."""
    return dict(zip(nodes, graph.substitute(list(nodes.values()), gates_on(nodes.values(), off)), strict=True))


def path_tables(flow: Flow, head: str) -> dict[str, np.ndarray]:
    """Scores and self-scores of one head as arrays of symbols."""
    return {key: flow.layout.symbols[f"{path}_{head}"] for key, path in (("M", "KQ"), ("A", "KK"), ("B", "QQ"))}


@dataclass(frozen=True)
class MatrixForm:
    """The force of one head, and for each of the 36 equations its right-hand side and its form in the letters of G."""

    force: np.ndarray
    pairs: dict[str, tuple[Node, Node]]
    given: dict[Node, Node]  # the letters of G

    def holds(self, names: Iterable[str] | None = None) -> Verdict:
        """All equations, or those of some states, have this form."""
        chosen = set(self.pairs if names is None else names)
        return equal({name: pair for name, pair in self.pairs.items() if name in chosen}, given=self.given)


def matrix_form(flow: Flow, head: str) -> MatrixForm:
    """The force of one head, read off dM = A G + G B at A = I, B = 0, and the 36 equations beside their form."""
    rhs = flow.system.equations
    t = path_tables(flow, head)
    M, A, B = t["M"], t["A"], t["B"]
    unit = {node: graph.ONE if i == j else graph.ZERO for (i, j), node in np.ndenumerate(A)}
    unit |= {node: graph.ZERO for node in B.ravel()}
    table = flow.matrices[f"KQ_{head}"]
    force = np.array(graph.substitute([rhs[n] for n in table.ravel()], unit), dtype=object).reshape(4, 4)
    G = np.array([[sym(f"G_{left}_{right}") for right in WORDS] for left in WORDS], dtype=object)
    right = {"KQ": A @ G + G @ B, "KK": M @ G.T + G @ M.T, "QQ": M.T @ G + G.T @ M}
    pairs: dict[str, tuple[Node, Node]] = {}
    for path, matrix in right.items():
        table = flow.matrices[f"{path}_{head}"]
        pairs |= {table[i, j]: (rhs[table[i, j]], matrix[i, j]) for i, j in product(range(4), repeat=2)}
    return MatrixForm(force, pairs, dict(zip(G.ravel(), force.ravel(), strict=True)))


def written_slope(lab: Laboratory, sample: tuple[int, int, int], sign: int) -> Node:
    """g y sigma-dot of a head on a sample, as the paper writes it: label s, g = 1/(1 + e^{y f}), Eq. (1) spelled out."""
    plus, minus = (head_output(lab, sample, head) + sym("b") for head in SIGNS)
    label = sample[1]
    g = graph.call("sigmoid", -label * (graph.relu(plus) - graph.relu(minus)))
    return label * g * graph.step(plus if sign > 0 else minus)


def written_force(lab: Laboratory, samples: Iterable[tuple[int, int, int]], weight: Fraction, sign: int) -> np.ndarray:
    """sum of weight g y sigma-dot p_lh (w' x_h - w' X p_l) x_h x_l' over samples, queries l and keys h, token by token.

    Entries are those of key (row) and query (column) among c_1, c_2, v_1, v_2; the outer sign of the head is a factor.
    """
    force = np.full((4, 4), ZERO, dtype=object)
    for sample in samples:
        words, rows = tokens(*sample), attention(lab, sample, sign)
        factor = sign * weight * written_slope(lab, sample, sign)
        values = [s * lab.neuron(sign, word) for word, s in words]
        for row, (query, sq) in zip(rows, words, strict=True):
            mean = graph.add(p * v for p, v in zip(row, values, strict=True))
            for weight_of, value, (key, sk) in zip(row, values, words, strict=True):
                place = WORDS.index(key), WORDS.index(query)
                force[place] = force[place] + factor * weight_of * (value - mean) * sk * sq
    return force
