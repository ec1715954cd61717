r"""Lemma 6.1 for every K and L by one generic sample; here because the paper constructs weights by hand.

A score depends only on the kinds of the two words, on whether they belong to the same group, and on their signs. Seen
from a query, the tokens of any sample of Definition 2.1 therefore fall into finitely many classes: the group word
:math:`c_k`, the own signal :math:`y v_k`, and distractors :math:`\pm v_j` (j the group of the query, if the query is a
distractor) and :math:`\pm v_i` with :math:`i \ne k, j`; only the counts of the last four vary with the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from odesys import ONE, Node, Sample, graph, sym

C = sym("C")
COUNTS = ("p_j", "q_j", "p_i", "q_i")  # distractors +v_j, -v_j, +v_i, -v_i; together L - 2
DISTRACTORS = graph.add(sym(name) for name in COUNTS)


@dataclass(frozen=True)
class Token:
    """A signed word: kind ``c`` or ``v``, and its group: ``k`` (the sample's own), ``j``, or ``i`` (any other)."""

    kind: str
    group: str
    sign: int


@dataclass(frozen=True)
class Construction:
    r"""Heads :math:`M_\pm = C \sum_k (\dots)` and :math:`w_\pm = \sum_k` of one kind of word.

    Attributes
    ----------
    scores : the coefficient of sum_k key_k query_k' in units of C, by kind of key and query, for the + and the - head.
    values : the kind of word that both w are summed over.
    """

    scores: Mapping[tuple[str, str], tuple[int, int]]
    values: str

    def score(self, key: Token, query: Token, head: int) -> int:
        """Score of a key for a query in units of C; words of different groups are orthogonal to every term."""
        if key.group == query.group == "i":
            raise ValueError("two words of the class i may be equal or not: look at them from the group j")
        if key.group != query.group:
            return 0
        return key.sign * query.sign * self.scores.get((key.kind, query.kind), (0, 0))[head]

    def value(self, key: Token) -> int:
        """w' x for a token x."""
        return key.sign if key.kind == self.values else 0


PRINTED = Construction({("v", "c"): (2, -2), ("c", "c"): (1, 1), ("v", "v"): (1, 1)}, "v")
REPAIRED = replace(PRINTED, scores={**PRINTED.scores, ("v", "c"): PRINTED.scores["v", "c"][::-1]}, values="c")


def generic_sample(y: int) -> dict[Token, Node]:
    """The tokens of a sample with label y and how often each occurs."""
    tokens = {Token("c", "k", 1): ONE, Token("v", "k", y): ONE}
    places = [Token("v", group, sign) for group in "ji" for sign in (1, -1)]
    return tokens | {token: sym(name) for token, name in zip(places, COUNTS, strict=True)}


def queries(y: int) -> dict[str, Token]:
    """One token of each kind that asks: a distractor is looked at from its own group, which is then called j."""
    return {
        "c_k": Token("c", "k", 1),
        f"{y:+d} v_k": Token("v", "k", y),
        "+1 v_j": Token("v", "j", 1),
        "-1 v_j": Token("v", "j", -1),
    }


def row(construction: Construction, y: int, query: Token, head: int) -> Node:
    """What one query adds to H of a head: the mean of w' x under its softmax weights, as an expression."""
    weights = {
        key: count * graph.exp(C * construction.score(key, query, head)) for key, count in generic_sample(y).items()
    }
    return graph.add(construction.value(key) * weight for key, weight in weights.items()) / graph.add(weights.values())


def group_row_difference(construction: Construction, y: int, signs: Sequence[int]) -> Node:
    """What the query c_k adds to f = sum of sign * H over the heads."""
    query = queries(y)["c_k"]
    return graph.add(sign * row(construction, y, query, head) for head, sign in enumerate(signs))


# ---- one sample, spelled out ---------------------------------------------------------------------------------------


def counts_of(sample: Sample) -> dict[str, int] | None:
    """The counts with which a sample is an instance of the generic one, seen from c_k; None if it is not one."""
    words = [(token.removeprefix("-"), -1 if token.startswith("-") else 1) for token in sample.tokens]
    groups = [word[1:] for word, _ in words if word[0] == "c"]
    if len(groups) != 1 or words.count(("c" + groups[0], 1)) != 1:
        return None
    own, rest = ("v" + groups[0], sample.label), Counter(words)
    rest.subtract([("c" + groups[0], 1), own])
    rest = +rest
    if words.count(own) != 1 or any(word == own[0] for word, _ in rest):
        return None
    signs = Counter(sign for _, sign in rest.elements())
    return {"p_j": signs[1], "q_j": signs[-1], "p_i": 0, "q_i": 0}


def margin_at(construction: Construction, sample: Sample, signs: Sequence[int], e: Fraction) -> Fraction:
    """y f of a sample with e^C = e, from its words, in rational arithmetic and without the generic sample."""
    words = [(token.removeprefix("-"), -1 if token.startswith("-") else 1) for token in sample.tokens]
    total = Fraction(0)
    for head, outer in enumerate(signs):
        for query, sq in words:
            above = below = Fraction(0)
            for key, sk in words:
                paired = key[1:] == query[1:]
                weight = e ** (sk * sq * (construction.scores.get((key[0], query[0]), (0, 0))[head] if paired else 0))
                above += weight * sk * (key[0] == construction.values)
                below += weight
            total += outer * above / below
    return sample.label * total


def generic_margin_at(construction: Construction, sample: Sample, signs: Sequence[int], e: Fraction) -> Fraction | None:
    """y f of a sample with e^C = e from the generic sample; None if the sample is no instance of it."""
    counts = counts_of(sample)
    if counts is None:
        return None
    node = sample.label * group_row_difference(construction, sample.label, signs)
    env = {"C": Fraction(1)} | {name: Fraction(n) for name, n in counts.items()}
    return graph.evaluate([node], env, {"exp": lambda z: e ** int(z)})[0]
