"""Section 2 and appendix D: data, output, gradients, sign updates, and the exact recursion of the inner products."""

from __future__ import annotations

import numpy as np

from odesys import ZERO, Node, Verdict, equal, graph, identity, measured, num, refuted, rounded, sym

from ..laboratory import Laboratory
from ..setting import EVERYWHERE, RANDOM, Case
from ..special import training_sets as training_data
from ..special.toy_network import LABELS, POSITIVE, ROWS, SUPPORTS, Toy, dot, weight
from .book import EVERY, NUMBERS, book, on_the_toy

SIDES = {"P": 1, "N": -1}


def difference(made: Toy, i: int) -> list[Node]:
    """x^(1) - x^(2)."""
    first, second = made.tokens(i)
    return [a - b for a, b in zip(first, second, strict=True)]


def mixed(made: Toy, i: int) -> list[Node]:
    """s_11 s_12 x^(1) + s_21 s_22 x^(2)."""
    s, (first, second) = made.attention(i), made.tokens(i)
    return [s[0][0] * s[0][1] * a + s[1][0] * s[1][1] * b for a, b in zip(first, second, strict=True)]


def mean_row(made: Toy, kind: str) -> list[Node]:
    """The mean value vector of a class."""
    return [graph.add(column) / ROWS for column in zip(*made.weights[kind], strict=True)]


def value_vector(made: Toy) -> list[Node]:
    """v: mean row of class 1 minus mean row of class -1."""
    return [a - b for a, b in zip(mean_row(made, "P"), mean_row(made, "N"), strict=True)]


@book.claim(
    "Def.2.1",
    "TrainingSet",
    kind="definition",
    hypotheses=[],
    where="Definition 2.1",
    statement=r"X=(y\mu,\xi),\ \xi\sim N(0,\sigma_p^2)\ \text{on}\ s\ \text{coordinates of}\ [d]\setminus\{1\},\ \langle\xi,\mu\rangle=0",
    reading="what the training sets of our runs are drawn from; checked on 500 drawn samples",
)
def data_law(lab: Laboratory) -> Verdict:
    """Structure of a drawn training set, its moments, and the toy's."""
    made = lab.network()
    exact = identity(
        {f"<xi{i + 1}, mu>": dot(made.xi[i], made.mu) for i in range(2)}
        | {"<xi1, xi2>": dot([x * x for x in made.xi[0]], [x * x for x in made.xi[1]])}
    )
    case = Case(n=500, s=30, d=400, m_k=1, m_v=1, sigma_p=0.5, supports=RANDOM)
    drawn = training_data.make(case, 21)
    noise = drawn.x[:, 1]
    used = noise != 0
    right = bool(
        (drawn.x[:, 0, 0] == drawn.y).all()
        and (drawn.x[:, 0, 1:] == 0).all()
        and (used.sum(axis=1) == case.s).all()
        and not used[:, 0].any()
        and set(drawn.y.tolist()) == {1, -1}
    )
    share = case.s / (case.d - 1)
    hits = (used[:, 1:].mean(axis=0) - share) / np.sqrt(share * (1 - share) / case.n)
    squares = ((noise[used] / case.sigma_p) ** 2 - 1).mean() / np.sqrt(2 / (case.n * case.s))
    worst = float(max(np.abs(hits).max(), abs(squares)))
    everywhere = training_data.make(Case(n=500, s=30, d=400, m_k=1, m_v=1, supports=EVERYWHERE), 21).x[:, 1, 0]
    return exact & measured(
        right and worst < 5 and bool(everywhere.any()),
        {"structure": right, "standard errors": worst},
        standard_errors=rounded(worst, 5),
        seed=21,
        variant_hits_signal=rounded((everywhere != 0).mean(), 5),
    )


@book.claim(
    "Eq.1",
    "Output of the network",
    kind="identity",
    for_all=["m_k", "m_v"],
    hypotheses=[],
    parts=["output"],
    origin="text",
    where="Section 2, Eq. (1)",
    statement=r"F_j(W,X)=\tfrac1{m_v}\sum_r\big[(s_{11}+s_{21})\langle w_{V,j,r},x^{(1)}\rangle+(s_{12}+s_{22})\langle w_{V,j,r},x^{(2)}\rangle\big],\ f=F_1-F_{-1}",
    reading="the toy network of two samples, two neurons and two rows, all entries; the formulas are sums over them",
)
def output(lab: Laboratory) -> Verdict:
    """Both sides as expressions of the weights."""
    made = lab.network()
    pairs = {}
    for i in range(2):
        x, s = made.tokens(i), made.attention(i)
        heads = {}
        for kind in SIDES:
            scores = [
                [
                    graph.add(
                        dot(q, x[l]) * dot(k, x[a]) for q, k in zip(made.weights["Q"], made.weights["K"], strict=True)
                    )
                    for a in range(2)
                ]
                for l in range(2)
            ]
            soft = [[graph.exp(row[a]) / (graph.exp(row[0]) + graph.exp(row[1])) for a in range(2)] for row in scores]
            defined = (
                graph.add(soft[l][a] * dot(v, x[a]) for l in range(2) for a in range(2) for v in made.weights[kind])
                / ROWS
            )
            printed = graph.add((s[0][a] + s[1][a]) * dot(v, x[a]) for a in range(2) for v in made.weights[kind]) / ROWS
            pairs[f"F {kind} {i}"] = defined, printed
            heads[kind] = defined
        pairs[f"f {i}"] = made.output(i), heads["P"] - heads["N"]
    return on_the_toy(equal(pairs))


@book.claim(
    "D.1",
    "Derivative of the softmax",
    kind="identity",
    for_all=["L"],
    hypotheses=[],
    parts=["derivative"],
    where="Lemma D.1",
    insensitive=NUMBERS,
    statement=r"\partial s_i/\partial z_j=s_i(\mathbf 1\{i=j\}-s_j)",
    reading="four logits, as rational functions of exponentials",
)
def softmax_derivative(lab: Laboratory) -> Verdict:
    """All 16 entries."""
    z = [sym(f"z{k}") for k in range(4)]
    total = graph.add(graph.exp(x) for x in z)
    s = [graph.exp(x) / total for x in z]
    return equal(
        {
            f"{i}{j}": (graph.gradient(s[i], z)[j], s[i] * ((1 if i == j else 0) - s[j]))
            for i in range(4)
            for j in range(4)
        }
    ).proving("both sides are the same rational function of e^z_1, ..., e^z_4", L=4)


@book.claim(
    "D.2",
    "Gradient by values",
    kind="identity",
    for_all=["m_k", "m_v"],
    hypotheses=[],
    parts=["gradient"],
    where="Lemma D.2",
    uses=["Eq.1", "App.D-activation"],
    insensitive=EVERY,
    statement=r"\nabla_{w_{V,j,r}}F_j=\tfrac1{m_v}[(s_{11}+s_{21})x^{(1)}+(s_{12}+s_{22})x^{(2)}]",
    reading="the toy network of two samples, two neurons and two rows, all entries; the formulas are sums over them",
)
def value_gradient(lab: Laboratory) -> Verdict:
    """Derivatives of both heads."""
    made = lab.network()
    pairs = {}
    for kind in SIDES:
        s, x = made.attention(0), made.tokens(0)
        slopes = graph.gradient(made.head(0, kind), made.weights[kind][0])
        for c, slope in enumerate(slopes):
            pairs[f"{kind}{c}"] = slope, graph.add((s[0][a] + s[1][a]) * x[a][c] for a in range(2)) / ROWS
    slopes = graph.gradient(made.output(0), made.weights["P"][0])
    return on_the_toy(equal(pairs | {f"f{c}": (slope, pairs[f"P{c}"][1]) for c, slope in enumerate(slopes)}))


@book.claim(
    "D.3",
    "Gradient by logits",
    kind="identity",
    for_all=["m_v"],
    hypotheses=[],
    parts=["derivative"],
    where="Lemma D.3",
    uses=["D.1"],
    statement=r"\partial F_j/\partial z_{l,a}=\tfrac1{m_v}\sum_rs_{l1}s_{l2}[\langle w_{V,j,r},x_a\rangle-\langle w_{V,j,r},x_{3-a}\rangle]",
    reading="logits as symbols, values those of the toy network; the logits themselves are as in Section 2",
)
def logit_gradient(lab: Laboratory) -> Verdict:
    """Derivatives by z, and the derived logits."""
    made = lab.network()
    z = [[sym(f"z{l}{a}") for a in range(2)] for l in range(2)]
    gates = [[graph.exp(z[l][a]) / (graph.exp(z[l][0]) + graph.exp(z[l][1])) for a in range(2)] for l in range(2)]
    x, pairs = made.tokens(0), {}
    for kind, l, a in ((kind, l, a) for kind in SIDES for l in range(2) for a in range(2)):
        slope = graph.gradient(made.head(0, kind, gates), [z[l][a]])[0]
        mean = mean_row(made, kind)
        pairs[f"{kind}{l}{a}"] = slope, gates[l][0] * gates[l][1] * (dot(mean, x[a]) - dot(mean, x[1 - a]))
        scores = graph.add(
            dot(q, x[l]) * dot(k, x[a]) for q, k in zip(made.weights["Q"], made.weights["K"], strict=True)
        )
        pairs[f"z{l}{a}"] = made.logit(0, l, a), scores
    return on_the_toy(equal(pairs))


def _heads_gradient(lab: Laboratory, kind: str) -> Verdict:
    """D.4 (kind Q) and D.5 (kind K) for both heads, both samples and both neurons."""
    made, pairs = lab.network(), {}
    for i, side in ((i, side) for i in range(2) for side in SIDES):
        gap, mix, mean = difference(made, i), mixed(made, i), mean_row(made, side)
        for r in range(2):
            slopes = graph.gradient(made.head(i, side), made.weights[kind][r])
            for c, slope in enumerate(slopes):
                if kind == "Q":
                    right = dot(mean, gap) * dot(made.weights["K"][r], gap) * mix[c]
                else:
                    right = dot(mean, gap) * dot(made.weights["Q"][r], mix) * gap[c]
                pairs[f"{side} {i} {r} {c}"] = slope, right
    return on_the_toy(equal(pairs, POSITIVE))


@book.claim(
    "D.4",
    "Gradient by queries",
    kind="identity",
    for_all=["m_k", "m_v"],
    hypotheses=[],
    parts=["gradient"],
    where="Lemma D.4",
    uses=["D.3"],
    statement=r"\nabla_{w_{Q,s}}F_j=\langle\bar w_{V,j},x^{(1)}-x^{(2)}\rangle\langle w_{K,s},x^{(1)}-x^{(2)}\rangle(s_{11}s_{12}x^{(1)}+s_{21}s_{22}x^{(2)})",
    reading="the toy network of two samples, two neurons and two rows, all entries; the formulas are sums over them",
)
def query_gradient(lab: Laboratory) -> Verdict:
    """All entries of the query rows."""
    return _heads_gradient(lab, "Q")


@book.claim(
    "D.5",
    "Gradient by keys",
    kind="identity",
    for_all=["m_k", "m_v"],
    hypotheses=[],
    parts=["gradient"],
    where="Lemma D.5",
    uses=["D.3"],
    statement=r"\nabla_{w_{K,s}}F_j=\langle\bar w_{V,j},x^{(1)}-x^{(2)}\rangle\langle w_{Q,s},s_{11}s_{12}x^{(1)}+s_{21}s_{22}x^{(2)}\rangle(x^{(1)}-x^{(2)})",
    reading="the toy network of two samples, two neurons and two rows, all entries; the formulas are sums over them",
)
def key_gradient(lab: Laboratory) -> Verdict:
    """All entries of the key rows."""
    return _heads_gradient(lab, "K")


@book.claim(
    "App.D-activation",
    "Derivatives with an activation",
    kind="identity",
    hypotheses=[],
    parts=["derivative"],
    where="Appendix D, general form before Lemma D.1",
    origin="proof",
    expect="fails",
    insensitive=EVERY,
    statement=r"F_j=\tfrac1{m_v}\sum_l\mathbf 1^\top\sigma(W_{V,j}X\,\mathrm{softmax}(\cdot));\ \text{first lines of four proofs:}\ \nabla_{w_{V,j,r}}F_j=\tfrac1{m_v}\sum_{l,a}s_{l,a}\sigma'(\langle w_{V,j,r},x^{(a)}\rangle)x^{(a)}",
    reading="general form: sigma outside the sum over keys; proofs of D.2 to D.5: inside; all end with sigma(x) = x, where both agree",
)
def activation(lab: Laboratory) -> Verdict:
    """Printed derivative for a square, for the other placement of sigma, and for the identity."""
    made = lab.network()
    s, x, row = made.attention(0), made.tokens(0), made.weights["P"][0]
    u = [dot(row, x[a]) for a in range(2)]
    outside = graph.add((graph.add(s[l][a] * u[a] for a in range(2))) ** 2 for l in range(2)) / ROWS
    inner = graph.add(s[l][a] * u[a] ** 2 for l in range(2) for a in range(2)) / ROWS
    printed = [graph.add(s[l][a] * 2 * u[a] * x[a][c] for l in range(2) for a in range(2)) / ROWS for c in range(5)]
    fails = equal({str(c): (slope, printed[c]) for c, slope in enumerate(graph.gradient(outside, row))}, POSITIVE)
    right = equal({str(c): (slope, printed[c]) for c, slope in enumerate(graph.gradient(inner, row))}, POSITIVE)
    linear = equal(
        {
            f"id {c}": (slope, graph.add(s[l][a] * x[a][c] for l in range(2) for a in range(2)) / ROWS)
            for c, slope in enumerate(graph.gradient(made.head(0, "P"), row))
        }
    )
    printed_form = fails.correcting(
        r"F_j=\tfrac1{m_v}\sum_{l,a,r}s_{l,a}\sigma(\langle w_{V,j,r},x^{(a)}\rangle)\ \text{has this derivative; for}\ \sigma=\mathrm{id}\ \text{both are one model}",
        right & linear,
        "the activation has to sit inside the sum over keys",
    )
    return printed_form.witnessed(
        "with sigma(x) = x^2, all softmax weights 1/2, m_v = 1, w = x^(1) = 1 and x^(2) = 0 the derivative by w is 1 and "
        "the display gives 2",
        {},
    ).blaming("misprint", "activation-place")


def loss_slope(made: Toy, i: int) -> Node:
    """l'(y_i f_i) = -1/(1 + exp(y_i f_i))."""
    return -1 / (1 + graph.exp(LABELS[i] * made.output(i)))


@book.claim(
    "D.6",
    "Sign update of values",
    kind="identity",
    for_all=["n", "m_k", "m_v"],
    hypotheses=[],
    parts=["update"],
    where="Lemma D.6",
    uses=["D.2"],
    statement=r"w_{V,j,r}^{(t+1)}=w_{V,j,r}^{(t)}-\eta\,\mathrm{sgn}\Big(\sum_i\ell'_iy_ij[(s_{i,11}+s_{i,21})y_i\mu+(s_{i,12}+s_{i,22})\xi_i]\Big)",
    reading="the argument of the derived step is -1/(n m_v) times the printed sum, entry by entry, and its length is eta",
)
def value_update(lab: Laboratory) -> Verdict:
    """Arguments of all value entries."""
    made, arguments, lengths = lab.steps()
    pairs = {}
    for kind, j in SIDES.items():
        for r, row in enumerate(made.weights[kind], 1):
            for c in range(len(row)):
                total = ZERO
                for i, y in enumerate(LABELS):
                    s, x = made.attention(i), made.tokens(i)
                    total = total + loss_slope(made, i) * y * j * graph.add(
                        (s[0][a] + s[1][a]) * x[a][c] for a in range(2)
                    )
                name = weight(kind, r, c).args[0]
                pairs[name] = arguments[name], -total / (len(LABELS) * ROWS)
                pairs[f"length {name}"] = lengths[name], num(1)
    return on_the_toy(equal(pairs, POSITIVE))


@book.claim(
    "D.7",
    "Sign updates of queries and keys",
    kind="identity",
    for_all=["n", "m_k", "m_v"],
    hypotheses=[],
    parts=["queries", "keys"],
    where="Lemma D.7",
    uses=["D.4", "D.5"],
    statement=r"w_{Q,s}^{(t+1)}=w_{Q,s}^{(t)}-\eta\,\mathrm{sgn}\Big[\sum_i\ell'_iy_i\langle v,y_i\mu-\xi_i\rangle\langle w_{K,s},y_i\mu-\xi_i\rangle(s_{11}s_{12}y_i\mu+s_{21}s_{22}\xi_i)\Big],\ w_{K,s}\text{ alike}",
    reading="the argument of the derived step is -1/n times the printed sum, entry by entry, and its length is eta",
)
def query_key_update(lab: Laboratory) -> dict[str, Verdict]:
    """Arguments of the entries of the first neuron, both samples in the sum."""
    made, arguments, lengths = lab.steps()
    v, found = value_vector(made), {}
    for kind, called in (("Q", "queries"), ("K", "keys")):
        pairs = {}
        for c in range(5):
            total = ZERO
            for i, y in enumerate(LABELS):
                gap, mix = difference(made, i), mixed(made, i)
                inner = (
                    dot(made.weights["K"][0], gap) * mix[c] if kind == "Q" else dot(made.weights["Q"][0], mix) * gap[c]
                )
                total = total + loss_slope(made, i) * y * dot(v, gap) * inner
            name = weight(kind, 1, c).args[0]
            pairs[name] = arguments[name], -total / len(LABELS)
            pairs[f"length {name}"] = lengths[name], num(1)
        found[called] = on_the_toy(equal(pairs, POSITIVE))
    return found


def common_factor(lab: Laboratory, kinds: str) -> Verdict:
    """On the support of a sample the arguments are proportional to the noise: x_k times one expression.

    Then sum_k xi[k] sgn(xi[k] C) = sgn(C) |xi|_1, and every move of the inner product is eta |xi_i|_1 or 0. On the signal
    coordinate a step of length eta moves the inner product by eta |mu|. Steps have length eta.
    """
    made, arguments, lengths = lab.steps()
    residuals: dict[str, Node] = {}
    for kind in kinds:
        for r in (1, 2):
            for i, (first, second) in enumerate(SUPPORTS):
                a, b = weight(kind, r, first).args[0], weight(kind, r, second).args[0]
                residuals[f"{a} {b}"] = arguments[a] * made.xi[i][second] - arguments[b] * made.xi[i][first]
                residuals |= {f"length {name}": lengths[name] - 1 for name in (a, b)}
            residuals[f"signal {kind}{r}"] = lengths[weight(kind, r, 0).args[0]] - 1
    return on_the_toy(identity(residuals, POSITIVE))


@book.claim(
    "Eq.8-9",
    "Moves of queries and keys have constant length",
    kind="identity",
    for_all=["n", "m_k"],
    hypotheses=[],
    parts=["moves"],
    where="Appendix E.3, Eq. (8) and (9)",
    origin="proof",
    uses=["D.7"],
    statement=r"|\langle\Delta w_{K,s},\mu\rangle|=|\langle\Delta w_{Q,s},\mu\rangle|=\eta\|\mu\|,\quad|\langle\Delta w_{K,s},y_i\xi_i\rangle|=|\langle\Delta w_{Q,s},y_i\xi_i\rangle|=\eta\|\xi_i\|_1",
    reading="disjoint supports (Lemma C.1); where an argument vanishes exactly the move is 0, as sgn 0 = 0",
)
def constant_moves(lab: Laboratory) -> Verdict:
    """Proportional arguments on every support; and the queries and keys do move."""
    verdict = common_factor(lab, "QK")
    if verdict.as_stated != "holds":
        return verdict
    moving = {name: node for name, node in lab.arguments().items() if name[0] in "qk"}
    still = [name for name, node in moving.items() if node is ZERO]
    return verdict if not still else refuted({"never moves": still})


@book.claim(
    "Sec.4-display",
    "All moves have constant length",
    kind="identity",
    for_all=["n", "m_k", "m_v"],
    hypotheses=[],
    parts=["moves"],
    where="Section 4, display under technical novelties",
    origin="text",
    uses=["Eq.8-9"],
    statement=r"|\langle\Delta w_{V,j,r},\mu\rangle|,|\langle\Delta w_{K,s},\mu\rangle|,|\langle\Delta w_{Q,s},\mu\rangle|=\eta\|\mu\|;\ |\langle\Delta w_{V,j,r},y_i\xi_i\rangle|,|\langle\Delta w_{K,s},y_i\xi_i\rangle|,|\langle\Delta w_{Q,s},y_i\xi_i\rangle|=\eta\|\xi_i\|_1",
    reading="as Eq. (8) and (9), with the rows of values, all of which move",
)
def all_constant_moves(lab: Laboratory) -> Verdict:
    """Proportional arguments on every support, for all four matrices."""
    verdict = constant_moves(lab) & common_factor(lab, "PN")
    still = [name for name, node in lab.arguments().items() if name[0] in "PN" and node is ZERO]
    return verdict if not still else refuted({"never moves": still})
