"""Lemma 6.1: a transformer that solves every K, as printed and repaired, by exact enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from odesys import Sample
from odesys.evidence import enumerate_all
from odesys.verdicts import Verdict

from .. import setting
from ..laboratory import Laboratory
from .book import book

CASES = ((2, 3), (3, 3), (3, 4), (4, 3), (2, 5))
Scores = Callable[[str, str, int], int]
E = Fraction(2)  # e^C with C = log 2: every softmax weight is then rational


def _printed(key: str, query: str, head: int) -> int:
    """Scores in units of C: +-2 for (v_k, c_k), 1 for equal words."""
    if key[0] == "v" and query == "c" + key[1:]:
        return 2 * head
    return int(key == query)


def _repaired(key: str, query: str, head: int) -> int:
    """The same with the sign of the (v_k, c_k) entries reversed."""
    return -_printed(key, query, head) if key != query else 1


def _output(tokens: tuple[str, ...], scores: Scores, values: str, head: int) -> Fraction:
    """H of one head in exact arithmetic; `values` is the kind of word w is summed over."""
    words = [(token.removeprefix("-"), -1 if token.startswith("-") else 1) for token in tokens]
    total = Fraction(0)
    for query, sq in words:
        weights = [E ** (sk * sq * scores(key, query, head)) for key, sk in words]
        value = sum((w * sk for w, (key, sk) in zip(weights, words, strict=True) if key[0] == values), Fraction(0))
        total += value / sum(weights)
    return total


def _margin(sample: Sample, scores: Scores, values: str) -> Fraction:
    return sample.label * (_output(sample.tokens, scores, values, 1) - _output(sample.tokens, scores, values, -1))


def _solves(scores: Scores, values: str, lab: Laboratory) -> Verdict:
    cases: dict[str, Sample] = {}
    for K, L in CASES:
        data = lab.data if (K, L) == (2, 3) else setting.data(K, L)
        cases |= {f"K = {K}, L = {L}, X = {s.name}, y = {s.label}": s for s in data.samples}

    def right(case: str) -> bool | Fraction:
        margin = _margin(cases[case], scores, values)
        return True if margin > 0 else margin

    return enumerate_all(cases, right, f"samples over (K, L) in {CASES} at e^C = 2")


@book.claim("6.1", "A transformer that solves every K", kind="existence", uses=["Def.2.1"], expect="fails",
            statement=r"M_\pm=\pm2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ w_\pm=\sum_kv_k:\ y(H_+-H_-)>0",
            reading="every sample of (K, L) in (2,3), (3,3), (3,4), (4,3), (2,5) has a positive margin at e^C = 2, exactly; a "
                    "witness refutes the printed construction for this C, the repaired one is certified for these cases")
def construction(lab: Laboratory) -> Verdict:
    """Enumerate all samples in rational arithmetic."""
    return _solves(_printed, "v", lab).correcting(
        r"M_\pm=\mp2C\sum_kv_kc_k^\top+C\sum_kc_kc_k^\top+C\sum_kv_kv_k^\top,\ w_\pm=\sum_kc_k\ "
        r"\text{(certified at } e^C=2 \text{ for the } (K,L) \text{ of the reading)}", _solves(_repaired, "c", lab),
        "as printed both labels give f > 0; the group key must be attended to for one label and avoided for the other")
