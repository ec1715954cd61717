"""The equations: network, gradients (83), (125), (161), (189), one step of training, and the indicator of the hinge."""

from __future__ import annotations

import numpy as np

from odesys import (
    ONE,
    ZERO,
    Node,
    Verdict,
    entry_pairs,
    equal,
    graph,
    identity,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import LABELS, Tables, before_margin, claim, gates, put, tables
from .common_gradients import POSITIVE, as_printed, gradient_k


def everything(lab: Laboratory) -> tuple[Tables, dict[str, np.ndarray]]:
    """The tables, and all right-hand sides."""
    return tables(lab.toy()), {leaf: lab.rates(leaf) for leaf in ("O", "V", "K", "Q")}


@claim(
    "Eq.16-20",
    "Network and losses",
    kind="definition",
    where="Appendix C, Eqs. (16)-(20)",
    hypotheses=(),
    statement=r"F(X^n)=\tfrac1{|S^n|}\sum_{l\in S^n}a_{(l)}^\top\mathrm{Relu}(W_OW_VX^n\mathrm{softmax}(X^{n\top}W_K^\top W_Qx_l^n)),\quad\overline{\mathrm{Loss}}_b=\tfrac1B\sum_n\max\{1-y^nF,0\}",
    reading="network and losses over the symbols of a toy with three patterns and two neurons",
)
def network_and_losses(lab: Laboratory) -> Verdict:
    """Outputs and loss.

    Y F of both samples and the mean loss (margin Gamma, 1 in the paper) of the derived system equal the printed
    formulas over the same symbols.
    """
    flow = lab.toy()
    t, seen = tables(flow), flow.system.observables
    rows = {f"sample {n + 1}": (seen[f"margin_{n + 1}"], LABELS[n] * t.output(n)) for n in range(2)}
    rows["loss"] = seen["loss"], graph.add(graph.relu(sym("Gamma") - LABELS[n] * t.output(n)) for n in range(2)) / 2
    return equal(rows, positive=POSITIVE)


@claim(
    "Eq.21",
    "SGD step",
    kind="definition",
    uses=["Eq.16-20"],
    where="Algorithm 1, Eq. (21)",
    hypotheses=(),
    statement=r"W^{(t+1)}=W^{(t)}-\eta\tfrac1B\sum_{n\in\mathcal B_t}\nabla_W\ell,\quad W\in\{W_O,W_V,W_K,W_Q\}",
    reading="all four weights at once: the derived step is minus eta times the derivative of the derived loss",
)
def sgd_step(lab: Laboratory) -> Verdict:
    """Entry by entry, by scalar derivatives.

    All four weights at once (W_O where W_Q is printed first): every entry of the derived step (of keys and queries
    those on the first axis, the other axes being alike) moves by -eta times the scalar derivative of the derived
    loss.
    """
    flow = lab.toy(step=True)
    loss = flow.system.observables["loss"]
    rows: dict[str, tuple[Node, Node]] = {}
    for leaf, names in flow.matrices.items():
        chosen = slice(0, 1) if leaf in "KQ" else slice(None)
        states = [sym(name) for name in names[chosen].ravel()]
        slopes = graph.gradient(loss, states)
        stepped = np.array([x - sym("eta") * s for x, s in zip(states, slopes, strict=True)], dtype=object)
        rows |= entry_pairs(lab.rates(leaf, step=True)[chosen], stepped, leaf)
    return equal(rows, positive=POSITIVE)


@claim(
    "Eq.83",
    "Gradient of W_O",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 1, Eq. (83)",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\overline{\mathrm{Loss}}_b/\partial W_{O(i,\cdot)}=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_la_{(l)i}\mathbb 1[W_{O(i,\cdot)}V_l\ge0]V_l^\top",
    reading="while no margin is reached; every entry of the toy",
)
def gradient_of_w_o(lab: Laboratory) -> Verdict:
    """Rates of the neurons, each a sum over queries of gated attention means; for the indicator of the hinge see Eq.83-hinge."""
    return as_printed(lab, "O")


@claim(
    "Eq.189-191",
    "Gradient of W_V",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 3, Eqs. (189), (191)",
    source="damaged",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\overline{\mathrm{Loss}}_b/\partial W_V=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_l\sum_ia_{(l)i}\mathbb 1[\cdot]W_{O(i,\cdot)}^\top\mathrm{softmax}^\top X^{n\top}",
    reading="y inside the sum, as (191) has it (outside and without index in our text), while no margin is reached; every entry of the toy",
)
def gradient_of_w_v(lab: Laboratory) -> Verdict:
    """Rates of the values, with y^n inside the sum: neurons times the attention that their query gives to the token."""
    return as_printed(lab, "V")


@claim(
    "Eq.125",
    "Gradient of W_Q",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 2, Eq. (125)",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\mathrm{Loss}/\partial W_Q=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_{l,i}a\mathbb 1[\cdot]\Big(W_{O(i,\cdot)}\sum_sW_Vx_s\mathrm{softmax}_s\big(W_Kx_s-\sum_r\mathrm{softmax}_rW_Kx_r\big)x_l^\top\Big)",
    reading="while no margin is reached; every entry of the toy",
)
def gradient_of_w_q(lab: Laboratory) -> Verdict:
    """Rates of the queries: keys, each with the covariance of its value under the attention of the query."""
    return as_printed(lab, "Q")


@claim(
    "Eq.161",
    "Gradient of W_K",
    kind="identity",
    uses=["Eq.16-20"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (161)",
    parts=["gradient"],
    hypotheses=(),
    fault="misprint",
    cause="gradient-of-keys",
    statement=r"\partial\mathrm{Loss}/\partial W_K=-\tfrac1B\sum_ny^n\sum_{l,i}a\mathbb 1[\cdot]\Big(W_{O(i,\cdot)}\sum_sW_Vx_s\mathrm{softmax}_sW_Qx_l\big(x_s-\sum_r\mathrm{softmax}_rx_r\big)^\top\Big)",
    reading="with W_Q x_l for the printed transpose, whose shapes do not fit; the toy, before a margin is reached",
)
def gradient_of_w_k(lab: Laboratory) -> Verdict:
    """Rates of the keys.

    With W_Q x_l for the printed W_Q' x_l, whose shapes do not fit; without 1/|S^n| as printed; while no margin is
    reached (for the indicator see Eq.83-hinge).
    """
    rates, t = before_margin(lab.rates("K")), tables(lab.toy())
    printed = equal(entry_pairs(rates, gradient_k(t, False, scale=False), "W_K"), positive=POSITIVE).witnessed(
        "the printed summand of a sample is |S^n| times its part of the gradient, as the factor 1/|S^n| of (1) is missing: the two sides differ wherever "
        "that part is not zero",
        {},
    )
    return printed.correcting(
        r"\text{the same with }\tfrac1{|S^n|}",
        as_printed(lab, "K"),
        "the factor 1/|S^n| of the network is missing; (125) has it",
    )


@claim(
    "Eq.83-hinge",
    "Gradients after the margin is reached",
    kind="identity",
    uses=["Eq.83", "Eq.125", "Eq.161", "Eq.189-191"],
    expect="fails",
    origin="proof",
    where="Eqs. (83), (125), (161), (189)",
    parts=["after a margin"],
    hypotheses=(),
    fault="misprint",
    cause="hinge-indicator",
    statement=r"(83),(125),(161),(189)\ \text{at the }t\text{-th iteration}",
    reading="after a margin is reached: as printed, without the indicator of the hinge loss; before it they are right",
)
def after_the_margin(lab: Laboratory) -> Verdict:
    """Loss gates as symbols h1, h2: they are the indicators, and all rates are linear in them.

    As printed, without an indicator, i.e. the rates would not contain the loss gates; corrected: every rate is
    linear in the two indicators 1[y F < Gamma], one for the summand of each sample, and vanishes with both.
    """
    t, rates = everything(lab)
    nodes = np.concatenate([table.ravel() for table in rates.values()])
    found = gates(nodes, True)
    h = [sym("h1"), sym("h2")]
    with_symbols = put(nodes, dict(zip(found, h, strict=False)))
    reached, never = (put(with_symbols, dict.fromkeys(h, value)) for value in (ZERO, ONE))
    printed = equal(entry_pairs(with_symbols, never, "rate"), positive=POSITIVE).witnessed(
        "where every sample has y F > 1 the hinge loss is flat and its gradient zero, and the printed sums, which have no indicator of that, are not",
        {},
    )
    surfaces = {
        node.args[0]: min(
            range(2), key=lambda n: len(graph.symbols([node.args[0]]) & {f"{'ec'[n]}{k}" for k in (1, 2, 3)})
        )
        for node in found
    }
    own = (
        identity(
            {
                f"surface of sample {n + 1}": surface - (sym("Gamma") - LABELS[n] * t.output(n))
                for surface, n in surfaces.items()
            },
            positive=POSITIVE,
        )
        if surfaces
        else printed
    )
    slopes = [slope for node in with_symbols for slope in graph.gradient(node, h)]
    if graph.symbols(slopes) & {"h1", "h2"}:
        return undecided("the slopes of the rates by an indicator contain an indicator")
    linear = identity({f"both reached {k}": node for k, node in enumerate(reached)}, positive=POSITIVE).proving(
        "the derivative of every rate by an indicator contains no indicator: a rate is linear in the two, with the value "
        "where both are 0, which is 0"
    )
    return printed.correcting(
        r"\text{each summand times }\mathbb 1[y^nF(X^n)<1]",
        own & linear,
        "the hinge loss is flat behind the margin: then everything stops",
    )
