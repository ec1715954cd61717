"""Lemma 6.1: a transformer that solves every K, as printed and repaired, for every K, L and C by exact algebra."""

from __future__ import annotations

from fractions import Fraction

from odesys import (
    FAILS,
    HOLDS,
    ONE,
    Evidence,
    Node,
    Sample,
    Verdict,
    always_positive,
    combine_verdicts,
    decide_sign,
    enumerate_all,
    equal,
    graph,
    identity,
    sym,
    undecided,
)

from .. import setting
from ..laboratory import Laboratory
from ..special.construction import (
    COUNTS,
    DISTRACTORS,
    PRINTED,
    REPAIRED,
    C,
    Construction,
    Token,
    generic_margin_at,
    group_row_difference,
    margin_at,
    queries,
    row,
)
from .book import COQ, SIGNS, book

CASES = ((2, 3), (3, 3), (3, 4), (4, 3), (2, 5))
E = Fraction(2)  # e^C of the cross-check with C = log 2: every softmax weight is then rational
POSITIVE = ("C", "b")
#: samples of any length and their softmax rows, as Definition 2.1 has them, and weights of Eq. (1) for any orthonormal vectors
OF_WORDS = (COQ / "words_of_groups.v", COQ / "weights_of_words.v")


def _head_signs(lab: Laboratory) -> list[int]:
    return list(lab.model().signs)


def classification_queries_cancel(construction: Construction, signs: list[int]) -> Verdict:
    """Every query but c_k sees the same row in both heads, so that it adds nothing to f."""
    rows = {
        f"query {name}, y = {y:+d}": tuple(
            graph.add(row(construction, y, query, head) for head, s in enumerate(signs) if s == sign) for sign in SIGNS
        )
        for y in SIGNS
        for name, query in queries(y).items()
        if query.kind == "v"
    }
    return equal({what: (plus, minus) for what, (plus, minus) in rows.items()})


def relu_is_identity(construction: Construction, signs: list[int], biases: list[Node]) -> Verdict:
    """No row is negative, so H + b > 0 in both heads: with the gates that follow, f is the group row difference again."""
    rest = sym("rest")  # what all queries but c_k add to H, the same in both heads
    found = {}
    for y in SIGNS:
        for name, query in queries(y).items():
            for head in range(len(signs)):
                answer = decide_sign(row(construction, y, query, head), POSITIVE, COUNTS)
                if answer not in ("positive", "nonnegative", "zero"):
                    return undecided(f"the row of {name} in head {head} is {answer}", Evidence.PROOF)
        outputs = [row(construction, y, queries(y)["c_k"], head) + rest + b for head, b in enumerate(biases)]
        above = always_positive(
            {f"H + b of head {head}": node for head, node in enumerate(outputs)}, POSITIVE, (*COUNTS, "rest")
        )
        if above.as_stated != HOLDS:
            return above
        f = graph.add(s * graph.relu(node) for s, node in zip(signs, outputs, strict=True))
        on = graph.substitute([f], {graph.step(node): ONE for node in outputs})[0]
        found[f"y = {y:+d}"] = (on, group_row_difference(construction, y, signs))
    return equal(found)


def margins(construction: Construction, signs: list[int]) -> dict[str, Node]:
    """y f of the generic sample, for both labels."""
    return {f"y f at y = {y:+d}": y * group_row_difference(construction, y, signs) for y in SIGNS}


def cross_check(construction: Construction, lab: Laboratory) -> Verdict:
    """Samples spelled out word by word in rational arithmetic agree with the generic sample."""
    signs, cases = _head_signs(lab), dict[str, Sample]()
    for K, L in CASES:
        data = lab.data() if (K, L) == (2, 3) else setting.data(K, L)
        cases |= {f"K = {K}, L = {L}, X = {s.name}, y = {s.label}": s for s in data.samples}

    def agrees(case: str) -> bool | str:
        sample = cases[case]
        spelled, generic = margin_at(construction, sample, signs, E), generic_margin_at(construction, sample, signs, E)
        return True if spelled == generic else f"y f = {spelled} word by word, {generic} from the generic sample"

    return enumerate_all(cases, agrees, f"samples over (K, L) in {CASES} at e^C = 2")


def solves(construction: Construction, lab: Laboratory, relu: bool) -> Verdict:
    """y f > 0 on every sample of every K and L, for every C > 0; believed only if spelled-out samples agree."""
    signs = _head_signs(lab)
    parts = {
        "classification queries cancel": classification_queries_cancel(construction, signs),
        "y f > 0": always_positive(margins(construction, signs), POSITIVE, COUNTS),
    }
    if relu:
        biases = [graph.as_node(lab.model().bias)] * 2
        parts["ReLU is the identity"] = relu_is_identity(construction, signs, biases)
    check = cross_check(construction, lab)
    whole = combine_verdicts(parts)
    return whole.adding(cross_check=check.details["enumerated"]) if check.as_stated == HOLDS else check


def repaired_margin(signs: list[int]) -> Verdict:
    """Both labels have the same y f, in closed form with a factored numerator, and it is above 1 - L e^-C."""
    up, down, own = graph.exp(2 * C), graph.exp(-2 * C), graph.exp(C)
    low, high = own + down + DISTRACTORS, own + up + DISTRACTORS
    found = margins(REPAIRED, signs)
    closed = {name: (node, own / low - own / high) for name, node in found.items()}
    cleared = {f"cleared numerator, {name}": (node * low * high, own * (up - down)) for name, node in found.items()}
    rate = {f"y f - 1 + L e^-C, {name}": node - 1 + (2 + DISTRACTORS) / own for name, node in found.items()}
    limit = {f"1 - y f, {name}": 1 - node for name, node in found.items()}
    return combine_verdicts(
        {"closed form": equal(closed | cleared), "limit 1": always_positive(rate | limit, POSITIVE, COUNTS)}
    )


def repaired(lab: Laboratory) -> Verdict:
    """The repaired construction solves every K and L, with the ReLU and any bias, and its margin tends to 1."""
    right = solves(REPAIRED, lab, relu=True)
    if right.as_stated == HOLDS:
        right = (right & repaired_margin(_head_signs(lab))).by_theorems(
            [*OF_WORDS, COQ / "repaired_construction.v"], alone=True
        )
    return right.proving(
        "a score depends only on kind, group and sign of two words, so that a sample is given by counts of distractors",
        "queries +-v_j see the same scores in both heads and cancel in f; what the query c_k adds is positive times y",
        f"samples spelled out word by word at e^C = 2 agree, for (K, L) in {CASES}",
        K="every",
        L="every",
    )


def _first_wrong(lab: Laboratory) -> tuple[str, str, str]:
    """A sample that the printed construction gets wrong: its name, its label, and y f at e^C = 2."""
    for sample in lab.data().samples:
        margin = margin_at(PRINTED, sample, _head_signs(lab), E)
        if margin <= 0:
            return f"({', '.join(sample.tokens)})", str(sample.label), str(margin)
    return "", "", ""


@book.claim(
    "6.1",
    "Construction of a transformer that solves every K",
    kind="existence",
    uses=["Def.2.1", "6.1-displays"],
    expect="fails",
    origin="proof",
    where="Proof of Lemma 6.1, construction",
    parts=("y f(X) > 0 for all (X, y)",),
    hypotheses=(),
    for_all=("K", "L"),
    statement=r"W_{K\pm}^\top W_{Q\pm}=\pm2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ f(X)=\sum_l\sum_kv_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}X_l)"
    r"-\sum_l\sum_kv_k^\top X\mathrm{softmax}(X^\top W_{K-}^\top W_{Q-}X_l),\ C\to\infty:\ yf(X)>0\ \text{for all}\ (X,y)\in\mathcal D",
    reading="every C > 0, K >= 2 and L >= 3, so large C too; the lemma, that some transformer solves the task, is 6.1/exists and stands",
)
def construction(lab: Laboratory) -> Verdict:
    """The printed construction on the generic sample: it gets one label wrong for every C."""
    printed = solves(PRINTED, lab, relu=False)
    name, label, margin = _first_wrong(lab)
    if name:
        printed = printed.witnessed(
            f"at K = 2, L = 3, e^C = 2 the sample X = {name} with y = {label} has y f = {margin}; for y = -1 it is negative for "
            "every C and tends to -1, since the + head attends to c_k and the - head to -v_k",
            {"K": 2, "L": 3},
        )
    if printed.as_stated == FAILS:
        printed = printed.by_theorems([*OF_WORDS, COQ / "printed_construction.v"], alone=True)
    return printed.correcting(
        r"W_{K\pm}^\top W_{Q\pm}=\mp2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ w_\pm=\sum_kc_k:\ "
        r"yf=\tfrac{e^C}{e^C+e^{-2C}+L-2}-\tfrac{e^C}{e^C+e^{2C}+L-2}\in(1-Le^{-C},\,1)\ \text{and}\ yf>0,\ \text{with the ReLU and any}\ b>0",
        repaired(lab),
        "the proof treats y = +1; the group key must be attended to for one label and avoided for the other",
    ).blaming("proof", "construction-of-6.1")


def _two_terms(query: Token, second: int) -> Node:
    """What a query adds by the + head, less what it adds by the head of the second term (0 is the + head), for y = +1."""
    return row(PRINTED, 1, query, 0) - row(PRINTED, 1, query, second)


def tends_to_one(difference: Node) -> Verdict:
    """A row or a difference of two is 1 up to (2 + 3(L - 2)) e^-C, from both sides."""
    room = (2 + 3 * DISTRACTORS) / graph.exp(C)
    return always_positive({"from below": difference - 1 + room, "from above": 1 + room - difference}, POSITIVE, COUNTS)


@book.claim(
    "6.1-displays",
    "The two queries of the construction",
    kind="identity",
    uses=["Def.2.1"],
    expect="fails",
    insensitive="a statement about printed weights, not about the system",
    origin="proof",
    where="Proof of Lemma 6.1, displays of the queries v_k and c_k",
    parts=("query v_k", "query c_k"),
    hypotheses=(),
    for_all=("K", "L"),
    statement=r"C\to\infty:\quad\sum_kv_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}v_k)+\sum_k-v_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}v_k)"
    r"=v_k^\top v_k-v_k^\top v_k=0,\quad\sum_kv_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}c_k)+\sum_k-v_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}c_k)"
    r"=v_k^\top v_k-v_k^\top c_k=1",
    reading="with v_k in X, so that y = +1; both terms as printed, with the + head, and the limit of large C",
)
def displays_of_the_queries(lab: Laboratory) -> dict[str, Verdict]:
    """Two equal terms cancel at every query; with the - head in the second term the query c_k gives 1."""
    asked = queries(1)
    signals = {name: query for name, query in asked.items() if query.kind == "v"}
    heads = {"+": 0, "-": 1}
    cancel = identity(
        {f"{name}, {head} head": _two_terms(query, i) for name, query in signals.items() for head, i in heads.items()}
    ) & tends_to_one(row(PRINTED, 1, asked["+1 v_k"], heads["+"]))
    group = asked["c_k"]
    return {
        "query v_k": cancel.proving(
            "the second term is the same with the + head as printed and with the - head, and each tends to v_k' v_k = 1",
            K="every",
            L="every",
        ),
        "query c_k": equal({"sum of both terms": (_two_terms(group, heads["+"]), ONE)})
        .witnessed(
            "for every C, K, L and X (all hypotheses hold) the two printed terms of the query c_k are equal and cancel, and the "
            "printed value is 1",
            {"K": 2, "L": 3},
        )
        .correcting(
            r"\sum_kv_k^\top X\mathrm{softmax}(X^\top W_{K+}^\top W_{Q+}c_k)+\sum_k-v_k^\top X\mathrm{softmax}(X^\top W_{K-}^\top W_{Q-}c_k)\to1",
            tends_to_one(_two_terms(group, heads["-"])).proving(
                "the sum is 1 up to (3L - 4) e^-C, from both sides", K="every", L="every"
            ),
            "the second term belongs to the - head, as in f; the value 1 on the next line is that of the - head",
        )
        .blaming("misprint", "second-term-of-6.1"),
    }


@book.claim(
    "6.1/exists",
    "A transformer that solves every K",
    kind="existence",
    uses=["Def.2.1", "6.1"],
    where="Lemma 6.1",
    parts=("there is one",),
    hypotheses=(),
    for_all=("K", "L"),
    repairs=["6.1"],
    statement=r"\text{There exists a transformer architecture solving}\ K\text{-mixture of linear classification}",
    reading="for every K >= 2, L >= 3 and b > 0 some weights of Equation (1), ReLU included, give y f(X) > 0 on every sample",
)
def exists(lab: Laboratory) -> Verdict:
    """By the repaired construction, which is not the printed one."""
    return repaired(lab)
