"""Setting: distribution, model, feature form, parameter condition and infinite width."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from odesys import Verdict, enumerate_all, equal, graph, identity, measured, refuted, sym

from .. import setting
from ..laboratory import Laboratory
from .book import SAMPLES, SIGNS, attention, book, head_output, name, tokens


@book.claim(
    "Def.2.1",
    "K-mixture of linear classification",
    kind="definition",
    statement=r"X=(c_k,\,y v_k,\,\epsilon v_{k'},\dots),\ y,k,k',\epsilon\ \text{uniform},\ k'\ne k",
    reading="for (K, L) = (2,3), (3,3), (3,4) the support and weights equal those of the generative process, "
    "walked through outcome by outcome",
)
def distribution(lab: Laboratory) -> Verdict:
    """Walk through the generative process and compare weight by weight, in exact arithmetic."""

    def walked(K: int, L: int) -> dict[Any, Fraction]:
        weights: dict[Any, Fraction] = defaultdict(Fraction)
        for y, k in product(SIGNS, range(1, K + 1)):
            others = [(e, j) for e in SIGNS for j in range(1, K + 1) if j != k]
            for bag in product(others, repeat=L - 2):
                words = (f"c{k}", setting.signal_token(y, k), *sorted(setting.signal_token(e, j) for e, j in bag))
                weights[words, y] += Fraction(1, 2 * K * len(others) ** (L - 2))
        return weights

    def agrees(case: tuple[int, int]) -> bool:
        data = lab.data() if case == (2, 3) else setting.data(*case)
        found: dict[Any, Fraction] = defaultdict(Fraction)
        for item in data.samples:
            found[(*item.tokens[:2], *sorted(item.tokens[2:])), item.label] += item.weight
        return found == walked(*case)

    return enumerate_all([(2, 3), (3, 3), (3, 4)], agrees, "cases (K, L)")


@book.claim(
    "Eq.1",
    "The model",
    kind="definition",
    uses=["Def.2.1"],
    statement=r"f(X)=\sigma(H_+(X)+b)-\sigma(H_-(X)+b),\ H=\sum_l w^\top X\,\mathrm{softmax}(X^\top W_K^\top W_Q x_l)",
    reading="the derived margins y f(X) equal Eq. (1) written out token by token, on all eight samples",
)
def model(lab: Laboratory) -> Verdict:
    """Compare the engine's margins with the formula written out by hand, as expressions."""
    b = sym("b")
    pairs = {}
    for sample in SAMPLES:
        plus, minus = (graph.relu(head_output(lab, sample, sign) + b) for sign in SIGNS)
        label = lab.label(*sample)
        pairs[name(*sample)] = (lab.observable("margin", *sample), label * (plus - minus))
        pairs["label of " + name(*sample)] = (graph.num(label), graph.num(sample[1]))
    return equal(pairs)


@book.claim(
    "Eq.2",
    "Output as a linear function of features",
    kind="identity",
    uses=["Eq.1"],
    statement=r"f=[w_+,w_-,1]\cdot\mathcal F(X)",
    reading="for a fixed gate pattern df/dn is the gate times the summed softmax weights (so it contains no n), and "
    "f - sum n df/dn - b (gate+ - gate-) = 0, on all samples",
)
def features(lab: Laboratory) -> Verdict:
    """Euler's identity for each margin, gates held."""
    b, residuals = sym("b"), {}
    for sample in SAMPLES:
        label = lab.label(*sample)
        output = label * lab.observable("margin", *sample)
        neurons = [lab.neuron(sign, word) for sign in SIGNS for word in ("c1", "c2", "v1", "v2")]
        gates = [graph.step(head_output(lab, sample, sign) + b) for sign in SIGNS]
        slopes = dict(zip(neurons, graph.gradient(output, neurons), strict=True))
        residuals[name(*sample)] = output - graph.add(n * d for n, d in slopes.items()) - b * (gates[0] - gates[1])
        for sign, gate in zip(SIGNS, gates, strict=True):
            rows = attention(lab, sample, sign)
            for word in ("c1", "c2", "v1", "v2"):
                z = graph.add(s * row[h] for row in rows for h, (w, s) in enumerate(tokens(*sample)) if w == word)
                residuals[f"Z {name(*sample)} {sign} {word}"] = slopes[lab.neuron(sign, word)] - sign * gate * z
    return identity(residuals)


@book.claim(
    "Cond.1",
    "Parameter condition",
    kind="definition",
    insensitive="a guard of a parameter, not a statement about the system",
    statement=r"\omega<C<1,\ m\ge\widetilde\Omega(1)",
    reading="the guard refuses omega that is not positive and finite and accepts 0.1, 0.01; how small omega must be is a matter of each "
    "claim, and omega >= 1 is not refused",
)
def condition(lab: Laboratory) -> Verdict:
    """The parameter guard refuses what the condition excludes."""
    from odesys import ParameterError

    guard = next(p for p in setting.PARAMETERS if p.name == "omega")
    for text in ("0", "-1", "nan", "inf"):
        try:
            guard.read(text)
        except ParameterError:
            continue
        return refuted({"omega": text})
    accepted = [guard.read(text) for text in ("0.1", "0.01")]
    return measured(accepted == [0.1, 0.01], {"accepted": accepted}, refused=["0", "-1", "nan", "inf"])


@book.claim(
    "Def.5.1",
    "Infinite-width transformer",
    kind="definition",
    statement=r"m\to\infty:\ M=0,\ A=B=\omega^2 I,\ n=0",
    reading="the infinite-width start of the derived system has these values in both heads, omega = 1/2 exactly",
)
def infinite_width(lab: Laboratory) -> Verdict:
    """Compare the start state entry by entry (one half squared is exact in binary)."""
    state, matrices, structure = lab.start(0.5), lab.names.matrices, lab.names.system.structure

    def right(leaf: str) -> bool:
        table = np.vectorize(state.__getitem__)(matrices[leaf])
        gram = structure[matrices[leaf][0, 0]].path in ("KK", "QQ")
        expected = 0.25 * np.eye(4) if gram else np.zeros_like(table)
        return bool((table == expected).all())

    return enumerate_all(matrices, right, "matrices of path scalars")
