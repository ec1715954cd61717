"""Setting: distribution, model, feature form, parameter condition and infinite width."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from odesys import Node, Verdict, enumerate_all, equal, graph, measured, refuted, sym

from .. import setting
from ..laboratory import Laboratory
from .book import SAMPLES, SIGNS, attention, book, head_output, name, tokens


@book.claim(
    "Def.2.1",
    "K-mixture of linear classification",
    kind="definition",
    where="Definition 2.1",
    hypotheses=(),
    statement=r"y\sim\mathrm{Uniform}\{\pm1\},\ k\sim\mathrm{Uniform}[K],\ X_{l_0}=c_k,\ X_{l_1}=yv_k,\ \text{every other}\ "
    r"X_{l_2}=\epsilon v_{k'},\ k'\sim\mathrm{Uniform}([K]\setminus\{k\}),\ \epsilon\sim\mathrm{Uniform}\{\pm1\}",
    reading="the data of (K, L) = (2,3), (3,3), (3,4) have the support and weights of this process, up to the order of tokens",
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
    where="Section 2.2, Equation (1)",
    hypotheses=(),
    statement=r"f(X)=\sigma(H_+(X)+b)-\sigma(H_-(X)+b),\ H=\sum_l w^\top X\,\mathrm{softmax}(X^\top W_K^\top W_Q x_l)",
    reading="the derived margins y f(X) equal Eq. (1) written out token by token, on all eight samples",
)
def model(lab: Laboratory) -> Verdict:
    """Compare the engine's margins with Equation (1), a map of scores and values of three tokens, at each sample."""
    found = equal({"label of " + name(*s): (graph.num(lab.label(*s)), graph.num(s[1])) for s in SAMPLES})
    for sample in SAMPLES:
        pair = lab.observable("margin", *sample), lab.label(*sample) * _equation_1()
        found = found & equal({name(*sample): pair}, given=_at_sample(lab, sample))
    return found


def _equation_1() -> Node:
    """f(X) of Equation (1), with z_lh the logit of query l for key h and u_h = w' x_h, in both heads."""
    heads = []
    for sign in "pm":
        weights = [[graph.exp(sym(f"z{sign}_{l}{h}")) for h in range(3)] for l in range(3)]
        heads.append(graph.add(w * sym(f"u{sign}_{h}") / graph.add(row) for row in weights for h, w in enumerate(row)))
    return graph.relu(heads[0] + sym("b")) - graph.relu(heads[1] + sym("b"))


def _at_sample(lab: Laboratory, sample: tuple[int, int, int]) -> dict[Node, Node]:
    """Logits and values of a sample: path scalars and neurons with the signs of its tokens."""
    words, found = tokens(*sample), {}
    for letter, sign in zip("pm", SIGNS, strict=True):
        for h, (key, s) in enumerate(words):
            found[sym(f"u{letter}_{h}")] = s * lab.neuron(sign, key)
            for l, (query, other) in enumerate(words):
                found[sym(f"z{letter}_{l}{h}")] = s * other * sym(lab.score(sign, key, query))
    return found


@book.claim(
    "Eq.2",
    "Output as a linear function of features",
    kind="identity",
    uses=["Eq.1"],
    origin="text",
    where="Section 4, Equation (2)",
    parts=("f = [w_+, w_-, 1] F(X)",),
    hypotheses=(),
    for_all=("K", "L"),
    statement=r"f(X)=[w_+^\top,w_-^\top,1]\,\mathcal F(X),\ \mathcal F(X)=\Big[\dot\sigma(H_++b)\sum_lX\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}x_l);\ "
    r"-\dot\sigma(H_-+b)\sum_lX\mathrm{softmax}(X^\top W_{K-}^\top W_{Q-}x_l);\ \dot\sigma(H_++b)b-\dot\sigma(H_-+b)b\Big]",
    reading="an identity for every X, W_K, W_Q, w and b; sigma-dot is the step function, with any value at 0",
)
def features(lab: Laboratory) -> Verdict:
    """Both heads with any H = w' Z, so for every K and L; and all eight samples of K = 2, L = 3 written out."""
    general = equal({"f": (_general_output(), _general_features())})
    written = equal({name(*sample): (_output(lab, sample), _features(lab, sample)) for sample in SAMPLES})
    return (general & written).proving(
        "H = w' Z with Z = sum_l X softmax(...), by Equation (1), whatever the numbers of words and tokens",
        "sigma-dot is a number, so w' (sigma-dot Z) = sigma-dot H; the three blocks of both heads, with their signs, add up to "
        "f by the definition of sigma-dot: sigma(z) = sigma-dot(z) z",
        "the same on the eight samples of K = 2, L = 3, written out token by token",
        K="every",
        L="every",
    )


def _general_output() -> Node:
    """sigma(H_+ + b) - sigma(H_- + b) of Equation (1), for any H_+ and H_-."""
    plus, minus, b = sym("H_plus"), sym("H_minus"), sym("b")
    return graph.relu(plus + b) - graph.relu(minus + b)


def _general_features() -> Node:
    """[w_+, w_-, 1] F(X), block by block, with H = w' Z of each head in place of w and Z."""
    plus, minus, b = sym("H_plus"), sym("H_minus"), sym("b")
    on_plus, on_minus = graph.step(plus + b), graph.step(minus + b)
    blocks = [on_plus * plus, -on_minus * minus, on_plus * b - on_minus * b]
    return graph.add(blocks)


def _output(lab: Laboratory, sample: tuple[int, int, int]) -> Node:
    """f(X) of the derived system."""
    return lab.label(*sample) * lab.observable("margin", *sample)


def _features(lab: Laboratory, sample: tuple[int, int, int]) -> Node:
    """[w_+, w_-, 1] F(X) with F written out from Equation (2)."""
    total, b = [], sym("b")
    for sign in SIGNS:
        gate, rows = graph.step(head_output(lab, sample, sign) + b), attention(lab, sample, sign)
        for h, (word, s) in enumerate(tokens(*sample)):
            total += [sign * gate * s * row[h] * lab.neuron(sign, word) for row in rows]
        total.append(sign * gate * b)
    return graph.add(total)


@book.claim(
    "Cond.1",
    "Parameter condition",
    kind="condition",
    insensitive="a guard of a parameter, not a statement about the system",
    where="Condition 1",
    hypotheses=(),
    statement=r"\omega<C<1\ \text{for some sufficiently small constant}\ C,\qquad m>\widetilde\Omega(1)",
    reading="the programs refuse omega that is not positive and finite; how small omega and how large m must be is up to each claim",
)
def condition(lab: Laboratory) -> Verdict:
    """The parameter guard refuses what the condition excludes for every C."""
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
    where="Definition 5.1",
    hypotheses=(),
    statement=r"\text{the architecture in Equation (1) with}\ m\to\infty",
    reading="the derived system starts at the limits of Lemma C.1 in both heads, with w = 0; compared at omega = 1/2, exactly",
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
