"""The claim book of the paper, and what several parts share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from odesys import HOLDS, ClaimBook, Data, Flow, Node, Sample, Verdict, computed_once, graph, identity, sym

from .. import setting
from ..laboratory import Laboratory
from ..special import as_printed
from .common_hypotheses import SYMBOLS

book = ClaimBook(
    "cooccurrence",
    Laboratory,
    reference="Training Dynamics of Transformers to Recognize Word Co-occurrence via Gradient Flow Analysis",
    symbols=SYMBOLS,
    rule=True,
    together=("part_",),  # nearly all share derivations or trajectories: a second process would repeat them
)

COQ = Path(__file__).with_name("coq")  # arguments of proofs, for an export
NUMBERS = "a statement about numbers, not about the system"
START = "start values do not depend on the equations"

SIGNS = (1, -1)
#: two samples that share two of their three words: every kind of sum of appendix C occurs, and expressions stay short
TOY_WORDS = 4
TOY = Data(
    setting.words(TOY_WORDS),
    [Sample(["mu1", "mu2", "mu3"], +1, Fraction(1, 2)), Sample(["mu1", "mu3", "mu4"], -1, Fraction(1, 2))],
)
TOY_READING = "on toy data of two samples and two neurons"
TOY_STEP = "every sum over samples, positions and neurons of the derived equation equals the printed one"


def on_toy(verdict: Verdict) -> Verdict:
    """An identity on the toy data: exact, for this size, so a certificate."""
    return verdict.proving(TOY_STEP, n=2, L=3, m1=2) if verdict.as_stated == HOLDS else verdict


@computed_once
def toy_neurons(lab: Laboratory) -> tuple[Flow, as_printed.Tables]:
    """Level 0 on the toy data, and the paper's tables over the same symbols; equations are read with `lab.equations`."""
    flow = lab.outputs_of(TOY, TOY_WORDS, SIGNS)
    return flow, as_printed.symbolic_tables(flow, TOY, SIGNS)


def toy_gram(lab: Laboratory) -> Flow:
    """Level 1 on the toy data; equations are read with `lab.equations`."""
    return lab.outputs_of(TOY, TOY_WORDS)


def printed_forces(tables: as_printed.Tables, d: int) -> tuple[np.ndarray, np.ndarray]:
    """xi_mu = (1/n) sum g y c_mu and D_{nu mu} = (1/(n sqrt m)) sum g y p (G_nu - mean G), over samples and positions."""
    xi, D = np.full(d, graph.ZERO, dtype=object), np.full((d, d), graph.ZERO, dtype=object)
    for gy, tokens, p in zip(tables.gy, tables.tokens, tables.p, strict=True):
        for l, query in enumerate(tokens):
            mean = graph.add([p[l][h] * tables.G(x) for h, x in enumerate(tokens)])
            for h, key in enumerate(tokens):
                xi[key] = xi[key] + gy * p[l][h] / tables.n
                D[key, query] = D[key, query] + gy * p[l][h] * (tables.G(key) - mean) / (tables.n * tables.root_m)
    return xi, D


@cache
def toy_forces(flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """xi and D of appendix B in the variables of a level-1 flow, with the samples and labels of the toy data."""
    return printed_forces(as_printed.symbolic_tables(flow, TOY, (1,)), TOY_WORDS)


def with_opaque_attention(gaps: Mapping[str, Node], tables: as_printed.Tables, positive: tuple[str, ...]) -> Verdict:
    """An identity with g y, the exponentials and their sums as symbols, which is stronger; or as it is, if that is not one."""
    first = {gy: sym(f"gy_{i}") for i, gy in enumerate(tables.gy)}
    second: dict[Node, Node] = {}
    for i, tokens in enumerate(tables.tokens):
        for query in tokens:
            weights = {key: tables.exp(tables.score[key, query] / tables.root_m) for key in tokens}
            second |= {weight: sym(f"e_{key}_{query}") for key, weight in weights.items()}
            second[graph.add(list(weights.values()))] = sym(f"Z_{i}_{query}")
    nodes = graph.substitute(graph.substitute(list(gaps.values()), first), second)
    found = identity(dict(zip(gaps, nodes, strict=True)), positive=positive)
    return found if found.as_stated == HOLDS else identity(dict(gaps), positive=positive)


def gram_forces(flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """xi and D of a level-1 flow, by scalar derivatives of its loss: -dL/dG and -dL/dA."""
    loss = flow.system.observables["loss"]
    tables = [flow.layout.symbols["aWV"], flow.layout.symbols["KQ"]]
    slopes = graph.gradient(loss, [node for table in tables for node in table.ravel()])
    size = tables[0].size
    negative = np.array([-s for s in slopes], dtype=object)
    return negative[:size], negative[size:].reshape(tables[1].shape)


def grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """A logarithmic grid of times after 0, with 0 in front."""
    return (0.0, *np.geomspace(low, high, count).tolist())
