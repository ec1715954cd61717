"""Appendices B and C: the closed system, its start and its symmetries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from odesys import (
    Evidence,
    Flow,
    Node,
    ProgramSymmetry,
    StateSymmetry,
    SymmetryError,
    Verdict,
    check_symmetry,
    combine_verdicts,
    decided,
    entry_pairs,
    enumerate_all,
    equal,
    graph,
    refuted,
    six_digits,
    sym,
    symmetry,
    symmetry_pairs,
    undecided,
)

from ..laboratory import Laboratory
from .book import (
    FLOATS,
    SAMPLES,
    SIGNS,
    WORDS,
    attention,
    book,
    matrix_form,
    name,
    path_tables,
    tokens,
    written_force,
    written_slope,
)

Exchange = Callable[[Flow], ProgramSymmetry]


def group_swap(flow: Flow) -> ProgramSymmetry:
    """c_1 <-> c_2, v_1 <-> v_2."""
    return symmetry(flow, {"c1": "c2", "c2": "c1", "v1": "v2", "v2": "v1"})


def head_swap(flow: Flow) -> ProgramSymmetry:
    """v_k -> -v_k and the heads exchanged."""
    return symmetry(flow, {"v1": "-v1", "v2": "-v2"}, heads={"p": "m", "m": "p"})


@book.claim(
    "B.1",
    "Weight gradients",
    kind="identity",
    uses=["Eq.1"],
    origin="proof",
    where="Appendix B.1, all displays but that of w_-",
    parts=("w_+", "W_K+", "W_Q+"),
    hypotheses=(),
    statement=r"\dot w_+=\mathbb E\big[g\,y\,\dot\sigma_+\textstyle\sum_lXp^{(+)}_l\big],\quad "
    r"\dot W_{K+}=\mathbb E\big[g\,y\,\dot\sigma_+\textstyle\sum_lq_{+l}\,p_l^{(+)\top}\mathrm{diag}(w_+^\top X-w_+^\top Xp^{(+)}_l)X^\top\big],\quad "
    r"\dot W_{Q+}=\mathbb E\big[g\,y\,\dot\sigma_+\textstyle\sum_lK_+\mathrm{diag}(X^\top w_+-w_+^\top Xp^{(+)}_l)p^{(+)}_lx_l^\top\big]",
    reading="the gradient flow of E[l(y f(X))] for K = 2, L = 3 at any w, W_K, W_Q; the last line of each chain, and the lines before it",
)
def weight_gradients(lab: Laboratory) -> dict[str, Verdict]:
    """Neurons by components along the words; maps through M = W_K' W_Q, of which the loss is a function."""
    chain = _lines_of_the_chain()
    force = _force_as_printed(lab)
    return {
        "w_+": _neurons_as_printed(lab, +1, +1),
        "W_K+": (chain & force).proving("dW_K/dt = W_Q G' with G = -dL/dM, by the chain rule for M = W_K' W_Q"),
        "W_Q+": (chain & force).proving("dW_Q/dt = W_K G with G = -dL/dM, by the chain rule for M = W_K' W_Q"),
    }


@book.claim(
    "B.1(w_-)",
    "Gradient of the neurons of the - head",
    kind="identity",
    uses=["Eq.1"],
    expect="fails",
    origin="proof",
    where="Appendix B.1, display of w_-",
    parts=("w_-",),
    hypotheses=(),
    statement=r"\dot w_-=-\mathbb E\big[g\,y\,\dot\sigma_-\textstyle\sum_lXp^{(+)}_l\big]",
    reading="the gradient flow of E[l(y f(X))] for K = 2, L = 3 at any w, W_K, W_Q; the attention weights are those of the + head, as printed",
)
def other_neurons(lab: Laboratory) -> Verdict:
    """As printed, and with the attention weights of the - head."""
    return _other_attention(lab)


def printed_neuron(lab: Laboratory, sign: int, word: str, attending: int) -> Node:
    """+-E[g y sigma-dot sum_l (X p_l)' word], with the attention weights of the head `attending`."""
    terms = []
    for sample in SAMPLES:
        for h, (other, s) in enumerate(tokens(*sample)):
            if other == word:
                seen = graph.add(row[h] for row in attention(lab, sample, attending))
                terms.append(sign * Fraction(s, len(SAMPLES)) * written_slope(lab, sample, sign) * seen)
    return graph.add(terms)


def _neurons_as_printed(lab: Laboratory, sign: int, attending: int) -> Verdict:
    """The derived equations of w' word against the printed sum; X has no component off the words."""
    rhs = lab.flow("simultaneous").system.equations
    found = {word: lab.neuron(sign, word).args[0] for word in WORDS}
    return equal(
        {f"w_{sign:+d} . {word}": (rhs[n], printed_neuron(lab, sign, word, attending)) for word, n in found.items()}
    )


def _other_attention(lab: Laboratory) -> Verdict:
    """The equation of w_- as printed, with the attention weights of the + head; then with its own."""
    printed, right = _neurons_as_printed(lab, -1, +1), _neurons_as_printed(lab, -1, -1)
    state = _symmetric_state(lab, Fraction(1))
    sides = [printed_neuron(lab, -1, "c1", attending) for attending in SIGNS]
    shown, true = (f"{value:.3g}" for value in graph.evaluate(sides, state, FLOATS, float))
    return (
        printed.witnessed(
            "at w_+ = w_- = 0, b = 1/2, with the scores c_k' W_K' W_Q v_k = 1 in the + head, -1 in the - head and 0 "
            f"otherwise, the printed derivative of w_-' c_1 is {shown} and the derivative is {true}",
            {"b": Fraction(1, 2)},
        )
        .correcting(
            r"\dot w_-=-\mathbb E[g\,y\,\dot\sigma_-\textstyle\sum_lXp^{(-)}_l]",
            right,
            "each head has its own attention weights; the proof of Lemma C.4 uses this form",
        )
        .blaming("misprint", "attention-of-the-other-head")
    )


def _symmetric_state(lab: Laboratory, score: Fraction) -> dict[str, Fraction]:
    """A state with the symmetries of C.2 and C.4: all path scalars zero but the scores of c_k for v_k, +-score."""
    flow = lab.names
    state = dict.fromkeys(flow.system.names, Fraction(0)) | {"b": Fraction(1, 2)}
    return state | {lab.score(s, f"c{k}", f"v{k}"): s * score for k in (1, 2) for s in SIGNS}


def _lines_of_the_chain() -> Verdict:
    """The three forms of what a query adds to a key: with the derivative of softmax, multiplied out, and with diag."""
    p, v = ([sym(f"{letter}_{h}") for h in range(3)] for letter in "pv")
    mean = graph.add(x * y for x, y in zip(p, v, strict=True))
    pairs: dict[str, tuple[Node, Node]] = {}
    for h in range(3):
        slope = graph.add(v[i] * p[i] * ((1 if i == h else 0) - p[h]) for i in range(3))
        pairs |= {f"derivative {h}": (slope, v[h] * p[h] - mean * p[h]), f"diag {h}": (slope, p[h] * (v[h] - mean))}
    return equal(pairs)


def _force_as_printed(lab: Laboratory) -> Verdict:
    """-dL/dM by scalar reverse derivatives of the loss equals the printed expectation, entry by entry."""
    printed = written_force(lab, SAMPLES, Fraction(1, len(SAMPLES)), +1)
    return equal(entry_pairs(_force(lab, "simultaneous", +1), printed, "G"))


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
    origin="proof",
    where="Appendix B.2",
    parts=("w_+", "scores", "key self-scores", "query self-scores"),
    hypotheses=(),
    statement=r"\dot{(w_+^\top\mu)}=\mathbb E[g\,y\,\dot\sigma_+\textstyle\sum_l(Xp_l)^\top]\mu,\quad \tfrac{d}{dt}\nu^\top W_K^\top W_Q\mu=\mathbb E[g\,y\,\dot\sigma_+"
    r"\textstyle\sum_l\mu^\top W_Q^\top q_l\,p_l^\top\mathrm{diag}(w_+^\top X-w_+^\top Xp_l)X^\top\nu]+\mathbb E[g\,y\,\dot\sigma_+\textstyle\sum_l\nu^\top W_K^\top K\,"
    r"\mathrm{diag}(X^\top w_+-w_+^\top Xp_l)p_lx_l^\top\mu],\quad \tfrac d{dt}\nu^\top W_K^\top W_K\mu,\ \tfrac d{dt}\nu^\top W_Q^\top W_Q\mu\ \text{likewise}",
    reading="all 4 + 36 derived equations of the + head in simultaneous training, K = 2 and L = 3, at any state of any network",
)
def reduced_flow(lab: Laboratory) -> dict[str, Verdict]:
    """The printed expectation is one matrix G; the equations are A G + G B, M G' + G M', M' G + G' M with it."""
    flow, head = lab.flow("simultaneous"), lab.head_name(+1)
    form = matrix_form(flow, head)
    printed = written_force(lab, SAMPLES, Fraction(1, len(SAMPLES)), +1)
    same = equal(entry_pairs(form.force, printed, "G"))
    shown = "the sums over l, written out token by token, are the entries of one matrix G"
    found = {"w_+": _neurons_as_printed(lab, +1, +1)}
    for part, path in (("scores", "KQ"), ("key self-scores", "KK"), ("query self-scores", "QQ")):
        names = set(flow.matrices[f"{path}_{head}"].ravel())
        found[part] = (form.holds(names) & same).proving(shown)
    return found


@book.claim(
    "Sec.5.2-system",
    "Linear system of 36 variables per head",
    kind="identity",
    uses=["B.2"],
    origin="text",
    where="Section 5.2, first display",
    source="damaged",
    parts=("linear form", "dimension 36"),
    hypotheses=(),
    statement=r"\frac{d}{dt}\mathbf z=A^{(t)}\mathbf z,\ \mathbf z=\big(\mathrm{vec}\{\mu^\top W_{K+}^\top W_{Q+}\nu\},\mathrm{vec}\{\mu^\top W_{K+}^\top W_{K+}\nu\},"
    r"\mathrm{vec}\{\mu^\top W_{Q+}^\top W_{Q+}\nu\}\big),\quad \dim A^{(t)}=16+10+10=36",
    reading="A^(t) may depend on the state through the forces; the stacked vector is read as scores, key and query self-scores",
)
def linear_system(lab: Laboratory) -> dict[str, Verdict]:
    """The 36 equations are products of one path matrix and the force, whose entries do not contain A or B."""
    flow, head = lab.flow("stage2"), lab.head_name(+1)
    form = matrix_form(flow, head)
    size = len({node for table in path_tables(flow, head).values() for node in table.ravel()})
    counted = decided(size == 36, {"size": size}, size=size).stating({"dimension": (size, "=", 16 + 10 + 10)})
    return {
        "linear form": form.holds().proving(
            "with G held they are A G + G B, M G' + G M', M' G + G' M: linear in (M, A, B)"
        ),
        "dimension 36": counted.proving("the distinct path scalars of one head are counted"),
    }


@book.claim(
    "C.1",
    "Start values",
    kind="identity",
    where="Lemma C.1",
    parts=("scores", "key self-scores", "query self-scores"),
    hypotheses=(),
    insensitive="a statement about Gaussian matrices; that the derived system starts at these values is checked with Def.5.1",
    statement=r"\nu^\top W_{K\pm}^{(0)\top}W_{Q\pm}^{(0)}\mu=\mathbb E[\nu^\top\widehat W_K^\top\widehat W_Q\mu]=0,\quad "
    r"\nu^\top W_{K\pm}^{(0)\top}W_{K\pm}^{(0)}\mu=\mathbb E[\nu^\top\widehat W_K^\top\widehat W_K\mu]=\omega^2\mathbb I(\nu=\mu),\quad "
    r"\nu^\top W_{Q\pm}^{(0)\top}W_{Q\pm}^{(0)}\mu=\mathbb E[\nu^\top\widehat W_Q^\top\widehat W_Q\mu]=\omega^2\mathbb I(\nu=\mu)",
    reading="the left sides are limits as m goes to infinity, in mean square; the entries of W_K, W_Q are N(0, omega^2/m)",
)
def start_values(lab: Laboratory) -> dict[str, Verdict]:
    """Mean and variance of Gram entries by Wick's rule from the variance of one entry."""
    kinds = {"scores": ("K", "Q"), "key self-scores": ("K", "K"), "query self-scores": ("Q", "Q")}
    return {part: _gram_moments(left, right) for part, (left, right) in kinds.items()}


def _gram_moments(left: str, right: str) -> Verdict:
    """The mean is omega^2 on the diagonal of a Gram matrix and 0 elsewhere; the variance is at most 2 omega^4 / m."""
    m, omega = sym("m"), sym("omega")
    pairs: dict[str, tuple[Node, Node]] = {}
    for i, j in ((0, 0), (0, 1)):
        a, b = (left, i), (right, j)
        mean = m * _wick((a, b))  # m independent rows
        variance = m * (_wick((a, b, a, b)) - _wick((a, b)) ** 2)
        same = a == b
        pairs[f"E {left}{right} {i}{j}"] = (mean, omega**2 if same else graph.ZERO)
        pairs[f"Var {left}{right} {i}{j}"] = (variance, (2 if same else 1) * omega**4 / m)
    return equal(pairs, positive=("m", "omega")).proving(
        "words are orthonormal, so that the images of different words are independent",
        "means by Wick's rule, at every m",
        "variances omega^4/m and 2 omega^4/m go to zero, so that each entry tends to its mean",
    )


def _wick(letters: tuple[tuple[str, int], ...]) -> Node:
    """Expectation of a product of centred Gaussian entries of one row: the sum over pairings of covariances."""
    if not letters:
        return graph.ONE
    first, rest = letters[0], letters[1:]
    variance = sym("omega") ** 2 / sym("m")  # of one entry of W_K or W_Q, which are independent
    terms = [variance * _wick(rest[:k] + rest[k + 1 :]) for k, other in enumerate(rest) if other == first]
    return graph.add(terms)


def _commutes(lab: Laboratory, exchange: Exchange) -> Verdict:
    """F(g x) = g F(x) for every derived equation of every stage, and g fixes the infinite-width start."""
    moves: dict[str, tuple[Node, Node]] = {}
    sizes = {}
    for stage in ("stage1", "stage2", "stage3", "simultaneous"):
        flow = lab.flow(stage)
        element = exchange(flow)
        target, sign = element.on_states(flow)
        moved = StateSymmetry(flow.system.names, tuple(target.tolist()), tuple(sign.tolist()))
        answer, result = check_symmetry(flow.system, moved)
        if answer == "nonzero":
            point = {k: str(v) for k, v in result.witness.items()}
            return refuted(
                {"stage": stage, "element": element.describe(flow), "at": point, "residual": six_digits(result.value)}
            )
        if answer == "undecided":
            return undecided(f"{stage}: {result.residual!r}", Evidence.PROOF)
        start = flow.initial_state(omega=0.5)
        if (moved.act(start) != start).any():
            return refuted({"stage": stage, "start": "not fixed"})
        sizes[stage] = f"{flow.system.dimension} equations"
        moves |= {f"{stage}: {name}": pair for name, pair in symmetry_pairs(flow.system, moved).items()}
    return (
        equal(moves)
        .adding(**sizes)
        .proving(
            "the exchange commutes with every derived equation of all three stages and of simultaneous training",
            "it fixes the infinite-width start: zeros, and multiples of the identity",
            "so the states it fixes are never left, with any value of sigma-dot at 0",
        )
    )


def _places(lab: Laboratory, exchange: Exchange) -> Callable[[str, int, str, str], Node]:
    """A path scalar on the states that an exchange of order two keeps: the first of its orbit, with a sign."""
    flow = lab.names
    target, sign = exchange(flow).on_states(flow)
    names = flow.system.names
    tables = {k: flow.layout.symbols[k] for k in flow.matrices}

    def place(path: str, head: int, left: str, right: str) -> Node:
        node = (
            lab.neuron(head, left)
            if path == "w"
            else tables[f"{path}_{lab.head_name(head)}"][WORDS.index(left), WORDS.index(right)]
        )
        own = names.index(node.args[0])
        first = min(own, int(target[own]))
        return sym(names[first]) * (1 if first == own else int(sign[own]))

    return place


PATHS = {"(4)": "KQ", "(5)": "KK", "(6)": "QQ", "(8)": "KQ", "(9)": "KK", "(10)": "QQ"}
TYPES = ("c", "v")


def group_equalities(lab: Laboratory, head: int) -> dict[str, dict[str, tuple[Node, Node]]]:
    """Equations (3) to (6) with their printed indices, for all types of mu and nu."""
    place = _places(lab, group_swap)
    pairs = {"(3)": {f"w' {u}": (place("w", head, f"{u}1", ""), place("w", head, f"{u}2", "")) for u in TYPES}}
    for part in ("(4)", "(5)", "(6)"):
        path, rows = PATHS[part], dict[str, tuple[Node, Node]]()
        for nu, mu in product(TYPES, TYPES):
            (one, two), (left, right) = (f"{nu}1", f"{nu}2"), (f"{mu}1", f"{mu}2")
            rows[f"{nu}1 {mu}1"] = place(path, head, one, left), place(path, head, two, right)
            rows[f"{nu}1 {mu}2"] = place(path, head, one, right), place(path, head, two, left)
        pairs[part] = rows
    return pairs


def head_equalities(lab: Laboratory) -> dict[str, dict[str, tuple[Node, Node]]]:
    """Equations (7) to (10) with their printed signs, for all words mu_1 and mu_2."""
    place = _places(lab, head_swap)
    flips = {word: -1 if word.startswith("v") else 1 for word in WORDS}
    pairs = {"(7)": {f"w' {u}": (place("w", +1, u, ""), place("w", -1, u, "") * flips[u]) for u in WORDS}}
    for part in ("(8)", "(9)", "(10)"):
        path = PATHS[part]
        pairs[part] = {
            f"{second} {first}": (
                place(path, +1, second, first),
                place(path, -1, second, first) * flips[second] * flips[first],
            )
            for second, first in product(WORDS, WORDS)
        }
    return pairs


PRINTED = "the printed equalities, typed in with their indices and signs, are those of the states the exchange keeps"


def groups_stay_symmetric(lab: Laboratory) -> Verdict:
    """Equivariance under the group swap."""
    return _commutes(lab, group_swap)


def heads_stay_symmetric(lab: Laboratory) -> Verdict:
    """Equivariance under the head swap with v -> -v."""
    return _commutes(lab, head_swap)


@book.claim(
    "C.2",
    "The two groups stay symmetric",
    kind="identity",
    uses=["C.1", "B.2"],
    where="Lemma C.2",
    source="damaged",
    parts=("(3)", "(4)", "(5)", "(6)", "negative head"),
    hypotheses=(),
    statement=r"\text{for all}\ t:\ w_+^\top\mu_1=w_+^\top\mu_2,\quad \nu_1^\top W_{K+}^\top W_{Q+}\mu_1=\nu_2^\top W_{K+}^\top W_{Q+}\mu_2,\ "
    r"\nu_2^\top W_{K+}^\top W_{Q+}\mu_1=\nu_1^\top W_{K+}^\top W_{Q+}\mu_2,\quad\text{both also for}\ W_{K+}^\top W_{K+},\ W_{Q+}^\top W_{Q+},\ "
    r"\text{and for the negative head}",
    reading="Definition 5.1, K = 2, L = 3, along Algorithm 1; the second equalities of (5), (6) have a surplus factor W in our text, and are read without it",
)
def groups_lemma(lab: Laboratory) -> dict[str, Verdict]:
    """Each printed equality on the states that the exchange of words keeps, and that they are never left."""
    kept = groups_stay_symmetric(lab)
    plus, minus = (group_equalities(lab, head) for head in SIGNS)
    other = {f"{part} {key}": pair for part, rows in minus.items() for key, pair in rows.items()}
    return {part: (equal(rows) & kept).proving(PRINTED) for part, rows in {**plus, "negative head": other}.items()}


@book.claim(
    "C.4",
    "The two heads stay symmetric",
    kind="identity",
    uses=["C.1", "B.2", "B.1(w_-)"],
    repairs=["B.1(w_-)"],
    where="Lemma C.4",
    parts=("(7)", "(8)", "(9)", "(10)"),
    hypotheses=(),
    statement=r"\text{for all}\ t:\ w_+^\top\mu_1=w_-^\top\mu_1(-1)^{\mathbb I(\mu_1\in\mathcal V)},\quad \mu_2^\top W_{K+}^\top W_{Q+}\mu_1=\mu_2^\top W_{K-}^\top W_{Q-}\mu_1"
    r"(-1)^{\mathbb I(\mu_2\in\mathcal V)}(-1)^{\mathbb I(\mu_1\in\mathcal V)},\quad\text{likewise}\ W_K^\top W_K,\ W_Q^\top W_Q",
    reading="at infinite width (Definition 5.1), K = 2, L = 3, along Algorithm 1: exchanging the heads and v with -v changes nothing",
)
def heads_lemma(lab: Laboratory) -> dict[str, Verdict]:
    """Each printed equality on the states that the exchange of heads and signs keeps, and that they are never left."""
    kept = heads_stay_symmetric(lab)
    return {part: (equal(rows) & kept).proving(PRINTED) for part, rows in head_equalities(lab).items()}


@book.claim(
    "C.3",
    "Samples of both groups look alike",
    kind="identity",
    uses=["C.2", "C.4"],
    where="Corollary C.3",
    parts=("p", "H", "f"),
    hypotheses=(),
    statement=r"p^{(\pm,t)}(X_{1,s,s'})=p^{(\pm,t)}(X_{2,s,s'}),\quad H_\pm^{(t)}(X_{1,s,s'})=H_\pm^{(t)}(X_{2,s,s'}),\quad f^{(t)}(X_{1,s,s'})=f^{(t)}(X_{2,s,s'})",
    reading="at every state with the equalities of Lemmas C.2 and C.4; attention weights are compared token by token, in the order c_k, v_k, v_k'",
)
def samples_of_groups_agree(lab: Laboratory) -> dict[str, Verdict]:
    """Pairs of samples with k = 1 and k = 2."""
    weights: dict[str, tuple[Node, Node]] = {}
    heads: dict[str, tuple[Node, Node]] = {}
    outputs: dict[str, tuple[Node, Node]] = {}
    for s, r, sign in product(SIGNS, SIGNS, SIGNS):
        first, second = (attention(lab, (k, s, r), sign, lifted=True) for k in (1, 2))
        for l, h in product(range(3), repeat=2):
            weights[f"p {name(1, s, r)} {sign} {l}{h}"] = (first[l][h], second[l][h])
        heads[f"H {name(1, s, r)} {sign}"] = (lab.observable("H", 1, s, r, sign), lab.observable("H", 2, s, r, sign))
        outputs[f"f {name(1, s, r)}"] = (lab.observable("margin", 1, s, r), lab.observable("margin", 2, s, r))
    return {
        part: equal(pairs, given=_symmetric_states(lab))
        for part, pairs in zip("pHf", (weights, heads, outputs), strict=True)
    }


def _symmetric_states(lab: Laboratory) -> dict[Node, Node]:
    """Every state as its orbit variable under C.2 and C.4."""
    return {sym(state): lab.symmetric(state) for state in lab.names.layout.names}


@book.claim(
    "C.5",
    "Samples of both labels look alike",
    kind="identity",
    uses=["C.2", "C.4"],
    where="Corollary C.5",
    parts=("p", "H", "f"),
    hypotheses=(),
    statement=r"p^{(+,t)}(X_{k,s,s'})=p^{(-,t)}(X_{k,-s,-s'}),\quad H_+^{(t)}(X_{k,s,s'})=H_-^{(t)}(X_{k,-s,-s'}),\quad sf^{(t)}(X_{k,s,s'})=-sf^{(t)}(X_{k,-s,-s'})",
    reading="at every state with the equalities of Lemmas C.2 and C.4; attention weights are compared token by token",
)
def samples_of_labels_agree(lab: Laboratory) -> dict[str, Verdict]:
    """Pairs of samples with all signs flipped, heads exchanged; s f is the margin, and -s f that of the other label."""
    weights: dict[str, tuple[Node, Node]] = {}
    heads: dict[str, tuple[Node, Node]] = {}
    outputs: dict[str, tuple[Node, Node]] = {}
    for k, s, r in SAMPLES:
        plus, minus = attention(lab, (k, s, r), +1, lifted=True), attention(lab, (k, -s, -r), -1, lifted=True)
        for l, h in product(range(3), repeat=2):
            weights[f"p {name(k, s, r)} {l}{h}"] = (plus[l][h], minus[l][h])
        heads[f"H {name(k, s, r)}"] = (lab.observable("H", k, s, r, +1), lab.observable("H", k, -s, -r, -1))
        outputs[f"s f {name(k, s, r)}"] = (lab.observable("margin", k, s, r), lab.observable("margin", k, -s, -r))
    return {
        part: equal(pairs, given=_symmetric_states(lab))
        for part, pairs in zip("pHf", (weights, heads, outputs), strict=True)
    }


@book.claim(
    "Beyond.sizes",
    "Sizes of the reductions",
    kind="identity",
    uses=["C.2", "C.4"],
    origin="ours",
    hypotheses=(),
    statement=r"80\to40\to22\to10\ \text{variables}",
    reading="dimensions of the full flow, of its quotient by the head swap, by both swaps, and after slaving self-scores to scores",
)
def sizes(lab: Laboratory) -> Verdict:
    """Count the states of each reduction; a reduction that the system does not admit is a failure."""
    flow = lab.flow()
    try:
        counts = [
            flow.system.dimension,
            flow.quotient(generators=[head_swap(flow)]).system.dimension,
            lab.reduced().system.dimension,
            lab.reduced().slaved().system.dimension,
        ]
    except SymmetryError as error:
        return refuted({"not a symmetry": str(error)})
    count = enumerate_all(zip(counts, (80, 40, 22, 10), strict=True), lambda p: p[0] == p[1], "sizes")
    return combine_verdicts({"sizes": count, "slaving": matrix_form(flow, lab.head_name(+1)).holds()})
