"""Lemma 6.1: a transformer that solves every K, as printed and repaired, for every K, L and C by exact algebra."""

from __future__ import annotations

from fractions import Fraction

from odesys import (
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
    refuted,
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
    generic_margin_at,
    group_row_difference,
    margin_at,
    queries,
    row,
)
from .book import SIGNS, book

CASES = ((2, 3), (3, 3), (3, 4), (4, 3), (2, 5))
E = Fraction(2)  # e^C of the cross-check with C = log 2: every softmax weight is then rational
POSITIVE = ("C", "b")


def _head_signs(lab: Laboratory) -> list[int]:
    return [head.sign for head in lab.model().heads]


def classification_queries_cancel(construction: Construction, signs: list[int]) -> Verdict:
    """Every query but c_k sees the same row in both heads, so that it adds nothing to f."""
    gaps = {
        f"query {name}, y = {y:+d}": graph.add(s * row(construction, y, query, head) for head, s in enumerate(signs))
        for y in SIGNS
        for name, query in queries(y).items()
        if query.kind == "v"
    }
    return identity(gaps)


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
        biases = [graph.as_node(head.bias) for head in lab.model().heads]
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


def _first_wrong(lab: Laboratory) -> dict[str, str]:
    """A sample that the printed construction gets wrong, with numbers to check by hand."""
    for sample in lab.data().samples:
        margin = margin_at(PRINTED, sample, _head_signs(lab), E)
        if margin <= 0:
            return {"X": str(sample.name), "y": str(sample.label), "y f at e^C = 2": str(margin)}
    return {}


@book.claim(
    "6.1",
    "A transformer that solves every K",
    kind="existence",
    uses=["Def.2.1"],
    expect="fails",
    statement=r"M_\pm=\pm2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ w_\pm=\sum_kv_k:\ y(H_+-H_-)>0",
    reading="every C > 0, K >= 2, L >= 3 and every sample of Definition 2.1: y f > 0, exactly. A sample is given by the counts of its "
    "distractors as seen from a query, since scores depend only on kind, group and sign of two words; samples of (K, L) in "
    "(2,3), (3,3), (3,4), (4,3), (2,5) spelled out word by word at e^C = 2 must agree. The repair is also proved with the "
    "ReLU and any bias b > 0",
)
def construction(lab: Laboratory) -> Verdict:
    """Both constructions on the generic sample; the printed one gets one label wrong for every C."""
    printed, right = solves(PRINTED, lab, relu=False), solves(REPAIRED, lab, relu=True)
    if right.as_stated == HOLDS:
        right = right & repaired_margin(_head_signs(lab))
    wrong = _first_wrong(lab)
    if printed.as_stated != HOLDS and printed.witness is not None and wrong:
        printed = refuted({**printed.witness, "for example": wrong}, printed.evidence, **printed.details)
    return printed.correcting(
        r"M_\pm=\mp2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ w_\pm=\sum_kc_k:\ "
        r"yf=\tfrac{e^C}{e^C+e^{-2C}+L-2}-\tfrac{e^C}{e^C+e^{2C}+L-2}\in(1-Le^{-C},\,1)\ \text{and}\ yf>0,\ \text{with the ReLU and any}\ b>0",
        right,
        "as printed both labels give f > 0; the group key must be attended to for one label and avoided for the other",
    )
