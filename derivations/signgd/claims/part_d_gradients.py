"""Section 2 and appendix D: data, output, gradients, sign updates, and the exact recursion of the inner products."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from odesys import ZERO, Node, Verdict, equal, graph, identity, measured, num, refuted, rounded, sym

from ..laboratory import Laboratory
from ..setting import EVERYWHERE, RANDOM, Case
from ..special import training_sets as training_data
from ..special.one_sample import BOTH, ENTRIES, NOISE, POSITIVE, OneSample, factor
from ..special.toy_network import POSITIVE as TOY_POSITIVE
from ..special.toy_network import ROWS, dot
from .book import EVERY, NUMBERS, book, for_every_size
from .common_hypotheses import disjoint
from .common_orders import COQ

SIDES = {"P": 1, "N": -1}


ANY_SIZE = "one sample, neuron, row and coordinate of any number; sums over all others are symbols"


def mixed(made: OneSample) -> tuple[Node, Node]:
    """s_11 s_12 and s_21 s_22."""
    s = made.attention()
    return s[0][0] * s[0][1], s[1][0] * s[1][1]


def gap(inner: tuple[Node, Node]) -> Node:
    """<w, x^(1) - x^(2)>."""
    return inner[0] - inner[1]


def samples(lab: Laboratory) -> dict[int, OneSample]:
    """One sample of each label."""
    return {label: lab.sample(label) for label in BOTH}


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
    reading=ANY_SIZE,
)
def output(lab: Laboratory) -> Verdict:
    """Both sides as expressions of the weights."""
    pairs = {}
    for label, made in samples(lab).items():
        s, heads = made.attention(), {}
        q, k = made.inner("Q"), made.inner("K")
        scores = [[q[l] * k[a] + sym(f"Z{l + 1}{a + 1}") for a in range(2)] for l in range(2)]
        soft = [[graph.exp(row[a]) / (graph.exp(row[0]) + graph.exp(row[1])) for a in range(2)] for row in scores]
        for kind in SIDES:
            rows = made.inner(kind)  # the mean over rows of both patches
            heads[kind] = graph.add(soft[l][a] * rows[a] for l in range(2) for a in range(2))
            pairs[f"F {kind} {label}"] = heads[kind], graph.add((s[0][a] + s[1][a]) * rows[a] for a in range(2))
        pairs[f"f {label}"] = made.output(), heads["P"] - heads["N"]
    return for_every_size(equal(pairs))


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
    reading="two logits of any number, the exponentials of all others as one positive symbol; a softmax of one logit is 1",
)
def softmax_derivative(lab: Laboratory) -> Verdict:
    """The diagonal and the off-diagonal entry."""
    z, rest = [sym("z_i"), sym("z_j")], sym("E")
    total = graph.exp(z[0]) + graph.exp(z[1]) + rest
    s = [graph.exp(x) / total for x in z]
    pairs = {
        "i = j": (graph.gradient(s[0], z)[0], s[0] * (1 - s[0])),
        "i, j": (graph.gradient(s[0], z)[1], -s[0] * s[1]),
    }
    return equal(pairs, ("E",)).proving("the sum of the other exponentials depends on neither logit", L="every")


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
    reading=ANY_SIZE,
)
def value_gradient(lab: Laboratory) -> Verdict:
    """Derivatives of both heads."""
    pairs = {}
    for label, made in samples(lab).items():
        s = made.attention()
        right = graph.add((s[0][a] + s[1][a]) * made.entries[a] for a in range(2)) / sym("m_v")
        for kind in SIDES:
            pairs[f"{kind} {label}"] = graph.gradient(made.head(kind), [ENTRIES[kind]])[0], right
        pairs[f"f {label}"] = graph.gradient(made.output(), [ENTRIES["P"]])[0], right
    return for_every_size(equal(pairs))


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
    reading="logits as symbols, mean rows with sums over all others as symbols; the logits themselves are as in Section 2",
)
def logit_gradient(lab: Laboratory) -> Verdict:
    """Derivatives by z, and the derived logits."""
    z = [[sym(f"z{l}{a}") for a in range(2)] for l in range(2)]
    soft = [[graph.exp(z[l][a]) / (graph.exp(z[l][0]) + graph.exp(z[l][1])) for a in range(2)] for l in range(2)]
    pairs = {}
    for label, kind, l, a in product(BOTH, SIDES, range(2), range(2)):
        made = lab.sample(label)
        mean = made.inner(kind)
        slope = graph.gradient(made.head(kind, soft), [z[l][a]])[0]
        pairs[f"{kind}{l}{a} {label}"] = slope, soft[l][0] * soft[l][1] * (mean[a] - mean[1 - a])
        scores = made.inner("Q")[l] * made.inner("K")[a] + sym(f"Z{l + 1}{a + 1}")
        pairs[f"z{l}{a} {label}"] = made.logit(l, a), scores
    return for_every_size(equal(pairs))


def _heads_gradient(lab: Laboratory, kind: str) -> Verdict:
    """D.4 (kind Q) and D.5 (kind K) for both heads and both labels."""
    pairs = {}
    for (label, made), side in product(samples(lab).items(), SIDES):
        (a, b), (first, second), value = mixed(made), made.entries, gap(made.inner(side))
        (slope,) = graph.gradient(made.head(side), [ENTRIES[kind]])
        if kind == "Q":
            right = value * gap(made.inner("K")) * (a * first + b * second)
        else:
            q = made.inner("Q")
            right = value * (a * q[0] + b * q[1]) * (first - second)
        pairs[f"{side} {label}"] = slope, right
    return for_every_size(equal(pairs))


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
    reading=ANY_SIZE,
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
    reading=ANY_SIZE,
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
    fails = equal({str(c): (slope, printed[c]) for c, slope in enumerate(graph.gradient(outside, row))}, TOY_POSITIVE)
    right = equal({str(c): (slope, printed[c]) for c, slope in enumerate(graph.gradient(inner, row))}, TOY_POSITIVE)
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


def loss_slope(made: OneSample) -> Node:
    """l'(y f) = -1/(1 + exp(y f)), which is minus a sigmoid."""
    return -graph.call("sigmoid", -made.label * made.output())


def at_any_coordinate(lab: Laboratory, printed: Callable[[OneSample], Node], kinds: str) -> Verdict:
    """What a sample adds to the arguments of these weights against its term of a printed sum, and steps of length eta."""
    pairs = {}
    for (label, made), kind in product(samples(lab).items(), kinds):
        side = SIDES.get(kind, 1)
        pairs[f"{kind} {label}"] = lab.moves_of_a_sample(label)[kind], -side * printed(made) / sym("n")
    lengths = {f"length {place}": (node, num(1)) for place, node in lab.lengths().items()}
    return for_every_size(equal(pairs | lengths))


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
    """Arguments of the rows of both classes."""

    def printed(made: OneSample) -> Node:
        s = made.attention()
        bracket = graph.add((s[0][a] + s[1][a]) * made.entries[a] for a in range(2))
        return loss_slope(made) * made.label * bracket / sym("m_v")

    return at_any_coordinate(lab, printed, "PN")


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
    """Arguments of queries and keys."""

    def before(made: OneSample) -> Node:  # l' y <v, x^(1) - x^(2)>
        return loss_slope(made) * made.label * (gap(made.inner("P")) - gap(made.inner("N")))

    def queries(made: OneSample) -> Node:
        (a, b), (first, second) = mixed(made), made.entries
        return before(made) * gap(made.inner("K")) * (a * first + b * second)

    def keys(made: OneSample) -> Node:
        (a, b), (first, second), q = mixed(made), made.entries, made.inner("Q")
        return before(made) * (a * q[0] + b * q[1]) * (first - second)

    return {"queries": at_any_coordinate(lab, queries, "Q"), "keys": at_any_coordinate(lab, keys, "K")}


#: what a share of a sample is written with, in the order of the theorems about it
WRITTEN = (
    *(f"{kind}{patch}" for kind in "QKPN" for patch in ("", "1", "2")),
    *(f"Z{query}{key}" for query in (1, 2) for key in (1, 2)),
    *("m_v", "n", "x"),
)


def common_factor(lab: Laboratory, kinds: str) -> Verdict:
    """On the support of a sample the arguments are xi[k] times one expression, which depends on inner products alone.

    Then sum_k xi[k] sgn(xi[k] C) = sgn(C) |xi|_1, and every move of the inner product is eta |xi_i|_1 or 0. On the signal
    coordinate a step of length eta moves the inner product by eta |mu|. Steps have length eta. Other samples add nothing.
    """
    pairs: dict[str, tuple[Node, Node]] = {}
    for label, kind in product(BOTH, kinds):
        made, letter = lab.sample(label, NOISE), {"Q": "q1", "K": "k1"}.get(kind, f"{kind}1")
        (inner,) = graph.substitute([lab.shares()[label][f"{letter}_{NOISE}"]], made.inner_products())
        pairs[f"{kind} {label}"] = lab.moves_of_a_sample(label, NOISE)[kind], factor(label, NOISE) * inner
        pairs[f"{kind} other {label}"] = lab.moves_of_a_sample(label, "other")[kind], ZERO
    lengths = {f"length {place}": (node, num(1)) for place, node in lab.lengths().items()}
    found = for_every_size(equal(pairs | lengths, POSITIVE))
    if found.as_stated != "holds":
        return found
    arguments = {
        f"argument_{kind}_{'plus' if label > 0 else 'minus'}": (WRITTEN, lab.moves_of_a_sample(label, NOISE)[kind])
        for label, kind in product(BOTH, kinds)
    }
    files = ("moves_of_a_sample.v", f"moves_of_{'queries' if kinds == 'QK' else 'values'}.v")
    return found.by_theorems([COQ / file for file in files], arguments)


@book.claim(
    "Eq.8-9",
    "Moves of queries and keys have constant length",
    kind="identity",
    for_all=["n", "m_k"],
    hypotheses=[disjoint],
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
    return verdict if verdict.as_stated != "holds" else _moving(lab, "qk", verdict)


def _moving(lab: Laboratory, letters: str, verdict: Verdict) -> Verdict:
    """The verdict, unless what a sample adds to a move of these weights is 0 for every state."""
    still = [name for name, node in lab.shares()[1].items() if name[0] in letters and node is ZERO]
    return refuted({"never moves": still}) if still else verdict


@book.claim(
    "Sec.4-display",
    "All moves have constant length",
    kind="identity",
    for_all=["n", "m_k", "m_v"],
    hypotheses=[disjoint],
    parts=["moves"],
    where="Section 4, display under technical novelties",
    origin="text",
    uses=["Eq.8-9"],
    statement=r"|\langle\Delta w_{V,j,r},\mu\rangle|,|\langle\Delta w_{K,s},\mu\rangle|,|\langle\Delta w_{Q,s},\mu\rangle|=\eta\|\mu\|;\ |\langle\Delta w_{V,j,r},y_i\xi_i\rangle|,|\langle\Delta w_{K,s},y_i\xi_i\rangle|,|\langle\Delta w_{Q,s},y_i\xi_i\rangle|=\eta\|\xi_i\|_1",
    reading="as Eq. (8) and (9), with the rows of values, all of which move",
)
def all_constant_moves(lab: Laboratory) -> Verdict:
    """Proportional arguments on every support, for all four matrices."""
    return _moving(lab, "PN", constant_moves(lab) & common_factor(lab, "PN"))
