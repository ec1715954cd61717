"""Appendices B and C: the closed system, its start and its symmetries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from odesys import (
    Distribution,
    Evidence,
    Network,
    Node,
    SignedPermutation,
    StateSymmetry,
    SymmetryError,
    Verdict,
    check_symmetry,
    combine_verdicts,
    decided,
    enumerate_all,
    equal,
    graph,
    identity,
    measured,
    proved,
    refuted,
    six_digits,
    sym,
    undecided,
)

from .. import dynamics, setting
from ..laboratory import Laboratory
from .book import SAMPLES, SIGNS, attention, book, matrix_form, name, path_tables
from .part_2_setting import infinite_width

GROUP_SWAP = SignedPermutation(((1, 1), (0, 1), (3, 1), (2, 1)), ((0, 1), (1, 1)), (((0, 1),), ((0, 1),)), 1)
HEAD_SWAP = SignedPermutation(((0, 1), (1, 1), (2, -1), (3, -1)), ((1, 1), (0, 1)), (((0, 1),), ((0, 1),)), -1)


@book.claim(
    "B.1",
    "Weight gradients",
    kind="identity",
    uses=["Eq.1"],
    expect="fails",
    statement=r"\dot w_-=-\mathbb E\big[g\,y\,\dot\sigma_-\textstyle\sum_lXp^{(+)}_l\big],\ \dot w_+,\ \dot W_{K\pm},\ \dot W_{Q\pm}\ \text{as printed}",
    reading="one random network (m = 3, d = 5, seed 0): central differences of the loss in every entry of w, W_K, W_Q against the gradients, "
    "relative 1e-6; the derived equations against the motion of the path scalars along them; the printed sum for w_+ and w_- "
    "over the eight samples, where in the equation of w_- the attention weights are printed as those of the + head",
)
def weight_gradients(lab: Laboratory) -> Verdict:
    """Every entry by central differences, the path scalars along the gradient; then the printed right-hand sides of w."""
    from odesys import network_gradients, random_network

    net = random_network(lab.model(), 3, 5, {"w": 0.7, "W_K": 0.8, "W_Q": 0.8}, 0, {"b": 0.5})
    slopes = network_gradients(net, lab.data(), dynamics.ALL)
    biggest = max(float(np.abs(s).max()) for s in slopes.values())
    worst = _worst_difference(net, slopes, lab.data()) / biggest
    flow, h = lab.flow(), 1e-5
    ends = [
        flow.initial_state(
            weights=replace(net, weights={k: w - e * slopes[k] for k, w in net.weights.items()}).images()
        )
        for e in (h, -h)
    ]
    motion = (ends[0] - ends[1]) / (2 * h)
    derived = flow.system.compile(b=0.5)(0.0, flow.initial_state(weights=net.images()))
    off = float(np.abs(derived - motion).max() / np.abs(motion).max())
    gap = {
        which: float(np.abs(value - slopes["w"][head, 0]).max() / biggest)
        for which, (head, value) in _printed_gradients(net).items()
    }
    right = measured(
        worst < 1e-6 and off < 1e-6 and max(gap["w+"], gap["w- with p(-)"]) < 1e-9,
        {"differences": worst, "derived equations": off, **gap},
        worst=worst,
        derived=off,
        entries=sum(s.size for s in slopes.values()),
    )
    printed = measured(
        gap["w- with p(+)"] < 1e-9, {"relative error of w_- with p(+)": gap["w- with p(+)"]}, error=gap["w- with p(+)"]
    )
    return (printed & right if printed.as_stated == "holds" else printed).correcting(
        r"\dot w_-=-\mathbb E[g\,y\,\dot\sigma_-\textstyle\sum_lXp^{(-)}_l]",
        right,
        "each head has its own attention weights",
    )


def _worst_difference(net: Network, slopes: Mapping[str, np.ndarray], data: Distribution, h: float = 1e-5) -> float:
    """Largest gap between a central difference of the loss and the gradient."""
    from odesys import network_loss

    worst = 0.0
    for key in dynamics.ALL:
        for place in np.ndindex(net.weights[key].shape):
            ends = []
            for step in (h, -h):
                moved = net.weights[key].copy()
                moved[place] += step
                ends.append(network_loss(replace(net, weights={**net.weights, key: moved}), data))
            worst = max(worst, float(abs((ends[0] - ends[1]) / (2 * h) - slopes[key][place])))
    return worst


def _printed_gradients(net: Network) -> dict[str, tuple[int, np.ndarray]]:
    """The gradient of each row w as printed: head, and the sum over the eight samples, weight 1/8 and label s each."""
    from odesys import attention_weights as weights_of
    from odesys import network_outputs

    sums = {
        "w+": (0, -1, 0),
        "w- with p(-)": (1, 1, 1),
        "w- with p(+)": (1, 1, 0),
    }  # head of w, sign, head of the weights
    total = {which: np.zeros(net.words.shape[0]) for which in sums}
    for sample, output in zip(setting.data().samples, network_outputs(net, setting.data()), strict=True):
        parts = [net.model.words.parse(token) for token in sample.tokens]
        columns = np.array([s * net.words[:, i] for i, s in parts]).T
        rows = weights_of(net, list(sample.tokens))
        for which, (head, sign, other) in sums.items():
            active = float(net.weights["w"][head, 0] @ columns @ rows[head].sum(axis=0) + 0.5 > 0)
            g = 1 / (1 + np.exp(sample.label * output))
            total[which] += sign * sample.label * g * active / 8 * columns @ rows[other].sum(axis=0)
    return {which: (sums[which][0], value) for which, value in total.items()}


def _force(lab: Laboratory, stage: str, sign: int) -> np.ndarray:
    """G = -dL/dM by scalar reverse derivatives of the loss."""
    flow = lab.flow(stage)
    scores = path_tables(flow, lab.head_name(sign))["M"]
    return -np.array(graph.gradient(flow.system.observables["loss"], list(scores.ravel())), dtype=object).reshape(4, 4)


@book.claim(
    "B.2",
    "The reduced flow",
    kind="identity",
    uses=["B.1"],
    statement=r"\dot M=AG+GB,\ \dot A=MG^\top+GM^\top,\ \dot B=M^\top G+G^\top M,\ \dot n=-\partial\mathcal L/\partial n",
    reading="all 72 + 8 derived equations of simultaneous training equal the matrix form, and its force matrix equals "
    "G = -dL/dM from independent scalar derivatives of the loss (the stages keep some of these equations)",
)
def reduced_flow(lab: Laboratory) -> Verdict:
    """The engine's force matrix equals the scalar derivatives; the equations are the matrix form of that force."""
    flow = lab.flow("simultaneous")
    residuals: dict[str, Node] = {}
    for sign in SIGNS:
        own, form = matrix_form(flow, lab.head_name(sign))
        residuals |= form
        force = _force(lab, "simultaneous", sign)
        residuals |= {f"force {sign} {i}{j}": own[i, j] - force[i, j] for i, j in product(range(4), repeat=2)}
        neurons = [lab.neuron(sign, word) for word in ("c1", "c2", "v1", "v2")]
        rhs = flow.system.equations
        for n, slope in zip(neurons, graph.gradient(flow.system.observables["loss"], neurons), strict=True):
            residuals[n.args[0]] = rhs[n.args[0]] + slope
    return identity(residuals) & _dimension(flow.system.dimension)


def _dimension(found: int) -> Verdict:
    return decided(found == 2 * (16 + 10 + 10 + 4), {"dimension": found}, dimension=found)


@book.claim(
    "Sec.5.2-system",
    "Linear system of 36 variables per head",
    kind="identity",
    uses=["B.2"],
    statement=r"\dot{\mathbf z}=\mathcal A(t)\,\mathbf z,\quad \mathbf z=(M,A,B)\in\mathbb R^{36}",
    reading="with G held, the 36 equations of the + head in stage 2 are linear and homogeneous in (M, A, B): they are "
    "A G + G B, M G' + G M', M' G + G' M with one matrix G in which A and B were set to constants",
)
def linear_system(lab: Laboratory) -> Verdict:
    """The 36 equations are products of one path matrix and the force, whose entries do not contain A or B."""
    flow, head = lab.flow("stage2"), lab.head_name(+1)
    _, gaps = matrix_form(flow, head)
    size = len({node for table in path_tables(flow, head).values() for node in table.ravel()})
    return identity(gaps).adding(size=size) if size == 36 else refuted({"size": size})


@book.claim(
    "C.1",
    "Start values",
    kind="identity",
    statement=r"M(0)\to0,\quad A(0),B(0)\to\omega^2 I\quad(m\to\infty)",
    reading="expectations are exact at every m (second moments of independent centred entries of variance omega^2/m); "
    "each entry's variance is at most 2 omega^4 / m, so the limit holds in mean square; the almost sure limit "
    "is the strong law and is not checked",
)
def start_values(lab: Laboratory) -> Verdict:
    """Moments of Gram entries by Wick's rule from the variance of one entry; and the start of the derived system."""
    m, omega = sym("m"), sym("omega")
    residuals: dict[str, Node] = {}
    for left, right in (("K", "K"), ("Q", "Q"), ("K", "Q")):
        for i, j in ((0, 0), (0, 1)):
            a, b = (left, i), (right, j)
            mean = m * _wick((a, b))  # m independent rows
            variance = m * (_wick((a, b, a, b)) - _wick((a, b)) ** 2)
            same = a == b
            residuals[f"E {left}{right} {i}{j}"] = mean - (omega**2 if same else graph.ZERO)
            residuals[f"Var {left}{right} {i}{j}"] = variance - (2 if same else 1) * omega**4 / m
    return identity(residuals, positive=("m", "omega")) & infinite_width(lab)


def _wick(letters: tuple[tuple[str, int], ...]) -> Node:
    """Expectation of a product of centred Gaussian entries of one row: the sum over pairings of covariances."""
    if not letters:
        return graph.ONE
    first, rest = letters[0], letters[1:]
    variance = sym("omega") ** 2 / sym("m")  # of one entry of W_K or W_Q, which are independent
    terms = [variance * _wick(rest[:k] + rest[k + 1 :]) for k, other in enumerate(rest) if other == first]
    return graph.add(terms)


def _commutes(lab: Laboratory, element: SignedPermutation) -> Verdict:
    """F(g x) = g F(x) for every derived equation of every stage, and g fixes the infinite-width start."""
    total = proved()
    for stage in ("stage1", "stage2", "simultaneous"):
        flow = lab.flow(stage)
        target, sign = element.on_states(flow)
        symmetry = StateSymmetry(flow.system.names, tuple(target.tolist()), tuple(sign.tolist()))
        answer, result = check_symmetry(flow.system, symmetry)
        if answer == "nonzero":
            point = {k: str(v) for k, v in result.witness.items()}
            return refuted(
                {"stage": stage, "element": element.describe(flow), "at": point, "residual": six_digits(result.value)}
            )
        if answer == "undecided":
            return undecided(f"{stage}: {result.residual!r}", Evidence.PROOF)
        start = flow.initial_state(omega=0.5)
        if (symmetry.act(start) != start).any():
            return refuted({"stage": stage, "start": "not fixed"})
        total = total.adding(**{stage: f"{flow.system.dimension} equations"})
    return total


@book.claim(
    "C.2",
    "The two groups stay symmetric",
    kind="identity",
    uses=["C.1", "B.2"],
    statement=r"n_{\mu},M_{\mu\nu},A_{\mu\nu},B_{\mu\nu}\ \text{invariant under}\ c_1\leftrightarrow c_2,\,v_1\leftrightarrow v_2",
    reading="the swap fixes the infinite-width start and commutes with the flow of every stage, as expressions",
)
def groups_stay_symmetric(lab: Laboratory) -> Verdict:
    """Equivariance under the group swap."""
    return _commutes(lab, GROUP_SWAP)


@book.claim(
    "C.4",
    "The two heads stay symmetric",
    kind="identity",
    uses=["C.1", "B.2"],
    statement=r"n^-_\mu=(-1)^{[\mu\in\mathcal V]}n^+_\mu,\ M^-_{\mu\nu}=(-1)^{[\mu\in\mathcal V]+[\nu\in\mathcal V]}M^+_{\mu\nu},\dots",
    reading="v -> -v with the heads and the labels exchanged fixes the infinite-width start and commutes with the flow "
    "of every stage, as expressions",
)
def heads_stay_symmetric(lab: Laboratory) -> Verdict:
    """Equivariance under the head swap with v -> -v."""
    return _commutes(lab, HEAD_SWAP)


@book.claim(
    "C.3",
    "Samples of both groups look alike",
    kind="identity",
    uses=["C.2"],
    statement=r"p^{(\pm)},H_\pm,f\ \text{agree on}\ X_{1,s,s'}\ \text{and}\ X_{2,s,s'}",
    reading="on symmetric states, as expressions in the 22 variables: all softmax weights, head outputs and margins",
)
def samples_of_groups_agree(lab: Laboratory) -> Verdict:
    """Pairs of samples with k = 1 and k = 2."""
    pairs: dict[str, tuple[Node, Node]] = {}
    for s, r, sign in product(SIGNS, SIGNS, SIGNS):
        first, second = (attention(lab, (k, s, r), sign, lifted=True) for k in (1, 2))
        for l, h in product(range(3), repeat=2):
            pairs[f"p {name(1, s, r)} {sign} {l}{h}"] = (first[l][h], second[l][h])
        pairs[f"H {name(1, s, r)} {sign}"] = (lab.observable("H", 1, s, r, sign), lab.observable("H", 2, s, r, sign))
        pairs[f"f {name(1, s, r)}"] = (lab.observable("margin", 1, s, r), lab.observable("margin", 2, s, r))
    return equal(_on_symmetric_states(lab, pairs))


def _on_symmetric_states(lab: Laboratory, pairs: Mapping[str, tuple[Node, Node]]) -> dict[str, tuple[Node, Node]]:
    """The same expressions with every state replaced by its orbit variable under C.2 and C.4."""
    onto = {sym(state): lab.symmetric(state) for state in lab.names.layout.names}
    flat = graph.substitute([node for pair in pairs.values() for node in pair], onto)
    return dict(zip(pairs, zip(flat[::2], flat[1::2], strict=True), strict=True))


@book.claim(
    "C.5",
    "Samples of both labels look alike",
    kind="identity",
    uses=["C.4"],
    statement=r"p^{(+)}(X_{k,s,s'})=p^{(-)}(X_{k,-s,-s'}),\ H_+=H_-,\ f(X_{k,s,s'})=-f(X_{k,-s,-s'})",
    reading="on symmetric states, as expressions in the 22 variables; for f: the margins y f agree",
)
def samples_of_labels_agree(lab: Laboratory) -> Verdict:
    """Pairs of samples with all signs flipped, heads exchanged."""
    pairs: dict[str, tuple[Node, Node]] = {}
    for k, s, r in SAMPLES:
        plus, minus = attention(lab, (k, s, r), +1, lifted=True), attention(lab, (k, -s, -r), -1, lifted=True)
        for l, h in product(range(3), repeat=2):
            pairs[f"p {name(k, s, r)} {l}{h}"] = (plus[l][h], minus[l][h])
        pairs[f"H {name(k, s, r)}"] = (lab.observable("H", k, s, r, +1), lab.observable("H", k, -s, -r, -1))
        pairs[f"yf {name(k, s, r)}"] = (lab.observable("margin", k, s, r), lab.observable("margin", k, -s, -r))
    return equal(_on_symmetric_states(lab, pairs))


@book.claim(
    "Beyond.sizes",
    "Sizes of the reductions",
    kind="identity",
    uses=["C.2", "C.4"],
    origin="ours",
    statement=r"80\to40\to22\to10\ \text{variables}",
    reading="dimensions of the full flow, its quotient by the head swap, by both swaps, and after slaving, which rests on the matrix form of "
    "the equations (B.2)",
)
def sizes(lab: Laboratory) -> Verdict:
    """Count the states of each reduction; a reduction that the system does not admit is a failure."""
    flow = lab.flow()
    try:
        counts = [
            flow.system.dimension,
            flow.quotient(generators=[HEAD_SWAP]).system.dimension,
            lab.reduced().system.dimension,
            lab.reduced().slaved().system.dimension,
        ]
    except SymmetryError as error:
        return refuted({"not a symmetry": str(error)})
    count = enumerate_all(zip(counts, (80, 40, 22, 10), strict=True), lambda p: p[0] == p[1], "sizes")
    return combine_verdicts({"sizes": count, "slaving": identity(matrix_form(flow, lab.head_name(+1))[1])})
